/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What verifying a construction on every prompt gains when prompts that begin alike continue from a saved session:
 * processor time of one thread per prompt, both ways in turns over the same prompts, and how it grows with the table;
 * and the wall time of `rung verify --exhaustive` on all cores beside one.
 */
#include "rung/build.h"
#include "rung/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PROMPTS = 2000, ROUNDS = 3 };

static const char *const cases[][5] = {
    {"lookup", "N=4", "V=4"},
    {"lookup", "N=8", "V=4"},
    {"lookup", "N=16", "V=4"},
    {"lookup", "N=32", "V=4"},
    {"lookup", "N=64", "V=4"},
    {"eva-recurrent", "mech=linear", "N=8", "V=4"},
    {"eva-recurrent", "mech=linear", "N=32", "V=4"},
    {"eva-recurrent", "mech=gdelta", "N=32", "V=4"},
    {"seqcomp", "L=2", "N0=2", "n=2", "flat=1"},
    {"seqcomp", "L=2", "N0=4", "n=4", "flat=1"},
    {"string-equality", "N=8"},
};

static rung_error err;

static void need(rung_status status)
{
    if (status == RUNG_OK) return;
    fprintf(stderr, "bench_verify: %s\n", err.text);
    exit(4);
}

static double processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Consecutive candidates from the middle, where tables have mixed values. The sum keeps answers that must be equal. */
static double time_judge(uint64_t *answers, rung_judge *j, uint64_t space)
{
    uint64_t count = space < PROMPTS ? space : PROMPTS, first = (space - count) / 2, ran = 0;
    double start = processor_s();
    *answers = 0;
    for (uint64_t i = 0; i < count; i++) {
        bool is_prompt;
        need(rung_task_unrank(&j->instance, &is_prompt, j->task, first + i, &err));
        if (!is_prompt) continue;
        need(rung_judge_run(j, RUNG_FORM_SCAN, &err));
        *answers = *answers * 31 + (uint64_t)rung_judge_answer(j, 0);
        ran++;
    }
    return (processor_s() - start) / (double)(ran ? ran : 1);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void bench_case(const rung_model *model, const rung_task_conf *task, const char *name)
{
    rung_fmt fmt;
    rung_program *program;
    rung_judge way[2] = {{0}};
    uint64_t answers[2], space = rung_task_space(task);
    double took[2] = {1e9, 1e9};
    need(rung_fmt_parse(&fmt, "e8m20", &err));
    need(rung_program_new(&program, model, &(rung_evaluator){.numbers = &fmt, .threads = 1}, &err));
    for (int w = 0; w < 2; w++) need(rung_judge_init(&way[w], model, program, task, &err));
    need(rung_judge_share(&way[1], &err));
    for (int round = 0; round < ROUNDS; round++)
        for (int w = 0; w < 2; w++) took[w] = least(took[w], time_judge(&answers[w], &way[w], space));
    if (answers[0] != answers[1]) {
        fprintf(stderr, "bench_verify: %s: the two ways answer differently\n", name);
        exit(1);
    }
    printf("%-36s %4zu tokens  whole %8.1f us  shared %8.1f us  %5.1f times\n", name, task->tokens, 1e6 * took[0],
           1e6 * took[1], took[0] / took[1]);
    for (int w = 0; w < 2; w++) rung_judge_clear(&way[w]);
    rung_program_free(program);
}

static void open_case(rung_model **model, rung_task_conf *task, char name[128], const char *const *words)
{
    rung_build b;
    size_t count = 0;
    snprintf(name, 128, "%s", words[0]);
    for (; count < 4 && words[1 + count]; count++)
        snprintf(name + strlen(name), 128 - strlen(name), " %s", words[1 + count]);
    need(rung_build_init(&b, words[0], words + 1, count, &err));
    need(rung_build_model(model, &b, &err));
    need(rung_task_conf_parse(task, rung_model_get_spec(*model)->task, &err));
}

static double verify_s(const rung_model *model, const rung_task_conf *task, size_t threads)
{
    rung_fmt fmt;
    rung_verify_result result;
    need(rung_fmt_parse(&fmt, "e8m20", &err));
    rung_verify_options how = {.method = RUNG_EXHAUSTIVE, .how = {.numbers = &fmt, .threads = threads}};
    double start = rung_wall_s();
    need(rung_verify_run(&result, model, task, &how, &err));
    start = rung_wall_s() - start;
    rung_verify_clear(&result);
    return start;
}

static void bench_cores(void)
{
    static const char *const words[5] = {"lookup", "N=8", "V=4"};
    rung_model *model;
    rung_task_conf task;
    char name[128];
    double one = 1e9, all = 1e9;
    open_case(&model, &task, name, words);
    for (int round = 0; round < ROUNDS; round++) {
        one = least(one, verify_s(model, &task, 1));
        all = least(all, verify_s(model, &task, rung_cpu_threads()));
    }
    printf("%s, all %llu prompts: %.2f s on one thread, %.2f s on %zu, %.2f times\n", name,
           (unsigned long long)rung_task_space(&task), one, all, rung_cpu_threads(), one / all);
    rung_model_close(model);
}

int main(void)
{
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_model *model;
        rung_task_conf task;
        char name[128];
        open_case(&model, &task, name, cases[i]);
        bench_case(model, &task, name);
        rung_model_close(model);
    }
    bench_cores();
    return 0;
}
