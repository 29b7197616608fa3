/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * SIGINT, SIGTERM and SIGPIPE. A handler does nothing but set a flag or leave; the exit codes are 128 +
 * signal, as a shell would report them, so that a script sees the same whether or not the command had
 * something to clean up.
 */
#include <signal.h>
#include <unistd.h>

#include "output.h"

static volatile sig_atomic_t pending, deferred, pipe_broken;

static void on_end(int number)
{
    if (!deferred || pending) _exit(128 + number);
    pending = number;
}

/* Caught rather than ignored: the write still fails with EPIPE, and we know why even if stdio has lost errno. */
static void on_pipe(int number)
{
    (void)number;
    pipe_broken = 1;
}

static void install(int number, void (*handler)(int))
{
    struct sigaction action = {0}, old;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    action.sa_handler = handler;
    /* A shell starts background jobs with SIGINT ignored, and they should stay alive. */
    if (handler == on_end && sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN) return;
    sigaction(number, &action, NULL);
}

void rung_signals_install(void)
{
    install(SIGINT, on_end);
    install(SIGTERM, on_end);
    install(SIGPIPE, on_pipe);
}

void rung_signals_defer(bool defer)
{
    deferred = defer;
    if (!defer && pending) _exit(128 + pending);
}

int rung_signal_pending(void)
{
    return pending;
}

bool rung_pipe_broken(void)
{
    return pipe_broken != 0;
}
