/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Instances: memory, and the pure function (task, parameters, seed, index) -> prompt and targets.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static rung_status calloc_rows(void *out, size_t rows, size_t width, size_t size, rung_error *err)
{
    size_t items;
    void *memory = NULL;
    if (!rung_size_mul(&items, rows, width))
        return rung_fail(err, RUNG_SYSTEM, "%zu x %zu items do not fit", rows, width);
    memory = rung_calloc(items, size, err);
    if (!memory) return RUNG_SYSTEM;
    memcpy(out, &memory, sizeof memory);
    return RUNG_OK;
}

rung_status rung_instance_init(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    memset(instance, 0, sizeof *instance);
    rung_status status = calloc_rows(&instance->target, conf->tokens, 1, sizeof(int32_t), err);
    if (status == RUNG_OK && conf->vocab)
        status = calloc_rows(&instance->token, conf->tokens, 1, sizeof(uint32_t), err);
    if (status == RUNG_OK && conf->d_in)
        status = calloc_rows(&instance->feature, conf->tokens, conf->d_in, sizeof(float), err);
    if (status == RUNG_OK && conf->d_out)
        status = calloc_rows(&instance->target_value, conf->tokens, conf->d_out, sizeof(float), err);
    if (status != RUNG_OK) rung_instance_clear(instance);
    return status;
}

void rung_instance_clear(rung_instance *instance)
{
    free(instance->token);
    free(instance->feature);
    free(instance->target);
    free(instance->target_value);
    memset(instance, 0, sizeof *instance);
}

void rung_task_blank(rung_instance *instance, const rung_task_conf *conf)
{
    rung_task_forget(instance, conf);
    if (instance->token) memset(instance->token, 0, conf->tokens * sizeof(uint32_t));
    if (instance->feature) memset(instance->feature, 0, conf->tokens * conf->d_in * sizeof(float));
    if (instance->target_value) memset(instance->target_value, 0, conf->tokens * conf->d_out * sizeof(float));
}

static rung_status seed_stream(rung_rng *rng, const rung_task_conf *conf, uint64_t seed, uint64_t index,
                               rung_error *err)
{
    rung_buf canonical;
    rung_buf_init(&canonical);
    rung_task_canonical(&canonical, conf);
    rung_status status = rung_buf_ok(&canonical, err);
    if (status == RUNG_OK) rung_rng_init(rng, seed, rung_hash64(canonical.text, canonical.len), index);
    rung_buf_clear(&canonical);
    return status;
}

rung_status rung_task_finish(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    assert(instance->tokens <= conf->tokens);
    RUNG_TRY(conf->task->solve(instance, conf, err));
    if (conf->task->players)
        conf->task->players(instance, conf);
    else
        rung_task_players_two(instance, instance->tokens - 1, "context", "query");
    return RUNG_OK;
}

rung_status rung_task_make(rung_instance *instance, const rung_task_conf *conf, uint64_t seed, uint64_t index,
                           rung_error *err)
{
    rung_rng rng;
    RUNG_TRY(seed_stream(&rng, conf, seed, index, err));
    rung_task_blank(instance, conf);
    RUNG_TRY(conf->task->generate(instance, conf, &rng, err));
    assert(instance->tokens > 0 && instance->tokens <= conf->tokens);
    return rung_task_finish(instance, conf, err);
}

size_t rung_instance_last_target(const rung_instance *instance)
{
    for (size_t t = instance->tokens; t-- > 0;)
        if (instance->target[t] != RUNG_NO_TARGET) return t;
    return SIZE_MAX;
}
