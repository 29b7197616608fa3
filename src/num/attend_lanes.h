/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num, private: softmax attention with one lane per query, for lanes of any type. The file that includes this one has
 * defined `real`, `real_bits` of the same size, the number of mantissa bits REAL_MANTISSA, real_fma, and the function
 * exp_lanes. docs/numbers.md ("Softmax attention in lanes") proves that the few operations below are correct roundings
 * under the conditions that attend_isa.c has checked: no number so large that anything overflows, no infinity, no NaN.
 */
#ifndef RUNG_NUM_ATTEND_LANES_H
#define RUNG_NUM_ATTEND_LANES_H

#include "attend.h"

/* Rows have WIDE lanes, or NARROW lanes when there are few queries. NARROW is one or a few vectors on every machine, so
 * the inner loop becomes straight code, which both widths share. */
enum { WIDE = RUNG_ATTEND_LANES, NARROW = 16 };
#define EACH_LANE(l, width)                                                                                            \
    for (size_t l##_first = 0; l##_first < (width); l##_first += NARROW)                                               \
    LANES for (size_t l##_place = 0, l = l##_first; l##_place < NARROW; l##_place++, l++)

/* How an operation is rounded. It is a constant in every loop. */
typedef enum kind {
    KIND_NATIVE, /* the machine's own operation rounds to the format */
    KIND_FLOAT,  /* a float with fewer bits than the lane has */
    KIND_FIXED,  /* fixed point */
} kind;

/* What a product of floats needs if it may be smaller than the least normal number. */
typedef enum tiny {
    TINY_NEVER, /* nothing: it cannot be that small */
    TINY_GRID,  /* rounding to the spacing of the subnormals; the lane holds the exact product */
    TINY_FUSED, /* the same with a fused operation, because the lane would lose bits of the product */
} tiny;

typedef struct grid {
    /* float: 1.5 * 2^(REAL_MANTISSA - Y). Times 2^e it is 1.5 * 2^REAL_MANTISSA units in the last place of
     * [2^e, 2^(e+1)). */
    real unit;
    real least;            /* float: the least normal number */
    real magic, low, high; /* fixed: 1.5 * 2^52 units, and the range */
    real still; /* the factor of a sum when the maximum does not change: r(1), or 1 if there is no such factor */
    real tiny_weight;
} grid;

/* Rows of `width` lanes. */
typedef struct work {
    real s[WIDE], m[WIDE], den[WIDE], a[WIDE], e[WIDE], gap[WIDE], fall[WIDE], stay[WIDE], top[WIDE];
    real_bits seen[WIDE];
    real *q, *num; /* [dk], [dv] rows */
    real *k, *v;   /* room for a key and a value as reals */
    size_t dk, dv, width;
} work;

ALWAYS_INLINE real_bits bits_of_real(real x)
{
    real_bits bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ALWAYS_INLINE real real_of(real_bits bits)
{
    real x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Returns all bits or none. A conditional expression might become a branch round a store, and the compiler would not
 * vectorise the loop. */
ALWAYS_INLINE real_bits mask_if(bool condition)
{
    return -(real_bits)condition;
}

/* ---- rounded operations ------------------------------------------------------------------------------------------ */

/* Returns 2^e for x in [2^e, 2^(e+1)), and 0 for zero and the subnormal numbers of the lane. */
ALWAYS_INLINE real binade(real x)
{
    return real_of(bits_of_real(x) & (((real_bits)2 << (sizeof(real) * 8 - 2 - REAL_MANTISSA)) - 1) << REAL_MANTISSA);
}

/* The larger of two numbers that are not negative. See larger() in rounded_ops.h for the two forms. */
ALWAYS_INLINE real larger_of(real a, real b)
{
#ifdef __AVX512F__
    return real_of(bits_of_real(a) > bits_of_real(b) ? bits_of_real(a) : bits_of_real(b));
#else
    return a > b ? a : b;
#endif
}

/* x + m - m with m = power * unit. The product is exact. */
ALWAYS_INLINE real to_last_place(const grid *g, real power, real x)
{
    const real sum = real_fma(power, g->unit, x);
    return real_fma(power, -g->unit, sum);
}

ALWAYS_INLINE real within(const grid *g, real x)
{
    const real high = g->high < x ? g->high : x;
    return g->low > high ? g->low : high;
}

/* Rounds a sum or difference of two values, which the lane has already computed. Below the least normal number it is a
 * value already. */
ALWAYS_INLINE real sum_of(const grid *g, kind k, real sum)
{
    if (k == KIND_NATIVE) return sum;
    return k == KIND_FLOAT ? to_last_place(g, binade(sum), sum) : within(g, sum);
}

/* Uses the binade of the rounded product. If the exact product is in the binade below, both grids give the same
 * result. */
ALWAYS_INLINE real product_of(const grid *g, kind k, tiny t, real a, real b)
{
    if (k == KIND_FIXED) {
        const real sum = real_fma(a, b, g->magic);
        return within(g, sum - g->magic);
    }
    const real product = a * b;
    if (k == KIND_NATIVE) return product;
    const real power = binade(product);
    if (t == TINY_NEVER) return to_last_place(g, power, product);
    const real place = larger_of(power, g->least);
    if (t == TINY_GRID) return to_last_place(g, place, product);
    const real magic = place * g->unit, sum = real_fma(a, b, magic);
    return sum - magic;
}

/* ---- one key ----------------------------------------------------------------------------------------------------- */

/* The constants of one copy of the loops. */
typedef struct shape {
    kind k;
    tiny t;
    bool watch; /* sums may overflow, so their magnitudes are recorded */
} shape;

ALWAYS_INLINE real size_of(real x)
{
    return real_of(bits_of_real(x) & ((real_bits)-1 >> 1));
}

/* r(acc + r(a b)). `top` is the largest magnitude so far. */
ALWAYS_INLINE real one_more(const grid *g, shape is, real *top, real acc, real a, real b)
{
    const real sum = sum_of(g, is.k, acc + product_of(g, is.k, is.t, a, b));
    if (is.watch) *top = larger_of(size_of(sum), *top);
    return sum;
}

/* s = q.k. Takes four coordinates at a time, so that sums stay in registers. */
ALWAYS_INLINE void score_key(work *w, const grid *g, shape is, const real *key)
{
    const size_t width = w->width;
    memset(w->s, 0, width * sizeof *w->s);
    size_t i = 0;
    for (; i + 4 <= w->dk; i += 4) {
        const real *q = w->q + i * width, *q1 = q + width, *q2 = q1 + width, *q3 = q2 + width;
        const real k0 = key[i], k1 = key[i + 1], k2 = key[i + 2], k3 = key[i + 3];
        EACH_LANE(l, width)
        {
            real top = is.watch ? w->top[l] : 0;
            real acc = one_more(g, is, &top, w->s[l], q[l], k0);
            acc = one_more(g, is, &top, acc, q1[l], k1);
            acc = one_more(g, is, &top, acc, q2[l], k2);
            w->s[l] = one_more(g, is, &top, acc, q3[l], k3);
            if (is.watch) w->top[l] = top;
        }
    }
    for (; i < w->dk; i++) {
        const real *q = w->q + i * width, k0 = key[i];
        EACH_LANE(l, width)
        {
            real top = is.watch ? w->top[l] : 0;
            w->s[l] = one_more(g, is, &top, w->s[l], q[l], k0);
            if (is.watch) w->top[l] = top;
        }
    }
}

/* Marks lanes [from, to): they see the keys of the run. */
static inline void set_seen(work *w, const grid *g, const rung_attend_run *run)
{
    for (size_t l = 0; l < w->width; l++) {
        const bool seen = l >= run->from && l < run->to;
        w->seen[l] = mask_if(seen);
        w->stay[l] = seen ? g->still : 1;
    }
}

/* For a lane that does not see a key the score is replaced by the maximum, which changes nothing. This works on bits,
 * because a conditional load would not be vectorised. */
ALWAYS_INLINE real score_seen(const work *w, size_t l)
{
    const real_bits seen = w->seen[l];
    return real_of((bits_of_real(w->s[l]) & seen) | (bits_of_real(w->m[l]) & ~seen));
}

ALWAYS_INLINE void raise_key(work *w)
{
    EACH_LANE(l, w->width)
    {
        const real old = w->m[l], score = score_seen(w, l);
        w->m[l] = score > old ? score : old;
    }
}

/* The OR over all lanes. It stays a vector of NARROW lanes, because folding it is slow. */
typedef struct any_bits {
    real_bits lane[NARROW];
} any_bits;

ALWAYS_INLINE bool is_any(const any_bits *a)
{
    real_bits bits = 0;
    for (size_t l = 0; l < NARROW; l++) bits |= a->lane[l];
    return bits != 0;
}

/* What the numerators of at least one lane need: multiplication by a; addition of e v; careful addition of a tiny e
 * v. */
typedef struct needs {
    bool fade, weigh, tiny;
} needs;

/* Updates m and den as the specification says, and leaves a and e for the numerators. Lanes that do not see the key get
 * a = 1 and e = 0. One of the two exponents is 0 (see vec_isa.c); the other one is `gap`. */
ALWAYS_INLINE needs step_key(work *w, const grid *g, shape is, const void *exp_context)
{
    EACH_LANE(l, w->width)
    {
        const real old = w->m[l], score = score_seen(w, l);
        w->s[l] = score;
        w->gap[l] = sum_of(g, is.k, (score > old ? old : score) - (score > old ? score : old));
    }
    exp_lanes(w->fall, w->gap, exp_context, w->width);
    const real_bits one = bits_of_real(1);
    const real still = g->still, tiny_weight = g->tiny_weight;
    any_bits fades = {0}, weighs = {0}, tinies = {0};
    EACH_LANE(l, w->width)
    {
        const real old = w->m[l], score = w->s[l], fall = w->fall[l], stay = w->stay[l];
        const real_bits up = mask_if(score > old), seen = w->seen[l];
        const real keep = real_of((bits_of_real(fall) & up) | (bits_of_real(stay) & ~up));
        const real enter = real_of(((bits_of_real(still) & up) | (bits_of_real(fall) & ~up)) & seen);
        const real den = sum_of(g, is.k, product_of(g, is.k, is.t, w->den[l], keep) + enter);
        if (is.watch) w->top[l] = larger_of(den, w->top[l]);
        w->den[l] = den;
        w->m[l] = score > old ? score : old;
        w->a[l] = keep;
        w->e[l] = enter;
        fades.lane[l_place] |= bits_of_real(keep) ^ one;
        weighs.lane[l_place] |= bits_of_real(enter);
        tinies.lane[l_place] |= bits_of_real(enter) & mask_if(enter < tiny_weight);
    }
    return (needs){is_any(&fades), is_any(&weighs), is_any(&tinies)};
}

/* num = r(num a). Returns false if a -0 is lost. Where a negative number becomes zero the specification gives -0. It
 * stays -0 only if the value of the key, whose weight is 1 then, is also -0. Otherwise no numerator is ever -0, and the
 * sign of a zero product does not matter. */
ALWAYS_INLINE bool fade(work *w, const grid *g, shape is, const double *value)
{
    any_bits lost = {0};
    for (size_t i = 0; i < w->dv; i++) {
        const real_bits minus_zero = mask_if(bits_of(value[i]) == SIGN_BIT);
        real *num = w->num + i * w->width;
        EACH_LANE(l, w->width)
        {
            const real old = num[l], faded = product_of(g, is.k, is.t, old, w->a[l]);
            lost.lane[l_place] |= minus_zero & mask_if(old < 0) & mask_if(faded == 0);
            num[l] = faded;
        }
    }
    return !is_any(&lost);
}

ALWAYS_INLINE void weigh_key(work *w, const grid *g, shape is, const real *value)
{
    for (size_t i = 0; i < w->dv; i++) {
        real *num = w->num + i * w->width;
        const real v = value[i];
        EACH_LANE(l, w->width)
        {
            real top = is.watch ? w->top[l] : 0;
            num[l] = one_more(g, is, &top, num[l], w->e[l], v);
            if (is.watch) w->top[l] = top;
        }
    }
}

/* ---- all keys ---------------------------------------------------------------------------------------------------- */

/* Returns the row as reals: the row itself if it has the type of the lanes, otherwise a copy in `room`. */
ALWAYS_INLINE const real *as_reals(real *room, const double *x, size_t n)
{
    if (sizeof(real) == sizeof(double)) return (const real *)(const void *)x;
    for (size_t i = 0; i < n; i++) room[i] = (real)x[i];
    return room;
}

/* The shape for products that cannot be tiny. */
ALWAYS_INLINE shape not_tiny(shape is)
{
    return (shape){is.k, TINY_NEVER, is.watch};
}

ALWAYS_INLINE void score_any(work *w, const grid *g, shape is, bool tiny_scores, const double *key)
{
    const real *reals = as_reals(w->k, key, w->dk);
    if (is.k == KIND_FLOAT && !tiny_scores)
        score_key(w, g, not_tiny(is), reals);
    else
        score_key(w, g, is, reals);
}

typedef enum pass { PASS_RAISE, PASS_ABSORB } pass;

/* Returns false when a -0 would be lost. */
ALWAYS_INLINE bool walk_run(work *w, const grid *g, shape is, pass what, const attend_ranges *ranges,
                            const void *exp_context, const rung_attend_run *run)
{
    set_seen(w, g, run);
    for (size_t j = 0; j < run->count; j++) {
        score_any(w, g, is, ranges->tiny_scores, run->k + (ptrdiff_t)j * run->k_stride);
        if (what == PASS_RAISE) {
            raise_key(w);
            continue;
        }
        const needs some = step_key(w, g, is, exp_context);
        const double *value = run->v + (ptrdiff_t)j * run->v_stride;
        if (some.fade && !fade(w, g, is, value)) return false;
        if (!some.weigh) continue;
        const real *v = as_reals(w->v, value, w->dv);
        if (is.k == KIND_FLOAT && !some.tiny)
            weigh_key(w, g, not_tiny(is), v);
        else
            weigh_key(w, g, is, v);
    }
    return true;
}

static inline void init_work(work *w, const rung_attend *job, double start)
{
    const size_t width = job->lanes <= NARROW ? NARROW : WIDE;
    real *room = (real *)(void *)(((uintptr_t)job->scratch + 63) / 64 * 64);
    *w = (work){.q = room, .num = room + job->dk * width, .dk = job->dk, .dv = job->dv, .width = width};
    w->k = w->num + job->dv * width, w->v = w->k + job->dk;
    for (size_t i = 0; i < job->dk; i++)
        for (size_t l = 0; l < width; l++)
            w->q[i * width + l] = l < job->lanes ? (real)job->q[i * RUNG_ATTEND_LANES + l] : 0;
    memset(w->num, 0, job->dv * width * sizeof *w->num);
    for (size_t l = 0; l < width; l++) w->m[l] = (real)start;
}

static inline void store_work(double *num, double *den, const work *w)
{
    for (size_t i = 0; i < w->dv; i++)
        for (size_t l = 0; l < w->width; l++) num[i * RUNG_ATTEND_LANES + l] = (double)w->num[i * w->width + l];
    for (size_t l = 0; l < w->width; l++) den[l] = (double)w->den[l];
}

static inline bool has_overflown(const work *w, const grid *g)
{
    bool over = false;
    for (size_t l = 0; l < w->width; l++) over |= w->top[l] > g->high;
    return over;
}

/* Every call makes a copy of the loops for one shape. The grid is a local copy, so that it stays in registers. */
ALWAYS_INLINE bool attend_in_lanes(double *num, double *den, const rung_attend *job, const attend_ranges *ranges,
                                   grid g, shape is, const void *exp_context)
{
    work w;
    init_work(&w, job, ranges->start);
    if (job->two_pass) g.still = 1; /* no sum is ever faded */
    for (pass what = job->two_pass ? PASS_RAISE : PASS_ABSORB; what <= PASS_ABSORB; what++)
        for (size_t r = 0; r < job->runs; r++)
            if (!walk_run(&w, &g, is, what, ranges, exp_context, &job->run[r])) return false;
    if (is.watch && has_overflown(&w, &g)) return false;
    store_work(num, den, &w);
    return true;
}

#endif
