/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * status: messages that are too long, that hold foreign bytes, that quote themselves.
 */
#include "rung/base.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static void message_is_formatted_and_status_passed_on(void **state)
{
    (void)state;
    rung_error err = {""};
    assert_int_equal(rung_fail(&err, RUNG_INPUT, "%s at %d", "odd", 7), RUNG_INPUT);
    assert_string_equal(err.text, "odd at 7");
    assert_int_equal(rung_fail(NULL, RUNG_SYSTEM, "nobody listens"), RUNG_SYSTEM);
    assert_int_equal(rung_fail_at(NULL, RUNG_USAGE, "nobody listens"), RUNG_USAGE);
}

static void prefix_goes_in_front_of_the_old_message(void **state)
{
    (void)state;
    rung_error err;
    rung_fail(&err, RUNG_INPUT, "no colon");
    assert_int_equal(rung_fail_at(&err, RUNG_INPUT, "line %d", 3), RUNG_INPUT);
    rung_fail_at(&err, RUNG_INPUT, "a.json");
    assert_string_equal(err.text, "a.json: line 3: no colon");
}

static void message_may_quote_the_message_that_it_replaces(void **state)
{
    (void)state;
    rung_error err;
    rung_fail(&err, RUNG_INPUT, "inner");
    rung_fail(&err, RUNG_INPUT, "<%s|%s>", err.text, err.text);
    assert_string_equal(err.text, "<inner|inner>");
    rung_fail_at(&err, RUNG_INPUT, "%s", err.text);
    assert_string_equal(err.text, "<inner|inner>: <inner|inner>");
}

/* Walks back from the end: the last lead byte must have exactly the continuation bytes that it announces. */
static bool ends_with_whole_sequence(const char *text, size_t len)
{
    size_t tail = 0;
    while (tail < len && ((unsigned char)text[len - 1 - tail] & 0xc0) == 0x80) tail++;
    unsigned char lead = tail < len ? (unsigned char)text[len - 1 - tail] : 0;
    size_t announced = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    return tail == announced;
}

static void check_cut(const char *whole)
{
    struct {
        rung_error err;
        char guard[16];
    } box;
    memset(&box, 'G', sizeof box);
    rung_fail(&box.err, RUNG_INPUT, "%s", whole);
    for (size_t i = 0; i < sizeof box.guard; i++) assert_int_equal(box.guard[i], 'G');
    size_t len = strnlen(box.err.text, sizeof box.err.text);
    if (strlen(whole) < sizeof box.err.text) {
        assert_string_equal(box.err.text, whole);
        return;
    }
    assert_in_range(len, sizeof box.err.text - 1 - 3, sizeof box.err.text - 1);
    assert_string_equal(box.err.text + len - 3, "...");
    assert_memory_equal(box.err.text, whole, len - 3);
    assert_true(ends_with_whole_sequence(box.err.text, len - 3));
}

static void long_message_neither_overflows_nor_cuts_utf8(void **state)
{
    (void)state;
    static const char *const letters[] = {"x", "\xc3\xa9", "\xe2\x88\x9e", "\xf0\x9f\x90\x8d"};
    for (size_t pad = 0; pad < 4; pad++)
        for (size_t letter = 0; letter < RUNG_COUNT(letters); letter++)
            for (size_t len = 490; len < 540; len++) {
                char whole[600];
                memset(whole, '-', pad);
                size_t at = pad;
                while (at < len) at += (size_t)sprintf(whole + at, "%s", letters[letter]);
                check_cut(whole);
            }
}

static void prefix_before_a_full_message_neither_overflows_nor_cuts_utf8(void **state)
{
    (void)state;
    for (size_t pad = 0; pad < 6; pad++) {
        char filler[600];
        rung_error err;
        memset(filler, 'f', sizeof filler);
        filler[sizeof filler - 1] = '\0';
        filler[pad] = '\0';
        for (size_t i = 0; i + pad + 3 < sizeof filler; i += 3) memcpy(filler + pad + i, "\xe2\x88\x9e", 4);
        rung_fail(&err, RUNG_INPUT, "%s", filler);
        rung_fail_at(&err, RUNG_INPUT, "a very deep place %zu", pad);
        size_t len = strnlen(err.text, sizeof err.text);
        assert_true(len < sizeof err.text);
        assert_string_equal(err.text + len - 3, "...");
        assert_true(ends_with_whole_sequence(err.text, len - 3));
        assert_int_equal(strncmp(err.text, "a very deep place ", 18), 0);
    }
}

static void foreign_bytes_that_are_no_utf8_do_no_harm(void **state)
{
    (void)state;
    for (int byte = 0x80; byte <= 0xff; byte++) {
        char whole[700];
        rung_error err;
        memset(whole, byte, sizeof whole - 1);
        whole[sizeof whole - 1] = '\0';
        rung_fail(&err, RUNG_INPUT, "%s", whole);
        assert_in_range(strnlen(err.text, sizeof err.text), 500, sizeof err.text - 1);
    }
}

static void terminal_escapes_in_names_are_not_passed_on(void **state)
{
    (void)state;
    rung_error err;
    rung_fail(&err, RUNG_INPUT, "no tensor '%s'\n", "\x1b[2J\x07\x7f");
    assert_string_equal(err.text, "no tensor '?[2J?"
                                  "?'?"); /* an end of a line could begin another message */
}

static void unknown_word_names_the_nearest_and_all_others(void **state)
{
    (void)state;
    static const char *const tasks[] = {"eva", "seqcomp"};
    rung_error err;
    assert_int_equal(rung_fail_unknown(&err, "task", "seqcmp", tasks, 2), RUNG_USAGE);
    assert_string_equal(err.text, "unknown task 'seqcmp'; did you mean 'seqcomp'? known: eva, seqcomp");
    rung_fail_unknown(&err, "task", "zebra", tasks, 2);
    assert_string_equal(err.text, "unknown task 'zebra'; known: eva, seqcomp");
    rung_fail_unknown(&err, "task", "zebra", tasks, 0);
    assert_string_equal(err.text, "unknown task 'zebra'");
    assert_int_equal(rung_fail_unknown(NULL, "task", "zebra", tasks, 2), RUNG_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_is_formatted_and_status_passed_on),
        cmocka_unit_test(prefix_goes_in_front_of_the_old_message),
        cmocka_unit_test(message_may_quote_the_message_that_it_replaces),
        cmocka_unit_test(long_message_neither_overflows_nor_cuts_utf8),
        cmocka_unit_test(prefix_before_a_full_message_neither_overflows_nor_cuts_utf8),
        cmocka_unit_test(foreign_bytes_that_are_no_utf8_do_no_harm),
        cmocka_unit_test(terminal_escapes_in_names_are_not_passed_on),
        cmocka_unit_test(unknown_word_names_the_nearest_and_all_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
