/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The ledger of an architecture in the arch language: the class of each mechanism and the bits it carries, from its
 * registry row. If a row does not state its class, the kinds of the layers are not established, and no theorem applies
 * to them.
 */
#include "subject.h"

#include <string.h>

/* A number of tokens at which every window is full and every state has its final size. Log-linear attention has one
 * level there. */
#define LONG_PREFIX ((size_t)1 << 40)

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t as_u64(size_t elements)
{
    return elements == SIZE_MAX ? UINT64_MAX : elements;
}

static void hold_heads(rung_ledger_layer *held, const rung_mech_conf *conf)
{
    held->heads = plus(held->heads, conf->heads);
    if (conf->dv > held->value_dim) held->value_dim = conf->dv;
    if (conf->dk > held->key_dim) held->key_dim = conf->dk;
}

static void hold_selection(rung_ledger_layer *held, const rung_mech_conf *conf)
{
    rung_selection s = conf->mech->selects(conf);
    held->sparse = true;
    held->block = s.block, held->top = s.top, held->window_size = s.window;
    held->summary_elements = s.summary, held->index_elements = s.index;
    held->summary_by_position = s.summary_by_position;
}

/* The shape of a state that is a matrix of keys by values, with or without a normaliser, and the only one of its layer. */
static void hold_shape(rung_ledger_layer *held, const rung_mech_conf *conf, size_t elements)
{
    size_t matrix = conf->heads * conf->dk * conf->dv, sums = conf->heads * conf->dk;
    bool only = held->state_elements == 0 && (elements == matrix || elements == matrix + sums);
    held->state_heads = only ? conf->heads : 0;
    held->state_key_dim = only ? conf->dk : 0;
    held->state_value_dim = only ? conf->dv : 0;
    held->state_row = held->state_elements ? 0 : conf->dv, held->state_units = held->state_elements ? 0 : conf->heads;
}

/* What a mechanism of this class carries from token to token. False if the row does not state its class. */
static bool hold_class(rung_ledger_layer *held, const rung_mech_conf *conf)
{
    rung_carry far = conf->mech->carry(conf, LONG_PREFIX), one = conf->mech->carry(conf, 1);
    switch (conf->mech->class_of) {
    case RUNG_CLASS_SCAN:
        held->full = true;
        break;
    case RUNG_CLASS_WINDOW:
        held->window = true, held->window_size = one.window ? as_u64(far.window) / one.window : 0;
        held->window_elements = plus(held->window_elements, as_u64(far.window));
        break;
    case RUNG_CLASS_BLOCKS:
    case RUNG_CLASS_TOP:
        hold_selection(held, conf);
        break;
    case RUNG_CLASS_LEVELS:
        held->levels = true;
        held->recurrent = true, held->state_elements = plus(held->state_elements, as_u64(far.recurrent));
        return true;
    case RUNG_CLASS_STATE:
        hold_shape(held, conf, far.recurrent);
        held->recurrent = true, held->state_elements = plus(held->state_elements, as_u64(far.recurrent));
        return true;
    case RUNG_CLASS_TOKENWISE:
        held->mlp = true;
        return true;
    default:
        return false;
    }
    /* the cache of a row has the keys of its indexer too; a ledger counts them apart */
    uint64_t cache = as_u64(one.cache), index = held->sparse ? held->index_elements : 0;
    held->kv_per_token = plus(held->kv_per_token, cache > index ? cache - index : 0);
    hold_heads(held, conf);
    return true;
}

static void hold_group(rung_ledger *ledger, rung_ledger_layer *held, const rung_mech_conf *conf)
{
    size_t used = strlen(held->mechanism);
    snprintf(held->mechanism + used, sizeof held->mechanism - used, "%s%s", used ? "+" : "", conf->mech->name);
    held->conv_elements = plus(held->conv_elements, rung_head_group_conv_elements(conf));
    if (held->conv_elements) held->recurrent = true;
    if (!hold_class(held, conf))
        ledger->known[RUNG_LEDGER_KINDS] =
            (rung_known){RUNG_NOT_ESTABLISHED, "the registry row of a mechanism does not state its class"};
    if (!conf->causal)
        ledger->known[RUNG_LEDGER_CAUSAL] = (rung_known){RUNG_VIOLATED, "the layers have no causal mask"};
}

/* A layer is without token mixing only if all its groups are. */
static void unmark_mixing(rung_ledger_layer *held)
{
    held->mlp = held->mlp && !held->full && !held->recurrent && !held->window && !held->sparse;
}

rung_status claim_ledger_of_arch(rung_ledger *ledger, const rung_arch *arch, const char *name, rung_error *err)
{
    *ledger = (rung_ledger){.layer_count = arch->layer_count};
    rung_arena_init(&ledger->arena);
    ledger->layer = rung_arena_alloc(&ledger->arena, arch->layer_count, sizeof *ledger->layer, err);
    ledger->name = rung_arena_strdup(&ledger->arena, name, err);
    ledger->family = rung_arena_strdup(&ledger->arena, "", err);
    ledger->spelling = rung_arena_strdup(&ledger->arena, "arch", err);
    if (!ledger->layer || !ledger->name || !ledger->family || !ledger->spelling) return RUNG_SYSTEM;
    for (size_t f = 0; f < RUNG_LEDGER_FACTS; f++)
        ledger->known[f] = (rung_known){RUNG_ESTABLISHED, "the architecture states it"};
    for (size_t i = 0; i < arch->layer_count; i++) {
        for (size_t g = 0; g < arch->layer[i].group_count; g++)
            hold_group(ledger, &ledger->layer[i], &arch->layer[i].group[g]);
        unmark_mixing(&ledger->layer[i]);
    }
    return RUNG_OK;
}
