/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The pairs of a build at a given number of tokens.
 */
#include "plan.h"

#include <math.h>
#include <string.h>

const char *plan_size_name(const rung_task *task)
{
    static const char *const names[] = {"N0", "N", "T", "n", "chains"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        size_t at = rung_param_find(task->params, names[i]);
        if (at != SIZE_MAX && task->params[at].kind == RUNG_PARAM_INT) return names[i];
    }
    return NULL;
}

static bool names_size(const char *pair, const char *name)
{
    size_t len = strlen(name);
    return strncmp(pair, name, len) == 0 && pair[len] == '=';
}

/* A size that the user states is kept. */
size_t rung_plan_wanted(const rung_plan_options *conf)
{
    const char *name = plan_size_name(conf->task->task);
    for (size_t i = 0; name && i < conf->pairs; i++)
        if (names_size(conf->pair[i], name)) return 0;
    return name ? (size_t)conf->n : 0;
}

/* Starts with the user's parameters and the construction's own. */
static bool start_pairs(plan_pairs *pairs, const rung_plan_options *conf, const rung_plan_candidate *o)
{
    *pairs = (plan_pairs){0};
    if (conf->pairs + RUNG_PARAM_MAX + 1 > RUNG_PLAN_PAIRS) return false;
    for (size_t i = 0; i < conf->pairs; i++) pairs->at[pairs->count++] = conf->pair[i];
    memcpy(pairs->own, o->own, sizeof pairs->own);
    for (char *pair = strtok(pairs->own, " "); pair; pair = strtok(NULL, " ")) pairs->at[pairs->count++] = pair;
    return true;
}

typedef struct sizing {
    plan_pairs *pairs; /* the last one is the size */
    const rung_construction *how;
    const char *name;
} sizing;

static void put_size(const sizing *s, int64_t size)
{
    snprintf(s->pairs->size, sizeof s->pairs->size, "%s=%lld", s->name, (long long)size);
}

/* Number of tokens of the instance of this size; SIZE_MAX if there is none. Asks the construction, because it may
 * require something of the task (a blank). */
static size_t tokens_at(const sizing *s, int64_t size)
{
    rung_build probe;
    put_size(s, size);
    if (rung_build_init(&probe, s->how->name, s->pairs->at, s->pairs->count, NULL) != RUNG_OK) return SIZE_MAX;
    return probe.task.tokens;
}

/* The largest size in low+1 .. high-1 with at most `tokens` tokens; low if there is none. Tokens are nearly
 * proportional to the size, and each question is expensive (a task draws its majority). So the next guess, unless
 * given, is where the line from the origin through the last answer has this many tokens; every third guess bisects. */
static int64_t largest_size(const sizing *s, int64_t low, int64_t high, size_t tokens, double guess)
{
    for (int step = 0; high - low > 1; step++) {
        int64_t middle = low + (high - low) / 2;
        if (guess > 0 && step % 3 < 2) middle = (int64_t)fmin(fmax(guess, (double)low + 1), (double)high - 1);
        size_t there = tokens_at(s, middle);
        guess = there < SIZE_MAX ? floor((double)middle * (double)tokens / (double)there) : 0;
        if (there <= tokens)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Adds the size of the largest instance with at most `tokens` tokens. False if even the smallest is longer. */
static bool add_size(plan_pairs *pairs, const rung_plan_options *conf, rung_plan_candidate *o, size_t tokens)
{
    const rung_task *task = conf->task->task;
    sizing s = {pairs, o->how, plan_size_name(task)};
    if (!s.name) return false;
    const rung_param *param = &task->params[rung_param_find(task->params, s.name)];
    pairs->at[pairs->count++] = pairs->size;
    for (size_t i = 0; i < o->sized; i++)
        if (o->size[i].tokens == tokens) return put_size(&s, o->size[i].size), true;
    int64_t high = (int64_t)tokens < param->high ? (int64_t)tokens + 1 : param->high + 1;
    int64_t size = largest_size(&s, param->low - 1, high, tokens, (double)o->likely_size);
    put_size(&s, size);
    if (size < param->low) return false;
    if (o->sized < RUNG_COUNT(o->size)) o->size[o->sized++] = (rung_plan_size){tokens, size};
    return true;
}

rung_status plan_init_at(rung_build *b, plan_pairs *pairs, const rung_plan_options *conf, rung_plan_candidate *o,
                         size_t tokens, rung_error *err)
{
    if (!start_pairs(pairs, conf, o)) return rung_fail(err, RUNG_USAGE, "more than %d parameters", RUNG_PLAN_PAIRS);
    if (tokens && !add_size(pairs, conf, o, tokens))
        return rung_fail(err, RUNG_USAGE, "no instance has at most %zu tokens with these parameters", tokens);
    return rung_build_init(b, o->how->name, pairs->at, pairs->count, err);
}

rung_status plan_build_at(rung_build *b, rung_model **model, const rung_plan_options *conf, rung_plan_candidate *o,
                          size_t tokens, rung_error *err)
{
    plan_pairs pairs;
    RUNG_TRY(plan_init_at(b, &pairs, conf, o, tokens, err));
    return rung_build_model(model, b, err);
}
