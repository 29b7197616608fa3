/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The spellings of "which layer is of which kind". Each reads one and says whether the file has it; then it has filled
 * the plans or failed.
 */
#ifndef RUNG_CONFIG_SPELLING_H
#define RUNG_CONFIG_SPELLING_H

#include "reader.h"

typedef bool spelling_fn(cfg_reader *r);

/* Lists with an entry per layer: spelling_list.c */
spelling_fn cfg_spell_layer_types, cfg_spell_layers_block_type, cfg_spell_hybrid_override_pattern,
    cfg_spell_attn_type_list, cfg_spell_block_types, cfg_spell_mixer_types, cfg_spell_hybrid_layer_pattern,
    cfg_spell_compress_ratios, cfg_spell_sparse_freq, cfg_spell_block_configs, cfg_spell_zaya_layers,
    cfg_spell_attention_types, cfg_spell_sliding_window_layout;
/* Layers by number: spelling_index.c */
spelling_fn cfg_spell_linear_attn_config, cfg_spell_attn_layer_indices, cfg_spell_native, cfg_spell_full_attn_idxs,
    cfg_spell_attn, cfg_spell_sliding_window_layers, cfg_spell_global_attn_idx, cfg_spell_local_layer_ids;
/* Rules: spelling_rule.c */
spelling_fn cfg_spell_full_attention_interval, cfg_spell_attn_layer_period, cfg_spell_mamba_step,
    cfg_spell_layer_group_size, cfg_spell_sliding_window_pattern, cfg_spell_global_attn_every, cfg_spell_index_topk,
    cfg_spell_sparse_config, cfg_spell_attention_chunk, cfg_spell_dense_every, cfg_spell_class_pattern,
    cfg_spell_sliding_window, cfg_spell_nothing;

void cfg_set_all(cfg_reader *r, unsigned kinds);
/* Every `period`-th layer is `kinds`, the others are `rest`. */
void cfg_set_every(cfg_reader *r, uint64_t period, unsigned kinds, unsigned rest);
/* Returns a key that only configurations with a recurrent mechanism have, or NULL. */
const char *cfg_recurrent_marker(const cfg_reader *r);

#endif
