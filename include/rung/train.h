/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * train: learning the weights of any architecture on any task, in fp32, without Python. A run is a pure function of its
 * specification: the same bytes in the checkpoint for any number of threads and processes and after any interruption, because a
 * batch is always reduced in RUNG_SLICES fixed slices, one after another. Layer 4.
 */
#ifndef RUNG_TRAIN_H
#define RUNG_TRAIN_H

#include "rung/base.h"
#include "rung/model.h"
#include "rung/par.h"
#include "rung/task.h"

RUNG_API_BEGIN

#define RUNG_SLICES        8
#define RUNG_THOUGHTS_MOST 64 /* of one question */

/* ---- network: a model that can be differentiated ---------------------------------------------------------------------- */

typedef struct rung_net rung_net;

/* One parameter tensor; all lie in one array, so that an optimiser sees one long vector. */
typedef struct rung_net_tensor {
    char name[104];
    size_t offset, elements, rank, shape[3];
    bool decays;   /* weight decay applies: matrices; not norms, biases, embeddings, positions, decay rates */
    bool projects; /* the matrix of a projection */
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
/* The same file in memory; the model owns it. */
rung_status rung_net_model(rung_model **out, const rung_net *net, const char *made_by, rung_error *err);
/* Straight-through rounding: the forward pass and the file see every weight rounded to the format, the optimiser the real
 * one. NULL: off. */
void rung_net_quantise(rung_net *net, const rung_fmt *numbers);
/* Whether every mechanism can go on from the state after a prefix several times: what rung_batch.queries needs. */
bool rung_net_forks(const rung_net *net);
/* Before training: multiplies every projection by `gain`, queries and keys of softmax attention by sqrt(score) / dk^(1/4)
 * too, so that the scores q.k, which have no factor of their own, start as usual (0: not), and learned positions by
 * `positions`. */
void rung_net_scale(rung_net *net, double gain, double score, double positions);
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
    size_t thoughts;             /* a question has so many targets more than one, and is right when all of them are */
} rung_batch;

typedef struct rung_loss {
    double loss; /* mean cross-entropy (or squared error) over the targets, layer targets included with their weight */
    size_t targets, right; /* questions */
} rung_loss;

/* Workspace for batches up to a size; reused, next to nothing is allocated inside a step. */
typedef struct rung_tape rung_tape;
rung_status rung_tape_new(rung_tape **out, const rung_net *net, const rung_batch *largest, size_t threads,
                          rung_error *err);
void rung_tape_free(rung_tape *tape);
/* From now on the slices of a batch are shared by the ranks, at most RUNG_SLICES: all call with the same weights and batches,
 * and all get the result, which is that of one process to the last bit. NULL: alone. */
void rung_tape_join(rung_tape *tape, const rung_team *team);
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

#define RUNG_TEST_FAST "fp32" /* the kernels of training, which are no scan: docs/training.md */

typedef struct rung_train_conf {
    rung_model_spec model;
    rung_task_conf task;
    rung_adamw adamw;     /* its steps are those below */
    uint64_t seed, steps; /* at most 2^40 */
    size_t batch;         /* prompts */
    size_t accumulate;    /* batches per step */
    size_t queries;       /* questions about the same prompt, which do not see each other; 0: its own only */
    size_t thoughts;      /* seqcomp: said before the answer, each given to the model as it should have said it; see
                             rung_train_think */
    double gain;          /* every projection starts as that of a random model times this, */
    double score_gain;    /* scores of softmax attention times this over sqrt(dk) (0: as they are), */
    double position_gain; /* learned positions times this */
    double layer_targets; /* weight of what each layer is told; 0: off (seqcomp: layer j is told i_{j-1}) */
    double mix_first,
        mix_second;        /* seqcomp: shares of prompts whose tables do not depend on w, on their argument ... */
    double mix_until;      /* ... up to this share of the steps */
    bool random_labels;    /* control: answers are random; accuracy must stay at chance */
    const char *numbers;   /* quantisation-aware: format of the weights, or NULL */
    uint64_t eval_every;   /* steps; 0: only at the end */
    uint64_t eval_prompts; /* at most 2^24 */
    uint64_t test_prompts; /* after the last step, of a third stream that nothing is chosen by; at most 2^24, 0: none */
    const char
        *test_numbers; /* evaluator of that test: NULL or RUNG_TEST_FAST, or a format for the exact one, which takes
                                 fewer prompts where these would be more than about ten seconds of work */
    double stop_at;    /* early stop: this accuracy on fresh data ... */
    size_t stop_times; /* ... at so many evaluations in a row; 0: never */
    uint64_t checkpoint_every; /* steps; 0: only at the end and when stopped */
    size_t threads;            /* 0: all; does not change the result */
    const rung_team *team;     /* all ranks call rung_train_run with the same words; NULL: alone; nor does it */
} rung_train_conf;

typedef struct rung_train_state {
    uint64_t step;
    double loss, accuracy;           /* on training data, of the last steps (exponential mean) */
    double rate, gradient;           /* of the last step: learning rate, norm of the gradient before clipping */
    double eval_loss, eval_accuracy; /* of the last evaluation on fresh data; NaN before the first */
    double test_loss, test_accuracy; /* after the last step; NaN before, or when there are no test prompts */
    size_t test_targets, test_right;
    char test_numbers
        [32]; /* the evaluator that measured them: RUNG_TEST_FAST, or the format of the exact one; "" before */
    double tokens_per_second, seconds;
    size_t parameters;
    bool resumed, stopped_early;
    bool finished; /* false: stopped by the caller */
    bool diverged; /* the run failed because loss or gradient became no number: for every run with these words */
} rung_train_state;

/* Called after each step (evaluated: the state has new evaluation results); false stops with a checkpoint. */
typedef bool rung_train_watch(void *context, const rung_train_state *state, bool evaluated);

/* What every run starts from: the recipe of docs/training.md; model and task are left empty. */
void rung_train_defaults(rung_train_conf *conf);
/* Trains from scratch, or from `checkpoint` (may be NULL) if that file exists, which is replaced as it goes on (never half a
 * file); one that belongs to another run is refused. The result is written as a model to `out` (may be NULL) when the run has
 * finished. In a team every rank calls this with the same words and file names; only rank 0 reads and writes files, and all stop when
 * watch says so at one. */
rung_status rung_train_run(rung_train_state *state, const rung_train_conf *conf, const char *out,
                           const char *checkpoint, rung_train_watch *watch, void *context, rung_error *err);
/* Gives the model of conf the tokens, read-out rows and positions of its thoughts. Once, when model, task and thoughts are
 * there; rung_train_conf_of does it. */
rung_status rung_train_think(rung_train_conf *conf, rung_error *err);
/* RUNG_USAGE when a number is outside its range. rung_train_run looks itself. */
rung_status rung_train_check(const rung_train_conf *conf, rung_error *err);
/* Whether the last test is one by the exact evaluator. */
bool rung_train_tests_exactly(const rung_train_conf *conf);
/* Everything that decides the bytes of the result, as one line: the canonical text of a run. */
void rung_train_canonical(rung_buf *out, const rung_train_conf *conf);

/* ---- a run as words --------------------------------------------------------------------------------------------------- */

/* The shape of a model as build and train take it: an architecture and sizes, and from the task those of input, read-out and
 * positions. Its rows are RUNG_SHAPE_OPTIONS. */
typedef struct rung_shape_words {
    const char *arch, *task, *mlp;
    int64_t d_model, d_mlp, heads, dk, dv, max_tokens;
    int64_t positions, norm;
    bool encoder;
} rung_shape_words;

/* Names of the rows. */
extern const char *const rung_shape_options[];

/* Task and spec; the words are those of the task. The spec borrows from w and from task_text, which the caller clears. */
rung_status rung_shape_spec(rung_model_spec *spec, rung_task_conf *conf, rung_buf *task_text, const rung_shape_words *w,
                            const char *const *word, size_t words, rung_error *err);

#define RUNG_SHAPE_SIZE(type, field, long_name, most, text, value)                                                     \
    {                                                                                                                  \
        .name = long_name, .kind = RUNG_OPTION_INT, .at = offsetof(type, field), .metavar = "N", .help = text,         \
        .fallback = value, .low = 0, .high = most                                                                      \
    }

/* The defaults that differ: width of the stream, MLP, norm. */
#define RUNG_SHAPE_OPTIONS(type, shape, d_model_value, mlp_value, norm_value)                                          \
    {.name = "arch",                                                                                                   \
     .kind = RUNG_OPTION_STRING,                                                                                       \
     .at = offsetof(type, shape.arch),                                                                                 \
     .metavar = "ARCH",                                                                                                \
     .help = "layers in the arch language, such as full,4*linear",                                                     \
     .fallback = "full"},                                                                                              \
        {.name = "task",                                                                                               \
         .kind = RUNG_OPTION_STRING,                                                                                   \
         .at = offsetof(type, shape.task),                                                                             \
         .metavar = "TASK",                                                                                            \
         .help = "the task that the model is for",                                                                     \
         .fallback = "eva",                                                                                            \
         .names = rung_task_name_at},                                                                                  \
        RUNG_SHAPE_SIZE(type, shape.d_model, "d-model", 1 << 20, "width of the residual stream", d_model_value),       \
        RUNG_SHAPE_SIZE(type, shape.heads, "heads", 1 << 16, "heads where the arch names none", "1"),                  \
        RUNG_SHAPE_SIZE(type, shape.dk, "dk", 1 << 20, "key dimension where the arch names none", "16"),               \
        RUNG_SHAPE_SIZE(type, shape.dv, "dv", 1 << 20, "value dimension where the arch names none", "16"),             \
        RUNG_SHAPE_SIZE(type, shape.d_mlp, "d-mlp", 1 << 22, "hidden width of the MLPs, 0 for 4 d-model", "0"),        \
        RUNG_SHAPE_SIZE(type, shape.max_tokens, "max-tokens", 1 << 30,                                                 \
                        "positions, 0 for the length of the task's prompts", "0"),                                     \
        {.name = "mlp",                                                                                                \
         .kind = RUNG_OPTION_STRING,                                                                                   \
         .at = offsetof(type, shape.mlp),                                                                              \
         .metavar = "KIND",                                                                                            \
         .help = "none, relu, gelu or swiglu, or one per layer separated by commas",                                   \
         .fallback = mlp_value},                                                                                       \
        {.name = "positions",                                                                                          \
         .kind = RUNG_OPTION_CHOICE,                                                                                   \
         .at = offsetof(type, shape.positions),                                                                        \
         .metavar = "KIND",                                                                                            \
         .help = "how positions enter",                                                                                \
         .fallback = "learned",                                                                                        \
         .choices = rung_positions_words},                                                                             \
        {.name = "norm",                                                                                               \
         .kind = RUNG_OPTION_CHOICE,                                                                                   \
         .at = offsetof(type, shape.norm),                                                                             \
         .metavar = "KIND",                                                                                            \
         .help = "norm before mixers and MLPs",                                                                        \
         .fallback = norm_value,                                                                                       \
         .choices = rung_norm_words},                                                                                  \
    {                                                                                                                  \
        .name = "encoder", .kind = RUNG_OPTION_FLAG, .at = offsetof(type, shape.encoder),                              \
        .help = "no causal mask: every token sees all"                                                                 \
    }

/* A run as it is written down: the options of `rung train`, the keys of a file that describes a run and of a sweep. The seed
 * and the words of the task stand beside it. */
typedef struct rung_train_words {
    rung_shape_words shape;
    const char *out, *checkpoint, *metrics, *tensorboard, *numbers, *test_numbers;
    int64_t steps, batch, accumulate, queries, thoughts, warmup, schedule, eval_every, eval_prompts, test_prompts,
        stop_times, checkpoint_every, log_every, threads;
    double rate, gain, score_gain, position_gain, beta1, beta2, decay, clip, layer_targets, mix_first, mix_second,
        mix_until, stop_at, require;
    bool random_labels, alone;
} rung_train_words;

extern const rung_option rung_train_options[];
/* Whether the row is part of what decides the result; the others say where it goes, what is told, or how it is judged. */
bool rung_train_decides(const rung_option *row);
/* The run that the words stand for, checked. conf borrows from words and from task_text, which the caller clears. */
rung_status rung_train_conf_of(rung_train_conf *conf, rung_buf *task_text, const rung_train_words *words, uint64_t seed,
                               const char *const *word, size_t count, rung_error *err);

/* ---- events for TensorBoard ---------------------------------------------------------------------------------------------- */

/* A file of scalars that TensorBoard reads: records with masked CRC-32C, each a protocol buffer `Event`. */
typedef struct rung_events rung_events;
/* Makes DIR/events.out.tfevents.<wall time>.rung; the directory is made if need be. */
rung_status rung_events_open(rung_events **out, const char *directory, double wall_s, rung_error *err);
rung_status rung_events_scalar(rung_events *events, const char *tag, float value, uint64_t step, double wall_s,
                               rung_error *err);
void rung_events_close(rung_events *events);

RUNG_API_END

#endif
