/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung help: the overview, the help of a command, or, with --json, the option tables for programs.
 */
#include "help.h"
#include "output.h"
#include "rung/render.h"

static const char *const kind_names[] = {
    [RUNG_OPTION_FLAG] = "flag",      [RUNG_OPTION_STRING] = "string", [RUNG_OPTION_INT] = "integer",
    [RUNG_OPTION_SIZES] = "integers", [RUNG_OPTION_CHOICE] = "choice", [RUNG_OPTION_REAL] = "number",
};

static void json_option(rung_jout *out, const rung_option *option)
{
    const char letter[2] = {option->letter, '\0'};
    rung_jout_object(out, NULL);
    rung_jout_string(out, "name", option->name);
    if (option->letter) rung_jout_string(out, "letter", letter);
    rung_jout_string(out, "kind", kind_names[option->kind]);
    rung_jout_string(out, "help", option->help);
    if (option->fallback) rung_jout_string(out, "default", option->fallback);
    if (option->kind == RUNG_OPTION_INT || option->kind == RUNG_OPTION_SIZES) {
        rung_jout_int(out, "low", option->low);
        rung_jout_int(out, "high", option->high);
    }
    if (option->choices) {
        rung_jout_flat_array(out, "choices");
        for (size_t i = 0; option->choices[i]; i++) rung_jout_string(out, NULL, option->choices[i]);
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

static void json_examples(rung_jout *out, const tool_example *row)
{
    rung_jout_array(out, "examples");
    for (; row && row->line; row++) {
        rung_jout_object(out, NULL);
        rung_jout_string(out, "line", row->line);
        rung_jout_string(out, "help", row->why);
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

static void json_argument(rung_jout *out, const char *name, const char *help)
{
    rung_jout_object(out, NULL);
    rung_jout_string(out, "name", name);
    rung_jout_string(out, "help", help);
    rung_jout_end(out);
}

static void json_arguments(rung_jout *out, const tool_command *command)
{
    rung_jout_array(out, "arguments");
    for (const tool_argument *row = command->arguments; row && row->metavar; row++)
        json_argument(out, row->metavar, row->help);
    if (command->pairs) json_argument(out, "key=value", command->pairs);
    rung_jout_end(out);
}

static void json_command(rung_jout *out, const tool_command *command)
{
    rung_buf usage;
    rung_buf_init(&usage);
    tool_help_usage(&usage, command);
    rung_jout_object(out, NULL);
    rung_jout_string(out, "name", command->name);
    rung_jout_string(out, "summary", command->summary);
    rung_jout_string(out, "usage", usage.text);
    if (command->details) rung_jout_string(out, "details", command->details);
    if (command->negative) rung_jout_string(out, "exits_with_1", command->negative);
    json_examples(out, command->examples);
    json_arguments(out, command);
    rung_jout_array(out, "options");
    for (const rung_option *row = command->options; row && row->name; row++) json_option(out, row);
    for (const rung_option *row = tool_options_common; row->name; row++) json_option(out, row);
    rung_jout_end(out);
    rung_jout_end(out);
    rung_buf_clear(&usage);
}

static void json_help(rung_buf *text, const tool_command *only)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.help/1", true);
    rung_jout_string(&out, "version", RUNG_VERSION);
    rung_jout_array(&out, "commands");
    for (size_t i = 0; i < tool_command_count(); i++)
        if (!only || only == tool_command_at(i)) json_command(&out, tool_command_at(i));
    rung_jout_end(&out);
    rung_jout_finish(&out);
}

/* Commands, then topics: completion offers both. */
static const char *name_at(size_t index)
{
    if (index < tool_command_count()) return tool_command_at(index)->name;
    index -= tool_command_count();
    return index < tool_topic_count() ? tool_topic_at(index)->name : NULL;
}

static rung_status unknown(const char *name, rung_error *err)
{
    const char *names[256];
    size_t count = 0;
    while (count < RUNG_COUNT(names) && (names[count] = name_at(count))) count++;
    const char *near = rung_guess_name(name, names, count);
    if (near) return rung_fail(err, RUNG_USAGE, "no help about '%s'; did you mean '%s'?", name, near);
    return rung_fail(err, RUNG_USAGE, "no help about '%s'; 'rung help' lists commands and topics", name);
}

static int run_help(const tool_call *call, rung_error *err)
{
    const char *name = call->arguments ? call->argument[0] : NULL;
    const tool_command *command = name ? tool_command_get(name) : NULL;
    const tool_topic *topic = name && !command ? tool_topic_get(name) : NULL;
    if (name && !command && !topic) return unknown(name, err);
    if (topic && call->json) return rung_fail(err, RUNG_USAGE, "--json is for commands, not for topics");
    rung_buf text;
    rung_buf_init(&text);
    if (call->json)
        json_help(&text, command);
    else if (command)
        tool_help_command(&text, command, NULL);
    else if (topic)
        tool_help_topic(&text, topic);
    else
        tool_help_overview(&text);
    const int status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

const tool_command tool_command_help = {
    .name = "help",
    .summary = "this overview, or the help of one command or topic",
    .examples =
        (const tool_example[]){
            {"rung help", "the overview"},
            {"rung help task", "the same as rung task --help"},
            {"rung help arch", "how layers are written"},
            {"rung help --json", "commands and options, for programs"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "COMMAND|TOPIC",
             .help = "a command, or arch, numbers, tasks, verdicts",
             .most = 1,
             .names = name_at},
            {0},
        },
    .helper = true,
    .run = run_help,
};
