/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to probe: one transfer, and its destination.
 */
#ifndef RUNG_PROBE_CLIENT_H
#define RUNG_PROBE_CLIENT_H

#include <curl/curl.h>

#include "rung/probe.h"

/* The destination of requests, parsed once from the base address. */
typedef struct probe_place {
    char *root; /* scheme, host, port and path without /v1 */
    bool https, loopback;
} probe_place;

rung_status probe_place_init(probe_place *place, const char *base_url, rung_error *err);
void probe_place_clear(probe_place *place);

/* Why the result of an attempt cannot be used. */
typedef enum probe_trouble {
    PROBE_FINE = 0,
    PROBE_AGAIN,   /* another attempt may succeed */
    PROBE_REFUSED, /* the server understood the request and refused it */
    /* another attempt would fail in the same way: the reply is too large, or a certificate is not trusted */
    PROBE_NEVER,
} probe_trouble;

/* One attempt of one request. */
typedef struct probe_transfer {
    CURL *easy;
    size_t index, attempt;
    char hash[65];
    rung_buf url, body;             /* body: of the reply, unchanged; only for parsing, never to be stored or shown */
    rung_buf shown;                 /* the same without the key; set by probe_transfer_judge */
    char retry_after[64];           /* the header; "" if none */
    size_t body_most, header_bytes; /* header_bytes: of all replies of this attempt, trailers included */
    double drip_s, started_s, first_byte_s; /* first_byte_s 0: no byte yet */
    bool too_large, drips;
    char problem[CURL_ERROR_SIZE];
} probe_transfer;

/* Settings that all transfers of a client share. */
typedef struct probe_wire {
    const probe_place *place;
    const char *key; /* NULL: none */
    const char *ca_file;
    double timeout_s, drip_s;
    size_t body_most;
    struct curl_slist *headers;
} probe_wire;

rung_status probe_transfer_begin(probe_transfer *transfer, const probe_wire *wire, const rung_client_request *ask,
                                 rung_error *err);
/* Judges the result: status, size, JSON. `text` gets the reason in one line if it cannot be used. */
probe_trouble probe_transfer_judge(long *http, rung_buf *text, probe_transfer *transfer, CURLcode code,
                                   const char *key);
void probe_transfer_clear(probe_transfer *transfer);
/* Appends what a server sent, with every spelling of the key (NULL: none) replaced by "[key]" (redact.c). */
void probe_redact(rung_buf *out, const char *text, size_t len, const char *key);
/* The same for a line of text that may end inside the key. */
void probe_redact_line(rung_buf *out, const char *text, const char *key);

#endif
