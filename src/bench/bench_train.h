/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A decoder with a batch that is ready to be trained on, for `rung bench step` and `rung bench memory`.
 */
#ifndef RUNG_BENCH_TRAIN_H
#define RUNG_BENCH_TRAIN_H

#include "rung/train.h"

/* Pre-norm decoder with learned positions, layer norms and GELU, d_mlp = 4 d_model, a target at every token. */
typedef struct bench_trainee_shape {
    const char *arch; /* of one layer */
    size_t layers, tokens, batch, vocab, d_model, heads, threads;
    rung_compute compute;
    uint64_t seed;
} bench_trainee_shape;

typedef struct bench_trainee {
    bench_trainee_shape shape;
    rung_arena arena;
    rung_net *net;
    rung_tape *tape;
    float *grad, *m, *v;
    rung_batch batch;
    rung_adamw adamw;
    uint64_t step;
    double flops; /* per token of one step */
} bench_trainee;

/* Clear it whatever init returns. */
rung_status bench_trainee_init(bench_trainee *t, const bench_trainee_shape *shape, rung_error *err);
void bench_trainee_clear(bench_trainee *t);
/* Forward, loss, backward, AdamW; `loss` is that before the update. */
rung_status bench_trainee_step(double *loss, bench_trainee *t, rung_error *err);

#endif
