/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Keys that change layers in some families only. The published code of any other family takes no notice of them, so a
 * file that has one is not what it seems to be, and its kinds are not established.
 */
#include "reader.h"

#define GEMMA4    "gemma4 gemma4_text gemma4_unified gemma4_unified_text"
#define GEMMA3    "gemma3 gemma3_text"
#define QWEN_NEXT "qwen3_next qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text"
#define DOTS3     "dots3 dots3note"
#define INKLING   "inkling inkling_text"
#define GLM5      "glm5_next glm5_next_text"
#define MIMO2     "mimo_v2 mimo_v2_flash"
#define STEP      "step3p5 step3p7"
#define LATENT                                                                                                         \
    "axk1 axk2 bailing_hybrid deepseek_v2 deepseek_v3 deepseek_v32 glm4_moe_lite glm_moe_dsa kimi_k2 kimi_k3 "         \
    "kimi_linear "                                                                                                     \
    "longcat_flash minicpm3 mistral4 youtu youtu_llm joyai_llm_flash " DOTS3 " " GLM5
#define FLA_HYBRID                                                                                                     \
    "comba delta_net gated_deltanet gated_deltaproduct gla gsa hgrn hgrn2 kda linear_attn retnet rwkv6 rwkv7 samba"

typedef struct row {
    const char *key, *types;
} row;

/* Spellings of the kinds of layers, with the families whose published code reads them. They count only if they decide.
 */
static const row spellings[] = {
    {"layers_block_type", "bamba falcon_h1 jamba nemotron_h nemotron_h_moe recurrent_gemma zamba zamba2"},
    {"hybrid_override_pattern", "nemotron_h nemotron_h_moe"},
    {"attn_type_list", "minimax minimax_m1 minimax_m2 minimax_text_01"},
    {"linear_attn_config", "kimi_k3 kimi_linear " GLM5},
    {"full_attention_interval", QWEN_NEXT},
    {"attn_layer_period", "jamba zamba"},
    {"mamba_step", "plamo2"},
    {"attn_layer_indices", "bamba"},
    {"full_attn_idxs", "lfm2 lfm2_moe"},
    {"layer_group_size", "bailing_hybrid bailing_moe_linear"},
    {"block_types", "recurrent_gemma"},
    {"attn", FLA_HYBRID},
    {"mixer_types", "minicpm_sala"},
    {"hybrid_layer_pattern", MIMO2},
    {"sliding_window_layout", "smallthinker"},
    {"sliding_window_layers", "baichuan_m1"},
    {"sliding_window_pattern", "cohere2 cohere2_moe exaone4 exaone_moe " GEMMA3},
    {"global_attn_every_n_layers", "afmoe modernbert-decoder"},
    {"dense_attention_every_n_layers", "phi3small"},
    {"compress_ratios", "deepseek_v4"},
    {"sparse_attention_config", "minimax_m3 minimax_m3_vl minimax_m3_vl_text"},
    {"block_configs", "nemotron-nas"},
    {"attention_types", "gpt_neo"},
    {"attention_chunk_size", "llama4 llama4_text"},
    {"zaya_layers", "zaya"},
    {"global_attn_idx", "hymba"},
    {"local_layer_ids", INKLING},
};

/* Keys that change what a layer sees or keeps, whatever the kinds come from. */
static const row read_by[] = {
    {"attn_layer_offset", "jamba zamba"},
    {"cross_attention_layers", "mllama mllama_text_model"},
    {"sparse_config", "minicpm minicpm4 minicpm_sala"},
    {"indexer_budget", QWEN_NEXT},
    {"index_topk", "axk2 deepseek_v32 deepseek_v4 glm_moe_dsa " DOTS3 " " GLM5},
    {"kv_lora_rank", LATENT},
    {"attention_kv_lora_dim", "pangu_ultra_moe"},
    {"swa_kv_lora_rank", DOTS3},
    {"v_head_dim", "hymba " LATENT " " MIMO2},
    {"num_kv_shared_layers", "gemma3n gemma3n_text " GEMMA4},
    {"use_cla", "hunyuan hunyuan_v1_dense hunyuan_v1_moe"},
    {"kv_reuse_group", "hymba"},
    {"global_head_dim", GEMMA4},
    {"num_global_key_value_heads", GEMMA4},
    {"conv_window", "baichuan_m1"},
    {"num_swa_attention_heads", "baichuan_m1"},
    {"num_swa_key_value_heads", "baichuan_m1"},
    {"swa_num_attention_heads", INKLING " " MIMO2 " " DOTS3},
    {"swa_num_key_value_heads", INKLING " " MIMO2 " " DOTS3},
    {"swa_head_dim", INKLING " " MIMO2 " " DOTS3},
    {"swa_v_head_dim", MIMO2 " " DOTS3},
    {"attention_other_setting", STEP},
    {"num_sliding_attention_heads", STEP},
    {"num_attention_groups", STEP},
    {"num_attention_heads_per_layer", "laguna"},
    {"cca_num_q_heads", "zaya"},
    {"num_query_heads", "openelm"},
    {"multi_query", "codeshell falcon gpt_bigcode"},
    {"new_decoder_architecture", "falcon"},
    {"multi_query_group_num", "chatglm"},
    {"num_query_groups", "codeshell zamba2"},
    {"attn_config", "dbrx mpt"},
    {"attn_cfg", ""},
    {"lru_width", "recurrent_gemma"},
    {"mamba_d_ssm", "falcon_h1"},
};

/* Families whose published code has no list of kinds. */
static const char without_list[] =
    " bailing_hybrid bailing_moe_linear baichuan_m1 gpt_neo hymba kimi_k3 kimi_linear minicpm_sala mistral mixtral "
    "ministral3 phi3 phimoe qwen3_moe recurrent_gemma smallthinker starcoder2 transformer " FLA_HYBRID " ";

/* Families in which a head has the width divided by the number of heads, and in which every head has its own keys. */
static const char fixed_head[] = " biogpt bloom codegen gpt2 gpt_bigcode gpt_neo gptj mpt opt xglm ";
static const char own_keys[] = " biogpt bloom codegen gpt2 gpt_neo gpt_neox gpt_neox_japanese gptj modernbert-decoder "
                               "mpt opt persimmon xglm ";

static bool is_among(const char *types, const char *type)
{
    size_t len = strlen(type);
    for (const char *at = types; len > 0 && (at = strstr(at, type)); at += len)
        if ((at == types || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0')) return true;
    return false;
}

static void doubt_key(cfg_reader *r, const char *key)
{
    cfg_doubt(r, "the published code of %s takes no notice of '%s'", SHOW(r->type), key);
}

/* A size that the family derives: whatever the file says instead is not what its code does. */
static void doubt_size(cfg_reader *r, const char *types, const char *key, uint64_t derived)
{
    uint64_t value;
    if (is_among(types, r->type) && cfg_find_size_in(&value, r, r->config, key) && value != derived) doubt_key(r, key);
}

static void doubt_sizes(cfg_reader *r)
{
    const rung_ledger_layer *first = &r->ledger->layer[0];
    uint64_t width, heads;
    if (!is_among(fixed_head, r->type) && !is_among(own_keys, r->type)) return;
    if (!cfg_find_size(&width, r, "hidden_size n_embd d_model") || !cfg_find_size(&heads, r,
                                                                                  "num_attention_heads "
                                                                                  "n_head n_heads "
                                                                                  "attention_heads num_heads"))
        return;
    if (first->heads == 0 || heads == 0) return;
    doubt_size(r, fixed_head, "head_dim", width / heads);
    doubt_size(r, own_keys, "num_key_value_heads", heads);
}

/* The key that says which layers are of which kind must be in the text model itself. */
static void doubt_outside(cfg_reader *r)
{
    bool is_key = cfg_key_is_known(r->ledger->spelling) && strcmp(r->ledger->spelling, "model_type") != 0;
    if (r->outer_count > 0 && is_key && cfg_has(r, r->ledger->spelling) && !cfg_find_in(r->config, r->ledger->spelling))
        cfg_doubt(r, "'%s' is outside of the text model", r->ledger->spelling);
}

void cfg_doubt_ignored_keys(cfg_reader *r)
{
    if (!r->family->may) return;
    for (size_t i = 0; i < RUNG_COUNT(spellings); i++)
        if (strcmp(r->ledger->spelling, spellings[i].key) == 0 && !is_among(spellings[i].types, r->type))
            doubt_key(r, spellings[i].key);
    for (size_t i = 0; i < RUNG_COUNT(read_by); i++)
        if (!cfg_is_off(rung_json_get(r->config, read_by[i].key)) && !is_among(read_by[i].types, r->type))
            doubt_key(r, read_by[i].key);
    if (cfg_find_in(r->config, "layer_types") && is_among(without_list, r->type)) doubt_key(r, "layer_types");
    doubt_outside(r);
    doubt_sizes(r);
}
