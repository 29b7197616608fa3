/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Who may ask. Private to the module.
 */
#ifndef RUNG_SERVE_ORIGIN_H
#define RUNG_SERVE_ORIGIN_H

#include <stdbool.h>

/* A header Host: localhost, a numeric address, or one of the names of `allow` ("a.example,b.example"; "*": any; NULL: none),
 * each with or without a port. A name that anybody can give to our address is no name of ours. */
bool serve_host_allowed(const char *host, const char *allow);
/* A header Origin: a scheme and such a host. "null" is nobody. */
bool serve_origin_allowed(const char *origin, const char *allow);

#endif
