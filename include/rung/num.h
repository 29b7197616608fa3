/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: arithmetic that is exact to the bit. A number of any supported format is held in a double; every elementary
 * operation returns the correctly rounded result in that format (round to nearest, ties to even). What is stored
 * therefore is a p-bit number, and a second implementation that follows the same order of operations reproduces
 * every bit. Layer 1; the only module that includes GMP and MPFR.
 *
 * Everything here is a pure function of its arguments and may be called from any thread. The rounding mode of the
 * machine must be the default, to nearest.
 *
 * Floats eXmY are IEEE-like: subnormals, overflow to infinity, p = 1+X+Y. Fixed point qI.F is two's complement with
 * 1+I+F bits and saturates; it has one zero. A NaN is never a value: it marks an error (inf - inf, 0 * inf, 0/0,
 * sqrt and log of a negative number, any fixed-point division by zero) and spreads. Callers look for it with
 * rung_num_find_nan.
 */
#ifndef RUNG_NUM_H
#define RUNG_NUM_H

#include <stddef.h>

#include "rung/base.h"

RUNG_API_BEGIN

typedef enum rung_fmt_kind { RUNG_FMT_FLOAT = 1, RUNG_FMT_FIXED = 2 } rung_fmt_kind;

/* Immutable after rung_fmt_parse. The first half defines the format. The second half are constants for the inner loops,
 * derived from the first. */
typedef struct rung_fmt {
    rung_fmt_kind kind;
    int exponent_bits, mantissa_bits; /* X, Y of a float; 2 <= X <= 11, 1 <= Y <= 25, or the native f64 (11, 52) */
    int integer_bits, fraction_bits;  /* I, F of a fixed point format; I, F >= 0, 1 <= I+F <= 52 */
    int bits;                         /* p, the size of one stored number */
    char name[16];                    /* canonical: "f64", "f32", "bf16", "f16", "e8m3", "q3.12" */

    double largest;      /* the largest finite value */
    double overflow;     /* float: the least magnitude that rounds to infinity, largest + half a unit */
    double smallest;     /* most negative fixed-point value, -largest for floats */
    double least_normal; /* 2^emin of a float, 0 for fixed point */
    double grid_magic;   /* 1.5 * 2^52 * spacing: x + grid_magic - grid_magic rounds x to a multiple of `spacing` */
    double spacing;      /* distance of neighbouring subnormals, or of neighbouring fixed-point numbers */
    /* float: added to the exponent field of x it gives the bits of the double m = 1.5 * 2^52 units of the binade of x;
     * x+m-m then keeps Y+1 bits of x */
    uint64_t binade_magic;
    uint64_t round_half; /* half a unit in the last kept place, minus one, as mantissa bits of a double */
    uint64_t round_keep; /* mask of the bits of a double that are kept */
    int round_drop;      /* number of mantissa bits of a double that are dropped */
    bool is_f64;         /* native double: rounding is the identity */
    /* + - * / in double followed by one rounding is proven correct (Y <= 25 and X <= 10; or fixed with 2(I+F) <= 52; or
     * f64, where the one rounding is that of the double) */
    bool double_once_ok;
} rung_fmt;

/* "f64" "f32" "bf16" "f16" "eXmY" "qI.F". f32 = e8m23, bf16 = e8m7, f16 = e5m10 with infinities. */
rung_status rung_fmt_parse(rung_fmt *fmt, const char *name, rung_error *err);

/* ---- one number ----------------------------------------------------------------------------------------- */

/* Arguments must be values of the format, except for rung_num_round, which takes any double. */
double rung_num_round(const rung_fmt *fmt, double x);
bool rung_num_is_value(const rung_fmt *fmt, double x); /* x is a number (not NaN) of the format */
double rung_num_add(const rung_fmt *fmt, double a, double b);
double rung_num_sub(const rung_fmt *fmt, double a, double b);
double rung_num_mul(const rung_fmt *fmt, double a, double b);
double rung_num_div(const rung_fmt *fmt, double a, double b);

/* Functions of one argument. Each is one operation: one rounding of the exact real value. At an infinity or a pole the
 * value is the limit: exp(-inf) = +0, log(+-0) = -inf, tanh(+-inf) = +-1, sigmoid(-inf) = softplus(-inf) = +0,
 * gelu(-inf) = -0. sqrt, tanh and gelu keep the sign of a zero. Fixed point saturates limits as well, so its log(0) is
 * the smallest value. (That limit is one-sided. The limit of 1/0 has two sides, so 1/0 is a NaN there.) */
typedef enum rung_fn {
    RUNG_FN_SQRT,
    RUNG_FN_EXP,
    RUNG_FN_LOG,
    RUNG_FN_TANH,
    RUNG_FN_SIGMOID,  /* 1/(1+e^-x) */
    RUNG_FN_SOFTPLUS, /* ln(1+e^x) */
    RUNG_FN_GELU,     /* x * Phi(x), Phi the normal distribution function (the erf form) */
    RUNG_FN_COUNT
} rung_fn;
const char *rung_fn_name(rung_fn fn);
double rung_num_fn(const rung_fmt *fmt, rung_fn fn, double x);

/* Converts a value to its p-bit code and back. The code of a float is sign, exponent, mantissa from the high bit down;
 * that of a fixed-point number is two's complement. decode(encode(x)) == x, including minus zero. In a float format
 * every NaN is encoded as (0, all ones, 10...0), and all codes of NaN decode to NaN. Fixed point has no code for NaN,
 * and encodes it as the least number. Callers that store or compare codes must therefore refuse NaN first
 * (rung_num_find_nan). */
uint64_t rung_num_encode(const rung_fmt *fmt, double x);
double rung_num_decode(const rung_fmt *fmt, uint64_t code);
/* Packs `count` numbers into a string of count*p bits: the most significant bit of a code first, the last byte filled
 * with zeros. `out` has (count*p+7)/8 bytes. */
void rung_num_pack(uint8_t *out, const rung_fmt *fmt, const double *x, size_t count);
void rung_num_unpack(double *x, const rung_fmt *fmt, const uint8_t *in, size_t count);
/* Returns the index of the first NaN, or SIZE_MAX. */
size_t rung_num_find_nan(const double *x, size_t count);

/* ---- many numbers: the hot operations, vectorised ---------------------------------------------------------- */

/* `count` keys and values that lanes [from, to) see, in the order of the sums. Strides are in elements. */
typedef struct rung_attend_run {
    const double *k, *v; /* [dk], [dv] */
    ptrdiff_t k_stride, v_stride;
    size_t count;
    size_t from, to; /* lanes [from, to) */
} rung_attend_run;

/* Softmax attention of up to RUNG_ATTEND_LANES queries, one lane each. */
#define RUNG_ATTEND_LANES 64
#define RUNG_ATTEND_KEYS  32 /* are taken at a time */
typedef struct rung_attend {
    size_t dk, dv, lanes;
    const double *q; /* [dk][RUNG_ATTEND_LANES] */
    const rung_attend_run *run;
    size_t runs;
    bool two_pass;   /* true: find the largest score first; false: online softmax */
    double *scratch; /* RUNG_ATTEND_SCRATCH(dk, dv) elements */
} rung_attend;
#define RUNG_ATTEND_SCRATCH(dk, dv) (((dk) + (dv) + 3) * (RUNG_ATTEND_LANES + 2 * RUNG_ATTEND_KEYS) + 64)

/* Operations on n lanes, element by element. `out` may be an input. Lanes are independent, so the vector width never
 * affects a result: every instruction set gives the same bits as the functions above. r() rounds. */
typedef struct rung_num_kernels {
    const char *name;
    void (*round)(const rung_fmt *fmt, double *out, const double *x, size_t n);
    void (*add)(const rung_fmt *fmt, double *out, const double *a, const double *b, size_t n);
    void (*sub)(const rung_fmt *fmt, double *out, const double *a, const double *b, size_t n);
    void (*mul)(const rung_fmt *fmt, double *out, const double *a, const double *b, size_t n);
    void (*div)(const rung_fmt *fmt, double *out, const double *a, const double *b, size_t n);
    void (*scale)(const rung_fmt *fmt, double *out, const double *a, double s, size_t n); /* r(a_i s) */
    /* acc_i = r(acc_i + r(a_i b_i)); in scale_add the second factor is s in all lanes. */
    void (*mul_add)(const rung_fmt *fmt, double *acc, const double *a, const double *b, size_t n);
    void (*scale_add)(const rung_fmt *fmt, double *acc, const double *a, double s, size_t n);
    void (*fn)(const rung_fmt *fmt, rung_fn fn, double *out, const double *x, size_t n);
    /* The step of every online softmax, per lane: m' = s > m ? s : m; a = exp(r(m - m')); e = exp(r(s - m')); den =
     * r(r(den a) + e); m = m'. Writes a and e; the caller then updates the numerators with fade_add. */
    void (*softmax_step)(const rung_fmt *fmt, double *m, double *den, double *a, double *e, const double *s, size_t n);
    /* num_i = r(r(num_i a_i) + r(e_i v)) */
    void (*fade_add)(const rung_fmt *fmt, double *num, const double *a, const double *e, double v, size_t n);
    /* Does all steps for all keys. num = [dv][RUNG_ATTEND_LANES] and den = [RUNG_ATTEND_LANES] start from zeros; the
     * caller divides. Returns false, and writes nothing, where this fast way is not proven to give the same bits as the
     * steps above: numbers that might overflow, infinities, NaN, a -0 that might get lost, some formats. */
    bool (*attend)(const rung_fmt *fmt, double *num, double *den, const rung_attend *job);
} rung_num_kernels;

/* The kernels of an instruction set (the reference ones if the build has none for it), and those of rung_cpu_isa(). */
const rung_num_kernels *rung_num_kernels_of(rung_isa isa);
const rung_num_kernels *rung_num_kernels_get(void);

/* acc = +0; for k = 0, 1, ...: acc = r(acc + r(a_k b_k)). The only order of a dot product in this library. */
double rung_num_dot(const rung_fmt *fmt, const double *a, const double *b, size_t n);

/* ---- formats by quantity: docs/numbers.md, "Mixed formats" -------------------------------------------------------- */

/* What a model stores and computes. Each may have a format of its own. */
typedef enum rung_quantity {
    RUNG_QUANTITY_WEIGHTS, /* the tensors of the file */
    RUNG_QUANTITY_ACT,     /* what an operation of a layer leaves: residual stream, q, k, v, outputs */
    RUNG_QUANTITY_ACC,   /* what operations compute with: sums, softmax accumulators, a state while a token reads it */
    RUNG_QUANTITY_STATE, /* a recurrent state from one token to the next */
    RUNG_QUANTITY_CACHE, /* keys and values of earlier tokens */
    RUNG_QUANTITY_GATE,  /* decays and their logarithms */
    RUNG_QUANTITY_BETA,  /* rates of a delta rule */
    RUNG_QUANTITY_COUNT
} rung_quantity;
extern const char *const rung_quantity_names[]; /* [quantity] */

typedef enum rung_scale_kind {
    RUNG_SCALE_NONE,
    RUNG_SCALE_RATIO, /* the largest magnitude divided by the largest code, a float */
    RUNG_SCALE_POWER, /* a power of two, 8 bits (microscaling) */
} rung_scale_kind;

/* How numbers of one quantity are stored: as codes of a format, or as codes that share a scale with their neighbours.
 * The numbers of a row that share a scale are a block. */
typedef struct rung_stored {
    rung_fmt code;
    bool finite; /* no infinities: what is larger becomes the largest */
    rung_scale_kind scaling;
    rung_fmt scale; /* of RUNG_SCALE_RATIO */
    size_t block;   /* SIZE_MAX: a row */
    char name[24];  /* canonical */
} rung_stored;

/* One number format for everything, or one for each quantity. Immutable after rung_numbers_parse. */
typedef struct rung_numbers {
    rung_fmt acc; /* every operation is one of this format */
    rung_stored of[RUNG_QUANTITY_COUNT];
    bool mixed;      /* false: everything is in acc, rounded to nearest */
    size_t chunk;    /* states are stored after every token whose number, from 1, is a multiple of it; acc in between */
    bool stochastic; /* states are rounded stochastically */
    uint64_t seed;
    char name[256]; /* canonical: the name of the format, or "weights=...,act=...,..." */
} rung_numbers;

/* "FORMAT", or "[FORMAT | served:NAME] {,QUANTITY=STORED} [,chunk=N] [,round=stochastic] [,seed=N]". */
rung_status rung_numbers_parse(rung_numbers *numbers, const char *text, rung_error *err);
void rung_numbers_of_fmt(rung_numbers *numbers, const rung_fmt *fmt); /* everything in one format */
/* The named sets: served:NAME stands for rung_served_at(index)->text. */
typedef struct rung_served {
    const char *name, *text, *meaning;
} rung_served;
const rung_served *rung_served_at(size_t index); /* NULL beyond the last */

/* How a recurrent state is stored after so many tokens: as `state`, or inside a chunk as `acc`. */
const rung_stored *rung_numbers_state_after(const rung_numbers *numbers, size_t tokens);

size_t rung_stored_scales(const rung_stored *stored, size_t row); /* scales of a row of so many numbers */
uint64_t rung_stored_bits(const rung_stored *stored, size_t rows, size_t row);

/* Where the random numbers of a stochastic rounding come from: number i of the values gets the one of `key` and
 * first + i. NULL wherever a dither may be given: round to nearest. */
typedef struct rung_dither {
    uint64_t key, first;
} rung_dither;
uint64_t rung_dither_key(uint64_t seed, size_t layer, size_t group, size_t position);

/* Stores rows of numbers and reads them back: x becomes what the codes stand for, as values of `acc`. `scales` receives
 * rung_stored_scales() numbers per row; NULL: not wanted. */
void rung_stored_keep(const rung_stored *stored, const rung_fmt *acc, double *x, size_t rows, size_t row,
                      double *scales, const rung_dither *dither);
/* Writes the codes of numbers that rung_stored_keep has left, each block behind its scale, from bit `bit` of a string
 * that is zero from there on. Returns the bit after them. */
uint64_t rung_stored_pack(uint8_t *out, uint64_t bit, const rung_stored *stored, const double *x, const double *scales,
                          size_t rows, size_t row);

/* ---- certified reals --------------------------------------------------------------------------------------------- */

/* Intervals that certainly contain a real number, for inequalities that must not depend on a rounded double. A sheet
 * owns all values made on it. All have `bits` bits of mantissa and are rounded outwards. Integers of up to `bits` bits,
 * and their sums and products that fit, are exact. */
typedef struct rung_certified rung_certified;
typedef struct rung_ival {
    size_t at; /* index on the sheet */
} rung_ival;

rung_status rung_certified_new(rung_certified **out, size_t bits, rung_error *err);
void rung_certified_free(rung_certified *sheet);
void rung_certified_reset(rung_certified *sheet);        /* forgets all values, keeps the memory */
bool rung_certified_failed(const rung_certified *sheet); /* true: memory ran out, and no value may be used */

rung_ival rung_ival_u64(rung_certified *sheet, uint64_t x);
rung_ival rung_ival_real(rung_certified *sheet, double x); /* exactly this double */
rung_ival rung_ival_add(rung_certified *sheet, rung_ival a, rung_ival b);
rung_ival rung_ival_sub(rung_certified *sheet, rung_ival a, rung_ival b);
rung_ival rung_ival_mul(rung_certified *sheet, rung_ival a, rung_ival b);
rung_ival rung_ival_div(rung_certified *sheet, rung_ival a, rung_ival b); /* the whole line if b contains 0 */
rung_ival rung_ival_log2(rung_certified *sheet, rung_ival a);             /* minus infinity for numbers below 0 */
rung_ival rung_ival_exp2(rung_certified *sheet, rung_ival a);
rung_ival rung_ival_ceil(rung_certified *sheet, rung_ival a);
rung_ival rung_ival_log2e(rung_certified *sheet); /* 1 / ln 2 */
rung_ival rung_ival_min(rung_certified *sheet, rung_ival a, rung_ival b);
/* log2 of n choose k; minus infinity if k > n */
rung_ival rung_ival_log2_choose(rung_certified *sheet, uint64_t n, uint64_t k);

/* Whether a < b: certainly not, unknown, certainly. If unknown, the caller tries again with more bits. */
typedef enum rung_certainty { RUNG_SURELY_NOT = -1, RUNG_UNSURE = 0, RUNG_SURELY = 1 } rung_certainty;
rung_certainty rung_ival_less(const rung_certified *sheet, rung_ival a, rung_ival b);
/* The ends of the interval, rounded outwards to doubles. */
double rung_ival_low(const rung_certified *sheet, rung_ival a);
double rung_ival_high(const rung_certified *sheet, rung_ival a);

/* ---- parts --------------------------------------------------------------------------------------------------------- */

rung_part rung_part_gmp(void);
rung_part rung_part_mpfr(void);

RUNG_API_END

#endif
