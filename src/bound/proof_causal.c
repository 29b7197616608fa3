/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Targets that depend on later tokens, for Coq: the claim is about every causal function, so it names no layers.
 */
#include "proof.h"

#include <stdio.h>
#include <string.h>

#define ULL(x) (unsigned long long)(x)

static uint64_t param(const proof_job *job, const char *name)
{
    return (uint64_t)rung_task_param(job->task, name);
}

/* Which theorem is about the task, which the checker of Coq accepts at these sizes; NULL: none. */
static const char *put_task(proof_job *job)
{
    const char *name = job->task->task->name;
    uint64_t N = job->point->n;
    if (strcmp(name, "two-sum") == 0) {
        rung_buf_printf(&job->task_text, "(two_sum_position %s %llu %llu %llu)", param(job, "self") ? "true" : "false",
                        ULL(param(job, "blank")), ULL(N), ULL(param(job, "M")));
        job->within = "two_sum_position_within";
        return N >= 2 && param(job, "M") >= 3 ? "causal_two_sum" : NULL;
    }
    if (strcmp(name, "three-sum") == 0) {
        rung_buf_printf(&job->task_text, "(three_sum_position %s %llu %llu)", param(job, "self") ? "true" : "false",
                        ULL(N), ULL(param(job, "M")));
        job->within = "three_sum_position_within";
        return N >= 3 && param(job, "M") >= 4 ? "causal_three_sum" : NULL;
    }
    rung_buf_printf(&job->task_text, "(averages_everywhere %llu %llu)", ULL(N), ULL(param(job, "q")));
    job->within = "averages_everywhere_within";
    return N >= 2 && param(job, "q") && param(job, "q") <= N ? "causal_averages" : NULL;
}

rung_status proof_causal(proof_job *job, rung_error *err)
{
    (void)err;
    const char *theorem = put_task(job);
    if (!theorem) return proof_none(job, "Coq has this theorem for longer prompts, and larger moduli");
    rung_buf_printf(&job->claim_text, "ImpossibleCausal %s", job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic, "apply %s; vm_compute; reflexivity", theorem);
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "%s", theorem);
    return RUNG_OK;
}
