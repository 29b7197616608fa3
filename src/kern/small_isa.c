/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Products of the small matrices of a chunk, compiled once per instruction set: as product_isa.c, every element is one
 * chain of fused multiply-adds over the inner index from 0 upwards, so the bytes are the same. Here the tiles have 8
 * rows, which divide a chunk and its triangles without a rest, and nothing is asked inside a tile: these products are
 * so short that what surrounds their inner loop counts.
 */
#include "chunk_table.h"
#include "errand.h"
#include "small_tile.h"

#include <assert.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

enum { CACHE_LINE = 16, AHEAD = 24, EVERY = 4 };
_Static_assert(RUNG_PANEL % TILE_COLS == 0, "a panel is cut into whole tiles");

/* What is constant for the compiler: the number of rows and of vectors, which stride of x is 1, and whether y is added
 * to. */
INLINE void tile(const rung_product *p, errand *e, size_t row, size_t col, const float *w, size_t rows, size_t vectors,
                 size_t last, size_t x_row, size_t x_inner, bool adds)
{
    const size_t inner = p->inner, y_row = p->y_row, start_row = p->start_row;
    const size_t w_row = p->w_row ? p->w_row : RUNG_PANEL;
    const float *x = p->x + row * x_row, *start = p->start + row * start_row + col;
    float *y = p->y + row * y_row + col;
    lanes sum[ROWS][VECTORS], column[VECTORS];
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++)
            sum[r][v] = adds ? load_first(start + r * start_row + v * LANES, vectors, last) : everywhere(0);
    for (size_t k = 0; k < inner; k++, x += x_inner, w += w_row) {
        if (k % EVERY == 0) ask_for_row(e);
        for (size_t c = 0; c < vectors * LANES; c += CACHE_LINE) __builtin_prefetch(w + AHEAD * w_row + c);
        for (size_t v = 0; v < vectors; v++) column[v] = load_first(w + v * LANES, vectors, last);
        for (size_t r = 0; r < rows; r++) {
            lanes factor = everywhere(x[r * x_row]);
            for (size_t v = 0; v < vectors; v++) sum[r][v] = multiply_add(factor, column[v], sum[r][v]);
        }
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++) store_first(y + r * y_row + v * LANES, sum[r][v], vectors, last);
}

/* All rows of some columns. */
INLINE void strip(const rung_product *p, errand *e, size_t col, const float *w, size_t vectors, size_t last,
                  size_t x_row, size_t x_inner, bool adds)
{
    size_t row = 0;
    for (; row + ROWS <= p->rows; row += ROWS) tile(p, e, row, col, w, ROWS, vectors, last, x_row, x_inner, adds);
    for (; row + 2 <= p->rows; row += 2) tile(p, e, row, col, w, 2, vectors, last, x_row, x_inner, adds);
    for (; row < p->rows; row++) tile(p, e, row, col, w, 1, vectors, last, x_row, x_inner, adds);
}

INLINE void strips(const rung_product *p, size_t x_row, size_t x_inner, bool adds)
{
    const size_t panel_rows = p->panel_rows ? p->panel_rows : p->inner;
    errand e = errand_new(p->next);
    for (size_t col = 0; col < p->cols;) {
        const float *w = p->panels + (p->w_row ? col : col / RUNG_PANEL * RUNG_PANEL * panel_rows + col % RUNG_PANEL);
        const size_t left = p->cols - col;
        if (left >= TILE_COLS) {
            strip(p, &e, col, w, VECTORS, LANES, x_row, x_inner, adds);
            col += TILE_COLS;
        } else {
            strip(p, &e, col, w, 1, left < LANES ? left : LANES, x_row, x_inner, adds);
            col += LANES;
        }
    }
}

/* A copy, so that the compiler knows that no store changes it. */
void ISA(rung_small_product)(const rung_product *whole)
{
    const rung_product p = *whole;
    assert(!p.bias && !p.factor && (p.x_inner == 1 || p.x_row == 1));
    if (p.x_inner == 1 && p.start)
        strips(&p, p.x_row, 1, true);
    else if (p.x_inner == 1)
        strips(&p, p.x_row, 1, false);
    else if (p.start)
        strips(&p, 1, p.x_inner, true);
    else
        strips(&p, 1, p.x_inner, false);
}
