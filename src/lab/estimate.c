/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Estimates the time of a sweep from a few steps of every kind of run. Runs that stop early take less.
 */
#include "store.h"
#include "sweep_spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps of a measurement. The first step is slower than the others and is not counted. */
enum { STEPS_LEAST = 3, STEPS_MOST = 50 };
#define MEASURE_S 0.15
/* A forward pass takes this share of a whole step: forward and backward take about 1 : 2. */
#define FORWARD_SHARE (1.0 / 3.0)
/* How many times slower the exact evaluator is than the fast one, and the longest time of an exact test in seconds.
 * Measured: docs/training.md. */
#define EXACT_SLOWER 13.0
#define EXACT_MOST_S 12.0

typedef struct kind {
    uint64_t key; /* hash of what affects the time of a step */
    double step_s;
} kind;

typedef struct clock {
    double first_s, last_s;
    uint64_t steps;
} clock;

static bool watch(void *context, const rung_train_state *state, bool evaluated)
{
    clock *c = context;
    double now = rung_wall_s();
    (void)evaluated;
    if (state->step == 1) c->first_s = now;
    c->last_s = now;
    c->steps = state->step;
    return state->step < STEPS_LEAST || (now - c->first_s < MEASURE_S && state->step < STEPS_MOST);
}

static rung_status measure(double *step_s, const rung_train_spec *conf, rung_error *err)
{
    rung_train_spec copy = *conf;
    rung_train_state state = {0};
    clock c = {0};
    copy.steps = STEPS_MOST + 1;
    copy.eval_every = 0;
    copy.eval_prompts = copy.test_prompts = 0;
    copy.stop_at = 0;
    copy.threads = 1;
    rung_status status = rung_train_run(&state, &copy, NULL, NULL, watch, &c, err);
    if (status == RUNG_INPUT && state.diverged) status = RUNG_OK; /* its speed was measured all the same */
    *step_s = c.steps > 1 ? (c.last_s - c.first_s) / (double)(c.steps - 1) : 0;
    return status;
}

static uint64_t key_of(const rung_train_spec *conf)
{
    const rung_model_spec *m = &conf->model;
    char text[1024];
    int len = snprintf(text, sizeof text, "%.300s %.100s %.300s %zu %zu %zu %zu %zu %zu %zu %zu %zu %d %d", m->arch,
                       m->mlp, m->task, m->d_model, m->d_mlp, m->heads, m->dk, m->dv, m->max_tokens, conf->batch,
                       conf->accumulate, conf->queries, (int)m->positions, (int)m->norm);
    return rung_hash64(text, (size_t)len);
}

static double steps_of_prompts(const rung_train_spec *conf, double prompts)
{
    return FORWARD_SHARE * prompts / (double)conf->batch / (double)conf->accumulate;
}

/* Total work in steps; evaluations are converted into steps. */
static double steps_of(const rung_train_spec *conf)
{
    double steps = (double)conf->steps, evaluations = conf->eval_every ? steps / (double)conf->eval_every : 1;
    return steps + steps_of_prompts(conf, evaluations * (double)conf->eval_prompts);
}

static double test_s(const rung_train_spec *conf, double step_s)
{
    double fast = step_s * steps_of_prompts(conf, (double)conf->test_prompts);
    return rung_train_tests_exactly(conf) ? fmin(EXACT_SLOWER * fast, EXACT_MOST_S) : fast;
}

typedef struct estimate {
    kind *kind;
    size_t kinds;
    double until_s;
    rung_lab_cost *cost;
    double known_s, known,
        unknown; /* known_s, known: seconds and runs of measured kinds; unknown: runs of the other kinds */
} estimate;

static kind *find_kind(estimate *e, uint64_t key)
{
    for (size_t i = 0; i < e->kinds; i++)
        if (e->kind[i].key == key) return &e->kind[i];
    return NULL;
}

static rung_status add_run(estimate *e, const rung_train_spec *conf, rung_error *err)
{
    rung_status status = RUNG_OK;
    uint64_t key = key_of(conf);
    kind *k = find_kind(e, key);
    if (!k) {
        k = &e->kind[e->kinds++];
        *k = (kind){.key = key};
        if (rung_wall_s() < e->until_s) status = measure(&k->step_s, conf, err);
        e->cost->measured += k->step_s > 0;
    }
    e->known += k->step_s > 0;
    e->unknown += !(k->step_s > 0);
    e->known_s += k->step_s * steps_of(conf) + test_s(conf, k->step_s);
    return status;
}

static rung_status add_index(estimate *e, const rung_sweep *sweep, size_t index, rung_store *store, rung_error *err)
{
    rung_sweep_run run;
    bool done = false;
    rung_status status = store ? rung_store_has(&done, store, sweep->planned[index].id, err) : RUNG_OK;
    e->cost->runs++;
    e->cost->done += done;
    if (status != RUNG_OK || done) return status;
    status = rung_sweep_run_init(&run, sweep, index, err);
    if (status == RUNG_OK) {
        status = add_run(e, &run.conf, err);
        if (status != RUNG_OK)
            status = rung_fail_at(err, status == RUNG_USAGE ? RUNG_INPUT : status, "%s: arch %.80s, task %.80s",
                                  sweep->file, run.conf.model.arch, run.conf.model.task);
    }
    rung_sweep_run_clear(&run);
    return status;
}

rung_status rung_lab_estimate(rung_lab_cost *cost, const rung_sweep *sweep, rung_store *store,
                              const rung_lab_options *conf, double budget_s, rung_error *err)
{
    size_t shards = conf->shards ? conf->shards : 1;
    *cost = (rung_lab_cost){0};
    estimate e = {.cost = cost, .until_s = rung_wall_s() + budget_s};
    e.kind = rung_calloc(sweep->runs, sizeof *e.kind, err);
    rung_status status = e.kind ? RUNG_OK : RUNG_SYSTEM;
    for (size_t i = conf->shards ? conf->shard : 0; status == RUNG_OK && i < sweep->runs; i += shards) {
        status = add_index(&e, sweep, i, store, err);
        if (conf->go && !conf->go(conf->context)) break;
    }
    cost->kinds = e.kinds;
    cost->seconds = e.known_s + (e.known > 0 ? e.unknown * e.known_s / e.known : 0);
    free(e.kind);
    return status;
}
