/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Recurrent mechanisms in exact arithmetic (scan form) beside their step form in fp32: processor time per token of one
 * thread, in turns over the same inputs, and the ratio against a bar. Fails when a bar is missed.
 */
#include "rung/mech.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TOKENS = 512, DIM = 32, REPEATS = 5 };
static const double bar = 6;

static const char *const names[] = {"linear", "retnet", "gla",   "mamba2", "delta",    "gdelta",
                                    "kda",    "rwkv7",  "mamba", "rnn",    "loglinear"};
static const char *const formats[] = {"f32", "bf16", "q3.12", "e8m20"};

static rung_error err;

static void need(rung_status status)
{
    if (status == RUNG_OK) return;
    fprintf(stderr, "bench_exact_mech: %s\n", err.text);
    exit(4);
}

static void *take(rung_arena *arena, size_t count, size_t size)
{
    void *x = rung_arena_alloc(arena, count + 1, size, &err);
    if (!x) need(RUNG_SYSTEM);
    return x;
}

/* Numbers of the kind that the input has: slow decays, gates in [0, 1]. */
static double draw(const rung_mech_input *input, rung_rng *rng)
{
    switch (input->source) {
    case RUNG_FROM_GATE:
    case RUNG_FROM_KEEP:
        return rung_rng_unit(rng);
    case RUNG_FROM_DECAY:
    case RUNG_FROM_LOG_GATE:
    case RUNG_FROM_RATE:
        return -0.1 * rung_rng_unit(rng);
    case RUNG_FROM_SOFTPLUS:
        return 0.1 * rung_rng_unit(rng);
    default:
        return strcmp(input->name, "A") == 0 ? -1 - rung_rng_unit(rng) : 0.3 * rung_rng_normal(rng);
    }
}

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct pair {
    rung_stretch_f32 fast;
    rung_stretch_exact exact;
    size_t state;
} pair;

static void prepare(pair *p, rung_arena *arena, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    rung_rng rng;
    rung_rng_init(&rng, 1, 2, 3);
    size_t scratch = conf->mech->scratch(conf, TOKENS);
    p->state = rung_mech_state_capacity(conf, TOKENS);
    p->fast = (rung_stretch_f32){.conf = conf, .tokens = TOKENS, .scratch_size = scratch};
    p->exact = (rung_stretch_exact){.conf = conf, .tokens = TOKENS, .fmt = fmt, .scratch_size = scratch};
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        const rung_mech_input *input = &conf->mech->inputs[i];
        size_t count = rung_mech_row(input, conf) * (rung_mech_is_constant(input) ? 1 : TOKENS);
        if (count == 0) continue;
        float *x = take(arena, count, sizeof *x);
        double *y = take(arena, count, sizeof *y);
        for (size_t e = 0; e < count; e++) {
            y[e] = rung_num_round(fmt, draw(input, &rng));
            x[e] = (float)y[e];
        }
        p->fast.in[i] = x, p->exact.in[i] = y;
    }
    size_t out = TOKENS * conf->heads * conf->dv;
    p->fast.o = take(arena, out, sizeof(float)), p->exact.o = take(arena, out, sizeof(double));
    p->fast.state = take(arena, p->state, sizeof(float)), p->exact.state = take(arena, p->state, sizeof(double));
    p->fast.scratch = take(arena, scratch, sizeof(float)), p->exact.scratch = take(arena, scratch, sizeof(double));
}

static double ratio_of(const rung_mech_conf *conf, const rung_fmt *fmt, double *step_us)
{
    pair p;
    rung_arena arena;
    double fast = INFINITY, exact = INFINITY;
    rung_arena_init(&arena);
    prepare(&p, &arena, conf, fmt);
    for (int r = 0; r < REPEATS; r++) {
        memset(p.fast.state, 0, p.state * sizeof(float));
        memset(p.exact.state, 0, p.state * sizeof(double));
        double start = cpu_s();
        rung_stretch_step_f32(&p.fast);
        double between = cpu_s();
        rung_stretch_scan_exact(&p.exact, 1);
        fast = fmin(fast, between - start), exact = fmin(exact, cpu_s() - between);
    }
    rung_arena_clear(&arena);
    *step_us = 1e6 * fast / TOKENS;
    return exact / fast;
}

int main(void)
{
    int missed = 0;
    printf("exact scan over fp32 step, one head, dk = dv = %d, %d tokens, one thread; bar %g\n%-12s %14s", DIM, TOKENS,
           bar, "mechanism", "fp32 us/token");
    for (size_t f = 0; f < RUNG_COUNT(formats); f++) printf(" %8s", formats[f]);
    printf("\n");
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        rung_mech_conf conf = {.mech = rung_mech_get(names[i]), .heads = 1, .dk = DIM, .dv = DIM, .causal = true};
        double ratio[RUNG_COUNT(formats)], step_us = 0;
        bool over = false;
        rung_param_defaults(conf.params, conf.mech->params);
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
            rung_fmt fmt;
            need(rung_fmt_parse(&fmt, formats[f], &err));
            ratio[f] = ratio_of(&conf, &fmt, &step_us);
            over |= ratio[f] > bar;
        }
        printf("%-12s %14.3f", names[i], step_us);
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) printf(" %8.1f", ratio[f]);
        printf("%s\n", over ? "  MISSED" : "");
        missed += over;
    }
    return missed ? 1 : 0;
}
