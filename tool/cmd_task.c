/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung task: instances of a problem with exact answers, in the formats of the programs that use them, and the
 * probe that says what a predictor without attention would score.
 */
#include "catalog.h"
#include "output.h"
#include "rung/dataset.h"

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

/* Refuses combinations that have no meaning, with what to use instead. */
static rung_status check(const rung_dataset *job, bool json, rung_error *err)
{
    const char *name = job->conf.task->name, *format = rung_task_formats[job->format];
    const bool words = job->format != RUNG_TASK_JSONL && job->format != RUNG_TASK_NPZ;
    if (!job->conf.vocab && words)
        return rung_fail(err, RUNG_USAGE, "task %s has feature vectors, which have no words; use --format jsonl or npz",
                         name);
    if (!job->out && (rung_dataset_is_directory(job->format) || job->format == RUNG_TASK_NPZ))
        return rung_fail(err, RUNG_USAGE, "--format %s needs a place: -o %s", format,
                         rung_dataset_is_directory(job->format) ? "DIR" : "FILE.npz");
    if (job->facts && job->format == RUNG_TASK_NPZ)
        return rung_fail(err, RUNG_USAGE, "--format npz holds token ids and no text; leave out --style");
    if (job->facts && !job->conf.task->story_write)
        return rung_fail(err, RUNG_USAGE, "task %s has symbols only; leave out --style facts", name);
    if (json && !job->out && job->format != RUNG_TASK_JSONL)
        return rung_fail(err, RUNG_USAGE, "--json prints the instances itself; for --format %s give -o FILE", format);
    return RUNG_OK;
}

/* ---- instances ------------------------------------------------------------------------------------------------- */

static rung_status put(void *context, const void *bytes, size_t len, rung_error *err)
{
    (void)context;
    return tool_out_bytes(bytes, len, err);
}

static bool interrupted(void)
{
    return tool_signal_pending() != 0;
}

/* With --json a file still leaves one object on stdout: what was written where. */
static rung_status report_file(const tool_call *call, const rung_dataset *job, const char *path, rung_error *err)
{
    if (!call->json) {
        tool_note(call, "wrote %llu instances of %s to %s", (unsigned long long)job->count, job->canonical, path);
        return RUNG_OK;
    }
    rung_buf text;
    rung_jout json;
    rung_buf_init(&text);
    rung_dataset_json(&json, &text, job);
    rung_jout_string(&json, "format", rung_task_formats[job->format]);
    rung_jout_string(&json, "path", path);
    rung_jout_finish(&json);
    const rung_status status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

static rung_status write_files(const tool_call *call, const rung_dataset *job, rung_error *err)
{
    rung_buf path;
    tool_signals_defer(true);
    rung_status status = rung_dataset_write(job, err);
    rung_progress_finish(job->progress);
    tool_signals_defer(false);
    rung_buf_init(&path);
    rung_dataset_path(&path, job);
    RUNG_NEXT(status, rung_buf_ok(&path, err));
    RUNG_NEXT(status, report_file(call, job, path.text, err));
    rung_buf_clear(&path);
    return status;
}

static rung_status write_instances(const tool_call *call, rung_dataset *job, rung_error *err)
{
    rung_progress progress;
    RUNG_TRY(check(job, call->json, err));
    tool_call_progress(call, &progress, "instances", job->count);
    job->progress = &progress;
    job->interrupted = interrupted;
    if (job->out) return write_files(call, job, err);
    rung_status status = rung_dataset_stream(job, &(rung_dataset_sink){.put = put, .object = call->json}, err);
    rung_progress_finish(&progress);
    return status;
}

/* ---- the leak probe -------------------------------------------------------------------------------------------- */

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

static void print_leak(rung_buf *out, const rung_dataset *job, const rung_leak *leak)
{
    rung_buf_printf(out, "%s, seed %lld: %zu answers tested\n\n", job->canonical, (long long)job->seed, leak->tested);
    leak_row(out, "majority", leak->majority, leak, "the most common answer");
    leak_row(out, "position", leak->position, leak, "the most common answer at this position");
    leak_row(out, "frequency", leak->frequency, leak, "the answer that most tokens of the prompt vote for");
    rung_buf_printf(out, "  %-10s %.4f  %.4f needs no query, %.4f is the noise of this test\n", "limit",
                    leak->declared + leak->slack, leak->declared, leak->slack);
    rung_buf_printf(out, "\n%s\n",
                    leaks(leak) ? "leak: the answers can be guessed without solving the task"
                                : "no leak: guessing scores no more than the task declares");
}

static void json_leak(rung_buf *text, const rung_dataset *job, const rung_leak *leak)
{
    rung_jout json;
    rung_jout_begin(&json, text, "rung.task/1", true);
    rung_jout_string(&json, "task", job->canonical);
    rung_jout_int(&json, "seed", (int64_t)job->seed);
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

static int run_leak(const tool_call *call, rung_dataset *job, rung_error *err)
{
    rung_leak leak;
    if (!tool_call_given(call, "count")) job->count = 4096;
    int status = rung_task_leak(&leak, &job->conf, job->seed, (size_t)job->count, err);
    RUNG_TRY(status);
    rung_buf text;
    rung_buf_init(&text);
    if (call->json)
        json_leak(&text, job, &leak);
    else
        print_leak(&text, job, &leak);
    status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    RUNG_TRY(status);
    return leaks(&leak) ? RUNG_NEGATIVE : RUNG_OK;
}

/* ---- the command ----------------------------------------------------------------------------------------------- */

static int run_job(const tool_call *call, rung_dataset *job, bool leak, rung_error *err)
{
    if (!leak) return write_instances(call, job, err);
    if (job->out || tool_call_given(call, "format") || tool_call_given(call, "first"))
        return rung_fail(err, RUNG_USAGE, "--leak writes no instances; leave out --out, --format and --first");
    return run_leak(call, job, err);
}

static int run_task(const tool_call *call, rung_error *err)
{
    const task_values *values = call->values;
    rung_dataset job = {.seed = (uint64_t)call->seed,
                        .format = (rung_task_format)values->format,
                        .facts = values->style == 1,
                        .first = (uint64_t)values->first,
                        .count = (uint64_t)values->count,
                        .threads = values->threads ? (size_t)values->threads : rung_cpu_threads(),
                        .out = values->out};
    int status = rung_task_conf_init(&job.conf, call->argument[0], call->pair, call->pairs, err);
    RUNG_TRY(status);
    rung_dataset_stem(&job, call->argument[0], call->pair, call->pairs);

    rung_buf canonical;
    rung_buf_init(&canonical);
    rung_task_canonical(&canonical, &job.conf);
    status = rung_buf_ok(&canonical, err);
    job.canonical = canonical.text;
    RUNG_NEXT(status, run_job(call, &job, values->leak, err));
    rung_buf_clear(&canonical);
    return status;
}

static void help_more(rung_buf *out, const tool_call *call)
{
    const rung_task *task = call && call->arguments ? rung_task_get(call->argument[0]) : NULL;
    if (!task) return;
    rung_buf_printf(out, "\n%sParameters of %s%s\n", tool_style_bold(), task->name, tool_style_off());
    tool_params_print(out, task->params);
}

const tool_command tool_command_task = {
    .name = "task",
    .summary = "instances of a problem, with exact answers",
    .details = "The same task, seed and index give the same instance everywhere.",
    .examples =
        (const tool_example[]){
            {"rung task eva N=8 -n 3 -f text", "three instances to read"},
            {"rung task eva -n 1000 -o eva.jsonl", "one JSON object per line"},
            {"rung task mqar -n 10000 -f npz -o mqar.npz", "arrays for training"},
            {"rung task eva --style facts -f lm-eval -o eval", "prose, for a language model"},
            {"rung task eva --leak", "what guessing would score"},
            {"rung task eva --help", "also the parameters of eva"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "NAME",
             .help = "a task; see 'rung list tasks'",
             .least = 1,
             .most = 1,
             .names = rung_task_name_at},
            {0},
        },
    .pairs = "parameters of the task; see 'rung list tasks NAME'",
    .options = options,
    .values_size = sizeof(task_values),
    .negative = "--leak found a leak",
    .run = run_task,
    .help_more = help_more,
};
