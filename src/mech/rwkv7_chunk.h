/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The fast scan of RWKV-7 in chunks: see rwkv7_chunk.c.
 */
#ifndef RUNG_MECH_RWKV7_CHUNK_H
#define RUNG_MECH_RWKV7_CHUNK_H

#include "chunk.h"
#include "replay.h"

/* n tokens from the first row on, in the notation of rwkv7_chunk.c. */
typedef struct rwkv7_chunk {
    const float *r, *w, *k, *v, *a, *b;
    size_t n, next, dk, dv, key_row, value_row; /* next: tokens of the next chunk */
    float *reads, *asks;                        /* [SUBCHUNK][CHUNK] pairs that o_t and s_t read: with s, then with v */
    float *u, *rest;                            /* panels of s and v, RWKV7_BOTH rows; [SUBCHUNK][chunk_wide(dv)] s */
    float *decays;                              /* [SUBCHUNK][dk] w */
    float *since, *until;                       /* [SUBCHUNK][dk] E_t0, E_nt */
    float *faded_r, *faded_a;                   /* [SUBCHUNK][dk] */
    float *ended;                               /* [RWKV7_BOTH][dk] b, then k, faded to the end */
} rwkv7_chunk;
enum { RWKV7_BOTH = 2 * SUBCHUNK };

size_t rung_rwkv7_chunk_size(const rung_mech_conf *conf);
rwkv7_chunk rung_rwkv7_chunk_new(const rung_mech_conf *conf, float *scratch);
/* Points it at the tokens from `first` on. */
void rung_rwkv7_chunk_rows(rwkv7_chunk *c, const float *const *in, size_t first, size_t tokens, size_t head,
                           const rung_mech_conf *conf);
/* Decays, pairs, s and v, from S, the state before the chunk in panels. */
void rung_rwkv7_chunk_enter(const float *S, const rwkv7_chunk *c);
/* The state after the chunk. o: its outputs, after which those of the next one are asked for; NULL: none. */
void rung_rwkv7_chunk_leave(float *S, const float *o, const rwkv7_chunk *c);

/* Scans the tokens from `first` on; o is read if the layer is causal. Stops before a chunk whose outputs are not finite,
 * because in a product they would reach tokens before them. Returns the first token that was not scanned. */
size_t rung_rwkv7_chunks_f32(float *o, float *state, const float *const *in, size_t first, size_t tokens, size_t head,
                             const rung_mech_conf *conf, float *scratch);

#endif
