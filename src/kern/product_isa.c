/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Matrix products in fp32, compiled once per instruction set. The second factor comes in panels of RUNG_PANEL columns,
 * so that it is read in order; the first is read where it lies, one number for a whole row of lanes. Columns of y are
 * lanes, its rows stay in registers, and every element is one chain of fused multiply-adds over the inner index from 0
 * upwards: its bytes depend neither on the width of a register nor on the size of a tile.
 */
#include "table.h"

#include "kern_lanes.h"

#include <assert.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

/* ROWS x VECTORS sums, VECTORS vectors of a panel and one factor fit into the registers: 32 of 64 bytes, 16 of 32. */
#if defined(__AVX512F__)
enum { ROWS = 14, VECTORS = 2 };
#elif defined(__AVX2__)
enum { ROWS = 6, VECTORS = 2 };
#else
enum { ROWS = 4, VECTORS = 4 };
#endif

enum { TILE_COLS = LANES * VECTORS, CACHE_LINE = 16 };
_Static_assert(RUNG_PANEL % TILE_COLS == 0, "a panel is cut into whole tiles");

/* ---- one tile ---------------------------------------------------------------------------------------------------- */

/* At most ROWS x VECTORS sums. w points at the first column of the tile, next_y at the first element of the next
 * tile. */
typedef struct place {
    float *y;
    const float *next_y, *x, *w, *start, *bias, *factor;
    size_t y_row, x_row, x_inner, w_row, start_row, inner;
} place;

/* The last vector of a row has `last` elements of y. The elements to the right of them must not be touched. */
INLINE lanes load_row(const float *row, size_t vector, size_t vectors, size_t last)
{
    return vector + 1 < vectors || last == LANES ? load(row + vector * LANES) : load_some(row + vector * LANES, last);
}

INLINE void store_row(float *row, lanes v, size_t vector, size_t vectors, size_t last)
{
    if (vector + 1 < vectors || last == LANES)
        store(row + vector * LANES, v);
    else
        store_some(row + vector * LANES, v, last);
}

INLINE lanes first_value(const place *p, size_t row, size_t vector, size_t vectors, size_t last)
{
    lanes bias = p->bias ? load_row(p->bias, vector, vectors, last) : everywhere(0);
    return p->start ? plus(load_row(p->start + row * p->start_row, vector, vectors, last), bias) : bias;
}

INLINE lanes last_value(const place *p, lanes sum, size_t row, size_t vector, size_t vectors, size_t last)
{
    return p->factor ? times(sum, load_row(p->factor + row * p->y_row, vector, vectors, last)) : sum;
}

/* While a tile is computed the memory of the next one is prefetched: its rows of y, and its rows of x, one line per
 * step. (If x is a transpose its lines are read anyway.) w is read in order, so the row AHEAD rows later is needed
 * soon, in this tile or the next. */
enum { AHEAD = 24 };

INLINE void fetch_y(const place *p, size_t rows, size_t vectors)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < vectors * LANES; c += CACHE_LINE) __builtin_prefetch(p->next_y + r * p->y_row + c, 1);
}

/* x_row and x_inner are those of p. The caller passes them again, so that the compiler knows which of them is 1. */
INLINE void tile(const place *p, size_t rows, size_t vectors, size_t last, size_t x_row, size_t x_inner)
{
    lanes sum[ROWS][VECTORS], column[VECTORS];
    const float *x = p->x, *w = p->w, *next_x = x + rows * x_row;
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++) sum[r][v] = first_value(p, r, v, vectors, last);
    fetch_y(p, rows, vectors);
    for (size_t k = 0; k < p->inner; k++, x += x_inner, w += p->w_row) {
        if (x_inner == 1) __builtin_prefetch(next_x + k * CACHE_LINE);
        for (size_t c = 0; c < vectors * LANES; c += CACHE_LINE) __builtin_prefetch(w + AHEAD * p->w_row + c);
        for (size_t v = 0; v < vectors; v++) column[v] = load_row(w, v, vectors, last);
        for (size_t r = 0; r < rows; r++) {
            lanes factor = everywhere(x[r * x_row]);
            for (size_t v = 0; v < vectors; v++) sum[r][v] = multiply_add(factor, column[v], sum[r][v]);
        }
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++)
            store_row(p->y + r * p->y_row, last_value(p, sum[r][v], r, v, vectors, last), v, vectors, last);
}

/* The number of rows must be a constant for the compiler; otherwise the sums are not in registers. */
INLINE void tile_of(const place *p, size_t rows, size_t vectors, size_t last, size_t x_row, size_t x_inner)
{
    switch (rows) {
#define CASE(n)                                                                                                        \
    case n:                                                                                                            \
        if (n <= ROWS) tile(p, n <= ROWS ? n : 1, vectors, last, x_row, x_inner);                                      \
        break;
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
        CASE(5)
        CASE(6)
        CASE(7)
        CASE(8)
        CASE(9)
        CASE(10)
        CASE(11)
        CASE(12)
        CASE(13)
        CASE(14)
#undef CASE
    }
}

static void wide_tile(const place *p, size_t rows)
{
    tile_of(p, rows, VECTORS, LANES, p->x_row, 1);
}

static void wide_flipped_tile(const place *p, size_t rows)
{
    tile_of(p, rows, VECTORS, LANES, 1, p->x_inner);
}

/* For fewer columns than a tile has: computes only the vectors that are needed, the last one in part. */
static void narrow_tile(const place *p, size_t rows, size_t cols)
{
    size_t vectors = (cols + LANES - 1) / LANES, last = cols - (vectors - 1) * LANES;
    if (vectors == 1)
        tile_of(p, rows, 1, last, p->x_row, p->x_inner);
    else if (vectors == 2)
        tile_of(p, rows, 2, last, p->x_row, p->x_inner);
    else
        tile_of(p, rows, vectors < VECTORS ? vectors : VECTORS, last, p->x_row, p->x_inner);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void fill(const rung_product *p, size_t row, size_t col)
{
    size_t panel_rows = p->panel_rows ? p->panel_rows : p->inner;
    size_t strip = p->w_row ? col : col / RUNG_PANEL * RUNG_PANEL * panel_rows + col % RUNG_PANEL;
    size_t rows = smaller(ROWS, p->rows - row), cols = smaller(TILE_COLS, p->cols - col);
    bool is_last = col + TILE_COLS >= p->cols; /* true: the next tile begins the next row of tiles */
    size_t next_row = is_last ? smaller(row + ROWS, p->rows - 1) : row;
    place at = {.y = p->y + row * p->y_row + col,
                .next_y = p->y + next_row * p->y_row + (is_last ? 0 : col + TILE_COLS),
                .x = p->x + row * p->x_row,
                .w = p->panels + strip,
                .start = p->start ? p->start + row * p->start_row + col : NULL,
                .bias = p->bias ? p->bias + col : NULL,
                .factor = p->factor ? p->factor + row * p->y_row + col : NULL,
                .y_row = p->y_row,
                .x_row = p->x_row,
                .x_inner = p->x_inner,
                .w_row = p->w_row ? p->w_row : RUNG_PANEL,
                .start_row = p->start_row,
                .inner = p->inner};
    if (cols == TILE_COLS && p->x_inner == 1)
        wide_tile(&at, rows);
    else if (cols == TILE_COLS && p->x_row == 1)
        wide_flipped_tile(&at, rows);
    else
        narrow_tile(&at, rows, cols);
}

/* Goes through the tiles row by row. Rows of y are then written from end to end, which suits the prefetcher of the
 * machine, and the panels come in order from the second-level cache. */
void ISA(rung_multiply)(const rung_product *p)
{
    assert(p->rows <= 1 || p->y_row >= p->cols);
    assert(p->w_row != 0 || p->panel_rows == 0 || p->panel_rows >= p->inner);
    for (size_t row = 0; row < p->rows; row += ROWS)
        for (size_t col = 0; col < p->cols; col += TILE_COLS) fill(p, row, col);
}

/* ---- panels ------------------------------------------------------------------------------------------------------ */

/* The elements of w that become rows from..to and columns first..last of a panel. */
typedef struct block {
    size_t from, to, first, last;
} block;

static void pack_plain(float *panel, const float *w, block b, size_t w_inner, size_t w_col)
{
    for (size_t k = b.from; k < b.to; k++)
        for (size_t c = b.first; c < b.last; c++) panel[k * RUNG_PANEL + c] = w[k * w_inner + c * w_col];
}

#if defined(__AVX2__)

enum { SIDE = 8 };

/* to[i][j] = from[j][i] for a square of eight; rows are to_row and from_row apart. */
INLINE void flip_square(float *to, size_t to_row, const float *from, size_t from_row)
{
    __m256 row[SIDE], pair[SIDE], four[SIDE];
    for (size_t i = 0; i < SIDE; i++) row[i] = _mm256_loadu_ps(from + i * from_row);
    for (size_t i = 0; i < SIDE; i += 2) {
        pair[i] = _mm256_unpacklo_ps(row[i], row[i + 1]);
        pair[i + 1] = _mm256_unpackhi_ps(row[i], row[i + 1]);
    }
    for (size_t i = 0; i < SIDE; i += 4)
        for (size_t j = 0; j < 2; j++) {
            four[i + 2 * j] = _mm256_shuffle_ps(pair[i + j], pair[i + j + 2], 0x44);
            four[i + 2 * j + 1] = _mm256_shuffle_ps(pair[i + j], pair[i + j + 2], 0xee);
        }
    for (size_t i = 0; i < SIDE / 2; i++) {
        _mm256_storeu_ps(to + i * to_row, _mm256_permute2f128_ps(four[i], four[i + 4], 0x20));
        _mm256_storeu_ps(to + (i + 4) * to_row, _mm256_permute2f128_ps(four[i], four[i + 4], 0x31));
    }
}

/* Makes the panel of a transpose: squares of eight, then the rest at the end of the rows and of the columns. */
static void pack_flipped(float *panel, const float *w, size_t inner, size_t cols, size_t w_col)
{
    size_t whole_inner = inner - inner % SIDE, whole_cols = cols - cols % SIDE;
    for (size_t c = 0; c < whole_cols; c += SIDE)
        for (size_t k = 0; k < whole_inner; k += SIDE)
            flip_square(panel + k * RUNG_PANEL + c, RUNG_PANEL, w + c * w_col + k, w_col);
    pack_plain(panel, w, (block){whole_inner, inner, 0, whole_cols}, 1, w_col);
    pack_plain(panel, w, (block){0, inner, whole_cols, cols}, 1, w_col);
}

#else

static void pack_flipped(float *panel, const float *w, size_t inner, size_t cols, size_t w_col)
{
    pack_plain(panel, w, (block){0, inner, 0, cols}, 1, w_col);
}

#endif

/* Copies one row and fills up with zeros. */
INLINE void pack_row(float *panel, const float *w, size_t cols)
{
    for (size_t c = 0; c < RUNG_PANEL; c += LANES) {
        size_t left = cols > c ? cols - c : 0;
        store(panel + c, left >= LANES ? load(w + c) : load_some(w + c, left));
    }
}

static void pack_panel(float *panel, const float *w, size_t inner, size_t cols, size_t w_inner, size_t w_col)
{
    if (w_col == 1) {
        for (size_t k = 0; k < inner; k++) pack_row(panel + k * RUNG_PANEL, w + k * w_inner, cols);
        return;
    }
    if (w_inner == 1)
        pack_flipped(panel, w, inner, cols, w_col);
    else
        pack_plain(panel, w, (block){0, inner, 0, cols}, w_inner, w_col);
    for (size_t k = 0; cols < RUNG_PANEL && k < inner; k++)
        for (size_t c = cols; c < RUNG_PANEL; c++) panel[k * RUNG_PANEL + c] = 0;
}

void ISA(rung_pack)(float *restrict panels, const float *restrict w, size_t inner, size_t cols, size_t w_inner,
                    size_t w_col)
{
    for (size_t col = 0; col < cols; col += RUNG_PANEL)
        pack_panel(panels + col * inner, w + col * w_col, inner, smaller(RUNG_PANEL, cols - col), w_inner, w_col);
}
