/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to train: the last test by the exact evaluator, which rounds every operation to a format and adds from left
 * to right.
 */
#ifndef RUNG_TRAIN_EXACT_H
#define RUNG_TRAIN_EXACT_H

#include "rung/train.h"

typedef struct train_exact train_exact;

/* Takes the present weights, rounded to the format, for batches of the shape of `batch`. The ranks of the team share
 * the slices of a batch (NULL: alone). */
rung_status train_exact_new(train_exact **out, const rung_net *net, const rung_fmt *numbers, const rung_batch *batch,
                            size_t threads, const rung_team *team, rung_error *err);
void train_exact_free(train_exact *exact);
/* Largest number of batches of this shape within the limit of multiplications; at least 1. */
uint64_t train_exact_batches(const rung_net *net, const rung_batch *batch);
/* Answers all questions of the batch. The loss is the mean over all targets. A question at which the evaluator meets a
 * NaN is wrong and has no loss. */
rung_status train_exact_loss(rung_loss *loss, train_exact *exact, const rung_batch *batch, rung_error *err);

#endif
