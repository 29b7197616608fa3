/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Forgetting: with a decay or a gate below 1 an early token fades, h_t = r(a_t h_{t-1} + u_t), until its trace is
 * rounded away. A window drops it at once. Two prompts that differ in one early token then end in the same state. With
 * a decay of a this takes about p / log2(1/a) tokens.
 */
#include <stdlib.h>

#include "attack_rows.h"
#include "attempts.h"

enum { PROMPTS_MAX = 512, EARLY = 2, OTHERS = 4 };

/* The earliest positions that have a choice of tokens. */
static size_t early_positions(size_t early[EARLY], const runner *h)
{
    size_t count = 0;
    for (size_t pos = 0; pos + 1 < h->tokens && count < EARLY; pos++)
        if (h->attacked->task->task->ids(h->attacked->task, pos).count > 1) early[count++] = pos;
    return count;
}

static rung_status attempt_at(const attempts *c, runner *h, rung_cert *cert, bool *found, uint32_t *token, size_t pos,
                              rung_rng *rng, rung_error *err)
{
    rung_ids ids = h->attacked->task->task->ids(h->attacked->task, pos);
    uint64_t others = ids.count - 1 < OTHERS ? ids.count - 1 : OTHERS, own = token[pos] - ids.first;
    rung_status status = RUNG_OK;
    for (uint64_t i = 1; i <= others && !*found && status == RUNG_OK; i++) {
        uint64_t step = i * (ids.count - 1) / others; /* 1 .. count-1, spread */
        uint32_t other = (uint32_t)(ids.first + (own + step) % ids.count);
        if (rung_budget_left(c->budget, c->began) > 0)
            status = rung_runner_merge(h, cert, found, token, pos, other, rng, err);
    }
    return status;
}

static rung_status attempt(const attempts *c, runner *h, rung_cert *cert, bool *found, uint64_t index, char *how,
                           size_t size, rung_error *err)
{
    size_t early[EARLY], count = early_positions(early, h);
    rung_rng rng;
    rung_rng_init(&rng, c->budget->seed, 0xf0c3e7, index);
    uint32_t *token = rung_calloc(h->tokens, sizeof *token, err);
    rung_status status = token ? RUNG_OK : RUNG_SYSTEM;
    for (size_t i = 0; i < count && status == RUNG_OK && !*found; i++) {
        if (!rung_runner_first_prompt(h, token, c->budget->seed, index)) break;
        status = attempt_at(c, h, cert, found, token, early[i], &rng, err);
        if (*found)
            snprintf(how, size, "the token at position %zu is forgotten after %zu tokens", early[i],
                     cert->prefix - early[i] - 1);
    }
    free(token);
    return status;
}

static double expect(const rung_attacked *attacked, const rung_budget *budget, char *why, size_t size)
{
    (void)budget;
    if (!rung_attacked_suits(attacked, why, size) || !rung_attacked_forgets(attacked, why, size)) return -1;
    if (!rung_attacked_has(attacked, RUNG_TRAIT_FADES)) {
        snprintf(why, size, "no layer has a decay, a gate or a window");
        return -1;
    }
    return 6 * rung_attacked_seconds(attacked, attacked->task->tokens);
}

static rung_status run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    const attempts c = {.attacked = attacked,
                        .budget = budget,
                        .began = rung_wall_s(),
                        .what = "prompts, each with early tokens changed",
                        .count = PROMPTS_MAX,
                        .attempt = attempt};
    return rung_attempts_run(result, &c, err);
}

const rung_attack rung_attack_forget = {
    .name = "forget",
    .summary = "an early token whose trace fades below the last bit, or leaves the window",
    .source = "decays below 1 in rounded arithmetic",
    .applies = "layers that all carry a state that does not grow, or a window, one of them with a decay, a gate or a "
               "window; tasks over token ids",
    .cost = "two runs of n tokens for each pair of prompts, then 2 log2 n for the shortest prefix",
    .kinds = 1u << RUNG_CERT_STATE_COLLISION,
    .breaks = "mamba2 e8m7 eva N=64 V=8",
    .spares = "mamba2 f32 eva N=2 V=2",
    .any_numbers = true,
    .expect = expect,
    .run = run,
};
