/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The operations of a chunk of tokens besides matrix products, compiled once per instruction set: rows times numbers,
 * decays between pairs of tokens, the gradients of these decays, and small triangular systems. Vectors have 16 floats,
 * which the compiler splits into registers. Multiplications and additions round separately, and a sum over lanes is the
 * same tree everywhere, so the bytes do not depend on the instruction set.
 */
#include "chunk_table.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)
#define INLINE               static inline __attribute__((always_inline))

enum { LANES = 16 };
typedef float wide __attribute__((vector_size(LANES * sizeof(float))));
typedef float loose __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias)); /* anywhere in memory */

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

/* Loads the first `count` of 16 floats and fills up with zeros. It is a macro, because a function would pass a vector
 * by value. */
#define LOAD(v, from, count)                                                                                           \
    do {                                                                                                               \
        (v) = (wide){0};                                                                                               \
        if ((count) >= LANES)                                                                                          \
            (v) = *(const loose *)(from);                                                                              \
        else                                                                                                           \
            memcpy(&(v), (from), (count) * sizeof(float));                                                             \
    } while (0)

#define STORE(to, v, count)                                                                                            \
    do {                                                                                                               \
        if ((count) >= LANES)                                                                                          \
            *(loose *)(to) = (v);                                                                                      \
        else                                                                                                           \
            memcpy((to), &(v), (count) * sizeof(float));                                                               \
    } while (0)

/* FOLD adds lane l + width to lane l. The upper lanes of the result are not used. */
typedef int places __attribute__((vector_size(LANES * sizeof(int))));
#define FOLD(v, ...) ((v) + __builtin_shufflevector((v), (v), __VA_ARGS__))

INLINE float sum_lanes(const wide *v)
{
    wide sum = *v;
    sum = FOLD(sum, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    sum = FOLD(sum, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
    sum = FOLD(sum, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    sum = FOLD(sum, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    return sum[0];
}

INLINE float dot(const float *x, const float *y, size_t n)
{
    wide sum = {0}, a, b;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) sum += *(const loose *)(x + i) * *(const loose *)(y + i);
    if (i < n) {
        LOAD(a, x + i, n - i);
        LOAD(b, y + i, n - i);
        sum += a * b;
    }
    return sum_lanes(&sum);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Processes whole vectors of a row, then the rest. A loop over parts of vectors would not stay in registers. */
#define ROW_OPERATION(to, value)                                                                                       \
    do {                                                                                                               \
        size_t i = 0;                                                                                                  \
        for (; i + LANES <= n; i += LANES) *(loose *)(to) = value(loose);                                              \
        for (; i < n; i++) *(to) = value(float);                                                                       \
    } while (0)

static void scale_rows(float *y, size_t y_row, const float *x, size_t x_row, const float *a, size_t rows, size_t n)
{
#define VALUE(type) (a[t] * *(const type *)(x + t * x_row + i))
    for (size_t t = 0; t < rows; t++) ROW_OPERATION(y + t * y_row + i, VALUE);
#undef VALUE
}

static void add_rows(float *y, size_t y_row, const float *x, size_t x_row, const float *a, size_t rows, size_t n)
{
#define VALUE(type) (*(const type *)(y + t * y_row + i) + a[t] * *(const type *)(x + t * x_row + i))
    for (size_t t = 0; t < rows; t++) ROW_OPERATION(y + t * y_row + i, VALUE);
#undef VALUE
}

/* A product of a number of at least this size with a number down to 2^-24 has a full mantissa. */
static const float TINY = 0x1p-102f;

/* A NaN does not count as small. */
static void fade_rows(float *y, size_t y_row, const float *a, size_t a_step, size_t rows, size_t n)
{
    for (size_t t = 0; t < rows; t++) {
        float *row = y + t * y_row, fade = a[t * a_step];
        size_t i = 0;
        for (; i + LANES <= n; i += LANES) {
            wide faded = *(const loose *)(row + i) * fade;
            *(loose *)(row + i) = (wide)(~((faded > -TINY) & (faded < TINY)) & (places)faded);
        }
        for (; i < n; i++) row[i] = fabsf(row[i] * fade) < TINY ? 0 : row[i] * fade;
    }
}

static void dot_rows(float *restrict out, const float *restrict x, size_t x_row, const float *restrict y, size_t y_row,
                     size_t rows, size_t n)
{
    for (size_t t = 0; t < rows; t++) out[t] = dot(x + t * x_row, y + t * y_row, n);
}

static void multiply_rows(float *y, size_t y_row, const float *x, size_t x_row, const float *a, size_t a_row,
                          size_t rows, size_t n)
{
#define VALUE(type) (*(const type *)(x + t * x_row + i) * *(const type *)(a + t * a_row + i))
    for (size_t t = 0; t < rows; t++) ROW_OPERATION(y + t * y_row + i, VALUE);
#undef VALUE
}

static void add_products(float *y, size_t y_row, const float *x, size_t x_row, const float *a, size_t a_row,
                         size_t rows, size_t n)
{
#define VALUE(type)                                                                                                    \
    (*(const type *)(y + t * y_row + i) + *(const type *)(x + t * x_row + i) * *(const type *)(a + t * a_row + i))
    for (size_t t = 0; t < rows; t++) ROW_OPERATION(y + t * y_row + i, VALUE);
#undef VALUE
}

/* A number minus itself is 0 unless it is infinite or NaN. So the sum of all differences is 0 only if all numbers are
 * finite. */
static bool finite_rows(const float *x, size_t x_row, size_t rows, size_t n)
{
    wide sum = {0};
    float rest = 0;
    for (size_t t = 0; t < rows; t++) {
        const float *row = x + t * x_row;
        size_t i = 0;
        for (; i + LANES <= n; i += LANES) sum += *(const loose *)(row + i) - *(const loose *)(row + i);
        for (; i < n; i++) rest += row[i] - row[i];
    }
    return sum_lanes(&sum) + rest == 0;
}

/* z in registers over all tokens, a few vectors of it at a time. */
INLINE void run_norms(float *norm, float *z, const float *p, const float *f, size_t n, size_t row, size_t vectors,
                      bool first)
{
    enum { MOST = 4 };
    wide sum[MOST];
    for (size_t v = 0; v < vectors; v++) sum[v] = *(const loose *)(z + v * LANES);
    for (size_t t = 0; t < n; t++) {
        wide met = {0};
        for (size_t v = 0; v < vectors; v++) {
            sum[v] += *(const loose *)(f + t * row + v * LANES);
            met += sum[v] * *(const loose *)(p + t * row + v * LANES);
        }
        norm[t] = (first ? 0 : norm[t]) + sum_lanes(&met);
    }
    for (size_t v = 0; v < vectors; v++) *(loose *)(z + v * LANES) = sum[v];
}

static void running_norms(float *restrict norm, float *restrict z, const float *restrict p, const float *restrict f,
                          size_t n, size_t d)
{
    size_t i = 0;
    for (; i + 4 * LANES <= d; i += 4 * LANES) run_norms(norm, z + i, p + i, f + i, n, d, 4, i == 0);
    for (; i + LANES <= d; i += LANES) run_norms(norm, z + i, p + i, f + i, n, d, 1, i == 0);
    for (size_t t = 0; i < d && t < n; t++) {
        float met = i ? norm[t] : 0;
        for (size_t j = i; j < d; j++) {
            z[j] += f[t * d + j];
            met += z[j] * p[t * d + j];
        }
        norm[t] = met;
    }
}

static void undo_elu1(float *restrict dx, const float *restrict x, const float *restrict y, const float *restrict dy,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) dx[i] += x[i] > 0 ? dy[i] : y[i] * dy[i];
}

/* ---- pairs of tokens, one decay for all channels ----------------------------------------------------------------- */

enum { C = RUNG_CHUNK };

static const places first = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* Selects lanes by a mask, because C has no conditional on vectors. */
#define CHOOSE(mask, yes, no) ((wide)(((mask) & (places)(yes)) | (~(mask) & (places)(no))))

static void pair_decays(float *restrict E, const float *restrict w, size_t n)
{
    assert(n <= C);
    wide left = {0}, right = {0};
    for (size_t t = 0; t < n; t++) {
        places at = first - (int)t;
        left = CHOOSE(at == 0, (wide){0} + 1, left * w[t]);
        right = CHOOSE(at == -LANES, (wide){0} + 1, right * w[t]);
        *(loose *)(E + t * C) = left;
        *(loose *)(E + t * C + LANES) = right;
    }
}

static void mask_pairs(float *restrict A, const float *restrict E, size_t n, size_t before, float sign)
{
    assert(n <= C);
    for (size_t t = 0; t < n; t++)
        for (size_t s = 0; s < C; s += LANES) {
            loose *pairs = (loose *)(A + t * C + s);
            places seen = first <= (int)t - (int)before - (int)s;
            wide fade = (wide){0} + sign;
            if (E) fade *= *(const loose *)(E + t * C + s);
            *pairs = (wide)(seen & (places)(*pairs * fade));
        }
}

static void add_weights(float *restrict W, const float *restrict A, const float *restrict dA, size_t n, size_t before)
{
    assert(n <= C);
    for (size_t t = 0; t < n; t++)
        for (size_t s = 0; s < C; s++) W[t * C + s] += s + before <= t ? A[t * C + s] * dA[t * C + s] : 0;
}

/* W is transposed, [s][t]. For every r the pairs s < r of each t are added first, then those with t >= r. */
static void sum_decays(float *restrict dg, size_t dg_row, const float *restrict W, const float *restrict from_start,
                       const float *restrict to_end, float through, size_t n)
{
    float before[C] = {0}, passed = through;
    memcpy(before, from_start, n * sizeof *before);
    for (size_t r = 0; r < n; r++) {
        wide sum = *(const loose *)before + *(const loose *)(before + LANES);
        dg[r * dg_row] += sum_lanes(&sum) + passed;
        passed += to_end[r];
        for (size_t t = 0; t < C; t++) before[t] = t > r ? before[t] + W[r * C + t] : 0;
    }
}
_Static_assert(C == 2 * LANES, "a row of pairs is two vectors");

/* ---- pairs of tokens by the highest digit where they differ ------------------------------------------------------ */

enum { LEVELS = 6 }; /* 0 to the digits of C - 1 */
_Static_assert(C == 1 << (LEVELS - 1), "pairs of a chunk differ in so many digits");

/* True in the lanes s .. s+15 whose token is at this level relative to t. */
#define AT_LEVEL(level, t, s) ((((first + (int)(s)) ^ (int)(t)) >> ((level) ? (level)-1 : 0)) == ((level) != 0))

INLINE size_t weight_of(size_t level, size_t levels)
{
    return level < levels ? level : levels - 1;
}

static void weigh_levels(float *restrict A, const float *restrict lambda, size_t lambda_row, size_t levels, size_t n)
{
    assert(n <= C && levels > 0);
    for (size_t t = 0; t < n; t++)
        for (size_t s = 0; s < C; s += LANES) {
            wide weight = {0};
            for (size_t l = 0; l < LEVELS; l++)
                weight = CHOOSE(AT_LEVEL(l, t, s), (wide){0} + lambda[t * lambda_row + weight_of(l, levels)], weight);
            *(loose *)(A + t * C + s) *= weight;
        }
}

static void sum_levels(float *restrict dlambda, size_t lambda_row, size_t levels, const float *restrict A,
                       const float *restrict dA, size_t n)
{
    for (size_t t = 0; t < n; t++) {
        wide left = *(const loose *)(A + t * C) * *(const loose *)(dA + t * C),
             right = *(const loose *)(A + t * C + LANES) * *(const loose *)(dA + t * C + LANES);
        for (size_t l = 0; l < LEVELS; l++) {
            wide sum = (wide)(AT_LEVEL(l, t, 0) & (places)left) + (wide)(AT_LEVEL(l, t, LANES) & (places)right);
            dlambda[t * lambda_row + weight_of(l, levels)] += sum_lanes(&sum);
        }
    }
}

/* ---- triangular systems ------------------------------------------------------------------------------------------ */

static void solve_block(float *u, float *r, size_t r_row, const float *M, size_t m_row, size_t m_col, const float *beta,
                        size_t rows, size_t cols, size_t panel_rows, bool downwards)
{
    for (size_t col = 0; col < cols; col += LANES) {
        float *panel = u + col / RUNG_PANEL * RUNG_PANEL * panel_rows + col % RUNG_PANEL;
        for (size_t i = 0; i < rows; i++) {
            size_t t = downwards ? rows - 1 - i : i;
            wide sum = *(const loose *)(r + t * r_row + col);
            for (size_t j = 0; j < i; j++) {
                size_t s = downwards ? rows - 1 - j : j;
                sum += M[t * m_row + s * m_col] * *(const loose *)(panel + s * RUNG_PANEL);
            }
            *(loose *)(r + t * r_row + col) = sum;
            *(loose *)(panel + t * RUNG_PANEL) = beta[t] * sum;
        }
    }
}

/* ---- pairs of tokens, a decay per channel ------------------------------------------------------------------------ */

enum { SUB = RUNG_SUBCHUNK };

static void channel_decays(float *restrict since, float *restrict until, const float *restrict w, size_t n, size_t d)
{
    assert(n <= RUNG_SUBCHUNK);
    for (size_t i = 0; i < d; i += LANES) {
        size_t count = d - i;
        wide product, next;
        for (size_t t = 0; t < n; t++) {
            LOAD(next, w + t * d + i, count);
            product = t ? product * next : next;
            STORE(since + t * d + i, product, count);
        }
        product = (wide){0} + 1;
        for (size_t t = n; t-- > 0;) {
            STORE(until + t * d + i, product, count);
            LOAD(next, w + t * d + i, count);
            product *= next;
        }
    }
}

/* faded[s] = k_s times the decays from token s to token t. */
static void fade_keys(float *restrict faded, const float *restrict k, const float *restrict w, size_t t, size_t d)
{
    for (size_t s = 0; s < t; s++) {
        float *row = faded + s * d;
        size_t i = 0;
        for (; i + LANES <= d; i += LANES) *(loose *)(row + i) *= *(const loose *)(w + t * d + i);
        for (; i < d; i++) row[i] *= w[t * d + i];
    }
    memcpy(faded + t * d, k, d * sizeof *faded);
}

/* Forwards over t: adds the contribution of the faded keys to x_t, and the pairs of each decay; those with s < r are
 * added first. */
static void undo_pairs_forward(float *restrict dx, size_t dx_row, float *restrict dg, size_t dg_row,
                               const float *restrict dA, const float *restrict x, size_t x_row, const float *restrict k,
                               size_t k_row, const float *restrict w, size_t n, size_t d, size_t before,
                               float *restrict faded)
{
    for (size_t t = 0; t < n; t++) {
        fade_keys(faded, k + t * k_row, w, t, d);
        for (size_t i = 0; i < d; i += LANES) {
            size_t count = d - i;
            wide sum = {0}, got, query, key, g;
            LOAD(got, dx + t * dx_row + i, count);
            LOAD(query, x + t * x_row + i, count);
            for (size_t s = 0; s + before <= t; s++) {
                LOAD(key, faded + s * d + i, count);
                key *= dA[t * C + s];
                got += key;
                if (s == t) break;
                sum += key * query;
                LOAD(g, dg + (s + 1) * dg_row + i, count);
                g += sum;
                STORE(dg + (s + 1) * dg_row + i, g, count);
            }
            STORE(dx + t * dx_row + i, got, count);
        }
    }
}

/* Backwards over t: adds the contribution of the faded queries to k_s. */
static void undo_pairs_backward(float *restrict dk, size_t dk_row, const float *restrict dA, const float *restrict x,
                                size_t x_row, const float *restrict w, size_t n, size_t d, size_t before)
{
    for (size_t i = 0; i < d; i += LANES) {
        size_t count = d - i;
        wide back[SUB] = {{0}}, fade, query, got;
        for (size_t t = n; t-- > 0;) {
            LOAD(query, x + t * x_row + i, count);
            for (size_t s = 0; s + before <= t; s++) back[s] += dA[t * C + s] * query;
            LOAD(got, dk + t * dk_row + i, count);
            got += back[t];
            STORE(dk + t * dk_row + i, got, count);
            LOAD(fade, w + t * d + i, count);
            for (size_t s = 0; s < t; s++) back[s] *= fade;
        }
    }
}

static void undo_channel_pairs(float *dx, size_t dx_row, float *dk, size_t dk_row, float *dg, size_t dg_row,
                               const float *dA, const float *x, size_t x_row, const float *k, size_t k_row,
                               const float *w, size_t n, size_t d, size_t before, float *faded)
{
    assert(n <= RUNG_SUBCHUNK);
    undo_pairs_forward(dx, dx_row, dg, dg_row, dA, x, x_row, k, k_row, w, n, d, before, faded);
    undo_pairs_backward(dk, dk_row, dA, x, x_row, w, n, d, before);
}

static void sum_channel_decays(float *restrict dg, size_t dg_row, const float *restrict from_start,
                               const float *restrict to_end, const float *restrict through, size_t n, size_t d)
{
    for (size_t i = 0; i < d; i += LANES) {
        size_t count = d - i;
        wide sum, next, g;
        LOAD(sum, through + i, count);
        for (size_t r = 0; r < n; r++) {
            LOAD(g, dg + r * dg_row + i, count);
            g += sum;
            STORE(dg + r * dg_row + i, g, count);
            LOAD(next, to_end + r * d + i, count);
            sum += next;
        }
        sum = (wide){0};
        for (size_t r = n; r-- > 0;) {
            LOAD(next, from_start + r * d + i, count);
            sum += next;
            LOAD(g, dg + r * dg_row + i, count);
            g += sum;
            STORE(dg + r * dg_row + i, g, count);
        }
    }
}

const rung_chunk_kernels ISA(rung_chunk_kernels) = {
    .product = ISA(rung_small_product),
    .read_state = ISA(rung_read_state),
    .leave_state = ISA(rung_leave_state),
    .scale_rows = scale_rows,
    .add_rows = add_rows,
    .fade_rows = fade_rows,
    .dot_rows = dot_rows,
    .multiply_rows = multiply_rows,
    .add_products = add_products,
    .finite_rows = finite_rows,
    .elu1 = ISA(rung_elu1),
    .exp_rows = ISA(rung_exp_rows),
    .running_norms = running_norms,
    .undo_elu1 = undo_elu1,
    .pair_decays = pair_decays,
    .mask_pairs = mask_pairs,
    .add_weights = add_weights,
    .sum_decays = sum_decays,
    .weigh_levels = weigh_levels,
    .sum_levels = sum_levels,
    .solve_block = solve_block,
    .channel_decays = channel_decays,
    .channel_pairs = ISA(rung_channel_pairs),
    .crossed_pairs = ISA(rung_crossed_pairs),
    .undo_crossed = ISA(rung_undo_crossed),
    .undo_channel_pairs = undo_channel_pairs,
    .sum_channel_decays = sum_channel_decays,
    .selective_scan = ISA(rung_selective_scan),
    .selective_undo = ISA(rung_selective_undo),
};
