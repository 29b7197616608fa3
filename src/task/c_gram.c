/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * c-gram: a sequence of N symbols, a separator, then c-1 symbols that occur in the sequence with one
 * continuation only; the answer is that continuation (Wen, Dang, Lyu 2025). The separator keeps the query
 * from being a continuation of the sequence itself.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "halves.h"
#include "symbols.h"
#include "task_rows.h"

enum { DIST_UNIFORM, DIST_HARD };
static const char *const dist_names[] = {"uniform", "hard", NULL};

static const rung_param params[] = {
    {"c", RUNG_PARAM_INT, 3, 2, 16, NULL, "length of the gram; the query has c - 1 symbols"},
    {"N", RUNG_PARAM_INT, 32, 2, 1 << 16, NULL, "symbols of the sequence; the prompt has N + c tokens"},
    {"V", RUNG_PARAM_INT, 16, 2, 1 << 20, NULL, "alphabet"},
    {"dist", RUNG_PARAM_CHOICE, DIST_UNIFORM, 0, 0, dist_names,
     "any such query, or one whose last c-2 symbols do not suffice"},
    {0},
};

/* Tables are indexed by the number that a gram spells in base V. 2^20 entries take 4 MB. */
#define GRAMS_MAX ((size_t)1 << 20)
/* Draws of a sequence before the parameters are refused. If 1 % of the sequences are good, all draws fail once in
 * 10^17. */
#define ATTEMPTS  4096
#define AMBIGUOUS UINT32_MAX

typedef struct grams {
    size_t c, n, alphabet, width; /* width = V^(c-1) */
    uint32_t *next;               /* [V^(c-1)] 1 + the continuation, 0 when unseen, or AMBIGUOUS */
    uint32_t *next_of_suffix;     /* [V^(c-2)] the same for the last c-2 symbols */
    uint32_t *eligible;           /* [N] positions of the grams that may be asked */
    uint32_t *votes;              /* [V] */
} grams;

static void grams_close(grams *g)
{
    free(g->next);
    free(g->next_of_suffix);
    free(g->eligible);
    free(g->votes);
}

static rung_status grams_open(grams *g, const rung_task_conf *conf, rung_error *err)
{
    *g = (grams){.c = (size_t)rung_task_param(conf, "c"),
                 .n = (size_t)rung_task_param(conf, "N"),
                 .alphabet = (size_t)rung_task_param(conf, "V"),
                 .width = conf->derived[0]};
    g->next = rung_calloc(g->width, sizeof *g->next, err);
    g->next_of_suffix = rung_calloc(g->width / g->alphabet, sizeof *g->next_of_suffix, err);
    g->eligible = rung_calloc(g->n, sizeof *g->eligible, err);
    g->votes = rung_calloc(g->alphabet, sizeof *g->votes, err);
    if (g->next && g->next_of_suffix && g->eligible && g->votes) return RUNG_OK;
    grams_close(g);
    return RUNG_SYSTEM;
}

static void note_continuation(uint32_t *entry, uint32_t symbol)
{
    *entry = *entry == 0 || *entry == symbol + 1 ? symbol + 1 : AMBIGUOUS;
}

static size_t spell(const uint32_t *symbol, size_t len, size_t alphabet)
{
    size_t code = 0;
    for (size_t i = 0; i < len; i++) code = code * alphabet + symbol[i];
    return code;
}

/* Fills both tables from the sequence. They must be zero for the grams of the sequence; forget() clears them again. */
static void learn(grams *g, const uint32_t *symbol)
{
    for (size_t i = 0; i + g->c <= g->n; i++) {
        size_t code = spell(symbol + i, g->c - 1, g->alphabet);
        note_continuation(&g->next[code], symbol[i + g->c - 1]);
        note_continuation(&g->next_of_suffix[code % (g->width / g->alphabet)], symbol[i + g->c - 1]);
    }
}

static void forget(grams *g, const uint32_t *symbol)
{
    for (size_t i = 0; i + g->c <= g->n; i++) {
        size_t code = spell(symbol + i, g->c - 1, g->alphabet);
        g->next[code] = 0;
        g->next_of_suffix[code % (g->width / g->alphabet)] = 0;
    }
}

/* Writes the positions of grams that may be asked to g->eligible, and returns their number. */
static size_t list_eligible(grams *g, const uint32_t *symbol, bool hard)
{
    size_t count = 0;
    learn(g, symbol);
    for (size_t i = 0; i + g->c <= g->n; i++) {
        size_t code = spell(symbol + i, g->c - 1, g->alphabet);
        if (g->next[code] == AMBIGUOUS) continue;
        if (hard && g->next_of_suffix[code % (g->width / g->alphabet)] != AMBIGUOUS) continue;
        g->eligible[count++] = (uint32_t)i;
    }
    forget(g, symbol);
    return count;
}

/* Draws a uniform sequence, conditioned on having at least one gram that may be asked. */
static rung_status draw_sequence(uint32_t *symbol, size_t *eligible, grams *g, const rung_task_conf *conf,
                                 rung_rng *rng, rung_error *err)
{
    bool hard = rung_task_param(conf, "dist") == DIST_HARD;
    for (size_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        for (size_t i = 0; i < g->n; i++) symbol[i] = (uint32_t)rung_rng_below(rng, g->alphabet);
        *eligible = list_eligible(g, symbol, hard);
        if (*eligible > 0) return RUNG_OK;
    }
    return rung_fail(err, RUNG_USAGE,
                     "task c-gram: random sequences with c=%zu, N=%zu, V=%zu have no %s with one continuation; "
                     "raise c or V, or lower N%s",
                     g->c, g->n, g->alphabet, hard ? "hard gram" : "gram", hard ? ", or use dist=uniform" : "");
}

/* Returns the share of the most common continuation among the grams that may be asked. */
static double best_blind_share(grams *g, const uint32_t *symbol, size_t eligible)
{
    uint32_t most = 0;
    memset(g->votes, 0, g->alphabet * sizeof *g->votes);
    for (size_t i = 0; i < eligible; i++) {
        uint32_t count = ++g->votes[symbol[g->eligible[i] + g->c - 1]];
        if (count > most) most = count;
    }
    return (double)most / (double)eligible;
}

/* The mean of the best share over fixed-seed sequences: 2^18 symbols in total, but at least 64 sequences. */
static rung_status blind_level(double *level, const rung_task_conf *conf, rung_error *err)
{
    grams g;
    rung_status status = grams_open(&g, conf, err);
    RUNG_TRY(status);
    uint32_t *symbol = rung_calloc(g.n, sizeof *symbol, err);
    if (!symbol) status = RUNG_SYSTEM;
    size_t draws = ((size_t)1 << 18) / g.n;
    if (draws < 64) draws = 64;
    double sum = 0;
    for (size_t d = 0; d < draws && status == RUNG_OK; d++) {
        rung_rng rng;
        size_t eligible;
        rung_rng_init(&rng, g.c, g.alphabet, d);
        status = draw_sequence(symbol, &eligible, &g, conf, &rng, err);
        if (status == RUNG_OK) sum += best_blind_share(&g, symbol, eligible);
    }
    *level = sum / (double)draws;
    free(symbol);
    grams_close(&g);
    return status;
}

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    size_t c = (size_t)rung_task_param(conf, "c"), n = (size_t)rung_task_param(conf, "N");
    size_t alphabet = (size_t)rung_task_param(conf, "V"), width = 1;
    if (n < c) return rung_fail(err, RUNG_USAGE, "task c-gram: N=%zu symbols hold no gram of c=%zu; raise N", n, c);
    for (size_t i = 0; i + 1 < c; i++) {
        if (!rung_size_mul(&width, width, alphabet) || width > GRAMS_MAX)
            return rung_fail(err, RUNG_USAGE, "task c-gram: V^(c-1) = %zu^%zu is above the limit %zu; lower V or c",
                             alphabet, c - 1, GRAMS_MAX);
    }
    conf->derived[0] = width;
    conf->tokens = n + c;
    conf->vocab = alphabet + 1;
    conf->answers = alphabet;
    conf->chance = 1 / (double)alphabet;
    return blind_level(&conf->majority, conf, err);
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    grams g;
    size_t eligible;
    RUNG_TRY(grams_open(&g, conf, err));
    rung_status status = draw_sequence(instance->token, &eligible, &g, conf, rng, err);
    if (status == RUNG_OK) {
        size_t from = g.eligible[rung_rng_below(rng, eligible)];
        instance->token[g.n] = (uint32_t)g.alphabet;
        memcpy(instance->token + g.n + 1, instance->token + from, (g.c - 1) * sizeof(uint32_t));
        instance->tokens = g.n + g.c;
    }
    grams_close(&g);
    return status;
}

static rung_status check_prompt(const rung_instance *instance, const rung_task_conf *conf, size_t n, size_t c,
                                rung_error *err)
{
    uint32_t value;
    rung_status status = rung_task_expect_tokens(instance, conf, n + c, err);
    for (size_t t = 0; t < n + c && status == RUNG_OK; t++)
        status = t == n ? rung_task_expect_token(&value, instance, conf, t, conf->answers, 1, "the separator", err)
                        : rung_task_expect_token(&value, instance, conf, t, 0, conf->answers, "a symbol", err);
    return status;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    size_t c = (size_t)rung_task_param(conf, "c"), n = (size_t)rung_task_param(conf, "N");
    RUNG_TRY(check_prompt(instance, conf, n, c, err));
    const uint32_t *symbol = instance->token, *query = instance->token + n + 1;
    uint32_t answer = 0; /* encoded as in grams.next */
    for (size_t i = 0; i + c <= n; i++)
        if (memcmp(symbol + i, query, (c - 1) * sizeof *query) == 0) note_continuation(&answer, symbol[i + c - 1]);
    if (answer == 0 || answer == AMBIGUOUS)
        return rung_fail(err, RUNG_INPUT,
                         "task c-gram: the %zu symbols from position %zu on have %s continuation in the "
                         "sequence; one is needed",
                         c - 1, n + 1, answer ? "more than one" : "no");
    rung_task_answer_last(instance, (int32_t)(answer - 1));
    return RUNG_OK;
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    rung_task_players_two(instance, (size_t)rung_task_param(conf, "N"), "sequence", "query");
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    if (token == conf->answers)
        rung_buf_putc(out, '?');
    else
        rung_symbols_answer_word(out, conf, (int32_t)token);
}

static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    bool separator = pos == (size_t)rung_task_param(conf, "N");
    return separator ? (rung_ids){conf->answers, 1} : (rung_ids){0, conf->answers};
}

const rung_task rung_task_c_gram = {
    .name = "c-gram",
    .summary = "a sequence, then c-1 symbols of it: the symbol that follows them",
    .source = "Wen, Dang, Lyu 2025: c-gram retrieval",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = rung_symbols_answer_word,
    .vote = rung_symbols_vote,
    RUNG_TASK_IDS(ids),
};
