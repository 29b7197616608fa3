/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Two functions, two full layers. c are the bits of an accumulator. Proofs: docs/theory.md, Theorem C.
 *
 * C0 (F F). t q <= N_0, 1 <= g <= q, and g t free indices of z_1 in t groups with disjoint alphabets of size q.
 * Impossible if
 *
 *     n_1 ceil(t q 2^(-c/(g t))) log2 V > c (n_1 (1 + t) + N_0 + g t q + middle).
 *
 * C1 (F R^b F, r > 0 bits of state between): a state as narrow as this hands on little of the pointer. Of the values that
 * an index takes in its class, keep those with the most frequent states between z_0 and w. Impossible if
 *
 *     n_1 ceil(t q 2^(-c/(g t) - r)) log2 V > c (n_1 (1 + t) + N_0 + g t q + middle) + r.
 *
 * Where keys are added in tiles of T, the last T-1 entries of z_2 and of z_1 stay constant: those of z_2 count as tokens
 * between, T-1 entries are lost on the left side, and g t + T-1 <= N_0.
 *
 * Ce (F F R^e, B > 0 bits of state after). There is one class for a batch of beta values of w, n_1 = G beta, loss c
 * beta; in it x functions by Lemma S, Theta = Theta(t, q, c beta / g, x) values. Two more things are listed: the
 * layer-2 accumulators of z_0, for each index, function and batch; and the states that leave z_1 for each function and
 * batch, or once together with the layer-2 accumulators of its tokens. With M_1 = N_0 - g t + min(G x, q) g t and M_2 =
 * N_0 - g t + G x g t, impossible if
 *
 *     n_1 Theta log2 V > c (n_1 (1+t) + g t + M_1 + middle) + c t x G + min(G x B, B + c (M_2 + middle)).
 *
 * H2: the same two layers with recurrent heads of s_1 and s_2 bits beside the full ones. What w may know of z_1 after
 * layer 1 grows by the s_1 bits that leave z_1: the classes lose c + s_1 (Ce: c beta + s_1), and s_1 bits that leave z_2
 * are listed. Without layers after them the heads of layer 2 read what layer 1 wrote, and s_2 is listed once. With such
 * layers they count as one of them: B has s_2 in it.
 */
#include "compose_full.h"
#include "search.h"
#include "spread.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static two_full question_of(const bound_question *q, const rung_pattern *p)
{
    compose_task t = compose_of(q);
    return (two_full){.task = t,
                      .N0 = t.size.N0,
                      .n1 = t.size.n1,
                      .B = (double)p->state[2],
                      .c = (double)p->message,
                      .state_after = p->state[2],
                      .message = p->message,
                      .relay = p->state[1],
                      .ladder = SPREAD_ROUGH};
}

/* The heads beside; those of the second layer count as a layer after it if others follow. */
static two_full headwise_question_of(const bound_question *q, const rung_pattern *p)
{
    two_full o = question_of(q, p);
    o.beside_first = p->beside[0], o.beside_last = p->beside[1];
    if (!o.state_after) return o;
    o.state_after += o.beside_last, o.beside_last = 0;
    o.B = (double)o.state_after;
    return o;
}

static bool pattern_fits(rung_bound_answer *answer, const compose_task *t, const rung_pattern *p)
{
    if (t->L < 2)
        bound_missing(answer, "the theorem is about at least two functions");
    else if (p->full != 2 || p->too_many || p->sparse || p->levels_state)
        bound_missing(answer, "the theorem is about two full layers");
    else if (p->state[0])
        bound_missing(answer, "a recurrent layer before the first full one can pass the pointer on: nothing is proved");
    else
        return true;
    return false;
}

/* Whether the second full layer comes right after the first. */
static bool nothing_between(rung_bound_answer *answer, const rung_pattern *p)
{
    if (p->state[1]) bound_missing(answer, "a recurrent layer between the full ones can pass the pointer on; see C1");
    return p->state[1] == 0;
}

static bool without_beside(rung_bound_answer *answer, const rung_pattern *p)
{
    if (p->headwise) bound_missing(answer, "recurrent heads stand beside the full ones: see H2");
    return !p->headwise;
}

static double log2_values(const two_full *o, double n1)
{
    return log2(compose_values(&o->task, o->N0, o->N0 * n1));
}

/* c bits for each of a number of accumulators. */
static rung_ival heard(rung_certified *s, const two_full *o, rung_ival accumulators)
{
    return rung_ival_mul(s, rung_ival_u64(s, o->message), accumulators);
}

/* N_0 + factor g t + middle: the tokens of z_1 and those between; each of the g t indices counts factor + 1 times. */
static rung_ival tokens_of(rung_certified *s, const two_full *o, rung_ival factor)
{
    rung_ival whole = rung_ival_add(s, rung_ival_real(s, o->N0), rung_ival_real(s, compose_middle(&o->task, o->N0)));
    return rung_ival_add(s, whole, rung_ival_mul(s, compose_product(s, o->g, o->t), factor));
}

static rung_bound_point point_of(const two_full *o)
{
    rung_bound_point p = compose_point(&o->task, o->N0, o->n1);
    p.known = p.known && o->y == 0; /* Coq has lemma S, not S' */
    p.t = (uint64_t)o->t, p.q = (uint64_t)o->q, p.g = (uint64_t)o->g;
    p.x = (uint64_t)o->x, p.beta = (uint64_t)o->beta, p.G = (uint64_t)o->G;
    return p;
}

/* ---- C0 and C1 --------------------------------------------------------------------------------------------------- */

bound_sides compose_c0_sides(rung_certified *s, const void *context)
{
    const two_full *o = context;
    assert(o->g >= 1 && o->g <= o->q && o->t * o->q <= o->N0 && o->g * o->t + o->task.lost <= o->N0);
    rung_ival relay = rung_ival_u64(s, o->relay);
    rung_ival heard_first = rung_ival_add(s, rung_ival_u64(s, o->message), rung_ival_u64(s, o->beside_first));
    rung_ival loss = rung_ival_add(s, rung_ival_div(s, heard_first, compose_product(s, o->g, o->t)), relay);
    rung_ival share = rung_ival_exp2(s, rung_ival_sub(s, rung_ival_u64(s, 0), loss));
    rung_ival values = rung_ival_ceil(s, rung_ival_mul(s, compose_product(s, o->t, o->q), share));
    rung_ival V = compose_values_log2(s, &o->task, o->N0, compose_product(s, o->N0, o->n1));
    rung_ival asked =
        rung_ival_sub(s, rung_ival_mul(s, rung_ival_real(s, o->n1), values), rung_ival_real(s, o->task.lost));
    rung_ival lhs = rung_ival_mul(s, asked, V);
    /* g t for z_0, and N_0 - g t + g t q for the tokens of z_1 */
    rung_ival listed = rung_ival_add(s, compose_product(s, o->n1, 1 + o->t), tokens_of(s, o, rung_ival_real(s, o->q)));
    rung_ival states = rung_ival_add(s, rung_ival_u64(s, o->beside_first), rung_ival_u64(s, o->beside_last));
    return (bound_sides){lhs, rung_ival_add(s, heard(s, o, listed), rung_ival_add(s, states, relay))};
}

/* The right side over the left. */
static double c0_share(const two_full *o, double n1)
{
    double relay = (double)o->relay, first = (double)o->beside_first, states = first + (double)o->beside_last + relay;
    double values = ceil(o->t * o->q * exp2(-(o->c + first) / (o->g * o->t) - relay));
    double listed = n1 * (1 + o->t) + o->N0 + o->g * o->t * o->q + compose_middle(&o->task, o->N0);
    return (o->c * listed + states) / fmax((n1 * values - o->task.lost) * log2_values(o, n1), COMPOSE_SMALL);
}

static bool c0_holds(double n1, const void *context)
{
    return c0_share(context, n1) < 1;
}

static bool c0_take(two_full *o, const double *point)
{
    o->t = point[0], o->q = point[1], o->g = point[2];
    if (o->g > o->q || o->q < 1) return false;
    if (o->task.free) o->N0 = fmax(o->t * o->q, o->g * o->t + o->task.lost);
    return o->g * o->t + o->task.lost <= o->N0;
}

static double c0_tokens(const double *point, const void *context)
{
    two_full o = *(const two_full *)context;
    if (!c0_take(&o, point)) return INFINITY;
    double n1 = compose_least_n1(c0_holds, &o);
    return n1 > 0 ? compose_tokens(&o.task, o.N0, n1) : INFINITY;
}

/* Given sizes; the point is the smaller one of t and q, and g. The other one is the largest that fits. */
static double c0_by_t(const double *point, const void *context)
{
    two_full o = *(const two_full *)context;
    return c0_take(&o, (double[]){point[0], floor(o.N0 / point[0]), point[1]}) ? c0_share(&o, o.n1) : INFINITY;
}

static double c0_by_q(const double *point, const void *context)
{
    two_full o = *(const two_full *)context;
    return c0_take(&o, (double[]){floor(o.N0 / point[0]), point[0], point[1]}) ? c0_share(&o, o.n1) : INFINITY;
}

static double c0_search_given(double best[3], const two_full *o, bool by_q)
{
    search s;
    double most = floor(sqrt(o->N0));
    search_box box = {2, {1, 1}, {most, o->N0}};
    search_init(&s, &box, by_q ? c0_by_q : c0_by_t, o, 8);
    search_try_random(&s, 400);
    search_try(&s, (double[]){1, 1});
    search_run(&s);
    double other = floor(o->N0 / s.best[0]);
    best[0] = by_q ? other : s.best[0], best[1] = by_q ? s.best[0] : other, best[2] = s.best[1];
    return s.least;
}

static bool c0_choose_given(two_full *o)
{
    double few[3], many[3], least = c0_search_given(few, o, false), other = c0_search_given(many, o, true);
    return fmin(least, other) < INFINITY && c0_take(o, other < least ? many : few);
}

/* Beyond so many bits between, N_0 would have to be larger than any table: 2^r letters are needed. */
enum { RELAY_MAX = 40 };

static bool c0_choose_free(two_full *o)
{
    search s;
    double most = 8 + 4 * (o->c + (double)o->beside_first);
    double letters = 4 * most * exp2(fmin((double)o->relay, RELAY_MAX));
    search_box box = {3, {1, 1, 1}, {most, letters, most}};
    search_init(&s, &box, c0_tokens, o, 12);
    search_try_random(&s, 4000);
    if (search_run(&s) == INFINITY || !c0_take(o, s.best)) return false;
    o->n1 = compose_least_n1(c0_holds, o);
    return true;
}

static void c0_print(rung_bound_answer *answer, const two_full *o)
{
    char between[48] = "";
    if (o->relay) snprintf(between, sizeof between, ", r = %llu", (unsigned long long)o->relay);
    snprintf(answer->statement, sizeof answer->statement,
             "n_1 ceil(t q 2^(-%s/gt%s)) log2 V = %.1f > %.1f, with N_0 = %.0f, n_1 = %.0f, V = %.0f, t = %.0f, q = "
             "%.0f, g = %.0f, c = %llu%s",
             o->beside_first ? "(c+s_1)" : "c", o->relay ? " - r" : "", answer->lhs, answer->rhs, o->N0, o->n1,
             compose_values(&o->task, o->N0, o->N0 * o->n1), o->t, o->q, o->g, (unsigned long long)o->message, between);
}

static rung_status decide_c0(rung_bound_answer *answer, two_full *o, const bound_question *q, rung_error *err)
{
    if (o->relay > RELAY_MAX || !(o->task.free ? c0_choose_free(o) : c0_choose_given(o)))
        return bound_missing(answer, "no size was found that satisfies the inequality");
    RUNG_TRY(compose_decide(answer, &o->task, compose_c0_sides, o, &o->n1, err));
    compose_finish(answer, q, &o->task, compose_tokens(&o->task, o->N0, o->n1), false);
    answer->point = point_of(o);
    answer->trivial = bound_does_not_fit(log2_values(o, o->n1) > o->c);
    c0_print(answer, o);
    return RUNG_OK;
}

static rung_status evaluate_c0(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                               rung_error *err)
{
    two_full o = question_of(q, p);
    if (!pattern_fits(answer, &o.task, p) || !nothing_between(answer, p) || !without_beside(answer, p)) return RUNG_OK;
    if (o.state_after) return bound_missing(answer, "recurrent layers follow: see Ce");
    rung_status status = decide_c0(answer, &o, q, err);
    if (answer->applies) snprintf(answer->premise, sizeof answer->premise, "F F, summed from left to right, w last");
    return status;
}

static rung_status evaluate_c1(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                               rung_error *err)
{
    two_full o = question_of(q, p);
    if (!pattern_fits(answer, &o.task, p) || !without_beside(answer, p)) return RUNG_OK;
    if (!o.relay) return bound_missing(answer, "no recurrent layer between the full ones: see C0 and Ce");
    if (o.state_after) return bound_missing(answer, "recurrent layers follow the second full one: nothing is proved");
    rung_status status = decide_c0(answer, &o, q, err);
    if (answer->applies)
        snprintf(answer->premise, sizeof answer->premise, "F R^%zu F, summed from left to right, w last", p->layers[1]);
    return status;
}

const rung_bound rung_bound_compose_full = {
    .id = "C0",
    .kernels = RUNG_COVERS(RUNG_KERNEL_TILES),
    .summary = "two full layers cannot compose two functions",
    .task = "seqcomp",
    .source = "ours; in the limit: Chen, Peng, Wu 2024",
    .checked = "proof checked by dataflow on small models",
    .section = "theorem-c",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_c0,
};

const rung_bound rung_bound_compose_full_relay = {
    .id = "C1",
    .levels_are_states = true,
    .kernels = RUNG_COVERS(RUNG_KERNEL_TILES),
    .summary =
        "two full layers with a state between them that is narrower than the pointer cannot compose two functions",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by Coq",
    .section = "theorem-c",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_c1,
};

/* ---- Ce ---------------------------------------------------------------------------------------------------------- */

bound_sides compose_ce_sides(rung_certified *s, const void *context)
{
    const two_full *o = context;
    assert(o->g >= 1 && o->g <= o->q && o->t * o->q <= o->N0);
    rung_ival n1 = compose_product(s, o->G, o->beta), Gx = compose_product(s, o->G, o->x), one = rung_ival_u64(s, 1);
    rung_ival c = rung_ival_u64(s, o->message), B = rung_ival_u64(s, o->state_after);
    rung_ival first = rung_ival_u64(s, o->beside_first);
    rung_ival heard_first = rung_ival_add(s, rung_ival_mul(s, c, rung_ival_real(s, o->beta)), first);
    rung_ival loss = rung_ival_div(s, heard_first, rung_ival_real(s, o->g));
    rung_ival theta = spread_from_class_surely(s, o->t, o->q, loss, o->x, o->y);
    rung_ival V = compose_values_log2(s, &o->task, o->N0, rung_ival_mul(s, n1, rung_ival_real(s, o->N0)));
    rung_ival lhs = rung_ival_mul(s, rung_ival_mul(s, n1, theta), V);
    rung_ival listed = rung_ival_mul(s, n1, rung_ival_real(s, 1 + o->t));
    listed = rung_ival_add(s, listed, tokens_of(s, o, rung_ival_min(s, Gx, rung_ival_real(s, o->q))));
    listed = rung_ival_add(s, listed, rung_ival_mul(s, rung_ival_real(s, o->t), Gx));
    rung_ival once = rung_ival_add(s, B, heard(s, o, tokens_of(s, o, rung_ival_sub(s, Gx, one))));
    rung_ival states = rung_ival_add(s, first, rung_ival_min(s, rung_ival_mul(s, Gx, B), once));
    return (bound_sides){lhs, rung_ival_add(s, heard(s, o, listed), states)};
}

/* The right side over the left. */
static double ce_share(const two_full *o, double G)
{
    double cells = o->g * o->t, Gx = G * o->x, n1 = G * o->beta, whole = o->N0 + compose_middle(&o->task, o->N0);
    double listed = n1 * (1 + o->t) + whole + fmin(Gx, o->q) * cells + o->t * Gx;
    double states = (double)o->beside_first + fmin(Gx * o->B, o->B + o->c * (whole + (Gx - 1) * cells));
    return (o->c * listed + states) / fmax(n1 * o->theta * log2_values(o, n1), COMPOSE_SMALL);
}

static bool ce_take(two_full *o, const double *point)
{
    o->t = point[0], o->q = point[1], o->g = point[2], o->x = point[3], o->beta = point[4];
    if (o->g > o->q || o->q < 1 || o->t * o->q > 0x1p52) return false;
    if (o->task.free) o->N0 = o->t * o->q;
    double loss = (o->c * o->beta + (double)o->beside_first) / o->g;
    o->theta = spread_from_class(&o->y, o->t, o->q, loss, o->x, o->ladder);
    return o->y == 0 || o->x <= o->q;
}

static bool ce_holds(double G, const void *context)
{
    return ce_share(context, G) < 1;
}

/* The left side grows faster than G, the right side at most like G: they cross once. */
static double ce_tokens(const double *point, const void *context)
{
    two_full o = *(const two_full *)context;
    if (!ce_take(&o, point)) return INFINITY;
    double G = compose_least_n1(ce_holds, &o);
    return G > 0 ? compose_tokens(&o.task, o.N0, G * o.beta) : INFINITY;
}

/* Given sizes. Of t and q, and of G and beta, the point has the smaller one, so that steps of one reach every pair; the
 * other one is the largest that fits. Values of w beyond G beta are left out. The point is t or q, g, x, G or beta. */
typedef struct ce_given {
    two_full o;
    bool by_q, by_G;
} ce_given;

static void ce_whole(double whole[5], const ce_given *c, const double *point)
{
    double other = floor(c->o.N0 / point[0]);
    whole[0] = c->by_q ? other : point[0], whole[1] = c->by_q ? point[0] : other;
    whole[2] = point[1], whole[3] = point[2], whole[4] = c->by_G ? floor(c->o.n1 / point[3]) : point[3];
}

static double ce_share_given(const double *point, const void *context)
{
    const ce_given *c = context;
    two_full o = c->o;
    double whole[5];
    ce_whole(whole, c, point);
    return ce_take(&o, whole) && o.beta >= 1 ? ce_share(&o, floor(o.n1 / o.beta)) : INFINITY;
}

/* A rough search, then a fine one from its best point. *best is t, q, g, x, beta. */
static double ce_search_given(double best[5], ce_given *c)
{
    search s, fine;
    double most = floor(sqrt(c->o.N0)), most_w = floor(sqrt(c->o.n1));
    search_box box = {4, {1, 1, 1, 1}, {most, c->o.N0, c->o.N0, most_w}};
    ce_given finely = *c;
    finely.o.ladder = SPREAD_FINE;
    search_init(&s, &box, ce_share_given, c, 6);
    s.budget = 12000;
    for (double some = 1; some <= most; some += 1 + floor(some / 4))
        for (double q = c->by_q ? some : floor(c->o.N0 / some), x = 1; x <= 4 * q; x = floor(x * 1.7) + 1)
            for (double w = 1; w <= most_w; w += 1 + floor(w / 2)) search_try(&s, (double[]){some, q, x, w});
    search_try_random(&s, 200);
    search_run(&s);
    search_init(&fine, &box, ce_share_given, &finely, 1);
    fine.budget = 4000;
    if (s.least < INFINITY) search_try(&fine, s.best);
    search_run(&fine);
    if (fine.least < INFINITY) ce_whole(best, c, fine.best);
    return fine.least;
}

static bool ce_choose_given(two_full *o)
{
    double best[5], least = INFINITY;
    for (int way = 0; way < 4; way++) {
        ce_given c = {*o, way & 1, way & 2};
        double found[5], share = ce_search_given(found, &c);
        if (share < least) least = share, memcpy(best, found, sizeof best);
    }
    if (least == INFINITY) return false;
    o->ladder = SPREAD_FINE;
    if (!ce_take(o, best)) return false;
    o->G = floor(o->n1 / o->beta);
    return true;
}

/* The same with g = q: the point is t, q, x, beta. */
static double ce_tokens_all(const double *point, const void *context)
{
    return ce_tokens((double[]){point[0], point[1], point[1], point[2], point[3]}, context);
}

/* First with g = q, where t, q, x and beta are all near c; then with any g. */
static bool ce_choose_free(two_full *o)
{
    search all, some;
    double most = 0x1p40;
    search_box box = {5, {1, 1, 1, 1, 1}, {most, most, most, most, most}}, box_all = box;
    box_all.count = 4;
    search_init(&all, &box_all, ce_tokens_all, o, 8);
    double near = o->c + (double)o->beside_first;
    search_try_near(&all, (double[]){o->c, near, o->c, o->c}, 2, 3000);
    if (search_run(&all) == INFINITY) return false;
    o->ladder = SPREAD_FINE;
    search_init(&some, &box, ce_tokens, o, 1);
    search_try(&some, (double[]){all.best[0], all.best[1], all.best[1], all.best[2], all.best[3]});
    search_run(&some);
    if (!ce_take(o, some.best)) return false;
    o->G = compose_least_n1(ce_holds, o);
    return true;
}

static void ce_print(rung_bound_answer *answer, const two_full *o)
{
    snprintf(answer->statement, sizeof answer->statement,
             "n_1 Theta log2 V = %.1f > %.1f, with N_0 = %.0f, n_1 = %.0f, V = %.0f, t = %.0f, q = %.0f, g = %.0f, x = "
             "%.0f, beta = %.0f, G = %.0f, Theta = %.0f, c = %llu, B = %llu",
             answer->lhs, answer->rhs, o->N0, o->n1, compose_values(&o->task, o->N0, o->N0 * o->n1), o->t, o->q, o->g,
             o->x, o->beta, o->G, o->theta, (unsigned long long)o->message, (unsigned long long)o->state_after);
}

static rung_status evaluate_ce(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                               rung_error *err)
{
    two_full o = question_of(q, p);
    if (!pattern_fits(answer, &o.task, p) || !nothing_between(answer, p) || !without_beside(answer, p)) return RUNG_OK;
    if (!o.state_after) return bound_missing(answer, "no recurrent layer follows: C0 is stronger");
    if (!(o.task.free ? ce_choose_free(&o) : ce_choose_given(&o)))
        return bound_missing(answer, "no size was found that satisfies the inequality");
    RUNG_TRY(compose_decide(answer, &o.task, compose_ce_sides, &o, &o.G, err));
    o.n1 = o.G * o.beta;
    compose_finish(answer, q, &o.task, compose_tokens(&o.task, o.N0, o.n1), false);
    answer->point = point_of(&o);
    answer->trivial = bound_does_not_fit(log2_values(&o, o.n1) > o.c);
    snprintf(answer->premise, sizeof answer->premise, "F F R^%zu, summed from left to right, w last", p->layers[2]);
    ce_print(answer, &o);
    return RUNG_OK;
}

const rung_bound rung_bound_compose_full_then = {
    .id = "Ce",
    .levels_are_states = true,
    .summary = "two full layers, then recurrent ones, cannot compose two functions",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by Coq",
    .section = "theorem-c",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_ce,
};

/* ---- H2 ---------------------------------------------------------------------------------------------------------- */

static void h2_print(rung_bound_answer *answer, const two_full *o)
{
    if (o->state_after)
        ce_print(answer, o);
    else
        c0_print(answer, o);
    size_t len = strlen(answer->statement);
    snprintf(answer->statement + len, sizeof answer->statement - len, ", s_1 = %llu, s_2 = %llu",
             (unsigned long long)o->beside_first, (unsigned long long)o->beside_last);
}

static rung_status decide_h2(rung_bound_answer *answer, two_full *o, rung_error *err)
{
    if (!o->state_after) return compose_decide(answer, &o->task, compose_c0_sides, o, &o->n1, err);
    RUNG_TRY(compose_decide(answer, &o->task, compose_ce_sides, o, &o->G, err));
    o->n1 = o->G * o->beta;
    return RUNG_OK;
}

static bool h2_choose(two_full *o)
{
    if (o->state_after) return o->task.free ? ce_choose_free(o) : ce_choose_given(o);
    return o->task.free ? c0_choose_free(o) : c0_choose_given(o);
}

static rung_status evaluate_h2(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                               rung_error *err)
{
    two_full o = headwise_question_of(q, p);
    if (!pattern_fits(answer, &o.task, p) || !nothing_between(answer, p)) return RUNG_OK;
    if (!p->headwise) return bound_missing(answer, "no recurrent heads stand beside the full ones: see C0 and Ce");
    if (!h2_choose(&o)) return bound_missing(answer, "no size was found that satisfies the inequality");
    RUNG_TRY(decide_h2(answer, &o, err));
    compose_finish(answer, q, &o.task, compose_tokens(&o.task, o.N0, o.n1), false);
    answer->point = point_of(&o);
    answer->trivial = bound_does_not_fit(log2_values(&o, o.n1) > o.c + (double)p->all_state);
    snprintf(
        answer->premise, sizeof answer->premise,
        "two layers with full heads, recurrent heads beside them, %zu recurrent layers after them, summed from left "
        "to right, w last",
        p->layers[2]);
    h2_print(answer, &o);
    return RUNG_OK;
}

const rung_bound rung_bound_headwise_two = {
    .id = "H2",
    .summary = "two layers of full heads with recurrent ones beside cannot compose two functions",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by Coq",
    .section = "theorem-h",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_h2,
};
