/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The grid of a probe: keys with lists of values, and the meaning of L (depth) and n (facts) for each task.
 */
#include <stdlib.h>
#include <string.h>

#include "probe_internal.h"

/* The parameters that L and n set. %lld is the value; spaces separate several parameters. */
typedef struct meaning {
    const char *task, *depth, *facts;
    const char *depth_key, *facts_key; /* the parameters' own names, which are accepted too */
} meaning;

/* Composition: L tables of n facts each, all over the same n names. k-hop: one list of n places. */
static const meaning meanings[] = {
    {"seqcomp", "L=%lld", "N0=%lld n=1 flat=1", "L", "N0"},
    {"k-hop", "k=%lld targets=last", "N=%lld targets=last", "k", "N"},
    {"eva", NULL, "N=%lld", NULL, "N"},
    {"retrieval", NULL, "N=%lld", NULL, "N"},
    {"index", NULL, "N=%lld", NULL, "N"},
    {"assoc-recall", NULL, "N=%lld K=%lld V=%lld", NULL, "N"},
    {"two-sum", NULL, "N=%lld", NULL, "N"},
    {"parity", NULL, "N=%lld", NULL, "N"},
    {"self-compose", NULL, "N=%lld", NULL, "N"},
};

static const meaning *meaning_of(const char *task)
{
    for (size_t i = 0; i < RUNG_COUNT(meanings); i++)
        if (strcmp(meanings[i].task, task) == 0) return &meanings[i];
    return NULL;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static rung_status add_value(probe_axis *axis, int64_t value, rung_error *err)
{
    if (axis->values.len == RUNG_LIST_MAX)
        return rung_fail(err, RUNG_USAGE, "--grid: %s has more than %d values", axis->key, RUNG_LIST_MAX);
    if (axis->values.len && value <= axis->values.at[axis->values.len - 1])
        return rung_fail(err, RUNG_USAGE, "--grid: the values of %s must be in rising order", axis->key);
    axis->values.at[axis->values.len++] = value;
    return RUNG_OK;
}

/* "7" or "1..6" */
static rung_status read_values(probe_axis *axis, char *text, rung_error *err)
{
    int64_t low, high;
    char *dots = strstr(text, "..");
    if (dots) *dots = '\0';
    if (!rung_parse_int(&low, text, 0, INT64_C(1) << 40) ||
        !rung_parse_int(&high, dots ? dots + 2 : text, 0, INT64_C(1) << 40) || high < low)
        return rung_fail(err, RUNG_USAGE, "--grid: '%s' is not a value of %s; write 4 or 1..6", text, axis->key);
    rung_status status = RUNG_OK;
    for (int64_t v = low; status == RUNG_OK && v <= high; v++) status = add_value(axis, v, err);
    return status;
}

static rung_status begin_axis(probe_axis **axis, probe_grid *grid, const char *key, rung_error *err)
{
    if (grid->count == PROBE_KEYS) return rung_fail(err, RUNG_USAGE, "--grid: more than %d keys", PROBE_KEYS);
    if (!*key || strlen(key) >= sizeof grid->axis[0].key)
        return rung_fail(err, RUNG_USAGE, "--grid: '%.40s' is not a key", key);
    for (size_t i = 0; i < grid->count; i++)
        if (strcmp(grid->axis[i].key, key) == 0) return rung_fail(err, RUNG_USAGE, "--grid: %s occurs twice", key);
    *axis = &grid->axis[grid->count++];
    strcpy((*axis)->key, key);
    return RUNG_OK;
}

static rung_status read_words(probe_grid *grid, char *text, rung_error *err)
{
    probe_axis *axis = NULL;
    rung_status status = RUNG_OK;
    char *rest = NULL;
    for (char *pair = strtok_r(text, ",", &rest); pair && status == RUNG_OK; pair = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(pair, '=');
        if (equals) {
            *equals = '\0';
            status = begin_axis(&axis, grid, pair, err);
            pair = equals + 1;
        }
        if (status == RUNG_OK && !axis)
            status = rung_fail(err, RUNG_USAGE, "--grid: '%s' has no key; write for example L=1..4,n=8,16", pair);
        RUNG_NEXT(status, read_values(axis, pair, err));
    }
    return status;
}

rung_status probe_grid_parse(probe_grid *grid, const char *text, rung_error *err)
{
    memset(grid, 0, sizeof *grid);
    char *copy = strdup(text);
    if (!copy) return rung_fail(err, RUNG_SYSTEM, "out of memory");
    rung_status status = read_words(grid, copy, err);
    free(copy);
    if (status == RUNG_OK && probe_grid_cells(grid) > 4096)
        status = rung_fail(err, RUNG_USAGE, "--grid: more than 4096 cells");
    return status;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

size_t probe_grid_cells(const probe_grid *grid)
{
    size_t cells = 1;
    for (size_t i = 0; i < grid->count; i++) cells *= grid->axis[i].values.len; /* at most 16^8 */
    return cells;
}

int64_t probe_grid_value(const probe_grid *grid, size_t cell, size_t axis)
{
    for (size_t i = grid->count; i-- > axis + 1;) cell /= grid->axis[i].values.len;
    return grid->axis[axis].values.at[cell % grid->axis[axis].values.len];
}

static size_t find_axis(const probe_grid *grid, const char *alias, const char *name)
{
    for (size_t i = 0; i < grid->count; i++)
        if (strcmp(grid->axis[i].key, alias) == 0 || (name && strcmp(grid->axis[i].key, name) == 0)) return i;
    return SIZE_MAX;
}

size_t probe_grid_depth_axis(const probe_grid *grid, const char *task)
{
    const meaning *m = meaning_of(task);
    return m && m->depth ? find_axis(grid, "L", m->depth_key) : SIZE_MAX;
}

size_t probe_grid_facts_axis(const probe_grid *grid, const char *task)
{
    const meaning *m = meaning_of(task);
    return m && m->facts ? find_axis(grid, "n", m->facts_key) : SIZE_MAX;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

#define PAIRS_MOST 48

typedef struct pair_list {
    char text[PAIRS_MOST][64];
    const char *pair[PAIRS_MOST];
    size_t count;
} pair_list;

static void add_pair(pair_list *list, const char *pair)
{
    if (list->count == PAIRS_MOST) return;
    snprintf(list->text[list->count], sizeof list->text[0], "%s", pair);
    list->pair[list->count] = list->text[list->count];
    list->count++;
}

static void add_pattern(pair_list *list, const char *pattern, long long value)
{
    char copy[160], pair[64], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", pattern);
    for (char *p = strtok_r(copy, " ", &rest); p; p = strtok_r(NULL, " ", &rest)) {
        char *percent = strstr(p, "%lld");
        if (percent) *percent = '\0';
        if (percent)
            snprintf(pair, sizeof pair, "%s%lld", p, value);
        else
            snprintf(pair, sizeof pair, "%s", p);
        add_pair(list, pair);
    }
}

static void add_axis(pair_list *list, const probe_axis *axis, int64_t value, const meaning *m, bool small)
{
    bool depth = m && m->depth && strcmp(axis->key, "L") == 0, facts = m && m->facts && strcmp(axis->key, "n") == 0;
    bool size = facts || (m && m->facts_key && strcmp(axis->key, m->facts_key) == 0);
    if (small && size && value > 4) value = 4;
    char pattern[32];
    snprintf(pattern, sizeof pattern, "%s=%%lld", axis->key);
    add_pattern(list, depth ? m->depth : facts ? m->facts : pattern, (long long)value);
}

/* A composition of one function has no n_1, so words for it are skipped. */
static bool is_vain(const char *pair, const probe_grid *grid, size_t cell, const char *task)
{
    size_t axis = probe_grid_depth_axis(grid, task);
    return strcmp(task, "seqcomp") == 0 && strncmp(pair, "n=", 2) == 0 && axis != SIZE_MAX &&
           probe_grid_value(grid, cell, axis) == 1;
}

static void drop_vain(pair_list *list, const probe_grid *grid, size_t cell, const char *task)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!is_vain(list->pair[i], grid, cell, task)) list->pair[kept++] = list->pair[i];
    list->count = kept;
}

rung_status probe_grid_task(rung_task_conf *conf, const probe_grid *grid, size_t cell, const rung_probe_options *probe,
                            bool small, rung_error *err)
{
    const meaning *m = meaning_of(probe->task);
    pair_list list = {.count = 0};
    for (size_t i = 0; i < grid->count; i++) add_axis(&list, &grid->axis[i], probe_grid_value(grid, cell, i), m, small);
    for (size_t i = 0; i < probe->pair_count; i++) add_pair(&list, probe->pairs[i]);
    drop_vain(&list, grid, cell, probe->task);
    return rung_task_conf_init(conf, probe->task, list.pair, list.count, err);
}
