/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Both sides of theorem K1, certified.
 */
#include "compose_thought.h"
#include "spread.h"

#include <assert.h>

static rung_ival times(rung_certified *s, rung_ival a, double b)
{
    return rung_ival_mul(s, a, rung_ival_real(s, b));
}

static rung_ival plus_u64(rung_certified *s, rung_ival a, uint64_t b)
{
    return rung_ival_add(s, a, rung_ival_u64(s, b));
}

typedef struct sizes {
    rung_ival cells; /* g, exactly */
    rung_ival N0, W, table;
} sizes;

static sizes sizes_of(rung_certified *s, const thinking *k)
{
    sizes z = {.cells = rung_ival_u64(s, 1), .W = rung_ival_u64(s, 1)};
    for (size_t l = 1; l < k->L; l++) z.cells = times(s, z.cells, k->q[l]), z.W = times(s, z.W, k->n[l]);
    z.N0 = times(s, z.cells, k->t);
    if (k->g > 0) z.cells = rung_ival_real(s, k->g);
    z.table = rung_ival_mul(s, z.N0, z.W);
    return z;
}

/* ---- two functions, one thought ------------------------------------------------------------------------------------ */

bound_sides thought_two_sides(rung_certified *s, const void *context)
{
    const thinking *k = context;
    assert(k->L == 2 && !k->relays && thought_allowed(k));
    double g = k->g > 0 ? k->g : k->q[1], N0 = k->task.free ? k->t * k->q[1] : k->task.size.N0;
    rung_ival heard = plus_u64(s, rung_ival_u64(s, k->c), k->beside);
    rung_ival loss = rung_ival_div(s, heard, compose_product(s, g, k->t));
    rung_ival share = rung_ival_exp2(s, rung_ival_sub(s, rung_ival_u64(s, 0), loss));
    rung_ival values = rung_ival_ceil(s, rung_ival_mul(s, compose_product(s, k->t, k->q[1]), share));
    rung_ival V = compose_values_log2(s, &k->task, N0, compose_product(s, N0, k->n[1]));
    rung_ival messages = rung_ival_mul(s, rung_ival_u64(s, k->c), compose_product(s, k->n[1], 1 + k->t));
    return (bound_sides){rung_ival_mul(s, times(s, values, k->n[1]), V), plus_u64(s, messages, k->beside)};
}

/* ---- more ---------------------------------------------------------------------------------------------------------- */

static rung_ival first_values(rung_certified *s, const thinking *k, const sizes *z)
{
    if (k->relays && k->before == 0) return compose_product(s, k->t, k->x[1]);
    rung_ival held = rung_ival_u64(s, k->before);
    if (!k->relays) held = plus_u64(s, rung_ival_mul(s, z->W, rung_ival_u64(s, k->c)), k->beside);
    return spread_from_class_surely(s, k->t, k->q[1], rung_ival_div(s, held, z->cells), k->x[1], k->y[1]);
}

/* D_2 */
static rung_ival first_cost(rung_certified *s, const thinking *k, const sizes *z)
{
    rung_ival c = rung_ival_u64(s, k->c), knows = times(s, z->W, k->t);
    if (!k->relays) return plus_u64(s, rung_ival_mul(s, c, rung_ival_add(s, z->W, knows)), k->beside);
    rung_ival listed = k->before ? knows : z->W;
    if (k->after) {
        rung_ival cells = rung_ival_mul(s, z->cells, compose_product(s, k->t, k->x[1] - 1));
        listed = rung_ival_add(s, listed, rung_ival_add(s, rung_ival_real(s, k->t), rung_ival_add(s, z->N0, cells)));
    }
    return plus_u64(s, plus_u64(s, rung_ival_mul(s, c, listed), k->before), k->after);
}

bound_sides thought_sides(rung_certified *s, const void *context)
{
    const thinking *k = context;
    assert(thought_allowed(k));
    sizes z = sizes_of(s, k);
    rung_ival theta = first_values(s, k, &z), D = first_cost(s, k, &z), one = rung_ival_u64(s, 1);
    rung_ival contexts = times(s, z.W, k->t); /* W t X_{1:l-1} */
    for (size_t l = 2; l < k->L; l++) {
        rung_ival budget = rung_ival_add(s, times(s, D, k->x[l]), one);
        contexts = times(s, contexts, k->x[l - 1]);
        theta = spread_random_surely(s, times(s, theta, k->n[l - 1]), k->y[l], k->x[l], k->q[l], budget);
        D = rung_ival_add(s, budget, rung_ival_mul(s, rung_ival_u64(s, k->c), contexts));
        if (k->relays) D = plus_u64(s, D, k->before);
    }
    rung_ival V = compose_values_log2(s, &k->task, 0, z.table);
    return (bound_sides){rung_ival_mul(s, times(s, theta, k->n[k->L - 1]), V), D};
}
