/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One run of a sweep: from its values in the grid to the options of `rung train`, its configuration, canonical
 * text and id.
 */
#include "store.h"
#include "sweep_spec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Prompts of the last test if the spec gives no number. The 95 % interval of an accuracy then reaches at most 0.03 to
 * either side. */
#define TEST_PROMPTS 1024
#define TASK_PREFIX  "task."

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static bool is_of_task(const char *key)
{
    return strncmp(key, TASK_PREFIX, strlen(TASK_PREFIX)) == 0;
}

/* Of the options that do not affect the trained bytes, only these are allowed in a sweep. A recipe is not part of a
 * run: what it stands for is. */
static bool is_for_sweeps(const rung_option *row)
{
    return rung_train_decides(row) || strcmp(row->name, "checkpoint-every") == 0 || strcmp(row->name, "recipe") == 0;
}

rung_status lab_check_key(const char *file, const char *place, const char *key, rung_error *err)
{
    const char *names[RUNG_OPTION_MAX + 1] = {"seed"};
    size_t count = 1;
    const rung_option *row = rung_option_find(rung_train_option_table, key);
    if (strcmp(key, "seed") == 0 || is_of_task(key) || (row && is_for_sweeps(row))) return RUNG_OK;
    const char *comma = *place ? ": " : "";
    if (row)
        return rung_fail(err, RUNG_INPUT,
                         "%s: %s%s\"%s\" cannot stand in a sweep: the store and the command line decide it", file,
                         place, comma, key);
    for (row = rung_train_option_table; row->name; row++)
        if (is_for_sweeps(row)) names[count++] = row->name;
    const char *near = rung_guess_name(key, names, count);
    return rung_fail(err, RUNG_INPUT, "%s: %s%sunknown key \"%.40s\"%s%s%s", file, place, comma, key,
                     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* The last axis varies fastest. */
static const char *value_at(const lab_case *c, size_t axis, uint64_t number)
{
    for (size_t i = c->axes; i-- > axis + 1;) number /= c->axis[i].count;
    return c->axis[axis].text[number % c->axis[axis].count];
}

typedef struct speller {
    rung_sweep_run *run;
    const lab_case *from;
    uint64_t number;
    uint64_t seed;
    const char *task; /* name and parameters */
    const char **pair;
    size_t pairs, room;
    rung_error *err;
} speller;

static rung_status set_flag(speller *s, const rung_option *row, const char *text)
{
    bool *field = (bool *)((char *)&s->run->text + row->at);
    *field = strcmp(text, "true") == 0;
    if (*field || strcmp(text, "false") == 0) return RUNG_OK;
    return rung_fail(s->err, RUNG_INPUT, "must be true or false, but is %.40s", text);
}

static rung_status set_key(speller *s, const char *key, const char *text)
{
    int64_t seed;
    if (is_of_task(key)) return RUNG_OK; /* applied later, after the parameters in the task text */
    if (strcmp(key, "task") == 0) {
        s->task = text;
        return RUNG_OK;
    }
    if (strcmp(key, "seed") == 0) {
        if (!rung_parse_int(&seed, text, 0, INT64_MAX))
            return rung_fail(s->err, RUNG_INPUT, "seed: '%.40s' is not a whole number >= 0", text);
        s->seed = (uint64_t)seed;
        return RUNG_OK;
    }
    const rung_option *row = rung_option_find(rung_train_option_table, key);
    if (row->kind == RUNG_OPTION_FLAG) return set_flag(s, row, text);
    return rung_option_set(&s->run->text, row, text, "", s->err);
}

/* Before all other keys, which replace what it says. */
static rung_status set_recipe(speller *s)
{
    rung_status status = RUNG_OK;
    const rung_recipe *recipe = NULL;
    for (size_t i = 0; i < s->from->axes; i++)
        if (strcmp(s->from->axis[i].key, "recipe") == 0) recipe = rung_recipe_get(value_at(s->from, i, s->number));
    if (recipe) s->task = recipe->task;
    for (size_t i = 0; status == RUNG_OK && recipe && recipe->option[i]; i += 2)
        status = set_key(s, recipe->option[i], recipe->option[i + 1]);
    return status;
}

static rung_status set_keys(speller *s, const rung_sweep *sweep)
{
    rung_status status = set_recipe(s);
    for (size_t i = 0; status == RUNG_OK && i < s->from->axes; i++) {
        const lab_axis *axis = &s->from->axis[i];
        status = set_key(s, axis->key, value_at(s->from, i, s->number));
        if (status != RUNG_OK)
            status =
                rung_fail_at(s->err, status == RUNG_USAGE ? RUNG_INPUT : status, "%s: %s", sweep->file, axis->place);
    }
    return status;
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

static size_t count_words(const char *text)
{
    size_t count = 0;
    for (; *text; text++) count += *text == ' ';
    return count + 1;
}

static rung_status add_pair(speller *s, const char *key, const char *value)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_printf(&text, "%s=%s", key, value);
    rung_status status = rung_buf_ok(&text, s->err);
    const char *pair = status == RUNG_OK ? rung_arena_strdup(&s->run->arena, text.text, s->err) : NULL;
    rung_buf_clear(&text);
    if (!pair) return RUNG_SYSTEM;
    s->pair[s->pairs++] = pair;
    return RUNG_OK;
}

/* Splits "eva N=8 V=4" into name and parameters. The keys task.K come after them and override them. */
static rung_status split_task(speller *s)
{
    rung_status status = RUNG_OK;
    char *rest = NULL, *copy = rung_arena_strdup(&s->run->arena, s->task, s->err);
    s->room = count_words(s->task) + s->from->axes;
    s->pair = rung_arena_alloc(&s->run->arena, s->room, sizeof *s->pair, s->err);
    if (!copy || !s->pair) return RUNG_SYSTEM;
    char *pair = strtok_r(copy, " ", &rest);
    if (!pair) return rung_fail(s->err, RUNG_INPUT, "the task is empty");
    s->run->text.shape.task = pair;
    while ((pair = strtok_r(NULL, " ", &rest))) s->pair[s->pairs++] = pair;
    for (size_t i = 0; status == RUNG_OK && i < s->from->axes; i++)
        if (is_of_task(s->from->axis[i].key))
            status = add_pair(s, s->from->axis[i].key + strlen(TASK_PREFIX), value_at(s->from, i, s->number));
    return status;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Appends "key": value of one option. False if the option has no value. */
static bool put_value(rung_buf *out, const rung_train_options *options, const rung_option *row)
{
    const void *field = (const char *)options + row->at;
    switch (row->kind) {
    case RUNG_OPTION_FLAG:
        rung_buf_puts(out, *(const bool *)field ? "true" : "false");
        return true;
    case RUNG_OPTION_STRING:
        if (!*(const char *const *)field) return false;
        rung_buf_json_string(out, *(const char *const *)field);
        return true;
    case RUNG_OPTION_REAL:
        rung_buf_real(out, *(const double *)field);
        return true;
    case RUNG_OPTION_CHOICE:
        rung_buf_json_string(out, row->choices[*(const int64_t *)field]);
        return true;
    case RUNG_OPTION_INT:
        rung_buf_printf(out, "%" PRId64, *(const int64_t *)field);
        return true;
    case RUNG_OPTION_SIZES:
        break;
    }
    return false;
}

static void put_list(rung_buf *out, const rung_value *value)
{
    rung_buf_putc(out, '"');
    for (size_t i = 0; i < value->list_len; i++) rung_buf_printf(out, "%s%" PRId64, i ? "," : "", value->list[i]);
    rung_buf_putc(out, '"');
}

static void put_param(rung_buf *out, const rung_value *value, const rung_param *row)
{
    switch (row->kind) {
    case RUNG_PARAM_INT:
    case RUNG_PARAM_SWITCH:
        rung_buf_printf(out, "%" PRId64, value->number);
        break;
    case RUNG_PARAM_LIST:
        put_list(out, value);
        break;
    case RUNG_PARAM_CHOICE:
        rung_buf_json_string(out, row->choices[value->number]);
        break;
    case RUNG_PARAM_REAL:
        rung_buf_real(out, value->real);
        break;
    }
}

/* Collects members of the object, and the two hashes over those members that count for them. */
typedef struct word_list {
    rung_buf all, setting, cell;
    const rung_sweep *sweep;
} word_list;

static bool is_chosen(const rung_sweep *sweep, const char *key)
{
    for (size_t i = 0; i < sweep->chooses; i++)
        if (strcmp(sweep->choose[i], key) == 0) return true;
    return false;
}

static void put_member(word_list *list, const char *key, const rung_buf *value)
{
    const char *text = value->text ? value->text : "";
    rung_buf_printf(&list->all, "%s", list->all.len ? ", " : "{");
    rung_buf_json_string(&list->all, key);
    rung_buf_printf(&list->all, ": %s", text);
    if (strcmp(key, "seed") == 0) return;
    rung_buf_printf(&list->setting, "%s %s\n", key, text);
    if (!is_chosen(list->sweep, key)) rung_buf_printf(&list->cell, "%s %s\n", key, text);
}

static void put_task(word_list *list, const rung_task_conf *conf, rung_buf *value)
{
    for (size_t i = 0; conf->task->params[i].name; i++) {
        const rung_param *row = &conf->task->params[i];
        char key[80];
        if (row->kind == RUNG_PARAM_SWITCH && conf->params[i].number == row->fallback) continue; /* as in its text */
        rung_buf_reset(value);
        snprintf(key, sizeof key, TASK_PREFIX "%.64s", row->name);
        put_param(value, &conf->params[i], row);
        put_member(list, key, value);
    }
}

static void put_words(word_list *list, const rung_sweep_run *run, rung_buf *value)
{
    for (const rung_option *row = rung_train_option_table; row->name; row++) {
        rung_buf_reset(value);
        if (!rung_train_decides(row) || !put_value(value, &run->text, row)) continue;
        put_member(list, row->name, value);
        if (strcmp(row->name, "task") == 0) put_task(list, &run->conf.task, value);
    }
    rung_buf_reset(value);
    rung_buf_printf(value, "%" PRIu64, run->conf.seed);
    put_member(list, "seed", value);
    rung_buf_putc(&list->all, '}');
}

/* 53 bits: programs that read every number as a double must not confuse two hashes. */
static uint64_t hash53(const rung_buf *text)
{
    return rung_hash64(text->text, text->len) >> 11;
}

static rung_status list_words(rung_sweep_run *run, const rung_sweep *sweep, rung_error *err)
{
    word_list list = {.sweep = sweep};
    rung_buf value;
    rung_buf_init(&value);
    put_words(&list, run, &value);
    rung_status status = rung_buf_ok(&list.all, err);
    RUNG_NEXT(status, rung_buf_ok(&list.cell, err));
    RUNG_NEXT(status, rung_buf_ok(&list.setting, err));
    if (status == RUNG_OK) {
        run->setting = hash53(&list.setting);
        run->cell = hash53(&list.cell);
        run->keys = rung_arena_strdup(&run->arena, list.all.text, err);
        status = run->keys ? RUNG_OK : RUNG_SYSTEM;
    }
    rung_buf_clear(&list.all);
    rung_buf_clear(&list.setting);
    rung_buf_clear(&list.cell);
    rung_buf_clear(&value);
    return status;
}

/* ---- id ---------------------------------------------------------------------------------------------------------- */

static rung_status name_run(rung_sweep_run *run, rung_error *err)
{
    static const char head[] = "rung.run/1\n";
    char hex[65];
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_puts(&text, head);
    rung_train_canonical(&text, &run->conf);
    rung_status status = rung_buf_ok(&text, err);
    if (status == RUNG_OK) {
        rung_sha256_hex(hex, text.text, text.len);
        memcpy(run->id, hex, RUNG_RUN_ID - 1);
        run->id[RUNG_RUN_ID - 1] = '\0';
        run->canonical = rung_arena_strdup(&run->arena, text.text + strlen(head), err);
        status = run->canonical ? RUNG_OK : RUNG_SYSTEM;
    }
    rung_buf_clear(&text);
    return status;
}

/* Writes out words that follow from others, so that equal runs have equal words. Positions of thought tokens are added
 * automatically. */
static void settle_words(rung_sweep_run *run)
{
    const rung_train_spec *conf = &run->conf;
    bool by_itself = conf->model.max_tokens == conf->task.tokens + conf->thoughts;
    run->text.shape.d_mlp = (int64_t)conf->model.d_mlp;
    run->text.shape.max_tokens = (int64_t)(by_itself ? conf->task.tokens : conf->model.max_tokens);
}

/* ---- the last test ----------------------------------------------------------------------------------------------- */

static rung_status hash_kind(uint64_t *kind, const rung_train_spec *conf, rung_error *err)
{
    const rung_model_spec *m = &conf->model;
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_printf(&text, "%s\n%s\n%zu %zu %zu %d %zu", m->arch, m->task, m->heads, m->dk, m->dv, (int)m->causal,
                    conf->thoughts);
    rung_status status = rung_buf_ok(&text, err);
    if (status == RUNG_OK) *kind = rung_hash64(text.text, text.len) | 1;
    rung_buf_clear(&text);
    return status;
}

/* If a theorem speaks of the run, its accuracy is measured in the arithmetic of the theorem. Layers that cannot be
 * parsed are refused later, with their place in the spec. */
static rung_status choose_test(rung_train_spec *conf, const rung_sweep *sweep, rung_error *err)
{
    uint64_t kind;
    rung_error unread;
    if (conf->test_numbers || !conf->test_prompts) return RUNG_OK;
    rung_status status = hash_kind(&kind, conf, err);
    RUNG_TRY(status);
    size_t at = kind & (sweep->slots - 1);
    while (sweep->spoken[at].kind && sweep->spoken[at].kind != kind) at = (at + 1) & (sweep->slots - 1);
    lab_spoken *found = &sweep->spoken[at];
    if (!found->kind) {
        status = rung_lab_choose_test(conf, &unread);
        if (status == RUNG_SYSTEM) return rung_fail(err, status, "%s", unread.text);
        *found = (lab_spoken){kind, rung_train_tests_exactly(conf)};
    }
    conf->test_numbers = found->exact ? LAB_EXACT_NUMBERS : NULL;
    return RUNG_OK;
}

rung_status lab_spell_planned(rung_sweep_run *run, const rung_sweep *sweep, uint32_t of_case, uint64_t number,
                              rung_error *err)
{
    *run = (rung_sweep_run){.id = ""};
    rung_arena_init(&run->arena);
    rung_buf_init(&run->task_text);
    speller s = {.run = run, .from = &sweep->cases[of_case], .number = number, .err = err};
    rung_status status = rung_option_defaults(&run->text, rung_train_option_table, err);
    run->text.test_prompts = TEST_PROMPTS;
    s.task = run->text.shape.task;
    RUNG_NEXT(status, set_keys(&s, sweep));
    RUNG_NEXT(status, split_task(&s));
    RUNG_NEXT(status, rung_train_spec_of(&run->conf, &run->task_text, &run->text, s.seed, s.pair, s.pairs, err));
    RUNG_NEXT(status, choose_test(&run->conf, sweep, err));
    if (status == RUNG_OK) settle_words(run);
    RUNG_TRY(status);
    status = name_run(run, err);
    RUNG_TRY(status);
    RUNG_TRY(list_words(run, sweep, err));
    run->label = rung_arena_strdup(&run->arena, s.from->label, err);
    return run->label ? RUNG_OK : RUNG_SYSTEM;
}

rung_status rung_sweep_run_init(rung_sweep_run *run, const rung_sweep *sweep, size_t index, rung_error *err)
{
    return lab_spell_planned(run, sweep, sweep->planned[index].of_case, sweep->planned[index].number, err);
}

void rung_sweep_run_clear(rung_sweep_run *run)
{
    rung_arena_clear(&run->arena);
    rung_buf_clear(&run->task_text);
}
