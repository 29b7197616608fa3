/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Spellings with one entry per layer: words, letters or numbers.
 */
#include "spelling.h"

/* ---- words ---- */

typedef struct meaning {
    const char *word;
    unsigned kinds;
    uint64_t ratio;
} meaning;

static const meaning meanings[] = {
    {"full_attention", KIND_FULL, 0},
    {"attention", KIND_FULL, 0},
    {"attn", KIND_FULL, 0},
    {"full", KIND_FULL, 0},
    {"global", KIND_FULL, 0},
    {"global_attention", KIND_FULL, 0},
    {"sliding_attention", KIND_WINDOW, 0},
    {"sliding_window", KIND_WINDOW, 0},
    {"window_attention", KIND_WINDOW, 0},
    {"local_attention", KIND_WINDOW, 0},
    {"local", KIND_WINDOW, 0},
    {"swa", KIND_WINDOW, 0},
    {"chunked_attention", KIND_CHUNK, 0},
    {"linear_attention", KIND_RECURRENT, 0},
    {"lightning-attn", KIND_RECURRENT, 0},
    {"lightning_attention", KIND_RECURRENT, 0},
    {"recurrent", KIND_RECURRENT, 0},
    {"mamba", KIND_RECURRENT, 0},
    {"mamba2", KIND_RECURRENT, 0},
    {"conv", KIND_RECURRENT, 0},
    {"jet", KIND_RECURRENT, 0},
    {"kda", KIND_RECURRENT, 0},
    {"gated_deltanet", KIND_RECURRENT, 0},
    {"hybrid", KIND_RECURRENT | KIND_FULL, 0},
    {"hybrid_sliding", KIND_RECURRENT | KIND_WINDOW, 0},
    {"deepseek_sparse_attention", KIND_SPARSE, 0},
    {"minimax_m3_sparse", KIND_SPARSE, 0},
    {"minicpm4", KIND_FULL, 0}, /* sparse if there is a sparse_config: apply_selection */
    {"compressed_sparse_attention", KIND_SPARSE, 4},
    {"heavily_compressed_attention", KIND_SPARSE, 128},
    {"moe", KIND_MLP, 0},
    {"mlp", KIND_MLP, 0},
};

static void set_word(cfg_reader *r, cfg_plan *plan, const char *word, const char *spelling)
{
    char path[96];
    for (size_t i = 0; word && i < RUNG_COUNT(meanings); i++) {
        if (strcmp(meanings[i].word, word) != 0) continue;
        plan->kinds = meanings[i].kinds;
        plan->ratio = meanings[i].ratio;
        snprintf(path, sizeof path, "compress_rates.%s", word);
        if (plan->ratio) plan->ratio = cfg_size_or(r, path, plan->ratio);
        return;
    }
    cfg_fail(r, "'%s' has the unknown kind '%s'", spelling, word ? SHOW(word) : "(not a word)");
}

/* Returns the list under a key, or NULL when it is absent or empty. Fails for anything that is not a list. */
static const rung_json *list_of(cfg_reader *r, const char *key)
{
    const rung_json *list = cfg_find(r, key);
    if (list && rung_json_kind_of(list) != RUNG_JSON_ARRAY) cfg_fail(r, "'%s' must be a list", key);
    return rung_json_len(list) > 0 ? list : NULL;
}

static bool read_words(cfg_reader *r, const char *key, bool tiled)
{
    const rung_json *list = list_of(r, key);
    if (!list) return r->status != RUNG_OK;
    size_t len = rung_json_len(list);
    if (!cfg_have_layers(r, key, tiled ? 0 : len)) return true;
    for (size_t i = 0; i < r->layers; i++)
        set_word(r, &r->layer[i], rung_json_string(rung_json_at(list, i % len)), key);
    return true;
}

/* An empty list of layers means damage, because no published class takes it for "none". */
static bool is_empty_list(cfg_reader *r, const char *key)
{
    const rung_json *list = cfg_find(r, key);
    bool empty = rung_json_kind_of(list) == RUNG_JSON_ARRAY && rung_json_len(list) == 0;
    if (empty) cfg_fail(r, "'%s' is an empty list; leave the key out or name every layer", key);
    return empty;
}

bool cfg_spell_layer_types(cfg_reader *r)
{
    return is_empty_list(r, "layer_types") || read_words(r, "layer_types", false);
}

bool cfg_spell_layers_block_type(cfg_reader *r)
{
    return is_empty_list(r, "layers_block_type") || read_words(r, "layers_block_type", false);
}

bool cfg_spell_mixer_types(cfg_reader *r)
{
    return read_words(r, "mixer_types", false);
}

/* RecurrentGemma: its attention has a window, although the word does not say so. */
bool cfg_spell_block_types(cfg_reader *r)
{
    if (!read_words(r, "block_types _block_types", true)) return false;
    bool windowed = cfg_has(r, "attention_window_size") || r->family->pattern != NULL;
    for (size_t i = 0; windowed && i < r->layers; i++)
        if (r->layer[i].kinds == KIND_FULL) r->layer[i].kinds = KIND_WINDOW;
    return true;
}

/* GPT-Neo: [[["global", "local"], 12]], each group repeated. */
bool cfg_spell_attention_types(cfg_reader *r)
{
    const rung_json *list = list_of(r, "attention_types");
    if (!list) return r->status != RUNG_OK;
    if (!cfg_have_layers(r, "attention_types", 0)) return true;
    size_t at = 0;
    for (size_t group = 0; group < rung_json_len(list); group++) {
        const rung_json *words = rung_json_at(rung_json_at(list, group), 0);
        int64_t repeat = 0;
        (void)rung_json_int(&repeat, rung_json_at(rung_json_at(list, group), 1));
        for (int64_t k = 0; k < repeat && at < r->layers && rung_json_len(words) > 0; k++)
            for (size_t w = 0; w < rung_json_len(words) && at < r->layers; w++)
                set_word(r, &r->layer[at++], rung_json_string(rung_json_at(words, w)), "attention_types");
    }
    if (at < r->layers) cfg_fail(r, "'attention_types' names %zu of %zu layers", at, r->layers);
    return true;
}

/* ---- letters ---- */

bool cfg_spell_hybrid_override_pattern(cfg_reader *r)
{
    const char *text = cfg_find_text(r, "hybrid_override_pattern");
    if (!text) return false;
    if (!cfg_have_layers(r, "hybrid_override_pattern", strlen(text))) return true;
    for (size_t i = 0; i < r->layers; i++) {
        unsigned kinds = text[i] == 'M' ? KIND_RECURRENT : text[i] == '*' ? KIND_FULL : 0;
        if (text[i] == '-' || text[i] == 'E') kinds = KIND_MLP;
        if (kinds == 0)
            cfg_fail(r, "'hybrid_override_pattern' has the unknown letter '%c'; M, *, - and E are known",
                     text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
        r->layer[i].kinds = kinds;
    }
    return true;
}

/* ---- numbers ---- */

/* Returns the entry of layer i; fails if it is above `most`. */
static int64_t number_at(cfg_reader *r, const rung_json *list, size_t i, int64_t most, const char *key)
{
    int64_t number = -1;
    if (!rung_json_int(&number, rung_json_at(list, i)) || number < 0 || number > most)
        cfg_fail(r, "entry %zu of '%s' is not a whole number from 0 to %lld", i, key, (long long)most);
    return number;
}

/* 1 means `one`, 0 means `zero`. */
static bool read_choice(cfg_reader *r, const char *key, unsigned one, unsigned zero)
{
    const rung_json *list = list_of(r, key);
    if (!list) return r->status != RUNG_OK;
    if (!cfg_have_layers(r, key, rung_json_len(list))) return true;
    for (size_t i = 0; i < r->layers; i++) r->layer[i].kinds = number_at(r, list, i, 1, key) == 1 ? one : zero;
    return true;
}

bool cfg_spell_attn_type_list(cfg_reader *r)
{
    return read_choice(r, "attn_type_list", KIND_FULL, KIND_RECURRENT);
}

bool cfg_spell_hybrid_layer_pattern(cfg_reader *r)
{
    return read_choice(r, "hybrid_layer_pattern", KIND_WINDOW, KIND_FULL);
}

/* SmallThinker. */
bool cfg_spell_sliding_window_layout(cfg_reader *r)
{
    return read_choice(r, "sliding_window_layout", KIND_WINDOW, KIND_FULL);
}

bool cfg_spell_sparse_freq(cfg_reader *r)
{
    if (!cfg_has(r, "sparse_attention_config") || !cfg_flag_or(r, "sparse_attention_config.use_sparse_attention", true))
        return false;
    if (cfg_has(r, "sparse_attention_config.sparse_attention_freq"))
        return read_choice(r, "sparse_attention_config.sparse_attention_freq", KIND_SPARSE, KIND_FULL);
    if (cfg_have_layers(r, "sparse_attention_config", 0)) cfg_set_all(r, KIND_SPARSE);
    return true;
}

/* DeepSeek-V4: 0 is a window; any other number is the number of tokens per entry. */
bool cfg_spell_compress_ratios(cfg_reader *r)
{
    const rung_json *list = list_of(r, "compress_ratios");
    if (!list) return r->status != RUNG_OK;
    if (!cfg_have_layers(r, "compress_ratios", rung_json_len(list))) return true;
    for (size_t i = 0; i < r->layers; i++) {
        int64_t ratio = number_at(r, list, i, INT32_MAX, "compress_ratios");
        r->layer[i] = (cfg_plan){.kinds = ratio == 0 ? KIND_WINDOW : KIND_SPARSE, .ratio = (uint64_t)ratio};
    }
    return true;
}

bool cfg_spell_zaya_layers(cfg_reader *r)
{
    const rung_json *list = list_of(r, "zaya_layers");
    if (!list) return r->status != RUNG_OK;
    if (!cfg_have_layers(r, "zaya_layers", rung_json_len(list))) return true;
    for (size_t i = 0; i < r->layers; i++) {
        const char *word = rung_json_string(rung_json_at(list, i));
        if (word && strcmp(word, "a") == 0)
            r->layer[i].kinds = KIND_RECURRENT | KIND_FULL;
        else if (number_at(r, list, i, INT32_MAX, "zaya_layers") >= 0)
            r->layer[i].kinds = KIND_MLP;
    }
    return true;
}

/* ---- objects ---- */

static bool is_true(const rung_json *object, const char *key)
{
    bool flag = false;
    return rung_json_bool(&flag, rung_json_get(object, key)) && flag;
}

/* Nemotron-NAS: an attention may be omitted or replaced by a linear map, which does not mix tokens. */
bool cfg_spell_block_configs(cfg_reader *r)
{
    const rung_json *list = list_of(r, "block_configs");
    if (!list) return r->status != RUNG_OK;
    if (!cfg_have_layers(r, "block_configs", rung_json_len(list))) return true;
    for (size_t i = 0; i < r->layers; i++) {
        const rung_json *attention = rung_json_get(rung_json_at(list, i), "attention");
        if (rung_json_kind_of(attention) != RUNG_JSON_OBJECT)
            cfg_fail(r, "entry %zu of 'block_configs' has no 'attention'", i);
        if (cfg_find_in(attention, "mamba"))
            cfg_fail(r, "entry %zu of 'block_configs' is a state space of unknown kind", i);
        bool none = is_true(attention, "no_op") || is_true(attention, "replace_with_linear");
        bool windowed = cfg_find_in(attention, "window_length window_size sliding_window") != NULL;
        r->layer[i].kinds = none ? KIND_MLP : windowed ? KIND_WINDOW : KIND_FULL;
        r->layer[i].own = attention;
    }
    return true;
}
