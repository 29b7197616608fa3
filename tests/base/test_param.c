/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * param: what each wrong word is told, and that the canonical text is read back to the same values.
 */
#include "rung/base.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const orders[] = {"random", "sorted", "reverse", NULL};
static const rung_param table[] = {
    {.name = "width", .kind = RUNG_PARAM_INT, .fallback = 8, .low = 1, .high = 64, .help = "d"},
    {.name = "shift", .kind = RUNG_PARAM_INT, .fallback = 0, .low = -5, .high = 5, .help = "s"},
    {.name = "limit", .kind = RUNG_PARAM_INT, .fallback = -1, .low = 1, .high = 9, .help = "-1: none"},
    {.name = "sizes", .kind = RUNG_PARAM_LIST, .fallback = 3, .low = 2, .high = 100, .help = "N_i"},
    {.name = "extra", .kind = RUNG_PARAM_LIST, .fallback = 0, .low = 1, .high = 9, .help = "none by default"},
    {.name = "order", .kind = RUNG_PARAM_CHOICE, .fallback = 1, .choices = orders, .help = "order of the keys"},
    {.name = "later", .kind = RUNG_PARAM_SWITCH, .fallback = 1, .low = 0, .high = 1, .help = "printed if 0"},
    {.name = "wide", .kind = RUNG_PARAM_INT, .fallback = 0, .low = INT64_MIN, .high = INT64_MAX, .help = "any"},
    {0}};
enum { WIDTH, SHIFT, LIMIT, SIZES, EXTRA, ORDER, LATER, WIDE, COUNT };

static rung_value values[COUNT];

static int defaults(void **state)
{
    (void)state;
    memset(values, 0xab, sizeof values);
    rung_param_defaults(values, table);
    return 0;
}

static void expect_set(const char *word)
{
    rung_error err = {""};
    if (rung_param_set(values, table, word, "task t", &err) != RUNG_OK) fail_msg("%s: %s", word, err.text);
}

static void table_is_counted_and_searched(void **state)
{
    (void)state;
    assert_int_equal(rung_param_count(table), COUNT);
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(rung_param_find(table, table[i].name), i);
    assert_true(rung_param_find(table, "widt") == SIZE_MAX);
    assert_true(rung_param_find(table, "widths") == SIZE_MAX);
    assert_true(rung_param_find(table, "") == SIZE_MAX);
}

static void defaults_overwrite_everything(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        assert_false(values[i].set);
        assert_true(values[i].number == table[i].fallback);
    }
    assert_int_equal(values[SIZES].list_len, 1);
    assert_int_equal(values[SIZES].list[0], 3);
    assert_int_equal(values[EXTRA].list_len, 0);
}

static void good_words_are_taken(void **state)
{
    (void)state;
    expect_set("width=64");
    expect_set("shift=-5");
    expect_set("sizes=2,100,7");
    expect_set("order=reverse");
    expect_set("limit=-1"); /* the fallback, though outside the range */
    expect_set("wide=-9223372036854775808");
    assert_int_equal(values[WIDTH].number, 64);
    assert_int_equal(values[SHIFT].number, -5);
    assert_int_equal(values[SIZES].list_len, 3);
    assert_int_equal(values[SIZES].list[0], 2);
    assert_int_equal(values[SIZES].list[1], 100);
    assert_int_equal(values[SIZES].list[2], 7);
    assert_int_equal(values[ORDER].number, 2);
    assert_int_equal(values[LIMIT].number, -1);
    assert_true(values[WIDE].number == INT64_MIN);
    assert_true(values[WIDTH].set && values[SIZES].set && values[ORDER].set && !values[EXTRA].set);
    expect_set("width=1"); /* the last word wins */
    assert_int_equal(values[WIDTH].number, 1);
    expect_set("sizes=5");
    assert_int_equal(values[SIZES].list_len, 1);
}

static void bad_words_change_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "width",
        "=5",
        "width=",
        "width=0",
        "width=65",
        "width=x",
        "width=1.5",
        "width= 1",
        "Width=5",
        "shift=6",
        "limit=0",
        "limit=10",
        "sizes=",
        "sizes=1",
        "sizes=2,",
        "sizes=,2",
        "sizes=2,,3",
        "sizes=2,x",
        "sizes=2;3",
        "sizes=2, 3",
        "order=",
        "order=Random",
        "order=rando",
        "order=1",
        "extra=0",
        "extra=1,10",
        "wide=9223372036854775808",
        "sizes=2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2",
        "sizes=000000000000000000000000000000000002",
    };
    rung_value before[COUNT];
    memcpy(before, values, sizeof before);
    for (size_t i = 0; i < RUNG_COUNT(bad); i++) {
        rung_error err = {""};
        if (rung_param_set(values, table, bad[i], "task t", &err) != RUNG_USAGE) fail_msg("accepted: %s", bad[i]);
        assert_memory_equal(values, before, sizeof before);
        if (strncmp(err.text, "task t: ", 8) != 0) fail_msg("owner missing: %s", err.text);
    }
    expect_set("sizes=2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2");
    assert_int_equal(values[SIZES].list_len, RUNG_LIST_MAX);
}

static void messages_say_what_would_be_right(void **state)
{
    (void)state;
    static const struct {
        const char *word, *message;
    } cases[] = {
        {"widht=5", "task t: unknown parameter 'widht'; did you mean 'width'? known: width, shift, limit, sizes, "
                    "extra, order, later, wide"},
        {"zebra=5", "task t: unknown parameter 'zebra'; known: width, shift, limit, sizes, extra, order, later, wide"},
        {"width=65", "task t: width=65 is not a whole number from 1 to 64"},
        {"sizes=1", "task t: sizes=1 is not a list of 1 to 16 whole numbers from 2 to 100, as in sizes=2,100"},
        {"order=sort", "task t: order: unknown value 'sort'; known: random, sorted, reverse"},
        {"order=sortde",
         "task t: order: unknown value 'sortde'; did you mean 'sorted'? known: random, sorted, reverse"},
        {"width", "task t: 'width' is not of the form key=value"},
        {"=5", "task t: '=5' is not of the form key=value"},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_error err;
        assert_int_equal(rung_param_set(values, table, cases[i].word, "task t", &err), RUNG_USAGE);
        assert_string_equal(err.text, cases[i].message);
    }
    assert_int_equal(rung_param_set(values, table, "nope=1", "task t", NULL), RUNG_USAGE);
}

static void endless_words_are_refused_safely(void **state)
{
    (void)state;
    static char word[5000];
    static const char *const starts[] = {"", "width=", "sizes=", "order=", "k"};
    for (size_t i = 0; i < RUNG_COUNT(starts); i++)
        for (size_t equals = 0; equals < 2; equals++) {
            rung_error err;
            memset(word, '7', sizeof word - 1);
            memcpy(word, starts[i], strlen(starts[i]));
            if (equals) word[3000] = '=';
            assert_int_equal(rung_param_set(values, table, word, "task t", &err), RUNG_USAGE);
            assert_true(strlen(err.text) < sizeof err.text);
        }
}

static void canonical_text_has_every_parameter_in_order(void **state)
{
    (void)state;
    rung_buf text;
    rung_buf_init(&text);
    rung_param_print(&text, values, table, " ");
    assert_string_equal(text.text, "width=8 shift=0 limit=-1 sizes=3 extra= order=sorted wide=0");
    rung_buf_clear(&text);
    expect_set("later=0");
    rung_param_print(&text, &values[LATER], &table[LATER], " ");
    assert_string_equal(text.text, "later=0 wide=0");
    rung_buf_clear(&text);
    expect_set("later=1"); /* a switch at its fallback is not there, nor is what would separate it */
    rung_param_print(&text, &values[LATER], &table[LATER], " ");
    assert_string_equal(text.text, "wide=0");
    rung_buf_clear(&text);
    rung_param_print(&text, values, &table[COUNT], " ");
    assert_int_equal(text.len, 0);
    rung_buf_clear(&text);
}

static int64_t random_number(rung_rng *rng, const rung_param *param)
{
    uint64_t span = (uint64_t)param->high - (uint64_t)param->low + 1; /* 0 stands for 2^64 */
    return (int64_t)((uint64_t)param->low + (span ? rung_rng_below(rng, span) : rung_rng_u64(rng)));
}

static void draw_values(rung_rng *rng)
{
    rung_param_defaults(values, table);
    for (size_t i = 0; i < COUNT; i++) {
        if (rung_rng_below(rng, 3) == 0) continue;
        if (table[i].kind == RUNG_PARAM_CHOICE) {
            values[i].number = (int64_t)rung_rng_below(rng, 3);
        } else if (table[i].kind == RUNG_PARAM_INT || table[i].kind == RUNG_PARAM_SWITCH) {
            values[i].number = random_number(rng, &table[i]);
        } else {
            values[i].list_len = 1 + rung_rng_below(rng, RUNG_LIST_MAX);
            for (size_t k = 0; k < values[i].list_len; k++) values[i].list[k] = random_number(rng, &table[i]);
            values[i].number = values[i].list[0];
        }
    }
}

static void canonical_text_is_read_back(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 1, 0, 0);
    for (int trial = 0; trial < 5000; trial++) {
        rung_buf text;
        rung_value drawn[COUNT];
        draw_values(&rng);
        memcpy(drawn, values, sizeof drawn);
        rung_buf_init(&text);
        rung_param_print(&text, values, table, ";");
        rung_param_defaults(values, table);
        for (char *word = strtok(text.text, ";"); word; word = strtok(NULL, ";")) expect_set(word);
        for (size_t i = 0; i < COUNT; i++) {
            assert_true(values[i].set || table[i].kind == RUNG_PARAM_SWITCH);
            assert_true(values[i].number == drawn[i].number);
            assert_int_equal(values[i].list_len, drawn[i].list_len);
            assert_memory_equal(values[i].list, drawn[i].list, drawn[i].list_len * sizeof drawn[i].list[0]);
        }
        rung_buf_clear(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(table_is_counted_and_searched, defaults),
        cmocka_unit_test_setup(defaults_overwrite_everything, defaults),
        cmocka_unit_test_setup(good_words_are_taken, defaults),
        cmocka_unit_test_setup(bad_words_change_nothing, defaults),
        cmocka_unit_test_setup(messages_say_what_would_be_right, defaults),
        cmocka_unit_test_setup(endless_words_are_refused_safely, defaults),
        cmocka_unit_test_setup(canonical_text_has_every_parameter_in_order, defaults),
        cmocka_unit_test_setup(canonical_text_is_read_back, defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
