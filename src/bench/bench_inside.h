/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the subjects share: samples and figures, the peak of the machine, and numbers that PyTorch can make too.
 */
#ifndef RUNG_BENCH_INSIDE_H
#define RUNG_BENCH_INSIDE_H

#include "rung/bench.h"

rung_status bench_peak(rung_bench_report *report, rung_error *err);
rung_status bench_products(rung_bench_report *report, rung_error *err);
rung_status bench_step(rung_bench_report *report, rung_error *err);
rung_status bench_memory(rung_bench_report *report, rung_error *err);
rung_status bench_mixers(rung_bench_report *report, rung_error *err);
rung_status bench_length(rung_bench_report *report, rung_error *err);

/* ---- figures --------------------------------------------------------------------------------------------------- */

/* Sorts x. */
double bench_median(double *x, size_t count);

/* What was measured in every round. */
typedef struct bench_samples {
    double at[RUNG_BENCH_RUNS_MAX];
    size_t count;
} bench_samples;

void bench_samples_add(bench_samples *samples, double value);
/* Round by round above[i] / below[i]: both of the same moment, so that a slow phase of the machine cancels. */
void bench_samples_divide(bench_samples *out, const bench_samples *above, const bench_samples *below);

rung_bench_figure *bench_row_number(rung_bench_row *row, const char *key, double value);
rung_bench_figure *bench_row_samples(rung_bench_row *row, const char *key, const bench_samples *samples);

/* ---- the report ------------------------------------------------------------------------------------------------ */

/* Room for so many rows. */
rung_status bench_report_room(rung_bench_report *report, size_t capacity, rung_error *err);
/* Adds the row, and tells who watches. */
rung_status bench_report_row(rung_bench_report *report, const rung_bench_row *row, rung_error *err);
void bench_note(const rung_bench_report *report, const char *format, ...) RUNG_PRINTF(2, 3);
/* Measures the peak again, between two other measurements: what the processor can do is asked for, and another
 * program can only make it look less, so the largest one counts. */
void bench_report_peak(rung_bench_report *report);
/* Adds the peak so far and the shares of it, under `key`; returns the figure of the shares. */
rung_bench_figure *bench_report_share(rung_bench_row *row, const char *key, const bench_samples *gflops,
                                      const rung_bench_report *report);

/* ---- mixed formats --------------------------------------------------------------------------------------------- */

/* Adds the rows of mixed formats. */
rung_status bench_mixed(rung_bench_exact_report *report, const rung_bench_options *conf, const rung_bench_watch *watch,
                        rung_error *err);

/* ---- the peak -------------------------------------------------------------------------------------------------- */

/* GFLOP/s of fused multiply-adds in fp32 on so many threads, in some 20 ms. */
double bench_peak_now(size_t threads);

/* ---- numbers that PyTorch can make too ------------------------------------------------------------------------- */

/* Element i of a stream: 32 mixed bits, the same as in bench_peer.py. */
uint32_t bench_hash(size_t i, uint32_t stream);
/* low + (high - low) u, u of 24 bits in [0, 1). */
float bench_noise(size_t i, uint32_t stream, float low, float high);
uint32_t bench_whole(size_t i, uint32_t stream, uint32_t below);

/* ---- small things ---------------------------------------------------------------------------------------------- */

/* Bytes of memory that it had at most (VmHWM); 0 when the system does not say. */
size_t bench_peak_memory(void);
double bench_cpu_s(void);          /* processor time of this process, all threads together */
double bench_processor_s(int who); /* of getrusage: user and system time */
/* A new empty file in /tmp, for the caller to remove; path has 64 bytes. */
rung_status bench_file(char path[64], rung_error *err);
size_t bench_or_usual(int64_t given, size_t usual); /* 0 stands for the usual */
/* How often something that takes so long must be done until it has taken `wanted_s`; once with --quick. */
size_t bench_times(double seconds, double wanted_s, const rung_bench_options *conf);

#endif
