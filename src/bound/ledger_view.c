/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The layers of a claim summed up: bits of all of them, their kinds, their order in one line.
 */
#include "rung/bound.h"

/* ---- sums ------------------------------------------------------------------------------------------------------ */

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

rung_ledger_view rung_ledger_view_of(const rung_claim *claim)
{
    const rung_ledger *ledger = rung_claim_ledger(claim);
    rung_ledger_view view = {.sum = rung_ledger_total(ledger)};
    for (size_t i = 0; i < ledger->layer_count; i++) {
        rung_layer_bits bits = rung_layer_bits_of(&ledger->layer[i], rung_claim_arithmetic(claim));
        view.carried_bits = plus(view.carried_bits, bits.carried);
        view.message_bits = plus(view.message_bits, bits.message);
        if (bits.carried > view.largest_carried_bits) view.largest_carried_bits = bits.carried;
        if (bits.message > view.largest_message_bits) view.largest_message_bits = bits.message;
        view.levels = view.levels || ledger->layer[i].levels;
        view.caches += ledger->layer[i].kv_per_token > 0;
    }
    uint64_t growth = plus(view.sum.all.kv_per_token, view.sum.all.index_per_token);
    view.growth_bits = times(growth, (uint64_t)rung_claim_arithmetic(claim)->cache_bits);
    return view;
}

size_t rung_ledger_kinds(rung_ledger_kind *out, size_t most, const rung_ledger *ledger)
{
    size_t kinds = 0;
    for (size_t i = 0; i < ledger->layer_count; i++) {
        size_t k = 0;
        while (k < kinds && k < most && !rung_ledger_layer_same(&ledger->layer[i], &ledger->layer[out[k].first])) k++;
        if (k < kinds && k < most)
            out[k].count++;
        else if (kinds < most)
            out[kinds++] = (rung_ledger_kind){.first = i, .count = 1};
        else
            kinds = most + 1;
    }
    return kinds;
}

uint64_t rung_held_state(const rung_ledger_layer *held)
{
    return plus(held->state_elements, held->extra_elements);
}

/* ---- order ----------------------------------------------------------------------------------------------------- */

enum { PERIOD_MAX = 64 };

const char *rung_held_mechanism(const rung_ledger_layer *held)
{
    return held->mechanism[0] ? held->mechanism : "mlp";
}

/* How often the `period` layers at `at` follow each other. */
static size_t repeats(const rung_ledger_layer *layer, size_t at, size_t end, size_t period)
{
    size_t i = at + period;
    while (i < end && rung_ledger_layer_same(&layer[i], &layer[i - period])) i++;
    return (i - at) / period;
}

/* The period that covers most, the shortest among equals. */
static size_t best_period(size_t *times, const rung_ledger_layer *layer, size_t at, size_t end)
{
    size_t best = 1;
    *times = repeats(layer, at, end, 1);
    for (size_t period = 2; period <= PERIOD_MAX && at + 2 * period <= end; period++) {
        size_t count = repeats(layer, at, end, period);
        if (count > 1 && count * period > *times * best) best = period, *times = count;
    }
    return best;
}

static void put_order(rung_buf *out, const rung_ledger_layer *layer, size_t at, size_t end)
{
    for (const char *comma = ""; at < end; comma = ",") {
        size_t times, period = best_period(&times, layer, at, end);
        rung_buf_puts(out, comma);
        if (times > 1) rung_buf_printf(out, "%zu*", times);
        if (period == 1) {
            rung_buf_puts(out, rung_held_mechanism(&layer[at]));
        } else {
            rung_buf_putc(out, '(');
            put_order(out, layer, at, at + period);
            rung_buf_putc(out, ')');
        }
        at += times * period;
    }
}

void rung_ledger_order(rung_buf *out, const rung_ledger *ledger)
{
    put_order(out, ledger->layer, 0, ledger->layer_count);
}

/* ---- counts ---------------------------------------------------------------------------------------------------- */

static void put_count(rung_buf *out, const char **space, uint64_t count, const char *what)
{
    if (!count) return;
    rung_buf_printf(out, "%s%llu %s", *space, (unsigned long long)count, what);
    *space = ", ";
}

void rung_ledger_counts(rung_buf *out, const rung_ledger_sum *sum)
{
    const char *space = ": ";
    rung_buf_printf(out, "%llu layer%s", (unsigned long long)sum->total, sum->total == 1 ? "" : "s");
    put_count(out, &space, sum->full, "full");
    put_count(out, &space, sum->recurrent, "recurrent");
    put_count(out, &space, sum->window, "window");
    put_count(out, &space, sum->chunk, "chunk");
    put_count(out, &space, sum->sparse, "sparse");
    put_count(out, &space, sum->mlp, "without token mixing");
    if (sum->both) rung_buf_printf(out, " (%llu of them both)", (unsigned long long)sum->both);
}
