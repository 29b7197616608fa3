/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Help texts, written from the command tables.
 */
#ifndef RUNG_TOOL_HELP_H
#define RUNG_TOOL_HELP_H

#include "command.h"
#include "topics.h"

void tool_help_overview(rung_buf *out);
/* `call` may be NULL; with one, the help can speak of its arguments. */
void tool_help_command(rung_buf *out, const tool_command *command, const tool_call *call);

/* One of the topics of topics.h. */
void tool_help_topic(rung_buf *out, const tool_topic *topic);

/* "rung task NAME [key=value ...] [options]" */
void tool_help_usage(rung_buf *out, const tool_command *command);
/* "how many instances (default 10)", choices spelled out. */
void tool_help_option(rung_buf *out, const rung_option *option);

/* The exit codes, the same for every command: code and meaning. The meaning of RUNG_NEGATIVE is replaced by
 * the command's own; a NULL text ends the table. */
typedef struct tool_exit_code {
    const char *code, *meaning;
} tool_exit_code;
extern const tool_exit_code tool_exit_codes[];

/* Environment variables that the tool reads: name and meaning, in a table of the same shape as examples. */
extern const tool_example tool_environment[];
/* First things to try, for the overview and the manual. */
extern const tool_example tool_first_steps[];

#endif
