/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung task: instances of a problem with exact answers, in the formats of the programs that use them, and the
 * probe that says what a predictor without attention would score.
 */
#include <ctype.h>
#include <string.h>

#include "catalog.h"
#include "json_out.h"
#include "output.h"
#include "task_export.h"

typedef struct task_values {
    int64_t count, first, format, style, threads;
    const char *out;
    bool leak;
} task_values;

static const char *const styles[] = {"symbols", "facts", NULL};

static const rung_option options[] = {
    {.name = "count",
     .letter = 'n',
     .kind = RUNG_OPTION_INT,
     .at = offsetof(task_values, count),
     .metavar = "N",
     .help = "how many instances",
     .fallback = "10",
     .low = 1,
     .high = INT64_C(1) << 40},
    {.name = "first",
     .kind = RUNG_OPTION_INT,
     .at = offsetof(task_values, first),
     .metavar = "I",
     .help = "index of the first one",
     .fallback = "0",
     .low = 0,
     .high = INT64_C(1) << 62},
    {.name = "format",
     .letter = 'f',
     .kind = RUNG_OPTION_CHOICE,
     .at = offsetof(task_values, format),
     .metavar = "FORMAT",
     .help = "what to write",
     .fallback = "jsonl",
     .choices = rung_task_formats},
    {.name = "style",
     .kind = RUNG_OPTION_CHOICE,
     .at = offsetof(task_values, style),
     .metavar = "STYLE",
     .help = "words of the text",
     .fallback = "symbols",
     .choices = styles},
    {.name = "out",
     .letter = 'o',
     .kind = RUNG_OPTION_STRING,
     .at = offsetof(task_values, out),
     .metavar = "PATH",
     .help = "file to write instead of stdout; a directory for lm-eval and ruler",
     .complete = RUNG_COMPLETE_FILE},
    {.name = "leak",
     .kind = RUNG_OPTION_FLAG,
     .at = offsetof(task_values, leak),
     .help = "no instances: score predictors that cannot solve the task (on --count, default 4096)"},
    RUNG_OPTION_THREADS(task_values, threads),
    {0},
};

/* "rung_eva_N8": the task and what the user set, in letters that every file system and lm-eval accept. */
static void make_stem(char *out, size_t size, const rung_call *call)
{
    size_t len = (size_t)snprintf(out, size, "rung_%s", call->argument[0]);
    for (size_t i = 0; i < call->words && len < size; i++)
        len += (size_t)snprintf(out + len, size - len, "_%s", call->word[i]);
    char *to = out;
    for (const char *from = out; *from; from++)
        if (*from != '=') *to++ = isalnum((unsigned char)*from) ? *from : '_';
    *to = '\0';
}

/* ---- the leak probe ---------------------------------------------------------------------------------------------- */

static bool leaks(const rung_leak *leak)
{
    const double limit = leak->declared + leak->slack;
    return leak->majority > limit || leak->position > limit || leak->frequency > limit;
}

static void leak_row(rung_buf *out, const char *name, double score, const rung_leak *leak, const char *what)
{
    const bool above = score > leak->declared + leak->slack;
    rung_buf_printf(out, "  %-10s %.4f  %s%s\n", name, score, what, above ? "  <- above the limit" : "");
}

static void print_leak(rung_buf *out, const rung_export *job, const rung_leak *leak)
{
    rung_buf_printf(out, "%s, seed %lld: %zu answers tested\n\n", job->canonical, (long long)job->call->seed,
                    leak->tested);
    leak_row(out, "majority", leak->majority, leak, "the most common answer");
    leak_row(out, "position", leak->position, leak, "the most common answer at this position");
    leak_row(out, "frequency", leak->frequency, leak, "the answer that most tokens of the prompt vote for");
    rung_buf_printf(out, "  %-10s %.4f  %.4f needs no query, %.4f is the noise of this test\n", "limit",
                    leak->declared + leak->slack, leak->declared, leak->slack);
    rung_buf_printf(out, "\n%s\n",
                    leaks(leak) ? "leak: the answers can be guessed without solving the task"
                                : "no leak: guessing scores no more than the task declares");
}

static void json_leak(rung_buf *text, const rung_export *job, const rung_leak *leak)
{
    rung_jout json;
    rung_jout_begin(&json, text, "rung.task/1", true);
    rung_jout_string(&json, "task", job->canonical);
    rung_jout_int(&json, "seed", job->call->seed);
    rung_jout_int(&json, "count", (int64_t)job->count);
    rung_jout_object(&json, "leak");
    rung_jout_int(&json, "tested", (int64_t)leak->tested);
    rung_jout_real(&json, "majority", leak->majority);
    rung_jout_real(&json, "position", leak->position);
    rung_jout_real(&json, "frequency", leak->frequency);
    rung_jout_real(&json, "declared", leak->declared);
    rung_jout_real(&json, "slack", leak->slack);
    rung_jout_string(&json, "verdict", leaks(leak) ? "leak" : "no leak");
    rung_jout_end(&json);
    rung_jout_finish(&json);
}

static int run_leak(rung_export *job, rung_error *err)
{
    rung_leak leak;
    if (!rung_call_given(job->call, "count")) job->count = 4096;
    int status = rung_task_leak(&leak, &job->conf, (uint64_t)job->call->seed, (size_t)job->count, err);
    if (status) return status;
    rung_buf text;
    rung_buf_init(&text);
    if (job->call->json)
        json_leak(&text, job, &leak);
    else
        print_leak(&text, job, &leak);
    status = rung_out_buf(&text, err);
    rung_buf_clear(&text);
    if (status) return status;
    return leaks(&leak) ? RUNG_NEGATIVE : RUNG_OK;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int run_job(rung_export *job, bool leak, rung_error *err)
{
    if (!leak) {
        const rung_status status = rung_export_check(job, err);
        return status ? status : rung_export_run(job, err);
    }
    if (job->out || rung_call_given(job->call, "format") || rung_call_given(job->call, "first"))
        return rung_fail(err, RUNG_USAGE, "--leak writes no instances; leave out --out, --format and --first");
    return run_leak(job, err);
}

static int run_task(const rung_call *call, rung_error *err)
{
    const task_values *values = call->values;
    rung_export job = {.call = call,
                       .format = values->format,
                       .facts = values->style == 1,
                       .first = (uint64_t)values->first,
                       .count = (uint64_t)values->count,
                       .threads = values->threads ? (size_t)values->threads : rung_cpu_threads(),
                       .out = values->out};
    int status = rung_task_conf_init(&job.conf, call->argument[0], call->word, call->words, err);
    if (status) return status;
    make_stem(job.stem, sizeof job.stem, call);

    rung_buf canonical;
    rung_buf_init(&canonical);
    rung_task_canonical(&canonical, &job.conf);
    status = rung_buf_ok(&canonical, err);
    job.canonical = canonical.text;
    if (!status) status = run_job(&job, values->leak, err);
    rung_buf_clear(&canonical);
    return status;
}

static void help_more(rung_buf *out, const rung_call *call)
{
    const rung_task *task = call->arguments ? rung_task_get(call->argument[0]) : NULL;
    if (!task) return;
    rung_buf_printf(out, "\n%sParameters of %s%s\n", rung_style_bold(), task->name, rung_style_off());
    rung_params_print(out, task->params);
}

const rung_command rung_command_task = {
    .name = "task",
    .summary = "instances of a problem, with exact answers",
    .details = "The same task, seed and index give the same instance everywhere.",
    .examples =
        (const rung_example[]){
            {"rung task eva N=8 -n 3 -f text", "three instances to read"},
            {"rung task eva -n 1000 -o eva.jsonl", "one JSON object per line"},
            {"rung task mqar -n 10000 -f npz -o mqar.npz", "arrays for training"},
            {"rung task eva --style facts -f lm-eval -o eval", "prose, for a language model"},
            {"rung task eva --leak", "what guessing would score"},
            {"rung task eva --help", "also the parameters of eva"},
            {0},
        },
    .arguments =
        (const rung_argument[]){
            {.metavar = "NAME",
             .help = "a task; see 'rung list tasks'",
             .least = 1,
             .most = 1,
             .names = rung_task_name_at},
            {0},
        },
    .words = "parameters of the task; see 'rung list tasks NAME'",
    .options = options,
    .values_size = sizeof(task_values),
    .negative = "--leak found a leak",
    .run = run_task,
    .help_more = help_more,
};
