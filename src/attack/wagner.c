/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The attack of Wagner (2002) on additive states: 2^t lists of 2^l differences each make (t+1) l bits of a sum vanish,
 * instead of the 2l bits of a birthday search. The sizes come from a model of the tree in which coordinates are normal:
 * a coordinate of standard deviation s vanishes in a pair with probability 1/(2 sqrt(pi) s), and the remaining
 * coordinates double their variance at every join.
 */
#include "wagner.h"
#include "attack_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ROOM: twice log2 of the number of elements of a list. Their indices have 24 bits. */
enum { SAMPLE = 512, ROOM_LEAST = 20, ROOM_MOST = 48 };

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* Standard deviations of the coordinates of leaves, rising; the tree uses that order. */
static bool measure_leaves(double *deviation, wagner_tree *t)
{
    size_t dims = t->sums->dims;
    int32_t *x = rung_calloc(2 * dims, sizeof *x, NULL);
    uint32_t *order = (uint32_t *)(x + dims);
    if (!x) return false;
    memset(deviation, 0, dims * sizeof *deviation);
    for (size_t e = 0; e < SAMPLE; e++) {
        wagner_leaf leaf = rung_wagner_leaf(t, e % ((size_t)1 << t->levels));
        rung_wagner_leaf_row(x, t, &leaf, e * 0x9e3779b1u);
        for (size_t i = 0; i < dims; i++) deviation[i] += (double)x[i] * x[i] / SAMPLE;
    }
    for (size_t i = 0; i < dims; i++) deviation[i] = sqrt(deviation[i]), order[i] = (uint32_t)i;
    for (size_t i = 1; i < dims; i++) /* insertion sort, because they are few */
        for (size_t k = i; k > 0 && deviation[k] < deviation[k - 1]; k--) {
            double d = deviation[k];
            uint32_t o = order[k];
            deviation[k] = deviation[k - 1], order[k] = order[k - 1];
            deviation[k - 1] = d, order[k - 1] = o;
        }
    rung_wagner_reorder(t, order);
    free(x);
    return true;
}

/* -log2 of the probability that a coordinate vanishes in a pair. */
static double vanishing_bits(double deviation)
{
    const double four_pi = 12.566370614359172;
    return log2(1 + four_pi * deviation * deviation) / 2;
}

/* log2 of the expected number of vanishing sums, for lists of 2^room elements and leaves of 2^leaf. */
static double expected_log2(double *deviation, size_t dims, size_t levels, double room, double leaf)
{
    const double grown = 1.4142135623730951;
    double size = leaf < room ? leaf : room;
    size_t at = 0;
    for (size_t depth = 1; depth < levels; depth++) {
        double spare = 2 * size - room; /* bits that may vanish */
        for (; spare > 0 && at < dims; at++) {
            double bits = vanishing_bits(deviation[at]);
            if (bits > spare) {
                deviation[at] *= exp2(-spare);
                spare = 0;
                break;
            }
            spare -= bits;
        }
        size = 2 * size < room ? 2 * size : room;
        for (size_t i = at; i < dims; i++) deviation[i] *= grown;
    }
    double left = 2 * size;
    for (; at < dims; at++) left -= vanishing_bits(deviation[at]);
    return left;
}

typedef struct plan {
    bool fits;
    size_t levels, per_leaf, keep;
    int room;         /* twice log2 */
    double solutions; /* log2 of the expected number */
    double work;      /* elements in all lists */
} plan;

/* As few places as make the leaf large enough, because every further one makes the sums larger. */
static size_t places_of_leaf(const additive *sums, size_t levels, double room)
{
    size_t most = sums->places >> levels, places = 1;
    double bits = 0, choices = (double)sums->first[sums->places] / (double)sums->places;
    if (choices < 1.5) choices = 1.5;
    while (places < most && (bits = 2 * log2(choices) * (double)places) < room) places++;
    return places < 64 ? places : 64;
}

static size_t elements(const plan *p)
{
    return (size_t)exp2(p->room / 2.0);
}

static bool memory_fits(plan *p, size_t dims, double memory)
{
    for (p->keep = 1; p->keep <= p->levels; p->keep++)
        if (rung_wagner_bytes(dims, p->levels, (double)elements(p), p->keep) <= memory) return true;
    return false;
}

static bool judge(plan *p, const additive *sums, uint64_t seed, const rung_budget *budget)
{
    wagner_tree t;
    double *deviation = rung_calloc(sums->dims, sizeof *deviation, NULL);
    p->per_leaf = places_of_leaf(sums, p->levels, p->room / 2.0);
    p->work = ldexp(2 * (double)elements(p), (int)p->levels);
    p->fits = deviation && memory_fits(p, sums->dims, (double)budget->memory) &&
              rung_wagner_init(&t, sums, p->levels, elements(p), p->per_leaf, seed, NULL) == RUNG_OK;
    if (p->fits) {
        p->fits = measure_leaves(deviation, &t);
        double leaf = log2((double)rung_wagner_leaf(&t, 0).space);
        p->solutions = expected_log2(deviation, sums->dims, p->levels, p->room / 2.0, leaf);
        rung_wagner_clear(&t);
    }
    free(deviation);
    return p->fits;
}

/* The cheapest sizes that should give 2^margin solutions; if there are none, the most promising ones. */
static plan choose_sizes(const additive *sums, double margin, const rung_budget *budget, uint64_t seed)
{
    plan best = {.solutions = -INFINITY};
    for (size_t levels = 1; levels <= WAGNER_LEVELS_MAX && sums->places >> levels > 0; levels++)
        for (int room = ROOM_LEAST; room <= ROOM_MOST; room++) {
            plan p = {.levels = levels, .room = room};
            if (!judge(&p, sums, seed, budget)) break;
            bool better =
                best.solutions < margin ? p.solutions > best.solutions : p.solutions >= margin && p.work < best.work;
            if (better) best = p;
            if (p.solutions >= margin) break;
        }
    return best;
}

/* ---- solver ------------------------------------------------------------------------------------------------------ */

/* Elements per second of two threads; a tree that cannot be finished in time is not started. */
#define ELEMENTS_PER_SECOND 2.5e7

static bool try_tree(uint32_t *f, uint32_t *g, size_t reached[2], const additive *sums, const plan *p,
                     const rung_budget *budget, uint64_t seed, double began)
{
    wagner_tree t;
    double *deviation = rung_calloc(sums->dims, sizeof *deviation, NULL);
    bool found = false;
    reached[0] = reached[1] = 0;
    if (deviation && rung_wagner_init(&t, sums, p->levels, elements(p), p->per_leaf, seed, NULL) == RUNG_OK) {
        t.budget = budget;
        t.began = began;
        t.keep = p->keep;
        found = measure_leaves(deviation, &t) && rung_wagner_grow(f, g, reached, &t);
        rung_wagner_clear(&t);
    }
    free(deviation);
    return found;
}

bool rung_additive_wagner(uint32_t *f, uint32_t *g, additive_note *note, const additive *sums,
                          const rung_budget *budget, uint64_t seed, double began)
{
    enum { HOPES = 4 }; /* number of margins: after each failure the next tree should have 16 times as many solutions */
    size_t reached[2];
    snprintf(note->text, sizeof note->text, "too few places for two lists");
    for (int hope = 0; hope < HOPES && sums->places > 1 && sums->dims > 0; hope++) {
        plan p = choose_sizes(sums, 4 * hope - 2, budget, seed);
        if (!p.fits) {
            snprintf(note->text, sizeof note->text, "no tree fits into %zu MiB", budget->memory >> 20);
            break;
        }
        snprintf(note->text, sizeof note->text, "2^%zu lists of 2^%.1f differences", p.levels, p.room / 2.0);
        size_t used = strlen(note->text);
        if (p.solutions < -3 || p.work / ELEMENTS_PER_SECOND > 2 * rung_budget_left(budget, began)) {
            snprintf(note->text + used, sizeof note->text - used, " would be needed (2^%.0f solutions expected)",
                     p.solutions);
            break;
        }
        rung_budget_progress(budget, "growing a tree of lists", (uint64_t)1 << p.levels);
        if (try_tree(f, g, reached, sums, &p, budget, seed + (uint64_t)hope * 1000003, began)) return true;
        snprintf(note->text + used, sizeof note->text - used, ", no sum vanished (last lists %zu and %zu)", reached[0],
                 reached[1]);
        if (rung_budget_left(budget, began) <= 0) break;
    }
    return false;
}

/* ---- row --------------------------------------------------------------------------------------------------------- */

static double expect(const rung_attacked *attacked, const rung_budget *budget, char *why, size_t size)
{
    double bits, choices, best = INFINITY;
    size_t places;
    (void)budget;
    if (!rung_additive_suits(attacked, why, size)) return -1;
    rung_additive_sizes(&bits, &places, &choices, attacked);
    for (int t = 1; t <= WAGNER_LEVELS_MAX && places >> t > 0; t++) {
        double seconds = exp2(0.6 * bits / (t + 1) + t) /
                         ELEMENTS_PER_SECOND; /* random weights use about 0.6 of the bits of a number */
        if (seconds < best) best = seconds;
    }
    return best;
}

static rung_status run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    return rung_additive_run(result, attacked, budget, rung_additive_wagner, err);
}

const rung_attack rung_attack_wagner = {
    .name = "wagner",
    .summary = "two tables with the same exact sum, by a tree of lists of differences",
    .source = "Wagner 2002, A generalized birthday problem",
    .applies = "one layer of linear attention (or log-linear, base=linear) in fixed point; any task over tokens",
    .cost = "2^t lists of 2^(b/(t+1)) differences for b bits of sum, t <= log2 of the positions",
    .kinds = 1u << RUNG_CERT_STATE_COLLISION,
    .breaks = "linear:dk=3:dv=3 q11.4 eva N=256 V=16",
    .spares = "linear:dk=8:dv=8 q7.20 eva N=16 V=16",
    .expect = expect,
    .run = run,
};
