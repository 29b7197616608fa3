/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The overview and the help of one command. Examples come first: they are what people read.
 */
#include "help.h"

#include <string.h>

#include "output.h"

const tool_exit_code tool_exit_codes[] = {
    {"0", "done"},
    {"1", "a negative result, where the command was asked to judge"},
    {"2", "wrong usage"},
    {"3", "input that cannot be read or understood"},
    {"4", "system: memory, disk, output"},
    {"130, 143", "ended by SIGINT, SIGTERM"},
    {"138", "ended by SIGUSR1; sweep and train: something is left to do"},
    {0},
};

const tool_example tool_environment[] = {
    {"NO_COLOR", "no colour, whatever its value"},
    {"RUNG_THREADS", "number of worker threads (1 to 256) where --threads is not given"},
    {"RUNG_ISA", "ref, avx2, avx512 or avx512_bf16: the best instruction set that may be used; results are the same"},
    {0},
};

const tool_example tool_first_steps[] = {
    {"rung table", "the table of results"},
    {"rung list", "what there is"},
    {"rung task eva N=8 --count 3 --format text", "a task with answers"},
    {"rung build random --arch full,linear -o m.safetensors", "a model file"},
    {"rung run m.safetensors --numbers bf16", "its predictions"},
    {0},
};

static void heading(rung_buf *out, const char *text)
{
    rung_buf_printf(out, "\n%s%s%s\n", tool_style_bold(), text, tool_style_off());
}

static size_t longer(size_t width, const char *text)
{
    const size_t len = strlen(text);
    return len > width ? len : width;
}

/* A line that is too long for 80 columns is broken as one would type it, with a backslash. */
static void command_line(rung_buf *out, const char *line)
{
    size_t column = 2;
    rung_buf_puts(out, "  ");
    while (*line) {
        const size_t len = strcspn(line, " ");
        if (column > 2 && column + len > 76) {
            rung_buf_puts(out, "\\\n    ");
            column = 4;
        }
        rung_buf_add(out, line, len);
        line += len;
        line += strspn(line, " ");
        if (*line) rung_buf_putc(out, ' ');
        column += len + 1;
    }
    rung_buf_putc(out, '\n');
}

/* The meaning stands beside the line where all of them fit, else below. */
static void print_examples(rung_buf *out, const tool_example *examples)
{
    size_t width = 0, why_width = 0;
    for (const tool_example *row = examples; row->line; row++) {
        width = longer(width, row->line);
        why_width = longer(why_width, row->why);
    }
    for (; examples->line; examples++) {
        if (width + 5 + why_width <= 80) {
            tool_two_columns(out, examples->line, examples->why, width + 5);
            continue;
        }
        command_line(out, examples->line);
        rung_buf_printf(out, "      %s", tool_style_dim());
        tool_wrap(out, examples->why, 6, 6);
        rung_buf_printf(out, "%s\n", tool_style_off());
    }
}

/* ---- one command ----------------------------------------------------------------------------------------------- */

static void usage_argument(rung_buf *out, const tool_argument *row)
{
    const char *dots = row->most > 1 ? "..." : "";
    rung_buf_printf(out, row->least ? " %s%s" : " [%s%s]", row->metavar, dots);
}

void tool_help_usage(rung_buf *out, const tool_command *command)
{
    rung_buf_printf(out, "rung %s", command->name);
    for (const tool_argument *row = command->arguments; row && row->metavar; row++) usage_argument(out, row);
    if (command->pairs) rung_buf_puts(out, " [key=value ...]");
    rung_buf_puts(out, " [options]");
}

void tool_help_option(rung_buf *out, const rung_option *option)
{
    rung_buf_puts(out, option->help);
    if (option->kind == RUNG_OPTION_CHOICE) {
        rung_buf_puts(out, ": ");
        for (size_t i = 0; option->choices[i]; i++) rung_buf_printf(out, "%s%s", i ? ", " : "", option->choices[i]);
    }
    if (option->fallback) rung_buf_printf(out, " (default %s)", option->fallback);
}

static void print_options(rung_buf *out, const rung_option *table, size_t indent)
{
    rung_buf left, right;
    rung_buf_init(&left);
    rung_buf_init(&right);
    for (; table && table->name; table++) {
        rung_buf_reset(&left);
        rung_buf_reset(&right);
        if (!table->letter) rung_buf_puts(&left, "    ");
        tool_option_spell(&left, table);
        tool_help_option(&right, table);
        if (!left.failed && !right.failed) tool_two_columns(out, left.text, right.text, indent);
    }
    rung_buf_clear(&left);
    rung_buf_clear(&right);
}

static void print_arguments(rung_buf *out, const tool_command *command, size_t indent)
{
    if (!command->arguments && !command->pairs) return;
    heading(out, "Arguments");
    for (const tool_argument *row = command->arguments; row && row->metavar; row++)
        tool_two_columns(out, row->metavar, row->help, indent);
    if (command->pairs) tool_two_columns(out, "key=value", command->pairs, indent);
}

static void print_exit_codes(rung_buf *out, const tool_command *command)
{
    heading(out, "Exit codes");
    rung_buf line;
    rung_buf_init(&line);
    for (const tool_exit_code *row = tool_exit_codes; row->code; row++) {
        const bool negative = strcmp(row->code, "1") == 0;
        if (negative && !command->negative) continue;
        rung_buf_printf(&line, "%s%s %s", line.len ? "; " : "", row->code, negative ? command->negative : row->meaning);
    }
    rung_buf_puts(out, "  ");
    if (!line.failed) tool_wrap(out, line.text, 2, 2);
    rung_buf_putc(out, '\n');
    rung_buf_clear(&line);
}

void tool_help_command(rung_buf *out, const tool_command *command, const tool_call *call)
{
    const size_t indent = 24;
    rung_buf_printf(out, "%srung %s%s: ", tool_style_bold(), command->name, tool_style_off());
    tool_wrap(out, command->summary, strlen(command->name) + 7, 0);
    rung_buf_putc(out, '\n');
    heading(out, "Examples");
    print_examples(out, command->examples);
    heading(out, "Usage");
    rung_buf_puts(out, "  ");
    tool_help_usage(out, command);
    rung_buf_putc(out, '\n');
    if (command->details) {
        rung_buf_puts(out, "\n  ");
        tool_wrap(out, command->details, 2, 2);
        rung_buf_putc(out, '\n');
    }
    print_arguments(out, command, indent);
    heading(out, "Options");
    print_options(out, command->options, indent);
    print_options(out, tool_options_common, indent);
    print_exit_codes(out, command);
    if (command->help_more) command->help_more(out, call);
}

/* ---- a topic --------------------------------------------------------------------------------------------------- */

void tool_help_topic(rung_buf *out, const tool_topic *topic)
{
    rung_buf_printf(out, "%s%s%s: %s\n", tool_style_bold(), topic->name, tool_style_off(), topic->summary);
    heading(out, "Examples");
    print_examples(out, topic->examples);
    heading(out, "Meaning");
    for (const tool_example *row = topic->terms; row->line; row++) tool_two_columns(out, row->line, row->why, 24);
    rung_buf_puts(out, "\n  ");
    tool_wrap(out, topic->more, 2, 2);
    rung_buf_putc(out, '\n');
}

/* ---- the overview ---------------------------------------------------------------------------------------------- */

static void print_commands(rung_buf *out, bool helpers)
{
    for (size_t i = 0; i < tool_command_count(); i++) {
        const tool_command *command = tool_command_at(i);
        if (command->helper == helpers) tool_two_columns(out, command->name, command->summary, 16);
    }
}

void tool_help_overview(rung_buf *out)
{
    rung_buf_printf(out, "%srung%s %s: ", tool_style_bold(), tool_style_off(), RUNG_VERSION);
    tool_wrap(out, "what an attention architecture can and cannot compute", 12, 0);
    rung_buf_putc(out, '\n');
    heading(out, "Examples");
    print_examples(out, tool_first_steps);
    heading(out, "Commands");
    print_commands(out, false);
    heading(out, "Help and setup");
    print_commands(out, true);
    heading(out, "Topics");
    for (size_t i = 0; i < tool_topic_count(); i++) {
        const tool_topic *topic = tool_topic_at(i);
        char line[40];
        snprintf(line, sizeof line, "help %s", topic->name);
        tool_two_columns(out, line, topic->summary, 17);
    }
    rung_buf_puts(out, "\nEvery command: --help (examples first), --json, --seed S, --quiet.\n");
}
