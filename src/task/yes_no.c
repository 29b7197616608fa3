/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Tasks that ask one question; see yes_no.h.
 */
#include "yes_no.h"

void rung_task_yes_no(rung_task_conf *conf)
{
    conf->answers = 2;
    conf->chance = 0.5;
    conf->majority = 0.5;
}

void rung_task_yes_no_word(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    (void)conf;
    rung_buf_puts(out, answer ? "yes" : "no");
}

void rung_task_answer_last(rung_instance *instance, int32_t answer)
{
    for (size_t t = 0; t < instance->tokens; t++) instance->target[t] = RUNG_NO_TARGET;
    instance->target[instance->tokens - 1] = answer;
}
