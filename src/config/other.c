/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Files that lie beside a configuration and are none: each is named for what it is, with what to give instead. By the
 * first bytes before anything is parsed, by the keys of the root afterwards.
 */
#include "reader.h"

#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>

/* ---- bytes ---- */

enum { CONFIG_BYTES_MAX = 16 << 20 }; /* the largest published configuration has some 100 KiB */

static bool starts_with(const char *text, size_t size, const char *start)
{
    return size >= strlen(start) && memcmp(text, start, strlen(start)) == 0;
}

/* A safetensors file begins with eight bytes of length, then a JSON header. */
static bool is_safetensors(const char *text, size_t size)
{
    return size > 9 && text[8] == '{' && text[6] == 0 && text[7] == 0;
}

static const char *kind_of_bytes(const char *text, size_t size)
{
    size_t at = 0;
    if (starts_with(text, size, "version https://git-lfs"))
        return "is a pointer of Git LFS, not the file itself; fetch it with: git lfs pull";
    if (starts_with(text, size, "PK\x03\x04"))
        return "is a zip archive (weights of PyTorch?); give the config.json beside it";
    if (is_safetensors(text, size)) return "is a file of weights (safetensors); give the config.json beside it";
    while (at < size && isspace((unsigned char)text[at])) at++;
    if (at < size && text[at] == '<')
        return "is a web page, not a configuration; fetch the raw file (an address with /raw/ or /resolve/)";
    return NULL;
}

rung_status cfg_refuse_other_bytes(const void *bytes, size_t size, const char *name, rung_error *err)
{
    const char *kind = kind_of_bytes(bytes, size);
    if (kind) return rung_fail(err, RUNG_INPUT, "%s: %s", SHOW(name), kind);
    if (size > CONFIG_BYTES_MAX)
        return rung_fail(err, RUNG_INPUT, "%s: has %zu bytes, and a configuration has at most %d; is it another file?",
                         SHOW(name), size, CONFIG_BYTES_MAX);
    return RUNG_OK;
}

/* ---- keys ---- */

typedef struct other {
    const char *keys; /* any of them */
    const char *what;
    bool always; /* even when the file names a model type */
} other;

static const other others[] = {
    {"weight_map", "is an index of weights ('weight_map'); give the config.json beside it", true},
    {"peft_type", "is the configuration of an adapter ('peft_type'); give the config.json of its base model", true},
    {"_diffusers_version _class_name",
     "is part of an image generator ('_class_name'), not a language model; nothing in it is causal", true},
    {"added_tokens added_tokens_decoder tokenizer_class add_bos_token",
     "is the configuration of a tokenizer; give the config.json beside it", false},
    {"image_processor_type feature_extractor_type processor_class image_mean do_resize",
     "is the configuration of a preprocessor; give the config.json beside it", false},
    {"_from_model_config do_sample temperature eos_token_id max_new_tokens",
     "holds options for generating text; give the config.json beside it", false},
};

/* A file with a model type or any number of layers describes a model. */
static bool describes_layers(const rung_json *root)
{
    return cfg_find_in(root,
                       "model_type num_hidden_layers n_layer n_layers num_layers num_blocks num_transformer_layers "
                       "ssm_cfg layer_types "
                       "hidden_size d_model n_embd text_config llm_config language_config thinker_config") != NULL;
}

rung_status cfg_refuse_other_file(const rung_json *root, const char *name, rung_error *err)
{
    bool model = describes_layers(root);
    for (size_t i = 0; i < RUNG_COUNT(others); i++)
        if ((others[i].always || !model) && cfg_find_in(root, others[i].keys))
            return rung_fail(err, RUNG_INPUT, "%s: %s", SHOW(name), others[i].what);
    return RUNG_OK;
}

/* ---- directories ---- */

bool cfg_is_directory(const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 && S_ISDIR(there.st_mode);
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), tail = strlen(end);
    return len >= tail && strcmp(text + len - tail, end) == 0;
}

/* Says what a directory without a config.json contains instead. */
static rung_status refuse_directory(const char *path, rung_error *err)
{
    char found[256] = "";
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (ends_with(entry->d_name, ".gguf") && (!found[0] || strcmp(entry->d_name, found) < 0))
            snprintf(found, sizeof found, "%s", entry->d_name);
    if (directory) closedir(directory);
    if (found[0])
        return rung_fail(err, RUNG_INPUT, "%s: is a directory with GGUF files and no config.json; give the file: %s",
                         SHOW(path), SHOW(found));
    return rung_fail(err, RUNG_INPUT,
                     "%s: is a directory without a config.json; give the file that describes the model", SHOW(path));
}

rung_status cfg_find_in_directory(rung_buf *file, const char *path, rung_error *err)
{
    struct stat there;
    rung_buf_printf(file, "%s/config.json", path);
    RUNG_TRY(rung_buf_ok(file, err));
    return stat(file->text, &there) == 0 ? RUNG_OK : refuse_directory(path, err);
}
