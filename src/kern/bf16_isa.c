/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Matrix products of bf16 numbers with sums in fp32, compiled once per instruction set and once more for AVX512_BF16,
 * whose instruction VDPBF16PS adds two products to a sum. Its documentation says how: the product of the odd elements
 * first, then that of the even ones, each by a fused multiply-add that rounds to nearest even; numbers below 2^-126
 * are 0, as operands and as results. The reference does the same in plain C. AVX2 and AVX-512 do it by two
 * multiply-adds, in a mode of the processor in which such numbers are 0.
 */
/* There is no version for NEON: its lanes would do what plain C does here. */
#undef RUNG_NEON
#include "bf16_table.h"

#include "kern_lanes.h"

#include <assert.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)
#define TEXT_(x)             #x
#define TEXT(x)              TEXT_(x)

/* ROWS x VECTORS sums fit into the registers, beside the words of a panel and one factor; and so do the halves of these
 * where an instruction takes single numbers. */
#if defined(__AVX512BF16__)
enum { ROWS = 14, VECTORS = 2 };
#elif defined(__AVX512F__)
enum { ROWS = 12, VECTORS = 2 };
#elif defined(__AVX2__)
enum { ROWS = 4, VECTORS = 2 };
#else
enum { ROWS = 4, VECTORS = 4 };
#endif

enum { TILE_COLS = LANES * VECTORS, CACHE_LINE = 16 };
_Static_assert(RUNG_PANEL % TILE_COLS == 0, "a panel is cut into whole tiles");

/* ---- words of two numbers ---------------------------------------------------------------------------------------- */

#define ODD UINT32_C(0xffff0000)

#if defined(__AVX512F__)

typedef __m512i words;

INLINE words load_words(const uint32_t *from)
{
    return _mm512_loadu_si512(from);
}

INLINE words load_some_words(const uint32_t *from, size_t n)
{
    return _mm512_maskz_loadu_epi32((__mmask16)((1u << n) - 1), from);
}

INLINE words word_everywhere(uint32_t x)
{
    return _mm512_set1_epi32((int)x);
}

#if defined(__AVX512BF16__)
INLINE lanes add_pair(lanes sum, words x, words w)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)w);
}
#else
INLINE lanes odd_of(words x)
{
    return _mm512_castsi512_ps(_mm512_and_si512(x, _mm512_set1_epi32((int)ODD)));
}

INLINE lanes even_of(words x)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(x, 16));
}
#endif

#elif defined(__AVX2__)

typedef __m256i words;

INLINE words load_words(const uint32_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

INLINE words load_some_words(const uint32_t *from, size_t n)
{
    return _mm256_maskload_epi32((const int *)from, first_lanes(n));
}

INLINE words word_everywhere(uint32_t x)
{
    return _mm256_set1_epi32((int)x);
}

INLINE lanes odd_of(words x)
{
    return _mm256_castsi256_ps(_mm256_and_si256(x, _mm256_set1_epi32((int)ODD)));
}

INLINE lanes even_of(words x)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(x, 16));
}

#else

typedef uint32_t words;

INLINE words load_words(const uint32_t *from)
{
    return *from;
}

INLINE words load_some_words(const uint32_t *from, size_t n)
{
    return n ? *from : 0;
}

INLINE words word_everywhere(uint32_t x)
{
    return x;
}

INLINE lanes of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE lanes odd_of(words x)
{
    return of_bits(x & ODD);
}

INLINE lanes even_of(words x)
{
    return of_bits(x << 16);
}

#endif

/* ---- arithmetic in which numbers below 2^-126 are 0 -------------------------------------------------------------- */

#if defined(__AVX2__)

/* The processor does it, for the instructions that ask: round to nearest, tiny operands and results are 0, no traps. */
enum { MODE = 0x1f80 | 0x8000 | 0x0040 };
typedef unsigned mode;

INLINE mode enter(void)
{
    mode before = _mm_getcsr();
    _mm_setcsr(MODE);
    return before;
}

INLINE void leave(mode before)
{
    _mm_setcsr(before);
}

INLINE lanes add(lanes a, lanes b)
{
    return plus(a, b);
}

INLINE lanes scaled(lanes a, lanes b)
{
    return times(a, b);
}

#if !defined(__AVX512BF16__)
INLINE lanes add_pair(lanes sum, words x, words w)
{
    return multiply_add(even_of(x), even_of(w), multiply_add(odd_of(x), odd_of(w), sum));
}
#endif

#else

typedef int mode;

INLINE mode enter(void)
{
    return 0;
}

INLINE void leave(mode before)
{
    (void)before;
}

/* A result is tiny if it is below 2^-126 after it has been rounded to 24 bits as if there were smaller exponents. So
 * what lies less than half a unit below 2^-126 becomes 2^-126. `exact` is the result in double. Where it is near that
 * point, nothing has been rounded off: the operands have at most 24 bits, and the products of bf16 numbers 16. */
INLINE float settled(double exact, float rounded)
{
    return fabs(exact) < 0x1p-126 - 0x1p-151 ? (float)copysign(0, exact) : rounded;
}

INLINE float operand(float x)
{
    return settled(x, x);
}

INLINE lanes add(lanes a, lanes b)
{
    a = operand(a), b = operand(b);
    return settled((double)a + (double)b, a + b);
}

INLINE lanes scaled(lanes a, lanes b)
{
    a = operand(a), b = operand(b);
    return settled((double)a * (double)b, a * b);
}

INLINE float add_one(float sum, float x, float w)
{
    return settled((double)sum + (double)x * (double)w, fmaf(x, w, sum));
}

INLINE lanes add_pair(lanes sum, words x, words w)
{
    sum = add_one(operand(sum), operand(odd_of(x)), operand(odd_of(w)));
    return add_one(sum, operand(even_of(x)), operand(even_of(w)));
}

#endif

/* ---- one tile ---------------------------------------------------------------------------------------------------- */

/* At most ROWS x VECTORS sums. w points at the first column of the tile, next_y at the first element of the next
 * tile. */
typedef struct place {
    float *y;
    const float *next_y, *start, *bias, *factor;
    const uint32_t *x, *w;
    size_t y_row, x_row, x_pair, w_row, start_row, pairs;
} place;

/* The last vector of a row has `last` elements. What is to the right of them must not be touched. */
INLINE lanes load_row(const float *row, size_t vector, size_t vectors, size_t last)
{
    return vector + 1 < vectors || last == LANES ? load(row + vector * LANES) : load_some(row + vector * LANES, last);
}

INLINE words load_words_row(const uint32_t *row, size_t vector, size_t vectors, size_t last)
{
    return vector + 1 < vectors || last == LANES ? load_words(row + vector * LANES)
                                                 : load_some_words(row + vector * LANES, last);
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
    return p->start ? add(load_row(p->start + row * p->start_row, vector, vectors, last), bias) : bias;
}

INLINE lanes last_value(const place *p, lanes sum, size_t row, size_t vector, size_t vectors, size_t last)
{
    return p->factor ? scaled(sum, load_row(p->factor + row * p->y_row, vector, vectors, last)) : sum;
}

/* Memory is fetched ahead as in product_isa.c. */
enum { AHEAD = 24 };

INLINE void fetch_y(const place *p, size_t rows, size_t vectors)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < vectors * LANES; c += CACHE_LINE) __builtin_prefetch(p->next_y + r * p->y_row + c, 1);
}

/* x_row and x_pair are those of p. The caller passes them again, so that the compiler knows which of them is 1. */
INLINE void tile(const place *p, size_t rows, size_t vectors, size_t last, size_t x_row, size_t x_pair)
{
    lanes sum[ROWS][VECTORS];
    words column[VECTORS];
    const uint32_t *x = p->x, *w = p->w, *next_x = x + rows * x_row;
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++) sum[r][v] = first_value(p, r, v, vectors, last);
    fetch_y(p, rows, vectors);
    for (size_t k = 0; k < p->pairs; k++, x += x_pair, w += p->w_row) {
        if (x_pair == 1) __builtin_prefetch(next_x + k * CACHE_LINE);
        for (size_t c = 0; c < vectors * LANES; c += CACHE_LINE) __builtin_prefetch(w + AHEAD * p->w_row + c);
        for (size_t v = 0; v < vectors; v++) column[v] = load_words_row(w, v, vectors, last);
        for (size_t r = 0; r < rows; r++) {
            words factor = word_everywhere(x[r * x_row]);
            for (size_t v = 0; v < vectors; v++) sum[r][v] = add_pair(sum[r][v], factor, column[v]);
        }
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++)
            store_row(p->y + r * p->y_row, last_value(p, sum[r][v], r, v, vectors, last), v, vectors, last);
}

/* The number of rows must be a constant for the compiler; otherwise the sums are not in registers. */
INLINE void tile_of(const place *p, size_t rows, size_t vectors, size_t last, size_t x_row, size_t x_pair)
{
    if (rows == ROWS)
        tile(p, ROWS, vectors, last, x_row, x_pair);
    else if (rows == 8)
        tile(p, ROWS < 8 ? 1 : 8, vectors, last, x_row, x_pair);
    else if (rows == 4)
        tile(p, 4, vectors, last, x_row, x_pair);
    else if (rows == 2)
        tile(p, 2, vectors, last, x_row, x_pair);
    else
        tile(p, 1, vectors, last, x_row, x_pair);
}

/* The rows of the next tile. */
static size_t rows_of_tile(size_t left)
{
    return left >= ROWS ? ROWS : left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

static void wide_tile(const place *p, size_t rows)
{
    tile_of(p, rows, VECTORS, LANES, p->x_row, 1);
}

static void wide_flipped_tile(const place *p, size_t rows)
{
    tile_of(p, rows, VECTORS, LANES, 1, p->x_pair);
}

/* For fewer columns than a tile has: a vector at a time, the last one in part. */
static void narrow_tile(const place *p, size_t rows, size_t cols)
{
    place at = *p;
    for (size_t done = 0; done < cols; done += LANES) {
        tile_of(&at, rows, 1, cols - done < LANES ? cols - done : LANES, p->x_row, p->x_pair);
        at.y += LANES, at.next_y += LANES, at.w += LANES;
        if (at.start) at.start += LANES;
        if (at.bias) at.bias += LANES;
        if (at.factor) at.factor += LANES;
    }
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void fill(const rung_bf16_product *p, size_t row, size_t rows, size_t col)
{
    size_t strip = p->w_row ? col : col / RUNG_PANEL * RUNG_PANEL * p->pairs + col % RUNG_PANEL;
    size_t cols = p->cols - col < TILE_COLS ? p->cols - col : TILE_COLS;
    bool is_last = col + TILE_COLS >= p->cols; /* true: the next tile begins the next row of tiles */
    size_t next_row = !is_last ? row : row + rows < p->rows ? row + rows : row;
    place at = {.y = p->y + row * p->y_row + col,
                .next_y = p->y + next_row * p->y_row + (is_last ? 0 : col + TILE_COLS),
                .x = p->x + row * p->x_row,
                .w = p->w + strip,
                .start = p->start ? p->start + row * p->start_row + col : NULL,
                .bias = p->bias ? p->bias + col : NULL,
                .factor = p->factor ? p->factor + row * p->y_row + col : NULL,
                .y_row = p->y_row,
                .x_row = p->x_row,
                .x_pair = p->x_pair,
                .w_row = p->w_row ? p->w_row : RUNG_PANEL,
                .start_row = p->start_row,
                .pairs = p->pairs};
    if (cols == TILE_COLS && p->x_pair == 1)
        wide_tile(&at, rows);
    else if (cols == TILE_COLS && p->x_row == 1)
        wide_flipped_tile(&at, rows);
    else
        narrow_tile(&at, rows, cols);
}

static void __attribute__((noinline)) fill_all(const rung_bf16_product *p)
{
    for (size_t row = 0, rows; row < p->rows; row += rows) {
        rows = rows_of_tile(p->rows - row);
        for (size_t col = 0; col < p->cols; col += TILE_COLS) fill(p, row, rows, col);
    }
}

static void multiply(const rung_bf16_product *p)
{
    assert(p->rows <= 1 || p->y_row >= p->cols);
    mode before = enter();
    fill_all(p);
    leave(before);
}

/* ---- rounding to pairs ------------------------------------------------------------------------------------------- */

/* To nearest even. Below 2^-126 it is 0; a NaN stays one. */
INLINE uint32_t bf16_of(float x)
{
    uint32_t bits, rounded, quiet, zero;
    memcpy(&bits, &x, sizeof bits);
    uint32_t size = bits & 0x7fffffff;
    rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    quiet = bits >> 16 | 0x40;
    zero = bits >> 31 << 15;
    return size > 0x7f800000 ? quiet : size < 0x00800000 ? zero : rounded;
}

static void pair_rest(uint32_t *out, const float *x, size_t from, size_t n)
{
    for (size_t i = from; i < n; i += 2) out[i / 2] = bf16_of(x[i]) | (i + 1 < n ? bf16_of(x[i + 1]) << 16 : 0);
}

#if defined(__AVX512BF16__)

static void pair_row(uint32_t *restrict out, const float *restrict x, size_t n)
{
    size_t whole = n - n % (2 * LANES);
    for (size_t i = 0; i < whole; i += 2 * LANES)
        _mm512_storeu_si512(out + i / 2, (__m512i)_mm512_cvtne2ps_pbh(load(x + i + LANES), load(x + i)));
    pair_rest(out, x, whole, n);
}

/* Lane i of even, then lane i of odd. */
INLINE words woven(lanes even, lanes odd)
{
    static const uint16_t order[2 * LANES] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                              8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    return _mm512_permutexvar_epi16(_mm512_loadu_si512(order), (__m512i)_mm512_cvtne2ps_pbh(odd, even));
}

static void weave(uint32_t *restrict out, const float *restrict even, const float *restrict odd, size_t n)
{
    size_t whole = n - n % LANES, rest = n - whole;
    for (size_t i = 0; i < whole; i += LANES)
        _mm512_storeu_si512(out + i, woven(load(even + i), odd ? load(odd + i) : everywhere(0)));
    if (rest)
        _mm512_mask_storeu_epi32(
            out + whole, (__mmask16)((1u << rest) - 1),
            woven(load_some(even + whole, rest), odd ? load_some(odd + whole, rest) : everywhere(0)));
}

#else

static void pair_row(uint32_t *restrict out, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) out[i] = bf16_of(x[2 * i]) | bf16_of(x[2 * i + 1]) << 16;
    pair_rest(out, x, n - n % 2, n);
}

static void weave(uint32_t *restrict out, const float *restrict even, const float *restrict odd, size_t n)
{
    if (odd)
        for (size_t i = 0; i < n; i++) out[i] = bf16_of(even[i]) | bf16_of(odd[i]) << 16;
    else
        for (size_t i = 0; i < n; i++) out[i] = bf16_of(even[i]);
}

#endif

static void pair_rows(uint32_t *out, const float *x, size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r++) pair_row(out + r * ((cols + 1) / 2), x + r * cols, cols);
}

static void pair_cols(uint32_t *out, const float *x, size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r += 2)
        weave(out + r / 2 * cols, x + r * cols, r + 1 < rows ? x + (r + 1) * cols : NULL, cols);
}

static const char name_with_underscore[] = TEXT(RUNG_ISA_SUFFIX);

const rung_bf16_kernels ISA(rung_bf16_kernels) = {
    .name = name_with_underscore + 1, .multiply = multiply, .pair_rows = pair_rows, .pair_cols = pair_cols};
