/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Two functions, one full layer. A and B are the state bits before and after F, c those of its accumulator. Proofs:
 * docs/theory.md, Theorem B0 and Theorem B.
 *
 * B0 (A = 0). z_0 ranges over x_0 values, z_1 over x_1 functions whose images of them cover [N_0]. Impossible if for
 * some x_0 x_1 >= N_0
 *
 *     N_1 log2 V > c (n_1 + x_0) + B x_1;
 *     B = 0: nothing reads what z_0 receives, one w suffices: N_0 log2 V > c.
 *
 * B (A > 0). t q <= N_0, 1 <= g <= q; the last g t indices of z_1 in t groups, group i with values in an alphabet A_i
 * of size q. x functions of a class of density 2^(-A/g) take Theta = Theta(t,q,A/g,x) values (Lemma S). z_1 has
 * M = N_0 - g t + x g t tokens (L > 2: the tokens between come on top). Impossible if
 *
 *     n_1 Theta log2 V > A + c t n_1 + [B>0] (c t + min(x B, B + c M)).
 *
 * Where keys are added in tiles of T, the last T-1 entries of z_2 stay constant and count as tokens between: the cut is
 * at the last border of tiles before them. T-1 entries are lost on the left side.
 */
#include "compose_two.h"
#include "search.h"
#include "spread.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

static bool pattern_fits(rung_bound_answer *answer, const compose_task *t, const rung_pattern *p)
{
    if (t->L < 2)
        bound_missing(answer, "the theorem is about at least two functions");
    else if (p->full != 1 || p->too_many || p->sparse || p->levels_state)
        bound_missing(answer, "the theorem is about one full layer with recurrent ones before and after it");
    else
        return true;
    return false;
}

static one_full question_of(const bound_question *q, const rung_pattern *p)
{
    compose_task t = compose_of(q);
    return (one_full){.task = t,
                      .N0 = t.size.N0,
                      .n1 = t.size.n1,
                      .A = (double)p->state[0],
                      .B = (double)p->state[1],
                      .c = (double)p->message,
                      .state_before = p->state[0],
                      .state_after = p->state[1],
                      .message = p->message,
                      .ladder = SPREAD_ROUGH};
}

static double log2_values(const one_full *o, double n1)
{
    return log2(compose_values(&o->task, o->N0, o->N0 * n1));
}

/* n1 x each, without those entries at the end that stay constant */
static rung_ival entries_of(rung_certified *s, const one_full *o, rung_ival each)
{
    return rung_ival_sub(s, rung_ival_mul(s, rung_ival_real(s, o->n1), each), rung_ival_real(s, o->task.lost));
}

/* entries x log2 V */
static rung_ival entropy(rung_certified *s, const one_full *o, rung_ival entries)
{
    return rung_ival_mul(s, entries, compose_values_log2(s, &o->task, o->N0, compose_product(s, o->N0, o->n1)));
}

/* c bits for each of a number of accumulators. */
static rung_ival heard(rung_certified *s, const one_full *o, rung_ival accumulators)
{
    return rung_ival_mul(s, rung_ival_u64(s, o->message), accumulators);
}

/* ---- B0 ---------------------------------------------------------------------------------------------------------- */

bound_sides compose_b0_sides(rung_certified *s, const void *context)
{
    const one_full *o = context;
    if (o->state_after == 0) {
        rung_ival row = rung_ival_min(s, rung_ival_real(s, o->N0), entries_of(s, o, rung_ival_real(s, o->N0)));
        return (bound_sides){entropy(s, o, row), rung_ival_u64(s, o->message)};
    }
    assert(o->x0 * o->x1 >= o->N0);
    rung_ival receivers = rung_ival_add(s, rung_ival_real(s, o->n1), rung_ival_real(s, o->x0));
    rung_ival states = rung_ival_mul(s, rung_ival_u64(s, o->state_after), rung_ival_real(s, o->x1));
    return (bound_sides){entropy(s, o, entries_of(s, o, rung_ival_real(s, o->N0))),
                         rung_ival_add(s, heard(s, o, receivers), states)};
}

static bool b0_holds(double n1, const void *context)
{
    const one_full *o = context;
    double entries = n1 * o->N0 - o->task.lost;
    if (o->state_after == 0) return fmin(o->N0, entries) * log2_values(o, n1) > o->c;
    return entries * log2_values(o, n1) > o->c * (n1 + o->x0) + o->B * o->x1;
}

/* The x_1 with the least c x_0 + B x_1: near the square root, or the best of all if they are few. */
static void choose_x(one_full *o)
{
    double best = INFINITY, root = floor(sqrt(o->c * o->N0 / fmax(o->B, 1))), from = 1, to = o->N0;
    if (o->N0 > 4096) from = fmin(fmax(root - 64, 1), o->N0), to = fmin(from + 160, o->N0);
    for (double x1 = from; x1 <= to; x1++) {
        double x0 = ceil(o->N0 / x1), cost = o->c * x0 + o->B * x1;
        if (x0 * x1 < o->N0) x0++; /* corrects quotients of numbers beyond 2^53 */
        if (cost < best) best = cost, o->x0 = x0, o->x1 = x1;
    }
}

/* The prompt length for this N_0 with the best n_1. n_1 N_0 log2(n_1 N_0) - c n_1 is convex in n_1 and not positive at
 * 0, so it crosses a constant once. */
static double b0_tokens(one_full *o)
{
    choose_x(o);
    o->n1 = compose_least_n1(b0_holds, o);
    return o->n1 > 0 ? compose_tokens(&o->task, o->N0, o->n1) : INFINITY;
}

/* Exhaustive if every N_0 up to half of the best n can be tried; else every N_0 up to 2^14, and then steps of 0.1 %. */
static double b0_threshold(one_full *best, bool *exact)
{
    double tokens = INFINITY;
    *exact = true;
    for (double N0 = 1; (double)best->task.L * N0 + 2 < tokens && N0 < 0x1p40;) {
        one_full o = *best;
        o.N0 = N0;
        double n = b0_tokens(&o);
        if (n < tokens) tokens = n, *best = o;
        if (N0 > 4096) *exact = false;
        N0 += N0 > 0x1p14 ? floor(N0 / 1024) : 1;
    }
    return tokens;
}

static void b0_print(rung_bound_answer *answer, const one_full *o)
{
    double V = compose_values(&o->task, o->N0, o->N0 * o->n1);
    if (o->state_after == 0)
        snprintf(answer->statement, sizeof answer->statement,
                 "N_0 log2 V = %.1f > %.0f = c, with N_0 = %.0f, n_1 = %.0f, V = %.0f", answer->lhs, answer->rhs, o->N0,
                 o->n1, V);
    else
        snprintf(answer->statement, sizeof answer->statement,
                 "N_1 log2 V = %.1f > %.1f = c (n_1 + x_0) + B x_1, with N_0 = %.0f, n_1 = %.0f, V = %.0f, x_0 = %.0f, "
                 "x_1 = %.0f, c = %llu, B = %llu",
                 answer->lhs, answer->rhs, o->N0, o->n1, V, o->x0, o->x1, (unsigned long long)o->message,
                 (unsigned long long)o->state_after);
}

/* Roundings of a few hundred operations. */
static const double above = 1 + 1e-9;

/* E (mu - j)^+ for mu ~ Bin(N, 1/N), which counts how often a uniform z_1 takes one value. */
static double mean_excess(double N, double j)
{
    double excess = 1 - j, log_p = N * log1p(-1 / N); /* of mu = 0 */
    if (N == 1) return j < 1 ? 1 - j : 0;
    for (double k = 0; k < j && k <= N; k++) {
        excess += (j - k) * exp(log_p);
        log_p += log((N - k) / (k + 1)) - log(N - 1);
    }
    return fmax(excess, 0);
}

/* Uniform prompts, B > 0: bits that are known of the entry that is asked for, on average. Those that are listed serve
 * each of N_1 entries, and an entry that mu of the z_0 ask for counts mu times, but never more than log2 V bits:
 * mu I <= j I + (mu - j)^+ log2 V. */
static double known_bits(const one_full *o)
{
    double each = (o->c * (o->n1 + o->N0) + o->B) / (o->n1 * o->N0), all = log2_values(o, o->n1), least = INFINITY;
    for (double j = 1; j <= 64 && j <= o->N0; j++) least = fmin(least, j * each + mean_excess(o->N0, j) * all);
    return least * above;
}

/* Uniform prompts: with B = 0 w knows c bits of the row that is asked for. With z_1 = identity and the rest uniform: x_1 =
 * 1, x_0 = N_0. dist=identity draws such prompts for two functions. For more functions, those in between would have to
 * pass their argument on as well, and no dist draws that. */
static void b0_ceiling(rung_bound_answer *answer, const one_full *o)
{
    double V = compose_values(&o->task, o->N0, o->n1 * o->N0), row = o->task.free ? o->N0 : o->task.row;
    if (o->state_after == 0) {
        bound_ceiling(answer, o->c, row, V);
        return;
    }
    if (o->task.L == 2 && !o->task.identity) bound_ceiling(answer, known_bits(o), 1, V);
    if (answer->ceiling > 0) return;
    bound_ceiling(answer, o->c * (o->n1 + o->N0) + o->B, o->n1 * o->N0, V);
    if (o->task.L > 2)
        answer->ceiling_over = "prompts with z_1 to z_{L-1} = identity, the rest uniform";
    else if (!o->task.identity)
        answer->ceiling_over = "prompts with z_1 = identity, the rest uniform";
}

static rung_status evaluate_b0(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                               rung_error *err)
{
    rung_pattern apart = bound_heads_after(p);
    p = &apart;
    one_full o = question_of(q, p);
    bool exact = false;
    double tokens = 0;
    if (!pattern_fits(answer, &o.task, p)) return RUNG_OK;
    if (p->state[0]) return bound_missing(answer, "the theorem is about a full layer that comes first; see B");
    if (o.task.free)
        tokens = b0_threshold(&o, &exact);
    else
        choose_x(&o);
    if (tokens == INFINITY) return bound_missing(answer, "no size below 2^40 satisfies the inequality");
    RUNG_TRY(compose_decide(answer, &o.task, compose_b0_sides, &o, &o.n1, err));
    compose_finish(answer, q, &o.task, compose_tokens(&o.task, o.N0, o.n1), exact);
    answer->point = compose_point(&o.task, o.N0, o.n1);
    answer->point.x0 = (uint64_t)o.x0, answer->point.x1 = (uint64_t)o.x1;
    answer->trivial = bound_does_not_fit(log2_values(&o, o.n1) > o.c);
    snprintf(answer->premise, sizeof answer->premise, "F R^%zu, summed from left to right, w last", p->layers[1]);
    b0_print(answer, &o);
    if (o.task.lost == 0) b0_ceiling(answer, &o);
    return RUNG_OK;
}

const rung_bound rung_bound_compose_first = {
    .id = "B0",
    .levels_are_states = true,
    .kernels = RUNG_COVERS(RUNG_KERNEL_TILES),
    .summary = "one full layer, then recurrent ones, cannot compose two functions",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by search at small sizes",
    .section = "theorem-b0",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_b0,
};

/* ---- B ----------------------------------------------------------------------------------------------------------- */

/* M and the middle: tokens of z_1 and between, one for each value that they can have, with what they receive of z_2. */
static rung_ival listed_tokens(rung_certified *s, const one_full *o)
{
    rung_ival cells = rung_ival_mul(s, compose_product(s, o->g, o->t), rung_ival_real(s, o->x - 1));
    rung_ival others = rung_ival_real(s, compose_middle(&o->task, o->N0));
    return rung_ival_add(s, rung_ival_add(s, rung_ival_real(s, o->N0), cells), others);
}

/* min(x B, B + c M) */
static rung_ival later_states(rung_certified *s, const one_full *o)
{
    rung_ival B = rung_ival_u64(s, o->state_after);
    rung_ival once = rung_ival_add(s, B, heard(s, o, listed_tokens(s, o)));
    return rung_ival_min(s, rung_ival_mul(s, rung_ival_real(s, o->x), B), once);
}

bound_sides compose_b_sides(rung_certified *s, const void *context)
{
    const one_full *o = context;
    assert(o->g >= 1 && o->g <= o->q && o->t * o->q <= o->N0);
    rung_ival loss = rung_ival_div(s, rung_ival_u64(s, o->state_before), rung_ival_real(s, o->g));
    rung_ival theta = spread_from_class_surely(s, o->t, o->q, loss, o->x, o->y);
    rung_ival received =
        rung_ival_add(s, rung_ival_u64(s, o->state_before), heard(s, o, compose_product(s, o->t, o->n1)));
    if (o->state_after) {
        received = rung_ival_add(s, received, heard(s, o, rung_ival_real(s, o->t)));
        received = rung_ival_add(s, received, later_states(s, o));
    }
    return (bound_sides){entropy(s, o, entries_of(s, o, theta)), received};
}

/* The right side without c t n_1. */
static double b_constant(const one_full *o)
{
    double listed = o->N0 + o->g * o->t * (o->x - 1) + compose_middle(&o->task, o->N0);
    return o->A + (o->B > 0 ? o->c * o->t + fmin(o->x * o->B, o->B + o->c * listed) : 0);
}

static double b_entries(const one_full *o, double n1)
{
    return n1 * o->theta - o->task.lost;
}

static bool b_holds(double n1, const void *context)
{
    const one_full *o = context;
    return b_entries(o, n1) * log2_values(o, n1) > o->c * o->t * n1 + b_constant(o);
}

/* Reads t, q, g, x; g = 0 means q. Without states after F neither g nor x costs anything. An N_0 much larger than A + c
 * is never useful: a class of density 2^-A then has nearly all values already. */
static bool b_take(one_full *o, const double *point)
{
    o->t = point[0], o->q = point[1];
    o->g = o->B > 0 && point[2] > 0 ? point[2] : o->q, o->x = o->B > 0 ? point[3] : o->q * o->t;
    if (o->q < 1 || o->g > o->q || o->t * o->q > 0x1p60) return false;
    if (o->task.free) o->N0 = o->t * o->q;
    o->theta = spread_from_class(&o->y, o->t, o->q, o->A / o->g, o->x, o->ladder);
    return o->y == 0 || o->x <= o->q;
}

/* Free sizes: the prompt length at this point. */
static double b_tokens(const double *point, const void *context)
{
    one_full o = *(const one_full *)context;
    if (!b_take(&o, point)) return INFINITY;
    double n1 = compose_least_n1(b_holds, &o);
    return n1 > 0 ? compose_tokens(&o.task, o.N0, n1) : INFINITY;
}

/* The same with g = q: the point is t, q, x. */
static double b_tokens_all(const double *point, const void *context)
{
    return b_tokens((double[]){point[0], point[1], 0, point[2]}, context);
}

/* Given sizes: the right side over the left. (Their difference is least where both are small, far from where the
 * inequality holds.) The other one of t and q is the largest with t q <= N_0, which loses only the remainder of [N_0];
 * the smaller one is in the point, so that steps of one reach every such pair. */
static double b_share(const one_full *given, double t, double q, double g, double x)
{
    one_full o = *given;
    if (!b_take(&o, (double[]){t, q, g, x})) return INFINITY;
    return (o.c * o.t * o.n1 + b_constant(&o)) / fmax(b_entries(&o, o.n1) * log2_values(&o, o.n1), COMPOSE_SMALL);
}

static double b_share_by_t(const double *point, const void *context)
{
    const one_full *o = context;
    return b_share(o, point[0], floor(o->N0 / point[0]), point[1], point[2]);
}

static double b_share_by_q(const double *point, const void *context)
{
    const one_full *o = context;
    return b_share(o, floor(o->N0 / point[0]), point[0], point[1], point[2]);
}

/* The next whole number on a grid of about `count` points from 1 to most. */
static double next_on_grid(double x, double most, double count)
{
    return fmax(x + 1, floor(x * exp2(log2(most) / count)));
}

/* Parts of q that are tried as g. */
static const double shares[] = {1, 0.5, 0.25, 0.1, 0.03};

/* Few t, or few values in an alphabet: a rough search, then a fine one from its best points. */
static double b_search_given(double best[4], const one_full *o, bool by_q)
{
    search s, fine;
    double most = floor(sqrt(o->N0));
    search_box box = {3, {1, 1, 1}, {most, o->N0, o->N0}};
    one_full finely = *o;
    finely.ladder = SPREAD_FINE;
    search_init(&s, &box, by_q ? b_share_by_q : b_share_by_t, o, 6);
    s.budget = 20000;
    for (double some = 1; some <= most; some = next_on_grid(some, most, 40))
        for (double q = by_q ? some : floor(o->N0 / some), x = 1; x <= q * some; x = floor(x * 1.5) + 1)
            for (size_t g = 0; g < RUNG_COUNT(shares); g++) search_try(&s, (double[]){some, fmax(1, q * shares[g]), x});
    search_try_random(&s, 200);
    search_run(&s);
    search_init(&fine, &box, s.value, &finely, 6);
    fine.budget = 4000;
    if (s.least < INFINITY) search_try(&fine, s.best);
    search_run(&fine);
    double other = floor(o->N0 / fine.best[0]);
    best[0] = by_q ? other : fine.best[0], best[1] = by_q ? fine.best[0] : other;
    best[2] = fine.best[1], best[3] = fine.best[2];
    return fine.least;
}

static bool b_choose_given(one_full *o)
{
    double few[4], many[4], least = b_search_given(few, o, false), other = b_search_given(many, o, true);
    if (fmin(least, other) == INFINITY) return false;
    o->ladder = SPREAD_FINE;
    return b_take(o, other < least ? many : few);
}

/* Proposes starts with t, q and x on grids, and g a fraction of q. */
static void b_starts(search *s, double most, bool all)
{
    for (double t = 1; t <= most; t += t < 8 ? 1 : t)
        for (double q = 2; q <= most; q = next_on_grid(q, most, 40))
            for (double x = 1; x <= q; x = next_on_grid(x, most, 16))
                for (size_t g = 0; g < (all ? 1 : RUNG_COUNT(shares)); g++)
                    search_try(s, all ? (double[]){t, q, x} : (double[]){t, q, fmax(1, q * shares[g]), x});
}

/* A rough search with g = q (point t, q, x) or any g (t, q, g, x), then a fine one from its best points. *best is t, q,
 * g, x. */
static double b_search(double best[4], one_full *o, bool all)
{
    search s, fine;
    double most = 16 + fmin(4 * (o->A + o->c), 0x1p46);
    search_box box = {all ? 3 : 4, {1, 1, 1, 1}, {most, most, most, most}};
    one_full finely = *o;
    finely.ladder = SPREAD_FINE;
    search_init(&s, &box, all ? b_tokens_all : b_tokens, o, all ? 16 : 24);
    s.budget = 60000;
    b_starts(&s, most, all);
    for (double q = 2; all && q <= most; q += 1 + floor(q / 64)) /* t = 1, x = Theta */
        search_try(&s, (double[]){1, q, ceil(q * exp2(-o->A / q))});
    if (!all) search_try_random(&s, 4000);
    search_run(&s);
    search_init(&fine, &box, s.value, &finely, 1);
    fine.budget = 4000;
    if (s.least < INFINITY) search_try(&fine, s.best);
    search_run(&fine);
    best[0] = fine.best[0], best[1] = fine.best[1];
    best[2] = all ? 0 : fine.best[2], best[3] = fine.best[all ? 2 : 3];
    return fine.least;
}

static bool b_choose_free(one_full *o)
{
    double all[4], some[4], least = b_search(all, o, true), other = o->B > 0 ? b_search(some, o, false) : INFINITY;
    if (fmin(least, other) == INFINITY) return false;
    o->ladder = SPREAD_FINE;
    if (!b_take(o, other < least ? some : all)) return false;
    o->n1 = compose_least_n1(b_holds, o);
    return true;
}

/* Uniform prompts, L = 2, B = 0. Of a row w knows c bits and its share of the A bits that leave z_2, a part rho of all. What
 * it knows of z_1 moves the entry that is asked for away from uniform by A/N_0 bits of divergence. By Donsker and Varadhan
 * it knows at most (A/N_0 + log2(1 + rho (V^l - 1)))/l bits of that entry, for every l > 0. */
static void b_ceiling(rung_bound_answer *answer, const one_full *o)
{
    if (o->state_after || o->task.L != 2 || o->task.identity || o->task.lost > 0) return;
    double all = log2_values(o, o->n1), rho = (o->c + o->A / o->n1) / (o->N0 * all), least = INFINITY;
    if (!(all > 0) || !(rho < 1)) return;
    for (double l = 0x1p-10; l < 64; l *= 1.02) {
        double power = exp2(fmin(l * all, 900));
        if (l * all <= 900) least = fmin(least, (o->A / o->N0 + log2(1 + rho * (power - 1))) / l);
    }
    bound_ceiling(answer, least * above, 1, compose_values(&o->task, o->N0, o->n1 * o->N0));
}

static void b_print(rung_bound_answer *answer, const one_full *o)
{
    snprintf(answer->statement, sizeof answer->statement,
             "n_1 Theta log2 V = %.1f > %.1f, with N_0 = %.0f, n_1 = %.0f, V = %.0f, t = %.0f, q = %.0f, g = %.0f, x = "
             "%.0f, Theta = %.0f, c = %llu, A = %llu, B = %llu",
             answer->lhs, answer->rhs, o->N0, o->n1, compose_values(&o->task, o->N0, o->N0 * o->n1), o->t, o->q, o->g,
             o->x, o->theta, (unsigned long long)o->message, (unsigned long long)o->state_before,
             (unsigned long long)o->state_after);
}

static rung_status evaluate_b(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                              rung_error *err)
{
    rung_pattern apart = bound_heads_after(p);
    p = &apart;
    one_full o = question_of(q, p);
    if (!pattern_fits(answer, &o.task, p)) return RUNG_OK;
    if (p->state[0] == 0) return bound_missing(answer, "no recurrent layer before the full one: B0 is stronger");
    bool found = o.task.free ? b_choose_free(&o) : b_choose_given(&o);
    if (!found) return bound_missing(answer, "no size was found that satisfies the inequality");
    RUNG_TRY(compose_decide(answer, &o.task, compose_b_sides, &o, &o.n1, err));
    compose_finish(answer, q, &o.task, compose_tokens(&o.task, o.N0, o.n1), false);
    answer->point = compose_point(&o.task, o.N0, o.n1);
    answer->point.known = answer->point.known && o.y == 0; /* Coq has lemma S, not S' */
    answer->point.t = (uint64_t)o.t, answer->point.q = (uint64_t)o.q;
    answer->point.g = (uint64_t)o.g, answer->point.x = (uint64_t)o.x;
    answer->trivial = bound_does_not_fit(log2_values(&o, o.n1) > o.c);
    snprintf(answer->premise, sizeof answer->premise, "R^%zu F R^%zu, summed from left to right, w last", p->layers[0],
             p->layers[1]);
    b_print(answer, &o);
    b_ceiling(answer, &o);
    return RUNG_OK;
}

const rung_bound rung_bound_compose_between = {
    .id = "B",
    .levels_are_states = true,
    .kernels = RUNG_COVERS(RUNG_KERNEL_TILES),
    .summary = "one full layer between recurrent ones cannot compose two functions",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by search at small sizes",
    .section = "theorem-b",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_b,
};
