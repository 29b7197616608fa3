/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What a configuration says of the layers, and what their tensors are called. Only keys that are known to change
 * nothing are passed over. A key that this file does not know is refused: it may change what the layers compute.
 */
#include "foreign_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_LIMIT = 1 << 24 }; /* products of two of them fit */

/* Masks of old GPT-2 checkpoints. */
static const char *const gpt2_constants[] = {"h.%zu.attn.bias", "h.%zu.attn.masked_bias", NULL};
/* The frequencies of the rotation, which follow from the configuration. */
static const char *const llama_constants[] = {"model.layers.%zu.self_attn.rotary_emb.inv_freq", NULL};
static const char *const no_constants[] = {NULL};

const foreign_names foreign_names_llama = {
    .embed = "model.embed_tokens",
    .final_norm = "model.norm",
    .readout = "lm_head",
    .norm1 = "model.layers.%zu.input_layernorm",
    .q = "model.layers.%zu.self_attn.q_proj",
    .k = "model.layers.%zu.self_attn.k_proj",
    .v = "model.layers.%zu.self_attn.v_proj",
    .out = "model.layers.%zu.self_attn.o_proj",
    .norm2 = "model.layers.%zu.post_attention_layernorm",
    .up = "model.layers.%zu.mlp.up_proj",
    .gate = "model.layers.%zu.mlp.gate_proj",
    .down = "model.layers.%zu.mlp.down_proj",
    .q_norm = "model.layers.%zu.self_attn.q_norm",
    .k_norm = "model.layers.%zu.self_attn.k_norm",
    .constants = llama_constants,
};

const foreign_names foreign_names_gpt2 = {
    .embed = "wte",
    .readout = "lm_head",
    .positions = "wpe",
    .final_norm = "ln_f",
    .norm1 = "h.%zu.ln_1",
    .qkv = "h.%zu.attn.c_attn",
    .out = "h.%zu.attn.c_proj",
    .norm2 = "h.%zu.ln_2",
    .up = "h.%zu.mlp.c_fc",
    .down = "h.%zu.mlp.c_proj",
    .constants = gpt2_constants,
};

const foreign_names foreign_names_gguf = {
    .embed = "token_embd",
    .positions = "position_embd",
    .final_norm = "output_norm",
    .readout = "output",
    .norm1 = "blk.%zu.attn_norm",
    .q = "blk.%zu.attn_q",
    .k = "blk.%zu.attn_k",
    .v = "blk.%zu.attn_v",
    .qkv = "blk.%zu.attn_qkv",
    .out = "blk.%zu.attn_output",
    .norm2 = "blk.%zu.ffn_norm",
    .up = "blk.%zu.ffn_up",
    .gate = "blk.%zu.ffn_gate",
    .down = "blk.%zu.ffn_down",
    .q_norm = "blk.%zu.attn_q_norm",
    .k_norm = "blk.%zu.attn_k_norm",
    .constants = no_constants,
};

void foreign_layer_name(char name[FOREIGN_NAME_MAX], const char *prefix, const char *pattern, size_t layer,
                        const char *suffix)
{
    char inner[FOREIGN_NAME_MAX - 48];
    const char *number = strstr(pattern, "%zu");
    if (number)
        snprintf(inner, sizeof inner, "%.*s%zu%s", (int)(number - pattern), pattern, layer, number + 3);
    else
        snprintf(inner, sizeof inner, "%s", pattern);
    snprintf(name, FOREIGN_NAME_MAX, "%s%s%s", prefix, inner, suffix);
}

static rung_status check_epsilon(double epsilon, const char *key, const char *path, rung_error *err)
{
    if (epsilon > 0 && epsilon <= 1) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT, "%s: %s is %g, which is not above 0 and at most 1", path, key, epsilon);
}

/* A file that stores 1e-5 as a float means 1e-5. */
static double shortest_decimal(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    double decimal = strtod(text, NULL);
    return (float)decimal - (float)value == 0 ? decimal : value; /* equal floats */
}

/* What both families share, before the sizes are read. */
static void begin_llama(foreign_shape *s)
{
    s->positions = RUNG_POS_ROTARY, s->norm = RUNG_NORM_RMS, s->mlp = RUNG_MLP_SWIGLU;
    s->rotary_base = 10000;
}

static void begin_gpt2(foreign_shape *s)
{
    s->positions = RUNG_POS_LEARNED, s->norm = RUNG_NORM_LAYER, s->mlp = RUNG_MLP_GELU_TANH;
    s->qkv_bias = s->out_bias = s->mlp_bias = FOREIGN_BIAS_ALWAYS;
    s->tied = true;
}

rung_status foreign_shape_check(const foreign_shape *s, const char *path, rung_error *err)
{
    const struct {
        const char *name;
        size_t value;
    } sizes[] = {{"layers", s->layers},    {"width", s->d_model},          {"MLP width", s->d_mlp},
                 {"heads", s->heads},      {"heads of keys", s->kv_heads}, {"head dimension", s->head_dim},
                 {"vocabulary", s->vocab}, {"context", s->context}};
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++)
        if (sizes[i].value < 1 || sizes[i].value > SIZE_LIMIT)
            return rung_fail(err, RUNG_INPUT, "%s: %s: %zu is not a size from 1 to %d", path, sizes[i].name,
                             sizes[i].value, SIZE_LIMIT);
    if (s->heads % s->kv_heads != 0)
        return rung_fail(err, RUNG_INPUT, "%s: %zu heads cannot share %zu heads of keys", path, s->heads, s->kv_heads);
    if (s->positions == RUNG_POS_ROTARY && s->head_dim % 2 != 0)
        return rung_fail(err, RUNG_INPUT, "%s: a rotation needs heads of an even dimension, not %zu", path,
                         s->head_dim);
    return RUNG_OK;
}

/* ---- GGUF -------------------------------------------------------------------------------------------------------- */

typedef struct gguf_reader {
    const rung_gguf *file;
    const char *path, *arch;
    rung_error *err;
} gguf_reader;

static void gguf_key(char key[FOREIGN_NAME_MAX], const gguf_reader *r, const char *what)
{
    snprintf(key, FOREIGN_NAME_MAX, "%s.%s", r->arch, what);
}

static rung_status gguf_size(size_t *out, const gguf_reader *r, const char *what, size_t absent)
{
    char key[FOREIGN_NAME_MAX];
    uint64_t value = absent;
    gguf_key(key, r, what);
    size_t len = rung_gguf_len(r->file, key);
    if (len == 0 && absent == 0) return rung_fail(r->err, RUNG_INPUT, "%s: has no key %s", r->path, key);
    if (len > 0 && (rung_gguf_is_array(r->file, key) || !rung_gguf_u64(&value, r->file, key, 0)))
        return rung_fail(r->err, RUNG_INPUT, "%s: key %s is not one whole number; layers of several kinds are not read",
                         r->path, key);
    *out = value > SIZE_MAX ? SIZE_MAX : (size_t)value;
    return RUNG_OK;
}

static rung_status gguf_epsilon(foreign_shape *s, const gguf_reader *r, const char *what)
{
    char key[FOREIGN_NAME_MAX];
    gguf_key(key, r, what);
    if (!rung_gguf_real(&s->epsilon, r->file, key))
        return rung_fail(r->err, RUNG_INPUT, "%s: has no key %s", r->path, key);
    s->epsilon = shortest_decimal(s->epsilon);
    return check_epsilon(s->epsilon, key, r->path, r->err);
}

/* Keys that say nothing of what the layers compute: of the file, and of the tokenizer. */
static bool gguf_is_about_others(const char *key)
{
    return strncmp(key, "general.", 8) == 0 || strncmp(key, "tokenizer.", 10) == 0 ||
           strncmp(key, "quantize.", 9) == 0 || strncmp(key, "split.", 6) == 0;
}

static rung_status gguf_check_keys(const gguf_reader *r, const char *const *known)
{
    size_t prefix = strlen(r->arch);
    for (size_t i = 0; i < rung_gguf_count(r->file); i++) {
        const char *key = rung_gguf_key_at(r->file, i);
        bool own = strncmp(key, r->arch, prefix) == 0 && key[prefix] == '.', fine = gguf_is_about_others(key);
        for (size_t k = 0; own && known[k]; k++) fine = fine || strcmp(key + prefix + 1, known[k]) == 0;
        if (!fine)
            return rung_fail(r->err, RUNG_INPUT,
                             "%s: key %.100s is not one that is read here; it may change the layers", r->path, key);
    }
    return RUNG_OK;
}

static rung_status gguf_vocab(foreign_shape *s, const foreign_weights *w, rung_error *err)
{
    const rung_tensor *embed = rung_gguf_tensor(w->gguf, "token_embd.weight");
    if (!embed || embed->rank != 2) return rung_fail(err, RUNG_INPUT, "%s: has no matrix token_embd.weight", w->path);
    s->vocab = embed->shape[0];
    return RUNG_OK;
}

static rung_status gguf_common(foreign_shape *s, const foreign_weights *w, const gguf_reader *r)
{
    s->names = &foreign_names_gguf;
    s->tied = true;
    RUNG_TRY(gguf_size(&s->layers, r, "block_count", 0));
    RUNG_TRY(gguf_size(&s->d_model, r, "embedding_length", 0));
    RUNG_TRY(gguf_size(&s->d_mlp, r, "feed_forward_length", 0));
    RUNG_TRY(gguf_size(&s->heads, r, "attention.head_count", 0));
    RUNG_TRY(gguf_size(&s->context, r, "context_length", 0));
    s->kv_heads = s->heads;
    if (s->heads) s->head_dim = s->d_model / s->heads;
    return gguf_vocab(s, w, r->err);
}

static rung_status gguf_llama(foreign_shape *s, const foreign_weights *w, const gguf_reader *r)
{
    static const char *const known[] = {"context_length",
                                        "embedding_length",
                                        "block_count",
                                        "feed_forward_length",
                                        "attention.head_count",
                                        "attention.head_count_kv",
                                        "attention.key_length",
                                        "attention.value_length",
                                        "attention.layer_norm_rms_epsilon",
                                        "rope.dimension_count",
                                        "rope.freq_base",
                                        "vocab_size",
                                        NULL};
    size_t rotated, keys, values;
    char key[FOREIGN_NAME_MAX];
    RUNG_TRY(gguf_check_keys(r, known));
    begin_llama(s);
    s->paired = strcmp(r->arch, "llama") == 0; /* the others are stored in the order of halves */
    s->qk_norm = strcmp(r->arch, "qwen3") == 0;
    RUNG_TRY(gguf_common(s, w, r));
    RUNG_TRY(gguf_size(&s->kv_heads, r, "attention.head_count_kv", s->heads));
    RUNG_TRY(gguf_size(&keys, r, "attention.key_length", s->head_dim ? s->head_dim : 1));
    RUNG_TRY(gguf_size(&values, r, "attention.value_length", keys ? keys : 1));
    RUNG_TRY(gguf_size(&rotated, r, "rope.dimension_count", keys ? keys : 1));
    if (values != keys || rotated != keys)
        return rung_fail(r->err, RUNG_INPUT,
                         "%s: keys of %zu, values of %zu and %zu rotated dimensions; they must be equal here", r->path,
                         keys, values, rotated);
    s->head_dim = keys;
    gguf_key(key, r, "rope.freq_base");
    if (rung_gguf_len(r->file, key) > 0 && !rung_gguf_real(&s->rotary_base, r->file, key))
        return rung_fail(r->err, RUNG_INPUT, "%s: key %s is not one number", r->path, key);
    return gguf_epsilon(s, r, "attention.layer_norm_rms_epsilon");
}

static rung_status gguf_gpt2(foreign_shape *s, const foreign_weights *w, const gguf_reader *r)
{
    static const char *const known[] = {"context_length",
                                        "embedding_length",
                                        "block_count",
                                        "feed_forward_length",
                                        "attention.head_count",
                                        "attention.layer_norm_epsilon",
                                        "attention.head_count_kv",
                                        NULL};
    RUNG_TRY(gguf_check_keys(r, known));
    begin_gpt2(s);
    RUNG_TRY(gguf_common(s, w, r));
    RUNG_TRY(gguf_size(&s->kv_heads, r, "attention.head_count_kv", s->heads));
    return gguf_epsilon(s, r, "attention.layer_norm_epsilon");
}

rung_status foreign_shape_from_gguf(foreign_shape *s, const foreign_weights *w, rung_error *err)
{
    const char *arch = rung_gguf_string(w->gguf, "general.architecture");
    if (!arch) return rung_fail(err, RUNG_INPUT, "%s: has no key general.architecture", w->path);
    const gguf_reader r = {w->gguf, w->path, arch, err};
    *s = (foreign_shape){0};
    snprintf(s->family, sizeof s->family, "%.31s", arch);
    if (strcmp(arch, "llama") == 0 || strcmp(arch, "qwen2") == 0 || strcmp(arch, "qwen3") == 0)
        return gguf_llama(s, w, &r);
    if (strcmp(arch, "gpt2") == 0) return gguf_gpt2(s, w, &r);
    return rung_fail(err, RUNG_INPUT, "%s: architecture '%.31s' is not one of llama, qwen2, qwen3, gpt2", w->path,
                     arch);
}

/* ---- config.json ------------------------------------------------------------------------------------------------- */

typedef struct json_reader {
    const rung_json *root;
    const char *path;
    rung_error *err;
} json_reader;

static bool json_absent(const json_reader *r, const char *key)
{
    const rung_json *value = rung_json_get(r->root, key);
    return !value || rung_json_kind_of(value) == RUNG_JSON_NULL;
}

static rung_status json_size(size_t *out, const json_reader *r, const char *key, size_t absent)
{
    int64_t value = 0;
    *out = absent;
    if (json_absent(r, key))
        return absent ? RUNG_OK : rung_fail(r->err, RUNG_INPUT, "%s: has no key \"%s\"", r->path, key);
    if (!rung_json_int(&value, rung_json_get(r->root, key)) || value < 1 || value > SIZE_LIMIT)
        return rung_fail(r->err, RUNG_INPUT, "%s: \"%s\" is not a whole number from 1 to %d", r->path, key, SIZE_LIMIT);
    *out = (size_t)value;
    return RUNG_OK;
}

static rung_status json_real(double *out, const json_reader *r, const char *key, double absent)
{
    *out = absent;
    if (json_absent(r, key) || rung_json_real(out, rung_json_get(r->root, key))) return RUNG_OK;
    return rung_fail(r->err, RUNG_INPUT, "%s: \"%s\" is not a number", r->path, key);
}

static rung_status json_bool(bool *out, const json_reader *r, const char *key, bool absent)
{
    *out = absent;
    if (json_absent(r, key) || rung_json_bool(out, rung_json_get(r->root, key))) return RUNG_OK;
    return rung_fail(r->err, RUNG_INPUT, "%s: \"%s\" is neither true nor false", r->path, key);
}

static rung_status json_must_be(const json_reader *r, const char *key, const char *const *allowed)
{
    const char *value = rung_json_string(rung_json_get(r->root, key));
    if (json_absent(r, key)) return RUNG_OK;
    for (size_t i = 0; value && allowed[i]; i++)
        if (strcmp(value, allowed[i]) == 0) return RUNG_OK;
    return rung_fail(r->err, RUNG_INPUT, "%s: \"%s\" is '%.60s', and only '%s' has a place here", r->path, key,
                     value ? value : "no text", allowed[0]);
}

static rung_status json_must_be_off(const json_reader *r, const char *key)
{
    bool on;
    RUNG_TRY(json_bool(&on, r, key, false));
    return on ? rung_fail(r->err, RUNG_INPUT, "%s: \"%s\" is true, which has no place here", r->path, key) : RUNG_OK;
}

/* About training, generation, the tokenizer and the library that wrote the file. */
static const char *const about_others[] = {"_name_or_path",
                                           "architectures",
                                           "attention_dropout",
                                           "attn_pdrop",
                                           "bos_token_id",
                                           "dtype",
                                           "embd_pdrop",
                                           "eos_token_id",
                                           "gradient_checkpointing",
                                           "initializer_range",
                                           "model_type",
                                           "output_past",
                                           "pad_token_id",
                                           "pretraining_tp",
                                           "resid_pdrop",
                                           "summary_activation",
                                           "summary_first_dropout",
                                           "summary_proj_to_labels",
                                           "summary_type",
                                           "summary_use_proj",
                                           "task_specific_params",
                                           "torch_dtype",
                                           "transformers_version",
                                           "unk_token_id",
                                           "use_cache",
                                           NULL};

static bool listed(const char *key, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(key, *list) == 0) return true;
    return false;
}

static rung_status json_check_keys(const json_reader *r, const char *const *known)
{
    for (size_t i = 0; i < rung_json_len(r->root); i++) {
        const char *key = rung_json_key_at(r->root, i);
        if (!listed(key, known) && !listed(key, about_others) && !json_absent(r, key))
            return rung_fail(r->err, RUNG_INPUT,
                             "%s: key \"%.60s\" is not one that is read here; it may change the layers", r->path, key);
    }
    return RUNG_OK;
}

static rung_status json_positive(double *out, const json_reader *r, const char *key)
{
    RUNG_TRY(json_real(out, r, key, 0));
    if (*out > 0 && isfinite(*out)) return RUNG_OK;
    return rung_fail(r->err, RUNG_INPUT, "%s: \"%s\" of a rotation is not a number above 0", r->path, key);
}

/* "type" is the older spelling. */
static rung_status json_rescaling(foreign_rescaling *out, const json_reader *r)
{
    static const char *const kinds[] = {"default", "linear", "llama3", NULL};
    const char *kind = rung_json_string(rung_json_get(r->root, "rope_type"));
    if (!kind) kind = rung_json_string(rung_json_get(r->root, "type"));
    RUNG_TRY(json_must_be(r, "rope_type", kinds));
    RUNG_TRY(json_must_be(r, "type", kinds));
    if (!kind || strcmp(kind, "default") == 0) return RUNG_OK;
    out->kind = strcmp(kind, "linear") == 0 ? FOREIGN_ROTARY_LINEAR : FOREIGN_ROTARY_LLAMA3;
    RUNG_TRY(json_positive(&out->factor, r, "factor"));
    if (out->kind == FOREIGN_ROTARY_LINEAR) return RUNG_OK;
    RUNG_TRY(json_positive(&out->low, r, "low_freq_factor"));
    RUNG_TRY(json_positive(&out->high, r, "high_freq_factor"));
    RUNG_TRY(json_positive(&out->original, r, "original_max_position_embeddings"));
    if (out->low < out->high) return RUNG_OK;
    return rung_fail(r->err, RUNG_INPUT, "%s: \"low_freq_factor\" is not below \"high_freq_factor\"", r->path);
}

/* {"rope_type": "default", "rope_theta": ...}: the form of newer files, and of rope_scaling. */
static rung_status json_rotation(foreign_shape *s, const json_reader *r, const char *key)
{
    static const char *const known[] = {"rope_type",
                                        "type",
                                        "rope_theta",
                                        "factor",
                                        "low_freq_factor",
                                        "high_freq_factor",
                                        "original_max_position_embeddings",
                                        NULL};
    if (json_absent(r, key)) return RUNG_OK;
    const json_reader inner = {rung_json_get(r->root, key), r->path, r->err};
    if (rung_json_kind_of(inner.root) != RUNG_JSON_OBJECT)
        return rung_fail(r->err, RUNG_INPUT, "%s: \"%s\" is not an object", r->path, key);
    RUNG_TRY(json_check_keys(&inner, known));
    RUNG_TRY(json_rescaling(&s->rescaling, &inner));
    return json_real(&s->rotary_base, &inner, "rope_theta", s->rotary_base);
}

/* What the published configuration of a family says where a key is absent. */
typedef struct family {
    const char *name;
    size_t kv_heads, head_dim; /* 0: the heads; width / heads */
    bool slides;               /* has a window, without a word about it in the file */
    bool may_slide;            /* has one where use_sliding_window says so */
    bool qkv_bias, qk_norm;
    bool states_bias; /* by attention_bias */
    bool gemma;       /* norms 1 + w, embeddings times the root of the width, gelu_tanh on the gate, tied */
} family;

static const family families[] = {
    {.name = "llama", .states_bias = true},
    {.name = "mistral", .kv_heads = 8, .slides = true},
    {.name = "qwen2", .kv_heads = 32, .may_slide = true, .qkv_bias = true},
    {.name = "gemma", .kv_heads = 16, .head_dim = 256, .states_bias = true, .gemma = true},
    {.name = "qwen3", .kv_heads = 32, .head_dim = 128, .may_slide = true, .qk_norm = true, .states_bias = true},
};

static const family *family_named(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(families); i++)
        if (strcmp(families[i].name, name) == 0) return &families[i];
    return NULL;
}

/* The published class of llama has biases only where a key says so, whatever the file holds; that of mistral has none. */
static rung_status json_biases(foreign_shape *s, const json_reader *r, const family *f)
{
    bool attention = false, mlp = false;
    if (f->states_bias)
        RUNG_TRY(json_bool(&attention, r, "attention_bias", false));
    else
        RUNG_TRY(json_must_be_off(r, "attention_bias"));
    if (strcmp(f->name, "llama") == 0)
        RUNG_TRY(json_bool(&mlp, r, "mlp_bias", false));
    else
        RUNG_TRY(json_must_be_off(r, "mlp_bias"));
    s->qkv_bias = attention || f->qkv_bias ? FOREIGN_BIAS_ALWAYS : FOREIGN_BIAS_NEVER;
    s->out_bias = attention ? FOREIGN_BIAS_ALWAYS : FOREIGN_BIAS_NEVER;
    s->mlp_bias = mlp ? FOREIGN_BIAS_ALWAYS : FOREIGN_BIAS_NEVER;
    return RUNG_OK;
}

/* The window of the layers that have one; 0 if no layer has. */
static rung_status json_window(foreign_shape *s, const json_reader *r, const family *f)
{
    bool stated = !json_absent(r, "sliding_window"), used = f->slides;
    if (f->may_slide) RUNG_TRY(json_bool(&used, r, "use_sliding_window", false));
    if (!used && !f->may_slide && stated)
        return rung_fail(r->err, RUNG_INPUT, "%s: \"sliding_window\" is not a key of this family", r->path);
    if (!used || (rung_json_get(r->root, "sliding_window") && !stated)) return RUNG_OK; /* null: no window */
    return json_size(&s->window, r, "sliding_window", 4096);
}

/* Which layers have the window: what layer_types says, or all from max_window_layers on. */
static rung_status json_layer_types(foreign_shape *s, const json_reader *r, const family *f, rung_arena *arena)
{
    const rung_json *types = rung_json_get(r->root, "layer_types");
    size_t full = 0;
    bool listed_types = !json_absent(r, "layer_types");
    if (s->layers > SIZE_LIMIT / 256)
        return rung_fail(r->err, RUNG_INPUT, "%s: %zu layers are too many", r->path, s->layers);
    if (listed_types && rung_json_len(types) != s->layers)
        return rung_fail(r->err, RUNG_INPUT, "%s: \"layer_types\" does not list %zu layers", r->path, s->layers);
    s->slides = rung_arena_alloc(arena, s->layers, sizeof *s->slides, r->err);
    if (!s->slides) return RUNG_SYSTEM;
    if (f->may_slide && s->window) RUNG_TRY(json_size(&full, r, "max_window_layers", 28));
    for (size_t i = 0; i < s->layers; i++) {
        const char *type = listed_types ? rung_json_string(rung_json_at(types, i)) : NULL;
        bool slides = type && strcmp(type, "sliding_attention") == 0;
        if (listed_types && !slides && !(type && strcmp(type, "full_attention") == 0))
            return rung_fail(r->err, RUNG_INPUT, "%s: \"layer_types\" has others than full and sliding attention",
                             r->path);
        if (slides && !s->window)
            return rung_fail(r->err, RUNG_INPUT, "%s: \"layer_types\" has sliding attention without a window", r->path);
        if (listed_types && f->slides && slides != (s->window > 0))
            return rung_fail(r->err, RUNG_INPUT, "%s: \"layer_types\" and \"sliding_window\" contradict each other",
                             r->path);
        s->slides[i] = listed_types ? slides : s->window && i >= full;
    }
    return RUNG_OK;
}

/* GemmaConfig takes "gelu" for the approximation, as files of old have it. */
static rung_status json_activation(foreign_shape *s, const json_reader *r, const family *f)
{
    static const char *const silu[] = {"silu", NULL}, *const gelu[] = {"gelu_pytorch_tanh", "gelu", NULL};
    if (!f->gemma && !json_absent(r, "hidden_activation"))
        return rung_fail(r->err, RUNG_INPUT, "%s: \"hidden_activation\" is not a key of this family", r->path);
    RUNG_TRY(json_must_be(r, "hidden_act", f->gemma ? gelu : silu));
    RUNG_TRY(json_must_be(r, "hidden_activation", gelu));
    s->plus_one = f->gemma;
    if (f->gemma) s->mlp = RUNG_MLP_GEGLU_TANH;
    return RUNG_OK;
}

/* An absent key has the value of the published class: LlamaConfig, MistralConfig, Qwen2Config, Qwen3Config,
 * GemmaConfig. */
static rung_status json_llama(foreign_shape *s, const json_reader *r, const family *f, rung_arena *arena)
{
    static const char *const known[] = {"attention_bias",      "head_dim",
                                        "hidden_act",          "hidden_activation",
                                        "hidden_size",         "intermediate_size",
                                        "layer_types",         "max_position_embeddings",
                                        "max_window_layers",   "mlp_bias",
                                        "num_attention_heads", "num_hidden_layers",
                                        "num_key_value_heads", "rms_norm_eps",
                                        "rope_parameters",     "rope_scaling",
                                        "rope_theta",          "sliding_window",
                                        "tie_word_embeddings", "use_sliding_window",
                                        "vocab_size",          NULL};
    begin_llama(s);
    s->names = &foreign_names_llama;
    s->qk_norm = f->qk_norm;
    RUNG_TRY(json_check_keys(r, known));
    RUNG_TRY(json_activation(s, r, f));
    if (!f->may_slide) RUNG_TRY(json_must_be_off(r, "use_sliding_window"));
    RUNG_TRY(json_size(&s->layers, r, "num_hidden_layers", 0));
    RUNG_TRY(json_size(&s->d_model, r, "hidden_size", 0));
    RUNG_TRY(json_size(&s->d_mlp, r, "intermediate_size", 0));
    RUNG_TRY(json_size(&s->heads, r, "num_attention_heads", 0));
    RUNG_TRY(json_size(&s->kv_heads, r, "num_key_value_heads", f->kv_heads ? f->kv_heads : s->heads));
    size_t share = s->d_model / s->heads ? s->d_model / s->heads : 1;
    RUNG_TRY(json_size(&s->head_dim, r, "head_dim", f->head_dim ? f->head_dim : share));
    RUNG_TRY(json_size(&s->vocab, r, "vocab_size", 0));
    RUNG_TRY(json_size(&s->context, r, "max_position_embeddings", 0));
    RUNG_TRY(json_biases(s, r, f));
    RUNG_TRY(json_window(s, r, f));
    RUNG_TRY(json_layer_types(s, r, f, arena));
    RUNG_TRY(json_bool(&s->tied, r, "tie_word_embeddings", f->gemma));
    if (f->gemma) s->embed_scale = sqrt((double)s->d_model);
    RUNG_TRY(json_real(&s->rotary_base, r, "rope_theta", s->rotary_base));
    RUNG_TRY(json_rotation(s, r, "rope_scaling"));
    RUNG_TRY(json_rotation(s, r, "rope_parameters"));
    RUNG_TRY(json_real(&s->epsilon, r, "rms_norm_eps", 1e-6));
    return check_epsilon(s->epsilon, "\"rms_norm_eps\"", r->path, r->err);
}

/* GPT2Model, for one, has no read-out, and GPT2LMHeadModel has. */
static bool json_is_language_model(const json_reader *r)
{
    const char *class_name = rung_json_string(rung_json_at(rung_json_get(r->root, "architectures"), 0));
    return class_name && strstr(class_name, "LMHead");
}

/* An absent key has the value of GPT2Config. Sizes are never taken from there. */
static rung_status json_gpt2(foreign_shape *s, const json_reader *r)
{
    static const char *const known[] = {"activation_function",
                                        "add_cross_attention",
                                        "layer_norm_epsilon",
                                        "n_ctx",
                                        "n_embd",
                                        "n_head",
                                        "n_inner",
                                        "n_layer",
                                        "n_positions",
                                        "reorder_and_upcast_attn",
                                        "scale_attn_by_inverse_layer_idx",
                                        "scale_attn_weights",
                                        "tie_word_embeddings",
                                        "vocab_size",
                                        NULL};
    static const char *const gelu[] = {"gelu_new", "gelu_pytorch_tanh", "gelu", NULL};
    const char *activation = rung_json_string(rung_json_get(r->root, "activation_function"));
    bool scaled;
    begin_gpt2(s);
    s->names = &foreign_names_gpt2;
    s->transposed = true;
    RUNG_TRY(json_check_keys(r, known));
    RUNG_TRY(json_must_be(r, "activation_function", gelu));
    if (activation && strcmp(activation, "gelu") == 0) s->mlp = RUNG_MLP_GELU;
    RUNG_TRY(json_must_be_off(r, "add_cross_attention"));
    RUNG_TRY(json_must_be_off(r, "scale_attn_by_inverse_layer_idx"));
    RUNG_TRY(json_bool(&scaled, r, "scale_attn_weights", true));
    if (!scaled)
        return rung_fail(r->err, RUNG_INPUT, "%s: \"scale_attn_weights\" is false, which has no place here", r->path);
    RUNG_TRY(json_size(&s->layers, r, "n_layer", 0));
    RUNG_TRY(json_size(&s->d_model, r, "n_embd", 0));
    RUNG_TRY(json_size(&s->heads, r, "n_head", 0));
    RUNG_TRY(json_size(&s->context, r, "n_positions", 0));
    RUNG_TRY(json_size(&s->vocab, r, "vocab_size", 0));
    RUNG_TRY(json_size(&s->d_mlp, r, "n_inner", 4 * s->d_model));
    RUNG_TRY(json_bool(&s->tied, r, "tie_word_embeddings", true));
    s->tied = s->tied && json_is_language_model(r);
    s->kv_heads = s->heads, s->head_dim = s->d_model / s->heads;
    RUNG_TRY(json_real(&s->epsilon, r, "layer_norm_epsilon", 1e-5));
    return check_epsilon(s->epsilon, "\"layer_norm_epsilon\"", r->path, r->err);
}

/* What stands before the name of the embedding stands before all names. */
static rung_status find_prefix(foreign_shape *s, const foreign_weights *w, rung_error *err)
{
    char name[FOREIGN_NAME_MAX];
    snprintf(name, sizeof name, "%s.weight", s->names->embed);
    size_t tail = strlen(name);
    for (size_t i = 0; i < w->count; i++) {
        const char *full = w->tensor[i]->name;
        size_t len = strlen(full);
        if (len < tail || strcmp(full + len - tail, name) != 0 || len - tail >= sizeof s->prefix) continue;
        if (len > tail && full[len - tail - 1] != '.') continue;
        memcpy(s->prefix, full, len - tail);
        return RUNG_OK;
    }
    return rung_fail(err, RUNG_INPUT, "%s: has no tensor %s", w->path, name);
}

rung_status foreign_shape_from_json(foreign_shape *s, const foreign_weights *w, const char *path, rung_arena *arena,
                                    rung_error *err)
{
    rung_json_doc *doc;
    RUNG_TRY(rung_json_open_python(&doc, path, err));
    const json_reader r = {rung_json_root(doc), path, err};
    const char *type = rung_json_string(rung_json_get(r.root, "model_type"));
    rung_status status = RUNG_OK;
    *s = (foreign_shape){0};
    snprintf(s->family, sizeof s->family, "%.31s", type ? type : "");
    if (!type)
        status = rung_fail(err, RUNG_INPUT, "%s: has no text \"model_type\"", path);
    else if (family_named(type))
        status = json_llama(s, &r, family_named(type), arena);
    else if (strcmp(type, "gpt2") == 0)
        status = json_gpt2(s, &r);
    else
        status =
            rung_fail(err, RUNG_INPUT, "%s: model_type '%.31s' is not one of llama, mistral, qwen2, qwen3, gemma, gpt2",
                      path, type);
    rung_json_free(doc);
    RUNG_NEXT(status, find_prefix(s, w, err));
    return status;
}
