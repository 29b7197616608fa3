/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Residues modulo M, for the tasks about sums. Private to the module.
 */
#ifndef RUNG_TASK_RESIDUES_H
#define RUNG_TASK_RESIDUES_H

#include "rung/task.h"

/* Values are below 2^24 (the limit of the vocabulary), so sums of three do not wrap. */
static inline uint32_t rung_residue_negative(uint32_t v, size_t modulus)
{
    return v == 0 ? 0 : (uint32_t)(modulus - v);
}

/* The residue that makes a + b + result = 0. */
static inline uint32_t rung_residue_third(uint32_t a, uint32_t b, size_t modulus)
{
    return rung_residue_negative((uint32_t)(((size_t)a + b) % modulus), modulus);
}

/* Reads `count` number tokens (ids [0, modulus)) from position `start` on, checks them, and counts each
 * value. Returns the table [modulus], to be freed, or NULL with a message and *status. */
uint32_t *rung_residue_counts(rung_status *status, const rung_instance *instance, const rung_task_conf *conf,
                              size_t start, size_t count, size_t modulus, rung_error *err);

/* total / parts, rounded up or down at random so that the mean is exactly total / parts. */
size_t rung_residue_share(size_t total, size_t parts, rung_rng *rng);

#endif
