/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The replies as JSON, in the shapes of vLLM. Private to the module.
 */
#ifndef RUNG_SERVE_SHAPES_H
#define RUNG_SERVE_SHAPES_H

#include "generate.h"

/* Fields that every reply to a prompt has. */
typedef struct serve_head {
    const char *name;        /* of the model */
    const char *fingerprint; /* of model and evaluator */
    uint64_t request;        /* a hash of the request; it becomes the id */
} serve_head;

void serve_put_error(rung_buf *out, unsigned status, const char *param, const char *message);
void serve_put_models(rung_buf *out, const serve_head *head, size_t max_tokens);
void serve_put_tokens(rung_buf *out, const serve_request *request, const serve_tokens *tokens, size_t max_tokens);
void serve_put_text(rung_buf *out, const serve_request *request);
/* replies: one for each prompt. */
void serve_put_answers(rung_buf *out, const serve_head *head, const serve_request *request, const serve_reply *replies,
                       const serve_model *model);

#endif
