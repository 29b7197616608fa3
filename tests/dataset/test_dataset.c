/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Records of tasks: the same bytes for any number of threads and for any cut of the indices, instances that are those of
 * rung_task_make, and a job that stops when it is told to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "rung/dataset.h"
#include "rung/io.h"

static rung_error err;

static rung_status collect(void *context, const void *bytes, size_t len, rung_error *e)
{
    rung_buf_add(context, bytes, len);
    return rung_buf_ok(context, e);
}

static rung_dataset job_of(const char *task, rung_task_format format)
{
    rung_dataset job = {.format = format, .seed = 7, .count = 50, .threads = 1, .canonical = task};
    if (rung_task_conf_parse(&job.conf, task, &err) != RUNG_OK) fail_msg("%s", err.text);
    return job;
}

static char *stream_of(const rung_dataset *job, bool object)
{
    rung_buf out;
    rung_buf_init(&out);
    const rung_dataset_sink sink = {.put = collect, .context = &out, .object = object};
    if (rung_dataset_stream(job, &sink, &err) != RUNG_OK) fail_msg("%s", err.text);
    return out.text;
}

static void threads_do_not_matter(void **state)
{
    static const rung_task_format formats[] = {RUNG_TASK_JSONL, RUNG_TASK_TEXT, RUNG_TASK_LM_EVAL, RUNG_TASK_RULER,
                                               RUNG_TASK_INSPECT};
    (void)state;
    for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
        rung_dataset job = job_of("eva N=6 V=3", formats[f]);
        char *one = stream_of(&job, false);
        job.threads = 4;
        char *four = stream_of(&job, false);
        assert_string_equal(one, four);
        free(one), free(four);
    }
}

static void parts_make_the_whole(void **state)
{
    (void)state;
    rung_dataset job = job_of("seqcomp L=2 N0=3", RUNG_TASK_JSONL);
    char *all = stream_of(&job, false);
    rung_buf parts;
    rung_buf_init(&parts);
    for (size_t first = 0; first < 50; first += 25) {
        job.first = first, job.count = 25;
        char *part = stream_of(&job, false);
        rung_buf_puts(&parts, part);
        free(part);
    }
    assert_string_equal(parts.text, all);
    rung_buf_clear(&parts);
    free(all);
}

static void records_are_the_instances(void **state)
{
    rung_instance instance;
    (void)state;
    rung_dataset job = job_of("eva N=6 V=3", RUNG_TASK_JSONL);
    char *text = stream_of(&job, true);
    rung_json_doc *doc;
    if (rung_json_parse(&doc, text, strlen(text), "stream", &err) != RUNG_OK) fail_msg("%s", err.text);
    const rung_json *all = rung_json_get(rung_json_root(doc), "instances");
    assert_int_equal(rung_json_len(all), 50);
    assert_int_equal(rung_instance_init(&instance, &job.conf, &err), RUNG_OK);
    for (size_t i = 0; i < 50; i++) {
        const rung_json *tokens = rung_json_get(rung_json_at(all, i), "tokens");
        assert_int_equal(rung_task_make(&instance, &job.conf, 7, i, &err), RUNG_OK);
        assert_int_equal(rung_json_len(tokens), instance.tokens);
        for (size_t t = 0; t < instance.tokens; t++) {
            int64_t token;
            assert_true(rung_json_int(&token, rung_json_at(tokens, t)));
            assert_int_equal(token, instance.token[t]);
        }
    }
    rung_instance_clear(&instance);
    rung_json_free(doc);
    free(text);
}

static bool at_once(void)
{
    return true;
}

static void stops_when_told(void **state)
{
    rung_buf out;
    (void)state;
    rung_dataset job = job_of("eva N=6 V=3", RUNG_TASK_JSONL);
    job.interrupted = at_once;
    rung_buf_init(&out);
    const rung_dataset_sink sink = {.put = collect, .context = &out};
    assert_int_equal(rung_dataset_stream(&job, &sink, &err), RUNG_SYSTEM);
    assert_string_equal(err.text, "interrupted");
    rung_buf_clear(&out);
}

static void stems_are_file_names(void **state)
{
    static const char *const words[] = {"N=8", "order=a/b"};
    rung_dataset job = {.seed = 0};
    rung_buf path;
    (void)state;
    rung_dataset_stem(&job, "two-sum", words, 2);
    assert_string_equal(job.stem, "rung_two_sum_N8_ordera_b");
    rung_buf_init(&path);
    job.out = "dir", job.format = RUNG_TASK_RULER;
    rung_dataset_path(&path, &job);
    assert_string_equal(path.text, "dir/rung_two_sum_N8_ordera_b/validation.jsonl");
    rung_buf_clear(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter),     cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(records_are_the_instances), cmocka_unit_test(stops_when_told),
        cmocka_unit_test(stems_are_file_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
