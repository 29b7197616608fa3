/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Escaping of text. What a store contains may come from anybody: it becomes text in HTML, SVG and CSV, never markup.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "report_internal.h"

void report_cut(rung_buf *out, const char *text, size_t most)
{
    size_t count = 0, len = 0, last = 0;
    for (; text[len]; count++) {
        size_t one = rung_text_character(text + len);
        if (count + 3 == most) last = len;
        if (count == most) break;
        len += one ? one : 1;
    }
    if (!text[len]) {
        rung_buf_puts(out, text);
        return;
    }
    rung_buf_add(out, text, last);
    rung_buf_puts(out, "...");
}

void report_csv_real(rung_buf *out, double value)
{
    if (isfinite(value)) rung_buf_real(out, value);
}

const char *report_keep(rung_report *report, const char *text, rung_error *err)
{
    if (!text[0]) return "";
    return rung_arena_strdup(&report->arena, text, err);
}

const char *report_say(rung_report *report, rung_error *err, const char *format, ...)
{
    va_list first, second;
    va_start(first, format);
    va_copy(second, first);
    int len = vsnprintf(NULL, 0, format, first);
    char *text = len < 0 ? NULL : rung_arena_alloc(&report->arena, (size_t)len + 1, 1, err);
    if (text) vsnprintf(text, (size_t)len + 1, format, second);
    va_end(second);
    va_end(first);
    return text;
}

/* Prints whole numbers as they are, small and large ones in the usual short form. */
void report_number(char out[32], double value)
{
    if (value == floor(value) && fabs(value) < 1e15)
        snprintf(out, 32, "%.0f", value);
    else
        snprintf(out, 32, "%.6g", value);
}
