/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Theorems A, A', B0 and B against a SAT solver at tiny sizes: where a protocol exists (sat_protocol.h), no theorem may
 * exclude it. The alphabets are of any size, so the inequalities are taken in whole numbers, V^n > Sa C^k Sb^y; at powers
 * of two the rows of the registry must say the same. Theorems with a term left out must be caught.
 *
 * For given sizes what can be done grows with C. The largest C that is excluded is tried (no solution there: none below), and then
 * the ones above it up to the first that has a solution.
 */
#include "compose_test.h"
#include "sat_protocol.h"

enum { SECONDS = 15 }; /* for one point */

/* ---- the theorems ------------------------------------------------------------------------------------------------------ */

/* What is left out. HALF_C: c/2 for c. */
enum { WHOLE, HALF_C, NO_EARLY, NO_LOSS, NO_HEARD, NO_LATE, MUTANTS };

/* V^v > Sa^a C^c Sb^b */
static bool beats(const sat_sizes *z, int mutant, uint64_t v, uint64_t a, uint64_t c, uint64_t b)
{
    mpz_t left, right, factor;
    int times = mutant == HALF_C ? 2 : 1;
    mpz_inits(left, right, factor, NULL);
    mpz_ui_pow_ui(left, (unsigned long)z->V, v * (uint64_t)times);
    mpz_ui_pow_ui(right, (unsigned long)z->Sa, a * (uint64_t)times);
    mpz_ui_pow_ui(factor, (unsigned long)z->C, c);
    mpz_mul(right, right, factor);
    mpz_ui_pow_ui(factor, (unsigned long)z->Sb, b * (uint64_t)times);
    mpz_mul(right, right, factor);
    bool more = mpz_cmp(left, right) > 0;
    mpz_clears(left, right, factor, NULL);
    return more;
}

/* A': V^k > Sa C Sb^k with k = ceil(N_0 / Sa) */
static bool one_excluded(const sat_sizes *z, int mutant)
{
    uint64_t class = (uint64_t)((z->N0 + z->Sa - 1) / z->Sa);
    if (mutant == NO_LOSS) class = (uint64_t)z->N0;
    return beats(z, mutant, class, mutant == NO_EARLY ? 0 : 1, mutant == NO_HEARD ? 0 : 1,
                 mutant == NO_LATE ? 0 : class);
}

static bool first_excluded(const sat_sizes *z, int mutant)
{
    uint64_t N0 = (uint64_t)z->N0, n1 = (uint64_t)z->n1;
    if (z->Sb == 1) return beats(z, mutant, N0, 0, mutant == NO_HEARD ? 0 : 1, 0);
    for (uint64_t x1 = 1; x1 <= N0; x1++) {
        uint64_t x0 = (N0 + x1 - 1) / x1, heard = mutant == NO_HEARD ? x0 : n1 + x0;
        if (beats(z, mutant, N0 * n1, 0, heard, mutant == NO_LATE ? 0 : x1)) return true;
    }
    return false;
}

static uint64_t values_of(const sat_sizes *z, int mutant, uint64_t t, uint64_t q, uint64_t g, uint64_t x)
{
    mpz_t S;
    if (mutant == NO_LOSS) return smaller(t * q, t * x);
    mpz_init_set_ui(S, (unsigned long)z->Sa);
    uint64_t values = spread_over(t, q, S, g, x);
    mpz_clear(S);
    return values;
}

static bool between_excluded_at(const sat_sizes *z, int mutant, uint64_t t, uint64_t q, uint64_t g, uint64_t x)
{
    uint64_t n1 = (uint64_t)z->n1, theta = values_of(z, mutant, t, q, g, x), early = mutant == NO_EARLY ? 0 : 1;
    uint64_t tokens = (uint64_t)z->N0 - g * t + x * g * t, heard = mutant == NO_HEARD ? 0 : t * n1;
    if (z->Sb == 1) return beats(z, mutant, n1 * theta, early, heard, 0);
    if (mutant == NO_LATE) return beats(z, mutant, n1 * theta, early, heard + t, 0);
    return beats(z, mutant, n1 * theta, early, heard + t, x) ||
           beats(z, mutant, n1 * theta, early, heard + t + tokens, 1);
}

static bool between_excluded(const sat_sizes *z, int mutant)
{
    uint64_t N0 = (uint64_t)z->N0;
    for (uint64_t t = 1; t <= N0; t++)
        for (uint64_t q = 1; t * q <= N0; q++)
            for (uint64_t g = 1; g <= q; g++)
                for (uint64_t x = 1; x <= q; x++)
                    if (between_excluded_at(z, mutant, t, q, g, x)) return true;
    return false;
}

static bool excluded(const sat_sizes *z, int mutant)
{
    if (z->L == 1) return one_excluded(z, mutant);
    return z->Sa == 1 ? first_excluded(z, mutant) : between_excluded(z, mutant);
}

/* ---- the rows of the registry ------------------------------------------------------------------------------------------------ */

static int bits_of(int letters)
{
    int bits = 0;
    while (1 << bits < letters) bits++;
    return bits;
}

static const char *row_of(const sat_sizes *z)
{
    return z->L == 1 ? "A'" : z->Sa == 1 ? "B0" : "B";
}

/* The rows know no full layer without a message, and no table with more values than entries. */
static bool row_speaks(const sat_sizes *z)
{
    return z->C > 1 && z->V <= z->N0 * z->n1;
}

/* What the row says of layers with at least these alphabets. */
static bool row_excludes(const sat_sizes *z)
{
    char layers[64], task[64];
    size_t len = 0;
    if (!row_speaks(z)) return false;
    if (z->Sa > 1) len += (size_t)snprintf(layers, sizeof layers, "R%d ", bits_of(z->Sa));
    len += (size_t)snprintf(layers + len, sizeof layers - len, "F%d", bits_of(z->C));
    if (z->Sb > 1) snprintf(layers + len, sizeof layers - len, " R%d", bits_of(z->Sb));
    if (z->L == 1)
        snprintf(task, sizeof task, "seqcomp L=1 N0=%d V=%d", z->N0, z->V);
    else
        snprintf(task, sizeof task, "seqcomp L=2 N0=%d n=%d V=%d", z->N0, z->n1, z->V);
    rung_bound_answer a = ask(layers, task, 0, row_of(z));
    return a.holds;
}

static bool whole_bits(const sat_sizes *z)
{
    return z->Sa == 1 << bits_of(z->Sa) && z->Sb == 1 << bits_of(z->Sb) && z->C == 1 << bits_of(z->C);
}

static void assert_row_agrees(const sat_sizes *z)
{
    if (row_speaks(z) && whole_bits(z) && row_excludes(z) != excluded(z, WHOLE))
        fail_msg("%s, N0=%d n1=%d V=%d Sa=%d Sb=%d C=%d: the row says %d, whole numbers say %d", row_of(z), z->N0,
                 z->n1, z->V, z->Sa, z->Sb, z->C, row_excludes(z), excluded(z, WHOLE));
}

/* ---- the search ------------------------------------------------------------------------------------------------------------ */

typedef struct tally {
    int cases, tight, solutions, confirmed, implied, open, open_between;
    int caught[MUTANTS];
} tally;

static void assert_not_excluded(tally *n, const sat_sizes *z)
{
    n->solutions++;
    if (excluded(z, WHOLE) || row_excludes(z))
        fail_msg("%s excludes N0=%d n1=%d V=%d Sa=%d Sb=%d C=%d, and a protocol does it", row_of(z), z->N0, z->n1, z->V,
                 z->Sa, z->Sb, z->C);
    for (int m = 1; m < MUTANTS; m++) n->caught[m] += excluded(z, m);
}

/* The excluded alphabets, from the largest down: the first that is refuted settles those below. */
static void try_excluded(tally *n, const sat_sizes *z, int largest)
{
    static sat_protocol p;
    for (int C = largest; C >= 1; C--) {
        sat_sizes at = *z;
        at.C = C;
        assert_true(excluded(&at, WHOLE));
        solved s = protocol_exists(&p, &at, SECONDS);
        if (s == SOLVED_SAT) assert_not_excluded(n, &at); /* fails */
        if (s == SOLVED_TIMEOUT) {
            n->open++;
            continue;
        }
        n->confirmed++, n->implied += C - 1;
        break;
    }
}

/* Above them, up to the first alphabet with a solution; V^N_0 letters always have one. */
static void try_others(tally *n, const sat_sizes *z, int largest)
{
    static sat_protocol p;
    int late = 0;
    for (int C = largest + 1; late < 2; C++) {
        sat_sizes at = *z;
        at.C = C;
        assert_false(excluded(&at, WHOLE));
        solved s = protocol_exists(&p, &at, SECONDS);
        if (s == SOLVED_SAT) {
            assert_not_excluded(n, &at);
            if (C == largest + 1) n->tight++;
            return;
        }
        if (s == SOLVED_TIMEOUT) late++, n->open_between++;
    }
}

static void try_case(tally *n, const sat_sizes *z)
{
    sat_sizes at = *z;
    int largest = 0;
    for (at.C = 1; at.C <= power(z->V, z->N0); at.C++) {
        assert_row_agrees(&at);
        if (excluded(&at, WHOLE)) largest = at.C;
    }
    n->cases++;
    try_excluded(n, z, largest);
    try_others(n, z, largest);
    print_message("%-3s N0=%d n1=%d V=%d Sa=%d Sb=%d: excluded up to C=%d\n", row_of(z), z->N0, z->n1, z->V, z->Sa,
                  z->Sb, largest);
}

static void assert_caught(const tally *n, const char *name, unsigned needed)
{
    print_message(
        "%s: %d cases, %d tight; %d solutions, none excluded; excluded points: %d without a solution, %d below "
        "such, %d open after %d s; %d open above\n",
        name, n->cases, n->tight, n->solutions, n->confirmed, n->implied, n->open, SECONDS, n->open_between);
    print_message("%s: solutions that a wrong theorem excludes:", name);
    for (int m = 1; m < MUTANTS; m++) print_message(" %d", n->caught[m]);
    print_message("\n");
    for (int m = 1; m < MUTANTS; m++)
        if (needed >> m & 1) assert_true(n->caught[m] > 0);
    assert_true(n->confirmed > 0 && n->solutions > 0);
}

static void try_alphabets(tally *n, const sat_sizes *sizes, const int *early, size_t early_count)
{
    static const int late[] = {1, 2, 4, 8};
    for (size_t a = 0; a < early_count; a++)
        for (size_t b = 0; b < RUNG_COUNT(late); b++) {
            sat_sizes z = *sizes;
            z.Sa = early[a], z.Sb = late[b];
            try_case(n, &z);
        }
}

/* ---- no full layer ---------------------------------------------------------------------------------------------------------- */

/* A: V^N > S, for one table (eva) or the first of two. */
static bool states_excluded(const sat_sizes *z, int mutant)
{
    uint64_t entries = (uint64_t)(z->N0 * z->n1);
    return beats(z, WHOLE, mutant == HALF_C ? 2 * entries : entries, 1, 0, 0);
}

static bool state_row_excludes(const sat_sizes *z)
{
    char layers[32], task[64];
    snprintf(layers, sizeof layers, "R%d", bits_of(z->Sa));
    if (z->L == 1)
        snprintf(task, sizeof task, "eva N=%d V=%d", z->N0, z->V);
    else
        snprintf(task, sizeof task, "seqcomp L=2 N0=%d n=%d V=%d", z->N0, z->n1, z->V);
    rung_bound_answer a = ask(layers, task, 0, z->L == 1 ? "A" : "A-compose");
    return a.holds;
}

static void test_no_full_layer(void **state)
{
    static const sat_sizes sizes[] = {{1, 2, 1, 2, 0, 1, 1}, {1, 3, 1, 3, 0, 1, 1}, {1, 5, 1, 2, 0, 1, 1},
                                      {2, 2, 1, 2, 0, 1, 1}, {2, 2, 2, 2, 0, 1, 1}, {2, 3, 1, 3, 0, 1, 1},
                                      {2, 3, 2, 2, 0, 1, 1}, {2, 2, 2, 3, 0, 1, 1}};
    int solutions = 0, refuted = 0, caught = 0;
    static sat_protocol p;
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) {
        sat_sizes z = sizes[i];
        int tables = power(z.V, z.N0 * z.n1);
        for (z.Sa = tables > 8 ? tables - 8 : 2; z.Sa <= tables + 1; z.Sa++) {
            solved s = states_suffice(&p, &z, SECONDS);
            assert_int_not_equal(s, SOLVED_TIMEOUT);
            assert_true(states_excluded(&z, WHOLE) == (s == SOLVED_UNSAT)); /* tight */
            assert_true(s == SOLVED_UNSAT || !state_row_excludes(&z));
            if (z.Sa == 1 << bits_of(z.Sa)) assert_true(state_row_excludes(&z) == (s == SOLVED_UNSAT));
            solutions += s == SOLVED_SAT, refuted += s == SOLVED_UNSAT;
            caught += s == SOLVED_SAT && states_excluded(&z, HALF_C);
        }
    }
    print_message("A: %d solutions, %d points without one, as the theorem says\n", solutions, refuted);
    assert_true(solutions > 0 && refuted > 0 && caught > 0);
}

static void test_one_function(void **state)
{
    static const sat_sizes sizes[] = {{1, 2, 1, 2, 0, 0, 0}, {1, 3, 1, 2, 0, 0, 0}, {1, 4, 1, 2, 0, 0, 0},
                                      {1, 2, 1, 3, 0, 0, 0}, {1, 3, 1, 3, 0, 0, 0}, {1, 2, 1, 4, 0, 0, 0}};
    static const int early[] = {1, 2, 3, 4};
    tally n = {0};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) try_alphabets(&n, &sizes[i], early, RUNG_COUNT(early));
    assert_caught(&n, "A'", 1u << HALF_C | 1u << NO_LOSS | 1u << NO_HEARD | 1u << NO_LATE);
}

static const sat_sizes two_sizes[] = {{2, 2, 1, 2, 0, 0, 0}, {2, 2, 2, 2, 0, 0, 0}, {2, 2, 1, 3, 0, 0, 0},
                                      {2, 2, 1, 4, 0, 0, 0}, {2, 3, 1, 2, 0, 0, 0}, {2, 2, 3, 2, 0, 0, 0},
                                      {2, 3, 2, 2, 0, 0, 0}, {2, 2, 2, 3, 0, 0, 0}};

static void test_full_first(void **state)
{
    static const int early[] = {1};
    tally n = {0};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(two_sizes); i++) try_alphabets(&n, &two_sizes[i], early, RUNG_COUNT(early));
    assert_caught(&n, "B0", 1u << HALF_C | 1u << NO_HEARD | 1u << NO_LATE);
}

static void test_full_between(void **state)
{
    static const int early[] = {2, 3, 4};
    tally n = {0};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(two_sizes); i++) try_alphabets(&n, &two_sizes[i], early, RUNG_COUNT(early));
    assert_caught(&n, "B", 1u << HALF_C | 1u << NO_EARLY | 1u << NO_LOSS | 1u << NO_HEARD | 1u << NO_LATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_full_layer),
        cmocka_unit_test(test_one_function),
        cmocka_unit_test(test_full_first),
        cmocka_unit_test(test_full_between),
    };
    return cmocka_run_group_tests_name("theorems and a SAT solver", tests, NULL, NULL);
}
