/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The routes of the explorer without a connection: what it shows is what the library computes, bad requests are refused by
 * name, and bytes of files are read as the readers of files read them.
 */
#include "../../src/explore/look.h"
#include "testing.h"

typedef struct asked {
    rung_explorer *explorer;
    rung_service_reply reply;
    rung_json_doc *doc;
} asked;

static void open_explorer(asked *a, const char *const *input, size_t inputs)
{
    *a = (asked){0};
    const rung_explorer_options options = {.input = input, .inputs = inputs, .heads = 2, .head_dim = 4};
    CHECK(rung_explorer_new(&a->explorer, &options, &check_err));
}

static void forget(asked *a)
{
    rung_json_free(a->doc);
    a->doc = NULL;
    rung_service_reply_clear(&a->reply);
}

static void close_explorer(asked *a)
{
    forget(a);
    rung_explorer_free(a->explorer);
}

static void ask(asked *a, const char *method, const char *path, const char *body)
{
    const rung_service_request request = {.method = method, .path = path, .body = body, .body_len = strlen(body)};
    forget(a);
    rung_explorer_answer(&a->reply, a->explorer, &request);
}

/* The document of a reply to POST /look. */
static const rung_json *look(asked *a, const char *body, unsigned status)
{
    ask(a, "POST", "/look", body);
    CHECK(rung_json_parse(&a->doc, a->reply.body.text, a->reply.body.len, "reply", &check_err));
    const rung_json *root = rung_json_root(a->doc);
    if (a->reply.status != status) fail_msg("%s: status %u, %s", body, a->reply.status, a->reply.body.text);
    return root;
}

static const rung_json *at(const rung_json *value, const char *const *path)
{
    for (; *path; path++) value = rung_json_get(value, *path);
    return value;
}
#define AT(value, ...) at(value, (const char *[]){__VA_ARGS__, NULL})

static int64_t number(const rung_json *value)
{
    int64_t n = -1;
    assert_true(rung_json_int(&n, value));
    return n;
}

static void routes_and_methods(void **state)
{
    (void)state;
    asked a;
    open_explorer(&a, (const char *[]){"full,3*linear"}, 1);
    ask(&a, "GET", "/", "");
    assert_int_equal(a.reply.status, 200);
    assert_string_equal(a.reply.type, "text/html; charset=utf-8");
    assert_non_null(strstr(a.reply.security, "default-src 'none'"));
    assert_non_null(strstr(a.reply.body.text, a.explorer->nonce));
    ask(&a, "GET", "/inputs", "");
    assert_non_null(strstr(a.reply.body.text, "\"inputs\":[\"full,3*linear\"]"));
    ask(&a, "GET", "/look", "");
    assert_int_equal(a.reply.status, 405);
    assert_string_equal(a.reply.allow, "POST");
    ask(&a, "POST", "/", "");
    assert_int_equal(a.reply.status, 405);
    ask(&a, "GET", "/etc/passwd", "");
    assert_int_equal(a.reply.status, 404);
    close_explorer(&a);
}

/* One full layer of 2 heads of 4: 16 numbers of 2 bytes for each of 1024 tokens. One linear layer: 2 x 4 x 5 numbers. */
static void numbers_are_those_of_the_library(void **state)
{
    (void)state;
    asked a;
    open_explorer(&a, NULL, 0);
    const rung_json *d = look(&a,
                              "{\"arch\":\"full,linear\",\"context\":1024,\"kv\":\"bf16\",\"state\":\"f32\","
                              "\"task\":\"seqcomp L=2\",\"n\":1099511627776,\"bits\":16}",
                              200);
    assert_int_equal(number(AT(d, "card", "memory", "held_by_one_sequence", "cache_bytes")), 1024 * 16 * 2);
    assert_int_equal(number(AT(d, "card", "memory", "held_by_one_sequence", "state_bytes")), 2 * 4 * 5 * 4);
    assert_int_equal(rung_json_len(AT(d, "mechanisms")), 2);
    const rung_json *held = AT(d, "held_bytes_by_context", "these_layers"),
                    *dense = AT(d, "held_bytes_by_context", "dense_equivalent");
    assert_int_equal(rung_json_len(held), rung_json_len(AT(d, "held_bytes_by_context", "tokens")));
    assert_int_equal(number(rung_json_at(held, 2)), 1024 * 32 + 160); /* 2^10 tokens */
    assert_int_equal(number(rung_json_at(dense, 2)), 2 * 1024 * 32);
    assert_string_equal(rung_json_string(AT(d, "claim", "verdict")), "CANNOT");
    assert_string_equal(rung_json_string(AT(d, "claim", "by")), "B0");
    assert_string_equal(rung_json_string(AT(d, "commands", "bound")),
                        "rung bound full,linear --heads 2 --head-dim 4 --bits 16 --task seqcomp L=2 --n 1099511627776 "
                        "--no-weights");
    close_explorer(&a);
}

static void a_change_is_shown_beside_what_was(void **state)
{
    (void)state;
    asked a;
    open_explorer(&a, (const char *[]){"4*(3*linear,full)"}, 1);
    const rung_json *d = look(&a, "{\"input\":0,\"set\":\"ratio=1:1\",\"context\":4096}", 200);
    assert_int_equal(number(AT(d, "card", "layers", "full")), 8);
    assert_non_null(AT(d, "held_bytes_by_context", "without_the_change"));
    assert_int_equal(rung_json_len(AT(d, "held_bytes_by_context", "without_the_change")), 15);
    assert_string_equal(rung_json_string(AT(d, "commands", "card")),
                        "rung card '4*(3*linear,full)' --context 4096 --set ratio=1:1");
    assert_null(rung_json_string(AT(d, "commands", "bound")));
    close_explorer(&a);
}

/* {"model_type":"llama","num_hidden_layers":2,...} in base64, as a page sends it. */
static void bytes_of_a_file_are_read(void **state)
{
    (void)state;
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char config[] =
        "{\"model_type\":\"llama\",\"architectures\":[\"LlamaForCausalLM\"],\"num_hidden_layers\":2,\"hidden_size\":64,"
        "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"vocab_size\":100,\"torch_dtype\":\"bfloat16\"}";
    char coded[sizeof config * 2] = "", body[sizeof coded + 200];
    size_t n = 0;
    for (size_t i = 0; i < sizeof config - 1; i += 3) {
        uint32_t word = (uint32_t)(uint8_t)config[i] << 16;
        size_t left = sizeof config - 1 - i;
        if (left > 1) word |= (uint32_t)(uint8_t)config[i + 1] << 8;
        if (left > 2) word |= (uint8_t)config[i + 2];
        for (size_t k = 0; k < 4; k++) coded[n++] = k > left ? '=' : digits[word >> (18 - 6 * k) & 63];
    }
    snprintf(body, sizeof body, "{\"file\":{\"name\":\"<b>.json\",\"base64\":\"%s\"},\"context\":1000}", coded);
    asked a;
    open_explorer(&a, NULL, 0);
    const rung_json *d = look(&a, body, 200);
    assert_string_equal(rung_json_string(AT(d, "name")), "<b>.json");
    assert_int_equal(number(AT(d, "card", "memory", "held_by_one_sequence", "cache_bytes")), 2 * 1000 * 2 * 2 * 16 * 2);
    assert_string_equal(rung_json_string(AT(d, "commands", "card")), "rung card '<b>.json' --context 1000");
    close_explorer(&a);
}

static void bad_requests_name_the_field(void **state)
{
    (void)state;
    static const struct {
        const char *body, *message;
    } cases[] = {
        {"", "the request"},
        {"[]", "must be an object"},
        {"{}", "one of input, arch and file"},
        {"{\"arch\":\"full\",\"input\":0}", "without inputs"},
        {"{\"arch\":7}", "arch: a text"},
        {"{\"arch\":\"nonsense\"}", "nonsense"},
        {"{\"arch\":\"full\",\"context\":0}", "context: a whole number from 1"},
        {"{\"arch\":\"full\",\"context\":1.5}", "context"},
        {"{\"arch\":\"full\",\"heads\":-1}", "heads"},
        {"{\"arch\":\"full\",\"kv\":\"fp7\"}", "kv"},
        {"{\"arch\":\"full\",\"task\":\"nonsense\"}", "nonsense"},
        {"{\"arch\":\"full\",\"set\":\"nonsense\"}", "nonsense"},
        {"{\"file\":{\"name\":\"x\"}}", "file: needs a name"},
        {"{\"file\":{\"name\":\"x\",\"base64\":\"a?\"}}", "base64: character 2"},
        {"{\"file\":{\"name\":\"x\",\"base64\":\"aaaaa\"}}", "cut short"},
        {"{\"file\":{\"name\":\"x\",\"base64\":\"aa==aa\"}}", "padding"},
        {"{\"file\":{\"name\":\"x.json\",\"base64\":\"e30=\"}}", "x.json"},
    };
    asked a;
    open_explorer(&a, NULL, 0);
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        const rung_json *d = look(&a, cases[i].body, 400);
        const char *message = rung_json_string(AT(d, "message"));
        assert_non_null(message);
        if (!strstr(message, cases[i].message)) fail_msg("%s: %s", cases[i].body, message);
    }
    close_explorer(&a);
}

static void base64_is_decoded(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"", ""},
                                           {"Zg==", "f"},
                                           {"Zg", "f"},
                                           {"Zm8=", "fo"},
                                           {"Zm9v", "foo"},
                                           {"Zm9vYg==", "foob"},
                                           {"+/+/", "\xfb\xff\xbf"},
                                           {"Zm9vYmFy", "foobar"}};
    for (size_t i = 0; i < RUNG_COUNT(pairs); i++) {
        rung_buf out;
        rung_buf_init(&out);
        CHECK(explore_base64(&out, pairs[i][0], &check_err));
        assert_int_equal(out.len, strlen(pairs[i][1]));
        assert_memory_equal(out.text ? out.text : "", pairs[i][1], out.len);
        rung_buf_clear(&out);
    }
}

static void words_are_quoted_for_a_shell(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"full,linear", "full,linear"},
                                           {"4*full", "'4*full'"},
                                           {"", "''"},
                                           {"it's", "'it'\\''s'"},
                                           {"$(rm x)", "'$(rm x)'"}};
    for (size_t i = 0; i < RUNG_COUNT(pairs); i++) {
        rung_buf out;
        rung_buf_init(&out);
        explore_put_word(&out, pairs[i][0]);
        assert_string_equal(out.text, pairs[i][1]);
        rung_buf_clear(&out);
    }
}

static void inputs_that_cannot_be_read_are_said(void **state)
{
    (void)state;
    rung_explorer *explorer = NULL;
    rung_error err;
    const rung_explorer_options options = {
        .input = (const char *[]){"full", "no-such-layer"}, .inputs = 2, .heads = 1, .head_dim = 1};
    assert_int_equal(rung_explorer_new(&explorer, &options, &err), RUNG_USAGE);
    assert_null(explorer);
    assert_message(err, "no file has this name", "no-such-layer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_and_methods),
        cmocka_unit_test(numbers_are_those_of_the_library),
        cmocka_unit_test(a_change_is_shown_beside_what_was),
        cmocka_unit_test(bytes_of_a_file_are_read),
        cmocka_unit_test(bad_requests_name_the_field),
        cmocka_unit_test(base64_is_decoded),
        cmocka_unit_test(words_are_quoted_for_a_shell),
        cmocka_unit_test(inputs_that_cannot_be_read_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
