/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung compare: ledgers side by side, as a table and as one picture.
 */
#include <stdlib.h>
#include <string.h>

#include "bound_ask.h"
#include "bound_ledger.h"
#include "output.h"
#include "rung/card.h"

typedef struct compare_values {
    tool_ledger_options options;
    const char *task, *plot;
    int64_t n, context;
} compare_values;

/* One column. */
typedef struct column {
    const tool_bound_input *input;
    rung_ledger_view view;
    rung_decision decision; /* of the task, if there is one */
} column;

typedef struct columns {
    column *at;
    size_t count;
    const rung_task_conf *task; /* NULL: none */
    rung_decide_options means;
} columns;

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static void put_count(rung_buf *out, uint64_t value)
{
    if (value)
        rung_buf_printf(out, "%llu", (unsigned long long)value);
    else
        rung_buf_putc(out, '.');
}

#define COUNT_ROW(name, expression)                                                                                    \
    static void name(rung_buf *out, const column *c)                                                                   \
    {                                                                                                                  \
        put_count(out, expression);                                                                                    \
    }
COUNT_ROW(put_layers, c->view.sum.total)
COUNT_ROW(put_full, c->view.sum.full)
COUNT_ROW(put_recurrent, c->view.sum.recurrent)
COUNT_ROW(put_window, c->view.sum.window)
COUNT_ROW(put_chunk, c->view.sum.chunk)
COUNT_ROW(put_sparse, c->view.sum.sparse)
COUNT_ROW(put_mlp, c->view.sum.mlp)
COUNT_ROW(put_accumulator_bits, (uint64_t)rung_claim_arithmetic(c->input->claim)->accumulator_bits)
COUNT_ROW(put_state_bits, (uint64_t)rung_claim_arithmetic(c->input->claim)->state_bits)
COUNT_ROW(put_cache_bits, (uint64_t)rung_claim_arithmetic(c->input->claim)->cache_bits)
COUNT_ROW(put_state, c->view.sum.all.state_elements + c->view.sum.all.extra_elements)
COUNT_ROW(put_conv, c->view.sum.all.conv_elements)
COUNT_ROW(put_windows, c->view.sum.all.window_elements)
COUNT_ROW(put_carried, c->view.carried_bits)
COUNT_ROW(put_message, c->view.message_bits)
COUNT_ROW(put_grows, c->view.sum.all.kv_per_token + c->view.sum.all.index_per_token)
COUNT_ROW(put_largest_carried, c->view.largest_carried_bits)
COUNT_ROW(put_largest_message, c->view.largest_message_bits)
COUNT_ROW(put_largest_grows, c->view.sum.largest.kv_per_token)

static void put_grows_bytes(rung_buf *out, const column *c)
{
    rung_card_put_bytes_short(out, c->view.growth_bits / 8 + (c->view.growth_bits % 8 != 0));
}

static void put_carried_bytes(rung_buf *out, const column *c)
{
    rung_card_put_bytes_short(out, c->view.carried_bits / 8 + (c->view.carried_bits % 8 != 0));
}

static void put_verdict(rung_buf *out, const column *c)
{
    rung_buf_puts(out, rung_verdict_names[c->decision.verdict - 1]);
}

static void put_theorem(rung_buf *out, const column *c)
{
    const rung_decision *d = &c->decision;
    const char *weights = d->basis == RUNG_BASIS_PROOF ? "weights" : "weights, run";
    if (d->verdict == RUNG_CAN || d->verdict == RUNG_CAN_SAMPLED)
        rung_buf_puts(out, weights);
    else
        rung_buf_puts(out, d->decisive ? d->decisive->bound->id : ".");
}

static void put_from(rung_buf *out, const column *c)
{
    double least = 0;
    for (size_t i = 0; i < c->decision.bounds->count; i++) {
        double n = c->decision.bounds->answer[i].n_threshold;
        if (n > 0 && (least <= 0 || n < least)) least = n;
    }
    if (least > 0)
        rung_buf_printf(out, least < 1e15 ? "%.0f" : "%.3g", least);
    else
        rung_buf_putc(out, '.');
}

static const struct row {
    const char *label;
    void (*put)(rung_buf *out, const column *c);
    bool about_task, always;
} rows[] = {
    {"layers", put_layers, false, true},
    {"full", put_full, false, true},
    {"recurrent", put_recurrent, false, true},
    {"window", put_window, false, false},
    {"chunk", put_chunk, false, false},
    {"sparse", put_sparse, false, false},
    {"no token mixing", put_mlp, false, false},
    {"bits of an accumulator's number", put_accumulator_bits, false, true},
    {"bits of a state's number", put_state_bits, false, true},
    {"bits of a cache's number", put_cache_bits, false, true},
    {"all layers: state, elements", put_state, false, false},
    {"all layers: convolution, elements", put_conv, false, false},
    {"all layers: window, elements", put_windows, false, false},
    {"all layers: carried, bits", put_carried, false, true},
    {"all layers: carried", put_carried_bytes, false, true},
    {"all layers: handed to a token, bits", put_message, false, true},
    {"all layers: growth a token, elements", put_grows, false, true},
    {"all layers: growth a token", put_grows_bytes, false, true},
    {"largest layer: carried, bits", put_largest_carried, false, true},
    {"largest layer: handed to a token, bits", put_largest_message, false, true},
    {"largest layer: growth a token, elements", put_largest_grows, false, true},
    {"verdict", put_verdict, true, true},
    {"by, or nearest", put_theorem, true, true},
    {"CANNOT from n on", put_from, true, true},
};

/* ---- table ----------------------------------------------------------------------------------------------------- */

/* A row of nothing but dots says nothing. */
static bool is_empty(const struct row *row, const columns *all)
{
    bool empty = true;
    rung_buf cell;
    rung_buf_init(&cell);
    for (size_t i = 0; i < all->count && empty; i++) {
        rung_buf_reset(&cell);
        row->put(&cell, &all->at[i]);
        empty = cell.text && strcmp(cell.text, ".") == 0;
    }
    rung_buf_clear(&cell);
    return empty;
}

static void print_row(rung_buf *out, const struct row *row, const columns *all)
{
    rung_buf cell;
    rung_buf_init(&cell);
    rung_buf_printf(out, "%-40s", row->label);
    for (size_t i = 0; i < all->count; i++) {
        rung_buf_reset(&cell);
        row->put(&cell, &all->at[i]);
        rung_buf_printf(out, "  %14s", cell.text ? cell.text : "");
    }
    rung_buf_putc(out, '\n');
    out->failed = out->failed || cell.failed;
    rung_buf_clear(&cell);
}

static void print_table(rung_buf *out, const columns *all)
{
    for (size_t i = 0; i < all->count; i++) {
        rung_buf_printf(out, "[%zu] %s%s%s", i + 1, tool_style_bold(), all->at[i].input->text, tool_style_off());
        if (!all->at[i].input->is_arch) {
            rung_buf_puts(out, "  ");
            rung_ledger_order(out, rung_claim_ledger(all->at[i].input->claim));
        }
        rung_buf_putc(out, '\n');
    }
    if (all->task) {
        uint64_t n = rung_claim_n(all->at[0].input->claim);
        rung_buf_puts(out, "task ");
        rung_task_canonical(out, all->task);
        if (n) rung_buf_printf(out, ", any size with at most %llu tokens", (unsigned long long)n);
        rung_buf_putc(out, '\n');
    }
    rung_buf_printf(out, "\n%-38s", "");
    for (size_t i = 0; i < all->count; i++) {
        char head[32];
        snprintf(head, sizeof head, "[%zu]", i + 1);
        rung_buf_printf(out, "  %14s", head);
    }
    rung_buf_putc(out, '\n');
    for (size_t i = 0; i < RUNG_COUNT(rows); i++)
        if ((all->task || !rows[i].about_task) && (rows[i].always || !is_empty(&rows[i], all)))
            print_row(out, &rows[i], all);
}

static void print_json(rung_buf *text, const columns *all)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.compare/3", true);
    rung_jout_array(&out, "results");
    for (size_t i = 0; i < all->count; i++) {
        rung_jout_object(&out, NULL);
        rung_decision_json(&out, all->at[i].input->claim, all->at[i].input->text,
                           all->task ? &all->at[i].decision : NULL);
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    rung_jout_finish(&out);
}

/* ---- command --------------------------------------------------------------------------------------------------- */

static rung_status fill_column(column *c, const tool_bound_input *input, const rung_decide_options *means,
                               rung_error *err)
{
    c->input = input;
    c->view = rung_ledger_view_of(input->claim);
    return rung_claim_task(input->claim) ? rung_decide(&c->decision, input->claim, means, err) : RUNG_OK;
}

static rung_status write_plot(const char *path, const tool_bound_input *inputs, size_t count, uint64_t tokens,
                              rung_error *err)
{
    rung_buf svg;
    rung_ledger_shown *shown = rung_calloc(count, sizeof *shown, err);
    if (!shown) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++)
        shown[i] = (rung_ledger_shown){inputs[i].claim, inputs[i].text, !inputs[i].is_arch, tokens};
    rung_buf_init(&svg);
    rung_ledger_svg(&svg, shown, count);
    free(shown);
    rung_status status = rung_buf_ok(&svg, err);
    RUNG_NEXT(status, rung_file_write(path, svg.text, svg.len, err));
    rung_buf_clear(&svg);
    return status;
}

static rung_status compare(const columns *all, const tool_bound_input *inputs, const tool_call *call, rung_error *err)
{
    const compare_values *v = call->values;
    rung_buf text;
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < all->count; i++)
        status = fill_column(&all->at[i], &inputs[i], &all->means, err);
    RUNG_TRY(status);
    rung_buf_init(&text);
    if (call->json)
        print_json(&text, all);
    else
        print_table(&text, all);
    status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    if (status == RUNG_OK && v->plot) status = write_plot(v->plot, inputs, all->count, (uint64_t)v->context, err);
    if (status == RUNG_OK && v->plot) tool_note(call, "wrote %s", v->plot);
    return status;
}

static int run_compare(const tool_call *call, rung_error *err)
{
    const compare_values *v = call->values;
    rung_task_conf task;
    tool_bound_inputs inputs;
    columns all = {
        .task = v->task ? &task : NULL,
        .means = {.bounds = true, .thresholds = true, .weights = true, .samples = 200, .work = RUNG_DECIDE_QUICK}};
    if (!v->task && (call->pairs || v->n))
        return rung_fail(err, RUNG_USAGE, "'%s' belongs to which task? add --task NAME",
                         call->pairs ? call->pair[0] : "--n");
    rung_status status = v->task ? rung_task_conf_init(&task, v->task, call->pair, call->pairs, err) : RUNG_OK;
    rung_claim_spec about = rung_claim_spec_of_prompt(all.task, (uint64_t)v->n);
    RUNG_TRY(status);
    RUNG_TRY(tool_read_bits(&about, &v->options, err));
    status = tool_bound_inputs_open(&inputs, call, &v->options, &about, err);
    RUNG_TRY(status);
    all.count = inputs.count;
    all.at = rung_calloc(all.count, sizeof *all.at, err);
    status = all.at ? compare(&all, inputs.at, call, err) : RUNG_SYSTEM;
    for (size_t i = 0; all.at && i < all.count; i++) rung_decision_clear(&all.at[i].decision);
    free(all.at);
    return tool_bound_inputs_close(&inputs, (int)status, err);
}

const tool_command tool_command_compare = {
    .name = "compare",
    .summary = "ledgers of several architectures side by side, and as a picture",
    .details =
        "What the layers of each carry past a position, hand to a token and add to their caches. --svg draws one bar "
        "per layer on one scale for all: above the line what it holds of --context tokens, below what crosses a "
        "position. With --task "
        "also the verdicts of 'rung bound'.",
    .examples =
        (const tool_example[]){
            {"rung compare '12*(3*gdelta,full)' '6*(7*gdelta,full)' '48*full' --heads 32 --head-dim 128",
             "a 3:1 and a 7:1 hybrid beside full attention"},
            {"rung compare a/config.json b/config.json c.gguf --svg abc.svg", "real models, with the picture"},
            {"rung compare full,linear linear,full '2*full' --head-dim 2 --bits 8 --task seqcomp L=2",
             "the order of layers matters"},
            {0},
        },
    .arguments = (const tool_argument[]){RUNG_LEDGER_ARGUMENT(1), {0}},
    .pairs = "parameters of the task",
    .options =
        (const rung_option[]){
            {.name = "svg",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(compare_values, plot),
             .metavar = "FILE",
             .help = "write a picture (SVG)",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "context",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(compare_values, context),
             .metavar = "N",
             .help = "tokens at which the picture draws caches",
             .fallback = "131072",
             .low = 1,
             .high = INT64_C(1) << 40},
            RUNG_LEDGER_OPTIONS(compare_values, options),
            {.name = "task",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(compare_values, task),
             .metavar = "TASK",
             .help = "verdicts about this task, too",
             .names = rung_task_name_at},
            {.name = "n",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(compare_values, n),
             .metavar = "N",
             .help = "any size of the task with at most so many prompt tokens",
             .low = 1,
             .high = INT64_MAX / 4},
            {0},
        },
    .values_size = sizeof(compare_values),
    .run = run_compare,
};
