/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Meet in the middle on an additive table. A small table is searched completely: all choices are sorted by their sum,
 * so if nothing is found it is proved that no two have the same sum. Otherwise it makes two lists of differences, one
 * for each half of the places, and joins them so that all coordinates vanish at once.
 */
#include "attack_rows.h"
#include "wagner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- everything -------------------------------------------------------------------------------------------------- */

typedef struct tagged {
    uint64_t hash, number;
} tagged;

static int by_hash(const void *a, const void *b)
{
    const tagged *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static uint64_t all_choices(const additive *sums)
{
    uint64_t all = 1;
    for (size_t j = 0; j < sums->places; j++) {
        uint64_t choices = additive_choices(sums, j);
        if (choices > UINT64_MAX / all) return UINT64_MAX;
        all *= choices;
    }
    return all;
}

static void choices_of(uint32_t *f, uint64_t number, const additive *sums)
{
    for (size_t j = 0; j < sums->places; j++) {
        uint64_t choices = additive_choices(sums, j);
        f[j] = (uint32_t)(number % choices);
        number /= choices;
    }
}

static uint64_t sum_hash(const uint32_t *f, const additive *sums, int64_t *sum)
{
    memset(sum, 0, sums->dims * sizeof *sum);
    for (size_t j = 0; j < sums->places; j++)
        for (size_t i = 0; i < sums->dims; i++) sum[i] += additive_row(sums, j, f[j])[i];
    return rung_hash64(sum, sums->dims * sizeof *sum);
}

static bool equal_among(uint32_t *f, uint32_t *g, const additive *sums, const tagged *entry, size_t count,
                        uint64_t seed)
{
    for (size_t i = 0; i + 1 < count; i++) { /* another seed starts at another place */
        size_t e = (i + (size_t)(seed * 0x9e3779b1u)) % (count - 1);
        if (entry[e].hash != entry[e + 1].hash) continue;
        choices_of(f, entry[e].number, sums);
        choices_of(g, entry[e + 1].number, sums);
        if (rung_additive_holds(sums, f, g)) return true;
    }
    return false;
}

static bool try_all(uint32_t *f, uint32_t *g, additive_note *note, const additive *sums, uint64_t all,
                    const rung_budget *budget, uint64_t seed)
{
    tagged *entry = rung_calloc(all, sizeof *entry, NULL);
    int64_t *sum = rung_calloc(sums->dims + 1, sizeof *sum, NULL);
    bool found = false;
    snprintf(note->text, sizeof note->text, "no memory for all %llu tables", (unsigned long long)all);
    if (entry && sum) {
        rung_budget_progress(budget, "trying all tables", all);
        for (uint64_t n = 0; n < all; n++) {
            choices_of(f, n, sums);
            entry[n] = (tagged){sum_hash(f, sums, sum), n};
        }
        qsort(entry, all, sizeof *entry, by_hash);
        found = equal_among(f, g, sums, entry, all, seed);
        snprintf(note->text, sizeof note->text, found ? "all %llu tables tried" : "all %llu tables have different sums",
                 (unsigned long long)all);
    }
    free(sum);
    free(entry);
    return found;
}

/* ---- two lists --------------------------------------------------------------------------------------------------- */

static bool two_lists(uint32_t *f, uint32_t *g, size_t room, size_t per_leaf, const additive *sums,
                      const rung_budget *budget, uint64_t seed, double began)
{
    wagner_tree t;
    size_t reached[2];
    bool found = false;
    if (rung_wagner_init(&t, sums, 1, room, per_leaf, seed, NULL) == RUNG_OK) {
        t.budget = budget;
        t.began = began;
        t.keep = 1;
        found = rung_wagner_grow(f, g, reached, &t);
    }
    rung_wagner_clear(&t);
    return found;
}

#define ALL_MOST ((uint64_t)1 << 22)

bool rung_additive_middle(uint32_t *f, uint32_t *g, additive_note *note, const additive *sums,
                          const rung_budget *budget, uint64_t seed, double began)
{
    enum { ROOM_LEAST = 12, ROOM_MOST = 23, ROUNDS = 8 };
    uint64_t all = all_choices(sums);
    if (all <= ALL_MOST && all * sizeof(tagged) <= budget->memory) return try_all(f, g, note, sums, all, budget, seed);
    snprintf(note->text, sizeof note->text, "too few places for two lists");
    rung_budget_progress(budget, "joining two lists of differences", ROOM_MOST - ROOM_LEAST + 1);
    for (int room = ROOM_LEAST; room <= ROOM_MOST && sums->places > 1; room++) {
        /* At least as many places as are needed for this many differences. */
        double bits = 2 * log2((double)sums->first[sums->places] / (double)sums->places);
        size_t most = sums->places / 2, per_leaf = bits > 0 ? (size_t)ceil(room / bits) : most;
        if (per_leaf > most) per_leaf = most;
        if (per_leaf > WAGNER_PER_LEAF_MAX) per_leaf = WAGNER_PER_LEAF_MAX;
        if (per_leaf == 0 || rung_wagner_bytes(sums->dims, 1, exp2(room), 1) > (double)budget->memory) break;
        for (size_t round = 0; round < ROUNDS && rung_budget_left(budget, began) > 0; round++)
            if (two_lists(f, g, (size_t)1 << room, per_leaf, sums, budget, seed + (uint64_t)room * ROUNDS + round,
                          began)) {
                snprintf(note->text, sizeof note->text, "two lists of 2^%d differences", room);
                return true;
            }
        snprintf(note->text, sizeof note->text, "two lists of up to 2^%d differences, no sum vanished", room);
        if (budget->progress) rung_progress_tick(budget->progress, (uint64_t)(room - ROOM_LEAST + 1));
        if (rung_budget_left(budget, began) <= 0) break;
    }
    return false;
}

/* ---- row --------------------------------------------------------------------------------------------------------- */

static double expect(const rung_attacked *attacked, const rung_budget *budget, char *why, size_t size)
{
    double bits, choices;
    size_t places;
    (void)budget;
    if (!rung_additive_suits(attacked, why, size)) return -1;
    rung_additive_sizes(&bits, &places, &choices, attacked);
    double all = (double)places * log2(choices),
           lists = 0.3 * bits; /* random weights use about 0.6 of the bits of a number */
    return 1e-3 + exp2(all < lists ? all : lists) * 1e-7;
}

static rung_status run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    return rung_additive_run(result, attacked, budget, rung_additive_middle, err);
}

const rung_attack rung_attack_middle = {
    .name = "middle",
    .summary = "two tables with the same exact sum, by meeting in the middle; all tables when they are few",
    .source = "Horowitz, Sahni 1974",
    .applies = "one layer of linear attention (or log-linear, base=linear) in fixed point; any task over tokens",
    .cost = "2^(b/2) differences for b bits of sum, or all tables",
    .kinds = 1u << RUNG_CERT_STATE_COLLISION,
    .breaks = "linear:dk=1:dv=2 q6.4 eva N=16 V=8",
    .spares = "linear:dk=2:dv=3 q4.20 eva N=4 V=4",
    .expect = expect,
    .run = run,
};
