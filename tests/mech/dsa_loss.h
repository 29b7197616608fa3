/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the indexer of dsa learns from, in double: sum over queries of KL(p || softmax of the index scores over the chosen
 * tokens), p the mean over heads of the attention to them. What is chosen, and p, are constants: dsa_target keeps them.
 */
#ifndef RUNG_TESTS_DSA_LOSS_H
#define RUNG_TESTS_DSA_LOSS_H

#include "mech_test.h"

/* A stretch of dsa: its inputs of all tokens, and the state that its earlier tokens are in. */
typedef struct dsa_stretch {
    const rung_mech_conf *conf;
    const mech_inputs *in;
    const double *state;
    size_t pos, end;
    size_t k, HI, DI;
} dsa_stretch;

typedef struct dsa_target {
    double *p; /* [tokens][end]; -1: not chosen */
} dsa_target;

static inline double dsa_dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* A token's slot of the state, or NULL when it belongs to the stretch. */
static inline const double *dsa_slot(const dsa_stretch *d, size_t s)
{
    size_t slot = d->conf->heads * (d->conf->dk + d->conf->dv) + d->DI;
    return s < d->pos ? d->state + s * slot : NULL;
}

static inline double dsa_index_score(const dsa_stretch *d, size_t t, size_t s)
{
    size_t HI = d->HI, DI = d->DI;
    const double *slot = dsa_slot(d, s);
    const double *ik = slot ? slot + d->conf->heads * (d->conf->dk + d->conf->dv) : d->in->x[4] + s * DI;
    double sum = 0;
    for (size_t j = 0; j < HI; j++)
        sum += d->in->x[5][t * HI + j] * fmax(0, dsa_dot(d->in->x[3] + (t * HI + j) * DI, ik, DI));
    return sum;
}

static inline size_t dsa_visible(const dsa_stretch *d, size_t t)
{
    return d->conf->causal ? t + 1 : d->end;
}

/* A token is chosen if fewer than k come before it: larger scores, and equal ones of earlier tokens. */
static inline void dsa_choose(double *p, const dsa_stretch *d, size_t t)
{
    size_t visible = dsa_visible(d, t);
    double *score = mech_alloc(d->end, sizeof *score);
    for (size_t s = 0; s < visible; s++) score[s] = dsa_index_score(d, t, s);
    for (size_t s = 0; s < d->end; s++) {
        size_t before = 0;
        for (size_t r = 0; s < visible && r < visible; r++)
            before += score[r] > score[s] || (score[r] == score[s] && r < s);
        p[s] = s < visible && before < d->k ? 0 : -1;
    }
    free(score);
}

static inline void dsa_add_attention(double *p, const dsa_stretch *d, size_t t, size_t head)
{
    size_t H = d->conf->heads, dk = d->conf->dk;
    double *e = mech_alloc(d->end, sizeof *e), sum = 0;
    for (size_t s = 0; s < d->end; s++) {
        const double *slot = dsa_slot(d, s);
        const double *k = slot ? slot + head * (dk + d->conf->dv) : d->in->x[1] + (s * H + head) * dk;
        e[s] = p[s] < 0 ? 0 : exp(dsa_dot(d->in->x[0] + (t * H + head) * dk, k, dk));
        sum += e[s];
    }
    for (size_t s = 0; s < d->end; s++)
        if (p[s] >= 0) p[s] += e[s] / sum / (double)H;
    free(e);
}

static inline dsa_target dsa_target_new(const dsa_stretch *d)
{
    dsa_target target = {mech_alloc((d->end - d->pos) * d->end, sizeof *target.p)};
    for (size_t t = d->pos; t < d->end; t++) {
        double *p = target.p + (t - d->pos) * d->end;
        dsa_choose(p, d, t);
        for (size_t h = 0; h < d->conf->heads; h++) dsa_add_attention(p, d, t, h);
    }
    return target;
}

static inline double dsa_loss(const dsa_stretch *d, const dsa_target *target)
{
    double loss = 0;
    for (size_t t = d->pos; t < d->end; t++) {
        const double *p = target->p + (t - d->pos) * d->end;
        double sum = 0;
        for (size_t s = 0; s < d->end; s++) {
            double score = p[s] < 0 ? 0 : dsa_index_score(d, t, s);
            if (p[s] >= 0) sum += exp(score);
            if (p[s] > 0) loss += p[s] * (log(p[s]) - score);
        }
        loss += log(sum); /* p adds up to 1 */
    }
    return loss;
}

#endif
