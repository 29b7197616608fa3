/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Loss by rounding: a recurrence that rounds at every step, h_t = r(h_{t-1} + u_t), keeps nothing of an update below
 * half a unit in the last place of its state. After a prefix that makes the state large, two late tokens leave the same
 * bits in all layers, and a continuation that asks for them needs two answers. This works at any depth, with MLPs and
 * residual streams, because states are compared, not predicted. A prefix that repeats one token usually beats a random
 * one, since its updates point the same way.
 */
#include <stdlib.h>
#include <string.h>

#include "attack_rows.h"
#include "attempts.h"
#include "certify.h"

enum { PREFIXES_MAX = 4096, LATE_MAX = 6, TOKENS_MAX = 4096, PAIRS_MAX = 16 };

/* A last token and the state after it. */
typedef struct trace {
    uint64_t hash;
    uint32_t token;
} trace;

static int by_hash(const void *a, const void *b)
{
    const trace *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->token > y->token) - (x->token < y->token);
}

typedef struct swallow {
    const attempts *c;
    runner *h;
    rung_session *fork;
    uint32_t *a, *b;
    trace *trace;
    rung_rng rng;
    rung_cert *cert; /* what is found */
    bool *found;
    size_t lost_at;
} swallow;

static bool swallow_init(swallow *s, const attempts *c, runner *h, uint64_t index, rung_error *err)
{
    *s = (swallow){.c = c, .h = h};
    rung_rng_init(&s->rng, c->budget->seed, 0x5a110, index);
    s->a = rung_calloc(h->tokens, sizeof *s->a, err);
    s->b = s->a ? rung_calloc(h->tokens, sizeof *s->b, err) : NULL;
    s->trace = s->b ? rung_calloc(TOKENS_MAX, sizeof *s->trace, err) : NULL;
    return s->trace && rung_session_new(&s->fork, h->attacked->program, h->tokens, err) == RUNG_OK;
}

static void swallow_clear(swallow *s)
{
    rung_session_free(s->fork);
    free(s->trace);
    free(s->a);
    free(s->b);
}

/* The last positions of a player's part, the latest first: there the state is largest. */
static size_t late_positions(size_t late[LATE_MAX], const runner *h)
{
    size_t count = 0;
    for (size_t p = h->instance.player_count; p-- > 0 && count < LATE_MAX;) {
        size_t end = h->instance.player[p].start + h->instance.player[p].len;
        if (end < h->tokens && end > 0) late[count++] = end - 1;
    }
    return count;
}

/* Computes the state after one late token. A token that stops the model has none; others may not stop it. */
static rung_status leave(size_t *count, swallow *s, uint32_t token, rung_error *err)
{
    rung_prompt one = {.token = &token, .tokens = 1};
    RUNG_TRY(rung_session_copy(s->fork, s->h->session, err));
    s->h->evaluations++;
    rung_status status = rung_session_run(s->fork, NULL, &one, RUNG_FORM_STEP, NULL, 0, err);
    RUNG_NEXT(status, rung_runner_pack(s->h, s->fork, err));
    if (status != RUNG_OK) return status == RUNG_INPUT ? RUNG_OK : status;
    s->trace[(*count)++] = (trace){.hash = rung_hash64(s->h->state, (s->h->state_bits + 7) / 8), .token = token};
    return RUNG_OK;
}

/* States after the prefix [0, pos) and each token that may follow. */
static rung_status follow(size_t *count, swallow *s, size_t pos, rung_error *err)
{
    rung_ids ids = s->h->attacked->task->task->ids(s->h->attacked->task, pos);
    size_t tried = ids.count < TOKENS_MAX ? ids.count : TOKENS_MAX;
    rung_status status = RUNG_OK;
    *count = 0;
    for (size_t i = 0; i < tried && status == RUNG_OK && rung_budget_left(s->c->budget, s->c->began) > 0; i++) {
        uint64_t choice = ids.count <= TOKENS_MAX ? i : rung_rng_below(&s->rng, ids.count);
        status = leave(count, s, (uint32_t)(ids.first + choice), err);
    }
    return status;
}

/* Makes prompts of neighbours with the same hash. The search for a continuation overwrites the tail of a, so it is
 * restored. */
static rung_status compare(swallow *s, const uint32_t *base, size_t pos, size_t count, rung_error *err)
{
    rung_status status = RUNG_OK;
    size_t pairs = 0;
    qsort(s->trace, count, sizeof *s->trace, by_hash);
    for (size_t i = 0; i + 1 < count && status == RUNG_OK && !*s->found && pairs < PAIRS_MAX; i++) {
        const trace *x = &s->trace[i], *y = x + 1;
        if (x->hash != y->hash || x->token == y->token) continue;
        pairs++;
        memcpy(s->a, base, s->h->tokens * sizeof *base);
        s->a[pos] = x->token;
        memcpy(s->b, s->a, s->h->tokens * sizeof *base);
        s->b[pos] = y->token;
        if (rung_runner_separate(s->h, s->a, s->b, pos + 1, &s->rng))
            status = rung_certify_state_collision(s->h, s->cert, s->found, s->a, s->b, pos + 1, err);
    }
    return status;
}

/* Tries late tokens after the first `pos` of base. */
static rung_status look(void *context, const uint32_t *base, size_t pos, rung_error *err)
{
    swallow *s = context;
    size_t count;
    rung_status status = follow(&count, s, pos, err);
    RUNG_NEXT(status, compare(s, base, pos, count, err));
    s->lost_at = pos;
    return status;
}

/* Every other attempt steers. The others begin with a prompt that repeats one token, or with a random one. */
typedef enum manner { REPEATED, STEERED, RANDOM } manner;
static const char *const manner_words[] = {"a prefix that repeats one token", "a steered prefix", "a random prefix"};
static const manner turns[] = {REPEATED, RANDOM, STEERED, STEERED};

static rung_status attempt_at(swallow *s, uint32_t *base, size_t pos, uint64_t index, rung_error *err)
{
    manner how = turns[index % RUNG_COUNT(turns)];
    if (!rung_runner_first_prompt(s->h, base, s->c->budget->seed, 2 * index + (how != REPEATED))) return RUNG_OK;
    if (how != STEERED) {
        RUNG_TRY(rung_runner_prefix(s->h, base, pos, err));
        return look(s, base, pos, err);
    }
    const steer_to to = {.end = pos, .context = s, .look = look};
    return rung_runner_steer(s->c, s->h, &to, base, &s->rng, err);
}

static rung_status attempt(const attempts *c, runner *h, rung_cert *cert, bool *found, uint64_t index, char *how,
                           size_t size, rung_error *err)
{
    swallow s = {0};
    size_t late[LATE_MAX], lates = 0;
    uint32_t *base = rung_calloc(h->tokens, sizeof *base, err);
    rung_status status = base && swallow_init(&s, c, h, index, err) ? RUNG_OK : RUNG_SYSTEM;
    s.cert = cert, s.found = found;
    if (status == RUNG_OK && rung_runner_draw(h, base, c->budget->seed, index)) lates = late_positions(late, h);
    for (size_t i = 0; i < lates && status == RUNG_OK && !*found; i++)
        status = attempt_at(&s, base, late[i], index, err);
    if (*found)
        snprintf(how, size, "the token at position %zu is lost in rounding after %s", s.lost_at,
                 manner_words[turns[index % RUNG_COUNT(turns)]]);
    swallow_clear(&s);
    free(base);
    return status;
}

static double expect(const rung_attacked *attacked, const rung_budget *budget, char *why, size_t size)
{
    (void)budget;
    if (!rung_attacked_suits(attacked, why, size) || !rung_attacked_forgets(attacked, why, size)) return -1;
    double tokens = (double)attacked->task->vocab < TOKENS_MAX ? (double)attacked->task->vocab : TOKENS_MAX;
    return 2 * rung_attacked_seconds(attacked, attacked->task->tokens) +
           2 * tokens * rung_attacked_seconds(attacked, 1);
}

static rung_status run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    const attempts c = {.attacked = attacked,
                        .budget = budget,
                        .began = rung_wall_s(),
                        .what = "prefixes, each with all late tokens",
                        .count = PREFIXES_MAX,
                        .attempt = attempt};
    return rung_attempts_run(result, &c, err);
}

const rung_attack rung_attack_swallow = {
    .name = "swallow",
    .summary = "a late token whose update is lost in rounding",
    .source = "rounding of sums; docs/numbers.md",
    .applies = "models whose layers all carry a state that does not grow, or a window; any depth; tasks over token ids",
    .cost = "per prefix one run of n tokens and one step for each late token",
    .kinds = 1u << RUNG_CERT_STATE_COLLISION,
    .breaks = "linear:dk=2:dv=2 e8m4 eva N=64 V=16",
    .spares = "linear f32 eva N=4 V=4",
    .expect = expect,
    .run = run,
};
