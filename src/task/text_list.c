/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Lists as text: k-hop over names, two-sum and parity over numbers; and the table of self-compose, whose keys and
 * values are numbers.
 */
#include "residues.h"
#include "text_form.h"
#include "two_sum.h"

static size_t no_roles(rung_role *roles, const rung_task_conf *conf)
{
    (void)roles;
    (void)conf;
    return 0;
}

static size_t no_answer_role(const rung_task_conf *conf, size_t hops)
{
    (void)conf;
    (void)hops;
    return RUNG_NO_ROLE;
}

/* Item i of the list, a number below `bound`, is the token at `lead` + i. */
static void put_number(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t place,
                       size_t bound)
{
    size_t number = instance->token[place];
    rung_scribe_put(scribe, "", "|");
    rung_scribe_number(scribe, bound - 1, &number);
    rung_scribe_put(scribe, "", " |");
    rung_scribe_token(scribe, instance, conf, place, number);
}

/* ---- k-hop ------------------------------------------------------------------------------------------------------- */

static size_t hop_roles(rung_role *roles, const rung_task_conf *conf)
{
    roles[0] = (rung_role){0, conf->answers - 1};
    return 1;
}

static size_t hop_answer_role(const rung_task_conf *conf, size_t hops)
{
    (void)conf;
    (void)hops;
    return 0;
}

static size_t hop_entries(const rung_task_conf *conf)
{
    return conf->tokens - 1;
}

static void hop_entry(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t i)
{
    size_t symbol = instance->token[i + 1];
    rung_scribe_put(scribe, "", "|");
    rung_scribe_name(scribe, 0, &symbol);
    rung_scribe_put(scribe, "", " |");
    rung_scribe_token(scribe, instance, conf, i + 1, symbol);
}

static size_t most_hops(const rung_task_conf *conf)
{
    return (size_t)rung_task_param(conf, "k");
}

static void hop_question(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t asked)
{
    size_t alphabet = conf->answers - 1, hops = asked ? asked : instance->token[0] - alphabet;
    rung_scribe_say(scribe,
                    " A hop goes from a place in the list to the place right after the latest earlier place that "
                    "has the same name. Start at the last place. Number of hops:");
    rung_scribe_number(scribe, most_hops(conf), &hops);
    rung_scribe_say(scribe, ". Which name do you reach, or none?");
    rung_scribe_token(scribe, instance, conf, 0, alphabet + hops);
}

/* Makes the hops as the definition says, starting from the last place. */
static size_t hop_answer(const rung_instance *instance, const rung_task_conf *conf, size_t asked)
{
    size_t at = instance->tokens - 1;
    for (size_t h = 0; h < asked; h++) {
        size_t earlier = at - 1;
        while (earlier > 0 && instance->token[earlier] != instance->token[at]) earlier--;
        if (earlier == 0) return conf->answers - 1;
        at = earlier + 1;
    }
    return instance->token[at];
}

const rung_text_form rung_text_k_hop = {
    .ordered = true,
    .list = true,
    .reply = "one name",
    .roles = hop_roles,
    .answer_role = hop_answer_role,
    .entries = hop_entries,
    .entry = hop_entry,
    .question = hop_question,
    .hops = most_hops,
    .answer = hop_answer,
};

/* ---- two-sum ----------------------------------------------------------------------------------------------------- */

#define IN_THE_LIST " Is in the list the number"

static size_t sum_entries(const rung_task_conf *conf)
{
    return (size_t)rung_task_param(conf, "N");
}

static void sum_entry(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t i)
{
    size_t lead = (size_t)rung_task_param(conf, "blank");
    put_number(scribe, instance, conf, lead + i, (size_t)rung_task_param(conf, "M"));
}

/* The query y; in the control question its partner -y. */
static void put_query(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t modulus,
                      bool control)
{
    size_t last = conf->tokens - 1, query = instance->token[last] - modulus;
    control = rung_scribe_choose(scribe, control, IN_THE_LIST);
    if (control) {
        size_t partner = scribe->reading ? 0 : rung_residue_negative((uint32_t)query, modulus);
        rung_scribe_say(scribe, IN_THE_LIST);
        rung_scribe_number(scribe, modulus - 1, &partner);
        query = rung_residue_negative((uint32_t)partner, modulus);
    } else {
        rung_scribe_say(scribe, " Is there a number in the list that added to");
        rung_scribe_number(scribe, modulus - 1, &query);
        rung_scribe_say(scribe, " gives a multiple of");
        rung_scribe_constant(scribe, modulus);
    }
    rung_scribe_say(scribe, "?");
    rung_scribe_token(scribe, instance, conf, last, modulus + query);
}

static void sum_question(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t hops)
{
    size_t modulus = (size_t)rung_task_param(conf, "M");
    if (rung_task_param(conf, "form") == TWO_SUM_QUERY) {
        put_query(scribe, instance, conf, modulus, hops == 1);
    } else {
        rung_scribe_say(scribe, " Are there two places of the list whose sum is a multiple of");
        rung_scribe_constant(scribe, modulus);
        rung_scribe_say(scribe, "?");
        rung_scribe_token(scribe, instance, conf, conf->tokens - 1, modulus);
    }
    if (rung_task_param(conf, "blank")) rung_scribe_token(scribe, instance, conf, 0, conf->vocab - 1);
}

static rung_status sum_check(const rung_task_conf *conf, size_t hops, rung_error *err)
{
    two_sum_form form = (two_sum_form)rung_task_param(conf, "form");
    if (form == TWO_SUM_POSITION || form == TWO_SUM_CAUSAL)
        return rung_fail(err, RUNG_USAGE,
                         "task two-sum: form=%s has an answer at each number and so no text; take form=query",
                         form == TWO_SUM_CAUSAL ? "causal" : "position");
    if (form == TWO_SUM_GLOBAL && hops)
        return rung_fail(err, RUNG_USAGE,
                         "task two-sum: form=global has no control question with one lookup; take form=query");
    return RUNG_OK;
}

const rung_text_form rung_text_two_sum = {
    .list = true,
    .reply = "yes or no",
    .roles = no_roles,
    .answer_role = no_answer_role,
    .entries = sum_entries,
    .entry = sum_entry,
    .question = sum_question,
    .check = sum_check,
};

/* ---- parity ------------------------------------------------------------------------------------------------------ */

static size_t bit_entries(const rung_task_conf *conf)
{
    return conf->tokens;
}

static void bit_entry(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t i)
{
    put_number(scribe, instance, conf, i, 2);
}

static void bit_question(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t hops)
{
    (void)instance;
    (void)conf;
    (void)hops;
    rung_scribe_say(scribe, " Is the number of ones in the list even or odd?");
}

const rung_text_form rung_text_parity = {
    .list = true,
    .reply = "even or odd",
    .roles = no_roles,
    .answer_role = no_answer_role,
    .entries = bit_entries,
    .entry = bit_entry,
    .question = bit_question,
};

/* ---- self-compose ------------------------------------------------------------------------------------------------ */

#define REACH_ZERO ". Do you reach 0?"

static size_t table_entries(const rung_task_conf *conf)
{
    return conf->tokens - 1;
}

static void table_entry(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t i)
{
    size_t key = i, value = instance->token[i], most = table_entries(conf) - 1;
    rung_scribe_put(scribe, " f maps", "|");
    rung_scribe_number(scribe, most, &key);
    rung_scribe_put(scribe, " to", " |");
    rung_scribe_number(scribe, most, &value);
    rung_scribe_put(scribe, ".", " |");
    rung_scribe_token(scribe, instance, conf, key, value);
}

/* The control question states f(0), so that one lookup remains, and the answer is the same. It is never read, because
 * it is not a prompt of the task. */
static void zero_question(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t hops)
{
    if (hops == 1) {
        size_t once = instance->token[0];
        rung_scribe_say(scribe, " Start at");
        rung_scribe_constant(scribe, once);
        rung_scribe_say(scribe, " and apply f" REACH_ZERO);
        return;
    }
    rung_scribe_say(scribe, " Start at 0, apply f, and apply f again" REACH_ZERO);
    rung_scribe_token(scribe, instance, conf, conf->tokens - 1, conf->vocab - 1);
}

static rung_status zero_check(const rung_task_conf *conf, size_t hops, rung_error *err)
{
    (void)hops;
    if (rung_task_param(conf, "ask") == 0) return RUNG_OK;
    return rung_fail(
        err, RUNG_USAGE,
        "task self-compose: the answer of ask=value is a number, which may be several tokens; take ask=zero");
}

const rung_text_form rung_text_self_compose = {
    .reply = "yes or no",
    .roles = no_roles,
    .answer_role = no_answer_role,
    .entries = table_entries,
    .entry = table_entry,
    .question = zero_question,
    .check = zero_check,
};
