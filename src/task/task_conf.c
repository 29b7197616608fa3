/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Configurations of tasks: from key=value pairs and from canonical text, and back. The canonical text names the stream
 * of random numbers, so two spellings of one configuration (a default left out, or written) give the same
 * instances.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

rung_status rung_task_conf_init(rung_task_conf *conf, const char *name, const char *const *pairs, size_t count,
                                rung_error *err)
{
    memset(conf, 0, sizeof *conf);
    const rung_task *task = rung_task_get(name);
    if (!task) return rung_task_unknown(name, err);
    assert(rung_param_count(task->params) <= RUNG_PARAM_MAX);
    conf->task = task;
    rung_param_defaults(conf->params, task->params);
    char owner[64];
    snprintf(owner, sizeof owner, "task %s", name);
    for (size_t i = 0; i < count; i++) {
        rung_status status = rung_param_set(conf->params, task->params, pairs[i], owner, err);
        RUNG_TRY(status);
    }
    RUNG_TRY(task->resolve(conf, err));
    return rung_task_check_limits(conf, "the parameters", err);
}

const rung_value *rung_task_value(const rung_task_conf *conf, const char *name)
{
    size_t index = rung_param_find(conf->task->params, name);
    assert(index != SIZE_MAX);
    return &conf->params[index];
}

int64_t rung_task_param(const rung_task_conf *conf, const char *name)
{
    return rung_task_value(conf, name)->number;
}

void rung_task_canonical(rung_buf *out, const rung_task_conf *conf)
{
    rung_buf_puts(out, conf->task->name);
    rung_buf_putc(out, ' ');
    rung_param_print(out, conf->params, conf->task->params, " ");
}

/* Cuts `text` at its spaces, in place. Returns the number of words, or max + 1 when there are more than max. */
static size_t split_pairs(const char **pairs, size_t max, char *text)
{
    size_t count = 0;
    char *rest = NULL;
    for (char *pair = strtok_r(text, " ", &rest); pair; pair = strtok_r(NULL, " ", &rest)) {
        if (count == max) return max + 1;
        pairs[count++] = pair;
    }
    return count;
}

rung_status rung_task_conf_parse(rung_task_conf *conf, const char *canonical, rung_error *err)
{
    memset(conf, 0, sizeof *conf);
    size_t len = strlen(canonical);
    char *copy = rung_calloc(len + 1, 1, err);
    if (!copy) return RUNG_SYSTEM;
    memcpy(copy, canonical, len);
    const char *pairs[RUNG_PARAM_MAX + 1];
    size_t count = split_pairs(pairs, RUNG_COUNT(pairs), copy);
    rung_status status;
    if (count == 0)
        status = rung_fail(err, RUNG_INPUT, "an empty text is no task; it looks like 'eva N=16'");
    else if (count > RUNG_COUNT(pairs))
        status = rung_fail(err, RUNG_INPUT, "task text '%.60s...' has more than %d words", canonical, RUNG_PARAM_MAX);
    else
        status = rung_task_conf_init(conf, pairs[0], pairs + 1, count - 1, err);
    free(copy);
    return status;
}
