/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Looking things up in a configuration: one fact under several names, absent when it is null or "auto", with the
 * defaults of the configuration class behind the file and the objects around a nested text model behind those.
 */
#include "reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define SIZE_VALUE_MAX ((uint64_t)1 << 40) /* largest valid size; above the number of parameters of any model */

/* ---- failures and notes ---- */

void cfg_fail(cfg_reader *r, const char *format, ...)
{
    if (r->status) return;
    va_list args;
    rung_error text;
    va_start(args, format);
    vsnprintf(text.text, sizeof text.text, format, args);
    va_end(args);
    r->status = rung_fail(r->err, RUNG_INPUT, "%s: %s", SHOW(r->name), text.text);
}

void cfg_note(cfg_reader *r, const char *format, ...)
{
    va_list args;
    char text[512];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cfg_ledger_note(r->ledger, text, NULL);
}

void cfg_doubt(cfg_reader *r, const char *format, ...)
{
    va_list args;
    char text[256];
    if (r->doubt) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->doubt = rung_arena_strdup(&r->ledger->arena, text, NULL);
    if (!r->doubt) r->doubt = "out of memory";
}

const char *cfg_show(cfg_shown *out, const char *word)
{
    size_t len = strlen(word), room = sizeof out->text - 1, at = 0;
    /* The end of a path tells more than its start. */
    const char *from = len > room ? word + len - room : word;
    for (; from[at]; at++) out->text[at] = from[at] >= ' ' && from[at] <= '~' ? from[at] : '?';
    out->text[at] = '\0';
    return out->text;
}

/* ---- values ---- */

static bool is_absent(const rung_json *value)
{
    const char *text = rung_json_string(value);
    return !value || rung_json_kind_of(value) == RUNG_JSON_NULL || (text && strcmp(text, "auto") == 0);
}

bool cfg_is_off(const rung_json *value)
{
    bool flag = true;
    double number = 1;
    const char *text = rung_json_string(value);
    rung_json_kind kind = rung_json_kind_of(value);
    if (!value) return true;
    (void)rung_json_bool(&flag, value), (void)rung_json_real(&number, value);
    if (kind == RUNG_JSON_ARRAY || kind == RUNG_JSON_OBJECT) return rung_json_len(value) == 0;
    return !flag || number == 0 || kind == RUNG_JSON_NULL || (text && !*text);
}

/* Iterates over a list of words separated by blanks. Returns false at its end. */
typedef struct word {
    char text[64];
} word;

static bool next_word(word *out, const char **list)
{
    const char *start = *list + strspn(*list, " ");
    size_t len = strcspn(start, " ");
    if (len == 0 || len >= sizeof out->text) return false;
    memcpy(out->text, start, len);
    out->text[len] = '\0';
    *list = start + len;
    return true;
}

/* The path "a.b" means the member b of the member a. */
static const rung_json *member(const rung_json *object, const char *path)
{
    char part[64];
    const char *dot = strchr(path, '.');
    if (!dot) return rung_json_get(object, path);
    memcpy(part, path, (size_t)(dot - path));
    part[dot - path] = '\0';
    return member(rung_json_get(object, part), dot + 1);
}

/* Returns the value and the spelling under which it was found. */
static const rung_json *find_named(word *key, const rung_json *object, const char *keys)
{
    while (next_word(key, &keys)) {
        const rung_json *value = member(object, key->text);
        if (!is_absent(value)) return value;
    }
    return NULL;
}

const rung_json *cfg_find_in(const rung_json *object, const char *keys)
{
    return find_named(&(word){{0}}, object, keys);
}

const rung_json *cfg_find(const cfg_reader *r, const char *keys)
{
    const rung_json *value = cfg_find_in(r->over, keys);
    if (!value) value = cfg_find_in(r->config, keys);
    for (size_t i = 0; !value && i < r->outer_count; i++) value = cfg_find_in(r->outer[i], keys);
    return value;
}

bool cfg_has(const cfg_reader *r, const char *keys)
{
    return cfg_find(r, keys) != NULL;
}

const char *cfg_find_text(const cfg_reader *r, const char *keys)
{
    return rung_json_string(cfg_find(r, keys));
}

/* ---- numbers ---- */

/* Sizes of heads, states, convolutions and groups. A layer with a size of 0 would hold nothing. */
static bool is_size_of_something(const char *key)
{
    static const char *const patterns[] = {"*head_dim",
                                           "*headdim",
                                           "*d_head",
                                           "*_heads",
                                           "*.nheads",
                                           "*head_size",
                                           "*d_state",
                                           "*state_size",
                                           "*d_conv",
                                           "*conv_kernel*",
                                           "*conv_size",
                                           "conv_L_cache",
                                           "conv_dim*",
                                           "*groups",
                                           "hidden_size",
                                           "d_model",
                                           "n_embd",
                                           "*_dim",
                                           "mamba_d_*",
                                           "lru_width",
                                           "num_householder",
                                           "expand_ratio",
                                           "attention_hidden_size",
                                           "conv1d_width",
                                           "cca_time*",
                                           "conv_window",
                                           "num_slots",
                                           "lightning_*",
                                           "n_head",
                                           "n_head_kv",
                                           "mimo_rank",
                                           "*_lora_rank",
                                           "kv_channels",
                                           "loop_num",
                                           "*ut_steps",
                                           "*num_heads*",
                                           "*_lora_dim"};
    bool rotary = strstr(key, "rope") != NULL; /* heads without a rotary part are common */
    for (size_t i = 0; !rotary && i < RUNG_COUNT(patterns); i++)
        if (cfg_key_matches(patterns[i], key)) return true;
    return false;
}

/* Some files write false for no window. */
static bool is_window(const char *key)
{
    return strcmp(key, "sliding_window") == 0 || strcmp(key, "window_size") == 0 ||
           strcmp(key, "attention_window") == 0 || strcmp(key, "attention_window_size") == 0;
}

/* Reads a size: a whole number, which may be written as 4.0. */
static bool to_size(uint64_t *out, cfg_reader *r, const rung_json *value, const char *key)
{
    double real = 0;
    bool flag = true;
    if (is_window(key) && rung_json_bool(&flag, value) && !flag) return false;
    if (!rung_json_real(&real, value) || real < 0 || floor(real) != real) {
        cfg_fail(r, "'%s' must be a whole number from 0 on", key);
        return false;
    }
    if (real > (double)SIZE_VALUE_MAX) {
        cfg_fail(r, "'%s' is too large for a size", key);
        return false;
    }
    if (real == 0 && is_size_of_something(key)) {
        cfg_fail(r, "'%s' is 0, and a layer cannot have that", key);
        return false;
    }
    *out = (uint64_t)real;
    return true;
}

bool cfg_find_size_in(uint64_t *out, cfg_reader *r, const rung_json *object, const char *keys)
{
    word key;
    const rung_json *value = find_named(&key, object, keys);
    return value && to_size(out, r, value, key.text);
}

/* Published files often omit these keys, and without them no layer is smaller than the class says. */
static bool is_written_rarely(const char *key)
{
    static const char *const names[] = {"max_position_embeddings", "n_positions",
                                        "use_sliding_window",      "max_window_layers",
                                        "no_rope_layer_interval",  "total_ut_steps"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++)
        if (strcmp(names[i], key) == 0) return true;
    return false;
}

/* Without the key every head has keys and values of its own, and the class says the same. */
static bool is_one_per_head(cfg_reader *r, const char *key, double value)
{
    uint64_t heads;
    return strcmp(key, "num_key_value_heads") == 0 && cfg_find_size_in(&heads, r, r->config, "num_attention_heads") &&
           (double)heads == value;
}

/* Records a value that came from the class, once. In a flat file a missing size is a doubt: such files state all of
 * them. Only text models inside another configuration omit what their class says. */
static void record_default(cfg_reader *r, const char *key, double value)
{
    char text[96];
    snprintf(text, sizeof text, "%s=%g", key, value);
    if (r->defaults.text && strstr(r->defaults.text, text)) return;
    if (r->defaults.len) rung_buf_puts(&r->defaults, ", ");
    rung_buf_puts(&r->defaults, text);
    if (r->outer_count == 0 && !is_written_rarely(key) && !is_one_per_head(r, key, value))
        cfg_doubt(r, "'%s' is not in the file; %g is what the class of %s takes", key, value, SHOW(r->type));
}

/* An explicit null is not missing: it means "none" or "derive it", so the default of the class does not apply. */
static bool is_mentioned(const rung_json *object, const char *keys)
{
    word key;
    while (next_word(&key, &keys))
        if (member(object, key.text)) return true;
    return false;
}

/* A null where the class has a number of its own: what its code makes of it is not known. For a window it means none,
 * and for these heads it means as many as there are queries. */
static void doubt_null(cfg_reader *r, const char *keys)
{
    double value;
    word key;
    bool plain = false;
    while (next_word(&key, &keys)) {
        const rung_json *found = member(r->config, key.text);
        plain |= is_window(key.text) || strcmp(key.text, "num_key_value_heads") == 0;
        if (found && is_absent(found) && !plain && cfg_class_default(&value, r->type, key.text))
            cfg_doubt(r, "'%s' is null, and %g is what the class of %s takes", key.text, value, SHOW(r->type));
    }
}

static bool find_default(double *value, cfg_reader *r, const char *keys)
{
    word key;
    if (is_mentioned(r->config, keys)) {
        doubt_null(r, keys);
        return false;
    }
    while (next_word(&key, &keys))
        if (cfg_class_default(value, r->type, key.text)) {
            record_default(r, key.text, *value);
            return true;
        }
    return false;
}

/* The context and the number of layers that predict further tokens are often stated for the whole model. */
static bool is_of_the_whole(const char *key)
{
    static const char *const patterns[] = {"*position*", "*length*", "*seq_len", "n_ctx", "*mtp*", "*nextn*"};
    for (size_t i = 0; i < RUNG_COUNT(patterns); i++)
        if (cfg_key_matches(patterns[i], key)) return true;
    return false;
}

/* A size outside of the text model may belong to another part, such as the one that reads pictures. It is doubted, and
 * not taken if the text model states a width of its own. */
static bool find_size_outside(uint64_t *out, cfg_reader *r, const char *keys)
{
    word key;
    bool has_sizes = r->outer_count && cfg_find_in(r->config, "hidden_size d_model n_embd");
    for (size_t i = 0; i < r->outer_count; i++) {
        if (!find_named(&key, r->outer[i], keys)) continue;
        if (!is_of_the_whole(key.text)) cfg_doubt(r, "'%s' is outside of the text model", key.text);
        if (!is_of_the_whole(key.text) && has_sizes) return false;
        if (cfg_find_size_in(out, r, r->outer[i], keys)) return true;
    }
    return false;
}

bool cfg_find_size(uint64_t *out, cfg_reader *r, const char *keys)
{
    double value;
    if (cfg_find_size_in(out, r, r->over, keys) || cfg_find_size_in(out, r, r->config, keys)) return true;
    if (r->status) return false;
    if (find_default(&value, r, keys)) {
        *out = (uint64_t)value;
        return value > 0;
    }
    return find_size_outside(out, r, keys);
}

bool cfg_find_size_at(uint64_t *out, cfg_reader *r, const char *keys, size_t layer)
{
    word key;
    const rung_json *value = find_named(&key, r->config, keys);
    if (cfg_find_in(r->over, keys) || rung_json_kind_of(value) != RUNG_JSON_ARRAY) return cfg_find_size(out, r, keys);
    if (layer < rung_json_len(value)) return to_size(out, r, rung_json_at(value, layer), key.text);
    cfg_fail(r, "'%s' has %zu entries for %zu layers", key.text, rung_json_len(value), r->layers);
    return false;
}

uint64_t cfg_need_size(cfg_reader *r, const char *keys, const char *what)
{
    uint64_t value = 0;
    if (!cfg_find_size(&value, r, keys)) cfg_fail(r, "has no %s; looked for: %s", what, keys);
    return value;
}

uint64_t cfg_size_or(cfg_reader *r, const char *keys, uint64_t fallback)
{
    uint64_t value;
    return cfg_find_size(&value, r, keys) ? value : fallback;
}

double cfg_real_or(cfg_reader *r, const char *keys, double fallback)
{
    double value;
    word key;
    const rung_json *found = find_named(&key, r->config, keys);
    if (!found) return find_default(&value, r, keys) ? value : fallback;
    if (rung_json_real(&value, found) && value > 0 && value <= 0x1p20) return value;
    cfg_fail(r, "'%s' must be a number above 0", key.text);
    return fallback;
}

bool cfg_flag_or(cfg_reader *r, const char *keys, bool fallback)
{
    bool flag;
    double value;
    int64_t number;
    const rung_json *found = cfg_find(r, keys);
    if (rung_json_bool(&flag, found)) return flag;
    if (rung_json_int(&number, found) && (number == 0 || number == 1)) return number == 1;
    if (found) cfg_fail(r, "'%s' must be true or false", keys);
    return find_default(&value, r, keys) ? value != 0 : fallback;
}

uint64_t cfg_divide(cfg_reader *r, uint64_t a, uint64_t b, const char *what)
{
    if (b != 0 && a % b == 0) return a / b;
    cfg_fail(r, "cannot derive the %s: %" PRIu64 " is not a multiple of %" PRIu64, what, a, b);
    return 0;
}

uint64_t cfg_hidden_size(cfg_reader *r)
{
    return cfg_need_size(r, "hidden_size d_model n_embd n_embed embedding_dim dim emb_dim model_dim", "hidden size");
}
