/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A verdict, and what was searched for around it, for programs.
 */
#include <math.h>

#include "rung/decide.h"

/* ---- a decision ------------------------------------------------------------------------------------------------ */

static void write_task(rung_buf *out, const void *task)
{
    rung_task_canonical(out, task);
}

static void write_pattern(rung_buf *out, const void *pattern)
{
    rung_pattern_print(out, pattern);
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
    rung_jout_bool(out, "trivial", a->trivial != NULL);
    rung_jout_string(out, "verdict", rung_verdict_names[a->verdict - 1]);
    json_side(out, "margin", a->applies, a->margin);
    json_positive(out, "n_threshold", a->n_threshold);
    json_positive(out, "log2_n_threshold", a->log2_n > 0 ? a->log2_n : a->n_threshold > 0 ? log2(a->n_threshold) : 0);
    rung_jout_bool(out, "exact", a->exact);
    json_positive(out, "average_accuracy_at_most", a->ceiling);
    if (a->ceiling > 0)
        rung_jout_string(out, "average_over", a->ceiling_over ? a->ceiling_over : "prompts of the task");
    rung_jout_array(out, "needs");
    for (int p = 0; p < RUNG_PREMISES; p++)
        if (a->bound->needs & RUNG_NEEDS(p)) rung_jout_string(out, NULL, rung_premise_names[p]);
    rung_jout_end(out);
    rung_jout_array(out, "kernels");
    for (int k = 0; rung_kernel_names[k]; k++)
        if (rung_bound_covers(a->bound, (rung_kernel)(k + 1))) rung_jout_string(out, NULL, rung_kernel_names[k]);
    rung_jout_end(out);
    rung_jout_string(out, "missing", a->missing >= 0 ? rung_premise_names[a->missing] : NULL);
    rung_jout_string(out, "source", a->bound->source);
    rung_jout_string(out, "checked", a->bound->checked);
    rung_jout_string(out, "section", a->bound->section);
    rung_jout_end(out);
}

static void json_decision(rung_jout *out, const rung_decision *d)
{
    rung_jout_bool(out, "trivial", d->trivial != NULL);
    rung_jout_string(out, "verdict", rung_verdict_names[d->verdict - 1]);
    rung_jout_string(out, "basis", rung_basis_names[d->basis]);
    rung_jout_string(out, "by", d->by[0] ? d->by : NULL);
    rung_jout_string(out, "proof", d->proof[0] ? d->proof : NULL);
    rung_jout_bool(out, "proof_in_coq", d->coq.written);
    rung_jout_string(out, "coq_file", d->coq.written ? d->coq.file : NULL);
    rung_jout_string(out, "coq_missing", d->coq.why[0] ? d->coq.why : NULL);
    rung_jout_string(out, "checked_by", d->coq.checked[0] ? d->coq.checked : NULL);
    rung_jout_string(out, "shown", d->statement[0] ? d->statement : NULL);
    rung_jout_string(out, "about", d->about);
    rung_jout_string(out, "no_weights", d->no_weights[0] ? d->no_weights : NULL);
}

void rung_decision_json(rung_jout *out, const rung_claim *claim, const char *name, const rung_decision *d)
{
    const rung_task_conf *task = rung_claim_task(claim);
    uint64_t n = rung_claim_n(claim);
    rung_ledger_json(out, claim, name);
    if (d) {
        rung_jout_written(out, "task", write_task, task);
        rung_jout_int(out, "n", n ? (int64_t)n : (int64_t)task->tokens);
        rung_jout_bool(out, "any_size_up_to_n", n != 0);
        rung_jout_written(out, "pattern", write_pattern, &d->bounds->pattern);
    }
    rung_jout_array(out, "theorems");
    for (size_t i = 0; d && i < d->bounds->count; i++) json_theorem(out, &d->bounds->answer[i]);
    rung_jout_end(out);
    if (d)
        json_decision(out, d);
    else
        rung_jout_string(out, "verdict", rung_verdict_names[RUNG_UNKNOWN - 1]);
}

/* ---- turned around --------------------------------------------------------------------------------------------- */

static void json_depth(rung_jout *out, const rung_solved *s)
{
    rung_jout_int(out, "can_up_to", (int64_t)s->can_up_to);
    rung_jout_int(out, "sampled_up_to", (int64_t)s->sampled_up_to);
    if (s->cannot_from)
        rung_jout_int(out, "cannot_from", (int64_t)s->cannot_from);
    else
        rung_jout_null(out, "cannot_from");
    rung_jout_array(out, "verdicts");
    for (size_t L = 1; L <= s->deepest; L++) rung_jout_string(out, NULL, rung_verdict_names[s->depth[L] - 1]);
    rung_jout_end(out);
}

void rung_solved_json(rung_jout *out, const rung_solved *s)
{
    rung_jout_object(out, "solve");
    rung_jout_string(out, "what", rung_solve_names[s->what]);
    if (s->found)
        rung_jout_real(out, "value", s->value);
    else
        rung_jout_null(out, "value");
    if (s->what == RUNG_SOLVE_DEPTH) json_depth(out, s);
    if (s->log2_value > 0) rung_jout_real(out, "log2_value", s->log2_value);
    rung_jout_bool(out, "both_sides_checked", s->checked);
    rung_jout_bool(out, "searched_to_the_limit", s->limit);
    rung_jout_string(out, "theorem", s->by ? s->by->id : NULL);
    rung_jout_string(out, "statement", s->by ? s->statement : NULL);
    rung_jout_bool(out, "trivial", s->trivial != NULL);
    rung_jout_string(out, "reason", s->found || !s->reason[0] ? NULL : s->reason);
    rung_jout_end(out);
}
