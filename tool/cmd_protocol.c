/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung protocol: a model as players who hold parts of the prompt and messages of so many bits, the same to the bit as the evaluator
 * that sees all of it. See docs/protocol.md.
 */
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "protocol.h"
#include "rung/cert.h"

typedef struct protocol_values {
    rung_worker_words subject;
    const char *trace, *svg;
    int64_t index;
} protocol_values;

/* ---- playing ---------------------------------------------------------------------------------------------------------------------- */

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
                     rung_model_get_arch(p->subject->model)->layer[letter->layer].group[letter->group].mech->name);
    rung_jout_string(&out, "from", p->player[letter->from].name);
    rung_jout_string(&out, "to", p->player[letter->to].name);
    rung_jout_string(&out, "what", rung_sent_words[letter->what]);
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

static rung_status play(rung_played *p, const rung_program *program, listener *l, rung_error *err)
{
    rung_transcript_clear(&p->transcript);
    return rung_protocol_play(&p->transcript,
                              &(rung_protocol){.model = p->subject->model,
                                               .program = program,
                                               .numbers = &p->subject->fmt,
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
    const rung_model_spec *spec = p->judge->spec;
    const double *out = p->transcript.out + (p->asked - 1) * spec->answers;
    size_t row = rung_argmax(out, spec->answers), first = spec->answers - spec->thoughts;
    p->token[p->tokens] = (uint32_t)(spec->vocab - spec->thoughts + (row >= first ? row - first : 0));
    p->at[p->asked++] = p->tokens++;
}

static rung_status set_up(rung_played *p, rung_error *err)
{
    const rung_judge *j = p->judge;
    size_t room = j->instance.tokens + j->thoughts;
    p->token = rung_calloc(room, sizeof *p->token, err);
    p->at = rung_calloc(j->targets + j->thoughts + 1, sizeof *p->at, err);
    if (!p->token || !p->at) return RUNG_SYSTEM;
    p->tokens = j->instance.tokens, p->asked = j->targets;
    memcpy(p->token, j->instance.token, p->tokens * sizeof *p->token);
    memcpy(p->at, j->at, p->asked * sizeof *p->at);
    return rung_protocol_players(&p->player, &p->players, p->subject->model, &j->instance, err);
}

/* Sparse players are blocks, and a thought may begin a new one. */
static rung_status regroup(rung_played *p, rung_error *err)
{
    rung_instance all = p->judge->instance;
    rung_span *player;
    size_t players;
    all.tokens = p->tokens;
    if (all.player_count) all.player[all.player_count - 1].len = p->tokens - all.player[all.player_count - 1].start;
    rung_status status = rung_protocol_players(&player, &players, p->subject->model, &all, err);
    if (status != RUNG_OK) return status;
    free(p->player);
    p->player = player, p->players = players;
    return RUNG_OK;
}

static rung_status play_all(rung_played *p, const rung_program *program, listener *l, rung_error *err)
{
    rung_status status = set_up(p, err);
    for (size_t n = 0; status == RUNG_OK && n < p->judge->thoughts; n++) {
        status = play(p, program, NULL, err);
        if (status != RUNG_OK) break;
        say_thought(p);
        status = regroup(p, err);
    }
    return status == RUNG_OK ? play(p, program, l, err) : status;
}

static rung_status play_traced(rung_played *p, const rung_program *program, const char *trace, rung_error *err)
{
    rung_file_writer writer;
    listener l = {.played = p};
    rung_status status = trace ? rung_file_begin(&writer, trace, err) : RUNG_OK;
    if (status != RUNG_OK) return status;
    rung_buf_init(&l.line);
    l.stream = trace ? writer.stream : NULL;
    status = play_all(p, program, &l, err);
    rung_buf_clear(&l.line);
    if (!trace) return status;
    if (status == RUNG_OK) return rung_file_commit(&writer, err);
    rung_file_abandon(&writer);
    return status;
}

/* ---- comparing ---------------------------------------------------------------------------------------------------------------------- */

static rung_status bug(rung_error *err, const char *what)
{
    return rung_fail(err, RUNG_SYSTEM, "%s; this is a bug of rung: please report it with the model and the command",
                     what);
}

/* The last row after a chain of thought, all of them otherwise. */
static rung_status compare_outputs(const rung_played *p, rung_error *err)
{
    const rung_judge *j = p->judge;
    const double *out = p->transcript.out + (j->thoughts ? p->asked - 1 : 0) * j->wide;
    if (memcmp(out, j->out, j->targets * j->wide * sizeof *out) == 0) return RUNG_OK;
    return bug(err, "the players' read-outs are not those of the evaluator");
}

static rung_status compare_states(const rung_played *p, rung_error *err)
{
    const rung_session *session = p->judge->session;
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
    if (status == RUNG_OK) status = compare_states(p, err);
    if (status == RUNG_OK) status = rung_protocol_ledger(p, err);
    if (status == RUNG_OK && p->agreement == RUNG_LEDGER_MORE)
        status = bug(err, "more bits were sent than 'rung bound' counts");
    return status;
}

/* ---- command ------------------------------------------------------------------------------------------------------------------------ */

static rung_status write_svg(const char *path, const rung_played *p, rung_error *err)
{
    rung_buf svg;
    rung_buf_init(&svg);
    rung_protocol_svg(&svg, p);
    rung_status status = rung_buf_ok(&svg, err);
    if (status == RUNG_OK) status = rung_file_write(path, svg.text, svg.len, err);
    rung_buf_clear(&svg);
    return status;
}

static rung_status report(const rung_played *p, const rung_call *call, rung_error *err)
{
    const protocol_values *v = call->values;
    rung_buf text;
    rung_buf_init(&text);
    rung_status status = v->svg ? write_svg(v->svg, p, err) : RUNG_OK;
    if (call->json)
        rung_protocol_json(&text, p, call);
    else
        rung_protocol_print(&text, p);
    if (status == RUNG_OK) status = rung_out_buf(&text, err);
    rung_buf_clear(&text);
    if (status == RUNG_OK && v->trace) rung_note(call, "wrote %s", v->trace);
    if (status == RUNG_OK && v->svg) rung_note(call, "wrote %s", v->svg);
    return status;
}

static rung_status run_subject(const rung_worker *s, const rung_call *call, rung_error *err)
{
    const protocol_values *v = call->values;
    rung_program *program = NULL;
    rung_judge judge = {0};
    rung_played p = {.subject = s, .judge = &judge, .index = (uint64_t)v->index};
    rung_status status = rung_protocol_covers(s->model, err);
    if (status == RUNG_OK) status = rung_program_new(&program, s->model, &s->how, err);
    if (status == RUNG_OK) status = rung_judge_init(&judge, s->model, program, &s->task, err);
    if (status == RUNG_OK) status = rung_task_make(&judge.instance, &s->task, (uint64_t)call->seed, p.index, err);
    if (status == RUNG_OK) status = rung_judge_run(&judge, RUNG_FORM_SCAN, err);
    if (status == RUNG_OK) status = play_traced(&p, program, v->trace, err);
    if (status == RUNG_OK) status = compare(&p, err);
    if (status == RUNG_OK) status = report(&p, call, err);
    rung_transcript_clear(&p.transcript);
    free(p.token), free(p.at), free(p.player), free(p.opened), free(p.ledger);
    rung_judge_clear(&judge);
    rung_program_free(program);
    return status;
}

static int run_protocol(const rung_call *call, rung_error *err)
{
    const protocol_values *v = call->values;
    rung_worker s;
    if (strcmp(v->subject.numbers, "fp32") == 0)
        return rung_fail(err, RUNG_USAGE,
                         "fp32 is the fast evaluator, and messages are exact numbers; say --numbers f32");
    rung_status status = rung_out_spares(v->trace, call->argument[0], err);
    if (status == RUNG_OK) status = rung_out_spares(v->svg, call->argument[0], err);
    if (status != RUNG_OK) return status;
    status = rung_worker_open(&s, call, &v->subject, err);
    if (status == RUNG_OK) status = run_subject(&s, call, err);
    rung_worker_close(&s);
    return status;
}

const rung_command rung_command_protocol = {
    .name = "protocol",
    .summary = "a model as players and messages, and the bits between them",
    .details = "Each player holds a part of the prompt: table and query of eva, the functions and arguments of "
               "seqcomp, the blocks of a "
               "sparse layer. Recurrent layers hand their state along the line, full layers an accumulator (m, den, "
               "num) for every token "
               "that asks, sparse layers the summaries of blocks and the keys and values of those that are opened; "
               "nothing else passes.\n"
               "The read-outs and all states are compared with the evaluator that sees the whole prompt, bit for bit, "
               "and the bits that "
               "were sent with what 'rung bound' counts for the same layers. docs/protocol.md says what is counted and "
               "what is not.",
    .examples =
        (const rung_example[]){
            {"rung protocol m.safetensors", "bits of every layer over every cut, on a prompt of its task"},
            {"rung protocol m.safetensors --numbers e8m3 --seed 7 --index 2", "other numbers, another prompt"},
            {"rung protocol m.safetensors --task seqcomp L=2 --trace messages.jsonl", "every message, with its bits"},
            {"rung protocol m.safetensors --svg players.svg --json", "a picture, and an object for programs"},
            {0},
        },
    .arguments = (const rung_argument[]){RUNG_SUBJECT_ARGUMENT, {0}},
    .words = "parameters of the task",
    .options =
        (const rung_option[]){
            RUNG_OPTION_TASK(protocol_values, subject.task),
            {.name = "numbers",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(protocol_values, subject.numbers),
             .metavar = "FORMAT",
             .help = "exact format of all numbers and messages: f64, f32, bf16, f16, eXmY, qI.F",
             .fallback = "bf16"},
            {.name = "index",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(protocol_values, index),
             .metavar = "I",
             .help = "which prompt of the seed",
             .fallback = "0",
             .low = 0,
             .high = INT64_MAX / 2},
            {.name = "trace",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(protocol_values, trace),
             .metavar = "FILE",
             .help = "every message, one JSON object per line",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "svg",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(protocol_values, svg),
             .metavar = "FILE",
             .help = "a picture of the players and the bits between them",
             .complete = RUNG_COMPLETE_FILE},
            RUNG_OPTION_THREADS(protocol_values, subject.threads),
            {0},
        },
    .values_size = sizeof(protocol_values),
    .run = run_protocol,
};
