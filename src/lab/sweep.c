/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * All runs of a sweep, several at a time. Workers take the runs in the order of the plan; each has a connection of its own.
 * Which worker does a run does not matter to the result, and neither does who else is at the same store.
 */
#include "work.h"

#include "rung/par.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct crew {
    const rung_sweep *sweep;
    const char *path;
    const rung_lab_conf *conf;
    size_t shard, shards;
    atomic_size_t next; /* place in the shard */
    atomic_bool halt;   /* somebody failed, or go() said no */
    atomic_flag busy;   /* guards what follows */
    rung_lab_sum sum;
    rung_status status;
    rung_error err;
    const bool *done;      /* [points]: in the store when this began */
    double began_s, *part; /* [jobs]: share of the current run that is done */
} crew;

typedef struct hand {
    crew *all;
    size_t worker, index;
    double told_s;
} hand;

static size_t jobs_of(const rung_lab_conf *conf)
{
    size_t threads = conf->threads ? conf->threads : 1, cores = rung_cpu_threads();
    return conf->jobs ? conf->jobs : cores > threads ? cores / threads : 1;
}

static void lock(crew *all)
{
    while (atomic_flag_test_and_set(&all->busy)) sched_yield();
}

static void unlock(crew *all)
{
    atomic_flag_clear(&all->busy);
}

/* ---- news ------------------------------------------------------------------------------------------------------------------------- */

/* From the speed up to now; from the estimate while little is done. */
static double seconds_left(const crew *all)
{
    double done = (double)all->sum.done, elapsed = rung_wall_s() - all->began_s;
    double todo = (double)(all->sum.total - all->sum.before - all->sum.elsewhere);
    size_t jobs = jobs_of(all->conf);
    for (size_t i = 0; i < jobs; i++) done += all->part[i];
    double guess = all->conf->cost_s > 0 ? all->conf->cost_s / (double)jobs - elapsed : NAN;
    if (done <= 0 || (done < 0.1 * todo && guess > 0)) return guess;
    return elapsed / done * (todo - done);
}

static void tell(hand *h, const rung_train_state *state, bool finished)
{
    crew *all = h->all;
    rung_lab_news news = {.total = all->sum.total,
                          .before = all->sum.before,
                          .done = all->sum.done,
                          .succeeded = all->sum.succeeded,
                          .elsewhere = all->sum.elsewhere,
                          .index = h->index,
                          .state = state,
                          .finished = finished,
                          .left_s = seconds_left(all)};
    if (all->conf->tell) all->conf->tell(all->conf->context, &news);
}

static bool may_go_on(const crew *all)
{
    return !atomic_load(&all->halt) && (!all->conf->go || all->conf->go(all->conf->context));
}

static bool after_step(void *context, const rung_train_conf *conf, const rung_train_state *state)
{
    hand *h = context;
    crew *all = h->all;
    double now = rung_wall_s();
    if (now - h->told_s > 0.1) {
        h->told_s = now;
        lock(all);
        all->part[h->worker] = (double)state->step / (double)conf->steps;
        tell(h, state, false);
        unlock(all);
    }
    return may_go_on(all);
}

/* ---- workers ---------------------------------------------------------------------------------------------------------------------- */

static void note(hand *h, rung_lab_did did, const rung_train_state *state)
{
    crew *all = h->all;
    lock(all);
    all->part[h->worker] = 0;
    all->sum.done += did == RUNG_LAB_DONE;
    all->sum.before += did == RUNG_LAB_WAS_DONE; /* by somebody else since we began: before we came to it */
    all->sum.elsewhere += did == RUNG_LAB_ELSEWHERE;
    all->sum.stopped = all->sum.stopped || did == RUNG_LAB_STOPPED;
    if (did == RUNG_LAB_DONE) {
        all->sum.diverged += state->diverged;
        all->sum.succeeded += state->test_accuracy >= all->sweep->success;
    }
    if (did == RUNG_LAB_DONE) tell(h, state, true);
    unlock(all);
}

static void fail(crew *all, rung_status status, const rung_error *err)
{
    lock(all);
    if (all->status == RUNG_OK) all->status = status, all->err = *err;
    unlock(all);
    atomic_store(&all->halt, true);
}

static void work(void *context, size_t item, size_t worker)
{
    crew *all = context;
    rung_store *store = NULL;
    rung_error err = {""};
    hand h = {.all = all, .worker = item};
    (void)worker;
    rung_status status = rung_store_open(&store, all->path, RUNG_STORE_WRITE, all->conf->wait_s, &err);
    while (status == RUNG_OK && may_go_on(all)) {
        rung_train_state state;
        rung_lab_did did;
        h.index = atomic_fetch_add(&all->next, 1) * all->shards + all->shard;
        if (h.index >= all->sweep->points) break;
        if (all->done[h.index]) continue;
        status = lab_do_run(&did, &state, store, all->sweep, h.index, all->conf->threads, after_step, &h, &err);
        if (status == RUNG_OK) note(&h, did, &state);
    }
    if (status != RUNG_OK) fail(all, status, &err);
    rung_store_close(store);
}

/* ---- whole --------------------------------------------------------------------------------------------------------------------------- */

static rung_status count_done(crew *all, bool *done, const rung_store *store, rung_error *err)
{
    sqlite3_stmt *s;
    all->sum.total = all->sum.before = all->sum.succeeded = 0;
    rung_status status =
        lab_sql_open(&s, store, err, "SELECT test_accuracy >= ? FROM runs WHERE id = ?", "d", all->sweep->success);
    for (size_t i = all->shard; status == RUNG_OK && i < all->sweep->points; i += all->shards) {
        sqlite3_bind_text(s, 2, all->sweep->point[i].id, -1, SQLITE_STATIC);
        int code = sqlite3_step(s);
        if (code != SQLITE_ROW && code != SQLITE_DONE) status = lab_sql_fail(store, err);
        done[i] = code == SQLITE_ROW;
        all->sum.succeeded += done[i] && sqlite3_column_int(s, 0);
        all->sum.before += done[i];
        all->sum.total++;
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return status;
}

static rung_status do_all(crew *all, bool *done, rung_store *store, rung_error *err)
{
    size_t jobs = jobs_of(all->conf);
    rung_status status = rung_store_plan(store, all->sweep, err);
    if (status == RUNG_OK) status = count_done(all, done, store, err);
    if (status != RUNG_OK) return status;
    lab_work_clean(store);
    all->began_s = rung_wall_s();
    rung_par_for(jobs, jobs, work, all);
    lab_work_clean(store);
    all->sum.stopped = all->sum.stopped || (all->conf->go && !all->conf->go(all->conf->context));
    if (all->status != RUNG_OK) return rung_fail(err, all->status, "%s", all->err.text);
    status = count_done(all, done, store, err); /* others may have been at work as well */
    all->sum.before -= all->sum.done;
    size_t lacking = all->sum.total - all->sum.before - all->sum.done;
    if (all->sum.elsewhere > lacking) all->sum.elsewhere = lacking; /* finished meanwhile */
    all->sum.left = lacking - all->sum.elsewhere;
    return status;
}

rung_status rung_lab_sweep(rung_lab_sum *sum, const rung_sweep *sweep, const char *path, const rung_lab_conf *conf,
                           rung_error *err)
{
    crew all = {.sweep = sweep, .path = path, .conf = conf, .shard = conf->shards ? conf->shard : 0};
    rung_store *store = NULL;
    all.shards = conf->shards ? conf->shards : 1;
    all.part = rung_calloc(jobs_of(conf), sizeof *all.part, err);
    bool *done = rung_calloc(sweep->points, sizeof *done, err);
    all.done = done;
    rung_status status = all.part && done ? RUNG_OK : RUNG_SYSTEM;
    if (status == RUNG_OK) status = rung_store_open(&store, path, RUNG_STORE_WRITE, conf->wait_s, err);
    if (status == RUNG_OK) status = do_all(&all, done, store, err);
    *sum = all.sum;
    rung_store_close(store);
    free(all.part);
    free(done);
    return status;
}

/* ---- one -------------------------------------------------------------------------------------------------------------------------------- */

static bool asks(void *context, const rung_train_conf *run, const rung_train_state *state)
{
    const rung_lab_conf *conf = context;
    (void)run, (void)state;
    return !conf->go || conf->go(conf->context);
}

rung_status rung_lab_run(rung_lab_did *did, rung_store *store, const rung_sweep *sweep, size_t index,
                         const rung_lab_conf *conf, rung_error *err)
{
    rung_train_state state;
    rung_lab_conf copy = *conf;
    return lab_do_run(did, &state, store, sweep, index, conf->threads, asks, &copy, err);
}
