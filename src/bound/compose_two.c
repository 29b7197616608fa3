/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Two functions, one full layer. A and B are the state bits before and after F, c those of its accumulator.
 *
 * B0 (A = 0). z_0 ranges over x_0 values, z_1 over x_1 functions whose images of them cover [N_0]. In F the query of w
 * depends on w only and that of z_0 on z_0 only; so the answer on (w, z_0, z_1) is a function of these, of the accumulators
 * over the first table of w (c bits for each of n_1) and of z_0 (c for each of x_0), and of the states that leave z_1 after F
 * (B bits for each of x_1). They determine every entry of z_2. Impossible if for some x_0 x_1 >= N_0
 *
 *     N_1 log2 V > c (n_1 + x_0) + B x_1;          B = 0: what z_0 receives is never read, one w suffices: N_0 log2 V > c.
 *
 * B (A > 0). N_0 = t q; the last g t indices of z_1 in t groups, group i with values in an alphabet A_i of size q. Fix the
 * states that leave z_2 (density 2^-A); then those that leave z_1 are a function of z_1: a class of density 2^-A. Some
 * choice of one index per group has a projection of density 2^-A/g, and in it x functions take Theta = Theta(t,q,A/g,x)
 * values (Lemma S). The listed bits are then c for each (index, w); after F, if B > 0, c for each index and the states for
 * each function, or once together with the accumulators of the M = N_0 - g t + x g t tokens of z_1 (L > 2: and of the
 * tokens between). Impossible if
 *
 *     n_1 Theta log2 V > A + c t n_1 + [B>0] (c t + min(x B, B + c M)),     1 <= g <= q, x <= q.
 */
#include "compose.h"
#include "search.h"
#include "spread.h"

#include <math.h>
#include <stdio.h>

typedef struct one_full {
    compose_task task;
    compose_size size;
    double A, B, c; /* for searching; the integers are below 2^62 and doubles only guess */
    uint64_t state_before, state_after, message;
    /* parameters of the proof */
    uint64_t x0, x1;     /* B0 */
    uint64_t t, q, g, x; /* B */
    double theta;        /* while searching */
} one_full;

static bool pattern_fits(rung_bound_answer *answer, const compose_task *t, const rung_pattern *p)
{
    if (t->L < 2)
        bound_missing(answer, "about at least two functions");
    else if (!t->last)
        bound_missing(answer, "w comes first: every token may know what is asked");
    else if (p->full != 1 || p->too_many || p->headwise || p->sparse || p->levels_state)
        bound_missing(answer, "about one full layer with recurrent ones before and after it");
    else
        return true;
    return false;
}

static one_full question_of(const rung_question *q, const rung_pattern *p)
{
    compose_task t = compose_of(q);
    return (one_full){.task = t,
                      .size = t.size,
                      .A = (double)p->state[0],
                      .B = (double)p->state[1],
                      .c = (double)p->message,
                      .state_before = p->state[0],
                      .state_after = p->state[1],
                      .message = p->message};
}

static rung_ival product(rung_certified *s, uint64_t a, uint64_t b)
{
    return rung_ival_mul(s, rung_ival_u64(s, a), rung_ival_u64(s, b));
}

/* entries x log2 V, of entries that are themselves a product. */
static rung_ival entropy(rung_certified *s, uint64_t n1, uint64_t each, uint64_t V)
{
    return rung_ival_mul(s, product(s, n1, each), rung_ival_log2(s, rung_ival_u64(s, V)));
}

/* ---- B0 ---------------------------------------------------------------------------------------------------------------- */

static bound_sides b0_sides(rung_certified *s, const void *context)
{
    const one_full *o = context;
    if (o->state_after == 0) return (bound_sides){entropy(s, 1, o->size.N0, o->size.V), rung_ival_u64(s, o->message)};
    rung_ival receivers = rung_ival_add(s, rung_ival_u64(s, o->size.n1), rung_ival_u64(s, o->x0));
    rung_ival heard = rung_ival_mul(s, rung_ival_u64(s, o->message), receivers);
    return (bound_sides){entropy(s, o->size.n1, o->size.N0, o->size.V),
                         rung_ival_add(s, heard, product(s, o->state_after, o->x1))};
}

static bool b0_holds(double n1, const void *context)
{
    const one_full *o = context;
    double N0 = (double)o->size.N0, V = o->task.free ? n1 * N0 : (double)o->size.V;
    if (o->state_after == 0) return N0 * log2(V) > o->c;
    return n1 * N0 * log2(V) > o->c * (n1 + (double)o->x0) + o->B * (double)o->x1;
}

/* The x_1 with the least c x_0 + B x_1: near the square root, or all of them while they are few. */
static void choose_x(one_full *o)
{
    double N0 = (double)o->size.N0, best = INFINITY, middle = sqrt(o->c * N0 / fmax(o->B, 1));
    uint64_t from = 1, to = o->size.N0;
    if (o->size.N0 > 4096) {
        from = middle > 65 ? (uint64_t)(middle - 64) : 1;
        if (from > o->size.N0) from = o->size.N0;
        to = from + 160 < o->size.N0 ? from + 160 : o->size.N0;
    }
    for (uint64_t x1 = from; x1 <= to; x1++) {
        uint64_t x0 = (o->size.N0 + x1 - 1) / x1;
        double cost = o->c * (double)x0 + o->B * (double)x1;
        if (cost < best) best = cost, o->x0 = x0, o->x1 = x1;
    }
}

/* n for this N_0 with the best n_1. n_1 N_0 log2(n_1 N_0) - c n_1 is convex in n_1 and not positive at 0, so it crosses a
 * constant once. */
static double b0_tokens(one_full *o)
{
    choose_x(o);
    o->size.n1 = compose_least_n1(b0_holds, o);
    if (!o->size.n1) return INFINITY;
    o->size.V = o->size.n1 * o->size.N0;
    return compose_tokens(&o->task, (double)o->size.N0, (double)o->size.n1);
}

/* Exhaustive while N_0 up to half of the best n can be walked through; else every N_0 up to 2^14 and then steps of 0.1 %. */
static double b0_threshold(one_full *best, bool *exact)
{
    double tokens = INFINITY;
    *exact = true;
    for (uint64_t N0 = 1; (double)(best->task.L) * (double)N0 + 2 < tokens && N0 < UINT64_C(1) << 40;) {
        one_full o = *best;
        o.size.N0 = N0;
        double n = b0_tokens(&o);
        if (n < tokens) tokens = n, *best = o;
        if (N0 > 4096) *exact = false;
        N0 += N0 > 1 << 14 ? N0 / 1024 : 1;
    }
    return tokens;
}

static void b0_print(rung_bound_answer *answer, const one_full *o)
{
    if (o->state_after == 0)
        snprintf(answer->statement, sizeof answer->statement,
                 "N_0 log2 V = %.1f > %.0f = c, with N_0 = %llu, n_1 = %llu, V = %llu", answer->lhs, answer->rhs,
                 (unsigned long long)o->size.N0, (unsigned long long)o->size.n1, (unsigned long long)o->size.V);
    else
        snprintf(answer->statement, sizeof answer->statement,
                 "N_1 log2 V = %.1f > %.1f = c (n_1 + x_0) + B x_1, with N_0 = %llu, n_1 = %llu, V = %llu, x_0 = %llu, "
                 "x_1 = %llu, c = %llu, B = %llu",
                 answer->lhs, answer->rhs, (unsigned long long)o->size.N0, (unsigned long long)o->size.n1,
                 (unsigned long long)o->size.V, (unsigned long long)o->x0, (unsigned long long)o->x1,
                 (unsigned long long)o->message, (unsigned long long)o->state_after);
}

/* Uniform z_2, w, z_0 and z_1 = identity is hard on average: x_1 = 1, x_0 = N_0. */
static void b0_ceiling(rung_bound_answer *answer, const one_full *o)
{
    double entries = (double)o->size.n1 * (double)o->size.N0, values = log2((double)o->size.V);
    double heard = o->c * ((double)o->size.n1 + (double)o->size.N0) + o->B;
    double ceiling = (heard / entries + 1) / values;
    answer->ceiling = ceiling < 1 ? ceiling : 0;
}

static rung_status evaluate_b0(rung_bound_answer *answer, const rung_question *q, const rung_pattern *p,
                               rung_error *err)
{
    one_full o = question_of(q, p);
    bool exact = false;
    double tokens = 0;
    if (!pattern_fits(answer, &o.task, p)) return RUNG_OK;
    if (p->state[0]) return bound_missing(answer, "about a full layer that comes first; see B");
    if (o.task.free)
        tokens = b0_threshold(&o, &exact);
    else
        choose_x(&o);
    if (tokens == INFINITY) return bound_missing(answer, "no size below 2^40 satisfies the inequality");
    rung_status status = bound_decide(answer, b0_sides, &o, err);
    if (status != RUNG_OK) return status;
    compose_finish(answer, q, &o.task, tokens, exact);
    answer->trivial = log2((double)o.size.V) > o.c;
    snprintf(answer->premise, sizeof answer->premise, "F R^%zu, summed from left to right, w last", p->layers[1]);
    b0_print(answer, &o);
    b0_ceiling(answer, &o);
    return RUNG_OK;
}

const rung_bound rung_bound_compose_first = {
    .id = "B0",
    .summary = "one full layer, then recurrent ones, cannot compose two functions",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by search at small sizes",
    .section = "theorem-b0",
    .needs_order = true,
    .evaluate = evaluate_b0,
};

/* ---- B ------------------------------------------------------------------------------------------------------------------- */

/* M and the middle: tokens of z_1 with what they receive of z_2, one for each value that they can have. */
static uint64_t listed_tokens(const one_full *o)
{
    return o->size.N0 - o->g * o->t + o->x * o->g * o->t + compose_middle(&o->task, o->size.N0);
}

/* min(x B, B + c M), with the two sides as integers. */
static rung_ival later_states(rung_certified *s, const one_full *o)
{
    uint64_t tokens = listed_tokens(o);
    rung_ival once = rung_ival_add(s, rung_ival_u64(s, o->state_after), product(s, o->message, tokens));
    return rung_ival_min(s, product(s, o->x, o->state_after), once);
}

static bound_sides b_sides(rung_certified *s, const void *context)
{
    const one_full *o = context;
    rung_ival loss = rung_ival_div(s, rung_ival_u64(s, o->state_before), rung_ival_u64(s, o->g));
    uint64_t theta = spread_surely(s, o->t, o->q, loss, o->x);
    rung_ival heard = rung_ival_mul(s, product(s, o->message, o->t), rung_ival_u64(s, o->size.n1));
    heard = rung_ival_add(s, heard, rung_ival_u64(s, o->state_before));
    if (o->state_after) {
        heard = rung_ival_add(s, heard, product(s, o->message, o->t));
        heard = rung_ival_add(s, heard, later_states(s, o));
    }
    return (bound_sides){entropy(s, o->size.n1, theta, o->size.V), heard};
}

static double b_constant(const one_full *o)
{
    double later = fmin((double)o->x * o->B, o->B + o->c * (double)listed_tokens(o));
    return o->A + (o->B > 0 ? o->c * (double)o->t + later : 0);
}

static bool b_holds(double n1, const void *context)
{
    const one_full *o = context;
    double V = o->task.free ? n1 * (double)o->size.N0 : (double)o->size.V;
    return n1 * (o->theta * log2(V) - o->c * (double)o->t) > b_constant(o);
}

static bool b_take(one_full *o, const uint64_t *point)
{
    o->t = point[0], o->q = point[1], o->g = point[2], o->x = point[3];
    if (o->g > o->q || o->x > o->q) return false;
    if ((double)o->t * (double)o->q * (double)o->x > 1e18) return false; /* the tokens that are listed must fit */
    if (o->t > 1 && o->x > 4096) return false;                           /* too slow to prove step by step */
    if (o->task.free) o->size.N0 = o->t * o->q;
    o->theta = spread_estimate(o->t, o->q, o->A / (double)o->g, o->x);
    return true;
}

/* Free sizes: n at this point. */
static double b_tokens(const uint64_t *point, const void *context)
{
    one_full o = *(const one_full *)context;
    if (!b_take(&o, point)) return INFINITY;
    o.size.n1 = compose_least_n1(b_holds, &o);
    return o.size.n1 ? compose_tokens(&o.task, (double)o.size.N0, (double)o.size.n1) : INFINITY;
}

/* Given sizes: how far the right side is above the left; q is the largest with t q <= N_0, which loses nothing but the
 * rest of [N_0]. */
static double b_deficit(const uint64_t *point, const void *context)
{
    one_full o = *(const one_full *)context;
    uint64_t whole[4] = {point[0], o.size.N0 / point[0], point[1], point[2]};
    if (whole[1] == 0 || !b_take(&o, whole)) return INFINITY;
    double n1 = (double)o.size.n1;
    return b_constant(&o) - n1 * (o.theta * log2((double)o.size.V) - o.c * (double)o.t);
}

static void b_choose_given(one_full *o)
{
    uint64_t N0 = o->size.N0, point[3] = {1, N0, N0}, t1 = 1;
    search_box box = {3, {1, 1, 1}, {N0, N0, N0}};
    search_least(point, true, &box, b_deficit, o, 400);
    t1 = point[0];
    b_take(o, (uint64_t[]){t1, N0 / t1, point[1], point[2]});
}

static double b_choose_free(one_full *o)
{
    uint64_t point[4] = {1, 2, 2, 1}, size = 16 + (uint64_t)(4 * (o->A + o->c));
    search_box box = {4, {1, 1, 1, 1}, {64, size, size, size}};
    double best = INFINITY;
    for (uint64_t q = 2; q <= size && 2 * (double)q < best;
         q += 1 + q / 64) { /* t = 1, g = q, x = Theta: the simple form */
        double values = ceil((double)q * exp2(-o->A / (double)q));
        uint64_t start[4] = {1, q, q, values < (double)q ? (uint64_t)values : q};
        double n = b_tokens(start, o);
        if (n < best) best = n, point[0] = start[0], point[1] = start[1], point[2] = start[2], point[3] = start[3];
    }
    double n = search_least(point, best < INFINITY, &box, b_tokens, o, 600);
    if (n == INFINITY || !b_take(o, point)) return INFINITY;
    o->size.n1 = compose_least_n1(b_holds, o);
    o->size.V = o->size.n1 * o->size.N0;
    return n;
}

static void b_print(rung_bound_answer *answer, const one_full *o)
{
    snprintf(answer->statement, sizeof answer->statement,
             "n_1 Theta log2 V = %.1f > %.1f, with N_0 = %llu, n_1 = %llu, V = %llu, t = %llu, q = %llu, g = %llu, x = "
             "%llu, "
             "Theta = %.0f, c = %llu, A = %llu, B = %llu",
             answer->lhs, answer->rhs, (unsigned long long)o->size.N0, (unsigned long long)o->size.n1,
             (unsigned long long)o->size.V, (unsigned long long)o->t, (unsigned long long)o->q,
             (unsigned long long)o->g, (unsigned long long)o->x, o->theta, (unsigned long long)o->message,
             (unsigned long long)o->state_before, (unsigned long long)o->state_after);
}

static rung_status evaluate_b(rung_bound_answer *answer, const rung_question *q, const rung_pattern *p, rung_error *err)
{
    one_full o = question_of(q, p);
    double tokens = 0;
    if (!pattern_fits(answer, &o.task, p)) return RUNG_OK;
    if (p->state[0] == 0) return bound_missing(answer, "no recurrent layer before the full one: B0 is stronger");
    if (o.task.free)
        tokens = b_choose_free(&o);
    else
        b_choose_given(&o);
    if (tokens == INFINITY) return bound_missing(answer, "no size was found that satisfies the inequality");
    rung_status status = bound_decide(answer, b_sides, &o, err);
    if (status != RUNG_OK) return status;
    compose_finish(answer, q, &o.task, tokens, false);
    answer->trivial = log2((double)o.size.V) > o.c;
    snprintf(answer->premise, sizeof answer->premise, "R^%zu F R^%zu, summed from left to right, w last", p->layers[0],
             p->layers[1]);
    b_print(answer, &o);
    return RUNG_OK;
}

const rung_bound rung_bound_compose_between = {
    .id = "B",
    .summary = "one full layer between recurrent ones cannot compose two functions",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by search at small sizes",
    .section = "theorem-b",
    .needs_order = true,
    .evaluate = evaluate_b,
};
