/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Certified reals: interval arithmetic with MPFR ends, rounded outwards.
 */
#include "rung/num.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

typedef struct interval {
    mpfr_t low, high;
} interval;

struct rung_certified {
    size_t bits;
    interval **value; /* allocated one by one, so that pointers stay valid when the list grows */
    size_t count, made, capacity;
    interval none; /* the value of every handle once the sheet has failed */
    bool failed;
};

static void interval_init(interval *x, size_t bits)
{
    mpfr_init2(x->low, (mpfr_prec_t)bits);
    mpfr_init2(x->high, (mpfr_prec_t)bits);
}

rung_status rung_certified_new(rung_certified **out, size_t bits, rung_error *err)
{
    rung_certified *sheet = rung_calloc(1, sizeof *sheet, err);
    if (!sheet) return RUNG_SYSTEM;
    sheet->bits = bits;
    interval_init(&sheet->none, bits);
    *out = sheet;
    return RUNG_OK;
}

void rung_certified_free(rung_certified *sheet)
{
    if (!sheet) return;
    for (size_t i = 0; i < sheet->made; i++) {
        mpfr_clear(sheet->value[i]->low);
        mpfr_clear(sheet->value[i]->high);
        free(sheet->value[i]);
    }
    mpfr_clear(sheet->none.low);
    mpfr_clear(sheet->none.high);
    free(sheet->value);
    free(sheet);
    mpfr_free_cache();
}

void rung_certified_reset(rung_certified *sheet)
{
    sheet->count = 0;
}

bool rung_certified_failed(const rung_certified *sheet)
{
    return sheet->failed;
}

static interval *get(const rung_certified *sheet, rung_ival a)
{
    return sheet->failed ? (interval *)&sheet->none : sheet->value[a.at];
}

static bool grow(rung_certified *sheet)
{
    size_t capacity = sheet->capacity ? 2 * sheet->capacity : 64;
    interval **grown = realloc(sheet->value, capacity * sizeof *grown);
    if (!grown) return false;
    sheet->value = grown, sheet->capacity = capacity;
    return true;
}

/* Returns a new value. The caller sets its ends. */
static rung_ival fresh(rung_certified *sheet)
{
    if (sheet->failed) return (rung_ival){0};
    if (sheet->count == sheet->made) {
        interval *x = sheet->made < sheet->capacity || grow(sheet) ? malloc(sizeof *x) : NULL;
        if (!x) {
            sheet->failed = true;
            return (rung_ival){0};
        }
        interval_init(x, sheet->bits);
        sheet->value[sheet->made++] = x;
    }
    return (rung_ival){sheet->count++};
}

rung_ival rung_ival_u64(rung_certified *sheet, uint64_t x)
{
    rung_ival r = fresh(sheet);
    mpfr_set_uj(get(sheet, r)->low, x, MPFR_RNDD);
    mpfr_set_uj(get(sheet, r)->high, x, MPFR_RNDU);
    return r;
}

rung_ival rung_ival_real(rung_certified *sheet, double x)
{
    rung_ival r = fresh(sheet);
    mpfr_set_d(get(sheet, r)->low, x, MPFR_RNDD);
    mpfr_set_d(get(sheet, r)->high, x, MPFR_RNDU);
    return r;
}

rung_ival rung_ival_add(rung_certified *sheet, rung_ival a, rung_ival b)
{
    rung_ival r = fresh(sheet);
    interval *x = get(sheet, r), *p = get(sheet, a), *q = get(sheet, b);
    mpfr_add(x->low, p->low, q->low, MPFR_RNDD);
    mpfr_add(x->high, p->high, q->high, MPFR_RNDU);
    return r;
}

rung_ival rung_ival_sub(rung_certified *sheet, rung_ival a, rung_ival b)
{
    rung_ival r = fresh(sheet);
    interval *x = get(sheet, r), *p = get(sheet, a), *q = get(sheet, b);
    mpfr_sub(x->low, p->low, q->high, MPFR_RNDD);
    mpfr_sub(x->high, p->high, q->low, MPFR_RNDU);
    return r;
}

typedef int operation(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

/* The hull of the four combinations of ends. This is correct for products, and for quotients whose divisor does not
 * contain 0. */
static void hull(interval *x, const interval *p, const interval *q, operation *op, size_t bits)
{
    interval t;
    interval_init(&t, bits);
    op(x->low, p->low, q->low, MPFR_RNDD);
    op(x->high, p->low, q->low, MPFR_RNDU);
    for (int i = 1; i < 4; i++) {
        const mpfr_t *u = i & 1 ? &p->high : &p->low, *v = i & 2 ? &q->high : &q->low;
        op(t.low, *u, *v, MPFR_RNDD);
        op(t.high, *u, *v, MPFR_RNDU);
        mpfr_min(x->low, x->low, t.low, MPFR_RNDD);
        mpfr_max(x->high, x->high, t.high, MPFR_RNDU);
    }
    mpfr_clear(t.low);
    mpfr_clear(t.high);
}

rung_ival rung_ival_mul(rung_certified *sheet, rung_ival a, rung_ival b)
{
    rung_ival r = fresh(sheet);
    hull(get(sheet, r), get(sheet, a), get(sheet, b), mpfr_mul, sheet->bits);
    return r;
}

rung_ival rung_ival_div(rung_certified *sheet, rung_ival a, rung_ival b)
{
    rung_ival r = fresh(sheet);
    interval *x = get(sheet, r), *q = get(sheet, b);
    if (mpfr_sgn(q->low) <= 0 && mpfr_sgn(q->high) >= 0) {
        mpfr_set_inf(x->low, -1);
        mpfr_set_inf(x->high, 1);
        return r;
    }
    hull(x, get(sheet, a), q, mpfr_div, sheet->bits);
    return r;
}

static void log2_end(mpfr_t out, const mpfr_t x, mpfr_rnd_t way)
{
    if (mpfr_sgn(x) <= 0)
        mpfr_set_inf(out, -1);
    else
        mpfr_log2(out, x, way);
}

rung_ival rung_ival_log2(rung_certified *sheet, rung_ival a)
{
    rung_ival r = fresh(sheet);
    log2_end(get(sheet, r)->low, get(sheet, a)->low, MPFR_RNDD);
    log2_end(get(sheet, r)->high, get(sheet, a)->high, MPFR_RNDU);
    return r;
}

rung_ival rung_ival_exp2(rung_certified *sheet, rung_ival a)
{
    rung_ival r = fresh(sheet);
    mpfr_exp2(get(sheet, r)->low, get(sheet, a)->low, MPFR_RNDD);
    mpfr_exp2(get(sheet, r)->high, get(sheet, a)->high, MPFR_RNDU);
    return r;
}

rung_ival rung_ival_ceil(rung_certified *sheet, rung_ival a)
{
    rung_ival r = fresh(sheet);
    mpfr_rint_ceil(get(sheet, r)->low, get(sheet, a)->low, MPFR_RNDD);
    mpfr_rint_ceil(get(sheet, r)->high, get(sheet, a)->high, MPFR_RNDU);
    return r;
}

rung_ival rung_ival_min(rung_certified *sheet, rung_ival a, rung_ival b)
{
    rung_ival r = fresh(sheet);
    mpfr_min(get(sheet, r)->low, get(sheet, a)->low, get(sheet, b)->low, MPFR_RNDD);
    mpfr_min(get(sheet, r)->high, get(sheet, a)->high, get(sheet, b)->high, MPFR_RNDU);
    return r;
}

rung_ival rung_ival_log2e(rung_certified *sheet)
{
    rung_ival r = fresh(sheet), one = rung_ival_u64(sheet, 1);
    mpfr_const_log2(get(sheet, r)->low, MPFR_RNDD);
    mpfr_const_log2(get(sheet, r)->high, MPFR_RNDU);
    return rung_ival_div(sheet, one, r);
}

/* log2 of x! at one end: lgamma with the end's rounding, divided by ln 2 rounded the other way. */
static void log2_factorial(mpfr_t out, uint64_t x, mpfr_rnd_t way)
{
    mpfr_t two;
    int sign;
    mpfr_init2(two, mpfr_get_prec(out));
    mpfr_const_log2(two, way == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD);
    mpfr_set_uj(out, x, way);
    mpfr_add_ui(out, out, 1, way);
    mpfr_lgamma(out, &sign, out, way);
    mpfr_div(out, out, two, way);
    mpfr_clear(two);
}

static rung_ival log2_factorial_ival(rung_certified *sheet, uint64_t x)
{
    rung_ival r = fresh(sheet);
    log2_factorial(get(sheet, r)->low, x, MPFR_RNDD);
    log2_factorial(get(sheet, r)->high, x, MPFR_RNDU);
    return r;
}

rung_ival rung_ival_log2_choose(rung_certified *sheet, uint64_t n, uint64_t k)
{
    if (k > n) return rung_ival_log2(sheet, rung_ival_u64(sheet, 0));
    rung_ival below = rung_ival_add(sheet, log2_factorial_ival(sheet, k), log2_factorial_ival(sheet, n - k));
    return rung_ival_sub(sheet, log2_factorial_ival(sheet, n), below);
}

rung_certainty rung_ival_less(const rung_certified *sheet, rung_ival a, rung_ival b)
{
    const interval *p = get(sheet, a), *q = get(sheet, b);
    if (sheet->failed || mpfr_nan_p(p->low) || mpfr_nan_p(p->high) || mpfr_nan_p(q->low) || mpfr_nan_p(q->high))
        return RUNG_UNSURE;
    if (mpfr_less_p(p->high, q->low)) return RUNG_SURELY;
    return mpfr_greaterequal_p(p->low, q->high) ? RUNG_SURELY_NOT : RUNG_UNSURE;
}

double rung_ival_low(const rung_certified *sheet, rung_ival a)
{
    return sheet->failed ? -INFINITY : mpfr_get_d(get(sheet, a)->low, MPFR_RNDD);
}

double rung_ival_high(const rung_certified *sheet, rung_ival a)
{
    return sheet->failed ? INFINITY : mpfr_get_d(get(sheet, a)->high, MPFR_RNDU);
}
