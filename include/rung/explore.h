/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * explore: a local page on which one types layers or drops a configuration, and sees what they hold, can and cannot do.
 * The explorer turns one request into one reply; a server of rung/serve.h transports both. It keeps nothing that a page
 * sends. Layer 10.
 *
 * Routes: GET / is the page, with all that it needs in it. GET /inputs lists the inputs of the command line. POST /look
 * takes what is to be shown as JSON and replies with a document rung.explore/1: the card, the verdict on a task with
 * every theorem, the ledger, memory against the context, and the commands that print the same.
 */
#ifndef RUNG_EXPLORE_H
#define RUNG_EXPLORE_H

#include "rung/serve.h"

RUNG_API_BEGIN

typedef struct rung_explorer rung_explorer;

/* Inputs are files (config.json, GGUF, models of ours) or layers in the arch language. Files are read once, here.
 * `heads` and `head_dim` are for layers that name none. */
typedef struct rung_explorer_options {
    const char *const *input;
    size_t inputs;
    size_t heads, head_dim;
} rung_explorer_options;

rung_status rung_explorer_new(rung_explorer **out, const rung_explorer_options *options, rung_error *err);
void rung_explorer_free(rung_explorer *explorer);
/* A rung_answer; the context is the explorer. */
void rung_explorer_answer(rung_service_reply *reply, const void *explorer, const rung_service_request *request);

RUNG_API_END

#endif
