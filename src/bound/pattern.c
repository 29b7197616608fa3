/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The layers as the theorems see them: full layers with the bits of an accumulator, and between them the bits of
 * everything that a recurrence, a convolution or a window hands over a cut. Whatever does not fit this picture is marked,
 * and no theorem about the picture may then be used.
 */
#include "rung/bound.h"

const char *const rung_message_words[] = {"online", "numerator", "paper", NULL};

/* Sizes stay below 2^62, so that sums of a few and comparisons never wrap. */
#define BITS_LIMIT (UINT64_C(1) << 62)

static uint64_t times(uint64_t a, uint64_t b, bool *overflow)
{
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product) || product > BITS_LIMIT) {
        *overflow = true;
        return BITS_LIMIT;
    }
    return product;
}

static uint64_t plus(uint64_t a, uint64_t b, bool *overflow)
{
    if (a > BITS_LIMIT || b > BITS_LIMIT || a + b > BITS_LIMIT) {
        *overflow = true;
        return BITS_LIMIT;
    }
    return a + b;
}

static uint64_t message_bits(const rung_held *held, const rung_question *q, bool *overflow)
{
    uint64_t wide = held->key_dim > held->value_dim ? held->key_dim : held->value_dim;
    uint64_t each = q->message == RUNG_MESSAGE_PAPER       ? times(2, wide, overflow)
                    : q->message == RUNG_MESSAGE_NUMERATOR ? plus(held->value_dim, 1, overflow)
                                                           : plus(held->value_dim, 2, overflow);
    return times(times(held->heads, each, overflow), (uint64_t)q->bits, overflow);
}

/* What a layer hands over a cut apart from accumulators and growing caches. */
static uint64_t carried_bits(const rung_held *held, const rung_question *q, bool *overflow)
{
    uint64_t elements = plus(held->conv_elements, held->window_elements, overflow);
    elements = plus(elements, held->extra_elements, overflow);
    if (!held->levels) elements = plus(elements, held->state_elements, overflow);
    return times(elements, (uint64_t)q->bits, overflow);
}

static void add_full(rung_pattern *p, const rung_held *held, const rung_question *q)
{
    uint64_t message = message_bits(held, q, &p->overflow);
    if (message > p->message) p->message = message;
    if (p->full == RUNG_PATTERN_FULL_MAX) p->too_many = true;
    if (!p->too_many) p->full++;
}

rung_pattern rung_pattern_of(const rung_question *q)
{
    rung_pattern p = {0};
    for (size_t i = 0; i < q->ledger->layer_count; i++) {
        const rung_held *held = &q->ledger->layer[i];
        bool carries = held->recurrent || held->window || held->chunk || held->conv_elements || held->extra_elements;
        p.sparse = p.sparse || held->sparse;
        p.chunk = p.chunk || held->chunk;
        p.headwise = p.headwise || (carries && (held->full || held->sparse));
        if (held->levels)
            p.levels_state =
                plus(p.levels_state, times(held->state_elements, (uint64_t)q->bits, &p.overflow), &p.overflow);
        if (carries) {
            p.recurrent++;
            p.layers[p.full]++;
            p.state[p.full] = plus(p.state[p.full], carried_bits(held, q, &p.overflow), &p.overflow);
        }
        if (held->full) add_full(&p, held, q);
    }
    for (size_t g = 0; g <= p.full; g++) p.all_state = plus(p.all_state, p.state[g], &p.overflow);
    return p;
}

void rung_pattern_print(rung_buf *out, const rung_pattern *p)
{
    const char *space = "";
    for (size_t g = 0; g <= p->full; g++) {
        if (p->layers[g]) {
            rung_buf_printf(out, "%sR", space);
            if (p->layers[g] > 1) rung_buf_printf(out, "^%zu", p->layers[g]);
            space = " ";
        }
        if (g < p->full) {
            rung_buf_printf(out, "%sF", space);
            space = " ";
        }
    }
    if (!p->full && !p->recurrent) rung_buf_puts(out, "(no layer mixes tokens)");
    if (p->headwise) rung_buf_puts(out, ", with both in one layer");
    if (p->sparse) rung_buf_puts(out, ", with layers that select");
}
