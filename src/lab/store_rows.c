/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Reading a store, row by row.
 */
#include "store.h"

#include <math.h>
#include <string.h>

/* ---- columns ----------------------------------------------------------------------------------------------------- */

const char *lab_text_at(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text ? text : "";
}

double lab_real_at(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
}

uint64_t lab_count_at(sqlite3_stmt *s, int column)
{
    return (uint64_t)sqlite3_column_int64(s, column);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* In the order in which read_run reads them. */
#define RUN_COLUMNS                                                                                                    \
    "r.number, r.id, r.canonical, r.words, r.arch, r.task, r.seed, r.rate, r.random_labels, r.outcome, r.step,"        \
    " r.steps, r.loss, r.accuracy, r.eval_loss, r.eval_accuracy, r.test_loss, r.test_accuracy, r.test_targets,"        \
    " r.test_right, r.chance, r.majority, r.tokens, r.parameters, r.layers, r.full_layers, r.recurrent_layers,"        \
    " r.state_bits, r.level_bits, r.message_bits, r.kv_bits_per_token, r.seconds, r.resumed, r.finished_at,"           \
    " v.rung, v.kernels, m.host"
#define JOINS " LEFT JOIN versions v ON v.number = r.version LEFT JOIN machines m ON m.number = r.machine"

#define ALL_RUNS(numbers)                                                                                              \
    "SELECT " RUN_COLUMNS ", t.bits, t.verdict, t.bound, t.statement, t.margin, t.ceiling, t.n_threshold, t.log2_n,"   \
    " t.trivial, '', 0, 0, 0, 0, " numbers                                                                             \
    ", " LAB_IS_OBJECT("r.words") " FROM runs r LEFT JOIN theory t ON t.run = r.number" JOINS " ORDER BY r.number"
#define RUNS_OF_SWEEP(numbers)                                                                                         \
    "SELECT " RUN_COLUMNS ", r.bits, r.verdict, r.bound, r.statement, r.margin, r.ceiling, r.n_threshold, r.log2_n,"   \
    " r.trivial, r.label, r.place, r.cell, r.setting, r.chosen, " numbers                                              \
    ", " LAB_IS_OBJECT("r.words") " FROM (" LAB_RESULTS ") r" JOINS " WHERE r.sweep = ? ORDER BY r.place"
/* A store before version 3 has no such column; there, the fast evaluator measured everything. */
#define ALWAYS_FAST "CASE WHEN r.test_targets > 0 THEN '" RUNG_TEST_FAST "' END"

static const char *const all_runs[] = {ALL_RUNS(ALWAYS_FAST), ALL_RUNS("r.test_numbers")};
static const char *const runs_of_sweep[] = {RUNS_OF_SWEEP(ALWAYS_FAST), RUNS_OF_SWEEP("r.test_numbers")};

static rung_outcome outcome_of(const char *word)
{
    for (size_t i = 0; rung_outcome_names[i]; i++)
        if (strcmp(rung_outcome_names[i], word) == 0) return (rung_outcome)(i + 1);
    return RUNG_OUTCOME_DIVERGED;
}

static rung_run_theory read_theory(sqlite3_stmt *s, int c)
{
    return (rung_run_theory){
        .bits = sqlite3_column_int(s, c),
        .verdict = strcmp(lab_text_at(s, c + 1), "CANNOT") == 0 ? RUNG_CANNOT : RUNG_UNKNOWN,
        .bound = lab_text_at(s, c + 2),
        .statement = lab_text_at(s, c + 3),
        .margin = lab_real_at(s, c + 4),
        .ceiling = sqlite3_column_double(s, c + 5),
        .n_threshold = sqlite3_column_double(s, c + 6),
        .log2_n = sqlite3_column_double(s, c + 7),
        .trivial = sqlite3_column_int(s, c + 8),
    };
}

static rung_run_row read_run(sqlite3_stmt *s)
{
    return (rung_run_row){
        .number = sqlite3_column_int64(s, 0),
        .id = lab_text_at(s, 1),
        .canonical = lab_text_at(s, 2),
        .keys = lab_text_at(s, 3),
        .arch = lab_text_at(s, 4),
        .task = lab_text_at(s, 5),
        .seed = lab_count_at(s, 6),
        .rate = lab_real_at(s, 7),
        .random_labels = sqlite3_column_int(s, 8),
        .outcome = outcome_of(lab_text_at(s, 9)),
        .step = lab_count_at(s, 10),
        .steps = lab_count_at(s, 11),
        .loss = lab_real_at(s, 12),
        .accuracy = lab_real_at(s, 13),
        .eval_loss = lab_real_at(s, 14),
        .eval_accuracy = lab_real_at(s, 15),
        .test_loss = lab_real_at(s, 16),
        .test_accuracy = lab_real_at(s, 17),
        .test_targets = lab_count_at(s, 18),
        .test_right = lab_count_at(s, 19),
        .chance = lab_real_at(s, 20),
        .majority = lab_real_at(s, 21),
        .tokens = lab_count_at(s, 22),
        .parameters = lab_count_at(s, 23),
        .layers = lab_count_at(s, 24),
        .full_layers = lab_count_at(s, 25),
        .recurrent_layers = lab_count_at(s, 26),
        .state_bits = lab_count_at(s, 27),
        .level_bits = lab_count_at(s, 28),
        .message_bits = lab_count_at(s, 29),
        .kv_bits_per_token = lab_count_at(s, 30),
        .seconds = lab_real_at(s, 31),
        .resumed = sqlite3_column_int(s, 32),
        .finished_at = lab_real_at(s, 33),
        .version = lab_text_at(s, 34),
        .kernels = lab_text_at(s, 35),
        .host = lab_text_at(s, 36),
        .theory = read_theory(s, 37),
        .label = lab_text_at(s, 46),
        .place = lab_count_at(s, 47),
        .cell = lab_count_at(s, 48),
        .setting = lab_count_at(s, 49),
        .chosen = sqlite3_column_int(s, 50),
        .test_numbers = lab_text_at(s, 51),
    };
}

static rung_status check_run(const rung_store *store, const rung_run_row *r, bool keys_ok, rung_error *err)
{
    const lab_name names[] = {
        {"arch", r->arch},
        {"task", r->task},
        {"label", r->label},
        {"bound", r->theory.bound},
        {"statement", r->theory.statement},
        {"rung", r->version},
        {"kernels", r->kernels},
        {"host", r->host},
        {"test_numbers", r->test_numbers},
    };
    RUNG_TRY(lab_check_id(store, "runs", r->number, r->id, err));
    RUNG_TRY(lab_check_object(store, "runs", r->number, "words", keys_ok, err));
    return lab_check_names(store, "runs", r->number, names, RUNG_COUNT(names), err);
}

rung_status rung_store_runs(rung_store *store, int64_t sweep, rung_run_each *each, void *context, rung_error *err)
{
    sqlite3_stmt *s;
    bool row = true;
    bool named = store->version >= 3; /* the column test_numbers exists */
    rung_status status = sweep ? lab_sql_open(&s, store, err, runs_of_sweep[named], "i", sweep)
                               : lab_sql_open(&s, store, err, all_runs[named], "");
    while (status == RUNG_OK && row) {
        status = lab_sql_next(&row, &s, store, err);
        if (status != RUNG_OK || !row) break;
        rung_run_row run = read_run(s);
        status = check_run(store, &run, sqlite3_column_int(s, 52), err);
        if (status == RUNG_OK) row = each(context, &run);
    }
    sqlite3_finalize(s);
    return status;
}

rung_status rung_store_run_count(size_t *count, rung_store *store, rung_error *err)
{
    int64_t number;
    rung_status status = lab_sql_int(&number, store, 0, err, "SELECT count(*) FROM runs", "");
    if (status == RUNG_OK) *count = (size_t)number;
    return status;
}

rung_status rung_store_has(bool *has, rung_store *store, const char *id, rung_error *err)
{
    int64_t number;
    rung_status status = lab_sql_int(&number, store, 0, err, "SELECT 1 FROM runs WHERE id = ?", "s", id);
    *has = status == RUNG_OK && number;
    return status;
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

rung_status rung_store_metrics(rung_store *store, int64_t run, rung_metric_each *each, void *context, rung_error *err)
{
    sqlite3_stmt *s;
    bool row = true;
    rung_status status = lab_sql_open(&s, store, err,
                                      "SELECT step, loss, accuracy, rate, gradient, eval_loss, eval_accuracy"
                                      " FROM metrics WHERE run = ? ORDER BY step",
                                      "i", run);
    while (status == RUNG_OK && row) {
        status = lab_sql_next(&row, &s, store, err);
        if (status != RUNG_OK || !row) break;
        rung_metric m = {lab_count_at(s, 0), lab_real_at(s, 1), lab_real_at(s, 2), lab_real_at(s, 3),
                         lab_real_at(s, 4),  lab_real_at(s, 5), lab_real_at(s, 6)};
        row = each(context, &m);
    }
    sqlite3_finalize(s);
    return status;
}

static rung_status check_sweep(const rung_store *store, const rung_sweep_row *s, rung_error *err)
{
    const lab_name names[] = {{"name", s->name}, {"question", s->question}};
    RUNG_TRY(lab_check_id(store, "sweeps", s->number, s->id, err));
    return lab_check_names(store, "sweeps", s->number, names, RUNG_COUNT(names), err);
}

rung_status rung_store_sweeps(rung_store *store, rung_sweep_each *each, void *context, rung_error *err)
{
    sqlite3_stmt *s;
    bool row = true;
    rung_status status =
        lab_sql_open(&s, store, err,
                     "SELECT s.number, s.id, s.name, s.question, s.text, s.success, count(p.run), count(r.id),"
                     " coalesce(sum(r.test_accuracy >= s.success), 0) FROM sweeps s"
                     " LEFT JOIN plan p ON p.sweep = s.number LEFT JOIN runs r ON r.id = p.run"
                     " GROUP BY s.number ORDER BY s.number",
                     "");
    while (status == RUNG_OK && row) {
        status = lab_sql_next(&row, &s, store, err);
        if (status != RUNG_OK || !row) break;
        rung_sweep_row sweep = {sqlite3_column_int64(s, 0), lab_text_at(s, 1),  lab_text_at(s, 2),
                                lab_text_at(s, 3),          lab_text_at(s, 4),  lab_real_at(s, 5),
                                lab_count_at(s, 6),         lab_count_at(s, 7), lab_count_at(s, 8)};
        status = check_sweep(store, &sweep, err);
        if (status == RUNG_OK) row = each(context, &sweep);
    }
    sqlite3_finalize(s);
    return status;
}

/* Two statements, because with an optional condition SQLite would not use the index. */
#define ARTEFACTS "SELECT run, kind, name, sha256, content FROM artefacts WHERE (kind = ?1 OR ?1 = '') "
static const char of_run[] = ARTEFACTS "AND run = ?2 ORDER BY run, kind, name";
static const char of_all[] = ARTEFACTS "AND ?2 = 0 ORDER BY run, kind, name";

static rung_status check_artefact(const rung_store *store, const rung_artefact *a, rung_error *err)
{
    const lab_name names[] = {{"kind", a->kind}, {"name", a->name}};
    char hex[65];
    RUNG_TRY(lab_check_names(store, "artefacts", a->run, names, RUNG_COUNT(names), err));
    rung_sha256_hex(hex, a->size ? a->bytes : "", a->size);
    if (strcmp(hex, a->sha256) == 0) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT,
                     "%s: the %.40s of run number %lld does not have its SHA-256: the store is damaged; use a copy, or "
                     "repeat that run in another store",
                     store->path, a->kind, (long long)a->run);
}

rung_status rung_store_artefacts(rung_store *store, int64_t run, const char *kind, rung_artefact_each *each,
                                 void *context, rung_error *err)
{
    sqlite3_stmt *s;
    bool row = true;
    rung_status status = lab_sql_open(&s, store, err, run ? of_run : of_all, "si", kind ? kind : "", run);
    while (status == RUNG_OK && row) {
        status = lab_sql_next(&row, &s, store, err);
        if (status != RUNG_OK || !row) break;
        rung_artefact a = {sqlite3_column_int64(s, 0), lab_text_at(s, 1),         lab_text_at(s, 2),
                           lab_text_at(s, 3),          sqlite3_column_blob(s, 4), (size_t)sqlite3_column_bytes(s, 4)};
        status = check_artefact(store, &a, err);
        if (status == RUNG_OK) row = each(context, &a);
    }
    sqlite3_finalize(s);
    return status;
}
