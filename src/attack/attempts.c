/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Runs attempts on several threads, and makes prompts to start from.
 */
#include "attempts.h"
#include "certify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rung/par.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static double state_capacity(const rung_attacked *attacked)
{
    const rung_arch *arch = rung_model_get_arch(attacked->model);
    double elements = 0;
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++)
            elements += (double)rung_mech_state_capacity(&arch->layer[i].group[g], attacked->task->tokens);
    return elements;
}

/* Numbers per token that a run over a whole prompt needs: stream, norm and output, all inputs of the widest group, its
 * output twice, hidden layers. */
static double buffers_per_token(const rung_attacked *attacked)
{
    const rung_arch *arch = rung_model_get_arch(attacked->model);
    const rung_model_spec *spec = rung_model_get_spec(attacked->model);
    double widest = 0;
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++) {
            const rung_mech_conf *conf = &arch->layer[i].group[g];
            double row = 2 * (double)(conf->heads * conf->dv);
            for (const rung_mech_input *input = conf->mech->inputs; input->name; input++)
                if (!rung_mech_is_constant(input)) row += (double)rung_mech_row(input, conf);
            widest = row > widest ? row : widest;
        }
    return 3 * (double)spec->d_model + 2 * (double)spec->d_mlp + widest;
}

/* Two states (of one worker and of a fork of it), their packed bits, and the buffers of one run. */
size_t rung_runner_bytes(const rung_attacked *attacked)
{
    double numbers = 3 * state_capacity(attacked) + (double)attacked->task->tokens * (buffers_per_token(attacked) + 4);
    double bytes = 8 * numbers + 65536;
    return bytes < (double)(SIZE_MAX / 4) ? (size_t)bytes : SIZE_MAX / 4;
}

size_t rung_attempts_workers(const rung_attacked *attacked, const rung_budget *budget)
{
    size_t threads = budget->threads ? budget->threads : rung_cpu_threads();
    size_t fit = budget->memory / rung_runner_bytes(attacked);
    return fit < threads ? fit : threads;
}

/* ---- attempts ---------------------------------------------------------------------------------------------------- */

/* The result of one worker. */
typedef struct haul {
    runner h;
    rung_cert cert;
    bool found;
    rung_status status;
    rung_error err;
    char how[200];
} haul;

typedef struct sweep {
    const attempts *c;
    haul *worker;
    uint64_t first;
} sweep;

static void attempt_one(void *context, size_t item, size_t worker)
{
    const sweep *r = context;
    haul *k = &r->worker[item]; /* one item each, so that the result does not depend on the thread */
    (void)worker;
    k->found = false;
    k->status = r->c->attempt(r->c, &k->h, &k->cert, &k->found, r->first + item, k->how, sizeof k->how, &k->err);
    if (k->status == RUNG_INPUT) k->status = RUNG_OK;
}

static rung_status collect(rung_break *result, bool *over, haul *worker, size_t count, rung_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (worker[i].status != RUNG_OK) return rung_fail(err, worker[i].status, "%s", worker[i].err.text);
        if (!worker[i].found) continue;
        rung_break_take(result, &worker[i].cert);
        snprintf(result->report, sizeof result->report, "%s", worker[i].how);
        *over = true;
        break;
    }
    return RUNG_OK;
}

static uint64_t stops(const haul *worker, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += worker[i].h.stopped;
    return sum;
}

static rung_status attempt_rounds(rung_break *result, const attempts *c, haul *worker, size_t workers, rung_error *err)
{
    sweep r = {.c = c, .worker = worker};
    rung_status status = RUNG_OK;
    bool over = false;
    rung_budget_progress(c->budget, c->what, c->count == UINT64_MAX ? 0 : c->count);
    while (status == RUNG_OK && !over && r.first < c->count && rung_budget_left(c->budget, c->began) > 0) {
        size_t batch = c->count - r.first < workers ? (size_t)(c->count - r.first) : workers;
        rung_par_for(batch, workers, attempt_one, &r);
        status = collect(result, &over, worker, batch, err);
        r.first += batch;
        if (c->budget->progress) rung_progress_tick(c->budget->progress, r.first);
    }
    if (c->budget->progress) rung_progress_finish(c->budget->progress);
    for (size_t i = 0; i < workers; i++) result->evaluations += worker[i].h.evaluations;
    if (result->found || status != RUNG_OK) return status;
    int used = snprintf(result->report, sizeof result->report, "%llu %s", (unsigned long long)r.first, c->what);
    if (stops(worker, workers) && used > 0 && (size_t)used < sizeof result->report)
        snprintf(result->report + used, sizeof result->report - (size_t)used, "; %llu runs ended in a NaN",
                 (unsigned long long)stops(worker, workers));
    return RUNG_OK;
}

rung_status rung_attempts_run(rung_break *result, const attempts *c, rung_error *err)
{
    size_t workers = rung_attempts_workers(c->attacked, c->budget);
    if (workers == 0) {
        snprintf(result->report, sizeof result->report,
                 "not tried: one run needs about %zu MiB, but only %zu MiB are allowed",
                 rung_runner_bytes(c->attacked) >> 20, c->budget->memory >> 20);
        return RUNG_OK;
    }
    haul *worker = rung_calloc(workers, sizeof *worker, err);
    if (!worker) return RUNG_SYSTEM;
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < workers && status == RUNG_OK; i++) status = rung_runner_init(&worker[i].h, c->attacked, err);
    RUNG_NEXT(status, attempt_rounds(result, c, worker, workers, err));
    for (size_t i = 0; i < workers; i++) {
        rung_runner_clear(&worker[i].h);
        rung_cert_clear(&worker[i].cert);
    }
    free(worker);
    return status;
}

/* ---- what can collide -------------------------------------------------------------------------------------------- */

bool rung_attacked_forgets(const rung_attacked *attacked, char *why, size_t size)
{
    const rung_arch *arch = rung_model_get_arch(attacked->model);
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++) {
            const rung_mech_conf *conf = &arch->layer[i].group[g];
            if (conf->mech->carry(conf, attacked->task->tokens).cache == 0) continue;
            snprintf(why, size, "layer %zu (%s) keeps the keys and values of all tokens", i, conf->mech->name);
            return false;
        }
    return true;
}

/* ---- prompts to begin with --------------------------------------------------------------------------------------- */

static uint32_t choice_at(const runner *h, size_t pos, uint64_t number)
{
    rung_ids ids = h->attacked->task->task->ids(h->attacked->task, pos);
    return (uint32_t)(ids.first + number % ids.count);
}

/* Puts choice `number` at every position from `first` in steps of `stride`, except at the end. Undoes it if the result
 * is no prompt. */
static bool repeat(runner *h, uint32_t *token, uint32_t *kept, uint64_t number, size_t first, size_t stride)
{
    memcpy(kept, token, h->tokens * sizeof *kept);
    for (size_t pos = first; pos + 1 < h->tokens; pos += stride) token[pos] = choice_at(h, pos, number);
    if (rung_runner_oracle(h, token) != RUNG_NO_TARGET) return true;
    memcpy(token, kept, h->tokens * sizeof *kept);
    return false;
}

/* The i-th of `count` choices, spread evenly by the golden ratio. If there are few choices they come in order. */
static uint64_t spread(uint64_t i, uint64_t count)
{
    if (count <= 64) return i % count;
    double part = (double)i * 0.6180339887498949;
    return (uint64_t)((part - floor(part)) * (double)count);
}

static uint64_t most_choices(const runner *h)
{
    uint64_t most = 1;
    for (size_t pos = 0; pos + 1 < h->tokens; pos++) {
        uint64_t count = h->attacked->task->task->ids(h->attacked->task, pos).count;
        most = count > most ? count : most;
    }
    return most;
}

bool rung_runner_first_prompt(runner *h, uint32_t *token, uint64_t seed, uint64_t index)
{
    if (!rung_runner_draw(h, token, seed, index)) return false;
    if (index % 2) return true;
    rung_span player[RUNG_PLAYERS_MAX];
    memcpy(player, h->instance.player, sizeof player);
    uint32_t *kept = rung_calloc(h->tokens, sizeof *kept, NULL);
    if (!kept) return false;
    uint64_t number = spread(index / 2, most_choices(h));
    if (!repeat(h, token, kept, number, 0, 1) && !repeat(h, token, kept, number, 1, 2))
        repeat(h, token, kept, number, 0, 2);
    free(kept);
    memcpy(h->instance.player, player, sizeof player); /* the oracle does not fill them in */
    return true;
}
