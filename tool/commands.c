/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The registry of subcommands. The list below is the only place that names a command a second time.
 */
#include <string.h>

#include "command.h"
#include "rung/build.h"
#include "rung/mech.h"

#define RUNG_COMMANDS(X)                                                                                               \
    X(list)                                                                                                            \
    X(table)                                                                                                           \
    X(bound)                                                                                                           \
    X(card)                                                                                                            \
    X(compare)                                                                                                         \
    X(task)                                                                                                            \
    X(build)                                                                                                           \
    X(train)                                                                                                           \
    X(sweep)                                                                                                           \
    X(export)                                                                                                          \
    X(merge)                                                                                                           \
    X(report)                                                                                                          \
    X(probe)                                                                                                           \
    X(import_model)                                                                                                    \
    X(export_model)                                                                                                    \
    X(import)                                                                                                          \
    X(precision)                                                                                                       \
    X(run)                                                                                                             \
    X(protocol)                                                                                                        \
    X(game)                                                                                                            \
    X(recall)                                                                                                          \
    X(drift)                                                                                                           \
    X(verify)                                                                                                          \
    X(break)                                                                                                           \
    X(explain)                                                                                                         \
    X(replay)                                                                                                          \
    X(bench)                                                                                                           \
    X(serve)                                                                                                           \
    X(explore)                                                                                                         \
    X(attn)                                                                                                            \
    X(doctor)                                                                                                          \
    X(help)                                                                                                            \
    X(completion)                                                                                                      \
    X(man)

#define DECLARE(name) extern const tool_command tool_command_##name;
#define ADDRESS(name) &tool_command_##name,

RUNG_COMMANDS(DECLARE)
static const tool_command *const commands[] = {RUNG_COMMANDS(ADDRESS)};

size_t tool_command_count(void)
{
    return RUNG_COUNT(commands);
}

const tool_command *tool_command_at(size_t index)
{
    return commands[index];
}

const tool_command *tool_command_get(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(commands); i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

const char *tool_command_nearest(const char *name)
{
    const char *names[RUNG_COUNT(commands)];
    for (size_t i = 0; i < RUNG_COUNT(commands); i++) names[i] = commands[i]->name;
    return rung_guess_name(name, names, RUNG_COUNT(commands));
}

const char *tool_command_name_at(size_t index)
{
    return index < RUNG_COUNT(commands) ? commands[index]->name : NULL;
}

const char *tool_mech_name_at(size_t index)
{
    return index < rung_mech_count() ? rung_mech_at(index)->name : NULL;
}

const char *tool_construction_name_at(size_t index)
{
    return index < rung_construction_count() ? rung_construction_at(index)->name : NULL;
}
