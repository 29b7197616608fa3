/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What servers reserve for sequences, as their sources say at one commit. A rule covers the layers for which it was
 * read, and no others.
 */
#include <string.h>

#include "rung/card.h"

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t padded(uint64_t value, uint64_t unit)
{
    uint64_t over = value % unit;
    return over ? plus(value, unit - over) : value;
}

static uint64_t bytes_of(uint64_t elements, int bits)
{
    uint64_t all = times(elements, (uint64_t)bits);
    return all == UINT64_MAX ? UINT64_MAX : all / 8 + (all % 8 != 0);
}

/* Elements that one token adds to the cache of a window. */
static uint64_t window_token(const rung_ledger_layer *layer)
{
    return layer->window_size ? layer->window_elements / layer->window_size : 0;
}

/* ---- llama.cpp --------------------------------------------------------------------------------------------------- */

enum { LLAMA_CELLS = 256, LLAMA_UBATCH = 512, LLAMA_STATE_BITS = 32 };

static const char *llama_misses(const rung_ledger_layer *layer)
{
    if (layer->sparse) return "it has caches of its own for layers that select, whose rule was not read";
    if (layer->chunk) return "its rule for chunks was not read";
    if (layer->levels || layer->extra_elements) return "it does not run log-linear attention or Mamba-3";
    return NULL;
}

static uint64_t llama_layer(const rung_ledger_layer *layer, uint64_t tokens, const rung_card_numbers *n)
{
    uint64_t cells = padded(tokens, LLAMA_CELLS), near = plus(layer->window_size, LLAMA_UBATCH);
    uint64_t window = padded(cells < near ? cells : near, LLAMA_CELLS);
    uint64_t cache = plus(times(layer->kv_per_token, cells), times(window_token(layer), window));
    uint64_t state = plus(layer->state_elements, layer->conv_elements);
    return plus(bytes_of(cache, n->kv_bits), bytes_of(state, LLAMA_STATE_BITS));
}

static bool llama_reserves(uint64_t *bytes, const char **why, const rung_ledger *ledger, uint64_t tokens,
                           uint64_t sequences, const rung_card_numbers *numbers)
{
    *bytes = 0;
    for (size_t i = 0; i < ledger->layer_count; i++) {
        *why = llama_misses(&ledger->layer[i]);
        if (*why) return false;
        *bytes = plus(*bytes, llama_layer(&ledger->layer[i], tokens, numbers));
    }
    *bytes = times(*bytes, sequences);
    return true;
}

/* ---- vLLM -------------------------------------------------------------------------------------------------------- */

enum { VLLM_BLOCK = 16, VLLM_LATENT_BLOCK = 128, VLLM_SORTS = 8 };

/* Layers that hold blocks in the same way: every token, the last W, or one page for a state. */
typedef struct vllm_sort {
    bool state;
    uint64_t window; /* 0: every token */
    uint64_t layers;
} vllm_sort;

typedef struct vllm_pool {
    vllm_sort sort[VLLM_SORTS];
    size_t sorts;
    uint64_t token; /* bytes that one token adds to one attending layer, the same in all of them */
    uint64_t state; /* bytes of one state with its convolution, the same in all layers with one */
    bool latent;
    const char *why;
} vllm_pool;

static void vllm_add(vllm_pool *p, bool state, uint64_t window, uint64_t bytes)
{
    uint64_t *size = state ? &p->state : &p->token;
    if (*size && *size != bytes) p->why = "its rule for layers of different sizes was not read";
    *size = bytes;
    size_t s = 0;
    while (s < p->sorts && (p->sort[s].state != state || p->sort[s].window != window)) s++;
    if (s == VLLM_SORTS) {
        p->why = "it has too many sorts of windows";
        return;
    }
    if (s == p->sorts) p->sort[p->sorts++] = (vllm_sort){.state = state, .window = window};
    p->sort[s].layers++;
}

static void vllm_layer(vllm_pool *p, const rung_ledger_layer *layer, const rung_card_numbers *n)
{
    if (layer->sparse || layer->chunk || layer->levels || layer->extra_elements)
        p->why = "its rule for chunks, selections, log-linear attention and Mamba-3 was not read";
    if (layer->heads && !layer->kv_per_token && !layer->window_elements)
        p->why = "its rule for layers that share a cache was not read";
    if (layer->full && layer->kv_per_token) vllm_add(p, false, 0, bytes_of(layer->kv_per_token, n->kv_bits));
    if (layer->window && layer->window_elements)
        vllm_add(p, false, layer->window_size, bytes_of(window_token(layer), n->kv_bits));
    if (layer->recurrent)
        vllm_add(p, true, 0,
                 plus(bytes_of(layer->state_elements, n->state_bits), bytes_of(layer->conv_elements, n->kv_bits)));
    p->latent = p->latent || strstr(layer->mechanism, "mla");
}

static uint64_t up(uint64_t value, uint64_t unit)
{
    return value / unit + (value % unit != 0);
}

/* Tokens of a block: as few as make the page of an attending layer at least as large as that of a state. */
static uint64_t vllm_block(const vllm_pool *p)
{
    uint64_t unit = p->latent ? VLLM_LATENT_BLOCK : VLLM_BLOCK;
    return p->state && p->token ? times(unit, up(p->state, times(unit, p->token))) : VLLM_BLOCK;
}

static uint64_t vllm_blocks(const vllm_sort *sort, uint64_t tokens, uint64_t block)
{
    if (sort->state) return 1;
    if (!sort->window) return up(tokens, block);
    return up(sort->window < tokens ? sort->window : tokens, block) + 1; /* a window may begin inside a block */
}

/* Layers of a group: as many as the rarest sort has, or the most frequent one if that is less than half as many more. */
static uint64_t vllm_group(const vllm_pool *p)
{
    uint64_t fewest = UINT64_MAX, most = 0;
    for (size_t s = 0; s < p->sorts; s++) {
        if (p->sort[s].layers < fewest) fewest = p->sort[s].layers;
        if (p->sort[s].layers > most) most = p->sort[s].layers;
    }
    return 2 * most < 3 * fewest ? most : fewest;
}

static bool vllm_reserves(uint64_t *bytes, const char **why, const rung_ledger *ledger, uint64_t tokens,
                          uint64_t sequences, const rung_card_numbers *numbers)
{
    vllm_pool p = {0};
    for (size_t i = 0; i < ledger->layer_count && !p.why; i++) vllm_layer(&p, &ledger->layer[i], numbers);
    if (p.latent && !p.state) p.why = "the block of latent attention depends on the kernel that is chosen";
    *why = p.why, *bytes = 0;
    if (p.why) return false;
    uint64_t block = vllm_block(&p), group = vllm_group(&p), page = p.token ? times(block, p.token) : p.state;
    for (size_t s = 0; s < p.sorts; s++) {
        uint64_t blocks = times(up(p.sort[s].layers, group), vllm_blocks(&p.sort[s], tokens, block));
        *bytes = plus(*bytes, times(blocks, times(page, group)));
    }
    *bytes = times(*bytes, sequences);
    return true;
}

/* ---- registry ---------------------------------------------------------------------------------------------------- */

static const rung_engine engines[] = {
    {.name = "llama.cpp",
     .rule = "a sequence reserves its context rounded up to 256 tokens in full layers, the window plus 512 tokens, "
             "rounded up to 256, in windowed ones, and one row of 32-bit floats for states and convolutions "
             "(kv_unified and swa_full off, n_ubatch 512)",
     .source = "github.com/ggml-org/llama.cpp at b21e4de74567: src/llama-context.cpp (n_ctx_seq), "
               "src/llama-kv-cache.cpp, src/llama-kv-cache-iswa.cpp (size_swa), src/llama-memory-recurrent.cpp, "
               "src/llama-model.cpp (GGML_TYPE_F32)",
     .reserves = llama_reserves},
    {.name = "vllm",
     .rule =
         "blocks of 16 tokens; where layers have states, so many tokens more that the page of an attending layer is "
         "as large as a state (in units of 16, of 128 with latent attention), and a state takes one page; a window "
         "takes one block more than it fills; layers form groups of equal size, filled up with layers that hold "
         "nothing (one GPU, no prefix cache, one token in flight, no speculation)",
     .source = "github.com/vllm-project/vllm at a014e35f38c8: vllm/v1/kv_cache_interface.py, "
               "vllm/v1/core/kv_cache_utils.py (_get_kv_cache_groups_uniform_page_size, "
               "_max_memory_usage_bytes_from_groups), vllm/platforms/interface.py (attn_block_size)",
     .reserves = vllm_reserves},
};

size_t rung_engine_count(void)
{
    return RUNG_COUNT(engines);
}

const rung_engine *rung_engine_at(size_t index)
{
    return index < RUNG_COUNT(engines) ? &engines[index] : NULL;
}

const rung_engine *rung_engine_get(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(engines); i++)
        if (strcmp(engines[i].name, name) == 0) return &engines[i];
    return NULL;
}

const char *rung_engine_name_at(size_t index)
{
    return index < RUNG_COUNT(engines) ? engines[index].name : NULL;
}
