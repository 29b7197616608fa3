/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The elements that each mechanism carries from one token to the next. The formulas agree with what servers allocate,
 * with one exception that is theirs: a convolution over k tokens needs the k - 1 before the present one, and some
 * servers store k.
 */
#include "state_sizes.h"

uint64_t cfg_times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t cfg_plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Number of earlier tokens that a convolution needs. */
static uint64_t before(uint64_t kernel)
{
    return kernel > 1 ? kernel - 1 : 0;
}

static void add_state(rung_ledger_layer *held, uint64_t elements)
{
    held->state_elements = cfg_plus(held->state_elements, elements);
}

/* The state is a matrix of keys by values for each of `heads` heads with keys of their own; `values` are the value
 * dimensions of all together. A layer that already has a state has several: then no shape is stated. */
static void set_shape(rung_ledger_layer *held, uint64_t heads, uint64_t key_dim, uint64_t values)
{
    bool even = held->state_elements == 0 && heads > 0 && values % heads == 0;
    held->state_heads = even ? heads : 0;
    held->state_key_dim = even ? key_dim : 0;
    held->state_value_dim = even ? values / heads : 0;
}

void cfg_state_conv(rung_ledger_layer *held, uint64_t width, uint64_t kernel)
{
    held->conv_elements = cfg_plus(held->conv_elements, cfg_times(width, before(kernel)));
}

void cfg_state_mamba1(rung_ledger_layer *held, uint64_t inner, uint64_t state, uint64_t kernel)
{
    add_state(held, cfg_times(inner, state));
    cfg_state_conv(held, inner, kernel);
}

/* The convolution runs over x, B and C. */
void cfg_state_mamba2(rung_ledger_layer *held, uint64_t heads, uint64_t head_dim, uint64_t state, uint64_t groups,
                      uint64_t kernel)
{
    uint64_t inner = cfg_times(heads, head_dim);
    set_shape(held, groups, state, inner);
    add_state(held, cfg_times(inner, state));
    cfg_state_conv(held, cfg_plus(inner, cfg_times(2, cfg_times(groups, state))), kernel);
}

void cfg_state_delta(rung_ledger_layer *held, uint64_t key_heads, uint64_t value_heads, uint64_t key_dim,
                     uint64_t value_dim, uint64_t kernel)
{
    uint64_t values = cfg_times(value_heads, value_dim);
    set_shape(held, key_heads, key_dim, values);
    add_state(held, cfg_times(values, key_dim));
    cfg_state_conv(held, cfg_plus(cfg_times(2, cfg_times(key_heads, key_dim)), values), kernel);
}

void cfg_state_matrix(rung_ledger_layer *held, uint64_t heads, uint64_t key_dim, uint64_t value_dim)
{
    add_state(held, cfg_times(heads, cfg_times(key_dim, value_dim)));
}

void cfg_state_heads(rung_ledger_layer *held, uint64_t heads, uint64_t key_dim, uint64_t values)
{
    set_shape(held, heads, key_dim, values);
    add_state(held, cfg_times(key_dim, values));
}

/* cfg_heads * head_size^2 = hidden * head_size. */
void cfg_state_rwkv(rung_ledger_layer *held, uint64_t hidden, uint64_t head_size, uint64_t shifts)
{
    add_state(held, cfg_times(hidden, head_size));
    held->conv_elements = cfg_plus(held->conv_elements, cfg_times(shifts, hidden));
}

/* Numerator, denominator and maximum of each channel; one shift for the time mix, one for the channel mix. */
void cfg_state_rwkv4(rung_ledger_layer *held, uint64_t attention_hidden, uint64_t hidden)
{
    add_state(held, cfg_times(3, attention_hidden));
    held->conv_elements = cfg_plus(held->conv_elements, cfg_times(2, hidden));
}

/* The matrix, its normaliser and the stabiliser. */
void cfg_state_mlstm(rung_ledger_layer *held, uint64_t heads, uint64_t key_dim, uint64_t value_dim)
{
    add_state(held, cfg_times(heads, cfg_plus(cfg_times(key_dim, value_dim), cfg_plus(key_dim, 1))));
}

void cfg_state_rglru(rung_ledger_layer *held, uint64_t width, uint64_t kernel)
{
    add_state(held, width);
    cfg_state_conv(held, width, kernel);
}

void cfg_hold_tokens(rung_ledger_layer *held, uint64_t per_token, uint64_t window, bool shared)
{
    if (shared) return;
    if (held->window || held->chunk)
        held->window_elements = cfg_plus(held->window_elements, cfg_times(window, per_token));
    else
        held->kv_per_token = cfg_plus(held->kv_per_token, per_token);
}
