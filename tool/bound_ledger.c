/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Ledgers as text; see bound_ledger.h.
 */
#include "bound_ledger.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "rung/card.h"

enum { PLACES_WIDTH = 18 };

/* "1-3, 5-7, ...": the layers that are the same as `first`, counted from 1, cut when it gets long. */
static void put_places(char *out, size_t size, const rung_ledger *ledger, size_t first)
{
    size_t used = 0;
    for (size_t i = first; i < ledger->layer_count; i++) {
        char run[48];
        size_t last = i;
        if (!rung_ledger_layer_same(&ledger->layer[i], &ledger->layer[first])) continue;
        while (last + 1 < ledger->layer_count &&
               rung_ledger_layer_same(&ledger->layer[last + 1], &ledger->layer[first]))
            last++;
        snprintf(run, sizeof run, i == last ? "%s%zu" : "%s%zu-%zu", used ? ", " : "", i + 1, last + 1);
        if (used + strlen(run) + 5 > PLACES_WIDTH && used) {
            snprintf(out + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(out + used, size - used, "%s", run);
        i = last;
    }
}

enum { KINDS_MAX = 40, NUMBERS = 5 };

/* What the table shows of a layer. A column without a number is left out, so that most tables are narrow. */
static const struct {
    const char *title;
    int width;
} columns[NUMBERS] = {{"state", 9}, {"conv", 7}, {"window", 7}, {"KV/token", 8}, {"message", 7}};

typedef struct numbers {
    uint64_t at[NUMBERS];
} numbers;

static numbers numbers_of(const rung_ledger_layer *held, const rung_arithmetic *arithmetic)
{
    return (numbers){{rung_held_state(held), held->conv_elements, held->window_elements, held->kv_per_token,
                      rung_layer_bits_of(held, arithmetic).message}};
}

static void put_name(rung_buf *out, bool narrow, const char *count, const char *places, const char *mechanism)
{
    rung_buf_printf(out, "  %5s", count);
    if (!narrow) rung_buf_printf(out, "  %-*s", PLACES_WIDTH, places);
    rung_buf_printf(out, "  %-12s", mechanism);
}

/* Nothing is easier to see than 0. */
static void put_cell(rung_buf *out, int width, uint64_t value)
{
    if (value)
        rung_buf_printf(out, "  %*llu", width, (unsigned long long)value);
    else
        rung_buf_printf(out, "  %*s", width, ".");
}

static void print_kinds(rung_buf *out, const rung_claim *claim)
{
    const rung_ledger *ledger = rung_claim_ledger(claim);
    bool narrow = tool_columns(STDOUT_FILENO) < 80, shown[NUMBERS] = {false};
    rung_ledger_kind kind[KINDS_MAX];
    numbers row[KINDS_MAX];
    size_t kinds = rung_ledger_kinds(kind, KINDS_MAX, ledger);
    for (size_t k = 0; k < kinds && k < KINDS_MAX; k++) {
        row[k] = numbers_of(&ledger->layer[kind[k].first], rung_claim_arithmetic(claim));
        for (size_t c = 0; c < NUMBERS; c++) shown[c] = shown[c] || row[k].at[c];
    }
    rung_buf_puts(out, "each layer, in elements; its message in bits:\n");
    put_name(out, narrow, "count", "layers", "mechanism");
    for (size_t c = 0; c < NUMBERS; c++)
        if (shown[c]) rung_buf_printf(out, "  %*s", columns[c].width, columns[c].title);
    rung_buf_putc(out, '\n');
    for (size_t k = 0; k < kinds && k < KINDS_MAX; k++) {
        const rung_ledger_layer *held = &ledger->layer[kind[k].first];
        char places[64] = "", count[24];
        snprintf(count, sizeof count, "%zu", kind[k].count);
        put_places(places, sizeof places, ledger, kind[k].first);
        put_name(out, narrow, count, places, rung_held_mechanism(held));
        for (size_t c = 0; c < NUMBERS; c++)
            if (shown[c]) put_cell(out, columns[c].width, row[k].at[c]);
        rung_buf_putc(out, '\n');
    }
    if (kinds > KINDS_MAX) rung_buf_puts(out, "  ...\n");
}

static const char *const message_formulas[] = {"H (dv+2) p", "H (dv+1) p", "2 H d p"};

/* A kernel that knows the maximum beforehand carries none. */
static const char *message_formula(const rung_arithmetic *a)
{
    bool known = a->kernel == RUNG_KERNEL_TWO_PASS || a->kernel == RUNG_KERNEL_EAGER;
    return message_formulas[known && a->message == RUNG_MESSAGE_ONLINE ? RUNG_MESSAGE_NUMERATOR : a->message];
}

/* "all layers 618135552 bits, 77.3 MB (73.7 MiB); the largest 17170432 bits" */
static void put_sum(rung_buf *out, uint64_t sum, uint64_t largest)
{
    rung_buf_printf(out, "all layers %llu bits", (unsigned long long)sum);
    if (sum >= 8000) {
        rung_buf_puts(out, ", ");
        rung_card_put_bytes(out, sum / 8 + (sum % 8 != 0));
    }
    rung_buf_printf(out, "; the largest %llu bits", (unsigned long long)largest);
}

/* Wraps what has been collected, and empties it. */
static void put_wrapped(rung_buf *out, rung_buf *text)
{
    if (!text->failed) tool_wrap(out, text->text, 0, 2);
    rung_buf_putc(out, '\n');
    out->failed = out->failed || text->failed;
    rung_buf_reset(text);
}

static void print_totals(rung_buf *out, const rung_ledger_view *view, const rung_arithmetic *a)
{
    const rung_ledger_elements *all = &view->sum.all, *largest = &view->sum.largest;
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_puts(out, "\n");
    rung_buf_puts(&text, "carried past a position: ");
    put_sum(&text, view->carried_bits, view->largest_carried_bits);
    if (view->levels)
        rung_buf_puts(&text, " (of log-linear attention one level; it has one for each one-bit of the position)");
    put_wrapped(out, &text);
    rung_buf_puts(&text, "handed to a token by full layers: ");
    put_sum(&text, view->message_bits, view->largest_message_bits);
    rung_buf_printf(&text, " (%s: %s each)", rung_message_names[a->message], message_formula(a));
    put_wrapped(out, &text);
    if (view->growth_bits) {
        rung_buf_printf(&text, "caches grow per token: all layers %llu elements, ",
                        (unsigned long long)(all->kv_per_token + all->index_per_token));
        rung_card_put_bytes(&text, view->growth_bits / 8 + (view->growth_bits % 8 != 0));
        rung_buf_printf(&text, "; the largest %llu elements%s", (unsigned long long)largest->kv_per_token,
                        all->index_per_token ? ", and the keys of its indexer" : "");
        put_wrapped(out, &text);
    }
    rung_buf_clear(&text);
}

static void print_bits(rung_buf *out, const rung_arithmetic *a, const rung_ledger *ledger)
{
    if (a->accumulator_bits == a->state_bits && a->accumulator_bits == a->cache_bits)
        rung_buf_printf(out, "\np = %d bits per number", a->accumulator_bits);
    else if (a->state_as.scaling != RUNG_SCALE_NONE)
        rung_buf_printf(out, "\nbits per number: accumulators %d, states those of %s, caches %d", a->accumulator_bits,
                        a->state_as.name, a->cache_bits);
    else
        rung_buf_printf(out, "\nbits per number: accumulators %d, states %d, caches %d", a->accumulator_bits,
                        a->state_bits, a->cache_bits);
    if (ledger->number_bits) rung_buf_printf(out, " (the file says %d; servers choose: --bits)", ledger->number_bits);
    rung_buf_puts(out, "\n\n");
}

/* What no theorem may presuppose. */
static void print_unknown(rung_buf *out, const rung_ledger *ledger)
{
    for (size_t f = 0; f < RUNG_LEDGER_FACTS; f++) {
        rung_known k = ledger->known[f];
        if (k.is == RUNG_ESTABLISHED) continue;
        rung_buf_printf(out, "%s that %s%s%s\n",
                        k.is == RUNG_VIOLATED ? "not so:" : "not established:", rung_premise_text((rung_premise)f),
                        k.why ? ": " : "", k.why ? k.why : "");
    }
}

void tool_ledger_print(rung_buf *out, const tool_bound_input *input)
{
    const rung_claim *claim = input->claim;
    const rung_ledger *ledger = rung_claim_ledger(claim);
    rung_ledger_view view = rung_ledger_view_of(claim);
    rung_buf_printf(out, "%s%s%s\n", tool_style_bold(), input->text, tool_style_off());
    if (ledger->family[0]) rung_buf_printf(out, "%s, layer kinds from %s\n", ledger->family, ledger->spelling);
    rung_ledger_counts(out, &view.sum);
    if (!input->is_arch) {
        rung_buf_puts(out, "\norder: ");
        rung_ledger_order(out, ledger);
    }
    print_bits(out, rung_claim_arithmetic(claim), ledger);
    print_kinds(out, claim);
    print_totals(out, &view, rung_claim_arithmetic(claim));
    print_unknown(out, ledger);
    for (size_t i = 0; i < ledger->note_count; i++) rung_buf_printf(out, "note: %s\n", ledger->note[i]);
}
