/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung bench products: the matrix products of a training step, one thread, as shares of the peak. Every shape
 * repeats itself until its operands are in the caches that they fit into; inside a step they are colder.
 */
#include "bench_inside.h"
#include "rung/kern.h"

#include <stdlib.h>

/* As the product sees them; a gradient of weights has a transposed first factor and is added to what there is. */
typedef struct product_shape {
    const char *name;
    size_t rows, cols, inner;
    bool gradient, panels;
} product_shape;

static const product_shape shapes[] = {
    {"64 x 128 x 128, w in panels", 64, 128, 128, false, true},
    {"64 x 512 x 128, w in panels", 64, 512, 128, false, true},
    {"64 x 128 x 512, w in panels", 64, 128, 512, false, true},
    {"128 x 512 x 128, w in rows", 128, 512, 128, false, false},
    {"128 x 128 x 512, w in rows", 128, 128, 512, false, false},
    {"512 x 128 x 128, gradient of weights", 512, 128, 128, true, false},
    {"128 x 512 x 128, gradient of weights", 128, 512, 128, true, false},
    {"28 x 32 x 32, attention", 28, 32, 32, false, true},
    {"28 x 64 x 32, attention", 28, 64, 32, false, true},
    {"64 x 8 x 64, a narrow head", 64, 8, 64, false, true},
};

/* The largest factor and the largest result above. */
enum { OPERAND_MAX = 512 * 128, GUARD = 1024 };

typedef struct operands {
    float *x, *w, *y;
} operands;

static rung_product product_of(const product_shape *s, const operands *o)
{
    return (rung_product){.y = o->y,
                          .x = o->x,
                          .panels = o->w,
                          .start = s->gradient ? o->y : NULL,
                          .rows = s->rows,
                          .cols = s->cols,
                          .inner = s->inner,
                          .y_row = s->cols,
                          .x_row = s->gradient ? 1 : s->inner,
                          .x_inner = s->gradient ? s->rows : 1,
                          .w_row = s->panels ? 0 : s->cols,
                          .start_row = s->cols};
}

static double seconds_of(const rung_product *p, size_t times)
{
    double start = rung_wall_s();
    for (size_t i = 0; i < times; i++) rung_kernels_get()->multiply(p);
    return rung_wall_s() - start;
}

/* GFLOP/s, the best of a few: see bench_peak_now. */
static double gflops_of(const product_shape *s, const operands *o, const rung_bench_options *conf)
{
    enum { TRIES = 8 };
    rung_product p = product_of(s, o);
    double flops = 2e-9 * (double)s->rows * (double)s->cols * (double)s->inner, best = 0;
    size_t times = bench_times(seconds_of(&p, 1), 2e-3, conf);
    for (int i = 0; i < TRIES; i++) {
        double now = flops * (double)times / seconds_of(&p, times);
        if (now > best) best = now;
    }
    return best;
}

static rung_status measure(rung_bench_report *report, const operands *o, rung_error *err)
{
    bench_samples gflops[RUNG_COUNT(shapes)] = {0};
    for (size_t run = 0; run < report->runs; run++) {
        bench_report_peak(report);
        for (size_t i = 0; i < RUNG_COUNT(shapes); i++)
            bench_samples_add(&gflops[i], gflops_of(&shapes[i], o, report->conf));
    }
    for (size_t i = 0; i < RUNG_COUNT(shapes); i++) {
        rung_bench_row row = {0};
        snprintf(row.name, sizeof row.name, "%s", shapes[i].name);
        bench_row_samples(&row, "gflops", &gflops[i]);
        bench_report_share(&row, "share_of_peak", &gflops[i], report);
        RUNG_TRY(bench_report_row(report, &row, err));
    }
    return RUNG_OK;
}

/* Numbers around 0, and zeros where sums are added up, which shrink so that they stay numbers. */
static void fill(const operands *o)
{
    for (size_t i = 0; i < OPERAND_MAX; i++) {
        o->x[i] = bench_noise(i, 1, -1e-3f, 1e-3f);
        o->w[i] = bench_noise(i, 2, -1e-3f, 1e-3f);
        o->y[i] = 0;
    }
}

rung_status bench_products(rung_bench_report *report, rung_error *err)
{
    rung_arena arena;
    operands o;
    RUNG_TRY(bench_report_room(report, RUNG_COUNT(shapes), err));
    report->threads = 1;
    rung_arena_init(&arena);
    o.x = rung_arena_alloc(&arena, OPERAND_MAX + GUARD, sizeof *o.x, err);
    o.w = rung_arena_alloc(&arena, OPERAND_MAX + GUARD, sizeof *o.w, err);
    o.y = rung_arena_alloc(&arena, OPERAND_MAX + GUARD, sizeof *o.y, err);
    rung_status status = o.x && o.w && o.y ? RUNG_OK : RUNG_SYSTEM;
    if (status == RUNG_OK) {
        fill(&o);
        status = measure(report, &o, err);
    }
    rung_arena_clear(&arena);
    return status;
}
