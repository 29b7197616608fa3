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

enum { VOCABULARY_MIN = 64 };         /* fewer numbers may be a small configuration with other names */
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

/* A pickle of protocol 2 to 5. */
static bool is_pickle(const char *text, size_t size)
{
    return size >= 2 && text[0] == (char)0x80 && text[1] >= 2 && text[1] <= 5;
}

static const struct {
    const char *start, *what;
} starts[] = {
    {"version https://git-lfs", "is a pointer of Git LFS, not the file itself; fetch it with: git lfs pull"},
    {"PK\x03\x04", "is a zip archive (weights of PyTorch, or npz?); give the config.json beside it"},
    {"\x93NUMPY", "is an array of NumPy; give the config.json of the model"},
    {"\x1f\x8b", "is compressed (gzip); unpack it first"},
    {"\x89PNG", "is a picture; give the config.json of the model"},
    {"PAR1", "is a table (Parquet); give the config.json of the model"},
    {"\x7f"
     "ELF",
     "is a program; give the config.json of the model"},
    {"lmgg", "is in the old format GGML, which describes no layers; convert it to GGUF"},
    {"tjgg", "is in the old format GGJT, which describes no layers; convert it to GGUF"},
    {"fmgg", "is in the old format GGMF, which describes no layers; convert it to GGUF"},
};

static const char *kind_of_bytes(const char *text, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < RUNG_COUNT(starts); i++)
        if (starts_with(text, size, starts[i].start)) return starts[i].what;
    if (is_pickle(text, size)) return "is a pickle (weights of PyTorch?); give the config.json beside it";
    if (is_safetensors(text, size)) return "is a file of weights (safetensors); give the config.json beside it";
    while (at < size && isspace((unsigned char)text[at])) at++;
    if (at == size) return "is empty; was it fetched whole?";
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
    {"bos_token eos_token pad_token unk_token",
     "names the special tokens of a tokenizer; give the config.json beside it", false},
    {"lora_alpha target_modules",
     "is the configuration of an adapter ('lora_alpha'); give the config.json of its base model", false},
    {"log_history global_step", "is the state of a training run; give the config.json beside it", false},
    {"zero_optimization train_micro_batch_size_per_gpu",
     "holds options of a training run; give the config.json of the model", false},
    {"chat_template", "is a template for chats; give the config.json beside it", false},
    {"quant_method quantization_method w_bit", "says how weights are quantized; give the config.json beside it", false},
};

/* Every value is a number, and there are many of them or all keys look like <s> or [SEP]: a vocabulary. */
static bool is_vocabulary(const rung_json *root)
{
    int64_t number;
    bool marked = true;
    for (size_t i = 0; i < rung_json_len(root); i++) {
        if (!rung_json_int(&number, rung_json_value_at(root, i))) return false;
        marked &= strchr("<[", rung_json_key_at(root, i)[0]) && rung_json_key_at(root, i)[0];
    }
    return rung_json_len(root) >= VOCABULARY_MIN || (marked && rung_json_len(root) > 0);
}

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
    if (!model && is_vocabulary(root))
        return rung_fail(err, RUNG_INPUT, "%s: is a list of tokens with their numbers; give the config.json beside it",
                         SHOW(name));
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
    bool weights = false;
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        weights |= ends_with(entry->d_name, ".safetensors") || ends_with(entry->d_name, ".bin");
        if (ends_with(entry->d_name, ".gguf") && (!found[0] || strcmp(entry->d_name, found) < 0))
            snprintf(found, sizeof found, "%s", entry->d_name);
    }
    if (directory) closedir(directory);
    if (found[0])
        return rung_fail(err, RUNG_INPUT, "%s: is a directory with GGUF files and no config.json; give the file: %s",
                         SHOW(path), SHOW(found));
    if (weights)
        return rung_fail(err, RUNG_INPUT, "%s: is a directory with weights and no config.json; fetch that file too",
                         SHOW(path));
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
