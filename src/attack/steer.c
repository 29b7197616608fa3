/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Steering: a prefix that makes every number of a state large. What each token adds to the state is measured once, at an early
 * place where little is lost; then the prefix is chosen token by token, each time the one that raises sum log |s_e| most, to
 * first order: the sum over e of u_e / s_e. The logarithm favours the entries that lag behind, and the last places of all of
 * them rise together. With C tokens to choose from and E entries with independent signs the drift of an entry is about
 * sqrt(2 ln C / E) of a typical update, where a repeated token drifts fast in some entries and hardly in others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chase.h"
#include "rung/kern.h"

/* Early tokens are random; what follows is chosen in stretches, each from the true state. */
enum { EARLY_TOKENS = 24, STRETCH = 32, TOKENS_MAX = 4096, TRIED = 16, TRIALS_MAX = 1024, LOOK_EVERY = 64 };
#define HARD      30.0              /* an entry that e^-30 of the tokens move is not moved */
#define SOFT      0.3               /* measured: 0.05 keeps wrong signs for ever, 1 lets small entries lag behind */
#define TABLE_MAX ((size_t)1 << 20) /* numbers of the table: it is read once for every chosen token */

typedef struct steering {
    hunter *h;
    rung_session *fork, *best;
    rung_ids ids;       /* of the positions that are steered */
    size_t tokens;      /* rows of the table */
    size_t elements;    /* of a state */
    uint32_t *token;    /* [tokens] */
    float *update;      /* [tokens][elements]: what a token adds */
    float *pull;        /* [elements]: how much an entry should grow, with its sign */
    float *gain;        /* [tokens] */
    double *state, *at; /* [elements] */
    double *size;       /* [elements]: of a typical update, root mean square */
} steering;

/* Tokens in the table: all, or as many as time and memory allow. */
static size_t table_rows(const rung_ids *ids, size_t elements, size_t memory)
{
    size_t fit = memory / 8 / (elements * sizeof(float) + 64), rows = TABLE_MAX / elements;
    if (rows > fit) rows = fit;
    if (rows > TOKENS_MAX) rows = TOKENS_MAX;
    return rows < ids->count ? rows : ids->count;
}

static rung_status steering_init(steering *s, hunter *h, size_t pos, size_t memory, rung_error *err)
{
    const rung_victim *victim = h->victim;
    *s = (steering){.h = h, .ids = victim->task->task->ids(victim->task, pos)};
    s->elements = (size_t)(rung_victim_state_bits(victim, pos) / (uint64_t)victim->numbers.bits);
    s->tokens = s->elements ? table_rows(&s->ids, s->elements, memory) : 0;
    if (s->tokens < 2) return RUNG_OK;
    s->token = rung_calloc(s->tokens, sizeof *s->token, err);
    s->update = rung_calloc(s->tokens * s->elements, sizeof *s->update, err);
    s->pull = rung_calloc(s->elements, sizeof *s->pull, err);
    s->gain = rung_calloc(s->tokens, sizeof *s->gain, err);
    s->state = rung_calloc(s->elements, sizeof *s->state, err);
    s->at = rung_calloc(s->elements, sizeof *s->at, err);
    s->size = rung_calloc(s->elements, sizeof *s->size, err);
    if (!s->token || !s->update || !s->pull || !s->gain || !s->state || !s->at || !s->size) return RUNG_SYSTEM;
    rung_status status = rung_session_new(&s->best, victim->program, h->tokens, err);
    return status == RUNG_OK ? rung_session_new(&s->fork, victim->program, h->tokens, err) : status;
}

static void steering_clear(steering *s)
{
    rung_session_free(s->fork);
    rung_session_free(s->best);
    free(s->token);
    free(s->update);
    free(s->pull);
    free(s->gain);
    free(s->state);
    free(s->at);
    free(s->size);
}

static rung_status read_state(double *to, steering *s, const rung_session *session, rung_error *err)
{
    rung_status status = rung_hunter_pack(s->h, session, err);
    if (status == RUNG_OK) rung_num_unpack(to, &s->h->victim->numbers, s->h->state, s->elements);
    return status;
}

/* One more token after what h's session holds: the fork, and its state in s->at. */
static rung_status step(steering *s, size_t i, rung_error *err)
{
    rung_prompt one = {.token = &s->token[i], .tokens = 1};
    rung_status status = rung_session_copy(s->fork, s->h->session, err);
    s->h->evaluations++;
    if (status == RUNG_OK) status = rung_session_run(s->fork, NULL, &one, RUNG_FORM_STEP, NULL, 0, err);
    return status == RUNG_OK ? read_state(s->at, s, s->fork, err) : status;
}

/* What token number i adds to s->state. */
static rung_status measure_one(steering *s, size_t i, rung_error *err)
{
    float *update = s->update + i * s->elements;
    rung_status status = step(s, i, err);
    for (size_t e = 0; status == RUNG_OK && e < s->elements; e++) update[e] = (float)(s->at[e] - s->state[e]);
    return status == RUNG_INPUT ? RUNG_OK : status; /* a token that stops the model adds nothing */
}

static rung_status measure(steering *s, rung_rng *rng, rung_error *err)
{
    rung_status status = read_state(s->state, s, s->h->session, err);
    for (size_t i = 0; i < s->tokens && status == RUNG_OK; i++) {
        size_t choice = s->tokens == s->ids.count ? i : (size_t)rung_rng_below(rng, s->ids.count);
        s->token[i] = (uint32_t)(s->ids.first + choice);
        status = measure_one(s, i, err);
    }
    for (size_t e = 0; e < s->elements; e++) {
        double sum = 0;
        for (size_t i = 0; i < s->tokens; i++)
            sum += (double)s->update[i * s->elements + e] * s->update[i * s->elements + e];
        s->size[e] = sqrt(sum / (double)s->tokens);
    }
    return status;
}

/* How much of a typical update entry e loses, as a ratio r: e^-r is about the share of tokens that still move it. A float loses
 * what is below half a unit in the last place; fixed point loses everything at its ends and nothing before. */
static double hardness(const steering *s, const double *state, size_t e)
{
    const rung_fmt *fmt = &s->h->victim->numbers;
    double size = fabs(state[e]), share = fmt->kind == RUNG_FMT_FLOAT
                                              ? ldexp(size, -fmt->mantissa_bits - 2) / s->size[e]
                                              : 4 * size / fmt->largest;
    return s->size[e] > 0 && share < HARD ? share : HARD;
}

/* -log of the share of tokens that leave the state as it is, if entries were independent. */
static double cost_of(const steering *s, const double *state)
{
    double sum = 0;
    for (size_t e = 0; e < s->elements; e++) sum -= log(-expm1(-fmax(hardness(s, state, e), SOFT)));
    return sum;
}

/* The derivative of that cost. It is limited near zero, so that an entry may still change its sign. */
static void set_pull(steering *s)
{
    for (size_t e = 0; e < s->elements; e++) {
        double hard = hardness(s, s->state, e), growth = expm1(hard);
        s->pull[e] = hard >= HARD ? 0 : (float)(copysign(1, s->state[e]) / (s->size[e] * fmax(growth, SOFT)));
    }
}

/* The tokens with the largest gains to first order, the best one first. */
static size_t rank(size_t best[TRIED], steering *s)
{
    size_t count = 0;
    set_pull(s);
    rung_kernels_get()->linear(s->gain, s->pull, s->update, NULL, 1, s->tokens, s->elements);
    for (size_t i = 0; i < s->tokens; i++) {
        size_t at = count;
        while (at > 0 && s->gain[i] > s->gain[best[at - 1]]) at--;
        if (at == TRIED) continue;
        count += count < TRIED;
        for (size_t j = count - 1; j > at; j--) best[j] = best[j - 1];
        best[at] = i;
    }
    return count;
}

/* By the table alone; the simulated state takes the update, rounded as the model would. */
static uint32_t choose_by_table(steering *s)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    const rung_fmt *fmt = &s->h->victim->numbers;
    size_t best[TRIED];
    rank(best, s);
    for (size_t e = 0; e < s->elements; e++) s->at[e] = (double)s->update[best[0] * s->elements + e];
    num->round(fmt, s->at, s->at, s->elements);
    num->add(fmt, s->state, s->state, s->at, s->elements);
    return s->token[best[0]];
}

/* The table learns from what a step really did, where little of it is lost. */
static void learn(steering *s, size_t i)
{
    for (size_t e = 0; e < s->elements; e++)
        if (hardness(s, s->state, e) < 0.25) s->update[i * s->elements + e] = (float)(s->at[e] - s->state[e]);
}

/* By running the best few. h's session and s->state take the step. */
static rung_status choose_by_trial(uint32_t *token, steering *s, rung_error *err)
{
    size_t best[TRIED], count = rank(best, s);
    double least = HUGE_VAL;
    rung_status status = RUNG_OK;
    *token = s->token[best[0]];
    for (size_t i = 0; i < count && status == RUNG_OK; i++) {
        status = step(s, best[i], err);
        if (status == RUNG_INPUT) continue;
        if (status != RUNG_OK) break;
        double cost = cost_of(s, s->at);
        learn(s, best[i]);
        if (cost >= least) continue;
        least = cost;
        *token = s->token[best[i]];
        rung_session *other = s->fork;
        s->fork = s->best, s->best = other;
    }
    if (status == RUNG_INPUT) status = RUNG_OK;
    if (status == RUNG_OK) status = rung_session_copy(s->h->session, s->best, err);
    return status == RUNG_OK ? read_state(s->state, s, s->h->session, err) : status;
}

static bool is_steered(const steering *s, size_t pos)
{
    rung_ids ids = s->h->victim->task->task->ids(s->h->victim->task, pos);
    return ids.first == s->ids.first && ids.count == s->ids.count;
}

static rung_status go_on(steering *s, const uint32_t *token, size_t from, size_t to, rung_error *err)
{
    rung_prompt part = {.token = token + from, .tokens = to - from};
    return rung_session_run(s->h->session, NULL, &part, RUNG_FORM_SCAN, NULL, 0, err);
}

/* Is it likely that some tokens leave the state as it is? */
static bool is_promising(const steering *s)
{
    const double doubt = 3; /* the estimate of independent entries is that far off, as a logarithm */
    return cost_of(s, s->state) < log((double)s->ids.count) + doubt;
}

/* The last positions, with runs. */
static rung_status finish(steering *s, const steer_to *to, uint32_t *token, size_t *at, const chase *c, rung_error *err)
{
    rung_status status = RUNG_OK;
    bool enough = false;
    for (; *at < to->end && status == RUNG_OK && rung_budget_left(c->budget, c->began) > 0; ++*at) {
        if (is_steered(s, *at) && *at % LOOK_EVERY == 0 && is_promising(s))
            status = to->look(to->context, &enough, token, *at, err);
        if (status != RUNG_OK || enough) return status;
        if (is_steered(s, *at)) {
            status = choose_by_trial(&token[*at], s, err);
        } else {
            status = go_on(s, token, *at, *at + 1, err);
            if (status == RUNG_OK) status = read_state(s->state, s, s->h->session, err);
        }
    }
    return status == RUNG_OK && *at == to->end ? to->look(to->context, &enough, token, *at, err) : status;
}

static rung_status steer(steering *s, const steer_to *to, uint32_t *token, rung_rng *rng, const chase *c,
                         rung_error *err)
{
    size_t end = to->end, at = end > 2 * EARLY_TOKENS ? EARLY_TOKENS : 1;
    rung_session_reset(s->h->session);
    rung_status status = go_on(s, token, 0, at, err);
    if (status == RUNG_OK) status = measure(s, rng, err);
    size_t trials = end - at < TRIALS_MAX ? at + (end - at) / 2 : end - TRIALS_MAX;
    while (status == RUNG_OK && at < trials && rung_budget_left(c->budget, c->began) > 0) {
        size_t next = at + STRETCH < trials ? at + STRETCH : trials;
        for (size_t pos = at; pos < next; pos++)
            if (is_steered(s, pos)) token[pos] = choose_by_table(s);
        status = go_on(s, token, at, next, err);
        if (status == RUNG_OK) status = read_state(s->state, s, s->h->session, err);
        at = next;
    }
    return status == RUNG_OK ? finish(s, to, token, &at, c, err) : status;
}

rung_status rung_hunter_steer(const chase *c, hunter *h, const steer_to *to, uint32_t *token, rung_rng *rng,
                              rung_error *err)
{
    steering s;
    size_t end = to->end, workers = rung_chase_workers(h->victim, c->budget);
    if (end < 2 || rung_victim_state_bits(h->victim, 1) != rung_victim_state_bits(h->victim, end)) return RUNG_OK;
    rung_status status = steering_init(&s, h, end, c->budget->memory / (workers ? workers : 1), err);
    if (status == RUNG_OK && s.tokens >= 2) status = steer(&s, to, token, rng, c, err);
    steering_clear(&s);
    return status;
}
