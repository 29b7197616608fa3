/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Batches of a run: a pure function of (conf, stream, index).
 */
#ifndef RUNG_TRAIN_DATA_H
#define RUNG_TRAIN_DATA_H

#include "rung/train.h"

typedef struct train_data train_data;

/* Room for `prompts` prompts, shaped for the network: shared prefixes where it can fork, repeated ones where not. */
rung_status train_data_new(train_data **out, const rung_train_conf *conf, const rung_net *net, size_t prompts,
                           rung_error *err);
void train_data_free(train_data *data);

/* Where prompts come from: training, evaluation and test never meet, because their seeds differ. */
typedef enum train_stream { TRAIN_STREAM_LEARN = 1, TRAIN_STREAM_EVAL, TRAIN_STREAM_TEST } train_stream;

/* Prompts first, first+1, ... of the stream. mixed: with the shares of simple prompts of the configuration. */
rung_status train_data_fill(train_data *data, train_stream stream, uint64_t first, bool mixed, rung_error *err);
const rung_batch *train_data_batch(const train_data *data);
size_t train_data_tokens(const train_data *data); /* of the whole batch */
/* Classes of what layers are told; 0 when they are told nothing. */
size_t train_data_classes(const rung_train_conf *conf);

/* ---- composition (compose.c) ------------------------------------------------------------------------------------------ */

bool train_is_seqcomp(const rung_task_conf *task);
/* RUNG_USAGE for the forms that mixes and layer targets do not know. */
rung_status train_seqcomp_check(const rung_task_conf *task, const char *what, rung_error *err);
size_t train_seqcomp_widest(const rung_task_conf *task);
/* Makes z_2, z_3, ... of a prompt independent of w, or of their argument. */
void train_seqcomp_simplify(uint32_t *token, const rung_task_conf *task, bool of_w);
/* i_0, ..., i_L of a prompt; returns L. */
size_t train_seqcomp_chain(int32_t *chain, const uint32_t *token, const rung_task_conf *task);
/* Which i_l pass 0, 1, ... says, of so many thoughts; pass `thoughts` says the answer, i_L. */
size_t train_seqcomp_said(const rung_task_conf *task, size_t thoughts, size_t pass);
/* How many different thoughts there are, all passes together; SIZE_MAX for more than fit. */
size_t train_seqcomp_thoughts(const rung_task_conf *task, size_t thoughts);
/* Which of them the passes say after a prompt: number[thoughts]. */
void train_seqcomp_think(size_t *number, const uint32_t *token, const rung_task_conf *task, size_t thoughts);

#endif
