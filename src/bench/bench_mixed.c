/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung bench exact, mixed formats: how much longer a model takes when its numbers are stored in several formats than in
 * f32 alone, in processor time of one run.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench_inside.h"
#include "rung/model.h"

enum { TOKENS = 257, VOCAB = 64, MIXED_BAR = 2 };
static const char *const mixtures[] = {"served:bf16",
                                       "served:fp8",
                                       "served:int8",
                                       "served:bf16,chunk=64",
                                       "f32,state=int8/row,cache=mxfp8",
                                       "f32,state=bf16,round=stochastic"};
_Static_assert(RUNG_COUNT(mixtures) <= RUNG_BENCH_MIXTURES_MAX, "the record has room for all mixtures");

typedef struct subject {
    char path[64];
    rung_model *model;
    uint32_t *token;
    size_t tokens;
} subject;

static rung_status subject_open(subject *s, size_t tokens, rung_error *err)
{
    const rung_model_spec spec = {.arch = "gdelta:unit=1:gate=1:conv=4,full",
                                  .task = "",
                                  .mlp = "none",
                                  .vocab = VOCAB,
                                  .answers = VOCAB,
                                  .max_tokens = tokens,
                                  .d_model = 64,
                                  .d_mlp = 1,
                                  .heads = 2,
                                  .dk = 32,
                                  .dv = 32,
                                  .positions = RUNG_POS_NONE,
                                  .norm = RUNG_NORM_RMS,
                                  .causal = true};
    *s = (subject){.tokens = tokens};
    RUNG_TRY(bench_file(s->path, err));
    rung_status status = rung_model_write_random(s->path, &spec, 1, err);
    RUNG_NEXT(status, rung_model_open(&s->model, s->path, err));
    s->token = status == RUNG_OK ? rung_calloc(tokens, sizeof *s->token, err) : NULL;
    for (size_t i = 0; s->token && i < tokens; i++) s->token[i] = bench_whole(i, 1, VOCAB);
    return s->token || status != RUNG_OK ? status : RUNG_SYSTEM;
}

static void subject_close(subject *s)
{
    if (s->path[0]) unlink(s->path);
    rung_model_close(s->model);
    free(s->token);
}

/* A model in one set of formats, ready to be run again and again. */
typedef struct side {
    rung_numbers numbers;
    rung_program *program;
    rung_session *session;
} side;

static rung_status side_open(side *e, const subject *s, const char *numbers, rung_error *err)
{
    *e = (side){0};
    RUNG_TRY(rung_numbers_parse(&e->numbers, numbers, err));
    const rung_evaluator how = {.mixed = &e->numbers, .threads = 1};
    RUNG_TRY(rung_program_new(&e->program, s->model, &how, err));
    return rung_session_new(&e->session, e->program, s->tokens, err);
}

static void side_close(side *e)
{
    rung_session_free(e->session);
    rung_program_free(e->program);
}

/* Processor time of one prompt. */
static rung_status time_of(double *seconds, const side *e, const subject *s, rung_error *err)
{
    const rung_prompt prompt = {.token = s->token, .tokens = s->tokens};
    const double start = bench_cpu_s();
    rung_session_reset(e->session);
    RUNG_TRY(rung_session_run(e->session, NULL, &prompt, RUNG_FORM_SCAN, NULL, 0, err));
    *seconds = bench_cpu_s() - start;
    return RUNG_OK;
}

/* In turns; the first one warms up. */
static rung_status measure(rung_bench_mixed_row *row, const subject *s, const side *single, const side *mixed,
                           size_t runs, rung_error *err)
{
    double one[RUNG_BENCH_RUNS_MAX], many[RUNG_BENCH_RUNS_MAX], ratio[RUNG_BENCH_RUNS_MAX];
    for (size_t run = 0; run <= runs; run++) {
        const size_t at = run ? run - 1 : 0;
        RUNG_TRY(time_of(&one[at], single, s, err));
        RUNG_TRY(time_of(&many[at], mixed, s, err));
        ratio[at] = many[at] / one[at];
    }
    row->mixed_ms = 1e3 * bench_median(many, runs), row->single_ms = 1e3 * bench_median(one, runs);
    row->ratio = bench_median(ratio, runs);
    row->bar = s->tokens == TOKENS ? MIXED_BAR : NAN;
    return RUNG_OK;
}

bool rung_bench_mixed_too_slow(const rung_bench_mixed_row *row)
{
    return row->ratio > row->bar; /* false for NAN */
}

rung_status bench_mixed(rung_bench_exact_report *report, const rung_bench_options *conf, const rung_bench_watch *watch,
                        rung_error *err)
{
    subject s;
    side single = {0};
    rung_status status = subject_open(&s, conf->tokens.len ? (size_t)conf->tokens.at[0] : TOKENS, err);
    RUNG_NEXT(status, side_open(&single, &s, "f32", err));
    for (size_t i = 0; status == RUNG_OK && i < RUNG_COUNT(mixtures); i++) {
        side mixed = {0};
        rung_bench_mixed_row *row = &report->mixed[i];
        row->numbers = mixtures[i];
        status = side_open(&mixed, &s, mixtures[i], err);
        RUNG_NEXT(status, measure(row, &s, &single, &mixed, (size_t)conf->runs, err));
        side_close(&mixed);
        if (status != RUNG_OK) break;
        report->mixed_count++;
        report->missed += rung_bench_mixed_too_slow(row);
        if (watch->exact) status = watch->exact(watch->context, report, err);
    }
    side_close(&single);
    subject_close(&s);
    return status;
}
