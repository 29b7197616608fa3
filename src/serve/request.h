/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to serve: what a request asks for. A field that would change the reply and is not supported is refused by
 * name. A field whose value changes nothing is accepted.
 */
#ifndef RUNG_SERVE_REQUEST_H
#define RUNG_SERVE_REQUEST_H

#include "rung/io.h"
#include "tokens.h"

#define SERVE_PROMPTS_MAX  64
#define SERVE_STOPS_MAX    16
#define SERVE_LOGPROBS_MAX 20 /* as in vLLM */

/* Why a request is refused; status 0 when it is not. */
typedef struct serve_fault {
    unsigned status;
    char param[48]; /* the field, or "" */
    rung_error err;
} serve_fault;

/* Fills the fault and returns false. `param` may be NULL. */
bool serve_refuse(serve_fault *fault, unsigned status, const char *param, const char *format, ...) RUNG_PRINTF(4, 5);

typedef enum serve_route {
    SERVE_COMPLETIONS = 1,
    SERVE_CHAT = 2,
    SERVE_TOKENIZE = 4,
    SERVE_DETOKENIZE = 8,
} serve_route;

/* One text to answer or to split. */
typedef struct serve_prompt {
    rung_buf text;
    serve_ids ids;
} serve_prompt;

typedef struct serve_request {
    serve_route route;
    size_t prompts;
    serve_prompt prompt[SERVE_PROMPTS_MAX];
    int64_t max_tokens;
    double temperature;
    int64_t seed;
    bool logprobs;    /* asked for */
    int64_t tops;     /* number of likeliest candidates */
    bool tops_given;  /* chat: needs logprobs */
    bool token_texts; /* /tokenize */
    size_t stops;
    const char *stop[SERVE_STOPS_MAX]; /* borrowed from the document */
} serve_request;

/* Parses a body. `model` is the value that the field model must have. Clear the request in any case, before the
 * document. */
bool serve_request_read(serve_request *request, const rung_json *body, serve_route route, const char *model,
                        const serve_tokens *tokens, size_t most, serve_fault *fault);
void serve_request_clear(serve_request *request);

#endif
