/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The extremal runs of a look-up. Keys depend on the position alone, so for a given query the scores, and with them
 * m, a, e and den, are the same for all tables; a numerator num <- r(r(num a) + r(e v)) never falls when a value rises,
 * because a, e >= 0. Over all tables with value u at the wanted position it is therefore least when all others have the
 * least value and largest when all have the largest one, and these tables exist. Lanes are queries.
 */
#include "worst_case_lookup.h"

#include <math.h>
#include <string.h>

/* As in src/mech/softmax.c: the maximum before the first score. */
static double no_maximum(const rung_fmt *fmt)
{
    return fmt->kind == RUNG_FMT_FIXED ? fmt->smallest : -INFINITY;
}

/* All values 0 give 0, all values 1 give den: r(e 1) = e. Such runs need no arithmetic. */
static bool run_is_trivial(const extremal_run *r)
{
    return r->other == r->wanted && (r->other == 0 || r->other == 1);
}

static bool load_queries(const lookup *l, lookup_worker *wk, size_t head, size_t count)
{
    const wc_weights *w = l->w;
    for (size_t i = 0; i < w->dk; i++)
        for (size_t n = 0; n < count; n++) {
            double q = wc_project(w, &w->q, head * w->dk + i, wk->x + n * w->d);
            if (!isfinite(q)) return false;
            wk->q[i * WC_LANES + n] = q;
        }
    for (size_t n = 0; n < count; n++) wk->m[n] = no_maximum(&w->fmt), wk->den[n] = 0;
    memset(wk->num, 0, l->run_count[head] * WC_LANES * sizeof *wk->num);
    return true;
}

/* num of one run over all lanes; the lane whose query asks for this position has its wanted value. */
static void fade(const lookup *l, lookup_worker *wk, const extremal_run *run, double *num, size_t lane, size_t count)
{
    const rung_num_kernels *k = rung_num_kernels_get();
    const rung_fmt *fmt = &l->w->fmt;
    if (lane >= count || run->other == run->wanted) {
        k->fade_add(fmt, num, wk->a, wk->e, run->other, count);
        return;
    }
    k->fade_add(fmt, num, wk->a, wk->e, run->other, lane);
    k->fade_add(fmt, num + lane, wk->a + lane, wk->e + lane, run->wanted, 1);
    k->fade_add(fmt, num + lane + 1, wk->a + lane + 1, wk->e + lane + 1, run->other, count - lane - 1);
}

/* s = sum of q_i k_i over dimensions from..to-1, after what s holds. */
static void add_products(const lookup *l, const lookup_worker *wk, double *s, const double *key, size_t from, size_t to,
                         size_t count)
{
    const rung_num_kernels *k = rung_num_kernels_get();
    for (size_t i = from; i < to; i++) /* r(q 0) is a zero: q is finite */
        if (key[i] != 0) k->scale_add(&l->w->fmt, s, wk->q + i * WC_LANES, key[i], count);
}

/* Keys that begin alike share the first partial sums. */
static void add_prefixes(const lookup *l, const lookup_worker *wk, const key_prefixes *p, const double *keys,
                         size_t count)
{
    for (size_t n = 0; n < p->count; n++) {
        double *s = wk->prefix + n * WC_LANES;
        memset(s, 0, count * sizeof *s);
        add_products(l, wk, s, keys + p->example[n] * l->w->dk, 0, p->dims, count);
    }
}

static bool any_rises(const lookup_worker *wk, size_t count)
{
    bool rises = false;
    for (size_t n = 0; n < count; n++) rises |= !(wk->s[n] <= wk->m[n]);
    return rises;
}

/* No lane has a new maximum, so a = exp(0) = 1 and r(x a) = x: den = r(den + e), num = r(num + r(e v)). */
static void absorb_quietly(const lookup *l, lookup_worker *wk, size_t head, size_t lane, size_t count)
{
    const rung_num_kernels *k = rung_num_kernels_get();
    const rung_fmt *fmt = &l->w->fmt;
    const extremal_run *runs = l->runs[head];
    k->sub(fmt, wk->e, wk->s, wk->m, count);
    k->fn(fmt, RUNG_FN_EXP, wk->e, wk->e, count);
    k->add(fmt, wk->den, wk->den, wk->e, count);
    for (size_t r = 0; r < l->run_count[head]; r++) {
        double *num = wk->num + r * WC_LANES, kept = lane < count ? num[lane] : 0;
        if (run_is_trivial(&runs[r])) continue;
        if (runs[r].other != 0) k->scale_add(fmt, num, wk->e, runs[r].other, count);
        if (lane >= count) continue;
        num[lane] = kept;
        k->scale_add(fmt, num + lane, wk->e + lane, runs[r].wanted, 1);
    }
}

static void absorb_tables(const lookup *l, lookup_worker *wk, size_t head, size_t first, size_t count)
{
    const rung_num_kernels *k = rung_num_kernels_get();
    const rung_fmt *fmt = &l->w->fmt;
    const extremal_run *runs = l->runs[head];
    const key_prefixes *p = &l->prefixes[head];
    const double *keys = l->key + head * l->entries * l->w->dk;
    bool one = rung_num_round(fmt, 1) == 1;
    add_prefixes(l, wk, p, keys, count);
    for (size_t j = 0; j < l->entries; j++) {
        size_t lane = j >= first ? j - first : SIZE_MAX;
        memcpy(wk->s, wk->prefix + p->of[j] * WC_LANES, count * sizeof *wk->s);
        add_products(l, wk, wk->s, keys + j * l->w->dk, p->dims, l->w->dk, count);
        if (one && !any_rises(wk, count)) {
            absorb_quietly(l, wk, head, lane, count);
            continue;
        }
        k->softmax_step(fmt, wk->m, wk->den, wk->a, wk->e, wk->s, count);
        for (size_t r = 0; r < l->run_count[head]; r++)
            if (!run_is_trivial(&runs[r])) fade(l, wk, &runs[r], wk->num + r * WC_LANES, lane, count);
    }
    for (size_t r = 0; r < l->run_count[head]; r++)
        if (run_is_trivial(&runs[r]) && runs[r].other == 1)
            memcpy(wk->num + r * WC_LANES, wk->den, count * sizeof *wk->den);
}

/* One more key, that of a token that asks: a and e of the step, and the quotients after it. With several such tokens the
 * quotients after each of them count, so `y` is their hull; what is not finite stays so. Returns whether the step changed
 * anything. */
static bool ask_once(const lookup *l, lookup_worker *wk, size_t head, size_t lane, double a, double e, bool first)
{
    const wc_weights *w = l->w;
    const rung_fmt *fmt = &w->fmt;
    const double *x = wk->x + lane * w->d;
    double den = rung_num_add(fmt, rung_num_mul(fmt, wk->den[lane], a), e);
    bool changed = first || den != wk->den[lane];
    wk->den[lane] = den;
    for (size_t i = head * w->dv; i < (head + 1) * w->dv; i++) {
        const value_set *set = &l->set[l->set_of[i]];
        double own = rung_num_mul(fmt, e, wc_project(w, &w->v, i, x));
        wc_span *y = wk->y + lane * l->offset[w->mixed] + l->offset[i];
        double *sums = wk->sums + (i - head * w->dv) * wk->sums_each;
        for (size_t u = 0; u < set->count; u++) {
            const double *num = wk->num + (set->first_run + 2 * u) * WC_LANES + lane;
            for (size_t side = 0; side < 2; side++) {
                double before = first ? num[side * WC_LANES] : sums[2 * u + side];
                sums[2 * u + side] = rung_num_add(fmt, rung_num_mul(fmt, before, a), own);
                changed |= sums[2 * u + side] != before; /* a NaN never stops changing */
            }
            wc_span now = {rung_num_div(fmt, sums[2 * u], den), rung_num_div(fmt, sums[2 * u + 1], den)};
            if (first || !wc_finite(now))
                y[u] = now;
            else if (wc_finite(y[u]))
                y[u] = wc_hull(y[u], now);
        }
    }
    return changed;
}

/* The last keys are those of the tokens that ask; then the quotient. */
static void finish_lane(const lookup *l, lookup_worker *wk, size_t head, size_t lane)
{
    const wc_weights *w = l->w;
    const rung_fmt *fmt = &w->fmt;
    const double *x = wk->x + lane * w->d;
    double score = 0, m = wk->m[lane];
    for (size_t i = 0; i < w->dk; i++)
        score = rung_num_add(fmt, score,
                             rung_num_mul(fmt, wk->q[i * WC_LANES + lane], wc_project(w, &w->k, head * w->dk + i, x)));
    double higher = score > m ? score : m;
    double a = rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, m, higher));
    double e = rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, score, higher));
    double stays = rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, higher, higher));
    bool changed = ask_once(l, wk, head, lane, a, e, true);
    /* From the second token on the maximum stays, so all steps are the same, and a step that changes nothing is the
     * last that matters. */
    for (size_t n = 1; n < l->queries && changed; n++) changed = ask_once(l, wk, head, lane, stays, e, false);
}

static bool residuals_finite(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

bool wc_lookup_extremes(const lookup *l, lookup_worker *wk, size_t first, size_t count)
{
    const wc_weights *w = l->w;
    for (size_t n = 0; n < count; n++) wc_residual(wk->x + n * w->d, w, l->values + first + n, l->entries);
    if (!residuals_finite(wk->x, count * w->d)) return false;
    for (size_t h = 0; h < w->heads; h++) {
        if (!load_queries(l, wk, h, count)) return false;
        absorb_tables(l, wk, h, first, count);
        for (size_t n = 0; n < count; n++) finish_lane(l, wk, h, n);
    }
    return true;
}

/* ---- the table tokens -------------------------------------------------------------------------------------------- */

/* A query that is the same at all of them: after every position, all values least and all values largest. */
static void prefix_head(wc_span *y, const lookup *l, size_t head, const double *q, wc_span *num)
{
    const wc_weights *w = l->w;
    const rung_fmt *fmt = &w->fmt;
    double m = no_maximum(fmt), den = 0;
    memset(num, 0, w->dv * sizeof *num);
    for (size_t j = 0; j < l->entries; j++) {
        double score = rung_num_dot(fmt, q, l->key + (head * l->entries + j) * w->dk, w->dk);
        double higher = score > m ? score : m;
        double a = rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, m, higher));
        double e = rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, score, higher));
        den = rung_num_add(fmt, rung_num_mul(fmt, den, a), e), m = higher;
        for (size_t i = 0; i < w->dv; i++) {
            wc_span v = l->range[head * w->dv + i];
            num[i].lo = rung_num_add(fmt, rung_num_mul(fmt, num[i].lo, a), rung_num_mul(fmt, e, v.lo));
            num[i].hi = rung_num_add(fmt, rung_num_mul(fmt, num[i].hi, a), rung_num_mul(fmt, e, v.hi));
            wc_span now = {rung_num_div(fmt, num[i].lo, den), rung_num_div(fmt, num[i].hi, den)};
            if (j == 0 || !wc_finite(now))
                y[i] = now;
            else if (wc_finite(y[i])) /* what is not finite stays so, and the caller refuses it */
                y[i] = wc_hull(y[i], now);
        }
    }
}

void wc_lookup_prefixes(wc_span *y, const lookup *l, lookup_worker *wk)
{
    const wc_weights *w = l->w;
    wc_residual(wk->x, w, 0, 0);
    for (size_t h = 0; h < w->heads; h++) {
        for (size_t i = 0; i < w->dk; i++) wk->q[i] = wc_project(w, &w->q, h * w->dk + i, wk->x);
        prefix_head(y + h * w->dv, l, h, wk->q, wk->scratch);
    }
}
