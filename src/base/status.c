/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * status: messages that always fit into rung_error. A message that is too long ends in "..." and never in half a UTF-8
 * sequence. Foreign files may contain names that would control a terminal; such characters are shown as '?'
 * (outside.c).
 */
#include "rung/base.h"

#include "utf8.h"

#include <string.h>

#define TEXT_SIZE sizeof(((rung_error *)0)->text)

static const char ellipsis[] = "...";

/* The text in text[0..TEXT_SIZE-1) was truncated. Shortens it so that the ellipsis fits and follows a complete UTF-8
 * sequence. */
static void end_with_ellipsis(char *text)
{
    size_t limit = TEXT_SIZE - sizeof ellipsis, end = limit;
    for (size_t back = 1; back <= 3; back++) {
        unsigned char byte = (unsigned char)text[limit - back];
        if ((byte & 0xc0) == 0x80) continue; /* a continuation byte: look for its lead byte */
        if (byte >= 0xc0 && rung_utf8_sequence(text + limit - back, back) == 0) end = limit - back;
        break;
    }
    memcpy(text + end, ellipsis, sizeof ellipsis);
}

/* Formats into a separate buffer first, because arguments may point into err->text. */
static void set_text(rung_error *err, const char *format, va_list args) RUNG_PRINTF(2, 0);
static void set_text(rung_error *err, const char *format, va_list args)
{
    char text[TEXT_SIZE];
    int len = vsnprintf(text, sizeof text, format, args);
    if (len < 0) {
        snprintf(text, sizeof text, "a message that cannot be formatted");
    } else if ((size_t)len >= sizeof text) {
        end_with_ellipsis(text);
    }
    rung_text_hide(text);
    memcpy(err->text, text, sizeof text);
}

rung_status rung_fail(rung_error *err, rung_status status, const char *format, ...)
{
    if (!err) return status;
    va_list args;
    va_start(args, format);
    set_text(err, format, args);
    va_end(args);
    return status;
}

rung_status rung_fail_at(rung_error *err, rung_status status, const char *format, ...)
{
    if (!err) return status;
    rung_error place;
    va_list args;
    va_start(args, format);
    set_text(&place, format, args);
    va_end(args);
    return rung_fail(err, status, "%s: %s", place.text, err->text);
}

rung_status rung_fail_unknown(rung_error *err, const char *what, const char *word, const char *const *candidates,
                              size_t count)
{
    rung_buf hint;
    rung_buf_init(&hint);
    const char *nearest = rung_nearest_name(word, candidates, count);
    if (nearest) rung_buf_printf(&hint, "; did you mean '%s'?", nearest);
    for (size_t i = 0; i < count; i++) {
        rung_buf_puts(&hint, i > 0 ? ", " : nearest ? " known: " : "; known: ");
        rung_buf_puts(&hint, candidates[i]);
    }
    rung_status status = rung_fail(err, RUNG_USAGE, "unknown %s '%s'%s", what, word, hint.text ? hint.text : "");
    rung_buf_clear(&hint);
    return status;
}
