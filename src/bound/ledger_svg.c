/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The layers of several claims as one picture.
 */
#include <math.h>
#include <string.h>

#include "rung/bound.h"

enum {
    WIDTH = 1000,
    LEFT = 84,
    RIGHT = 24,
    HEAD = 92,     /* title and legend */
    CAPTION = 72,  /* three lines above a panel */
    SCALE = 92,    /* of the largest bar, up and down */
    OPEN = 26,     /* above the largest bar: the title of the axis */
    FOOT = 44,     /* numbers of the layers, and room */
    BAR_MAX = 34,  /* so that two layers are not two walls */
    TEXT_MAX = 112 /* characters of a caption */
};

typedef enum kind { FULL, RECURRENT, WINDOW, CHUNK, SPARSE, MLP, KINDS } kind;
static const char *const kind_names[KINDS] = {"full", "recurrent", "window", "chunk", "sparse", "no token mixing"};

/* What a bar looks like comes last: rules of equal weight override what is before them, the colours of the dark too. */
static const char style[] =
    "<style>svg{font:14px system-ui,sans-serif;color-scheme:light dark}text{fill:#222}.dim{fill:#666}"
    ".name{font-weight:600}.small{font-size:12px;fill:#666}.back{fill:#fff}.axis{stroke:#888}.grid{stroke:#8883}"
    ".k0{fill:#c8374f;stroke:#c8374f}.k1{fill:#2673c9;stroke:#2673c9}.k2{fill:#d49a00;stroke:#d49a00}"
    ".k3{fill:#8a6d1f;stroke:#8a6d1f}.k4{fill:#7b46c4;stroke:#7b46c4}.k5{fill:#999;stroke:#999}"
    "@media(prefers-color-scheme:dark){text{fill:#eee}.dim,.small{fill:#aaa}.back{fill:#111}"
    ".k0{fill:#f0788c;stroke:#f0788c}.k1{fill:#6aaef5;stroke:#6aaef5}.k2{fill:#f0c04a;stroke:#f0c04a}"
    ".k3{fill:#c9a953;stroke:#c9a953}.k4{fill:#b48cf0;stroke:#b48cf0}}"
    ".bar{stroke:none}.cross{stroke:none;fill-opacity:.55}.open{stroke-width:1;fill-opacity:.3}"
    "</style>\n";

/* 1572864 bytes as "1.5 MiB". */
static void put_bytes(char *out, size_t size, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    while (bytes >= 1023.5 && unit + 1 < RUNG_COUNT(units)) bytes /= 1024, unit++;
    snprintf(out, size, bytes < 9.95 && bytes != floor(bytes) ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

/* ---- what a layer is made of ----------------------------------------------------------------------------------- */

typedef struct part {
    kind kind;
    double holds;   /* bytes at the context */
    double foot;    /* bytes of one token, if it grows */
    double crosses; /* bytes */
} part;

enum { PARTS_MAX = 4 };

static double filled(const rung_ledger_layer *held, uint64_t tokens)
{
    return held->window_size > tokens ? (double)tokens / (double)held->window_size : 1;
}

static size_t parts_of(part out[PARTS_MAX], const rung_ledger_layer *held, const rung_ledger_shown *shown)
{
    size_t count = 0;
    const rung_arithmetic *numbers = rung_claim_arithmetic(shown->claim);
    double each = numbers->state_bits / 8.0, cached = numbers->cache_bits / 8.0, tokens = (double)shown->tokens;
    double state =
        ((double)held->state_elements + (double)held->extra_elements) * each + (double)held->conv_elements * cached;
    double window = (double)held->window_elements * cached * filled(held, shown->tokens);
    double cache = ((double)held->kv_per_token + (double)held->index_elements) * cached;
    double message = (double)rung_layer_bits_of(held, numbers).message / 8;
    if (held->recurrent || state > 0) out[count++] = (part){RECURRENT, state, 0, state};
    if (held->window || held->chunk) out[count++] = (part){held->window ? WINDOW : CHUNK, window, 0, window};
    if (held->full) out[count++] = (part){FULL, cache * tokens, cache, message};
    if (held->sparse) out[count++] = (part){SPARSE, cache * tokens, cache, 0};
    if (!count) out[count++] = (part){.kind = MLP};
    return count;
}

/* The logarithmic scale of all panels, and the kinds that occur. */
typedef struct scale {
    double low, high; /* log2 of bytes */
    bool has[KINDS];
} scale;

static void widen(scale *s, double bytes)
{
    if (bytes <= 0) return;
    s->low = fmin(s->low, log2(bytes)), s->high = fmax(s->high, log2(bytes));
}

static scale scale_of(const rung_ledger_shown *inputs, size_t count)
{
    scale s = {INFINITY, -INFINITY, {false}};
    for (size_t i = 0; i < count; i++)
        for (size_t l = 0; l < rung_claim_ledger(inputs[i].claim)->layer_count; l++) {
            part parts[PARTS_MAX];
            size_t n = parts_of(parts, &rung_claim_ledger(inputs[i].claim)->layer[l], &inputs[i]);
            for (size_t k = 0; k < n; k++) {
                s.has[parts[k].kind] = true;
                widen(&s, parts[k].holds), widen(&s, parts[k].foot), widen(&s, parts[k].crosses);
            }
        }
    if (!(s.low <= s.high)) s.low = 0, s.high = 1;
    s.low = fmax(0, floor(s.low) - 2), s.high = ceil(s.high); /* the smallest bar is still one */
    if (s.high - s.low < 4) s.high = s.low + 4;
    return s;
}

static double height_of(const scale *s, double bytes)
{
    return bytes > 0 ? fmax(1.5, (log2(bytes) - s->low) / (s->high - s->low) * SCALE) : 0;
}

/* ---- drawing --------------------------------------------------------------------------------------------------- */

static void put_rect(rung_buf *out, const char *class, kind k, double x, double y, double w, double h)
{
    if (h <= 0) return;
    rung_buf_printf(out, "<rect class=\"%s k%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n", class, k, x,
                    y, w, h);
}

static void put_part(rung_buf *out, const part *p, const scale *s, double x, double w, double base)
{
    double up = height_of(s, p->holds), foot = height_of(s, p->foot), down = height_of(s, p->crosses);
    if (p->kind == MLP) put_rect(out, "bar", MLP, x, base - 2, w, 4);
    if (foot > 0) put_rect(out, "open", p->kind, x, base - up, w, up);
    put_rect(out, "bar", p->kind, x, base - (foot > 0 ? foot : up), w, foot > 0 ? foot : up);
    put_rect(out, "cross", p->kind, x, base + 1, w, down);
}

/* The text that a pointer that rests on the layer shows. */
static void put_hint(rung_buf *out, const rung_ledger_layer *held, size_t index, const rung_arithmetic *numbers)
{
    rung_layer_bits b = rung_layer_bits_of(held, numbers);
    rung_buf_printf(out, "<title>layer %zu: %s", index + 1, held->mechanism[0] ? held->mechanism : "mlp");
    if (b.carried) rung_buf_printf(out, ", carries %llu bits", (unsigned long long)b.carried);
    if (held->kv_per_token)
        rung_buf_printf(out, ", cache grows by %llu elements per token", (unsigned long long)held->kv_per_token);
    if (b.message) rung_buf_printf(out, ", hands %llu bits to a token", (unsigned long long)b.message);
    rung_buf_puts(out, "</title>\n");
}

static void put_layers(rung_buf *out, const rung_ledger_shown *input, const scale *s, double base)
{
    const rung_ledger *ledger = rung_claim_ledger(input->claim);
    const rung_arithmetic *numbers = rung_claim_arithmetic(input->claim);
    size_t layers = ledger->layer_count;
    double step = fmin((WIDTH - LEFT - RIGHT) / (double)(layers ? layers : 1), BAR_MAX / 0.8), bar = 0.8 * step;
    for (size_t l = 0; l < layers; l++) {
        part parts[PARTS_MAX];
        size_t n = parts_of(parts, &ledger->layer[l], input);
        double x = LEFT + step * (double)l + 0.1 * step;
        rung_buf_puts(out, "<g>");
        put_hint(out, &ledger->layer[l], l, numbers);
        for (size_t k = 0; k < n; k++)
            put_part(out, &parts[k], s, x + bar * (double)k / (double)n, bar / (double)n * (n > 1 ? 0.92 : 1), base);
        rung_buf_puts(out, "</g>\n");
    }
    size_t every = 1;
    while (step * (double)every < 36) every *= 2;
    for (size_t l = every; l <= layers; l += every) {
        char number[24];
        snprintf(number, sizeof number, "%zu", l);
        rung_svg_text(out, LEFT + step * ((double)l - 0.5), base + SCALE + 20, "small", "middle", number);
    }
    rung_svg_text(out, WIDTH - RIGHT, base + SCALE + 36, "small", "end", "number of the layer");
}

static void put_axis(rung_buf *out, const scale *s, double base)
{
    double range = s->high - s->low, step = range > 20 ? 10 : range > 10 ? 5 : range > 5 ? 2 : 1;
    for (double t = step * ceil((s->low + 0.5) / step); t <= s->high; t += step) {
        char label[32];
        double h = height_of(s, exp2(t));
        put_bytes(label, sizeof label, exp2(t));
        for (int side = -1; side <= 1; side += 2) {
            rung_buf_printf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT,
                            WIDTH - RIGHT, base + side * h, base + side * h);
            if (h > 12) rung_svg_text(out, LEFT - 8, base + side * h + 4, "small", "end", label);
        }
    }
    rung_svg_text(out, 8, base - SCALE - 12, "small", "start", "held, bytes");
    rung_svg_text(out, 8, base + SCALE + 20, "small", "start", "crosses");
    rung_buf_printf(out, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT, WIDTH - RIGHT,
                    base, base);
}

static void put_line(rung_buf *out, const char *text, double y, const char *class)
{
    char line[TEXT_MAX + 4];
    size_t len = strlen(text);
    bool cut = len > TEXT_MAX;
    if (cut) len = TEXT_MAX;
    while (cut && len && ((unsigned char)text[len] & 0xC0) == 0x80) len--; /* not inside a character */
    snprintf(line, sizeof line, "%.*s%s", (int)len, text, cut ? "..." : "");
    rung_svg_text(out, LEFT, y, class, "start", line);
}

static void put_caption(rung_buf *out, const rung_ledger_shown *input, double y)
{
    const rung_ledger *ledger = rung_claim_ledger(input->claim);
    const rung_arithmetic *numbers = rung_claim_arithmetic(input->claim);
    rung_ledger_view view = rung_ledger_view_of(input->claim);
    char held[32], handed[32];
    rung_buf line;
    put_bytes(held, sizeof held, (double)view.carried_bits / 8);
    put_bytes(handed, sizeof handed, (double)view.message_bits / 8);
    put_line(out, input->name, y, "name");
    rung_buf_init(&line);
    rung_ledger_counts(&line, &view.sum);
    if (input->order) {
        rung_buf_puts(&line, "; in order ");
        rung_ledger_order(&line, ledger);
    }
    if (line.text) put_line(out, line.text, y + 20, "dim");
    rung_buf_reset(&line);
    char growth[32], cached[32];
    put_bytes(growth, sizeof growth, (double)view.growth_bits / 8);
    put_bytes(cached, sizeof cached, (double)view.growth_bits / 8 * (double)input->tokens);
    rung_buf_printf(&line, "all layers carry %s (%d-bit), hand over %s (%d-bit)", held, numbers->state_bits, handed,
                    numbers->accumulator_bits);
    if (view.growth_bits)
        rung_buf_printf(&line, ", cache %s a token (%d-bit), %s in all", growth, numbers->cache_bits, cached);
    if (line.text) put_line(out, line.text, y + 38, "dim");
    out->failed = out->failed || line.failed;
    rung_buf_clear(&line);
}

static void put_legend(rung_buf *out, const scale *s, uint64_t tokens)
{
    double x = LEFT;
    char title[96];
    snprintf(title, sizeof title, "What each layer holds of %llu tokens, and what crosses a position",
             (unsigned long long)tokens);
    rung_svg_text(out, LEFT, 28, "name", "start", title);
    rung_svg_text(
        out, LEFT, 50, "small", "start",
        "above: bytes held, logarithmic; light: a cache that grows, its dark foot is one token; below: what one "
        "token gets of earlier ones");
    for (int k = 0; k < KINDS; k++) {
        if (!s->has[k]) continue;
        put_rect(out, "bar", (kind)k, x, 64, 12, 12);
        rung_svg_text(out, x + 18, 75, "small", "start", kind_names[k]);
        x += 40 + 7.2 * (double)strlen(kind_names[k]);
    }
}

void rung_ledger_svg(rung_buf *out, const rung_ledger_shown *inputs, size_t count)
{
    enum { PANEL = CAPTION + OPEN + 2 * SCALE + FOOT };
    scale s = scale_of(inputs, count);
    size_t height = HEAD + count * PANEL;
    rung_buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %zu\" role=\"img\">\n", WIDTH,
                    height);
    rung_buf_puts(out, style);
    rung_buf_printf(out, "<rect class=\"back\" width=\"%d\" height=\"%zu\"/>\n", WIDTH, height);
    put_legend(out, &s, count ? inputs[0].tokens : 0);
    for (size_t i = 0; i < count; i++) {
        double top = HEAD + (double)(i * PANEL) + 16, base = top + CAPTION + OPEN + SCALE - 16;
        put_caption(out, &inputs[i], top);
        put_axis(out, &s, base);
        put_layers(out, &inputs[i], &s, base);
    }
    rung_buf_puts(out, "</svg>\n");
}
