/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The fast scan of RWKV-7 in chunks: see rwkv7_chunk.c.
 */
#ifndef RUNG_MECH_RWKV7_CHUNK_H
#define RUNG_MECH_RWKV7_CHUNK_H

#include "chunk.h"
#include "replay.h"

size_t rung_rwkv7_chunk_size(const rung_mech_conf *conf);
/* Scans the tokens from `first` on; o is read if the layer is causal. Stops before a chunk whose outputs are not finite,
 * because in a product they would reach tokens before them. Returns the first token that was not scanned. */
size_t rung_rwkv7_chunks_f32(float *o, float *state, const float *const *in, size_t first, size_t tokens, size_t head,
                             const rung_mech_conf *conf, float *scratch);

#endif
