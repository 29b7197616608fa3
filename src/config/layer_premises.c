/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The premises that a configuration establishes. What the file says beats what its family says, and what neither says
 * stays open: an unknown model_type, or a key whose meaning is not known, establishes nothing.
 */
#include "reader.h"

#include <ctype.h>

/* ---- walking over what the file says ---- */

typedef const char *look_fn(const char *key, const rung_json *value);

/* Returns the first key of the text model, or of the objects around it, to which the function objects; or NULL. */
static const char *find_key(const cfg_reader *r, look_fn *look)
{
    for (size_t level = 0; level <= r->outer_count; level++) {
        const rung_json *object = level == 0 ? r->config : r->outer[level - 1];
        for (size_t i = 0; i < rung_json_len(object); i++) {
            const char *found = look(rung_json_key_at(object, i), rung_json_value_at(object, i));
            if (found) return found;
        }
    }
    return NULL;
}

static bool is_false(const rung_json *value)
{
    bool flag = true;
    int64_t number = 1;
    return (rung_json_bool(&flag, value) && !flag) || (rung_json_int(&number, value) && number == 0);
}

static bool is_on(const rung_json *value)
{
    return !cfg_is_off(value);
}

static bool is_word(const rung_json *value, const char *word)
{
    const char *text = rung_json_string(value);
    return text && strcmp(text, word) == 0;
}

/* The format of mamba_ssm, which states no model type. */
static bool is_native(const cfg_reader *r)
{
    return r->type[0] == '\0' && cfg_has(r, "ssm_cfg");
}

/* ---- causal ---- */

/* Returns a key that contradicts causality. Keys about the tokens of one picture ("vision") do not count, because
 * prompts are words. */
static const char *speaks_against(const char *key, const rung_json *value)
{
    if (cfg_key_matches("*causal*", key) && is_false(value)) return key;
    if (cfg_key_matches("*bidirec*", key) && is_on(value) && !is_word(value, "vision")) return key;
    if (strcmp(key, "prefix_lm") == 0 && is_on(value)) return key;
    if (strcmp(key, "attn_config") == 0 && is_on(rung_json_get(value, "prefix_lm"))) return "attn_config.prefix_lm";
    if (strcmp(key, "attn_cfg") == 0 && is_false(rung_json_get(value, "causal"))) return "attn_cfg.causal";
    return NULL;
}

static const char *speaks_for(const char *key, const rung_json *value)
{
    bool flag = false;
    bool named = strcmp(key, "is_causal") == 0 || strcmp(key, "causal") == 0;
    return named && rung_json_bool(&flag, value) && flag ? key : NULL;
}

/* The architecture that the file states, or "". */
static const char *architecture(const cfg_reader *r)
{
    const char *name = rung_json_string(rung_json_at(cfg_find(r, "architectures"), 0));
    return name ? name : "";
}

static const char *masked_architecture(const cfg_reader *r)
{
    static const char *const parts[] = {"MaskedLM", "Diffusion", "dLLM", "Encoder", "Embedding", "Bidirec"};
    for (size_t i = 0; i < RUNG_COUNT(parts); i++)
        if (strstr(architecture(r), parts[i])) return architecture(r);
    return NULL;
}

/* Returns the type of an object around the text model that is not known to leave the text model unchanged, or NULL. */
static const char *unknown_wrapper(const cfg_reader *r)
{
    for (size_t i = 0; i < r->outer_count; i++) {
        const char *type = rung_json_string(rung_json_get(r->outer[i], "model_type"));
        if (!type || !cfg_is_wrapper(type)) return type ? type : "";
    }
    return NULL;
}

/* Returns the type of an object around the text model that lets tokens of the prompt see later ones, or NULL. */
static const char *prefix_wrapper(const cfg_reader *r)
{
    for (size_t i = 0; i < r->outer_count; i++) {
        const char *type = rung_json_string(rung_json_get(r->outer[i], "model_type"));
        if (type && cfg_family_of(type)->flags & FAMILY_PREFIX) return type;
    }
    return NULL;
}

/* Multimodal models whose checkpoints all ship the published code around a text model. */
static bool ships_code(const rung_json *around)
{
    static const char *const types[] = {"deepseek_vl_v2", "internvl_chat", "kimi_k25", "kimi_vl", "minimax_vl_01"};
    for (size_t i = 0; i < RUNG_COUNT(types); i++)
        if (is_word(rung_json_get(around, "model_type"), types[i])) return true;
    return false;
}

static const char *model_code(const rung_json *object)
{
    const rung_json *map = rung_json_get(object, "auto_map");
    for (size_t i = 0; i < rung_json_len(map); i++) {
        const char *name = rung_json_string(rung_json_value_at(map, i));
        if (strncmp(rung_json_key_at(map, i), "AutoModel", 9) == 0) return name ? name : "?";
    }
    return NULL;
}

/* Returns the code that a checkpoint ships, if the published code of its family is different. */
static const char *foreign_code(const cfg_reader *r)
{
    if (r->family->flags & FAMILY_SHIPS_CODE) return NULL;
    const char *code = model_code(r->config);
    for (size_t i = 0; !code && i < r->outer_count; i++)
        if (!ships_code(r->outer[i])) code = model_code(r->outer[i]);
    return code;
}

/* Keeps letters and digits, in lower case, so that "Qwen2_5_VL" and "qwen2_5_vl" are the same name. */
static void plain_name(char out[96], const char *name)
{
    size_t at = 0;
    for (; *name && at < 95; name++)
        if (isalnum((unsigned char)*name)) out[at++] = (char)tolower((unsigned char)*name);
    out[at] = '\0';
}

/* True if the class belongs to the family: its name, then one of the usual heads. "LlamaForCausalLM_Hybrid" is not
 * llama's. */
static bool is_class_of(const char *type, const char *class)
{
    static const char *const heads[] = {"forcausallm",
                                        "lmheadmodel",
                                        "model",
                                        "textmodel",
                                        "forconditionalgeneration",
                                        "forsequenceclassification",
                                        "fortokenclassification",
                                        "forquestionanswering",
                                        "doubleheadsmodel"};
    char family[96], name[96];
    const char *suffix = strstr(type, "_text");
    plain_name(family, strcmp(type, "linear_attn") == 0 ? "linear_attention" : type);
    plain_name(name, class);
    bool whole = strncmp(name, family, strlen(family)) == 0;
    if (suffix && !whole)
        family[strlen(family) - (strstr(suffix, "_model") ? strlen("textmodel") : strlen("text"))] = '\0';
    if (strncmp(name, family, strlen(family)) != 0) return false;
    for (size_t i = 0; i < RUNG_COUNT(heads); i++)
        if (strcmp(name + strlen(family), heads[i]) == 0) return true;
    return false;
}

/* Returns an architecture that does not belong to the family of the type, unless the checkpoint ships the published
 * code. */
static const char *foreign_architecture(const cfg_reader *r)
{
    const char *name = rung_json_string(rung_json_at(rung_json_get(r->config, "architectures"), 0));
    bool checked = name && r->family->flags & FAMILY_CAUSAL && !(r->family->flags & FAMILY_SHIPS_CODE);
    return checked && !is_class_of(r->type, name) ? name : NULL;
}

static void know(cfg_reader *r, rung_ledger_fact fact, rung_fact is, const char *why)
{
    cfg_ledger_know(r->ledger, fact, is, "%s", why);
}

/* What the family lets a token see, if no key of the file states it. */
static void causal_by_family(cfg_reader *r)
{
    const rung_ledger_fact fact = RUNG_LEDGER_CAUSAL;
    unsigned sees = r->family->flags & FAMILY_SEES;
    const char *type = SHOW(r->type);
    if (sees == FAMILY_ASKS && cfg_flag_or(r, "is_decoder", false))
        cfg_ledger_know(r->ledger, fact, RUNG_ESTABLISHED, "'is_decoder' is true, and %s then masks later tokens",
                        type);
    else if (sees == FAMILY_ASKS || sees == FAMILY_ENCODER)
        cfg_ledger_know(r->ledger, fact, RUNG_VIOLATED, "%s is an encoder: a token sees later ones", type);
    else if (sees == FAMILY_DIFFUSION)
        cfg_ledger_know(r->ledger, fact, RUNG_VIOLATED, "%s refines a whole sequence: a token sees later ones", type);
    else if (sees == FAMILY_PREFIX)
        cfg_ledger_know(r->ledger, fact, RUNG_NOT_ESTABLISHED,
                        "%s lets tokens of the prompt see each other in some of its versions", type);
    else if (sees == FAMILY_CAUSAL)
        cfg_ledger_know(r->ledger, fact, RUNG_ESTABLISHED, "the published code of %s is a causal decoder", type);
    else if (is_native(r))
        know(r, fact, RUNG_ESTABLISHED, "the published code of mamba_ssm is a causal decoder");
    else
        cfg_ledger_know(r->ledger, fact, RUNG_NOT_ESTABLISHED,
                        "model_type '%s' is not known; \"is_causal\": true in the file would say it", type);
}

static void read_causal(cfg_reader *r)
{
    const rung_ledger_fact fact = RUNG_LEDGER_CAUSAL;
    const char *against = find_key(r, speaks_against), *for_it = find_key(r, speaks_for);
    const char *masked = masked_architecture(r), *around = unknown_wrapper(r), *code = foreign_code(r);
    bool decides = cfg_flag_or(r, "is_decoder", false);
    if (against)
        cfg_ledger_know(r->ledger, fact, RUNG_VIOLATED, "'%s' says that a token sees later ones", SHOW(against));
    else if (masked && !decides)
        cfg_ledger_know(r->ledger, fact, RUNG_VIOLATED, "the architecture %s sees both sides of a token", SHOW(masked));
    else if (prefix_wrapper(r))
        cfg_ledger_know(r->ledger, fact, RUNG_VIOLATED, "the tokens of a prompt of %s see each other",
                        SHOW(prefix_wrapper(r)));
    else if (for_it)
        cfg_ledger_know(r->ledger, fact, RUNG_ESTABLISHED, "'%s' is true", SHOW(for_it));
    else if (around && r->family->flags & FAMILY_CAUSAL)
        cfg_ledger_know(r->ledger, fact, RUNG_NOT_ESTABLISHED,
                        "the text model is inside a '%s', which is not known: it may change the mask", SHOW(around));
    else if (code)
        cfg_ledger_know(r->ledger, fact, RUNG_NOT_ESTABLISHED,
                        "'auto_map' names code of its own (%s), which may see later tokens", SHOW(code));
    else if (foreign_architecture(r))
        cfg_ledger_know(r->ledger, fact, RUNG_NOT_ESTABLISHED, "the architecture %s is not one of %s",
                        SHOW(foreign_architecture(r)), SHOW(r->type));
    else
        causal_by_family(r);
}

/* ---- kinds ---- */

/* Why the family says nothing about layers: it is unknown, or it is known but not as a decoder. */
static const char *unknown_type(const cfg_reader *r)
{
    char text[128];
    if (r->family->flags & FAMILY_SEES)
        snprintf(text, sizeof text, "model_type '%s' is not among the decoders whose layers are known", SHOW(r->type));
    else
        snprintf(text, sizeof text, "model_type '%s' is not known", SHOW(r->type));
    const char *copy = rung_arena_strdup(&r->ledger->arena, text, NULL);
    return copy ? copy : "model_type is not known";
}

static const char *unknown_key(const cfg_reader *r)
{
    for (size_t i = 0; i < rung_json_len(r->config); i++) {
        const char *key = rung_json_key_at(r->config, i);
        if (!cfg_key_is_known(key) && is_on(rung_json_value_at(r->config, i))) return key;
    }
    return NULL;
}

/* Doubts layers of a kind that the published code of the family cannot make. */
static void doubt_kinds(cfg_reader *r)
{
    const char *may = r->family->may;
    for (size_t i = 0; may && i < r->layers; i++) {
        char letter = cfg_letter_of(r->layer[i].kinds);
        if (letter != 'M' && !strchr(may, letter))
            cfg_doubt(r, "layer %zu is read as %s, and the published code of %s has no such layers", i,
                      r->ledger->layer[i].mechanism, SHOW(r->type));
    }
}

/* Up to dense_len tokens such a layer attends to everything, so its kind depends on the length. */
static void doubt_lengths(cfg_reader *r)
{
    bool sparse = false;
    for (size_t i = 0; i < r->layers; i++) sparse |= (r->layer[i].kinds & KIND_SPARSE) != 0;
    if (sparse && cfg_has(r, "sparse_config.topk"))
        cfg_doubt(r, "its sparse layers attend fully below 'sparse_config.dense_len' tokens (%zu)",
                  (size_t)cfg_size_or(r, "sparse_config.dense_len", 8192));
}

static void doubt_windows(cfg_reader *r)
{
    uint64_t window = 0;
    const char *may = r->family->may;
    if (!may || strchr(may, 'W') || strchr(may, 'D') || strchr(may, 'S') || strchr(may, 'C')) return;
    if (cfg_flag_or(r, "use_sliding_window", true) && cfg_find_size(&window, r, "sliding_window") && window > 0)
        cfg_doubt(r, "'sliding_window' is %zu, and the published code of %s has no windows", (size_t)window,
                  SHOW(r->type));
}

/* Feature maps of flash-linear-attention that leave a key its size. Others make it longer. */
static void doubt_feature_map(cfg_reader *r)
{
    static const char *const plain[] = {"elementwise_product", "elu", "identity", "relu", "silu", "swish", "t2r"};
    const rung_json *map = cfg_find(r, "feature_map");
    for (size_t i = 0; i < RUNG_COUNT(plain); i++)
        if (!map || is_word(map, plain[i])) return;
    cfg_doubt(r, "'feature_map' may make keys longer");
}

static void doubt_what_is_foreign(cfg_reader *r)
{
    const char *key = unknown_key(r), *code = foreign_code(r), *around = unknown_wrapper(r);
    if (!r->family->may && !is_native(r)) cfg_doubt(r, "%s: its layers are read as generic keys say", unknown_type(r));
    if (key) cfg_doubt(r, "the key '%s' is not known: it may change a layer", SHOW(key));
    if (code) cfg_doubt(r, "'auto_map' names code of its own (%s), which may have other layers", SHOW(code));
    if (foreign_architecture(r))
        cfg_doubt(r, "the architecture %s is not one of %s", SHOW(foreign_architecture(r)), SHOW(r->type));
    if (around) cfg_doubt(r, "the text model is inside a '%s', which is not known", SHOW(around));
    if (cfg_has(r, "attention_method") && !is_word(cfg_find(r, "attention_method"), "MLA"))
        cfg_doubt(r, "'attention_method' is not MLA, and nothing else is known");
    if (cfg_flag_or(r, "add_cross_attention", false)) cfg_doubt(r, "'add_cross_attention' adds layers");
    if (r->family->flags & FAMILY_UNSURE)
        cfg_doubt(r, "the sizes of %s are read as well as can be, and some are not certain", SHOW(r->type));
}

#define TEXT_SIZES "num_hidden_layers hidden_size num_attention_heads num_key_value_heads head_dim"

/* Keys that every file of a family has. If one is missing, sizes are guesses. Alternatives are separated by '|'. */
static const struct {
    const char *type, *keys;
} needs[] = {
    {"axk1", "kv_lora_rank"},
    {"baichuan_m1", "num_swa_attention_heads num_swa_key_value_heads sliding_window_layers conv_window"},
    {"cohere2_moe", "layer_types|first_k_dense_replace"},
    {"dbrx", "attn_config"},
    {"deepseek_v2", "kv_lora_rank"},
    {"deepseek_v3", "kv_lora_rank"},
    {"deepseek_v32", "kv_lora_rank index_topk"},
    {"deepseek_v4", "compress_ratios|layer_types"},
    {"gemma4_unified", "global_head_dim|per_layer_config"},
    {"gemma4_unified_text", "global_head_dim|per_layer_config"},
    {"glm4_moe_lite", "kv_lora_rank"},
    {"glmasr", TEXT_SIZES},
    {"glm5_next", "kv_lora_rank"},
    {"glm5_next_text", "kv_lora_rank"},
    {"glm_moe_dsa", "kv_lora_rank index_topk"},
    {"hymba", "v_head_dim kv_reuse_group"},
    {"iquestloopcoder", "loop_num"},
    {"joyai_llm_flash", "kv_lora_rank qk_rope_head_dim v_head_dim"},
    {"kimi_k2", "kv_lora_rank"},
    {"kimi_k3", "kv_lora_rank"},
    {"kimi_linear", "kv_lora_rank"},
    {"longcat_flash", "kv_lora_rank"},
    {"mimo_v2", "swa_num_key_value_heads v_head_dim"},
    {"mimo_v2_flash", "swa_num_key_value_heads v_head_dim"},
    {"minicpm3", "kv_lora_rank"},
    {"minimax_m1", "head_dim"},
    {"minimax_m3", "head_dim sparse_attention_config|layer_types"},
    {"minimax_m3_vl", "head_dim sparse_attention_config|layer_types"},
    {"minimax_m3_vl_text", "sparse_attention_config|layer_types"},
    {"minimax_text_01", "head_dim"},
    {"mistral4", "kv_lora_rank"},
    {"mllama", "cross_attention_layers"},
    {"mllama_text_model", "cross_attention_layers"},
    {"musicflamingo", TEXT_SIZES},
    {"pangu_ultra_moe", "attention_kv_lora_dim"},
    {"smallthinker", "sliding_window_layout"},
    {"step3p5", "layer_types attention_other_setting|num_sliding_attention_heads"},
    {"step3p7", "layer_types attention_other_setting|num_sliding_attention_heads"},
    {"voxtral", TEXT_SIZES},
    {"voxtral_realtime", TEXT_SIZES " sliding_window"},
    {"youtu", "kv_lora_rank"},
    {"youtu_llm", "kv_lora_rank qk_rope_head_dim v_head_dim"},
};

static bool has_one_of(const cfg_reader *r, const char *keys, size_t len)
{
    char list[64];
    snprintf(list, sizeof list, "%.*s", (int)len, keys);
    for (char *bar; (bar = strchr(list, '|'));) *bar = ' ';
    return is_on(cfg_find(r, list));
}

/* DeepSeek-OCR and small DeepSeek-VL2 have the layers of DeepSeek-V2 without its latent attention, and say so. */
static bool is_without_latent(const cfg_reader *r)
{
    const rung_json *flag = cfg_find_in(r->config, "use_mla");
    return strcmp(r->type, "deepseek_v2") == 0 && flag && is_false(flag);
}

static void doubt_what_it_lacks(cfg_reader *r, const char *type)
{
    for (size_t i = 0; i < RUNG_COUNT(needs); i++) {
        if (strcmp(needs[i].type, type) != 0) continue;
        for (const char *key = needs[i].keys; *key; key += strcspn(key, " "), key += strspn(key, " "))
            if (!has_one_of(r, key, strcspn(key, " ")) && !(strstr(key, "kv_lora_rank") == key && is_without_latent(r)))
                cfg_doubt(r, "'%.*s' is not in the file, and files of %s have it", (int)strcspn(key, " "), key,
                          SHOW(type));
    }
}

/* Some models give their text model defaults that are not those of its class. */
static void doubt_what_is_missing(cfg_reader *r)
{
    const char *around = r->outer_count ? rung_json_string(rung_json_get(r->outer[0], "model_type")) : NULL;
    doubt_what_it_lacks(r, r->type);
    if (around) doubt_what_it_lacks(r, around);
}

/* Objects with their own sizes, and the keys in them whose meaning is known. */
static const struct {
    const char *object, *keys;
} inside[] = {
    {"attention_other_setting", " attention_type head_dim num_attention_groups num_attention_heads num_key_value_heads "
                                "true_head_dim "},
    {"attn_cfg", " causal head_dim num_heads num_heads_kv qkv_proj_bias out_proj_bias rotary_emb_dim rotary_emb_base "
                 "rotary_emb_interleaved softmax_scale d_conv mlp_dim "},
    {"attn_config", " alibi alibi_bias_max attn_impl attn_pdrop attn_type attn_uses_sequence_id clip_qkv kv_n_heads "
                    "model_type prefix_lm qk_gn qk_ln rope rope_impl rope_theta softmax_scale "},
    {"linear_attn_config", " full_attn_layers gate_lower_bound head_dim kda_layers num_heads short_conv_kernel_size "
                           "use_full_rank_gate "},
    {"sparse_config", " block_size dense_len init_blocks kernel_size kernel_stride topk use_nope window_size "},
    {"ssm_cfg", " A_init_range chunk_size d_conv d_state dt_limit dt_max dt_min expand headdim is_mimo layer mimo_rank "
                "ngroups nheads norm_before_gate rmsnorm rope_fraction "},
};

static void doubt_what_is_inside(cfg_reader *r)
{
    char word[64];
    for (size_t i = 0; i < RUNG_COUNT(inside); i++) {
        const rung_json *object = cfg_find(r, inside[i].object);
        for (size_t k = 0; k < rung_json_len(object) && rung_json_kind_of(object) == RUNG_JSON_OBJECT; k++) {
            const char *key = rung_json_key_at(object, k);
            snprintf(word, sizeof word, " %s ", SHOW(key));
            if (is_on(rung_json_value_at(object, k)) && !strstr(inside[i].keys, word))
                cfg_doubt(r, "the key '%s' in '%s' is not known: it may change a layer", SHOW(key), inside[i].object);
        }
    }
}

static void read_kinds(cfg_reader *r)
{
    doubt_what_is_inside(r);
    doubt_what_is_missing(r);
    doubt_what_is_foreign(r);
    doubt_kinds(r);
    doubt_feature_map(r);
    cfg_doubt_ignored_keys(r);
    doubt_windows(r);
    doubt_lengths(r);
    if (r->doubt)
        know(r, RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, r->doubt);
    else
        cfg_ledger_know(r->ledger, RUNG_LEDGER_KINDS, RUNG_ESTABLISHED,
                        "the layers of %s are known, and so is every key of the file", SHOW(r->ledger->family));
}

/* ---- once ---- */

/* Returns a key that states more than one pass over the same layers. */
static const char *speaks_of_loops(const char *key, const rung_json *value)
{
    static const char *const names[] = {
        "*ut_steps*",        "*loop*",        "*recursion*", "*recurrence*", "*recurrent_depth*",
        "*recurrent_steps*", "*num_repeats*", "*H_cycles*",  "*L_cycles*",   "*_cycles"};
    double number = 0;
    if (!rung_json_real(&number, value) || number <= 1) return NULL;
    for (size_t i = 0; i < RUNG_COUNT(names); i++)
        if (cfg_key_matches(names[i], key)) return key;
    return NULL;
}

static void read_once(cfg_reader *r)
{
    const rung_ledger_fact fact = RUNG_LEDGER_ONCE;
    size_t entries = r->ledger->layer_count;
    const char *loops = find_key(r, speaks_of_loops), *key = unknown_key(r);
    if (entries > r->layers)
        cfg_ledger_know(r->ledger, fact, RUNG_ESTABLISHED, "%zu layers in %zu passes are %zu entries", r->layers,
                        entries / r->layers, entries);
    else if (loops && strcmp(loops, "loop_window_size") != 0)
        cfg_ledger_know(r->ledger, fact, RUNG_VIOLATED, "'%s' says that layers run more than once", SHOW(loops));
    else if (!r->family->may && !is_native(r))
        cfg_ledger_know(r->ledger, fact, RUNG_NOT_ESTABLISHED, "%s: its layers may repeat", unknown_type(r));
    else if (key)
        cfg_ledger_know(r->ledger, fact, RUNG_NOT_ESTABLISHED, "the key '%s' is not known: layers may repeat",
                        SHOW(key));
    else
        know(r, fact, RUNG_ESTABLISHED, "the published code runs every layer once for a token");
}

/* ---- caches ---- */

static const char *speaks_of_sharing(const char *key, const rung_json *value)
{
    static const char *const names[] = {"*kv_shar*",       "*shared_kv*",   "*kv_reuse*", "use_cla",          "*yoco*",
                                        "*cross_decoder*", "*cross_layer*", "*share_kv*", "*kv_group_layers*"};
    for (size_t i = 0; is_on(value) && i < RUNG_COUNT(names); i++)
        if (cfg_key_matches(names[i], key)) return key;
    return NULL;
}

static void read_own_cache(cfg_reader *r)
{
    const rung_ledger_fact fact = RUNG_LEDGER_OWN_CACHE;
    const char *shares = find_key(r, speaks_of_sharing), *key = unknown_key(r);
    if (r->sharing)
        know(r, fact, RUNG_VIOLATED, r->sharing);
    else if (shares)
        cfg_ledger_know(r->ledger, fact, RUNG_VIOLATED, "'%s' says that layers read what others keep", SHOW(shares));
    else if (!r->family->may && !is_native(r))
        cfg_ledger_know(r->ledger, fact, RUNG_NOT_ESTABLISHED, "%s: its layers may share caches", unknown_type(r));
    else if (key)
        cfg_ledger_know(r->ledger, fact, RUNG_NOT_ESTABLISHED, "the key '%s' is not known: layers may share caches",
                        SHOW(key));
    else
        know(r, fact, RUNG_ESTABLISHED, "in the published code every layer keeps what it reads");
}

void cfg_read_premises(cfg_reader *r)
{
    read_causal(r);
    read_kinds(r);
    read_once(r);
    read_own_cache(r);
}
