/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Infinity, -Infinity and NaN in JSON text. Python's json module writes them bare. jansson does not accept them, and no
 * finite number can replace them. So each becomes a string that starts with the noncharacter U+FFFF, and its length
 * tells which one it was. Text that already contains U+FFFF, raw or escaped, is not changed; the parser then refuses it
 * if it also contains such a word. So a mark is never mistaken for text.
 */
#include "io_internal.h"

#include <math.h>
#include <strings.h>

#define MARK "\xef\xbf\xbf" /* U+FFFF: three bytes, one character, one column */

/* "<mark><filler>" with its quotes has as many characters as the word that it replaces. */
static const struct word {
    const char *text, *marked;
    double value;
} WORDS[] = {
    {"-Infinity", MARK "------", -INFINITY},
    {"Infinity", MARK "-----", INFINITY},
    {"NaN", MARK, NAN},
};

bool io_json_marked_word(double *out, const char *string)
{
    for (size_t i = 0; i < RUNG_COUNT(WORDS); i++) {
        if (strcmp(string, WORDS[i].marked) != 0) continue;
        *out = WORDS[i].value;
        return true;
    }
    return false;
}

static bool has_mark(const char *text, size_t len)
{
    static const char escaped[] = "\\uffff";
    for (size_t i = 0; i < len; i++) {
        if (len - i >= 3 && memcmp(text + i, MARK, 3) == 0) return true;
        if (len - i >= 6 && strncasecmp(text + i, escaped, 6) == 0) return true;
    }
    return false;
}

/* Returns the word at text[at], or NULL. The word need not stand alone: a string next to a letter, a digit or a sign is
 * as wrong as the word was, so 1NaN and -NaN stay errors. */
static const struct word *word_at(const char *text, size_t len, size_t at)
{
    for (size_t i = 0; i < RUNG_COUNT(WORDS); i++) {
        size_t n = strlen(WORDS[i].text);
        if (len - at >= n && memcmp(text + at, WORDS[i].text, n) == 0) return &WORDS[i];
    }
    return NULL;
}

bool io_json_mark_words(rung_buf *out, const char *text, size_t len)
{
    if (has_mark(text, len)) return false;
    bool in_string = false;
    size_t copied = 0;
    for (size_t i = 0; i < len; i++) {
        if (in_string && text[i] == '\\') {
            i++; /* an escaped character does not end the string */
            continue;
        }
        if (text[i] == '"') in_string = !in_string;
        const struct word *word = in_string ? NULL : word_at(text, len, i);
        if (!word) continue;
        rung_buf_add(out, text + copied, i - copied);
        rung_buf_printf(out, "\"%s\"", word->marked);
        i += strlen(word->text) - 1;
        copied = i + 1;
    }
    rung_buf_add(out, text + copied, len - copied);
    return true;
}
