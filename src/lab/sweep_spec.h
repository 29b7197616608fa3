/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to lab: the contents of a spec, and the runs of its grids.
 */
#ifndef RUNG_LAB_SWEEP_SPEC_H
#define RUNG_LAB_SWEEP_SPEC_H

#include "rung/io.h"
#include "rung/lab.h"

/* One key with its value, or with the values of its grid. */
typedef struct lab_axis {
    const char *key, *place; /* place: "grid.rate", for messages */
    size_t count;
    const char **text;
} lab_axis;

/* Base members first, then those of the case, then the axes. Later ones override earlier ones. */
typedef struct lab_case {
    const char *label;
    lab_axis *axis;
    size_t axes;
    uint64_t runs; /* product of the numbers of values */
} lab_case;

typedef struct lab_planned_run {
    char id[RUNG_RUN_ID];
    uint32_t of_case;
    uint64_t number;
} lab_planned_run;

/* Whether theorems speak of one kind of run. Cached, so that each kind is decided once. */
typedef struct lab_spoken {
    uint64_t kind; /* hash of everything that the theorems read; 0: an empty slot */
    bool exact;    /* if so, the last test uses the exact evaluator */
} lab_spoken;

struct rung_sweep {
    const char *file, *name, *question, *text;
    double success;
    bool keep_models;
    const char **choose;
    size_t chooses;
    lab_case *cases;
    size_t case_count;
    lab_planned_run *planned;
    size_t runs, repeated;
    lab_spoken *spoken; /* [slots]; read-only after the spec has been read, so that threads may share it */
    size_t slots;       /* a power of two, larger than the number of points */
    rung_arena arena;
};

/* Makes words and configuration of a point, which need not have an id yet. */
rung_status lab_spell_planned(rung_sweep_run *run, const rung_sweep *sweep, uint32_t of_case, uint64_t number,
                              rung_error *err);
/* Checks that a key may stand in a base, a grid or a case. The message names the nearest key. */
rung_status lab_check_key(const char *file, const char *place, const char *key, rung_error *err);

#endif
