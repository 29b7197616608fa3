/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The rows of the registry, in the order in which they are listed, and what the files of this directory share.
 */
#ifndef RUNG_BOUND_ROWS_H
#define RUNG_BOUND_ROWS_H

#include "rung/bound.h"
#include "rung/num.h"

#define RUNG_BOUNDS(X)                                                                                                 \
    X(lookup_recurrent)                                                                                                \
    X(compose_none)                                                                                                    \
    X(compose_single)                                                                                                  \
    X(compose_first)                                                                                                   \
    X(compose_between)                                                                                                 \
    X(compose_full)                                                                                                    \
    X(compose_full_then)                                                                                               \
    X(compose_deep)                                                                                                    \
    X(compose_deep_full)                                                                                               \
    X(cut_recurrent)                                                                                                   \
    X(cut_one)                                                                                                         \
    X(causal)                                                                                                          \
    X(sparse_membership)                                                                                               \
    X(average_one)                                                                                                     \
    X(headwise_one)                                                                                                    \
    X(published_full)                                                                                                  \
    X(published_hybrid)                                                                                                \
    X(published_sparse)

#define X(name) extern const rung_bound rung_bound_##name;
RUNG_BOUNDS(X)
#undef X

/* Says in `premise` what is missing; always RUNG_OK, so that a row can end with it. */
rung_status bound_missing(rung_bound_answer *answer, const char *format, ...) RUNG_PRINTF(2, 3);

/* Fano's inequality: who is told `bits` bits about `entries` independent uniform values of V kinds, and is then asked for one of them at
 * random, errs at a rate e on average with h(e) + e log2(V-1) >= log2 V - bits / entries, h the binary entropy. The ceiling is 1 - e for the least
 * such e; there is none when the bits suffice. */
void bound_ceiling(rung_bound_answer *answer, double bits, double entries, double V);
/* The same for independent values of one law with this entropy, in bits, in the place of log2 V: entry x keeps H - I(x), and the I(x) sum to at
 * most `bits` because the entries are independent. An entropy that is too small is safe, one that is too large is not. */
void bound_ceiling_of(rung_bound_answer *answer, double bits, double entries, double V, double entropy);

/* Decides lhs > rhs on sheets of rising precision: `side` computes both sides on a fresh sheet. Fills lhs, rhs, holds. An
 * inequality that 1024 bits do not decide does not hold. */
typedef struct bound_sides {
    rung_ival lhs, rhs;
} bound_sides;
typedef bound_sides bound_side(rung_certified *sheet, const void *context);
rung_status bound_decide(rung_bound_answer *answer, bound_side *side, const void *context, rung_error *err);
/* The same for many small questions in a search: certainly lhs > rhs? */
rung_status bound_surely(bool *surely, bound_side *side, const void *context, rung_error *err);

#endif
