/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Two pictures side by side: how far the state is off by tokens, measured and proved; and the pairs that are still read
 * by their age.
 */
#include <math.h>
#include <string.h>

#include "drift_inside.h"
#include "rung/render.h"

enum { PANEL = 480, WIDTH = 2 * PANEL, HEIGHT = 532, LEFT = 64, RIGHT = 20, TOP = 104, BOTTOM = 150, LINE = 18 };

static const char style[] =
    "<style>svg{font:13px system-ui,sans-serif;color-scheme:light "
    "dark}text{fill:#222}.t{font-size:16px;font-weight:600}"
    ".dim{fill:#666}.axis{stroke:#888}.grid{stroke:#8883}.back{fill:#fff}path{fill:none;stroke-width:2}"
    ".l0{stroke:#2673c9}.l1{stroke:#c8374f}.l2{stroke:#1f8a55}.l3{stroke:#a86a00}.l4{stroke:#7b46c4}"
    ".l5{stroke:#0d8a96}.l6{stroke:#b8388f}.l7{stroke:#5a6b7b}.dash{stroke-dasharray:6 4}.dot{stroke-dasharray:2 3}"
    "@media(prefers-color-scheme:dark){text{fill:#eee}.dim{fill:#aaa}.back{fill:#141414}.l0{stroke:#6aaef5}"
    ".l1{stroke:#f0788c}.l2{stroke:#57c98f}.l3{stroke:#e8b04a}.l4{stroke:#b48cf0}.l5{stroke:#52cbd6}"
    ".l6{stroke:#f088cf}.l7{stroke:#a9bac9}}</style>\n";
enum { COLOURS = 8 };

/* A panel: x from x0 to x1 on a logarithmic axis; y from y0 to y1, logarithmic (powers of ten) or not. */
typedef struct panel {
    rung_buf *out;
    double left, x0, x1, y0, y1;
    bool log_y;
    size_t names, columns; /* of the legend, so far; beside each other */
} panel;

static double px(const panel *p, double x)
{
    return p->left + LEFT + (log2(x) - log2(p->x0)) / (log2(p->x1) - log2(p->x0)) * (PANEL - LEFT - RIGHT);
}

static double py(const panel *p, double y)
{
    const double at =
        p->log_y ? (log10(y) - log10(p->y0)) / (log10(p->y1) - log10(p->y0)) : (y - p->y0) / (p->y1 - p->y0);
    return HEIGHT - BOTTOM - at * (HEIGHT - TOP - BOTTOM);
}

static void put_grid_y(const panel *p, double y, const char *name)
{
    rung_buf_printf(p->out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", p->left + LEFT,
                    p->left + PANEL - RIGHT, py(p, y), py(p, y));
    rung_svg_text(p->out, p->left + LEFT - 6, py(p, y) + 4, "dim", "end", name);
}

static void put_axes(const panel *p, const char *title, const char *x_name)
{
    char name[32];
    rung_svg_text(p->out, p->left + 16, 80, "t", "start", title);
    rung_buf_printf(p->out, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", p->left + LEFT,
                    p->left + PANEL - RIGHT, HEIGHT - BOTTOM, HEIGHT - BOTTOM);
    for (double x = exp2(ceil(log2(p->x0))); x <= p->x1 * 1.001; x *= 4) {
        snprintf(name, sizeof name, "%.0f", x);
        rung_svg_text(p->out, px(p, x), HEIGHT - BOTTOM + 18, "dim", "middle", name);
    }
    rung_svg_text(p->out, p->left + (PANEL + LEFT) / 2, HEIGHT - BOTTOM + 36, "dim", "middle", x_name);
    const double decades = p->log_y ? log10(p->y1 / p->y0) : 0, every = ceil(decades / 8);
    for (double e = log10(p->y0); p->log_y && e <= log10(p->y1) + 0.5; e += every) {
        snprintf(name, sizeof name, "1e%.0f", e);
        put_grid_y(p, pow(10, round(e)), name);
    }
    for (int i = 0; !p->log_y && i <= 4; i++) {
        snprintf(name, sizeof name, "%d %%", 25 * i);
        put_grid_y(p, p->y0 + (p->y1 - p->y0) * i / 4, name);
    }
}

/* Points outside of the panel end a piece of the line. */
static void put_line(panel *p, const char *name, size_t colour, const char *dash, const size_t *x, const double *y,
                     size_t n)
{
    bool open = false;
    rung_buf_printf(p->out, "<path class=\"l%zu %s\" d=\"", colour % COLOURS, dash);
    for (size_t i = 0; i < n; i++) {
        const bool inside = y[i] >= p->y0 && y[i] <= p->y1;
        if (inside) rung_buf_printf(p->out, "%s%.1f %.1f", open ? "L" : "M", px(p, (double)x[i]), py(p, y[i]));
        open = inside;
    }
    rung_buf_puts(p->out, "\"/>\n");
    const size_t row = p->names / p->columns, column = p->names % p->columns;
    const double left = p->left + 20 + (double)column * (PANEL - 30) / (double)p->columns,
                 top = HEIGHT - BOTTOM + 58 + (double)row * LINE;
    rung_buf_printf(p->out, "<path class=\"l%zu %s\" d=\"M%.1f %.1fh26\"/>\n", colour % COLOURS, dash, left, top - 4);
    rung_svg_text(p->out, left + 32, top, "", "start", name);
    p->names++;
}

static void widen(panel *p, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (y[i] > 0 && y[i] < INFINITY) p->y0 = fmin(p->y0, y[i]), p->y1 = fmax(p->y1, y[i]);
}

static void put_errors(rung_buf *out, const rung_drift *d)
{
    panel p = {.out = out, .x0 = (double)d->at[0], .x1 = (double)d->at[d->points - 1], .log_y = true, .columns = 3};
    p.y0 = INFINITY, p.y1 = 0;
    for (size_t i = 0; i < d->parts; i++) widen(&p, d->part[i].state, d->points);
    widen(&p, d->proof.run, d->points);
    widen(&p, d->proof.theorem, d->points);
    p.y1 = fmin(p.y1, 1e3); /* a bound beyond that says nothing */
    if (!(p.y1 > 0)) p.y0 = 0.1, p.y1 = 1;
    p.y0 = pow(10, floor(log10(p.y0))), p.y1 = pow(10, ceil(log10(p.y1 * 1.001)));
    if (p.x1 <= p.x0) p.x1 = 2 * p.x0;
    put_axes(&p, "State off by, relative to its norm", "tokens");
    if (d->proof.applies) put_line(&p, "proved, this run", 0, "dash", d->at, d->proof.run, d->points);
    if (d->proof.applies) put_line(&p, "theorem", 0, "dot", d->at, d->proof.theorem, d->points);
    for (size_t i = 0; i < d->parts; i++) put_line(&p, d->part[i].name, i, "", d->at, d->part[i].state, d->points);
}

static void put_recall(rung_buf *out, const rung_drift *d)
{
    double share[RUNG_DRIFT_AGES], decay = NAN;
    char name[64];
    size_t colour = 0;
    panel p = {
        .out = out, .left = PANEL, .x0 = (double)d->age[0], .x1 = (double)d->age[d->ages - 1], .y1 = 1, .columns = 2};
    if (p.x1 <= p.x0) p.x1 = 2 * p.x0;
    put_axes(&p, "Pairs that are still read", "tokens after the pairs");
    for (size_t i = 0; i < d->curves; i++) {
        const rung_drift_curve *c = &d->curve[i];
        const bool all = strcmp(c->name, "all") == 0, wide = strcmp(c->name, "f64") == 0;
        if (!all && !wide) continue;
        if (c->decay != decay) colour = isnan(decay) ? 0 : colour + 1, decay = c->decay;
        for (size_t a = 0; a < d->ages; a++) share[a] = (double)c->kept[a] / (double)d->pairs;
        snprintf(name, sizeof name, "%s, decay %g", c->name, c->decay);
        put_line(&p, name, colour, wide ? "dot" : "", d->age, share, d->ages);
    }
}

void rung_drift_svg(rung_buf *out, const rung_drift *d)
{
    char title[160];
    rung_buf_printf(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                    "role=\"img\">\n%s<rect class=\"back\" width=\"100%%\" height=\"100%%\"/>\n",
                    WIDTH, HEIGHT, WIDTH, HEIGHT, style);
    snprintf(title, sizeof title, "%s, %zu head%s of %zu by %zu, %s inputs", d->conf->mech->name, d->conf->heads,
             d->conf->heads == 1 ? "" : "s", d->conf->dk, d->conf->dv, rung_drift_source_names[d->inputs]);
    rung_svg_text(out, 16, 28, "t", "start", title);
    rung_svg_text(out, 16, 48, "dim", "start", d->numbers);
    put_errors(out, d);
    if (d->curves) put_recall(out, d);
    rung_buf_puts(out, "</svg>\n");
}
