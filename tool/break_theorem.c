/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the theorems say of all models that have the layers of this one, beside what a search found in it.
 */
#include "break_theorem.h"

#include <stdio.h>

#include "rung/bound.h"

/* The first theorem that refutes these layers and is not trivial, or NULL. */
static const rung_bound_answer *refutation(const rung_bound_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        if (report->answer[i].verdict == RUNG_CANNOT && !report->answer[i].trivial) return &report->answer[i];
    return NULL;
}

rung_status rung_break_theorem(char *text, size_t size, const rung_model *model, const rung_task_conf *task, int bits,
                               rung_error *err)
{
    rung_ledger ledger;
    rung_bound_report report;
    text[0] = '\0';
    rung_status status = rung_ledger_of_model(&ledger, model, "model", err);
    if (status != RUNG_OK) return status;
    rung_question question = {.ledger = &ledger, .task = task, .bits = (uint64_t)bits};
    status = rung_bound_run(&report, &question, err);
    const rung_bound_answer *answer = status == RUNG_OK ? refutation(&report) : NULL;
    if (answer) {
        int used = snprintf(text, size, "%s: no model of these layers can: %s", answer->bound->id, answer->statement);
        if (answer->ceiling > 0 && used > 0 && (size_t)used < size)
            snprintf(text + used, size - (size_t)used, "; at most %.4g right on average%s%s", answer->ceiling,
                     answer->ceiling_over ? " over " : "", answer->ceiling_over ? answer->ceiling_over : "");
    }
    rung_ledger_clear(&ledger);
    return status;
}
