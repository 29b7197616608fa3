/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to serve: from the text of a prompt to the tokens of a reply.
 */
#ifndef RUNG_SERVE_GENERATE_H
#define RUNG_SERVE_GENERATE_H

#include "request.h"
#include "rung/model.h"

typedef struct serve_model {
    const rung_model *model;
    const rung_program *program;
    const rung_task_conf *task;
} serve_model;

/* A candidate for a token of the reply. */
typedef struct serve_choice {
    size_t row; /* row of the read-out */
    double logprob;
} serve_choice;

typedef struct serve_token {
    size_t text, len; /* offset and length in the text of the reply */
    serve_choice chosen;
    size_t tops;
    serve_choice top[SERVE_LOGPROBS_MAX]; /* the likeliest first; of equals, the lower row first */
} serve_token;

typedef struct serve_reply {
    rung_buf text; /* all tokens; the part before a stop string is the reply */
    size_t len;    /* bytes of that part */
    serve_token *token;
    size_t tokens;
    const char *stopped_by; /* the stop string, or NULL */
    bool finished;          /* false: there was no room for more tokens */
    rung_text_book *book;   /* names of the answers */
    bool spaced;            /* a token has a space before it */
} serve_reply;

/* Answers prompt number `index` of the request. Clear the reply also when this fails. */
bool serve_generate(serve_reply *reply, const serve_model *model, const serve_request *request, size_t index,
                    serve_fault *fault);
void serve_reply_clear(serve_reply *reply);
/* Appends the text that a row of the read-out would have as token number `index` of the reply. */
void serve_row_text(rung_buf *out, const serve_reply *reply, const serve_model *model, size_t row, size_t index);

#endif
