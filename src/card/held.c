/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Bytes that layers hold and read, as a function of the length of a sequence. Elements become bits of the format in
 * which a server keeps them, and bits become whole bytes per layer.
 */
#include "rung/card.h"

/* Longer sequences are not considered. */
#define TOKENS_FAR (UINT64_C(1) << 40)

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- one layer --------------------------------------------------------------------------------------------------- */

static uint64_t bytes_of(uint64_t elements, int bits)
{
    uint64_t all = times(elements, (uint64_t)bits);
    return all == UINT64_MAX ? UINT64_MAX : all / 8 + (all % 8 != 0);
}

/* The most one-bits of any number up to `tokens`: levels of log-linear attention. */
static uint64_t levels_at(uint64_t tokens)
{
    uint64_t length = tokens ? 64 - (uint64_t)__builtin_clzll(tokens) : 0;
    return length && (tokens & (tokens + 1)) ? length - 1 : length;
}

/* Elements of a window or chunk that `tokens` tokens have filled. */
static uint64_t window_elements(const rung_ledger_layer *layer, uint64_t tokens)
{
    uint64_t size = layer->window_size;
    if (!size || tokens >= size) return layer->window_elements;
    return times(layer->window_elements / size, tokens);
}

static rung_card_bytes in_bytes(uint64_t cache, uint64_t index, const rung_ledger_layer *layer, uint64_t tokens,
                                const rung_card_numbers *n)
{
    uint64_t state = plus(layer->state_elements, layer->extra_elements);
    if (layer->levels) state = times(state, levels_at(tokens));
    rung_card_bytes b = {.cache = bytes_of(cache, n->kv_bits),
                         .index = bytes_of(index, n->kv_bits),
                         .window = bytes_of(window_elements(layer, tokens), n->kv_bits),
                         .state = bytes_of(state, n->state_bits),
                         .conv = bytes_of(layer->conv_elements, n->kv_bits)};
    b.total = plus(plus(plus(b.cache, b.index), plus(b.window, b.state)), b.conv);
    return b;
}

rung_card_bytes rung_card_held(const rung_ledger_layer *layer, uint64_t tokens, const rung_card_numbers *numbers)
{
    return in_bytes(times(layer->kv_per_token, tokens), times(layer->index_elements, tokens), layer, tokens, numbers);
}

/* Tokens whose keys and values a query of the layer reads. */
static uint64_t opened(const rung_ledger_layer *layer, uint64_t tokens)
{
    if (!layer->sparse) return tokens;
    return least(tokens, plus(times(layer->top, layer->block), layer->window_size));
}

rung_card_bytes rung_card_read(const rung_ledger_layer *layer, uint64_t tokens, const rung_card_numbers *numbers)
{
    uint64_t selects_by = times(layer->index_elements, tokens);
    if (layer->sparse && layer->block)
        selects_by = plus(selects_by, times(layer->summary_elements, tokens / layer->block));
    return in_bytes(times(layer->kv_per_token, opened(layer, tokens)), selects_by, layer, tokens, numbers);
}

/* ---- all layers -------------------------------------------------------------------------------------------------- */

static rung_card_bytes both(rung_card_bytes a, rung_card_bytes b)
{
    return (rung_card_bytes){.cache = plus(a.cache, b.cache),
                             .index = plus(a.index, b.index),
                             .window = plus(a.window, b.window),
                             .state = plus(a.state, b.state),
                             .conv = plus(a.conv, b.conv),
                             .total = plus(a.total, b.total)};
}

rung_card_bytes rung_card_held_by(const rung_ledger *ledger, uint64_t tokens, const rung_card_numbers *numbers)
{
    rung_card_bytes sum = {0};
    for (size_t i = 0; i < ledger->layer_count; i++)
        sum = both(sum, rung_card_held(&ledger->layer[i], tokens, numbers));
    return sum;
}

rung_card_bytes rung_card_read_by(const rung_ledger *ledger, uint64_t tokens, const rung_card_numbers *numbers)
{
    rung_card_bytes sum = {0};
    for (size_t i = 0; i < ledger->layer_count; i++)
        sum = both(sum, rung_card_read(&ledger->layer[i], tokens, numbers));
    return sum;
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

/* What layers hold never falls with the length, so bisection finds the edge. */
uint64_t rung_card_tokens_in(uint64_t bytes, uint64_t sequences, const rung_ledger *ledger,
                             const rung_card_numbers *numbers)
{
    uint64_t fits = 0, over = TOKENS_FAR;
    if (times(rung_card_held_by(ledger, over, numbers).total, sequences) <= bytes) return UINT64_MAX;
    while (over - fits > 1) {
        uint64_t middle = fits + (over - fits) / 2;
        if (times(rung_card_held_by(ledger, middle, numbers).total, sequences) <= bytes)
            fits = middle;
        else
            over = middle;
    }
    return fits;
}

static bool holds_more(const rung_ledger *a, const rung_ledger *b, uint64_t tokens, const rung_card_numbers *numbers)
{
    return rung_card_held_by(a, tokens, numbers).total > rung_card_held_by(b, tokens, numbers).total;
}

/* The largest length below `end` at which a window gets full or log-linear attention gets a level; at least 1. */
static uint64_t corner_below(const rung_ledger *ledger, uint64_t end)
{
    uint64_t corner = 1;
    for (size_t i = 0; i < ledger->layer_count; i++) {
        const rung_ledger_layer *layer = &ledger->layer[i];
        uint64_t size = layer->window_size, level = 1;
        if (layer->window_elements && size < end && size > corner) corner = size;
        while (layer->levels && 2 * level + 1 < end)
            level = 2 * level + 1; /* 1, 3, 7, ...: the first with one bit more */
        if (layer->levels && level > corner) corner = level;
    }
    return corner;
}

/* Between two corners both sums are straight lines, which cross once at most. The pieces are looked at from the last
 * one to the first. */
uint64_t rung_card_break_even(const rung_ledger *a, const rung_ledger *b, const rung_card_numbers *numbers)
{
    uint64_t end = TOKENS_FAR;
    if (holds_more(a, b, end, numbers)) return 0;
    while (end > 1) {
        uint64_t start = corner_below(a, end), other = corner_below(b, end);
        if (other > start) start = other;
        if (holds_more(a, b, end - 1, numbers)) return end;
        uint64_t more = start, no_more = end - 1;
        if (holds_more(a, b, start, numbers)) {
            while (no_more - more > 1) {
                uint64_t middle = more + (no_more - more) / 2;
                if (holds_more(a, b, middle, numbers))
                    more = middle;
                else
                    no_more = middle;
            }
            return no_more;
        }
        end = start;
    }
    return 1;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void put_scaled(rung_buf *out, double bytes, double step, const char *const *units)
{
    size_t unit = 0;
    while (bytes >= 0.9995 * step && unit < 6) bytes /= step, unit++;
    rung_buf_printf(out,
                    unit == 0 || bytes >= 99.95 ? "%.0f %s"
                    : bytes >= 9.995            ? "%.1f %s"
                                                : "%.2f %s",
                    bytes, units[unit]);
}

void rung_card_put_bytes_short(rung_buf *out, uint64_t bytes)
{
    static const char *const tens[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    if (bytes == UINT64_MAX)
        rung_buf_puts(out, "more than fits");
    else
        put_scaled(out, (double)bytes, 1000, tens);
}

void rung_card_put_bytes(rung_buf *out, uint64_t bytes)
{
    static const char *const twos[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    rung_card_put_bytes_short(out, bytes);
    if (bytes < 1000 || bytes == UINT64_MAX) return;
    rung_buf_puts(out, " (");
    put_scaled(out, (double)bytes, 1024, twos);
    rung_buf_putc(out, ')');
}
