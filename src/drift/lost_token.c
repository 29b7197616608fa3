/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A certificate for a loss: one layer of the mechanism with random weights, on the task eva, in which an early token is
 * forgotten, overwritten or swallowed. The attacks find it; rung-check confirms it.
 */
#include <stdio.h>
#include <string.h>

#include "drift_inside.h"
#include "rung/attack.h"

enum { DIM_MAX = 8, MODEL_DIM = 12, SECONDS = 20 /* of each attack */ };

/* The attacks that show a loss, and the tasks on which they look for it: many tokens where a delta rule must overwrite. */
static const struct {
    const char *attack, *entries;
} plans[] = {{"forget", "N=64"}, {"overwrite", "N=256"}, {"swallow", "N=64"}};

typedef struct attempt {
    rung_model *model;
    rung_program *program;
    rung_task_conf task;
    rung_break result;
} attempt;

static rung_status open_model(attempt *h, const rung_mech_conf *conf, const rung_numbers *numbers, const char *entries,
                              uint64_t seed, rung_error *err)
{
    char arch[64];
    const size_t dk = conf->dk < DIM_MAX ? conf->dk : DIM_MAX, dv = conf->dv < DIM_MAX ? conf->dv : DIM_MAX;
    const char *const pairs[] = {entries, "V=8"};
    const bool overwrites = conf->mech->traits & RUNG_TRAIT_OVERWRITES;
    snprintf(arch, sizeof arch, "%s:dk=%zu:dv=%zu%s", conf->mech->name, dk, dv, overwrites ? ":unit=1" : "");
    RUNG_TRY(rung_task_conf_init(&h->task, "eva", pairs, RUNG_COUNT(pairs), err));
    const rung_model_spec spec = {.arch = arch,
                                  .task = "",
                                  .mlp = "none",
                                  .vocab = h->task.vocab,
                                  .answers = h->task.answers,
                                  .max_tokens = h->task.tokens,
                                  .d_model = MODEL_DIM,
                                  .d_mlp = 1,
                                  .heads = 1,
                                  .dk = dk,
                                  .dv = dv,
                                  .positions = RUNG_POS_NONE,
                                  .norm = RUNG_NORM_NONE,
                                  .causal = true};
    RUNG_TRY(rung_model_random(&h->model, &spec, seed, err));
    const rung_evaluator how = {.numbers = &numbers->acc, .mixed = numbers->mixed ? numbers : NULL, .threads = 1};
    return rung_program_new(&h->program, h->model, &how, err);
}

static void clear_attempt(attempt *h)
{
    rung_program_free(h->program);
    rung_model_close(h->model);
    rung_break_clear(&h->result);
}

/* One attack; what does not apply to these formats finds nothing. */
static rung_status try_plan(attempt *h, size_t plan, const rung_mech_conf *conf, const rung_drift_options *ask,
                            rung_error *err)
{
    const rung_numbers *n = &ask->numbers;
    rung_break tried;
    size_t tried_count;
    RUNG_TRY(open_model(h, conf, n, plans[plan].entries, ask->seed, err));
    const rung_attacked attacked = {
        .model = h->model, .program = h->program, .task = &h->task, .numbers = n->acc, .mixed = n->mixed ? n : NULL};
    const rung_budget budget = {.seconds = SECONDS,
                                .memory = (size_t)1 << 28,
                                .threads = ask->threads,
                                .seed = ask->seed,
                                .kinds = 1u << RUNG_CERT_STATE_COLLISION};
    return rung_attack_run(&h->result, &tried, 0, &tried_count, &attacked, plans[plan].attack, &budget, err);
}

static rung_status write_loss(rung_drift_loss *loss, attempt *h, const char *model, const char *cert, rung_error *err)
{
    const rung_cert *c = &h->result.cert;
    size_t first = 0;
    while (c->prompt[0][first] == c->prompt[1][first]) first++;
    loss->found = true, loss->certifiable = h->result.certifiable, loss->token = first, loss->lost_by = c->prefix;
    snprintf(loss->how, sizeof loss->how, "%s: %s", h->result.attack, h->result.report);
    snprintf(loss->arch, sizeof loss->arch, "%s", rung_model_get_spec(h->model)->arch);
    RUNG_TRY(rung_model_save(h->model, model, err));
    return rung_cert_write(cert, c, err);
}

rung_status rung_drift_certify(rung_drift_loss *loss, const rung_mech_conf *conf, const rung_drift_options *ask,
                               const char *model, const char *cert, rung_error *err)
{
    rung_status status = RUNG_OK;
    *loss = (rung_drift_loss){0};
    if (!(conf->mech->traits & RUNG_TRAIT_CERTIFIED))
        return rung_fail(err, RUNG_USAGE, "rung-check cannot run %s, so there is no certificate about it",
                         conf->mech->name);
    for (size_t plan = 0; status == RUNG_OK && !loss->found && plan < RUNG_COUNT(plans); plan++) {
        attempt h = {0};
        status = try_plan(&h, plan, conf, ask, err);
        if (status == RUNG_OK && h.result.found) status = write_loss(loss, &h, model, cert, err);
        clear_attempt(&h);
    }
    return status;
}
