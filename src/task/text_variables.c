/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * variable-tracking over names: "The value of apple is stone.", "The value of river is that of apple."
 */
#include "text_form.h"

enum { ROLE_VARIABLE, ROLE_VALUE };

static size_t names_of(const rung_task_conf *conf)
{
    return (size_t)rung_task_param(conf, "K");
}

static size_t assignments(const rung_task_conf *conf)
{
    return conf->tokens - 1;
}

/* An assignment is the id name (V + K) + source; sources are V values, then K names. */
static size_t sources(const rung_task_conf *conf)
{
    return conf->answers + names_of(conf);
}

static size_t roles(rung_role *roles, const rung_task_conf *conf)
{
    roles[ROLE_VARIABLE] = (rung_role){0, names_of(conf)};
    roles[ROLE_VALUE] = (rung_role){names_of(conf), conf->answers};
    return 2;
}

static size_t answer_role(const rung_task_conf *conf, size_t hops)
{
    (void)conf;
    (void)hops;
    return ROLE_VALUE;
}

static void entry(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t i)
{
    size_t name = instance->token[i] / sources(conf), source = instance->token[i] % sources(conf);
    size_t values = conf->answers, value = source, other = source - values;
    rung_scribe_put(scribe, " The value of", "|");
    rung_scribe_name(scribe, ROLE_VARIABLE, &name);
    const char *copy = scribe->spelling == RUNG_TEXT_FACTS ? " is that of" : " | same as";
    bool copies = rung_scribe_choose(scribe, source >= values, copy);
    if (copies) {
        rung_scribe_say(scribe, copy);
        rung_scribe_name(scribe, ROLE_VARIABLE, &other);
    } else {
        rung_scribe_put(scribe, " is", " |");
        rung_scribe_name(scribe, ROLE_VALUE, &value);
    }
    rung_scribe_put(scribe, ".", " |");
    rung_scribe_token(scribe, instance, conf, i, name * sources(conf) + (copies ? values + other : value));
}

/* What the variable is assigned. The prompt was solved, so it is assigned once. */
static size_t source_of(const rung_instance *instance, const rung_task_conf *conf, size_t name)
{
    size_t i = 0;
    while (i + 1 < assignments(conf) && instance->token[i] / sources(conf) != name) i++;
    return instance->token[i] % sources(conf);
}

static size_t copies_of(const rung_instance *instance, const rung_task_conf *conf, size_t name)
{
    size_t copies = 0;
    for (size_t from = source_of(instance, conf, name); from >= conf->answers; copies++)
        from = source_of(instance, conf, from - conf->answers);
    return copies;
}

/* A variable from which `hops` lookups lead to the value: the one that is asked for, or one that it was copied from. */
static size_t nearer(const rung_instance *instance, const rung_task_conf *conf, size_t name, size_t hops)
{
    for (size_t copies = copies_of(instance, conf, name); copies >= hops; copies--)
        name = source_of(instance, conf, name) - conf->answers;
    return name;
}

static void question(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t hops)
{
    size_t first = names_of(conf) * sources(conf), name = instance->token[assignments(conf)] - first;
    if (hops && !scribe->reading) name = nearer(instance, conf, name, hops);
    rung_scribe_say(scribe, " What is the value of");
    rung_scribe_name(scribe, ROLE_VARIABLE, &name);
    rung_scribe_say(scribe, "?");
    rung_scribe_token(scribe, instance, conf, assignments(conf), first + name);
}

static size_t most_hops(const rung_task_conf *conf)
{
    return (size_t)rung_task_param(conf, "hops") + 1;
}

/* Copies have the value of their source. */
static size_t answer(const rung_instance *instance, const rung_task_conf *conf, size_t hops)
{
    (void)hops;
    return (size_t)instance->target[assignments(conf)];
}

const rung_text_form rung_text_variable_tracking = {
    .ordered = true,
    .reply = "one name",
    .roles = roles,
    .answer_role = answer_role,
    .entries = assignments,
    .entry = entry,
    .question = question,
    .hops = most_hops,
    .answer = answer,
};
