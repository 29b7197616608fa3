/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * percom: two permutations of [N], sigma(0) .. sigma(N-1) and then tau(0) .. tau(N-1), one token each; the answer at the
 * token tau(i) is sigma(tau(i)), so the answers are the composition (PerCom of Ye et al. 2026). A recurrence must carry
 * sigma past its end, log2 N! bits, because the identity for tau asks for every entry of it.
 */
#include <stdlib.h>

#include "common.h"
#include "task_rows.h"

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 16, 1, (int64_t)RUNG_TASK_VOCAB_MAX / 2, NULL, "N, numbers that are permuted"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

/* Ids: [0, N) an entry of sigma, [N, 2N) one of tau. */
static size_t size_of(const rung_task_conf *conf)
{
    return conf->answers;
}

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    size_t n = (size_t)rung_task_param(conf, "N");
    conf->tokens = conf->vocab = 2 * n;
    conf->answers = n;
    conf->chance = 1 / (double)n;
    /* sigma has every value once, and without tau any of them may be asked for */
    conf->majority = conf->chance;
    return rung_task_check_limits(conf, "N", err);
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    (void)err;
    size_t n = size_of(conf);
    for (size_t i = 0; i < 2 * n; i++) instance->token[i] = (uint32_t)i;
    rung_rng_shuffle(rng, instance->token, n);
    rung_rng_shuffle(rng, instance->token + n, n);
    instance->tokens = 2 * n;
    return RUNG_OK;
}

/* N tokens from `from` on are the ids first .. first+N-1, each once. */
static rung_status expect_permutation(const rung_instance *instance, const rung_task_conf *conf, size_t from,
                                      size_t first, const char *name, rung_error *err)
{
    size_t n = size_of(conf);
    char what[32];
    bool *met = rung_calloc(n, sizeof *met, err);
    if (!met) return RUNG_SYSTEM;
    snprintf(what, sizeof what, "an entry of %s", name);
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < n && status == RUNG_OK; i++) {
        uint32_t value = 0;
        status = rung_task_expect_token(&value, instance, conf, from + i, first, n, what, err);
        if (status == RUNG_OK && met[value])
            status = rung_fail(err, RUNG_INPUT, "task percom: position %zu repeats %u, and %s is a permutation",
                               from + i, value, name);
        met[value] = true;
    }
    free(met);
    return status;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    size_t n = size_of(conf);
    RUNG_TRY(rung_task_expect_tokens(instance, conf, 2 * n, err));
    RUNG_TRY(expect_permutation(instance, conf, 0, 0, "sigma", err));
    RUNG_TRY(expect_permutation(instance, conf, n, n, "tau", err));
    const uint32_t *sigma = instance->token, *tau = sigma + n;
    for (size_t i = 0; i < n; i++) {
        instance->target[i] = RUNG_NO_TARGET;
        instance->target[n + i] = (int32_t)sigma[tau[i] - n];
    }
    return RUNG_OK;
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    rung_task_players_two(instance, size_of(conf), "sigma", "tau");
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    size_t n = size_of(conf);
    rung_buf_printf(out, "%c%zu", token < n ? 's' : 't', token % n);
}

static uint32_t token_read(const rung_task_conf *conf, const char *word, size_t len)
{
    size_t number;
    rung_task_word_numbers(&number, 1, word, len);
    return (uint32_t)(word[0] == 't' ? size_of(conf) + number : number);
}

static void answer_word(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    (void)conf;
    rung_buf_printf(out, "s%d", (int)answer);
}

static int32_t vote(const rung_task_conf *conf, uint32_t token)
{
    return token < size_of(conf) ? (int32_t)token : RUNG_NO_TARGET;
}

static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    size_t n = size_of(conf);
    return (rung_ids){pos < n ? 0 : n, n};
}

const rung_task rung_task_percom = {
    .name = "percom",
    .summary = "compose two permutations: sigma, then tau; the answer at tau(i) is sigma(tau(i))",
    .source = "PerCom of Ye et al. 2026 (Definition A.2)",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = answer_word,
    .vote = vote,
    .token_read = token_read,
    RUNG_TASK_IDS(ids),
};
