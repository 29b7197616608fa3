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
