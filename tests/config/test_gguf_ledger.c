/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Ledgers from GGUF metadata: the same model gives the same ledger as its config.json, random patterns come back from
 * every key that can express them, and a file with a recurrent mechanism that says nothing of its layers is refused.
 */
#include "gguf_config_test.h"

static void begin(gguf_build *b, const char *arch, const pair *pairs)
{
    begin_arch(b, arch);
    put_pairs(b, arch, pairs);
}

/* ---- against the config.json of the same model ---- */

static void assert_same(const rung_ledger *gguf, const char *fixture_name)
{
    rung_ledger json;
    rung_error err = {{0}};
    assert_int_equal(rung_ledger_open(&json, config_fixture(fixture_name), &err), RUNG_OK);
    assert_int_equal(gguf->layer_count, json.layer_count);
    for (size_t i = 0; i < json.layer_count; i++) {
        const rung_ledger_layer *a = &gguf->layer[i], *b = &json.layer[i];
        if (letter_of(a) != letter_of(b) || strcmp(a->mechanism, b->mechanism) != 0)
            fail_msg("%s: layer %zu is '%s', not '%s'", fixture_name, i, a->mechanism, b->mechanism);
        assert_int_equal(a->state_elements, b->state_elements);
        assert_int_equal(a->conv_elements, b->conv_elements);
        assert_int_equal(a->window_elements, b->window_elements);
        assert_int_equal(a->kv_per_token, b->kv_per_token);
        assert_int_equal(a->heads, b->heads);
        assert_int_equal(a->value_dim, b->value_dim);
        assert_int_equal(a->window_size, b->window_size);
        assert_int_equal(a->block, b->block);
        assert_int_equal(a->top, b->top);
        assert_int_equal(a->index_elements, b->index_elements);
    }
    assert_int_equal(gguf->context, json.context);
    rung_ledger_clear(&json);
}

static void put_list(gguf_build *b, const char *key, const char *letters, uint32_t of_r, uint32_t of_f, uint32_t of_m)
{
    uint32_t values[256];
    size_t count = strlen(letters);
    for (size_t i = 0; i < count; i++) values[i] = letters[i] == 'R' ? of_r : letters[i] == 'F' ? of_f : of_m;
    gguf_u32_list(b, key, values, count);
}

static void test_jamba_by_layers_without_kv_heads(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "jamba",
          (pair[]){{"block_count", 32},
                   {"context_length", 262144},
                   {"embedding_length", 4096},
                   {"feed_forward_length", 14336},
                   {"attention.head_count", 32},
                   {"ssm.conv_kernel", 4},
                   {"ssm.inner_size", 8192},
                   {"ssm.state_size", 16},
                   {"ssm.time_step_rank", 256},
                   {0}});
    put_list(&b, "jamba.attention.head_count_kv", "RRRRFRRRRRRRFRRRRRRRFRRRRRRRFRRR", 0, 8, 0);
    gguf_u32(&b, "general.file_type", 1);
    rung_ledger ledger = read_build(&b);
    assert_same(&ledger, "jamba");
    assert_string_equal(ledger.spelling, "attention.head_count_kv");
    assert_string_equal(ledger.family, "jamba");
    assert_int_equal(ledger.number_bits, 16);
    rung_ledger_clear(&ledger);
}

/* A block that has a feed-forward width has nothing else, where some have none. */
static void test_nemotron_h_tells_mlp_from_mamba(void **state)
{
    (void)state;
    static const char letters[] = "RMRMRFMRMRMRFMRMRMRFMRMRMRFMRMRMRFMRMRMRMRFMRMRMRMRM";
    gguf_build b;
    begin(&b, "nemotron_h_moe",
          (pair[]){{"block_count", 52},
                   {"embedding_length", 2688},
                   {"attention.head_count", 32},
                   {"attention.key_length", 128},
                   {"attention.value_length", 128},
                   {"ssm.conv_kernel", 4},
                   {"ssm.inner_size", 4096},
                   {"ssm.state_size", 128},
                   {"ssm.group_count", 8},
                   {0}});
    put_list(&b, "nemotron_h_moe.attention.head_count_kv", letters, 0, 2, 0);
    put_list(&b, "nemotron_h_moe.feed_forward_length", letters, 0, 0, 1856);
    rung_ledger ledger = read_build(&b);
    assert_same(&ledger, "nemotron_h");
    rung_ledger_clear(&ledger);
}

static void test_qwen3_next_by_interval(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "qwen3next",
          (pair[]){{"block_count", 49},
                   {"nextn_predict_layers", 1},
                   {"context_length", 262144},
                   {"embedding_length", 2048},
                   {"full_attention_interval", 4},
                   {"attention.head_count", 16},
                   {"attention.head_count_kv", 2},
                   {"attention.key_length", 256},
                   {"attention.value_length", 256},
                   {"ssm.conv_kernel", 4},
                   {"ssm.inner_size", 32 * 128},
                   {"ssm.state_size", 128},
                   {"ssm.group_count", 16},
                   {"ssm.time_step_rank", 32},
                   {0}});
    rung_ledger ledger = read_build(&b);
    assert_same(&ledger, "qwen3_next");
    rung_ledger_clear(&ledger);
}

static void test_kimi_linear_with_latent_attention(void **state)
{
    (void)state;
    static const char letters[] = "RRRFRRRFRRRFRRRFRRRFRRRFRRF";
    gguf_build b;
    begin(&b, "kimi-linear",
          (pair[]){{"block_count", 27},
                   {"context_length", 1048576},
                   {"embedding_length", 2304},
                   {"attention.head_count", 32},
                   {"attention.kv_lora_rank", 512},
                   {"attention.key_length", 576},
                   {"attention.value_length", 512},
                   {"attention.key_length_mla", 192},
                   {"attention.value_length_mla", 128},
                   {"rope.dimension_count", 64},
                   {"kda.head_dim", 128},
                   {"ssm.conv_kernel", 4},
                   {0}});
    put_list(&b, "kimi-linear.attention.head_count_kv", letters, 0, 1, 0);
    rung_ledger ledger = read_build(&b);
    assert_same(&ledger, "kimi_linear");
    rung_ledger_clear(&ledger);
}

static void test_falcon_h1_has_both_everywhere(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "falcon-h1",
          (pair[]){{"block_count", 72},
                   {"embedding_length", 5120},
                   {"attention.head_count", 20},
                   {"attention.head_count_kv", 4},
                   {"attention.key_length", 128},
                   {"attention.value_length", 128},
                   {"ssm.conv_kernel", 4},
                   {"ssm.inner_size", 4096},
                   {"ssm.state_size", 256},
                   {"ssm.group_count", 2},
                   {0}});
    rung_ledger ledger = read_build(&b);
    assert_same(&ledger, "falcon_h1");
    rung_ledger_clear(&ledger);
}

static void test_lfm2_and_rwkv_have_keys_of_their_own(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "lfm2",
          (pair[]){{"block_count", 16},
                   {"context_length", 128000},
                   {"embedding_length", 2048},
                   {"attention.head_count", 32},
                   {"shortconv.l_cache", 3},
                   {0}});
    put_list(&b, "lfm2.attention.head_count_kv", "RRFRRFRRFRFRFRFR", 0, 8, 0);
    rung_ledger ledger = read_build(&b);
    assert_same(&ledger, "lfm2_vl");
    rung_ledger_clear(&ledger);
    begin(&b, "rwkv7",
          (pair[]){{"block_count", 12},
                   {"embedding_length", 768},
                   {"attention.head_count", 0},
                   {"wkv.head_size", 64},
                   {"token_shift_count", 2},
                   {0}});
    ledger = read_build(&b);
    assert_same(&ledger, "rwkv7");
    assert_string_equal(ledger.spelling, "architecture");
    rung_ledger_clear(&ledger);
}

static void test_windows_by_pattern_by_list_and_by_architecture(void **state)
{
    (void)state;
    static const pair exaone[] = {{"block_count", 64},
                                  {"context_length", 131072},
                                  {"embedding_length", 5120},
                                  {"attention.head_count", 40},
                                  {"attention.head_count_kv", 8},
                                  {"attention.key_length", 128},
                                  {"attention.value_length", 128},
                                  {"attention.sliding_window", 4096},
                                  {0}};
    uint32_t flags[64];
    for (size_t i = 0; i < 64; i++) flags[i] = i % 4 != 3;
    for (int way = 0; way < 3; way++) {
        gguf_build b;
        begin(&b, way == 0 ? "exaone4" : "other", exaone);
        if (way == 1) gguf_u32(&b, "other.attention.sliding_window_pattern", 4);
        if (way == 2) gguf_u32_list(&b, "other.attention.sliding_window_pattern", flags, 64);
        rung_ledger ledger = read_build(&b);
        assert_same(&ledger, "exaone4");
        rung_ledger_clear(&ledger);
    }
}

static void test_caches_that_are_shared_and_heads_of_two_sizes(void **state)
{
    (void)state;
    uint32_t flags[30], kv[30];
    gguf_build b;
    for (size_t i = 0; i < 30; i++) flags[i] = i % 6 != 5, kv[i] = i % 6 == 5 ? 2 : 8;
    begin(&b, "gemma3n",
          (pair[]){{"block_count", 30},
                   {"context_length", 32768},
                   {"embedding_length", 2048},
                   {"attention.head_count", 8},
                   {"attention.head_count_kv", 2},
                   {"attention.key_length", 256},
                   {"attention.value_length", 256},
                   {"attention.sliding_window", 512},
                   {"attention.shared_kv_layers", 10},
                   {0}});
    rung_ledger ledger = read_build(&b);
    assert_same(&ledger, "gemma3n");
    rung_ledger_clear(&ledger);
    begin(&b, "gemma4",
          (pair[]){{"block_count", 30},
                   {"context_length", 131072},
                   {"embedding_length", 2816},
                   {"attention.head_count", 16},
                   {"attention.key_length", 512},
                   {"attention.value_length", 512},
                   {"attention.key_length_swa", 256},
                   {"attention.value_length_swa", 256},
                   {"attention.sliding_window", 1024},
                   {0}});
    gguf_u32_list(&b, "gemma4.attention.sliding_window_pattern", flags, 30);
    gguf_u32_list(&b, "gemma4.attention.head_count_kv", kv, 30);
    ledger = read_build(&b);
    assert_same(&ledger, "gemma4");
    rung_ledger_clear(&ledger);
}

static void test_chunks_selections_and_compression(void **state)
{
    (void)state;
    gguf_build b;
    uint32_t ratios[44] = {0, 0};
    begin(&b, "llama4",
          (pair[]){{"block_count", 48},
                   {"context_length", 10485760},
                   {"embedding_length", 5120},
                   {"attention.head_count", 40},
                   {"attention.head_count_kv", 8},
                   {0}});
    rung_ledger ledger = read_build(&b);
    assert_same(&ledger, "llama4");
    rung_ledger_clear(&ledger);
    for (size_t i = 2; i < 43; i++) ratios[i] = i % 2 ? 128 : 4;
    begin(&b, "deepseek4",
          (pair[]){{"block_count", 44},
                   {"nextn_predict_layers", 1},
                   {"context_length", 1048576},
                   {"embedding_length", 4096},
                   {"attention.head_count", 64},
                   {"attention.head_count_kv", 1},
                   {"attention.key_length", 512},
                   {"attention.value_length", 512},
                   {"attention.sliding_window", 128},
                   {"attention.indexer.top_k", 512},
                   {"attention.indexer.key_length", 128},
                   {0}});
    gguf_u32_list(&b, "deepseek4.attention.compress_ratios", ratios, 44);
    ledger = read_build(&b);
    assert_same(&ledger, "deepseek_v4");
    rung_ledger_clear(&ledger);
    begin(&b, "deepseek2",
          (pair[]){{"block_count", 8},
                   {"embedding_length", 6144},
                   {"attention.head_count", 64},
                   {"attention.head_count_kv", 1},
                   {"attention.kv_lora_rank", 512},
                   {"attention.value_length_mla", 256},
                   {"rope.dimension_count", 64},
                   {"attention.indexer.top_k", 2048},
                   {"attention.indexer.key_length", 128},
                   {0}});
    ledger = read_build(&b);
    assert_layers(&ledger, "SSSSSSSS");
    assert_true(ledger.layer[0].kv_per_token == 576 && ledger.layer[0].top == 2048 && ledger.layer[0].block == 1);
    assert_true(ledger.layer[0].value_dim == 512 && ledger.layer[0].index_elements == 128);
    rung_ledger_clear(&ledger);
}

/* Layers without any attention in a file without recurrence mix no tokens. */
static void test_no_heads_and_no_recurrence_is_an_mlp(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "deci",
          (pair[]){{"block_count", 4},
                   {"embedding_length", 8192},
                   {"attention.key_length", 128},
                   {"attention.value_length", 128},
                   {0}});
    gguf_u32_list(&b, "deci.attention.head_count", (uint32_t[]){64, 0, 64, 64}, 4);
    gguf_u32_list(&b, "deci.attention.head_count_kv", (uint32_t[]){8, 0, 0, 4}, 4);
    rung_ledger ledger = read_build(&b);
    assert_same(&ledger, "nemotron_nas");
    rung_ledger_clear(&ledger);
}

/* ---- random patterns ---- */

static void test_random_patterns_in_every_key_that_can_hold_them(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 100; round++) {
        char letters[65] = {0};
        rung_rng rng;
        rung_rng_init(&rng, 3, 0, round);
        size_t count = 1 + (size_t)rung_rng_below(&rng, 64);
        for (size_t i = 0; i < count; i++) letters[i] = rung_rng_below(&rng, 3) ? 'R' : 'F';
        const pair sizes[] = {{"block_count", (uint32_t)count},
                              {"embedding_length", 64},
                              {"attention.head_count", 4},
                              {"ssm.conv_kernel", 4},
                              {"ssm.inner_size", 128},
                              {"ssm.state_size", 16},
                              {0}};
        gguf_build b;
        begin(&b, "anything", sizes);
        put_list(&b, "anything.attention.head_count_kv", letters, 0, 2, 0);
        rung_ledger ledger = read_build(&b);
        assert_layers(&ledger, letters);
        rung_ledger_clear(&ledger);
        begin(&b, "anything", sizes);
        put_list(&b, "anything.attention.recurrent_layers", letters, 1, 0, 0);
        ledger = read_build(&b);
        assert_layers(&ledger, letters);
        assert_string_equal(ledger.spelling, "attention.recurrent_layers");
        rung_ledger_clear(&ledger);
    }
}

/* ---- refusals ---- */

static void test_recurrence_without_layers_is_refused(void **state)
{
    (void)state;
    static const char *const marks[] = {"ssm.state_size", "ssm.conv_kernel", "wkv.head_size", "shortconv.l_cache",
                                        "kda.head_dim"};
    for (size_t i = 0; i < RUNG_COUNT(marks); i++) {
        gguf_build b;
        begin(&b, "newmodel",
              (pair[]){{"block_count", 4},
                       {"embedding_length", 64},
                       {"attention.head_count", 4},
                       {"attention.head_count_kv", 4},
                       {marks[i], 16},
                       {0}});
        refused_build(&b, "nothing says in which layers");
        begin(&b, "newmodel",
              (pair[]){{"block_count", 2}, {"embedding_length", 64}, {"attention.head_count", 4}, {marks[i], 16}, {0}});
        gguf_u32_list(&b, "newmodel.attention.head_count_kv", (uint32_t[]){4, 4}, 2);
        refused_build(&b, "nothing says in which layers");
    }
}

static void test_metadata_that_are_missing_or_wrong_are_refused(void **state)
{
    (void)state;
    gguf_build b;
    gguf_begin(&b);
    refused_build(&b, "general.architecture");
    begin(&b, "llama", (pair[]){{"embedding_length", 64}, {0}});
    refused_build(&b, "'llama.block_count' is missing");
    begin(&b, "llama", (pair[]){{"block_count", 4}, {"nextn_predict_layers", 4}, {0}});
    refused_build(&b, "'llama.block_count' is not a number of layers");
    begin(&b, "llama", (pair[]){{"block_count", 1000000}, {0}});
    refused_build(&b, "'llama.block_count' is not a number of layers");
    begin(&b, "llama", (pair[]){{"block_count", 2}, {"embedding_length", 64}, {0}});
    refused_build(&b, "'llama.attention.head_count' is missing");
    begin(&b, "llama", (pair[]){{"block_count", 2}, {"embedding_length", 64}, {"attention.head_count", 0}, {0}});
    refused_build(&b, "is 0 in a layer that attends");
    begin(&b, "llama", (pair[]){{"block_count", 2}, {"embedding_length", 64}, {"attention.head_count", 4}, {0}});
    gguf_u32_list(&b, "llama.attention.head_count_kv", (uint32_t[]){4}, 1);
    refused_build(&b, "'llama.attention.head_count_kv' has another number of values");
    begin(&b, "llama", (pair[]){{"block_count", 2}, {"embedding_length", 64}, {"attention.head_count", 4}, {0}});
    gguf_string(&b, "llama.attention.key_length", "many");
    refused_build(&b, "'llama.attention.key_length' must be a whole number");
    begin(&b, "jamba", (pair[]){{"block_count", 1}, {"embedding_length", 64}, {"ssm.state_size", 16}, {0}});
    refused_build(&b, "'jamba.ssm.inner_size' is missing");
}

static void test_uniform_windows_and_full_attention(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "newcomer",
          (pair[]){{"block_count", 2},
                   {"context_length", 100},
                   {"embedding_length", 64},
                   {"attention.head_count", 4},
                   {"attention.sliding_window", 99},
                   {0}});
    rung_ledger ledger = read_build(&b);
    assert_layers(&ledger, "WW");
    assert_int_equal(ledger.layer[0].window_elements, 99 * 2 * 64);
    assert_fact(&ledger, RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "which layers have the window");
    rung_ledger_clear(&ledger);
    begin(&b, "phi3", /* llama.cpp takes no notice of the window, others may */
          (pair[]){{"block_count", 2},
                   {"context_length", 100},
                   {"embedding_length", 64},
                   {"attention.head_count", 4},
                   {"attention.sliding_window", 99},
                   {0}});
    ledger = read_build(&b);
    assert_layers(&ledger, "FF");
    assert_fact(&ledger, RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "takes no notice");
    rung_ledger_clear(&ledger);
    begin(&b, "phi3",
          (pair[]){{"block_count", 2},
                   {"context_length", 100},
                   {"embedding_length", 64},
                   {"attention.head_count", 4},
                   {"attention.sliding_window", 100},
                   {0}});
    ledger = read_build(&b);
    assert_layers(&ledger, "FF");
    assert_int_equal(ledger.layer[0].kv_per_token, 2 * 64);
    rung_ledger_clear(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jamba_by_layers_without_kv_heads),
        cmocka_unit_test(test_nemotron_h_tells_mlp_from_mamba),
        cmocka_unit_test(test_qwen3_next_by_interval),
        cmocka_unit_test(test_kimi_linear_with_latent_attention),
        cmocka_unit_test(test_falcon_h1_has_both_everywhere),
        cmocka_unit_test(test_lfm2_and_rwkv_have_keys_of_their_own),
        cmocka_unit_test(test_windows_by_pattern_by_list_and_by_architecture),
        cmocka_unit_test(test_caches_that_are_shared_and_heads_of_two_sizes),
        cmocka_unit_test(test_chunks_selections_and_compression),
        cmocka_unit_test(test_no_heads_and_no_recurrence_is_an_mlp),
        cmocka_unit_test(test_random_patterns_in_every_key_that_can_hold_them),
        cmocka_unit_test(test_recurrence_without_layers_is_refused),
        cmocka_unit_test(test_metadata_that_are_missing_or_wrong_are_refused),
        cmocka_unit_test(test_uniform_windows_and_full_attention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
