/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * serve: offers a model of ours by the HTTP interface that clients of language models use. The service turns one
 * request into one reply and knows nothing of connections. The server (libmicrohttpd, which no other module includes)
 * transports both. Layer 7.
 *
 * Routes: /v1/completions, /v1/chat/completions, /tokenize, /detokenize, /v1/models, /health. The replies have the
 * shapes of vLLM's. A prompt is the text of an instance of the model's task, in any of the spellings of rung_text_*.
 * The reply is one answer, after the chain of thought if the model has one. A reply is a function of the model and the
 * request.
 */
#ifndef RUNG_SERVE_H
#define RUNG_SERVE_H

#include "rung/model.h"
#include "rung/task.h"

RUNG_API_BEGIN

/* ---- service ----------------------------------------------------------------------------------------------------- */

typedef struct rung_service rung_service;

typedef struct rung_service_options {
    const char *name;  /* the id of the model */
    const char *key;   /* required as "Authorization: Bearer KEY"; NULL: no key is required */
    size_t max_tokens; /* longest prompt text, in tokens */
} rung_service_options;

typedef struct rung_service_request {
    const char *method, *path;
    const char *authorization; /* the header, or NULL */
    const char *body;
    size_t body_len;
} rung_service_request;

typedef struct rung_service_reply {
    unsigned status;      /* HTTP status */
    const char *allow;    /* allowed methods, with status 405 */
    const char *type;     /* of the body; NULL: application/json */
    const char *security; /* Content-Security-Policy of a page; NULL: none */
    rung_buf body;        /* empty for /health */
    size_t prompt_tokens, completion_tokens;
} rung_service_reply;

/* Model, program and task must outlive the service; the options are copied. RUNG_USAGE for a model over feature
 * vectors, or with more words than a tokenizer should have. */
rung_status rung_service_new(rung_service **out, const rung_model *model, const rung_program *program,
                             const rung_task_conf *task, const rung_service_options *options, rung_error *err);
void rung_service_free(rung_service *service);
/* Any thread may call it at any time. Clear the reply afterwards. */
void rung_service_answer(rung_service_reply *reply, const rung_service *service, const rung_service_request *request);
/* Makes a reply that only contains an error message. */
void rung_service_refuse(rung_service_reply *reply, unsigned status, const char *message);
void rung_service_reply_clear(rung_service_reply *reply);

/* ---- server ------------------------------------------------------------------------------------------------------ */

typedef struct rung_server rung_server;

typedef struct rung_server_options {
    const char *address; /* a numeric address, IPv4 or IPv6; no host names */
    uint16_t port;       /* 0: any free port */
    size_t connections;  /* at the same time; the server closes further ones */
    size_t body_bytes;   /* largest request in bytes */
    unsigned timeout_s;  /* seconds for a request to arrive, and for requests in flight when the server closes */
    size_t threads;      /* 0: all */
    /* names that Host and Origin may have, beside localhost and numeric addresses: "a,b" or "*"; NULL: none */
    const char *allow_host;
    FILE *log; /* a line per request, without keys and texts; NULL: none */
} rung_server_options;

/* What makes a reply of a request. Any thread may call it at any time. */
typedef void rung_answer(rung_service_reply *reply, const void *context, const rung_service_request *request);

/* Starts to serve, on threads of its own. The service must outlive the server. */
rung_status rung_server_open(rung_server **out, const rung_service *service, const rung_server_options *options,
                             rung_error *err);
/* The same with other replies than those of a model. The context must outlive the server. */
rung_status rung_server_open_with(rung_server **out, rung_answer *answer, const void *context,
                                  const rung_server_options *options, rung_error *err);
const char *rung_server_url(const rung_server *server); /* "http://127.0.0.1:8000" */
/* Closes connections on which a request did not arrive, or a reply was not read, in time. The owner of the server must
 * call it several times a second. */
void rung_server_tick(rung_server *server);
/* Accepts no new connections, finishes the requests in flight, and ends. */
void rung_server_close(rung_server *server);

rung_part rung_part_microhttpd(void);

RUNG_API_END

#endif
