/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Eva: the table of f : [N] -> [V], entry by entry, then x; the answer is f(x). A recurrence must carry the
 * whole table past its end, N log2 V bits, because any x may follow. In the form of pairs every entry carries
 * its key. dist=zipf draws the values by Zipf's law and leaves x uniform.
 */
#include <stdlib.h>

#include "lookup.h"
#include "story.h"
#include "task_rows.h"
#include "text_form.h"

static const char *const forms[] = {"position", "pair", NULL};
enum { DIST_UNIFORM, DIST_ZIPF };
static const char *const dist_names[] = {"uniform", "zipf", NULL};

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 16, 1, (int64_t)RUNG_TASK_VOCAB_MAX, NULL, "N, entries of the table"},
    {"V", RUNG_PARAM_INT, 0, 0, (int64_t)RUNG_TASK_VOCAB_MAX, NULL, "V, values of an entry; 0: N"},
    {"K", RUNG_PARAM_INT, 0, 0, (int64_t)RUNG_TASK_VOCAB_MAX, NULL, "key ids of the form pair; 0: 2N"},
    {"form", RUNG_PARAM_CHOICE, 0, 0, 0, forms, "key of an entry: its position, or named in the entry"},
    {"dist", RUNG_PARAM_CHOICE, DIST_UNIFORM, 0, 0, dist_names, "values: uniform, or v with weight 1/(v+1)"},
    {0},
};

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    bool pairs = rung_task_param(conf, "form") == 1;
    int64_t n = rung_task_param(conf, "N");
    rung_task_param_default(conf, "V", n);
    rung_task_param_default(conf, "K", pairs ? 2 * n : n);
    int64_t keys = rung_task_param(conf, "K");
    if (!pairs && keys != n)
        return rung_fail(err, RUNG_USAGE, "task eva: K=%lld has a meaning with form=pair only; leave it out",
                         (long long)keys);
    if (keys < n)
        return rung_fail(err, RUNG_USAGE, "task eva: N=%lld entries need as many keys, and K=%lld; raise K",
                         (long long)n, (long long)keys);
    rung_lookup shape = {.pairs = pairs,
                         .entries = (size_t)n,
                         .values = (size_t)rung_task_param(conf, "V"),
                         .keys = (size_t)keys,
                         .zipf = rung_task_param(conf, "dist") == DIST_ZIPF};
    return rung_lookup_resolve(conf, &shape, pairs ? "N, V or K" : "N or V", err);
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    rung_lookup shape = rung_lookup_of(conf);
    size_t first_query = rung_lookup_first_query(&shape);
    if (token >= first_query)
        rung_buf_printf(out, "%s%zu?", shape.pairs ? "k" : "x", token - first_query);
    else if (shape.pairs)
        rung_buf_printf(out, "k%zu:v%zu", token / shape.values, token % shape.values);
    else
        rung_buf_printf(out, "v%u", token);
}

static uint32_t token_read(const rung_task_conf *conf, const char *word, size_t len)
{
    rung_lookup shape = rung_lookup_of(conf);
    size_t number[2];
    rung_task_word_numbers(number, 2, word, len);
    if (word[len - 1] == '?') return (uint32_t)(rung_lookup_first_query(&shape) + number[0]);
    return (uint32_t)(shape.pairs ? number[0] * shape.values + number[1] : number[0]);
}

static void answer_word(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    (void)conf;
    rung_buf_printf(out, "v%d", (int)answer);
}

/* ---- facts: keys are people, values are places ------------------------------------------------------- */

static void story_answer(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    rung_name_write(out, RUNG_NAME_PLACE, (size_t)answer, conf->answers);
}

static void write_sentence(rung_buf *out, const rung_lookup *shape, size_t key, size_t value)
{
    rung_name_write(out, RUNG_NAME_PERSON, key, shape->keys);
    rung_buf_puts(out, " lives in ");
    rung_name_write(out, RUNG_NAME_PLACE, value, shape->values);
    rung_buf_puts(out, ". ");
}

/* In the form of positions the order is not part of the prompt, so the facts are shuffled. In the form of pairs it is
 * part of it, and random already. */
static void story_write(rung_buf *out, const rung_instance *instance, const rung_task_conf *conf)
{
    rung_lookup shape = rung_lookup_of(conf);
    uint32_t *order = rung_facts_order(instance, shape.entries, 0);
    if (!order) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < shape.entries; i++) {
        uint32_t at = shape.pairs ? (uint32_t)i : order[i], token = instance->token[at];
        write_sentence(out, &shape, shape.pairs ? token / shape.values : at, token % shape.values);
    }
    free(order);
    rung_buf_puts(out, "Where does ");
    size_t asked = instance->token[shape.entries] - rung_lookup_first_query(&shape);
    rung_name_write(out, RUNG_NAME_PERSON, asked, shape.keys);
    rung_buf_puts(out, " live?");
}

static rung_status story_read(rung_instance *instance, const char *text, const rung_task_conf *conf, rung_error *err)
{
    rung_lookup shape = rung_lookup_of(conf);
    rung_scan scan;
    rung_scan_init(&scan, text, err);
    rung_facts_begin(instance, conf);
    for (size_t i = 0; i < shape.entries && scan.status == RUNG_OK; i++) {
        size_t key = rung_scan_name(&scan, RUNG_NAME_PERSON, shape.keys);
        rung_scan_literal(&scan, " lives in ");
        size_t value = rung_scan_name(&scan, RUNG_NAME_PLACE, shape.values);
        rung_scan_literal(&scan, ". ");
        uint32_t *token = &instance->token[shape.pairs ? i : key];
        if (*token != UINT32_MAX) rung_scan_fail(&scan, "a person who has no home yet");
        *token = (uint32_t)(shape.pairs ? key * shape.values + value : value);
    }
    rung_scan_literal(&scan, "Where does ");
    size_t asked = rung_scan_name(&scan, RUNG_NAME_PERSON, shape.keys);
    rung_scan_literal(&scan, " live?");
    if (rung_scan_end(&scan) != RUNG_OK) return scan.status;
    instance->token[shape.entries] = (uint32_t)(rung_lookup_first_query(&shape) + asked);
    instance->tokens = shape.entries + 1;
    return RUNG_OK;
}

const rung_task rung_task_eva = {
    .name = "eva",
    .summary = "evaluate a function: its table, then x; the answer is f(x)",
    .source = "Eva; lower bound for recurrences by Bhattamishra et al. 2024, Wen et al. 2024",
    .params = params,
    .resolve = resolve,
    .generate = rung_lookup_generate,
    .solve = rung_lookup_solve,
    .players = rung_lookup_players,
    .token_word = token_word,
    .answer_word = answer_word,
    .vote = rung_lookup_vote,
    .story_write = story_write,
    .story_read = story_read,
    .story_answer = story_answer,
    .token_read = token_read,
    RUNG_TASK_IDS(rung_lookup_ids),
    .text = &rung_text_lookup,
};
