/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * References of sparse and dsa, one query at a time, written from the equations: summaries straight from the inputs, a
 * rank for every candidate, one list of keys per branch. In double with a softmax of two passes, or with rounded
 * operations in the published order.
 */
#ifndef RUNG_TESTS_SPARSE_REFERENCE_H
#define RUNG_TESTS_SPARSE_REFERENCE_H

#include "mech_test.h"

enum { IN_Q, IN_K, IN_V, IN_GATES, IN_CK, IN_CV, IN_PK, IN_PV, IN_WK1, IN_WV1, IN_WK2, IN_WV2 };
enum { IN_IQ = 3, IN_IK, IN_IW };

/* ---- arithmetic ------------------------------------------------------------------------------------------------------ */

static const rung_fmt *F; /* the format of the reference; NULL: double */

static inline double plus(double a, double b)
{
    return F ? rung_num_add(F, a, b) : a + b;
}

static inline double times(double a, double b)
{
    return F ? rung_num_mul(F, a, b) : a * b;
}

static inline double over(double a, double b)
{
    return F ? rung_num_div(F, a, b) : a / b;
}

static inline double near(double x)
{
    return F ? rung_num_round(F, x) : x;
}

static inline double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum = plus(sum, times(a[i], b[i]));
    return sum;
}

static inline double positive(double x)
{
    return x > 0 || isnan(x) ? x : 0;
}

/* ---- softmax over a list ----------------------------------------------------------------------------------------------- */

typedef struct list {
    size_t count;
    const double *k[1024], *v[1024];
} list;

static inline void push(list *l, const double *k, const double *v)
{
    assert_true(l->count < RUNG_COUNT(l->k));
    l->k[l->count] = k, l->v[l->count++] = v;
}

static inline void softmax_twice(double *y, const double *q, const list *l, const rung_mech_conf *conf)
{
    double max = -INFINITY, sum = 0;
    for (size_t j = 0; j < l->count; j++) max = fmax(max, dot(q, l->k[j], conf->dk));
    for (size_t j = 0; j < l->count; j++) sum += exp(dot(q, l->k[j], conf->dk) - max);
    for (size_t j = 0; j < l->count; j++)
        for (size_t i = 0; i < conf->dv; i++) y[i] += exp(dot(q, l->k[j], conf->dk) - max) / sum * l->v[j][i];
}

/* Online, from the first score. */
static inline void softmax_once(double *y, const double *q, const list *l, const rung_mech_conf *conf)
{
    double m = 0, den = 0;
    for (size_t j = 0; j < l->count; j++) {
        double s = dot(q, l->k[j], conf->dk), higher = j == 0 || s > m ? s : m;
        double a = j == 0 ? 0 : rung_num_fn(F, RUNG_FN_EXP, rung_num_sub(F, m, higher));
        double e = rung_num_fn(F, RUNG_FN_EXP, rung_num_sub(F, s, higher));
        den = plus(times(den, a), e), m = higher;
        for (size_t i = 0; i < conf->dv; i++) y[i] = plus(times(y[i], a), times(e, l->v[j][i]));
    }
    for (size_t i = 0; l->count > 0 && i < conf->dv; i++) y[i] = over(y[i], den);
}

static inline void softmax(double *y, const double *q, const list *l, const rung_mech_conf *conf)
{
    memset(y, 0, conf->dv * sizeof *y);
    (F ? softmax_once : softmax_twice)(y, q, l, conf);
}

/* ---- selection by rank --------------------------------------------------------------------------------------------------- */

static inline bool is_chosen(const double *score, size_t count, size_t i, size_t k)
{
    size_t before = 0;
    for (size_t j = 0; j < count; j++) before += score[j] > score[i] || (score[j] == score[i] && j < i);
    return before < k;
}

/* Two scores on either side of the cut that fp32 may order otherwise: the outputs then say nothing. */
static inline bool is_doubtful(const double *score, size_t count, size_t k)
{
    double least = INFINITY, most = -INFINITY, size = 0;
    for (size_t i = 0; i < count; i++) {
        size = fmax(size, fabs(score[i]));
        if (is_chosen(score, count, i, k))
            least = fmin(least, score[i]);
        else
            most = fmax(most, score[i]);
    }
    return least != most && least - most < 1e-5 * size;
}

/* ---- sparse ----------------------------------------------------------------------------------------------------------------- */

static inline const double *row_of(const mech_inputs *in, size_t input, size_t t, size_t h, const rung_mech_conf *conf)
{
    size_t each = in->row[input] / conf->heads;
    return in->x[input] + t * in->row[input] + h * each;
}

/* c [dk+dv] of the block that ends at token `last`. */
static inline void ref_summary(double *c, const mech_inputs *in, size_t last, size_t h, const rung_mech_conf *conf)
{
    size_t B = (size_t)rung_mech_param(conf, "B"), first = last + 1 - B;
    const char *comp = mech_word(conf, "comp");
    double *x = mech_alloc(B * (conf->dk + conf->dv), sizeof *x), *hidden = mech_alloc(conf->dk + conf->dv, sizeof *x);
    bool shared = rung_mech_param(conf, "shared");
    double *key = c;
    for (size_t side = 0; side < (shared ? 1 : 2); c += conf->dk, side++) {
        size_t d = side ? conf->dv : conf->dk;
        for (size_t j = 0; j < d; j++) {
            double sum = 0;
            for (size_t t = first; t <= last; t++) sum = plus(sum, row_of(in, IN_K + side, t, h, conf)[j]);
            c[j] = over(sum, near((double)B));
            if (strcmp(comp, "given") == 0) c[j] = row_of(in, IN_CK + side, last, h, conf)[j];
        }
        if (strcmp(comp, "mlp") != 0) continue;
        for (size_t e = 0; e < B * d; e++)
            x[e] = plus(row_of(in, IN_K + side, first + e / d, h, conf)[e % d], in->x[IN_PK + side][e]);
        for (size_t r = 0; r < d; r++) hidden[r] = positive(dot(in->x[IN_WK1 + side] + r * B * d, x, B * d));
        for (size_t r = 0; r < d; r++) c[r] = dot(in->x[IN_WK2 + side] + r * d, hidden, d);
    }
    if (shared) memcpy(key + conf->dk, key, conf->dk * sizeof *key);
    free(x), free(hidden);
}

static inline void push_tokens(list *l, const mech_inputs *in, size_t first, size_t end, size_t h,
                               const rung_mech_conf *conf)
{
    for (size_t t = first; t < end; t++) push(l, row_of(in, IN_K, t, h, conf), row_of(in, IN_V, t, h, conf));
}

static inline void ref_weights(double weight[3], const mech_inputs *in, size_t t, size_t h, const rung_mech_conf *conf)
{
    if (strcmp(mech_word(conf, "branches"), "nsa") == 0) {
        memcpy(weight, row_of(in, IN_GATES, t, h, conf), 3 * sizeof *weight);
        return;
    }
    weight[0] = near((double)rung_mech_param(conf, "lambda") / 1000);
    weight[1] = near((double)(1000 - rung_mech_param(conf, "lambda")) / 1000);
}

/* `c` [blocks][dk+dv] are the summaries of the head. Returns whether the output can be relied on. */
static inline bool ref_sparse(double *o, const double *c, const mech_inputs *in, size_t t, size_t h,
                              const rung_mech_conf *conf)
{
    size_t B = (size_t)rung_mech_param(conf, "B"), k = (size_t)rung_mech_param(conf, "k");
    size_t W = (size_t)rung_mech_param(conf, "W"), dk = conf->dk, each = dk + conf->dv, complete = 0, count = 0;
    bool own = rung_mech_param(conf, "own"), doubtful;
    const double *q = row_of(in, IN_Q, t, h, conf);
    double weight[3] = {0}, *y = mech_alloc(conf->dv, sizeof *y), *score = mech_alloc(t + 1, sizeof *score);
    static list l[3];
    for (size_t branch = 0; branch < 3; branch++) l[branch].count = 0;
    for (size_t b = 0; b * B + B - 1 <= t; b++, complete++) push(&l[0], c + b * each, c + b * each + dk);
    for (size_t b = 0; b < complete; b++)
        if (!own || t / B != b) score[count++] = dot(q, c + b * each, dk);
    doubtful = !F && is_doubtful(score, count, k);
    for (size_t b = 0; b < count; b++)
        if (is_chosen(score, count, b, k)) push_tokens(&l[1], in, b * B, b * B + B, h, conf);
    if (own) push_tokens(&l[1], in, t / B * B, t + 1, h, conf);
    push_tokens(&l[2], in, t + 1 > W ? t + 1 - W : 0, t + 1, h, conf);
    ref_weights(weight, in, t, h, conf);
    for (size_t branch = 0; branch < (W ? 3 : 2); branch++) {
        softmax(y, q, &l[branch], conf);
        for (size_t i = 0; i < conf->dv; i++) o[i] = plus(o[i], times(weight[branch], y[i]));
    }
    free(y), free(score);
    return !doubtful;
}

/* ---- dsa ------------------------------------------------------------------------------------------------------------------------ */

static inline bool ref_dsa(double *o, const mech_inputs *in, size_t t, size_t h, const rung_mech_conf *conf)
{
    size_t k = (size_t)rung_mech_param(conf, "k"), HI = (size_t)rung_mech_param(conf, "HI"), DI = in->row[IN_IK];
    size_t visible = conf->causal ? t + 1 : in->tokens;
    double *score = mech_alloc(visible, sizeof *score);
    static list l;
    l.count = 0;
    for (size_t s = 0; s < visible; s++)
        for (size_t j = 0; j < HI; j++) {
            double x = dot(in->x[IN_IQ] + (t * HI + j) * DI, in->x[IN_IK] + s * DI, DI);
            score[s] = plus(score[s], times(in->x[IN_IW][t * HI + j], positive(x)));
        }
    for (size_t s = 0; s < visible; s++)
        if (is_chosen(score, visible, s, k)) push_tokens(&l, in, s, s + 1, h, conf);
    softmax(o, row_of(in, IN_Q, t, h, conf), &l, conf);
    for (size_t i = 0; rung_num_find_nan(score, visible) != SIZE_MAX && i < conf->dv; i++) o[i] = NAN; /* no order */
    bool doubtful = !F && is_doubtful(score, visible, k);
    free(score);
    return !doubtful;
}

#endif
