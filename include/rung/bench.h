/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * How fast this is: exact numbers beside a fast kernel, attacks within their time, and training beside PyTorch. A
 * subject measures, fills a record, and says after each row that it is there. Layer 8: depends on attack, audit and
 * below.
 */
#ifndef RUNG_BENCH_H
#define RUNG_BENCH_H

#include "rung/base.h"
#include "rung/num.h"

RUNG_API_BEGIN

enum {
    RUNG_BENCH_RUNS_MAX = 101,
    RUNG_BENCH_FIGURES_MAX = 16,
    RUNG_BENCH_FORMATS_MAX = 9,
    RUNG_BENCH_MIXTURES_MAX = 6,
    RUNG_BENCH_ATTACKS_MAX = 4
};

typedef struct rung_bench_options {
    rung_sizes tokens, layers; /* empty: as the subject usually has */
    int64_t dim, batch;        /* 0: the same */
    int64_t runs, threads;     /* threads 0: all cores */
    int64_t seeds;             /* of attacks; 0: as many models as the bars are for */
    int64_t vocab, d_model, heads;
    int64_t compute;                   /* of step: rung_compute, less 1 */
    const char *numbers, *arch, *mech; /* numbers, mech NULL: all that the subject has */
    const char *peer;                  /* of PyTorch: a python or a virtual environment; NULL: /usr/bin/python3 */
    bool quick, no_peer;
    int64_t seed;
} rung_bench_options;

/* ---- speed: peak, products, step, memory, mixers, length ------------------------------------------------------- */

typedef struct rung_bench_figure {
    const char *key;         /* snake case */
    double value, low, high; /* median, least and largest of the rounds */
    double bar;              /* NAN: none */
    bool most;               /* the bar must not be passed; otherwise it must be reached */
    bool rounds;             /* low and high are there */
} rung_bench_figure;

typedef struct rung_bench_row {
    char name[64];
    rung_bench_figure figure[RUNG_BENCH_FIGURES_MAX];
    size_t count;
} rung_bench_row;

typedef struct rung_bench_report {
    const rung_bench_options *conf;
    const struct rung_bench_watch *watch;
    const char *subject;
    size_t threads, runs;
    bool judged; /* false: --quick, and no bar counts */
    rung_bench_row *rows;
    size_t count, capacity, missed;
    double busy_s, started_s; /* of the whole machine and of the clock, at the start */
    double others;            /* cores that other programs kept busy meanwhile; known at the end */
    double peak;              /* GFLOP/s on these threads, the largest that was seen */
    char peer[256];           /* what it is; empty: there is none */
} rung_bench_report;

bool rung_bench_figure_missed(const rung_bench_figure *figure);

/* ---- exact: softmax attention in exact numbers and in an fp32 kernel ------------------------------------------- */

typedef struct rung_bench_exact_row {
    rung_fmt fmt;
    double exact_ms, fp32_ms, ratio, bar; /* medians; bar NAN: not these sizes */
    size_t state_bytes, twice_bytes;      /* of n tokens and of 2n */
} rung_bench_exact_row;

/* A model of two layers whose numbers are stored in mixed formats, against the same in f32 alone. */
typedef struct rung_bench_mixed_row {
    const char *numbers;
    double mixed_ms, single_ms, ratio, bar; /* medians; bar NAN: not these sizes */
} rung_bench_mixed_row;

typedef struct rung_bench_exact_report {
    size_t tokens, dim, threads, runs;
    rung_bench_exact_row row[RUNG_BENCH_FORMATS_MAX];
    size_t count; /* measured so far */
    rung_bench_mixed_row mixed[RUNG_BENCH_MIXTURES_MAX];
    size_t mixed_count; /* after all rows above; none if a format was given */
    size_t missed;      /* too slow, or with memory that grows faster than the tokens */
} rung_bench_exact_report;

bool rung_bench_too_slow(const rung_bench_exact_row *row);
bool rung_bench_mixed_too_slow(const rung_bench_mixed_row *row);

/* ---- break: attacks on random models --------------------------------------------------------------------------- */

typedef struct rung_bench_attack {
    const char *name, *attack, *arch, *numbers, *task;
    size_t usual_seeds, needed; /* so many of the usual ones must be found */
    double bar_s;               /* for each */
    size_t seeds, found;
    double slowest_s;
    bool checked; /* rung-check is there */
    size_t accepted;
    double check_s, scalar_s; /* sums of processor time: rung-check, and one scalar pass for each prompt */
    bool check_counts;        /* check_s is long enough to be held against scalar_s */
    bool missed;
} rung_bench_attack;

typedef struct rung_bench_break_report {
    double check_bar; /* rung-check against scalar passes */
    rung_bench_attack row[RUNG_BENCH_ATTACKS_MAX];
    size_t count, missed;
} rung_bench_break_report;

/* ---- running --------------------------------------------------------------------------------------------------- */

/* Who is told. Each of the three gets the record after its newest row; another status than RUNG_OK ends the subject.
 * Any may be NULL. */
typedef struct rung_bench_watch {
    rung_status (*speed)(void *context, const rung_bench_report *report, rung_error *err);
    rung_status (*exact)(void *context, const rung_bench_exact_report *report, rung_error *err);
    rung_status (*attacks)(void *context, const rung_bench_break_report *report, rung_error *err);
    void (*note)(void *context, const char *text);
    void *context;
} rung_bench_watch;

/* Subjects of rung_bench_speed, NULL at the end. */
extern const char *const rung_bench_speeds[];

/* Clear the report whatever this returns. */
rung_status rung_bench_speed(rung_bench_report *report, const char *subject, const rung_bench_options *conf,
                             const rung_bench_watch *watch, rung_error *err);
void rung_bench_report_clear(rung_bench_report *report);
rung_status rung_bench_exact(rung_bench_exact_report *report, const rung_bench_options *conf,
                             const rung_bench_watch *watch, rung_error *err);
rung_status rung_bench_break(rung_bench_break_report *report, const rung_bench_options *conf,
                             const rung_bench_watch *watch, rung_error *err);

RUNG_API_END

#endif
