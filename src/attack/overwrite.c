/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Overwriting: the delta rule S' = S (I - b k k^T) + b v k^T replaces what was stored under a key when the key comes
 * again. Two prompts that differ in one token, a or b, differ in S only along the keys of a and of b. If a and b (or,
 * with n > d keys, enough tokens to span the keys) keep coming afterwards, the difference shrinks by 1 - b |k|^2 each
 * time until it is rounded away.
 */
#include <stdlib.h>

#include "attack_rows.h"
#include "attempts.h"

enum { PROMPTS_MAX = 2048, PERIODS = 4 };

/* The two tokens, and how many different ones keep coming: 2 means the two themselves, more span more keys. */
typedef struct refrain {
    uint32_t own, other;
    uint64_t period;
} refrain;

static refrain choose(uint64_t index, rung_ids ids)
{
    static const uint64_t periods[PERIODS] = {2, 1, 4, UINT64_MAX};
    uint64_t pair = index / PERIODS, own = pair % ids.count, step = 1 + pair / ids.count % (ids.count - 1);
    return (refrain){.own = (uint32_t)(ids.first + own),
                     .other = (uint32_t)(ids.first + (own + step) % ids.count),
                     .period = periods[index % PERIODS]};
}

/* The first two of a period are `other` and `own`; a period of 1 is `other` alone. */
static uint32_t refrain_at(const refrain *r, size_t after, rung_ids ids)
{
    uint64_t period = r->period < ids.count ? r->period : ids.count, beat = after % period;
    if (beat == 0) return r->other;
    if (beat == 1) return r->own;
    return (uint32_t)(ids.first + (r->own - ids.first + beat) % ids.count);
}

/* Repeats tokens from pos on. Only if all these positions choose from the same ids: elsewhere the result would be no
 * prompt. */
static bool sing(runner *h, uint32_t *token, size_t pos, const refrain *r)
{
    const rung_task_conf *task = h->attacked->task;
    rung_ids ids = task->task->ids(task, pos);
    token[pos] = r->own;
    for (size_t t = pos + 1; t + 1 < h->tokens; t++) {
        rung_ids here = task->task->ids(task, t);
        if (here.first == ids.first && here.count == ids.count) token[t] = refrain_at(r, t - pos - 1, ids);
    }
    rung_span player[RUNG_PLAYERS_MAX];
    for (size_t i = 0; i < RUNG_PLAYERS_MAX; i++) player[i] = h->instance.player[i];
    bool prompt = rung_runner_oracle(h, token) != RUNG_NO_TARGET;
    for (size_t i = 0; i < RUNG_PLAYERS_MAX; i++) h->instance.player[i] = player[i];
    return prompt;
}

static size_t first_choice(const runner *h)
{
    size_t pos = 0;
    while (pos + 1 < h->tokens && h->attacked->task->task->ids(h->attacked->task, pos).count < 2) pos++;
    return pos;
}

static rung_status attempt(const attempts *c, runner *h, rung_cert *cert, bool *found, uint64_t index, char *how,
                           size_t size, rung_error *err)
{
    size_t pos = first_choice(h);
    rung_ids ids = h->attacked->task->task->ids(h->attacked->task, pos);
    rung_rng rng;
    rung_rng_init(&rng, c->budget->seed, 0x0fe7, index);
    if (ids.count < 2 || pos + 1 >= h->tokens) return RUNG_OK;
    uint32_t *token = rung_calloc(h->tokens, sizeof *token, err);
    if (!token) return RUNG_SYSTEM;
    rung_status status = RUNG_OK;
    refrain r = choose(index, ids);
    if (rung_runner_draw(h, token, c->budget->seed, index)) {
        /* if a key may come only once, the random tokens of the prompt are used */
        if (!sing(h, token, pos, &r) && !rung_runner_draw(h, token, c->budget->seed, index)) r.other = token[pos];
        if (token[pos] == r.other) r.other = r.own;
        if (token[pos] != r.other) status = rung_runner_merge(h, cert, found, token, pos, r.other, &rng, err);
    }
    if (*found)
        snprintf(how, size, "the token at position %zu is overwritten within %zu tokens", pos, cert->prefix - pos - 1);
    free(token);
    return status;
}

static double expect(const rung_attacked *attacked, const rung_budget *budget, char *why, size_t size)
{
    (void)budget;
    if (!rung_attacked_suits(attacked, why, size) || !rung_attacked_forgets(attacked, why, size)) return -1;
    if (!rung_attacked_has(attacked, RUNG_TRAIT_OVERWRITES)) {
        snprintf(why, size, "no layer has the delta rule");
        return -1;
    }
    return 8 * rung_attacked_seconds(attacked, attacked->task->tokens);
}

static rung_status run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    const attempts c = {.attacked = attacked,
                        .budget = budget,
                        .began = rung_wall_s(),
                        .what = "repeated tokens after an early one",
                        .count = PROMPTS_MAX,
                        .attempt = attempt};
    return rung_attempts_run(result, &c, err);
}

const rung_attack rung_attack_overwrite = {
    .name = "overwrite",
    .summary = "a token whose key comes again until nothing of its value is left",
    .source = "Schlag, Irie, Schmidhuber 2021, the delta rule",
    .applies =
        "layers that all carry a state that does not grow, or a window, one of them with the delta rule; tasks over "
        "token ids",
    .cost = "two runs of n tokens for each repetition, then 2 log2 n for the shortest prefix",
    .kinds = 1u << RUNG_CERT_STATE_COLLISION,
    .breaks = "delta:dk=4:dv=4:unit=1 e8m4 eva N=256 V=4",
    .spares = "delta:dk=4:dv=4:unit=1 f32 eva N=3 V=4",
    .any_numbers = true,
    .expect = expect,
    .run = run,
};
