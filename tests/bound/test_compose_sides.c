/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Every inequality of the theorems on composition a second time: A, A', B0, B, C0, C1 and Ce in whole numbers without a
 * logarithm, D, D-pure and E with MPFR from their text. Random parameters, then random tasks as the rows see them.
 */
#include "compose_test.h"
#include "effort.h"

#include <mpfr.h>

#include "../../src/bound/compose_deep.h"
#include "../../src/bound/compose_full.h"
#include "../../src/bound/compose_one.h"
#include "../../src/bound/compose_two.h"
#include "../../src/bound/spread.h"

static rung_certified *sheet;
static rung_rng rng;

static int setup(void **state)
{
    (void)state;
    rung_rng_init(&rng, 11, 2, 0);
    return rung_certified_new(&sheet, 128, &check_err) == RUNG_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    rung_certified_free(sheet);
    mpfr_free_cache();
    return 0;
}

static uint64_t between(uint64_t low, uint64_t high)
{
    return low + rung_rng_below(&rng, high - low + 1);
}

/* Bits near those that decide, rarely far away. */
static uint64_t near(double bits)
{
    double scaled = bits * exp2(3 * (rung_rng_unit(&rng) - 0.5) * rung_rng_unit(&rng));
    return scaled < 1 ? between(0, 2) : (uint64_t)scaled;
}

static rung_certainty decided(bound_side *side, const void *context)
{
    rung_certified_reset(sheet);
    bound_sides sides = side(sheet, context);
    return rung_ival_less(sheet, sides.rhs, sides.lhs);
}

/* An equality of whole powers is left undecided by intervals, and then nothing is claimed. */
#define assert_decides(side, context, truth, ...)                                                                      \
    do {                                                                                                               \
        rung_certainty got_ = decided(side, context);                                                                  \
        if ((got_ == RUNG_SURELY) != (truth)) fail_msg(__VA_ARGS__);                                                   \
        held += (truth);                                                                                               \
        drawn++;                                                                                                       \
    } while (0)

/* Draws mean nothing when nearly all of them fall on one side. */
#define assert_both_sides() assert_true(held > drawn / 10 && held < drawn - drawn / 10)

static const compose_task *task_with(compose_task *t, uint64_t L, const sizes_of_two *z)
{
    *t = (compose_task){.L = L, .size = {(double)z->N0, (double)z->n1, (double)z->V}, .middle = (double)z->middle};
    return t;
}

static sizes_of_two draw_sizes(uint64_t most_N0, uint64_t most_n1)
{
    sizes_of_two z = {.N0 = between(1, most_N0), .n1 = between(1, most_n1), .middle = between(0, 1) * between(0, 20)};
    z.V = between(0, 1) ? z.N0 * z.n1 : between(1, z.N0 * z.n1);
    return z;
}

#define u(x) (int)(x)

/* log2 V of the sides is that of the sizes: given, free, flat, and with a V that the user insists on. */
static void test_values(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        double N0 = (double)between(1, 50), entries = N0 * (double)between(1, 50);
        compose_task t = {
            .L = 2, .free = between(0, 1), .flat = between(0, 1), .size = {N0, entries / N0, (double)between(1, 9)}};
        t.V = between(0, 1) ? (double)between(1, 3000) : 0;
        double want = !t.free ? t.size.V : t.flat ? N0 : t.V == 0 ? entries : t.V;
        assert_true(compose_values(&t, N0, entries) == want);
        rung_certified_reset(sheet);
        rung_ival got = compose_values_log2(sheet, &t, N0, rung_ival_real(sheet, entries));
        assert_true(rung_ival_low(sheet, got) <= log2(want) + 1e-12 &&
                    rung_ival_high(sheet, got) >= log2(want) - 1e-12);
        assert_true(rung_ival_high(sheet, got) - rung_ival_low(sheet, got) < 1e-12);
    }
}

/* ---- no full layer, one function -------------------------------------------------------------------------------------- */

static void test_theorem_a(void **state)
{
    (void)state;
    int held = 0, drawn = 0;
    for (size_t i = 0; i < effort(100000, 4000); i++) {
        sizes_of_two z = draw_sizes(40, 6);
        compose_task t;
        passing p = {task_with(&t, 2, &z),
                     (double)z.N0,
                     (double)z.n1,
                     1,
                     near((double)(z.N0 * z.n1) * log2((double)z.V) * 0.8),
                     0,
                     0};
        assert_decides(compose_passing_sides, &p, power_beats(z.V, z.N0 * z.n1, p.state), "N=%d V=%d s=%d",
                       u(z.N0 * z.n1), u(z.V), u(p.state));
    }
    assert_both_sides();
}

static void test_theorem_a_prime(void **state)
{
    (void)state;
    int held = 0, drawn = 0;
    for (size_t i = 0; i < effort(100000, 4000); i++) {
        sizes_of_two z = draw_sizes(200, 1);
        compose_task t;
        double bits = log2((double)z.V);
        z.A = between(0, 6), z.B = between(0, 1 + (uint64_t)bits);
        z.c = near((double)z.N0 * exp2(-(double)z.A) * fmax(bits - (double)z.B, 0.5) * 0.8);
        single a = {task_with(&t, 1, &z), (double)z.N0, z.A, z.B, z.c};
        assert_decides(compose_single_sides, &a, single_says(&z, DROP_NONE), "N0=%d V=%d A=%d B=%d c=%d", u(z.N0),
                       u(z.V), u(z.A), u(z.B), u(z.c));
    }
    assert_both_sides();
}

/* ---- one full layer ------------------------------------------------------------------------------------------------------ */

static one_full one_of(const sizes_of_two *z, const choice *k)
{
    one_full o = {.N0 = (double)z->N0, .n1 = (double)z->n1, .state_before = z->A, .state_after = z->B, .message = z->c};
    task_with(&o.task, z->middle ? 3 : 2, z);
    o.x0 = (double)k->x0, o.x1 = (double)k->x1;
    o.t = (double)k->t, o.q = (double)k->q, o.g = (double)k->g, o.x = (double)k->x;
    return o;
}

static void test_theorem_b0(void **state)
{
    (void)state;
    int held = 0, drawn = 0;
    for (size_t i = 0; i < effort(100000, 4000); i++) {
        sizes_of_two z = draw_sizes(24, 12);
        choice k = {.x1 = between(1, z.N0)};
        double bits = (double)(z.N0 * z.n1) * log2((double)z.V);
        k.x0 = (z.N0 + k.x1 - 1) / k.x1;
        z.c = near(bits / (double)(z.n1 + k.x0) / 2), z.B = between(0, 9) ? near(bits / (double)k.x1 / 3) : 0;
        one_full o = one_of(&z, &k);
        assert_decides(compose_b0_sides, &o, first_says(&z, &k, DROP_NONE), "N0=%d n1=%d V=%d x0=%d x1=%d c=%d B=%d",
                       u(z.N0), u(z.n1), u(z.V), u(k.x0), u(k.x1), u(z.c), u(z.B));
    }
    assert_both_sides();
}

/* t, q, g, x that fit N_0. */
static choice draw_choice(const sizes_of_two *z)
{
    choice k = {.t = between(1, z->N0 < 6 ? z->N0 : 6)};
    k.q = z->N0 / k.t;
    k.g = between(0, 1) ? k.q : between(1, k.q), k.x = between(1, k.q + 2);
    return k;
}

static void test_theorem_b(void **state)
{
    (void)state;
    int held = 0, drawn = 0;
    for (size_t i = 0; i < effort(100000, 4000); i++) {
        sizes_of_two z = draw_sizes(16, 8);
        choice k = draw_choice(&z);
        z.A = 1 + near((double)(k.g * k.t) / 2);
        double bits = (double)(z.n1 * spread_of(k.t, k.q, z.A, k.g, k.x)) * log2((double)z.V);
        z.c = near(bits / (double)(z.n1 * k.t) / 4), z.B = between(0, 3) ? near(bits / (double)k.x / 4) : 0;
        one_full o = one_of(&z, &k);
        assert_decides(compose_b_sides, &o, between_says(&z, &k, DROP_NONE),
                       "N0=%d n1=%d V=%d t=%d q=%d g=%d x=%d A=%d B=%d c=%d middle=%d", u(z.N0), u(z.n1), u(z.V),
                       u(k.t), u(k.q), u(k.g), u(k.x), u(z.A), u(z.B), u(z.c), u(z.middle));
    }
    assert_both_sides();
}

/* ---- two full layers ------------------------------------------------------------------------------------------------------ */

static two_full two_of(const sizes_of_two *z, const choice *k)
{
    two_full o = {.N0 = (double)z->N0, .n1 = (double)z->n1, .state_after = z->B, .message = z->c};
    task_with(&o.task, z->middle ? 3 : 2, z);
    o.t = (double)k->t, o.q = (double)k->q, o.g = (double)k->g, o.x = (double)k->x;
    o.beta = (double)k->beta, o.G = (double)k->G;
    return o;
}

static void test_theorem_c0(void **state)
{
    (void)state;
    int held = 0, drawn = 0;
    for (size_t i = 0; i < effort(100000, 4000); i++) {
        sizes_of_two z = draw_sizes(12, 20);
        choice k = draw_choice(&z);
        double tokens = (double)(z.n1 * (1 + k.t) + z.N0 + k.g * k.t * k.q + z.middle);
        z.c = 1 + near((double)(z.n1 * k.t * k.q) * log2((double)z.V) / tokens / 2);
        two_full o = two_of(&z, &k);
        assert_decides(compose_c0_sides, &o, full_says(&z, &k, DROP_NONE),
                       "N0=%d n1=%d V=%d t=%d q=%d g=%d c=%d middle=%d", u(z.N0), u(z.n1), u(z.V), u(k.t), u(k.q),
                       u(k.g), u(z.c), u(z.middle));
    }
    assert_both_sides();
}

static void test_theorem_c1(void **state)
{
    (void)state;
    int held = 0, drawn = 0;
    for (size_t i = 0; i < effort(50000, 4000); i++) {
        sizes_of_two z = draw_sizes(40, 20);
        choice k = draw_choice(&z);
        double tokens = (double)(z.n1 * (1 + k.t) + z.N0 + k.g * k.t * k.q + z.middle);
        z.A = between(1, 4);
        z.c = 1 + near((double)(z.n1 * k.t * k.q) * exp2(-(double)z.A) * log2((double)z.V) / tokens / 2);
        two_full o = two_of(&z, &k);
        o.relay = z.A;
        assert_decides(compose_c0_sides, &o, relay_says(&z, &k, DROP_NONE),
                       "N0=%d n1=%d V=%d t=%d q=%d g=%d c=%d r=%d middle=%d", u(z.N0), u(z.n1), u(z.V), u(k.t), u(k.q),
                       u(k.g), u(z.c), u(z.A), u(z.middle));
    }
    assert_both_sides();
}

static void test_theorem_ce(void **state)
{
    (void)state;
    int held = 0, drawn = 0;
    for (size_t i = 0; i < effort(12000, 500); i++) {
        sizes_of_two z = draw_sizes(24, 40);
        choice k = draw_choice(&z);
        k.beta = between(1, z.n1 < 4 ? z.n1 : 4), k.G = z.n1 / k.beta;
        double tokens = (double)(z.n1 * (1 + k.t) + z.N0 + k.g * k.t * k.q + k.t * k.x * k.G + z.middle);
        z.c = 1 + near((double)(z.n1 * k.t * smaller(k.q, k.x)) * log2((double)z.V) / tokens / 4);
        z.B = 1 + near((double)z.c * 2);
        two_full o = two_of(&z, &k);
        assert_decides(compose_ce_sides, &o, full_then_says(&z, &k, DROP_NONE),
                       "N0=%d V=%d t=%d q=%d g=%d x=%d beta=%d G=%d c=%d B=%d middle=%d", u(z.N0), u(z.V), u(k.t),
                       u(k.q), u(k.g), u(k.x), u(k.beta), u(k.G), u(z.c), u(z.B), u(z.middle));
    }
    assert_both_sides();
}

/* ---- many full layers ---------------------------------------------------------------------------------------------------- */

enum { REAL = 400 };

/* An MPFR number that lives until the test ends. */
static mpfr_t pool[4096];
static size_t pool_made, pool_used;

static mpfr_ptr real(double x)
{
    if (pool_used == pool_made) mpfr_init2(pool[pool_made++], REAL);
    mpfr_set_d(pool[pool_used], x, MPFR_RNDN);
    return pool[pool_used++];
}

static mpfr_ptr mul(mpfr_srcptr a, mpfr_srcptr b)
{
    mpfr_ptr r = real(0);
    mpfr_mul(r, a, b, MPFR_RNDN);
    return r;
}

static mpfr_ptr add(mpfr_srcptr a, mpfr_srcptr b)
{
    mpfr_ptr r = real(0);
    mpfr_add(r, a, b, MPFR_RNDN);
    return r;
}

static mpfr_ptr product_of(const double *from, size_t first, size_t last)
{
    mpfr_ptr r = real(1);
    for (size_t i = first; i <= last; i++) r = mul(r, real(from[i]));
    return r;
}

/* Theta of Lemma S' with every term of the sum. */
static mpfr_ptr random_values(mpfr_srcptr T, double y, double x, double q, mpfr_srcptr budget)
{
    mpfr_ptr sum = real(0), term = real(0), out = real(0), log_y = real(y);
    for (double j = 0; j < x; j++) {
        mpfr_set_d(out, y, MPFR_RNDN);
        mpfr_ui_sub(term, 1, out, MPFR_RNDN);
        mpfr_mul_d(term, term, j, MPFR_RNDN);
        mpfr_div_d(term, term, q, MPFR_RNDN);
        mpfr_add(term, term, out, MPFR_RNDN);
        mpfr_log2(term, term, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
    }
    mpfr_log2(log_y, log_y, MPFR_RNDN);
    mpfr_mul(out, sum, T, MPFR_RNDN);
    mpfr_add(out, out, budget, MPFR_RNDN);
    mpfr_div(out, out, log_y, MPFR_RNDN);
    mpfr_ceil(out, out);
    return out;
}

/* Left and right side of D, D-pure or E, from the text of the theorem. */
static void deep_again(mpfr_ptr *left, mpfr_ptr *right, const deep *d)
{
    size_t L = d->L;
    mpfr_ptr N[DEEP_MAX + 1], c = real((double)d->c), t = real(d->t), W = product_of(d->n, 1, L - 1);
    N[0] = mul(t, product_of(d->q, 1, L - 1));
    for (size_t l = 1; l < L; l++) N[l] = mul(N[l - 1], real(d->n[l]));
    mpfr_ptr gt = mul(real(d->g), t), M1 = real(0), theta = real(0), D;
    mpfr_sub(M1, N[0], gt, MPFR_RNDN);
    M1 = add(M1, mul(gt, real(d->x[1])));
    if (d->pure) {
        D = add(add(W, mul(W, t)), add(t, M1));
        D = add(real((double)(d->r[0] + d->r[2])), mul(c, add(D, add(mul(t, real(d->x[1])), M1))));
    } else if (d->r[0] == 0) {
        D = add(real((double)d->r[1]), mul(c, add(add(W, t), M1)));
    } else {
        D = add(real((double)(d->r[0] + d->r[1])), mul(c, add(add(mul(W, t), t), M1)));
    }
    uint64_t whole_loss = d->r[0] + (d->pure ? d->c * (uint64_t)mpfr_get_ui(W, MPFR_RNDN) : 0);
    if (!d->pure && d->r[0] == 0)
        theta = mul(t, real(d->x[1]));
    else
        theta =
            real((double)spread_of((uint64_t)d->t, (uint64_t)d->q[1], whole_loss, (uint64_t)d->g, (uint64_t)d->x[1]));
    for (size_t l = 2; l < L; l++) {
        bool last = l == L - 1;
        mpfr_ptr x = real(d->x[l]), xD = add(mul(x, D), real(1)), context = mul(t, product_of(d->x, 1, l - 1));
        theta = random_values(mul(real(d->n[l - 1]), theta), d->y[l], d->x[l], d->q[l], xD);
        mpfr_ptr sum = mul(M1, product_of(d->x, 2, l - 1));
        for (size_t i = 2; i < l; i++) sum = add(sum, mul(N[i - 1], product_of(d->x, i, l - 1)));
        mpfr_ptr tokens = mul(x, N[l - 1]);
        if (last) tokens = add(tokens, mul(real((double)(d->task.L - L)), N[L - 2]));
        size_t full = d->pure ? l + 1 : l;
        bool all_ask = !d->asks || full <= d->asks, asked = !d->asks || full - 1 < d->asks;
        double below = (double)(asked ? full - 1 : d->asks), states = 0, after = (double)d->r[full];
        for (size_t i = 0; i < l + d->pure; i++) states += (double)d->r[i];
        D = add(xD, real(states + (last ? (double)d->beside_last : 0)));
        D = add(D, mul(c, add(mul(W, context), mul(real(below), tokens))));
        if (last && after == 0) continue;
        if (all_ask) D = add(D, mul(c, add(context, sum)));
        mpfr_ptr once = add(real(after), all_ask ? mul(c, tokens) : real(0)), each = mul(x, real(after));
        D = add(D, last && mpfr_less_p(each, once) ? each : once);
    }
    mpfr_ptr V = real(0);
    if (d->task.V > 0)
        mpfr_set_d(V, d->task.V, MPFR_RNDN);
    else
        mpfr_set(V, N[L - 1], MPFR_RNDN);
    mpfr_log2(V, V, MPFR_RNDN);
    *left = mul(mul(real(d->n[L - 1]), theta), V), *right = D;
}

static deep draw_deep(void)
{
    deep d = {.L = (size_t)between(3, 4), .pure = between(0, 1), .c = between(1, 5)};
    d.task = (compose_task){.L = d.L + between(0, 1) * between(0, 3), .free = true};
    if (between(0, 4) == 0) d.task.V = (double)between(2, 5000);
    for (size_t i = 0; i <= d.L; i++) d.r[i] = (d.pure ? i != 1 : i < d.L) && between(0, 2) ? between(1, 12) : 0;
    if (d.pure && d.r[d.L] == 0) d.beside_last = between(0, 9);
    if (d.r[d.pure ? d.L : d.L - 1] == 0) d.asks = between(0, 1) * between(2, d.L);
    d.t = (double)between(1, 3);
    for (size_t l = 1; l < d.L; l++) {
        d.q[l] = (double)between(1, 9), d.x[l] = (double)between(1, (uint64_t)d.q[l]);
        d.n[l] = (double)between(1, d.pure ? 5 : 4000), d.y[l] = l == 1 ? 0 : exp2(-0.2 - 12 * rung_rng_unit(&rng));
    }
    double cells = d.t;
    for (size_t l = 1; l < d.L; l++) cells *= d.q[l];
    d.g = (double)between(1, (uint64_t)(cells / d.t));
    return d;
}

static void test_theorem_d(void **state)
{
    (void)state;
    for (size_t i = 0; i < effort(3000, 300); i++) {
        deep d = draw_deep();
        mpfr_ptr left, right;
        pool_used = 0;
        deep_again(&left, &right, &d);
        rung_certified_reset(sheet);
        bound_sides sides = deep_sides(sheet, &d);
        double low = rung_ival_low(sheet, sides.lhs), high = rung_ival_high(sheet, sides.rhs);
        double lhs = mpfr_get_d(left, MPFR_RNDN), rhs = mpfr_get_d(right, MPFR_RNDN);
        if (fabs(low - lhs) > 1e-9 * fabs(lhs) + 1e-9 || fabs(high - rhs) > 1e-9 * rhs || high < rhs * (1 - 1e-15))
            fail_msg("draw %zu, L=%zu of %d%s, t=%g g=%g: %.12g > %.12g, but %.12g and %.12g", i, d.L, u(d.task.L),
                     d.pure ? ", pure" : "", d.t, d.g, low, high, lhs, rhs);
    }
    for (size_t i = 0; i < pool_made; i++) mpfr_clear(pool[i]);
    pool_made = 0;
}

/* What deep_choose finds is allowed, and holds by the text as well. */
static void test_theorem_d_found(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        deep d = {.L = 3, .c = between(20, 40), .task = {.L = 3, .free = true}};
        for (int r = 0; r < 3; r++) d.r[r] = i ? between(0, 60) : 0;
        assert_true(deep_choose(&d) && deep_allowed(&d));
        mpfr_ptr left, right;
        pool_used = 0;
        deep_again(&left, &right, &d);
        assert_true(mpfr_greater_p(left, right));
    }
    for (size_t i = 0; i < pool_made; i++) mpfr_clear(pool[i]);
    pool_made = 0;
}

/* ---- rows with the sizes of a task --------------------------------------------------------------------------------------- */

/* "name = number" in a statement. */
static uint64_t named(const char *statement, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, " %s = ", name);
    const char *at = strstr(strstr(statement, ", with"), key);
    if (!at) fail_msg("no '%s' in: %s", name, statement);
    return strtoull(at + strlen(key), NULL, 10);
}

static sizes_of_two sizes_in(const char *statement, uint64_t A, uint64_t B, uint64_t c)
{
    sizes_of_two z = {.N0 = named(statement, "N_0"), .n1 = named(statement, "n_1"), .V = named(statement, "V")};
    z.A = A, z.B = B, z.c = c;
    return z;
}

static choice choice_in(const char *statement, bool after)
{
    choice k = {.t = named(statement, "t"), .q = named(statement, "q"), .g = named(statement, "g")};
    if (after) k.x = named(statement, "x");
    return k;
}

/* B0 by trying every x_1; B by trying everything. */
static bool b0_by_hand(const sizes_of_two *z)
{
    for (uint64_t x1 = 1; x1 <= z->N0; x1++)
        if (first_says(z, &(choice){.x0 = (z->N0 + x1 - 1) / x1, .x1 = x1}, DROP_NONE)) return true;
    return false;
}

static bool b_by_hand(const sizes_of_two *z)
{
    for (uint64_t t = 1; t <= z->N0; t++)
        for (uint64_t q = z->N0 / t, g = 1; g <= q; g++)
            for (uint64_t x = 1; x <= 2 * q; x++)
                if (between_says(z, &(choice){.t = t, .q = q, .g = g, .x = x}, DROP_NONE)) return true;
    return false;
}

static void test_rows_of_given_sizes(void **state)
{
    (void)state;
    int missed = 0, found = 0;
    for (size_t i = 0; i < effort(90, 30); i++) {
        char task[128], layers[64];
        uint64_t L = between(2, 3), N0 = between(2, 8), n1 = between(1, 12), n2 = L == 3 ? between(1, 5) : 1;
        bool flat = between(0, 3) == 0;
        uint64_t first = L == 3 ? n2 : n1, most = flat ? N0 : N0 * n1 * n2,
                 V = between(0, 1) || flat ? most : between(1, most);
        uint64_t c = between(1, 4 * N0), A = between(1, 3 * N0), B = between(1, 30);
        char n[32];
        snprintf(n, sizeof n, L == 3 ? "%d,%d" : "%d", u(n1), u(n2));
        snprintf(task, sizeof task, "seqcomp L=%d N0=%d n=%s V=%d flat=%d form=%s", u(L), u(N0), n, u(V), flat,
                 between(0, 1) ? "pair" : "position");
        sizes_of_two z = {N0, first, V, 0, B, c, L == 3 ? N0 * n1 : 0};
        snprintf(layers, sizeof layers, "F%d R%d", u(c), u(B));
        rung_bound_answer a = ask(layers, task, 0, "B0");
        if (!a.applies || a.holds != b0_by_hand(&z)) fail_msg("%s, %s: %s", layers, task, a.statement);
        sizes_of_two seen = sizes_in(a.statement, 0, B, c);
        assert_true(seen.N0 == N0 && seen.n1 == first && seen.V == V);
        snprintf(layers, sizeof layers, "R%d F%d R%d", u(A), u(c), u(B));
        a = ask(layers, task, 0, "B");
        z.A = A;
        bool truth = b_by_hand(&z);
        if (!a.applies || (a.holds && !truth)) fail_msg("%s, %s: %s", layers, task, a.statement);
        found += a.holds, missed += truth && !a.holds;
    }
    assert_true(found > (int)effort(8, 2) && missed <= 1 + found / 20);
}

/* The point of every threshold satisfies its inequality in whole numbers, its parameters are in range, and the prompt has
 * that length. */
static void test_rows_of_free_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < effort(12, 4); i++) {
        char task[64], layers[64];
        uint64_t L = between(2, 4), c = between(6, 14), A = between(1, 24), B = between(1, 40);
        bool flat = between(0, 2) == 0;
        snprintf(task, sizeof task, "seqcomp L=%d flat=%d", u(L), flat);
        for (int row = 0; row < 4; row++) {
            static const char *const ids[] = {"B0", "B", "C0", "Ce"};
            if (row == 0) snprintf(layers, sizeof layers, "F%d R%d", u(c), u(B));
            if (row == 1) snprintf(layers, sizeof layers, "R%d F%d R%d", u(A), u(c), u(B));
            if (row == 2) snprintf(layers, sizeof layers, "F%d F%d", u(c), u(c));
            if (row == 3) snprintf(layers, sizeof layers, "F4 F4 R%d", u(B)), c = 4;
            rung_bound_answer a = ask(layers, task, UINT64_C(1) << 62, ids[row]);
            if (!a.holds) continue;
            sizes_of_two z = sizes_in(a.statement, row == 1 ? A : 0, row == 2 ? 0 : B, c);
            z.middle = (L - 2) * z.N0;
            choice k = {0};
            if (row == 0) k.x0 = named(a.statement, "x_0"), k.x1 = named(a.statement, "x_1");
            if (row > 0) k = choice_in(a.statement, row != 2);
            if (row == 3) k.beta = named(a.statement, "beta"), k.G = named(a.statement, "G");
            bool ranges = row == 0 ? k.x0 * k.x1 >= z.N0 : k.g >= 1 && k.g <= k.q && k.t * k.q <= z.N0;
            bool says = row == 0   ? first_says(&z, &k, DROP_NONE)
                        : row == 1 ? between_says(&z, &k, DROP_NONE)
                        : row == 2 ? full_says(&z, &k, DROP_NONE)
                                   : full_then_says(&z, &k, DROP_NONE);
            bool sizes =
                z.V == (flat ? z.N0 : z.N0 * z.n1) && a.n_threshold == (double)(z.N0 * z.n1 + (L - 1) * z.N0 + 2);
            if (!ranges || !says || !sizes)
                fail_msg("%s, %s, %s: n=%g: %s", ids[row], layers, task, a.n_threshold, a.statement);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_theorem_a),
        cmocka_unit_test(test_theorem_a_prime),
        cmocka_unit_test(test_theorem_b0),
        cmocka_unit_test(test_theorem_b),
        cmocka_unit_test(test_theorem_c0),
        cmocka_unit_test(test_theorem_c1),
        cmocka_unit_test(test_theorem_ce),
        cmocka_unit_test(test_theorem_d),
        cmocka_unit_test(test_theorem_d_found),
        cmocka_unit_test(test_rows_of_given_sizes),
        cmocka_unit_test(test_rows_of_free_sizes),
    };
    return cmocka_run_group_tests_name("compose, both sides", tests, setup, teardown);
}
