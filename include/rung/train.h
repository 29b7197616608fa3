/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * train: learns the weights of any architecture on any task, in fp32, without Python. A run is a pure function of its
 * specification. The checkpoint has the same bytes for any number of threads and processes and after any interruption,
 * because a batch is always reduced in RUNG_SLICES fixed slices, one after another. Layer 4.
 */
#ifndef RUNG_TRAIN_H
#define RUNG_TRAIN_H

#include "rung/base.h"
#include "rung/model.h"
#include "rung/par.h"
#include "rung/task.h"

RUNG_API_BEGIN

#define RUNG_SLICES        8
#define RUNG_THOUGHTS_MOST 64 /* thought tokens of one question, at most */

/* ---- network: a model that can be differentiated ----------------------------------------------------------------- */

typedef struct rung_net rung_net;

/* One parameter tensor; all lie in one array, so that an optimiser sees one long vector. */
typedef struct rung_net_tensor {
    char name[104];
    size_t offset, elements, rank, shape[3];
    bool decays; /* weight decay applies to matrices, but not to norms, biases, embeddings, positions or decay rates */
    bool projects; /* this is the matrix of a projection */
} rung_net_tensor;

/* Starts from the weights that rung_model_write_random writes for spec and seed. Refuses an architecture that cannot be
 * trained, with the reason. */
rung_status rung_net_new(rung_net **out, const rung_model_spec *spec, uint64_t seed, rung_error *err);
rung_status rung_net_from_model(rung_net **out, const rung_model *model, rung_error *err);
void rung_net_free(rung_net *net);
size_t rung_net_parameters(const rung_net *net);
size_t rung_net_layers(const rung_net *net);
float *rung_net_values(rung_net *net);
size_t rung_net_tensor_count(const rung_net *net);
const rung_net_tensor *rung_net_tensor_at(const rung_net *net, size_t index);
rung_status rung_net_write(const rung_net *net, const char *path, const char *made_by, rung_error *err);
/* Makes the model that rung_net_write would write, in memory. The model owns its bytes. */
rung_status rung_net_model(rung_model **out, const rung_net *net, const char *made_by, rung_error *err);
/* Straight-through rounding: the forward pass and the file use every weight rounded to the format; the optimiser
 * updates the unrounded one. NULL switches it off. */
void rung_net_quantise(rung_net *net, const rung_fmt *numbers);
/* True if every mechanism can continue several times from the state after a prefix; rung_batch.queries needs this. */
bool rung_net_forks(const rung_net *net);
/* Call before training. Multiplies every projection by `gain` and learned positions by `positions`. Scales queries and
 * keys of softmax attention by sqrt(score) / dk^(1/4) as well, so that initial scores are score/sqrt(dk) times q.k;
 * score 0 leaves them unscaled. Multiplies the values of softmax attention by `value` as well. */
void rung_net_scale(rung_net *net, double gain, double score, double value, double positions);
/* Call before training. Learned position t becomes (A[t mod base] + B[t div base]) / sqrt(2), where A and B are the
 * first rows of the random positions. So the start already has the two digits of t. */
rung_status rung_net_factor_positions(rung_net *net, size_t base, rung_error *err);
/* Adds an auxiliary loss: every layer but the last gets a read-out of its own over `classes`, for the layer targets of
 * a batch, and its loss counts `weight` times, until rung_net_weigh_layer_loss says otherwise. These read-outs are parameters behind those of the model and are not
 * written to files. Call once, before a tape is made. */
rung_status rung_net_add_layer_losses(rung_net *net, size_t classes, double weight, uint64_t seed, rung_error *err);
void rung_net_weigh_layer_loss(rung_net *net, size_t layer, double weight);

/* Sequences of one length. A sequence is a prefix and `queries` continuations of `each` tokens, which do not see each
 * other. With queries = 0 the sequence is its prefix alone. */
typedef struct rung_batch {
    size_t sequences, prefix, queries, each;
    const uint32_t *token;       /* [sequences][prefix + queries * each] */
    const float *feature;        /* or [..][d_in] */
    const int32_t *target;       /* [..]: answer id or RUNG_NO_TARGET */
    const float *target_value;   /* [..][d_out] for vector targets, which are trained by squared error */
    const int32_t *layer_target; /* [layers][..], or NULL: targets of the auxiliary losses, per layer and token */
    size_t
        thoughts; /* thought tokens per question: it then has thoughts + 1 targets and is right when all of them are */
} rung_batch;

typedef struct rung_loss {
    double loss; /* mean cross-entropy (or squared error) over the targets, plus the weighted auxiliary losses */
    size_t targets, right; /* counted in questions */
} rung_loss;

/* Workspace for batches up to the size of `largest`. It is reused: a step allocates almost nothing. */
typedef struct rung_tape rung_tape;
rung_status rung_tape_new(rung_tape **out, const rung_net *net, const rung_batch *largest, size_t threads,
                          rung_error *err);
void rung_tape_free(rung_tape *tape);
/* From now on the gradient is computed like this. RUNG_COMPUTE_BF16: every projection and its gradients are products of
 * numbers that are rounded to bf16, with sums in fp32, as rung_bf16_product defines them; mechanisms, norms, the loss,
 * weights and optimiser stay in fp32. rung_net_loss always computes in fp32. */
typedef enum rung_compute { RUNG_COMPUTE_FP32 = 1, RUNG_COMPUTE_BF16 } rung_compute;
extern const char *const rung_compute_names[]; /* [compute-1] */
rung_status rung_tape_compute(rung_tape *tape, rung_compute compute, rung_error *err);
/* The instruction set of the kernels that compute it: of rung_kernels_get or rung_bf16_kernels_get. */
const char *rung_compute_set(rung_compute compute);
/* From now on the ranks share the slices of a batch, at most RUNG_SLICES ranks. All of them must call with the same
 * weights and batches. All get the result, which equals that of one process to the last bit. NULL: this process works
 * alone. */
void rung_tape_join(rung_tape *tape, const rung_team *team);
/* rung_net_loss runs forward only. rung_net_gradient runs forward and backward and overwrites grad, [parameters]. */
rung_status rung_net_loss(rung_loss *loss, const rung_net *net, rung_tape *tape, const rung_batch *batch,
                          rung_error *err);
rung_status rung_net_gradient(rung_loss *loss, float *grad, const rung_net *net, rung_tape *tape,
                              const rung_batch *batch, rung_error *err);

/* The auxiliary loss of a layer in the last call of rung_net_loss or rung_net_gradient: mean cross-entropy, before it is
 * weighted. targets = 0: the layer has none. */
rung_loss rung_tape_layer_loss(const rung_tape *tape, size_t layer);

/* ---- optimiser --------------------------------------------------------------------------------------------------- */

typedef enum rung_schedule { RUNG_SCHEDULE_CONSTANT = 1, RUNG_SCHEDULE_COSINE, RUNG_SCHEDULE_LINEAR } rung_schedule;
extern const char *const rung_schedule_names[]; /* [schedule-1] */

typedef struct rung_adamw {
    double rate, beta1, beta2, epsilon, decay, clip; /* clip: largest norm of the gradient; 0: no clipping */
    rung_schedule schedule;
    uint64_t warmup, steps;
} rung_adamw;

double rung_adamw_rate(const rung_adamw *conf, uint64_t step); /* learning rate of step 0, 1, ... */
/* One update; m and v are the moments, [parameters] each. Returns the norm of the gradient before clipping. */
double rung_adamw_step(rung_net *net, float *m, float *v, float *grad, const rung_adamw *conf, uint64_t step);

/* ---- a run ------------------------------------------------------------------------------------------------------- */

#define RUNG_TEST_FAST                                                                                                 \
    "fp32" /* names the fp32 kernels of training; they do not add up in the order of a scan: docs/training.md */

typedef struct rung_train_spec {
    rung_model_spec model;
    rung_task_conf task;
    rung_adamw adamw;     /* its steps are ignored: those below count */
    uint64_t seed, steps; /* at most 2^40 */
    size_t batch;         /* prompts per batch */
    size_t accumulate;    /* batches per step */
    size_t queries;       /* questions per prompt, which do not see each other; 0: the prompt's own question only */
    /* seqcomp: thought tokens before the answer. In training the correct ones are fed to the model; see
     * rung_train_add_thoughts */
    size_t thoughts;
    double gain;          /* factor on the random initial weights of every projection */
    double score_gain;    /* initial scores of softmax attention are this over sqrt(dk) times q.k; 0: unscaled */
    double position_gain; /* factor on learned positions */
    double value_gain;    /* factor on the initial values of softmax attention */
    size_t position_base; /* learned positions start as sums of the codes of two digits in this base; 0: as drawn */
    double layer_targets; /* weight of the auxiliary losses; 0: off (seqcomp: the target of layer j is i_{j-1}) */
    /* While an auxiliary read-out is right on this share of its questions (mean over the last steps), its loss counts
     * layer_rest times as much. goal 0: it always counts fully. */
    double layer_goal, layer_rest;
    double few_values; /* share of prompts whose tables have few distinct values; ends with the mix */
    double grow; /* in this share of the steps questions ask about a growing part of the tables; 0: about all, always */
    double mix_first,
        mix_second;        /* seqcomp: shares of prompts whose tables do not depend on w, and not on their argument */
    double mix_until;      /* the mix ends after this share of the steps */
    bool random_labels;    /* a control: answers are random, so accuracy must stay at chance */
    rung_compute compute;  /* of the products of a step */
    const char *numbers;   /* quantisation-aware training: format of the weights, or NULL */
    uint64_t eval_every;   /* in steps; 0: only at the end */
    uint64_t eval_prompts; /* at most 2^24 */
    /* prompts of the test after the last step, from a third stream by which nothing is chosen; at most 2^24, 0: no
     * test */
    uint64_t test_prompts;
    /* evaluator of that test: NULL or RUNG_TEST_FAST, or a format for the exact evaluator. The exact one takes fewer
     * prompts if test_prompts would take more than about ten seconds. */
    const char *test_numbers;
    double stop_at;            /* stop early at this accuracy on fresh data ... */
    size_t stop_times;         /* ... in this many evaluations in a row; 0: never stop early */
    uint64_t checkpoint_every; /* in steps; 0: only at the end and when stopped */
    size_t threads;            /* 0: all processors; does not change the result */
    /* NULL: alone. All ranks call rung_train_run with the same arguments; does not change the result either */
    const rung_team *team;
} rung_train_spec;

/* What a plateau can be explained by: one layer, means over the last steps except for the gradient. */
typedef struct rung_train_layer {
    double gradient;                     /* norm of the gradient of its weights in the last step, before clipping */
    double target_loss, target_accuracy; /* of its auxiliary read-out; NaN: it has none */
    double target_weight;                /* how often that loss counts at present */
} rung_train_layer;

typedef struct rung_train_state {
    uint64_t step;
    double loss, accuracy;           /* on training data, exponential mean over the last steps */
    double rate, gradient;           /* of the last step: learning rate, and norm of the gradient before clipping */
    double eval_loss, eval_accuracy; /* of the last evaluation on fresh data; NaN before the first */
    double test_loss, test_accuracy; /* after the last step; NaN before, or when there are no test prompts */
    size_t test_targets, test_right;
    /* the evaluator that measured the test: RUNG_TEST_FAST, or the format of the exact one; "" before the test */
    char test_numbers[32];
    double tokens_per_second, seconds;
    size_t parameters;
    /* [layers], while the run is watched; NULL after it. outer_gradient: of embedding, positions and read-out */
    const rung_train_layer *layer;
    size_t layers;
    double outer_gradient;
    const char *set; /* instruction set of the kernels that compute the steps */
    bool resumed, stopped_early;
    bool finished; /* false: stopped by the caller */
    bool
        diverged; /* the run failed because loss or gradient became NaN or infinite; any run with these parameters would */
} rung_train_state;

/* Called after each step. `evaluated` says that the state has new evaluation results. Return false to stop with a
 * checkpoint. */
typedef bool rung_train_watch(void *context, const rung_train_state *state, bool evaluated);

/* Fills in the recipe of docs/training.md. Model and task stay empty. */
void rung_train_defaults(rung_train_spec *conf);
/* Trains from scratch, or continues from `checkpoint` (may be NULL) if that file exists. Refuses a checkpoint of
 * another run. Replaces the checkpoint atomically while it trains. Writes the model to `out` (may be NULL) when the run
 * has finished. In a team every rank calls this with the same arguments; only rank 0 reads and writes files, and all
 * ranks stop when `watch` returns false on one of them. */
rung_status rung_train_run(rung_train_state *state, const rung_train_spec *conf, const char *out,
                           const char *checkpoint, rung_train_watch *watch, void *context, rung_error *err);
/* Gives the model of conf the tokens, read-out rows and positions of its chain of thought. Call it once, when model,
 * task and thoughts are set. rung_train_spec_of calls it. */
rung_status rung_train_add_thoughts(rung_train_spec *conf, rung_error *err);
/* RUNG_USAGE when a number is outside its range. rung_train_run calls it. */
rung_status rung_train_check(const rung_train_spec *conf, rung_error *err);
/* True if the test after the last step uses the exact evaluator. */
bool rung_train_tests_exactly(const rung_train_spec *conf);
/* The canonical text of a run: one line with everything that affects the bytes of the result. */
void rung_train_canonical(rung_buf *out, const rung_train_spec *conf);

/* ---- a run as options ---------------------------------------------------------------------------------------------- */

/* The shape of a model as `rung build` and `rung train` take it: an architecture and its sizes. The sizes of input,
 * read-out and positions come from the task. RUNG_SHAPE_OPTION_ROWS lists the options. */
typedef struct rung_shape_options {
    const char *arch, *task, *mlp;
    int64_t d_model, d_mlp, heads, dk, dv, max_tokens;
    int64_t positions, norm;
    bool encoder;
} rung_shape_options;

/* Names of those options. */
extern const char *const rung_shape_option_names[];

/* Makes spec and task. `word` holds the key=value parameters of the task. The spec borrows from w and from task_text,
 * which the caller clears. */
rung_status rung_shape_spec(rung_model_spec *spec, rung_task_conf *conf, rung_buf *task_text,
                            const rung_shape_options *w, const char *const *pair, size_t pairs, rung_error *err);

#define RUNG_SHAPE_SIZE(type, field, long_name, most, text, value)                                                     \
    {                                                                                                                  \
        .name = long_name, .kind = RUNG_OPTION_INT, .at = offsetof(type, field), .metavar = "N", .help = text,         \
        .fallback = value, .low = 0, .high = most                                                                      \
    }

/* The options, with those defaults that differ between commands: width of the stream, MLP, norm. */
#define RUNG_SHAPE_OPTION_ROWS(type, shape, d_model_value, mlp_value, norm_value)                                      \
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
         .help = "none, relu, gelu, gelu_tanh, swiglu or geglu_tanh, or one per layer",                                \
         .fallback = mlp_value},                                                                                       \
        {.name = "positions",                                                                                          \
         .kind = RUNG_OPTION_CHOICE,                                                                                   \
         .at = offsetof(type, shape.positions),                                                                        \
         .metavar = "KIND",                                                                                            \
         .help = "how positions enter",                                                                                \
         .fallback = "learned",                                                                                        \
         .choices = rung_positions_names},                                                                             \
        {.name = "norm",                                                                                               \
         .kind = RUNG_OPTION_CHOICE,                                                                                   \
         .at = offsetof(type, shape.norm),                                                                             \
         .metavar = "KIND",                                                                                            \
         .help = "norm before mixers and MLPs",                                                                        \
         .fallback = norm_value,                                                                                       \
         .choices = rung_norm_names},                                                                                  \
    {                                                                                                                  \
        .name = "encoder", .kind = RUNG_OPTION_FLAG, .at = offsetof(type, shape.encoder),                              \
        .help = "no causal mask: every token sees all"                                                                 \
    }

/* A run as it is written down: the options of `rung train`, and the keys of a sweep and of a file that describes a run.
 * The seed and the parameters of the task are passed beside it. */
typedef struct rung_train_options {
    rung_shape_options shape;
    const char *out, *checkpoint, *metrics, *tensorboard, *numbers, *test_numbers;
    int64_t steps, batch, accumulate, queries, thoughts, warmup, schedule, compute, eval_every, eval_prompts,
        test_prompts, stop_times, checkpoint_every, log_every, threads;
    double rate, gain, score_gain, position_gain, beta1, beta2, decay, clip, layer_targets, mix_first, mix_second,
        mix_until, stop_at, require, value_gain, layer_goal, layer_rest, few_values, grow;
    int64_t position_base, recipe; /* recipe: index into rung_recipe_names */
    bool random_labels, alone;
} rung_train_options;

extern const rung_option rung_train_option_table[];
/* True if this option affects the trained bytes. The others only control output paths, logging, or the pass/fail
 * check. */
bool rung_train_decides(const rung_option *row);
/* Makes the run that the words describe and checks it. conf borrows from words and from task_text, which the caller
 * clears. */
rung_status rung_train_spec_of(rung_train_spec *conf, rung_buf *task_text, const rung_train_options *options,
                               uint64_t seed, const char *const *pair, size_t count, rung_error *err);

/* ---- recipes ------------------------------------------------------------------------------------------------------- */

#define RUNG_RECIPE_WORDS 48

/* A run that learns its task, by name. The option --recipe stands for these options; those that are given win. */
typedef struct rung_recipe {
    const char *name, *learns;             /* learns: a sentence without a full stop */
    const char *task;                      /* with its parameters, "eva N=64 V=64" */
    const char *option[RUNG_RECIPE_WORDS]; /* long name, value, ..., NULL */
} rung_recipe;

extern const char *const rung_recipe_names[];         /* "none", then the names of all recipes, then NULL */
const rung_recipe *rung_recipe_at(size_t index);      /* NULL behind the last */
const rung_recipe *rung_recipe_get(const char *name); /* NULL: there is none of this name, or it is "none" */
/* Appends the options as they are typed. */
void rung_recipe_words(rung_buf *out, const rung_recipe *recipe);

/* ---- events for TensorBoard -------------------------------------------------------------------------------------- */

/* A file of scalars that TensorBoard reads: records with masked CRC-32C, each a protocol buffer `Event`. */
typedef struct rung_events rung_events;
/* Makes DIR/events.out.tfevents.<wall time>.rung, and the directory if it is missing. */
rung_status rung_events_open(rung_events **out, const char *directory, double wall_s, rung_error *err);
rung_status rung_events_scalar(rung_events *events, const char *tag, float value, uint64_t step, double wall_s,
                               rung_error *err);
void rung_events_close(rung_events *events);

RUNG_API_END

#endif
