/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What an attention layer keeps and what a query of it receives: heads and their sizes (grouped queries, latent
 * attention, two head sizes, sizes of single layers), windows, chunks, caches shared between layers.
 */
#include "reader.h"
#include "state_sizes.h"

#define WINDOW_KEYS                                                                                                    \
    "sliding_window attention_window_size sliding_window_size window_size attn_window_size local_attention_window "    \
    "efficient_attention_config.swa.window_size attention_window"

/* ---- heads ---- */

/* Sizes in an object of the layer's own: `attn` of flash-linear-attention, attn_cfg, block_configs,
 * attention_other_setting. Missing sizes are derived from the others. */
static void read_own_heads(cfg_heads *out, cfg_reader *r, const rung_json *own)
{
    uint64_t group, value;
    if (cfg_find_size_in(&value, r, own, "num_heads")) *out = (cfg_heads){.query = value, .kv = value};
    if (cfg_find_size_in(&value, r, own, "num_attention_heads")) out->query = value;
    if (cfg_find_size_in(&value, r, own, "num_kv_heads num_heads_kv num_key_value_heads num_attention_groups"))
        out->kv = value;
    if (cfg_find_size_in(&group, r, own, "n_heads_in_group"))
        out->kv = cfg_divide(r, out->query, group, "key and value heads");
    if (cfg_find_size_in(&value, r, own, "head_dim")) out->key_dim = out->value_dim = value;
}

static void read_kv_heads(cfg_heads *out, cfg_reader *r, size_t i)
{
    bool many = cfg_flag_or(r, "new_decoder_architecture", false);
    out->kv = out->query;
    if (cfg_flag_or(r, "multi_query", false) && !many)
        out->kv = 1;
    else if (!cfg_find_size_at(&out->kv, r,
                               "num_key_value_heads num_kv_heads n_kv_heads n_head_kv num_attention_groups "
                               "multi_query_group_num attn_config.kv_n_heads num_query_groups",
                               i))
        out->kv = out->query;
}

static bool is_shared_block(const cfg_reader *r)
{
    return strcmp(r->type, "zamba") == 0 || strcmp(r->type, "zamba2") == 0;
}

static void read_general_heads(cfg_heads *out, cfg_reader *r, size_t i)
{
    if (!cfg_find_size_at(&out->query, r,
                          "num_attention_heads_per_layer cca_num_q_heads num_attention_heads n_head n_heads "
                          "num_query_heads num_heads attention_heads",
                          i))
        cfg_fail(r, "has no number of attention heads; looked for: num_attention_heads n_head n_heads num_query_heads "
                    "num_heads");
    read_kv_heads(out, r, i);
    /* Zamba's kv_channels is half of the size of its shared block. */
    (void)cfg_find_size_at(&out->key_dim, r,
                           is_shared_block(r) ? "attention_head_dim head_dim"
                                              : "head_dim attention_head_dim kv_channels attn_head_dim "
                                                "hidden_size_per_head",
                           i);
    out->value_dim = out->key_dim;
    if (cfg_flag_or(r, "use_mla", true)) (void)cfg_find_size_at(&out->value_dim, r, "v_head_dim", i);
}

/* Heads of the windowed layers, where a file gives them other sizes. */
static void read_window_heads(cfg_heads *out, cfg_reader *r)
{
    uint64_t value;
    const rung_json *other = cfg_find(r, "attention_other_setting");
    if (cfg_find_size(&value, r, "num_swa_attention_heads swa_num_attention_heads num_sliding_attention_heads")) {
        if (out->query != value && !cfg_has(r, "head_dim")) out->key_dim = out->value_dim = 0;
        out->query = value;
    }
    if (cfg_find_size(&value, r, "num_swa_key_value_heads swa_num_key_value_heads")) out->kv = value;
    if (cfg_find_size(&value, r, "swa_head_dim")) out->key_dim = out->value_dim = value;
    if (cfg_find_size(&value, r, "swa_v_head_dim")) out->value_dim = value;
    if (other && rung_json_kind_of(other) != RUNG_JSON_OBJECT)
        cfg_fail(r, "'attention_other_setting' must be an object");
    if (other) read_own_heads(out, r, other);
}

/* Gemma-4: full layers have longer heads, and fewer of them where keys and values share a projection. */
static void read_global_heads(cfg_heads *out, cfg_reader *r)
{
    uint64_t value;
    if (!cfg_is_off(cfg_find(r, "per_layer_config"))) return; /* per_layer_config states it layer by layer */
    if (cfg_find_size(&value, r, "global_head_dim")) out->key_dim = out->value_dim = value;
    if (cfg_flag_or(r, "attention_k_eq_v", false) && cfg_find_size(&value, r, "num_global_key_value_heads"))
        out->kv = value;
}

/* The input of Zamba's shared block is the hidden state and the embedding, concatenated. */
static uint64_t attention_width(cfg_reader *r)
{
    return is_shared_block(r) ? cfg_size_or(r, "attention_hidden_size", cfg_times(2, cfg_hidden_size(r)))
                              : cfg_hidden_size(r);
}

static void derive_head_dim(cfg_heads *out, cfg_reader *r)
{
    if (out->key_dim == 0) {
        out->key_dim = cfg_divide(r, attention_width(r), out->query, "size of a head (head_dim)");
        cfg_note(r, "head_dim is not in the file; a head has the width divided by the number of heads");
        if (out->value_dim == 0) out->value_dim = out->key_dim;
    }
    if (out->value_dim == 0) out->value_dim = out->key_dim;
}

static cfg_heads read_heads(cfg_reader *r, size_t i)
{
    cfg_heads out = {0};
    const cfg_plan *plan = &r->layer[i];
    bool replaced = cfg_find_in(plan->own, "num_heads") != NULL;
    if (!replaced) read_general_heads(&out, r, i);
    if (plan->kinds & KIND_WINDOW) read_window_heads(&out, r);
    if (plan->kinds & KIND_FULL) read_global_heads(&out, r);
    if (plan->own) read_own_heads(&out, r, plan->own);
    if (!r->status && (out.query == 0 || out.kv == 0)) cfg_fail(r, "layer %zu attends with 0 heads", i);
    if (!r->status && (out.kv > out.query || out.query % out.kv != 0))
        cfg_fail(r,
                 "layer %zu has %zu query heads and %zu key and value heads, and the latter must divide the former; "
                 "see num_attention_heads and num_key_value_heads",
                 i, (size_t)out.query, (size_t)out.kv);
    if (!r->status) derive_head_dim(&out, r);
    return out;
}

/* ---- latent attention ---- */

#define LATENT_KEYS "kv_lora_rank attention_kv_lora_dim"

static bool is_latent(cfg_reader *r)
{
    uint64_t rank;
    return cfg_flag_or(r, "use_mla", true) && cfg_find_size(&rank, r, LATENT_KEYS) && rank > 0;
}

/* A windowed layer may have its own size, with the prefix swa_. */
static uint64_t latent_size(cfg_reader *r, const rung_ledger_layer *held, const char *of_windows, const char *keys)
{
    uint64_t value;
    return held->window && cfg_find_size(&value, r, of_windows) ? value : cfg_size_or(r, keys, 0);
}

/* The cache holds the latent and the rotary key. A query receives a latent per head if the value projection is applied
 * afterwards, and a value per head if it is applied before. A bound needs the larger number. */
static uint64_t read_latent(rung_ledger_layer *held, cfg_reader *r)
{
    uint64_t rank = latent_size(r, held, "swa_kv_lora_rank", LATENT_KEYS);
    uint64_t rope = latent_size(r, held, "swa_qk_rope_head_dim", "qk_rope_head_dim attention_qk_rope_dim");
    uint64_t nope = latent_size(r, held, "swa_qk_nope_head_dim", "qk_nope_head_dim attention_qk_dim");
    uint64_t value_dim = latent_size(r, held, "swa_v_head_dim", "v_head_dim attention_v_dim");
    held->heads = cfg_need_size(r, "num_attention_heads n_head n_heads", "number of attention heads");
    if (rank == 0) cfg_fail(r, "a windowed layer has a latent of size 0");
    if (rope == 0 && strncmp(r->type, "glm5_next", 9) != 0)
        cfg_doubt(r, "the file states no rotary key (qk_rope_head_dim), and latent attention of %s has one", r->type);
    if (value_dim == 0) value_dim = cfg_divide(r, cfg_hidden_size(r), held->heads, "v_head_dim");
    held->value_dim = value_dim > rank ? value_dim : rank;
    held->key_dim = cfg_plus(nope > rank ? nope : rank, rope);
    return cfg_plus(rank, rope);
}

/* ---- caches that belong to another layer ---- */

static bool in_reuse_group(const cfg_reader *r, size_t i)
{
    const rung_json *groups = cfg_find(r, "kv_reuse_group");
    int64_t number;
    for (size_t g = 0; g < rung_json_len(groups); g++)
        for (size_t k = 1; k < rung_json_len(rung_json_at(groups, g)); k++)
            if (rung_json_int(&number, rung_json_at(rung_json_at(groups, g), k)) && number == (int64_t)i) return true;
    return false;
}

static bool is_shared(cfg_reader *r, size_t i)
{
    uint64_t tail = cfg_size_or(r, "num_kv_shared_layers", 0), factor = cfg_size_or(r, "cla_share_factor", 1);
    if (tail >= r->layers && tail > 0) cfg_fail(r, "'num_kv_shared_layers' leaves no layer with a cache");
    if (cfg_flag_or(r, "use_cla", false) && factor > 1 && i % factor != 0) return true;
    return i >= r->layers - (tail < r->layers ? tail : 0) || in_reuse_group(r, i);
}

/* An earlier windowed layer keeps the same tokens, so nothing more is stored. If only full layers keep them, a layer
 * that shares them still carries its window past a cut. */
static bool is_held_before(const cfg_reader *r, const rung_ledger_layer *held, size_t i)
{
    for (size_t k = 0; (held->window || held->chunk) && k < i; k++) {
        const rung_ledger_layer *other = &r->ledger->layer[k];
        if (other->window_elements > 0 && other->window_size >= held->window_size && other->window == held->window)
            return true;
    }
    return held->full || held->sparse;
}

static void note_shared(cfg_reader *r, size_t i)
{
    char text[96];
    if (r->sharing) return;
    snprintf(text, sizeof text, "layer %zu and others read keys and values that another layer keeps", i);
    r->sharing = rung_arena_strdup(&r->ledger->arena, text, NULL);
    if (!r->sharing) r->sharing = "layers read what others keep";
}

/* ---- windows ---- */

/* The window of layer i. If it is explicitly null the layer is full. */
static uint64_t read_window(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    uint64_t window = 0;
    const rung_json *own = r->layer[i].own;
    if (cfg_find_size_in(&window, r, own, "window_size window_length sliding_window") ||
        cfg_find_size_at(&window, r, WINDOW_KEYS, i)) {
        if (window == 0) cfg_fail(r, "layer %zu has a window of 0 tokens", i);
        return window;
    }
    /* ModernBERT's number counts both sides; its decoder has only one of them. */
    if (cfg_find_size(&window, r, "local_attention") && window > 1)
        return r->family->flags & FAMILY_CAUSAL ? window / 2 : window;
    if (rung_json_kind_of(rung_json_get(r->config, "sliding_window")) == RUNG_JSON_NULL) {
        held->window = false, held->full = true;
        if (strcmp(r->type, "exaone4") != 0)
            cfg_doubt(r, "layer %zu is called windowed, and 'sliding_window' is null", i);
        return 0;
    }
    cfg_fail(r, "layer %zu sees a window, but its length is missing; looked for: " WINDOW_KEYS, i);
    return 0;
}

static uint64_t read_chunk(rung_ledger_layer *held, cfg_reader *r)
{
    uint64_t chunk = 0;
    if (cfg_find_size(&chunk, r, "attention_chunk_size") && chunk > 0) return chunk;
    held->chunk = false, held->full = true;
    cfg_doubt(r, "layers are called chunked, and 'attention_chunk_size' is null");
    return 0;
}

/* ---- one layer ---- */

static const char *plain_name(const rung_ledger_layer *held, bool latent)
{
    if (held->window) return "window";
    if (held->chunk) return "chunk";
    return latent ? "mla" : "full";
}

/* A convolution over keys and values (Baichuan-M1), or over queries too (attention layers of mamba_ssm). */
static void read_inner_conv(rung_ledger_layer *held, cfg_reader *r, size_t i, const cfg_heads *heads)
{
    uint64_t kernel, kv = cfg_times(heads->kv, cfg_plus(heads->key_dim, heads->value_dim));
    if (r->layer[i].own && r->layer[i].own == cfg_find(r, "attn_cfg") && !cfg_find_in(r->layer[i].own, "d_conv"))
        cfg_note(r, "attn_cfg.d_conv is not in the file, so no convolution is in the attention");
    if (cfg_find_size(&kernel, r, "conv_window")) cfg_state_conv(held, kv, kernel);
    if (cfg_find_size_in(&kernel, r, r->layer[i].own, "d_conv"))
        cfg_state_conv(held, cfg_plus(kv, cfg_times(heads->query, heads->key_dim)), kernel);
}

/* Differential attention: each query head receives the values of two heads. */
static uint64_t received(const cfg_reader *r, uint64_t value_dim)
{
    return r->family->flags & FAMILY_TWO_VALUES ? cfg_times(2, value_dim) : value_dim;
}

static uint64_t read_grouped(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    cfg_heads heads = read_heads(r, i);
    held->heads = heads.query;
    held->key_dim = heads.key_dim;
    held->value_dim = received(r, heads.value_dim);
    read_inner_conv(held, r, i, &heads);
    return cfg_times(heads.kv, cfg_plus(heads.key_dim, heads.value_dim));
}

void cfg_read_attention(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    bool latent = is_latent(r) && !cfg_find_in(r->layer[i].own, "num_heads");
    uint64_t per_token = latent ? read_latent(held, r) : read_grouped(held, r, i), window = 0;
    bool shared = !r->status && is_shared(r, i);
    if (held->window) window = read_window(held, r, i);
    if (held->chunk) window = read_chunk(held, r);
    held->window_size = window ? window : r->layer[i].idle_window;
    if (shared) note_shared(r, i);
    cfg_hold_tokens(held, per_token, window, shared && is_held_before(r, held, i));
    if (held->sparse)
        cfg_read_sparse(held, r, i);
    else
        cfg_layer_name(held, plain_name(held, latent));
}
