/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Spellings that give a rule instead of a list, the pattern that a configuration class makes, and the two that say
 * least: one window for all, and nothing at all.
 */
#include "spelling.h"

static bool read_interval(cfg_reader *r, const char *key, unsigned rest)
{
    uint64_t period;
    if (!cfg_find_size(&period, r, key)) return r->status != RUNG_OK;
    if (period == 0) {
        cfg_fail(r, "'%s' must be at least 1", key);
        return true;
    }
    if (cfg_have_layers(r, key, 0)) cfg_set_every(r, period, KIND_FULL, rest);
    return true;
}

bool cfg_spell_full_attention_interval(cfg_reader *r)
{
    return read_interval(r, "full_attention_interval", KIND_RECURRENT);
}

/* ModernBERT counts from the first layer of a group, all others from the last. */
bool cfg_spell_global_attn_every(cfg_reader *r)
{
    static const char key[] = "global_attn_every_n_layers";
    if (!read_interval(r, key, KIND_WINDOW)) return false;
    uint64_t period = cfg_size_or(r, key, 1);
    for (size_t i = 0; !r->status && r->family->flags & (FAMILY_DENSE_FIRST | FAMILY_ENCODER) && i < r->layers; i++)
        r->layer[i].kinds = i % period == 0 ? KIND_FULL : KIND_WINDOW;
    return true;
}

/* Phi-3-small: every n-th layer is dense, the others see blocks of a fixed pattern. */
bool cfg_spell_dense_every(cfg_reader *r)
{
    return read_interval(r, "dense_attention_every_n_layers", KIND_SPARSE);
}

/* Jamba: full iff i % period == offset. Zamba: two recurrent layers and a shared one, then the same rule; the layers
 * that it picks have both mechanisms. */
bool cfg_spell_attn_layer_period(cfg_reader *r)
{
    uint64_t period;
    if (!cfg_find_size(&period, r, "attn_layer_period")) return r->status != RUNG_OK;
    uint64_t offset = cfg_size_or(r, "attn_layer_offset", 0);
    bool shared = strcmp(r->type, "zamba") == 0;
    if (period == 0) cfg_fail(r, "'attn_layer_period' must be at least 1");
    if (period > 0 && offset >= period)
        cfg_fail(r, "'attn_layer_offset' is %zu and 'attn_layer_period' %zu: no layer would attend", (size_t)offset,
                 (size_t)period);
    if (r->status || !cfg_have_layers(r, "attn_layer_period", 0)) return true;
    if (shared && r->layers < 3) cfg_fail(r, "has %zu layers, and a zamba has at least 3", r->layers);
    for (size_t i = 0; i < r->layers; i++) {
        bool picked = shared ? i == 2 || (i >= 3 && (i - 3) % period == offset) : i % period == offset;
        unsigned attends = shared ? KIND_RECURRENT | KIND_FULL : KIND_FULL;
        r->layer[i].kinds = picked ? attends : KIND_RECURRENT;
    }
    return true;
}

/* PLaMo 2: the middle layer of each group of mamba_step layers attends, in a short model the last one. Its own code gives
 * it a window, and programs that serve it do not; the larger counts. */
bool cfg_spell_mamba_step(cfg_reader *r)
{
    uint64_t step;
    if (!cfg_find_size(&step, r, "mamba_step")) return r->status != RUNG_OK;
    if (step < 2) cfg_fail(r, "'mamba_step' must be at least 2");
    if (r->status || !cfg_have_layers(r, "mamba_step", 0)) return true;
    bool enabled = cfg_flag_or(r, "mamba_enabled", true), is_short = r->layers <= step / 2;
    for (size_t i = 0; i < r->layers; i++) {
        bool attends = is_short ? i + 1 == r->layers : i % step == step / 2;
        r->layer[i].kinds = attends || !enabled ? KIND_FULL : KIND_RECURRENT;
    }
    return true;
}

/* Ring and Ling: the last layer of each group is full, and so are the layers after the last whole group. Or a list: 1
 * is linear. */
bool cfg_spell_layer_group_size(cfg_reader *r)
{
    uint64_t group;
    const rung_json *list = cfg_find(r, "layer_group_size");
    bool is_list = rung_json_kind_of(list) == RUNG_JSON_ARRAY;
    if (!list) return false;
    if (!cfg_have_layers(r, "layer_group_size", is_list ? rung_json_len(list) : 0)) return true;
    for (size_t i = 0; is_list && i < r->layers; i++) {
        int64_t one = 0;
        if (!rung_json_int(&one, rung_json_at(list, i)))
            cfg_fail(r, "entry %zu of 'layer_group_size' is not a number", i);
        r->layer[i].kinds = one == 1 ? KIND_RECURRENT : KIND_FULL;
    }
    if (is_list) return true;
    group = cfg_need_size(r, "layer_group_size", "group size");
    if (group == 0) {
        cfg_fail(r, "'layer_group_size' must be at least 1");
        return true;
    }
    cfg_set_every(r, group, KIND_FULL, KIND_RECURRENT);
    for (size_t i = r->layers / group * group; i < r->layers; i++) r->layer[i].kinds = KIND_FULL;
    return true;
}

/* Cohere 2 with experts: a prefix of dense layers has its own period, and the rule starts again after it. */
static void restart_behind_prefix(cfg_reader *r, uint64_t period)
{
    uint64_t prefix = cfg_size_or(r, "first_k_dense_replace", 0);
    uint64_t of_prefix = cfg_size_or(r, "prefix_dense_sliding_window_pattern", 1);
    if (of_prefix == 0) cfg_fail(r, "'prefix_dense_sliding_window_pattern' must be at least 1");
    for (size_t i = 0; !r->status && i < r->layers; i++) {
        bool full = i < prefix ? (i + 1) % of_prefix == 0 : (i - prefix + 1) % period == 0;
        r->layer[i].kinds = full ? KIND_FULL : KIND_WINDOW;
    }
}

/* A number p: full iff (i + 1) % p == 0. A text such as LLLG, tiled: local and global. */
bool cfg_spell_sliding_window_pattern(cfg_reader *r)
{
    static const char key[] = "sliding_window_pattern _sliding_window_pattern";
    const char *text = cfg_find_text(r, key);
    if (!text) {
        uint64_t period;
        if (!cfg_find_size(&period, r, key)) return r->status != RUNG_OK;
        if (period == 0) cfg_doubt(r, "'sliding_window_pattern' is 0, which is no period");
        if (period == 0) return false;
        if (!cfg_have_layers(r, key, 0)) return true;
        cfg_set_every(r, period, KIND_FULL, KIND_WINDOW);
        if (strcmp(r->type, "cohere2_moe") == 0) restart_behind_prefix(r, period);
        return true;
    }
    if (!*text || strspn(text, "LG") != strlen(text)) {
        cfg_fail(r, "'sliding_window_pattern' is '%s', and letters L and G are known", SHOW(text));
        return true;
    }
    if (!cfg_have_layers(r, "sliding_window_pattern", 0)) return true;
    for (size_t i = 0; i < r->layers; i++) r->layer[i].kinds = text[i % strlen(text)] == 'G' ? KIND_FULL : KIND_WINDOW;
    if (r->layer[r->layers - 1].kinds == KIND_WINDOW)
        cfg_doubt(r, "'sliding_window_pattern' leaves the last layer a window, and some published code makes it full");
    return true;
}

static bool all_sparse_if(cfg_reader *r, const char *key)
{
    if (!cfg_has(r, key)) return false;
    if (cfg_have_layers(r, key, 0)) cfg_set_all(r, KIND_SPARSE);
    return true;
}

bool cfg_spell_index_topk(cfg_reader *r)
{
    return all_sparse_if(r, "index_topk indexer_budget");
}

bool cfg_spell_sparse_config(cfg_reader *r)
{
    return all_sparse_if(r, "sparse_config.topk");
}

/* Llama-4: a layer with rotary positions is chunked, one without is full. Without a list every fourth layer has
 * none. */
bool cfg_spell_attention_chunk(cfg_reader *r)
{
    const rung_json *list = cfg_find(r, "no_rope_layers");
    uint64_t chunk;
    if (!cfg_find_size(&chunk, r, "attention_chunk_size")) return r->status != RUNG_OK;
    size_t len = rung_json_len(list);
    if (!cfg_have_layers(r, "attention_chunk_size", len)) return true;
    uint64_t interval = cfg_size_or(r, "no_rope_layer_interval", 4);
    cfg_set_every(r, interval ? interval : 4, KIND_FULL, KIND_CHUNK);
    for (size_t i = 0; len > 0 && i < r->layers; i++) {
        int64_t rotary = 1;
        if (!rung_json_int(&rotary, rung_json_at(list, i))) cfg_fail(r, "'no_rope_layers' must hold numbers");
        r->layer[i].kinds = rotary ? KIND_CHUNK : KIND_FULL;
    }
    return true;
}

/* A long pattern belongs to one published model and cannot be tiled over another number of layers. */
bool cfg_spell_class_pattern(cfg_reader *r)
{
    const char *pattern = r->family->pattern;
    if (!pattern || !cfg_have_layers(r, "model_type", 0)) return r->status != RUNG_OK;
    if (strlen(pattern) > 8 && strlen(pattern) != r->layers) return false;
    if (strlen(pattern) > 1 || (r->family->may && strlen(r->family->may) > 1))
        cfg_note(r, "the file does not say which layer is of which kind; taken from the class of %s", r->type);
    if (strcmp(pattern, "R") == 0 && cfg_has(r, "num_attention_heads") && r->family->may &&
        strcmp(r->family->may, "RF") == 0)
        cfg_doubt(r, "it has attention heads, and nothing says in which layers");
    /* With FAMILY_FROM_END the last layer has the last letter. */
    size_t shift = r->family->flags & FAMILY_FROM_END ? strlen(pattern) - r->layers % strlen(pattern) : 0;
    for (size_t i = 0; i < r->layers; i++) r->layer[i].kinds = cfg_letter(pattern[(i + shift) % strlen(pattern)]);
    if (r->family->flags & FAMILY_FIRST_FULL) r->layer[0].kinds = KIND_FULL;
    if (r->family->flags & FAMILY_SOME_FULL && r->layers < strlen(pattern)) r->layer[r->layers - 1].kinds = KIND_FULL;
    return true;
}

/* The published code of a family without windows ignores the key. */
static bool knows_windows(const cfg_reader *r)
{
    return !r->family->may || strpbrk(r->family->may, "WD");
}

/* Other names of the window are accepted if the family is unknown, and in flash-linear-attention's transformer. */
static const char *window_keys(const cfg_reader *r)
{
    bool other = !r->family->may || strcmp(r->type, "transformer") == 0;
    return other ? "sliding_window window_size attention_window" : "sliding_window";
}

/* SmolLM3: only layers without rotary positions have the window. */
static bool spares(cfg_reader *r, size_t i)
{
    int64_t rotary = 1;
    uint64_t interval = cfg_size_or(r, "no_rope_layer_interval", 4);
    if (strcmp(r->type, "smollm3") != 0) return false;
    if (rung_json_int(&rotary, rung_json_at(cfg_find(r, "no_rope_layers"), i))) return rotary != 0;
    return interval == 0 || (i + 1) % interval != 0;
}

/* One window for all layers, or for those from max_window_layers on. A window that is at least as long as the context
 * has no effect, so the layer is full within the context that the file states. */
bool cfg_spell_sliding_window(cfg_reader *r)
{
    uint64_t window, first = 0;
    if (!knows_windows(r) || !cfg_flag_or(r, "use_sliding_window", true)) return false;
    if (!cfg_find_size_at(&window, r, window_keys(r), 0) || window == 0) return r->status != RUNG_OK;
    if (!cfg_have_layers(r, "sliding_window", 0)) return true;
    if (cfg_has(r, "use_sliding_window") || strcmp(r->type, "dots1") == 0)
        first = cfg_size_or(r, "max_window_layers", 0);
    bool cuts = r->ledger->context == 0 || window < r->ledger->context;
    if (r->ledger->context == 0 || (r->outer_count == 0 && !cfg_has(r, CFG_CONTEXT_KEYS)))
        cfg_doubt(r, "the file names no context, so whether a window of %zu is shorter is not known", (size_t)window);
    if (!cuts) cfg_note(r, "the window of %zu is no shorter than the context; counted as full", (size_t)window);
    for (size_t i = 0; i < r->layers; i++) {
        r->layer[i].kinds = i >= first && cuts && !spares(r, i) ? KIND_WINDOW : KIND_FULL;
        r->layer[i].idle_window = cuts ? 0 : window;
    }
    if (strcmp(r->type, "qwen2_moe") == 0 || strcmp(r->type, "qwen3_moe") == 0)
        cfg_doubt(r, "versions of the published code of %s give the window to different layers", r->type);
    return true;
}

/* num_heads alone is not enough, because libraries of recurrent mixers use it too, unless the family has none. */
bool cfg_spell_nothing(cfg_reader *r)
{
    uint64_t heads;
    const char *keys = r->family->may && !r->family->mixer
                           ? "num_attention_heads n_head n_heads attention_heads num_heads"
                           : "num_attention_heads n_head n_heads attention_heads";
    if (!cfg_has(r, "num_query_heads") && !cfg_find_size(&heads, r, keys)) return r->status != RUNG_OK;
    if (cfg_have_layers(r, "layers", 0)) cfg_set_all(r, KIND_FULL);
    return true;
}
