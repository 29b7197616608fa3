/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * y += x w in fp32, compiled once per instruction set. Columns of y are lanes and its rows are kept in registers, so every
 * element is one plain sum over the inner index from 0 upwards, starting from what y held: its bytes depend neither on
 * the width of a register nor on the size of a tile.
 */
#include "table.h"

#include <string.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

/* ROWS x VECTORS sums, VECTORS columns of w and one factor fit into the registers: 32 of 64 bytes, 16 of 32, 16 of 16. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, ROWS = 6, VECTORS = 4 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32, ROWS = 4, VECTORS = 2 };
#else
enum { VECTOR_BYTES = 16, ROWS = 4, VECTORS = 2 };
#endif

/* A panel of w of DEPTH rows and VECTORS vectors stays in the first-level cache while all rows of x pass. */
enum { LANES = VECTOR_BYTES / 4, DEPTH = 128 };

typedef float lanes __attribute__((vector_size(VECTOR_BYTES)));

/* One product: the strides of x tell a matrix from its transpose. */
typedef struct product {
    float *y;
    const float *x, *w;
    size_t cols, x_row, x_inner;
} product;

static inline lanes load(const float *from)
{
    lanes v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Vectors of eight and four for the columns that fill no wider one. */
typedef float lanes8 __attribute__((vector_size(32)));
typedef float lanes4 __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) void tile(const product *p, size_t row, size_t col, size_t from, size_t to,
                                                       size_t rows, size_t vectors)
{
    lanes sum[ROWS][VECTORS];
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++) sum[r][v] = load(p->y + (row + r) * p->cols + col + v * LANES);
    for (size_t k = from; k < to; k++) {
        const float *w = p->w + k * p->cols + col, *x = p->x + row * p->x_row + k * p->x_inner;
        for (size_t v = 0; v < vectors; v++) {
            lanes column = load(w + v * LANES);
            for (size_t r = 0; r < rows; r++) sum[r][v] += x[r * p->x_row] * column;
        }
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++)
            memcpy(p->y + (row + r) * p->cols + col + v * LANES, &sum[r][v], sizeof sum[r][v]);
}

#define STRIP(name, type)                                                                                              \
    static inline __attribute__((always_inline)) void name(const product *p, size_t row, size_t col, size_t from,      \
                                                           size_t to, size_t rows)                                     \
    {                                                                                                                  \
        type sum[ROWS], column;                                                                                        \
        for (size_t r = 0; r < rows; r++) memcpy(&sum[r], p->y + (row + r) * p->cols + col, sizeof column);            \
        for (size_t k = from; k < to; k++) {                                                                           \
            const float *x = p->x + row * p->x_row + k * p->x_inner;                                                   \
            memcpy(&column, p->w + k * p->cols + col, sizeof column);                                                  \
            for (size_t r = 0; r < rows; r++) sum[r] += x[r * p->x_row] * column;                                      \
        }                                                                                                              \
        for (size_t r = 0; r < rows; r++) memcpy(p->y + (row + r) * p->cols + col, &sum[r], sizeof column);            \
    }
STRIP(strip8, lanes8)
STRIP(strip4, lanes4)

/* Columns that fill no vector at all. */
static void narrow(const product *p, size_t row, size_t col, size_t from, size_t to)
{
    float *y = p->y + row * p->cols;
    for (size_t k = from; k < to; k++) {
        float x = p->x[row * p->x_row + k * p->x_inner];
        for (size_t c = col; c < p->cols; c++) y[c] += x * p->w[k * p->cols + c];
    }
}

static inline __attribute__((always_inline)) void columns(const product *p, size_t row, size_t from, size_t to,
                                                          size_t rows)
{
    size_t col = 0;
    for (; col + VECTORS * LANES <= p->cols; col += VECTORS * LANES) tile(p, row, col, from, to, rows, VECTORS);
    for (; col + LANES <= p->cols; col += LANES) tile(p, row, col, from, to, rows, 1);
    for (; LANES > 8 && col + 8 <= p->cols; col += 8) strip8(p, row, col, from, to, rows);
    for (; LANES > 4 && col + 4 <= p->cols; col += 4) strip4(p, row, col, from, to, rows);
    for (size_t r = 0; col < p->cols && r < rows; r++) narrow(p, row + r, col, from, to);
}

void ISA(rung_gemm)(float *restrict y, const float *restrict x, const float *restrict w, size_t rows, size_t cols,
                    size_t inner, size_t x_row, size_t x_inner)
{
    const product p = {y, x, w, cols, x_row, x_inner};
    for (size_t from = 0; from < inner; from += DEPTH) {
        size_t to = inner - from < DEPTH ? inner : from + DEPTH, row = 0;
        for (; row + ROWS <= rows; row += ROWS) columns(&p, row, from, to, ROWS);
        for (; row < rows; row++) columns(&p, row, from, to, 1);
    }
}
