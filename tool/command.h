/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A subcommand is one constant: its words for the help, its option table and its function. To add one, write
 * cmd_<name>.c that exports `const tool_command tool_command_<name>` and put that name into the list of
 * commands.c. Layer 11: the tool sees the public headers only.
 */
#ifndef RUNG_TOOL_COMMAND_H
#define RUNG_TOOL_COMMAND_H

#include "options.h"
#include "rung/task.h"

/* A negative result where the command was asked to judge. Beside the rung_status values as exit code. */
#define RUNG_NEGATIVE 1

typedef struct tool_example {
    const char *line; /* what to type; NULL ends a table */
    const char *why;  /* what one gets */
} tool_example;

/* One use of a command, parsed. */
typedef struct tool_call {
    const struct tool_command *command;
    void *values;                /* the command's own struct, filled from its option table */
    const char *const *argument; /* positional arguments */
    size_t arguments;
    const char *const *pair; /* key=value pairs, in order; they belong to the task */
    size_t pairs;
    uint64_t given; /* bit i: row i of the option table was on the command line */
    bool json, quiet, help;
    int64_t seed;
} tool_call;

typedef struct tool_command {
    const char *name;
    const char *summary; /* one line, small letter, no full stop */
    const char *details; /* paragraphs separated by '\n', wrapped when shown; may be NULL */
    const tool_example *examples;
    const tool_argument *arguments; /* NULL: none */
    const char *pairs;              /* what the key=value pairs are; NULL: the command takes none */
    const rung_option *options;     /* NULL: only the common ones */
    size_t values_size;             /* sizeof(struct of values) */
    const char *negative;           /* when it exits with 1; NULL: never */
    bool helper;                    /* not part of the main job: shown last in the overview */

    /* Returns 0, RUNG_NEGATIVE, or a rung_status with its message in err. Writes data to stdout only. */
    int (*run)(const tool_call *call, rung_error *err);
    /* Appends to the help what depends on the arguments (the parameters of a named task). The call is NULL in `rung help
     * COMMAND`. May be NULL. */
    void (*help_more)(rung_buf *out, const tool_call *call);
} tool_command;

size_t tool_command_count(void);
const tool_command *tool_command_at(size_t index); /* in the order of the overview */
const tool_command *tool_command_get(const char *name);
const char *tool_command_nearest(const char *name); /* "did you mean", or NULL */
const char *tool_command_name_at(size_t index);     /* a rung_names */

/* Whether the option of this long name was given, rather than its default. The name must be in the table. */
bool tool_call_given(const tool_call *call, const char *option);

/* Names of the registries, for completions of options and arguments. */
const char *tool_mech_name_at(size_t index);
const char *tool_construction_name_at(size_t index);

#endif
