/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Writes a model in memory to a file.
 */
#include "rung/witness.h"

#include <stdlib.h>

typedef struct listing {
    const rung_model *model;
    rung_tensor *tensor;
    size_t count, capacity;
} listing;

static rung_status list_tensor(void *context, const char *name, const size_t *shape, size_t rank, bool optional,
                               rung_error *err)
{
    listing *l = context;
    const rung_tensor *t = rung_model_tensor(l->model, name);
    (void)shape, (void)rank, (void)optional; /* the model was opened, so all that it needs is there */
    if (!t) return RUNG_OK;
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 64;
        rung_tensor *grown = realloc(l->tensor, capacity * sizeof *grown);
        if (!grown) return rung_fail(err, RUNG_SYSTEM, "out of memory for %zu tensors", capacity);
        l->tensor = grown, l->capacity = capacity;
    }
    l->tensor[l->count++] = *t;
    return RUNG_OK;
}

rung_status rung_witness_write(const rung_witness *w, const char *path, rung_error *err)
{
    listing l = {.model = w->model};
    if (!w->model) return rung_fail(err, RUNG_USAGE, "there are no weights to write");
    const rung_model_spec *spec = rung_model_get_spec(w->model);
    rung_status status = rung_model_each_tensor(spec, list_tensor, &l, err);
    RUNG_NEXT(status, rung_model_write(path, spec, l.tensor, l.count, rung_model_made_by(w->model), err));
    free(l.tensor);
    return status;
}
