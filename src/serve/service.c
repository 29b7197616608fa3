/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One request, one reply: routes, the key, and errors. Requests share only data that never changes.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rung/serve.h"
#include "shapes.h"

struct rung_service {
    serve_model model;
    serve_tokens *tokens;
    size_t max_tokens;
    char *name;
    bool keyed;
    uint8_t key_digest[32];
    char fingerprint[24];
};

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void digest(uint8_t out[32], const char *text)
{
    rung_sha256 sha;
    rung_sha256_init(&sha);
    rung_sha256_add(&sha, text, strlen(text));
    rung_sha256_final(&sha, out);
}

static char *copy(const char *text, rung_error *err)
{
    size_t len = strlen(text) + 1;
    char *to = rung_calloc(len, 1, err);
    if (to) memcpy(to, text, len);
    return to;
}

static rung_status fill(rung_service *s, const rung_service_options *options, rung_error *err)
{
    const rung_task_conf *task = s->model.task;
    char hex[65];
    if (!task->vocab || !task->answers)
        return rung_fail(err, RUNG_USAGE,
                         "task %s has no text form (its input or its answer is a vector), so it cannot be served",
                         task->task->name);
    s->max_tokens = options->max_tokens;
    s->keyed = options->key != NULL;
    if (s->keyed) digest(s->key_digest, options->key);
    rung_model_digest(hex, s->model.model);
    snprintf(s->fingerprint, sizeof s->fingerprint, "rung-%.12s", hex);
    s->name = copy(options->name, err);
    if (!s->name) return RUNG_SYSTEM;
    return serve_tokens_new(&s->tokens, task, rung_model_get_spec(s->model.model)->thoughts, err);
}

rung_status rung_service_new(rung_service **out, const rung_model *model, const rung_program *program,
                             const rung_task_conf *task, const rung_service_options *options, rung_error *err)
{
    *out = NULL;
    rung_service *s = rung_calloc(1, sizeof *s, err);
    if (!s) return RUNG_SYSTEM;
    s->model = (serve_model){model, program, task};
    rung_status status = fill(s, options, err);
    if (status == RUNG_OK)
        *out = s;
    else
        rung_service_free(s);
    return status;
}

void rung_service_free(rung_service *s)
{
    if (!s) return;
    serve_tokens_free(s->tokens);
    free(s->name);
    free(s);
}

void rung_service_reply_clear(rung_service_reply *reply)
{
    rung_buf_clear(&reply->body);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void refuse(rung_service_reply *reply, unsigned status, const char *param, const char *message)
{
    reply->status = status;
    rung_buf_reset(&reply->body);
    serve_put_error(&reply->body, status, param, message);
}

void rung_service_refuse(rung_service_reply *reply, unsigned status, const char *message)
{
    *reply = (rung_service_reply){0};
    rung_buf_init(&reply->body);
    refuse(reply, status, NULL, message);
}

/* Compares digests, always all 32 bytes, so that the time does not depend on the key. */
static bool authorised(const rung_service *s, const char *header)
{
    static const char scheme[] = "Bearer ";
    uint8_t given[32], difference = 0;
    if (!s->keyed) return true;
    if (!header || strncasecmp(header, scheme, sizeof scheme - 1) != 0) return false;
    header += sizeof scheme - 1;
    digest(given, header + strspn(header, " "));
    for (size_t i = 0; i < sizeof given; i++) difference |= (uint8_t)(given[i] ^ s->key_digest[i]);
    return difference == 0;
}

/* ---- routes ------------------------------------------------------------------------------------------------------ */

static bool answer_prompts(rung_service_reply *reply, const rung_service *s, const serve_request *request, uint64_t id,
                           serve_fault *fault)
{
    serve_reply *replies = rung_calloc(request->prompts, sizeof *replies, NULL);
    if (!replies) return serve_refuse(fault, 500, NULL, "out of memory");
    bool good = true;
    for (size_t i = 0; i < request->prompts && good; i++) {
        good = serve_generate(&replies[i], &s->model, request, i, fault);
        reply->prompt_tokens += request->prompt[i].ids.count;
        reply->completion_tokens += replies[i].tokens;
    }
    serve_head head = {s->name, s->fingerprint, id};
    if (good) serve_put_answers(&reply->body, &head, request, replies, &s->model);
    for (size_t i = 0; i < request->prompts; i++) serve_reply_clear(&replies[i]);
    free(replies);
    return good;
}

static bool answer_body(rung_service_reply *reply, const rung_service *s, serve_route route, const rung_json *body,
                        uint64_t id, serve_fault *fault)
{
    serve_request request;
    bool good = serve_request_read(&request, body, route, s->name, s->tokens, s->max_tokens, fault);
    if (good && route == SERVE_TOKENIZE) serve_put_tokens(&reply->body, &request, s->tokens, s->max_tokens);
    if (good && route == SERVE_DETOKENIZE) serve_put_text(&reply->body, &request);
    if (good && (route == SERVE_COMPLETIONS || route == SERVE_CHAT))
        good = answer_prompts(reply, s, &request, id, fault);
    serve_request_clear(&request);
    return good;
}

static void answer_post(rung_service_reply *reply, const rung_service *s, serve_route route,
                        const rung_service_request *request)
{
    rung_json_doc *doc = NULL;
    rung_error err = {{0}};
    serve_fault fault = {0};
    rung_status status = rung_json_parse(&doc, request->body, request->body_len, "the body", &err);
    if (status != RUNG_OK) {
        refuse(reply, status == RUNG_SYSTEM ? 500 : 400, NULL, err.text);
        return;
    }
    uint64_t id = rung_hash64(request->body, request->body_len) ^ (uint64_t)route;
    if (!answer_body(reply, s, route, rung_json_root(doc), id, &fault))
        refuse(reply, fault.status, fault.param, fault.err.text);
    rung_json_free(doc);
}

static void answer_get(rung_service_reply *reply, const rung_service *s)
{
    serve_head head = {s->name, s->fingerprint, 0};
    serve_put_models(&reply->body, &head, s->max_tokens);
}

typedef struct route_row {
    const char *path;
    serve_route route; /* 0: the path takes GET */
    bool open;         /* needs no key and has no body */
} route_row;

static const route_row routes[] = {
    {"/v1/completions", SERVE_COMPLETIONS, false},
    {"/v1/chat/completions", SERVE_CHAT, false},
    {"/tokenize", SERVE_TOKENIZE, false},
    {"/detokenize", SERVE_DETOKENIZE, false},
    {"/v1/models", 0, false},
    {"/health", 0, true},
};

static const route_row *find_route(const char *path)
{
    for (size_t i = 0; i < RUNG_COUNT(routes); i++)
        if (strcmp(routes[i].path, path) == 0) return &routes[i];
    return NULL;
}

static bool method_fits(const route_row *row, const char *method)
{
    return row->route ? strcmp(method, "POST") == 0 : strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

void rung_service_answer(rung_service_reply *reply, const rung_service *s, const rung_service_request *request)
{
    const route_row *row = find_route(request->path);
    *reply = (rung_service_reply){.status = 200};
    rung_buf_init(&reply->body);
    if (!(row && row->open) && !authorised(s, request->authorization)) {
        refuse(reply, 401, NULL, "a key is required: Authorization: Bearer KEY");
    } else if (!row) {
        refuse(reply, 404, NULL,
               "no such path; the paths are /v1/completions, /v1/chat/completions, /tokenize, /detokenize, /v1/models, "
               "/health");
    } else if (!method_fits(row, request->method)) {
        reply->allow = row->route ? "POST" : "GET, HEAD";
        refuse(reply, 405, NULL, row->route ? "this path accepts POST only" : "this path accepts GET only");
    } else if (row->route) {
        answer_post(reply, s, row->route, request);
    } else if (!row->open) {
        answer_get(reply, s);
    }
    if (reply->body.failed) rung_service_refuse(reply, 500, "out of memory");
}
