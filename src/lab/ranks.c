/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A sweep by several processes. Rank 0 works on the store as if it were alone, and hands out runs on request. Rank k
 * keeps its results in a store of its own, STORE.rankk, so that no file is written by two machines. Rank 0 claims the
 * runs that it hands out. At the end it merges all rank stores into the store and removes them. If the job ends before
 * that, the next sweep on this store does it first, with or without ranks. Checkpoints are in STORE.work/, whichever
 * rank writes them, so that any process can continue from them.
 *
 * Messages: START, then ASK and GIVE (a run, or NOTHING), DID after each run, BYE at the end; HALT to all ranks when
 * one has to stop.
 */
#include "sweep_workers.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RIGHT   "ranks" /* id of the claim on all files of ranks */
#define BEAT_S  30.0
#define POLL_US 500

typedef enum message_kind { START = 1, ASK, GIVE, DID, FAIL, BYE, HALT } message_kind;
#define NOTHING UINT64_MAX

typedef struct message {
    message_kind kind;
    rung_lab_did did;
    rung_status status;
    bool diverged;
    uint64_t index; /* BYE: number of runs that the rank has done */
    uint64_t step;
    double loss, test_accuracy;
    char text[400];
} message;

static void name_store(char *out, size_t size, const char *path, size_t rank)
{
    snprintf(out, size, "%s.rank%zu", path, rank);
}

/* ---- files of ranks ---------------------------------------------------------------------------------------------- */

/* Unlink the WAL first, so that an interruption leaves a consistent (older) database. */
static void remove_store(const char *path)
{
    static const char *const endings[] = {"-wal", "-shm", ""};
    char name[4096];
    for (size_t i = 0; i < RUNG_COUNT(endings); i++)
        if ((size_t)snprintf(name, sizeof name, "%s%s", path, endings[i]) < sizeof name) unlink(name);
}

static rung_status take_in(rung_store *store, const char *path, rung_error *err)
{
    rung_store *other = NULL;
    size_t added, same;
    /* Opened for writing, so that a store whose creation was interrupted is completed. */
    rung_status status = rung_store_open(&other, path, RUNG_STORE_WRITE, store->wait_s, err);
    rung_store_close(other);
    RUNG_NEXT(status, rung_store_merge(store, path, &added, &same, store->wait_s, err));
    RUNG_NEXT(status, lab_sql_do(store, err, "DELETE FROM claims WHERE run IN (SELECT id FROM runs)", ""));
    if (status != RUNG_OK)
        return rung_fail_at(err, status,
                            "cannot merge the results of rank file %s; move it away to continue without them", path);
    remove_store(path);
    return RUNG_OK;
}

static bool is_of_rank(const char *name, const char *base)
{
    size_t len = strlen(base);
    if (strncmp(name, base, len) != 0 || strncmp(name + len, ".rank", 5) != 0) return false;
    const char *number = name + len + 5;
    return *number && number[strspn(number, "0123456789")] == '\0';
}

/* Finds one rank file, or returns false. The directory is read again each time, because merging a file changes it. */
static bool find_one(char *out, size_t size, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char directory[4096];
    bool found = false;
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path + 1) : 2, slash ? path : "./");
    DIR *files = opendir(directory);
    for (const struct dirent *entry; files && !found && (entry = readdir(files));)
        if (is_of_rank(entry->d_name, base))
            found = (size_t)snprintf(out, size, "%s%s", slash ? directory : "", entry->d_name) < size;
    if (files) closedir(files);
    return found;
}

static rung_status take_in_all(rung_store *store, rung_error *err)
{
    char path[8192];
    rung_status status = RUNG_OK;
    while (status == RUNG_OK && find_one(path, sizeof path, store->path)) status = take_in(store, path, err);
    return status;
}

/* Claims the rank files; waits as long as for a lock. */
static rung_status claim_right(bool *mine, const rung_store *store, double wait_s, rung_error *err)
{
    double until = rung_wall_s() + wait_s;
    rung_lab_did did = RUNG_LAB_ELSEWHERE;
    rung_status status;
    for (;;) {
        status = lab_lease(&did, store, RIGHT, err);
        if (status != RUNG_OK || did == RUNG_LAB_DONE || rung_wall_s() >= until) break;
        usleep(100000);
    }
    *mine = did == RUNG_LAB_DONE;
    return status;
}

rung_status lab_ranks_adopt(rung_store *store, const rung_team *team, rung_error *err)
{
    char path[8192];
    bool mine = false;
    if (!team && !find_one(path, sizeof path, store->path)) return RUNG_OK;
    /* A process without a team leaves them to live ranks, whose runs have leases. */
    rung_status status = claim_right(&mine, store, team ? store->wait_s : 0, err);
    if (status == RUNG_OK && team && !mine)
        return rung_fail(err, RUNG_SYSTEM,
                         "ranks of another job are at work on %s, or were killed on another host less than ten minutes "
                         "ago; wait for them (--wait), or use another store",
                         store->path);
    if (status != RUNG_OK || !mine) return status;
    status = take_in_all(store, err);
    rung_error ignored;
    if (!team || status != RUNG_OK) (void)lab_lease_drop(store, RIGHT, &ignored);
    return status;
}

rung_status rung_store_adopt(rung_store *store, rung_error *err)
{
    return lab_ranks_adopt(store, NULL, err);
}

/* ---- rank 0 ------------------------------------------------------------------------------------------------------ */

typedef struct server {
    lab_workers *all;
    const rung_team *team;
    rung_store *store;
    size_t gone; /* number of ranks that have sent BYE */
    bool halted;
    double beat_s;
} server;

static void tell_all(const rung_team *team, message_kind kind)
{
    message m = {.kind = kind};
    for (size_t rank = 1; rank < team->size; rank++) team->send(team->context, rank, &m, sizeof m);
}

/* Claims a run that no other process works on. NOTHING if there is none. */
static uint64_t choose(server *s)
{
    lab_worker h = {.all = s->all, .worker = lab_jobs(s->all->conf)};
    rung_error err = {""};
    while (s->store && lab_workers_go_on(s->all) && lab_workers_next(&h.index, s->all)) {
        rung_lab_did did;
        rung_status status = lab_lease(&did, s->store, rung_sweep_id(s->all->sweep, h.index), &err);
        if (status != RUNG_OK) lab_workers_fail(s->all, status, &err);
        if (status == RUNG_OK && did == RUNG_LAB_DONE) return h.index;
        if (status == RUNG_OK) lab_workers_count_run(&h, did, NULL);
    }
    return NOTHING;
}

static void give(server *s, size_t to)
{
    message m = {.kind = GIVE, .index = choose(s)};
    s->team->send(s->team->context, to, &m, sizeof m);
}

static void note_run(server *s, const message *m)
{
    lab_worker h = {.all = s->all, .worker = lab_jobs(s->all->conf), .index = (size_t)m->index};
    rung_train_state state = {
        .step = m->step, .loss = m->loss, .test_accuracy = m->test_accuracy, .diverged = m->diverged};
    lab_workers_count_run(&h, m->did, &state);
    if (m->did == RUNG_LAB_STOPPED) atomic_store(&s->all->halt, true);
}

/* Without a shared file system the results of a rank stay on its machine, so the user must be told where. */
static void look_for_store(const server *s, size_t rank, const message *m)
{
    char path[4096];
    rung_error err;
    name_store(path, sizeof path, s->all->path, rank);
    if (m->index && access(path, F_OK) != 0)
        lab_workers_fail(
            s->all,
            rung_fail(&err, RUNG_SYSTEM,
                      "rank %zu has done %" PRIu64
                      " runs in %s on %s; that file is not visible from here: copy it and use 'rung merge'",
                      rank, m->index, path, m->text),
            &err);
}

static void answer(server *s, size_t from, const message *m)
{
    rung_error err;
    if (m->kind == ASK) give(s, from);
    if (m->kind == DID) note_run(s, m);
    if (m->kind == FAIL) lab_workers_fail(s->all, rung_fail(&err, m->status, "rank %zu: %s", from, m->text), &err);
    if (m->kind == BYE) {
        s->gone++;
        look_for_store(s, from, m);
    }
}

static void rest(server *s)
{
    if (!s->halted && !lab_workers_go_on(s->all)) {
        s->halted = true;
        tell_all(s->team, HALT);
    }
    if (s->store && rung_wall_s() - s->beat_s > BEAT_S) {
        lab_leases_renew(s->store);
        s->beat_s = rung_wall_s();
    }
    usleep(POLL_US);
}

void lab_ranks_serve(lab_workers *all)
{
    server s = {.all = all, .team = all->conf->team, .beat_s = rung_wall_s()};
    rung_error err = {""};
    message m;
    size_t from;
    rung_status status = rung_store_open(&s.store, all->path, RUNG_STORE_WRITE, all->conf->wait_s, &err);
    if (status != RUNG_OK) lab_workers_fail(all, status, &err);
    tell_all(s.team, START);
    while (s.gone + 1 < s.team->size)
        if (s.team->receive(s.team->context, &from, &m, sizeof m))
            answer(&s, from, &m);
        else
            rest(&s);
    rung_store_close(s.store);
}

void lab_ranks_dismiss(const rung_team *team)
{
    if (team) tell_all(team, HALT);
}

rung_status lab_ranks_collect(lab_workers *all, rung_store *store, rung_error *err)
{
    rung_error ignored;
    if (!all->conf->team) return RUNG_OK;
    rung_status status = take_in_all(store, err);
    (void)lab_leases_drop(store, &ignored); /* claims that are left over; a dead rank has none */
    return status;
}

/* ---- the others -------------------------------------------------------------------------------------------------- */

typedef struct follower {
    const rung_team *team;
    const rung_sweep *sweep;
    const char *first; /* path of the store of rank 0 */
    char path[4096];
    const rung_lab_options *conf;
    atomic_bool halt;
    atomic_size_t done;
    rung_mutex busy; /* one thread at a time may use the team */
} follower;

static void send_first(follower *f, const message *m)
{
    f->team->send(f->team->context, 0, m, sizeof *m);
}

/* Receives the next message other than HALT, and remembers a HALT. `wait`: blocks until there is one. */
static bool next_message(message *m, follower *f, bool wait)
{
    size_t from;
    for (;;) {
        if (!f->team->receive(f->team->context, &from, m, sizeof *m)) {
            if (!wait) return false;
            usleep(POLL_US);
        } else if (m->kind != HALT) {
            return true;
        } else {
            atomic_store(&f->halt, true);
        }
    }
}

static bool may_go_on(const follower *f)
{
    return !atomic_load(&f->halt) && (!f->conf->go || f->conf->go(f->conf->context));
}

static bool ask(size_t *index, follower *f)
{
    message m = {.kind = ASK};
    rung_mutex_lock(&f->busy);
    send_first(f, &m);
    next_message(&m, f, true);
    rung_mutex_unlock(&f->busy);
    *index = (size_t)m.index;
    return m.index != NOTHING;
}

typedef struct listener {
    follower *f;
    double heard_s;
} listener;

static bool after_step(void *context, const rung_train_spec *conf, const rung_train_state *state)
{
    listener *l = context;
    message m;
    double now = rung_wall_s();
    (void)conf, (void)state;
    if (now - l->heard_s > 0.1) {
        l->heard_s = now;
        rung_mutex_lock(&l->f->busy);
        next_message(&m, l->f, false); /* only HALT can arrive here */
        rung_mutex_unlock(&l->f->busy);
    }
    return may_go_on(l->f);
}

static void report(follower *f, size_t index, rung_lab_did did, const rung_train_state *state)
{
    message m = {.kind = DID,
                 .did = did,
                 .diverged = state->diverged,
                 .index = index,
                 .step = state->step,
                 .loss = state->loss,
                 .test_accuracy = state->test_accuracy};
    if (did == RUNG_LAB_DONE) atomic_fetch_add(&f->done, 1);
    if (did == RUNG_LAB_STOPPED) atomic_store(&f->halt, true);
    rung_mutex_lock(&f->busy);
    send_first(f, &m);
    rung_mutex_unlock(&f->busy);
}

static void fail(follower *f, rung_status status, const rung_error *err)
{
    message m = {.kind = FAIL, .status = status};
    snprintf(m.text, sizeof m.text, "%.390s", err->text);
    atomic_store(&f->halt, true);
    rung_mutex_lock(&f->busy);
    send_first(f, &m);
    rung_mutex_unlock(&f->busy);
}

static void work(void *context, size_t item, size_t worker)
{
    follower *f = context;
    rung_store *store = NULL;
    rung_error err = {""};
    size_t index;
    (void)item, (void)worker;
    rung_status status = rung_store_open(&store, f->path, RUNG_STORE_WRITE, f->conf->wait_s, &err);
    if (status == RUNG_OK) store->work = f->first;
    RUNG_NEXT(status, rung_store_plan(store, f->sweep, &err));
    while (status == RUNG_OK && may_go_on(f) && ask(&index, f)) {
        rung_train_state state;
        rung_lab_did did;
        listener l = {f, rung_wall_s()};
        status = lab_do_run(&did, &state, store, f->sweep, index, f->conf->threads, after_step, &l, &err);
        if (status == RUNG_OK) report(f, index, did, &state);
    }
    if (status != RUNG_OK) fail(f, status, &err);
    rung_store_close(store);
}

static void say_bye(follower *f)
{
    message m = {.kind = BYE, .index = atomic_load(&f->done)};
    if (gethostname(m.text, sizeof m.text - 1) != 0) strcpy(m.text, "?");
    send_first(f, &m);
}

rung_status lab_ranks_follow(const rung_sweep *sweep, const char *path, const rung_lab_options *conf, rung_error *err)
{
    follower f = {.team = conf->team, .sweep = sweep, .first = path, .conf = conf};
    message m;
    size_t jobs = lab_jobs(conf), from;
    name_store(f.path, sizeof f.path, path, conf->team->rank);
    /* Wait for START: before it, rank 0 may still be merging a store of that name. If HALT comes instead, rank 0 has
     * failed. */
    while (!f.team->receive(f.team->context, &from, &m, sizeof m)) usleep(POLL_US);
    if (m.kind != START) return rung_fail(err, RUNG_SYSTEM, "rank 0 has failed");
    rung_mutex_init(&f.busy);
    rung_par_for(jobs, jobs, work, &f);
    rung_mutex_clear(&f.busy);
    say_bye(&f);
    return RUNG_OK;
}
