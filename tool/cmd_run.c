/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung run: predictions of a model on a task, in fp32 or in any p-bit format; with --step one prompt token by token
 * and the bits that every position carries over.
 */
#include "output.h"
#include "worker.h"

typedef struct run_values {
    tool_worker_options subject;
    int64_t count, first, form, show;
    bool step;
} run_values;

static const char *const forms[] = {"scan", "step", NULL};

static bool interrupted(void)
{
    return tool_signal_pending() != 0;
}

/* ---- many prompts --------------------------------------------------------------------------------------------- */

static void put_answer(rung_buf *out, const rung_task_conf *task, int32_t answer)
{
    if (answer == RUNG_NO_TARGET)
        rung_buf_puts(out, "no answer");
    else
        rung_task_answer_write(out, task, answer);
}

static void print_tally(rung_buf *out, const rung_tally *t, const rung_task_conf *task)
{
    for (size_t i = 0; i < t->kept_count; i++) {
        const rung_prediction *p = &t->kept[i];
        rung_buf_printf(out, "prompt %llu, position %zu: ", (unsigned long long)p->index, p->position);
        put_answer(out, task, p->answer);
        rung_buf_puts(out, p->answer == p->target ? ", right\n" : ", wrong: it is ");
        if (p->answer == p->target) continue;
        rung_task_answer_write(out, task, p->target);
        rung_buf_putc(out, '\n');
    }
    if (t->kept_count) rung_buf_putc(out, '\n');
    if (t->thoughts) rung_buf_printf(out, "%.1f thoughts per prompt\n", (double)t->thoughts / (double)t->prompts);
    if (!task->answers) {
        rung_buf_printf(out, "%zu prompts, %zu targets: root mean square distance %.6g\n", t->prompts, t->targets,
                        t->rms_distance);
        return;
    }
    rung_buf_printf(out, "%zu prompts, %zu targets, %zu right: accuracy %.4f  95%% interval [%.4f, %.4f]\n", t->prompts,
                    t->targets, t->right, t->accuracy, t->interval.low, t->interval.high);
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

static void json_tally(rung_jout *out, const rung_tally *t, const rung_task_conf *task)
{
    rung_jout_int(out, "prompts", (int64_t)t->prompts);
    rung_jout_int(out, "targets", (int64_t)t->targets);
    rung_jout_int(out, "thoughts", (int64_t)t->thoughts);
    if (!task->answers) {
        rung_jout_real(out, "rms_distance", t->rms_distance);
        return;
    }
    rung_jout_int(out, "right", (int64_t)t->right);
    rung_jout_real(out, "accuracy", t->accuracy);
    rung_jout_flat_array(out, "interval_95");
    rung_jout_real(out, NULL, t->interval.low);
    rung_jout_real(out, NULL, t->interval.high);
    rung_jout_end(out);
    rung_jout_real(out, "chance", task->chance);
    rung_jout_real(out, "majority", task->majority);
    rung_jout_array(out, "predictions");
    for (size_t i = 0; i < t->kept_count; i++) {
        rung_jout_flat_object(out, NULL);
        rung_jout_int(out, "prompt", (int64_t)t->kept[i].index);
        rung_jout_int(out, "position", (int64_t)t->kept[i].position);
        rung_jout_int(out, "target", t->kept[i].target);
        json_answer(out, "answer", t->kept[i].answer);
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

/* ---- one prompt, token by token -------------------------------------------------------------------------------- */

static void print_position(rung_buf *out, const rung_judge *j, size_t t, rung_position_bits bits)
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

static void json_position(rung_jout *out, const rung_judge *j, size_t t, rung_position_bits bits)
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

typedef struct shown {
    rung_buf *text;
    rung_jout *json; /* NULL: text */
    const rung_model *model;
} shown;

static bool show_position(void *context, const rung_judge *j, size_t t)
{
    const shown *s = context;
    if (s->json)
        json_position(s->json, j, t, rung_judge_bits(j, s->model));
    else
        print_position(s->text, j, t, rung_judge_bits(j, s->model));
    return !tool_signal_pending();
}

static rung_status run_steps(rung_buf *text, rung_jout *json, rung_judge *j, const rung_model *model,
                             const tool_call *call, rung_error *err)
{
    const run_values *v = call->values;
    shown s = {text, json, model};
    if (!j->spec->causal)
        return rung_fail(err, RUNG_USAGE, "--step needs a causal model: an encoder carries nothing past a position");
    rung_status status = rung_task_make(&j->instance, j->task, (uint64_t)call->seed, (uint64_t)v->first, err);
    if (json)
        rung_jout_array(json, "positions");
    else
        rung_buf_printf(text, "%8s  %-12s %12s %12s %12s %12s %14s\n", "position", "token", "recurrent", "conv",
                        "window", "cache", "carried bits");
    RUNG_NEXT(status, rung_judge_walk(j, show_position, &s, err));
    if (json) rung_jout_end(json);
    return status;
}

static rung_status run_prompts(rung_tally *t, rung_judge *j, const tool_call *call, rung_error *err)
{
    const run_values *v = call->values;
    rung_progress progress;
    const rung_tally_options conf = {.seed = (uint64_t)call->seed,
                                     .first = (uint64_t)v->first,
                                     .count = (uint64_t)v->count,
                                     .form = (rung_form)(v->form + 1),
                                     .keep = (size_t)v->show,
                                     .progress = &progress,
                                     .interrupted = interrupted};
    tool_call_progress(call, &progress, "prompts", (uint64_t)v->count);
    rung_status status = rung_judge_tally(t, j, &conf, err);
    rung_progress_finish(&progress);
    return status;
}

/* ---- command --------------------------------------------------------------------------------------------------- */

static rung_status run_judged(rung_buf *text, rung_judge *j, const tool_worker *s, const tool_call *call,
                              rung_error *err)
{
    const run_values *v = call->values;
    rung_jout json;
    rung_status status;
    if (call->json) {
        rung_jout_begin(&json, text, "rung.run/1", true);
        tool_worker_json(&json, s, call);
    } else {
        tool_worker_print(text, s);
        rung_buf_putc(text, '\n');
    }
    if (v->step) {
        status = run_steps(text, call->json ? &json : NULL, j, s->model, call, err);
    } else {
        rung_tally t;
        status = run_prompts(&t, j, call, err);
        if (call->json)
            json_tally(&json, &t, &s->task);
        else
            print_tally(text, &t, &s->task);
        rung_tally_clear(&t);
    }
    if (call->json) rung_jout_finish(&json);
    return status;
}

static int run_run(const tool_call *call, rung_error *err)
{
    const run_values *v = call->values;
    tool_worker s;
    rung_program *program = NULL;
    rung_judge j = {0};
    rung_buf text;
    rung_buf_init(&text);
    rung_status status = tool_worker_open(&s, call, &v->subject, err);
    RUNG_NEXT(status, rung_program_new(&program, s.model, &s.how, err));
    RUNG_NEXT(status, rung_judge_init(&j, s.model, program, &s.task, err));
    RUNG_NEXT(status, run_judged(&text, &j, &s, call, err));
    RUNG_NEXT(status, tool_out_buf(&text, err));
    rung_buf_clear(&text);
    rung_judge_clear(&j);
    rung_program_free(program);
    tool_worker_close(&s);
    return status;
}

const tool_command tool_command_run = {
    .name = "run",
    .summary = "predictions of a model, in fp32 or in any p-bit format",
    .details =
        "Without --task the model's own task is used. --numbers fp32 is the fast evaluator; f64, f32, bf16, f16, "
        "eXmY and qI.F round every stored number and every operation to that format, in a fixed order that "
        "docs/numbers.md specifies. Formats may be mixed as servers mix them: a format or served:NAME, then "
        "QUANTITY=FORMAT for weights, act, acc, state, cache, gate, beta; chunk=N stores states every N tokens, and "
        "round=stochastic rounds them by a seed.",
    .examples =
        (const tool_example[]){
            {"rung run m.safetensors --count 1000", "accuracy with its interval, beside the guess levels"},
            {"rung run m.safetensors --numbers e8m3", "every operation rounded to 12-bit floats"},
            {"rung run m.safetensors --numbers served:bf16,state=int8/row",
             "states in 8 bits with scales, the rest bf16"},
            {"rung run m.safetensors --step", "one prompt; what each position carries over"},
            {"rung run m.safetensors --task eva N=16 --json", "for programs"},
            {0},
        },
    .arguments = (const tool_argument[]){RUNG_SUBJECT_ARGUMENT, {0}},
    .pairs = "parameters of the task",
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
