/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * In the place of libmicrohttpd's header where that library is absent. rung_server_open refuses, so nothing ever listens, and
 * none of these functions is reached; they are here so that the rest of the module compiles and the library has all its functions.
 */
#ifndef RUNG_SERVE_WITHOUT_MICROHTTPD_H
#define RUNG_SERVE_WITHOUT_MICROHTTPD_H

#include <netdb.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define RUNG_WITHOUT_MICROHTTPD                                                                                        \
    "this rung was built without libmicrohttpd and has no server; install libmicrohttpd-dev and build it again"

struct MHD_Daemon;
struct MHD_Connection;
struct MHD_Response;
typedef int MHD_socket;
enum { MHD_INVALID_SOCKET = -1 };
enum MHD_Result { MHD_NO, MHD_YES };
enum MHD_ConnectionNotificationCode { MHD_CONNECTION_NOTIFY_STARTED, MHD_CONNECTION_NOTIFY_CLOSED };
enum MHD_RequestTerminationCode { MHD_REQUEST_TERMINATED_COMPLETED_OK, MHD_REQUEST_TERMINATED_WITH_ERROR };
enum { MHD_USE_INTERNAL_POLLING_THREAD = 8, MHD_USE_AUTO = 65536, MHD_USE_ITC = 1024, MHD_USE_ERROR_LOG = 1 };
enum { MHD_USE_IPv6 = 16, MHD_OPTION_END = 0, MHD_OPTION_THREAD_POOL_SIZE = 14 };
struct MHD_OptionItem {
    int option;
    intptr_t value;
    void *ptr_value;
};
union MHD_ConnectionInfo {
    MHD_socket connect_fd;
    struct sockaddr *client_addr;
    void *socket_context;
};
union MHD_DaemonInfo {
    uint16_t port;
};

#define MHD_start_daemon(flags, port, accept, a, access, b, logger, log, c, d, address, e, limit, f, timeout, g,       \
                         bytes, h, completed, i, j, connection, k, l, pool, end)                                       \
    ((void)(flags), (void)(accept), (void)(access), (void)(log), (void)(completed), (void)(connection), (void)(pool),  \
     (struct MHD_Daemon *)NULL)
#define MHD_stop_daemon(daemon)                         ((void)(daemon))
#define MHD_quiesce_daemon(daemon)                      ((void)(daemon), MHD_INVALID_SOCKET)
#define MHD_get_daemon_info(daemon, what)               ((void)(daemon), (const union MHD_DaemonInfo *)NULL)
#define MHD_get_connection_info(connection, what)       ((void)(connection), (const union MHD_ConnectionInfo *)NULL)
#define MHD_lookup_connection_value(connection, k, key) ((void)(connection), (const char *)NULL)
#define MHD_create_response_from_buffer(len, body, how) ((void)(len), (void)(body), (struct MHD_Response *)NULL)
#define MHD_add_response_header(response, key, value)   ((void)(response), (void)(value))
#define MHD_queue_response(connection, code, response)  ((void)(connection), (void)(code), (void)(response), MHD_NO)
#define MHD_destroy_response(response)                  ((void)(response))

#endif
