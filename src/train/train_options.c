/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A run as options: the table of its keys, and the configuration that they describe. The command line, the file of a run
 * and the spec of a sweep all use it, so that there is one set of names, ranges and defaults.
 */
#include "rung/train.h"

#include <string.h>

/* ---- shape ------------------------------------------------------------------------------------------------------- */

const char *const rung_shape_option_names[] = {"arch",       "task", "d-model",   "heads", "dk",      "dv", "d-mlp",
                                               "max-tokens", "mlp",  "positions", "norm",  "encoder", NULL};

rung_status rung_shape_spec(rung_model_spec *spec, rung_task_conf *conf, rung_buf *task_text,
                            const rung_shape_options *w, const char *const *pair, size_t pairs, rung_error *err)
{
    RUNG_TRY(rung_task_conf_init(conf, w->task, pair, pairs, err));
    rung_task_canonical(task_text, conf);
    *spec = (rung_model_spec){
        .arch = w->arch,
        .task = task_text->text,
        .mlp = w->mlp,
        .vocab = conf->vocab,
        .d_in = conf->d_in,
        .answers = conf->answers ? conf->answers : conf->d_out,
        .max_tokens = w->max_tokens ? (size_t)w->max_tokens : conf->tokens,
        .d_model = (size_t)w->d_model,
        .d_mlp = (size_t)(w->d_mlp ? w->d_mlp : 4 * w->d_model),
        .heads = (size_t)w->heads,
        .dk = (size_t)w->dk,
        .dv = (size_t)w->dv,
        .positions = (rung_positions)(w->positions + 1),
        .norm = (rung_norm)(w->norm + 1),
        .causal = !w->encoder,
    };
    return rung_buf_ok(task_text, err);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

#define COUNT_ROW(long_name, field, least, most, text, value)                                                          \
    {                                                                                                                  \
        .name = long_name, .kind = RUNG_OPTION_INT, .at = offsetof(rung_train_options, field), .metavar = "N",         \
        .help = text, .fallback = value, .low = least, .high = most                                                    \
    }
#define TEXT_ROW(long_name, field, meta, text, value)                                                                  \
    {                                                                                                                  \
        .name = long_name, .kind = RUNG_OPTION_STRING, .at = offsetof(rung_train_options, field), .metavar = meta,     \
        .help = text, .fallback = value                                                                                \
    }
#define REAL_ROW(long_name, field, meta, text, value)                                                                  \
    {                                                                                                                  \
        .name = long_name, .kind = RUNG_OPTION_REAL, .at = offsetof(rung_train_options, field), .metavar = meta,       \
        .help = text, .fallback = value                                                                                \
    }
#define FILE_ROW(long_name, field, meta, text, kind_of_path)                                                           \
    {                                                                                                                  \
        .name = long_name, .kind = RUNG_OPTION_STRING, .at = offsetof(rung_train_options, field), .metavar = meta,     \
        .help = text, .complete = kind_of_path                                                                         \
    }

const rung_option rung_train_option_table[] = {
    {.name = "out",
     .letter = 'o',
     .kind = RUNG_OPTION_STRING,
     .at = offsetof(rung_train_options, out),
     .metavar = "FILE",
     .help = "the model file to write; must be given, here or in SPEC",
     .complete = RUNG_COMPLETE_FILE},
    {.name = "recipe",
     .kind = RUNG_OPTION_CHOICE,
     .at = offsetof(rung_train_options, recipe),
     .metavar = "NAME",
     .help = "a run that learns its task, whose options those that are given replace",
     .fallback = "none",
     .choices = rung_recipe_names},
    RUNG_SHAPE_OPTION_ROWS(rung_train_options, shape, "64", "gelu", "rms"),
    COUNT_ROW("steps", steps, 1, INT64_C(1) << 40, "updates of the weights", "1000"),
    COUNT_ROW("batch", batch, 1, 1 << 24, "prompts per batch", "32"),
    COUNT_ROW("accumulate", accumulate, 1, 1 << 20, "batches per update", "1"),
    REAL_ROW("rate", rate, "R", "learning rate", "0.003"),
    {.name = "schedule",
     .kind = RUNG_OPTION_CHOICE,
     .at = offsetof(rung_train_options, schedule),
     .metavar = "KIND",
     .help = "of the rate after the warm-up",
     .fallback = "cosine",
     .choices = rung_schedule_names},
    COUNT_ROW("warmup", warmup, 0, INT64_C(1) << 40, "steps in which the rate rises", "50"),
    REAL_ROW("beta1", beta1, "B", "mean of gradients", "0.9"),
    REAL_ROW("beta2", beta2, "B", "mean of squared gradients", "0.98"),
    REAL_ROW("decay", decay, "D", "weight decay of matrices", "0.01"),
    REAL_ROW("clip", clip, "C", "largest norm of the gradient, 0 for none", "1"),
    REAL_ROW("gain", gain, "G", "factor on the random initial weights of every projection", "0.57735"),
    REAL_ROW("score-gain", score_gain, "G",
             "factor on initial scores of softmax attention, over sqrt(dk); 0 leaves them unscaled", "1"),
    REAL_ROW("value-gain", value_gain, "G", "factor on the initial values of softmax attention", "1"),
    REAL_ROW("position-gain", position_gain, "G", "factor on learned positions", "2"),
    COUNT_ROW("position-base", position_base, 0, 1 << 30,
              "learned positions start as sums of the codes of two digits in this base; 0: as drawn", "0"),
    COUNT_ROW("queries", queries, 0, 1 << 20, "questions per prompt that do not see each other; 0: its own", "0"),
    COUNT_ROW("thoughts", thoughts, 0, RUNG_THOUGHTS_MOST,
              "seqcomp: values i_l that the model states before the answer (chain of thought)", "0"),
    REAL_ROW("layer-targets", layer_targets, "W",
             "seqcomp: weight of the auxiliary losses, whose target at layer j is i_{j-1}; 0: none", "0"),
    REAL_ROW("layer-targets-goal", layer_goal, "A",
             "an auxiliary loss fades while its read-out has this accuracy; 0: it never fades", "0"),
    REAL_ROW("layer-targets-rest", layer_rest, "F", "how much of the weight a faded auxiliary loss keeps", "0"),
    REAL_ROW("few-values", few_values, "P", "share of prompts whose tables have few distinct values", "0"),
    REAL_ROW("grow", grow, "P", "share of the steps in which questions ask about a growing part of the tables", "0"),
    REAL_ROW("mix-w", mix_first, "P", "seqcomp: share of prompts whose tables do not depend on w", "0"),
    REAL_ROW("mix-argument", mix_second, "P", "seqcomp: share whose tables do not depend on their argument", "0"),
    REAL_ROW("mix-until", mix_until, "P", "share of the steps after which such prompts end", "0.7"),
    {.name = "random-labels",
     .kind = RUNG_OPTION_FLAG,
     .at = offsetof(rung_train_options, random_labels),
     .help = "control: answers are random, and accuracy must stay at chance"},
    {.name = "compute",
     .kind = RUNG_OPTION_CHOICE,
     .at = offsetof(rung_train_options, compute),
     .metavar = "FORMAT",
     .help = "products of a step: fp32, or bf16 with sums in fp32; weights and optimiser stay in fp32",
     .fallback = "fp32",
     .choices = rung_compute_names},
    TEXT_ROW("numbers", numbers, "FORMAT", "train for weights in this format: bf16, f16, eXmY, qI.F", NULL),
    COUNT_ROW("eval-every", eval_every, 0, INT64_C(1) << 40, "steps between evaluations; 0: only at the end", "100"),
    COUNT_ROW("eval-prompts", eval_prompts, 0, 1 << 24, "fresh prompts of an evaluation", "256"),
    COUNT_ROW("test-prompts", test_prompts, 0, 1 << 24,
              "prompts of the last test, from a stream by which nothing is stopped or chosen", "0"),
    TEXT_ROW("test-numbers", test_numbers, "FORMAT",
             "evaluator of the last test: fp32, the fast one, or f32, bf16, ..., the exact one", NULL),
    REAL_ROW("stop-at", stop_at, "A", "stop early at this accuracy on fresh prompts; 0: never", "0"),
    COUNT_ROW("stop-times", stop_times, 1, 1 << 20, "stop after this many such evaluations in a row", "2"),
    REAL_ROW("require", require, "A", "exit with 1 when the accuracy on fresh prompts is below", NULL),
    FILE_ROW("checkpoint", checkpoint, "FILE", "continue from it if it exists, and keep it (default: beside the model)",
             RUNG_COMPLETE_FILE),
    COUNT_ROW("checkpoint-every", checkpoint_every, 0, INT64_C(1) << 40, "steps between checkpoints", "500"),
    FILE_ROW("metrics", metrics, "FILE", "a line of JSON per log step", RUNG_COMPLETE_FILE),
    FILE_ROW("tensorboard", tensorboard, "DIR", "event files for TensorBoard", RUNG_COMPLETE_DIR),
    COUNT_ROW("log-every", log_every, 0, INT64_C(1) << 40, "steps between lines of metrics and events", "10"),
    RUNG_OPTION_THREADS(rung_train_options, threads),
    {.name = "alone",
     .kind = RUNG_OPTION_FLAG,
     .at = offsetof(rung_train_options, alone),
     .help = "ignore mpirun and Slurm"},
    {0},
};

bool rung_train_decides(const rung_option *row)
{
    static const char *const others[] = {"out",       "checkpoint", "checkpoint-every", "metrics", "tensorboard",
                                         "log-every", "threads",    "require",          "alone",   "recipe"};
    for (size_t i = 0; i < RUNG_COUNT(others); i++)
        if (strcmp(others[i], row->name) == 0) return false;
    return true;
}

/* ---- configuration ----------------------------------------------------------------------------------------------- */

static void fill_learning(rung_train_spec *conf, const rung_train_options *w)
{
    conf->adamw.rate = w->rate;
    conf->adamw.beta1 = w->beta1;
    conf->adamw.beta2 = w->beta2;
    conf->adamw.decay = w->decay;
    conf->adamw.clip = w->clip;
    conf->adamw.schedule = (rung_schedule)(w->schedule + 1);
    conf->adamw.warmup = (uint64_t)w->warmup;
    conf->gain = w->gain;
    conf->score_gain = w->score_gain;
    conf->position_gain = w->position_gain;
    conf->value_gain = w->value_gain;
    conf->position_base = (size_t)w->position_base;
    conf->layer_goal = w->layer_goal;
    conf->layer_rest = w->layer_rest;
    conf->few_values = w->few_values;
    conf->grow = w->grow;
    conf->layer_targets = w->layer_targets;
    conf->mix_first = w->mix_first;
    conf->mix_second = w->mix_second;
    conf->mix_until = w->mix_until;
    conf->random_labels = w->random_labels;
    conf->compute = (rung_compute)(w->compute + 1);
    conf->numbers = w->numbers;
}

static void fill_lengths(rung_train_spec *conf, const rung_train_options *w)
{
    conf->steps = (uint64_t)w->steps;
    conf->batch = (size_t)w->batch;
    conf->accumulate = (size_t)w->accumulate;
    conf->queries = (size_t)w->queries;
    conf->thoughts = (size_t)w->thoughts;
    conf->eval_every = (uint64_t)w->eval_every;
    conf->eval_prompts = (uint64_t)w->eval_prompts;
    conf->test_prompts = (uint64_t)w->test_prompts;
    conf->test_numbers = w->test_numbers;
    conf->stop_at = w->stop_at;
    conf->stop_times = (size_t)w->stop_times;
    conf->checkpoint_every = (uint64_t)w->checkpoint_every;
    conf->threads = (size_t)w->threads;
}

rung_status rung_train_spec_of(rung_train_spec *conf, rung_buf *task_text, const rung_train_options *options,
                               uint64_t seed, const char *const *pair, size_t count, rung_error *err)
{
    rung_train_defaults(conf);
    rung_status status = rung_shape_spec(&conf->model, &conf->task, task_text, &options->shape, pair, count, err);
    fill_learning(conf, options);
    fill_lengths(conf, options);
    conf->seed = seed;
    RUNG_TRY(status);
    RUNG_TRY(rung_train_check(conf, err));
    return rung_train_add_thoughts(conf, err);
}
