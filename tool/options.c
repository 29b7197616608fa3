/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Parsing of a command line against option tables. Long options "--name value" and "--name=value", short ones
 * "-o value", "-ovalue" and bundled flags "-qh". Defaults go through the same conversion as what the user
 * types, so a table with a default outside its own range cannot exist unnoticed.
 */
#include "options.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "rung/task.h"

const rung_option tool_options_common[] = {
    {.name = "json",
     .kind = RUNG_OPTION_FLAG,
     .at = offsetof(tool_call, json),
     .help = "print one JSON object with a schema version"},
    {.name = "seed",
     .kind = RUNG_OPTION_INT,
     .at = offsetof(tool_call, seed),
     .metavar = "S",
     .help = "seed of everything that is random",
     .fallback = "0",
     .low = 0,
     .high = INT64_MAX},
    {.name = "quiet",
     .letter = 'q',
     .kind = RUNG_OPTION_FLAG,
     .at = offsetof(tool_call, quiet),
     .help = "no notes and no progress on stderr"},
    {.name = "help", .letter = 'h', .kind = RUNG_OPTION_FLAG, .at = offsetof(tool_call, help), .help = "this text"},
    {0},
};

/* ---- looking up ------------------------------------------------------------------------------------------------ */

static const rung_option *find_row(const rung_option *table, const char *name, size_t len)
{
    for (; table && table->name; table++)
        if (strlen(table->name) == len && memcmp(table->name, name, len) == 0) return table;
    return NULL;
}

static const rung_option *find_letter(const rung_option *table, char letter)
{
    for (; table && table->name; table++)
        if (table->letter == letter) return table;
    return NULL;
}

const rung_option *tool_options_find(const rung_option *table, const char *name)
{
    const rung_option *row = rung_option_find(table, name);
    return row ? row : rung_option_find(tool_options_common, name);
}

static size_t collect_names(const char **out, const rung_option *table)
{
    size_t count = 0;
    for (; table && table->name && count < RUNG_OPTION_MAX; table++) out[count++] = table->name;
    return count;
}

static bool of_a_task(const char *word)
{
    for (size_t i = 0; i < rung_task_count(); i++)
        if (rung_param_find(rung_task_at(i)->params, word) != SIZE_MAX) return true;
    return false;
}

static rung_status unknown_option(const tool_command *command, const char *text, size_t len, rung_error *err)
{
    const char *names[2 * RUNG_OPTION_MAX];
    size_t count = collect_names(names, command->options);
    count += collect_names(names + count, tool_options_common);
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(len < 63 ? len : 63), text);
    if (of_a_task(word))
        return rung_fail(err, RUNG_USAGE, "unknown option '--%s'; parameters of a task have no dashes, as in %s=2",
                         word, word);
    const char *near = rung_guess_name(word, names, count);
    if (near) return rung_fail(err, RUNG_USAGE, "unknown option '--%s'; did you mean '--%s'?", word, near);
    return rung_fail(err, RUNG_USAGE, "unknown option '--%s'", word);
}

/* ---- the command line ------------------------------------------------------------------------------------------ */

typedef struct parser {
    tool_call *call;
    int argc, next; /* next: index of the first argument that has not been read */
    char *const *argv;
    const char **argument, **pair;
    rung_error *err;
} parser;

static bool is_common(const rung_option *row)
{
    for (const rung_option *common = tool_options_common; common->name; common++)
        if (common == row) return true;
    return false;
}

/* "-" would make or look for a file of that name, which nobody means. */
static bool is_dash_for_file(const rung_option *row, const char *text)
{
    return row->complete != RUNG_COMPLETE_NOTHING && text && strcmp(text, "-") == 0;
}

static rung_status set_row(parser *p, const rung_option *row, const char *text)
{
    if (is_dash_for_file(row, text))
        return rung_fail(p->err, RUNG_USAGE, "--%s - is not the standard input or output; name a file", row->name);
    if (is_common(row)) return rung_option_set(p->call, row, text, "--", p->err);
    p->call->given |= UINT64_C(1) << (row - p->call->command->options);
    return rung_option_set(p->call->values, row, text, "--", p->err);
}

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == 0;
}

/* The value of an option: attached to it, or the next argument. Something that looks like another long option
 * is not taken, since "--out --json" is a forgotten value far more often than a file named "--json". */
static rung_status take_value(parser *p, const rung_option *row, const char *attached)
{
    if (attached) return set_row(p, row, attached);
    const bool there = p->next < p->argc && strncmp(p->argv[p->next], "--", 2) != 0;
    if (row->alone && !(there && is_number(p->argv[p->next]))) return set_row(p, row, row->alone);
    if (!there) return rung_fail(p->err, RUNG_USAGE, "--%s needs a value: --%s %s", row->name, row->name, row->metavar);
    return set_row(p, row, p->argv[p->next++]);
}

/* Words that mean the same, of which a command has one. */
static const char *const same[][2] = {{"svg", "plot"}, {"count", "samples"}, {"samples", "count"}};

static const rung_option *find_same(const rung_option *table, const char *name, size_t len)
{
    for (size_t i = 0; i < RUNG_COUNT(same); i++)
        if (strlen(same[i][1]) == len && memcmp(same[i][1], name, len) == 0)
            return find_row(table, same[i][0], strlen(same[i][0]));
    return NULL;
}

/* --head-dim is both dimensions where a command has one option for each. */
static rung_status set_head_dim(parser *p, const char *attached)
{
    const rung_option *table = p->call->command->options, *dk = find_row(table, "dk", 2),
                      *dv = find_row(table, "dv", 2);
    const int at = p->next;
    RUNG_TRY(take_value(p, dk, attached));
    p->next = at;
    return take_value(p, dv, attached);
}

static bool is_head_dim(const rung_option *table, const char *name, size_t len)
{
    return len == 8 && memcmp(name, "head-dim", 8) == 0 && find_row(table, "dk", 2) && find_row(table, "dv", 2);
}

static rung_status parse_long(parser *p, const char *text)
{
    const rung_option *table = p->call->command->options;
    const size_t len = strcspn(text, "=");
    const rung_option *row = find_row(table, text, len);
    if (!row) row = find_row(tool_options_common, text, len);
    if (!row) row = find_same(table, text, len);
    if (!row && is_head_dim(table, text, len)) return set_head_dim(p, text[len] ? text + len + 1 : NULL);
    if (!row) return unknown_option(p->call->command, text, len, p->err);
    const char *attached = text[len] == '=' ? text + len + 1 : NULL;
    if (row->kind != RUNG_OPTION_FLAG) return take_value(p, row, attached);
    if (attached) return rung_fail(p->err, RUNG_USAGE, "--%s takes no value", row->name);
    return set_row(p, row, NULL);
}

static rung_status parse_short(parser *p, const char *letters)
{
    for (; *letters; letters++) {
        const rung_option *row = find_letter(p->call->command->options, *letters);
        if (!row) row = find_letter(tool_options_common, *letters);
        if (!row) return rung_fail(p->err, RUNG_USAGE, "unknown option '-%c'", *letters);
        if (row->kind != RUNG_OPTION_FLAG) return take_value(p, row, letters[1] ? letters + 1 : NULL);
        const rung_status status = set_row(p, row, NULL);
        RUNG_TRY(status);
    }
    return RUNG_OK;
}

static bool is_word(const char *text)
{
    const size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return len > 0 && text[len] == '=';
}

static void add_plain(parser *p, const char *text)
{
    if (p->call->command->pairs && is_word(text))
        p->pair[p->call->pairs++] = text;
    else
        p->argument[p->call->arguments++] = text;
}

static rung_status check_arity(const tool_call *call, rung_error *err)
{
    size_t least = 0, most = 0;
    for (const tool_argument *row = call->command->arguments; row && row->metavar; row++) {
        least += row->least;
        if (call->arguments < least) return rung_fail(err, RUNG_USAGE, "needs %s: %s", row->metavar, row->help);
        most = row->most == SIZE_MAX ? SIZE_MAX : most + row->most;
    }
    if (call->arguments > most) return rung_fail(err, RUNG_USAGE, "unexpected argument '%s'", call->argument[most]);
    return RUNG_OK;
}

/* --help wins over everything that may be wrong with the rest of the line. */
static bool wants_help(int argc, char *const *argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

static rung_status parse_all(parser *p)
{
    rung_status status = RUNG_OK;
    bool options_over = false;
    while (!status && p->next < p->argc) {
        const char *text = p->argv[p->next++];
        if (options_over || text[0] != '-' || text[1] == '\0')
            add_plain(p, text);
        else if (strcmp(text, "--") == 0)
            options_over = true;
        else if (text[1] == '-')
            status = parse_long(p, text + 2);
        else
            status = parse_short(p, text + 1);
    }
    return status;
}

rung_status tool_options_parse(tool_call *call, int argc, char *const *argv, rung_arena *arena, rung_error *err)
{
    parser p = {.call = call, .argc = argc, .argv = argv, .err = err};
    p.argument = rung_arena_alloc(arena, (size_t)argc, sizeof *p.argument, err);
    p.pair = rung_arena_alloc(arena, (size_t)argc, sizeof *p.pair, err);
    if (!p.argument || !p.pair) return RUNG_SYSTEM;
    call->argument = p.argument;
    call->pair = p.pair;

    RUNG_TRY(rung_option_defaults(call, tool_options_common, err));
    RUNG_TRY(rung_option_defaults(call->values, call->command->options, err));
    rung_status status = parse_all(&p);
    if (wants_help(argc, argv)) {
        call->help = true;
        return RUNG_OK;
    }
    return status ? status : check_arity(call, err);
}

bool tool_call_given(const tool_call *call, const char *option)
{
    const rung_option *row = rung_option_find(call->command->options, option);
    assert(row && "the command's table has this option");
    return call->given >> (row - call->command->options) & 1;
}

void tool_option_spell(rung_buf *out, const rung_option *option)
{
    if (option->letter) rung_buf_printf(out, "-%c, ", option->letter);
    rung_buf_printf(out, "--%s", option->name);
    if (option->kind != RUNG_OPTION_FLAG) rung_buf_printf(out, option->alone ? " [%s]" : " %s", option->metavar);
}
