/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Figures as data for the script of the page: short keys, because a page may have hundreds of them.
 */
#include <math.h>

#include "page.h"

/* Inside a script element "<" could end it, and "<!--" would start a comment: both are escaped. */
static void put_text(rung_buf *out, const char *text)
{
    rung_buf json = {0};
    rung_buf_json_string(&json, text);
    for (size_t i = 0; i < json.len; i++)
        if (json.text[i] == '<')
            rung_buf_puts(out, "\\u003c");
        else
            rung_buf_putc(out, json.text[i]);
    out->failed = out->failed || json.failed;
    rung_buf_clear(&json);
}

static void put_real(rung_buf *out, double value)
{
    if (isfinite(value))
        rung_buf_printf(out, "%.7g", value);
    else
        rung_buf_puts(out, "null");
}

static void put_reals(rung_buf *out, const double *values, size_t count)
{
    rung_buf_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i) rung_buf_putc(out, ',');
        put_real(out, values[i]);
    }
    rung_buf_putc(out, ']');
}

static void put_series(rung_buf *out, const rung_series *s)
{
    rung_buf_puts(out, "{\"n\":");
    put_text(out, s->name);
    rung_buf_puts(out, ",\"d\":");
    put_text(out, s->detail ? s->detail : "");
    rung_buf_printf(out, ",\"c\":%zu,\"line\":%d,\"dots\":%d,\"control\":%d,\"p\":[", s->colour, s->line, s->dots,
                    s->control);
    for (size_t i = 0; i < s->count; i++) {
        const rung_point *p = &s->point[i];
        double values[] = {p->x, p->y, p->low, p->high, p->ceiling, (double)p->marks, (double)p->count};
        if (i) rung_buf_putc(out, ',');
        put_reals(out, values, s->dots || p->ceiling > 0 ? RUNG_COUNT(values) : 2);
    }
    rung_buf_puts(out, "]}");
}

static void put_guide(rung_buf *out, const rung_guide *g)
{
    static const char *const kinds[] = {"chance", "majority", "threshold"};
    rung_buf_printf(out, "{\"k\":\"%s\",\"c\":%zu,\"x\":", kinds[g->kind - 1], g->colour);
    put_reals(out, g->x, g->count);
    rung_buf_puts(out, ",\"y\":");
    put_reals(out, g->y, g->y ? g->count : 0);
    rung_buf_putc(out, '}');
}

void report_page_json(rung_buf *out, const rung_chart *f)
{
    rung_buf_puts(out, "{\"id\":");
    put_text(out, f->id);
    if (f->unit) rung_buf_printf(out, ",\"unit\":\"%s\"", f->unit);
    rung_buf_puts(out, ",\"x\":");
    put_text(out, f->x.name);
    rung_buf_puts(out, ",\"y\":");
    put_text(out, f->y.name);
    rung_buf_printf(out, ",\"log\":%d,\"range\":", f->x.log);
    put_reals(out, (const double[]){f->x.low, f->x.high}, 2);
    rung_buf_puts(out, ",\"ticks\":");
    put_reals(out, f->x.tick, f->x.ticks);
    rung_buf_puts(out, ",\"series\":[");
    for (size_t i = 0; i < f->series_count; i++) {
        if (i) rung_buf_putc(out, ',');
        put_series(out, &f->series[i]);
    }
    rung_buf_puts(out, "],\"guides\":[");
    for (size_t i = 0; i < f->guides; i++) {
        if (i) rung_buf_putc(out, ',');
        put_guide(out, &f->guide[i]);
    }
    rung_buf_puts(out, "]}");
}
