/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Names from files on their way into messages. A tensor may be called anything that UTF-8 can spell, escape
 * sequences and ten thousand letters included; a message stays one readable line all the same.
 */
#include "io_internal.h"

#include <jansson.h>

bool io_utf8_valid(const char *text)
{
    json_t *string = json_string(text); /* jansson checks; one opinion on UTF-8 is enough */
    json_decref(string);
    return string != NULL;
}

static bool continues_utf8(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Writes one character of `text` at *at; C0, DEL and C1 controls (C2 80..9f) would steer a terminal. */
static size_t copy_visible(char *out, const char *text, bool utf8)
{
    unsigned char c = (unsigned char)text[0];
    bool c1 = c == 0xc2 && (unsigned char)text[1] < 0xa0;
    if (c < 0x20 || c == 0x7f || c1 || (c >= 0x80 && !utf8)) c = '?';
    *out = (char)c;
    if (c1) {
        out[1] = '?';
        return 2;
    }
    return 1;
}

static size_t copy_range(char *out, const char *from, const char *to, bool utf8)
{
    size_t len = 0;
    while (from < to) {
        size_t step = copy_visible(out + len, from, utf8);
        from += step;
        len += step;
    }
    return len;
}

const char *io_label_of(io_label *label, const char *name)
{
    /* 60 + 3 + 97 + NUL fits with room for the two bytes of a C1 control; the end of a path says more than
     * its start. */
    enum { HEAD = 60, TAIL = 97 };
    size_t len = strlen(name);
    bool utf8 = io_utf8_valid(name);
    size_t used;
    if (len <= HEAD + TAIL) {
        used = copy_range(label->text, name, name + len, utf8);
    } else {
        const char *head_end = name + HEAD, *tail = name + len - TAIL;
        while (utf8 && head_end > name && continues_utf8(*head_end)) head_end--;
        while (utf8 && continues_utf8(*tail)) tail++;
        used = copy_range(label->text, name, head_end, utf8);
        memcpy(label->text + used, "...", 3);
        used += 3;
        used += copy_range(label->text + used, tail, name + len, utf8);
    }
    label->text[used] = '\0';
    return label->text;
}
