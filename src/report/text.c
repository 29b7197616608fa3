/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Escaping of text. What a store contains may come from anybody: it becomes text in HTML, SVG and CSV, never markup.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "model.h"

/* Length of the UTF-8 character at `text`; 0 if it is invalid: overlong forms, surrogates and U+FFFE and above. */
static size_t character(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : text[0] >> 3 == 30 ? 4 : 0;
    if (len < 2) return len;
    uint32_t code = text[0] & (0x7f >> len);
    for (size_t i = 1; i < len; i++) {
        if ((text[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    bool surrogate = code >= 0xD800 && code < 0xE000;
    return code < least[len] || code > 0x10FFFF || surrogate || (code & 0xFFFE) == 0xFFFE ? 0 : len;
}

void rung_text_escape(rung_buf *out, const char *text)
{
    size_t left = strlen(text);
    for (const char *at = text; left;) {
        size_t len = *at == '\n' || *at == '\t' ? 1 : rung_text_visible(at, left);
        if (*at == '<')
            rung_buf_puts(out, "&lt;");
        else if (*at == '>')
            rung_buf_puts(out, "&gt;");
        else if (*at == '&')
            rung_buf_puts(out, "&amp;");
        else if (*at == '"')
            rung_buf_puts(out, "&quot;");
        else if (*at == '\'')
            rung_buf_puts(out, "&#39;");
        else if (len == 0) /* XML allows no control characters, and a name must not change the direction of the text */
            rung_buf_putc(out, '?');
        else
            rung_buf_add(out, at, len);
        if (!len) len = character((const unsigned char *)at);
        if (!len) len = 1;
        at += len, left -= len;
    }
}

void rung_svg_text(rung_buf *out, double x, double y, const char *class, const char *anchor, const char *text)
{
    rung_buf_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y, anchor);
    rung_text_escape(out, text);
    rung_buf_puts(out, "</text>\n");
}

void report_cut(rung_buf *out, const char *text, size_t most)
{
    size_t count = 0, len = 0, last = 0;
    for (; text[len]; count++) {
        size_t one = character((const unsigned char *)text + len);
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
