/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Tables with one question over names: eva and retrieval ("The value of apple is stone."), assoc-recall, whose pairs
 * are two tokens each, and index, whose keys are numbers ("Item 5 is stone.").
 */
#include "lookup.h"
#include "text_form.h"

enum { ROLE_KEY, ROLE_VALUE };

static size_t roles(rung_role *roles, const rung_task_conf *conf)
{
    rung_lookup shape = rung_lookup_of(conf);
    roles[ROLE_KEY] = (rung_role){0, shape.keys};
    roles[ROLE_VALUE] = (rung_role){shape.keys, shape.values};
    return 2;
}

static size_t answer_role(const rung_task_conf *conf, size_t hops)
{
    (void)conf;
    (void)hops;
    return ROLE_VALUE;
}

static size_t entries(const rung_task_conf *conf)
{
    return conf->tokens - 1;
}

static void put_pair(rung_scribe *scribe, size_t *key, size_t *value)
{
    rung_scribe_put(scribe, " The value of", "|");
    rung_scribe_name(scribe, ROLE_KEY, key);
    rung_scribe_put(scribe, " is", " |");
    rung_scribe_name(scribe, ROLE_VALUE, value);
    rung_scribe_put(scribe, ".", " |");
}

static void put_query(rung_scribe *scribe, size_t *key)
{
    rung_scribe_say(scribe, " What is the value of");
    rung_scribe_name(scribe, ROLE_KEY, key);
    rung_scribe_say(scribe, "?");
}

static void entry(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t i)
{
    rung_lookup shape = rung_lookup_of(conf);
    size_t token = instance->token[i], key = shape.pairs ? token / shape.values : i, value = token % shape.values;
    put_pair(scribe, &key, &value);
    rung_scribe_token(scribe, instance, conf, shape.pairs ? i : key, shape.pairs ? key * shape.values + value : value);
}

static void question(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t hops)
{
    (void)hops;
    rung_lookup shape = rung_lookup_of(conf);
    size_t first = rung_lookup_first_query(&shape), key = instance->token[shape.entries] - first;
    put_query(scribe, &key);
    rung_scribe_token(scribe, instance, conf, shape.entries, first + key);
}

const rung_text_form rung_text_lookup = {
    .reply = "one name",
    .roles = roles,
    .answer_role = answer_role,
    .entries = entries,
    .entry = entry,
    .question = question,
};

/* ---- index ------------------------------------------------------------------------------------------------------- */

static size_t index_roles(rung_role *roles, const rung_task_conf *conf)
{
    roles[0] = (rung_role){0, rung_lookup_of(conf).values};
    return 1;
}

static size_t index_answer_role(const rung_task_conf *conf, size_t hops)
{
    (void)conf;
    (void)hops;
    return 0;
}

static void index_entry(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t i)
{
    size_t place = i, value = instance->token[i];
    rung_scribe_put(scribe, " Item", "|");
    rung_scribe_number(scribe, conf->tokens - 2, &place);
    rung_scribe_put(scribe, " is", " |");
    rung_scribe_name(scribe, 0, &value);
    rung_scribe_put(scribe, ".", " |");
    rung_scribe_token(scribe, instance, conf, place, value);
}

static void index_question(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t hops)
{
    (void)hops;
    rung_lookup shape = rung_lookup_of(conf);
    size_t first = rung_lookup_first_query(&shape), place = instance->token[shape.entries] - first;
    rung_scribe_say(scribe, " Which name is item");
    rung_scribe_number(scribe, shape.entries - 1, &place);
    rung_scribe_say(scribe, "?");
    rung_scribe_token(scribe, instance, conf, shape.entries, first + place);
}

const rung_text_form rung_text_index = {
    .reply = "one name",
    .roles = index_roles,
    .answer_role = index_answer_role,
    .entries = entries,
    .entry = index_entry,
    .question = index_question,
};

/* ---- assoc-recall ------------------------------------------------------------------------------------------------ */

static size_t recall_roles(rung_role *roles, const rung_task_conf *conf)
{
    size_t keys = (size_t)rung_task_param(conf, "K");
    roles[ROLE_KEY] = (rung_role){0, keys};
    roles[ROLE_VALUE] = (rung_role){keys, conf->answers};
    return 2;
}

static size_t recall_entries(const rung_task_conf *conf)
{
    return conf->tokens / 2;
}

static void recall_entry(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t i)
{
    size_t keys = (size_t)rung_task_param(conf, "K");
    size_t key = instance->token[2 * i], value = instance->token[2 * i + 1] - keys;
    put_pair(scribe, &key, &value);
    rung_scribe_token(scribe, instance, conf, 2 * i, key);
    rung_scribe_token(scribe, instance, conf, 2 * i + 1, keys + value);
}

static void recall_question(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t hops)
{
    (void)hops;
    size_t key = instance->token[conf->tokens - 1];
    put_query(scribe, &key);
    rung_scribe_token(scribe, instance, conf, conf->tokens - 1, key);
}

const rung_text_form rung_text_assoc_recall = {
    .reply = "one name",
    .roles = recall_roles,
    .answer_role = answer_role,
    .entries = recall_entries,
    .entry = recall_entry,
    .question = recall_question,
};
