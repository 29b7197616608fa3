/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Answers of `rung bound` as text and JSON.
 */
#include <math.h>
#include <string.h>

#include "bound_ask.h"
#include "bound_ledger.h"
#include "output.h"

/* ---- text ------------------------------------------------------------------------------------------------------------- */

static void print_question(rung_buf *out, const rung_bound_ask *ask, const rung_pattern *pattern)
{
    rung_buf_puts(out, "\ntask     ");
    if (ask->n)
        rung_buf_printf(out, "%s, any size with at most %llu tokens", ask->task->task->name,
                        (unsigned long long)ask->n);
    else
        rung_task_canonical(out, ask->task);
    if (!ask->n) rung_buf_printf(out, ", %zu tokens", ask->task->tokens);
    if (ask->n && strcmp(ask->task->task->name, "seqcomp") == 0)
        rung_buf_printf(out, ", L=%lld", (long long)rung_task_param(ask->task, "L"));
    rung_buf text;
    rung_buf_init(&text);
    rung_pattern_print(&text, pattern);
    rung_buf_puts(out, "\npattern  ");
    if (text.text) rung_wrap(out, text.text, 9, 9);
    rung_buf_puts(out, "\n\n");
    out->failed = out->failed || text.failed;
    rung_buf_clear(&text);
}

/* "from n = 542 on" */
static void put_threshold(rung_buf *out, const rung_bound_answer *a)
{
    if (a->log2_n > 0)
        rung_buf_printf(out, "; would hold from n = 2^%.1f on", a->log2_n);
    else if (a->n_threshold > 0)
        rung_buf_printf(out, "; holds from n = %.0f on%s", a->n_threshold, a->exact ? " (exact)" : "");
}

static void print_applicable(rung_buf *out, const rung_bound_answer *a)
{
    const size_t indent = 9;
    rung_buf_printf(out, "%s%-7s%s  %s: ", a->verdict == RUNG_CANNOT ? rung_style_bold() : "",
                    rung_verdict_words[a->verdict - 1], rung_style_off(), a->bound->id);
    rung_wrap(out, a->bound->summary, indent + strlen(a->bound->id) + 2, indent);
    rung_buf_printf(out, "\n%*s", (int)indent, "");
    rung_wrap(out, a->statement, indent, indent);
    if (!a->holds) rung_buf_puts(out, a->lhs > a->rhs ? ", which needs more tokens" : ", which is not so");
    rung_buf_printf(out, "\n%*s", (int)indent, "");
    rung_wrap(out, a->premise, indent, indent);
    rung_buf_printf(out, "\n%*smargin %.4g", (int)indent, "", a->margin);
    put_threshold(out, a);
    if (a->trivial) rung_buf_puts(out, "; trivial: the answer does not fit into one message");
    if (a->ceiling > 0)
        rung_buf_printf(out, "; at most %.4g right on average%s%s", a->ceiling, a->ceiling_over ? " over " : "",
                        a->ceiling_over ? a->ceiling_over : "");
    rung_buf_printf(out, "\n%*s[%s; %s]\n", (int)indent, "", a->bound->source, a->bound->checked);
}

/* The first row that gives this reason for not applying. */
static bool says_it_first(const rung_bound_report *report, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!report->answer[k].applies && strcmp(report->answer[k].premise, report->answer[i].premise) == 0)
            return false;
    return !report->answer[i].applies;
}

/* One line for each reason. */
static void print_others(rung_buf *out, const rung_bound_report *report)
{
    rung_buf ids;
    bool any = false;
    rung_buf_init(&ids);
    for (size_t i = 0; i < report->count; i++) {
        const char *reason = report->answer[i].premise;
        if (!says_it_first(report, i)) continue;
        rung_buf_reset(&ids);
        for (size_t k = i; k < report->count; k++)
            if (!report->answer[k].applies && strcmp(report->answer[k].premise, reason) == 0)
                rung_buf_printf(&ids, "%s%s", ids.len ? ", " : "", report->answer[k].bound->id);
        if (!any) rung_buf_puts(out, "not applicable\n");
        any = true;
        if (ids.text) rung_two_columns(out, ids.text, reason, 20);
    }
    out->failed = out->failed || ids.failed;
    rung_buf_clear(&ids);
}

/* Where tokens of the task would have to be added up in another order, nothing is proved. */
static void print_assumption(rung_buf *out, const rung_bound_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const rung_bound_answer *a = &report->answer[i];
        if (!a->applies || !a->bound->needs_order || !report->pattern.full) continue;
        rung_buf_puts(out, "order    ");
        rung_wrap(
            out,
            "assumed: a full layer adds its keys up from left to right in one pass, as the evaluator here does, and "
            "nothing follows the last token of the task. A softmax from right to left, or one that knows the "
            "maximum of the row beforehand, is not covered (--softmax)",
            9, 9);
        rung_buf_puts(out, "\n");
        return;
    }
}

static void put_nearest(rung_buf *text, const rung_bound_report *report)
{
    const rung_bound_answer *near = rung_bound_decisive(report), *soonest = NULL;
    for (size_t i = 0; i < report->count; i++) {
        const rung_bound_answer *a = &report->answer[i];
        if (a->n_threshold > 0 && (!soonest || a->n_threshold < soonest->n_threshold)) soonest = a;
    }
    if (near)
        rung_buf_printf(text, "no theorem bites here; %s comes nearest, with %.4g of what it needs", near->bound->id,
                        near->margin);
    else
        rung_buf_puts(text, "no theorem applies to these layers and this task");
    if (soonest)
        rung_buf_printf(text, "; %s bites from n = %.0f on", soonest->bound->id, soonest->n_threshold);
    else if (near)
        rung_buf_puts(text, "; no n was found at which one would bite");
    rung_buf_puts(text, ". This does not say that they can");
}

static void print_verdict(rung_buf *out, const rung_bound_ask *ask, const rung_bound_report *report)
{
    rung_buf text;
    rung_buf_init(&text);
    if (report->verdict == RUNG_CANNOT)
        rung_buf_printf(&text,
                        "whatever their weights, these layers answer some prompt of %s %llu tokens wrongly (%s)%s",
                        ask->n ? "at most" : "these", (unsigned long long)(ask->n ? ask->n : ask->task->tokens),
                        rung_bound_decisive(report)->bound->id,
                        report->trivial ? ", trivially: the answer does not fit into one message" : "");
    else
        put_nearest(&text, report);
    rung_buf_printf(out, "verdict  %s%s%s: ", rung_style_bold(), rung_verdict_words[report->verdict - 1],
                    rung_style_off());
    if (!text.failed) rung_wrap(out, text.text, 9 + strlen(rung_verdict_words[report->verdict - 1]) + 2, 9);
    rung_buf_putc(out, '\n');
    out->failed = out->failed || text.failed;
    rung_buf_clear(&text);
}

void rung_bound_print(rung_buf *out, const rung_bound_ask *ask, const rung_bound_input *input,
                      const rung_bound_report *report)
{
    rung_ledger_print(out, input, (rung_message)ask->words->message);
    if (!report) return;
    print_question(out, ask, &report->pattern);
    for (size_t i = 0; i < report->count; i++)
        if (report->answer[i].applies) print_applicable(out, &report->answer[i]);
    print_others(out, report);
    rung_buf_putc(out, '\n');
    print_assumption(out, report);
    print_verdict(out, ask, report);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------- */

static void json_text(rung_jout *out, const char *key, void (*write)(rung_buf *out, const void *what), const void *what)
{
    rung_buf text;
    rung_buf_init(&text);
    write(&text, what);
    out->buf->failed = out->buf->failed || text.failed;
    rung_jout_string(out, key, text.text);
    rung_buf_clear(&text);
}

static void write_task(rung_buf *out, const void *task)
{
    rung_task_canonical(out, task);
}

static void write_pattern(rung_buf *out, const void *pattern)
{
    rung_pattern_print(out, pattern);
}

void rung_bound_task_json(rung_jout *out, const rung_task_conf *task)
{
    json_text(out, "task", write_task, task);
}

/* null where there is no number, rather than a 0 that could be one. */
static void json_positive(rung_jout *out, const char *key, double value)
{
    if (value > 0)
        rung_jout_real(out, key, value);
    else
        rung_jout_null(out, key);
}

static void json_side(rung_jout *out, const char *key, bool applies, double value)
{
    if (applies)
        rung_jout_real(out, key, value);
    else
        rung_jout_null(out, key);
}

static void json_theorem(rung_jout *out, const rung_bound_answer *a)
{
    rung_jout_object(out, NULL);
    rung_jout_string(out, "id", a->bound->id);
    rung_jout_bool(out, "applies", a->applies);
    rung_jout_string(out, "statement", a->applies ? a->statement : a->bound->summary);
    rung_jout_string(out, "premise", a->premise);
    json_side(out, "lhs", a->applies, a->lhs);
    json_side(out, "rhs", a->applies, a->rhs);
    rung_jout_bool(out, "holds", a->applies && a->holds);
    rung_jout_bool(out, "trivial", a->trivial);
    rung_jout_string(out, "verdict", rung_verdict_words[a->verdict - 1]);
    json_side(out, "margin", a->applies, a->margin);
    json_positive(out, "n_threshold", a->n_threshold);
    json_positive(out, "log2_n_threshold", a->log2_n > 0 ? a->log2_n : a->n_threshold > 0 ? log2(a->n_threshold) : 0);
    rung_jout_bool(out, "exact", a->exact);
    json_positive(out, "average_accuracy_at_most", a->ceiling);
    if (a->ceiling > 0)
        rung_jout_string(out, "average_over", a->ceiling_over ? a->ceiling_over : "prompts of the task");
    rung_jout_bool(out, "needs_left_to_right", a->bound->needs_order);
    rung_jout_string(out, "source", a->bound->source);
    rung_jout_string(out, "checked", a->bound->checked);
    rung_jout_string(out, "section", a->bound->section);
    rung_jout_end(out);
}

void rung_bound_json(rung_jout *out, const rung_bound_ask *ask, const rung_bound_input *input,
                     const rung_bound_report *report)
{
    rung_ledger_json(out, input, (rung_message)ask->words->message);
    if (report) {
        rung_bound_task_json(out, ask->task);
        rung_jout_int(out, "n", ask->n ? (int64_t)ask->n : (int64_t)ask->task->tokens);
        rung_jout_bool(out, "any_size_up_to_n", ask->n != 0);
        rung_jout_string(out, "softmax", rung_softmax_words[ask->softmax]);
        rung_jout_bool(out, "tokens_after", ask->tokens_after);
        json_text(out, "pattern", write_pattern, &report->pattern);
    }
    rung_jout_array(out, "theorems");
    for (size_t i = 0; report && i < report->count; i++) json_theorem(out, &report->answer[i]);
    rung_jout_end(out);
    rung_jout_bool(out, "trivial", report && report->trivial);
    rung_jout_string(out, "verdict", rung_verdict_words[(report ? report->verdict : RUNG_UNKNOWN) - 1]);
}
