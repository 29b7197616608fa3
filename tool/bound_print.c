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

/* ---- text ------------------------------------------------------------------------------------------------------ */

static void print_question(rung_buf *out, const rung_claim *claim, const rung_pattern *pattern)
{
    const rung_task_conf *task = rung_claim_task(claim);
    uint64_t n = rung_claim_n(claim);
    rung_buf_puts(out, "\ntask     ");
    if (n)
        rung_buf_printf(out, "%s, any size with at most %llu tokens", task->task->name, (unsigned long long)n);
    else
        rung_task_canonical(out, task);
    if (!n) rung_buf_printf(out, ", %zu tokens", task->tokens);
    if (n && rung_param_find(task->task->params, "L") != SIZE_MAX)
        rung_buf_printf(out, ", L=%lld", (long long)rung_task_param(task, "L"));
    rung_buf text;
    rung_buf_init(&text);
    rung_pattern_print(&text, pattern);
    rung_buf_puts(out, "\npattern  ");
    if (text.text) tool_wrap(out, text.text, 9, 9);
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

/* Wraps the lines of the text, indented, and empties it. */
static void put_indented(rung_buf *out, rung_buf *text, size_t indent)
{
    rung_buf_printf(out, "\n%*s", (int)indent, "");
    if (!text->failed) tool_wrap(out, text->text, indent, indent);
    out->failed = out->failed || text->failed;
    rung_buf_reset(text);
}

static void print_applicable(rung_buf *out, const rung_bound_answer *a)
{
    const size_t indent = 9;
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_printf(out, "%s%-7s%s  %s: ", tool_style_verdict(a->verdict), rung_verdict_names[a->verdict - 1],
                    tool_style_off(), a->bound->id);
    tool_wrap(out, a->bound->summary, indent + strlen(a->bound->id) + 2, indent);
    rung_buf_puts(&text, a->statement);
    if (!a->holds) rung_buf_puts(&text, a->lhs > a->rhs ? ", which needs more tokens" : "; this does not hold");
    put_indented(out, &text, indent);
    rung_buf_puts(&text, a->premise);
    put_indented(out, &text, indent);
    rung_buf_printf(&text, "margin %.4g", a->margin);
    put_threshold(&text, a);
    if (a->trivial) rung_buf_printf(&text, "; trivial: %s", a->trivial);
    if (a->ceiling > 0)
        rung_buf_printf(&text, "; at most %.4g right on average%s%s", a->ceiling, a->ceiling_over ? " over " : "",
                        a->ceiling_over ? a->ceiling_over : "");
    put_indented(out, &text, indent);
    rung_buf_printf(&text, "[%s; %s]", a->bound->source, a->bound->checked);
    put_indented(out, &text, indent);
    rung_buf_putc(out, '\n');
    rung_buf_clear(&text);
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
        if (ids.text) tool_two_columns(out, ids.text, reason, 20);
    }
    out->failed = out->failed || ids.failed;
    rung_buf_clear(&ids);
}

/* Facts of the claim that a theorem used and that the subject does not decide by itself. */
static void print_assumptions(rung_buf *out, const rung_claim *claim, const rung_decision *d)
{
    rung_kernel kernel = rung_claim_arithmetic(claim)->kernel;
    if (d->basis != RUNG_BASIS_THEOREM) return;
    rung_buf text;
    rung_buf_init(&text);
    for (int p = RUNG_PREMISE_STATE; p < RUNG_PREMISES; p++)
        if (d->decisive->bound->needs & RUNG_NEEDS(p))
            rung_buf_printf(&text, "%s%s", text.len ? "; " : "",
                            p == RUNG_PREMISE_ORDER && kernel != RUNG_KERNEL_ONLINE
                                ? rung_kernel_text(kernel)
                                : rung_premise_text((rung_premise)p));
    if (text.len) {
        rung_buf_puts(out, "holds if ");
        tool_wrap(out, text.text, 9, 9);
        rung_buf_putc(out, '\n');
    }
    out->failed = out->failed || text.failed;
    rung_buf_clear(&text);
}

/* The first reasons; --json has them all. */
static void put_no_weights(rung_buf *text, const char *why)
{
    enum { SHOWN = 160 };
    size_t len = strlen(why);
    if (len > SHOWN)
        for (len = SHOWN; len > 0 && why[len] != ' ';) len--;
    rung_buf_printf(text, ". No weights: %.*s%s", (int)len, why, why[len] ? " ..." : "");
}

static void put_nearest(rung_buf *text, const rung_decision *d)
{
    const rung_bound_answer *near = d->decisive, *soonest = NULL;
    for (size_t i = 0; i < d->bounds->count; i++) {
        const rung_bound_answer *a = &d->bounds->answer[i];
        if (a->n_threshold > 0 && (!soonest || a->n_threshold < soonest->n_threshold)) soonest = a;
    }
    if (near)
        rung_buf_printf(text, "no theorem holds at this size; closest is %s (lhs/rhs = %.4g)", near->bound->id,
                        near->margin);
    else
        rung_buf_puts(text, "no theorem applies to these layers and this task");
    if (soonest) rung_buf_printf(text, "; %s holds from n = %.0f on", soonest->bound->id, soonest->n_threshold);
    if (d->no_weights[0]) put_no_weights(text, d->no_weights);
    rung_buf_puts(text, ". UNKNOWN does not say that they can");
}

static void put_weights(rung_buf *text, const rung_decision *d)
{
    rung_buf_printf(text, "weights of these layers, %s: %s", d->verdict == RUNG_CAN ? "right" : "right so far",
                    d->statement);
    if (d->basis == RUNG_BASIS_SAMPLE)
        rung_buf_printf(text, " (error rate below %.2g with 95 %% confidence)", d->error_high);
    if (d->by[0]) rung_buf_printf(text, "; rung build %s", d->by);
}

static void put_theorem(rung_buf *text, const rung_claim *claim, const rung_decision *d)
{
    uint64_t n = rung_claim_n(claim);
    rung_buf_printf(text, "whatever their weights, these layers answer some prompt of %s %llu tokens wrongly (%s)",
                    n ? "at most" : "these", (unsigned long long)(n ? n : rung_claim_task(claim)->tokens), d->by);
    if (d->trivial) rung_buf_printf(text, ", trivially: %s", d->trivial);
}

static void print_verdict(rung_buf *out, const rung_claim *claim, const rung_decision *d)
{
    const char *word = rung_verdict_names[d->verdict - 1];
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_printf(&text, "%s: ", d->about);
    if (d->verdict == RUNG_CANNOT)
        put_theorem(&text, claim, d);
    else if (d->verdict == RUNG_UNKNOWN)
        put_nearest(&text, d);
    else
        put_weights(&text, d);
    rung_buf_printf(out, "verdict  %s%s%s ", tool_style_verdict(d->verdict), word, tool_style_off());
    if (!text.failed) tool_wrap(out, text.text, 9 + strlen(word) + 1, 9);
    rung_buf_putc(out, '\n');
    out->failed = out->failed || text.failed;
    rung_buf_clear(&text);
}

/* Whether Coq has the theorem, or it is proved on paper. */
static void print_proof(rung_buf *out, const rung_decision *d)
{
    const rung_proof *coq = &d->coq;
    if (d->basis != RUNG_BASIS_THEOREM) return;
    rung_buf text;
    rung_buf_init(&text);
    if (coq->checked[0])
        rung_buf_printf(&text, "in Coq (%s): this claim was checked by %s", coq->file, coq->checked);
    else if (coq->written)
        rung_buf_printf(&text, "in Coq (%s): --proof FILE.v writes this claim, --check has coqc check it", coq->file);
    else
        rung_buf_printf(&text, "on paper (docs/theory.md#%s): %s", d->decisive->bound->section, coq->why);
    rung_buf_puts(out, "proof    ");
    if (!text.failed) tool_wrap(out, text.text, 9, 9);
    rung_buf_putc(out, '\n');
    out->failed = out->failed || text.failed;
    rung_buf_clear(&text);
}

void tool_bound_print(rung_buf *out, const tool_bound_input *input, const rung_decision *d)
{
    tool_ledger_print(out, input);
    if (!d) return;
    print_question(out, input->claim, &d->bounds->pattern);
    for (size_t i = 0; i < d->bounds->count; i++)
        if (d->bounds->answer[i].applies) print_applicable(out, &d->bounds->answer[i]);
    print_others(out, d->bounds);
    rung_buf_putc(out, '\n');
    print_verdict(out, input->claim, d);
    print_assumptions(out, input->claim, d);
    print_proof(out, d);
}

/* ---- the published theorem -------------------------------------------------------------------------------------- */

static void put_level(rung_buf *out, const rung_published *p, size_t l)
{
    rung_buf_printf(out, "  %2zu  %10.6g", l, p->log2_x[l]);
    if (l > 0)
        rung_buf_printf(out, "  %10.6g  %12.6g  %14.6g", p->log2_n[l], p->log2_theta[l], p->log2_log2_delta[l + 1]);
    if (l > 0 && isfinite(p->slack[l])) rung_buf_printf(out, "  %12.6g", p->slack[l]);
    if (l > 0 && !isfinite(p->slack[l])) rung_buf_printf(out, "  %12s", "no states");
    rung_buf_putc(out, '\n');
}

void tool_published_print(rung_buf *out, const rung_published *p)
{
    rung_buf_puts(out, "\npublished theorem (Ye et al. 2026, B.2 for a_1 = 0), logarithms to base 2\n");
    if (!p->applies) {
        rung_buf_printf(out, "  does not apply: %s\n", p->why);
        return;
    }
    rung_buf_printf(out, "  L = %zu, H d p = %llu, log K = %.6g, log m = %.6g, prompt 2^%.6g tokens\n", p->L,
                    (unsigned long long)p->width, p->log2_K, p->log2_m, p->log2_tokens);
    rung_buf_printf(out, "  %2s  %10s  %10s  %12s  %14s  %12s\n", "l", "log x_l", "log n_l", "log Theta_l",
                    "loglog D_(l+1)", "slack of (12)");
    for (size_t l = 0; l < p->L; l++) put_level(out, p, l);
    rung_buf_printf(out, "  at the end n_(L-1) Theta_(L-1) log N_(L-1) exceeds log Delta_L by a factor of 2^%.6g; %s\n",
                    p->end_slack, p->holds ? "the theorem holds" : "(12) does not hold");
}

/* ---- turned around --------------------------------------------------------------------------------------------- */

static const char *const names[] = {"n (prompt tokens)", "p (bits per number)", "d (dk = dv = d)",
                                    "number of recurrent layers", "L (functions)"};

static void print_depth(rung_buf *out, const rung_solved *s)
{
    rung_buf_puts(out, "\ndepth of composition: ");
    if (!s->deepest) {
        rung_buf_printf(out, "%s\n", s->reason);
        return;
    }
    if (s->can_up_to) rung_buf_printf(out, "CAN up to L = %zu, ", s->can_up_to);
    if (s->sampled_up_to > s->can_up_to) rung_buf_printf(out, "SAMPLED up to L = %zu, ", s->sampled_up_to);
    if (s->cannot_from)
        rung_buf_printf(out, "CANNOT from L = %zu on (asked up to %zu)", s->cannot_from, s->deepest);
    else
        rung_buf_printf(out, "CANNOT from no L (asked up to %zu)", s->deepest);
    rung_buf_puts(out, ", UNKNOWN otherwise\n");
    for (size_t from = 1, to; from <= s->deepest; from = to + 1) { /* neighbours with one verdict together */
        for (to = from; to < s->deepest && s->depth[to + 1] == s->depth[from];) to++;
        rung_buf_printf(out, "%s%zu", from == 1 ? "  " : ", ", from);
        if (to > from) rung_buf_printf(out, " to %zu", to);
        rung_buf_printf(out, " %s", rung_verdict_names[s->depth[from] - 1]);
    }
    rung_buf_putc(out, '\n');
}

static void print_subject(rung_buf *out, const tool_bound_input *input, const rung_solved *s)
{
    const rung_task_conf *task = rung_claim_task(input->claim);
    uint64_t n = rung_claim_n(input->claim);
    bool sized = s->what != RUNG_SOLVE_N && s->what != RUNG_SOLVE_DEPTH && !n;
    rung_buf_printf(out, "%s%s%s, ", tool_style_bold(), input->text, tool_style_off());
    if (sized)
        rung_task_canonical(out, task);
    else
        rung_buf_puts(out, task->task->name);
    if (n && s->what != RUNG_SOLVE_N) rung_buf_printf(out, " with at most %llu tokens", (unsigned long long)n);
    if (s->what == RUNG_SOLVE_P) return; /* it is what is looked for */
    rung_buf_puts(out, ", ");
    rung_arithmetic_print(out, rung_claim_arithmetic(input->claim));
}

void tool_solved_print(rung_buf *out, const tool_bound_input *input, const rung_solved *s)
{
    print_subject(out, input, s);
    if (s->what == RUNG_SOLVE_DEPTH) {
        print_depth(out, s);
        return;
    }
    rung_buf_printf(out, "\n%s %s with CANNOT: ", s->what == RUNG_SOLVE_N ? "smallest" : "largest", names[s->what]);
    if (!s->found) {
        if (s->log2_value > 0)
            rung_buf_printf(out, "2^%.1f\n", s->log2_value);
        else
            rung_buf_printf(out, "none\n%s\n", s->reason);
        return;
    }
    rung_buf_printf(out, "%s%.0f", s->limit ? "at least " : "", s->value);
    if (s->checked)
        rung_buf_printf(out, ", and no theorem holds at %.0f", s->value + (s->what == RUNG_SOLVE_N ? -1 : 1));
    if (s->trivial) rung_buf_printf(out, " (trivial: %s)", s->trivial);
    rung_buf_putc(out, '\n');
    tool_two_columns(out, s->by->id, s->statement, 2 + 10);
}

/* ---- other formats --------------------------------------------------------------------------------------------- */

static void put_least(rung_buf *out, const rung_solved *s)
{
    if (s->found)
        rung_buf_printf(out, "%.0f  %s", s->value, s->by->id);
    else if (s->log2_value > 0)
        rung_buf_printf(out, "2^%.1f", s->log2_value);
    else
        rung_buf_puts(out, "none");
}

/* Formats are long, so each set has two lines. */
void tool_formats_print(rung_buf *out, const rung_formats *formats)
{
    rung_buf_printf(out, "\nformats, by theorems alone:\n  %16s  %16s  %s\n", "carried bits", "handed-on bits",
                    "CANNOT from n");
    for (size_t i = 0; i < formats->count; i++) {
        const rung_formats_row *row = &formats->row[i];
        rung_buf_printf(out, "%s\n  %16llu  %16llu  ", row->numbers.name, (unsigned long long)row->carried_bits,
                        (unsigned long long)row->message_bits);
        put_least(out, &row->solved);
        rung_buf_putc(out, '\n');
    }
}
