/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The error message of a server as one printable line: the message of the usual JSON shapes, the visible text of an
 * HTML page, or the printable part of anything else.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "rung/io.h"
#include "rung/probe.h"

static const char *message_in(const rung_json *root)
{
    static const char *const keys[] = {"message", "detail", "error", "msg"};
    const rung_json *error = rung_json_get(root, "error");
    const rung_json *places[] = {rung_json_kind_of(error) == RUNG_JSON_OBJECT ? error : root, root,
                                 rung_json_at(rung_json_get(root, "detail"), 0)};
    for (size_t p = 0; p < RUNG_COUNT(places); p++)
        for (size_t k = 0; k < RUNG_COUNT(keys); k++) {
            const char *text = rung_json_string(rung_json_get(places[p], keys[k]));
            if (text && *text) return text;
        }
    return NULL;
}

/* Runs of white space and control characters become one space; what is not ASCII becomes a question mark. */
static void put_line(rung_buf *out, const char *text, size_t len, size_t most, bool html)
{
    size_t start = out->len;
    bool inside = false, space = false;
    for (size_t i = 0; i < len && out->len - start < most; i++) {
        unsigned char c = (unsigned char)text[i];
        if (html && (c == '<' || c == '>')) {
            inside = c == '<', space = true;
            continue;
        }
        if (inside) continue;
        if (c <= ' ' || c == 127) {
            space = true;
            continue;
        }
        if (space && out->len > start) rung_buf_putc(out, ' ');
        space = false;
        rung_buf_putc(out, c < 128 ? (char)c : '?');
    }
}

static bool is_html(const char *body, size_t len)
{
    size_t i = 0;
    while (i < len && isspace((unsigned char)body[i])) i++;
    return len - i >= 5 && (strncasecmp(body + i, "<html", 5) == 0 || strncasecmp(body + i, "<!doc", 5) == 0);
}

void rung_reply_complaint(rung_buf *out, const char *body, size_t len, size_t most)
{
    rung_json_doc *doc = NULL;
    size_t start = out->len;
    if (rung_json_parse_python(&doc, body, len, "the reply", NULL) == RUNG_OK) {
        const char *text = message_in(rung_json_root(doc));
        if (text) put_line(out, text, strlen(text), most, false);
        rung_json_free(doc);
    }
    if (out->len == start) put_line(out, body, len < 4096 ? len : 4096, most, is_html(body, len));
    if (out->len == start) rung_buf_puts(out, "(nothing)");
}
