/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The same task at another size: parameters that the user fixed stay, the others follow the size.
 */
#include "resize_task.h"

#include <string.h>

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void put_value(rung_buf *out, const rung_param *param, const rung_value *value)
{
    rung_buf_printf(out, " %s=", param->name);
    if (param->kind == RUNG_PARAM_CHOICE)
        rung_buf_puts(out, param->choices[value->number]);
    else if (param->kind == RUNG_PARAM_LIST)
        for (size_t i = 0; i < value->list_len; i++)
            rung_buf_printf(out, "%s%lld", i ? "," : "", (long long)value->list[i]);
    else
        rung_buf_printf(out, "%lld", (long long)value->number);
}

rung_status decide_task_with(rung_task_conf *out, const rung_task_conf *task, const char *key, int64_t value,
                             rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_puts(&text, task->task->name);
    for (const rung_param *p = task->task->params; p->name; p++) {
        const rung_value *v = &task->params[p - task->task->params];
        if (v->set && strcmp(p->name, key) != 0) put_value(&text, p, v);
    }
    rung_buf_printf(&text, " %s=%lld", key, (long long)value);
    rung_status status = rung_buf_ok(&text, err);
    RUNG_NEXT(status, rung_task_conf_parse(out, text.text, err));
    rung_buf_clear(&text);
    return status;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* The parameter that makes prompts longer. NULL: the task has one size, or the user fixed it. */
static const char *size_name(const rung_task_conf *task)
{
    static const char *const names[] = {"N0", "N", "T", "n"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        size_t at = rung_param_find(task->task->params, names[i]);
        if (at == SIZE_MAX || task->task->params[at].kind != RUNG_PARAM_INT) continue;
        return task->params[at].set ? NULL : names[i];
    }
    return NULL;
}

/* True if there is an instance of this size with at most n tokens. */
static bool fits(rung_task_conf *out, const rung_task_conf *task, const char *name, uint64_t size, uint64_t n)
{
    return decide_task_with(out, task, name, (int64_t)size, NULL) == RUNG_OK && out->tokens <= n;
}

/* Prompts get longer with the size. The smallest sizes may be refused. */
rung_status rung_decide_instance(rung_task_conf *out, const rung_task_conf *task, uint64_t n, rung_error *err)
{
    const char *name = size_name(task);
    rung_task_conf tried;
    *out = *task;
    if (!n || !name)
        return !n || task->tokens <= n
                   ? RUNG_OK
                   : rung_fail(err, RUNG_USAGE, "the shortest prompt of the task is longer than that");
    uint64_t low = 0, high = n + 1;
    for (uint64_t size = 1; !low && size <= 16; size++)
        if (fits(&tried, task, name, size, n)) low = size, *out = tried;
    if (!low) return rung_fail(err, RUNG_USAGE, "the shortest prompt of the task is longer than that");
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (fits(&tried, task, name, middle, n))
            low = middle, *out = tried;
        else
            high = middle;
    }
    return RUNG_OK;
}
