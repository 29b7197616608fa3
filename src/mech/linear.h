/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What linear attention and its backward pass share. One head: S [r][dv], then z [r] when there is a normaliser.
 */
#ifndef RUNG_MECH_LINEAR_H
#define RUNG_MECH_LINEAR_H

#include "rows.h"

enum { PHI_ELU1, PHI_RELU, PHI_IDENTITY, PHI_TAYLOR2 };

/* Tokens of one chunk: inside a chunk the cost is quadratic, between chunks it is one matrix. */
enum { CHUNK = 64 };

int rung_linear_phi(const rung_mech_conf *conf);
bool rung_linear_has_norm(const rung_mech_conf *conf);
size_t rung_linear_features(const rung_mech_conf *conf);
size_t rung_linear_head_size(const rung_mech_conf *conf);

void rung_linear_phi_f32(float *out, const float *x, const rung_mech_conf *conf);
/* S <- S + phi(k) v^T, z <- z + phi(k) */
void rung_linear_absorb_f32(float *S, const float *phi_k, const float *v, const rung_mech_conf *conf);

void rung_linear_backward_f32(const rung_backward *b, size_t head);
size_t rung_linear_backward_scratch(const rung_mech_conf *conf, size_t tokens);

#endif
