/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Integer relations among the rows of an additive table, by lattice reduction (LLL of FLINT). The rows of a basis are
 * [e_i | C D_i], D_i vectors of whole numbers and C large: short vectors of the lattice are small coefficients x with
 * sum x_i D_i = 0. There are three ways to make tables of them:
 *   counts   every position has the same rows (no positions in the model): D_i is the row of token i and a 1; x_i > 0
 *            copies of token i stand in one table, -x_i in the other. An exchange of two tokens is the simplest case.
 *   values   T[j][v] = T[j][0] + v c_j: D_j = c_j; any |x_j| < V is allowed.
 *   pairs    two tokens a, b at each position, D_j = T[j][a] - T[j][b]; x_j must be -1, 0 or 1.
 */
#include "additive.h"
#include "attack_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef RUNG_WITHOUT_FLINT
#include <flint/fmpz_lll.h>
#include <flint/fmpz_mat.h>
#endif

/* ---- the lattice ------------------------------------------------------------------------------------------------- */

/* 2^24 is far above any useful coefficient, so a vector with a nonzero part on the right is never short. */
enum { PENALTY_BITS = 24, VECTORS_MAX = 192 };

/* Vectors to combine, [count][dims], and which combinations are useful: |x_i| <= limit[i], and if `balance` is set at
 * most that many positive ones (with multiplicity). */
typedef struct relation {
    size_t count, dims;
    int64_t *vector;
    int64_t limit[VECTORS_MAX];
    int64_t balance;
    int64_t x[VECTORS_MAX]; /* the answer */
} relation;

#ifndef RUNG_WITHOUT_FLINT
static bool is_of_use(const relation *r, const int64_t *x)
{
    int64_t positive = 0;
    bool zero = true;
    for (size_t i = 0; i < r->count; i++) {
        int64_t size = x[i] < 0 ? -x[i] : x[i];
        if (size > r->limit[i]) return false;
        zero &= size == 0;
        if (x[i] > 0) positive += x[i];
    }
    return !zero && (r->balance == 0 || positive <= r->balance);
}

static void fill_basis(fmpz_mat_t basis, const relation *r)
{
    for (size_t i = 0; i < r->count; i++) {
        fmpz_set_ui(fmpz_mat_entry(basis, (slong)i, (slong)i), 1);
        for (size_t k = 0; k < r->dims; k++) {
            fmpz *entry = fmpz_mat_entry(basis, (slong)i, (slong)(r->count + k));
            fmpz_set_si(entry, (slong)r->vector[i * r->dims + k]);
            fmpz_mul_2exp(entry, entry, PENALTY_BITS);
        }
    }
}

/* Reads a basis row as coefficients. False if it is not in the kernel, or too large to be useful. */
static bool kernel_row(int64_t *x, const fmpz_mat_t basis, size_t row, const relation *r)
{
    for (size_t k = 0; k < r->dims; k++)
        if (!fmpz_is_zero(fmpz_mat_entry(basis, (slong)row, (slong)(r->count + k)))) return false;
    for (size_t i = 0; i < r->count; i++) {
        const fmpz *entry = fmpz_mat_entry(basis, (slong)row, (slong)i);
        if (fmpz_bits(entry) > 40) return false;
        x[i] = fmpz_get_si(entry);
    }
    return true;
}

/* Tries every short vector, and every sum and difference of two. */
static bool search_kernel(relation *r, const int64_t *kernel, size_t count, uint64_t seed)
{
    int64_t x[VECTORS_MAX];
    for (size_t n = 0; n < count; n++) {
        const int64_t *a = kernel + (n + seed) % count * r->count;
        memcpy(r->x, a, r->count * sizeof *a);
        if (is_of_use(r, a)) return true;
    }
    for (size_t p = 0; p < count; p++)
        for (size_t q = 0; q < p; q++)
            for (int sign = -1; sign <= 1; sign += 2) {
                for (size_t i = 0; i < r->count; i++) x[i] = kernel[p * r->count + i] + sign * kernel[q * r->count + i];
                memcpy(r->x, x, r->count * sizeof *x);
                if (is_of_use(r, x)) return true;
            }
    return false;
}

static bool find_relation(relation *r, uint64_t seed)
{
    fmpz_mat_t basis;
    fmpz_lll_t how;
    size_t found = 0;
    int64_t *kernel = rung_calloc(r->count, r->count * sizeof *kernel, NULL);
    if (!kernel) return false;
    fmpz_mat_init(basis, (slong)r->count, (slong)(r->count + r->dims));
    fill_basis(basis, r);
    fmpz_lll_context_init_default(how);
    fmpz_lll(basis, NULL, how);
    for (size_t row = 0; row < r->count; row++) found += kernel_row(kernel + found * r->count, basis, row, r);
    fmpz_mat_clear(basis);
    bool well = found > 0 && search_kernel(r, kernel, found, seed);
    free(kernel);
    return well;
}

#else
static bool find_relation(relation *r, uint64_t seed)
{
    (void)r, (void)seed;
    return false;
}

static void flint_cleanup(void) {}
#endif

/* LLL finds vectors of about 1.0219^m times the m-th root of the determinant in a lattice of dimension m: with b bits
 * of determinant the best m is sqrt(b / log2 1.0219). */
static size_t best_count(const additive *sums, size_t available, double scale)
{
    const double lll_bits = 0.03125;
    double bits = 0;
    for (size_t i = 0; i < sums->dims; i++) {
        double square = 0;
        for (size_t j = 0; j < sums->places; j++) {
            double d = (double)(additive_row(sums, j, additive_choices(sums, j) - 1)[i] - additive_row(sums, j, 0)[i]);
            square += d * d / (double)sums->places;
        }
        bits += log2(1 + 8 * sqrt(square));
    }
    double count = (double)sums->dims + scale * sqrt(bits / lll_bits);
    size_t most = available < VECTORS_MAX ? available : VECTORS_MAX;
    return count < (double)most ? (size_t)count : most;
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

/* Chooses distinct tokens `pick` with x_i copies more in f than in g; all other places have the first choice. */
static void put_counts(uint32_t *f, uint32_t *g, const relation *r, const uint32_t *pick, size_t places)
{
    size_t at[2] = {0, 0};
    uint32_t *side[2] = {f, g};
    for (size_t j = 0; j < places; j++) f[j] = g[j] = pick[0];
    for (size_t i = 0; i < r->count; i++)
        for (int64_t copies = r->x[i]; copies != 0; copies += copies > 0 ? -1 : 1) {
            size_t s = copies < 0;
            side[s][at[s]++] = pick[i];
        }
}

static bool by_counts(uint32_t *f, uint32_t *g, relation *r, const additive *sums, rung_rng *rng, double scale)
{
    uint32_t pick[VECTORS_MAX];
    size_t choices = additive_choices(sums, 0);
    r->dims = sums->dims + 1;
    r->count = best_count(sums, choices, scale);
    r->balance = (int64_t)sums->places;
    if (rung_rng_sample(rng, pick, r->count, (uint32_t)choices, NULL) != RUNG_OK) return false;
    for (size_t i = 0; i < r->count; i++) {
        memcpy(r->vector + i * r->dims, additive_row(sums, 0, pick[i]), sums->dims * sizeof *r->vector);
        r->vector[i * r->dims + sums->dims] = 1; /* as many tokens in f as in g */
        r->limit[i] = r->balance;
    }
    if (!find_relation(r, rung_rng_u64(rng) % 64)) return false;
    put_counts(f, g, r, pick, sums->places);
    return true;
}

static bool exchange(uint32_t *f, uint32_t *g, const additive *sums)
{
    if (sums->places < 2 || additive_choices(sums, 0) < 2) return false;
    for (size_t j = 0; j < sums->places; j++) f[j] = g[j] = 0;
    f[0] = g[1] = 1;
    return true;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static bool place_is_linear(const additive *sums, size_t place)
{
    const int64_t *zero = additive_row(sums, place, 0);
    for (size_t c = 2; c < additive_choices(sums, place); c++)
        for (size_t i = 0; i < sums->dims; i++)
            if (additive_row(sums, place, c)[i] - zero[i] != (int64_t)c * (additive_row(sums, place, 1)[i] - zero[i]))
                return false;
    return additive_choices(sums, place) > 2;
}

static bool is_linear(const additive *sums)
{
    for (size_t j = 0; j < sums->places; j++)
        if (additive_choices(sums, j) > 1 && !place_is_linear(sums, j)) return false;
    return sums->whole;
}

/* x_j D_j = T[j][x] - T[j][0] with two given choices, or any multiple of one step. */
static bool by_places(uint32_t *f, uint32_t *g, relation *r, const additive *sums, bool linear, rung_rng *rng,
                      double scale)
{
    uint32_t pick[VECTORS_MAX], a[VECTORS_MAX], b[VECTORS_MAX];
    r->dims = sums->dims;
    r->count = best_count(sums, sums->places, scale);
    r->balance = 0;
    if (rung_rng_sample(rng, pick, r->count, (uint32_t)sums->places, NULL) != RUNG_OK) return false;
    for (size_t i = 0; i < r->count; i++) {
        size_t choices = additive_choices(sums, pick[i]);
        a[i] = linear ? choices > 1 : (uint32_t)rung_rng_below(rng, choices);
        b[i] = linear ? 0 : (uint32_t)((a[i] + (choices > 1 ? 1 + rung_rng_below(rng, choices - 1) : 0)) % choices);
        r->limit[i] = choices > 1 ? (linear ? (int64_t)choices - 1 : 1) : 0;
        for (size_t k = 0; k < r->dims; k++)
            r->vector[i * r->dims + k] = additive_row(sums, pick[i], a[i])[k] - additive_row(sums, pick[i], b[i])[k];
    }
    if (!find_relation(r, rung_rng_u64(rng) % 64)) return false;
    for (size_t j = 0; j < sums->places; j++) f[j] = g[j] = 0;
    for (size_t i = 0; i < r->count; i++) {
        int64_t x = r->x[i];
        f[pick[i]] = linear ? (uint32_t)(x > 0 ? x : 0) : x > 0 ? a[i] : b[i];
        g[pick[i]] = linear ? (uint32_t)(x < 0 ? -x : 0) : x < 0 ? a[i] : b[i];
    }
    return true;
}

/* ---- solver ------------------------------------------------------------------------------------------------------ */

bool rung_additive_relation(uint32_t *f, uint32_t *g, additive_note *note, const additive *sums,
                            const rung_budget *budget, uint64_t seed, double began)
{
    enum { ROUNDS = 96 };
    static const double scales[] = {1, 0.75, 1.3, 0.6};
    bool linear = is_linear(sums), found = false;
    const char *how = sums->same ? "counts of tokens" : linear ? "multiples of a step" : "pairs of tokens";
    rung_rng rng;
    relation r = {.vector = rung_calloc(VECTORS_MAX, (sums->dims + 1) * sizeof(int64_t), NULL)};
    size_t round = 0;
    rung_rng_init(&rng, seed, 63, 0);
    /* Only in the first of several attempts: tasks about an order notice an exchange, others do not. */
    if (sums->same && seed == budget->seed && exchange(f, g, sums)) {
        snprintf(note->text, sizeof note->text, "tokens exchanged: the model does not distinguish positions");
        free(r.vector);
        return true;
    }
#ifdef RUNG_WITHOUT_FLINT
    snprintf(note->text, sizeof note->text, "no lattice was reduced: this rung was built without FLINT");
    free(r.vector);
    return false;
#endif
    rung_budget_progress(budget, "reducing lattices", ROUNDS);
    for (; round < ROUNDS && r.vector && !found && rung_budget_left(budget, began) > 0; round++) {
        double scale = scales[round % RUNG_COUNT(scales)];
        found = sums->same ? by_counts(f, g, &r, sums, &rng, scale) : by_places(f, g, &r, sums, linear, &rng, scale);
        found = found && rung_additive_holds(sums, f, g);
        if (budget->progress) rung_progress_tick(budget->progress, round);
    }
    flint_cleanup();
    snprintf(note->text, sizeof note->text, "LLL on %s, %zu lattices%s%zu vectors", how, round,
             found ? ", a relation among " : ", the last one of ", r.count);
    free(r.vector);
    return found;
}

/* ---- row --------------------------------------------------------------------------------------------------------- */

static double expect(const rung_attacked *attacked, const rung_budget *budget, char *why, size_t size)
{
    double bits, choices;
    size_t places;
    (void)budget;
    if (!rung_additive_suits(attacked, why, size)) return -1;
#ifdef RUNG_WITHOUT_FLINT
    snprintf(why, size, "this rung was built without FLINT; install libflint-dev and build it again");
    return -1;
#endif
    rung_additive_sizes(&bits, &places, &choices, attacked);
    double dimension = sqrt(bits * 32) + bits / attacked->numbers.bits; /* dimension of a lattice: see best_count */
    return 1e-8 * dimension * dimension * dimension * dimension;
}

static rung_status run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    return rung_additive_run(result, attacked, budget, rung_additive_relation, err);
}

const rung_attack rung_attack_relation = {
    .name = "relation",
    .summary = "two tables with the same exact sum, by lattice reduction",
    .source = "Lenstra, Lenstra, Lovasz 1982; Siegel's lemma",
    .applies = "one layer of linear attention (or log-linear, base=linear) in fixed point; any task over tokens",
    .cost = "a lattice of sqrt(32 b) dimensions for b bits of sum; without positions or with values that enter "
            "linearly any b, else "
            "about 40 bits",
    .kinds = 1u << RUNG_CERT_STATE_COLLISION,
    .breaks = "linear:dk=3:dv=4 q9.8 two-sum N=256 M=256 --positions none",
    .spares = "linear:dk=3:dv=4 q9.8 eva N=64 V=16",
    .expect = expect,
    .run = run,
};

rung_part rung_part_flint(void)
{
    rung_part part = {.name = "FLINT", .gives = "the attack 'relation' of rung break", .package = "libflint-dev"};
#ifndef RUNG_WITHOUT_FLINT
    part.version = flint_version;
#endif
    return part;
}
