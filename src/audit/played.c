/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A model as players who hold parts of the prompt and messages of so many bits, the same to the bit as the evaluator
 * that sees all of it. See docs/protocol.md.
 */
#include "played.h"

#include <stdlib.h>
#include <string.h>

#include "rung/render.h"

/* ---- playing --------------------------------------------------------------------------------------------------- */

/* Where the messages of the last game go. */
typedef struct listener {
    rung_played *played;
    FILE *stream; /* NULL: no trace */
    rung_buf line;
} listener;

static rung_status keep_opened(rung_played *p, const rung_letter *letter, rung_error *err)
{
    if (p->opened_count == p->opened_room) {
        size_t room = 2 * p->opened_room + 64;
        rung_letter *more = realloc(p->opened, room * sizeof *more);
        if (!more) return rung_fail(err, RUNG_SYSTEM, "no memory for %zu messages", room);
        p->opened = more, p->opened_room = room;
    }
    p->opened[p->opened_count] = *letter;
    p->opened[p->opened_count++].bytes = NULL;
    return RUNG_OK;
}

static rung_status write_letter(listener *l, const rung_letter *letter, rung_error *err)
{
    const rung_played *p = l->played;
    rung_jout out;
    char *hex = rung_cert_hex(letter->bytes, (size_t)letter->bits, err);
    if (!hex) return RUNG_SYSTEM;
    rung_buf_reset(&l->line);
    rung_jout_begin(&out, &l->line, NULL, false);
    rung_jout_int(&out, "layer", (int64_t)letter->layer);
    rung_jout_int(&out, "group", (int64_t)letter->group);
    rung_jout_string(&out, "mechanism",
                     rung_model_get_arch(p->play.model)->layer[letter->layer].group[letter->group].mech->name);
    rung_jout_string(&out, "from", p->player[letter->from].name);
    rung_jout_string(&out, "to", p->player[letter->to].name);
    rung_jout_string(&out, "what", rung_sent_names[letter->what]);
    rung_jout_string(&out, "whose", p->player[letter->whose].name);
    rung_jout_int(&out, "first", (int64_t)letter->first);
    rung_jout_int(&out, "count", (int64_t)letter->count);
    rung_jout_bool(&out, "counted", letter->what < RUNG_SENT_COUNTED);
    rung_jout_int(&out, "bits", (int64_t)letter->bits);
    rung_jout_string(&out, "hex", hex);
    rung_jout_finish(&out);
    free(hex);
    rung_status status = rung_buf_ok(&l->line, err);
    if (status == RUNG_OK && fwrite(l->line.text, 1, l->line.len, l->stream) != l->line.len)
        return rung_fail(err, RUNG_SYSTEM, "cannot write the trace; is the disk full?");
    return status;
}

static rung_status listen(void *context, rung_letter *letter, rung_error *err)
{
    listener *l = context;
    rung_status status = RUNG_OK;
    if (letter->what == RUNG_SENT_OPENED) status = keep_opened(l->played, letter, err);
    return status == RUNG_OK && l->stream ? write_letter(l, letter, err) : status;
}

static rung_status play(rung_played *p, listener *l, rung_error *err)
{
    rung_transcript_clear(&p->transcript);
    return rung_protocol_play(&p->transcript,
                              &(rung_protocol){.model = p->play.model,
                                               .program = p->program,
                                               .numbers = p->play.how->numbers,
                                               .token = p->token,
                                               .tokens = p->tokens,
                                               .player = p->player,
                                               .player_count = p->players,
                                               .at = p->at,
                                               .at_count = p->asked,
                                               .tap = l ? listen : NULL,
                                               .context = l},
                              err);
}

/* The last player says the largest row as the next token, and is asked again. */
static void say_thought(rung_played *p)
{
    const rung_model_spec *spec = p->judge.spec;
    const double *out = p->transcript.out + (p->asked - 1) * spec->answers;
    size_t row = rung_argmax(out, spec->answers), first = spec->answers - spec->thoughts;
    p->token[p->tokens] = (uint32_t)(spec->vocab - spec->thoughts + (row >= first ? row - first : 0));
    p->at[p->asked++] = p->tokens++;
}

static rung_status set_up(rung_played *p, rung_error *err)
{
    const rung_judge *j = &p->judge;
    size_t room = j->instance.tokens + j->thoughts;
    p->token = rung_calloc(room, sizeof *p->token, err);
    p->at = rung_calloc(j->targets + j->thoughts + 1, sizeof *p->at, err);
    if (!p->token || !p->at) return RUNG_SYSTEM;
    p->tokens = j->instance.tokens, p->asked = j->targets;
    memcpy(p->token, j->instance.token, p->tokens * sizeof *p->token);
    memcpy(p->at, j->at, p->asked * sizeof *p->at);
    return rung_protocol_players(&p->player, &p->players, p->play.model, &j->instance, err);
}

/* Sparse players are blocks, and a thought may begin a new one. */
static rung_status regroup(rung_played *p, rung_error *err)
{
    rung_instance all = p->judge.instance;
    rung_span *player;
    size_t players;
    all.tokens = p->tokens;
    if (all.player_count) all.player[all.player_count - 1].len = p->tokens - all.player[all.player_count - 1].start;
    RUNG_TRY(rung_protocol_players(&player, &players, p->play.model, &all, err));
    free(p->player);
    p->player = player, p->players = players;
    return RUNG_OK;
}

static rung_status play_all(rung_played *p, listener *l, rung_error *err)
{
    rung_status status = set_up(p, err);
    for (size_t n = 0; status == RUNG_OK && n < p->judge.thoughts; n++) {
        status = play(p, NULL, err);
        if (status != RUNG_OK) break;
        say_thought(p);
        status = regroup(p, err);
    }
    RUNG_TRY(status);
    return play(p, l, err);
}

static rung_status play_traced(rung_played *p, rung_error *err)
{
    const char *trace = p->play.trace;
    rung_file_writer writer;
    listener l = {.played = p};
    RUNG_TRY(trace ? rung_file_begin(&writer, trace, err) : RUNG_OK);
    rung_buf_init(&l.line);
    l.stream = trace ? writer.stream : NULL;
    rung_status status = play_all(p, &l, err);
    rung_buf_clear(&l.line);
    if (!trace) return status;
    if (status == RUNG_OK) return rung_file_commit(&writer, err);
    rung_file_abandon(&writer);
    return status;
}

/* ---- comparing ------------------------------------------------------------------------------------------------- */

static rung_status bug(rung_error *err, const char *what)
{
    return rung_fail(err, RUNG_SYSTEM, "%s; this is a bug of rung: please report it with the model and the command",
                     what);
}

/* The last row after a chain of thought, all of them otherwise. */
static rung_status compare_outputs(const rung_played *p, rung_error *err)
{
    const rung_judge *j = &p->judge;
    const double *out = p->transcript.out + (j->thoughts ? p->asked - 1 : 0) * j->wide;
    if (memcmp(out, j->out, j->targets * j->wide * sizeof *out) == 0) return RUNG_OK;
    return bug(err, "the players' read-outs are not those of the evaluator");
}

static rung_status compare_states(const rung_played *p, rung_error *err)
{
    const rung_session *session = p->judge.session;
    uint64_t bits = rung_session_state_bits(session);
    if (bits != p->transcript.state_bits) return bug(err, "the players hold another number of bits than the evaluator");
    uint8_t *state = rung_calloc((size_t)bits / 8 + 1, 1, err);
    if (!state) return RUNG_SYSTEM;
    rung_status status = rung_session_pack(session, state, err);
    if (status == RUNG_OK && memcmp(state, p->transcript.state, (size_t)(bits + 7) / 8) != 0)
        status = bug(err, "the players' states are not those of the evaluator");
    free(state);
    return status;
}

static rung_status compare(rung_played *p, rung_error *err)
{
    rung_status status = compare_outputs(p, err);
    RUNG_NEXT(status, compare_states(p, err));
    RUNG_NEXT(status, audit_ledger(p, err));
    if (status == RUNG_OK && p->agreement == RUNG_LEDGER_MORE)
        status = bug(err, "more bits were sent than 'rung bound' counts");
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

rung_status rung_played_make(rung_played *p, const rung_play *how, rung_error *err)
{
    *p = (rung_played){.play = *how};
    RUNG_TRY(rung_protocol_covers(how->model, err));
    RUNG_TRY(rung_program_new(&p->program, how->model, how->how, err));
    RUNG_TRY(rung_judge_init(&p->judge, how->model, p->program, how->task, err));
    RUNG_TRY(rung_task_make(&p->judge.instance, how->task, how->seed, how->index, err));
    RUNG_TRY(rung_judge_run(&p->judge, RUNG_FORM_SCAN, err));
    RUNG_TRY(play_traced(p, err));
    return compare(p, err);
}

void rung_played_clear(rung_played *p)
{
    rung_transcript_clear(&p->transcript);
    free(p->token), free(p->at), free(p->player), free(p->opened), free(p->ledger);
    rung_judge_clear(&p->judge);
    rung_program_free(p->program);
}

void rung_played_words(rung_buf *out, const rung_played *p, size_t player, size_t most)
{
    const rung_task_conf *task = p->play.task;
    const rung_span *span = &p->player[player];
    rung_buf word;
    size_t used = 0;
    rung_buf_init(&word);
    for (size_t t = span->start; t < span->start + span->len; t++) {
        rung_buf_reset(&word);
        if (p->token[t] < task->vocab)
            task->task->token_word(&word, task, p->token[t]);
        else
            rung_buf_printf(&word, "thought%zu", p->token[t] - task->vocab);
        bool last = t + 1 == span->start + span->len;
        if (used + word.len + (used > 0) + (last ? 0 : 4) > most && used) {
            rung_buf_puts(out, " ...");
            break;
        }
        rung_buf_printf(out, "%s%s", used ? " " : "", word.text ? word.text : "");
        used += word.len + (used > 0);
    }
    out->failed = out->failed || word.failed;
    rung_buf_clear(&word);
}
