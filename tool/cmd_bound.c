/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung bound: what the layers of an architecture hold, and what they provably cannot do.
 */
#include <stdlib.h>
#include <string.h>

#include "bound_ask.h"
#include "bound_ledger.h"
#include "bound_plan.h"
#include "catalog.h"
#include "output.h"
#include "rung/audit.h"
#include "rung/par.h"

typedef struct bound_values {
    tool_ledger_options options;
    const char *task, *kernel, *thoughts;
    int64_t n, expect, solve, samples, threads;
    bool tokens_after, no_thresholds, no_weights, plan, check, published;
    const char *proof, *against;
} bound_values;

/* ---- one answer per input -------------------------------------------------------------------------------------- */

typedef struct outcome {
    rung_decision decision;   /* when there is a task */
    rung_solved *solved;      /* NULL without --solve */
    rung_published published; /* with --published */
    rung_formats *formats;    /* with --numbers-against */
    rung_status status;
    rung_error err;
} outcome;

typedef struct job {
    const tool_call *call;
    const rung_claim_spec *about;
    rung_decide_options means;
    const tool_bound_input *inputs;
    size_t count;
    outcome *outcomes;
} job;

/* The set of --numbers, then those of --numbers-against. */
static rung_status compare_formats(outcome *o, const job *j, const tool_bound_input *input)
{
    const bound_values *v = j->call->values;
    if (!v->against) return RUNG_OK;
    o->formats = rung_calloc(1, sizeof *o->formats, &o->err);
    if (!o->formats) return RUNG_SYSTEM;
    rung_status status = rung_formats_parse(o->formats, v->options.numbers, &o->err);
    RUNG_NEXT(status, rung_formats_parse(o->formats, v->against, &o->err));
    RUNG_NEXT(status, rung_formats_ask(o->formats, input->subject, j->about, &o->err));
    return status;
}

static rung_status answer(outcome *o, const job *j, const tool_bound_input *input)
{
    const bound_values *v = j->call->values;
    if (!j->about->task) return RUNG_OK;
    rung_status status = v->published ? rung_published_of(&o->published, input->claim, &o->err) : RUNG_OK;
    RUNG_NEXT(status, rung_decide(&o->decision, input->claim, &j->means, &o->err));
    RUNG_NEXT(status, compare_formats(o, j, input));
    if (status != RUNG_OK || !tool_call_given(j->call, "solve")) return status;
    rung_solve_options conf = {(rung_solve)v->solve, input->subject, j->about, &j->means};
    o->solved = rung_calloc(1, sizeof *o->solved, &o->err);
    return o->solved ? rung_solve_run(o->solved, &conf, &o->err) : RUNG_SYSTEM;
}

static void answer_item(void *context, size_t item, size_t worker)
{
    const job *j = context;
    (void)worker;
    j->outcomes[item].status = answer(&j->outcomes[item], j, &j->inputs[item]);
}

static rung_status first_failure(const job *j, rung_error *err)
{
    for (size_t i = 0; i < j->count; i++) {
        if (j->outcomes[i].status == RUNG_OK) continue;
        *err = j->outcomes[i].err;
        return j->outcomes[i].status;
    }
    return RUNG_OK;
}

/* ---- the proof for Coq ----------------------------------------------------------------------------------------- */

/* --proof and --check, of the only input. *missing says why there is nothing to write. */
static rung_status prove(const char **missing, const job *j, rung_error *err)
{
    const bound_values *v = j->call->values;
    rung_proof *coq = &j->outcomes[0].decision.coq;
    *missing = NULL;
    if (!v->proof && !v->check) return RUNG_OK;
    if (!coq->written) {
        *missing = coq->why[0] ? coq->why : "the verdict is not CANNOT by a theorem";
        return RUNG_OK;
    }
    rung_status status = v->proof ? rung_file_write(v->proof, coq->text.text, coq->text.len, err) : RUNG_OK;
    return status == RUNG_OK && v->check ? rung_coq_check(coq, err) : status;
}

/* ---- output ---------------------------------------------------------------------------------------------------- */

static void json_one(rung_jout *out, const job *j, size_t i)
{
    rung_decision_json(out, j->inputs[i].claim, j->inputs[i].text, j->about->task ? &j->outcomes[i].decision : NULL);
    if (j->outcomes[i].solved) rung_solved_json(out, j->outcomes[i].solved);
    if (j->outcomes[i].formats) rung_formats_json(out, j->outcomes[i].formats);
    if (((const bound_values *)j->call->values)->published) rung_published_json(out, &j->outcomes[i].published);
}

static void json_all(rung_buf *text, const job *j)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.bound/3", true);
    if (j->call->arguments == 1) {
        json_one(&out, j, 0);
    } else {
        rung_jout_array(&out, "results");
        for (size_t i = 0; i < j->count; i++) {
            rung_jout_object(&out, NULL);
            json_one(&out, j, i);
            rung_jout_end(&out);
        }
        rung_jout_end(&out);
    }
    rung_jout_finish(&out);
}

static void print_all(rung_buf *out, const job *j)
{
    for (size_t i = 0; i < j->count; i++) {
        const outcome *o = &j->outcomes[i];
        if (i) rung_buf_putc(out, '\n');
        if (o->solved)
            tool_solved_print(out, &j->inputs[i], o->solved);
        else
            tool_bound_print(out, &j->inputs[i], j->about->task ? &o->decision : NULL);
        if (((const bound_values *)j->call->values)->published) tool_published_print(out, &o->published);
        if (o->formats) tool_formats_print(out, o->formats);
    }
}

static bool as_expected(const tool_call *call, rung_verdict verdict, const char *of)
{
    const bound_values *v = call->values;
    if (!tool_call_given(call, "expect") || (int64_t)verdict == v->expect + 1) return true;
    tool_note(call, "expected %s, and %s is %s", rung_verdict_names[v->expect], of, rung_verdict_names[verdict - 1]);
    return false;
}

static int finish(const job *j, rung_error *err)
{
    rung_buf text;
    bool expected = true;
    const char *missing;
    rung_error unproved;
    rung_status proved = prove(&missing, j, &unproved);
    rung_buf_init(&text);
    if (j->call->json)
        json_all(&text, j);
    else
        print_all(&text, j);
    rung_status status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    for (size_t i = 0; i < j->count; i++) {
        rung_verdict verdict = j->about->task ? j->outcomes[i].decision.verdict : RUNG_UNKNOWN;
        if (!as_expected(j->call, verdict, j->inputs[i].text)) expected = false;
    }
    if (missing) tool_note(j->call, "there is no proof for Coq: %s", missing);
    if (status == RUNG_OK && proved != RUNG_OK) *err = unproved, status = proved;
    return status != RUNG_OK ? (int)status : expected && !missing ? 0 : RUNG_NEGATIVE;
}

/* ---- command --------------------------------------------------------------------------------------------------- */

/* Options that would do nothing should not do it in silence. */
static void note_unused(const tool_call *call, const tool_bound_inputs *inputs)
{
    static const char *const about_archs[] = {"heads", "head-dim", "dk", "dv"};
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->at[i].is_arch) return;
    for (size_t i = 0; i < RUNG_COUNT(about_archs); i++)
        if (tool_call_given(call, about_archs[i]))
            tool_note(call, "--%s is for layers as text; files say it themselves", about_archs[i]);
}

static bool interrupted(void)
{
    return tool_signal_pending() != 0;
}

static int run_inputs(const tool_call *call, const rung_claim_spec *about, rung_error *err)
{
    const bound_values *v = call->values;
    job j = {.call = call,
             .about = about,
             .means = {.bounds = true,
                       .thresholds = !v->no_thresholds && !tool_call_given(call, "solve"),
                       .weights = !v->no_weights,
                       .work = RUNG_DECIDE_QUICK,
                       .samples = (uint64_t)v->samples,
                       .seed = (uint64_t)call->seed,
                       .threads = call->arguments > 1 ? 1 : (size_t)v->threads,
                       .interrupted = interrupted}};
    tool_bound_inputs inputs;
    RUNG_TRY(tool_bound_inputs_open(&inputs, call, &v->options, about, err));
    j.inputs = inputs.at;
    j.count = inputs.count;
    note_unused(call, &inputs);
    j.outcomes = rung_calloc(j.count, sizeof *j.outcomes, err);
    if (j.outcomes) rung_par_for(j.count, (size_t)v->threads, answer_item, &j);
    int code = j.outcomes ? (int)first_failure(&j, err) : RUNG_SYSTEM;
    if (code == RUNG_OK) code = finish(&j, err);
    for (size_t i = 0; j.outcomes && i < j.count; i++) {
        rung_decision_clear(&j.outcomes[i].decision);
        free(j.outcomes[i].solved);
        free(j.outcomes[i].formats);
    }
    free(j.outcomes);
    return tool_bound_inputs_close(&inputs, code, err);
}

static int run_plan(const tool_call *call, const rung_claim_spec *about, rung_error *err)
{
    const bound_values *v = call->values;
    rung_plan_options conf = rung_decide_plan(about);
    conf.pair = call->pair, conf.pairs = call->pairs;
    conf.samples = (uint64_t)v->samples, conf.seed = (uint64_t)call->seed;
    conf.threads = (size_t)v->threads, conf.interrupted = interrupted;
    rung_plan plan;
    rung_buf text;
    if (about->kernel == RUNG_KERNEL_EAGER || about->kernel == RUNG_KERNEL_SPLIT || about->kernel == RUNG_KERNEL_TILES)
        return (int)rung_fail(err, RUNG_USAGE,
                              "--plan runs what it proposes in the exact evaluator; take --kernel online, two-pass or "
                              "reverse");
    rung_status status = rung_decide_plan_check(&conf, err);
    if (status != RUNG_OK) return (int)status;
    tool_signals_defer(true);
    status = rung_plan_search(&plan, &conf, err);
    if (status == RUNG_OK) {
        rung_buf_init(&text);
        if (call->json)
            rung_plan_json(&text, &plan, &conf);
        else
            tool_plan_print(&text, &plan, &conf);
        status = tool_out_buf(&text, err);
        rung_buf_clear(&text);
    }
    bool expected = status != RUNG_OK || as_expected(call, plan.verdict, "the plan");
    rung_plan_clear(&plan);
    return status != RUNG_OK ? (int)status : expected ? 0 : RUNG_NEGATIVE;
}

static rung_status check_usage(const tool_call *call, rung_error *err)
{
    const bound_values *v = call->values;
    if (v->plan && call->arguments)
        return rung_fail(err, RUNG_USAGE, "--plan looks for an architecture, and '%s' is one; leave one of them out",
                         call->argument[0]);
    if (!v->plan && !call->arguments)
        return rung_fail(err, RUNG_USAGE, "needs ARCH|FILE: layers such as full,4*linear");
    if ((v->proof || v->check) && (call->arguments != 1 || tool_call_given(call, "solve")))
        return rung_fail(err, RUNG_USAGE,
                         "--proof and --check are about one claim: one ARCH|FILE, without --solve and --plan");
    if (v->proof && !rung_coq_name(v->proof))
        return rung_fail(err, RUNG_USAGE,
                         "--proof %s: coqc wants a name of letters, digits and _ that ends in .v, such as claim.v",
                         v->proof);
    if (v->against && !v->options.numbers)
        return rung_fail(err, RUNG_USAGE,
                         "--numbers-against holds other formats against those of --numbers, which is missing");
    if (v->against && (v->plan || tool_call_given(call, "solve")))
        return rung_fail(err, RUNG_USAGE,
                         "--numbers-against has the smallest n of every set of formats; leave --solve and --plan out");
    if (v->task) return RUNG_OK;
    if (call->pairs)
        return rung_fail(err, RUNG_USAGE, "'%s' is a parameter of which task? add --task NAME", call->pair[0]);
    static const char *const about_tasks[] = {"n",        "solve", "plan",  "expect",    "tokens-after",
                                              "thoughts", "proof", "check", "published", "numbers-against"};
    for (size_t i = 0; i < RUNG_COUNT(about_tasks); i++)
        if (tool_call_given(call, about_tasks[i]))
            return rung_fail(err, RUNG_USAGE, "--%s for which task? add --task NAME ('rung list tasks')",
                             about_tasks[i]);
    return RUNG_OK;
}

/* NULL: none; "any": any number; else their number. */
static rung_status take_thoughts(rung_claim_spec *about, const char *text, rung_error *err)
{
    int64_t count = 0;
    if (!text) return RUNG_OK;
    if (strcmp(text, "any") != 0 && !rung_parse_int(&count, text, 0, 1 << 20))
        return rung_fail(err, RUNG_USAGE, "--thoughts: '%s' is no number from 0 to %d; without one: any number", text,
                         1 << 20);
    if (strcmp(text, "any") == 0 || count) about->at_once = RUNG_VIOLATED;
    about->thoughts = (uint64_t)count;
    return RUNG_OK;
}

static int run_bound(const tool_call *call, rung_error *err)
{
    const bound_values *v = call->values;
    rung_task_conf task;
    rung_status status = check_usage(call, err);
    if (status == RUNG_OK && v->task) status = rung_task_conf_init(&task, v->task, call->pair, call->pairs, err);
    RUNG_TRY(status);
    rung_claim_spec about = rung_claim_spec_of_prompt(v->task ? &task : NULL, (uint64_t)v->n);
    RUNG_TRY(rung_kernel_parse(&about.kernel, &about.tile, v->kernel, err));
    if (v->tokens_after) about.ends = RUNG_VIOLATED;
    RUNG_TRY(take_thoughts(&about, v->thoughts, err));
    RUNG_TRY(tool_read_bits(&about, &v->options, err));
    if (v->plan && about.mixed)
        return rung_fail(err, RUNG_USAGE, "--plan chooses one number format, so it takes --bits, not mixed --numbers");
    return v->plan ? run_plan(call, &about, err) : run_inputs(call, &about, err);
}

static void help_more(rung_buf *out, const tool_call *call)
{
    const bound_values *v = call ? call->values : NULL;
    const rung_task *task = v && v->task ? rung_task_get(v->task) : NULL;
    if (!task) return;
    rung_buf_printf(out, "\n%sParameters of %s%s\n", tool_style_bold(), task->name, tool_style_off());
    tool_params_print(out, task->params);
}

#define FLAG(long_name, field, text)                                                                                   \
    {                                                                                                                  \
        .name = long_name, .kind = RUNG_OPTION_FLAG, .at = offsetof(bound_values, field), .help = text                 \
    }

const tool_command tool_command_bound = {
    .name = "bound",
    .summary = "what layers hold, and what they provably cannot do",
    .details =
        "The ledger of an architecture (state, convolution, window, growing cache, message) and every theorem "
        "about the task with its numbers filled in. CANNOT: a theorem holds at these numbers, in the arithmetic "
        "that the verdict names. CAN: weights of these layers, proved or run on every prompt. SAMPLED: weights "
        "that were right on a sample. UNKNOWN: neither; the margin and the smallest n at which a theorem would "
        "hold are shown. A theorem applies only if every premise that it needs is established; what a file "
        "does not say is not.\n"
        "A file is a Hugging Face config.json (or its directory), a GGUF file, or a .safetensors model of ours. "
        "Without "
        "--n the task has exactly the size that its parameters give; --n N asks about every size with at most N "
        "prompt tokens, and CAN then speaks of the largest one. What the parameters fix stays fixed. Without --task "
        "the ledger alone is shown.\n"
        "--solve turns the question around. --plan looks among the constructions of 'rung build' for the "
        "cheapest layers "
        "(fewest full ones, then fewest bits of state) that solve the task, and says what of it was verified.",
    .examples =
        (const tool_example[]){
            {"rung bound 'full,4*linear' --head-dim 2 --bits 26 --task seqcomp L=2 --n 542",
             "one full layer and four linear ones cannot compose"},
            {"rung bound config.json --task eva --n 1000000",
             "a real model: its layers, and a lookup in a million entries"},
            {"rung bound a/config.json b.gguf '4*(3*gdelta,full)' --json", "ledgers of several, for programs"},
            {"rung bound 'full,4*linear' --head-dim 2 --task seqcomp L=2 --n 1000 --solve p",
             "with how many bits is it still impossible?"},
            {"rung bound '3*full' --head-dim 16 --bits 26 --task seqcomp --n 100 --solve L",
             "how many functions can it compose?"},
            {"rung bound --plan --task seqcomp L=3 --n 1000 --bits 16", "which layers would do, verified"},
            {"rung bound linear --head-dim 2 --task eva N=64 --bits 8 --expect CANNOT", "exit code 1 unless CANNOT"},
            {"rung bound full --head-dim 8 --bits 32 --kernel two-pass --task seqcomp L=2 --n 106",
             "a softmax that takes the maximum of the row first"},
            {"rung bound gdelta --head-dim 16 --task eva V=16 --n 4096 --numbers f32,state=bf16 --numbers-against "
             "'f32 f32,state=int8/row'",
             "what other formats of the state do to the threshold"},
            {"rung bound 'full,4*linear' --head-dim 2 --bits 26 --task seqcomp L=2 --n 542 --proof claim.v",
             "the verdict as a theorem that coqc checks"},
            {0},
        },
    .arguments = (const tool_argument[]){RUNG_LEDGER_ARGUMENT(0), {0}},
    .pairs = "parameters of the task",
    .options =
        (const rung_option[]){
            {.name = "task",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(bound_values, task),
             .metavar = "TASK",
             .help = "a name of 'rung list tasks'",
             .names = rung_task_name_at},
            {.name = "n",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(bound_values, n),
             .metavar = "N",
             .help = "any size of the task with at most so many prompt tokens",
             .low = 1,
             .high = INT64_MAX / 4},
            RUNG_LEDGER_OPTIONS(bound_values, options),
            {.name = "numbers-against",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(bound_values, against),
             .metavar = "SETS",
             .help = "other formats, separated by spaces ('served': all named sets): a line for each with the bits "
                     "that are carried and the smallest n with CANNOT"},
            {.name = "kernel",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(bound_values, kernel),
             .metavar = "ORDER",
             .help = "order of sums: online (left to right), two-pass, eager, split:T, tiles:T, reverse; fast is the "
                     "fp32 evaluator of 'rung run' (docs/kernels.md)",
             .fallback = "online",
             .names = tool_kernel_name_at},
            FLAG("tokens-after", tokens_after, "the prompt goes on after the last token of the task (a template)"),
            {.name = "thoughts",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(bound_values, thoughts),
             .metavar = "T",
             .alone = "any",
             .help = "the model may say at most T thoughts before it answers; without a number: any number"},
            FLAG("no-thresholds", no_thresholds, "do not look for the smallest n; faster for many inputs"),
            FLAG("no-weights", no_weights, "theorems only: do not look for weights that can"),
            {.name = "solve",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(bound_values, solve),
             .metavar = "WHAT",
             .help = "smallest n, or largest p, head dimension, number of recurrent layers, with CANNOT; L: the depth "
                     "of seqcomp",
             .choices = rung_solve_names},
            FLAG("published", published, "also print the numbers of the published theorem for these layers"),
            FLAG("plan", plan, "look for the cheapest layers that can"),
            {.name = "samples",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(bound_values, samples),
             .metavar = "N",
             .help = "prompts of a sample that weights are judged by",
             .fallback = "1000",
             .low = 1,
             .high = 1 << 30},
            {.name = "expect",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(bound_values, expect),
             .metavar = "VERDICT",
             .help = "exit with 1 when the verdict is another",
             .choices = rung_verdict_names},
            {.name = "proof",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(bound_values, proof),
             .metavar = "FILE.v",
             .help = "write the CANNOT as a theorem for coqc; exit with 1 when Coq has no such theorem",
             .complete = RUNG_COMPLETE_FILE},
            FLAG("check", check, "have coqc check that theorem now"),
            RUNG_OPTION_THREADS(bound_values, threads),
            {0},
        },
    .values_size = sizeof(bound_values),
    .negative = "not the verdict of --expect, or no --proof",
    .run = run_bound,
    .help_more = help_more,
};
