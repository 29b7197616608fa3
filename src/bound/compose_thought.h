/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One layer with full heads, and T thoughts before the answer. A thought is a new last token whose input is any function
 * of what the last token before it computed. Every thought reads the tokens of the prompt as they enter the one full
 * layer, so what those tokens receive in it does not count. c are the bits of an accumulator. Proofs: docs/theory.md,
 * Thoughts. Sizes as in compose_deep.h: N_0 = t q_1 ... q_{L'-1}, N_l = n_l N_{l-1}, W = n_1 ... n_{L'-1}.
 *
 * First form: no recurrent layer, s_1 bits of recurrent heads beside the full ones; L' = T + 1.
 *   L' = 2:   n_1 ceil(t q 2^(-(c+s_1)/(g t))) log2 V > c n_1 (1+t) + s_1 is impossible (classes for each w)
 *   L' >= 3:  Theta_1 from density 2^-((c W + s_1)/g), D_2 = s_1 + c (W + W t)
 *             D_{l+1} = x_l D_l + 1 + c W t X_{1:l-1}, Theta_l by Lemma S' as in D
 * Second form: r_0 bits of recurrent layers before and r_1 after (heads beside count as after); L' = T + 2.
 *             Theta_1 from density 2^-(r_0/g), D_2 = r_0 + r_1 + c (W t + [r_1 > 0] (t + M_1))
 *             (r_0 = 0: Theta_1 = t x_1 and W in the place of W t)
 *             D_{l+1} = x_l D_l + 1 + r_0 + c W t X_{1:l-1}
 *   Impossible if D_{L'} < n_{L'-1} Theta_{L'-1} log2 V.
 *
 * g t <= N_0. Where M_1 = N_0 - g t + x_1 g t is not listed, nothing is lost with g t = N_0, and that is taken.
 */
#ifndef RUNG_BOUND_COMPOSE_THOUGHT_H
#define RUNG_BOUND_COMPOSE_THOUGHT_H

#include "compose_sizes.h"

enum { THOUGHT_MAX = 6 }; /* largest L' */

typedef struct thinking {
    compose_task task;
    size_t L;                              /* L' */
    bool relays;                           /* the second form */
    uint64_t before, after, beside, c;     /* r_0, r_1, s_1 */
    double t, g;                           /* g = 0: N_0 / t */
    double x[THOUGHT_MAX], q[THOUGHT_MAX]; /* x, q, n, y from index 1 */
    double n[THOUGHT_MAX], y[THOUGHT_MAX];
} thinking;

bound_sides thought_sides(rung_certified *s, const void *thinking);
/* The same for two functions and one thought. */
bound_sides thought_two_sides(rung_certified *s, const void *thinking);
/* Whether the parameters are in their ranges. */
bool thought_allowed(const thinking *k);
/* Finds parameters in doubles for three functions or more; false if there are none. */
bool thought_choose(thinking *k);
/* The prompt length, rounded up if it is not exact. */
double thought_tokens(const thinking *k);
double thought_log2_values(const thinking *k);

#endif
