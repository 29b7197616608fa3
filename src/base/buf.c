/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * buf: text that grows. After memory has run out, every further append does nothing, and rung_buf_ok reports it.
 */
#include "rung/base.h"

#include "plain_locale.h"

#include "utf8.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP ((size_t)64)

void rung_buf_init(rung_buf *buf)
{
    *buf = (rung_buf){0};
}

void rung_buf_clear(rung_buf *buf)
{
    free(buf->text);
    rung_buf_init(buf);
}

void rung_buf_reset(rung_buf *buf)
{
    buf->len = 0;
    if (buf->text) buf->text[0] = '\0';
}

/* Makes room for `extra` more bytes and a NUL. The capacity doubles, so n appends take O(n) time in total. */
static bool reserve(rung_buf *buf, size_t extra)
{
    assert(buf->cap == 0 ? buf->text == NULL && buf->len == 0 : buf->text && buf->len < buf->cap);
    size_t need;
    if (buf->failed) return false;
    if (!rung_size_add(&need, buf->len, extra) || !rung_size_add(&need, need, 1)) goto out_of_memory;
    if (need <= buf->cap) return true;
    size_t cap = buf->cap ? buf->cap : FIRST_CAP;
    while (cap < need)
        if (!rung_size_mul(&cap, cap, 2)) cap = need;
    char *text = realloc(buf->text, cap);
    if (!text) goto out_of_memory;
    buf->text = text;
    buf->cap = cap;
    return true;
out_of_memory:
    buf->failed = true;
    return false;
}

void rung_buf_add(rung_buf *buf, const void *bytes, size_t len)
{
    if (!reserve(buf, len)) return;
    if (len > 0) memcpy(buf->text + buf->len, bytes, len);
    buf->len += len;
    buf->text[buf->len] = '\0';
}

void rung_buf_puts(rung_buf *buf, const char *text)
{
    rung_buf_add(buf, text, strlen(text));
}

void rung_buf_putc(rung_buf *buf, char c)
{
    rung_buf_add(buf, &c, 1);
}

void rung_buf_printf(rung_buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0) {
        buf->failed = true;
    } else if (reserve(buf, (size_t)len)) {
        vsnprintf(buf->text + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

/* Returns the letter after the backslash of a short escape of RFC 8259, or 0 if the character has none. */
static char short_escape(char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *at = c ? strchr(plain, c) : NULL;
    return at ? letter[at - plain] : 0;
}

/* Bytes that are not UTF-8 become U+FFFD, so the result is valid JSON for every input. */
void rung_buf_json_string(rung_buf *buf, const char *text)
{
    size_t len = strlen(text);
    rung_buf_putc(buf, '"');
    for (size_t i = 0; i < len;) {
        size_t step = rung_utf8_sequence(text + i, len - i);
        if (step == 0) {
            rung_buf_puts(buf, "\\ufffd");
            step = 1;
        } else if (short_escape(text[i])) {
            rung_buf_putc(buf, '\\');
            rung_buf_putc(buf, short_escape(text[i]));
        } else if (step == 1 && (unsigned char)text[i] < 0x20) {
            rung_buf_printf(buf, "\\u%04x", (unsigned)text[i]);
        } else {
            rung_buf_add(buf, text + i, step);
        }
        i += step;
    }
    rung_buf_putc(buf, '"');
}

void rung_real_text(char text[RUNG_REAL_TEXT], double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        rung_plain_format(text, RUNG_REAL_TEXT, digits, value);
        if (rung_plain_strtod(text, NULL) == value) break;
    }
}

void rung_buf_real(rung_buf *buf, double value)
{
    char text[RUNG_REAL_TEXT];
    rung_real_text(text, value);
    rung_buf_puts(buf, text);
}

void rung_buf_reals(rung_buf *buf, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rung_buf_putc(buf, ' ');
        rung_buf_real(buf, values[i]);
    }
}

const char *rung_read_reals(double *values, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        char *end = NULL;
        if (text[0] != ' ' || isspace((unsigned char)text[1])) return NULL;
        values[i] = rung_plain_strtod(text + 1, &end);
        if (end == text + 1) return NULL;
        text = end;
    }
    return text;
}

rung_status rung_buf_ok(const rung_buf *buf, rung_error *err)
{
    if (!buf->failed) return RUNG_OK;
    return rung_fail(err, RUNG_SYSTEM, "out of memory for text after %zu bytes", buf->len);
}
