/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Models by hand whose wrong answers can be counted with pencil and paper, on every prompt and on samples.
 */
#include <stdatomic.h>

#include "model/model_test.h"
#include "rung/verify.h"

/* ---- models -------------------------------------------------------------------------------------------------------- */

enum { D = 4, ROWS_MAX = 32 };

/* One layer of one head with dk = dv = 1, everything zero until a test says otherwise. */
typedef struct toy {
    rung_model_spec spec;
    float embed[ROWS_MAX * D], positions[ROWS_MAX * D];
    float q[D], k[D], v[D], out[D];
    float readout[ROWS_MAX * D], bias[ROWS_MAX];
} toy;

static toy toy_for(const rung_task_conf *task, size_t thoughts)
{
    toy m = {.spec = small_spec("full")};
    m.spec.vocab = task->vocab ? task->vocab + thoughts : 0;
    m.spec.d_in = task->d_in;
    m.spec.answers = (task->answers ? task->answers : task->d_out) + thoughts;
    m.spec.max_tokens = task->tokens + thoughts;
    m.spec.d_model = D;
    m.spec.heads = m.spec.dk = m.spec.dv = 1;
    m.spec.positions = RUNG_POS_LEARNED;
    m.spec.thoughts = thoughts;
    assert_true(m.spec.vocab <= ROWS_MAX && m.spec.answers <= ROWS_MAX && m.spec.max_tokens <= ROWS_MAX);
    return m;
}

static rung_model *toy_open(const toy *m)
{
    rung_model *model = NULL;
    const rung_model_spec *s = &m->spec;
    const rung_tensor all[] = {
        s->vocab ? tensor_of("embed.weight", m->embed, 2, s->vocab, D)
                 : tensor_of("embed.weight", m->embed, 2, D, s->d_in),
        tensor_of("positions", m->positions, 2, s->max_tokens, D),
        tensor_of("layers.0.mix.0.q.weight", m->q, 2, 1, D),
        tensor_of("layers.0.mix.0.k.weight", m->k, 2, 1, D),
        tensor_of("layers.0.mix.0.v.weight", m->v, 2, 1, D),
        tensor_of("layers.0.out.weight", m->out, 2, D, 1),
        tensor_of("readout.weight", m->readout, 2, s->answers, D),
        tensor_of("readout.bias", m->bias, 1, s->answers, 0),
    };
    CHECK(rung_model_from_tensors(&model, s, all, RUNG_COUNT(all), "a test", &check_err));
    return model;
}

static rung_task_conf task_of(const char *text)
{
    rung_task_conf conf;
    CHECK(rung_task_conf_parse(&conf, text, &check_err));
    return conf;
}

static rung_verify_options method(rung_method how, size_t threads)
{
    return (rung_verify_options){.method = how, .samples = 300, .seed = 5, .how = {.threads = threads}, .show = 64};
}

static rung_verify_result verified(const toy *m, const rung_task_conf *task, const rung_verify_options *conf)
{
    rung_verify_result result;
    rung_model *model = toy_open(m);
    CHECK(rung_verify_run(&result, model, task, conf, &check_err));
    rung_model_close(model);
    return result;
}

static void assert_refused(const toy *m, const rung_task_conf *task, const rung_verify_options *conf, const char *hint)
{
    rung_verify_result result;
    rung_error err = {""};
    rung_model *model = toy_open(m);
    assert_int_equal(rung_verify_run(&result, model, task, conf, &err), RUNG_USAGE);
    if (!strstr(err.text, hint)) fail_msg("'%s' is not in: %s", hint, err.text);
    rung_model_close(model);
}

static void assert_same(const rung_verify_result *a, const rung_verify_result *b)
{
    assert_int_equal(a->method, b->method);
    assert_int_equal(a->complete, b->complete);
    assert_int_equal(a->candidates, b->candidates);
    assert_int_equal(a->prompts, b->prompts);
    assert_int_equal(a->targets, b->targets);
    assert_int_equal(a->wrong, b->wrong);
    assert_true(a->error_low == b->error_low && a->error_high == b->error_high && a->max_distance == b->max_distance);
    assert_int_equal(a->shown, b->shown);
    for (size_t i = 0; i < a->shown; i++) {
        const rung_wrong *x = &a->first_wrong[i], *y = &b->first_wrong[i];
        assert_true(x->index == y->index && x->position == y->position && x->distance == y->distance);
        assert_true(x->target == y->target && x->answer == y->answer);
        assert_string_equal(x->why, y->why);
    }
}

/* ---- every prompt --------------------------------------------------------------------------------------------------- */

/* eva with N=3, V=2: prompt number ((4 f(0) + 2 f(1) + f(2)) 3 + x). */
static unsigned eva_answer(uint64_t index)
{
    return (unsigned)(index / 3 >> (2 - index % 3) & 1);
}

/* Always 0 is wrong where f(x) = 1: on half of the 24 prompts. */
static void a_constant_answer_is_wrong_where_the_answer_is_another(void **state)
{
    (void)state;
    rung_task_conf task = task_of("eva N=3 V=2");
    toy m = toy_for(&task, 0);
    m.bias[0] = 1;
    for (size_t threads = 1; threads <= 3; threads++) {
        rung_verify_options conf = method(RUNG_EXHAUSTIVE, threads);
        rung_verify_result r = verified(&m, &task, &conf);
        assert_int_equal(rung_verify_total(&task, &conf), 24);
        assert_true(r.complete && r.candidates == 24 && r.prompts == 24 && r.targets == 24 && r.wrong == 12);
        assert_true(r.error_low == 0.5 && r.error_high == 0.5 && r.shown == 12);
        size_t found = 0;
        for (uint64_t i = 0; i < 24; i++)
            if (eva_answer(i)) assert_int_equal(r.first_wrong[found++].index, i);
        assert_int_equal(found, 12);
        for (size_t i = 0; i < 12; i++) {
            assert_true(r.first_wrong[i].position == 3 && r.first_wrong[i].target == 1);
            assert_true(r.first_wrong[i].answer == 0 && r.first_wrong[i].why[0] == 0);
        }
    }
}

static void no_more_wrong_ones_are_kept_than_asked_for(void **state)
{
    (void)state;
    rung_task_conf task = task_of("eva N=3 V=2");
    toy m = toy_for(&task, 0);
    m.bias[0] = 1;
    for (size_t show = 0; show <= 5; show += 5) {
        rung_verify_options conf = method(RUNG_EXHAUSTIVE, 2);
        conf.show = show;
        rung_verify_result r = verified(&m, &task, &conf);
        assert_true(r.wrong == 12 && r.shown == show);
        assert_true(show == 0 || (r.first_wrong[0].index == 5 && r.first_wrong[4].index == 12));
    }
}

/* One bit of address: keys +-1 by position, queries +-s. With s = 8 the head reads f(x); with s = 0 it averages the
 * two entries and the query, and rounds 1/3 down: wrong where f = (1,0), x = 0 and f = (0,1), x = 1. */
static toy retrieval_head(const rung_task_conf *task, float s)
{
    toy m = toy_for(task, 0);
    m.positions[0 * D] = -1, m.positions[1 * D] = 1;
    m.embed[2 * D + 1] = -1, m.embed[3 * D + 1] = 1; /* the queries */
    m.embed[1 * D + 2] = 1;                          /* the value 1 */
    m.q[1] = s, m.k[0] = 1, m.v[2] = 1, m.out[3] = 1;
    m.readout[0 * D + 3] = -1, m.readout[1 * D + 3] = 1, m.bias[0] = 0.5f, m.bias[1] = -0.5f;
    return m;
}

static void a_head_that_retrieves_is_right_and_one_that_averages_is_not(void **state)
{
    (void)state;
    rung_task_conf task = task_of("eva N=2 V=2");
    rung_fmt bf16 = format_of("bf16");
    for (size_t exact = 0; exact < 2; exact++) {
        rung_verify_options conf = method(RUNG_EXHAUSTIVE, 2);
        conf.how.numbers = exact ? &bf16 : NULL;
        toy right = retrieval_head(&task, 8), blind = retrieval_head(&task, 0);
        rung_verify_result r = verified(&right, &task, &conf);
        assert_true(r.complete && r.prompts == 8 && r.wrong == 0 && r.shown == 0 && r.error_high == 0);
        r = verified(&blind, &task, &conf);
        assert_true(r.wrong == 2 && r.first_wrong[0].index == 1 * 2 + 1 && r.first_wrong[1].index == 2 * 2 + 0);
    }
}

/* Rows with two equal keys, or a query that no entry has, are no prompts. */
static void rows_that_are_no_prompts_are_skipped(void **state)
{
    (void)state;
    rung_task_conf task = task_of("eva N=2 V=2 K=3 form=pair");
    toy m = toy_for(&task, 0);
    rung_verify_options conf = method(RUNG_EXHAUSTIVE, 2);
    rung_verify_result r = verified(&m, &task, &conf);
    assert_true(r.candidates == 6 * 6 * 3 && r.prompts == 3 * 2 * 4 * 2 && r.wrong == r.prompts / 2);
}

/* The last bit as the answer to "parity so far" at every position: wrong at the first position after a one. */
static void a_prompt_counts_once_and_by_its_first_wrong_answer(void **state)
{
    (void)state;
    rung_task_conf task = task_of("parity N=5 targets=all");
    toy m = toy_for(&task, 0);
    m.embed[1 * D] = 1;
    m.readout[1 * D] = 1, m.bias[0] = 0.5f;
    rung_verify_options conf = method(RUNG_EXHAUSTIVE, 2);
    rung_verify_result r = verified(&m, &task, &conf);
    assert_true(r.prompts == 32 && r.targets == 160 && r.wrong == 30); /* right: 00000 and 00001 */
    for (size_t i = 0; i < r.shown; i++) {
        uint64_t index = r.first_wrong[i].index;
        size_t one = 0;
        while (!(index >> (4 - one) & 1)) one++;
        assert_int_equal(index, i + 2);
        assert_int_equal(r.first_wrong[i].position, one + 1);
        assert_int_equal(r.first_wrong[i].answer, index >> (4 - (one + 1)) & 1);
        assert_int_equal(r.first_wrong[i].target, !r.first_wrong[i].answer);
    }
}

/* An infinity in the embedding of the value 1 makes 0 * inf: only f = 0 gives answers. */
static void a_model_that_stops_is_wrong_and_says_why(void **state)
{
    (void)state;
    rung_task_conf task = task_of("eva N=3 V=2");
    toy m = toy_for(&task, 0);
    m.embed[1 * D] = INFINITY;
    m.bias[0] = 1;
    rung_verify_options conf = method(RUNG_EXHAUSTIVE, 2);
    rung_verify_result r = verified(&m, &task, &conf);
    assert_true(r.complete && r.prompts == 24 && r.wrong == 21 && r.shown == 21);
    for (size_t i = 0; i < r.shown; i++) {
        assert_true(r.first_wrong[i].index == i + 3 && r.first_wrong[i].answer == RUNG_NO_TARGET);
        assert_non_null(strstr(r.first_wrong[i].why, "not a number"));
        assert_int_equal(r.first_wrong[i].target, eva_answer(i + 3));
    }
}

/* Two positions that ask for one of two numbers of {0, 1, -1}; a model that says 0 is off by |z|. */
static void vectors_are_right_up_to_the_tolerance(void **state)
{
    (void)state;
    rung_task_conf task = task_of("q-sparse-average N=2 q=1 d=1");
    toy m = toy_for(&task, 0);
    uint64_t wrong = 0;
    for (int z0 = -1; z0 <= 1; z0++)
        for (int z1 = -1; z1 <= 1; z1++)
            for (int y = 0; y < 4; y++) wrong += (y % 2 ? z1 : z0) || (y / 2 ? z1 : z0);
    const double tolerances[] = {0, 0.999, 1, 2};
    for (size_t i = 0; i < 4; i++) {
        rung_verify_options conf = method(RUNG_EXHAUSTIVE, 2);
        conf.tolerance = tolerances[i];
        rung_verify_result r = verified(&m, &task, &conf);
        assert_true(r.prompts == 36 && r.targets == 72 && r.max_distance == 1);
        assert_int_equal(r.wrong, i < 2 ? wrong : 0);
        assert_true(i >= 2 || r.first_wrong[0].distance == 1);
    }
}

/* ---- thoughts --------------------------------------------------------------------------------------------------------- */

/* Says its one thought after the prompt, and 0 after the thought. */
static toy thinker(const rung_task_conf *task)
{
    toy m = toy_for(task, 1);
    size_t row = m.spec.answers - 1;
    m.embed[(m.spec.vocab - 1) * D] = 1;
    m.bias[row] = 1, m.readout[row * D] = -2;
    return m;
}

static void a_model_may_think_before_it_answers(void **state)
{
    (void)state;
    rung_task_conf task = task_of("eva N=3 V=2");
    toy m = thinker(&task);
    rung_verify_options conf = method(RUNG_EXHAUSTIVE, 2);
    rung_verify_result r = verified(&m, &task, &conf);
    assert_true(r.wrong == 12 && r.first_wrong[0].answer == 0);
    m.spec.max_tokens = task.tokens; /* no room for the thought: it never answers */
    r = verified(&m, &task, &conf);
    assert_true(r.wrong == 24 && r.first_wrong[0].answer == RUNG_NO_TARGET && r.first_wrong[0].why[0] == 0);
    task = task_of("parity N=5 targets=all");
    m = thinker(&task);
    assert_refused(&m, &task, &conf, "asks 5 times");
    task = task_of("mqar T=4 pairs=1 vocab=5"); /* a query, then filler */
    m = thinker(&task);
    assert_refused(&m, &task, &conf, "position 2 of 4");
}

/* ---- samples ---------------------------------------------------------------------------------------------------------- */

static void a_sample_counts_what_the_generator_draws(void **state)
{
    (void)state;
    rung_task_conf task = task_of("eva N=3 V=2");
    toy m = toy_for(&task, 0);
    rung_instance in;
    uint64_t wrong = 0, first[64];
    m.bias[0] = 1;
    rung_verify_options conf = method(RUNG_SAMPLED, 2);
    CHECK(rung_instance_init(&in, &task, &check_err));
    for (uint64_t i = 0; i < conf.samples; i++) {
        CHECK(rung_task_make(&in, &task, conf.seed, i, &check_err));
        if (in.target[3] == 1 && wrong++ < 64) first[wrong - 1] = i;
    }
    rung_instance_clear(&in);
    rung_verify_result r = verified(&m, &task, &conf);
    rung_interval interval = rung_clopper_pearson(wrong, 300, 0.95);
    assert_true(r.complete && r.candidates == 300 && r.prompts == 300 && r.wrong == wrong && r.shown == 64);
    assert_true(r.error_low == interval.low && r.error_high == interval.high);
    for (size_t i = 0; i < 64; i++) assert_int_equal(r.first_wrong[i].index, first[i]);
}

/* ---- threads, interruption ---------------------------------------------------------------------------------------------- */

static void threads_never_change_the_result(void **state)
{
    (void)state;
    const char *const tasks[] = {"two-sum N=3 M=7", "mkar T=8 V=3 key=1", "assoc-recall N=2 K=5 V=4"};
    for (size_t t = 0; t < RUNG_COUNT(tasks); t++)
        for (rung_method how = RUNG_EXHAUSTIVE; how <= RUNG_SAMPLED; how++) {
            rung_task_conf task = task_of(tasks[t]);
            toy m = toy_for(&task, 0);
            rung_rng rng;
            rung_rng_init(&rng, 1, t, 0);
            for (size_t i = 0; i < RUNG_COUNT(m.embed); i++)
                m.embed[i] = (float)rung_rng_normal(&rng), m.readout[i] = (float)rung_rng_normal(&rng);
            rung_verify_options conf = method(how, 1);
            rung_verify_result one = verified(&m, &task, &conf);
            assert_true(one.wrong > 0 && one.wrong < one.prompts);
            for (size_t threads = 2; threads <= 5; threads += 3) {
                conf.how.threads = threads;
                rung_verify_result more = verified(&m, &task, &conf);
                assert_same(&one, &more);
            }
        }
}

static atomic_int calls_left;

static bool stop_after_some_calls(void)
{
    return atomic_fetch_sub(&calls_left, 1) <= 0;
}

static void an_interrupted_run_covers_a_beginning(void **state)
{
    (void)state;
    rung_task_conf task = task_of("seqcomp L=3 N0=2 n=2,2 flat=1");
    toy m = toy_for(&task, 0);
    m.bias[0] = 1;
    rung_verify_options conf = method(RUNG_EXHAUSTIVE, 2);
    rung_verify_result whole = verified(&m, &task, &conf);
    assert_true(whole.complete && whole.prompts == 8192 && whole.wrong == 4096);
    conf.interrupted = stop_after_some_calls;
    for (int calls = 0; calls <= 5000; calls = 2 * calls + 1) {
        atomic_store(&calls_left, calls);
        rung_verify_result part = verified(&m, &task, &conf);
        rung_instance in;
        uint64_t wrong = 0;
        bool is_prompt;
        assert_true(!part.complete && part.candidates <= (uint64_t)calls && part.prompts == part.candidates);
        assert_true(calls < 1000 || part.candidates > 0);
        assert_true(part.error_low == 0 && part.error_high == 1);
        CHECK(rung_instance_init(&in, &task, &check_err));
        for (uint64_t i = 0; i < part.candidates; i++) {
            CHECK(rung_task_unrank(&in, &is_prompt, &task, i, &check_err));
            wrong += in.target[task.tokens - 1] == 1;
        }
        rung_instance_clear(&in);
        assert_int_equal(part.wrong, wrong);
        for (size_t i = 0; i < part.shown; i++) assert_int_equal(part.first_wrong[i].index, whole.first_wrong[i].index);
    }
}

/* ---- refusals ------------------------------------------------------------------------------------------------------------ */

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    rung_task_conf task = task_of("eva N=3 V=2"), other = task_of("eva N=4 V=2"), vast = task_of("parity N=70");
    rung_verify_options conf = method(RUNG_EXHAUSTIVE, 1);
    toy m = toy_for(&task, 0);
    assert_refused(&m, &other, &conf, "positions");
    m.spec.max_tokens = 5;
    assert_refused(&m, &other, &conf, "made for: no task");
    m.spec.max_tokens = ROWS_MAX, m.spec.positions = RUNG_POS_LEARNED, m.spec.vocab = 2;
    assert_refused(&m, &vast, &conf, "positions");
    m = toy_for(&task, 0);
    other = task_of("mkar T=4 V=5 key=1"); /* as many tokens and ids, other answers */
    assert_refused(&m, &other, &conf, "2 answers");
    conf = method(RUNG_SAMPLED, 1);
    conf.samples = 0;
    assert_refused(&m, &task, &conf, "at least one prompt");
}

static void a_space_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    rung_task_conf task = task_of("parity N=70");
    rung_model_spec spec = small_spec("full");
    rung_verify_options conf = method(RUNG_EXHAUSTIVE, 1);
    rung_verify_result result;
    rung_error err = {""};
    spec.vocab = spec.answers = 2;
    rung_model *model = random_model(&spec, 1); /* without positions it takes any length */
    assert_true(rung_verify_total(&task, &conf) == UINT64_MAX);
    assert_int_equal(rung_verify_run(&result, model, &task, &conf, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "2^64"));
    conf = method(RUNG_SAMPLED, 2);
    conf.samples = 1; /* fewer prompts than threads */
    CHECK(rung_verify_run(&result, model, &task, &conf, &check_err));
    assert_true(result.complete && result.prompts == 1);
    rung_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_answer_is_wrong_where_the_answer_is_another),
        cmocka_unit_test(no_more_wrong_ones_are_kept_than_asked_for),
        cmocka_unit_test(a_head_that_retrieves_is_right_and_one_that_averages_is_not),
        cmocka_unit_test(rows_that_are_no_prompts_are_skipped),
        cmocka_unit_test(a_prompt_counts_once_and_by_its_first_wrong_answer),
        cmocka_unit_test(a_model_that_stops_is_wrong_and_says_why),
        cmocka_unit_test(vectors_are_right_up_to_the_tolerance),
        cmocka_unit_test(a_model_may_think_before_it_answers),
        cmocka_unit_test(a_sample_counts_what_the_generator_draws),
        cmocka_unit_test(threads_never_change_the_result),
        cmocka_unit_test(an_interrupted_run_covers_a_beginning),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_space_that_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests_name("verify", tests, NULL, remove_test_file);
}
