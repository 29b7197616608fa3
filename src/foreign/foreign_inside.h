/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the parts of foreign share: the tensors of any container by name, and the shape that a configuration states.
 */
#ifndef RUNG_FOREIGN_INSIDE_H
#define RUNG_FOREIGN_INSIDE_H

#include "rung/foreign.h"
#include "rung/io.h"
#include "rung/model.h"

enum { FOREIGN_NAME_MAX = 160 };

/* ---- weights.c ---- */

/* All tensors of a GGUF file, of a state dict, or of one or more safetensors files. */
typedef struct foreign_weights {
    const char *path; /* for messages */
    rung_gguf *gguf;  /* also holds the configuration */
    rung_torch *torch;
    rung_safetensors **shard;
    size_t shards;
    const rung_tensor **tensor; /* sorted by name */
    bool *used;
    size_t count;
    rung_arena arena;
} foreign_weights;

rung_status foreign_weights_open(foreign_weights *w, const char *path, rung_error *err);
void foreign_weights_close(foreign_weights *w);
/* Returns NULL if there is no such tensor. The tensor then counts as used. */
const rung_tensor *foreign_weights_use(foreign_weights *w, const char *name);
bool foreign_weights_has(const foreign_weights *w, const char *name);
/* RUNG_INPUT names a tensor that was not used. */
rung_status foreign_weights_check_all_used(const foreign_weights *w, rung_error *err);

/* ---- families.c ---- */

/* Names of tensors without ".weight" and ".bias"; %zu is the layer. NULL: the family has none. */
typedef struct foreign_names {
    const char *embed, *positions, *final_norm, *readout;
    const char *norm1, *q, *k, *v, *qkv, *out, *norm2, *up, *gate, *down;
    const char *q_norm, *k_norm;  /* read if the shape says so */
    const char *const *constants; /* tensors that hold no weights, such as masks, up to a NULL */
} foreign_names;

/* What the published program does with a bias: it adds one if the file has it (llama.cpp), adds one always, or has none. */
typedef enum foreign_bias { FOREIGN_BIAS_IF_PRESENT, FOREIGN_BIAS_ALWAYS, FOREIGN_BIAS_NEVER } foreign_bias;

/* How the angles of a rotation are rescaled. linear: all are divided by factor. llama3: those whose wave is longer than
 * original / low are; those shorter than original / high are not, and there is a ramp between. */
typedef struct foreign_rescaling {
    enum { FOREIGN_ROTARY_PLAIN, FOREIGN_ROTARY_LINEAR, FOREIGN_ROTARY_LLAMA3 } kind;
    double factor, low, high, original;
} foreign_rescaling;

typedef struct foreign_shape {
    char family[32];
    const foreign_names *names;
    char prefix[32]; /* before every name, such as "transformer." */
    bool transposed; /* matrices are [in][out] */
    bool paired;     /* rotary turns neighbours, not halves: rows of queries and keys are put in our order */
    size_t layers, d_model, d_mlp, heads, kv_heads, head_dim, vocab, context;
    size_t window; /* tokens that a query sees; 0: all */
    bool *slides;  /* [layers]: which of them have the window; NULL: all */
    double rotary_base, epsilon;
    foreign_rescaling rescaling;
    double embed_scale; /* what is read is multiplied by it, after the read-out has been taken from it; 0: nothing is */
    bool qk_norm;
    bool plus_one; /* weights of norms are stored without a one that is added */
    rung_positions positions;
    rung_norm norm;
    rung_mlp mlp;
    foreign_bias qkv_bias, out_bias, mlp_bias;
    bool tied; /* the configuration says that the read-out is the embedding where the file has none of its own */
} foreign_shape;

/* prefix, pattern with the number of the layer, suffix */
void foreign_layer_name(char name[FOREIGN_NAME_MAX], const char *prefix, const char *pattern, size_t layer,
                        const char *suffix);
extern const foreign_names foreign_names_llama, foreign_names_gpt2, foreign_names_gguf;

rung_status foreign_shape_from_gguf(foreign_shape *shape, const foreign_weights *w, rung_error *err);
/* Lists of the shape are in the arena. */
rung_status foreign_shape_from_json(foreign_shape *shape, const foreign_weights *w, const char *path, rung_arena *arena,
                                    rung_error *err);
/* Checks sizes against each other: everything that follows divides by them. */
rung_status foreign_shape_check(const foreign_shape *shape, const char *path, rung_error *err);

/* ---- ids.c ---- */

/* Reads a list such as "17-20,0-16". NULL gives 0, 1, ..., vocab-1. */
rung_status foreign_ids_read(size_t **ids, size_t *count, rung_arena *arena, const char *text, const char *what,
                             size_t vocab, rung_error *err);

#endif
