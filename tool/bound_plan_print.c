/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A plan as text and JSON.
 */
#include <string.h>

#include "bound_plan.h"
#include "output.h"

/* Mechanisms that are refused for the same thing. */
static bool same_reason(const rung_plan_candidate *a, const rung_plan_candidate *b)
{
    return a->how == b->how && strcmp(a->why, b->why) == 0;
}

static void print_rejected(rung_buf *out, const rung_plan *plan)
{
    size_t rejected = plan->chosen == SIZE_MAX ? plan->count : plan->chosen;
    if (!rejected) return;
    rung_buf_puts(out, "cheaper, and not right\n");
    for (size_t i = 0, next; i < rejected; i = next) {
        const rung_plan_candidate *o = &plan->option[i];
        rung_buf text;
        rung_buf_init(&text);
        for (next = i + 1; next < rejected && same_reason(o, &plan->option[next]);) next++;
        rung_buf_printf(&text, "%s%s%s", o->how->name, o->own[0] ? " " : "", o->own);
        if (next > i + 1) rung_buf_printf(&text, " and %zu more like it", next - i - 1);
        rung_buf_printf(&text, ": %s", o->tried ? o->why : "not tried");
        rung_buf_puts(out, "  ");
        if (!text.failed) tool_wrap(out, text.text, 2, 4);
        rung_buf_putc(out, '\n');
        rung_buf_clear(&text);
    }
    rung_buf_putc(out, '\n');
}

static void print_evidence(rung_buf *out, const rung_plan *plan)
{
    const rung_finding *found = &plan->run.found;
    unsigned long long prompts = found->prompts;
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_printf(&text, "%s, %zu tokens, in %s: ", plan->run.task, plan->run.tokens, plan->run.numbers);
    if (found->evidence == RUNG_PROVED)
        rung_buf_printf(&text, "proved, %s", found->reason);
    else if (found->evidence == RUNG_ALL_PROMPTS)
        rung_buf_printf(&text, "all %llu prompts right", prompts);
    else
        rung_buf_printf(&text, "%llu random prompts, all right (error rate below %.2g with 95 %% confidence)", prompts,
                        found->error_high);
    rung_buf_puts(out, "run      ");
    if (!text.failed) tool_wrap(out, text.text, 9, 9);
    rung_buf_putc(out, '\n');
    rung_buf_clear(&text);
}

static void print_cost(rung_buf *out, const rung_plan *plan)
{
    const rung_plan_cost *cost = &plan->cost;
    rung_buf_printf(out, "costs    %llu full layer%s, ", (unsigned long long)cost->full, cost->full == 1 ? "" : "s");
    if (cost->sparse)
        rung_buf_printf(out, "%llu that select%s and keep%s all tokens, ", (unsigned long long)cost->sparse,
                        cost->sparse == 1 ? "s" : "", cost->sparse == 1 ? "s" : "");
    rung_buf_printf(out, "%llu bits of state, %llu bits per message%s\n", (unsigned long long)cost->state_bits,
                    (unsigned long long)cost->message_bits, plan->arch ? "" : ", in a small model");
}

/* What was asked for is the wanted size of the task as it was said; whatever less was run is said, too. */
static void print_verdict(rung_buf *out, const rung_plan *plan)
{
    const rung_plan_candidate *o = &plan->option[plan->chosen];
    const char *bold = tool_style_bold(), *off = tool_style_off();
    if (plan->extrapolated)
        rung_buf_printf(out,
                        "line     right with %d mantissa bits at %zu tokens and %d at %zu: about %.0f at %zu, and %s "
                        "has them\n",
                        plan->mantissa[0], plan->mantissa_tokens[0], plan->mantissa[1], plan->mantissa_tokens[1],
                        plan->mantissa_n, plan->tokens, plan->run.numbers);
    rung_buf_printf(out, "verdict  %s%s%s at %zu tokens%s%s", bold,
                    rung_verdict_names[rung_finding_verdict(&plan->run.found) - 1], off, plan->run.tokens,
                    o->variant ? ", with " : "", o->variant ? o->how->task_pairs : "");
    if (o->variant) rung_buf_printf(out, "; %sUNKNOWN%s without", bold, off);
    if (plan->extrapolated)
        rung_buf_printf(out,
                        "; %sUNKNOWN%s at %zu, which takes too long here:\n"
                        "         rung verify m.safetensors --numbers %s --samples 1",
                        bold, off, plan->tokens, plan->run.numbers);
    rung_buf_putc(out, '\n');
}

static void print_chosen(rung_buf *out, const rung_plan *plan)
{
    rung_buf_printf(out, "layers   %s%s%s\n", tool_style_bold(), plan->arch ? plan->arch : "(too large to build here)",
                    tool_style_off());
    print_cost(out, plan);
    rung_buf_printf(out, "build    rung build %s -o m.safetensors\n", plan->build);
    print_evidence(out, plan);
    print_verdict(out, plan);
}

void tool_plan_print(rung_buf *out, const rung_plan *plan, const rung_plan_options *conf)
{
    rung_buf_puts(out, conf->task->task->name);
    if (conf->n)
        rung_buf_printf(out, " with at most %llu tokens", (unsigned long long)conf->n);
    else
        rung_buf_printf(out, ", %zu tokens", conf->task->tokens);
    rung_buf_printf(out, ", p = %d\n\n", conf->bits);
    print_rejected(out, plan);
    if (plan->chosen == SIZE_MAX)
        rung_buf_printf(out, "verdict  %sUNKNOWN%s: no construction was right%s\n", tool_style_verdict(RUNG_UNKNOWN),
                        tool_style_off(), plan->count ? "" : ": none of them is about this task and size");
    else
        print_chosen(out, plan);
}
