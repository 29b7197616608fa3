/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Tables whose rows add up (see additive.h), and the attack on a carried state that is such a sum: one layer of linear
 * attention, or of log-linear attention with base=linear, in fixed point. A solver finds two prefixes with the same
 * sum, and running the model on both decides. additive_state.c reads the table out of a model.
 */
#include "additive.h"
#include "certify.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ------------------------------------------------------------------------------------------------------ */

rung_status rung_additive_init(additive *sums, size_t places, const size_t *choices, size_t dims, rung_error *err)
{
    size_t rows = 0, elements;
    *sums = (additive){.places = places, .dims = dims};
    sums->first = rung_calloc(places + 1, sizeof *sums->first, err);
    if (!sums->first) return RUNG_SYSTEM;
    for (size_t j = 0; j < places; j++) {
        if (!rung_size_add(&rows, rows, choices[j])) return rung_fail(err, RUNG_SYSTEM, "too many choices");
        sums->first[j + 1] = rows;
    }
    if (!rung_size_mul(&elements, rows, dims)) return rung_fail(err, RUNG_SYSTEM, "too many numbers in a table");
    sums->token = rung_calloc(rows, sizeof *sums->token, err);
    sums->row = sums->token ? rung_calloc(elements, sizeof *sums->row, err) : NULL;
    return sums->row ? RUNG_OK : RUNG_SYSTEM;
}

void rung_additive_clear(additive *sums)
{
    free(sums->first);
    free(sums->token);
    free(sums->row);
    memset(sums, 0, sizeof *sums);
}

static bool makes_a_difference(const additive *sums, size_t dim)
{
    for (size_t j = 0; j < sums->places; j++)
        for (size_t c = 1; c < additive_choices(sums, j); c++)
            if (additive_row(sums, j, c)[dim] != additive_row(sums, j, 0)[dim]) return true;
    return false;
}

static void drop_dead_coordinates(additive *sums)
{
    size_t rows = sums->first[sums->places], kept = 0;
    size_t *live = rung_calloc(sums->dims, sizeof *live, NULL);
    if (!live) return; /* such coordinates do not matter */
    for (size_t i = 0; i < sums->dims; i++)
        if (makes_a_difference(sums, i)) live[kept++] = i;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < kept; i++) sums->row[r * kept + i] = sums->row[r * sums->dims + live[i]];
    sums->dims = kept;
    free(live);
}

/* Includes the coordinates that are left out, because they are sums as well. */
static double fullness(const additive *sums, double largest)
{
    double most = 0;
    for (size_t i = 0; i < sums->dims; i++) {
        double sum = 0;
        for (size_t j = 0; j < sums->places; j++) {
            double high = 0;
            for (size_t c = 0; c < additive_choices(sums, j); c++) {
                double x = (double)additive_row(sums, j, c)[i];
                if (x < 0) x = -x;
                if (x > high) high = x;
            }
            sum += high;
        }
        if (sum > most) most = sum;
    }
    return most / largest;
}

static bool same_everywhere(const additive *sums)
{
    size_t rows = additive_choices(sums, 0);
    for (size_t j = 1; j < sums->places; j++)
        if (additive_choices(sums, j) != rows ||
            memcmp(sums->token + sums->first[j], sums->token, rows * sizeof *sums->token) != 0 ||
            memcmp(additive_row(sums, j, 0), sums->row, rows * sums->dims * sizeof *sums->row) != 0)
            return false;
    return true;
}

static bool consecutive_ids(const additive *sums)
{
    for (size_t j = 0; j < sums->places; j++)
        for (size_t c = 0; c < additive_choices(sums, j); c++)
            if (sums->token[sums->first[j] + c] != sums->token[sums->first[j]] + c) return false;
    return true;
}

void rung_additive_seal(additive *sums, double largest)
{
    sums->fullness = fullness(sums, largest);
    drop_dead_coordinates(sums);
    sums->same = same_everywhere(sums);
    sums->whole = consecutive_ids(sums);
}

bool rung_additive_holds(const additive *sums, const uint32_t *f, const uint32_t *g)
{
    if (memcmp(f, g, sums->places * sizeof *f) == 0) return false;
    for (size_t i = 0; i < sums->dims; i++) {
        int64_t sum = 0;
        for (size_t j = 0; j < sums->places; j++)
            sum += additive_row(sums, j, f[j])[i] - additive_row(sums, j, g[j])[i];
        if (sum != 0) return false;
    }
    return true;
}

/* Number of groups of tokens. About sixteen choices remain at every place: few enough that exchanges are rare, and
 * enough for large lists. */
static size_t groups_of(const additive *sums)
{
    size_t fewest = SIZE_MAX;
    for (size_t j = 0; j < sums->places; j++)
        if (additive_choices(sums, j) > 1 && additive_choices(sums, j) < fewest) fewest = additive_choices(sums, j);
    size_t groups = fewest == SIZE_MAX ? 0 : fewest / 16;
    return groups < sums->places ? groups : sums->places;
}

bool rung_additive_thin(additive *sums, uint64_t seed)
{
    size_t groups = groups_of(sums), kept = 0;
    if (groups < 2) return false;
    for (size_t j = 0; j < sums->places; j++) {
        size_t begin = sums->first[j], choices = additive_choices(sums, j), here = kept;
        for (size_t c = 0; c < choices; c++) {
            bool ours = (c + seed) % groups == j % groups || choices == 1;
            if (!ours) continue;
            sums->token[kept] = sums->token[begin + c];
            memmove(sums->row + kept * sums->dims, sums->row + (begin + c) * sums->dims,
                    sums->dims * sizeof *sums->row);
            kept++;
        }
        sums->first[j] = here;
    }
    sums->first[sums->places] = kept;
    sums->same = sums->whole = false;
    return true;
}

/* ---- the attack -------------------------------------------------------------------------------------------------- */

/* Some collisions are useless: no continuation distinguishes them (a permutation, for a task about sets), or the model
 * does not confirm them because something saturates. Then the solver is asked for others, this many times. */
enum { ATTEMPTS = 12 };

typedef struct assault {
    runner h;
    additive sums;
    uint32_t *a, *b, *f, *g; /* prompts, and choices */
    additive_note note;
    size_t inseparable, refuted;
    bool thinned;
} assault;

static rung_status assault_init(assault *as, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    size_t tokens = attacked->task->tokens;
    memset(as, 0, sizeof *as);
    RUNG_TRY(rung_runner_init(&as->h, attacked, err));
    as->a = rung_calloc(4 * tokens, sizeof *as->a, err);
    if (!as->a) return RUNG_SYSTEM;
    as->b = as->a + tokens, as->f = as->b + tokens, as->g = as->f + tokens;
    return rung_additive_of_state(&as->sums, as->b, &as->h, budget, err);
}

static void assault_clear(assault *as)
{
    rung_runner_clear(&as->h);
    rung_additive_clear(&as->sums);
    free(as->a);
}

/* b must hold a prompt. */
static void put_choices(assault *as)
{
    memcpy(as->a, as->b, as->h.tokens * sizeof *as->a);
    for (size_t j = 0; j < as->sums.places; j++) {
        as->a[j] = as->sums.token[as->sums.first[j] + as->f[j]];
        as->b[j] = as->sums.token[as->sums.first[j] + as->g[j]];
    }
}

static rung_status confirm(bool *found, rung_cert *cert, assault *as, uint64_t seed, rung_error *err)
{
    rung_rng rng;
    rung_rng_init(&rng, seed, 61, 0);
    *found = false;
    put_choices(as);
    if (!rung_runner_separate(&as->h, as->a, as->b, as->sums.places, &rng)) {
        as->inseparable++;
        if (!as->thinned && !as->sums.same) rung_additive_thin(&as->sums, seed);
        as->thinned = true;
        return RUNG_OK;
    }
    rung_status status = rung_certify_state_collision(&as->h, cert, found, as->a, as->b, as->sums.places, err);
    as->refuted += status == RUNG_OK && !*found;
    return status;
}

static void report(rung_break *result, const assault *as, size_t differing)
{
    const additive *sums = &as->sums;
    char proof[80];
    if (sums->fullness <= 1)
        snprintf(proof, sizeof proof, "no sum can saturate (at most %.3g of the range)", sums->fullness);
    else
        snprintf(proof, sizeof proof, "sums might saturate (up to %.3g of the range)", sums->fullness);
    int used = snprintf(result->report, sizeof result->report,
                        "a state of %zu bits is a sum of %zu numbers over %zu places, %s; %s", sums->bits, sums->dims,
                        sums->places, proof, as->note.text);
    if (used < 0 || (size_t)used >= sizeof result->report) return;
    char *rest = result->report + used;
    size_t room = sizeof result->report - (size_t)used;
    if (result->found)
        snprintf(rest, room, "; %zu tokens differ", differing);
    else if (as->inseparable + as->refuted > 0)
        snprintf(rest, room, "; %zu collisions that no continuation distinguishes, %zu that saturation spoils",
                 as->inseparable, as->refuted);
}

rung_status rung_additive_run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget,
                              additive_solver *solve, rung_error *err)
{
    assault as;
    rung_cert cert = {0};
    size_t differing = 0;
    double began = rung_wall_s();
    bool found = false;
    rung_status status = assault_init(&as, attacked, budget, err);
    for (size_t try = 0; status == RUNG_OK && !found && try < ATTEMPTS; try++) {
        if (rung_budget_left(budget, began) <= 0) break;
        if (!solve(as.f, as.g, &as.note, &as.sums, budget, budget->seed + try, began)) break;
        status = confirm(&found, &cert, &as, budget->seed + try, err);
    }
    if (found) {
        for (size_t j = 0; j < as.sums.places; j++) differing += as.f[j] != as.g[j];
        rung_break_take(result, &cert);
    }
    result->evaluations = as.h.evaluations;
    if (status == RUNG_OK) report(result, &as, differing);
    assault_clear(&as);
    return status;
}
