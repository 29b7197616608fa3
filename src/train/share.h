/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to train: several processes work on one batch. Each does some of the slices.
 */
#ifndef RUNG_TRAIN_SHARE_H
#define RUNG_TRAIN_SHARE_H

#include "rung/par.h"
#include "rung/train.h"

/* The result of one slice. */
typedef struct train_sum {
    double loss;
    size_t sequences, targets, right;
} train_sum;

/* The auxiliary loss of one layer in a slice: the sum of its cross-entropies. */
typedef struct train_layer_sum {
    double loss;
    size_t targets, right;
} train_layer_sum;

typedef struct train_part {
    float *grad; /* [parameters] */
    train_sum sum;
    train_layer_sum *layer; /* [layers] */
    size_t layers;
} train_part;

typedef struct train_range {
    size_t first, end;
} train_range;

/* The share of this process among `count` items; all of them if team is NULL, as everywhere below. */
train_range train_share(const rung_team *team, size_t count);
/* Call it when each rank has done its slices of part[RUNG_SLICES]. Afterwards all ranks have the sums of all slices. */
void train_share_parts(const rung_team *team, train_part *part);
/* Adds the gradients of this rank's slices to what the slices before them have left of these parameters. The rank of
 * the first slice begins with zeros. */
typedef void train_add_slices(void *context, train_range parameters);
/* Call it when each rank has done its slices. Afterwards all ranks have the whole gradient. */
void train_share_gradient(const rung_team *team, float *grad, size_t parameters, train_add_slices *add, void *context);
/* True if all ranks pass true. */
bool train_share_agrees(const rung_team *team, bool yes);
/* Returns the status of the lowest rank that failed. Ranks that did not fail get a message that names it. */
rung_status train_share_status(const rung_team *team, rung_status status, rung_error *err);
/* Copies the bytes of rank 0 to all ranks. */
void train_share_first(const rung_team *team, void *bytes, size_t size);
/* RUNG_USAGE if another rank has other bytes. */
rung_status train_share_same(const rung_team *team, const char *what, const void *bytes, size_t size, rung_error *err);

#endif
