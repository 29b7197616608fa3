/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Two prompts that differ at one position: do their states become the same later? Once all carried numbers agree, they
 * agree forever, so bisection finds the shortest prefix.
 */
#include <stdlib.h>
#include <string.h>

#include "attempts.h"
#include "certify.h"

/* Two prompts in progress. */
typedef struct pair {
    runner *h;
    uint32_t *a, *b;
    uint8_t *state; /* of a */
    size_t room;
} pair;

/* Continues h's session over [from, to) of a prompt. */
static rung_status go_on(rung_session *session, const uint32_t *token, size_t from, size_t to, rung_error *err)
{
    rung_prompt part = {.token = token + from, .tokens = to - from};
    return from < to ? rung_session_run(session, NULL, &part, RUNG_FORM_SCAN, NULL, 0, err) : RUNG_OK;
}

static rung_status keep_state(pair *p, rung_error *err)
{
    size_t bytes = p->h->state_bits / 8 + 1;
    if (bytes > p->room) {
        free(p->state);
        p->state = rung_calloc(bytes, 1, err);
        p->room = p->state ? bytes : 0;
        if (!p->state) return RUNG_SYSTEM;
    }
    memcpy(p->state, p->h->state, bytes);
    return RUNG_OK;
}

/* Compares the states after the first `count` tokens of both, from the start. */
static rung_status same_after(bool *same, pair *p, size_t count, rung_error *err)
{
    rung_status status = rung_runner_prefix(p->h, p->a, count, err);
    RUNG_NEXT(status, keep_state(p, err));
    RUNG_NEXT(status, rung_runner_prefix(p->h, p->b, count, err));
    *same = status == RUNG_OK && memcmp(p->state, p->h->state, (p->h->state_bits + 7) / 8) == 0;
    return status;
}

/* The ends of the players' parts after pos, in *end; the last token does not count. */
static size_t ends_after(size_t end[RUNG_PLAYERS_MAX], const runner *h, size_t pos)
{
    size_t count = 0;
    for (size_t i = 0; i < h->instance.player_count; i++) {
        size_t stop = h->instance.player[i].start + h->instance.player[i].len;
        if (stop > pos && stop < h->tokens) end[count++] = stop;
    }
    return count;
}

/* The first of the ends after which the states agree; *met = 0: none. Runs both prompts once. */
static rung_status first_meeting(size_t *met, pair *p, rung_session *other, const size_t *end, size_t ends,
                                 rung_error *err)
{
    rung_status status = RUNG_OK;
    *met = 0;
    rung_session_reset(p->h->session);
    rung_session_reset(other);
    p->h->evaluations += 2;
    for (size_t i = 0, from = 0; i < ends && status == RUNG_OK && !*met; from = end[i++]) {
        status = go_on(p->h->session, p->a, from, end[i], err);
        RUNG_NEXT(status, go_on(other, p->b, from, end[i], err));
        RUNG_NEXT(status, rung_runner_pack(p->h, p->h->session, err));
        RUNG_NEXT(status, keep_state(p, err));
        RUNG_NEXT(status, rung_runner_pack(p->h, other, err));
        if (status == RUNG_OK && memcmp(p->state, p->h->state, (p->h->state_bits + 7) / 8) == 0) *met = end[i];
    }
    return status;
}

/* The shortest prefix in (low, high] after which the states agree; they agree at high. */
static rung_status bisect(size_t *least, pair *p, size_t low, size_t high, rung_error *err)
{
    rung_status status = RUNG_OK;
    while (high - low > 1 && status == RUNG_OK) {
        size_t middle = low + (high - low) / 2;
        bool same;
        status = same_after(&same, p, middle, err);
        if (same)
            high = middle;
        else
            low = middle;
    }
    *least = high;
    return status;
}

static rung_status claim_merge(pair *p, rung_cert *cert, bool *found, size_t pos, size_t met, rung_rng *rng,
                               rung_error *err)
{
    size_t least;
    if (!rung_runner_separate(p->h, p->a, p->b, met, rng)) return RUNG_OK;
    RUNG_TRY(bisect(&least, p, pos, met, err));
    return rung_certify_state_collision(p->h, cert, found, p->a, p->b, least, err);
}

rung_status rung_runner_merge(runner *h, rung_cert *cert, bool *found, uint32_t *a, size_t pos, uint32_t other,
                              rung_rng *rng, rung_error *err)
{
    size_t end[RUNG_PLAYERS_MAX], ends = ends_after(end, h, pos), met = 0;
    rung_session *second = NULL;
    pair p = {.h = h, .a = a, .b = rung_calloc(h->tokens, sizeof *a, err)};
    rung_status status = p.b ? rung_session_new(&second, h->attacked->program, h->tokens, err) : RUNG_SYSTEM;
    if (status == RUNG_OK) {
        memcpy(p.b, a, h->tokens * sizeof *a);
        p.b[pos] = other;
        status = first_meeting(&met, &p, second, end, ends, err);
    }
    if (status == RUNG_OK && met) status = claim_merge(&p, cert, found, pos, met, rng, err);
    rung_session_free(second);
    free(p.b);
    free(p.state);
    return status;
}
