/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The only place that knows how a key can be spelled. If a server echoes the key, in a reply, a message or the address
 * of a redirect, it must not get into a store or onto a screen. The spellings are: as it is; in the escapes of JSON, C,
 * HTML and URLs; in upper and lower case; and in base 16 or 64. Other encodings of a server are not recognised.
 *
 * In JSON the names of the fields that we read are kept, so that a reply can be parsed even if the key is a common
 * word.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client.h"

#define SHORTEST_CODE 8 /* letters of base 64, or digits of a number; shorter ones occur by chance */

static const char mark[] = "[key]";

/* ---- one character in all its spellings -------------------------------------------------------------------------- */

static bool same_letter(unsigned long code, char wanted)
{
    return code < 128 && tolower((int)code) == tolower((unsigned char)wanted);
}

/* Matches `least` to `most` digits of base 10 or 16 after `skip` characters, then `end` (0: nothing). */
static size_t match_code(const char *at, size_t len, size_t skip, int base, size_t least, size_t most, char end,
                         char wanted)
{
    unsigned long code = 0;
    size_t i = skip, digits = 0;
    for (; i < len && digits < most; i++, digits++) {
        int c = tolower((unsigned char)at[i]);
        int digit = isdigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
        if (digit >= base) break;
        code = code * (unsigned long)base + (unsigned long)digit;
    }
    if (digits < least || !same_letter(code, wanted)) return 0;
    if (!end) return i;
    return i < len && at[i] == end ? i + 1 : 0;
}

static size_t match_entity(const char *at, size_t len, char wanted)
{
    static const struct {
        const char *name;
        char means;
    } names[] = {{"&amp;", '&'},    {"&lt;", '<'},     {"&gt;", '>'},    {"&quot;", '"'},
                 {"&apos;", '\''},  {"&sol;", '/'},    {"&plus;", '+'},  {"&equals;", '='},
                 {"&period;", '.'}, {"&lowbar;", '_'}, {"&hyphen;", '-'}};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        size_t size = strlen(names[i].name);
        if (names[i].means == wanted && len >= size && strncasecmp(at, names[i].name, size) == 0) return size;
    }
    if (len < 4 || at[1] != '#') return 0;
    bool hex = tolower((unsigned char)at[2]) == 'x';
    return match_code(at, len, hex ? 3 : 2, hex ? 16 : 10, 1, 7, ';', wanted);
}

/* Number of bytes at `at` that spell the character; 0 if they do not. */
static size_t match_character(const char *at, size_t len, char wanted)
{
    size_t size = 0;
    if (len == 0) return 0;
    if (*at == '\\' && len > 1) {
        size_t slashes = 1; /* nested strings: each level doubles the backslashes */
        while (slashes < len && slashes < 8 && at[slashes] == '\\') slashes++;
        char next = slashes < len ? at[slashes] : '\0';
        if (next == 'u') size = match_code(at, len, slashes + 1, 16, 4, 4, '\0', wanted);
        if (!size && next == 'u' && slashes + 1 < len && at[slashes + 1] == '{')
            size = match_code(at, len, slashes + 2, 16, 1, 6, '}', wanted);
        if (!size && next == 'x') size = match_code(at, len, slashes + 1, 16, 2, 2, '\0', wanted);
        if (!size && wanted == '\\') size = slashes;
        if (!size && same_letter((unsigned char)next, wanted) && !isalnum((unsigned char)wanted)) size = slashes + 1;
    } else if (*at == '%') {
        size_t skip = 1;
        while (skip + 1 < len && skip < 9 && at[skip] == '2' && at[skip + 1] == '5')
            skip += 2; /* nested URL escapes: %2541 */
        size = match_code(at, len, skip, 16, 2, 2, '\0', wanted);
    } else if (*at == '&') {
        size = match_entity(at, len, wanted);
    }
    return size ? size : same_letter((unsigned char)*at, wanted) ? 1 : 0;
}

static size_t match_spelled(const char *at, size_t len, const char *key)
{
    size_t used = 0;
    for (; *key; key++) {
        size_t size = match_character(at + used, len - used, *key);
        if (!size) return 0;
        used += size;
    }
    return used;
}

/* ---- the key as a whole in other digits -------------------------------------------------------------------------- */

static size_t match_base16(const char *at, size_t len, const char *key)
{
    size_t used = 0;
    for (; *key; key++, used += 2)
        if (len - used < 2 || !match_code(at + used, 2, 0, 16, 2, 2, '\0', *key)) return 0;
    return used >= SHORTEST_CODE ? used : 0;
}

/* `shift` bytes stand before the key. Only the letters that depend on the key alone are compared. */
static size_t match_base64(const char *at, size_t len, const char *key, size_t shift)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t bits = 8 * strlen(key), first = (6 - 8 * shift % 6) % 6, count = bits > first ? (bits - first) / 6 : 0;
    if (count < SHORTEST_CODE || count > len) return 0;
    for (size_t i = 0; i < count; i++) {
        size_t bit = first + 6 * i;
        unsigned pair = (unsigned)(unsigned char)key[bit / 8] << 8 | (unsigned char)key[bit / 8 + 1];
        char letter = plain[pair >> (10 - bit % 8) & 63];
        char safe = letter == '+' ? '-' : letter == '/' ? '_' : letter;
        if (at[i] != letter && at[i] != safe) return 0;
    }
    return count;
}

static size_t match_key(const char *at, size_t len, const char *key)
{
    size_t size = match_spelled(at, len, key);
    if (!size) size = match_base16(at, len, key);
    for (size_t shift = 0; !size && shift < 3; shift++) size = match_base64(at, len, key, shift);
    return size;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static void redact_text(rung_buf *out, const char *text, size_t len, const char *key, const char *instead)
{
    for (size_t i = 0; i < len;) {
        size_t size = match_key(text + i, len - i, key);
        if (size)
            rung_buf_puts(out, instead);
        else
            rung_buf_putc(out, text[i]);
        i += size ? size : 1;
    }
}

/* Bytes up to and including the closing quote of the string that begins at text[0]. */
static size_t string_length(const char *text, size_t len)
{
    size_t i = 1;
    while (i < len && text[i] != '"') i += text[i] == '\\' && i + 1 < len ? 2 : 1;
    return i < len ? i + 1 : len;
}

/* The fields that we read. */
static bool is_our_field(const char *name, size_t len)
{
    static const char *const fields[] = {"choices",
                                         "text",
                                         "message",
                                         "content",
                                         "reasoning_content",
                                         "reasoning",
                                         "finish_reason",
                                         "model",
                                         "usage",
                                         "prompt_tokens",
                                         "completion_tokens",
                                         "logprobs",
                                         "top_logprobs",
                                         "token_logprobs",
                                         "tokens",
                                         "token",
                                         "logprob",
                                         "system_fingerprint",
                                         "truncated",
                                         "count",
                                         "max_model_len",
                                         "data",
                                         "id",
                                         "meta",
                                         "n_ctx",
                                         "error",
                                         "detail",
                                         "msg",
                                         "object",
                                         "index",
                                         "role",
                                         "created",
                                         "total_tokens",
                                         "bytes",
                                         "text_offset"};
    for (size_t i = 0; i < RUNG_COUNT(fields); i++)
        if (strlen(fields[i]) == len && memcmp(fields[i], name, len) == 0) return true;
    return false;
}

static bool is_name(const char *after, size_t len)
{
    size_t i = 0;
    while (i < len && isspace((unsigned char)after[i])) i++;
    return i < len && after[i] == ':';
}

/* Redacts strings as texts. Between strings only a key that is a long number can occur. */
static void redact_json(rung_buf *out, const char *text, size_t len, const char *key)
{
    bool number = strlen(key) >= SHORTEST_CODE && strspn(key, "0123456789.eE+-") == strlen(key);
    for (size_t i = 0, size; i < len; i += size) {
        const char *quote = memchr(text + i, '"', len - i);
        size = quote ? (size_t)(quote - text) - i : len - i;
        if (size) {
            if (number)
                redact_text(out, text + i, size, key, "0");
            else
                rung_buf_add(out, text + i, size);
            continue;
        }
        size = string_length(text + i, len - i);
        bool ours = size >= 2 && is_name(text + i + size, len - i - size) && is_our_field(text + i + 1, size - 2);
        if (ours)
            rung_buf_add(out, text + i, size);
        else
            redact_text(out, text + i, size, key, mark);
    }
}

void probe_redact(rung_buf *out, const char *text, size_t len, const char *key)
{
    size_t start = 0;
    while (start < len && isspace((unsigned char)text[start])) start++;
    if (!key || !*key)
        rung_buf_add(out, text, len);
    else if (start < len && (text[start] == '{' || text[start] == '['))
        redact_json(out, text, len, key);
    else
        redact_text(out, text, len, key, mark);
}

/* Redacts a prefix of the key at the end of the text, because a message may have been cut there. */
static void redact_cut(char *text, const char *key)
{
    size_t len = strlen(text), most = strlen(key) - 1;
    size_t dots = len >= 3 && strcmp(text + len - 3, "...") == 0 ? 3 : 0;
    for (size_t n = most < len - dots ? most : len - dots; n >= 4; n--)
        if (strncasecmp(text + len - dots - n, key, n) == 0) {
            memset(text + len - dots - n, '*', n);
            return;
        }
}

void probe_redact_line(rung_buf *out, const char *text, const char *key)
{
    size_t start = out->len;
    if (!key || !*key) {
        rung_buf_puts(out, text);
        return;
    }
    redact_text(out, text, strlen(text), key, mark);
    if (!out->failed && out->text) redact_cut(out->text + start, key);
}
