/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung attn --grad: the gradient of sum(do * o) with respect to every input, constants of the layer included, in the
 * shape that the input has in the file. The indexer of dsa gets that of its own loss.
 */
#include <string.h>

#include "attn_inside.h"

rung_status attn_can_grad(const rung_attn *a, rung_error *err)
{
    if (a->exact)
        return rung_fail(err, RUNG_USAGE, "--grad differentiates in fp32, not in %s; leave out --numbers",
                         a->ask->numbers);
    if (!a->conf.mech->backward_f32)
        return rung_fail(err, RUNG_USAGE, "%s has no gradients; 'rung list mechanisms' says which have",
                         a->conf.mech->name);
    return RUNG_OK;
}

/* do as floats. */
static const float *output_gradient(rung_attn *a, rung_error *err)
{
    const rung_tensor *tensor = rung_safetensors_get(a->file, ATTN_GRADIENT);
    size_t want[] = {a->tokens, a->conf.heads, a->conf.dv}, count = want[0] * want[1] * want[2];
    double *raw = rung_arena_alloc(&a->arena, count, sizeof *raw, err);
    if (!raw) return NULL;
    for (size_t i = 0; i < count; i++) raw[i] = 1;
    if (tensor && (tensor->rank != 3 || memcmp(tensor->shape, want, sizeof want) != 0)) {
        char has[96];
        rung_tensor_describe(has, sizeof has, tensor);
        rung_fail(err, RUNG_INPUT, "%s: tensor do (gradient of o) is %s; it must be [%zu,%zu,%zu] as o is, or left out",
                  rung_safetensors_name(a->file), has, want[0], want[1], want[2]);
        return NULL;
    }
    if (tensor && rung_tensor_to_f64(raw, tensor, err) != RUNG_OK) return NULL;
    size_t nan = rung_num_find_nan(raw, count);
    if (nan == SIZE_MAX) return attn_floats(&a->arena, raw, count, err);
    rung_fail(err, RUNG_INPUT, "%s: tensor do, element %zu is NaN", rung_safetensors_name(a->file), nan);
    return NULL;
}

/* What read_input did, backwards: the scale of the query, and summaries that came one per block. */
static rung_status store(rung_attn *a, size_t i, const float *din, rung_error *err)
{
    const rung_mech_input *input = &a->conf.mech->inputs[i];
    const rung_tensor *tensor = rung_safetensors_get(a->file, input->name);
    size_t block = rung_mech_is_constant(input) ? 0 : attn_rows_per_block(a, input, tensor);
    size_t row = rung_mech_row(input, &a->conf);
    double *to = a->din[i] = rung_arena_alloc(&a->arena, tensor->elements, sizeof *to, err);
    for (size_t e = 0; to && e < tensor->elements; e++) {
        size_t from = block ? ((e / row + 1) * block - 1) * row + e % row : e;
        to[e] = (double)din[from] * (i == a->scaled ? a->scale : 1);
    }
    return to ? RUNG_OK : RUNG_SYSTEM;
}

rung_status attn_grad(rung_attn *a, rung_error *err)
{
    const rung_mech *mech = a->conf.mech;
    size_t scratch = mech->backward_scratch(&a->conf, a->tokens);
    rung_backward b = {.conf = &a->conf, .tokens = a->tokens};
    b.o = attn_floats(&a->arena, a->o, a->tokens * a->conf.heads * a->conf.dv, err);
    b.scratch = rung_arena_alloc(&a->arena, scratch, sizeof *b.scratch, err);
    if (!b.o || !b.scratch) return RUNG_SYSTEM;
    b.g = output_gradient(a, err);
    if (!b.g) return RUNG_INPUT;
    for (size_t i = 0; mech->inputs[i].name; i++) {
        if (!a->in[i]) continue;
        b.in[i] = attn_floats(&a->arena, a->in[i], attn_input_count(a, i), err);
        b.din[i] = rung_arena_alloc(&a->arena, attn_input_count(a, i), sizeof *b.din[i], err);
        if (!b.in[i] || !b.din[i]) return RUNG_SYSTEM;
    }
    /* one after the other: heads add to the same inputs where these are not the head's own */
    for (size_t h = 0; h < a->conf.heads; h++) mech->backward_f32(&b, h);
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && mech->inputs[i].name; i++)
        if (a->in[i]) status = store(a, i, b.din[i], err);
    return status;
}
