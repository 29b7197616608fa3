/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The premises that a configuration establishes: those of every fixture, and the rules one by one. Y is established, N
 * violated, ? neither; in the order causal, kinds, once, own cache.
 */
#include "config_test.h"

typedef struct expected {
    const char *file, *facts;
    const char *why; /* part of the reason of the first fact that is not established; NULL: all are */
} expected;

static const expected table[] = {
    {"albert", "N???", "encoder"},
    {"baichuan_m1", "YYYY", NULL},
    {"bamba", "YYYY", NULL},
    {"bert", "N???", "BertForMaskedLM"},
    {"bert_decoder", "Y???", "not among the decoders"},
    {"chatglm", "????", "see each other"},
    {"clip", "N???", "encoder"},
    {"cohere2_moe", "YYYY", NULL},
    {"cwm", "YYYY", NULL},
    {"deepseek_v4", "YYYY", NULL},
    {"deltanet_hybrid", "YYYY", NULL},
    {"diffllama", "YYYY", NULL},
    {"dots3", "Y?YY", "not certain"},
    {"dream", "N???", "refines a whole sequence"},
    {"embedding_gemma", "NYYY", "use_bidirectional_attention"},
    {"exaone4", "YYYY", NULL},
    {"falcon_h1", "YYYY", NULL},
    {"falcon_mamba", "YYYY", NULL},
    {"fla_transformer", "YYYY", NULL},
    {"gemma3", "YYYY", NULL},
    {"gemma3n", "YYYN", "another layer keeps"},
    {"gemma4", "YYYY", NULL},
    {"gemma4_per_layer", "YYYY", NULL},
    {"glm5_next", "YYYY", NULL},
    {"glm_dsa", "YYYN", "shared indexer"},
    {"gpt_neo", "YYYY", NULL},
    {"granite_h", "YYYY", NULL},
    {"granite_swa", "YYYY", NULL},
    {"hymba", "YYYN", "another layer keeps"},
    {"iquest_loop", "Y?YN", "keys of the first one"},
    {"jamba", "YYYY", NULL},
    {"kimi_linear", "YYYY", NULL},
    {"laguna", "YYYY", NULL},
    {"lfm2_idxs", "YYYY", NULL},
    {"lfm2_vl", "YYYY", NULL},
    {"ling_kda", "YYYY", NULL},
    {"llada", "N???", "refines a whole sequence"},
    {"llama4", "YYYY", NULL},
    {"llama_latent", "Y?YY", "no notice of 'kv_lora_rank'"},
    {"llama_per_layer", "YYYY", NULL},
    {"llama_small", "YYYY", NULL},
    {"llama_strange_key", "Y???", "dilated_attention_stride"},
    {"llama_window", "Y?YY", "has no windows"},
    {"loglinear", "YYYY", NULL},
    {"longcat", "YYYY", NULL},
    {"longformer", "N???", "encoder"},
    {"mamba2_small", "YYYY", NULL},
    {"mamba3", "YYYY", NULL},
    {"mamba3_ssm", "YYYY", NULL},
    {"mamba_in_llama", "Y???", "attn_layers"},
    {"mamba_ssm", "YYYY", NULL},
    {"mamba_ssm_conv", "YYYY", NULL},
    {"mimo_v2", "YYYY", NULL},
    {"minicpm4", "Y?YY", "dense_len"},
    {"minicpm_dense_len", "Y?YY", "dense_len"},
    {"minicpm_sala", "Y?YY", "dense_len"},
    {"minicpm_sala_short", "Y?YY", "dense_len"},
    {"minimax_01", "YYYY", NULL},
    {"minimax_m3", "YYYY", NULL},
    {"ministral", "YYYY", NULL},
    {"mistral", "YYYY", NULL},
    {"mllama", "YYYY", NULL},
    {"moba", "YYYY", NULL},
    {"modernbert", "N???", "encoder"},
    {"modernbert_decoder", "YYYY", NULL},
    {"muse_glimmer", "YYYY", NULL},
    {"nemotron_h", "YYYY", NULL},
    {"nemotron_nas", "YYYY", NULL},
    {"nsa", "YYYY", NULL},
    {"olmo_hybrid", "YYYY", NULL},
    {"openelm", "YYYY", NULL},
    {"ouro", "YYYY", NULL},
    {"paligemma", "N?YY", "see each other"},
    {"pangu", "YYYY", NULL},
    {"phi3_small", "Y???", "fixed pattern"},
    {"qwen2", "YYYY", NULL},
    {"qwen2_both_sides", "N?YY", "is_causal"},
    {"qwen3_5", "YYYY", NULL},
    {"qwen3_8_next", "Y?YY", "index_head_dim"},
    {"qwen3_next", "YYYY", NULL},
    {"raven", "??N?", "huginn_raven"},
    {"recurrent_gemma", "YYYY", NULL},
    {"recursion", "Y?N?", "num_recursion"},
    {"ring_linear", "YYYY", NULL},
    {"rwkv6_fla", "YYYY", NULL},
    {"rwkv7", "YYYY", NULL},
    {"smallthinker", "YYYY", NULL},
    {"step3p5", "YYYY", NULL},
    {"ttt", "Y?YY", "not certain"},
    {"unknown", "????", "newcomer"},
    {"unknown_window", "????", "newcomer"},
    {"vaultgemma", "YYYY", NULL},
    {"vit", "N???", "encoder"},
    {"xlm_roberta", "N???", "encoder"},
    {"xlnet", "N???", "encoder"},
    {"xlstm", "YYYY", NULL},
    {"yoco", "Y?YN", "no such layers"},
    {"zamba", "YYYY", NULL},
    {"zamba2", "YYYY", NULL},
    {"zamba2_7b", "YYYY", NULL},
    {"zaya", "YYYY", NULL},
    {"inkling", "YYYY", NULL},
    {"axk2", "YYYY", NULL},
    {"gemma2", "YYYY", NULL},
    {"plamo2", "Y?YY", "not certain"},
    {"paddleocr_vl", "YYYY", NULL},
};

static const expected *row_of(const char *file)
{
    for (size_t i = 0; i < RUNG_COUNT(table); i++)
        if (strcmp(table[i].file, file) == 0) return &table[i];
    fail_msg("the fixture %s has no row here", file);
    return NULL;
}

/* Whatever is not established must come with a reason, and so must what is. */
static void letters_of(char letters[RUNG_LEDGER_FACTS + 1], const rung_ledger *ledger)
{
    for (size_t f = 0; f < RUNG_LEDGER_FACTS; f++) {
        letters[f] = "?YN"[ledger->known[f].is];
        if (!ledger->known[f].why || !ledger->known[f].why[0]) fail_msg("%s: no reason", ledger->name);
    }
    letters[RUNG_LEDGER_FACTS] = '\0';
}

static const char *first_reason(const rung_ledger *ledger)
{
    for (size_t f = 0; f < RUNG_LEDGER_FACTS; f++)
        if (ledger->known[f].is != RUNG_ESTABLISHED) return ledger->known[f].why;
    return NULL;
}

static void check(const expected *e)
{
    rung_ledger ledger;
    rung_error err = {{0}};
    char letters[RUNG_LEDGER_FACTS + 1];
    if (rung_ledger_open(&ledger, config_fixture(e->file), &err)) fail_msg("%s", err.text);
    letters_of(letters, &ledger);
    const char *why = first_reason(&ledger);
    if (strcmp(letters, e->facts) != 0) fail_msg("%s: %s (%s), not %s", e->file, letters, why ? why : "", e->facts);
    if (e->why && !strstr(why, e->why)) fail_msg("%s: '%s' does not speak of '%s'", e->file, why, e->why);
    rung_ledger_clear(&ledger);
}

static void check_named(const char *name, size_t index)
{
    (void)index;
    check(row_of(name));
}

static void test_the_premises_of_every_fixture(void **state)
{
    (void)state;
    assert_int_equal(for_every_fixture(check_named), RUNG_COUNT(table));
}

/* ---- rules ---- */

#define SIZES "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"num_key_value_heads\":2"

static void check_text(const char *text, rung_ledger_fact fact, rung_fact is, const char *why)
{
    rung_ledger ledger = read_text(text);
    assert_fact(&ledger, fact, is, why);
    rung_ledger_clear(&ledger);
}

/* What the file says beats what the family says, in both directions. */
static void test_causality_by_keys(void **state)
{
    (void)state;
    const rung_ledger_fact fact = RUNG_LEDGER_CAUSAL;
    static const char *const against[] = {"\"is_causal\":false",
                                          "\"causal\":false",
                                          "\"causal_attention\":false",
                                          "\"bidirectional\":true",
                                          "\"is_bidirectional\":1",
                                          "\"use_bidirectional_attention\":\"all\"",
                                          "\"attn_config\":{\"prefix_lm\":true}",
                                          "\"prefix_lm\":true"};
    for (size_t i = 0; i < RUNG_COUNT(against); i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"model_type\":\"llama\"," SIZES ",%s}", against[i]);
        check_text(text, fact, RUNG_VIOLATED, "");
    }
    check_text("{\"model_type\":\"llama\"," SIZES "}", fact, RUNG_ESTABLISHED, "llama");
    check_text("{\"model_type\":\"newcomer\"," SIZES ",\"is_causal\":true}", fact, RUNG_ESTABLISHED, "is_causal");
    check_text("{\"model_type\":\"newcomer\"," SIZES ",\"architectures\":[\"NewcomerForCausalLM\"]}", fact,
               RUNG_NOT_ESTABLISHED, "newcomer");
    check_text("{\"model_type\":\"roberta\"," SIZES ",\"is_decoder\":false}", fact, RUNG_VIOLATED, "encoder");
    check_text("{\"model_type\":\"roberta\"," SIZES ",\"is_decoder\":true}", fact, RUNG_ESTABLISHED, "is_decoder");
    check_text("{\"model_type\":\"llama\",\"architectures\":[\"LlamaForMaskedLM\"]," SIZES "}", fact, RUNG_VIOLATED,
               "LlamaForMaskedLM");
    /* among the tokens of a picture only */
    check_text("{\"model_type\":\"gemma3_text\",\"head_dim\":16,\"use_bidirectional_attention\":\"vision\"," SIZES
               ",\"sliding_window\":8}",
               fact, RUNG_ESTABLISHED, "gemma3_text");
}

static void test_a_checkpoint_with_code_of_its_own_establishes_nothing(void **state)
{
    (void)state;
    static const char text[] = "{\"model_type\":\"qwen2\",\"auto_map\":{\"AutoModelForCausalLM\":\"x.Y\"}," SIZES "}";
    check_text(text, RUNG_LEDGER_CAUSAL, RUNG_NOT_ESTABLISHED, "x.Y");
    check_text(text, RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "x.Y");
    static const char other[] = "{\"model_type\":\"llama\",\"architectures\":[\"LlamaForCausalLM_Hybrid\"]," SIZES "}";
    check_text(other, RUNG_LEDGER_CAUSAL, RUNG_NOT_ESTABLISHED, "LlamaForCausalLM_Hybrid");
    check_text(other, RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "LlamaForCausalLM_Hybrid");
    check_text("{\"model_type\":\"qwen3_vl_moe_text\",\"architectures\":[\"Qwen3VLMoeForConditionalGeneration\"]," SIZES
               "}",
               RUNG_LEDGER_KINDS, RUNG_ESTABLISHED, "");
    /* where the published code is what checkpoints bring along */
    check_text("{\"model_type\":\"internlm2\",\"auto_map\":{\"AutoModelForCausalLM\":\"x.Y\"}," SIZES "}",
               RUNG_LEDGER_KINDS, RUNG_ESTABLISHED, "internlm2");
}

/* LLaVA leaves all sizes to the class of its text model, DeepSeek-OCR says that it has no latents. */
static void test_text_models_that_say_little(void **state)
{
    (void)state;
    rung_ledger ledger =
        read_text("{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"llama\",\"vocab_size\":32064,"
                  "\"max_position_embeddings\":4096}}");
    assert_int_equal(ledger.layer_count, 32);
    assert_int_equal(ledger.layer[0].kv_per_token, 2 * 32 * 128);
    assert_true(has_note(&ledger, "num_hidden_layers=32"));
    rung_ledger_clear(&ledger);
    ledger =
        read_text("{\"model_type\":\"deepseek_vl_v2\",\"language_config\":{\"hidden_size\":1280,\"kv_lora_rank\":null,"
                  "\"num_attention_heads\":10,\"num_hidden_layers\":12,\"num_key_value_heads\":10,"
                  "\"qk_nope_head_dim\":0,\"qk_rope_head_dim\":0,\"use_mla\":false,\"v_head_dim\":0,"
                  "\"vocab_size\":129280,\"lm_head\":true,\"rm_head\":false}}");
    assert_layers(&ledger, "FFFFFFFFFFFF");
    assert_int_equal(ledger.layer[0].kv_per_token, 2 * 10 * 128);
    if (ledger.known[RUNG_LEDGER_KINDS].is != RUNG_ESTABLISHED) fail_msg("%s", ledger.known[RUNG_LEDGER_KINDS].why);
    rung_ledger_clear(&ledger);
}

/* The code around a text model is the published one of some multimodal models, and may be anything of others. */
static void test_code_around_a_text_model(void **state)
{
    (void)state;
#define AROUND(type)                                                                                                   \
    "{\"model_type\":\"" type                                                                                          \
    "\",\"auto_map\":{\"AutoModel\":\"m.M\"},\"llm_config\":{\"model_type\":\"qwen2\"," SIZES "}}"
    check_text(AROUND("internvl_chat"), RUNG_LEDGER_KINDS, RUNG_ESTABLISHED, "qwen2");
    check_text(AROUND("llava"), RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "auto_map");
    check_text(AROUND("llava"), RUNG_LEDGER_CAUSAL, RUNG_NOT_ESTABLISHED, "auto_map");
#undef AROUND
}

static void test_text_models_inside_what_is_not_known(void **state)
{
    (void)state;
    static const char text[] = "{\"model_type\":\"newcomer_vl\",\"text_config\":{\"model_type\":\"llama\"," SIZES "}}";
    check_text(text, RUNG_LEDGER_CAUSAL, RUNG_NOT_ESTABLISHED, "newcomer_vl");
    check_text(text, RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "newcomer_vl");
    check_text("{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"llama\"," SIZES "}}", RUNG_LEDGER_KINDS,
               RUNG_ESTABLISHED, "llama");
}

/* Text models inside others leave out what their class says; flat files do not. */
static void test_sizes_of_a_class_in_a_flat_file_are_doubtful(void **state)
{
    (void)state;
    check_text("{\"model_type\":\"mistral\",\"hidden_size\":64,\"num_attention_heads\":8,\"num_key_value_heads\":8,"
               "\"sliding_window\":null}",
               RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "num_hidden_layers");
    check_text("{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"mistral\",\"hidden_size\":64,"
               "\"num_attention_heads\":8,\"num_key_value_heads\":8}}",
               RUNG_LEDGER_KINDS, RUNG_ESTABLISHED, "mistral");
}

static void test_loops_by_any_name(void **state)
{
    (void)state;
    static const char *const loops[] = {"total_ut_steps",  "loop_num",        "num_loops",       "num_recursion",
                                        "mean_recurrence", "num_recurrences", "recurrent_depth", "n_loops"};
    for (size_t i = 0; i < RUNG_COUNT(loops); i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"model_type\":\"llama\",\"%s\":3," SIZES "}", loops[i]);
        check_text(text, RUNG_LEDGER_ONCE, RUNG_VIOLATED, loops[i]);
        snprintf(text, sizeof text, "{\"model_type\":\"llama\",\"%s\":1," SIZES "}", loops[i]);
        rung_ledger ledger = read_text(text);
        assert_int_not_equal(ledger.known[RUNG_LEDGER_ONCE].is, RUNG_VIOLATED);
        rung_ledger_clear(&ledger);
    }
}

static void test_caches_that_are_shared(void **state)
{
    (void)state;
    static const char *const shared[] = {"\"num_kv_shared_layers\":1", "\"use_cla\":true,\"cla_share_factor\":2",
                                         "\"kv_reuse_group\":[[0,1]]", "\"use_yoco\":true"};
    for (size_t i = 0; i < RUNG_COUNT(shared); i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"model_type\":\"llama\",%s," SIZES "}", shared[i]);
        check_text(text, RUNG_LEDGER_OWN_CACHE, RUNG_VIOLATED, "");
    }
    check_text("{\"model_type\":\"llama\",\"use_cla\":false,\"cla_share_factor\":2," SIZES "}", RUNG_LEDGER_OWN_CACHE,
               RUNG_ESTABLISHED, "");
}

static void test_a_list_that_the_published_code_does_not_read(void **state)
{
    (void)state;
    check_text("{\"model_type\":\"mistral\",\"sliding_window\":8,"
               "\"layer_types\":[\"full_attention\",\"sliding_attention\"]," SIZES "}",
               RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "no notice of 'layer_types'");
    check_text("{\"model_type\":\"ministral\",\"sliding_window\":8,"
               "\"layer_types\":[\"full_attention\",\"sliding_attention\"]," SIZES "}",
               RUNG_LEDGER_KINDS, RUNG_ESTABLISHED, "");
}

/* The same in the objects that hold sizes. */
static void test_strange_keys_inside_objects(void **state)
{
    (void)state;
    check_text("{\"model_type\":\"mpt\",\"d_model\":64,\"n_layers\":2,\"n_heads\":4,"
               "\"attn_config\":{\"sliding_window_size\":8}}",
               RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "'sliding_window_size' in 'attn_config'");
    check_text("{\"model_type\":\"mpt\",\"d_model\":64,\"n_layers\":2,\"n_heads\":4,"
               "\"attn_config\":{\"alibi\":true,\"prefix_lm\":false}}",
               RUNG_LEDGER_KINDS, RUNG_ESTABLISHED, "mpt");
    check_text("{\"d_model\":64,\"n_layer\":2,\"ssm_cfg\":{\"layer\":\"Mamba2\",\"d_stat\":256}}", RUNG_LEDGER_KINDS,
               RUNG_NOT_ESTABLISHED, "'d_stat' in 'ssm_cfg'");
}

/* A key that is not known may change a layer, unless it is switched off. */
static void test_strange_keys(void **state)
{
    (void)state;
    check_text("{\"model_type\":\"llama\",\"strange\":5," SIZES "}", RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED,
               "strange");
    check_text("{\"model_type\":\"llama\",\"num_attention_experts\":4," SIZES "}", RUNG_LEDGER_KINDS,
               RUNG_NOT_ESTABLISHED, "num_attention_experts");
    check_text("{\"model_type\":\"llama\",\"num_local_experts\":4,\"attention_bias\":true," SIZES "}",
               RUNG_LEDGER_KINDS, RUNG_ESTABLISHED, "llama");
    check_text("{\"model_type\":\"llama\",\"strange\":{\"a\":1}," SIZES "}", RUNG_LEDGER_ONCE, RUNG_NOT_ESTABLISHED,
               "strange");
    check_text("{\"model_type\":\"llama\",\"strange\":false,\"odd\":null,\"none\":[]," SIZES "}", RUNG_LEDGER_KINDS,
               RUNG_ESTABLISHED, "llama");
}

/* Each would make the ledger of a llama smaller, or its layers of another kind. */
static void test_keys_that_the_published_code_does_not_read(void **state)
{
    (void)state;
    static const struct {
        const char *type, *keys, *why;
    } rows[] = {
        {"llama", "\"kv_lora_rank\":8,\"qk_rope_head_dim\":8", "no notice of 'kv_lora_rank'"},
        {"llama", "\"v_head_dim\":4", "no notice of 'v_head_dim'"},
        {"llama", "\"cross_attention_layers\":[1]", "no notice of 'cross_attention_layers'"},
        {"llama", "\"num_kv_shared_layers\":1", "no notice of 'num_kv_shared_layers'"},
        {"llama", "\"use_cla\":true,\"cla_share_factor\":2", "no notice of 'use_cla'"},
        {"llama", "\"multi_query\":true", "no notice of 'multi_query'"},
        {"llama", "\"block_configs\":[{\"attention\":{\"no_op\":true}},{\"attention\":{}}]", "'block_configs'"},
        {"llama", "\"index_topk\":8,\"index_head_dim\":4", "no such layers"},
        {"gemma2", "\"sliding_window\":8,\"head_dim\":16,\"sliding_window_pattern\":3",
         "no notice of 'sliding_window_pattern'"},
        {"gpt2", "\"head_dim\":4", "no notice of 'head_dim'"},
        {"gpt_neox", "\"use_cache\":true", "no notice of 'num_key_value_heads'"},
        {"exaone4", "\"sliding_window\":8,\"sliding_window_pattern\":\"LLLG\"", "leaves the last layer a window"},
        {"qwen2_moe",
         "\"sliding_window\":8,\"use_sliding_window\":true,\"max_window_layers\":1,\"max_position_embeddings\":99",
         "different layers"},
        {"qwen3_moe",
         "\"sliding_window\":8,\"use_sliding_window\":true,\"max_window_layers\":1,\"max_position_embeddings\":99",
         "different layers"},
    };
    for (size_t i = 0; i < RUNG_COUNT(rows); i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"model_type\":\"%s\",%s," SIZES "}", rows[i].type, rows[i].keys);
        check_text(text, RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, rows[i].why);
    }
    /* the same sizes as derived ones, and a key that does not decide */
    check_text("{\"model_type\":\"gpt2\",\"head_dim\":16,\"n_embd\":64,\"n_layer\":2,\"n_head\":4}", RUNG_LEDGER_KINDS,
               RUNG_ESTABLISHED, "");
    check_text("{\"model_type\":\"llama\",\"sliding_window_pattern\":0," SIZES "}", RUNG_LEDGER_KINDS,
               RUNG_NOT_ESTABLISHED, "no period");
}

/* Sizes around a text model may belong to another part of it. They are taken only where it states none, never without
 * a doubt. */
static void test_sizes_from_outside_of_the_text_model(void **state)
{
    (void)state;
    rung_ledger ledger =
        read_text("{\"model_type\":\"llava\",\"head_dim\":8,\"num_key_value_heads\":1,\"text_config\":{"
                  "\"model_type\":\"llama\",\"hidden_size\":256,\"num_hidden_layers\":2,"
                  "\"num_attention_heads\":4}}");
    assert_int_equal(ledger.layer[0].kv_per_token, 2 * 4 * 64);
    assert_fact(&ledger, RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "outside of the text model");
    rung_ledger_clear(&ledger);
    ledger =
        read_text("{\"model_type\":\"llava\",\"max_position_embeddings\":99,\"text_config\":{\"model_type\":\"llama\","
                  "\"hidden_size\":256,\"num_hidden_layers\":2,\"num_attention_heads\":4}}");
    assert_int_equal(ledger.context, 99);
    assert_int_equal(ledger.known[RUNG_LEDGER_KINDS].is, RUNG_ESTABLISHED);
    rung_ledger_clear(&ledger);
}

/* What a text model omits is what its class says, and what its class says is not what the width suggests. In a flat
 * file it is a doubt, and so it is in a model that gives its text model defaults of its own. */
static void test_sizes_of_a_class_inside_another(void **state)
{
    (void)state;
    static const struct {
        const char *around, *text;
        uint64_t kv; /* of a layer, per token */
        rung_fact kinds;
    } rows[] = {
        {"llava", "\"model_type\":\"ernie4_5\",\"hidden_size\":1024", 2 * 2 * 128, RUNG_ESTABLISHED},
        {"llava", "\"model_type\":\"minimax_m2\",\"hidden_size\":3072", 2 * 8 * 128, RUNG_ESTABLISHED},
        {"llava", "\"model_type\":\"starcoder2\",\"hidden_size\":3072", 2 * 2 * 128, RUNG_ESTABLISHED},
        {"llava", "\"model_type\":\"falcon\",\"hidden_size\":4544", 2 * 64, RUNG_ESTABLISHED},
        {"llava", "\"model_type\":\"youtu\",\"kv_lora_rank\":256", 256 + 64, RUNG_ESTABLISHED},
        {"llava", "\"model_type\":\"qwen2\",\"num_attention_heads\":32", 2 * 32 * 128, RUNG_ESTABLISHED},
        {"voxtral", "\"model_type\":\"llama\",\"num_attention_heads\":32", 2 * 32 * 128, RUNG_NOT_ESTABLISHED},
        {NULL, "\"model_type\":\"ernie4_5\",\"hidden_size\":1024", 2 * 2 * 128, RUNG_NOT_ESTABLISHED},
        {NULL, "\"model_type\":\"stablelm\",\"hidden_size\":2560,\"num_attention_heads\":32", 2 * 32 * 80,
         RUNG_ESTABLISHED},
    };
    for (size_t i = 0; i < RUNG_COUNT(rows); i++) {
        char text[512];
        snprintf(text, sizeof text, rows[i].around ? "{\"model_type\":\"%s\",\"text_config\":{%s,%s}}" : "{%s%s,%s}",
                 rows[i].around ? rows[i].around : "", rows[i].text, "\"num_hidden_layers\":3");
        rung_ledger ledger = read_text(text);
        assert_int_equal(ledger.layer_count, 3);
        assert_int_equal(ledger.layer[2].kv_per_token, rows[i].kv);
        if (ledger.known[RUNG_LEDGER_KINDS].is != rows[i].kinds)
            fail_msg("%s: %s", text, ledger.known[RUNG_LEDGER_KINDS].why);
        rung_ledger_clear(&ledger);
    }
}

/* An override of one layer may make it another kind; the window of a windowed layer is only a size. */
static void test_overrides_that_may_change_a_kind(void **state)
{
    (void)state;
    static const char start[] = "{\"model_type\":\"mistral\",\"hidden_size\":64,\"num_hidden_layers\":2,"
                                "\"max_position_embeddings\":99,\"num_attention_heads\":4,\"num_key_value_heads\":2,";
    char text[512];
    snprintf(text, sizeof text, "%s\"sliding_window\":null,\"per_layer_config\":{\"1\":{\"sliding_window\":32}}}",
             start);
    rung_ledger ledger = read_text(text);
    assert_fact(&ledger, RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "may change its kind");
    rung_ledger_clear(&ledger);
    snprintf(text, sizeof text, "%s\"sliding_window\":16,\"per_layer_config\":{\"1\":{\"sliding_window\":32}}}", start);
    ledger = read_text(text);
    assert_layers(&ledger, "WW");
    assert_int_equal(ledger.layer[1].window_elements, 2 * ledger.layer[0].window_elements);
    assert_int_equal(ledger.known[RUNG_LEDGER_KINDS].is, RUNG_ESTABLISHED);
    rung_ledger_clear(&ledger);
}

/* Some feature maps of linear attention make keys longer than the file says. */
static void test_feature_maps(void **state)
{
    (void)state;
    static const struct {
        const char *map;
        rung_fact kinds;
    } rows[] = {{"relu", RUNG_ESTABLISHED}, {"hedgehog", RUNG_NOT_ESTABLISHED}, {"dpfp", RUNG_NOT_ESTABLISHED}};
    for (size_t i = 0; i < RUNG_COUNT(rows); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"model_type\":\"linear_attn\",\"hidden_size\":64,\"num_hidden_layers\":2,\"num_heads\":4,"
                 "\"expand_k\":1,\"expand_v\":1,\"feature_map\":\"%s\"}",
                 rows[i].map);
        rung_ledger ledger = read_text(text);
        assert_layers(&ledger, "RR");
        assert_int_equal(ledger.known[RUNG_LEDGER_KINDS].is, rows[i].kinds);
        rung_ledger_clear(&ledger);
    }
}

static void test_kinds_from_outside_of_the_text_model(void **state)
{
    (void)state;
    check_text("{\"model_type\":\"gemma3\",\"sliding_window_pattern\":2,\"text_config\":{\"model_type\":"
               "\"gemma3_text\",\"sliding_window\":8," SIZES "}}",
               RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "outside of the text model");
}

/* GLM-5.2 writes how often an indexer chooses, and not always a list. */
static void test_an_indexer_that_layers_share(void **state)
{
    (void)state;
#define GLM                                                                                                            \
    "{\"model_type\":\"glm_moe_dsa\",\"kv_lora_rank\":8,\"qk_rope_head_dim\":8,\"qk_nope_head_dim\":8,"                \
    "\"v_head_dim\":8,\"index_topk\":4,\"index_head_dim\":4,\"index_n_heads\":2," SIZES
    check_text(GLM "}", RUNG_LEDGER_OWN_CACHE, RUNG_ESTABLISHED, "");
    check_text(GLM ",\"index_topk_freq\":1}", RUNG_LEDGER_OWN_CACHE, RUNG_ESTABLISHED, "");
    check_text(GLM ",\"index_topk_freq\":4}", RUNG_LEDGER_OWN_CACHE, RUNG_VIOLATED, "index_topk_freq");
    check_text(GLM ",\"index_topk_pattern\":\"FS\"}", RUNG_LEDGER_OWN_CACHE, RUNG_VIOLATED, "index_topk_pattern");
#undef GLM
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_premises_of_every_fixture),
        cmocka_unit_test(test_causality_by_keys),
        cmocka_unit_test(test_a_checkpoint_with_code_of_its_own_establishes_nothing),
        cmocka_unit_test(test_text_models_that_say_little),
        cmocka_unit_test(test_code_around_a_text_model),
        cmocka_unit_test(test_text_models_inside_what_is_not_known),
        cmocka_unit_test(test_sizes_of_a_class_in_a_flat_file_are_doubtful),
        cmocka_unit_test(test_loops_by_any_name),
        cmocka_unit_test(test_caches_that_are_shared),
        cmocka_unit_test(test_strange_keys),
        cmocka_unit_test(test_strange_keys_inside_objects),
        cmocka_unit_test(test_a_list_that_the_published_code_does_not_read),
        cmocka_unit_test(test_keys_that_the_published_code_does_not_read),
        cmocka_unit_test(test_sizes_from_outside_of_the_text_model),
        cmocka_unit_test(test_sizes_of_a_class_inside_another),
        cmocka_unit_test(test_overrides_that_may_change_a_kind),
        cmocka_unit_test(test_feature_maps),
        cmocka_unit_test(test_kinds_from_outside_of_the_text_model),
        cmocka_unit_test(test_an_indexer_that_layers_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
