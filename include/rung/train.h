/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * train: learning the weights of any architecture on any task, in fp32, without Python. A run is a pure function of its
 * specification: the same bytes in the checkpoint for any number of threads and after any interruption, because a batch is
 * always reduced in RUNG_SLICES fixed slices, one after another. Layer 4.
 */
#ifndef RUNG_TRAIN_H
#define RUNG_TRAIN_H

#include "rung/base.h"
#include "rung/model.h"
#include "rung/task.h"

#define RUNG_SLICES 8

/* ---- network: a model that can be differentiated ---------------------------------------------------------------------- */

typedef struct rung_net rung_net;

/* One parameter tensor; all lie in one array, so that an optimiser sees one long vector. */
typedef struct rung_net_tensor {
    char name[104];
    size_t offset, elements, rank, shape[3];
    bool decays; /* weight decay applies: matrices; not norms, biases, embeddings, positions, decay rates */
} rung_net_tensor;

/* Starts from rung_model_write_random's weights for spec and seed. Refuses what cannot be trained, with the reason. */
rung_status rung_net_new(rung_net **out, const rung_model_spec *spec, uint64_t seed, rung_error *err);
rung_status rung_net_from_model(rung_net **out, const rung_model *model, rung_error *err);
void rung_net_free(rung_net *net);
size_t rung_net_parameters(const rung_net *net);
float *rung_net_values(rung_net *net);
size_t rung_net_tensor_count(const rung_net *net);
const rung_net_tensor *rung_net_tensor_at(const rung_net *net, size_t index);
rung_status rung_net_write(const rung_net *net, const char *path, const char *made_by, rung_error *err);
/* Straight-through rounding: the forward pass and the file see every weight rounded to the format, the optimiser the real
 * one. NULL: off. */
void rung_net_quantise(rung_net *net, const rung_fmt *numbers);
/* Whether every mechanism can go on from the state after a prefix several times: what rung_batch.queries needs. */
bool rung_net_forks(const rung_net *net);
/* Gives every layer but the last a read-out of its own, over `classes`, for the layer targets of a batch; their losses
 * count `weight` times. They are parameters behind those of the model and are not written. Once, before a tape is made. */
rung_status rung_net_tell_layers(rung_net *net, size_t classes, double weight, uint64_t seed, rung_error *err);

/* Sequences of one length. A sequence is a prefix and `queries` continuations of `each` tokens that do not see each other;
 * queries = 0: the prefix is all. */
typedef struct rung_batch {
    size_t sequences, prefix, queries, each;
    const uint32_t *token;       /* [sequences][prefix + queries * each] */
    const float *feature;        /* or [..][d_in] */
    const int32_t *target;       /* [..]: answer id or RUNG_NO_TARGET */
    const float *target_value;   /* [..][d_out] of vector targets: squared error */
    const int32_t *layer_target; /* [layers][..], or NULL: what each layer is told at each token */
} rung_batch;

typedef struct rung_loss {
    double loss; /* mean cross-entropy (or squared error) over the targets, layer targets included with their weight */
    size_t targets, right;
} rung_loss;

/* Workspace for batches up to a size; reused, next to nothing is allocated inside a step. */
typedef struct rung_tape rung_tape;
rung_status rung_tape_new(rung_tape **out, const rung_net *net, const rung_batch *largest, size_t threads,
                          rung_error *err);
void rung_tape_free(rung_tape *tape);
/* Forward only, or forward and backward: grad = [parameters], overwritten. */
rung_status rung_net_loss(rung_loss *loss, const rung_net *net, rung_tape *tape, const rung_batch *batch,
                          rung_error *err);
rung_status rung_net_gradient(rung_loss *loss, float *grad, const rung_net *net, rung_tape *tape,
                              const rung_batch *batch, rung_error *err);

/* ---- optimiser ---------------------------------------------------------------------------------------------------------- */

typedef enum rung_schedule { RUNG_SCHEDULE_CONSTANT = 1, RUNG_SCHEDULE_COSINE, RUNG_SCHEDULE_LINEAR } rung_schedule;
extern const char *const rung_schedule_words[]; /* [schedule-1] */

typedef struct rung_adamw {
    double rate, beta1, beta2, epsilon, decay, clip; /* clip: largest norm of the gradient; 0: none */
    rung_schedule schedule;
    uint64_t warmup, steps;
} rung_adamw;

double rung_adamw_rate(const rung_adamw *conf, uint64_t step); /* of step 0, 1, ... */
/* One update; m, v are the moments [parameters]. Returns the norm of the gradient before clipping. */
double rung_adamw_step(rung_net *net, float *m, float *v, float *grad, const rung_adamw *conf, uint64_t step);

/* ---- a run -------------------------------------------------------------------------------------------------------------- */

typedef struct rung_train_conf {
    rung_model_spec model;
    rung_task_conf task;
    rung_adamw adamw;
    uint64_t seed, steps;
    size_t batch, accumulate,
        queries;          /* queries: masked multi-query prompts where the task has them; 0: one question each */
    double layer_targets; /* weight of what each layer is told; 0: off (tasks that have it) */
    double mix_first, mix_second,
        mix_until; /* seqcomp: shares of prompts independent of w, of the argument; until this share of the steps */
    bool random_labels;  /* control: answers are random; accuracy must stay at chance */
    const char *numbers; /* quantisation-aware: format, or NULL */
    uint64_t eval_every, eval_prompts;
    double stop_at; /* early stop: accuracy on fresh data at `stop_times` evaluations in a row; 0: never */
    size_t stop_times;
    uint64_t checkpoint_every;
    size_t threads;
} rung_train_conf;

typedef struct rung_train_state {
    uint64_t step;
    double loss, accuracy;           /* of the last steps, on training data */
    double eval_loss, eval_accuracy; /* of the last evaluation on fresh data */
    double tokens_per_second, seconds;
    bool stopped_early;
} rung_train_state;

/* Called after each step (evaluated: the state has new evaluation results); false stops with a checkpoint. */
typedef bool rung_train_watch(void *context, const rung_train_state *state, bool evaluated);

/* Trains from scratch, or from `checkpoint` if that file exists, which is replaced as it goes on (never half a file). The result is
 * written as a model to `out`. */
rung_status rung_train_run(rung_train_state *state, const rung_train_conf *conf, const char *out,
                           const char *checkpoint, rung_train_watch *watch, void *context, rung_error *err);
/* Everything that decides the bytes of the result, as one line: the canonical text of a run. */
void rung_train_canonical(rung_buf *out, const rung_train_conf *conf);

#endif
