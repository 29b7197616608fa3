/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Residues modulo M; see residues.h.
 */
#include <assert.h>
#include <stdlib.h>

#include "common.h"
#include "residues.h"

uint32_t *rung_residue_counts(rung_status *status, const rung_instance *instance, const rung_task_conf *conf,
                              size_t start, size_t count, size_t modulus, rung_error *err)
{
    uint32_t *table = rung_calloc(modulus, sizeof *table, err);
    *status = table ? RUNG_OK : RUNG_SYSTEM;
    for (size_t i = 0; i < count && *status == RUNG_OK; i++) {
        uint32_t value;
        *status = rung_task_expect_token(&value, instance, conf, start + i, 0, modulus, "a number", err);
        if (*status == RUNG_OK) table[value]++;
    }
    if (*status == RUNG_OK) return table;
    free(table);
    return NULL;
}

size_t rung_residue_share(size_t total, size_t parts, rung_rng *rng)
{
    assert(parts > 0);
    return total / parts + (rung_rng_below(rng, parts) < total % parts);
}
