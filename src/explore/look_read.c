/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The body of a request: JSON of a page that anybody may have written.
 */
#include <string.h>

#include "look.h"

typedef struct field {
    const char *key;
    int64_t low, high, fallback;
} field;

static rung_status read_number(int64_t *out, const rung_json *body, const field *f, rung_error *err)
{
    const rung_json *value = rung_json_get(body, f->key);
    *out = f->fallback;
    if (!value || rung_json_kind_of(value) == RUNG_JSON_NULL) return RUNG_OK;
    if (!rung_json_int(out, value) || *out < f->low || *out > f->high)
        return rung_fail(err, RUNG_USAGE, "%s: a whole number from %lld to %lld", f->key, (long long)f->low,
                         (long long)f->high);
    return RUNG_OK;
}

static rung_status read_text(const char **out, const rung_json *body, const char *key, rung_error *err)
{
    const rung_json *value = rung_json_get(body, key);
    *out = NULL;
    if (!value || rung_json_kind_of(value) == RUNG_JSON_NULL) return RUNG_OK;
    *out = rung_json_string(value);
    if (!*out) return rung_fail(err, RUNG_USAGE, "%s: a text", key);
    if (!**out) *out = NULL;
    return RUNG_OK;
}

static rung_status read_input(explore_look *look, const rung_json *body, const rung_explorer *explorer, rung_error *err)
{
    int64_t index;
    const field number = {"input", 0, (int64_t)explorer->inputs - 1, -1};
    if (!rung_json_get(body, "input")) return RUNG_OK;
    if (!explorer->inputs)
        return rung_fail(err, RUNG_USAGE, "input: this page was opened without inputs; type layers, or drop a file");
    RUNG_TRY(read_number(&index, body, &number, err));
    look->input = index >= 0 ? &explorer->input[index] : NULL;
    return RUNG_OK;
}

static rung_status read_subject(explore_look *look, const rung_json *body, const rung_explorer *explorer,
                                rung_error *err)
{
    const rung_json *file = rung_json_get(body, "file");
    RUNG_TRY(read_input(look, body, explorer, err));
    RUNG_TRY(read_text(&look->arch, body, "arch", err));
    if (file) {
        RUNG_TRY(read_text(&look->file_name, file, "name", err));
        RUNG_TRY(read_text(&look->file_base64, file, "base64", err));
        if (!look->file_name || !look->file_base64)
            return rung_fail(err, RUNG_USAGE, "file: needs a name and its bytes in base64");
    }
    if ((look->input != NULL) + (look->arch != NULL) + (file != NULL) != 1)
        return rung_fail(err, RUNG_USAGE, "one of input, arch and file says which layers to show");
    return RUNG_OK;
}

rung_status explore_look_read(explore_look *look, const rung_json *body, const rung_explorer *explorer, rung_error *err)
{
    const int64_t sizes = 65536, tokens = INT64_C(1) << 40;
    const struct {
        field f;
        int64_t *to;
    } numbers[] = {
        {{"heads", 1, sizes, (int64_t)explorer->heads}, &look->heads},
        {{"head_dim", 1, sizes, (int64_t)explorer->head_dim}, &look->head_dim},
        {{"context", 1, tokens, 0}, &look->context},
        {{"batch", 1, 1 << 20, 1}, &look->batch},
        {{"budget_bytes", 0, INT64_C(1) << 50, 0}, &look->budget},
        {{"n", 1, tokens, 1024}, &look->n},
        {{"bits", 0, 64, 0}, &look->bits},
    };
    *look = (explore_look){0};
    if (rung_json_kind_of(body) != RUNG_JSON_OBJECT) return rung_fail(err, RUNG_USAGE, "the body must be an object");
    RUNG_TRY(read_subject(look, body, explorer, err));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        RUNG_TRY(read_number(numbers[i].to, body, &numbers[i].f, err));
    RUNG_TRY(read_text(&look->kv, body, "kv", err));
    RUNG_TRY(read_text(&look->state, body, "state", err));
    RUNG_TRY(read_text(&look->change, body, "set", err));
    return read_text(&look->task, body, "task", err);
}

/* ---- bytes of a file ------------------------------------------------------------------------------------------- */

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

rung_status explore_base64(rung_buf *out, const char *text, rung_error *err)
{
    uint32_t word = 0;
    unsigned bits = 0;
    size_t i = 0;
    for (; text[i] && text[i] != '='; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0) return rung_fail(err, RUNG_INPUT, "base64: character %zu is none of its digits", i + 1);
        word = (word << 6 | (uint32_t)digit) & 0xffffffu;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        rung_buf_putc(out, (char)(word >> bits & 0xffu));
    }
    size_t padding = strspn(text + i, "=");
    if (text[i + padding] || padding > 2) return rung_fail(err, RUNG_INPUT, "base64: more follows its padding");
    if (i % 4 == 1) return rung_fail(err, RUNG_INPUT, "base64: it is cut short");
    return rung_buf_ok(out, err);
}
