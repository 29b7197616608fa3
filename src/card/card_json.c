/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Cards for programs. Keys name their unit. What is a sum over layers, the largest layer or one layer stands in an
 * object that says so.
 */
#include "card_inside.h"

/* null where there is no number, rather than a 0 that could be one. */
static void json_some(rung_jout *out, const char *key, uint64_t value)
{
    if (value)
        rung_jout_count(out, key, value);
    else
        rung_jout_null(out, key);
}

static void json_bytes(rung_jout *out, const char *key, const rung_card_bytes *b)
{
    rung_jout_flat_object(out, key);
    rung_jout_count(out, "cache_bytes", b->cache);
    rung_jout_count(out, "index_bytes", b->index);
    rung_jout_count(out, "window_bytes", b->window);
    rung_jout_count(out, "state_bytes", b->state);
    rung_jout_count(out, "conv_bytes", b->conv);
    rung_jout_count(out, "total_bytes", b->total);
    rung_jout_end(out);
}

static void json_numbers(rung_jout *out, const rung_card_numbers *n)
{
    rung_jout_object(out, "numbers");
    rung_jout_int(out, "kv_bits", n->kv_bits);
    rung_jout_string(out, "kv_bits_from", n->kv_from);
    rung_jout_int(out, "state_bits", n->state_bits);
    rung_jout_string(out, "state_bits_from", n->state_from);
    rung_jout_end(out);
}

static void json_kinds(rung_jout *out, const rung_card *card)
{
    rung_jout_array(out, "kinds");
    for (size_t k = 0; k < card->kinds; k++) {
        const rung_card_kind *kind = &card->kind[k];
        rung_jout_object(out, NULL);
        rung_jout_string(out, "mechanism", kind->mechanism);
        rung_jout_count(out, "layers", kind->count);
        json_bytes(out, "held_by_all_of_them", &kind->held);
        json_bytes(out, "read_by_all_of_them", &kind->read);
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

static void json_baseline(rung_jout *out, const char *key, const rung_card_baseline *base)
{
    rung_jout_object(out, key);
    rung_jout_bool(out, "exists", base->exists);
    if (base->exists) {
        rung_jout_string(out, "order", base->order);
        json_bytes(out, "held_by_one_sequence", &base->held);
        json_bytes(out, "read_for_one_token", &base->read);
        rung_jout_count(out, "growth_bytes_per_token", base->growth);
    } else {
        rung_jout_string(out, "why", base->why);
    }
    rung_jout_end(out);
}

static void json_memory(rung_jout *out, const rung_card *card)
{
    rung_jout_object(out, "memory");
    json_bytes(out, "held_by_one_sequence", &card->held);
    json_bytes(out, "read_for_one_token", &card->read);
    rung_jout_count(out, "growth_bytes_per_token", card->growth);
    rung_jout_count(out, "held_by_batch_bytes", card->batch_held);
    rung_jout_bool(out, "weights_counted", false);
    json_kinds(out, card);
    json_baseline(out, "dense_equivalent", &card->dense);
    json_baseline(out, "without_full_layers", &card->recurrent);
    json_some(out, "break_even_tokens", card->break_even);
    rung_jout_end(out);
}

static void json_budget(rung_jout *out, const rung_card *card)
{
    if (!card->budget) return;
    rung_jout_object(out, "budget");
    rung_jout_count(out, "bytes", card->budget);
    if (card->budget_tokens == UINT64_MAX)
        rung_jout_null(out, "tokens_per_sequence_of_batch");
    else
        rung_jout_count(out, "tokens_per_sequence_of_batch", card->budget_tokens);
    rung_jout_bool(out, "grows", card->budget_tokens != UINT64_MAX);
    rung_jout_count(out, "sequences_at_context", card->budget_sequences);
    rung_jout_end(out);
}

static void json_engine(rung_jout *out, const rung_card *card)
{
    if (!card->engine) return;
    rung_jout_object(out, "engine");
    rung_jout_string(out, "name", card->engine->name);
    rung_jout_string(out, "rule", card->engine->rule);
    rung_jout_string(out, "source", card->engine->source);
    if (card->has_reserved)
        rung_jout_count(out, "reserved_by_batch_bytes", card->reserved);
    else
        rung_jout_null(out, "reserved_by_batch_bytes");
    rung_jout_string(out, "why", card->has_reserved ? NULL : card->reserved_why);
    rung_jout_end(out);
}

static void json_verdict(rung_jout *out, const char *key, const rung_card_verdict *v)
{
    if (!v->verdict) {
        rung_jout_null(out, key);
        return;
    }
    rung_jout_object(out, key);
    rung_jout_string(out, "verdict", rung_verdict_names[v->verdict - 1]);
    rung_jout_string(out, "basis", rung_basis_names[v->basis]);
    rung_jout_string(out, "by", v->by && v->by[0] ? v->by : NULL);
    rung_jout_string(out, "task", v->task);
    rung_jout_count(out, "tokens", v->tokens);
    rung_jout_bool(out, "any_size_up_to_tokens", v->any_size);
    rung_jout_string(out, "shown", v->statement);
    rung_jout_string(out, "about", v->about);
    rung_jout_bool(out, "trivial", v->trivial);
    rung_jout_end(out);
}

static void json_abilities(rung_jout *out, const rung_card *card)
{
    if (!card->has_abilities) return;
    rung_jout_string(out, "theorems_about", card->about);
    rung_jout_object(out, "abilities");
    for (size_t i = 0; i < RUNG_ABILITIES; i++) {
        const rung_card_ability *a = &card->ability[i];
        rung_jout_object(out, rung_ability_names[i]);
        rung_jout_string(out, "unit", a->unit);
        json_some(out, "can_at", a->can_at);
        json_some(out, "cannot_from", a->cannot_from);
        json_some(out, "asked_up_to", a->asked_up_to);
        json_verdict(out, "can", &a->can);
        json_verdict(out, "cannot", &a->cannot);
        rung_jout_string(out, "otherwise", a->otherwise && a->otherwise[0] ? a->otherwise : NULL);
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

/* Apart from what is proved, and named so. */
static void json_measured(rung_jout *out, const rung_card_recall *r)
{
    const rung_recall_answer *m = &r->measured;
    if (!r->asked_law) return;
    rung_jout_object(out, "measured_not_proved");
    rung_jout_string(out, "status", RUNG_RECALL_STATUS);
    rung_jout_string(out, "of_one_layer", r->law_mechanism);
    rung_jout_count(out, "heads", r->law_state.heads);
    rung_jout_count(out, "dk", r->law_state.dk);
    rung_jout_count(out, "dv", r->law_state.dv);
    rung_jout_int(out, "values", RUNG_CARD_LAW_VALUES);
    rung_jout_real(out, "accuracy", RUNG_CARD_LAW_ACCURACY);
    rung_jout_string(out, "no_law", m->no_law);
    if (!m->no_law) {
        rung_jout_real(out, "entries", m->entries);
        rung_jout_real(out, "entries_low", m->low);
        rung_jout_real(out, "entries_high", m->high);
        rung_jout_bool(out, "extrapolated", m->beyond);
    }
    rung_jout_end(out);
}

static void json_recall(rung_jout *out, const rung_card *card)
{
    const rung_card_recall *r = &card->recall;
    if (!card->has_abilities || !r->layers) return;
    rung_jout_object(out, "recall_of_recurrent_part");
    rung_jout_count(out, "layers", r->layers);
    rung_jout_count(out, "state_bits", r->state_bits);
    json_some(out, "cannot_recall_from_entries", r->limit);
    json_verdict(out, "proved", &r->proved);
    json_measured(out, r);
    rung_jout_end(out);
}

void rung_card_json(rung_jout *out, const rung_card *card)
{
    rung_jout_string(out, "input", card->name);
    rung_jout_string(out, "family", card->family[0] ? card->family : NULL);
    rung_jout_string(out, "order", card->order);
    rung_ledger_counts_json(out, &card->layers);
    rung_jout_count(out, "context_tokens", card->context);
    rung_jout_bool(out, "context_from_file", card->context_from_file);
    rung_jout_count(out, "batch_sequences", card->batch);
    json_numbers(out, &card->numbers);
    json_memory(out, card);
    json_budget(out, card);
    json_engine(out, card);
    json_abilities(out, card);
    json_recall(out, card);
    json_some(out, "window_reach_tokens", card->reach);
    rung_jout_count(out, "window_layers", card->reach_layers);
    rung_jout_array(out, "notes");
    for (size_t i = 0; i < card->notes; i++) rung_jout_string(out, NULL, card->note[i]);
    rung_jout_end(out);
}

void rung_cards_json(rung_buf *text, const rung_card *cards, size_t count)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.card/1", true);
    rung_jout_array(&out, "cards");
    for (size_t i = 0; i < count; i++) {
        rung_jout_object(&out, NULL);
        rung_card_json(&out, &cards[i]);
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    rung_jout_finish(&out);
}
