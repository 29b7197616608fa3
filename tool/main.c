/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The entry of the command line tool: finds the command, parses its options, runs it, and turns whatever
 * happened into one message and one exit code.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "command.h"
#include "help.h"
#include "output.h"

static int complain(const char *command, int status, const rung_error *err)
{
    const char *space = *command ? " " : "";
    if (tool_team_rank()) return status; /* rank 0 says it */
    if (err->text[0]) fprintf(stderr, "rung%s%s: %s\n", space, command, err->text);
    if (status == RUNG_USAGE) fprintf(stderr, "Try 'rung%s%s --help'.\n", space, command);
    return status;
}

/* Data that could not be written is a failure even if the command itself was content. */
static int finish(const char *command, int status, rung_error *err)
{
    if (tool_signal_pending()) return 128 + tool_signal_pending();
    if (status == RUNG_OK || status == RUNG_NEGATIVE) {
        const rung_status written = tool_out_finish(err);
        return written ? complain(command, written, err) : status;
    }
    return complain(command, status, err);
}

static int print_help(const tool_command *command, const tool_call *call, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    if (command)
        tool_help_command(&text, command, call);
    else
        tool_help_overview(&text);
    const int status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

static int run_command(const tool_command *command, int argc, char *const *argv, rung_error *err)
{
    rung_arena arena;
    rung_arena_init(&arena);
    tool_call call = {.command = command};
    call.values = rung_arena_alloc(&arena, 1, command->values_size, err);
    int status = call.values ? (int)rung_cpu_check(err) : RUNG_SYSTEM;
    RUNG_NEXT(status, (int)tool_options_parse(&call, argc, argv, &arena, err));
    RUNG_NEXT(status, call.help ? print_help(command, &call, err) : command->run(&call, err));
    rung_arena_clear(&arena);
    return status;
}

static int unknown_command(const char *name, rung_error *err)
{
    static const char *const version[] = {"version"};
    const char *near = tool_command_nearest(name);
    if (!near) near = rung_nearest_name(name, version, 1);
    if (near) return rung_fail(err, RUNG_USAGE, "unknown command '%s'; did you mean '%s'?", name, near);
    return rung_fail(err, RUNG_USAGE, "unknown command '%s'", name);
}

static int run_without_command(const char *option, rung_error *err)
{
    if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) return print_help(NULL, NULL, err);
    if (strcmp(option, "--version") == 0 || strcmp(option, "-V") == 0) {
        static const char version[] = "rung " RUNG_VERSION "\n";
        return tool_out_bytes(version, strlen(version), err);
    }
    if (tool_options_find(NULL, option + strspn(option, "-")))
        return rung_fail(err, RUNG_USAGE, "%s comes after the command, as in 'rung list %s'", option, option);
    static const char *const known[] = {"--help", "--version"};
    const char *near = rung_nearest_name(option, known, RUNG_COUNT(known));
    if (near) return rung_fail(err, RUNG_USAGE, "unknown option '%s'; did you mean '%s'?", option, near);
    return rung_fail(err, RUNG_USAGE, "unknown option '%s'", option);
}

int main(int argc, char **argv)
{
    rung_error err = {{0}};
    tool_signals_install();
    if (argc < 2) return finish("", print_help(NULL, NULL, &err), &err);
    if (argv[1][0] == '-') return finish("", run_without_command(argv[1], &err), &err);
    if (strcmp(argv[1], "version") == 0) return finish("", run_without_command("--version", &err), &err);
    const tool_command *command = tool_command_get(argv[1]);
    if (!command) return finish("", unknown_command(argv[1], &err), &err);
    const int code = finish(command->name, run_command(command, argc - 2, argv + 2, &err), &err);
    return tool_team_leave(code, err.text);
}
