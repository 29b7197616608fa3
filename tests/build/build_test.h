/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of constructions share: a built model at work, all prompts of a task or a sample of them, and models
 * that are broken on purpose.
 */
#ifndef RUNG_TESTS_BUILD_TEST_H
#define RUNG_TESTS_BUILD_TEST_H

#include "effort.h"
#include "rung/build.h"
#include "testing.h"

/* "lookup N=4 keys=trig" */
static inline rung_build build_of(const char *text)
{
    char copy[512];
    const char *words[32];
    size_t count = 0;
    rung_build b;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    CHECK(rung_build_init(&b, words[0], words + 1, count - 1, &check_err));
    return b;
}

static inline rung_model *model_of(const rung_build *b)
{
    rung_model *model = NULL;
    CHECK(rung_build_model(&model, b, &check_err));
    return model;
}

/* Whether the construction refuses, with a message that contains `part`. */
static inline void assert_refused(const char *text, const char *part)
{
    char copy[512];
    const char *words[32];
    size_t count = 0;
    rung_build b;
    rung_error err = {{0}};
    rung_model *model = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    rung_status status = rung_build_init(&b, words[0], words + 1, count - 1, &err);
    if (status == RUNG_OK) status = rung_build_model(&model, &b, &err);
    rung_model_close(model);
    assert_int_equal(status, RUNG_USAGE);
    if (!strstr(err.text, part)) fail_msg("'%s' does not say '%s'", err.text, part);
}

/* A model ready to answer. format = NULL: fast fp32. */
typedef struct trial {
    const rung_task_conf *task;
    const rung_model_spec *spec;
    rung_program *program;
    rung_session *session;
    rung_instance instance;
    double *out;
    size_t *at;
    uint64_t prompts, wrong;
    bool until_wrong; /* ends at the first wrong prompt */
    double distance;  /* largest, of vector targets */
} trial;

static inline trial trial_begin(const rung_model *model, const rung_task_conf *task, const char *format,
                                rung_softmax softmax)
{
    rung_fmt fmt;
    trial t = {.task = task, .spec = rung_model_get_spec(model)};
    if (format) CHECK(rung_fmt_parse(&fmt, format, &check_err));
    rung_evaluator how = {.numbers = format ? &fmt : NULL, .softmax = softmax, .threads = 1};
    CHECK(rung_program_new(&t.program, model, &how, &check_err));
    CHECK(rung_session_new(&t.session, t.program, t.spec->max_tokens, &check_err));
    CHECK(rung_instance_init(&t.instance, task, &check_err));
    t.out = calloc(task->tokens * t.spec->answers, sizeof *t.out);
    t.at = calloc(task->tokens, sizeof *t.at);
    return t;
}

static inline void trial_end(trial *t)
{
    free(t->out);
    free(t->at);
    rung_instance_clear(&t->instance);
    rung_session_free(t->session);
    rung_program_free(t->program);
}

static inline double distance_to(const double *a, const float *b, size_t count)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++) {
        double apart = a[i] - (double)b[i];
        if (apart < 0) apart = -apart;
        if (apart > worst) worst = apart;
    }
    return worst;
}

/* Runs the instance, whose targets are filled. A model that stops (NaN, missing key) is wrong. */
static inline void trial_run(trial *t)
{
    const rung_instance *in = &t->instance;
    rung_error err = {{0}};
    size_t targets = 0, thoughts;
    bool right;
    rung_prompt prompt = {.token = t->task->vocab ? in->token : NULL,
                          .feature = t->task->d_in ? in->feature : NULL,
                          .tokens = in->tokens};
    for (size_t i = 0; i < in->tokens; i++)
        if (in->target[i] != RUNG_NO_TARGET) t->at[targets++] = i;
    rung_session_reset(t->session);
    rung_status status = t->spec->thoughts
                             ? rung_session_run_thoughts(t->session, t->out, &thoughts, &prompt, RUNG_FORM_SCAN, &err)
                             : rung_session_run(t->session, t->out, &prompt, RUNG_FORM_SCAN, t->at, targets, &err);
    right = status == RUNG_OK;
    for (size_t i = 0; right && i < targets; i++) {
        const double *row = t->out + i * t->spec->answers;
        if (t->task->answers) {
            right = (int32_t)rung_argmax(row, t->spec->answers) == in->target[t->at[i]];
            continue;
        }
        double apart = distance_to(row, in->target_value + t->at[i] * t->task->d_out, t->task->d_out);
        if (apart > t->distance) t->distance = apart;
    }
    t->prompts++;
    t->wrong += !right;
}

/* One prompt of so many is run. Who looks for a wrong one needs all, until it is found. */
static inline size_t prompt_stride(const trial *t)
{
    return t->until_wrong ? 1 : effort(1, 17);
}

static inline size_t space_stride(const trial *t, uint64_t space)
{
    return space > 512 ? prompt_stride(t) : 1;
}

static inline bool trial_goes_on(const trial *t)
{
    return !t->until_wrong || t->wrong == 0;
}

static inline void trial_sample(trial *t, size_t count)
{
    for (size_t i = 0; i < count && trial_goes_on(t); i += prompt_stride(t)) {
        CHECK(rung_task_make(&t->instance, t->task, 7, i, &check_err));
        trial_run(t);
    }
}

static inline void trial_all(trial *t)
{
    uint64_t space = rung_task_space(t->task);
    assert_true(space > 0 && space < 1000000);
    for (uint64_t i = 0; i < space && trial_goes_on(t); i += space_stride(t, space)) {
        bool is_prompt;
        CHECK(rung_task_unrank(&t->instance, &is_prompt, t->task, i, &check_err));
        if (is_prompt) trial_run(t);
    }
    assert_true(t->prompts > 0);
}

static inline uint64_t trial_wrong(const rung_model *model, const rung_task_conf *task, const char *format,
                                   rung_softmax softmax, size_t samples, bool until_wrong)
{
    trial t = trial_begin(model, task, format, softmax);
    t.until_wrong = until_wrong;
    if (samples)
        trial_sample(&t, samples);
    else
        trial_all(&t);
    uint64_t wrong = t.wrong;
    trial_end(&t);
    return wrong;
}

/* Wrong prompts of a construction: all of them (samples = 0), or among so many. */
static inline uint64_t wrong_of_model(const rung_model *model, const rung_task_conf *task, const char *format,
                                      rung_softmax softmax, size_t samples)
{
    return trial_wrong(model, task, format, softmax, samples, false);
}

static inline uint64_t wrong_of(const char *text, const char *format, size_t samples)
{
    rung_build b = build_of(text);
    rung_model *model = model_of(&b);
    uint64_t wrong = wrong_of_model(model, &b.task, format, RUNG_SOFTMAX_ONLINE, samples);
    rung_model_close(model);
    return wrong;
}

/* Whether there is a wrong one. */
static inline bool goes_wrong_model(const rung_model *model, const rung_task_conf *task, const char *format,
                                    size_t samples)
{
    return trial_wrong(model, task, format, RUNG_SOFTMAX_ONLINE, samples, true) > 0;
}

static inline bool goes_wrong(const char *text, const char *format, size_t samples)
{
    rung_build b = build_of(text);
    rung_model *model = model_of(&b);
    bool wrong = goes_wrong_model(model, &b.task, format, samples);
    rung_model_close(model);
    return wrong;
}

/* ---- broken on purpose ------------------------------------------------------------------------------------------------ */

typedef struct copying {
    const rung_model *model;
    rung_tensor tensor[256];
    size_t count;
} copying;

static inline rung_status copy_tensor(void *context, const char *name, const size_t *shape, size_t rank, bool optional,
                                      rung_error *err)
{
    copying *c = context;
    const rung_tensor *tensor = rung_model_tensor(c->model, name);
    (void)shape, (void)rank, (void)optional, (void)err;
    if (tensor) c->tensor[c->count++] = *tensor;
    return RUNG_OK;
}

/* A copy of the model with one element of one tensor changed by `add`. */
static inline rung_model *model_with(const rung_model *model, const char *name, size_t element, double add)
{
    copying c = {.model = model};
    rung_model *changed = NULL;
    double *value = NULL;
    CHECK(rung_model_each_tensor(rung_model_get_spec(model), copy_tensor, &c, &check_err));
    for (size_t i = 0; i < c.count; i++) {
        if (strcmp(c.tensor[i].name, name) != 0) continue;
        value = calloc(c.tensor[i].elements, sizeof *value);
        CHECK(rung_tensor_to_f64(value, &c.tensor[i], &check_err));
        assert_true(element < c.tensor[i].elements);
        value[element] += add;
        c.tensor[i].dtype = RUNG_F64, c.tensor[i].dtype_name = "F64";
        c.tensor[i].bytes = (const uint8_t *)value, c.tensor[i].size_bytes = c.tensor[i].elements * sizeof *value;
    }
    if (!value) fail_msg("no tensor %s", name);
    CHECK(rung_model_from_tensors(&changed, rung_model_get_spec(model), c.tensor, c.count, "broken", &check_err));
    free(value);
    return changed;
}

/* Whether a prompt goes wrong after that change. */
static inline bool goes_wrong_with(const char *text, const char *format, size_t samples, const char *name,
                                   size_t element, double add)
{
    rung_build b = build_of(text);
    rung_model *model = model_of(&b), *changed = model_with(model, name, element, add);
    bool wrong = goes_wrong_model(changed, &b.task, format, samples);
    rung_model_close(changed);
    rung_model_close(model);
    return wrong;
}

#endif
