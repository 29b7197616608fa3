/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the subjects of `rung bench` share: their options, figures with bars, the peak of the machine and numbers that PyTorch
 * can make too. Every subject returns 0, RUNG_NEGATIVE when a bar is missed, or a status.
 */
#ifndef RUNG_TOOL_BENCH_H
#define RUNG_TOOL_BENCH_H

#include "command.h"

enum { RUNG_BENCH_RUNS_MAX = 101 };

typedef struct rung_bench_values {
    rung_sizes tokens, layers; /* empty: as the subject usually has */
    int64_t dim, batch;        /* 0: the same */
    int64_t runs, threads, seeds, vocab, d_model, heads;
    const char *numbers, *arch, *mech;
    bool quick, no_peer;
} rung_bench_values;

int rung_bench_exact(const rung_call *call, rung_error *err);
/* seeds 0: as many models as the bars are for. */
int rung_bench_break(const rung_call *call, size_t seeds, size_t threads, rung_error *err);
int rung_bench_peak(const rung_call *call, rung_error *err);
int rung_bench_products(const rung_call *call, rung_error *err);
int rung_bench_step(const rung_call *call, rung_error *err);
int rung_bench_memory(const rung_call *call, rung_error *err);
int rung_bench_mixers(const rung_call *call, rung_error *err);
int rung_bench_length(const rung_call *call, rung_error *err);

/* ---- figures --------------------------------------------------------------------------------------------------------- */

/* Sorts x. */
double rung_bench_median(double *x, size_t count);

/* What was measured in every round. */
typedef struct rung_samples {
    double at[RUNG_BENCH_RUNS_MAX];
    size_t count;
} rung_samples;

void rung_samples_add(rung_samples *samples, double value);
/* Round by round above[i] / below[i]: both of the same moment, so that a slow phase of the machine cancels. */
void rung_samples_divide(rung_samples *out, const rung_samples *above, const rung_samples *below);

typedef struct rung_figure {
    const char *key;         /* snake case: its name in JSON, and with blanks in the text */
    double value, low, high; /* median, least and largest of the rounds */
    double bar;              /* NAN: none */
    bool most;               /* the bar must not be passed; otherwise it must be reached */
    bool rounds;             /* low and high are there */
} rung_figure;

enum { RUNG_FIGURES_MAX = 16 };

typedef struct rung_bench_row {
    char name[64];
    rung_figure figure[RUNG_FIGURES_MAX];
    size_t count;
} rung_bench_row;

rung_figure *rung_row_number(rung_bench_row *row, const char *key, double value);
rung_figure *rung_row_samples(rung_bench_row *row, const char *key, const rung_samples *samples);

/* ---- a report: rows appear as they are measured, JSON at the end --------------------------------------------------------- */

typedef struct rung_bench_report {
    const rung_call *call;
    const char *subject;
    size_t threads, runs;
    bool judged; /* false: --quick, and no bar counts */
    rung_bench_row *rows;
    size_t count, capacity, missed;
    double busy_s, started_s; /* of the whole machine and of the clock, at the start */
    double peak;              /* GFLOP/s on these threads, the largest that was seen */
    char peer[256];           /* what it is; empty: there is none */
} rung_bench_report;

rung_status rung_report_init(rung_bench_report *report, const rung_call *call, const char *subject, size_t capacity,
                             rung_error *err);
/* Adds the row, and prints it unless JSON is wanted. */
rung_status rung_report_row(rung_bench_report *report, const rung_bench_row *row, rung_error *err);
/* Measures the peak again, between two other measurements: what the processor can do is asked for, and another program can only
 * make it look less, so the largest one counts. */
void rung_report_peak(rung_bench_report *report);
/* Adds the peak so far and the shares of it, under `key`; returns the figure of the shares. */
rung_figure *rung_report_share(rung_bench_row *row, const char *key, const rung_samples *gflops,
                               const rung_bench_report *report);
/* JSON, and what other programs took; frees. Returns the exit code of the subject when `status` is RUNG_OK. */
int rung_report_finish(rung_bench_report *report, rung_status status, rung_error *err);

/* ---- the peak -------------------------------------------------------------------------------------------------------- */

/* GFLOP/s of fused multiply-adds in fp32 on so many threads, in some 20 ms. */
double rung_bench_peak_now(size_t threads);

/* ---- numbers that PyTorch can make too ---------------------------------------------------------------------------------- */

/* Element i of a stream: 32 mixed bits, the same as in bench_peer.py. */
uint32_t rung_bench_hash(size_t i, uint32_t stream);
/* low + (high - low) u, u of 24 bits in [0, 1). */
float rung_bench_noise(size_t i, uint32_t stream, float low, float high);
uint32_t rung_bench_whole(size_t i, uint32_t stream, uint32_t below);

/* ---- small things ---------------------------------------------------------------------------------------------------- */

/* Bytes of memory that it had at most (VmHWM); 0 when the system does not say. */
size_t rung_bench_peak_memory(void);
double rung_bench_cpu_s(void);          /* processor time of this process, all threads together */
double rung_bench_processor_s(int who); /* of getrusage: user and system time */
/* A new empty file in /tmp, for the caller to remove; path has 64 bytes. */
rung_status rung_bench_file(char path[64], rung_error *err);
size_t rung_bench_or_usual(int64_t given, size_t usual); /* 0 stands for the usual */
/* How often something that takes so long must be done until it has taken `wanted_s`; once with --quick. */
size_t rung_bench_times(double seconds, double wanted_s, const rung_call *call);

#endif
