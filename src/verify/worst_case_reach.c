/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Which accumulators (m, den, num) can a query of two-sum reach? Scores and values depend on the token alone, so a
 * prompt is a sequence of known steps. Accumulators are kept apart by their maximum m, which is one of finitely many
 * scores, and by the number k of matches. den and each numerator are intervals: the hull over all prompts that lead
 * there. A step x <- r(r(x a) + b) rises with x and b for a >= 0, so mapping the ends maps the interval. Without k, one
 * match with many other tokens would share a hull with many matches, and num/den would be useless. Lanes are k.
 */
#include "worst_case_sum.h"

#include <math.h>
#include <string.h>

static double exp_of(const rung_fmt *fmt, double a, double b)
{
    return rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, a, b));
}

/* What a token with score s adds to a level that it does not raise. */
static void level_adds(const member_task *t, level *l, const member_worker *wk, size_t head, size_t match)
{
    const wc_weights *w = t->w;
    l->misses = l->match = false;
    for (size_t v = 0; v < t->modulus; v++) {
        if (wk->score[v] > l->m) continue;
        const double *value = t->value + v * w->mixed + head * w->dv;
        double e = exp_of(&w->fmt, wk->score[v], l->m);
        if (v == match) l->match = true, l->match_e = e;
        for (size_t i = 0; i < w->dv; i++) {
            double add = rung_num_mul(&w->fmt, e, value[i]);
            if (v == match)
                l->match_add[i] = add;
            else
                l->miss_add[i] = l->misses ? wc_hull(l->miss_add[i], wc_point(add)) : wc_point(add);
        }
        if (v != match) l->miss_e = l->misses ? wc_hull(l->miss_e, wc_point(e)) : wc_point(e), l->misses = true;
    }
}

/* The level of maximum m; makes a new one if it is missing. NULL if there are too many. */
static level *level_of(const member_task *t, member_worker *wk, double m, size_t head, size_t match)
{
    for (size_t i = 0; i < wk->levels; i++)
        if (wk->next[i].m == m) return &wk->next[i];
    if (wk->levels == WC_LEVELS_MAX) {
        wk->overflow = true;
        return NULL;
    }
    level *l = &wk->next[wk->levels], *twin = &wk->now[wk->levels++];
    l->m = twin->m = m;
    memset(l->alive, 0, (t->numbers + 1) * sizeof *l->alive);
    memset(twin->alive, 0, (t->numbers + 1) * sizeof *twin->alive);
    level_adds(t, twin, wk, head, match);
    return l;
}

/* out = r(r(x a) + b) over the lanes */
static void step_lanes(const member_worker *wk, const rung_fmt *fmt, double *out, const double *x, double a, double b,
                       size_t lanes)
{
    const rung_num_kernels *k = rung_num_kernels_get();
    k->scale(fmt, out, x, a, lanes);
    for (size_t n = 0; n < lanes; n++) wk->constant[n] = b;
    k->add(fmt, out, out, wk->constant, lanes);
}

/* A NaN is kept, so that no hull that contains one looks finite. */
static void merge(double *lo, double *hi, const member_worker *wk, const bool *from, const bool *to, size_t shift,
                  size_t lanes)
{
    for (size_t n = 0; n < lanes; n++) {
        double low = wk->low[n], high = wk->high[n], *l = &lo[n + shift], *h = &hi[n + shift];
        if (!from[n]) continue;
        if (!to[n + shift] || low < *l || isnan(low)) *l = low;
        if (!to[n + shift] || high > *h || isnan(high)) *h = high;
    }
}

/* One kind of token, from one level to another. */
typedef struct token_step {
    double a;
    wc_span e;
    const wc_span *add; /* [dv], or */
    const double *exact;
    size_t shift; /* 1: a match */
} token_step;

static void take_step(const member_task *t, member_worker *wk, level *to, const level *from, const token_step *s,
                      size_t lanes)
{
    const rung_fmt *fmt = &t->w->fmt;
    size_t stride = t->numbers + 1;
    step_lanes(wk, fmt, wk->low, from->den_lo, s->a, s->e.lo, lanes);
    step_lanes(wk, fmt, wk->high, from->den_hi, s->a, s->e.hi, lanes);
    merge(to->den_lo, to->den_hi, wk, from->alive, to->alive, s->shift, lanes);
    for (size_t i = 0; i < t->w->dv; i++) {
        wc_span add = s->exact ? wc_point(s->exact[i]) : s->add[i];
        step_lanes(wk, fmt, wk->low, from->num_lo + i * stride, s->a, add.lo, lanes);
        step_lanes(wk, fmt, wk->high, from->num_hi + i * stride, s->a, add.hi, lanes);
        merge(to->num_lo + i * stride, to->num_hi + i * stride, wk, from->alive, to->alive, s->shift, lanes);
    }
    for (size_t n = 0; n < lanes; n++) to->alive[n + s->shift] |= from->alive[n];
}

/* A token with score above m becomes the maximum: e = exp(0). */
static void raise_level(const member_task *t, member_worker *wk, const level *from, size_t head, size_t token,
                        bool is_match, size_t match, size_t lanes)
{
    const wc_weights *w = t->w;
    const rung_fmt *fmt = &w->fmt;
    double m = wk->score[token], e = exp_of(fmt, m, m);
    level *to = level_of(t, wk, m, head, match);
    if (!to) return;
    double *add = wk->x; /* has space for dv numbers after the residual */
    for (size_t i = 0; i < w->dv; i++)
        add[w->d + i] = rung_num_mul(fmt, e, t->value[token * w->mixed + head * w->dv + i]);
    token_step s = {exp_of(fmt, from->m, m), wc_point(e), NULL, add + w->d, is_match};
    take_step(t, wk, to, from, &s, lanes);
}

static void forget_next(const member_task *t, member_worker *wk)
{
    for (size_t i = 0; i < wk->levels; i++) memset(wk->next[i].alive, 0, (t->numbers + 1) * sizeof(bool));
}

static bool any_alive(const level *l, size_t lanes)
{
    for (size_t n = 0; n < lanes; n++)
        if (l->alive[n]) return true;
    return false;
}

/* Swaps the arrays. What follows from m alone stays in `now`. */
static void become_now(member_worker *wk)
{
    for (size_t i = 0; i < wk->levels; i++) {
        level old = wk->now[i], *now = &wk->now[i], *next = &wk->next[i];
        now->alive = next->alive, now->den_lo = next->den_lo, now->den_hi = next->den_hi;
        now->num_lo = next->num_lo, now->num_hi = next->num_hi;
        next->alive = old.alive, next->den_lo = old.den_lo, next->den_hi = old.den_hi;
        next->num_lo = old.num_lo, next->num_hi = old.num_hi;
    }
}

/* Any number at this position; lanes = numbers before it, plus 1. */
static void any_number(const member_task *t, member_worker *wk, size_t head, size_t match, size_t lanes)
{
    const rung_fmt *fmt = &t->w->fmt;
    size_t before = wk->levels;
    forget_next(t, wk);
    for (size_t n = 0; n < before && !wk->overflow; n++) {
        const level *l = &wk->now[n];
        if (!any_alive(l, lanes)) continue;
        double a = exp_of(fmt, l->m, l->m);
        if (l->misses) take_step(t, wk, &wk->next[n], l, &(token_step){a, l->miss_e, l->miss_add, NULL, 0}, lanes);
        if (l->match)
            take_step(t, wk, &wk->next[n], l, &(token_step){a, wc_point(l->match_e), NULL, l->match_add, 1}, lanes);
        for (size_t v = 0; v < t->modulus && !wk->overflow; v++)
            if (wk->score[v] > l->m) raise_level(t, wk, l, head, v, v == match, match, lanes);
    }
    become_now(wk);
}

/* The accumulator before the first token, and the blank, which is a fixed number. */
static void begin(const member_task *t, member_worker *wk, size_t head, size_t match)
{
    const wc_weights *w = t->w;
    const rung_fmt *fmt = &w->fmt;
    size_t blank = t->modulus;
    double m = fmt->kind == RUNG_FMT_FIXED ? fmt->smallest : -INFINITY; /* as in src/mech/softmax.c */
    double raised = t->lead && wk->score[blank] > m ? wk->score[blank] : m;
    wk->levels = 0, wk->overflow = false;
    level *l = level_of(t, wk, raised, head, match);
    double e = t->lead ? exp_of(fmt, wk->score[blank], raised) : 0;
    l->alive[0] = true;
    l->den_lo[0] = l->den_hi[0] = rung_num_add(fmt, 0, e);
    for (size_t i = 0; i < w->dv; i++) {
        double value = t->value[blank * w->mixed + head * w->dv + i];
        double num = t->lead ? rung_num_add(fmt, 0, rung_num_mul(fmt, e, value)) : 0;
        l->num_lo[i * (t->numbers + 1)] = l->num_hi[i * (t->numbers + 1)] = num;
    }
    become_now(wk);
}

static void widen(wc_span *y, wc_span more, bool *met)
{
    bool ok = wc_finite(more) && (!*met || wc_finite(*y));
    *y = !ok ? wc_point(NAN) : *met ? wc_hull(*y, more) : more;
    *met = true;
}

/* The query's own key comes last; then the quotient. */
static void finish(const member_task *t, member_worker *wk, size_t head)
{
    const wc_weights *w = t->w;
    const rung_fmt *fmt = &w->fmt;
    double own = 0;
    for (size_t i = 0; i < w->dk; i++)
        own = rung_num_add(fmt, own, rung_num_mul(fmt, wk->q[i], wc_project(w, &w->k, head * w->dk + i, wk->x)));
    for (size_t i = 0; i < w->dv; i++) {
        bool met[2] = {false, false};
        double value = wc_project(w, &w->v, head * w->dv + i, wk->x);
        for (size_t n = 0; n < wk->levels; n++) {
            const level *l = &wk->now[n];
            double m = own > l->m ? own : l->m, a = exp_of(fmt, l->m, m), e = exp_of(fmt, own, m);
            wc_span add = wc_point(rung_num_mul(fmt, e, value));
            for (size_t k = 0; k <= t->numbers; k++) {
                if (!l->alive[k]) continue;
                size_t at = i * (t->numbers + 1) + k;
                wc_span den = {l->den_lo[k], l->den_hi[k]}, num = {l->num_lo[at], l->num_hi[at]};
                den = wc_add(fmt, wc_scale(fmt, den, a), wc_point(e));
                num = wc_add(fmt, wc_scale(fmt, num, a), add);
                widen(&wk->y[(k > 0) * w->mixed + head * w->dv + i], wc_divide(fmt, num, den), &met[k > 0]);
            }
        }
    }
}

static bool head_bounds(const member_task *t, member_worker *wk, size_t head, size_t match)
{
    const wc_weights *w = t->w;
    for (size_t i = 0; i < w->dk; i++) {
        wk->q[i] = wc_project(w, &w->q, head * w->dk + i, wk->x);
        if (!isfinite(wk->q[i])) return false;
    }
    for (size_t v = 0; v < t->modulus + t->lead; v++) {
        wk->score[v] = rung_num_dot(&w->fmt, wk->q, t->key + (head * (t->modulus + 1) + v) * w->dk, w->dk);
        if (!isfinite(wk->score[v])) return false;
    }
    begin(t, wk, head, match);
    for (size_t p = 0; p < t->numbers && !wk->overflow; p++) any_number(t, wk, head, match, p + 1);
    if (!wk->overflow) finish(t, wk, head);
    return !wk->overflow;
}

bool wc_member_bounds(const member_task *t, member_worker *wk, size_t y)
{
    const wc_weights *w = t->w;
    wk->overflow = false;
    wc_residual(wk->x, w, t->modulus + y, t->lead + t->numbers);
    for (size_t c = 0; c < w->d; c++)
        if (!isfinite(wk->x[c])) return false;
    for (size_t h = 0; h < w->heads; h++)
        if (!head_bounds(t, wk, h, wc_match_of(t, y))) return false;
    return true;
}
