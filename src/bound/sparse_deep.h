/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Membership with several layers of block-sparse attention: two-sum, form=query (theorem SP). Tokens stand in blocks of
 * B. In all layers together the query opens at most K blocks, and a block has kappa bits of summaries. A token receives
 * `heard` bits in those layers that a later layer reads. `state` are the bits of all recurrent layers. Tokens other than
 * the query may open any number of blocks.
 *
 * Choose r <= B, u <= M-1 and distances g_0 < g_1 < ... < g_{K+1} from the end, where the query's own block and windows
 * reach no further than g_0. Put m = g_{K+1} - g_0, delta = 1/(K+1) - m r/u, lambda = -log2(1 - delta). Impossible if
 * delta > 0 and for every j = 0..K
 *
 *     (g_{j+1} - g_j) (r lambda - kappa) > heard B g_j + state + log2(K+1).
 *
 * Proof: docs/theory.md, Several sparse layers.
 */
#ifndef RUNG_BOUND_SPARSE_DEEP_H
#define RUNG_BOUND_SPARSE_DEEP_H

#include "bound_rows.h"

enum { SPARSE_OPENED_MAX = 256 };

typedef struct several_sparse {
    uint64_t B, M, K, kappa, heard, state;
    uint64_t near;                        /* g_0 */
    uint64_t r, g[SPARSE_OPENED_MAX + 2]; /* chosen */
    uint64_t at;                          /* the j that is decided */
} several_sparse;

bound_sides sparse_deep_sides(rung_certified *s, const void *several_sparse);
/* The least number of blocks with a proof, with r and g[0..K+1]; 0 if none was found below 2^52. */
uint64_t sparse_deep_choose(several_sparse *x);

#endif
