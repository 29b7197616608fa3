/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The picture of `rung protocol`: the players in a line, below them a lane for every layer, and in it what goes from
 * one to the next, as wide as the logarithm of its bits.
 */
#include <math.h>
#include <string.h>

#include "played.h"
#include "rung/render.h"

enum {
    WIDTH = 1000,
    LEFT = 150, /* names of the layers */
    RIGHT = 30,
    HEAD = 96, /* title, what it is, legend */
    BOX = 62,  /* a player */
    LANE = 80,
    FOOT = 84,
    SHOWN = 9, /* players; of more the first and the last */
    SHOWN_FIRST = 3,
    BAND_MIN = 3,
    BAND_MAX = 17,
    BANDS_MAX = 28
};

static const char style[] =
    "<style>svg{font:14px system-ui,sans-serif;color-scheme:light dark}text{fill:#222}.name{font-weight:600}"
    ".title{font-size:17px;font-weight:600}.small{font-size:12px;fill:#666}.bits{font-size:13px;font-weight:600}"
    ".back{fill:#fff}.box{fill:#f3f4f6;stroke:#9aa1ab}.lane{fill:#8881}.line{stroke:#8886;stroke-width:1;stroke-"
    "dasharray:2 4}"
    ".knot{fill:#fff;stroke:#777;stroke-width:1.5}.asks{fill:#222;stroke:#222}"
    ".k0{fill:#2673c9;stroke:#2673c9}.k1{fill:#c8374f;stroke:#c8374f}.k2{fill:#7b46c4;stroke:#7b46c4}"
    ".k3{fill:#b277e8;stroke:#b277e8}.k4{fill:#d49a00;stroke:#d49a00}"
    "@media(prefers-color-scheme:dark){text{fill:#eee}.small{fill:#aaa}.back{fill:#111}.box{fill:#1d2127;stroke:#"
    "666e79}"
    ".knot{fill:#111;stroke:#aaa}.asks{fill:#eee;stroke:#eee}"
    ".k0{fill:#6aaef5;stroke:#6aaef5}.k1{fill:#f0788c;stroke:#f0788c}.k2{fill:#b48cf0;stroke:#b48cf0}"
    ".k3{fill:#d5b3fa;stroke:#d5b3fa}.k4{fill:#f0c04a;stroke:#f0c04a}}"
    ".band{stroke:none}.arc{fill:none;stroke-width:1.6;stroke-opacity:.8}</style>\n";

static const char *const kind_names[RUNG_SENT_COUNTED] = {"state", "accumulators (m, den, num)", "summaries of blocks",
                                                          "opened blocks", "window"};

/* ---- where things are ------------------------------------------------------------------------------------------ */

typedef struct frame {
    const rung_played *p;
    size_t columns;     /* players that are shown, and dots */
    double step, first; /* between columns */
    double low, high;   /* log2 of the bits of a band */
} frame;

/* The player in a column, SIZE_MAX for dots. */
static size_t player_in(const frame *f, size_t column)
{
    if (f->p->players <= SHOWN || column < SHOWN_FIRST) return column;
    return column == SHOWN_FIRST ? SIZE_MAX : f->p->players - (f->columns - column);
}

static double column_x(const frame *f, size_t column)
{
    return f->first + f->step * (double)column;
}

/* The column of a player, SIZE_MAX if it is not shown. */
static size_t column_of(const frame *f, size_t player)
{
    for (size_t c = 0; c < f->columns; c++)
        if (player_in(f, c) == player) return c;
    return SIZE_MAX;
}

static frame frame_of(const rung_played *p)
{
    frame f = {.p = p, .columns = p->players < SHOWN ? p->players : SHOWN, .low = INFINITY, .high = -INFINITY};
    f.step = fmin(340, (WIDTH - LEFT - RIGHT) / (double)f.columns);
    f.first = LEFT + (WIDTH - LEFT - RIGHT - f.step * (double)f.columns) / 2 + f.step / 2;
    for (size_t i = 0; i < p->transcript.layers * p->transcript.cuts * RUNG_SENT_COUNTED; i++) {
        if (!p->transcript.bits[i]) continue;
        f.low = fmin(f.low, log2((double)p->transcript.bits[i]));
        f.high = fmax(f.high, log2((double)p->transcript.bits[i]));
    }
    return f;
}

static double band_of(const frame *f, uint64_t bits)
{
    if (!bits) return 0;
    double share = f->high > f->low ? (log2((double)bits) - f->low) / (f->high - f->low) : 0.5;
    return BAND_MIN + share * (BAND_MAX - BAND_MIN);
}

/* ---- players --------------------------------------------------------------------------------------------------- */

static bool is_asked(const rung_played *p, size_t player)
{
    const rung_span *span = &p->player[player];
    for (size_t i = 0; i < p->asked; i++)
        if (p->at[i] >= span->start && p->at[i] < span->start + span->len) return true;
    return false;
}

static void put_player(rung_buf *out, const frame *f, size_t column, double y)
{
    size_t player = player_in(f, column);
    double x = column_x(f, column), wide = fmin(190, f->step * 0.82);
    char tokens[48];
    rung_buf words;
    if (player == SIZE_MAX) {
        rung_svg_text(out, x, y + BOX / 2.0 + 5, "name", "middle", "...");
        return;
    }
    const rung_span *span = &f->p->player[player];
    rung_buf_init(&words);
    rung_played_words(&words, f->p, player, (size_t)(wide / 7.2));
    snprintf(tokens, sizeof tokens, "%zu token%s", span->len, span->len == 1 ? "" : "s");
    rung_buf_printf(out, "<rect class=\"box\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"8\"/>\n",
                    x - wide / 2, y, wide, BOX);
    rung_svg_text(out, x, y + 20, "name", "middle", span->name);
    rung_svg_text(out, x, y + 37, "small", "middle", tokens);
    if (words.text) rung_svg_text(out, x, y + 53, "small", "middle", words.text);
    out->failed = out->failed || words.failed;
    rung_buf_clear(&words);
}

/* ---- lanes ----------------------------------------------------------------------------------------------------- */

/* 1234567 as "1 234 567", with a narrow space. */
static void put_grouped(char *out, size_t size, uint64_t number)
{
    char digits[24];
    size_t len = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number), at = 0;
    for (size_t i = 0; i < len && at + 5 < size; i++) {
        if (i && (len - i) % 3 == 0) at += (size_t)snprintf(out + at, size - at, "\u202f");
        out[at++] = digits[i];
    }
    out[at] = 0;
}

/* "3 tokens x 80" where a token's accumulators are some bits each. */
static void put_detail(rung_buf *out, const frame *f, size_t layer, size_t cut, double x, double y)
{
    uint64_t bits = rung_played_bits(f->p, layer, cut, RUNG_SENT_ACCUMULATORS);
    size_t tokens = audit_receivers(f->p, layer, f->p->player[cut + 1].start);
    char text[64];
    if (!bits || tokens < 2) return;
    snprintf(text, sizeof text, "%zu%s × %llu", tokens, f->step < 150 ? "" : " tokens",
             (unsigned long long)(bits / tokens));
    rung_svg_text(out, x, y, "small", "middle", text);
}

/* Bands above each other must stay in their lane. */
static double band_height(const frame *f, size_t layer, size_t cut, double *scale)
{
    double all = 0;
    for (size_t w = 0; w < RUNG_SENT_COUNTED; w++) all += band_of(f, rung_played_bits(f->p, layer, cut, (rung_sent)w));
    *scale = all > BANDS_MAX ? BANDS_MAX / all : 1;
    return all * *scale;
}

/* Bands of all kinds from x to `to`, one above the other around y, with a head each. */
static void put_bands(rung_buf *out, const frame *f, size_t layer, size_t cut, double x, double to, double y)
{
    double scale, all = band_height(f, layer, cut, &scale), head = fmin(9, (to - x) / 3), top = y - all / 2;
    rung_buf_printf(out, "<g><title>layer %zu, from %s to %s:", layer, f->p->player[cut].name,
                    f->p->player[cut + 1].name);
    for (size_t w = 0; w < RUNG_SENT_COUNTED; w++)
        if (rung_played_bits(f->p, layer, cut, (rung_sent)w))
            rung_buf_printf(out, " %s %llu bits", rung_sent_names[w],
                            (unsigned long long)rung_played_bits(f->p, layer, cut, (rung_sent)w));
    rung_buf_puts(out, "</title>\n");
    for (size_t w = 0; w < RUNG_SENT_COUNTED; w++) {
        double h = scale * band_of(f, rung_played_bits(f->p, layer, cut, (rung_sent)w)), m = top + h / 2,
               out_by = fmin(3, h / 2);
        if (h <= 0) continue;
        rung_buf_printf(out, "<path class=\"band k%zu\" d=\"M%.1f %.1fH%.1fV%.1fL%.1f %.1fL%.1f %.1fV%.1fH%.1fZ\"/>\n",
                        w, x, top + 0.5, to - head, top - out_by, to, m, to - head, top + h + out_by, top + h - 0.5, x);
        top += h;
    }
    rung_buf_puts(out, "</g>\n");
}

static void put_cut(rung_buf *out, const frame *f, size_t layer, size_t column, double y)
{
    size_t from = player_in(f, column), to = player_in(f, column + 1);
    double left = column_x(f, column) + 12, right = column_x(f, column + 1) - 12;
    char text[48];
    double scale;
    if (from == SIZE_MAX || to == SIZE_MAX) {
        rung_buf_printf(out, "<line class=\"line\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", left, right, y,
                        y);
        return;
    }
    uint64_t bits = rung_transcript_bits(&f->p->transcript, layer, from);
    if (!bits) return;
    put_bands(out, f, layer, from, left, right, y);
    put_grouped(text, sizeof text, bits);
    rung_svg_text(out, (left + right) / 2, y - fmax(16, band_height(f, layer, from, &scale) / 2 + 7), "bits", "middle",
                  text);
    put_detail(out, f, layer, from, (left + right) / 2, y + 24);
}

/* What the last player has opened in this layer: an arc from each block. */
static void put_opened(rung_buf *out, const frame *f, size_t layer, double y)
{
    size_t last = f->columns - 1;
    for (size_t i = 0; i < f->p->opened_count; i++) {
        const rung_letter *letter = &f->p->opened[i];
        size_t column = column_of(f, letter->from);
        if (letter->layer != layer || letter->to + 1 != f->p->players || column == SIZE_MAX || column + 1 >= last)
            continue;
        double x = column_x(f, column), to = column_x(f, last),
               low = y + 24 + 13 * (double)(last - column) / (double)last;
        rung_buf_printf(out, "<path class=\"arc k3\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"/>\n", x, y + 8, x,
                        low, to, low, to, y + 8);
    }
}

static void put_lane(rung_buf *out, const frame *f, size_t layer, double y)
{
    const rung_played *p = f->p;
    bool last = layer + 1 == p->transcript.layers;
    double middle = y + LANE / 2.0;
    char name[32];
    rung_buf mechanisms;
    rung_buf_init(&mechanisms);
    rung_played_mechanisms(&mechanisms, p, layer);
    snprintf(name, sizeof name, "layer %zu", layer);
    rung_buf_printf(out, "<rect class=\"lane\" x=\"16\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", y + 3,
                    WIDTH - 32, LANE - 6);
    rung_svg_text(out, 30, middle - 2, "name", "start", name);
    if (mechanisms.text) rung_svg_text(out, 30, middle + 15, "small", "start", mechanisms.text);
    put_opened(out, f, layer, middle);
    for (size_t c = 0; c + 1 < f->columns; c++) put_cut(out, f, layer, c, middle);
    for (size_t c = 0; c < f->columns; c++)
        if (player_in(f, c) != SIZE_MAX)
            rung_buf_printf(out, "<circle class=\"knot%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"7\"/>\n",
                            last && is_asked(p, player_in(f, c)) ? " asks" : "", column_x(f, c), middle);
    out->failed = out->failed || mechanisms.failed;
    rung_buf_clear(&mechanisms);
}

/* ---- around them ----------------------------------------------------------------------------------------------- */

static void put_head(rung_buf *out, const rung_played *p)
{
    double x = 30;
    rung_buf line;
    rung_buf_init(&line);
    rung_buf_printf(&line, "%s as players and messages", rung_model_get_spec(p->play.model)->arch);
    if (line.text) rung_svg_text(out, 30, 32, "title", "start", line.text);
    rung_buf_reset(&line);
    rung_task_canonical(&line, p->play.task);
    rung_buf_printf(&line, ", every number in %d bits (%s)", p->play.how->numbers->bits, p->play.how->numbers->name);
    if (line.text) rung_svg_text(out, 30, 54, "small", "start", line.text);
    for (size_t w = 0; w < RUNG_SENT_COUNTED; w++) {
        if (!p->transcript.sent[w]) continue;
        rung_buf_printf(out, "<rect class=\"band k%zu\" x=\"%.1f\" y=\"68\" width=\"22\" height=\"9\" rx=\"2\"/>\n", w,
                        x);
        rung_svg_text(out, x + 29, 77, "small", "start", kind_names[w]);
        x += 54 + 6.4 * (double)strlen(kind_names[w]);
    }
    rung_buf_printf(out, "<circle class=\"knot asks\" cx=\"%.1f\" cy=\"73\" r=\"5\"/>\n", x + 6);
    rung_svg_text(out, x + 18, 77, "small", "start", "is asked");
    out->failed = out->failed || line.failed;
    rung_buf_clear(&line);
}

static void put_totals(rung_buf *out, const frame *f, double y)
{
    const rung_transcript *t = &f->p->transcript;
    rung_svg_text(out, 30, y, "name", "start", "all layers");
    for (size_t c = 0; c + 1 < f->columns; c++) {
        uint64_t bits = 0;
        size_t from = player_in(f, c);
        char text[48];
        if (from == SIZE_MAX || player_in(f, c + 1) == SIZE_MAX) continue;
        for (size_t l = 0; l < t->layers; l++) bits += rung_transcript_bits(t, l, from);
        put_grouped(text, sizeof text, bits);
        rung_svg_text(out, (column_x(f, c) + column_x(f, c + 1)) / 2, y, "bits", "middle", text);
    }
}

static void put_foot(rung_buf *out, const rung_played *p, double y)
{
    char total[48], text[256];
    put_grouped(total, sizeof total, rung_transcript_total(&p->transcript));
    snprintf(text, sizeof text,
             "%s bits in all; numbers between players are bits over that cut, bands grow with their logarithm", total);
    rung_svg_text(out, 30, y, "small", "start", text);
    snprintf(text, sizeof text,
             "read-outs and states are those of the evaluator that sees the whole prompt, bit for bit%s",
             p->agreement == RUNG_LEDGER_EQUAL ? "; the bits equal the ledger of rung bound" : "");
    rung_svg_text(out, 30, y + 18, "small", "start", text);
}

void rung_played_svg(rung_buf *out, const rung_played *p)
{
    frame f = frame_of(p);
    double lanes = HEAD + BOX + 14, end = lanes + (double)(p->transcript.layers * LANE);
    int height = (int)end + FOOT;
    rung_buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH,
                    height);
    rung_buf_puts(out, style);
    rung_buf_printf(out, "<rect class=\"back\" width=\"%d\" height=\"%d\"/>\n", WIDTH, height);
    put_head(out, p);
    for (size_t c = 0; c < f.columns; c++)
        if (player_in(&f, c) != SIZE_MAX)
            rung_buf_printf(out, "<line class=\"line\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/>\n",
                            column_x(&f, c), column_x(&f, c), HEAD + BOX, end - LANE / 2.0);
    for (size_t c = 0; c < f.columns; c++) put_player(out, &f, c, HEAD);
    for (size_t l = 0; l < p->transcript.layers; l++) put_lane(out, &f, l, lanes + (double)(l * LANE));
    put_totals(out, &f, end + 22);
    put_foot(out, p, end + 50);
    rung_buf_puts(out, "</svg>\n");
}
