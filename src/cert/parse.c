/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Reading a certificate by the grammar in section 1 of docs/certificate.md. A text is accepted exactly when printing
 * the result gives it back, byte for byte. This module does not check whether the certificate is true.
 */
#include "lines.h"
#include "rung/io.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *at, *end; /* the rest of the text */
    const char *value;    /* of the current line: the text after its keyword and one space */
    size_t len;
    size_t line; /* from 1 */
    int version; /* of the certificate */
    const char *name;
    rung_error *err;
} reader;

static rung_status refuse(const reader *r, const char *what)
{
    return rung_fail(r->err, RUNG_INPUT, "%s:%zu: %s", r->name, r->line, what);
}

static rung_status expected(const reader *r, cert_line_id id, const char *problem)
{
    return rung_fail(r->err, RUNG_INPUT, "%s:%zu: expected the line '%s'; %s", r->name, r->line,
                     rung_cert_lines[id].form, problem);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Returns what is wrong with a line, or NULL. Only printable characters and single spaces between words are allowed. */
static const char *fault_of(const char *line, size_t len)
{
    if (len == 0) return "the line is empty";
    if (line[0] == ' ' || line[len - 1] == ' ') return "the line begins or ends with a space";
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)line[i];
        if (c == '\r') return "the line ends with CR LF or has a CR inside; lines end with LF alone";
        if (c < ' ' || c > '~') return "the line has a byte that is no printable ASCII";
        if (c == ' ' && line[i + 1] == ' ') return "two spaces stand together";
    }
    return NULL;
}

/* Takes the next line and checks that it is the expected one. */
static rung_status take_line(reader *r, cert_line_id id)
{
    const char *line = r->at, *keyword = rung_cert_lines[id].keyword;
    size_t word = strlen(keyword);
    r->line++;
    if (line == r->end) return expected(r, id, "the file ends here");
    const char *newline = memchr(line, '\n', (size_t)(r->end - line));
    if (!newline) return expected(r, id, "no newline ends it, the file is cut short");
    size_t len = (size_t)(newline - line);
    const char *fault = fault_of(line, len);
    if (fault) return expected(r, id, fault);
    r->at = newline + 1;
    bool bare = id == LINE_END;
    if (len < word || memcmp(line, keyword, word) != 0 || (len > word && line[word] != ' '))
        return rung_fail(r->err, RUNG_INPUT, "%s:%zu: expected the line '%s', found '%.*s'", r->name, r->line,
                         rung_cert_lines[id].form, (int)(len < 40 ? len : 40), line);
    if (bare != (len == word)) return expected(r, id, bare ? "something follows the word" : "nothing follows the word");
    r->value = bare ? newline : line + word + 1;
    r->len = bare ? 0 : len - word - 1;
    return RUNG_OK;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Returns the next word of the value and moves behind it. The length is 0 at the end. */
static const char *take_word(reader *r, size_t *len)
{
    const char *word = r->value, *space = memchr(word, ' ', r->len);
    *len = space ? (size_t)(space - word) : r->len;
    size_t used = *len + (space != NULL);
    r->value += used, r->len -= used;
    return word;
}

static bool read_number(uint64_t *out, const char *word, size_t len, uint64_t most)
{
    uint64_t value = 0;
    if (len == 0 || len > 10 || (len > 1 && word[0] == '0')) return false; /* 10 digits: no overflow */
    for (size_t i = 0; i < len; i++) {
        if (word[i] < '0' || word[i] > '9') return false;
        value = 10 * value + (uint64_t)(word[i] - '0');
    }
    *out = value;
    return value <= most;
}

static rung_status take_number(reader *r, uint64_t *out, cert_line_id id, uint64_t most)
{
    size_t len;
    const char *word = take_word(r, &len);
    if (read_number(out, word, len, most)) return RUNG_OK;
    return rung_fail(
        r->err, RUNG_INPUT, "%s:%zu: expected the line '%s'; '%.*s' is no number from 0 to %llu without leading zeros",
        r->name, r->line, rung_cert_lines[id].form, (int)(len < 40 ? len : 40), word, (unsigned long long)most);
}

static rung_status nothing_left(const reader *r, cert_line_id id)
{
    return r->len == 0 ? RUNG_OK : expected(r, id, "there is more on the line");
}

static rung_status take_text(reader *r, char **out)
{
    *out = rung_calloc(r->len + 1, 1, r->err);
    if (!*out) return RUNG_SYSTEM;
    memcpy(*out, r->value, r->len);
    return RUNG_OK;
}

static bool is_hex(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!(text[i] >= '0' && text[i] <= '9') && !(text[i] >= 'a' && text[i] <= 'f')) return false;
    return true;
}

/* NAME KEY=VALUE ...: VALUE may be empty (a list without elements). */
static bool is_task(const char *text, size_t len)
{
    const char *end = text + len, *word = memchr(text, ' ', len);
    while (word) {
        const char *start = word + 1, *next = memchr(start, ' ', (size_t)(end - start));
        const char *equals = memchr(start, '=', (size_t)((next ? next : end) - start));
        if (!equals || equals == start) return false;
        word = next;
    }
    return true;
}

static rung_status check_text(const reader *r, cert_line_id id)
{
    switch (id) {
    case LINE_NUMBERS:
        if (memchr(r->value, ' ', r->len)) return expected(r, id, "a format is one word");
        if (cert_version(r->value, r->len) == r->version) return RUNG_OK;
        return expected(r, id,
                        r->version == 1 ? "mixed formats (QUANTITY=FORMAT,...) are for version 2"
                                        : "version 2 is for mixed formats (QUANTITY=FORMAT,...)");
    case LINE_TASK:
        return is_task(r->value, r->len) ? RUNG_OK : expected(r, id, "a word after the name is not KEY=VALUE");
    case LINE_ARCH:
        return RUNG_OK;
    default:
        return is_hex(r->value, r->len) ? RUNG_OK : expected(r, id, "digits are 0-9 and a-f");
    }
}

static rung_status read_kind(reader *r, rung_cert *cert)
{
    for (size_t i = 0; rung_cert_kind_names[i]; i++)
        if (strlen(rung_cert_kind_names[i]) == r->len && memcmp(rung_cert_kind_names[i], r->value, r->len) == 0)
            cert->kind = (rung_cert_kind)(i + 1);
    if (cert->kind) return RUNG_OK;
    return expected(r, LINE_KIND, "a KIND is wrong-answer, state-collision, view-collision or block-collision");
}

static rung_status read_model(const reader *r, rung_cert *cert)
{
    if (r->len != 64 || !is_hex(r->value, 64)) return expected(r, LINE_MODEL, "a digest is 64 digits 0-9 a-f");
    memcpy(cert->model, r->value, 64);
    return RUNG_OK;
}

static rung_status read_prompt(reader *r, rung_cert *cert, cert_line_id id)
{
    size_t tokens = 1;
    uint32_t **prompt = &cert->prompt[id == LINE_PROMPT_2];
    for (size_t i = 0; i < r->len; i++) tokens += r->value[i] == ' ';
    if (id == LINE_PROMPT_2 && tokens != cert->tokens)
        return rung_fail(r->err, RUNG_INPUT, "%s:%zu: this prompt has %zu tokens and the one before it %zu", r->name,
                         r->line, tokens, cert->tokens);
    cert->tokens = tokens;
    *prompt = rung_calloc(tokens, sizeof **prompt, r->err);
    if (!*prompt) return RUNG_SYSTEM;
    for (size_t t = 0; t < tokens; t++) {
        uint64_t token;
        RUNG_TRY(take_number(r, &token, id, RUNG_CERT_ID_MAX));
        (*prompt)[t] = (uint32_t)token;
    }
    return RUNG_OK;
}

static rung_status read_answers(reader *r, int32_t *out, size_t count, cert_line_id id)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t answer;
        RUNG_TRY(take_number(r, &answer, id, RUNG_CERT_COUNT_MAX));
        out[i] = (int32_t)answer;
    }
    return nothing_left(r, id);
}

static rung_status read_count(reader *r, size_t *out, cert_line_id id)
{
    uint64_t number;
    RUNG_TRY(take_number(r, &number, id, RUNG_CERT_COUNT_MAX));
    *out = (size_t)number;
    return nothing_left(r, id);
}

static rung_status read_value(reader *r, rung_cert *cert, cert_line_id id)
{
    char **text = rung_cert_text_of(cert, id);
    size_t *number = rung_cert_number_of(cert, id);
    if (number) return read_count(r, number, id);
    if (text) {
        RUNG_TRY(check_text(r, id));
        return take_text(r, text);
    }
    switch (id) {
    case LINE_FIRST:
        r->version = r->len == 1 ? r->value[0] - '0' : 0;
        if (r->version == 1 || r->version == 2) return RUNG_OK;
        return expected(r, id, "this version is not known here");
    case LINE_KIND:
        return read_kind(r, cert);
    case LINE_MODEL:
        return read_model(r, cert);
    case LINE_PROMPT:
    case LINE_PROMPT_2:
        return read_prompt(r, cert, id);
    case LINE_RIGHT:
        return read_answers(r, cert->right, cert_prompts(cert->kind), id);
    case LINE_GIVEN:
        return read_answers(r, &cert->given, 1, id);
    default:
        return RUNG_OK;
    }
}

static bool wanted(const rung_cert *cert, cert_line_id id)
{
    return id <= LINE_KIND || cert_has_line(cert->kind, id);
}

/* Another file in the place of a certificate, such as the model that it is about. */
static bool is_another_kind(const char *text, size_t size)
{
    const char *kind = rung_file_kind(text, size);
    return size > 0 && kind && !strstr(kind, "certificate") && strcmp(kind, "text") != 0;
}

rung_status rung_cert_parse(rung_cert *cert, const char *text, size_t size, const char *name, rung_error *err)
{
    reader r = {.at = text, .end = text + size, .name = name, .err = err};
    rung_status status = RUNG_OK;
    *cert = (rung_cert){0};
    if (is_another_kind(text, size))
        return rung_fail(err, RUNG_INPUT, "%s: is %s, and a certificate was expected", name,
                         rung_file_kind(text, size));
    for (cert_line_id id = 0; status == RUNG_OK && id < LINE_COUNT; id++) {
        if (!wanted(cert, id)) continue;
        status = take_line(&r, id);
        RUNG_NEXT(status, read_value(&r, cert, id));
    }
    r.line++;
    if (status == RUNG_OK && r.at != r.end) status = refuse(&r, "nothing may follow the line 'end'");
    if (status != RUNG_OK) rung_cert_clear(cert);
    return status;
}

rung_status rung_cert_read(rung_cert *cert, const char *path, rung_error *err)
{
    rung_file_map map;
    *cert = (rung_cert){0};
    RUNG_TRY(rung_file_open_map(&map, path, err));
    rung_status status = rung_cert_parse(cert, (const char *)map.bytes, map.size, path, err);
    rung_file_close_map(&map);
    return status;
}
