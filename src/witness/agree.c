/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Compares two models on the same prompts: do their read-outs have the same bits?
 */
#include "rung/witness.h"

#include <string.h>

typedef struct side {
    rung_program *program;
    rung_judge judge;
} side;

static rung_status open_side(side *s, const rung_model *model, const rung_task_conf *task, const rung_evaluator *how,
                             rung_error *err)
{
    RUNG_TRY(rung_program_new(&s->program, model, how, err));
    return rung_judge_init(&s->judge, model, s->program, task, err);
}

static void close_side(side *s)
{
    rung_judge_clear(&s->judge);
    rung_program_free(s->program);
}

/* Models that both stop at a prompt agree there. */
static rung_status compare_runs(rung_agreement *out, side *a, side *b, rung_form form, rung_error *err)
{
    rung_error why[2] = {{{0}}, {{0}}};
    rung_status ran[2] = {rung_judge_run(&a->judge, form, &why[0]), rung_judge_run(&b->judge, form, &why[1])};
    for (size_t i = 0; i < 2; i++)
        if (ran[i] != RUNG_OK && ran[i] != RUNG_INPUT) return *err = why[i], ran[i];
    size_t rows = a->judge.spec->thoughts ? 1 : a->judge.targets;
    out->stopped = ran[0] != ran[1];
    out->agree =
        !out->stopped && a->judge.wide == b->judge.wide && a->judge.thoughts == b->judge.thoughts &&
        (ran[0] != RUNG_OK || memcmp(a->judge.out, b->judge.out, rows * a->judge.wide * sizeof *a->judge.out) == 0);
    return RUNG_OK;
}

/* Makes prompt number `index` for both: of all prompts, or of the sample of a seed. */
static rung_status make_prompt(bool *is_prompt, side *s, const rung_task_conf *task, bool all, uint64_t seed,
                               uint64_t index, rung_error *err)
{
    *is_prompt = true;
    if (all) return rung_task_unrank(&s->judge.instance, is_prompt, task, index, err);
    return rung_task_make(&s->judge.instance, task, seed, index, err);
}

static rung_status compare_prompts(rung_agreement *out, side *a, side *b, const rung_task_conf *task, uint64_t prompts,
                                   uint64_t seed, rung_error *err)
{
    uint64_t space = rung_task_space(task);
    rung_status status = RUNG_OK;
    out->all = space > 0 && space <= prompts;
    for (uint64_t i = 0; status == RUNG_OK && out->agree && i < (out->all ? space : prompts); i++) {
        bool is_prompt;
        status = make_prompt(&is_prompt, a, task, out->all, seed, i, err);
        RUNG_NEXT(status, make_prompt(&is_prompt, b, task, out->all, seed, i, err));
        if (status != RUNG_OK || !is_prompt) continue;
        status = compare_runs(out, a, b, RUNG_FORM_SCAN, err);
        if (status == RUNG_OK && out->agree) status = compare_runs(out, a, b, RUNG_FORM_STEP, err);
        out->prompts++;
    }
    return status;
}

rung_status rung_models_agree(rung_agreement *out, const rung_model *a, const rung_model *b, const rung_task_conf *task,
                              const rung_evaluator *how, uint64_t prompts, uint64_t seed, rung_error *err)
{
    side sides[2] = {{0}};
    *out = (rung_agreement){.agree = true};
    rung_status status = open_side(&sides[0], a, task, how, err);
    RUNG_NEXT(status, open_side(&sides[1], b, task, how, err));
    RUNG_NEXT(status, compare_prompts(out, &sides[0], &sides[1], task, prompts, seed, err));
    close_side(&sides[0]);
    close_side(&sides[1]);
    return status;
}
