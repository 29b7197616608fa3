/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung man: the manual page rung(1) of the whole tool, in roff, from the same tables as the help. No date is
 * printed, so that the same version gives the same bytes.
 */
#include "help.h"
#include "output.h"

/* Text for roff: a backslash and a minus sign are escaped, and no line begins with a control character. */
static void roff(rung_buf *out, const char *text)
{
    for (bool first = true; *text; first = *text == '\n', text++) {
        if (first && (*text == '.' || *text == '\'')) rung_buf_puts(out, "\\&");
        if (*text == '\\')
            rung_buf_puts(out, "\\e");
        else if (*text == '-')
            rung_buf_puts(out, "\\-");
        else if (*text == '\n')
            rung_buf_puts(out, "\n.br\n");
        else
            rung_buf_putc(out, *text);
    }
}

static void line(rung_buf *out, const char *text)
{
    roff(out, text);
    rung_buf_putc(out, '\n');
}

/* ".TP", a tag in bold, and its text. */
static void tagged(rung_buf *out, const char *tag, const char *text)
{
    rung_buf_puts(out, ".TP\n\\fB");
    roff(out, tag);
    rung_buf_puts(out, "\\fR\n");
    line(out, text);
}

static void man_examples(rung_buf *out, const tool_example *examples)
{
    for (; examples && examples->line; examples++) tagged(out, examples->line, examples->why);
}

static void man_options(rung_buf *out, const rung_option *table)
{
    rung_buf tag, text;
    rung_buf_init(&tag);
    rung_buf_init(&text);
    for (; table && table->name; table++) {
        rung_buf_reset(&tag);
        rung_buf_reset(&text);
        tool_option_spell(&tag, table);
        tool_help_option(&text, table);
        const bool number = table->kind == RUNG_OPTION_INT || table->kind == RUNG_OPTION_SIZES;
        if (number && table->high < INT64_MAX)
            rung_buf_printf(&text, "; from %lld to %lld", (long long)table->low, (long long)table->high);
        if (!tag.failed && !text.failed) tagged(out, tag.text, text.text);
    }
    rung_buf_clear(&tag);
    rung_buf_clear(&text);
}

static void man_command(rung_buf *out, const tool_command *command)
{
    rung_buf usage;
    rung_buf_init(&usage);
    tool_help_usage(&usage, command);
    rung_buf_puts(out, ".SS ");
    line(out, usage.failed ? command->name : usage.text);
    rung_buf_clear(&usage);
    line(out, command->summary);
    if (command->details) {
        rung_buf_puts(out, ".PP\n");
        line(out, command->details);
    }
    for (const tool_argument *row = command->arguments; row && row->metavar; row++)
        tagged(out, row->metavar, row->help);
    if (command->pairs) tagged(out, "key=value", command->pairs);
    man_options(out, command->options);
    if (command->negative) {
        rung_buf_puts(out, ".PP\nExits with 1 when ");
        line(out, command->negative);
    }
    rung_buf_puts(out, ".PP\nExamples:\n");
    man_examples(out, command->examples);
}

static void man_page(rung_buf *out)
{
    rung_buf_puts(out, ".\\\" Made by 'rung man'.\n.TH RUNG 1 \"\" \"rung " RUNG_VERSION "\" \"User Commands\"\n");
    rung_buf_puts(out, ".SH NAME\nrung \\- what an attention architecture can and cannot compute\n");
    rung_buf_puts(out, ".SH SYNOPSIS\n.B rung\n.I command\n[\\fIargument\\fR ...] [\\fIkey\\fR=\\fIvalue\\fR ...] "
                       "[\\fIoptions\\fR]\n");
    rung_buf_puts(out, ".SH EXAMPLES\n");
    man_examples(out, tool_first_steps);
    rung_buf_puts(out, ".SH COMMANDS\n");
    for (size_t i = 0; i < tool_command_count(); i++) man_command(out, tool_command_at(i));
    rung_buf_puts(out, ".SH OPTIONS OF EVERY COMMAND\n");
    man_options(out, tool_options_common);
    rung_buf_puts(out, ".SH EXIT STATUS\n");
    for (const tool_exit_code *row = tool_exit_codes; row->code; row++) tagged(out, row->code, row->meaning);
    rung_buf_puts(out, ".SH ENVIRONMENT\n");
    man_examples(out, tool_environment);
}

static int run_man(const tool_call *call, rung_error *err)
{
    rung_buf page;
    rung_buf_init(&page);
    man_page(&page);
    const int status = tool_out_text(call, &page, "rung.man/1", "roff", err);
    rung_buf_clear(&page);
    return status;
}

const tool_command tool_command_man = {
    .name = "man",
    .summary = "the manual page of the whole tool, in roff",
    .examples =
        (const tool_example[]){
            {"rung man | man -l -", "read it here"},
            {"rung man > rung.1", "what make install does"},
            {0},
        },
    .helper = true,
    .run = run_man,
};
