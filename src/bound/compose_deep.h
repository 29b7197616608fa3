/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * L' functions with L'-1 full layers among recurrent ones (theorem D), or with L' full layers and recurrent ones after
 * them only (D-pure) or after the second one only (E); L' >= 3, and L' = 2 is B, C0, Ce. The proof goes from the inside out: a set of z_1 for which
 * nothing has been learnt, then of z_2, and so on, and counts what must be fixed of the outer tables (docs/theory.md).
 * r_k are the state bits after the k-th full layer, c those of an accumulator.
 *
 *   N_0 = t q_1 ... q_{L-1}, N_l = n_l N_{l-1}, W = n_1 ... n_{L-1}, M_1 = N_0 - g t + x_1 g t, X_{i:j} = x_i ... x_j
 *   1 <= g t <= N_0, x_l <= q_l
 *   D:      Theta_1 from density 2^-(r_0/g);  D_2 = r_0 + r_1 + c (W t + t + M_1)
 *           (r_0 = 0: Theta_1 = t x_1, D_2 = r_1 + c (W + t + M_1))
 *   D-pure, E: Theta_1 from density 2^-(c W/g);  D_2 = r_2 + c (W + W t + t + M_1) + c (t x_1 + M_1)
 *   l = 2 .. L-1, with k = l (D) or l+1 (D-pure, E) full layers seen by the tokens of z_l:
 *     Theta_l values of z_l, by Lemma S': T = n_{l-1} Theta_{l-1} coordinates, budget x_l D_l + 1
 *     D_{l+1} = x_l D_l + 1 + (r_0 + ... + r_k)
 *               + c ((W+1) t X_{1:l-1} + M_1 X_{2:l-1} + sum_{i=2}^{l-1} N_{i-1} X_{i:l-1} + k x_l N_{l-1})
 *   last step: no states after the last full layer: without r_k, only W t X_{1:l-1} and (k-1) x_l N_{l-1};
 *              else r_k + c x_l N_{l-1} may be x_l r_k instead.
 *   Impossible if D_L < n_{L-1} Theta_{L-1} log2 V.
 *
 * H: the same as D-pure and E with recurrent heads beside the full ones. Those of layer k >= 2 count into r_k. s_1 bits of
 * the first layer: Theta_1 from density 2^-((c W + s_1)/g), and s_1 more in D_2 and in every step. Last step without states
 * after the last full layer: the bits of heads beside that layer, once.
 * K: thoughts are further full layers in which only w asks: k is at most the number of real ones in k x_l N_{l-1}, and
 * beyond them z_0 and the tokens of z_1 .. z_{l-1} receive nothing.
 *
 * With more functions in the task than L', the others pass their argument on: L - L' tables of N_{L'-2} constant
 * entries between z_L and z_{L'-1}. They do not depend on z_{L'-1}: in the last step x_l N_{l-1} is x_l N_{l-1} +
 * (L-L') N_{L'-2}.
 */
#ifndef RUNG_BOUND_COMPOSE_DEEP_H
#define RUNG_BOUND_COMPOSE_DEEP_H

#include "compose_sizes.h"

enum { DEEP_MAX = 6 }; /* largest L' */

typedef struct deep {
    compose_task task;
    size_t L;  /* L' */
    bool pure; /* D-pure, E and H */
    uint64_t r[DEEP_MAX + 1],
        c;                /* pure: r[0] is s_1, the bits of recurrent heads beside the first full ones; r[1] = 0 */
    uint64_t beside_last; /* pure, without states after the last full layer: heads beside that layer */
    size_t asks;          /* K: tokens of the prompt ask in so many full layers; 0: in all */
    /* parameters of the proof, whole numbers; x, q and n start at index 1 */
    double t, g, x[DEEP_MAX], q[DEEP_MAX], n[DEEP_MAX];
    double y[DEEP_MAX]; /* of Lemma S', from index 1; y[1] = 0: Lemma S */
} deep;

/* n_{L-1} Theta_{L-1} log2 V and D_L, certified. */
bound_sides deep_sides(rung_certified *s, const void *context);
/* Whether the parameters are in their ranges. */
bool deep_allowed(const deep *d);
/* Finds parameters in doubles; false if there are none. */
bool deep_choose(deep *d);
/* The states of a pattern with full layers first, at most DEEP_MAX of them, as r and beside_last. */
void deep_take_heads(deep *d, const rung_pattern *p);
/* Finds parameters and decides: all of an answer but its premise. */
rung_status deep_evaluate(rung_bound_answer *answer, deep *d, const bound_question *q, rung_error *err);
/* Full layers in which the accumulators of the tokens of z_l are fixed in step l, apart from the last layer's. */
double deep_seen(const deep *d, size_t l);
/* Whether z_0 and the tokens of z_1 .. z_{l-1} ask in the full layer of step l. */
bool deep_others_ask(const deep *d, size_t l);
/* log2 V, for printing. */
double deep_log2_values(const deep *d);
/* The prompt length, rounded up if it is not exact. */
long double deep_tokens(const deep *d);

#endif
