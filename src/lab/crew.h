/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Those who do a sweep: threads of this process (sweep.c) and other processes (ranks.c).
 */
#ifndef RUNG_LAB_CREW_H
#define RUNG_LAB_CREW_H

#include <stdatomic.h>

#include "rung/par.h"
#include "work.h"

typedef struct lab_crew {
    const rung_sweep *sweep;
    const char *path;
    const rung_lab_conf *conf;
    size_t shard, shards, workers; /* workers: of all processes */
    atomic_size_t next;            /* place in the shard */
    atomic_bool halt;              /* somebody failed, or go() said no */
    rung_mutex busy;               /* guards what follows */
    rung_lab_sum sum;
    rung_status status;
    rung_error err;
    const bool *done;      /* [points]: in the store when this began */
    double began_s, *part; /* [jobs + 1]: share of the current run that is done; 0 for the other processes */
} lab_crew;

/* Who is at a run. */
typedef struct lab_hand {
    lab_crew *all;
    size_t worker, index;
    double told_s;
} lab_hand;

size_t lab_jobs(const rung_lab_conf *conf);
/* The next run to be done; false: there is none. */
bool lab_crew_next(size_t *index, lab_crew *all);
bool lab_crew_goes_on(const lab_crew *all);
/* Counts what has become of a run, and tells. */
void lab_crew_note(const lab_hand *h, rung_lab_did did, const rung_train_state *state);
/* The first failure ends the work of all. */
void lab_crew_fail(lab_crew *all, rung_status status, const rung_error *err);

/* ---- other processes (ranks.c); a team that is NULL has none --------------------------------------------------------------- */

/* Takes over what ranks of an earlier sweep have left beside the store. With a team the right to such files is kept. */
rung_status lab_ranks_adopt(rung_store *store, const rung_team *team, rung_error *err);
/* Rank 0: hands out runs until all others are gone. */
void lab_ranks_serve(lab_crew *all);
/* Rank 0: takes what they have done into the store, and gives back the right to their files. */
rung_status lab_ranks_collect(lab_crew *all, rung_store *store, rung_error *err);
/* Rank 0: there will be nothing to do. */
void lab_ranks_dismiss(const rung_team *team);
/* The others: do the runs that rank 0 hands out. */
rung_status lab_ranks_follow(const rung_sweep *sweep, const char *path, const rung_lab_conf *conf, rung_error *err);

#endif
