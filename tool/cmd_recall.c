/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung recall: the measured law of recall. See docs/recall.md.
 */
#include "rung/recall.h"

#include "output.h"
#include "recall_print.h"
#include "rung/mech.h"

typedef struct recall_values {
    int64_t heads, dk, dv, values;
    double accuracy;
} recall_values;

static rung_status ask(rung_recall_question *question, const tool_call *call, rung_error *err)
{
    const recall_values *v = call->values;
    const char *name = call->argument[0];
    if (!rung_mech_get(name)) {
        const char *near = rung_mech_nearest(name);
        return rung_fail(err, RUNG_USAGE, "unknown mechanism '%s'%s%s%s; 'rung list mechanisms' has all", name,
                         near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    *question = (rung_recall_question){.mechanism = name,
                                       .state = {(size_t)v->heads, (size_t)v->dk, (size_t)v->dv},
                                       .values = (size_t)v->values,
                                       .accuracy = v->accuracy};
    return RUNG_OK;
}

static rung_status show(rung_buf *out, const rung_recall_law *law, const tool_call *call, rung_error *err)
{
    rung_recall_question question;
    rung_recall_answer answer;
    if (call->arguments == 0)
        return call->json ? rung_recall_json(out, law, NULL, NULL, err) : tool_recall_print_law(out, law, err);
    RUNG_TRY(ask(&question, call, err));
    RUNG_TRY(rung_recall_predict(&answer, law, &question, err));
    if (call->json) return rung_recall_json(out, law, &question, &answer, err);
    tool_recall_print_answer(out, law, &question, &answer);
    return RUNG_OK;
}

static int run_recall(const tool_call *call, rung_error *err)
{
    size_t count;
    const rung_recall_cell *cells = rung_recall_cells(&count);
    rung_recall_law *law;
    RUNG_TRY(rung_recall_law_new(&law, cells, count, err));
    rung_buf out;
    rung_buf_init(&out);
    rung_status status = show(&out, law, call, err);
    RUNG_NEXT(status, tool_out_buf(&out, err));
    rung_buf_clear(&out);
    rung_recall_law_free(law);
    return status;
}

#define SIZE_ROW(word, field, letter, text, least, standard)                                                           \
    {                                                                                                                  \
        .name = word, .kind = RUNG_OPTION_INT, .at = offsetof(recall_values, field), .metavar = letter, .help = text,  \
        .fallback = standard, .low = least, .high = 1 << 24                                                            \
    }

const tool_command tool_command_recall = {
    .name = "recall",
    .summary = "how many entries a trained recurrent layer looks up: a measured law",
    .details = "With a mechanism and the sizes of its state: how many entries of a table one trained layer looks up at "
               "the asked accuracy, with a 95 % prediction interval. Heads that share their keys count as one head "
               "with the value dimensions of all of them.\n"
               "Without one: four forms of the law, their fits to the runs of experiments/recall-law, and what they "
               "predict of accuracies that others published. The law is measured, not proved, and no verdict uses it; "
               "'rung bound' has the theorems. docs/recall.md explains the forms and where they fail.",
    .examples =
        (const tool_example[]){
            {"rung recall", "the forms, the fits, and published numbers"},
            {"rung recall delta --dk 16 --dv 16 --values 32", "one layer of the delta rule, at accuracy 0.9"},
            {"rung recall gla --heads 4 --dk 64 --dv 128 --values 4096 --accuracy 0.99 --json", "as JSON"},
            {0},
        },
    .arguments = (const tool_argument[]){{.metavar = "MECHANISM",
                                          .help = "a recurrent mechanism; none: the law itself",
                                          .least = 0,
                                          .most = 1,
                                          .names = tool_mech_name_at},
                                         {0}},
    .options =
        (const rung_option[]){
            SIZE_ROW("heads", heads, "H", "heads with keys of their own", 1, "1"),
            SIZE_ROW("dk", dk, "N", "key dimension of a head", 1, "16"),
            SIZE_ROW("dv", dv, "N", "value dimension of a head", 1, "16"),
            SIZE_ROW("values", values, "V", "kinds of values", 2, "32"),
            {.name = "accuracy",
             .kind = RUNG_OPTION_REAL,
             .at = offsetof(recall_values, accuracy),
             .metavar = "A",
             .help = "asked accuracy, above 1/V and up to 1",
             .fallback = "0.9"},
            {0},
        },
    .values_size = sizeof(recall_values),
    .run = run_recall,
};
