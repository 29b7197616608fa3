/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A chunk of n <= CHUNK tokens of one head as matrix products. linear, log-linear and the matrix mechanisms share this
 * code. While chunks are computed a state matrix S [dk][dv] is stored in panels of dk rows, so that it can be a second
 * factor. Matrices of pairs (t, s) have rows of CHUNK floats. Products with a matrix that is half zero skip most of the
 * zeros.
 */
#ifndef RUNG_MECH_CHUNK_H
#define RUNG_MECH_CHUNK_H

#include "mech_rows.h"

#include "rung/kern.h"

enum { CHUNK = RUNG_CHUNK, SUBCHUNK = RUNG_SUBCHUNK, PAIRS = CHUNK * CHUNK };

/* A first factor: element (i, k) is at[i * row + k * inner]. */
typedef struct chunk_factor {
    const float *at;
    size_t row, inner;
} chunk_factor;

static inline chunk_factor chunk_rows(const float *at, size_t row)
{
    return (chunk_factor){at, row, 1};
}

static inline chunk_factor chunk_columns(const float *at, size_t row)
{
    return (chunk_factor){at, 1, row};
}

/* The number of chunks of `tokens` tokens. */
static inline size_t chunk_count(size_t tokens)
{
    return tokens / CHUNK + (tokens % CHUNK != 0);
}

/* Floats of a row that is filled up to whole panels. */
static inline size_t chunk_wide(size_t cols)
{
    return rung_panels_size(1, cols);
}

/* The `rows` rows before x, or none. */
static inline rung_chunk_rows chunk_rows_before(const float *x, size_t row, size_t rows, size_t width)
{
    return (rung_chunk_rows){x ? x - rows * row : NULL, row, x ? rows : 0, width};
}

/* y = x w, or y += x w; the panels have panel_rows rows, of which the first `inner` count. NULL as y: not wanted. */
void rung_chunk_product(float *y, size_t y_row, chunk_factor x, const float *panels, size_t panel_rows, size_t rows,
                        size_t cols, size_t inner, bool add);

/* The same, and asks for a list of rows meanwhile. */
void rung_chunk_product_asking(float *y, size_t y_row, chunk_factor x, const float *panels, size_t panel_rows,
                               size_t rows, size_t cols, size_t inner, bool add, const rung_chunk_rows *next);

/* A = x y^T for s <= t, where y is transposed in panels with `inner` rows. The elements above the diagonal are
 * undefined. */
void rung_chunk_pairs(float *A, chunk_factor x, const float *panels, size_t n, size_t inner);
/* y += A w and y += A^T w with A_ts = 0 for s > t. w is in panels of n rows. */
void rung_chunk_lower(float *y, size_t y_row, const float *A, const float *panels, size_t n, size_t cols);
void rung_chunk_upper(float *y, size_t y_row, const float *A, const float *panels, size_t n, size_t cols);
/* Solves r_t = r_t + sum over s < t of M_ts beta_s r_s in place, and sets u = beta r in panels of n rows; or the same
 * downwards with M transposed. Rows of r have chunk_wide(cols) floats. */
void rung_chunk_solve(float *u, float *r, const float *M, const float *beta, size_t n, size_t cols, bool downwards);

/* S += x^T w with x = [n][dk], w in panels of n rows, S in panels of dk rows. */
void rung_chunk_absorb(float *S, chunk_factor x, const float *panels, size_t n, size_t dk, size_t dv);
/* Makes the panels of S^T from S in panels of `rows` rows. */
void rung_chunk_flip(float *to, const float *S, size_t rows, size_t cols);
/* Converts between panels and [dk][dv]. NULL stands for zeros. */
void rung_chunk_open(float *S, const float *state, size_t dk, size_t dv);
void rung_chunk_close(float *state, const float *S, size_t dk, size_t dv);
/* Multiplies each row of S by its own number, or all rows by one. */
void rung_chunk_fade(float *S, const float *a, bool per_row, size_t dk, size_t dv);

#endif
