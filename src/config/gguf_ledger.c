/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A ledger from the header of a GGUF file. The metadata decide: the rule of llama.cpp (recurrent_layers, else
 * full_attention_interval, else layers without key and value heads). What files of an architecture do not write,
 * because the program that reads them takes it for granted, is in gguf_arch.c.
 */
#include <inttypes.h>

#include "gguf_arch.h"
#include "state_sizes.h"

typedef struct header {
    const rung_gguf *file;
    const char *name, *arch;
    const cfg_arch *row; /* of the architecture */
    rung_ledger *ledger;
    size_t layers, blocks; /* blocks: includes the layers that predict further tokens */
    const char *doubt;     /* why kinds or sizes are uncertain; NULL: no reason so far */
    bool single_minded;    /* a block does attention, MLP or recurrence, never two of them */
    bool heads_tell;       /* the list of key and value heads shows which layers are recurrent */
    rung_status status;    /* the first failure */
    rung_error *err;
} header;

/* ---- looking ---- */

typedef struct key {
    char text[128];
} key;

/* Makes "{arch}.<word>". Keys of attention are also accepted without the word attention. */
static const char *key_of(key *out, const header *h, const char *word)
{
    static const char group[] = "attention.";
    snprintf(out->text, sizeof out->text, "%s.%s", h->arch, word);
    if (rung_gguf_len(h->file, out->text) > 0 || strncmp(word, group, strlen(group)) != 0) return out->text;
    key other;
    snprintf(other.text, sizeof other.text, "%s.%s", h->arch, word + strlen(group));
    if (rung_gguf_len(h->file, other.text) > 0) *out = other;
    return out->text;
}
#define KEY(word) key_of(&(key){{0}}, h, word)

static bool has(const header *h, const char *word)
{
    return rung_gguf_len(h->file, KEY(word)) > 0;
}

static bool is_list(const header *h, const char *word)
{
    return rung_gguf_is_array(h->file, KEY(word));
}

static void refuse(header *h, const char *what)
{
    if (!h->status) h->status = rung_fail(h->err, RUNG_INPUT, "%s: %s", SHOW(h->name), what);
}

static void refuse_key(header *h, const char *word, const char *what)
{
    if (!h->status) h->status = rung_fail(h->err, RUNG_INPUT, "%s: key '%s' %s", SHOW(h->name), SHOW(KEY(word)), what);
}

/* Flags of layers may have the type bool; no other value may, and no value may be a float. */
static bool has_right_type(const header *h, const char *word)
{
    static const char *const flags[] = {"attention.sliding_window_pattern", "attention.recurrent_layers",
                                        "attention.indexer.types", "attention.causal"};
    if (rung_gguf_is_whole(h->file, KEY(word))) return true;
    for (size_t i = 0; i < RUNG_COUNT(flags); i++)
        if (strcmp(flags[i], word) == 0) return true;
    return false;
}

/* A list has an entry for every layer, with or without the layers that predict further tokens. */
static bool has_right_length(const header *h, const char *word)
{
    size_t len = rung_gguf_len(h->file, KEY(word));
    return !is_list(h, word) || h->layers == 0 || len == h->layers || len == h->blocks;
}

/* Sizes that cannot be 0 in a layer that has them. */
static bool is_size_of_something(const char *word)
{
    static const char *const patterns[] = {
        "attention.key_length*", "attention.value_length*", "attention.kv_lora_rank*", "ssm.inner_size",
        "ssm.state_size",        "ssm.conv_kernel",         "wkv.head_size",           "kda.head_dim",
        "shortconv.l_cache",     "token_shift_count"};
    for (size_t i = 0; i < RUNG_COUNT(patterns); i++)
        if (cfg_key_matches(patterns[i], word)) return true;
    return false;
}

/* The number for layer i: the entry of a list, or the one number for all. */
static bool find_at(uint64_t *out, header *h, const char *word, size_t i)
{
    if (!has(h, word)) return false;
    if (!has_right_type(h, word)) {
        refuse_key(h, word, "must be a whole number, not a bool, a float or a text");
        return false;
    }
    if (!has_right_length(h, word)) {
        refuse_key(h, word, "has another number of values than there are layers");
        return false;
    }
    if (rung_gguf_u64(out, h->file, KEY(word), is_list(h, word) ? i : 0)) {
        if (*out > 0 || !is_size_of_something(word)) return true;
        refuse_key(h, word, "is 0, and a layer cannot have that");
        return false;
    }
    refuse_key(h, word, "does not give every layer a whole number from 0 on");
    return false;
}

static uint64_t number_or(header *h, const char *word, size_t i, uint64_t fallback)
{
    uint64_t value;
    return find_at(&value, h, word, i) ? value : fallback;
}

static uint64_t need(header *h, const char *word, size_t i)
{
    uint64_t value = 0;
    if (!find_at(&value, h, word, i)) refuse_key(h, word, "is missing");
    return value;
}

static bool is_arch_like(const header *h, const char *start)
{
    return strncmp(h->arch, start, strlen(start)) == 0;
}

/* Refuses a file without a key that llama.cpp needs for the architecture: without it the layers would be guesses. */
static void need_keys(header *h)
{
    char word[64];
    for (const char *at = cfg_arch_needs(h->arch); *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, " "), at);
        if (!has(h, word) || (strcmp(word, "ssm.group_count") == 0 && number_or(h, word, 0, 0) == 0))
            refuse_key(h, word, "is missing or 0, and llama.cpp needs it for this architecture");
    }
}

/* ---- kinds ---- */

static bool has_recurrence(const header *h)
{
    return has(h, "ssm.state_size") || has(h, "ssm.conv_kernel") || has(h, "wkv.head_size") ||
           has(h, "shortconv.l_cache") || has(h, "kda.head_dim");
}

static bool lists_zero(header *h, const char *word)
{
    uint64_t value;
    for (size_t i = 0; is_list(h, word) && i < h->layers; i++)
        if (find_at(&value, h, word, i) && value == 0) return true;
    return false;
}

/* A list of heads without a zero does not show which layers are recurrent. */
static void look_at_lists(header *h)
{
    h->single_minded = lists_zero(h, "feed_forward_length");
    h->heads_tell =
        is_list(h, "attention.head_count_kv") && (lists_zero(h, "attention.head_count_kv") || !has_recurrence(h));
}

static unsigned kinds_without_heads(header *h, size_t i)
{
    if (!has_recurrence(h)) return KIND_MLP;
    return h->single_minded && number_or(h, "feed_forward_length", i, 0) > 0 ? KIND_MLP : KIND_RECURRENT;
}

/* Returns the spelling that distinguishes recurrent layers, or NULL. */
static const char *recurrence_spelling(header *h)
{
    if (has(h, "attention.recurrent_layers")) return "attention.recurrent_layers";
    if (has(h, "full_attention_interval")) return "full_attention_interval";
    if (h->row->pattern || h->row->interval) return "architecture";
    if (h->heads_tell) return "attention.head_count_kv";
    if (!has_recurrence(h)) return "nothing: full attention everywhere";
    return number_or(h, "attention.head_count_kv", 0, 0) == 0 && number_or(h, "attention.head_count", 0, 0) == 0
               ? "no attention heads"
               : NULL;
}

static unsigned recurrent_or_full(header *h, size_t i)
{
    uint64_t value;
    if (has(h, "attention.recurrent_layers"))
        return need(h, "attention.recurrent_layers", i) ? KIND_RECURRENT : KIND_FULL;
    if (find_at(&value, h, "full_attention_interval", i)) {
        if (value == 0) refuse_key(h, "full_attention_interval", "must be at least 1");
        return h->status || (i + 1) % value == 0 ? KIND_FULL : KIND_RECURRENT;
    }
    if (h->row->pattern) return cfg_letter(h->row->pattern[i % strlen(h->row->pattern)]);
    if (h->row->interval) return (i + 1) % h->row->interval == 0 ? KIND_FULL : KIND_RECURRENT;
    if (h->heads_tell) return need(h, "attention.head_count_kv", i) ? KIND_FULL : kinds_without_heads(h, i);
    return has_recurrence(h) ? KIND_RECURRENT : KIND_FULL;
}

/* True for the last layer of each period, or the first where the architecture says so. Period 0: no layer is dense. */
static bool is_dense(const header *h, uint64_t period, size_t i)
{
    if (period == 0) return false;
    return h->row->windows == WINDOWS_FIRST ? i % period == 0 : i % period == period - 1;
}

/* EXAONE 4 has windows in its 64-layer model only. */
static bool is_without_windows(const header *h)
{
    return h->row->windows == WINDOWS_NONE || (strcmp(h->arch, "exaone4") == 0 && h->layers != 64);
}

/* Of architectures with a period llama.cpp reads a number and no list. A converter writes what the model does, so the
 * list counts, but the two must agree. */
static void compare_with_period(header *h, bool listed, size_t i)
{
    static const char *const readers[] = {"cohere2moe", "mellum", "muse-glimmer"};
    for (size_t k = 0; k < RUNG_COUNT(readers); k++)
        if (strcmp(readers[k], h->arch) == 0) return;
    if (h->row->period > 0 && listed == is_dense(h, h->row->period, i))
        h->doubt = "llama.cpp takes no notice of the list attention.sliding_window_pattern, which is not its period";
}

/* The window of layer i, or 0. llama.cpp gives SmallThinker the same one whatever the file says. */
static uint64_t window_of(header *h, size_t i)
{
    bool fixed = strcmp(h->arch, "smallthinker") == 0;
    uint64_t window = number_or(h, "attention.sliding_window", i, fixed ? 0 : h->row->size);
    if (window == 0 || !fixed || window == h->row->size) return window;
    h->doubt = "attention.sliding_window has another length than llama.cpp takes";
    return window > h->row->size ? window : h->row->size;
}

/* True if the layer sees only a window. With a list: the layers with 1. With a number p: all except one in p. */
static bool sees_window(header *h, size_t i)
{
    uint64_t window = window_of(h, i), period = h->row->period;
    if (window == 0) return false;
    if (is_without_windows(h)) {
        bool cuts = h->ledger->context == 0 || window < h->ledger->context;
        if (cuts && has(h, "attention.sliding_window"))
            h->doubt = "attention.sliding_window has a length, and llama.cpp takes no notice of it";
        return false;
    }
    if (is_list(h, "attention.sliding_window_pattern")) {
        bool listed = need(h, "attention.sliding_window_pattern", i) != 0;
        compare_with_period(h, listed, i);
        return listed;
    }
    if (h->row->windows == WINDOWS_ALL) return true;
    if (h->row->windows == WINDOWS_LIST) refuse_key(h, "attention.sliding_window_pattern", "is missing");
    if (find_at(&period, h, "attention.sliding_window_pattern", i) || period > 0) return !is_dense(h, period, i);
    h->doubt = "nothing says which layers have the window of attention.sliding_window";
    return h->ledger->context == 0 || window < h->ledger->context;
}

/* The first layers of MiniMax-M3 attend to everything. */
static bool selects(header *h, size_t i)
{
    bool leads = strcmp(h->arch, "minimax-m3") == 0 && i < number_or(h, "leading_dense_block_count", 0, 0);
    return has(h, "attention.indexer.top_k") && !leads;
}

static bool sees_chunk(header *h, size_t i)
{
    uint64_t window = number_or(h, "attention.sliding_window", i, 1), period = h->row->period;
    if (h->row->windows != WINDOWS_CHUNKS || window == 0) return false;
    if (is_list(h, "attention.sliding_window_pattern")) return need(h, "attention.sliding_window_pattern", i) != 0;
    (void)find_at(&period, h, "attention.sliding_window_pattern", i);
    return !is_dense(h, period, i);
}

static unsigned kinds_of(header *h, size_t i)
{
    unsigned kinds = recurrent_or_full(h, i);
    if (!(kinds & KIND_FULL)) return kinds;
    unsigned attends = KIND_FULL;
    if (has(h, "attention.compress_ratios"))
        attends = need(h, "attention.compress_ratios", i) ? KIND_SPARSE : KIND_WINDOW;
    else if (h->row->windows == WINDOWS_CHUNKS)
        attends = sees_chunk(h, i) ? KIND_CHUNK : KIND_FULL;
    else if (sees_window(h, i))
        attends = KIND_WINDOW;
    else if (selects(h, i))
        attends = KIND_SPARSE;
    return (kinds ^ KIND_FULL) | attends;
}

/* ---- sizes ---- */

/* Mamba, Mamba-2 and the gated delta rule share their keys. For the gated delta rule state_size is the size of a key,
 * inner_size that of all values together, group_count the number of key heads. */
static void read_ssm(rung_ledger_layer *held, header *h, size_t i)
{
    uint64_t inner = need(h, "ssm.inner_size", i), state = need(h, "ssm.state_size", i);
    uint64_t kernel = need(h, "ssm.conv_kernel", i), groups = number_or(h, "ssm.group_count", i, 0);
    bool delta = has(h, "full_attention_interval") || is_arch_like(h, "qwen3");
    cfg_state_mamba2(held, 1, inner, state, groups, kernel);
    cfg_layer_name(held, delta ? "gdelta" : groups ? "mamba2" : "mamba");
}

static void read_recurrent(rung_ledger_layer *held, header *h, size_t i)
{
    uint64_t size;
    if (find_at(&size, h, "kda.head_dim", i)) {
        uint64_t heads = need(h, "attention.head_count", i);
        cfg_state_delta(held, heads, heads, size, size, need(h, "ssm.conv_kernel", i));
        cfg_layer_name(held, "kda");
    } else if (find_at(&size, h, "wkv.head_size", i)) {
        uint64_t hidden = need(h, "embedding_length", i);
        cfg_state_rwkv(held, hidden, size, number_or(h, "token_shift_count", i, 2));
        cfg_layer_name(held, is_arch_like(h, "rwkv7") ? "rwkv7" : "rwkv6");
    } else if (find_at(&size, h, "shortconv.l_cache", i)) {
        cfg_state_conv(held, need(h, "embedding_length", i), size);
        cfg_layer_name(held, "conv");
    } else if (strcmp(h->arch, "minimax-01") == 0) {
        uint64_t heads = need(h, "attention.head_count", i), dim = need(h, "attention.key_length", i);
        cfg_state_matrix(held, heads, dim, dim);
        cfg_layer_name(held, "lightning");
    } else {
        read_ssm(held, h, i);
    }
}

/* Checks that the number of heads is plausible, and that key and value heads divide it. */
static bool check_heads(header *h, uint64_t heads, uint64_t kv)
{
    enum { HEADS_MAX = 1 << 16 };
    if (heads == 0 || heads > HEADS_MAX)
        refuse_key(h, "attention.head_count",
                   heads ? "is not a number of heads that a model can have" : "is 0 in a layer that attends");
    else if (kv == 0 || kv > heads || heads % kv != 0)
        refuse_key(h, "attention.head_count_kv", "must divide attention.head_count");
    return !h->status;
}

/* head_count may be a list with 0 for layers without attention. Only the current layer is checked. */
static uint64_t read_grouped(rung_ledger_layer *held, header *h, size_t i)
{
    uint64_t heads = need(h, "attention.head_count", i), kv = number_or(h, "attention.head_count_kv", i, heads), hidden;
    const char *key_word =
        held->window && has(h, "attention.key_length_swa") ? "attention.key_length_swa" : "attention.key_length";
    const char *value_word =
        held->window && has(h, "attention.value_length_swa") ? "attention.value_length_swa" : "attention.value_length";
    hidden = has(h, key_word) && has(h, value_word) ? 0 : need(h, "embedding_length", i);
    if (h->status || !check_heads(h, heads, kv)) return 0;
    if (hidden % heads != 0) {
        refuse_key(h, "embedding_length", "is not a multiple of attention.head_count, and no key_length says more");
        return 0;
    }
    held->heads = heads;
    held->key_dim = number_or(h, key_word, i, hidden / heads);
    held->value_dim = number_or(h, value_word, i, hidden / heads);
    return cfg_times(kv, cfg_plus(held->key_dim, held->value_dim));
}

/* Without the lengths of its latent form llama.cpp keeps the keys and values of every head. 0: the file has them. */
static uint64_t expanded_latent(header *h, size_t i)
{
    bool absorbed = has(h, "attention.key_length_mla") || has(h, "attention.value_length_mla");
    if (absorbed || !has(h, "attention.key_length")) return 0;
    uint64_t heads = need(h, "attention.head_count", i), kv = number_or(h, "attention.head_count_kv", i, heads);
    uint64_t value = number_or(h, "attention.value_length", i, need(h, "embedding_length", i) / (heads ? heads : 1));
    if (i == 0)
        cfg_ledger_note(h->ledger, "no attention.key_length_mla: llama.cpp keeps keys and values, not latents", NULL);
    return cfg_times(kv, cfg_plus(need(h, "attention.key_length", i), value));
}

/* As in a config.json: the larger of the two numbers that a query may receive. */
static uint64_t read_latent(rung_ledger_layer *held, header *h, size_t i)
{
    bool apart = held->window && has(h, "attention.kv_lora_rank_swa");
    uint64_t rank = need(h, apart ? "attention.kv_lora_rank_swa" : "attention.kv_lora_rank", i);
    uint64_t rope = number_or(
        h, apart && has(h, "rope.dimension_count_swa") ? "rope.dimension_count_swa" : "rope.dimension_count", i, 0);
    uint64_t value = number_or(h, apart ? "attention.value_length_mla_swa" : "attention.value_length_mla", i,
                               number_or(h, "attention.value_length", i, 0));
    if (!has(h, "rope.dimension_count")) refuse_key(h, "rope.dimension_count", "is missing in a latent attention");
    if (rope == 0 && !h->status) h->doubt = "rope.dimension_count is 0, and files with latent attention have one";
    held->heads = need(h, "attention.head_count", i);
    if (h->status || !check_heads(h, held->heads, held->heads)) return 0;
    held->value_dim = value > rank ? value : rank;
    held->key_dim = cfg_plus(rank, rope);
    uint64_t expanded = expanded_latent(h, i), latent = cfg_plus(rank, rope);
    return expanded > latent ? expanded : latent;
}

static void read_sparse(rung_ledger_layer *held, header *h, size_t i)
{
    uint64_t ratio = number_or(h, "attention.compress_ratios", i, 0),
             index = number_or(h, "attention.indexer.key_length", i, 0);
    bool coarse = ratio >= 128;
    held->block = ratio ? ratio : number_or(h, "attention.indexer.block_size", i, 1);
    held->top = coarse ? 0 : need(h, "attention.indexer.top_k", i);
    if (held->block == 0) refuse_key(h, "attention.indexer.block_size", "must be at least 1");
    if (!ratio) {
        held->index_elements = index;
        cfg_layer_name(held, held->block > 1 ? "msa" : "dsa");
        return;
    }
    held->summary_elements = cfg_plus(held->value_dim, coarse ? 0 : index);
    held->summary_by_position = true;
    held->summary_overlaps = !coarse;
    held->window_size = number_or(h, "attention.sliding_window", i, 0);
    cfg_layer_name(held, coarse ? "hca" : "csa");
}

/* The number of layers that keep keys and values. Later layers read what one of these keeps. */
static size_t owners(header *h)
{
    uint64_t tail = number_or(h, "attention.shared_kv_layers", 0, 0);
    size_t all = tail > 0 && tail < h->layers ? h->layers - (size_t)tail : h->layers;
    return h->row->owners && h->row->owners < all ? h->row->owners : all;
}

/* As in a config.json: a window is counted once if an earlier windowed layer keeps it. */
static bool is_held_before(const header *h, const rung_ledger_layer *held, size_t i)
{
    for (size_t k = 0; (held->window || held->chunk) && k < i; k++)
        if (h->ledger->layer[k].window_elements > 0 && h->ledger->layer[k].window_size >= held->window_size)
            return true;
    return held->full || held->sparse;
}

static void read_attention(rung_ledger_layer *held, header *h, size_t i)
{
    bool latent = number_or(h, "attention.kv_lora_rank", i, 0) > 0;
    uint64_t per_token = latent ? read_latent(held, h, i) : read_grouped(held, h, i);
    if (held->window) held->window_size = h->row->size ? window_of(h, i) : need(h, "attention.sliding_window", i);
    if (held->chunk) held->window_size = h->row->size;
    cfg_hold_tokens(held, per_token, held->window_size, i >= owners(h) && is_held_before(h, held, i));
    if (held->sparse)
        read_sparse(held, h, i);
    else
        cfg_layer_name(held, held->window ? "window" : held->chunk ? "chunk" : latent ? "mla" : "full");
}

static void read_layer(rung_ledger_layer *held, header *h, size_t i)
{
    unsigned kinds = kinds_of(h, i);
    cfg_layer_kinds(held, kinds);
    if (held->recurrent) read_recurrent(held, h, i);
    if (kinds & KIND_ATTENDS) read_attention(held, h, i);
    if (held->mlp) cfg_layer_name(held, "mlp");
}

/* ---- the whole file ---- */

/* block_count includes the layers that predict further tokens. */
static void count_layers(header *h)
{
    uint64_t blocks = need(h, "block_count", 0), extra = number_or(h, "nextn_predict_layers", 0, 0);
    if (h->status) return;
    if (extra >= blocks || blocks - extra > LAYERS_MAX) {
        refuse_key(h, "block_count", "is not a number of layers that a model can have");
        return;
    }
    h->layers = (size_t)(blocks - extra), h->blocks = (size_t)blocks;
    if (extra) cfg_ledger_note(h->ledger, "layers that predict further tokens are left out", NULL);
}

/* Quantised weights say nothing about the format of the computation. */
static int bits_of_file(const header *h)
{
    enum { ALL_F32 = 0, MOSTLY_F16 = 1, MOSTLY_BF16 = 32 };
    uint64_t type;
    if (!rung_gguf_u64(&type, h->file, "general.file_type", 0)) return 0;
    return type == ALL_F32 ? 32 : type == MOSTLY_F16 || type == MOSTLY_BF16 ? 16 : 0;
}

static void name_spelling(header *h)
{
    const char *spelling = recurrence_spelling(h);
    if (!spelling)
        refuse(h, "has a recurrent mechanism, and nothing says in which layers; looked for: attention.recurrent_layers "
                  "full_attention_interval attention.head_count_kv (a list)");
    if (h->status) return;
    h->ledger->spelling = rung_arena_strdup(&h->ledger->arena, spelling, h->err);
    h->ledger->family = rung_arena_strdup(&h->ledger->arena, SHOW(h->arch), h->err);
    if (!h->ledger->spelling || !h->ledger->family) h->status = RUNG_SYSTEM;
}

static void read_layers(header *h)
{
    rung_ledger *ledger = h->ledger;
    ledger->layer = rung_arena_alloc(&ledger->arena, h->layers, sizeof *ledger->layer, h->err);
    if (!ledger->layer) {
        h->status = RUNG_SYSTEM;
        return;
    }
    ledger->layer_count = h->layers;
    for (size_t i = 0; i < h->layers && !h->status; i++) read_layer(&ledger->layer[i], h, i);
}

/* ---- premises ---- */

static void know_causal(header *h)
{
    const rung_ledger_fact fact = RUNG_LEDGER_CAUSAL;
    uint64_t causal = 1;
    bool says = find_at(&causal, h, "attention.causal", 0);
    unsigned sees = h->row->sees;
    if (says && !causal)
        cfg_ledger_know(h->ledger, fact, RUNG_VIOLATED, "'%s' is false", SHOW(KEY("attention.causal")));
    else if (sees == FAMILY_ENCODER)
        cfg_ledger_know(h->ledger, fact, RUNG_VIOLATED, "%s is an encoder: a token sees later ones", SHOW(h->arch));
    else if (sees == FAMILY_DIFFUSION)
        cfg_ledger_know(h->ledger, fact, RUNG_VIOLATED, "%s refines a whole sequence: a token sees later ones",
                        SHOW(h->arch));
    else if (says)
        cfg_ledger_know(h->ledger, fact, RUNG_ESTABLISHED, "'%s' is true", SHOW(KEY("attention.causal")));
    else if (sees == FAMILY_CAUSAL)
        cfg_ledger_know(h->ledger, fact, RUNG_ESTABLISHED, "llama.cpp runs %s as a causal decoder", SHOW(h->arch));
    else if (sees == FAMILY_PREFIX)
        cfg_ledger_know(h->ledger, fact, RUNG_NOT_ESTABLISHED,
                        "%s lets tokens of the prompt see each other in some of its versions", SHOW(h->arch));
    else
        cfg_ledger_know(h->ledger, fact, RUNG_NOT_ESTABLISHED,
                        "the architecture '%s' is not known; attention.causal in the file would say it", SHOW(h->arch));
}

/* Returns a key of the architecture whose meaning is unknown, or NULL. */
static const char *unknown_key(const header *h)
{
    size_t len = strlen(h->arch);
    for (size_t i = 0; i < rung_gguf_count(h->file); i++) {
        const char *name = rung_gguf_key_at(h->file, i);
        if (strncmp(name, h->arch, len) == 0 && name[len] == '.' && !cfg_arch_key_is_known(name + len + 1)) return name;
    }
    return NULL;
}

/* Leaves a premise about kinds, passes or caches open if the architecture or one of its keys is unknown. */
static bool leave_open(header *h, rung_ledger_fact fact)
{
    const char *strange = unknown_key(h);
    if (!h->row->layers_known)
        cfg_ledger_know(h->ledger, fact, RUNG_NOT_ESTABLISHED, "'%s' is not among the decoders whose layers are known",
                        SHOW(h->arch));
    else if (strange)
        cfg_ledger_know(h->ledger, fact, RUNG_NOT_ESTABLISHED, "the key '%s' is not known: it may change a layer",
                        SHOW(strange));
    return !h->row->layers_known || strange;
}

static void know_layers(header *h)
{
    uint64_t loops = number_or(h, "num_loops", 0, 1), of_indexer = 1;
    size_t entries = h->ledger->layer_count;
    bool shares = owners(h) < h->layers;
    for (size_t i = 0; has(h, "attention.indexer.types") && i < h->layers; i++)
        shares |= find_at(&of_indexer, h, "attention.indexer.types", i) && of_indexer == 0;
    if (h->doubt)
        cfg_ledger_know(h->ledger, RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "%s", h->doubt);
    else if (!leave_open(h, RUNG_LEDGER_KINDS))
        cfg_ledger_know(h->ledger, RUNG_LEDGER_KINDS, RUNG_ESTABLISHED,
                        "the layers of %s are known, and so is every key of the file", SHOW(h->arch));
    if (entries > h->layers)
        cfg_ledger_know(h->ledger, RUNG_LEDGER_ONCE, RUNG_ESTABLISHED, "%zu layers in %zu passes are %zu entries",
                        h->layers, entries / h->layers, entries);
    else if (loops > 1)
        cfg_ledger_know(h->ledger, RUNG_LEDGER_ONCE, RUNG_VIOLATED, "'%s' says that layers run more than once",
                        SHOW(KEY("num_loops")));
    else if (!leave_open(h, RUNG_LEDGER_ONCE))
        cfg_ledger_know(h->ledger, RUNG_LEDGER_ONCE, RUNG_ESTABLISHED, "llama.cpp runs every layer of %s once",
                        SHOW(h->arch));
    if (shares)
        cfg_ledger_know(h->ledger, RUNG_LEDGER_OWN_CACHE, RUNG_VIOLATED, "layers read what another layer keeps");
    else if (!leave_open(h, RUNG_LEDGER_OWN_CACHE))
        cfg_ledger_know(h->ledger, RUNG_LEDGER_OWN_CACHE, RUNG_ESTABLISHED, "every layer of %s keeps what it reads",
                        SHOW(h->arch));
}

/* Nanbeige: every pass over the layers has its own caches. */
static void repeat_passes(header *h)
{
    uint64_t loops = number_or(h, "num_loops", 0, 1);
    if (strcmp(h->arch, "nanbeige") != 0 || h->status) return;
    if (loops == 0 || loops > LAYERS_MAX) refuse_key(h, "num_loops", "is not a number of passes");
    if (!h->status) h->status = cfg_ledger_repeat(h->ledger, (size_t)loops, h->name, h->err);
}

/* ---- all of it ---- */

/* Accepts letters, digits and a few signs, because the name becomes part of every key and of messages. */
static bool is_name(const char *arch)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return *arch && strlen(arch) <= 64 && strspn(arch, allowed) == strlen(arch);
}

rung_status cfg_ledger_from_gguf(rung_ledger *ledger, const rung_gguf *file, const char *name, rung_error *err)
{
    const char *arch = rung_gguf_string(file, "general.architecture");
    if (!arch || !*arch)
        return rung_fail(err, RUNG_INPUT, "%s: key 'general.architecture' is missing; this file describes no model",
                         SHOW(name));
    if (!is_name(arch))
        return rung_fail(err, RUNG_INPUT,
                         "%s: key 'general.architecture' is '%s', and a name has letters, digits, '.', '_' and '-'",
                         SHOW(name), SHOW(arch));
    if (strcmp(arch, "t5") == 0)
        return rung_fail(err, RUNG_INPUT,
                         "%s: is an encoder with a decoder (general.architecture is t5); only decoders "
                         "are read",
                         SHOW(name));
    header h = {.file = file, .name = name, .arch = arch, .row = cfg_arch_of(arch), .ledger = ledger, .err = err};
    ledger->context = number_or(&h, "context_length", 0, 0);
    ledger->number_bits = bits_of_file(&h);
    count_layers(&h);
    if (!h.status) need_keys(&h);
    if (!h.status) look_at_lists(&h);
    if (!h.status) name_spelling(&h);
    if (!h.status && has(&h, "embedding_length") && number_or(&h, "embedding_length", 0, 0) == 0)
        refuse_key(&h, "embedding_length", "is 0");
    if (!h.status) read_layers(&h);
    repeat_passes(&h);
    if (!h.status) know_causal(&h);
    if (!h.status) know_layers(&h);
    return h.status;
}
