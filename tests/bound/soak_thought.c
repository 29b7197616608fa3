/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Theorem K1 with one thought and two functions against a SAT solver at tiny sizes, n_1 = 1. A protocol has four functions: what w has
 * heard after z_2; what it has heard after z_1; what the thought hears of z_2, which knows z_0 and the second letter; and the answer,
 * which may use z_0, z_1, the second letter and what the thought has heard. This can do more than the layers. Where such a protocol
 * exists the theorem may not exclude the alphabet; and the first alphabet that it does not exclude should have one.
 */
#include "cnf.h"
#include "compose_test.h"

enum { SECONDS = 40 };

typedef struct sizes {
    int N0, V, C;
} sizes;

/* Theta = ceil(t q C^(-1/(g t))) values; excluded if V^Theta > C^(1+t). */
static bool excluded_at(const sizes *z, uint64_t t, uint64_t q, uint64_t g)
{
    mpz_t all, part, left, right;
    mpz_inits(all, part, left, right, NULL);
    uint64_t theta = 1;
    mpz_ui_pow_ui(all, t * q, g * t);
    for (;; theta++) { /* the least theta with theta^(g t) C >= (t q)^(g t) */
        mpz_ui_pow_ui(part, theta, g * t);
        mpz_mul_ui(part, part, (unsigned long)z->C);
        if (mpz_cmp(part, all) >= 0) break;
    }
    mpz_ui_pow_ui(left, (unsigned long)z->V, theta);
    mpz_ui_pow_ui(right, (unsigned long)z->C, 1 + t);
    bool more = mpz_cmp(left, right) > 0;
    mpz_clears(all, part, left, right, NULL);
    return more;
}

static bool excluded(const sizes *z)
{
    for (uint64_t t = 1; t <= (uint64_t)z->N0; t++)
        for (uint64_t q = 1; t * q <= (uint64_t)z->N0; q++)
            for (uint64_t g = 1; g <= q; g++)
                if (excluded_at(z, t, q, g)) return true;
    return false;
}

static int power_of(int base, int exponent)
{
    int p = 1;
    while (exponent-- > 0) p *= base;
    return p;
}

static int entry(int table, int at, int values)
{
    return table / power_of(values, at) % values;
}

static solved solve(const sizes *z)
{
    enum { TABLES = 125, LETTERS = 5 };
    static cell first[TABLES], second[LETTERS][TABLES], third[LETTERS][LETTERS][TABLES],
        answer[LETTERS][LETTERS][TABLES][LETTERS];
    int z2s = power_of(z->V, z->N0), z1s = power_of(z->N0, z->N0);
    cnf f = {0};
    assert_true(z2s <= TABLES && z1s <= TABLES && z->C <= LETTERS && z->N0 <= LETTERS);
    for (int i = 0; i < z2s; i++) first[i] = cell_new(&f, z->C, i + 1 < z->C ? i + 1 : z->C);
    for (int a = 0; a < z->C; a++)
        for (int j = 0; j < z1s; j++) second[a][j] = cell_new(&f, z->C, z->C);
    for (int u = 0; u < z->N0; u++)
        for (int a = 0; a < z->C; a++) {
            for (int i = 0; i < z2s; i++) third[u][a][i] = cell_new(&f, z->C, z->C);
            for (int j = 0; j < z1s; j++)
                for (int b = 0; b < z->C; b++) answer[u][a][j][b] = cell_new(&f, z->V, z->V);
        }
    for (int i = 0; i < z2s; i++)
        for (int j = 0; j < z1s; j++)
            for (int u = 0; u < z->N0; u++)
                for (int a = 0; a < z->C; a++)
                    for (int b = 0; b < z->C; b++)
                        for (int d = 0; d < z->C; d++)
                            CLAUSE(&f, -(first[i].first + a), -(second[a][j].first + b), -(third[u][b][i].first + d),
                                   answer[u][b][j][d].first + entry(i, entry(j, u, z->N0), z->V));
    solved found = cnf_solve(&f, SECONDS);
    cnf_clear(&f);
    return found;
}

static void test_one_thought(void **state)
{
    int none = 0, tight = 0, late = 0;
    (void)state;
    for (int N0 = 2; N0 <= 3; N0++)
        for (int V = 2; V <= (N0 == 2 ? 5 : 3); V++) {
            bool open = true;
            for (int C = 1; C <= 4; C++) {
                sizes z = {N0, V, C};
                bool no = excluded(&z);
                if (!no && !open) break;
                solved found = solve(&z);
                print_message("N_0 = %d, V = %d, C = %d: %s, %s\n", N0, V, C, no ? "excluded" : "not excluded",
                              found == SOLVED_SAT     ? "a protocol exists"
                              : found == SOLVED_UNSAT ? "there is none"
                                                      : "not decided");
                if (no && found == SOLVED_SAT) fail_msg("K1 excludes N_0 = %d, V = %d, C = %d", N0, V, C);
                none += no && found == SOLVED_UNSAT;
                if (no) continue;
                open = false;
                tight += found == SOLVED_SAT, late += found != SOLVED_SAT;
            }
        }
    print_message("%d excluded points have no protocol; %d first other points have one, %d are open\n", none, tight,
                  late);
    assert_true(none >= 8 && tight >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_thought)};
    return cmocka_run_group_tests_name("one thought against a solver", tests, NULL, NULL);
}
