/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Inside: making instances on several threads, and one instance as a record.
 */
#ifndef RUNG_DATASET_MAKER_H
#define RUNG_DATASET_MAKER_H

#include "rung/dataset.h"

/* One instance in the format of the job, without a line end. */
void dataset_record(rung_buf *out, const rung_dataset *job, const rung_instance *instance, uint64_t index);

/* The parallel loop: makes the instances and hands each to `use`. Different items may run at the same time;
 * use gets the item's place in the batch. */
typedef rung_status dataset_use(void *context, const rung_instance *instance, size_t item, rung_error *err);
typedef struct dataset_maker dataset_maker;
rung_status dataset_maker_new(dataset_maker **out, const rung_dataset *job, rung_error *err);
void dataset_maker_free(dataset_maker *maker);
/* Items [start, start + count) of the job; on failure the message of the lowest item. */
rung_status dataset_maker_batch(dataset_maker *maker, uint64_t start, size_t count, dataset_use *use, void *context,
                                rung_error *err);
/* Items that make a good batch: enough for all threads, not more than a few megabytes. */
size_t dataset_batch_size(const rung_dataset *job);
/* Fails when the job is to stop. */
rung_status dataset_interrupted(const rung_dataset *job, rung_error *err);

rung_status dataset_npz(const rung_dataset *job, rung_error *err);

#endif
