/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of models share: a small spec, random model files, their tensors for editing, and a run in one call.
 */
#ifndef RUNG_TESTS_MODEL_TEST_H
#define RUNG_TESTS_MODEL_TEST_H

#include "rung/model.h"
#include "testing.h"

#include <unistd.h>

static inline const char *test_path(void)
{
    static char path[128];
    snprintf(path, sizeof path, "/tmp/rung-test-model-%ld.safetensors", (long)getpid());
    return path;
}

static inline int remove_test_file(void **state)
{
    (void)state;
    unlink(test_path());
    return 0;
}

static inline rung_model_spec small_spec(const char *arch)
{
    return (rung_model_spec){.arch = arch,
                             .task = "",
                             .mlp = "none",
                             .vocab = 11,
                             .answers = 5,
                             .max_tokens = 32,
                             .d_model = 8,
                             .d_mlp = 12,
                             .heads = 2,
                             .dk = 4,
                             .dv = 3,
                             .positions = RUNG_POS_NONE,
                             .norm = RUNG_NORM_NONE,
                             .causal = true};
}

static inline rung_model *random_model(const rung_model_spec *spec, uint64_t seed)
{
    rung_model *model = NULL;
    CHECK(rung_model_write_random(test_path(), spec, seed, &check_err));
    CHECK(rung_model_open(&model, test_path(), &check_err));
    return model;
}

static inline rung_fmt format_of(const char *name)
{
    rung_fmt fmt;
    CHECK(rung_fmt_parse(&fmt, name, &check_err));
    return fmt;
}

static inline rung_numbers numbers_of(const char *text)
{
    rung_numbers numbers;
    CHECK(rung_numbers_parse(&numbers, text, &check_err));
    return numbers;
}

/* format: a number format, or mixed ones; NULL: fast. */
static inline rung_program *program_of(const rung_model *model, const char *format, size_t threads)
{
    rung_program *program = NULL;
    rung_numbers numbers;
    if (format) numbers = numbers_of(format);
    rung_evaluator how = {.numbers = format ? &numbers.acc : NULL,
                          .mixed = format && numbers.mixed ? &numbers : NULL,
                          .threads = threads};
    CHECK(rung_program_new(&program, model, &how, &check_err));
    return program;
}

static inline rung_session *session_of(const rung_program *program, size_t max_tokens)
{
    rung_session *session = NULL;
    CHECK(rung_session_new(&session, program, max_tokens, &check_err));
    return session;
}

/* ---- prompts ---------------------------------------------------------------------------------------------------------- */

enum { PROMPT_MAX = 160, FEATURES_MAX = 8 };

typedef struct test_prompt {
    uint32_t token[PROMPT_MAX];
    float feature[PROMPT_MAX * FEATURES_MAX];
    size_t tokens;
} test_prompt;

static inline test_prompt draw_prompt(const rung_model_spec *spec, size_t tokens, uint64_t seed)
{
    test_prompt p = {.tokens = tokens};
    rung_rng rng;
    rung_rng_init(&rng, seed, 55, 0);
    assert_true(tokens <= PROMPT_MAX && spec->d_in <= FEATURES_MAX);
    for (size_t t = 0; t < tokens; t++) p.token[t] = spec->vocab ? (uint32_t)rung_rng_below(&rng, spec->vocab) : 0;
    for (size_t i = 0; i < tokens * spec->d_in; i++) p.feature[i] = (float)rung_rng_normal(&rng);
    return p;
}

/* Tokens first .. first+count-1 as a prompt of their own. */
static inline rung_prompt part_of(const test_prompt *p, const rung_model_spec *spec, size_t first, size_t count)
{
    return (rung_prompt){.token = spec->vocab ? p->token + first : NULL,
                         .feature = spec->d_in ? p->feature + first * spec->d_in : NULL,
                         .tokens = count};
}

/* Read-outs at every position of the part: out = [count][answers]. */
static inline rung_status run_part(rung_session *session, double *out, const test_prompt *p,
                                   const rung_model_spec *spec, size_t first, size_t count, rung_form form,
                                   rung_error *err)
{
    size_t at[PROMPT_MAX];
    rung_prompt prompt = part_of(p, spec, first, count);
    for (size_t t = 0; t < count; t++) at[t] = t;
    return rung_session_run(session, out, &prompt, form, at, count, err);
}

/* A new program, a new session, one call. */
static inline void run_model(double *out, const rung_model *model, const char *format, const test_prompt *p,
                             rung_form form, size_t threads)
{
    rung_program *program = program_of(model, format, threads);
    rung_session *session = session_of(program, p->tokens);
    CHECK(run_part(session, out, p, rung_model_get_spec(model), 0, p->tokens, form, &check_err));
    rung_session_free(session), rung_program_free(program);
}

static inline void assert_same_doubles(const double *a, const double *b, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0) fail_msg("%s: number %zu is %a, not %a", what, i, a[i], b[i]);
}

/* Largest difference over the largest magnitude. */
static inline void assert_close(const double *got, const double *want, size_t count, double tolerance, const char *what)
{
    double size = 0;
    for (size_t i = 0; i < count; i++) size = fmax(size, fabs(want[i]));
    for (size_t i = 0; i < count; i++)
        if (!(fabs(got[i] - want[i]) <= tolerance * size))
            fail_msg("%s: number %zu is %.12g, not %.12g (largest %g)", what, i, got[i], want[i], size);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------------- */

static inline double *zeros(rung_arena *arena, size_t count)
{
    double *x = rung_arena_alloc(arena, count, sizeof *x, NULL);
    assert_non_null(x);
    return x;
}

/* A float tensor that borrows its name and data. */
static inline rung_tensor tensor_of(const char *name, const float *data, size_t rank, size_t rows, size_t cols)
{
    size_t elements = rank == 1 ? rows : rows * cols;
    return (rung_tensor){.name = name,
                         .dtype = RUNG_F32,
                         .dtype_name = "F32",
                         .rank = rank,
                         .shape = {rows, rank == 1 ? 0 : cols},
                         .elements = elements,
                         .bytes = (const uint8_t *)data,
                         .size_bytes = elements * sizeof *data};
}

/* ---- edited models ----------------------------------------------------------------------------------------------------- */

typedef struct edit {
    float data[1 << 16];
    char names[256][64];
    rung_tensor all[512];
    size_t count, used;
    rung_rng rng;
} edit;

/* Set by a test: most weights are 0, -0 or too small for any format; input 0 of the first layer is 0, and no layer reads every
 * third one. HUGE_WEIGHTS read input 0; HUGE_INPUT is one that no layer reads. */
typedef enum thinning { THIN_NOT, THIN, HUGE_WEIGHTS, HUGE_INPUT } thinning;
static thinning edit_thin = THIN_NOT;

static inline float thinned(rung_rng *rng, float x, const char *name, size_t input)
{
    float sign = rung_rng_below(rng, 2) ? 1 : -1;
    uint64_t kind = rung_rng_below(rng, 8);
    bool embed = strncmp(name, "embed", 5) == 0;
    if (input == 0 && edit_thin == HUGE_WEIGHTS && !embed) return sign * 1e30f;
    if (input == 1 && edit_thin == HUGE_INPUT && embed) return sign * 1e30f;
    if (input == 0 || (input % 3 == 1 && !embed)) return sign * 0;
    return kind < 4 ? sign * 0 : kind == 4 ? sign * 1e-38f : x;
}

static inline float *edit_take(edit *e, size_t count)
{
    assert_true(e->used + count <= RUNG_COUNT(e->data) && e->count + 2 < RUNG_COUNT(e->all));
    e->used += count;
    return e->data + e->used - count;
}

/* Norms and rates of decays that do something; keys short enough for a stable delta rule (beta |k|^2 < 2), and layers
 * that do not blow up where no norm holds them: beyond that every evaluator loses its digits. */
static inline void edit_tensor(edit *e, const rung_tensor *from, const rung_model_spec *spec)
{
    bool key = strstr(from->name, ".k.weight") != NULL;
    bool inner = strncmp(from->name, "layers.", 7) == 0 && spec->norm == RUNG_NORM_NONE;
    float *data = edit_take(e, from->elements), scale = (key ? 0.2f : 1) * (inner ? 0.4f : 1);
    CHECK(rung_tensor_to_f32(data, from, &check_err));
    for (size_t i = 0; i < from->elements; i++) {
        float noise = (float)(0.3 * rung_rng_normal(&e->rng));
        data[i] = from->rank != 1 ? scale * data[i] : data[i] == 0 ? noise : data[i] * (1 + noise);
        if (edit_thin && from->rank == 2) data[i] = thinned(&e->rng, data[i], from->name, i % from->shape[1]);
    }
    e->all[e->count] = *from;
    e->all[e->count].dtype = RUNG_F32, e->all[e->count].dtype_name = "F32";
    e->all[e->count].size_bytes = from->elements * sizeof *data;
    e->all[e->count++].bytes = (const uint8_t *)data;
}

static inline void edit_add_bias(edit *e, const rung_tensor *beside, const rung_model_spec *spec)
{
    const char *dot_weight = strstr(beside->name, ".weight");
    bool token_embedding = spec->vocab && strcmp(beside->name, "embed.weight") == 0;
    bool norm = strstr(beside->name, "norm") != NULL;
    if (!dot_weight || token_embedding || (norm && spec->norm != RUNG_NORM_LAYER)) return;
    char *name = e->names[e->count / 2];
    float *data = edit_take(e, beside->shape[0]);
    snprintf(name, sizeof e->names[0], "%.*s.bias", (int)(dot_weight - beside->name), beside->name);
    for (size_t i = 0; i < beside->shape[0]; i++) data[i] = (float)(0.3 * rung_rng_normal(&e->rng));
    e->all[e->count++] = tensor_of(name, data, 1, beside->shape[0], 0);
}

/* A random model whose numbers all matter, with or without a bias beside every matrix. */
static inline rung_model *edited_model(const rung_model_spec *spec, uint64_t seed, bool biases)
{
    static edit e;
    rung_safetensors *file;
    rung_model *model = NULL;
    char copy[160];
    e.count = e.used = 0;
    rung_rng_init(&e.rng, seed, 66, 0);
    CHECK(rung_model_write_random(test_path(), spec, seed, &check_err));
    CHECK(rung_safetensors_open(&file, test_path(), &check_err));
    for (size_t i = 0; i < rung_safetensors_count(file); i++) {
        edit_tensor(&e, rung_safetensors_at(file, i), spec);
        if (biases) edit_add_bias(&e, rung_safetensors_at(file, i), spec);
    }
    snprintf(copy, sizeof copy, "%s.edited", test_path());
    CHECK(rung_model_write(copy, spec, e.all, e.count, "a test", &check_err));
    rung_safetensors_close(file);
    assert_int_equal(rename(copy, test_path()), 0);
    CHECK(rung_model_open(&model, test_path(), &check_err));
    return model;
}

#endif
