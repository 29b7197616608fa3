/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Cards as text; see card_print.h.
 */
#include "card_print.h"

#include <string.h>

#include "output.h"

enum { LABEL = 30, COLUMN = 16 };

/* ---- one card ---------------------------------------------------------------------------------------------------- */

static void put_bytes_cell(rung_buf *out, int width, uint64_t bytes)
{
    rung_buf cell;
    rung_buf_init(&cell);
    rung_card_put_bytes(&cell, bytes);
    rung_buf_printf(out, "%-*s", width, bytes ? cell.text ? cell.text : "" : ".");
    out->failed = out->failed || cell.failed;
    rung_buf_clear(&cell);
}

static void print_part(rung_buf *out, const char **who, const char *part, uint64_t held, uint64_t read)
{
    if (!held && !read) return;
    rung_buf_printf(out, "  %-20.20s %-14s", *who, part);
    put_bytes_cell(out, 22, held);
    put_bytes_cell(out, 0, read);
    rung_buf_putc(out, '\n');
    *who = "";
}

static void print_kind(rung_buf *out, const rung_card_kind *kind)
{
    char who[64];
    const char *shown = who;
    snprintf(who, sizeof who, "%zu x %s", kind->count, kind->mechanism);
    print_part(out, &shown, "caches", kind->held.cache, kind->read.cache);
    print_part(out, &shown, "index keys", kind->held.index, kind->read.index);
    print_part(out, &shown, kind->layer->chunk ? "chunks" : "windows", kind->held.window, kind->read.window);
    print_part(out, &shown, "states", kind->held.state, kind->read.state);
    print_part(out, &shown, "convolutions", kind->held.conv, kind->read.conv);
}

static void print_memory(rung_buf *out, const rung_card *card)
{
    const char *all = "all layers";
    rung_buf_printf(out, "\n  %-20s %-14s%-22s%s\n", "one sequence", "", "held", "read for a new token");
    for (size_t k = 0; k < card->kinds; k++) print_kind(out, &card->kind[k]);
    print_part(out, &all, "sum", card->held.total, card->read.total);
    if (card->batch > 1) {
        rung_buf_printf(out, "  %-35s", "the batch");
        put_bytes_cell(out, 0, card->batch_held);
        rung_buf_putc(out, '\n');
    }
    rung_buf_puts(out, "  Weights are not counted: layers do not say how many there are.\n");
}

static void print_row(rung_buf *out, const char *label, const char *text)
{
    rung_buf_printf(out, "%-20s ", label);
    tool_wrap(out, text, 21, 21);
    rung_buf_putc(out, '\n');
}

static void print_growth(rung_buf *out, const rung_card *card)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_card_put_bytes(&text, card->growth);
    rung_buf_puts(&text, " per token of a sequence, all layers");
    print_row(out, "growth", text.text ? text.text : "");
    rung_buf_reset(&text);
    if (card->dense.exists) {
        rung_card_put_bytes(&text, card->dense.held.total);
        rung_buf_puts(&text, " if every layer were full; ");
        if (card->break_even > 1)
            rung_buf_printf(&text, "from %llu tokens on this model holds no more",
                            (unsigned long long)card->break_even);
        else
            rung_buf_puts(&text,
                          card->break_even ? "this model never holds more" : "this model holds more at any length");
    } else {
        rung_buf_puts(&text, card->dense.why);
    }
    print_row(out, "dense equivalent", text.text ? text.text : "");
    rung_buf_reset(&text);
    if (card->recurrent.exists) {
        rung_card_put_bytes(&text, card->recurrent.held.total);
        rung_buf_puts(&text, " if no layer kept every token");
        print_row(out, "without full", text.text ? text.text : "");
    }
    out->failed = out->failed || text.failed;
    rung_buf_clear(&text);
}

static void print_budget(rung_buf *out, const rung_card *card)
{
    rung_buf text;
    if (!card->budget) return;
    rung_buf_init(&text);
    rung_card_put_bytes(&text, card->budget);
    rung_buf_printf(&text, " holds %llu sequence%s of %llu tokens", (unsigned long long)card->budget_sequences,
                    card->budget_sequences == 1 ? "" : "s", (unsigned long long)card->context);
    if (card->budget_tokens == UINT64_MAX)
        rung_buf_puts(&text, "; nothing grows with the length");
    else
        rung_buf_printf(&text, ", or %llu of up to %llu tokens", (unsigned long long)card->batch,
                        (unsigned long long)card->budget_tokens);
    print_row(out, "budget", text.text ? text.text : "");
    out->failed = out->failed || text.failed;
    rung_buf_clear(&text);
}

static void print_engine(rung_buf *out, const rung_card *card)
{
    rung_buf text;
    if (!card->engine) return;
    rung_buf_init(&text);
    if (card->has_reserved) {
        rung_card_put_bytes(&text, card->reserved);
        rung_buf_printf(&text, " reserved by %s for the batch, %.1f %% more than held; ", card->engine->name,
                        card->batch_held ? 100 * ((double)card->reserved / (double)card->batch_held - 1) : 0.0);
    } else {
        rung_buf_printf(&text, "%s: not known for these layers: %s; ", card->engine->name, card->reserved_why);
    }
    rung_buf_printf(&text, "%s [%s]", card->engine->rule, card->engine->source);
    print_row(out, "reserved", text.text ? text.text : "");
    out->failed = out->failed || text.failed;
    rung_buf_clear(&text);
}

static void print_reach(rung_buf *out, const rung_card *card)
{
    char text[160];
    if (!card->reach_layers) return;
    snprintf(text, sizeof text, "%llu tokens back through windows alone (%zu layers together)",
             (unsigned long long)card->reach, card->reach_layers);
    print_row(out, "reach", text);
}

static void put_evidence(rung_buf *out, const rung_card_verdict *v)
{
    bool theorem = v->basis == RUNG_BASIS_THEOREM;
    rung_buf_printf(out, "%s%s%s", theorem ? "theorem " : "weights", theorem ? v->by : "",
                    v->trivial ? ", for any layers" : "");
    rung_buf_printf(out, ": %s", v->statement);
}

static void print_ability(rung_buf *out, const rung_card *card, rung_ability_kind kind)
{
    const rung_card_ability *a = &card->ability[kind];
    rung_buf text;
    rung_buf_init(&text);
    if (a->can_at) {
        rung_buf_printf(&text, "CAN at %llu %s, ", (unsigned long long)a->can_at, a->unit);
        put_evidence(&text, &a->can);
        rung_buf_puts(&text, a->cannot_from || a->otherwise[0] ? "\n" : "");
    }
    if (a->cannot_from) {
        rung_buf_printf(&text, "CANNOT from %llu %s on", (unsigned long long)a->cannot_from, a->unit);
        if (a->asked_up_to) rung_buf_printf(&text, " (asked up to %llu)", (unsigned long long)a->asked_up_to);
        rung_buf_puts(&text, ", ");
        put_evidence(&text, &a->cannot);
        rung_buf_puts(&text, a->otherwise[0] ? "\n" : "");
    }
    if (a->otherwise[0])
        rung_buf_printf(&text, "%s: %s", a->can_at || a->cannot_from ? "UNKNOWN otherwise" : "UNKNOWN", a->otherwise);
    print_row(out, rung_ability_names[kind], text.text ? text.text : "");
    out->failed = out->failed || text.failed;
    rung_buf_clear(&text);
}

static void print_measured(rung_buf *out, const rung_card_recall *r)
{
    char text[320];
    const rung_recall_answer *m = &r->measured;
    if (m->no_law)
        snprintf(text, sizeof text, "no law for a layer of %s: %s", r->law_mechanism, m->no_law);
    else
        snprintf(text, sizeof text,
                 "one trained layer of %s looks up about %.0f entries of %d values at accuracy %g (95 %%: %.0f to "
                 "%.0f)%s; see 'rung recall'",
                 r->law_mechanism, m->entries, RUNG_CARD_LAW_VALUES, RUNG_CARD_LAW_ACCURACY, m->low, m->high,
                 m->beyond ? ", extrapolated beyond the sizes that were measured" : "");
    print_row(out, RUNG_RECALL_STATUS, text);
}

static void print_recall(rung_buf *out, const rung_card *card)
{
    const rung_card_recall *r = &card->recall;
    rung_buf text;
    if (!r->layers) return;
    rung_buf_init(&text);
    rung_buf_printf(&text, "%zu layers with a state of %llu bits, alone: ", r->layers,
                    (unsigned long long)r->state_bits);
    if (r->limit) {
        rung_buf_printf(&text, "CANNOT recall tables from %llu entries on, ", (unsigned long long)r->limit);
        put_evidence(&text, &r->proved);
    } else {
        rung_buf_printf(&text, "UNKNOWN: %s", r->proved.statement);
    }
    print_row(out, "recurrent part", text.text ? text.text : "");
    if (r->asked_law) print_measured(out, r);
    out->failed = out->failed || text.failed;
    rung_buf_clear(&text);
}

static void print_abilities(rung_buf *out, const rung_card *card)
{
    if (!card->has_abilities) return;
    rung_buf_putc(out, '\n');
    for (size_t i = 0; i < RUNG_ABILITIES; i++) print_ability(out, card, (rung_ability_kind)i);
    print_recall(out, card);
    print_row(out, "theorems speak of", card->about);
}

static void print_head(rung_buf *out, const rung_card *card)
{
    char numbers[256];
    rung_buf_printf(out, "%s%s%s%s%s\n", tool_style_bold(), card->name, tool_style_off(), card->family[0] ? "  " : "",
                    card->family);
    rung_ledger_counts(out, &card->layers);
    rung_buf_puts(out, "\norder: ");
    tool_wrap(out, card->order, 7, 7);
    snprintf(numbers, sizeof numbers, "\n%llu tokens%s, batch of %llu; keys and values in %d bits (%s)",
             (unsigned long long)card->context, card->context_from_file ? " (the context of the file)" : "",
             (unsigned long long)card->batch, card->numbers.kv_bits, card->numbers.kv_from);
    if (card->held.state) {
        size_t used = strlen(numbers);
        snprintf(numbers + used, sizeof numbers - used, ", states in %d bits (%s)", card->numbers.state_bits,
                 card->numbers.state_from);
    }
    tool_wrap(out, numbers, 0, 2);
    rung_buf_putc(out, '\n');
}

void tool_card_print(rung_buf *out, const rung_card *card)
{
    print_head(out, card);
    print_memory(out, card);
    rung_buf_putc(out, '\n');
    print_growth(out, card);
    print_budget(out, card);
    print_engine(out, card);
    print_reach(out, card);
    print_abilities(out, card);
    for (size_t i = 0; i < card->notes; i++) print_row(out, "note", card->note[i]);
}

/* ---- side by side ------------------------------------------------------------------------------------------------ */

static void put_short_bytes(rung_buf *out, uint64_t bytes)
{
    if (bytes)
        rung_card_put_bytes_short(out, bytes);
    else
        rung_buf_putc(out, '.');
}

static void put_count(rung_buf *out, uint64_t value)
{
    if (value == UINT64_MAX)
        rung_buf_puts(out, "any");
    else if (value)
        rung_buf_printf(out, "%llu", (unsigned long long)value);
    else
        rung_buf_putc(out, '.');
}

#define ROW(name, put, expression)                                                                                     \
    static void name(rung_buf *out, const rung_card *c)                                                                \
    {                                                                                                                  \
        put(out, expression);                                                                                          \
    }
ROW(row_layers, put_count, c->layers.total)
ROW(row_full, put_count, c->layers.full)
ROW(row_recurrent, put_count, c->layers.recurrent)
ROW(row_window, put_count, c->layers.window + c->layers.chunk)
ROW(row_sparse, put_count, c->layers.sparse)
ROW(row_context, put_count, c->context)
ROW(row_kv_bits, put_count, (uint64_t)c->numbers.kv_bits)
ROW(row_state_bits, put_count, (uint64_t)c->numbers.state_bits)
ROW(row_caches, put_short_bytes, c->held.cache + c->held.index)
ROW(row_windows, put_short_bytes, c->held.window)
ROW(row_states, put_short_bytes, c->held.state)
ROW(row_convs, put_short_bytes, c->held.conv)
ROW(row_held, put_short_bytes, c->held.total)
ROW(row_read, put_short_bytes, c->read.total)
ROW(row_growth, put_short_bytes, c->growth)
ROW(row_dense, put_short_bytes, c->dense.exists ? c->dense.held.total : 0)
ROW(row_break_even, put_count, c->break_even)
ROW(row_sequences, put_count, c->budget ? c->budget_sequences : 0)
ROW(row_tokens, put_count, c->budget ? c->budget_tokens : 0)
ROW(row_reserved, put_short_bytes, c->has_reserved ? c->reserved : 0)
ROW(row_can_look_up, put_count, c->ability[RUNG_ABILITY_LOOKUP].can_at)
ROW(row_cannot_look_up, put_count, c->ability[RUNG_ABILITY_LOOKUP].cannot_from)
ROW(row_can_compose, put_count, c->ability[RUNG_ABILITY_COMPOSITION].can_at)
ROW(row_cannot_compose, put_count, c->ability[RUNG_ABILITY_COMPOSITION].cannot_from)
ROW(row_can_pair, put_count, c->ability[RUNG_ABILITY_TWO_SUM].can_at)
ROW(row_cannot_pair, put_count, c->ability[RUNG_ABILITY_TWO_SUM].cannot_from)
ROW(row_cannot_each, put_count, c->ability[RUNG_ABILITY_EACH].cannot_from)
ROW(row_recall, put_count, c->recall.limit)
ROW(row_measured, put_count,
    c->recall.asked_law && !c->recall.measured.no_law ? (uint64_t)c->recall.measured.entries : 0)

static const struct row {
    const char *label;
    void (*put)(rung_buf *out, const rung_card *card);
} rows[] = {
    {"layers", row_layers},
    {"  full", row_full},
    {"  recurrent", row_recurrent},
    {"  window or chunk", row_window},
    {"  sparse", row_sparse},
    {"context, tokens", row_context},
    {"bits of keys and values", row_kv_bits},
    {"bits of states", row_state_bits},
    {"held by a sequence: caches", row_caches},
    {"  windows", row_windows},
    {"  states", row_states},
    {"  convolutions", row_convs},
    {"  all layers", row_held},
    {"read for a new token", row_read},
    {"growth per token", row_growth},
    {"dense equivalent holds", row_dense},
    {"holds no more from tokens", row_break_even},
    {"sequences in the budget", row_sequences},
    {"tokens in the budget", row_tokens},
    {"reserved for the batch", row_reserved},
    {"look-up: CAN at entries", row_can_look_up},
    {"  CANNOT from", row_cannot_look_up},
    {"composition: CAN functions", row_can_compose},
    {"  CANNOT from", row_cannot_compose},
    {"two-sum: CAN at numbers", row_can_pair},
    {"  CANNOT from", row_cannot_pair},
    {"two-sum at each: CANNOT from", row_cannot_each},
    {"recurrent part: CANNOT recall", row_recall},
    {"measured: one layer recalls", row_measured},
};

static void print_one_row(rung_buf *out, const struct row *row, const rung_card *cards, size_t count)
{
    rung_buf line, cell;
    bool empty = true;
    rung_buf_init(&line), rung_buf_init(&cell);
    rung_buf_printf(&line, "%-*s", LABEL, row->label);
    for (size_t i = 0; i < count; i++) {
        rung_buf_reset(&cell);
        row->put(&cell, &cards[i]);
        empty = empty && cell.text && strcmp(cell.text, ".") == 0;
        rung_buf_printf(&line, "%*s", COLUMN, cell.text ? cell.text : "");
    }
    if (!empty) rung_buf_printf(out, "%s\n", line.text ? line.text : "");
    out->failed = out->failed || line.failed || cell.failed;
    rung_buf_clear(&line), rung_buf_clear(&cell);
}

void tool_cards_print(rung_buf *out, const rung_card *cards, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rung_buf_printf(out, "[%zu] %s%s%s  %s\n", i + 1, tool_style_bold(), cards[i].name, tool_style_off(),
                        cards[i].order);
    rung_buf_printf(out, "\n%-*s", LABEL, "");
    for (size_t i = 0; i < count; i++) {
        char head[32];
        snprintf(head, sizeof head, "[%zu]", i + 1);
        rung_buf_printf(out, "%*s", COLUMN, head);
    }
    rung_buf_putc(out, '\n');
    for (size_t r = 0; r < RUNG_COUNT(rows); r++) print_one_row(out, &rows[r], cards, count);
}
