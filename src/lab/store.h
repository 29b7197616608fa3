/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to lab: the connection, SQL with our messages, leases and the recording of a run.
 */
#ifndef RUNG_LAB_STORE_H
#define RUNG_LAB_STORE_H

#include <sqlite3.h>
#include <sys/stat.h>

#include "rung/lab.h"

struct rung_store {
    sqlite3 *db;
    char *path;
    const char *work; /* path of the store beside which files of unfinished runs lie; NULL: this one */
    double wait_s;
    int64_t version;  /* version of the schema; opening an older one for writing upgrades it */
    bool still;       /* opened as immutable: neither locks nor files beside it */
    struct stat seen; /* of an immutable file, when it was opened */
    uint64_t budget;  /* SQLite instructions that one statement may take */
    uint64_t *meter;  /* instructions that the statement has taken; NULL: no limit */
};

/* ---- what comes from other people (foreign.c) -------------------------------------------------------------------- */

#define LAB_NAME_MOST 4096 /* bytes of a name, a label or a statement */

/* Checks that its tables are tables with our columns, and that it has no triggers. */
rung_status lab_check_schema(const rung_store *store, int64_t version, rung_error *err);
typedef struct lab_name {
    const char *column, *text;
} lab_name;
rung_status lab_check_id(const rung_store *store, const char *table, int64_t number, const char *id, rung_error *err);
rung_status lab_check_names(const rung_store *store, const char *table, int64_t number, const lab_name *names,
                            size_t count, rung_error *err);
rung_status lab_check_object(const rung_store *store, const char *table, int64_t number, const char *column,
                             bool is_object, rung_error *err);
/* SQL expression: true if a column holds a JSON object. */
#define LAB_IS_OBJECT(column) "coalesce(CASE WHEN json_valid(" column ") THEN json_type(" column ") = 'object' END, 0)"

/* ---- SQL (sql.c) ------------------------------------------------------------------------------------------------- */

/* The URI of a file for SQLite: file:PATH, with options such as "?mode=ro". */
rung_status lab_sql_address(rung_buf *out, const char *path, const char *options, rung_error *err);
/* Turns the last SQLite error into a message that names the file and says what to try. */
rung_status lab_sql_fail(const rung_store *store, rung_error *err);
rung_status lab_sql_exec(const rung_store *store, const char *sql, rung_error *err);
/* Prepares and binds; `kinds` has a letter per value: s text, i int64_t, d double (NaN becomes NULL), b blob (pointer
 * and size_t). Values must live as long as the statement. */
rung_status lab_sql_open(sqlite3_stmt **out, const rung_store *store, rung_error *err, const char *sql,
                         const char *kinds, ...);
/* Steps to the next row; *row is false if there is none. Finalises the statement if there is none or it failed. */
rung_status lab_sql_next(bool *row, sqlite3_stmt **statement, const rung_store *store, rung_error *err);
/* Runs a statement that returns no rows. */
rung_status lab_sql_do(const rung_store *store, rung_error *err, const char *sql, const char *kinds, ...);
/* The first column of the first row, or `fallback`. */
rung_status lab_sql_int(int64_t *out, const rung_store *store, int64_t fallback, rung_error *err, const char *sql,
                        const char *kinds, ...);
/* Takes the write lock at once, so that no row that is read afterwards can be outdated. */
rung_status lab_sql_begin(const rung_store *store, rung_error *err);
/* Commits if status is RUNG_OK, else rolls back. Returns the status of the whole. */
rung_status lab_sql_end(const rung_store *store, rung_status status, rung_error *err);
double lab_now(void); /* seconds since 1970 */

/* The view `results`. Readers spell it out, because the view in a store of an earlier version joins the means of
 * settings without an index, which takes hours for 100,000 runs. This one reads every row once; CROSS keeps the order
 * of the tables. */
#define LAB_RESULTS                                                                                                    \
    "WITH mean AS (SELECT plan.sweep, plan.place, plan.label, plan.cell, plan.setting, plan.run,"                      \
    " avg(eval_accuracy) OVER one AS accuracy, avg(eval_loss) OVER one AS loss"                                        \
    " FROM plan JOIN runs ON runs.id = plan.run WINDOW one AS (PARTITION BY plan.sweep, plan.cell, plan.setting)),"    \
    " ranked AS (SELECT mean.*, dense_rank() OVER (PARTITION BY sweep, cell"                                           \
    " ORDER BY accuracy DESC, loss IS NULL, loss, setting) AS rank FROM mean)"                                         \
    " SELECT ranked.sweep, ranked.place, ranked.label, ranked.cell, ranked.setting,"                                   \
    " coalesce(runs.test_accuracy >= sweeps.success, 0) AS success, ranked.rank = 1 AS chosen, runs.*,"                \
    " theory.bits, theory.verdict, theory.bound, theory.statement, theory.margin, theory.ceiling, theory.n_threshold," \
    " theory.log2_n, theory.trivial"                                                                                   \
    " FROM ranked CROSS JOIN sweeps ON sweeps.number = ranked.sweep CROSS JOIN runs ON runs.id = ranked.run"           \
    " LEFT JOIN theory ON theory.run = runs.number"

/* Limits the work of one statement to what a store of `bytes` bytes can need (store.c). */
rung_status lab_store_limit(rung_store *store, uint64_t bytes, rung_error *err);
void lab_store_free_of_limits(rung_store *store);

/* ---- leases (lease.c) -------------------------------------------------------------------------------------------- */

rung_status lab_lease(rung_lab_did *did, const rung_store *store, const char *id, rung_error *err);
/* Renews the heartbeat of a claim. Failures are ignored. */
void lab_lease_renew(const rung_store *store, const char *id);
rung_status lab_lease_drop(const rung_store *store, const char *id, rung_error *err);
/* The same for all leases of this process. */
void lab_leases_renew(const rung_store *store);
rung_status lab_leases_drop(const rung_store *store, rung_error *err);

/* ---- recording (record.c) ---------------------------------------------------------------------------------------- */

typedef struct lab_metrics {
    rung_metric *row;
    size_t count, room;
} lab_metrics;

/* The 32-bit format in which the theorems are asked. */
#define LAB_EXACT_NUMBERS "f32"

typedef struct lab_untrained {
    rung_run_row row; /* layers, bits and theory */
    char bound[32], statement[384];
} lab_untrained;
/* What is known of a run without training it. */
rung_status lab_untrained_of(lab_untrained *facts, const rung_train_spec *conf, rung_error *err);

/* Records the run with everything that belongs to it in one transaction, which also ends the lease. model may be NULL.
 * *did is RUNG_LAB_WAS_DONE if another process took over our claim and recorded the run first. */
rung_status lab_record(rung_lab_did *did, const rung_store *store, const rung_sweep_run *run,
                       const rung_train_state *state, const lab_metrics *metrics, const char *model, rung_error *err);
rung_status lab_insert_artefact(const rung_store *store, const rung_artefact *artefact, rung_error *err);

/* ---- columns (store_rows.c) -------------------------------------------------------------------------------------------- */

const char *lab_text_at(sqlite3_stmt *s, int column);
double lab_real_at(sqlite3_stmt *s, int column); /* NaN for NULL */
uint64_t lab_count_at(sqlite3_stmt *s, int column);

/* ---- probes (store_probes.c) ------------------------------------------------------------------------------------------- */

extern const char lab_probe_schema[]; /* from version 1 to 2 */
/* Copies what the attached store src has and this one lacks. */
rung_status lab_merge_probes(const rung_store *store, rung_error *err);

#endif
