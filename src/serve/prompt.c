/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The texts of a request; see prompt.h.
 */
#include "prompt.h"

#include <string.h>

typedef struct reader {
    serve_request *request;
    const serve_tokens *tokens;
    size_t most;
    serve_fault *fault;
} reader;

static bool out_of_memory(serve_fault *fault)
{
    return serve_refuse(fault, 500, NULL, "out of memory");
}

static bool too_long(const reader *in, const char *param)
{
    return serve_refuse(in->fault, 400, param, "the prompt has more than the %zu tokens that this server accepts",
                        in->most);
}

static serve_prompt *next_prompt(const reader *in, const char *param)
{
    serve_request *r = in->request;
    if (r->prompts == SERVE_PROMPTS_MAX) {
        serve_refuse(in->fault, 400, param, "more than %d prompts in one request", SERVE_PROMPTS_MAX);
        return NULL;
    }
    serve_prompt *prompt = &r->prompt[r->prompts++];
    rung_buf_init(&prompt->text);
    prompt->ids = (serve_ids){0};
    return prompt;
}

static bool split(const reader *in, serve_prompt *prompt, const char *param)
{
    if (prompt->text.failed) return out_of_memory(in->fault);
    if (!prompt->text.text) rung_buf_puts(&prompt->text, "");
    serve_tokens_encode(&prompt->ids, in->tokens, prompt->text.text, in->most);
    if (prompt->ids.failed) return out_of_memory(in->fault);
    return prompt->ids.count <= in->most || too_long(in, param);
}

static bool read_string(const reader *in, const rung_json *value, const char *param)
{
    serve_prompt *prompt = next_prompt(in, param);
    if (!prompt) return false;
    rung_buf_puts(&prompt->text, rung_json_string(value));
    return split(in, prompt, param);
}

static bool read_id(const reader *in, serve_prompt *prompt, const rung_json *value, size_t index, const char *param)
{
    int64_t id = 0;
    if (rung_json_kind_of(value) != RUNG_JSON_INT || !rung_json_int(&id, value) || id < 0 ||
        (uint64_t)id >= serve_tokens_count(in->tokens))
        return serve_refuse(in->fault, 400, param, "'%s': entry %zu is not a token id; ids are 0 to %zu", param, index,
                            serve_tokens_count(in->tokens) - 1);
    /* Texts end at a zero byte, and no text of a task contains one. */
    if (id == 0) return serve_refuse(in->fault, 400, param, "'%s': entry %zu is the zero byte", param, index);
    serve_ids_add(&prompt->ids, (uint32_t)id);
    serve_tokens_piece(&prompt->text, in->tokens, (uint32_t)id);
    return true;
}

static bool read_ids(const reader *in, const rung_json *list, const char *param)
{
    serve_prompt *prompt = next_prompt(in, param);
    if (!prompt) return false;
    if (rung_json_len(list) > in->most) return too_long(in, param);
    rung_buf_puts(&prompt->text, "");
    for (size_t i = 0; i < rung_json_len(list); i++)
        if (!read_id(in, prompt, rung_json_at(list, i), i, param)) return false;
    return !prompt->text.failed && !prompt->ids.failed ? true : out_of_memory(in->fault);
}

/* Reads a string, a list of ids, or a list of either. */
static bool read_prompts(const reader *in, const rung_json *value, const char *param)
{
    rung_json_kind kind = rung_json_kind_of(value);
    if (kind == RUNG_JSON_STRING) return read_string(in, value, param);
    if (kind == RUNG_JSON_ARRAY && rung_json_kind_of(rung_json_at(value, 0)) == RUNG_JSON_INT)
        return read_ids(in, value, param);
    bool taken = kind == RUNG_JSON_ARRAY && rung_json_len(value) > 0;
    for (size_t i = 0; taken && i < rung_json_len(value); i++) {
        const rung_json *one = rung_json_at(value, i);
        rung_json_kind of = rung_json_kind_of(one);
        if (of == RUNG_JSON_STRING && !read_string(in, one, param)) return false;
        if (of == RUNG_JSON_ARRAY && !read_ids(in, one, param)) return false;
        taken = of == RUNG_JSON_STRING || of == RUNG_JSON_ARRAY;
    }
    return taken ||
           serve_refuse(in->fault, 400, param,
                        "'%s' must be a string, a list of token ids, or a non-empty list of one of these", param);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static bool add_parts(const reader *in, rung_buf *text, const rung_json *parts)
{
    for (size_t i = 0; i < rung_json_len(parts); i++) {
        const rung_json *part = rung_json_at(parts, i);
        const char *type = rung_json_string(rung_json_get(part, "type"));
        const char *words = rung_json_string(rung_json_get(part, "text"));
        if (!type || strcmp(type, "text") != 0 || !words)
            return serve_refuse(in->fault, 400, "messages",
                                "a part of a message is not {\"type\": \"text\", \"text\": ...}");
        rung_buf_puts(text, words);
    }
    return true;
}

static bool add_message(const reader *in, rung_buf *text, const rung_json *message, size_t index, bool last)
{
    static const char *const roles[] = {"system", "developer", "user", "assistant"};
    const char *role = rung_json_string(rung_json_get(message, "role"));
    const rung_json *content = rung_json_get(message, "content");
    bool known = false;
    for (size_t i = 0; role && i < RUNG_COUNT(roles); i++) known |= strcmp(role, roles[i]) == 0;
    if (!known)
        return serve_refuse(in->fault, 400, "messages",
                            "message %zu needs a role: system, developer, user or assistant", index);
    if (last && strcmp(role, "user") != 0)
        return serve_refuse(in->fault, 400, "messages", "the last message must be from the user");
    if (index) rung_buf_puts(text, "\n\n");
    if (rung_json_kind_of(content) == RUNG_JSON_ARRAY) return add_parts(in, text, content);
    const char *words = rung_json_string(content);
    if (!words) return serve_refuse(in->fault, 400, "messages", "message %zu has no text content", index);
    rung_buf_puts(text, words);
    return true;
}

/* The chat template: the messages, separated by blank lines. The model reads the last one. */
static bool read_messages(const reader *in, const rung_json *messages)
{
    size_t count = rung_json_len(messages);
    if (rung_json_kind_of(messages) != RUNG_JSON_ARRAY || count == 0)
        return serve_refuse(in->fault, 400, "messages", "'messages' must be a non-empty list");
    serve_prompt *prompt = next_prompt(in, "messages");
    if (!prompt) return false;
    for (size_t i = 0; i < count; i++)
        if (!add_message(in, &prompt->text, rung_json_at(messages, i), i, i + 1 == count)) return false;
    return split(in, prompt, "messages");
}

bool serve_prompts_read(serve_request *r, const rung_json *body, const serve_tokens *tokens, size_t most,
                        serve_fault *fault)
{
    reader in = {r, tokens, most, fault};
    const rung_json *prompt = rung_json_get(body, "prompt"), *messages = rung_json_get(body, "messages");
    const rung_json *ids = rung_json_get(body, "tokens");
    if (r->route == SERVE_DETOKENIZE) {
        if (rung_json_kind_of(ids) != RUNG_JSON_ARRAY)
            return serve_refuse(fault, 400, "tokens", "'tokens' must be a list of token ids");
        return read_ids(&in, ids, "tokens");
    }
    if (r->route == SERVE_CHAT || (r->route == SERVE_TOKENIZE && messages && !prompt))
        return read_messages(&in, messages);
    if (r->route == SERVE_TOKENIZE && !rung_json_string(prompt))
        return serve_refuse(fault, 400, "prompt", "'prompt' must be a string, or 'messages' must be given");
    return read_prompts(&in, prompt, "prompt");
}
