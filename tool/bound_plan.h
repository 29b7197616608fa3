/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The search behind `rung bound --plan`: among the constructions of `rung build`, the cheapest layers (fewest that keep
 * all tokens, then fewest bits of state) that solve a task in numbers of p bits. What is proposed has been run; where the wanted size is
 * too long to run here, it was run at a smaller one, and the verdict says so.
 */
#ifndef RUNG_TOOL_BOUND_PLAN_H
#define RUNG_TOOL_BOUND_PLAN_H

#include "bound_ask.h"
#include "precision.h"

#define RUNG_PLAN_MAX 128

typedef struct rung_plan_conf {
    const rung_bound_ask *ask; /* task and n */
    const rung_call *call;     /* its words, seed, progress */
    int bits;                  /* p */
    uint64_t samples;
    size_t threads;
} rung_plan_conf;

typedef struct rung_plan_cost {
    uint64_t full, sparse; /* layers that keep all tokens */
    uint64_t state_bits, message_bits;
    size_t parameters;
} rung_plan_cost;

/* The largest size with at most so many tokens. */
typedef struct rung_plan_size {
    size_t tokens;
    int64_t size;
} rung_plan_size;

/* A construction with its own words. */
typedef struct rung_plan_option {
    const rung_construction *how;
    char own[96];           /* "keys=trig linear=first" */
    rung_plan_cost cost;    /* at a small size */
    bool variant;           /* it presupposes words of the task that the user has not said */
    rung_plan_size size[4]; /* the first ones that were looked for */
    size_t sized;
    int64_t likely_size; /* where to begin looking; 0: anywhere */
    bool tried, good;
    char why[256]; /* why not */
} rung_plan_option;

typedef struct rung_plan_run {
    char task[128]; /* canonical */
    size_t tokens;
    char numbers[16];
    rung_finding found;
} rung_plan_run;

typedef struct rung_plan {
    rung_plan_option option[RUNG_PLAN_MAX]; /* those that build, cheapest first */
    size_t count;
    size_t refused; /* variants that do not build, answer after thoughts, or have no mask */
    size_t chosen;  /* SIZE_MAX: none */
    /* of the chosen one */
    char *arch, *build; /* at the wanted size; the words after `rung build` */
    size_t tokens;      /* of the wanted size */
    rung_plan_cost cost;
    rung_plan_run run;
    bool extrapolated;         /* run.tokens < tokens: */
    int mantissa[2];           /* the smallest that is right, at two small sizes, */
    size_t mantissa_tokens[2]; /* these, */
    double mantissa_n;         /* and what the line through both says at the wanted one */
    rung_verdict verdict;      /* CAN when run at the wanted size, else UNKNOWN */
    rung_arena arena;
} rung_plan;

/* Clear it also when this fails. */
rung_status rung_plan_search(rung_plan *plan, const rung_plan_conf *conf, rung_error *err);
void rung_plan_clear(rung_plan *plan);
void rung_plan_print(rung_buf *out, const rung_plan *plan, const rung_plan_conf *conf);
void rung_plan_json(rung_buf *out, const rung_plan *plan, const rung_plan_conf *conf);

#endif
