/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Does all runs of a sweep, several at a time. Workers take the runs in the order of the plan; each has its own
 * connection. The results do not depend on which worker does a run, nor on other processes that use the same store. In
 * a team (ranks.c) rank 0 does this, and hands out runs to the other ranks as well.
 */
#include "sweep_workers.h"

#include <math.h>
#include <stdlib.h>

size_t lab_jobs(const rung_lab_options *conf)
{
    size_t threads = conf->threads ? conf->threads : 1, cores = rung_cpu_threads();
    return conf->jobs ? conf->jobs : cores > threads ? cores / threads : 1;
}

/* ---- news -------------------------------------------------------------------------------------------------------- */

/* Estimates from the speed so far; while little is done, from the estimate before the start. */
static double seconds_left(const lab_workers *all)
{
    double done = (double)all->sum.done, elapsed = rung_wall_s() - all->began_s;
    double todo = (double)(all->sum.total - all->sum.before - all->sum.elsewhere);
    for (size_t i = 0; i < lab_jobs(all->conf); i++) done += all->part[i];
    double guess = all->conf->cost_s > 0 ? all->conf->cost_s / (double)all->workers - elapsed : NAN;
    if (done <= 0 || (done < 0.1 * todo && guess > 0)) return guess;
    return elapsed / done * (todo - done);
}

static void on_progress(const lab_worker *h, const rung_train_state *state, bool finished)
{
    lab_workers *all = h->all;
    rung_lab_progress progress = {.total = all->sum.total,
                                  .before = all->sum.before,
                                  .done = all->sum.done,
                                  .succeeded = all->sum.succeeded,
                                  .elsewhere = all->sum.elsewhere,
                                  .index = h->index,
                                  .state = state,
                                  .finished = finished,
                                  .left_s = seconds_left(all)};
    if (all->conf->on_progress) all->conf->on_progress(all->conf->context, &progress);
}

bool lab_workers_go_on(const lab_workers *all)
{
    return !atomic_load(&all->halt) && (!all->conf->go || all->conf->go(all->conf->context));
}

static bool after_step(void *context, const rung_train_spec *conf, const rung_train_state *state)
{
    lab_worker *h = context;
    lab_workers *all = h->all;
    double now = rung_wall_s();
    if (now - h->reported_s > 0.1) {
        h->reported_s = now;
        rung_mutex_lock(&all->busy);
        all->part[h->worker] = (double)state->step / (double)conf->steps;
        on_progress(h, state, false);
        rung_mutex_unlock(&all->busy);
    }
    return lab_workers_go_on(all);
}

/* ---- workers ----------------------------------------------------------------------------------------------------- */

void lab_workers_count_run(const lab_worker *h, rung_lab_did did, const rung_train_state *state)
{
    lab_workers *all = h->all;
    rung_mutex_lock(&all->busy);
    all->part[h->worker] = 0;
    all->sum.done += did == RUNG_LAB_DONE;
    all->sum.before += did == RUNG_LAB_WAS_DONE; /* done by another process since we began, before we came to it */
    all->sum.elsewhere += did == RUNG_LAB_ELSEWHERE;
    all->sum.stopped = all->sum.stopped || did == RUNG_LAB_STOPPED;
    if (did == RUNG_LAB_DONE) {
        all->sum.diverged += state->diverged;
        all->sum.succeeded += state->test_accuracy >= all->sweep->success;
    }
    if (did == RUNG_LAB_DONE) on_progress(h, state, true);
    rung_mutex_unlock(&all->busy);
}

void lab_workers_fail(lab_workers *all, rung_status status, const rung_error *err)
{
    rung_mutex_lock(&all->busy);
    if (all->status == RUNG_OK) all->status = status, all->err = *err;
    rung_mutex_unlock(&all->busy);
    atomic_store(&all->halt, true);
}

bool lab_workers_next(size_t *index, lab_workers *all)
{
    do {
        *index = atomic_fetch_add(&all->next, 1) * all->shards + all->shard;
    } while (*index < all->sweep->runs && all->done[*index]);
    return *index < all->sweep->runs;
}

static void work(void *context, size_t item, size_t worker)
{
    lab_workers *all = context;
    rung_store *store = NULL;
    rung_error err = {""};
    lab_worker h = {.all = all, .worker = item};
    (void)worker;
    /* Item `jobs` serves the other ranks. If no thread could be started for it, it runs after our own runs. */
    if (item == lab_jobs(all->conf)) {
        lab_ranks_serve(all);
        return;
    }
    rung_status status = rung_store_open(&store, all->path, RUNG_STORE_WRITE, all->conf->wait_s, &err);
    while (status == RUNG_OK && lab_workers_go_on(all) && lab_workers_next(&h.index, all)) {
        rung_train_state state;
        rung_lab_did did;
        status = lab_do_run(&did, &state, store, all->sweep, h.index, all->conf->threads, after_step, &h, &err);
        if (status == RUNG_OK) lab_workers_count_run(&h, did, &state);
    }
    if (status != RUNG_OK) lab_workers_fail(all, status, &err);
    rung_store_close(store);
}

/* ---- whole ------------------------------------------------------------------------------------------------------- */

static rung_status count_done(lab_workers *all, bool *done, const rung_store *store, rung_error *err)
{
    sqlite3_stmt *s;
    all->sum.total = all->sum.before = all->sum.succeeded = 0;
    rung_status status =
        lab_sql_open(&s, store, err, "SELECT test_accuracy >= ? FROM runs WHERE id = ?", "d", all->sweep->success);
    for (size_t i = all->shard; status == RUNG_OK && i < all->sweep->runs; i += all->shards) {
        sqlite3_bind_text(s, 2, all->sweep->planned[i].id, -1, SQLITE_STATIC);
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

static rung_status begin(lab_workers *all, bool *done, rung_store *store, rung_error *err)
{
    RUNG_TRY(lab_ranks_adopt(store, all->conf->team, err));
    RUNG_TRY(rung_store_plan(store, all->sweep, err));
    return count_done(all, done, store, err);
}

static rung_status end(lab_workers *all, bool *done, rung_store *store, rung_error *err)
{
    rung_status status = lab_ranks_collect(all, store, err);
    lab_work_clean(store);
    all->sum.stopped = all->sum.stopped || (all->conf->go && !all->conf->go(all->conf->context));
    if (all->status != RUNG_OK) return rung_fail(err, all->status, "%s", all->err.text);
    RUNG_NEXT(status, count_done(all, done, store, err)); /* other processes may have worked as well */
    RUNG_TRY(status);
    all->sum.before -= all->sum.done;
    size_t lacking = all->sum.total - all->sum.before - all->sum.done;
    if (all->sum.elsewhere > lacking) all->sum.elsewhere = lacking; /* some were finished meanwhile */
    all->sum.left = lacking - all->sum.elsewhere;
    return RUNG_OK;
}

static rung_status do_all(lab_workers *all, bool *done, rung_store *store, rung_error *err)
{
    size_t items = lab_jobs(all->conf) + (all->conf->team != NULL);
    rung_status status = begin(all, done, store, err);
    if (status != RUNG_OK) {
        lab_ranks_dismiss(all->conf->team);
        return status;
    }
    lab_work_clean(store);
    all->began_s = rung_wall_s();
    rung_par_for(items, items, work, all);
    return end(all, done, store, err);
}

static rung_status sweep_as_first(rung_lab_sum *sum, const rung_sweep *sweep, const char *path,
                                  const rung_lab_options *conf, rung_error *err)
{
    lab_workers all = {.sweep = sweep, .path = path, .conf = conf, .shard = conf->shards ? conf->shard : 0};
    rung_store *store = NULL;
    rung_mutex_init(&all.busy);
    all.shards = conf->shards ? conf->shards : 1;
    all.workers = lab_jobs(conf) * (conf->team ? conf->team->size : 1);
    all.part = rung_calloc(lab_jobs(conf) + 1, sizeof *all.part, err);
    bool *done = rung_calloc(sweep->runs, sizeof *done, err);
    all.done = done;
    rung_status status = all.part && done ? RUNG_OK : RUNG_SYSTEM;
    RUNG_NEXT(status, rung_store_open(&store, path, RUNG_STORE_WRITE, conf->wait_s, err));
    if (status == RUNG_OK)
        status = do_all(&all, done, store, err);
    else
        lab_ranks_dismiss(conf->team);
    *sum = all.sum;
    rung_mutex_clear(&all.busy);
    rung_store_close(store);
    free(all.part);
    free(done);
    return status;
}

rung_status rung_lab_sweep(rung_lab_sum *sum, const rung_sweep *sweep, const char *path, const rung_lab_options *conf,
                           rung_error *err)
{
    rung_lab_options own = *conf;
    *sum = (rung_lab_sum){0};
    if (own.team && own.team->size < 2) own.team = NULL;
    return own.team && own.team->rank ? lab_ranks_follow(sweep, path, &own, err)
                                      : sweep_as_first(sum, sweep, path, &own, err);
}

/* ---- one --------------------------------------------------------------------------------------------------------- */

static bool asks(void *context, const rung_train_spec *run, const rung_train_state *state)
{
    const rung_lab_options *conf = context;
    (void)run, (void)state;
    return !conf->go || conf->go(conf->context);
}

rung_status rung_lab_run(rung_lab_did *did, rung_store *store, const rung_sweep *sweep, size_t index,
                         const rung_lab_options *conf, rung_error *err)
{
    rung_train_state state;
    rung_lab_options copy = *conf;
    return lab_do_run(did, &state, store, sweep, index, conf->threads, asks, &copy, err);
}
