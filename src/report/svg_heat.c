/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A heat map as SVG. Every field has its number, so that colour is never the only information.
 */
#include <math.h>
#include <string.h>

#include "report_internal.h"

enum {
    FIELD = 62,
    FIELD_NAMED = 104,
    FIELD_H = 40,
    HEAD = 52,
    FOOT = 50,
    LEFT = 16,
    NAME_MOST = 46,
    LEGEND = 40,
    TITLE_LETTER = 9
};

/* From dark blue over green to yellow (viridis, five of its colours), mixed linearly. */
static void colour_of(int rgb[3], double value)
{
    static const int stop[5][3] = {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
    double at = fmin(fmax(value, 0), 1) * 4;
    int low = at >= 4 ? 3 : (int)at;
    for (int i = 0; i < 3; i++) rgb[i] = (int)lround(stop[low][i] + (at - low) * (stop[low + 1][i] - stop[low][i]));
}

/* Columns with names instead of numbers are wider. */
static double field_width(const rung_heat *h)
{
    return h->x_name[0] ? FIELD : FIELD_NAMED;
}

/* Width of the names of the rows, 7 pixels a character. */
static double row_names(const rung_heat *h)
{
    size_t longest = 1;
    for (size_t r = 0; r < h->rows; r++) {
        size_t len = strlen(h->row[r]);
        if (len > longest) longest = len;
    }
    return 7.2 * (double)(longest < NAME_MOST ? longest : NAME_MOST) + 14;
}

static void put_hint(rung_buf *out, const rung_heat *h, size_t row, size_t column, const rung_heat_cell *cell)
{
    rung_buf_puts(out, "<title>");
    rung_text_escape(out, h->y_name);
    rung_buf_putc(out, ' ');
    rung_text_escape(out, h->row[row]);
    rung_buf_puts(out, ", ");
    rung_text_escape(out, h->x_name);
    rung_buf_putc(out, ' ');
    rung_text_escape(out, h->column[column]);
    rung_buf_printf(out, ": %.4g, %zu run%s", cell->value, cell->count, cell->count == 1 ? "" : "s");
    if (cell->among > 1) rung_buf_printf(out, ", best of %zu by the evaluation during training", cell->among);
    if (cell->marks & RUNG_MARK_CANNOT) rung_buf_puts(out, "; theory: CANNOT");
    if (cell->ceiling > 0) rung_buf_printf(out, "; ceiling %.4g", cell->ceiling);
    rung_buf_puts(out, "</title>");
}

static void put_field(rung_buf *out, const rung_heat_cell *cell, double x, double y, double w)
{
    char text[32];
    int rgb[3];
    if (isnan(cell->value)) {
        rung_buf_printf(out,
                        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"none\" class=\"frame\" "
                        "stroke-dasharray=\"3 3\"/>\n",
                        x + 1.5, y + 1.5, w - 3, FIELD_H - 3);
        return;
    }
    colour_of(rgb, cell->value);
    const char *ink = 0.3 * rgb[0] + 0.59 * rgb[1] + 0.11 * rgb[2] > 120 ? "#000" : "#fff";
    rung_buf_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"rgb(%d,%d,%d)\"/>\n", x + 1,
                    y + 1, w - 2, FIELD_H - 2, rgb[0], rgb[1], rgb[2]);
    snprintf(text, sizeof text, "%.2f", cell->value);
    bool second = cell->ceiling > 0 || cell->marks & RUNG_MARK_CANNOT;
    rung_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" style=\"fill:%s\">%s%s</text>\n",
                    x + w / 2, y + (second ? 17 : 25), ink, text, cell->among > 1 ? "*" : "");
    if (cell->ceiling > 0)
        snprintf(text, sizeof text, "%s\u2264 %.2f", cell->marks & RUNG_MARK_CANNOT ? "\u2715 " : "", cell->ceiling);
    else
        snprintf(text, sizeof text, "\u2715");
    if (second)
        rung_buf_printf(
            out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" style=\"fill:%s;font-size:11px\">%s</text>\n",
            x + w / 2, y + 33, ink, text);
    if (cell->marks & RUNG_MARK_ABOVE)
        rung_buf_printf(out,
                        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"none\" class=\"bad\" "
                        "stroke-width=\"3\"/>\n",
                        x + 2.5, y + 2.5, w - 5, FIELD_H - 5);
}

static void put_row(rung_buf *out, const rung_heat *h, size_t row, double left, double y)
{
    rung_buf name = {0};
    report_cut(&name, h->row[row], NAME_MOST);
    if (name.text) rung_svg_text(out, left - 8, y + FIELD_H / 2.0 + 5, "num", "end", name.text);
    rung_buf_clear(&name);
    for (size_t c = 0; c < h->columns; c++) {
        const rung_heat_cell *cell = &h->cell[row * h->columns + c];
        rung_buf_puts(out, "<g>");
        if (!isnan(cell->value)) put_hint(out, h, row, c, cell);
        put_field(out, cell, left + field_width(h) * (double)c, y, field_width(h));
        rung_buf_puts(out, "</g>\n");
    }
}

static const char *marks_text(const rung_heat *h)
{
    bool cannot = false, best = false;
    for (size_t i = 0; i < h->rows * h->columns; i++) {
        cannot = cannot || h->cell[i].marks & RUNG_MARK_CANNOT || h->cell[i].ceiling > 0;
        best = best || h->cell[i].among > 1;
    }
    if (cannot && best) return "\u2715 theory: CANNOT, \u2264 its ceiling; * best of several";
    return cannot ? "\u2715 theory: CANNOT, \u2264 its ceiling" : best ? "* best of several, see the table" : "";
}

void rung_heat_svg(rung_buf *out, const rung_heat *h, bool alone)
{
    double head = (alone ? HEAD : 6) + (h->y_name[0] ? 20 : 0), left = LEFT + row_names(h), w = field_width(h);
    const char *marks = marks_text(h);
    double bottom = head + FIELD_H * (double)h->rows, lines = (marks[0] ? 20 : 0) + (h->measured ? 20 : 0);
    double height = bottom + FOOT + lines;
    double least = alone ? fmax(420, 2 * LEFT + TITLE_LETTER * (double)strlen(h->title)) : lines > 0 ? 420 : 200;
    double width = fmax(left + w * (double)h->columns + 16, least);
    report_svg_open(out, width, height, alone, true);
    rung_buf_puts(out, "<title>");
    rung_text_escape(out, h->title);
    rung_buf_puts(out, "</title>\n");
    if (alone) {
        rung_buf line = {0};
        rung_svg_text(out, LEFT, 24, "t", "start", h->title);
        report_cut(&line, h->subtitle, (size_t)(width / 7.4));
        if (line.text) rung_svg_text(out, LEFT, 43, "dim", "start", line.text);
        rung_buf_clear(&line);
    }
    if (h->y_name[0]) rung_svg_text(out, LEFT, head - 8, "dim", "start", h->y_name);
    for (size_t r = 0; r < h->rows; r++) put_row(out, h, r, left, bottom - FIELD_H * (double)(r + 1));
    for (size_t c = 0; c < h->columns; c++)
        rung_svg_text(out, left + w * ((double)c + 0.5), bottom + 17, "num", "middle", h->column[c]);
    if (h->x_name[0]) rung_svg_text(out, left + w * (double)h->columns / 2, bottom + 38, "", "middle", h->x_name);
    if (marks[0]) rung_svg_text(out, LEFT, height - 8 - (h->measured ? 20 : 0), "dim", "start", marks);
    if (h->measured) rung_svg_text(out, LEFT, height - 8, "dim", "start", h->measured);
    rung_buf_puts(out, "</svg>\n");
}
