/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A judge that continues from shared prefixes against one that runs every prompt from its beginning: the same read-outs
 * to the bit, the same thoughts, the same messages where the model stops; for every mechanism, over tokens and features,
 * with one question and with several, in the order of the enumeration and in any other.
 */
#include "model/model_test.h"
#include "rung/verify.h"

#define CANDIDATES 700

typedef struct pair {
    rung_judge whole, shared;
    rung_program *program;
    rung_model *model;
    rung_task_conf task;
    size_t stopped, ran;
} pair;

static rung_model_spec spec_for(const rung_task_conf *task, const char *arch, size_t thoughts)
{
    rung_model_spec s = small_spec(arch);
    s.mlp = "gelu";
    s.vocab = task->vocab ? task->vocab + thoughts : 0;
    s.d_in = task->d_in;
    s.answers = (task->answers ? task->answers : task->d_out) + thoughts;
    s.max_tokens = task->tokens + 3 * thoughts;
    s.positions = RUNG_POS_LEARNED;
    s.norm = RUNG_NORM_RMS;
    s.thoughts = thoughts;
    return s;
}

static void open_pair(pair *p, const char *arch, const char *task, const char *numbers, size_t thoughts)
{
    rung_fmt fmt;
    *p = (pair){0};
    CHECK(rung_task_conf_parse(&p->task, task, &check_err));
    CHECK(rung_fmt_parse(&fmt, numbers, &check_err));
    rung_model_spec spec = spec_for(&p->task, arch, thoughts);
    p->model = random_model(&spec, 7);
    CHECK(rung_program_new(&p->program, p->model, &(rung_evaluator){.numbers = &fmt, .threads = 1}, &check_err));
    CHECK(rung_judge_init(&p->whole, p->model, p->program, &p->task, &check_err));
    CHECK(rung_judge_init(&p->shared, p->model, p->program, &p->task, &check_err));
    CHECK(rung_judge_share(&p->shared, &check_err));
}

static void close_pair(pair *p)
{
    rung_judge_clear(&p->whole);
    rung_judge_clear(&p->shared);
    rung_program_free(p->program);
    rung_model_close(p->model);
}

static void compare_at(pair *p, uint64_t index)
{
    bool is_prompt;
    rung_error why[2] = {{""}, {""}};
    CHECK(rung_task_unrank(&p->whole.instance, &is_prompt, &p->task, index, &check_err));
    if (!is_prompt) return;
    CHECK(rung_task_unrank(&p->shared.instance, &is_prompt, &p->task, index, &check_err));
    rung_status one = rung_judge_run(&p->whole, RUNG_FORM_SCAN, &why[0]);
    rung_status two = rung_judge_run(&p->shared, RUNG_FORM_SCAN, &why[1]);
    if (one != two) fail_msg("candidate %llu: %s against %s", (unsigned long long)index, why[0].text, why[1].text);
    p->ran++;
    if (one != RUNG_OK) {
        assert_int_equal(one, RUNG_INPUT);
        assert_string_equal(why[0].text, why[1].text);
        p->stopped++;
        return;
    }
    assert_int_equal(p->whole.thoughts, p->shared.thoughts);
    assert_int_equal(p->whole.targets, p->shared.targets);
    size_t rows = p->whole.spec->thoughts ? 1 : p->whole.targets;
    for (size_t i = 0; i < p->whole.targets; i++) assert_int_equal(p->whole.at[i], p->shared.at[i]);
    assert_memory_equal(p->whole.out, p->shared.out, rows * p->whole.wide * sizeof *p->whole.out);
    assert_int_equal(rung_session_tokens(p->whole.session), rung_session_tokens(p->shared.session));
}

/* In order from the first candidate and from the middle, and then here and there. */
static void compare_all(pair *p)
{
    uint64_t space = rung_task_space(&p->task), some = space < CANDIDATES ? space : CANDIDATES;
    for (uint64_t i = 0; i < some; i++) compare_at(p, i);
    for (uint64_t i = 0; i < some; i++) compare_at(p, (space / 2 + i) % space);
    for (uint64_t i = 0; i < 100; i++) compare_at(p, rung_hash64(&i, sizeof i) % space);
    assert_true(p->ran > 0);
}

static void every_mechanism_continues_with_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < rung_mech_count(); i++) {
        pair p;
        char arch[128];
        const char *name = rung_mech_at(i)->name;
        snprintf(arch, sizeof arch, "%s%s,linear,full:dk=2@1|retnet@1,%s%s", name,
                 strcmp(name, "sparse") == 0 ? ":B=2:k=1" : "", name, strcmp(name, "sparse") == 0 ? ":B=2:k=1" : "");
        open_pair(&p, arch, "eva N=4 V=3", i % 2 ? "e8m5" : "q6.9", 0);
        compare_all(&p);
        close_pair(&p);
    }
}

static void every_kind_of_task_continues_with_the_same_bits(void **state)
{
    static const struct {
        const char *task;
        size_t thoughts;
    } kinds[] = {
        {"seqcomp L=2 N0=2 n=2 flat=1", 0},
        {"seqcomp L=2 N0=2 n=2 flat=1", 2},
        {"percom N=3", 0},
        {"two-sum N=4 M=4 form=query", 0},
        {"parity N=8", 0},
        {"mqar T=8 pairs=2 vocab=6", 0},
        {"nearest-neighbour N=2 d=2", 0},
        {"dyck N=6 k=2", 0},
        {"q-sparse-average N=3 q=1", 0},
    };
    (void)state;
    size_t tried = 0;
    for (size_t i = 0; i < RUNG_COUNT(kinds); i++) {
        pair p;
        rung_task_conf task;
        if (rung_task_conf_parse(&task, kinds[i].task, &check_err) != RUNG_OK) fail_msg("%s", check_err.text);
        uint64_t space = rung_task_space(&task);
        if (space == 0 || space == UINT64_MAX) continue;
        open_pair(&p, "full,gdelta:conv=3,2*full", kinds[i].task, "bf16", kinds[i].thoughts);
        compare_all(&p);
        close_pair(&p);
        tried++;
    }
    assert_true(tried >= 5);
}

/* A range so small that some prompts stop in the first layer, some in the second and some not at all. */
static void where_the_model_stops_the_message_is_that_of_a_whole_run(void **state)
{
    static const char *const formats[] = {"e2m2", "e3m1", "e2m1", "e3m2", "e4m1"};
    static const char *const archs[] = {"2*full", "mamba,full", "gdelta,linear,full", "retnet,rnn"};
    size_t stopped = 0, ran = 0;
    (void)state;
    for (size_t f = 0; f < RUNG_COUNT(formats); f++)
        for (size_t a = 0; a < RUNG_COUNT(archs); a++) {
            pair p;
            open_pair(&p, archs[a], "eva N=4 V=3", formats[f], 0);
            compare_all(&p);
            stopped += p.stopped, ran += p.ran;
            close_pair(&p);
        }
    print_message("stopped at %zu of %zu prompts\n", stopped, ran);
    assert_true(stopped > 100 && stopped + 100 < ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mechanism_continues_with_the_same_bits),
        cmocka_unit_test(every_kind_of_task_continues_with_the_same_bits),
        cmocka_unit_test(where_the_model_stops_the_message_is_that_of_a_whole_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
