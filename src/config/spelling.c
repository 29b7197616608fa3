/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Which layer is of which kind: the table of spellings, tried from the top. No spelling: refused with the list of what
 * was tried. "Full everywhere" needs attention heads and no mark of a recurrent mechanism.
 */
#include "spelling.h"

#define LAYER_KEYS "num_hidden_layers n_layer n_layers num_layers num_blocks num_transformer_layers"

typedef struct row {
    const char *name;
    spelling_fn *read;
    bool complete; /* it states the kind of every layer, so a recurrent one cannot be overlooked */
} row;

static const row spellings[] = {
    {"layer_types", cfg_spell_layer_types, true},
    {"layers_block_type", cfg_spell_layers_block_type, true},
    {"hybrid_override_pattern", cfg_spell_hybrid_override_pattern, true},
    {"attn_type_list", cfg_spell_attn_type_list, true},
    {"linear_attn_config", cfg_spell_linear_attn_config, true},
    {"full_attention_interval", cfg_spell_full_attention_interval, true},
    {"attn_layer_period", cfg_spell_attn_layer_period, true},
    {"mamba_step", cfg_spell_mamba_step, true},
    {"attn_layer_indices", cfg_spell_attn_layer_indices, true},
    {"ssm_cfg", cfg_spell_native, true},
    {"full_attn_idxs", cfg_spell_full_attn_idxs, true},
    {"layer_group_size", cfg_spell_layer_group_size, true},
    {"block_types", cfg_spell_block_types, true},
    {"attn", cfg_spell_attn, true},
    {"mixer_types", cfg_spell_mixer_types, true},
    {"hybrid_layer_pattern", cfg_spell_hybrid_layer_pattern, false},
    {"sliding_window_layout", cfg_spell_sliding_window_layout, false},
    {"sliding_window_layers", cfg_spell_sliding_window_layers, false},
    {"sliding_window_pattern", cfg_spell_sliding_window_pattern, false},
    {"global_attn_every_n_layers", cfg_spell_global_attn_every, false},
    {"dense_attention_every_n_layers", cfg_spell_dense_every, false},
    {"compress_ratios", cfg_spell_compress_ratios, false},
    {"sparse_attention_config", cfg_spell_sparse_freq, false},
    {"index_topk", cfg_spell_index_topk, false},
    {"sparse_config", cfg_spell_sparse_config, false},
    {"block_configs", cfg_spell_block_configs, false},
    {"attention_types", cfg_spell_attention_types, false},
    {"attention_chunk_size", cfg_spell_attention_chunk, false},
    {"zaya_layers", cfg_spell_zaya_layers, true},
    {"global_attn_idx", cfg_spell_global_attn_idx, true},
    {"local_layer_ids", cfg_spell_local_layer_ids, true},
    {"model_type", cfg_spell_class_pattern, true},
    {"sliding_window", cfg_spell_sliding_window, false},
    {"nothing: full attention everywhere", cfg_spell_nothing, false},
};

/* ---- filling ---- */

void cfg_set_all(cfg_reader *r, unsigned kinds)
{
    for (size_t i = 0; i < r->layers; i++) r->layer[i].kinds = kinds;
}

void cfg_set_every(cfg_reader *r, uint64_t period, unsigned kinds, unsigned rest)
{
    for (size_t i = 0; i < r->layers; i++) r->layer[i].kinds = (i + 1) % period == 0 ? kinds : rest;
}

/* ---- the number of layers ---- */

/* Counts layers after the last one that only predict further tokens. They are not part of the ledger. */
static uint64_t count_prediction_layers(cfg_reader *r)
{
    static const char *const names[] = {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules",
                                        "num_mtp_layers", "mtp_num_layers"};
    uint64_t most = 0, one;
    for (size_t i = 0; i < RUNG_COUNT(names); i++)
        if (cfg_find_size(&one, r, names[i]) && one > most) most = one;
    return most;
}

/* Handles a list whose length differs from the stated number of layers. Returns the number of layers, or 0 after a
 * failure. */
static uint64_t settle(cfg_reader *r, const char *spelling, uint64_t counted, uint64_t stated)
{
    if (stated == 0 || counted == stated) return counted;
    if (counted == 0) return stated;
    if (r->family->flags & FAMILY_LIST_WINS) {
        cfg_note(r, "%s has %zu entries and the file counts %zu layers; the list decides", spelling, (size_t)stated,
                 (size_t)counted);
        cfg_doubt(r, "%s has %zu entries, and the file counts %zu layers", spelling, (size_t)stated, (size_t)counted);
        return stated;
    }
    if (stated > counted && stated - counted <= count_prediction_layers(r)) {
        cfg_note(r, "%zu entries at the end of %s belong to layers that predict further tokens; left out",
                 (size_t)(stated - counted), spelling);
        return counted;
    }
    cfg_fail(r, "%s has %zu entries, and the file counts %zu layers", spelling, (size_t)stated, (size_t)counted);
    return 0;
}

bool cfg_have_layers(cfg_reader *r, const char *spelling, size_t stated)
{
    uint64_t counted = 0;
    (void)cfg_find_size(&counted, r, LAYER_KEYS);
    if (r->family->flags & FAMILY_DOUBLED && !cfg_has(r, "num_hidden_layers")) counted *= 2;
    uint64_t layers = settle(r, spelling, counted, stated);
    if (layers == 0) cfg_fail(r, "has no number of layers; looked for: " LAYER_KEYS);
    if (layers > LAYERS_MAX) cfg_fail(r, "has %zu layers, and at most %d are read", (size_t)layers, LAYERS_MAX);
    if (r->status) return false;
    r->layer = rung_arena_alloc(&r->ledger->arena, (size_t)layers, sizeof *r->layer, r->err);
    if (!r->layer) r->status = RUNG_SYSTEM;
    r->layers = r->layer ? (size_t)layers : 0;
    return r->layer != NULL;
}

/* ---- marks of recurrence ---- */

static bool named_after_recurrence(const char *name)
{
    static const char *const parts[] = {"mamba",    "Mamba",    "rwkv",      "RWKV",     "Rwkv",  "hyena",
                                        "Hyena",    "retnet",   "RetNet",    "xlstm",    "xLSTM", "delta_net",
                                        "DeltaNet", "deltanet", "Recurrent", "recurrent"};
    for (size_t i = 0; name && i < RUNG_COUNT(parts); i++)
        if (strstr(name, parts[i])) return true;
    return false;
}

const char *cfg_recurrent_marker(const cfg_reader *r)
{
    static const char *const patterns[] = {"*mamba*",      "ssm*",      "state_size", "linear_*", "lightning_*",
                                           "conv_L_cache", "lru_width", "*rwkv*",     "*hyena*",  "*wkv_*",
                                           "kda_*",        "gdn_*",     "ttt_*"};
    for (size_t i = 0; i < rung_json_len(r->config); i++) {
        const char *key = rung_json_key_at(r->config, i);
        if (cfg_is_off(rung_json_value_at(r->config, i))) continue;
        for (size_t k = 0; k < RUNG_COUNT(patterns); k++)
            if (cfg_key_matches(patterns[k], key)) return key;
    }
    if (r->family->mixer || named_after_recurrence(r->type)) return "model_type";
    if (named_after_recurrence(rung_json_string(rung_json_at(rung_json_get(r->config, "architectures"), 0))))
        return "architectures";
    return NULL;
}

/* ---- the walk ---- */

/* Lists only spellings that can name recurrent layers. The others need attention heads and no mark of recurrence, and
 * one of these two conditions failed. */
static void fail_without_spelling(cfg_reader *r)
{
    rung_buf list;
    rung_buf_init(&list);
    for (size_t i = 0; i < RUNG_COUNT(spellings); i++)
        if (spellings[i].complete) rung_buf_printf(&list, " %s", spellings[i].name);
    const char *marker = cfg_recurrent_marker(r), *tried = list.text ? list.text : "";
    if (marker)
        cfg_fail(r, "cannot tell which layers are recurrent ('%s' says that some are); tried:%s", SHOW(marker), tried);
    else
        cfg_fail(r, "cannot tell the kinds of its layers: no num_attention_heads n_head n_heads, and none of:%s",
                 tried);
    rung_buf_clear(&list);
}

static bool any_recurrent(const cfg_reader *r)
{
    for (size_t i = 0; i < r->layers; i++)
        if (r->layer[i].kinds & KIND_RECURRENT) return true;
    return false;
}

/* An indexer or a block selection turns the full layers of any spelling into sparse ones. */
static void apply_selection(cfg_reader *r)
{
    bool selects = cfg_has(r, "index_topk indexer_budget") || cfg_has(r, "sparse_config.topk");
    for (size_t i = 0; selects && i < r->layers; i++)
        if (r->layer[i].kinds & KIND_FULL) r->layer[i].kinds ^= KIND_FULL | KIND_SPARSE;
}

void cfg_read_kinds(cfg_reader *r)
{
    for (size_t i = 0; i < RUNG_COUNT(spellings) && !r->status; i++) {
        if (!spellings[i].read(r)) continue;
        if (r->status) return;
        if (!spellings[i].complete && !any_recurrent(r) && cfg_recurrent_marker(r)) break;
        r->ledger->spelling = rung_arena_strdup(&r->ledger->arena, spellings[i].name, r->err);
        if (!r->ledger->spelling) r->status = RUNG_SYSTEM;
        if (r->family->flags & FAMILY_LAST_FULL && r->layer[r->layers - 1].kinds == KIND_WINDOW)
            r->layer[r->layers - 1].kinds = KIND_FULL;
        apply_selection(r);
        return;
    }
    fail_without_spelling(r);
}
