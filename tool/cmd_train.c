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

#include "cluster.h"
#include "rung/render.h"
#include "train.h"

/* ---- report ---------------------------------------------------------------------------------------------------- */

static const char *evaluator_words(const char *numbers)
{
    static char text[64];
    snprintf(text, sizeof text, "%s evaluator, %s", strcmp(numbers, RUNG_TEST_FAST) == 0 ? "fast" : "exact", numbers);
    return text;
}

static void print_text(rung_buf *text, const rung_train_spec *conf, const rung_train_state *state, const char *out)
{
    rung_buf_printf(text, "%s: %s, %zu parameters, for %s\n", out, conf->model.arch, state->parameters,
                    conf->model.task);
    rung_buf_printf(text, "steps     %" PRIu64 " of %" PRIu64 "%s\n", state->step, conf->steps,
                    state->stopped_early ? ", stopped early as declared" : "");
    rung_buf_printf(text, "training  loss %.4f, accuracy %.4f\n", state->loss, state->accuracy);
    if (!isnan(state->eval_accuracy))
        rung_buf_printf(text, "fresh     loss %.4f, %saccuracy %.4f%s (chance %.4f)\n", state->eval_loss,
                        tool_style_bold(), state->eval_accuracy, tool_style_off(), conf->task.chance);
    if (!isnan(state->test_accuracy))
        rung_buf_printf(text, "test      loss %.4f, accuracy %.4f (%zu answers, %s)\n", state->test_loss,
                        state->test_accuracy, state->test_targets, evaluator_words(state->test_numbers));
    if (conf->compute != RUNG_COMPUTE_FP32)
        rung_buf_printf(text, "compute   %s products, by the %s kernels\n", rung_compute_names[conf->compute - 1],
                        state->set);
    rung_buf_printf(text, "time      %.1f s, %.0f tokens/s\n", state->seconds, state->tokens_per_second);
}

static void print_json(rung_buf *text, const rung_train_spec *conf, const rung_train_state *state, const char *out)
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
    rung_jout_real(&j, "test_loss", state->test_loss);
    rung_jout_real(&j, "test_accuracy", state->test_accuracy);
    rung_jout_int(&j, "test_targets", (int64_t)state->test_targets);
    rung_jout_string(&j, "test_numbers", state->test_numbers[0] ? state->test_numbers : NULL);
    rung_jout_real(&j, "chance", conf->task.chance);
    rung_jout_real(&j, "seconds", state->seconds);
    rung_jout_real(&j, "tokens_per_second", state->tokens_per_second);
    rung_jout_string(&j, "compute", rung_compute_names[conf->compute - 1]);
    rung_jout_string(&j, "kernels", state->set);
    rung_jout_string(&j, "run", canonical.text);
    rung_jout_finish(&j);
    text->failed = text->failed || canonical.failed;
    rung_buf_clear(&canonical);
}

static rung_status report(const tool_call *call, const rung_train_spec *conf, const rung_train_state *state,
                          const char *out, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    (call->json ? print_json : print_text)(&text, conf, state, out);
    rung_status status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

/* ---- command --------------------------------------------------------------------------------------------------- */

/* Where an interrupted run is kept: the given file, or one beside the model that goes away when the run is done. */
static rung_status checkpoint_path(rung_buf *out, const rung_train_options *w, rung_error *err)
{
    if (w->checkpoint)
        rung_buf_puts(out, w->checkpoint);
    else
        rung_buf_printf(out, "%s.checkpoint", w->out);
    return rung_buf_ok(out, err);
}

static int judge(const tool_call *call, const rung_train_state *state)
{
    const rung_train_options *w = call->values;
    if (w->require <= 0 || state->eval_accuracy >= w->require) return RUNG_OK;
    tool_note(call, "required an accuracy of %g on fresh prompts, and it is %.4f", w->require, state->eval_accuracy);
    return RUNG_NEGATIVE;
}

/* What a rank other than the first does after a step: it says nothing. */
static bool go_on_silently(void *context, const rung_train_state *state, bool evaluated)
{
    (void)context, (void)state, (void)evaluated;
    return !tool_signal_pending();
}

static int follow(const tool_call *call, const rung_train_spec *conf, const char *checkpoint, rung_error *err)
{
    rung_train_state state = {0};
    const rung_train_options *w = call->values;
    return rung_train_run(&state, conf, w->out, checkpoint, go_on_silently, NULL, err);
}

static int lead(const tool_call *call, const rung_train_spec *conf, const char *checkpoint, rung_error *err)
{
    const rung_train_options *w = call->values;
    rung_train_state state = {0};
    rung_error log_err = {""};
    tool_train_log log = {.call = call, .options = w, .steps = conf->steps, .err = &log_err};
    rung_status status = rung_train_run(&state, conf, w->out, checkpoint, tool_train_watched, &log, err);
    if (status == RUNG_OK && state.finished) tool_train_tested(&log, &state);
    if (tool_train_log_close(&log) != RUNG_OK && status == RUNG_OK)
        status = rung_fail(err, log.status, "%s", log_err.text);
    RUNG_TRY(status);
    if (!state.finished) {
        tool_note(call, "stopped at step %" PRIu64 "; the same command goes on from %s", state.step, checkpoint);
        return RUNG_OK;
    }
    tool_signal_finished();
    if (!w->checkpoint) unlink(checkpoint);
    status = report(call, conf, &state, w->out, err);
    return status == RUNG_OK ? judge(call, &state) : (int)status;
}

static void tell_cluster(const tool_call *call, const tool_cluster *found, const rung_train_spec *conf)
{
    if (found->ranks)
        tool_note(call, "%zu ranks, from %s, with %zu thread%s each", found->ranks, found->ranks_from, conf->threads,
                  conf->threads == 1 ? "" : "s");
    else if (found->cpus && !((const rung_train_options *)call->values)->threads)
        tool_note(call, "%zu thread%s, from %s", found->cpus, found->cpus == 1 ? "" : "s", found->cpus_from);
}

/* Threads unless they were given, and the other ranks. */
static rung_status find_team(rung_train_spec *conf, tool_cluster *found, const tool_call *call, rung_error *err)
{
    const rung_train_options *w = call->values;
    RUNG_TRY(tool_cluster_look(found, w->alone, err));
    if (found->tasks)
        return rung_fail(
            err, RUNG_USAGE,
            "srun has started %zu processes without MPI, and each would train this model alone; use mpirun or "
            "srun --mpi=pmix (with 'make mpi'), one task, or --alone",
            found->tasks);
    if (!w->threads && (found->ranks || found->cpus)) conf->threads = tool_cluster_threads(found);
    if (!found->rank) tell_cluster(call, found, conf);
    return RUNG_OK;
}

static int run_words(const tool_call *call, rung_error *err)
{
    const rung_train_options *w = call->values;
    rung_train_spec conf;
    tool_cluster found;
    rung_buf task_text, checkpoint;
    if (!w->out) return rung_fail(err, RUNG_USAGE, "where to? give -o FILE, for example -o model.safetensors");
    rung_buf_init(&task_text);
    rung_buf_init(&checkpoint);
    tool_signals_defer(true);
    int status = rung_train_spec_of(&conf, &task_text, w, (uint64_t)call->seed, call->pair, call->pairs, err);
    RUNG_NEXT(status, find_team(&conf, &found, call, err));
    if (status == RUNG_OK && !found.rank) status = tool_out_place(w->out, err);
    if (status == RUNG_OK && !found.rank && w->metrics) status = tool_out_place(w->metrics, err);
    RUNG_NEXT(status, checkpoint_path(&checkpoint, w, err));
    RUNG_NEXT(status, tool_team_join(&conf.team, &found, err));
    RUNG_NEXT(status, (found.rank ? follow : lead)(call, &conf, checkpoint.text, err));
    rung_buf_clear(&task_text);
    rung_buf_clear(&checkpoint);
    return status;
}

static rung_status take_spec(tool_call *merged, const tool_call *call, rung_arena *arena, rung_error *err)
{
    RUNG_TRY(tool_train_read_spec(merged, call, call->argument[0], arena, err));
    return tool_out_spares(((const rung_train_options *)merged->values)->out, call->argument[0], err);
}

static rung_status take_recipe(tool_call *merged, const tool_call *call, rung_arena *arena, rung_error *err)
{
    const tool_call given = *call;
    const char *name = rung_recipe_names[((const rung_train_options *)given.values)->recipe];
    const rung_recipe *recipe = rung_recipe_get(name);
    rung_buf words;
    *merged = given;
    if (!recipe) return RUNG_OK;
    rung_buf_init(&words);
    rung_recipe_words(&words, recipe);
    rung_status status = rung_buf_ok(&words, err);
    if (status == RUNG_OK) tool_note(call, "recipe %s: %s", name, words.text);
    rung_buf_clear(&words);
    RUNG_TRY(status);
    return tool_train_take_recipe(merged, &given, recipe, arena, err);
}

static int run_train(const tool_call *call, rung_error *err)
{
    rung_arena arena;
    tool_call merged = *call;
    rung_arena_init(&arena);
    int status = call->arguments ? take_spec(&merged, call, &arena, err) : RUNG_OK;
    RUNG_NEXT(status, take_recipe(&merged, &merged, &arena, err));
    RUNG_NEXT(status, run_words(&merged, err));
    rung_arena_clear(&arena);
    return status;
}

static void list_recipes(rung_buf *out, const tool_call *call)
{
    rung_buf words;
    (void)call;
    rung_buf_init(&words);
    rung_buf_printf(out, "\n%sRecipes%s\n", tool_style_bold(), tool_style_off());
    for (size_t i = 0; rung_recipe_at(i); i++) {
        const rung_recipe *recipe = rung_recipe_at(i);
        rung_buf_reset(&words);
        rung_recipe_words(&words, recipe);
        rung_buf_printf(out, "  %s: ", recipe->name);
        tool_wrap(out, recipe->learns, 4 + strlen(recipe->name), 6);
        rung_buf_puts(out, "\n      ");
        if (!words.failed) tool_wrap(out, words.text, 6, 6);
        rung_buf_putc(out, '\n');
    }
    out->failed = out->failed || words.failed;
    rung_buf_clear(&words);
}

const tool_command tool_command_train = {
    .name = "train",
    .summary = "learn the weights of a model on a task",
    .details =
        "AdamW in fp32 on the CPU, on prompts that the task generates as it goes; accuracy is measured on fresh "
        "prompts "
        "of another stream. The same options give the same bytes, for any number of threads and after any "
        "interruption: "
        "SIGINT, SIGTERM and SIGUSR1 write a checkpoint, and the same command goes on from it.\n"
        "'mpirun -n N rung train ...' shares every batch between up to eight processes, with the same bytes again; "
        "docs/cluster.md has more.\n"
        "SPEC is a JSON object with the long options as keys, for example {\"arch\": \"3*full\", \"task\": \"seqcomp "
        "L=2 "
        "N0=8 n=8 flat=1\", \"steps\": 1000, \"out\": \"m.safetensors\"}; options on the command line win over it. A "
        "trained model is a model file: run, verify, protocol and break take it. docs/training.md has recipes.",
    .examples =
        (const tool_example[]){
            {"rung train --recipe compose -o m.safetensors", "a run that learns its task, by name"},
            {"rung train --arch full --task eva N=8 V=8 --steps 400 -o m.safetensors", "one layer learns to look up"},
            {"rung train --recipe mqar -o m.safetensors --metrics m.jsonl", "with a log for plots"},
            {"rung train --recipe two-sum N=8 M=16 --steps 600 --require 0.9 -o m.safetensors",
             "a smaller form of its task; exit code 1 if it is not learnt"},
            {"rung train run.json --seed 3 -o run-3.safetensors", "a run from a file, with another seed"},
            {"rung train --arch linear --task eva N=8 V=4 --random-labels --steps 200 -o r.safetensors",
             "control: accuracy must stay at chance"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "SPEC",
             .help = "a run as a JSON file; without one the options say everything",
             .least = 0,
             .most = 1,
             .complete = RUNG_COMPLETE_FILE},
            {0},
        },
    .pairs = "parameters of the task",
    .options = rung_train_option_table,
    .values_size = sizeof(rung_train_options),
    .negative = "the accuracy on fresh prompts is below --require",
    .run = run_train,
    .help_more = list_recipes,
};
