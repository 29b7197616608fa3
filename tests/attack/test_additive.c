/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Additive states: the table against the states that sessions carry, the solvers against all choices of small tables, integer sums
 * computed here, and the examples of the rows.
 */
#include "attacked_test.h"

#include "../../src/attack/wagner.h"

/* ---- the table ------------------------------------------------------------------------------------------------------------ */

enum { TRIALS = 20 };

/* Random choices; their sum by the table, and the state that a session carries. */
static void draw_sum(int64_t *sum, double *x, uint32_t *token, const additive *sums, runner *h, rung_rng *rng)
{
    memset(sum, 0, sums->dims * sizeof *sum);
    for (size_t j = 0; j < sums->places; j++) {
        size_t choice = (size_t)rung_rng_below(rng, additive_choices(sums, j));
        token[j] = sums->token[sums->first[j] + choice];
        for (size_t i = 0; i < sums->dims; i++) sum[i] += additive_row(sums, j, choice)[i];
    }
    CHECK(rung_runner_prefix(h, token, sums->places, &check_err));
    assert_int_equal(h->state_bits, sums->bits);
    rung_num_unpack(x, &h->attacked->numbers, h->state, sums->bits / (size_t)h->attacked->numbers.bits);
}

/* The coordinates of the state that ever change are those of the table, in order. */
static void assert_table_is_the_state(prey p)
{
    caught c;
    runner h;
    additive sums;
    rung_rng rng;
    catch_prey(&c, p);
    rung_budget budget = budget_of(10);
    CHECK(rung_runner_init(&h, &c.attacked, &check_err));
    uint32_t *base = calloc(c.task.tokens, sizeof *base);
    CHECK(rung_additive_of_state(&sums, base, &h, &budget, &check_err));
    assert_true(sums.fullness <= 1);
    size_t all = sums.bits / (size_t)c.attacked.numbers.bits, live = 0;
    double *x = calloc(TRIALS * all, sizeof *x);
    int64_t *sum = calloc(TRIALS * sums.dims, sizeof *sum);
    rung_rng_init(&rng, 5, 0, 0);
    for (size_t t = 0; t < TRIALS; t++) draw_sum(sum + t * sums.dims, x + t * all, base, &sums, &h, &rng);
    for (size_t i = 0; i < all; i++) {
        bool changes = false;
        for (size_t t = 1; t < TRIALS; t++) changes |= x[t * all + i] != x[i];
        for (size_t t = 0; t < TRIALS && changes; t++)
            assert_true(x[t * all + i] == (double)sum[t * sums.dims + live] * c.attacked.numbers.spacing);
        live += changes;
    }
    assert_int_equal(live, sums.dims);
    free(x);
    free(sum);
    free(base);
    rung_additive_clear(&sums);
    rung_runner_clear(&h);
    release(&c);
}

static void a_state_is_the_sum_of_its_table(void **state)
{
    (void)state;
    assert_table_is_the_state((prey){"linear", "q9.6", "eva N=20 V=6", 3, 2, false, 1});
    assert_table_is_the_state((prey){"linear:phi=taylor2", "q9.9", "eva N=12 V=4", 2, 3, false, 2});
    assert_table_is_the_state((prey){"linear:phi=identity:norm=0@2", "q9.6", "index N=16 V=5", 2, 2, false, 3});
    assert_table_is_the_state((prey){"linear@1|linear:phi=relu:norm=0@2", "q9.8", "eva N=9 V=3", 2, 2, false, 4});
    assert_table_is_the_state((prey){"loglinear:levels=6", "q9.6", "eva N=16 V=5", 2, 2, false, 5}); /* one matrix */
    assert_table_is_the_state((prey){"loglinear:levels=6", "q9.6", "eva N=23 V=5", 2, 2, false, 6}); /* cut to 16 */
    assert_table_is_the_state((prey){"linear", "q9.6", "seqcomp L=2 N0=3 n=2", 2, 2, false, 7});
}

static void other_states_are_refused(void **state)
{
    static const prey others[] = {{"linear", "e8m7", "eva N=16 V=4", 2, 2, false, 1},
                                  {"2*linear", "q8.6", "eva N=16 V=4", 2, 2, false, 1},
                                  {"retnet", "q8.6", "eva N=16 V=4", 2, 2, false, 1},
                                  {"linear:conv=2", "q8.6", "eva N=16 V=4", 2, 2, false, 1},
                                  {"loglinear:base=mamba2", "q8.6", "eva N=16 V=4", 2, 2, false, 1}};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(others); i++) {
        caught c;
        char why[200] = "";
        catch_prey(&c, others[i]);
        assert_false(rung_additive_suits(&c.attacked, why, sizeof why));
        assert_true(strlen(why) > 10);
        release(&c);
    }
}

/* ---- solvers -------------------------------------------------------------------------------------------------------------- */

static additive random_table(size_t places, size_t choices, size_t dims, int64_t span, uint64_t seed)
{
    additive sums;
    rung_rng rng;
    size_t count[512] = {0};
    for (size_t j = 0; j < places; j++) count[j] = choices;
    CHECK(rung_additive_init(&sums, places, count, dims, &check_err));
    rung_rng_init(&rng, seed, 1, 0);
    for (size_t r = 0; r < places * choices; r++) {
        sums.token[r] = (uint32_t)(r % choices);
        for (size_t i = 0; i < dims; i++)
            sums.row[r * dims + i] = (int64_t)rung_rng_below(&rng, (uint64_t)(2 * span + 1)) - span;
    }
    rung_additive_seal(&sums, 1e9);
    return sums;
}

/* Not rung_additive_holds: sums from scratch. */
static void assert_relation(const additive *sums, const uint32_t *f, const uint32_t *g)
{
    size_t differing = 0;
    for (size_t i = 0; i < sums->dims; i++) {
        int64_t x = 0, y = 0;
        for (size_t j = 0; j < sums->places; j++) {
            assert_true(f[j] < additive_choices(sums, j) && g[j] < additive_choices(sums, j));
            x += sums->row[(sums->first[j] + f[j]) * sums->dims + i];
            y += sums->row[(sums->first[j] + g[j]) * sums->dims + i];
        }
        assert_true(x == y);
    }
    for (size_t j = 0; j < sums->places; j++) differing += f[j] != g[j];
    assert_true(differing > 0);
}

static bool brute_force_collides(const additive *sums, size_t all)
{
    int64_t *sum = calloc(all * sums->dims, sizeof *sum);
    bool found = false;
    for (size_t n = 0; n < all; n++)
        for (size_t j = 0, rest = n; j < sums->places; rest /= additive_choices(sums, j++))
            for (size_t i = 0; i < sums->dims; i++)
                sum[n * sums->dims + i] += additive_row(sums, j, rest % additive_choices(sums, j))[i];
    for (size_t n = 0; n < all && !found; n++)
        for (size_t m = 0; m < n && !found; m++)
            found = memcmp(sum + n * sums->dims, sum + m * sums->dims, sums->dims * sizeof *sum) == 0;
    free(sum);
    return found;
}

static void the_middle_finds_exactly_what_all_choices_have(void **state)
{
    size_t yes = 0, no = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        additive sums = random_table(4 + seed % 3, 2 + seed % 2, 2, 2 + (int64_t)(seed % 17), seed);
        size_t all = 1;
        for (size_t j = 0; j < sums.places; j++) all *= additive_choices(&sums, j);
        uint32_t f[8], g[8];
        additive_note note;
        rung_budget budget = budget_of(5);
        bool found = rung_additive_middle(f, g, &note, &sums, &budget, seed, rung_wall_s());
        assert_int_equal(found, brute_force_collides(&sums, all));
        if (found) assert_relation(&sums, f, g);
        *(found ? &yes : &no) += 1;
        rung_additive_clear(&sums);
    }
    assert_true(yes > 20 && no > 20);
}

static void solvers_find_relations_that_hold(void **state)
{
    static const struct {
        additive_solver *solve;
        size_t places, choices, dims;
        int64_t span;
    } cases[] = {
        {rung_additive_relation, 48, 4, 3, 50},  {rung_additive_relation, 64, 3, 4, 30},
        {rung_additive_middle, 32, 8, 3, 500},   {rung_additive_wagner, 64, 8, 5, 200},
        {rung_additive_wagner, 128, 16, 8, 100}, {rung_additive_wagner, 300, 2, 4, 40},
        {rung_additive_wagner, 256, 16, 10, 60},
    };
    (void)state;
    for (size_t n = 0; n < RUNG_COUNT(cases); n++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            additive sums = random_table(cases[n].places, cases[n].choices, cases[n].dims, cases[n].span, seed);
            uint32_t f[512], g[512];
            additive_note note;
            rung_budget budget = budget_of(120);
            if (!cases[n].solve(f, g, &note, &sums, &budget, seed, rung_wall_s()))
                fail_msg("case %zu seed %llu: %s", n, (unsigned long long)seed, note.text);
            assert_relation(&sums, f, g);
            rung_additive_clear(&sums);
        }
}

/* T[j][v] = t_j + v c_j: coefficients up to V-1 are of use, which pairs of tokens are not enough for. */
static void values_that_enter_linearly_fall_to_larger_coefficients(void **state)
{
    additive sums = random_table(48, 40, 6, 1000, 9);
    uint32_t f[64], g[64], large = 0;
    additive_note note;
    rung_budget budget = budget_of(120);
    (void)state;
    for (size_t j = 0; j < sums.places; j++)
        for (size_t c = 2; c < 40; c++)
            for (size_t i = 0; i < sums.dims; i++) {
                int64_t *row = sums.row + (sums.first[j] + c) * sums.dims;
                row[i] = additive_row(&sums, j, 0)[i] +
                         (int64_t)c * (additive_row(&sums, j, 1)[i] - additive_row(&sums, j, 0)[i]);
            }
    if (!rung_additive_relation(f, g, &note, &sums, &budget, 3, rung_wall_s())) fail_msg("%s", note.text);
    assert_relation(&sums, f, g);
    for (size_t j = 0; j < sums.places; j++) large += f[j] > 1 || g[j] > 1;
    assert_true(large > 0);
    assert_non_null(strstr(note.text, "multiples"));
    rung_additive_clear(&sums);
}

static void the_tree_does_not_depend_on_threads_or_on_what_is_remembered(void **state)
{
    additive sums = random_table(128, 8, 6, 80, 4);
    uint32_t f[4][128], g[4][128];
    (void)state;
    for (size_t run = 0; run < 4; run++) {
        wagner_tree t;
        size_t reached[2];
        rung_budget budget = budget_of(120);
        budget.threads = 1 + run % 3;
        CHECK(rung_wagner_init(&t, &sums, 4, 3000, 3, 11, &check_err));
        t.budget = &budget;
        t.began = rung_wall_s();
        t.keep = 1 + run; /* the last one computes nearly everything twice */
        assert_true(rung_wagner_grow(f[run], g[run], reached, &t));
        rung_wagner_clear(&t);
        assert_relation(&sums, f[run], g[run]);
        assert_memory_equal(f[run], f[0], sizeof f[0]);
        assert_memory_equal(g[run], g[0], sizeof g[0]);
    }
    rung_additive_clear(&sums);
}

static bool at_once(void)
{
    return true;
}

static void an_interrupt_ends_every_solver(void **state)
{
    additive_solver *const solvers[] = {rung_additive_relation, rung_additive_middle, rung_additive_wagner};
    additive sums = random_table(256, 16, 24, 100000, 4);
    uint32_t f[256], g[256];
    additive_note note;
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(solvers); i++) {
        rung_budget budget = budget_of(1000);
        budget.interrupted = at_once;
        double began = rung_wall_s();
        assert_false(solvers[i](f, g, &note, &sums, &budget, 1, began));
        assert_true(rung_wall_s() - began < 20);
    }
    rung_additive_clear(&sums);
}

static void little_memory_means_a_smaller_tree_or_none(void **state)
{
    additive sums = random_table(128, 16, 8, 100, 4);
    uint32_t f[128], g[128];
    additive_note note;
    rung_budget budget = budget_of(20);
    (void)state;
    budget.memory = 4096;
    assert_false(rung_additive_wagner(f, g, &note, &sums, &budget, 1, rung_wall_s()));
    assert_non_null(strstr(note.text, "fits"));
    budget.memory = (size_t)32 << 20;
    assert_true(rung_additive_wagner(f, g, &note, &sums, &budget, 1, rung_wall_s()));
    rung_additive_clear(&sums);
}

/* ---- the rows -------------------------------------------------------------------------------------------------------------- */

static void the_examples_of_the_rows_hold(void **state)
{
    char report[400];
    (void)state;
    assert_true(prey_breaks("relation", (prey){"linear", "q9.8", "two-sum N=256 M=256", 3, 4, true, 1}, 120, report));
    assert_non_null(strstr(report, "counts"));
    assert_false(prey_breaks("relation", (prey){"linear", "q9.8", "eva N=64 V=16", 3, 4, false, 1}, 3, report));
    assert_true(prey_breaks("wagner", (prey){"linear", "q11.4", "eva N=256 V=16", 3, 3, false, 1}, 120, report));
    assert_non_null(strstr(report, "no sum can saturate"));
    assert_false(prey_breaks("wagner", (prey){"linear", "q7.20", "eva N=16 V=16", 8, 8, false, 1}, 3, report));
    assert_true(prey_breaks("middle", (prey){"linear", "q6.4", "eva N=16 V=8", 1, 2, false, 1}, 120, report));
    assert_false(prey_breaks("middle", (prey){"linear", "q4.20", "eva N=4 V=4", 2, 3, false, 1}, 10, report));
    assert_non_null(strstr(report, "all 256 tables have different sums"));
}

static void positions_that_do_not_count_are_exchanged(void **state)
{
    char report[400];
    (void)state;
    assert_true(prey_breaks("relation", (prey){"linear", "q9.8", "eva N=64 V=16", 3, 4, true, 1}, 120, report));
    assert_non_null(strstr(report, "exchanged"));
}

static void log_linear_attention_falls_where_it_is_one_matrix(void **state)
{
    char report[400];
    (void)state;
    assert_true(
        prey_breaks("wagner", (prey){"loglinear:levels=9", "q8.5", "eva N=128 V=16", 2, 2, false, 1}, 120, report));
    assert_non_null(strstr(report, "over 128 places"));
}

/* Where sums can saturate only what the model confirms counts; breaks_with looks at the states a second time. */
static void saturation_is_no_obstacle_to_the_truth(void **state)
{
    char report[400];
    size_t found = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        found += prey_breaks("wagner", (prey){"linear", "q5.5", "eva N=64 V=8", 2, 2, false, seed}, 120, report);
    assert_non_null(strstr(report, "might saturate"));
    assert_true(found > 0);
}

static void keys_of_pairs_are_not_repeated(void **state)
{
    (void)state;
    assert_true(prey_breaks("middle", (prey){"linear", "q6.3", "eva N=12 V=8 form=pair", 1, 1, false, 1}, 120, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_the_sum_of_its_table),
        cmocka_unit_test(other_states_are_refused),
        cmocka_unit_test(the_middle_finds_exactly_what_all_choices_have),
        cmocka_unit_test(solvers_find_relations_that_hold),
        cmocka_unit_test(values_that_enter_linearly_fall_to_larger_coefficients),
        cmocka_unit_test(the_tree_does_not_depend_on_threads_or_on_what_is_remembered),
        cmocka_unit_test(an_interrupt_ends_every_solver),
        cmocka_unit_test(little_memory_means_a_smaller_tree_or_none),
        cmocka_unit_test(the_examples_of_the_rows_hold),
        cmocka_unit_test(positions_that_do_not_count_are_exchanged),
        cmocka_unit_test(log_linear_attention_falls_where_it_is_one_matrix),
        cmocka_unit_test(saturation_is_no_obstacle_to_the_truth),
        cmocka_unit_test(keys_of_pairs_are_not_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
