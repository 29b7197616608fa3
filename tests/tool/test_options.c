/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The option parser on a table of its own, with every kind of row: what the bats files cannot reach because no command
 * happens to have such an option. The parser is included as source: the tool is no library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../tool/options.c"

typedef struct values {
    bool flag;
    const char *text;
    int64_t number, choice;
    rung_sizes sizes;
} values;

static const char *const colours[] = {"red", "green", NULL};

static const rung_option table[] = {
    {.name = "flag", .letter = 'x', .kind = RUNG_OPTION_FLAG, .at = offsetof(values, flag), .help = "h"},
    {.name = "text",
     .letter = 't',
     .kind = RUNG_OPTION_STRING,
     .at = offsetof(values, text),
     .metavar = "T",
     .help = "h"},
    {.name = "number",
     .kind = RUNG_OPTION_INT,
     .at = offsetof(values, number),
     .metavar = "N",
     .help = "h",
     .fallback = "-7",
     .low = -10,
     .high = 10},
    {.name = "sizes",
     .letter = 's',
     .kind = RUNG_OPTION_SIZES,
     .at = offsetof(values, sizes),
     .metavar = "LIST",
     .help = "h",
     .fallback = "1,2,4",
     .low = 1,
     .high = 100},
    {.name = "colour",
     .kind = RUNG_OPTION_CHOICE,
     .at = offsetof(values, choice),
     .metavar = "C",
     .help = "h",
     .fallback = "green",
     .choices = colours},
    {0},
};

static const tool_command command = {
    .name = "test",
    .options = table,
    .values_size = sizeof(values),
    .pairs = "words",
    .arguments =
        (const tool_argument[]){
            {.metavar = "FIRST", .help = "h", .least = 1, .most = 1},
            {.metavar = "REST", .help = "h", .least = 0, .most = SIZE_MAX},
            {0},
        },
};

typedef struct parsed {
    values values;
    tool_call call;
    rung_status status;
    rung_error err;
    rung_arena arena;
} parsed;

/* Parses up to 15 arguments; NULL ends them. */
static void parse(parsed *p, ...)
{
    char *argv[16];
    int argc = 0;
    va_list args;
    va_start(args, p);
    while ((argv[argc] = va_arg(args, char *)) != NULL) argc++;
    va_end(args);
    memset(p, 0, sizeof *p);
    p->call.command = &command;
    p->call.values = &p->values;
    rung_arena_init(&p->arena);
    p->status = tool_options_parse(&p->call, argc, argv, &p->arena, &p->err);
}

static void done(parsed *p)
{
    rung_arena_clear(&p->arena);
}

static void refuses(const char *argument, const char *message)
{
    parsed p;
    parse(&p, "first", argument, NULL);
    assert_int_equal(p.status, RUNG_USAGE);
    assert_non_null(strstr(p.err.text, message));
    done(&p);
}

static void test_defaults_come_from_the_table(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "first", NULL);
    assert_int_equal(p.status, RUNG_OK);
    assert_false(p.values.flag);
    assert_null(p.values.text);
    assert_int_equal(p.values.number, -7);
    assert_int_equal(p.values.choice, 1);
    assert_int_equal(p.values.sizes.len, 3);
    assert_int_equal(p.values.sizes.at[2], 4);
    assert_int_equal(p.call.given, 0);
    done(&p);
}

static void test_a_list_replaces_its_default(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "-s100,1", "first", NULL);
    assert_int_equal(p.status, RUNG_OK);
    assert_int_equal(p.values.sizes.len, 2);
    assert_int_equal(p.values.sizes.at[0], 100);
    assert_int_equal(p.values.sizes.at[1], 1);
    assert_true(tool_call_given(&p.call, "sizes"));
    assert_false(tool_call_given(&p.call, "number"));
    done(&p);
}

static void test_a_list_of_the_most_items_fits_and_one_more_does_not(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "first", "--sizes=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", NULL);
    assert_int_equal(p.status, RUNG_OK);
    assert_int_equal(p.values.sizes.len, RUNG_LIST_MAX);
    assert_int_equal(p.values.sizes.at[15], 16);
    done(&p);
    refuses("--sizes=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "more than 16 numbers");
}

static void test_bad_list_items_are_named(void **state)
{
    (void)state;
    refuses("--sizes=", "'' is not a whole number from 1 to 100");
    refuses("--sizes=1,,2", "'' is not");
    refuses("--sizes=1,2,", "'' is not");
    refuses("--sizes=1,101", "'101' is not");
    refuses("--sizes=1, 2", "' 2' is not");
    /* longer than any number: must not be cut to one that fits */
    refuses("--sizes=0000000000000000000000000000005000", "is not a whole number");
}

static void test_limits_of_an_integer_are_inclusive(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "first", "--number", "-10", NULL);
    assert_int_equal(p.status, RUNG_OK);
    assert_int_equal(p.values.number, -10);
    done(&p);
    parse(&p, "first", "--number=10", NULL);
    assert_int_equal(p.status, RUNG_OK);
    assert_int_equal(p.values.number, 10);
    done(&p);
    refuses("--number=11", "'11' is not a whole number from -10 to 10");
    refuses("--number=-11", "'-11' is not");
}

static void test_words_arguments_and_options_mix(void **state)
{
    (void)state;
    parsed p;
    parse(&p, "a", "N=3", "-xqt", "value", "b", "k_2=x=y", "--", "--flag", "=z", "-", NULL);
    assert_int_equal(p.status, RUNG_OK);
    assert_true(p.values.flag);
    assert_true(p.call.quiet);
    assert_string_equal(p.values.text, "value");
    assert_int_equal(p.call.pairs, 2);
    assert_string_equal(p.call.pair[0], "N=3");
    assert_string_equal(p.call.pair[1], "k_2=x=y");
    assert_int_equal(p.call.arguments, 5);
    assert_string_equal(p.call.argument[1], "b");
    assert_string_equal(p.call.argument[2], "--flag");
    assert_string_equal(p.call.argument[3], "=z"); /* no key: no word */
    assert_string_equal(p.call.argument[4], "-");
    done(&p);
}

static void test_a_prefix_is_guessed_before_a_neighbour(void **state)
{
    (void)state;
    refuses("--num", "did you mean '--number'?");
    refuses("--coluor=red", "did you mean '--colour'?");
    refuses("--qqqqqqqqq", "unknown option '--qqqqqqqqq'");
    refuses("--colour=gren", "did you mean 'green'?");
    refuses("-z", "unknown option '-z'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_come_from_the_table),
        cmocka_unit_test(test_a_list_replaces_its_default),
        cmocka_unit_test(test_a_list_of_the_most_items_fits_and_one_more_does_not),
        cmocka_unit_test(test_bad_list_items_are_named),
        cmocka_unit_test(test_limits_of_an_integer_are_inclusive),
        cmocka_unit_test(test_words_arguments_and_options_mix),
        cmocka_unit_test(test_a_prefix_is_guessed_before_a_neighbour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
