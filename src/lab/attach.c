/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Finds the run of a model in a store, and puts a certificate beside it.
 */
#include <string.h>

#include "rung/lab.h"

typedef struct search {
    const char *sha256;
    int64_t number;
    size_t models;
    char id[RUNG_RUN_ID];
} search;

static bool match_model(void *context, const rung_artefact *a)
{
    search *s = context;
    if (strcmp(a->kind, "model") != 0) return true;
    s->models++;
    if (strcmp(a->sha256, s->sha256) != 0) return true;
    s->number = a->run;
    return false;
}

static bool match_number(void *context, const rung_run_row *row)
{
    search *s = context;
    if (row->number != s->number) return true;
    snprintf(s->id, sizeof s->id, "%s", row->id);
    return false;
}

static rung_status find_run(search *s, rung_store *store, rung_error *err)
{
    rung_status status = rung_store_artefacts(store, 0, "model", match_model, s, err);
    if (status == RUNG_OK && !s->number)
        return rung_fail(err, RUNG_INPUT, "%s: none of its %zu models is this one%s", rung_store_path(store), s->models,
                         s->models ? "" : "; a spec with \"keep-models\": true keeps them");
    RUNG_TRY(status);
    return rung_store_runs(store, 0, match_number, s, err);
}

static rung_status attach_file(rung_store *store, const char *id, const char *path, rung_error *err)
{
    rung_file_map file;
    const char *slash = strrchr(path, '/');
    RUNG_TRY(rung_file_open_map(&file, path, err));
    rung_artefact a = {.kind = "certificate", .name = slash ? slash + 1 : path, .bytes = file.bytes, .size = file.size};
    rung_status status = rung_store_attach(store, id, &a, err);
    rung_file_close_map(&file);
    return status;
}

rung_status rung_store_attach_certificate(const char *store, const char *sha256, const char *path, rung_error *err)
{
    enum { WAIT = 60 }; /* seconds, as the commands that read stores */
    rung_store *open;
    search s = {.sha256 = sha256};
    RUNG_TRY(rung_store_open(&open, store, RUNG_STORE_WRITE, WAIT, err));
    rung_status status = find_run(&s, open, err);
    RUNG_NEXT(status, attach_file(open, s.id, path, err));
    rung_store_close(open);
    return status;
}
