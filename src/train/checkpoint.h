/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to train: the state of a run between two steps, as a file.
 */
#ifndef RUNG_TRAIN_CHECKPOINT_H
#define RUNG_TRAIN_CHECKPOINT_H

#include "rung/train.h"

typedef struct train_progress {
    uint64_t step;
    uint64_t streak; /* consecutive evaluations that reached stop_at */
    double loss, accuracy, eval_loss, eval_accuracy;
    bool stopped_early;
    size_t layer_means; /* the reader knows it beforehand */
    double *layer_mean; /* [layer_means]: means of the auxiliary losses */
} train_progress;

/* values, m and v have [parameters] numbers each. */
rung_status train_checkpoint_write(const char *path, const char *canonical, const train_progress *progress,
                                   const float *values, const float *m, const float *v, size_t parameters,
                                   rung_error *err);
/* Fills in everything. *found = false if there is no such file. RUNG_USAGE if it belongs to another run. */
rung_status train_checkpoint_read(bool *found, train_progress *progress, float *values, float *m, float *v,
                                  const char *path, const char *canonical, uint64_t steps, size_t parameters,
                                  rung_error *err);

#endif
