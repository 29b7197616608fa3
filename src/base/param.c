/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * param: one table of (name, kind, fallback, range, help) gives parsing, range errors and the canonical text.
 * What rung_param_print writes, rung_param_set reads back: a fallback outside the range, which a table uses
 * to say "not given", is therefore accepted too (for a list it stands for the empty list).
 */
#include "rung/base.h"

#include "plain_locale.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64 /* candidates that a message can list */

size_t rung_param_count(const rung_param *table)
{
    size_t count = 0;
    while (table[count].name) count++;
    return count;
}

size_t rung_param_find(const rung_param *table, const char *name)
{
    for (size_t i = 0; table[i].name; i++)
        if (strcmp(table[i].name, name) == 0) return i;
    return SIZE_MAX;
}

static bool in_range(const rung_param *param, int64_t number)
{
    return number >= param->low && number <= param->high;
}

void rung_param_defaults(rung_value *values, const rung_param *table)
{
    for (size_t i = 0; table[i].name; i++) {
        values[i] = (rung_value){.number = table[i].fallback, .real = (double)table[i].fallback};
        if (table[i].kind != RUNG_PARAM_LIST || !in_range(&table[i], table[i].fallback)) continue;
        values[i].list[0] = table[i].fallback;
        values[i].list_len = 1;
    }
}

/* ---- one value: false when the text is wrong --------------------------------------------------------------------- */

static bool read_int(rung_value *value, const rung_param *param, const char *text)
{
    if (rung_parse_int(&value->number, text, param->low, param->high)) return true;
    return rung_parse_int(&value->number, text, param->fallback, param->fallback);
}

static bool read_list(rung_value *value, const rung_param *param, const char *text)
{
    rung_value list = {.number = param->fallback};
    if (!*text && !in_range(param, param->fallback)) return *value = list, true;
    for (;;) {
        char item[24]; /* the longest int64 has 20 characters */
        size_t len = strcspn(text, ",");
        if (len >= sizeof item || list.list_len == RUNG_LIST_MAX) return false;
        memcpy(item, text, len);
        item[len] = '\0';
        if (!rung_parse_int(&list.list[list.list_len], item, param->low, param->high)) return false;
        list.list_len++;
        if (!text[len]) break;
        text += len + 1;
    }
    list.number = list.list[0];
    *value = list;
    return true;
}

static size_t choice_count(const rung_param *param)
{
    size_t count = 0;
    while (param->choices[count]) count++;
    return count;
}

static bool read_word(rung_value *value, const rung_param *param, const char *text)
{
    for (size_t i = 0; param->choices[i]; i++)
        if (strcmp(param->choices[i], text) == 0) return value->number = (int64_t)i, true;
    return false;
}

static bool read_real(rung_value *value, const rung_param *param, const char *text)
{
    char *end;
    double real = rung_plain_strtod(text, &end);
    if (end == text || *end || isspace((unsigned char)*text)) return false;
    if (!(real >= (double)param->low && real <= (double)param->high)) return false; /* a NaN is in no range */
    value->real = real;
    return true;
}

static bool read_value(rung_value *value, const rung_param *param, const char *text)
{
    switch (param->kind) {
    case RUNG_PARAM_INT:
    case RUNG_PARAM_SWITCH:
        return read_int(value, param, text);
    case RUNG_PARAM_LIST:
        return read_list(value, param, text);
    case RUNG_PARAM_CHOICE:
        return read_word(value, param, text);
    case RUNG_PARAM_REAL:
        return read_real(value, param, text);
    }
    return false;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static rung_status fail_value(const rung_param *param, const char *text, const char *owner, rung_error *err)
{
    switch (param->kind) {
    case RUNG_PARAM_INT:
    case RUNG_PARAM_SWITCH:
        return rung_fail(err, RUNG_USAGE, "%s: %s=%s is not a whole number from %" PRId64 " to %" PRId64, owner,
                         param->name, text, param->low, param->high);
    case RUNG_PARAM_LIST:
        return rung_fail(err, RUNG_USAGE,
                         "%s: %s=%s is not a list of 1 to %d whole numbers from %" PRId64 " to %" PRId64
                         ", as in %s=%" PRId64 ",%" PRId64,
                         owner, param->name, text, RUNG_LIST_MAX, param->low, param->high, param->name, param->low,
                         param->high);
    case RUNG_PARAM_REAL:
        return rung_fail(err, RUNG_USAGE, "%s: %s=%s is not a number from %" PRId64 " to %" PRId64, owner, param->name,
                         text, param->low, param->high);
    case RUNG_PARAM_CHOICE:
        break;
    }
    rung_fail_unknown(err, "value", text, param->choices, choice_count(param));
    return rung_fail_at(err, RUNG_USAGE, "%s: %s", owner, param->name);
}

static rung_status fail_key(const rung_param *table, const char *key, const char *owner, rung_error *err)
{
    const char *names[WORDS_MAX];
    size_t count = 0;
    for (; table[count].name && count < WORDS_MAX; count++) names[count] = table[count].name;
    rung_fail_unknown(err, "parameter", key, names, count);
    return rung_fail_at(err, RUNG_USAGE, "%s", owner);
}

rung_status rung_param_set(rung_value *values, const rung_param *table, const char *word, const char *owner,
                           rung_error *err)
{
    const char *equals = strchr(word, '=');
    char key[128];
    size_t len = equals ? (size_t)(equals - word) : 0;
    if (len == 0) return rung_fail(err, RUNG_USAGE, "%s: '%s' is not of the form key=value", owner, word);
    if (len >= sizeof key) return fail_key(table, word, owner, err);
    memcpy(key, word, len);
    key[len] = '\0';
    size_t at = rung_param_find(table, key);
    if (at == SIZE_MAX) return fail_key(table, key, owner, err);
    if (!read_value(&values[at], &table[at], equals + 1)) return fail_value(&table[at], equals + 1, owner, err);
    values[at].set = true;
    return RUNG_OK;
}

/* ---- canonical text ---------------------------------------------------------------------------------------------- */

/* The shortest decimal that reads back as the same double. */
static void print_real(rung_buf *out, double real)
{
    char text[32];
    for (int digits = 1; digits <= 17; digits++) {
        rung_plain_format(text, sizeof text, digits, real);
        if (rung_plain_strtod(text, NULL) == real) break;
    }
    rung_buf_puts(out, text);
}

static void print_value(rung_buf *out, const rung_value *value, const rung_param *param)
{
    switch (param->kind) {
    case RUNG_PARAM_INT:
    case RUNG_PARAM_SWITCH:
        rung_buf_printf(out, "%" PRId64, value->number);
        break;
    case RUNG_PARAM_LIST:
        for (size_t i = 0; i < value->list_len; i++)
            rung_buf_printf(out, "%s%" PRId64, i > 0 ? "," : "", value->list[i]);
        break;
    case RUNG_PARAM_CHOICE:
        assert(value->number >= 0 && (size_t)value->number < choice_count(param));
        rung_buf_puts(out, param->choices[value->number]);
        break;
    case RUNG_PARAM_REAL:
        print_real(out, value->real);
        break;
    }
}

void rung_param_print(rung_buf *out, const rung_value *values, const rung_param *table, const char *separator)
{
    const char *before = "";
    for (size_t i = 0; table[i].name; i++) {
        if (table[i].kind == RUNG_PARAM_SWITCH && values[i].number == table[i].fallback) continue;
        rung_buf_printf(out, "%s%s=", before, table[i].name);
        print_value(out, &values[i], &table[i]);
        before = separator;
    }
}
