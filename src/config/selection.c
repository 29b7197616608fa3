/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Attention to a selection: how large a block is, how many are opened, what stands for a block when they are chosen.
 * The whole cache is kept in all of them, so what a token adds to it is read in attention.c. Where a file leaves room,
 * the larger number is taken: a bound must not promise less than the model has.
 */
#include "reader.h"
#include "state_sizes.h"

/* DeepSeek-V4: entries of `ratio` tokens. The finer kind has an indexer that selects entries, which are compressed once
 * more for it, and its blocks overlap by half. The coarse kind reads every entry and opens none. */
static void read_compressed(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    enum { COARSE = 128 };
    uint64_t ratio = r->layer[i].ratio, index_dim = cfg_size_or(r, "index_head_dim", 0);
    bool coarse = ratio >= COARSE;
    held->block = ratio;
    held->top = coarse ? 0 : cfg_need_size(r, "index_topk", "number of selected entries");
    held->summary_elements = cfg_plus(held->value_dim, coarse ? 0 : index_dim);
    held->summary_by_position = true;
    held->summary_overlaps = !coarse;
    held->window_size = cfg_size_or(r, "sliding_window", 0);
    cfg_layer_name(held, coarse ? "hca" : "csa");
}

/* Which layers use the choice of another one: a list, a text of F and S, or every n-th layer chooses (GLM-5.2). Keys
 * of the indexer are counted in all layers unless a list says which have none. */
static bool shares_indexer(cfg_reader *r, size_t i)
{
    const char *type = rung_json_string(rung_json_at(cfg_find(r, "indexer_types"), i));
    if (cfg_has(r, "index_topk_pattern") || cfg_size_or(r, "index_topk_freq", 1) > 1)
        r->sharing = "'index_topk_freq' or 'index_topk_pattern' says that layers use the choice of another layer";
    if (!type || strcmp(type, "shared") != 0) return false;
    r->sharing = "layers with a shared indexer use the choice of another layer";
    return true;
}

/* An indexer with one key per token selects the top tokens. A layer that shares it uses the selection of the layer
 * before. With index_kpool the keys are pooled and blocks are selected. */
static void read_indexed(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    uint64_t pool = cfg_size_or(r, "index_kpool", 1);
    held->block = pool ? pool : 1;
    held->top = cfg_need_size(r, "index_topk indexer_budget", "number of selected tokens");
    if (!shares_indexer(r, i) && !cfg_find_size(&held->index_elements, r, "index_head_dim indexer_head_dim"))
        cfg_doubt(r, "the size of the indexer's keys is not in the file (index_head_dim)");
    cfg_layer_name(held, "dsa");
}

/* MiniMax-M3: selects blocks by the best index key of their tokens. */
static void read_msa(rung_ledger_layer *held, cfg_reader *r)
{
    held->block = cfg_need_size(r, "sparse_attention_config.sparse_block_size index_block_size", "block size");
    held->top =
        cfg_need_size(r, "sparse_attention_config.sparse_topk_blocks index_topk_blocks", "number of opened blocks");
    held->index_elements = cfg_times(cfg_size_or(r, "sparse_attention_config.sparse_num_index_heads index_n_heads", 1),
                                     cfg_size_or(r, "sparse_attention_config.sparse_index_dim index_head_dim", 0));
    cfg_layer_name(held, "msa");
}

/* Phi-3-small: the blocks near the query and every n-th block before them. The selection does not depend on the
 * text. */
static void read_fixed(rung_ledger_layer *held, cfg_reader *r)
{
    held->block = cfg_size_or(r, "blocksparse_block_size", 64);
    held->top = cfg_size_or(r, "blocksparse_num_local_blocks", 16);
    cfg_doubt(r, "its sparse layers open blocks by a fixed pattern, more of them the longer the prompt is");
    cfg_layer_name(held, "blocksparse");
}

/* InfLLM-v2: means of keys over kernel_size tokens, one every kernel_stride tokens. If the kernel is longer than the
 * stride the last mean of a block includes tokens of the next. */
static void read_infllm(rung_ledger_layer *held, cfg_reader *r, uint64_t keys)
{
    /* The defaults of the published code. */
    uint64_t stride = cfg_size_or(r, "sparse_config.kernel_stride", 16);
    uint64_t kernel = cfg_size_or(r, "sparse_config.kernel_size", 32);
    if (!cfg_has(r, "sparse_config.kernel_stride")) cfg_note(r, "kernel_stride is not in the file; 16 is taken");
    if (!cfg_has(r, "sparse_config.kernel_size")) cfg_note(r, "kernel_size is not in the file; 32 is taken");
    held->block = cfg_need_size(r, "sparse_config.block_size", "block size");
    held->top = cfg_need_size(r, "sparse_config.topk", "number of opened blocks");
    if (stride == 0) cfg_fail(r, "'sparse_config.kernel_stride' must be at least 1");
    if (r->status) return;
    held->summary_elements = cfg_times((held->block + stride - 1) / stride, keys);
    held->summary_overlaps = kernel > stride;
    held->summary_by_position =
        cfg_flag_or(r, "attn_use_rope", true) && !cfg_flag_or(r, "sparse_config.use_nope", false);
    held->window_size = cfg_size_or(r, "sparse_config.window_size", 0);
    cfg_layer_name(held, "infllm2");
}

static void read_nsa(rung_ledger_layer *held, cfg_reader *r, uint64_t keys_and_values)
{
    held->block = cfg_need_size(r, "block_size", "block size");
    held->top = cfg_need_size(r, "block_counts", "number of opened blocks");
    held->summary_elements = keys_and_values;
    held->summary_by_position = true;
    held->window_size = cfg_size_or(r, "window_size", 0);
    cfg_layer_name(held, "nsa");
}

static void read_moba(rung_ledger_layer *held, cfg_reader *r, uint64_t keys)
{
    held->block = cfg_need_size(r, "moba_chunk_size", "block size");
    held->top = cfg_need_size(r, "moba_topk", "number of opened blocks");
    held->summary_elements = keys;
    held->summary_by_position = true;
    cfg_layer_name(held, "moba");
}

void cfg_read_sparse(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    /* Keys only: the share of key_dim in what a token adds to the cache. */
    uint64_t both = held->kv_per_token, per_head = cfg_plus(held->key_dim, held->value_dim);
    uint64_t keys = r->status || per_head == 0 ? 0 : cfg_times(both / per_head, held->key_dim);
    if (r->layer[i].ratio > 0)
        read_compressed(held, r, i);
    else if (cfg_has(r, "sparse_attention_config index_topk_blocks"))
        read_msa(held, r);
    else if (cfg_has(r, "dense_attention_every_n_layers"))
        read_fixed(held, r);
    else if (cfg_has(r, "sparse_config.topk"))
        read_infllm(held, r, keys);
    else if (strcmp(r->type, "nsa") == 0)
        read_nsa(held, r, both);
    else if (strcmp(r->type, "moba") == 0)
        read_moba(held, r, keys);
    else
        read_indexed(held, r, i);
    if (held->block == 0) cfg_fail(r, "layer %zu has sparse blocks of 0 tokens", i);
}
