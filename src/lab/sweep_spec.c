/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Reading the spec of a sweep:
 *   {"name": .., "question": .., "base": {key: value}, "grid": {key: [values]}, "success": 0.99, "choose": ["rate"],
 *    "keep-models": false, "cases": [{"label": .., "grid": {..}, key: value}]}
 * Keys are those of `rung train`, "seed", and "task.K" for the parameter K of the task.
 */
#include "sweep_spec.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MOST 4096 /* bytes: the most that a store accepts */

typedef struct reader {
    rung_sweep *sweep;
    rung_arena *arena;
    const char *file;
    rung_error *err;
} reader;

/* ---- places and texts -------------------------------------------------------------------------------------------- */

static rung_status refuse(const reader *r, const char *place, const char *problem)
{
    return rung_fail(r->err, RUNG_INPUT, "%s: %s %s", r->file, place, problem);
}

static char *copy(const reader *r, const char *text)
{
    return rung_arena_strdup(r->arena, text, r->err);
}

static char *place_of(const reader *r, const char *parent, const char *key)
{
    char text[160];
    snprintf(text, sizeof text, "%.80s%s%.60s", parent, *parent ? "." : "", key);
    return copy(r, text);
}

/* Converts a value to the word that a user would type. */
static rung_status read_word(const char **out, const reader *r, const char *place, const rung_json *value)
{
    char number[RUNG_JSON_SCALAR_TEXT];
    const char *word = rung_json_scalar_text(number, value);
    if (!word) return refuse(r, place, "must be a string, a number, true or false");
    *out = copy(r, word);
    return *out ? RUNG_OK : RUNG_SYSTEM;
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

static rung_status read_values(lab_axis *axis, const reader *r, const rung_json *values)
{
    bool many = rung_json_kind_of(values) == RUNG_JSON_ARRAY;
    rung_status status = RUNG_OK;
    axis->count = many ? rung_json_len(values) : 1;
    if (axis->count == 0) return refuse(r, axis->place, "is empty");
    axis->text = rung_arena_alloc(r->arena, axis->count, sizeof *axis->text, r->err);
    if (!axis->text) return RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < axis->count; i++)
        status = read_word(&axis->text[i], r, axis->place, many ? rung_json_at(values, i) : values);
    return status;
}

static rung_status read_axis(lab_axis *axis, const reader *r, const char *parent, const char *key,
                             const rung_json *value, bool grid)
{
    RUNG_TRY(lab_check_key(r->file, parent, key, r->err));
    axis->key = copy(r, key);
    axis->place = place_of(r, parent, key);
    if (!axis->key || !axis->place) return RUNG_SYSTEM;
    bool many = rung_json_kind_of(value) == RUNG_JSON_ARRAY;
    if (grid && !many) return refuse(r, axis->place, "must be a list of values");
    if (!grid && many) return refuse(r, axis->place, "is a list; lists belong in a grid");
    return read_values(axis, r, value);
}

/* A later axis of the same key replaces the earlier one. */
static void put_axis(lab_case *c, const lab_axis *axis)
{
    for (size_t i = 0; i < c->axes; i++) {
        if (strcmp(c->axis[i].key, axis->key) != 0) continue;
        memmove(&c->axis[i], &c->axis[i + 1], (c->axes - i - 1) * sizeof *c->axis);
        c->axes--;
        break;
    }
    c->axis[c->axes++] = *axis;
}

static rung_status read_axes(lab_case *c, const reader *r, const char *parent, const rung_json *object, bool grid)
{
    rung_status status = RUNG_OK;
    if (object && rung_json_kind_of(object) != RUNG_JSON_OBJECT) return refuse(r, parent, "must be an object");
    for (size_t i = 0; status == RUNG_OK && i < rung_json_len(object); i++) {
        lab_axis axis;
        status = read_axis(&axis, r, parent, rung_json_key_at(object, i), rung_json_value_at(object, i), grid);
        if (status == RUNG_OK) put_axis(c, &axis);
    }
    return status;
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

static rung_status read_label(lab_case *c, const reader *r, const char *place, const rung_json *value)
{
    const char *text = rung_json_string(value);
    if (!value) return RUNG_OK;
    if (!text) return refuse(r, place, "has a label that is not a string");
    if (!rung_text_is_plain(text, NAME_MOST))
        return refuse(r, place, "has a label that is too long or has control characters");
    c->label = copy(r, text);
    return c->label ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status read_case_members(lab_case *c, const reader *r, const char *place, const rung_json *object)
{
    rung_status status = read_label(c, r, place, rung_json_get(object, "label"));
    for (size_t i = 0; status == RUNG_OK && i < rung_json_len(object); i++) {
        const char *key = rung_json_key_at(object, i);
        lab_axis axis;
        if (strcmp(key, "label") == 0 || strcmp(key, "grid") == 0) continue;
        status = read_axis(&axis, r, place, key, rung_json_value_at(object, i), false);
        if (status == RUNG_OK) put_axis(c, &axis);
    }
    return status;
}

static rung_status count_points(lab_case *c, const reader *r, uint64_t *all, size_t most)
{
    c->runs = 1;
    for (size_t i = 0; i < c->axes; i++)
        if (__builtin_mul_overflow(c->runs, (uint64_t)c->axis[i].count, &c->runs)) c->runs = UINT64_MAX;
    if (c->runs > most || *all + c->runs > most)
        return rung_fail(r->err, RUNG_INPUT, "%s: more than %zu runs; split the grid into several files", r->file,
                         most);
    *all += c->runs;
    return RUNG_OK;
}

static rung_status read_case(lab_case *c, const reader *r, const rung_json *root, const rung_json *object,
                             const char *place)
{
    const rung_json *base = rung_json_get(root, "base"), *grid = rung_json_get(root, "grid");
    const rung_json *own = rung_json_get(object, "grid");
    char own_place[48];
    size_t room = rung_json_len(base) + rung_json_len(grid) + rung_json_len(object) + rung_json_len(own) + 1;
    c->label = "";
    c->axis = rung_arena_alloc(r->arena, room, sizeof *c->axis, r->err);
    if (!c->axis) return RUNG_SYSTEM;
    snprintf(own_place, sizeof own_place, "%.32s.grid", place);
    rung_status status = read_axes(c, r, "base", base, false);
    RUNG_NEXT(status, read_axes(c, r, "grid", grid, true));
    if (status == RUNG_OK && object && rung_json_kind_of(object) != RUNG_JSON_OBJECT)
        status = refuse(r, place, "must be an object");
    RUNG_TRY(status);
    RUNG_TRY(read_case_members(c, r, place, object));
    return read_axes(c, r, own_place, own, true);
}

static rung_status read_cases(const reader *r, const rung_json *root, size_t most)
{
    const rung_json *list = rung_json_get(root, "cases");
    rung_sweep *s = r->sweep;
    rung_status status = RUNG_OK;
    uint64_t all = 0;
    if (list && (rung_json_kind_of(list) != RUNG_JSON_ARRAY || rung_json_len(list) == 0))
        return refuse(r, "cases", "must be a list of at least one object");
    s->case_count = list ? rung_json_len(list) : 1;
    s->cases = rung_arena_alloc(r->arena, s->case_count, sizeof *s->cases, r->err);
    if (!s->cases) return RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < s->case_count; i++) {
        char place[32];
        snprintf(place, sizeof place, "cases[%zu]", i);
        status = read_case(&s->cases[i], r, root, rung_json_at(list, i), place);
        RUNG_NEXT(status, count_points(&s->cases[i], r, &all, most));
    }
    s->runs = (size_t)all;
    return status;
}

/* ---- the other members ------------------------------------------------------------------------------------------- */

static rung_status read_choose(const reader *r, const rung_json *list)
{
    static const char *rate[] = {"rate"};
    rung_sweep *s = r->sweep;
    rung_status status = RUNG_OK;
    s->choose = rate, s->chooses = 1;
    if (!list) return RUNG_OK;
    if (rung_json_kind_of(list) != RUNG_JSON_ARRAY) return refuse(r, "choose", "must be a list of keys");
    s->chooses = rung_json_len(list);
    s->choose = rung_arena_alloc(r->arena, s->chooses, sizeof *s->choose, r->err);
    if (!s->choose) return RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < s->chooses; i++) {
        status = read_word(&s->choose[i], r, "choose", rung_json_at(list, i));
        RUNG_NEXT(status, lab_check_key(r->file, "choose", s->choose[i], r->err));
    }
    return status;
}

/* The file name without directory and extension, for a spec without a name. */
static const char *stem(const reader *r)
{
    const char *slash = strrchr(r->file, '/');
    char *name = copy(r, slash ? slash + 1 : r->file);
    char *dot = name ? strrchr(name, '.') : NULL;
    if (dot && dot != name) *dot = '\0';
    return name;
}

static rung_status read_text(const char **out, const reader *r, const rung_json *root, const char *key)
{
    const rung_json *value = rung_json_get(root, key);
    if (!value) return RUNG_OK;
    if (!rung_json_string(value)) return refuse(r, key, "must be a text");
    if (!rung_text_is_plain(rung_json_string(value), NAME_MOST))
        return refuse(r, key, "must be one line of at most 4096 bytes, without control characters");
    *out = copy(r, rung_json_string(value));
    return *out ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status read_head(const reader *r, const rung_json *root)
{
    rung_sweep *s = r->sweep;
    const rung_json *success = rung_json_get(root, "success"), *keep = rung_json_get(root, "keep-models");
    s->name = stem(r);
    s->question = "";
    s->success = 0.99;
    if (!s->name) return RUNG_SYSTEM;
    rung_status status = read_text(&s->name, r, root, "name");
    if (status == RUNG_OK && !rung_text_is_plain(s->name, NAME_MOST))
        status = refuse(r, "name", "must be given, because the file name has control characters");
    RUNG_NEXT(status, read_text(&s->question, r, root, "question"));
    if (status == RUNG_OK && success && (!rung_json_real(&s->success, success) || !(s->success > 0 && s->success <= 1)))
        status = refuse(r, "success", "must be an accuracy above 0 and at most 1");
    if (status == RUNG_OK && keep && !rung_json_bool(&s->keep_models, keep))
        status = refuse(r, "keep-models", "must be true or false");
    RUNG_TRY(status);
    return read_choose(r, rung_json_get(root, "choose"));
}

static rung_status check_members(const reader *r, const rung_json *root)
{
    static const char *const known[] = {"name",  "question", "base",   "grid",
                                        "cases", "success",  "choose", "keep-models"};
    if (rung_json_kind_of(root) != RUNG_JSON_OBJECT)
        return rung_fail(r->err, RUNG_INPUT, "%s is not a JSON object with the keys of docs/lab.md", r->file);
    for (size_t i = 0; i < rung_json_len(root); i++) {
        const char *key = rung_json_key_at(root, i);
        bool found = false;
        for (size_t k = 0; k < RUNG_COUNT(known); k++) found = found || strcmp(known[k], key) == 0;
        const char *near = found ? NULL : rung_guess_name(key, known, RUNG_COUNT(known));
        if (!found && near)
            return rung_fail(r->err, RUNG_INPUT, "%s: unknown key \"%.40s\"; did you mean \"%s\"?", r->file, key, near);
        if (!found)
            return rung_fail(r->err, RUNG_INPUT, "%s: unknown key \"%.40s\"%s", r->file, key,
                             lab_check_key(r->file, "", key, NULL) == RUNG_OK ? "; keys of runs belong in \"base\""
                                                                              : "");
    }
    return RUNG_OK;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* A hash set of ids with open addressing; `slot` has at least twice as many places as there are points. */
static bool is_new(uint32_t *slot, size_t slots, const lab_planned_run *planned, size_t count, const char *id)
{
    size_t at = rung_hash64(id, RUNG_RUN_ID - 1) & (slots - 1);
    for (; slot[at]; at = (at + 1) & (slots - 1))
        if (strcmp(planned[slot[at] - 1].id, id) == 0) return false;
    slot[at] = (uint32_t)count + 1;
    return true;
}

static rung_status check_layers(const rung_sweep_run *run, rung_error *err)
{
    const rung_model_spec *m = &run->conf.model;
    rung_arch arch;
    rung_status status = rung_arch_parse(&arch, m->arch, &(rung_arch_defaults){m->heads, m->dk, m->dv, m->causal}, err);
    if (status == RUNG_OK) rung_arch_clear(&arch);
    return status;
}

static rung_status add_planned(const reader *r, uint32_t *slot, size_t slots, uint32_t of_case, uint64_t number)
{
    rung_sweep *s = r->sweep;
    rung_sweep_run run;
    rung_status status = lab_spell_planned(&run, s, of_case, number, r->err);
    RUNG_NEXT(status, check_layers(&run, r->err));
    if (status != RUNG_OK) {
        const char *arch = run.text.shape.arch ? run.text.shape.arch : "";
        status =
            rung_fail_at(r->err, status == RUNG_USAGE ? RUNG_INPUT : status, "%s: run with arch %.60s", r->file, arch);
    } else if (is_new(slot, slots, s->planned, s->runs, run.id)) {
        lab_planned_run *planned = &s->planned[s->runs++];
        memcpy(planned->id, run.id, sizeof planned->id);
        planned->of_case = of_case, planned->number = number;
    } else {
        s->repeated++;
    }
    rung_sweep_run_clear(&run);
    return status;
}

static rung_status add_points(const reader *r)
{
    rung_sweep *s = r->sweep;
    size_t slots = 16, most = s->runs;
    while (slots < 2 * most) slots *= 2;
    uint32_t *slot = rung_calloc(slots, sizeof *slot, r->err);
    s->planned = rung_arena_alloc(r->arena, most, sizeof *s->planned, r->err);
    s->spoken = rung_arena_alloc(r->arena, slots, sizeof *s->spoken, r->err);
    s->slots = slots;
    s->runs = 0;
    rung_status status = slot && s->planned && s->spoken ? RUNG_OK : RUNG_SYSTEM;
    for (uint32_t c = 0; status == RUNG_OK && c < s->case_count; c++)
        for (uint64_t i = 0; status == RUNG_OK && i < s->cases[c].runs; i++) status = add_planned(r, slot, slots, c, i);
    free(slot);
    return status;
}

/* ---- whole ------------------------------------------------------------------------------------------------------- */

static rung_status read_sweep(const reader *r, const rung_json *root, size_t most)
{
    RUNG_TRY(check_members(r, root));
    RUNG_TRY(read_head(r, root));
    RUNG_TRY(read_cases(r, root, most));
    return add_points(r);
}

static rung_status keep_text(rung_sweep *s, const char *text, size_t len, const char *name, rung_error *err)
{
    char *whole = rung_arena_alloc(&s->arena, len + 1, 1, err);
    if (whole && len) memcpy(whole, text, len);
    s->text = whole;
    s->file = rung_arena_strdup(&s->arena, name, err);
    return s->text && s->file ? RUNG_OK : RUNG_SYSTEM;
}

rung_status rung_sweep_parse(rung_sweep **out, const char *text, size_t len, const char *name, size_t most,
                             rung_error *err)
{
    rung_json_doc *doc = NULL;
    rung_sweep *s = rung_calloc(1, sizeof *s, err);
    if (!s) return RUNG_SYSTEM;
    rung_arena_init(&s->arena);
    rung_status status = keep_text(s, text, len, name, err);
    RUNG_NEXT(status, rung_json_parse(&doc, text, len, name, err));
    reader r = {.sweep = s, .arena = &s->arena, .file = s->file, .err = err};
    RUNG_NEXT(status, read_sweep(&r, rung_json_root(doc), most));
    rung_json_free(doc);
    if (status != RUNG_OK) {
        rung_sweep_free(s);
        return status;
    }
    *out = s;
    return RUNG_OK;
}

rung_status rung_sweep_open(rung_sweep **out, const char *path, rung_error *err)
{
    rung_file_map map;
    RUNG_TRY(rung_file_open_map(&map, path, err));
    rung_status status = rung_sweep_parse(out, (const char *)map.bytes, map.size, path, RUNG_SWEEP_MOST, err);
    rung_file_close_map(&map);
    return status;
}

void rung_sweep_free(rung_sweep *sweep)
{
    if (!sweep) return;
    rung_arena_clear(&sweep->arena);
    free(sweep);
}

void rung_sweep_spec_id(char id[RUNG_RUN_ID], const rung_sweep *sweep)
{
    char hex[65];
    rung_sha256_hex(hex, sweep->text, strlen(sweep->text));
    memcpy(id, hex, RUNG_RUN_ID - 1);
    id[RUNG_RUN_ID - 1] = '\0';
}

const char *rung_sweep_name(const rung_sweep *sweep)
{
    return sweep->name;
}

const char *rung_sweep_question(const rung_sweep *sweep)
{
    return sweep->question;
}

double rung_sweep_success(const rung_sweep *sweep)
{
    return sweep->success;
}

size_t rung_sweep_count(const rung_sweep *sweep)
{
    return sweep->runs;
}

size_t rung_sweep_repeated(const rung_sweep *sweep)
{
    return sweep->repeated;
}

const char *rung_sweep_id(const rung_sweep *sweep, size_t index)
{
    return sweep->planned[index].id;
}
