/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of single tasks share: a configuration with an instance, refusals, balance, players, text.
 */
#ifndef RUNG_TESTS_TASK_PROMPTS_H
#define RUNG_TESTS_TASK_PROMPTS_H

#include "rung/task.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct prompts {
    rung_task_conf conf;
    rung_instance in;
    rung_error err;
} prompts;

static inline void prompts_open(prompts *p, const char *text)
{
    memset(p, 0, sizeof *p);
    if (rung_task_conf_parse(&p->conf, text, &p->err) != RUNG_OK) fail_msg("%s: %s", text, p->err.text);
    if (rung_instance_init(&p->in, &p->conf, &p->err) != RUNG_OK) fail_msg("%s: %s", text, p->err.text);
}

static inline void prompts_close(prompts *p)
{
    rung_instance_clear(&p->in);
}

static inline void prompts_make(prompts *p, uint64_t index)
{
    if (rung_task_make(&p->in, &p->conf, 7, index, &p->err) != RUNG_OK)
        fail_msg("%s %llu: %s", p->conf.task->name, (unsigned long long)index, p->err.text);
}

/* Old targets must not shine through. */
static inline rung_status prompts_solve(prompts *p)
{
    p->err.text[0] = 0;
    for (size_t t = 0; t < p->conf.tokens; t++) p->in.target[t] = 99;
    return p->conf.task->solve(&p->in, &p->conf, &p->err);
}

/* Solves a prompt that is written down, a word per token, and returns the last target. */
static inline int32_t prompts_answer(prompts *p, const char *words)
{
    if (rung_task_symbols_read(&p->in, words, &p->conf, &p->err) != RUNG_OK || prompts_solve(p) != RUNG_OK)
        fail_msg("%s: %s", words, p->err.text);
    return p->in.target[p->in.tokens - 1];
}

/* The oracle must refuse what is in the instance now, and name the position. */
static inline void prompts_refused(prompts *p, const char *place)
{
    assert_int_equal(prompts_solve(p), RUNG_INPUT);
    if (!strstr(p->err.text, place)) fail_msg("'%s' is not in: %s", place, p->err.text);
}

static inline void prompts_not_a_task(const char *text)
{
    rung_task_conf conf;
    rung_error err = {{0}};
    rung_status status = rung_task_conf_parse(&conf, text, &err);
    if (status != RUNG_USAGE || !err.text[0]) fail_msg("%s: status %d, '%s'", text, status, err.text);
}

/* Five standard deviations of a fair coin. */
static inline void prompts_fair(size_t yes, size_t total, const char *what, size_t position)
{
    double off = 2.0 * (double)yes - (double)total;
    if (off * off > 25.0 * (double)total) fail_msg("%s, position %zu: %zu of %zu", what, position, yes, total);
}

/* Yes and no are equally frequent at every position that has a target. */
static inline void prompts_balanced(const char *text, size_t count)
{
    prompts p;
    prompts_open(&p, text);
    size_t *yes = calloc(p.conf.tokens, sizeof *yes), *asked = calloc(p.conf.tokens, sizeof *asked), any = 0;
    for (size_t i = 0; i < count; i++) {
        prompts_make(&p, i);
        for (size_t t = 0; t < p.in.tokens; t++) {
            asked[t] += p.in.target[t] != RUNG_NO_TARGET;
            yes[t] += p.in.target[t] == 1;
        }
    }
    for (size_t t = 0; t < p.conf.tokens; t++) {
        assert_true(asked[t] == 0 || asked[t] == count);
        any += asked[t];
        if (asked[t]) prompts_fair(yes[t], count, text, t);
    }
    assert_true(any > 0);
    free(yes);
    free(asked);
    prompts_close(&p);
}

/* `names` in prompt order, e.g. "alice bob". */
static inline void prompts_players(const char *text, const char *names, const size_t *starts)
{
    prompts p;
    char have[256] = "";
    size_t end = 0;
    prompts_open(&p, text);
    prompts_make(&p, 0);
    for (size_t i = 0; i < p.in.player_count; i++) {
        if (i) strcat(have, " ");
        strcat(have, p.in.player[i].name);
        assert_int_equal(p.in.player[i].start, starts[i]);
        assert_int_equal(p.in.player[i].start, end);
        end += p.in.player[i].len;
    }
    assert_string_equal(have, names);
    assert_int_equal(end, p.in.tokens);
    prompts_close(&p);
}

/* Text and back: the same tokens. Every id has a word of its own. */
static inline void prompts_text_round_trip(const char *text)
{
    prompts p, q;
    rung_buf buf;
    prompts_open(&p, text);
    prompts_open(&q, text);
    rung_buf_init(&buf);
    p.in.tokens = p.conf.tokens;
    for (size_t first = 0; first < p.conf.vocab; first += p.conf.tokens) {
        rung_buf_reset(&buf);
        for (size_t t = 0; t < p.conf.tokens; t++) p.in.token[t] = (uint32_t)((first + t) % p.conf.vocab);
        rung_task_symbols_write(&buf, &p.in, &p.conf);
        if (rung_task_symbols_read(&q.in, buf.text, &q.conf, &q.err) != RUNG_OK) fail_msg("%s", q.err.text);
        assert_int_equal(q.in.tokens, p.in.tokens);
        assert_memory_equal(q.in.token, p.in.token, p.in.tokens * sizeof(uint32_t));
    }
    rung_buf_clear(&buf);
    prompts_close(&p);
    prompts_close(&q);
}

/* No predictor without attention is above the declared level. */
static inline void prompts_no_leak(const char *text, size_t count)
{
    prompts p;
    rung_leak leak;
    prompts_open(&p, text);
    assert_int_equal(rung_task_leak(&leak, &p.conf, 3, count, &p.err), RUNG_OK);
    assert_true(leak.tested > 0);
    double limit = leak.declared + leak.slack;
    if (leak.majority > limit || leak.position > limit || leak.frequency > limit)
        fail_msg("%s: %g %g %g above %g", text, leak.majority, leak.position, leak.frequency, limit);
    prompts_close(&p);
}

/* Copies what stands between `before` and the next of the characters in `stops`. */
static inline bool text_after(char *out, size_t size, const char *text, const char *before, const char *stops)
{
    const char *at = strstr(text, before);
    if (!at) return false;
    at += strlen(before);
    size_t len = strcspn(at, stops);
    assert_true(len > 0 && len < size);
    memcpy(out, at, len);
    out[len] = 0;
    return true;
}

#endif
