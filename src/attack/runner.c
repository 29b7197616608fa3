/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Runs the attacked model on prompts and prefixes, asks the oracle, and finds continuations that need different answers
 * after two prefixes.
 */
#include "runner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* A chain of thought may continue until the positions of the model end. */
static size_t session_tokens(const rung_attacked *attacked)
{
    const rung_model_spec *spec = rung_model_get_spec(attacked->model);
    bool longer = spec->thoughts && spec->max_tokens > attacked->task->tokens;
    return longer ? spec->max_tokens : attacked->task->tokens;
}

rung_status rung_runner_init(runner *h, const rung_attacked *attacked, rung_error *err)
{
    const rung_model_spec *spec = rung_model_get_spec(attacked->model);
    *h = (runner){.attacked = attacked, .tokens = attacked->task->tokens};
    RUNG_TRY(rung_instance_init(&h->instance, attacked->task, err));
    h->out = rung_calloc(spec->answers, sizeof *h->out, err);
    h->view = h->out ? rung_calloc(spec->d_model, sizeof *h->view, err) : NULL;
    return h->view ? rung_session_new(&h->session, attacked->program, session_tokens(attacked), err) : RUNG_SYSTEM;
}

void rung_runner_clear(runner *h)
{
    rung_session_free(h->session);
    rung_instance_clear(&h->instance);
    free(h->out);
    free(h->view);
    free(h->state);
    memset(h, 0, sizeof *h);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static rung_status count_stop(runner *h, rung_status status)
{
    h->evaluations++;
    h->stopped += status == RUNG_INPUT;
    return status;
}

rung_status rung_runner_pack(runner *h, const rung_session *session, rung_error *err)
{
    uint64_t bits = rung_session_state_bits(session);
    if (bits / 8 + 1 > SIZE_MAX)
        return rung_fail(err, RUNG_SYSTEM, "a state of %llu bits is too large", (unsigned long long)bits);
    size_t bytes = (size_t)(bits / 8 + 1);
    if (bytes > h->state_room) {
        free(h->state);
        h->state = rung_calloc(bytes, 1, err);
        h->state_room = h->state ? bytes : 0;
        if (!h->state) return RUNG_SYSTEM;
    }
    h->state_bits = (size_t)bits;
    return rung_session_pack(session, h->state, err);
}

rung_status rung_runner_prefix(runner *h, const uint32_t *token, size_t count, rung_error *err)
{
    assert(count <= h->tokens);
    rung_prompt prompt = {.token = token, .tokens = count};
    rung_session_reset(h->session);
    rung_status status = count ? rung_session_run(h->session, NULL, &prompt, RUNG_FORM_SCAN, NULL, 0, err) : RUNG_OK;
    return count_stop(h, status) == RUNG_OK ? rung_runner_pack(h, h->session, err) : status;
}

static rung_status run_prompt(runner *h, const uint32_t *token, rung_error *err)
{
    rung_prompt prompt = {.token = token, .tokens = h->tokens};
    size_t last = h->tokens - 1, thoughts;
    rung_session_reset(h->session);
    if (rung_model_get_spec(h->attacked->model)->thoughts)
        return count_stop(h, rung_session_run_thoughts(h->session, h->out, &thoughts, &prompt, RUNG_FORM_SCAN, err));
    return count_stop(h, rung_session_run(h->session, h->out, &prompt, RUNG_FORM_SCAN, &last, 1, err));
}

rung_status rung_runner_answer(runner *h, int32_t *given, int32_t *right, const uint32_t *token, rung_error *err)
{
    const rung_model_spec *spec = rung_model_get_spec(h->attacked->model);
    *given = RUNG_NO_TARGET;
    *right = rung_runner_oracle(h, token);
    if (*right == RUNG_NO_TARGET) return rung_fail(err, RUNG_INPUT, "the tokens are not a prompt of the task");
    rung_status status = run_prompt(h, token, err);
    if (status != RUNG_OK) return status == RUNG_INPUT ? RUNG_OK : status;
    size_t row = rung_argmax(h->out, spec->answers);
    if (row < spec->answers - spec->thoughts) *given = (int32_t)row;
    return RUNG_OK;
}

rung_status rung_runner_view(runner *h, const uint32_t *token, rung_error *err)
{
    rung_status status = run_prompt(h, token, err);
    if (status == RUNG_OK) rung_session_view(h->session, h->view);
    return status;
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

/* Asks the oracle about the instance. */
static int32_t solved(runner *h)
{
    const rung_task_conf *conf = h->attacked->task;
    rung_error refusal;
    if (conf->task->solve(&h->instance, conf, &refusal) != RUNG_OK) return RUNG_NO_TARGET;
    if (conf->task->promise && !conf->task->promise(&h->instance, conf)) return RUNG_NO_TARGET;
    return h->instance.target[h->tokens - 1];
}

int32_t rung_runner_oracle(runner *h, const uint32_t *token)
{
    memcpy(h->instance.token, token, h->tokens * sizeof *token);
    h->instance.tokens = h->tokens;
    return solved(h);
}

bool rung_runner_draw(runner *h, uint32_t *token, uint64_t seed, uint64_t index)
{
    rung_error refusal;
    if (rung_task_make(&h->instance, h->attacked->task, seed, index, &refusal) != RUNG_OK) return false;
    if (h->instance.tokens != h->tokens) return false;
    memcpy(token, h->instance.token, h->tokens * sizeof *token);
    return true;
}

/* ---- continuations ----------------------------------------------------------------------------------------------- */

enum { RANDOM_CONTINUATIONS = 4096 };
#define FEW_CONTINUATIONS ((uint64_t)1 << 16)
/* Tokens that the oracle may read in one search. With more, a search would take a large part of an attack. */
#define ORACLE_TOKENS ((uint64_t)1 << 28)

/* Two prefixes, and space for what follows them. */
typedef struct fork {
    runner *h;
    uint32_t *a, *b;
    size_t prefix;
    uint64_t tries; /* tries that are left */
} fork;

static rung_ids ids_at(const runner *h, size_t pos)
{
    return h->attacked->task->task->ids(h->attacked->task, pos);
}

/* The continuation is in a. */
static bool separates(fork *f)
{
    if (f->tries == 0) return false;
    f->tries--;
    memcpy(f->b + f->prefix, f->a + f->prefix, (f->h->tokens - f->prefix) * sizeof *f->a);
    int32_t first = rung_runner_oracle(f->h, f->a);
    if (first == RUNG_NO_TARGET) return false;
    int32_t second = rung_runner_oracle(f->h, f->b);
    return second != RUNG_NO_TARGET && second != first;
}

static bool separates_with_last(fork *f, uint64_t index)
{
    rung_ids ids = ids_at(f->h, f->h->tokens - 1);
    f->a[f->h->tokens - 1] = (uint32_t)(ids.first + index % ids.count);
    return separates(f);
}

/* Number of continuations, as a product of choices; UINT64_MAX if it overflows. */
static uint64_t continuations(const fork *f)
{
    uint64_t count = 1;
    for (size_t pos = f->prefix; pos < f->h->tokens; pos++) {
        uint64_t choices = ids_at(f->h, pos).count;
        if (choices > UINT64_MAX / count) return UINT64_MAX;
        count *= choices;
    }
    return count;
}

static bool separates_among_all(fork *f, uint64_t count)
{
    for (uint64_t number = 0; number < count; number++) {
        uint64_t rest = number;
        for (size_t pos = f->h->tokens; pos-- > f->prefix;) {
            rung_ids ids = ids_at(f->h, pos);
            f->a[pos] = (uint32_t)(ids.first + rest % ids.count);
            rest /= ids.count;
        }
        if (separates(f)) return true;
    }
    return false;
}

/* Tries queries about the first difference: its position, its value, the key inside it or before it, and what adds up
 * to zero with it. */
static bool separates_by_guess(fork *f)
{
    size_t at = 0;
    while (at < f->prefix && f->a[at] == f->b[at]) at++;
    if (at == f->prefix) return false;
    uint64_t answers = f->h->attacked->task->answers, last = ids_at(f->h, f->h->tokens - 1).count;
    const uint32_t *side[2] = {f->a, f->b};
    if (separates_with_last(f, at)) return true;
    for (size_t s = 0; s < 2; s++) {
        uint64_t value = side[s][at] - ids_at(f->h, at).first;
        uint64_t before = at ? side[s][at - 1] - ids_at(f->h, at - 1).first : 0;
        const uint64_t guess[] = {value, last - value % last, value / answers, before};
        for (size_t i = 0; i < RUNG_COUNT(guess); i++)
            if (separates_with_last(f, guess[i])) return true;
    }
    return false;
}

static bool separates_by_last(fork *f)
{
    rung_ids ids = ids_at(f->h, f->h->tokens - 1);
    for (uint64_t i = 0; i < ids.count && f->tries; i++)
        if (separates_with_last(f, i)) return true;
    return false;
}

/* Half of the continuations come from the generator of the task, which keeps its promises, the other half from the
 * product of choices. */
static void draw_continuation(fork *f, size_t number, rung_rng *rng)
{
    bool drawn = number % 2 && rung_runner_draw(f->h, f->b, rung_rng_u64(rng), number);
    for (size_t pos = f->prefix; pos < f->h->tokens; pos++) {
        rung_ids ids = ids_at(f->h, pos);
        f->a[pos] = drawn ? f->b[pos] : (uint32_t)(ids.first + rung_rng_below(rng, ids.count));
    }
}

/* drawing overwrites all of b, so its prefix is saved */
static bool separates_by_chance(fork *f, uint32_t *kept, rung_rng *rng)
{
    memcpy(kept, f->b, f->prefix * sizeof *kept);
    for (size_t i = 0; i < RANDOM_CONTINUATIONS && f->tries; i++) {
        draw_continuation(f, i, rng);
        memcpy(f->b, kept, f->prefix * sizeof *kept);
        if (separates(f)) return true;
    }
    return false;
}

bool rung_runner_separate(runner *h, uint32_t *a, uint32_t *b, size_t prefix, rung_rng *rng)
{
    if (prefix >= h->tokens) return false;
    fork f = {.h = h, .a = a, .b = b, .prefix = prefix, .tries = ORACLE_TOKENS / h->tokens + 1};
    uint64_t all = continuations(&f);
    bool one_token = prefix + 1 == h->tokens;
    if (separates(&f)) return true;
    if (separates_by_guess(&f)) return true;
    if (all <= FEW_CONTINUATIONS) return separates_among_all(&f, all);
    f.tries = ORACLE_TOKENS / h->tokens + 1;
    if (separates_by_last(&f)) return true;
    if (one_token && f.tries) return false; /* all of them have been tried */
    uint32_t *kept = rung_calloc(h->tokens, sizeof *kept, NULL);
    f.tries = RANDOM_CONTINUATIONS;
    bool found = kept && separates_by_chance(&f, kept, rng);
    free(kept);
    return found;
}
