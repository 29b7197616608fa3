/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Merges several stores into one. Two copies of a run may differ in what does not affect results (times, machines,
 * versions). Everything else must be the same to the last bit; otherwise one of the two stores is wrong.
 */
#include "store.h"

#include <string.h>

/* Runs in both whose results differ in some column. IS NOT treats NULL as equal to NULL. */
static const char other_results[] =
    "SELECT b.id FROM src.runs b JOIN runs a ON a.id = b.id WHERE (a.canonical, a.outcome, a.step, a.loss, a.accuracy,"
    " a.eval_loss, a.eval_accuracy, a.test_loss, a.test_accuracy, a.test_targets, a.test_right, a.parameters)"
    " IS NOT (b.canonical, b.outcome, b.step, b.loss, b.accuracy,"
    " b.eval_loss, b.eval_accuracy, b.test_loss, b.test_accuracy, b.test_targets, b.test_right, b.parameters) LIMIT 1";
#define METRICS "step, loss, accuracy, rate, gradient, eval_loss, eval_accuracy"
static const char other_metrics[] = "SELECT b.id FROM src.runs b JOIN runs a ON a.id = b.id WHERE EXISTS"
                                    " (SELECT " METRICS " FROM metrics WHERE run = a.number EXCEPT SELECT " METRICS
                                    " FROM src.metrics WHERE run = b.number) OR EXISTS"
                                    " (SELECT " METRICS " FROM src.metrics WHERE run = b.number EXCEPT SELECT " METRICS
                                    " FROM metrics WHERE run = a.number) LIMIT 1";
static const char other_files[] =
    "SELECT b.id FROM src.runs b JOIN runs a ON a.id = b.id JOIN artefacts x ON x.run = a.number"
    " JOIN src.artefacts y ON y.run = b.number AND y.kind = x.kind AND y.name = x.name WHERE x.sha256 <> y.sha256 "
    "LIMIT 1";

#define RUN_COLUMNS                                                                                                    \
    "id, canonical, words, arch, task, seed, rate, random_labels, outcome, step, steps, loss, accuracy, eval_loss,"    \
    " eval_accuracy, test_loss, test_accuracy, test_targets, test_right, chance, majority, tokens, parameters, "       \
    "layers,"                                                                                                          \
    " full_layers, recurrent_layers, state_bits, level_bits, message_bits, kv_bits_per_token, seconds, resumed,"       \
    " finished_at"

/* The order matters: later statements refer to rows that earlier ones inserted. */
static const char *const copies[] = {
    "INSERT INTO versions(rung, sqlite, compiler, kernels) SELECT rung, sqlite, compiler, kernels FROM src.versions"
    " EXCEPT SELECT rung, sqlite, compiler, kernels FROM versions",
    "INSERT INTO machines(host, cpu, cores, memory_bytes, system) SELECT host, cpu, cores, memory_bytes, system"
    " FROM src.machines EXCEPT SELECT host, cpu, cores, memory_bytes, system FROM machines",
    "CREATE TEMP TABLE fresh AS SELECT id FROM src.runs WHERE id NOT IN (SELECT id FROM runs)",
    "INSERT INTO runs(" RUN_COLUMNS ", version, machine) SELECT " RUN_COLUMNS ","
    " (SELECT w.number FROM versions w JOIN src.versions v ON v.rung IS w.rung AND v.sqlite IS w.sqlite"
    "  AND v.compiler IS w.compiler AND v.kernels IS w.kernels WHERE v.number = r.version),"
    " (SELECT n.number FROM machines n JOIN src.machines m ON m.host IS n.host AND m.cpu IS n.cpu AND m.cores IS "
    "n.cores"
    "  AND m.memory_bytes IS n.memory_bytes AND m.system IS n.system WHERE m.number = r.machine)"
    " FROM src.runs r WHERE id IN (SELECT id FROM fresh) ORDER BY r.number",
    "CREATE TEMP TABLE pairs(old INTEGER PRIMARY KEY, new INTEGER)",
    "INSERT INTO pairs SELECT b.number, a.number FROM src.runs b JOIN runs a ON a.id = b.id"
    " WHERE b.id IN (SELECT id FROM fresh)",
    "INSERT INTO theory SELECT p.new, bits, verdict, bound, statement, margin, ceiling, n_threshold, log2_n, trivial"
    " FROM src.theory t JOIN pairs p ON p.old = t.run",
    "INSERT INTO metrics SELECT p.new, " METRICS " FROM src.metrics m JOIN pairs p ON p.old = m.run",
    "INSERT OR IGNORE INTO artefacts SELECT a.number, x.kind, x.name, x.sha256, x.size, x.content"
    " FROM src.artefacts x JOIN src.runs b ON b.number = x.run JOIN runs a ON a.id = b.id",
    "INSERT OR IGNORE INTO sweeps(id, name, question, success, text, added)"
    " SELECT id, name, question, success, text, added FROM src.sweeps ORDER BY number",
    "INSERT OR IGNORE INTO plan SELECT w.number, p.place, p.run, p.label, p.cell, p.setting FROM src.plan p"
    " JOIN src.sweeps s ON s.number = p.sweep JOIN sweeps w ON w.id = s.id",
};

/* Which evaluator measured. A source before version 3 has no such column; then it was the fast one. */
static const char name_evaluator[] =
    "UPDATE runs SET test_numbers = (SELECT b.test_numbers FROM src.runs b WHERE b.id = runs.id)"
    " WHERE id IN (SELECT id FROM fresh)";
static const char always_fast[] = "UPDATE runs SET test_numbers = '" RUNG_TEST_FAST "'"
                                  " WHERE test_targets > 0 AND id IN (SELECT id FROM fresh)";

static rung_status copy_evaluator(const rung_store *store, rung_error *err)
{
    int64_t version;
    rung_status status = lab_sql_int(&version, store, 0, err, "PRAGMA src.user_version", "");
    return status == RUNG_OK ? lab_sql_exec(store, version >= 3 ? name_evaluator : always_fast, err) : status;
}

static rung_status refuse_different(const rung_store *store, const char *from, const char *sql, const char *what,
                                    rung_error *err)
{
    sqlite3_stmt *s;
    bool row;
    rung_status status = lab_sql_open(&s, store, err, sql, "");
    RUNG_NEXT(status, lab_sql_next(&row, &s, store, err));
    if (status != RUNG_OK || !row) return status;
    status = rung_fail(err, RUNG_INPUT, "run %s differs between %s and %s: its %s must be the same, but are not",
                       (const char *)sqlite3_column_text(s, 0), from, store->path, what);
    sqlite3_finalize(s);
    return status;
}

static rung_status copy_all(const rung_store *store, const char *from, size_t *added, size_t *same, rung_error *err)
{
    int64_t fresh = 0, both = 0;
    rung_status status = refuse_different(store, from, other_results, "results", err);
    RUNG_NEXT(status, refuse_different(store, from, other_metrics, "metrics", err));
    RUNG_NEXT(status, refuse_different(store, from, other_files, "artefacts", err));
    RUNG_NEXT(status,
              lab_sql_int(&both, store, 0, err, "SELECT count(*) FROM src.runs b JOIN runs a ON a.id = b.id", ""));
    for (size_t i = 0; status == RUNG_OK && i < RUNG_COUNT(copies); i++) status = lab_sql_exec(store, copies[i], err);
    RUNG_NEXT(status, copy_evaluator(store, err));
    RUNG_NEXT(status, lab_merge_probes(store, err));
    RUNG_NEXT(status, lab_sql_int(&fresh, store, 0, err, "SELECT count(*) FROM fresh", ""));
    *added = (size_t)fresh, *same = (size_t)both;
    return status;
}

/* ---- what is taken over is checked before ------------------------------------------------------------------------ */

static bool skip_run(void *context, const rung_run_row *row)
{
    return (void)context, (void)row, true;
}

static bool skip_sweep(void *context, const rung_sweep_row *row)
{
    return (void)context, (void)row, true;
}

static bool skip_artefact(void *context, const rung_artefact *artefact)
{
    return (void)context, (void)artefact, true;
}

static bool skip_cell(void *context, const rung_probe_cell *cell)
{
    return (void)context, (void)cell, true;
}

static bool skip_depth(void *context, const rung_probe_depth *depth)
{
    return (void)context, (void)depth, true;
}

typedef struct probe_check {
    rung_store *store;
    rung_status status;
    rung_error *err;
} probe_check;

static bool check_probe(void *context, const rung_probe_row *row)
{
    probe_check *c = context;
    c->status = rung_store_probe_cells(c->store, row->number, skip_cell, NULL, c->err);
    if (c->status == RUNG_OK) c->status = rung_store_probe_depths(c->store, row->number, skip_depth, NULL, c->err);
    return c->status == RUNG_OK;
}

/* Plans name runs by their id, even if a run is not in the store. */
static rung_status check_plan(const rung_store *store, rung_error *err)
{
    int64_t wrong = 0;
    rung_status status = lab_sql_int(&wrong, store, 0, err,
                                     "SELECT count(*) FROM plan WHERE length(run) <> 32 OR run GLOB '*[^0-9a-f]*'", "");
    if (status != RUNG_OK || !wrong) return status;
    return rung_fail(err, RUNG_INPUT, "%s: %lld entries of its plans name a run by a text that is no run id",
                     store->path, (long long)wrong);
}

/* Reads all rows without using them, because readers check every row. */
static rung_status check_content(rung_store *store, rung_error *err)
{
    probe_check probes = {.store = store, .err = err};
    RUNG_TRY(rung_store_runs(store, 0, skip_run, NULL, err));
    RUNG_TRY(rung_store_sweeps(store, skip_sweep, NULL, err));
    RUNG_TRY(check_plan(store, err));
    RUNG_TRY(rung_store_artefacts(store, 0, NULL, skip_artefact, NULL, err));
    rung_status status = rung_store_probes(store, check_probe, &probes, err);
    RUNG_TRY(status);
    return probes.status;
}

static rung_status attach(const rung_store *store, const rung_store *other, rung_error *err)
{
    rung_buf address;
    rung_buf_init(&address);
    rung_status status =
        lab_sql_address(&address, other->path, other->still ? "?mode=ro&immutable=1" : "?mode=ro", err);
    RUNG_NEXT(status, lab_sql_do(store, err, "ATTACH ? AS src", "s", address.text));
    rung_buf_clear(&address);
    return status;
}

/* Checks at the end that no process wrote the other store while it was copied. */
static rung_status take_over(rung_store *store, rung_store *other, size_t *added, size_t *same, rung_error *err)
{
    int64_t pages;
    RUNG_TRY(attach(store, other, err));
    RUNG_TRY(lab_store_limit(store, (uint64_t)other->seen.st_size, err));
    RUNG_TRY(lab_sql_begin(store, err));
    rung_status status = copy_all(store, other->path, added, same, err);
    RUNG_NEXT(status, lab_sql_int(&pages, other, 0, err, "PRAGMA page_count", ""));
    status = lab_sql_end(store, status, err);
    sqlite3_exec(store->db, "DROP TABLE IF EXISTS temp.fresh; DROP TABLE IF EXISTS temp.pairs; DETACH src", NULL, NULL,
                 NULL);
    lab_store_free_of_limits(store);
    return status;
}

rung_status rung_store_merge(rung_store *store, const char *from, size_t *added, size_t *same, double wait_s,
                             rung_error *err)
{
    rung_store *other;
    rung_status status =
        rung_store_open(&other, from, RUNG_STORE_READ, wait_s, err); /* reports what is wrong with it */
    RUNG_TRY(status);
    status = check_content(other, err);
    RUNG_NEXT(status, take_over(store, other, added, same, err));
    rung_store_close(other);
    return status;
}
