/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The worked examples of docs/certificate.md, section 6, whose numbers were found by hand: the evaluator finds the same bits.
 */
#include "rung/cert.h"
#include "rung/model.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FIXTURES "tests/fixtures/cert/"

typedef struct example {
    rung_cert cert;
    rung_model *model;
    rung_fmt fmt;
    rung_program *program;
    rung_session *session;
} example;

static void open_example(example *x, const char *cert, const char *model)
{
    rung_error err = {{0}};
    char digest[65];
    assert_int_equal(rung_cert_read(&x->cert, cert, &err), RUNG_OK);
    assert_int_equal(rung_model_open(&x->model, model, &err), RUNG_OK);
    rung_model_digest(digest, x->model);
    assert_string_equal(digest, x->cert.model);
    assert_string_equal(rung_model_get_spec(x->model)->arch, x->cert.arch);
    assert_int_equal(rung_fmt_parse(&x->fmt, x->cert.numbers, &err), RUNG_OK);
    assert_int_equal(rung_program_new(&x->program, x->model, &(rung_evaluator){.numbers = &x->fmt, .threads = 1}, &err),
                     RUNG_OK);
    assert_int_equal(rung_session_new(&x->session, x->program, x->cert.tokens, &err), RUNG_OK);
}

static void close_example(example *x)
{
    rung_session_free(x->session);
    rung_program_free(x->program);
    rung_model_close(x->model);
    rung_cert_clear(&x->cert);
}

/* Runs the first `tokens` tokens of a prompt, and asks the last of them if `ask`. */
static void run(example *x, double out[2], size_t which, size_t tokens, bool ask)
{
    rung_error err = {{0}};
    size_t last = tokens - 1;
    rung_session_reset(x->session);
    assert_int_equal(rung_session_run(x->session, out, &(rung_prompt){.token = x->cert.prompt[which], .tokens = tokens},
                                      RUNG_FORM_SCAN, &last, ask ? 1 : 0, &err),
                     RUNG_OK);
}

static void assert_hex(const char *expected, const uint8_t *packed, size_t bits)
{
    char *hex = rung_cert_hex(packed, bits, NULL);
    assert_string_equal(hex, expected);
    free(hex);
}

static void assert_view(example *x, size_t which)
{
    double out[2], view[2];
    uint8_t packed[2];
    run(x, out, which, x->cert.tokens, true);
    rung_session_view(x->session, view);
    rung_num_pack(packed, &x->fmt, view, 2);
    assert_hex(x->cert.view, packed, 16);
}

static void test_the_wrong_answer_is_given(void **state)
{
    (void)state;
    example x;
    double out[2];
    open_example(&x, FIXTURES "swap-wrong.cert", FIXTURES "swap.safetensors");
    run(&x, out, 0, x.cert.tokens, true);
    assert_int_equal(rung_argmax(out, 2), x.cert.given);
    assert_true(out[0] == 0.5 && out[1] == 1);
    close_example(&x);
}

static void test_the_states_collide(void **state)
{
    (void)state;
    example x;
    double out[2];
    uint8_t packed[1];
    open_example(&x, FIXTURES "swap-state.cert", FIXTURES "swap.safetensors");
    for (size_t which = 0; which < 2; which++) {
        run(&x, out, which, x.cert.prefix, false);
        assert_int_equal(rung_session_state_bits(x.session), 8);
        assert_int_equal(rung_session_pack(x.session, packed, NULL), RUNG_OK);
        assert_hex(x.cert.state, packed, 8);
    }
    close_example(&x);
}

static void test_the_views_collide(void **state)
{
    (void)state;
    example x;
    open_example(&x, FIXTURES "swap-view.cert", FIXTURES "swap.safetensors");
    assert_view(&x, 0);
    assert_view(&x, 1);
    close_example(&x);
}

static void test_the_block_is_summarised_alike(void **state)
{
    (void)state;
    example x;
    uint8_t packed[14]; /* 5 tokens and 2 summaries of a key and a value, 8 bits each */
    open_example(&x, FIXTURES "block.cert", FIXTURES "block.safetensors");
    for (size_t which = 0; which < 2; which++) {
        assert_view(&x, which);
        assert_int_equal(rung_session_state_bits(x.session), 8 * sizeof packed);
        assert_int_equal(rung_session_pack(x.session, packed, NULL), RUNG_OK);
        assert_hex(x.cert.summary, packed + 4, 16);
    }
    close_example(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_wrong_answer_is_given),
        cmocka_unit_test(test_the_states_collide),
        cmocka_unit_test(test_the_views_collide),
        cmocka_unit_test(test_the_block_is_summarised_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
