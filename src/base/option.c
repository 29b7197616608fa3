/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * option: values that are read against a table of options. Defaults go through the same conversion as the user's text,
 * so a test finds every table whose default is outside its range.
 */
#include "rung/base.h"

#include "plain_locale.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const rung_option *rung_option_find(const rung_option *table, const char *name)
{
    for (; table && table->name; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

/* ---- one value --------------------------------------------------------------------------------------------------- */

static rung_status bad_number(const rung_option *row, const char *text, const char *prefix, rung_error *err)
{
    if (row->high == INT64_MAX)
        return rung_fail(err, RUNG_USAGE, "%s%s: '%s' is not a whole number of at least %lld", prefix, row->name, text,
                         (long long)row->low);
    return rung_fail(err, RUNG_USAGE, "%s%s: '%s' is not a whole number from %lld to %lld", prefix, row->name, text,
                     (long long)row->low, (long long)row->high);
}

static rung_status set_int(int64_t *out, const rung_option *row, const char *text, const char *prefix, rung_error *err)
{
    return rung_parse_int(out, text, row->low, row->high) ? RUNG_OK : bad_number(row, text, prefix, err);
}

static rung_status set_sizes(rung_sizes *out, const rung_option *row, const char *text, const char *prefix,
                             rung_error *err)
{
    out->len = 0;
    for (const char *rest = text;; rest++) {
        const size_t len = strcspn(rest, ",");
        char item[32];
        if (out->len == RUNG_LIST_MAX)
            return rung_fail(err, RUNG_USAGE, "%s%s: more than %d numbers in '%s'", prefix, row->name, RUNG_LIST_MAX,
                             text);
        snprintf(item, sizeof item, "%.*s", (int)(len < 31 ? len : 31), rest);
        if (len >= sizeof item || !rung_parse_int(&out->at[out->len], item, row->low, row->high))
            return bad_number(row, item, prefix, err);
        out->len++;
        rest += len;
        if (*rest == '\0') return RUNG_OK;
    }
}

static size_t count_choices(const char *const *choices)
{
    size_t count = 0;
    while (choices[count]) count++;
    return count;
}

static rung_status set_choice(int64_t *out, const rung_option *row, const char *text, const char *prefix,
                              rung_error *err)
{
    const size_t count = count_choices(row->choices);
    for (size_t i = 0; i < count; i++)
        if (strcmp(row->choices[i], text) == 0) {
            *out = (int64_t)i;
            return RUNG_OK;
        }
    const char *near = rung_guess_name(text, row->choices, count);
    if (near)
        return rung_fail(err, RUNG_USAGE, "%s%s: unknown value '%s'; did you mean '%s'?", prefix, row->name, text,
                         near);
    rung_buf all;
    rung_buf_init(&all);
    for (size_t i = 0; i < count; i++) rung_buf_printf(&all, "%s%s", i ? ", " : "", row->choices[i]);
    rung_fail(err, RUNG_USAGE, "%s%s: unknown value '%s'; one of %s", prefix, row->name, text,
              all.text ? all.text : "");
    rung_buf_clear(&all);
    return RUNG_USAGE;
}

static rung_status set_real(double *out, const rung_option *row, const char *text, const char *prefix, rung_error *err)
{
    char *end;
    *out = rung_plain_strtod(text, &end);
    if (end != text && *end == 0 && isfinite(*out)) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "%s%s: '%s' is no number; give one such as 0.003", prefix, row->name, text);
}

rung_status rung_option_set(void *values, const rung_option *row, const char *text, const char *prefix, rung_error *err)
{
    assert(row->name && (text || row->kind == RUNG_OPTION_FLAG));
    void *field = (char *)values + row->at;
    switch (row->kind) {
    case RUNG_OPTION_FLAG:
        *(bool *)field = true;
        return RUNG_OK;
    case RUNG_OPTION_STRING:
        *(const char **)field = text;
        return RUNG_OK;
    case RUNG_OPTION_INT:
        return set_int(field, row, text, prefix, err);
    case RUNG_OPTION_SIZES:
        return set_sizes(field, row, text, prefix, err);
    case RUNG_OPTION_CHOICE:
        return set_choice(field, row, text, prefix, err);
    case RUNG_OPTION_REAL:
        return set_real(field, row, text, prefix, err);
    }
    assert(!"an option table has a row without a kind");
    return RUNG_USAGE;
}

rung_status rung_option_defaults(void *values, const rung_option *table, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (; !status && table && table->name; table++)
        if (table->fallback) status = rung_option_set(values, table, table->fallback, "", err);
    return status;
}

static size_t size_of(rung_option_kind kind)
{
    switch (kind) {
    case RUNG_OPTION_FLAG:
        return sizeof(bool);
    case RUNG_OPTION_STRING:
        return sizeof(const char *);
    case RUNG_OPTION_SIZES:
        return sizeof(rung_sizes);
    case RUNG_OPTION_REAL:
        return sizeof(double);
    case RUNG_OPTION_INT:
    case RUNG_OPTION_CHOICE:
        break;
    }
    return sizeof(int64_t);
}

void rung_option_copy(void *to, const void *from, const rung_option *row)
{
    memcpy((char *)to + row->at, (const char *)from + row->at, size_of(row->kind));
}
