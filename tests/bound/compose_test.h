/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of composition share: layers from a word, and the theorems a second time in whole numbers. A statement
 * n log2 V > m with whole n and m is V^n > 2^m, and a divergence of rationals is a product of powers: no logarithm is taken.
 */
#ifndef RUNG_TESTS_COMPOSE_TEST_H
#define RUNG_TESTS_COMPOSE_TEST_H

#include <gmp.h>

#include "rows_test.h"

/* "R48 F24 R48": layers of so many bits of state, or of an accumulator. */
static inline rung_ledger *layers_of(stack *s, const char *text)
{
    rung_ledger_layer layer[LAYERS_MAX];
    size_t count = 0;
    for (const char *at = text; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        uint64_t bits = strtoull(at + 1, NULL, 10);
        layer[count++] =
            *at == 'R' ? recurrent_bits(bits) : full_bits(bits + 1, 1); /* c = dv + 1, without the maximum */
    }
    return stack_of(s, count, layer);
}

/* The answer of a row for these layers; n = 0: the task's own sizes. */
static inline rung_bound_answer ask(const char *layers, const char *task, uint64_t n, const char *id)
{
    stack s;
    rung_task_conf conf = task_of(task);
    question q = question_of(layers_of(&s, layers), &conf, n);
    q.message = RUNG_MESSAGE_NUMERATOR, q.thresholds = true;
    return answer_of(&q, id);
}

/* ---- whole numbers ---------------------------------------------------------------------------------------------------- */

/* V^n > 2^m */
static inline bool power_beats(uint64_t V, uint64_t n, uint64_t m)
{
    mpz_t left, right;
    mpz_inits(left, right, NULL);
    mpz_ui_pow_ui(left, V, n);
    mpz_setbit(right, m);
    bool more = mpz_cmp(left, right) > 0;
    mpz_clears(left, right, NULL);
    return more;
}

/* The least k with k >= q 2^(-D/g). */
static inline uint64_t share_of(uint64_t q, uint64_t D, uint64_t g)
{
    mpz_t all, part;
    mpz_inits(all, part, NULL);
    mpz_ui_pow_ui(all, q, g);
    uint64_t low = 0, high = q;
    while (high - low > 1) {
        uint64_t k = low + (high - low) / 2;
        mpz_ui_pow_ui(part, k, g);
        mpz_mul_2exp(part, part, D);
        if (mpz_cmp(part, all) >= 0)
            high = k;
        else
            low = k;
    }
    mpz_clears(all, part, NULL);
    return high;
}

/* Lemma S, one step: (h-1)/t < p and t KL((h-1)/t || p) > log2(S)/g with p = 1 - C/(t q), as
 * ((h-1) q)^((h-1) g) ((t-h+1) q)^((t-h+1) g) > S (t q - C)^((h-1) g) C^((t-h+1) g). */
static inline bool step_gains(uint64_t h, uint64_t t, uint64_t q, uint64_t C, const mpz_t S, uint64_t g)
{
    if (C == 0) return h <= t;
    if ((h - 1) * q >= t * q - C) return false;
    mpz_t left, right, factor;
    mpz_inits(left, right, factor, NULL);
    mpz_ui_pow_ui(left, (h - 1) * q, (h - 1) * g); /* 0^0 = 1 */
    mpz_ui_pow_ui(factor, (t - h + 1) * q, (t - h + 1) * g);
    mpz_mul(left, left, factor);
    mpz_ui_pow_ui(right, t * q - C, (h - 1) * g);
    mpz_ui_pow_ui(factor, C, (t - h + 1) * g);
    mpz_mul(right, right, factor);
    mpz_mul(right, right, S);
    bool more = mpz_cmp(left, right) > 0;
    mpz_clears(left, right, factor, NULL);
    return more;
}

/* Theta(t, q, log2(S)/g, x), one function after the other. */
static inline uint64_t spread_over(uint64_t t, uint64_t q, const mpz_t S, uint64_t g, uint64_t x)
{
    uint64_t C = 0, h = t;
    for (uint64_t j = 0; j < x && h > 0; j++) {
        while (h > 0 && !step_gains(h, t, q, C, S, g)) h--;
        C += h;
    }
    return C;
}

/* Theta(t, q, D/g, x) */
static inline uint64_t spread_of(uint64_t t, uint64_t q, uint64_t D, uint64_t g, uint64_t x)
{
    mpz_t S;
    mpz_init(S);
    mpz_setbit(S, D);
    uint64_t values = spread_over(t, q, S, g, x);
    mpz_clear(S);
    return values;
}

/* ---- theorems ------------------------------------------------------------------------------------------------------------ */

/* A side of an inequality is left out when `drop` names it; 0: none. The tests that protocols exist must notice. */
enum { DROP_NONE, DROP_A, DROP_C, DROP_B, DROP_RECEIVERS, DROP_CEIL, DROP_TOKENS, DROP_COUNT };

typedef struct sizes_of_two {
    uint64_t N0, n1, V, A, B, c, middle;
} sizes_of_two;

typedef struct choice {
    uint64_t t, q, g, x, x0, x1, beta, G;
} choice;

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline bool single_says(const sizes_of_two *z, int drop)
{
    uint64_t class = z->A < 63 ? (z->N0 + (UINT64_C(1) << z->A) - 1) >> z->A : 1;
    if (drop == DROP_CEIL) class = z->N0;
    return power_beats(z->V, class,
                       (drop == DROP_A ? 0 : z->A) + (drop == DROP_C ? 0 : z->c) + (drop == DROP_B ? 0 : z->B * class));
}

static inline bool first_says(const sizes_of_two *z, const choice *k, int drop)
{
    if (z->B == 0) return power_beats(z->V, z->N0, drop == DROP_C ? 0 : z->c);
    uint64_t told = z->c * ((drop == DROP_C ? 0 : z->n1) + (drop == DROP_RECEIVERS ? 0 : k->x0));
    return power_beats(z->V, z->N0 * z->n1, told + (drop == DROP_B ? 0 : z->B * k->x1));
}

static inline bool between_says(const sizes_of_two *z, const choice *k, int drop)
{
    uint64_t theta = drop == DROP_CEIL ? smaller(k->t * k->q, k->t * k->x) : spread_of(k->t, k->q, z->A, k->g, k->x);
    uint64_t cells = k->g * k->t, listed = z->N0 - cells + k->x * cells + z->middle, told = drop == DROP_A ? 0 : z->A;
    told += drop == DROP_C ? z->c * z->n1 : z->c * k->t * z->n1;
    if (z->B) {
        told += drop == DROP_RECEIVERS ? 0 : z->c * k->t;
        uint64_t once = z->B + (drop == DROP_TOKENS ? 0 : z->c * listed);
        told += drop == DROP_B ? 0 : smaller(k->x * z->B, once);
    }
    return power_beats(z->V, z->n1 * theta, told);
}

static inline bool full_says(const sizes_of_two *z, const choice *k, int drop)
{
    uint64_t cells = k->g * k->t, values = drop == DROP_CEIL ? k->t * k->q : share_of(k->t * k->q, z->c, cells);
    uint64_t listed = drop == DROP_A ? 0 : z->n1;
    listed += drop == DROP_C ? 0 : z->n1 * k->t;
    listed += drop == DROP_RECEIVERS ? 0 : cells;
    listed += drop == DROP_TOKENS ? 0 : z->N0 - cells + cells * k->q + z->middle;
    return power_beats(z->V, z->n1 * values, z->c * listed);
}

/* C1, with A bits of state between the full layers. */
static inline bool relay_says(const sizes_of_two *z, const choice *k, int drop)
{
    uint64_t cells = k->g * k->t, loss = z->c + (drop == DROP_A ? 0 : z->A * cells);
    uint64_t values = drop == DROP_CEIL ? k->t * k->q : share_of(k->t * k->q, loss, cells);
    uint64_t listed = drop == DROP_C ? 0 : z->n1 * (1 + k->t);
    listed += drop == DROP_RECEIVERS ? 0 : cells;
    listed += drop == DROP_TOKENS ? 0 : z->N0 - cells + cells * k->q + z->middle;
    return power_beats(z->V, z->n1 * values, z->c * listed + z->A);
}

static inline bool full_then_says(const sizes_of_two *z, const choice *k, int drop)
{
    uint64_t n1 = k->G * k->beta, cells = k->g * k->t, rest = z->N0 - cells + z->middle, Gx = k->G * k->x;
    uint64_t theta =
        drop == DROP_CEIL ? smaller(k->t * k->q, k->t * k->x) : spread_of(k->t, k->q, z->c * k->beta, k->g, k->x);
    uint64_t listed = (drop == DROP_A ? 0 : n1) + (drop == DROP_C ? 0 : n1 * k->t);
    listed += drop == DROP_RECEIVERS ? 0 : cells + k->t * Gx;
    listed += drop == DROP_TOKENS ? 0 : rest + smaller(Gx, k->q) * cells;
    uint64_t states = smaller(Gx * z->B, z->B + z->c * (rest + Gx * cells));
    return power_beats(z->V, n1 * theta, z->c * listed + (drop == DROP_B ? 0 : states));
}

#endif
