/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung verify: is a model right on its task? On every prompt, on a sample with an interval, or by a proof over all
 * prompts from the extremal ones.
 */
#include <math.h>
#include <stdlib.h>

#include "output.h"
#include "worker.h"

typedef struct verify_values {
    tool_worker_options subject;
    const char *tolerance;
    int64_t samples, show;
    bool exhaustive, worst_case;
} verify_values;

/* Up to so many candidates all of them are tried when nobody says what to do. */
#define EXHAUSTIVE_MOST  1000000
#define SAMPLES_FALLBACK 1000

/* What the output is made of. */
typedef struct report {
    const tool_call *call;
    const tool_worker *subject;
    const rung_verify_options *conf;
    const rung_verify_result *result;
    bool chosen_here; /* the method was not on the command line */
} report;

static bool interrupted(void)
{
    return tool_signal_pending() != 0;
}

/* ---- what to do ------------------------------------------------------------------------------------------------ */

static rung_status choose_method(rung_verify_options *conf, bool *chosen_here, const tool_call *call,
                                 const rung_task_conf *task, rung_error *err)
{
    const verify_values *v = call->values;
    bool sampled = tool_call_given(call, "samples");
    int given = v->exhaustive + sampled + v->worst_case;
    *chosen_here = given == 0;
    if (given > 1) return rung_fail(err, RUNG_USAGE, "choose one of --exhaustive, --samples and --worst-case");
    conf->samples = sampled ? (uint64_t)v->samples : SAMPLES_FALLBACK;
    if (*chosen_here) {
        uint64_t space = rung_task_space(task);
        conf->method = space > 0 && space <= EXHAUSTIVE_MOST ? RUNG_EXHAUSTIVE : RUNG_SAMPLED;
    } else {
        conf->method = v->exhaustive ? RUNG_EXHAUSTIVE : sampled ? RUNG_SAMPLED : RUNG_WORST_CASE;
    }
    return RUNG_OK;
}

static rung_status read_tolerance(double *tolerance, const char *text, rung_error *err)
{
    char *end;
    *tolerance = strtod(text, &end);
    if (end != text && *end == 0 && isfinite(*tolerance) && *tolerance >= 0) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "--tolerance %s is no distance; give a number such as 0.001", text);
}

/* "every prompt, among 8192 candidates" */
static void put_plan(rung_buf *out, const rung_task_conf *task, const rung_verify_options *conf, bool chosen_here)
{
    unsigned long long total = rung_verify_total(task, conf);
    switch (conf->method) {
    case RUNG_EXHAUSTIVE:
        rung_buf_puts(out, "every prompt");
        if (total != UINT64_MAX) rung_buf_printf(out, ", among %llu candidates", total);
        break;
    case RUNG_SAMPLED:
        rung_buf_printf(out, "a sample of %llu prompt%s", total, total == 1 ? "" : "s");
        break;
    case RUNG_WORST_CASE:
        rung_buf_puts(out, "a proof from the worst cases");
        if (total) rung_buf_printf(out, " of %llu queries", total);
        break;
    }
    if (chosen_here && conf->method == RUNG_EXHAUSTIVE)
        rung_buf_printf(out, " (chosen: there are at most %d)", EXHAUSTIVE_MOST);
    if (chosen_here && conf->method == RUNG_SAMPLED)
        rung_buf_printf(out, " (chosen: there are more than %d candidates)", EXHAUSTIVE_MOST);
}

/* ---- text ------------------------------------------------------------------------------------------------------ */

/* A prompt for people is at most a few lines long; --json has all of it. */
enum { SHOWN_HEAD = 24, SHOWN_TAIL = 8 };

static void put_row(rung_buf *out, const rung_instance *instance, const rung_task_conf *task, size_t t)
{
    if (task->vocab) {
        task->task->token_word(out, task, instance->token[t]);
        return;
    }
    rung_buf_putc(out, '(');
    for (size_t c = 0; c < task->d_in; c++)
        rung_buf_printf(out, "%s%g", c ? " " : "", (double)instance->feature[t * task->d_in + c]);
    rung_buf_putc(out, ')');
}

static void put_prompt(rung_buf *out, const rung_instance *instance, const rung_task_conf *task)
{
    bool whole = instance->tokens <= 2 * SHOWN_HEAD;
    for (size_t t = 0; t < instance->tokens; t++) {
        if (!whole && t == SHOWN_HEAD) {
            rung_buf_printf(out, " ... (%zu more)", instance->tokens - SHOWN_HEAD - SHOWN_TAIL);
            t = instance->tokens - SHOWN_TAIL;
        }
        if (t) rung_buf_putc(out, ' ');
        put_row(out, instance, task, t);
    }
}

/* The prompt of a wrong answer, made again. */
static rung_status remake(rung_instance *instance, const report *r, uint64_t index, rung_error *err)
{
    bool is_prompt;
    if (r->conf->method == RUNG_EXHAUSTIVE)
        return rung_task_unrank(instance, &is_prompt, &r->subject->task, index, err);
    return rung_task_make(instance, &r->subject->task, r->conf->seed, index, err);
}

static void print_wrong(rung_buf *out, const rung_wrong *w, const rung_instance *instance, const rung_task_conf *task)
{
    rung_buf_printf(out, "wrong    prompt %llu: ", (unsigned long long)w->index);
    put_prompt(out, instance, task);
    rung_buf_printf(out, "\n         position %zu: ", w->position);
    if (w->why[0]) {
        rung_buf_printf(out, "the model stops: %s\n", w->why);
        return;
    }
    if (!task->answers) {
        rung_buf_printf(out, "%g away from the answer\n", w->distance);
        return;
    }
    if (w->answer == RUNG_NO_TARGET)
        rung_buf_puts(out, "no answer, the chain of thought did not end");
    else
        rung_task_answer_write(out, task, w->answer);
    rung_buf_puts(out, ", and it is ");
    rung_task_answer_write(out, task, w->target);
    rung_buf_putc(out, '\n');
}

static void print_counts(rung_buf *out, const report *r)
{
    const rung_verify_result *result = r->result;
    unsigned long long prompts = result->prompts, wrong = result->wrong;
    if (!result->complete)
        rung_buf_printf(out, "interrupted after %llu candidates: ", (unsigned long long)result->candidates);
    rung_buf_printf(out, "%llu prompt%s, %llu answer%s, ", prompts, prompts == 1 ? "" : "s",
                    (unsigned long long)result->targets, result->targets == 1 ? "" : "s");
    if (wrong)
        rung_buf_printf(out, "%llu prompt%s wrong", wrong, wrong == 1 ? "" : "s");
    else
        rung_buf_puts(out, "all right");
    if (result->method == RUNG_SAMPLED && prompts)
        rung_buf_printf(out, ": error rate %.4g, 95%% interval [%.4g, %.4g]", (double)wrong / (double)prompts,
                        result->error_low, result->error_high);
    else if (result->complete && wrong)
        rung_buf_printf(out, ": error rate %.4g", result->error_low);
    rung_buf_putc(out, '\n');
    if (!r->subject->task.answers)
        rung_buf_printf(out, "largest distance %.6g, tolerance %g\n", result->max_distance, r->conf->tolerance);
}

static rung_status witness_instance(rung_instance *instance, const report *r, rung_error *err)
{
    const rung_verify_result *result = r->result;
    RUNG_TRY(rung_instance_init(instance, &r->subject->task, err));
    instance->tokens = result->witness_tokens;
    for (size_t t = 0; t < result->witness_tokens; t++) instance->token[t] = result->witness[t];
    return RUNG_OK;
}

static rung_status print_worst_case(rung_buf *out, const report *r, rung_error *err)
{
    const rung_verify_result *result = r->result;
    rung_instance witness;
    rung_status status = RUNG_OK;
    rung_buf_printf(out, "%s%s%s  %s\n", tool_style_verdict(result->verdict), rung_verdict_names[result->verdict - 1],
                    tool_style_off(), result->reason);
    if (result->verdict == RUNG_CAN) rung_buf_printf(out, "margin   %.6g\n", result->margin);
    if (result->cases) rung_buf_printf(out, "cases    %llu\n", (unsigned long long)result->cases);
    if (!result->witness) return status;
    status = witness_instance(&witness, r, err);
    RUNG_TRY(status);
    rung_buf_puts(out, "witness  ");
    put_prompt(out, &witness, &r->subject->task);
    rung_buf_putc(out, '\n');
    rung_instance_clear(&witness);
    return status;
}

static rung_status print_report(rung_buf *out, const report *r, rung_error *err)
{
    rung_instance instance;
    const rung_task_conf *task = &r->subject->task;
    tool_worker_print(out, r->subject);
    rung_buf_puts(out, "method   ");
    put_plan(out, task, r->conf, r->chosen_here);
    rung_buf_puts(out, "\n\n");
    if (r->conf->method == RUNG_WORST_CASE) return print_worst_case(out, r, err);
    rung_status status = rung_instance_init(&instance, task, err);
    for (size_t i = 0; status == RUNG_OK && i < r->result->shown; i++) {
        status = remake(&instance, r, r->result->first_wrong[i].index, err);
        if (status == RUNG_OK) print_wrong(out, &r->result->first_wrong[i], &instance, task);
    }
    if (r->result->wrong > r->result->shown && r->result->shown) rung_buf_puts(out, "         ...\n");
    if (r->result->shown) rung_buf_putc(out, '\n');
    print_counts(out, r);
    rung_instance_clear(&instance);
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void json_prompt(rung_jout *out, const rung_instance *instance, const rung_task_conf *task)
{
    rung_buf text;
    rung_jout_array(out, task->vocab ? "tokens" : "features");
    for (size_t t = 0; t < instance->tokens; t++) {
        if (task->vocab) {
            rung_jout_int(out, NULL, (int64_t)instance->token[t]);
            continue;
        }
        rung_jout_array(out, NULL);
        for (size_t c = 0; c < task->d_in; c++) rung_jout_float(out, NULL, instance->feature[t * task->d_in + c]);
        rung_jout_end(out);
    }
    rung_jout_end(out);
    if (!task->vocab) return;
    rung_buf_init(&text);
    rung_task_symbols_write(&text, instance, task);
    if (text.failed) out->buf->failed = true;
    rung_jout_string(out, "text", text.text);
    rung_buf_clear(&text);
}

static void json_wrong(rung_jout *out, const rung_wrong *w, const rung_instance *instance, const rung_task_conf *task)
{
    rung_jout_flat_object(out, NULL);
    rung_jout_int(out, "prompt", (int64_t)w->index);
    rung_jout_int(out, "position", (int64_t)w->position);
    if (task->answers) rung_jout_int(out, "target", w->target);
    if (task->answers && w->answer != RUNG_NO_TARGET)
        rung_jout_int(out, "answer", w->answer);
    else
        rung_jout_null(out, "answer");
    if (!task->answers) rung_jout_real(out, "distance", w->distance);
    rung_jout_string(out, "why", w->why[0] ? w->why : NULL);
    json_prompt(out, instance, task);
    rung_jout_end(out);
}

static rung_status json_counts(rung_jout *out, const report *r, rung_error *err)
{
    const rung_verify_result *result = r->result;
    const rung_task_conf *task = &r->subject->task;
    rung_instance instance;
    rung_jout_int(out, "candidates", (int64_t)result->candidates);
    rung_jout_int(out, "prompts", (int64_t)result->prompts);
    rung_jout_int(out, "targets", (int64_t)result->targets);
    rung_jout_int(out, "wrong", (int64_t)result->wrong);
    rung_jout_flat_array(out, "error_interval_95");
    rung_jout_real(out, NULL, result->error_low);
    rung_jout_real(out, NULL, result->error_high);
    rung_jout_end(out);
    if (!task->answers) {
        rung_jout_real(out, "tolerance", r->conf->tolerance);
        rung_jout_real(out, "max_distance", result->max_distance);
    }
    rung_jout_array(out, "first_wrong");
    rung_status status = rung_instance_init(&instance, task, err);
    for (size_t i = 0; status == RUNG_OK && i < result->shown; i++) {
        status = remake(&instance, r, result->first_wrong[i].index, err);
        if (status == RUNG_OK) json_wrong(out, &result->first_wrong[i], &instance, task);
    }
    rung_jout_end(out);
    rung_instance_clear(&instance);
    return status;
}

static rung_status json_worst_case(rung_jout *out, const report *r, rung_error *err)
{
    const rung_verify_result *result = r->result;
    rung_instance witness;
    rung_jout_string(out, "verdict", rung_verdict_names[result->verdict - 1]);
    rung_jout_string(out, "reason", result->reason);
    if (result->verdict == RUNG_CAN)
        rung_jout_real(out, "margin", result->margin);
    else
        rung_jout_null(out, "margin");
    rung_jout_int(out, "cases", (int64_t)result->cases);
    if (!result->witness) {
        rung_jout_null(out, "witness");
        return RUNG_OK;
    }
    rung_status status = witness_instance(&witness, r, err);
    RUNG_TRY(status);
    rung_jout_flat_object(out, "witness");
    json_prompt(out, &witness, &r->subject->task);
    rung_jout_end(out);
    rung_instance_clear(&witness);
    return status;
}

static rung_status json_report(rung_buf *text, const report *r, rung_error *err)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.verify/1", true);
    tool_worker_json(&out, r->subject, r->call);
    rung_jout_string(&out, "method", rung_method_names[r->conf->method - 1]);
    rung_jout_bool(&out, "complete", r->result->complete);
    rung_status status = r->conf->method == RUNG_WORST_CASE ? json_worst_case(&out, r, err) : json_counts(&out, r, err);
    if (status == RUNG_OK) rung_jout_finish(&out);
    return status;
}

/* ---- command --------------------------------------------------------------------------------------------------- */

/* Says what it is about to do, does it, and lets a signal end it with what has been found so far. */
static rung_status verify(rung_verify_result *result, const tool_worker *s, rung_verify_options *conf, bool chosen_here,
                          const tool_call *call, rung_error *err)
{
    rung_progress progress;
    rung_buf plan;
    rung_buf_init(&plan);
    put_plan(&plan, &s->task, conf, chosen_here);
    if (call->json || chosen_here) tool_note(call, "%s", plan.text ? plan.text : "");
    rung_buf_clear(&plan);
    tool_call_progress(call, &progress, conf->method == RUNG_WORST_CASE ? "queries" : "prompts",
                       rung_verify_total(&s->task, conf));
    conf->progress = &progress;
    conf->interrupted = interrupted;
    tool_signals_defer(true);
    rung_status status = rung_verify_run(result, s->model, &s->task, conf, err);
    rung_progress_finish(&progress);
    return status;
}

static int verify_subject(const tool_worker *s, const tool_call *call, rung_error *err)
{
    const verify_values *v = call->values;
    rung_verify_options conf = {.seed = (uint64_t)call->seed, .how = s->how, .show = (size_t)v->show};
    rung_verify_result *result = rung_calloc(1, sizeof *result, err);
    report r = {.call = call, .subject = s, .conf = &conf, .result = result};
    rung_buf text;
    rung_buf_init(&text);
    rung_status status = result ? read_tolerance(&conf.tolerance, v->tolerance, err) : RUNG_SYSTEM;
    RUNG_NEXT(status, choose_method(&conf, &r.chosen_here, call, &s->task, err));
    RUNG_NEXT(status, verify(result, s, &conf, r.chosen_here, call, err));
    RUNG_NEXT(status, call->json ? json_report(&text, &r, err) : print_report(&text, &r, err));
    RUNG_NEXT(status, tool_out_buf(&text, err));
    bool negative = status == RUNG_OK && (result->wrong > 0 || result->verdict == RUNG_CANNOT);
    rung_buf_clear(&text);
    if (result) rung_verify_clear(result);
    free(result);
    return negative ? RUNG_NEGATIVE : (int)status;
}

static int run_verify(const tool_call *call, rung_error *err)
{
    const verify_values *v = call->values;
    tool_worker s;
    rung_status status = tool_worker_open(&s, call, &v->subject, err);
    int code = status == RUNG_OK ? verify_subject(&s, call, err) : (int)status;
    tool_worker_close(&s);
    return code;
}

const tool_command tool_command_verify = {
    .name = "verify",
    .summary = "is a model right: on every prompt, on a sample, or in the worst case",
    .details =
        "--exhaustive runs every prompt of the task and counts the wrong ones; what it says is then a fact about the "
        "model, not an estimate. --samples draws prompts and gives the 95 % interval of Clopper and Pearson for the "
        "rate of wrong ones. --worst-case proves or refutes from the extremal prompts, for one attention layer on "
        "eva, index, percom or two-sum, and says CAN, CANNOT with a prompt that goes wrong, or UNKNOWN with the "
        "reason.\n"
        "Without any of them: every prompt if there are at most a million candidates, else 1000 samples. A model that "
        "stops (not a number, a key that its table does not have) has given a wrong answer. The result never depends "
        "on the threads.",
    .examples =
        (const tool_example[]){
            {"rung verify m.safetensors", "every prompt of its task if that is feasible, else a sample"},
            {"rung verify m.safetensors --exhaustive --numbers e8m3", "every prompt, every operation in 12-bit floats"},
            {"rung verify m.safetensors --samples 100000 --show 3", "the rate of wrong answers with its interval"},
            {"rung verify m.safetensors --worst-case --numbers f32",
             "a proof over all prompts, or a prompt that fails"},
            {"rung verify m.safetensors --numbers bf16 --softmax two-pass", "another order of the softmax"},
            {0},
        },
    .arguments = (const tool_argument[]){RUNG_SUBJECT_ARGUMENT, {0}},
    .pairs = "parameters of the task",
    .options =
        (const rung_option[]){
            {.name = "exhaustive",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(verify_values, exhaustive),
             .help = "every prompt of the task"},
            {.name = "samples",
             .letter = 'n',
             .kind = RUNG_OPTION_INT,
             .at = offsetof(verify_values, samples),
             .metavar = "N",
             .help = "so many random prompts",
             .low = 1,
             .high = INT64_MAX / 2},
            {.name = "worst-case",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(verify_values, worst_case),
             .help = "a proof over all prompts from the extremal ones"},
            {.name = "tolerance",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(verify_values, tolerance),
             .metavar = "X",
             .help = "vector answers: the largest distance that is right",
             .fallback = "0.001"},
            {.name = "show",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(verify_values, show),
             .metavar = "K",
             .help = "wrong answers to print",
             .fallback = "5",
             .low = 0,
             .high = RUNG_WRONG_MAX},
            RUNG_SUBJECT_OPTIONS(verify_values, subject),
            {0},
        },
    .values_size = sizeof(verify_values),
    .negative = "a wrong answer was found, or the worst case refuted",
    .run = run_verify,
};
