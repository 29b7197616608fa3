/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Vectors whose coordinates are k / 2^16: made with integers only, exact in float32, and with exact squares
 * and inner products in 64 bits and in double. So features are the same bytes on every machine. Private to
 * the module.
 */
#ifndef RUNG_TASK_DYADIC_H
#define RUNG_TASK_DYADIC_H

#include "rung/task.h"

#define RUNG_DYADIC_ONE 65536 /* the integer that represents 1 */
/* Coordinates of `direction` below have a magnitude of at most 2^26, so the sum of d squares stays below 2^62. */
#define RUNG_DYADIC_D_MAX 1024

/* Sets out to `direction` scaled to a length of at most `radius` and above radius - 1 - sqrt(d), in units of 2^-16. The
 * direction must not be 0. */
void rung_dyadic_fit(int32_t *out, const int64_t *direction, size_t d, int64_t radius);
/* A random direction, nearly uniform (bounded normal coordinates); never 0. */
void rung_dyadic_direction(int64_t *direction, size_t d, rung_rng *rng);
/* A radius of the uniform distribution in the unit ball of R^d. */
int64_t rung_dyadic_ball_radius(size_t d, rung_rng *rng);
int64_t rung_dyadic_dot(const int32_t *a, const int32_t *b, size_t d); /* in units of 2^-32 */
void rung_dyadic_write(float *feature, const int32_t *a, size_t d);

#endif
