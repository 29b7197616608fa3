/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Cards: what a subject holds and reads at a context, against its baselines, a budget and a server.
 */
#include "card_inside.h"

#include <string.h>

enum { KINDS_MAX = 4096, NOTES_MAX = 16 };

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Bits of a number as a server keeps it. A dtype of 8 bits is that of weights; caches are as wide as activations. */
static rung_card_numbers numbers_of(const rung_ledger *ledger, const rung_card_options *o)
{
    rung_card_numbers n = {.kv_bits = 16, .kv_from = "assumed"};
    if (ledger->number_bits >= 16) n.kv_bits = ledger->number_bits, n.kv_from = "the dtype of the file";
    if (o->kv) n.kv_bits = o->kv->bits, n.kv_from = "asked for";
    n.state_bits = ledger->number_bits >= 16 ? ledger->number_bits : 16;
    n.state_from = ledger->number_bits >= 16 ? "the dtype of the file" : "assumed";
    if (ledger->state_bits) n.state_bits = ledger->state_bits, n.state_from = "the file or the published code";
    if (o->state) n.state_bits = o->state->bits, n.state_from = "asked for";
    return n;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

char *card_written(rung_card *card, void (*write)(rung_buf *out, const void *what), const void *what, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    write(&text, what);
    rung_status status = rung_buf_ok(&text, err);
    char *copy = status == RUNG_OK ? rung_arena_strdup(&card->arena, text.text ? text.text : "", err) : NULL;
    rung_buf_clear(&text);
    return copy;
}

static void write_order(rung_buf *out, const void *ledger)
{
    rung_ledger_order(out, ledger);
}

static uint64_t growth_of(const rung_ledger *ledger, uint64_t tokens, const rung_card_numbers *numbers)
{
    rung_card_bytes now = rung_card_held_by(ledger, tokens, numbers),
                    next = rung_card_held_by(ledger, tokens + 1, numbers);
    return next.total - now.total;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static rung_card_bytes scaled(rung_card_bytes b, uint64_t by)
{
    return (rung_card_bytes){times(b.cache, by), times(b.index, by), times(b.window, by),
                             times(b.state, by), times(b.conv, by),  times(b.total, by)};
}

static rung_status fill_kinds(rung_card *card, rung_error *err)
{
    size_t room = card->ledger->layer_count < KINDS_MAX ? card->ledger->layer_count : KINDS_MAX;
    rung_ledger_kind *kind = rung_arena_alloc(&card->arena, room, sizeof *kind, err);
    card->kind = rung_arena_alloc(&card->arena, room, sizeof *card->kind, err);
    if (!kind || !card->kind) return RUNG_SYSTEM;
    size_t kinds = rung_ledger_kinds(kind, room, card->ledger);
    card->kinds = kinds < room ? kinds : room;
    for (size_t k = 0; k < card->kinds; k++) {
        const rung_ledger_layer *layer = &card->ledger->layer[kind[k].first];
        card->kind[k] =
            (rung_card_kind){.mechanism = rung_held_mechanism(layer),
                             .layer = layer,
                             .count = kind[k].count,
                             .held = scaled(rung_card_held(layer, card->context, &card->numbers), kind[k].count),
                             .read = scaled(rung_card_read(layer, card->context, &card->numbers), kind[k].count)};
    }
    return RUNG_OK;
}

/* ---- baselines --------------------------------------------------------------------------------------------------- */

static rung_status fill_baseline(rung_card *card, rung_card_baseline *base, const rung_subject *subject,
                                 const char *change, rung_error *err)
{
    rung_subject *other;
    rung_error why = {{0}};
    rung_status status = rung_card_variant(&other, subject, change, &why);
    if (status == RUNG_USAGE) {
        base->why = rung_arena_strdup(&card->arena, why.text, err);
        return base->why ? RUNG_OK : RUNG_SYSTEM;
    }
    if (status != RUNG_OK) {
        if (err) *err = why;
        return status;
    }
    const rung_ledger *ledger = rung_subject_ledger(other);
    base->exists = true;
    base->held = rung_card_held_by(ledger, card->context, &card->numbers);
    base->read = rung_card_read_by(ledger, card->context, &card->numbers);
    base->growth = growth_of(ledger, card->context, &card->numbers);
    base->order = card_written(card, write_order, ledger, err);
    if (strcmp(change, "dense") == 0) card->break_even = rung_card_break_even(card->ledger, ledger, &card->numbers);
    rung_subject_free(other);
    return base->order ? RUNG_OK : RUNG_SYSTEM;
}

/* ---- budget, server, reach --------------------------------------------------------------------------------------- */

static void fill_budget(rung_card *card, const rung_card_options *o)
{
    card->budget = o->budget;
    if (!o->budget) return;
    card->budget_tokens = rung_card_tokens_in(o->budget, card->batch, card->ledger, &card->numbers);
    card->budget_sequences = card->held.total ? o->budget / card->held.total : UINT64_MAX;
}

static void fill_engine(rung_card *card, const rung_card_options *o)
{
    card->engine = o->engine;
    if (!o->engine) return;
    card->has_reserved = o->engine->reserves(&card->reserved, &card->reserved_why, card->ledger, card->context,
                                             card->batch, &card->numbers);
}

/* A window of W tokens sees W - 1 tokens back, and layers add up. */
static void fill_reach(rung_card *card)
{
    for (size_t i = 0; i < card->ledger->layer_count; i++) {
        const rung_ledger_layer *layer = &card->ledger->layer[i];
        if (!layer->window || !layer->window_size) continue;
        uint64_t back = layer->window_size - 1;
        card->reach = card->reach > UINT64_MAX - back ? UINT64_MAX : card->reach + back;
        card->reach_layers++;
    }
}

/* ---- notes ------------------------------------------------------------------------------------------------------- */

static void add_note(rung_card *card, bool is, const char *text)
{
    if (is) card->note[card->notes++] = text;
}

static rung_status fill_notes(rung_card *card, rung_error *err)
{
    const rung_ledger *ledger = card->ledger;
    bool shares = false, selects = false, levels = false;
    card->note = rung_arena_alloc(&card->arena, ledger->note_count + NOTES_MAX, sizeof *card->note, err);
    if (!card->note) return RUNG_SYSTEM;
    for (size_t i = 0; i < ledger->note_count; i++) add_note(card, true, ledger->note[i]);
    for (size_t i = 0; i < ledger->layer_count; i++) {
        const rung_ledger_layer *layer = &ledger->layer[i];
        shares |= layer->heads && !layer->kv_per_token && !layer->window_elements;
        selects |= layer->sparse && layer->summary_elements;
        levels |= layer->levels;
    }
    add_note(card, shares, "layers that share a cache also read it; their reads are not counted");
    add_note(card, selects, "summaries of blocks are counted where they are read, and not among what is held");
    add_note(card, levels, "log-linear attention is counted with the most levels that it has at any token");
    return RUNG_OK;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static rung_status fill_memory(rung_card *card, const rung_subject *subject, const rung_card_options *o,
                               rung_error *err)
{
    card->held = rung_card_held_by(card->ledger, card->context, &card->numbers);
    card->read = rung_card_read_by(card->ledger, card->context, &card->numbers);
    card->growth = growth_of(card->ledger, card->context, &card->numbers);
    card->batch_held = times(card->held.total, card->batch);
    RUNG_TRY(fill_kinds(card, err));
    RUNG_TRY(fill_baseline(card, &card->dense, subject, "dense", err));
    RUNG_TRY(fill_baseline(card, &card->recurrent, subject, "recurrent", err));
    fill_budget(card, o);
    fill_engine(card, o);
    fill_reach(card);
    return fill_notes(card, err);
}

rung_status rung_card_make(rung_card *card, const rung_subject *subject, const char *name, const rung_card_options *o,
                           rung_error *err)
{
    const rung_ledger *ledger = rung_subject_ledger(subject);
    *card = (rung_card){.ledger = ledger, .batch = o->batch ? o->batch : 1};
    rung_arena_init(&card->arena);
    card->context_from_file = !o->context && ledger->context;
    card->context = o->context ? o->context : ledger->context ? ledger->context : RUNG_CARD_CONTEXT;
    card->numbers = numbers_of(ledger, o);
    card->layers = rung_ledger_total(ledger);
    card->family = ledger->family;
    card->name = rung_arena_strdup(&card->arena, name, err);
    card->order = card_written(card, write_order, ledger, err);
    rung_status status = card->name && card->order ? RUNG_OK : RUNG_SYSTEM;
    RUNG_NEXT(status, fill_memory(card, subject, o, err));
    if (status == RUNG_OK && !o->memory_only) status = card_abilities(card, subject, o, err);
    return status;
}

void rung_card_clear(rung_card *card)
{
    rung_arena_clear(&card->arena);
    *card = (rung_card){0};
}
