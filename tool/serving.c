/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * See serving.h.
 */
#include "serving.h"

#include <time.h>

#include "output.h"

void tool_serve_until_signal(rung_server *server)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    tool_signals_defer(true);
    while (!tool_signal_pending()) {
        rung_server_tick(server);
        nanosleep(&pause, NULL);
    }
}
