/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Weights for given layers: what is found is of the architecture that was asked about, is right when it is judged again by
 * other means, and comes from the words that are printed. What does not fit is not found, quickly and with a reason.
 */
#include "rung/witness.h"
#include "testing.h"

#include <unistd.h>

typedef struct question {
    const char *arch;
    size_t heads, dk, dv;
    const char *task, *numbers;
    bool thoughts, encoder;
    rung_softmax softmax;
} question;

static rung_task_conf task_of(const char *text)
{
    char copy[256], *rest = copy;
    const char *words[32];
    size_t count = 0;
    rung_task_conf task;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word; (word = strtok_r(rest, " ", &rest));) words[count++] = word;
    CHECK(rung_task_conf_init(&task, words[0], words + 1, count - 1, &check_err));
    return task;
}

static rung_witness find(const question *q, rung_task_conf *task, rung_fmt *fmt)
{
    rung_arch_defaults defaults = {.heads = q->heads, .dk = q->dk, .dv = q->dv, .causal = !q->encoder};
    rung_witness w;
    *task = task_of(q->task);
    CHECK(rung_fmt_parse(fmt, q->numbers, &check_err));
    rung_witness_options ask = {.arch = q->arch,
                                .defaults = &defaults,
                                .task = task,
                                .numbers = fmt,
                                .softmax = q->softmax,
                                .thoughts = q->thoughts,
                                .samples = 100,
                                .seed = 3,
                                .threads = 1};
    double start = rung_wall_s();
    CHECK(rung_witness_find(&w, &ask, &check_err));
    print_message("%s, %s, %s: %s%s, %zu of %zu fit, %.2f s\n", q->arch, q->task, q->numbers,
                  w.found ? rung_evidence_names[w.finding.evidence - 1] : "nothing: ", w.why, w.fitting, w.options,
                  rung_wall_s() - start);
    return w;
}

/* The sample of another seed, run on the model that was found. */
static void assert_right_again(const rung_witness *w, const rung_task_conf *task, const rung_fmt *fmt,
                               rung_softmax order)
{
    static rung_verify_result result;
    rung_verify_options conf = {
        .method = RUNG_SAMPLED, .samples = 20, .seed = 12345, .how = {.numbers = fmt, .softmax = order, .threads = 1}};
    CHECK(rung_verify_run(&result, w->model, task, &conf, &check_err));
    assert_int_equal(result.wrong, 0);
    assert_int_equal(result.prompts, 20);
    rung_verify_clear(&result);
}

/* The words build the model that was embedded: the same read-outs. */
static void assert_words_build_it(const rung_witness *w, const rung_task_conf *task, const rung_fmt *fmt)
{
    char copy[512], *rest = copy;
    const char *words[48];
    size_t count = 0;
    rung_build b;
    rung_model *small = NULL;
    rung_agreement same;
    snprintf(copy, sizeof copy, "%s", w->build);
    for (char *word; (word = strtok_r(rest, " ", &rest));) words[count++] = word;
    CHECK(rung_build_init(&b, words[0], words + 1, count - 1, &check_err));
    CHECK(rung_build_model(&small, &b, &check_err));
    rung_evaluator how = {.numbers = fmt, .threads = 1};
    CHECK(rung_models_agree(&same, small, w->model, task, &how, 5, 77, &check_err));
    assert_true(same.agree && same.prompts > 0);
    rung_model_close(small);
}

/* The file is the model. */
static void assert_written(const rung_witness *w)
{
    char path[] = "/tmp/rung-witness-XXXXXX", was[65], is[65];
    rung_model *again = NULL;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    CHECK(rung_witness_write(w, path, &check_err));
    CHECK(rung_model_open(&again, path, &check_err));
    rung_model_digest(was, w->model);
    rung_model_digest(is, again);
    assert_string_equal(was, is);
    rung_model_close(again);
    unlink(path);
}

static void assert_found(const question *q, rung_evidence evidence)
{
    rung_task_conf task;
    rung_fmt fmt;
    rung_witness w = find(q, &task, &fmt);
    if (!w.found) fail_msg("%s, %s: nothing found: %s", q->arch, q->task, w.why);
    assert_int_equal(w.finding.evidence, evidence);
    assert_true(w.finding.right);
    assert_string_equal(rung_model_get_spec(w.model)->arch, q->arch);
    assert_right_again(&w, &task, &fmt, q->softmax);
    assert_written(&w);
    if (q->softmax == RUNG_SOFTMAX_ONLINE) assert_words_build_it(&w, &task, &fmt);
    rung_witness_clear(&w);
}

static void assert_nothing(const question *q, const char *part)
{
    rung_task_conf task;
    rung_fmt fmt;
    rung_witness w = find(q, &task, &fmt);
    assert_false(w.found);
    assert_null(w.model);
    assert_int_equal(rung_witness_write(&w, "nowhere", &check_err), RUNG_USAGE);
    if (!strstr(w.why, part)) fail_msg("%s, %s: why is '%s', without '%s'", q->arch, q->task, w.why, part);
    rung_witness_clear(&w);
}

static void test_found(void **state)
{
    (void)state;
    assert_found(&(question){"full", 1, 2, 2, "eva N=541", "e8m17", .thoughts = false}, RUNG_PROVED);
    assert_found(&(question){"2*linear,full,gdelta", 4, 32, 32, "eva N=64", "e8m3", .thoughts = false}, RUNG_PROVED);
    assert_found(&(question){"gdelta@2|full@1", 1, 16, 16, "index N=100 V=2", "bf16", .thoughts = false}, RUNG_PROVED);
    assert_found(&(question){"full", 2, 16, 16, "eva N=3 V=3 K=5 form=pair", "bf16", .thoughts = false},
                 RUNG_ALL_PROMPTS);
    assert_found(&(question){"full,window:W=5", 2, 16, 16, "eva N=16 V=16 K=20 form=pair", "bf16", .thoughts = false},
                 RUNG_A_SAMPLE);
    assert_found(&(question){"full,linear:phi=identity:norm=0,full,2*full", 1, 64, 64, "seqcomp L=2 N0=4 n=3", "bf16",
                             .thoughts = false},
                 RUNG_A_SAMPLE);
    assert_found(&(question){"3*full", 1, 40, 40, "seqcomp L=2 N0=2 n=1", "bf16", .thoughts = false}, RUNG_ALL_PROMPTS);
    assert_found(&(question){"linear:phi=identity:norm=0", 1, 64, 64, "eva N=4 V=4", "bf16", .thoughts = false},
                 RUNG_ALL_PROMPTS);
    assert_found(&(question){"full", 1, 16, 16, "eva N=4 V=3", "bf16", .softmax = RUNG_SOFTMAX_TWO_PASS},
                 RUNG_ALL_PROMPTS);
    assert_found(&(question){"full", 1, 64, 64, "two-sum N=5 M=7 form=query blank=1", "bf16", .thoughts = false},
                 RUNG_PROVED);
}

static void test_thoughts(void **state)
{
    question q = {"full", 4, 64, 64, "seqcomp L=2 N0=2 V=2", "bf16", .thoughts = true};
    (void)state;
    assert_found(&q, RUNG_ALL_PROMPTS);
    q.thoughts = false;
    assert_nothing(&q, "");
}

static void test_nothing(void **state)
{
    (void)state;
    assert_nothing(&(question){"linear", 1, 2, 2, "eva N=64", "e8m17", .thoughts = false}, "lookup");
    assert_nothing(&(question){"full:conv=2", 1, 32, 32, "eva N=64", "e8m17", .thoughts = false}, "silu");
    assert_nothing(&(question){"full", 1, 2, 1, "eva N=64", "e5m2", .thoughts = false}, "wrong");
    assert_nothing(&(question){"full,4*linear", 1, 64, 64, "seqcomp L=2 N0=30 n=17", "e8m17", .thoughts = false},
                   "full");
    assert_nothing(&(question){"full", 1, 64, 64, "dyck", "e8m17", .thoughts = false}, "");
    assert_nothing(&(question){"full", 1, 64, 64, "eva N=64", "e8m17", .encoder = true}, "mask");
    assert_nothing(&(question){"40*(3*gdelta,window:W=128)", 16, 64, 64, "eva N=4096", "e8m17", .thoughts = false},
                   "lookup");
}

/* Formats of p bits. */
static void test_formats(void **state)
{
    rung_fmt fmt[2];
    (void)state;
    assert_int_equal(rung_witness_formats(fmt, 26), 2);
    assert_string_equal(fmt[0].name, "e8m17");
    assert_string_equal(fmt[1].name, "e5m20");
    assert_int_equal(rung_witness_formats(fmt, 8), 1);
    assert_int_equal(rung_witness_formats(fmt, 6), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_thoughts),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_formats),
    };
    return cmocka_run_group_tests_name("weights for given layers", tests, NULL, NULL);
}
