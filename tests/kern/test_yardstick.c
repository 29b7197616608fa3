/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The yardstick of the benchmark must be softmax attention, or every ratio to it means nothing: against two passes in
 * double, on every instruction set, for lengths around its blocks and tiles, and blocks that begin anywhere.
 */
#include "rung/kern.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 200, WIDEST = 40 };

static float q[MOST * WIDEST], k[MOST * WIDEST], v[MOST * WIDEST], o[MOST * WIDEST];

static double score_of(size_t t, size_t j, size_t dk)
{
    double sum = 0;
    for (size_t i = 0; i < dk; i++) sum += (double)q[t * dk + i] * (double)k[j * dk + i];
    return sum;
}

static void assert_query(size_t t, size_t dk, size_t dv, const char *isa)
{
    double max = -INFINITY, den = 0, num[WIDEST] = {0};
    for (size_t j = 0; j <= t; j++) max = fmax(max, score_of(t, j, dk));
    for (size_t j = 0; j <= t; j++) {
        const double e = exp(score_of(t, j, dk) - max);
        den += e;
        for (size_t i = 0; i < dv; i++) num[i] += e * (double)v[j * dv + i];
    }
    for (size_t i = 0; i < dv; i++)
        if (!(fabs((double)o[t * dv + i] - num[i] / den) < 1e-5))
            fail_msg("%s, dk %zu, dv %zu: o[%zu][%zu] is %g, not %g", isa, dk, dv, t, i, (double)o[t * dv + i],
                     num[i] / den);
}

/* Sharp scores in the second half: weights from 1 down to nothing. */
static void draw(size_t tokens, size_t dk, size_t dv, rung_rng *rng)
{
    for (size_t e = 0; e < tokens * dk; e++) {
        q[e] = (float)(rung_rng_normal(rng) * (e > tokens * dk / 2 ? 3 : 0.5));
        k[e] = (float)rung_rng_normal(rng);
    }
    for (size_t e = 0; e < tokens * dv; e++) v[e] = (float)rung_rng_normal(rng), o[e] = 77;
}

static void compare(size_t tokens, size_t dk, size_t dv, rung_rng *rng)
{
    float *scratch = calloc(RUNG_YARDSTICK_QUERIES * (dk + dv + 1), sizeof *scratch);
    assert_non_null(scratch);
    draw(tokens, dk, dv, rng);
    for (size_t first = 0, count; first < tokens; first += count) {
        count = tokens - first < RUNG_YARDSTICK_QUERIES ? tokens - first : 1 + (size_t)rung_rng_below(rng, 64);
        rung_yardstick_get()(o, q, k, v, first, count, dk, dv, scratch);
        if (first + count < tokens) assert_true(o[(first + count) * dv] == 77); /* nothing is written behind */
    }
    for (size_t t = 0; t < tokens; t++) assert_query(t, dk, dv, rung_isa_name(rung_cpu_isa()));
    free(scratch);
}

static void it_is_softmax_attention_on_every_instruction_set(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 15, 16, 17, 63, 64, 65, 130, MOST};
    const rung_isa best = rung_cpu_isa();
    for (int isa = (int)best; isa >= RUNG_ISA_REF; isa--) {
        rung_rng rng;
        rung_rng_init(&rng, 9, 0, 0);
        assert_int_equal(setenv("RUNG_ISA", rung_isa_name((rung_isa)isa), 1), 0);
        rung_cpu_forget();
        for (size_t i = 0; i < RUNG_COUNT(lengths); i++)
            compare(lengths[i], 1 + (size_t)rung_rng_below(&rng, WIDEST), 1 + (size_t)rung_rng_below(&rng, WIDEST),
                    &rng);
        unsetenv("RUNG_ISA"), rung_cpu_forget();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_softmax_attention_on_every_instruction_set)};
    return cmocka_run_group_tests_name("kern: yardstick", tests, NULL, NULL);
}
