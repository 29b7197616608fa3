/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * k-hop induction heads (Sanford, Hsu, Telgarsky 2024): a hop goes from position i to the successor of the
 * last earlier occurrence of x_i, find(i) = max{j <= i : x_{j-1} = x_i}; the answer at i is x at find^k(i),
 * or "none" where a hop has nowhere to go. k = 0 asks for x_i itself.
 *
 * Prompt: the hop count as one token, then N symbols. Ids [0, A) are symbols, A + h is the hop count h;
 * answers [0, A) are symbols, A is "none". Generated sequences have no immediate repeats and are uniform
 * among those.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "story.h"
#include "task_rows.h"
#include "text_form.h"

static const char *const hop_names[] = {"fixed", "uniform", NULL};
static const char *const target_names[] = {"all", "last", NULL};

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 32, 2, (int64_t)RUNG_TASK_TOKENS_MAX - 1, NULL, "N, symbols after the hop count"},
    /* Two symbols without immediate repeats would alternate, and there would be only two sequences. */
    {"alphabet", RUNG_PARAM_INT, 4, 3, (int64_t)1 << 23, NULL, "number of symbols"},
    {"k", RUNG_PARAM_INT, 2, 0, (int64_t)1 << 20, NULL, "k, hops"},
    {"hops", RUNG_PARAM_CHOICE, 0, 0, 0, hop_names, "hop count of a prompt: k, or uniform in 0..k"},
    {"targets", RUNG_PARAM_CHOICE, 0, 0, 0, target_names, "ask at every symbol, or at the last one"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

typedef struct shape {
    size_t symbols, alphabet, k;
    bool hops_vary, last_only;
} shape;

static shape shape_of(const rung_task_conf *conf)
{
    return (shape){
        .symbols = (size_t)rung_task_param(conf, "N"),
        .alphabet = (size_t)rung_task_param(conf, "alphabet"),
        .k = (size_t)rung_task_param(conf, "k"),
        .hops_vary = rung_task_param(conf, "hops") == 1,
        .last_only = rung_task_param(conf, "targets") == 1,
    };
}

static rung_status fill_sizes(rung_task_conf *conf, rung_error *err)
{
    shape s = shape_of(conf);
    conf->tokens = s.symbols + 1;
    conf->vocab = s.alphabet + s.k + 1;
    conf->answers = s.alphabet + 1;
    conf->chance = 1 / (double)conf->answers;
    return rung_task_check_limits(conf, "N or alphabet", err);
}

/* The level is measured on at most 2^12 symbols. Longer prompts have fewer positions without an answer, so "none"
 * scores less there. The score of a symbol can only rise to 1/A. */
static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    rung_status status = fill_sizes(conf, err);
    rung_task_conf shorter = *conf;
    rung_value *n = &shorter.params[rung_param_find(params, "N")];
    if (n->number > 1 << 12) n->number = 1 << 12;
    RUNG_TRY(status);
    status = fill_sizes(&shorter, err);
    RUNG_TRY(status);
    RUNG_TRY(rung_task_majority_by_probe(&shorter, err));
    double symbol = 1 / (double)(conf->answers - 1);
    conf->majority = shorter.majority > symbol ? shorter.majority : symbol;
    return RUNG_OK;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    (void)err;
    shape s = shape_of(conf);
    uint32_t *x = instance->token;
    instance->tokens = s.symbols + 1;
    x[0] = (uint32_t)(s.alphabet + (s.hops_vary ? rung_rng_below(rng, s.k + 1) : s.k));
    x[1] = (uint32_t)rung_rng_below(rng, s.alphabet);
    for (size_t t = 2; t <= s.symbols; t++) {
        uint32_t other = (uint32_t)rung_rng_below(rng, s.alphabet - 1);
        x[t] = other + (other >= x[t - 1]); /* skips the previous symbol */
    }
    return RUNG_OK;
}

/* find[t] for t in 1..N, 0 for none. Position 0 holds the hop count, and find stays there. */
static void fill_find(uint32_t *find, uint32_t *successor, const uint32_t *x, size_t symbols)
{
    find[0] = 0;
    for (size_t t = 1; t <= symbols; t++) {
        if (t > 1) successor[x[t - 1]] = (uint32_t)t;
        find[t] = successor[x[t]];
    }
}

/* Computes at := find^hops for all positions at once by squaring. find(t) <= t, so going down from the end find^2 may
 * overwrite find: it reads only entries that have not been overwritten yet (or the fixed point t itself). */
static void iterate(int32_t *at, uint32_t *find, size_t symbols, size_t hops)
{
    for (size_t t = 0; t <= symbols; t++) at[t] = (int32_t)t;
    for (; hops > 0; hops >>= 1) {
        if (hops & 1)
            for (size_t t = 0; t <= symbols; t++) at[t] = (int32_t)find[at[t]];
        for (size_t t = symbols; t > 0; t--) find[t] = find[find[t]];
    }
}

static rung_status check_prompt(uint32_t *hops, const rung_instance *instance, const rung_task_conf *conf,
                                const shape *s, rung_error *err)
{
    uint32_t symbol;
    rung_status status = rung_task_expect_tokens(instance, conf, s->symbols + 1, err);
    RUNG_NEXT(status, rung_task_expect_token(hops, instance, conf, 0, s->alphabet, s->k + 1, "the hop count", err));
    for (size_t t = 1; t <= s->symbols && status == RUNG_OK; t++)
        status = rung_task_expect_token(&symbol, instance, conf, t, 0, s->alphabet, "a symbol", err);
    return status;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    shape s = shape_of(conf);
    uint32_t hops;
    RUNG_TRY(check_prompt(&hops, instance, conf, &s, err));
    uint32_t *find = rung_calloc(s.symbols + 1 + s.alphabet, sizeof *find, err);
    if (!find) return RUNG_SYSTEM;
    fill_find(find, find + s.symbols + 1, instance->token, s.symbols);
    iterate(instance->target, find, s.symbols, hops);
    free(find);
    instance->target[0] = RUNG_NO_TARGET;
    for (size_t t = 1; t <= s.symbols; t++) {
        int32_t at = instance->target[t];
        instance->target[t] = at ? (int32_t)instance->token[at] : (int32_t)s.alphabet;
        if (s.last_only && t < s.symbols) instance->target[t] = RUNG_NO_TARGET;
    }
    return RUNG_OK;
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    shape s = shape_of(conf);
    if (token < s.alphabet)
        rung_buf_printf(out, "s%u", token);
    else
        rung_buf_printf(out, "hop%zu", token - s.alphabet);
}

static uint32_t token_read(const rung_task_conf *conf, const char *word, size_t len)
{
    size_t number;
    rung_task_word_numbers(&number, 1, word, len);
    return (uint32_t)(word[0] == 'h' ? conf->answers - 1 + number : number);
}

static void answer_word(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    if ((size_t)answer < shape_of(conf).alphabet)
        rung_buf_printf(out, "s%d", (int)answer);
    else
        rung_buf_puts(out, "none");
}

static int32_t vote(const rung_task_conf *conf, uint32_t token)
{
    return token < conf->answers - 1 ? (int32_t)token : RUNG_NO_TARGET;
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    (void)conf;
    instance->player_count = 0;
    rung_task_player_add(instance, "hops", 1);
    rung_task_player_add(instance, "sequence", instance->tokens - 2);
    rung_task_player_add(instance, "last", 1);
}

/* ---- facts: symbols are towns on a road; the question is the one at the last position ---------------------------- */

#define RULE                                                                                                           \
    "A hop leads from a visit of a town to the visit that followed the latest earlier visit of the same "              \
    "town. Make "
#define ROAD     " hops from the end of this road: "
#define QUESTION ". In which town do you stand, or is there none?"

static void story_write(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf)
{
    shape s = shape_of(conf);
    rung_buf_printf(out, RULE "%zu" ROAD, instance->token[0] - s.alphabet);
    for (size_t t = 1; t <= s.symbols; t++) {
        if (t > 1) rung_buf_puts(out, ", ");
        rung_name_write(out, RUNG_NAME_PLACE, instance->token[t], s.alphabet);
    }
    rung_buf_puts(out, QUESTION);
}

static rung_status story_read(rung_instance *instance, const char *text, const rung_task_conf *conf, rung_error *err)
{
    shape s = shape_of(conf);
    rung_scan scan;
    rung_scan_init(&scan, text, err);
    rung_facts_begin(instance, conf);
    rung_scan_literal(&scan, RULE);
    instance->token[0] = (uint32_t)(s.alphabet + rung_scan_number(&scan, s.k));
    rung_scan_literal(&scan, ROAD);
    for (size_t t = 1; t <= s.symbols && scan.status == RUNG_OK; t++) {
        if (t > 1) rung_scan_literal(&scan, ", ");
        instance->token[t] = (uint32_t)rung_scan_name(&scan, RUNG_NAME_PLACE, s.alphabet);
    }
    rung_scan_literal(&scan, QUESTION);
    if (rung_scan_end(&scan) != RUNG_OK) return scan.status;
    instance->tokens = s.symbols + 1;
    return RUNG_OK;
}

static void story_answer(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    size_t alphabet = shape_of(conf).alphabet;
    if ((size_t)answer < alphabet)
        rung_name_write(out, RUNG_NAME_PLACE, (size_t)answer, alphabet);
    else
        rung_buf_puts(out, "none");
}

static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    shape s = shape_of(conf);
    if (pos > 0) return (rung_ids){0, s.alphabet};
    return s.hops_vary ? (rung_ids){s.alphabet, s.k + 1} : (rung_ids){s.alphabet + s.k, 1};
}

const rung_task rung_task_k_hop = {
    .name = "k-hop",
    .summary = "apply k times: last earlier occurrence of the symbol, then its successor",
    .source = "Sanford, Hsu, Telgarsky 2024 (k-hop induction heads)",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = answer_word,
    .vote = vote,
    .story_write = story_write,
    .story_read = story_read,
    .story_answer = story_answer,
    .token_read = token_read,
    RUNG_TASK_IDS(ids),
    .text = &rung_text_k_hop,
};
