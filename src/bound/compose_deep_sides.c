/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Both sides of theorem D, certified.
 */
#include "compose_deep.h"
#include "spread.h"

#include <assert.h>

static rung_ival times(rung_certified *s, rung_ival a, double b)
{
    return rung_ival_mul(s, a, rung_ival_real(s, b));
}

static rung_ival plus_times(rung_certified *s, rung_ival sum, rung_ival a, double b)
{
    return rung_ival_add(s, sum, times(s, a, b));
}

typedef struct sizes {
    rung_ival N0, W, M1, table[DEEP_MAX + 1]; /* table[l] = N_l */
} sizes;

static sizes sizes_of(rung_certified *s, const deep *d)
{
    sizes z = {.N0 = rung_ival_real(s, d->t), .W = rung_ival_u64(s, 1)};
    for (size_t l = 1; l < d->L; l++) z.N0 = times(s, z.N0, d->q[l]), z.W = times(s, z.W, d->n[l]);
    z.M1 = plus_times(s, z.N0, compose_product(s, d->g, d->t), d->x[1] - 1);
    z.table[0] = z.N0;
    for (size_t l = 1; l < d->L; l++) z.table[l] = times(s, z.table[l - 1], d->n[l]);
    return z;
}

static rung_ival first_values(rung_certified *s, const deep *d, const sizes *z)
{
    if (!d->pure && d->r[0] == 0) return compose_product(s, d->t, d->x[1]);
    rung_ival held = rung_ival_u64(s, d->r[0]);
    if (d->pure) held = rung_ival_add(s, held, times(s, z->W, (double)d->c));
    rung_ival loss = rung_ival_div(s, held, rung_ival_real(s, d->g));
    return spread_from_class_surely(s, d->t, d->q[1], loss, d->x[1], d->y[1]);
}

/* D_2 */
static rung_ival first_cost(rung_certified *s, const deep *d, const sizes *z)
{
    rung_ival t = rung_ival_real(s, d->t), c = rung_ival_u64(s, d->c);
    rung_ival known = !d->pure && d->r[0] == 0 ? z->W : times(s, z->W, d->t);
    rung_ival listed = rung_ival_add(s, rung_ival_add(s, known, t), z->M1);
    if (d->pure) {
        listed = rung_ival_add(s, rung_ival_add(s, listed, z->W), z->M1);
        listed = plus_times(s, listed, t, d->x[1]);
    }
    rung_ival states = rung_ival_add(s, rung_ival_u64(s, d->r[0]), rung_ival_u64(s, d->r[d->pure ? 2 : 1]));
    return rung_ival_add(s, states, rung_ival_mul(s, c, listed));
}

/* X_{i:j} */
static rung_ival span(rung_certified *s, const deep *d, size_t i, size_t j)
{
    rung_ival X = rung_ival_u64(s, 1);
    for (size_t l = i; l <= j; l++) X = times(s, X, d->x[l]);
    return X;
}

/* Tokens of z_1 .. z_{l-1} in all their contexts. */
static rung_ival lower_tokens(rung_certified *s, const deep *d, size_t l, const sizes *z)
{
    rung_ival lower = rung_ival_mul(s, z->M1, span(s, d, 2, l - 1));
    for (size_t i = 2; i < l; i++)
        lower = rung_ival_add(s, lower, rung_ival_mul(s, z->table[i - 1], span(s, d, i, l - 1)));
    return lower;
}

/* D_{l+1} from D_l */
static rung_ival next_cost(rung_certified *s, const deep *d, size_t l, rung_ival D, const sizes *z)
{
    bool last = l == d->L - 1;
    uint64_t after = d->r[d->pure ? d->L : l];
    double x = d->x[l], seen = deep_seen(d, l);
    rung_ival tokens = times(s, z->table[l - 1], x), c = rung_ival_u64(s, d->c);
    if (last) tokens = plus_times(s, tokens, z->table[d->L - 2], (double)(d->task.L - d->L));
    rung_ival contexts = times(s, span(s, d, 1, l - 1), d->t);
    rung_ival cost = rung_ival_add(s, times(s, D, x), rung_ival_u64(s, 1));
    size_t groups = d->pure ? l + 1 : l; /* the last one whose states cross the cut so far */
    for (size_t i = 0; i <= groups; i++)
        if (!(last && i == groups)) cost = rung_ival_add(s, cost, rung_ival_u64(s, d->r[i]));
    rung_ival listed = plus_times(s, rung_ival_mul(s, contexts, z->W), tokens, seen);
    if ((!last || after) && deep_others_ask(d, l))
        listed = rung_ival_add(s, listed, rung_ival_add(s, contexts, lower_tokens(s, d, l, z)));
    cost = rung_ival_add(s, cost, rung_ival_mul(s, c, listed));
    if (last) cost = rung_ival_add(s, cost, rung_ival_u64(s, d->beside_last));
    if (!last || !after) return cost;
    rung_ival once = rung_ival_add(s, rung_ival_u64(s, after), rung_ival_mul(s, c, tokens));
    return rung_ival_add(s, cost, rung_ival_min(s, times(s, rung_ival_u64(s, after), x), once));
}

bound_sides deep_sides(rung_certified *s, const void *context)
{
    const deep *d = context;
    assert(deep_allowed(d));
    sizes z = sizes_of(s, d);
    rung_ival theta = first_values(s, d, &z), D = first_cost(s, d, &z), one = rung_ival_u64(s, 1);
    for (size_t l = 2; l < d->L; l++) {
        rung_ival budget = rung_ival_add(s, times(s, D, d->x[l]), one);
        theta = spread_random_surely(s, times(s, theta, d->n[l - 1]), d->y[l], d->x[l], d->q[l], budget);
        D = next_cost(s, d, l, D, &z);
    }
    rung_ival V = compose_values_log2(s, &d->task, 0, z.table[d->L - 1]);
    return (bound_sides){rung_ival_mul(s, times(s, theta, d->n[d->L - 1]), V), D};
}
