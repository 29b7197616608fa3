/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * q-sparse averaging (Sanford, Hsu, Telgarsky 2023): an encoder whose every position averages the vectors of the q
 * positions that it names. A table maps the q indices to a query; then one full layer, whose keys are a table of
 * positions.
 *
 *   keys=onehot  K_i = e_i, Q = s sum_{j in y} e_j                                                             dk = N
 *   keys=random  K_i in {-1,1}^m, Q = (s/m) sum_a c_a K_a with c = G_y^-1 1, G the products of the keys over m   dk = m
 *
 * In both the scores on the set are s, exactly equal in real arithmetic: that is what c is for. With Q = s sum K_a the
 * differences between members would be magnified by s and the average would not be one. Off the set they are at most s
 * (1 - gap), where the gap is computed here over all sets (1 for one-hot keys). With s = ln(4N/(q eps)) / gap all wrong
 * positions together weigh at most (N/q) e^(-s gap) = eps/4 of the right ones, and, vectors being in the unit ball, the
 * error is at most twice that: eps/2. The other half is for rounding.
 *
 * Layer 0 exists for its table and mixes nothing: a window of one token with zero weights. The table has C(N,q) rows,
 * with rising indices, as the task writes them.
 */
#include "build_rows.h"
#include "sheet.h"

#include <math.h>
#include <string.h>

enum { KEYS_ONEHOT, KEYS_RANDOM };
enum { SET_MAX = 16, NUMBERS_MAX = 1 << 24 }; /* key coordinates of a table; numbers in its values */

#define LEAST_GAP 0.1

static const char *const key_names[] = {"onehot", "random", NULL};

static const rung_param params[] = {
    {"keys", RUNG_PARAM_CHOICE, KEYS_ONEHOT, 0, 0, key_names, "one-hot (dk = N), or random signs (dk = m)"},
    {"m", RUNG_PARAM_INT, 0, 0, 1 << 16, NULL, "dimension of random keys, 0: 16 q ln(2N)"},
    {"eps", RUNG_PARAM_REAL, 0, 0, 1, NULL, "largest distance from the average, 0: 1/100"},
    {0},
};

typedef struct plan {
    size_t n, q, d, dk, sets;
    double eps, square; /* of a key */
    double *key;        /* [n][dk] */
    double *product;    /* [n][n], over the square */
} plan;

/* C(n,q), or more than the limit. */
static size_t count_sets(size_t n, size_t q)
{
    double count = 1;
    for (size_t i = 1; i <= q && count <= NUMBERS_MAX; i++) count = count * (double)(n - i + 1) / (double)i;
    return count > NUMBERS_MAX ? NUMBERS_MAX + 1 : (size_t)llround(count);
}

/* y = 0, 1, ..., q-1 */
static void first_set(size_t *y, size_t q)
{
    for (size_t i = 0; i < q; i++) y[i] = i;
}

static void next_set(size_t *y, size_t n, size_t q)
{
    size_t i = q;
    while (i-- > 0)
        if (y[i] < n - q + i) break;
    if (i == SIZE_MAX) return;
    y[i]++;
    for (size_t k = i + 1; k < q; k++) y[k] = y[k - 1] + 1;
}

static rung_status make_plan(plan *p, const rung_build *b, rung_error *err)
{
    bool random = rung_build_param(b, "keys") == KEYS_RANDOM;
    size_t m = (size_t)rung_build_param(b, "m");
    *p = (plan){.n = (size_t)rung_task_param(&b->task, "N"),
                .q = (size_t)rung_task_param(&b->task, "q"),
                .d = (size_t)rung_task_param(&b->task, "d"),
                .eps = rung_build_value(b, "eps")->real};
    if (p->eps == 0) p->eps = 0.01;
    if (!random && m) return rung_fail(err, RUNG_USAGE, "m=%zu is only for keys=random; one-hot keys have dk = N", m);
    p->dk = !random ? p->n : m ? m : (size_t)ceil(16 * (double)p->q * log(2 * (double)p->n));
    p->square = random ? (double)p->dk : 1;
    if (p->q > SET_MAX)
        return rung_fail(err, RUNG_USAGE, "q=%zu indices are more than the %d that a table can read; lower q", p->q,
                         SET_MAX);
    p->sets = count_sets(p->n, p->q);
    if (p->sets > NUMBERS_MAX / p->dk)
        return rung_fail(err, RUNG_USAGE,
                         "a query of %zu numbers for each of the C(%zu,%zu) sets is more than the %d numbers that are "
                         "built; lower N or q",
                         p->dk, p->n, p->q, NUMBERS_MAX);
    return RUNG_OK;
}

static rung_status make_keys(plan *p, rung_sheet *s, bool random)
{
    rung_rng rng;
    p->key = rung_arena_alloc(&s->arena, p->n * p->dk, sizeof *p->key, s->err);
    p->product = rung_arena_alloc(&s->arena, p->n * p->n, sizeof *p->product, s->err);
    if (!p->key || !p->product) return RUNG_SYSTEM;
    rung_rng_init(&rng, 1, 1, 0); /* any fixed seed will do, because the gap of these keys is computed */
    for (size_t i = 0; i < p->n * p->dk; i++)
        p->key[i] = random ? (rung_rng_u64(&rng) & 1 ? 1 : -1) : i / p->dk == i % p->dk;
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->n; j++) {
            double sum = 0;
            for (size_t k = 0; k < p->dk; k++) sum += p->key[i * p->dk + k] * p->key[j * p->dk + k];
            p->product[i * p->n + j] = sum / p->square;
        }
    return RUNG_OK;
}

/* c = G_y^-1 1 by elimination; G_y is symmetric and positive definite unless keys depend on each other, so no pivoting.
 * False when it is not. */
static bool solve_ones(double *c, const plan *p, const size_t *y)
{
    double a[SET_MAX][SET_MAX + 1];
    size_t q = p->q;
    for (size_t i = 0; i < q; i++) {
        for (size_t j = 0; j < q; j++) a[i][j] = p->product[y[i] * p->n + y[j]];
        a[i][q] = 1;
    }
    for (size_t i = 0; i < q; i++) {
        if (!(a[i][i] > 1e-6)) return false;
        for (size_t r = i + 1; r < q; r++) {
            double factor = a[r][i] / a[i][i];
            for (size_t k = i; k <= q; k++) a[r][k] -= factor * a[i][k];
        }
    }
    for (size_t i = q; i-- > 0;) {
        c[i] = a[i][q];
        for (size_t k = i + 1; k < q; k++) c[i] -= a[i][k] * c[k];
        c[i] /= a[i][i];
    }
    return true;
}

/* The largest score off the set, where those on it are 1. */
static double largest_off(const plan *p, const size_t *y, const double *c)
{
    double largest = -INFINITY;
    for (size_t j = 0, inside = 0; j < p->n; j++) {
        double score = 0;
        if (inside < p->q && y[inside] == j) {
            inside++;
            continue;
        }
        for (size_t a = 0; a < p->q; a++) score += c[a] * p->product[y[a] * p->n + j];
        if (score > largest) largest = score;
    }
    return largest;
}

/* 1 minus the largest score off any set; 0 when the keys of some set depend on each other. */
static double least_gap(const plan *p)
{
    size_t y[SET_MAX];
    double c[SET_MAX], gap = 1;
    first_set(y, p->q);
    for (size_t i = 0; i < p->sets; i++, next_set(y, p->n, p->q)) {
        if (!solve_ones(c, p, y)) return 0;
        double off = largest_off(p, y, c);
        if (1 - off < gap) gap = 1 - off;
    }
    return gap;
}

typedef struct coords {
    size_t z, index, key, query, read;
} coords;

static void write_queries(rung_sheet *s, const plan *p, const coords *c, double scale)
{
    size_t y[SET_MAX], in[SET_MAX];
    double weight[SET_MAX];
    size_t *out = rung_arena_alloc(&s->arena, p->dk, sizeof *out, s->err);
    if (!out) {
        s->status = RUNG_SYSTEM;
        return;
    }
    for (size_t i = 0; i < p->q; i++) in[i] = c->index + i;
    for (size_t i = 0; i < p->dk; i++) out[i] = c->query + i;
    sheet_table table = sheet_add_table(s, 0, p->sets, in, p->q, out, p->dk);
    first_set(y, p->q);
    for (size_t row = 0; row < p->sets; row++, next_set(y, p->n, p->q)) {
        solve_ones(weight, p, y);
        for (size_t i = 0; i < p->q; i++) sheet_set(&table.keys, row, i, (double)y[i]);
        for (size_t k = 0; k < p->dk; k++) {
            double sum = 0;
            for (size_t a = 0; a < p->q; a++) sum += weight[a] * p->key[y[a] * p->dk + k];
            sheet_set(&table.values, row, k, scale / p->square * sum);
        }
    }
}

static void write_weights(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight"), positions = sheet_get(s, "positions");
    sheet_matrix q = sheet_get(s, "layers.1.mix.0.q.weight"), k = sheet_get(s, "layers.1.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.1.mix.0.v.weight"), out = sheet_get(s, "layers.1.out.weight");
    sheet_matrix readout = sheet_get(s, "readout.weight");
    sheet_set_diagonal(&embed, c->z, 0, p->d, 1);
    sheet_set_diagonal(&embed, c->index, p->d, p->q, 1);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->dk; j++) sheet_set(&positions, i, c->key + j, p->key[i * p->dk + j]);
    sheet_set_diagonal(&q, 0, c->query, p->dk, 1);
    sheet_set_diagonal(&k, 0, c->key, p->dk, 1);
    sheet_set_diagonal(&v, 0, c->z, p->d, 1);
    sheet_set_diagonal(&out, c->read, 0, p->d, 1);
    sheet_set_diagonal(&readout, 0, c->read, p->d, 1);
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    plan p;
    coords c;
    RUNG_TRY(make_plan(&p, b, err));
    RUNG_TRY(make_keys(&p, s, rung_build_param(b, "keys") == KEYS_RANDOM));
    double gap = least_gap(&p), wrong = 4 * (double)p.n / ((double)p.q * p.eps);
    if (gap < LEAST_GAP)
        return rung_fail(err, RUNG_USAGE,
                         "random keys of dimension m=%zu leave a gap of %.3g between the scores on and off some set, "
                         "but %g is needed; raise m",
                         p.dk, gap, LEAST_GAP);
    c.z = sheet_coords(s, p.d), c.index = sheet_coords(s, p.q), c.key = sheet_coords(s, p.dk);
    c.query = sheet_coords(s, p.dk), c.read = sheet_coords(s, p.d);
    sheet_layers(s, "window:W=1:dk=1:dv=1,full:dk=%zu:dv=%zu", p.dk, p.d);
    sheet_mlp(s, "table,none");
    s->spec.causal = false;
    s->spec.positions = RUNG_POS_LEARNED;
    write_queries(s, &p, &c, log(wrong) / gap);
    write_weights(s, &p, &c);
    return RUNG_OK;
}

const rung_construction rung_construction_q_sparse_average = {
    .name = "q-sparse-average",
    .summary = "an encoder that averages the positions each token names",
    .source = "Sanford, Hsu, Telgarsky 2023, Theorem 2; equal scores by a linear system: ours",
    .task = "q-sparse-average",
    .params = params,
    .build = build,
};
