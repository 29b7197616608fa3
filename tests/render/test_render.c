/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * JSON byte by byte, text that cannot become markup, and a line through points.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "rung/render.h"

static void write_name(rung_buf *out, const void *name)
{
    rung_buf_printf(out, "<%s>", (const char *)name);
}

static void fill(rung_jout *json)
{
    rung_jout_string(json, "text", "a\"b");
    rung_jout_string(json, "none", NULL);
    rung_jout_flat_array(json, "numbers");
    rung_jout_int(json, NULL, -3);
    rung_jout_count(json, NULL, UINT64_MAX);
    rung_jout_real(json, NULL, 0.1);
    rung_jout_real(json, NULL, NAN);
    rung_jout_float(json, NULL, 0.1f);
    rung_jout_end(json);
    rung_jout_object(json, "inner");
    rung_jout_bool(json, "yes", true);
    rung_jout_end(json);
    rung_jout_written(json, "written", write_name, "x");
}

static void json_has_these_bytes(void **state)
{
    rung_buf out;
    rung_jout json;
    (void)state;
    rung_buf_init(&out);
    rung_jout_begin(&json, &out, "rung.test/1", false);
    fill(&json);
    rung_jout_finish(&json);
    assert_string_equal(
        out.text, "{\"schema\":\"rung.test/1\",\"text\":\"a\\\"b\",\"none\":null,"
                  "\"numbers\":[-3,9223372036854775807,0.1,null,0.1],\"inner\":{\"yes\":true},\"written\":\"<x>\"}\n");
    rung_buf_reset(&out);
    rung_jout_begin(&json, &out, NULL, true);
    fill(&json);
    rung_jout_finish(&json);
    assert_string_equal(
        out.text,
        "{\n  \"text\": \"a\\\"b\",\n  \"none\": null,\n  \"numbers\": [-3, 9223372036854775807, 0.1, null, 0.1],\n"
        "  \"inner\": {\n    \"yes\": true\n  },\n  \"written\": \"<x>\"\n}\n");
    rung_buf_clear(&out);
}

static void text_is_no_markup(void **state)
{
    rung_buf out;
    (void)state;
    rung_buf_init(&out);
    rung_text_escape(&out, "<b a='\"'>&\x01\xff\xc3\xa9");
    assert_string_equal(out.text, "&lt;b a=&#39;&quot;&#39;&gt;&amp;??\xc3\xa9");
    rung_buf_reset(&out);
    rung_svg_text(&out, 1, 2.25, "dim", "end", "<");
    assert_string_equal(out.text, "<text class=\"dim\" x=\"1.0\" y=\"2.2\" text-anchor=\"end\">&lt;</text>\n");
    rung_buf_clear(&out);
}

static void characters_of_utf8(void **state)
{
    static const struct {
        const char *text;
        size_t len;
    } cases[] = {{"a", 1},
                 {"\xc3\xa9", 2},
                 {"\xe2\x82\xac", 3},
                 {"\xf0\x9f\x98\x80", 4},
                 {"\xc0\xaf", 0},         /* overlong */
                 {"\xed\xa0\x80", 0},     /* a surrogate */
                 {"\xef\xbf\xbe", 0},     /* U+FFFE */
                 {"\xf4\x90\x80\x80", 0}, /* beyond the last one */
                 {"\xc3", 0},
                 {"\x80", 0}};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) assert_int_equal(rung_text_character(cases[i].text), cases[i].len);
}

static void least_squares(void **state)
{
    const double x[] = {1, 2, 4, 7}, y[] = {3, 5, 9, 15}, same[] = {2, 2, 2, 2}, off[] = {0, 1, 0, 1};
    double intercept, slope;
    (void)state;
    assert_true(rung_plot_fit(&intercept, &slope, x, y, 4));
    assert_true(fabs(intercept - 1) < 1e-12 && fabs(slope - 2) < 1e-12);
    assert_false(rung_plot_fit(&intercept, &slope, same, y, 4));
    assert_false(rung_plot_fit(&intercept, &slope, x, y, 1));
    /* the residuals of the best line are orthogonal to 1 and to x */
    assert_true(rung_plot_fit(&intercept, &slope, x, off, 4));
    double sum = 0, product = 0;
    for (size_t i = 0; i < 4; i++) {
        double residual = off[i] - intercept - slope * x[i];
        sum += residual, product += residual * x[i];
    }
    assert_true(fabs(sum) < 1e-12 && fabs(product) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_has_these_bytes),
        cmocka_unit_test(text_is_no_markup),
        cmocka_unit_test(characters_of_utf8),
        cmocka_unit_test(least_squares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
