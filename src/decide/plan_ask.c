/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What a search for the cheapest layers asks, and what its proposals cost.
 */
#include "rung/decide.h"

/* Layers and bits as the ledger counts them. */
static void count_cost(rung_plan_cost *cost, const rung_model *model, const rung_plan_options *conf)
{
    const rung_claim_spec *about = conf->context;
    rung_arithmetic numbers = rung_arithmetic_plain(about->kernel, conf->bits, about->message);
    numbers.tile = about->tile;
    rung_subject *subject;
    if (rung_subject_model(&subject, model, "", NULL) != RUNG_OK) return;
    const rung_ledger *ledger = rung_subject_ledger(subject);
    rung_pattern p = rung_pattern_of(ledger, &numbers);
    rung_ledger_sum sum = rung_ledger_total(ledger);
    cost->full = sum.full, cost->sparse = sum.sparse;
    cost->state_bits = p.all_state + p.levels_state, cost->message_bits = p.message;
    rung_subject_free(subject);
}

/* The fewest bits of a number that the options allow. */
static int bits_of(const rung_claim_spec *about)
{
    int bits = about->accumulator_bits;
    if (about->state_bits < bits) bits = about->state_bits;
    if (about->cache_bits < bits) bits = about->cache_bits;
    return bits ? bits : 32;
}

rung_plan_options rung_decide_plan(const rung_claim_spec *about)
{
    return (rung_plan_options){.task = about->task,
                               .n = about->n,
                               .bits = bits_of(about),
                               .softmax = about->kernel == RUNG_KERNEL_TWO_PASS  ? RUNG_SOFTMAX_TWO_PASS
                                          : about->kernel == RUNG_KERNEL_REVERSE ? RUNG_SOFTMAX_REVERSE
                                                                                 : RUNG_SOFTMAX_ONLINE,
                               .cost = count_cost,
                               .context = about};
}

rung_status rung_decide_plan_check(const rung_plan_options *conf, rung_error *err)
{
    if (conf->bits < 7)
        return rung_fail(err, RUNG_USAGE, "--plan runs what it proposes in floats of p bits; take --bits 7 or more");
    if (conf->n > (uint64_t)1 << 32)
        return rung_fail(err, RUNG_USAGE, "--plan: %llu tokens are longer than any prompt that can be built",
                         (unsigned long long)conf->n);
    if (conf->n && !rung_plan_wanted(conf) && conf->task->tokens > conf->n)
        return rung_fail(err, RUNG_USAGE,
                         "--plan: with these parameters a prompt has %zu tokens, more than --n %llu; leave out one",
                         conf->task->tokens, (unsigned long long)conf->n);
    return RUNG_OK;
}
