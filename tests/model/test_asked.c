/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Only what is asked is computed in the last layer, and that changes no bit: neither of the read-outs nor of what the session
 * carries on.
 */
#include "model_test.h"

enum { TOKENS = 21, MORE = 5 };

static const char *const archs[] = {"full",          "window:W=4",      "linear",         "delta:conv=3:gate=1",
                                    "mamba2",        "loglinear",       "sparse:B=4:k=1", "dsa:k=3:HI=2:DI=2",
                                    "rnn:kind=lstm", "full@1|linear@1", "linear,full",    "full,gdelta:unit=1"};

/* Read-outs at `at` of the first TOKENS tokens, then of MORE; and what is carried at the end. */
static void run_asked(double *out, double *later, uint8_t *packed, const rung_program *program, const test_prompt *p,
                      const rung_model_spec *spec, rung_form form, const size_t *at, size_t asked)
{
    rung_session *session = session_of(program, TOKENS + MORE);
    rung_prompt first = part_of(p, spec, 0, TOKENS), second = part_of(p, spec, TOKENS, MORE);
    const size_t end = MORE - 1;
    CHECK(rung_session_run(session, out, &first, form, at, asked, &check_err));
    if (spec->causal) {
        CHECK(rung_session_run(session, later, &second, form, &end, 1, &check_err));
        CHECK(rung_session_pack(session, packed, &check_err));
    }
    rung_session_free(session);
}

static void compare(const char *arch, const char *format, rung_form form, bool causal)
{
    rung_model_spec spec = small_spec(arch);
    spec.causal = causal, spec.norm = RUNG_NORM_RMS, spec.mlp = "swiglu";
    rung_model *model = random_model(&spec, 3);
    rung_program *program = program_of(model, format, 2);
    test_prompt p = draw_prompt(&spec, TOKENS + MORE, 5);
    enum { PACKED = 1 << 16 };
    static uint8_t whole_bits[PACKED], some_bits[PACKED], none_bits[PACKED];
    double whole[TOKENS * 5], some[4 * 5], later[3][5] = {{0}};
    size_t every[TOKENS];
    const size_t at[] = {17, 3, 20, 3}; /* in any order, one of them twice */
    for (size_t t = 0; t < TOKENS; t++) every[t] = t;
    run_asked(whole, later[0], whole_bits, program, &p, &spec, form, every, TOKENS);
    run_asked(some, later[1], some_bits, program, &p, &spec, form, at, RUNG_COUNT(at));
    run_asked(NULL, later[2], none_bits, program, &p, &spec, form, NULL, 0);
    for (size_t i = 0; i < RUNG_COUNT(at); i++) assert_memory_equal(some + i * 5, whole + at[i] * 5, 5 * sizeof *whole);
    assert_memory_equal(later[0], later[1], sizeof later[0]);
    assert_memory_equal(later[0], later[2], sizeof later[0]);
    assert_memory_equal(whole_bits, some_bits, PACKED);
    assert_memory_equal(whole_bits, none_bits, PACKED);
    rung_program_free(program);
    rung_model_close(model);
}

static bool has_encoder(const char *arch)
{
    return !strstr(arch, "loglinear") && !strstr(arch, "sparse");
}

static void what_nobody_asks_changes_nothing(void **state)
{
    static const char *const formats[] = {NULL, "f32", "bf16", "e5m10"};
    (void)state;
    for (size_t a = 0; a < RUNG_COUNT(archs); a++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++)
            for (int step = 0; step < 2; step++) {
                compare(archs[a], formats[f], step ? RUNG_FORM_STEP : RUNG_FORM_SCAN, true);
                if (has_encoder(archs[a])) compare(archs[a], formats[f], step ? RUNG_FORM_STEP : RUNG_FORM_SCAN, false);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_nobody_asks_changes_nothing)};
    return cmocka_run_group_tests_name("model: asked", tests, NULL, remove_test_file);
}
