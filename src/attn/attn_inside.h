/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Inside: what a run and its gradients share.
 */
#ifndef RUNG_ATTN_INSIDE_H
#define RUNG_ATTN_INSIDE_H

#include "rung/attn.h"

/* The name of the gradient of o in the input file. Not g: that is a decay of several mechanisms. */
#define ATTN_GRADIENT "do"

/* Rows of summaries may come one per block: the tokens of a block then, else 0. */
size_t attn_rows_per_block(const rung_attn *a, const rung_mech_input *input, const rung_tensor *tensor);
float *attn_floats(rung_arena *arena, const double *from, size_t count, rung_error *err);
size_t attn_input_count(const rung_attn *a, size_t input);

/* Refuses what cannot be done, before anything is computed. */
rung_status attn_can_grad(const rung_attn *a, rung_error *err);
/* After the outputs: din from the tensor "do", or from ones. */
rung_status attn_grad(rung_attn *a, rung_error *err);

#endif
