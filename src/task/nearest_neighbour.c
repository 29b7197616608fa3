/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * nearest-neighbour: N labelled points, then a query; the answer is the label of the point that is closest to
 * it. Two layers of logarithmic size do it (attach the label, then attend with Q = beta x, K = x_i, and
 * beta = ln(4N)/gamma); a recurrent state holds all N labels.
 *
 * Points are on the unit sphere up to rounding. The closest one wins by gamma in inner product and by 2 gamma
 * in squared distance, which is the same thing on the exact sphere.
 *
 * Features of a token: x (d), the label as one-hot (labels), and 1 for the query. form=joint has x_i and y_i
 * in one token, form=split has a token for x_i and after it one for y_i; what a token does not have is 0.
 */
#include <stdlib.h>

#include "common.h"
#include "dyadic.h"
#include "grid.h"
#include "task_rows.h"
#include "yes_no.h"

enum { FORM_JOINT, FORM_SPLIT };

static const char *const form_names[] = {"joint", "split", NULL};
static const char *const dist_names[] = {"uniform", "hard", NULL};

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 16, 2, 1 << 14, NULL, "labelled points, k"},
    {"d", RUNG_PARAM_INT, 8, 2, RUNG_DYADIC_D_MAX, NULL, "dimension of the points"},
    {"labels", RUNG_PARAM_INT, 2, 2, 1 << 14, NULL, "different labels"},
    {"gamma", RUNG_PARAM_INT, 100, 1, 500, NULL, "margin of the closest point, in thousandths"},
    {"form", RUNG_PARAM_CHOICE, 0, 0, 0, form_names, "point and label in one token, or in two"},
    {"dist", RUNG_PARAM_CHOICE, 0, 0, 0, dist_names, "a random query, or one between two labels (hard)"},
    {0},
};

enum { DERIVED_N, DERIVED_D, DERIVED_LABELS, DERIVED_GAMMA };

/* k^2 x^(d-1) with x = 2 gamma - gamma^2. A cap of inner product above 1 - gamma is the share I_x((d-1)/2, 1/2) / 2 <=
 * x^((d-1)/2) / 2 of the sphere. If the result is at most 1, k caps leave half of the sphere free, and placing a point
 * by rejection takes two tries on average. */
static double crowding(const rung_task_conf *conf)
{
    double gamma = (double)conf->derived[DERIVED_GAMMA] / 1000, x = 2 * gamma - gamma * gamma;
    double points = (double)conf->derived[DERIVED_N], power = points * points;
    for (size_t i = 1; i < conf->derived[DERIVED_D]; i++) power *= x;
    return power;
}

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    size_t n = conf->derived[DERIVED_N] = (size_t)rung_task_param(conf, "N");
    size_t d = conf->derived[DERIVED_D] = (size_t)rung_task_param(conf, "d");
    size_t labels = conf->derived[DERIVED_LABELS] = (size_t)rung_task_param(conf, "labels");
    conf->derived[DERIVED_GAMMA] = (size_t)rung_task_param(conf, "gamma");
    if (labels > n)
        return rung_fail(err, RUNG_USAGE, "task nearest-neighbour: labels=%zu is more than N=%zu points; lower labels",
                         labels, n);
    if (crowding(conf) > 1)
        return rung_fail(
            err, RUNG_USAGE,
            "task nearest-neighbour: N=%zu points with gamma=%zu/1000 crowd the sphere of d=%zu dimensions; "
            "lower N or gamma, or raise d",
            n, conf->derived[DERIVED_GAMMA], d);
    size_t numbers;
    conf->tokens = (rung_task_param(conf, "form") == FORM_SPLIT ? 2 * n : n) + 1;
    conf->d_in = d + labels + 1;
    if (!rung_size_mul(&numbers, conf->tokens, conf->d_in) || numbers > RUNG_TASK_TOKENS_MAX)
        return rung_task_too_large(conf, "N, d or labels", err);
    conf->answers = labels;
    conf->chance = 1 / (double)labels;
    /* Each label is on floor(N/labels) points or on one more, and every point is the closest with equal probability. */
    conf->majority = (double)((n + labels - 1) / labels) / (double)n;
    return RUNG_OK;
}

/* ---- generator --------------------------------------------------------------------------------------- */

struct cloud {
    int32_t *point;  /* [n][d] */
    int32_t *query;  /* [d] */
    uint32_t *label; /* [n] */
    size_t n, d;
    int64_t gamma; /* thousandths */
    size_t winner;
};

static const int32_t *point_at(const struct cloud *cloud, size_t i)
{
    return cloud->point + i * cloud->d;
}

/* difference >= gamma, for inner products in units of 2^-32. */
static bool above_margin(int64_t difference, int64_t gamma)
{
    return difference * 1000 >= gamma * RUNG_DYADIC_ONE * RUNG_DYADIC_ONE;
}

/* True if `query` belongs to the winner with the margin, against all of the first `count` points. */
static bool wins(const struct cloud *cloud, const int32_t *query, size_t winner, size_t count)
{
    const int32_t *best = point_at(cloud, winner);
    int64_t product = rung_dyadic_dot(query, best, cloud->d), square = rung_dyadic_dot(best, best, cloud->d);
    for (size_t i = 0; i < count; i++) {
        const int32_t *other = point_at(cloud, i);
        if (i == winner) continue;
        int64_t lead = product - rung_dyadic_dot(query, other, cloud->d);
        /* difference of squared distances */
        int64_t nearer = rung_dyadic_dot(other, other, cloud->d) - square + 2 * lead;
        if (!above_margin(lead, cloud->gamma) || !above_margin(nearer, 2 * cloud->gamma)) return false;
    }
    return true;
}

/* True if each point so far would win for a query equal to itself with the last point as the rival, and vice versa.
 * Then there is a query for every winner. */
static bool separated(const struct cloud *cloud, size_t last)
{
    for (size_t i = 0; i < last; i++) {
        const int32_t *a = point_at(cloud, i), *b = point_at(cloud, last);
        int64_t product = rung_dyadic_dot(a, b, cloud->d);
        if (!above_margin(rung_dyadic_dot(a, a, cloud->d) - product, cloud->gamma)) return false;
        if (!above_margin(rung_dyadic_dot(b, b, cloud->d) - product, cloud->gamma)) return false;
    }
    return true;
}

#define TRIES_MAX 1000 /* each try fails with probability at most about 1/2, see crowding() */

static rung_status place_points(struct cloud *cloud, rung_rng *rng, rung_error *err)
{
    int64_t direction[RUNG_DYADIC_D_MAX];
    for (size_t i = 0; i < cloud->n; i++) {
        size_t tries = 0;
        do {
            if (tries++ == TRIES_MAX)
                return rung_fail(err, RUNG_USAGE,
                                 "task nearest-neighbour: found no room for point %zu of %zu; lower gamma", i,
                                 cloud->n);
            rung_dyadic_direction(direction, cloud->d, rng);
            rung_dyadic_fit(cloud->point + i * cloud->d, direction, cloud->d, RUNG_DYADIC_ONE);
        } while (!separated(cloud, i));
    }
    return RUNG_OK;
}

/* Labels are as even as possible and start from a random label, so that no label is more likely than another. */
static void draw_labels(struct cloud *cloud, size_t labels, rung_rng *rng)
{
    uint64_t first = rung_rng_below(rng, labels);
    for (size_t i = 0; i < cloud->n; i++) cloud->label[i] = (uint32_t)((first + i) % labels);
    rung_rng_shuffle(rng, cloud->label, cloud->n);
}

/* Sets query to the direction of from * (steps - s) + winner * s, for the smallest s with the margin. At s = steps the
 * query is the winner itself, which has the margin. */
static void approach_winner(struct cloud *cloud, const int32_t *from, int64_t first_step, int64_t steps)
{
    int64_t mix[RUNG_DYADIC_D_MAX];
    const int32_t *winner = point_at(cloud, cloud->winner);
    for (int64_t s = first_step; s < steps; s++) {
        int64_t any = 0;
        for (size_t c = 0; c < cloud->d; c++) {
            mix[c] = from[c] * (steps - s) + winner[c] * s;
            any |= mix[c];
        }
        if (any == 0) continue;
        rung_dyadic_fit(cloud->query, mix, cloud->d, RUNG_DYADIC_ONE);
        if (wins(cloud, cloud->query, cloud->winner, cloud->n)) return;
    }
    for (size_t c = 0; c < cloud->d; c++) cloud->query[c] = winner[c];
}

/* The point with another label that is closest to the winner. */
static size_t rival_of_winner(const struct cloud *cloud)
{
    size_t rival = cloud->winner;
    int64_t best = INT64_MIN;
    for (size_t i = 0; i < cloud->n; i++) {
        int64_t product = rung_dyadic_dot(point_at(cloud, i), point_at(cloud, cloud->winner), cloud->d);
        if (cloud->label[i] == cloud->label[cloud->winner] || product <= best) continue;
        best = product;
        rival = i;
    }
    return rival;
}

/* uniform: a random direction, moved towards the winner until it has the margin. hard: starts from the middle between
 * the winner and its closest rival, so that the runner-up has another label and is hardly farther away. */
static void draw_query(struct cloud *cloud, bool hard, rung_rng *rng)
{
    cloud->winner = (size_t)rung_rng_below(rng, cloud->n);
    if (hard) {
        approach_winner(cloud, point_at(cloud, rival_of_winner(cloud)), 32, 64);
        return;
    }
    int64_t direction[RUNG_DYADIC_D_MAX];
    int32_t start[RUNG_DYADIC_D_MAX];
    rung_dyadic_direction(direction, cloud->d, rng);
    rung_dyadic_fit(start, direction, cloud->d, RUNG_DYADIC_ONE);
    approach_winner(cloud, start, 0, 16);
}

static void write_features(rung_instance *instance, const struct cloud *cloud, const rung_task_conf *conf)
{
    size_t d = cloud->d, split = conf->tokens > cloud->n + 1;
    for (size_t i = 0; i < cloud->n; i++) {
        float *row = instance->feature + (i << split) * conf->d_in;
        rung_dyadic_write(row, point_at(cloud, i), d);
        if (split) row += conf->d_in;
        row[d + cloud->label[i]] = 1;
    }
    float *row = instance->feature + (conf->tokens - 1) * conf->d_in;
    rung_dyadic_write(row, cloud->query, d);
    row[conf->d_in - 1] = 1;
    instance->tokens = conf->tokens;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    struct cloud cloud = {
        .n = conf->derived[DERIVED_N],
        .d = conf->derived[DERIVED_D],
        .gamma = (int64_t)conf->derived[DERIVED_GAMMA],
    };
    cloud.label = rung_calloc(cloud.n, sizeof *cloud.label, err);
    cloud.point = rung_calloc((cloud.n + 1) * cloud.d, sizeof *cloud.point, err);
    rung_status status = cloud.label && cloud.point ? RUNG_OK : RUNG_SYSTEM;
    RUNG_NEXT(status, place_points(&cloud, rng, err));
    if (status == RUNG_OK) {
        cloud.query = cloud.point + cloud.n * cloud.d;
        draw_labels(&cloud, conf->derived[DERIVED_LABELS], rng);
        draw_query(&cloud, rung_task_param(conf, "dist") != 0, rng);
        write_features(instance, &cloud, conf);
    }
    free(cloud.label);
    free(cloud.point);
    return status;
}

/* ---- oracle ------------------------------------------------------------------------------------------ */

static rung_status bad_row(size_t position, const char *what, rung_error *err)
{
    return rung_fail(err, RUNG_INPUT, "task nearest-neighbour: position %zu: %s", position, what);
}

/* Reads the label part of a row: *label is the place of its 1, or `labels` when it is all 0. */
static rung_status read_label(size_t *label, const float *row, size_t position, size_t labels, rung_error *err)
{
    *label = labels;
    for (size_t i = 0; i < labels; i++) {
        if (row[i] == 0) continue;
        if (row[i] != 1 || *label != labels) return bad_row(position, "the label is not one-hot", err);
        *label = i;
    }
    return RUNG_OK;
}

/* What a row must contain. */
struct expected {
    bool point, label, query;
};

static struct expected expected_at(size_t position, const rung_task_conf *conf)
{
    bool split = conf->tokens > conf->derived[DERIVED_N] + 1;
    bool query = position + 1 == conf->tokens, second = split && position % 2 == 1;
    return (struct expected){.point = !second, .label = !query && (!split || second), .query = query};
}

static rung_status check_row(size_t *label, const float *row, size_t position, const rung_task_conf *conf,
                             rung_error *err)
{
    size_t d = conf->derived[DERIVED_D], labels = conf->derived[DERIVED_LABELS];
    struct expected expected = expected_at(position, conf);
    for (size_t c = 0; c < d; c++) {
        if (!(row[c] - row[c] == 0)) return bad_row(position, "a coordinate is not finite", err);
        if (!expected.point && row[c] != 0) return bad_row(position, "a label token has no point", err);
    }
    RUNG_TRY(read_label(label, row + d, position, labels, err));
    if (expected.label != (*label < labels))
        return bad_row(position, expected.label ? "the label is missing" : "there is a label", err);
    if (row[d + labels] != (expected.query ? 1 : 0))
        return bad_row(position, "the last feature must be 1 for the query and 0 elsewhere", err);
    return RUNG_OK;
}

static double square_distance(const float *a, const float *b, size_t d)
{
    double sum = 0;
    for (size_t c = 0; c < d; c++) {
        double difference = (double)a[c] - b[c];
        sum += difference * difference;
    }
    return sum;
}

/* Points and labels are `stride` rows apart; the label of point i is in label_of[i * stride + stride - 1]. */
static rung_status nearest_label(size_t *label, const rung_instance *instance, const size_t *label_of,
                                 const rung_task_conf *conf, rung_error *err)
{
    size_t n = conf->derived[DERIVED_N], d = conf->derived[DERIVED_D], stride = conf->tokens / n;
    const float *query = instance->feature + (conf->tokens - 1) * conf->d_in;
    double best = 0;
    size_t tie = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        double distance = square_distance(query, instance->feature + i * stride * conf->d_in, d);
        size_t candidate = label_of[i * stride + stride - 1];
        if (i == 0 || distance < best) {
            best = distance;
            *label = candidate;
            tie = SIZE_MAX;
        } else if (distance == best && candidate != *label) {
            tie = i;
        }
    }
    if (tie == SIZE_MAX) return RUNG_OK;
    return bad_row(tie * stride, "as close to the query as an earlier point with another label", err);
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    rung_status status = rung_task_expect_tokens(instance, conf, conf->tokens, err);
    RUNG_TRY(status);
    size_t *label_of = rung_calloc(conf->tokens, sizeof *label_of, err), label = 0;
    if (!label_of) return RUNG_SYSTEM;
    for (size_t t = 0; t < conf->tokens && status == RUNG_OK; t++)
        status = check_row(&label_of[t], instance->feature + t * conf->d_in, t, conf, err);
    RUNG_NEXT(status, nearest_label(&label, instance, label_of, conf, err));
    if (status == RUNG_OK) rung_task_answer_last(instance, (int32_t)label);
    free(label_of);
    return status;
}

/* ---- grid -------------------------------------------------------------------------------------------- */

/* Points: the directions of {-1,0,1}^d, for d = 2 the axes and diagonals. Queries: the finer ones of {-2..2}^d. */
enum { POINT_RADIUS = 1, QUERY_RADIUS = 2 };

static uint64_t choices(const rung_task_conf *conf, size_t pos)
{
    struct expected expected = expected_at(pos, conf);
    uint64_t points = rung_grid_cube(conf->derived[DERIVED_D], expected.query ? QUERY_RADIUS : POINT_RADIUS);
    return rung_grid_times(expected.point ? points : 1, expected.label ? conf->derived[DERIVED_LABELS] : 1);
}

static void choose(rung_instance *instance, const rung_task_conf *conf, size_t pos, uint64_t index)
{
    struct expected expected = expected_at(pos, conf);
    size_t d = conf->derived[DERIVED_D], labels = expected.label ? conf->derived[DERIVED_LABELS] : 1;
    float *row = instance->feature + pos * conf->d_in;
    int64_t direction[RUNG_DYADIC_D_MAX];
    int32_t point[RUNG_DYADIC_D_MAX];
    if (expected.label) row[d + index % labels] = 1;
    row[conf->d_in - 1] = expected.query ? 1 : 0;
    if (!expected.point) return;
    rung_grid_cube_point(direction, d, expected.query ? QUERY_RADIUS : POINT_RADIUS, index / labels);
    /* lengths are rounded to integers, so the vectors are made long */
    for (size_t c = 0; c < d; c++) direction[c] *= 1 << 20;
    rung_dyadic_fit(point, direction, d, RUNG_DYADIC_ONE);
    rung_dyadic_write(row, point, d);
}

static double inner_product(const float *a, const float *b, size_t d)
{
    double sum = 0;
    for (size_t c = 0; c < d; c++) sum += (double)a[c] * b[c];
    return sum;
}

/* Tests the margins of wins() against all other points. Exact for coordinates k / 2^16. Only the closest point can have
 * them. */
static bool has_margin(const rung_instance *instance, const rung_task_conf *conf)
{
    size_t n = conf->derived[DERIVED_N], d = conf->derived[DERIVED_D], stride = conf->tokens / n * conf->d_in, best = 0;
    const float *point = instance->feature, *query = instance->feature + (conf->tokens - 1) * conf->d_in;
    double gamma = (double)conf->derived[DERIVED_GAMMA];
    for (size_t i = 1; i < n; i++)
        if (square_distance(query, point + i * stride, d) < square_distance(query, point + best * stride, d)) best = i;
    const float *winner = point + best * stride;
    for (size_t i = 0; i < n; i++) {
        const float *other = point + i * stride;
        double lead = inner_product(query, winner, d) - inner_product(query, other, d);
        double nearer = square_distance(query, other, d) - square_distance(query, winner, d);
        if (i != best && (lead * 1000 < gamma || nearer * 1000 < 2 * gamma)) return false;
    }
    return true;
}

const rung_task rung_task_nearest_neighbour = {
    .name = "nearest-neighbour",
    .summary = "N labelled points and a query: the label of the closest point",
    .source = "Bhattamishra et al. 2024; two layers of logarithmic size, or N bits of recurrent state",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .choices = choices,
    .choose = choose,
    .promise = has_margin,
};
