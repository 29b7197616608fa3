/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The texts of a request: strings, token ids, or messages. Private to the module.
 */
#ifndef RUNG_SERVE_PROMPT_H
#define RUNG_SERVE_PROMPT_H

#include "request.h"

/* Fills r->prompt from the field of the route, each as text and as tokens, at most `most` of them. */
bool serve_prompts_read(serve_request *r, const rung_json *body, const serve_tokens *tokens, size_t most,
                        serve_fault *fault);

#endif
