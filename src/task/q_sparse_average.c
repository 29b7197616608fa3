/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * q-sparse-average (qSA of Sanford, Hsu, Telgarsky 2023): position i holds a vector z_i of the unit ball of
 * R^d, a subset y_i of q positions, and i itself; the target at i is (1/q) sum_{j in y_i} z_j. One unit of
 * width m = Omega(d + q log N) does it, mp <= cq does not at precision 1/(2q) (Theorem 4, by disjointness),
 * and a recurrent memory needs (N-1)/2 bits even for q = 1 (Theorem 11). Subsets are subsets of the N
 * positions.
 *
 * Features of a token: z (d numbers), the q indices of y from 0, rising in what the generator writes and in
 * any order for the oracle, and i from 0. Indices count later positions too: a causal model cannot see those.
 */
#include <math.h>
#include <stdlib.h>

#include "common.h"
#include "dyadic.h"
#include "grid.h"
#include "halves.h"
#include "task_rows.h"

static const char *const dist_names[] = {"uniform", "hard", NULL};

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 16, 1, 1 << 24, NULL, "positions"},
    {"q", RUNG_PARAM_INT, 3, 1, 1 << 20, NULL, "elements of each subset"},
    {"d", RUNG_PARAM_INT, 4, 1, RUNG_DYADIC_D_MAX, NULL, "dimension of the vectors, d'"},
    {"dist", RUNG_PARAM_CHOICE, 0, 0, 0, dist_names, "uniform, or disjointness at the last position"},
    {0},
};

enum { DERIVED_N, DERIVED_Q, DERIVED_D };

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    size_t n = conf->derived[DERIVED_N] = (size_t)rung_task_param(conf, "N");
    size_t q = conf->derived[DERIVED_Q] = (size_t)rung_task_param(conf, "q");
    size_t d = conf->derived[DERIVED_D] = (size_t)rung_task_param(conf, "d");
    if (q > n)
        return rung_fail(err, RUNG_USAGE, "task q-sparse-average: q=%zu is more than N=%zu positions; lower q", q, n);
    if (rung_task_param(conf, "dist") && (q < 2 || n < 2 * q + 1))
        return rung_fail(err, RUNG_USAGE, "task q-sparse-average: dist=hard needs q >= 2 and N >= 2q+1 = %zu",
                         2 * q + 1);
    size_t numbers;
    if (!rung_size_mul(&numbers, n, d + q + 1) || numbers > RUNG_TASK_TOKENS_MAX)
        return rung_task_too_large(conf, "N, q or d", err);
    conf->tokens = n;
    conf->d_in = d + q + 1;
    conf->d_out = d;
    return RUNG_OK;
}

/* ---- generator --------------------------------------------------------------------------------------- */

static int compare_indices(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void write_subset(float *row, uint32_t *subset, const rung_task_conf *conf)
{
    size_t q = conf->derived[DERIVED_Q];
    qsort(subset, q, sizeof *subset, compare_indices);
    for (size_t i = 0; i < q; i++) row[conf->derived[DERIVED_D] + i] = (float)subset[i];
}

static rung_status draw_uniform(rung_instance *instance, uint32_t *subset, const rung_task_conf *conf, rung_rng *rng,
                                rung_error *err)
{
    size_t d = conf->derived[DERIVED_D], q = conf->derived[DERIVED_Q];
    int64_t direction[RUNG_DYADIC_D_MAX];
    int32_t z[RUNG_DYADIC_D_MAX];
    for (size_t i = 0; i < conf->tokens; i++) {
        float *row = instance->feature + i * conf->d_in;
        rung_dyadic_direction(direction, d, rng);
        rung_dyadic_fit(z, direction, d, rung_dyadic_ball_radius(d, rng));
        rung_dyadic_write(row, z, d);
        RUNG_TRY(rung_rng_sample(rng, subset, q, (uint32_t)conf->tokens, err));
        write_subset(row, subset, conf);
        row[d + q] = (float)i;
    }
    return RUNG_OK;
}

/* Alice has a in {0,1}^q and writes z_{2e} = -e_1, z_{2e+1} = e_1 if a_e else -e_1, all other vectors -e_1;
 * Bob has b and asks at the last position for { 2e + b_e }: the first coordinate of the average is -1 + (2/q)
 * #{e : a_e = b_e = 1}. Everything else is as in the uniform distribution. */
static rung_status plant_disjointness(rung_instance *instance, uint32_t *subset, const rung_task_conf *conf,
                                      rung_rng *rng, rung_error *err)
{
    size_t d = conf->derived[DERIVED_D], q = conf->derived[DERIVED_Q];
    uint8_t *a = rung_calloc(q, 2, err);
    if (!a) return RUNG_SYSTEM;
    rung_meeting meeting = rung_rng_below(rng, 2) ? RUNG_MEET_ONCE : RUNG_MEET_NEVER;
    rung_status status = rung_meeting_draw(a, a + q, q, rung_meeting_size(q), meeting, rng, err);
    for (size_t i = 0; i < conf->tokens; i++) {
        float *z = instance->feature + i * conf->d_in;
        for (size_t c = 1; c < d; c++) z[c] = 0;
        z[0] = i % 2 && i < 2 * q && a[i / 2] ? 1 : -1;
    }
    for (size_t e = 0; e < q; e++) subset[e] = (uint32_t)(2 * e + a[q + e]);
    write_subset(instance->feature + (conf->tokens - 1) * conf->d_in, subset, conf);
    free(a);
    return status;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    uint32_t *subset = rung_calloc(conf->derived[DERIVED_Q], sizeof *subset, err);
    if (!subset) return RUNG_SYSTEM;
    instance->tokens = conf->tokens;
    rung_status status = draw_uniform(instance, subset, conf, rng, err);
    if (status == RUNG_OK && rung_task_param(conf, "dist"))
        status = plant_disjointness(instance, subset, conf, rng, err);
    free(subset);
    return status;
}

/* ---- oracle ------------------------------------------------------------------------------------------ */

/* Slightly above 1, so that vectors which others normalised in float32 are accepted too. */
#define NORM_SQUARE_MAX (1 + 1e-6)

static rung_status check_vector(const float *z, size_t position, size_t d, rung_error *err)
{
    double square = 0;
    for (size_t c = 0; c < d; c++) square += (double)z[c] * z[c];
    if (square <= NORM_SQUARE_MAX) return RUNG_OK; /* false for a NaN */
    return rung_fail(err, RUNG_INPUT,
                     "task q-sparse-average: position %zu: the vector is not in the unit ball (square %g)", position,
                     square);
}

/* The stamp of a position is the last subset that contained it. */
static rung_status check_subset(uint32_t *stamp, const float *subset, size_t position, size_t n, size_t q,
                                rung_error *err)
{
    for (size_t i = 0; i < q; i++) {
        if (!(subset[i] >= 0 && subset[i] < (float)n) || subset[i] != floorf(subset[i]))
            return rung_fail(err, RUNG_INPUT, "task q-sparse-average: position %zu: %g is no index of [0, %zu)",
                             position, (double)subset[i], n);
        uint32_t *seen = &stamp[(size_t)subset[i]];
        if (*seen == position + 1)
            return rung_fail(err, RUNG_INPUT, "task q-sparse-average: position %zu: index %g comes twice", position,
                             (double)subset[i]);
        *seen = (uint32_t)position + 1;
    }
    return RUNG_OK;
}

static rung_status check_row(uint32_t *stamp, const float *row, size_t position, const rung_task_conf *conf,
                             rung_error *err)
{
    size_t d = conf->derived[DERIVED_D], q = conf->derived[DERIVED_Q];
    rung_status status = check_vector(row, position, d, err);
    RUNG_NEXT(status, check_subset(stamp, row + d, position, conf->tokens, q, err));
    if (status == RUNG_OK && row[d + q] != (float)position)
        return rung_fail(err, RUNG_INPUT,
                         "task q-sparse-average: position %zu: the last feature is %g, not the position", position,
                         (double)row[d + q]);
    return status;
}

/* Sums of numbers k / 2^16 are exact in double, so for generated prompts the order of y does not matter. */
static void average(float *value, const rung_instance *instance, size_t position, const rung_task_conf *conf)
{
    size_t d = conf->derived[DERIVED_D], q = conf->derived[DERIVED_Q];
    const float *subset = instance->feature + position * conf->d_in + d;
    for (size_t c = 0; c < d; c++) {
        double sum = 0;
        for (size_t i = 0; i < q; i++) sum += instance->feature[(size_t)subset[i] * conf->d_in + c];
        value[c] = (float)(sum / (double)q);
    }
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    rung_status status = rung_task_expect_tokens(instance, conf, conf->tokens, err);
    RUNG_TRY(status);
    uint32_t *stamp = rung_calloc(conf->tokens, sizeof *stamp, err);
    if (!stamp) return RUNG_SYSTEM;
    for (size_t i = 0; i < conf->tokens && status == RUNG_OK; i++)
        status = check_row(stamp, instance->feature + i * conf->d_in, i, conf, err);
    free(stamp);
    RUNG_TRY(status);
    for (size_t i = 0; i < conf->tokens; i++) {
        instance->target[i] = 0;
        average(instance->target_value + i * conf->d_out, instance, i, conf);
    }
    return RUNG_OK;
}

/* ---- grid -------------------------------------------------------------------------------------------- */

/* The vector 0 or one of the 2d unit vectors +-e_c, and any subset. */
static uint64_t choices(const rung_task_conf *conf, size_t pos)
{
    (void)pos;
    return rung_grid_times(2 * conf->derived[DERIVED_D] + 1, rung_grid_subsets(conf->tokens, conf->derived[DERIVED_Q]));
}

static void choose(rung_instance *instance, const rung_task_conf *conf, size_t pos, uint64_t index)
{
    size_t d = conf->derived[DERIVED_D], q = conf->derived[DERIVED_Q];
    uint64_t subsets = rung_grid_subsets(conf->tokens, q), vector = index / subsets;
    float *row = instance->feature + pos * conf->d_in;
    if (vector > 0) row[(vector - 1) / 2] = vector % 2 ? 1 : -1;
    rung_grid_subset(row + d, conf->tokens, q, index % subsets);
    row[d + q] = (float)pos;
}

const rung_task rung_task_q_sparse_average = {
    .name = "q-sparse-average",
    .summary = "vectors and q-subsets of the positions: the average of the vectors that each subset names",
    .source = "qSA of Sanford, Hsu, Telgarsky 2023, Theorems 2, 4 and 11",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .choices = choices,
    .choose = choose,
};
