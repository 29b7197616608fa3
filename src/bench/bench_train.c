/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A decoder to be trained, and how many floating-point operations a step is counted as.
 *
 * The count is the usual one, for every program that does the same step: 6 for each element of a matrix and token
 * (forward 2, backward 4: the gradients of inputs and of weights), and three times the forward pass of the mechanism
 * (bench_mixer_flops: for softmax attention the causal half). What a program computes twice, or computes and throws
 * away, does not count; element-wise work, norms, the loss and AdamW do not either.
 */
#include "bench_train.h"

#include <string.h>

#include "bench_inside.h"
#include "bench_mixer.h"

static double matrix_elements(const rung_net *net)
{
    double sum = 0;
    for (size_t i = 0; i < rung_net_tensor_count(net); i++) {
        const rung_net_tensor *tensor = rung_net_tensor_at(net, i);
        if (tensor->decays && tensor->rank == 2) sum += (double)tensor->elements;
    }
    return sum;
}

static rung_status count_flops(bench_trainee *t, const rung_model_spec *spec, rung_error *err)
{
    rung_arch arch;
    const rung_arch_defaults defaults = {spec->heads, spec->dk, spec->dv, spec->causal};
    RUNG_TRY(rung_arch_parse(&arch, spec->arch, &defaults, err));
    t->flops = 6 * matrix_elements(t->net);
    for (size_t i = 0; i < arch.layer_count; i++)
        for (size_t g = 0; g < arch.layer[i].group_count; g++)
            t->flops += 3 * bench_mixer_flops(&arch.layer[i].group[g], t->shape.tokens);
    rung_arch_clear(&arch);
    return RUNG_OK;
}

static rung_status fill_batch(bench_trainee *t, rung_error *err)
{
    const bench_trainee_shape *s = &t->shape;
    size_t count = s->batch * s->tokens;
    uint32_t *token = rung_arena_alloc(&t->arena, count, sizeof *token, err);
    int32_t *target = token ? rung_arena_alloc(&t->arena, count, sizeof *target, err) : NULL;
    if (!target) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) {
        token[i] = bench_whole(i, 1, (uint32_t)s->vocab);
        target[i] = (int32_t)bench_whole(i, 2, (uint32_t)s->vocab);
    }
    t->batch = (rung_batch){.sequences = s->batch, .prefix = s->tokens, .token = token, .target = target};
    return RUNG_OK;
}

static rung_status make_room(bench_trainee *t, rung_error *err)
{
    size_t parameters = rung_net_parameters(t->net);
    float **const arrays[] = {&t->grad, &t->m, &t->v};
    for (size_t i = 0; i < RUNG_COUNT(arrays); i++) {
        *arrays[i] = rung_arena_alloc(&t->arena, parameters, sizeof(float), err);
        if (!*arrays[i]) return RUNG_SYSTEM;
    }
    return RUNG_OK;
}

rung_status bench_trainee_init(bench_trainee *t, const bench_trainee_shape *shape, rung_error *err)
{
    *t = (bench_trainee){.shape = *shape};
    rung_arena_init(&t->arena);
    if (shape->d_model % shape->heads)
        return rung_fail(err, RUNG_USAGE, "--d-model %zu is no multiple of --heads %zu", shape->d_model, shape->heads);
    rung_buf arch;
    rung_buf_init(&arch);
    rung_buf_printf(&arch, "%zu*(%s)", shape->layers, shape->arch);
    size_t dim = shape->d_model / shape->heads;
    const rung_model_spec spec = {.arch = arch.text ? arch.text : "",
                                  .task = "",
                                  .mlp = "gelu",
                                  .vocab = shape->vocab,
                                  .answers = shape->vocab,
                                  .max_tokens = shape->tokens,
                                  .d_model = shape->d_model,
                                  .d_mlp = 4 * shape->d_model,
                                  .heads = shape->heads,
                                  .dk = dim,
                                  .dv = dim,
                                  .positions = RUNG_POS_LEARNED,
                                  .norm = RUNG_NORM_LAYER,
                                  .causal = true};
    t->adamw = (rung_adamw){
        .rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 0.1, .schedule = RUNG_SCHEDULE_CONSTANT};
    rung_status status = rung_buf_ok(&arch, err);
    RUNG_NEXT(status, rung_net_new(&t->net, &spec, shape->seed, err));
    RUNG_NEXT(status, count_flops(t, &spec, err));
    RUNG_NEXT(status, fill_batch(t, err));
    RUNG_NEXT(status, make_room(t, err));
    RUNG_NEXT(status, rung_tape_new(&t->tape, t->net, &t->batch, shape->threads, err));
    RUNG_NEXT(status, rung_tape_compute(t->tape, shape->compute, err));
    rung_buf_clear(&arch);
    return status;
}

void bench_trainee_clear(bench_trainee *t)
{
    rung_tape_free(t->tape);
    rung_net_free(t->net);
    rung_arena_clear(&t->arena);
}

rung_status bench_trainee_step(double *loss, bench_trainee *t, rung_error *err)
{
    rung_loss found;
    RUNG_TRY(rung_net_gradient(&found, t->grad, t->net, t->tape, &t->batch, err));
    rung_adamw_step(t->net, t->m, t->v, t->grad, &t->adamw, t->step++);
    *loss = found.loss;
    return RUNG_OK;
}
