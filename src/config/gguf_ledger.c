/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A ledger from the header of a GGUF file. The metadata decide, not the name of the architecture: the rule of llama.cpp
 * (recurrent_layers, else full_attention_interval, else layers without key and value heads). Names matter in one short
 * table only, for patterns that files of an architecture do not write.
 */
#include <inttypes.h>

#include "reader.h"
#include "state.h"

typedef struct header {
    const rung_gguf *file;
    const char *name, *arch;
    const char *pattern; /* of the architecture, or NULL */
    rung_ledger *ledger;
    size_t layers;
    bool single_minded; /* a block does attention, MLP or recurrence, never two */
    bool heads_tell;    /* the list of key and value heads says which layers are recurrent */
    rung_status status; /* the first failure */
    rung_error *err;
} header;

static const struct {
    const char *arch, *pattern; /* letters as in family.c */
} patterns[] = {
    {"gemma2", "WF"},      {"gemma3", "WWWWWF"}, {"gemma3n", "WWWWF"},  {"cohere2", "WWWF"}, {"gpt-oss", "WF"},
    {"exaone4", "WWWF"},   {"olmo2", "WWWF"},    {"afmoe", "WWWF"},     {"llama4", "CCCF"},  {"falcon-h1", "H"},
    {"qwen3next", "RRRF"}, {"qwen35", "RRRF"},   {"qwen35moe", "RRRF"},
};

/* ---- looking ---- */

typedef struct key {
    char text[128];
} key;

/* "{arch}.<word>"; what belongs to attention may also stand without that word. */
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

/* The number of layer i: the entry of a list, or the one number for all. */
static bool find_at(uint64_t *out, header *h, const char *word, size_t i)
{
    if (!has(h, word)) return false;
    if (rung_gguf_u64(out, h->file, KEY(word), is_list(h, word) ? i : 0)) return true;
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

/* A list of heads without a zero tells nothing about a recurrent mechanism that the file has. */
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

/* The spelling that tells recurrent layers from others, or NULL. */
static const char *recurrence_spelling(header *h)
{
    if (has(h, "attention.recurrent_layers")) return "attention.recurrent_layers";
    if (has(h, "full_attention_interval")) return "full_attention_interval";
    if (h->heads_tell) return "attention.head_count_kv";
    if (h->pattern && strpbrk(h->pattern, "RH")) return "architecture";
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
    if (h->heads_tell) return need(h, "attention.head_count_kv", i) ? KIND_FULL : kinds_without_heads(h, i);
    if (h->pattern && strpbrk(h->pattern, "RH")) return cfg_letter(h->pattern[i % strlen(h->pattern)]);
    return has_recurrence(h) ? KIND_RECURRENT : KIND_FULL;
}

/* What full attention is cut down to. A number p: all but every p-th see the window; a list: those with 1. */
static bool sees_window(header *h, size_t i)
{
    uint64_t window = number_or(h, "attention.sliding_window", i, 0), value;
    if (window == 0) return false;
    if (is_list(h, "attention.sliding_window_pattern")) return need(h, "attention.sliding_window_pattern", i) != 0;
    if (find_at(&value, h, "attention.sliding_window_pattern", i)) return value == 0 || i % value < value - 1;
    if (h->pattern) return cfg_letter(h->pattern[i % strlen(h->pattern)]) == KIND_WINDOW;
    return h->ledger->context == 0 || window < h->ledger->context;
}

static unsigned kinds_of(header *h, size_t i)
{
    unsigned kinds = recurrent_or_full(h, i);
    if (!(kinds & KIND_FULL)) return kinds;
    unsigned attends = KIND_FULL;
    if (has(h, "attention.compress_ratios"))
        attends = need(h, "attention.compress_ratios", i) ? KIND_SPARSE : KIND_WINDOW;
    else if (has(h, "attention.indexer.top_k"))
        attends = KIND_SPARSE;
    else if (h->pattern && cfg_letter(h->pattern[i % strlen(h->pattern)]) == KIND_CHUNK)
        attends = KIND_CHUNK;
    else if (sees_window(h, i))
        attends = KIND_WINDOW;
    return (kinds ^ KIND_FULL) | attends;
}

/* ---- sizes ---- */

/* Mamba, Mamba-2 and the gated delta rule share their keys: state_size is the key size of the latter, inner_size all of
 * its values, group_count its key heads. */
static void read_ssm(rung_held *held, header *h, size_t i)
{
    uint64_t inner = need(h, "ssm.inner_size", i), state = need(h, "ssm.state_size", i);
    uint64_t kernel = need(h, "ssm.conv_kernel", i), groups = number_or(h, "ssm.group_count", i, 0);
    bool delta = has(h, "full_attention_interval") || is_arch_like(h, "qwen3");
    cfg_state_mamba2(held, 1, inner, state, groups, kernel);
    cfg_held_name(held, delta ? "gdelta" : groups ? "mamba2" : "mamba");
}

static void read_recurrent(rung_held *held, header *h, size_t i)
{
    uint64_t size;
    if (find_at(&size, h, "kda.head_dim", i)) {
        uint64_t heads = need(h, "attention.head_count", i);
        cfg_state_delta(held, heads, heads, size, size, need(h, "ssm.conv_kernel", i));
        cfg_held_name(held, "kda");
    } else if (find_at(&size, h, "wkv.head_size", i)) {
        uint64_t hidden = need(h, "embedding_length", i);
        cfg_state_rwkv(held, hidden, size, number_or(h, "token_shift_count", i, 2));
        cfg_held_name(held, is_arch_like(h, "rwkv7") ? "rwkv7" : "rwkv6");
    } else if (find_at(&size, h, "shortconv.l_cache", i)) {
        cfg_state_conv(held, need(h, "embedding_length", i), size);
        cfg_held_name(held, "conv");
    } else {
        read_ssm(held, h, i);
    }
}

/* head_count may be a list with 0 where there is no attention; only the layer at hand matters. */
static uint64_t read_grouped(rung_held *held, header *h, size_t i)
{
    uint64_t heads = need(h, "attention.head_count", i), kv = number_or(h, "attention.head_count_kv", i, heads), hidden;
    const char *key_word =
        held->window && has(h, "attention.key_length_swa") ? "attention.key_length_swa" : "attention.key_length";
    const char *value_word =
        held->window && has(h, "attention.value_length_swa") ? "attention.value_length_swa" : "attention.value_length";
    hidden = has(h, key_word) && has(h, value_word) ? 0 : need(h, "embedding_length", i);
    if (heads == 0) refuse_key(h, "attention.head_count", "is 0 in a layer that attends");
    if (h->status) return 0;
    held->heads = heads;
    held->key_dim = number_or(h, key_word, i, hidden / heads);
    held->value_dim = number_or(h, value_word, i, hidden / heads);
    return cfg_times(kv, cfg_plus(held->key_dim, held->value_dim));
}

/* As in a config.json, the larger of what a query may receive. */
static uint64_t read_latent(rung_held *held, header *h, size_t i)
{
    uint64_t rank = need(h, "attention.kv_lora_rank", i), rope = number_or(h, "rope.dimension_count", i, 0);
    uint64_t value = number_or(h, "attention.value_length_mla", i, number_or(h, "attention.value_length", i, 0));
    held->heads = need(h, "attention.head_count", i);
    held->value_dim = value > rank ? value : rank;
    held->key_dim = cfg_plus(rank, rope);
    return cfg_plus(rank, rope);
}

static void read_sparse(rung_held *held, header *h, size_t i)
{
    uint64_t ratio = number_or(h, "attention.compress_ratios", i, 0),
             index = number_or(h, "attention.indexer.key_length", i, 0);
    bool coarse = ratio >= 128;
    held->block = ratio ? ratio : number_or(h, "attention.indexer.block_size", i, 1);
    held->top = coarse ? 0 : need(h, "attention.indexer.top_k", i);
    if (held->block == 0) refuse_key(h, "attention.indexer.block_size", "must be at least 1");
    if (!ratio) {
        held->index_elements = index;
        cfg_held_name(held, held->block > 1 ? "msa" : "dsa");
        return;
    }
    held->summary_elements = cfg_plus(held->value_dim, coarse ? 0 : index);
    held->summary_by_position = true;
    held->summary_overlaps = !coarse;
    held->window_size = number_or(h, "attention.sliding_window", i, 0);
    cfg_held_name(held, coarse ? "hca" : "csa");
}

static void read_attention(rung_held *held, header *h, size_t i)
{
    enum { CHUNK_OF_LLAMA4 = 8192 }; /* files do not write it */
    bool latent = number_or(h, "attention.kv_lora_rank", i, 0) > 0;
    uint64_t per_token = latent ? read_latent(held, h, i) : read_grouped(held, h, i);
    uint64_t tail = number_or(h, "attention.shared_kv_layers", 0, 0);
    if (held->window) held->window_size = need(h, "attention.sliding_window", i);
    if (held->chunk) held->window_size = number_or(h, "attention.chunk_size", i, CHUNK_OF_LLAMA4);
    cfg_hold_tokens(held, per_token, held->window_size, tail < h->layers && i >= h->layers - tail);
    if (held->sparse)
        read_sparse(held, h, i);
    else
        cfg_held_name(held, held->window ? "window" : held->chunk ? "chunk" : latent ? "mla" : "full");
}

static void read_layer(rung_held *held, header *h, size_t i)
{
    unsigned kinds = kinds_of(h, i);
    cfg_held_kinds(held, kinds);
    if (held->recurrent) read_recurrent(held, h, i);
    if (kinds & KIND_ATTENDS) read_attention(held, h, i);
    if (held->mlp) cfg_held_name(held, "mlp");
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
    h->layers = (size_t)(blocks - extra);
    if (extra) cfg_ledger_note(h->ledger, "layers that predict further tokens are left out", NULL);
}

/* Quantised weights say nothing about the numbers that are computed with. */
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

static const char *pattern_of(const char *arch)
{
    for (size_t i = 0; i < RUNG_COUNT(patterns); i++)
        if (strcmp(patterns[i].arch, arch) == 0) return patterns[i].pattern;
    return NULL;
}

rung_status cfg_ledger_from_gguf(rung_ledger *ledger, const rung_gguf *file, const char *name, rung_error *err)
{
    const char *arch = rung_gguf_string(file, "general.architecture");
    if (!arch || !*arch || strlen(arch) > 64)
        return rung_fail(err, RUNG_INPUT, "%s: key 'general.architecture' is missing; this file describes no model",
                         SHOW(name));
    header h = {.file = file, .name = name, .arch = arch, .pattern = pattern_of(arch), .ledger = ledger, .err = err};
    ledger->context = number_or(&h, "context_length", 0, 0);
    ledger->number_bits = bits_of_file(&h);
    count_layers(&h);
    if (!h.status) look_at_lists(&h);
    if (!h.status) name_spelling(&h);
    if (!h.status) read_layers(&h);
    return h.status;
}
