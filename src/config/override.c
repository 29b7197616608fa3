/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Layers that differ from what the rest of the file says: entries of per_layer_config, layers that it skips, and layers
 * that attend to pictures only.
 */
#include "reader.h"

/* ---- per_layer_config: {"3": {"head_dim": 512}, "7": {"skip": ["attention"]}} ---- */

static bool skips_mixing(cfg_reader *r, const rung_json *skip)
{
    bool mixing = false;
    for (size_t i = 0; i < rung_json_len(skip); i++) {
        const char *part = rung_json_string(rung_json_at(skip, i));
        bool feeds = part && (strstr(part, "mlp") || strstr(part, "moe") || strstr(part, "ffn"));
        if (part && (strstr(part, "attn") || strstr(part, "attention") || strstr(part, "mixer")))
            mixing = true;
        else if (!feeds)
            cfg_doubt(r, "'per_layer_config' skips '%s', and what that is is not known", part ? SHOW(part) : "?");
    }
    return mixing;
}

static void doubt_unknown_keys(cfg_reader *r, const rung_json *over)
{
    for (size_t i = 0; i < rung_json_len(over); i++) {
        const char *key = rung_json_key_at(over, i);
        if (strcmp(key, "skip") != 0 && !cfg_key_is_known(key))
            cfg_doubt(r, "'per_layer_config' has the key '%s', whose meaning is not known", SHOW(key));
        if (strcmp(key, "skip") != 0 && rung_json_kind_of(rung_json_value_at(over, i)) == RUNG_JSON_NULL)
            cfg_doubt(r, "'per_layer_config' sets '%s' of a layer to null", SHOW(key));
    }
}

/* An override of a key that says what kind a layer is may change that kind. The window of a windowed layer and the chunk
 * of a chunked one are sizes. */
static void doubt_other_kind(cfg_reader *r, unsigned kinds, const rung_json *over)
{
    static const char *const keys[] = {"sliding_window", "attention_chunk_size",    "use_sliding_window",
                                       "layer_types",    "sliding_window_pattern",  "max_window_layers",
                                       "index_topk",     "attention_window_size",   "is_causal",
                                       "window_size",    "full_attention_interval", "num_kv_shared_layers",
                                       "no_rope_layers", "no_rope_layer_interval"};
    for (size_t i = 0; i < RUNG_COUNT(keys); i++) {
        bool is_size = (i == 0 && kinds & KIND_WINDOW) || (i == 1 && kinds & KIND_CHUNK);
        if (!is_size && rung_json_get(over, keys[i]))
            cfg_doubt(r, "'per_layer_config' sets '%s' of a layer, which may change its kind", keys[i]);
    }
}

static void read_entry(cfg_reader *r, const char *number, const rung_json *over)
{
    int64_t layer;
    if (!rung_parse_int(&layer, number, 0, (int64_t)r->layers - 1) || rung_json_kind_of(over) != RUNG_JSON_OBJECT) {
        cfg_fail(r, "'per_layer_config' has the entry '%s', and entries are objects of layers from 0 to %zu",
                 SHOW(number), r->layers - 1);
        return;
    }
    cfg_plan *plan = &r->layer[layer];
    plan->over = over;
    doubt_other_kind(r, plan->kinds, over);
    if (skips_mixing(r, rung_json_get(over, "skip"))) *plan = (cfg_plan){.kinds = KIND_MLP};
    doubt_unknown_keys(r, over);
}

static void read_per_layer(cfg_reader *r)
{
    const rung_json *all = cfg_find_in(r->config, "per_layer_config");
    if (all && rung_json_kind_of(all) != RUNG_JSON_OBJECT) cfg_fail(r, "'per_layer_config' must be an object");
    for (size_t i = 0; i < rung_json_len(all) && !r->status; i++)
        read_entry(r, rung_json_key_at(all, i), rung_json_value_at(all, i));
}

/* ---- cross_attention_layers: these see the picture, and nothing of the text but their own token ---- */

static void read_cross(cfg_reader *r)
{
    const rung_json *list = cfg_find(r, "cross_attention_layers");
    for (size_t i = 0; i < rung_json_len(list) && !r->status; i++) {
        int64_t number = -1;
        if (!rung_json_int(&number, rung_json_at(list, i)) || number < 0 || (uint64_t)number >= r->layers) {
            cfg_fail(r, "entry %zu of 'cross_attention_layers' is not a layer from 0 to %zu", i, r->layers - 1);
            return;
        }
        r->layer[number] = (cfg_plan){.kinds = KIND_MLP, .cross = true};
    }
}

void cfg_read_overrides(cfg_reader *r)
{
    read_cross(r);
    if (!r->status) read_per_layer(r);
}
