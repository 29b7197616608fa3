/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * buf: growth, exhaustion, and JSON strings, which another library must read back.
 */
#include "rung/base.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void appends_agree_with_a_plain_array(void **state)
{
    (void)state;
    static char plain[200000];
    rung_buf buf;
    rung_rng rng;
    size_t len = 0;
    rung_buf_init(&buf);
    rung_rng_init(&rng, 3, 0, 0);
    while (len + 2000 < sizeof plain) {
        char piece[300];
        size_t piece_len = rung_rng_below(&rng, sizeof piece);
        for (size_t i = 0; i < piece_len; i++) piece[i] = (char)('a' + rung_rng_below(&rng, 26));
        switch (rung_rng_below(&rng, 3)) {
        case 0:
            rung_buf_add(&buf, piece, piece_len);
            len += (size_t)sprintf(plain + len, "%.*s", (int)piece_len, piece);
            break;
        case 1:
            rung_buf_printf(&buf, "%.*s=%d", (int)piece_len, piece, (int)piece_len);
            len += (size_t)sprintf(plain + len, "%.*s=%d", (int)piece_len, piece, (int)piece_len);
            break;
        default:
            rung_buf_putc(&buf, 'Z');
            rung_buf_puts(&buf, "yx");
            len += (size_t)sprintf(plain + len, "Zyx");
        }
        assert_int_equal(buf.len, len);
        assert_true(buf.cap > buf.len);
        assert_int_equal(buf.text[len], '\0');
    }
    assert_string_equal(buf.text, plain);
    assert_int_equal(rung_buf_ok(&buf, NULL), RUNG_OK);
    rung_buf_reset(&buf);
    assert_int_equal(buf.len, 0);
    assert_string_equal(buf.text, "");
    rung_buf_add(&buf, "a\0b", 3);
    assert_memory_equal(buf.text, "a\0b", 4);
    rung_buf_clear(&buf);
    assert_null(buf.text);
    rung_buf_reset(&buf);
    rung_buf_add(&buf, "", 0);
    assert_string_equal(buf.text, "");
    rung_buf_clear(&buf);
}

static void exhaustion_is_reported_once_at_the_end(void **state)
{
    (void)state;
    volatile size_t huge = SIZE_MAX;
    rung_buf buf;
    rung_error err = {""};
    rung_buf_init(&buf);
    rung_buf_puts(&buf, "kept");
    rung_buf_add(&buf, "x", huge);
    rung_buf_puts(&buf, " lost");
    rung_buf_printf(&buf, "%d", 5);
    assert_string_equal(buf.text, "kept");
    assert_int_equal(rung_buf_ok(&buf, &err), RUNG_SYSTEM);
    assert_non_null(strstr(err.text, "memory"));
    rung_buf_clear(&buf);
    assert_int_equal(rung_buf_ok(&buf, &err), RUNG_OK);
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------- */

/* The other way round from the code under test: decode to a number, check the number, encode it again. */
static size_t sequence_by_encoding(const char *text)
{
    const unsigned char *b = (const unsigned char *)text;
    if (b[0] < 0x80) return 1;
    size_t len = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    unsigned long code = b[0] & (0xffu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((b[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (b[i] & 0x3f);
    }
    unsigned long least = len == 2 ? 0x80 : len == 3 ? 0x800 : 0x10000;
    bool lead_ok = (b[0] & 0xc0) == 0xc0 && b[0] < 0xf8;
    return lead_ok && code >= least && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? len : 0;
}

static void check_json(const char *text)
{
    rung_buf expected, literal;
    rung_buf_init(&expected);
    rung_buf_init(&literal);
    for (const char *at = text; *at;) {
        size_t step = sequence_by_encoding(at);
        rung_buf_add(&expected, step ? at : "\xef\xbf\xbd", step ? step : 3);
        at += step ? step : 1;
    }
    rung_buf_json_string(&literal, text);
    json_t *parsed = json_loads(literal.text, JSON_DECODE_ANY, NULL);
    assert_non_null(parsed);
    assert_string_equal(json_string_value(parsed), expected.text ? expected.text : "");
    json_decref(parsed);
    rung_buf_clear(&literal);
    rung_buf_clear(&expected);
}

static void json_is_read_back_for_every_pair_of_bytes(void **state)
{
    (void)state;
    for (int a = 1; a < 256; a++)
        for (int b = 0; b < 256; b++) check_json((char[]){(char)a, (char)b, '\0'});
}

static void json_is_read_back_for_longer_sequences_at_every_border(void **state)
{
    (void)state;
    static const unsigned char border[] = {0x00, 0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    for (int lead = 0xc0; lead < 256; lead++)
        for (size_t i = 0; i < sizeof border * sizeof border * sizeof border; i++)
            check_json((char[]){(char)lead, (char)border[i % sizeof border],
                                (char)border[i / sizeof border % sizeof border],
                                (char)border[i / sizeof border / sizeof border], '\0'});
}

static void json_escapes_look_as_people_expect(void **state)
{
    (void)state;
    rung_buf buf;
    rung_buf_init(&buf);
    rung_buf_json_string(&buf, "a\"\\\n\t\x01\xc3\xa9/");
    assert_string_equal(buf.text, "\"a\\\"\\\\\\n\\t\\u0001\xc3\xa9/\"");
    rung_buf_clear(&buf);
}

static void text_from_outside_steers_no_terminal(void **state)
{
    (void)state;
    static const struct {
        const char *from, *shown;
    } cases[] = {
        {"plain \u00e9\u20ac", "plain \u00e9\u20ac"},
        {"\033[31mred\a\b\x7f", "?[31mred???"},
        {"a\nb\tc\r", "a?b?c?"},
        {"\xc2\x9b"
         "31m\xc2\x80",
         "?31m?"},                                    /* C1 */
        {"\u202eevil\u2066\u200f\u061c", "?evil???"}, /* direction */
        {"line\u2028end\u2029", "line?end?"},
        {"\xff\xc3[\xed\xa0\x80", "??[???"},
        {"", ""},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_buf out;
        rung_buf_init(&out);
        rung_buf_puts(&out, "");
        rung_buf_shown(&out, cases[i].from);
        assert_string_equal(out.text ? out.text : "", cases[i].shown);
        assert_int_equal(rung_text_is_plain(cases[i].from, 100), strcmp(cases[i].from, cases[i].shown) == 0);
        rung_buf_clear(&out);
    }
    assert_true(rung_text_is_plain("abc", 3));
    assert_false(rung_text_is_plain("abcd", 3));
    rung_error err;
    rung_fail(&err, RUNG_INPUT, "tensor '%s'",
              "a\nrung: all is well\xc2\x9b"
              "2J\u202e");
    assert_string_equal(err.text, "tensor 'a?rung: all is well?2J?'");
    rung_fail(&err, RUNG_INPUT, "column 3\n  abc\n    ^");
    assert_string_equal(err.text, "column 3\n  abc\n    ^");
}

static void cells_are_no_formulas(void **state)
{
    (void)state;
    static const struct {
        const char *from, *cell;
    } cases[] = {
        {"=1+1", "'=1+1"},
        {"+x", "'+x"},
        {"-x", "'-x"},
        {"@a", "'@a"},
        {"\tx", "'\tx"},
        {"-1", "-1"},
        {"-0.5e-3", "-0.5e-3"},
        {"+2", "+2"},
        {"-inf", "-inf"},
        {"-1+2", "'-1+2"},
        {"-", "'-"},
        {"a=b", "a=b"},
        {"=\"a\",b", "\"'=\"\"a\"\",b\""},
        {"a\nb", "\"a\nb\""},
        {"", ""},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_buf out;
        rung_buf_init(&out);
        rung_buf_csv(&out, cases[i].from);
        assert_string_equal(out.text ? out.text : "", cases[i].cell);
        rung_buf_clear(&out);
    }
}

static void numbers_are_read_back(void **state)
{
    (void)state;
    const double values[] = {0.1, -0.0, 0x1p-1074, -0x1.fffffffffffffp1023, (double)INFINITY, (double)NAN};
    double back[RUNG_COUNT(values)];
    rung_buf buf;
    rung_buf_init(&buf);
    rung_buf_reals(&buf, values, RUNG_COUNT(values));
    rung_buf_puts(&buf, "\n");
    const char *end = rung_read_reals(back, RUNG_COUNT(back), buf.text);
    assert_non_null(end);
    assert_string_equal(end, "\n");
    assert_memory_equal(back, values, sizeof values - sizeof *values);
    assert_true(isnan(back[RUNG_COUNT(back) - 1]));
    rung_buf_clear(&buf);

    assert_string_equal(rung_read_reals(back, 2, " 0x1.8p-1 -2 x"), " x"); /* as earlier files have them */
    assert_true(back[0] == 0.75 && back[1] == -2);
    const char *const bad[] = {"", " ", "1 2", " 1", " 1,5 2", " 1  2", " 1\n2", " \t1 2", " x 2", " 1 y"};
    for (size_t i = 0; i < RUNG_COUNT(bad); i++) assert_null(rung_read_reals(back, 2, bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_from_outside_steers_no_terminal),
        cmocka_unit_test(cells_are_no_formulas),
        cmocka_unit_test(numbers_are_read_back),
        cmocka_unit_test(appends_agree_with_a_plain_array),
        cmocka_unit_test(exhaustion_is_reported_once_at_the_end),
        cmocka_unit_test(json_is_read_back_for_every_pair_of_bytes),
        cmocka_unit_test(json_is_read_back_for_longer_sequences_at_every_border),
        cmocka_unit_test(json_escapes_look_as_people_expect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
