/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of training share: small specs, random batches, and the loss computed a second way, by the exact evaluator in
 * double on each question as a prompt of its own.
 */
#ifndef RUNG_TESTS_TRAIN_TEST_H
#define RUNG_TESTS_TRAIN_TEST_H

#include "rung/train.h"
#include "testing.h"

#include <unistd.h>

static inline rung_model_spec small_spec(const char *arch)
{
    return (rung_model_spec){.arch = arch,
                             .task = "",
                             .mlp = "none",
                             .vocab = 11,
                             .answers = 5,
                             .max_tokens = 24,
                             .d_model = 8,
                             .d_mlp = 12,
                             .heads = 2,
                             .dk = 4,
                             .dv = 3,
                             .positions = RUNG_POS_NONE,
                             .norm = RUNG_NORM_NONE,
                             .causal = true};
}

/* A small run of one thread on the task; `text` has its words and must outlive the conf. */
static inline void small_run(rung_train_spec *conf, rung_buf *text, const char *arch, const char *task)
{
    rung_train_defaults(conf);
    rung_buf_init(text);
    CHECK(rung_task_conf_parse(&conf->task, task, &check_err));
    rung_task_canonical(text, &conf->task);
    conf->model = small_spec(arch);
    conf->model.task = text->text;
    conf->model.vocab = conf->task.vocab, conf->model.d_in = conf->task.d_in;
    conf->model.answers = conf->task.answers ? conf->task.answers : conf->task.d_out;
    conf->model.max_tokens = conf->task.tokens;
    conf->model.mlp = "relu", conf->model.d_model = 16, conf->model.d_mlp = 32;
    conf->model.dk = 8, conf->model.dv = 4;
    conf->model.positions = RUNG_POS_LEARNED, conf->model.norm = RUNG_NORM_RMS;
    conf->eval_prompts = 20;
    conf->threads = 1;
}

/* A batch that owns its arrays. */
typedef struct test_batch {
    rung_batch batch;
    uint32_t *token;
    float *feature, *value;
    int32_t *target, *told;
    size_t tokens; /* of one sequence */
} test_batch;

static inline test_batch batch_new(const rung_model_spec *spec, rung_batch shape, bool vectors, size_t layers,
                                   uint64_t seed)
{
    test_batch b = {.batch = shape, .tokens = shape.prefix + shape.queries * shape.each};
    size_t all = b.tokens * shape.sequences;
    rung_rng rng;
    rung_rng_init(&rng, seed, 77, 0);
    b.token = calloc(all, sizeof *b.token);
    b.feature = calloc(all * (spec->d_in + 1), sizeof *b.feature);
    b.target = calloc(all, sizeof *b.target);
    b.value = calloc(all * spec->answers, sizeof *b.value);
    b.told = calloc(all * layers + 1, sizeof *b.told);
    assert_true(b.token && b.feature && b.target && b.value && b.told);
    for (size_t t = 0; t < all; t++) {
        if (spec->vocab) b.token[t] = (uint32_t)rung_rng_below(&rng, spec->vocab);
        b.target[t] = rung_rng_below(&rng, 3) ? RUNG_NO_TARGET : (int32_t)rung_rng_below(&rng, spec->answers);
        if (t % b.tokens + 1 == b.tokens) b.target[t] = (int32_t)rung_rng_below(&rng, spec->answers);
    }
    for (size_t i = 0; i < all * spec->d_in; i++) b.feature[i] = (float)rung_rng_normal(&rng);
    for (size_t i = 0; i < all * spec->answers; i++) b.value[i] = (float)rung_rng_normal(&rng);
    for (size_t i = 0; i < all * layers; i++)
        b.told[i] = rung_rng_below(&rng, 3) ? RUNG_NO_TARGET : (int32_t)rung_rng_below(&rng, 4);
    b.batch.token = spec->vocab ? b.token : NULL;
    b.batch.feature = spec->d_in ? b.feature : NULL;
    b.batch.target = b.target;
    b.batch.target_value = vectors ? b.value : NULL;
    b.batch.layer_target = layers ? b.told : NULL;
    return b;
}

static inline void batch_free(test_batch *b)
{
    free(b->token);
    free(b->feature);
    free(b->target);
    free(b->value);
    free(b->told);
}

/* The model with the weights `values` in double. */
static inline rung_model *model_of(const rung_net *net, const double *values, const rung_model_spec *spec)
{
    size_t count = rung_net_tensor_count(net);
    rung_tensor *tensors = calloc(count, sizeof *tensors);
    rung_model *model = NULL;
    assert_non_null(tensors);
    for (size_t i = 0; i < count; i++) {
        const rung_net_tensor *t = rung_net_tensor_at(net, i);
        tensors[i] = (rung_tensor){.name = t->name,
                                   .dtype = RUNG_F64,
                                   .dtype_name = "F64",
                                   .rank = t->rank,
                                   .shape = {t->shape[0], t->shape[1], t->shape[2]},
                                   .elements = t->elements,
                                   .bytes = (const uint8_t *)(values + t->offset),
                                   .size_bytes = t->elements * sizeof *values};
    }
    CHECK(rung_model_from_tensors(&model, spec, tensors, count, "test", &check_err));
    free(tensors);
    return model;
}

static inline double loss_of_row(const double *logits, size_t answers, int32_t target, const float *value)
{
    double top = logits[0], sum = 0, square = 0;
    for (size_t a = 0; a < answers; a++) top = fmax(top, logits[a]);
    for (size_t a = 0; a < answers; a++) {
        sum += exp(logits[a] - top);
        if (value) square += (logits[a] - (double)value[a]) * (logits[a] - (double)value[a]);
    }
    return value ? square / (double)answers : log(sum) + top - logits[target];
}

/* The mean loss, by running the prefix and every continuation after it as one prompt. Targets of the prefix count once. */
static inline double loss_by_sessions(const rung_model *model, const test_batch *b, const char *numbers)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    rung_program *program = NULL;
    rung_session *session = NULL;
    rung_fmt fmt;
    size_t length = b->batch.prefix + b->batch.each, runs = b->batch.queries ? b->batch.queries : 1, targets = 0;
    double total = 0, *logits = calloc(spec->answers, sizeof *logits);
    assert_non_null(logits);
    if (!b->batch.queries) length = b->batch.prefix;
    if (numbers) CHECK(rung_fmt_parse(&fmt, numbers, &check_err));
    CHECK(rung_program_new(&program, model, &(rung_evaluator){.numbers = numbers ? &fmt : NULL, .threads = 1},
                           &check_err));
    CHECK(rung_session_new(&session, program, length, &check_err));
    uint32_t token[64];
    float feature[64 * 8];
    assert_true(length <= 64 && spec->d_in <= 8);
    for (size_t s = 0; s < b->batch.sequences; s++)
        for (size_t q = 0; q < runs; q++)
            for (size_t pos = q ? b->batch.prefix : 0; pos < length; pos++) {
                size_t at = 0;
                for (size_t p = 0; p < length; p++) {
                    size_t source = s * b->tokens + (p < b->batch.prefix ? p : p + q * b->batch.each);
                    token[p] = b->token[source];
                    memcpy(feature + p * spec->d_in, b->feature + source * spec->d_in, spec->d_in * sizeof *feature);
                    if (p == pos) at = source;
                }
                if (b->target[at] == RUNG_NO_TARGET) continue;
                rung_prompt prompt = {.token = spec->vocab ? token : NULL,
                                      .feature = spec->d_in ? feature : NULL,
                                      .tokens = spec->causal ? pos + 1 : length};
                rung_session_reset(session);
                CHECK(rung_session_run(session, logits, &prompt, RUNG_FORM_STEP, &pos, 1, &check_err));
                total += loss_of_row(logits, spec->answers, b->target[at],
                                     b->batch.target_value ? b->value + at * spec->answers : NULL);
                targets++;
            }
    rung_session_free(session);
    rung_program_free(program);
    free(logits);
    return total / (double)targets;
}

#endif
