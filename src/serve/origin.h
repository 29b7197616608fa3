/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to serve: which hosts and origins may send requests.
 */
#ifndef RUNG_SERVE_ORIGIN_H
#define RUNG_SERVE_ORIGIN_H

#include <stdbool.h>

/* Checks a Host header: localhost, a numeric address, or a name in `allow` ("a.example,b.example"; "*": any; NULL:
 * none), each with or without a port. Other names are refused, because anybody can point a name at our address. */
bool serve_host_allowed(const char *host, const char *allow);
/* Checks an Origin header: a scheme and an allowed host. "null" is refused. */
bool serve_origin_allowed(const char *origin, const char *allow);

#endif
