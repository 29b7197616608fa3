/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Ye, He, Liao, Wu, Lu 2026 (arXiv 2602.01763), Theorem B.2 for a_1 = 0, with the numbers of its proof. L full layers, the
 * k-th followed by a_k linear ones, do not compose L functions of the sizes m, n_1, ..., n_{L-1} if H d p >= 2 and for all l
 *
 *     (12)   H d (d+1) p (a_1 + ... + a_{l+1}) <= sqrt(K) x_0 ... x_{l-1} W,   W = n_1 ... n_{L-1},
 *
 *     K = (H d p L)^8 8^(2 L^2),  m = K^(1 + 1 + 8 + ... + 8^(L-1)),  n_l = K^(4 8^(L-l-1)),  x_l = K^(8^(L-l-1)),
 *     log2 Delta_l = 4 sqrt(K) x_0 ... x_{l-2} W,  Theta_l = 8^(-L l) x_0 ... x_l n_1 ... n_{l-1}.
 *
 * For a_1 = 1 the theorem is false (docs/erratum.md). Theorem 1.1, about L-1 full layers, is the case of an idle first one.
 * Here a recurrent layer of s bits is s in the place of H d (d+1) p: the proof counts bits only. H d p is so large that a
 * message of ours has at most 2 H d p bits. Every size is a power of K, so logarithms are products.
 */
#include "bound_rows.h"

#include <math.h>
#include <stdio.h>

/* ---- powers of K ------------------------------------------------------------------------------------------------- */

static double power_of_8(size_t k)
{
    return ldexp(1, (int)(3 * k));
}

/* m = K^this */
static double power_m(size_t L)
{
    double sum = 1;
    for (size_t l = 0; l < L; l++) sum += power_of_8(l);
    return sum;
}

static double power_n(size_t L, size_t l)
{
    return 4 * power_of_8(L - l - 1);
}

/* x_0 ... x_{end-1} */
static double power_x(size_t L, size_t end)
{
    double sum = 0;
    for (size_t l = 0; l < end; l++) sum += power_of_8(L - l - 1);
    return sum;
}

/* n_1 ... n_{end-1} */
static double power_ns(size_t L, size_t end)
{
    double sum = 0;
    for (size_t l = 1; l < end; l++) sum += power_n(L, l);
    return sum;
}

static rung_ival log2_K(rung_certified *s, const rung_published *p)
{
    rung_ival base = rung_ival_mul(s, rung_ival_u64(s, p->width), rung_ival_u64(s, p->L));
    rung_ival eight = rung_ival_mul(s, rung_ival_u64(s, 8), rung_ival_log2(s, base));
    return rung_ival_add(s, eight, rung_ival_u64(s, 6 * p->L * p->L));
}

/* log2 of K^power */
static rung_ival log2_power(rung_certified *s, const rung_published *p, double power)
{
    return rung_ival_mul(s, log2_K(s, p), rung_ival_real(s, power));
}

/* log2 of the right side of (12), which is a quarter of log2 Delta_{l+1}. */
static rung_ival log2_unit(rung_certified *s, const rung_published *p, size_t l)
{
    return log2_power(s, p, 0.5 + power_x(p->L, l) + power_ns(p->L, p->L));
}

/* log2 Theta_l */
static rung_ival log2_theta(rung_certified *s, const rung_published *p, size_t l)
{
    rung_ival loss = rung_ival_u64(s, 3 * p->L * l);
    return rung_ival_sub(s, log2_power(s, p, power_x(p->L, l + 1) + power_ns(p->L, l)), loss);
}

/* The prompt is twice the first table at most: each table is K^4 times as long as the next. */
static rung_ival log2_tokens(rung_certified *s, const rung_published *p)
{
    return rung_ival_add(s, log2_power(s, p, power_m(p->L) + power_ns(p->L, p->L)), rung_ival_u64(s, 1));
}

/* ---- the record -------------------------------------------------------------------------------------------------- */

/* The states of the l+1 first groups against the right side of (12). */
static double slack_of(rung_certified *s, const rung_published *p, size_t l)
{
    uint64_t bits = 0;
    for (size_t k = 1; k <= l + 1; k++) bits += p->state[k];
    if (!bits) return INFINITY;
    return rung_ival_low(s, rung_ival_sub(s, log2_unit(s, p, l), rung_ival_log2(s, rung_ival_u64(s, bits))));
}

/* n_{L-1} Theta_{L-1} log2 N_{L-1} against log2 Delta_L: the contradiction at the end of the proof. */
static double end_slack(rung_certified *s, const rung_published *p)
{
    rung_ival asked = rung_ival_add(s, log2_theta(s, p, p->L - 1), log2_power(s, p, power_n(p->L, p->L - 1)));
    rung_ival each = rung_ival_log2(s, log2_power(s, p, power_m(p->L) + power_ns(p->L, p->L)));
    rung_ival fixed = rung_ival_add(s, log2_unit(s, p, p->L - 1), rung_ival_u64(s, 2));
    return rung_ival_low(s, rung_ival_sub(s, rung_ival_add(s, asked, each), fixed));
}

static void fill(rung_published *p, rung_certified *s)
{
    size_t L = p->L;
    p->log2_K = rung_ival_high(s, log2_K(s, p));
    p->log2_m = p->log2_K * power_m(L);
    p->log2_tokens = rung_ival_high(s, log2_tokens(s, p));
    p->holds = true;
    for (size_t l = 0; l < L; l++) {
        p->log2_x[l] = p->log2_K * power_of_8(L - l - 1);
        if (l == 0) continue;
        p->log2_n[l] = p->log2_K * power_n(L, l);
        p->log2_theta[l] = rung_ival_low(s, log2_theta(s, p, l));
        p->log2_log2_delta[l + 1] = rung_ival_high(s, log2_unit(s, p, l)) + 2;
        p->slack[l] = slack_of(s, p, l);
        p->holds = p->holds && p->slack[l] >= 0;
    }
    p->end_slack = end_slack(s, p);
    p->holds = p->holds && p->end_slack > 0;
}

/* The layers as (L; a_1, ..., a_L): idle full layers stand in front where there are fewer. False, with the reason, where
 * something would stand in the first group. */
static bool take_layers(rung_published *p, const rung_pattern *layers)
{
    size_t idle = p->L - layers->full;
    const char *why = NULL;
    if (layers->headwise || layers->sparse || layers->top || layers->levels_state)
        why = "the theorem is about full layers and linear layers, one after the other";
    else if (layers->too_many || layers->full > p->L)
        why = "the theorem is about at most L full layers";
    else if (p->L > RUNG_PUBLISHED_MAX)
        why = "the numbers are written down for at most 10 functions";
    else if (idle < 2 && layers->layers[0])
        why = "linear layers stand before the first full one; the published theorem does not allow them there";
    else if (idle < 1 && layers->layers[1])
        why = "linear layers stand between the first two full ones; there the published theorem is false "
              "(docs/erratum.md)";
    if (why) snprintf(p->why, sizeof p->why, "%s", why);
    for (size_t g = 0; !why && g <= layers->full; g++) p->state[idle + g] += layers->state[g];
    return !why;
}

/* H d p of the widest full layer, or half a message where that is more, and at least 2. */
static uint64_t width_of(const rung_ledger *ledger, const rung_arithmetic *a, const rung_pattern *layers)
{
    uint64_t width = layers->message / 2 + layers->message % 2, bits = (uint64_t)a->accumulator_bits;
    if ((uint64_t)a->cache_bits > bits) bits = (uint64_t)a->cache_bits;
    for (size_t i = 0; i < ledger->layer_count; i++) {
        const rung_ledger_layer *held = &ledger->layer[i];
        uint64_t dim = held->key_dim > held->value_dim ? held->key_dim : held->value_dim, wide;
        if (!held->full) continue;
        if (__builtin_mul_overflow(held->heads, dim, &wide) || __builtin_mul_overflow(wide, bits, &wide))
            wide = UINT64_C(1) << 62;
        if (wide > width) width = wide;
    }
    return width < 2 ? 2 : width > UINT64_C(1) << 62 ? UINT64_C(1) << 62 : width;
}

static rung_status published_of(rung_published *p, const rung_ledger *ledger, const rung_arithmetic *a,
                                const rung_task_conf *task, const rung_pattern *layers, rung_error *err)
{
    *p = (rung_published){.L = (size_t)rung_task_param(task, "L")};
    rung_certified *sheet;
    if (p->L < 2) {
        snprintf(p->why, sizeof p->why, "the theorem is about at least two functions");
        return RUNG_OK;
    }
    if (layers->overflow) snprintf(p->why, sizeof p->why, "the layers hold more than 2^62 bits");
    if (layers->overflow || !take_layers(p, layers)) return RUNG_OK;
    p->width = width_of(ledger, a, layers);
    RUNG_TRY(rung_certified_new(&sheet, 256, err));
    fill(p, sheet);
    bool failed = rung_certified_failed(sheet);
    rung_certified_free(sheet);
    if (failed) return rung_fail(err, RUNG_SYSTEM, "out of memory for certified numbers");
    p->applies = true;
    return RUNG_OK;
}

rung_status rung_published_of(rung_published *out, const rung_claim *claim, rung_error *err)
{
    const rung_task_conf *task = rung_claim_task(claim);
    if (!task || rung_param_find(task->task->params, "L") == SIZE_MAX ||
        rung_param_find(task->task->params, "N0") == SIZE_MAX)
        return rung_fail(err, RUNG_USAGE, "--published is about sequential composition: --task seqcomp L=2");
    const rung_ledger *ledger = rung_claim_ledger(claim);
    const rung_arithmetic *a = rung_claim_arithmetic(claim);
    rung_pattern layers = rung_pattern_of(ledger, a);
    return published_of(out, ledger, a, task, &layers, err);
}

void rung_published_json(rung_jout *out, const rung_published *p)
{
    rung_jout_object(out, "published");
    rung_jout_bool(out, "applies", p->applies);
    rung_jout_string(out, "why", p->applies ? NULL : p->why);
    if (p->applies) {
        rung_jout_int(out, "L", (int64_t)p->L);
        rung_jout_int(out, "Hdp", (int64_t)p->width);
        rung_jout_real(out, "log2_K", p->log2_K);
        rung_jout_real(out, "log2_m", p->log2_m);
        rung_jout_real(out, "log2_tokens", p->log2_tokens);
        rung_jout_array(out, "levels");
        for (size_t l = 0; l < p->L; l++) {
            rung_jout_flat_object(out, NULL);
            rung_jout_int(out, "l", (int64_t)l);
            rung_jout_real(out, "log2_x", p->log2_x[l]);
            if (l > 0) {
                rung_jout_real(out, "log2_n", p->log2_n[l]);
                rung_jout_real(out, "log2_Theta", p->log2_theta[l]);
                rung_jout_real(out, "log2_log2_Delta_next", p->log2_log2_delta[l + 1]);
                if (isfinite(p->slack[l])) rung_jout_real(out, "log2_slack_of_12", p->slack[l]);
            }
            rung_jout_end(out);
        }
        rung_jout_end(out);
        rung_jout_real(out, "log2_slack_at_the_end", p->end_slack);
        rung_jout_bool(out, "holds", p->holds);
    }
    rung_jout_end(out);
}

/* ---- the row ----------------------------------------------------------------------------------------------------- */

typedef struct asked {
    const rung_published *p;
    uint64_t n;
} asked;

static bound_sides sides(rung_certified *s, const void *context)
{
    const asked *x = context;
    return (bound_sides){rung_ival_log2(s, rung_ival_u64(s, x->n)), log2_tokens(s, x->p)};
}

static rung_status evaluate(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p, rung_error *err)
{
    rung_published numbers;
    RUNG_TRY(published_of(&numbers, q->ledger, q->arithmetic, q->task, p, err));
    if (!numbers.applies) return bound_missing(answer, "%s", numbers.why);
    if (!q->n) return bound_missing(answer, "the theorem chooses the sizes of the task; ask for a prompt length n");
    RUNG_TRY(bound_decide(answer, sides, &(asked){&numbers, q->n}, err));
    answer->holds = answer->holds && numbers.holds;
    answer->log2_n = numbers.holds ? numbers.log2_tokens : 0;
    snprintf(answer->premise, sizeof answer->premise,
             "as published, for a_1 = 0; sizes of the task as in the proof; --published prints them");
    snprintf(
        answer->statement, sizeof answer->statement,
        "log2 n = %.1f > %.1f = log2 of the prompt of the proof, with L = %zu, H d p = %llu, log2 K = %.2f, log2 m = "
        "%.6g, (12) %s",
        answer->lhs, answer->rhs, numbers.L, (unsigned long long)numbers.width, numbers.log2_K, numbers.log2_m,
        numbers.holds ? "holds" : "does not hold");
    return RUNG_OK;
}

const rung_bound rung_bound_published_hybrid = {
    .id = "published-hybrid",
    .summary = "L-1 full layers with linear ones after each, or L with none between the first two, do not compose L "
               "functions",
    .task = "seqcomp",
    .source = "Ye, He, Liao, Wu, Lu 2026, Theorem 1.1 and B.2 for a_1 = 0",
    .checked = "published",
    .section = "published",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate,
};
