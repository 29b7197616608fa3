/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The JSON writer. It knows where commas and line ends go, nothing else.
 */
#include "rung/render.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static void line_break(rung_jout *out)
{
    if (!out->pretty || out->flat) return;
    rung_buf_printf(out->buf, "\n%*s", (int)(2 * out->depth), "");
}

/* Whatever comes before a value: comma, line end, key. */
static void lead_in(rung_jout *out, const char *key)
{
    assert(out->depth > 0 && (key != NULL) == (out->close[out->depth - 1] == '}'));
    bool *filled = &out->filled[out->depth - 1];
    if (*filled) rung_buf_puts(out->buf, out->flat && out->pretty ? ", " : ",");
    *filled = true;
    line_break(out);
    if (!key) return;
    rung_buf_json_string(out->buf, key);
    rung_buf_puts(out->buf, out->pretty ? ": " : ":");
}

static void open_level(rung_jout *out, char open, char close)
{
    assert(out->depth < RUNG_JOUT_DEPTH);
    rung_buf_putc(out->buf, open);
    out->close[out->depth] = close;
    out->filled[out->depth++] = false;
}

void rung_jout_begin(rung_jout *out, rung_buf *buf, const char *schema, bool pretty)
{
    *out = (rung_jout){.buf = buf, .pretty = pretty};
    open_level(out, '{', '}');
    if (schema) rung_jout_string(out, "schema", schema);
}

void rung_jout_finish(rung_jout *out)
{
    assert(out->depth == 1);
    rung_jout_end(out);
    rung_buf_putc(out->buf, '\n');
}

void rung_jout_object(rung_jout *out, const char *key)
{
    lead_in(out, key);
    open_level(out, '{', '}');
}

void rung_jout_array(rung_jout *out, const char *key)
{
    lead_in(out, key);
    open_level(out, '[', ']');
}

void rung_jout_flat_object(rung_jout *out, const char *key)
{
    rung_jout_object(out, key);
    if (!out->flat) out->flat = out->depth;
}

void rung_jout_flat_array(rung_jout *out, const char *key)
{
    rung_jout_array(out, key);
    if (!out->flat) out->flat = out->depth;
}

void rung_jout_end(rung_jout *out)
{
    assert(out->depth > 0);
    const size_t level = out->depth--;
    if (out->filled[level - 1]) line_break(out);
    if (out->flat == level) out->flat = 0;
    rung_buf_putc(out->buf, out->close[level - 1]);
}

void rung_jout_string(rung_jout *out, const char *key, const char *value)
{
    if (!value) {
        rung_jout_null(out, key);
        return;
    }
    lead_in(out, key);
    rung_buf_json_string(out->buf, value);
}

void rung_jout_int(rung_jout *out, const char *key, int64_t value)
{
    lead_in(out, key);
    rung_buf_printf(out->buf, "%lld", (long long)value);
}

/* No JSON reader takes UINT64_MAX for an integer. */
void rung_jout_count(rung_jout *out, const char *key, uint64_t value)
{
    rung_jout_int(out, key, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void rung_jout_real(rung_jout *out, const char *key, double value)
{
    if (!isfinite(value)) {
        rung_jout_null(out, key);
        return;
    }
    lead_in(out, key);
    rung_buf_real(out->buf, value);
}

void rung_jout_float(rung_jout *out, const char *key, float value)
{
    char text[32];
    if (!isfinite(value)) {
        rung_jout_null(out, key);
        return;
    }
    lead_in(out, key);
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) break;
    }
    rung_buf_puts(out->buf, text);
}

void rung_jout_bool(rung_jout *out, const char *key, bool value)
{
    lead_in(out, key);
    rung_buf_puts(out->buf, value ? "true" : "false");
}

void rung_jout_null(rung_jout *out, const char *key)
{
    lead_in(out, key);
    rung_buf_puts(out->buf, "null");
}

void rung_jout_written(rung_jout *out, const char *key, void (*write)(rung_buf *text, const void *what),
                       const void *what)
{
    rung_buf text;
    rung_buf_init(&text);
    write(&text, what);
    out->buf->failed = out->buf->failed || text.failed;
    rung_jout_string(out, key, text.text ? text.text : "");
    rung_buf_clear(&text);
}
