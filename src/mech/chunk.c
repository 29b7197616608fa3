/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The products of a chunk: see chunk.h.
 */
#include "chunk.h"

#include <assert.h>
#include <string.h>

/* Rows of a triangle that are computed together: those of a tile of the products. */
enum { STEP = 8 };
/* Rows per call of solve_block. A product adds the contribution of the rows before them. */
enum { SOLVE = 8 };
enum { VECTOR = 16 };

void rung_chunk_product(float *y, size_t y_row, chunk_factor x, const float *panels, size_t panel_rows, size_t rows,
                        size_t cols, size_t inner, bool add)
{
    rung_chunk_product_asking(y, y_row, x, panels, panel_rows, rows, cols, inner, add, NULL);
}

void rung_chunk_product_asking(float *y, size_t y_row, chunk_factor x, const float *panels, size_t panel_rows,
                               size_t rows, size_t cols, size_t inner, bool add, const rung_chunk_rows *next)
{
    if (!y) return;
    rung_chunk_kernels_get()->product(&(rung_product){.y = y,
                                                      .x = x.at,
                                                      .panels = panels,
                                                      .start = add ? y : NULL,
                                                      .rows = rows,
                                                      .cols = cols,
                                                      .inner = inner,
                                                      .y_row = y_row,
                                                      .x_row = x.row,
                                                      .x_inner = x.inner,
                                                      .start_row = y_row,
                                                      .panel_rows = panel_rows,
                                                      .next = next});
}

void rung_chunk_pairs(float *A, chunk_factor x, const float *panels, size_t n, size_t inner)
{
    assert(n <= CHUNK);
    for (size_t t = 0; t < n; t += STEP) {
        size_t rows = size_min(STEP, n - t), half = CHUNK / 2, cols = t + rows <= half ? size_min(half, n) : n;
        rung_chunk_product(A + t * CHUNK, CHUNK, (chunk_factor){x.at + t * x.row, x.row, x.inner}, panels, inner, rows,
                           cols, inner, false);
    }
}

void rung_chunk_lower(float *y, size_t y_row, const float *A, const float *panels, size_t n, size_t cols)
{
    assert(n <= CHUNK);
    for (size_t t = 0; y && t < n; t += STEP) {
        size_t rows = size_min(STEP, n - t);
        rung_chunk_product(y + t * y_row, y_row, chunk_rows(A + t * CHUNK, CHUNK), panels, n, rows, cols, t + rows,
                           true);
    }
}

void rung_chunk_upper(float *y, size_t y_row, const float *A, const float *panels, size_t n, size_t cols)
{
    assert(n <= CHUNK);
    for (size_t s = 0; y && s < n; s += STEP) {
        size_t rows = size_min(STEP, n - s);
        rung_chunk_product(y + s * y_row, y_row, chunk_columns(A + s * CHUNK + s, CHUNK), panels + s * RUNG_PANEL, n,
                           rows, cols, n - s, true);
    }
}

void rung_chunk_solve(float *u, float *r, const float *M, const float *beta, size_t n, size_t cols, bool downwards)
{
    assert(n <= CHUNK);
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    size_t blocks = n / SOLVE + (n % SOLVE != 0), r_row = chunk_wide(cols);
    for (size_t i = 0; i < blocks; i++) {
        size_t from = (downwards ? blocks - 1 - i : i) * SOLVE, to = size_min(n, from + SOLVE);
        float *rows = r + from * r_row;
        if (!downwards && from)
            rung_chunk_product(rows, r_row, chunk_rows(M + from * CHUNK, CHUNK), u, n, to - from, cols, from, true);
        if (downwards && to < n)
            rung_chunk_product(rows, r_row, chunk_columns(M + to * CHUNK + from, CHUNK), u + to * RUNG_PANEL, n,
                               to - from, cols, n - to, true);
        kern->solve_block(u + from * RUNG_PANEL, rows, r_row, M + from * CHUNK + from, downwards ? 1 : CHUNK,
                          downwards ? CHUNK : 1, beta + from, to - from, cols, n, downwards);
    }
}

/* Panels are filled up with zeros, so that every product uses whole vectors. */
static size_t whole_vectors(size_t cols)
{
    return (cols + VECTOR - 1) / VECTOR * VECTOR;
}

void rung_chunk_absorb(float *S, chunk_factor x, const float *panels, size_t n, size_t dk, size_t dv)
{
    assert(n <= CHUNK);
    for (size_t col = 0; col < dv; col += RUNG_PANEL)
        rung_chunk_product(S + col * dk, RUNG_PANEL, (chunk_factor){x.at, x.inner, x.row}, panels + col * n, n, dk,
                           whole_vectors(size_min(RUNG_PANEL, dv - col)), n, true);
}

void rung_chunk_flip(float *to, const float *S, size_t rows, size_t cols)
{
    for (size_t col = 0; col < cols; col += RUNG_PANEL)
        for (size_t row = 0; row < rows; row += RUNG_PANEL)
            rung_kernels_get()->pack(to + row * cols + col * RUNG_PANEL, S + col * rows + row * RUNG_PANEL,
                                     size_min(RUNG_PANEL, cols - col), size_min(RUNG_PANEL, rows - row), 1, RUNG_PANEL);
}

void rung_chunk_open(float *S, const float *state, size_t dk, size_t dv)
{
    if (state)
        rung_kernels_get()->pack(S, state, dk, dv, dv, 1);
    else
        memset(S, 0, rung_panels_size(dk, dv) * sizeof *S);
}

void rung_chunk_close(float *state, const float *S, size_t dk, size_t dv)
{
    for (size_t col = 0; col < dv; col += RUNG_PANEL)
        for (size_t j = 0; j < dk; j++)
            if (dv - col >= RUNG_PANEL) /* a copy of constant length is a few instructions */
                memcpy(state + j * dv + col, S + col * dk + j * RUNG_PANEL, RUNG_PANEL * sizeof *S);
            else
                memcpy(state + j * dv + col, S + col * dk + j * RUNG_PANEL, (dv - col) * sizeof *S);
}

void rung_chunk_fade(float *S, const float *a, bool per_row, size_t dk, size_t dv)
{
    for (size_t col = 0; col < dv; col += RUNG_PANEL)
        rung_chunk_kernels_get()->fade_rows(S + col * dk, RUNG_PANEL, a, per_row, dk, RUNG_PANEL);
}
