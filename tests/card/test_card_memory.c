/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Bytes of real models worked out by hand, lengths against a search token by token, and variants.
 */
#include "testing.h"

#include "rung/card.h"

static const rung_arch_defaults small = {.heads = 2, .dk = 4, .dv = 4, .causal = true};
static const rung_card_numbers bf16 = {.kv_bits = 16, .state_bits = 16};

/* ---- subjects ---------------------------------------------------------------------------------------------------- */

typedef struct model {
    rung_ledger ledger;
    rung_subject *subject;
} model;

static void open_config(model *m, const char *json)
{
    CHECK(rung_ledger_open_bytes(&m->ledger, json, strlen(json), "m.json", &check_err));
    CHECK(rung_subject_layers(&m->subject, &m->ledger, &check_err));
}

static void close_config(model *m)
{
    rung_subject_free(m->subject);
    rung_ledger_clear(&m->ledger);
}

static const char qwen3_next[] =
    "{\"model_type\":\"qwen3_next\",\"hidden_size\":2048,\"num_hidden_layers\":48,\"full_attention_interval\":4,"
    "\"num_attention_heads\":16,\"num_key_value_heads\":2,\"head_dim\":256,\"linear_num_key_heads\":16,"
    "\"linear_num_value_heads\":32,\"linear_key_head_dim\":128,\"linear_value_head_dim\":128,"
    "\"linear_conv_kernel_dim\":4,\"max_position_embeddings\":262144,\"torch_dtype\":\"bfloat16\"}";
static const char kimi_linear[] =
    "{\"model_type\":\"kimi_linear\",\"hidden_size\":2304,\"num_hidden_layers\":27,\"num_attention_heads\":32,"
    "\"num_key_value_heads\":32,\"head_dim\":72,\"kv_lora_rank\":512,\"qk_nope_head_dim\":128,"
    "\"qk_rope_head_dim\":64,\"v_head_dim\":128,\"linear_attn_config\":{\"kda_layers\":[1,2,3,5,6,7,9,10,11,13,14,15,"
    "17,18,19,21,22,23,25,26],\"full_attn_layers\":[4,8,12,16,20,24,27],\"num_heads\":32,\"head_dim\":128,"
    "\"short_conv_kernel_size\":4},\"dtype\":\"bfloat16\"}";
static const char nemotron_h_56b[] =
    "{\"model_type\":\"nemotron_h\",\"hidden_size\":8192,\"num_hidden_layers\":118,\"expand\":2,"
    "\"mamba_num_heads\":256,\"mamba_head_dim\":64,\"ssm_state_size\":256,\"n_groups\":8,\"conv_kernel\":4,"
    "\"num_attention_heads\":64,\"num_key_value_heads\":8,\"attention_head_dim\":128,\"hybrid_override_pattern\":"
    "\"M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M"
    "-M-M-M-\",\"torch_dtype\":\"bfloat16\"}";
static const char gpt_oss_20b[] =
    "{\"model_type\":\"gpt_oss\",\"hidden_size\":2880,\"num_hidden_layers\":24,\"num_attention_heads\":64,"
    "\"num_key_value_heads\":8,\"head_dim\":64,\"sliding_window\":128,\"max_position_embeddings\":131072,"
    "\"layer_types\":[\"sliding_attention\",\"full_attention\",\"sliding_attention\",\"full_attention\","
    "\"sliding_attention\",\"full_attention\",\"sliding_attention\",\"full_attention\",\"sliding_attention\","
    "\"full_attention\",\"sliding_attention\",\"full_attention\",\"sliding_attention\",\"full_attention\","
    "\"sliding_attention\",\"full_attention\",\"sliding_attention\",\"full_attention\",\"sliding_attention\","
    "\"full_attention\",\"sliding_attention\",\"full_attention\",\"sliding_attention\",\"full_attention\"]}";

/* ---- real models ------------------------------------------------------------------------------------------------- */

typedef struct expected {
    const char *json;
    int kv_bits, state_bits;
    uint64_t cache, window, state, conv;
    uint64_t growth, break_even, dense;
} expected;

/* Of 131072 tokens. The state of the gated delta rule and of KDA is kept in 32 bits by the published code; that of
 * Nemotron-H has the dtype of the file. */
static const expected real[] = {
    /* 12 layers of 2 (256 + 256) numbers a token; 36 states of 32 128 128 and 3 (2 16 128 + 32 128) old inputs.
     * 36 (2097152 + 49152) / (36 2048) = 1048 */
    {qwen3_next, 16, 32, UINT64_C(3221225472), 0, UINT64_C(75497472), UINT64_C(1769472), 24576, 1048,
     UINT64_C(12884901888)},
    /* 7 latents of 512 + 64; 20 states of 32 128 128 and 3 3 32 128 old inputs. (2097152 + 73728) / 1152 = 1884.4 */
    {kimi_linear, 16, 32, UINT64_C(1056964608), 0, UINT64_C(41943040), UINT64_C(1474560), 8064, 1885,
     UINT64_C(4076863488)},
    /* 10 layers of 8 (128 + 128); 54 states of 256 64 256 and 3 (256 64 + 2 8 256) old inputs.
     * (8388608 + 122880) / 4096 = 2078 */
    {nemotron_h_56b, 16, 16, UINT64_C(5368709120), 0, UINT64_C(452984832), UINT64_C(6635520), 40960, 2078,
     UINT64_C(34359738368)},
    /* 12 layers of 8 (64 + 64), and 12 windows of 128 tokens, which never hold more than a full layer */
    {gpt_oss_20b, 16, 16, UINT64_C(3221225472), UINT64_C(3145728), 0, 0, 24576, 1, UINT64_C(6442450944)},
};

static void real_models_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(real); i++) {
        const expected *want = &real[i];
        rung_card_options options = {.context = 131072, .memory_only = true, .budget = UINT64_C(80) << 30};
        model m;
        rung_card card;
        open_config(&m, want->json);
        CHECK(rung_card_make(&card, m.subject, "m", &options, &check_err));
        assert_int_equal(card.numbers.kv_bits, want->kv_bits);
        assert_int_equal(card.numbers.state_bits, want->state_bits);
        assert_int_equal(card.held.cache, want->cache);
        assert_int_equal(card.held.window, want->window);
        assert_int_equal(card.held.state, want->state);
        assert_int_equal(card.held.conv, want->conv);
        assert_int_equal(card.held.total, want->cache + want->window + want->state + want->conv);
        assert_int_equal(card.read.total, card.held.total); /* nothing selects here */
        assert_int_equal(card.growth, want->growth);
        assert_int_equal(card.break_even, want->break_even);
        assert_true(card.dense.exists);
        assert_int_equal(card.dense.held.total, want->dense);
        assert_int_equal(card.budget_sequences, options.budget / card.held.total);
        rung_card_clear(&card);
        close_config(&m);
    }
}

static void formats_and_batches_scale(void **state)
{
    (void)state;
    rung_fmt e4m3, f32;
    model m;
    rung_card card;
    CHECK(rung_fmt_parse(&e4m3, "e4m3", &check_err));
    CHECK(rung_fmt_parse(&f32, "f32", &check_err));
    open_config(&m, nemotron_h_56b);
    rung_card_options options = {.context = 131072, .batch = 7, .kv = &e4m3, .state = &f32, .memory_only = true};
    CHECK(rung_card_make(&card, m.subject, "m", &options, &check_err));
    assert_int_equal(card.held.cache, UINT64_C(5368709120) / 2);
    assert_int_equal(card.held.conv, UINT64_C(6635520) / 2);
    assert_int_equal(card.held.state, UINT64_C(452984832) * 2);
    assert_int_equal(card.batch_held, 7 * card.held.total);
    assert_string_equal(card.numbers.kv_from, "asked for");
    rung_card_clear(&card);
    close_config(&m);
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

static const char *const archs[] = {"3*linear,full",         "2*gdelta,window:W=7,full", "window:W=5,window:W=33",
                                    "loglinear,full",        "loglinear,2*window:W=9",   "2*full",
                                    "mamba2,full@1|linear@1"};
enum { FAR = 600 };

static void held_never_falls(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(archs); i++) {
        rung_subject *s;
        uint64_t before = 0;
        CHECK(rung_subject_arch(&s, archs[i], &small, &check_err));
        for (uint64_t t = 0; t <= FAR; t++) {
            uint64_t now = rung_card_held_by(rung_subject_ledger(s), t, &bf16).total;
            assert_true(now >= before);
            before = now;
        }
        rung_subject_free(s);
    }
}

/* The levels of log-linear attention are the one-bits of a position; what is held is the most so far. */
static void levels_are_the_most_one_bits(void **state)
{
    (void)state;
    rung_subject *s;
    CHECK(rung_subject_arch(&s, "loglinear", &small, &check_err));
    const rung_ledger_layer *layer = &rung_subject_ledger(s)->layer[0];
    uint64_t most = 0;
    for (uint64_t t = 1; t <= FAR; t++) {
        uint64_t ones = (uint64_t)__builtin_popcountll(t);
        if (ones > most) most = ones;
        assert_int_equal(rung_card_held(layer, t, &bf16).state, most * layer->state_elements * 2);
    }
    rung_subject_free(s);
}

static uint64_t break_even_token_by_token(const rung_ledger *a, const rung_ledger *b)
{
    uint64_t from = 1;
    for (uint64_t t = 1; t <= FAR; t++)
        if (rung_card_held_by(a, t, &bf16).total > rung_card_held_by(b, t, &bf16).total) from = t + 1;
    return from > FAR ? 0 : from;
}

static void break_even_is_the_last_crossing(void **state)
{
    (void)state;
    size_t inside = 0;
    for (size_t i = 0; i < RUNG_COUNT(archs); i++)
        for (size_t j = 0; j < RUNG_COUNT(archs); j++) {
            rung_subject *a, *b;
            /* levels grow for ever, but too slowly for this search */
            if (strstr(archs[i], "loglinear") && !strstr(archs[j], "full") && i != j) continue;
            CHECK(rung_subject_arch(&a, archs[i], &small, &check_err));
            CHECK(rung_subject_arch(&b, archs[j], &small, &check_err));
            uint64_t want = break_even_token_by_token(rung_subject_ledger(a), rung_subject_ledger(b));
            uint64_t got = rung_card_break_even(rung_subject_ledger(a), rung_subject_ledger(b), &bf16);
            if (got > FAR) got = 0; /* they cross, but later than the search */
            if (got != want)
                fail_msg("%s against %s: %llu, not %llu", archs[i], archs[j], (unsigned long long)got,
                         (unsigned long long)want);
            inside += want > 1;
            rung_subject_free(a), rung_subject_free(b);
        }
    assert_true(inside > 8);
}

static void tokens_fill_a_budget(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(archs); i++)
        for (uint64_t budget = 1; budget < 20000; budget = budget * 2 + 3) {
            rung_subject *s;
            CHECK(rung_subject_arch(&s, archs[i], &small, &check_err));
            const rung_ledger *ledger = rung_subject_ledger(s);
            uint64_t tokens = rung_card_tokens_in(budget, 3, ledger, &bf16);
            if (tokens == UINT64_MAX)
                assert_true(3 * rung_card_held_by(ledger, UINT64_C(1) << 40, &bf16).total <= budget);
            else
                assert_true(3 * rung_card_held_by(ledger, tokens + 1, &bf16).total > budget);
            if (tokens && tokens != UINT64_MAX)
                assert_true(3 * rung_card_held_by(ledger, tokens, &bf16).total <= budget);
            rung_subject_free(s);
        }
}

/* ---- variants ---------------------------------------------------------------------------------------------------- */

static void assert_order(const rung_subject *s, const char *change, const char *order)
{
    rung_subject *other;
    rung_buf text;
    CHECK(rung_card_variant(&other, s, change, &check_err));
    rung_buf_init(&text);
    rung_ledger_order(&text, rung_subject_ledger(other));
    assert_string_equal(text.text, order);
    assert_int_equal(rung_subject_ledger(other)->layer_count, rung_subject_ledger(s)->layer_count);
    rung_buf_clear(&text);
    rung_subject_free(other);
}

static void variants_have_the_order_asked_for(void **state)
{
    (void)state;
    model m;
    open_config(&m, qwen3_next);
    assert_order(m.subject, "ratio=3:1", "12*(3*gdelta,full)");
    assert_order(m.subject, "ratio=7:1", "6*(7*gdelta,full)");
    assert_order(m.subject, "ratio=1:1", "24*(gdelta,full)");
    assert_order(m.subject, "ratio=0:1", "48*full");
    assert_order(m.subject, "dense", "48*full");
    assert_order(m.subject, "recurrent", "48*gdelta");
    assert_order(m.subject, "gdelta=mamba2", "12*(3*mamba2,full)");
    assert_order(m.subject, "gdelta=window:4096", "12*(3*window,full)");
    assert_order(m.subject, "full=window:64", "12*(3*gdelta,window)");
    close_config(&m);
    open_config(&m, nemotron_h_56b); /* layers without token mixing stay where they are */
    assert_order(m.subject, "ratio=1:0", "10*(3*(mamba2,mlp),2*mamba2,mlp,mamba2,mlp),4*(mamba2,mlp)");
    close_config(&m);
}

static void variants_keep_sizes(void **state)
{
    (void)state;
    model m;
    rung_subject *other;
    open_config(&m, qwen3_next);
    CHECK(rung_card_variant(&other, m.subject, "gdelta=mamba2", &check_err));
    assert_int_equal(rung_subject_ledger(other)->layer[0].state_elements, 32 * 128 * 128);
    rung_subject_free(other);
    CHECK(rung_card_variant(&other, m.subject, "gdelta=mamba2:1000", &check_err));
    assert_int_equal(rung_subject_ledger(other)->layer[0].state_elements, 1000);
    rung_subject_free(other);
    close_config(&m);
    open_config(&m, gpt_oss_20b);
    CHECK(rung_card_variant(&other, m.subject, "window=4096", &check_err));
    assert_int_equal(rung_subject_ledger(other)->layer[0].window_elements, 4096 * 8 * 128);
    assert_int_equal(rung_subject_ledger(other)->layer[0].window_size, 4096);
    assert_int_equal(rung_subject_ledger(other)->layer[1].kv_per_token, 8 * 128);
    rung_subject_free(other);
    close_config(&m);
}

static void changes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *change, *says;
    } cases[] = {{"ratio=7", "ratio=7:1"},
                 {"ratio=0:0", "ratio=7:1"},
                 {"ratio=99999:1", "ratio=7:1"},
                 {"window=4096", "has no windows"},
                 {"window=x", "no layer of m.json is 'window'"},
                 {"mamba2=gdelta", "its layers are 12*(3*gdelta,full)"},
                 {"gdelta=fulll", "no mechanism with a state"},
                 {"gdelta=mamba2:0", "elements of the state"},
                 {"gdelta=window:0", "tokens of the window"},
                 {"full=mamba2", "such as mamba2:524288"},
                 {"nonsense", "is no change"},
                 {"", "is no change"},
                 {"=", "is no change"}};
    model m;
    open_config(&m, qwen3_next);
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_subject *other;
        rung_error err = {{0}};
        assert_int_equal(rung_card_variant(&other, m.subject, cases[i].change, &err), RUNG_USAGE);
        assert_null(other);
        assert_message(err, cases[i].says);
    }
    close_config(&m);
}

/* Nothing is known of the block around a mechanism that the published code does not have. */
static void new_mechanisms_have_no_known_block(void **state)
{
    (void)state;
    static const char llama[] =
        "{\"model_type\":\"llama\",\"architectures\":[\"LlamaForCausalLM\"],\"hidden_size\":64,\"num_hidden_layers\":2,"
        "\"num_attention_heads\":2,\"num_key_value_heads\":2,\"vocab_size\":500,"
        "\"rope_theta\":10000.0,\"rms_norm_eps\":1e-5,\"torch_dtype\":\"bfloat16\"}";
    model m;
    rung_subject *same, *other;
    open_config(&m, llama);
    CHECK(rung_card_variant(&same, m.subject, "dense", &check_err));
    CHECK(rung_card_variant(&other, m.subject, "full=gdelta:512", &check_err));
    for (size_t f = 0; f < RUNG_BLOCK_FACTS; f++) {
        assert_int_equal(m.ledger.block.known[f].is, RUNG_ESTABLISHED);
        assert_int_equal(rung_subject_ledger(same)->block.known[f].is, RUNG_ESTABLISHED);
        assert_int_equal(rung_subject_ledger(other)->block.known[f].is, RUNG_NOT_ESTABLISHED);
    }
    rung_subject_free(same), rung_subject_free(other);
    close_config(&m);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void bytes_in_both_systems(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 B"},
                 {999, "999 B"},
                 {1000, "1.00 kB (1000 B)"},
                 {1536, "1.54 kB (1.50 KiB)"},
                 {UINT64_C(3221225472), "3.22 GB (3.00 GiB)"},
                 {999999, "1.00 MB (977 KiB)"},
                 {UINT64_MAX, "more than fits"}};
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_buf text;
        rung_buf_init(&text);
        rung_card_put_bytes(&text, cases[i].bytes);
        assert_string_equal(text.text, cases[i].text);
        rung_buf_clear(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_models_by_hand),
        cmocka_unit_test(formats_and_batches_scale),
        cmocka_unit_test(held_never_falls),
        cmocka_unit_test(levels_are_the_most_one_bits),
        cmocka_unit_test(break_even_is_the_last_crossing),
        cmocka_unit_test(tokens_fill_a_budget),
        cmocka_unit_test(variants_have_the_order_asked_for),
        cmocka_unit_test(variants_keep_sizes),
        cmocka_unit_test(changes_that_do_not_fit_are_refused),
        cmocka_unit_test(new_mechanisms_have_no_known_block),
        cmocka_unit_test(bytes_in_both_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
