/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Numbers as they are stored: names, rounding to another format, scales, stochastic rounding and codes, against
 * rationals of GMP. Only the definition in docs/numbers.md is used here: a list of all codes of a format and exact
 * comparisons for codes with a scale, MPFR for the rest.
 */
#include <gmp.h>

#include "num/reference.h"

static rung_numbers numbers_of(const char *text)
{
    rung_numbers n;
    rung_error err = {{0}};
    if (rung_numbers_parse(&n, text, &err) != RUNG_OK) fail_msg("%s: %s", text, err.text);
    return n;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void names_of_mixed_formats_are_canonical(void **state)
{
    (void)state;
    static const char bf16[] = "weights=bf16,act=bf16,acc=f32,state=bf16,cache=bf16,gate=f32,beta=bf16";
    const struct {
        const char *text, *name;
    } rows[] = {
        {"bf16", "bf16"},
        {"e8m7", "bf16"},
        {"f32,state=f32,round=nearest", "f32"},
        {"acc=f32", "f32"},
        {"served:bf16", bf16},
        {bf16, bf16},
        {"beta=bf16,gate=e8m23,cache=e8m7,state=bf16,acc=f32,act=bf16,weights=bf16", bf16},
        {"served:bf16,state=int8/row", "weights=bf16,act=bf16,acc=f32,state=int8/row,cache=bf16,gate=f32,beta=bf16"},
        {"f32,cache=e4m3fn/32*e8m0", "weights=f32,act=f32,acc=f32,state=f32,cache=mxfp8,gate=f32,beta=f32"},
        {"f32,cache=e2m1fn/32*e8m0", "weights=f32,act=f32,acc=f32,state=f32,cache=mxfp4,gate=f32,beta=f32"},
        {"f32,cache=int4/32*f32", "weights=f32,act=f32,acc=f32,state=f32,cache=int4/32,gate=f32,beta=f32"},
        {"f32,cache=int4/32*f16", "weights=f32,act=f32,acc=f32,state=f32,cache=int4/32*f16,gate=f32,beta=f32"},
        {"f32,state=bf16,round=stochastic,seed=7",
         "weights=f32,act=f32,acc=f32,state=bf16,cache=f32,gate=f32,beta=f32,round=stochastic,seed=7"},
        {"served:bf16,chunk=1", bf16},
        {"f32,chunk=1", "f32"},
        {"f32,seed=7,round=stochastic,chunk=64,state=bf16",
         "weights=f32,act=f32,acc=f32,state=bf16,cache=f32,gate=f32,beta=f32,chunk=64,round=stochastic,seed=7"},
        {"f32,chunk=1048576,round=stochastic",
         "weights=f32,act=f32,acc=f32,state=f32,cache=f32,gate=f32,beta=f32,chunk=1048576,round=stochastic,seed=0"},
    };
    for (size_t i = 0; i < RUNG_COUNT(rows); i++) {
        rung_numbers n = numbers_of(rows[i].text);
        assert_string_equal(n.name, rows[i].name);
        assert_int_equal(n.mixed, strchr(n.name, '=') != NULL);
        assert_string_equal(numbers_of(n.name).name, n.name);
    }
    for (size_t i = 0; rung_served_at(i); i++) {
        char text[64];
        snprintf(text, sizeof text, "served:%s", rung_served_at(i)->name);
        assert_string_equal(numbers_of(text).name, rung_served_at(i)->text);
    }
}

static void wrong_mixed_formats_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *text, *says;
    } rows[] = {
        {"", "unknown number format"},
        {"f33", "did you mean"},
        {"served:", "served:bf16"},
        {"served:bf17", "served:bf16"},
        {"f32,", "is no setting"},
        {"f32,,state=bf16", "is no setting"},
        {"f32,state", "is no setting"},
        {"f32,state=", "state: "},
        {"f32,stat=bf16", "did you mean 'state'"},
        {"f32,state=bf16,state=bf16", "comes twice"},
        {"f32,state=int8", "needs a scale"},
        {"f32,state=int8/", "after '/'"},
        {"f32,state=int8/1", "after '/'"},
        {"f32,state=int8/032", "after '/'"},
        {"f32,state=int8/9999999", "after '/'"},
        {"f32,state=int8/row*", "a scale is"},
        {"f32,state=int8/row*f64", "a scale is"},
        {"f32,state=bf16/row", "takes no scale"},
        {"f32,act=e4m3fn", "not for act"},
        {"f32,acc=int8/row", "not for acc"},
        {"bf16,state=int8/row", "need acc=f32"},
        {"bf16,state=f32", "cannot hold"},
        {"q3.12,state=e4m3", "cannot hold"},
        {"f16,state=bf16", "cannot hold"},
        {"f32,round=up", "round is"},
        {"f32,seed=3", "round=stochastic"},
        {"f32,state=bf16,chunk=0", "chunk is a number of tokens"},
        {"f32,state=bf16,chunk=064", "chunk is a number of tokens"},
        {"f32,state=bf16,chunk=64x", "chunk is a number of tokens"},
        {"f32,state=bf16,chunk=1048577", "chunk is a number of tokens"},
        {"f32,state=bf16,chunk=64,chunk=64", "comes twice"},
        {"f32,chunk=64", "another format than acc=f32"},
        {"served:state32,chunk=64", "another format than acc=f32"},
        {"f32,state=bf16,round=stochastic,seed=03", "seed is"},
        {"f32,state=bf16,round=stochastic,seed=10000000000000000000", "seed is"},
        {"f32,state=bf16,round=stochastic,round=stochastic", "comes twice"},
        {"f32,weights=bf16,act=bf16,state=bf16aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "is no setting"},
    };
    for (size_t i = 0; i < RUNG_COUNT(rows); i++) {
        rung_numbers n;
        rung_error err = {{0}};
        if (rung_numbers_parse(&n, rows[i].text, &err) != RUNG_USAGE) fail_msg("'%s' was accepted", rows[i].text);
        if (!strstr(err.text, rows[i].says)) fail_msg("'%s': %s", rows[i].text, err.text);
    }
}

/* ---- rounding to another format ---------------------------------------------------------------------------------- */

static double ref_round(const rung_fmt *fmt, double x)
{
    if (isnan(x)) return x;
    if (fmt->kind == RUNG_FMT_FIXED) {
        if (isinf(x)) return x > 0 ? fmt->largest : fmt->smallest;
        mpq_t q;
        mpq_init(q);
        mpq_set_d(q, x);
        mpq_mul_2exp(q, q, (mp_bitcnt_t)fmt->fraction_bits);
        mpz_set(ref_num, mpq_numref(q)), mpz_set(ref_den, mpq_denref(q));
        mpq_clear(q);
        return ref_settle_fixed(fmt) + 0.0;
    }
    if (fmt->is_f64) return x;
    ref_begin(fmt);
    int ternary = mpfr_set_d(ref_z, x, MPFR_RNDN);
    mpfr_subnormalize(ref_z, ternary, MPFR_RNDN);
    double result = mpfr_get_d(ref_z, MPFR_RNDN);
    ref_end();
    return result;
}

/* A value of the format, near an edge or a tie of `near` more often than by chance. */
static double draw(const rung_fmt *fmt, const rung_fmt *near, rung_rng *rng)
{
    if (fmt->is_f64) return ldexp(rung_rng_normal(rng), (int)rung_rng_below(rng, 60) - 30);
    double x = rung_num_decode(fmt, rung_rng_u64(rng) & ((UINT64_C(1) << fmt->bits) - 1));
    if (rung_rng_below(rng, 2) && !near->is_f64) {
        x = rung_num_decode(near, rung_rng_u64(rng) & ((UINT64_C(1) << near->bits) - 1));
        bool even = near->kind == RUNG_FMT_FIXED || fabs(x) < near->least_normal || !isfinite(x);
        double half = even ? near->spacing / 2 : ldexp(1, ilogb(x) - near->mantissa_bits - 1);
        if (isfinite(x)) x = ref_round(fmt, x + ((double)rung_rng_below(rng, 3) - 1) * half);
    }
    return isnan(x) ? 0 : x;
}

static const char *const pairs[] = {"f64",    "f32",   "f16",   "bf16", "e4m3", "e5m2",   "e2m1", "e3m2",
                                    "e11m25", "e8m20", "q3.12", "q7.8", "q0.7", "q20.20", "q4.3"};

static void every_pair_of_formats_rounds_as_rationals_do(void **state)
{
    (void)state;
    const size_t trials = 200000 / (RUNG_COUNT(pairs) * RUNG_COUNT(pairs)) * 10;
    size_t held = 0;
    rung_rng rng;
    rung_rng_init(&rng, 1, 2, 3);
    for (size_t a = 0; a < RUNG_COUNT(pairs); a++)
        for (size_t s = 0; s < RUNG_COUNT(pairs); s++) {
            char text[64];
            rung_numbers n;
            snprintf(text, sizeof text, "%s,state=%s", pairs[a], pairs[s]);
            if (rung_numbers_parse(&n, text, NULL) != RUNG_OK) continue;
            held++;
            const rung_stored *stored = &n.of[RUNG_QUANTITY_STATE];
            for (size_t i = 0; i < trials; i++) {
                double x = draw(&n.acc, &stored->code, &rng), y = x, want = ref_round(&stored->code, x);
                rung_stored_keep(stored, &n.acc, &y, 1, 1, NULL, NULL);
                if (!ref_same(y, want)) fail_msg("%s: %a became %a, not %a", text, x, y, want);
                assert_true(ref_same(rung_num_round(&n.acc, y), y)); /* acc holds it */
            }
        }
    assert_true(held > 60);
}

/* ---- codes with a scale ------------------------------------------------------------------------------------------ */

/* All finite codes of a format of at most 8 bits that are not negative, ascending, by its definition. */
static size_t list_codes(double *list, const char *name)
{
    size_t count = 0;
    if (strncmp(name, "int", 3) == 0) {
        const int most = strcmp(name, "int8") == 0 ? 127 : 7;
        while (count <= (size_t)most) list[count] = (double)count, count++;
        return count;
    }
    const int x = name[1] - '0', y = name[3] - '0', bias = (1 << (x - 1)) - 1;
    for (int code = 0; code < 1 << (x + y); code++) {
        const int e = code >> y, m = code & ((1 << y) - 1);
        if (x == 4 && code == 127) continue; /* the only NaN of E4M3 */
        list[count++] = e ? ldexp((1 << y) + m, e - bias - y) : ldexp(m, 1 - bias - y);
    }
    return count;
}

/* The index of the code nearest to |x| / scale, ties to the even index, by rationals. Indices are codes. */
static size_t nearest_code(const double *list, size_t count, double x, double scale)
{
    mpq_t q, low, high;
    mpq_inits(q, low, high, (mpq_ptr)0);
    mpq_set_d(q, fabs(x));
    mpq_set_d(low, scale);
    mpq_div(q, q, low);
    size_t i = 0;
    while (i + 1 < count && (mpq_set_d(high, list[i + 1]), mpq_cmp(high, q) <= 0)) i++;
    if (i + 1 < count) {
        mpq_set_d(low, list[i]), mpq_set_d(high, list[i + 1]);
        mpq_sub(low, q, low), mpq_sub(high, high, q);
        const int side = mpq_cmp(low, high);
        if (side > 0 || (side == 0 && i % 2)) i++;
    }
    mpq_clears(q, low, high, (mpq_ptr)0);
    return i;
}

/* most / largest code, to nearest in the format. */
static double ref_ratio(const rung_fmt *fmt, double most, double largest)
{
    mpq_t q, d;
    mpq_inits(q, d, (mpq_ptr)0);
    mpq_set_d(q, most), mpq_set_d(d, largest);
    mpq_div(q, q, d);
    ref_begin(fmt);
    int ternary = mpfr_set_q(ref_z, q, MPFR_RNDN);
    mpfr_subnormalize(ref_z, ternary, MPFR_RNDN);
    double scale = mpfr_get_d(ref_z, MPFR_RNDN);
    ref_end();
    mpq_clears(q, d, (mpq_ptr)0);
    return scale;
}

static double ref_power(double most, double largest)
{
    if (most == 0) return 0x1p-127;
    int e = 0, top = 0;
    frexp(most, &e), frexp(largest, &top);
    return ldexp(1, fmin(127, fmax(-127, e - top)));
}

/* Of a string of bits; the reader of the test. */
static uint64_t take_bits(const uint8_t *in, uint64_t *bit, int count)
{
    uint64_t code = 0;
    for (int i = 0; i < count; i++, (*bit)++) code = code << 1 | (in[*bit / 8] >> (7 - *bit % 8) & 1);
    return code;
}

typedef struct block_case {
    const rung_stored *s;
    const rung_fmt *acc;
    double list[256];
    size_t codes;
    const char *text;
} block_case;

static void check_block(const block_case *c, const double *before, const double *after, double scale, size_t n,
                        const uint8_t *packed, uint64_t *bit)
{
    double most = 0, largest = c->list[c->codes - 1];
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(before[i]));
    const bool power = c->s->scaling == RUNG_SCALE_POWER;
    double want = power ? ref_power(most, largest) : ref_ratio(&c->s->scale, most, largest);
    if (!power && want < 0x1p-100) want = 0;
    if (scale != want) fail_msg("%s: scale %a, not %a", c->text, scale, want);
    uint64_t code = take_bits(packed, bit, power ? 8 : c->s->scale.bits);
    if (power)
        assert_true(ldexp(1, (int)code - 127) == scale);
    else
        assert_true(ref_value(&c->s->scale, code) == scale);
    for (size_t i = 0; i < n; i++) {
        const bool integer = c->s->code.kind == RUNG_FMT_FIXED;
        const size_t at = scale > 0 ? nearest_code(c->list, c->codes, before[i], scale) : 0;
        const double size = c->list[at];
        double value = ref_round(c->acc, size * scale); /* at most 32 bits: the product is exact */
        if (signbit(before[i]) && scale > 0 && !(integer && size == 0)) value = -value;
        if (!ref_same(after[i], value))
            fail_msg("%s: %a with scale %a became %a, not %a", c->text, before[i], scale, after[i], value);
        code = take_bits(packed, bit, c->s->code.bits);
        const uint64_t sign = code >> (c->s->code.bits - 1), rest = code & ((UINT64_C(1) << (c->s->code.bits - 1)) - 1);
        const uint64_t magnitude = integer && sign ? (UINT64_C(1) << (c->s->code.bits - 1)) - rest : rest;
        if (magnitude != at || sign != (uint64_t)(signbit(value) != 0))
            fail_msg("%s: %a with scale %a: code %zu expected, sign %d found, magnitude %zu", c->text, before[i], scale,
                     at, (int)sign, (size_t)magnitude);
    }
}

enum { ROWS = 3, ROW = 50 };

static void check_scaled(const char *name, const char *acc, int spread, rung_rng *rng)
{
    char text[64], code[24];
    snprintf(text, sizeof text, "%s,cache=%s", acc, name);
    rung_numbers n = numbers_of(text);
    block_case c = {.s = &n.of[RUNG_QUANTITY_CACHE], .acc = &n.acc, .text = text};
    snprintf(code, sizeof code, "%s", c.s->code.name);
    c.codes = list_codes(c.list, code);
    double before[ROWS * ROW], after[ROWS * ROW], scales[ROWS * ROW];
    int shift = (int)rung_rng_below(rng, (uint64_t)(2 * spread + 1)) - spread;
    for (size_t i = 0; i < ROWS * ROW; i++) {
        before[i] = ref_round(&n.acc, ldexp(rung_rng_normal(rng), shift));
        if (rung_rng_below(rng, 4) == 0) before[i] = ldexp((double)rung_rng_below(rng, 17) - 8, shift - 2);
        if (rung_rng_below(rng, 9) == 0) before[i] = -0.0;
    }
    for (size_t i = 0; i < ROW && rung_rng_below(rng, 3) == 0; i++) before[ROW + i] = 0;
    memcpy(after, before, sizeof after);
    uint8_t packed[ROWS * ROW * 8] = {0};
    const size_t blocks = rung_stored_scales(c.s, ROW);
    rung_stored_keep(c.s, &n.acc, after, ROWS, ROW, scales, NULL);
    uint64_t bits = rung_stored_pack(packed, 3, c.s, after, scales, ROWS, ROW), bit = 3;
    assert_true(bits == 3 + rung_stored_bits(c.s, ROWS, ROW));
    for (size_t r = 0; r < ROWS; r++)
        for (size_t b = 0; b < blocks; b++) {
            const size_t start = r * ROW + (b ? b * c.s->block : 0), left = (r + 1) * ROW - start;
            check_block(&c, before + start, after + start, scales[r * blocks + b],
                        left < c.s->block ? left : c.s->block, packed, &bit);
        }
    assert_true(bit == bits);
}

static void scaled_codes_are_those_of_rationals(void **state)
{
    (void)state;
    static const char *const names[] = {"int8/row",   "int8/16*bf16", "int4/32",  "int4/7*f16",
                                        "e4m3fn/row", "e4m3fn/128",   "mxfp8",    "mxfp4",
                                        "e2m1fn/16",  "int8/32*e8m0", "e4m3fn/2", "int4/row*e8m0"};
    rung_rng rng;
    rung_rng_init(&rng, 4, 5, 6);
    for (size_t i = 0; i < RUNG_COUNT(names); i++)
        for (int round = 0; round < 60; round++) {
            const bool half = strstr(names[i], "f16") && !strstr(names[i], "bf16");
            check_scaled(names[i], "f32", half ? 8 : round % 2 ? 120 : 3, &rng);
            check_scaled(names[i], "f64", half ? 8 : 60, &rng);
        }
}

/* e4m3fn without a scale: the nearest of its 127 magnitudes, what is larger becomes 448. */
static void numbers_without_infinities_saturate(void **state)
{
    (void)state;
    rung_numbers n = numbers_of("f32,cache=e4m3fn");
    const rung_stored *s = &n.of[RUNG_QUANTITY_CACHE];
    double list[256];
    const size_t count = list_codes(list, "e4m3fn");
    assert_int_equal(count, 127);
    assert_true(list[count - 1] == 448);
    rung_rng rng;
    rung_rng_init(&rng, 7, 8, 9);
    for (size_t i = 0; i < 20000; i++) {
        double x = i < 4 * count
                       ? list[i / 4] + (i / 4 + 1 < count ? (list[i / 4 + 1] - list[i / 4]) * (double)(i % 4) / 4 : 99)
                       : ref_round(&n.acc, ldexp(rung_rng_normal(&rng), (int)rung_rng_below(&rng, 24) - 12));
        double y = x;
        uint8_t packed = 0;
        rung_stored_keep(s, &n.acc, &y, 1, 1, NULL, NULL);
        const size_t at = nearest_code(list, count, x, 1);
        assert_true(ref_same(y, copysign(list[at], x)));
        assert_true(rung_stored_pack(&packed, 0, s, &y, NULL, 1, 1) == 8);
        assert_int_equal(packed, at | (signbit(x) ? 128 : 0));
    }
    double edge[] = {INFINITY, -INFINITY, NAN, 1e30, -449};
    rung_stored_keep(s, &n.acc, edge, 1, RUNG_COUNT(edge), NULL, NULL);
    assert_true(edge[0] == 448 && edge[1] == -448 && isnan(edge[2]) && edge[3] == 448 && edge[4] == -448);
}

static void a_block_with_an_infinity_is_an_error_mark(void **state)
{
    (void)state;
    rung_numbers n = numbers_of("f32,cache=int8/4");
    double x[] = {1, INFINITY, 2, 3, 1, 2, 3, 4}, y[] = {NAN, 1, 1, 1, 0, 0, 0, 0}, scales[2];
    rung_stored_keep(&n.of[RUNG_QUANTITY_CACHE], &n.acc, x, 1, 8, scales, NULL);
    for (size_t i = 0; i < 8; i++) assert_int_equal(isnan(x[i]) != 0, i < 4);
    rung_stored_keep(&n.of[RUNG_QUANTITY_CACHE], &n.acc, y, 1, 8, scales, NULL);
    for (size_t i = 0; i < 8; i++) assert_int_equal(isnan(y[i]) != 0, i < 4);
    assert_true(scales[1] == 0 && y[4] == 0 && !signbit(y[4]));
    n = numbers_of("f32,cache=int4/row*f16"); /* the scale would be infinite */
    double z[] = {1e6, 1};
    rung_stored_keep(&n.of[RUNG_QUANTITY_CACHE], &n.acc, z, 1, 2, NULL, NULL);
    assert_true(isnan(z[0]) && isnan(z[1]));
}

/* ---- stochastic rounding ----------------------------------------------------------------------------------------- */

static uint64_t ref_mix(uint64_t z)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The neighbours of x by MPFR's directed roundings, and the share of the way from the one nearer to zero. */
static double ref_by_chance(const rung_fmt *fmt, double x, uint64_t chance)
{
    double low, high;
    if (x == 0 || fabs(x) >= fmt->largest) return ref_round(fmt, x);
    if (fmt->kind == RUNG_FMT_FIXED) {
        low = floor(ldexp(fabs(x), fmt->fraction_bits)), high = ldexp(low + 1, -fmt->fraction_bits);
        low = ldexp(low, -fmt->fraction_bits);
    } else {
        ref_begin(fmt);
        int ternary = mpfr_set_d(ref_z, fabs(x), MPFR_RNDD);
        mpfr_subnormalize(ref_z, ternary, MPFR_RNDD);
        low = mpfr_get_d(ref_z, MPFR_RNDN);
        ternary = mpfr_set_d(ref_z, fabs(x), MPFR_RNDU);
        mpfr_subnormalize(ref_z, ternary, MPFR_RNDU);
        high = mpfr_get_d(ref_z, MPFR_RNDN);
        ref_end();
    }
    if (low == fabs(x)) return x;
    mpq_t share, width, drawn;
    mpq_inits(share, width, drawn, (mpq_ptr)0);
    mpq_set_d(share, fabs(x)), mpq_set_d(drawn, low), mpq_sub(share, share, drawn);
    mpq_set_d(width, high), mpq_sub(width, width, drawn), mpq_div(share, share, width);
    mpq_set_d(drawn, (double)(chance >> 11) * 0x1p-53);
    const bool up = mpq_cmp(drawn, share) < 0;
    mpq_clears(share, width, drawn, (mpq_ptr)0);
    const double result = copysign(up ? high : low, x);
    return fmt->kind == RUNG_FMT_FIXED ? result + 0.0 : result;
}

static void stochastic_rounding_follows_its_key(void **state)
{
    (void)state;
    static const char *const formats[] = {"bf16", "f16", "e4m3", "e5m2", "q3.4", "e8m20"};
    rung_rng rng;
    rung_rng_init(&rng, 10, 11, 12);
    for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
        char text[64];
        snprintf(text, sizeof text, "f32,state=%s,round=stochastic", formats[f]);
        rung_numbers n = numbers_of(text);
        const rung_stored *s = &n.of[RUNG_QUANTITY_STATE];
        double x[64], y[64];
        for (size_t round = 0; round < 200; round++) {
            const size_t layer = rung_rng_below(&rng, 9), group = rung_rng_below(&rng, 3),
                         pos = rung_rng_below(&rng, 99);
            const rung_dither d = {rung_dither_key(round, layer, group, pos), 1000 * round};
            for (size_t i = 0; i < 64; i++) y[i] = x[i] = draw(&n.acc, &s->code, &rng);
            rung_stored_keep(s, &n.acc, y, 4, 16, NULL, &d);
            const uint64_t key = ref_mix(ref_mix(ref_mix(ref_mix(round) ^ layer) ^ group) ^ pos);
            for (size_t i = 0; i < 64; i++) {
                double want = ref_by_chance(&s->code, x[i], ref_mix(key ^ (1000 * round + i)));
                if (!ref_same(y[i], want)) fail_msg("%s: %a became %a, not %a", text, x[i], y[i], want);
            }
        }
    }
}

/* The mean of many roundings of one number is the number: within six standard deviations. */
static void stochastic_rounding_has_no_bias(void **state)
{
    (void)state;
    rung_numbers n = numbers_of("f32,state=bf16,round=stochastic");
    static double x[1 << 16];
    const double truth = 1 + 0x1p-7 * 0.3125;
    for (size_t i = 0; i < RUNG_COUNT(x); i++) x[i] = truth;
    const rung_dither d = {rung_dither_key(1, 2, 3, 4), 0};
    rung_stored_keep(&n.of[RUNG_QUANTITY_STATE], &n.acc, x, 1, RUNG_COUNT(x), NULL, &d);
    double up = 0;
    for (size_t i = 0; i < RUNG_COUNT(x); i++) {
        assert_true(x[i] == 1 || x[i] == 1 + 0x1p-7);
        up += x[i] > 1;
    }
    const double share = up / (double)RUNG_COUNT(x), deviation = sqrt(0.3125 * 0.6875 / (double)RUNG_COUNT(x));
    assert_true(fabs(share - 0.3125) < 6 * deviation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_mixed_formats_are_canonical),
        cmocka_unit_test(wrong_mixed_formats_are_refused),
        cmocka_unit_test(every_pair_of_formats_rounds_as_rationals_do),
        cmocka_unit_test(scaled_codes_are_those_of_rationals),
        cmocka_unit_test(numbers_without_infinities_saturate),
        cmocka_unit_test(a_block_with_an_infinity_is_an_error_mark),
        cmocka_unit_test(stochastic_rounding_follows_its_key),
        cmocka_unit_test(stochastic_rounding_has_no_bias),
    };
    return cmocka_run_group_tests(tests, ref_setup, ref_teardown);
}
