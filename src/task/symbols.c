/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Members of rows that several tasks over plain symbols share; see symbols.h.
 */
#include "symbols.h"

rung_status rung_symbols_generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    (void)err;
    for (size_t t = 0; t < conf->tokens; t++) instance->token[t] = (uint32_t)rung_rng_below(rng, conf->vocab);
    instance->tokens = conf->tokens;
    return RUNG_OK;
}

int32_t rung_symbols_vote(const rung_task_conf *conf, uint32_t token)
{
    return token < conf->answers ? (int32_t)token : RUNG_NO_TARGET;
}

void rung_symbols_answer_word(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    (void)conf;
    rung_buf_printf(out, "s%d", (int)answer);
}

void rung_symbols_value_word(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    (void)conf;
    rung_buf_printf(out, "v%d", (int)answer);
}
