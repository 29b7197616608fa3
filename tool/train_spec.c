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

static bool same_key(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");
    return strcspn(b, "=") == length && memcmp(a, b, length) == 0;
}

/* Parameters of the task that the call gives replace those of the same name; with a task of its own they are all. */
static rung_status overrule_pairs(tool_call *merged, const tool_call *call, rung_arena *arena, rung_error *err)
{
    const char **pair = rung_arena_alloc(arena, merged->pairs + call->pairs + 1, sizeof *pair, err);
    size_t count = 0;
    if (!pair) return RUNG_SYSTEM;
    for (size_t i = 0; i < merged->pairs && !tool_call_given(call, "task"); i++) {
        bool kept = true;
        for (size_t j = 0; j < call->pairs; j++) kept = kept && !same_key(merged->pair[i], call->pair[j]);
        if (kept) pair[count++] = merged->pair[i];
    }
    for (size_t j = 0; j < call->pairs; j++) pair[count++] = call->pair[j];
    merged->pair = pair, merged->pairs = count;
    return RUNG_OK;
}

static rung_status overrule(tool_call *merged, const tool_call *call, rung_arena *arena, rung_error *err)
{
    const rung_option *rows = call->command->options;
    for (size_t i = 0; rows[i].name; i++) {
        if (!(call->given >> i & 1)) continue;
        rung_option_copy(merged->values, call->values, &rows[i]);
        merged->given |= UINT64_C(1) << i;
    }
    if (call->seed) merged->seed = call->seed;
    merged->json = call->json, merged->quiet = call->quiet;
    return overrule_pairs(merged, call, arena, err);
}

/* What was spelled, as a call that `call` overrules. Messages start with `from`. */
static rung_status parse_spelled(tool_call *merged, const spelling *s, const tool_call *call, const char *from)
{
    *merged = (tool_call){.command = call->command};
    merged->values = rung_arena_alloc(s->arena, 1, call->command->values_size, s->err);
    if (!merged->values) return RUNG_SYSTEM;
    rung_status status = tool_options_parse(merged, (int)s->count, s->pair, s->arena, s->err);
    if (status != RUNG_OK) return rung_fail_at(s->err, status == RUNG_USAGE ? RUNG_INPUT : status, "%s", from);
    return overrule(merged, call, s->arena, s->err);
}

rung_status tool_train_read_spec(tool_call *merged, const tool_call *call, const char *path, rung_arena *arena,
                                 rung_error *err)
{
    spelling s = {.arena = arena, .path = path, .err = err};
    rung_json_doc *doc;
    RUNG_TRY(rung_json_open(&doc, path, err));
    rung_status status = spell(&s, call->command, rung_json_root(doc));
    rung_json_free(doc);
    RUNG_TRY(status);
    return parse_spelled(merged, &s, call, path);
}

rung_status tool_train_take_recipe(tool_call *merged, const tool_call *call, const rung_recipe *recipe,
                                   rung_arena *arena, rung_error *err)
{
    spelling s = {.arena = arena, .path = recipe->name, .err = err, .room = RUNG_RECIPE_WORDS + RUNG_PARAM_MAX + 2};
    s.pair = rung_arena_alloc(arena, s.room + 1, sizeof *s.pair, err);
    rung_status status = s.pair ? add_task(&s, recipe->task) : RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && recipe->option[i]; i += 2) {
        char option[64];
        snprintf(option, sizeof option, "--%.56s", recipe->option[i]);
        status = add_pair(&s, option);
        RUNG_NEXT(status, add_pair(&s, recipe->option[i + 1]));
    }
    RUNG_TRY(status);
    return parse_spelled(merged, &s, call, recipe->name);
}
