/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The client: a queue of requests, several in flight at a time, and pauses that the server or the rate limit demands.
 * The store has every attempt; a request whose reply is in the store is not sent.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

#define KEPT_OF_FAILURE 65536 /* bytes that are kept of an unusable reply */

struct rung_client {
    rung_client_options conf;
    probe_place place;
    probe_wire wire;
    char *key;
    CURLM *multi;
    rung_client_sum total;
    double next_start_s;  /* earliest next start under the rate limit */
    double pause_until_s; /* Retry-After: all requests wait, not only the one that received it */
};

/* One call of rung_client_run. */
typedef struct work {
    rung_client *client;
    const rung_client_request *asks;
    size_t count, next; /* next: the first request that was not started yet */
    bool tolerant, closing;
    rung_client_response_each *each;
    void *context;
    probe_transfer *slot; /* [concurrency] */
    double *again_s;      /* [concurrency] time at which a waiting slot is started again; 0: free, < 0: in flight */
    rung_client_sum sum;
    rung_status status;
    rung_error *err;
} work;

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static rung_status take_key(rung_client *client, rung_error *err)
{
    const char *variable = client->conf.key_variable;
    if (!variable) return RUNG_OK;
    const char *key = getenv(variable);
    if (!key || !*key)
        return rung_fail(err, RUNG_USAGE, "the environment variable %.60s should hold the key, but is %s", variable,
                         key ? "empty" : "not set");
    for (const char *c = key; *c; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 127)
            return rung_fail(
                err, RUNG_USAGE,
                "the key in %.60s contains a space, a line end or a character that is not allowed in a key", variable);
    client->key = strdup(key);
    return client->key ? RUNG_OK : rung_fail(err, RUNG_SYSTEM, "out of memory");
}

static void fill_defaults(rung_client_options *c)
{
    if (c->concurrency == 0) c->concurrency = 8;
    if (c->timeout_s <= 0) c->timeout_s = 300;
    if (c->drip_s <= 0) c->drip_s = 30;
    if (c->backoff_s <= 0) c->backoff_s = 1;
    if (c->patience_s <= 0) c->patience_s = 600;
    if (c->body_most == 0) c->body_most = (size_t)16 << 20;
}

static rung_status open_wire(rung_client *client, rung_error *err)
{
    client->wire = (probe_wire){.place = &client->place,
                                .key = client->key,
                                .ca_file = client->conf.ca_file,
                                .timeout_s = client->conf.timeout_s,
                                .drip_s = client->conf.drip_s,
                                .body_most = client->conf.body_most};
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json");
    client->wire.headers = list;
    struct curl_slist *more = list ? curl_slist_append(list, "User-Agent: rung/" RUNG_VERSION) : NULL;
    if (more) more = curl_slist_append(more, "Expect:"); /* avoids a round trip before the body */
    client->multi = curl_multi_init();
    return more && client->multi ? RUNG_OK : rung_fail(err, RUNG_SYSTEM, "out of memory");
}

rung_status rung_client_new(rung_client **out, const rung_client_options *conf, rung_error *err)
{
#ifdef RUNG_WITHOUT_CURL
    return rung_fail(err, RUNG_SYSTEM, RUNG_WITHOUT_CURL);
#endif
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0) return rung_fail(err, RUNG_SYSTEM, "cannot start libcurl");
    rung_client *client = rung_calloc(1, sizeof *client, err);
    if (!client) {
        curl_global_cleanup();
        return RUNG_SYSTEM;
    }
    client->conf = *conf;
    fill_defaults(&client->conf);
    rung_status status = probe_place_init(&client->place, conf->base_url, err);
    RUNG_NEXT(status, take_key(client, err));
    RUNG_NEXT(status, open_wire(client, err));
    if (status == RUNG_OK)
        *out = client;
    else
        rung_client_free(client);
    return status;
}

void rung_client_free(rung_client *client)
{
    if (!client) return;
    if (client->multi) curl_multi_cleanup(client->multi);
    curl_slist_free_all(client->wire.headers);
    if (client->key) memset(client->key, 0, strlen(client->key));
    free(client->key);
    probe_place_clear(&client->place);
    free(client);
    curl_global_cleanup();
}

rung_client_sum rung_client_total(const rung_client *client)
{
    return client->total;
}

const char *rung_client_root(const rung_client *client)
{
    return client->place.root;
}

bool rung_client_key_exposed(const rung_client *client)
{
    return client->key && !client->place.https && !client->place.loopback;
}

/* ---- ending ------------------------------------------------------------------------------------------------------ */

/* The first failure is reported. Requests in flight are still finished and recorded. */
static void fail_work(work *w, rung_status status)
{
    if (w->status == RUNG_OK) w->status = status;
    w->closing = true;
}

static bool may_begin(work *w)
{
    const rung_client_options *conf = &w->client->conf;
    if (!w->closing && conf->go && !conf->go(conf->context)) w->closing = w->sum.stopped = true;
    return !w->closing;
}

static void hand_over(work *w, size_t index, long http, const rung_buf *body, const rung_buf *shown, bool stored,
                      double seconds)
{
    rung_client_response answer = {.http = http,
                                   .body = body->text ? body->text : "",
                                   .len = body->len,
                                   .shown = shown->text ? shown->text : "",
                                   .shown_len = shown->len,
                                   .stored = stored,
                                   .seconds = seconds};
    w->sum.done++;
    if (!w->each(w->context, index, &answer)) w->closing = w->sum.stopped = true;
}

static void record(work *w, const probe_transfer *t, long http, const char *problem)
{
    const rung_client_request *ask = &w->asks[t->index];
    size_t size = *problem && t->shown.len > KEPT_OF_FAILURE ? KEPT_OF_FAILURE : t->shown.len;
    rung_exchange x = {.hash = t->hash,
                       .url = t->url.text,
                       .request = ask->body ? ask->body : "",
                       .http = http,
                       .problem = problem,
                       .reply = t->shown.text ? t->shown.text : "",
                       .size = size,
                       .attempt = t->attempt,
                       .seconds = rung_wall_s() - t->started_s};
    rung_error err;
    if (!w->client->conf.store) return;
    rung_status status = rung_store_exchange_add(w->client->conf.store, &x, &err);
    if (status == RUNG_OK || w->status != RUNG_OK) return;
    rung_fail(w->err, status, "%s", err.text);
    fail_work(w, status);
}

static bool is_tolerated(const work *w, long http)
{
    return w->tolerant && (http == 400 || http == 404 || http == 405 || http == 422 || http == 501);
}

static const char *advice(long http)
{
    switch (http) {
    case 401:
    case 403:
        return "; if the server requires a key, name its environment variable with --api-key-env";
    case 404:
        return "; check the address and the name of the model";
    case 429:
        return "; send fewer requests: --rpm, --concurrency";
    case 0:
        return "; check that the server is running at this address";
    default:
        return "";
    }
}

static void give_up(work *w, const probe_transfer *t, probe_trouble trouble, long http, const char *problem)
{
    if (w->status != RUNG_OK) return;
    rung_status status = trouble == PROBE_REFUSED ? RUNG_INPUT : RUNG_SYSTEM;
    char tries[40] = "";
    if (t->attempt) snprintf(tries, sizeof tries, " after %zu attempts", t->attempt + 1);
    rung_fail(w->err, status, "%.160s%s: %.260s%s", t->url.text, tries, problem, advice(http));
    fail_work(w, status);
}

/* Seconds to wait before the next attempt. If the server demands a pause, the whole client waits. Negative: too
 * long. */
static double pause_after(work *w, const probe_transfer *t)
{
    rung_client *client = w->client;
    uint64_t seed = rung_hash64(t->hash, 64);
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    double asked = t->retry_after[0] ? rung_retry_after(t->retry_after, (double)now.tv_sec) : -1;
    if (asked > client->conf.patience_s) return -1;
    if (asked >= 0) {
        double until = rung_wall_s() + asked;
        if (until > client->pause_until_s) client->pause_until_s = until;
        return asked;
    }
    return rung_retry_backoff(client->conf.backoff_s, t->attempt, seed);
}

static void free_slot(work *w, size_t s)
{
    probe_transfer_clear(&w->slot[s]);
    w->again_s[s] = 0;
}

static void end_attempt(work *w, size_t s, CURLcode code)
{
    probe_transfer *t = &w->slot[s];
    rung_client *client = w->client;
    long http;
    rung_buf problem;
    rung_buf_init(&problem);
    probe_trouble trouble = probe_transfer_judge(&http, &problem, t, code, client->key);
    if (problem.failed || t->body.failed) trouble = PROBE_NEVER;
    const char *text = trouble == PROBE_FINE ? "" : problem.text ? problem.text : "out of memory";
    bool answer = trouble == PROBE_FINE || is_tolerated(w, http);
    double wait = trouble == PROBE_AGAIN && !answer && t->attempt < client->conf.retries ? pause_after(w, t) : -1;
    curl_easy_cleanup(t->easy);
    t->easy = NULL;
    record(w, t, http, text);
    if (answer) {
        hand_over(w, t->index, http, &t->body, &t->shown, false, rung_wall_s() - t->started_s);
        free_slot(w, s);
    } else if (wait >= 0 && !w->closing) {
        t->attempt++;
        w->again_s[s] = rung_wall_s() + wait;
    } else {
        if (!w->sum.stopped) give_up(w, t, trouble, http, text);
        free_slot(w, s);
    }
    rung_buf_clear(&problem);
}

/* ---- beginning --------------------------------------------------------------------------------------------------- */

static void begin_attempt(work *w, size_t s)
{
    probe_transfer *t = &w->slot[s];
    rung_client *client = w->client;
    rung_error err;
    rung_status status = probe_transfer_begin(t, &client->wire, &w->asks[t->index], &err);
    if (status == RUNG_OK && curl_multi_add_handle(client->multi, t->easy) != CURLM_OK)
        status = rung_fail(&err, RUNG_SYSTEM, "libcurl does not accept another transfer");
    if (status != RUNG_OK) {
        if (w->status == RUNG_OK) rung_fail(w->err, status, "%s", err.text);
        fail_work(w, status);
        free_slot(w, s);
        return;
    }
    w->again_s[s] = -1;
    w->sum.attempts++;
    double now = rung_wall_s();
    if (client->conf.rpm > 0) client->next_start_s = fmax(client->next_start_s, now) + 60 / client->conf.rpm;
}

/* True if the reply was in the store; it has then been passed on. */
static bool was_stored(work *w, const probe_transfer *t)
{
    int64_t http = 0;
    rung_buf reply;
    rung_error err;
    if (!w->client->conf.store || w->asks[t->index].fresh) return false;
    rung_buf_init(&reply);
    rung_status status = rung_store_exchange_find(&reply, &http, w->client->conf.store, t->hash, &err);
    if (status != RUNG_OK) {
        if (w->status == RUNG_OK) rung_fail(w->err, status, "%s", err.text);
        fail_work(w, status);
    } else if (http) {
        w->sum.stored++;
        hand_over(w, t->index, (long)http, &reply, &reply, true, 0);
    }
    rung_buf_clear(&reply);
    return status != RUNG_OK || http;
}

/* Puts the next request that is not in the store into a free slot. False if there is none. */
static bool load_slot(work *w, size_t s)
{
    probe_transfer *t = &w->slot[s];
    while (w->next < w->count && may_begin(w)) {
        const rung_client_request *ask = &w->asks[w->next];
        *t = (probe_transfer){.index = w->next++};
        rung_buf_init(&t->url);
        rung_buf_init(&t->body);
        rung_buf_init(&t->shown);
        rung_buf_printf(&t->url, "%s%s", w->client->place.root, ask->path);
        if (rung_buf_ok(&t->url, w->err) != RUNG_OK) {
            fail_work(w, RUNG_SYSTEM);
            return false;
        }
        rung_exchange_hash(t->hash, t->url.text, ask->body ? ask->body : "");
        w->sum.asked++;
        if (!was_stored(w, t)) return true;
        probe_transfer_clear(t);
    }
    return false;
}

static bool may_start_now(const rung_client *client)
{
    double now = rung_wall_s();
    return now >= client->pause_until_s && now >= client->next_start_s;
}

static void begin_what_may(work *w)
{
    for (size_t s = 0; s < w->client->conf.concurrency; s++) {
        if (w->again_s[s] > 0 && !may_begin(w)) free_slot(w, s); /* waiting for another attempt, so not in flight */
        if (w->again_s[s] == 0 && load_slot(w, s)) w->again_s[s] = rung_wall_s();
        if (w->again_s[s] > 0 && rung_wall_s() >= w->again_s[s] && may_start_now(w->client)) begin_attempt(w, s);
    }
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

static bool is_busy(const work *w)
{
    for (size_t s = 0; s < w->client->conf.concurrency; s++)
        if (w->again_s[s] != 0) return true;
    return false;
}

static void take_ended(work *w)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(w->client->multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        CURLcode code = message->data.result;
        CURL *easy = message->easy_handle;
        void *private = NULL;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
        probe_transfer *t = private;
        curl_multi_remove_handle(w->client->multi, easy);
        end_attempt(w, (size_t)(t - w->slot), code);
    }
}

static void loop(work *w)
{
    int running;
    for (;;) {
        begin_what_may(w);
        if (!is_busy(w) && (w->closing || w->next >= w->count)) return;
        if (curl_multi_perform(w->client->multi, &running) != CURLM_OK ||
            curl_multi_poll(w->client->multi, NULL, 0, 50, NULL) != CURLM_OK) {
            if (w->status == RUNG_OK) rung_fail(w->err, RUNG_SYSTEM, "libcurl failed");
            fail_work(w, RUNG_SYSTEM);
            return;
        }
        take_ended(w);
    }
}

static void add_sum(rung_client_sum *to, const rung_client_sum *from)
{
    to->asked += from->asked;
    to->stored += from->stored;
    to->attempts += from->attempts;
    to->done += from->done;
    to->stopped |= from->stopped;
}

rung_status rung_client_run(rung_client_sum *sum, rung_client *client, const rung_client_request *asks, size_t count,
                            bool tolerant, rung_client_response_each *each, void *context, rung_error *err)
{
    size_t slots = client->conf.concurrency;
    work w = {.client = client,
              .asks = asks,
              .count = count,
              .tolerant = tolerant,
              .each = each,
              .context = context,
              .err = err};
    w.slot = rung_calloc(slots, sizeof *w.slot, err);
    w.again_s = rung_calloc(slots, sizeof *w.again_s, err);
    if (!w.slot || !w.again_s) w.status = RUNG_SYSTEM;
    if (w.status == RUNG_OK) loop(&w);
    for (size_t s = 0; w.slot && s < slots; s++) {
        if (w.slot[s].easy) curl_multi_remove_handle(client->multi, w.slot[s].easy);
        probe_transfer_clear(&w.slot[s]);
    }
    free(w.slot);
    free(w.again_s);
    add_sum(&client->total, &w.sum);
    if (sum) *sum = w.sum;
    return w.status;
}

rung_part rung_part_curl(void)
{
    rung_part part = {
        .name = "libcurl", .gives = "questions to served models: probe", .package = "libcurl4-openssl-dev"};
#ifndef RUNG_WITHOUT_CURL
    part.version = curl_version_info(CURLVERSION_NOW)->version;
#endif
    return part;
}
