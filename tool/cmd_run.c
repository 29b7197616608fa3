/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung run: predictions of a model on a task, in fp32 or in any p-bit format; with --step one prompt token by token
 * and the bits that every position carries over.
 */
#include <stdlib.h>
#include <string.h>

#include "evaluation.h"
#include "interval.h"
#include "json_out.h"
#include "output.h"

typedef struct run_values {
    const char *task, *numbers;
    int64_t count, first, form, threads, show;
    bool step;
} run_values;

static const char *const forms[] = {"scan", "step", NULL};

/* One answered target. */
typedef struct prediction {
    uint64_t index;
    size_t position;
    int32_t target, answer;
} prediction;

typedef struct tally {
    size_t prompts, targets, right;
    double squared_error; /* vector targets: sum over targets of the squared distance */
    prediction *shown;
    size_t shown_count;
} tally;

static rung_status choose_task(rung_evaluation *b, const rung_call *call, rung_error *err)
{
    const run_values *v = call->values;
    const rung_model_spec *spec = rung_model_get_spec(b->model);
    if (!v->task && call->words)
        return rung_fail(err, RUNG_USAGE, "'%s' is a parameter of which task? add --task NAME", call->word[0]);
    if (!v->task && !*spec->task)
        return rung_fail(err, RUNG_USAGE, "the model names no task; add --task NAME ('rung list tasks')");
    rung_status status = v->task ? rung_task_conf_init(&b->task, v->task, call->word, call->words, err)
                                 : rung_task_conf_parse(&b->task, spec->task, err);
    if (status != RUNG_OK) return status;
    size_t wide = b->task.answers ? b->task.answers : b->task.d_out;
    if (b->task.vocab != spec->vocab || b->task.d_in != spec->d_in || wide != spec->answers)
        return rung_fail(
            err, RUNG_USAGE,
            "the model has %zu tokens (or %zu features) and %zu answers, the task %s %zu (%zu) and %zu; it was "
            "made for: %s",
            spec->vocab, spec->d_in, spec->answers, b->task.task->name, b->task.vocab, b->task.d_in, wide,
            *spec->task ? spec->task : "no task");
    return RUNG_OK;
}

static rung_status choose_numbers(rung_fmt *fmt, bool *exact, const char *name, rung_error *err)
{
    *exact = strcmp(name, "fp32") != 0;
    return *exact ? rung_fmt_parse(fmt, name, err) : RUNG_OK;
}

static rung_status open_evaluation(rung_evaluation *b, const rung_call *call, rung_error *err)
{
    const run_values *v = call->values;
    rung_fmt fmt;
    bool exact;
    rung_status status = choose_numbers(&fmt, &exact, v->numbers, err);
    if (status == RUNG_OK) status = rung_model_open(&b->model, call->argument[0], err);
    if (status == RUNG_OK) status = choose_task(b, call, err);
    if (status == RUNG_OK) status = rung_evaluation_start(b, exact ? &fmt : NULL, (size_t)v->threads, err);
    return status;
}

/* ---- many prompts --------------------------------------------------------------------------------------------- */

static double squared_distance(const double *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (a[i] - (double)b[i]) * (a[i] - (double)b[i]);
    return sum;
}

static void score(tally *t, const rung_evaluation *b, size_t targets, uint64_t index, size_t show)
{
    for (size_t i = 0; i < targets; i++) {
        const double *row = b->out + i * b->wide;
        t->targets++;
        if (!b->task.answers) {
            t->squared_error += squared_distance(row, b->instance.target_value + b->at[i] * b->wide, b->wide);
            continue;
        }
        prediction p = {index, b->at[i], b->instance.target[b->at[i]], (int32_t)rung_argmax(row, b->wide)};
        t->right += p.answer == p.target;
        if (t->shown_count < show) t->shown[t->shown_count++] = p;
    }
}

static rung_status run_prompts(tally *t, rung_evaluation *b, const rung_call *call, rung_error *err)
{
    const run_values *v = call->values;
    rung_progress progress;
    rung_status status = RUNG_OK;
    rung_call_progress(call, &progress, "prompts", (uint64_t)v->count);
    for (int64_t i = 0; status == RUNG_OK && i < v->count && !rung_signal_pending(); i++) {
        uint64_t index = (uint64_t)(v->first + i);
        status = rung_task_make(&b->instance, &b->task, (uint64_t)call->seed, index, err);
        if (status != RUNG_OK) break;
        size_t targets = rung_evaluation_targets(b);
        rung_prompt prompt = rung_evaluation_prompt(b, 0, b->instance.tokens);
        rung_session_reset(b->session);
        status = rung_evaluation_room(b, targets, err);
        if (status != RUNG_OK) break;
        status = rung_session_run(b->session, b->out, &prompt, (rung_form)(v->form + 1), b->at, targets, err);
        if (status != RUNG_OK) rung_fail_at(err, status, "prompt %llu", (unsigned long long)index);
        if (status == RUNG_OK) score(t, b, targets, index, (size_t)v->show);
        t->prompts++;
        rung_progress_tick(&progress, (uint64_t)i + 1);
    }
    rung_progress_finish(&progress);
    return status;
}

static void print_tally(rung_buf *out, const tally *t, const rung_evaluation *b)
{
    for (size_t i = 0; i < t->shown_count; i++) {
        const prediction *p = &t->shown[i];
        rung_buf_printf(out, "prompt %llu, position %zu: ", (unsigned long long)p->index, p->position);
        rung_task_answer_write(out, &b->task, p->answer);
        rung_buf_puts(out, p->answer == p->target ? ", right\n" : ", wrong: it is ");
        if (p->answer == p->target) continue;
        rung_task_answer_write(out, &b->task, p->target);
        rung_buf_putc(out, '\n');
    }
    if (t->shown_count) rung_buf_putc(out, '\n');
    if (!b->task.answers) {
        rung_buf_printf(out, "%zu prompts, %zu targets: root mean square distance %.6g\n", t->prompts, t->targets,
                        t->targets ? sqrt(t->squared_error / (double)t->targets) : 0.0);
        return;
    }
    rung_interval interval = rung_wilson(t->right, t->targets);
    rung_buf_printf(out, "%zu prompts, %zu targets, %zu right: accuracy %.4f  95%% interval [%.4f, %.4f]\n", t->prompts,
                    t->targets, t->right, t->targets ? (double)t->right / (double)t->targets : 0.0, interval.low,
                    interval.high);
    rung_buf_printf(out, "a uniform guess scores %.4f, the best guess without the query %.4f\n", b->task.chance,
                    b->task.majority);
}

static void json_tally(rung_jout *out, const tally *t, const rung_evaluation *b)
{
    rung_jout_int(out, "prompts", (int64_t)t->prompts);
    rung_jout_int(out, "targets", (int64_t)t->targets);
    if (!b->task.answers) {
        rung_jout_real(out, "rms_distance", t->targets ? sqrt(t->squared_error / (double)t->targets) : 0);
        return;
    }
    rung_interval interval = rung_wilson(t->right, t->targets);
    rung_jout_int(out, "right", (int64_t)t->right);
    rung_jout_real(out, "accuracy", t->targets ? (double)t->right / (double)t->targets : 0);
    rung_jout_flat_array(out, "interval_95");
    rung_jout_real(out, NULL, interval.low);
    rung_jout_real(out, NULL, interval.high);
    rung_jout_end(out);
    rung_jout_real(out, "chance", b->task.chance);
    rung_jout_real(out, "majority", b->task.majority);
    rung_jout_array(out, "predictions");
    for (size_t i = 0; i < t->shown_count; i++) {
        rung_jout_flat_object(out, NULL);
        rung_jout_int(out, "prompt", (int64_t)t->shown[i].index);
        rung_jout_int(out, "position", (int64_t)t->shown[i].position);
        rung_jout_int(out, "target", t->shown[i].target);
        rung_jout_int(out, "answer", t->shown[i].answer);
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

/* ---- one prompt, token by token --------------------------------------------------------------------------------- */

typedef struct position_bits {
    uint64_t recurrent, conv, window, cache, total;
} position_bits;

static position_bits bits_now(const rung_session *session, size_t layers)
{
    position_bits bits = {0};
    uint64_t p = (uint64_t)rung_session_number_bits(session);
    for (size_t i = 0; i < layers; i++) {
        rung_carry carry = rung_session_carry(session, i);
        bits.recurrent += p * carry.recurrent, bits.conv += p * carry.conv;
        bits.window += p * carry.window, bits.cache += p * carry.cache;
    }
    bits.total = rung_session_state_bits(session);
    return bits;
}

static void print_position(rung_buf *out, const rung_evaluation *b, size_t t, position_bits bits)
{
    rung_buf word;
    rung_buf_init(&word);
    if (b->task.task->token_word && b->task.vocab)
        b->task.task->token_word(&word, &b->task, b->instance.token[t]);
    else
        rung_buf_puts(&word, "(vector)");
    rung_buf_printf(out, "%8zu  %-12s %12llu %12llu %12llu %12llu %14llu", t, word.text,
                    (unsigned long long)bits.recurrent, (unsigned long long)bits.conv, (unsigned long long)bits.window,
                    (unsigned long long)bits.cache, (unsigned long long)bits.total);
    int32_t target = b->instance.target[t];
    if (target != RUNG_NO_TARGET && b->task.answers) {
        int32_t answer = (int32_t)rung_argmax(b->out, b->wide);
        rung_buf_puts(out, "   answers ");
        rung_task_answer_write(out, &b->task, answer);
        rung_buf_puts(out, answer == target ? " (right)" : " (wrong)");
    }
    rung_buf_putc(out, '\n');
    rung_buf_clear(&word);
}

static void json_position(rung_jout *out, const rung_evaluation *b, size_t t, position_bits bits)
{
    rung_jout_flat_object(out, NULL);
    rung_jout_int(out, "position", (int64_t)t);
    if (b->task.vocab) rung_jout_int(out, "token", (int64_t)b->instance.token[t]);
    rung_jout_int(out, "recurrent_bits", (int64_t)bits.recurrent);
    rung_jout_int(out, "conv_bits", (int64_t)bits.conv);
    rung_jout_int(out, "window_bits", (int64_t)bits.window);
    rung_jout_int(out, "cache_bits", (int64_t)bits.cache);
    rung_jout_int(out, "carried_bits", (int64_t)bits.total);
    if (b->instance.target[t] != RUNG_NO_TARGET && b->task.answers) {
        rung_jout_int(out, "target", b->instance.target[t]);
        rung_jout_int(out, "answer", (int64_t)rung_argmax(b->out, b->wide));
    }
    rung_jout_end(out);
}

static rung_status run_steps(rung_buf *text, rung_jout *json, rung_evaluation *b, const rung_call *call,
                             rung_error *err)
{
    const run_values *v = call->values;
    const size_t last = 0;
    size_t layers = rung_model_get_arch(b->model)->layer_count;
    if (!rung_model_get_spec(b->model)->causal)
        return rung_fail(err, RUNG_USAGE, "--step needs a causal model: an encoder carries nothing past a position");
    rung_status status = rung_task_make(&b->instance, &b->task, (uint64_t)call->seed, (uint64_t)v->first, err);
    if (status == RUNG_OK) status = rung_evaluation_room(b, 1, err);
    if (json)
        rung_jout_array(json, "positions");
    else
        rung_buf_printf(text, "%8s  %-12s %12s %12s %12s %12s %14s\n", "position", "token", "recurrent", "conv",
                        "window", "cache", "carried bits");
    for (size_t t = 0; status == RUNG_OK && t < b->instance.tokens && !rung_signal_pending(); t++) {
        rung_prompt prompt = rung_evaluation_prompt(b, t, 1);
        status = rung_session_run(b->session, b->out, &prompt, RUNG_FORM_STEP, &last, 1, err);
        if (status != RUNG_OK) break;
        if (json)
            json_position(json, b, t, bits_now(b->session, layers));
        else
            print_position(text, b, t, bits_now(b->session, layers));
    }
    if (json) rung_jout_end(json);
    return status;
}

/* ---- command ------------------------------------------------------------------------------------------------------ */

static void print_head(rung_buf *out, const rung_evaluation *b, const rung_call *call)
{
    const run_values *v = call->values;
    char digest[65];
    rung_model_digest(digest, b->model);
    rung_buf_printf(out, "model    %s, %zu parameters, sha256 %.12s\n", rung_model_get_spec(b->model)->arch,
                    rung_model_parameters(b->model), digest);
    rung_buf_puts(out, "task     ");
    rung_task_canonical(out, &b->task);
    rung_buf_printf(out, "\nnumbers  %s\n\n", strcmp(v->numbers, "fp32") ? v->numbers : "fp32, fast evaluator");
}

static void json_head(rung_jout *out, const rung_evaluation *b, const rung_call *call)
{
    const run_values *v = call->values;
    char digest[65];
    rung_buf task;
    rung_buf_init(&task);
    rung_task_canonical(&task, &b->task);
    rung_model_digest(digest, b->model);
    rung_jout_string(out, "model", call->argument[0]);
    rung_jout_string(out, "sha256", digest);
    rung_jout_string(out, "arch", rung_model_get_spec(b->model)->arch);
    rung_jout_string(out, "task", task.text);
    rung_jout_string(out, "numbers", v->numbers);
    rung_jout_int(out, "number_bits", rung_session_number_bits(b->session));
    rung_jout_int(out, "seed", call->seed);
    rung_buf_clear(&task);
}

static rung_status run_opened(rung_buf *text, rung_evaluation *b, const rung_call *call, rung_error *err)
{
    const run_values *v = call->values;
    rung_jout json;
    rung_status status;
    if (call->json) {
        rung_jout_begin(&json, text, "rung.run/1", true);
        json_head(&json, b, call);
    } else {
        print_head(text, b, call);
    }
    if (v->step) {
        status = run_steps(text, call->json ? &json : NULL, b, call, err);
    } else {
        tally t = {.shown = rung_calloc((size_t)v->show + 1, sizeof *t.shown, err)};
        status = t.shown ? run_prompts(&t, b, call, err) : RUNG_SYSTEM;
        if (call->json)
            json_tally(&json, &t, b);
        else
            print_tally(text, &t, b);
        free(t.shown);
    }
    if (call->json) rung_jout_finish(&json);
    return status;
}

static int run_run(const rung_call *call, rung_error *err)
{
    rung_evaluation b = {0};
    rung_buf text;
    rung_buf_init(&text);
    rung_status status = open_evaluation(&b, call, err);
    if (status == RUNG_OK) status = run_opened(&text, &b, call, err);
    if (status == RUNG_OK) status = rung_out_buf(&text, err);
    rung_buf_clear(&text);
    rung_evaluation_close(&b);
    return status;
}

const rung_command rung_command_run = {
    .name = "run",
    .summary = "predictions of a model, in fp32 or in any p-bit format",
    .details =
        "Without --task the model's own task is used. --numbers fp32 is the fast evaluator; f64, f32, bf16, f16, "
        "eXmY and qI.F round every stored number and every operation to that format, in a fixed order that "
        "docs/numbers.md specifies.",
    .examples =
        (const rung_example[]){
            {"rung run m.safetensors --count 1000", "accuracy with its interval, beside the guess levels"},
            {"rung run m.safetensors --numbers e8m3", "every operation rounded to 12-bit floats"},
            {"rung run m.safetensors --step", "one prompt; what each position carries over"},
            {"rung run m.safetensors --task eva N=16 --json", "for programs"},
            {0},
        },
    .arguments =
        (const rung_argument[]){
            {.metavar = "MODEL",
             .help = "a .safetensors model of ours",
             .least = 1,
             .most = 1,
             .complete = RUNG_COMPLETE_FILE},
            {0},
        },
    .words = "parameters of the task",
    .options =
        (const rung_option[]){
            {.name = "task",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(run_values, task),
             .metavar = "TASK",
             .help = "another task than the model's own",
             .names = rung_task_name_at},
            {.name = "numbers",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(run_values, numbers),
             .metavar = "FORMAT",
             .help = "fp32 (fast), or f64, f32, bf16, f16, eXmY, qI.F (exact)",
             .fallback = "fp32"},
            {.name = "count",
             .letter = 'n',
             .kind = RUNG_OPTION_INT,
             .at = offsetof(run_values, count),
             .metavar = "N",
             .help = "prompts",
             .fallback = "100",
             .low = 1,
             .high = INT32_MAX},
            {.name = "first",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(run_values, first),
             .metavar = "I",
             .help = "index of the first prompt",
             .fallback = "0",
             .low = 0,
             .high = INT64_MAX / 2},
            {.name = "show",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(run_values, show),
             .metavar = "N",
             .help = "predictions to print one by one",
             .fallback = "5",
             .low = 0,
             .high = 1 << 24},
            {.name = "step",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(run_values, step),
             .help = "one prompt token by token, with the bits carried past each position"},
            {.name = "form",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(run_values, form),
             .metavar = "FORM",
             .help = "how mechanisms are run; exact results are the same",
             .fallback = "scan",
             .choices = forms},
            RUNG_OPTION_THREADS(run_values, threads),
            {0},
        },
    .values_size = sizeof(run_values),
    .run = run_run,
};
