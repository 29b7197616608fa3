/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A batch of sequences through one mechanism, forward and backward, for `rung bench mixers` and `rung bench length`.
 */
#ifndef RUNG_BENCH_MIXER_H
#define RUNG_BENCH_MIXER_H

#include "rung/mech.h"

/* Where the numbers of an input come from. */
typedef struct bench_noise_range {
    uint32_t stream;
    float low, high;
} bench_noise_range;

enum {
    BENCH_MIXER_UPSTREAM = 100,
    BENCH_MIXER_WEIGHTS = 200
}; /* streams of the gradient of o, and of the sums below */

typedef struct bench_mixer {
    rung_mech_conf conf;
    size_t batch, tokens, threads;
    rung_arena arena;
    bench_noise_range noise[RUNG_MECH_INPUT_MAX];
    size_t row[RUNG_MECH_INPUT_MAX];
    bool constant[RUNG_MECH_INPUT_MAX];
    float *in[RUNG_MECH_INPUT_MAX],
        *din[RUNG_MECH_INPUT_MAX]; /* [batch][tokens][row]; din of a constant: [threads][row] */
    float *o, *upstream;           /* [batch][tokens][H][dv] */
    float *room;                   /* [threads][state and scratch] */
    size_t state_size, scratch_size, back_size;
} bench_mixer;

/* Clear it whatever init returns. */
rung_status bench_mixer_init(bench_mixer *m, const char *mech, size_t batch, size_t heads, size_t tokens, size_t dim,
                             size_t threads, rung_error *err);
void bench_mixer_clear(bench_mixer *m);
void bench_mixer_forward(bench_mixer *m);
void bench_mixer_backward(bench_mixer *m); /* forward as well */
/* Seconds of one of them. */
double bench_mixer_time(bench_mixer *m, bool backward, size_t times);
/* The sum of the squares of an array, and its product with noise: what two programs that compute the same agree on. */
void bench_mixer_sums(double sums[2], const float *x, size_t count);
size_t bench_mixer_outputs(const bench_mixer *m); /* elements of o */

/* Floating-point operations that the forward pass of one token is counted as, all heads together; NAN for a
 * mechanism that has no such number. Softmax attention: the products with the keys and the values that a token sees,
 * T/2 on average. A recurrence on a dk x dv state: 4 dk dv (enter and read), with a delta rule 6 dk dv (and what is
 * removed). */
double bench_mixer_flops(const rung_mech_conf *conf, size_t tokens);

#endif
