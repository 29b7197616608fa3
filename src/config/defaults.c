/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Defaults of published configuration classes. A file may leave out a field whose value is the default of its class,
 * and nested text models usually do; without this table such a file could not be read. Only sizes that a ledger needs.
 * A class is one of transformers unless the row says otherwise; those from gla on are of flash-linear-attention.
 */
#include "reader.h"

typedef struct value {
    const char *key;
    double number;
} value;

static const value of_llama[] = {
    {"hidden_size", 4096}, {"num_hidden_layers", 32}, {"num_attention_heads", 32}, {NULL, 0}}; /* LlamaConfig */
static const value of_mistral[] = {{"hidden_size", 4096},       {"num_hidden_layers", 32},
                                   {"num_attention_heads", 32}, {"num_key_value_heads", 8},
                                   {"sliding_window", 4096},    {NULL, 0}}; /* MistralConfig */
static const value of_mixtral[] = {{"hidden_size", 4096},
                                   {"num_hidden_layers", 32},
                                   {"num_attention_heads", 32},
                                   {"num_key_value_heads", 8},
                                   {NULL, 0}}; /* MixtralConfig */
static const value of_qwen2[] = {{"hidden_size", 4096},
                                 {"num_hidden_layers", 32},
                                 {"num_attention_heads", 32},
                                 {"num_key_value_heads", 32},
                                 {"use_sliding_window", 0},
                                 {"max_window_layers", 28},
                                 {NULL, 0}}; /* Qwen2Config */
static const value of_qwen3[] = {
    {"hidden_size", 4096}, {"num_hidden_layers", 32}, {"num_attention_heads", 32}, {"num_key_value_heads", 32},
    {"head_dim", 128},     {"use_sliding_window", 0}, {"max_window_layers", 28},   {NULL, 0}}; /* Qwen3Config */
static const value of_qwen2_moe[] = {{"hidden_size", 2048},
                                     {"num_hidden_layers", 24},
                                     {"num_attention_heads", 16},
                                     {"num_key_value_heads", 16},
                                     {"use_sliding_window", 0},
                                     {"max_window_layers", 28},
                                     {NULL, 0}}; /* Qwen2MoeConfig */
static const value of_qwen3_moe[] = {{"hidden_size", 2048},       {"num_hidden_layers", 24},
                                     {"num_attention_heads", 32}, {"num_key_value_heads", 4},
                                     {"use_sliding_window", 0},   {NULL, 0}}; /* Qwen3MoeConfig */
static const value of_gemma[] = {{"hidden_size", 3072},       {"num_hidden_layers", 28}, {"num_attention_heads", 16},
                                 {"num_key_value_heads", 16}, {"head_dim", 256},         {NULL, 0}}; /* GemmaConfig */
static const value of_gemma2[] = {
    {"hidden_size", 2304}, {"num_hidden_layers", 26}, {"num_attention_heads", 8},        {"num_key_value_heads", 4},
    {"head_dim", 256},     {"sliding_window", 4096},  {"max_position_embeddings", 8192}, {NULL, 0}}; /* Gemma2Config */
static const value of_gemma3_text[] = {{"hidden_size", 2304},
                                       {"num_hidden_layers", 26},
                                       {"num_attention_heads", 8},
                                       {"num_key_value_heads", 4},
                                       {"head_dim", 256},
                                       {"sliding_window", 4096},
                                       {"max_position_embeddings", 131072},
                                       {NULL, 0}}; /* Gemma3TextConfig */
static const value of_gemma3n_text[] = {{"hidden_size", 2048},
                                        {"num_hidden_layers", 35},
                                        {"num_attention_heads", 8},
                                        {"num_key_value_heads", 2},
                                        {"head_dim", 256},
                                        {"sliding_window", 512},
                                        {"num_kv_shared_layers", 15},
                                        {"max_position_embeddings", 32768},
                                        {NULL, 0}}; /* Gemma3nTextConfig */
static const value of_gemma4_text[] = {{"hidden_size", 2304},
                                       {"num_hidden_layers", 30},
                                       {"num_attention_heads", 8},
                                       {"num_key_value_heads", 4},
                                       {"head_dim", 256},
                                       {"global_head_dim", 512},
                                       {"sliding_window", 512},
                                       {"max_position_embeddings", 131072},
                                       {NULL, 0}}; /* Gemma4TextConfig */
static const value of_cohere2[] = {{"hidden_size", 8192},
                                   {"num_hidden_layers", 40},
                                   {"num_attention_heads", 64},
                                   {"sliding_window", 4096},
                                   {NULL, 0}}; /* Cohere2Config */
static const value of_gpt_oss[] = {{"hidden_size", 2880},
                                   {"num_hidden_layers", 36},
                                   {"num_attention_heads", 64},
                                   {"num_key_value_heads", 8},
                                   {"head_dim", 64},
                                   {"sliding_window", 128},
                                   {NULL, 0}}; /* GptOssConfig */
static const value of_olmo3[] = {{"hidden_size", 4096},
                                 {"num_hidden_layers", 32},
                                 {"num_attention_heads", 32},
                                 {"sliding_window", 4096},
                                 {NULL, 0}}; /* Olmo3Config */
static const value of_afmoe[] = {{"hidden_size", 2048}, {"num_hidden_layers", 32}, {"num_attention_heads", 16},
                                 {"head_dim", 128},     {"sliding_window", 1024},  {NULL, 0}}; /* AfmoeConfig */
static const value of_cwm[] = {{"sliding_window", 8192}, {NULL, 0}};                           /* CwmConfig */
static const value of_granite_swa[] = {{"sliding_window", 128}, {NULL, 0}};                    /* GraniteSwaConfig */
static const value of_vaultgemma[] = {{"sliding_window", 4096}, {"head_dim", 256}, {NULL, 0}}; /* VaultGemmaConfig */
static const value of_cohere2_moe[] = {{"sliding_window", 4096},
                                       {"sliding_window_pattern", 4},
                                       {"prefix_dense_sliding_window_pattern", 1},
                                       {NULL, 0}}; /* Cohere2MoeConfig */
static const value of_exaone_moe[] = {
    {"sliding_window", 4096}, {"sliding_window_pattern", 4}, {NULL, 0}}; /* ExaoneMoeConfig */
static const value of_modernbert_decoder[] = {
    {"local_attention", 128}, {"global_attn_every_n_layers", 3}, {NULL, 0}};  /* ModernBertDecoderConfig */
static const value of_ouro[] = {{"total_ut_steps", 4}, {NULL, 0}};            /* OuroConfig of Ouro */
static const value of_baichuan_m1[] = {{"conv_window", 2}, {NULL, 0}};        /* BaichuanM1Config of Baichuan */
static const value of_mimo_v2_flash[] = {{"sliding_window", 128}, {NULL, 0}}; /* MiMoV2FlashConfig */
static const value of_exaone4[] = {{"hidden_size", 4096},
                                   {"num_hidden_layers", 32},
                                   {"num_attention_heads", 32},
                                   {"num_key_value_heads", 32},
                                   {"sliding_window", 4096},
                                   {"sliding_window_pattern", 4},
                                   {NULL, 0}}; /* Exaone4Config */
static const value of_llama4_text[] = {{"hidden_size", 5120},
                                       {"num_hidden_layers", 48},
                                       {"num_attention_heads", 40},
                                       {"num_key_value_heads", 8},
                                       {"head_dim", 128},
                                       {"attention_chunk_size", 8192},
                                       {NULL, 0}}; /* Llama4TextConfig */
static const value of_deepseek_v2[] = {{"kv_lora_rank", 512},
                                       {"qk_rope_head_dim", 64},
                                       {"qk_nope_head_dim", 128},
                                       {"v_head_dim", 128},
                                       {NULL, 0}}; /* DeepseekV2Config */
static const value of_deepseek_v3[] = {{"hidden_size", 7168},        {"num_hidden_layers", 61},
                                       {"num_attention_heads", 128}, {"kv_lora_rank", 512},
                                       {"qk_rope_head_dim", 64},     {"qk_nope_head_dim", 128},
                                       {"v_head_dim", 128},          {NULL, 0}}; /* DeepseekV3Config */
static const value of_longcat_flash[] = {{"hidden_size", 6144},       {"num_layers", 28},
                                         {"num_attention_heads", 64}, {"kv_lora_rank", 512},
                                         {"qk_rope_head_dim", 64},    {"qk_nope_head_dim", 128},
                                         {"v_head_dim", 128},         {NULL, 0}}; /* LongcatFlashConfig */
static const value of_deepseek_v4[] = {{"hidden_size", 4096},       {"num_hidden_layers", 43},
                                       {"num_attention_heads", 64}, {"num_key_value_heads", 1},
                                       {"head_dim", 512},           {"sliding_window", 128},
                                       {"index_n_heads", 64},       {"index_head_dim", 128},
                                       {"index_topk", 512},         {NULL, 0}}; /* DeepseekV4Config */
static const value of_gpt2[] = {
    {"n_embd", 768}, {"n_layer", 12}, {"n_head", 12}, {"n_positions", 1024}, {NULL, 0}}; /* GPT2Config */
static const value of_qwen3_next[] = {{"hidden_size", 2048},
                                      {"num_hidden_layers", 48},
                                      {"num_attention_heads", 16},
                                      {"num_key_value_heads", 2},
                                      {"head_dim", 256},
                                      {"linear_conv_kernel_dim", 4},
                                      {"linear_key_head_dim", 128},
                                      {"linear_value_head_dim", 128},
                                      {"linear_num_key_heads", 16},
                                      {"linear_num_value_heads", 32},
                                      {NULL, 0}}; /* Qwen3NextConfig */
static const value of_qwen3_5_text[] = {{"hidden_size", 4096},
                                        {"num_hidden_layers", 32},
                                        {"num_attention_heads", 16},
                                        {"num_key_value_heads", 4},
                                        {"head_dim", 256},
                                        {"linear_conv_kernel_dim", 4},
                                        {"linear_key_head_dim", 128},
                                        {"linear_value_head_dim", 128},
                                        {"linear_num_key_heads", 16},
                                        {"linear_num_value_heads", 32},
                                        {NULL, 0}}; /* Qwen3_5TextConfig */
static const value of_qwen3_5_moe_text[] = {{"hidden_size", 2048},
                                            {"num_hidden_layers", 40},
                                            {"num_attention_heads", 16},
                                            {"num_key_value_heads", 2},
                                            {"head_dim", 256},
                                            {"linear_conv_kernel_dim", 4},
                                            {"linear_key_head_dim", 128},
                                            {"linear_value_head_dim", 128},
                                            {"linear_num_key_heads", 16},
                                            {"linear_num_value_heads", 32},
                                            {NULL, 0}}; /* Qwen3_5MoeTextConfig */
static const value of_olmo_hybrid[] = {{"hidden_size", 3840},
                                       {"num_hidden_layers", 32},
                                       {"num_attention_heads", 30},
                                       {"linear_conv_kernel_dim", 4},
                                       {NULL, 0}}; /* OlmoHybridConfig */
static const value of_jamba[] = {{"hidden_size", 4096},       {"num_hidden_layers", 32},
                                 {"num_attention_heads", 32}, {"num_key_value_heads", 8},
                                 {"attn_layer_period", 8},    {"attn_layer_offset", 4},
                                 {"mamba_d_state", 16},       {"mamba_d_conv", 4},
                                 {"mamba_expand", 2},         {NULL, 0}}; /* JambaConfig */
static const value of_zamba[] = {{"hidden_size", 3712},    {"num_hidden_layers", 76}, {"num_attention_heads", 16},
                                 {"attn_layer_period", 6}, {"attn_layer_offset", 4},  {"mamba_d_state", 16},
                                 {"mamba_d_conv", 4},      {"mamba_expand", 2},       {NULL, 0}}; /* ZambaConfig */
static const value of_zamba2[] = {{"hidden_size", 2560}, {"num_hidden_layers", 54}, {"num_attention_heads", 32},
                                  {"mamba_d_state", 64}, {"mamba_d_conv", 4},       {"mamba_expand", 2},
                                  {"mamba_ngroups", 1},  {"n_mamba_heads", 8},      {NULL, 0}}; /* Zamba2Config */
static const value of_bamba[] = {{"hidden_size", 4096},       {"num_hidden_layers", 32},
                                 {"num_attention_heads", 32}, {"num_key_value_heads", 8},
                                 {"mamba_n_heads", 128},      {"mamba_n_groups", 1},
                                 {"mamba_d_state", 256},      {"mamba_d_conv", 4},
                                 {"mamba_expand", 2},         {NULL, 0}}; /* BambaConfig */
static const value of_granitemoehybrid[] = {
    {"hidden_size", 4096},  {"num_hidden_layers", 32}, {"num_attention_heads", 32},
    {"mamba_n_heads", 128}, {"mamba_n_groups", 1},     {"mamba_d_state", 256},
    {"mamba_d_conv", 4},    {"mamba_expand", 2},       {NULL, 0}}; /* GraniteMoeHybridConfig */
static const value of_falcon_h1[] = {{"hidden_size", 4096},
                                     {"num_hidden_layers", 32},
                                     {"num_attention_heads", 32},
                                     {"num_key_value_heads", 8},
                                     {"mamba_d_ssm", 1024},
                                     {"mamba_n_heads", 128},
                                     {"mamba_n_groups", 1},
                                     {"mamba_d_state", 256},
                                     {"mamba_d_conv", 4},
                                     {"mamba_expand", 2},
                                     {NULL, 0}}; /* FalconH1Config */
static const value of_nemotron_h[] = {{"hidden_size", 4096},      {"num_attention_heads", 32},
                                      {"num_key_value_heads", 8}, {"head_dim", 128},
                                      {"mamba_num_heads", 128},   {"mamba_head_dim", 64},
                                      {"ssm_state_size", 128},    {"n_groups", 8},
                                      {"conv_kernel", 4},         {NULL, 0}}; /* NemotronHConfig */
static const value of_hymba[] = {
    {"mamba_d_state", 16}, {"mamba_d_conv", 4}, {"mamba_expand", 2}, {NULL, 0}}; /* HymbaConfig */
static const value of_mamba[] = {{"hidden_size", 768}, {"num_hidden_layers", 32}, {"state_size", 16},
                                 {"expand", 2},        {"conv_kernel", 4},        {NULL, 0}}; /* MambaConfig */
static const value of_falcon_mamba[] = {{"hidden_size", 768}, {"num_hidden_layers", 32},
                                        {"state_size", 16},   {"expand", 2},
                                        {"conv_kernel", 4},   {NULL, 0}}; /* FalconMambaConfig */
static const value of_mamba2[] = {
    {"hidden_size", 4096}, {"num_hidden_layers", 64}, {"head_dim", 64}, {"state_size", 128},
    {"expand", 2},         {"conv_kernel", 4},        {"n_groups", 8},  {NULL, 0}}; /* Mamba2Config */
static const value of_mamba3[] = {{"hidden_size", 2048},
                                  {"num_hidden_layers", 48},
                                  {"head_dim", 64},
                                  {"state_size", 128},
                                  {"expand", 2},
                                  {"n_groups", 1},
                                  {"rope_fraction", 0.5},
                                  {"mimo_rank", 4},
                                  {NULL, 0}}; /* Mamba3Config of flash-linear-attention */
static const value of_log_linear_mamba2[] = {
    {"hidden_size", 2048}, {"num_hidden_layers", 48}, {"head_dim", 64}, {"state_size", 128}, {"expand", 2},
    {"conv_kernel", 4},    {"n_groups", 1},           {NULL, 0}}; /* Mamba2Config of flash-linear-attention */
static const value of_samba[] = {
    {"hidden_size", 2304}, {"num_hidden_layers", 18}, {"state_size", 16}, {"expand", 2}, {"conv_kernel", 4},
    {"num_heads", 18},     {"window_size", 2048},     {NULL, 0}}; /* SambaConfig of flash-linear-attention */
static const value of_recurrent_gemma[] = {{"hidden_size", 2560},       {"num_hidden_layers", 26},
                                           {"num_attention_heads", 10}, {"attention_window_size", 2048},
                                           {"conv1d_width", 4},         {NULL, 0}}; /* RecurrentGemmaConfig */
static const value of_lfm2[] = {{"hidden_size", 2560},      {"num_hidden_layers", 32}, {"num_attention_heads", 32},
                                {"num_key_value_heads", 8}, {"conv_L_cache", 3},       {NULL, 0}}; /* Lfm2Config */
static const value of_lfm2_moe[] = {{"hidden_size", 2048},       {"num_hidden_layers", 32},
                                    {"num_attention_heads", 32}, {"num_key_value_heads", 8},
                                    {"conv_L_cache", 3},         {NULL, 0}};                  /* Lfm2MoeConfig */
static const value of_rwkv[] = {{"hidden_size", 4096}, {"num_hidden_layers", 32}, {NULL, 0}}; /* RwkvConfig */
static const value of_rwkv5[] = {{"head_size", 64}, {NULL, 0}};                               /* Rwkv5Config */
static const value of_rwkv6[] = {{"head_size", 64}, {NULL, 0}}; /* Rwkv6Config of RWKV, not of flash-linear-attention */
static const value of_rwkv7[] = {{"hidden_size", 2048},
                                 {"num_hidden_layers", 24},
                                 {"head_dim", 64},
                                 {NULL, 0}}; /* RWKV7Config of flash-linear-attention */
static const value of_xlstm[] = {{"hidden_size", 4096},  {"num_hidden_layers", 32}, {"num_heads", 8},
                                 {"qk_dim_factor", 0.5}, {"v_dim_factor", 1},       {NULL, 0}}; /* xLSTMConfig */
static const value of_minimax[] = {{"hidden_size", 4096},
                                   {"num_hidden_layers", 32},
                                   {"num_attention_heads", 32},
                                   {"num_key_value_heads", 8},
                                   {NULL, 0}}; /* MiniMaxConfig */
static const value of_zaya[] = {
    {"hidden_size", 2048}, {"head_dim", 128}, {"num_attention_heads", 8}, {"num_key_value_heads", 2}, {"cca_time0", 2},
    {"cca_time1", 2},      {NULL, 0}}; /* ZayaConfig */
static const value of_bailing_hybrid[] = {{"kv_lora_rank", 512},
                                          {"qk_rope_head_dim", 64},
                                          {"qk_nope_head_dim", 128},
                                          {"v_head_dim", 128},
                                          {NULL, 0}}; /* BailingHybridConfig of SGLang */
static const value of_gla[] = {
    {"hidden_size", 2048}, {"num_hidden_layers", 24}, {"num_heads", 4}, {"expand_k", 0.5},
    {"expand_v", 1},       {"use_short_conv", 0},     {"conv_size", 4}, {NULL, 0}}; /* GLAConfig */
static const value of_retnet[] = {
    {"hidden_size", 2048}, {"num_hidden_layers", 24}, {"num_heads", 8}, {"expand_k", 1},
    {"expand_v", 2},       {"use_short_conv", 0},     {"conv_size", 4}, {NULL, 0}}; /* RetNetConfig */
static const value of_linear_attn[] = {
    {"hidden_size", 2048}, {"num_hidden_layers", 24}, {"num_heads", 4}, {"expand_k", 1},
    {"expand_v", 1},       {"use_short_conv", 0},     {NULL, 0}}; /* LinearAttentionConfig */
static const value of_delta_net[] = {
    {"hidden_size", 2048}, {"num_hidden_layers", 24}, {"num_heads", 16}, {"expand_k", 1},
    {"expand_v", 1},       {"use_short_conv", 1},     {"conv_size", 4},  {NULL, 0}}; /* DeltaNetConfig */
static const value of_gated_deltanet[] = {
    {"hidden_size", 2048}, {"num_hidden_layers", 21}, {"num_heads", 6}, {"head_dim", 256},
    {"expand_v", 2},       {"use_short_conv", 1},     {"conv_size", 4}, {NULL, 0}}; /* GatedDeltaNetConfig */
static const value of_comba[] = {{"hidden_size", 2048}, {"num_heads", 6}, {"head_dim", 256}, {"expand_v", 2},
                                 {"use_short_conv", 1}, {"conv_size", 4}, {NULL, 0}}; /* CombaConfig */
static const value of_gated_deltaproduct[] = {
    {"hidden_size", 2048}, {"num_hidden_layers", 21}, {"num_heads", 6},       {"head_dim", 256}, {"expand_v", 2},
    {"use_short_conv", 1}, {"conv_size", 4},          {"num_householder", 1}, {NULL, 0}}; /* GatedDeltaProductConfig */
static const value of_kda[] = {
    {"hidden_size", 2048}, {"num_hidden_layers", 24}, {"num_heads", 16}, {"head_dim", 128},
    {"expand_v", 1},       {"use_short_conv", 1},     {"conv_size", 4},  {NULL, 0}}; /* KDAConfig */
static const value of_gsa[] = {{"hidden_size", 2048}, {"num_hidden_layers", 24}, {"num_heads", 4},
                               {"num_slots", 64},     {"expand_k", 1},           {"expand_v", 1},
                               {"use_short_conv", 0}, {"conv_size", 4},          {NULL, 0}}; /* GSAConfig */
static const value of_hgrn[] = {{"hidden_size", 2048}, {"num_hidden_layers", 24}, {"expand_ratio", 1},
                                {"use_short_conv", 0}, {"conv_size", 4},          {NULL, 0}}; /* HGRNConfig */
static const value of_hgrn2[] = {{"hidden_size", 2048}, {"num_hidden_layers", 24}, {"expand_ratio", 128},
                                 {"use_short_conv", 0}, {"conv_size", 4},          {NULL, 0}}; /* HGRN2Config */
static const value of_nsa[] = {{"hidden_size", 2048}, {"num_hidden_layers", 24}, {"num_heads", 64},
                               {"num_kv_heads", 4},   {"head_dim", 32},          {"block_size", 64},
                               {"block_counts", 16},  {"window_size", 512},      {NULL, 0}}; /* NSAConfig */
static const value of_moba[] = {{"hidden_size", 2048},    {"num_hidden_layers", 24}, {"num_heads", 32},
                                {"moba_chunk_size", 256}, {"moba_topk", 4},          {NULL, 0}}; /* MoBAConfig */

static const struct {
    const char *type;
    const value *values;
} classes[] = {
    {"llama", of_llama},
    {"mistral", of_mistral},
    {"mixtral", of_mixtral},
    {"qwen2", of_qwen2},
    {"qwen3", of_qwen3},
    {"qwen2_moe", of_qwen2_moe},
    {"qwen3_moe", of_qwen3_moe},
    {"gemma", of_gemma},
    {"gemma2", of_gemma2},
    {"gemma3_text", of_gemma3_text},
    {"gemma3n_text", of_gemma3n_text},
    {"gemma4_text", of_gemma4_text},
    {"cohere2", of_cohere2},
    {"gpt_oss", of_gpt_oss},
    {"olmo3", of_olmo3},
    {"afmoe", of_afmoe},
    {"exaone4", of_exaone4},
    {"exaone_moe", of_exaone_moe},
    {"cwm", of_cwm},
    {"granite_swa", of_granite_swa},
    {"granitemoe_swa", of_granite_swa},
    {"vaultgemma", of_vaultgemma},
    {"cohere2_moe", of_cohere2_moe},
    {"modernbert-decoder", of_modernbert_decoder},
    {"ouro", of_ouro},
    {"baichuan_m1", of_baichuan_m1},
    {"mimo_v2_flash", of_mimo_v2_flash},
    {"llama4_text", of_llama4_text},
    {"deepseek_v2", of_deepseek_v2},
    {"deepseek_v3", of_deepseek_v3},
    {"longcat_flash", of_longcat_flash},
    {"deepseek_v4", of_deepseek_v4},
    {"gpt2", of_gpt2},
    {"qwen3_next", of_qwen3_next},
    {"qwen3_5_text", of_qwen3_5_text},
    {"qwen3_5_moe_text", of_qwen3_5_moe_text},
    {"olmo_hybrid", of_olmo_hybrid},
    {"jamba", of_jamba},
    {"zamba", of_zamba},
    {"zamba2", of_zamba2},
    {"bamba", of_bamba},
    {"granitemoehybrid", of_granitemoehybrid},
    {"falcon_h1", of_falcon_h1},
    {"nemotron_h", of_nemotron_h},
    {"hymba", of_hymba},
    {"mamba", of_mamba},
    {"falcon_mamba", of_falcon_mamba},
    {"mamba2", of_mamba2},
    {"mamba3", of_mamba3},
    {"log_linear_mamba2", of_log_linear_mamba2},
    {"samba", of_samba},
    {"recurrent_gemma", of_recurrent_gemma},
    {"lfm2", of_lfm2},
    {"lfm2_moe", of_lfm2_moe},
    {"rwkv", of_rwkv},
    {"rwkv5", of_rwkv5},
    {"rwkv6", of_rwkv6},
    {"rwkv7", of_rwkv7},
    {"xlstm", of_xlstm},
    {"minimax", of_minimax},
    {"zaya", of_zaya},
    {"bailing_hybrid", of_bailing_hybrid},
    {"gla", of_gla},
    {"retnet", of_retnet},
    {"linear_attn", of_linear_attn},
    {"delta_net", of_delta_net},
    {"gated_deltanet", of_gated_deltanet},
    {"comba", of_comba},
    {"gated_deltaproduct", of_gated_deltaproduct},
    {"kda", of_kda},
    {"gsa", of_gsa},
    {"hgrn", of_hgrn},
    {"hgrn2", of_hgrn2},
    {"nsa", of_nsa},
    {"moba", of_moba},
};

/* In a flat file the type of a multimodal model stands for that of its text model. */
static const char *const same_class[][2] = {
    {"gemma3", "gemma3_text"},       {"gemma3n", "gemma3n_text"}, {"gemma4", "gemma4_text"},
    {"llama4", "llama4_text"},       {"qwen3_5", "qwen3_5_text"}, {"qwen3_5_moe", "qwen3_5_moe_text"},
    {"deepseek_v32", "deepseek_v3"}, {"kimi_k2", "deepseek_v3"},
};

static const value *class_of(const char *type)
{
    for (size_t i = 0; i < RUNG_COUNT(same_class); i++)
        if (strcmp(same_class[i][0], type) == 0) type = same_class[i][1];
    for (size_t i = 0; i < RUNG_COUNT(classes); i++)
        if (strcmp(classes[i].type, type) == 0) return classes[i].values;
    return NULL;
}

bool cfg_class_default(double *number, const char *type, const char *key)
{
    for (const value *row = class_of(type); row && row->key; row++)
        if (strcmp(row->key, key) == 0) {
            *number = row->number;
            return true;
        }
    return false;
}
