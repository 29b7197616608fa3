/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One attempt of one request: sets up libcurl, collects the reply, and decides whether it can be used. Sizes and times
 * are bounded here, so that no server can make us wait or grow without limit.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client.h"
#include "rung/io.h"

#define HEADERS_MOST ((size_t)1 << 18)

/* ---- callbacks --------------------------------------------------------------------------------------------------- */

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    probe_transfer *t = context;
    size_t len = size * count;
    if (t->first_byte_s == 0) t->first_byte_s = rung_wall_s();
    if (len > t->body_most - t->body.len) {
        t->too_large = true;
        return 0; /* makes libcurl end the transfer */
    }
    rung_buf_add(&t->body, bytes, len);
    return t->body.failed ? 0 : len;
}

/* Also called for the trailers of a chunked body, which libcurl would collect without limit. */
static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
    static const char name[] = "retry-after:";
    probe_transfer *t = context;
    size_t len = size * count, start = sizeof name - 1;
    t->header_bytes += len;
    if (t->header_bytes > HEADERS_MOST) {
        t->too_large = true;
        return 0;
    }
    if (len > 5 && strncasecmp(bytes, "HTTP/", 5) == 0) t->retry_after[0] = '\0'; /* a new reply, after a redirect */
    if (len <= start || strncasecmp(bytes, name, start) != 0) return len;
    while (start < len && isspace((unsigned char)bytes[start])) start++;
    size_t end = len;
    while (end > start && isspace((unsigned char)bytes[end - 1])) end--;
    size_t keep = end - start < sizeof t->retry_after - 1 ? end - start : sizeof t->retry_after - 1;
    memcpy(t->retry_after, bytes + start, keep);
    t->retry_after[keep] = '\0';
    return len;
}

/* A server may compute for long before it sends the first byte, but then the reply is complete: a slow trickle of bytes
 * is an error. */
static int watch(void *context, curl_off_t all, curl_off_t now, curl_off_t up_all, curl_off_t up)
{
    probe_transfer *t = context;
    (void)all, (void)now, (void)up_all, (void)up;
    t->drips = t->first_byte_s > 0 && rung_wall_s() - t->first_byte_s > t->drip_s;
    return t->drips;
}

/* ---- setting up -------------------------------------------------------------------------------------------------- */

static void set_limits(CURL *easy, const probe_wire *wire, probe_transfer *t)
{
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(wire->timeout_s * 1000));
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)((wire->timeout_s < 30 ? wire->timeout_s : 30) * 1000));
    curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)wire->body_most);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, watch);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->problem);
}

/* Certificates are always verified. A redirect may not leave encryption, and libcurl sends the key to no other host or
 * port. */
static void set_trust(CURL *easy, const probe_wire *wire)
{
    const char *protocols = wire->place->https ? "https" : "http,https";
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, protocols);
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    if (wire->ca_file) curl_easy_setopt(easy, CURLOPT_CAINFO, wire->ca_file);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, 3L);
    curl_easy_setopt(easy, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_ALL);
    curl_easy_setopt(easy, CURLOPT_UNRESTRICTED_AUTH, 0L);
    if (wire->place->loopback) curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    if (!wire->key) return;
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
    curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, wire->key);
}

rung_status probe_transfer_begin(probe_transfer *t, const probe_wire *wire, const rung_client_request *ask,
                                 rung_error *err)
{
    t->easy = curl_easy_init();
    if (!t->easy) return rung_fail(err, RUNG_SYSTEM, "out of memory");
    rung_buf_reset(&t->body);
    rung_buf_reset(&t->shown);
    t->retry_after[0] = t->problem[0] = '\0';
    t->too_large = t->drips = false;
    t->header_bytes = 0;
    t->first_byte_s = 0;
    t->started_s = rung_wall_s();
    t->body_most = wire->body_most;
    t->drip_s = wire->drip_s;
    set_limits(t->easy, wire, t);
    set_trust(t->easy, wire);
    curl_easy_setopt(t->easy, CURLOPT_URL, t->url.text);
    curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, wire->headers);
    if (!ask->body) return RUNG_OK;
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(ask->body));
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, ask->body);
    return RUNG_OK;
}

void probe_transfer_clear(probe_transfer *t)
{
    if (t->easy) curl_easy_cleanup(t->easy);
    t->easy = NULL;
    rung_buf_clear(&t->url);
    rung_buf_clear(&t->body);
    rung_buf_clear(&t->shown);
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

static bool worth_another(CURLcode code)
{
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_FILESIZE_EXCEEDED:
    case CURLE_OUT_OF_MEMORY:
        return false;
    default:
        return true;
    }
}

static probe_trouble judge_failure(rung_buf *text, const probe_transfer *t, CURLcode code)
{
    if (t->too_large || code == CURLE_FILESIZE_EXCEEDED) {
        if (t->header_bytes > HEADERS_MOST)
            rung_buf_printf(text, "the headers of the reply are larger than %zu bytes", HEADERS_MOST);
        else
            rung_buf_printf(text, "the reply is larger than %zu bytes", t->body_most);
        return PROBE_NEVER;
    }
    if (t->drips) {
        rung_buf_printf(text, "the reply arrives too slowly: %zu bytes in %.0f s", t->body.len, t->drip_s);
        return PROBE_AGAIN;
    }
    rung_buf_puts(text, t->problem[0] ? t->problem : curl_easy_strerror(code));
    return worth_another(code) ? PROBE_AGAIN : PROBE_NEVER;
}

static bool is_passing(long http)
{
    return http == 408 || http == 425 || http == 429 || (http >= 500 && http != 501 && http != 505);
}

/* Broken JSON, such as a proxy's page or half a document: another attempt may succeed, and the reply is not kept for
 * reuse. */
static probe_trouble judge_json(rung_buf *text, const probe_transfer *t)
{
    rung_json_doc *doc = NULL;
    rung_error err = {{0}};
    if (rung_json_parse_python(&doc, t->body.text ? t->body.text : "", t->body.len, "the reply", &err) == RUNG_OK) {
        rung_json_free(doc);
        return PROBE_FINE;
    }
    rung_buf_printf(text, "status 200, but %s: ", err.text);
    rung_reply_complaint(text, t->shown.text ? t->shown.text : "", t->shown.len, 120);
    return PROBE_AGAIN;
}

static probe_trouble judge(long *http, rung_buf *text, probe_transfer *t, CURLcode code)
{
    *http = 0;
    if (code != CURLE_OK) return judge_failure(text, t, code);
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, http);
    if (*http >= 200 && *http < 300) return judge_json(text, t);
    rung_buf_printf(text, "status %ld: ", *http);
    rung_reply_complaint(text, t->shown.text ? t->shown.text : "", t->shown.len, 240);
    return is_passing(*http) ? PROBE_AGAIN : PROBE_REFUSED;
}

probe_trouble probe_transfer_judge(long *http, rung_buf *text, probe_transfer *t, CURLcode code, const char *key)
{
    rung_buf said;
    rung_buf_init(&said);
    rung_buf_reset(&t->shown);
    probe_redact(&t->shown, t->body.text ? t->body.text : "", t->body.len, key);
    probe_trouble trouble = judge(http, &said, t, code);
    probe_redact_line(text, said.text ? said.text : "", key); /* messages of libcurl contain host names */
    if (said.failed || t->shown.failed) text->failed = true;
    rung_buf_clear(&said);
    return trouble;
}
