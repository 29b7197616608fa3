/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Is a model right, and how was that established?
 */
#include "finding.h"

#include <math.h>
#include <stdlib.h>

const char *const rung_evidence_names[] = {"proved", "all prompts", "sample", NULL};

rung_status rung_finding_by(rung_finding *out, rung_verdict *verdict, const rung_model *model,
                            const rung_task_conf *task, const rung_verify_options *conf, rung_method method,
                            rung_error *err)
{
    rung_verify_options how = *conf;
    rung_verify_result *result = rung_calloc(1, sizeof *result, err);
    if (!result) return RUNG_SYSTEM;
    how.method = method;
    rung_status status = rung_verify_run(result, model, task, &how, err);
    out->prompts = result->prompts, out->wrong = result->wrong, out->error_high = result->error_high;
    *verdict = result->verdict;
    if (method == RUNG_WORST_CASE) snprintf(out->reason, sizeof out->reason, "%s", result->reason);
    if (status == RUNG_OK) rung_verify_clear(result);
    free(result);
    return status;
}

rung_status rung_finding_of(rung_finding *out, const rung_model *model, const rung_task_conf *task,
                            const rung_verify_options *conf, uint64_t exhaustive_limit, rung_error *err)
{
    rung_verdict verdict;
    *out = (rung_finding){.evidence = RUNG_PROVED};
    rung_status status = rung_finding_by(out, &verdict, model, task, conf, RUNG_WORST_CASE, err);
    out->right = status == RUNG_OK && verdict == RUNG_CAN;
    if (status != RUNG_OK || verdict != RUNG_UNKNOWN) return status;
    uint64_t space = rung_task_space(task);
    bool all = space > 0 && space <= exhaustive_limit;
    out->evidence = all ? RUNG_ALL_PROMPTS : RUNG_A_SAMPLE;
    status = rung_finding_by(out, &verdict, model, task, conf, all ? RUNG_EXHAUSTIVE : RUNG_SAMPLED, err);
    out->right = status == RUNG_OK && out->wrong == 0 && out->prompts > 0;
    return status;
}

double rung_prompt_work(const rung_model *model, size_t tokens)
{
    const rung_arch *arch = rung_model_get_arch(model);
    double each = 0;
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++) {
            const rung_mech_conf *conf = &arch->layer[i].group[g];
            double wide = (double)conf->heads * (double)(conf->dk + conf->dv + 8);
            each += conf->mech->recurrent ? (double)conf->heads * (double)conf->dk * (double)conf->dv
                                          : wide * (double)tokens / 2;
        }
    return each * (double)tokens;
}

rung_verdict rung_finding_verdict(const rung_finding *finding)
{
    if (!finding->right) return RUNG_UNKNOWN;
    return finding->evidence == RUNG_A_SAMPLE ? RUNG_CAN_SAMPLED : RUNG_CAN;
}
