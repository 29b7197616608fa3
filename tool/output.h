/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What leaves the tool: data on stdout with write errors noticed, notes and progress on stderr, colour only
 * for a terminal, and the two signals that end a run.
 */
#ifndef RUNG_TOOL_OUTPUT_H
#define RUNG_TOOL_OUTPUT_H

#include "command.h"
#include "rung/render.h"

/* Writes to stdout. A reader that went away (a closed pipe) fails with an empty message: nobody wants to hear
 * it. */
rung_status tool_out_bytes(const void *bytes, size_t len, rung_error *err);
/* The same for a buffer, which must not have run out of memory. */
rung_status tool_out_buf(const rung_buf *buf, rung_error *err);
/* A text that is the whole answer: as it is, or with --json as the member `key` of one object. */
rung_status tool_out_text(const tool_call *call, const rung_buf *text, const char *schema, const char *key,
                          rung_error *err);
/* Flushes; also reports the failure of any earlier write, printf included. */
rung_status tool_out_finish(rung_error *err);

/* Fails when `path`, which is going to be written, is the file `input` that the command reads: writing would destroy
 * it. Either may be NULL. */
rung_status tool_out_spares(const char *path, const char *input, rung_error *err);
/* Fails when `path` cannot be written: better said now than after an hour. */
rung_status tool_out_place(const char *path, rung_error *err);
/* Whether what was written to path went to a pipe or a device, and cannot be read again. */
bool tool_out_is_stream(const char *path);

/* A line on stderr unless --quiet: what was done, never data. */
void tool_note(const tool_call *call, const char *format, ...) RUNG_PRINTF(2, 3);
/* rung_progress_start that honours --quiet. */
void tool_call_progress(const tool_call *call, rung_progress *progress, const char *what, uint64_t total);

/* Escape sequences, or "" when stdout is no terminal or NO_COLOR is set. */
const char *tool_style_bold(void);
const char *tool_style_dim(void);
const char *tool_style_off(void);

/* Before the word of a verdict: CAN green, CANNOT red, SAMPLED bold, UNKNOWN dim. The word says the same. */
const char *tool_style_verdict(rung_verdict verdict);

bool tool_out_is_terminal(void);
/* Columns of the terminal behind a descriptor, from 40 to 110; 80 if it is none. */
size_t tool_columns(int file);

/* `text` wrapped at 80 columns, or at the width of the terminal up to 110; the first line continues one that
 * is `column` wide, the others are indented by `indent`. A '\n' in the text starts a new line; the last line
 * has none. */
void tool_wrap(rung_buf *out, const char *text, size_t column, size_t indent);
/* "  left   right", right wrapped in its own column that begins at `indent`, with the end of line. */
void tool_two_columns(rung_buf *out, const char *left, const char *right, size_t indent);

/* SIGINT, SIGTERM and SIGUSR1 end the process at once with 130, 143 and 138, unless deferred: then the first one
 * only sets tool_signal_pending(), so that a command can remove its temporary files and stop, and a second SIGINT or
 * SIGTERM ends it. */
void tool_signals_install(void);
void tool_signals_defer(bool defer);
int tool_signal_pending(void); /* signal number, or 0 */
/* SIGUSR1 asks to be started again: not when there is nothing left to do. */
void tool_signal_finished(void);
bool tool_pipe_broken(void); /* SIGPIPE came */

#endif
