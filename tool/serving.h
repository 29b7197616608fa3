/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What commands with a server share.
 */
#ifndef RUNG_TOOL_SERVING_H
#define RUNG_TOOL_SERVING_H

#include "rung/serve.h"

/* Returns when SIGINT or SIGTERM has come. */
void tool_serve_until_signal(rung_server *server);

#endif
