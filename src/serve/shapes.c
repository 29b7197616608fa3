/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The replies as JSON; see shapes.h. `created` is always 0, so that equal requests have equal replies.
 */
#include "shapes.h"

#include <string.h>

static const char *type_of(unsigned status)
{
    switch (status) {
    case 400:
        return "BadRequestError";
    case 401:
        return "AuthenticationError";
    case 404:
        return "NotFoundError";
    case 405:
        return "MethodNotAllowedError";
    case 408:
        return "RequestTimeoutError";
    case 413:
        return "RequestTooLargeError";
    default:
        return "InternalServerError";
    }
}

void serve_put_error(rung_buf *out, unsigned status, const char *param, const char *message)
{
    rung_buf_puts(out, "{\"error\":{\"message\":");
    rung_buf_json_string(out, message);
    rung_buf_printf(out, ",\"type\":\"%s\",\"param\":", type_of(status));
    if (param && *param)
        rung_buf_json_string(out, param);
    else
        rung_buf_puts(out, "null");
    rung_buf_printf(out, ",\"code\":%u}}", status);
}

void serve_put_models(rung_buf *out, const serve_head *head, size_t max_tokens)
{
    rung_buf_puts(out, "{\"object\":\"list\",\"data\":[{\"id\":");
    rung_buf_json_string(out, head->name);
    rung_buf_puts(out, ",\"object\":\"model\",\"created\":0,\"owned_by\":\"rung\",\"root\":");
    rung_buf_json_string(out, head->name);
    rung_buf_printf(out, ",\"parent\":null,\"max_model_len\":%zu,\"permission\":[]}]}", max_tokens);
}

static void put_piece(rung_buf *out, const serve_tokens *tokens, uint32_t id)
{
    rung_buf piece;
    rung_buf_init(&piece);
    serve_tokens_piece(&piece, tokens, id);
    rung_buf_json_string(out, piece.failed ? "" : piece.text);
    rung_buf_clear(&piece);
}

void serve_put_tokens(rung_buf *out, const serve_request *request, const serve_tokens *tokens, size_t max_tokens)
{
    const serve_ids *ids = &request->prompt[0].ids;
    rung_buf_printf(out, "{\"count\":%zu,\"max_model_len\":%zu,\"tokens\":[", ids->count, max_tokens);
    for (size_t i = 0; i < ids->count; i++) rung_buf_printf(out, "%s%u", i ? "," : "", ids->id[i]);
    rung_buf_puts(out, "],\"token_strs\":");
    if (!request->token_texts) {
        rung_buf_puts(out, "null}");
        return;
    }
    for (size_t i = 0; i < ids->count; i++) {
        rung_buf_putc(out, i ? ',' : '[');
        put_piece(out, tokens, ids->id[i]);
    }
    rung_buf_puts(out, ids->count ? "]}" : "[]}");
}

void serve_put_text(rung_buf *out, const serve_request *request)
{
    rung_buf_puts(out, "{\"prompt\":");
    rung_buf_json_string(out, request->prompt[0].text.text);
    rung_buf_putc(out, '}');
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static void put_span(rung_buf *out, const char *text, size_t len)
{
    rung_buf span;
    rung_buf_init(&span);
    rung_buf_add(&span, text, len);
    rung_buf_json_string(out, span.text ? span.text : "");
    rung_buf_clear(&span);
}

static void put_token_text(rung_buf *out, const serve_reply *reply, const serve_token *token)
{
    put_span(out, reply->text.text + token->text, token->len);
}

static void put_row(rung_buf *out, const serve_reply *reply, const serve_model *m, size_t row, size_t index)
{
    rung_buf text;
    rung_buf_init(&text);
    serve_row_text(&text, reply, m, row, index);
    rung_buf_json_string(out, text.failed ? "" : text.text);
    rung_buf_clear(&text);
}

static bool among_tops(const serve_token *token)
{
    for (size_t i = 0; i < token->tops; i++)
        if (token->top[i].row == token->chosen.row) return true;
    return false;
}

/* Writes the likeliest tokens, and the chosen one if it is not among them. */
static void put_top_object(rung_buf *out, const serve_reply *reply, const serve_model *m, size_t index)
{
    const serve_token *token = &reply->token[index];
    size_t extra = !among_tops(token);
    rung_buf_putc(out, '{');
    for (size_t i = 0; i < token->tops + extra; i++) {
        const serve_choice *choice = i < token->tops ? &token->top[i] : &token->chosen;
        if (i) rung_buf_putc(out, ',');
        put_row(out, reply, m, choice->row, index);
        rung_buf_putc(out, ':');
        rung_buf_real(out, choice->logprob);
    }
    rung_buf_putc(out, '}');
}

/* {"text_offset": [...], "token_logprobs": [...], "tokens": [...], "top_logprobs": [{...}]} */
static void put_completion_logprobs(rung_buf *out, const serve_reply *reply, const serve_model *m)
{
    rung_buf_puts(out, "{\"text_offset\":[");
    for (size_t i = 0; i < reply->tokens; i++) rung_buf_printf(out, "%s%zu", i ? "," : "", reply->token[i].text);
    rung_buf_puts(out, "],\"token_logprobs\":[");
    for (size_t i = 0; i < reply->tokens; i++) {
        if (i) rung_buf_putc(out, ',');
        rung_buf_real(out, reply->token[i].chosen.logprob);
    }
    rung_buf_puts(out, "],\"tokens\":[");
    for (size_t i = 0; i < reply->tokens; i++) {
        if (i) rung_buf_putc(out, ',');
        put_token_text(out, reply, &reply->token[i]);
    }
    rung_buf_puts(out, "],\"top_logprobs\":[");
    for (size_t i = 0; i < reply->tokens; i++) {
        if (i) rung_buf_putc(out, ',');
        put_top_object(out, reply, m, i);
    }
    rung_buf_puts(out, "]}");
}

/* "token": ..., "logprob": ..., "bytes": [...] */
static void put_chat_choice(rung_buf *out, const serve_reply *reply, const serve_model *m, const serve_choice *choice,
                            size_t index)
{
    rung_buf text;
    rung_buf_init(&text);
    serve_row_text(&text, reply, m, choice->row, index);
    rung_buf_puts(out, "\"token\":");
    rung_buf_json_string(out, text.failed ? "" : text.text);
    rung_buf_puts(out, ",\"logprob\":");
    rung_buf_real(out, choice->logprob);
    rung_buf_puts(out, ",\"bytes\":[");
    for (size_t i = 0; i < text.len; i++) rung_buf_printf(out, "%s%u", i ? "," : "", (unsigned char)text.text[i]);
    rung_buf_putc(out, ']');
    rung_buf_clear(&text);
}

static void put_chat_logprobs(rung_buf *out, const serve_reply *reply, const serve_model *m)
{
    rung_buf_puts(out, "{\"content\":[");
    for (size_t i = 0; i < reply->tokens; i++) {
        const serve_token *token = &reply->token[i];
        rung_buf_puts(out, i ? ",{" : "{");
        put_chat_choice(out, reply, m, &token->chosen, i);
        rung_buf_puts(out, ",\"top_logprobs\":[");
        for (size_t k = 0; k < token->tops; k++) {
            rung_buf_puts(out, k ? ",{" : "{");
            put_chat_choice(out, reply, m, &token->top[k], i);
            rung_buf_putc(out, '}');
        }
        rung_buf_puts(out, "]}");
    }
    rung_buf_puts(out, "]}");
}

static void put_finish(rung_buf *out, const serve_reply *reply)
{
    rung_buf_printf(out, ",\"finish_reason\":\"%s\",\"stop_reason\":", reply->finished ? "stop" : "length");
    if (reply->stopped_by)
        rung_buf_json_string(out, reply->stopped_by);
    else
        rung_buf_puts(out, "null");
}

static void put_completion(rung_buf *out, const serve_request *request, const serve_reply *reply, const serve_model *m,
                           size_t index)
{
    rung_buf_printf(out, "{\"index\":%zu,\"text\":", index);
    put_span(out, reply->text.text, reply->len);
    rung_buf_puts(out, ",\"logprobs\":");
    if (request->logprobs)
        put_completion_logprobs(out, reply, m);
    else
        rung_buf_puts(out, "null");
    put_finish(out, reply);
    rung_buf_puts(out, ",\"prompt_logprobs\":null}");
}

static void put_chat(rung_buf *out, const serve_request *request, const serve_reply *reply, const serve_model *m)
{
    rung_buf_puts(out, "{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":");
    put_span(out, reply->text.text, reply->len);
    rung_buf_puts(out, ",\"tool_calls\":[]},\"logprobs\":");
    if (request->logprobs)
        put_chat_logprobs(out, reply, m);
    else
        rung_buf_puts(out, "null");
    put_finish(out, reply);
    rung_buf_putc(out, '}');
}

static void put_usage(rung_buf *out, const serve_request *request, const serve_reply *replies)
{
    size_t prompt = 0, completion = 0;
    for (size_t i = 0; i < request->prompts; i++) {
        prompt += request->prompt[i].ids.count;
        completion += replies[i].tokens;
    }
    rung_buf_printf(out,
                    ",\"usage\":{\"prompt_tokens\":%zu,\"total_tokens\":%zu,\"completion_tokens\":%zu,"
                    "\"prompt_tokens_details\":null}",
                    prompt, prompt + completion, completion);
}

void serve_put_answers(rung_buf *out, const serve_head *head, const serve_request *request, const serve_reply *replies,
                       const serve_model *m)
{
    bool chat = request->route == SERVE_CHAT;
    rung_buf_printf(out,
                    "{\"id\":\"%s-%016llx\",\"object\":\"%s\",\"created\":0,\"model\":", chat ? "chatcmpl" : "cmpl",
                    (unsigned long long)head->request, chat ? "chat.completion" : "text_completion");
    rung_buf_json_string(out, head->name);
    rung_buf_puts(out, ",\"system_fingerprint\":");
    rung_buf_json_string(out, head->fingerprint);
    rung_buf_puts(out, ",\"choices\":[");
    for (size_t i = 0; i < request->prompts; i++) {
        if (i) rung_buf_putc(out, ',');
        if (chat)
            put_chat(out, request, &replies[i], m);
        else
            put_completion(out, request, &replies[i], m, i);
    }
    rung_buf_putc(out, ']');
    put_usage(out, request, replies);
    rung_buf_puts(out, chat ? ",\"prompt_logprobs\":null}" : "}");
}
