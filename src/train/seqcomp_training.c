/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Sequential function composition, i_0 = z_0, i_1 = z_1(i_0), i_{l+1} = z_{l+1}(w_l, i_l), for training: simpler
 * prompts, the intermediate values as targets of auxiliary losses, and as thought tokens. Prompts are z_L, ..., z_1,
 * z_0, w in the form of positions: the u-th entry of z_l belongs to the argument u = w_{l-1} N_{l-1} + i_{l-1}.
 *
 * Thought tokens are those of the construction seqcomp-cot, (step, w, i), in its order. Of T of them the p-th states
 * i_{L - h (T-p)}, h = ceil(L / (T+1)): every later pass makes h hops, and the first pass makes the rest, which reaches
 * at least i_0. F layers that make F hops per pass can do that whenever F (T+1) >= L+1, and if z_0 is handed over
 * whenever F (T+1) >= L.
 */
#include "data.h"

#include <string.h>

typedef struct levels {
    size_t count;
    size_t n[RUNG_LIST_MAX + 1], args[RUNG_LIST_MAX + 1], range[RUNG_LIST_MAX + 1]; /* of z_l; range[0] = N_0 */
    size_t start[RUNG_LIST_MAX + 1],
        first[RUNG_LIST_MAX + 1]; /* first entry of z_l in the prompt, and the id of its first value */
    size_t z0_id, w_id, w_count;
} levels;

static levels levels_of(const rung_task_conf *task)
{
    levels v = {.count = (size_t)rung_task_param(task, "L"), .w_count = 1};
    bool flat = rung_task_param(task, "flat") == 1;
    size_t at = 0, id = 0;
    v.range[0] = (size_t)rung_task_param(task, "N0");
    for (size_t l = 1; l <= v.count; l++) {
        v.n[l] = l == 1 ? 1 : (size_t)rung_task_value(task, "n")->list[l - 2];
        v.args[l] = v.n[l] * v.range[l - 1];
        v.range[l] = l == v.count ? task->answers : flat ? v.range[0] : v.args[l];
        v.first[l] = id;
        v.w_count *= v.n[l];
        id += v.range[l];
    }
    for (size_t l = v.count; l >= 1; l--) v.start[l] = at, at += v.args[l];
    v.z0_id = id, v.w_id = id + v.range[0];
    return v;
}

bool train_is_seqcomp(const rung_task_conf *task)
{
    return strcmp(task->task->name, "seqcomp") == 0;
}

rung_status train_seqcomp_check(const rung_task_conf *task, const char *what, rung_error *err)
{
    if (!train_is_seqcomp(task))
        return rung_fail(err, RUNG_USAGE, "%s are only for the task seqcomp, not for %s", what, task->task->name);
    if (rung_task_param(task, "form") != 0 || rung_task_param(task, "order") != 0)
        return rung_fail(err, RUNG_USAGE, "%s are only for seqcomp with form=position and order=last", what);
    return RUNG_OK;
}

size_t train_seqcomp_widest(const rung_task_conf *task)
{
    levels v = levels_of(task);
    size_t widest = 0;
    for (size_t l = 0; l <= v.count; l++) widest = v.range[l] > widest ? v.range[l] : widest;
    return widest;
}

void train_seqcomp_simplify(uint32_t *token, const rung_task_conf *task, bool of_w)
{
    levels v = levels_of(task);
    for (size_t l = 2; l <= v.count; l++)
        for (size_t u = 0; u < v.args[l]; u++) {
            size_t i = u % v.range[l - 1];
            token[v.start[l] + u] = token[v.start[l] + (of_w ? i : u - i)];
        }
}

void train_seqcomp_table(size_t *first, size_t *count, const rung_task_conf *task, size_t l)
{
    levels v = levels_of(task);
    *first = v.start[l], *count = v.args[l];
}

void train_seqcomp_shrink(uint32_t *token, const rung_task_conf *task, double grown)
{
    levels v = levels_of(task);
    for (size_t l = 1; l < v.count; l++) {
        size_t part = train_grown(v.range[l], grown);
        for (uint32_t *entry = token + v.start[l]; entry < token + v.start[l] + v.args[l]; entry++)
            *entry = (uint32_t)(v.first[l] + (*entry - v.first[l]) % part);
    }
}

size_t train_seqcomp_chain(int32_t *chain, const uint32_t *token, const rung_task_conf *task)
{
    levels v = levels_of(task);
    size_t z0_at = v.start[1] + v.args[1], w = token[z0_at + 1] - v.w_id, i = token[z0_at] - v.z0_id;
    chain[0] = (int32_t)i;
    for (size_t l = 1; l <= v.count; l++) {
        i = token[v.start[l] + w % v.n[l] * v.range[l - 1] + i] - v.first[l];
        w /= v.n[l];
        chain[l] = (int32_t)i;
    }
    return v.count;
}

/* ---- thoughts ---------------------------------------------------------------------------------------------------- */

static size_t said(const levels *v, size_t thoughts, size_t pass)
{
    size_t hops = (v->count + thoughts) / (thoughts + 1), later = hops * (thoughts - pass);
    return v->count > later ? v->count - later : 0;
}

size_t train_seqcomp_said(const rung_task_conf *task, size_t thoughts, size_t pass)
{
    levels v = levels_of(task);
    return said(&v, thoughts, pass);
}

size_t train_seqcomp_thoughts(const rung_task_conf *task, size_t thoughts)
{
    levels v = levels_of(task);
    size_t all = 0, more;
    for (size_t p = 0; p < thoughts; p++)
        if (!rung_size_mul(&more, v.w_count, v.range[said(&v, thoughts, p)]) || !rung_size_add(&all, all, more))
            return SIZE_MAX;
    return all;
}

void train_seqcomp_add_thoughts(size_t *number, const uint32_t *token, const rung_task_conf *task, size_t thoughts)
{
    levels v = levels_of(task);
    int32_t chain[RUNG_LIST_MAX + 1];
    size_t before = 0, w = token[v.start[1] + v.args[1] + 1] - v.w_id;
    train_seqcomp_chain(chain, token, task);
    for (size_t p = 0; p < thoughts; p++) {
        size_t l = said(&v, thoughts, p);
        number[p] = before + w * v.range[l] + (size_t)chain[l];
        before += v.w_count * v.range[l];
    }
}
