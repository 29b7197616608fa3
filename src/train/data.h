/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to train: batches of a run, a pure function of (conf, stream, index).
 */
#ifndef RUNG_TRAIN_DATA_H
#define RUNG_TRAIN_DATA_H

#include "rung/train.h"

typedef struct train_data train_data;

/* Makes space for `prompts` prompts in the shape that the network needs: with shared prefixes if it can fork, else with
 * repeated ones. */
rung_status train_data_new(train_data **out, const rung_train_spec *conf, const rung_net *net, size_t prompts,
                           rung_error *err);
void train_data_free(train_data *data);

/* Sources of prompts. Training, evaluation and test have different seeds, so their prompts are independent. */
typedef enum train_stream { TRAIN_STREAM_LEARN = 1, TRAIN_STREAM_EVAL, TRAIN_STREAM_TEST } train_stream;

/* Fills in prompts first, first+1, ... of the stream. mixed: with the configuration's shares of simple prompts. */
rung_status train_data_fill(train_data *data, train_stream stream, uint64_t first, bool mixed, rung_error *err);
const rung_batch *train_data_batch(const train_data *data);
size_t train_data_tokens(const train_data *data); /* in the whole batch */
/* From now on questions of the learning stream ask about this share of the tables, their first entries. 1: about all. */
void train_data_grow(train_data *data, double grown);
/* Number of classes of the auxiliary losses; 0 if there are none. */
size_t train_data_classes(const rung_train_spec *conf);

/* ---- simpler prompts (simple_prompts.c) ------------------------------------------------------------------------------- */

/* RUNG_USAGE for tasks whose values cannot be told from other tokens. values: the ids of values, if they are needed. */
rung_status train_few_check(rung_ids *values, const rung_task_conf *task, rung_error *err);
/* Gives the tables of the prompt few distinct values; at: scratch, [tokens]. The caller solves it again. */
void train_few_values(rung_instance *instance, size_t *at, rung_ids values, const rung_task_conf *task, rung_rng *rng);
/* percom: with few values sigma is no permutation, so the answers are read off it here. False for other tasks, whose
 * oracle takes such prompts. */
bool train_few_answers(rung_instance *instance, const rung_task_conf *task);
/* two-sum: asks for a number that has a partner, which a uniform question in a prompt of few values rarely does. False
 * for other tasks. */
bool train_draw_partner(rung_instance *instance, const rung_task_conf *task, rung_rng *rng);
/* The first entries that a share of `count` makes: at least 1. */
size_t train_grown(size_t count, double grown);

/* ---- composition (seqcomp_training.c) ------------------------------------------------------------------------------------- */

bool train_is_seqcomp(const rung_task_conf *task);
/* RUNG_USAGE for forms of the task that mixes and auxiliary losses do not support. */
rung_status train_seqcomp_check(const rung_task_conf *task, const char *what, rung_error *err);
size_t train_seqcomp_widest(const rung_task_conf *task);
/* Makes z_2, z_3, ... of a prompt independent of w, or of their argument. */
void train_seqcomp_simplify(uint32_t *token, const rung_task_conf *task, bool of_w);
/* The tokens of z_l in the prompt. */
void train_seqcomp_table(size_t *first, size_t *count, const rung_task_conf *task, size_t l);
/* Makes the values of z_1, ..., z_{L-1} arguments of the first entries of the next table. */
void train_seqcomp_shrink(uint32_t *token, const rung_task_conf *task, double grown);
/* Computes i_0, ..., i_L of a prompt; returns L. */
size_t train_seqcomp_chain(int32_t *chain, const uint32_t *token, const rung_task_conf *task);
/* The l of the i_l that pass 0, 1, ... states, with this number of thought tokens. Pass `thoughts` states the answer,
 * i_L. */
size_t train_seqcomp_said(const rung_task_conf *task, size_t thoughts, size_t pass);
/* The number of different thought tokens in all passes together; SIZE_MAX if it overflows. */
size_t train_seqcomp_thoughts(const rung_task_conf *task, size_t thoughts);
/* The thought tokens after a prompt: number[thoughts]. */
void train_seqcomp_add_thoughts(size_t *number, const uint32_t *token, const rung_task_conf *task, size_t thoughts);

#endif
