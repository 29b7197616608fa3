/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Instances as an npz archive in the manner of zoology: inputs [count, T] and labels [count, T] of int64, the
 * label -100 where nothing is asked (what the cross entropy of PyTorch ignores). Prompts that are shorter
 * than T are filled with token 0 and label -100; lengths [count] says how long they are. Tasks over vectors
 * have float32 inputs [count, T, d_in], and vector targets have labels [count, T, d_out] with a mask [count,
 * T] of int64 beside them.
 */
#include <stdlib.h>
#include <string.h>

#include "maker.h"
#include "rung/io.h"

#define IGNORED_LABEL (-100)
#define ARRAYS_MAX    4

typedef struct arrays {
    const rung_dataset *job;
    int64_t *tokens, *labels, *lengths, *mask;
    float *features, *values;
    uint64_t start; /* of the batch */
    rung_tensor tensor[ARRAYS_MAX];
    size_t count;
} arrays;

/* A zeroed array [count, inner...] that becomes a member of the archive; NULL when it does not fit into
 * memory. */
static void *add_array(arrays *all, const char *name, rung_dtype dtype, const size_t *inner, size_t inner_rank,
                       rung_error *err)
{
    rung_tensor *tensor = &all->tensor[all->count];
    *tensor = (rung_tensor){.name = name, .dtype = dtype, .dtype_name = rung_dtype_name(dtype), .rank = 1 + inner_rank};
    tensor->shape[0] = (size_t)all->job->count;
    tensor->elements = tensor->shape[0];
    bool fits = all->job->count <= SIZE_MAX;
    for (size_t i = 0; i < inner_rank; i++) {
        tensor->shape[1 + i] = inner[i];
        fits = fits && rung_size_mul(&tensor->elements, tensor->elements, inner[i]);
    }
    fits = fits && rung_size_mul(&tensor->size_bytes, tensor->elements, rung_dtype_bytes(dtype));
    if (!fits) {
        rung_fail(err, RUNG_USAGE, "%llu instances do not fit into memory; lower --count",
                  (unsigned long long)all->job->count);
        return NULL;
    }
    void *bytes = rung_calloc(tensor->elements, rung_dtype_bytes(dtype), err);
    tensor->bytes = bytes;
    all->count += bytes != NULL;
    return bytes;
}

static rung_status make_arrays(arrays *all, rung_error *err)
{
    const rung_task_conf *conf = &all->job->conf;
    const size_t in[2] = {conf->tokens, conf->d_in}, out[2] = {conf->tokens, conf->d_out};
    bool ok = true;
    if (conf->vocab)
        ok = (all->tokens = add_array(all, "inputs", RUNG_I64, in, 1, err)) != NULL;
    else
        ok = (all->features = add_array(all, "inputs", RUNG_F32, in, 2, err)) != NULL;
    if (conf->answers)
        ok = ok && (all->labels = add_array(all, "labels", RUNG_I64, out, 1, err)) != NULL;
    else
        ok = ok && (all->values = add_array(all, "labels", RUNG_F32, out, 2, err)) != NULL &&
             (all->mask = add_array(all, "mask", RUNG_I64, out, 1, err)) != NULL;
    ok = ok && (all->lengths = add_array(all, "lengths", RUNG_I64, NULL, 0, err)) != NULL;
    return ok ? RUNG_OK : RUNG_SYSTEM;
}

static void fill_input(arrays *all, const rung_instance *instance, size_t row)
{
    const size_t T = all->job->conf.tokens, d_in = all->job->conf.d_in;
    for (size_t t = 0; all->tokens && t < instance->tokens; t++) all->tokens[row * T + t] = instance->token[t];
    if (all->features)
        memcpy(all->features + row * T * d_in, instance->feature, instance->tokens * d_in * sizeof(float));
}

static void fill_labels(arrays *all, const rung_instance *instance, size_t row)
{
    const size_t T = all->job->conf.tokens, d_out = all->job->conf.d_out;
    for (size_t t = 0; t < T; t++) {
        const bool asked = t < instance->tokens && instance->target[t] != RUNG_NO_TARGET;
        if (all->labels) all->labels[row * T + t] = asked ? instance->target[t] : IGNORED_LABEL;
        if (!all->values) continue;
        all->mask[row * T + t] = asked;
        if (asked)
            memcpy(all->values + (row * T + t) * d_out, instance->target_value + t * d_out, d_out * sizeof(float));
    }
}

static rung_status fill_item(void *context, const rung_instance *instance, size_t item, rung_error *err)
{
    (void)err;
    arrays *all = context;
    const size_t row = (size_t)all->start + item;
    fill_input(all, instance, row);
    fill_labels(all, instance, row);
    all->lengths[row] = (int64_t)instance->tokens;
    return RUNG_OK;
}

static rung_status fill_arrays(arrays *all, dataset_maker *maker, rung_error *err)
{
    const uint64_t total = all->job->count;
    const size_t batch = dataset_batch_size(all->job);
    rung_status status = RUNG_OK;
    for (all->start = 0; !status && all->start < total; all->start += batch) {
        const size_t count = total - all->start < batch ? (size_t)(total - all->start) : batch;
        status = dataset_interrupted(all->job, err);
        RUNG_NEXT(status, dataset_maker_batch(maker, all->start, count, fill_item, all, err));
        if (all->job->progress) rung_progress_tick(all->job->progress, all->start + count);
    }
    return status;
}

rung_status dataset_npz(const rung_dataset *job, rung_error *err)
{
    arrays all = {.job = job};
    dataset_maker *maker = NULL;
    rung_status status = make_arrays(&all, err);
    RUNG_NEXT(status, dataset_maker_new(&maker, job, err));
    RUNG_NEXT(status, fill_arrays(&all, maker, err));
    RUNG_NEXT(status, rung_npz_write(job->out, all.tensor, all.count, err));
    dataset_maker_free(maker);
    for (size_t i = 0; i < all.count; i++) free((void *)all.tensor[i].bytes);
    return status;
}
