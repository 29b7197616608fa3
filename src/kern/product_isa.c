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

/* ROWS x VECTORS sums, VECTORS vectors of a panel and one factor fit into the registers: 32 of 64 bytes, 16 of
 * 32, 32 of 16. */
#if defined(__AVX512F__)
enum { ROWS = 14, VECTORS = 2 };
#elif defined(__AVX2__)
enum { ROWS = 6, VECTORS = 2 };
#elif defined(RUNG_NEON)
enum { ROWS = 6, VECTORS = 4 };
#else
enum { ROWS = 4, VECTORS = 4 };
#endif

enum { TILE_COLS = LANES * VECTORS, CACHE_LINE = 16 };
_Static_assert(RUNG_PANEL % TILE_COLS == 0, "a panel is cut into whole tiles");

/* ---- one tile ---------------------------------------------------------------------------------------------------- */

/* A tile begins at (row, col) of y, the next one at (next_row, next_col). */
typedef struct corner {
    size_t row, col, next_row, next_col;
} corner;

/* How x lies in memory, as a constant for the compiler. */
typedef enum layout {
    IN_ROWS,    /* x_inner is 1 */
    IN_COLUMNS, /* x_row is 1 */
    ANYHOW,
} layout;

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

/* Without a bias `rest` is added to start. */
INLINE void first_values(lanes sum[][VECTORS], const rung_product *p, corner c, float rest, size_t rows, size_t vectors,
                         size_t last)
{
    lanes bias[VECTORS];
    for (size_t v = 0; v < vectors; v++)
        bias[v] = p->bias ? load_row(p->bias + c.col, v, vectors, last) : everywhere(rest);
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++) sum[r][v] = bias[v];
    if (p->start) {
        const float *start = p->start + c.row * p->start_row + c.col;
        for (size_t r = 0; r < rows; r++)
            for (size_t v = 0; v < vectors; v++)
                sum[r][v] = plus(load_row(start + r * p->start_row, v, vectors, last), sum[r][v]);
    }
}

INLINE void last_values(const rung_product *p, corner c, lanes sum[][VECTORS], size_t rows, size_t vectors, size_t last)
{
    float *y = p->y + c.row * p->y_row + c.col;
    if (p->factor) {
        const float *factor = p->factor + c.row * p->y_row + c.col;
        for (size_t r = 0; r < rows; r++)
            for (size_t v = 0; v < vectors; v++)
                sum[r][v] = times(sum[r][v], load_row(factor + r * p->y_row, v, vectors, last));
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++) store_row(y + r * p->y_row, sum[r][v], v, vectors, last);
}

/* While a tile is computed the memory of the next one is prefetched: its rows of y and of what is added or multiplied,
 * and its rows of x, one line per step. (If x is a transpose its lines are read anyway.) w is read in order, so the row
 * AHEAD rows later is needed soon, in this tile or the next. */
enum { AHEAD = 24 };

INLINE void fetch_rows(const float *from, size_t row, size_t rows, size_t vectors)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < vectors * LANES; i += CACHE_LINE) __builtin_prefetch(from + r * row + i);
}

INLINE void fetch_next(const rung_product *p, corner c, size_t rows, size_t vectors)
{
    const float *y = p->y + c.next_row * p->y_row + c.next_col;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < vectors * LANES; i += CACHE_LINE) __builtin_prefetch(y + r * p->y_row + i, 1);
    if (p->start && p->start != p->y)
        fetch_rows(p->start + c.next_row * p->start_row + c.next_col, p->start_row, rows, vectors);
    if (p->factor) fetch_rows(p->factor + c.next_row * p->y_row + c.next_col, p->y_row, rows, vectors);
}

INLINE void load_columns(lanes *column, const float *w, size_t w_row, size_t vectors, size_t last)
{
    for (size_t i = 0; i < vectors * LANES; i += CACHE_LINE) __builtin_prefetch(w + AHEAD * w_row + i);
    for (size_t v = 0; v < vectors; v++) column[v] = load_row(w, v, vectors, last);
}

INLINE void add_row(lanes *sum, float x, const lanes *column, size_t vectors)
{
    lanes factor = everywhere(x);
    for (size_t v = 0; v < vectors; v++) sum[v] = multiply_add(factor, column[v], sum[v]);
}

/* One pointer for five rows: the others are at -2, -1, 1 and 2 times x_row from it, which an address can say. With an
 * offset for each row there are not enough registers. The compiler must not see through this and make offsets again. */
enum { NEAR = 5, GROUPS = (ROWS + NEAR - 1) / NEAR };
#define KEEP_POINTER(p) __asm__("" : "+r"(p))

INLINE size_t middle_of(size_t group, size_t rows)
{
    return NEAR * group + NEAR / 2 < rows ? NEAR * group + NEAR / 2 : rows - 1;
}

INLINE void add_products_in_rows(lanes sum[][VECTORS], const rung_product *p, const float *x, const float *w,
                                 size_t w_row, size_t rows, size_t vectors, size_t last)
{
    const float *middle[GROUPS], *next_x = x + rows * p->x_row;
    ptrdiff_t x_row = (ptrdiff_t)p->x_row;
    size_t groups = (rows + NEAR - 1) / NEAR;
    lanes column[VECTORS];
    for (size_t g = 0; g < groups; g++) middle[g] = x + middle_of(g, rows) * p->x_row;
    for (size_t k = 0; k < p->inner; k++, w += w_row) {
        __builtin_prefetch(next_x + k * CACHE_LINE);
        load_columns(column, w, w_row, vectors, last);
        for (size_t r = 0; r < rows; r++)
            add_row(sum[r], middle[r / NEAR][((ptrdiff_t)r - (ptrdiff_t)middle_of(r / NEAR, rows)) * x_row], column,
                    vectors);
        for (size_t g = 0; g < groups; g++) {
            middle[g]++;
            KEEP_POINTER(middle[g]);
        }
    }
}

INLINE void add_products(lanes sum[][VECTORS], const rung_product *p, const float *x, const float *w, size_t w_row,
                         size_t x_row, size_t rows, size_t vectors, size_t last)
{
    lanes column[VECTORS];
    for (size_t k = 0; k < p->inner; k++, x += p->x_inner, w += w_row) {
        load_columns(column, w, w_row, vectors, last);
        for (size_t r = 0; r < rows; r++) add_row(sum[r], x[r * x_row], column, vectors);
    }
}

/* The first column of the tile in w. */
INLINE const float *strip_of(const rung_product *p, size_t col)
{
    size_t panel_rows = p->panel_rows ? p->panel_rows : p->inner;
    return p->panels + (p->w_row ? col : col / RUNG_PANEL * RUNG_PANEL * panel_rows + col % RUNG_PANEL);
}

/* At most ROWS x VECTORS sums. */
INLINE void tile(const rung_product *p, corner c, float rest, layout x_lies, size_t rows, size_t vectors, size_t last)
{
    lanes sum[ROWS][VECTORS];
    const float *x = p->x + c.row * p->x_row, *w = strip_of(p, c.col);
    size_t w_row = p->w_row ? p->w_row : RUNG_PANEL;
    first_values(sum, p, c, rest, rows, vectors, last);
    fetch_next(p, c, rows, vectors);
    if (x_lies == IN_ROWS)
        add_products_in_rows(sum, p, x, w, w_row, rows, vectors, last);
    else
        add_products(sum, p, x, w, w_row, x_lies == IN_COLUMNS ? 1 : p->x_row, rows, vectors, last);
    last_values(p, c, sum, rows, vectors, last);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* `down` x `across` tiles of `rows` rows each, from (row, col) on; `rest` is added to start if there is no bias. */
typedef struct tiles {
    size_t row, col, down, across, rows;
    float rest;
} tiles;

/* Goes through them row by row: rows of y are then written from end to end, which suits the prefetcher of the machine,
 * and panels come in order from the second-level cache. The product is copied, so that the compiler need not read it
 * again after every store. */
INLINE void fill(const rung_product *product, const tiles *t, layout x_lies, size_t rows, size_t vectors, size_t last)
{
    const rung_product p = *product;
    for (size_t i = 0; i < t->down; i++)
        for (size_t j = 0; j < t->across; j++) {
            size_t row = t->row + i * rows, col = t->col + j * TILE_COLS;
            bool is_last = j + 1 == t->across;
            corner at = {row, col, is_last ? smaller(row + rows, p.rows - 1) : row, is_last ? t->col : col + TILE_COLS};
            tile(&p, at, t->rest, x_lies, rows, vectors, last);
        }
}

/* The number of rows must be a constant for the compiler; otherwise the sums are not in registers. */
INLINE void fill_rows(const rung_product *p, const tiles *t, layout x_lies, size_t vectors, size_t last)
{
    switch (t->rows) {
#define CASE(n)                                                                                                        \
    case n:                                                                                                            \
        if (n <= ROWS) fill(p, t, x_lies, n <= ROWS ? n : 1, vectors, last);                                           \
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

static void fill_wide(const rung_product *p, const tiles *t)
{
    fill_rows(p, t, IN_ROWS, VECTORS, LANES);
}

static void fill_wide_flipped(const rung_product *p, const tiles *t)
{
    fill_rows(p, t, IN_COLUMNS, VECTORS, LANES);
}

/* For fewer columns than a tile has: computes only the vectors that are needed, the last one in part. */
static void fill_narrow(const rung_product *p, const tiles *t, size_t cols)
{
    size_t vectors = (cols + LANES - 1) / LANES, last = cols - (vectors - 1) * LANES;
    if (vectors == 1)
        fill_rows(p, t, ANYHOW, 1, last);
    else if (vectors == 2)
        fill_rows(p, t, ANYHOW, 2, last);
    else
        fill_rows(p, t, ANYHOW, vectors < VECTORS ? vectors : VECTORS, last);
}

/* All columns of these rows. */
static void fill_columns(const rung_product *p, tiles t)
{
    size_t whole = p->x_inner == 1 || p->x_row == 1 ? p->cols / TILE_COLS : 0;
    if (t.down == 0 || t.rows == 0) return;
    t.across = whole;
    if (whole && p->x_inner == 1)
        fill_wide(p, &t);
    else if (whole)
        fill_wide_flipped(p, &t);
    t.across = 1;
    for (t.col = whole * TILE_COLS; t.col < p->cols; t.col += TILE_COLS)
        fill_narrow(p, &t, smaller(TILE_COLS, p->cols - t.col));
}

/* Rows of tiles, as equal as possible: the first `more` of `count` have a row more than the others. */
typedef struct parts {
    size_t count, rows, more;
} parts;

static parts parts_of(const rung_product *p)
{
    size_t count = (p->rows + ROWS - 1) / ROWS;
    return (parts){count, count ? p->rows / count : 0, count ? p->rows % count : 0};
}

/* ---- a long inner index ------------------------------------------------------------------------------------------ */

/* It is cut into blocks of DEEP. Then the rows of w that are in use stay in the second-level cache. The rows of x that
 * are in use are copied together: where they are a power of two apart they share few sets of the first cache, and every
 * number would come from the second. Between blocks the sums are in y; adding -0 changes none of them. */
enum { DEEP = 256, DEEP_ROW = DEEP + CACHE_LINE };

static const float *at_row(const float *start, size_t rows, size_t row)
{
    return start ? start + rows * row : NULL;
}

/* Rows of tiles from `row` on, for the block from `first` on; its x is `x`. */
static rung_product block_of(const rung_product *p, size_t row, size_t first, const float *x)
{
    size_t inner = smaller(DEEP, p->inner - first);
    bool is_last = first + inner == p->inner;
    return (rung_product){.y = p->y + row * p->y_row,
                          .x = x,
                          .panels = p->panels + first * (p->w_row ? p->w_row : RUNG_PANEL),
                          .start = first ? p->y + row * p->y_row : at_row(p->start, row, p->start_row),
                          .bias = first ? NULL : p->bias,
                          .factor = is_last ? at_row(p->factor, row, p->y_row) : NULL,
                          .rows = p->rows - row,
                          .cols = p->cols,
                          .inner = inner,
                          .y_row = p->y_row,
                          .x_row = DEEP_ROW,
                          .x_inner = 1,
                          .w_row = p->w_row,
                          .start_row = first ? p->y_row : p->start_row,
                          .panel_rows = p->panel_rows ? p->panel_rows : p->inner};
}

static void multiply_deep(const rung_product *p)
{
    _Alignas(64) float x[ROWS * DEEP_ROW];
    parts cut = parts_of(p);
    for (size_t first = 0; first < p->inner; first += DEEP)
        for (size_t i = 0, row = 0, rows; i < cut.count; i++, row += rows) {
            rung_product block = block_of(p, row, first, x);
            rows = cut.rows + (i < cut.more);
            for (size_t r = 0; r < rows; r++)
                memcpy(x + r * DEEP_ROW, p->x + (row + r) * p->x_row + first, block.inner * sizeof *x);
            fill_columns(&block, (tiles){.down = 1, .rows = rows, .rest = first ? -0.0f : 0});
        }
}

void ISA(rung_multiply)(const rung_product *p)
{
    assert(p->rows <= 1 || p->y_row >= p->cols);
    assert(p->w_row != 0 || p->panel_rows == 0 || p->panel_rows >= p->inner);
    if (p->x_inner == 1 && p->inner > 2 * DEEP && p->rows > ROWS) {
        multiply_deep(p);
        return;
    }
    parts cut = parts_of(p);
    fill_columns(p, (tiles){.down = cut.more, .rows = cut.rows + 1});
    fill_columns(p, (tiles){.row = cut.more * (cut.rows + 1), .down = cut.count - cut.more, .rows = cut.rows});
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
