/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Spellings that list layers by number. Numbers count from 0 everywhere but in linear_attn_config, where both bases are
 * in use and the lists themselves tell which: together they must name every layer once.
 */
#include "spelling.h"

/* Marks each layer of the list; fails on anything that is not a layer number. `base` is 0 or 1. */
static void mark(cfg_reader *r, const rung_json *list, size_t base, unsigned kinds, const rung_json *own,
                 const char *key)
{
    for (size_t k = 0; k < rung_json_len(list); k++) {
        int64_t number = -1;
        if (!rung_json_int(&number, rung_json_at(list, k)) || number < (int64_t)base ||
            (uint64_t)number >= r->layers + base) {
            cfg_fail(r, "entry %zu of '%s' is not a layer from %zu to %zu", k, key, base, r->layers + base - 1);
            return;
        }
        cfg_plan *plan = &r->layer[(size_t)number - base];
        if (plan->kinds) cfg_fail(r, "'%s' names layer %lld twice", key, (long long)number);
        plan->kinds = kinds;
        plan->own = own;
    }
}

static void mark_rest(cfg_reader *r, unsigned kinds)
{
    for (size_t i = 0; i < r->layers; i++)
        if (r->layer[i].kinds == 0) r->layer[i].kinds = kinds;
}

/* Refuses a value that is no list. */
static void check_list(cfg_reader *r, const rung_json *list, const char *key)
{
    if (list && rung_json_kind_of(list) != RUNG_JSON_ARRAY) cfg_fail(r, "'%s' must be a list of layer numbers", key);
}

/* The listed layers are of one kind, all others of another. An empty list is a valid spelling, though no published
 * model has one; an absent list is none. */
static bool read_listed(cfg_reader *r, const char *key, unsigned listed, unsigned rest)
{
    const rung_json *list = cfg_find(r, key);
    if (!list) return false;
    check_list(r, list, key);
    if (rung_json_len(list) == 0) cfg_doubt(r, "'%s' is empty and names no layer", key);
    if (r->status || !cfg_have_layers(r, key, 0)) return true;
    mark(r, list, 0, listed, NULL, key);
    mark_rest(r, rest);
    return true;
}

bool cfg_spell_attn_layer_indices(cfg_reader *r)
{
    return read_listed(r, "attn_layer_indices", KIND_FULL, KIND_RECURRENT);
}

bool cfg_spell_full_attn_idxs(cfg_reader *r)
{
    return read_listed(r, "full_attn_idxs", KIND_FULL, KIND_RECURRENT);
}

bool cfg_spell_sliding_window_layers(cfg_reader *r)
{
    return read_listed(r, "sliding_window_layers", KIND_WINDOW, KIND_FULL);
}

/* Hymba: every layer has attention and a state space in parallel; all layers except the listed ones have a window. */
bool cfg_spell_global_attn_idx(cfg_reader *r)
{
    return read_listed(r, "global_attn_idx", KIND_RECURRENT | KIND_FULL, KIND_RECURRENT | KIND_WINDOW);
}

/* Inkling: every layer has convolutions and attention; the listed ones have a window. */
bool cfg_spell_local_layer_ids(cfg_reader *r)
{
    return read_listed(r, "local_layer_ids", KIND_RECURRENT | KIND_WINDOW, KIND_RECURRENT | KIND_FULL);
}

/* ---- KDA ---- */

static bool lists(const rung_json *list, size_t number)
{
    int64_t entry;
    for (size_t k = 0; k < rung_json_len(list); k++)
        if (rung_json_int(&entry, rung_json_at(list, k)) && entry == (int64_t)number) return true;
    return false;
}

bool cfg_spell_linear_attn_config(cfg_reader *r)
{
    const rung_json *kda = cfg_find(r, "linear_attn_config.kda_layers");
    const rung_json *full = cfg_find(r, "linear_attn_config.full_attn_layers");
    if (rung_json_kind_of(kda) != RUNG_JSON_ARRAY && rung_json_kind_of(full) != RUNG_JSON_ARRAY) return false;
    if (!cfg_have_layers(r, "linear_attn_config", 0)) return true;
    bool zero = lists(kda, 0) || lists(full, 0), last = lists(kda, r->layers) || lists(full, r->layers);
    if (zero == last) {
        cfg_fail(r, "'linear_attn_config' names layers %s, so whether it counts from 0 or from 1 is not clear",
                 zero ? "0 and the number of layers" : "but neither 0 nor the last one");
        return true;
    }
    mark(r, kda, last, KIND_RECURRENT, NULL, "linear_attn_config.kda_layers");
    mark(r, full, last, KIND_FULL, NULL, "linear_attn_config.full_attn_layers");
    if (!kda) mark_rest(r, KIND_RECURRENT);
    for (size_t i = 0; i < r->layers; i++)
        if (r->layer[i].kinds == 0) cfg_fail(r, "'linear_attn_config' does not name layer %zu", i + last);
    return true;
}

/* ---- mamba_ssm's own dialect ---- */

bool cfg_spell_native(cfg_reader *r)
{
    const rung_json *indices = cfg_find(r, "attn_layer_idx"), *others = cfg_find(r, "attn_layers");
    if (!cfg_has(r, "ssm_cfg") || !cfg_has(r, "d_model")) return false;
    if (rung_json_kind_of(cfg_find(r, "ssm_cfg")) != RUNG_JSON_OBJECT) cfg_fail(r, "'ssm_cfg' must be an object");
    check_list(r, indices, "attn_layer_idx"), check_list(r, others, "attn_layers");
    if (r->status || !cfg_have_layers(r, "attn_layer_idx", 0)) return true;
    if (others) cfg_doubt(r, "the mixers of a model with 'attn_layers' have widths of their own");
    if (!indices && !others) cfg_note(r, "no attn_layer_idx is in the file, so no layer attends");
    if (rung_json_len(indices) + rung_json_len(others) == 0 && rung_json_len(cfg_find(r, "attn_cfg")) > 0)
        cfg_doubt(r, "'attn_cfg' describes attention, and no 'attn_layer_idx' says in which layers");
    mark(r, indices, 0, KIND_FULL, cfg_find(r, "attn_cfg"), "attn_layer_idx");
    mark(r, others, 0, KIND_FULL, cfg_find(r, "attn_cfg"), "attn_layers");
    mark_rest(r, KIND_RECURRENT);
    return true;
}

/* ---- flash-linear-attention ---- */

static void mark_specification(cfg_reader *r, const rung_json *spec)
{
    const rung_json *layers = rung_json_get(spec, "layers");
    if (rung_json_kind_of(layers) != RUNG_JSON_ARRAY || !cfg_find_in(spec, "num_heads")) {
        cfg_fail(r, "'attn' must give 'layers' and 'num_heads'");
        return;
    }
    mark(r, layers, 0, cfg_find_in(spec, "window_size") ? KIND_WINDOW : KIND_FULL, spec, "attn.layers");
}

bool cfg_spell_attn(cfg_reader *r)
{
    const rung_json *attn = cfg_find(r, "attn");
    rung_json_kind kind = rung_json_kind_of(attn);
    if (!attn) return false;
    if ((kind != RUNG_JSON_OBJECT && kind != RUNG_JSON_ARRAY) || rung_json_len(attn) == 0) {
        cfg_fail(r, "'attn' must give 'layers' and 'num_heads'");
        return true;
    }
    if (!cfg_have_layers(r, "attn", 0)) return true;
    if (kind == RUNG_JSON_OBJECT) mark_specification(r, attn);
    for (size_t k = 0; kind == RUNG_JSON_ARRAY && k < rung_json_len(attn); k++)
        mark_specification(r, rung_json_at(attn, k));
    mark_rest(r, KIND_RECURRENT);
    return true;
}
