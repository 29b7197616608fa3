/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * variable-tracking: assignments x=5 and x=y, each variable assigned once and before it is used, then a variable; the
 * answer is its value (the variable tracking of RULER, Hsieh et al. 2024, arXiv 2404.06654). There the question is
 * which variables have a given value, and text lies between the assignments. Here one value is asked for, and an
 * assignment is one token.
 *
 * The generator makes chains: one variable gets a value, each of the next `hops` copies the one before, and the chains
 * are mixed. The oracle answers every sequence of assignments in which no value was copied more than `hops` times in a
 * row.
 */
#include <stdlib.h>

#include "common.h"
#include "symbols.h"
#include "task_rows.h"
#include "text_form.h"
#include "yes_no.h"

static const rung_param params[] = {
    {"chains", RUNG_PARAM_INT, 4, 1, 1 << 12, NULL, "chains of assignments"},
    {"hops", RUNG_PARAM_INT, 3, 0, 1 << 12, NULL, "copies in a chain, after its value"},
    {"V", RUNG_PARAM_INT, 8, 1, 1 << 12, NULL, "values"},
    {"K", RUNG_PARAM_INT, 0, 0, 1 << 12, NULL, "names of variables, 0: as many as assignments"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

/* Ids: name (V + K) + v assigns the value v, name (V + K) + V + other copies, K (V + K) + name asks. */
typedef struct shape {
    size_t chains, length, assignments, names, values, sources; /* sources: values and names */
} shape;

static shape shape_of(const rung_task_conf *conf)
{
    shape s = {.chains = (size_t)rung_task_param(conf, "chains"),
               .length = (size_t)rung_task_param(conf, "hops") + 1,
               .names = (size_t)rung_task_param(conf, "K"),
               .values = (size_t)rung_task_param(conf, "V")};
    s.assignments = s.chains * s.length;
    s.sources = s.values + s.names;
    return s;
}

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    rung_task_param_default(conf, "K", (int64_t)shape_of(conf).assignments);
    shape s = shape_of(conf);
    if (s.names < s.assignments)
        return rung_fail(err, RUNG_USAGE,
                         "task variable-tracking: K=%zu names are too few for %zu chains of %zu; use at least %zu",
                         s.names, s.chains, s.length, s.assignments);
    conf->tokens = s.assignments + 1;
    if (!rung_size_mul(&conf->vocab, s.names, s.sources + 1)) return rung_task_too_large(conf, "K or V", err);
    conf->answers = s.values;
    RUNG_TRY(rung_task_check_limits(conf, "chains, hops, K or V", err));
    conf->chance = 1 / (double)s.values;
    conf->majority = rung_task_majority_of_table(s.chains, s.values);
    return RUNG_OK;
}

/* ---- prompts ---- */

/* The chain of every assignment: as many of each as it is long, in random order. Then the i-th of a chain copies the
 * one before it. */
static void write_chains(rung_instance *instance, const shape *s, const uint32_t *name, uint32_t *chain,
                         uint32_t *latest, rung_rng *rng)
{
    for (size_t i = 0; i < s->assignments; i++) chain[i] = (uint32_t)(i % s->chains);
    for (size_t i = s->assignments; i > 1; i--) {
        size_t j = rung_rng_below(rng, i);
        uint32_t kept = chain[i - 1];
        chain[i - 1] = chain[j];
        chain[j] = kept;
    }
    for (size_t i = 0; i < s->assignments; i++) {
        uint32_t *before = &latest[chain[i]]; /* one more than the name, 0: none */
        uint32_t source = *before ? (uint32_t)s->values + *before - 1 : (uint32_t)rung_rng_below(rng, s->values);
        instance->token[i] = name[i] * (uint32_t)s->sources + source;
        *before = name[i] + 1;
    }
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    shape s = shape_of(conf);
    uint32_t *memory = rung_calloc(2 * s.assignments + s.chains, sizeof *memory, err);
    if (!memory) return RUNG_SYSTEM;
    uint32_t *name = memory, *chain = memory + s.assignments, *latest = chain + s.assignments;
    rung_status status = rung_rng_sample(rng, name, s.assignments, (uint32_t)s.names, err);
    if (status == RUNG_OK) {
        write_chains(instance, &s, name, chain, latest, rng);
        uint32_t asked = latest[rung_rng_below(rng, s.chains)] - 1;
        instance->token[s.assignments] = (uint32_t)(s.names * s.sources) + asked;
        instance->tokens = conf->tokens;
    }
    free(memory);
    return status;
}

/* ---- answers ---- */

typedef struct variable {
    uint32_t value, hops;
    bool assigned;
} variable;

static rung_status assign(variable *all, const rung_instance *instance, const rung_task_conf *conf, const shape *s,
                          size_t t, rung_error *err)
{
    uint32_t token;
    RUNG_TRY(rung_task_expect_token(&token, instance, conf, t, 0, s->names * s->sources, "an assignment", err));
    variable *to = &all[token / s->sources];
    size_t source = token % s->sources;
    if (to->assigned)
        return rung_fail(err, RUNG_INPUT, "task variable-tracking: position %zu assigns x%zu again", t,
                         (size_t)(to - all));
    if (source < s->values) {
        *to = (variable){(uint32_t)source, 0, true};
        return RUNG_OK;
    }
    const variable *from = &all[source - s->values];
    if (!from->assigned)
        return rung_fail(err, RUNG_INPUT, "task variable-tracking: position %zu copies x%zu, which has no value yet", t,
                         source - s->values);
    *to = (variable){from->value, from->hops + 1, true};
    if (to->hops < s->length) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT, "task variable-tracking: position %zu is copy number %u of a value; hops=%zu", t,
                     to->hops, s->length - 1);
}

static rung_status answer(rung_instance *instance, const rung_task_conf *conf, const shape *s, variable *all,
                          rung_error *err)
{
    uint32_t asked;
    for (size_t t = 0; t < s->assignments; t++) RUNG_TRY(assign(all, instance, conf, s, t, err));
    RUNG_TRY(rung_task_expect_token(&asked, instance, conf, s->assignments, s->names * s->sources, s->names,
                                    "a question", err));
    if (!all[asked].assigned)
        return rung_fail(err, RUNG_INPUT, "task variable-tracking: position %zu asks for x%u, which has no value",
                         s->assignments, asked);
    rung_task_answer_last(instance, (int32_t)all[asked].value);
    return RUNG_OK;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    shape s = shape_of(conf);
    RUNG_TRY(rung_task_expect_tokens(instance, conf, conf->tokens, err));
    variable *all = rung_calloc(s.names, sizeof *all, err);
    if (!all) return RUNG_SYSTEM;
    rung_status status = answer(instance, conf, &s, all, err);
    free(all);
    return status;
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    rung_task_players_two(instance, shape_of(conf).assignments, "assignments", "query");
}

/* ---- text ---- */

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    shape s = shape_of(conf);
    size_t name = token / s.sources, source = token % s.sources;
    if (token >= s.names * s.sources)
        rung_buf_printf(out, "x%zu?", token - s.names * s.sources);
    else if (source < s.values)
        rung_buf_printf(out, "x%zu=v%zu", name, source);
    else
        rung_buf_printf(out, "x%zu=x%zu", name, source - s.values);
}

static bool has_second_name(const char *word, size_t len)
{
    for (size_t i = 1; i < len; i++)
        if (word[i] == 'x') return true;
    return false;
}

static uint32_t token_read(const rung_task_conf *conf, const char *word, size_t len)
{
    shape s = shape_of(conf);
    size_t number[2], found = rung_task_word_numbers(number, 2, word, len);
    if (found < 2) return (uint32_t)(s.names * s.sources + number[0]);
    return (uint32_t)(number[0] * s.sources + number[1] + (has_second_name(word, len) ? s.values : 0));
}

static int32_t vote(const rung_task_conf *conf, uint32_t token)
{
    shape s = shape_of(conf);
    bool constant = token < s.names * s.sources && token % s.sources < s.values;
    return constant ? (int32_t)(token % s.sources) : RUNG_NO_TARGET;
}

static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    shape s = shape_of(conf);
    size_t assigns = s.names * s.sources;
    return pos < s.assignments ? (rung_ids){0, assigns} : (rung_ids){assigns, s.names};
}

const rung_task rung_task_variable_tracking = {
    .name = "variable-tracking",
    .summary = "the value of a variable after assignments of values and of other variables",
    .source = "RULER, Hsieh et al. 2024 (arXiv 2404.06654); that one value is asked for is ours",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = rung_symbols_value_word,
    .vote = vote,
    .token_read = token_read,
    RUNG_TASK_IDS(ids),
    .text = &rung_text_variable_tracking,
};
