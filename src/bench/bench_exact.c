/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung bench exact: how much slower exact softmax attention is than the fp32 yardstick of rung/kern.h, as ratios of
 * processor time in one run, each with a bar that it must not pass; and that memory grows as the tokens do.
 */
#include <math.h>

#include "bench_inside.h"
#include "rung/kern.h"
#include "rung/mech.h"
#include "rung/par.h"

/* The sizes that the bars are for. */
enum { TOKENS = 4096, DIM = 24 };
static const char *const standard[] = {"bf16", "f16", "e8m3", "e5m2", "f32", "e8m25", "q3.12", "q8.20", "f64"};
_Static_assert(RUNG_COUNT(standard) <= RUNG_BENCH_FORMATS_MAX, "the record has room for all formats");

/* Floats of at most 10 mantissa bits have table and fp32 lanes to themselves. */
static double bar_of(const rung_fmt *fmt)
{
    return fmt->kind == RUNG_FMT_FLOAT && fmt->mantissa_bits <= 10 ? 3.5 : 8;
}

/* ---- one layer, one head --------------------------------------------------------------------------------------- */

typedef struct bench {
    size_t tokens, dim, threads, runs;
    rung_arena arena;
    float *in[3], *o, *room;    /* fp32: q, k, v = [tokens][dim]; scratch of every worker */
    double *exact[3], *exact_o; /* the same numbers, rounded to a format */
    double *state, *scratch;
    rung_mech_conf conf;
} bench;

static double *take(bench *b, size_t count, rung_error *err)
{
    return rung_arena_alloc(&b->arena, count, sizeof(double), err);
}

static size_t yardstick_room(const bench *b)
{
    return RUNG_YARDSTICK_QUERIES * (2 * b->dim + 1);
}

/* Scores of a standard deviation of one: q and k of 1/dim^(1/4). */
static void draw(bench *b, uint64_t seed)
{
    rung_rng rng;
    rung_rng_init(&rng, seed, 1, b->tokens);
    for (size_t i = 0; i < 3; i++)
        for (size_t e = 0; e < b->tokens * b->dim; e++)
            b->in[i][e] = (float)(rung_rng_normal(&rng) * (i < 2 ? pow((double)b->dim, -0.25) : 1));
}

static rung_status bench_init(bench *b, const rung_bench_options *v, uint64_t seed, rung_error *err)
{
    *b = (bench){.tokens = v->tokens.len ? (size_t)v->tokens.at[0] : TOKENS,
                 .dim = v->dim ? (size_t)v->dim : DIM,
                 .runs = (size_t)v->runs};
    rung_arena_init(&b->arena);
    b->threads = v->threads ? (size_t)v->threads : rung_cpu_threads();
    b->conf = (rung_mech_conf){.mech = rung_mech_get("full"), .heads = 1, .dk = b->dim, .dv = b->dim, .causal = true};
    size_t count = b->tokens * b->dim;
    bool ok = true;
    for (size_t i = 0; i < 3; i++) {
        ok = (b->in[i] = rung_arena_alloc(&b->arena, count, sizeof(float), err)) && ok;
        ok = ok && (b->exact[i] = take(b, count, err));
    }
    ok = ok && (b->o = rung_arena_alloc(&b->arena, count, sizeof(float), err));
    ok = ok && (b->room = rung_arena_alloc(&b->arena, yardstick_room(b) * b->threads, sizeof(float), err));
    ok = ok && (b->exact_o = take(b, count, err));
    ok = ok && (b->state = take(b, rung_mech_state_capacity(&b->conf, b->tokens), err));
    ok = ok && (b->scratch = take(b, b->conf.mech->scratch(&b->conf, b->tokens) * b->threads, err));
    if (ok) draw(b, seed);
    return ok ? RUNG_OK : RUNG_SYSTEM;
}

static void yardstick_block(void *context, size_t block, size_t worker)
{
    const bench *b = context;
    size_t first = block * RUNG_YARDSTICK_QUERIES, left = b->tokens - first;
    rung_yardstick_get()(b->o, b->in[0], b->in[1], b->in[2], first,
                         left < RUNG_YARDSTICK_QUERIES ? left : RUNG_YARDSTICK_QUERIES, b->dim, b->dim,
                         b->room + worker * yardstick_room(b));
}

static void run_yardstick(bench *b)
{
    rung_par_for((b->tokens + RUNG_YARDSTICK_QUERIES - 1) / RUNG_YARDSTICK_QUERIES, b->threads, yardstick_block, b);
}

static void run_exact(bench *b, const rung_fmt *fmt)
{
    const rung_stretch_exact s = {.conf = &b->conf,
                                  .fmt = fmt,
                                  .o = b->exact_o,
                                  .state = b->state,
                                  .in = {b->exact[0], b->exact[1], b->exact[2]},
                                  .tokens = b->tokens,
                                  .scratch = b->scratch,
                                  .scratch_size = b->conf.mech->scratch(&b->conf, b->tokens)};
    rung_stretch_scan_exact(&s, b->threads);
}

/* ---- measuring ------------------------------------------------------------------------------------------------- */

bool rung_bench_too_slow(const rung_bench_exact_row *r)
{
    return r->ratio > r->bar; /* false for NAN */
}

/* In turns, so that a busy or slow phase of the machine meets both. The first turn warms up and is not counted. */
static void measure(rung_bench_exact_row *r, bench *b)
{
    double exact[RUNG_BENCH_RUNS_MAX], fp32[RUNG_BENCH_RUNS_MAX], ratio[RUNG_BENCH_RUNS_MAX];
    for (size_t i = 0; i < 3; i++)
        for (size_t e = 0; e < b->tokens * b->dim; e++) b->exact[i][e] = rung_num_round(&r->fmt, (double)b->in[i][e]);
    for (size_t run = 0; run <= b->runs; run++) {
        const size_t at = run ? run - 1 : 0;
        const double start = bench_cpu_s();
        run_yardstick(b);
        const double between = bench_cpu_s();
        run_exact(b, &r->fmt);
        exact[at] = bench_cpu_s() - between, fp32[at] = between - start, ratio[at] = exact[at] / fp32[at];
    }
    r->exact_ms = 1e3 * bench_median(exact, b->runs);
    r->fp32_ms = 1e3 * bench_median(fp32, b->runs);
    r->ratio = bench_median(ratio, b->runs);
    r->bar = b->tokens == TOKENS && b->dim == DIM ? bar_of(&r->fmt) : NAN;
    r->state_bytes = rung_mech_state_elements(&b->conf, b->tokens) * sizeof(double);
    r->twice_bytes = rung_mech_state_elements(&b->conf, 2 * b->tokens) * sizeof(double);
}

/* ---- the subject ----------------------------------------------------------------------------------------------- */

static rung_status parse_formats(rung_bench_exact_row *rows, size_t *count, const char *numbers, rung_error *err)
{
    rung_status status = RUNG_OK;
    *count = numbers ? 1 : RUNG_COUNT(standard);
    for (size_t i = 0; status == RUNG_OK && i < *count; i++)
        status = rung_fmt_parse(&rows[i].fmt, numbers ? numbers : standard[i], err);
    return status;
}

rung_status rung_bench_exact(rung_bench_exact_report *report, const rung_bench_options *conf,
                             const rung_bench_watch *watch, rung_error *err)
{
    bench b;
    size_t count;
    *report = (rung_bench_exact_report){0};
    if (conf->tokens.len > 1) return rung_fail(err, RUNG_USAGE, "bench exact takes one length: --tokens 4096");
    RUNG_TRY(parse_formats(report->row, &count, conf->numbers, err));
    rung_status status = bench_init(&b, conf, (uint64_t)conf->seed, err);
    report->tokens = b.tokens, report->dim = b.dim, report->threads = b.threads, report->runs = b.runs;
    while (status == RUNG_OK && report->count < count) {
        rung_bench_exact_row *row = &report->row[report->count++];
        measure(row, &b);
        report->missed += rung_bench_too_slow(row) || row->twice_bytes > 2 * row->state_bytes;
        if (watch->exact) status = watch->exact(watch->context, report, err);
    }
    rung_arena_clear(&b.arena);
    if (status == RUNG_OK && !conf->numbers) status = bench_mixed(report, conf, watch, err);
    return status;
}
