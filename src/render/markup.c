/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Text of strangers in HTML and SVG: it becomes text, never markup.
 */
#include <string.h>

#include "rung/render.h"

const char *const rung_verdict_names[] = {"CAN", "CANNOT", "UNKNOWN", "SAMPLED", NULL};

size_t rung_text_character(const char *at)
{
    const unsigned char *text = (const unsigned char *)at;
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
        else if (len == 0) /* XML has no control characters, and a page is not turned around by a name */
            rung_buf_putc(out, '?');
        else
            rung_buf_add(out, at, len);
        if (!len) len = rung_text_character(at);
        if (!len) len = 1;
        at += len, left -= len;
    }
}

void rung_svg_text(rung_buf *out, double x, double y, const char *kind, const char *anchor, const char *text)
{
    rung_buf_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", kind, x, y, anchor);
    rung_text_escape(out, text);
    rung_buf_puts(out, "</text>\n");
}
