/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * config: what the layers of a real model hold, read from a Hugging Face config.json or the header of a GGUF file. A
 * ledger counts elements, never bits, because the server of a model chooses the size of a number. Layer 3.
 */
#ifndef RUNG_CONFIG_H
#define RUNG_CONFIG_H

#include "rung/base.h"

RUNG_API_BEGIN

/* One layer. It may have several mechanisms in parallel (a head-wise hybrid, a shared attention block). Then several of
 * the flags are set, and the numbers are totals. */
typedef struct rung_ledger_layer {
    bool full;          /* attends to every earlier token */
    bool recurrent;     /* carries a state that does not grow with the position; convolutions count */
    bool window;        /* attends only to the last tokens */
    bool chunk;         /* attends only within its chunk */
    bool sparse;        /* attends to a selection (blocks or tokens) */
    bool mlp;           /* no token mixing; excludes the others */
    char mechanism[48]; /* for display: "full", "mla", "gdelta", "mamba2", "window", "dsa", "mamba2+full", ... */

    uint64_t state_elements;  /* recurrent state; for log-linear attention: one matrix (per level) */
    uint64_t conv_elements;   /* inputs that a short convolution or token shift needs later, also inside an attention */
    uint64_t extra_elements;  /* other carried numbers: angles, last key and last value of Mamba-3 */
    uint64_t window_elements; /* keys and values of a full window or chunk */
    uint64_t kv_per_token;    /* elements that a growing cache gains per token; 0: none, or shared with another layer */
    /* Shape of a state that is a matrix of keys by values: heads with keys of their own, their key dimension, and the value
     * dimensions of all heads that share those keys. 0: the state is none, or the layer has several. */
    uint64_t state_heads, state_key_dim, state_value_dim;
    /* Numbers of a row of that state, whose numbers may share a scale (rung_mech_kept), and heads with a state of their
     * own; 0: not known. */
    uint64_t state_row, state_units;
    bool levels;     /* log-linear: state_elements for every one-bit of the position */
    bool fp32_state; /* the config asks for a 32-bit state */

    uint64_t heads;     /* query heads that attend (full, window, chunk, sparse) */
    uint64_t value_dim; /* of one such head; online, a query receives heads (value_dim + 2) numbers */
    uint64_t key_dim;
    uint64_t window_size; /* W, or the chunk; for a full or sparse layer: a window that it has in addition, else 0 */
    /* sparse: B (1: single tokens) and the number of blocks that a query opens; top 0: summaries only */
    uint64_t block, top;
    uint64_t summary_elements; /* sparse: numbers in the summary of one block, all heads; 0: unknown */
    bool summary_by_position;  /* the compression may depend on the position of the block */
    bool summary_overlaps;     /* blocks of the compression share tokens */
    uint64_t index_elements;   /* numbers per token that an indexer keeps */
} rung_ledger_layer;

/* Premises about all layers together. A reader establishes each of them from the file or from what is known about the
 * family. The others stay RUNG_NOT_ESTABLISHED, and then no theorem that needs them applies. */
typedef enum rung_ledger_fact {
    RUNG_LEDGER_CAUSAL = 0, /* no token sees a later one */
    RUNG_LEDGER_KINDS,      /* every layer has the stated kind and sizes, at any length */
    RUNG_LEDGER_ONCE,       /* every layer runs once for each token: no loops */
    RUNG_LEDGER_OWN_CACHE,  /* no layer reads keys, values or states that another layer keeps */
    RUNG_LEDGER_FACTS,
} rung_ledger_fact;

/* Premises of a witness about the blocks around the attention of a published model (docs/contains.md). */
typedef enum rung_block_fact {
    /* every layer is x += Out(mix(rms(x))), x += MLP(rms(x)), with an MLP and an output projection that give 0 if their
     * weights are 0; logits are a matrix times rms(x). Nothing else changes queries, keys, scores, values or logits */
    RUNG_BLOCK_STREAM = 0,
    /* queries and keys of full layers are rotated, halves of the first `rotary` coordinates, by the angles position *
     * rope_theta^(-2i/rotary), at least where the wavelength is below `wave` */
    RUNG_BLOCK_ROTARY,
    RUNG_BLOCK_SIZES, /* the file states hidden and vocab */
    RUNG_BLOCK_FACTS,
} rung_block_fact;

typedef struct rung_block {
    rung_known known[RUNG_BLOCK_FACTS];
    uint64_t hidden, vocab;
    double rope_theta;
    double partial; /* share of a head's coordinates that are rotated */
    double wave;    /* angles with a longer wavelength are rescaled; INFINITY: none */
} rung_block;

typedef struct rung_ledger {
    char *name;     /* file, or the arch text */
    char *family;   /* model_type or architecture; "" if none */
    char *spelling; /* the key by which the layer kinds were found: "layer_types", "full_attention_interval", ... */
    size_t layer_count;
    rung_ledger_layer *layer;
    rung_known known[RUNG_LEDGER_FACTS];
    rung_block block;
    uint64_t context; /* longest context that the file states; 0: none */
    /* Bits of the file's dtype; 0: not stated. Weights and caches have this width. Accumulators of attention and of
     * recurrent states are wider in every serving system. */
    int number_bits;
    int state_bits; /* bits of the recurrent state, if the config states them or (with a note) the family fixes them */
    size_t note_count; /* remarks for the user: "11 layers share the cache of others", "heads derived" */
    char **note;
    rung_arena arena;
} rung_ledger;

/* Reads a file, or a directory with a config.json. The content decides the format: GGUF magic, else JSON of at most 16
 * MiB. RUNG_INPUT with the spellings that were tried when the layer kinds cannot be determined. A file with any marker
 * of a recurrent mechanism is never read as "all full". */
rung_status rung_ledger_open(rung_ledger *ledger, const char *path, rung_error *err);
rung_status rung_ledger_open_bytes(rung_ledger *ledger, const void *bytes, size_t size, const char *name,
                                   rung_error *err);
void rung_ledger_clear(rung_ledger *ledger);

/* True if the two are equal in everything that a ledger shows. */
bool rung_ledger_layer_same(const rung_ledger_layer *a, const rung_ledger_layer *b);

/* Elements of each sort, of one layer or of several. */
typedef struct rung_ledger_elements {
    uint64_t state_elements, conv_elements, extra_elements, window_elements; /* of log-linear attention one level */
    uint64_t kv_per_token;                                                   /* that growing caches gain per token */
    uint64_t index_per_token;                                                /* that indexers keep per token besides */
} rung_ledger_elements;

/* All layers together. */
typedef struct rung_ledger_sum {
    /* numbers of layers; both: recurrent and attending */
    uint64_t total, full, recurrent, window, chunk, sparse, mlp, both;
    rung_ledger_elements all;     /* sums over all layers; they saturate at UINT64_MAX */
    rung_ledger_elements largest; /* the largest layer of each sort, which may be another one for each */
} rung_ledger_sum;
rung_ledger_sum rung_ledger_total(const rung_ledger *ledger);

RUNG_API_END

#endif
