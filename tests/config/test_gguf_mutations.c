/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Damaged GGUF headers: every key of every header is left out, misspelt, set to 0, or has the type float. Whatever
 * comes out is refused, or it holds as much as the original, or kinds are not established any more.
 */
#include "gguf_config_test.h"
#include "ledger_size.h"

#define USUAL                                                                                                          \
    {"block_count", 8}, {"context_length", 131072},                                                                    \
    {                                                                                                                  \
        "embedding_length", 64                                                                                         \
    }
#define HEADS                                                                                                          \
    {"attention.head_count", 4},                                                                                       \
    {                                                                                                                  \
        "attention.head_count_kv", 2                                                                                   \
    }
#define LENGTHS                                                                                                        \
    {"attention.key_length", 16},                                                                                      \
    {                                                                                                                  \
        "attention.value_length", 16                                                                                   \
    }
#define SSM                                                                                                            \
    {"ssm.inner_size", 128}, {"ssm.state_size", 16}, {"ssm.conv_kernel", 4},                                           \
    {                                                                                                                  \
        "ssm.group_count", 2                                                                                           \
    }
#define WINDOW                                                                                                         \
    {                                                                                                                  \
        "attention.sliding_window", 512                                                                                \
    }
#define LATENT                                                                                                         \
    {"attention.kv_lora_rank", 32}, {"rope.dimension_count", 8},                                                       \
    {                                                                                                                  \
        "attention.value_length_mla", 16                                                                               \
    }
#define SELECTS                                                                                                        \
    {"attention.indexer.top_k", 64},                                                                                   \
    {                                                                                                                  \
        "attention.indexer.key_length", 16                                                                             \
    }

enum { KEYS_MAX = 24 };

/* Keys after the name of the architecture. `zeros`: a list of key and value heads, 0 in all layers but each fourth. */
static const struct header {
    const char *arch;
    bool zeros;
    pair keys[KEYS_MAX];
} headers[] = {
    {"llama", false, {USUAL, HEADS, LENGTHS}},
    {"qwen2", false, {USUAL, HEADS}},
    {"gemma2", false, {USUAL, HEADS, LENGTHS, WINDOW}},
    {"gemma3", false, {USUAL, HEADS, LENGTHS, WINDOW}},
    {"gpt-oss", false, {USUAL, HEADS, LENGTHS, WINDOW}},
    {"laguna", false, {USUAL, HEADS, LENGTHS, WINDOW}},
    {"cohere2", false, {USUAL, HEADS, LENGTHS, WINDOW}},
    {"llama4", false, {USUAL, HEADS, LENGTHS, {"attention.sliding_window", 8192}}},
    {"deepseek2", false, {USUAL, {"attention.head_count", 4}, {"attention.head_count_kv", 1}, LATENT}},
    {"deepseek32", false, {USUAL, {"attention.head_count", 4}, {"attention.head_count_kv", 1}, LATENT, SELECTS}},
    {"minimax-m3", false, {USUAL, HEADS, LENGTHS, SELECTS, {"attention.indexer.block_size", 128}}},
    {"mamba", false, {USUAL, {"ssm.inner_size", 128}, {"ssm.state_size", 16}, {"ssm.conv_kernel", 4}}},
    {"mamba2", false, {USUAL, SSM}},
    {"falcon-h1", false, {USUAL, HEADS, LENGTHS, SSM}},
    {"qwen3next", false, {USUAL, HEADS, LENGTHS, SSM, {"full_attention_interval", 4}}},
    {"minimax-01", false, {USUAL, HEADS, LENGTHS, {"full_attention_interval", 8}}},
    {"rwkv7", false, {USUAL, {"wkv.head_size", 16}, {"token_shift_count", 2}}},
    {"nanbeige", false, {USUAL, HEADS, LENGTHS, {"num_loops", 2}}},
    {"jamba",
     true,
     {USUAL, {"attention.head_count", 4}, {"ssm.inner_size", 128}, {"ssm.state_size", 16}, {"ssm.conv_kernel", 4}}},
    {"granitehybrid", true, {USUAL, {"attention.head_count", 4}, SSM}},
    {"lfm2", true, {USUAL, {"attention.head_count", 4}, {"shortconv.l_cache", 3}}},
    {"kimi-linear", true, {USUAL, {"attention.head_count", 4}, LATENT, {"kda.head_dim", 16}, {"ssm.conv_kernel", 4}}},
};

typedef enum damage { NONE, LEFT_OUT, MISSPELT, ZEROED, A_FLOAT, DAMAGES } damage;

static void put_damaged(gguf_build *b, const struct header *h, const pair *at, damage how)
{
    char key[128];
    snprintf(key, sizeof key, "%s.%s%s", h->arch, at->key, how == MISSPELT ? "x" : "");
    if (how == A_FLOAT)
        gguf_key(b, key, G_F32), gguf_put_u32(&b->keys, 0x3f800000);
    else if (how != LEFT_OUT)
        gguf_u32(b, key, how == ZEROED ? 0 : at->value);
}

static uint8_t *build(size_t *size, const struct header *h, size_t damaged, damage how)
{
    gguf_build b;
    char key[128];
    begin_arch(&b, h->arch);
    for (size_t i = 0; h->keys[i].key; i++) put_damaged(&b, h, &h->keys[i], i == damaged ? how : NONE);
    snprintf(key, sizeof key, "%s.attention.head_count_kv", h->arch);
    if (h->zeros) gguf_u32_list(&b, key, (uint32_t[]){0, 0, 0, 2, 0, 0, 0, 2}, 8);
    return gguf_end(size, &b);
}

/* Fewer layers or passes, no window and no indexer are other models, and no key contradicts them. */
static bool is_another_model(const struct header *h, const char *key, damage how)
{
    bool looped = strcmp(key, "num_loops") == 0 && how == LEFT_OUT;
    return looped || (how == ZEROED && strcmp(key, "attention.sliding_window") == 0 && strcmp(h->arch, "llama4") != 0);
}

static void check(const struct header *h, size_t at, damage how, const rung_ledger *original)
{
    size_t size;
    rung_ledger ledger;
    rung_error err = {{0}};
    uint8_t *bytes = build(&size, h, at, how);
    rung_status status = rung_ledger_open_bytes(&ledger, bytes, size, "m.gguf", &err);
    free_odd(bytes);
    if (status) {
        assert_true(err.text[0]);
        return;
    }
    bool certain = ledger.known[RUNG_LEDGER_KINDS].is == RUNG_ESTABLISHED;
    if (certain && is_smaller(&ledger, original) && !is_another_model(h, h->keys[at].key, how))
        fail_msg("%s: with damage %d to '%s' it holds less in silence", h->arch, (int)how, h->keys[at].key);
    rung_ledger_clear(&ledger);
}

static void test_no_key_of_a_header_is_lost_in_silence(void **state)
{
    (void)state;
    for (size_t k = 0; k < RUNG_COUNT(headers); k++) {
        size_t size;
        rung_ledger original;
        rung_error err = {{0}};
        uint8_t *bytes = build(&size, &headers[k], 0, NONE);
        if (rung_ledger_open_bytes(&original, bytes, size, "m.gguf", &err))
            fail_msg("%s: %s", headers[k].arch, err.text);
        free_odd(bytes);
        if (original.known[RUNG_LEDGER_KINDS].is != RUNG_ESTABLISHED)
            fail_msg("%s: %s", headers[k].arch, original.known[RUNG_LEDGER_KINDS].why);
        for (size_t at = 0; headers[k].keys[at].key; at++)
            for (damage how = LEFT_OUT; how < DAMAGES; how++) check(&headers[k], at, how, &original);
        rung_ledger_clear(&original);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_key_of_a_header_is_lost_in_silence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
