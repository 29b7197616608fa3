/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to verify: a table of values by position and one query (eva, index) or many (percom). Shared by the extremal
 * runs of the softmax and the decisions about them.
 */
#ifndef RUNG_VERIFY_WORST_CASE_LOOKUP_H
#define RUNG_VERIFY_WORST_CASE_LOOKUP_H

#include "worst_case_parts.h"

enum {
    WC_LANES = 64,          /* queries of one block; their rows fit into the first-level cache */
    WC_PREFIXES_MAX = 1024, /* partial sums that are kept for them: half a megabyte, in the second-level cache */
};

/* The values of one coordinate of a head, rising. Coordinates of a head with the same values share it, and its 2 count
 * runs: all others at the least (then at the largest) value, the wanted position at each. */
typedef struct value_set {
    size_t head, count, first_run;
    double *value;
} value_set;

/* One run: every position has `other`, but the wanted one has `wanted`. */
typedef struct extremal_run {
    double other, wanted;
} extremal_run;

/* A key coordinate of the table, as a function of the token at the wanted position. */
typedef struct key_class {
    size_t count;
    uint32_t *of;      /* [values]: class of a token */
    uint32_t *example; /* [count]: a token of the class */
    int64_t *integer;  /* [count]: what it rounds to, for every query */
} key_class;

/* Keys of a head by their first coordinates. */
typedef struct key_prefixes {
    size_t dims, count;
    uint32_t *of;      /* [entries] */
    uint32_t *example; /* [count] */
} key_prefixes;

typedef struct lookup {
    wc_run *run;
    const wc_weights *w;
    size_t entries, values; /* N, V */
    size_t queries;         /* tokens that ask, after the table: they all have the same key and value */
    double *key;            /* [heads][entries][dk] */
    key_prefixes *prefixes; /* [heads] */
    double *value;          /* [values][mixed] */
    wc_span *range;         /* [mixed] of the values */
    value_set *set;         /* [set_count] */
    size_t set_count;
    size_t *set_of;      /* [mixed] */
    uint32_t *place;     /* [mixed][values]: index of a token's value in its set */
    extremal_run **runs; /* [heads][run_count[h]] */
    size_t *run_count;
    size_t *offset;  /* [mixed+1]: where the spans of a coordinate begin */
    key_class *keys; /* [key_count of the table] */
    bool by_class;   /* the table decides, and everything after it is the same for all queries */
    bool settled;    /* the integers of the classes are known */
    rung_arena arena;
} lookup;

/* One worker's memory. */
typedef struct lookup_worker {
    double *x; /* [WC_LANES][d] residual of the queries */
    double *q, *s, *m, *den, *a, *e;
    double *num;  /* [runs][WC_LANES] */
    double *sums; /* [dv][sums_each]: numerators of one lane while tokens ask */
    size_t sums_each;
    double *prefix; /* [prefixes][WC_LANES] */
    wc_span *y;     /* [WC_LANES][offset[mixed]] */
    wc_span *all, *scratch;
} lookup_worker;

/* The first query of a block that is not decided. */
typedef struct lookup_fault {
    wc_outcome outcome; /* WC_RIGHT: none */
    size_t query, key, token;
    double margin;
} lookup_fault;

/* worst_case_runs.c: computes the extremes of every coordinate of every head, for queries first .. first+count-1, into
 * worker->y. False if a number of a query is not finite. */
bool wc_lookup_extremes(const lookup *l, lookup_worker *worker, size_t first, size_t count);
/* The extremes at the table tokens, if they all have the same query: [mixed]. */
void wc_lookup_prefixes(wc_span *y, const lookup *l, lookup_worker *worker);

/* worst_case_lookup.c: memory of one worker, from the arena of l. False if there is none. */
bool wc_lookup_worker(lookup_worker *worker, lookup *l, rung_error *err);
/* worst_case_tables.c: computes what depends on the weights alone. There are no sets if a key or value is not
 * finite. */
rung_status wc_lookup_prepare(lookup *l, const wc_run *run, rung_error *err);

#endif
