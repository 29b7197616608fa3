/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The layers as the theorems see them: full layers with the bits of an accumulator, and between them the bits of
 * everything that a recurrence, a convolution or a window carries over a cut. A layer that does not fit this
 * description is marked, and then no theorem that relies on it may be used.
 */
#include "bound_rows.h"

#include <assert.h>

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

static uint64_t message_bits(const rung_ledger_layer *held, const rung_arithmetic *a, bool *overflow)
{
    uint64_t wide = held->key_dim > held->value_dim ? held->key_dim : held->value_dim;
    bool running = a->kernel != RUNG_KERNEL_TWO_PASS && a->kernel != RUNG_KERNEL_EAGER; /* the maximum is carried */
    bool maximum = a->message == RUNG_MESSAGE_ONLINE && running;
    uint64_t each =
        a->message == RUNG_MESSAGE_PAPER ? times(2, wide, overflow) : plus(held->value_dim, maximum ? 2 : 1, overflow);
    return times(times(held->heads, each, overflow), (uint64_t)a->accumulator_bits, overflow);
}

/* Bits of the inputs that a short convolution still needs. */
static uint64_t conv_bits(const rung_ledger_layer *held, const rung_arithmetic *a, bool *overflow)
{
    return times(held->conv_elements, (uint64_t)a->cache_bits, overflow);
}

enum { ROWS_MOST = 1 << 30 }; /* counting scales below cannot overflow */

/* Bits of the recurrent state. Numbers of a row share scales as rung_mech_kept says; if the rows are not known, every
 * number counts with a scale of its own. */
static uint64_t recurrent_bits(const rung_ledger_layer *held, const rung_arithmetic *a, bool *overflow)
{
    const uint64_t elements = held->levels ? 0 : held->state_elements;
    if (a->state_as.scaling == RUNG_SCALE_NONE || !held->state_row || held->levels || elements > ROWS_MOST)
        return times(elements, (uint64_t)a->state_bits, overflow);
    const size_t unit = (size_t)(elements / held->state_units), row = (size_t)held->state_row;
    return held->state_units *
           (rung_stored_bits(&a->state_as, unit / row, row) + rung_stored_bits(&a->state_as, 1, unit % row));
}

/* Bits of states and windows: what a layer carries over a cut apart from convolutions, accumulators and growing
 * caches. */
static uint64_t state_bits(const rung_ledger_layer *held, const rung_arithmetic *a, bool *overflow)
{
    uint64_t state = plus(times(held->extra_elements, (uint64_t)a->state_bits, overflow),
                          recurrent_bits(held, a, overflow), overflow);
    return plus(state, times(held->window_elements, (uint64_t)a->cache_bits, overflow), overflow);
}

static bool keeps_state(const rung_ledger_layer *held)
{
    return held->state_elements || held->extra_elements || held->window || held->chunk;
}

/* Whether a layer chooses k single tokens, the same for all heads, and looks at nothing else. Then it is a scan: what a
 * query has of a prefix is its k best tokens so far, in their order. */
static bool is_top(const rung_ledger_layer *held)
{
    return held->sparse && !held->full && !held->window && !held->chunk && held->block == 1 && held->top &&
           held->heads && held->value_dim && !held->summary_elements && !held->window_size;
}

/* For each of the k best: its index score, and for each head a score and a value. Any softmax follows from these. */
static uint64_t top_bits(const rung_ledger_layer *held, const rung_arithmetic *a, bool *overflow)
{
    uint64_t bits = (uint64_t)(a->accumulator_bits > a->cache_bits ? a->accumulator_bits : a->cache_bits);
    if ((uint64_t)a->state_bits > bits) bits = (uint64_t)a->state_bits;
    uint64_t heads = times(held->heads, plus(held->value_dim, 1, overflow), overflow);
    return times(held->top, times(plus(heads, 1, overflow), bits, overflow), overflow);
}

/* A convolution before attention is a recurrent layer in front of it: the last query may depend on the tokens before
 * it. A state beside attention is read by tokens that do not see the attention, and neither sees the other. */
static size_t specs_of_attention(rung_spec spec[2], const rung_ledger_layer *held, const rung_arithmetic *a,
                                 bool *overflow)
{
    size_t count = 0;
    bool beside = keeps_state(held) || (held->recurrent && !held->conv_elements);
    if (held->conv_elements) spec[count++] = (rung_spec){.recurrent = true, .state = conv_bits(held, a, overflow)};
    spec[count++] = (rung_spec){.full = held->full || is_top(held),
                                .sparse = held->sparse && !is_top(held),
                                .top = is_top(held),
                                .recurrent = beside,
                                .state = beside ? state_bits(held, a, overflow) : 0,
                                .message = held->full     ? message_bits(held, a, overflow)
                                           : is_top(held) ? top_bits(held, a, overflow)
                                                          : 0};
    return count;
}

/* The layers of the theorems that one layer of the ledger is, at most two. */
static size_t specs_of_layer(rung_spec spec[2], const rung_ledger_layer *held, const rung_arithmetic *a, bool *overflow)
{
    size_t count = 0;
    if (held->full || held->sparse)
        count = specs_of_attention(spec, held, a, overflow);
    else if (held->recurrent || held->conv_elements || keeps_state(held))
        spec[count++] = (rung_spec){
            .recurrent = true,
            .state = plus(state_bits(held, a, overflow), conv_bits(held, a, overflow), overflow),
        };
    if (held->levels && count) spec[count - 1].level = times(held->state_elements, (uint64_t)a->state_bits, overflow);
    return count;
}

static void add_spec(rung_pattern *p, const rung_spec *spec)
{
    p->sparse = p->sparse || spec->sparse;
    p->headwise = p->headwise || (spec->recurrent && (spec->full || spec->sparse));
    p->levels_state = plus(p->levels_state, spec->level, &p->overflow);
    p->level[p->full] = plus(p->level[p->full], spec->level, &p->overflow);
    p->recurrent += spec->recurrent;
    p->all_state = plus(p->all_state, spec->state, &p->overflow);
    if (spec->recurrent && !spec->full) {
        p->layers[p->full]++;
        p->state[p->full] = plus(p->state[p->full], spec->state, &p->overflow);
    }
    if (!spec->full) return;
    if (spec->recurrent && p->full < RUNG_PATTERN_FULL_MAX)
        p->has_beside[p->full] = true, p->beside[p->full] = spec->state;
    if (spec->message > p->message) p->message = spec->message;
    p->top += spec->top;
    if (p->full == RUNG_PATTERN_FULL_MAX) p->too_many = true;
    if (!p->too_many) p->full++;
}

static void add_layer(rung_pattern *p, const rung_ledger_layer *held, const rung_arithmetic *a)
{
    rung_spec spec[2];
    size_t count = specs_of_layer(spec, held, a, &p->overflow);
    p->chunk = p->chunk || held->chunk;
    for (size_t i = 0; i < count; i++) add_spec(p, &spec[i]);
}

/* The pattern has every full and every recurrent layer of the ledger exactly once. */
static bool matches_ledger(const rung_pattern *p, const rung_ledger *ledger)
{
    size_t full = 0, recurrent = 0;
    for (size_t i = 0; i < ledger->layer_count; i++) full += ledger->layer[i].full || is_top(&ledger->layer[i]);
    for (size_t g = 0; g <= p->full; g++) recurrent += p->layers[g];
    for (size_t g = 0; g < p->full; g++) recurrent += p->has_beside[g];
    return p->too_many ? full > p->full : full == p->full && recurrent == p->recurrent;
}

rung_pattern rung_pattern_of(const rung_ledger *ledger, const rung_arithmetic *arithmetic)
{
    rung_pattern p = {0};
    for (size_t i = 0; i < ledger->layer_count; i++) add_layer(&p, &ledger->layer[i], arithmetic);
    assert(p.full <= RUNG_PATTERN_FULL_MAX && matches_ledger(&p, ledger));
    assert(p.all_state <= BITS_LIMIT && p.message <= BITS_LIMIT && p.levels_state <= BITS_LIMIT);
    return p;
}

rung_pattern bound_levels_as_states(const rung_pattern *p, uint64_t tokens)
{
    rung_pattern all = *p;
    uint64_t ones = 0; /* the most one-bits that a number up to `tokens` has */
    for (uint64_t n = tokens; n; n /= 2) ones++;
    for (size_t g = 0; g <= p->full; g++) {
        uint64_t bits = times(p->level[g], ones, &all.overflow);
        all.state[g] = plus(all.state[g], bits, &all.overflow), all.level[g] = 0;
        all.all_state = plus(all.all_state, bits, &all.overflow);
    }
    all.levels_state = 0;
    return all;
}

size_t rung_specs_of(rung_spec *specs, const rung_ledger *ledger, const rung_arithmetic *arithmetic, bool *overflow)
{
    size_t count = 0;
    *overflow = false;
    for (size_t i = 0; i < ledger->layer_count; i++)
        count += specs_of_layer(specs + count, &ledger->layer[i], arithmetic, overflow);
    return count;
}

rung_pattern bound_heads_after(const rung_pattern *p)
{
    rung_pattern after = *p;
    for (size_t g = 0; g < p->full; g++) {
        after.state[g + 1] = plus(after.state[g + 1], p->beside[g], &after.overflow);
        after.layers[g + 1] += p->has_beside[g];
        after.beside[g] = 0, after.has_beside[g] = false;
    }
    after.headwise = false;
    return after;
}

rung_layer_bits rung_layer_bits_of(const rung_ledger_layer *held, const rung_arithmetic *arithmetic)
{
    rung_pattern p = {0};
    add_layer(&p, held, arithmetic);
    return (rung_layer_bits){plus(p.all_state, p.levels_state, &p.overflow), held->full ? p.message : 0};
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
            rung_buf_printf(out, p->has_beside[g] ? "%sF|R" : "%sF", space);
            space = " ";
        }
    }
    if (!p->full && !p->recurrent) rung_buf_puts(out, "(no layer mixes tokens)");
    if (p->sparse) rung_buf_puts(out, ", with layers that select");
    if (p->top) rung_buf_printf(out, ", %zu of them a choice of single tokens", p->top);
}
