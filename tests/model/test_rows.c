/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A prompt cut in two, taken through the layers one at a time, with the states handed over by the caller: the read-outs and the
 * view of the last token are those of a session that sees it in one piece.
 */
#include "model_test.h"

enum { TOKENS = 13, CUT = 6, STATE = 4096, SCRATCH = 1 << 18, WIDE = 64 };

static const char *const archs[] = {
    "full",          "window:W=4",     "linear",          "delta:conv=3:gate=1", "mamba2",    "loglinear",
    "rnn:kind=lstm", "sparse:B=4:k=1", "full@1|linear@1", "linear,full,gla",     "kda:unit=1"};
static const char *const formats[] = {"bf16", "q9.20", "e5m3"};

typedef struct group_memory {
    double mech[STATE], conv[STATE];
} group_memory;

static void mix_group(rung_rows *rows, group_memory *memory, const rung_mech_conf *conf, const rung_fmt *fmt,
                      size_t pos, size_t tokens, size_t layer, size_t group)
{
    static double scratch[SCRATCH];
    double o[TOKENS * WIDE];
    assert_true(conf->mech->scratch(conf, TOKENS) <= SCRATCH && rung_mech_state_capacity(conf, TOKENS) <= STATE);
    rung_stretch_exact s = {.conf = conf, .fmt = fmt, .o = o, .state = memory->mech, .pos = pos, .tokens = tokens};
    s.scratch = scratch, s.scratch_size = SCRATCH;
    rung_rows_inputs(rows, s.in, memory->conv, layer, group);
    rung_stretch_scan_exact(&s, 1);
    rung_rows_answer(rows, o, layer, group);
}

static void compare(const char *arch_text, const char *format, rung_norm norm, const char *mlp)
{
    rung_model_spec spec = small_spec(arch_text);
    spec.norm = norm, spec.mlp = mlp;
    rung_model *model = random_model(&spec, 7);
    rung_program *program = program_of(model, format, 1);
    const rung_arch *arch = rung_model_get_arch(model);
    test_prompt p = draw_prompt(&spec, TOKENS, 11);
    rung_fmt fmt;
    CHECK(rung_fmt_parse(&fmt, format, &check_err));

    const size_t start[] = {0, CUT}, count[] = {CUT, TOKENS - CUT}, last = TOKENS - 1;
    rung_rows *rows[2];
    for (int i = 0; i < 2; i++) {
        rung_prompt part = part_of(&p, &spec, start[i], count[i]);
        CHECK(rung_rows_new(&rows[i], program, &part, start[i], &check_err));
    }
    for (size_t layer = 0; layer < arch->layer_count; layer++) {
        static group_memory memory[RUNG_GROUPS_MAX];
        memset(memory, 0, sizeof memory);
        for (int i = 0; i < 2; i++) {
            for (size_t g = 0; g < arch->layer[layer].group_count; g++)
                mix_group(rows[i], &memory[g], &arch->layer[layer].group[g], &fmt, start[i], count[i], layer, g);
            CHECK(rung_rows_finish(rows[i], layer, &check_err));
        }
    }
    double whole[WIDE], view[WIDE], cut[WIDE];
    rung_session *session = session_of(program, TOKENS);
    rung_prompt all = part_of(&p, &spec, 0, TOKENS);
    CHECK(rung_session_run(session, whole, &all, RUNG_FORM_SCAN, &last, 1, &check_err));
    rung_session_view(session, view);
    CHECK(rung_rows_read_out(rows[1], cut, TOKENS - CUT - 1, &check_err));
    assert_memory_equal(cut, whole, spec.answers * sizeof *cut);
    assert_memory_equal(rung_rows_stream(rows[1]) + (TOKENS - CUT - 1) * spec.d_model, view,
                        spec.d_model * sizeof *view);
    rung_session_free(session);
    for (int i = 0; i < 2; i++) rung_rows_free(rows[i]);
    rung_program_free(program);
    rung_model_close(model);
}

static void two_stretches_are_one_prompt(void **state)
{
    (void)state;
    for (size_t a = 0; a < RUNG_COUNT(archs); a++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
            compare(archs[a], formats[f], RUNG_NORM_NONE, "none");
            compare(archs[a], formats[f], RUNG_NORM_RMS, "swiglu");
        }
}

static void only_exact_causal_programs(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("full");
    rung_model *model = random_model(&spec, 7);
    rung_program *program = program_of(model, NULL, 1);
    test_prompt p = draw_prompt(&spec, TOKENS, 11);
    rung_prompt all = part_of(&p, &spec, 0, TOKENS);
    rung_rows *rows = NULL;
    rung_error err;
    assert_int_equal(rung_rows_new(&rows, program, &all, 0, &err), RUNG_USAGE);
    assert_null(rows);
    rung_program_free(program);
    rung_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_stretches_are_one_prompt),
                                       cmocka_unit_test(only_exact_causal_programs)};
    return cmocka_run_group_tests_name("model: rows", tests, NULL, remove_test_file);
}
