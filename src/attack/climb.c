/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Hill climbing: tests random prompts first. Then, from random starts, it changes one token after another and keeps a
 * change if the margin of the right answer (its read-out minus the largest other one) does not grow. A wrong answer has
 * a margin of at most 0.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attack_rows.h"
#include "attempts.h"
#include "certify.h"

/* The first attempts test random prompts and do not climb. */
enum { RANDOM_ATTEMPTS = 8, PROMPTS_PER_ATTEMPT = 16, STEPS_BASE = 200, STEPS_PER_TOKEN = 8 };

static double margin(const runner *h, int32_t right)
{
    size_t answers = rung_model_get_spec(h->attacked->model)->answers;
    double best = -HUGE_VAL;
    for (size_t i = 0; i < answers; i++)
        if ((int32_t)i != right && h->out[i] > best) best = h->out[i];
    return h->out[right] - best;
}

/* *wrong: the model gives another answer. *level: its margin; infinite if it gives none. */
static rung_status test(runner *h, bool *wrong, double *level, const uint32_t *token, rung_error *err)
{
    int32_t given, right;
    rung_status status = rung_runner_answer(h, &given, &right, token, err);
    *wrong = status == RUNG_OK && given != RUNG_NO_TARGET && given != right;
    *level = status == RUNG_OK && given != RUNG_NO_TARGET ? margin(h, right) : HUGE_VAL;
    return status;
}

/* Changes one token. False if the result is no prompt. *pos and *old undo it. */
static bool mutate(runner *h, uint32_t *token, size_t *pos, uint32_t *old, rung_rng *rng)
{
    *pos = (size_t)rung_rng_below(rng, h->tokens);
    rung_ids ids = h->attacked->task->task->ids(h->attacked->task, *pos);
    *old = token[*pos];
    token[*pos] = (uint32_t)(ids.first + rung_rng_below(rng, ids.count));
    if (token[*pos] != *old && rung_runner_oracle(h, token) != RUNG_NO_TARGET) return true;
    token[*pos] = *old;
    return false;
}

static rung_status climb(const attempts *c, runner *h, bool *wrong, uint32_t *token, double level, rung_rng *rng,
                         rung_error *err)
{
    size_t steps = STEPS_BASE + STEPS_PER_TOKEN * h->tokens, pos;
    uint32_t old;
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < steps && !*wrong && status == RUNG_OK && rung_budget_left(c->budget, c->began) > 0; i++) {
        double next;
        if (!mutate(h, token, &pos, &old, rng)) continue;
        status = test(h, wrong, &next, token, err);
        if (next <= level)
            level = next;
        else
            token[pos] = old;
    }
    return status;
}

/* Searches a wrongly answered prompt; if *wrong, it is in token. */
static rung_status seek(const attempts *c, runner *h, bool *wrong, uint32_t *token, uint64_t index, rung_error *err)
{
    bool climbs = index >= RANDOM_ATTEMPTS;
    size_t prompts = climbs ? 1 : PROMPTS_PER_ATTEMPT;
    rung_rng rng;
    rung_rng_init(&rng, c->budget->seed, 0xc11b, index);
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < prompts && !*wrong && status == RUNG_OK && rung_budget_left(c->budget, c->began) > 0; i++) {
        double level;
        if (!rung_runner_draw(h, token, c->budget->seed, index * PROMPTS_PER_ATTEMPT + i)) continue;
        if (rung_runner_oracle(h, token) == RUNG_NO_TARGET) continue;
        status = test(h, wrong, &level, token, err);
        if (climbs && !*wrong && status == RUNG_OK) status = climb(c, h, wrong, token, level, &rng, err);
    }
    return status;
}

static rung_status attempt(const attempts *c, runner *h, rung_cert *cert, bool *found, uint64_t index, char *how,
                           size_t size, rung_error *err)
{
    bool wrong = false;
    uint32_t *token = rung_calloc(h->tokens, sizeof *token, err);
    rung_status status = token ? seek(c, h, &wrong, token, index, err) : RUNG_SYSTEM;
    if (status == RUNG_OK && wrong) status = rung_certify_wrong_answer(h, cert, found, token, err);
    if (*found)
        snprintf(how, size,
                 index < RANDOM_ATTEMPTS ? "a random prompt is answered wrongly"
                                         : "a prompt found by lowering the margin is answered wrongly");
    free(token);
    return status;
}

static double expect(const rung_attacked *attacked, const rung_budget *budget, char *why, size_t size)
{
    (void)budget;
    if (!rung_attacked_suits(attacked, why, size)) return -1;
    /* 500 evaluations: the median for a trained linear model that is right on 99.97 % of its prompts */
    return 500 * rung_attacked_seconds(attacked, attacked->task->tokens);
}

static rung_status run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    const attempts c = {.attacked = attacked,
                        .budget = budget,
                        .began = rung_wall_s(),
                        .what = "starts of hill climbing",
                        .count = UINT64_MAX,
                        .attempt = attempt};
    return rung_attempts_run(result, &c, err);
}

const rung_attack rung_attack_climb = {
    .name = "climb",
    .summary = "a wrong answer, by random testing and then by hill climbing on the margin",
    .source = "random testing and hill climbing",
    .applies = "every causal model and every task over token ids that asks at its last token",
    .cost = "one run of n tokens for each prompt; some hundred for a trained model",
    .kinds = 1u << RUNG_CERT_WRONG_ANSWER,
    .breaks = "full e8m7 eva N=8 V=8",
    .spares = "build:lookup f32 eva N=8 V=8",
    .any_numbers = true,
    .expect = expect,
    .run = run,
};
