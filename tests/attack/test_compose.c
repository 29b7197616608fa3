/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Composition: the classes by transcript against the views of all prompts, and the examples of the row; and tokens that softmax does
 * not see.
 */
#include "attacked_test.h"

#include "../../src/attack/compose_attack.h"
#include "rung/build.h"

/* The views of all (z_0, w) of one table, one after the other. */
static void views_of(double *out, const composition *c, rung_session *session, uint64_t number, uint32_t *token)
{
    size_t width = rung_model_get_spec(c->attacked->model)->d_model;
    double *answer = calloc(c->values, sizeof *answer);
    for (size_t z0 = 0; z0 < c->n0; z0++)
        for (size_t w = 0; w < c->w_count; w++) {
            rung_composition_prompt(token, c, number, true, z0, w);
            run_prefix(session, token, c->tokens, answer);
            rung_session_view(session, out + (z0 * c->w_count + w) * width);
        }
    free(answer);
}

/* Equal transcripts have equal views, so there are no more classes of views than of transcripts, and none is smaller. */
static void classes_by_transcript_refine_classes_by_view(void **state)
{
    static const char *const archs[] = {"full", "full,linear", "linear,full", "linear,full,retnet"};
    size_t together = 0;
    (void)state;
    for (size_t n = 0; n < RUNG_COUNT(archs); n++) {
        caught c;
        composition comp;
        partition classes;
        char why[200];
        catch_prey(&c, (prey){archs[n], "e5m1", "seqcomp L=2 N0=2 n=2 V=3", 1, 1, false, 7});
        rung_budget budget = budget_of(60);
        assert_true(rung_composition_init(&comp, &c.attacked, why, sizeof why));
        comp.budget = &budget;
        comp.began = rung_wall_s();
        uint64_t tables = rung_composition_tables(&comp);
        assert_int_equal(tables, 81);
        CHECK(rung_composition_partition(&classes, &comp, tables, true, &check_err));
        assert_true(classes.complete);
        rung_session *session = NULL;
        CHECK(rung_session_new(&session, c.program, comp.tokens, &check_err));
        size_t size = 4 * rung_model_get_spec(c.model)->d_model, distinct = 0, largest = 0;
        double *views = calloc(tables * size, sizeof *views);
        uint32_t *token = calloc(comp.tokens, sizeof *token);
        for (uint64_t t = 0; t < tables; t++) views_of(views + t * size, &comp, session, t, token);
        for (uint64_t t = 0; t < tables; t++) {
            size_t same = 0, before = 0;
            for (uint64_t u = 0; u < tables; u++) {
                bool equal = memcmp(views + t * size, views + u * size, size * sizeof *views) == 0;
                same += equal;
                before += equal && u < t;
            }
            distinct += before == 0;
            if (same > largest) largest = same;
        }
        assert_true(distinct <= classes.classes && classes.classes <= tables);
        assert_true(classes.largest <= largest && classes.largest >= 1);
        assert_memory_equal(views + classes.twin[0] * size, views + classes.twin[1] * size, size * sizeof *views);
        together += classes.largest > 1;
        free(views);
        free(token);
        rung_session_free(session);
        release(&c);
    }
    assert_true(together > 0);
}

/* Every table once, and every entry is asked for by one (z_0, w). */
static void the_identity_asks_for_every_entry(void **state)
{
    caught c;
    composition comp;
    char why[200];
    uint32_t token[32], other[32];
    (void)state;
    catch_prey(&c, (prey){"full", "e5m3", "seqcomp L=2 N0=3 n=2", 1, 1, false, 1});
    assert_true(rung_composition_init(&comp, &c.attacked, why, sizeof why));
    for (uint64_t number = 0; number < 500; number += 7) {
        uint64_t rest = number;
        for (size_t u = 0; u < comp.entries; u++, rest /= comp.values) {
            rung_composition_prompt(token, &comp, number, true, u % comp.n0, u / comp.n0);
            assert_int_equal(oracle_of(&c, token), rest % comp.values);
        }
        rung_composition_prompt(other, &comp, number + 1, true, 0, 0);
        assert_memory_not_equal(token, other, comp.entries * sizeof *token);
    }
    release(&c);
}

static void the_examples_of_compose_hold(void **state)
{
    char report[400], why[200];
    (void)state;
    assert_true(prey_breaks("compose", (prey){"full", "e4m2", "seqcomp L=2 N0=2 n=2", 1, 1, false, 4}, 120, report));
    assert_non_null(strstr(report, "all 256 tables"));
    rung_build b;
    caught c = {.path = ""};
    const char *words[] = {"L=2", "N0=2", "n=2"};
    CHECK(rung_build_init(&b, "seqcomp", words, 3, &check_err));
    snprintf(c.path, sizeof c.path, "/tmp/rung-test-attack-built-%ld.safetensors", (long)getpid());
    CHECK(rung_build_write(&b, c.path, &check_err));
    c.task = b.task;
    catch_model(&c, "f32");
    rung_budget budget = budget_of(5);
    assert_true(rung_attack_get("compose")->expect(&c.attacked, &budget, why, sizeof why) < 0);
    assert_non_null(strstr(why, "one full layer"));
    release(&c);
}

static void a_hybrid_is_caught_with_wrong_answers(void **state)
{
    char report[400];
    (void)state;
    assert_true(
        prey_breaks("compose", (prey){"full,linear", "e8m7", "seqcomp L=2 N0=8 n=4", 2, 2, false, 1}, 120, report));
    assert_null(strstr(report, "transcripts"));
    assert_true(prey_breaks("compose", (prey){"linear,full", "e8m7", "seqcomp L=2 N0=4 n=4 form=pair", 2, 2, false, 1},
                            120, report));
}

static void the_examples_of_invisible_hold(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        assert_true(prey_breaks("invisible", (prey){"full", "e8m2", "eva N=64 V=8", 4, 4, false, seed}, 120, NULL));
    assert_true(prey_breaks("invisible", (prey){"full,linear", "e8m3", "eva N=64 V=8", 4, 4, false, 1}, 120, NULL));
    assert_false(prey_breaks("invisible", (prey){"full", "f64", "eva N=8 V=4", 4, 4, false, 1}, 2, NULL));
    assert_false(prey_breaks("invisible", (prey){"linear", "e8m2", "eva N=8 V=4", 4, 4, false, 1}, 2, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_by_transcript_refine_classes_by_view),
        cmocka_unit_test(the_identity_asks_for_every_entry),
        cmocka_unit_test(the_examples_of_compose_hold),
        cmocka_unit_test(a_hybrid_is_caught_with_wrong_answers),
        cmocka_unit_test(the_examples_of_invisible_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
