/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Speed of the exact arithmetic: nanoseconds per element from the first cache, per format and instruction set, and
 * the ratio to a plain double loop of the same shape in the same run: the f64 kernel of the same instruction set where
 * that is nothing but the plain loop, and a loop over libm for the two shapes with an exp.
 */
#include "rung/num.h"

#include <math.h>

enum { LANES = 512, REPEATS = 25 }; /* 5 arrays of 4 KiB fit into a first-level cache of 32 KiB */

typedef struct data {
    double x[LANES], y[LANES], acc[LANES], m[LANES], den[LANES], a[LANES], e[LANES];
} data;

typedef void kernel(const rung_num_kernels *k, const rung_fmt *fmt, data *d);

static void run_round(const rung_num_kernels *k, const rung_fmt *fmt, data *d)
{
    k->round(fmt, d->acc, d->x, LANES);
}

static void run_mul_add(const rung_num_kernels *k, const rung_fmt *fmt, data *d)
{
    k->mul_add(fmt, d->acc, d->x, d->y, LANES);
}

static void run_softmax_step(const rung_num_kernels *k, const rung_fmt *fmt, data *d)
{
    k->softmax_step(fmt, d->m, d->den, d->a, d->e, d->y, LANES);
}

static void run_exp(const rung_num_kernels *k, const rung_fmt *fmt, data *d)
{
    k->fn(fmt, RUNG_FN_EXP, d->acc, d->x, LANES);
}

/* The step as a program would write it that does not need exact bits. */
static void plain_softmax_step(const rung_num_kernels *k, const rung_fmt *fmt, data *d)
{
    (void)k, (void)fmt;
    for (size_t i = 0; i < LANES; i++) {
        const double top = d->y[i] > d->m[i] ? d->y[i] : d->m[i];
        d->a[i] = exp(d->m[i] - top);
        d->e[i] = exp(d->y[i] - top);
        d->den[i] = d->den[i] * d->a[i] + d->e[i];
        d->m[i] = top;
    }
}

static void plain_exp(const rung_num_kernels *k, const rung_fmt *fmt, data *d)
{
    (void)k, (void)fmt;
    for (size_t i = 0; i < LANES; i++) d->acc[i] = exp(d->x[i]);
}

static void reset(data *d, const rung_fmt *fmt)
{
    rung_rng rng;
    rung_rng_init(&rng, 1, 2, 3);
    for (size_t i = 0; i < LANES; i++) {
        d->x[i] = rung_num_round(fmt, rung_rng_normal(&rng));
        d->y[i] = rung_num_round(fmt, rung_rng_normal(&rng));
        d->acc[i] = d->den[i] = 0;
        d->m[i] = rung_num_round(fmt, rung_rng_normal(&rng));
    }
}

/* Nanoseconds per element: the best of a few runs of about a millisecond, which hides other load on the machine. */
static double measure(kernel *run, const rung_num_kernels *k, const rung_fmt *fmt)
{
    static data d;
    double best = INFINITY;
    reset(&d, fmt);
    size_t calls = 1;
    for (double spent = 0; spent < 0.0005; calls *= 2) {
        const double start = rung_wall_s();
        for (size_t c = 0; c < calls; c++) run(k, fmt, &d);
        spent = rung_wall_s() - start;
    }
    for (size_t r = 0; r < REPEATS; r++) {
        reset(&d, fmt);
        const double start = rung_wall_s();
        for (size_t c = 0; c < calls; c++) run(k, fmt, &d);
        best = fmin(best, (rung_wall_s() - start) * 1e9 / ((double)calls * LANES));
    }
    return best;
}

static const struct {
    const char *name;
    kernel *run, *plain; /* plain NULL: the f64 kernel */
} SHAPES[] = {{"round", run_round, NULL},
              {"mul_add", run_mul_add, NULL},
              {"softmax_step", run_softmax_step, plain_softmax_step},
              {"exp", run_exp, plain_exp}};

static void print_row(const rung_fmt *fmt, const rung_num_kernels *k, const double *plain)
{
    printf("%-8s %-7s", fmt->name, k->name);
    for (size_t s = 0; s < RUNG_COUNT(SHAPES); s++) {
        const double ns = measure(SHAPES[s].run, k, fmt);
        printf("  %8.3f (%5.2fx)", ns, ns / plain[s]);
    }
    printf("\n");
}

int main(void)
{
    const char *const names[] = {"bf16", "f32", "e8m3", "q3.12", "e11m25", "f64"};
    printf("num: ns per element from the first cache (ratio to a plain double loop)\n%-8s %-7s", "format", "isa");
    for (size_t s = 0; s < RUNG_COUNT(SHAPES); s++) printf("  %17s", SHAPES[s].name);
    printf("\n");
    for (int isa = 0; isa <= (int)rung_cpu_isa(); isa++) {
        const rung_num_kernels *k = rung_num_kernels_of((rung_isa)isa);
        double plain[RUNG_COUNT(SHAPES)];
        rung_fmt fmt;
        if (rung_fmt_parse(&fmt, "f64", NULL) != RUNG_OK) return 1;
        for (size_t s = 0; s < RUNG_COUNT(SHAPES); s++)
            plain[s] = measure(SHAPES[s].plain ? SHAPES[s].plain : SHAPES[s].run, k, &fmt);
        for (size_t n = 0; n < RUNG_COUNT(names); n++) {
            if (rung_fmt_parse(&fmt, names[n], NULL) != RUNG_OK) return 1;
            print_row(&fmt, k, plain);
        }
    }
    return 0;
}
