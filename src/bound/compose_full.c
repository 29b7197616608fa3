/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Two functions, two full layers. c are the bits of an accumulator.
 *
 * C0 (F F). N_0 = t q, the family of z_1 as in theorem B: g t free indices in t groups with disjoint alphabets of size q.
 * Take the z_2 with the most frequent layer-1 accumulators of w over z_2, for all w (c n_1 bits). For each w by itself the
 * layer-1 accumulator of w over z_1 is then a function of z_1; in its largest class (density 2^-c) the best index of each
 * group takes together at least N_0 2^(-c/(g t)) values (arithmetic and geometric mean). With w, z_0 = that index and z_1 in
 * the class, w enters layer 2 as a function of (w, index): its layer-2 accumulator over z_2 is c bits for each pair. Beside
 * these the answer needs the layer-1 accumulators of z_0 (c g t) and of the tokens of z_1, one for each index and value
 * (c (N_0 - g t + g t q)). Impossible if
 *
 *     n_1 N_0 2^(-c/(g t)) log2 V > c (n_1 (1 + t) + N_0 (1 + g) + middle),      1 <= g <= q.
 *
 * Ce (F F R^e, B > 0 bits of state after). One class for a batch of beta values of w, n_1 = G beta, loss c beta; in it x
 * functions by Lemma S, Theta = Theta(t, q, c beta / g, x) values. More is listed: the layer-2 accumulators of z_0, for each
 * index, function and batch, and the states that leave z_1 for each function and batch, or once together with the layer-2
 * accumulators of its tokens. With M_1 = N_0 - g t + min(G x, q) g t and M_2 = N_0 - g t + G x g t, impossible if
 *
 *     n_1 Theta log2 V > c (n_1 (1+t) + g t + M_1 + middle) + c t x G + min(G x B, B + c (M_2 + middle)).
 */
#include "compose.h"
#include "search.h"
#include "spread.h"

#include <math.h>
#include <stdio.h>

typedef struct two_full {
    compose_task task;
    compose_size size;
    double B, c;
    uint64_t state_after, message;
    uint64_t t, q, g;    /* both */
    uint64_t x, beta, G; /* Ce */
    double theta;        /* while searching */
} two_full;

static two_full question_of(const rung_question *q, const rung_pattern *p)
{
    compose_task t = compose_of(q);
    return (two_full){.task = t,
                      .size = t.size,
                      .B = (double)p->state[2],
                      .c = (double)p->message,
                      .state_after = p->state[2],
                      .message = p->message};
}

static bool pattern_fits(rung_bound_answer *answer, const compose_task *t, const rung_pattern *p)
{
    if (t->L < 2)
        bound_missing(answer, "about at least two functions");
    else if (!t->last)
        bound_missing(answer, "w comes first: every token may know what is asked");
    else if (p->full != 2 || p->too_many || p->headwise || p->sparse || p->levels_state)
        bound_missing(answer, "about two full layers");
    else if (p->state[0] || p->state[1])
        bound_missing(answer, "a recurrent layer before the last full one can hand the pointer on: nothing is proved");
    else
        return true;
    return false;
}

static rung_ival product(rung_certified *s, uint64_t a, uint64_t b)
{
    return rung_ival_mul(s, rung_ival_u64(s, a), rung_ival_u64(s, b));
}

/* c times a number of accumulators. */
static rung_ival heard(rung_certified *s, const two_full *o, rung_ival accumulators)
{
    return rung_ival_mul(s, rung_ival_u64(s, o->message), accumulators);
}

static bool small(double a, double b, double c)
{
    return a * b * c < 1e17; /* products of three stay exact integers below 2^63 */
}

/* ---- C0 ------------------------------------------------------------------------------------------------------------------ */

static bound_sides c0_sides(rung_certified *s, const void *context)
{
    const two_full *o = context;
    uint64_t cells = o->g * o->t, N0 = o->t * o->q;
    rung_ival loss = rung_ival_div(s, rung_ival_u64(s, o->message), rung_ival_u64(s, cells));
    rung_ival share = rung_ival_exp2(s, rung_ival_sub(s, rung_ival_u64(s, 0), loss));
    rung_ival values = rung_ival_ceil(s, rung_ival_mul(s, rung_ival_u64(s, N0), share));
    rung_ival lhs = rung_ival_mul(s, rung_ival_mul(s, rung_ival_u64(s, o->size.n1), values),
                                  rung_ival_log2(s, rung_ival_u64(s, o->size.V)));
    uint64_t tokens = o->size.N0 - cells + cells * o->q + cells + compose_middle(&o->task, o->size.N0);
    rung_ival listed = rung_ival_add(s, product(s, o->size.n1, 1 + o->t), rung_ival_u64(s, tokens));
    return (bound_sides){lhs, heard(s, o, listed)};
}

static bool c0_holds(double n1, const void *context)
{
    const two_full *o = context;
    double t = (double)o->t, q = (double)o->q, g = (double)o->g, N0 = (double)o->size.N0;
    double V = o->task.free ? n1 * N0 : (double)o->size.V, middle = (double)compose_middle(&o->task, o->size.N0);
    double values = ceil(t * q * exp2(-o->c / (g * t)));
    return n1 * values * log2(V) > o->c * (n1 * (1 + t) + N0 + g * t * q + middle);
}

static bool c0_take(two_full *o, const uint64_t *point)
{
    o->t = point[0], o->q = point[1], o->g = point[2];
    if (o->g > o->q || !small((double)o->t, (double)o->q, (double)o->g)) return false;
    if (o->task.free) o->size.N0 = o->t * o->q;
    return true;
}

static double c0_tokens(const uint64_t *point, const void *context)
{
    two_full o = *(const two_full *)context;
    if (!c0_take(&o, point)) return INFINITY;
    o.size.n1 = compose_least_n1(c0_holds, &o);
    return o.size.n1 ? compose_tokens(&o.task, (double)o.size.N0, (double)o.size.n1) : INFINITY;
}

static double c0_deficit(const uint64_t *point, const void *context)
{
    two_full o = *(const two_full *)context;
    uint64_t whole[3] = {point[0], o.size.N0 / point[0], point[1]};
    if (whole[1] == 0 || !c0_take(&o, whole)) return INFINITY;
    double t = (double)o.t, q = (double)o.q, g = (double)o.g, n1 = (double)o.size.n1;
    double values = ceil(t * q * exp2(-o.c / (g * t)));
    return o.c * (n1 * (1 + t) + (double)o.size.N0 + g * t * q + (double)o.task.middle) -
           n1 * values * log2((double)o.size.V);
}

static double c0_choose(two_full *o)
{
    uint64_t N0 = o->size.N0, most = 8 + (uint64_t)(4 * o->c), point[3] = {1, 1, 1};
    if (!o->task.free) {
        search_box box = {2, {1, 1}, {N0, N0}};
        search_least(point, true, &box, c0_deficit, o, 400);
        c0_take(o, (uint64_t[]){point[0], N0 / point[0], point[1]});
        return 0;
    }
    search_box box = {3, {1, 1, 1}, {most, 4 * most, most}};
    double tokens = search_least(point, false, &box, c0_tokens, o, 4000);
    if (tokens == INFINITY || !c0_take(o, point)) return INFINITY;
    o->size.n1 = compose_least_n1(c0_holds, o);
    o->size.V = o->size.n1 * o->size.N0;
    return tokens;
}

static rung_status evaluate_c0(rung_bound_answer *answer, const rung_question *q, const rung_pattern *p,
                               rung_error *err)
{
    two_full o = question_of(q, p);
    if (!pattern_fits(answer, &o.task, p)) return RUNG_OK;
    if (o.state_after) return bound_missing(answer, "recurrent layers follow: see Ce");
    double tokens = c0_choose(&o);
    if (tokens == INFINITY) return bound_missing(answer, "no size was found that satisfies the inequality");
    rung_status status = bound_decide(answer, c0_sides, &o, err);
    if (status != RUNG_OK) return status;
    compose_finish(answer, q, &o.task, tokens, false);
    answer->trivial = log2((double)o.size.V) > o.c;
    snprintf(answer->premise, sizeof answer->premise, "F F, summed from left to right, w last");
    snprintf(answer->statement, sizeof answer->statement,
             "n_1 ceil(N_0 2^(-c/gt)) log2 V = %.1f > %.1f, with N_0 = %llu, n_1 = %llu, V = %llu, t = %llu, q = %llu, "
             "g = %llu, c = %llu",
             answer->lhs, answer->rhs, (unsigned long long)o.size.N0, (unsigned long long)o.size.n1,
             (unsigned long long)o.size.V, (unsigned long long)o.t, (unsigned long long)o.q, (unsigned long long)o.g,
             (unsigned long long)o.message);
    return RUNG_OK;
}

const rung_bound rung_bound_compose_full = {
    .id = "C0",
    .summary = "two full layers cannot compose two functions",
    .task = "seqcomp",
    .source = "ours; in the limit: Chen, Peng, Wu 2024",
    .checked = "proof checked by dataflow on small models",
    .section = "theorem-c",
    .needs_order = true,
    .evaluate = evaluate_c0,
};

/* ---- Ce ------------------------------------------------------------------------------------------------------------------ */

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bound_sides ce_sides(rung_certified *s, const void *context)
{
    const two_full *o = context;
    uint64_t cells = o->g * o->t, middle = compose_middle(&o->task, o->size.N0);
    rung_ival loss = rung_ival_div(s, product(s, o->message, o->beta), rung_ival_u64(s, o->g));
    uint64_t theta = spread_surely(s, o->t, o->q, loss, o->x);
    rung_ival lhs = rung_ival_mul(s, product(s, o->size.n1, theta), rung_ival_log2(s, rung_ival_u64(s, o->size.V)));
    uint64_t first = o->size.N0 + middle + lesser(o->G * o->x, o->q) * cells; /* + g t - g t */
    uint64_t second = o->size.N0 - cells + o->G * o->x * cells + middle;
    rung_ival listed = rung_ival_add(s, product(s, o->size.n1, 1 + o->t), rung_ival_u64(s, first));
    listed = rung_ival_add(s, listed, product(s, o->t, o->x * o->G));
    rung_ival once = rung_ival_add(s, rung_ival_u64(s, o->state_after), heard(s, o, rung_ival_u64(s, second)));
    rung_ival states = rung_ival_min(s, product(s, o->G * o->x, o->state_after), once);
    return (bound_sides){lhs, rung_ival_add(s, heard(s, o, listed), states)};
}

/* Right side without n_1 c (1+t). */
static double ce_constant(const two_full *o)
{
    double cells = (double)o->g * (double)o->t, N0 = (double)o->size.N0, Gx = (double)o->G * (double)o->x;
    double middle = (double)compose_middle(&o->task, o->size.N0);
    double first = N0 + fmin(Gx, (double)o->q) * cells + middle + (double)o->t * Gx;
    return o->c * first + fmin(Gx * o->B, o->B + o->c * (N0 - cells + Gx * cells + middle));
}

static bool ce_take(two_full *o, const uint64_t *point)
{
    o->t = point[0], o->q = point[1], o->g = point[2], o->x = point[3], o->beta = point[4];
    if (o->g > o->q || o->x > o->q || o->x > 2048) return false;
    if (!small((double)o->t, (double)o->q, (double)o->g)) return false;
    if (o->task.free) o->size.N0 = o->t * o->q;
    o->theta = spread_estimate(o->t, o->q, o->c * (double)o->beta / (double)o->g, o->x);
    return o->theta >= 1;
}

static bool ce_holds(double G, const void *context)
{
    two_full o = *(const two_full *)context;
    o.G = (uint64_t)G;
    double n1 = G * (double)o.beta, V = o.task.free ? n1 * (double)o.size.N0 : (double)o.size.V;
    if (!small(G, (double)o.x, (double)o.g * (double)o.t)) return false;
    return n1 * (o.theta * log2(V) - o.c * (1 + (double)o.t)) > ce_constant(&o);
}

/* The left side grows faster than G, the right side at most as G: one crossing. */
static double ce_tokens(const uint64_t *point, const void *context)
{
    two_full o = *(const two_full *)context;
    if (!ce_take(&o, point)) return INFINITY;
    uint64_t G = compose_least_n1(ce_holds, &o);
    return G ? compose_tokens(&o.task, (double)o.size.N0, (double)G * (double)o.beta) : INFINITY;
}

static double ce_deficit(const uint64_t *point, const void *context)
{
    two_full o = *(const two_full *)context;
    uint64_t whole[5] = {point[0], o.size.N0 / point[0], point[1], point[2], point[3]};
    if (whole[1] == 0 || !ce_take(&o, whole) || o.beta > o.size.n1) return INFINITY;
    o.G = o.size.n1 / o.beta;
    double n1 = (double)o.G * (double)o.beta; /* the other values of w are left out */
    return ce_constant(&o) - n1 * (o.theta * log2((double)o.size.V) - o.c * (1 + (double)o.t));
}

static double ce_choose(two_full *o)
{
    uint64_t N0 = o->size.N0, most = 64 + (uint64_t)(16 * o->c), point[5] = {1, 1, 1, 1, 1};
    if (!o->task.free) {
        search_box box = {4, {1, 1, 1, 1}, {N0, N0, N0, o->size.n1}};
        search_least(point, true, &box, ce_deficit, o, 400);
        ce_take(o, (uint64_t[]){point[0], N0 / point[0], point[1], point[2], point[3]});
        o->G = o->size.n1 / o->beta, o->size.n1 = o->G * o->beta;
        return 0;
    }
    search_box box = {5, {1, 1, 1, 1, 1}, {64, 64 * most, 16 * most, 512, 16}};
    double tokens = search_least(point, false, &box, ce_tokens, o, 3000);
    if (tokens == INFINITY || !ce_take(o, point)) return INFINITY;
    o->G = compose_least_n1(ce_holds, o);
    o->size.n1 = o->G * o->beta;
    o->size.V = o->size.n1 * o->size.N0;
    return tokens;
}

static rung_status evaluate_ce(rung_bound_answer *answer, const rung_question *q, const rung_pattern *p,
                               rung_error *err)
{
    two_full o = question_of(q, p);
    if (!pattern_fits(answer, &o.task, p)) return RUNG_OK;
    if (!o.state_after) return bound_missing(answer, "no recurrent layer follows: C0 is stronger");
    double tokens = ce_choose(&o);
    if (tokens == INFINITY) return bound_missing(answer, "no size was found that satisfies the inequality");
    rung_status status = bound_decide(answer, ce_sides, &o, err);
    if (status != RUNG_OK) return status;
    compose_finish(answer, q, &o.task, tokens, false);
    answer->trivial = log2((double)o.size.V) > o.c;
    snprintf(answer->premise, sizeof answer->premise, "F F R^%zu, summed from left to right, w last", p->layers[2]);
    snprintf(answer->statement, sizeof answer->statement,
             "n_1 Theta log2 V = %.1f > %.1f, with N_0 = %llu, n_1 = %llu, V = %llu, t = %llu, q = %llu, g = %llu, x = "
             "%llu, "
             "beta = %llu, G = %llu, Theta = %.0f, c = %llu, B = %llu",
             answer->lhs, answer->rhs, (unsigned long long)o.size.N0, (unsigned long long)o.size.n1,
             (unsigned long long)o.size.V, (unsigned long long)o.t, (unsigned long long)o.q, (unsigned long long)o.g,
             (unsigned long long)o.x, (unsigned long long)o.beta, (unsigned long long)o.G, o.theta,
             (unsigned long long)o.message, (unsigned long long)o.state_after);
    return RUNG_OK;
}

const rung_bound rung_bound_compose_full_then = {
    .id = "Ce",
    .summary = "two full layers, then recurrent ones, cannot compose two functions",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof on paper only",
    .section = "theorem-c",
    .needs_order = true,
    .evaluate = evaluate_ce,
};
