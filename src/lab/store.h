/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A store inside: the connection, SQL with our messages, claims and the recording of a run.
 */
#ifndef RUNG_LAB_STORE_H
#define RUNG_LAB_STORE_H

#include <sqlite3.h>

#include "rung/lab.h"

struct rung_store {
    sqlite3 *db;
    char *path;
    const char *work; /* the store beside which files of unfinished runs are; NULL: this one */
    double wait_s;
    int64_t version; /* of the schema: older ones are brought up to date when they are opened for writing */
};

/* ---- SQL (sql.c) ------------------------------------------------------------------------------------------------------------ */

/* What went wrong last, as a message that names the file and says what to try. */
rung_status lab_sql_fail(const rung_store *store, rung_error *err);
rung_status lab_sql_exec(const rung_store *store, const char *sql, rung_error *err);
/* Prepares and binds; `kinds` has a letter per value: s text, i int64_t, d double (NaN becomes NULL), b blob (pointer and
 * size_t). Values must live as long as the statement. */
rung_status lab_sql_open(sqlite3_stmt **out, const rung_store *store, rung_error *err, const char *sql,
                         const char *kinds, ...);
/* One more row? Finalises the statement when there is none or it failed. */
rung_status lab_sql_next(bool *row, sqlite3_stmt **statement, const rung_store *store, rung_error *err);
/* A statement without rows. */
rung_status lab_sql_do(const rung_store *store, rung_error *err, const char *sql, const char *kinds, ...);
/* The first column of the first row, or `fallback`. */
rung_status lab_sql_int(int64_t *out, const rung_store *store, int64_t fallback, rung_error *err, const char *sql,
                        const char *kinds, ...);
/* Takes the lock for writing at once, so that nothing that was read before is old. */
rung_status lab_sql_begin(const rung_store *store, rung_error *err);
/* Commits if status is RUNG_OK, else takes everything back; returns the status of the whole. */
rung_status lab_sql_end(const rung_store *store, rung_status status, rung_error *err);
double lab_now(void); /* seconds since 1970 */

/* The view `results`. Readers write it out, because the view of a store that an earlier rung has made joins the means of settings
 * without an index: hours for 100,000 runs. Here every row is met once; CROSS keeps the order of the tables. */
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

/* ---- claims (claim.c) --------------------------------------------------------------------------------------------------------- */

rung_status lab_claim(rung_lab_did *did, const rung_store *store, const char *id, rung_error *err);
/* A sign of life; failures do not matter. */
void lab_claim_beat(const rung_store *store, const char *id);
rung_status lab_claim_drop(const rung_store *store, const char *id, rung_error *err);
/* The same for all claims of this process. */
void lab_claims_beat(const rung_store *store);
rung_status lab_claims_drop(const rung_store *store, rung_error *err);

/* ---- recording (record.c) ---------------------------------------------------------------------------------------------------- */

typedef struct lab_metrics {
    rung_metric *row;
    size_t count, room;
} lab_metrics;

/* The format that the theorems are asked for, 32 bits. */
#define LAB_EXACT_NUMBERS "f32"

typedef struct lab_facts {
    rung_run_row row; /* layers, bits and theory */
    char bound[32], statement[384];
} lab_facts;
/* What is known of a run without training it. */
rung_status lab_facts_of(lab_facts *facts, const rung_train_conf *conf, rung_error *err);

/* The run with everything that belongs to it, in one transaction, which also ends the claim. model may be NULL. *did is
 * RUNG_LAB_WAS_DONE when somebody else, who thought us dead, has been faster. */
rung_status lab_record(rung_lab_did *did, const rung_store *store, const rung_sweep_run *run,
                       const rung_train_state *state, const lab_metrics *metrics, const char *model, rung_error *err);
rung_status lab_insert_artefact(const rung_store *store, const rung_artefact *artefact, rung_error *err);

/* ---- columns (rows.c) ---------------------------------------------------------------------------------------------------------- */

const char *lab_text_at(sqlite3_stmt *s, int column);
double lab_real_at(sqlite3_stmt *s, int column); /* NaN for NULL */
uint64_t lab_count_at(sqlite3_stmt *s, int column);

/* ---- probes (probes.c) --------------------------------------------------------------------------------------------------------- */

extern const char lab_probe_schema[]; /* from version 1 to 2 */
/* What the attached store src has and this one has not. */
rung_status lab_merge_probes(const rung_store *store, rung_error *err);

#endif
