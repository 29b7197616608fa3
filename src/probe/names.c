/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Finds words that are one token of the served tokenizer, with the space before them. Several words are counted at
 * once: k words that add k tokens are one token each; otherwise the group is halved. The counts come from /tokenize if
 * the server has it, else from the number of prompt tokens that the server reports.
 */
#include <stdlib.h>
#include <string.h>

#include "probe_internal.h"

#define GROUP 32
#define BASE  "Answer:"

/* Words [first, first + len) of the list. */
typedef struct group {
    size_t first, len;
    size_t tokens; /* counted; SIZE_MAX: not yet */
} group;

/* Ways to count, in the order in which they are tried. */
typedef enum counter { COUNT_PROMPT = 0, COUNT_CONTENT, COUNT_USAGE } counter;

typedef struct counting {
    rung_probe *probe;
    const char *const *word;
    counter counter;
    group *group;
    rung_error *err;
    rung_status status;
    bool refused;
} counting;

static rung_status read_count(size_t *tokens, counting *c, const rung_client_response *answer, rung_error *err)
{
    size_t most = 0;
    if (c->counter != COUNT_USAGE) {
        rung_status status = rung_reply_tokens(tokens, &most, answer->body, answer->len, NULL);
        if (status != RUNG_OK) status = rung_reply_tokens(tokens, &most, answer->shown, answer->shown_len, err);
        if (status == RUNG_OK && most) c->probe->server.context = most;
        return status;
    }
    rung_reply reply;
    rung_status status = rung_reply_take(&reply, answer, err);
    if (status == RUNG_OK && reply.prompt_tokens < 0)
        status = rung_fail(err, RUNG_INPUT,
                           "the server has no /tokenize and does not report usage.prompt_tokens, so it is unknown "
                           "which words are one token");
    if (status == RUNG_OK) *tokens = (size_t)reply.prompt_tokens;
    rung_reply_clear(&reply);
    return status;
}

static bool take_count(void *context, size_t index, const rung_client_response *answer)
{
    counting *c = context;
    if (answer->http >= 400) {
        c->refused = true;
        return true;
    }
    rung_error err;
    rung_status status = read_count(&c->group[index].tokens, c, answer, &err);
    if (status != RUNG_OK && c->status == RUNG_OK) {
        c->status = status;
        rung_fail(c->err, status, "%s", err.text);
    }
    return status == RUNG_OK;
}

static void put_text(rung_buf *out, const counting *c, const group *g)
{
    rung_buf_puts(out, BASE);
    for (size_t i = 0; i < g->len; i++) rung_buf_printf(out, " %s", c->word[g->first + i]);
}

static void put_body(rung_buf *out, const counting *c, const group *g)
{
    rung_buf text;
    rung_buf_init(&text);
    put_text(&text, c, g);
    const char *prompt = text.text ? text.text : "";
    if (c->counter == COUNT_USAGE)
        probe_body(out, &c->probe->dialect, &c->probe->conf, prompt, 0);
    else
        probe_tokenize_body(out, c->probe->conf.model, prompt, c->counter == COUNT_CONTENT);
    if (text.failed) out->failed = true;
    rung_buf_clear(&text);
}

/* Fills tokens of all groups. */
static rung_status count_groups(counting *c, group *groups, size_t count)
{
    rung_buf *body = rung_calloc(count, sizeof *body, c->err);
    rung_client_request *asks = rung_calloc(count, sizeof *asks, c->err);
    rung_status status = body && asks ? RUNG_OK : RUNG_SYSTEM;
    rung_client_sum sum = {0};
    c->group = groups;
    for (size_t i = 0; status == RUNG_OK && i < count; i++) {
        rung_buf_init(&body[i]);
        groups[i].tokens = SIZE_MAX;
        put_body(&body[i], c, &groups[i]);
        status = rung_buf_ok(&body[i], c->err);
        asks[i].path = c->counter == COUNT_USAGE ? probe_path(&c->probe->dialect) : "/tokenize";
        asks[i].body = body[i].text;
    }
    RUNG_NEXT(status, rung_client_run(&sum, c->probe->conf.client, asks, count, c->counter != COUNT_USAGE, take_count,
                                      c, c->err));
    RUNG_NEXT(status, c->status);
    if (sum.stopped && status == RUNG_OK) c->probe->stopped = true;
    for (size_t i = 0; body && i < count; i++) rung_buf_clear(&body[i]);
    free(body);
    free(asks);
    return status;
}

/* Halves groups of more tokens than words, and drops single words of several tokens. Returns the number of groups
 * left. */
static size_t split(group *to, const group *from, size_t count, size_t base, bool *is_single)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        group g = from[i];
        if (g.tokens == base + g.len) {
            for (size_t w = 0; w < g.len; w++) is_single[g.first + w] = true;
        } else if (g.len > 1) {
            size_t half = g.len / 2;
            to[left++] = (group){g.first, half, SIZE_MAX};
            to[left++] = (group){g.first + half, g.len - half, SIZE_MAX};
        }
    }
    return left;
}

static rung_status sieve(counting *c, bool *is_single, group *now, group *next, size_t words, size_t base)
{
    size_t count = 0;
    rung_status status = RUNG_OK;
    for (size_t first = 0; first < words; first += GROUP)
        now[count++] = (group){first, words - first < GROUP ? words - first : GROUP, SIZE_MAX};
    while (status == RUNG_OK && count && !c->probe->stopped && !c->refused) {
        status = count_groups(c, now, count);
        if (status != RUNG_OK || c->probe->stopped) break;
        count = split(next, now, count, base, is_single);
        group *swap = now;
        now = next, next = swap;
    }
    return status;
}

/* Counts the tokens before the words. A server without this field, or without /tokenize, refuses or counts nothing. */
static rung_status count_base(group *base, counting *c)
{
    rung_status status = count_groups(c, base, 1);
    while (status == RUNG_OK && !c->probe->stopped && c->counter < COUNT_USAGE && (c->refused || base->tokens == 0)) {
        c->refused = false;
        c->counter++;
        status = count_groups(c, base, 1);
    }
    return status;
}

/* is_single[i]: word i is one token. */
static rung_status find_single(bool *is_single, counting *c, size_t words)
{
    group base = {0, 0, SIZE_MAX};
    rung_status status = count_base(&base, c);
    if (status != RUNG_OK || c->probe->stopped) return status;
    group *now = rung_calloc(2 * words + 2, sizeof *now, c->err);
    group *next = rung_calloc(2 * words + 2, sizeof *next, c->err);
    status = now && next ? sieve(c, is_single, now, next, words, base.tokens) : RUNG_SYSTEM;
    free(now);
    free(next);
    return status;
}

/* ---- the pool ---------------------------------------------------------------------------------------------------- */

static size_t count_candidates(void)
{
    size_t count = 0;
    while (rung_text_candidate_at(count)) count++;
    return count;
}

static rung_status keep_single(rung_probe *probe, const char *const *word, const bool *is_single, size_t words,
                               rung_error *err)
{
    free(probe->pool);
    probe->pool = rung_calloc(words, sizeof *probe->pool, err);
    if (!probe->pool) return RUNG_SYSTEM;
    probe->pool_count = 0;
    for (size_t i = 0; i < words; i++)
        if (is_single[i]) probe->pool[probe->pool_count++] = word[i];
    return RUNG_OK;
}

/* Finds twice as many names as a prompt needs, so that names differ from prompt to prompt; tries all words if
 * necessary. */
static rung_status find_among(rung_probe *probe, const char **word, bool *is_single, size_t words, rung_error *err)
{
    counting c = {.probe = probe, .word = word, .err = err};
    for (size_t i = 0; i < words; i++) word[i] = rung_text_candidate_at(i);
    size_t first = 2 * probe->names_needed + GROUP < words ? 2 * probe->names_needed + GROUP : words;
    rung_status status = find_single(is_single, &c, first);
    if (status == RUNG_OK && !probe->stopped) status = keep_single(probe, word, is_single, first, err);
    if (status == RUNG_OK && !probe->stopped && probe->pool_count < probe->names_needed && first < words) {
        memset(is_single, 0, words * sizeof *is_single);
        status = find_single(is_single, &c, words);
        if (status == RUNG_OK && !probe->stopped) status = keep_single(probe, word, is_single, words, err);
    }
    probe->server.tokenizer = c.counter == COUNT_USAGE ? "usage.prompt_tokens" : "/tokenize";
    return status;
}

rung_status probe_names_find(rung_probe *probe, rung_error *err)
{
    size_t words = count_candidates();
    const char **word = rung_calloc(words, sizeof *word, err);
    bool *is_single = rung_calloc(words, sizeof *is_single, err);
    rung_status status = word && is_single ? find_among(probe, word, is_single, words, err) : RUNG_SYSTEM;
    free(word);
    free(is_single);
    if (status != RUNG_OK || probe->stopped) return status;
    probe->server.names = probe->pool_count;
    if (probe->pool_count < probe->names_needed)
        return rung_fail(err, RUNG_INPUT,
                         "%zu names are needed, but of %zu words only %zu are one token of the served tokenizer "
                         "(counted by %s); use fewer facts",
                         probe->names_needed, words, probe->pool_count, probe->server.tokenizer);
    return RUNG_OK;
}

/* ---- answers that are no names ----------------------------------------------------------------------------------- */

#define OTHER_MOST 4096

typedef struct other_words {
    const char **word; /* [OTHER_MOST] */
    size_t count;
    rung_arena arena;
} other_words;

static bool is_among(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], word) == 0) return true;
    return false;
}

static rung_status add_others(other_words *others, const rung_probe *probe, const probe_cell *cell, rung_error *err)
{
    probe_question q;
    rung_status status = probe_question_init(&q, cell, &probe->conf, probe->pool, probe->pool_count, true, 0, err);
    for (size_t i = 0; status == RUNG_OK && i < q.count && others->count < OTHER_MOST; i++) {
        if (is_among(q.answers[i], probe->pool, probe->pool_count) ||
            is_among(q.answers[i], others->word, others->count))
            continue;
        others->word[others->count] = rung_arena_strdup(&others->arena, q.answers[i], err);
        if (!others->word[others->count++]) status = RUNG_SYSTEM;
    }
    probe_question_clear(&q);
    return status;
}

static rung_status check_others(rung_probe *probe, const other_words *others, rung_error *err)
{
    counting c = {.probe = probe, .word = others->word, .err = err};
    bool *is_single = rung_calloc(others->count, sizeof *is_single, err);
    rung_status status = is_single ? find_single(is_single, &c, others->count) : RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && !probe->stopped && i < others->count; i++)
        if (!is_single[i])
            status = rung_fail(err, RUNG_INPUT,
                               "the answer '%.40s' is more than one token of the served tokenizer, so the first token "
                               "does not determine it; use --spelling facts, or another task",
                               others->word[i]);
    probe->server.tokenizer = c.counter == COUNT_USAGE ? "usage.prompt_tokens" : "/tokenize";
    free(is_single);
    return status;
}

rung_status probe_answers_check(rung_probe *probe, rung_error *err)
{
    other_words others = {.word = rung_calloc(OTHER_MOST, sizeof(char *), err)};
    rung_status status = others.word ? RUNG_OK : RUNG_SYSTEM;
    rung_arena_init(&others.arena);
    for (size_t i = 0; status == RUNG_OK && i < probe->cells; i++)
        if (probe->cell[i].mode != PROBE_CHAIN_OF_THOUGHT) status = add_others(&others, probe, &probe->cell[i], err);
    if (status == RUNG_OK && others.count && probe->dialect.api == RUNG_PROBE_COMPLETIONS)
        status = check_others(probe, &others, err);
    rung_arena_clear(&others.arena);
    free(others.word);
    return status;
}
