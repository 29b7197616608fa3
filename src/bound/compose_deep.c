/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * L' functions with L'-1 full layers among recurrent ones (theorem D), or with L' full layers and recurrent ones after them
 * only (D-pure); L' >= 3, and L' = 2 is B, C0, Ce. The proof goes from the inside out: a set of z_1 for which nothing has
 * been learnt, then of z_2, and so on, and counts what must be fixed of the outer tables (docs/theory.md). r_k are the state
 * bits after the k-th full layer, c those of an accumulator.
 *
 *   N_0 = t q_1 ... q_{L-1}, N_l = n_l N_{l-1}, W = n_1 ... n_{L-1}, M_1 = N_0 - g t + x_1 g t, X_{i:j} = x_i ... x_j
 *   D:      Theta_1 from density 2^-(r_0/g);  D_2 = r_0 + r_1 + c (W t + t + M_1)
 *           (r_0 = 0: Theta_1 = t x_1, D_2 = r_1 + c (W + t + M_1))
 *   D-pure: Theta_1 from density 2^-(c W/g);  D_2 = c (W + W t + t + M_1) + c (t x_1 + M_1)
 *   l = 2 .. L-1, with k = l (D) or l+1 (D-pure) full layers seen by the tokens of z_l:
 *     Theta_l values of z_l, by Lemma S': T = n_{l-1} Theta_{l-1} coordinates, and some 0 < y < 1 with
 *       T sum_{j<x_l} log2(y + (1-y) j/q_l) - Theta_l log2 y <= -(x_l D_l + 1)
 *     D_{l+1} = x_l D_l + 1 + (r_0 + ... + r_l)
 *               + c ((W+1) t X_{1:l-1} + M_1 X_{2:l-1} + sum_{i=2}^{l-1} N_{i-1} X_{i:l-1} + k x_l N_{l-1})
 *   last step: no states after the last full layer: without r_{L-1}, only W t X_{1:l-1} and (k-1) x_l N_{l-1};
 *              else r_{L-1} + c x_l N_{l-1} may be x_l r_{L-1} instead.
 *   Impossible if D_L < n_{L-1} Theta_{L-1} log2 V.
 *
 * With more functions in the task than L', the others pass their argument on; their tokens stand between z_L and z_{L'-1}
 * and are counted with those of z_{L'-1}.
 */
#include "compose.h"
#include "search.h"

#include <math.h>
#include <stdio.h>

enum { DEEP_MAX = 6 }; /* L' */

typedef struct deep {
    compose_task task;
    size_t L;  /* L' */
    bool pure; /* D-pure */
    uint64_t r[DEEP_MAX + 1], c;
    uint64_t t, g, x[DEEP_MAX], q[DEEP_MAX], n[DEEP_MAX]; /* x, q, n from index 1 */
    double y[DEEP_MAX];                                   /* of Lemma S', from index 1; 0: not used */
} deep;

/* ---- in doubles, for searching ------------------------------------------------------------------------------------------ */

/* An upper bound of sum_{j<x} log2(y + (1-y) j/q): the terms rise with j, so the integral from 0 to x is larger. */
static double spread_sum(double y, double x, double q)
{
    double k = (1 - y) / q, end = y + k * x;
    return ((end * log(end) - end) - (y * log(y) - y)) / (k * log(2));
}

/* Values that x functions surely take on T coordinates if their tuple may be bad with probability 2^-budget; best y. */
static double spread_random(double *best_y, double T, double q, double x, double budget)
{
    double best = 0;
    for (int i = 1; i < 60; i++) {
        double y = exp2(-i * 0.35);
        double theta = floor((-T * spread_sum(y, x, q) - budget) / -log2(y));
        if (theta > best) best = theta, *best_y = y;
    }
    return best;
}

static double N0_of(const deep *d)
{
    double N0 = (double)d->t;
    for (size_t l = 1; l < d->L; l++) N0 *= (double)d->q[l];
    return N0;
}

static double first_values(deep *d, double W)
{
    double t = (double)d->t, x = (double)d->x[1], q = (double)d->q[1];
    double loss = (d->pure ? (double)d->c * W : (double)d->r[0]) / (double)d->g;
    d->y[1] = 0;
    if (loss == 0) return t * x;
    return spread_random(&d->y[1], t, q, x, x * loss * (1 + 1e-9) + 1e-6);
}

static double first_cost(const deep *d, double W, double M1)
{
    double t = (double)d->t, c = (double)d->c, x1 = (double)d->x[1];
    if (d->pure) return c * (W + W * t + t + M1) + c * (t * x1 + M1);
    if (d->r[0] == 0) return (double)d->r[1] + c * (W + t + M1);
    return (double)d->r[0] + (double)d->r[1] + c * (W * t + t + M1);
}

/* X_{i:j} */
static double span(const deep *d, size_t i, size_t j)
{
    double X = 1;
    for (size_t l = i; l <= j; l++) X *= (double)d->x[l];
    return X;
}

static double table_size(const deep *d, size_t l, double N0)
{
    for (size_t i = 1; i <= l; i++) N0 *= (double)d->n[i];
    return N0;
}

static double step_cost(const deep *d, size_t l, double D, double W, double N0, double M1)
{
    double c = (double)d->c, t = (double)d->t, states = 0, X = span(d, 1, l - 1), x = (double)d->x[l];
    double seen = (double)(d->pure ? l + 1 : l), tokens = x * table_size(d, l - 1, N0), lower = M1 * span(d, 2, l - 1);
    bool last = l == d->L - 1;
    if (last) tokens += x * N0 * (double)(d->task.L - d->L);
    for (size_t i = 2; i < l; i++) lower += table_size(d, i - 1, N0) * span(d, i, l - 1);
    for (size_t i = 0; i <= l && !d->pure; i++) states += (double)d->r[i];
    double after = (double)d->r[d->pure ? d->L : l];
    if (!last) return x * D + 1 + states + c * ((W + 1) * t * X + lower + seen * tokens);
    if (after == 0) return x * D + 1 + states + c * (W * t * X + (seen - 1) * tokens);
    if (d->pure) states = after;
    double both = states + c * ((W + 1) * t * X + lower + seen * tokens);
    return x * D + 1 + both - after - c * tokens + fmin(x * after, after + c * tokens);
}

/* Left minus right side, and the prompt. */
static double deep_gain(deep *d, double *tokens)
{
    double N0 = N0_of(d), W = 1, cells = (double)d->g * (double)d->t;
    for (size_t l = 1; l < d->L; l++) W *= (double)d->n[l];
    double M1 = N0 - cells + (double)d->x[1] * cells, theta = first_values(d, W), D = first_cost(d, W, M1);
    *tokens = 2 + N0 * (double)(1 + d->task.L - d->L);
    for (size_t l = 1; l < d->L; l++) *tokens += table_size(d, l, N0);
    for (size_t l = 2; l < d->L && theta >= 1; l++) {
        double next = spread_random(&d->y[l], (double)d->n[l - 1] * theta, (double)d->q[l], (double)d->x[l],
                                    (double)d->x[l] * D * (1 + 1e-12) + 1.001);
        D = step_cost(d, l, D, W, N0, M1), theta = next;
    }
    return (double)d->n[d->L - 1] * theta * log2(table_size(d, d->L - 1, N0)) - D;
}

/* Points: t, g, then x_l, q_l for l = 1 .. L'-1, then n_1 .. n_{L'-2}; the last n is solved for. */
static bool deep_take(deep *d, const uint64_t *point)
{
    size_t at = 2;
    d->t = point[0], d->g = point[1];
    for (size_t l = 1; l < d->L; l++) {
        d->x[l] = point[at++], d->q[l] = point[at++];
        if (d->x[l] > d->q[l]) return false;
    }
    for (size_t l = 1; l + 1 < d->L; l++) d->n[l] = point[at++];
    double N0 = N0_of(d);
    return (double)d->g * (double)d->t <= N0 && N0 < 1e15;
}

static double deep_tokens_at(deep *d, uint64_t last, bool *holds)
{
    double tokens;
    d->n[d->L - 1] = last;
    *holds = deep_gain(d, &tokens) > 0;
    return tokens;
}

/* The least n_{L'-1}, by doubling and bisection: if one works, larger ones do, because the left side grows faster. */
static double deep_solve(deep *d)
{
    uint64_t low = 0, high = 1;
    bool holds;
    while (deep_tokens_at(d, high, &holds), !holds) {
        low = high, high *= 2;
        if (high > UINT64_C(1) << 50) return INFINITY;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        deep_tokens_at(d, middle, &holds);
        if (holds)
            high = middle;
        else
            low = middle;
    }
    return deep_tokens_at(d, high, &holds);
}

static double deep_value(const uint64_t *point, const void *context)
{
    deep d = *(const deep *)context;
    if (!deep_take(&d, point)) return INFINITY;
    double tokens = deep_solve(&d);
    return tokens < INFINITY ? log2(tokens) : INFINITY;
}

/* ---- certified ------------------------------------------------------------------------------------------------------------ */

static rung_ival times(rung_certified *s, rung_ival a, uint64_t b)
{
    return rung_ival_mul(s, a, rung_ival_u64(s, b));
}

static rung_ival plus_times(rung_certified *s, rung_ival sum, rung_ival a, uint64_t b)
{
    return rung_ival_add(s, sum, times(s, a, b));
}

/* A primitive of log2: u log2 u - u / ln 2. */
static rung_ival primitive(rung_certified *s, rung_ival u)
{
    return rung_ival_sub(s, rung_ival_mul(s, u, rung_ival_log2(s, u)), rung_ival_mul(s, u, rung_ival_log2e(s)));
}

/* An upper bound of the sum of Lemma S'. */
static rung_ival spread_sum_surely(rung_certified *s, double y, uint64_t x, uint64_t q)
{
    rung_ival from = rung_ival_real(s, y), one = rung_ival_u64(s, 1);
    rung_ival k = rung_ival_div(s, rung_ival_sub(s, one, from), rung_ival_u64(s, q));
    rung_ival to = rung_ival_add(s, from, times(s, k, x));
    return rung_ival_div(s, rung_ival_sub(s, primitive(s, to), primitive(s, from)), k);
}

/* floor((-T S - budget) / -log2 y), as an integer that is surely reached; 0 if it is not even 1. */
static rung_ival spread_random_surely(rung_certified *s, rung_ival T, double y, uint64_t x, uint64_t q,
                                      rung_ival budget)
{
    rung_ival zero = rung_ival_u64(s, 0);
    if (!(y > 0 && y < 1)) return zero;
    rung_ival gain = rung_ival_sub(s, zero, rung_ival_mul(s, T, spread_sum_surely(s, y, x, q)));
    rung_ival each = rung_ival_sub(s, zero, rung_ival_log2(s, rung_ival_real(s, y)));
    double theta = floor(rung_ival_low(s, rung_ival_div(s, rung_ival_sub(s, gain, budget), each)));
    return rung_ival_real(s, theta > 0 && theta < INFINITY ? theta : 0);
}

typedef struct deep_sheet {
    rung_ival N0, W, M1, table[DEEP_MAX + 1]; /* table[l] = N_l */
} deep_sheet;

static deep_sheet sizes_surely(rung_certified *s, const deep *d)
{
    deep_sheet z = {.N0 = rung_ival_u64(s, d->t), .W = rung_ival_u64(s, 1)};
    rung_ival cells = times(s, rung_ival_u64(s, d->g), d->t);
    for (size_t l = 1; l < d->L; l++) z.N0 = times(s, z.N0, d->q[l]), z.W = times(s, z.W, d->n[l]);
    z.M1 = rung_ival_add(s, rung_ival_sub(s, z.N0, cells), times(s, cells, d->x[1]));
    z.table[0] = z.N0;
    for (size_t l = 1; l < d->L; l++) z.table[l] = times(s, z.table[l - 1], d->n[l]);
    return z;
}

static rung_ival first_values_surely(rung_certified *s, const deep *d, const deep_sheet *z)
{
    rung_ival t = rung_ival_u64(s, d->t);
    rung_ival held = d->pure ? times(s, z->W, d->c) : rung_ival_u64(s, d->r[0]);
    if (!d->pure && d->r[0] == 0) return times(s, t, d->x[1]);
    rung_ival loss = rung_ival_div(s, held, rung_ival_u64(s, d->g));
    /* strictly below 2^-(x loss): a little more than that is asked for */
    rung_ival budget = rung_ival_add(s, times(s, loss, d->x[1]), rung_ival_real(s, 1e-9));
    return spread_random_surely(s, t, d->y[1], d->x[1], d->q[1], budget);
}

static rung_ival first_cost_surely(rung_certified *s, const deep *d, const deep_sheet *z)
{
    rung_ival t = rung_ival_u64(s, d->t), c = rung_ival_u64(s, d->c);
    rung_ival known = !d->pure && d->r[0] == 0 ? z->W : times(s, z->W, d->t);
    rung_ival listed = rung_ival_add(s, rung_ival_add(s, known, t), z->M1);
    if (d->pure) {
        listed = rung_ival_add(s, rung_ival_add(s, listed, z->W), z->M1);
        return rung_ival_mul(s, c, plus_times(s, listed, t, d->x[1]));
    }
    rung_ival states = rung_ival_add(s, rung_ival_u64(s, d->r[0]), rung_ival_u64(s, d->r[1]));
    return rung_ival_add(s, states, rung_ival_mul(s, c, listed));
}

static rung_ival span_surely(rung_certified *s, const deep *d, size_t i, size_t j)
{
    rung_ival X = rung_ival_u64(s, 1);
    for (size_t l = i; l <= j; l++) X = times(s, X, d->x[l]);
    return X;
}

static rung_ival lower_surely(rung_certified *s, const deep *d, size_t l, const deep_sheet *z)
{
    rung_ival lower = rung_ival_mul(s, z->M1, span_surely(s, d, 2, l - 1));
    for (size_t i = 2; i < l; i++)
        lower = rung_ival_add(s, lower, rung_ival_mul(s, z->table[i - 1], span_surely(s, d, i, l - 1)));
    return lower;
}

static rung_ival step_cost_surely(rung_certified *s, const deep *d, size_t l, rung_ival D, const deep_sheet *z)
{
    bool last = l == d->L - 1;
    uint64_t x = d->x[l], seen = d->pure ? l + 1 : l, after = d->r[d->pure ? d->L : l];
    rung_ival c = rung_ival_u64(s, d->c), one = rung_ival_u64(s, 1), own = z->table[l - 1];
    if (last) own = plus_times(s, own, z->N0, d->task.L - d->L);
    rung_ival tokens = times(s, own, x), contexts = times(s, span_surely(s, d, 1, l - 1), d->t);
    rung_ival cost = rung_ival_add(s, times(s, D, x), one);
    for (size_t i = 0; i <= l && !d->pure; i++)
        if (!(last && i == l)) cost = rung_ival_add(s, cost, rung_ival_u64(s, d->r[i]));
    rung_ival heard = rung_ival_mul(s, contexts, z->W);
    if (!last || after) {
        heard = rung_ival_add(s, heard, rung_ival_add(s, contexts, lower_surely(s, d, l, z)));
        heard = plus_times(s, heard, tokens, last ? seen - 1 : seen);
    } else {
        heard = plus_times(s, heard, tokens, seen - 1);
    }
    cost = rung_ival_add(s, cost, rung_ival_mul(s, c, heard));
    if (!last || !after) return cost;
    rung_ival once = rung_ival_add(s, rung_ival_u64(s, after), rung_ival_mul(s, c, tokens));
    return rung_ival_add(s, cost, rung_ival_min(s, times(s, rung_ival_u64(s, after), x), once));
}

static bound_sides deep_sides(rung_certified *s, const void *context)
{
    const deep *d = context;
    deep_sheet z = sizes_surely(s, d);
    rung_ival theta = first_values_surely(s, d, &z), D = first_cost_surely(s, d, &z), one = rung_ival_u64(s, 1);
    for (size_t l = 2; l < d->L; l++) {
        rung_ival budget = rung_ival_add(s, times(s, D, d->x[l]), one);
        theta = spread_random_surely(s, times(s, theta, d->n[l - 1]), d->y[l], d->x[l], d->q[l], budget);
        D = step_cost_surely(s, d, l, D, &z);
    }
    rung_ival values = rung_ival_log2(s, z.table[d->L - 1]);
    return (bound_sides){rung_ival_mul(s, times(s, theta, d->n[d->L - 1]), values), D};
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------ */

static double deep_choose(deep *d)
{
    uint64_t point[SEARCH_DIMS];
    size_t at = 2;
    search_box box = {.count = 2 + 2 * (d->L - 1) + d->L - 2};
    box.low[0] = box.low[1] = 1, box.high[0] = UINT64_C(1) << 16, box.high[1] = UINT64_C(1) << 36;
    for (size_t l = 1; l < d->L; l++) {
        uint64_t most = l == 1 ? UINT64_C(1) << 36 : UINT64_C(1) << (d->L > 3 ? 20 : 14);
        for (int i = 0; i < 2; i++) box.low[at] = 1, box.high[at++] = most;
    }
    for (size_t l = 1; l + 1 < d->L; l++) box.low[at] = 1, box.high[at++] = UINT64_C(1) << 40;
    double found = search_least(point, false, &box, deep_value, d, 30000);
    if (found == INFINITY || !deep_take(d, point)) return INFINITY;
    return deep_solve(d);
}

static void deep_print(rung_bound_answer *answer, const deep *d)
{
    char text[200];
    size_t len = 0;
    for (size_t l = 1; l < d->L && len < sizeof text - 64; l++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%sx_%zu = %llu, q_%zu = %llu, n_%zu = %llu",
                                l > 1 ? ", " : "", l, (unsigned long long)d->x[l], l, (unsigned long long)d->q[l], l,
                                (unsigned long long)d->n[l]);
    snprintf(answer->statement, sizeof answer->statement,
             "n_%zu Theta log2 V = %.6g > %.6g, with t = %llu, g = %llu, %s, c = %llu", d->L - 1, answer->lhs,
             answer->rhs, (unsigned long long)d->t, (unsigned long long)d->g, text, (unsigned long long)d->c);
}

static rung_status evaluate_deep(rung_bound_answer *answer, deep *d, const rung_question *q, rung_error *err)
{
    if (!d->task.last) return bound_missing(answer, "w comes first: every token may know what is asked");
    if (!d->task.free) return bound_missing(answer, "evaluated for a length only: ask with --n");
    if (d->L > DEEP_MAX)
        return bound_missing(answer, "more than %d functions: the smallest size has more than thousands of bits",
                             DEEP_MAX - 1);
    double tokens = deep_choose(d);
    if (tokens == INFINITY) return bound_missing(answer, "no size was found that satisfies the inequality");
    rung_status status = bound_decide(answer, deep_sides, d, err);
    if (status != RUNG_OK) return status;
    answer->log2_n = answer->holds ? log2(tokens) : 0;
    compose_finish(answer, q, &d->task, tokens, false);
    answer->trivial = log2(tokens) > (double)d->c;
    deep_print(answer, d);
    return RUNG_OK;
}

static bool plain(const rung_pattern *p)
{
    return !p->too_many && !p->headwise && !p->sparse && !p->levels_state;
}

static rung_status evaluate_d(rung_bound_answer *answer, const rung_question *q, const rung_pattern *p, rung_error *err)
{
    deep d = {.task = compose_of(q), .L = p->full + 1, .c = p->message};
    if (!plain(p) || p->full < 2) return bound_missing(answer, "about at least two full layers among recurrent ones");
    if (d.task.L < d.L) return bound_missing(answer, "about more functions than full layers");
    for (size_t i = 0; i <= p->full && d.L <= DEEP_MAX; i++) d.r[i] = p->state[i];
    rung_status status = evaluate_deep(answer, &d, q, err);
    if (answer->applies)
        snprintf(answer->premise, sizeof answer->premise,
                 "%zu full layers among recurrent ones, %zu functions, summed from left to right, w last", p->full,
                 d.L);
    return status;
}

static rung_status evaluate_pure(rung_bound_answer *answer, const rung_question *q, const rung_pattern *p,
                                 rung_error *err)
{
    deep d = {.task = compose_of(q), .L = p->full, .pure = true, .c = p->message};
    if (!plain(p) || p->full < 3) return bound_missing(answer, "about at least three full layers");
    for (size_t i = 0; i < p->full; i++)
        if (p->state[i]) return bound_missing(answer, "a recurrent layer before the last full one: see D");
    if (d.task.L < d.L) return bound_missing(answer, "about at least as many functions as full layers");
    if (d.L <= DEEP_MAX) d.r[d.L] = p->state[p->full];
    rung_status status = evaluate_deep(answer, &d, q, err);
    if (answer->applies)
        snprintf(answer->premise, sizeof answer->premise,
                 "%zu full layers, recurrent ones after them only, %zu functions, summed from left to right, w last",
                 p->full, d.L);
    return status;
}

const rung_bound rung_bound_compose_deep = {
    .id = "D",
    .summary = "L-1 full layers among recurrent ones cannot compose L functions",
    .task = "seqcomp",
    .source = "ours; in the limit: Ye et al. 2026",
    .checked = "proof on paper only",
    .section = "theorem-d",
    .needs_order = true,
    .evaluate = evaluate_d,
};

const rung_bound rung_bound_compose_deep_full = {
    .id = "D-pure",
    .summary = "L full layers cannot compose L functions",
    .task = "seqcomp",
    .source = "ours; in the limit: Chen, Peng, Wu 2024",
    .checked = "proof on paper only",
    .section = "theorem-d",
    .needs_order = true,
    .evaluate = evaluate_pure,
};
