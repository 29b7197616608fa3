/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Configurations of published models, reduced to the keys that matter, against ledgers worked out by hand: every number
 * is written as the product that the mechanism's definition gives, not as what the reader said. Four of them are also
 * held to figures in bytes that servers report for the models.
 */
#include "config_test.h"

typedef struct expected {
    const char *file, *spelling;
    uint64_t total, full, recurrent, window, chunk, sparse, mlp, both;
    uint64_t state, conv, windows, kv, context; /* sums of elements; kv of the largest layer */
    int number_bits, state_bits;
} expected;

static const expected table[] = {
    /* 28 of 32: 8192 channels of state 16, 3 old inputs; 8 kv heads of 128 */
    {"jamba", "attn_layer_period", 32, 4, 28, 0, 0, 0, 0, 0, 28 * 8192 * 16, 28 * 8192 * 3, 0, 2 * 8 * 128, 262144, 16,
     0},
    /* in every layer four convolutions of 4: keys and values (8 or 16 heads of 128), attention and MLP of 6144 */
    {"inkling", "local_layer_ids", 12, 2, 12, 10, 0, 0, 0, 12, 0,
     2 * (2 * 8 * 128 + 2 * 6144) * 3 + 10 * (2 * 16 * 128 + 2 * 6144) * 3, 10 * 512 * 2 * 16 * 128, 2 * 8 * 128,
     1048576, 0, 0},
    /* every second layer; 32 heads of 128 in the state space, one kv head */
    {"plamo2", "mamba_step", 16, 8, 8, 0, 0, 0, 0, 0, 8 * 32 * 128 * 64, 8 * 32 * 128 * 3, 0, 2 * 128, 10485760, 32, 0},
    /* the class alternates windows and full layers; the file says nothing of it */
    {"gemma2", "model_type", 42, 21, 0, 21, 0, 0, 0, 0, 0, 0, 21UL * 4096 * 2 * 8 * 256, 2 * 8 * 256, 8192, 32, 0},
    {"axk2", "index_topk", 6, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 128 + 32, 131072, 16, 0},
    /* all sizes but one are those of the class: 2 kv heads of 128, though 1024 / 16 is 64 */
    {"paddleocr_vl", "nothing: full attention everywhere", 20, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 * 2 * 128, 0, 0, 0},
    /* both everywhere; head size from d_ssm / heads, not from expand */
    {"falcon_h1", "model_type", 72, 72, 72, 0, 0, 0, 0, 72, 72UL * 4096 * 256, 72 * (4096 + 2 * 2 * 256) * 3, 0,
     2 * 4 * 128, 0, 16, 0},
    {"granite_h", "layer_types", 40, 4, 36, 0, 0, 0, 0, 0, 36 * 4096 * 128, 36 * (4096 + 2 * 128) * 3, 0, 2 * 8 * 64, 0,
     0, 0},
    /* the vision tower has 12 layers and heads of 99 */
    {"lfm2_vl", "layer_types", 16, 6, 10, 0, 0, 0, 0, 0, 0, 10 * 2048 * 2, 0, 2 * 8 * 64, 128000, 16, 0},
    {"lfm2_idxs", "full_attn_idxs", 16, 6, 10, 0, 0, 0, 0, 0, 0, 10 * 1024 * 2, 0, 2 * 8 * 64, 0, 0, 0},
    /* the shared block is twice as wide: heads of 160, not kv_channels of 80 */
    {"zamba2", "layers_block_type", 54, 9, 54, 0, 0, 0, 0, 9, 54 * 80 * 64 * 64, 54 * (80 * 64 + 2 * 64) * 3, 0,
     2 * 32 * 160, 4096, 0, 0},
    {"zamba", "attn_layer_period", 76, 13, 76, 0, 0, 0, 0, 13, 76 * 7424 * 16, 76 * 7424 * 3, 0, 2 * 16 * 464, 0, 0, 0},
    /* heads times head size is 4096, expand times hidden is 5376 */
    {"nemotron_h", "hybrid_override_pattern", 52, 6, 23, 0, 0, 0, 23, 0, 23 * 64 * 64 * 128,
     23 * (64 * 64 + 2 * 8 * 128) * 3, 0, 2 * 2 * 128, 0, 16, 32},
    {"qwen3_next", "full_attention_interval", 48, 12, 36, 0, 0, 0, 0, 0, 36 * 32 * 128 * 128,
     36 * (2 * 16 * 128 + 32 * 128) * 3, 0, 2 * 2 * 256, 262144, 16, 32},
    {"qwen3_5", "layer_types", 64, 16, 48, 0, 0, 0, 0, 0, 48 * 48 * 128 * 128, 48 * (2 * 16 * 128 + 48 * 128) * 3, 0,
     2 * 4 * 256, 262144, 16, 32},
    /* keys of 0.75 * 3840 / 30 = 96, values of 192, no kv heads: 30 */
    {"olmo_hybrid", "model_type", 32, 8, 24, 0, 0, 0, 0, 0, 24 * 30 * 96 * 192, 24 * 30 * (2 * 96 + 192) * 3, 0,
     2 * 30 * 128, 0, 0, 0},
    {"kimi_linear", "linear_attn_config", 27, 7, 20, 0, 0, 0, 0, 0, 20 * 32 * 128 * 128, 20 * 3 * 32 * 128 * 3, 0,
     512 + 64, 1048576, 16, 32},
    {"glm5_next", "linear_attn_config", 12, 0, 9, 0, 0, 3, 0, 0, 9 * 64 * 128 * 128, 9 * 3 * 64 * 128 * 3, 0, 512, 0, 0,
     32},
    {"minimax_01", "attn_type_list", 80, 10, 70, 0, 0, 0, 0, 0, 70 * 64 * 128 * 128, 0, 0, 2 * 8 * 128, 10240000, 0, 0},
    {"bamba", "attn_layer_indices", 32, 3, 29, 0, 0, 0, 0, 0, 29 * 128 * 64 * 128, 29 * (128 * 64 + 2 * 128) * 3, 0,
     2 * 8 * 128, 0, 0, 0},
    /* 5120 channels in heads of 64, state 128, one group; the attention convolves q, k and v: 3 * 30 heads of 128 */
    {"mamba_ssm", "ssm_cfg", 64, 6, 58, 0, 0, 0, 0, 0, 58 * 5120 * 128,
     58 * (5120 + 2 * 128) * 3 + 6 * 3 * 30 * 128 * 3, 0, 2 * 30 * 128, 0, 0, 0},
    /* groups of 5: layers 4, 9, 14, 19, and 20 and 21, which are left over */
    {"ring_linear", "layer_group_size", 22, 6, 16, 0, 0, 0, 0, 0, 16 * 16 * 128 * 128, 0, 0, 2 * 4 * 128, 0, 0, 0},
    {"ling_kda", "layer_group_size", 8, 2, 6, 0, 0, 0, 0, 0, 6 * 16 * 128 * 128, 6 * 3 * 16 * 128 * 3, 0, 512 + 64, 0,
     0, 0},
    {"recurrent_gemma", "block_types", 26, 0, 18, 8, 0, 0, 0, 0, 18 * 2560, 18 * 2560 * 3, 8 * 2048 * 2 * 256, 0, 0, 0,
     0},
    {"minicpm_sala", "mixer_types", 32, 0, 24, 0, 0, 8, 0, 0, 24 * 32 * 128 * 128, 0, 0, 2 * 2 * 128, 524288, 16, 0},
    {"mimo_v2", "hybrid_layer_pattern", 12, 3, 0, 9, 0, 0, 0, 0, 0, 0, 9 * 128 * 8 * (192 + 128), 4 * (192 + 128), 0, 0,
     0},
    /* full layers: 2 kv heads of 256; windowed ones: 8 of 128; the key of the token before is convolved in */
    {"baichuan_m1", "sliding_window_layers", 40, 20, 0, 20, 0, 0, 0, 0, 0, 20 * 2 * (2 * 256 + 8 * 128),
     20UL * 8192 * 2 * 8 * 128, 2 * 2 * 256, 32768, 0, 0},
    /* heads, kv heads, head size and context are defaults of the class */
    {"gemma3", "model_type", 34, 5, 0, 29, 0, 0, 0, 0, 0, 0, 29 * 1024 * 2 * 4 * 256, 2 * 4 * 256, 131072, 0, 0},
    /* layers 20 to 29 own no cache; of the 20 others, 4 are full */
    {"gemma3n", "layer_types", 30, 6, 0, 24, 0, 0, 0, 0, 0, 0, 16 * 512 * 2 * 2 * 256, 2 * 2 * 256, 32768, 0, 0},
    {"gemma4", "layer_types", 30, 5, 0, 25, 0, 0, 0, 0, 0, 0, 25 * 1024 * 2 * 8 * 256, 2 * 2 * 512, 131072, 16, 0},
    {"deepseek_v4", "compress_ratios", 43, 0, 0, 2, 0, 41, 0, 0, 0, 0, 2 * 128 * 2 * 512, 2 * 512, 1048576, 16, 0},
    {"minimax_m3", "sparse_attention_config", 60, 3, 0, 0, 0, 57, 0, 0, 0, 0, 0, 2 * 4 * 128, 0, 0, 0},
    {"glm_dsa", "index_topk", 8, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 512 + 64, 1048576, 0, 0},
    {"minicpm4", "sparse_config", 32, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 2 * 2 * 128, 0, 0, 0},
    /* 64 query heads in groups of 8: 8 kv heads, not 64 */
    {"nemotron_nas", "block_configs", 4, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2 * 8 * 128, 0, 0, 0},
    {"llama4", "attention_chunk_size", 48, 12, 0, 0, 36, 0, 0, 0, 0, 0, 36UL * 8192 * 2 * 8 * 128, 2 * 8 * 128,
     10485760, 0, 0},
    /* attention heads are 2048 / 16 = 128 wide, the mixer's own are 256 */
    {"deltanet_hybrid", "attn", 24, 6, 15, 3, 0, 0, 0, 0, 15 * 6 * 256 * 512, 15 * 6 * (2 * 256 + 512) * 3,
     3 * 2048 * 2 * 4 * 128, 2 * 4 * 128, 0, 0, 0},
    {"mistral", "sliding_window", 32, 0, 0, 32, 0, 0, 0, 0, 0, 0, 32 * 4096 * 2 * 8 * 128, 0, 32768, 0, 0},
    {"ministral", "sliding_window", 36, 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 * 8 * 128, 32768, 0, 0},
    {"qwen2", "sliding_window", 28, 21, 0, 7, 0, 0, 0, 0, 0, 0, 7 * 4096 * 2 * 4 * 128, 2 * 4 * 128, 131072, 0, 0},
    {"exaone4", "sliding_window_pattern", 64, 16, 0, 48, 0, 0, 0, 0, 0, 0, 48UL * 4096 * 2 * 8 * 128, 2 * 8 * 128,
     131072, 0, 0},
    /* 15 layers read the keys of another one, all of them windowed: 29 - 15 windows are held */
    {"hymba", "global_attn_idx", 32, 3, 32, 29, 0, 0, 0, 32, 32 * 3200 * 16, 32 * 3200 * 3, 14 * 1024 * 5 * (64 + 128),
     5 * (64 + 128), 0, 0, 0},
    {"rwkv7", "model_type", 12, 0, 12, 0, 0, 0, 0, 0, 12 * 12 * 64 * 64, 12 * 2 * 768, 0, 0, 0, 0, 0},
    {"xlstm", "model_type", 32, 0, 32, 0, 0, 0, 0, 0, 32UL * 8 * (256 * 512 + 256 + 1), 0, 0, 0, 0, 0, 32},
    {"mamba3", "model_type", 48, 0, 48, 0, 0, 0, 0, 0, 48 * 64 * 64 * 128, 0, 0, 0, 0, 0, 0},
    /* expand says 65536 channels, intermediate_size says what is true */
    {"falcon_mamba", "model_type", 64, 0, 64, 0, 0, 0, 0, 0, 64 * 8192 * 16, 64 * 8192 * 3, 0, 0, 0, 16, 0},
    {"loglinear", "model_type", 48, 0, 48, 0, 0, 0, 0, 0, 48 * 64 * 64 * 128, 48 * (4096 + 2 * 128) * 3, 0, 0, 0, 0, 0},
    {"nsa", "model_type", 24, 0, 0, 0, 0, 24, 0, 0, 0, 0, 0, 2 * 4 * 32, 0, 0, 0},
    {"moba", "model_type", 24, 0, 0, 0, 0, 24, 0, 0, 0, 0, 0, 2 * 32 * 64, 0, 0, 0},
    /* ---- what a class takes for granted, and what a file says against it ---- */
    /* heads of 64 in the file beat the 8 heads of the class; kv_channels is half of a head */
    {"zamba2_7b", "layers_block_type", 81, 13, 81, 0, 0, 0, 0, 13, 81 * 7168 * 64, 81 * (7168 + 2 * 2 * 64) * 3, 0,
     2 * 32 * 224, 4096, 0, 0},
    {"cwm", "model_type", 64, 16, 0, 48, 0, 0, 0, 0, 0, 0, 48UL * 8192 * 2 * 8 * 128, 2 * 8 * 128, 131072, 0, 0},
    {"granite_swa", "model_type", 24, 6, 0, 18, 0, 0, 0, 0, 0, 0, 18 * 128 * 2 * 4 * 64, 2 * 4 * 64, 8192, 0, 0},
    {"vaultgemma", "model_type", 26, 13, 0, 13, 0, 0, 0, 0, 0, 0, 13 * 512 * 2 * 4 * 256, 2 * 4 * 256, 1024, 0, 0},
    {"laguna", "model_type", 40, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 * 8 * 128, 131072, 0, 0},
    {"cohere2_moe", "sliding_window_pattern", 10, 3, 0, 7, 0, 0, 0, 0, 0, 0, 7 * 4096 * 2 * 4 * 64, 2 * 4 * 64, 131072,
     0, 0},
    {"muse_glimmer", "model_type", 6, 2, 0, 4, 0, 0, 0, 0, 0, 0, 4 * 2048 * 2 * 4 * 64, 2 * 4 * 64, 131072, 0, 0},
    /* the number in the file is that of both sides */
    {"modernbert_decoder", "global_attn_every_n_layers", 7, 3, 0, 4, 0, 0, 0, 0, 0, 0, 4 * 64 * 2 * 768, 2 * 768, 7999,
     0, 0},
    {"smallthinker", "sliding_window_layout", 52, 13, 0, 39, 0, 0, 0, 0, 0, 0, 39UL * 4096 * 2 * 4 * 128, 2 * 4 * 128,
     16384, 0, 0},
    {"fla_transformer", "sliding_window", 24, 0, 0, 24, 0, 0, 0, 0, 0, 0, 24 * 512 * 2 * 1024, 0, 2048, 0, 0},
    {"longformer", "sliding_window", 12, 0, 0, 12, 0, 0, 0, 0, 0, 0, 12 * 512 * 2 * 768, 0, 0, 0, 0},
    /* ---- passes ---- */
    {"ouro", "nothing: full attention everywhere", 48 * 4, 48 * 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 * 16 * 128, 65536, 16,
     0},
    {"iquest_loop", "nothing: full attention everywhere", 160, 80, 0, 80, 0, 0, 0, 0, 0, 0, 80 * 64 * 2 * 8 * 128,
     2 * 8 * 128, 0, 0, 0},
    /* ---- single layers ---- */
    {"gemma4_per_layer", "layer_types", 6, 1, 0, 5, 0, 0, 0, 0, 0, 0, 5 * 1024 * 2 * 16 * 256, 2 * 4 * 512, 262144, 0,
     0},
    {"llama_per_layer", "nothing: full attention everywhere", 32, 31, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2 * 8 * 128, 0, 0, 0},
    {"mllama", "nothing: full attention everywhere", 100, 80, 0, 0, 0, 0, 20, 0, 0, 0, 0, 2 * 8 * 128, 131072, 16, 0},
    /* the windowed layer reads the keys of a full one, and its window is carried all the same */
    {"yoco", "layer_types", 2, 1, 0, 1, 0, 0, 0, 0, 0, 0, 4096 * 2 * 64, 2 * 64, 0, 0, 0},
    /* ---- other sizes ---- */
    {"pangu", "nothing: full attention everywhere", 61, 61, 0, 0, 0, 0, 0, 0, 0, 0, 0, 512 + 64, 0, 0, 0},
    {"dots3", "layer_types", 4, 2, 0, 2, 0, 0, 0, 0, 0, 0, 2 * 512 * (256 + 64), 512 + 64, 0, 0, 0},
    {"diffllama", "nothing: full attention everywhere", 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 * 64, 0, 32, 0},
    {"qwen3_8_next", "full_attention_interval", 48, 0, 36, 0, 0, 12, 0, 0, 36 * 32 * 128 * 128,
     36 * (2 * 16 * 128 + 32 * 128) * 3, 0, 2 * 2 * 256, 0, 0, 32},
    {"phi3_small", "dense_attention_every_n_layers", 32, 16, 0, 0, 0, 16, 0, 0, 0, 0, 0, 2 * 8 * 128, 131072, 0, 0},
    {"minicpm_sala_short", "mixer_types", 4, 0, 3, 0, 0, 1, 0, 0, 3 * 32 * 128 * 128, 0, 0, 2 * 2 * 128, 0, 0, 0},
    {"mamba3_ssm", "ssm_cfg", 24, 0, 24, 0, 0, 0, 0, 0, 24 * 4096 * 128, 0, 0, 0, 0, 0, 0},
    {"mamba_in_llama", "ssm_cfg", 32, 8, 24, 0, 0, 0, 0, 0, 24 * 4096 * 16, 24 * 4096 * 3, 0, 2 * 8 * 128, 0, 0, 0},
    /* weights and biases of 32 heads, and their gradients; queries and keys are convolved */
    {"ttt", "model_type", 24, 0, 24, 0, 0, 0, 0, 0, 24 * 2 * 32 * (64 * 64 + 64), 24 * 2 * 2048 * 3, 0, 0, 0, 0, 0},
    /* convolutions inside attention */
    {"zaya", "zaya_layers", 4, 2, 2, 0, 0, 0, 2, 2, 0, 2 * ((8 + 2) * 128 * 2 + 2048), 0, 2 * 2 * 128, 0, 0, 0},
    {"mamba_ssm_conv", "ssm_cfg", 2, 1, 1, 0, 0, 0, 0, 0, 128 * 128, (128 + 2 * 128) * 3 + 3 * 4 * 16 * 3, 0, 2 * 64, 0,
     0, 0},
    /* ---- what one family reads ---- */
    /* heads by layer: 5 layers of 3 for keys and values, 7 of 4, 4 of 5 */
    {"openelm", "nothing: full attention everywhere", 16, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 * 5 * 64, 2048, 32, 0},
    {"step3p5", "layer_types", 4, 1, 0, 3, 0, 0, 0, 0, 0, 0, 3 * 512 * 2 * 8 * 128, 2 * 8 * 128, 262144, 16, 0},
    {"gpt_neo", "attention_types", 12, 6, 0, 6, 0, 0, 0, 0, 0, 0, 6 * 256 * 2 * 768, 2 * 768, 2048, 0, 0},
    {"rwkv6_fla", "model_type", 24, 0, 24, 0, 0, 0, 0, 0, 24 * 4 * 256 * 512, 24 * 2 * 2048, 0, 0, 0, 0, 0},
    {"longcat", "model_type", 56, 56, 0, 0, 0, 0, 0, 0, 0, 0, 0, 512 + 64, 131072, 0, 0},
    {"mamba2_small", "model_type", 1, 0, 1, 0, 0, 0, 0, 0, 2 * 64 * 16, (2 * 64 + 2 * 16) * 3, 0, 0, 0, 8, 0},
};

static rung_ledger read_fixture(const char *name)
{
    rung_ledger ledger;
    rung_error err = {{0}};
    if (rung_ledger_open(&ledger, config_fixture(name), &err)) print_error("%s\n", err.text);
    assert_string_equal(err.text, "");
    assert_string_equal(ledger.name, config_fixture(name));
    return ledger;
}

static void compare(const char *file, const char *what, uint64_t found, uint64_t wanted)
{
    if (found != wanted)
        fail_msg("%s: %s is %llu, not %llu", file, what, (unsigned long long)found, (unsigned long long)wanted);
}

static void test_every_fixture_gives_the_ledger_worked_out_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(table); i++) {
        const expected *e = &table[i];
        rung_ledger ledger = read_fixture(e->file);
        rung_ledger_sum sum = rung_ledger_total(&ledger);
        assert_string_equal(ledger.spelling, e->spelling);
        compare(e->file, "layers", sum.total, e->total);
        compare(e->file, "full", sum.full, e->full);
        compare(e->file, "recurrent", sum.recurrent, e->recurrent);
        compare(e->file, "window", sum.window, e->window);
        compare(e->file, "chunk", sum.chunk, e->chunk);
        compare(e->file, "sparse", sum.sparse, e->sparse);
        compare(e->file, "mlp", sum.mlp, e->mlp);
        compare(e->file, "both", sum.both, e->both);
        compare(e->file, "state", sum.all.state_elements, e->state);
        compare(e->file, "conv", sum.all.conv_elements, e->conv);
        compare(e->file, "windows", sum.all.window_elements, e->windows);
        compare(e->file, "kv", sum.largest.kv_per_token, e->kv);
        compare(e->file, "context", ledger.context, e->context);
        compare(e->file, "number bits", (uint64_t)ledger.number_bits, (uint64_t)e->number_bits);
        compare(e->file, "state bits", (uint64_t)ledger.state_bits, (uint64_t)e->state_bits);
        rung_ledger_clear(&ledger);
    }
}

/* Bytes of recurrent state and convolutions that servers allocate for a sequence. */
static void test_figures_that_servers_report(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint64_t state_bytes, conv_bytes, total;
    } figures[] = {
        {"jamba", 4, 2, 16056320},
        {"lfm2_vl", 2, 2, 81920},
        {"falcon_h1", 2, 2, 153206784},
        {"granite_h", 2, 2, 38688768},
    };
    for (size_t i = 0; i < RUNG_COUNT(figures); i++) {
        rung_ledger ledger = read_fixture(figures[i].file);
        rung_ledger_sum sum = rung_ledger_total(&ledger);
        compare(figures[i].file, "bytes",
                sum.all.state_elements * figures[i].state_bytes + sum.all.conv_elements * figures[i].conv_bytes,
                figures[i].total);
        rung_ledger_clear(&ledger);
    }
}

/* ---- what the sums do not show ---- */

static void test_the_order_of_layers_not_only_their_number(void **state)
{
    (void)state;
    static const struct {
        const char *file, *letters;
    } orders[] = {
        {"kimi_linear", "RRRFRRRFRRRFRRRFRRRFRRRFRRF"},
        {"glm5_next", "RRRSRRRSRRRS"},
        {"ring_linear", "RRRRFRRRRFRRRRFRRRRFFF"},
        {"mimo_v2", "FWWWWFWWWWWF"},
        {"nemotron_nas", "FMMF"},
        {"recurrent_gemma", "RRWRRWRRWRRWRRWRRWRRWRRWRR"},
        {"deltanet_hybrid", "RWRFRWRFRWRFRRRFRRRFRRRF"},
        {"jamba", "RRRRFRRRRRRRFRRRRRRRFRRRRRRRFRRR"},
        {"zamba2", "RRRRRRHRRRRRHRRRRRHRRRRRHRRRRRHRRRRRHRRRRRHRRRRHRRRHRR"},
        {"hymba", "HDDDDDDDDDDDDDDHDDDDDDDDDDDDDDDH"},
        {"nemotron_h", "RMRMRFMRMRMRFMRMRMRFMRMRMRFMRMRMRFMRMRMRMRFMRMRMRMRM"},
        {"qwen2", "FFFFFFFFFFFFFFFFFFFFFWWWWWWW"},
        {"cohere2_moe", "FWWWFWWWFW"},
        {"muse_glimmer", "WFWWWF"},
        {"modernbert_decoder", "FWWFWWF"},
        {"granite_swa", "FWWWFWWWFWWWFWWWFWWWFWWW"},
        {"zaya", "HMHM"},
        {"dots3", "FWWF"},
    };
    for (size_t i = 0; i < RUNG_COUNT(orders); i++) {
        rung_ledger ledger = read_fixture(orders[i].file);
        assert_layers(&ledger, orders[i].letters);
        rung_ledger_clear(&ledger);
    }
}

static void check_message_size(const char *file, size_t layer, const char *mechanism, uint64_t heads,
                               uint64_t value_dim)
{
    rung_ledger ledger = read_fixture(file);
    const rung_ledger_layer *held = &ledger.layer[layer];
    assert_string_equal(held->mechanism, mechanism);
    compare(file, "heads", held->heads, heads);
    compare(file, "value_dim", held->value_dim, value_dim);
    rung_ledger_clear(&ledger);
}

/* A bound that is too small would call possible things impossible, so of latent attention the larger counts. */
static void test_what_a_query_receives(void **state)
{
    (void)state;
    check_message_size("jamba", 4, "full", 32, 128);
    check_message_size("jamba", 0, "mamba", 0, 0);
    check_message_size("kimi_linear", 3, "mla", 32, 512);
    check_message_size("kimi_linear", 0, "kda", 0, 0);
    check_message_size("falcon_h1", 0, "mamba2+full", 20, 128);
    check_message_size("mimo_v2", 1, "window", 64, 128);
    check_message_size("baichuan_m1", 0, "full", 20, 256);
    check_message_size("baichuan_m1", 1, "window", 40, 128);
    check_message_size("gemma4", 5, "full", 16, 512);
    check_message_size("gemma4", 4, "window", 16, 256);
    check_message_size("nemotron_nas", 3, "full", 64, 128);
    check_message_size("nemotron_nas", 1, "mlp", 0, 0);
    check_message_size("deltanet_hybrid", 1, "window", 16, 128);
    check_message_size("llama4", 0, "chunk", 40, 128);
    check_message_size("glm_dsa", 0, "dsa", 64, 512);
    check_message_size("diffllama", 0, "full", 4, 2 * 16); /* the values of two heads */
    check_message_size("mllama", 3, "cross", 0, 0);
    check_message_size("openelm", 0, "full", 12, 64);
    check_message_size("openelm", 15, "full", 20, 64);
    check_message_size("step3p5", 0, "full", 64, 128);
    check_message_size("step3p5", 1, "window", 96, 128);
}

static void check_sparse(const char *file, size_t layer, const rung_ledger_layer *wanted)
{
    rung_ledger ledger = read_fixture(file);
    const rung_ledger_layer *held = &ledger.layer[layer];
    assert_string_equal(held->mechanism, wanted->mechanism);
    compare(file, "block", held->block, wanted->block);
    compare(file, "top", held->top, wanted->top);
    compare(file, "summary", held->summary_elements, wanted->summary_elements);
    compare(file, "index", held->index_elements, wanted->index_elements);
    compare(file, "window", held->window_size, wanted->window_size);
    compare(file, "by position", held->summary_by_position, wanted->summary_by_position);
    compare(file, "overlaps", held->summary_overlaps, wanted->summary_overlaps);
    rung_ledger_clear(&ledger);
}

static void test_what_a_selection_sees(void **state)
{
    (void)state;
    check_sparse("glm_dsa", 0,
                 &(rung_ledger_layer){.mechanism = "dsa", .block = 1, .top = 2048, .index_elements = 128});
    check_sparse("glm_dsa", 3, &(rung_ledger_layer){.mechanism = "dsa", .block = 1, .top = 2048});
    check_sparse("glm5_next", 3,
                 &(rung_ledger_layer){.mechanism = "dsa", .block = 4, .top = 2048, .index_elements = 128});
    check_sparse("minimax_m3", 3,
                 &(rung_ledger_layer){.mechanism = "msa", .block = 128, .top = 16, .index_elements = 4 * 128});
    check_sparse("minicpm4", 0,
                 &(rung_ledger_layer){.mechanism = "infllm2",
                                      .block = 64,
                                      .top = 64,
                                      .summary_elements = 4 * 2 * 128,
                                      .window_size = 2048,
                                      .summary_by_position = true,
                                      .summary_overlaps = true});
    check_sparse("minicpm_sala", 0,
                 &(rung_ledger_layer){.mechanism = "infllm2",
                                      .block = 64,
                                      .top = 64,
                                      .summary_elements = 4 * 2 * 128,
                                      .window_size = 2048,
                                      .summary_overlaps = true});
    check_sparse("deepseek_v4", 2,
                 &(rung_ledger_layer){.mechanism = "csa",
                                      .block = 4,
                                      .top = 512,
                                      .summary_elements = 512 + 128,
                                      .window_size = 128,
                                      .summary_by_position = true,
                                      .summary_overlaps = true});
    check_sparse("deepseek_v4", 3,
                 &(rung_ledger_layer){.mechanism = "hca",
                                      .block = 128,
                                      .top = 0,
                                      .summary_elements = 512,
                                      .window_size = 128,
                                      .summary_by_position = true});
    check_sparse("nsa", 0,
                 &(rung_ledger_layer){.mechanism = "nsa",
                                      .block = 64,
                                      .top = 16,
                                      .summary_elements = 2 * 4 * 32,
                                      .window_size = 512,
                                      .summary_by_position = true});
    check_sparse(
        "moba", 0,
        &(rung_ledger_layer){
            .mechanism = "moba", .block = 256, .top = 4, .summary_elements = 32 * 64, .summary_by_position = true});
}

static void test_mamba3_carries_more_than_its_state(void **state)
{
    (void)state;
    rung_ledger ledger = read_fixture("mamba3");
    /* per head: 128 * 0.5 / 2 angles, the last key of 128, the last value of 64 */
    compare("mamba3", "extra", rung_ledger_total(&ledger).all.extra_elements, 48 * 64 * (32 + 128 + 64));
    rung_ledger_clear(&ledger);
}

static void test_log_linear_state_is_per_level_and_fp32_is_named(void **state)
{
    (void)state;
    rung_ledger ledger = read_fixture("loglinear");
    assert_true(ledger.layer[0].levels);
    rung_ledger_clear(&ledger);
    ledger = read_fixture("nemotron_h");
    assert_true(ledger.layer[0].fp32_state && !ledger.layer[5].fp32_state && !ledger.layer[0].levels);
    rung_ledger_clear(&ledger);
    ledger = read_fixture("qwen3_next"); /* 32 bits in the published code, not in the file */
    assert_false(ledger.layer[0].fp32_state);
    assert_true(has_note(&ledger, "32 bits"));
    rung_ledger_clear(&ledger);
}

/* Heads with keys of their own; the values of all heads that share keys stand together. Elsewhere no shape is stated. */
static void test_shapes_of_states(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        size_t layer;
        uint64_t heads, key_dim, value_dim;
    } shapes[] = {
        {"qwen3_next", 0, 16, 128, 256},  {"qwen3_next", 3, 0, 0, 0}, {"nemotron_h", 0, 8, 128, 512},
        {"kimi_linear", 0, 32, 128, 128}, {"rwkv7", 0, 12, 64, 64},
    };
    for (size_t i = 0; i < RUNG_COUNT(shapes); i++) {
        rung_ledger ledger = read_fixture(shapes[i].file);
        const rung_ledger_layer *held = &ledger.layer[shapes[i].layer];
        assert_int_equal(held->state_heads, shapes[i].heads);
        assert_int_equal(held->state_key_dim, shapes[i].key_dim);
        assert_int_equal(held->state_value_dim, shapes[i].value_dim);
        assert_int_equal(held->state_elements, shapes[i].heads * shapes[i].key_dim * shapes[i].value_dim);
        rung_ledger_clear(&ledger);
    }
}

static void test_notes_say_what_was_assumed(void **state)
{
    (void)state;
    static const struct {
        const char *file, *note;
    } notes[] = {
        {"gemma3", "num_attention_heads=8"},
        {"gemma3n", "10 layers use the cache of others"},
        {"deepseek_v4", "1 entries at the end"},
        {"deepseek_v4", "not also values"},
        {"ministral", "no shorter than the context"},
        {"kimi_linear", "larger of kv_lora_rank"},
        {"minicpm4", "fully below 8192"},
        {"olmo_hybrid", "taken from the class"},
    };
    for (size_t i = 0; i < RUNG_COUNT(notes); i++) {
        rung_ledger ledger = read_fixture(notes[i].file);
        if (!has_note(&ledger, notes[i].note)) fail_msg("%s lacks the note '%s'", notes[i].file, notes[i].note);
        rung_ledger_clear(&ledger);
    }
}

static void test_a_missing_file_is_an_input_error(void **state)
{
    (void)state;
    rung_ledger ledger;
    rung_error err = {{0}};
    assert_int_equal(rung_ledger_open(&ledger, "/nonexistent/config.json", &err), RUNG_INPUT);
    assert_message(err, "/nonexistent/config.json");
    rung_ledger_clear(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_fixture_gives_the_ledger_worked_out_by_hand),
        cmocka_unit_test(test_figures_that_servers_report),
        cmocka_unit_test(test_the_order_of_layers_not_only_their_number),
        cmocka_unit_test(test_what_a_query_receives),
        cmocka_unit_test(test_what_a_selection_sees),
        cmocka_unit_test(test_mamba3_carries_more_than_its_state),
        cmocka_unit_test(test_log_linear_state_is_per_level_and_fp32_is_named),
        cmocka_unit_test(test_shapes_of_states),
        cmocka_unit_test(test_notes_say_what_was_assumed),
        cmocka_unit_test(test_a_missing_file_is_an_input_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
