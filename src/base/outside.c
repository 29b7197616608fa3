/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * outside: text that others wrote, on its way to a terminal, a message or a spreadsheet. Characters that control a
 * terminal (C0 and C1), reverse the direction of a line (bidirectional marks) or start a new line become question
 * marks.
 */
#include "rung/base.h"

#include "utf8.h"

#include <string.h>

static uint32_t code_point(const unsigned char *bytes, size_t len)
{
    static const unsigned char lead_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = bytes[0] & lead_mask[len];
    for (size_t i = 1; i < len; i++) code = code << 6 | (bytes[i] & 0x3f);
    return code;
}

static bool steers(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;      /* C0, DEL, C1 */
    if (code == 0x61c || code == 0x200e || code == 0x200f) return true; /* direction marks */
    if (code >= 0x2028 && code <= 0x202e) return true;  /* line and paragraph separators, embeddings, overrides */
    if (code >= 0x2066 && code <= 0x2069) return true;  /* isolates */
    return (code & 0xfffe) == 0xfffe || code == 0xfeff; /* noncharacters, and the byte order mark */
}

size_t rung_text_visible(const char *text, size_t len)
{
    size_t step = rung_utf8_sequence(text, len);
    return step && !steers(code_point((const unsigned char *)text, step)) ? step : 0;
}

bool rung_text_is_plain(const char *text, size_t most)
{
    size_t len = strnlen(text, most + 1);
    if (len > most) return false;
    for (size_t i = 0, step; i < len; i += step) {
        step = rung_text_visible(text + i, len - i);
        if (!step) return false;
    }
    return true;
}

/* Returns how many bytes one question mark replaces: a whole sequence, so that a mark of three bytes gives one '?'. */
static size_t hidden_length(const char *text, size_t len)
{
    size_t step = rung_utf8_sequence(text, len);
    return step ? step : 1;
}

void rung_buf_shown(rung_buf *out, const char *text)
{
    size_t len = strlen(text);
    while (len) {
        size_t step = rung_text_visible(text, len);
        if (step)
            rung_buf_add(out, text, step);
        else
            rung_buf_putc(out, '?');
        if (!step) step = hidden_length(text, len);
        text += step, len -= step;
    }
}

/* A line break stays if the next line is indented: such a line cannot be mistaken for a message of rung. */
static bool is_kept_space(const char *text)
{
    return *text == '\t' || (text[0] == '\n' && text[1] == ' ' && text[2] == ' ');
}

void rung_text_hide(char *text)
{
    size_t len = strlen(text);
    char *to = text;
    while (len) {
        size_t visible = is_kept_space(text) ? 1 : rung_text_visible(text, len);
        size_t step = visible ? visible : hidden_length(text, len);
        if (visible)
            memmove(to, text, visible);
        else
            *to = '?';
        to += visible ? visible : 1;
        text += step, len -= step;
    }
    *to = '\0';
}

/* ---- cells of CSV ------------------------------------------------------------------------------------------------ */

static const char *skip_digits(const char *at)
{
    while (*at >= '0' && *at <= '9') at++;
    return at;
}

/* True for -0.5, +1e-3, -inf: these begin like a formula, but are numbers. */
static bool is_signed_number(const char *text)
{
    const char *at = text + 1, *digits = skip_digits(at);
    if (strcmp(at, "inf") == 0 || strcmp(at, "nan") == 0) return true;
    if (*digits == '.') digits = skip_digits(digits + 1);
    if (digits == at) return false;
    if (*digits == 'e' || *digits == 'E') {
        digits++;
        if (*digits == '+' || *digits == '-') digits++;
        const char *end = skip_digits(digits);
        if (end == digits) return false;
        digits = end;
    }
    return *digits == '\0';
}

static bool is_formula(const char *text)
{
    if (*text == '=' || *text == '@' || *text == '\t' || *text == '\r') return true;
    return (*text == '+' || *text == '-') && !is_signed_number(text);
}

void rung_buf_csv(rung_buf *out, const char *text)
{
    bool formula = is_formula(text);
    bool quoted = text[strcspn(text, ",\"\r\n")] != '\0';
    if (quoted) rung_buf_putc(out, '"');
    if (formula) rung_buf_putc(out, '\'');
    for (; *text; text++) {
        if (*text == '"') rung_buf_putc(out, '"');
        rung_buf_putc(out, *text);
    }
    if (quoted) rung_buf_putc(out, '"');
}
