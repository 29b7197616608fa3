/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * progress: one status line for a person who watches. It is not a log: it disappears when the work is done. Only one
 * thread at a time may use it.
 */
#include "rung/base.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REDRAW_S 0.1

/* Back to the first column and erase to the end of the line (ECMA-48 EL). */
static const char erase[] = "\r\033[K";

double rung_wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool stderr_can_erase(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
}

void rung_progress_start(rung_progress *progress, const char *what, uint64_t total)
{
    double now = rung_wall_s();
    *progress = (rung_progress){.what = what, .total = total, .started_s = now, .drawn_s = now};
    progress->visible = stderr_can_erase();
}

/* The line is cut to 79 columns. A line that wraps could not be erased completely. */
static void draw(const rung_progress *progress, double now_s)
{
    double elapsed_s = now_s - progress->started_s;
    char line[80];
    if (progress->total == 0) {
        snprintf(line, sizeof line, "%.40s %llu  %.0f s", progress->what, (unsigned long long)progress->done,
                 elapsed_s);
    } else {
        double part = (double)progress->done / (double)progress->total;
        double left_s = part > 0 ? elapsed_s * (1 - part) / part : 0;
        snprintf(line, sizeof line, "%.40s %3.0f%%  %.0f s, about %.0f s left", progress->what, 100 * part, elapsed_s,
                 left_s);
    }
    fprintf(stderr, "%s%s", erase, line);
    fflush(stderr);
}

void rung_progress_tick(rung_progress *progress, uint64_t done)
{
    progress->done = done;
    if (!progress->visible) return;
    double now_s = rung_wall_s();
    if (now_s - progress->drawn_s < REDRAW_S) return;
    progress->drawn_s = now_s;
    draw(progress, now_s);
}

void rung_progress_finish(rung_progress *progress)
{
    bool drawn = progress->drawn_s > progress->started_s;
    if (progress->visible && drawn) {
        fputs(erase, stderr);
        fflush(stderr);
    }
    progress->visible = false;
}
