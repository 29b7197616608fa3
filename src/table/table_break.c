/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A certificate for a cell that says CANNOT: the theorem speaks of all models of these layers, the certificate shows
 * one of them failing. Random weights, the numbers of the table or, where no attack reaches that far, shorter ones;
 * rung-check has the last word.
 */
#include <string.h>

#include "rung/attack.h"
#include "rung/audit.h"
#include "table_cell.h"

/* Formats to try: that of the table first. Shorter numbers need less search; the certificate says which it speaks
 * of. */
static const char *const formats[] = {NULL, "e8m4", "e8m2"};
static const double seconds[] = {1, 10, 20};

/* What the theorem promises: a cut that holds too little collides, and then no chain of thought helps; blocks
 * collide; of the others only a wrong answer is sure. */
static rung_cert_kind promised(const char *bound)
{
    if (strcmp(bound, "A") == 0 || strcmp(bound, "A-compose") == 0 || strcmp(bound, "cut") == 0)
        return RUNG_CERT_STATE_COLLISION;
    return strcmp(bound, "sparse") == 0 ? RUNG_CERT_BLOCK_COLLISION : RUNG_CERT_WRONG_ANSWER;
}

static rung_status write_model(const char *path, const rung_table_row *row, const rung_task_conf *task, uint64_t seed,
                               rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_task_canonical(&text, task);
    rung_status status = rung_buf_ok(&text, err);
    rung_model_spec spec = {.arch = row->arch,
                            .task = text.text,
                            .mlp = "none",
                            .vocab = task->vocab,
                            .answers = task->answers,
                            .max_tokens = task->tokens,
                            .d_model = 8,
                            .heads = 1,
                            .dk = 2,
                            .dv = 2,
                            .positions = RUNG_POS_LEARNED,
                            .norm = RUNG_NORM_NONE,
                            .causal = true};
    RUNG_NEXT(status, rung_model_write_random(path, &spec, seed, err));
    rung_buf_clear(&text);
    return status;
}

/* All attacks on the model in one format. */
static rung_status attack_one(rung_break *found, const rung_attacked *attacked, rung_cert_kind kind,
                              double budget_seconds, const rung_table_options *conf, rung_error *err)
{
    enum { TRIED = 32 };
    rung_break tried[TRIED];
    size_t count = 0;
    rung_budget budget = {.seconds = budget_seconds,
                          .memory = (size_t)1 << 30,
                          .threads = conf->threads,
                          .seed = conf->seed,
                          .kinds = 1u << kind};
    rung_status status = rung_attack_run(found, tried, TRIED, &count, attacked, NULL, &budget, err);
    for (size_t i = 0; i < count; i++) rung_break_clear(&tried[i]);
    return status;
}

static rung_status try_format(rung_break *found, const rung_model *model, const rung_task_conf *task,
                              const rung_fmt *fmt, rung_cert_kind kind, double budget_seconds,
                              const rung_table_options *conf, rung_error *err)
{
    char why[200];
    rung_program *program = NULL;
    rung_evaluator how = {.numbers = fmt, .threads = conf->threads};
    rung_status status = rung_program_new(&program, model, &how, err);
    RUNG_TRY(status);
    rung_attacked attacked = {.model = model, .program = program, .task = task, .numbers = *fmt};
    if (rung_attack_certifiable(&attacked, kind, why, sizeof why))
        status = attack_one(found, &attacked, kind, budget_seconds, conf, err);
    rung_program_free(program);
    return status;
}

static rung_status try_formats(rung_break *found, const rung_model *model, const rung_task_conf *task,
                               const rung_fmt *of_table, rung_cert_kind kind, const rung_table_options *conf,
                               rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t f = 0; status == RUNG_OK && !found->found && f < RUNG_COUNT(formats); f++) {
        rung_fmt fmt = *of_table;
        if (formats[f]) status = rung_fmt_parse(&fmt, formats[f], err);
        RUNG_NEXT(status, try_format(found, model, task, &fmt, kind, seconds[f], conf, err));
    }
    return status;
}

/* A certificate that the second program does not accept is a bug of one of the two: nothing may be printed then. */
static rung_status confirm(rung_table_cell *cell, const rung_break *found, const char *cert, const char *model,
                           rung_error *err)
{
    int code = 0;
    RUNG_TRY(rung_cert_write(cert, &found->cert, err));
    RUNG_TRY(rung_second_opinion(&code, cert, model, err));
    if (code != RUNG_SECOND_ACCEPTED)
        return rung_fail(err, RUNG_SYSTEM, "rung-check does not accept %s (exit %d); please report this", cert, code);
    snprintf(cell->cert_kind, sizeof cell->cert_kind, "%s", rung_cert_kind_names[found->cert.kind - 1]);
    snprintf(cell->cert_numbers, sizeof cell->cert_numbers, "%s", found->cert.numbers);
    snprintf(cell->cert_attack, sizeof cell->cert_attack, "%s", found->attack);
    snprintf(cell->cert_how, sizeof cell->cert_how, "%s", found->report);
    return RUNG_OK;
}

rung_status table_break(rung_table_cell *cell, const rung_table *table, size_t row, size_t col,
                        const rung_table_options *conf, rung_error *err)
{
    char model_path[4096], cert_path[4096];
    rung_model *model = NULL;
    rung_break found = {0};
    snprintf(cell->cert, sizeof cell->cert, "%s-%zu.cert", rung_table_rows[row].arch, col);
    for (char *c = cell->cert; *c; c++)
        if (strchr(":=,*", *c)) *c = '-';
    snprintf(cell->cert_model, sizeof cell->cert_model, "random-%.*s.safetensors", (int)strlen(cell->cert) - 5,
             cell->cert);
    snprintf(cert_path, sizeof cert_path, "%s/%s", conf->directory, cell->cert);
    snprintf(model_path, sizeof model_path, "%s/%s", conf->directory, cell->cert_model);
    rung_status status = write_model(model_path, &rung_table_rows[row], &table->task[col], conf->seed, err);
    RUNG_NEXT(status, rung_model_open(&model, model_path, err));
    RUNG_NEXT(status, try_formats(&found, model, &table->task[col], &table->fmt, promised(cell->bound), conf, err));
    if (status == RUNG_OK && found.found) status = confirm(cell, &found, cert_path, model_path, err);
    if (status != RUNG_OK || !found.found) cell->cert[0] = '\0';
    rung_break_clear(&found);
    rung_model_close(model);
    return status;
}
