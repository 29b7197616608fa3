/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Finite sets by number, for the tasks over real vectors. Counts that do not fit are UINT64_MAX. Private to the module.
 */
#ifndef RUNG_TASK_GRID_H
#define RUNG_TASK_GRID_H

#include "rung/task.h"

uint64_t rung_grid_times(uint64_t a, uint64_t b);

/* Subsets of k of the numbers [0, n), in the order of their sorted lists. */
uint64_t rung_grid_subsets(uint64_t n, uint64_t k);
void rung_grid_subset(float *out, uint64_t n, uint64_t k, uint64_t index);

/* Integer points on the surface of the cube of radius r in R^d, r = 1, 2, ... No two of them have the same
 * direction. */
uint64_t rung_grid_cube(size_t d, int64_t r);
void rung_grid_cube_point(int64_t *out, size_t d, int64_t r, uint64_t index);

#endif
