/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * From instances to files and stdout. Files are written beside their place and renamed, so nobody sees half
 * of one; an interrupt in between leaves nothing behind.
 */
#include "task_export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json_out.h"
#include "output.h"

static bool is_directory_format(int64_t format)
{
    return format == RUNG_TASK_LM_EVAL || format == RUNG_TASK_RULER;
}

rung_status rung_export_check(const rung_export *job, rung_error *err)
{
    const char *name = job->conf.task->name, *format = rung_task_formats[job->format];
    const bool words = job->format != RUNG_TASK_JSONL && job->format != RUNG_TASK_NPZ;
    if (!job->conf.vocab && words)
        return rung_fail(err, RUNG_USAGE, "task %s has feature vectors, which have no words; use --format jsonl or npz",
                         name);
    if (!job->out && (is_directory_format(job->format) || job->format == RUNG_TASK_NPZ))
        return rung_fail(err, RUNG_USAGE, "--format %s needs a place: -o %s", format,
                         is_directory_format(job->format) ? "DIR" : "FILE.npz");
    if (job->facts && job->format == RUNG_TASK_NPZ)
        return rung_fail(err, RUNG_USAGE, "--format npz holds token ids and no text; leave out --style");
    if (job->facts && !job->conf.task->facts_write)
        return rung_fail(err, RUNG_USAGE, "task %s has symbols only; leave out --style facts", name);
    if (job->call->json && !job->out && job->format != RUNG_TASK_JSONL)
        return rung_fail(err, RUNG_USAGE, "--json prints the instances itself; for --format %s give -o FILE", format);
    return RUNG_OK;
}

void rung_export_path(rung_buf *out, const rung_export *job)
{
    rung_buf_puts(out, job->out);
    if (job->format == RUNG_TASK_LM_EVAL) rung_buf_printf(out, "/%s.jsonl", job->stem);
    if (job->format == RUNG_TASK_RULER) rung_buf_printf(out, "/%s/validation.jsonl", job->stem);
}

/* ---- the stream of records --------------------------------------------------------------------------------------- */

typedef struct stream {
    const rung_export *job;
    FILE *file; /* NULL: stdout */
    const char *between, *after;
    uint64_t written; /* records */
    rung_buf *record; /* [batch] */
    size_t batch;
    uint64_t start;
} stream;

static rung_status render_item(void *context, const rung_instance *instance, size_t item, rung_error *err)
{
    stream *s = context;
    rung_buf_reset(&s->record[item]);
    rung_record_write(&s->record[item], s->job, instance, s->job->first + s->start + item);
    return rung_buf_ok(&s->record[item], err);
}

static rung_status put(stream *s, const char *text, size_t len, rung_error *err)
{
    if (!s->file) return rung_out_bytes(text, len, err);
    errno = 0;
    if (fwrite(text, 1, len, s->file) == len) return RUNG_OK;
    return rung_fail(err, RUNG_SYSTEM, "%s: %s", s->job->out, errno ? strerror(errno) : "cannot write");
}

static rung_status put_batch(stream *s, size_t count, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; !status && i < count; i++) {
        if (s->written++) status = put(s, s->between, strlen(s->between), err);
        if (!status) status = put(s, s->record[i].text, s->record[i].len, err);
    }
    return status;
}

static rung_status stream_batches(stream *s, rung_maker *maker, rung_progress *progress, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (s->start = 0; !status && s->start < s->job->count; s->start += s->batch) {
        const uint64_t left = s->job->count - s->start;
        const size_t count = left < s->batch ? (size_t)left : s->batch;
        if (rung_signal_pending()) return rung_fail(err, RUNG_SYSTEM, "interrupted");
        status = rung_maker_batch(maker, s->start, count, render_item, s, err);
        if (!status) status = put_batch(s, count, err);
        rung_progress_tick(progress, s->start + count);
    }
    return status ? status : put(s, s->after, strlen(s->after), err);
}

/* Renders a batch in parallel, writes it in order, and so on. */
static rung_status stream_records(stream *s, rung_error *err)
{
    rung_maker *maker;
    rung_progress progress;
    rung_status status = rung_maker_new(&maker, s->job, err);
    if (status) return status;
    s->batch = rung_maker_batch_size(s->job);
    s->record = rung_calloc(s->batch, sizeof *s->record, err); /* zeroed is initialised */
    if (!s->record) {
        rung_maker_free(maker);
        return RUNG_SYSTEM;
    }
    for (size_t i = 0; i < s->batch; i++) rung_buf_init(&s->record[i]);
    rung_call_progress(s->job->call, &progress, "instances", s->job->count);
    status = stream_batches(s, maker, &progress, err);
    rung_progress_finish(&progress);
    for (size_t i = 0; i < s->batch; i++) rung_buf_clear(&s->record[i]);
    free(s->record);
    rung_maker_free(maker);
    return status;
}

/* ---- stdout ------------------------------------------------------------------------------------------------------ */

/* The head of the one JSON object: everything but the instances. */
static void json_head(rung_buf *out, const rung_export *job)
{
    rung_jout json;
    rung_jout_begin(&json, out, "rung.task/1", false);
    rung_jout_string(&json, "task", job->canonical);
    rung_jout_int(&json, "seed", job->call->seed);
    rung_jout_int(&json, "first", (int64_t)job->first);
    rung_jout_int(&json, "count", (int64_t)job->count);
    rung_jout_int(&json, "vocab", (int64_t)job->conf.vocab);
    rung_jout_int(&json, "answers", (int64_t)job->conf.answers);
    rung_jout_real(&json, "chance", job->conf.chance);
    rung_jout_real(&json, "majority", job->conf.majority);
}

/* Everything, to a file or to stdout; only the one JSON object of stdout has something around and between records. */
static rung_status export_stream(const rung_export *job, FILE *file, rung_error *err)
{
    stream s = {.job = job, .file = file, .between = "\n", .after = "\n"};
    rung_buf head;
    rung_buf_init(&head);
    if (job->call->json && !file) {
        json_head(&head, job);
        rung_buf_puts(&head, ",\"instances\":[\n");
        s.between = ",\n";
        s.after = "\n]}\n";
    } else if (job->format == RUNG_TASK_TEXT) {
        rung_buf_printf(&head, "# %s, seed %lld\n", job->canonical, (long long)job->call->seed);
    }
    rung_status status = rung_buf_ok(&head, err);
    if (!status && head.len) status = put(&s, head.text, head.len, err);
    rung_buf_clear(&head);
    return status ? status : stream_records(&s, err);
}

static rung_status export_file(const rung_export *job, const char *path, rung_error *err)
{
    rung_file_writer writer;
    rung_status status = rung_file_begin(&writer, path, err);
    if (status) return status;
    status = export_stream(job, writer.stream, err);
    if (!status) return rung_file_commit(&writer, err);
    rung_file_abandon(&writer);
    return status;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static rung_status make_directory(const char *path, rung_error *err)
{
    struct stat info;
    if (mkdir(path, 0777) == 0) return RUNG_OK;
    const int error = errno;
    if (error == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return RUNG_OK;
    return rung_fail(err, RUNG_SYSTEM, "%s: cannot make this directory: %s", path, strerror(error));
}

/* No !function: the harness needs no Python of ours. Answers come from generation, since many servers return
 * no log-probabilities of the prompt and then score chance in silence. The data path is as -o was given: the
 * harness opens it from where it is started. */
static void write_yaml(rung_buf *out, const rung_export *job, const char *data)
{
    rung_buf_printf(out, "# %s, seed %lld, instances %llu to %llu\n", job->canonical, (long long)job->call->seed,
                    (unsigned long long)job->first, (unsigned long long)(job->first + job->count - 1));
    rung_buf_printf(out, "# chance %.6g, best without the query %.6g\n", job->conf.chance, job->conf.majority);
    rung_buf_printf(out, "task: %s\ndataset_path: json\ndataset_kwargs:\n  data_files:\n    test: ", job->stem);
    rung_buf_json_string(out, data); /* a JSON string is a YAML string */
    rung_buf_puts(out, "\ntest_split: test\noutput_type: generate_until\n"
                       "doc_to_text: \"{{input}}\"\ndoc_to_target: \"{{target}}\"\n"
                       "generation_kwargs:\n  do_sample: false\n  temperature: 0.0\n  max_gen_toks: 16\n  until: []\n"
                       "filter_list:\n  - name: first-word\n    filter:\n"
                       "      - function: regex\n        regex_pattern: \"(\\\\S+)\"\n"
                       "      - function: take_first\n"
                       "metric_list:\n  - metric: exact_match\n    aggregation: mean\n    higher_is_better: true\n"
                       "    ignore_punctuation: true\n"
                       "metadata:\n  version: 1.0\n");
}

static rung_status export_yaml(const rung_export *job, const char *data, rung_error *err)
{
    rung_buf path, yaml;
    rung_buf_init(&path);
    rung_buf_init(&yaml);
    rung_buf_printf(&path, "%s/%s.yaml", job->out, job->stem);
    write_yaml(&yaml, job, data);
    rung_status status = rung_buf_ok(&path, err);
    if (!status) status = rung_buf_ok(&yaml, err);
    if (!status) status = rung_file_write(path.text, yaml.text, yaml.len, err);
    rung_buf_clear(&path);
    rung_buf_clear(&yaml);
    return status;
}

static rung_status make_directories(const rung_export *job, const char *path, rung_error *err)
{
    rung_status status = make_directory(job->out, err);
    if (status || job->format != RUNG_TASK_RULER) return status;
    char *parent = rung_calloc(strlen(path) + 1, 1, err);
    if (!parent) return RUNG_SYSTEM;
    memcpy(parent, path, (size_t)(strrchr(path, '/') - path));
    status = make_directory(parent, err);
    free(parent);
    return status;
}

static rung_status export_path(const rung_export *job, const char *path, rung_error *err)
{
    rung_status status = RUNG_OK;
    if (job->format == RUNG_TASK_NPZ) return rung_export_npz(job, err);
    if (is_directory_format(job->format)) status = make_directories(job, path, err);
    if (!status) status = export_file(job, path, err);
    if (!status && job->format == RUNG_TASK_LM_EVAL) status = export_yaml(job, path, err);
    return status;
}

/* With --json a file still leaves one object on stdout: what was written where. */
static rung_status report_file(const rung_export *job, const char *path, rung_error *err)
{
    if (!job->call->json) {
        rung_note(job->call, "wrote %llu instances of %s to %s", (unsigned long long)job->count, job->canonical, path);
        return RUNG_OK;
    }
    rung_buf text;
    rung_buf_init(&text);
    json_head(&text, job);
    rung_buf_puts(&text, ",\"format\":");
    rung_buf_json_string(&text, rung_task_formats[job->format]);
    rung_buf_puts(&text, ",\"path\":");
    rung_buf_json_string(&text, path);
    rung_buf_puts(&text, "}\n");
    const rung_status status = rung_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

rung_status rung_export_run(const rung_export *job, rung_error *err)
{
    if (!job->out) return export_stream(job, NULL, err);
    rung_buf path;
    rung_buf_init(&path);
    rung_export_path(&path, job);
    rung_status status = rung_buf_ok(&path, err);
    rung_signals_defer(true);
    if (!status) status = export_path(job, path.text, err);
    rung_signals_defer(false);
    if (!status) status = report_file(job, path.text, err);
    rung_buf_clear(&path);
    return status;
}
