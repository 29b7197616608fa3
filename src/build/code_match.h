/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Codes that are compared by counting misses. A number of b bits is the code (A, 1-A); a key holds it as it is, a query
 * holds -g (1-P, P), and
 *
 *     score = -g (bits in which A and P differ).
 *
 * The same gaps as ADDRESS_BITS, but the best score is 0 and is reached without adding anything up, so it is exact in
 * every format, however many bits there are. A code of zeros matches everything, a code of ones nothing: that is how a
 * token stays out of, or in, the sum.
 */
#ifndef RUNG_BUILD_CODE_MATCH_H
#define RUNG_BUILD_CODE_MATCH_H

#include "sheet.h"

/* Row `row`, columns col .. col+2 bits-1. */
void match_key(const sheet_matrix *m, size_t row, size_t col, size_t bits, size_t number);
void match_query(const sheet_matrix *m, size_t row, size_t col, size_t bits, size_t number, double gap);
/* The code of ones, which differs from every number in all bits. */
void match_never(const sheet_matrix *m, size_t row, size_t col, size_t bits);

/* Rows row .. row+2 bits-1 of the projections q and k: a query whose coordinates `asked` hold a code looks for keys
 * whose coordinates `code` hold the same one. */
void match_codes(const sheet_matrix *q, const sheet_matrix *k, size_t row, size_t asked, size_t code, size_t bits,
                 double gap);

/* When a gap is large enough in real arithmetic. */
typedef struct match_limit {
    double (*excess)(const void *context, double gap); /* below 1: every prompt is right */
    const void *context;
    double usual;        /* the default, unless a larger one is needed */
    const char *meaning; /* what goes wrong at 1 */
    const char *instead; /* what to try if no gap suffices */
} match_limit;

/* The construction's parameter `gap`; 0 chooses one that suffices. */
rung_status match_gap(double *gap, const rung_build *b, const match_limit *limit, rung_error *err);

#endif
