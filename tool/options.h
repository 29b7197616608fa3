/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The command line of a subcommand, read against its table of options (base.h): one row per option, and from the same
 * rows parsing, range errors, did-you-mean, --help, the shell completions and the man page.
 */
#ifndef RUNG_TOOL_OPTIONS_H
#define RUNG_TOOL_OPTIONS_H

#include "rung/base.h"

/* One row of the positional arguments. Only the last row may have most > 1. */
typedef struct tool_argument {
    const char *metavar; /* NULL ends a table */
    const char *help;
    size_t least, most; /* most = SIZE_MAX: any number */
    const char *const *choices;
    rung_names *names;
    rung_complete complete;
} tool_argument;

struct tool_call;

/* The rows that every command has: --json, --quiet, --seed, --help. Offsets are into tool_call. */
extern const rung_option tool_options_common[];

/* Reads argv[0..argc) (without the program and the command) into `call`, whose command and values are set.
 * Options and arguments mix freely; "--" ends the options. The arrays of the call live in the arena. */
rung_status tool_options_parse(struct tool_call *call, int argc, char *const *argv, rung_arena *arena, rung_error *err);

/* The row of a long name in the command's table or the common one, or NULL. */
const rung_option *tool_options_find(const rung_option *table, const char *name);
/* "-o, --out FILE" for help and manual; choices are spelled out. */
void tool_option_spell(rung_buf *out, const rung_option *option);

#endif
