/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Points and a line as SVG.
 */
#include "rung/render.h"

#include <math.h>

enum { WIDTH = 720, HEIGHT = 440, LEFT = 72, RIGHT = 24, TOP = 96, BOTTOM = 72 };

static const char style[] =
    "<style>svg{font:14px system-ui,sans-serif;color-scheme:light dark}text{fill:#222}.dim{fill:#666}"
    ".axis{stroke:#888;stroke-width:1}.grid{stroke:#8883}.fit{stroke:#0a6;stroke-width:2;fill:none;stroke-dasharray:6 "
    "4}"
    ".point{fill:#06c}.back{fill:#fff}"
    "@media(prefers-color-scheme:dark){text{fill:#eee}.dim{fill:#aaa}.back{fill:#111}.point{fill:#6af}.fit{stroke:#4c9}"
    "}"
    "</style>\n";

bool rung_plot_fit(double *intercept, double *slope, const double *x, const double *y, size_t count)
{
    double mx = 0, my = 0, sxx = 0, sxy = 0;
    for (size_t i = 0; i < count; i++) mx += x[i] / (double)count, my += y[i] / (double)count;
    for (size_t i = 0; i < count; i++) sxx += (x[i] - mx) * (x[i] - mx), sxy += (x[i] - mx) * (y[i] - my);
    if (count < 2 || sxx <= 0) return false;
    *slope = sxy / sxx;
    *intercept = my - *slope * mx;
    return true;
}

/* The drawing area in the numbers of the data. */
typedef struct frame {
    double x0, x1, y0, y1, y_step;
} frame;

static double px(const frame *f, double x)
{
    return LEFT + (x - f->x0) / (f->x1 - f->x0) * (WIDTH - LEFT - RIGHT);
}

static double py(const frame *f, double y)
{
    return HEIGHT - BOTTOM - (y - f->y0) / (f->y1 - f->y0) * (HEIGHT - TOP - BOTTOM);
}

/* 1, 2 or 5 times a power of ten, so that there are at most eight lines. */
static double step_for(double range)
{
    double step = pow(10, floor(log10(range / 8)));
    while (range / step > 8) step *= range / (2 * step) <= 8 ? 2 : range / (5 * step) <= 8 ? 5 : 10;
    return step;
}

static frame frame_of(const rung_plot *p)
{
    frame f = {INFINITY, -INFINITY, 0, 1, 1};
    for (size_t i = 0; i < p->count; i++) {
        f.x0 = fmin(f.x0, p->x[i]), f.x1 = fmax(f.x1, p->x[i]);
        f.y0 = fmin(f.y0, p->y[i]), f.y1 = fmax(f.y1, p->y[i]);
    }
    if (p->count == 0) f.x0 = 0, f.x1 = 1;
    double pad = f.x1 > f.x0 ? 0.06 * (f.x1 - f.x0) : 1;
    f.x0 -= pad, f.x1 += pad;
    f.y_step = step_for(f.y1 - f.y0);
    f.y1 = f.y_step * (floor(f.y1 / f.y_step) + 1);
    f.y0 = f.y_step * floor(f.y0 / f.y_step);
    return f;
}

static void put_axes(rung_buf *out, const rung_plot *p, const frame *f)
{
    char text[32];
    for (double y = f->y0; y <= f->y1 + f->y_step / 2; y += f->y_step) {
        rung_buf_printf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT,
                        WIDTH - RIGHT, py(f, y), py(f, y));
        snprintf(text, sizeof text, "%g", y);
        rung_svg_text(out, LEFT - 8, py(f, y) + 5, "dim", "end", text);
    }
    rung_buf_printf(out, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n", LEFT, WIDTH - RIGHT,
                    HEIGHT - BOTTOM, HEIGHT - BOTTOM);
    rung_svg_text(out, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 20, "", "middle", p->x_name);
    rung_svg_text(out, LEFT - 48, TOP - 14, "", "start", p->y_name);
}

static void put_points(rung_buf *out, const rung_plot *p, const frame *f)
{
    for (size_t i = 0; i < p->count; i++) {
        char text[32];
        rung_buf_printf(out, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n", px(f, p->x[i]),
                        py(f, p->y[i]));
        snprintf(text, sizeof text, "%g", p->y[i]);
        rung_svg_text(out, px(f, p->x[i]), py(f, p->y[i]) - 11, "", "middle", text);
        if (p->mark) rung_svg_text(out, px(f, p->x[i]), HEIGHT - BOTTOM + 20, "dim", "middle", p->mark[i]);
    }
}

/* The part of the line that is inside the frame. */
static void put_line(rung_buf *out, const rung_plot *p, const frame *f)
{
    double x0 = f->x0, x1 = f->x1;
    double at_bottom = (f->y0 - p->intercept) / p->slope, at_top = (f->y1 - p->intercept) / p->slope;
    if (p->slope > 0) x0 = fmax(x0, at_bottom), x1 = fmin(x1, at_top);
    if (p->slope < 0) x0 = fmax(x0, at_top), x1 = fmin(x1, at_bottom);
    rung_buf_printf(out, "<line class=\"fit\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", px(f, x0),
                    py(f, p->intercept + p->slope * x0), px(f, x1), py(f, p->intercept + p->slope * x1));
    rung_svg_text(out, WIDTH - RIGHT, HEIGHT - BOTTOM - 12, "dim", "end", p->line_name);
}

void rung_plot_svg(rung_buf *out, const rung_plot *p)
{
    frame f = frame_of(p);
    rung_buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH,
                    HEIGHT);
    rung_buf_puts(out, style);
    rung_buf_printf(out, "<rect class=\"back\" width=\"%d\" height=\"%d\"/>\n", WIDTH, HEIGHT);
    rung_svg_text(out, LEFT - 48, 26, "", "start", p->title);
    rung_svg_text(out, LEFT - 48, 46, "dim", "start", p->subtitle);
    put_axes(out, p, &f);
    if (p->line) put_line(out, p, &f);
    put_points(out, p, &f);
    rung_buf_puts(out, "</svg>\n");
}
