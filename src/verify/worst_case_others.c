/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The tokens before the last one. There is one layer, so nothing reads their outputs; but a NaN, or a key that the
 * table lacks, at any of them stops the model. Their outputs are bounded here for all scores.
 */
#include "worst_case_parts.h"

#include <math.h>
#include <string.h>

static bool refuse(char *reason, size_t size, const char *text)
{
    snprintf(reason, size, "%s", text);
    return false;
}

static wc_span range_of(const double *rows, size_t first, size_t count, size_t d, size_t c)
{
    wc_span all = wc_point(rows[first * d + c]);
    for (size_t i = 1; i < count; i++) all = wc_hull(all, wc_point(rows[(first + i) * d + c]));
    return all;
}

/* Any token may stand at any position of its group, and r(e + p) rises with both: the hull is attained. */
static void residual_range(wc_span *x, const wc_weights *w, const wc_group *g)
{
    for (size_t c = 0; c < w->d; c++) {
        x[c] = range_of(w->embed, g->token, g->tokens, w->d, c);
        if (w->positions) x[c] = wc_add(&w->fmt, x[c], range_of(w->positions, g->position, g->positions, w->d, c));
    }
}

static double size_of(wc_span a)
{
    return fmax(fabs(a.lo), fabs(a.hi));
}

/* No score of a query of group g with a key of any group overflows: |acc| <= r(|acc| + r(|q| |k|)). */
static bool scores_finite(const wc_weights *w, const wc_group *g, const wc_group *groups, size_t group_count,
                          wc_span *query_x, wc_span *key_x)
{
    residual_range(query_x, w, g);
    for (size_t other = 0; other < group_count; other++) {
        residual_range(key_x, w, &groups[other]);
        for (size_t h = 0; h < w->heads; h++) {
            double acc = 0;
            for (size_t i = h * w->dk; i < (h + 1) * w->dk; i++) {
                wc_span q = wc_project_span(w, &w->q, i, query_x), k = wc_project_span(w, &w->k, i, key_x);
                if (!wc_finite(q) || !wc_finite(k)) return false;
                acc = rung_num_add(&w->fmt, acc, rung_num_mul(&w->fmt, size_of(q), size_of(k)));
            }
            if (!isfinite(acc)) return false;
        }
    }
    return true;
}

/* den of `tokens` keys: each step at most r(den + 1), since a, e <= 1. Stands still at the end of the mantissa. */
static double largest_den(const rung_fmt *fmt, size_t tokens)
{
    double one = rung_num_round(fmt, 1), den = 0;
    for (size_t t = 0; t < tokens; t++) {
        double next = rung_num_add(fmt, den, one);
        if (next == den) break;
        den = next;
    }
    return den;
}

/* |v| <= U gives |num| <= U den, hence |y| <= U, for U = 0, 1 in every format and for larger powers of two in a float:
 * they commute with every rounding that matters (docs/worst-case.md, lemma 2). 0 stands for "no bound". */
static double power_bound(const rung_fmt *fmt, double size, size_t tokens)
{
    double bound = 1;
    if (size <= 1) return 1;
    if (fmt->kind == RUNG_FMT_FIXED) return 0;
    if (!fmt->is_f64 && fmt->least_normal > ldexp(1, -fmt->mantissa_bits - 1)) return 0;
    while (bound < size && bound < fmt->largest) bound *= 2;
    return isfinite(rung_num_mul(fmt, bound, largest_den(fmt, tokens))) ? bound : 0;
}

static bool head_bounds(wc_span *y, const wc_weights *w, const wc_span *value, size_t tokens)
{
    for (size_t i = 0; i < w->mixed; i++) {
        double bound = power_bound(&w->fmt, size_of(value[i]), tokens);
        if (bound == 0 || !isfinite(largest_den(&w->fmt, tokens))) return false;
        y[i] = (wc_span){value[i].lo >= 0 ? 0 : -bound, value[i].hi <= 0 ? 0 : bound};
    }
    return true;
}

static bool group_safe(char *reason, size_t size, const wc_weights *w, const wc_group *g, const wc_span *y, wc_span *x)
{
    int64_t low[16], high[16];
    const wc_table *t = &w->table;
    residual_range(x, w, g);
    for (size_t c = 0; c < w->d; c++) {
        x[c] = wc_coordinate(w, c, x[c], y);
        if (!wc_finite(x[c])) return refuse(reason, size, "a token before the last may overflow");
    }
    for (size_t i = 0; w->has_table && i < t->key_count; i++) {
        wc_span key = x[t->key_coord[i]];
        if (!(size_of(key) < 9e15))
            return refuse(reason, size, "a key coordinate of a token before the last is too large");
        low[i] = (int64_t)nearbyint(key.lo), high[i] = (int64_t)nearbyint(key.hi);
    }
    if (!w->has_table || wc_table_covers(t, low, high)) return true;
    return refuse(reason, size, "the table may lack the key of a token before the last");
}

bool wc_others_safe(char *reason, size_t size, const wc_weights *w, const wc_group *groups, size_t group_count,
                    const wc_span *value, const wc_span *y, wc_span *scratch, size_t tokens)
{
    wc_span *bounds = scratch, *a = scratch + w->mixed, *b = a + w->d;
    if (y)
        memcpy(bounds, y, w->mixed * sizeof *y);
    else if (!head_bounds(bounds, w, value, tokens))
        return refuse(reason, size, "the values are too large to bound what the tokens before the last read");
    for (size_t g = 0; g < group_count; g++) {
        if (!scores_finite(w, &groups[g], groups, group_count, a, b))
            return refuse(reason, size, "a score of a token before the last may overflow");
        if (!group_safe(reason, size, w, &groups[g], bounds, a)) return false;
    }
    return true;
}
