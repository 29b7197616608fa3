/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What a chunk of tokens reads from a state and what it leaves there, compiled once per instruction set. A tile of
 * outputs, or of the state, stays in registers from its first term to its last, so that nothing is stored between the
 * products, the decays and the divisor. Every element is one chain of fused multiply-adds, as in small_isa.c, and the
 * chain of an output ends with the group of STEP tokens of its row for every instruction set.
 */
#include "chunk_table.h"
#include "errand.h"
#include "small_tile.h"

#include <assert.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

enum { STEP = 8, WHOLE = 16, C = RUNG_CHUNK };
_Static_assert(RUNG_PANEL % TILE_COLS == 0 && STEP % ROWS == 0, "panels and steps are cut into whole tiles");

/* Steps of the inner index between two rows that are asked for. */
enum { EVERY = 6 };

/* sum_r += the sum over k < inner of x[r x_row + k x_inner] w_k. */
INLINE void add_products(lanes sum[][VECTORS], errand *e, const float *x, size_t x_row, size_t x_inner, const float *w,
                         size_t inner, size_t rows, size_t vectors, size_t last)
{
    lanes column[VECTORS];
    for (size_t k = 0; k < inner; k++, x += x_inner, w += RUNG_PANEL) {
        if (k % EVERY == 0) ask_for_row(e);
        for (size_t v = 0; v < vectors; v++) column[v] = load_first(w + v * LANES, vectors, last);
        for (size_t r = 0; r < rows; r++) {
            lanes factor = everywhere(x[r * x_row]);
            for (size_t v = 0; v < vectors; v++) sum[r][v] = multiply_add(factor, column[v], sum[r][v]);
        }
    }
}

INLINE void scale(lanes sum[][VECTORS], const float *a, size_t step, size_t rows, size_t vectors)
{
    for (size_t r = 0; r < rows; r++) {
        lanes factor = everywhere(a[r * step]);
        for (size_t v = 0; v < vectors; v++) sum[r][v] = times(sum[r][v], factor);
    }
}

INLINE const float *panel_at(const float *panels, size_t rows, size_t col)
{
    return panels + col / RUNG_PANEL * RUNG_PANEL * rows + col % RUNG_PANEL;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Values that row `row` of the pairs meets. */
INLINE size_t values_met(const rung_chunk_read *p, size_t row)
{
    const size_t end = row / STEP * STEP + STEP;
    return p->inner ? p->inner : end < p->n ? end : p->n;
}

/* Adds to `odd` the difference of every output with itself, which is 0 only if the output is finite. */
INLINE void read_tile(const rung_chunk_read *p, lanes *odd, errand *e, size_t row, size_t col, size_t rows,
                      size_t vectors, size_t last)
{
    lanes sum[ROWS][VECTORS];
    float *o = p->o + row * p->o_row + col;
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++) sum[r][v] = everywhere(0);
    add_products(sum, e, p->x + row * p->x_row, p->x_row, 1, panel_at(p->S, p->dk, col), p->dk, rows, vectors, last);
    if (p->before) scale(sum, p->before + row, 1, rows, vectors);
    add_products(sum, e, p->pairs + row * C, C, 1, panel_at(p->values, p->value_rows, col), values_met(p, row), rows,
                 vectors, last);
    if (p->after) scale(sum, p->after + row, 1, rows, vectors);
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++) {
            *odd = plus(*odd, minus(sum[r][v], sum[r][v]));
            store_first(o + r * p->o_row + v * LANES, sum[r][v], vectors, last);
        }
}

INLINE void read_strip(const rung_chunk_read *p, lanes *odd, errand *e, size_t col, size_t vectors, size_t last)
{
    size_t row = 0;
    for (; row + ROWS <= p->n; row += ROWS) read_tile(p, odd, e, row, col, ROWS, vectors, last);
    for (; row < p->n; row++) read_tile(p, odd, e, row, col, 1, vectors, last);
}

bool ISA(rung_read_state)(const rung_chunk_read *whole)
{
    const rung_chunk_read p = *whole;
    errand e = errand_new(whole->next);
    lanes odd = everywhere(0);
    float each[LANES], sum = 0;
    assert(p.n <= C && p.inner <= C);
    for (size_t col = 0; col < p.dv;) {
        const size_t left = p.dv - col;
        if (left >= TILE_COLS) {
            read_strip(&p, &odd, &e, col, VECTORS, LANES);
            col += TILE_COLS;
        } else {
            read_strip(&p, &odd, &e, col, 1, left < LANES ? left : LANES);
            col += LANES;
        }
    }
    store(each, odd);
    for (size_t l = 0; l < LANES; l++) sum += each[l];
    return sum == 0;
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

INLINE void leave_tile(const rung_chunk_leave *p, errand *e, size_t row, size_t col, size_t rows, size_t vectors)
{
    lanes sum[ROWS][VECTORS];
    const float *values = panel_at(p->values, p->value_rows, col);
    float *S = p->S + col / RUNG_PANEL * RUNG_PANEL * p->dk + col % RUNG_PANEL + row * RUNG_PANEL;
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++) sum[r][v] = load(S + r * RUNG_PANEL + v * LANES);
    if (p->fade) {
        scale(sum, p->fade + row * p->fade_step, p->fade_step, rows, vectors);
        for (size_t r = 0; r < rows; r++)
            for (size_t v = 0; v < vectors; v++) sum[r][v] = zero_tiny(sum[r][v], 0x1p-102f);
    }
    if (p->x_row == 1)
        add_products(sum, e, p->x + row, 1, p->x_inner, values, p->n, rows, vectors, LANES);
    else
        add_products(sum, e, p->x + row * p->x_row, p->x_row, 1, values, p->n, rows, vectors, LANES);
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++) store(S + r * RUNG_PANEL + v * LANES, sum[r][v]);
}

INLINE void leave_strip(const rung_chunk_leave *p, errand *e, size_t col, size_t vectors)
{
    size_t row = 0;
    for (; row + ROWS <= p->dk; row += ROWS) leave_tile(p, e, row, col, ROWS, vectors);
    for (; row < p->dk; row++) leave_tile(p, e, row, col, 1, vectors);
}

/* Vectors of 16 columns are whole in a panel, those that only fill it up are not touched. */
void ISA(rung_leave_state)(const rung_chunk_leave *whole)
{
    const rung_chunk_leave p = *whole;
    const size_t end = (p.dv + WHOLE - 1) / WHOLE * WHOLE;
    errand e = errand_new(whole->next);
    assert(p.x_row == 1 || p.x_inner == 1);
    for (size_t col = 0; col < end; col += TILE_COLS)
        if (end - col >= TILE_COLS)
            leave_strip(&p, &e, col, VECTORS);
        else
            leave_strip(&p, &e, col, 1);
}
