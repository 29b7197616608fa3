/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The last test by the exact evaluator: every operation rounded to a format, from left to right.
 */
#ifndef RUNG_TRAIN_EXACT_H
#define RUNG_TRAIN_EXACT_H

#include "rung/train.h"

typedef struct train_exact train_exact;

/* Takes the weights as they are now, in the format, for batches of the shape of `batch`. Slices of a batch are shared by the
 * ranks of the team (NULL: alone). */
rung_status train_exact_new(train_exact **out, const rung_net *net, const rung_fmt *numbers, const rung_batch *batch,
                            size_t threads, const rung_team *team, rung_error *err);
void train_exact_free(train_exact *exact);
/* Batches of this shape that take no more multiplications than a test may, at least one. */
uint64_t train_exact_batches(const rung_net *net, const rung_batch *batch);
/* Answers to all questions of the batch; the loss is the mean over all targets. A question at which the evaluator meets no
 * number is wrong, and has no loss. */
rung_status train_exact_loss(rung_loss *loss, train_exact *exact, const rung_batch *batch, rung_error *err);

#endif
