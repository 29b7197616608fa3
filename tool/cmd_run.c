/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung run: predictions of a model on a task, in fp32 or in any p-bit format; with --step one prompt token by token
 * and the bits that every position carries over.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "worker.h"

typedef struct run_values {
    rung_worker_words subject;
    int64_t count, first, form, show;
    bool step;
} run_values;

static const char *const forms[] = {"scan", "step", NULL};

/* One answered target. */
typedef struct prediction {
    uint64_t index;
    size_t position;
    int32_t target, answer; /* RUNG_NO_TARGET: the model was still thinking */
} prediction;

typedef struct tally {
    size_t prompts, targets, right;
    size_t thoughts;      /* of all prompts */
    double squared_error; /* vector targets: sum over targets of the squared distance */
    prediction *shown;
    size_t shown_count;
} tally;

/* ---- many prompts --------------------------------------------------------------------------------------------- */

static void score(tally *t, const rung_judge *j, uint64_t index, size_t show)
{
    t->thoughts += j->thoughts;
    for (size_t i = 0; i < j->targets; i++) {
        t->targets++;
        if (!j->task->answers) {
            double distance = rung_judge_distance(j, i);
            t->squared_error += distance * distance;
            continue;
        }
        prediction p = {index, j->at[i], j->instance.target[j->at[i]], rung_judge_answer(j, i)};
        t->right += p.answer == p.target;
        if (t->shown_count < show) t->shown[t->shown_count++] = p;
    }
}

static rung_status run_prompts(tally *t, rung_judge *j, const rung_call *call, rung_error *err)
{
    const run_values *v = call->values;
    rung_progress progress;
    rung_status status = RUNG_OK;
    rung_call_progress(call, &progress, "prompts", (uint64_t)v->count);
    for (int64_t i = 0; status == RUNG_OK && i < v->count && !rung_signal_pending(); i++) {
        uint64_t index = (uint64_t)(v->first + i);
        status = rung_task_make(&j->instance, j->task, (uint64_t)call->seed, index, err);
        if (status != RUNG_OK) break;
        status = rung_judge_run(j, (rung_form)(v->form + 1), err);
        if (status != RUNG_OK) rung_fail_at(err, status, "prompt %llu", (unsigned long long)index);
        if (status == RUNG_OK) score(t, j, index, (size_t)v->show);
        t->prompts++;
        rung_progress_tick(&progress, (uint64_t)i + 1);
    }
    rung_progress_finish(&progress);
    return status;
}

static void put_answer(rung_buf *out, const rung_task_conf *task, int32_t answer)
{
    if (answer == RUNG_NO_TARGET)
        rung_buf_puts(out, "no answer");
    else
        rung_task_answer_write(out, task, answer);
}

static void print_tally(rung_buf *out, const tally *t, const rung_task_conf *task)
{
    for (size_t i = 0; i < t->shown_count; i++) {
        const prediction *p = &t->shown[i];
        rung_buf_printf(out, "prompt %llu, position %zu: ", (unsigned long long)p->index, p->position);
        put_answer(out, task, p->answer);
        rung_buf_puts(out, p->answer == p->target ? ", right\n" : ", wrong: it is ");
        if (p->answer == p->target) continue;
        rung_task_answer_write(out, task, p->target);
        rung_buf_putc(out, '\n');
    }
    if (t->shown_count) rung_buf_putc(out, '\n');
    if (t->thoughts) rung_buf_printf(out, "%.1f thoughts per prompt\n", (double)t->thoughts / (double)t->prompts);
    if (!task->answers) {
        rung_buf_printf(out, "%zu prompts, %zu targets: root mean square distance %.6g\n", t->prompts, t->targets,
                        t->targets ? sqrt(t->squared_error / (double)t->targets) : 0.0);
        return;
    }
    rung_interval interval = rung_wilson(t->right, t->targets);
    rung_buf_printf(out, "%zu prompts, %zu targets, %zu right: accuracy %.4f  95%% interval [%.4f, %.4f]\n", t->prompts,
                    t->targets, t->right, t->targets ? (double)t->right / (double)t->targets : 0.0, interval.low,
                    interval.high);
    rung_buf_printf(out, "a uniform guess scores %.4f, the best guess without the query %.4f\n", task->chance,
                    task->majority);
}

static void json_answer(rung_jout *out, const char *key, int32_t answer)
{
    if (answer == RUNG_NO_TARGET)
        rung_jout_null(out, key);
    else
        rung_jout_int(out, key, answer);
}

static void json_tally(rung_jout *out, const tally *t, const rung_task_conf *task)
{
    rung_jout_int(out, "prompts", (int64_t)t->prompts);
    rung_jout_int(out, "targets", (int64_t)t->targets);
    rung_jout_int(out, "thoughts", (int64_t)t->thoughts);
    if (!task->answers) {
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
    rung_jout_real(out, "chance", task->chance);
    rung_jout_real(out, "majority", task->majority);
    rung_jout_array(out, "predictions");
    for (size_t i = 0; i < t->shown_count; i++) {
        rung_jout_flat_object(out, NULL);
        rung_jout_int(out, "prompt", (int64_t)t->shown[i].index);
        rung_jout_int(out, "position", (int64_t)t->shown[i].position);
        rung_jout_int(out, "target", t->shown[i].target);
        json_answer(out, "answer", t->shown[i].answer);
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

static void print_position(rung_buf *out, const rung_judge *j, size_t t, position_bits bits)
{
    rung_buf word;
    rung_buf_init(&word);
    if (j->task->task->token_word && j->task->vocab)
        j->task->task->token_word(&word, j->task, j->instance.token[t]);
    else
        rung_buf_puts(&word, "(vector)");
    rung_buf_printf(out, "%8zu  %-12s %12llu %12llu %12llu %12llu %14llu", t, word.text,
                    (unsigned long long)bits.recurrent, (unsigned long long)bits.conv, (unsigned long long)bits.window,
                    (unsigned long long)bits.cache, (unsigned long long)bits.total);
    int32_t target = j->instance.target[t];
    if (target != RUNG_NO_TARGET && j->task->answers) {
        int32_t answer = rung_judge_answer(j, 0);
        rung_buf_puts(out, "   answers ");
        put_answer(out, j->task, answer);
        rung_buf_puts(out, answer == target ? " (right)" : " (wrong)");
    }
    rung_buf_putc(out, '\n');
    rung_buf_clear(&word);
}

static void json_position(rung_jout *out, const rung_judge *j, size_t t, position_bits bits)
{
    rung_jout_flat_object(out, NULL);
    rung_jout_int(out, "position", (int64_t)t);
    if (j->task->vocab) rung_jout_int(out, "token", (int64_t)j->instance.token[t]);
    rung_jout_int(out, "recurrent_bits", (int64_t)bits.recurrent);
    rung_jout_int(out, "conv_bits", (int64_t)bits.conv);
    rung_jout_int(out, "window_bits", (int64_t)bits.window);
    rung_jout_int(out, "cache_bits", (int64_t)bits.cache);
    rung_jout_int(out, "carried_bits", (int64_t)bits.total);
    if (j->instance.target[t] != RUNG_NO_TARGET && j->task->answers) {
        rung_jout_int(out, "target", j->instance.target[t]);
        json_answer(out, "answer", rung_judge_answer(j, 0));
    }
    rung_jout_end(out);
}

static rung_status run_steps(rung_buf *text, rung_jout *json, rung_judge *j, const rung_model *model,
                             const rung_call *call, rung_error *err)
{
    const run_values *v = call->values;
    const size_t last = 0;
    size_t layers = rung_model_get_arch(model)->layer_count;
    if (!j->spec->causal)
        return rung_fail(err, RUNG_USAGE, "--step needs a causal model: an encoder carries nothing past a position");
    rung_status status = rung_task_make(&j->instance, j->task, (uint64_t)call->seed, (uint64_t)v->first, err);
    if (json)
        rung_jout_array(json, "positions");
    else
        rung_buf_printf(text, "%8s  %-12s %12s %12s %12s %12s %14s\n", "position", "token", "recurrent", "conv",
                        "window", "cache", "carried bits");
    for (size_t t = 0; status == RUNG_OK && t < j->instance.tokens && !rung_signal_pending(); t++) {
        rung_prompt prompt = rung_judge_prompt(j, t, 1);
        status = rung_session_run(j->session, j->out, &prompt, RUNG_FORM_STEP, &last, 1, err);
        if (status != RUNG_OK) break;
        if (json)
            json_position(json, j, t, bits_now(j->session, layers));
        else
            print_position(text, j, t, bits_now(j->session, layers));
    }
    if (json) rung_jout_end(json);
    return status;
}

/* ---- command ------------------------------------------------------------------------------------------------------ */

static rung_status run_judged(rung_buf *text, rung_judge *j, const rung_worker *s, const rung_call *call,
                              rung_error *err)
{
    const run_values *v = call->values;
    rung_jout json;
    rung_status status;
    if (call->json) {
        rung_jout_begin(&json, text, "rung.run/1", true);
        rung_worker_json(&json, s, call);
    } else {
        rung_worker_print(text, s);
        rung_buf_putc(text, '\n');
    }
    if (v->step) {
        status = run_steps(text, call->json ? &json : NULL, j, s->model, call, err);
    } else {
        tally t = {.shown = rung_calloc((size_t)v->show + 1, sizeof *t.shown, err)};
        status = t.shown ? run_prompts(&t, j, call, err) : RUNG_SYSTEM;
        if (call->json)
            json_tally(&json, &t, &s->task);
        else
            print_tally(text, &t, &s->task);
        free(t.shown);
    }
    if (call->json) rung_jout_finish(&json);
    return status;
}

static int run_run(const rung_call *call, rung_error *err)
{
    const run_values *v = call->values;
    rung_worker s;
    rung_program *program = NULL;
    rung_judge j = {0};
    rung_buf text;
    rung_buf_init(&text);
    rung_status status = rung_worker_open(&s, call, &v->subject, err);
    if (status == RUNG_OK) status = rung_program_new(&program, s.model, &s.how, err);
    if (status == RUNG_OK) status = rung_judge_init(&j, s.model, program, &s.task, err);
    if (status == RUNG_OK) status = run_judged(&text, &j, &s, call, err);
    if (status == RUNG_OK) status = rung_out_buf(&text, err);
    rung_buf_clear(&text);
    rung_judge_clear(&j);
    rung_program_free(program);
    rung_worker_close(&s);
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
    .arguments = (const rung_argument[]){RUNG_SUBJECT_ARGUMENT, {0}},
    .words = "parameters of the task",
    .options =
        (const rung_option[]){
            RUNG_SUBJECT_OPTIONS(run_values, subject),
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
            {0},
        },
    .values_size = sizeof(run_values),
    .run = run_run,
};
