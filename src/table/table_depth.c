/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * How many functions layers compose. For each L: the shortest prompt from which a theorem refutes the layers, whatever
 * the sizes of the tables, and weights for a small instance. Both may hold: tables of two entries can be composed by
 * layers that long tables overwhelm.
 */
#include <string.h>

#include "rung/decide.h"
#include "table_cell.h"

static rung_status ask_theorems(rung_table_depth *found, const rung_claim_spec *about, const rung_subject *subject,
                                rung_error *err)
{
    const rung_decide_options means = {.bounds = true};
    const rung_solve_options conf = {RUNG_SOLVE_N, subject, about, &means};
    rung_solved solved;
    RUNG_TRY(rung_solve_run(&solved, &conf, err));
    found->cannot = solved.found || solved.log2_value > 0;
    found->tokens = solved.value, found->log2_tokens = solved.log2_value;
    snprintf(found->bound, sizeof found->bound, "%s", solved.by ? solved.by->id : "");
    snprintf(found->statement, sizeof found->statement, "%s", solved.by ? solved.statement : "");
    snprintf(found->nearest, sizeof found->nearest, "%s", solved.reason);
    return RUNG_OK;
}

static rung_status judge_weights(rung_table_depth *found, const rung_table *table, const char *build,
                                 const rung_model *model, const rung_table_options *conf, rung_error *err)
{
    rung_task_conf task = {0};
    const rung_decide_options means = {.weights = true,
                                       .samples = conf->samples,
                                       .seed = conf->seed,
                                       .threads = conf->threads,
                                       .work = RUNG_DECIDE_QUICK,
                                       .given = model,
                                       .given_by = build,
                                       .given_in = &table->fmt,
                                       .keep = conf->directory};
    RUNG_TRY(rung_task_conf_parse(&task, rung_model_get_spec(model)->task, err));
    rung_claim_spec about = rung_claim_spec_of_prompt(&task, 0);
    rung_subject *subject = NULL;
    rung_claim *claim = NULL;
    rung_decision d = {0};
    rung_claim_spec_set_bits(&about, table->fmt.bits);
    rung_status status = rung_subject_model(&subject, model, "weights", err);
    RUNG_NEXT(status, rung_claim_new(&claim, subject, &about, err));
    RUNG_NEXT(status, rung_decide(&d, claim, &means, err));
    if (status == RUNG_OK) {
        found->can = d.verdict;
        found->proved = d.basis != RUNG_BASIS_SAMPLE && d.verdict == RUNG_CAN;
        found->prompts = d.prompts;
        found->can_tokens = task.tokens;
        snprintf(found->build, sizeof found->build, "%s", build);
        snprintf(found->arch, sizeof found->arch, "%s", rung_model_get_spec(model)->arch);
    }
    rung_decision_clear(&d);
    rung_claim_free(claim);
    rung_subject_free(subject);
    return status;
}

static rung_status ask(rung_table *table, size_t row, size_t L, const rung_table_options *conf, rung_error *err)
{
    const rung_arch_defaults heads = TABLE_HEADS;
    rung_table_depth *found = &table->depth[row][L - 1];
    const char *build = rung_table_rows[row].deep[L - 1];
    char text[32];
    rung_task_conf task = {0};
    rung_subject *subject = NULL;
    rung_model *model = NULL;
    snprintf(text, sizeof text, "seqcomp L=%zu", L);
    RUNG_TRY(rung_task_conf_parse(&task, text, err));
    rung_claim_spec about = rung_claim_spec_of_prompt(&task, 0);
    rung_claim_spec_set_bits(&about, table->fmt.bits);
    if (rung_table_rows[row].thinks) about.at_once = RUNG_VIOLATED;
    found->can = RUNG_UNKNOWN;
    rung_status status = rung_subject_arch(&subject, rung_table_rows[row].arch, &heads, err);
    RUNG_NEXT(status, ask_theorems(found, &about, subject, err));
    if (build) RUNG_NEXT(status, table_build(&model, build, err));
    if (build) RUNG_NEXT(status, judge_weights(found, table, build, model, conf, err));
    rung_model_close(model);
    rung_subject_free(subject);
    return status;
}

rung_status rung_table_dive(rung_table *table, const rung_table_options *conf, rung_error *err)
{
    enum { ALL = RUNG_TABLE_LAYERS * RUNG_TABLE_DEPTH };
    rung_status status = RUNG_OK;
    if (conf->progress) rung_progress_start(conf->progress, "depths", ALL);
    for (size_t i = 0; status == RUNG_OK && i < ALL; i++) {
        status = ask(table, i / RUNG_TABLE_DEPTH, i % RUNG_TABLE_DEPTH + 1, conf, err);
        if (conf->progress) rung_progress_tick(conf->progress, i + 1);
    }
    if (conf->progress) rung_progress_finish(conf->progress);
    table->deep = status == RUNG_OK;
    return status;
}
