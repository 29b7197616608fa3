/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Replies in the shapes of vLLM, SGLang, llama.cpp's server and OpenAI, and in shapes that nobody should send.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rung/probe.h"

static const char vllm_completion[] =
    "{\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"created\":1,\"model\":\"Qwen/"
    "Qwen3\",\"choices\":[{\"index\":0,"
    "\"text\":\" stone\",\"logprobs\":{\"text_offset\":[0],\"token_logprobs\":[-0.25],\"tokens\":[\" stone\"],"
    "\"top_logprobs\":[{\" stone\":-0.25,\" "
    "river\":-1.75,\"\\n\":-4.0}]},\"finish_reason\":\"length\",\"stop_reason\":null,"
    "\"prompt_logprobs\":null}],\"usage\":{\"prompt_tokens\":41,\"total_tokens\":42,\"completion_tokens\":1,"
    "\"prompt_tokens_details\":null},\"system_fingerprint\":\"vllm-0.11\"}";
static const char sglang_completion[] = "{\"id\":\"a\",\"object\":\"text_completion\",\"created\":1,\"model\":"
                                        "\"default\",\"choices\":[{\"index\":0,\"text\":\" stone\","
                                        "\"logprobs\":{\"text_offset\":[],\"token_logprobs\":[-0.25],\"tokens\":[\" "
                                        "stone\"],\"top_logprobs\":[{\" river\":-1.75,"
                                        "\" "
                                        "stone\":-0.25}]},\"finish_reason\":\"length\",\"matched_stop\":null}],"
                                        "\"usage\":{\"prompt_tokens\":41,\"total_tokens\":42,"
                                        "\"completion_tokens\":1,\"prompt_tokens_details\":null}}";
static const char llama_completion[] =
    "{\"choices\":[{\"text\":\" stone\",\"index\":0,\"logprobs\":{\"content\":[{\"id\":9,\"token\":\" "
    "stone\",\"bytes\":[32,115],"
    "\"logprob\":-0.25,\"top_logprobs\":[{\"id\":9,\"token\":\" "
    "stone\",\"bytes\":[32],\"logprob\":-0.25},{\"id\":8,\"token\":"
    "\" "
    "river\",\"bytes\":[32],\"logprob\":-1.75}]}]},\"finish_reason\":\"length\"}],\"created\":1,\"model\":\"m.gguf\","
    "\"system_fingerprint\":\"b6000\",\"object\":\"text_completion\",\"usage\":{\"completion_tokens\":1,\"prompt_"
    "tokens\":41,"
    "\"total_tokens\":42},\"truncated\":false,\"timings\":{\"prompt_n\":41}}";
static const char chat[] =
    "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{"
    "\"role\":"
    "\"assistant\",\"content\":\" "
    "stone\",\"refusal\":null,\"reasoning_content\":null,\"tool_calls\":[]},\"logprobs\":{\"content\":[{"
    "\"token\":\" stone\",\"logprob\":-0.25,\"bytes\":[1],\"top_logprobs\":[{\"token\":\" "
    "stone\",\"logprob\":-0.25,\"bytes\":null},"
    "{\"token\":\" "
    "river\",\"logprob\":-1.75,\"bytes\":null}]}]},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":41,"
    "\"completion_tokens\":1}}";

static void every_server_says_the_same(void **state)
{
    (void)state;
    const char *const bodies[] = {vllm_completion, sglang_completion, llama_completion, chat};
    for (size_t i = 0; i < RUNG_COUNT(bodies); i++) {
        rung_reply r;
        rung_error err;
        assert_int_equal(rung_reply_parse(&r, bodies[i], strlen(bodies[i]), &err), RUNG_OK);
        assert_string_equal(r.text, " stone");
        assert_string_equal(r.reasoning, "");
        assert_string_equal(r.finish, "length");
        assert_int_equal(r.prompt_tokens, 41);
        assert_int_equal(r.completion_tokens, 1);
        assert_false(r.truncated);
        assert_true(r.logprobs);
        assert_true(r.tops >= 2); /* the generated one is not counted twice */
        assert_string_equal(r.top[0].text, " stone");
        assert_true(r.top[0].logprob == -0.25);
        assert_string_equal(r.top[1].text, " river");
        assert_true(r.top[1].logprob == -1.75);
        rung_reply_clear(&r);
    }
}

static rung_status parse(rung_reply *r, const char *body, rung_error *err)
{
    return rung_reply_parse(r, body, strlen(body), err);
}

#define CHOICE(inside) "{\"choices\": [{" inside "}]}"

static void thoughts_and_cuts_are_seen(void **state)
{
    (void)state;
    rung_reply r;
    rung_error err;
    assert_int_equal(parse(&r, CHOICE("\"message\": {\"content\": null, \"reasoning_content\": \"Hm\"}"), &err),
                     RUNG_OK);
    assert_string_equal(r.reasoning, "Hm");
    assert_string_equal(r.text, "");
    assert_false(r.logprobs);
    assert_int_equal(r.prompt_tokens, -1);
    rung_reply_clear(&r);
    assert_int_equal(parse(&r, CHOICE("\"message\": {\"content\": \"\", \"reasoning\": \"Hm\"}"), &err), RUNG_OK);
    assert_string_equal(r.reasoning, "Hm");
    rung_reply_clear(&r);
    assert_int_equal(parse(&r, "{\"truncated\": true, \"choices\": [{\"text\": \"\"}]}", &err), RUNG_OK);
    assert_true(r.truncated);
    rung_reply_clear(&r);
}

static void wrong_shapes_are_refused_with_their_reason(void **state)
{
    (void)state;
    static const struct {
        const char *body, *words;
    } bad[] = {
        {"", "reply"},
        {"[]", "choices"},
        {"{}", "choices"},
        {"{\"choices\": []}", "choices"},
        {"{\"choices\": {}}", "choices"},
        {"{\"choices\": [7]}", "choices"},
        {CHOICE(""), "neither"},
        {CHOICE("\"text\": 5"), "not a string"},
        {CHOICE("\"message\": {\"content\": [1]}"), "not a string"},
        {CHOICE("\"text\": \"a\", \"logprobs\": {\"tokens\": [\"a\"], \"token_logprobs\": [NaN]}"), "not a number"},
        {CHOICE("\"text\": \"a\", \"logprobs\": {\"top_logprobs\": [{\"a\": \"-1\"}]}"), "not a number"},
        {CHOICE("\"text\": \"a\", \"logprobs\": {\"top_logprobs\": [{\"a\": 0.5}]}"), "probabilities"},
        {CHOICE("\"text\": \"a\", \"logprobs\": {\"content\": [{\"token\": \"a\", \"logprob\": Infinity}]}"),
         "must be at most 0"},
    };
    for (size_t i = 0; i < RUNG_COUNT(bad); i++) {
        rung_reply r;
        rung_error err = {{0}};
        rung_status status = parse(&r, bad[i].body, &err);
        if (status != RUNG_INPUT || !strstr(err.text, bad[i].words)) print_error("%s: %s\n", bad[i].body, err.text);
        assert_int_equal(status, RUNG_INPUT);
        assert_non_null(strstr(err.text, bad[i].words));
        rung_reply_clear(&r);
    }
}

static void odd_but_legal_replies_are_taken(void **state)
{
    (void)state;
    rung_reply r;
    rung_error err;
    /* -Infinity is a probability of 0; lists of other types are no log-probabilities at all. */
    assert_int_equal(
        parse(&r, CHOICE("\"text\": \"a\", \"logprobs\": {\"top_logprobs\": [{\"a\": -Infinity, \"b\": -1}]}"), &err),
        RUNG_OK);
    assert_int_equal(r.tops, 2);
    assert_string_equal(r.top[0].text, "b");
    rung_reply_clear(&r);
    static const char *const without[] = {
        CHOICE("\"text\": \"a\", \"logprobs\": null"),
        CHOICE("\"text\": \"a\", \"logprobs\": 3"),
        CHOICE("\"text\": \"a\", \"logprobs\": {\"content\": []}"),
        CHOICE("\"text\": \"a\", \"logprobs\": {\"content\": null}"),
        CHOICE("\"text\": \"a\", \"logprobs\": {\"top_logprobs\": [[1]]}"),
        CHOICE("\"text\": \"a\", \"logprobs\": {\"tokens\": [1], \"token_logprobs\": [-1]}")};
    for (size_t i = 0; i < RUNG_COUNT(without); i++) {
        assert_int_equal(parse(&r, without[i], &err), RUNG_OK);
        assert_false(r.logprobs);
        rung_reply_clear(&r);
    }
}

/* More options than are read: the generated token comes first and is never lost. */
static void many_options_are_bounded(void **state)
{
    (void)state;
    rung_buf body;
    rung_reply r;
    rung_error err;
    rung_buf_init(&body);
    rung_buf_puts(&body,
                  "{\"choices\": [{\"text\": \"x\", \"logprobs\": {\"tokens\": [\"x\"], \"token_logprobs\": [-9], "
                  "\"top_logprobs\": [{");
    for (int i = 0; i < 500; i++) rung_buf_printf(&body, "%s\"t%d\": %d", i ? ", " : "", i, -10 - i);
    rung_buf_puts(&body, "}]}}]}");
    assert_int_equal(parse(&r, body.text, &err), RUNG_OK);
    assert_int_equal(r.tops, RUNG_REPLY_TOP);
    assert_string_equal(r.top[0].text, "x");
    rung_reply_clear(&r);
    rung_buf_clear(&body);
}

static void tokens_in_every_shape(void **state)
{
    (void)state;
    size_t count, most;
    rung_error err;
    const char vllm[] = "{\"count\":3,\"max_model_len\":4096,\"tokens\":[1,2,3],\"token_strs\":null}";
    const char llama[] = "{\"tokens\":[{\"id\":1,\"piece\":\" a\"},{\"id\":2,\"piece\":\" b\"}]}";
    const char bare[] = "{\"count\": 5}";
    assert_int_equal(rung_reply_tokens(&count, &most, vllm, strlen(vllm), &err), RUNG_OK);
    assert_int_equal(count, 3);
    assert_int_equal(most, 4096);
    assert_int_equal(rung_reply_tokens(&count, &most, llama, strlen(llama), &err), RUNG_OK);
    assert_int_equal(count, 2);
    assert_int_equal(most, 0);
    assert_int_equal(rung_reply_tokens(&count, &most, bare, strlen(bare), &err), RUNG_OK);
    assert_int_equal(count, 5);
    assert_int_equal(rung_reply_tokens(&count, &most, "{\"count\": -1}", 13, &err), RUNG_INPUT);
    assert_int_equal(rung_reply_tokens(&count, &most, "[1,2]", 5, &err), RUNG_INPUT);
}

static void models_are_found(void **state)
{
    (void)state;
    bool found;
    size_t most;
    rung_error err;
    rung_buf names;
    rung_buf_init(&names);
    const char body[] =
        "{\"object\":\"list\",\"data\":[{\"id\":\"a\",\"max_model_len\":77},7,{\"id\":\"b\",\"meta\":{\"n_ctx\":9}}]}";
    assert_int_equal(rung_reply_models(&found, &most, &names, "b", body, strlen(body), &err), RUNG_OK);
    assert_true(found);
    assert_int_equal(most, 9);
    assert_string_equal(names.text, "a, b");
    rung_buf_reset(&names);
    assert_int_equal(rung_reply_models(&found, &most, &names, "c", body, strlen(body), &err), RUNG_OK);
    assert_false(found);
    assert_int_equal(rung_reply_models(&found, &most, &names, "c", "{}", 2, &err), RUNG_INPUT);
    rung_buf_clear(&names);
}

static void complaints_are_one_printable_line(void **state)
{
    (void)state;
    static const struct {
        const char *body, *line;
    } cases[] = {
        {"{\"error\": {\"message\": \"no\\nlogprobs\", \"code\": 400}}", "no logprobs"},
        {"{\"object\": \"error\", \"message\": \"bad\"}", "bad"},
        {"{\"detail\": \"Not Found\"}", "Not Found"},
        {"{\"detail\": [{\"loc\": [\"body\"], \"msg\": \"field required\"}]}", "field required"},
        {"{\"error\": \"plain\"}", "plain"},
        {"<html><body><h1>502</h1>Bad\x01 gateway</body></html>", "502 Bad gateway"},
        {"\x1b[31mred\x07", "[31mred"},
        {"", "(nothing)"},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_buf out;
        rung_buf_init(&out);
        rung_reply_complaint(&out, cases[i].body, strlen(cases[i].body), 100);
        assert_string_equal(out.text, cases[i].line);
        rung_buf_clear(&out);
    }
    rung_buf out;
    rung_buf_init(&out);
    char *large = malloc(1 << 20);
    assert_non_null(large);
    memset(large, 'x', 1 << 20);
    rung_reply_complaint(&out, large, 1 << 20, 50);
    assert_int_equal(out.len, 50);
    free(large);
    rung_buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_server_says_the_same),
        cmocka_unit_test(thoughts_and_cuts_are_seen),
        cmocka_unit_test(wrong_shapes_are_refused_with_their_reason),
        cmocka_unit_test(odd_but_legal_replies_are_taken),
        cmocka_unit_test(many_options_are_bounded),
        cmocka_unit_test(tokens_in_every_shape),
        cmocka_unit_test(models_are_found),
        cmocka_unit_test(complaints_are_one_printable_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
