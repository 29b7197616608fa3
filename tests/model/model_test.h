/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of models share: a small spec, random model files, their tensors for editing, and a run in one call.
 */
#ifndef RUNG_TESTS_MODEL_TEST_H
#define RUNG_TESTS_MODEL_TEST_H

#include "rung/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        rung_error check_err = {""};                                                                                   \
        rung_status check_status = (call);                                                                             \
        if (check_status != RUNG_OK) fail_msg("%s: status %d, %s", #call, check_status, check_err.text);               \
    } while (0)

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

/* name = NULL: fast. */
static inline rung_program *program_of(const rung_model *model, const char *format, size_t threads)
{
    rung_program *program = NULL;
    rung_fmt fmt;
    if (format) fmt = format_of(format);
    CHECK(rung_program_new(&program, model, format ? &fmt : NULL, threads, &check_err));
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

#endif
