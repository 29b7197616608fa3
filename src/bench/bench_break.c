/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung bench break: attacks on random models that must succeed within their time, on most seeds; and how long
 * rung-check takes beside one pass of the scalar evaluator for each prompt, where it stands beside this program.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench_inside.h"
#include "rung/attack.h"
#include "rung/audit.h"

/* ---- what must succeed ----------------------------------------------------------------------------------------- */

static const rung_bench_attack bars[] = {
    {.name = "states of 4608 bits",
     .attack = "swallow",
     .arch = "4*linear:dk=8:dv=8",
     .numbers = "e8m7",
     .task = "eva N=2047 V=2047",
     .usual_seeds = 10,
     .needed = 9,
     .bar_s = 10},
    {.name = "additive states of 192 bits",
     .attack = "wagner",
     .arch = "linear:dk=3:dv=3",
     .numbers = "q11.4",
     .task = "eva N=256 V=16",
     .usual_seeds = 3,
     .needed = 3,
     .bar_s = 60},
    {.name = "additive states of 270 bits",
     .attack = "relation",
     .arch = "linear:dk=3:dv=4",
     .numbers = "q9.8",
     .task = "two-sum N=256 M=256",
     .usual_seeds = 3,
     .needed = 3,
     .bar_s = 60},
    {.name = "blocks of 48 bits",
     .attack = "block",
     .arch = "sparse:B=8:k=1:dk=3:dv=3",
     .numbers = "e4m3",
     .task = "two-sum N=64 M=128",
     .usual_seeds = 5,
     .needed = 4,
     .bar_s = 30},
};

_Static_assert(RUNG_COUNT(bars) <= RUNG_BENCH_ATTACKS_MAX, "the record has room for all attacks");

/* A random model in a file that nobody else sees for long. */
typedef struct target {
    char path[64];
    rung_model *model;
    rung_program *program;
    rung_task_conf task;
    rung_attacked attacked;
} target;

static rung_status target_open(target *t, const rung_bench_attack *b, uint64_t seed, rung_error *err)
{
    memset(t, 0, sizeof *t);
    rung_status status = rung_task_conf_parse(&t->task, b->task, err);
    RUNG_NEXT(status, bench_file(t->path, err));
    bool counted = strcmp(b->attack, "relation") == 0; /* positions would make every place a lattice of its own */
    rung_model_spec spec = {.arch = b->arch,
                            .task = "",
                            .mlp = "none",
                            .vocab = t->task.vocab,
                            .answers = t->task.answers,
                            .max_tokens = t->task.tokens,
                            .d_model = 32,
                            .d_mlp = 128,
                            .heads = 1,
                            .dk = 16,
                            .dv = 16,
                            .positions = counted ? RUNG_POS_NONE : RUNG_POS_LEARNED,
                            .norm = RUNG_NORM_NONE,
                            .causal = true};
    RUNG_NEXT(status, rung_model_write_random(t->path, &spec, seed, err));
    RUNG_NEXT(status, rung_model_open(&t->model, t->path, err));
    RUNG_NEXT(status, rung_fmt_parse(&t->attacked.numbers, b->numbers, err));
    rung_evaluator how = {.numbers = &t->attacked.numbers, .threads = 1};
    RUNG_NEXT(status, rung_program_new(&t->program, t->model, &how, err));
    t->attacked.model = t->model, t->attacked.program = t->program, t->attacked.task = &t->task;
    return status;
}

static void target_close(target *t)
{
    rung_program_free(t->program);
    rung_model_close(t->model);
    if (*t->path) unlink(t->path);
}

/* ---- rung-check ------------------------------------------------------------------------------------------------ */

typedef struct checked {
    bool there;
    int code;                 /* 10: accepted */
    double check_s, scalar_s; /* processor time */
} checked;

/* Both prompts up to where the certificate looks, with the reference kernels on one thread. */
static rung_status scalar_passes(double *seconds, const target *t, const rung_cert *cert, rung_error *err)
{
    size_t tokens = cert->kind == RUNG_CERT_STATE_COLLISION ? cert->prefix : cert->tokens;
    rung_session *session = NULL;
    setenv("RUNG_ISA", "ref", 1);
    rung_cpu_forget();
    double began = bench_processor_s(RUSAGE_SELF);
    rung_status status = rung_session_new(&session, t->program, cert->tokens, err);
    for (size_t i = 0; i < 2 && cert->prompt[i] && status == RUNG_OK; i++) {
        rung_prompt prompt = {.token = cert->prompt[i], .tokens = tokens};
        rung_session_reset(session);
        status = rung_session_run(session, NULL, &prompt, RUNG_FORM_SCAN, NULL, 0, err);
    }
    *seconds = bench_processor_s(RUSAGE_SELF) - began;
    rung_session_free(session);
    unsetenv("RUNG_ISA");
    rung_cpu_forget();
    return status;
}

static rung_status time_checker(checked *c, const target *t, const rung_cert *cert, rung_error *err)
{
    char path[80];
    rung_error why;
    *c = (checked){.there = false};
    snprintf(path, sizeof path, "%s.cert", t->path);
    RUNG_TRY(rung_cert_write(path, cert, err));
    double began = bench_processor_s(RUSAGE_CHILDREN);
    rung_second_opinion(&c->code, path, t->path, &why);
    c->check_s = bench_processor_s(RUSAGE_CHILDREN) - began;
    c->there = c->code != RUNG_SECOND_ABSENT;
    unlink(path);
    return c->there ? scalar_passes(&c->scalar_s, t, cert, err) : RUNG_OK;
}

/* ---- measuring ------------------------------------------------------------------------------------------------- */

enum { CHECK_BAR = 2 };

/* What a process needs to start would be most of a shorter time. */
static void judge(rung_bench_attack *s)
{
    bool few = s->found * s->usual_seeds < s->needed * s->seeds; /* the share that is needed */
    s->check_counts = s->checked && s->check_s > 0.1;
    bool slow = s->check_counts && s->check_s > CHECK_BAR * s->scalar_s;
    s->missed = few || slow || (s->checked && s->accepted < s->found);
}

static rung_status attack_one(rung_bench_attack *s, const target *t, size_t threads, uint64_t seed, rung_error *err)
{
    rung_break result = {0}, tried;
    size_t count;
    checked c;
    const rung_budget budget = {.seconds = s->bar_s, .memory = (size_t)2 << 30, .threads = threads, .seed = seed};
    double began = rung_wall_s();
    rung_status status = rung_attack_run(&result, &tried, 0, &count, &t->attacked, s->attack, &budget, err);
    double seconds = rung_wall_s() - began;
    if (status == RUNG_OK && result.found) {
        if (seconds > s->slowest_s) s->slowest_s = seconds;
        s->found += seconds <= s->bar_s;
        status = time_checker(&c, t, &result.cert, err);
        s->checked = c.there;
        s->accepted += c.code == 10;
        s->check_s += c.check_s, s->scalar_s += c.scalar_s;
    }
    rung_break_clear(&result);
    return status;
}

static rung_status measure(rung_bench_attack *s, size_t threads, uint64_t first_seed, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < s->seeds && status == RUNG_OK; i++) {
        target t;
        status = target_open(&t, s, first_seed + i, err);
        RUNG_NEXT(status, attack_one(s, &t, threads, first_seed + i, err));
        target_close(&t);
    }
    return status;
}

/* ---- the subject ----------------------------------------------------------------------------------------------- */

rung_status rung_bench_break(rung_bench_break_report *report, const rung_bench_options *conf,
                             const rung_bench_watch *watch, rung_error *err)
{
    rung_status status = RUNG_OK;
    *report = (rung_bench_break_report){.check_bar = CHECK_BAR};
    while (status == RUNG_OK && report->count < RUNG_COUNT(bars)) {
        rung_bench_attack *row = &report->row[report->count];
        *row = bars[report->count++];
        row->seeds = conf->seeds ? (size_t)conf->seeds : row->usual_seeds;
        status = measure(row, (size_t)conf->threads, (uint64_t)conf->seed + 1, err);
        judge(row);
        report->missed += row->missed;
        if (status == RUNG_OK && watch->attacks) status = watch->attacks(watch->context, report, err);
    }
    return status;
}
