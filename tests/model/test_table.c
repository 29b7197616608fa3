/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The MLP that is an arbitrary function: the right row for every key, rounding of keys, and refusals of tables that
 * are no functions. The models are built by hand: one full layer whose output projection is zero, so that the residual
 * stream reaches the table as it was embedded, and a read-out that shows it.
 */
#include "model_test.h"

enum { D = 4, VOCAB = 6, ENTRIES = 5 };

/* Coordinates 0 and 1 are the key, 2 and 3 are assigned. */
typedef struct table_model {
    float embed[VOCAB * D], zero[D * D], identity[D * D];
    float keys[ENTRIES * 2], key_coords[2], values[ENTRIES * 2], out_coords[2];
    rung_tensor tensor[16];
    size_t count;
    rung_model_spec spec;
} table_model;

/* The function f(a, b) = (10 a + b, -a); token t has the key of row t, the last token has none. */
static table_model new_table(void)
{
    static const float keys[ENTRIES][2] = {{3, -7}, {0, 0}, {-2, 5}, {3, 4}, {100, 1}};
    table_model m = {.key_coords = {0, 1}, .out_coords = {2, 3}};
    m.spec = small_spec("full");
    m.spec.vocab = VOCAB, m.spec.d_model = D, m.spec.answers = D, m.spec.mlp = "table";
    m.spec.heads = 1, m.spec.dk = D, m.spec.dv = D;
    memcpy(m.keys, keys, sizeof keys);
    for (size_t i = 0; i < ENTRIES; i++) {
        m.values[2 * i] = 10 * keys[i][0] + keys[i][1], m.values[2 * i + 1] = -keys[i][0];
        m.embed[i * D] = keys[i][0], m.embed[i * D + 1] = keys[i][1];
        m.embed[i * D + 2] = 77, m.embed[i * D + 3] = 78;
    }
    m.embed[5 * D] = 3, m.embed[5 * D + 1] = 5;
    for (size_t i = 0; i < D; i++) m.identity[i * D + i] = 1;
    return m;
}

static void fill_tensors(table_model *m)
{
    const rung_tensor all[] = {
        tensor_of("embed.weight", m->embed, 2, VOCAB, D),
        tensor_of("layers.0.mix.0.q.weight", m->zero, 2, D, D),
        tensor_of("layers.0.mix.0.k.weight", m->zero, 2, D, D),
        tensor_of("layers.0.mix.0.v.weight", m->zero, 2, D, D),
        tensor_of("layers.0.out.weight", m->zero, 2, D, D),
        tensor_of("layers.0.mlp.keys", m->keys, 2, ENTRIES, 2),
        tensor_of("layers.0.mlp.key_coords", m->key_coords, 1, 2, 0),
        tensor_of("layers.0.mlp.values", m->values, 2, ENTRIES, 2),
        tensor_of("layers.0.mlp.out_coords", m->out_coords, 1, 2, 0),
        tensor_of("readout.weight", m->identity, 2, D, D),
    };
    memcpy(m->tensor, all, sizeof all);
    m->count = RUNG_COUNT(all);
}

static rung_tensor *tensor_named(table_model *m, const char *name)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->tensor[i].name, name) == 0) return &m->tensor[i];
    fail_msg("no tensor %s", name);
    return NULL;
}

static rung_model *open_table(table_model *m)
{
    rung_model *model = NULL;
    CHECK(rung_model_write(test_path(), &m->spec, m->tensor, m->count, "a test", &check_err));
    CHECK(rung_model_open(&model, test_path(), &check_err));
    return model;
}

static void run_token(rung_status *status, double *out, const rung_model *model, const char *format, uint32_t token,
                      rung_error *err)
{
    rung_program *program = program_of(model, format, 1);
    rung_session *session = session_of(program, 4);
    size_t at = 0;
    rung_prompt prompt = {.token = &token, .tokens = 1};
    *status = rung_session_run(session, out, &prompt, RUNG_FORM_SCAN, &at, 1, err);
    rung_session_free(session), rung_program_free(program);
}

static const char *const formats[] = {NULL, "f64", "f32", "f16", "q12.4"};

static void every_key_selects_its_row(void **state)
{
    (void)state;
    table_model m = new_table();
    fill_tensors(&m);
    rung_model *model = open_table(&m);
    for (size_t f = 0; f < RUNG_COUNT(formats); f++)
        for (uint32_t token = 0; token < ENTRIES; token++) {
            double out[D];
            rung_status status;
            rung_error err = {""};
            run_token(&status, out, model, formats[f], token, &err);
            if (status != RUNG_OK) fail_msg("token %u: %s", token, err.text);
            double a = m.keys[2 * token], b = m.keys[2 * token + 1], want[D] = {a, b, 10 * a + b, -a};
            assert_same_doubles(out, (const double[D]){want[0], want[1], want[2], want[3] == 0 ? out[3] : want[3]}, D,
                                "table");
        }
    rung_model_close(model);
}

/* Ties go to the even integer, as everywhere. */
static void keys_are_rounded_to_the_nearest_integer(void **state)
{
    (void)state;
    static const float near[][2] = {{2.6f, -7.4f}, {-0.4f, 0.49f}, {-2.5f, 5.0f}, {3.49f, 4.5f}, {99.6f, 0.75f}};
    table_model m = new_table();
    for (size_t i = 0; i < ENTRIES; i++) m.embed[i * D] = near[i][0], m.embed[i * D + 1] = near[i][1];
    fill_tensors(&m);
    rung_model *model = open_table(&m);
    for (uint32_t token = 0; token < ENTRIES; token++) {
        double out[D];
        rung_status status;
        rung_error err = {""};
        run_token(&status, out, model, token % 2 ? NULL : "f64", token, &err);
        if (status != RUNG_OK) fail_msg("token %u: %s", token, err.text);
        assert_true(out[2] == (double)m.values[2 * token]);
        assert_true(out[0] == (double)near[token][0]); /* the key itself stays as it was */
    }
    rung_model_close(model);
}

static void a_missing_key_stops_the_session_until_it_is_reset(void **state)
{
    (void)state;
    table_model m = new_table();
    fill_tensors(&m);
    rung_model *model = open_table(&m);
    rung_program *program = program_of(model, "f32", 1);
    rung_session *session = session_of(program, 8);
    uint32_t bad[] = {0, 1, 5}, good = 0;
    uint8_t packed[1024];
    size_t at = 0, missing = 2;
    double out[D];
    rung_error err = {""};
    rung_prompt prompt = {.token = bad, .tokens = 3}, fine = {.token = &good, .tokens = 1};
    CHECK(rung_session_run(session, out, &prompt, RUNG_FORM_SCAN, &at, 1, &check_err)); /* nobody asks there */
    rung_session_reset(session);
    assert_int_equal(rung_session_run(session, out, &prompt, RUNG_FORM_SCAN, &missing, 1, &err), RUNG_INPUT);
    assert_string_equal(err.text, "layer 0, token 2: the MLP table has no key (3,5)");
    assert_int_equal(rung_session_run(session, out, &fine, RUNG_FORM_SCAN, &at, 1, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "reset"));
    assert_int_equal(rung_session_pack(session, packed, &err), RUNG_USAGE);
    assert_int_equal(rung_session_tokens(session), 0);
    rung_session_reset(session);
    CHECK(rung_session_run(session, out, &fine, RUNG_FORM_SCAN, &at, 1, &check_err));
    assert_true(out[2] == 23 && out[3] == -3);
    rung_session_free(session), rung_program_free(program), rung_model_close(model);
}

static void coordinates_that_are_no_integers_are_refused(void **state)
{
    (void)state;
    static const float wild[] = {1e20f, -1e17f, INFINITY};
    for (size_t i = 0; i < RUNG_COUNT(wild); i++)
        for (size_t f = 0; f < 2; f++) {
            table_model m = new_table();
            double out[D];
            rung_status status;
            rung_error err = {""};
            m.embed[D + 1] = wild[i];
            fill_tensors(&m);
            rung_model *model = open_table(&m);
            run_token(&status, out, model, formats[f], 1, &err);
            assert_int_equal(status, RUNG_INPUT);
            const char *phrase = isinf(wild[i]) ? "not a number" : "coordinate 1";
            if (!strstr(err.text, phrase)) fail_msg("'%s' lacks '%s'", err.text, phrase);
            rung_model_close(model);
        }
}

/* 0 * inf in the projections: the message must say so, not that a key is missing, and a table may not assign over it. */
static void a_nan_is_reported_before_the_table_sees_it(void **state)
{
    (void)state;
    table_model m = new_table();
    double out[D];
    rung_status status;
    rung_error err = {""};
    m.embed[D + 2] = INFINITY;
    fill_tensors(&m);
    rung_model *model = open_table(&m);
    run_token(&status, out, model, "f32", 1, &err);
    assert_int_equal(status, RUNG_INPUT);
    assert_non_null(strstr(err.text, "layer 0, position 0: not a number in f32"));
    rung_model_close(model);
}

/* ---- tables that are no functions -------------------------------------------------------------------------------------- */

static void assert_refused(table_model *m, const char *phrase)
{
    rung_program *program = NULL;
    rung_error err = {""};
    rung_model *model = open_table(m);
    assert_int_equal(rung_program_new(&program, model, &(rung_evaluator){.threads = 1}, &err), RUNG_INPUT);
    assert_null(program);
    if (!strstr(err.text, phrase)) fail_msg("'%s' lacks '%s'", err.text, phrase);
    if (!strstr(err.text, test_path())) fail_msg("'%s' lacks the name of the file", err.text);
    rung_model_close(model);
}

static void wrong_tables_are_refused(void **state)
{
    (void)state;
    table_model m = new_table();
    float keys17[ENTRIES * 17] = {0}, coords17[17] = {0};
    fill_tensors(&m), m.keys[8] = 3, m.keys[9] = -7;
    assert_refused(&m, "tensor layers.0.mlp.keys: rows 0 and 4 have the same key");
    m = new_table(), fill_tensors(&m), m.keys[4] = 0.5f;
    assert_refused(&m, "layers.0.mlp.keys");
    m = new_table(), fill_tensors(&m), m.values[4] = NAN;
    assert_refused(&m, "tensor layers.0.mlp.values, element 4 is NaN");
    m = new_table(), fill_tensors(&m), m.key_coords[1] = D;
    assert_refused(&m, "tensor layers.0.mlp.key_coords: coordinate 4 is outside d_model = 4");
    m = new_table(), fill_tensors(&m), m.out_coords[1] = -1;
    assert_refused(&m, "tensor layers.0.mlp.out_coords: coordinate -1 is outside");
    m = new_table(), fill_tensors(&m), m.out_coords[1] = 2;
    assert_refused(&m, "tensor layers.0.mlp.out_coords: coordinate 2 is listed twice");
    m = new_table(), fill_tensors(&m);
    *tensor_named(&m, "layers.0.mlp.values") = tensor_of("layers.0.mlp.values", m.values, 2, ENTRIES - 1, 2);
    assert_refused(&m, "has 5 rows and layers.0.mlp.values 4");
    m = new_table(), fill_tensors(&m);
    *tensor_named(&m, "layers.0.mlp.key_coords") = tensor_of("layers.0.mlp.key_coords", m.key_coords, 1, 1, 0);
    assert_refused(&m, "columns and coordinates of the table differ");
    m = new_table(), fill_tensors(&m);
    *tensor_named(&m, "layers.0.mlp.keys") = tensor_of("layers.0.mlp.keys", keys17, 2, ENTRIES, 17);
    *tensor_named(&m, "layers.0.mlp.key_coords") = tensor_of("layers.0.mlp.key_coords", coords17, 1, 17, 0);
    assert_refused(&m, "a table has 1 to 16 key coordinates, not 17");
}

/* The largest table whose rows are all asked for: order in the file does not matter. */
static void a_large_shuffled_table(void **state)
{
    (void)state;
    enum { N = 3000 };
    static float keys[N], values[N], embed[N * D];
    static const float coords[] = {0}, out[] = {3};
    uint32_t order[N];
    rung_rng rng;
    rung_rng_init(&rng, 8, 0, 0);
    for (uint32_t i = 0; i < N; i++) order[i] = i, embed[i * D] = (float)i - N / 2;
    rung_rng_shuffle(&rng, order, N);
    for (size_t i = 0; i < N; i++) keys[i] = (float)order[i] - N / 2, values[i] = (float)(order[i] * 7 % 1000);
    table_model m = new_table();
    m.spec.vocab = N;
    fill_tensors(&m);
    *tensor_named(&m, "embed.weight") = tensor_of("embed.weight", embed, 2, N, D);
    *tensor_named(&m, "layers.0.mlp.keys") = tensor_of("layers.0.mlp.keys", keys, 2, N, 1);
    *tensor_named(&m, "layers.0.mlp.key_coords") = tensor_of("layers.0.mlp.key_coords", coords, 1, 1, 0);
    *tensor_named(&m, "layers.0.mlp.values") = tensor_of("layers.0.mlp.values", values, 2, N, 1);
    *tensor_named(&m, "layers.0.mlp.out_coords") = tensor_of("layers.0.mlp.out_coords", out, 1, 1, 0);
    rung_model *model = open_table(&m);
    rung_program *program = program_of(model, NULL, 1);
    rung_session *session = session_of(program, N);
    for (uint32_t i = 0; i < N; i++) {
        double logits[D];
        size_t at = 0;
        rung_prompt prompt = {.token = &i, .tokens = 1};
        rung_session_reset(session);
        CHECK(rung_session_run(session, logits, &prompt, RUNG_FORM_STEP, &at, 1, &check_err));
        assert_true(logits[3] == (double)(i * 7 % 1000));
    }
    rung_session_free(session), rung_program_free(program), rung_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_selects_its_row),
        cmocka_unit_test(keys_are_rounded_to_the_nearest_integer),
        cmocka_unit_test(a_missing_key_stops_the_session_until_it_is_reset),
        cmocka_unit_test(coordinates_that_are_no_integers_are_refused),
        cmocka_unit_test(a_nan_is_reported_before_the_table_sees_it),
        cmocka_unit_test(wrong_tables_are_refused),
        cmocka_unit_test(a_large_shuffled_table),
    };
    return cmocka_run_group_tests_name("model: table", tests, NULL, remove_test_file);
}
