/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A sweep inside: what the spec says, and the points of its grids that are runs.
 */
#ifndef RUNG_LAB_SPEC_H
#define RUNG_LAB_SPEC_H

#include "rung/io.h"
#include "rung/lab.h"

/* One key with its value, or with those that the grid runs through. */
typedef struct lab_axis {
    const char *key, *place; /* place: "grid.rate", for messages */
    size_t count;
    const char **text;
} lab_axis;

/* Base members first, then those of the case, then the axes: later ones win. */
typedef struct lab_case {
    const char *label;
    lab_axis *axis;
    size_t axes;
    uint64_t points; /* product of the counts */
} lab_case;

typedef struct lab_point {
    char id[RUNG_RUN_ID];
    uint32_t of_case;
    uint64_t number;
} lab_point;

/* Whether theorems speak of runs of one kind, so that each kind is asked about once. */
typedef struct lab_spoken {
    uint64_t kind; /* hash of all that they look at; 0: an empty slot */
    bool exact;    /* then the last test is one by the exact evaluator */
} lab_spoken;

struct rung_sweep {
    const char *file, *name, *question, *text;
    double success;
    bool keep_models;
    const char **choose;
    size_t chooses;
    lab_case *cases;
    size_t case_count;
    lab_point *point;
    size_t points, repeated;
    lab_spoken *spoken; /* [slots]; complete when the spec has been read, so that threads may share it */
    size_t slots;       /* a power of two, more than there are points */
    rung_arena arena;
};

/* Words and configuration of a point that may not have an id yet. */
rung_status lab_spell_point(rung_sweep_run *run, const rung_sweep *sweep, uint32_t of_case, uint64_t number,
                            rung_error *err);
/* Whether a key may stand in a base, a grid or a case; with the nearest one in the message if not. */
rung_status lab_check_key(const char *file, const char *place, const char *key, rung_error *err);

#endif
