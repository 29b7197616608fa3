/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Colliding summaries: sums against the state of the mechanism, the search against all contents of small blocks, antipodal pairs, and
 * the examples of the row.
 */
#include "attacked_test.h"

#include "../../src/attack/block_attack.h"

#include <math.h>

/* ---- small tables -------------------------------------------------------------------------------------------------------- */

enum { PLACES = 3, CHOICES = 12, DIMS_MAX = 4 };

typedef struct small {
    block_table table;
    rung_fmt fmt;
    size_t count[PLACES];
    uint32_t token[PLACES * CHOICES];
    double x[PLACES * DIMS_MAX * CHOICES];
} small;

static void small_table(small *s, const char *numbers, size_t dims, uint64_t seed)
{
    rung_rng rng;
    memset(s, 0, sizeof *s);
    CHECK(rung_fmt_parse(&s->fmt, numbers, &check_err));
    rung_rng_init(&rng, seed, 2, 0);
    for (size_t i = 0; i < PLACES; i++) s->count[i] = CHOICES - i;
    for (size_t i = 0; i < PLACES * CHOICES; i++) s->token[i] = (uint32_t)(i % CHOICES);
    for (size_t i = 0; i < PLACES * dims * CHOICES; i++) s->x[i] = rung_num_round(&s->fmt, rung_rng_normal(&rng));
    s->table = (block_table){.fmt = &s->fmt,
                             .places = PLACES,
                             .dims = dims,
                             .count = s->count,
                             .most = CHOICES,
                             .token = s->token,
                             .x = s->x};
}

/* Means in the order of the specification, not by rung_block_sums. */
static void mean_of(double *out, const small *s, const uint32_t *choice, size_t depth)
{
    for (size_t d = 0; d < s->table.dims; d++) {
        out[d] = 0;
        for (size_t i = 0; i < depth; i++)
            out[d] = rung_num_add(&s->fmt, out[d], s->x[(i * s->table.dims + d) * CHOICES + choice[i]]);
        if (depth == PLACES) out[d] = rung_num_div(&s->fmt, out[d], rung_num_round(&s->fmt, PLACES));
    }
}

static uint32_t set_of(const uint32_t *choice, size_t depth)
{
    uint32_t set = 0;
    for (size_t i = 0; i < depth; i++) set |= 1u << choice[i];
    return set;
}

static bool brute_force(const small *s, size_t depth)
{
    static double mean[CHOICES * CHOICES * CHOICES][DIMS_MAX];
    static uint32_t set[CHOICES * CHOICES * CHOICES];
    size_t all = 1;
    for (size_t i = 0; i < depth; i++) all *= s->count[i];
    for (size_t n = 0; n < all; n++) {
        uint32_t choice[PLACES];
        for (size_t i = 0, rest = n; i < depth; rest /= s->count[i++]) choice[i] = (uint32_t)(rest % s->count[i]);
        mean_of(mean[n], s, choice, depth);
        set[n] = set_of(choice, depth);
        for (size_t m = 0; m < n; m++)
            if (set[m] != set[n] && memcmp(mean[m], mean[n], s->table.dims * sizeof(double)) == 0) return true;
    }
    return false;
}

/* With two places the search goes through all contents, so both must agree; what is found in whole blocks must exist. */
static void the_search_finds_exactly_what_all_contents_have(void **state)
{
    static const char *const formats[] = {"e4m2", "e5m3", "q2.4", "e8m7", "q2.9"};
    size_t yes = 0, no = 0, whole = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        small s;
        uint32_t a[PLACES], b[PLACES];
        double x[DIMS_MAX], y[DIMS_MAX];
        small_table(&s, formats[seed % RUNG_COUNT(formats)], 1 + seed % DIMS_MAX, seed);
        for (size_t depth = 2; depth <= PLACES; depth++) {
            block_find find = {.depth = depth, .elements = depth == 2 ? 132 : 5000, .seed = seed, .a = a, .b = b};
            rung_budget budget = budget_of(10);
            bool found = rung_block_search(&find, &s.table, &budget, rung_wall_s()), exists = brute_force(&s, depth);
            if (depth == 2) assert_int_equal(found, exists);
            assert_true(!found || exists);
            whole += depth == PLACES && found;
            *(found ? &yes : &no) += 1;
            if (!found) continue;
            assert_int_not_equal(set_of(a, depth), set_of(b, depth));
            mean_of(x, &s, a, depth);
            mean_of(y, &s, b, depth);
            assert_memory_equal(x, y, s.table.dims * sizeof *x);
            rung_block_sums(y, &s.table, a, depth);
            assert_memory_equal(x, y, s.table.dims * sizeof *x);
        }
    }
    assert_true(yes > 20 && no > 20 && whole > 10);
}

/* cos and sin of 2 pi x / M, and a constant value: x and x + M/2 add up to nothing, so any two such pairs collide. */
static void antipodal_pairs_are_found(void **state)
{
    small s;
    uint32_t a[PLACES], b[PLACES];
    (void)state;
    small_table(&s, "f32", 3, 1);
    for (size_t i = 0; i < PLACES; i++) {
        s.count[i] = CHOICES;
        for (size_t c = 0; c < CHOICES; c++) {
            double turn = 2 * 3.14159265358979323846 * (double)(c % (CHOICES / 2)) / CHOICES,
                   sign = c < CHOICES / 2 ? 1 : -1;
            s.x[(i * 3 + 0) * CHOICES + c] = sign * rung_num_round(&s.fmt, cos(turn));
            s.x[(i * 3 + 1) * CHOICES + c] = sign * rung_num_round(&s.fmt, sin(turn));
            s.x[(i * 3 + 2) * CHOICES + c] = 1;
        }
    }
    block_find find = {.depth = 2, .elements = CHOICES * CHOICES, .seed = 1, .a = a, .b = b};
    rung_budget budget = budget_of(10);
    assert_true(rung_block_search(&find, &s.table, &budget, rung_wall_s()));
    assert_int_equal((a[0] + CHOICES / 2) % CHOICES, a[1]);
    assert_int_equal((b[0] + CHOICES / 2) % CHOICES, b[1]);
    assert_int_not_equal(set_of(a, 2), set_of(b, 2));
}

/* ---- the row --------------------------------------------------------------------------------------------------------------- */

static void the_examples_of_the_row_hold(void **state)
{
    char report[400];
    size_t found = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        found += prey_breaks("block", (prey){"sparse:B=8:k=1", "e4m3", "two-sum N=64 M=128", 3, 3, false, seed}, 120,
                             report);
    assert_true(found >= 4);
    assert_non_null(strstr(report, "48 bits"));
    assert_false(prey_breaks("block", (prey){"sparse:B=2:k=1", "f32", "two-sum N=8 M=9", 4, 4, false, 1}, 5, report));
}

static void fixed_point_falls_to_exact_sums(void **state)
{
    char report[400];
    (void)state;
    assert_true(
        prey_breaks("block", (prey){"sparse:B=32:k=2", "q5.10", "two-sum N=256 M=256", 3, 3, false, 2}, 120, report));
    if (!strstr(report, "exact sums")) fail_msg("%s", report);
}

static void windows_heads_and_blanks_are_respected(void **state)
{
    (void)state;
    assert_true(prey_breaks(
        "block", (prey){"sparse:B=4:k=2:branches=nsa:W=8@2", "e4m2", "two-sum N=48 M=64 blank=1", 2, 1, false, 3}, 30,
        NULL));
    assert_true(
        prey_breaks("block", (prey){"sparse:B=4:k=1:own=1", "e4m2", "two-sum N=40 M=64", 2, 2, true, 4}, 120, NULL));
}

static void what_does_not_fit_is_refused(void **state)
{
    static const prey others[] = {{"sparse:B=8:k=8", "e4m3", "two-sum N=64 M=64", 2, 2, false, 1},
                                  {"2*sparse:B=8:k=1", "e4m3", "two-sum N=64 M=64", 2, 2, false, 1},
                                  {"full", "e4m3", "two-sum N=64 M=64", 2, 2, false, 1},
                                  {"sparse:B=8:k=1:comp=mlp", "e4m3", "two-sum N=64 M=64", 2, 2, false, 1},
                                  {"sparse:B=16:k=1:branches=nsa:W=60", "e4m3", "two-sum N=64 M=64", 2, 2, false, 1}};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(others); i++) {
        caught c;
        char why[200] = "";
        rung_budget budget = budget_of(1);
        catch_prey(&c, others[i]);
        assert_true(rung_attack_get("block")->expect(&c.attacked, &budget, why, sizeof why) < 0);
        assert_true(strlen(why) > 10);
        release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_finds_exactly_what_all_contents_have),
        cmocka_unit_test(antipodal_pairs_are_found),
        cmocka_unit_test(the_examples_of_the_row_hold),
        cmocka_unit_test(fixed_point_falls_to_exact_sums),
        cmocka_unit_test(windows_heads_and_blanks_are_respected),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
