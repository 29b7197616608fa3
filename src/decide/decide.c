/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The only function that makes a verdict. Theorems are asked first, because they hold for all weights. Weights are
 * searched if no theorem forbids them, or if the caller wants to compare both.
 */
#include "weights.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *const rung_basis_names[] = {"none",
                                        "theorem",
                                        "certificate",
                                        "weights proved for all prompts",
                                        "weights right on every prompt",
                                        "weights right on a sample",
                                        NULL};

/* ---- theorems ---------------------------------------------------------------------------------------------------- */

static rung_status ask_bounds(rung_decision *d, const rung_claim *claim, const rung_decide_options *means,
                              rung_error *err)
{
    d->bounds = rung_calloc(1, sizeof *d->bounds, err);
    if (!d->bounds) return RUNG_SYSTEM;
    RUNG_TRY(rung_bound_answers(d->bounds, claim, means->thresholds, err));
    d->decisive = rung_bound_decisive(d->bounds);
    d->ceiling = rung_bound_ceiling(d->bounds);
    if (d->bounds->verdict != RUNG_CANNOT) return RUNG_OK;
    assert(d->decisive && d->decisive->applies && d->decisive->holds);
    d->verdict = RUNG_CANNOT, d->basis = RUNG_BASIS_THEOREM;
    d->by = d->decisive->bound->id, d->proof = d->decisive->bound->checked;
    d->trivial = d->bounds->trivial;
    snprintf(d->statement, sizeof d->statement, "%s", d->decisive->statement);
    return rung_proof_write(&d->coq, claim, d->decisive, err);
}

/* ---- attacks ----------------------------------------------------------------------------------------------------- */

static rung_status ask_attacks(rung_decision *d, const rung_decide_options *means, rung_error *err)
{
    size_t room = rung_attack_count() + 1;
    rung_break *found = rung_calloc(1, sizeof *found, err);
    d->tried = rung_calloc(room, sizeof *d->tried, err);
    rung_status status = found && d->tried ? RUNG_OK : RUNG_SYSTEM;
    RUNG_NEXT(status, rung_attack_run(found, d->tried, room, &d->tried_count, means->attacked, means->attack,
                                      means->budget, err));
    if (status == RUNG_OK && found->found) {
        d->found = found;
        d->verdict = RUNG_CANNOT, d->basis = RUNG_BASIS_CERTIFICATE;
        d->by = found->attack, d->proof = "", d->trivial = NULL;
        snprintf(d->statement, sizeof d->statement, "%s", found->report);
        return RUNG_OK;
    }
    if (found) rung_break_clear(found);
    free(found);
    return status;
}

/* ---- what it is about -------------------------------------------------------------------------------------------- */

static rung_status say_about(rung_decision *d, const rung_claim *claim, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_arithmetic_print(&text, rung_claim_arithmetic(claim));
    rung_status status = rung_buf_ok(&text, err);
    if (status == RUNG_OK) snprintf(d->about, sizeof d->about, "%s", text.text);
    rung_buf_clear(&text);
    return status;
}

/* ---- contradictions ---------------------------------------------------------------------------------------------- */

/* Finds a theorem that refutes the very instance that the weights solve, or NULL. */
static rung_status refuting(const rung_bound_answer **answer, rung_bound_report *report, const rung_decision *d,
                            const rung_claim *claim, rung_error *err)
{
    rung_claim_spec about = rung_claim_get_spec(claim);
    rung_claim *instance;
    about.task = &d->task, about.n = 0;
    *answer = NULL;
    RUNG_TRY(rung_claim_new(&instance, rung_claim_subject(claim), &about, err));
    rung_status status = rung_bound_answers(report, instance, false, err);
    if (status == RUNG_OK && report->verdict == RUNG_CANNOT) *answer = rung_bound_decisive(report);
    rung_claim_free(instance);
    return status;
}

static rung_status keep_both(const rung_decision *d, const rung_bound_answer *answer, const rung_decide_options *means,
                             rung_error *err)
{
    rung_buf name, text;
    rung_buf_init(&name), rung_buf_init(&text);
    rung_buf_printf(&name, "%s/rung-contradiction.safetensors", means->keep ? means->keep : ".");
    rung_status status = rung_buf_ok(&name, err);
    const rung_model *model = d->model ? d->model : means->given; /* none after a shared proof */
    if (status == RUNG_OK && model) status = rung_model_save(model, name.text, err);
    rung_buf_printf(&text, "%s\ntheorem %s: %s\nweights: %s, in %s: %s\n", d->about, answer->bound->id,
                    answer->statement, d->weights, d->numbers, name.text ? name.text : "");
    rung_buf_reset(&name);
    rung_buf_printf(&name, "%s/rung-contradiction.txt", means->keep ? means->keep : ".");
    RUNG_NEXT(status, rung_buf_ok(&text, err));
    RUNG_NEXT(status, rung_buf_ok(&name, err));
    RUNG_NEXT(status, rung_file_write(name.text, text.text, text.len, err));
    RUNG_NEXT(status,
              rung_fail(err, RUNG_SYSTEM,
                        "theorem %s and weights (%s) contradict each other: one of them is wrong; %s has both, please "
                        "report it",
                        answer->bound->id, d->weights, name.text));
    rung_buf_clear(&name), rung_buf_clear(&text);
    return status;
}

static rung_status compare_results(const rung_decision *d, const rung_claim *claim, const rung_decide_options *means,
                                   rung_error *err)
{
    if (!d->has_weights || !means->bounds) return RUNG_OK;
    rung_bound_report *report = rung_calloc(1, sizeof *report, err);
    if (!report) return RUNG_SYSTEM;
    const rung_bound_answer *answer;
    rung_status status = refuting(&answer, report, d, claim, err);
    if (status == RUNG_OK && answer) status = keep_both(d, answer, means, err);
    free(report);
    return status;
}

/* ---- the verdict ------------------------------------------------------------------------------------------------- */

/* The basis fits the verdict, and what it rests on is in the record. */
static bool is_consistent(const rung_decision *d)
{
    switch (d->basis) {
    case RUNG_BASIS_NONE:
        return d->verdict == RUNG_UNKNOWN;
    case RUNG_BASIS_THEOREM:
        return d->verdict == RUNG_CANNOT && d->decisive;
    case RUNG_BASIS_CERTIFICATE:
        return d->verdict == RUNG_CANNOT && d->found;
    case RUNG_BASIS_PROOF:
    case RUNG_BASIS_EVERY_PROMPT:
        return d->verdict == RUNG_CAN && d->has_weights;
    case RUNG_BASIS_SAMPLE:
        return d->verdict == RUNG_CAN_SAMPLED && d->has_weights;
    }
    return false;
}

rung_status rung_decide(rung_decision *d, const rung_claim *claim, const rung_decide_options *means, rung_error *err)
{
    *d = (rung_decision){.verdict = RUNG_UNKNOWN, .by = "", .proof = ""};
    rung_arena_init(&d->arena);
    if (!rung_claim_task(claim)) return rung_fail(err, RUNG_USAGE, "a claim without a task cannot be decided");
    rung_status status = say_about(d, claim, err);
    if (status == RUNG_OK && means->bounds) status = ask_bounds(d, claim, means, err);
    bool looks = means->weights && (d->verdict != RUNG_CANNOT || means->both);
    if (status == RUNG_OK && looks) status = decide_weights(d, claim, means, err);
    RUNG_NEXT(status, compare_results(d, claim, means, err));
    if (status == RUNG_OK && means->attacked) status = ask_attacks(d, means, err);
    assert(status != RUNG_OK || is_consistent(d));
    return status;
}

void rung_decision_clear(rung_decision *d)
{
    free(d->bounds);
    rung_proof_clear(&d->coq);
    if (d->found) rung_break_clear(d->found);
    free(d->found);
    free(d->tried);
    rung_model_close(d->model);
    rung_arena_clear(&d->arena);
    *d = (rung_decision){0};
}
