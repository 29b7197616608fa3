/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The workers of a sweep: threads of this process (sweep.c) and other processes (ranks.c).
 */
#ifndef RUNG_LAB_SWEEP_WORKERS_H
#define RUNG_LAB_SWEEP_WORKERS_H

#include <stdatomic.h>

#include "rung/par.h"
#include "work.h"

typedef struct lab_workers {
    const rung_sweep *sweep;
    const char *path;
    const rung_lab_options *conf;
    size_t shard, shards, workers; /* workers: in all processes together */
    atomic_size_t next;            /* next place in the shard */
    atomic_bool halt;              /* a worker failed, or go() returned false */
    rung_mutex busy;               /* guards what follows */
    rung_lab_sum sum;
    rung_status status;
    rung_error err;
    const bool *done; /* [runs]: in the store at the start */
    double began_s,
        *part; /* part: [jobs + 1], finished share of each worker's current run; 0 for the other processes */
} lab_workers;

/* One worker. */
typedef struct lab_worker {
    lab_workers *all;
    size_t worker, index;
    double reported_s;
} lab_worker;

size_t lab_jobs(const rung_lab_options *conf);
/* Takes the next run to do. False if there is none. */
bool lab_workers_next(size_t *index, lab_workers *all);
bool lab_workers_go_on(const lab_workers *all);
/* Counts the outcome of a run and reports progress. */
void lab_workers_count_run(const lab_worker *h, rung_lab_did did, const rung_train_state *state);
/* Records the first failure and stops all workers. */
void lab_workers_fail(lab_workers *all, rung_status status, const rung_error *err);

/* ---- other processes (ranks.c); a team that is NULL has none ----------------------------------------------------- */

/* Merges the files that ranks of an earlier sweep left beside the store. With a team, this process keeps the claim on
 * such files. */
rung_status lab_ranks_adopt(rung_store *store, const rung_team *team, rung_error *err);
/* Rank 0: hands out runs until all other ranks have left. */
void lab_ranks_serve(lab_workers *all);
/* Rank 0: merges the files of the other ranks into the store, and releases the claim on them. */
rung_status lab_ranks_collect(lab_workers *all, rung_store *store, rung_error *err);
/* Rank 0: tells all other ranks that there are no runs to do. */
void lab_ranks_dismiss(const rung_team *team);
/* The other ranks: do the runs that rank 0 hands out. */
rung_status lab_ranks_follow(const rung_sweep *sweep, const char *path, const rung_lab_options *conf, rung_error *err);

#endif
