/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung-check: confirms or refuses a certificate that a model fails at a task. One file, libc and libm only, written
 * from docs/certificate.md; section numbers in the comments are those of that document. It shares nothing with the
 * program that writes certificates and never searches: it runs the model once for each prompt, one operation after the
 * other. It is no evaluator for daily use, and it does not say that a model is right.
 *
 * Contents: verdicts and memory; SHA-256; numbers (3); functions (3.2); JSON; safetensors; the certificate (1); the
 * architecture and its tensors; mixers; layers; tasks; what is claimed (2); the command. */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION "0.2.0"

/* Every result rests on one rounding per operation, in double, in the order that is written; with -m32 -mfpmath=sse. */
#if defined __FAST_MATH__ || defined __ASSOCIATIVE_MATH__ || defined __RECIPROCAL_MATH__ || FLT_EVAL_METHOD != 0 ||    \
    (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__)
#error "rung-check would accept false certificates: compile it without -ffast-math, -Ofast and their parts"
#endif

/* ---- verdicts and memory ----------------------------------------------------------------------------------------- */

/* Exit codes. 0 is for --help, --version and --exit-zero, so a crash or an early end does not look like acceptance. */
enum verdict { SHOWN = 0, USAGE = 2, MALFORMED = 3, SYSTEM = 4, ACCEPTED = 10, REJECTED = 20 };

/* One check at a time. What cannot go on leaves with stop(), and everything allocated is freed in one place. */
static struct {
    jmp_buf leave;
    enum verdict verdict;
    char reason[512];
    struct block *blocks;
    size_t used, limit, most; /* bytes: now, allowed now, ever */
    uint64_t work;            /* operations so far */
    bool given_up;
} run;

struct block {
    struct block *next;
    size_t cost;
    max_align_t data[];
};

/* Names in a reason are the file's: printable ASCII, so that none begins a line "accepted" or moves the cursor. */
static _Noreturn void stop(enum verdict verdict, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run.reason, sizeof run.reason, format, arguments);
    va_end(arguments);
    for (char *c = run.reason; *c; c++) *c = *c < 0x20 || *c > 0x7e ? '?' : *c;
    run.verdict = verdict;
    longjmp(run.leave, 1);
}

#define reject(...) stop(REJECTED, __VA_ARGS__)

/* More than any certificate needs: 2^33 bytes are the weights and caches of a billion numbers. */
static const size_t memory_limit = (size_t)(SIZE_MAX > UINT32_MAX ? UINT64_C(1) << 33 : UINT64_C(1) << 31);

/* Operations that a check may take: minutes. --max-work. */
static uint64_t max_work = 100000000000;

static void spend(uint64_t operations)
{
    run.work += operations;
    if ((run.given_up = run.work > max_work))
        stop(MALFORMED, "it takes more than %llu operations; --max-work allows more", (unsigned long long)max_work);
}

/* So many bytes in all from now on, as far as there may be so many at all. */
static void allow(uint64_t bytes)
{
    run.limit = bytes < run.most ? (size_t)bytes : run.most;
}

static size_t times(size_t a, size_t b)
{
    size_t product = 0;
    if (__builtin_mul_overflow(a, b, &product) || product > (SIZE_MAX >> (SIZE_MAX > UINT32_MAX ? 16 : 2)) + 1)
        reject("sizes: %zu times %zu is absurd", a, b);
    return product;
}

/* Zeroed memory that lives until the end of the check. Small pieces cost more than they hold: the link, and what malloc
 * keeps for itself, count too. */
static void *allocate(size_t count, size_t size)
{
    enum { MALLOC_OWN = 16 };
    size_t bytes = times(count, size) + sizeof(struct block) + 1, cost = bytes + MALLOC_OWN;
    if ((run.given_up = cost > run.limit - run.used))
        stop(MALFORMED, "it takes more than %zu bytes of memory: too much for files of this size", run.limit);
    struct block *block = calloc(1, bytes);
    if (!block) stop(SYSTEM, "out of memory");
    run.used += block->cost = cost;
    block->next = run.blocks;
    run.blocks = block;
    return block->data;
}

static double *numbers(size_t count)
{
    return allocate(count, sizeof(double));
}

/* Everything that was allocated after `last`; NULL: all. */
static void free_after(struct block *last)
{
    while (run.blocks != last) {
        struct block *block = run.blocks;
        run.blocks = block->next;
        run.used -= block->cost;
        free(block);
    }
}

struct text {
    const char *at;
    size_t len;
};

static int compare_text(struct text a, struct text b)
{
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static bool is(struct text text, const char *word)
{
    return compare_text(text, (struct text){word, strlen(word)}) == 0;
}

/* The index of the text among `count` words, or `count`. */
static size_t index_of(struct text text, const char *const *words, size_t count)
{
    size_t i = 0;
    while (i < count && !is(text, words[i])) i++;
    return i;
}

static size_t count_of(struct text text, char c)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) count += text.at[i] == c;
    return count;
}

/* Cuts off and gives what comes before the separator, or all; the separator goes too. */
static struct text cut(struct text *rest, char separator)
{
    const char *end = rest->len ? memchr(rest->at, separator, rest->len) : NULL;
    struct text word = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    size_t used = word.len + (end ? 1 : 0);
    *rest = (struct text){rest->at + used, rest->len - used};
    return word;
}

/* Decimal digits and nothing else, a number up to `high` < 2^59 that a size_t can hold. */
static bool decimal(size_t *value, struct text text, uint64_t high)
{
    uint64_t v = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!isdigit((unsigned char)text.at[i])) return false;
        if (v <= high) v = 10 * v + (uint64_t)(text.at[i] - '0');
    }
    *value = (size_t)v;
    return text.len > 0 && v <= high;
}

/* The same without leading zeros. */
static bool canonical(size_t *value, struct text text, uint64_t high)
{
    return decimal(value, text, high) && (text.len == 1 || text.at[0] != '0');
}

/* For messages: at most 60 characters of it. */
#define SHOW(text) (int)((text).len < 60 ? (text).len : 60), (text).at

/* ---- SHA-256 (FIPS 180-4) ---------------------------------------------------------------------------------------- */

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t sha_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static void sha_block(uint32_t state[8], const unsigned char *data)
{
    uint32_t w[64];
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)data[4 * i] << 24 | (uint32_t)data[4 * i + 1] << 16 | (uint32_t)data[4 * i + 2] << 8 |
               data[4 * i + 3];
    for (size_t i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6],
             h = state[7];
    for (size_t i = 0; i < 64; i++) {
        uint32_t t1 =
            h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + sha_constants[i] + w[i];
        uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const uint32_t v[8] = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; i++) state[i] += v[i];
}

static void sha256(char hex[65], const unsigned char *data, size_t size)
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    size_t whole = size / 64, rest = size % 64;
    for (size_t i = 0; i < whole; i++) sha_block(state, data + 64 * i);
    unsigned char tail[128] = {0};
    memcpy(tail, data + 64 * whole, rest);
    tail[rest] = 0x80;
    size_t tail_size = rest < 56 ? 64 : 128;
    for (size_t i = 0; i < 8; i++) tail[tail_size - 1 - i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
    for (size_t i = 0; i < tail_size; i += 64) sha_block(state, tail + i);
    for (size_t i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", (unsigned)state[i]);
}

/* ---- numbers (3.1, 3.2, 3.4) ------------------------------------------------------------------------------------- */

/* Every value of every format is a double, so values are kept in doubles. */
struct format {
    bool fixed, single; /* single: f32, the machine's own */
    bool exact_product; /* a product of two values is a double */
    int x, y;           /* bits of exponent and mantissa, or of integer and fraction */
    int bits;
    /* floats */
    int e_min;     /* 1 - B: the exponent of the least normal number */
    unsigned cut;  /* mantissa bits of a double that the format lacks */
    double normal; /* the least normal number */
    double largest;
    double magic; /* |x| + magic - magic rounds to the grid of the subnormals */
    uint64_t normal_bits, span_bits;
    /* fixed */
    double scale, unit; /* 2^F, 2^-F */
    double low, high;   /* least and greatest integer code */
    double plain;       /* below it codes are rounded quickly and need not be clamped */
    double one;         /* r(1) */
    double least;       /* where a softmax starts: -inf, or the smallest value */
};

/* The format of the operations; while numbers of another format are stored or compared, that one. */
static struct format num;

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static const uint64_t sign_bit = (uint64_t)1 << 63;

/* The magnitude is rounded as an integer: a carry out of the mantissa raises the exponent, as it should. */
static inline uint64_t round_bits(double x)
{
    uint64_t bits = bits_of(x), unit = (uint64_t)1 << num.cut;
    return (bits + (unit / 2 - 1) + (bits >> num.cut & 1)) & ~(unit - 1);
}

/* The bits of a NaN would be rounded like a number; subnormals have a grid of their own; large numbers overflow. */
static double round_float_slowly(double x)
{
    if (isnan(x)) return x;
    double a = fabs(x), rounded = a < num.normal ? (a + num.magic) - num.magic : double_of(round_bits(a));
    return copysign(rounded > num.largest ? (double)INFINITY : rounded, x);
}

/* Adding 1.5 2^52 leaves no fraction bits for numbers below 2^51; it rounds as the machine does, to nearest even. */
static inline double nearest_small(double x)
{
    const double shift = 0x1.8p52;
    return (x + shift) - shift;
}

static double round_fixed(double x)
{
    if (isnan(x)) return x;
    double code = nearbyint(x * num.scale);
    code = code < num.low ? num.low : code > num.high ? num.high : code;
    return code * num.unit + 0.0; /* + 0.0: there is one zero */
}

/* r(x) of a double. What does not end up between the least normal and the largest number is done again slowly. */
static inline double r(double x)
{
    if (num.single) return (double)(float)x;
    if (num.fixed) {
        double code = x * num.scale;
        return fabs(code) < num.plain ? nearest_small(code) * num.unit + 0.0 : round_fixed(x);
    }
    uint64_t rounded = round_bits(x);
    if ((rounded & ~sign_bit) - num.normal_bits <= num.span_bits) return double_of(rounded);
    return round_float_slowly(x);
}

/* Integers of 128 bits by hand: compilers for machines of 32 bits have none. */
struct wide {
    uint64_t high, low;
};

static struct wide up(uint64_t high, uint64_t low, int n)
{ /* by n bits, 0 <= n < 128 */
    if (n >= 64) return (struct wide){low << (n - 64), 0};
    return n ? (struct wide){high << n | low >> (64 - n), low << n} : (struct wide){high, low};
}
static struct wide down(struct wide a, int n)
{
    if (n >= 64) return (struct wide){0, a.high >> (n - 64)};
    return n ? (struct wide){a.high >> n, a.low >> n | a.high << (64 - n)} : a;
}
static struct wide plus(struct wide a, struct wide b)
{
    return (struct wide){a.high + b.high + (a.low + b.low < a.low), a.low + b.low};
}
static struct wide minus(struct wide a, struct wide b)
{
    return (struct wide){a.high - b.high - (a.low < b.low), a.low - b.low};
}
static int order(struct wide a, struct wide b)
{
    if (a.high != b.high) return a.high < b.high ? -1 : 1;
    return (a.low > b.low) - (a.low < b.low);
}

static struct wide product(uint64_t a, uint64_t b)
{ /* the school's way with digits of 32 bits: no sum of a product and two digits overflows */
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)middle;
    return (struct wide){a1 * b1 + (middle >> 32) + (other >> 32), other << 32 | (uint32_t)low};
}

static int bit_length(struct wide m)
{
    if (m.high) return 128 - __builtin_clzll(m.high);
    return m.low ? 64 - __builtin_clzll(m.low) : 0;
}

/* m / 2^shift to the nearest integer, ties to even, shift >= 1. `above`: the true number lies between m and m + 1. */
static struct wide shift_round(struct wide m, int shift, bool above)
{
    if (shift > 127) return (struct wide){0, 0}; /* m < 2^126 */
    struct wide k = down(m, shift), rest = minus(m, up(k.high, k.low, shift));
    int side = order(rest, up(0, 1, shift - 1)); /* of the half */
    return plus(k, (struct wide){0, side > 0 || (side == 0 && (above || (k.low & 1)))});
}

/* r of (m + [above] epsilon) 2^e with the given sign, m < 2^126. With `above` the format cuts off bits of m. */
static double round_exact(bool negative, struct wide m, int e, bool above)
{
    double sign = negative ? -1.0 : 1.0;
    int length = bit_length(m);
    if (num.fixed) {
        int shift = -num.y - e;
        if (length - shift > 60) return negative ? num.low * num.unit : num.high * num.unit;
        double code = (double)(shift > 0 ? shift_round(m, shift, above) : up(m.high, m.low, -shift)).low; /* < 2^61 */
        return round_fixed(sign * code * num.unit);
    }
    int top = length - 1 + e, grid = (top > num.e_min ? top : num.e_min) - num.y;
    /* What is left has at most y + 2 bits. */
    double value = grid > e ? ldexp((double)shift_round(m, grid - e, above).low, grid) : ldexp((double)m.low, e);
    return copysign(value > num.largest ? (double)INFINITY : value, sign);
}

/* |x| = m 2^e with an integer m < 2^53; x finite. */
static uint64_t take_apart(int *e, double x)
{
    double fraction = frexp(fabs(x), e);
    *e -= 53;
    return (uint64_t)ldexp(fraction, 53);
}

/* Wide fixed point: codes are integers of 53 bits. Floats with 11 exponent bits: the double product has 52 bits and is
 * exact unless it is so small that a double lacks places for it. */
static double multiply_slowly(double a, double b)
{
    if (isnan(a) || isnan(b) || a == 0 || b == 0 || (!num.fixed && fabs(a * b) > 0x1p-900)) return r(a * b);
    int ea = -num.y, eb = -num.y;
    uint64_t ma = num.fixed ? (uint64_t)fabs(a * num.scale) : take_apart(&ea, a);
    uint64_t mb = num.fixed ? (uint64_t)fabs(b * num.scale) : take_apart(&eb, b);
    return round_exact((a < 0) != (b < 0), product(ma, mb), ea + eb, false);
}

static inline double mul(double a, double b)
{
    return num.exact_product ? r(a * b) : multiply_slowly(a, b);
}

/* Sums of two values are doubles, or rounding the double is right (3.2). */
static inline double add(double a, double b)
{
    return r(a + b);
}
static inline double sub(double a, double b)
{
    return r(a - b);
}

/* In wide fixed point the quotient of codes A 2^F / B by integers, A, B at most 2^52. */
static double divide(double a, double b)
{
    if (!num.fixed) return r(a / b);
    if (b == 0 || isnan(a) || isnan(b)) return (double)NAN;
    if (num.exact_product) return r(a / b);
    uint64_t dividend = (uint64_t)fabs(a * num.scale), divisor = (uint64_t)fabs(b * num.scale);
    uint64_t q = dividend / divisor, rest = dividend % divisor;
    for (int i = 0; i < num.y && q < (uint64_t)1 << 60; i++) { /* one that is larger is beyond every code already */
        q = 2 * q + (2 * rest >= divisor);
        rest = 2 * rest - (2 * rest >= divisor ? divisor : 0);
    }
    if (2 * rest > divisor || (2 * rest == divisor && (q & 1))) q++;
    return round_exact((a < 0) != (b < 0), (struct wide){0, q}, -num.y, false);
}

/* By the floor of the root of an integer m, 2^104 <= m < 2^106. A format keeps fewer than its 53 bits: 26, or in fixed
 * point those above 2^-F >= 2^(I-52). */
static double square_root(double x)
{
    if (isnan(x) || x < 0) return (double)NAN;
    if (x == 0 || isinf(x)) return x;
    int e = 0;
    uint64_t mantissa = take_apart(&e, x);
    int even = 52 + (e & 1); /* makes the exponent even */
    struct wide m = up(0, mantissa, even);
    uint64_t root = (uint64_t)sqrt(ldexp((double)mantissa, even));
    while (order(product(root, root), m) > 0) root--;
    while (order(product(root + 1, root + 1), m) <= 0) root++;
    return round_exact(false, (struct wide){0, root}, (e - even) / 2, order(product(root, root), m) != 0);
}

/* The code of a value (3.4). */
static uint64_t code_of(double v)
{
    if (num.fixed) return (uint64_t)(int64_t)(v * num.scale) & (((uint64_t)1 << num.bits) - 1);
    uint64_t sign = (uint64_t)signbit(v) << (num.bits - 1), ones = ((uint64_t)1 << num.x) - 1;
    double a = fabs(v);
    if (isinf(a)) return sign | ones << num.y;
    if (a < num.normal) return sign | (uint64_t)ldexp(a, num.y - num.e_min);
    int e = 0;
    double fraction = frexp(a, &e); /* a = fraction 2^e, fraction in [1/2, 1) */
    return sign | (uint64_t)(e - num.e_min) << num.y | ((uint64_t)ldexp(fraction, num.y + 1) - ((uint64_t)1 << num.y));
}

static void set_float(int x, int y)
{
    memset(&num, 0, sizeof num);
    int bias = (1 << (x - 1)) - 1;
    num.x = x, num.y = y, num.bits = 1 + x + y;
    num.exact_product = x <= 10, num.single = x == 8 && y == 23;
    num.e_min = 1 - bias, num.cut = (unsigned)(52 - y);
    num.normal = ldexp(1, num.e_min), num.largest = ldexp(2 - ldexp(1, -y), bias);
    num.magic = ldexp(1.5, 52 + num.e_min - y);
    num.normal_bits = bits_of(num.normal);
    num.span_bits = bits_of(num.largest) - num.normal_bits;
    num.one = 1, num.least = -(double)INFINITY;
}

static void set_fixed(int integer, int fraction)
{
    memset(&num, 0, sizeof num);
    num.fixed = true;
    num.x = integer, num.y = fraction, num.bits = 1 + integer + fraction;
    num.exact_product = integer + fraction <= 26;
    num.scale = ldexp(1, fraction), num.unit = ldexp(1, -fraction);
    num.low = -ldexp(1, integer + fraction), num.high = -num.low - 1;
    num.plain = num.high < 0x1p51 ? num.high : 0x1p51;
    num.one = round_fixed(1), num.least = num.low * num.unit;
}

/* False if it is not the canonical name of a format. */
static bool set_format(struct text name)
{
    static const struct {
        const char *name;
        size_t x, y;
    } usual[] = {{"f32", 8, 23}, {"bf16", 8, 7}, {"f16", 5, 10}};
    if (name.len == 0) return false;
    size_t x = 0, y = 0;
    bool fixed = name.at[0] == 'q';
    struct text rest = {name.at + 1, name.len - 1}, first = cut(&rest, fixed ? '.' : 'm');
    bool generic = (fixed || name.at[0] == 'e') && canonical(&x, first, 52) && canonical(&y, rest, 52);
    if (generic && fixed) return x + y >= 1 && x + y <= 52 && (set_fixed((int)x, (int)y), true);
    for (size_t i = 0; i < 3; i++) {
        if (is(name, usual[i].name)) return set_float((int)usual[i].x, (int)usual[i].y), true;
        if (usual[i].x == x && usual[i].y == y) return false;
    }
    return generic && x >= 2 && x <= 11 && y >= 1 && y <= 25 && (set_float((int)x, (int)y), true);
}

/* ---- mixed formats (3.5) ----------------------------------------------------------------------------------------- */

enum quantity { WEIGHTS, ACT, ACC, STATE, CACHE, GATES, BETA, QUANTITIES };
static const char *const quantity_names[QUANTITIES] = {"weights", "act", "acc", "state", "cache", "gate", "beta"};

struct stored {
    struct text name;
    struct format code, scale;
    bool finite;    /* no infinities: what is larger becomes the largest */
    double largest; /* of finite codes */
    int scale_bits; /* 0: no scales; 8: powers of two */
    size_t block;   /* SIZE_MAX: a row */
};

static struct {
    bool mixed, stochastic;
    uint64_t seed;
    size_t chunk; /* tokens after which a state is stored */
    struct stored of[QUANTITIES];
} mixture;

static bool set_stored(struct stored *s, struct text name)
{
    static const struct {
        const char *name;
        int x, y;
        double largest;
    } codes[] = {{"e4m3fn", 4, 3, 448}, {"e2m1fn", 2, 1, 6}, {"int8", 0, 7, 127}, {"int4", 0, 3, 7}};
    static const char *const short_names[] = {"mxfp8", "mxfp4"}, *const long_names[] = {"e4m3fn", "e2m1fn"};
    *s = (struct stored){.name = name};
    struct text rest = name, code = cut(&rest, '/'), scale = rest, block = cut(&scale, '*');
    size_t micro = index_of(name, short_names, 2), value = 0, i = 0;
    bool scaled = code.len < name.len || micro < 2, power = micro < 2 || is(scale, "e8m0");
    if (micro < 2) code = (struct text){long_names[micro], strlen(long_names[micro])};
    while (i < 4 && !is(code, codes[i].name)) i++;
    if (i == 4 && (scaled || !set_format(code))) return false;
    if (i < 4 && codes[i].x) set_float(codes[i].x, codes[i].y);
    if (i < 4 && !codes[i].x) set_fixed(codes[i].y, 0);
    s->finite = i < 4;
    if (s->finite) s->largest = num.largest = codes[i].largest;
    if (s->finite && !num.fixed) num.span_bits = bits_of(num.largest) - num.normal_bits;
    s->code = num;
    if (!scaled) return i == 4 || i == 0;
    s->block = 32, s->scale_bits = 8;
    if (micro < 2) return true;
    if (is(block, "row"))
        s->block = SIZE_MAX;
    else if (!canonical(&value, block, 1 << 20) || value < 2)
        return false;
    else
        s->block = value;
    if (block.len + code.len + 1 < name.len && scale.len == 0) return false; /* "*" and nothing */
    if (power) return !(s->block == 32 && i < 2);                            /* those have short names */
    if (scale.len && !is(scale, "f16") && !is(scale, "bf16")) return false;
    set_float(is(scale, "f16") ? 5 : 8, is(scale, "f16") ? 10 : is(scale, "bf16") ? 7 : 23);
    s->scale = num, s->scale_bits = num.bits;
    return true;
}

/* Whether every value of b is one of a. */
static bool holds_all(const struct format *a, const struct format *b)
{
    if (a->fixed) return b->fixed && b->x <= a->x && b->y <= a->y;
    double spacing = b->fixed ? b->unit : ldexp(1, b->e_min - b->y);
    double most = b->fixed ? -b->low * b->unit : b->largest;
    return (b->fixed ? b->bits - 1 : b->y + 1) <= a->y + 1 && spacing >= ldexp(1, a->e_min - a->y) &&
           most <= a->largest;
}

/* The canonical text of mixed formats; num becomes acc. */
static bool set_mixture(struct text text)
{
    memset(&mixture, 0, sizeof mixture);
    if (text.len == 0 || text.at[text.len - 1] == ',') return false;
    for (size_t q = 0; q < QUANTITIES; q++) {
        struct text value = cut(&text, ','), key = cut(&value, '=');
        if (!is(key, quantity_names[q]) || !set_stored(&mixture.of[q], value)) return false;
    }
    const struct format *acc = &mixture.of[ACC].code;
    for (size_t q = 0; q < QUANTITIES; q++) {
        const struct stored *s = &mixture.of[q];
        if (s->finite && q != WEIGHTS && q != STATE && q != CACHE) return false;
        if (s->scale_bits ? acc->fixed || acc->x < 8 || acc->y < 23 : !holds_all(acc, &s->code)) return false;
        mixture.mixed = mixture.mixed || compare_text(s->name, mixture.of[ACC].name) != 0;
    }
    num = *acc;
    mixture.chunk = 1;
    if (text.len > 6 && memcmp(text.at, "chunk=", 6) == 0) {
        struct text value = cut(&text, ',');
        cut(&value, '=');
        if (!canonical(&mixture.chunk, value, 1 << 20) || mixture.chunk < 2) return false;
    }
    if (text.len) {
        struct text round = cut(&text, ','), seed = text, word = cut(&seed, '=');
        size_t value = 0;
        if (!is(round, "round=stochastic") || !is(word, "seed") || !canonical(&value, seed, (UINT64_C(1) << 53) - 1))
            return false;
        mixture.stochastic = mixture.mixed = true, mixture.seed = value;
    }
    bool stores = mixture.stochastic || compare_text(mixture.of[STATE].name, mixture.of[ACC].name) != 0;
    return mixture.mixed && (stores || mixture.chunk == 1);
}

static size_t scales_of(const struct stored *s, size_t row)
{
    if (s->scale_bits == 0 || row == 0) return 0;
    return s->block >= row ? 1 : (row - 1) / s->block + 1;
}

static uint64_t shuffle(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* To num. |x| = (k + f) u: up with the probability f. */
static double round_by_chance(double x, uint64_t chance)
{
    double size = fabs(x), most = num.fixed ? num.high * num.unit : num.largest, u = num.unit;
    if (!(size < most) || size == 0) return r(x);
    if (!num.fixed) {
        int e = 0;
        frexp(size, &e);
        u = ldexp(1, (e - 1 > num.e_min ? e - 1 : num.e_min) - num.y);
    }
    double k = floor(size / u), f = size / u - k;
    if (ldexp((double)(chance >> 11), -53) < f) k++;
    return num.fixed ? copysign(k * u, x) + 0.0 : copysign(k * u, x);
}

struct chance {
    uint64_t key, first; /* of the first number of a call */
};

static void round_codes(const struct stored *s, double *x, size_t count, const struct chance *chance, uint64_t first)
{
    for (size_t i = 0; i < count; i++) {
        if (s->finite && fabs(x[i]) > s->largest) x[i] = copysign(s->largest, x[i]);
        x[i] = chance ? round_by_chance(x[i], shuffle(chance->key ^ (first + i))) : r(x[i]);
    }
}

/* NaN: a number is no number or infinite, or the scale is. */
static double scale_for(const struct stored *s, const double *x, size_t count)
{
    double most = 0, scale = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(x[i]) || isinf(x[i])) return (double)NAN;
        if (fabs(x[i]) > most) most = fabs(x[i]);
    }
    if (s->scale_bits == 8) {
        int e = 0, top = 0;
        frexp(most, &e), frexp(s->largest, &top);
        e = most == 0 || e - top < -127 ? -127 : e - top > 127 ? 127 : e - top;
        return ldexp(1, e);
    }
    struct format own = num;
    num = s->scale;
    scale = r(most / s->largest);
    num = own;
    return isinf(scale) ? (double)NAN : scale < 0x1p-100 ? 0 : scale;
}

/* Numbers become what is read back after they were stored, as values of acc. `scales`: one for each block. */
static void store_rows(enum quantity q, double *x, size_t rows, size_t row, double *scales, const struct chance *chance)
{
    const struct stored *s = &mixture.of[q];
    if (!mixture.mixed || (!chance && compare_text(s->name, mixture.of[ACC].name) == 0)) return;
    struct format acc = num;
    size_t step = s->scale_bits && s->block < row ? s->block : row;
    spend(8 * (uint64_t)rows * row);
    for (size_t n = 0; n < rows; n++)
        for (size_t at = 0; at < row; at += step) {
            double *block = x + n * row + at, scale = 1;
            size_t count = row - at < step ? row - at : step;
            uint64_t first = chance ? chance->first + n * row + at : 0;
            if (s->scale_bits) scale = scale_for(s, block, count);
            if (s->scale_bits && scales) *scales++ = scale;
            for (size_t i = 0; i < count && s->scale_bits; i++) block[i] = scale > 0 ? block[i] / scale : scale;
            num = s->code;
            if (scale > 0) round_codes(s, block, count, chance, first);
            num = acc;
            for (size_t i = 0; i < count && s->scale_bits && scale > 0; i++) block[i] = mul(block[i], scale);
        }
}

static void store(enum quantity q, double *x, size_t count)
{
    store_rows(q, x, 1, count, NULL, NULL);
}

/* ---- functions (3.2): double-double, and Ziv's test -------------------------------------------------------------- */

/* hi + lo with |lo| <= ulp(hi) / 2. The sums and products below have relative errors below 2^-100 (Joldes, Muller,
 * Popescu 2017: 2^-103 and better for these algorithms), for operands of one sign or after cancellation accounted for
 * where it happens; all magnitudes stay between 2^-900 and 2^900, so nothing underflows. */
struct dd {
    double hi, lo;
};

static struct dd quick_two_sum(double a, double b)
{ /* |a| >= |b| or a = 0 */
    double s = a + b;
    return (struct dd){s, b - (s - a)};
}

static struct dd two_sum(double a, double b)
{
    double s = a + b, t = s - a;
    return (struct dd){s, (a - (s - t)) + (b - t)};
}

static struct dd dd_add(struct dd a, struct dd b)
{
    struct dd s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
    s = quick_two_sum(s.hi, s.lo + t.hi);
    return quick_two_sum(s.hi, s.lo + t.lo);
}

static struct dd dd_mul(struct dd a, struct dd b)
{
    double p = a.hi * b.hi, e = fma(a.hi, b.hi, -p);
    return quick_two_sum(p, e + (a.hi * b.lo + a.lo * b.hi));
}

static struct dd dd_of(double x)
{
    return (struct dd){x, 0};
}
static struct dd dd_minus(struct dd a)
{
    return (struct dd){-a.hi, -a.lo};
}

static struct dd dd_div(struct dd a, struct dd b)
{
    double q1 = a.hi / b.hi;
    struct dd rest = dd_add(a, dd_minus(dd_mul(dd_of(q1), b)));
    double q2 = rest.hi / b.hi;
    rest = dd_add(rest, dd_minus(dd_mul(dd_of(q2), b)));
    return dd_add(quick_two_sum(q1, q2), dd_of(rest.hi / b.hi));
}

/* r of a value between a 2^e (or a bit above it) and b 2^e: both ends must round alike, for rounding is monotone. */
static double decide_between(bool negative, struct wide a, bool above, struct wide b, int e)
{
    double value = round_exact(negative, a, e, above);
    if (round_exact(negative, b, e, false) != value) reject("undecided: close to a tie of the format, near %a", value);
    return value;
}

/* r(±v 2^k), v > 0, when the true value is within the relative error 2^-correct of it. */
static double decide(bool negative, struct dd v, int k, int correct)
{
    int e = 0;
    struct wide m = up(0, take_apart(&e, v.hi), 60), error = plus(up(0, 1, 113 - correct), (struct wide){0, 2});
    double low = floor(ldexp(v.lo, 60 - e)); /* |low| <= 2^60 */
    m = low < 0 ? minus(m, (struct wide){0, (uint64_t)-low}) : plus(m, (struct wide){0, (uint64_t)low});
    return decide_between(negative, minus(m, error), false, plus(m, error), e + k - 60);
}

/* A positive number below every half spacing of a format. */
static double decide_tiny(bool negative)
{
    return round_exact(negative, (struct wide){0, 1}, -3000, false);
}

/* The same in double: v with relative error eps, |v| between 2^-1000 and 2^1000. */
static inline bool decide_quickly(double *out, double v, double eps)
{
    double low = r(v - v * eps), high = r(v + v * eps);
    *out = low;
    return low == high;
}

static struct {
    struct dd inverse_factorial[28];
    struct dd inverse_odd[37]; /* 1/(2j+1) */
    double root[64];           /* 2^(j/64) */
} table;

/* ln 2 in three parts of 42, 42 and 53 bits: products of the first two with integers below 2^11 are exact. */
static const double ln2[3] = {0x1.62e42fefa3800p-1, 0x1.ef35793c76000p-45, 0x1.cc01f97b57a08p-87};

/* e^x = v 2^k for |x| <= 1500, v in (0.7, 1.5), relative error below 2^-97: |t| <= 0.35 carries an absolute error below
 * 2^-105, the series is cut off at 0.35^28/28! < 2^-140, and Horner's rule adds a few times 2^-102. */
static struct dd dd_exp(int *k, struct dd x)
{
    double n = nearest_small(x.hi * 0x1.71547652b82fep+0);
    struct dd t = two_sum(x.hi, -n * ln2[0]);
    t = dd_add(t, dd_add(dd_of(-n * ln2[1]), dd_of(-n * ln2[2])));
    t = dd_add(t, dd_of(x.lo));
    struct dd sum = table.inverse_factorial[27];
    for (int i = 26; i >= 0; i--) sum = dd_add(dd_mul(sum, t), table.inverse_factorial[i]);
    *k = (int)n;
    return sum;
}

static void make_tables(void)
{
    volatile double one = 1, small = 0x1p-60, least = 0x1p-1022; /* flags can be lost where a compiler does not tell */
    if (two_sum(one, small).lo != small || least / 2 * 2 != least || one + 0x1p-53 != 1 || one + 0x1.8p-53 == 1)
        stop(SYSTEM,
             "this program was compiled or started so that doubles are not rounded to nearest; compile it as usual");
    if (table.root[0] != 0) return;
    table.inverse_factorial[0] = dd_of(1);
    for (int i = 1; i < 28; i++) table.inverse_factorial[i] = dd_div(table.inverse_factorial[i - 1], dd_of(i));
    for (int j = 0; j < 37; j++) table.inverse_odd[j] = dd_div(dd_of(1), dd_of(2 * j + 1));
    struct dd ln2_64 = dd_add(dd_of(ln2[0] / 64), dd_of(ln2[1] / 64));
    for (int j = 0; j < 64; j++) {
        int k = 0;
        struct dd root = dd_exp(&k, dd_mul(ln2_64, dd_of(j)));
        table.root[j] = ldexp(root.hi, k);
    }
}

/* e^x for |x| <= 690 in double, relative error below 2^-50. With N = round(64 x / ln 2) < 2^16 the product with the
 * first part of ln 2 / 64 (36 bits) is exact, so is the difference (Sterbenz); t, |t| <= 0.0055, has an error below
 * 2^-59; t^7/7! < 2^-64. What remains: half an ulp of the root, half of the sum, and 2^-57: below 2^-51.8. */
static inline double exp_quickly(double x)
{
    double n = nearest_small(x * 0x1.71547652b82fep+6);
    double t = (x - n * 0x1.62e42fefa0000p-7) - n * 0x1.cf79abc9e3b3ap-46;
    double p = t + t * t * (1.0 / 2 + t * (1.0 / 6 + t * (1.0 / 24 + t * (1.0 / 120 + t * (1.0 / 720)))));
    int64_t whole = (int64_t)n;
    double root = table.root[whole & 63], v = root + root * p;
    return v * double_of((uint64_t)((whole >> 6) + 1023) << 52);
}

static const double eps_exp = 0x1p-49;

static double exponential(double x)
{
    double v = 0;
    if (isnan(x)) return x;
    if (x == 0) return num.one;
    if (fabs(x) <= 690 && decide_quickly(&v, exp_quickly(x), eps_exp)) return v;
    if (x > 800) return round_exact(false, (struct wide){0, 1}, 3000, false);
    if (x < -800) return decide_tiny(false);
    int k = 0;
    struct dd e = dd_exp(&k, dd_of(x));
    return decide(false, e, k, 96);
}

/* In fixed point x is a multiple of 2^-52, and 1/2 + x/4 can be a tie; sigmoid(x) = 1/2 + x/4 - x³/48 + ... is on
 * the side of 1/2, by less than |x|³/48; for |x| < 2^-16 that is below the 2^-53 to the next tie. Units of 2^-100. */
static double sigmoid_near_zero(double x)
{
    struct wide half = up(0, 1, 99), quarter = up(0, (uint64_t)ldexp(fabs(x), 52), 46), one = {0, 1};
    struct wide shift = {0, (uint64_t)ldexp(fabs(x * x * x), 100) / 48 + 2};
    struct wide m = x > 0 ? plus(half, quarter) : minus(half, quarter);
    return decide_between(false, x > 0 ? minus(m, one) : m, true, x > 0 ? minus(m, shift) : plus(m, shift), -100);
}

/* w = e^-a, a > 0; from 600 on e^-600, for then 1 + w is 1 up to 2^-800. */
static struct dd dd_small_exp(double a)
{
    int k = 0;
    struct dd e = dd_exp(&k, dd_of(a < 600 ? -a : -600));
    return (struct dd){ldexp(e.hi, k), ldexp(e.lo, k)};
}

/* w = e^-|x|; 1/(1+w), or w/(1+w) below zero. Three operations after exp: 2^-50 + 3 2^-53 < 2^-49. */
static double sigmoid(double x)
{
    double v = 0;
    if (isnan(x)) return x;
    if (x == 0) return r(0.5);
    double a = fabs(x);
    if (num.fixed && a < 0x1p-16) return sigmoid_near_zero(x);
    if (a <= 690) {
        double w = exp_quickly(-a);
        if (decide_quickly(&v, (x > 0 ? 1 : w) / (1 + w), eps_exp)) return v;
    }
    if (x < -800) return decide_tiny(false);
    int k = 0;
    struct dd sum = dd_add(dd_of(1), dd_small_exp(a)), top = x > 0 ? dd_of(1) : dd_exp(&k, dd_of(x));
    return decide(false, dd_div(top, sum), k, 95);
}

/* ln(1+u) for 0 < u <= 1 by 2 artanh(s), s = u/(2+u) <= 1/3: sum of s^(2j+1)/(2j+1), all terms positive; 36 terms
 * leave 9^-36 < 2^-114. */
static struct dd dd_log1p(struct dd u)
{
    struct dd s = dd_div(u, dd_add(dd_of(2), u)), square = dd_mul(s, s), sum = dd_of(0);
    for (int j = 36; j >= 0; j--) sum = dd_add(dd_mul(sum, square), table.inverse_odd[j]);
    return dd_mul(dd_add(s, s), sum);
}

/* The same in double, 19 terms, 9^-19 < 2^-60: with the error of u below 2^-47. */
static double log1p_quickly(double u)
{
    double s = u / (2 + u), square = s * s, sum = 0;
    for (int j = 18; j >= 0; j--) sum = sum * square + table.inverse_odd[j].hi;
    return 2 * s * sum;
}

static double softplus(double x)
{
    double v = 0, a = fabs(x);
    if (isnan(x)) return x;
    if (x == (double)INFINITY) return r(x);
    if (a <= 690 && decide_quickly(&v, (x > 0 ? x : 0) + log1p_quickly(exp_quickly(-a)), 0x1p-47)) return v;
    if (x < -800) return decide_tiny(false);
    struct dd u = dd_small_exp(a);
    if (x > -40) return decide(false, dd_add(dd_of(x > 0 ? x : 0), dd_log1p(u)), 0, 94);
    /* u < 2^-57: ln(1+u) = u (1 - u/2 + u²/3 - ...), and u³ < 2^-171 */
    struct dd factor = dd_add(dd_of(1), dd_of(-u.hi / 2 + u.hi * u.hi / 3));
    int k = 0;
    struct dd e = dd_exp(&k, dd_of(x));
    return decide(false, dd_mul(e, factor), k, 94);
}

/* gelu(x) = x Φ(x). Near 0 with the density φ(x): Φ(x) = 1/2 + φ(x) (x + x³/3 + x⁵/15 + ...), terms of one sign. Far
 * away the upper tail Q(x) = Φ(-x) = φ(x)/(x + 1/(x + 2/(x + 3/...))): its convergents lie on either side in turn. */

static struct dd dd_density(int *k, double x)
{                                                                            /* φ(x) = v 2^k, |x| <= 40 */
    const struct dd factor = {0x1.9884533d43651p-2, -0x1.cbc0d30ebfd15p-56}; /* 1/sqrt(2π) */
    double p = x * x;
    struct dd half = {-p / 2, -fma(x, x, -p) / 2};
    return dd_mul(dd_exp(k, half), factor);
}

static struct dd dd_middle(double x)
{ /* Φ(x) - 1/2 for 0 < x <= 3; relative error below 2^-94 */
    int k = 0;
    struct dd density = dd_density(&k, x), term = dd_of(x), sum = term;
    struct dd square = {x * x, fma(x, x, -(x * x))};
    for (int j = 1; term.hi > sum.hi * 0x1p-110; j++) {
        term = dd_div(dd_mul(term, square), dd_of(2 * j + 1));
        sum = dd_add(sum, term);
    }
    struct dd v = dd_mul(density, sum);
    return (struct dd){ldexp(v.hi, k), ldexp(v.lo, k)};
}

static struct dd tail_convergent(double x, int n)
{
    struct dd t = dd_of(x);
    for (int j = n; j > 0; j--) t = dd_add(dd_of(x), dd_div(dd_of(j), t));
    return t;
}

static struct dd dd_tail(int *k, double x)
{ /* Q(x) = v 2^k, 3 <= x <= 40; relative error below 2^-91 */
    struct dd a = dd_of(1), b = dd_of(2);
    for (int n = 32; fabs(a.hi - b.hi + (a.lo - b.lo)) > a.hi * 0x1p-93; n *= 2) {
        a = tail_convergent(x, n);
        b = tail_convergent(x, n + 1);
    }
    return dd_div(dd_density(k, x), a);
}

/* gelu(x) for 0 < |x| < 2^-60: x/2 + 0.4 x², a relative change of less than 2^-60, upwards for either sign of x. */
static double gelu_near_zero(double x)
{
    int e = 0;
    uint64_t mantissa = take_apart(&e, x);
    struct wide m = up(0, mantissa, 60), one = {0, 1}, change = {0, mantissa + 1};
    return decide_between(x < 0, x < 0 ? minus(m, one) : m, true, x < 0 ? minus(m, change) : plus(m, change), e - 61);
}

/* For -3 < x < 6 in double; each of at most 100 terms has an error below 3j 2^-53, and those with a large j are small.
 * Below zero 1/2 - middle loses up to 9 bits. */
static bool gelu_quickly(double *out, double x)
{
    double square = x * x, term = fabs(x), sum = term;
    for (int j = 1; term > sum * 0x1p-60; j++) {
        term *= square / (2 * j + 1);
        sum += term;
    }
    double middle = copysign(exp_quickly(-square / 2) * 0x1.9884533d43651p-2 * sum, x);
    return decide_quickly(out, x * (0.5 + middle), x > 0 ? 0x1p-43 : 0x1p-34);
}

static double gelu(double x)
{
    double v = 0;
    if (isnan(x) || x == 0) return x;
    if (x > 40) return x; /* x - x Q(x), and Q(40) < 2^-1150 */
    if (x < -40) return decide_tiny(true);
    double a = fabs(x);
    if (a < 0x1p-60) return gelu_near_zero(x);
    if (x > -3 && x < 6 && gelu_quickly(&v, x)) return v;
    if (a <= 3) {
        struct dd middle = dd_middle(a), share = dd_add(dd_of(0.5), x > 0 ? middle : dd_minus(middle));
        return decide(x<0, dd_mul(dd_of(a), share), 0, x> 0 ? 92 : 84);
    }
    int k = 0;
    struct dd tail = dd_tail(&k, a);
    if (x < 0) return decide(true, dd_mul(dd_of(a), tail), k, 90);
    struct dd share = dd_add(dd_of(1), (struct dd){-ldexp(tail.hi, k), -ldexp(tail.lo, k)});
    return decide(false, dd_mul(dd_of(a), share), 0, 92);
}

/* ---- JSON (4.1), strict ------------------------------------------------------------------------------------------ */

/* Of JSON, and of the arch. */
struct parser {
    const char *start, *at, *end;
    const char *what; /* for messages */
    bool reals;       /* numbers may be fractions */
};

static struct parser parser_of(struct text source, const char *what)
{
    return (struct parser){.start = source.at, .at = source.at, .end = source.at + source.len, .what = what};
}

static _Noreturn void bad(const struct parser *p, const char *reason)
{
    reject("%s: byte %zu: %s", p->what, (size_t)(p->at - p->start), reason);
}

/* The next character after white space, 0 at the end. */
static char peek(struct parser *p)
{
    while (p->at < p->end && strchr(" \t\n\r", *p->at) && *p->at) p->at++;
    return p->at < p->end ? *p->at : '\0';
}

static bool take(struct parser *p, char c)
{
    if (peek(p) != c) return false;
    p->at++;
    return true;
}

enum { MAX_RANK = 8 }; /* of a tensor; no array has more elements */

struct json {
    enum { JSON_TRUE, JSON_FALSE, JSON_NULL, JSON_INTEGER, JSON_OBJECT, JSON_ARRAY, JSON_TEXT, JSON_REAL } kind;
    struct text key, text; /* key: of a member; text: decoded */
    union {
        size_t integer;
        double real;
    };
    size_t count; /* of children */
    struct json *first, *next;
};

/* UTF-8 of a code point below 2^21; returns the number of bytes. */
static size_t put_utf8(char *out, unsigned c)
{
    if (c < 0x80) return out[0] = (char)c, 1;
    size_t bytes = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = bytes - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 63));
    out[0] = (char)((0xf00 >> bytes & 0xff) | c);
    return bytes;
}

/* One character; it must be written as put_utf8 writes it. */
static unsigned json_character(struct parser *p)
{
    unsigned char first = (unsigned char)*p->at;
    size_t bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (bytes > (size_t)(p->end - p->at)) bad(p, "invalid UTF-8");
    unsigned c = bytes == 1 ? first : first & 0x7fU >> bytes;
    for (size_t i = 1; i < bytes; i++) c = c << 6 | ((unsigned char)p->at[i] & 63);
    char again[4];
    if (c > 0x10ffff || c >> 11 == 0xd800 >> 11 || put_utf8(again, c) != bytes || memcmp(again, p->at, bytes) != 0)
        bad(p, "invalid UTF-8");
    if (c < 0x20) bad(p, "a control character in a string");
    p->at += bytes;
    return c;
}

static unsigned json_hex4(struct parser *p)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        if (p->at == p->end || !isxdigit((unsigned char)*p->at)) bad(p, "four hexadecimal digits expected");
        value = value * 16 + (unsigned)(isdigit((unsigned char)*p->at) ? *p->at - '0' : (*p->at | 32) - 'a' + 10);
    }
    return value;
}

/* The backslash has been read. */
static unsigned json_escape(struct parser *p)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char letter = *p->at++, *name = letter ? strchr(names, letter) : NULL;
    if (name) return (unsigned char)meanings[name - names];
    if (letter != 'u') bad(p, "an unknown escape");
    unsigned c = json_hex4(p), low = 0;
    if (c == 0) bad(p, "NUL in a string");
    if (c >> 11 != 0xd800 >> 11) return c;
    if (p->end - p->at >= 2 && memcmp(p->at, "\\u", 2) == 0) {
        p->at += 2;
        low = json_hex4(p);
    }
    if (c >= 0xdc00 || low < 0xdc00 || low > 0xdfff) bad(p, "half a surrogate pair");
    return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

/* The opening quote has been read. Decoded text is never longer than its source; without escapes it is its source. */
static struct text json_string(struct parser *p)
{
    const char *close = p->at;
    while (close < p->end && *close != '"') close += *close == '\\' && close + 1 < p->end ? 2 : 1;
    if (close >= p->end) bad(p, "a string does not end");
    size_t most = (size_t)(close - p->at);
    bool plain = !memchr(p->at, '\\', most);
    char *out = plain ? NULL : allocate(most, 1), character[4];
    struct text text = {plain ? p->at : out, 0};
    while (*p->at != '"') {
        bool escaped = *p->at == '\\';
        p->at += escaped;
        text.len += put_utf8(plain ? character : out + text.len, escaped ? json_escape(p) : json_character(p));
    }
    p->at++;
    return text;
}

static int compare_keys(const void *a, const void *b)
{
    return compare_text((*(struct json *const *)a)->key, (*(struct json *const *)b)->key);
}

static void no_duplicate_keys(const struct parser *p, const struct json *object)
{
    struct json **members = allocate(object->count, sizeof *members);
    size_t n = 0;
    for (struct json *m = object->first; m; m = m->next) members[n++] = m;
    qsort(members, n, sizeof *members, compare_keys);
    for (size_t i = 1; i < n; i++)
        if (compare_keys(&members[i - 1], &members[i]) == 0)
            reject("%s: key '%.*s' comes twice", p->what, SHOW(members[i]->key));
}

static struct json *json_value(struct parser *p, int depth);

static struct text json_key(struct parser *p)
{
    if (!take(p, '"')) bad(p, "a key expected");
    struct text key = json_string(p);
    if (!take(p, ':')) bad(p, "':' expected");
    return key;
}

static void json_children(struct parser *p, struct json *parent, int depth)
{
    char close = parent->kind == JSON_OBJECT ? '}' : ']';
    struct json **last = &parent->first;
    if (take(p, close)) return;
    do {
        struct text key = parent->kind == JSON_OBJECT ? json_key(p) : (struct text){"", 0};
        if (parent->count++ == MAX_RANK && parent->kind == JSON_ARRAY) bad(p, "more than 8 elements of an array");
        *last = json_value(p, depth + 1);
        (*last)->key = key;
        last = &(*last)->next;
    } while (take(p, ','));
    if (!take(p, close)) bad(p, "',' or the end of an object or array expected");
    if (parent->kind == JSON_OBJECT) no_duplicate_keys(p, parent);
}

/* Digits, then perhaps a point and digits, then perhaps e, a sign and digits: the double nearest to it. */
static bool real_number(double *value, struct text word)
{
    char copy[64];
    size_t i = 0, digits = 0;
    if (word.len == 0 || word.len >= sizeof copy) return false;
    memcpy(copy, word.at, word.len), copy[word.len] = 0;
    while (isdigit((unsigned char)copy[i])) i++, digits++;
    if (digits == 0 || (digits > 1 && copy[0] == '0')) return false;
    if (copy[i] == '.')
        for (i++, digits = 0; isdigit((unsigned char)copy[i]); i++) digits++;
    if (digits == 0) return false;
    if (copy[i] == 'e' || copy[i] == 'E') {
        i += copy[i + 1] == '-' || copy[i + 1] == '+' ? 2 : 1;
        for (digits = 0; isdigit((unsigned char)copy[i]); i++) digits++;
    }
    *value = strtod(copy, NULL);
    return digits > 0 && i == word.len;
}

static bool in_number(const char *at, const char *first)
{
    bool sign = (*at == '-' || *at == '+') && at > first && (at[-1] == 'e' || at[-1] == 'E');
    return isalnum((unsigned char)*at) || *at == '.' || sign;
}

/* Nothing in a model file is negative, and only rung.config has fractions. */
static struct json *json_value(struct parser *p, int depth)
{
    static const char *const words[] = {"true", "false", "null"}; /* in the order of the kinds; then JSON_INTEGER */
    struct json *value = allocate(1, sizeof *value);
    if (depth > 32) bad(p, "nested too deep");
    if (take(p, '"')) {
        value->kind = JSON_TEXT;
        value->text = json_string(p);
        return value;
    }
    bool object = take(p, '{');
    if (object || take(p, '[')) {
        value->kind = object ? JSON_OBJECT : JSON_ARRAY;
        json_children(p, value, depth);
        return value;
    }
    struct text word = {p->at, 0};
    for (; p->at < p->end && in_number(p->at, word.at); p->at++) word.len++;
    value->kind = index_of(word, words, 3);
    if (value->kind != JSON_INTEGER || canonical(&value->integer, word, SIZE_MAX >> 6)) return value;
    value->kind = JSON_REAL;
    if (!p->reals || !real_number(&value->real, word))
        bad(p, "a value expected, or a number is too large, has leading zeros or is not written as a whole one");
    return value;
}

static struct json *member(const struct json *object, const char *key)
{
    struct json *m = object->first;
    while (m && !is(m->key, key)) m = m->next;
    return m;
}

static struct text text_of(const struct json *object, const char *key, const char *what)
{
    struct json *m = member(object, key);
    if (!m || m->kind != JSON_TEXT) reject("%s: '%s' is missing or not a string", what, key);
    return m->text;
}

/* ---- safetensors (4.1) ------------------------------------------------------------------------------------------- */

struct bytes {
    unsigned char *data;
    size_t size;
};

enum dtype { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, DTYPES };
static const char *const dtype_names[DTYPES] = {"F64", "F32", "F16", "BF16", "I64", "I32",
                                                "I16", "I8",  "U64", "U32",  "U16", "U8"};
static const size_t dtype_sizes[DTYPES] = {8, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1};
static const int float_exponent_bits[] = {11, 8, 5, 8}; /* of the first four */

struct tensor {
    struct text name;
    enum dtype dtype;
    size_t rank, shape[MAX_RANK], count; /* count of elements */
    size_t begin, end;
    const unsigned char *data;
    bool used;
};

struct file {
    struct json *metadata;
    struct tensor *tensors; /* by name */
    size_t count;
};

/* A whole number of the entry of a tensor. */
static size_t size_of(const struct json *value, struct text tensor)
{
    if (value->kind != JSON_INTEGER) reject("tensor '%.*s': whole numbers expected", SHOW(tensor));
    return value->integer;
}

static struct tensor read_entry(const struct json *entry)
{
    struct tensor t = {.name = entry->key, .count = 1};
    const struct json *shape = NULL, *offsets = NULL;
    struct text type = {"", 0};
    if (entry->kind == JSON_OBJECT && entry->count == 3) {
        shape = member(entry, "shape");
        offsets = member(entry, "data_offsets");
        type = text_of(entry, "dtype", "a tensor");
    }
    if (!shape || !offsets || shape->kind != JSON_ARRAY || offsets->kind != JSON_ARRAY || offsets->count != 2)
        reject("tensor '%.*s': its entry must have exactly dtype, shape and data_offsets", SHOW(t.name));
    t.dtype = (enum dtype)index_of(type, dtype_names, DTYPES);
    if (t.dtype == DTYPES) reject("tensor '%.*s': type '%.*s' is not for weights", SHOW(t.name), SHOW(type));
    for (const struct json *s = shape->first; s; s = s->next) {
        t.shape[t.rank] = size_of(s, t.name);
        t.count = times(t.count, t.shape[t.rank++]);
    }
    t.begin = size_of(offsets->first, t.name), t.end = size_of(offsets->first->next, t.name);
    if (t.begin > t.end || t.end - t.begin != times(t.count, dtype_sizes[t.dtype]))
        reject("tensor '%.*s': data_offsets do not fit its shape and type", SHOW(t.name));
    return t;
}

static int compare_begin(const void *a, const void *b)
{
    const struct tensor *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}
static int compare_name(const void *a, const void *b)
{
    return compare_text(((const struct tensor *)a)->name, ((const struct tensor *)b)->name);
}

/* One entry after the other: memory of one is free before the next one is read; what is no entry ends it at once. */
static struct file read_header(struct text source)
{
    struct parser p = parser_of(source, "header of the model");
    struct file file = {.tensors = allocate(count_of(source, '{'), sizeof(struct tensor))};
    for (bool more = take(&p, '{') && peek(&p) != '}'; more; more = take(&p, ',')) {
        struct text key = json_key(&p);
        struct block *before = run.blocks;
        if (peek(&p) != '{') bad(&p, "an entry of the header is no object");
        struct json *entry = json_value(&p, 1);
        entry->key = key;
        if (!is(key, "__metadata__")) {
            file.tensors[file.count++] = read_entry(entry);
            free_after(before);
            continue;
        }
        for (struct json *value = entry->first; value; value = value->next)
            if (value->kind != JSON_TEXT) reject("model: '__metadata__' holds something else than strings");
        if (file.metadata) reject("header of the model: key '__metadata__' comes twice");
        file.metadata = entry;
    }
    if (!take(&p, '}') || peek(&p) || p.at != p.end) bad(&p, "the end of the header expected, and something follows");
    return file;
}

static struct file read_safetensors(struct bytes bytes)
{
    uint64_t header = 0;
    if (bytes.size < 8) reject("model: shorter than the length of its header");
    for (size_t i = 8; i-- > 0;) header = header << 8 | bytes.data[i];
    if (header > 100000000 || header > bytes.size - 8)
        reject("model: its header is longer than the file or than 100000000 bytes");
    struct text source = {(const char *)bytes.data + 8, (size_t)header};
    if (source.len == 0 || source.at[0] != '{') reject("model: the header does not begin with '{'");
    struct file file = read_header(source);
    if (!file.metadata) reject("model: no '__metadata__'");
    const unsigned char *data = bytes.data + 8 + source.len;
    size_t size = bytes.size - 8 - source.len, expected = 0;
    qsort(file.tensors, file.count, sizeof *file.tensors, compare_begin);
    for (size_t i = 0; i < file.count; i++) {
        struct tensor *t = &file.tensors[i];
        if (t->begin != expected || t->end > size)
            reject("tensor '%.*s': tensors must tile the data of the file", SHOW(t->name));
        expected = t->end;
        t->data = data + t->begin;
    }
    if (expected != size) reject("model: %zu bytes follow the last tensor", size - expected);
    qsort(file.tensors, file.count, sizeof *file.tensors, compare_name);
    for (size_t i = 1; i < file.count; i++)
        if (compare_name(&file.tensors[i - 1], &file.tensors[i]) == 0)
            reject("header of the model: key '%.*s' comes twice", SHOW(file.tensors[i].name));
    return file;
}

static uint64_t raw_bits(const struct tensor *t, size_t i)
{
    size_t size = dtype_sizes[t->dtype];
    uint64_t bits = 0;
    for (size_t b = size; b-- > 0;) bits = bits << 8 | t->data[i * size + b];
    return bits;
}

static double float_element(const struct tensor *t, size_t i)
{
    int x = float_exponent_bits[t->dtype], y = 8 * (int)dtype_sizes[t->dtype] - 1 - x, ones = (1 << x) - 1;
    uint64_t bits = raw_bits(t, i), implicit = (uint64_t)1 << y;
    int exponent = (int)(bits >> y) & ones;
    double mantissa = (double)(bits & (implicit - 1)), sign = bits >> (x + y) ? -1 : 1;
    if (exponent == ones) return mantissa != 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0) return sign * ldexp(mantissa, 1 - ones / 2 - y);
    return sign * ldexp(mantissa + (double)implicit, exponent - ones / 2 - y);
}

static int64_t whole_element(const struct tensor *t, size_t i)
{
    if (t->dtype <= BF16) {
        double v = float_element(t, i);
        if (!(fabs(v) < 0x1p63) || v != floor(v)) reject("tensor '%.*s': element %zu is not whole", SHOW(t->name), i);
        return (int64_t)v;
    }
    uint64_t bits = raw_bits(t, i), sign = (uint64_t)1 << (8 * dtype_sizes[t->dtype] - 1);
    if (t->dtype == U64 && bits >> 63) reject("tensor '%.*s': element %zu is beyond 2^63", SHOW(t->name), i);
    return t->dtype <= I8 ? (int64_t)((bits ^ sign) - sign) : (int64_t)bits;
}

/* A weight, rounded to the format once (3.2). */
static double weight_element(const struct tensor *t, size_t i)
{
    bool whole = t->dtype > BF16;
    int64_t integer = whole ? whole_element(t, i) : 0, limit = (int64_t)1 << 53;
    double v = whole ? (double)integer : float_element(t, i);
    if (isnan(v)) reject("tensor '%.*s': element %zu is not a number", SHOW(t->name), i);
    if (integer > limit || integer < -limit) reject("tensor '%.*s': element %zu is beyond 2^53", SHOW(t->name), i);
    return mixture.mixed ? v : r(v);
}

static bool ends_with(struct text name, const char *end)
{
    size_t len = strlen(end);
    return name.len >= len && memcmp(name.at + name.len - len, end, len) == 0;
}

/* 3.5: which quantity a tensor is. */
static enum quantity quantity_of(const struct tensor *t)
{
    if (ends_with(t->name, ".A")) return GATES;
    bool matrix =
        t->rank == 2 && t->name.len > 7 && memcmp(t->name.at, "layers.", 7) == 0 && ends_with(t->name, ".weight");
    return matrix || mixture.of[WEIGHTS].scale_bits == 0 ? WEIGHTS : ACT;
}

/* Weights of mixed formats are doubles of the file: they are rounded even where the format is that of acc. */
static void store_weights(const struct tensor *t, double *values)
{
    enum quantity q = quantity_of(t);
    size_t row = t->rank == 2 ? t->shape[1] : t->count;
    if (compare_text(mixture.of[q].name, mixture.of[ACC].name) != 0)
        store_rows(q, values, row ? t->count / row : 0, row, NULL, NULL);
    else
        for (size_t i = 0; i < t->count; i++) values[i] = r(values[i]);
    for (size_t i = 0; i < t->count; i++)
        if (isnan(values[i])) reject("tensor '%.*s': a block with an infinity has no scale", SHOW(t->name));
}

static struct tensor *find_tensor(struct file *file, const char *name)
{
    struct tensor key = {.name = {name, strlen(name)}};
    return bsearch(&key, file->tensors, file->count, sizeof key, compare_name);
}

/* The number of columns of a tensor of rank 1. */
#define VECTOR SIZE_MAX

static struct tensor *take_tensor(struct file *file, const char *name, size_t rows, size_t columns)
{
    struct tensor *t = find_tensor(file, name);
    bool vector = columns == VECTOR;
    if (!t) reject("tensor '%s' is missing", name);
    if (t->rank != (vector ? 1 : 2) || t->shape[0] != rows || (!vector && t->shape[1] != columns))
        reject(vector ? "tensor '%s': shape [%zu] expected" : "tensor '%s': shape [%zu,%zu] expected", name, rows,
               columns);
    t->used = true;
    return t;
}

static double *take_weights(struct file *file, const char *name, size_t rows, size_t columns)
{
    struct tensor *t = take_tensor(file, name, rows, columns);
    double *values = numbers(t->count);
    for (size_t i = 0; i < t->count; i++) values[i] = weight_element(t, i);
    if (mixture.mixed) store_weights(t, values);
    return values;
}

static int64_t *take_integers(struct file *file, const char *name, size_t rows, size_t columns)
{
    struct tensor *t = take_tensor(file, name, rows, columns);
    int64_t *values = allocate(t->count, sizeof *values);
    for (size_t i = 0; i < t->count; i++) values[i] = whole_element(t, i);
    return values;
}

/* ---- the certificate (1) ----------------------------------------------------------------------------------------- */

enum kind { WRONG_ANSWER, STATE_COLLISION, VIEW_COLLISION, BLOCK_COLLISION, KINDS };
static const char *const kind_names[KINDS] = {"wrong-answer", "state-collision", "view-collision", "block-collision"};

struct prompt {
    uint32_t *tokens;
    size_t count;
};

struct certificate {
    enum kind kind;
    struct text digest, arch, format, task;
    struct prompt prompt[2];
    int prompts;
    size_t prefix, position, right[2], given, layer, block;
    struct text state, summary, view;
};

struct lines {
    struct text rest;
    size_t number; /* of the line that was read last */
};

static _Noreturn void malformed(const struct lines *lines, const char *reason)
{
    stop(MALFORMED, "line %zu: %s", lines->number, reason);
}

/* The rest of the next line after `word` and a space; nothing follows "end". */
static struct text next_line(struct lines *lines, const char *word)
{
    size_t left = lines->rest.len;
    struct text line = cut(&lines->rest, '\n'), value = line;
    lines->number++;
    if (line.len == left) malformed(lines, "a line expected that ends with a newline");
    for (size_t i = 0; i < line.len; i++) {
        if (line.at[i] < 0x20 || line.at[i] > 0x7e) malformed(lines, "a byte is not printable ASCII");
        if (line.at[i] == ' ' && (i == 0 || i + 1 == line.len || line.at[i + 1] == ' '))
            malformed(lines, "fields are separated by exactly one space, and nothing else has spaces");
    }
    if (!is(cut(&value, ' '), word) || (value.len == 0) != (strcmp(word, "end") == 0))
        stop(MALFORMED, "line %zu: '%s' and its value expected", lines->number, word);
    return value;
}

static size_t number_in(const struct lines *lines, struct text text, int bits)
{
    size_t value = 0;
    if (!canonical(&value, text, (UINT64_C(1) << bits) - 1))
        stop(MALFORMED, "line %zu: '%.*s' is no decimal number below 2^%d", lines->number, SHOW(text), bits);
    return value;
}
static size_t number_line(struct lines *lines, const char *word)
{
    return number_in(lines, next_line(lines, word), 31);
}

static struct text hex_line(struct lines *lines, const char *word)
{
    struct text text = next_line(lines, word);
    for (size_t i = 0; i < text.len; i++)
        if (!isdigit((unsigned char)text.at[i]) && (text.at[i] < 'a' || text.at[i] > 'f'))
            malformed(lines, "lower case hexadecimal digits expected");
    return text;
}

/* Room for 2^26 tokens, the longest prompt of any task. */
static struct prompt prompt_line(struct lines *lines)
{
    struct text text = next_line(lines, "prompt");
    size_t count = 1 + count_of(text, ' ');
    if (count > (size_t)1 << 26) malformed(lines, "a prompt has more than 2^26 tokens");
    struct prompt prompt = {allocate(count, sizeof(uint32_t)), count};
    for (size_t i = 0; i < count; i++) prompt.tokens[i] = (uint32_t)number_in(lines, cut(&text, ' '), 32);
    return prompt;
}

/* A name, then words KEY=VALUE; what they mean is the business of section 5. */
static struct text task_line(struct lines *lines)
{
    struct text task = next_line(lines, "task"), rest = task;
    cut(&rest, ' ');
    while (rest.len) {
        struct text value = cut(&rest, ' '), key = cut(&value, '=');
        if (key.len == 0 || value.at == key.at + key.len) malformed(lines, "words KEY=VALUE expected");
    }
    return task;
}

static struct certificate read_certificate(struct bytes bytes)
{
    struct lines all = {{(const char *)bytes.data, bytes.size}, 0}, *lines = &all;
    struct certificate c = {.kind = KINDS};
    struct text version = next_line(lines, "rung-certificate");
    if (!is(version, "1") && !is(version, "2")) malformed(lines, "this checker knows versions 1 and 2");
    c.kind = (enum kind)index_of(next_line(lines, "kind"), kind_names, KINDS);
    if (c.kind == KINDS) malformed(lines, "an unknown kind");
    c.digest = hex_line(lines, "model");
    if (c.digest.len != 64) malformed(lines, "64 hexadecimal digits expected");
    c.arch = next_line(lines, "arch");
    c.format = next_line(lines, "numbers");
    memset(&mixture, 0, sizeof mixture);
    if (is(version, "1") && !set_format(c.format)) malformed(lines, "not the canonical name of a format");
    if (is(version, "2") && !set_mixture(c.format)) malformed(lines, "not the canonical text of mixed formats");
    c.task = task_line(lines);
    c.prompts = c.kind == WRONG_ANSWER ? 1 : 2;
    for (int i = 0; i < c.prompts; i++) c.prompt[i] = prompt_line(lines);
    if (c.prompts == 2 && c.prompt[0].count != c.prompt[1].count)
        malformed(lines, "the prompts have different lengths");
    if (c.kind == STATE_COLLISION) c.prefix = number_line(lines, "prefix");
    c.position = number_line(lines, "position");
    struct text right = next_line(lines, "right");
    for (int i = 0; i < c.prompts; i++) c.right[i] = number_in(lines, cut(&right, ' '), 31);
    if (right.len) malformed(lines, "as many answers as prompts expected");
    if (c.kind == WRONG_ANSWER) c.given = number_line(lines, "given");
    if (c.kind == BLOCK_COLLISION) {
        c.layer = number_line(lines, "layer");
        c.block = number_line(lines, "block");
        c.summary = hex_line(lines, "summary");
    }
    if (c.kind == STATE_COLLISION) c.state = hex_line(lines, "state");
    if (c.kind == VIEW_COLLISION || c.kind == BLOCK_COLLISION) c.view = hex_line(lines, "view");
    next_line(lines, "end");
    lines->number++;
    if (lines->rest.len) malformed(lines, "something follows 'end'");
    return c;
}

/* ---- the architecture (4.1) -------------------------------------------------------------------------------------- */

enum mechanism { FULL, WINDOW, LINEAR, RETNET, GLA, MAMBA2, DELTA, GDELTA, KDA, LOGLINEAR, SPARSE, MECHANISMS };
static const char *const mechanism_names[MECHANISMS] = {"full",  "window", "linear", "retnet",    "gla",   "mamba2",
                                                        "delta", "gdelta", "kda",    "loglinear", "sparse"};
enum { ELU1, RELU, IDENTITY, TAYLOR2 };
enum { BASE_LINEAR, BASE_MAMBA2, BASE_GDELTA };

/* One group of heads, as the text says. */
struct shape {
    enum mechanism mechanism;
    size_t heads; /* 0: not given */
    size_t dk, dv, conv, gate, out_gate, unit, qk_norm;
    size_t kv;    /* heads of keys and values; in the text 0: as many as heads */
    double scale; /* 0: none */
    size_t window, phi, norm, base, levels, block, chosen, comp, branches, lambda, own;
};

enum { EVERY = (1 << MECHANISMS) - 1 };

static const struct key {
    const char *name;
    unsigned mechanisms; /* bit set */
    size_t field;        /* offset in struct shape */
    size_t low, high, fallback;
    const char *words[5]; /* instead of numbers */
} keys[] = {
    {"dk", EVERY, offsetof(struct shape, dk), 1, 1 << 20, 0, {0}},
    {"dv", EVERY, offsetof(struct shape, dv), 1, 1 << 20, 0, {0}},
    {"conv", EVERY, offsetof(struct shape, conv), 0, 64, 0, {0}},
    {"gate", EVERY, offsetof(struct shape, gate), 0, 1, 0, {0}},
    {"outgate", EVERY, offsetof(struct shape, out_gate), 0, 1, 0, {0}},
    {"unit", EVERY, offsetof(struct shape, unit), 0, 1, 0, {0}},
    {"qknorm", EVERY, offsetof(struct shape, qk_norm), 0, 1, 0, {0}},
    {"kv", 1 << FULL | 1 << WINDOW, offsetof(struct shape, kv), 0, 65536, 0, {0}},
    {"W", 1 << WINDOW, offsetof(struct shape, window), 1, INT32_MAX, 64, {0}},
    {"phi", 1 << LINEAR, offsetof(struct shape, phi), 0, 3, ELU1, {"elu1", "relu", "identity", "taylor2"}},
    {"norm", 1 << LINEAR, offsetof(struct shape, norm), 0, 1, 1, {0}},
    {"base", 1 << LOGLINEAR, offsetof(struct shape, base), 0, 2, BASE_LINEAR, {"linear", "mamba2", "gdelta"}},
    {"levels", 1 << LOGLINEAR, offsetof(struct shape, levels), 1, 40, 24, {0}},
    {"B", 1 << SPARSE, offsetof(struct shape, block), 1, 1 << 20, 16, {0}},
    {"k", 1 << SPARSE, offsetof(struct shape, chosen), 1, INT32_MAX, 2, {0}},
    {"comp", 1 << SPARSE, offsetof(struct shape, comp), 0, 2, 0, {"mean", "mlp", "given"}},
    {"branches", 1 << SPARSE, offsetof(struct shape, branches), 0, 1, 0, {"lambda", "nsa"}},
    {"lambda", 1 << SPARSE, offsetof(struct shape, lambda), 0, 1000, 500, {0}},
    {"W", 1 << SPARSE, offsetof(struct shape, window), 0, INT32_MAX, 0, {0}},
    {"own", 1 << SPARSE, offsetof(struct shape, own), 0, 1, 1, {0}},
};
enum { KEYS = sizeof keys / sizeof *keys, MAX_GROUPS = 8, MAX_LAYERS = 65536 };

static size_t *field_of(struct shape *shape, const struct key *key)
{
    return (size_t *)(void *)((char *)shape + key->field);
}

struct mix {
    struct shape group[MAX_GROUPS];
    size_t groups;
};

struct arch {
    struct parser p;
    const struct mix **layers; /* copies of a layer point to the same */
    size_t count;
};

static struct text next_word(struct parser *p, const char *also)
{
    peek(p);
    struct text word = {p->at, 0};
    while (p->at < p->end && (isalnum((unsigned char)*p->at) || strchr(also, *p->at))) p->at++, word.len++;
    if (word.len == 0 || word.len > 63) bad(p, "a name or value of 1 to 63 characters expected");
    return word;
}

static size_t number_up_to(const struct parser *p, struct text word, size_t low, size_t high)
{
    size_t value = 0;
    bool good = decimal(&value, word, high);
    if (!good && value <= high) bad(p, "a whole number expected");
    if (!good || value < low) bad(p, "a number is out of range");
    return value;
}

static void read_key(struct parser *p, struct shape *shape, bool seen[KEYS + 1])
{
    struct text name = next_word(p, "_");
    if (!take(p, '=')) bad(p, "'=' expected");
    struct text value = next_word(p, "._-");
    if (is(name, "scale")) {
        if (seen[KEYS]) bad(p, "a key comes twice");
        if (!real_number(&shape->scale, value) || shape->scale > 65536) bad(p, "a number up to 65536 expected");
        seen[KEYS] = true;
        return;
    }
    size_t i = 0;
    while (i < KEYS && !(is(name, keys[i].name) && keys[i].mechanisms >> shape->mechanism & 1)) i++;
    if (i == KEYS) bad(p, "an unknown key");
    if (seen[i]) bad(p, "a key comes twice");
    seen[i] = true;
    const struct key *key = &keys[i];
    size_t word = key->words[0] ? index_of(value, key->words, key->high + 1) : 0;
    if (key->words[0] && word > key->high) bad(p, "an unknown value of a key");
    *field_of(shape, key) = key->words[0] ? word : number_up_to(p, value, key->low, key->high);
}

static struct shape read_mechanism(struct parser *p)
{
    bool seen[KEYS + 1] = {false}; /* the last: of scale */
    struct text name = next_word(p, "-");
    struct shape shape = {.mechanism = (enum mechanism)index_of(name, mechanism_names, MECHANISMS)};
    if (shape.mechanism == MECHANISMS) reject("arch: mechanism '%.*s' cannot be certified", SHOW(name));
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].mechanisms >> shape.mechanism & 1) *field_of(&shape, &keys[i]) = keys[i].fallback;
    while (take(p, ':')) read_key(p, &shape, seen);
    if (take(p, '@')) shape.heads = number_up_to(p, next_word(p, ""), 1, 65536);
    if (mixture.mixed && (shape.mechanism == LOGLINEAR || shape.mechanism == SPARSE))
        reject("arch: '%.*s' takes one format for everything", SHOW(name));
    if (shape.gate && shape.out_gate) reject("arch: gate=1 and outgate=1 exclude each other");
    if (shape.unit && shape.qk_norm) reject("arch: unit=1 and qknorm=1 exclude each other");
    if (shape.comp != 0) reject("arch: sparse with another compression than the mean cannot be certified");
    if (shape.mechanism == SPARSE && shape.window > 0 && shape.branches == 0)
        reject("arch: sparse with W > 0 needs branches=nsa");
    return shape;
}

static void append_layer(struct arch *arch, const struct mix *mix)
{
    if (arch->count == MAX_LAYERS) bad(&arch->p, "more than 65536 layers");
    arch->layers[arch->count++] = mix;
}

static void read_mix(struct arch *arch)
{
    struct parser *p = &arch->p;
    struct mix *mix = allocate(1, sizeof *mix);
    do {
        if (mix->groups == MAX_GROUPS) bad(p, "more than 8 groups in a layer");
        mix->group[mix->groups++] = read_mechanism(p);
    } while (take(p, '|'));
    for (size_t g = 0; g < mix->groups; g++)
        if (mix->groups > 1 && mix->group[g].heads == 0) bad(p, "every group of a mix needs @heads");
    append_layer(arch, mix);
}

static void read_items(struct arch *arch, int depth)
{
    struct parser *p = &arch->p;
    if (depth > 32) bad(p, "parentheses nest too deep");
    do {
        size_t copies = 1, first = arch->count;
        if (isdigit((unsigned char)peek(p))) {
            copies = number_up_to(p, next_word(p, ""), 1, MAX_LAYERS);
            if (!take(p, '*')) bad(p, "'*' expected after a count");
        }
        if (take(p, '(')) {
            read_items(arch, depth + 1);
            if (!take(p, ')')) bad(p, "')' expected");
        } else {
            read_mix(arch);
        }
        size_t last = arch->count;
        for (size_t c = 1; c < copies; c++)
            for (size_t i = first; i < last; i++) append_layer(arch, arch->layers[i]);
    } while (take(p, ','));
}

static struct arch read_arch(struct text text)
{
    struct arch arch = {.p = parser_of(text, "arch"), .layers = allocate(MAX_LAYERS, sizeof *arch.layers)};
    read_items(&arch, 0);
    if (arch.p.at != arch.p.end) bad(&arch.p, "something follows that is not understood");
    return arch;
}

/* ---- the model (4.1): configuration and weights ------------------------------------------------------------------ */

enum mlp { MLP_NONE, MLP_RELU, MLP_GELU, MLP_SWIGLU, MLP_TABLE, MLP_GELU_TANH, MLP_GEGLU_TANH, MLPS };
static bool is_gated(enum mlp kind)
{
    return kind == MLP_SWIGLU || kind == MLP_GEGLU_TANH;
}

enum positions { NO_POSITIONS, LEARNED, SINUSOIDAL, ROTARY };
enum norm { NO_NORM, RMS, LAYER_NORM };

struct config {
    size_t vocab, d_in, answers, max_tokens, d, d_mlp, heads, dk, dv, thoughts;
    struct text mlp;
    enum positions positions;
    enum norm norm;
    double norm_epsilon;
};

enum source { PLAIN, TIMED, RATE, LOG_GATE, GATE, DECAY, SOFTPLUS };

struct matrix { /* or the weights of a norm, a row */
    size_t rows, columns;
    double *weight, *bias; /* bias may be NULL */
};

struct input {
    const char *name;
    enum source source;
    size_t heads, width; /* numbers per head */
    struct matrix project;
    double *a;              /* RATE: A; DECAY: exp(A) */
    double *norm;           /* [dk], of queries and keys: qknorm */
    double *taps, *history; /* conv: [row][K], [K-1][row] with the oldest token first */
    double *row;            /* of the present token */
};

enum { Q, K, V, MAX_INPUTS = 6 };

struct group {
    struct shape shape;
    struct input input[MAX_INPUTS];
    size_t inputs;
    double *q, *k, *v, *g, *beta, *lambda, *gates; /* rows of the inputs */
    struct matrix gate;
    double *gate_norm, *gate_row;
    double *out; /* [H dv] */
    /* carried */
    size_t slot;       /* numbers per slot: a token of all heads, a matrix of all heads */
    size_t tokens;     /* seen */
    double *state;     /* slots */
    double *summaries; /* sparse: [blocks][H][dk+dv] */
    double *scales;    /* of mixed formats: [slots][slot_scales] */
    size_t slot_scales;
    size_t index, layer;      /* of the group in its layer */
    size_t slots, matrices;   /* allocated; of loglinear: in use */
    double *scratch, *scores; /* enough for what the mechanism does on the way */
    struct candidate *candidates;
    bool *chosen;
    size_t watched; /* a block of sparse; SIZE_MAX: none */
    bool opened;    /* by a head of the asked token */
};

enum { MAX_KEYS = 16 };

struct table_row {
    int64_t key[MAX_KEYS]; /* zeros after the last */
    const double *value;
};

struct table_mlp {
    size_t count, keys, outs;
    struct table_row *rows;
    int64_t *key_at, *out_at; /* coordinates */
};

struct layer {
    struct group *groups;
    size_t count, width; /* groups; numbers that they give together */
    struct matrix norm1, out, norm2, up, gate, down;
    enum mlp mlp;
    struct table_mlp table;
};

struct model {
    struct config config;
    struct layer *layers;
    struct group *groups; /* of all layers, one after the other */
    size_t count, group_count;
    uint64_t token_bytes; /* at most, that a token of a prompt takes in make_room */
    double *embed, *positions, *cos, *sin;
    struct matrix final, readout;
    double *x, *h, *mixed, *hidden, *hidden_gate; /* rows of the present token */
    double r_d, eps_norm, eps_unit;               /* r(d), r(norm_epsilon), r(10^-6) */
};

static size_t word_in(const char *const *words, size_t count, struct text word, const char *what)
{
    size_t i = index_of(word, words, count);
    if (i == count) reject("rung.config: unknown %s '%.*s'", what, SHOW(word));
    return i;
}

static struct config read_config(struct text source)
{
    static const char *const position_words[] = {"none", "learned", "sinusoidal", "rotary"};
    static const char *const norm_words[] = {"none", "rms", "layer"};
    struct config c = {0};
    struct {
        const char *name;
        size_t low, *value;
    } sizes[] = {{"vocab", 1, &c.vocab},           {"d_in", 0, &c.d_in}, {"answers", 1, &c.answers},
                 {"max_tokens", 1, &c.max_tokens}, {"d_model", 1, &c.d}, {"d_mlp", 0, &c.d_mlp},
                 {"heads", 1, &c.heads},           {"dk", 1, &c.dk},     {"dv", 1, &c.dv},
                 {"thoughts", 0, &c.thoughts}};
    struct parser p = parser_of(source, "rung.config");
    p.reals = true;
    struct json *object = json_value(&p, 0), *causal = member(object, "causal");
    if (peek(&p) || p.at != p.end || object->kind != JSON_OBJECT) bad(&p, "one object expected, and nothing else");
    size_t known = 4;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct json *m = member(object, sizes[i].name);
        if (!m && sizes[i].value == &c.thoughts) continue;
        if (!m || m->kind != JSON_INTEGER || m->integer < sizes[i].low || m->integer > (size_t)1 << 31)
            reject("rung.config: '%s' is missing or out of range", sizes[i].name);
        *sizes[i].value = m->integer;
        known++;
    }
    c.mlp = text_of(object, "mlp", "rung.config");
    c.positions = (enum positions)word_in(position_words, 4, text_of(object, "positions", "rung.config"), "positions");
    c.norm = (enum norm)word_in(norm_words, 3, text_of(object, "norm", "rung.config"), "norm");
    if (!causal || causal->kind != JSON_TRUE) reject("rung.config: the model must be causal");
    struct json *epsilon = member(object, "norm_epsilon");
    c.norm_epsilon = 1e-5;
    if (epsilon) {
        c.norm_epsilon = epsilon->kind == JSON_REAL ? epsilon->real : 0;
        if (epsilon->kind == JSON_INTEGER) c.norm_epsilon = (double)epsilon->integer;
        if (!(c.norm_epsilon > 0 && c.norm_epsilon <= 1)) reject("rung.config: 'norm_epsilon' is out of range");
        known++;
    }
    if (c.d_in != 0 || c.thoughts != 0) reject("rung.config: features and thoughts cannot be certified");
    if (object->count != known) reject("rung.config: it has keys that are not known");
    return c;
}

/* The name of a tensor or of a group of them, such as "layers.3.mix.0.q". */
static const char *name_of(const char *format, ...)
{
    enum { LONGEST_NAME = 128 };
    char *name = allocate(LONGEST_NAME, 1);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, LONGEST_NAME, format, arguments);
    va_end(arguments);
    return name;
}

/* NAME.weight and NAME.bias, which may be absent. */
static struct matrix take_matrix(struct file *file, const char *name, size_t rows, size_t columns)
{
    struct matrix m = {.rows = rows, .columns = columns};
    const char *bias = name_of("%s.bias", name);
    m.weight = take_weights(file, name_of("%s.weight", name), rows, columns);
    if (find_tensor(file, bias)) m.bias = take_weights(file, bias, rows, VECTOR);
    return m;
}

static struct matrix take_norm(struct file *file, const struct config *c, const char *name)
{
    if (c->norm == LAYER_NORM) return take_matrix(file, name, c->d, VECTOR);
    struct matrix norm = {.bias = NULL};
    if (c->norm == RMS) norm.weight = take_weights(file, name_of("%s.weight", name), c->d, VECTOR);
    return norm;
}

/* Heads of what is kept of a token, or of a state. */
static size_t kept_heads(const struct shape *s)
{
    return s->kv ? s->kv : s->heads;
}

static void add_input(struct group *g, const char *name, enum source source, size_t width, double **row)
{
    struct input *in = &g->input[g->inputs++];
    *in = (struct input){.name = name, .source = source, .heads = g->shape.heads, .width = width};
    if (g->inputs == K + 1 || g->inputs == V + 1) in->heads = kept_heads(&g->shape);
    in->row = numbers(times(in->heads, width));
    *row = in->row;
}

/* The inputs of a mechanism in the order of the table. */
static void list_inputs(struct group *g)
{
    const struct shape *s = &g->shape;
    enum mechanism m = s->mechanism;
    bool faded = m == RETNET || m == GLA || m == MAMBA2, corrected = m == DELTA || m == GDELTA || m == KDA;
    add_input(g, "q", PLAIN, s->dk, &g->q);
    add_input(g, "k", PLAIN, s->dk, &g->k);
    add_input(g, "v", m == MAMBA2 ? TIMED : PLAIN, s->dv, &g->v);
    if (corrected) add_input(g, "beta", GATE, 1, &g->beta);
    if (m == LOGLINEAR) add_input(g, "lambda", SOFTPLUS, s->levels, &g->lambda);
    if (faded) add_input(g, "g", m == RETNET ? RATE : m == GLA ? LOG_GATE : DECAY, m == GLA ? s->dk : 1, &g->g);
    if (m == GDELTA || m == KDA || (m == LOGLINEAR && s->base != BASE_LINEAR))
        add_input(g, "g", DECAY, m == KDA ? s->dk : 1, &g->g);
    if (m == LOGLINEAR && s->base == BASE_GDELTA) add_input(g, "beta", GATE, 1, &g->beta);
    if (m == SPARSE && s->branches == 1) add_input(g, "gates", GATE, 3, &g->gates);
}

/* `name`: the beginning of the names of the group. */
static void load_input(struct file *file, const struct config *c, const struct shape *s, struct input *in,
                       const char *name, size_t order)
{
    size_t row = in->heads * in->width;
    if (in->source != RATE) in->project = take_matrix(file, name_of("%s.%s", name, in->name), row, c->d);
    if (in->source == RATE || in->source == DECAY)
        in->a = take_weights(file, name_of("%s.%s.A", name, in->name), s->heads, VECTOR);
    if (in->source == RATE) memcpy(in->row, in->a, s->heads * sizeof *in->a);
    for (size_t h = 0; h < s->heads && in->source == DECAY; h++) in->a[h] = exponential(in->a[h]);
    if (s->qk_norm && order <= K) in->norm = take_weights(file, name_of("%s.%s_norm", name, in->name), s->dk, VECTOR);
    if (s->conv >= 1 && order <= V) {
        in->taps = take_weights(file, name_of("%s.%s.conv", name, in->name), row, s->conv);
        in->history = numbers(times(row, s->conv - 1));
    }
}

static void load_group(struct file *file, const struct config *c, struct group *g, const char *name)
{
    struct shape *s = &g->shape;
    if (s->heads == 0) s->heads = c->heads;
    if (s->dk == 0) s->dk = c->dk;
    if (s->dv == 0) s->dv = c->dv;
    if (s->heads > 65536 || s->dk > 1 << 20 || s->dv > 1 << 20) reject("rung.config: heads, dk or dv is out of range");
    if (s->kv > s->heads || (s->kv && s->heads % s->kv)) reject("arch: kv does not divide the heads");
    if (s->phi == TAYLOR2 && s->dk > 1024) reject("arch: taylor2 wants dk up to 1024");
    if (c->positions == ROTARY && (s->dk != c->dk || s->dk % 2))
        reject("arch: with rotary positions every dk is that of the config, and even");
    list_inputs(g);
    for (size_t i = 0; i < g->inputs; i++) load_input(file, c, s, &g->input[i], name, i);
    g->out = numbers(times(s->heads, s->dv));
    g->watched = SIZE_MAX;
    if (!s->gate && !s->out_gate) return;
    g->gate = take_matrix(file, name_of("%s.gate", name), s->heads * s->dv, c->d);
    if (s->gate) g->gate_norm = take_weights(file, name_of("%s.gate_norm", name), s->dv, VECTOR);
    g->gate_row = numbers(s->heads * s->dv);
}

static int64_t *take_coordinates(struct file *file, const char *name, size_t count, size_t d)
{
    int64_t *at = take_integers(file, name, count, VECTOR);
    bool *seen = allocate(d, sizeof *seen);
    for (size_t i = 0; i < count; i++) {
        if (at[i] < 0 || (uint64_t)at[i] >= d || seen[at[i]])
            reject("tensor '%s': element %zu is no coordinate, or comes twice", name, i);
        seen[at[i]] = true;
    }
    return at;
}

static int compare_rows(const void *a, const void *b)
{
    const struct table_row *x = a, *y = b;
    for (size_t i = 0; i < MAX_KEYS; i++)
        if (x->key[i] != y->key[i]) return x->key[i] < y->key[i] ? -1 : 1;
    return 0;
}

/* The lengths of a tensor that may be of any size. */
static const size_t *lengths_of(struct file *file, const char *name, size_t rank)
{
    struct tensor *t = find_tensor(file, name);
    if (!t || t->rank != rank) reject("tensor '%s' is missing or not of rank %zu", name, rank);
    return t->shape;
}

static void load_table(struct file *file, struct table_mlp *t, const char *name, size_t d)
{
    const char *keys_name = name_of("%s.keys", name), *outs_name = name_of("%s.out_coords", name);
    const size_t *lengths = lengths_of(file, keys_name, 2);
    t->count = lengths[0], t->keys = lengths[1], t->outs = *lengths_of(file, outs_name, 1);
    if (t->keys < 1 || t->keys > MAX_KEYS) reject("tensor '%s': 1 to 16 columns expected", keys_name);
    const int64_t *key = take_integers(file, keys_name, t->count, t->keys);
    const double *value = take_weights(file, name_of("%s.values", name), t->count, t->outs);
    t->key_at = take_coordinates(file, name_of("%s.key_coords", name), t->keys, d);
    t->out_at = take_coordinates(file, outs_name, t->outs, d);
    t->rows = allocate(t->count, sizeof *t->rows);
    for (size_t i = 0; i < t->count; i++) {
        memcpy(t->rows[i].key, key + i * t->keys, t->keys * sizeof *key);
        t->rows[i].value = value + i * t->outs;
    }
    qsort(t->rows, t->count, sizeof *t->rows, compare_rows);
    for (size_t i = 1; i < t->count; i++)
        if (compare_rows(&t->rows[i - 1], &t->rows[i]) == 0) reject("tensor '%s': a key twice", keys_name);
}

static bool keeps_tokens(const struct shape *s)
{
    return s->mechanism == FULL || s->mechanism == WINDOW || s->mechanism == SPARSE;
}

static void load_layer(struct file *file, struct model *m, size_t index, const struct mix *mix)
{
    const struct config *c = &m->config;
    struct layer *layer = &m->layers[index];
    const char *name = name_of("layers.%zu", index), *mlp = name_of("%s.mlp", name);
    layer->norm1 = take_norm(file, c, name_of("%s.norm1", name));
    layer->count = mix->groups, layer->groups = m->groups + m->group_count;
    m->group_count += mix->groups;
    for (size_t g = 0; g < mix->groups; g++) {
        layer->groups[g].shape = mix->group[g];
        layer->groups[g].index = g, layer->groups[g].layer = index;
        load_group(file, c, &layer->groups[g], name_of("%s.mix.%zu", name, g));
        const struct shape *s = &layer->groups[g].shape;
        layer->width += s->heads * s->dv;
        m->token_bytes += 64 + (keeps_tokens(s) ? 16 * (uint64_t)kept_heads(s) * (s->dk + s->dv) : 0);
    }
    layer->out = take_matrix(file, name_of("%s.out", name), c->d, layer->width);
    if (layer->mlp == MLP_TABLE) load_table(file, &layer->table, mlp, c->d);
    if (layer->mlp == MLP_NONE || layer->mlp == MLP_TABLE) return;
    if (c->d_mlp < 1) reject("rung.config: d_mlp must be at least 1");
    layer->norm2 = take_norm(file, c, name_of("%s.norm2", name));
    layer->up = take_matrix(file, name_of("%s.up", mlp), c->d_mlp, c->d);
    if (is_gated(layer->mlp)) layer->gate = take_matrix(file, name_of("%s.gate", mlp), c->d_mlp, c->d);
    layer->down = take_matrix(file, name_of("%s.down", mlp), c->d, c->d_mlp);
}

/* One word for all layers, or one for each. */
static void set_mlps(struct model *model)
{
    static const char *const words[] = {"none", "relu", "gelu", "swiglu", "table", "gelu_tanh", "geglu_tanh"};
    struct text rest = model->config.mlp;
    size_t commas = count_of(rest, ',');
    if (commas != 0 && commas + 1 != model->count) reject("rung.config: mlp must name one kind, or one for each layer");
    for (size_t l = 0; l < model->count; l++)
        model->layers[l].mlp = (enum mlp)word_in(words, MLPS, commas ? cut(&rest, ',') : rest, "mlp");
}

static struct model load_model(struct file *file, const struct arch *arch)
{
    struct model m = {.config = read_config(text_of(file->metadata, "rung.config", "model")), .count = arch->count};
    const struct config *c = &m.config;
    m.layers = allocate(m.count, sizeof *m.layers);
    size_t groups = 0, widest = 0;
    for (size_t l = 0; l < m.count; l++) groups += arch->layers[l]->groups;
    m.groups = allocate(groups, sizeof *m.groups);
    set_mlps(&m);
    m.embed = take_weights(file, "embed.weight", c->vocab, c->d);
    if (c->positions == LEARNED || c->positions == SINUSOIDAL)
        m.positions = take_weights(file, "positions", c->max_tokens, c->d);
    if (c->positions == ROTARY && c->dk >= 2) {
        m.cos = take_weights(file, "rotary.cos", c->max_tokens, c->dk / 2);
        m.sin = take_weights(file, "rotary.sin", c->max_tokens, c->dk / 2);
    }
    for (size_t l = 0; l < m.count; l++) load_layer(file, &m, l, arch->layers[l]);
    m.final = take_norm(file, c, "final_norm");
    m.readout = take_matrix(file, "readout", c->answers, c->d);
    for (size_t i = 0; i < file->count; i++)
        if (!file->tensors[i].used)
            reject("tensor '%.*s' has no place in this architecture", SHOW(file->tensors[i].name));
    for (size_t l = 0; l < m.count; l++) widest = m.layers[l].width > widest ? m.layers[l].width : widest;
    m.x = numbers(c->d), m.h = numbers(c->d), m.mixed = numbers(widest);
    m.hidden = numbers(c->d_mlp), m.hidden_gate = numbers(c->d_mlp);
    m.r_d = r((double)c->d), m.eps_norm = r(c->norm_epsilon), m.eps_unit = r(1e-6);
    return m;
}

/* ---- vectors (3.3) ----------------------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b, size_t count)
{
    double acc = 0;
    for (size_t i = 0; i < count; i++) acc = add(acc, mul(a[i], b[i]));
    return acc;
}

/* out_n = dot(x, row n), rows `stride` apart; four at a time, because each sum waits for its own roundings. */
static void dots(double *out, const double *x, const double *rows, size_t stride, size_t rows_count, size_t count)
{
    size_t n = 0;
    spend((uint64_t)rows_count * (count + 4));
    for (; n + 4 <= rows_count; n += 4) {
        const double *a = rows + n * stride, *b = a + stride, *c = b + stride, *d = c + stride;
        double sa = 0, sb = 0, sc = 0, sd = 0;
        for (size_t i = 0; i < count; i++) {
            sa = add(sa, mul(a[i], x[i]));
            sb = add(sb, mul(b[i], x[i]));
            sc = add(sc, mul(c[i], x[i]));
            sd = add(sd, mul(d[i], x[i]));
        }
        out[n] = sa, out[n + 1] = sb, out[n + 2] = sc, out[n + 3] = sd;
    }
    for (; n < rows_count; n++) out[n] = dot(rows + n * stride, x, count);
}

static void project(double *y, const struct matrix *m, const double *x)
{
    dots(y, x, m->weight, m->columns, m->rows, m->columns);
    for (size_t i = 0; i < m->rows && m->bias; i++) y[i] = add(y[i], m->bias[i]);
    store(ACT, y, m->rows);
}

/* o_i = dot over j of S_ji and x_j. */
static void transposed(double *o, const double *s, const double *x, size_t rows, size_t columns)
{
    for (size_t i = 0; i < columns; i++) o[i] = 0;
    for (size_t j = 0; j < rows; j++)
        for (size_t i = 0; i < columns; i++) o[i] = add(o[i], mul(s[j * columns + i], x[j]));
}

/* S_ji = r(S_ji + r(x_j u_i)). */
static void add_outer(double *s, const double *x, const double *u, size_t rows, size_t columns)
{
    for (size_t j = 0; j < rows; j++)
        for (size_t i = 0; i < columns; i++) s[j * columns + i] = add(s[j * columns + i], mul(x[j], u[i]));
}

static void add_rows(double *x, const double *y, size_t count)
{
    for (size_t i = 0; i < count; i++) x[i] = add(x[i], y[i]);
}

static double relu(double x)
{
    return x <= 0 ? 0 : x; /* a NaN stays one */
}
static double silu(double x)
{
    return mul(x, sigmoid(x));
}

static void no_nan(const double *x, size_t count, const char *what, size_t layer, size_t token)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(x[i])) reject("not a number: %s of layer %zu, token %zu", what, layer, token);
}

/* ---- softmax attention (3.3, 4.4) -------------------------------------------------------------------------------- */

struct softmax {
    double m, den, *num;
    size_t width, seen;
};

static struct softmax softmax_start(double *num_row, size_t width)
{
    for (size_t i = 0; i < width; i++) num_row[i] = 0;
    return (struct softmax){num.least, 0, num_row, width, 0};
}

static void softmax_add(struct softmax *s, double score, const double *v)
{
    double m = score > s->m ? score : s->m;
    spend(2 * (uint64_t)s->width + 16);
    double a = exponential(sub(s->m, m)), e = exponential(sub(score, m));
    if (a != 1) { /* multiplying by 1 changes no value */
        s->den = mul(s->den, a);
        for (size_t i = 0; i < s->width; i++) s->num[i] = mul(s->num[i], a);
    }
    s->den = add(s->den, e);
    for (size_t i = 0; i < s->width; i++) s->num[i] = add(s->num[i], mul(e, v[i]));
    s->m = m;
    s->seen++;
}

/* The result is in s->num. */
static void softmax_end(struct softmax *s)
{
    for (size_t i = 0; i < s->width && s->seen; i++) s->num[i] = divide(s->num[i], s->den);
}

/* Tokens first .. last of a cache of slots [H][dk+dv]; `rows` points to head h of slot 0. */
static void attend(struct softmax *s, const struct group *g, const double *q, const double *rows, size_t first,
                   size_t last)
{
    rows += first * g->slot;
    dots(g->scores, q, rows, g->slot, last + 1 - first, g->shape.dk);
    for (size_t j = 0; j <= last - first; j++) softmax_add(s, g->scores[j], rows + j * g->slot + g->shape.dk);
}

static void keep_token(const struct group *g, size_t slot_index)
{
    const struct shape *s = &g->shape;
    double *slot = g->state + slot_index * g->slot,
           *scales = g->scales ? g->scales + slot_index * g->slot_scales : NULL;
    for (size_t h = 0; h < kept_heads(s); h++, slot += s->dk + s->dv) {
        memcpy(slot, g->k + h * s->dk, s->dk * sizeof *slot);
        memcpy(slot + s->dk, g->v + h * s->dv, s->dv * sizeof *slot);
        store_rows(CACHE, slot, 1, s->dk, scales, NULL);
        if (scales) scales += scales_of(&mixture.of[CACHE], s->dk);
        store_rows(CACHE, slot + s->dk, 1, s->dv, scales, NULL);
        if (scales) scales += scales_of(&mixture.of[CACHE], s->dv);
    }
    no_nan(g->state + slot_index * g->slot, mixture.mixed ? g->slot : 0, "a stored key or value", g->layer, g->tokens);
}

static void run_full(struct group *g, bool asked)
{
    const struct shape *s = &g->shape;
    size_t t = g->tokens;
    bool ring = s->mechanism == WINDOW && t >= s->window; /* token t - W + 1 is in the slot after that of token t */
    size_t slot = ring ? t % s->window : t;
    keep_token(g, slot);
    for (size_t h = 0; h < s->heads && asked; h++) {
        size_t shared = h / (s->heads / kept_heads(s)); /* the head of keys and values */
        const double *q = g->q + h * s->dk, *rows = g->state + shared * (s->dk + s->dv);
        struct softmax sum = softmax_start(g->out + h * s->dv, s->dv);
        if (ring && slot + 1 < s->window) attend(&sum, g, q, rows, slot + 1, s->window - 1);
        attend(&sum, g, q, rows, 0, slot);
        softmax_end(&sum);
    }
}

/* ---- states of a fixed size (4.5) -------------------------------------------------------------------------------- */

static size_t features(const struct shape *s)
{
    return s->phi == TAYLOR2 ? 1 + s->dk + s->dk * s->dk : s->dk;
}

/* phi(x): in f, or x itself. */
static const double *feature_map(double *f, const struct shape *s, const double *x)
{
    if (s->mechanism != LINEAR || s->phi == IDENTITY) return x;
    for (size_t i = 0; i < s->dk && s->phi == RELU; i++) f[i] = relu(x[i]);
    for (size_t i = 0; i < s->dk && s->phi == ELU1; i++) f[i] = x[i] > 0 ? add(x[i], num.one) : exponential(x[i]);
    if (s->phi != TAYLOR2) return f;
    double root_half = r(0.70710678118654752440);
    f[0] = num.one;
    memcpy(f + 1, x, s->dk * sizeof *f);
    for (size_t i = 0; i < s->dk; i++)
        for (size_t j = 0; j < s->dk; j++) f[1 + (i + 1) * s->dk + j] = mul(mul(x[i], x[j]), root_half);
    return f;
}

/* S_ji = r(S_ji exp(g)), g of the head or of channel j. */
static void fade(double *state, const double *g, bool per_channel, const struct shape *s)
{
    double e = per_channel ? 0 : exponential(*g);
    for (size_t j = 0; j < s->dk; j++) {
        if (per_channel) e = exponential(g[j]);
        for (size_t i = 0; i < s->dv; i++) state[j * s->dv + i] = mul(state[j * s->dv + i], e);
    }
}

/* u_i = r(beta r(v_i - p_i)), p = S^T k; v may be NULL for zeros. */
static void correction(double *u, const double *state, const double *k, const double *v, double beta,
                       const struct shape *s)
{
    transposed(u, state, k, s->dk, s->dv);
    for (size_t i = 0; i < s->dv; i++) u[i] = mul(beta, sub(v ? v[i] : 0, u[i]));
}

/* The state of head h, of `count` numbers, after the present token, if a chunk ends there: rows of dv numbers, and a
 * shorter one. */
static void store_state(const struct group *g, size_t h, size_t count)
{
    const struct stored *s = &mixture.of[STATE];
    if ((g->tokens + 1) % mixture.chunk) return;
    size_t dv = g->shape.dv, rows = count / dv, rest = count % dv;
    double *state = g->state + h * count;
    double *scales = g->scales ? g->scales + h * (rows * scales_of(s, dv) + scales_of(s, rest)) : NULL;
    struct chance chance = {.key = shuffle(shuffle(shuffle(shuffle(mixture.seed) ^ g->layer) ^ g->index) ^ g->tokens)};
    chance.first = h * count;
    store_rows(STATE, state, rows, dv, scales, mixture.stochastic ? &chance : NULL);
    chance.first += rows * dv;
    store_rows(STATE, state + rows * dv, 1, rest, scales ? scales + rows * scales_of(s, dv) : NULL,
               mixture.stochastic ? &chance : NULL);
}

static void read_matrix(struct group *g, size_t h, const double *state, size_t rho)
{
    const struct shape *s = &g->shape;
    double *o = g->out + h * s->dv, *f = g->scratch + s->dv;
    const double *q = feature_map(f, s, g->q + h * s->dk), *z = state + rho * s->dv;
    transposed(o, state, q, rho, s->dv);
    double den = s->norm ? dot(z, q, rho) : 0;
    for (size_t i = 0; i < s->dv && s->norm; i++) o[i] = divide(o[i], den);
}

static void run_matrix(struct group *g, bool asked)
{
    const struct shape *s = &g->shape;
    bool per_channel = s->mechanism == GLA || s->mechanism == KDA;
    size_t rho = features(s);
    for (size_t h = 0; h < s->heads; h++) {
        double *state = g->state + h * rho * (s->dv + s->norm), *z = state + rho * s->dv;
        double *u = g->scratch, *f = u + s->dv;
        const double *k = feature_map(f, s, g->k + h * s->dk), *v = g->v + h * s->dv;
        if (g->g) fade(state, g->g + h * (per_channel ? s->dk : 1), per_channel, s);
        if (g->beta) correction(u, state, k, v, g->beta[h], s);
        add_outer(state, k, g->beta ? u : v, rho, s->dv);
        if (s->norm) add_rows(z, k, rho);
        if (asked) read_matrix(g, h, state, rho);
        if (mixture.mixed) store_state(g, h, rho * (s->dv + s->norm));
    }
}

/* ---- loglinear (4.6) --------------------------------------------------------------------------------------------- */

/* o_i = r(o_i + r(lambda y_i)), y = S^T q. */
static void read_level(struct group *g, size_t h, const double *matrix, size_t level)
{
    const struct shape *s = &g->shape;
    double *o = g->out + h * s->dv, *y = g->scratch;
    double weight = g->lambda[h * s->levels + (level < s->levels ? level : s->levels - 1)];
    transposed(y, matrix, g->q + h * s->dk, s->dk, s->dv);
    for (size_t i = 0; i < s->dv; i++) o[i] = add(o[i], mul(weight, y[i]));
}

static void loglinear_head(struct group *g, size_t h, bool asked)
{
    const struct shape *s = &g->shape;
    size_t size = s->dk * s->dv, bit = 64;
    const double *k = g->k + h * s->dk, *v = g->v + h * s->dv;
    double *o = g->out + h * s->dv, *u = g->scratch;
    for (size_t i = 0; i < s->dv; i++) o[i] = 0;
    for (size_t n = 0; n < g->matrices; n++) {
        double *matrix = g->state + n * g->slot + h * size;
        if (g->g) fade(matrix, g->g + h, false, s);
        if (g->beta) {
            correction(u, matrix, k, NULL, g->beta[h], s);
            add_outer(matrix, k, u, s->dk, s->dv);
        }
        do bit--;
        while (!((uint64_t)g->tokens >> bit & 1));
        if (asked) read_level(g, h, matrix, bit + 1);
    }
    double *own = g->state + g->matrices * g->slot + h * size; /* there is always room for one more */
    for (size_t i = 0; i < s->dv; i++) u[i] = g->beta ? mul(g->beta[h], v[i]) : v[i];
    for (size_t i = 0; i < size; i++) own[i] = 0;
    add_outer(own, k, u, s->dk, s->dv);
    if (asked) read_level(g, h, own, 0);
}

static void run_loglinear(struct group *g, bool asked)
{
    for (size_t h = 0; h < g->shape.heads; h++) loglinear_head(g, h, asked);
    /* The newest matrix takes up the one before it, in whose place it goes. */
    for (size_t t = g->tokens; t & 1; t >>= 1, g->matrices--) {
        double *newest = g->state + g->matrices * g->slot, *before = newest - g->slot;
        for (size_t i = 0; i < g->slot; i++) before[i] = add(newest[i], before[i]);
    }
    g->matrices++;
}

/* ---- sparse (4.7) ------------------------------------------------------------------------------------------------ */

struct candidate {
    double score;
    size_t block;
};

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->block < y->block ? -1 : 1;
}

static void summarize(struct group *g, size_t block)
{
    double *out = g->summaries + block * g->slot, divisor = r((double)g->shape.block);
    const double *slots = g->state + block * g->shape.block * g->slot;
    for (size_t i = 0; i < g->slot; i++) out[i] = 0;
    for (size_t t = 0; t < g->shape.block; t++) add_rows(out, slots + t * g->slot, g->slot);
    for (size_t i = 0; i < g->slot; i++) out[i] = divide(out[i], divisor);
}

/* Marks the chosen blocks; scores of the summaries are in g->scores. */
static void choose_blocks(struct group *g, size_t candidates)
{
    struct candidate *c = g->candidates;
    for (size_t b = 0; b < candidates; b++) {
        double score = isnan(g->scores[b]) ? 0 : g->scores[b]; /* a NaN stops the model anyway */
        c[b] = (struct candidate){score, b};
        g->chosen[b] = false;
    }
    qsort(c, candidates, sizeof *c, compare_candidates);
    for (size_t i = 0; i < candidates && i < g->shape.chosen; i++) g->chosen[c[i].block] = true;
}

static void add_branch(double *o, double weight, struct softmax *branch)
{
    softmax_end(branch);
    for (size_t i = 0; i < branch->width; i++) o[i] = add(o[i], mul(weight, branch->num[i]));
}

static void sparse_head(struct group *g, size_t h)
{
    const struct shape *s = &g->shape;
    size_t t = g->tokens, size = s->block, complete = (t + 1) / size, own = t / size,
           candidates = s->own ? own : complete;
    const double *q = g->q + h * s->dk, *rows = g->state + h * (s->dk + s->dv),
                 *blocks = g->summaries + h * (s->dk + s->dv);
    double *o = g->out + h * s->dv, weights[3] = {r((double)s->lambda / 1000), r((double)(1000 - s->lambda) / 1000), 0};
    if (g->gates) memcpy(weights, g->gates + 3 * h, sizeof weights);
    for (size_t i = 0; i < s->dv; i++) o[i] = 0;

    struct softmax branch = softmax_start(g->scratch, s->dv);
    if (complete) attend(&branch, g, q, blocks, 0, complete - 1);
    add_branch(o, weights[0], &branch);

    choose_blocks(g, candidates); /* by the scores that attend has left */
    branch = softmax_start(g->scratch, s->dv);
    for (size_t b = 0; b < candidates; b++)
        if (g->chosen[b]) attend(&branch, g, q, rows, b * size, (b + 1) * size - 1);
    if (s->own) attend(&branch, g, q, rows, own * size, t);
    add_branch(o, weights[1], &branch);
    if (g->watched < candidates && g->chosen[g->watched]) g->opened = true;
    if (s->own && g->watched == own) g->opened = true;

    if (s->window == 0) return;
    branch = softmax_start(g->scratch, s->dv);
    attend(&branch, g, q, rows, t + 1 > s->window ? t + 1 - s->window : 0, t);
    add_branch(o, weights[2], &branch);
}

static void run_sparse(struct group *g, bool asked)
{
    size_t t = g->tokens;
    keep_token(g, t);
    if ((t + 1) % g->shape.block == 0) summarize(g, t / g->shape.block);
    g->opened = false;
    for (size_t h = 0; h < g->shape.heads && asked; h++) sparse_head(g, h);
}

/* ---- layers (4.2, 4.3, 4.9) -------------------------------------------------------------------------------------- */

/* y_i = r(r(c_i / s) w_i) with s = sqrt(r(r(dot(c,c) / r(d)) + eps)); y and c may be the same. */
static void rms_norm(double *y, const double *c, const double *weight, size_t d, double r_d, double eps)
{
    double s = square_root(add(divide(dot(c, c, d), r_d), eps));
    for (size_t i = 0; i < d; i++) y[i] = mul(divide(c[i], s), weight[i]);
}

static void norm(double *h, const struct model *m, const struct matrix *w, const double *x)
{
    size_t d = m->config.d;
    memcpy(h, x, d * sizeof *h);
    if (m->config.norm == NO_NORM) return;
    if (m->config.norm == LAYER_NORM) {
        double sum = 0;
        for (size_t i = 0; i < d; i++) sum = add(sum, x[i]);
        double mean = divide(sum, m->r_d);
        for (size_t i = 0; i < d; i++) h[i] = sub(x[i], mean);
    }
    rms_norm(h, h, w->weight, d, m->r_d, m->eps_norm);
    if (w->bias) add_rows(h, w->bias, d);
    store(ACT, h, d);
}

static void convolve(struct input *in, size_t row, size_t taps)
{
    for (size_t c = 0; c < row; c++) {
        double acc = 0, now = in->row[c];
        for (size_t i = 0; i + 1 < taps; i++) acc = add(acc, mul(in->taps[c * taps + i], in->history[i * row + c]));
        acc = add(acc, mul(in->taps[c * taps + taps - 1], now));
        for (size_t i = 0; i + 2 < taps; i++) in->history[i * row + c] = in->history[(i + 1) * row + c];
        if (taps >= 2) in->history[(taps - 2) * row + c] = now;
        in->row[c] = silu(acc);
    }
    store(ACT, in->row, row);
}

static double source_function(enum source source, double y)
{
    if (source == GATE) return sigmoid(y);
    if (source == SOFTPLUS || source == DECAY) return softplus(y);
    return source == LOG_GATE ? divide(sub(0, softplus(sub(0, y))), r(16)) : y;
}

static void rotate_head(double *z, const double *cos_row, const double *sin_row, size_t half)
{
    for (size_t i = 0; i < half; i++) {
        double a = z[i], b = z[half + i];
        z[i] = sub(mul(a, cos_row[i]), mul(b, sin_row[i]));
        z[half + i] = add(mul(b, cos_row[i]), mul(a, sin_row[i]));
    }
}

static void make_input(const struct model *m, const struct group *g, struct input *in, size_t order, size_t position)
{
    const struct shape *s = &g->shape;
    size_t row = in->heads * in->width;
    if (in->source == RATE) return;
    project(in->row, &in->project, m->h);
    if (in->taps) convolve(in, row, s->conv);
    for (size_t i = 0; i < row; i++) in->row[i] = source_function(in->source, in->row[i]);
    if (in->source == GATE) store(BETA, in->row, row);
    if (in->source == LOG_GATE || in->source == SOFTPLUS) store(GATES, in->row, row);
    for (size_t h = 0; h < in->heads && order <= K; h++) {
        double *z = in->row + h * s->dk;
        if (s->unit) {
            double length = square_root(add(dot(z, z, s->dk), m->eps_unit));
            for (size_t i = 0; i < s->dk; i++) z[i] = divide(z[i], length);
            store(ACT, z, s->dk);
        }
        if (in->norm) rms_norm(z, z, in->norm, s->dk, r((double)s->dk), m->eps_norm);
        if (in->norm) store(ACT, z, s->dk);
        if (m->cos) rotate_head(z, m->cos + position * (s->dk / 2), m->sin + position * (s->dk / 2), s->dk / 2);
        if (m->cos) store(ACT, z, s->dk);
        if (order != Q || s->scale <= 0) continue;
        for (size_t i = 0; i < s->dk; i++) z[i] = mul(z[i], r(s->scale));
        store(ACT, z, s->dk);
    }
}

static void make_inputs(const struct model *m, struct group *g, size_t layer, size_t position)
{
    const struct shape *s = &g->shape;
    for (size_t i = 0; i < g->inputs; i++) make_input(m, g, &g->input[i], i, position);
    if (g->input[V].source == TIMED)
        for (size_t i = 0; i < s->heads * s->dv; i++) g->v[i] = mul(g->v[i], g->g[i / s->dv]);
    for (size_t n = 0; n < g->inputs; n++) {
        struct input *in = &g->input[n];
        for (size_t i = 0; i < in->heads * in->width && in->source == DECAY; i++)
            in->row[i] = sub(0, mul(in->a[i / in->width], in->row[i]));
        if (in->source == DECAY) store(GATES, in->row, in->heads * in->width);
        no_nan(in->row, in->heads * in->width, "an input", layer, position);
    }
}

static void output_gate(const struct model *m, struct group *g)
{
    const struct shape *s = &g->shape;
    project(g->gate_row, &g->gate, m->h);
    for (size_t h = 0; h < s->heads; h++) {
        double *o = g->out + h * s->dv, *w = g->gate_row + h * s->dv;
        if (s->gate) rms_norm(o, o, g->gate_norm, s->dv, r((double)s->dv), m->eps_norm);
        for (size_t i = 0; i < s->dv; i++) o[i] = mul(o[i], s->gate ? silu(w[i]) : sigmoid(w[i]));
    }
    store(ACT, g->out, s->heads * s->dv);
}

static void look_up(const struct table_mlp *t, double *x, size_t layer, size_t token)
{
    struct table_row key = {.value = NULL};
    for (size_t i = 0; i < t->keys; i++) {
        double v = nearbyint(x[t->key_at[i]]);
        if (!(fabs(v) < 9e15)) reject("layer %zu, token %zu: %a is no key of a table", layer, token, v);
        key.key[i] = (int64_t)v;
    }
    const struct table_row *row = bsearch(&key, t->rows, t->count, sizeof key, compare_rows);
    if (!row) reject("layer %zu, token %zu: its table does not have the key", layer, token);
    for (size_t i = 0; i < t->outs; i++) x[t->out_at[i]] = row->value[i];
}

static double gelu_tanh(double u)
{
    return mul(u, sigmoid(mul(mul(add(mul(mul(u, u), r(0.044715)), r(1)), u), r(1.5957691216057307117))));
}

/* What stands between the two matrices of an MLP; `gate`, for swiglu and geglu_tanh, is activated already. */
static double bend(enum mlp kind, double u, double gate)
{
    switch (kind) {
    case MLP_RELU:
        return relu(u);
    case MLP_GELU:
        return gelu(u);
    case MLP_GELU_TANH:
        return gelu_tanh(u);
    default:
        return mul(u, gate);
    }
}

static void run_mlp(const struct model *m, const struct layer *layer)
{
    norm(m->h, m, &layer->norm2, m->x);
    project(m->hidden, &layer->up, m->h);
    bool gated = is_gated(layer->mlp);
    if (gated) project(m->hidden_gate, &layer->gate, m->h);
    for (size_t i = 0; i < m->config.d_mlp && gated; i++)
        m->hidden_gate[i] = layer->mlp == MLP_SWIGLU ? silu(m->hidden_gate[i]) : gelu_tanh(m->hidden_gate[i]);
    if (gated) store(ACT, m->hidden_gate, m->config.d_mlp);
    for (size_t i = 0; i < m->config.d_mlp; i++)
        m->hidden[i] = bend(layer->mlp, m->hidden[i], gated ? m->hidden_gate[i] : 0);
    store(ACT, m->hidden, m->config.d_mlp);
    project(m->h, &layer->down, m->hidden);
    add_rows(m->x, m->h, m->config.d);
    store(ACT, m->x, m->config.d);
}

/* One token through one layer. Without `asked` only what later tokens need. */
static void run_layer(const struct model *m, struct layer *layer, size_t index, size_t token, bool asked)
{
    static void (*const mechanisms[MECHANISMS])(struct group *, bool) = {
        run_full,   run_full,   run_matrix, run_matrix,    run_matrix, run_matrix,
        run_matrix, run_matrix, run_matrix, run_loglinear, run_sparse};
    norm(m->h, m, &layer->norm1, m->x);
    size_t at = 0;
    spend(16 * (uint64_t)(m->config.d + m->config.d_mlp) + 64);
    for (size_t i = 0; i < layer->count; i++) {
        struct group *g = &layer->groups[i];
        size_t width = g->shape.heads * g->shape.dv;
        /* Beside what dots and softmax_add count: states, convolutions, summaries, the sorting of blocks. */
        spend((4 * (uint64_t)g->matrices + 16) * g->slot + (g->chosen ? 64 * (uint64_t)g->shape.heads * g->tokens : 0));
        spend(2 * (uint64_t)g->shape.heads * g->shape.conv * (g->shape.dk + g->shape.dv));
        make_inputs(m, g, index, token);
        mechanisms[g->shape.mechanism](g, asked);
        g->tokens++;
        if (!asked) continue;
        store(ACT, g->out, width);
        if (g->shape.gate || g->shape.out_gate) output_gate(m, g);
        memcpy(m->mixed + at, g->out, width * sizeof *m->mixed);
        at += width;
    }
    if (!asked) return;
    project(m->h, &layer->out, m->mixed);
    add_rows(m->x, m->h, m->config.d);
    store(ACT, m->x, m->config.d);
    no_nan(m->x, m->config.d, "the residual stream after the mixing", index, token);
    if (layer->mlp == MLP_TABLE) look_up(&layer->table, m->x, index, token);
    if (layer->mlp == MLP_TABLE) store(ACT, m->x, m->config.d);
    if (layer->mlp != MLP_NONE && layer->mlp != MLP_TABLE) run_mlp(m, layer);
    no_nan(m->x, m->config.d, "the residual stream after the MLP", index, token);
}

/* ---- carried numbers (4.4 to 4.8) -------------------------------------------------------------------------------- */

/* Slots of the state array that `tokens` tokens need; loglinear: one for the newest token, and one per set bit. */
static size_t slots_for(const struct shape *s, size_t tokens)
{
    size_t slots = keeps_tokens(s) ? tokens : 1;
    if (s->mechanism == WINDOW && tokens > s->window) return s->window;
    if (s->mechanism != LOGLINEAR) return slots;
    while (tokens >> slots) slots++;
    return slots + 1;
}

static void make_room(struct model *m, size_t tokens)
{
    for (struct group *g = m->groups; g < m->groups + m->group_count; g++) {
        const struct shape *s = &g->shape;
        g->slot = times(kept_heads(s), keeps_tokens(s) ? s->dk + s->dv : times(features(s), s->dv + s->norm));
        g->slots = slots_for(s, tokens);
        g->state = numbers(times(g->slots, g->slot));
        size_t head = g->slot / kept_heads(s);
        const struct stored *stored = &mixture.of[keeps_tokens(s) ? CACHE : STATE];
        g->slot_scales = keeps_tokens(s) ? scales_of(stored, s->dk) + scales_of(stored, s->dv)
                                         : head / s->dv * scales_of(stored, s->dv) + scales_of(stored, head % s->dv);
        g->slot_scales *= kept_heads(s);
        if (g->slot_scales) g->scales = numbers(times(g->slots, g->slot_scales));
        g->scores = numbers(tokens);
        g->scratch = numbers(s->dv + features(s));
        if (s->mechanism != SPARSE) continue;
        size_t blocks = tokens / s->block;
        g->summaries = numbers(times(blocks, g->slot));
        g->candidates = allocate(blocks, sizeof *g->candidates);
        g->chosen = allocate(blocks, sizeof *g->chosen);
    }
}

/* Numbers that the convolution of an input carries. */
static size_t history_size(const struct group *g, size_t input)
{
    return g->shape.conv ? g->input[input].heads * g->input[input].width * (g->shape.conv - 1) : 0;
}

static void forget(struct model *m)
{
    for (struct group *g = m->groups; g < m->groups + m->group_count; g++) {
        g->tokens = g->matrices = 0;
        spend((uint64_t)g->slots * g->slot);
        memset(g->state, 0, g->slots * g->slot * sizeof *g->state);
        for (size_t n = 0; n <= V && g->shape.conv; n++)
            memset(g->input[n].history, 0, history_size(g, n) * sizeof(double));
    }
}

/* Reads a hexadecimal string bit by bit, or only looks for a NaN where there is none. */
struct reader {
    struct text hex;
    const char *what;
    size_t bit, count; /* bits read; numbers compared */
};

static unsigned next_bit(struct reader *reader)
{
    char digit = reader->hex.at[reader->bit / 4];
    return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10) >> (3 - reader->bit++ % 4) & 1;
}

static void compare_code(struct reader *reader, uint64_t code, int bits, double v)
{
    for (int bit = bits - 1; bit >= 0; bit--) {
        if (reader->bit == 4 * reader->hex.len) reject("'%s' is too short", reader->what);
        if (next_bit(reader) != (code >> bit & 1))
            reject("'%s': number %zu is %a, and the certificate says otherwise", reader->what, reader->count, v);
    }
}

static void compare_numbers(struct reader *reader, const double *v, size_t count)
{
    spend((uint64_t)count * (reader->hex.at ? 64 : 1));
    for (size_t i = 0; i < count; i++, reader->count++) {
        if (isnan(v[i])) reject("not a number: %s", reader->what);
        if (reader->hex.at) compare_code(reader, code_of(v[i]), num.bits, v[i]);
    }
}

/* A block of a row: its scale, then the codes v / scale. */
static void compare_block(struct reader *reader, const struct stored *s, const double *v, size_t count, double scale)
{
    struct format acc = num;
    double top = 0;
    int e = 0;
    frexp(scale, &e);
    num = s->scale;
    if (reader->hex.at)
        compare_code(reader, s->scale_bits == 8 ? (uint64_t)(e + 126) : code_of(scale), s->scale_bits, scale);
    num = s->code;
    for (size_t i = 0; i < count; i++) {
        if (isnan(v[i])) reject("not a number: %s", reader->what);
        top = scale > 0 ? v[i] / scale : 0;
        round_codes(s, &top, 1, NULL, 0);
        compare_numbers(reader, &top, 1);
    }
    num = acc;
}

/* Numbers as they are stored. */
static void compare_rows_of(struct reader *reader, enum quantity q, const double *v, const double **scales, size_t rows,
                            size_t row)
{
    const struct stored *s = &mixture.of[q];
    struct format acc = num;
    if (mixture.mixed && s->scale_bits == 0) num = s->code;
    if (!mixture.mixed || s->scale_bits == 0) compare_numbers(reader, v, rows * row);
    num = acc;
    size_t step = mixture.mixed && s->scale_bits && s->block < row ? s->block : row;
    for (size_t n = 0; n < rows && mixture.mixed && s->scale_bits; n++)
        for (size_t at = 0; at < row; at += step)
            compare_block(reader, s, v + n * row + at, row - at < step ? row - at : step, *(*scales)++);
}

/* All numbers have been compared: what is left of the last digit is 0, and nothing follows. */
static void compare_end(struct reader *reader)
{
    if (!reader->hex.at) return;
    while (reader->bit % 4)
        if (next_bit(reader)) reject("'%s': its last digit is not filled up with zeros", reader->what);
    if (reader->bit != 4 * reader->hex.len) reject("'%s' is too long", reader->what);
}

static void compare_row(struct text hex, const char *what, const double *v, size_t count)
{
    struct reader reader = {.hex = hex, .what = what};
    compare_rows_of(&reader, ACT, v, NULL, 1, count);
    compare_end(&reader);
}

/* Inside a chunk a state is in acc. */
static enum quantity quantity_of_state(const struct group *g)
{
    return mixture.mixed && g->tokens % mixture.chunk ? ACC : STATE;
}

/* A slot: for each head its key and its value, or the rows of its state. */
static void compare_slot(struct reader *reader, const struct group *g, size_t slot)
{
    const struct shape *s = &g->shape;
    const double *v = g->state + slot * g->slot, *scales = g->scales ? g->scales + slot * g->slot_scales : NULL;
    size_t head = g->slot / kept_heads(s), rows = keeps_tokens(s) ? 1 : head / s->dv,
           row = keeps_tokens(s) ? s->dk : s->dv;
    enum quantity q = keeps_tokens(s) ? CACHE : quantity_of_state(g);
    for (size_t h = 0; h < kept_heads(s); h++, v += head) {
        compare_rows_of(reader, q, v, &scales, rows, row);
        compare_rows_of(reader, q, v + rows * row, &scales, 1, head - rows * row);
    }
}

/* Everything that is carried past the tokens seen so far: no NaN, and equal to `hex` if there is one. */
static void compare_state(const struct model *m, struct text hex)
{
    struct reader reader = {.hex = hex, .what = "state"};
    for (const struct group *g = m->groups; g < m->groups + m->group_count; g++) {
        size_t used = g->shape.mechanism == LOGLINEAR ? g->matrices : slots_for(&g->shape, g->tokens);
        for (size_t i = 0; i < used; i++) {
            compare_slot(&reader, g, i);
            if (g->shape.mechanism == SPARSE && (i + 1) % g->shape.block == 0)
                compare_numbers(&reader, g->summaries + i / g->shape.block * g->slot, g->slot);
        }
        for (size_t n = 0; n <= V; n++) compare_rows_of(&reader, ACT, g->input[n].history, NULL, 1, history_size(g, n));
    }
    compare_end(&reader);
}

/* The first `count` tokens; afterwards m->x is the view of token `asked` (SIZE_MAX: none), if that is the last. */
static void run_tokens(struct model *m, const uint32_t *tokens, size_t count, size_t asked)
{
    size_t d = m->config.d;
    forget(m);
    for (size_t t = 0; t < count; t++) {
        memcpy(m->x, m->embed + tokens[t] * d, d * sizeof *m->x);
        store(ACT, m->x, d);
        if (m->positions) add_rows(m->x, m->positions + t * d, d);
        if (m->positions) store(ACT, m->x, d);
        for (size_t l = 0; l < m->count; l++) run_layer(m, &m->layers[l], l, t, l + 1 < m->count || t == asked);
    }
}

/* The index of the largest entry of the read-out, the lowest among equals. */
static size_t answer_of(const struct model *m)
{
    double *y = numbers(m->config.answers);
    norm(m->h, m, &m->final, m->x);
    project(y, &m->readout, m->h);
    size_t best = 0;
    for (size_t i = 0; i < m->config.answers; i++) {
        if (isnan(y[i])) reject("not a number: entry %zu of the read-out", i);
        if (y[i] > y[best]) best = i;
    }
    return best;
}

/* ---- tasks (5) --------------------------------------------------------------------------------------------------- */

enum { MAX_DEPTH = 16 };
static const size_t max_tokens = (size_t)1 << 26, max_ids = (size_t)1 << 24;

/* How a prompt gives a function: values, whose places are the arguments; arguments and values in one token; in two. */
enum form { PLACES, PAIRS, TURNS };

struct task {
    size_t (*oracle)(const struct task *, const struct prompt *);
    size_t tokens, ids, answers;
    size_t n, v, k, m, blank, query_id; /* sizes as the task names them; the first id of the questions */
    enum form form;
    /* seqcomp, l = 1 .. L: digits n_{l-1}, arguments A_l, values R_l, first id; l = 0: values, first id of z_0 */
    size_t depth, digits[MAX_DEPTH + 1], arguments[MAX_DEPTH + 1], values[MAX_DEPTH + 1], first_id[MAX_DEPTH + 1];
    size_t w_id, w_count, w_first; /* w_first: w comes first in the prompt */
};

/* The token at a position minus `first`, which must be below `count`. */
static size_t token_in(const struct prompt *p, size_t position, size_t first, size_t count)
{
    size_t id = p->tokens[position];
    if (id < first || id - first >= count)
        reject("prompt: token %zu at position %zu does not belong there", id, position);
    return id - first;
}

static const uint32_t nothing = UINT32_MAX;

/* A function as `count` entries of the prompt from `at` on, whose ids begin with `first`. */
static uint32_t *read_function(const struct prompt *p, enum form form, size_t at, size_t first, size_t count,
                               size_t arguments, size_t values)
{
    uint32_t *f = allocate(arguments, sizeof *f);
    for (size_t i = 0; i < arguments; i++) f[i] = nothing;
    for (size_t i = 0; i < count; i++) {
        size_t argument = i, value = 0;
        if (form == TURNS) {
            argument = token_in(p, at + 2 * i, first, arguments);
            value = token_in(p, at + 2 * i + 1, first + arguments, values);
        } else {
            value = token_in(p, at + i, first, form == PAIRS ? arguments * values : values);
            if (form == PAIRS) argument = value / values;
        }
        if (f[argument] != nothing) reject("prompt: key %zu comes twice", argument);
        f[argument] = (uint32_t)(value % values);
    }
    return f;
}

static size_t oracle_recall(const struct task *t, const struct prompt *p)
{
    size_t query = token_in(p, t->tokens - 1, t->query_id, t->k);
    uint32_t answer = read_function(p, t->form, 0, 0, t->n, t->k, t->v)[query];
    if (answer == nothing) reject("prompt: the key that is asked is not there");
    return answer;
}

static size_t oracle_two_sum(const struct task *t, const struct prompt *p)
{
    if (t->blank) token_in(p, 0, 2 * t->m, 1);
    size_t query = token_in(p, t->blank + t->n, t->m, t->m), answer = 0;
    for (size_t i = 0; i < t->n; i++)
        if ((token_in(p, t->blank + i, 0, t->m) + query) % t->m == 0) answer = 1;
    return answer;
}

static size_t oracle_seqcomp(const struct task *t, const struct prompt *p)
{
    size_t at = t->w_first;
    uint32_t *f[MAX_DEPTH + 1] = {NULL};
    for (size_t l = t->depth; l >= 1; l--) {
        f[l] = read_function(p, t->form, at, t->first_id[l], t->arguments[l], t->arguments[l], t->values[l]);
        at += t->arguments[l];
    }
    size_t i = token_in(p, at, t->first_id[0], t->values[0]);
    size_t w = token_in(p, t->w_first ? 0 : at + 1, t->w_id, t->w_count);
    for (size_t l = 1; l <= t->depth; l++) {
        i = f[l][w % t->digits[l] * t->values[l - 1] + i];
        w /= t->digits[l];
    }
    return i;
}

/* The value of the next word, which must be KEY=VALUE. */
static struct text next_value(struct text *words, const char *key)
{
    struct text word = cut(words, ' '), value = word;
    if (!is(cut(&value, '='), key)) reject("task: '%s=' expected where '%.*s' is", key, SHOW(word));
    return value;
}

static size_t number_of(struct text text, const char *key, size_t low, size_t high)
{
    size_t value = 0;
    if (!canonical(&value, text, high) || value < low) reject("task: %s is no number from %zu to %zu", key, low, high);
    return value;
}

static size_t next_number(struct text *words, const char *key, size_t low, size_t high)
{
    return number_of(next_value(words, key), key, low, high);
}

/* 0 or 1: which of the two words it is; b may be NULL. */
static size_t next_choice(struct text *words, const char *key, const char *a, const char *b)
{
    struct text value = next_value(words, key);
    if (is(value, a)) return 0;
    if (!b || !is(value, b)) reject("task: %s=%.*s cannot be certified", key, SHOW(value));
    return 1;
}

static void read_eva(struct task *t, struct text *words, bool index)
{
    t->oracle = oracle_recall;
    t->n = next_number(words, "N", 1, max_tokens);
    t->v = next_number(words, "V", 1, max_ids);
    t->k = index ? t->n : next_number(words, "K", 1, max_ids);
    t->form = !index && next_choice(words, "form", "position", "pair") ? PAIRS : PLACES;
    if (t->form == PAIRS ? t->k < t->n : t->k != t->n) reject("task: K must be N, or in the form pair at least N");
    next_choice(words, "dist", "uniform", index ? NULL : "zipf");
    t->tokens = t->n + 1;
    t->query_id = t->form == PAIRS ? t->k * t->v : t->v;
    t->ids = t->query_id + t->k;
    t->answers = t->v;
}

static void read_two_sum(struct task *t, struct text *words)
{
    t->oracle = oracle_two_sum;
    t->n = next_number(words, "N", 1, (size_t)1 << 24);
    t->m = next_number(words, "M", 2, ((size_t)1 << 23) - 1);
    next_choice(words, "form", "query", NULL);
    next_choice(words, "self", "1", NULL);
    t->blank = next_number(words, "blank", 0, 1);
    if (next_choice(words, "dist", "uniform", "hard") && t->m < 2 * t->n + 3) reject("task: dist=hard needs M >= 2N+3");
    t->tokens = t->blank + t->n + 1, t->ids = 2 * t->m + t->blank, t->answers = 2;
}

static void read_recall(struct task *t, struct text *words)
{
    t->oracle = oracle_recall;
    t->form = TURNS;
    t->n = next_number(words, "N", 1, (size_t)1 << 22);
    t->k = next_number(words, "K", t->n, (size_t)1 << 23);
    t->v = next_number(words, "V", 1, (size_t)1 << 23);
    if (next_choice(words, "dist", "uniform", "distinct") && t->v < t->n) reject("task: dist=distinct needs V >= N");
    t->tokens = 2 * t->n + 1, t->ids = t->k + t->v, t->answers = t->v;
}

/* n_1,…,n_{L-1} become the digits of levels 2 … L; level 1 has one digit, 0. */
static void read_digits(struct task *t, struct text list)
{
    size_t count = list.len ? 1 + count_of(list, ',') : 0;
    if (count != t->depth - 1) reject("task: n must hold L-1 numbers");
    t->digits[1] = t->w_count = 1;
    for (size_t l = 2; l <= t->depth; l++) {
        t->digits[l] = number_of(cut(&list, ','), "n", 1, max_ids);
        t->w_count = times(t->w_count, t->digits[l]);
        if (t->w_count > max_ids) reject("task: too many token ids");
    }
}

static void read_seqcomp(struct task *t, struct text *words)
{
    t->oracle = oracle_seqcomp;
    t->depth = next_number(words, "L", 1, MAX_DEPTH);
    size_t n0 = next_number(words, "N0", 1, max_ids);
    read_digits(t, next_value(words, "n"));
    size_t v = next_number(words, "V", 1, max_tokens);
    bool flat = next_number(words, "flat", 0, 1);
    t->w_first = next_choice(words, "order", "last", "first");
    t->form = next_choice(words, "form", "position", "pair") ? PAIRS : PLACES;
    if (next_choice(words, "dist", "uniform", "identity") && t->depth == 1) reject("task: dist=identity needs L >= 2");
    size_t product = flat ? n0 : times(n0, t->w_count);
    if (product > max_tokens || (flat && v != n0)) reject("task: N0, n and V do not go together");
    t->values[0] = n0;
    t->tokens = 2;
    for (size_t l = 1; l <= t->depth; l++) {
        t->arguments[l] = times(t->digits[l], t->values[l - 1]);
        t->values[l] = l == t->depth ? v : flat ? n0 : t->arguments[l];
        t->first_id[l] = t->ids;
        t->ids += t->form == PAIRS ? times(t->arguments[l], t->values[l]) : t->values[l];
        t->tokens += t->arguments[l];
    }
    t->first_id[0] = t->ids;
    t->w_id = t->ids + n0;
    t->ids = t->w_id + t->w_count;
    t->answers = v;
}

static struct task read_task(struct text text)
{
    struct task t = {.n = 0};
    struct text name = cut(&text, ' ');
    if (is(name, "eva") || is(name, "index"))
        read_eva(&t, &text, is(name, "index"));
    else if (is(name, "two-sum"))
        read_two_sum(&t, &text);
    else if (is(name, "assoc-recall"))
        read_recall(&t, &text);
    else if (is(name, "seqcomp"))
        read_seqcomp(&t, &text);
    else
        reject("task: '%.*s' cannot be certified", SHOW(name));
    if (text.len) reject("task: '%.*s' follows its last key", SHOW(text));
    if (t.tokens > max_tokens || t.ids > max_ids || t.answers > max_ids)
        reject("task: more than 2^26 tokens, 2^24 ids or 2^24 answers");
    return t;
}

/* ---- what is claimed (2) ----------------------------------------------------------------------------------------- */

static void check_prompts(const struct certificate *c, const struct task *task, const struct config *config)
{
    if (task->ids != config->vocab || task->answers != config->answers)
        reject("the task has %zu token ids and %zu answers, the model %zu and %zu", task->ids, task->answers,
               config->vocab, config->answers);
    for (int i = 0; i < c->prompts; i++) {
        const struct prompt *p = &c->prompt[i];
        if (p->count != task->tokens)
            reject("prompt %d: %zu tokens, and those of the task have %zu", i + 1, p->count, task->tokens);
        if (config->positions != NO_POSITIONS && p->count > config->max_tokens)
            reject("prompt %d: longer than the model's positions", i + 1);
        size_t right = task->oracle(task, p);
        if (right != c->right[i]) reject("prompt %d: the right answer is %zu, not %zu", i + 1, right, c->right[i]);
    }
    if (c->position != task->tokens - 1)
        reject("position: the answer is asked at the last token, %zu", task->tokens - 1);
    if (c->prompts == 2 && c->right[0] == c->right[1]) reject("the right answers are equal");
}

/* Tokens outside [from, to) must agree. */
static void agree_outside(const struct certificate *c, size_t from, size_t to)
{
    for (size_t i = 0; i < c->prompt[0].count; i++)
        if ((i < from || i >= to) && c->prompt[0].tokens[i] != c->prompt[1].tokens[i])
            reject("the prompts differ at token %zu", i);
}

/* The group of the block, which may be all that differs and which the last token must not see. */
static struct group *watch_block(const struct certificate *c, struct model *m)
{
    if (c->layer >= m->count) reject("layer: there is no layer %zu", c->layer);
    struct layer *layer = &m->layers[c->layer];
    struct group *g = &layer->groups[0];
    if (layer->count != 1 || g->shape.mechanism != SPARSE) reject("layer: it is not one group of sparse");
    size_t size = g->shape.block, count = c->prompt[0].count, last = count - 1;
    if (c->block >= count / size) reject("block: block %zu is not complete", c->block);
    size_t from = c->block * size, to = from + size;
    agree_outside(c, from, to < last ? to : last); /* the last tokens are the same */
    if (g->shape.window > 0 && last + 1 < to + g->shape.window)
        reject("block: the window of the last token reaches it");
    g->watched = c->block;
    return g;
}

/* Runs the model on every prompt, or on its prefix, and compares. What the kind does not claim is absent from c. */
static void check_claim(const struct certificate *c, struct model *m)
{
    bool prefix = c->kind == STATE_COLLISION;
    size_t count = prefix ? c->prefix : c->position + 1, asked = prefix ? SIZE_MAX : c->position;
    struct group *g = c->kind == BLOCK_COLLISION ? watch_block(c, m) : NULL;
    if (c->kind == WRONG_ANSWER && c->given == c->right[0]) reject("the answer that is given is right");
    if (c->prefix > c->position) reject("prefix: it must not include the asked token");
    if (prefix || c->kind == VIEW_COLLISION) agree_outside(c, 0, prefix ? c->prefix : c->position);
    for (int i = 0; i < c->prompts; i++) {
        run_tokens(m, c->prompt[i].tokens, count, asked);
        compare_state(m, c->state);
        if (g) compare_row(c->summary, "summary", g->summaries + c->block * g->slot, g->slot);
        if (g && g->opened) reject("block: a head of the last token opens it");
        if (c->view.at) compare_row(c->view, "view", m->x, m->config.d);
    }
    size_t answer = c->kind == WRONG_ANSWER ? answer_of(m) : c->given;
    if (answer != c->given) reject("the model answers %zu, not %zu", answer, c->given);
}

/* Only what was checked is printed. */
static void print_text(const char *label, struct text text)
{
    printf("%-8s ", label);
    fwrite(text.at, 1, text.len, stdout);
    putchar('\n');
}

static void print_statement(const struct certificate *c)
{
    printf("accepted: %s\nmodel    sha256 %.64s\n", kind_names[c->kind], c->digest.at);
    print_text("arch", c->arch);
    print_text("numbers", c->format);
    print_text("task", c->task);
    for (int i = 0; i < c->prompts; i++) {
        printf("prompt  ");
        for (size_t t = 0; t < c->prompt[i].count; t++) printf(" %u", (unsigned)c->prompt[i].tokens[t]);
        printf("\nasked    at position %zu; the right answer is %zu\n", c->position, c->right[i]);
    }
    if (c->kind == WRONG_ANSWER) {
        printf("found    the largest entry of the read-out (the first among equals) is answer %zu\n", c->given);
        printf("follows  the model is wrong on this prompt\n");
        return;
    }
    if (c->kind == STATE_COLLISION) {
        printf("found    after the first %zu tokens of either prompt all layers carry the same numbers, bit for bit:\n",
               c->prefix);
        print_text("", c->state);
        printf("follows  the rest of the prompts is the same, so whatever the model does after the prefix, with any\n"
               "         read-out and any chain of thought, it does for both: it is wrong on one of them\n");
        return;
    }
    if (c->kind == BLOCK_COLLISION) {
        printf("found    the prompts differ in block %zu of layer %zu alone; its summary is the same in both:\n",
               c->block, c->layer);
        print_text("", c->summary);
        printf("         no head of the last token opens the block, and no window of it reaches the block\n");
    }
    printf("found    the residual stream of the last token after the last layer is the same, bit for bit:\n");
    print_text("", c->view);
    printf("follows  no read-out can tell the prompts apart: whatever it is, the model is wrong on one of them\n");
}

static void check_certificate(struct bytes certificate, struct bytes model)
{
    uint64_t files = (uint64_t)certificate.size + model.size, little = 1 << 26;
    allow(8 * files + little); /* what the files say in words is not much larger than the files */
    struct certificate c = read_certificate(certificate);
    char digest[65];
    sha256(digest, model.data, model.size);
    if (!is(c.digest, digest)) reject("model: its digest is %s, not the one of the certificate", digest);
    struct file file = read_safetensors(model);
    struct text format = text_of(file.metadata, "rung.format", "model");
    if (!is(format, "rung.model/1")) reject("model: its rung.format is not rung.model/1");
    struct text text = text_of(file.metadata, "rung.arch", "model");
    if (compare_text(c.arch, text) != 0) reject("arch: not the rung.arch of the model");
    struct arch arch = read_arch(c.arch);
    allow(160 * files + little); /* a weight takes 8 bytes, the row of a table 152; states are not much larger */
    struct model m = load_model(&file, &arch);
    struct task task = read_task(c.task);
    check_prompts(&c, &task, &m.config);
    allow(160 * files + little + c.prompt[0].count * m.token_bytes); /* < 2^64: 2^26 tokens, and 2^37 bytes for each */
    make_room(&m, c.prompt[0].count);
    check_claim(&c, &m);
    print_statement(&c);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* The verdict on two files in memory; the reason of a refusal is in run.reason. */
static enum verdict judge(struct bytes certificate, struct bytes model, size_t limit)
{
    run.most = run.limit = limit, run.used = 0, run.work = 0, run.given_up = false;
    if (setjmp(run.leave) == 0) {
        make_tables();
        check_certificate(certificate, model);
        run.verdict = ACCEPTED;
    }
    free_after(NULL);
    return run.verdict;
}

static bool read_whole(struct bytes *out, const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t room = 1 << 16;
    *out = (struct bytes){malloc(room), 0};
    while (file && out->data) {
        out->size += fread(out->data + out->size, 1, room - out->size, file);
        if (out->size < room) break;
        errno = EFBIG;
        unsigned char *more = room < memory_limit ? realloc(out->data, room *= 2) : NULL;
        if (!more) free(out->data);
        out->data = more;
    }
    bool good = file && out->data && !ferror(file);
    if (!good) fprintf(stderr, "rung-check: %s: %s\n", path, strerror(errno));
    if (file) fclose(file);
    return good;
}

static const char help[] = //
    "rung-check: confirm a certificate that a model fails at a task\n"
    "\n"
    "Examples\n"
    "  rung-check swap.cert swap.safetensors\n"
    "      prints what is proved and exits with 10, or why not and exits with 20\n"
    "  rung break m.safetensors -o m.cert; rung-check m.cert m.safetensors\n"
    "      a certificate from the search, confirmed by a program that shares nothing with it\n"
    "\n"
    "Usage\n"
    "  rung-check [--max-work N] [--exit-zero] CERT MODEL\n"
    "\n"
    "  CERT is a text file (docs/certificate.md), MODEL the .safetensors file whose digest it\n"
    "  names. The model is evaluated in the stated number format, every operation correctly\n"
    "  rounded and in the documented order; the claim is compared bit for bit.\n"
    "\n"
    "      --max-work N  give up after so many operations (100000000000: minutes)\n"
    "      --exit-zero   exit with 0 instead of 10, for && and set -e\n"
    "  -h, --help        this text\n"
    "      --version     the version\n"
    "\n"
    "Exit codes\n"
    "  10 accepted; 20 rejected: untrue, or not decided; 3 malformed, a file that cannot be read,\n"
    "  or too much work or memory; 2 wrong usage; 4 system: memory, output. 0 is for --help, --version\n"
    "  and, with --exit-zero, accepted.\n";

/* What was printed must have arrived, or it is worth nothing. */
static int finish(enum verdict verdict)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "rung-check: cannot write: %s\n", strerror(errno));
        return SYSTEM;
    }
    return verdict;
}

/* The likeliest mistake on the command line. */
static const char first_words[] = "rung-certificate ";

static bool begins(struct bytes file, const char *text)
{
    return file.size >= strlen(text) && memcmp(file.data, text, strlen(text)) == 0;
}

static enum verdict swapped(void)
{
    snprintf(run.reason, sizeof run.reason, "the second file is the certificate; type: rung-check CERTIFICATE MODEL");
    return MALFORMED;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc && argv[i][0] == '-'; i++) {
        bool wants_help = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
        if (wants_help || strcmp(argv[i], "--version") == 0) {
            fputs(wants_help ? help : "rung-check " VERSION "\n", stdout);
            return finish(SHOWN);
        }
    }
    char *end = "";
    bool zero = false;
    while (argc > 3 && !*end) {
        bool limits = argc > 4 && strcmp(argv[1], "--max-work") == 0 && isdigit((unsigned char)argv[2][0]);
        if (!limits && strcmp(argv[1], "--exit-zero") != 0) break;
        if (limits) max_work = strtoull(argv[2], &end, 10);
        zero = zero || !limits;
        argv += limits ? 2 : 1, argc -= limits ? 2 : 1;
    }
    if (argc != 3 || argv[1][0] == '-' || argv[2][0] == '-' || *end) {
        fputs("rung-check: a certificate and a model expected\nTry 'rung-check --help'.\n", stderr);
        return USAGE;
    }
    struct bytes certificate = {0}, model = {0};
    enum verdict verdict = MALFORMED;
    if (read_whole(&certificate, argv[1]) && read_whole(&model, argv[2])) {
        verdict = begins(model, first_words) && !begins(certificate, first_words)
                      ? swapped()
                      : judge(certificate, model, memory_limit);
        const char *word = verdict == REJECTED    ? "rejected: "
                           : verdict != MALFORMED ? ""
                           : run.given_up         ? "given up: "
                                                  : "malformed: ";
        if (verdict != ACCEPTED) fprintf(verdict == REJECTED ? stdout : stderr, "%s%s\n", word, run.reason);
    }
    free(certificate.data);
    free(model.data);
    verdict = finish(verdict);
    return verdict == ACCEPTED && zero ? SHOWN : (int)verdict;
}
