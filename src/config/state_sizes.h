/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Elements that a mechanism holds, from its sizes: one function per mechanism, used by every reader. They saturate at
 * UINT64_MAX, which the readers refuse.
 */
#ifndef RUNG_CONFIG_STATE_SIZES_H
#define RUNG_CONFIG_STATE_SIZES_H

#include "rung/config.h"

uint64_t cfg_times(uint64_t a, uint64_t b);
uint64_t cfg_plus(uint64_t a, uint64_t b);

/* In each, `kernel` is the length of a short convolution; 0 and 1 both mean none. */
void cfg_state_mamba1(rung_ledger_layer *held, uint64_t inner, uint64_t state, uint64_t kernel);
void cfg_state_mamba2(rung_ledger_layer *held, uint64_t heads, uint64_t head_dim, uint64_t state, uint64_t groups,
                      uint64_t kernel);
/* Keys and queries of key_heads heads, values of value_heads heads; all three are convolved. */
void cfg_state_delta(rung_ledger_layer *held, uint64_t key_heads, uint64_t value_heads, uint64_t key_dim,
                     uint64_t value_dim, uint64_t kernel);
void cfg_state_matrix(rung_ledger_layer *held, uint64_t heads, uint64_t key_dim,
                      uint64_t value_dim); /* no convolution */
/* A matrix for each head with keys of its own; `values` are the value dimensions of all heads. */
void cfg_state_heads(rung_ledger_layer *held, uint64_t heads, uint64_t key_dim, uint64_t values);
void cfg_state_rwkv(rung_ledger_layer *held, uint64_t hidden, uint64_t head_size, uint64_t shifts);
void cfg_state_rwkv4(rung_ledger_layer *held, uint64_t attention_hidden, uint64_t hidden);
void cfg_state_mlstm(rung_ledger_layer *held, uint64_t heads, uint64_t key_dim, uint64_t value_dim);
void cfg_state_rglru(rung_ledger_layer *held, uint64_t width, uint64_t kernel);
void cfg_state_conv(rung_ledger_layer *held, uint64_t width,
                    uint64_t kernel); /* a short convolution and nothing else */

/* Adds what attention keeps of one token to the right field: a window or chunk of `window` tokens, or a growing cache.
 * `shared`: the cache belongs to another layer. */
void cfg_hold_tokens(rung_ledger_layer *held, uint64_t per_token, uint64_t window, bool shared);

#endif
