/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung explain: a certificate of failure, shown to a person.
 */
#include <stdlib.h>

#include "explain.h"
#include "output.h"

typedef struct explain_values {
    const char *model, *svg;
    int64_t show;
} explain_values;

static rung_status write_picture(const rung_explained *x, const char *path, rung_error *err)
{
    rung_buf svg;
    rung_buf_init(&svg);
    rung_explain_svg(&svg, x);
    rung_status status = rung_buf_ok(&svg, err);
    RUNG_NEXT(status, rung_file_write(path, svg.text, svg.len, err));
    rung_buf_clear(&svg);
    return status;
}

static rung_status explain(const rung_explained *x, const tool_call *call, rung_error *err)
{
    const explain_values *v = call->values;
    rung_buf text;
    rung_buf_init(&text);
    if (call->json)
        rung_explain_json(&text, x);
    else
        tool_explain_print(&text, x, (size_t)v->show);
    rung_status status = v->svg ? write_picture(x, v->svg, err) : RUNG_OK;
    RUNG_NEXT(status, tool_out_buf(&text, err));
    rung_buf_clear(&text);
    if (status == RUNG_OK && v->svg) tool_note(call, "wrote %s", v->svg);
    return status;
}

static int run_explain(const tool_call *call, rung_error *err)
{
    const explain_values *v = call->values;
    rung_explained *x = rung_calloc(1, sizeof *x, err);
    if (!x) return RUNG_SYSTEM;
    rung_status status = tool_out_spares(v->svg, call->argument[0], err);
    RUNG_NEXT(status, tool_out_spares(v->svg, v->model, err));
    RUNG_NEXT(status, rung_explain(x, call->argument[0], v->model, err));
    RUNG_NEXT(status, explain(x, call, err));
    int code = status == RUNG_OK && x->fault[0] ? RUNG_NEGATIVE : (int)status;
    rung_explained_clear(x);
    free(x);
    return code;
}

const tool_command tool_command_explain = {
    .name = "explain",
    .summary = "show a certificate of failure: the prompts, what is the same, why nothing helps",
    .details =
        "Reads a certificate, puts its prompts side by side in the words of the task, marks where they differ, asks "
        "the "
        "oracle, and says what is equal and what follows from it. With --model it also runs the model on the prompts. "
        "Whether a certificate is true is for rung-check to say, which shares no code with this.",
    .examples =
        (const tool_example[]){
            {"rung explain m.cert", "the claim, the prompts side by side, the reason"},
            {"rung explain m.cert --model m.safetensors", "also what the model answers to each prompt"},
            {"rung explain m.cert --svg m.svg", "a picture of the two prompts and of what collides"},
            {0},
        },
    .arguments = (const tool_argument[]){{.metavar = "CERT",
                                          .help = "a certificate, as docs/certificate.md describes it",
                                          .least = 1,
                                          .most = 1,
                                          .complete = RUNG_COMPLETE_FILE},
                                         {0}},
    .options =
        (const rung_option[]){
            {.name = "model",
             .letter = 'm',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(explain_values, model),
             .metavar = "FILE",
             .help = "the model, to run it on the prompts",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "svg",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(explain_values, svg),
             .metavar = "FILE",
             .help = "write a picture (SVG)",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "show",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(explain_values, show),
             .metavar = "K",
             .help = "differing tokens to print, each on its line",
             .fallback = "32",
             .low = 1,
             .high = INT32_MAX},
            {0},
        },
    .values_size = sizeof(explain_values),
    .negative = "something in it is seen to be untrue",
    .run = run_explain,
};
