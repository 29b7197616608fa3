/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What can be an axis: numbers among the varying keys, and sizes of the layers. A column such as state_bits depends on
 * keys (dk, or the architecture itself). At that axis these keys do not name series, because otherwise every series
 * would be one point.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "report_internal.h"
#include "rung/mech.h"

typedef struct column {
    const char *name, *slug;
    size_t at;
    bool layers;
} column;

static const column columns[] = {
    {"full layers", "full-layers", offsetof(rung_run_row, full_layers), true},
    {"recurrent layers", "recurrent-layers", offsetof(rung_run_row, recurrent_layers), true},
    {"layers", "layers", offsetof(rung_run_row, layers), false},
    {"state bits", "state-bits", offsetof(rung_run_row, state_bits), false},
    {"tokens of a prompt", "tokens", offsetof(rung_run_row, tokens), false},
};

double report_axis_value(const report_group *g, const report_axis *axis, size_t cell)
{
    const report_setting *s = report_chosen(g, cell);
    if (axis->key == SIZE_MAX) {
        uint64_t value;
        memcpy(&value, (const char *)&s->row + axis->column, sizeof value);
        return value || axis->layers ? (double)value : NAN; /* a logarithmic axis cannot show a state of 0 bits */
    }
    uint32_t level = report_level_of(s, axis->key);
    return level == REPORT_ABSENT ? NAN : g->key[axis->key].level[level].number;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* True if two cells that agree in all kept keys except `but` have different values of the axis. With `but` = SIZE_MAX:
 * if two cells that agree in the key `same` have different values. */
static bool differs(const report_group *g, const report_axis *axis, size_t but, size_t same, rung_error *err)
{
    report_index index = {0};
    bool found = false, fresh;
    for (size_t c = 0; !found && c < g->cells; c++) {
        double value = report_axis_value(g, axis, c);
        uint64_t tuple = 0;
        if (isnan(value)) continue;
        for (size_t i = 0; i < g->shown.key_count; i++) {
            size_t k = g->varying[i];
            bool take = but == SIZE_MAX ? k == same : i != but && g->key[k].kept;
            if (take) tuple = report_hash(tuple, report_level_of(report_chosen(g, c), k));
        }
        size_t *at = report_index_put(&index, tuple, &fresh, err);
        if (!at) break;
        if (fresh) *at = (size_t)bits_of(value);
        found = *at != (size_t)bits_of(value);
    }
    report_index_clear(&index);
    return found;
}

/* True if the key names architectures, under either of its names. */
static bool is_arch(const report_group *g, size_t key)
{
    return strcmp(g->key[key].name, "arch") == 0 || strcmp(g->key[key].name, "label") == 0;
}

static void find_behind(report_axis *axis, const report_group *g, rung_error *err)
{
    uint64_t numbers = 0, words = 0;
    for (size_t i = 0; i < g->shown.key_count; i++) {
        const report_key *key = &g->key[g->varying[i]];
        if (!key->kept || !differs(g, axis, i, SIZE_MAX, err)) continue;
        if (key->numeric) numbers |= UINT64_C(1) << i;
        if (is_arch(g, g->varying[i])) words |= UINT64_C(1) << i;
    }
    axis->family = words && !numbers;
    axis->behind = numbers ? numbers : words;
}

/* A column that is a function of one numeric key shows nothing new. */
static bool is_new(const report_axis *axis, const report_group *g, rung_error *err)
{
    if (axis->layers || strcmp(axis->slug, "state-bits") == 0) return true;
    for (size_t i = 0; i < g->shown.key_count; i++)
        if (g->shown.key[i].numeric && !g->shown.key[i].chosen && !differs(g, axis, SIZE_MAX, g->varying[i], err))
            return false;
    return true;
}

static bool varies(const report_axis *axis, const report_group *g)
{
    double first = NAN;
    for (size_t c = 0; c < g->cells; c++) {
        double value = report_axis_value(g, axis, c);
        if (isnan(first)) first = value;
        if (!isnan(value) && value != first) return true;
    }
    return false;
}

/* True if an earlier column has the same number in every cell. */
static bool repeats(const report_axis *axis, size_t axes, const report_group *g)
{
    for (size_t a = 0; a < axes; a++) {
        bool same = true;
        for (size_t c = 0; same && c < g->cells; c++)
            same = report_axis_value(g, &axis[a], c) == report_axis_value(g, &axis[axes], c);
        if (same) return true;
    }
    return false;
}

/* Shortens "task.N" to "N". */
static const char *short_name(const char *key)
{
    return strncmp(key, "task.", 5) == 0 ? key + 5 : key;
}

size_t report_axes(report_axis axis[REPORT_AXES], const report_group *g, rung_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < g->shown.key_count && count < REPORT_AXES - RUNG_COUNT(columns); i++) {
        const report_key *key = &g->key[g->varying[i]];
        if (!key->numeric || !(key->kept || key->tied)) continue;
        axis[count] = (report_axis){.key = g->varying[i], .name = short_name(key->name), .slug = short_name(key->name)};
        if (key->tied)
            find_behind(&axis[count], g, err);
        else
            axis[count].behind = UINT64_C(1) << i;
        count++;
    }
    for (size_t i = 0; i < RUNG_COUNT(columns); i++) {
        const column *c = &columns[i];
        axis[count] =
            (report_axis){.key = SIZE_MAX, .column = c->at, .name = c->name, .slug = c->slug, .layers = c->layers};
        if (c->at == offsetof(rung_run_row, layers) && count && axis[count - 1].layers)
            continue; /* its parts are more informative */
        if (!varies(&axis[count], g) || !is_new(&axis[count], g, err) || repeats(axis, count, g)) continue;
        find_behind(&axis[count], g, err);
        count++;
    }
    return count;
}

/* A name begins an item, or follows "(", "*" or "|". Parameters follow ":", and heads follow "@". */
void report_family(char *out, size_t size, const char *arch)
{
    const char *last = "";
    size_t len = 0, last_len = 0;
    bool name = true;
    out[0] = '\0';
    for (const char *at = arch; *at;) {
        size_t word = 0;
        while (isalnum((unsigned char)at[word]) || at[word] == '_' || at[word] == '-') word++;
        if (word == 0) {
            name = strchr(",(*|", *at) != NULL || (name && *at != ':' && *at != '@');
            at++;
            continue;
        }
        bool again = word == last_len && strncmp(at, last, word) == 0;
        if (name && !isdigit((unsigned char)*at) && !again && len + word + 2 < size) {
            len += (size_t)snprintf(out + len, size - len, "%s%.*s", len ? "+" : "", (int)word, at);
            last = at, last_len = word;
        }
        at += word;
    }
}

static bool lists(const char *names, const char *one)
{
    size_t len = strlen(one);
    for (const char *at = names; at && *at; at = strchr(at, '+'), at = at ? at + 1 : NULL)
        if (strncmp(at, one, len) == 0 && (at[len] == '+' || at[len] == '\0')) return true;
    return false;
}

static bool attends_to_all(const char *name)
{
    const rung_mech *mech = rung_mech_get(name);
    return mech && mech->class_of == RUNG_CLASS_SCAN;
}

const char *report_recurrent(char *out, size_t size, const char *arch)
{
    char all[128];
    size_t len = 0;
    report_family(all, sizeof all, arch);
    out[0] = '\0';
    for (char *name = strtok(all, "+"); name; name = strtok(NULL, "+"))
        if (!attends_to_all(name) && !lists(out, name) && len + strlen(name) + 2 < size)
            len += (size_t)snprintf(out + len, size - len, "%s%s", len ? "+" : "", name);
    return out;
}
