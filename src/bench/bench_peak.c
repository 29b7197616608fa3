/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung bench peak: what the processor does at most in fp32, on one thread and on all; and the numbers that rung and
 * PyTorch both make for the other subjects.
 */
#include "bench_inside.h"
#include "rung/kern.h"
#include "rung/par.h"

enum { THREADS_MAX = 256 };

typedef struct peak_run {
    size_t thousands;
    double flops[THREADS_MAX];
    float sink[THREADS_MAX];
} peak_run;

static void run_chains(void *context, size_t item, size_t worker)
{
    peak_run *run = context;
    (void)worker;
    run->flops[item] = rung_peak_get()(&run->sink[item], run->thousands);
}

static double gflops_of(peak_run *run, size_t threads)
{
    double sum = 0, start = rung_wall_s();
    rung_par_for(threads, threads, run_chains, run);
    double wall = rung_wall_s() - start;
    for (size_t i = 0; i < threads; i++) sum += run->flops[i];
    return 1e-9 * sum / wall;
}

/* The best of a few: what the processor can do is asked, and another program can only make it look less. */
double bench_peak_now(size_t threads)
{
    /* 1000 rounds of 12 chains take 20 us at 2 GHz and two a cycle: 3 ms each, long beside the start of a thread. */
    peak_run run = {.thousands = 150 * 6};
    double best = 0;
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    for (int i = 0; i < 4; i++) {
        double now = gflops_of(&run, threads);
        if (now > best) best = now;
    }
    return best;
}

rung_status bench_peak(rung_bench_report *report, rung_error *err)
{
    rung_bench_row row = {.name = "fp32 multiply-add, GFLOP/s"};
    bench_samples one = {.count = 0}, all = {.count = 0};
    RUNG_TRY(bench_report_room(report, 1, err));
    for (size_t run = 0; run < report->runs; run++) {
        bench_samples_add(&one, bench_peak_now(1));
        bench_samples_add(&all, bench_peak_now(report->threads));
    }
    bench_row_samples(&row, "one_thread", &one);
    bench_row_samples(&row, "all_threads", &all);
    return bench_report_row(report, &row, err);
}

/* ---- numbers --------------------------------------------------------------------------------------------------- */

/* Multiplications and shifts of xxHash32's last steps; enough that rows look independent. */
uint32_t bench_hash(size_t i, uint32_t stream)
{
    uint32_t h = (uint32_t)i * 2654435761u + stream * 2246822519u;
    h = (h ^ h >> 15) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    return h ^ h >> 16;
}

float bench_noise(size_t i, uint32_t stream, float low, float high)
{
    return low + (high - low) * ((float)(bench_hash(i, stream) >> 8) * 0x1p-24f);
}

uint32_t bench_whole(size_t i, uint32_t stream, uint32_t below)
{
    return (bench_hash(i, stream) >> 8) % below;
}
