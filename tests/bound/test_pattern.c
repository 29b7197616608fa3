/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The layers as the theorems see them: which bits stand where, and what is marked so that a theorem declines.
 */
#include "rows_test.h"

/* Accumulators of 2 bits, states of 3, caches of 5: every product tells which of them it used. */
static const rung_arithmetic arithmetic = {.kernel = RUNG_KERNEL_ONLINE,
                                           .accumulator_bits = 2,
                                           .state_bits = 3,
                                           .cache_bits = 5,
                                           .message = RUNG_MESSAGE_ONLINE};

static rung_pattern pattern_of(size_t count, const rung_ledger_layer *layer)
{
    stack s;
    return rung_pattern_of(stack_of(&s, count, layer), &arithmetic);
}

static const rung_ledger_layer full = {.full = true, .heads = 3, .value_dim = 4, .key_dim = 7};

static void test_every_kind_of_bits(void **state)
{
    rung_ledger_layer state_layer = {.recurrent = true, .state_elements = 10, .extra_elements = 1, .conv_elements = 2};
    rung_ledger_layer window = {.window = true, .window_elements = 11}, chunk = {.chunk = true, .window_elements = 13};
    rung_ledger_layer conv = {.recurrent = true, .conv_elements = 17}, only_conv = {.conv_elements = 1};
    rung_ledger_layer layer[] = {state_layer, window, full, chunk, conv, only_conv, {.mlp = true}};
    rung_pattern p = pattern_of(RUNG_COUNT(layer), layer);
    (void)state;
    assert_true(p.full == 1 && p.recurrent == 5 && p.layers[0] == 2 && p.layers[1] == 3);
    assert_int_equal(p.state[0], 11 * 3 + 2 * 5 + 11 * 5);
    assert_int_equal(p.state[1], 13 * 5 + 17 * 5 + 1 * 5);
    assert_int_equal(p.all_state, p.state[0] + p.state[1]);
    assert_int_equal(p.message, 3 * (4 + 2) * 2);
    assert_true(p.chunk && !p.headwise && !p.sparse && !p.overflow && !p.too_many && p.levels_state == 0);
}

/* Without a flag that says so: whatever it keeps makes a layer recurrent. */
static void test_what_a_layer_keeps(void **state)
{
    rung_ledger_layer layer[] = {
        {.state_elements = 1}, {.extra_elements = 1}, {.window = true}, {.chunk = true}, {.recurrent = true}};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(layer); i++) assert_int_equal(pattern_of(1, &layer[i]).recurrent, 1);
}

/* A convolution stands in front of the attention, everything else beside it. */
static void test_beside_and_in_front(void **state)
{
    rung_ledger_layer beside[] = {full, full, full, full, full}, front = full, both = full;
    (void)state;
    beside[0].state_elements = 1, beside[1].extra_elements = 1, beside[2].window = true, beside[3].chunk = true;
    beside[4].recurrent = true;
    for (size_t i = 0; i < RUNG_COUNT(beside); i++) {
        rung_pattern p = pattern_of(1, &beside[i]);
        assert_true(p.headwise && p.recurrent == 1 && p.full == 1 && p.layers[0] == 0 && p.has_beside[0]);
    }
    front.conv_elements = 4, front.recurrent = true;
    rung_pattern p = pattern_of(1, &front);
    assert_true(!p.headwise && p.recurrent == 1 && p.full == 1 && p.state[0] == 4 * 5);
    both.conv_elements = 4, both.recurrent = true, both.state_elements = 7;
    p = pattern_of(1, &both);
    assert_true(p.headwise && p.recurrent == 2 && p.state[0] == 4 * 5 && p.beside[0] == 7 * 3);
    assert_int_equal(p.all_state, 4 * 5 + 7 * 3);
}

/* The heads of each layer in a layer after it: the same bits, and nothing beside. */
static void test_heads_after(void **state)
{
    rung_ledger_layer both = full, layer[4] = {full, {.recurrent = true, .state_elements = 10}};
    (void)state;
    both.recurrent = true, both.state_elements = 7;
    layer[2] = both, layer[3] = both;
    rung_pattern p = pattern_of(4, layer), after = bound_heads_after(&p);
    assert_true(p.full == 3 && !p.has_beside[0] && p.has_beside[1] && p.has_beside[2] && p.state[1] == 30);
    assert_true(p.state[2] == 0 && p.state[3] == 0 && p.beside[1] == 21 && p.beside[2] == 21);
    assert_true(after.full == 3 && !after.headwise && after.recurrent == p.recurrent && after.message == p.message);
    assert_true(after.state[1] == 30 && after.state[2] == 21 && after.state[3] == 21 && after.all_state == p.all_state);
    assert_true(after.layers[1] == 1 && after.layers[2] == 1 && after.layers[3] == 1);
    for (size_t i = 0; i < 3; i++) assert_true(after.beside[i] == 0 && !after.has_beside[i]);
    rung_buf text;
    rung_buf_init(&text);
    rung_pattern_print(&text, &p);
    assert_string_equal(text.text, "F R F|R F|R");
    rung_buf_clear(&text);
}

static void test_levels_and_selections(void **state)
{
    rung_ledger_layer levels = {.recurrent = true, .levels = true, .state_elements = 10},
                      sparse = {.sparse = true, .heads = 1};
    (void)state;
    rung_pattern p = pattern_of(1, &levels);
    assert_true(p.levels_state == 30 && p.all_state == 0 && p.recurrent == 1);
    p = pattern_of(1, &sparse);
    assert_true(p.sparse && !p.full && !p.recurrent && !p.message);
    sparse.conv_elements = 2, sparse.recurrent = true;
    p = pattern_of(1, &sparse);
    assert_true(p.sparse && p.recurrent == 1 && p.state[0] == 10 && !p.headwise);
    sparse.state_elements = 1;
    p = pattern_of(1, &sparse);
    assert_true(p.sparse && p.recurrent == 2 && p.state[0] == 13 && p.headwise);
}

/* The largest accumulator counts, wherever it stands; in all three ways of counting. */
static void test_messages(void **state)
{
    rung_ledger_layer small = full, layer[3];
    rung_arithmetic other = arithmetic;
    stack s;
    (void)state;
    small.heads = 1;
    layer[0] = small, layer[1] = full, layer[2] = small;
    assert_int_equal(pattern_of(3, layer).message, 36);
    other.message = RUNG_MESSAGE_NUMERATOR;
    assert_int_equal(rung_pattern_of(stack_of(&s, 1, &full), &other).message, 3 * 5 * 2);
    other.message = RUNG_MESSAGE_PAPER;
    assert_int_equal(rung_pattern_of(stack_of(&s, 1, &full), &other).message, 3 * 2 * 7 * 2);
    rung_layer_bits bits = rung_layer_bits_of(&full, &arithmetic);
    assert_true(bits.message == 36 && bits.carried == 0);
}

static void test_more_than_fits(void **state)
{
    rung_ledger_layer large = {.recurrent = true, .state_elements = UINT64_C(1) << 61}, wide = full;
    rung_ledger_layer many[RUNG_PATTERN_FULL_MAX + 3], last = recurrent_bits(1);
    rung_ledger ledger = {.layer_count = RUNG_COUNT(many), .layer = many};
    (void)state;
    assert_true(pattern_of(1, &large).overflow);
    wide.value_dim = UINT64_MAX - 1;
    assert_true(pattern_of(1, &wide).overflow);
    for (size_t i = 0; i < RUNG_COUNT(many); i++) many[i] = full;
    many[RUNG_COUNT(many) - 1] = last;
    rung_pattern p = rung_pattern_of(&ledger, &arithmetic);
    assert_true(p.too_many && p.full == RUNG_PATTERN_FULL_MAX && p.state[RUNG_PATTERN_FULL_MAX] == 3);
    ledger.layer_count = RUNG_PATTERN_FULL_MAX;
    p = rung_pattern_of(&ledger, &arithmetic);
    assert_true(!p.too_many && p.full == RUNG_PATTERN_FULL_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_bits),    cmocka_unit_test(test_what_a_layer_keeps),
        cmocka_unit_test(test_beside_and_in_front),   cmocka_unit_test(test_heads_after),
        cmocka_unit_test(test_levels_and_selections), cmocka_unit_test(test_messages),
        cmocka_unit_test(test_more_than_fits),
    };
    return cmocka_run_group_tests_name("patterns of layers", tests, NULL, NULL);
}
