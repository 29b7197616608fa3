/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The last test by the exact evaluator: losses against one session per question in step form, counts of right answers against
 * prompts that are made and run here, for any number of threads; what it costs; who is said to have measured.
 */
#include "../../src/train/data.h"
#include "../../src/train/exact.h"
#include "train_test.h"

/* ---- losses ------------------------------------------------------------------------------------------------------------------ */

typedef struct shape_case {
    const char *arch, *numbers;
    rung_batch shape;
    bool vectors, features, causal;
} shape_case;

static const shape_case shapes[] = {
    {"2*full", "f32", {.sequences = 11, .prefix = 9}, false, false, true},
    {"full,linear", "e6m5", {.sequences = 5, .prefix = 6, .queries = 3, .each = 2}, false, false, true},
    {"gdelta:conv=2", "bf16", {.sequences = 9, .prefix = 7}, true, true, true},
    {"full", "e5m4", {.sequences = 3, .prefix = 8}, false, false, false},
};

static rung_loss exact_loss(const rung_net *net, const test_batch *b, const char *numbers, size_t threads)
{
    train_exact *exact;
    rung_loss loss;
    rung_fmt fmt;
    CHECK(rung_fmt_parse(&fmt, numbers, &check_err));
    CHECK(train_exact_new(&exact, net, &fmt, &b->batch, threads, NULL, &check_err));
    CHECK(train_exact_loss(&loss, exact, &b->batch, &check_err));
    rung_loss again;
    CHECK(train_exact_loss(&again, exact, &b->batch, &check_err));
    assert_memory_equal(&loss, &again, sizeof loss); /* nothing stays from the batch before */
    train_exact_free(exact);
    return loss;
}

static void drop_targets_of_prefixes(test_batch *b)
{
    for (size_t t = 0; b->batch.queries && t < b->batch.sequences * b->tokens; t++)
        if (t % b->tokens < b->batch.prefix) b->target[t] = RUNG_NO_TARGET;
}

static void losses_are_those_of_a_session_per_question(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(shapes); i++) {
        const shape_case *c = &shapes[i];
        rung_model_spec spec = small_spec(c->arch);
        rung_net *net;
        spec.causal = c->causal;
        if (c->features) spec.vocab = 0, spec.d_in = 4;
        CHECK(rung_net_new(&net, &spec, 3, &check_err));
        test_batch b = batch_new(&spec, c->shape, c->vectors, 0, 5 + i);
        drop_targets_of_prefixes(&b);
        rung_model *model;
        CHECK(rung_net_model(&model, net, "test", &check_err));
        double want = loss_by_sessions(model, &b, c->numbers);
        rung_loss one = exact_loss(net, &b, c->numbers, 1), two = exact_loss(net, &b, c->numbers, 2);
        assert_memory_equal(&one, &two, sizeof one);
        if (!(fabs(one.loss - want) <= 1e-12 * want)) fail_msg("%s: %.17g, not %.17g", c->arch, one.loss, want);
        rung_model_close(model);
        batch_free(&b);
        rung_net_free(net);
    }
}

/* ---- right answers ------------------------------------------------------------------------------------------------------------- */

/* How many of the first prompts of the stream a model file answers, one token after another. */
static size_t count_right(const char *path, const rung_train_spec *conf, const char *numbers, size_t prompts)
{
    uint64_t words[2] = {conf->seed, TRAIN_STREAM_TEST};
    rung_model *model;
    rung_program *program;
    rung_session *session;
    rung_instance instance;
    rung_fmt fmt;
    double out[64];
    size_t right = 0, last = conf->task.tokens - 1;
    CHECK(rung_model_open(&model, path, &check_err));
    if (numbers) CHECK(rung_fmt_parse(&fmt, numbers, &check_err));
    CHECK(rung_program_new(&program, model, &(rung_evaluator){.numbers = numbers ? &fmt : NULL, .threads = 1},
                           &check_err));
    CHECK(rung_session_new(&session, program, conf->task.tokens, &check_err));
    CHECK(rung_instance_init(&instance, &conf->task, &check_err));
    for (size_t i = 0; i < prompts; i++) {
        CHECK(rung_task_make(&instance, &conf->task, rung_hash64(words, sizeof words), i, &check_err));
        rung_prompt prompt = {.token = instance.token, .tokens = instance.tokens};
        rung_session_reset(session);
        CHECK(rung_session_run(session, out, &prompt, RUNG_FORM_STEP, &last, 1, &check_err));
        right += rung_argmax(out, conf->task.answers) == (size_t)instance.target[last];
    }
    rung_instance_clear(&instance);
    rung_session_free(session);
    rung_program_free(program);
    rung_model_close(model);
    return right;
}

static void right_answers_are_those_of_the_evaluator_that_is_named(void **state)
{
    static const char *const numbers[] = {NULL, RUNG_TEST_FAST, "f32", "e4m2"};
    char path[] = "/tmp/rung-test-exact-XXXXXX";
    size_t right[4];
    (void)state;
    close(mkstemp(path));
    for (size_t i = 0; i < 4; i++) {
        rung_train_spec conf;
        rung_buf text;
        rung_train_state end;
        small_run(&conf, &text, "full,linear", "eva N=6 V=8");
        conf.steps = 150, conf.batch = 10, conf.test_prompts = 195; /* twenty batches of ten */
        conf.test_numbers = numbers[i];
        CHECK(rung_train_run(&end, &conf, path, NULL, NULL, NULL, &check_err));
        assert_int_equal(end.test_targets, 200);
        assert_int_equal(end.test_right, count_right(path, &conf, i < 2 ? NULL : numbers[i], 200));
        assert_string_equal(end.test_numbers, i < 2 ? RUNG_TEST_FAST : numbers[i]);
        assert_true(end.test_accuracy == (double)end.test_right / 200);
        right[i] = end.test_right;
        rung_buf_clear(&text);
    }
    assert_int_equal(right[0], right[1]);
    assert_true(right[3] != right[1]); /* in numbers of seven bits it is another model */
    unlink(path);
}

/* ---- words ---------------------------------------------------------------------------------------------------------------------- */

static void the_evaluator_is_part_of_the_run_unless_it_is_the_fast_one(void **state)
{
    rung_train_spec conf;
    rung_buf text, plain = {0}, fast = {0}, exact = {0};
    rung_error err;
    (void)state;
    small_run(&conf, &text, "full", "eva N=6 V=8");
    conf.test_prompts = 10;
    rung_train_canonical(&plain, &conf);
    conf.test_numbers = RUNG_TEST_FAST;
    rung_train_canonical(&fast, &conf);
    conf.test_numbers = "f32";
    rung_train_canonical(&exact, &conf);
    assert_string_equal(plain.text, fast.text);
    assert_string_not_equal(plain.text, exact.text);
    conf.test_numbers = "f33";
    assert_int_equal(rung_train_check(&conf, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "f33"));
    rung_buf_clear(&plain);
    rung_buf_clear(&fast);
    rung_buf_clear(&exact);
    rung_buf_clear(&text);
}

/* A projection or a prompt of twice the size allows half the batches, and there is always one. */
static void the_work_of_a_test_is_bounded(void **state)
{
    uint64_t batches[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        rung_model_spec spec = small_spec("full");
        rung_net *net;
        rung_batch batch = {.sequences = i == 2 ? 64 : 32, .prefix = 16};
        if (i == 1) spec.mlp = "relu", spec.d_mlp = 400;
        CHECK(rung_net_new(&net, &spec, 1, &check_err));
        batches[i] = train_exact_batches(net, &batch);
        batch.sequences = (size_t)1 << 40;
        assert_int_equal(train_exact_batches(net, &batch), 1);
        rung_net_free(net);
    }
    assert_true(batches[0] > 1000 && batches[1] < batches[0] / 4);
    assert_true(batches[2] >= batches[0] / 2 - 1 && batches[2] <= batches[0] / 2 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_are_those_of_a_session_per_question),
        cmocka_unit_test(right_answers_are_those_of_the_evaluator_that_is_named),
        cmocka_unit_test(the_evaluator_is_part_of_the_run_unless_it_is_the_fast_one),
        cmocka_unit_test(the_work_of_a_test_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
