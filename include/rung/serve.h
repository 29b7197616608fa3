/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * serve: a model of ours behind the HTTP interface that clients of language models speak. The service turns one request
 * into one reply and knows nothing of connections; the server (libmicrohttpd, the only module that includes it) carries
 * both. Layer 7.
 *
 * Routes: /v1/completions, /v1/chat/completions, /tokenize, /detokenize, /v1/models, /health. The shapes of the replies are
 * those of vLLM. A prompt is the text of an instance of the model's task, in any of the spellings of rung_text_*; the
 * reply is one answer, after the thoughts of a model that has some. A reply is a function of the model and the request.
 */
#ifndef RUNG_SERVE_H
#define RUNG_SERVE_H

#include "rung/model.h"
#include "rung/task.h"

RUNG_API_BEGIN

/* ---- service --------------------------------------------------------------------------------------------------------- */

typedef struct rung_service rung_service;

typedef struct rung_service_options {
    const char *name;  /* the id of the model */
    const char *key;   /* wanted as "Authorization: Bearer KEY"; NULL: none is */
    size_t max_tokens; /* of the text of a prompt */
} rung_service_options;

typedef struct rung_service_request {
    const char *method, *path;
    const char *authorization; /* the header, or NULL */
    const char *body;
    size_t body_len;
} rung_service_request;

typedef struct rung_service_reply {
    unsigned status;   /* of HTTP */
    const char *allow; /* methods, with status 405 */
    rung_buf body;     /* JSON; empty for /health */
    size_t prompt_tokens, completion_tokens;
} rung_service_reply;

/* Model, program and task must outlive the service; the options are copied. RUNG_USAGE: a model over feature vectors, or with
 * more words than a tokenizer should have. */
rung_status rung_service_new(rung_service **out, const rung_model *model, const rung_program *program,
                             const rung_task_conf *task, const rung_service_options *options, rung_error *err);
void rung_service_free(rung_service *service);
/* Any thread may call it at any time. Clear the reply afterwards. */
void rung_service_answer(rung_service_reply *reply, const rung_service *service, const rung_service_request *request);
/* A reply that only says what went wrong. */
void rung_service_refuse(rung_service_reply *reply, unsigned status, const char *message);
void rung_service_reply_clear(rung_service_reply *reply);

/* ---- server ---------------------------------------------------------------------------------------------------------- */

typedef struct rung_server rung_server;

typedef struct rung_server_options {
    const char *address; /* a numeric address, of either version; never a name */
    uint16_t port;       /* 0: any that is free */
    size_t connections;  /* at the same time; further ones are closed */
    size_t body_bytes;   /* of a request */
    unsigned timeout_s;  /* for a request to arrive, and for requests in flight when the server closes */
    size_t threads;      /* 0: all */
    const char
        *allow_host; /* names beside localhost and numeric addresses that Host and Origin may have: "a,b", "*"; NULL */
    FILE *log;       /* a line per request, without keys and texts; NULL: none */
} rung_server_options;

/* Serves from now on, on threads of its own. The service must outlive the server. */
rung_status rung_server_open(rung_server **out, const rung_service *service, const rung_server_options *options,
                             rung_error *err);
const char *rung_server_url(const rung_server *server); /* "http://127.0.0.1:8000" */
/* Closes the connections on which a request has not arrived, or a reply not been taken, in time: whoever opened the server
 * calls it several times in a second. */
void rung_server_tick(rung_server *server);
/* Takes no new connections, finishes the requests in flight, and ends. */
void rung_server_close(rung_server *server);

RUNG_API_END

#endif
