/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * From instances to files and streams. Files are written beside their place and renamed, so nobody sees half
 * of one; an interrupt in between leaves nothing behind.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "maker.h"

void rung_dataset_stem(rung_dataset *job, const char *task, const char *const *words, size_t count)
{
    size_t size = sizeof job->stem, len = (size_t)snprintf(job->stem, size, "rung_%s", task);
    for (size_t i = 0; i < count && len < size; i++)
        len += (size_t)snprintf(job->stem + len, size - len, "_%s", words[i]);
    char *to = job->stem;
    for (const char *from = job->stem; *from; from++)
        if (*from != '=') *to++ = isalnum((unsigned char)*from) ? *from : '_';
    *to = '\0';
}

bool rung_dataset_is_directory(rung_task_format format)
{
    return format == RUNG_TASK_LM_EVAL || format == RUNG_TASK_RULER;
}

void rung_dataset_path(rung_buf *out, const rung_dataset *job)
{
    rung_buf_puts(out, job->out);
    if (job->format == RUNG_TASK_LM_EVAL) rung_buf_printf(out, "/%s.jsonl", job->stem);
    if (job->format == RUNG_TASK_RULER) rung_buf_printf(out, "/%s/validation.jsonl", job->stem);
}

/* ---- the stream of records ------------------------------------------------------------------------------------- */

typedef struct stream {
    const rung_dataset *job;
    const rung_dataset_sink *sink;
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
    dataset_record(&s->record[item], s->job, instance, s->job->first + s->start + item);
    return rung_buf_ok(&s->record[item], err);
}

static rung_status put(stream *s, const char *text, size_t len, rung_error *err)
{
    return s->sink->put(s->sink->context, text, len, err);
}

static rung_status put_batch(stream *s, size_t count, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; !status && i < count; i++) {
        if (s->written++) status = put(s, s->between, strlen(s->between), err);
        RUNG_NEXT(status, put(s, s->record[i].text, s->record[i].len, err));
    }
    return status;
}

static rung_status stream_batches(stream *s, dataset_maker *maker, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (s->start = 0; !status && s->start < s->job->count; s->start += s->batch) {
        const uint64_t left = s->job->count - s->start;
        const size_t count = left < s->batch ? (size_t)left : s->batch;
        status = dataset_interrupted(s->job, err);
        RUNG_NEXT(status, dataset_maker_batch(maker, s->start, count, render_item, s, err));
        RUNG_NEXT(status, put_batch(s, count, err));
        if (s->job->progress) rung_progress_tick(s->job->progress, s->start + count);
    }
    return status ? status : put(s, s->after, strlen(s->after), err);
}

/* Renders a batch in parallel, writes it in order, and so on. */
static rung_status stream_records(stream *s, rung_error *err)
{
    dataset_maker *maker;
    RUNG_TRY(dataset_maker_new(&maker, s->job, err));
    s->batch = dataset_batch_size(s->job);
    s->record = rung_calloc(s->batch, sizeof *s->record, err); /* zeroed is initialised */
    if (!s->record) {
        dataset_maker_free(maker);
        return RUNG_SYSTEM;
    }
    for (size_t i = 0; i < s->batch; i++) rung_buf_init(&s->record[i]);
    rung_status status = stream_batches(s, maker, err);
    for (size_t i = 0; i < s->batch; i++) rung_buf_clear(&s->record[i]);
    free(s->record);
    dataset_maker_free(maker);
    return status;
}

/* ---- streams --------------------------------------------------------------------------------------------------- */

void rung_dataset_json(rung_jout *json, rung_buf *out, const rung_dataset *job)
{
    rung_jout_begin(json, out, "rung.task/1", false);
    rung_jout_string(json, "task", job->canonical);
    rung_jout_int(json, "seed", (int64_t)job->seed);
    rung_jout_int(json, "first", (int64_t)job->first);
    rung_jout_int(json, "count", (int64_t)job->count);
    rung_jout_int(json, "vocab", (int64_t)job->conf.vocab);
    rung_jout_int(json, "answers", (int64_t)job->conf.answers);
    rung_jout_real(json, "chance", job->conf.chance);
    rung_jout_real(json, "majority", job->conf.majority);
}

/* Only the one JSON object has something around and between the records. */
rung_status rung_dataset_stream(const rung_dataset *job, const rung_dataset_sink *sink, rung_error *err)
{
    stream s = {.job = job, .sink = sink, .between = "\n", .after = "\n"};
    rung_buf head;
    rung_jout json;
    rung_buf_init(&head);
    if (sink->object) {
        rung_dataset_json(&json, &head, job);
        rung_buf_puts(&head, ",\"instances\":[\n");
        s.between = ",\n";
        s.after = "\n]}\n";
    } else if (job->format == RUNG_TASK_TEXT) {
        rung_buf_printf(&head, "# %s, seed %lld\n", job->canonical, (long long)job->seed);
    }
    rung_status status = rung_buf_ok(&head, err);
    if (!status && head.len) status = put(&s, head.text, head.len, err);
    rung_buf_clear(&head);
    return status ? status : stream_records(&s, err);
}

typedef struct target {
    const rung_dataset *job;
    FILE *file;
} target;

static rung_status put_to_file(void *context, const void *bytes, size_t len, rung_error *err)
{
    const target *t = context;
    errno = 0;
    if (fwrite(bytes, 1, len, t->file) == len) return RUNG_OK;
    return rung_fail(err, RUNG_SYSTEM, "%s: %s", t->job->out, errno ? strerror(errno) : "cannot write");
}

static rung_status export_file(const rung_dataset *job, const char *path, rung_error *err)
{
    rung_file_writer writer;
    RUNG_TRY(rung_file_begin(&writer, path, err));
    target to = {job, writer.stream};
    rung_status status = rung_dataset_stream(job, &(rung_dataset_sink){.put = put_to_file, .context = &to}, err);
    if (!status) return rung_file_commit(&writer, err);
    rung_file_abandon(&writer);
    return status;
}

/* ---- places ---------------------------------------------------------------------------------------------------- */

/* No !function: the harness needs no Python of ours. Answers come from generation, since many servers return
 * no log-probabilities of the prompt and then score chance in silence. The data path is as -o was given: the
 * harness opens it from where it is started. */
static void write_yaml(rung_buf *out, const rung_dataset *job, const char *data)
{
    rung_buf_printf(out, "# %s, seed %lld, instances %llu to %llu\n", job->canonical, (long long)job->seed,
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

static rung_status export_yaml(const rung_dataset *job, const char *data, rung_error *err)
{
    rung_buf path, yaml;
    rung_buf_init(&path);
    rung_buf_init(&yaml);
    rung_buf_printf(&path, "%s/%s.yaml", job->out, job->stem);
    write_yaml(&yaml, job, data);
    rung_status status = rung_buf_ok(&path, err);
    RUNG_NEXT(status, rung_buf_ok(&yaml, err));
    RUNG_NEXT(status, rung_file_write(path.text, yaml.text, yaml.len, err));
    rung_buf_clear(&path);
    rung_buf_clear(&yaml);
    return status;
}

static rung_status make_directories(const rung_dataset *job, const char *path, rung_error *err)
{
    rung_status status = rung_directory_make(job->out, err);
    if (status || job->format != RUNG_TASK_RULER) return status;
    char *parent = rung_calloc(strlen(path) + 1, 1, err);
    if (!parent) return RUNG_SYSTEM;
    memcpy(parent, path, (size_t)(strrchr(path, '/') - path));
    status = rung_directory_make(parent, err);
    free(parent);
    return status;
}

static rung_status export_path(const rung_dataset *job, const char *path, rung_error *err)
{
    rung_status status = RUNG_OK;
    if (job->format == RUNG_TASK_NPZ) return dataset_npz(job, err);
    if (rung_dataset_is_directory(job->format)) status = make_directories(job, path, err);
    RUNG_NEXT(status, export_file(job, path, err));
    if (!status && job->format == RUNG_TASK_LM_EVAL) status = export_yaml(job, path, err);
    return status;
}

rung_status rung_dataset_write(const rung_dataset *job, rung_error *err)
{
    rung_buf path;
    rung_buf_init(&path);
    rung_dataset_path(&path, job);
    rung_status status = rung_buf_ok(&path, err);
    RUNG_NEXT(status, export_path(job, path.text, err));
    rung_buf_clear(&path);
    return status;
}
