/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * two-sum, the generator. Labels are balanced by construction, never by rejecting whole prompts.
 *
 * Query form: the numbers are drawn before the coin, and only the query depends on it, so without the query
 * nobody scores above 1/2. Position form: residues come in pairs {v, -v}; half of the pairs are open to
 * numbers with a partner, half to numbers without, and a number without partner fixes the sign of its pair.
 * Global form: numbers without any partner; for a yes, one of them is replaced by the negative of another. Causal form:
 * each number but the first is the negative of an earlier one, or of a residue that is not there yet, by a coin.
 */
#include <assert.h>
#include <stdlib.h>

#include "halves.h"
#include "residues.h"
#include "two_sum.h"

/* Marks of a residue. */
#define PRESENT   1u
#define PARTNERED 2u /* numbers with a partner come from here, and no others */

/* The negative of a uniform residue without a mark, of which there are `absent`. */
static uint32_t negative_of_unmarked(const uint8_t *mark, size_t absent, const two_sum *sum, rung_rng *rng)
{
    assert(absent > 0);
    size_t rank = (size_t)rung_rng_below(rng, absent);
    uint32_t v = 0;
    while (mark[v] || rank-- > 0) v++;
    return rung_residue_negative(v, sum->modulus);
}

static rung_status negative_of_absent(uint32_t *query, const uint32_t *x, const two_sum *sum, rung_rng *rng,
                                      rung_error *err)
{
    uint8_t *mark = rung_calloc(sum->modulus, 1, err);
    if (!mark) return RUNG_SYSTEM;
    size_t absent = sum->modulus;
    for (size_t i = 0; i < sum->numbers; i++) {
        absent -= mark[x[i]] == 0;
        mark[x[i]] = PRESENT;
    }
    *query = negative_of_unmarked(mark, absent, sum, rng);
    free(mark);
    return RUNG_OK;
}

/* A uniform residue without a mark by rejection: at most half of the M >= 2 count residues have one, or it searches. */
static uint32_t negative_of_free(const uint8_t *mark, size_t absent, const two_sum *sum, rung_rng *rng)
{
    if (2 * absent < sum->modulus) return negative_of_unmarked(mark, absent, sum, rng);
    for (;;) {
        uint32_t v = (uint32_t)rung_rng_below(rng, sum->modulus);
        if (!mark[v]) return rung_residue_negative(v, sum->modulus);
    }
}

static rung_status draw_causal(uint32_t *x, uint8_t *mark, const two_sum *sum, rung_rng *rng)
{
    size_t absent = sum->modulus;
    for (size_t i = 0; i < sum->numbers; i++) {
        bool yes = i > 0 && rung_rng_below(rng, 2);
        x[i] = yes ? rung_residue_negative(x[rung_rng_below(rng, i)], sum->modulus)
                   : negative_of_free(mark, absent, sum, rng);
        absent -= mark[x[i]] == 0;
        mark[x[i]] = PRESENT;
    }
    return RUNG_OK;
}

static rung_status draw_query(uint32_t *x, uint32_t *query, const two_sum *sum, rung_rng *rng, rung_error *err)
{
    /* N >= M numbers may cover every residue, and then no query has the answer no: leave one residue out. */
    bool crowded = sum->numbers >= sum->modulus;
    uint32_t hole = crowded ? (uint32_t)rung_rng_below(rng, sum->modulus) : 0;
    for (size_t i = 0; i < sum->numbers; i++) {
        x[i] = (uint32_t)rung_rng_below(rng, sum->modulus - crowded);
        x[i] += crowded && x[i] >= hole;
    }
    if (!rung_rng_below(rng, 2)) return negative_of_absent(query, x, sum, rng, err);
    *query = rung_residue_negative(x[rung_rng_below(rng, sum->numbers)], sum->modulus);
    return RUNG_OK;
}

/* A set of N distinct numbers of the zero-sum-free half, and whether v is among them: one of the
 * C(floor((M-1)/2), N) sets that the state has to tell apart. */
static rung_status draw_query_hard(uint32_t *x, uint32_t *query, const two_sum *sum, rung_rng *rng, rung_error *err)
{
    uint32_t *value = rung_calloc(sum->numbers + 1, sizeof *value, err);
    if (!value) return RUNG_SYSTEM;
    rung_status status = rung_rng_sample(rng, value, sum->numbers + 1, (uint32_t)two_sum_half(sum), err);
    for (size_t i = 0; i < sum->numbers; i++) x[i] = 1 + value[i];
    uint32_t v = 1 + value[sum->numbers]; /* not a member */
    if (rung_rng_below(rng, 2)) v = x[rung_rng_below(rng, sum->numbers)];
    *query = rung_residue_negative(v, sum->modulus);
    free(value);
    return status;
}

/* The same set, and the last number asks. */
static rung_status draw_causal_hard(uint32_t *x, const two_sum *sum, rung_rng *rng, rung_error *err)
{
    two_sum before = *sum;
    before.numbers--;
    return draw_query_hard(x, &x[before.numbers], &before, rng, err);
}

/* A uniform residue that has no partner so far and no claim to one, by rejection. The caller sees to it that
 * some pair {v, -v}, v != -v, is open; one of its two residues is then always free. */
static uint32_t draw_lonely(uint8_t *mark, const two_sum *sum, rung_rng *rng)
{
    for (;;) {
        uint32_t v = (uint32_t)rung_rng_below(rng, sum->modulus);
        if ((mark[v] & PARTNERED) || (mark[rung_residue_negative(v, sum->modulus)] & PRESENT)) continue;
        mark[v] |= PRESENT;
        return v;
    }
}

static uint32_t draw_partnered(const uint8_t *mark, const two_sum *sum, rung_rng *rng)
{
    for (;;) {
        uint32_t v = (uint32_t)rung_rng_below(rng, sum->modulus);
        if (mark[v] & PARTNERED) return v;
    }
}

/* Half of the pairs {v, -v} become PARTNERED. A residue that is its own negative (0, and M/2 for an even M)
 * is a yes by itself when j = i counts; otherwise two copies of it are a yes and a single one is a no, and a
 * coin decides. */
static rung_status split_pairs(uint8_t *mark, const two_sum *sum, rung_rng *rng, rung_error *err)
{
    size_t half = two_sum_half(sum), partnered = rung_residue_share(half, 2, rng);
    uint32_t *pair = rung_calloc(half, sizeof *pair, err);
    if (!pair) return RUNG_SYSTEM;
    for (size_t i = 0; i < half; i++) pair[i] = (uint32_t)i + 1;
    rung_rng_shuffle(rng, pair, half);
    for (size_t i = 0; i < partnered; i++)
        mark[pair[i]] = mark[rung_residue_negative(pair[i], sum->modulus)] = PARTNERED;
    free(pair);
    if (sum->self || rung_rng_below(rng, 2)) mark[0] = PARTNERED;
    if (sum->modulus % 2 == 0 && (sum->self || rung_rng_below(rng, 2))) mark[sum->modulus / 2] = PARTNERED;
    return RUNG_OK;
}

static rung_status draw_position(uint32_t *x, uint8_t *mark, const two_sum *sum, rung_rng *rng, rung_error *err)
{
    RUNG_TRY(split_pairs(mark, sum, rng, err));
    size_t filled = 2 * rung_residue_share(sum->numbers, 4, rng);
    for (size_t i = 0; i < filled; i += 2) {
        x[i] = draw_partnered(mark, sum, rng);
        x[i + 1] = rung_residue_negative(x[i], sum->modulus);
    }
    for (size_t i = filled; i < sum->numbers; i++) x[i] = draw_lonely(mark, sum, rng);
    rung_rng_shuffle(rng, x, sum->numbers);
    return RUNG_OK;
}

/* The first half of the prompt is a set from the zero-sum-free half, the second half negatives, of which half
 * have their partner in the first: all pairs cross the middle. */
static rung_status draw_position_hard(uint32_t *x, const two_sum *sum, rung_rng *rng, rung_error *err)
{
    size_t h = sum->numbers / 2, pairs = rung_residue_share(h, 2, rng);
    uint32_t *value = rung_calloc(2 * h, sizeof *value, err);
    if (!value) return RUNG_SYSTEM;
    rung_status status = rung_rng_sample(rng, value, 2 * h - pairs, (uint32_t)two_sum_half(sum), err);
    for (size_t i = 0; i < h; i++) {
        uint32_t v = i < pairs ? value[i] : value[h + i - pairs];
        x[i] = 1 + value[i];
        x[h + i] = rung_residue_negative(1 + v, sum->modulus);
    }
    rung_rng_shuffle(rng, x, h);
    rung_rng_shuffle(rng, x + h, h);
    free(value);
    return status;
}

static rung_status draw_global(uint32_t *x, uint8_t *mark, const two_sum *sum, rung_rng *rng)
{
    for (size_t i = 0; i < sum->numbers; i++) x[i] = draw_lonely(mark, sum, rng);
    if (rung_rng_below(rng, 2)) {
        size_t i = (size_t)rung_rng_below(rng, sum->numbers);
        size_t step = 1 + (size_t)rung_rng_below(rng, sum->numbers - 1);
        x[(i + step) % sum->numbers] = rung_residue_negative(x[i], sum->modulus);
    }
    return RUNG_OK;
}

/* Disjointness in disguise, with h = floor(N/2): Alice writes element e of her set as e + 1, Bob as -(e + 1),
 * and everything else is h + 1, which sums to 0 with none of these and not with itself when M > 2h + 2. */
static rung_status draw_global_hard(uint32_t *x, const two_sum *sum, rung_rng *rng, rung_error *err)
{
    size_t h = sum->numbers / 2;
    uint8_t *a = rung_calloc(h, 2, err);
    if (!a) return RUNG_SYSTEM;
    rung_meeting meeting = rung_rng_below(rng, 2) ? RUNG_MEET_ONCE : RUNG_MEET_NEVER;
    rung_status status = rung_meeting_draw(a, a + h, h, rung_meeting_size(h), meeting, rng, err);
    for (size_t i = 0; i < sum->numbers; i++) x[i] = (uint32_t)h + 1;
    for (size_t e = 0; e < h; e++) {
        if (a[e]) x[e] = (uint32_t)e + 1;
        if (a[h + e]) x[h + e] = rung_residue_negative((uint32_t)e + 1, sum->modulus);
    }
    free(a);
    return status;
}

rung_status rung_two_sum_draw(uint32_t *x, uint32_t *query, const two_sum *sum, rung_rng *rng, rung_error *err)
{
    if (sum->form == TWO_SUM_QUERY) return (sum->hard ? draw_query_hard : draw_query)(x, query, sum, rng, err);
    if (sum->hard && sum->form == TWO_SUM_CAUSAL) return draw_causal_hard(x, sum, rng, err);
    if (sum->hard) return (sum->form == TWO_SUM_POSITION ? draw_position_hard : draw_global_hard)(x, sum, rng, err);
    uint8_t *mark = rung_calloc(sum->modulus, 1, err);
    if (!mark) return RUNG_SYSTEM;
    rung_status status = sum->form == TWO_SUM_POSITION ? draw_position(x, mark, sum, rng, err)
                         : sum->form == TWO_SUM_GLOBAL ? draw_global(x, mark, sum, rng)
                                                       : draw_causal(x, mark, sum, rng);
    free(mark);
    return status;
}
