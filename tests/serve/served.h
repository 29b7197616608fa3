/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A constructed model behind a service, and requests to it.
 */
#ifndef RUNG_TESTS_SERVE_SERVED_H
#define RUNG_TESTS_SERVE_SERVED_H

#include "rung/build.h"
#include "rung/io.h"
#include "rung/serve.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct served {
    rung_build build;
    rung_model *model;
    rung_program *program;
    rung_service *service;
    rung_instance instance;
    rung_error err;
    rung_service_reply reply;
    rung_json_doc *doc; /* of the reply */
} served;

static inline void must(rung_status status, const rung_error *err)
{
    if (status != RUNG_OK) fail_msg("%s", err->text);
}

static inline void served_open(served *s, const char *construction, const char *const *words, size_t count,
                               const char *key)
{
    memset(s, 0, sizeof *s);
    must(rung_build_init(&s->build, construction, words, count, &s->err), &s->err);
    must(rung_build_model(&s->model, &s->build, &s->err), &s->err);
    must(rung_program_new(&s->program, s->model, &(rung_evaluator){.threads = 1}, &s->err), &s->err);
    rung_service_options options = {.name = "tiny", .key = key, .max_tokens = 4096};
    must(rung_service_new(&s->service, s->model, s->program, &s->build.task, &options, &s->err), &s->err);
    must(rung_instance_init(&s->instance, &s->build.task, &s->err), &s->err);
}

static inline void served_forget(served *s)
{
    rung_json_free(s->doc);
    s->doc = NULL;
    rung_service_reply_clear(&s->reply);
}

static inline void served_close(served *s)
{
    served_forget(s);
    rung_instance_clear(&s->instance);
    rung_service_free(s->service);
    rung_program_free(s->program);
    rung_model_close(s->model);
}

/* Sends it; the reply must be JSON. Returns the root. */
static inline const rung_json *served_send(served *s, const char *method, const char *path, const char *key,
                                           const char *body, size_t len)
{
    served_forget(s);
    rung_service_request request = {method, path, key, body, len};
    rung_service_answer(&s->reply, s->service, &request);
    if (!s->reply.body.len) return NULL;
    if (rung_json_parse(&s->doc, s->reply.body.text, s->reply.body.len, "reply", &s->err) != RUNG_OK)
        fail_msg("%s: %s", s->err.text, s->reply.body.text);
    return rung_json_root(s->doc);
}

static inline const rung_json *served_post(served *s, const char *path, const char *body)
{
    return served_send(s, "POST", path, NULL, body, strlen(body));
}

/* The member at "a.0.b". */
static inline const rung_json *member(const rung_json *value, const char *path)
{
    char word[64];
    while (*path && value) {
        size_t len = strcspn(path, ".");
        snprintf(word, sizeof word, "%.*s", (int)len, path);
        value = rung_json_kind_of(value) == RUNG_JSON_ARRAY ? rung_json_at(value, (size_t)atoi(word))
                                                            : rung_json_get(value, word);
        path += len + (path[len] == '.');
    }
    return value;
}

static inline const char *text_at(const rung_json *value, const char *path)
{
    const char *text = rung_json_string(member(value, path));
    if (!text) fail_msg("no text at %s", path);
    return text;
}

static inline double real_at(const rung_json *value, const char *path)
{
    double number = 0;
    if (!rung_json_real(&number, member(value, path))) fail_msg("no number at %s", path);
    return number;
}

static inline int64_t int_at(const rung_json *value, const char *path)
{
    int64_t number = 0;
    if (!rung_json_int(&number, member(value, path))) fail_msg("no integer at %s", path);
    return number;
}

/* Status and field of an error, in its shape. */
static inline void is_error(const served *s, unsigned status, const char *param)
{
    const rung_json *root = rung_json_root(s->doc), *field = member(root, "error.param");
    if (s->reply.status != status) fail_msg("status %u, not %u: %s", s->reply.status, status, s->reply.body.text);
    assert_int_equal(int_at(root, "error.code"), status);
    assert_true(strlen(text_at(root, "error.message")) > 4);
    assert_true(strlen(text_at(root, "error.type")) > 4);
    assert_int_equal(rung_json_len(member(root, "error")), 4);
    if (param)
        assert_string_equal(rung_json_string(field) ? rung_json_string(field) : "(null)", param);
    else
        assert_int_equal(rung_json_kind_of(field), RUNG_JSON_NULL);
}

#endif
