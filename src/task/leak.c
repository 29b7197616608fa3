/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The leak probe: what three predictors without attention score. They are fitted on the first half of the
 * instances and scored on the second, so an accidental pattern of one half does not count.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

/* One target of the fit half. Sorting puts equal positions together and, within them, equal answers. */
typedef struct seen {
    uint32_t position;
    int32_t answer;
} seen;

typedef struct probe {
    seen *fit; /* all targets of the fit half; later one row per position: the most common answer */
    size_t fit_count, fit_cap, positions;
    uint32_t *votes; /* [answers], for one prompt */
    int32_t majority;
    size_t hit_majority, hit_position, hit_frequency, tested;
} probe;

static rung_status remember(probe *p, size_t position, int32_t answer, rung_error *err)
{
    if (p->fit_count == p->fit_cap) {
        size_t bytes, cap = p->fit_cap ? 2 * p->fit_cap : 1024;
        seen *more = rung_size_mul(&bytes, cap, sizeof *more) ? realloc(p->fit, bytes) : NULL;
        if (!more) return rung_fail(err, RUNG_SYSTEM, "no memory for %zu targets; probe fewer instances", cap);
        p->fit = more;
        p->fit_cap = cap;
    }
    p->fit[p->fit_count++] = (seen){(uint32_t)position, answer};
    return RUNG_OK;
}

static rung_status fit_instance(probe *p, const rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    for (size_t t = 0; t < instance->tokens; t++) {
        if (instance->target[t] == RUNG_NO_TARGET) continue;
        assert(instance->target[t] >= 0 && (size_t)instance->target[t] < conf->answers);
        RUNG_TRY(remember(p, t, instance->target[t], err));
    }
    return RUNG_OK;
}

static int by_position_and_answer(const void *a, const void *b)
{
    const seen *x = a, *y = b;
    if (x->position != y->position) return x->position < y->position ? -1 : 1;
    return (x->answer > y->answer) - (x->answer < y->answer);
}

static int32_t most_voted(const uint32_t *votes, size_t answers)
{
    size_t best = 0;
    for (size_t a = 1; a < answers; a++)
        if (votes[a] > votes[best]) best = a;
    return (int32_t)best;
}

/* Shrinks the sorted list to the most common answer per position. The smallest answer wins ties. */
static void keep_modes(probe *p)
{
    size_t best_run = 0, i = 0;
    p->positions = 0;
    while (i < p->fit_count) {
        size_t end = i;
        seen here = p->fit[i];
        while (end < p->fit_count && p->fit[end].position == here.position && p->fit[end].answer == here.answer) end++;
        bool same = p->positions > 0 && p->fit[p->positions - 1].position == here.position;
        if (!same) {
            p->fit[p->positions++] = here;
            best_run = end - i;
        } else if (end - i > best_run) {
            p->fit[p->positions - 1] = here;
            best_run = end - i;
        }
        i = end;
    }
}

static void sum_up(probe *p, size_t answers)
{
    memset(p->votes, 0, answers * sizeof *p->votes);
    for (size_t i = 0; i < p->fit_count; i++) p->votes[p->fit[i].answer]++;
    p->majority = most_voted(p->votes, answers);
    if (p->fit_count) qsort(p->fit, p->fit_count, sizeof *p->fit, by_position_and_answer);
    keep_modes(p);
}

/* The fitted answer of the position. A position that does not occur in the fit half gets the majority answer. */
static int32_t guess_by_position(const probe *p, size_t position)
{
    size_t low = 0, high = p->positions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->fit[middle].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < p->positions && p->fit[low].position == position;
    return found ? p->fit[low].answer : p->majority;
}

static void test_instance(probe *p, const rung_instance *instance, const rung_task_conf *conf)
{
    int32_t favourite = RUNG_NO_TARGET;
    memset(p->votes, 0, conf->answers * sizeof *p->votes);
    for (size_t t = 0; t < instance->tokens; t++) {
        int32_t vote =
            conf->task->vote && instance->token ? conf->task->vote(conf, instance->token[t]) : RUNG_NO_TARGET;
        if (vote != RUNG_NO_TARGET) {
            uint32_t count = ++p->votes[vote];
            uint32_t best = favourite == RUNG_NO_TARGET ? 0 : p->votes[favourite];
            if (count > best || (count == best && vote < favourite)) favourite = vote;
        }
        int32_t target = instance->target[t];
        if (target == RUNG_NO_TARGET) continue;
        p->tested++;
        p->hit_majority += target == p->majority;
        p->hit_position += target == guess_by_position(p, t);
        p->hit_frequency += target == favourite;
    }
}

static rung_status run_probe(probe *p, rung_instance *instance, const rung_task_conf *conf, uint64_t seed, size_t count,
                             rung_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (i == count / 2) sum_up(p, conf->answers);
        rung_status status = rung_task_make(instance, conf, seed, i, err);
        if (status == RUNG_OK && i < count / 2) status = fit_instance(p, instance, conf, err);
        RUNG_TRY(status);
        if (i >= count / 2) test_instance(p, instance, conf);
    }
    return RUNG_OK;
}

/* Targets of one prompt are not independent, so the unit is the instance. Its mean score is in [0, 1] and has a
 * variance of at most p(1-p). For p below 1/n the deviation of a rare event is that of a Poisson count near 1. */
static double four_deviations(double level, size_t instances)
{
    double n = (double)instances, p = level > 1 / n ? level : 1 / n;
    return 4 * sqrt(p * (1 - p) / n);
}

rung_status rung_task_leak(rung_leak *leak, const rung_task_conf *conf, uint64_t seed, size_t count, rung_error *err)
{
    memset(leak, 0, sizeof *leak);
    leak->declared = conf->majority;
    if (count < 2) return rung_fail(err, RUNG_USAGE, "the leak probe needs at least 2 instances, one for each half");
    leak->slack = four_deviations(conf->majority, count - count / 2);
    if (conf->answers == 0) return RUNG_OK;

    probe p = {0};
    rung_instance instance;
    RUNG_TRY(rung_instance_init(&instance, conf, err));
    p.votes = rung_calloc(conf->answers, sizeof *p.votes, err);
    rung_status status = p.votes ? run_probe(&p, &instance, conf, seed, count, err) : RUNG_SYSTEM;
    if (status == RUNG_OK && p.tested > 0) {
        leak->tested = p.tested;
        leak->majority = (double)p.hit_majority / (double)p.tested;
        leak->position = (double)p.hit_position / (double)p.tested;
        leak->frequency = (double)p.hit_frequency / (double)p.tested;
    }
    rung_instance_clear(&instance);
    free(p.fit);
    free(p.votes);
    return status;
}

rung_status rung_task_majority_by_probe(rung_task_conf *conf, rung_error *err)
{
    size_t count = ((size_t)1 << 21) / conf->tokens;
    if (count < 64) count = 64;
    if (count > 4096) count = 4096;
    rung_leak leak;
    conf->majority = conf->chance;
    RUNG_TRY(rung_task_leak(&leak, conf, UINT64_MAX, count, err));
    const double scores[] = {leak.majority, leak.position, leak.frequency};
    for (size_t i = 0; i < RUNG_COUNT(scores); i++)
        if (scores[i] > conf->majority) conf->majority = scores[i];
    return RUNG_OK;
}
