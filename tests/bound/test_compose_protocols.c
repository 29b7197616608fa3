/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Nothing is forbidden that can be done. Protocols written by hand say when layers of so many bits do compose two functions
 * (or follow one); wherever a theorem says CANNOT for some choice of its parameters, no protocol may exist. Each theorem with
 * one term left out must be caught in the same way: then the draws do come near enough to the truth.
 */
#include "compose_test.h"
#include "effort.h"

#include "../../src/bound/compose_deep.h"
#include "../../src/bound/compose_full.h"
#include "../../src/bound/compose_one.h"
#include "../../src/bound/compose_two.h"

static rung_certified *sheet;
static rung_rng rng;

static int setup(void **state)
{
    (void)state;
    rung_rng_init(&rng, 13, 3, 0);
    return rung_certified_new(&sheet, 128, &check_err) == RUNG_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    rung_certified_free(sheet);
    return 0;
}

static uint64_t between(uint64_t low, uint64_t high)
{
    return low + rung_rng_below(&rng, high - low + 1);
}

/* ---- what can be done ---------------------------------------------------------------------------------------------------- */

/* Bits that name one of V^n things. */
static uint64_t bits_for(uint64_t V, uint64_t n)
{
    mpz_t power;
    mpz_init(power);
    mpz_ui_pow_ui(power, V, n);
    mpz_sub_ui(power, power, 1);
    uint64_t bits = mpz_cmp_ui(power, 0) > 0 ? mpz_sizeinbase(power, 2) : 0;
    mpz_clear(power);
    return bits;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* z_1, z_0, w. R^a F R^b: the pointer z_0 goes to w before F (then w asks for it), or z_0 asks and hands the value over, or w
 * takes all of the table. In between: the state before F tells w which class of k classes z_0 is in, w takes the entries of
 * all of the class, and the state after F tells it which. */
static bool follows_one(const sizes_of_two *z)
{
    if (z->c >= bits_for(z->V, z->N0)) return true;
    if (z->c >= bits_for(z->V, 1) && (z->A >= bits_for(z->N0, 1) || z->B >= bits_for(z->V, 1))) return true;
    for (uint64_t k = 2; k <= z->N0; k++) {
        uint64_t each = (z->N0 + k - 1) / k;
        if (z->A >= bits_for(k, 1) && z->c >= bits_for(z->V, each)) return true; /* z_0 itself is read in F as well */
    }
    return z->A >= bits_for(z->V, z->N0);
}

/* F R^b. w takes its row but for the columns J, z_0 takes z_1(z_0); the states bring the columns J to z_0, and z_0 hands over
 * its column, or the pointer. */
static bool first_then(const sizes_of_two *z)
{
    if (z->c >= bits_for(z->V, z->N0)) return true;
    for (uint64_t j = 0; j <= z->N0 && z->B; j++) {
        uint64_t handed = larger(bits_for(z->N0 - j + 1, 1), j ? bits_for(z->V, z->n1) + 1 : 0);
        if (z->c >= larger(bits_for(z->V, z->N0 - j), bits_for(z->N0, 1)) &&
            z->B >= larger(bits_for(z->V, z->n1 * j), handed))
            return true;
    }
    return false;
}

/* R^a F R^b. As above; or the states before F tell for every index of z_1 in which of k classes its value is, z_0 hands this
 * over with itself, and w takes the entries of one class. */
static bool between_does(const sizes_of_two *z)
{
    if (first_then(z)) return true;
    for (uint64_t k = 2; k <= z->N0; k++) {
        uint64_t each = (z->N0 + k - 1) / k;
        if (z->A >= larger(bits_for(k, z->N0), bits_for(z->N0 * k, 1)) && z->c >= bits_for(z->V, each)) return true;
    }
    return z->A >= bits_for(z->V, z->N0 * z->n1) + bits_for(z->N0, z->N0);
}

/* F F R^e. The entries of z_1 take the columns of their values, and w, which has taken z_0, then takes from its entry; or w
 * takes z_1, then asks; or the row. With states: z_0 takes its pointer, then the column, and hands it over; or as F R^b. */
static bool full_does(const sizes_of_two *z)
{
    if (z->c >= larger(bits_for(z->V, z->n1), bits_for(z->N0, 1))) return true;
    if (z->c >= larger(bits_for(z->N0, z->N0), bits_for(z->V, 1))) return true;
    return first_then(z);
}

/* F R^b F with A bits between. As without them; or z_0 takes its pointer, the state tells w in which of k classes it is, and w
 * takes the entries of that class. */
static bool relay_does(const sizes_of_two *z)
{
    if (full_does(z)) return true;
    for (uint64_t k = 2; k <= z->N0 && z->c >= bits_for(z->N0, 1); k++)
        if (z->A >= bits_for(k, 1) && z->c >= bits_for(z->V, (z->N0 + k - 1) / k)) return true;
    return false;
}

/* ---- against what is said to be impossible ----------------------------------------------------------------------------------- */

typedef bool says(const sizes_of_two *z, const choice *k, int drop);
typedef bool does(const sizes_of_two *z);

static bool single_says_any(const sizes_of_two *z, const choice *k, int drop)
{
    (void)k;
    return single_says(z, drop);
}

/* Sizes of the draws: two full layers need larger tables before anything is impossible. */
typedef struct ranges {
    bool before, after;
    uint64_t N0, n1, c;
} ranges;

static sizes_of_two draw(const ranges *r)
{
    sizes_of_two z = {.N0 = between(1, r->N0), .n1 = between(1, r->n1)};
    uint64_t most = z.N0 * z.n1;
    z.V = between(0, 2) ? most : between(1, most);
    z.c = between(0, 3) ? between(1, r->c / 4) : between(1, r->c);
    if (r->before) z.A = between(0, 1) ? between(1, 6) : between(1, 40);
    if (r->after) z.B = between(0, 1) ? between(1, 6) : between(1, 60);
    return z;
}

static choice draw_choice(const sizes_of_two *z)
{
    choice k = {.t = between(1, z->N0), .x1 = between(1, z->N0), .beta = between(1, z->n1)};
    k.q = z->N0 / k.t, k.x0 = (z->N0 + k.x1 - 1) / k.x1, k.G = z->n1 / k.beta;
    k.g = between(0, 2) ? k.q : between(1, k.q), k.x = between(1, k.q + 1);
    return k;
}

/* How often the theorem forbids what a protocol does, at most once when a term is left out; *forbids counts what it forbids at
 * all. */
static int contradictions(says *theorem, does *protocol, const ranges *r, int drop, int draws, int *forbids)
{
    int wrong = 0;
    for (int i = 0; i < draws && !(drop && wrong); i++) {
        sizes_of_two z = draw(r);
        choice k = draw_choice(&z);
        if (!theorem(&z, &k, drop)) continue;
        ++*forbids;
        wrong += protocol(&z);
    }
    return wrong;
}

enum { DRAWS = SANITIZED ? 6000 : 120000, DRAWS_DROPPED = 60000 };

/* `needed` are the terms whose absence must show, as a bit set. */
static void assert_agree(const char *name, says *theorem, does *protocol, const ranges *r, unsigned needed)
{
    int forbids = 0, wrong = contradictions(theorem, protocol, r, DROP_NONE, DRAWS, &forbids);
    if (wrong) fail_msg("%s forbids %d times what a protocol does", name, wrong);
    if (forbids < DRAWS / 500) fail_msg("%s forbade only %d of the draws", name, forbids);
    for (int drop = 1; drop < DROP_COUNT; drop++)
        if (needed >> drop & 1 && !contradictions(theorem, protocol, r, drop, DRAWS_DROPPED, &forbids))
            fail_msg("%s without term %d was not caught", name, drop);
}

#define TERM(name) (1u << DROP_##name)

static void test_one_function(void **state)
{
    (void)state;
    assert_agree("A'", single_says_any, follows_one, &(ranges){true, true, 100, 1, 40}, TERM(C) | TERM(B) | TERM(CEIL));
    assert_agree("A', F", single_says_any, follows_one, &(ranges){false, false, 9, 1, 40}, TERM(C));
}

static void test_full_then_recurrent(void **state)
{
    (void)state;
    assert_agree("B0", first_says, first_then, &(ranges){false, true, 9, 9, 60}, TERM(C) | TERM(B));
    assert_agree("B0, F", first_says, first_then, &(ranges){false, false, 9, 9, 60}, TERM(C));
}

static void test_full_between_recurrent(void **state)
{
    (void)state;
    assert_agree("B", between_says, between_does, &(ranges){true, true, 9, 9, 60},
                 TERM(A) | TERM(C) | TERM(B) | TERM(CEIL));
    assert_agree("B, R F", between_says, between_does, &(ranges){true, false, 9, 9, 60},
                 TERM(A) | TERM(C) | TERM(CEIL));
}

static void test_two_full(void **state)
{
    (void)state;
    assert_agree("C0", full_says, full_does, &(ranges){false, false, 24, 60, 24}, TERM(CEIL));
}

static void test_a_thin_relay(void **state)
{
    (void)state;
    assert_agree("C1", relay_says, relay_does, &(ranges){true, false, 60, 120, 24}, TERM(A) | TERM(CEIL));
}

static void test_two_full_then_recurrent(void **state)
{
    (void)state;
    assert_agree("Ce", full_then_says, full_does, &(ranges){false, true, 24, 60, 24}, TERM(C) | TERM(B) | TERM(CEIL));
}

/* ---- rows, as they search --------------------------------------------------------------------------------------------------- */

static void assert_row_is_silent(const char *id, const char *layers, const sizes_of_two *z)
{
    char task[96];
    snprintf(task, sizeof task, "seqcomp L=2 N0=%d n=%d V=%d", (int)z->N0, (int)z->n1, (int)z->V);
    rung_bound_answer a = ask(layers, task, 0, id);
    if (!a.applies || a.holds) fail_msg("%s, %s: a protocol exists: %s (%s)", layers, task, a.statement, a.premise);
}

static void test_rows_are_silent_where_protocols_exist(void **state)
{
    (void)state;
    int asked[4] = {0};
    for (size_t i = 0; i < effort(250, 60); i++) {
        char layers[64];
        sizes_of_two z = draw(&(ranges){true, true, 12, 12, 40});
        int A = (int)z.A, B = (int)z.B, c = (int)z.c;
        snprintf(layers, sizeof layers, "F%d R%d", c, B);
        if (first_then(&z) && ++asked[0]) assert_row_is_silent("B0", layers, &z);
        snprintf(layers, sizeof layers, "R%d F%d R%d", A, c, B);
        if (between_does(&z) && ++asked[1] < 60) assert_row_is_silent("B", layers, &z);
        snprintf(layers, sizeof layers, "F%d F%d R%d", c, c, B);
        if (full_does(&z) && ++asked[2] < 60) assert_row_is_silent("Ce", layers, &z);
        z.B = 0;
        snprintf(layers, sizeof layers, "F%d F%d", c, c);
        if (full_does(&z) && ++asked[3]) assert_row_is_silent("C0", layers, &z);
    }
    for (size_t i = 0; i < RUNG_COUNT(asked); i++) assert_true(asked[i] > (int)effort(25, 5));
}

/* Three functions, two full layers among recurrent ones: z_0 takes i_1 and hands it to w, whose entries of z_2 have taken
 * columns of z_3, or which takes a row of z_3; or w knows i_1 from the first states; or the last states bring z_3. */
static bool three_do(const deep *d)
{
    double c = (double)d->c, V = deep_log2_values(d), N0 = d->t * d->q[1] * d->q[2], N1 = N0 * d->n[1];
    bool handed = (double)d->r[1] >= log2(N0) && c >= log2(N0);
    if (handed && c >= fmin(d->n[2], N1) * V) return true;
    if ((double)d->r[0] >= N0 * log2(N0) && c >= fmax(V, log2(N1))) return true;
    return handed && (double)d->r[2] >= N1 * d->n[2] * V;
}

static void test_three_functions(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        deep d = {.L = 3, .c = between(4, 60), .task = {.L = 3, .free = true}};
        for (int r = 0; r < 3; r++) d.r[r] = between(0, 1) ? between(1, 200) : 0;
        assert_true(deep_choose(&d));
        rung_certified_reset(sheet);
        bound_sides sides = deep_sides(sheet, &d);
        if (rung_ival_less(sheet, sides.rhs, sides.lhs) == RUNG_SURELY) assert_false(three_do(&d));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_function),
        cmocka_unit_test(test_full_then_recurrent),
        cmocka_unit_test(test_full_between_recurrent),
        cmocka_unit_test(test_two_full),
        cmocka_unit_test(test_a_thin_relay),
        cmocka_unit_test(test_two_full_then_recurrent),
        cmocka_unit_test(test_rows_are_silent_where_protocols_exist),
        cmocka_unit_test(test_three_functions),
    };
    return cmocka_run_group_tests_name("compose, protocols", tests, setup, teardown);
}
