/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A certificate as a picture: two rows of tokens run into one box, what is the same, and out of it come two answers
 * that are both demanded; see explain.h.
 */
#include <string.h>

#include "rung/audit.h"
#include "rung/render.h"

enum {
    LEFT = 28,
    RIGHT = 28,
    TOP = 138, /* of the first row of tokens */
    MIDDLE = TOP + 62,
    BOTTOM = TOP + 124, /* of the second one */
    HIGH = 30,          /* of a token */
    GAP = 6,
    ARROW = 64,        /* from a row into the box, and out of it */
    BOX_HIGH = 74,     /* of what is the same */
    LEAST_WIDTH = 860, /* so that the sentences have room */
    CELLS_MOST = 14,   /* tokens of a part that is shown whole */
    DIFFER_MOST = 9,   /* differing tokens of one that is not */
    LINE = 19,
    STRIP_HIGH = 10,
};
#define LETTER 8.0 /* width of a letter of a token: 13 px, monospaced */
#define PROSE  6.9 /* of a sentence: 13 px */

static const char style[] =
    "<style>svg{font:13px system-ui,sans-serif;color-scheme:light "
    "dark}text{fill:#222}.name{font-weight:600;font-size:16px}"
    ".dim{fill:#555}.small{font-size:11px;fill:#777}.word{font-family:ui-monospace,monospace}.head{font-weight:600}"
    ".back{fill:#fff}.same{fill:#eee;stroke:#bbb}.p0{fill:#cfe2f8;stroke:#2673c9}.p1{fill:#fbd5da;stroke:#c8374f}"
    ".box{fill:#e6dcf7;stroke:#7b46c4;stroke-width:1.6}.flow{fill:none;stroke:#888;stroke-width:1.6}"
    ".f0{stroke:#2673c9}.f1{stroke:#c8374f}.strip{fill:#ddd}.tick{fill:#c8374f}.mark{fill:#7b46c4}"
    "@media(prefers-color-scheme:dark){text{fill:#eee}.dim{fill:#bbb}.small{fill:#999}.back{fill:#111}"
    ".same{fill:#2a2a2a;stroke:#555}.p0{fill:#173a5e;stroke:#6aaef5}.p1{fill:#5a1c27;stroke:#f0788c}"
    ".box{fill:#35245a;stroke:#b48cf0}.f0{stroke:#6aaef5}.f1{stroke:#f0788c}.strip{fill:#333}.tick{fill:#f0788c}"
    ".mark{fill:#b48cf0}}</style>\n";

/* ---- which tokens are shown ------------------------------------------------------------------------------------ */

/* One place of a row: a token, or several that are left out. */
typedef struct cell {
    size_t token, left_out; /* left_out > 0: so many from `token` on */
    double x, width;
} cell;

typedef struct part {
    cell cell[4 * CELLS_MOST];
    size_t count;
    double x, width;
    bool cut;
} part;

static double word_width(const rung_explained *x, size_t token)
{
    rung_buf word;
    size_t most = 1;
    for (size_t p = 0; p < x->prompts; p++) {
        rung_buf_init(&word);
        rung_explained_token(&word, x, p, token);
        if (word.len > most) most = word.len;
        rung_buf_clear(&word);
    }
    return LETTER * (double)most + 16;
}

static void put_left_out(char text[32], const cell *c)
{
    snprintf(text, 32, "%zu more", c->left_out);
}

static void add_cell(part *p, const rung_explained *x, size_t token, size_t left_out)
{
    cell *c = &p->cell[p->count++];
    *c = (cell){.token = token, .left_out = left_out, .x = p->x + p->width};
    char text[32];
    put_left_out(text, c);
    c->width = left_out ? LETTER * (double)strlen(text) + 6 : word_width(x, token);
    p->width += c->width + GAP;
}

/* Tokens [from, end): all of them when they are few, else the first ones that differ and the last one. */
static part choose_cells(const rung_explained *x, size_t from, size_t end, double left)
{
    part p = {.x = left, .cut = end - from > CELLS_MOST};
    size_t differ = 0, next = from;
    for (size_t t = from; t < end; t++) {
        bool shown = !p.cut || t + 1 == end || (rung_explained_differs(x, t) && differ++ < DIFFER_MOST);
        if (!shown && !(p.cut && x->prompts == 1 && t < from + DIFFER_MOST)) continue;
        if (t > next) add_cell(&p, x, next, t - next);
        add_cell(&p, x, t, 0);
        next = t + 1;
    }
    if (p.count) p.width -= GAP;
    return p;
}

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

static void put_rect(rung_buf *out, const char *class, double x, double y, double w, double h)
{
    rung_buf_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"5\"/>\n", class,
                    x, y, w, h);
}

static void put_flow(rung_buf *out, const char *class, double x0, double y0, double x1, double y1)
{
    double bend = (x1 - x0) / 2;
    rung_buf_printf(
        out, "<path class=\"flow %s\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1fM%.1f %.1fl-7 -4m7 4l-7 4\"/>\n",
        class, x0, y0, x0 + bend, y0, x1 - bend, y1, x1, y1, x1, y1);
}

static void put_row(rung_buf *out, const rung_explained *x, const part *p, size_t prompt, double y)
{
    static const char *const differs_class[] = {"p0", "p1"};
    for (size_t i = 0; i < p->count; i++) {
        const cell *c = &p->cell[i];
        rung_buf word;
        if (c->left_out) {
            char text[32];
            put_left_out(text, c);
            rung_svg_text(out, c->x + c->width / 2, y + 20, "small", "middle", text);
            continue;
        }
        rung_buf_init(&word);
        rung_explained_token(&word, x, prompt, c->token);
        put_rect(out, rung_explained_differs(x, c->token) ? differs_class[prompt] : "same", c->x, y, c->width, HIGH);
        rung_svg_text(out, c->x + c->width / 2, y + 20, "word", "middle", word.text ? word.text : "");
        rung_buf_clear(&word);
    }
}

static void put_positions(rung_buf *out, const part *p, double y)
{
    for (size_t i = 0; i < p->count; i++) {
        char text[24];
        if (p->cell[i].left_out) continue;
        snprintf(text, sizeof text, "%zu", p->cell[i].token);
        rung_svg_text(out, p->cell[i].x + p->cell[i].width / 2, y, "small", "middle", text);
    }
}

/* Three lines in a box whose width they determine. */
typedef struct box {
    char line[3][64];
    double width;
} box;

static box measure(box b)
{
    b.width = 0;
    for (size_t i = 0; i < 3; i++) {
        double w = LETTER * (double)strlen(b.line[i]) + 24;
        if (w > b.width) b.width = w;
    }
    return b;
}

static void put_box(rung_buf *out, const box *b, const char *class, double x, double y)
{
    put_rect(out, class, x, y, b->width, BOX_HIGH);
    rung_svg_text(out, x + b->width / 2, y + 23, "head", "middle", b->line[0]);
    rung_svg_text(out, x + b->width / 2, y + 43, "word", "middle", b->line[1]);
    rung_svg_text(out, x + b->width / 2, y + 62, "small", "middle", b->line[2]);
}

static box box_of(const rung_explained *x)
{
    const rung_cert *c = &x->cert;
    box b = {{{0}}, 0};
    const char *hex = rung_explained_hex(x);
    if (!hex) {
        rung_buf word;
        rung_buf_init(&word);
        rung_explained_answer(&word, x, c->given);
        snprintf(b.line[0], sizeof b.line[0], "the model says");
        snprintf(b.line[1], sizeof b.line[1], "%.40s", word.text ? word.text : "");
        snprintf(b.line[2], sizeof b.line[2], "in %.40s%s", x->numbers.name, strlen(x->numbers.name) > 40 ? "..." : "");
        rung_buf_clear(&word);
        return measure(b);
    }
    size_t numbers = rung_explained_numbers(x, hex);
    snprintf(b.line[0], sizeof b.line[0], c->state ? "the same state" : "the same numbers");
    snprintf(b.line[1], sizeof b.line[1], "%.20s%s", hex, strlen(hex) > 20 ? "..." : "");
    if (numbers)
        snprintf(b.line[2], sizeof b.line[2], "%zu number%s, %zu bits", numbers, numbers == 1 ? "" : "s",
                 numbers * (size_t)x->numbers.acc.bits);
    return measure(b);
}

/* ---- the picture ----------------------------------------------------------------------------------------------- */

static double put_answer(rung_buf *out, const rung_explained *x, size_t prompt, double left, double y)
{
    rung_buf word;
    rung_buf_init(&word);
    rung_explained_answer(&word, x, x->cert.right[prompt]);
    double width = LETTER * (double)(word.len + 7) + 20;
    put_rect(out, prompt ? "p1" : "p0", left, y, width, HIGH);
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_printf(&text, "right: %s", word.text ? word.text : "");
    rung_svg_text(out, left + width / 2, y + 20, "word", "middle", text.text ? text.text : "");
    rung_buf_clear(&text);
    rung_buf_clear(&word);
    return left + width;
}

/* From the left to the right; returns where it ends. */
static double put_story(rung_buf *out, const rung_explained *x, bool *cut)
{
    bool pair = x->prompts == 2;
    size_t merge = rung_explained_merge(x);
    part before = choose_cells(x, 0, merge, LEFT);
    box same = box_of(x);
    double row[2] = {TOP, BOTTOM}, middle = pair ? MIDDLE : TOP, axis = middle + HIGH / 2.0;
    double box_x = LEFT + before.width + ARROW;
    part after = choose_cells(x, merge, x->cert.tokens, box_x + same.width + ARROW / 2.0);
    double end = after.count ? after.x + after.width : box_x + same.width;
    *cut = before.cut || after.cut;
    for (size_t p = 0; p < x->prompts; p++) {
        char label[24];
        snprintf(label, sizeof label, pair ? "prompt %zu" : "prompt", p + 1);
        rung_svg_text(out, LEFT, row[p] + (p ? HIGH + 18 : -22), "head", "start", label);
        put_row(out, x, &before, p, row[p]);
        put_flow(out, !pair ? "" : p ? "f1" : "f0", LEFT + before.width + 4, row[p] + HIGH / 2.0, box_x - 3, axis);
    }
    put_positions(out, &before, row[0] - 6);
    put_box(out, &same, "box", box_x, axis - BOX_HIGH / 2.0);
    if (after.count) {
        put_flow(out, "", box_x + same.width + 3, axis, after.x - 3, axis);
        put_row(out, x, &after, 0, middle);
        put_positions(out, &after, middle - 6);
    }
    double right = end;
    for (size_t p = 0; p < x->prompts; p++) {
        put_flow(out, !pair ? "" : p ? "f1" : "f0", end + 4, axis, end + ARROW - 3, row[p] + HIGH / 2.0);
        double edge = put_answer(out, x, p, end + ARROW, row[p]);
        if (edge > right) right = edge;
    }
    return right;
}

/* The whole prompt as one bar, where the rows above leave tokens out. */
static void put_strip(rung_buf *out, const rung_explained *x, double width, double y)
{
    double inside = width - LEFT - RIGHT, step = inside / (double)x->cert.tokens;
    size_t merge = rung_explained_merge(x);
    char text[64];
    snprintf(text, sizeof text, "all %zu tokens; %zu differ", x->cert.tokens, x->differ);
    rung_svg_text(out, LEFT, y - 8, "small", "start", text);
    put_rect(out, "strip", LEFT, y, inside, STRIP_HIGH);
    for (size_t t = 0, stop; t < x->cert.tokens; t = stop) {
        for (stop = t + 1; stop < x->cert.tokens && rung_explained_differs(x, stop) == rung_explained_differs(x, t);)
            stop++;
        if (!rung_explained_differs(x, t)) continue;
        double w = step * (double)(stop - t);
        put_rect(out, "tick", LEFT + step * (double)t, y, w < 1.5 ? 1.5 : w, STRIP_HIGH);
    }
    if (merge < x->cert.tokens) put_rect(out, "mark", LEFT + step * (double)merge - 1, y - 4, 2, STRIP_HIGH + 8);
}

/* Sentences, broken into lines; returns the y below. */
static double put_prose(rung_buf *out, const char *text, const char *class, double width, double y)
{
    size_t most = (size_t)((width - LEFT - RIGHT) / PROSE);
    while (*text) {
        size_t len = strlen(text), take = len;
        if (len > most) {
            for (take = most; take > 0 && text[take] != ' ';) take--;
            if (take == 0) take = most;
        }
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)take, text);
        rung_svg_text(out, LEFT, y, class, "start", line);
        y += LINE;
        text += take;
        while (*text == ' ') text++;
    }
    return y;
}

static double put_texts(rung_buf *out, const rung_explained *x, double width, double y)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_explained_equal(&text, x);
    y = put_prose(out, text.text ? text.text : "", "dim", width, y);
    y = put_prose(out, rung_explained_so(x), "dim", width, y);
    if (x->fault[0]) {
        rung_buf_reset(&text);
        rung_buf_printf(&text, "BUT: %s", x->fault);
        y = put_prose(out, text.text ? text.text : "", "head", width, y);
    }
    out->failed = out->failed || text.failed;
    rung_buf_clear(&text);
    return y;
}

static void put_title(rung_buf *out, const rung_explained *x, double width)
{
    rung_buf line;
    size_t most = (size_t)((width - LEFT - RIGHT) / PROSE);
    rung_buf_init(&line);
    rung_buf_printf(&line, "%s: %s", rung_cert_kind_names[x->cert.kind - 1], rung_explained_title(x));
    rung_svg_text(out, LEFT, 34, "name", "start", line.text ? line.text : "");
    rung_buf_reset(&line);
    rung_buf_printf(&line, "%s in %s", x->cert.arch, x->numbers.name);
    if (line.text && line.len > most) strcpy(line.text + most - 3, "...");
    rung_svg_text(out, LEFT, 56, "dim", "start", line.text ? line.text : "");
    rung_buf_reset(&line);
    rung_buf_puts(&line, x->cert.task);
    if (line.text && line.len > most) strcpy(line.text + most - 3, "...");
    rung_svg_text(out, LEFT, 75, "dim", "start", line.text ? line.text : "");
    out->failed = out->failed || line.failed;
    rung_buf_clear(&line);
}

void rung_explain_svg(rung_buf *out, const rung_explained *x)
{
    rung_buf body;
    bool cut;
    rung_buf_init(&body);
    double width = put_story(&body, x, &cut) + RIGHT;
    if (width < LEAST_WIDTH) width = LEAST_WIDTH;
    put_title(&body, x, width);
    double y = (x->prompts == 2 ? BOTTOM : TOP + 16) + HIGH + 54;
    if (cut && x->prompts == 2) {
        put_strip(&body, x, width, y);
        y += STRIP_HIGH + 34;
    }
    double height = put_texts(&body, x, width, y) + 10;
    rung_buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n", width,
                    height);
    rung_buf_puts(out, style);
    rung_buf_printf(out, "<rect class=\"back\" width=\"%.0f\" height=\"%.0f\"/>\n", width, height);
    rung_buf_add(out, body.text, body.len);
    rung_buf_puts(out, "</svg>\n");
    out->failed = out->failed || body.failed;
    rung_buf_clear(&body);
}
