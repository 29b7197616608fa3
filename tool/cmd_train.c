/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung train: learns the weights of an architecture on a task and writes them as a model file.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json_out.h"
#include "output.h"
#include "train.h"

/* ---- words to a configuration ---------------------------------------------------------------------------------------- */

static rung_status read_real(double *out, const char *text, const char *option, rung_error *err)
{
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == 0 && isfinite(*out)) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "--%s %s is no number; give one such as 0.003", option, text);
}

static rung_status read_reals(rung_train_conf *conf, const rung_train_words *w, rung_error *err)
{
    const struct {
        const char *option, *text;
        double *to;
    } reals[] = {
        {"rate", w->rate, &conf->adamw.rate},
        {"beta1", w->beta1, &conf->adamw.beta1},
        {"beta2", w->beta2, &conf->adamw.beta2},
        {"decay", w->decay, &conf->adamw.decay},
        {"clip", w->clip, &conf->adamw.clip},
        {"gain", w->gain, &conf->gain},
        {"score-gain", w->score_gain, &conf->score_gain},
        {"position-gain", w->position_gain, &conf->position_gain},
        {"layer-targets", w->layer_targets, &conf->layer_targets},
        {"mix-w", w->mix_first, &conf->mix_first},
        {"mix-argument", w->mix_second, &conf->mix_second},
        {"mix-until", w->mix_until, &conf->mix_until},
        {"stop-at", w->stop_at, &conf->stop_at},
    };
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < RUNG_COUNT(reals); i++)
        status = read_real(reals[i].to, reals[i].text, reals[i].option, err);
    return status;
}

static rung_status fill_conf(rung_train_conf *conf, rung_buf *task_text, const rung_call *call, rung_error *err)
{
    const rung_train_words *w = call->values;
    rung_train_defaults(conf);
    rung_status status = rung_shape_spec(&conf->model, &conf->task, task_text, &w->shape, call->word, call->words, err);
    if (status == RUNG_OK) status = read_reals(conf, w, err);
    conf->seed = (uint64_t)call->seed;
    conf->steps = (uint64_t)w->steps;
    conf->batch = (size_t)w->batch;
    conf->accumulate = (size_t)w->accumulate;
    conf->queries = (size_t)w->queries;
    conf->adamw.schedule = (rung_schedule)(w->schedule + 1);
    conf->adamw.warmup = (uint64_t)w->warmup;
    conf->random_labels = w->random_labels;
    conf->numbers = w->numbers;
    conf->eval_every = (uint64_t)w->eval_every;
    conf->eval_prompts = (uint64_t)w->eval_prompts;
    conf->stop_times = (size_t)w->stop_times;
    conf->checkpoint_every = (uint64_t)w->checkpoint_every;
    conf->threads = (size_t)w->threads;
    return status;
}

/* ---- report -------------------------------------------------------------------------------------------------------------- */

static void print_text(rung_buf *text, const rung_train_conf *conf, const rung_train_state *state, const char *out)
{
    rung_buf_printf(text, "%s: %s, %zu parameters, for %s\n", out, conf->model.arch, state->parameters,
                    conf->model.task);
    rung_buf_printf(text, "steps     %" PRIu64 " of %" PRIu64 "%s\n", state->step, conf->steps,
                    state->stopped_early ? ", stopped early as declared" : "");
    rung_buf_printf(text, "training  loss %.4f, accuracy %.4f\n", state->loss, state->accuracy);
    if (!isnan(state->eval_accuracy))
        rung_buf_printf(text, "fresh     loss %.4f, %saccuracy %.4f%s (chance %.4f)\n", state->eval_loss,
                        rung_style_bold(), state->eval_accuracy, rung_style_off(), conf->task.chance);
    rung_buf_printf(text, "time      %.1f s, %.0f tokens/s\n", state->seconds, state->tokens_per_second);
}

static void print_json(rung_buf *text, const rung_train_conf *conf, const rung_train_state *state, const char *out)
{
    rung_jout j;
    rung_buf canonical;
    rung_buf_init(&canonical);
    rung_train_canonical(&canonical, conf);
    rung_jout_begin(&j, text, "rung.train/1", true);
    rung_jout_string(&j, "file", out);
    rung_jout_string(&j, "arch", conf->model.arch);
    rung_jout_string(&j, "task", conf->model.task);
    rung_jout_int(&j, "parameters", (int64_t)state->parameters);
    rung_jout_int(&j, "seed", (int64_t)conf->seed);
    rung_jout_int(&j, "step", (int64_t)state->step);
    rung_jout_int(&j, "steps", (int64_t)conf->steps);
    rung_jout_bool(&j, "stopped_early", state->stopped_early);
    rung_jout_bool(&j, "resumed", state->resumed);
    rung_jout_real(&j, "loss", state->loss);
    rung_jout_real(&j, "accuracy", state->accuracy);
    rung_jout_real(&j, "eval_loss", state->eval_loss);
    rung_jout_real(&j, "eval_accuracy", state->eval_accuracy);
    rung_jout_real(&j, "chance", conf->task.chance);
    rung_jout_real(&j, "seconds", state->seconds);
    rung_jout_real(&j, "tokens_per_second", state->tokens_per_second);
    rung_jout_string(&j, "run", canonical.text);
    rung_jout_finish(&j);
    text->failed = text->failed || canonical.failed;
    rung_buf_clear(&canonical);
}

static rung_status report(const rung_call *call, const rung_train_conf *conf, const rung_train_state *state,
                          const char *out, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    (call->json ? print_json : print_text)(&text, conf, state, out);
    rung_status status = rung_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

/* ---- command ---------------------------------------------------------------------------------------------------------------- */

/* Where an interrupted run is kept: the given file, or one beside the model that goes away when the run is done. */
static rung_status checkpoint_path(rung_buf *out, const rung_train_words *w, rung_error *err)
{
    if (w->checkpoint)
        rung_buf_puts(out, w->checkpoint);
    else
        rung_buf_printf(out, "%s.checkpoint", w->out);
    return rung_buf_ok(out, err);
}

static int judge(const rung_call *call, const rung_train_state *state, rung_error *err)
{
    const rung_train_words *w = call->values;
    double least;
    if (!w->require) return RUNG_OK;
    rung_status status = read_real(&least, w->require, "require", err);
    if (status != RUNG_OK) return status;
    if (state->eval_accuracy >= least) return RUNG_OK;
    rung_note(call, "required an accuracy of %g on fresh prompts, and it is %.4f", least, state->eval_accuracy);
    return RUNG_NEGATIVE;
}

static int train(const rung_call *call, const rung_train_conf *conf, const char *checkpoint, rung_error *err)
{
    const rung_train_words *w = call->values;
    rung_train_state state = {0};
    rung_error log_err = {""};
    rung_train_log log = {.call = call, .words = w, .steps = conf->steps, .err = &log_err};
    rung_signals_defer(true);
    rung_status status = rung_train_run(&state, conf, w->out, checkpoint, rung_train_watched, &log, err);
    if (rung_train_log_close(&log) != RUNG_OK && status == RUNG_OK)
        status = rung_fail(err, log.status, "%s", log_err.text);
    if (status != RUNG_OK) return status;
    if (!state.finished) {
        rung_note(call, "stopped at step %" PRIu64 "; the same command goes on from %s", state.step, checkpoint);
        return RUNG_OK;
    }
    if (!w->checkpoint) unlink(checkpoint);
    status = report(call, conf, &state, w->out, err);
    return status == RUNG_OK ? judge(call, &state, err) : (int)status;
}

static int run_words(const rung_call *call, rung_error *err)
{
    const rung_train_words *w = call->values;
    rung_train_conf conf;
    rung_buf task_text, checkpoint;
    double ignored;
    if (!w->out) return rung_fail(err, RUNG_USAGE, "where to? give -o FILE, for example -o model.safetensors");
    rung_buf_init(&task_text);
    rung_buf_init(&checkpoint);
    int status = fill_conf(&conf, &task_text, call, err);
    if (status == RUNG_OK && w->require) status = read_real(&ignored, w->require, "require", err);
    if (status == RUNG_OK) status = rung_out_place(w->out, err);
    if (status == RUNG_OK && w->metrics) status = rung_out_place(w->metrics, err);
    if (status == RUNG_OK) status = checkpoint_path(&checkpoint, w, err);
    if (status == RUNG_OK) status = train(call, &conf, checkpoint.text, err);
    rung_buf_clear(&task_text);
    rung_buf_clear(&checkpoint);
    return status;
}

static int run_train(const rung_call *call, rung_error *err)
{
    rung_arena arena;
    rung_call merged;
    if (!call->arguments) return run_words(call, err);
    rung_arena_init(&arena);
    int status = rung_train_read_spec(&merged, call, call->argument[0], &arena, err);
    if (status == RUNG_OK)
        status = rung_out_spares(((const rung_train_words *)merged.values)->out, call->argument[0], err);
    if (status == RUNG_OK) status = run_words(&merged, err);
    rung_arena_clear(&arena);
    return status;
}

#define COUNT_ROW(long_name, field, least, most, text, value)                                                          \
    {                                                                                                                  \
        .name = long_name, .kind = RUNG_OPTION_INT, .at = offsetof(rung_train_words, field), .metavar = "N",           \
        .help = text, .fallback = value, .low = least, .high = most                                                    \
    }
#define TEXT_ROW(long_name, field, meta, text, value)                                                                  \
    {                                                                                                                  \
        .name = long_name, .kind = RUNG_OPTION_STRING, .at = offsetof(rung_train_words, field), .metavar = meta,       \
        .help = text, .fallback = value                                                                                \
    }
#define FILE_ROW(long_name, field, meta, text, kind_of_path)                                                           \
    {                                                                                                                  \
        .name = long_name, .kind = RUNG_OPTION_STRING, .at = offsetof(rung_train_words, field), .metavar = meta,       \
        .help = text, .complete = kind_of_path                                                                         \
    }

const rung_command rung_command_train = {
    .name = "train",
    .summary = "learn the weights of a model on a task",
    .details =
        "AdamW in fp32 on the CPU, on prompts that the task generates as it goes; accuracy is measured on fresh "
        "prompts "
        "of another stream. The same words give the same bytes, for any number of threads and after any interruption: "
        "SIGINT and SIGTERM write a checkpoint, and the same command goes on from it.\n"
        "SPEC is a JSON object with the long options as keys, for example {\"arch\": \"3*full\", \"task\": \"seqcomp "
        "L=2 "
        "N0=8 n=8 flat=1\", \"steps\": 1000, \"out\": \"m.safetensors\"}; options on the command line win over it. A "
        "trained model is a model file: run, verify, protocol and break take it. docs/training.md has recipes.",
    .examples =
        (const rung_example[]){
            {"rung train --arch full --task eva N=8 V=8 --steps 400 -o m.safetensors", "one layer learns to look up"},
            {"rung train --arch '2*gdelta:conv=4:unit=1' --task mqar --batch 64 -o m.safetensors --metrics m.jsonl",
             "with a log for plots"},
            {"rung train --arch '3*full' --task seqcomp L=2 N0=8 n=8 flat=1 --dk 32 --dv 8 --d-mlp 128 --norm layer "
             "--queries 32 "
             "--batch 8 --layer-targets 4 --mix-w 0.3 --mix-argument 0.3 --rate 0.001 --score-gain 3 --steps 2000 -o "
             "c.safetensors",
             "the recipe for composition"},
            {"rung train run.json --seed 3 -o run-3.safetensors", "a run from a file, with another seed"},
            {"rung train --arch linear --task eva N=8 V=4 --random-labels --steps 200 -o r.safetensors",
             "control: accuracy must stay at chance"},
            {0},
        },
    .arguments =
        (const rung_argument[]){
            {.metavar = "SPEC",
             .help = "a run as a JSON file; without one the options say everything",
             .least = 0,
             .most = 1,
             .complete = RUNG_COMPLETE_FILE},
            {0},
        },
    .words = "parameters of the task",
    .options =
        (const rung_option[]){
            {.name = "out",
             .letter = 'o',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(rung_train_words, out),
             .metavar = "FILE",
             .help = "the model file to write; must be given, here or in SPEC",
             .complete = RUNG_COMPLETE_FILE},
            RUNG_SHAPE_OPTIONS(rung_train_words, shape, "64", "gelu", "rms"),
            COUNT_ROW("steps", steps, 1, INT64_C(1) << 40, "updates of the weights", "1000"),
            COUNT_ROW("batch", batch, 1, 1 << 24, "prompts per batch", "32"),
            COUNT_ROW("accumulate", accumulate, 1, 1 << 20, "batches per update", "1"),
            TEXT_ROW("rate", rate, "R", "learning rate", "0.003"),
            {.name = "schedule",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(rung_train_words, schedule),
             .metavar = "KIND",
             .help = "of the rate after the warm-up",
             .fallback = "cosine",
             .choices = rung_schedule_words},
            COUNT_ROW("warmup", warmup, 0, INT64_C(1) << 40, "steps in which the rate rises", "50"),
            TEXT_ROW("beta1", beta1, "B", "mean of gradients", "0.9"),
            TEXT_ROW("beta2", beta2, "B", "mean of squared gradients", "0.98"),
            TEXT_ROW("decay", decay, "D", "weight decay of matrices", "0.01"),
            TEXT_ROW("clip", clip, "C", "largest norm of the gradient, 0 for none", "1"),
            TEXT_ROW("gain", gain, "G", "first projections are those of a random model times this", "0.57735"),
            TEXT_ROW("score-gain", score_gain, "G",
                     "first scores of softmax attention times this over sqrt(dk); 0: as they are", "1"),
            TEXT_ROW("position-gain", position_gain, "G", "first learned positions times this", "2"),
            COUNT_ROW("queries", queries, 0, 1 << 20, "questions per prompt that do not see each other; 0: its own",
                      "0"),
            TEXT_ROW("layer-targets", layer_targets, "W",
                     "seqcomp: weight with which layer j is told i_{j-1}; 0: it is not", "0"),
            TEXT_ROW("mix-w", mix_first, "P", "seqcomp: share of prompts whose tables do not depend on w", "0"),
            TEXT_ROW("mix-argument", mix_second, "P", "seqcomp: share whose tables do not depend on their argument",
                     "0"),
            TEXT_ROW("mix-until", mix_until, "P", "share of the steps after which such prompts end", "0.7"),
            {.name = "random-labels",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(rung_train_words, random_labels),
             .help = "control: answers are random, and accuracy must stay at chance"},
            TEXT_ROW("numbers", numbers, "FORMAT", "train for weights in this format: bf16, f16, eXmY, qI.F", NULL),
            COUNT_ROW("eval-every", eval_every, 0, INT64_C(1) << 40, "steps between evaluations; 0: only at the end",
                      "100"),
            COUNT_ROW("eval-prompts", eval_prompts, 0, 1 << 24, "fresh prompts of an evaluation", "256"),
            TEXT_ROW("stop-at", stop_at, "A", "stop early at this accuracy on fresh prompts; 0: never", "0"),
            COUNT_ROW("stop-times", stop_times, 1, 1 << 20, "when so many evaluations in a row have reached it", "2"),
            TEXT_ROW("require", require, "A", "exit with 1 when the accuracy on fresh prompts is below", NULL),
            FILE_ROW("checkpoint", checkpoint, "FILE",
                     "go on from it if it exists, and keep it (default: beside the model)", RUNG_COMPLETE_FILE),
            COUNT_ROW("checkpoint-every", checkpoint_every, 0, INT64_C(1) << 40, "steps between checkpoints", "500"),
            FILE_ROW("metrics", metrics, "FILE", "a line of JSON per log step", RUNG_COMPLETE_FILE),
            FILE_ROW("tensorboard", tensorboard, "DIR", "event files for TensorBoard", RUNG_COMPLETE_DIR),
            COUNT_ROW("log-every", log_every, 0, INT64_C(1) << 40, "steps between lines of metrics and events", "10"),
            RUNG_OPTION_THREADS(rung_train_words, threads),
            {0},
        },
    .values_size = sizeof(rung_train_words),
    .negative = "the accuracy on fresh prompts is below --require",
    .run = run_train,
};
