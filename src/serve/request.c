/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The fields of requests; see request.h. One table lists them all.
 */
#include "request.h"

#include <math.h>
#include <string.h>

#include "prompt.h"

bool serve_refuse(serve_fault *fault, unsigned status, const char *param, const char *format, ...)
{
    fault->status = status;
    snprintf(fault->param, sizeof fault->param, "%s", param ? param : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->err.text, sizeof fault->err.text, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- values of fields -------------------------------------------------------------------------------------------- */

static bool read_int(int64_t *out, const rung_json *value, const char *name, int64_t low, int64_t high,
                     serve_fault *fault)
{
    if (rung_json_kind_of(value) != RUNG_JSON_INT || !rung_json_int(out, value) || *out < low || *out > high)
        return serve_refuse(fault, 400, name, "'%s' must be a whole number from %lld to %lld", name, (long long)low,
                            (long long)high);
    return true;
}

static bool read_bool(bool *out, const rung_json *value, const char *name, serve_fault *fault)
{
    if (!rung_json_bool(out, value)) return serve_refuse(fault, 400, name, "'%s' must be true or false", name);
    return true;
}

static bool set_max_tokens(serve_request *r, const rung_json *value, const char *name, serve_fault *fault)
{
    return read_int(&r->max_tokens, value, name, 1, INT32_MAX, fault);
}

static bool set_temperature(serve_request *r, const rung_json *value, const char *name, serve_fault *fault)
{
    if (!rung_json_real(&r->temperature, value) || !isfinite(r->temperature) || r->temperature < 0 ||
        r->temperature > 2)
        return serve_refuse(fault, 400, name, "'temperature' must be a number from 0 to 2");
    return true;
}

static bool set_seed(serve_request *r, const rung_json *value, const char *name, serve_fault *fault)
{
    return read_int(&r->seed, value, name, INT64_MIN, INT64_MAX, fault);
}

/* A number for completions, a boolean for chats. */
static bool set_logprobs(serve_request *r, const rung_json *value, const char *name, serve_fault *fault)
{
    if (r->route == SERVE_CHAT) return read_bool(&r->logprobs, value, name, fault);
    r->logprobs = true;
    return read_int(&r->tops, value, name, 0, SERVE_LOGPROBS_MAX, fault);
}

static bool set_top_logprobs(serve_request *r, const rung_json *value, const char *name, serve_fault *fault)
{
    r->tops_given = true;
    return read_int(&r->tops, value, name, 0, SERVE_LOGPROBS_MAX, fault);
}

static bool add_stop(serve_request *r, const rung_json *value, const char *name, serve_fault *fault)
{
    const char *text = rung_json_string(value);
    if (!text || !*text) return serve_refuse(fault, 400, name, "'stop' must be a non-empty string, or a list of them");
    if (r->stops == SERVE_STOPS_MAX)
        return serve_refuse(fault, 400, name, "'stop' has more than %d strings", SERVE_STOPS_MAX);
    r->stop[r->stops++] = text;
    return true;
}

static bool set_stop(serve_request *r, const rung_json *value, const char *name, serve_fault *fault)
{
    if (rung_json_kind_of(value) != RUNG_JSON_ARRAY) return add_stop(r, value, name, fault);
    for (size_t i = 0; i < rung_json_len(value); i++)
        if (!add_stop(r, rung_json_at(value, i), name, fault)) return false;
    return true;
}

static bool set_token_texts(serve_request *r, const rung_json *value, const char *name, serve_fault *fault)
{
    return read_bool(&r->token_texts, value, name, fault);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum { ANSWERS = SERVE_COMPLETIONS | SERVE_CHAT, TEXTS = ANSWERS | SERVE_TOKENIZE };

/* Values of unsupported fields that change nothing and are accepted. */
typedef enum neutral {
    OWN = 0, /* a supported field */
    ANY_BOOL,
    ANY_STRING,
    ANY_OBJECT,
    ONLY_FALSE,
    ONLY_NUMBER,
    ONLY_EMPTY, /* {} or [] */
    ONLY_NONE,  /* "none" */
    NOTHING,    /* only null */
} neutral;

typedef struct field {
    const char *name;
    int routes;
    bool (*set)(serve_request *request, const rung_json *value, const char *name, serve_fault *fault);
    neutral neutral;
    double number;
} field;

static const field fields[] = {
    {"model", TEXTS | SERVE_DETOKENIZE, NULL, OWN, 0}, /* these four are read by separate code */
    {"prompt", SERVE_COMPLETIONS | SERVE_TOKENIZE, NULL, OWN, 0},
    {"messages", SERVE_CHAT | SERVE_TOKENIZE, NULL, OWN, 0},
    {"tokens", SERVE_DETOKENIZE, NULL, OWN, 0},
    {"max_tokens", ANSWERS, set_max_tokens, OWN, 0},
    {"max_completion_tokens", SERVE_CHAT, set_max_tokens, OWN, 0},
    {"temperature", ANSWERS, set_temperature, OWN, 0},
    {"seed", ANSWERS, set_seed, OWN, 0},
    {"logprobs", ANSWERS, set_logprobs, OWN, 0},
    {"top_logprobs", SERVE_CHAT, set_top_logprobs, OWN, 0},
    {"stop", ANSWERS, set_stop, OWN, 0},
    {"return_token_strs", SERVE_TOKENIZE, set_token_texts, OWN, 0},
    {"n", ANSWERS, NULL, ONLY_NUMBER, 1},
    {"best_of", SERVE_COMPLETIONS, NULL, ONLY_NUMBER, 1},
    {"echo", ANSWERS, NULL, ONLY_FALSE, 0},
    {"stream", ANSWERS, NULL, ONLY_FALSE, 0},
    {"stream_options", ANSWERS, NULL, NOTHING, 0},
    {"prompt_logprobs", ANSWERS, NULL, NOTHING, 0},
    {"suffix", SERVE_COMPLETIONS, NULL, NOTHING, 0},
    {"top_p", ANSWERS, NULL, ONLY_NUMBER, 1},
    {"top_k", ANSWERS, NULL, ONLY_NUMBER, -1},
    {"min_p", ANSWERS, NULL, ONLY_NUMBER, 0},
    {"presence_penalty", ANSWERS, NULL, ONLY_NUMBER, 0},
    {"frequency_penalty", ANSWERS, NULL, ONLY_NUMBER, 0},
    {"repetition_penalty", ANSWERS, NULL, ONLY_NUMBER, 1},
    {"min_tokens", ANSWERS, NULL, ONLY_NUMBER, 0},
    {"thinking_token_budget", ANSWERS, NULL, ONLY_NUMBER, 0},
    {"logit_bias", ANSWERS, NULL, ONLY_EMPTY, 0},
    {"tools", SERVE_CHAT, NULL, ONLY_EMPTY, 0},
    {"reasoning_effort", SERVE_CHAT, NULL, ONLY_NONE, 0},
    {"ignore_eos", ANSWERS, NULL, ONLY_FALSE, 0},
    {"return_token_ids", ANSWERS, NULL, ONLY_FALSE, 0},
    {"skip_special_tokens", ANSWERS, NULL, ANY_BOOL, 0},
    {"add_special_tokens", TEXTS, NULL, ANY_BOOL, 0},
    {"add_generation_prompt", SERVE_CHAT | SERVE_TOKENIZE, NULL, ANY_BOOL, 0},
    {"cache_prompt", ANSWERS, NULL, ANY_BOOL, 0},
    {"store", SERVE_CHAT, NULL, ONLY_FALSE, 0},
    {"cache_salt", ANSWERS, NULL, ANY_STRING, 0},
    {"user", ANSWERS, NULL, ANY_STRING, 0},
    {"metadata", SERVE_CHAT, NULL, ANY_OBJECT, 0},
    {"chat_template_kwargs", SERVE_CHAT | SERVE_TOKENIZE, NULL, ANY_OBJECT, 0},
};

static bool is_number(const rung_json *value, double wanted)
{
    double number;
    return rung_json_real(&number, value) && number == wanted;
}

static bool is_neutral(const field *f, const rung_json *value)
{
    bool truth = false;
    rung_json_kind kind = rung_json_kind_of(value);
    const char *text = rung_json_string(value);
    switch (f->neutral) {
    case OWN:
    case NOTHING:
        return false;
    case ANY_BOOL:
        return kind == RUNG_JSON_BOOL;
    case ANY_STRING:
        return text != NULL;
    case ANY_OBJECT:
        return kind == RUNG_JSON_OBJECT;
    case ONLY_FALSE:
        return rung_json_bool(&truth, value) && !truth;
    case ONLY_NUMBER:
        return is_number(value, f->number);
    case ONLY_EMPTY:
        return (kind == RUNG_JSON_OBJECT || kind == RUNG_JSON_ARRAY) && rung_json_len(value) == 0;
    case ONLY_NONE:
        return text && strcmp(text, "none") == 0;
    }
    return false;
}

static const char *wanted_text(char *room, size_t size, const field *f)
{
    static const char *const words[] = {
        [ANY_BOOL] = "true or false",
        [ANY_STRING] = "a string",
        [ANY_OBJECT] = "an object",
        [ONLY_FALSE] = "false, or absent",
        [ONLY_EMPTY] = "empty, or absent",
        [ONLY_NONE] = "\"none\", or absent",
        [NOTHING] = "absent",
    };
    if (f->neutral != ONLY_NUMBER) return words[f->neutral];
    snprintf(room, size, "%g, or absent", f->number);
    return room;
}

static const field *find_field(const char *name, serve_route route)
{
    for (size_t i = 0; i < RUNG_COUNT(fields); i++)
        if ((fields[i].routes & (int)route) && strcmp(fields[i].name, name) == 0) return &fields[i];
    return NULL;
}

static bool unknown_field(const char *name, serve_route route, serve_fault *fault)
{
    const char *known[RUNG_COUNT(fields)];
    size_t count = 0;
    for (size_t i = 0; i < RUNG_COUNT(fields); i++)
        if (fields[i].routes & (int)route) known[count++] = fields[i].name;
    const char *nearest = rung_nearest_name(name, known, count);
    return serve_refuse(fault, 400, name, "field '%.60s' is not supported by this server%s%s%s", name,
                        nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static bool read_field(serve_request *r, const char *name, const rung_json *value, serve_fault *fault)
{
    char room[48];
    const field *f = find_field(name, r->route);
    if (!f) return unknown_field(name, r->route, fault);
    if (rung_json_kind_of(value) == RUNG_JSON_NULL) return true; /* treated as absent */
    if (f->set) return f->set(r, value, name, fault);
    if (f->neutral == OWN || is_neutral(f, value)) return true;
    return serve_refuse(fault, 400, name, "this server supports '%s' only as %s", name,
                        wanted_text(room, sizeof room, f));
}

static bool check_model(const rung_json *body, const char *model, serve_fault *fault)
{
    const rung_json *value = rung_json_get(body, "model");
    if (rung_json_kind_of(value) <= RUNG_JSON_NULL) return true; /* the server has only one model */
    const char *name = rung_json_string(value);
    if (!name) return serve_refuse(fault, 400, "model", "'model' must be a string");
    if (strcmp(name, model) != 0)
        return serve_refuse(fault, 404, "model", "The model `%.100s` does not exist; this server has `%.100s`.", name,
                            model);
    return true;
}

bool serve_request_read(serve_request *r, const rung_json *body, serve_route route, const char *model,
                        const serve_tokens *tokens, size_t most, serve_fault *fault)
{
    *r = (serve_request){.route = route, .max_tokens = route == SERVE_CHAT ? INT32_MAX : 16, .temperature = 1};
    if (rung_json_kind_of(body) != RUNG_JSON_OBJECT)
        return serve_refuse(fault, 400, NULL, "the body must be an object");
    for (size_t i = 0; i < rung_json_len(body); i++)
        if (!read_field(r, rung_json_key_at(body, i), rung_json_value_at(body, i), fault)) return false;
    if (r->tops_given && !r->logprobs)
        return serve_refuse(fault, 400, "top_logprobs", "'top_logprobs' needs \"logprobs\": true");
    return check_model(body, model, fault) && serve_prompts_read(r, body, tokens, most, fault);
}

void serve_request_clear(serve_request *r)
{
    for (size_t i = 0; i < r->prompts; i++) {
        rung_buf_clear(&r->prompt[i].text);
        serve_ids_clear(&r->prompt[i].ids);
    }
    r->prompts = 0;
}
