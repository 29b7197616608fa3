/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Does one run, from the claim to the record. While it is unfinished two files lie beside the store: the checkpoint,
 * and the metrics so far, one line per evaluation. After a kill the checkpoint may be older than the last lines; those
 * are dropped. If lines are missing (power failed before they reached the disk), the run starts again. So the record
 * does not depend on interruptions.
 */
#include "work.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEAT_S 30.0

/* ---- files ------------------------------------------------------------------------------------------------------- */

rung_status lab_work_directory(rung_buf *out, const char *store, rung_error *err)
{
    rung_buf_printf(out, "%s.work", store);
    rung_status status = rung_buf_ok(out, err);
    RUNG_NEXT(status, rung_directory_make(out->text, err));
    return status;
}

/* Removes the files for which `gone` returns true. */
static void sweep_directory(const char *directory, bool (*gone)(void *context, const char *name), void *context)
{
    DIR *files = opendir(directory);
    for (const struct dirent *entry; files && (entry = readdir(files));) {
        char path[4096 + 256];
        if (strspn(entry->d_name, "0123456789abcdef") < RUNG_RUN_ID - 1 || !gone(context, entry->d_name)) continue;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) < sizeof path) unlink(path);
    }
    if (files) closedir(files);
}

static bool is_done(void *store, const char *name)
{
    char id[RUNG_RUN_ID];
    bool has = false;
    rung_error ignored;
    snprintf(id, sizeof id, "%s", name);
    return rung_store_has(&has, store, id, &ignored) == RUNG_OK && has;
}

/* Only while no run is claimed: a process claims a run first and makes the directory afterwards, so we must not remove
 * it then. */
static void remove_if_idle(const rung_store *store, const char *directory)
{
    rung_error ignored;
    int64_t claims = 1;
    rung_status status = lab_sql_begin(store, &ignored);
    if (status != RUNG_OK) return;
    status = lab_sql_int(&claims, store, 1, &ignored, "SELECT count(*) FROM claims", "");
    if (status == RUNG_OK && claims == 0) rmdir(directory);
    (void)lab_sql_end(store, status, &ignored);
}

void lab_work_clean(rung_store *store)
{
    char directory[4096];
    if ((size_t)snprintf(directory, sizeof directory, "%s.work", store->path) >= sizeof directory) return;
    sweep_directory(directory, is_done, store);
    remove_if_idle(store, directory);
}

/* True for a partially written file of this run, left by a killed process. */
static bool is_half(void *id, const char *name)
{
    return strncmp(name, id, RUNG_RUN_ID - 1) == 0 && strstr(name, ".tmp-");
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static bool add_metric(lab_metrics *metrics, const rung_metric *metric)
{
    if (metrics->count == metrics->room) {
        size_t room = metrics->room ? 2 * metrics->room : 32;
        rung_metric *row = realloc(metrics->row, room * sizeof *row);
        if (!row) return false;
        metrics->row = row, metrics->room = room;
    }
    metrics->row[metrics->count++] = *metric;
    return true;
}

static bool write_metric(FILE *file, const rung_metric *m)
{
    const double numbers[] = {m->loss, m->accuracy, m->rate, m->gradient, m->eval_loss, m->eval_accuracy};
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_printf(&text, "%" PRIu64, m->step);
    rung_buf_reals(&text, numbers, RUNG_COUNT(numbers));
    bool ok = !text.failed && fprintf(file, "%s\n", text.text) > 0 && fflush(file) == 0;
    rung_buf_clear(&text);
    return ok;
}

static bool read_metric(rung_metric *m, const char *line)
{
    double n[6] = {0};
    int used = 0;
    if (sscanf(line, "%" SCNu64 "%n", &m->step, &used) != 1) return false;
    const char *end = rung_read_reals(n, RUNG_COUNT(n), line + used);
    *m = (rung_metric){m->step, n[0], n[1], n[2], n[3], n[4], n[5]};
    return end && strcmp(end, "\n") == 0;
}

/* Reads the lines up to `step`, or up to the first that cannot be parsed. */
static bool read_metrics(lab_metrics *metrics, const char *path, uint64_t step)
{
    FILE *file = fopen(path, "r");
    rung_metric m;
    bool ok = true;
    char line[256]; /* 20 digits, and six times a space and at most 24 characters */
    while (ok && file && fgets(line, sizeof line, file) && read_metric(&m, line) && m.step <= step)
        ok = add_metric(metrics, &m);
    if (file) fclose(file);
    return ok;
}

/* True if there is a line for every evaluation up to `step`. */
static bool is_complete(const lab_metrics *metrics, const rung_train_spec *conf, uint64_t step)
{
    uint64_t every = conf->eval_every, want = every ? step / every : 0;
    if (!conf->eval_prompts) return metrics->count == 0;
    if (step == conf->steps && (!every || step % every)) want++;
    if (metrics->count != want) return false;
    for (size_t i = 0; every && i < step / every; i++)
        if (metrics->row[i].step != (i + 1) * every) return false;
    return true;
}

/* ---- one run ----------------------------------------------------------------------------------------------------- */

typedef struct worker {
    rung_store *store;
    rung_sweep_run run;
    rung_buf directory, checkpoint, metrics_path, model;
    lab_metrics metrics;
    FILE *file;
    lab_step *step;
    void *context;
    double beat_s;
    bool opened, broken; /* broken: the metrics do not fit the checkpoint */
    rung_status status;
    rung_error *err;
} worker;

static rung_status fail_metrics(worker *w)
{
    return w->status = rung_fail(w->err, RUNG_SYSTEM, "%s: %s", w->metrics_path.text, strerror(errno));
}

/* Called at the first step, because only then is it known after how many steps the run continues. */
static bool open_metrics(worker *w, bool resumed, uint64_t step)
{
    w->opened = true;
    if (resumed && !read_metrics(&w->metrics, w->metrics_path.text, step)) return fail_metrics(w) == RUNG_OK;
    w->broken = resumed && !is_complete(&w->metrics, &w->run.conf, step);
    if (w->broken) return false;
    if (!(w->file = fopen(w->metrics_path.text, "w"))) return fail_metrics(w) == RUNG_OK;
    for (size_t i = 0; i < w->metrics.count; i++)
        if (!write_metric(w->file, &w->metrics.row[i])) return fail_metrics(w) == RUNG_OK;
    return true;
}

static bool watch(void *context, const rung_train_state *state, bool evaluated)
{
    worker *w = context;
    double now = rung_wall_s();
    if (!w->opened && !open_metrics(w, state->resumed, state->step - 1)) return false;
    if (evaluated) {
        rung_metric m = {state->step,     state->loss,      state->accuracy,     state->rate,
                         state->gradient, state->eval_loss, state->eval_accuracy};
        errno = ENOMEM;
        if (!add_metric(&w->metrics, &m) || !write_metric(w->file, &m)) return fail_metrics(w) == RUNG_OK;
    }
    if (now - w->beat_s > BEAT_S) {
        lab_lease_renew(w->store, w->run.id);
        w->beat_s = now;
    }
    return !w->step || w->step(w->context, &w->run.conf, state);
}

static void start_anew(worker *w)
{
    unlink(w->checkpoint.text);
    unlink(w->metrics_path.text);
    w->metrics.count = 0;
    w->opened = w->broken = false;
    if (w->file) fclose(w->file);
    w->file = NULL;
}

static rung_status train_once(worker *w, rung_train_state *state, const char *model)
{
    rung_status status = rung_train_run(state, &w->run.conf, model, w->checkpoint.text, watch, w, w->err);
    if (w->status != RUNG_OK) return w->status;
    if (status == RUNG_OK && !w->opened && state->finished) open_metrics(w, true, state->step);
    return status;
}

/* A checkpoint that cannot be used is deleted: the run starts again. */
static rung_status train(worker *w, rung_train_state *state, const char *model)
{
    rung_status status = train_once(w, state, model);
    bool unusable = status == RUNG_INPUT && !state->diverged && !w->opened && access(w->checkpoint.text, F_OK) == 0;
    if (!unusable && !w->broken) return status;
    start_anew(w);
    return train_once(w, state, model);
}

static rung_status name_files(worker *w)
{
    RUNG_TRY(lab_work_directory(&w->directory, w->store->work ? w->store->work : w->store->path, w->err));
    rung_buf_printf(&w->checkpoint, "%s/%s.checkpoint", w->directory.text, w->run.id);
    rung_buf_printf(&w->metrics_path, "%s/%s.metrics", w->directory.text, w->run.id);
    rung_buf_printf(&w->model, "%s/%s.safetensors", w->directory.text, w->run.id);
    if (w->checkpoint.failed || w->metrics_path.failed || w->model.failed)
        return rung_fail(w->err, RUNG_SYSTEM, "out of memory");
    sweep_directory(w->directory.text, is_half, w->run.id);
    return RUNG_OK;
}

static void remove_files(const worker *w)
{
    unlink(w->checkpoint.text);
    unlink(w->metrics_path.text);
    unlink(w->model.text);
}

static rung_status do_claimed(rung_lab_did *did, worker *w, rung_train_state *state, bool keep)
{
    rung_status status = name_files(w);
    RUNG_NEXT(status, train(w, state, keep ? w->model.text : NULL));
    if (status == RUNG_INPUT && state->diverged) status = RUNG_OK;
    RUNG_TRY(status);
    *did = state->finished || state->diverged ? RUNG_LAB_DONE : RUNG_LAB_STOPPED;
    if (*did == RUNG_LAB_STOPPED) return RUNG_OK;
    status =
        lab_record(did, w->store, &w->run, state, &w->metrics, keep && !state->diverged ? w->model.text : NULL, w->err);
    if (status == RUNG_OK) remove_files(w);
    return status;
}

static void close_worker(worker *w)
{
    if (w->file) fclose(w->file);
    free(w->metrics.row);
    rung_buf_clear(&w->directory);
    rung_buf_clear(&w->checkpoint);
    rung_buf_clear(&w->metrics_path);
    rung_buf_clear(&w->model);
    rung_sweep_run_clear(&w->run);
}

rung_status lab_do_run(rung_lab_did *did, rung_train_state *state, rung_store *store, const rung_sweep *sweep,
                       size_t index, size_t threads, lab_step *step, void *context, rung_error *err)
{
    worker w = {.store = store, .step = step, .context = context, .beat_s = rung_wall_s(), .err = err};
    rung_error ignored;
    *state = (rung_train_state){0};
    rung_status status = rung_sweep_run_init(&w.run, sweep, index, err);
    w.run.conf.threads = threads ? threads : 1;
    RUNG_NEXT(status, lab_lease(did, store, w.run.id, err));
    if (status == RUNG_OK && *did == RUNG_LAB_DONE) {
        status = do_claimed(did, &w, state, sweep->keep_models);
        if (status != RUNG_OK || *did == RUNG_LAB_STOPPED) (void)lab_lease_drop(store, w.run.id, &ignored);
        if (status != RUNG_OK)
            status = rung_fail_at(err, status, "run %.8s (arch %.60s)", w.run.id, w.run.conf.model.arch);
    }
    close_worker(&w);
    return status;
}
