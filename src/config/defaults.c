/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Defaults of published configuration classes. A file may leave out a field whose value is the default of its class,
 * and nested text models usually do; without this table such a file could not be read. Only sizes that a ledger needs.
 * The classes are those of transformers, except: baichuan_m1, hymba, ouro (of their checkpoints), bailing_hybrid (of
 * SGLang), rwkv5, rwkv6 (of RWKV), and comba, delta_net, gated_*, gla, gsa, hgrn, hgrn2, kda, linear_attn,
 * log_linear_mamba2, mamba3, moba, nsa, retnet, rwkv7, samba (of flash-linear-attention).
 */
#include "reader.h"

#include <stdlib.h>

typedef struct row {
    const char *type, *values; /* "key=number key=number ..." */
} row;

/* Sorted by type. */
static const row classes[] = {
    {"afmoe", "hidden_size=2048 num_hidden_layers=32 num_attention_heads=16 head_dim=128 sliding_window=1024 "
              "global_attn_every_n_layers=4"},
    {"apertus", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"arcee", "hidden_size=2560 num_hidden_layers=32 num_attention_heads=32"},
    {"aria_text", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"axk1", "hidden_size=7168 num_hidden_layers=61 num_attention_heads=64 v_head_dim=128 kv_lora_rank=512 "
             "qk_rope_head_dim=64 qk_nope_head_dim=128"},
    {"axk2", "hidden_size=2048 num_hidden_layers=48 num_attention_heads=32 v_head_dim=64 kv_lora_rank=128 "
             "qk_rope_head_dim=32 qk_nope_head_dim=64 index_topk=2048 index_head_dim=128 index_n_heads=16"},
    {"baichuan_m1", "conv_window=2"},
    {"bailing_hybrid", "kv_lora_rank=512 qk_rope_head_dim=64 qk_nope_head_dim=128 v_head_dim=128"},
    {"bamba", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 mamba_n_heads=128 "
              "mamba_n_groups=1 mamba_d_state=256 mamba_d_conv=4 mamba_expand=2"},
    {"biogpt", "hidden_size=1024 num_hidden_layers=24 num_attention_heads=16"},
    {"bitnet", "hidden_size=2560 num_hidden_layers=30 num_attention_heads=20 num_key_value_heads=5"},
    {"bloom", "hidden_size=64 n_layer=2 n_head=8"},
    {"chameleon", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32"},
    {"codegen", "n_embd=4096 n_layer=28 n_head=16"},
    {"cohere", "hidden_size=8192 num_hidden_layers=40 num_attention_heads=64"},
    {"cohere2", "hidden_size=8192 num_hidden_layers=40 num_attention_heads=64 sliding_window=4096"},
    {"cohere2_moe", "hidden_size=8192 num_hidden_layers=40 num_attention_heads=64 head_dim=128 sliding_window=4096 "
                    "sliding_window_pattern=4 prefix_dense_sliding_window_pattern=1 max_position_embeddings=8192"},
    {"cohere_compass_text", "hidden_size=8192 num_hidden_layers=40 num_attention_heads=64 sliding_window=4096"},
    {"comba", "hidden_size=2048 num_heads=6 head_dim=256 expand_v=2 use_short_conv=1 conv_size=4"},
    {"cosmos3_edge_text",
     "hidden_size=2048 num_hidden_layers=28 num_attention_heads=16 num_key_value_heads=8 head_dim=128"},
    {"ctrl", "n_embd=1280 n_layer=48 n_head=16"},
    {"cwm", "hidden_size=6144 num_hidden_layers=64 num_attention_heads=48 num_key_value_heads=8 head_dim=128 "
            "sliding_window=8192"},
    {"dbrx", "d_model=2048 n_layers=24 n_heads=16 attn_config.kv_n_heads=1"},
    {"deepseek_ocr2_text", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"deepseek_v2", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 kv_lora_rank=512 qk_rope_head_dim=64 "
                    "qk_nope_head_dim=128 v_head_dim=128"},
    {"deepseek_v3", "hidden_size=7168 num_hidden_layers=61 num_attention_heads=128 kv_lora_rank=512 "
                    "qk_rope_head_dim=64 qk_nope_head_dim=128 v_head_dim=128"},
    {"deepseek_v32", "hidden_size=7168 num_hidden_layers=61 num_attention_heads=128 v_head_dim=128 kv_lora_rank=512 "
                     "qk_rope_head_dim=64 qk_nope_head_dim=128 index_topk=2048 index_head_dim=128 index_n_heads=64"},
    {"deepseek_v4", "hidden_size=4096 num_hidden_layers=43 num_attention_heads=64 num_key_value_heads=1 head_dim=512 "
                    "sliding_window=128 index_n_heads=64 index_head_dim=128 index_topk=512"},
    {"delta_net",
     "hidden_size=2048 num_hidden_layers=24 num_heads=16 expand_k=1 expand_v=1 use_short_conv=1 conv_size=4"},
    {"diffllama", "hidden_size=2048 num_hidden_layers=16 num_attention_heads=32"},
    {"doge", "hidden_size=1024 num_hidden_layers=32 num_attention_heads=8"},
    {"dots1", "hidden_size=4608 num_hidden_layers=62 num_attention_heads=32 num_key_value_heads=32 sliding_window=4096 "
              "max_window_layers=62 max_position_embeddings=2048"},
    {"emu3_text_model", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8"},
    {"ernie4_5", "hidden_size=1024 num_hidden_layers=18 num_attention_heads=16 num_key_value_heads=2 head_dim=128"},
    {"ernie4_5_moe", "hidden_size=2560 num_hidden_layers=28 num_attention_heads=20 num_key_value_heads=4"},
    {"ernie4_5_vl_moe_text", "hidden_size=2560 num_hidden_layers=28 num_attention_heads=20 num_key_value_heads=4"},
    {"exaone4", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 "
                "sliding_window=4096 sliding_window_pattern=4"},
    {"exaone_moe", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 "
                   "sliding_window=4096 sliding_window_pattern=4"},
    {"falcon", "hidden_size=4544 num_hidden_layers=32 num_attention_heads=71 multi_query=1"},
    {"falcon_h1", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 mamba_d_ssm=1024 "
                  "mamba_n_heads=128 mamba_n_groups=1 mamba_d_state=256 mamba_d_conv=4 mamba_expand=2"},
    {"falcon_mamba", "hidden_size=768 num_hidden_layers=32 state_size=16 expand=2 conv_kernel=4"},
    {"flex_olmo", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"gated_deltanet",
     "hidden_size=2048 num_hidden_layers=21 num_heads=6 head_dim=256 expand_v=2 use_short_conv=1 conv_size=4"},
    {"gated_deltaproduct", "hidden_size=2048 num_hidden_layers=21 num_heads=6 head_dim=256 expand_v=2 use_short_conv=1 "
                           "conv_size=4 num_householder=1"},
    {"gemma", "hidden_size=3072 num_hidden_layers=28 num_attention_heads=16 num_key_value_heads=16 head_dim=256"},
    {"gemma2", "hidden_size=2304 num_hidden_layers=26 num_attention_heads=8 num_key_value_heads=4 head_dim=256 "
               "sliding_window=4096 max_position_embeddings=8192"},
    {"gemma3_text", "hidden_size=2304 num_hidden_layers=26 num_attention_heads=8 num_key_value_heads=4 head_dim=256 "
                    "sliding_window=4096 max_position_embeddings=131072"},
    {"gemma3n_text", "hidden_size=2048 num_hidden_layers=35 num_attention_heads=8 num_key_value_heads=2 head_dim=256 "
                     "sliding_window=512 num_kv_shared_layers=15 max_position_embeddings=32768"},
    {"gemma4_text", "hidden_size=2304 num_hidden_layers=30 num_attention_heads=8 num_key_value_heads=4 head_dim=256 "
                    "global_head_dim=512 sliding_window=512 max_position_embeddings=131072"},
    {"gemma4_unified_text", "hidden_size=2304 num_hidden_layers=30 num_attention_heads=8 num_key_value_heads=4 "
                            "head_dim=256 sliding_window=1024"},
    {"gla", "hidden_size=2048 num_hidden_layers=24 num_heads=4 expand_k=0.5 expand_v=1 use_short_conv=0 conv_size=4"},
    {"glm", "hidden_size=4096 num_hidden_layers=40 num_attention_heads=32 num_key_value_heads=2 head_dim=128"},
    {"glm4", "hidden_size=4096 num_hidden_layers=40 num_attention_heads=32 num_key_value_heads=2 head_dim=128"},
    {"glm4_moe", "hidden_size=4096 num_hidden_layers=46 num_attention_heads=96 num_key_value_heads=8"},
    {"glm4_moe_lite", "hidden_size=2048 num_hidden_layers=47 num_attention_heads=20 v_head_dim=256 kv_lora_rank=512 "
                      "qk_rope_head_dim=64 qk_nope_head_dim=192"},
    {"glm4v_moe_text", "hidden_size=4096 num_hidden_layers=46 num_attention_heads=96 num_key_value_heads=8"},
    {"glm4v_text", "hidden_size=4096 num_hidden_layers=40 num_attention_heads=32 num_key_value_heads=2"},
    {"glm_moe_dsa", "hidden_size=6144 num_hidden_layers=78 num_attention_heads=64 v_head_dim=256 kv_lora_rank=512 "
                    "qk_rope_head_dim=64 qk_nope_head_dim=192 index_topk=2048 index_head_dim=128 index_n_heads=32"},
    {"glm_ocr_text", "hidden_size=1024 num_hidden_layers=16 num_attention_heads=16 num_key_value_heads=8"},
    {"gpt2", "n_embd=768 n_layer=12 n_head=12 n_positions=1024"},
    {"gpt_bigcode", "n_embd=768 n_layer=12 n_head=12 multi_query=1"},
    {"gpt_neo", "hidden_size=2048 num_layers=24 num_heads=16 window_size=256"},
    {"gpt_neox", "hidden_size=6144 num_hidden_layers=44 num_attention_heads=64"},
    {"gpt_neox_japanese", "hidden_size=2560 num_hidden_layers=32 num_attention_heads=32"},
    {"gpt_oss", "hidden_size=2880 num_hidden_layers=36 num_attention_heads=64 num_key_value_heads=8 head_dim=64 "
                "sliding_window=128"},
    {"gptj", "n_embd=4096 n_layer=28 n_head=16"},
    {"granite", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"granite_swa",
     "hidden_size=2560 num_hidden_layers=24 num_attention_heads=20 num_key_value_heads=4 sliding_window=128"},
    {"granitemoe", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"granitemoe_swa", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 sliding_window=128"},
    {"granitemoehybrid", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 mamba_n_heads=128 "
                         "mamba_n_groups=1 mamba_d_state=256 mamba_d_conv=4 mamba_expand=2"},
    {"granitemoeshared", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"gsa", "hidden_size=2048 num_hidden_layers=24 num_heads=4 num_slots=64 expand_k=1 expand_v=1 use_short_conv=0 "
            "conv_size=4"},
    {"helium", "hidden_size=2560 num_hidden_layers=24 num_attention_heads=20 num_key_value_heads=20 head_dim=128"},
    {"hgrn", "hidden_size=2048 num_hidden_layers=24 expand_ratio=1 use_short_conv=0 conv_size=4"},
    {"hgrn2", "hidden_size=2048 num_hidden_layers=24 expand_ratio=128 use_short_conv=0 conv_size=4"},
    {"hunyuan_v1_dense", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"hunyuan_v1_moe", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"hunyuan_vl_text", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"hy_v3", "hidden_size=4096 num_hidden_layers=80 num_attention_heads=64 num_key_value_heads=8 head_dim=128"},
    {"hymba", "mamba_d_state=16 mamba_d_conv=4 mamba_expand=2"},
    {"hyperclovax", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"inkling_text", "hidden_size=6144 num_hidden_layers=66 num_attention_heads=64 num_key_value_heads=8 head_dim=128 "
                     "swa_num_attention_heads=64 swa_num_key_value_heads=16 swa_head_dim=128 sliding_window_size=512 "
                     "conv_kernel_size=4"},
    {"jais2", "hidden_size=3328 num_hidden_layers=32 num_attention_heads=26"},
    {"jamba", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 attn_layer_period=8 "
              "attn_layer_offset=4 mamba_d_state=16 mamba_d_conv=4 mamba_expand=2"},
    {"jetmoe", "hidden_size=2048 num_hidden_layers=12 num_key_value_heads=16 kv_channels=128"},
    {"kda", "hidden_size=2048 num_hidden_layers=24 num_heads=16 head_dim=128 expand_v=1 use_short_conv=1 conv_size=4"},
    {"laguna", "hidden_size=2048 num_hidden_layers=40 num_attention_heads=48 num_key_value_heads=8 head_dim=128 "
               "sliding_window=512"},
    {"lfm2", "hidden_size=2560 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 conv_L_cache=3"},
    {"lfm2_moe", "hidden_size=2048 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 conv_L_cache=3"},
    {"linear_attn", "hidden_size=2048 num_hidden_layers=24 num_heads=4 expand_k=1 expand_v=1"},
    {"llama", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"llama4_text", "hidden_size=5120 num_hidden_layers=48 num_attention_heads=40 num_key_value_heads=8 head_dim=128 "
                    "attention_chunk_size=8192"},
    {"log_linear_mamba2",
     "hidden_size=2048 num_hidden_layers=48 head_dim=64 state_size=128 expand=2 conv_kernel=4 n_groups=1"},
    {"longcat_flash", "hidden_size=6144 num_layers=28 num_attention_heads=64 kv_lora_rank=512 qk_rope_head_dim=64 "
                      "qk_nope_head_dim=128 v_head_dim=128"},
    {"mamba", "hidden_size=768 num_hidden_layers=32 state_size=16 expand=2 conv_kernel=4"},
    {"mamba2", "hidden_size=4096 num_hidden_layers=64 head_dim=64 state_size=128 expand=2 conv_kernel=4 n_groups=8"},
    {"mamba3", "hidden_size=2048 num_hidden_layers=48 head_dim=64 state_size=128 expand=2 n_groups=1 rope_fraction=0.5 "
               "mimo_rank=4"},
    {"mellum", "hidden_size=2304 num_hidden_layers=28 num_attention_heads=32 num_key_value_heads=4 head_dim=128 "
               "sliding_window=1024"},
    {"mimo_v2_flash", "hidden_size=4096 num_hidden_layers=48 num_attention_heads=64 num_key_value_heads=4 head_dim=192 "
                      "sliding_window=128 v_head_dim=128"},
    {"minicpm3", "hidden_size=2560 num_hidden_layers=62 num_attention_heads=40 kv_lora_rank=256 qk_rope_head_dim=32 "
                 "qk_nope_head_dim=64"},
    {"minimax", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8"},
    {"minimax_m2", "hidden_size=3072 num_hidden_layers=62 num_attention_heads=48 num_key_value_heads=8 head_dim=128"},
    {"minimax_m3_vl_text", "hidden_size=6144 num_hidden_layers=60 num_attention_heads=64 num_key_value_heads=4 "
                           "head_dim=128 index_head_dim=128 index_n_heads=4"},
    {"ministral", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 "
                  "sliding_window=4096 max_position_embeddings=131072"},
    {"ministral3", "hidden_size=4096 num_hidden_layers=34 num_attention_heads=32 num_key_value_heads=8 head_dim=128 "
                   "max_position_embeddings=262144"},
    {"mistral", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 "
                "sliding_window=4096 max_position_embeddings=131072"},
    {"mistral4", "hidden_size=4096 num_hidden_layers=36 num_attention_heads=32 v_head_dim=128 kv_lora_rank=256 "
                 "qk_rope_head_dim=64 qk_nope_head_dim=64"},
    {"mixtral", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 "
                "max_position_embeddings=131072"},
    {"mllama_text_model", "hidden_size=4096 num_hidden_layers=40 num_attention_heads=32 num_key_value_heads=8"},
    {"moba", "hidden_size=2048 num_hidden_layers=24 num_heads=32 moba_chunk_size=256 moba_topk=4"},
    {"modernbert-decoder",
     "hidden_size=768 num_hidden_layers=22 num_attention_heads=12 local_attention=128 global_attn_every_n_layers=3"},
    {"mpt", "d_model=2048 n_layers=24 n_heads=16"},
    {"muse_glimmer_text", "hidden_size=6656 num_hidden_layers=52 num_attention_heads=32 num_key_value_heads=2 "
                          "head_dim=128 sliding_window=2048"},
    {"nanochat", "hidden_size=768 num_hidden_layers=12 num_attention_heads=6"},
    {"nemotron", "hidden_size=6144 num_hidden_layers=32 num_attention_heads=48"},
    {"nemotron_h", "hidden_size=4096 num_attention_heads=32 num_key_value_heads=8 head_dim=128 mamba_num_heads=128 "
                   "mamba_head_dim=64 ssm_state_size=128 n_groups=8 conv_kernel=4"},
    {"nsa", "hidden_size=2048 num_hidden_layers=24 num_heads=64 num_kv_heads=4 head_dim=32 block_size=64 "
            "block_counts=16 window_size=512"},
    {"olmo", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"olmo2", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32"},
    {"olmo3", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 sliding_window=4096"},
    {"olmo_hybrid", "hidden_size=3840 num_hidden_layers=32 num_attention_heads=30 linear_conv_kernel_dim=4"},
    {"olmoe", "hidden_size=2048 num_hidden_layers=16 num_attention_heads=16"},
    {"openai-gpt", "n_embd=768 n_layer=12 n_head=12"},
    {"opt", "hidden_size=768 num_hidden_layers=12 num_attention_heads=12"},
    {"ouro", "total_ut_steps=4"},
    {"paddleocr_vl_text",
     "hidden_size=1024 num_hidden_layers=18 num_attention_heads=16 num_key_value_heads=2 head_dim=128"},
    {"persimmon", "hidden_size=4096 num_hidden_layers=36 num_attention_heads=64"},
    {"phi", "hidden_size=2048 num_hidden_layers=24 num_attention_heads=32"},
    {"phi3", "hidden_size=3072 num_hidden_layers=32 num_attention_heads=32 max_position_embeddings=4096"},
    {"phi4_multimodal", "hidden_size=3072 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 "
                        "max_position_embeddings=131072"},
    {"phimoe", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 "
               "max_position_embeddings=131072"},
    {"qwen2", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 "
              "use_sliding_window=0 max_window_layers=28 sliding_window=4096 max_position_embeddings=32768"},
    {"qwen2_5_omni_text",
     "hidden_size=3584 num_hidden_layers=28 num_attention_heads=28 num_key_value_heads=4 sliding_window=32768 "
     "use_sliding_window=0 max_window_layers=28 max_position_embeddings=32768"},
    {"qwen2_5_vl_text", "hidden_size=8192 num_hidden_layers=80 num_attention_heads=64 num_key_value_heads=8 "
                        "sliding_window=4096 use_sliding_window=0 max_window_layers=80 max_position_embeddings=32768"},
    {"qwen2_moe", "hidden_size=2048 num_hidden_layers=24 num_attention_heads=16 num_key_value_heads=16 "
                  "use_sliding_window=0 max_window_layers=28 sliding_window=4096 max_position_embeddings=32768"},
    {"qwen2_vl_text", "hidden_size=8192 num_hidden_layers=80 num_attention_heads=64 num_key_value_heads=8 "
                      "sliding_window=4096 use_sliding_window=0 max_window_layers=80 max_position_embeddings=32768"},
    {"qwen3", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 head_dim=128 "
              "use_sliding_window=0 max_window_layers=28 sliding_window=4096 max_position_embeddings=32768"},
    {"qwen3_5_moe_text", "hidden_size=2048 num_hidden_layers=40 num_attention_heads=16 num_key_value_heads=2 "
                         "head_dim=256 linear_conv_kernel_dim=4 linear_key_head_dim=128 linear_value_head_dim=128 "
                         "linear_num_key_heads=16 linear_num_value_heads=32"},
    {"qwen3_5_text", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=16 num_key_value_heads=4 head_dim=256 "
                     "linear_conv_kernel_dim=4 linear_key_head_dim=128 linear_value_head_dim=128 "
                     "linear_num_key_heads=16 linear_num_value_heads=32"},
    {"qwen3_moe", "hidden_size=2048 num_hidden_layers=24 num_attention_heads=32 num_key_value_heads=4 "
                  "use_sliding_window=0 sliding_window=4096 max_position_embeddings=32768"},
    {"qwen3_next", "hidden_size=2048 num_hidden_layers=48 num_attention_heads=16 num_key_value_heads=2 head_dim=256 "
                   "linear_conv_kernel_dim=4 linear_key_head_dim=128 linear_value_head_dim=128 linear_num_key_heads=16 "
                   "linear_num_value_heads=32"},
    {"qwen3_omni_moe_text", "hidden_size=2048 num_hidden_layers=28 num_attention_heads=28 num_key_value_heads=4"},
    {"qwen3_vl_moe_text", "hidden_size=2048 num_hidden_layers=24 num_attention_heads=16 num_key_value_heads=16"},
    {"qwen3_vl_text",
     "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 head_dim=128"},
    {"recurrent_gemma",
     "hidden_size=2560 num_hidden_layers=26 num_attention_heads=10 attention_window_size=2048 conv1d_width=4"},
    {"retnet", "hidden_size=2048 num_hidden_layers=24 num_heads=8 expand_k=1 expand_v=2 use_short_conv=0 conv_size=4"},
    {"rwkv", "hidden_size=4096 num_hidden_layers=32"},
    {"rwkv5", "head_size=64"},
    {"rwkv6", "head_size=64"},
    {"rwkv7", "hidden_size=2048 num_hidden_layers=24 head_dim=64"},
    {"samba",
     "hidden_size=2304 num_hidden_layers=18 num_heads=18 state_size=16 expand=2 conv_kernel=4 window_size=2048"},
    {"seed_oss", "hidden_size=4096 num_hidden_layers=64 num_attention_heads=80 num_key_value_heads=8 head_dim=128"},
    {"smollm3", "hidden_size=2048 num_hidden_layers=36 num_attention_heads=16 num_key_value_heads=4 "
                "use_sliding_window=0 max_position_embeddings=32768"},
    {"solar_open", "hidden_size=4096 num_hidden_layers=48 num_attention_heads=64 num_key_value_heads=8 head_dim=128"},
    {"stablelm", "hidden_size=2560 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32"},
    {"starcoder2",
     "hidden_size=3072 num_hidden_layers=30 num_attention_heads=24 num_key_value_heads=2 max_position_embeddings=4096"},
    {"step3p5", "hidden_size=4096 num_hidden_layers=45 num_attention_heads=64 num_key_value_heads=8 head_dim=128"},
    {"transformer", "max_position_embeddings=2048"},
    {"vaultgemma", "hidden_size=2304 num_hidden_layers=26 num_attention_heads=8 num_key_value_heads=4 head_dim=256 "
                   "sliding_window=4096"},
    {"voxtral_realtime_text", "hidden_size=4096 num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 "
                              "sliding_window=4096 max_position_embeddings=131072"},
    {"xglm", "d_model=1024 num_layers=24 attention_heads=16"},
    {"xlstm", "hidden_size=4096 num_hidden_layers=32 num_heads=8 qk_dim_factor=0.5 v_dim_factor=1"},
    {"youtu", "hidden_size=2048 num_hidden_layers=32 num_attention_heads=16 v_head_dim=128 kv_lora_rank=512 "
              "qk_rope_head_dim=64 qk_nope_head_dim=128"},
    {"zamba", "hidden_size=3712 num_hidden_layers=76 num_attention_heads=16 num_key_value_heads=16 attn_layer_period=6 "
              "attn_layer_offset=4 mamba_d_state=16 mamba_d_conv=4 mamba_expand=2"},
    {"zamba2", "hidden_size=2560 num_hidden_layers=54 num_attention_heads=32 mamba_d_state=64 mamba_d_conv=4 "
               "mamba_expand=2 mamba_ngroups=1 n_mamba_heads=8"},
    {"zaya", "hidden_size=2048 num_hidden_layers=40 num_attention_heads=8 num_key_value_heads=2 head_dim=128 "
             "cca_time0=2 cca_time1=2"},
};

/* In a flat file the type of a multimodal model stands for that of its text model. */
static const char *const same_class[][2] = {
    {"gemma3", "gemma3_text"},
    {"gemma3n", "gemma3n_text"},
    {"gemma4", "gemma4_text"},
    {"llama4", "llama4_text"},
    {"qwen3_5", "qwen3_5_text"},
    {"qwen3_5_moe", "qwen3_5_moe_text"},
    {"gemma4_unified", "gemma4_unified_text"},
    {"kimi_k2", "deepseek_v3"},
    {"muse_glimmer", "muse_glimmer_text"},
    {"qwen2_vl", "qwen2_vl_text"},
    {"qwen2_5_vl", "qwen2_5_vl_text"},
    {"mllama", "mllama_text_model"},
    {"minimax_m3_vl", "minimax_m3_vl_text"},
    {"inkling", "inkling_text"},
    {"step3p7", "step3p5"},
};

static int by_type(const void *type, const void *of)
{
    return strcmp(type, ((const row *)of)->type);
}

/* Returns the values of the class, or "" when it is not known. */
static const char *class_of(const char *type)
{
    for (size_t i = 0; i < RUNG_COUNT(same_class); i++)
        if (strcmp(same_class[i][0], type) == 0) type = same_class[i][1];
    const row *found = bsearch(type, classes, RUNG_COUNT(classes), sizeof *classes, by_type);
    return found ? found->values : "";
}

bool cfg_class_default(double *number, const char *type, const char *key)
{
    size_t len = strlen(key);
    for (const char *at = class_of(type); *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strncmp(at, key, len) == 0 && at[len] == '=') {
            *number = strtod(at + len + 1, NULL);
            return true;
        }
    return false;
}
