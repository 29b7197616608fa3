/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Damaged configurations, more than eleven thousand. A key is left out, misspelt, written twice, moved into an object
 * of its own, set to null, 0, -1 or a text, its list loses an entry or all of them, or it gets another number. Whatever
 * comes out is refused, or it holds as much as the original, or kinds are not established any more, so that no theorem
 * applies. A note is not enough. Another number makes another model, which may hold less; then only the promises of a
 * ledger are checked.
 */
#include "ledger_size.h"

typedef struct member {
    const char *key;
    rung_buf value; /* JSON */
} member;

#define MEMBERS_MAX 128

/* The members of the text model, and what is around it. */
typedef struct document {
    member at[MEMBERS_MAX];
    size_t count;
    rung_buf around; /* "\"model_type\":...,\"text_config\":", or empty */
} document;

/* ---- text of a value ---- */

static void print_value(rung_buf *out, const rung_json *value)
{
    char room[RUNG_JSON_SCALAR_TEXT];
    rung_json_kind kind = rung_json_kind_of(value);
    if (kind == RUNG_JSON_STRING) {
        rung_buf_json_string(out, rung_json_string(value));
    } else if (kind == RUNG_JSON_ARRAY || kind == RUNG_JSON_OBJECT) {
        bool object = kind == RUNG_JSON_OBJECT;
        rung_buf_putc(out, object ? '{' : '[');
        for (size_t i = 0; i < rung_json_len(value); i++) {
            if (i) rung_buf_putc(out, ',');
            if (object) rung_buf_json_string(out, rung_json_key_at(value, i)), rung_buf_putc(out, ':');
            print_value(out, object ? rung_json_value_at(value, i) : rung_json_at(value, i));
        }
        rung_buf_putc(out, object ? '}' : ']');
    } else {
        rung_buf_puts(out, kind == RUNG_JSON_NULL ? "null" : rung_json_scalar_text(room, value));
    }
}

static void print_around(rung_buf *out, const rung_json *root)
{
    for (size_t i = 0; i < rung_json_len(root); i++) {
        if (strcmp(rung_json_key_at(root, i), "text_config") == 0) continue;
        rung_buf_json_string(out, rung_json_key_at(root, i));
        rung_buf_putc(out, ':');
        print_value(out, rung_json_value_at(root, i));
        rung_buf_putc(out, ',');
    }
    rung_buf_puts(out, "\"text_config\":");
}

static void split(document *out, const rung_json *root)
{
    const rung_json *inner = rung_json_get(root, "text_config");
    rung_buf_init(&out->around);
    if (inner) print_around(&out->around, root);
    root = inner ? inner : root;
    out->count = rung_json_len(root);
    assert_true(out->count < MEMBERS_MAX);
    for (size_t i = 0; i < out->count; i++) {
        out->at[i].key = rung_json_key_at(root, i);
        rung_buf_init(&out->at[i].value);
        print_value(&out->at[i].value, rung_json_value_at(root, i));
    }
}

static void clear(document *doc)
{
    for (size_t i = 0; i < doc->count; i++) rung_buf_clear(&doc->at[i].value);
    rung_buf_clear(&doc->around);
}

/* ---- damage ---- */

typedef enum damage {
    LEFT_OUT,
    MISSPELT,
    NESTED,
    NULLED,
    ZEROED,
    NEGATED,
    A_TEXT,
    A_FLAG,
    SHORTER,
    EMPTIED,
    TWICE,
    OTHER_NUMBER,
    DAMAGES,
    EXACT = TWICE, /* before this one: the same model, with a fault in it */
} damage;

static const char *const damage_names[] = {"left out", "misspelt", "nested",      "null",    "0",     "-1",
                                           "a text",   "false",    "one shorter", "emptied", "twice", "another number"};

/* The text of a list without its last entry, or of the value itself. */
static void put_shorter(rung_buf *out, const char *value)
{
    size_t depth = 0, cut = 0;
    for (size_t i = 0; value[0] == '[' && value[i]; i++) {
        if (value[i] == '[' || value[i] == '{') depth++;
        if (value[i] == ']' || value[i] == '}') depth--;
        if (value[i] == ',' && depth == 1) cut = i;
    }
    rung_buf_printf(out, "%.*s%s", cut ? (int)cut : (int)strlen(value), value, cut ? "]" : "");
}

/* What stands in the place of a value. */
static void put_value(rung_buf *out, const char *value, damage how, uint64_t number)
{
    static const char *const texts[DAMAGES] = {
        [NULLED] = "null", [ZEROED] = "0", [NEGATED] = "-1", [A_TEXT] = "\"none\"", [A_FLAG] = "false"};
    if (how == OTHER_NUMBER)
        rung_buf_printf(out, "%llu", (unsigned long long)number);
    else if (how == SHORTER)
        put_shorter(out, value);
    else if (how == EMPTIED)
        rung_buf_puts(out, value[0] == '[' ? "[]" : value[0] == '{' ? "{}" : value[0] == '"' ? "\"\"" : value);
    else if (how == NESTED)
        rung_buf_printf(out, "{\"value\":%s}", value);
    else
        rung_buf_puts(out, texts[how] ? texts[how] : value);
}

static void put(rung_buf *out, const char *key, const char *suffix)
{
    if (out->text[out->len - 1] != '{') rung_buf_putc(out, ',');
    rung_buf_printf(out, "\"%s%s\":", key, suffix);
}

static void write_damaged(rung_buf *out, const document *doc, size_t at, damage how, uint64_t number)
{
    if (doc->around.len) rung_buf_printf(out, "{%s", doc->around.text);
    rung_buf_putc(out, '{');
    for (size_t i = 0; i < doc->count; i++) {
        const char *value = doc->at[i].value.text;
        if (i != at || how == TWICE) put(out, doc->at[i].key, ""), rung_buf_puts(out, value);
        if (i != at || how == LEFT_OUT) continue;
        put(out, doc->at[i].key, how == MISSPELT ? "x" : "");
        put_value(out, value, how, number);
    }
    rung_buf_puts(out, doc->around.len ? "}}" : "}");
}

/* ---- what must hold ---- */

/* Files that are whole without the key. A text model inside another one leaves to its class what the class says, a
 * class may have a pattern of its own, and without `attn` or with an empty `ssm_cfg` a model has no attention or the
 * first kind of state space. */
static bool is_told_by_a_class(const char *file, const char *key, damage how)
{
    static const struct {
        const char *file, *keys;
    } told[] = {
        {"deltanet_hybrid", " attn "},
        {"embedding_gemma", " layer_types "},
        {"gemma3", " num_hidden_layers "},
        {"gemma3n", " num_kv_shared_layers "},
        {"gemma4", " num_attention_heads num_key_value_heads sliding_window "},
        {"mamba3_ssm", " ssm_cfg "},
        {"mamba_ssm", " ssm_cfg "},
        {"mamba_ssm_conv", " ssm_cfg "},
        {"mllama", " hidden_size "},
        {"qwen3_5", " linear_num_value_heads num_attention_heads "},
    };
    char word[64];
    bool emptied = how == EMPTIED && strcmp(key, "ssm_cfg") == 0;
    bool absent = (how == LEFT_OUT || how == NULLED) && strcmp(key, "ssm_cfg") != 0;
    snprintf(word, sizeof word, " %s ", key);
    for (size_t i = 0; (absent || emptied) && i < RUNG_COUNT(told); i++)
        if (strcmp(told[i].file, file) == 0 && strstr(told[i].keys, word)) return true;
    return false;
}

/* A flag that is switched off, fewer entries in a list of layer numbers or of a period, or windows from layer 0 on make
 * another model, and nothing in the file contradicts it. */
static bool is_another_model(const char *file, const member *at, damage how)
{
    static const char *const lists[] = {"attn_layer_indices",    "attn",        "full_attn_idxs",  "attn_layer_idx",
                                        "sliding_window_layers", "block_types", "global_attn_idx", "local_layer_ids"};
    bool flag = strcmp(at->value.text, "true") == 0 || strcmp(at->value.text, "false") == 0;
    if (how == TWICE) return false;
    if (how == OTHER_NUMBER || is_told_by_a_class(file, at->key, how)) return true;
    if (flag && (how == ZEROED || how == A_FLAG)) return true;
    if (how == ZEROED && strcmp(at->key, "max_window_layers") == 0) return true;
    if (how == ZEROED && strcmp(at->key, "first_k_dense_replace") == 0) return true;
    for (size_t i = 0; how == SHORTER && i < RUNG_COUNT(lists); i++)
        if (strcmp(lists[i], at->key) == 0) return true;
    return false;
}

static void check_damaged(const char *file, const rung_ledger *original, const rung_buf *text, const member *at,
                          damage how)
{
    rung_ledger ledger;
    rung_error err = {{0}};
    if (rung_ledger_open_bytes(&ledger, text->text, text->len, "m.json", &err)) {
        assert_true(err.text[0]);
        return;
    }
    if (how == TWICE) fail_msg("%s: '%s' twice is accepted", file, at->key);
    for (size_t f = 0; f < RUNG_LEDGER_FACTS; f++) assert_non_null(ledger.known[f].why);
    bool certain = ledger.known[RUNG_LEDGER_KINDS].is == RUNG_ESTABLISHED;
    if (!is_another_model(file, at, how) && certain && is_smaller(&ledger, original))
        fail_msg("%s: with '%s' %s it holds less, and kinds are established", file, at->key, damage_names[how]);
    rung_ledger_clear(&ledger);
}

/* Every kind of damage to keys drawn at random. */
static void damage_fixture(const char *name, size_t times, uint64_t index)
{
    rung_json_doc *json;
    rung_error err = {{0}};
    rung_ledger original;
    rung_rng rng;
    document doc;
    assert_int_equal(rung_json_open_python(&json, config_fixture(name), &err), RUNG_OK);
    if (rung_ledger_open(&original, config_fixture(name), &err)) fail_msg("%s", err.text);
    split(&doc, rung_json_root(json));
    rung_rng_init(&rng, 20, 26, index);
    for (size_t i = 0; i < times; i++) {
        rung_buf text;
        size_t at = rung_rng_below(&rng, doc.count);
        damage how = (damage)(i % DAMAGES);
        rung_buf_init(&text);
        write_damaged(&text, &doc, at, how, rung_rng_below(&rng, 200));
        check_damaged(name, &original, &text, &doc.at[at], how);
        rung_buf_clear(&text);
    }
    clear(&doc);
    rung_ledger_clear(&original);
    rung_json_free(json);
}

/* Each key of each fixture with each fault, one by one. */
static void damage_every_key(const char *name)
{
    rung_json_doc *json;
    rung_error err = {{0}};
    rung_ledger original;
    document doc;
    assert_int_equal(rung_json_open_python(&json, config_fixture(name), &err), RUNG_OK);
    if (rung_ledger_open(&original, config_fixture(name), &err)) fail_msg("%s", err.text);
    split(&doc, rung_json_root(json));
    for (size_t at = 0; at < doc.count; at++)
        for (damage how = LEFT_OUT; how < EXACT; how++) {
            rung_buf text;
            rung_buf_init(&text);
            write_damaged(&text, &doc, at, how, 0);
            check_damaged(name, &original, &text, &doc.at[at], how);
            rung_buf_clear(&text);
        }
    clear(&doc);
    rung_ledger_clear(&original);
    rung_json_free(json);
}

static void one_by_one(const char *name, size_t index)
{
    (void)index;
    damage_every_key(name);
}

enum { EACH = 24 };

static void at_random(const char *name, size_t index)
{
    damage_fixture(name, EACH, index);
}

static void test_no_key_is_lost_in_silence(void **state)
{
    (void)state;
    assert_true(for_every_fixture(one_by_one) > 0);
}

static void test_two_thousand_damaged_files(void **state)
{
    (void)state;
    assert_true(for_every_fixture(at_random) * EACH >= 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_key_is_lost_in_silence),
        cmocka_unit_test(test_two_thousand_damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
