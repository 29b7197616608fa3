/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Runners: continuations that separate, claims that are false and refused, shrinking, and budgets that are kept.
 */
#include "attacked_test.h"

#include "../../src/attack/attempts.h"
#include "../../src/attack/certify.h"

/* ---- continuations ---------------------------------------------------------------------------------------------------- */

typedef struct trap {
    caught c;
    runner h;
    uint32_t *a, *b;
    rung_rng rng;
} trap;

static void trap_open(trap *t, const char *arch, const char *numbers, const char *task)
{
    catch_prey(&t->c, (prey){.arch = arch, .numbers = numbers, .task = task, .dk = 2, .dv = 2});
    CHECK(rung_runner_init(&t->h, &t->c.attacked, &check_err));
    t->a = calloc(t->h.tokens, sizeof *t->a);
    t->b = calloc(t->h.tokens, sizeof *t->b);
    rung_rng_init(&t->rng, 7, 7, 7);
}

static void trap_close(trap *t)
{
    free(t->a);
    free(t->b);
    rung_runner_clear(&t->h);
    release(&t->c);
}

/* Two random prefixes that differ in one place where the task can tell; the tails are whatever the generator gave. */
static void separates_in(const char *task, size_t prefix_from_end)
{
    trap t;
    size_t separated = 0, tried = 0;
    trap_open(&t, "linear", "e8m4", task);
    size_t prefix = t.h.tokens - prefix_from_end;
    for (uint64_t i = 0; i < 20; i++) {
        size_t pos = (size_t)rung_rng_below(&t.rng, prefix);
        rung_ids ids = t.c.task.task->ids(&t.c.task, pos);
        if (ids.count < 2 || !rung_runner_draw(&t.h, t.a, 5, i)) continue;
        memcpy(t.b, t.a, t.h.tokens * sizeof *t.a);
        t.b[pos] = (uint32_t)(ids.first + (t.a[pos] - ids.first + 1) % ids.count);
        uint32_t *kept_a = malloc(t.h.tokens * sizeof *kept_a), *kept_b = malloc(t.h.tokens * sizeof *kept_b);
        memcpy(kept_a, t.a, t.h.tokens * sizeof *kept_a);
        memcpy(kept_b, t.b, t.h.tokens * sizeof *kept_b);
        tried++;
        if (rung_runner_separate(&t.h, t.a, t.b, prefix, &t.rng)) {
            separated++;
            assert_int_not_equal(oracle_of(&t.c, t.a), oracle_of(&t.c, t.b));
            assert_memory_equal(t.a + prefix, t.b + prefix, prefix_from_end * sizeof *t.a);
        }
        assert_memory_equal(t.a, kept_a, prefix * sizeof *t.a);
        assert_memory_equal(t.b, kept_b, prefix * sizeof *t.a);
        free(kept_a);
        free(kept_b);
    }
    assert_true(tried >= 5);
    /* where keys must differ, two prompts with other keys have no query in common */
    if (separated < tried / 3) fail_msg("%s: %zu of %zu pairs were separated", task, separated, tried);
    trap_close(&t);
}

static void continuations_are_found_in_every_certifiable_task(void **state)
{
    (void)state;
    separates_in("eva N=40 V=5", 1);
    separates_in("eva N=40 V=5 form=pair", 1);
    separates_in("eva N=40 V=5", 13);
    separates_in("index N=70", 1);
    separates_in("two-sum N=12 M=300", 1);
    separates_in("two-sum N=12 M=300", 3);
    separates_in("assoc-recall N=9", 1);
    separates_in("seqcomp L=2 N0=3 n=3", 2);
    separates_in("parity N=12", 1);
}

/* More queries than are tried one by one: only the guess finds the one that asks for the difference. */
static void the_one_query_among_many_is_guessed(void **state)
{
    (void)state;
    trap t;
    trap_open(&t, "linear", "e8m4", "eva N=20000 V=3");
    assert_true(rung_runner_draw(&t.h, t.a, 1, 1));
    memcpy(t.b, t.a, t.h.tokens * sizeof *t.a);
    t.b[15000] = (t.a[15000] + 1) % 3;
    assert_true(rung_runner_separate(&t.h, t.a, t.b, t.h.tokens - 1, &t.rng));
    assert_int_equal(t.a[t.h.tokens - 1] - 3, 15000);
    trap_close(&t);
}

static void equal_prefixes_are_never_separated(void **state)
{
    (void)state;
    trap t;
    trap_open(&t, "linear", "e8m4", "eva N=6 V=3");
    assert_true(rung_runner_draw(&t.h, t.a, 1, 1));
    memcpy(t.b, t.a, t.h.tokens * sizeof *t.a);
    assert_false(rung_runner_separate(&t.h, t.a, t.b, 6, &t.rng));
    assert_false(rung_runner_separate(&t.h, t.a, t.b, t.h.tokens, &t.rng));
    trap_close(&t);
}

/* ---- claims ------------------------------------------------------------------------------------------------------------ */

static void false_claims_give_no_certificate(void **state)
{
    (void)state;
    trap t;
    rung_cert cert = {0};
    bool holds = true;
    trap_open(&t, "linear", "f32", "eva N=6 V=3");
    assert_true(rung_runner_draw(&t.h, t.a, 1, 1));
    memcpy(t.b, t.a, t.h.tokens * sizeof *t.a);
    /* the same prompt twice has one state and one answer */
    CHECK(rung_certify_state_collision(&t.h, &cert, &holds, t.a, t.b, 6, &check_err));
    assert_false(holds);
    /* other states */
    t.b[2] = (t.a[2] + 1) % 3;
    t.a[6] = t.b[6] = 3 + 2;
    holds = true;
    CHECK(rung_certify_state_collision(&t.h, &cert, &holds, t.a, t.b, 6, &check_err));
    assert_false(holds);
    holds = true;
    CHECK(rung_certify_view_collision(&t.h, &cert, &holds, t.a, t.b, &check_err));
    assert_false(holds);
    /* no sparse layer */
    holds = true;
    CHECK(rung_certify_block_collision(&t.h, &cert, &holds, t.a, t.b, 0, 0, &check_err));
    assert_false(holds);
    /* no prompt */
    t.a[0] = 5;
    holds = true;
    CHECK(rung_certify_wrong_answer(&t.h, &cert, &holds, t.a, &check_err));
    assert_false(holds);
    assert_null(cert.prompt[0]);
    trap_close(&t);
}

static void a_right_answer_is_no_wrong_answer(void **state)
{
    (void)state;
    trap t;
    size_t right = 0, wrong = 0;
    trap_open(&t, "full", "e8m7", "eva N=4 V=2");
    for (uint64_t i = 0; i < 40; i++) {
        rung_cert cert = {0};
        bool holds;
        int32_t given, want;
        assert_true(rung_runner_draw(&t.h, t.a, 1, i));
        CHECK(rung_runner_answer(&t.h, &given, &want, t.a, &check_err));
        CHECK(rung_certify_wrong_answer(&t.h, &cert, &holds, t.a, &check_err));
        assert_int_equal(holds, given != want);
        if (holds) confirm(&t.c, &cert);
        right += !holds, wrong += holds;
        rung_cert_clear(&cert);
    }
    assert_true(right > 0 && wrong > 0);
    trap_close(&t);
}

/* ---- shrinking --------------------------------------------------------------------------------------------------------- */

/* A window forgets: everything before it may differ, and one difference is enough. */
static void shrinking_leaves_one_difference_and_a_true_claim(void **state)
{
    (void)state;
    trap t;
    rung_cert cert = {0};
    bool holds;
    trap_open(&t, "window:W=3", "e8m4", "eva N=30 V=6");
    assert_true(rung_runner_draw(&t.h, t.a, 1, 1));
    memcpy(t.b, t.a, t.h.tokens * sizeof *t.a);
    for (size_t i = 0; i < 20; i++) t.b[i] = (t.a[i] + 1) % 6;
    t.a[30] = t.b[30] = 6 + 11;
    CHECK(rung_certify_state_collision(&t.h, &cert, &holds, t.a, t.b, 29, &check_err));
    assert_true(holds);
    const rung_budget budget = budget_of(10);
    CHECK(rung_runner_shrink(&t.h, &cert, &budget, rung_wall_s(), &check_err));
    size_t different = 0, plain = 0;
    for (size_t i = 0; i < cert.tokens; i++) {
        different += cert.prompt[0][i] != cert.prompt[1][i];
        plain += cert.prompt[0][i] == 0;
    }
    assert_int_equal(different, 1);
    assert_true(plain >= 28); /* all but the difference and the query */
    confirm(&t.c, &cert);
    rung_cert_clear(&cert);
    trap_close(&t);
}

/* ---- the whole --------------------------------------------------------------------------------------------------------- */

static void every_row_reports_and_the_cheapest_that_succeeds_wins(void **state)
{
    (void)state;
    caught c;
    rung_break result, tried[32];
    size_t count;
    catch_prey(&c, (prey){.arch = "mamba2", .numbers = "e8m4", .task = "eva N=60 V=8", .dk = 4, .dv = 4});
    rung_budget budget = budget_of(20);
    CHECK(rung_attack_run(&result, tried, 32, &count, &c.attacked, NULL, &budget, &check_err));
    assert_int_equal(count, rung_attack_count());
    assert_true(result.found && result.certifiable);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(tried[i].attack, rung_attack_at(i)->name);
        assert_true(strlen(tried[i].report) > 0);
    }
    confirm(&c, &result.cert);
    rung_break_clear(&result);
    budget.kinds = 1u << RUNG_CERT_WRONG_ANSWER;
    CHECK(rung_attack_run(&result, tried, 32, &count, &c.attacked, NULL, &budget, &check_err));
    assert_true(result.found);
    assert_int_equal(result.cert.kind, RUNG_CERT_WRONG_ANSWER);
    rung_break_clear(&result);
    assert_int_equal(rung_attack_run(&result, tried, 32, &count, &c.attacked, "swalow", &budget, &check_err),
                     RUNG_USAGE);
    assert_non_null(strstr(check_err.text, "swallow"));
    release(&c);
}

static bool interrupted_at_once(void)
{
    return true;
}

static void time_memory_and_interrupts_are_kept(void **state)
{
    (void)state;
    caught c;
    rung_break result, tried[32];
    size_t count;
    catch_prey(&c, (prey){.arch = "2*linear", .numbers = "f32", .task = "eva N=300 V=8", .dk = 8, .dv = 8});
    rung_budget budget = budget_of(1);
    double began = rung_wall_s();
    CHECK(rung_attack_run(&result, tried, 32, &count, &c.attacked, "swallow", &budget, &check_err));
    assert_false(result.found);
    assert_true(rung_wall_s() - began < 5);
    budget.memory = 4096;
    CHECK(rung_attack_run(&result, tried, 32, &count, &c.attacked, "swallow", &budget, &check_err));
    assert_non_null(strstr(tried[0].report, "not tried"));
    budget.memory = (size_t)512 << 20;
    budget.interrupted = interrupted_at_once;
    CHECK(rung_attack_run(&result, tried, 32, &count, &c.attacked, NULL, &budget, &check_err));
    assert_false(result.found);
    assert_int_equal(result.evaluations, 0);
    release(&c);
}

static bool certifiable(const char *arch, const char *numbers, const char *task, const char *named)
{
    caught c;
    char why[200] = "";
    catch_prey(&c, (prey){.arch = arch, .numbers = numbers, .task = task, .dk = 2, .dv = 2});
    bool yes = rung_attack_certifiable(&c.attacked, RUNG_CERT_WRONG_ANSWER, why, sizeof why);
    if (!yes) assert_non_null(strstr(why, named));
    release(&c);
    return yes;
}

static void what_rung_check_does_not_know_is_named(void **state)
{
    (void)state;
    assert_true(certifiable("full,window,linear,retnet,gla,delta,gdelta,kda,mamba2,loglinear,sparse", "e8m25",
                            "eva N=4", NULL));
    assert_true(certifiable("linear", "q30.20", "seqcomp L=2 N0=2 n=2", NULL));
    assert_false(certifiable("linear,mamba", "e8m4", "eva N=4", "mamba (layer 1)"));
    assert_false(certifiable("sparse:comp=mlp", "e8m4", "eva N=4", "compression"));
    assert_false(certifiable("linear", "f64", "eva N=4", "25"));
    assert_false(certifiable("linear", "e8m4", "parity", "parity"));
    assert_false(certifiable("linear", "e8m4", "two-sum form=global", "query"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(continuations_are_found_in_every_certifiable_task),
        cmocka_unit_test(the_one_query_among_many_is_guessed),
        cmocka_unit_test(equal_prefixes_are_never_separated),
        cmocka_unit_test(false_claims_give_no_certificate),
        cmocka_unit_test(a_right_answer_is_no_wrong_answer),
        cmocka_unit_test(shrinking_leaves_one_difference_and_a_true_claim),
        cmocka_unit_test(every_row_reports_and_the_cheapest_that_succeeds_wins),
        cmocka_unit_test(time_memory_and_interrupts_are_kept),
        cmocka_unit_test(what_rung_check_does_not_know_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
