/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The game: its protocols are right on every prompt of small tasks, and the referee notices messages that are too long, senders
 * that know what they must not know, and wrong answers.
 */
#include "testing.h"

#include "rung/game.h"

static rung_game game_of(const char *task, const char *protocol, int64_t bits)
{
    rung_task_conf conf;
    const rung_game_protocol *p;
    rung_game game;
    CHECK(rung_task_conf_parse(&conf, task, &check_err));
    CHECK(rung_game_protocol_get(&p, protocol, &check_err));
    rung_game_options options = {.task = &conf, .heads = 1, .head_dim = 1, .bits = bits};
    p->rounds(&options.linear_rounds, (size_t)rung_task_param(&conf, "L"));
    CHECK(rung_game_init(&game, &options, &check_err));
    return game;
}

static rung_game_result play(const rung_game *game, const rung_game_protocol *protocol, uint64_t samples)
{
    rung_game_result result;
    CHECK(rung_game_run(&result, game, protocol, &(rung_game_run_options){.samples = samples, .seed = 5}, &check_err));
    return result;
}

static rung_game_result play_named(const rung_game *game, const char *name, uint64_t samples)
{
    const rung_game_protocol *p;
    CHECK(rung_game_protocol_get(&p, name, &check_err));
    return play(game, p, samples);
}

/* ---- protocols ------------------------------------------------------------------------------------------------------- */

typedef struct expected {
    const char *task, *protocol;
    int64_t bits; /* the fewest with which the longest message is allowed, H = d = 1 */
    uint64_t prompts;
} expected;

static const expected all_prompts[] = {
    {"seqcomp L=2 N0=2 n=2", "relay", 1, 4096},   {"seqcomp L=3 N0=2 n=2,2 flat=1", "relay", 1, 8192},
    {"seqcomp L=2 N0=2 n=2", "pointer", 1, 4096}, {"seqcomp L=3 N0=2 n=2,2 flat=1", "pointer", 1, 8192},
    {"seqcomp L=2 N0=2 n=2", "bitmap", 2, 4096},  {"seqcomp L=2 N0=2 n=2", "columns", 2, 4096},
    {"seqcomp L=1 N0=3", "bitmap", 3, 81},        {"seqcomp L=1 N0=3", "relay", 1, 81},
    {"seqcomp L=1 N0=3", "pointer", 1, 81},       {"seqcomp L=2 N0=3 n=1 V=2", "columns", 1, 648},
};

static void every_prompt_is_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(all_prompts); i++) {
        const expected *e = &all_prompts[i];
        rung_game game = game_of(e->task, e->protocol, e->bits);
        rung_game_result result = play_named(&game, e->protocol, 0);
        if (!rung_game_won(&result) || result.prompts != e->prompts)
            fail_msg("%s on %s: %llu of %llu, %s", e->protocol, e->task, (unsigned long long)result.right,
                     (unsigned long long)result.prompts, result.broken);
        assert_true(result.every && result.repeated > 0);
        rung_game_result_clear(&result);
    }
}

/* One bit less than needed: the referee stops at the first message that is too long. */
static void too_few_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(all_prompts); i++) {
        const expected *e = &all_prompts[i];
        if (e->bits == 1) continue;
        rung_game game = game_of(e->task, e->protocol, e->bits - 1);
        rung_game_result result = play_named(&game, e->protocol, 0);
        assert_false(rung_game_won(&result));
        assert_non_null(strstr(result.broken, "are allowed"));
        rung_game_result_clear(&result);
    }
}

static void larger_sizes_by_sample(void **state)
{
    (void)state;
    static const char *const tasks[] = {"seqcomp L=4 N0=3 n=2,2,3", "seqcomp L=2 N0=20 n=7 V=1000",
                                        "seqcomp L=5 N0=2 n=1,3,1,2"};
    for (size_t i = 0; i < RUNG_COUNT(tasks); i++) {
        for (size_t k = 0; k < rung_game_protocol_count(); k++) {
            const char *name = rung_game_protocol_at(k)->name;
            if (strcmp(name, "columns") == 0 && i != 1) continue;
            rung_game game = game_of(tasks[i], name, 2000);
            rung_game_result result = play_named(&game, name, 200);
            if (!rung_game_won(&result)) fail_msg("%s on %s: %s", name, tasks[i], result.broken);
            rung_game_result_clear(&result);
        }
    }
}

/* The relay sends i_1 twice and every later value once, with exactly the bits that name it. */
static void messages_of_the_relay(void **state)
{
    (void)state;
    rung_game game = game_of("seqcomp L=3 N0=5 n=2,3", "relay", 64);
    rung_game_result r = play_named(&game, "relay", 1);
    static const rung_game_letter sent[] = {
        {1, 0, 2, 1, 3, 128}, {1, 1, 1, 0, 3, 128}, {2, 0, 3, 0, 4, 128}, {3, 0, 4, 0, 5, 128}};
    assert_int_equal(r.letters, RUNG_COUNT(sent));
    assert_memory_equal(r.letter, sent, sizeof sent);
    assert_int_equal(r.longest[0], 5);
    assert_int_equal(r.longest[1], 3);
    rung_game_result_clear(&r);
}

/* ---- cheating -------------------------------------------------------------------------------------------------------------- */

static uint64_t overheard;
static size_t overheard_index;

/* z_1 remembers z_0 from the answer to z_0 and tells w at once: one epoch, short messages, right, and not allowed. */
static void cheat_soft(rung_game_message *out, const rung_game *game, size_t epoch, size_t from, size_t to,
                       const rung_game_view *of_from, const rung_game_view *of_to)
{
    (void)epoch;
    if (from == 2 && to == 1) overheard_index = (size_t)rung_game_input(of_to, 0);
    if (from == 2 && to == 1) overheard = rung_game_input(of_from, overheard_index);
    if (from == 1 && to == 0) rung_game_send(out, overheard, rung_game_width(game->range[1]));
}

static uint64_t cheat_answer(const rung_game *game, const rung_game_view *w)
{
    return rung_game_soft(w, 1, 1, 0, rung_game_width(game->range[1]));
}

static rung_status always_fits(const rung_game *game, rung_error *err)
{
    (void)game, (void)err;
    return RUNG_OK;
}

/* The last player is asked before the others in a soft round; so the cheater needs the epoch before. */
static void one_epoch(rung_sizes *rounds, size_t functions)
{
    (void)functions;
    *rounds = (rung_sizes){.len = 2};
}

static uint64_t cheat_answer_late(const rung_game *game, const rung_game_view *w)
{
    return rung_game_soft(w, 2, 1, 0, rung_game_width(game->range[1]));
}

static void a_cheater_is_seen(void **state)
{
    (void)state;
    const rung_game_protocol cheat = {"cheat", "", one_epoch, always_fits, cheat_soft, NULL, cheat_answer_late};
    rung_game game = game_of("seqcomp L=1 N0=5", "pointer", 64);
    rung_game_result result = play(&game, &cheat, 300);
    assert_true(result.right == result.prompts); /* it works, */
    assert_true(result.leaked > 0);              /* by what z_0 was not told */
    assert_false(rung_game_won(&result));
    rung_game_result_clear(&result);
}

/* In one round nobody answers what it hears in that round. */
static void a_round_is_at_once(void **state)
{
    (void)state;
    const rung_game_protocol early = {"early", "",          one_epoch, always_fits, rung_game_protocol_at(1)->soft,
                                      NULL,    cheat_answer};
    rung_game game = game_of("seqcomp L=1 N0=5", "pointer", 64);
    game.epochs = 1;
    rung_game_result result = play(&game, &early, 300);
    assert_true(result.right < result.prompts);
    assert_false(rung_game_won(&result));
    rung_game_result_clear(&result);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------------------- */

static void what_is_refused(void **state)
{
    (void)state;
    rung_game game = game_of("seqcomp L=3 N0=2 n=2,2", "relay", 8);
    const rung_game_protocol *p;
    rung_game_result result;
    const rung_game_run_options sample = {.samples = 1};
    CHECK(rung_game_protocol_get(&p, "columns", &check_err));
    assert_int_equal(rung_game_run(&result, &game, p, &sample, &check_err), RUNG_USAGE);
    assert_message(check_err, "columns composes two functions");
    CHECK(rung_game_protocol_get(&p, "relay", &check_err));
    game.linear_rounds[0] = 0;
    assert_int_equal(rung_game_run(&result, &game, p, &sample, &check_err), RUNG_USAGE);
    assert_message(check_err, "a_1 >= 1");
    assert_int_equal(rung_game_protocol_get(&p, "rely", &check_err), RUNG_USAGE);
    assert_message(check_err, "did you mean 'relay'");
    game = game_of("seqcomp L=2 N0=9 n=9", "relay", 8);
    assert_int_equal(rung_game_run(&result, &game, p, &(rung_game_run_options){0}, &check_err), RUNG_USAGE);
    assert_message(check_err, "--samples");
    rung_task_conf eva;
    CHECK(rung_task_conf_parse(&eva, "eva N=4", &check_err));
    const rung_game_options options = {.task = &eva, .linear_rounds = {.len = 1}, .heads = 1, .head_dim = 1, .bits = 1};
    assert_int_equal(rung_game_init(&game, &options, &check_err), RUNG_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prompt_is_right),  cmocka_unit_test(too_few_bits),
        cmocka_unit_test(larger_sizes_by_sample), cmocka_unit_test(messages_of_the_relay),
        cmocka_unit_test(a_cheater_is_seen),      cmocka_unit_test(a_round_is_at_once),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
