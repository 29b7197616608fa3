/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Block-sparse protocols: right on prompts of every kind, with as many opened blocks and bits as docs/game.md says; and protocols that break
 * a rule are stopped.
 */
#include "effort.h"
#include "rung/game.h"
#include "testing.h"

static const struct {
    const char *name;
    size_t block, blocks;
    uint64_t M, prompts;
} sizes[] = {
    {"sort-six", 64, 16, 2048, 40},  {"sort-six", 64, 16, 97, 40},      {"sort-six", 36, 12, 100000, 30},
    {"sort-six", 100, 20, 5, 20},    {"sort-six", 25, 9, 50, 60},       {"sort-six", 4, 7, 50, 40},
    {"sort-six", 272, 33, 4096, 3},  {"sort-four", 1024, 16, 16384, 3}, {"sort-four", 1024, 16, 30, 2},
    {"sort-four", 182, 9, 1000, 30}, {"sort-four", 16, 5, 60, 40},
};

static unsigned log2_up(uint64_t x)
{
    unsigned bits = 0;
    while (UINT64_C(1) << bits < x) bits++;
    return bits;
}

static void test_protocols_are_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) {
        rung_blocks_game game = {sizes[i].block, sizes[i].blocks, sizes[i].M};
        const rung_blocks_protocol *p = rung_blocks_protocol_get(sizes[i].name);
        rung_blocks_result r;
        assert_non_null(p);
        CHECK(rung_blocks_run(&r, &game, p, effort(sizes[i].prompts, 1 + sizes[i].prompts / 5), i, &check_err));
        if (!rung_blocks_won(&r))
            fail_msg("%s, %zu blocks of %zu: %d of %d right; %s", p->name, game.blocks, game.block, (int)r.right,
                     (int)r.prompts, r.broken);
        /* levels; the query opens 8 blocks, then 1 or 4 per level and layer; a token opens 4 per level */
        size_t levels = 0, opened = 0;
        for (size_t g = 8; g < game.blocks; g *= 2) levels++;
        for (size_t k = 0; k < p->layers; k++) {
            unsigned item = log2_up(game.M * game.block * game.blocks + 1);
            assert_true(r.token_opens[k] <= 4 * levels && r.bits[k] <= 1 + levels * 4 * item);
            opened += r.query_opens[k];
        }
        assert_true(opened <= 8 + 7 * levels && r.query_opens[0] <= 8);
    }
}

/* Every place of one number in a prompt without any other of its value. */
static void test_planted_everywhere(void **state)
{
    rung_blocks_game game = {16, 8, 40};
    const rung_blocks_protocol *p = rung_blocks_protocol_get("sort-six");
    rung_blocks_result r = {0};
    uint64_t numbers[36 * 12];
    (void)state;
    game = (rung_blocks_game){36, 12, 40};
    for (size_t place = 0; place <= 36 * 12; place += effort(1, 37)) {
        for (size_t i = 0; i < 36 * 12; i++) numbers[i] = i == place ? 11 : (i * 7 + i / 36) % 10;
        CHECK(rung_blocks_play(&r, &game, p, numbers, 29, &check_err));
    }
    assert_true(rung_blocks_won(&r));
}

static void test_sizes_that_do_not_fit(void **state)
{
    const rung_blocks_game small = {16, 16, 50}, many = {64, 16, 5000}, high = {1024, 16, 100000};
    rung_blocks_result r;
    (void)state;
    assert_int_equal(rung_blocks_run(&r, &small, rung_blocks_protocol_get("sort-six"), 1, 0, &check_err), RUNG_USAGE);
    assert_int_equal(rung_blocks_run(&r, &many, rung_blocks_protocol_get("sort-four"), 1, 0, &check_err), RUNG_USAGE);
    assert_int_equal(rung_blocks_run(&r, &high, rung_blocks_protocol_get("sort-four"), 1, 0, &check_err), RUNG_USAGE);
    assert_null(rung_blocks_protocol_get("sort-five"));
}

/* ---- rules --------------------------------------------------------------------------------------------------------------------- */

static int breach;

static rung_status always(const rung_blocks_game *game, rung_error *err)
{
    (void)game, (void)err;
    return RUNG_OK;
}

static void break_rules(rung_blocks_reader *r, const rung_blocks_game *game, size_t layer)
{
    size_t token = rung_blocks_token(r);
    if (token != game->block) return; /* the first of block 1 */
    switch (breach) {
    case 0:
        rung_blocks_open(r, 0), rung_blocks_tell(r, 0, rung_blocks_number(r, 0), 8);
        break;
    case 1:
        rung_blocks_number(r, 0); /* without opening */
        break;
    case 2:
        rung_blocks_open(r, 1); /* its own */
        break;
    case 3:
        rung_blocks_open(r, 2); /* a later one */
        break;
    case 4:
        rung_blocks_tell(r, 0, 256, 8);
        break;
    case 5:
        rung_blocks_told(r, token, layer, 0); /* what is told now */
        break;
    default:
        rung_blocks_number(r, game->block * game->blocks); /* the query */
        break;
    }
}

static bool answers_no(rung_blocks_reader *r, const rung_blocks_game *game)
{
    (void)r, (void)game;
    return false;
}

static void test_rules(void **state)
{
    const rung_blocks_protocol p = {"breaks", "", 2, always, break_rules, answers_no};
    const rung_blocks_game game = {4, 3, 100};
    uint64_t numbers[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    (void)state;
    for (breach = 0; breach <= 6; breach++) {
        rung_blocks_result r = {0};
        CHECK(rung_blocks_play(&r, &game, &p, numbers, 1, &check_err));
        if ((r.broken[0] != 0) != (breach > 0)) fail_msg("breach %d: '%s'", breach, r.broken);
        if (breach == 0) assert_true(r.token_opens[0] == 1 && r.bits[0] == 8 && r.query_opens[0] == 0);
        assert_true(rung_blocks_won(&r) == (breach == 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_protocols_are_right),
        cmocka_unit_test(test_planted_everywhere),
        cmocka_unit_test(test_sizes_that_do_not_fit),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests_name("game of blocks", tests, NULL, NULL);
}
