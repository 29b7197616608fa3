/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to serve: the texts of a request, which are strings, token ids, or messages.
 */
#ifndef RUNG_SERVE_PROMPT_H
#define RUNG_SERVE_PROMPT_H

#include "request.h"

/* Fills r->prompt from the field that the route uses, each as text and as tokens, at most `most` tokens. */
bool serve_prompts_read(serve_request *r, const rung_json *body, const serve_tokens *tokens, size_t most,
                        serve_fault *fault);

#endif
