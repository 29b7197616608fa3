/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Weights for the layers of a published model: one head of one full layer works, and everything else is idle. The model
 * that is run is a rung model with the published width, head size, angles and norms. docs/contains.md proves that the
 * published stack contains it, and lists what that assumes. If something is not established, the result is unknown,
 * with the reason.
 */
#include "find_weights.h"
#include "finding.h"
#include "lookup_proofs.h"
#include "rotary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 1000, VALUES_MAX = 1 << 16 };

static rung_status refuse(rung_witness *w, const char *format, ...) RUNG_PRINTF(2, 3);
static rung_status refuse(rung_witness *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(w->why, sizeof w->why, format, args);
    va_end(args);
    return RUNG_OK;
}

/* ---- what the file says ------------------------------------------------------------------------------------------ */

static const char *not_established(const rung_ledger *ledger)
{
    for (size_t i = 0; i < RUNG_BLOCK_FACTS; i++) {
        const rung_known *known = &ledger->block.known[i];
        if (known->is != RUNG_ESTABLISHED) return known->why ? known->why : "norms, positions and sizes were not read";
    }
    for (size_t i = 0; i < RUNG_LEDGER_FACTS; i++)
        if (ledger->known[i].is == RUNG_VIOLATED) return ledger->known[i].why;
    return NULL;
}

/* A layer whose queries see all tokens of the prompt, and whose heads all have one size. */
static const rung_ledger_layer *working_layer(const rung_ledger *ledger, size_t tokens)
{
    for (size_t i = 0; i < ledger->layer_count; i++) {
        const rung_ledger_layer *held = &ledger->layer[i];
        bool sees_all = held->full || (held->window && held->window_size > tokens);
        if (sees_all && !held->recurrent && !held->chunk && !held->sparse && held->heads && held->key_dim >= 2 &&
            held->key_dim % 2 == 0 && held->key_dim == held->value_dim)
            return held;
    }
    return NULL;
}

/* False, with w->why, if it is not known that the published layers contain the lookup. */
static bool describe(rotary_lookup *l, rung_witness *w, const rung_ledger *ledger, const rung_task_conf *task)
{
    const char *missing = not_established(ledger);
    const rung_block *block = &ledger->block;
    if (strcmp(task->task->name, "eva") != 0 || rung_task_param(task, "form") != 0)
        return refuse(w, "weights for published layers are known only for eva form=position"), false;
    if (missing) return refuse(w, "%s", missing), false;
    const rung_ledger_layer *held = working_layer(ledger, task->tokens);
    if (!held) return refuse(w, "no layer of plain attention sees all %zu tokens", task->tokens), false;
    if (ledger->context && task->tokens > ledger->context)
        return refuse(w, "%zu tokens are more than the context of %llu", task->tokens,
                      (unsigned long long)ledger->context),
               false;
    if (task->vocab + task->answers > block->vocab)
        return refuse(w, "the task has %zu tokens and %zu answers, but the vocabulary has %llu", task->vocab,
                      task->answers, (unsigned long long)block->vocab),
               false;
    size_t rotated = (size_t)floor((double)held->key_dim * block->partial);
    *l = (rotary_lookup){.hidden = (size_t)block->hidden,
                         .head = (size_t)held->key_dim,
                         .rotated = rotated - rotated % 2,
                         .theta = block->rope_theta,
                         .wave = block->wave,
                         .entries = (size_t)rung_task_param(task, "N"),
                         .values = (size_t)rung_task_param(task, "V")};
    if (l->values > VALUES_MAX) return refuse(w, "%zu values are too many to write", l->values), false;
    rung_error why = {{0}};
    if (rotary_choose(l, &why) != RUNG_OK) return refuse(w, "%s", why.text), false;
    return true;
}

/* ---- right or not ------------------------------------------------------------------------------------------------ */

/* Multiplications of one prompt; norms of wide streams cost most. */
static double prompt_work(const rotary_lookup *l)
{
    double tokens = (double)l->entries + 1;
    return tokens * (40 * (double)l->hidden + (double)l->head * tokens);
}

/* Multiplications of the proof: every token once, and two passes over all keys for every place. */
static double proof_work(const rotary_lookup *l)
{
    double tokens = (double)l->entries + 1, all = 7 * tokens + exp2((double)l->bits);
    return all * 40 * (double)l->hidden + 60 * tokens * tokens * (double)l->head;
}

/* The proof is for 2^bits values, of which the task uses some: keys, queries and codes are the same. */
static rung_status by_proof(rung_finding *found, const rung_model *model, const rotary_lookup *l,
                            const rung_evaluator *how, rung_error *err)
{
    rotary_lookup all = *l;
    rung_model *wider = NULL;
    all.values = (size_t)1 << l->bits;
    RUNG_TRY(all.values == l->values ? RUNG_OK : rotary_build(&wider, &all, NULL, err));
    rung_status status =
        rotary_prove(&found->right, found->reason, sizeof found->reason, wider ? wider : model, &all, how, err);
    found->evidence = RUNG_PROVED;
    rung_model_close(wider);
    return status;
}

static rung_status by_sample(rung_finding *found, const rung_model *model, const rung_task_conf *task,
                             const rung_witness_options *ask, const rung_evaluator *how, uint64_t most, rung_error *err)
{
    uint64_t samples = ask->samples ? ask->samples : SAMPLES;
    rung_verify_options conf = {
        .samples = samples < most ? samples : most, .seed = ask->seed, .how = *how, .interrupted = ask->interrupted};
    rung_verdict verdict;
    rung_status status = rung_finding_by(found, &verdict, model, task, &conf, RUNG_SAMPLED, err);
    found->evidence = RUNG_A_SAMPLE, found->right = status == RUNG_OK && found->wrong == 0 && found->prompts > 0;
    return status;
}

static rung_status judge(rung_witness *w, const rung_model *model, const rotary_lookup *l,
                         const rung_witness_options *ask, rung_error *err)
{
    rung_evaluator how = {.numbers = ask->numbers, .softmax = ask->softmax, .threads = ask->threads};
    double work = ask->work > 0 ? ask->work : WORK_MAX, each = prompt_work(l);
    rung_status status = RUNG_OK;
    if (proof_work(l) <= work) status = by_proof(&w->finding, model, l, &how, err);
    if (status != RUNG_OK || w->finding.right) return status;
    if (work / each < 4) return refuse(w, "a few prompts of %zu tokens take too long to run here", l->entries + 1);
    uint64_t most = work / each > 1e9 ? 1000000000 : (uint64_t)(work / each);
    status = by_sample(&w->finding, model, ask->task, ask, &how, most, err);
    if (status == RUNG_OK && !w->finding.right)
        return refuse(w, "%llu of %llu prompts are wrong in %s", (unsigned long long)w->finding.wrong,
                      (unsigned long long)w->finding.prompts, ask->numbers->name);
    return status;
}

static const char idle_layers[] =
    "one head of one full layer, rotary positions, RMSNorm; every other head, layer and MLP idle";

/* The proof alone, without a model: it is the same for all files with these sizes. */
static rung_status by_shared_proof(rung_witness *w, const rotary_lookup *l, const rung_witness_options *ask,
                                   rung_error *err)
{
    if (proof_work(l) > (ask->work > 0 ? ask->work : WORK_MAX))
        return refuse(w, "a proof for %zu tokens takes too long here", l->entries + 1);
    rung_evaluator how = {.numbers = ask->numbers, .softmax = ask->softmax, .threads = ask->threads};
    RUNG_TRY(lookup_prove(&w->finding, ask->proofs, l, &how, err));
    if (!w->finding.right) return refuse(w, "%s", w->finding.reason);
    w->found = true, w->layers = idle_layers;
    return RUNG_OK;
}

rung_status rung_witness_published(rung_witness *w, const rung_ledger *ledger, const rung_witness_options *ask,
                                   rung_error *err)
{
    rotary_lookup l;
    rung_model *model = NULL;
    *w = (rung_witness){0};
    rung_arena_init(&w->arena);
    if (!ask->numbers)
        return rung_fail(err, RUNG_USAGE, "fp32 has no fixed order of summation; choose a number format");
    if (!describe(&l, w, ledger, ask->task)) return RUNG_OK;
    w->options = w->fitting = 1;
    if (ask->proofs) return by_shared_proof(w, &l, ask, err);
    rung_status status = rotary_build(&model, &l, ask->task, err);
    RUNG_NEXT(status, judge(w, model, &l, ask, err));
    if (status == RUNG_OK && w->finding.right) {
        w->found = true, w->model = model;
        w->layers = idle_layers;
        return RUNG_OK;
    }
    rung_model_close(model);
    return status;
}
