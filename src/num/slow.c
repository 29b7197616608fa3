/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: functions by MPFR at rising precision, until a lower and an upper bound of the exact value round to
 * the same number of the format. The bounds come from directed rounding of a chain of monotone steps, so
 * there is no error analysis to get wrong.
 */
#include "slow.h"

#include <mpfr.h>
#include <threads.h>

#include "rounded_ops.h"

enum { FIRST_BITS = 96, LAST_BITS = 1 << 15 };

/* ---- the caches of a thread -------------------------------------------------------------------------------------- */

/* MPFR caches ln 2 and pi per thread, and must be called when a thread ends. */
static once_flag cache_once = ONCE_FLAG_INIT;
static tss_t cache_key;

static void free_cache(void *unused)
{
    (void)unused;
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

static void make_cache_key(void)
{
    (void)tss_create(&cache_key, free_cache); /* on failure the caches are only freed when the process ends */
}

static void note_thread(void)
{
    call_once(&cache_once, make_cache_key);
    if (tss_get(cache_key) == NULL) (void)tss_set(cache_key, &cache_key);
}

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

static mpfr_rnd_t towards(bool up)
{
    return up ? MPFR_RNDU : MPFR_RNDD;
}

/* 1 / (1 + e^-x): falling in e^-x. */
static void bound_sigmoid(mpfr_t y, double x, bool up)
{
    mpfr_set_d(y, -x, MPFR_RNDN);
    mpfr_exp(y, y, towards(!up));
    mpfr_add_ui(y, y, 1, towards(!up));
    mpfr_ui_div(y, 1, y, towards(up));
}

/* ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|), which neither overflows nor cancels. */
static void bound_softplus(mpfr_t y, double x, bool up)
{
    mpfr_set_d(y, -fabs(x), MPFR_RNDN);
    mpfr_exp(y, y, towards(up));
    mpfr_log1p(y, y, towards(up));
    if (x > 0) mpfr_add_d(y, y, x, towards(up));
}

/* x/2 erfc(-x / sqrt 2). The bound is made for the magnitude; a negative x turns it round. erfc(t) falls in
 * t, and t = -x / sqrt 2 is negative for a positive x. */
static void bound_gelu(mpfr_t y, double x, bool up)
{
    const bool larger = x > 0 ? up : !up;
    mpfr_sqrt_ui(y, 2, x > 0 ? towards(!larger) : towards(larger));
    mpfr_d_div(y, fabs(x), y, x > 0 ? towards(larger) : towards(!larger));
    if (x > 0) mpfr_neg(y, y, MPFR_RNDN);
    mpfr_erfc(y, y, towards(larger));
    mpfr_mul_d(y, y, fabs(x), towards(larger));
    mpfr_div_2ui(y, y, 1, MPFR_RNDN);
    if (x < 0) mpfr_neg(y, y, MPFR_RNDN);
}

/* y >= fn(x) when up, y <= fn(x) otherwise. */
static void bound(mpfr_t y, rung_fn fn, double x, bool up)
{
    switch (fn) {
    case RUNG_FN_SIGMOID:
        bound_sigmoid(y, x, up);
        return;
    case RUNG_FN_SOFTPLUS:
        bound_softplus(y, x, up);
        return;
    case RUNG_FN_GELU:
        bound_gelu(y, x, up);
        return;
    default:
        break;
    }
    mpfr_set_d(y, x, MPFR_RNDN);
    if (fn == RUNG_FN_EXP) mpfr_exp(y, y, towards(up));
    if (fn == RUNG_FN_LOG) mpfr_log(y, y, towards(up));
    if (fn == RUNG_FN_TANH) mpfr_tanh(y, y, towards(up));
}

/* ---- rounding an MPFR number to the format ----------------------------------------------------------------------- */

/* The double nearest to zero with its last bit set when inexact: rounded to odd, which a later rounding to at
 * most 51 bits cannot tell from y. Underflow leaves the least subnormal double and overflow the largest
 * double, both odd. */
static double to_odd(const mpfr_t y)
{
    const double x = mpfr_get_d(y, MPFR_RNDZ);
    return isinf(x) || mpfr_cmp_d(y, x) == 0 ? x : double_of(bits_of(x) | 1);
}

static double round_fixed(const rung_fmt *fmt, mpfr_t y)
{
    if (mpfr_cmp_d(y, fmt->largest) >= 0) return fmt->largest;
    if (mpfr_cmp_d(y, fmt->smallest) <= 0) return fmt->smallest;
    mpfr_mul_2si(y, y, fmt->fraction_bits, MPFR_RNDN);
    mpfr_rint(y, y, MPFR_RNDN);
    return mpfr_get_d(y, MPFR_RNDN) * fmt->spacing + 0.0;
}

static double round_exactly(const rung_fmt *fmt, mpfr_t y)
{
    if (fmt->kind == RUNG_FMT_FIXED) return round_fixed(fmt, y);
    return fmt->is_f64 ? mpfr_get_d(y, MPFR_RNDN) : rung_num_round(fmt, to_odd(y));
}

static bool decide(double *out, const rung_fmt *fmt, rung_fn fn, double x, mpfr_prec_t bits)
{
    mpfr_t y;
    mpfr_init2(y, bits);
    bound(y, fn, x, false);
    *out = round_exactly(fmt, y);
    bound(y, fn, x, true);
    const bool same = bits_of(*out) == bits_of(round_exactly(fmt, y));
    mpfr_clear(y);
    return same;
}

/* The longest search that is known to happen is gelu at the least subnormal number s of f64: s/2 + 0.4 s^2, a tie but
 * for a part in 2^1074. If 2^15 bits do not decide, the value would be a tie, which mathematics has excluded for the
 * other functions, but not for gelu. It would then be rounded downwards. */
double rung_slow_fn(const rung_fmt *fmt, rung_fn fn, double x)
{
    note_thread();
    const mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
    mpfr_set_emin(mpfr_get_emin_min()); /* the caller may use MPFR too, with another exponent range */
    mpfr_set_emax(mpfr_get_emax_max());
    double out = NAN;
    for (mpfr_prec_t bits = FIRST_BITS; bits <= LAST_BITS; bits *= 2)
        if (decide(&out, fmt, fn, x, bits)) break;
    mpfr_set_emin(least);
    mpfr_set_emax(most);
    return out;
}
