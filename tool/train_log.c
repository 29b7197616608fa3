/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What a run tells while it goes on: one line on a terminal, a line of JSON per log step, TensorBoard events.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "output.h"
#include "rung/render.h"
#include "train.h"

#define LOG_EVERY_S 10.0

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* At the first step, because only then is it known whether the run goes on from a checkpoint. */
static rung_status open_log(tool_train_log *log, const rung_train_state *state)
{
    const rung_train_options *w = log->options;
    log->opened = true;
    log->before = state->step - 1;
    if (w->metrics && !(log->metrics = fopen(w->metrics, state->resumed ? "a" : "w")))
        return rung_fail(log->err, RUNG_SYSTEM, "cannot write '%s': %s", w->metrics, strerror(errno));
    return w->tensorboard ? rung_events_open(&log->events, w->tensorboard, now_s(), log->err) : RUNG_OK;
}

/* A line of JSON that `put` fills. */
static rung_status write_line(tool_train_log *log, void (*put)(rung_jout *out, const rung_train_state *state),
                              const rung_train_state *state)
{
    rung_buf line;
    rung_jout out;
    if (!log->metrics) return RUNG_OK;
    rung_buf_init(&line);
    rung_jout_begin(&out, &line, NULL, false);
    rung_jout_int(&out, "step", (int64_t)state->step);
    put(&out, state);
    rung_jout_finish(&out);
    rung_status status = rung_buf_ok(&line, log->err);
    if (status == RUNG_OK && (fwrite(line.text, 1, line.len, log->metrics) != line.len || fflush(log->metrics) != 0))
        status = rung_fail(log->err, RUNG_SYSTEM, "cannot write '%s': %s", log->options->metrics, strerror(errno));
    rung_buf_clear(&line);
    return status;
}

/* One object per layer, so that a plateau can be explained: which layer still moves, and which one knows its part. */
static void put_layers(rung_jout *out, const rung_train_state *state)
{
    rung_jout_real(out, "outer_gradient", state->outer_gradient);
    rung_jout_flat_array(out, "layers");
    for (size_t i = 0; i < state->layers; i++) {
        const rung_train_layer *layer = &state->layer[i];
        rung_jout_flat_object(out, NULL);
        rung_jout_real(out, "gradient", layer->gradient);
        if (!isnan(layer->target_loss)) {
            rung_jout_real(out, "target_loss", layer->target_loss);
            rung_jout_real(out, "target_accuracy", layer->target_accuracy);
            rung_jout_real(out, "target_weight", layer->target_weight);
        }
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

static void put_step(rung_jout *out, const rung_train_state *state)
{
    rung_jout_real(out, "loss", state->loss);
    rung_jout_real(out, "accuracy", state->accuracy);
    rung_jout_real(out, "rate", state->rate);
    rung_jout_real(out, "gradient", state->gradient);
    put_layers(out, state);
}

static void put_speed(rung_jout *out, const rung_train_state *state)
{
    rung_jout_real(out, "seconds", state->seconds);
    rung_jout_real(out, "tokens_per_second", state->tokens_per_second);
}

static void put_plain(rung_jout *out, const rung_train_state *state)
{
    put_step(out, state);
    put_speed(out, state);
}

static void put_evaluated(rung_jout *out, const rung_train_state *state)
{
    put_step(out, state);
    rung_jout_real(out, "eval_loss", state->eval_loss);
    rung_jout_real(out, "eval_accuracy", state->eval_accuracy);
    put_speed(out, state);
}

static void put_tested(rung_jout *out, const rung_train_state *state)
{
    rung_jout_real(out, "test_loss", state->test_loss);
    rung_jout_real(out, "test_accuracy", state->test_accuracy);
    rung_jout_int(out, "test_targets", (int64_t)state->test_targets);
    rung_jout_string(out, "test_numbers", state->test_numbers);
}

static rung_status write_layer_events(tool_train_log *log, const rung_train_state *state)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < state->layers; i++) {
        const rung_train_layer *layer = &state->layer[i];
        const struct {
            const char *name;
            double value;
        } scalars[] = {{"gradient", layer->gradient},
                       {"target_loss", layer->target_loss},
                       {"target_accuracy", layer->target_accuracy},
                       {"target_weight", layer->target_weight}};
        size_t count = isnan(layer->target_loss) ? 1 : RUNG_COUNT(scalars);
        for (size_t k = 0; status == RUNG_OK && k < count; k++) {
            char tag[64];
            snprintf(tag, sizeof tag, "layer-%zu/%s", i, scalars[k].name);
            status = rung_events_scalar(log->events, tag, (float)scalars[k].value, state->step, now_s(), log->err);
        }
    }
    return status;
}

static rung_status write_events(tool_train_log *log, const rung_train_state *state, bool evaluated)
{
    const struct {
        const char *tag;
        double value;
        bool wanted;
    } scalars[] = {
        {"train/loss", state->loss, true},          {"train/accuracy", state->accuracy, true},
        {"train/rate", state->rate, true},          {"train/gradient", state->gradient, true},
        {"eval/loss", state->eval_loss, evaluated}, {"eval/accuracy", state->eval_accuracy, evaluated},
    };
    rung_status status = RUNG_OK;
    for (size_t i = 0; log->events && status == RUNG_OK && i < RUNG_COUNT(scalars); i++)
        if (scalars[i].wanted)
            status = rung_events_scalar(log->events, scalars[i].tag, (float)scalars[i].value, state->step, now_s(),
                                        log->err);
    if (log->events) RUNG_NEXT(status, write_layer_events(log, state));
    return status;
}

/* One line that is drawn again on a terminal, as much of it as fits; a line about every ten seconds elsewhere, in a log. */
static void draw(tool_train_log *log, const rung_train_state *state)
{
    bool terminal = isatty(STDERR_FILENO) != 0;
    double now = rung_wall_s();
    if (!log->drawn_s && !terminal) log->drawn_s = now;
    if (log->call->quiet || now - log->drawn_s < (terminal ? 0.1 : LOG_EVERY_S)) return;
    log->drawn_s = now;
    log->drawn = terminal;
    double left = state->seconds / (double)(state->step - log->before) * (double)(log->steps - state->step);
    char text[200], evaluation[40] = "";
    if (!isnan(state->eval_accuracy)) snprintf(evaluation, sizeof evaluation, "  fresh %.4f", state->eval_accuracy);
    snprintf(text, sizeof text, "step %" PRIu64 "/%" PRIu64 "  loss %.4f  accuracy %.4f%s  ETA %d:%02d  %.0f tokens/s",
             state->step, log->steps, state->loss, state->accuracy, evaluation, (int)(left / 60), (int)left % 60,
             state->tokens_per_second);
    if (terminal)
        fprintf(stderr, "\r\033[K%.*s", (int)tool_columns(STDERR_FILENO) - 1, text);
    else
        fprintf(stderr, "%s\n", text);
    fflush(stderr);
}

bool tool_train_watched(void *context, const rung_train_state *state, bool evaluated)
{
    tool_train_log *log = context;
    if (!log->opened) log->status = open_log(log, state);
    bool due = evaluated || (log->options->log_every && state->step % (uint64_t)log->options->log_every == 0);
    if (log->status == RUNG_OK && due) log->status = write_line(log, evaluated ? put_evaluated : put_plain, state);
    if (log->status == RUNG_OK && due) log->status = write_events(log, state, evaluated);
    draw(log, state);
    return log->status == RUNG_OK && !tool_signal_pending();
}

void tool_train_tested(tool_train_log *log, const rung_train_state *state)
{
    if (!state->test_targets) return;
    if (!log->opened) log->status = open_log(log, state);
    if (log->status == RUNG_OK) log->status = write_line(log, put_tested, state);
}

rung_status tool_train_log_close(tool_train_log *log)
{
    if (log->drawn) fputs("\r\033[K", stderr);
    if (log->metrics) fclose(log->metrics);
    rung_events_close(log->events);
    return log->status;
}
