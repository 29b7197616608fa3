/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Several processes at one batch: each does some of the slices and adds up some of the parameters.
 */
#ifndef RUNG_TRAIN_SHARE_H
#define RUNG_TRAIN_SHARE_H

#include "rung/par.h"
#include "rung/train.h"

/* What a slice of the batch came to. */
typedef struct train_sum {
    double loss;
    size_t sequences, targets, right;
} train_sum;

typedef struct train_part {
    float *grad; /* [parameters] */
    train_sum sum;
} train_part;

typedef struct train_range {
    size_t first, end;
} train_range;

/* The part of `count` things that is this process's; all of them when team is NULL, as everywhere below. */
train_range train_share(const rung_team *team, size_t count);
/* After each has done its slices of part[RUNG_SLICES]: all have the sums of all slices, and of every slice's gradient the
 * parameters that they add up. parameters = 0: there are no gradients. */
void train_share_parts(const rung_team *team, train_part *part, size_t parameters);
/* After each has added up its parameters: all have the whole gradient. */
void train_share_gradient(const rung_team *team, float *grad, size_t parameters);
/* Whether all say yes. */
bool train_share_agrees(const rung_team *team, bool yes);
/* The status of the lowest rank that did not succeed; those that did have a message that names it. */
rung_status train_share_status(const rung_team *team, rung_status status, rung_error *err);
/* What rank 0 has, at all ranks. */
void train_share_first(const rung_team *team, void *bytes, size_t size);
/* RUNG_USAGE when another rank has other bytes. */
rung_status train_share_same(const rung_team *team, const char *what, const void *bytes, size_t size, rung_error *err);

#endif
