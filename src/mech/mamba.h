/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the selective scan and its backward pass share. While tokens are scanned, states [dk][dv] and rates are in
 * blocks of RUNG_SELECTIVE channels: block after block, each [dk][RUNG_SELECTIVE], filled up with zeros.
 */
#ifndef RUNG_MECH_MAMBA_H
#define RUNG_MECH_MAMBA_H

#include "mech_rows.h"

#include "rung/kern.h"

enum { MAMBA_X, MAMBA_DT, MAMBA_B, MAMBA_C, MAMBA_A, MAMBA_D };

size_t rung_mamba_blocks_size(const rung_mech_conf *conf);
/* The rates of a head, A [dv][dk] in units of ln 2. */
void rung_mamba_rates(float *rates, const float *A, const rung_mech_conf *conf);
/* Adds the gradient of the rates, in blocks, to that of A. */
void rung_mamba_add_rates(float *dA, const float *blocks, const rung_mech_conf *conf);
/* Converts a state to blocks (NULL: zeros), and back. */
void rung_mamba_open(float *blocks, const float *h, const rung_mech_conf *conf);
void rung_mamba_close(float *h, const float *blocks, const rung_mech_conf *conf);
/* The inputs of one block of channels, from token `first` on. */
rung_selective rung_mamba_block(const float *const *in, size_t first, size_t tokens, size_t channel, size_t head,
                                const rung_mech_conf *conf);

void rung_mamba_backward_f32(const rung_backward *b, size_t head);
size_t rung_mamba_backward_scratch(const rung_mech_conf *conf, size_t tokens);

#endif
