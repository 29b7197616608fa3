/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Names from files, made safe for messages. A tensor name may be any UTF-8, including escape sequences and ten thousand
 * letters. The message is still one readable line.
 */
#include "io_internal.h"

#include <jansson.h>

bool io_utf8_valid(const char *text)
{
    json_t *string = json_string(text); /* jansson decides what is UTF-8, as in the JSON reader */
    json_decref(string);
    return string != NULL;
}

static bool continues_utf8(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Characters that would control a terminal or reverse the line become question marks, one for each byte. */
static size_t copy_range(char *out, const char *from, const char *to)
{
    size_t len = (size_t)(to - from);
    for (size_t i = 0, step; i < len; i += step) {
        step = rung_text_visible(from + i, len - i);
        if (step)
            memcpy(out + i, from + i, step);
        else
            out[i] = '?', step = 1;
    }
    return len;
}

const char *io_label_of(io_label *label, const char *name)
{
    /* 60 + 3 + 97 + NUL fits. The end of a path tells more than its start. */
    enum { HEAD = 60, TAIL = 97 };
    size_t len = strlen(name);
    bool utf8 = io_utf8_valid(name);
    size_t used;
    if (len <= HEAD + TAIL) {
        used = copy_range(label->text, name, name + len);
    } else {
        const char *head_end = name + HEAD, *tail = name + len - TAIL;
        while (utf8 && head_end > name && continues_utf8(*head_end)) head_end--;
        while (utf8 && continues_utf8(*tail)) tail++;
        used = copy_range(label->text, name, head_end);
        memcpy(label->text + used, "...", 3);
        used += 3;
        used += copy_range(label->text + used, tail, name + len);
    }
    label->text[used] = '\0';
    return label->text;
}
