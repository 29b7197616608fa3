/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The mixers of flash-linear-attention. Widths are the hidden size times expand_k and expand_v, or heads times head_dim
 * and expand_v; the convolutions are there only with use_short_conv.
 */
#include "mixer.h"

static uint64_t kernel_of(cfg_reader *r)
{
    return cfg_flag_or(r, "use_short_conv", false) ? cfg_need_size(r, "conv_size", "convolution (conv_size)") : 0;
}

static uint64_t scaled(cfg_reader *r, uint64_t width, const char *factor)
{
    return (uint64_t)((double)width * cfg_real_or(r, factor, 1));
}

typedef struct widths {
    uint64_t heads, groups; /* groups: query heads per key and value head */
    uint64_t key, value;    /* of all cfg_heads */
} widths;

static widths read_widths(cfg_reader *r)
{
    uint64_t hidden = cfg_hidden_size(r), heads = cfg_need_size(r, "num_heads", "number of heads");
    widths out = {heads, 1, scaled(r, hidden, "expand_k"), scaled(r, hidden, "expand_v")};
    uint64_t kv = cfg_size_or(r, "num_kv_heads", heads);
    if (heads == 0) cfg_fail(r, "has 0 heads");
    if (!r->status) out.groups = cfg_divide(r, heads, kv, "key and value heads");
    return out;
}

/* GLA, RetNet, DeltaNet, linear attention: a matrix per head. Every query head has its own state. */
void cfg_mix_fla_expand(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    widths w = read_widths(r);
    uint64_t key_dim = r->status ? 0 : cfg_divide(r, w.key, w.heads, "key size of a head");
    if (r->status) return;
    cfg_state_heads(held, w.groups == 1 ? w.heads : 0, key_dim, w.value);
    cfg_state_conv(held, cfg_plus(w.key, cfg_plus(w.key / w.groups, w.value / w.groups)), kernel_of(r));
}

void cfg_mix_fla_delta(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    uint64_t heads = cfg_need_size(r, "num_heads", "number of heads"), dim = cfg_need_size(r, "head_dim", "head size");
    cfg_state_delta(held, heads, cfg_size_or(r, "num_v_heads", heads), dim, scaled(r, dim, "expand_v"), kernel_of(r));
}

/* Several Householder factors per token, each with its own key and value. */
void cfg_mix_fla_deltaproduct(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    uint64_t heads = cfg_need_size(r, "num_heads", "number of heads"), dim = cfg_need_size(r, "head_dim", "head size");
    uint64_t value_dim = scaled(r, dim, "expand_v"), factors = cfg_size_or(r, "num_householder", 1);
    uint64_t key = cfg_times(heads, dim), value = cfg_times(heads, value_dim);
    cfg_state_matrix(held, heads, dim, value_dim);
    cfg_state_conv(held, cfg_plus(key, cfg_times(factors, cfg_plus(key, value))), kernel_of(r));
}

/* Two matrices: keys by slots, slots by values. */
void cfg_mix_fla_gsa(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    widths w = read_widths(r);
    uint64_t slots = cfg_need_size(r, "num_slots", "slots");
    if (r->status) return;
    cfg_state_matrix(held, 1, slots, cfg_plus(w.key, w.value));
    cfg_state_conv(held, cfg_plus(w.key, cfg_plus(w.key / w.groups, w.value / w.groups)), kernel_of(r));
}

void cfg_mix_fla_hgrn(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    uint64_t width = scaled(r, cfg_hidden_size(r), "expand_ratio");
    cfg_state_matrix(held, 1, 1, width);
    cfg_state_conv(held, cfg_times(2, width), kernel_of(r));
}

/* expand_ratio is the size of a key; if it is missing, hidden / heads. */
void cfg_mix_fla_hgrn2(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    uint64_t hidden = cfg_hidden_size(r), ratio, heads;
    if (!cfg_find_size(&ratio, r, "expand_ratio"))
        ratio = cfg_divide(r, hidden, cfg_need_size(r, "num_heads", "number of heads"), "expand_ratio");
    if (r->status) return;
    if (!cfg_find_size(&heads, r, "num_heads")) heads = cfg_divide(r, hidden, ratio, "number of heads");
    cfg_state_matrix(held, 1, ratio, hidden);
    cfg_state_conv(held, cfg_plus(cfg_times(2, cfg_times(heads, ratio)), hidden), kernel_of(r));
}
