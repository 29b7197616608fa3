/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * word: the edit distance against a breadth-first search through single edits, and integers against strtoll.
 */
#include "rung/base.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Words over {a, b} of up to TOP letters as numbers: the letters as bits below a leading one. */
enum { TOP = 10, CODES = 1 << (TOP + 1) };

static int code_len(int code)
{
    int len = 0;
    while (code > 1) code >>= 1, len++;
    return len;
}

static void spell(char *text, int code)
{
    int len = code_len(code);
    for (int i = 0; i < len; i++) text[i] = code >> (len - 1 - i) & 1 ? 'b' : 'a';
    text[len] = '\0';
}

/* All codes one edit away from `code`; returns how many. */
static size_t neighbours(int *out, int code)
{
    int len = code_len(code);
    size_t count = 0;
    for (int i = 0; i < len; i++) {
        int high = code >> (i + 1), low = code & ((1 << i) - 1);
        out[count++] = code ^ 1 << i;                                                              /* substitute */
        out[count++] = high << i | low;                                                            /* delete */
        if (i + 1 < len && (code >> i & 1) != (code >> (i + 1) & 1)) out[count++] = code ^ 3 << i; /* swap */
    }
    for (int i = 0; i <= len && len < TOP; i++) {
        int high = code >> i, low = code & ((1 << i) - 1);
        out[count++] = (high << 1) << i | low; /* insert a, b */
        out[count++] = (high << 1 | 1) << i | low;
    }
    return count;
}

static void distances_by_search(int *distance, int from)
{
    static int queue[CODES];
    size_t head = 0, tail = 0;
    for (int i = 0; i < CODES; i++) distance[i] = -1;
    distance[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        int code = queue[head++], near[5 * TOP + 2];
        size_t count = neighbours(near, code);
        for (size_t i = 0; i < count; i++) {
            if (distance[near[i]] >= 0) continue;
            distance[near[i]] = distance[code] + 1;
            queue[tail++] = near[i];
        }
    }
}

static int allowed_distance(int len)
{
    return len / 3 > 1 ? len / 3 : 1;
}

static void near_enough_is_exactly_the_number_of_edits(void **state)
{
    (void)state;
    static int distance[CODES];
    size_t near = 0, far = 0;
    for (int from = 2; from < 1 << TOP; from += from < 64 ? 1 : 7) {
        char word[TOP + 1], candidate[TOP + 1];
        const char *candidates[1] = {candidate};
        spell(word, from);
        distances_by_search(distance, from);
        for (int to = 1; to < 1 << TOP; to++) {
            int longest = code_len(from) > code_len(to) ? code_len(from) : code_len(to);
            bool expected = distance[to] <= allowed_distance(code_len(from)) && distance[to] < longest;
            spell(candidate, to);
            assert_int_equal(rung_nearest_name(word, candidates, 1) != NULL, expected);
            *(expected ? &near : &far) += 1;
        }
    }
    assert_true(near > 1000 && far > 1000);
}

static void nearest_of_many_is_the_first_with_the_least_edits(void **state)
{
    (void)state;
    static int distance[CODES];
    rung_rng rng;
    rung_rng_init(&rng, 4, 0, 0);
    for (int trial = 0; trial < 2000; trial++) {
        char word[TOP + 1], texts[8][TOP + 1];
        const char *candidates[8], *expected = NULL;
        int from = 256 + (int)rung_rng_below(&rng, 256), best = 99;
        spell(word, from);
        distances_by_search(distance, from);
        for (int i = 0; i < 8; i++) {
            int to = 1 + (int)rung_rng_below(&rng, (1 << TOP) - 1);
            spell(texts[i], to);
            candidates[i] = texts[i];
            if (distance[to] > allowed_distance(8) || distance[to] >= best) continue;
            best = distance[to];
            expected = texts[i];
        }
        assert_ptr_equal(rung_nearest_name(word, candidates, 8), expected);
    }
}

static void people_get_the_suggestions_they_expect(void **state)
{
    (void)state;
    static const char *const names[] = {"heads", "width", "layers", "T", "seqcomp"};
    static const struct {
        const char *typed, *meant;
    } cases[] = {{"haeds", "heads"},  {"head", "heads"}, {"WIDTH", "width"}, {"widht", "width"}, {"laiers", "layers"},
                 {"t", "T"},          {"x", NULL},       {"", NULL},         {"zebra", NULL},    {"sqecmop", "seqcomp"},
                 {"completely", NULL}};
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        const char *got = rung_nearest_name(cases[i].typed, names, RUNG_COUNT(names));
        if (cases[i].meant) assert_non_null(got);
        if (cases[i].meant) assert_string_equal(got, cases[i].meant);
        if (!cases[i].meant) assert_null(got);
    }
}

static void words_of_any_length_and_byte_are_safe(void **state)
{
    (void)state;
    char longest[200], just[65], over[66];
    memset(longest, '\xff', sizeof longest - 1);
    memset(just, 'a', sizeof just - 1);
    memset(over, 'a', sizeof over - 1);
    longest[199] = just[64] = over[65] = '\0';
    const char *candidates[] = {longest, over, just};
    assert_null(rung_nearest_name(longest, candidates, 3));
    assert_ptr_equal(rung_nearest_name(just, candidates, 3), just);
    assert_null(rung_nearest_name("a", candidates, 0));
}

/* ---- integers ------------------------------------------------------------------------------------------------------ */

static bool int_by_strtoll(int64_t *out, const char *text, int64_t low, int64_t high)
{
    const char *digits = text + (text[0] == '-');
    if (!*digits || strspn(digits, "0123456789") != strlen(digits)) return false;
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno != 0 || value < low || value > high) return false;
    *out = value;
    return true;
}

static void check_int(const char *text, int64_t low, int64_t high)
{
    int64_t got = 77, expected = 77;
    assert_int_equal(rung_parse_int(&got, text, low, high), int_by_strtoll(&expected, text, low, high));
    assert_true(got == expected);
}

static void integers_agree_with_strtoll_at_every_border(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "-",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "1x",
                                        "x",
                                        "0",
                                        "-0",
                                        "007",
                                        "--1",
                                        "1-",
                                        "1.0",
                                        "1e3",
                                        "0x10",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "-9223372036854775808",
                                        "-9223372036854775809",
                                        "18446744073709551616",
                                        "92233720368547758070",
                                        "00000000000000000000000000000000001",
                                        "\xd9\xa1"};
    static const int64_t borders[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, 7, INT64_MAX - 1, INT64_MAX};
    for (size_t low = 0; low < RUNG_COUNT(borders); low++)
        for (size_t high = 0; high < RUNG_COUNT(borders); high++) {
            for (size_t i = 0; i < RUNG_COUNT(texts); i++) check_int(texts[i], borders[low], borders[high]);
            for (int64_t nearby = -2; nearby <= 2; nearby++) {
                char text[32];
                snprintf(text, sizeof text, "%" PRId64, (int64_t)((uint64_t)borders[low] + (uint64_t)nearby));
                check_int(text, borders[low], borders[high]);
            }
        }
}

static void integers_agree_with_strtoll_on_random_texts(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 5, 0, 0);
    for (int trial = 0; trial < 200000; trial++) {
        char text[32];
        size_t len = rung_rng_below(&rng, 23);
        for (size_t i = 0; i < len; i++) text[i] = "0123456789999999-"[rung_rng_below(&rng, i == 0 ? 17 : 16)];
        text[len] = '\0';
        check_int(text, INT64_MIN, INT64_MAX);
        check_int(text, -1000, 1000);
    }
}

static void words_of_other_programs_have_ours(void **state)
{
    (void)state;
    static const char *const options[] = {"rate", "batch", "count"}, *const formats[] = {"f32", "f16", "e4m3"};
    assert_string_equal(rung_nearest_name("lr", options, 3), "rate");
    assert_string_equal(rung_nearest_name("Learning_Rate", options, 3), "rate");
    assert_string_equal(rung_nearest_name("batch-size", options, 3), "batch");
    assert_string_equal(rung_nearest_name("float-8_e4m3", formats, 3), "e4m3");
    assert_null(rung_nearest_name("lr", formats, 3));            /* ours must be among the candidates */
    assert_null(rung_nearest_name("learningrates", options, 3)); /* the whole word counts */
    assert_null(rung_nearest_name("-_-", options, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_enough_is_exactly_the_number_of_edits),
        cmocka_unit_test(nearest_of_many_is_the_first_with_the_least_edits),
        cmocka_unit_test(people_get_the_suggestions_they_expect),
        cmocka_unit_test(words_of_other_programs_have_ours),
        cmocka_unit_test(words_of_any_length_and_byte_are_safe),
        cmocka_unit_test(integers_agree_with_strtoll_at_every_border),
        cmocka_unit_test(integers_agree_with_strtoll_on_random_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
