/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A figure as SVG: series with intervals, marks, ceilings and guides. Series are shifted by a few pixels, so that their
 * intervals at one place do not overlap. Names stand below the plot.
 */
#include <math.h>
#include <string.h>

#include "report_internal.h"

enum {
    WIDTH = 560,
    LEFT = 50,
    RIGHT = 18,
    TOP = 30,   /* the name of the y axis */
    HEAD = 44,  /* title and subtitle of a file that stands alone */
    PLOT = 236, /* height of the drawing area */
    INSET = 8,  /* above 1 and below 0, for marks */
    FOOT = 46,  /* numbers and name of the x axis */
    LINE = 19,  /* of the legend */
    TEXT = 66   /* characters that fit into a line of 560 */
};

static const struct {
    const char *name, *light, *dark;
} colours[] = {
    {"ink", "#222", "#eee"},      {"dim", "#646464", "#a8a8a8"}, {"back", "#fff", "#141414"},
    {"line", "#8888", "#8888"},   {"bad", "#d00", "#f66"},       {"c0", "#2673c9", "#6aaef5"},
    {"c1", "#c8374f", "#f0788c"}, {"c2", "#1f8a55", "#57c98f"},  {"c3", "#a86a00", "#e8b04a"},
    {"c4", "#7b46c4", "#b48cf0"}, {"c5", "#0d8a96", "#52cbd6"},  {"c6", "#b8388f", "#f088cf"},
    {"c7", "#5a6b7b", "#a9bac9"},
};
static const struct {
    const char *selector, *property, *colour;
} painted[] = {
    {"text", "fill", "ink"},   {".dim,.num", "fill", "dim"}, {".back", "fill", "back"},
    {".bad", "stroke", "bad"}, {".level", "stroke", "dim"},  {".grid,.axis,.frame", "stroke", "line"},
};

void report_svg_colours(rung_buf *out, bool dark)
{
    for (size_t i = 0; i < RUNG_COUNT(colours); i++)
        rung_buf_printf(out, "%s--%s:%s", i ? ";" : "", colours[i].name, dark ? colours[i].dark : colours[i].light);
}

/* In a page the variables are those of the page. Programs that are no browsers (librsvg, Inkscape) know no variables:
 * they skip the second declaration and keep the first. */
static void put_paint(rung_buf *out, const char *selector, const char *property, const char *colour)
{
    size_t i = 0;
    while (strcmp(colours[i].name, colour) != 0) i++;
    rung_buf_printf(out, "%s{%s:%s;%s:var(--%s)}", selector, property, colours[i].light, property, colour);
}

void report_svg_rules(rung_buf *out)
{
    rung_buf_puts(out, "text{font:13px system-ui,sans-serif}.t{font-size:15px;font-weight:600}.num{font-size:12px}"
                       ".grid{stroke-opacity:.35}");
    for (size_t i = 0; i < RUNG_COUNT(painted); i++)
        put_paint(out, painted[i].selector, painted[i].property, painted[i].colour);
    for (int c = 0; c < REPORT_COLOURS; c++) {
        char stroke[16], fill[16], colour[16];
        snprintf(stroke, sizeof stroke, ".stroke%d", c);
        snprintf(fill, sizeof fill, ".fill%d", c);
        snprintf(colour, sizeof colour, "c%d", c);
        put_paint(out, stroke, "stroke", colour);
        put_paint(out, fill, "fill", colour);
    }
}

void report_svg_open(rung_buf *out, double width, double height, bool alone, bool sized)
{
    rung_buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\"", width,
                    height);
    if (alone || sized) rung_buf_printf(out, " width=\"%.0f\" height=\"%.0f\"", width, height);
    rung_buf_puts(out, ">\n");
    if (!alone) return;
    rung_buf_puts(out, "<style>svg{");
    report_svg_colours(out, false);
    rung_buf_puts(out, "}@media(prefers-color-scheme:dark){svg{");
    report_svg_colours(out, true);
    rung_buf_puts(out, "}}");
    report_svg_rules(out);
    rung_buf_puts(out, "</style>\n<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n");
}

/* ---- scales ------------------------------------------------------------------------------------------------------ */

typedef struct frame {
    double x0, x1, top; /* x: in units of the axis, after the logarithm */
    bool log;
    double shift; /* pixels between neighbouring series */
    size_t series;
} frame;

static double unit(const frame *f, double x)
{
    return f->log ? log2(x) : x;
}

static frame frame_of(const rung_chart *fig, double top)
{
    frame f = {.log = fig->x.log, .top = top, .series = fig->series_count};
    f.x0 = unit(&f, fig->x.low), f.x1 = unit(&f, fig->x.high);
    bool dots = fig->series_count && fig->series[0].dots;
    double pad = f.x1 > f.x0 ? (dots ? 0.06 : 0.01) * (f.x1 - f.x0) : 1;
    f.x0 -= pad, f.x1 += pad;
    if (dots && fig->series_count > 1) f.shift = fmin(4, 24.0 / (double)(fig->series_count - 1));
    return f;
}

static double px(const frame *f, double x)
{
    return LEFT + (unit(f, x) - f->x0) / (f->x1 - f->x0) * (WIDTH - LEFT - RIGHT);
}

static double sx(const frame *f, size_t series, double x)
{
    return px(f, x) + f->shift * ((double)series - (double)(f->series - 1) / 2);
}

static double py(const frame *f, double y)
{
    return f->top + INSET + (PLOT - 2 * INSET) * (1 - fmin(fmax(y, 0), 1));
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

static void put_tick(rung_buf *out, const frame *f, double x, double *last)
{
    char text[32];
    report_number(text, x);
    double at = px(f, x), half = 3.7 * (double)strlen(text) + 5;
    if (at - half < *last || at < LEFT - 1 || at > WIDTH - RIGHT + 1) return;
    rung_buf_printf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", at, at, f->top,
                    f->top + PLOT);
    rung_svg_text(out, at, f->top + PLOT + 17, "num", "middle", text);
    *last = at + half;
}

/* 1, 2 or 5 times a power of ten, at most six of them. */
static double round_step(double range)
{
    double step = pow(10, floor(log10(range / 6)));
    return range / step <= 6         ? step
           : range / (2 * step) <= 6 ? 2 * step
           : range / (5 * step) <= 6 ? 5 * step
                                     : 10 * step;
}

static void put_axes(rung_buf *out, const rung_chart *fig, const frame *f)
{
    double last = -1;
    for (int i = 0; i <= 4; i++) {
        char text[16];
        double y = py(f, i / 4.0);
        rung_buf_printf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT,
                        WIDTH - RIGHT, y, y);
        snprintf(text, sizeof text, "%g", i / 4.0);
        rung_svg_text(out, LEFT - 8, y + 4, "num", "end", text);
    }
    rung_buf_printf(out, "<path class=\"axis\" d=\"M%d %.1fH%d\"/>\n", LEFT, f->top + PLOT, WIDTH - RIGHT);
    for (size_t i = 0; i < fig->x.ticks; i++) put_tick(out, f, fig->x.tick[i], &last);
    if (!fig->x.ticks && fig->x.high > fig->x.low) {
        double step = round_step(fig->x.high - fig->x.low);
        for (double x = step * ceil(fig->x.low / step); x <= fig->x.high; x += step) put_tick(out, f, x, &last);
    }
    rung_buf name = {0};
    rung_buf_printf(&name, "%s%s", fig->x.name, fig->x.log ? " (log scale)" : "");
    if (name.text) rung_svg_text(out, (LEFT + WIDTH - RIGHT) / 2.0, f->top + PLOT + 38, "", "middle", name.text);
    rung_buf_clear(&name);
    rung_svg_text(out, LEFT - 36, f->top - 12, "dim", "start", fig->y.name);
}

/* ---- markers ----------------------------------------------------------------------------------------------------- */

/* When the palette repeats, lines are dashed. */
static const char *dash_of(const rung_series *s)
{
    if (s->control) return " stroke-dasharray=\"2 3\"";
    return s->colour / REPORT_COLOURS % 2 ? " stroke-dasharray=\"7 3\"" : "";
}

static void put_mark(rung_buf *out, const rung_series *s, unsigned marks, double x, double y)
{
    size_t c = s->colour % REPORT_COLOURS;
    if (marks & RUNG_MARK_CHOSEN)
        rung_buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"8\" fill=\"none\" class=\"stroke%zu\"/>\n", x, y, c);
    if (s->control)
        rung_buf_printf(out,
                        "<rect x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\" class=\"back stroke%zu\" "
                        "stroke-width=\"1.5\"/>\n",
                        x - 3.5, y - 3.5, c);
    else if (marks & RUNG_MARK_CANNOT)
        rung_buf_printf(
            out,
            "<path d=\"M%.1f %.1fl7 7m0 -7l-7 7\" class=\"stroke%zu\" stroke-width=\"1.6\"/><circle cx=\"%.1f\" "
            "cy=\"%.1f\" r=\"5\" fill=\"none\" class=\"stroke%zu\" stroke-width=\"1.6\"/>\n",
            x - 3.5, y - 3.5, c, x, y, c);
    else
        rung_buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" class=\"fill%zu\"/>\n", x, y, c);
    if (marks & RUNG_MARK_ABOVE)
        rung_buf_printf(out, "<path d=\"M%.1f %.1fl5 9h-10z\" fill=\"none\" class=\"bad\" stroke-width=\"2\"/>\n", x,
                        y - 18);
}

static void put_interval(rung_buf *out, const frame *f, size_t number, const rung_series *s, const rung_point *p)
{
    double x = sx(f, number, p->x);
    if (isnan(p->low)) return;
    rung_buf_printf(out, "<path d=\"M%.1f %.1fV%.1fm-3 0h6M%.1f %.1fh6\" class=\"stroke%zu\" fill=\"none\"/>\n", x,
                    py(f, p->low), py(f, p->high), x - 3, py(f, p->low), s->colour % REPORT_COLOURS);
}

static void put_ceilings(rung_buf *out, const frame *f, size_t number, const rung_series *s)
{
    const rung_point *last = NULL;
    size_t c = s->colour % REPORT_COLOURS;
    for (size_t i = 0; i < s->count; i++) {
        const rung_point *p = &s->point[i];
        if (!(p->ceiling > 0)) continue;
        double x = sx(f, number, p->x), y = py(f, p->ceiling);
        if (last)
            rung_buf_printf(out,
                            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"stroke%zu\" "
                            "stroke-dasharray=\"4 4\" stroke-opacity=\".7\"/>\n",
                            sx(f, number, last->x), py(f, last->ceiling), x, y, c);
        rung_buf_printf(
            out, "<path d=\"M%.1f %.1fh14m0 3v-3m-14 0v3\" class=\"stroke%zu\" stroke-width=\"2\" fill=\"none\"/>\n",
            x - 7, y, c);
        last = p;
    }
}

/* The tooltip of a point. */
static void put_hint(rung_buf *out, const rung_chart *fig, const rung_series *s, const rung_point *p)
{
    rung_buf_puts(out, "<title>");
    rung_text_escape(out, s->name);
    rung_buf_puts(out, ", ");
    rung_text_escape(out, fig->x.name);
    rung_buf_printf(out, " %.6g: %.4g", p->x, p->y);
    if (!isnan(p->low)) rung_buf_printf(out, " [%.4g, %.4g]", p->low, p->high);
    rung_buf_printf(out, ", %zu %s%s", p->count, fig->unit ? fig->unit : "run", p->count == 1 ? "" : "s");
    if (p->marks & RUNG_MARK_CANNOT) rung_buf_puts(out, "; theory: CANNOT");
    if (p->ceiling > 0) rung_buf_printf(out, "; ceiling %.4g", p->ceiling);
    rung_buf_puts(out, "</title>");
}

static void put_series(rung_buf *out, const rung_chart *fig, const frame *f, size_t number)
{
    const rung_series *s = &fig->series[number];
    size_t c = s->colour % REPORT_COLOURS;
    put_ceilings(out, f, number, s);
    if (s->line && s->count > 1) {
        rung_buf_puts(out, "<path d=\"");
        for (size_t i = 0; i < s->count; i++)
            rung_buf_printf(out, "%c%.1f %.1f", i ? 'L' : 'M', sx(f, number, s->point[i].x), py(f, s->point[i].y));
        rung_buf_printf(out, "\" fill=\"none\" class=\"stroke%zu\" stroke-width=\"%s\"%s/>\n", c,
                        s->dots ? "1.8" : "1.3", dash_of(s));
    }
    for (size_t i = 0; s->dots && i < s->count; i++) {
        rung_buf_puts(out, "<g>");
        put_hint(out, fig, s, &s->point[i]);
        put_interval(out, f, number, s, &s->point[i]);
        put_mark(out, s, s->point[i].marks, sx(f, number, s->point[i].x), py(f, s->point[i].y));
        rung_buf_puts(out, "</g>\n");
    }
}

/* ---- guides ------------------------------------------------------------------------------------------------------ */

static void put_guide_style(rung_buf *out, const rung_guide *g)
{
    if (g->kind == RUNG_GUIDE_THRESHOLD)
        rung_buf_printf(out,
                        " fill=\"none\" class=\"stroke%zu\" stroke-width=\"1.6\" stroke-dasharray=\"10 4 2 4\"/>\n",
                        g->colour % REPORT_COLOURS);
    else
        rung_buf_printf(out, " fill=\"none\" class=\"level\" stroke-width=\"1.4\" stroke-dasharray=\"%s\"/>\n",
                        g->kind == RUNG_GUIDE_CHANCE ? "1.5 4" : "8 3 1.5 3");
}

static void put_guide(rung_buf *out, const frame *f, const rung_guide *g)
{
    rung_buf_puts(out, "<path d=\"");
    if (g->kind == RUNG_GUIDE_THRESHOLD)
        rung_buf_printf(out, "M%.1f %.1fV%.1f", px(f, g->x[0]), f->top, f->top + PLOT);
    else if (g->count == 1 || g->y[0] == g->y[g->count - 1])
        rung_buf_printf(out, "M%d %.1fH%d", LEFT, py(f, g->y[0]), WIDTH - RIGHT);
    else
        for (size_t i = 0; i < g->count; i++)
            rung_buf_printf(out, "%c%.1f %.1f", i ? 'L' : 'M', px(f, g->x[i]), py(f, g->y[i]));
    rung_buf_puts(out, "\"");
    put_guide_style(out, g);
}

/* ---- legend ------------------------------------------------------------------------------------------------------ */

void report_svg_swatch(rung_buf *out, const rung_series *s, const rung_guide *g)
{
    if (g) {
        rung_buf_puts(out, g->kind == RUNG_GUIDE_THRESHOLD ? "<path d=\"M13 -7V7\"" : "<path d=\"M0 0H26\"");
        put_guide_style(out, g);
        return;
    }
    rung_buf_printf(out, "<path d=\"M0 0H26\" class=\"stroke%zu\" stroke-width=\"1.8\"%s/>", s->colour % REPORT_COLOURS,
                    dash_of(s));
    if (s->dots) put_mark(out, s, 0, 13, 0);
}

static bool is_named_before(const rung_chart *fig, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (fig->series[i].colour == fig->series[number].colour &&
            strcmp(fig->series[i].name, fig->series[number].name) == 0)
            return true;
    return false;
}

/* Explains the marks that occur. */
static const char *const mark_words[] = {"crossed: theory says CANNOT at this size",
                                         "bar: no weights of these layers are better on average (theory)",
                                         "ringed: chosen", "triangle: above a ceiling of theory"};

static unsigned marks_of(const rung_chart *fig)
{
    unsigned found = 0;
    for (size_t s = 0; s < fig->series_count; s++)
        for (size_t i = 0; i < fig->series[s].count; i++) {
            const rung_point *p = &fig->series[s].point[i];
            found |= (p->marks & RUNG_MARK_CANNOT ? 1u : 0) | (p->ceiling > 0 ? 2u : 0) |
                     (p->marks & RUNG_MARK_CHOSEN ? 4u : 0) | (p->marks & RUNG_MARK_ABOVE ? 8u : 0);
        }
    return found;
}

static void put_line(rung_buf *out, double x, double y, const char *class, const char *text, size_t most)
{
    rung_buf line = {0};
    report_cut(&line, text, most);
    if (line.text) rung_svg_text(out, x, y, class, "start", line.text);
    rung_buf_clear(&line);
}

/* Returns the height. Draws nothing if out is NULL. */
static double put_legend(rung_buf *out, const rung_chart *fig, double top)
{
    double y = top;
    unsigned marks = marks_of(fig);
    for (size_t i = 0; i < fig->series_count + fig->guides; i++) {
        bool is_series = i < fig->series_count;
        const rung_guide *guide = is_series ? NULL : &fig->guide[i - fig->series_count];
        if (is_series && is_named_before(fig, i)) continue;
        if (out) {
            rung_buf_printf(out, "<g transform=\"translate(%d %.1f)\">", LEFT, y);
            report_svg_swatch(out, is_series ? &fig->series[i] : NULL, guide);
            rung_buf_puts(out, "</g>");
            put_line(out, LEFT + 36, y + 4, "", is_series ? fig->series[i].name : guide->name, TEXT);
        }
        y += LINE;
    }
    for (size_t i = 0; i < RUNG_COUNT(mark_words); i++) {
        if (!(marks >> i & 1)) continue;
        if (out) rung_svg_text(out, LEFT + 36, y + 4, "dim", "start", mark_words[i]);
        y += LINE;
    }
    if (fig->measured) {
        if (out) put_line(out, LEFT + 36, y + 4, "dim", fig->measured, TEXT);
        y += LINE;
    }
    if (fig->left_out[0]) {
        if (out) put_line(out, LEFT + 36, y + 4, "dim", fig->left_out, TEXT);
        y += LINE;
    }
    return y - top;
}

void report_legend_html(rung_buf *out, const rung_chart *fig)
{
    unsigned marks = marks_of(fig);
    rung_buf_puts(out, "<ul class=\"legend\">");
    for (size_t i = 0; i < fig->series_count + fig->guides; i++) {
        bool is_series = i < fig->series_count;
        const rung_guide *guide = is_series ? NULL : &fig->guide[i - fig->series_count];
        if (is_series && is_named_before(fig, i)) continue;
        rung_buf_puts(out, "<li");
        if (is_series) rung_buf_printf(out, " data-s=\"%zu\"", i);
        rung_buf_puts(out, "><svg viewBox=\"0 -8 26 16\" width=\"26\" height=\"16\" aria-hidden=\"true\">");
        report_svg_swatch(out, is_series ? &fig->series[i] : NULL, guide);
        rung_buf_puts(out, "</svg><span>");
        rung_text_escape(out, is_series ? fig->series[i].name : guide->name);
        rung_buf_puts(out, "</span></li>");
    }
    for (size_t i = 0; i < RUNG_COUNT(mark_words); i++)
        if (marks >> i & 1) rung_buf_printf(out, "<li class=\"dim\">%s</li>", mark_words[i]);
    if (fig->measured) {
        rung_buf_puts(out, "<li class=\"dim\">");
        rung_text_escape(out, fig->measured);
        rung_buf_puts(out, "</li>");
    }
    rung_buf_puts(out, "</ul>\n");
}

/* ---- figure ------------------------------------------------------------------------------------------------------ */

void rung_chart_svg(rung_buf *out, const rung_chart *fig, bool alone)
{
    double head = alone ? HEAD + (fig->subtitle[0] ? 8 : -10) : 0, bottom = head + TOP + PLOT + FOOT;
    double height = bottom + (alone ? put_legend(NULL, fig, bottom) + 18 : 0);
    frame f = frame_of(fig, head + TOP);
    report_svg_open(out, WIDTH, height, alone, false);
    rung_buf_puts(out, "<title>");
    rung_text_escape(out, fig->title);
    rung_buf_puts(out, "</title>\n");
    if (alone) {
        put_line(out, LEFT - 36, 24, "t", fig->title, TEXT);
        if (fig->subtitle[0]) put_line(out, LEFT - 36, 43, "dim", fig->subtitle, TEXT + 6);
    }
    put_axes(out, fig, &f);
    for (size_t i = 0; i < fig->guides; i++) put_guide(out, &f, &fig->guide[i]);
    for (size_t i = 0; i < fig->series_count; i++) put_series(out, fig, &f, i);
    if (alone) put_legend(out, fig, bottom + 12);
    rung_buf_puts(out, "</svg>\n");
}
