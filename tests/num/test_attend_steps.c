/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The attention kernel of every instruction set against the steps of the specification, one scalar operation at a time:
 * formats of every kind of lane, runs of keys that some lanes do not see, lengths around the tiles, rising maxima, weights
 * that vanish, values that are minus zero, products below the least normal number and beyond the range.
 */
#include "num/reference.h"

enum { D_MAX = 9, KEYS_MAX = 100, RUNS_MAX = 12, L = RUNG_ATTEND_LANES };

typedef struct job_data {
    double q[D_MAX * L], k[KEYS_MAX * D_MAX], v[KEYS_MAX * D_MAX];
    double num[D_MAX * L], den[L], want_num[D_MAX * L], want_den[L];
    double scratch[RUNG_ATTEND_SCRATCH(D_MAX, D_MAX)];
    rung_attend_run run[RUNS_MAX];
    rung_attend job;
} job_data;

/* ---- the steps ------------------------------------------------------------------------------------------------------ */

typedef struct query {
    double m, den, num[D_MAX];
} query;

static double score_of(const job_data *d, const rung_fmt *fmt, size_t lane, const double *k)
{
    double s = 0;
    for (size_t i = 0; i < d->job.dk; i++) s = rung_num_add(fmt, s, rung_num_mul(fmt, d->q[i * L + lane], k[i]));
    return s;
}

static double exp_of_difference(const rung_fmt *fmt, double a, double b)
{
    return rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, a, b));
}

static void absorb(query *x, const job_data *d, const rung_fmt *fmt, double s, const double *v)
{
    const double top = s > x->m ? s : x->m;
    const double a = isinf(x->m) && !isinf(s) ? 0 : exp_of_difference(fmt, x->m, top),
                 e = exp_of_difference(fmt, s, top);
    x->den = rung_num_add(fmt, rung_num_mul(fmt, x->den, a), e);
    for (size_t i = 0; i < d->job.dv; i++)
        x->num[i] = rung_num_add(fmt, rung_num_mul(fmt, x->num[i], a), rung_num_mul(fmt, e, v[i]));
    x->m = top;
}

static void weigh(query *x, const job_data *d, const rung_fmt *fmt, double s, const double *v)
{
    const double e = exp_of_difference(fmt, s, x->m);
    x->den = rung_num_add(fmt, x->den, e);
    for (size_t i = 0; i < d->job.dv; i++) x->num[i] = rung_num_add(fmt, x->num[i], rung_num_mul(fmt, e, v[i]));
}

typedef enum phase { ONLINE, RAISE, WEIGH } phase;

static void walk(query *x, const job_data *d, const rung_fmt *fmt, size_t lane, phase what)
{
    for (const rung_attend_run *r = d->run; r < d->run + d->job.runs; r++)
        for (size_t j = 0; j < r->count && lane >= r->from && lane < r->to; j++) {
            const double *v = r->v + (ptrdiff_t)j * r->v_stride;
            const double s = score_of(d, fmt, lane, r->k + (ptrdiff_t)j * r->k_stride);
            if (what == ONLINE) absorb(x, d, fmt, s, v);
            if (what == RAISE && s > x->m) x->m = s;
            if (what == WEIGH) weigh(x, d, fmt, s, v);
        }
}

static void solve(job_data *d, const rung_fmt *fmt)
{
    for (size_t lane = 0; lane < d->job.lanes; lane++) {
        query x = {.m = fmt->kind == RUNG_FMT_FIXED ? fmt->smallest : -INFINITY};
        if (d->job.two_pass) walk(&x, d, fmt, lane, RAISE);
        walk(&x, d, fmt, lane, d->job.two_pass ? WEIGH : ONLINE);
        d->want_den[lane] = x.den;
        for (size_t i = 0; i < d->job.dv; i++) d->want_num[i * L + lane] = x.num[i];
    }
}

/* ---- problems ------------------------------------------------------------------------------------------------------- */

static double draw(const rung_fmt *fmt, rung_rng *rng, double scale, int spread)
{
    const double x = scale * rung_rng_normal(rng) * ldexp(1, -(int)rung_rng_below(rng, (uint64_t)spread + 1));
    return rung_rng_below(rng, 16) ? rung_num_round(fmt, x) : 0;
}

/* Runs of keys in either direction, each seen by a range of lanes. */
static void draw_runs(job_data *d, rung_rng *rng, size_t keys)
{
    size_t done = 0, runs = 0;
    while (done < keys) {
        rung_attend_run *r = &d->run[runs++];
        const size_t left = keys - done, n = runs == RUNS_MAX ? left : 1 + rung_rng_below(rng, left);
        const bool back = rung_rng_below(rng, 2), all = rung_rng_below(rng, 2);
        const size_t first = back ? done + n - 1 : done;
        const ptrdiff_t step = back ? -1 : 1;
        const size_t from = all ? 0 : rung_rng_below(rng, d->job.lanes);
        const size_t to = all ? d->job.lanes : from + 1 + rung_rng_below(rng, d->job.lanes - from);
        *r = (rung_attend_run){.k = d->k + first * D_MAX,
                               .v = d->v + first * D_MAX,
                               .k_stride = step * D_MAX,
                               .v_stride = step * D_MAX,
                               .count = n,
                               .from = from,
                               .to = to};
        done += n;
    }
    d->job.runs = runs;
}

static void draw_job(job_data *d, const rung_fmt *fmt, rung_rng *rng)
{
    static const size_t lengths[] = {1, 2, 5, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100};
    static const size_t widths[] = {1, 2, 3, 15, 16, 17, 32, 33, 64};
    const size_t keys = lengths[rung_rng_below(rng, RUNG_COUNT(lengths))];
    d->job = (rung_attend){.dk = 1 + rung_rng_below(rng, D_MAX),
                           .dv = 1 + rung_rng_below(rng, D_MAX),
                           .lanes = widths[rung_rng_below(rng, RUNG_COUNT(widths))],
                           .q = d->q,
                           .run = d->run,
                           .two_pass = rung_rng_below(rng, 4) == 0,
                           .scratch = d->scratch};
    const int spread = rung_rng_below(rng, 3) ? 2 : 14;
    const double sharp = rung_rng_below(rng, 4) ? 1 : 8, minus = rung_rng_below(rng, 4) ? 0 : 4;
    for (size_t i = 0; i < RUNG_COUNT(d->q); i++) d->q[i] = draw(fmt, rng, sharp, spread);
    for (size_t i = 0; i < RUNG_COUNT(d->k); i++) d->k[i] = draw(fmt, rng, 1, spread);
    for (size_t i = 0; i < RUNG_COUNT(d->v); i++) {
        d->v[i] = draw(fmt, rng, 1, spread);
        if (minus > 0 && fmt->kind == RUNG_FMT_FLOAT && rung_rng_below(rng, 8) == 0) d->v[i] = -0.0;
    }
    draw_runs(d, rng, keys);
}

static void compare(const job_data *d, const rung_fmt *fmt, const rung_num_kernels *kernels, size_t at)
{
    for (size_t l = 0; l < d->job.lanes; l++) {
        if (!ref_same(d->den[l], d->want_den[l]))
            fail_msg("%s %s, job %zu: den of lane %zu is %a, not %a", kernels->name, fmt->name, at, l, d->den[l],
                     d->want_den[l]);
        for (size_t i = 0; i < d->job.dv; i++)
            if (!ref_same(d->num[i * L + l], d->want_num[i * L + l]))
                fail_msg("%s %s, job %zu: num %zu of lane %zu is %a, not %a", kernels->name, fmt->name, at, i, l,
                         d->num[i * L + l], d->want_num[i * L + l]);
    }
}

static void check_format(const char *name, size_t jobs, size_t *fast)
{
    static job_data d;
    const rung_fmt fmt = ref_format(name);
    rung_rng rng;
    rung_rng_init(&rng, 41, 0, 0);
    for (size_t at = 0; at < jobs; at++) {
        draw_job(&d, &fmt, &rng);
        solve(&d, &fmt);
        for (int isa = 0; isa <= (int)rung_cpu_isa(); isa++) {
            const rung_num_kernels *kernels = rung_num_kernels_of((rung_isa)isa);
            memset(d.scratch, 0xff, sizeof d.scratch);
            if (!kernels->attend(&fmt, d.num, d.den, &d.job)) continue;
            compare(&d, &fmt, kernels, at);
            *fast += isa == (int)rung_cpu_isa();
        }
    }
}

static void every_kernel_does_the_steps(void **state)
{
    (void)state;
    static const char *const names[] = {"bf16",  "f16",  "e8m3",  "e5m2",  "e4m3",  "e3m3",   "e2m1",  "e8m10",
                                        "e8m1",  "f32",  "e8m25", "e4m20", "e10m1", "e11m25", "e11m5", "f64",
                                        "q3.12", "q0.7", "q2.2",  "q8.14", "q8.15", "q8.20",  "q20.30"};
    const size_t jobs = effort(300, 20);
    for (size_t f = 0; f < RUNG_COUNT(names); f++) {
        size_t fast = 0;
        check_format(names[f], jobs, &fast);
        const bool some = rung_cpu_isa() != RUNG_ISA_REF;
        if (some && fast < jobs / 20) fail_msg("%s: only %zu of %zu jobs took the fast way", names[f], fast, jobs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kernel_does_the_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
