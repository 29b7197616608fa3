/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of the constructions for L-SeqComp share: all prompts with the tables read once, and the same questions
 * to every variant.
 */
#ifndef RUNG_TESTS_SEQCOMP_TEST_H
#define RUNG_TESTS_SEQCOMP_TEST_H

#include "build_test.h"

/* A construction and the narrowest floats in which it must be right at up to 12 tokens. */
typedef struct variant {
    const char *text, *narrow;
} variant;

/* One weight that becomes zero: the first or the last of its tensor that is not. */
typedef struct breakage {
    const char *text, *tensor;
    bool last;
} breakage;

/* The least gap that the refusal of a smaller one names, at flat=1 L=2 N0=2 n=2. */
typedef struct least_gap {
    const char *text;
    double gap;
} least_gap;

/* What the common tests ask about; the lists end with a NULL. */
typedef struct suite {
    const variant *variants;
    const least_gap *gaps;
    const breakage *broken;
} suite;

static inline const char *with(const variant *v, const char *size)
{
    static char text[200];
    snprintf(text, sizeof text, "%s %s", v->text, size);
    return text;
}

/* ---- all prompts, the tables of z read once ---------------------------------------------------------------------------- */

/* z_0 and w stand last and vary fastest, so that runs of prompts share everything before them. */
typedef struct ending {
    size_t prefix; /* tokens */
    uint64_t run;  /* prompts that share them */
} ending;

static inline ending ending_of(const rung_task_conf *task)
{
    size_t prefix = task->tokens - 2;
    return (ending){prefix, task->task->choices(task, prefix) * task->task->choices(task, prefix + 1)};
}

static inline void answer_ending(trial *t, const rung_session *read, const ending *e)
{
    rung_error err = {{0}};
    const size_t at = 1;
    size_t thoughts;
    rung_prompt prompt = {.token = t->instance.token + e->prefix, .tokens = 2};
    CHECK(rung_session_copy(t->session, read, &check_err));
    rung_status status = t->spec->thoughts
                             ? rung_session_run_thoughts(t->session, t->out, &thoughts, &prompt, RUNG_FORM_SCAN, &err)
                             : rung_session_run(t->session, t->out, &prompt, RUNG_FORM_SCAN, &at, 1, &err);
    int32_t wanted = t->instance.target[t->instance.tokens - 1];
    t->wrong += status != RUNG_OK || (int32_t)rung_argmax(t->out, t->spec->answers) != wanted;
    t->prompts++;
}

static inline uint64_t wrong_of_all(const char *text, const char *format)
{
    rung_build b = build_of(text);
    if (strncmp(text, "seqcomp-encoder", 15) == 0) return wrong_of(text, format, 0);
    rung_model *model = model_of(&b);
    trial t = trial_begin(model, &b.task, format, RUNG_SOFTMAX_ONLINE);
    ending e = ending_of(&b.task);
    rung_session *read;
    CHECK(rung_session_new(&read, t.program, t.spec->max_tokens, &check_err));
    uint64_t space = rung_task_space(&b.task);
    for (uint64_t i = 0; i < space; i++) {
        bool is_prompt;
        if (i / e.run % space_stride(&t, space) != 0) continue;
        CHECK(rung_task_unrank(&t.instance, &is_prompt, &b.task, i, &check_err));
        if (i % e.run == 0) {
            rung_prompt tables = {.token = t.instance.token, .tokens = e.prefix};
            rung_session_reset(read);
            CHECK(rung_session_run(read, NULL, &tables, RUNG_FORM_SCAN, NULL, 0, &check_err));
        }
        if (is_prompt) answer_ending(&t, read, &e);
    }
    uint64_t wrong = t.wrong;
    assert_true(t.prompts > 0);
    rung_session_free(read);
    trial_end(&t);
    rung_model_close(model);
    return wrong;
}

static inline void assert_all_right(const char *text, const char *format)
{
    uint64_t wrong = wrong_of_all(text, format);
    if (wrong) fail_msg("%s in %s: %llu wrong", text, format ? format : "fp32", (unsigned long long)wrong);
}

/* ---- what every variant must do ------------------------------------------------------------------------------------ */

static inline void every_flat_prompt_is_right(void **state)
{
    const suite *all = *state;
    for (size_t i = 0; all->variants[i].text; i++) {
        const variant *v = &all->variants[i];
        static const char *const sizes[] = {"flat=1 L=1 N0=4", "flat=1 L=2 N0=2 n=2"};
        for (size_t k = 0; k < RUNG_COUNT(sizes); k++) {
            assert_all_right(with(v, sizes[k]), NULL);
            assert_all_right(with(v, sizes[k]), "f32");
            assert_all_right(with(v, sizes[k]), v->narrow);
        }
        assert_all_right(with(v, "flat=1 L=3 N0=2 n=2"), NULL);
        assert_all_right(with(v, "flat=1 L=3 N0=2 n=2"), v->narrow);
    }
}

/* Ranges that grow, are cut by V, or are single points; digits that are missing; arguments that tokens name. */
static inline void every_other_prompt_is_right(void **state)
{
    const suite *all = *state;
    static const char *const sizes[] = {
        "L=2 N0=2 n=2 V=3",   "L=2 N0=3 n=1 V=2",           "L=3 N0=1 n=2,1 V=2",          "L=1 N0=1",
        "L=1 N0=2 form=pair", "L=2 N0=2 n=1 V=2 form=pair", "L=3 N0=1 n=2,1 V=2 form=pair"};
    for (size_t i = 0; all->variants[i].text; i++)
        for (size_t k = 0; k < RUNG_COUNT(sizes); k++) {
            assert_all_right(with(&all->variants[i], sizes[k]), NULL);
            assert_all_right(with(&all->variants[i], sizes[k]), all->variants[i].narrow);
        }
}

static inline void large_prompts_are_right(void **state)
{
    const suite *all = *state;
    static const char *const sizes[] = {"L=2 N0=16 n=16 flat=1", "L=2 N0=40 n=3 V=100", "L=3 N0=4 n=3,5",
                                        "L=4 N0=5 n=4,3,2 flat=1", "L=3 N0=6 n=4 flat=1 form=pair"};
    for (size_t i = 0; all->variants[i].text; i++)
        for (size_t k = 0; k < RUNG_COUNT(sizes); k++) {
            if ((i + k) % effort(1, 2) != 0) continue;
            const char *text = with(&all->variants[i], sizes[k]);
            bool bits = strcmp(all->variants[i].narrow, "e8m1") == 0;
            assert_int_equal(wrong_of(text, NULL, 4), 0);
            assert_int_equal(wrong_of(text, "f32", 2), 0);
            assert_int_equal(wrong_of(text, bits ? "e8m1" : "e8m15", 2), 0);
        }
}

static inline void what_is_not_right_is_refused(void **state)
{
    const suite *all = *state;
    for (size_t i = 0; all->variants[i].text; i++) {
        assert_refused(with(&all->variants[i], "order=first"), "take order=last");
        assert_refused(with(&all->variants[i], "L=2 N0=2 n=2 gap=0.3"), "take gap=");
    }
}

typedef struct layers {
    size_t full, linear;
} layers;

static inline layers layers_of(const char *text)
{
    rung_build b = build_of(text);
    rung_model *model = model_of(&b);
    const rung_arch *arch = rung_model_get_arch(model);
    layers l = {0};
    for (size_t i = 0; i < arch->layer_count; i++) {
        const char *name = arch->layer[i].group[0].mech->name;
        l.full += strcmp(name, "full") == 0, l.linear += strcmp(name, "linear") == 0;
        assert_int_equal(arch->layer[i].group_count, 1);
        assert_int_equal(arch->layer[i].group[0].heads, 1);
    }
    assert_int_equal(l.full + l.linear, arch->layer_count);
    rung_model_close(model);
    return l;
}

/* The bound that the refusal rests on holds: with the gap that the message names every prompt is right. */
static inline void the_least_gap_is_enough(void **state)
{
    const suite *all = *state;
    for (const least_gap *g = all->gaps; g->text; g++) {
        char text[128], hint[32];
        snprintf(text, sizeof text, "%s flat=1 L=2 N0=2 n=2 gap=%.2f", g->text, g->gap - 0.01);
        snprintf(hint, sizeof hint, "take gap=%.2f", g->gap);
        assert_refused(text, hint);
        snprintf(text, sizeof text, "%s flat=1 L=2 N0=2 n=2 gap=%.2f", g->text, g->gap);
        assert_all_right(text, "f64");
    }
}

static inline size_t find_weight(const rung_model *model, const char *name, bool last, double *weight)
{
    const rung_tensor *tensor = rung_model_tensor(model, name);
    double *value = calloc(tensor->elements, sizeof *value);
    size_t found = SIZE_MAX;
    CHECK(rung_tensor_to_f64(value, tensor, &check_err));
    for (size_t i = 0; i < tensor->elements; i++)
        if (value[i] != 0 && (last || found == SIZE_MAX)) found = i, *weight = value[i];
    free(value);
    assert_true(found != SIZE_MAX);
    return found;
}

static inline void a_missing_weight_is_seen(void **state)
{
    const suite *all = *state;
    for (const breakage *c = all->broken; c->text; c++) {
        char text[128];
        double weight = 0;
        snprintf(text, sizeof text, "%s flat=1 L=2 N0=2 n=2", c->text);
        rung_build b = build_of(text);
        rung_model *model = model_of(&b);
        size_t element = find_weight(model, c->tensor, c->last, &weight);
        rung_model_close(model);
        if (!goes_wrong_with(text, "f32", 0, c->tensor, element, -weight))
            fail_msg("%s without a weight of %s", text, c->tensor);
    }
}

#define SEQCOMP_TESTS(suite)                                                                                           \
    cmocka_unit_test_prestate(every_flat_prompt_is_right, suite),                                                      \
        cmocka_unit_test_prestate(every_other_prompt_is_right, suite),                                                 \
        cmocka_unit_test_prestate(large_prompts_are_right, suite),                                                     \
        cmocka_unit_test_prestate(what_is_not_right_is_refused, suite),                                                \
        cmocka_unit_test_prestate(the_least_gap_is_enough, suite),                                                     \
        cmocka_unit_test_prestate(a_missing_weight_is_seen, suite)

#endif
