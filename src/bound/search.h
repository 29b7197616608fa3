/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to bound: the smallest value of a function of a few whole numbers, by starts and descents that are
 * deterministic. A heuristic: the caller checks what it finds, and a better point may exist. Whole numbers are doubles,
 * so that none overflows; above 2^53 every double is whole.
 */
#ifndef RUNG_BOUND_SEARCH_H
#define RUNG_BOUND_SEARCH_H

#include "rung/base.h"

#define SEARCH_DIMS 24

typedef struct search_box {
    size_t count;
    double low[SEARCH_DIMS], high[SEARCH_DIMS];
} search_box;

/* A forbidden point has the value INFINITY, or better a large value that falls towards the allowed ones. */
typedef double search_value(const double *point, const void *context);

typedef struct search search;
struct search {
    search_box box;
    search_value *value;
    const void *context;
    size_t kept;                     /* number of starts from which it descends */
    size_t evaluations, budget;      /* a descent ends when there were more than `budget`; the first has no limit */
    double best[SEARCH_DIMS], least; /* the result; least is INFINITY until a point is known */
    double start[32][SEARCH_DIMS], start_value[32]; /* the best ones so far, sorted */
};

void search_init(search *s, const search_box *box, search_value *value, const void *context, size_t kept);
/* Proposes a start; clamped into the box. */
void search_try(search *s, const double *point);
/* Proposes `count` starts, log-uniform in the box. */
void search_try_random(search *s, size_t count);
/* Proposes `count` starts around a point: each coordinate times 2^(a bell curve of that width). */
void search_try_near(search *s, const double *point, double width, size_t count);
/* Descends from the kept starts. Returns the least value; the point is in s->best. */
double search_run(search *s);

#endif
