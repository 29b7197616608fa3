/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung bench exact: how much slower exact softmax attention is than the fp32 yardstick of rung/kern.h, as ratios of
 * processor time in one run, each with a bar that it must not pass; and that memory grows as the tokens do.
 */
#include <math.h>

#include "bench.h"
#include "json_out.h"
#include "output.h"
#include "rung/kern.h"
#include "rung/mech.h"
#include "rung/par.h"

/* The sizes that the bars are for. */
enum { TOKENS = 4096, DIM = 24 };
static const char *const standard[] = {"bf16", "f16", "e8m3", "e5m2", "f32", "e8m25", "q3.12", "q8.20", "f64"};

/* Floats of at most 10 mantissa bits have table and fp32 lanes to themselves. */
static double bar_of(const rung_fmt *fmt)
{
    return fmt->kind == RUNG_FMT_FLOAT && fmt->mantissa_bits <= 10 ? 8 : 16;
}

/* ---- one layer, one head --------------------------------------------------------------------------------------------- */

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

static rung_status bench_init(bench *b, const rung_bench_values *v, uint64_t seed, rung_error *err)
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

/* ---- measuring ------------------------------------------------------------------------------------------------------- */

typedef struct row {
    rung_fmt fmt;
    double exact_ms, fp32_ms, ratio, bar; /* medians; bar NAN: not these sizes */
    size_t state_bytes, twice_bytes;      /* of n tokens and of 2n */
} row;

static bool is_over(const row *r)
{
    return r->ratio > r->bar; /* false for NAN */
}

/* In turns, so that a busy or slow phase of the machine meets both. The first turn warms up and is not counted. */
static void measure(row *r, bench *b)
{
    double exact[RUNG_BENCH_RUNS_MAX], fp32[RUNG_BENCH_RUNS_MAX], ratio[RUNG_BENCH_RUNS_MAX];
    for (size_t i = 0; i < 3; i++)
        for (size_t e = 0; e < b->tokens * b->dim; e++) b->exact[i][e] = rung_num_round(&r->fmt, (double)b->in[i][e]);
    for (size_t run = 0; run <= b->runs; run++) {
        const size_t at = run ? run - 1 : 0;
        const double start = rung_bench_cpu_s();
        run_yardstick(b);
        const double between = rung_bench_cpu_s();
        run_exact(b, &r->fmt);
        exact[at] = rung_bench_cpu_s() - between, fp32[at] = between - start, ratio[at] = exact[at] / fp32[at];
    }
    r->exact_ms = 1e3 * rung_bench_median(exact, b->runs);
    r->fp32_ms = 1e3 * rung_bench_median(fp32, b->runs);
    r->ratio = rung_bench_median(ratio, b->runs);
    r->bar = b->tokens == TOKENS && b->dim == DIM ? bar_of(&r->fmt) : NAN;
    r->state_bytes = rung_mech_state_elements(&b->conf, b->tokens) * sizeof(double);
    r->twice_bytes = rung_mech_state_elements(&b->conf, 2 * b->tokens) * sizeof(double);
}

/* ---- output ---------------------------------------------------------------------------------------------------------- */

static void print_head(rung_buf *out, const bench *b)
{
    rung_buf_printf(out,
                    "exact softmax attention against fp32 (%s), one causal layer, one head, n = %zu, dk = dv = %zu, "
                    "%zu %s\n%-8s %12s %12s %8s %6s %14s %14s\n",
                    rung_isa_name(rung_cpu_isa()), b->tokens, b->dim, b->threads,
                    b->threads == 1 ? "thread" : "threads", "format", "exact ms", "fp32 ms", "ratio", "bar",
                    "bytes at n", "bytes at 2n");
}

static void print_row(rung_buf *out, const row *r)
{
    char bar[16] = "-";
    if (!isnan(r->bar)) snprintf(bar, sizeof bar, "%.0f", r->bar);
    rung_buf_printf(out, "%-8s %12.3f %12.3f %8.2f %6s %14zu %14zu%s\n", r->fmt.name, r->exact_ms, r->fp32_ms, r->ratio,
                    bar, r->state_bytes, r->twice_bytes, is_over(r) ? "  too slow" : "");
}

static void print_json(rung_buf *text, const bench *b, const row *rows, size_t count)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.bench/1", true);
    rung_jout_string(&out, "instruction_set", rung_isa_name(rung_cpu_isa()));
    rung_jout_int(&out, "tokens", (int64_t)b->tokens);
    rung_jout_int(&out, "dim", (int64_t)b->dim);
    rung_jout_int(&out, "threads", (int64_t)b->threads);
    rung_jout_int(&out, "runs", (int64_t)b->runs);
    rung_jout_array(&out, "rows");
    for (const row *r = rows; r < rows + count; r++) {
        rung_jout_flat_object(&out, NULL);
        rung_jout_string(&out, "format", r->fmt.name);
        rung_jout_real(&out, "exact_ms", r->exact_ms);
        rung_jout_real(&out, "fp32_ms", r->fp32_ms);
        rung_jout_real(&out, "ratio", r->ratio);
        rung_jout_real(&out, "bar", r->bar);
        rung_jout_bool(&out, "too_slow", is_over(r));
        rung_jout_int(&out, "state_bytes", (int64_t)r->state_bytes);
        rung_jout_int(&out, "state_bytes_at_twice_the_tokens", (int64_t)r->twice_bytes);
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    rung_jout_finish(&out);
}

/* ---- the subject ----------------------------------------------------------------------------------------------------- */

/* Rows appear as they are measured. */
static rung_status measure_all(row *rows, size_t count, bench *b, const rung_call *call, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < count; i++) {
        rung_buf line;
        measure(&rows[i], b);
        if (call->json) continue;
        rung_buf_init(&line);
        if (i == 0) print_head(&line, b);
        print_row(&line, &rows[i]);
        status = rung_out_buf(&line, err);
        rung_buf_clear(&line);
        if (status == RUNG_OK) status = rung_out_finish(err);
    }
    return status;
}

static rung_status parse_formats(row *rows, size_t *count, const char *numbers, rung_error *err)
{
    rung_status status = RUNG_OK;
    *count = numbers ? 1 : RUNG_COUNT(standard);
    for (size_t i = 0; status == RUNG_OK && i < *count; i++)
        status = rung_fmt_parse(&rows[i].fmt, numbers ? numbers : standard[i], err);
    return status;
}

int rung_bench_exact(const rung_call *call, rung_error *err)
{
    const rung_bench_values *v = call->values;
    row rows[RUNG_COUNT(standard)] = {0};
    bench b;
    size_t count, over = 0;
    if (v->tokens.len > 1) return rung_fail(err, RUNG_USAGE, "bench exact takes one length: --tokens 4096");
    rung_status status = parse_formats(rows, &count, v->numbers, err);
    if (status != RUNG_OK) return status;
    status = bench_init(&b, v, (uint64_t)call->seed, err);
    if (status == RUNG_OK) status = measure_all(rows, count, &b, call, err);
    if (status == RUNG_OK && call->json) {
        rung_buf text;
        rung_buf_init(&text);
        print_json(&text, &b, rows, count);
        status = rung_out_buf(&text, err);
        rung_buf_clear(&text);
    }
    rung_arena_clear(&b.arena);
    for (size_t i = 0; i < count; i++) over += is_over(&rows[i]) || rows[i].twice_bytes > 2 * rows[i].state_bytes;
    return status != RUNG_OK ? (int)status : over ? RUNG_NEGATIVE : 0;
}
