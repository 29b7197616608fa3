/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * plain_locale: calls a function in the "C" locale. Only the calling thread is affected, and only during the call.
 */
#include "plain_locale.h"

#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Created once and never freed. If two threads race, both create one. */
static locale_t plain(void)
{
    static _Atomic(locale_t) kept;
    locale_t locale = atomic_load(&kept);
    if (!locale) {
        locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        atomic_store(&kept, locale);
    }
    return locale;
}

double rung_plain_strtod(const char *text, char **end)
{
    locale_t mine = plain(), before = mine ? uselocale(mine) : (locale_t)0;
    double value = strtod(text, end);
    if (mine) uselocale(before);
    return value;
}

void rung_plain_format(char *text, unsigned long size, int digits, double value)
{
    locale_t mine = plain(), before = mine ? uselocale(mine) : (locale_t)0;
    snprintf(text, size, "%.*g", digits, value);
    if (mine) uselocale(before);
}
