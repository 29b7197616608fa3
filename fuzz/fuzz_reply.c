/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: replies of a server, read as a completion, as counted tokens, as a list of models, and as an error.
 */
#include "fuzz_tensor.h"

#include <math.h>
#include <string.h>

#include "rung/probe.h"

static void check_reply(const char *body, size_t size)
{
    rung_reply reply;
    rung_error err = {{0}};
    rung_status status = rung_reply_parse(&reply, body, size, &err);
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    if (status == RUNG_OK) {
        require(strlen(reply.text) + strlen(reply.reasoning) + strlen(reply.finish) + strlen(reply.model) < SIZE_MAX);
        require(reply.prompt_tokens >= -1 && reply.completion_tokens >= -1 && reply.tops <= RUNG_REPLY_TOP);
        require(reply.logprobs == (reply.tops > 0));
        for (size_t i = 0; i < reply.tops; i++) {
            require(reply.top[i].logprob <= 0);
            require(i == 0 || reply.top[i - 1].logprob >= reply.top[i].logprob);
        }
    }
    rung_reply_clear(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *body = (const char *)data;
    size_t count, most;
    bool found;
    rung_buf text;
    check_reply(body, size);
    rung_reply_tokens(&count, &most, body, size, NULL);
    rung_buf_init(&text);
    rung_reply_models(&found, &most, &text, "m", body, size, NULL);
    rung_buf_reset(&text);
    rung_reply_complaint(&text, body, size, 200);
    require(text.len > 0 && text.len <= 201 && strlen(text.text) == text.len);
    for (size_t i = 0; i < text.len; i++) require(text.text[i] >= ' ' && text.text[i] < 127);
    rung_buf_clear(&text);
    return 0;
}
