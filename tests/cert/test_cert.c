/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Certificates as text: what is printed is read back, every breach of the grammar is refused with its line, and whatever the
 * bytes are, a text is accepted only if printing what was read gives it back.
 */
#include "rung/cert.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HEAD(kind)                                                                                                     \
    "rung-certificate 1\nkind " kind "\nmodel " DIGEST "\narch full, 2*linear:phi=relu\nnumbers e8m3\n"                \
    "task seqcomp L=1 N0=4 n= V=4\n"

static const char *const legal[] = {
    HEAD("wrong-answer") "prompt 0 4294967295 7\nposition 2\nright 1\ngiven 2147483647\nend\n",
    HEAD("state-collision") "prompt 0 1 7\nprompt 1 0 7\nprefix 2\nposition 2\nright 1 2\nstate 00ff3\nend\n",
    HEAD("view-collision") "prompt 5\nprompt 5\nposition 0\nright 0 1\nview 9\nend\n",
    HEAD("block-collision") "prompt 1 2\nprompt 3 2\nposition 1\nright 0 1\nlayer 0\nblock 0\nsummary ab\nview "
                            "cd\nend\n",
    "rung-certificate 2\nkind wrong-answer\nmodel " DIGEST
    "\narch full\nnumbers weights=bf16,act=bf16,acc=f32,state=bf16,"
    "cache=bf16,gate=f32,beta=bf16\ntask eva\nprompt 1\nposition 0\nright 1\ngiven 0\nend\n",
};

static rung_status parse(rung_cert *cert, const char *text, rung_error *err)
{
    *err = (rung_error){{0}};
    return rung_cert_parse(cert, text, strlen(text), "c", err);
}

static void assert_prints(const rung_cert *cert, const char *text, size_t size)
{
    rung_buf out;
    rung_buf_init(&out);
    rung_cert_print(&out, cert);
    assert_int_equal(rung_buf_ok(&out, NULL), RUNG_OK);
    assert_int_equal(out.len, size);
    assert_memory_equal(out.text, text, size);
    rung_buf_clear(&out);
}

static void test_what_is_read_is_what_stands_there(void **state)
{
    (void)state;
    rung_cert c;
    rung_error err;
    assert_int_equal(parse(&c, legal[1], &err), RUNG_OK);
    assert_int_equal(c.kind, RUNG_CERT_STATE_COLLISION);
    assert_string_equal(c.model, DIGEST);
    assert_string_equal(c.arch, "full, 2*linear:phi=relu");
    assert_string_equal(c.numbers, "e8m3");
    assert_string_equal(c.task, "seqcomp L=1 N0=4 n= V=4");
    assert_int_equal(c.tokens, 3);
    assert_int_equal(c.prompt[0][2], 7);
    assert_int_equal(c.prompt[1][0], 1);
    assert_int_equal(c.prefix, 2);
    assert_int_equal(c.position, 2);
    assert_int_equal(c.right[0], 1);
    assert_int_equal(c.right[1], 2);
    assert_string_equal(c.state, "00ff3");
    assert_null(c.view);
    assert_null(c.summary);
    rung_cert_clear(&c);
    assert_int_equal(parse(&c, legal[0], &err), RUNG_OK);
    assert_true(c.prompt[0][1] == UINT32_MAX && c.given == INT32_MAX && c.prompt[1] == NULL);
    rung_cert_clear(&c);
    assert_int_equal(parse(&c, legal[3], &err), RUNG_OK);
    assert_string_equal(c.summary, "ab");
    assert_string_equal(c.view, "cd");
    assert_true(c.layer == 0 && c.block == 0 && c.right[1] == 1);
    rung_cert_clear(&c);
}

static void test_every_kind_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(legal); i++) {
        rung_cert c, copy;
        rung_error err;
        assert_int_equal(parse(&c, legal[i], &err), RUNG_OK);
        assert_prints(&c, legal[i], strlen(legal[i]));
        assert_int_equal(rung_cert_copy(&copy, &c, &err), RUNG_OK);
        rung_cert_clear(&c); /* the copy owns everything */
        assert_prints(&copy, legal[i], strlen(legal[i]));
        rung_cert_clear(&copy);
    }
}

static void test_copy_leaves_what_the_kind_does_not_have(void **state)
{
    (void)state;
    rung_cert c, copy;
    rung_error err;
    char junk[] = "junk";
    assert_int_equal(parse(&c, legal[0], &err), RUNG_OK);
    c.prefix = 9, c.right[1] = 9, c.block = 9, c.state = junk; /* not of this kind */
    assert_int_equal(rung_cert_copy(&copy, &c, &err), RUNG_OK);
    assert_true(copy.prefix == 0 && copy.right[1] == 0 && copy.block == 0 && copy.state == NULL);
    c.state = NULL;
    rung_cert_clear(&c);
    rung_cert_clear(&copy);
}

/* ---- the grammar ---------------------------------------------------------------------------------------------------- */

typedef struct defect {
    size_t of; /* which legal text */
    const char *from, *to;
    const char *message; /* begins with the line */
} defect;

static const defect defects[] = {
    {0, "rung-certificate 1", "rung-certificate 3", "c:1: "},
    {0, "rung-certificate 1", "rung-certificate 2", "c:5: expected the line 'numbers FORMAT'; version 2 is for mixed"},
    {4, "rung-certificate 2", "rung-certificate 1", "c:5: expected the line 'numbers FORMAT'; mixed formats"},
    {0, "rung-certificate 1", "rung-certificate", "c:1: "},
    {0, "rung-certificate 1\n", "", "c:1: "},
    {0, "rung-certificate 1\n", "rung-certificate 1\r\n",
     "c:1: expected the line 'rung-certificate VERSION'; the line ends with CR"},
    {0, "rung-certificate 1\n", "\nrung-certificate 1\n",
     "c:1: expected the line 'rung-certificate VERSION'; the line is empty"},
    {0, "kind wrong-answer", "kind wrong", "c:2: "},
    {0, "kind wrong-answer", "kind state-collision", "c:8: expected the line 'prompt ID ID ... (the second one)'"},
    {1, "kind state-collision", "kind wrong-answer", "c:8: expected the line 'position INDEX', found 'prompt 1 0 7'"},
    {0, DIGEST, "0123", "c:3: "},
    {0, "model 0123456789ab", "model 0123456789AB", "c:3: "},
    {0, DIGEST, DIGEST "0", "c:3: "},
    {0, "arch full", "arch  full", "c:4: "},
    {0, "arch full, 2", "arch full,  2", "c:4: "},
    {0, "=relu\n", "=relu \n", "c:4: "},
    {0, "arch full", "arch f\tull", "c:4: "},
    {0, "arch full", "arch f\x7full", "c:4: "},
    {0, "arch full", "arch f\xc3\xa4ll", "c:4: "},
    {0, "numbers e8m3", "numbers e8m3 f32", "c:5: "},
    {0, "numbers e8m3\n", "", "c:5: "},
    {0, "numbers e8m3\n", "numbers e8m3\nnumbers e8m3\n", "c:6: "},
    {0, "N0=4 n=", "N0 n=", "c:6: "},
    {0, "N0=4 n=", "N0=4 =n", "c:6: "},
    {0, "prompt 0 4294967295 7", "prompt 0 4294967296 7", "c:7: "},
    {0, "prompt 0 4294967295 7", "prompt 0 42949672950 7", "c:7: "},
    {0, "prompt 0 4294967295 7", "prompt", "c:7: "},
    {0, "prompt 0 4294967295 7", "prompt 0 07", "c:7: "},
    {0, "prompt 0 4294967295 7", "prompt 0 -7", "c:7: "},
    {0, "prompt 0 4294967295 7", "prompt 0 +7", "c:7: "},
    {0, "prompt 0 4294967295 7", "prompt 0 7a", "c:7: "},
    {0, "prompt 0 4294967295 7", "prompts 0 7", "c:7: "},
    {1, "prompt 1 0 7", "prompt 1 0", "c:8: "},
    {1, "prefix 2", "prefix 2 3", "c:9: "},
    {1, "prefix 2\n", "", "c:9: "},
    {1, "prefix 2\nposition 2\n", "position 2\nprefix 2\n", "c:9: "},
    {0, "position 2", "position 2147483648", "c:8: "},
    {0, "right 1", "right 1 2", "c:9: "},
    {1, "right 1 2", "right 1", "c:11: "},
    {1, "right 1 2", "right 1 2 3", "c:11: "},
    {0, "given 2147483647", "given 2147483648", "c:10: "},
    {0, "given 2147483647\n", "given 2147483647\nstate 00\n", "c:11: "},
    {1, "state 00ff3", "state 00fF3", "c:12: "},
    {1, "state 00ff3", "state 00 ff3", "c:12: "},
    {1, "state 00ff3", "state", "c:12: "},
    {2, "view 9", "view 0x9", "c:11: "},
    {3, "layer 0\nblock 0", "block 0\nlayer 0", "c:11: "},
    {3, "summary ab\n", "", "c:13: "},
    {0, "\nend\n", "\nend", "c:11: expected the line 'end'; no newline"},
    {0, "\nend\n", "\nend \n", "c:11: "},
    {0, "\nend\n", "\nend 1\n", "c:11: expected the line 'end'; something follows"},
    {0, "\nend\n", "\n", "c:11: expected the line 'end'; the file ends here"},
    {0, "\nend\n", "\nend\n\n", "c:12: nothing may follow"},
    {0, "\nend\n", "\nend\nend\n", "c:12: nothing may follow"},
    {0, "\nend\n", "\nending\n", "c:11: "},
};

static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(out);
    memcpy(out, text, (size_t)(at - text));
    strcpy(out + (at - text), to);
    strcat(out, at + strlen(from));
    return out;
}

static void test_every_defect_is_refused_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(defects); i++) {
        rung_cert c;
        rung_error err;
        char *text = replaced(legal[defects[i].of], defects[i].from, defects[i].to);
        if (parse(&c, text, &err) != RUNG_INPUT) fail_msg("defect %zu is accepted:\n%s", i, text);
        if (strncmp(err.text, defects[i].message, strlen(defects[i].message)) != 0)
            fail_msg("defect %zu: '%s' does not begin with '%s'", i, err.text, defects[i].message);
        assert_true(c.kind == 0 && c.arch == NULL && c.prompt[0] == NULL);
        free(text);
    }
}

static void test_a_text_cut_anywhere_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(legal); i++)
        for (size_t size = 0; size < strlen(legal[i]); size++) {
            rung_cert c;
            rung_error err = {{0}};
            char *own = malloc(size ? size : 1); /* so that a sanitizer sees a step too far */
            memcpy(own, legal[i], size);
            assert_int_equal(rung_cert_parse(&c, own, size, "c", &err), RUNG_INPUT);
            assert_true(err.text[0] != '\0');
            free(own);
        }
}

/* ---- mutations ------------------------------------------------------------------------------------------------------ */

static void mutate(char *text, size_t *size, rung_rng *rng)
{
    static const char likely[] = " \n0123456789abcdefxklp-=\r\t";
    size_t at = (size_t)rung_rng_below(rng, *size);
    char byte = rung_rng_below(rng, 4) ? likely[rung_rng_below(rng, sizeof likely)] : (char)rung_rng_below(rng, 256);
    switch (rung_rng_below(rng, 3)) {
    case 0:
        text[at] = byte;
        break;
    case 1:
        memmove(text + at + 1, text + at, *size - at);
        text[at] = byte, ++*size;
        break;
    default:
        memmove(text + at, text + at + 1, *size - at - 1);
        --*size;
    }
}

static void test_mutations_are_refused_or_come_back(void **state)
{
    (void)state;
    size_t accepted = 0, rounds = 200000;
    rung_rng rng;
    rung_rng_init(&rng, 6, 1, 0);
    for (size_t i = 0; i < rounds; i++) {
        const char *from = legal[rung_rng_below(&rng, RUNG_COUNT(legal))];
        size_t size = strlen(from), changes = 1 + (size_t)rung_rng_below(&rng, 3);
        char room[600];
        memcpy(room, from, size);
        for (size_t m = 0; m < changes; m++) mutate(room, &size, &rng);
        char *text = malloc(size);
        memcpy(text, room, size);
        rung_cert c;
        rung_error err = {{0}};
        rung_status status = rung_cert_parse(&c, text, size, "c", &err);
        assert_true(status == RUNG_OK || (status == RUNG_INPUT && strncmp(err.text, "c:", 2) == 0));
        if (status == RUNG_OK) assert_prints(&c, text, size), accepted++;
        rung_cert_clear(&c);
        free(text);
    }
    assert_true(accepted > rounds / 100 && accepted < rounds); /* both sides were reached */
}

/* ---- files, digits, words -------------------------------------------------------------------------------------------- */

static void test_files_come_back(void **state)
{
    (void)state;
    char path[] = "/tmp/rung-cert-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    rung_cert c, again;
    rung_error err;
    assert_int_equal(parse(&c, legal[3], &err), RUNG_OK);
    assert_int_equal(rung_cert_write(path, &c, &err), RUNG_OK);
    assert_int_equal(rung_cert_read(&again, path, &err), RUNG_OK);
    assert_prints(&again, legal[3], strlen(legal[3]));
    rung_cert_clear(&c), rung_cert_clear(&again);
    unlink(path);
    assert_int_equal(rung_cert_read(&again, path, &err), RUNG_INPUT);
    assert_non_null(strstr(err.text, path));
}

/* Bit by bit, the other way round: the digit is built from its bits. */
static void test_hexadecimal_is_the_bits(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 6, 2, 0);
    for (size_t bits = 0; bits < 70; bits++) {
        uint8_t packed[10];
        for (size_t i = 0; i < sizeof packed; i++) packed[i] = (uint8_t)rung_rng_below(&rng, 256);
        char *hex = rung_cert_hex(packed, bits, NULL);
        assert_int_equal(strlen(hex), (bits + 3) / 4);
        for (size_t d = 0; d < (bits + 3) / 4; d++) {
            unsigned digit = 0;
            for (size_t b = 4 * d; b < 4 * d + 4; b++)
                digit = 2 * digit + (b < bits ? packed[b / 8] >> (7 - b % 8) & 1 : 0);
            char expected[2];
            snprintf(expected, sizeof expected, "%x", digit);
            assert_int_equal(hex[d], expected[0]);
        }
        free(hex);
    }
}

static void test_statements_name_what_is_claimed(void **state)
{
    (void)state;
    static const char *const says[] = {"answers 2147483647 to a prompt of 3 tokens whose answer is 1",
                                       "two prefixes of 2 tokens, which differ in 2", "differ in 0 of 1 tokens",
                                       "block 0 of layer 0"};
    for (size_t i = 0; i < RUNG_COUNT(says); i++) {
        rung_cert c;
        rung_error err;
        rung_buf out;
        rung_buf_init(&out);
        assert_int_equal(parse(&c, legal[i], &err), RUNG_OK);
        rung_cert_statement(&out, &c);
        assert_non_null(strstr(out.text, says[i]));
        assert_non_null(strstr(out.text, "full, 2*linear:phi=relu"));
        assert_non_null(strstr(out.text, "e8m3"));
        assert_non_null(strstr(out.text, "seqcomp L=1"));
        rung_buf_clear(&out);
        rung_cert_clear(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_read_is_what_stands_there),
        cmocka_unit_test(test_every_kind_comes_back),
        cmocka_unit_test(test_copy_leaves_what_the_kind_does_not_have),
        cmocka_unit_test(test_every_defect_is_refused_with_its_line),
        cmocka_unit_test(test_a_text_cut_anywhere_is_refused),
        cmocka_unit_test(test_mutations_are_refused_or_come_back),
        cmocka_unit_test(test_files_come_back),
        cmocka_unit_test(test_hexadecimal_is_the_bits),
        cmocka_unit_test(test_statements_name_what_is_claimed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
