/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * SIGINT, SIGTERM, SIGUSR1 and SIGPIPE. A handler does nothing but set a flag or leave; the exit codes are 128 +
 * signal, as a shell would report them, so that a script sees the same whether or not the command had
 * something to clean up.
 */
#include <signal.h>
#include <unistd.h>

#include "output.h"

static volatile sig_atomic_t pending, deferred, asked, pipe_broken;

/* A second SIGINT or SIGTERM is impatience. SIGUSR1 is no person: schedulers and launchers may send it several
 * times, and SIGTERM after it, and what it asks for, a checkpoint and another exit code, should be done. */
static void on_end(int number)
{
    if (!deferred || (number != SIGUSR1 && asked)) _exit(128 + number);
    asked = asked || number != SIGUSR1;
    if (!pending) pending = number;
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
    sigfillset(&action.sa_mask); /* of two that are there at once, the one that comes first is the one that counts */
    action.sa_flags = SA_RESTART;
    action.sa_handler = handler;
    /* A shell starts background jobs with SIGINT ignored, and they should stay alive. */
    if (handler == on_end && sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN) return;
    sigaction(number, &action, NULL);
}

void tool_signals_install(void)
{
    install(SIGINT, on_end);
    install(SIGTERM, on_end);
    install(SIGUSR1, on_end);
    install(SIGPIPE, on_pipe);
}

void tool_signals_defer(bool defer)
{
    deferred = defer;
    if (!defer && pending) _exit(128 + pending);
}

int tool_signal_pending(void)
{
    return pending;
}

void tool_signal_finished(void)
{
    if (pending == SIGUSR1) pending = 0;
}

bool tool_pipe_broken(void)
{
    return pipe_broken != 0;
}
