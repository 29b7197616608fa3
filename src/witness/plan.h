/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to witness: sizes and pairs of a build, and the planner's options by cost.
 */
#ifndef RUNG_WITNESS_PLAN_H
#define RUNG_WITNESS_PLAN_H

#include "rung/witness.h"

enum {
    RUNG_PLAN_PAIRS = 64,
    RUNG_PLAN_SMALL = 64
}; /* pairs of a build; tokens of the models by which options are sorted */

/* The pairs of one build: the user's, the construction's own, and the size. */
typedef struct plan_pairs {
    const char *at[RUNG_PLAN_PAIRS];
    size_t count;
    char own[96], size[32];
} plan_pairs;

/* The parameter that makes prompts longer, or NULL: the task has one size. */
const char *plan_size_name(const rung_task *task);
/* Makes the largest instance with at most `tokens` tokens; with 0, the instance of the user's parameters. */
rung_status plan_init_at(rung_build *b, plan_pairs *pairs, const rung_plan_options *conf, rung_plan_candidate *o,
                         size_t tokens, rung_error *err);
rung_status plan_build_at(rung_build *b, rung_model **model, const rung_plan_options *conf, rung_plan_candidate *o,
                          size_t tokens, rung_error *err);

typedef struct plan_format {
    int exponent, mantissa;
} plan_format;

/* Floats of at most p bits: first a wide exponent, then a long mantissa. Numbers of p bits include those of a smaller
 * format. */
size_t plan_formats(plan_format out[2], int bits);
rung_status plan_format_parse(rung_fmt *fmt, plan_format f, rung_error *err);

rung_plan_cost plan_cost(const rung_model *model, const rung_plan_options *conf);
/* Visits every construction of the task with every choice of its own parameters, "keys=trig values=bits". */
typedef void plan_visit(void *context, const rung_construction *how, const char *own);
void plan_each_option(const rung_plan_options *conf, plan_visit *visit, void *context);
/* Collects those that build at a small size. */
void plan_collect(rung_plan *plan, const rung_plan_options *conf);

#endif
