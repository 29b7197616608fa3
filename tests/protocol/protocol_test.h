/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of protocols share: a random model with a random prompt, played and evaluated in one piece.
 */
#ifndef RUNG_TESTS_PROTOCOL_TEST_H
#define RUNG_TESTS_PROTOCOL_TEST_H

#include "rung/protocol.h"

#include "model/model_test.h"

enum { ASKED_MAX = 64, ANSWERS_MAX = 64 };

/* A model, a format, a prompt, players and asked tokens. */
typedef struct match {
    rung_model *model;
    rung_program *program;
    rung_fmt fmt;
    uint32_t token[PROMPT_MAX];
    size_t tokens;
    rung_span player[PROMPT_MAX];
    size_t players;
    size_t at[ASKED_MAX], asked;
    rung_protocol_tap *tap;
    void *context;
} match;

static inline match match_of(const rung_model_spec *spec, const char *format, uint64_t seed)
{
    match m = {.model = random_model(spec, seed), .fmt = format_of(format)};
    m.program = program_of(m.model, format, 1);
    return m;
}

static inline void match_clear(match *m)
{
    rung_program_free(m->program), rung_model_close(m->model);
}

static inline void add_player(match *m, size_t len)
{
    size_t start = m->players ? m->player[m->players - 1].start + m->player[m->players - 1].len : 0;
    m->player[m->players] = (rung_span){.start = start, .len = len};
    snprintf(m->player[m->players].name, sizeof m->player->name, "p%u", (unsigned)(m->players & 255));
    m->players++;
}

static inline void draw_tokens(match *m, size_t tokens, uint64_t seed)
{
    test_prompt p = draw_prompt(rung_model_get_spec(m->model), tokens, seed);
    memcpy(m->token, p.token, tokens * sizeof *m->token);
    m->tokens = tokens;
}

static inline rung_status play_match(rung_transcript *t, const match *m, rung_error *err)
{
    return rung_protocol_play(t,
                              &(rung_protocol){.model = m->model,
                                               .program = m->program,
                                               .numbers = &m->fmt,
                                               .token = m->token,
                                               .tokens = m->tokens,
                                               .player = m->player,
                                               .player_count = m->players,
                                               .at = m->at,
                                               .at_count = m->asked,
                                               .tap = m->tap,
                                               .context = m->context},
                              err);
}

/* Evaluated in one piece: read-outs and packed state (state has room for any). NULL state: not wanted. */
static inline rung_status run_whole(double *out, uint8_t **state, uint64_t *bits, const match *m, rung_error *err)
{
    rung_session *session = session_of(m->program, m->tokens);
    rung_prompt prompt = {.token = m->token, .tokens = m->tokens};
    rung_status status = rung_session_run(session, out, &prompt, RUNG_FORM_SCAN, m->at, m->asked, err);
    *bits = rung_session_state_bits(session);
    *state = calloc(1, (size_t)*bits / 8 + 1);
    if (status == RUNG_OK) CHECK(rung_session_pack(session, *state, &check_err));
    rung_session_free(session);
    return status;
}

/* Whether the read-outs (and, if asked for, the states) of a transcript are those of one piece. */
static inline bool same_as_whole(const rung_transcript *t, const match *m, bool states)
{
    double out[ASKED_MAX * ANSWERS_MAX];
    uint8_t *state;
    uint64_t bits;
    size_t answers = rung_model_get_spec(m->model)->answers;
    assert_true(answers <= ANSWERS_MAX);
    CHECK(run_whole(out, &state, &bits, m, &check_err));
    bool same = memcmp(out, t->out, m->asked * answers * sizeof *out) == 0;
    if (states) same = same && bits == t->state_bits && memcmp(state, t->state, (size_t)bits / 8 + 1) == 0;
    free(state);
    return same;
}

#endif
