/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung bench break: attacks on random models that must succeed within their time, on most seeds; and how long rung-check takes
 * beside one pass of the scalar evaluator for each prompt, where it stands beside this program.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json_out.h"
#include "output.h"
#include "rung/attack.h"

/* ---- what must succeed ----------------------------------------------------------------------------------------------- */

typedef struct bar {
    const char *name, *attack, *arch, *numbers, *task;
    size_t seeds, needed;
    double seconds; /* for each */
} bar;

static const bar bars[] = {
    {"states of 4608 bits", "swallow", "4*linear:dk=8:dv=8", "e8m7", "eva N=2047 V=2047", 10, 9, 10},
    {"additive states of 192 bits", "wagner", "linear:dk=3:dv=3", "q11.4", "eva N=256 V=16", 3, 3, 60},
    {"additive states of 270 bits", "relation", "linear:dk=3:dv=4", "q9.8", "two-sum N=256 M=256", 3, 3, 60},
    {"blocks of 48 bits", "block", "sparse:B=8:k=1:dk=3:dv=3", "e4m3", "two-sum N=64 M=128", 5, 4, 30},
};

/* A random model in a file that nobody else sees for long. */
typedef struct target {
    char path[64];
    rung_model *model;
    rung_program *program;
    rung_task_conf task;
    rung_victim victim;
} target;

static rung_status read_task(rung_task_conf *task, const char *text, rung_error *err)
{
    char copy[128];
    const char *word[8];
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *rest = copy, *next; (next = strtok_r(rest, " ", &rest)) && count < RUNG_COUNT(word);)
        word[count++] = next;
    return rung_task_conf_init(task, word[0], word + 1, count - 1, err);
}

static rung_status target_open(target *t, const bar *b, uint64_t seed, rung_error *err)
{
    memset(t, 0, sizeof *t);
    rung_status status = read_task(&t->task, b->task, err);
    if (status == RUNG_OK) status = rung_bench_file(t->path, err);
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
    if (status == RUNG_OK) status = rung_model_write_random(t->path, &spec, seed, err);
    if (status == RUNG_OK) status = rung_model_open(&t->model, t->path, err);
    if (status == RUNG_OK) status = rung_fmt_parse(&t->victim.numbers, b->numbers, err);
    rung_evaluator how = {.numbers = &t->victim.numbers, .threads = 1};
    if (status == RUNG_OK) status = rung_program_new(&t->program, t->model, &how, err);
    t->victim.model = t->model, t->victim.program = t->program, t->victim.task = &t->task;
    return status;
}

static void target_close(target *t)
{
    rung_program_free(t->program);
    rung_model_close(t->model);
    if (*t->path) unlink(t->path);
}

/* ---- rung-check ------------------------------------------------------------------------------------------------------ */

typedef struct checked {
    bool there;
    int code;                 /* 10: accepted */
    double check_s, scalar_s; /* processor time */
} checked;

/* Beside this program; false: it is not there. */
static bool find_checker(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 16);
    if (length <= 0) return false;
    path[length] = 0;
    char *slash = strrchr(path, '/');
    if (!slash) return false;
    snprintf(slash, size - (size_t)(slash - path), "/rung-check");
    return access(path, X_OK) == 0;
}

static int run_checker(const char *checker, const char *cert, const char *model)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout)) _exit(127);
        execl(checker, checker, cert, model, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Both prompts up to where the certificate looks, with the reference kernels on one thread. */
static rung_status scalar_passes(double *seconds, const target *t, const rung_cert *cert, rung_error *err)
{
    size_t tokens = cert->kind == RUNG_CERT_STATE_COLLISION ? cert->prefix : cert->tokens;
    rung_session *session = NULL;
    setenv("RUNG_ISA", "ref", 1);
    rung_cpu_forget();
    double began = rung_bench_processor_s(RUSAGE_SELF);
    rung_status status = rung_session_new(&session, t->program, cert->tokens, err);
    for (size_t i = 0; i < 2 && cert->prompt[i] && status == RUNG_OK; i++) {
        rung_prompt prompt = {.token = cert->prompt[i], .tokens = tokens};
        rung_session_reset(session);
        status = rung_session_run(session, NULL, &prompt, RUNG_FORM_SCAN, NULL, 0, err);
    }
    *seconds = rung_bench_processor_s(RUSAGE_SELF) - began;
    rung_session_free(session);
    unsetenv("RUNG_ISA");
    rung_cpu_forget();
    return status;
}

static rung_status time_checker(checked *c, const target *t, const rung_cert *cert, rung_error *err)
{
    char checker[4096], path[80];
    *c = (checked){.there = find_checker(checker, sizeof checker)};
    if (!c->there) return RUNG_OK;
    snprintf(path, sizeof path, "%s.cert", t->path);
    rung_status status = rung_cert_write(path, cert, err);
    if (status != RUNG_OK) return status;
    double began = rung_bench_processor_s(RUSAGE_CHILDREN);
    c->code = run_checker(checker, path, t->path);
    c->check_s = rung_bench_processor_s(RUSAGE_CHILDREN) - began;
    unlink(path);
    return scalar_passes(&c->scalar_s, t, cert, err);
}

/* ---- measuring ------------------------------------------------------------------------------------------------------- */

typedef struct score {
    const bar *bar;
    size_t seeds, found, accepted;
    double slowest_s, check_s, scalar_s; /* the last two: sums */
    bool checked;
} score;

enum { CHECK_BAR = 2 };

/* What a process needs to start would be most of a shorter time. */
static bool check_counts(const score *s)
{
    return s->checked && s->check_s > 0.1;
}

static bool is_missed(const score *s)
{
    bool few = s->found * s->bar->seeds < s->bar->needed * s->seeds; /* the share that is needed */
    bool slow = check_counts(s) && s->check_s > CHECK_BAR * s->scalar_s;
    return few || slow || (s->checked && s->accepted < s->found);
}

static rung_status attack_one(score *s, const target *t, size_t threads, uint64_t seed, rung_error *err)
{
    rung_break result = {0}, tried;
    size_t count;
    checked c;
    const rung_budget budget = {
        .seconds = s->bar->seconds, .memory = (size_t)2 << 30, .threads = threads, .seed = seed};
    double began = rung_wall_s();
    rung_status status = rung_attack_run(&result, &tried, 0, &count, &t->victim, s->bar->attack, &budget, err);
    double seconds = rung_wall_s() - began;
    if (status == RUNG_OK && result.found) {
        if (seconds > s->slowest_s) s->slowest_s = seconds;
        s->found += seconds <= s->bar->seconds;
        status = time_checker(&c, t, &result.cert, err);
        s->checked = c.there;
        s->accepted += c.code == 10;
        s->check_s += c.check_s, s->scalar_s += c.scalar_s;
    }
    rung_break_clear(&result);
    return status;
}

static rung_status measure(score *s, size_t threads, uint64_t first_seed, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < s->seeds && status == RUNG_OK; i++) {
        target t;
        status = target_open(&t, s->bar, first_seed + i, err);
        if (status == RUNG_OK) status = attack_one(s, &t, threads, first_seed + i, err);
        target_close(&t);
    }
    return status;
}

/* ---- output ---------------------------------------------------------------------------------------------------------- */

static void print_score(rung_buf *out, const score *s)
{
    rung_buf_printf(out, "%-28s %-9s %3zu of %-3zu (bar %zu of %zu)  slowest %6.2f s (bar %3.0f)", s->bar->name,
                    s->bar->attack, s->found, s->seeds, s->bar->needed, s->bar->seeds, s->slowest_s, s->bar->seconds);
    if (check_counts(s))
        rung_buf_printf(out, "  rung-check %.2f of a scalar pass (bar %d)", s->check_s / s->scalar_s, CHECK_BAR);
    else if (s->checked && s->accepted)
        rung_buf_printf(out, "  rung-check %.0f ms each", 1e3 * s->check_s / (double)s->accepted);
    rung_buf_puts(out, is_missed(s) ? "  missed\n" : "\n");
}

static void json_scores(rung_buf *text, const score *scores, size_t count)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.bench-break/1", true);
    rung_jout_array(&out, "rows");
    for (const score *s = scores; s < scores + count; s++) {
        rung_jout_flat_object(&out, NULL);
        rung_jout_string(&out, "name", s->bar->name);
        rung_jout_string(&out, "attack", s->bar->attack);
        rung_jout_string(&out, "arch", s->bar->arch);
        rung_jout_string(&out, "numbers", s->bar->numbers);
        rung_jout_string(&out, "task", s->bar->task);
        rung_jout_int(&out, "seeds", (int64_t)s->seeds);
        rung_jout_int(&out, "found", (int64_t)s->found);
        rung_jout_real(&out, "slowest_s", s->slowest_s);
        rung_jout_real(&out, "bar_s", s->bar->seconds);
        if (s->checked) {
            rung_jout_int(&out, "accepted", (int64_t)s->accepted);
            rung_jout_real(&out, "check_s", s->check_s);
            rung_jout_real(&out, "scalar_s", s->scalar_s);
        }
        rung_jout_bool(&out, "missed", is_missed(s));
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    rung_jout_finish(&out);
}

static rung_status show(const rung_call *call, const score *scores, size_t count, bool last, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    if (!call->json)
        print_score(&text, &scores[count - 1]);
    else if (last)
        json_scores(&text, scores, count);
    rung_status status = rung_out_buf(&text, err);
    rung_buf_clear(&text);
    return status == RUNG_OK ? rung_out_finish(err) : status;
}

int rung_bench_break(const rung_call *call, size_t seeds, size_t threads, rung_error *err)
{
    score scores[RUNG_COUNT(bars)] = {0};
    rung_status status = RUNG_OK;
    size_t missed = 0;
    for (size_t i = 0; i < RUNG_COUNT(bars) && status == RUNG_OK; i++) {
        scores[i].bar = &bars[i];
        scores[i].seeds = seeds ? seeds : bars[i].seeds;
        status = measure(&scores[i], threads, (uint64_t)call->seed + 1, err);
        missed += is_missed(&scores[i]);
        if (status == RUNG_OK) status = show(call, scores, i + 1, i + 1 == RUNG_COUNT(bars), err);
    }
    return status != RUNG_OK ? (int)status : missed ? RUNG_NEGATIVE : 0;
}
