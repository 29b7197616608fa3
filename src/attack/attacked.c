/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What attacks ask about a model before they run it: does it have the parts that they need, how many bits does it
 * carry, how long will one run take?
 */
#include "attacked.h"

#include <math.h>
#include <string.h>

/* True if some prompt of the generator has its full length and asks at its end. */
static bool asks_at_the_end(const rung_task_conf *task)
{
    enum { PROMPTS = 8 };
    rung_instance instance;
    bool asks = false;
    if (rung_instance_init(&instance, task, NULL) != RUNG_OK) return false;
    for (uint64_t i = 0; i < PROMPTS && !asks; i++)
        asks = rung_task_make(&instance, task, 0, i, NULL) == RUNG_OK && instance.tokens == task->tokens &&
               instance.target[task->tokens - 1] != RUNG_NO_TARGET;
    rung_instance_clear(&instance);
    return asks;
}

bool rung_attacked_suits(const rung_attacked *attacked, char *why, size_t size)
{
    const rung_model_spec *spec = rung_model_get_spec(attacked->model);
    const rung_task_conf *task = attacked->task;
    const char *lacks = NULL;
    if (!spec->causal)
        lacks = "the model is an encoder: it carries nothing from one token to the next";
    else if (!task->vocab || !task->task->ids)
        lacks = "the prompts of the task are not made of token ids";
    else if (!task->answers)
        lacks = "the task asks for a vector, not for one answer";
    else if (!asks_at_the_end(task))
        lacks = "the task does not ask at its last token";
    if (lacks) snprintf(why, size, "%s", lacks);
    return !lacks;
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

static uint64_t mixed_bits(const rung_attacked *attacked, size_t tokens)
{
    const rung_arch *arch = rung_model_get_arch(attacked->model);
    const size_t each = (size_t)attacked->mixed->of[RUNG_QUANTITY_ACT].code.bits; /* of an input of a convolution */
    size_t sum = 0, conv;
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++) {
            const rung_mech_conf *conf = &arch->layer[i].group[g];
            uint64_t bits = rung_mech_state_bits(conf, attacked->mixed, tokens);
            if (!rung_size_mul(&conv, rung_head_group_conv_elements(conf), each)) return UINT64_MAX;
            if (bits > SIZE_MAX || !rung_size_add(&sum, sum, (size_t)bits)) return UINT64_MAX;
            if (!rung_size_add(&sum, sum, conv)) return UINT64_MAX;
        }
    return sum;
}

uint64_t rung_attacked_state_bits(const rung_attacked *attacked, size_t tokens)
{
    const rung_arch *arch = rung_model_get_arch(attacked->model);
    size_t elements = 0, bits;
    if (attacked->mixed) return mixed_bits(attacked, tokens);
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++) {
            const rung_mech_conf *conf = &arch->layer[i].group[g];
            if (!rung_size_add(&elements, elements, rung_mech_state_elements(conf, tokens))) return UINT64_MAX;
            if (!rung_size_add(&elements, elements, rung_head_group_conv_elements(conf))) return UINT64_MAX;
        }
    return rung_size_mul(&bits, elements, (size_t)attacked->numbers.bits) ? bits : UINT64_MAX;
}

double rung_attacked_prefix_bits(const rung_attacked *attacked, size_t tokens)
{
    double bits = 0;
    for (size_t pos = 0; pos < tokens; pos++)
        bits += log2((double)attacked->task->task->ids(attacked->task, pos).count);
    return bits;
}

bool rung_attacked_has(const rung_attacked *attacked, unsigned trait)
{
    const rung_arch *arch = rung_model_get_arch(attacked->model);
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++)
            if (arch->layer[i].group[g].mech->traits & trait) return true;
    return false;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* Rounded operations per token: every weight once, every number of a recurrent state twice, and half of a cache. */
static double operations_per_token(const rung_attacked *attacked, size_t tokens)
{
    const rung_model_spec *spec = rung_model_get_spec(attacked->model);
    double table =
        (double)(spec->vocab + spec->answers) * (double)spec->d_model; /* one row is looked up, not all of them */
    double weights = (double)rung_model_parameters(attacked->model) - table;
    double state = (double)rung_attacked_state_bits(attacked, tokens) / attacked->numbers.bits;
    return (weights > 0 ? weights : 0) + 2 * state;
}

double rung_attacked_seconds(const rung_attacked *attacked, size_t tokens)
{
    const double per_operation_s = 2e-9; /* measured: exact kernels of a few lanes, one core */
    const double per_run_s = 5e-6;       /* for the buffers of a run */
    return per_run_s + per_operation_s * (double)tokens * operations_per_token(attacked, tokens);
}

/* ---- budget ------------------------------------------------------------------------------------------------------ */

double rung_budget_left(const rung_budget *budget, double began)
{
    if (budget->interrupted && budget->interrupted()) return 0;
    double left = budget->seconds - (rung_wall_s() - began);
    return left > 0 ? left : 0;
}

void rung_budget_progress(const rung_budget *budget, const char *what, uint64_t total)
{
    if (!budget->progress) return;
    rung_progress_finish(budget->progress);
    rung_progress_start(budget->progress, what, total);
}
