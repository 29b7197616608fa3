/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: the bytes of a foreign store: pages, schema and contents. Whatever they are, reading must end with
 * a status, what is read must be as lab.h says (ids, names, bytes with their digest), and merging must leave a store
 * that can be read.
 */
#include "rung/lab.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

static bool see_run(void *context, const rung_run_row *row)
{
    (void)context;
    require(rung_run_id_ok(row->id) && rung_text_is_plain(row->label, 4096) && rung_text_is_plain(row->host, 4096));
    require(row->keys[0] && rung_text_is_plain(row->arch, 4096));
    return true;
}

static bool see_metric(void *context, const rung_metric *metric)
{
    return (void)context, (void)metric, true;
}

static bool see_sweep(void *context, const rung_sweep_row *row)
{
    rung_store *store = context;
    rung_error err;
    require(rung_run_id_ok(row->id) && rung_text_is_plain(row->name, 4096));
    rung_store_runs(store, row->number, see_run, NULL, &err);
    return true;
}

static bool see_artefact(void *context, const rung_artefact *artefact)
{
    char hex[65];
    (void)context;
    rung_sha256_hex(hex, artefact->size ? artefact->bytes : "", artefact->size);
    require(strcmp(hex, artefact->sha256) == 0);
    return true;
}

static bool see_cell(void *context, const rung_probe_cell *cell)
{
    (void)context;
    require(cell->right <= cell->asked && rung_text_is_plain(cell->verdict, 4096));
    return true;
}

static bool see_answer(void *context, const rung_probe_answer *answer)
{
    return (void)context, strlen(answer->said) < SIZE_MAX;
}

static bool see_depth(void *context, const rung_probe_depth *depth)
{
    return (void)context, depth->keys[0] != '\0';
}

static bool see_probe(void *context, const rung_probe_row *row)
{
    rung_store *store = context;
    rung_error err;
    require(rung_run_id_ok(row->id) && rung_text_is_plain(row->model, 4096));
    rung_store_probe_cells(store, row->number, see_cell, NULL, &err);
    rung_store_probe_answers(store, row->number, see_answer, NULL, &err);
    rung_store_probe_depths(store, row->number, see_depth, NULL, &err);
    return true;
}

static bool read_all(const char *path)
{
    rung_store *store = NULL;
    rung_error err = {{0}};
    rung_status status = rung_store_open(&store, path, RUNG_STORE_READ, 0, &err);
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    if (status != RUNG_OK) return false;
    size_t count;
    rung_store_run_count(&count, store, &err);
    rung_store_runs(store, 0, see_run, NULL, &err);
    rung_store_metrics(store, 1, see_metric, NULL, &err);
    rung_store_sweeps(store, see_sweep, store, &err);
    rung_store_artefacts(store, 0, NULL, see_artefact, NULL, &err);
    rung_store_probes(store, see_probe, store, &err);
    rung_store_close(store);
    return true;
}

/* Merging takes nothing of it, or leaves a valid store. */
static void merge_it(const char *path)
{
    char target[] = "/dev/shm/rung-fuzz-XXXXXX", beside[64];
    int file = mkstemp(target);
    rung_store *store = NULL;
    rung_error err;
    size_t added = 0, same = 0;
    require(file >= 0);
    close(file);
    if (rung_store_open(&store, target, RUNG_STORE_WRITE, 0, &err) == RUNG_OK) {
        if (rung_store_merge(store, path, &added, &same, 0, &err) == RUNG_OK)
            require(rung_store_runs(store, 0, see_run, NULL, &err) == RUNG_OK);
        rung_store_close(store);
    }
    unlink(target);
    snprintf(beside, sizeof beside, "%s-wal", target), unlink(beside);
    snprintf(beside, sizeof beside, "%s-shm", target), unlink(beside);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/dev/shm/rung-fuzz-XXXXXX";
    int file = mkstemp(path);
    require(file >= 0);
    bool written = write(file, data, size) == (ssize_t)size;
    close(file);
    /* Merging takes thirty times as long as reading, so only a few inputs are merged. */
    if (written && read_all(path) && rung_hash64(data, size) % 32 == 0) merge_it(path);
    unlink(path);
    return 0;
}
