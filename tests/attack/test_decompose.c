/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The decomposition: what it keeps is indistinguishable when every prompt of its sets is run again, its certificates hold, and models
 * that compose are spared.
 */
#include "attacked_test.h"

#include "rung/build.h"

#include "../../src/attack/decompose.h"

/* Digests of messages are functions of what the sender and the players before it hold, and of the tokens that ask. */
static void messages_depend_on_what_may_be_known(void **state)
{
    caught c;
    recording r;
    char why[200];
    bool complete;
    size_t equal = 0, different = 0;
    (void)state;
    catch_prey(&c, (prey){"2*full", "e5m1", "seqcomp L=2 N0=2 n=1 V=2", 1, 1, false, 1});
    assert_true(rung_recording_init(&r, &c.attacked, why, sizeof why));
    assert_int_equal(r.prompts, 4 * 4 * 2);
    rung_budget budget = budget_of(60);
    r.budget = &budget;
    r.began = rung_wall_s();
    CHECK(rung_recording_play(&r, &complete, &check_err));
    assert_true(complete && r.stopped == 0);
    for (uint64_t a = 0; a < r.prompts; a++) {
        for (uint64_t b = 0; b < r.prompts; b++) {
            bool same_z2 = a / r.weight[3] == b / r.weight[3];
            /* the first layer of z_0: its query is z_0 alone, and z_2 has seen nothing else */
            bool same_z0 = a / r.weight[1] % r.inputs[1] == b / r.weight[1] % r.inputs[1];
            bool same = rung_recording_digest(&r, a, 0, 3, 1) == rung_recording_digest(&r, b, 0, 3, 1);
            if (same_z2 && same_z0) assert_true(same);
            equal += same, different += !same;
        }
    }
    assert_true(equal > 0 && different > 0);
    rung_recording_clear(&r);
    release(&c);
}

/* Numbers of prompts are the inputs of the players, w first; all prompts differ and are prompts of the task. */
static void numbers_are_prompts(void **state)
{
    caught c;
    recording r;
    char why[200];
    uint32_t token[16], other[16];
    (void)state;
    catch_prey(&c, (prey){"3*full", "e5m1", "seqcomp L=3 N0=2 n=1,2 flat=1", 1, 1, false, 1});
    assert_true(rung_recording_init(&r, &c.attacked, why, sizeof why));
    assert_int_equal(r.prompts, 16 * 4 * 4 * 2 * 2);
    for (uint64_t i = 0; i < r.prompts; i += 13) {
        uint64_t z[5];
        for (size_t k = 0; k < 5; k++) z[k] = i / r.weight[k] % r.inputs[k];
        uint64_t i1 = rung_recording_value(&r, 2, z[2], (size_t)z[1]);
        uint64_t i2 = rung_recording_value(&r, 3, z[3], (size_t)i1);
        rung_recording_prompt(token, &r, i);
        assert_int_equal(oracle_of(&c, token), rung_recording_value(&r, 4, z[4], (size_t)(z[0] * 2 + i2)));
        if (i) assert_memory_not_equal(token, other, r.tokens * sizeof *token);
        memcpy(other, token, sizeof other);
    }
    release(&c);
}

/* prey_breaks looks at the certificate a second time and asks rung-check. */
static void two_full_layers_collide(void **state)
{
    char report[400];
    size_t found = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 8 && !found; seed++)
        found += prey_breaks("decompose", (prey){"2*full", "q2.2", "seqcomp L=2 N0=2 n=4 V=2", 1, 1, false, seed}, 60,
                             report);
    assert_true(found > 0);
    assert_non_null(strstr(report, "Z_1"));
}

static void one_full_layer_collides(void **state)
{
    char report[400];
    (void)state;
    size_t found = 0;
    for (uint64_t seed = 1; seed <= 8 && !found; seed++)
        found += prey_breaks("decompose", (prey){"full,linear", "q2.2", "seqcomp L=2 N0=2 n=4 V=2", 1, 1, false, seed},
                             60, report);
    assert_true(found > 0);
}

static void three_functions_collide(void **state)
{
    char report[400];
    size_t found = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 6 && !found; seed++)
        found += prey_breaks("decompose", (prey){"2*full", "e4m1", "seqcomp L=3 N0=2 n=1,2 flat=1", 1, 1, false, seed},
                             60, report);
    assert_true(found > 0);
    assert_non_null(strstr(report, "Z_2"));
}

/* Weights that compose: nothing collides, and R shrinks to one table. */
static void what_composes_is_spared(void **state)
{
    static const char *const words[] = {"L=2", "N0=2", "n=2", "linear=after"};
    rung_build b;
    caught c = {.path = ""};
    rung_break result = {0};
    (void)state;
    CHECK(rung_build_init(&b, "seqcomp", words, RUNG_COUNT(words), &check_err));
    snprintf(c.path, sizeof c.path, "/tmp/rung-test-decompose-%ld.safetensors", (long)getpid());
    CHECK(rung_build_write(&b, c.path, &check_err));
    c.task = b.task;
    catch_model(&c, "e8m1");
    rung_budget budget = budget_of(60);
    CHECK(rung_attack_get("decompose")->run(&result, &c.attacked, &budget, &check_err));
    assert_false(result.found);
    assert_non_null(strstr(result.report, "1 (z_1 and states)"));
    rung_break_clear(&result);
    release(&c);
}

static void what_does_not_apply(void **state)
{
    static const struct {
        const char *arch, *task, *why;
    } cases[] = {
        {"3*full", "seqcomp L=2 N0=2 n=2", "3 full layers"},
        {"2*linear", "seqcomp L=2 N0=2 n=2", "0 full layers"},
        {"sparse:B=2:k=1,full", "seqcomp L=2 N0=2 n=2", "neither full nor recurrent"},
        {"full", "seqcomp L=2 N0=4 n=4", "more than 65536 prompts"},
        {"full", "eva N=4 V=2", "not seqcomp"},
        {"full", "seqcomp L=2 N0=2 n=2 form=pair", "form=position"},
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        caught c;
        char why[200] = "";
        rung_budget budget = budget_of(5);
        catch_prey(&c, (prey){cases[i].arch, "e5m3", cases[i].task, 1, 1, false, 1});
        assert_true(rung_attack_get("decompose")->expect(&c.attacked, &budget, why, sizeof why) < 0);
        if (!strstr(why, cases[i].why)) fail_msg("'%s' lacks '%s'", why, cases[i].why);
        release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_depend_on_what_may_be_known),
        cmocka_unit_test(numbers_are_prompts),
        cmocka_unit_test(two_full_layers_collide),
        cmocka_unit_test(one_full_layer_collides),
        cmocka_unit_test(three_functions_collide),
        cmocka_unit_test(what_composes_is_spared),
        cmocka_unit_test(what_does_not_apply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
