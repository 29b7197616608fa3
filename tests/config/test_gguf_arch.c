/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What an architecture of GGUF files fixes by its name, with the keys that converters write: windows, intervals, dense
 * layers, passes, latents; the premises; and headers whose numbers contradict each other.
 */
#include "gguf_config_test.h"

/* A header with usual sizes: 4 heads, 2 for keys and values, of 16. */
static void begin(gguf_build *b, const char *arch, uint32_t layers, const pair *more)
{
    begin_arch(b, arch);
    put_pairs(b, arch, (pair[]){{"block_count", layers}, {"context_length", 131072}, {"embedding_length", 64}, {0}});
    put_pairs(b, arch, more);
}

#define HEADS                                                                                                          \
    {"attention.head_count", 4},                                                                                       \
    {                                                                                                                  \
        "attention.head_count_kv", 2                                                                                   \
    }

static void put_flags(gguf_build *b, const char *key, const char *letters, char one)
{
    uint32_t values[64];
    size_t count = strlen(letters);
    for (size_t i = 0; i < count; i++) values[i] = letters[i] == one;
    gguf_u32_list(b, key, values, count);
}

static void assert_facts(const rung_ledger *ledger, const char *wanted)
{
    char found[RUNG_LEDGER_FACTS + 1] = {0};
    for (size_t f = 0; f < RUNG_LEDGER_FACTS; f++) {
        assert_non_null(ledger->known[f].why);
        found[f] = "?YN"[ledger->known[f].is];
    }
    assert_string_equal(found, wanted);
}

/* ---- windows ---- */

static void test_windows_by_architecture(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        uint32_t layers, window;
        const char *letters;
    } rows[] = {
        {"laguna", 8, 512, "FWWWFWWW"}, {"laguna", 4, 0, "FFFF"},    {"smallthinker", 8, 4096, "FWWWFWWW"},
        {"smallthinker", 4, 0, "FFFF"}, {"cohere2", 5, 64, "WWWFW"}, {"gemma2", 4, 64, "WFWF"},
        {"gemma3", 7, 64, "WWWWWFW"},   {"gpt-oss", 4, 64, "WFWF"},  {"olmo2", 4, 64, "WWWF"},
        {"exaone-moe", 4, 64, "WWWF"},  {"exaone4", 4, 64, "FFFF"},  {"llama", 2, 0, "FF"},
        {"plamo3", 8, 64, "WWWWWWWF"},  {"llama4", 4, 8192, "CCCF"}, {"llama4", 4, 0, "FFFF"},
    };
    for (size_t i = 0; i < RUNG_COUNT(rows); i++) {
        gguf_build b;
        begin(&b, rows[i].arch, rows[i].layers, (pair[]){HEADS, {"attention.sliding_window", rows[i].window}, {0}});
        rung_ledger ledger = read_build(&b);
        assert_layers(&ledger, rows[i].letters);
        assert_int_equal(ledger.known[RUNG_LEDGER_CAUSAL].is, RUNG_ESTABLISHED);
        bool ignored = strcmp(rows[i].arch, "exaone4") == 0;
        assert_int_equal(ledger.known[RUNG_LEDGER_KINDS].is, ignored ? RUNG_NOT_ESTABLISHED : RUNG_ESTABLISHED);
        rung_ledger_clear(&ledger);
    }
}

static void test_a_list_beats_the_architecture(void **state)
{
    (void)state;
    static const char letters[] = "WWFWF";
    static const char *const archs[] = {"cohere2moe", "gemma4", "mimo2", "step35", "granite_swa", "mellum"};
    for (size_t i = 0; i < RUNG_COUNT(archs); i++) {
        char key[64];
        gguf_build b;
        begin(&b, archs[i], 5, (pair[]){HEADS, {"attention.sliding_window", 32}, {0}});
        snprintf(key, sizeof key, "%s.attention.sliding_window_pattern", archs[i]);
        put_flags(&b, key, letters, 'W');
        rung_ledger ledger = read_build(&b);
        assert_layers(&ledger, letters);
        assert_facts(&ledger, "YYYY");
        rung_ledger_clear(&ledger);
    }
    gguf_build b;
    begin(&b, "mimo2", 5, (pair[]){HEADS, {"attention.sliding_window", 32}, {0}});
    refused_build(&b, "sliding_window_pattern' is missing");
    begin(&b, "cohere2moe", 5, (pair[]){HEADS, {"attention.sliding_window", 32}, {0}});
    refused_build(&b, "sliding_window_pattern' is missing");
}

/* llama.cpp reads a period of these and no list, so a list must say the same. */
static void test_a_list_must_agree_with_the_period(void **state)
{
    (void)state;
    static const struct {
        const char *arch, *letters, *facts;
    } rows[] = {{"laguna", "FWWWF", "YYYY"},  {"laguna", "WWFWF", "Y?YY"}, {"cohere2", "WWWFW", "YYYY"},
                {"cohere2", "WWFWF", "Y?YY"}, {"olmo2", "WWWFW", "YYYY"},  {"exaone-moe", "WWWWW", "Y?YY"}};
    for (size_t i = 0; i < RUNG_COUNT(rows); i++) {
        char key[64];
        gguf_build b;
        begin(&b, rows[i].arch, 5, (pair[]){HEADS, {"attention.sliding_window", 32}, {0}});
        snprintf(key, sizeof key, "%s.attention.sliding_window_pattern", rows[i].arch);
        put_flags(&b, key, rows[i].letters, 'W');
        rung_ledger ledger = read_build(&b);
        assert_layers(&ledger, rows[i].letters);
        assert_facts(&ledger, rows[i].facts);
        rung_ledger_clear(&ledger);
    }
}

/* Old files of DeepSeek and those of MiniCPM 3 have no lengths of the latent form: llama.cpp keeps every head. */
static void test_latents_that_are_not_kept(void **state)
{
    (void)state;
    static const char *const archs[] = {"deepseek2", "minicpm3"};
    for (size_t i = 0; i < RUNG_COUNT(archs); i++) {
        gguf_build b;
        begin(&b, archs[i], 2,
              (pair[]){{"attention.head_count", 4},
                       {"attention.head_count_kv", 4},
                       {"attention.kv_lora_rank", 32},
                       {"attention.key_length", 24},
                       {"rope.dimension_count", 8},
                       {0}});
        rung_ledger ledger = read_build(&b);
        assert_layers(&ledger, "FF");
        assert_int_equal(ledger.layer[0].kv_per_token, 4 * (24 + 64 / 4));
        assert_true(has_note(&ledger, "not latents"));
        rung_ledger_clear(&ledger);
    }
}

/* llama.cpp gives SmallThinker windows of 4096, and llama4 chunks of 8192, whatever the file says. */
static void test_sizes_that_the_program_fixes(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "smallthinker", 4, (pair[]){HEADS, {"attention.sliding_window", 64}, {0}});
    rung_ledger ledger = read_build(&b);
    assert_layers(&ledger, "FWWW");
    assert_int_equal(ledger.layer[1].window_size, 4096);
    assert_fact(&ledger, RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "another length than llama.cpp takes");
    rung_ledger_clear(&ledger);
    begin(&b, "llama4", 4, (pair[]){HEADS, {"attention.chunk_size", 64}, {0}});
    ledger = read_build(&b);
    assert_layers(&ledger, "CCCF");
    assert_int_equal(ledger.layer[0].window_size, 8192);
    assert_fact(&ledger, RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "attention.chunk_size");
    rung_ledger_clear(&ledger);
}

/* ---- recurrence, selection, passes, latents ---- */

static void test_minimax_01_has_an_interval_of_its_own(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "minimax-01", 16, (pair[]){HEADS, {"attention.key_length", 32}, {"attention.value_length", 32}, {0}});
    rung_ledger ledger = read_build(&b);
    assert_layers(&ledger, "RRRRRRRFRRRRRRRF");
    assert_int_equal(ledger.layer[0].state_elements, 4 * 32 * 32);
    assert_string_equal(ledger.layer[0].mechanism, "lightning");
    assert_facts(&ledger, "YYYY");
    rung_ledger_clear(&ledger);
}

static void test_minimax_m3_has_dense_layers_first(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "minimax-m3", 5,
          (pair[]){HEADS,
                   {"leading_dense_block_count", 3},
                   {"attention.indexer.head_count", 4},
                   {"attention.indexer.key_length", 16},
                   {"attention.indexer.top_k", 16},
                   {"attention.indexer.block_size", 8},
                   {0}});
    rung_ledger ledger = read_build(&b);
    assert_layers(&ledger, "FFFSS");
    rung_ledger_clear(&ledger);
}

static void test_passes_are_entries(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "nanbeige", 3, (pair[]){HEADS, {"num_loops", 2}, {0}});
    rung_ledger ledger = read_build(&b);
    assert_layers(&ledger, "FFFFFF");
    assert_fact(&ledger, RUNG_LEDGER_ONCE, RUNG_ESTABLISHED, "3 layers in 2 passes are 6 entries");
    rung_ledger_clear(&ledger);
    begin(&b, "llama", 3, (pair[]){HEADS, {"num_loops", 2}, {0}});
    ledger = read_build(&b);
    assert_fact(&ledger, RUNG_LEDGER_ONCE, RUNG_VIOLATED, "llama.num_loops");
    rung_ledger_clear(&ledger);
    begin(&b, "nanbeige", 3, (pair[]){HEADS, {"num_loops", 0}, {0}});
    refused_build(&b, "num_loops");
}

static void test_latents_of_windowed_layers(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "dots3note", 3,
          (pair[]){{"attention.head_count", 4},
                   {"attention.head_count_kv", 1},
                   {"attention.kv_lora_rank", 32},
                   {"attention.kv_lora_rank_swa", 16},
                   {"attention.value_length_mla", 8},
                   {"attention.value_length_mla_swa", 8},
                   {"rope.dimension_count", 4},
                   {"attention.sliding_window", 10},
                   {"attention.indexer.top_k", 16},
                   {"attention.indexer.key_length", 8},
                   {0}});
    put_flags(&b, "dots3note.attention.sliding_window_pattern", "FWW", 'W');
    put_flags(&b, "dots3note.attention.indexer.types", "FWW", 'F');
    rung_ledger ledger = read_build(&b);
    assert_layers(&ledger, "SWW");
    assert_int_equal(ledger.layer[0].kv_per_token, 32 + 4);
    assert_int_equal(ledger.layer[1].window_elements, 10 * (16 + 4));
    rung_ledger_clear(&ledger);
}

static void test_rwkv_with_key_and_value_heads(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "rwkv6qwen2", 2,
          (pair[]){{"attention.head_count", 0},
                   {"attention.head_count_kv", 2},
                   {"wkv.head_size", 16},
                   {"token_shift_count", 1},
                   {0}});
    rung_ledger ledger = read_build(&b);
    assert_layers(&ledger, "RR");
    assert_int_equal(ledger.layer[0].state_elements, 64 * 16);
    assert_int_equal(ledger.layer[0].conv_elements, 64);
    assert_facts(&ledger, "YYYY");
    rung_ledger_clear(&ledger);
}

/* Gemma 3n: only the first twenty layers keep keys and values, and no key says so. */
static void test_caches_that_an_architecture_shares(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "gemma3n", 25, (pair[]){HEADS, {"attention.sliding_window", 8}, {0}});
    rung_ledger ledger = read_build(&b);
    assert_int_equal(rung_ledger_total(&ledger).all.window_elements, 16 * 8 * 2 * 2 * 16);
    assert_facts(&ledger, "YYYN");
    rung_ledger_clear(&ledger);
}

/* ---- premises ---- */

static void check_causal(const char *arch, int says, rung_fact is, const char *why)
{
    gguf_build b;
    char key[64];
    begin(&b, arch, 2, (pair[]){HEADS, {0}});
    snprintf(key, sizeof key, "%s.attention.causal", arch);
    if (says >= 0) {
        gguf_key(&b, key, G_BOOL);
        rung_buf_putc(&b.keys, (char)says);
    }
    rung_ledger ledger = read_build(&b);
    assert_fact(&ledger, RUNG_LEDGER_CAUSAL, is, why);
    rung_ledger_clear(&ledger);
}

static void test_causality(void **state)
{
    (void)state;
    static const char *const encoders[] = {
        "bert", "nomic-bert", "jina-bert-v2", "modern-bert", "t5encoder", "gemma-embedding", "dream", "llada", "rnd1"};
    check_causal("llama", -1, RUNG_ESTABLISHED, "llama");
    check_causal("llama", 0, RUNG_VIOLATED, "attention.causal");
    check_causal("newcomer", -1, RUNG_NOT_ESTABLISHED, "newcomer");
    check_causal("newcomer", 1, RUNG_ESTABLISHED, "attention.causal");
    for (size_t i = 0; i < RUNG_COUNT(encoders); i++) check_causal(encoders[i], -1, RUNG_VIOLATED, encoders[i]);
    gguf_build b;
    begin(&b, "t5", 2, (pair[]){HEADS, {0}});
    refused_build(&b, "encoder with a decoder");
}

static void test_what_is_not_known_establishes_nothing(void **state)
{
    (void)state;
    gguf_build b;
    begin(&b, "newcomer", 2, (pair[]){HEADS, {0}});
    rung_ledger ledger = read_build(&b);
    assert_facts(&ledger, "????");
    rung_ledger_clear(&ledger);
    begin(&b, "llama", 2, (pair[]){HEADS, {"attention.strange", 3}, {0}});
    ledger = read_build(&b);
    assert_facts(&ledger, "Y???");
    assert_fact(&ledger, RUNG_LEDGER_KINDS, RUNG_NOT_ESTABLISHED, "llama.attention.strange");
    rung_ledger_clear(&ledger);
}

/* ---- contradictions ---- */

static void refused_pairs(const pair *pairs, const char *fault)
{
    gguf_build b;
    begin_arch(&b, "llama");
    put_pairs(&b, "llama", pairs);
    refused_build(&b, fault);
}

static void test_numbers_that_contradict_each_other(void **state)
{
    (void)state;
    refused_pairs((pair[]){{"block_count", 1}, {"embedding_length", 0}, HEADS, {0}}, "'llama.embedding_length' is 0");
    refused_pairs((pair[]){{"block_count", 1}, {"embedding_length", 4097}, {"attention.head_count", 32}, {0}},
                  "'llama.embedding_length' is not a multiple");
    refused_pairs((pair[]){{"block_count", 1},
                           {"embedding_length", 64},
                           {"attention.head_count", UINT32_MAX},
                           {"attention.key_length", 16},
                           {"attention.value_length", 16},
                           {0}},
                  "'llama.attention.head_count' is not a number of heads");
    refused_pairs((pair[]){{"block_count", 1},
                           {"embedding_length", 64},
                           {"attention.head_count", 4},
                           {"attention.head_count_kv", 8},
                           {0}},
                  "'llama.attention.head_count_kv' must divide");
    refused_pairs((pair[]){{"block_count", 1},
                           {"embedding_length", 96},
                           {"attention.head_count", 4},
                           {"attention.head_count_kv", 3},
                           {0}},
                  "'llama.attention.head_count_kv' must divide");
}

static void test_types_and_lengths(void **state)
{
    (void)state;
    static const uint32_t heads[] = {2, 2, 2};
    gguf_build b;
    begin_arch(&b, "llama");
    gguf_key(&b, "llama.block_count", G_BOOL);
    rung_buf_putc(&b.keys, 1);
    put_pairs(&b, "llama", (pair[]){{"embedding_length", 64}, HEADS, {0}});
    refused_build(&b, "'llama.block_count' must be a whole number");
    begin_arch(&b, "llama");
    gguf_key(&b, "llama.block_count", G_F32);
    gguf_put_u32(&b.keys, 0x40000000); /* 2.0 */
    put_pairs(&b, "llama", (pair[]){{"embedding_length", 64}, HEADS, {0}});
    refused_build(&b, "'llama.block_count' must be a whole number");
    begin(&b, "llama", 2, (pair[]){{"attention.head_count", 4}, {0}});
    gguf_u32_list(&b, "llama.attention.head_count_kv", heads, 3);
    refused_build(&b, "has another number of values than there are layers");
}

static void test_names_and_what_follows_the_file(void **state)
{
    (void)state;
    size_t size;
    rung_ledger ledger;
    rung_error err = {{0}};
    gguf_build b;
    begin(&b, "lla\nma", 2, (pair[]){HEADS, {0}});
    refused_build(&b, "'general.architecture' is 'lla?ma'");
    begin(&b, "llama", 2, (pair[]){HEADS, {0}});
    uint8_t *bytes = gguf_end(&size, &b), *longer = malloc(size + 100);
    assert_non_null(longer);
    memcpy(longer, bytes, size);
    memset(longer + size, 'x', 100);
    assert_int_equal(rung_ledger_open_bytes(&ledger, longer, size + 100, "m.gguf", &err), RUNG_INPUT);
    assert_message(err, "m.gguf", "behind the last tensor");
    free(longer), free_odd(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_by_architecture),
        cmocka_unit_test(test_a_list_beats_the_architecture),
        cmocka_unit_test(test_a_list_must_agree_with_the_period),
        cmocka_unit_test(test_latents_that_are_not_kept),
        cmocka_unit_test(test_sizes_that_the_program_fixes),
        cmocka_unit_test(test_minimax_01_has_an_interval_of_its_own),
        cmocka_unit_test(test_minimax_m3_has_dense_layers_first),
        cmocka_unit_test(test_passes_are_entries),
        cmocka_unit_test(test_latents_of_windowed_layers),
        cmocka_unit_test(test_rwkv_with_key_and_value_heads),
        cmocka_unit_test(test_caches_that_an_architecture_shares),
        cmocka_unit_test(test_causality),
        cmocka_unit_test(test_what_is_not_known_establishes_nothing),
        cmocka_unit_test(test_numbers_that_contradict_each_other),
        cmocka_unit_test(test_types_and_lengths),
        cmocka_unit_test(test_names_and_what_follows_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
