/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Ledgers as text and JSON; see bound_ledger.h.
 */
#include "bound_ledger.h"

#include <stdlib.h>
#include <string.h>

#include "output.h"

/* ---- bits --------------------------------------------------------------------------------------------------------------- */

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

rung_ledger_view rung_ledger_view_of(const rung_claim *claim)
{
    const rung_ledger *ledger = rung_claim_ledger(claim);
    rung_ledger_view view = {.sum = rung_ledger_total(ledger)};
    for (size_t i = 0; i < ledger->layer_count; i++) {
        rung_layer_bits bits = rung_layer_bits_of(&ledger->layer[i], rung_claim_arithmetic(claim));
        view.state_bits = plus(view.state_bits, bits.carried);
        view.message_bits = plus(view.message_bits, bits.message);
        view.levels = view.levels || ledger->layer[i].levels;
    }
    return view;
}

/* ---- order --------------------------------------------------------------------------------------------------------------- */

enum { PERIOD_MAX = 64 };

static const char *mechanism_of(const rung_held *held)
{
    return held->mechanism[0] ? held->mechanism : "mlp";
}

/* How often the `period` layers at `at` follow each other. */
static size_t repeats(const rung_held *layer, size_t at, size_t end, size_t period)
{
    size_t i = at + period;
    while (i < end && rung_held_same(&layer[i], &layer[i - period])) i++;
    return (i - at) / period;
}

/* The period that covers most, the shortest among equals. */
static size_t best_period(size_t *times, const rung_held *layer, size_t at, size_t end)
{
    size_t best = 1;
    *times = repeats(layer, at, end, 1);
    for (size_t period = 2; period <= PERIOD_MAX && at + 2 * period <= end; period++) {
        size_t count = repeats(layer, at, end, period);
        if (count > 1 && count * period > *times * best) best = period, *times = count;
    }
    return best;
}

static void put_order(rung_buf *out, const rung_held *layer, size_t at, size_t end)
{
    for (const char *comma = ""; at < end; comma = ",") {
        size_t times, period = best_period(&times, layer, at, end);
        rung_buf_puts(out, comma);
        if (times > 1) rung_buf_printf(out, "%zu*", times);
        if (period == 1) {
            rung_buf_puts(out, mechanism_of(&layer[at]));
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

/* ---- text ----------------------------------------------------------------------------------------------------------------- */

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

enum { PLACES_WIDTH = 18 };

/* "1-3, 5-7, ...": the layers that are the same as `first`, counted from 1, cut when it gets long. */
static void put_places(char *out, size_t size, const rung_ledger *ledger, size_t first)
{
    size_t used = 0;
    for (size_t i = first; i < ledger->layer_count; i++) {
        char run[48];
        size_t last = i;
        if (!rung_held_same(&ledger->layer[i], &ledger->layer[first])) continue;
        while (last + 1 < ledger->layer_count && rung_held_same(&ledger->layer[last + 1], &ledger->layer[first]))
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

/* Nothing is easier to see than 0. */
static void put_cell(rung_buf *out, int width, uint64_t value)
{
    if (value)
        rung_buf_printf(out, "  %*llu", width, (unsigned long long)value);
    else
        rung_buf_printf(out, "  %*s", width, ".");
}

static bool seen_before(const rung_ledger *ledger, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (rung_held_same(&ledger->layer[i], &ledger->layer[j])) return true;
    return false;
}

static size_t count_same(const rung_ledger *ledger, size_t first)
{
    size_t count = 0;
    for (size_t i = first; i < ledger->layer_count; i++)
        count += rung_held_same(&ledger->layer[i], &ledger->layer[first]);
    return count;
}

enum { KINDS_MAX = 40 };

static void print_kinds(rung_buf *out, const rung_claim *claim)
{
    const rung_ledger *ledger = rung_claim_ledger(claim);
    size_t kinds = 0;
    rung_buf_printf(out, "  %5s  %-*s  %-12s  %9s  %7s  %9s  %8s  %12s\n", "count", PLACES_WIDTH, "layers", "mechanism",
                    "state", "conv", "window", "KV/token", "message bits");
    for (size_t i = 0; i < ledger->layer_count; i++) {
        const rung_held *held = &ledger->layer[i];
        char places[64] = "";
        if (seen_before(ledger, i)) continue;
        if (++kinds > KINDS_MAX) {
            rung_buf_puts(out, "  ...\n");
            return;
        }
        put_places(places, sizeof places, ledger, i);
        rung_buf_printf(out, "  %5zu  %-*s  %-12s", count_same(ledger, i), PLACES_WIDTH, places, mechanism_of(held));
        put_cell(out, 9, plus(held->state_elements, held->extra_elements));
        put_cell(out, 7, held->conv_elements);
        put_cell(out, 9, held->window_elements);
        put_cell(out, 8, held->kv_per_token);
        put_cell(out, 12, rung_layer_bits_of(held, rung_claim_arithmetic(claim)).message);
        rung_buf_putc(out, '\n');
    }
}

static const char *const message_formulas[] = {"H (dv+2) p", "H (dv+1) p", "2 H d p"};

static void print_totals(rung_buf *out, const rung_ledger_view *view, rung_message message)
{
    rung_buf_printf(out, "\ncarried past a position by all layers: %llu bits%s\n", (unsigned long long)view->state_bits,
                    view->levels ? " (of log-linear attention one level; it has one for each one-bit of the position)"
                                 : "");
    rung_buf_printf(out, "handed to a token by all full layers: %llu bits (%s: %s each)\n",
                    (unsigned long long)view->message_bits, rung_message_words[message], message_formulas[message]);
    if (view->sum.kv_elements_per_token)
        rung_buf_printf(out, "the largest cache grows by %llu elements per token\n",
                        (unsigned long long)view->sum.kv_elements_per_token);
}

static void print_bits(rung_buf *out, const rung_arithmetic *a, const rung_ledger *ledger)
{
    if (a->accumulator_bits == a->state_bits && a->accumulator_bits == a->cache_bits)
        rung_buf_printf(out, "\np = %d bits per number", a->accumulator_bits);
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

void rung_ledger_print(rung_buf *out, const rung_bound_input *input)
{
    const rung_claim *claim = input->claim;
    const rung_ledger *ledger = rung_claim_ledger(claim);
    rung_ledger_view view = rung_ledger_view_of(claim);
    rung_buf_printf(out, "%s%s%s\n", rung_style_bold(), input->text, rung_style_off());
    if (ledger->family[0]) rung_buf_printf(out, "%s, layer kinds from %s\n", ledger->family, ledger->spelling);
    rung_ledger_counts(out, &view.sum);
    if (!input->is_arch) {
        rung_buf_puts(out, "\norder: ");
        rung_ledger_order(out, ledger);
    }
    print_bits(out, rung_claim_arithmetic(claim), ledger);
    print_kinds(out, claim);
    print_totals(out, &view, rung_claim_arithmetic(claim)->message);
    print_unknown(out, ledger);
    for (size_t i = 0; i < ledger->note_count; i++) rung_buf_printf(out, "note: %s\n", ledger->note[i]);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------------ */

/* Sums saturate at UINT64_MAX, which no JSON reader takes for an integer. */
static void json_count(rung_jout *out, const char *key, uint64_t value)
{
    rung_jout_int(out, key, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static void json_totals(rung_jout *out, const rung_ledger_view *view)
{
    const rung_ledger_sum *sum = &view->sum;
    rung_jout_flat_object(out, "layers");
    json_count(out, "total", sum->total);
    json_count(out, "full", sum->full);
    json_count(out, "recurrent", sum->recurrent);
    json_count(out, "window", sum->window);
    json_count(out, "chunk", sum->chunk);
    json_count(out, "sparse", sum->sparse);
    json_count(out, "mlp", sum->mlp);
    json_count(out, "both", sum->both);
    rung_jout_end(out);
    rung_jout_object(out, "ledger");
    json_count(out, "state_elements", sum->state_elements);
    json_count(out, "conv_elements", sum->conv_elements);
    json_count(out, "window_elements", sum->window_elements);
    json_count(out, "extra_elements", sum->extra_elements);
    json_count(out, "state_bits", view->state_bits);
    json_count(out, "message_bits_per_token", view->message_bits);
    json_count(out, "kv_elements_per_token", sum->kv_elements_per_token);
    rung_jout_bool(out, "one_level_of_log_linear", view->levels);
    rung_jout_end(out);
}

static void json_kinds(rung_jout *out, const rung_held *held)
{
    const struct {
        const char *name;
        bool has;
    } kinds[] = {{"full", held->full},   {"recurrent", held->recurrent}, {"window", held->window},
                 {"chunk", held->chunk}, {"sparse", held->sparse},       {"mlp", held->mlp}};
    rung_jout_array(out, "kinds");
    for (size_t i = 0; i < RUNG_COUNT(kinds); i++)
        if (kinds[i].has) rung_jout_string(out, NULL, kinds[i].name);
    rung_jout_end(out);
}

static void json_layer(rung_jout *out, const rung_held *held, size_t index, rung_layer_bits bits)
{
    rung_jout_flat_object(out, NULL);
    json_count(out, "layer", index + 1);
    rung_jout_string(out, "mechanism", mechanism_of(held));
    json_kinds(out, held);
    json_count(out, "state_elements", held->state_elements);
    json_count(out, "conv_elements", held->conv_elements);
    json_count(out, "window_elements", held->window_elements);
    json_count(out, "extra_elements", held->extra_elements);
    json_count(out, "kv_elements_per_token", held->kv_per_token);
    json_count(out, "state_bits", bits.carried);
    json_count(out, "message_bits_per_token", bits.message);
    if (held->heads) {
        json_count(out, "heads", held->heads);
        json_count(out, "key_dim", held->key_dim);
        json_count(out, "value_dim", held->value_dim);
    }
    if (held->window_size) json_count(out, "window_size", held->window_size);
    if (held->sparse) {
        json_count(out, "block", held->block);
        json_count(out, "top", held->top);
    }
    rung_jout_end(out);
}

/* The first premises of a claim are those about its layers. */
_Static_assert((int)RUNG_PREMISE_OWN_CACHE + 1 == (int)RUNG_LEDGER_FACTS, "facts of a ledger come first");

static void json_premises(rung_jout *out, const rung_claim *claim)
{
    rung_jout_object(out, "premises");
    for (int p = 0; p < RUNG_PREMISES; p++) {
        rung_known known = rung_claim_premise(claim, (rung_premise)p);
        rung_jout_flat_object(out, rung_premise_words[p]);
        rung_jout_string(out, "is", rung_fact_words[known.is]);
        rung_jout_string(out, "why", known.why);
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

static void json_arithmetic(rung_jout *out, const rung_arithmetic *a)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_arithmetic_print(&text, a);
    out->buf->failed = out->buf->failed || text.failed;
    rung_jout_string(out, "arithmetic", text.text ? text.text : "");
    rung_jout_int(out, "accumulator_bits", a->accumulator_bits);
    rung_jout_int(out, "state_bits", a->state_bits);
    rung_jout_int(out, "cache_bits", a->cache_bits);
    rung_jout_string(out, "kernel", a->kernel ? rung_kernel_words[a->kernel - 1] : NULL);
    rung_jout_string(out, "message", rung_message_words[a->message]);
    rung_buf_clear(&text);
}

void rung_ledger_json(rung_jout *out, const rung_bound_input *input)
{
    const rung_ledger *ledger = rung_claim_ledger(input->claim);
    rung_ledger_view view = rung_ledger_view_of(input->claim);
    rung_buf order;
    rung_buf_init(&order);
    rung_ledger_order(&order, ledger);
    out->buf->failed = out->buf->failed || order.failed;
    rung_jout_string(out, "input", input->text);
    rung_jout_string(out, "family", ledger->family[0] ? ledger->family : NULL);
    rung_jout_string(out, "spelling", ledger->spelling);
    rung_jout_string(out, "order", order.text ? order.text : "");
    rung_jout_bool(out, "causal", ledger->known[RUNG_LEDGER_CAUSAL].is == RUNG_ESTABLISHED);
    json_arithmetic(out, rung_claim_arithmetic(input->claim));
    json_premises(out, input->claim);
    if (ledger->context) json_count(out, "context", ledger->context);
    json_totals(out, &view);
    rung_jout_array(out, "per_layer");
    for (size_t i = 0; i < ledger->layer_count; i++)
        json_layer(out, &ledger->layer[i], i,
                   rung_layer_bits_of(&ledger->layer[i], rung_claim_arithmetic(input->claim)));
    rung_jout_end(out);
    rung_jout_array(out, "notes");
    for (size_t i = 0; i < ledger->note_count; i++) rung_jout_string(out, NULL, ledger->note[i]);
    rung_jout_end(out);
    rung_buf_clear(&order);
}
