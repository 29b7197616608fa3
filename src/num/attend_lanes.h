/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num, private: softmax attention with one lane per query, for lanes of any type. The file that includes this one has
 * defined `real`, an integer `real_bits` of the same size, the number of mantissa bits REAL_MANTISSA, vectors `lanes` of
 * reals, the operations fma_lanes, max_lanes, min_lanes, farther and is_any on them, and the function exp_lanes.
 * docs/numbers.md ("Softmax attention in lanes") proves that the few operations below are correct roundings under the
 * conditions that attend_isa.c has checked: no number so large that anything overflows, no infinity, no NaN.
 */
#ifndef RUNG_NUM_ATTEND_LANES_H
#define RUNG_NUM_ATTEND_LANES_H

#include "attend.h"

typedef real_bits ints __attribute__((vector_size(VECTOR_BYTES)));

/* A strip is GROUP vectors of queries. It takes KEYS keys at a time, and SUMS sums per vector stay in registers: enough
 * that one operation need not wait for the one before it. */
enum {
    PER_VECTOR = VECTOR_BYTES / sizeof(real),
    VECTORS = RUNG_ATTEND_LANES / PER_VECTOR,
    GROUP = 2,
    KEYS = RUNG_ATTEND_KEYS,
    SUMS = 4,
};

#define NOT_INLINE static __attribute__((noinline, unused))

/* How an operation is rounded. It is a constant in every loop. */
typedef enum kind {
    KIND_NATIVE, /* the machine's own operation rounds to the format */
    KIND_FLOAT,  /* a float with fewer bits than the lane has */
    KIND_FIXED,  /* fixed point */
} kind;

/* The constants of one copy of the loops. */
typedef struct shape {
    kind k;
    /* a product of floats may be smaller than the least normal number, one of fixed point outside the range */
    bool careful;
    bool watch; /* sums may overflow, so their magnitudes are recorded */
} shape;

typedef struct grid {
    real split;     /* float: 2^(REAL_MANTISSA - Y) + 1 */
    real magic;     /* 1.5 * 2^REAL_MANTISSA units; for floats the unit is the spacing of the subnormals */
    real low, high; /* the range */
    real still;     /* the factor of a sum when the maximum does not change: r(1), or 1 if there is no such factor */
    real tiny_weight;
} grid;

ALWAYS_INLINE lanes all_lanes(real x)
{
    return x - (lanes){0};
}

ALWAYS_INLINE lanes choose(ints mask, lanes yes, lanes no)
{
    return (lanes)((mask & (ints)yes) | (~mask & (ints)no));
}

/* ---- rounded operations ------------------------------------------------------------------------------------------ */

/* The larger sum x split has its last place where x shall have it; what is missing to x is rounded there too (Veltkamp). */
ALWAYS_INLINE lanes shorten(lanes x, lanes larger)
{
    const lanes rest = x - larger;
    return larger + rest;
}

ALWAYS_INLINE lanes within(const grid *g, lanes x)
{
    return max_lanes(all_lanes(g->low), min_lanes(all_lanes(g->high), x));
}

/* Rounds a sum or difference of two values, which the lane has already computed. Below the least normal number it is a
 * value already. */
ALWAYS_INLINE lanes sum_of(const grid *g, kind k, lanes sum)
{
    if (k == KIND_NATIVE) return sum;
    return k == KIND_FLOAT ? shorten(sum, sum * g->split) : within(g, sum);
}

ALWAYS_INLINE lanes size_of(lanes x)
{
    const real_bits second = (real_bits)1 << (sizeof(real) * 8 - 2); /* all bits but the sign: */
    return (lanes)((ints)x & (second + (second - 1)));
}

#ifndef farther
/* The one with the larger magnitude. */
ALWAYS_INLINE lanes farther(lanes a, lanes b)
{
    return choose(size_of(a) > size_of(b), a, b);
}
#endif

/* Returns r(a b); split_b is b split. A careful product takes the grid of the subnormals where that is the coarser one. */
ALWAYS_INLINE lanes product_of(const grid *g, shape is, lanes a, lanes b, lanes split_b)
{
    if (is.k == KIND_NATIVE) return a * b;
    if (is.k == KIND_FIXED) {
        const lanes magic = all_lanes(g->magic), sum = fma_lanes(a, b, magic);
        return is.careful ? within(g, sum - magic) : sum - magic;
    }
    lanes larger = a * split_b;
    if (is.careful) larger = farther(larger, all_lanes(g->magic));
    const lanes rest = fma_lanes(a, b, -larger);
    return larger + rest;
}

/* ---- sums of products -------------------------------------------------------------------------------------------- */

/* sum[s] = r(sum[s] + r(x[n] y[n][s])) for n = 0, 1, ... and SUMS sums of GROUP vectors. */
typedef struct chain {
    lanes *sum;
    const lanes *x;
    size_t sum_stride, x_stride; /* in vectors */
    const real *y, *split_y;     /* y, y split of n and s are at n * y_next + s * y_sum */
    size_t y_next, y_sum, count;
    lanes *top; /* [GROUP] the largest magnitude of any sum so far */
} chain;

ALWAYS_INLINE void add_products(const grid *g, const chain *c, shape is)
{
    lanes sum[SUMS][GROUP], top[GROUP] = {{0}};
    for (size_t s = 0; s < SUMS; s++)
        for (size_t n = 0; n < GROUP; n++) sum[s][n] = c->sum[s * c->sum_stride + n];
    const lanes *x = c->x;
    const real *y = c->y, *split_y = c->split_y;
    for (size_t i = 0; i < c->count; i++, x += c->x_stride, y += c->y_next, split_y += c->y_next)
        for (size_t s = 0; s < SUMS; s++) {
            const lanes factor = all_lanes(y[s * c->y_sum]), split = all_lanes(split_y[s * c->y_sum]);
            for (size_t n = 0; n < GROUP; n++) {
                sum[s][n] = sum_of(g, is.k, sum[s][n] + product_of(g, is, x[n], factor, split));
                if (is.watch) top[n] = max_lanes(size_of(sum[s][n]), top[n]);
            }
        }
    for (size_t s = 0; s < SUMS; s++)
        for (size_t n = 0; n < GROUP; n++) c->sum[s * c->sum_stride + n] = sum[s][n];
    for (size_t n = 0; n < GROUP && is.watch; n++) c->top[n] = max_lanes(top[n], c->top[n]);
}

/* One copy for all loops of a shape. */
#define CHAIN(name, ...)                                                                                               \
    NOT_INLINE void name(const grid *g, const chain *c)                                                                \
    {                                                                                                                  \
        const grid local = *g;                                                                                         \
        const chain own = *c;                                                                                          \
        add_products(&local, &own, (shape){__VA_ARGS__});                                                              \
    }
CHAIN(add_native, KIND_NATIVE, false, false)
CHAIN(add_fixed, KIND_FIXED, false, false)
CHAIN(add_fixed_carefully, KIND_FIXED, true, false)
CHAIN(add_floats, KIND_FLOAT, false, false)
CHAIN(add_floats_carefully, KIND_FLOAT, true, false)
CHAIN(add_watched_floats, KIND_FLOAT, false, true)
CHAIN(add_watched_floats_carefully, KIND_FLOAT, true, true)

ALWAYS_INLINE void add_all(const grid *g, shape is, const chain *c)
{
    if (is.k == KIND_NATIVE)
        add_native(g, c);
    else if (is.k == KIND_FIXED)
        is.careful ? add_fixed_carefully(g, c) : add_fixed(g, c);
    else if (is.watch)
        is.careful ? add_watched_floats_carefully(g, c) : add_watched_floats(g, c);
    else
        is.careful ? add_floats_carefully(g, c) : add_floats(g, c);
}

/* ---- a tile of keys ---------------------------------------------------------------------------------------------- */

/* Which keys of the tile, as bits, ask for what in a strip: multiplication of the numerators; addition of e v; a careful
 * addition, because e v may be tiny. */
typedef struct needs {
    uint32_t fade, weigh, careful;
} needs;
_Static_assert(RUNG_ATTEND_KEYS <= 32, "a bit for every key of a tile");

typedef struct work {
    lanes *q, *num;                  /* [dk], [dv_room] rows of `vectors` vectors */
    real *k, *v, *split_k, *split_v; /* [KEYS][dk], [KEYS][dv_room] of the tile */
    lanes m[VECTORS], den[VECTORS], top[VECTORS];
    ints seen_row[KEYS][VECTORS];
    const ints *seen[KEYS]; /* which lanes see a key of the tile */
    const double *value[KEYS];
    size_t from[KEYS], to[KEYS]; /* it is seen by these lanes */
    size_t first, last;          /* lanes outside [first, last) see no key of the tile */
    /* of one strip: scores, then masks of the lanes whose maximum rises, then factors a; differences, then weights e */
    lanes s[KEYS][GROUP], e[KEYS][GROUP];
    size_t dk, dv, dv_room, vectors, keys;
} work;

ALWAYS_INLINE void take_row(real *restrict row, real *restrict split_row, const double *x, size_t n, real split)
{
    for (size_t i = 0; i < n; i++) {
        const real value = (real)x[i];
        row[i] = value, split_row[i] = value * split;
    }
}

/* Rows of missing keys are zero or old. */
static inline void take_key(work *w, const grid *g, size_t j, const rung_attend_run *run, size_t at)
{
    const double *k = run->k + (ptrdiff_t)at * run->k_stride, *v = run->v + (ptrdiff_t)at * run->v_stride;
    take_row(w->k + j * w->dk, w->split_k + j * w->dk, k, w->dk, g->split);
    take_row(w->v + j * w->dv_room, w->split_v + j * w->dv_room, v, w->dv, g->split);
    w->value[j] = v, w->from[j] = run->from, w->to[j] = run->to;
}

static inline void see_tile(work *w)
{
    ints index;
    for (size_t l = 0; l < PER_VECTOR; l++) index[l] = (real_bits)l;
    w->first = RUNG_ATTEND_LANES, w->last = 0;
    for (size_t j = 0; j < w->keys; j++) {
        w->first = w->from[j] < w->first ? w->from[j] : w->first;
        w->last = w->to[j] > w->last ? w->to[j] : w->last;
        w->seen[j] = w->seen_row[j];
        if (j > 0 && w->from[j] == w->from[j - 1] && w->to[j] == w->to[j - 1]) {
            w->seen[j] = w->seen[j - 1];
            continue;
        }
        for (size_t n = 0; n < w->vectors; n++) {
            const ints lane = index + (real_bits)(n * PER_VECTOR);
            w->seen_row[j][n] = (lane >= (real_bits)w->from[j]) & (lane < (real_bits)w->to[j]);
        }
    }
}

/* s = q.k */
ALWAYS_INLINE void score_tile(work *w, const grid *g, shape is, size_t strip)
{
    memset(w->s, 0, sizeof w->s);
    for (size_t j = 0; j < w->keys; j += SUMS)
        add_all(g, is,
                &(chain){.sum = w->s[j],
                         .sum_stride = GROUP,
                         .x = w->q + strip,
                         .x_stride = w->vectors,
                         .y = w->k + j * w->dk,
                         .split_y = w->split_k + j * w->dk,
                         .y_next = 1,
                         .y_sum = w->dk,
                         .count = w->dk,
                         .top = w->top + strip});
}

/* For a lane that does not see a key the score is replaced by the maximum, which changes nothing. */
ALWAYS_INLINE void raise_tile(work *w, size_t strip)
{
    for (size_t j = 0; j < w->keys; j++)
        for (size_t n = 0; n < GROUP; n++) {
            const lanes old = w->m[strip + n];
            w->m[strip + n] = max_lanes(choose(w->seen[j][strip + n], w->s[j][n], old), old);
        }
}

/* Leaves in e what exp is wanted of: the smaller one of maximum and score minus the larger one; and in s the lanes in
 * which the score is larger. One of the two exponents of a step is 0 (see vec_isa.c); the other one is this difference. */
ALWAYS_INLINE void compare_tile(work *w, const grid *g, shape is, size_t strip)
{
    for (size_t n = 0; n < GROUP; n++) {
        lanes m = w->m[strip + n];
        for (size_t j = 0; j < w->keys; j++) {
            const lanes score = choose(w->seen[j][strip + n], w->s[j][n], m), top = max_lanes(score, m);
            w->e[j][n] = sum_of(g, is.k, min_lanes(score, m) - top);
            w->s[j][n] = (lanes)(score > m);
            m = top;
        }
        w->m[strip + n] = m;
    }
}

/* Updates den as the specification says, and leaves a in s and e in e. Lanes that do not see the key get a = 1 and e =
 * 0. */
ALWAYS_INLINE needs step_tile(work *w, const grid *g, shape is, size_t strip)
{
    needs some = {0};
    const lanes one = all_lanes(1), still = all_lanes(g->still), none = {0};
    const bool all_still = g->still == 1;
    for (size_t j = 0; j < w->keys; j++) {
        ints fades = {0}, weighs = {0}, tinies = {0};
        const bool rises = !all_still || is_any((ints)w->s[j][0] | (ints)w->s[j][GROUP - 1]);
        for (size_t n = 0; n < GROUP; n++) {
            const lanes fall = w->e[j][n];
            const ints up = (ints)w->s[j][n], seen = w->seen[j][strip + n];
            lanes den = w->den[strip + n], enter = choose(seen, fall, none);
            if (rises) {
                const lanes keep = choose(up, fall, choose(seen, still, one));
                enter = choose(seen, choose(up, still, fall), none);
                den = product_of(g, is, den, keep, keep * g->split);
                fades |= keep != one;
                w->s[j][n] = keep;
            }
            den = sum_of(g, is.k, den + enter);
            if (is.watch) w->top[strip + n] = max_lanes(den, w->top[strip + n]);
            w->den[strip + n] = den;
            w->e[j][n] = enter;
            weighs |= enter != none;
            if (is.k == KIND_FLOAT) tinies |= (enter != none) & (enter < g->tiny_weight);
        }
        some.fade |= (uint32_t)(rises && is_any(fades)) << j;
        some.weigh |= (uint32_t)is_any(weighs) << j;
        if (is.k == KIND_FLOAT) some.careful |= (uint32_t)is_any(tinies) << j;
    }
    return some;
}

/* num = r(num a). Returns false if a -0 is lost. Where a negative number becomes zero the specification gives -0. It
 * stays -0 only if the value of the key, whose weight is 1 then, is also -0. Otherwise no numerator is ever -0, and the
 * sign of a zero product does not matter. */
ALWAYS_INLINE bool fade(work *w, const grid *g, shape is, size_t strip, size_t j)
{
    ints lost = {0};
    const lanes none = {0};
    for (size_t i = 0; i < w->dv; i++) {
        const bool minus_zero = bits_of(w->value[j][i]) == SIGN_BIT;
        for (size_t n = 0; n < GROUP; n++) {
            lanes *num = &w->num[i * w->vectors + strip + n];
            const lanes keep = w->s[j][n], faded = product_of(g, is, *num, keep, keep * g->split);
            if (minus_zero) lost |= (*num < none) & (faded == none);
            *num = faded;
        }
    }
    return !is_any(lost);
}

/* Adds e v of the keys [from, to). */
ALWAYS_INLINE void weigh(work *w, const grid *g, shape is, size_t strip, size_t from, size_t to)
{
    for (size_t i = 0; i < w->dv; i += SUMS)
        add_all(g, is,
                &(chain){.sum = w->num + i * w->vectors + strip,
                         .sum_stride = w->vectors,
                         .x = w->e[from],
                         .x_stride = GROUP,
                         .y = w->v + from * w->dv_room + i,
                         .split_y = w->split_v + from * w->dv_room + i,
                         .y_next = w->dv_room,
                         .y_sum = 1,
                         .count = to - from,
                         .top = w->top + strip});
}

ALWAYS_INLINE shape carefully(shape is)
{
    return (shape){is.k, is.k != KIND_NATIVE, is.watch};
}

ALWAYS_INLINE shape not_careful(shape is)
{
    return (shape){is.k, false, is.watch};
}

/* Keys without a rising maximum between them are added in one loop. A key that weighs nothing adds nothing. */
ALWAYS_INLINE bool weigh_tile(work *w, const grid *g, shape is, size_t strip, needs some)
{
    for (size_t from = 0, to; from < w->keys; from = to) {
        to = from + 1;
        if (some.fade >> from & 1 && !fade(w, g, is, strip, from)) return false;
        if (!(some.weigh >> from & 1)) continue;
        while (to < w->keys && some.weigh >> to & 1 && !(some.fade >> to & 1)) to++;
        const uint32_t keys = (((uint32_t)2 << (to - 1)) - 1) & ~(((uint32_t)1 << from) - 1);
        if (is.k == KIND_FLOAT && some.careful & keys)
            weigh(w, g, is, strip, from, to);
        else
            weigh(w, g, not_careful(is), strip, from, to);
    }
    return true;
}

/* ---- all keys ---------------------------------------------------------------------------------------------------- */

typedef enum pass { PASS_RAISE, PASS_ABSORB } pass;

/* Returns false when a -0 would be lost. */
ALWAYS_INLINE bool absorb_tile(work *w, const grid *g, shape is, pass what, const attend_ranges *ranges,
                               const void *exp_context)
{
    if (w->keys == 0) return true;
    see_tile(w);
    for (size_t strip = 0; strip < w->vectors; strip += GROUP) {
        if (strip * PER_VECTOR >= w->last || (strip + GROUP) * PER_VECTOR <= w->first) continue;
        if (ranges->careful_scores)
            score_tile(w, g, carefully(is), strip);
        else
            score_tile(w, g, not_careful(is), strip);
        if (what == PASS_RAISE) {
            raise_tile(w, strip);
            continue;
        }
        compare_tile(w, g, is, strip);
        exp_lanes(&w->e[0][0], w->keys * GROUP, exp_context);
        if (!weigh_tile(w, g, is, strip, step_tile(w, g, is, strip))) return false;
    }
    return true;
}

ALWAYS_INLINE bool walk_keys(work *w, const grid *g, shape is, pass what, const rung_attend *job,
                             const attend_ranges *ranges, const void *exp_context)
{
    const rung_attend_run *run = job->run, *end = run + job->runs;
    size_t at = 0;
    while (run < end) {
        for (w->keys = 0; w->keys < KEYS && run < end;) {
            if (at < run->count)
                take_key(w, g, w->keys++, run, at++);
            else
                run++, at = 0;
        }
        if (!absorb_tile(w, g, is, what, ranges, exp_context)) return false;
    }
    return true;
}

static inline void *take_room(char **room, size_t bytes)
{
    void *out = *room;
    *room += (bytes + 63) / 64 * 64;
    return out;
}

/* Takes (dk + dv_room) (lanes + 2 KEYS) reals and less than 64 bytes for each of seven alignments: RUNG_ATTEND_SCRATCH. */
static inline void divide_scratch(work *w, const rung_attend *job)
{
    const size_t k_row = w->dk * sizeof(real), v_row = w->dv_room * sizeof(real);
    char *room = (char *)(((uintptr_t)job->scratch + 63) / 64 * 64);
    w->q = take_room(&room, w->dk * w->vectors * sizeof(lanes));
    w->num = take_room(&room, w->dv_room * w->vectors * sizeof(lanes));
    w->k = take_room(&room, KEYS * k_row), w->split_k = take_room(&room, KEYS * k_row);
    w->v = take_room(&room, KEYS * v_row), w->split_v = take_room(&room, KEYS * v_row);
    memset(w->num, 0, (size_t)(room - (char *)w->num));
}

static inline void init_work(work *w, const rung_attend *job, double start)
{
    w->dk = job->dk, w->dv = job->dv, w->dv_room = (job->dv + SUMS - 1) / SUMS * SUMS;
    w->vectors = (job->lanes + GROUP * PER_VECTOR - 1) / (GROUP * PER_VECTOR) * GROUP;
    divide_scratch(w, job);
    for (size_t i = 0; i < w->dk; i++)
        for (size_t n = 0; n < w->vectors; n++) {
            lanes q = {0};
            for (size_t l = 0; l < PER_VECTOR; l++)
                if (n * PER_VECTOR + l < job->lanes) q[l] = (real)job->q[i * RUNG_ATTEND_LANES + n * PER_VECTOR + l];
            w->q[i * w->vectors + n] = q;
        }
    for (size_t n = 0; n < w->vectors; n++)
        w->m[n] = all_lanes((real)start), w->den[n] = (lanes){0}, w->top[n] = (lanes){0};
}

static inline void store_work(double *num, double *den, const work *w)
{
    for (size_t n = 0; n < w->vectors; n++)
        for (size_t l = 0; l < PER_VECTOR; l++) {
            const size_t lane = n * PER_VECTOR + l;
            for (size_t i = 0; i < w->dv; i++)
                num[i * RUNG_ATTEND_LANES + lane] = (double)w->num[i * w->vectors + n][l];
            den[lane] = (double)w->den[n][l];
        }
}

static inline bool has_overflown(const work *w, const grid *g)
{
    ints over = {0};
    for (size_t n = 0; n < w->vectors; n++) over |= w->top[n] > g->high;
    return is_any(over);
}

/* Every call makes a copy of the loops for one shape. The grid is a local copy, so that it stays in registers. */
ALWAYS_INLINE bool attend_in_lanes(double *num, double *den, const rung_attend *job, const attend_ranges *ranges,
                                   grid g, shape is, const void *exp_context)
{
    work w;
    init_work(&w, job, ranges->start);
    if (job->two_pass) g.still = 1; /* no sum is ever faded */
    for (pass what = job->two_pass ? PASS_RAISE : PASS_ABSORB; what <= PASS_ABSORB; what++)
        if (!walk_keys(&w, &g, is, what, job, ranges, exp_context)) return false;
    if (is.watch && has_overflown(&w, &g)) return false;
    store_work(num, den, &w);
    return true;
}

#endif
