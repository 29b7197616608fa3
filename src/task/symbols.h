/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Members of rows that several tasks over plain symbols share. Private to the module.
 */
#ifndef RUNG_TASK_SYMBOLS_H
#define RUNG_TASK_SYMBOLS_H

#include "rung/task.h"

/* Draws conf->tokens independent uniform ids of the vocabulary. */
rung_status rung_symbols_generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err);
/* For tasks whose first ids are the answers: such a token votes for itself. */
int32_t rung_symbols_vote(const rung_task_conf *conf, uint32_t token);
/* Write answers as "s7" and as "v7". */
void rung_symbols_answer_word(rung_buf *out, const rung_task_conf *conf, int32_t answer);
void rung_symbols_value_word(rung_buf *out, const rung_task_conf *conf, int32_t answer);

#endif
