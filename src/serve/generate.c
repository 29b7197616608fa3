/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Runs the model on one prompt. The reply is the answer, after the chain of thought if the model has one; each token is
 * chosen from the read-out after the previous ones. Log-probabilities are those of the softmax of the read-out,
 * independent of the temperature, and never below -9999, as in vLLM.
 */
#include "generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOGPROB_LEAST (-9999.0)

typedef struct run {
    const serve_model *m;
    const rung_model_spec *spec;
    const serve_request *request;
    rung_session *session;
    double *out; /* [spec->answers] */
    size_t room; /* tokens that still fit into the session */
    rung_rng rng;
    rung_error *err;
} run;

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

static double log_sum(const double *x, size_t count, double largest)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += exp(x[i] - largest);
    return largest + log(sum);
}

static double logprob(const run *r, size_t row, double total)
{
    double value = r->out[row] - total;
    return value >= LOGPROB_LEAST ? value : LOGPROB_LEAST;
}

static size_t sample(run *r, double largest)
{
    size_t rows = r->spec->answers, row = 0;
    double sum = 0, t = r->request->temperature;
    for (size_t i = 0; i < rows; i++) sum += exp((r->out[i] - largest) / t);
    double left = rung_rng_unit(&r->rng) * sum;
    for (; row + 1 < rows; row++) {
        left -= exp((r->out[row] - largest) / t);
        if (left < 0) break;
    }
    return row;
}

static void fill_tops(serve_token *token, const run *r, size_t wanted, double total)
{
    token->tops = 0;
    for (size_t row = 0; row < r->spec->answers; row++) {
        size_t at = token->tops;
        while (at > 0 && r->out[token->top[at - 1].row] < r->out[row]) at--;
        if (at == wanted) continue;
        if (token->tops < wanted) token->tops++;
        memmove(&token->top[at + 1], &token->top[at], (token->tops - 1 - at) * sizeof *token->top);
        token->top[at] = (serve_choice){row, logprob(r, row, total)};
    }
}

static void choose(serve_token *token, run *r)
{
    size_t best = rung_argmax(r->out, r->spec->answers);
    double largest = r->out[best], total = log_sum(r->out, r->spec->answers, largest);
    size_t row = r->request->temperature > 0 ? sample(r, largest) : best;
    token->chosen = (serve_choice){row, logprob(r, row, total)};
    if (r->request->logprobs) fill_tops(token, r, (size_t)r->request->tops, total);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static size_t first_thought(const rung_model_spec *spec)
{
    return spec->answers - spec->thoughts;
}

void serve_row_text(rung_buf *out, const serve_reply *reply, const serve_model *m, size_t row, size_t index)
{
    const rung_model_spec *spec = rung_model_get_spec(m->model);
    if (index > 0 || reply->spaced) rung_buf_putc(out, ' ');
    if (row >= first_thought(spec))
        serve_thought_text(out, row - first_thought(spec));
    else
        rung_text_book_answer(out, reply->book, m->task, (int32_t)row);
}

/* Cuts the reply before its first stop string. */
static bool stopped(serve_reply *reply, const serve_request *request)
{
    const char *first = NULL;
    for (size_t i = 0; i < request->stops; i++) {
        const char *at = strstr(reply->text.text, request->stop[i]);
        if (!at || (first && at >= first)) continue;
        first = at;
        reply->stopped_by = request->stop[i];
    }
    if (first) reply->len = (size_t)(first - reply->text.text);
    return first != NULL;
}

static bool grow(serve_reply *reply, size_t *room, rung_error *err)
{
    if (reply->tokens < *room) return true;
    *room = *room ? 2 * *room : 1;
    serve_token *grown = realloc(reply->token, *room * sizeof *grown);
    if (!grown) {
        rung_fail(err, RUNG_SYSTEM, "out of memory");
        return false;
    }
    reply->token = grown;
    return true;
}

static rung_status add_token(serve_reply *reply, run *r, size_t *room)
{
    if (!grow(reply, room, r->err)) return RUNG_SYSTEM;
    serve_token *token = &reply->token[reply->tokens];
    *token = (serve_token){.text = reply->text.len};
    choose(token, r);
    serve_row_text(&reply->text, reply, r->m, token->chosen.row, reply->tokens);
    token->len = reply->text.len - token->text;
    reply->len = reply->text.len;
    reply->tokens++;
    return rung_buf_ok(&reply->text, r->err);
}

/* Generates the tokens of the reply one by one. The read-out after the prompt must be in r->out. */
static rung_status say(serve_reply *reply, run *r)
{
    size_t room = 0;
    for (;;) {
        RUNG_TRY(add_token(reply, r, &room));
        size_t row = reply->token[reply->tokens - 1].chosen.row;
        bool thought = row >= first_thought(r->spec);
        /* As in other servers, the end of a reply counts as a token: if there is no room for it, the reply is cut. */
        reply->finished = stopped(reply, r->request) || (!thought && (int64_t)reply->tokens < r->request->max_tokens);
        if (reply->finished || !thought || (int64_t)reply->tokens >= r->request->max_tokens || r->room == 0)
            return RUNG_OK;
        uint32_t word = (uint32_t)(r->spec->vocab - r->spec->thoughts + (row - first_thought(r->spec)));
        const size_t here = 0;
        RUNG_TRY(rung_session_run(r->session, r->out, &(rung_prompt){.token = &word, .tokens = 1}, RUNG_FORM_SCAN,
                                  &here, 1, r->err));
        r->room--;
    }
}

static rung_status run_prompt(serve_reply *reply, run *r, const rung_instance *instance)
{
    size_t last = instance->tokens - 1, most = instance->tokens;
    if (r->spec->thoughts && r->spec->max_tokens > most) most = r->spec->max_tokens;
    r->room = r->spec->thoughts ? most - instance->tokens : 0;
    r->out = rung_calloc(r->spec->answers, sizeof *r->out, r->err);
    if (!r->out) return RUNG_SYSTEM;
    rung_status status = rung_session_new(&r->session, r->m->program, most, r->err);
    rung_prompt prompt = {.token = instance->token, .tokens = instance->tokens};
    RUNG_NEXT(status, rung_session_run(r->session, r->out, &prompt, RUNG_FORM_SCAN, &last, 1, r->err));
    RUNG_NEXT(status, say(reply, r));
    rung_session_free(r->session);
    free(r->out);
    return status;
}

static bool ends_in_space(const char *text)
{
    size_t len = strlen(text);
    return len == 0 || text[len - 1] == ' ' || text[len - 1] == '\n' || text[len - 1] == '\t';
}

static rung_status read_and_run(serve_reply *reply, rung_instance *instance, const serve_model *m,
                                const serve_request *request, size_t index, rung_error *err)
{
    const char *text = request->prompt[index].text.text;
    RUNG_TRY(rung_instance_init(instance, m->task, err));
    RUNG_TRY(rung_text_read(instance, &reply->book, text, m->task, NULL, err));
    reply->spaced = request->route == SERVE_COMPLETIONS && !ends_in_space(text);
    run r = {.m = m, .spec = rung_model_get_spec(m->model), .request = request, .err = err};
    rung_rng_init(&r.rng, (uint64_t)request->seed, 0x7365727665, index); /* a random stream of its own: "serve" */
    return run_prompt(reply, &r, instance);
}

bool serve_generate(serve_reply *reply, const serve_model *m, const serve_request *request, size_t index,
                    serve_fault *fault)
{
    rung_instance instance = {0};
    rung_error err = {{0}};
    memset(reply, 0, sizeof *reply);
    rung_buf_init(&reply->text);
    rung_status status = read_and_run(reply, &instance, m, request, index, &err);
    rung_instance_clear(&instance);
    if (status == RUNG_OK) return true;
    const char *param = request->route == SERVE_CHAT ? "messages" : "prompt";
    if (status == RUNG_SYSTEM) return serve_refuse(fault, 500, NULL, "%s", err.text);
    return serve_refuse(fault, 400, param, "not a prompt of this model's task: %.400s", err.text);
}

void serve_reply_clear(serve_reply *reply)
{
    rung_buf_clear(&reply->text);
    rung_text_book_free(reply->book);
    free(reply->token);
    memset(reply, 0, sizeof *reply);
}
