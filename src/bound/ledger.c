/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The ledger of an architecture of ours: what each registry row of a mechanism says that it carries.
 */
#include "rung/bound.h"

#include <string.h>

/* Tokens after which a window is full and every state has its final size; log-linear attention has one level there. */
#define LONG_PREFIX ((size_t)1 << 40)

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t as_u64(size_t elements)
{
    return elements == SIZE_MAX ? UINT64_MAX : elements;
}

static bool is_mech(const rung_mech_conf *conf, const char *name)
{
    return strcmp(conf->mech->name, name) == 0;
}

static void hold_sparse(rung_held *held, const rung_mech_conf *conf)
{
    held->sparse = true;
    if (is_mech(conf, "dsa")) {
        held->block = 1, held->top = (uint64_t)rung_mech_param(conf, "k");
        held->index_elements = (uint64_t)rung_mech_param(conf, "DI");
        return;
    }
    held->block = (uint64_t)rung_mech_param(conf, "B"), held->top = (uint64_t)rung_mech_param(conf, "k");
    held->summary_elements = conf->heads * (conf->dk + conf->dv);
    held->summary_by_position = rung_mech_param(conf, "comp") == 2; /* given: whatever the last token's input says */
    held->window_size = (uint64_t)rung_mech_param(conf, "W");
}

static void hold_attention(rung_held *held, const rung_mech_conf *conf)
{
    held->heads = plus(held->heads, conf->heads);
    if (conf->dv > held->value_dim) held->value_dim = conf->dv;
    if (conf->dk > held->key_dim) held->key_dim = conf->dk;
    if (is_mech(conf, "full")) held->full = true;
    if (is_mech(conf, "window")) {
        held->window = conf->causal, held->full = held->full || !conf->causal;
        held->window_size = (uint64_t)rung_mech_param(conf, "W");
    }
    if (is_mech(conf, "sparse") || is_mech(conf, "dsa")) hold_sparse(held, conf);
}

static void hold_group(rung_held *held, const rung_mech_conf *conf)
{
    rung_carry far = conf->mech->carry(conf, LONG_PREFIX), one = conf->mech->carry(conf, 1);
    size_t used = strlen(held->mechanism);
    snprintf(held->mechanism + used, sizeof held->mechanism - used, "%s%s", used ? "+" : "", conf->mech->name);
    held->conv_elements = plus(held->conv_elements, rung_group_conv_elements(conf));
    if (held->conv_elements) held->recurrent = true;
    if (conf->mech->recurrent) {
        held->recurrent = true, held->levels = held->levels || is_mech(conf, "loglinear");
        held->state_elements = plus(held->state_elements, as_u64(far.recurrent));
        return;
    }
    held->window_elements = plus(held->window_elements, as_u64(far.window));
    held->kv_per_token = plus(held->kv_per_token, as_u64(one.cache));
    hold_attention(held, conf);
}

static rung_status fill(rung_ledger *ledger, const rung_arch *arch, const char *name, rung_error *err)
{
    *ledger = (rung_ledger){.layer_count = arch->layer_count};
    rung_arena_init(&ledger->arena);
    ledger->layer = rung_arena_alloc(&ledger->arena, arch->layer_count, sizeof *ledger->layer, err);
    ledger->name = rung_arena_strdup(&ledger->arena, name, err);
    ledger->family = rung_arena_strdup(&ledger->arena, "", err);
    ledger->spelling = rung_arena_strdup(&ledger->arena, "arch", err);
    if (!ledger->layer || !ledger->name || !ledger->family || !ledger->spelling) {
        rung_ledger_clear(ledger);
        return RUNG_SYSTEM;
    }
    bool causal = true;
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++) causal = causal && arch->layer[i].group[g].causal;
    for (size_t f = 0; f < RUNG_LEDGER_FACTS; f++)
        ledger->known[f] = (rung_known){RUNG_ESTABLISHED, "the architecture says so"};
    if (!causal) ledger->known[RUNG_LEDGER_CAUSAL] = (rung_known){RUNG_VIOLATED, "it has no causal mask"};
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++) hold_group(&ledger->layer[i], &arch->layer[i].group[g]);
    return RUNG_OK;
}

rung_status rung_ledger_of_arch(rung_ledger *ledger, const char *text, const rung_arch_defaults *defaults,
                                rung_error *err)
{
    rung_arch arch;
    rung_status status = rung_arch_parse(&arch, text, defaults, err);
    if (status != RUNG_OK) return status;
    status = fill(ledger, &arch, text, err);
    rung_arch_clear(&arch);
    return status;
}

rung_status rung_ledger_of_model(rung_ledger *ledger, const rung_model *model, const char *name, rung_error *err)
{
    rung_status status = fill(ledger, rung_model_get_arch(model), name, err);
    if (status == RUNG_OK) ledger->thinks = rung_model_get_spec(model)->thoughts > 0;
    return status;
}
