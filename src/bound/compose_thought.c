/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The row of theorem K1: one layer with full heads, and thoughts.
 */
#include "compose_thought.h"
#include "search.h"

#include <math.h>
#include <stdio.h>

/* ---- two functions, one thought ---------------------------------------------------------------------------------- */

static double two_N0(const thinking *k)
{
    return k->task.free ? k->t * k->q[1] : k->task.size.N0;
}

static double two_gain(const thinking *k, double n1)
{
    double c = (double)k->c, s1 = (double)k->beside, N0 = two_N0(k);
    double values = ceil(k->t * k->q[1] * exp2(-(c + s1) / (k->q[1] * k->t)));
    return n1 * (values * log2(compose_values(&k->task, N0, N0 * n1)) - c * (1 + k->t)) - s1;
}

static bool two_holds(double n1, const void *context)
{
    return two_gain(context, n1) > 0;
}

static void two_take(thinking *k, double t, double q)
{
    k->t = t, k->q[1] = q, k->x[1] = 1, k->n[1] = k->task.free ? 1 : k->task.size.n1, k->g = 0;
}

/* Given sizes: the point is t. */
static double two_deficit(const double *point, const void *context)
{
    thinking k = *(const thinking *)context;
    two_take(&k, point[0], floor(k.task.size.N0 / point[0]));
    return -two_gain(&k, k.n[1]);
}

/* Free sizes: the point is t, q. */
static double two_tokens(const double *point, const void *context)
{
    thinking k = *(const thinking *)context;
    two_take(&k, point[0], point[1]);
    if (!thought_allowed(&k)) return INFINITY;
    double n1 = compose_least_n1(two_holds, &k);
    return n1 > 0 ? compose_tokens(&k.task, two_N0(&k), n1) : INFINITY;
}

/* t = 1 is best without recurrent heads: then q is tried one by one while it is small. */
static bool two_choose(thinking *k)
{
    search s;
    double most = k->task.free ? 16 * (1 + (double)k->c + (double)k->beside) : k->task.size.N0;
    search_box box = {k->task.free ? 2 : 1, {1, 1}, {fmin(most, 0x1p20), fmin(most, 0x1p48)}};
    search_init(&s, &box, k->task.free ? two_tokens : two_deficit, k, 8);
    for (double q = 1; q <= box.high[1] && k->task.free; q += q < 4096 ? 1 : floor(q / 512))
        search_try(&s, (double[]){1, q});
    for (double t = 1; t <= fmin(box.high[0], 64); t++) search_try(&s, (double[]){t, fmax(1, (double)k->c)});
    search_try_random(&s, 200);
    if (search_run(&s) == INFINITY) return false;
    two_take(k, s.best[0], k->task.free ? s.best[1] : floor(k->task.size.N0 / s.best[0]));
    if (k->task.free) k->n[1] = compose_least_n1(two_holds, k);
    return k->n[1] > 0;
}

/* Uniform z_2, z_1, z_0 and w. Given w and what it has heard of z_2, the letter that w carries past z_1 (c + s_1 bits)
 * is a function of z_1. So i_1 given that letter is within (c + s_1)/N_0 bits of uniform, on average over z_0, and
 * independent of z_2. Of the N_0 entries of its row w and the thought learn 2 c + s_1 bits together. By the variational
 * formula of the divergence the entry i_1 gets at most beta bits of them, for every lambda > 0:
 *
 *     beta = ((c + s_1)/N_0 + log2(1 + rho (V^lambda - 1))) / lambda,   rho = (2 c + s_1)/(N_0 log2 V). */
static double learnt(const thinking *k, double N0, double V)
{
    double told = ((double)k->c + (double)k->beside) / N0, each = log2(V), best = INFINITY;
    double rho = (2 * (double)k->c + (double)k->beside) / (N0 * each);
    for (double lambda = 1.0 / 64; lambda <= 16; lambda *= 1.03) {
        double beta = (told + log2(1 + rho * (exp2(lambda * each) - 1))) / lambda;
        if (beta < best) best = beta;
    }
    return best * (1 + 1e-12); /* more than the errors of the logarithms */
}

static void two_ceiling(rung_bound_answer *answer, const thinking *k)
{
    double N0 = two_N0(k), V = compose_values(&k->task, N0, N0 * k->n[1]);
    if (k->task.free || k->task.L != 2 || !(V >= 2) || !(log2(V) < 60)) return;
    bound_ceiling(answer, learnt(k, N0, V), 1, V);
    if (k->task.identity) answer->ceiling_over = "prompts that are all uniform";
}

static rung_status evaluate_two(rung_bound_answer *answer, thinking *k, const bound_question *q, rung_error *err)
{
    if (!two_choose(k)) return bound_missing(answer, "no size was found that satisfies the inequality");
    RUNG_TRY(compose_decide(answer, &k->task, thought_two_sides, k, &k->n[1], err));
    double N0 = two_N0(k), V = compose_values(&k->task, N0, N0 * k->n[1]);
    compose_finish(answer, q, &k->task, compose_tokens(&k->task, N0, k->n[1]), false);
    answer->point = compose_point(&k->task, N0, k->n[1]);
    answer->point.t = (uint64_t)k->t, answer->point.q = answer->point.g = (uint64_t)k->q[1];
    answer->trivial = bound_does_not_fit(log2(V) > (double)k->c + (double)k->beside);
    snprintf(
        answer->statement, sizeof answer->statement,
        "n_1 ceil(t q 2^(-%s/gt)) log2 V = %.1f > %.1f = c n_1 (1+t)%s, with N_0 = %.0f, n_1 = %.0f, V = %.0f, t = "
        "%.0f, q = g = %.0f, c = %llu, s_1 = %llu",
        k->beside ? "(c+s_1)" : "c", answer->lhs, answer->rhs, k->beside ? " + s_1" : "", N0, k->n[1], V, k->t, k->q[1],
        (unsigned long long)k->c, (unsigned long long)k->beside);
    two_ceiling(answer, k);
    return RUNG_OK;
}

/* ---- more -------------------------------------------------------------------------------------------------------- */

static void deep_print(rung_bound_answer *answer, const thinking *k)
{
    char text[240];
    size_t len = 0;
    for (size_t l = 1; l < k->L && len < sizeof text - 80; l++)
        len += (size_t)snprintf(text + len, sizeof text - len, ", x_%zu = %.12g, q_%zu = %.12g, n_%zu = %.12g", l,
                                k->x[l], l, k->q[l], l, k->n[l]);
    snprintf(answer->statement, sizeof answer->statement, "n_%zu Theta log2 V = %.6g > %.6g, with t = %.0f%s, c = %llu",
             k->L - 1, answer->lhs, answer->rhs, k->t, text, (unsigned long long)k->c);
}

/* Coq has the first form, with Lemma S for z_1. */
static rung_bound_point point_of(const thinking *k)
{
    double N0 = k->t;
    for (size_t l = 1; l < k->L; l++) N0 *= k->q[l];
    rung_bound_point p = compose_point(&k->task, N0, 1);
    p.known = p.known && !k->relays && k->y[1] == 0;
    p.t = (uint64_t)k->t, p.q = (uint64_t)k->q[1], p.x = (uint64_t)k->x[1];
    p.g = (uint64_t)(k->g > 0 ? k->g : N0 / k->t);
    for (size_t l = 2; l < k->L; l++, p.steps++)
        p.step[p.steps].x = (uint64_t)k->x[l], p.step[p.steps].q = (uint64_t)k->q[l], p.step[p.steps].y = k->y[l];
    return p;
}

static rung_status evaluate_more(rung_bound_answer *answer, thinking *k, const bound_question *q, rung_error *err)
{
    if (k->task.flat)
        return bound_missing(answer, "the theorem is about tables whose values are as many as their entries; flat=1");
    if (!k->task.free) return bound_missing(answer, "the theorem is about sizes of its own: ask for a length with --n");
    if (k->L > THOUGHT_MAX)
        return bound_missing(answer, "the theorem is searched for at most %d functions", THOUGHT_MAX);
    if (!thought_choose(k)) return bound_missing(answer, "no size below 2^52 was found that satisfies the inequality");
    RUNG_TRY(compose_decide(answer, &k->task, thought_sides, k, &k->q[1], err));
    answer->holds = answer->holds && thought_allowed(k);
    compose_finish(answer, q, &k->task, thought_tokens(k), false);
    answer->point = point_of(k);
    answer->trivial = bound_does_not_fit(thought_log2_values(k) > (double)k->c);
    deep_print(answer, k);
    return RUNG_OK;
}

static rung_status evaluate(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p, rung_error *err)
{
    thinking k = {.task = compose_of(q), .c = p->message};
    if (q->thoughts == 0) return bound_missing(answer, "the theorem is about at least one thought before the answer");
    if (p->full != 1 || p->too_many || p->sparse || p->levels_state)
        return bound_missing(answer, "the theorem is about one layer with full heads");
    k.relays = p->state[0] || p->state[1];
    if (q->thoughts > THOUGHT_MAX || k.task.L < q->thoughts + 1 + k.relays)
        return bound_missing(answer, k.relays ? "the theorem is about two functions more than thoughts"
                                              : "the theorem is about more functions than thoughts");
    k.L = (size_t)q->thoughts + 1 + k.relays;
    if (k.relays)
        k.before = p->state[0], k.after = p->state[1] + p->beside[0];
    else
        k.beside = p->beside[0];
    rung_status status = k.L == 2 ? evaluate_two(answer, &k, q, err) : evaluate_more(answer, &k, q, err);
    if (answer->applies)
        snprintf(
            answer->premise, sizeof answer->premise,
            "one layer with full heads%s, %llu thought%s of any content, %zu functions, summed from left to right, "
            "w last",
            k.relays ? " among recurrent ones" : "", (unsigned long long)q->thoughts, q->thoughts > 1 ? "s" : "", k.L);
    return status;
}

const rung_bound rung_bound_compose_thought = {
    .id = "K1",
    .summary = "one layer with full heads and L-1 thoughts cannot compose L functions",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by dataflow on small models and by Coq, with recurrent layers on paper",
    .section = "thoughts",
    .needs = NEEDS_THOUGHTS,
    .evaluate = evaluate,
};
