/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Sessions of whole models. In the exact evaluator nothing but the prompt decides a bit: not the form, not where the
 * prompt is cut, not the number of threads, not the instruction set, not what the session did before. The state that is
 * left behind has the bits that the registry counts.
 */
#include "model_test.h"

enum { T = 40, ANSWERS = 5, OUT = T * ANSWERS };

static const char *const formats[] = {"f64", "f32", "bf16", "e8m3", "q12.20"};

/* Every mechanism, head-wise mixes, every MLP, norm and kind of position, tokens and features. */
static rung_model_spec spec_at(size_t index)
{
    static const char *const arches[] = {
        "full@1|linear@2,window:W=5",        "full:dv=5@2|gdelta:dv=1@1|window:W=2@3|delta@1",
        "linear:phi=taylor2,full",           "2*(gdelta,window:W=7)",
        "linear:phi=relu:norm=0,delta,full", "full"};
    static const char *const mlps[] = {"swiglu", "relu", "gelu", "none"};
    rung_model_spec spec = small_spec(arches[index % RUNG_COUNT(arches)]);
    spec.mlp = mlps[index % 4], spec.max_tokens = 2 * T;
    spec.positions = (rung_positions)(1 + (index + index / 4) % 4), spec.norm = (rung_norm)(2 + index % 2);
    if (index % 5 == 3) spec.vocab = 0, spec.d_in = 4;
    return spec;
}
enum { SPECS = 22 };

static bool has_encoder(rung_model_spec spec)
{
    spec.causal = false;
    return rung_model_spec_check(&spec, NULL) == RUNG_OK;
}

typedef struct packed {
    uint8_t *bytes;
    size_t size;
    uint64_t bits;
} packed;

/* With a byte behind the end that must survive. */
static packed pack(const rung_session *session)
{
    packed p = {.bits = rung_session_state_bits(session)};
    p.size = (size_t)(p.bits + 7) / 8;
    p.bytes = malloc(p.size + 1);
    assert_non_null(p.bytes);
    p.bytes[p.size] = 0xa5;
    CHECK(rung_session_pack(session, p.bytes, &check_err));
    assert_int_equal(p.bytes[p.size], 0xa5);
    return p;
}

static void assert_same_state(const rung_session *a, const rung_session *b)
{
    packed x = pack(a), y = pack(b);
    assert_true(x.bits == y.bits);
    if (memcmp(x.bytes, y.bytes, x.size) != 0) fail_msg("the packed states differ");
    free(x.bytes), free(y.bytes);
}

/* ---- one result, many ways ------------------------------------------------------------------------------------------------ */

static void in_parts(rung_session *session, double *out, const test_prompt *p, const rung_model_spec *spec,
                     rung_form form, size_t largest, rung_rng *rng)
{
    for (size_t done = 0; done < p->tokens;) {
        size_t count = 1 + (size_t)rung_rng_below(rng, largest);
        if (count > p->tokens - done) count = p->tokens - done;
        CHECK(run_part(session, out + done * spec->answers, p, spec, done, count, form, &check_err));
        done += count;
        assert_int_equal(rung_session_tokens(session), done);
    }
}

/* Against one call in scan form. */
static void all_ways(const rung_model *model, const char *format, uint64_t seed)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    test_prompt p = draw_prompt(spec, T, seed);
    rung_program *program = program_of(model, format, 1);
    rung_session *first = session_of(program, T), *other = session_of(program, T + 9);
    double want[OUT], got[OUT];
    rung_rng rng;
    rung_rng_init(&rng, seed, 4, 0);
    CHECK(run_part(first, want, &p, spec, 0, T, RUNG_FORM_SCAN, &check_err));
    for (rung_form form = RUNG_FORM_SCAN; form <= RUNG_FORM_STEP; form++)
        for (size_t largest = 1; largest <= T; largest += largest == 1 ? 10 : 29) {
            char what[128];
            snprintf(what, sizeof what, "%s in %s, form %d, parts of up to %zu", spec->arch, format ? format : "fp32",
                     form, largest);
            rung_session_reset(other);
            in_parts(other, got, &p, spec, form, largest, &rng);
            if (format) {
                assert_same_doubles(got, want, OUT, what);
                assert_same_state(other, first);
            } else {
                assert_close(got, want, OUT, 1e-4, what);
            }
        }
    rung_session_free(first), rung_session_free(other), rung_program_free(program);
}

static void exact_forms_and_parts_give_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPECS; i++) {
        rung_model_spec spec = spec_at(i);
        rung_model *model = edited_model(&spec, i, true);
        all_ways(model, formats[i % RUNG_COUNT(formats)], i);
        all_ways(model, "e6m5", i);
        rung_model_close(model);
    }
}

static void fast_forms_and_parts_are_close(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPECS; i++) {
        rung_model_spec spec = spec_at(i);
        rung_model *model = edited_model(&spec, i, true);
        all_ways(model, NULL, i);
        rung_model_close(model);
    }
}

static void threads_and_instruction_sets_change_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPECS; i++) {
        rung_model_spec spec = spec_at(i);
        spec.causal = i % 2 || !has_encoder(spec);
        rung_model *model = edited_model(&spec, i, true);
        for (int exact = 0; exact < 2; exact++) {
            const char *format = exact ? formats[i % RUNG_COUNT(formats)] : NULL;
            double want[2 * OUT], got[2 * OUT];
            test_prompt p = draw_prompt(&spec, 2 * T, i);
            setenv("RUNG_ISA", "ref", 1);
            rung_cpu_forget();
            run_model(want, model, format, &p, RUNG_FORM_SCAN, 1);
            for (size_t threads = 1; threads <= 3; threads++)
                for (const char *const *isa = (const char *const[]){"ref", "avx2", "avx512", "neon", NULL}; *isa;
                     isa++) {
                    setenv("RUNG_ISA", *isa, 1);
                    rung_cpu_forget();
                    run_model(got, model, format, &p, RUNG_FORM_SCAN, threads);
                    assert_same_doubles(got, want, 2 * OUT, *isa);
                }
            unsetenv("RUNG_ISA");
            rung_cpu_forget();
        }
        rung_model_close(model);
    }
}

/* Only the chosen positions, in any order and repeated. */
static void read_outs_are_where_they_were_asked(void **state)
{
    (void)state;
    rung_model_spec spec = spec_at(0);
    rung_model *model = edited_model(&spec, 1, true);
    test_prompt p = draw_prompt(&spec, T, 1);
    rung_program *program = program_of(model, "f32", 2);
    rung_session *session = session_of(program, T);
    double all[OUT], some[4 * ANSWERS];
    const size_t at[] = {T - 1, 0, 7, 7};
    rung_prompt prompt = part_of(&p, &spec, 0, T);
    run_model(all, model, "f32", &p, RUNG_FORM_SCAN, 1);
    CHECK(rung_session_run(session, some, &prompt, RUNG_FORM_SCAN, at, 4, &check_err));
    for (size_t i = 0; i < 4; i++) assert_same_doubles(some + i * ANSWERS, all + at[i] * ANSWERS, ANSWERS, "read-out");
    rung_session_free(session), rung_program_free(program), rung_model_close(model);
}

/* ---- forks ------------------------------------------------------------------------------------------------------------------- */

static void fork_one(const rung_model *model, const char *format, uint64_t seed)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    rung_program *program = program_of(model, format, 1);
    rung_session *prefix = session_of(program, T), *fork = session_of(program, T + 5);
    test_prompt p = draw_prompt(spec, T, seed), other = draw_prompt(spec, T, seed + 1);
    double want[OUT], got[OUT], scrap[OUT];
    size_t cut = 17, left = T - cut;
    CHECK(run_part(fork, scrap, &other, spec, 0, T, RUNG_FORM_SCAN, &check_err)); /* leaves a state of its own */
    CHECK(run_part(prefix, scrap, &p, spec, 0, cut, RUNG_FORM_SCAN, &check_err));
    CHECK(rung_session_copy(fork, prefix, &check_err));
    assert_int_equal(rung_session_tokens(fork), cut);
    assert_same_state(fork, prefix);
    CHECK(run_part(fork, scrap, &other, spec, 0, left, RUNG_FORM_STEP, &check_err)); /* one query ... */
    CHECK(rung_session_copy(fork, prefix, &check_err));                              /* ... and another */
    CHECK(run_part(fork, got, &p, spec, cut, left, RUNG_FORM_SCAN, &check_err));
    CHECK(rung_session_copy(prefix, prefix, &check_err));
    CHECK(run_part(prefix, want, &p, spec, cut, left, RUNG_FORM_SCAN, &check_err));
    assert_same_doubles(got, want, left * ANSWERS, "fork");
    assert_same_state(fork, prefix);
    rung_session_free(prefix), rung_session_free(fork), rung_program_free(program);
}

static void a_fork_continues_like_its_origin(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPECS; i++) {
        rung_model_spec spec = spec_at(i);
        rung_model *model = edited_model(&spec, i, true);
        fork_one(model, formats[i % RUNG_COUNT(formats)], i);
        fork_one(model, NULL, i);
        rung_model_close(model);
    }
}

static void forks_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("full,delta");
    rung_model *model = random_model(&spec, 1);
    rung_program *program = program_of(model, NULL, 1), *twin = program_of(model, NULL, 1);
    rung_session *a = session_of(program, 9), *small = session_of(program, 3), *foreign = session_of(twin, 9);
    test_prompt p = draw_prompt(&spec, 4, 1);
    double out[4 * ANSWERS];
    rung_error err = {""};
    CHECK(run_part(a, out, &p, &spec, 0, 4, RUNG_FORM_SCAN, &check_err));
    assert_int_equal(rung_session_copy(small, a, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "room for 3 tokens"));
    assert_int_equal(rung_session_copy(foreign, a, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "same program"));
    rung_session_free(a), rung_session_free(small), rung_session_free(foreign);
    rung_program_free(program), rung_program_free(twin), rung_model_close(model);
}

/* ---- what is carried ------------------------------------------------------------------------------------------------------------ */

/* heads 2, dk 4, dv 3: full t 2 (4+3), linear 2 4 (3+1), window min(t,5) 3 (4+3), gdelta 1 4 2, delta 2 4 3. */
static void state_bits_are_the_sum_of_the_formulas(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("full,linear,window:W=5@3|gdelta:dv=2@1,delta");
    rung_model *model = edited_model(&spec, 1, true);
    static const struct {
        const char *format;
        uint64_t bits;
    } kinds[] = {{NULL, 32}, {"f64", 64}, {"f32", 32}, {"e8m3", 12}, {"q12.20", 33}};
    for (size_t k = 0; k < RUNG_COUNT(kinds); k++) {
        rung_program *program = program_of(model, kinds[k].format, 1);
        rung_session *session = session_of(program, T);
        test_prompt p = draw_prompt(&spec, T, 3);
        double out[ANSWERS];
        for (uint64_t t = 0; t <= 12; t++) {
            uint64_t window = (t < 5 ? t : 5) * 3 * 7, elements = t * 2 * 7 + 2 * 4 * 4 + window + 8 + 2 * 4 * 3;
            rung_carry mixed = rung_session_carry(session, 2), full = rung_session_carry(session, 0);
            assert_true(rung_session_state_bits(session) == elements * kinds[k].bits);
            assert_int_equal(mixed.window, window), assert_int_equal(mixed.recurrent, 8);
            assert_int_equal(mixed.cache, 0), assert_int_equal(full.cache, t * 14);
            const rung_carry_bits bits = rung_session_carry_bits(session, 2);
            assert_true(bits.window == window * kinds[k].bits && bits.recurrent == 8 * kinds[k].bits &&
                        bits.cache == 0);
            packed s = pack(session);
            if (s.bits % 8) assert_int_equal(s.bytes[s.size - 1] & (0xff >> s.bits % 8), 0);
            free(s.bytes);
            CHECK(run_part(session, out, &p, &spec, t, 1, RUNG_FORM_STEP, &check_err));
        }
        rung_session_free(session), rung_program_free(program);
    }
    rung_model_close(model);
}

/* The first layer of a linear model adds phi(k) v^T of each token: its packed state must hold the sum. */
static void the_packed_state_is_the_state(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("linear:phi=identity:norm=0:dk=2:dv=3@1");
    rung_model *model = random_model(&spec, 4);
    rung_safetensors *file;
    float embed[11 * 8], k[2 * 8], v[3 * 8];
    CHECK(rung_safetensors_open(&file, test_path(), &check_err));
    CHECK(rung_tensor_to_f32(embed, rung_safetensors_get(file, "embed.weight"), &check_err));
    CHECK(rung_tensor_to_f32(k, rung_safetensors_get(file, "layers.0.mix.0.k.weight"), &check_err));
    CHECK(rung_tensor_to_f32(v, rung_safetensors_get(file, "layers.0.mix.0.v.weight"), &check_err));
    rung_safetensors_close(file);
    test_prompt p = draw_prompt(&spec, 9, 2);
    double out[9 * ANSWERS], want[6] = {0}, got[6];
    for (size_t t = 0; t < 9; t++)
        for (size_t e = 0; e < 6; e++) {
            double key = 0, value = 0;
            for (size_t i = 0; i < 8; i++) {
                key += (double)k[e / 3 * 8 + i] * embed[p.token[t] * 8 + i];
                value += (double)v[e % 3 * 8 + i] * embed[p.token[t] * 8 + i];
            }
            want[e] += key * value;
        }
    for (int exact = 0; exact < 2; exact++) {
        rung_program *program = program_of(model, exact ? "f64" : NULL, 1);
        rung_session *session = session_of(program, 9);
        rung_fmt fmt = format_of(exact ? "f64" : "f32");
        CHECK(run_part(session, out, &p, &spec, 0, 9, RUNG_FORM_SCAN, &check_err));
        packed s = pack(session);
        rung_num_unpack(got, &fmt, s.bytes, 6);
        assert_close(got, want, 6, exact ? 1e-13 : 1e-5, "packed state");
        free(s.bytes), rung_session_free(session), rung_program_free(program);
    }
    rung_model_close(model);
}

/* ---- encoders -------------------------------------------------------------------------------------------------------------------- */

static void an_encoder_takes_everything_at_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPECS; i++) {
        rung_model_spec spec = spec_at(i);
        if (!has_encoder(spec)) continue;
        spec.causal = false;
        rung_model *model = edited_model(&spec, i, true);
        rung_program *program = program_of(model, "bf16", 1);
        rung_session *session = session_of(program, 2 * T);
        test_prompt p = draw_prompt(&spec, T, i);
        double scan[OUT], step[OUT];
        rung_error err = {""};
        CHECK(run_part(session, scan, &p, &spec, 0, T, RUNG_FORM_SCAN, &check_err));
        assert_int_equal(run_part(session, step, &p, &spec, 0, 1, RUNG_FORM_SCAN, &err), RUNG_USAGE);
        assert_non_null(strstr(err.text, "one call"));
        rung_session_reset(session);
        CHECK(run_part(session, step, &p, &spec, 0, T, RUNG_FORM_STEP, &check_err));
        assert_same_doubles(step, scan, OUT, "encoder, step");
        rung_session_free(session), rung_program_free(program), rung_model_close(model);
    }
}

/* Without a mask the first token sees the last one, with it it does not. */
static void the_mask_hides_the_future_and_only_a_mask_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPECS; i++)
        for (int causal = 0; causal < 2; causal++) {
            rung_model_spec spec = spec_at(i);
            if (!causal && !has_encoder(spec)) continue;
            spec.causal = causal, spec.vocab = 11, spec.d_in = 0;
            rung_model *model = edited_model(&spec, i, true);
            double one[OUT], two[OUT];
            test_prompt p = draw_prompt(&spec, 4, i);
            run_model(one, model, "f32", &p, RUNG_FORM_SCAN, 1);
            p.token[3] = (p.token[3] + 1) % 11;
            run_model(two, model, "f32", &p, RUNG_FORM_SCAN, 1);
            bool same = memcmp(one, two, 3 * ANSWERS * sizeof *one) == 0;
            assert_int_equal(same, causal);
            assert_true(memcmp(one + 3 * ANSWERS, two + 3 * ANSWERS, ANSWERS * sizeof *one) != 0);
            rung_model_close(model);
        }
}

/* ---- limits ----------------------------------------------------------------------------------------------------------------------- */

static void assert_run_fails(rung_session *session, const rung_prompt *prompt, size_t at, rung_status status,
                             const char *phrase)
{
    rung_error err = {""};
    double out[ANSWERS];
    assert_int_equal(rung_session_run(session, out, prompt, RUNG_FORM_SCAN, &at, 1, &err), status);
    if (!strstr(err.text, phrase)) fail_msg("'%s' lacks '%s'", err.text, phrase);
}

static void limits_are_told(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("full");
    spec.positions = RUNG_POS_ROTARY, spec.max_tokens = 6;
    rung_model *model = random_model(&spec, 1);
    rung_program *program = program_of(model, "f32", 1);
    rung_session *session = session_of(program, 8);
    const uint32_t token[9] = {0, 1, 2, 3, 4, 5, 6, 7, 11};
    const float feature[1] = {0};
    assert_run_fails(session, &(rung_prompt){.token = token, .tokens = 9}, 0, RUNG_USAGE, "room for 8 tokens");
    assert_run_fails(session, &(rung_prompt){.token = token, .tokens = 0}, 0, RUNG_USAGE, "no tokens");
    assert_run_fails(session, &(rung_prompt){.token = token, .tokens = 2}, 2, RUNG_USAGE,
                     "at token 2 of a prompt of 2");
    assert_int_equal(rung_session_tokens(session), 0); /* none of these broke it */
    double out[ANSWERS];
    size_t at = 0;
    CHECK(rung_session_run(session, out, &(rung_prompt){.token = token, .tokens = 4}, RUNG_FORM_SCAN, &at, 1,
                           &check_err));
    assert_run_fails(session, &(rung_prompt){.token = token, .tokens = 5}, 0, RUNG_USAGE, "has seen 4; 5 more");
    assert_run_fails(session, &(rung_prompt){.token = token, .tokens = 3}, 0, RUNG_INPUT,
                     "7 tokens are more than the 6");
    rung_session_reset(session);
    assert_run_fails(session, &(rung_prompt){.token = token + 7, .tokens = 2}, 0, RUNG_INPUT,
                     "token 1 of the prompt is id 11, the vocabulary ends at 10");
    rung_session_reset(session);
    assert_run_fails(session, &(rung_prompt){.feature = feature, .tokens = 1}, 0, RUNG_USAGE, "the model reads tokens");
    rung_session_reset(session);
    CHECK(rung_session_run(session, out, &(rung_prompt){.token = token, .tokens = 6}, RUNG_FORM_SCAN, &at, 1,
                           &check_err));
    rung_session_free(session);
    rung_error err = {""};
    assert_int_equal(rung_session_new(&session, program, SIZE_MAX / 2, &err), RUNG_SYSTEM);
    assert_true(strlen(err.text) > 0);
    rung_program_free(program), rung_model_close(model);
}

static void features_are_checked(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("full");
    spec.vocab = 0, spec.d_in = 2;
    rung_model *model = random_model(&spec, 1);
    for (int exact = 0; exact < 2; exact++) {
        rung_program *program = program_of(model, exact ? "q6.9" : NULL, 1);
        rung_session *session = session_of(program, 8);
        const float feature[] = {1, 2, 3, NAN};
        const uint32_t token[] = {0};
        assert_run_fails(session, &(rung_prompt){.token = token, .tokens = 1}, 0, RUNG_USAGE,
                         "the model reads features");
        rung_session_reset(session);
        assert_run_fails(session, &(rung_prompt){.feature = feature, .tokens = 2}, 0, RUNG_INPUT,
                         "layer 0, position 1: not a number");
        rung_session_free(session), rung_program_free(program);
    }
    rung_model_close(model);
}

/* Recurrent layers need no room per token. */
static void a_recurrent_session_has_no_end(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("linear,delta,window:W=4");
    rung_model *model = edited_model(&spec, 1, true);
    rung_program *program = program_of(model, NULL, 1);
    rung_session *session = session_of(program, SIZE_MAX);
    test_prompt p = draw_prompt(&spec, T, 1);
    double out[OUT];
    for (int i = 0; i < 50; i++) CHECK(run_part(session, out, &p, &spec, 0, T, RUNG_FORM_SCAN, &check_err));
    assert_int_equal(rung_session_tokens(session), 50 * T);
    rung_session_free(session), rung_program_free(program), rung_model_close(model);
}

static void the_first_of_equal_answers_wins(void **state)
{
    (void)state;
    assert_int_equal(rung_argmax((const double[]){1, 3, 2, 3}, 4), 1);
    assert_int_equal(rung_argmax((const double[]){-INFINITY, -INFINITY}, 2), 0);
    assert_int_equal(rung_argmax((const double[]){0, -0.0, 5e-324}, 3), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_forms_and_parts_give_the_same_bits),
        cmocka_unit_test(fast_forms_and_parts_are_close),
        cmocka_unit_test(threads_and_instruction_sets_change_nothing),
        cmocka_unit_test(read_outs_are_where_they_were_asked),
        cmocka_unit_test(a_fork_continues_like_its_origin),
        cmocka_unit_test(forks_that_do_not_fit_are_refused),
        cmocka_unit_test(state_bits_are_the_sum_of_the_formulas),
        cmocka_unit_test(the_packed_state_is_the_state),
        cmocka_unit_test(an_encoder_takes_everything_at_once),
        cmocka_unit_test(the_mask_hides_the_future_and_only_a_mask_does),
        cmocka_unit_test(limits_are_told),
        cmocka_unit_test(features_are_checked),
        cmocka_unit_test(a_recurrent_session_has_no_end),
        cmocka_unit_test(the_first_of_equal_answers_wins),
    };
    return cmocka_run_group_tests_name("model: session", tests, NULL, remove_test_file);
}
