/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Softmax attention of one head in progress. Exact, per key with score s and value v, in the order of the calls:
 *   m' = max(m, s);  a = e^(m - m');  e = e^(s - m');  den = den a + e;  num = num a + e v;  in the end o = num / den,
 * every operation rounded. In two passes: m is the largest score; then den = den + e^(s - m), num = num + e^(s - m) v.
 * Fast: as the first, per tile of 64 keys, with one a for a tile.
 */
#include "softmax.h"

#include "rung/kern.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- fast -------------------------------------------------------------------------------------------------------- */

void rung_softmax_begin_f32(softmax_f32 *s, float *o, const float *q, const rung_mech_conf *conf)
{
    *s = (softmax_f32){.q = q, .o = o, .max = -INFINITY, .dk = conf->dk, .dv = conf->dv};
    memset(o, 0, conf->dv * sizeof *o);
}

/* Adds a tile of scores, which are overwritten, and of values. */
static void add_tile_f32(softmax_f32 *s, float *score, const float *const *value, size_t count)
{
    const rung_kernels *kern = rung_kernels_get();
    float max = s->max;
    for (size_t j = 0; j < count; j++)
        if (score[j] > max) max = score[j];
    if (s->sum != 0 && max != s->max) {
        float fade = expf(s->max - max);
        s->sum *= fade;
        kern->scale(s->o, fade, s->dv);
    }
    s->max = max;
    for (size_t j = 0; j < count; j++) score[j] -= max;
    kern->exp(score, score, count);
    for (size_t j = 0; j < count; j++) {
        s->sum += score[j];
        kern->axpy(s->o, score[j], value[j], s->dv);
    }
}

void rung_softmax_add_pairs_f32(softmax_f32 *s, const float *k, const float *v, size_t count, size_t k_stride,
                                size_t v_stride)
{
    const rung_kernels *kern = rung_kernels_get();
    float score[SOFTMAX_TILE];
    const float *value[SOFTMAX_TILE];
    for (size_t done = 0; done < count; done += SOFTMAX_TILE) {
        size_t n = size_min(SOFTMAX_TILE, count - done);
        for (size_t j = 0; j < n; j++) {
            score[j] = kern->dot(s->q, k + (done + j) * k_stride, s->dk);
            value[j] = v + (done + j) * v_stride;
        }
        add_tile_f32(s, score, value, n);
    }
}

void rung_softmax_add_f32(softmax_f32 *s, const float *slot, size_t count, size_t stride)
{
    rung_softmax_add_pairs_f32(s, slot, slot + s->dk, count, stride, stride);
}

void rung_softmax_add_tile_f32(softmax_f32 *s, const float *const *slot, size_t count)
{
    const rung_kernels *kern = rung_kernels_get();
    float score[SOFTMAX_TILE];
    const float *value[SOFTMAX_TILE];
    for (size_t j = 0; j < count; j++) {
        score[j] = kern->dot(s->q, slot[j], s->dk);
        value[j] = slot[j] + s->dk;
    }
    add_tile_f32(s, score, value, count);
}

void rung_softmax_add_scored_f32(softmax_f32 *s, const float *score, const float *value, size_t count, size_t stride)
{
    float copy[SOFTMAX_TILE];
    const float *tile[SOFTMAX_TILE];
    for (size_t done = 0; done < count; done += SOFTMAX_TILE) {
        size_t n = size_min(SOFTMAX_TILE, count - done);
        memcpy(copy, score + done, n * sizeof *copy);
        for (size_t j = 0; j < n; j++) tile[j] = value + (done + j) * stride;
        add_tile_f32(s, copy, tile, n);
    }
}

/* The key with the largest score adds 1 to the sum, so the sum is 0 only if there was no key. */
void rung_softmax_end_f32(softmax_f32 *s)
{
    if (s->sum != 0) rung_kernels_get()->scale(s->o, 1.0f / s->sum, s->dv);
}

/* ---- exact ------------------------------------------------------------------------------------------------------- */

/* The maximum before the first score. The first step replaces it and multiplies 0 by a finite a, so the result is the
 * same as starting from the first score. Fixed point has no infinity and uses its least value. */
static double no_maximum(const rung_fmt *fmt)
{
    return fmt->kind == RUNG_FMT_FIXED ? fmt->smallest : -INFINITY;
}

void rung_softmax_begin_exact(softmax_exact *s, double *o, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    *s = (softmax_exact){.o = o, .m = no_maximum(fmt), .dv = conf->dv};
    memset(o, 0, conf->dv * sizeof *o);
}

/* The specification, one operation per line. */
void rung_softmax_add_exact(softmax_exact *s, double score, const double *value, const rung_fmt *fmt)
{
    double higher = score > s->m ? score : s->m;
    double a = rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, s->m, higher));
    double e = rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, score, higher));
    s->den = rung_num_add(fmt, rung_num_mul(fmt, s->den, a), e);
    for (size_t i = 0; i < s->dv; i++)
        s->o[i] = rung_num_add(fmt, rung_num_mul(fmt, s->o[i], a), rung_num_mul(fmt, e, value[i]));
    s->m = higher;
    s->keys++;
}

void rung_softmax_raise_exact(softmax_exact *s, double score)
{
    s->m = score > s->m ? score : s->m;
}

void rung_softmax_weigh_exact(softmax_exact *s, double score, const double *value, const rung_fmt *fmt)
{
    double e = rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, score, s->m));
    s->den = rung_num_add(fmt, s->den, e);
    for (size_t i = 0; i < s->dv; i++) s->o[i] = rung_num_add(fmt, s->o[i], rung_num_mul(fmt, e, value[i]));
    s->keys++;
}

void rung_softmax_end_exact(softmax_exact *s, const rung_fmt *fmt)
{
    for (size_t i = 0; s->keys > 0 && i < s->dv; i++) s->o[i] = rung_num_div(fmt, s->o[i], s->den);
}

/* ---- exact, one lane per query ----------------------------------------------------------------------------------- */

size_t rung_lanes_size(const rung_mech_conf *conf)
{
    return (conf->dk + conf->dv + 6) * BLOCK + RUNG_ATTEND_SCRATCH(conf->dk, conf->dv);
}

softmax_lanes rung_lanes_init(double *scratch, const rung_mech_conf *conf)
{
    softmax_lanes l = {.q = scratch, .num = scratch + conf->dk * BLOCK};
    l.s = l.num + conf->dv * BLOCK;
    l.m = l.s + BLOCK;
    l.den = l.m + BLOCK;
    l.a = l.den + BLOCK;
    l.e = l.a + BLOCK;
    l.x = l.e + BLOCK;
    l.attend = l.x + BLOCK;
    return l;
}

void rung_lanes_clear(softmax_lanes *l, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    for (size_t n = 0; n < BLOCK; n++) l->m[n] = no_maximum(fmt), l->den[n] = 0;
    memset(l->num, 0, conf->dv * BLOCK * sizeof *l->num);
}

void rung_lanes_set_query(softmax_lanes *l, const double *q, size_t lane, const rung_mech_conf *conf)
{
    assert(lane < BLOCK);
    for (size_t i = 0; i < conf->dk; i++) l->q[i * BLOCK + lane] = q[i];
}

void rung_lanes_load(softmax_lanes *l, const double *q, size_t stride, size_t count, const rung_mech_conf *conf,
                     const rung_fmt *fmt)
{
    assert(count <= BLOCK);
    for (size_t n = 0; n < count; n++) rung_lanes_set_query(l, q + n * stride, n, conf);
    rung_lanes_clear(l, conf, fmt);
}

/* s = q.k */
static void score(softmax_lanes *l, const double *k, size_t from, size_t to, const rung_mech_conf *conf,
                  const rung_fmt *fmt)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    memset(l->s + from, 0, (to - from) * sizeof *l->s);
    for (size_t i = 0; i < conf->dk; i++) num->scale_add(fmt, l->s + from, l->q + i * BLOCK + from, k[i], to - from);
}

void rung_lanes_add(softmax_lanes *l, const double *k, const double *v, size_t from, size_t to,
                    const rung_mech_conf *conf, const rung_fmt *fmt)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    size_t n = to - from;
    score(l, k, from, to, conf, fmt);
    num->softmax_step(fmt, l->m + from, l->den + from, l->a + from, l->e + from, l->s + from, n);
    for (size_t i = 0; i < conf->dv; i++)
        num->fade_add(fmt, l->num + i * BLOCK + from, l->a + from, l->e + from, v[i], n);
}

void rung_lanes_raise(softmax_lanes *l, const double *k, size_t from, size_t to, const rung_mech_conf *conf,
                      const rung_fmt *fmt)
{
    score(l, k, from, to, conf, fmt);
    for (size_t n = from; n < to; n++) l->m[n] = l->s[n] > l->m[n] ? l->s[n] : l->m[n];
}

void rung_lanes_weigh(softmax_lanes *l, const double *k, const double *v, size_t from, size_t to,
                      const rung_mech_conf *conf, const rung_fmt *fmt)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    size_t n = to - from;
    score(l, k, from, to, conf, fmt);
    num->sub(fmt, l->e + from, l->s + from, l->m + from, n);
    num->fn(fmt, RUNG_FN_EXP, l->e + from, l->e + from, n);
    num->add(fmt, l->den + from, l->den + from, l->e + from, n);
    for (size_t i = 0; i < conf->dv; i++) num->scale_add(fmt, l->num + i * BLOCK + from, l->e + from, v[i], n);
}

/* Gathers element i of every lane's slot. */
static const double *gather(softmax_lanes *l, const double *const *slot, size_t i, size_t from, size_t to)
{
    for (size_t n = from; n < to; n++) l->x[n] = slot[n][i];
    return l->x + from;
}

void rung_lanes_add_each(softmax_lanes *l, const double *const *slot, size_t from, size_t to,
                         const rung_mech_conf *conf, const rung_fmt *fmt)
{
    assert(from <= to && to <= BLOCK);
    const rung_num_kernels *num = rung_num_kernels_get();
    size_t n = to - from;
    memset(l->s + from, 0, n * sizeof *l->s);
    for (size_t i = 0; i < conf->dk; i++)
        num->mul_add(fmt, l->s + from, l->q + i * BLOCK + from, gather(l, slot, i, from, to), n);
    num->softmax_step(fmt, l->m + from, l->den + from, l->a + from, l->e + from, l->s + from, n);
    for (size_t i = 0; i < conf->dv; i++) {
        double *row = l->num + i * BLOCK + from;
        num->mul(fmt, row, row, l->a + from, n);
        num->mul_add(fmt, row, l->e + from, gather(l, slot, conf->dk + i, from, to), n);
    }
}

void rung_lanes_end(softmax_lanes *l, size_t from, size_t count, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    assert(from <= count && count <= BLOCK);
    const rung_num_kernels *num = rung_num_kernels_get();
    for (size_t i = 0; i < conf->dv; i++) {
        double *row = l->num + i * BLOCK;
        memset(row, 0, from * sizeof *row);
        num->div(fmt, row + from, row + from, l->den + from, count - from);
    }
}

typedef enum pass { PASS_ADD, PASS_RAISE, PASS_WEIGH } pass;

static void walk_runs(softmax_lanes *l, const rung_attend_run *run, size_t runs, pass what, const rung_mech_conf *conf,
                      const rung_fmt *fmt)
{
    for (const rung_attend_run *r = run; r < run + runs; r++)
        for (size_t j = 0; j < r->count; j++) {
            const double *k = r->k + (ptrdiff_t)j * r->k_stride, *v = r->v + (ptrdiff_t)j * r->v_stride;
            if (what == PASS_ADD) rung_lanes_add(l, k, v, r->from, r->to, conf, fmt);
            if (what == PASS_RAISE) rung_lanes_raise(l, k, r->from, r->to, conf, fmt);
            if (what == PASS_WEIGH) rung_lanes_weigh(l, k, v, r->from, r->to, conf, fmt);
        }
}

void rung_lanes_attend(softmax_lanes *l, const rung_attend_run *run, size_t runs, size_t count,
                       const rung_mech_conf *conf, const rung_fmt *fmt)
{
    assert(count <= BLOCK);
    const rung_attend job = {.dk = conf->dk,
                             .dv = conf->dv,
                             .lanes = count,
                             .q = l->q,
                             .run = run,
                             .runs = runs,
                             .two_pass = conf->softmax == RUNG_SOFTMAX_TWO_PASS,
                             .scratch = l->attend};
    if (!rung_num_kernels_get()->attend(fmt, l->num, l->den, &job)) {
        rung_lanes_clear(l, conf, fmt);
        if (job.two_pass) walk_runs(l, run, runs, PASS_RAISE, conf, fmt);
        walk_runs(l, run, runs, job.two_pass ? PASS_WEIGH : PASS_ADD, conf, fmt);
    }
    rung_lanes_end(l, 0, count, conf, fmt);
}

void rung_lanes_store(double *o, const double *rows, size_t stride, size_t count, const rung_mech_conf *conf)
{
    assert(count <= BLOCK);
    for (size_t i = 0; i < conf->dv; i++)
        for (size_t n = 0; n < count; n++) o[n * stride + i] = rows[i * BLOCK + n];
}
