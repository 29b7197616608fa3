/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * config: what the layers of a real model hold, read from a Hugging Face config.json or the header of a GGUF file. A
 * ledger counts elements, never bits: the size of a number is chosen by whoever serves the model. Layer 3.
 */
#ifndef RUNG_CONFIG_H
#define RUNG_CONFIG_H

#include "rung/base.h"

RUNG_API_BEGIN

/* One layer. It may have several mechanisms side by side (a head-wise hybrid, a shared attention block): then several of
 * the flags are set and the numbers are those of all together. */
typedef struct rung_held {
    bool full;          /* attends to every earlier token */
    bool recurrent;     /* carries a state that does not grow with the position; convolutions count */
    bool window;        /* attends to the last tokens only */
    bool chunk;         /* attends within its chunk only */
    bool sparse;        /* attends to a selection (blocks or tokens) */
    bool mlp;           /* no token mixing at all; exclusive of the others */
    char mechanism[48]; /* for people: "full", "mla", "gdelta", "mamba2", "window", "dsa", "mamba2+full", ... */

    uint64_t state_elements;  /* recurrent state; of log-linear attention one matrix (per level) */
    uint64_t conv_elements;   /* inputs that a short convolution or token shift still needs, also inside an attention */
    uint64_t extra_elements;  /* carried too, and neither: angles, last key and last value of Mamba-3 */
    uint64_t window_elements; /* keys and values of a full window or chunk */
    uint64_t kv_per_token;    /* elements that a growing cache gains per token; 0: none, or shared with another layer */
    bool levels;              /* log-linear: state_elements for every one-bit of the position */
    bool fp32_state;          /* the config itself asks for a 32-bit state */

    uint64_t heads;     /* query heads that attend (full, window, chunk, sparse) */
    uint64_t value_dim; /* of one such head: what a query receives is heads (value_dim + 2) numbers when online */
    uint64_t key_dim;
    uint64_t window_size;      /* W, or the chunk; of a full or sparse layer: a window that it also has, else 0 */
    uint64_t block, top;       /* sparse: B (1: single tokens) and how many are opened; top 0: summaries alone */
    uint64_t summary_elements; /* sparse: numbers of one block's summary, all heads; 0: not known */
    bool summary_by_position;  /* the compression may depend on the place of the block */
    bool summary_overlaps;     /* blocks of the compression share tokens */
    uint64_t index_elements;   /* per token, of an indexer */
} rung_held;

/* What a theorem may presuppose of all layers together. A reader establishes each of these from what the file says or from
 * what is known of its family; whatever it does not mention stays RUNG_NOT_ESTABLISHED, and no theorem then applies. */
typedef enum rung_ledger_fact {
    RUNG_LEDGER_CAUSAL = 0, /* no token sees a later one */
    RUNG_LEDGER_KINDS,      /* every layer is of the kind and has the sizes that stand there, at any length */
    RUNG_LEDGER_ONCE,       /* every layer runs once for each token: no loops */
    RUNG_LEDGER_OWN_CACHE,  /* no layer reads keys, values or states that another one keeps */
    RUNG_LEDGER_FACTS,
} rung_ledger_fact;

/* What a witness presupposes of the blocks around the attention of a published model (docs/contains.md). */
typedef enum rung_block_fact {
    RUNG_BLOCK_STREAM =
        0, /* every layer is x += Out(mix(rms(x))), x += MLP(rms(x)), with an MLP and an output projection that
                              weights of 0 make idle; logits are a matrix times rms(x). Nothing else is done to queries,
                              keys, scores, values, logits */
    RUNG_BLOCK_ROTARY, /* queries and keys of full layers are rotated, halves of the first `rotary` coordinates, by the
                              angles position * rope_theta^(-2i/rotary), at least where the wavelength is below `wave` */
    RUNG_BLOCK_SIZES,  /* hidden and vocab are in the file */
    RUNG_BLOCK_FACTS,
} rung_block_fact;

typedef struct rung_block {
    rung_known known[RUNG_BLOCK_FACTS];
    uint64_t hidden, vocab;
    double rope_theta;
    double partial; /* share of a head's coordinates that are rotated */
    double wave;    /* angles of longer wavelength are rescaled; INFINITY: none are */
} rung_block;

typedef struct rung_ledger {
    char *name;     /* file, or the arch text */
    char *family;   /* model_type or architecture; "" if none */
    char *spelling; /* how the layer kinds were found: "layer_types", "full_attention_interval", ... */
    size_t layer_count;
    rung_held *layer;
    rung_known known[RUNG_LEDGER_FACTS];
    rung_block block;
    uint64_t context; /* longest context that the file names, 0: none */
    /* Of the file's dtype, 0: not stated. Weights and caches are that wide; sums are not: accumulators of attention and of
     * recurrent states are wider wherever a model is served. */
    int number_bits;
    int state_bits; /* of the recurrent state where the config names it or (then a note says so) the family fixes it */
    size_t note_count; /* what a reader should know: "11 layers share the cache of others", "heads derived" */
    char **note;
    rung_arena arena;
} rung_ledger;

/* A file, or a directory with a config.json. By content: GGUF magic, else JSON of at most 16 MiB. RUNG_INPUT with the spellings that were tried when the layer kinds cannot be
 * determined; a file with any marker of a recurrent mechanism is never taken for "all full". */
rung_status rung_ledger_open(rung_ledger *ledger, const char *path, rung_error *err);
rung_status rung_ledger_open_bytes(rung_ledger *ledger, const void *bytes, size_t size, const char *name,
                                   rung_error *err);
void rung_ledger_clear(rung_ledger *ledger);

/* Equal in everything that a ledger shows. */
bool rung_held_same(const rung_held *a, const rung_held *b);

/* Totals over the layers; they saturate at UINT64_MAX. */
typedef struct rung_ledger_sum {
    uint64_t total, full, recurrent, window, chunk, sparse, mlp, both; /* layers; both: recurrent and attending */
    uint64_t state_elements, conv_elements, extra_elements, window_elements;
    uint64_t kv_elements_per_token; /* of the largest layer with a growing cache */
} rung_ledger_sum;
rung_ledger_sum rung_ledger_total(const rung_ledger *ledger);

RUNG_API_END

#endif
