/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Tasks that ask one question, most of them with the answers no and yes. Private to the module.
 */
#ifndef RUNG_TASK_YES_NO_H
#define RUNG_TASK_YES_NO_H

#include "rung/task.h"

/* A yes-or-no task whose generator tosses a fair coin first: two answers, both levels 1/2. */
void rung_task_yes_no(rung_task_conf *conf);
/* "no" and "yes". */
void rung_task_yes_no_word(rung_buf *out, const rung_task_conf *conf, int32_t answer);
/* No target anywhere but at the last token. */
void rung_task_answer_last(rung_instance *instance, int32_t answer);

#endif
