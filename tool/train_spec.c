/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A run written down in a file: a JSON object becomes the command line that it stands for, so that there is one set
 * of names, ranges and messages.
 */
#include <string.h>

#include "rung/io.h"
#include "train.h"

typedef struct spelling {
    char **pair; /* [2 members + pairs of the task + 1] */
    size_t count, room;
    rung_arena *arena;
    const char *path;
    rung_error *err;
} spelling;

static rung_status add_pair(spelling *s, const char *text)
{
    char *copy = rung_arena_strdup(s->arena, text, s->err);
    if (!copy) return RUNG_SYSTEM;
    if (s->count == s->room) return rung_fail(s->err, RUNG_INPUT, "%s: too many members", s->path);
    s->pair[s->count++] = copy;
    return RUNG_OK;
}

/* "eva N=8 V=4": the name is the value of --task, the rest are pairs. */
static rung_status add_task(spelling *s, const char *text)
{
    char *copy = rung_arena_strdup(s->arena, text, s->err), *rest = NULL;
    if (!copy) return RUNG_SYSTEM;
    char *pair = strtok_r(copy, " ", &rest);
    rung_status status = pair ? add_pair(s, "--task") : rung_fail(s->err, RUNG_INPUT, "%s: the task is empty", s->path);
    for (; status == RUNG_OK && pair; pair = strtok_r(NULL, " ", &rest)) status = add_pair(s, pair);
    return status;
}

static rung_status add_member(spelling *s, const char *key, const rung_json *value)
{
    char option[64], number[RUNG_JSON_SCALAR_TEXT];
    const char *text = rung_json_scalar_text(number, value);
    bool flag;
    if (!text)
        return rung_fail(s->err, RUNG_INPUT, "%s: \"%.40s\" must be a text, a number, true or false", s->path, key);
    if (strcmp(key, "task") == 0 && rung_json_string(value)) return add_task(s, text);
    snprintf(option, sizeof option, "--%.56s", key);
    if (rung_json_bool(&flag, value)) return flag ? add_pair(s, option) : RUNG_OK;
    RUNG_TRY(add_pair(s, option));
    return add_pair(s, text);
}

/* Before it becomes an option, so that the message speaks of keys. */
static rung_status check_key(const spelling *s, const tool_command *command, const char *key)
{
    const char *names[RUNG_OPTION_MAX + 1] = {"seed"};
    size_t count = 1;
    for (const rung_option *row = command->options; row->name; row++) names[count++] = row->name;
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], key) == 0) return RUNG_OK;
    const char *near = rung_guess_name(key, names, count);
    return rung_fail(s->err, RUNG_INPUT, "%s: unknown key \"%.40s\"%s%s%s", s->path, key,
                     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static rung_status spell(spelling *s, const tool_command *command, const rung_json *root)
{
    rung_status status = RUNG_OK;
    if (rung_json_kind_of(root) != RUNG_JSON_OBJECT)
        return rung_fail(s->err, RUNG_INPUT, "%s is no JSON object with the keys of 'rung train --help'", s->path);
    s->room = 2 * rung_json_len(root) + RUNG_PARAM_MAX + 2;
    s->pair = rung_arena_alloc(s->arena, s->room + 1, sizeof *s->pair, s->err);
    if (!s->pair) return RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < rung_json_len(root); i++) {
        const char *key = rung_json_key_at(root, i);
        status = check_key(s, command, key);
        RUNG_NEXT(status, add_member(s, key, rung_json_value_at(root, i)));
    }
    return status;
}

static void overrule(tool_call *merged, const tool_call *call)
{
    const rung_option *rows = call->command->options;
    for (size_t i = 0; rows[i].name; i++) {
        if (!(call->given >> i & 1)) continue;
        rung_option_copy(merged->values, call->values, &rows[i]);
        merged->given |= UINT64_C(1) << i;
    }
    if (call->seed) merged->seed = call->seed;
    merged->json = call->json, merged->quiet = call->quiet;
    if (call->pairs) merged->pair = call->pair, merged->pairs = call->pairs;
}

rung_status tool_train_read_spec(tool_call *merged, const tool_call *call, const char *path, rung_arena *arena,
                                 rung_error *err)
{
    spelling s = {.arena = arena, .path = path, .err = err};
    rung_json_doc *doc;
    RUNG_TRY(rung_json_open(&doc, path, err));
    rung_status status = spell(&s, call->command, rung_json_root(doc));
    rung_json_free(doc);
    *merged = (tool_call){.command = call->command};
    if (status == RUNG_OK) merged->values = rung_arena_alloc(arena, 1, call->command->values_size, err);
    if (status != RUNG_OK || !merged->values) return status != RUNG_OK ? status : RUNG_SYSTEM;
    status = tool_options_parse(merged, (int)s.count, s.pair, arena, err);
    if (status != RUNG_OK) return rung_fail_at(err, status == RUNG_USAGE ? RUNG_INPUT : status, "%s", path);
    overrule(merged, call);
    return RUNG_OK;
}
