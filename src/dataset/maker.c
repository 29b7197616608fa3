/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Making many instances on several threads. Each worker has an instance of its own; each item has its own
 * status, so that the failure that is reported does not depend on who was faster.
 */
#include <stdlib.h>

#include "maker.h"
#include "rung/par.h"

#define BATCH_TOKENS ((size_t)1 << 20) /* about ten megabytes of text */
#define BATCH_ITEMS  ((size_t)4096)

struct dataset_maker {
    const rung_dataset *job;
    size_t threads;
    rung_instance *instance; /* [threads] */
    struct failure {
        rung_status status; /* RUNG_OK: none yet */
        size_t item;
        rung_error error;
    } * failure; /* [threads]: the first of each worker, which then does nothing more */
    /* of the running batch */
    uint64_t start;
    dataset_use *use;
    void *context;
};

size_t dataset_batch_size(const rung_dataset *job)
{
    size_t items = BATCH_TOKENS / (job->conf.tokens ? job->conf.tokens : 1);
    if (items > BATCH_ITEMS) items = BATCH_ITEMS;
    if (items < job->threads) items = job->threads;
    return items > job->count ? (size_t)job->count : items;
}

void dataset_maker_free(dataset_maker *maker)
{
    if (!maker) return;
    for (size_t i = 0; maker->instance && i < maker->threads; i++) rung_instance_clear(&maker->instance[i]);
    free(maker->instance);
    free(maker->failure);
    free(maker);
}

rung_status dataset_maker_new(dataset_maker **out, const rung_dataset *job, rung_error *err)
{
    dataset_maker *maker = rung_calloc(1, sizeof *maker, err);
    if (!maker) return RUNG_SYSTEM;
    maker->job = job;
    maker->instance = rung_calloc(job->threads, sizeof *maker->instance, err);
    maker->failure = rung_calloc(job->threads, sizeof *maker->failure, err);
    rung_status status = maker->instance && maker->failure ? RUNG_OK : RUNG_SYSTEM;
    for (; !status && maker->threads < job->threads; maker->threads++)
        status = rung_instance_init(&maker->instance[maker->threads], &job->conf, err);
    if (status) {
        dataset_maker_free(maker);
        return status;
    }
    *out = maker;
    return RUNG_OK;
}

static void make_item(void *context, size_t item, size_t worker)
{
    dataset_maker *maker = context;
    const rung_dataset *job = maker->job;
    rung_instance *instance = &maker->instance[worker];
    struct failure *failure = &maker->failure[worker];
    if (failure->status) return;
    failure->item = item;
    failure->status =
        rung_task_make(instance, &job->conf, job->seed, job->first + maker->start + item, &failure->error);
    if (!failure->status) failure->status = maker->use(maker->context, instance, item, &failure->error);
}

/* Workers take items in rising order, so the lowest item that fails is the first failure of its worker. */
static rung_status lowest_failure(const dataset_maker *maker, rung_error *err)
{
    const struct failure *lowest = NULL;
    for (size_t i = 0; i < maker->threads; i++) {
        const struct failure *one = &maker->failure[i];
        if (one->status && (!lowest || one->item < lowest->item)) lowest = one;
    }
    if (!lowest) return RUNG_OK;
    *err = lowest->error;
    return lowest->status;
}

rung_status dataset_maker_batch(dataset_maker *maker, uint64_t start, size_t count, dataset_use *use, void *context,
                                rung_error *err)
{
    maker->start = start;
    maker->use = use;
    maker->context = context;
    rung_par_for(count, maker->threads, make_item, maker);
    return lowest_failure(maker, err);
}

rung_status dataset_interrupted(const rung_dataset *job, rung_error *err)
{
    if (!job->interrupted || !job->interrupted()) return RUNG_OK;
    return rung_fail(err, RUNG_SYSTEM, "interrupted");
}
