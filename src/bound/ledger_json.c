/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The layers of a claim for programs.
 */
#include "rung/bound.h"

void rung_ledger_counts_json(rung_jout *out, const rung_ledger_sum *sum)
{
    rung_jout_flat_object(out, "layers");
    rung_jout_count(out, "total", sum->total);
    rung_jout_count(out, "full", sum->full);
    rung_jout_count(out, "recurrent", sum->recurrent);
    rung_jout_count(out, "window", sum->window);
    rung_jout_count(out, "chunk", sum->chunk);
    rung_jout_count(out, "sparse", sum->sparse);
    rung_jout_count(out, "mlp", sum->mlp);
    rung_jout_count(out, "both", sum->both);
    rung_jout_end(out);
}

static void json_elements(rung_jout *out, const rung_ledger_elements *e)
{
    rung_jout_count(out, "state_elements", e->state_elements);
    rung_jout_count(out, "conv_elements", e->conv_elements);
    rung_jout_count(out, "window_elements", e->window_elements);
    rung_jout_count(out, "extra_elements", e->extra_elements);
    rung_jout_count(out, "kv_elements_per_token", e->kv_per_token);
    rung_jout_count(out, "index_elements_per_token", e->index_per_token);
}

static void json_bits(rung_jout *out, uint64_t carried, uint64_t message)
{
    rung_jout_count(out, "carried_bits", carried);
    rung_jout_count(out, "carried_bytes", carried / 8 + (carried % 8 != 0));
    rung_jout_count(out, "message_bits_per_token", message);
}

/* rung.ledger/2: what is a sum and what is the largest stand apart, and every key has its unit. */
static void json_ledger(rung_jout *out, const rung_ledger_view *view, const rung_arithmetic *numbers)
{
    rung_jout_object(out, "ledger");
    rung_jout_string(out, "schema", "rung.ledger/2");
    rung_jout_flat_object(out, "bits_per_number");
    rung_jout_int(out, "accumulators", numbers->accumulator_bits);
    rung_jout_int(out, "states", numbers->state_bits);
    rung_jout_int(out, "caches", numbers->cache_bits);
    rung_jout_end(out);
    rung_jout_object(out, "sum_over_layers");
    json_elements(out, &view->sum.all);
    json_bits(out, view->carried_bits, view->message_bits);
    rung_jout_count(out, "growth_bits_per_token", view->growth_bits);
    rung_jout_count(out, "growth_bytes_per_token", view->growth_bits / 8 + (view->growth_bits % 8 != 0));
    rung_jout_end(out);
    rung_jout_object(out, "largest_layer");
    json_elements(out, &view->sum.largest);
    json_bits(out, view->largest_carried_bits, view->largest_message_bits);
    rung_jout_end(out);
    rung_jout_bool(out, "one_level_of_log_linear", view->levels);
    rung_jout_end(out);
}

static void json_kinds(rung_jout *out, const rung_ledger_layer *held)
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

static void json_layer(rung_jout *out, const rung_ledger_layer *held, size_t index, rung_layer_bits bits)
{
    rung_jout_flat_object(out, NULL);
    rung_jout_count(out, "layer", index + 1);
    rung_jout_string(out, "mechanism", rung_held_mechanism(held));
    json_kinds(out, held);
    rung_jout_count(out, "state_elements", held->state_elements);
    rung_jout_count(out, "conv_elements", held->conv_elements);
    rung_jout_count(out, "window_elements", held->window_elements);
    rung_jout_count(out, "extra_elements", held->extra_elements);
    rung_jout_count(out, "kv_elements_per_token", held->kv_per_token);
    rung_jout_count(out, "index_elements_per_token", held->index_elements);
    json_bits(out, bits.carried, bits.message);
    if (held->heads) {
        rung_jout_count(out, "heads", held->heads);
        rung_jout_count(out, "key_dim", held->key_dim);
        rung_jout_count(out, "value_dim", held->value_dim);
    }
    if (held->window_size) rung_jout_count(out, "window_size", held->window_size);
    if (held->sparse) {
        rung_jout_count(out, "block", held->block);
        rung_jout_count(out, "top", held->top);
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
        rung_jout_flat_object(out, rung_premise_names[p]);
        rung_jout_string(out, "is", rung_fact_names[known.is]);
        rung_jout_string(out, "why", known.why);
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

static void write_arithmetic(rung_buf *out, const void *arithmetic)
{
    rung_arithmetic_print(out, arithmetic);
}

static void write_order(rung_buf *out, const void *ledger)
{
    rung_ledger_order(out, ledger);
}

static void json_arithmetic(rung_jout *out, const rung_arithmetic *a)
{
    rung_jout_written(out, "arithmetic", write_arithmetic, a);
    rung_jout_string(out, "kernel", a->kernel ? rung_kernel_names[a->kernel - 1] : NULL);
    if (a->tile) rung_jout_int(out, "tile", (int64_t)a->tile);
    rung_jout_string(out, "message", rung_message_names[a->message]);
}

void rung_ledger_json(rung_jout *out, const rung_claim *claim, const char *name)
{
    const rung_ledger *ledger = rung_claim_ledger(claim);
    rung_ledger_view view = rung_ledger_view_of(claim);
    rung_jout_string(out, "input", name);
    rung_jout_string(out, "family", ledger->family[0] ? ledger->family : NULL);
    rung_jout_string(out, "spelling", ledger->spelling);
    rung_jout_written(out, "order", write_order, ledger);
    rung_jout_bool(out, "causal", ledger->known[RUNG_LEDGER_CAUSAL].is == RUNG_ESTABLISHED);
    json_arithmetic(out, rung_claim_arithmetic(claim));
    json_premises(out, claim);
    if (ledger->context) rung_jout_count(out, "context", ledger->context);
    rung_ledger_counts_json(out, &view.sum);
    json_ledger(out, &view, rung_claim_arithmetic(claim));
    rung_jout_array(out, "per_layer");
    for (size_t i = 0; i < ledger->layer_count; i++)
        json_layer(out, &ledger->layer[i], i, rung_layer_bits_of(&ledger->layer[i], rung_claim_arithmetic(claim)));
    rung_jout_end(out);
    rung_jout_array(out, "notes");
    for (size_t i = 0; i < ledger->note_count; i++) rung_jout_string(out, NULL, ledger->note[i]);
    rung_jout_end(out);
}
