/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The HTTP side: connections, limits, the log, and a shutdown that loses no request. libmicrohttpd runs a pool of
 * threads; the thread that reads a request answers it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "origin.h"
#include "rung/par.h"
#include "rung/serve.h"

#define HEADER_BYTES (32 * 1024) /* request line and headers; for more the library replies 431 */

/* An open connection. A request must have arrived, or a reply must have been read, by its deadline. The library's own
 * timeout does not suffice: it restarts with every byte. */
typedef struct line {
    rung_mutex held;
    int socket;        /* -1: this entry is free */
    double deadline_s; /* 0: none, while the model computes */
} line;

struct rung_server {
    rung_answer *answer;
    const void *context; /* of answer */
    rung_server_options options;
    struct MHD_Daemon *daemon;
    atomic_size_t in_flight, open;
    line *lines;
    size_t line_count;
    char url[96];
};

/* One request in progress. */
typedef struct exchange {
    rung_server *server;
    rung_buf body;
    size_t received;
    double started_s;
    rung_service_reply reply;
    bool answered;
    char method[12], path[64];
} exchange;

/* ---- the log ----------------------------------------------------------------------------------------------------- */

static void client_text(char *out, size_t size, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    snprintf(out, size, "-");
    if (!info) return;
    const struct sockaddr *from = info->client_addr;
    if (from->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)from)->sin_addr, out, (socklen_t)size);
    if (from->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, out, (socklen_t)size);
}

/* The client chooses the path, so only plain path characters go into the log. */
static void copy_plain(char *out, size_t size, const char *text)
{
    size_t i = 0;
    for (; i + 1 < size && text[i]; i++) out[i] = text[i] > ' ' && text[i] < 0x7f ? text[i] : '?';
    out[i] = '\0';
}

static void log_exchange(const exchange *x, struct MHD_Connection *connection, bool completed)
{
    char client[INET6_ADDRSTRLEN], when[32];
    FILE *log = x->server->options.log;
    if (!log) return;
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    client_text(client, sizeof client, connection);
    fprintf(log, "%s %s %s %s %u %zu+%zu tokens %.1f ms%s\n", when, client, x->method, x->path, x->reply.status,
            x->reply.prompt_tokens, x->reply.completion_tokens, 1000 * (rung_wall_s() - x->started_s),
            completed ? "" : " (connection lost)");
    fflush(log);
}

/* ---- deadlines --------------------------------------------------------------------------------------------------- */

static line *line_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* Sets the deadline this many seconds from now; 0: none. */
static void set_deadline(struct MHD_Connection *connection, double seconds)
{
    line *l = line_of(connection);
    if (!l) return;
    rung_mutex_lock(&l->held);
    l->deadline_s = seconds > 0 ? rung_wall_s() + seconds : 0;
    rung_mutex_unlock(&l->held);
}

static line *take_line(rung_server *s, int socket)
{
    for (size_t i = 0; i < s->line_count; i++) {
        line *l = &s->lines[i];
        rung_mutex_lock(&l->held);
        bool mine = l->socket < 0;
        if (mine) l->socket = socket, l->deadline_s = 0;
        rung_mutex_unlock(&l->held);
        if (mine) return l;
    }
    return NULL;
}

/* Called before the library closes the socket, so that we never shut down a descriptor that was reused. */
static void drop_line(line *l)
{
    rung_mutex_lock(&l->held);
    l->socket = -1;
    rung_mutex_unlock(&l->held);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode code)
{
    rung_server *s = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        atomic_fetch_sub(&s->open, 1);
        if (*state) drop_line(*state);
        *state = NULL;
        return;
    }
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    atomic_fetch_add(&s->open, 1);
    *state = info ? take_line(s, info->connect_fd) : NULL;
    line *l = *state;
    if (!l) return;
    rung_mutex_lock(&l->held);
    l->deadline_s = rung_wall_s() + s->options.timeout_s;
    rung_mutex_unlock(&l->held);
}

/* The library would queue further connections; they are closed at once instead. */
static enum MHD_Result on_accept(void *context, const struct sockaddr *address, socklen_t size)
{
    const rung_server *s = context;
    (void)address, (void)size;
    return atomic_load(&s->open) < s->options.connections ? MHD_YES : MHD_NO;
}

void rung_server_tick(rung_server *s)
{
    double now = rung_wall_s();
    for (size_t i = 0; i < s->line_count; i++) {
        line *l = &s->lines[i];
        rung_mutex_lock(&l->held);
        bool late = l->socket >= 0 && l->deadline_s > 0 && now > l->deadline_s;
        if (late) shutdown(l->socket, SHUT_RDWR), l->deadline_s = 0; /* the library notices the end and cleans up */
        rung_mutex_unlock(&l->held);
    }
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static exchange *exchange_new(rung_server *server, const char *method, const char *path)
{
    exchange *x = rung_calloc(1, sizeof *x, NULL);
    if (!x) return NULL;
    x->server = server;
    x->started_s = rung_wall_s();
    rung_buf_init(&x->body);
    rung_buf_init(&x->reply.body);
    copy_plain(x->method, sizeof x->method, method);
    copy_plain(x->path, sizeof x->path, path);
    atomic_fetch_add(&server->in_flight, 1);
    return x;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    (void)context;
    exchange *x = *state;
    if (!x) return;
    set_deadline(connection, x->server->options.timeout_s); /* for the next request */
    log_exchange(x, connection, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    rung_buf_clear(&x->body);
    rung_service_reply_clear(&x->reply);
    atomic_fetch_sub(&x->server->in_flight, 1);
    free(x);
    *state = NULL;
}

static enum MHD_Result send_reply(exchange *x, struct MHD_Connection *connection)
{
    rung_service_reply *reply = &x->reply;
    x->answered = true;
    set_deadline(connection, x->server->options.timeout_s);
    /* The response borrows the reply, which is cleared when the request is completed. */
    struct MHD_Response *response = MHD_create_response_from_buffer(
        reply->body.len, reply->body.len ? reply->body.text : "", MHD_RESPMEM_PERSISTENT);
    if (!response) return MHD_NO;
    MHD_add_response_header(response, "Content-Type", reply->type ? reply->type : "application/json");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (reply->security) MHD_add_response_header(response, "Content-Security-Policy", reply->security);
    MHD_add_response_header(response, "Server", "rung");
    if (reply->allow) MHD_add_response_header(response, "Allow", reply->allow);
    if (reply->status == 401) MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    enum MHD_Result result = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(exchange *x, struct MHD_Connection *connection, unsigned status, const char *message)
{
    rung_service_reply_clear(&x->reply);
    rung_service_refuse(&x->reply, status, message);
    return send_reply(x, connection);
}

static bool declares_too_much(const exchange *x, struct MHD_Connection *connection)
{
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    int64_t bytes;
    return length && (!rung_parse_int(&bytes, length, 0, INT64_MAX) || (uint64_t)bytes > x->server->options.body_bytes);
}

/* Receives a part of the body. Stops reading if it is too long or too slow. */
static enum MHD_Result take_part(exchange *x, const char *data, size_t *size)
{
    const rung_server_options *limits = &x->server->options;
    if (rung_wall_s() - x->started_s > (double)limits->timeout_s) return MHD_NO;
    x->received += *size;
    if (x->received <= limits->body_bytes) rung_buf_add(&x->body, data, *size);
    *size = 0;
    /* The library can send a reply only at the end of the body, so this much of a chunked body is read and dropped. */
    return x->received / 4 <= limits->body_bytes ? MHD_YES : MHD_NO;
}

static enum MHD_Result answer(exchange *x, struct MHD_Connection *connection, const char *method, const char *path)
{
    if (x->received > x->server->options.body_bytes) return refuse(x, connection, 413, "the body is too large");
    if (x->body.failed) return refuse(x, connection, 500, "out of memory");
    rung_service_request request = {
        .method = method,
        .path = path,
        .authorization = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization"),
        .body = x->body.text ? x->body.text : "",
        .body_len = x->body.len,
    };
    rung_service_reply_clear(&x->reply);
    set_deadline(connection, 0);
    x->server->answer(&x->reply, x->server->context, &request);
    return send_reply(x, connection);
}

/* A foreign page in a local browser can send requests, but cannot set these headers. */
static enum MHD_Result refuse_strangers(exchange *x, struct MHD_Connection *connection, bool *refused)
{
    const char *allow = x->server->options.allow_host;
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    const char *origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    *refused = true;
    if (host && !serve_host_allowed(host, allow))
        return refuse(x, connection, 403, "the Host header does not name this server; --allow-host NAME allows it");
    if (origin && !serve_origin_allowed(origin, allow))
        return refuse(x, connection, 403, "pages of another origin may not send requests; --allow-host NAME allows it");
    *refused = false;
    return MHD_YES;
}

static enum MHD_Result on_access(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                                 const char *version, const char *data, size_t *size, void **state)
{
    (void)version;
    exchange *x = *state;
    if (!x) {
        *state = x = exchange_new(context, method, path);
        if (!x) return MHD_NO;
        bool refused;
        enum MHD_Result result = refuse_strangers(x, connection, &refused);
        if (refused) return result;
        return declares_too_much(x, connection) ? refuse(x, connection, 413, "the body is too large") : MHD_YES;
    }
    if (*size && x->answered) *size = 0; /* the request was refused: drop the rest */
    if (*size) return take_part(x, data, size);
    return x->answered ? MHD_YES : answer(x, connection, method, path);
}

/* The library reports broken connections here; they are normal. */
static void on_message(void *context, const char *format, va_list arguments)
{
    (void)context;
    (void)format;
    (void)arguments;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static rung_status find_address(struct addrinfo **out, const rung_server_options *options, rung_error *err)
{
    char port[8];
    struct addrinfo hints = {
        .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    snprintf(port, sizeof port, "%u", options->port);
    if (getaddrinfo(options->address, port, &hints, out) != 0)
        return rung_fail(err, RUNG_USAGE, "'%s' is not a numeric address, such as 127.0.0.1, 0.0.0.0 or ::1",
                         options->address);
    return RUNG_OK;
}

static void start(rung_server *s, const struct addrinfo *address)
{
    const rung_server_options *o = &s->options;
    size_t threads = o->threads ? o->threads : rung_cpu_threads();
    if (threads > o->connections) threads = o->connections;
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO | MHD_USE_ITC | MHD_USE_ERROR_LOG;
    if (address->ai_family == AF_INET6) flags |= MHD_USE_IPv6;
    /* The library divides connections among its threads; it takes a pool of one thread as no pool. */
    struct MHD_OptionItem pool[] = {
        {threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    s->daemon = MHD_start_daemon(flags, o->port, on_accept, s, on_access, s, MHD_OPTION_EXTERNAL_LOGGER, on_message,
                                 NULL, MHD_OPTION_SOCK_ADDR, address->ai_addr, MHD_OPTION_CONNECTION_LIMIT,
                                 (unsigned)((o->connections + 1) * threads), MHD_OPTION_CONNECTION_TIMEOUT,
                                 o->timeout_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
                                 MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION,
                                 on_connection, s, MHD_OPTION_ARRAY, pool, MHD_OPTION_END);
}

static rung_status open_server(rung_server *s, rung_error *err)
{
    struct addrinfo *address = NULL;
    RUNG_TRY(find_address(&address, &s->options, err));
    errno = 0;
    start(s, address);
    bool six = address->ai_family == AF_INET6;
    freeaddrinfo(address);
    if (!s->daemon)
        return rung_fail(err, RUNG_SYSTEM, "cannot listen on %s port %u: %s; is it in use? --port 0 takes any free one",
                         s->options.address, s->options.port, errno ? strerror(errno) : "the library gives no reason");
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
    unsigned port = info && info->port ? info->port : s->options.port;
    snprintf(s->url, sizeof s->url, six ? "http://[%s]:%u" : "http://%s:%u", s->options.address, port);
    return RUNG_OK;
}

/* A few more than may be open, because two threads may accept the last one at the same time. */
static rung_status make_lines(rung_server *s, rung_error *err)
{
    s->line_count = s->options.connections + 64;
    s->lines = rung_calloc(s->line_count, sizeof *s->lines, err);
    if (!s->lines) return RUNG_SYSTEM;
    for (size_t i = 0; i < s->line_count; i++) {
        s->lines[i].socket = -1;
        rung_mutex_init(&s->lines[i].held);
    }
    return RUNG_OK;
}

static void free_server(rung_server *s)
{
    for (size_t i = 0; s->lines && i < s->line_count; i++) rung_mutex_clear(&s->lines[i].held);
    free(s->lines);
    free(s);
}

rung_status rung_server_open_with(rung_server **out, rung_answer *by, const void *context,
                                  const rung_server_options *options, rung_error *err)
{
    *out = NULL;
#ifdef RUNG_WITHOUT_MICROHTTPD
    return rung_fail(err, RUNG_SYSTEM, RUNG_WITHOUT_MICROHTTPD);
#endif
    rung_server *s = rung_calloc(1, sizeof *s, err);
    if (!s) return RUNG_SYSTEM;
    s->answer = by;
    s->context = context;
    s->options = *options;
    rung_status status = make_lines(s, err);
    RUNG_NEXT(status, open_server(s, err));
    if (status == RUNG_OK) {
        *out = s;
    } else {
        free_server(s);
    }
    return status;
}

static void answer_by_service(rung_service_reply *reply, const void *service, const rung_service_request *request)
{
    rung_service_answer(reply, service, request);
}

rung_status rung_server_open(rung_server **out, const rung_service *service, const rung_server_options *options,
                             rung_error *err)
{
    return rung_server_open_with(out, answer_by_service, service, options, err);
}

const char *rung_server_url(const rung_server *s)
{
    return s->url;
}

void rung_server_close(rung_server *s)
{
    if (!s) return;
    MHD_socket listening = MHD_quiesce_daemon(s->daemon);
    if (listening != MHD_INVALID_SOCKET) close(listening);
    double until = rung_wall_s() + s->options.timeout_s;
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    while (atomic_load(&s->in_flight) > 0 && rung_wall_s() < until) {
        rung_server_tick(s);
        nanosleep(&pause, NULL);
    }
    MHD_stop_daemon(s->daemon);
    free_server(s);
}

rung_part rung_part_microhttpd(void)
{
    rung_part part = {.name = "libmicrohttpd", .gives = "servers: serve, explore", .package = "libmicrohttpd-dev"};
#ifndef RUNG_WITHOUT_MICROHTTPD
    part.version = MHD_get_version();
#endif
    return part;
}
