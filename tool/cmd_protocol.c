/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung protocol: a model as players who hold parts of the prompt and messages of so many bits, the same to the bit
 * as the evaluator that sees all of it. See docs/protocol.md.
 */
#include <string.h>

#include "output.h"
#include "protocol.h"

typedef struct protocol_values {
    tool_worker_options subject;
    const char *trace, *svg;
    int64_t index;
} protocol_values;

/* ---- command --------------------------------------------------------------------------------------------------- */

static rung_status write_svg(const char *path, const rung_played *p, rung_error *err)
{
    rung_buf svg;
    rung_buf_init(&svg);
    rung_played_svg(&svg, p);
    rung_status status = rung_buf_ok(&svg, err);
    RUNG_NEXT(status, rung_file_write(path, svg.text, svg.len, err));
    rung_buf_clear(&svg);
    return status;
}

static rung_status report(const tool_worker *s, const rung_played *p, const tool_call *call, rung_error *err)
{
    const protocol_values *v = call->values;
    rung_buf text;
    rung_buf_init(&text);
    rung_status status = v->svg ? write_svg(v->svg, p, err) : RUNG_OK;
    if (call->json)
        tool_protocol_json(&text, s, p, call);
    else
        tool_protocol_print(&text, s, p);
    RUNG_NEXT(status, tool_out_buf(&text, err));
    rung_buf_clear(&text);
    if (status == RUNG_OK && v->trace) tool_note(call, "wrote %s", v->trace);
    if (status == RUNG_OK && v->svg) tool_note(call, "wrote %s", v->svg);
    return status;
}

static rung_status run_subject(const tool_worker *s, const tool_call *call, rung_error *err)
{
    const protocol_values *v = call->values;
    const rung_play play = {.model = s->model,
                            .task = &s->task,
                            .how = &s->how,
                            .seed = (uint64_t)call->seed,
                            .index = (uint64_t)v->index,
                            .trace = v->trace};
    rung_played p;
    rung_status status = rung_played_make(&p, &play, err);
    RUNG_NEXT(status, report(s, &p, call, err));
    rung_played_clear(&p);
    return status;
}

static int run_protocol(const tool_call *call, rung_error *err)
{
    const protocol_values *v = call->values;
    tool_worker s;
    if (strcmp(v->subject.numbers, "fp32") == 0)
        return rung_fail(err, RUNG_USAGE,
                         "fp32 is the fast evaluator, and messages are exact numbers; say --numbers f32");
    RUNG_TRY(tool_out_spares(v->trace, call->argument[0], err));
    RUNG_TRY(tool_out_spares(v->svg, call->argument[0], err));
    rung_status status = tool_worker_open(&s, call, &v->subject, err);
    if (status == RUNG_OK && s.how.mixed)
        status =
            rung_fail(err, RUNG_USAGE, "a protocol takes one number format for everything, not %s", s.numbers.name);
    RUNG_NEXT(status, run_subject(&s, call, err));
    tool_worker_close(&s);
    return status;
}

const tool_command tool_command_protocol = {
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
        (const tool_example[]){
            {"rung protocol m.safetensors", "bits of every layer over every cut, on a prompt of its task"},
            {"rung protocol m.safetensors --numbers e8m3 --seed 7 --index 2", "other numbers, another prompt"},
            {"rung protocol m.safetensors --task seqcomp L=2 --trace messages.jsonl", "every message, with its bits"},
            {"rung protocol m.safetensors --svg players.svg --json", "a picture, and an object for programs"},
            {0},
        },
    .arguments = (const tool_argument[]){RUNG_SUBJECT_ARGUMENT, {0}},
    .pairs = "parameters of the task",
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
