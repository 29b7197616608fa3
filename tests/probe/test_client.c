/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The client against a server that misbehaves (server.py): nothing that it does may crash us, hang us, leak the key, or be
 * kept as an answer.
 */
#define _GNU_SOURCE /* strcasestr */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rung/probe.h"

#define KEY "sk-very-secret/01_23456789"

static int port, other_port;
static pid_t server_pid;
static int server_input;
static char directory[] = "/tmp/rung-client-XXXXXX";

static int start_server(void **state)
{
    (void)state;
    int in[2], out[2];
    if (!mkdtemp(directory) || pipe(in) || pipe(out)) return -1;
    server_pid = fork();
    if (server_pid == 0) {
        dup2(in[0], 0), dup2(out[1], 1);
        close(in[1]), close(out[0]);
        execlp("python3", "python3", "tests/probe/server.py", (char *)NULL);
        _exit(127);
    }
    close(in[0]), close(out[1]);
    server_input = in[1];
    FILE *ports = fdopen(out[0], "r");
    int read = ports ? fscanf(ports, "%d %d", &port, &other_port) : 0;
    if (ports) fclose(ports);
    setenv("RUNG_TEST_KEY", KEY, 1);
    return read == 2 ? 0 : -1;
}

static int stop_server(void **state)
{
    (void)state;
    close(server_input);
    kill(server_pid, SIGTERM);
    waitpid(server_pid, NULL, 0);
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

/* ---- asking ---------------------------------------------------------------------------------------------------------------- */

typedef struct heard {
    size_t count;
    long http;
    bool stored;
    char body[8192], shown[8192];
} heard;

static bool hear(void *context, size_t index, const rung_client_response *answer)
{
    heard *h = context;
    (void)index;
    h->count++;
    h->http = answer->http;
    h->stored = answer->stored;
    assert_int_equal(strlen(answer->body), answer->len);
    assert_int_equal(strlen(answer->shown), answer->shown_len);
    snprintf(h->body, sizeof h->body, "%s", answer->body);
    snprintf(h->shown, sizeof h->shown, "%s", answer->shown);
    return true;
}

static rung_client_options fast_conf(rung_store *store)
{
    static char base[64];
    snprintf(base, sizeof base, "http://127.0.0.1:%d/v1/", port);
    return (rung_client_options){
        .base_url = base, .retries = 2, .backoff_s = 0.02, .timeout_s = 10, .drip_s = 1.2, .store = store};
}

static rung_status ask_with(heard *h, rung_client_sum *sum, const rung_client_options *conf, const char *path,
                            const char *body, bool tolerant, rung_error *err)
{
    rung_client *client;
    rung_client_request ask = {.path = path, .body = body};
    memset(h, 0, sizeof *h);
    memset(err, 0, sizeof *err);
    rung_status status = rung_client_new(&client, conf, err);
    if (status != RUNG_OK) return status;
    status = rung_client_run(sum, client, &ask, 1, tolerant, hear, h, err);
    rung_client_free(client);
    return status;
}

static rung_status ask_path(heard *h, rung_client_sum *sum, const char *path, rung_error *err)
{
    rung_client_options conf = fast_conf(NULL);
    return ask_with(h, sum, &conf, path, "{}", false, err);
}

static void expect_good(const char *path, size_t attempts)
{
    heard h;
    rung_client_sum sum;
    rung_error err;
    rung_status status = ask_path(&h, &sum, path, &err);
    if (status != RUNG_OK) print_error("%s: %s\n", path, err.text);
    assert_int_equal(status, RUNG_OK);
    assert_int_equal(h.count, 1);
    assert_int_equal(sum.attempts, attempts);
    rung_reply reply;
    assert_int_equal(rung_reply_parse(&reply, h.body, strlen(h.body), &err), RUNG_OK);
    assert_string_equal(reply.text, " stone");
    assert_true(reply.logprobs);
    rung_reply_clear(&reply);
}

/* Fails after so many attempts, with words of the message. */
static void expect_bad(const char *path, size_t attempts, rung_status wanted, const char *words)
{
    heard h;
    rung_client_sum sum;
    rung_error err;
    rung_status status = ask_path(&h, &sum, path, &err);
    if (status != wanted || !strstr(err.text, words)) print_error("%s: %d %s\n", path, (int)status, err.text);
    assert_int_equal(status, wanted);
    assert_int_equal(h.count, 0);
    assert_int_equal(sum.attempts, attempts);
    assert_non_null(strstr(err.text, words));
    assert_non_null(strstr(err.text, path));
}

/* ---- tests ----------------------------------------------------------------------------------------------------------------- */

static void weak_moments_are_tried_again(void **state)
{
    (void)state;
    expect_good("/good", 1);
    expect_good("/chunked", 1);
    expect_good("/early-once", 2);
    expect_good("/fails-twice", 3);
}

static void what_stays_wrong_is_told(void **state)
{
    (void)state;
    expect_bad("/early", 3, RUNG_SYSTEM, "after 3 attempts");
    expect_bad("/nothing", 3, RUNG_SYSTEM, "after 3 attempts");
    expect_bad("/broken-chunks", 3, RUNG_SYSTEM, "after 3 attempts");
    expect_bad("/no-http", 1, RUNG_SYSTEM, "HTTP/0.9");
    expect_bad("/fails", 3, RUNG_SYSTEM, "model is loading");
    expect_bad("/garbage", 3, RUNG_SYSTEM, "status 200, but");
    expect_bad("/page", 3, RUNG_SYSTEM, "Welcome to the proxy");
    expect_bad("/header-flood", 1, RUNG_SYSTEM, "headers of the reply");
    expect_bad("/limit-always", 3, RUNG_SYSTEM, "--rpm");
}

static void refusals_are_not_repeated(void **state)
{
    (void)state;
    expect_bad("/refused", 1, RUNG_INPUT, "logprobs must be at most 5");
    expect_bad("/missing", 1, RUNG_INPUT, "404");
    expect_bad("/round", 1, RUNG_SYSTEM, "redirects");
    expect_bad("/to-file", 1, RUNG_SYSTEM, "file");
}

static void large_bodies_are_cut_off(void **state)
{
    (void)state;
    double before = rung_wall_s();
    expect_bad("/huge", 1, RUNG_SYSTEM, "larger than");
    expect_bad("/huge-declared", 1, RUNG_SYSTEM, "larger than");
    assert_true(rung_wall_s() - before < 20);
}

static void drips_and_silence_end(void **state)
{
    (void)state;
    heard h;
    rung_client_sum sum;
    rung_error err;
    rung_client_options conf = fast_conf(NULL);
    conf.retries = 0;
    assert_int_equal(ask_with(&h, &sum, &conf, "/drip", "{}", false, &err), RUNG_SYSTEM);
    assert_non_null(strstr(err.text, "too slowly"));
    conf.timeout_s = 0.5;
    assert_int_equal(ask_with(&h, &sum, &conf, "/silent", "{}", false, &err), RUNG_SYSTEM);
    assert_non_null(strstr(err.text, "timed out"));
}

static void retry_after_is_obeyed(void **state)
{
    (void)state;
    double before = rung_wall_s();
    expect_good("/limit-seconds", 2);
    assert_true(rung_wall_s() - before >= 0.99);
    before = rung_wall_s();
    expect_good("/limit-date", 2); /* dates have whole seconds: at least one of the two is waited for */
    assert_true(rung_wall_s() - before >= 0.99);
    expect_bad("/limit-forever", 1, RUNG_SYSTEM, "slow down");
}

static void retry_after_in_both_forms(void **state)
{
    (void)state;
    const double now = 784111777; /* Sun, 06 Nov 1994 08:49:37 GMT */
    assert_true(rung_retry_after("17", now) == 17);
    assert_true(rung_retry_after("  0 ", now) == 0);
    assert_true(rung_retry_after("Sun, 06 Nov 1994 08:49:57 GMT", now) == 20);
    assert_true(rung_retry_after("Sunday, 06-Nov-94 08:49:57 GMT", now) == 20);
    assert_true(rung_retry_after("Sun Nov  6 08:49:57 1994", now) == 20);
    assert_true(rung_retry_after("Sun, 06 Nov 1994 08:49:17 GMT", now) == 0);
    assert_true(rung_retry_after("99999999999999999999999999", now) >= 1e9);
    assert_true(rung_retry_after("", now) < 0);
    assert_true(rung_retry_after("-5", now) < 0);
    assert_true(rung_retry_after("soon", now) < 0);
}

static void backoff_doubles_within_its_limits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++)
        for (size_t attempt = 0; attempt < 80; attempt++) {
            double full = attempt < 10 ? (double)(1u << attempt) : 30;
            if (full > 30) full = 30;
            double wait = rung_retry_backoff(1, attempt, seed);
            assert_true(wait >= full / 2 && wait <= full);
        }
    assert_true(rung_retry_backoff(1, 0, 1) != rung_retry_backoff(1, 0, 2));
}

static void key_goes_to_its_server_alone(void **state)
{
    (void)state;
    heard h;
    rung_client_sum sum;
    rung_error err;
    char path[64];
    snprintf(path, sizeof path, "%s/key.db", directory);
    rung_store *store;
    assert_int_equal(rung_store_open(&store, path, RUNG_STORE_WRITE, 5, &err), RUNG_OK);
    rung_client_options conf = fast_conf(store);
    conf.key_variable = "RUNG_TEST_KEY";
    assert_int_equal(ask_with(&h, &sum, &conf, "/echo", "{\"a\": 1}", false, &err), RUNG_OK);
    assert_non_null(strstr(h.shown, "Bearer [key]")); /* it was sent, and what came back is cleaned */
    assert_null(strstr(h.shown, KEY));
    assert_int_equal(ask_with(&h, &sum, &conf, "/here", "{\"a\": 1}", false, &err), RUNG_OK);
    assert_non_null(strstr(h.shown, "Bearer [key]"));
    assert_int_equal(ask_with(&h, &sum, &conf, "/elsewhere", "{\"a\": 1}", false, &err), RUNG_OK);
    assert_null(strstr(h.body, "uthorization"));
    assert_null(strstr(h.body, "Bearer"));
    assert_non_null(strstr(h.body, "{\\\"a\\\": 1}")); /* the question went along */
    assert_int_equal(ask_with(&h, &sum, &conf, "/echo-error", "{}", false, &err), RUNG_INPUT);
    assert_non_null(strstr(err.text, "[key]"));
    assert_null(strstr(err.text, KEY));
    rung_store_close(store);
    char command[160];
    snprintf(command, sizeof command, "cat %s/key.db* | grep -c very-secret >/dev/null", directory);
    assert_int_not_equal(system(command), 0);
}

/* As it is, and with every eighth of it: half a key is a leak too. */
static void assert_no_key(const char *text)
{
    assert_null(strcasestr(text, KEY));
    char part[9];
    for (size_t i = 0; i + 8 <= strlen(KEY); i++) {
        snprintf(part, sizeof part, "%.8s", KEY + i);
        assert_null(strcasestr(text, part));
    }
}

/* What a reader of JSON makes of a message: a key in escapes is a key. */
static void assert_no_decoded_key(const char *text)
{
    char plain[4096];
    size_t len = 0;
    for (const char *c = text; *c && len + 1 < sizeof plain;) {
        unsigned code;
        if (sscanf(c, "\\u%4x", &code) == 1)
            plain[len++] = (char)code, c += 6;
        else if (*c == '\\' && c[1])
            plain[len++] = c[1], c += 2;
        else
            plain[len++] = *c++;
    }
    plain[len] = '\0';
    assert_no_key(plain);
}

static void key_is_found_in_every_spelling(void **state)
{
    (void)state;
    heard h;
    rung_client_sum sum;
    rung_error err = {{0}};
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/spelled.db", directory);
    rung_store *store;
    assert_int_equal(rung_store_open(&store, path, RUNG_STORE_WRITE, 5, &err), RUNG_OK);
    rung_client_options conf = fast_conf(store);
    conf.key_variable = "RUNG_TEST_KEY";
    conf.retries = 0;
    assert_int_equal(ask_with(&h, &sum, &conf, "/spelled", "{}", false, &err), RUNG_OK);
    assert_int_equal(sscanf(strstr(h.shown, "count"), "count\": %zu", &count), 1);
    assert_true(count >= 10);
    static const int statuses[] = {200, 400, 401, 503};
    for (size_t s = 0; s < RUNG_COUNT(statuses); s++)
        for (size_t i = 0; i < count; i++) {
            snprintf(path, sizeof path, "/spelled-%d-%zu", statuses[s], i);
            rung_status status = ask_with(&h, &sum, &conf, path, "{}", false, &err);
            if (statuses[s] == 200) {
                assert_int_equal(status, RUNG_OK);
                assert_non_null(strstr(h.shown, "[key]"));
                assert_no_decoded_key(h.shown);
            } else {
                assert_int_not_equal(status, RUNG_OK);
                assert_no_decoded_key(err.text);
            }
        }
    assert_int_not_equal(ask_with(&h, &sum, &conf, "/key-host", "{}", false, &err), RUNG_OK);
    assert_no_key(err.text);
    assert_int_not_equal(ask_with(&h, &sum, &conf, "/key-scheme", "{}", false, &err), RUNG_OK);
    assert_no_key(err.text);
    rung_store_close(store);
    char command[512];
    snprintf(command, sizeof command,
             "cat %s/spelled.db* | tr -d '\\000' | grep -a -c -i -e very-secret -e 'u0076\\\\u0065' -e '%%76%%65' -e "
             "'&#118;&#101;' "
             "-e '&#x76;&#x65;' -e 766572792d -e dmVyeS1zZWNy >/dev/null",
             directory);
    assert_int_not_equal(system(command), 0);
}

/* With the key "text" the field "text" is still read, now and from the store. */
static void key_that_is_a_word_spoils_no_reply(void **state)
{
    (void)state;
    heard h;
    rung_client_sum sum;
    rung_error err;
    char path[64];
    snprintf(path, sizeof path, "%s/word.db", directory);
    rung_store *store;
    assert_int_equal(rung_store_open(&store, path, RUNG_STORE_WRITE, 5, &err), RUNG_OK);
    rung_client_options conf = fast_conf(store);
    setenv("RUNG_TEST_WORD_KEY", "text", 1);
    conf.key_variable = "RUNG_TEST_WORD_KEY";
    assert_int_equal(ask_with(&h, &sum, &conf, "/word", "{}", false, &err), RUNG_OK);
    assert_non_null(strstr(h.body, "\"text\": \"a text of text\""));
    assert_non_null(strstr(h.shown, "\"text\": \"a [key] of [key]\""));
    assert_int_equal(ask_with(&h, &sum, &conf, "/word", "{}", false, &err), RUNG_OK);
    assert_int_equal(sum.stored, 1);
    assert_non_null(strstr(h.body, "\"text\": \"a [key] of [key]\""));
    rung_store_close(store);
}

static void trailers_are_counted(void **state)
{
    (void)state;
    heard h;
    rung_client_sum sum;
    rung_error err;
    rung_client_options conf = fast_conf(NULL);
    conf.retries = 0;
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    assert_int_not_equal(ask_with(&h, &sum, &conf, "/trailers", "{}", false, &err), RUNG_OK);
    getrusage(RUSAGE_SELF, &after);
    assert_non_null(strstr(err.text, "headers"));
    assert_true(after.ru_maxrss - before.ru_maxrss < 50 * 1024); /* a hundred megabytes are sent */
}

static void loopback_is_an_address(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        bool exposed;
    } places[] = {
        {"http://127.0.0.1:8000/v1", false}, {"http://127.8.9.10/", false},     {"http://localhost:1/", false},
        {"http://[::1]:8000/", false},       {"http://127.example.org/", true}, {"http://127.0.0.1.nip.io/", true},
        {"http://localhost.example/", true}, {"http://[::2]/", true},           {"http://128.0.0.1/", true},
        {"https://127.example.org/", false},
    };
    rung_error err;
    for (size_t i = 0; i < RUNG_COUNT(places); i++) {
        rung_client *client;
        rung_client_options conf = {.base_url = places[i].url, .key_variable = "RUNG_TEST_KEY"};
        assert_int_equal(rung_client_new(&client, &conf, &err), RUNG_OK);
        assert_int_equal(rung_client_key_exposed(client), places[i].exposed);
        rung_client_free(client);
    }
}

static void bad_keys_and_addresses_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"127.0.0.1:8000",     "ftp://host/",      "http://",
                                      "http://u:p@host/",   "http://host/?k=1", "http://host/#x",
                                      "file:///etc/passwd", "http://ho st/",    "https://host:99999/v1"};
    heard h;
    rung_client_sum sum;
    rung_error err;
    rung_client_options conf = fast_conf(NULL);
    for (size_t i = 0; i < RUNG_COUNT(bad); i++) {
        conf.base_url = bad[i];
        assert_int_equal(ask_with(&h, &sum, &conf, "/good", "{}", false, &err), RUNG_USAGE);
        assert_null(strstr(err.text, "u:p"));
    }
    conf = fast_conf(NULL);
    conf.key_variable = "RUNG_TEST_NO_SUCH_KEY";
    assert_int_equal(ask_with(&h, &sum, &conf, "/good", "{}", false, &err), RUNG_USAGE);
    setenv("RUNG_TEST_BROKEN_KEY", "a\r\nX-Injected: 1", 1);
    conf.key_variable = "RUNG_TEST_BROKEN_KEY";
    assert_int_equal(ask_with(&h, &sum, &conf, "/good", "{}", false, &err), RUNG_USAGE);
    assert_null(strstr(err.text, "Injected"));
}

static void nobody_listens(void **state)
{
    (void)state;
    heard h;
    rung_client_sum sum;
    rung_error err;
    rung_client_options conf = fast_conf(NULL);
    conf.base_url = "http://127.0.0.1:1";
    assert_int_equal(ask_with(&h, &sum, &conf, "/good", NULL, false, &err), RUNG_SYSTEM);
    assert_int_equal(sum.attempts, 3);
    assert_non_null(strstr(err.text, "check that the server is running"));
}

static void refusal_may_be_an_answer(void **state)
{
    (void)state;
    heard h;
    rung_client_sum sum;
    rung_error err;
    rung_client_options conf = fast_conf(NULL);
    assert_int_equal(ask_with(&h, &sum, &conf, "/refused", "{}", true, &err), RUNG_OK);
    assert_int_equal(h.http, 400);
}

static void known_replies_are_not_asked_again(void **state)
{
    (void)state;
    heard h;
    rung_client_sum sum;
    rung_error err;
    rung_store *store;
    char path[64];
    snprintf(path, sizeof path, "%s/known.db", directory);
    assert_int_equal(rung_store_open(&store, path, RUNG_STORE_WRITE, 5, &err), RUNG_OK);
    rung_client_options conf = fast_conf(store);
    assert_int_equal(ask_with(&h, &sum, &conf, "/good", "{\"q\": 1}", false, &err), RUNG_OK);
    assert_int_equal(sum.attempts, 1);
    char first[8192];
    snprintf(first, sizeof first, "%s", h.body);
    assert_int_equal(ask_with(&h, &sum, &conf, "/good", "{\"q\": 1}", false, &err), RUNG_OK);
    assert_int_equal(sum.attempts, 0);
    assert_true(h.stored);
    assert_string_equal(first, h.body);
    assert_int_equal(ask_with(&h, &sum, &conf, "/good", "{\"q\": 2}", false, &err), RUNG_OK);
    assert_int_equal(sum.attempts, 1);
    assert_int_equal(ask_with(&h, &sum, &conf, "/refused", "{}", true, &err), RUNG_OK);
    assert_int_equal(ask_with(&h, &sum, &conf, "/refused", "{}", true, &err), RUNG_OK);
    assert_int_equal(sum.attempts, 1); /* a refusal is recorded and asked again */
    size_t count;
    assert_int_equal(ask_with(&h, &sum, &conf, "/garbage", "{}", false, &err), RUNG_SYSTEM);
    assert_int_equal(rung_store_exchange_count(&count, store, &err), RUNG_OK);
    assert_int_equal(count, 7); /* every attempt: 2 good, 2 refused, 3 garbage */
    rung_store_close(store);
}

static int tickets;
static bool go_while_tickets(void *context)
{
    (void)context;
    return tickets > 0;
}
static bool take_ticket(void *context, size_t index, const rung_client_response *answer)
{
    (void)answer;
    ((bool *)context)[index] = true;
    tickets--;
    return true;
}

/* What is under way is finished and kept; nothing new is begun; the same again does the rest only. */
static void stopping_finishes_what_is_under_way(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    static rung_client_request asks[COUNT];
    static char body[COUNT][32];
    static bool done[COUNT];
    rung_error err;
    rung_store *store;
    rung_client *client;
    rung_client_sum sum;
    char path[64];
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(body[i], sizeof body[i], "{\"i\": %zu}", i);
        asks[i] = (rung_client_request){.path = "/counted", .body = body[i]};
    }
    snprintf(path, sizeof path, "%s/stop.db", directory);
    assert_int_equal(rung_store_open(&store, path, RUNG_STORE_WRITE, 5, &err), RUNG_OK);
    rung_client_options conf = fast_conf(store);
    conf.concurrency = 4;
    conf.go = go_while_tickets;
    assert_int_equal(rung_client_new(&client, &conf, &err), RUNG_OK);
    tickets = 6;
    assert_int_equal(rung_client_run(&sum, client, asks, COUNT, false, take_ticket, done, &err), RUNG_OK);
    assert_true(sum.stopped);
    assert_int_equal(sum.done, sum.attempts); /* whatever was begun has been heard */
    assert_in_range(sum.done, 6, 10);
    size_t before = sum.done;
    tickets = 1000;
    assert_int_equal(rung_client_run(&sum, client, asks, COUNT, false, take_ticket, done, &err), RUNG_OK);
    assert_int_equal(sum.stored, before);
    assert_int_equal(sum.attempts, COUNT - before);
    for (size_t i = 0; i < COUNT; i++) assert_true(done[i]);
    rung_client_free(client);
    rung_store_close(store);
    heard h;
    conf = fast_conf(NULL);
    assert_int_equal(ask_with(&h, &sum, &conf, "/count", NULL, false, &err), RUNG_OK);
    assert_string_equal(h.body, "{\"good\": 40}"); /* none was asked twice */
}

static void rate_is_limited(void **state)
{
    (void)state;
    rung_client_request asks[5];
    bool done[5];
    rung_error err;
    rung_client *client;
    rung_client_sum sum;
    for (size_t i = 0; i < 5; i++) asks[i] = (rung_client_request){.path = "/good"};
    rung_client_options conf = fast_conf(NULL);
    conf.rpm = 600;
    assert_int_equal(rung_client_new(&client, &conf, &err), RUNG_OK);
    double before = rung_wall_s();
    tickets = 100;
    assert_int_equal(rung_client_run(&sum, client, asks, 5, false, take_ticket, done, &err), RUNG_OK);
    assert_true(rung_wall_s() - before >= 0.4); /* 5 starts, a tenth of a second apart */
    rung_client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weak_moments_are_tried_again),
        cmocka_unit_test(what_stays_wrong_is_told),
        cmocka_unit_test(refusals_are_not_repeated),
        cmocka_unit_test(large_bodies_are_cut_off),
        cmocka_unit_test(drips_and_silence_end),
        cmocka_unit_test(retry_after_is_obeyed),
        cmocka_unit_test(retry_after_in_both_forms),
        cmocka_unit_test(backoff_doubles_within_its_limits),
        cmocka_unit_test(key_goes_to_its_server_alone),
        cmocka_unit_test(key_is_found_in_every_spelling),
        cmocka_unit_test(key_that_is_a_word_spoils_no_reply),
        cmocka_unit_test(trailers_are_counted),
        cmocka_unit_test(loopback_is_an_address),
        cmocka_unit_test(bad_keys_and_addresses_are_refused),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(refusal_may_be_an_answer),
        cmocka_unit_test(known_replies_are_not_asked_again),
        cmocka_unit_test(stopping_finishes_what_is_under_way),
        cmocka_unit_test(rate_is_limited),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
