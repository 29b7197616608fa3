/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Parses replies of servers. Pure functions of bytes. It reads three shapes of log-probabilities:
 *   completions of vLLM and SGLang   logprobs.{tokens[], token_logprobs[], top_logprobs[{token: logprob}]}
 *   chat                             logprobs.content[{token, logprob, top_logprobs[{token, logprob}]}]
 *   completions of llama.cpp         the shape of chat
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rung/io.h"
#include "rung/probe.h"

/* Rounded log-probabilities may be slightly above 0. */
#define ABOVE_ZERO 1e-3

/* ---- log-probabilities ------------------------------------------------------------------------------------------- */

static rung_status add_top(rung_reply *reply, const char *token, const rung_json *value, rung_error *err)
{
    double logprob;
    if (!token || rung_json_kind_of(value) == RUNG_JSON_NULL || !value) return RUNG_OK;
    if (!rung_json_real(&logprob, value) || isnan(logprob))
        return rung_fail(err, RUNG_INPUT, "the log-probability of token '%.40s' is not a number", token);
    if (logprob > ABOVE_ZERO)
        return rung_fail(
            err, RUNG_INPUT,
            "the log-probability of token '%.40s' is %g, but must be at most 0; perhaps the server sends probabilities",
            token, logprob);
    if (logprob > 0) logprob = 0;
    for (size_t i = 0; i < reply->tops; i++)
        if (strcmp(reply->top[i].text, token) == 0) return RUNG_OK; /* the generated token is listed twice */
    if (reply->tops == RUNG_REPLY_TOP) return RUNG_OK;
    char *text = rung_arena_strdup(&reply->arena, token, err);
    if (!text) return RUNG_SYSTEM;
    reply->top[reply->tops++] = (rung_option_token){text, logprob};
    return RUNG_OK;
}

static int by_logprob(const void *a, const void *b)
{
    const rung_option_token *x = a, *y = b;
    if (x->logprob != y->logprob) return x->logprob > y->logprob ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* {"tokens": ["a"], "token_logprobs": [-1], "top_logprobs": [{"a": -1, "b": -2}]} */
static rung_status read_legacy(rung_reply *reply, const rung_json *logprobs, rung_error *err)
{
    const rung_json *top = rung_json_at(rung_json_get(logprobs, "top_logprobs"), 0);
    const char *token = rung_json_string(rung_json_at(rung_json_get(logprobs, "tokens"), 0));
    rung_status status = add_top(reply, token, rung_json_at(rung_json_get(logprobs, "token_logprobs"), 0), err);
    if (rung_json_kind_of(top) != RUNG_JSON_OBJECT) return status;
    for (size_t i = 0; status == RUNG_OK && i < rung_json_len(top); i++)
        status = add_top(reply, rung_json_key_at(top, i), rung_json_value_at(top, i), err);
    return status;
}

/* {"content": [{"token": "a", "logprob": -1, "top_logprobs": [{"token": "a", "logprob": -1}]}]} */
static rung_status read_content(rung_reply *reply, const rung_json *logprobs, rung_error *err)
{
    const rung_json *first = rung_json_at(rung_json_get(logprobs, "content"), 0);
    const rung_json *top = rung_json_get(first, "top_logprobs");
    rung_status status =
        add_top(reply, rung_json_string(rung_json_get(first, "token")), rung_json_get(first, "logprob"), err);
    if (rung_json_kind_of(top) != RUNG_JSON_ARRAY) return status;
    for (size_t i = 0; status == RUNG_OK && i < rung_json_len(top); i++) {
        const rung_json *option = rung_json_at(top, i);
        status =
            add_top(reply, rung_json_string(rung_json_get(option, "token")), rung_json_get(option, "logprob"), err);
    }
    return status;
}

static rung_status read_logprobs(rung_reply *reply, const rung_json *choice, rung_error *err)
{
    const rung_json *logprobs = rung_json_get(choice, "logprobs");
    rung_status status =
        rung_json_get(logprobs, "content") ? read_content(reply, logprobs, err) : read_legacy(reply, logprobs, err);
    reply->logprobs = reply->tops > 0;
    qsort(reply->top, reply->tops, sizeof reply->top[0], by_logprob);
    return status;
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static rung_status keep(const char **out, rung_reply *reply, const char *text, rung_error *err)
{
    *out = rung_arena_strdup(&reply->arena, text ? text : "", err);
    return *out ? RUNG_OK : RUNG_SYSTEM;
}

static int64_t count_of(const rung_json *usage, const char *key)
{
    int64_t count;
    return rung_json_int(&count, rung_json_get(usage, key)) && count >= 0 ? count : -1;
}

static rung_status read_texts(rung_reply *reply, const rung_json *root, const rung_json *choice, rung_error *err)
{
    const rung_json *message = rung_json_get(choice, "message");
    const rung_json *text = message ? rung_json_get(message, "content") : rung_json_get(choice, "text");
    const char *thoughts = rung_json_string(rung_json_get(message, "reasoning_content"));
    if (!thoughts) thoughts = rung_json_string(rung_json_get(message, "reasoning"));
    if (!message && !text)
        return rung_fail(err, RUNG_INPUT, "the reply has a choice with neither 'text' nor 'message'");
    if (text && rung_json_kind_of(text) != RUNG_JSON_STRING && rung_json_kind_of(text) != RUNG_JSON_NULL)
        return rung_fail(err, RUNG_INPUT, "the generated text of the reply is not a string");
    RUNG_TRY(keep(&reply->text, reply, rung_json_string(text), err));
    RUNG_TRY(keep(&reply->reasoning, reply, thoughts, err));
    RUNG_TRY(keep(&reply->finish, reply, rung_json_string(rung_json_get(choice, "finish_reason")), err));
    RUNG_TRY(keep(&reply->model, reply, rung_json_string(rung_json_get(root, "model")), err));
    return keep(&reply->fingerprint, reply, rung_json_string(rung_json_get(root, "system_fingerprint")), err);
}

static rung_status read_root(rung_reply *reply, const rung_json *root, rung_error *err)
{
    const rung_json *choice = rung_json_at(rung_json_get(root, "choices"), 0);
    const rung_json *usage = rung_json_get(root, "usage");
    if (rung_json_kind_of(choice) != RUNG_JSON_OBJECT)
        return rung_fail(err, RUNG_INPUT, "the reply has no 'choices' with an answer");
    reply->prompt_tokens = count_of(usage, "prompt_tokens");
    reply->completion_tokens = count_of(usage, "completion_tokens");
    rung_json_bool(&reply->truncated, rung_json_get(root, "truncated"));
    RUNG_TRY(read_texts(reply, root, choice, err));
    return read_logprobs(reply, choice, err);
}

rung_status rung_reply_parse(rung_reply *reply, const char *body, size_t len, rung_error *err)
{
    memset(reply, 0, sizeof *reply);
    rung_arena_init(&reply->arena);
    reply->text = reply->reasoning = reply->finish = reply->model = reply->fingerprint = "";
    reply->prompt_tokens = reply->completion_tokens = -1;
    rung_json_doc *doc = NULL;
    RUNG_TRY(rung_json_parse_python(&doc, body, len, "the reply", err));
    rung_status status = read_root(reply, rung_json_root(doc), err);
    rung_json_free(doc);
    return status;
}

rung_status rung_reply_take(rung_reply *reply, const rung_client_response *answer, rung_error *err)
{
    rung_reply shown;
    rung_status status = rung_reply_parse(reply, answer->body, answer->len, err);
    if (answer->shown == answer->body) return status;
    rung_status second = rung_reply_parse(&shown, answer->shown, answer->shown_len, err);
    if (status != RUNG_OK && second == RUNG_OK) rung_fail(err, status, "cannot parse the reply");
    if (status == RUNG_OK && second != RUNG_OK) shown.fingerprint = shown.model = "";
    RUNG_NEXT(status, keep(&reply->fingerprint, reply, shown.fingerprint, err));
    RUNG_NEXT(status, keep(&reply->model, reply, shown.model, err));
    rung_reply_clear(&shown);
    return status;
}

void rung_reply_clear(rung_reply *reply)
{
    rung_arena_clear(&reply->arena);
}

/* ---- tokens and models ------------------------------------------------------------------------------------------- */

static size_t size_of(const rung_json *value)
{
    int64_t number;
    return rung_json_int(&number, value) && number > 0 ? (size_t)number : 0;
}

rung_status rung_reply_tokens(size_t *count, size_t *most, const char *body, size_t len, rung_error *err)
{
    rung_json_doc *doc = NULL;
    rung_status status = rung_json_parse_python(&doc, body, len, "the reply", err);
    RUNG_TRY(status);
    const rung_json *root = rung_json_root(doc), *tokens = rung_json_get(root, "tokens");
    int64_t stated;
    *most = size_of(rung_json_get(root, "max_model_len"));
    if (rung_json_kind_of(tokens) == RUNG_JSON_ARRAY)
        *count = rung_json_len(tokens);
    else if (rung_json_int(&stated, rung_json_get(root, "count")) && stated >= 0)
        *count = (size_t)stated;
    else
        status = rung_fail(err, RUNG_INPUT, "the reply of /tokenize has neither 'tokens' nor 'count'");
    rung_json_free(doc);
    return status;
}

static size_t context_of(const rung_json *model)
{
    size_t most = size_of(rung_json_get(model, "max_model_len"));
    return most ? most : size_of(rung_json_get(rung_json_get(model, "meta"), "n_ctx"));
}

rung_status rung_reply_models(bool *found, size_t *most, rung_buf *names, const char *model, const char *body,
                              size_t len, rung_error *err)
{
    rung_json_doc *doc = NULL;
    *found = false, *most = 0;
    rung_status status = rung_json_parse_python(&doc, body, len, "the reply", err);
    RUNG_TRY(status);
    const rung_json *data = rung_json_get(rung_json_root(doc), "data");
    if (rung_json_kind_of(data) != RUNG_JSON_ARRAY)
        status = rung_fail(err, RUNG_INPUT, "the reply of /v1/models has no list 'data'");
    for (size_t i = 0; status == RUNG_OK && i < rung_json_len(data); i++) {
        const rung_json *entry = rung_json_at(data, i);
        const char *id = rung_json_string(rung_json_get(entry, "id"));
        if (!id) continue;
        if (i < 8) rung_buf_printf(names, "%s%s", names->len ? ", " : "", id);
        if (strcmp(id, model) == 0) *found = true, *most = context_of(entry);
    }
    rung_json_free(doc);
    return status;
}
