/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of softmax attention. Forwards, for query i and the keys j that it sees,
 *   (1) s_ij = q_i.k_j,   (2) m_i = max_j s_ij, den_i = sum_j e^(s_ij - m_i), p_ij = e^(s_ij - m_i) / den_i,
 *   (3) o_i = sum_j p_ij v_j;
 * backwards, g the gradient of o, (3) dv_j += p_ij g_i, dp_ij = g_i.v_j, (2) ds_ij = p_ij (dp_ij - c_i - D_i) with D_i
 * = sum_j p_ij (dp_ij - c_i), (1) dq_i += ds_ij k_j, dk_j += ds_ij q_i. Any c_i gives the same. With c_i = 0 D_i is
 * g_i.o_i, which is known, but where one key has nearly all of the weight, as in a lookup, ds is the small difference
 * of two large numbers. Here c_i is dp_ij of the key with the largest score: what is added up is then as small as the
 * weights of the others, and one key alone has a gradient of exactly 0.
 *
 * Here for one query and keys that are anywhere, which sparse and dsa use; full_backward.c has full and window. Scores
 * are computed twice, first for m and den; of them no more than a tile is in memory.
 */
#include "softmax.h"

#include "rung/kern.h"

#include <math.h>

enum { TILE = SOFTMAX_TILE };

/* Adds a row of at most TILE scores to what the query has seen. Overwrites the scores and dp. */
static void measure_row(softmax_row *r, float *s, float *dp, size_t count)
{
    const rung_kernels *kern = rung_kernels_get();
    float ones[TILE]; /* a sum in the order of a dot product has shorter chains of roundings */
    size_t best = 0;
    for (size_t j = 0; j < count; j++) ones[j] = 1;
    for (size_t j = 1; j < count; j++)
        if (s[j] > s[best]) best = j;
    if (r->sum == 0 || s[best] > r->max) {
        float fade = r->sum == 0 ? 0 : expf(r->max - s[best]);
        r->mean = (r->mean + r->sum * (r->centre - dp[best])) * fade;
        r->sum *= fade, r->max = s[best], r->centre = dp[best];
    }
    for (size_t j = 0; j < count; j++) s[j] -= r->max, dp[j] -= r->centre;
    kern->exp(s, s, count);
    r->sum += kern->dot(s, ones, count);
    r->mean += kern->dot(s, dp, count);
}

/* (2): turns scores into p, and dp into ds. */
static void undo_row(float *s, float *dp, const softmax_row *r, size_t count)
{
    float scale = 1 / r->sum, mean = r->mean * scale;
    for (size_t j = 0; j < count; j++) s[j] -= r->max;
    rung_kernels_get()->exp(s, s, count);
    for (size_t j = 0; j < count; j++) {
        s[j] *= scale;
        dp[j] = s[j] * (dp[j] - r->centre - mean);
    }
}

static void score_slots(float *s, float *dp, const float *q, const float *g, const float *const *slot, size_t count,
                        const rung_mech_conf *conf)
{
    const rung_kernels *kern = rung_kernels_get();
    for (size_t j = 0; j < count; j++) {
        s[j] = kern->dot(q, slot[j], conf->dk);
        dp[j] = kern->dot(g, slot[j] + conf->dk, conf->dv);
    }
}

void rung_softmax_measure_f32(softmax_row *r, const float *q, const float *g, const float *const *slot, size_t count,
                              const rung_mech_conf *conf)
{
    float s[TILE], dp[TILE];
    score_slots(s, dp, q, g, slot, count, conf);
    if (count) measure_row(r, s, dp, count);
}

void rung_softmax_undo_f32(float *dq, float *const *dslot, const softmax_row *r, const float *q, const float *g,
                           const float *const *slot, size_t count, const rung_mech_conf *conf)
{
    const rung_kernels *kern = rung_kernels_get();
    float s[TILE], dp[TILE];
    score_slots(s, dp, q, g, slot, count, conf);
    undo_row(s, dp, r, count);
    for (size_t j = 0; j < count; j++) {
        kern->axpy(dslot[j] + conf->dk, s[j], g, conf->dv);
        kern->axpy(dslot[j], dp[j], q, conf->dk);
        kern->axpy(dq, dp[j], slot[j], conf->dk);
    }
}
