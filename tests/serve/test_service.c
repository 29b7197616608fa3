/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The service: a constructed model is right over the interface in every spelling, the numbers are those of its read-out,
 * the shapes are those that clients of vLLM read, and every wrong request is refused by name.
 */
#include "../effort.h"
#include "served.h"

static const char *const two_levels[] = {"L=2", "N0=4"};

static void open_composer(served *s)
{
    served_open(s, "seqcomp", two_levels, RUNG_COUNT(two_levels), NULL);
}

/* ---- prompts ----------------------------------------------------------------------------------------------------------- */

typedef struct asked {
    rung_buf text, body, answer;
} asked;

static void asked_clear(asked *a)
{
    rung_buf_clear(&a->text);
    rung_buf_clear(&a->body);
    rung_buf_clear(&a->answer);
}

/* Instance `index` with names in an order of its own. */
static void write_prompt(asked *a, served *s, uint64_t index, const rung_text_options *options)
{
    const rung_task_conf *task = &s->build.task;
    uint32_t order[1024];
    const char *names[1024];
    size_t count = rung_text_names(task, options->spelling);
    rung_rng rng;
    assert_true(count <= RUNG_COUNT(names));
    rung_rng_init(&rng, index, 1, 2);
    for (size_t i = 0; i < RUNG_COUNT(order); i++) order[i] = (uint32_t)i;
    rung_rng_shuffle(&rng, order, RUNG_COUNT(order));
    for (size_t i = 0; i < count; i++) names[i] = rung_text_candidate_at(order[i]);
    must(rung_task_make(&s->instance, task, 5, index, &s->err), &s->err);
    must(rung_text_check(task, options, &s->err), &s->err);
    rung_buf_reset(&a->text);
    rung_buf_reset(&a->answer);
    rung_text_write(&a->text, &s->instance, task, names, options);
    rung_text_answer_write(&a->answer, task, names, options, rung_text_answer(&s->instance, task, options));
}

static const rung_json *ask(asked *a, served *s, bool chat, const char *fields)
{
    rung_buf_reset(&a->body);
    rung_buf_puts(&a->body,
                  chat ? "{\"messages\":[{\"role\":\"system\",\"content\":\"Hm.\"},{\"role\":\"user\",\"content\":"
                       : "{\"prompt\":");
    rung_buf_json_string(&a->body, a->text.text);
    rung_buf_printf(&a->body, "%s,%s}", chat ? "}]" : "", fields);
    return served_post(s, chat ? "/v1/chat/completions" : "/v1/completions", a->body.text);
}

static void right_on_every_instance(const char *construction, const char *const *words, size_t count, size_t instances)
{
    served s;
    asked a = {0};
    served_open(&s, construction, words, count, NULL);
    for (uint64_t i = 0; i < instances; i++) {
        bool chat = i & 1;
        rung_text_options options = {.spelling = (rung_text_spelling)(1 + i % 3)};
        if (options.spelling != RUNG_TEXT_WORDS) {
            options.question_first = i & 2;
            options.shuffled = (i & 4) && !strstr(construction, "hop");
            options.seed = i;
            options.cue = !chat;
        }
        write_prompt(&a, &s, i, &options);
        const rung_json *reply = ask(&a, &s, chat, "\"temperature\":0");
        if (s.reply.status != 200) fail_msg("%s\n%s", s.reply.body.text, a.text.text);
        const char *text = text_at(reply, chat ? "choices.0.message.content" : "choices.0.text");
        /* A completion goes on with a space. */
        if (!chat) assert_int_equal(*text++, ' ');
        if (strcmp(text, a.answer.text) != 0) fail_msg("'%s', not '%s':\n%s", text, a.answer.text, a.text.text);
        assert_string_equal(text_at(reply, "choices.0.finish_reason"), "stop");
    }
    asked_clear(&a);
    served_close(&s);
}

static void constructed_models_are_right_over_the_interface(void **state)
{
    (void)state;
    static const char *const three[] = {"L=3", "N0=3", "n=2"}, *const recall[] = {"N=6", "V=8"},
                             *const sum[] = {"N=6", "M=20"}, *const table[] = {"task=eva", "N=16"};
    right_on_every_instance("seqcomp", two_levels, RUNG_COUNT(two_levels), effort(300, 60));
    right_on_every_instance("seqcomp", three, RUNG_COUNT(three), effort(150, 30));
    right_on_every_instance("assoc-recall", recall, RUNG_COUNT(recall), effort(150, 30));
    right_on_every_instance("two-sum", sum, RUNG_COUNT(sum), effort(150, 30));
    right_on_every_instance("lookup", table, RUNG_COUNT(table), effort(150, 30));
}

/* ---- numbers ----------------------------------------------------------------------------------------------------------- */

/* log softmax of the read-out, computed here. */
static void expected_logprobs(double *out, served *s)
{
    rung_session *session = NULL;
    size_t answers = s->build.task.answers, last = s->instance.tokens - 1;
    must(rung_session_new(&session, s->program, s->instance.tokens, &s->err), &s->err);
    rung_prompt prompt = {.token = s->instance.token, .tokens = s->instance.tokens};
    must(rung_session_run(session, out, &prompt, RUNG_FORM_STEP, &last, 1, &s->err), &s->err);
    double sum = 0;
    for (size_t i = 0; i < answers; i++) sum += exp(out[i]);
    for (size_t i = 0; i < answers; i++) out[i] -= log(sum);
    rung_session_free(session);
}

static void logprobs_are_those_of_the_read_out(void **state)
{
    (void)state;
    served s;
    asked a = {0};
    double want[64];
    open_composer(&s);
    size_t answers = s.build.task.answers;
    for (uint64_t i = 0; i < 20; i++) {
        write_prompt(&a, &s, i, &(rung_text_options){.spelling = RUNG_TEXT_WORDS});
        expected_logprobs(want, &s);
        const rung_json *top = member(ask(&a, &s, false, "\"temperature\":0,\"max_tokens\":1,\"logprobs\":20"),
                                      "choices.0.logprobs.top_logprobs.0");
        assert_int_equal(rung_json_len(top), answers);
        double before = 0;
        for (size_t k = 0; k < answers; k++) {
            double value = 0;
            size_t answer = (size_t)atoi(rung_json_key_at(top, k) + 1);
            assert_true(rung_json_real(&value, rung_json_value_at(top, k)));
            assert_true(fabs(value - want[answer]) < 1e-4);
            assert_true(value <= before);
            before = value;
        }
        const rung_json *root = rung_json_root(s.doc);
        assert_string_equal(text_at(root, "choices.0.finish_reason"), "length");
        assert_string_equal(text_at(root, "choices.0.logprobs.tokens.0"), text_at(root, "choices.0.text"));
        /* The chat says the same, with fewer. */
        root = ask(&a, &s, true, "\"temperature\":0,\"logprobs\":true,\"top_logprobs\":2");
        assert_true(fabs(real_at(root, "choices.0.logprobs.content.0.logprob") - want[atoi(a.answer.text)]) < 1e-4);
        assert_int_equal(rung_json_len(member(root, "choices.0.logprobs.content.0.top_logprobs")), 2);
        assert_int_equal(int_at(root, "choices.0.logprobs.content.0.bytes.0"), a.answer.text[0]);
    }
    asked_clear(&a);
    served_close(&s);
}

/* Frequencies of sampled answers against the probabilities; and the same seed says the same. */
static void samples_follow_the_probabilities_and_the_seed(void **state)
{
    (void)state;
    served s;
    asked a = {0};
    double want[64], total = 0;
    size_t seen[64] = {0}, draws = effort(3000, 400);
    char fields[96], first[32];
    open_composer(&s);
    write_prompt(&a, &s, 1, &(rung_text_options){.spelling = RUNG_TEXT_WORDS});
    expected_logprobs(want, &s);
    size_t answers = s.build.task.answers;
    for (size_t i = 0; i < answers; i++) total += exp(want[i] / 2);
    for (size_t i = 0; i < draws; i++) {
        snprintf(fields, sizeof fields, "\"temperature\":2,\"seed\":%zu", i);
        snprintf(first, sizeof first, "%s", text_at(ask(&a, &s, false, fields), "choices.0.text"));
        seen[atoi(first)]++;
        if (i % 100 == 0) assert_string_equal(text_at(ask(&a, &s, false, fields), "choices.0.text"), first);
    }
    for (size_t i = 0; i < answers; i++) {
        double p = exp(want[i] / 2) / total, off = (double)seen[i] - p * (double)draws;
        if (off * off > 25 * p * (double)draws) fail_msg("answer %zu: %zu of %zu, p = %g", i, seen[i], draws, p);
    }
    asked_clear(&a);
    served_close(&s);
}

/* A model that thinks aloud: as many tokens as it thinks, then the answer; cut where max_tokens or a stop string says. */
static void thoughts_come_before_the_answer(void **state)
{
    (void)state;
    static const char *const words[] = {"L=3", "N0=3", "n=2"};
    served s;
    asked a = {0};
    served_open(&s, "seqcomp-cot", words, RUNG_COUNT(words), NULL);
    for (uint64_t i = 0; i < 12; i++) {
        write_prompt(&a, &s, i, &(rung_text_options){.spelling = i & 1 ? RUNG_TEXT_FACTS : RUNG_TEXT_WORDS});
        const rung_json *root = ask(&a, &s, false, "\"temperature\":0,\"max_tokens\":50,\"logprobs\":1");
        const char *text = text_at(root, "choices.0.text"), *last = strrchr(text, ' ');
        int64_t tokens = int_at(root, "usage.completion_tokens");
        assert_true(tokens > 1 && strncmp(text, " thought", 8) == 0);
        assert_string_equal(last + 1, a.answer.text);
        assert_int_equal(rung_json_len(member(root, "choices.0.logprobs.tokens")), tokens);
        assert_string_equal(text_at(root, "choices.0.finish_reason"), "stop");
        root = ask(&a, &s, false, "\"temperature\":0,\"max_tokens\":1");
        assert_int_equal(int_at(root, "usage.completion_tokens"), 1);
        assert_string_equal(text_at(root, "choices.0.finish_reason"), "length");
        root = ask(&a, &s, false, "\"temperature\":0,\"max_tokens\":50,\"stop\":[\"zzz\",\"ght\"]");
        assert_string_equal(text_at(root, "choices.0.text"), " thou");
        assert_string_equal(text_at(root, "choices.0.stop_reason"), "ght");
        assert_string_equal(text_at(root, "choices.0.finish_reason"), "stop");
    }
    asked_clear(&a);
    served_close(&s);
}

/* ---- tokens ------------------------------------------------------------------------------------------------------------- */

static void any_text_comes_back_from_its_tokens(void **state)
{
    (void)state;
    static const char *const parts[] = {"z2:0", " ", "apple",    " river", "\n",   "The", "zz",
                                        "3",    ".", "\xc3\xa9", "|",      "thou", "\t"};
    served s;
    rung_buf text, body;
    rung_rng rng;
    open_composer(&s);
    rung_buf_init(&text);
    rung_buf_init(&body);
    rung_rng_init(&rng, 3, 3, 3);
    for (size_t i = 0; i < effort(400, 80); i++) {
        rung_buf_reset(&text);
        rung_buf_reset(&body);
        rung_buf_puts(&text, "");
        for (size_t k = rung_rng_below(&rng, 30); k > 0; k--)
            rung_buf_puts(&text, parts[rung_rng_below(&rng, RUNG_COUNT(parts))]);
        rung_buf_puts(&body, "{\"prompt\":");
        rung_buf_json_string(&body, text.text);
        rung_buf_puts(&body, ",\"return_token_strs\":true}");
        const rung_json *root = served_post(&s, "/tokenize", body.text);
        assert_int_equal(s.reply.status, 200);
        assert_int_equal(int_at(root, "count"), rung_json_len(member(root, "tokens")));
        assert_int_equal(int_at(root, "count"), rung_json_len(member(root, "token_strs")));
        rung_buf_reset(&body);
        rung_buf_puts(&body, "{\"tokens\":[");
        for (size_t k = 0; k < rung_json_len(member(root, "tokens")); k++) {
            int64_t id = 0;
            rung_json_int(&id, rung_json_at(member(root, "tokens"), k));
            rung_buf_printf(&body, "%s%lld", k ? "," : "", (long long)id);
        }
        rung_buf_puts(&body, "]}");
        assert_string_equal(text_at(served_post(&s, "/detokenize", body.text), "prompt"), text.text);
    }
    rung_buf_clear(&text);
    rung_buf_clear(&body);
    served_close(&s);
}

static void names_and_words_are_single_tokens(void **state)
{
    (void)state;
    static const char *const words[] = {"apple", " apple", " guide", "z2:7", " w:1", " 3", "Question"};
    served s;
    char body[96];
    open_composer(&s);
    for (size_t i = 0; i < RUNG_COUNT(words); i++) {
        snprintf(body, sizeof body, "{\"prompt\":\"%s\"}", words[i]);
        if (int_at(served_post(&s, "/tokenize", body), "count") != 1) fail_msg("'%s'", words[i]);
    }
    for (size_t i = 0; rung_text_candidate_at(i); i++) {
        snprintf(body, sizeof body, "{\"prompt\":\" %s\"}", rung_text_candidate_at(i));
        assert_int_equal(int_at(served_post(&s, "/tokenize", body), "count"), 1);
    }
    served_close(&s);
}

/* The same prompt as ids, and several at once. */
static void ids_and_lists_are_prompts_too(void **state)
{
    (void)state;
    served s;
    asked a = {0};
    rung_buf body;
    rung_buf_init(&body);
    open_composer(&s);
    write_prompt(&a, &s, 4, &(rung_text_options){.spelling = RUNG_TEXT_FACTS, .cue = true});
    rung_buf_puts(&body, "{\"prompt\":");
    rung_buf_json_string(&body, a.text.text);
    rung_buf_putc(&body, '}');
    const rung_json *ids = member(served_post(&s, "/tokenize", body.text), "tokens");
    size_t count = rung_json_len(ids);
    rung_buf list;
    rung_buf_init(&list);
    for (size_t i = 0; i < count; i++) {
        int64_t id = 0;
        rung_json_int(&id, rung_json_at(ids, i));
        rung_buf_printf(&list, "%s%lld", i ? "," : "", (long long)id);
    }
    rung_buf_reset(&body);
    rung_buf_printf(&body, "{\"temperature\":0,\"prompt\":[[%s],[%s]]}", list.text, list.text);
    const rung_json *root = served_post(&s, "/v1/completions", body.text);
    assert_int_equal(rung_json_len(member(root, "choices")), 2);
    assert_int_equal(int_at(root, "choices.1.index"), 1);
    assert_string_equal(text_at(root, "choices.0.text") + 1, a.answer.text);
    assert_string_equal(text_at(root, "choices.1.text") + 1, a.answer.text);
    assert_int_equal(int_at(root, "usage.prompt_tokens"), 2 * count);
    assert_int_equal(int_at(root, "usage.total_tokens"), 2 * count + 2);
    rung_buf_clear(&list);
    rung_buf_clear(&body);
    asked_clear(&a);
    served_close(&s);
}

/* ---- shapes ------------------------------------------------------------------------------------------------------------- */

/* Members and kinds, a subset of those in replies of vLLM (written from its source, not recorded): s string, i integer, r real, n null, a array, o object. */
static void has_shape(const rung_json *object, const char *path, const char *shape)
{
    static const char letters[] = {
        [RUNG_JSON_NULL] = 'n',   [RUNG_JSON_BOOL] = 'b',  [RUNG_JSON_INT] = 'i',   [RUNG_JSON_REAL] = 'r',
        [RUNG_JSON_STRING] = 's', [RUNG_JSON_ARRAY] = 'a', [RUNG_JSON_OBJECT] = 'o'};
    const rung_json *value = member(object, path);
    char name[64], kind;
    int used = 0;
    size_t members = 0;
    for (const char *at = shape; sscanf(at, " %63[^:]:%c%n", name, &kind, &used) == 2; at += used, members++) {
        const rung_json *one = rung_json_get(value, name);
        if (!one || letters[rung_json_kind_of(one)] != kind) fail_msg("%s.%s is not %c", path, name, kind);
    }
    if (rung_json_len(value) != members) fail_msg("%s has %zu members, not %zu", path, rung_json_len(value), members);
}

static void replies_have_the_shapes_of_vllm(void **state)
{
    (void)state;
    served s;
    asked a = {0};
    open_composer(&s);
    write_prompt(&a, &s, 0, &(rung_text_options){.spelling = RUNG_TEXT_WORDS});
    const rung_json *root = ask(&a, &s, false, "\"temperature\":0,\"logprobs\":2,\"max_tokens\":1");
    has_shape(root, "", "id:s object:s created:i model:s system_fingerprint:s choices:a usage:o");
    has_shape(root, "choices.0", "index:i text:s logprobs:o finish_reason:s stop_reason:n prompt_logprobs:n");
    has_shape(root, "choices.0.logprobs", "text_offset:a token_logprobs:a tokens:a top_logprobs:a");
    has_shape(root, "usage", "prompt_tokens:i total_tokens:i completion_tokens:i prompt_tokens_details:n");
    assert_string_equal(text_at(root, "object"), "text_completion");
    root = ask(&a, &s, false, "\"temperature\":0");
    has_shape(root, "choices.0", "index:i text:s logprobs:n finish_reason:s stop_reason:n prompt_logprobs:n");
    root = ask(&a, &s, true, "\"temperature\":0,\"logprobs\":true,\"top_logprobs\":1");
    has_shape(root, "", "id:s object:s created:i model:s system_fingerprint:s choices:a usage:o prompt_logprobs:n");
    has_shape(root, "choices.0", "index:i message:o logprobs:o finish_reason:s stop_reason:n");
    has_shape(root, "choices.0.message", "role:s content:s tool_calls:a");
    has_shape(root, "choices.0.logprobs", "content:a");
    has_shape(root, "choices.0.logprobs.content.0", "token:s logprob:r bytes:a top_logprobs:a");
    has_shape(root, "choices.0.logprobs.content.0.top_logprobs.0", "token:s logprob:r bytes:a");
    assert_string_equal(text_at(root, "object"), "chat.completion");
    root = served_post(&s, "/tokenize", "{\"prompt\":\"z2:1\"}");
    has_shape(root, "", "count:i max_model_len:i tokens:a token_strs:n");
    root = served_post(&s, "/detokenize", "{\"tokens\":[97]}");
    has_shape(root, "", "prompt:s");
    root = served_send(&s, "GET", "/v1/models", NULL, "", 0);
    has_shape(root, "", "object:s data:a");
    has_shape(root, "data.0", "id:s object:s created:i owned_by:s root:s parent:n max_model_len:i permission:a");
    assert_null(served_send(&s, "GET", "/health", NULL, "", 0));
    assert_int_equal(s.reply.status, 200);
    asked_clear(&a);
    served_close(&s);
}

static void equal_requests_have_equal_replies(void **state)
{
    (void)state;
    served s;
    asked a = {0};
    open_composer(&s);
    write_prompt(&a, &s, 2, &(rung_text_options){.spelling = RUNG_TEXT_TABLE});
    ask(&a, &s, true, "\"logprobs\":true,\"top_logprobs\":5");
    char *first = strdup(s.reply.body.text);
    ask(&a, &s, true, "\"logprobs\":true,\"top_logprobs\":5");
    assert_string_equal(s.reply.body.text, first);
    free(first);
    asked_clear(&a);
    served_close(&s);
}

/* ---- refusals ----------------------------------------------------------------------------------------------------------- */

#define PROMPT "z2:0 z2:5 z2:4 z2:7 z2:4 z2:6 z2:2 z2:3 z1:0 z1:1 z1:3 z1:2 z0:2 w:1"

static void unsupported_fields_are_named(void **state)
{
    (void)state;
    /* The field, a value that is refused, and one that is taken (NULL: none but null). */
    static const char *const fields[][3] = {
        {"max_tokens", "0", "1"},
        {"max_tokens", "\"3\"", "7"},
        {"max_tokens", "1e3", "7"},
        {"max_tokens", "99999999999", "7"},
        {"temperature", "-1", "0.5"},
        {"temperature", "\"hot\"", "0"},
        {"seed", "1.5", "-3"},
        {"logprobs", "21", "20"},
        {"logprobs", "true", "0"},
        {"logprobs", "-1", "5"},
        {"stop", "7", "\"\\n\""},
        {"stop", "[\"\"]", "[\"a\",\"b\"]"},
        {"n", "2", "1"},
        {"best_of", "3", "1"},
        {"echo", "true", "false"},
        {"stream", "true", "false"},
        {"prompt_logprobs", "1", NULL},
        {"suffix", "\"x\"", NULL},
        {"top_p", "0.9", "1.0"},
        {"top_k", "5", "-1"},
        {"presence_penalty", "1", "0"},
        {"frequency_penalty", "1", "0.0"},
        {"logit_bias", "{\"5\":1}", "{}"},
        {"user", "5", "\"me\""},
        {"cache_salt", "{}", "\"abc\""},
        {"ignore_eos", "true", "false"},
        {"model", "5", "\"tiny\""},
        {"guided_json", "{}", NULL},
        {"messages", "[]", NULL},
        {"top_logprobs", "3", NULL},
    };
    served s;
    char body[512];
    open_composer(&s);
    for (size_t i = 0; i < RUNG_COUNT(fields); i++) {
        snprintf(body, sizeof body, "{\"prompt\":\"" PROMPT "\",\"%s\":%s}", fields[i][0], fields[i][1]);
        served_post(&s, "/v1/completions", body);
        is_error(&s, 400, fields[i][0]);
        if (!fields[i][2]) continue;
        snprintf(body, sizeof body, "{\"prompt\":\"" PROMPT "\",\"%s\":%s}", fields[i][0], fields[i][2]);
        served_post(&s, "/v1/completions", body);
        if (s.reply.status != 200) fail_msg("%s: %s", body, s.reply.body.text);
        snprintf(body, sizeof body, "{\"prompt\":\"" PROMPT "\",\"%s\":null}", fields[i][0]);
        served_post(&s, "/v1/completions", body);
        if (s.reply.status != 200) fail_msg("%s: %s", body, s.reply.body.text);
    }
    served_post(&s, "/v1/completions", "{\"prompt\":\"" PROMPT "\",\"temperatur\":0}");
    assert_non_null(strstr(s.reply.body.text, "did you mean 'temperature'?"));
    served_close(&s);
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path, *body;
        unsigned status;
        const char *param;
    } cases[] = {
        {"/v1/completions", "", 400, NULL},
        {"/v1/completions", "{\"prompt\":", 400, NULL},
        {"/v1/completions", "[]", 400, NULL},
        {"/v1/completions", "7", 400, NULL},
        {"/v1/completions", "{}", 400, "prompt"},
        {"/v1/completions", "{\"prompt\":null}", 400, "prompt"},
        {"/v1/completions", "{\"prompt\":{}}", 400, "prompt"},
        {"/v1/completions", "{\"prompt\":[]}", 400, "prompt"},
        {"/v1/completions", "{\"prompt\":\"\"}", 400, "prompt"},
        {"/v1/completions", "{\"prompt\":\"hello\"}", 400, "prompt"},
        {"/v1/completions", "{\"prompt\":[\"" PROMPT "\",3]}", 400, "prompt"},
        {"/v1/completions", "{\"prompt\":[99999999]}", 400, "prompt"},
        {"/v1/completions", "{\"prompt\":[-1]}", 400, "prompt"},
        {"/v1/completions", "{\"prompt\":[0]}", 400, "prompt"},
        {"/v1/completions", "{\"prompt\":[1,2.5]}", 400, "prompt"},
        {"/v1/completions", "{\"prompt\":[300,1e999]}", 400, NULL},
        {"/v1/completions", "{\"prompt\":\"a\",\"prompt\":\"b\"}", 400, NULL},
        {"/v1/completions", "{\"prompt\":\"\\u0000\"}", 400, NULL},
        {"/v1/completions", "{\"prompt\":\"\xff\xfe\"}", 400, NULL},
        {"/v1/completions", "{\"prompt\":\"\\ud800\"}", 400, NULL},
        {"/v1/completions", "{\"model\":\"other\",\"prompt\":\"" PROMPT "\"}", 404, "model"},
        {"/v1/completions", "{\"prompt\":\"Facts: The guide of apple is\"}", 400, "prompt"},
        {"/v1/completions",
         "{\"prompt\":\"Question: \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\"}", 400,
         "prompt"},
        {"/v1/chat/completions", "{}", 400, "messages"},
        {"/v1/chat/completions", "{\"messages\":[]}", 400, "messages"},
        {"/v1/chat/completions", "{\"messages\":[7]}", 400, "messages"},
        {"/v1/chat/completions", "{\"messages\":[{\"role\":\"user\"}]}", 400, "messages"},
        {"/v1/chat/completions", "{\"messages\":[{\"role\":\"king\",\"content\":\"x\"}]}", 400, "messages"},
        {"/v1/chat/completions", "{\"messages\":[{\"role\":\"assistant\",\"content\":\"x\"}]}", 400, "messages"},
        {"/v1/chat/completions", "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]}", 400,
         "messages"},
        {"/v1/chat/completions", "{\"messages\":[{\"role\":\"user\",\"content\":\"" PROMPT "\"}],\"top_logprobs\":2}",
         400, "top_logprobs"},
        {"/v1/chat/completions", "{\"messages\":[{\"role\":\"user\",\"content\":\"" PROMPT "\"}],\"logprobs\":3}", 400,
         "logprobs"},
        {"/v1/chat/completions",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"" PROMPT "\"}],\"reasoning_effort\":\"high\"}", 400,
         "reasoning_effort"},
        {"/v1/chat/completions", "{\"messages\":[{\"role\":\"user\",\"content\":\"" PROMPT "\"}],\"tools\":[1]}", 400,
         "tools"},
        {"/tokenize", "{}", 400, "prompt"},
        {"/tokenize", "{\"prompt\":7}", 400, "prompt"},
        {"/tokenize", "{\"prompt\":\"a\",\"max_tokens\":3}", 400, "max_tokens"},
        {"/detokenize", "{}", 400, "tokens"},
        {"/detokenize", "{\"tokens\":\"a\"}", 400, "tokens"},
        {"/detokenize", "{\"tokens\":[\"a\"]}", 400, "tokens"},
        {"/v1/nowhere", "{}", 404, NULL},
        {"/", "{}", 404, NULL},
        {"/v1/models", "{}", 405, NULL},
    };
    served s;
    open_composer(&s);
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        served_post(&s, cases[i].path, cases[i].body);
        is_error(&s, cases[i].status, cases[i].param);
    }
    served_send(&s, "GET", "/v1/completions", NULL, "", 0);
    is_error(&s, 405, NULL);
    assert_string_equal(s.reply.allow, "POST");
    served_close(&s);
}

static void long_and_deep_bodies_are_refused(void **state)
{
    (void)state;
    served s;
    rung_buf body;
    rung_buf_init(&body);
    open_composer(&s);
    for (size_t i = 0; i < 100000; i++) rung_buf_putc(&body, '[');
    served_post(&s, "/v1/completions", body.text);
    is_error(&s, 400, NULL);
    rung_buf_reset(&body);
    rung_buf_puts(&body, "{\"prompt\":\"");
    for (size_t i = 0; i < 4097; i++) rung_buf_puts(&body, ". ");
    rung_buf_puts(&body, "\"}");
    served_post(&s, "/tokenize", body.text);
    is_error(&s, 400, "prompt");
    rung_buf_reset(&body);
    rung_buf_puts(&body, "{\"prompt\":[");
    for (size_t i = 0; i < 65; i++) rung_buf_puts(&body, i ? ",\"x\"" : "\"x\"");
    rung_buf_puts(&body, "]}");
    served_post(&s, "/v1/completions", body.text);
    is_error(&s, 400, "prompt");
    rung_buf_clear(&body);
    served_close(&s);
}

static void a_key_is_compared_whole(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        NULL, "", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "bearer secreT", "Basic secret"};
    served s;
    served_open(&s, "seqcomp", two_levels, RUNG_COUNT(two_levels), "secret");
    for (size_t i = 0; i < RUNG_COUNT(wrong); i++) {
        served_send(&s, "GET", "/v1/models", wrong[i], "", 0);
        is_error(&s, 401, NULL);
        served_send(&s, "POST", "/nowhere", wrong[i], "", 0);
        is_error(&s, 401, NULL);
        served_send(&s, "GET", "/health", wrong[i], "", 0);
        assert_int_equal(s.reply.status, 200);
    }
    served_send(&s, "GET", "/v1/models", "Bearer secret", "", 0);
    assert_int_equal(s.reply.status, 200);
    served_close(&s);
}

static void what_has_no_text_is_not_served(void **state)
{
    (void)state;
    static const char *const words[] = {"N=4"};
    served s = {0};
    must(rung_build_init(&s.build, "nearest-neighbour", words, 1, &s.err), &s.err);
    must(rung_build_model(&s.model, &s.build, &s.err), &s.err);
    must(rung_program_new(&s.program, s.model, &(rung_evaluator){.threads = 1}, &s.err), &s.err);
    rung_service_options options = {.name = "tiny", .max_tokens = 4096};
    assert_int_equal(rung_service_new(&s.service, s.model, s.program, &s.build.task, &options, &s.err), RUNG_USAGE);
    assert_non_null(strstr(s.err.text, "vector"));
    rung_program_free(s.program);
    rung_model_close(s.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constructed_models_are_right_over_the_interface),
        cmocka_unit_test(logprobs_are_those_of_the_read_out),
        cmocka_unit_test(samples_follow_the_probabilities_and_the_seed),
        cmocka_unit_test(thoughts_come_before_the_answer),
        cmocka_unit_test(any_text_comes_back_from_its_tokens),
        cmocka_unit_test(names_and_words_are_single_tokens),
        cmocka_unit_test(ids_and_lists_are_prompts_too),
        cmocka_unit_test(replies_have_the_shapes_of_vllm),
        cmocka_unit_test(equal_requests_have_equal_replies),
        cmocka_unit_test(unsupported_fields_are_named),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(long_and_deep_bodies_are_refused),
        cmocka_unit_test(a_key_is_compared_whole),
        cmocka_unit_test(what_has_no_text_is_not_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
