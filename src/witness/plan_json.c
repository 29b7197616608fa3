/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The cheapest layers that were found, for programs.
 */
#include "rung/render.h"
#include "rung/witness.h"

static void write_task(rung_buf *out, const void *task)
{
    rung_task_canonical(out, task);
}

static void json_chosen(rung_jout *out, const rung_plan *plan)
{
    const rung_plan_candidate *o = &plan->option[plan->chosen];
    const rung_plan_run *run = &plan->run;
    rung_jout_string(out, "arch", plan->arch);
    rung_jout_string(out, "construction", o->how->name);
    rung_jout_string(out, "build", plan->build);
    rung_jout_int(out, "full_layers", (int64_t)plan->cost.full);
    rung_jout_int(out, "sparse_layers", (int64_t)plan->cost.sparse);
    rung_jout_int(out, "state_bits", (int64_t)plan->cost.state_bits);
    rung_jout_int(out, "message_bits", (int64_t)plan->cost.message_bits);
    rung_jout_string(out, "presupposes", o->variant ? o->how->task_pairs : NULL);
    rung_jout_object(out, "verified");
    rung_jout_string(out, "task", run->task);
    rung_jout_int(out, "tokens", (int64_t)run->tokens);
    rung_jout_string(out, "numbers", run->numbers);
    rung_jout_string(out, "evidence", rung_evidence_names[run->found.evidence - 1]);
    rung_jout_string(out, "proof", run->found.evidence == RUNG_PROVED ? run->found.reason : NULL);
    rung_jout_int(out, "prompts", (int64_t)run->found.prompts);
    rung_jout_int(out, "wrong", (int64_t)run->found.wrong);
    rung_jout_real(out, "error_rate_below", run->found.error_high);
    rung_jout_bool(out, "at_wanted_size", !plan->extrapolated);
    rung_jout_end(out);
    if (!plan->extrapolated) return;
    rung_jout_flat_object(out, "extrapolated");
    for (size_t i = 0; i < 2; i++) {
        rung_jout_int(out, i ? "tokens_2" : "tokens_1", (int64_t)plan->mantissa_tokens[i]);
        rung_jout_int(out, i ? "mantissa_bits_2" : "mantissa_bits_1", plan->mantissa[i]);
    }
    rung_jout_real(out, "mantissa_bits_at_n", plan->mantissa_n);
    rung_jout_end(out);
}

void rung_plan_json(rung_buf *text, const rung_plan *plan, const rung_plan_options *conf)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.bound/3", true);
    rung_jout_written(&out, "task", write_task, conf->task);
    rung_jout_int(&out, "n", (int64_t)(plan->chosen == SIZE_MAX ? conf->n : plan->tokens));
    rung_jout_int(&out, "bits", conf->bits);
    rung_jout_object(&out, "plan");
    if (plan->chosen != SIZE_MAX) json_chosen(&out, plan);
    rung_jout_array(&out, "rejected");
    for (size_t i = 0; i < plan->count && i < plan->chosen; i++) {
        const rung_plan_candidate *o = &plan->option[i];
        rung_jout_flat_object(&out, NULL);
        rung_jout_string(&out, "construction", o->how->name);
        rung_jout_string(&out, "words", o->own);
        rung_jout_int(&out, "full_layers", (int64_t)o->cost.full);
        rung_jout_int(&out, "sparse_layers", (int64_t)o->cost.sparse);
        rung_jout_string(&out, "why", o->why);
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    rung_jout_end(&out);
    rung_jout_string(&out, "verdict", rung_verdict_names[plan->verdict - 1]);
    rung_jout_finish(&out);
}
