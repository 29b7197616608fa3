/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * JSON: document order and lookup against a random document that is built beside its text; refusals with line and
 * column; the bare numbers of Python.
 */
#include "io_test.h"

#include <math.h>

static rung_json_doc *parsed(const char *text)
{
    rung_json_doc *doc = NULL;
    rung_error err = {{0}};
    rung_status status = rung_json_parse(&doc, text, strlen(text), "t.json", &err);
    if (status) print_error("%s\n", err.text);
    assert_int_equal(status, RUNG_OK);
    return doc;
}

static void refused(const char *text, size_t len, const char *place, const char *fault)
{
    rung_json_doc *doc = (rung_json_doc *)&doc;
    rung_error err = {{0}};
    uint8_t *copy = odd_copy(text, len);
    assert_int_equal(rung_json_parse(&doc, (const char *)copy, len, "t.json", &err), RUNG_INPUT);
    assert_null(doc);
    assert_message(err, place, fault);
    assert_int_equal(rung_json_parse(&doc, (const char *)copy, len, "t.json", NULL), RUNG_INPUT);
    free_odd(copy);
}

static void refused_text(const char *text, const char *place, const char *fault)
{
    refused(text, strlen(text), place, fault);
}

static void test_kinds_and_values(void **state)
{
    (void)state;
    rung_json_doc *doc = parsed("{\"n\":null,\"t\":true,\"f\":false,\"i\":-9223372036854775808,\"r\":2.5e-1,"
                                "\"s\":\"h\\u00e9\",\"a\":[1,[],{}],\"o\":{\"k\":7}}");
    const rung_json *root = rung_json_root(doc);
    static const rung_json_kind kinds[] = {RUNG_JSON_NULL, RUNG_JSON_BOOL,   RUNG_JSON_BOOL,  RUNG_JSON_INT,
                                           RUNG_JSON_REAL, RUNG_JSON_STRING, RUNG_JSON_ARRAY, RUNG_JSON_OBJECT};
    static const char *const keys[] = {"n", "t", "f", "i", "r", "s", "a", "o"};
    assert_int_equal(rung_json_len(root), 8);
    for (size_t i = 0; i < 8; i++) {
        assert_string_equal(rung_json_key_at(root, i), keys[i]);
        assert_int_equal(rung_json_kind_of(rung_json_value_at(root, i)), kinds[i]);
        assert_ptr_equal(rung_json_get(root, keys[i]), rung_json_value_at(root, i));
    }
    int64_t integer;
    double real;
    bool truth;
    assert_true(rung_json_int(&integer, rung_json_get(root, "i")) && integer == INT64_MIN);
    assert_true(rung_json_real(&real, rung_json_get(root, "i")) && real == -0x1p63);
    assert_true(rung_json_real(&real, rung_json_get(root, "r")) && real == 0.25);
    assert_true(rung_json_bool(&truth, rung_json_get(root, "t")) && truth);
    assert_true(rung_json_bool(&truth, rung_json_get(root, "f")) && !truth);
    assert_string_equal(rung_json_string(rung_json_get(root, "s")), "h\xc3\xa9");
    assert_int_equal(rung_json_len(rung_json_get(root, "a")), 3);
    assert_int_equal(rung_json_len(rung_json_at(rung_json_get(root, "a"), 1)), 0);
    assert_non_null(rung_json_get(rung_json_get(root, "o"), "k"));
    rung_json_free(doc);
}

/* The wrong question has the answer "no", never a crash and never a conversion. */
static void test_wrong_kind_is_no_value(void **state)
{
    (void)state;
    rung_json_doc *doc = parsed("{\"i\":1,\"r\":1.0,\"s\":\"1\",\"a\":[1],\"e\":{}}");
    const rung_json *root = rung_json_root(doc);
    int64_t integer = 5;
    double real = 5;
    bool truth = true;
    assert_false(rung_json_int(&integer, rung_json_get(root, "r")));
    assert_false(rung_json_int(&integer, rung_json_get(root, "s")));
    assert_false(rung_json_int(&integer, NULL));
    assert_false(rung_json_real(&real, rung_json_get(root, "s")));
    assert_false(rung_json_real(&real, NULL));
    assert_false(rung_json_bool(&truth, rung_json_get(root, "i")));
    assert_false(rung_json_bool(&truth, NULL));
    assert_true(integer == 5 && real == 5 && truth);
    assert_null(rung_json_string(rung_json_get(root, "i")));
    assert_null(rung_json_string(NULL));
    assert_null(rung_json_get(root, "absent"));
    assert_null(rung_json_get(rung_json_get(root, "e"), "k"));
    assert_null(rung_json_get(rung_json_get(root, "a"), "k"));
    assert_null(rung_json_get(NULL, "k"));
    assert_null(rung_json_at(rung_json_get(root, "a"), 1));
    assert_null(rung_json_at(root, 0));
    assert_null(rung_json_value_at(root, 5));
    assert_null(rung_json_key_at(rung_json_get(root, "a"), 0));
    assert_int_equal(rung_json_len(NULL), 0);
    assert_int_equal(rung_json_kind_of(NULL), 0);
    assert_int_equal(rung_json_len(rung_json_get(root, "s")), 0);
    rung_json_free(doc);
    rung_json_free(NULL);
}

/* 50,000 members in an order unlike that of their names: access by position must follow the text, and reading them all
 * by position must be linear (quadratic access would take minutes here). */
static void test_order_and_lookup_of_many_members(void **state)
{
    (void)state;
    enum { COUNT = 50000 };
    uint32_t *numbers = malloc(COUNT * sizeof *numbers);
    rung_rng rng;
    rung_buf text;
    assert_non_null(numbers);
    for (uint32_t i = 0; i < COUNT; i++) numbers[i] = i;
    rung_rng_init(&rng, 1, 2, 3);
    rung_rng_shuffle(&rng, numbers, COUNT);
    rung_buf_init(&text);
    for (size_t i = 0; i < COUNT; i++) rung_buf_printf(&text, "%s\"k%u\":%u", i ? "," : "{", numbers[i], numbers[i]);
    rung_buf_putc(&text, '}');
    rung_json_doc *doc = parsed(text.text);
    const rung_json *root = rung_json_root(doc);
    assert_int_equal(rung_json_len(root), COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        char key[16];
        int64_t value = -1;
        snprintf(key, sizeof key, "k%u", numbers[i]);
        assert_string_equal(rung_json_key_at(root, i), key);
        assert_true(rung_json_int(&value, rung_json_get(root, key)) && value == numbers[i]);
    }
    rung_json_free(doc);
    rung_buf_clear(&text);
    free(numbers);
}

static void test_any_value_may_be_the_root(void **state)
{
    (void)state;
    static const char *const texts[] = {"1", "null", "\"s\"", "[]", " {} \n"};
    static const rung_json_kind kinds[] = {RUNG_JSON_INT, RUNG_JSON_NULL, RUNG_JSON_STRING, RUNG_JSON_ARRAY,
                                           RUNG_JSON_OBJECT};
    for (size_t i = 0; i < RUNG_COUNT(texts); i++) {
        rung_json_doc *doc = parsed(texts[i]);
        assert_int_equal(rung_json_kind_of(rung_json_root(doc)), kinds[i]);
        rung_json_free(doc);
    }
}

static void test_duplicate_keys_are_refused(void **state)
{
    (void)state;
    refused_text("{\"a\":1,\n \"a\":2}", "t.json:2:", "duplicate");
    refused_text("{\"a\":1, \"\\u0061\":2}", "t.json:1:", "duplicate");
    refused_text("[{\"x\":{\"\":1,\"\":1}}]", "t.json:1:", "duplicate");
}

static void test_bad_utf8_is_refused(void **state)
{
    (void)state;
    refused_text("[\"\xff\"]", "t.json:1:", "UTF-8");
    refused_text("[\"\xc0\x80\"]", "t.json:1:", "UTF-8");         /* overlong NUL */
    refused_text("[\"\xed\xa0\x80\"]", "t.json:1:", "UTF-8");     /* a surrogate */
    refused_text("[\"\xf4\x90\x80\x80\"]", "t.json:1:", "UTF-8"); /* above U+10FFFF */
    refused_text("[\"\\ud800\"]", "t.json:1:", "Unicode");
    refused("[\"a\0b\"]", 7, "t.json:1:", "control character");
    refused_text("[\"\\u0000\"]", "t.json:1:", "u0000");
    refused_text("\xef\xbb\xbf{}", "t.json:1:", "byte order mark");
}

static void test_deep_nesting_is_refused(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    refused(text, DEPTH, "t.json:1:", "depth");
    free(text);
}

static void test_malformed_text_is_refused_with_its_place(void **state)
{
    (void)state;
    refused_text("", "t.json:1:", "end of file");
    refused("", 0, "t.json:1:", "end of file");
    refused_text("{\"a\":1,\n\n  \"b\":}", "t.json:3:", "near '}'");
    refused_text("{\"a\":1} x", "t.json:1:", "end of file expected");
    refused_text("[1,]", "t.json:1:", "near ']'");
    refused_text("{'a':1}", "t.json:1:", "near");
    refused_text("[01]", "t.json:1:", "near");
    refused_text("[9223372036854775808]", "t.json:1:", "64 bits");
    refused_text("[1e999]", "t.json:1:", "overflow");
    refused_text("[Infinity]", "t.json:1:", "no such number");
    refused("{\"a\":1}\0", 8, "t.json:1:", "near");
}

/* A file can put anything into a message; none of it may steer a terminal or hide the fault. */
static void test_message_stays_one_readable_line(void **state)
{
    (void)state;
    rung_json_doc *doc;
    rung_error err = {{0}};
    char name[2000];
    memset(name, 'p', sizeof name);
    memcpy(name + sizeof name - 8, ".config", 8);
    assert_int_equal(rung_json_parse(&doc, "[\x1b[31m", 6, name, &err), RUNG_INPUT);
    assert_message(err, "pppp...pppp", "p.config:1:", "near");
    for (const char *c = err.text; *c; c++) assert_true((unsigned char)*c >= 0x20);
}

static double python_number(const char *text)
{
    rung_json_doc *doc = NULL;
    rung_error err = {{0}};
    double value = 5;
    if (rung_json_parse_python(&doc, text, strlen(text), "t.json", &err)) print_error("%s\n", err.text);
    assert_non_null(doc);
    const rung_json *item = rung_json_at(rung_json_root(doc), 0);
    assert_int_equal(rung_json_kind_of(item), RUNG_JSON_REAL);
    assert_null(rung_json_string(item));
    assert_true(rung_json_real(&value, item));
    rung_json_free(doc);
    return value;
}

static void test_python_infinities_are_reals(void **state)
{
    (void)state;
    assert_true(python_number("[Infinity]") == INFINITY);
    assert_true(python_number("[ -Infinity ]") == -INFINITY);
    assert_true(isnan(python_number("[NaN,\"\\\"Infinity\"]")));
    assert_true(python_number("[0.5, Infinity]") == 0.5);
}

static void test_python_words_inside_strings_stay(void **state)
{
    (void)state;
    const char *text = "{\"NaN\":\"a \\\" Infinity\",\"x\":NaN}";
    rung_json_doc *doc = NULL;
    assert_int_equal(rung_json_parse_python(&doc, text, strlen(text), "t.json", NULL), RUNG_OK);
    assert_string_equal(rung_json_string(rung_json_get(rung_json_root(doc), "NaN")), "a \" Infinity");
    assert_int_equal(rung_json_kind_of(rung_json_get(rung_json_root(doc), "x")), RUNG_JSON_REAL);
    rung_json_free(doc);
}

/* The mark that stands for a word can be neither forged nor used as a key, and columns are those of the file. */
static void test_python_words_keep_the_rest_strict(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"{NaN:1}", "key"},
        {"[NaNa]", "near"},
        {"[-NaN]", "near"},
        {"[1Infinity]", "near"},
        {"[\"\\uFFFF\",NaN]", "near"},
        {"[\"\xef\xbf\xbf\",NaN]", "near"},
        {"[Infinity,-Infinity,NaN,x]", "t.json:1:25:"},
        {"[\"\\", "escape"},
        {"", "end of file"},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_json_doc *doc;
        rung_error err = {{0}};
        size_t len = strlen(cases[i].text);
        uint8_t *copy = odd_copy(cases[i].text, len);
        assert_int_equal(rung_json_parse_python(&doc, (char *)copy, len, "t.json", &err), RUNG_INPUT);
        assert_message(err, "t.json", cases[i].fault);
        free_odd(copy);
    }
    rung_json_doc *doc = NULL;
    const char *own = "[\"\xef\xbf\xbf\"]"; /* a text with the mark of its own and no bare word is just text */
    assert_int_equal(rung_json_parse_python(&doc, own, strlen(own), "t.json", NULL), RUNG_OK);
    assert_string_equal(rung_json_string(rung_json_at(rung_json_root(doc), 0)), "\xef\xbf\xbf");
    rung_json_free(doc);
}

static void test_open_reads_files_and_names_them(void **state)
{
    (void)state;
    test_directory dir;
    rung_json_doc *doc = NULL;
    rung_error err = {{0}};
    enter_directory(&dir);
    assert_int_equal(rung_file_write(path_in(&dir, "a.json"), "{\"x\":Infinity}", 14, &err), RUNG_OK);
    assert_int_equal(rung_json_open(&doc, path_in(&dir, "a.json"), &err), RUNG_INPUT);
    assert_message(err, path_in(&dir, "a.json"), ":1:");
    assert_int_equal(rung_json_open_python(&doc, path_in(&dir, "a.json"), &err), RUNG_OK);
    assert_int_equal(rung_json_len(rung_json_root(doc)), 1);
    rung_json_free(doc);
    assert_int_equal(rung_json_open(&doc, path_in(&dir, "absent"), &err), RUNG_INPUT);
    assert_message(err, path_in(&dir, "absent"));
    assert_int_equal(rung_json_open(&doc, dir.path, &err), RUNG_INPUT);
    assert_message(err, dir.path, "directory");
    leave_directory(&dir, (const char *[]){"a.json", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_and_values),
        cmocka_unit_test(test_wrong_kind_is_no_value),
        cmocka_unit_test(test_order_and_lookup_of_many_members),
        cmocka_unit_test(test_any_value_may_be_the_root),
        cmocka_unit_test(test_duplicate_keys_are_refused),
        cmocka_unit_test(test_bad_utf8_is_refused),
        cmocka_unit_test(test_deep_nesting_is_refused),
        cmocka_unit_test(test_malformed_text_is_refused_with_its_place),
        cmocka_unit_test(test_message_stays_one_readable_line),
        cmocka_unit_test(test_python_infinities_are_reals),
        cmocka_unit_test(test_python_words_inside_strings_stay),
        cmocka_unit_test(test_python_words_keep_the_rest_strict),
        cmocka_unit_test(test_open_reads_files_and_names_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
