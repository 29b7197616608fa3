/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to build: the rows of the registry, in their order.
 */
#ifndef RUNG_BUILD_ROWS_H
#define RUNG_BUILD_ROWS_H

#include "rung/build.h"

#define RUNG_CONSTRUCTIONS(X)                                                                                          \
    X(lookup)                                                                                                          \
    X(percom)                                                                                                          \
    X(seqcomp)                                                                                                         \
    X(seqcomp_cot)                                                                                                     \
    X(seqcomp_encoder)                                                                                                 \
    X(two_sum)                                                                                                         \
    X(loophole)                                                                                                        \
    X(assoc_recall)                                                                                                    \
    X(c_gram)                                                                                                          \
    X(count_symbol)                                                                                                    \
    X(string_equality)                                                                                                 \
    X(disjointness)                                                                                                    \
    X(eva_recurrent)                                                                                                   \
    X(dyck)                                                                                                            \
    X(state_recall)                                                                                                    \
    X(parity_recall)                                                                                                   \
    X(stacks)                                                                                                          \
    X(variable_tracking)                                                                                               \
    X(q_sparse_average)                                                                                                \
    X(nearest_neighbour)

#define X(name) extern const rung_construction rung_construction_##name;
RUNG_CONSTRUCTIONS(X)
#undef X

#endif
