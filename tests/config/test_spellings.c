/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One pattern of layers in every spelling that can express it must give one ledger; what is contradictory, incomplete or
 * unknown is refused with a message that names the key. No file with a mark of recurrence passes for full attention.
 */
#include "config_test.h"

#define SIZES "\"hidden_size\":64,\"num_attention_heads\":4,\"num_key_value_heads\":2,\"head_dim\":16,"
#define MAMBA2                                                                                                         \
    "\"mamba_num_heads\":8,\"mamba_head_dim\":16,\"mamba_d_state\":32,\"mamba_n_groups\":2,\"mamba_d_conv\":4,"
#define PLAIN "{" SIZES "\"num_hidden_layers\":4"

static void check(const char *text, const char *letters, const char *spelling)
{
    rung_ledger ledger = read_text(text);
    assert_layers(&ledger, letters);
    assert_string_equal(ledger.spelling, spelling);
    rung_ledger_clear(&ledger);
}

/* ---- random patterns in several spellings ---- */

enum { MOST = 40 };

static void put_words(rung_buf *out, const char *key, const char *letters, const char *recurrent, const char *full)
{
    rung_buf_printf(out, "\"%s\":[", key);
    for (size_t i = 0; letters[i]; i++)
        rung_buf_printf(out, "%s%s", i ? "," : "", letters[i] == 'R' ? recurrent : full);
    rung_buf_puts(out, "]");
}

static void put_numbers(rung_buf *out, const char *key, const char *letters, char listed, size_t base)
{
    const char *comma = "";
    rung_buf_printf(out, "\"%s\":[", key);
    for (size_t i = 0; letters[i]; i++) {
        if (letters[i] != listed) continue;
        rung_buf_printf(out, "%s%zu", comma, i + base);
        comma = ",";
    }
    rung_buf_puts(out, "]");
}

static void check_buf(rung_buf *text, const char *letters, const char *spelling)
{
    rung_buf_puts(text, "}");
    check(text->text, letters, spelling);
    rung_buf_clear(text);
}

static void open_buf(rung_buf *text, const char *letters)
{
    rung_buf_init(text);
    rung_buf_printf(text, "{" SIZES MAMBA2 "\"num_hidden_layers\":%zu,", strlen(letters));
}

static void check_every_spelling(const char *letters)
{
    rung_buf text;
    char pattern[MOST + 1];
    open_buf(&text, letters);
    put_words(&text, "layer_types", letters, "\"linear_attention\"", "\"full_attention\"");
    check_buf(&text, letters, "layer_types");
    open_buf(&text, letters);
    put_words(&text, "layers_block_type", letters, "\"mamba\"", "\"attention\"");
    check_buf(&text, letters, "layers_block_type");
    for (size_t i = 0; i <= strlen(letters); i++) pattern[i] = letters[i] == 'R' ? 'M' : letters[i] == 'F' ? '*' : 0;
    open_buf(&text, letters);
    rung_buf_printf(&text, "\"hybrid_override_pattern\":\"%s\"", pattern);
    check_buf(&text, letters, "hybrid_override_pattern");
    open_buf(&text, letters);
    put_words(&text, "attn_type_list", letters, "0", "1");
    check_buf(&text, letters, "attn_type_list");
    open_buf(&text, letters);
    put_numbers(&text, "attn_layer_indices", letters, 'F', 0);
    check_buf(&text, letters, "attn_layer_indices");
    for (size_t base = 0; base < 2; base++) {
        open_buf(&text, letters);
        rung_buf_puts(&text, "\"linear_attn_config\":{\"num_heads\":2,\"head_dim\":8,\"short_conv_kernel_size\":4,");
        put_numbers(&text, "kda_layers", letters, 'R', base);
        rung_buf_puts(&text, ",");
        put_numbers(&text, "full_attn_layers", letters, 'F', base);
        rung_buf_puts(&text, "}");
        check_buf(&text, letters, "linear_attn_config");
    }
}

static void test_one_pattern_in_every_spelling(void **state)
{
    (void)state;
    char letters[MOST + 1];
    for (uint64_t round = 0; round < 200; round++) {
        rung_rng rng;
        rung_rng_init(&rng, 7, 0, round);
        size_t len = 1 + (size_t)rung_rng_below(&rng, MOST);
        for (size_t i = 0; i < len; i++) letters[i] = rung_rng_below(&rng, round % 5 + 1) ? 'R' : 'F';
        letters[len] = '\0';
        check_every_spelling(letters);
    }
}

/* ---- rules ---- */

static void test_rules_and_their_corners(void **state)
{
    (void)state;
    check("{" SIZES MAMBA2 "\"num_hidden_layers\":7,\"full_attention_interval\":3}", "RRFRRFR",
          "full_attention_interval");
    check("{" SIZES MAMBA2 "\"num_hidden_layers\":7,\"attn_layer_period\":3,\"attn_layer_offset\":1}", "RFRRFRR",
          "attn_layer_period");
    check("{" SIZES MAMBA2 "\"num_hidden_layers\":7,\"layer_group_size\":3}", "RRFRRFF", "layer_group_size");
    check("{" SIZES MAMBA2 "\"num_hidden_layers\":4,\"layer_group_size\":[1,1,0,1]}", "RRFR", "layer_group_size");
    check(PLAIN ",\"sliding_window\":8,\"sliding_window_pattern\":3}", "WWFW", "sliding_window_pattern");
    check(PLAIN ",\"sliding_window\":8,\"_sliding_window_pattern\":2}", "WFWF", "sliding_window_pattern");
    check(PLAIN ",\"sliding_window\":8,\"sliding_window_pattern\":\"LG\"}", "WFWF", "sliding_window_pattern");
    check(PLAIN ",\"sliding_window\":8,\"global_attn_every_n_layers\":2}", "WFWF", "global_attn_every_n_layers");
    check(PLAIN ",\"attention_chunk_size\":8}", "CCCF", "attention_chunk_size");
    check(PLAIN ",\"attention_chunk_size\":8,\"no_rope_layers\":[0,1,1,0]}", "FCCF", "attention_chunk_size");
    check(PLAIN ",\"attention_chunk_size\":null}", "FFFF", "nothing: full attention everywhere");
    check(PLAIN ",\"window_size\":8,\"attention_types\":[[[\"global\",\"local\"],2]]}", "FWFW", "attention_types");
    check(PLAIN ",\"zaya_layers\":[\"a\",16,\"a\",16],\"cca_time0\":2,\"cca_time1\":2}", "HMHM", "zaya_layers");
    check("{" SIZES MAMBA2 "\"num_hidden_layers\":3,\"layer_types\":[\"hybrid\",\"hybrid_sliding\",\"moe\"],"
          "\"sliding_window\":4}",
          "HDM", "layer_types");
}

static void test_windows_that_are_none(void **state)
{
    (void)state;
    check(PLAIN ",\"sliding_window\":8,\"use_sliding_window\":false}", "FFFF", "nothing: full attention everywhere");
    check(PLAIN ",\"sliding_window\":null}", "FFFF", "nothing: full attention everywhere");
    check(PLAIN ",\"sliding_window\":8}", "WWWW", "sliding_window");
    check(PLAIN ",\"sliding_window\":8,\"max_position_embeddings\":8}", "FFFF", "sliding_window");
    check(PLAIN ",\"sliding_window\":8,\"max_position_embeddings\":9}", "WWWW", "sliding_window");
    check(PLAIN ",\"sliding_window\":8,\"use_sliding_window\":true,\"max_window_layers\":3}", "FFFW", "sliding_window");
    /* a list of kinds stands, and null means that nothing is cut off */
    check("{" SIZES "\"num_hidden_layers\":2,\"layer_types\":[\"sliding_attention\",\"full_attention\"],"
          "\"sliding_window\":null}",
          "FF", "layer_types");
}

/* The defaults of Mistral's class include a window, so a key that is missing is not a key that is null. */
static void test_missing_is_not_null(void **state)
{
    (void)state;
    rung_ledger ledger = read_text("{\"model_type\":\"mistral\",\"num_hidden_layers\":32,\"sliding_window\":null}");
    assert_int_equal(rung_ledger_total(&ledger).full, 32);
    rung_ledger_clear(&ledger);
    ledger = read_text("{\"model_type\":\"mistral\",\"num_hidden_layers\":32}");
    assert_int_equal(rung_ledger_total(&ledger).window, 32);
    assert_int_equal(ledger.layer[0].window_size, 4096);
    assert_true(has_note(&ledger, "sliding_window=4096"));
    rung_ledger_clear(&ledger);
    ledger = read_text("{\"model_type\":\"qwen3\",\"head_dim\":null,\"hidden_size\":1024,\"num_attention_heads\":16,"
                       "\"num_key_value_heads\":8}");
    assert_int_equal(ledger.layer[0].key_dim, 64); /* derived, not the 128 of the class */
    rung_ledger_clear(&ledger);
}

/* ---- places ---- */

static void test_text_models_inside_others(void **state)
{
    (void)state;
    static const char *const nests[] = {"text_config", "llm_config", "llm_cfg", "language_config", "thinker_config"};
    for (size_t i = 0; i < RUNG_COUNT(nests); i++) {
        rung_buf text;
        rung_buf_init(&text);
        rung_buf_printf(&text, "{\"torch_dtype\":\"float16\",\"max_position_embeddings\":77,\"%s\":" PLAIN "}}",
                        nests[i]);
        rung_ledger ledger = read_text(text.text);
        assert_layers(&ledger, "FFFF");
        assert_int_equal(ledger.number_bits, 16);
        assert_int_equal(ledger.context, 77);
        rung_ledger_clear(&ledger);
        rung_buf_clear(&text);
    }
    check("{\"vision_config\":{\"num_hidden_layers\":9,\"sliding_window\":3},\"thinker_config\":{\"text_config\":" PLAIN
          "}}}",
          "FFFF", "nothing: full attention everywhere");
}

static void test_other_names_of_the_same_sizes(void **state)
{
    (void)state;
    static const char *const texts[] = {
        PLAIN "}",
        "{\"n_embd\":64,\"n_head\":4,\"n_kv_heads\":2,\"n_layer\":4}",
        "{\"d_model\":64,\"n_heads\":4,\"attn_config\":{\"kv_n_heads\":2},\"n_layers\":4}",
        "{\"hidden_size\":64,\"num_attention_heads\":4,\"multi_query_group_num\":2,\"kv_channels\":16,\"num_layers\":"
        "4}",
        "{\"hidden_size\":64,\"num_query_heads\":[4,4,4,4],\"num_kv_heads\":[2,2,2,2],\"head_dim\":16,\"num_hidden_"
        "layers\":4}",
        "{\"hidden_size\":64.0,\"num_attention_heads\":4,\"num_key_value_heads\":2,\"num_hidden_layers\":4}",
    };
    for (size_t i = 0; i < RUNG_COUNT(texts); i++) {
        rung_ledger ledger = read_text(texts[i]);
        rung_ledger_sum sum = rung_ledger_total(&ledger);
        assert_int_equal(sum.full, 4);
        assert_int_equal(sum.largest.kv_per_token, 2 * 2 * 16);
        assert_int_equal(ledger.layer[3].heads, 4);
        assert_int_equal(ledger.layer[3].value_dim, 16);
        rung_ledger_clear(&ledger);
    }
    rung_ledger ledger = read_text("{\"hidden_size\":64,\"n_head\":4,\"n_layer\":1,\"multi_query\":true}");
    assert_int_equal(ledger.layer[0].kv_per_token, 2 * 16);
    rung_ledger_clear(&ledger);
}

/* A selection applies to the full layers of whatever spelling named them. */
static void test_an_indexer_makes_full_layers_sparse(void **state)
{
    (void)state;
    check("{" SIZES "\"kv_lora_rank\":8,\"v_head_dim\":16,\"linear_num_heads\":2,\"linear_head_dim\":8,"
          "\"linear_conv_kernel_dim\":4,\"layer_types\":[\"linear_attention\",\"full_attention\"],\"index_topk\":4,"
          "\"index_head_dim\":8}",
          "RS", "layer_types");
    check(PLAIN ",\"index_topk\":null}", "FFFF", "nothing: full attention everywhere");
    check(PLAIN ",\"sparse_attention_config\":{\"use_sparse_attention\":false}}", "FFFF",
          "nothing: full attention everywhere");
}

/* DeepSeek-V4 as transformers 5 writes it: words, and rates by word. */
static void test_compression_by_words(void **state)
{
    (void)state;
    rung_ledger ledger = read_text(
        "{\"hidden_size\":64,\"num_attention_heads\":4,\"num_key_value_heads\":1,\"head_dim\":32,\"sliding_window\":8,"
        "\"index_topk\":5,\"index_head_dim\":16,\"compress_rates\":{\"compressed_sparse_attention\":6},\"layer_types\":"
        "["
        "\"sliding_attention\",\"compressed_sparse_attention\",\"heavily_compressed_attention\"]}");
    assert_layers(&ledger, "WSS");
    assert_true(ledger.layer[1].block == 6 && ledger.layer[1].top == 5 && ledger.layer[1].summary_elements == 32 + 16);
    assert_true(ledger.layer[2].block == 128 && ledger.layer[2].top == 0 && ledger.layer[2].summary_elements == 32);
    rung_ledger_clear(&ledger);
}

static void test_caches_shared_across_layers(void **state)
{
    (void)state;
    rung_ledger ledger = read_text(PLAIN ",\"use_cla\":true,\"cla_share_factor\":2}");
    assert_true(ledger.layer[0].kv_per_token == 64 && ledger.layer[1].kv_per_token == 0);
    assert_true(ledger.layer[2].kv_per_token == 64 && ledger.layer[3].kv_per_token == 0);
    rung_ledger_clear(&ledger);
    ledger = read_text(PLAIN ",\"num_kv_shared_layers\":3}");
    assert_true(ledger.layer[0].kv_per_token == 64 && ledger.layer[1].kv_per_token == 0);
    rung_ledger_clear(&ledger);
}

/* ---- refusals ---- */

static void test_no_mark_of_recurrence_passes_for_full_attention(void **state)
{
    (void)state;
    static const char *const marks[] = {"\"mamba_d_state\":16",         "\"use_mamba_kernels\":true",
                                        "\"ssm_state_size\":8",         "\"state_size\":8",
                                        "\"linear_num_value_heads\":2", "\"lightning_head_dim\":64",
                                        "\"conv_L_cache\":3",           "\"lru_width\":64",
                                        "\"rwkv_version\":\"6\"",       "\"model_type\":\"jamba2\",\"mamba_d_conv\":4",
                                        "\"model_type\":\"newmamba\"",  "\"architectures\":[\"SuperRWKVForCausalLM\"]"};
    for (size_t i = 0; i < RUNG_COUNT(marks); i++)
        for (int windowed = 0; windowed < 2; windowed++) {
            rung_buf text;
            rung_buf_init(&text);
            rung_buf_printf(&text, PLAIN "%s,%s}", windowed ? ",\"sliding_window\":8" : "", marks[i]);
            refused_text(text.text, "cannot tell which layers are recurrent");
            refused_text(text.text, "layer_types layers_block_type hybrid_override_pattern");
            rung_buf_clear(&text);
        }
    /* switched off, it is none */
    check(PLAIN ",\"use_mamba_kernels\":false,\"lru_width\":null,\"ssm_state_size\":0}", "FFFF",
          "nothing: full attention everywhere");
}

static void test_what_cannot_be_determined_is_refused(void **state)
{
    (void)state;
    refused_text("{}", "describes no model");
    refused_text("[]", "its root is not an object");
    refused_text("{\"model_type\":\"lightnet\",\"num_hidden_layers\":2,\"num_heads\":2,\"hidden_size\":8}",
                 "cannot tell the kinds");
    refused_text("{" SIZES "\"x\":1}", "has no number of layers");
    refused_text("{\"num_hidden_layers\":2,\"num_attention_heads\":4}", "has no hidden size");
    refused_text("{\"num_hidden_layers\":2,\"num_attention_heads\":3,\"hidden_size\":64}", "cannot derive");
    refused_text("{\"num_hidden_layers\":2,\"num_attention_heads\":0,\"hidden_size\":64}",
                 "'num_attention_heads' is 0");
    refused_text("{\"is_encoder_decoder\":true,\"num_hidden_layers\":2,\"num_attention_heads\":4}", "encoder");
    refused_text("{" SIZES "\"num_hidden_layers\":1,\"layer_types\":[\"linear_attention\"]}", "nor a field says");
    refused_text("{" SIZES "\"num_hidden_layers\":1,\"layer_types\":[\"sliding_attention\"]}", "its length is missing");
    refused_text("{\"model_type\":\"zamba2\",\"num_hidden_layers\":40}", "cannot tell which layers are recurrent");
    refused_text("{\"model_type\":\"lfm2\",\"num_hidden_layers\":2}", "cannot tell which layers are recurrent");
}

static void test_lists_that_contradict_are_refused(void **state)
{
    (void)state;
    refused_text(PLAIN ",\"layer_types\":[\"full_attention\"]}", "layer_types has 1 entries");
    /* five of four, and nothing that predicts further tokens */
    refused_text(PLAIN ",\"attn_type_list\":[1,1,1,1,1]}", "attn_type_list has 5 entries");
    refused_text(PLAIN ",\"attn_type_list\":[1,1,1,1,1,1],\"num_nextn_predict_layers\":1}", "has 6 entries");
    refused_text(PLAIN ",\"layer_types\":[\"full_attention\",\"a\",\"b\",\"c\"]}", "unknown kind 'a'");
    refused_text(PLAIN ",\"layer_types\":[1,2,3,4]}", "not a word");
    refused_text(PLAIN ",\"layer_types\":\"full\"}", "must be a list");
    refused_text(PLAIN ",\"attn_type_list\":[0,1,2,0]}", "entry 2 of 'attn_type_list'");
    refused_text(PLAIN ",\"hybrid_override_pattern\":\"M*-x\"}", "unknown letter 'x'");
    refused_text(PLAIN ",\"attn_layer_indices\":[1,4]}", "entry 1 of 'attn_layer_indices' is not a layer from 0 to 3");
    refused_text(PLAIN ",\"attn_layer_indices\":[1,1]}", "names layer 1 twice");
    refused_text(PLAIN ",\"attn_layer_indices\":[-1]}", "entry 0");
    refused_text(PLAIN ",\"full_attention_interval\":0}", "at least 1");
    refused_text(PLAIN ",\"attn_layer_period\":0}", "at least 1");
    refused_text(PLAIN ",\"layer_group_size\":0}", "at least 1");
    refused_text(PLAIN ",\"sliding_window_pattern\":\"LXG\"}", "letters L and G");
    refused_text(PLAIN ",\"num_kv_shared_layers\":4}", "leaves no layer");
    refused_text(PLAIN ",\"compress_ratios\":[0,-4,0,0]}", "entry 1 of 'compress_ratios'");
    refused_text(PLAIN ",\"block_configs\":[{},{},{},{}]}", "entry 0 of 'block_configs'");
    refused_text(PLAIN ",\"attn\":{\"layers\":[1]}}", "'layers' and 'num_heads'");
    refused_text(PLAIN ",\"attn\":[{\"layers\":[1],\"num_heads\":2},{\"layers\":[1],\"num_heads\":2}]}", "twice");
    refused_text(PLAIN ",\"attention_types\":[[[\"global\"],2]]}", "names 2 of 4 layers");
}

#define KDA(kda, full)                                                                                                 \
    PLAIN ",\"linear_attn_config\":{\"num_heads\":2,\"head_dim\":8,\"short_conv_kernel_size\":4,\"kda_layers\":" kda   \
          ",\"full_attn_layers\":" full "}}"

static void test_a_base_that_is_not_clear_is_refused(void **state)
{
    (void)state;
    refused_text(KDA("[1,2]", "[3]"), "whether it counts from 0 or from 1 is not clear");
    refused_text(KDA("[0,1,2,3]", "[4]"), "whether it counts from 0 or from 1 is not clear");
    refused_text(KDA("[1,2]", "[4]"), "does not name layer 3");
    refused_text(KDA("[1,2,3]", "[3,4]"), "twice");
    check(KDA("[1,2,3]", "[4]"), "RRRF", "linear_attn_config");
    check(KDA("[0,1,2]", "[3]"), "RRRF", "linear_attn_config");
}

static void test_numbers_that_are_no_sizes_are_refused(void **state)
{
    (void)state;
    refused_text("{" SIZES "\"num_hidden_layers\":-1}", "'num_hidden_layers' must be a whole number");
    refused_text("{" SIZES "\"num_hidden_layers\":2.5}", "'num_hidden_layers' must be a whole number");
    refused_text("{" SIZES "\"num_hidden_layers\":\"two\"}", "'num_hidden_layers' must be a whole number");
    refused_text("{" SIZES "\"num_hidden_layers\":Infinity}", "'num_hidden_layers'");
    refused_text("{" SIZES "\"num_hidden_layers\":100000}", "at most 4096 are read");
    refused_text("{" SIZES "\"num_hidden_layers\":9000000000000000000}", "too large for a size");
    refused_text("{\"num_hidden_layers\":1,\"num_attention_heads\":1000000000000,\"head_dim\":1000000000000}",
                 "overflow");
    refused_text("{\"model_type\":\"mamba\",\"hidden_size\":1000000000000,\"state_size\":1000000000000}", "overflow");
    refused_text("{\"model_type\":\"gla\",\"hidden_size\":64,\"expand_k\":NaN}", "'expand_k' must be a number above 0");
    refused_text("{\"model_type\":\"gla\",\"hidden_size\":64,\"expand_k\":-1}", "'expand_k' must be a number above 0");
    refused_text(PLAIN ",\"sliding_window\":8,\"sliding_window_pattern\":3,\"head_dim\":[16]}", "duplicate");
    refused_text("{\"num_attention_heads\":4,\"hidden_size\":64,\"num_hidden_layers\":2,\"head_dim\":[16]}",
                 "'head_dim' has 1 entries for 2 layers");
}

static void test_words_from_a_file_stay_on_one_line(void **state)
{
    (void)state;
    rung_ledger ledger = read_text("{\"model_type\":\"a\\u001b[31mb\",\"num_hidden_layers\":1," SIZES "\"x\":1}");
    assert_string_equal(ledger.family, "a?[31mb");
    rung_ledger_clear(&ledger);
    refused_text("{" SIZES "\"num_hidden_layers\":1,\"layer_types\":[\"a\\nb\"]}", "'a?b'");
}

/* ---- dialects that no fixture has ---- */

static void check_sums(const char *text, uint64_t state_elements, uint64_t conv_elements)
{
    rung_ledger ledger = read_text(text);
    rung_ledger_sum sum = rung_ledger_total(&ledger);
    assert_int_equal(sum.all.state_elements, state_elements);
    assert_int_equal(sum.all.conv_elements, conv_elements);
    rung_ledger_clear(&ledger);
}

static void test_mixers_of_flash_linear_attention(void **state)
{
    (void)state;
    /* defaults of the classes: 2048 wide; GLA keys half of it, 4 heads */
    check_sums("{\"model_type\":\"gla\",\"num_hidden_layers\":1}", 4 * 256 * 512, 0);
    check_sums("{\"model_type\":\"gla\",\"num_hidden_layers\":1,\"use_short_conv\":true}", 4 * 256 * 512,
               (1024 + 1024 + 2048) * 3);
    check_sums("{\"model_type\":\"retnet\",\"num_hidden_layers\":1}", 8 * 256 * 512, 0);
    check_sums("{\"model_type\":\"linear_attn\",\"num_hidden_layers\":1}", 4 * 512 * 512, 0);
    check_sums("{\"model_type\":\"delta_net\",\"num_hidden_layers\":1,\"hidden_size\":1024,\"num_heads\":8}",
               8 * 128 * 128, 3 * 1024 * 3);
    check_sums("{\"model_type\":\"kda\",\"num_hidden_layers\":1}", 16 * 128 * 128, 3 * 16 * 128 * 3);
    check_sums("{\"model_type\":\"gated_deltanet\",\"num_hidden_layers\":1,\"num_v_heads\":12}", 12 * 256 * 512,
               (2 * 6 * 256 + 12 * 512) * 3);
    check_sums("{\"model_type\":\"gated_deltaproduct\",\"num_hidden_layers\":1,\"num_householder\":2}", 6 * 256 * 512,
               (6 * 256 + 2 * (6 * 256 + 6 * 512)) * 3);
    check_sums("{\"model_type\":\"gsa\",\"num_hidden_layers\":1}", 4 * (512 * 64 + 64 * 512), 0);
    check_sums("{\"model_type\":\"hgrn\",\"num_hidden_layers\":1}", 2048, 0);
    check_sums("{\"model_type\":\"hgrn2\",\"num_hidden_layers\":1}", 16 * 128 * 128, 0);
}

static void test_other_recurrent_dialects(void **state)
{
    (void)state;
    check_sums("{\"model_type\":\"rwkv\",\"num_hidden_layers\":2,\"hidden_size\":64}", 2 * 3 * 64, 2 * 2 * 64);
    check_sums("{\"model_type\":\"rwkv6\",\"num_hidden_layers\":1,\"hidden_size\":128,\"head_size\":64}", 2 * 64 * 64,
               2 * 128);
    check_sums(
        "{\"model_type\":\"rwkv6\",\"num_hidden_layers\":1,\"hidden_size\":128,\"expand_k\":0.5,\"expand_v\":1.0,"
        "\"num_heads\":4}",
        4 * 16 * 32, 2 * 128);
    check_sums(
        "{\"model_type\":\"xlstm\",\"num_hidden_layers\":1,\"hidden_size\":100,\"num_heads\":4,\"qk_dim_factor\":0.5,"
        "\"v_dim_factor\":1.0}",
        4 * (16 * 32 + 16 + 1), 0); /* 50 is rounded up to 64, 100 to 128 */
    check_sums("{\"d_model\":64,\"n_layer\":2,\"ssm_cfg\":{}}", 2 * 128 * 16, 2 * 128 * 3);
    check_sums("{\"d_model\":64,\"n_layer\":1,\"ssm_cfg\":{\"layer\":\"Mamba2\",\"d_state\":16,\"headdim\":32}}",
               128 * 16, (128 + 2 * 16) * 3);
    check_sums("{\"model_type\":\"jet_nemotron\"," SIZES
               "\"layer_types\":[\"jet\"],\"efficient_attention_config\":{\"jet\":{\"num_heads\":12,\"head_dim\":96,"
               "\"expand_v\":2.0,\"conv_size\":4}}}",
               12 * 96 * 192, 12 * (2 * 96 + 192) * 3);
    check_sums("{\"model_type\":\"zaya\",\"num_hidden_layers\":1}", 0, (8 + 2) * 128 * 2 + 2048);
    rung_ledger ledger = read_text("{\"model_type\":\"mamba3\",\"num_hidden_layers\":1,\"is_mimo\":true}");
    assert_int_equal(ledger.layer[0].extra_elements, 64 * (32 + 4 * 128 + 64));
    rung_ledger_clear(&ledger);
}

/* LongCat counts pairs of attention blocks; head sizes of a windowed layer may be its own. */
static void test_attention_dialects(void **state)
{
    (void)state;
    rung_ledger ledger = read_text("{\"model_type\":\"longcat_flash\",\"num_layers\":3}");
    assert_layers(&ledger, "FFFFFF");
    rung_ledger_clear(&ledger);
    ledger = read_text("{" SIZES "\"num_hidden_layers\":2,\"layer_types\":[\"sliding_attention\",\"full_attention\"],"
                       "\"sliding_window\":8,\"attention_other_setting\":{\"num_attention_heads\":6}}");
    assert_true(ledger.layer[0].heads == 6 && ledger.layer[1].heads == 4);
    assert_int_equal(ledger.layer[0].window_elements, 8 * 2 * 2 * 16);
    rung_ledger_clear(&ledger);
    ledger = read_text("{" SIZES "\"num_hidden_layers\":1,\"kv_lora_rank\":8,\"use_mla\":false}");
    assert_int_equal(ledger.layer[0].kv_per_token, 2 * 2 * 16);
    rung_ledger_clear(&ledger);
    /* fewer heads in full layers only where keys and values share a projection */
    ledger = read_text("{" SIZES "\"num_hidden_layers\":1,\"global_head_dim\":32,\"num_global_key_value_heads\":1}");
    assert_int_equal(ledger.layer[0].kv_per_token, 2 * 2 * 32);
    rung_ledger_clear(&ledger);
    /* no v_head_dim: the width divided by the heads, here larger than the latent */
    ledger = read_text("{" SIZES "\"num_hidden_layers\":1,\"kv_lora_rank\":8,\"qk_rope_head_dim\":4}");
    assert_true(ledger.layer[0].kv_per_token == 12 && ledger.layer[0].value_dim == 16);
    rung_ledger_clear(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_pattern_in_every_spelling),
        cmocka_unit_test(test_rules_and_their_corners),
        cmocka_unit_test(test_windows_that_are_none),
        cmocka_unit_test(test_missing_is_not_null),
        cmocka_unit_test(test_text_models_inside_others),
        cmocka_unit_test(test_other_names_of_the_same_sizes),
        cmocka_unit_test(test_an_indexer_makes_full_layers_sparse),
        cmocka_unit_test(test_compression_by_words),
        cmocka_unit_test(test_caches_shared_across_layers),
        cmocka_unit_test(test_no_mark_of_recurrence_passes_for_full_attention),
        cmocka_unit_test(test_what_cannot_be_determined_is_refused),
        cmocka_unit_test(test_lists_that_contradict_are_refused),
        cmocka_unit_test(test_a_base_that_is_not_clear_is_refused),
        cmocka_unit_test(test_numbers_that_are_no_sizes_are_refused),
        cmocka_unit_test(test_words_from_a_file_stay_on_one_line),
        cmocka_unit_test(test_mixers_of_flash_linear_attention),
        cmocka_unit_test(test_other_recurrent_dialects),
        cmocka_unit_test(test_attention_dialects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
