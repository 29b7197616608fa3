/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to verify: what the files of the worst case share. The weights of a one-layer model as the exact evaluator
 * sees them, intervals that follow its roundings, and the decisions after the attention layer. docs/worst-case.md has
 * the proofs.
 *
 * Everything rests on one fact: rounding is monotone, so r(x+y) rises with x and y, and r(wx) rises with x for w >= 0
 * and falls for w <= 0. The image of an interval under one rounded operation therefore lies between the images of its
 * ends.
 */
#ifndef RUNG_VERIFY_WORST_CASE_PARTS_H
#define RUNG_VERIFY_WORST_CASE_PARTS_H

#include "rung/par.h"
#include "worst_case.h"

/* ---- intervals (worst_case_weights.c) ---------------------------------------------------------------------------- */

typedef struct wc_span {
    double lo, hi;
} wc_span;

static inline wc_span wc_point(double x)
{
    return (wc_span){x, x};
}

wc_span wc_hull(wc_span a, wc_span b);
bool wc_finite(wc_span a);
wc_span wc_add(const rung_fmt *fmt, wc_span a, wc_span b);
wc_span wc_scale(const rung_fmt *fmt, wc_span a, double w);
/* num / den for den > 0. */
wc_span wc_divide(const rung_fmt *fmt, wc_span num, wc_span den);

/* ---- weights (worst_case_weights.c) ------------------------------------------------------------------------------ */

/* y = W x + b, without the zeros of W: r(0 x) is a zero for a finite x, and adding it changes nothing. */
typedef struct wc_linear {
    size_t rows, cols;
    size_t *start; /* [rows+1] */
    size_t *col;
    double *w;
    double *bias; /* NULL: none */
} wc_linear;

typedef struct wc_table {
    size_t entries, key_count, out_count;
    int64_t *key;  /* [entries][key_count], sorted */
    double *value; /* [entries][out_count] */
    size_t *key_coord, *out_coord;
    bool *assigned; /* [d]: is an output coordinate */
} wc_table;

typedef struct wc_weights {
    const rung_model *model;
    const rung_model_spec *spec;
    const rung_mech_conf *group;
    rung_fmt fmt;
    size_t d, heads, dk, dv, mixed; /* mixed = heads dv */
    double *embed;                  /* [vocab][d] */
    double *positions;              /* [max_tokens][d], or NULL */
    wc_linear q, k, v, out, readout;
    bool *read; /* [d]: the read-out looks at this coordinate */
    bool has_table;
    wc_table table;
    rung_arena arena;
} wc_weights;

/* False, with the reason, if the method does not cover the model. */
bool wc_shape_known(char *reason, size_t size, const rung_model *model, const rung_evaluator *how);
rung_status wc_weights_load(wc_weights *w, const rung_model *model, const rung_fmt *fmt, rung_error *err);
void wc_weights_clear(wc_weights *w);
/* Every stored number is finite, so that no zero weight can make a NaN. */
bool wc_weights_finite(const wc_weights *w);

/* The residual stream of a token before the layer. */
void wc_residual(double *x, const wc_weights *w, size_t token, size_t position);
double wc_project(const wc_weights *w, const wc_linear *l, size_t row, const double *x);
wc_span wc_project_span(const wc_weights *w, const wc_linear *l, size_t row, const wc_span *x);

/* Tokens [token, token+tokens) at positions [position, position+positions), each free to be any of them. */
typedef struct wc_group {
    size_t token, tokens, position, positions;
} wc_group;

/* Rows [row, row+rows) of a projection read only coordinates in which all tokens (positions) of the group are equal. */
bool wc_ignores_token(const wc_weights *w, const wc_linear *l, size_t row, size_t rows, const wc_group *g);
bool wc_ignores_position(const wc_weights *w, const wc_linear *l, size_t row, size_t rows, const wc_group *g);

/* ---- behind the layer (worst_case_decide.c) ---------------------------------------------------------------------- */

typedef enum wc_outcome {
    WC_RIGHT = 1,
    WC_NOT_FINITE, /* something may overflow */
    WC_SPLIT,      /* a key coordinate may round to two integers */
    WC_NO_KEY,     /* the table has no such key */
    WC_CLOSE,      /* another answer may win */
    WC_VARIES,     /* a key coordinate rounds differently for different queries */
} wc_outcome;

/* Coordinate c after the layer, from the residual before it and the outputs of the heads. */
wc_span wc_coordinate(const wc_weights *w, size_t c, wc_span x, const wc_span *y);
/* The integer to which the whole interval rounds; lowers *margin to the distance from the next one. */
bool wc_one_integer(int64_t *out, double *margin, wc_span x);
/* Row of the table, or SIZE_MAX. */
size_t wc_table_find(const wc_table *t, const int64_t *key);
/* True if all points of the box are keys. */
bool wc_table_covers(const wc_table *t, const int64_t *low, const int64_t *high);
/* True if the answer wins the read-out for all values of the coordinates in their intervals. */
bool wc_answer_wins(const wc_weights *w, const wc_span *x, size_t answer, double *margin);
/* Decides whether a token with residual x and head outputs y gives the answer. scratch has d spans. */
wc_outcome wc_decide(const wc_weights *w, const double *x, const wc_span *y, size_t answer, double *margin,
                     wc_span *scratch);
const char *wc_outcome_text(wc_outcome outcome);

/* State i is what row row[i] of the table assigns, which is all that the read-out reads, and its right answer is i.
 * Decides whether all states are read correctly: by one argument for all pairs of state and answer, or pair by pair if
 * they are few. *state is one that is read wrong. */
typedef enum wc_reading { WC_READ_RIGHT = 1, WC_READ_WRONG, WC_READ_TOO_MANY } wc_reading;
rung_status wc_read_all(wc_reading *reading, size_t *state, const wc_weights *w, const size_t *row, size_t count,
                        rung_error *err);

/* ---- the other tokens (worst_case_others.c) ---------------------------------------------------------------------- */

/* True if no token before the last one can stop the model; otherwise sets the reason. y has bounds of the heads'
 * outputs. NULL: general bounds are computed from `value`, the range of every value coordinate [mixed]. */
bool wc_others_safe(char *reason, size_t size, const wc_weights *w, const wc_group *groups, size_t group_count,
                    const wc_span *value, const wc_span *y, wc_span *scratch, size_t tokens);

/* ---- one run (worst_case.c) -------------------------------------------------------------------------------------- */

typedef struct wc_run {
    rung_verify_result *result;
    const rung_model *model;
    const rung_task_conf *task;
    const rung_verify_options *conf;
    const wc_weights *w;
    rung_program *program;
    rung_session *session; /* made for the first prompt that is tried */
    rung_instance instance;
    size_t tried;
    rung_error *err;
} wc_run;

rung_status wc_unknown(wc_run *run, const char *format, ...) RUNG_PRINTF(2, 3);
/* Runs the model on the prompt in run->instance. *wrong: it answers wrong or stops; the result then says so. */
rung_status wc_try_prompt(wc_run *run, bool *wrong);
/* True if another prompt may be run; each costs as much as a prompt of the task. */
bool wc_may_try(const wc_run *run);
bool wc_interrupted(const wc_run *run);
void wc_progress(const wc_run *run, size_t done);

/* many: all tokens after the table ask, and not only one (percom). */
rung_status wc_lookup(wc_run *run, bool many);
rung_status wc_two_sum(wc_run *run);

#endif
