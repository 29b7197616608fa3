/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * parity: N random bits; is the number of ones even or odd? One bit of state suffices for a recurrence that
 * can flip a sign; a linear one of finite precision whose transitions have eigenvalues in [0, 1] only fails
 * at some length.
 */
#include "common.h"
#include "halves.h"
#include "symbols.h"
#include "task_rows.h"
#include "text_form.h"

static const char *const target_names[] = {"all", "last", NULL};

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 32, 1, 1 << 24, NULL, "bits"},
    {"targets", RUNG_PARAM_CHOICE, 1, 0, 0, target_names, "ask after every bit, or after the last"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    (void)err;
    conf->tokens = (size_t)rung_task_param(conf, "N");
    conf->vocab = 2;
    rung_task_yes_no(conf);
    return RUNG_OK;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    uint32_t bit, parity = 0;
    bool all = rung_task_param(conf, "targets") == 0;
    rung_status status = rung_task_expect_tokens(instance, conf, conf->tokens, err);
    for (size_t t = 0; t < conf->tokens && status == RUNG_OK; t++) {
        status = rung_task_expect_token(&bit, instance, conf, t, 0, 2, "a bit", err);
        if (status == RUNG_OK) instance->target[t] = (int32_t)(parity ^= bit);
    }
    if (status == RUNG_OK && !all) rung_task_answer_last(instance, (int32_t)parity);
    return status;
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    (void)conf;
    rung_buf_printf(out, "%u", token);
}

static void answer_word(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    (void)conf;
    rung_buf_puts(out, answer ? "odd" : "even");
}

const rung_task rung_task_parity = {
    .name = "parity",
    .summary = "bits: is the number of ones odd?",
    .source = "Hahn 2020; Grazzi et al. 2025 (eigenvalues below zero)",
    .params = params,
    .resolve = resolve,
    .generate = rung_symbols_generate,
    .solve = solve,
    .token_word = token_word,
    .answer_word = answer_word,
    RUNG_TASK_IDS(rung_task_any_id),
    .text = &rung_text_parity,
};
