/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What was sent beside what `rung bound` counts: the module of protocols knows no bounds, and the bounds no
 * protocols, so that each confirms the other.
 */
#include "played.h"
#include "rung/bound.h"

uint64_t rung_played_bits(const rung_played *p, size_t layer, size_t cut, rung_sent what)
{
    const rung_transcript *t = &p->transcript;
    return t->bits[(layer * t->cuts + cut) * RUNG_SENT_COUNTED + what];
}

size_t audit_receivers(const rung_played *p, size_t layer, size_t from)
{
    size_t asked = 0;
    for (size_t i = 0; i < p->asked; i++) asked += p->at[i] >= from;
    return layer + 1 == p->transcript.layers ? asked : p->tokens - from;
}

void rung_played_mechanisms(rung_buf *out, const rung_played *p, size_t layer)
{
    const rung_layer *l = &rung_model_get_arch(p->play.model)->layer[layer];
    for (size_t g = 0; g < l->group_count; g++) rung_buf_printf(out, "%s%s", g ? "+" : "", l->group[g].mech->name);
}

/* The ledger is about long prefixes; before a token at `cut` a lone window may not be full yet, and log-linear
 * attention has a matrix for every one-bit of the position. */
static uint64_t carried_at(const rung_ledger_layer *held, size_t cut, int bits, bool alone)
{
    const rung_arithmetic numbers = rung_arithmetic_plain(RUNG_KERNEL_ONLINE, bits, RUNG_MESSAGE_ONLINE);
    uint64_t p = (uint64_t)bits, sum = rung_layer_bits_of(held, &numbers).carried;
    if (held->levels) sum += (uint64_t)__builtin_popcountll(cut) * held->state_elements * p - held->state_elements * p;
    if (alone && held->window && cut < held->window_size)
        sum -= held->window_elements / held->window_size * (held->window_size - cut) * p;
    return sum;
}

/* What the ledger says of one layer over one cut: states, accumulators for everybody behind it, summaries of the
 * blocks before it. */
static uint64_t ledger_at(const rung_played *p, const rung_ledger_layer *held, size_t layer, size_t cut)
{
    int bits = p->play.how->numbers->bits;
    size_t at = p->player[cut + 1].start;
    bool alone = rung_model_get_arch(p->play.model)->layer[layer].group_count == 1;
    const rung_arithmetic numbers = rung_arithmetic_plain(RUNG_KERNEL_ONLINE, bits, RUNG_MESSAGE_ONLINE);
    uint64_t message = rung_layer_bits_of(held, &numbers).message;
    uint64_t summaries = held->sparse ? at / held->block * held->summary_elements * (uint64_t)bits : 0;
    return carried_at(held, at, bits, alone) + message * audit_receivers(p, layer, at) + summaries;
}

/* No token opens more than k blocks per head. A token has a key and a value, and so has a summary unless one vector is
 * both. */
static bool opens_too_much(const rung_played *p, const rung_ledger_layer *held, size_t layer, size_t cut)
{
    uint64_t token = held->heads * (held->key_dim + held->value_dim);
    if (token < held->summary_elements) token = held->summary_elements;
    uint64_t each = held->top * held->block * token * (uint64_t)p->play.how->numbers->bits;
    size_t tokens = audit_receivers(p, layer, p->player[cut + 1].start);
    return rung_played_bits(p, layer, cut, RUNG_SENT_OPENED) > each * tokens;
}

/* The game sends one message for every pair of players, where the protocol hands one accumulator along the line. */
static uint64_t game_bits_of(const rung_played *p, const rung_ledger_layer *held)
{
    int bits = p->play.how->numbers->bits;
    const rung_arithmetic numbers = rung_arithmetic_plain(RUNG_KERNEL_ONLINE, bits, RUNG_MESSAGE_PAPER);
    uint64_t message = rung_layer_bits_of(held, &numbers).message, sum = 0;
    for (size_t i = 1; i < p->players; i++)
        sum += message * i * p->player[i].len + carried_at(held, p->player[i].start, bits, true);
    return sum;
}

rung_status audit_ledger(rung_played *p, rung_error *err)
{
    const rung_transcript *t = &p->transcript;
    rung_subject *subject;
    RUNG_TRY(rung_subject_model(&subject, p->play.model, "", err));
    const rung_ledger_layer *held = rung_subject_ledger(subject)->layer;
    p->ledger = rung_calloc(t->layers * t->cuts, sizeof *p->ledger, err);
    p->agreement = RUNG_LEDGER_EQUAL;
    for (size_t i = 0; p->ledger && i < t->layers * t->cuts; i++) {
        size_t layer = i / t->cuts, cut = i % t->cuts;
        uint64_t sent = rung_played_bits(p, layer, cut, RUNG_SENT_STATE) +
                        rung_played_bits(p, layer, cut, RUNG_SENT_ACCUMULATORS) +
                        rung_played_bits(p, layer, cut, RUNG_SENT_SUMMARIES);
        p->ledger[i] = ledger_at(p, &held[layer], layer, cut);
        if (sent < p->ledger[i] && p->agreement == RUNG_LEDGER_EQUAL) p->agreement = RUNG_LEDGER_LESS;
        if (sent > p->ledger[i] || (held[layer].sparse && opens_too_much(p, &held[layer], layer, cut)))
            p->agreement = RUNG_LEDGER_MORE;
    }
    bool sparse = false;
    for (size_t l = 0; l < t->layers; l++) {
        sparse = sparse || held[l].sparse;
        p->game_bits += game_bits_of(p, &held[l]);
    }
    if (sparse) p->game_bits = 0;
    rung_subject_free(subject);
    return p->ledger ? RUNG_OK : RUNG_SYSTEM;
}
