/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Claims: the only place where the premises of a question are put together. Every fact has a source: the layers, the
 * task, the arithmetic, or what the caller states of the prompt. A fact without a source stays RUNG_NOT_ESTABLISHED.
 */
#include "subject.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BITS = 32, LEAST_CACHE_BITS = 16 };

struct rung_claim {
    const rung_subject *subject;
    rung_claim_spec about;
    rung_task_conf task;
    bool has_task;
    uint64_t n;
    rung_arithmetic arithmetic;
    rung_known premise[RUNG_PREMISES];
};

const char *const rung_premise_names[] = {"causal",  "kinds",  "once", "own-cache", "state",   "order",
                                          "summary", "layout", "ends", "at-once",   "counted", NULL};
const char *const rung_fact_names[] = {"not established", "established", "violated", NULL};

const char *rung_premise_text(rung_premise premise)
{
    static const char *const text[RUNG_PREMISES] = {
        [RUNG_PREMISE_CAUSAL] = "no token sees a later one",
        [RUNG_PREMISE_KINDS] = "the kind and the size of every layer are known, at every length",
        [RUNG_PREMISE_ONCE] = "every layer runs once for each token",
        [RUNG_PREMISE_OWN_CACHE] = "no layer reads what another one keeps",
        [RUNG_PREMISE_STATE] = "between two tokens a recurrent layer carries its state and nothing else",
        [RUNG_PREMISE_ORDER] = "a full layer adds its keys up from left to right in one pass",
        [RUNG_PREMISE_SUMMARY] = "of a block that it does not open a query learns the summary and nothing else",
        [RUNG_PREMISE_LAYOUT] = "the prompt has the order of the task, and what is asked stands at its end",
        [RUNG_PREMISE_ENDS] = "nothing follows the last token of the task",
        [RUNG_PREMISE_AT_ONCE] = "the model answers at once, without a chain of thought",
        [RUNG_PREMISE_COUNTED] = "the thoughts before the answer are no more than the claim says",
    };
    return text[premise];
}

rung_claim_spec rung_claim_spec_of_prompt(const rung_task_conf *task, uint64_t n)
{
    return (rung_claim_spec){.task = task,
                             .n = n,
                             .kernel = RUNG_KERNEL_ONLINE,
                             .layout = RUNG_ESTABLISHED,
                             .ends = RUNG_ESTABLISHED,
                             .at_once = RUNG_ESTABLISHED};
}

void rung_claim_spec_set_bits(rung_claim_spec *about, int bits)
{
    about->accumulator_bits = about->state_bits = about->cache_bits = bits;
}

/* At least the bits of one number of a row, however short the row is. */
static int most_bits(const rung_stored *stored)
{
    return (int)rung_stored_bits(stored, 1, 1);
}

void rung_claim_spec_set_numbers(rung_claim_spec *about, const rung_numbers *numbers)
{
    int cache = most_bits(&numbers->of[RUNG_QUANTITY_CACHE]), act = most_bits(&numbers->of[RUNG_QUANTITY_ACT]);
    about->accumulator_bits = numbers->acc.bits;
    about->state_bits = most_bits(&numbers->of[RUNG_QUANTITY_STATE]);
    if (numbers->chunk > 1 && about->state_bits < numbers->acc.bits) about->state_bits = numbers->acc.bits;
    if (numbers->chunk == 1) about->state_as = numbers->of[RUNG_QUANTITY_STATE];
    about->cache_bits = cache > act ? cache : act;
    about->mixed = numbers->mixed;
}

/* ---- sizes of numbers -------------------------------------------------------------------------------------------- */

static int at_least(int bits, int least)
{
    return bits > least ? bits : least;
}

/* More bits make every theorem weaker, so the defaults choose more bits. If the arithmetic is not ours, accumulators
 * have at least 32 bits, whatever the dtype. A state has the bits that the file or its family states. A cache has the
 * dtype, but never that of 8-bit weights. */
static rung_arithmetic arithmetic_of(const rung_subject *s, const rung_claim_spec *about)
{
    const rung_ledger *l = s->ledger;
    rung_arithmetic a = {.kernel = about->kernel,
                         .accumulator_bits = at_least(l->number_bits, DEFAULT_BITS),
                         .state_bits = l->state_bits ? l->state_bits : at_least(l->number_bits, DEFAULT_BITS),
                         .cache_bits = l->number_bits ? at_least(l->number_bits, LEAST_CACHE_BITS) : DEFAULT_BITS,
                         .message = about->message,
                         .tile = about->tile,
                         .mixed = about->mixed,
                         .state_as = about->state_as};
    if (about->accumulator_bits) a.accumulator_bits = about->accumulator_bits;
    if (about->state_bits) a.state_bits = about->state_bits;
    if (about->cache_bits) a.cache_bits = about->cache_bits;
    return a;
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

static const rung_premise of_ledger[RUNG_LEDGER_FACTS] = {
    [RUNG_LEDGER_CAUSAL] = RUNG_PREMISE_CAUSAL,
    [RUNG_LEDGER_KINDS] = RUNG_PREMISE_KINDS,
    [RUNG_LEDGER_ONCE] = RUNG_PREMISE_ONCE,
    [RUNG_LEDGER_OWN_CACHE] = RUNG_PREMISE_OWN_CACHE,
};

static bool has_kind(const rung_ledger_layer *held)
{
    return held->full || held->recurrent || held->window || held->chunk || held->sparse || held->mlp;
}

static void facts_of_layers(rung_claim *c)
{
    const rung_ledger *ledger = c->subject->ledger;
    for (size_t f = 0; f < RUNG_LEDGER_FACTS; f++) c->premise[of_ledger[f]] = ledger->known[f];
    for (size_t i = 0; i < ledger->layer_count; i++)
        if (!has_kind(&ledger->layer[i]) && c->premise[RUNG_PREMISE_KINDS].is == RUNG_ESTABLISHED)
            c->premise[RUNG_PREMISE_KINDS] = (rung_known){RUNG_NOT_ESTABLISHED, "the kind of a layer is not known"};
}

static void facts_of_arithmetic(rung_claim *c)
{
    static const char exact[] = "the exact evaluator does so", steps[] = "recurrent layers take one token at a time";
    static const char opened[] = "the words about kernels are about the keys that a query reads";
    rung_known *state = &c->premise[RUNG_PREMISE_STATE], *order = &c->premise[RUNG_PREMISE_ORDER];
    rung_known *summary = &c->premise[RUNG_PREMISE_SUMMARY];
    switch (c->arithmetic.kernel) {
    case RUNG_KERNEL_ONLINE:
        *state = *order = *summary = (rung_known){RUNG_ESTABLISHED, exact};
        break;
    case RUNG_KERNEL_TWO_PASS:
        *state = *summary = (rung_known){RUNG_ESTABLISHED, exact};
        *order = (rung_known){RUNG_VIOLATED, "the maximum of the row is known before the sum"};
        break;
    case RUNG_KERNEL_EAGER:
        *state = (rung_known){RUNG_ESTABLISHED, steps}, *summary = (rung_known){RUNG_ESTABLISHED, opened};
        *order = (rung_known){RUNG_VIOLATED, "weights are divided by the sum of the row before values are added"};
        break;
    case RUNG_KERNEL_SPLIT:
        *state = (rung_known){RUNG_ESTABLISHED, steps}, *summary = (rung_known){RUNG_ESTABLISHED, opened};
        *order = (rung_known){RUNG_VIOLATED, "each split of keys has an accumulator of its own"};
        break;
    case RUNG_KERNEL_TILES:
        *state = (rung_known){RUNG_ESTABLISHED, steps}, *summary = (rung_known){RUNG_ESTABLISHED, opened};
        *order = (rung_known){RUNG_VIOLATED, "the keys of a tile are added in any order"};
        break;
    case RUNG_KERNEL_REVERSE:
        *state = *summary = (rung_known){RUNG_ESTABLISHED, exact};
        *order = (rung_known){RUNG_VIOLATED, "the sum runs from right to left, and such a scan can follow the "
                                             "composition as it reads: no theorem about scans is possible"};
        break;
    case RUNG_KERNEL_FAST:
        *state = (rung_known){RUNG_VIOLATED, "the fast evaluator multiplies queries and keys of 32 tokens at once"};
        *order = (rung_known){RUNG_VIOLATED, "the fast evaluator knows the maximum of the row before the sum"};
        *summary = (rung_known){RUNG_NOT_ESTABLISHED, "no theorem is about the fast evaluator"};
        break;
    default:
        break;
    }
    bool tiled = c->arithmetic.kernel == RUNG_KERNEL_SPLIT || c->arithmetic.kernel == RUNG_KERNEL_TILES;
    if (tiled && !c->arithmetic.tile)
        *order = (rung_known){RUNG_NOT_ESTABLISHED, "the number of keys in a split or tile is not stated"};
}

static rung_known said(rung_fact fact, const char *established, const char *violated)
{
    const char *why[] = {NULL, established, violated};
    return (rung_known){fact, why[fact]};
}

static bool asks_first(const rung_task_conf *task)
{
    size_t at = rung_param_find(task->task->params, "order");
    return at != SIZE_MAX && strcmp(task->task->params[at].choices[task->params[at].number], "first") == 0;
}

/* How many thoughts a model file gives is up to its weights: the number of a claim is about layers alone. A run counts
 * an answer as right only after exactly its own number of thoughts, so its accuracy is that of so many. */
static rung_known count_of_thoughts(const rung_claim *c, const rung_claim_spec *about)
{
    if (c->premise[RUNG_PREMISE_AT_ONCE].is == RUNG_ESTABLISHED)
        return (rung_known){RUNG_ESTABLISHED, "there are none"};
    if (c->subject->thoughts && about->at_once == RUNG_ESTABLISHED)
        return (rung_known){RUNG_ESTABLISHED, "the run counts only answers after its own number of thoughts"};
    if (c->subject->at_once.is != RUNG_ESTABLISHED)
        return (rung_known){RUNG_NOT_ESTABLISHED, "its own chain of thought may have any length"};
    if (about->at_once == RUNG_VIOLATED && about->thoughts)
        return (rung_known){RUNG_ESTABLISHED, "the claim says how many"};
    return (rung_known){RUNG_NOT_ESTABLISHED, "any number of thoughts may come before the answer"};
}

static void facts_of_prompt(rung_claim *c, const rung_claim_spec *about)
{
    c->premise[RUNG_PREMISE_LAYOUT] =
        said(about->layout, "the prompt is what the task writes", "the question comes before what it asks about");
    if (about->layout == RUNG_ESTABLISHED && c->has_task && asks_first(&c->task))
        c->premise[RUNG_PREMISE_LAYOUT] =
            (rung_known){RUNG_VIOLATED, "order=first: every token may know what is asked"};
    c->premise[RUNG_PREMISE_ENDS] =
        said(about->ends, "the prompt ends there", "tokens follow the last one of the task; each is a new receiver");
    c->premise[RUNG_PREMISE_AT_ONCE] = said(about->at_once, "the model gives no tokens before the answer",
                                            "a chain of thought comes before the answer");
    if (c->subject->at_once.is != RUNG_ESTABLISHED) c->premise[RUNG_PREMISE_AT_ONCE] = c->subject->at_once;
    c->premise[RUNG_PREMISE_COUNTED] = count_of_thoughts(c, about);
}

/* ---- sizes of the task ------------------------------------------------------------------------------------------- */

/* True if the user set a parameter that makes prompts longer. */
static bool fixes_length(const rung_task_conf *task)
{
    static const char *const names[] = {"N0", "N", "T", "n"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        size_t at = rung_param_find(task->task->params, names[i]);
        if (at != SIZE_MAX && task->params[at].set) return true;
    }
    return false;
}

static rung_status take_task(rung_claim *c, const rung_claim_spec *about, rung_error *err)
{
    if (!about->task) return RUNG_OK;
    c->task = *about->task, c->has_task = true;
    c->n = about->n;
    if (!about->n || !fixes_length(&c->task)) return RUNG_OK;
    if (c->task.tokens > about->n)
        return rung_fail(err, RUNG_USAGE,
                         "with these parameters a prompt has %zu tokens, more than n = %llu; leave out one of them",
                         c->task.tokens, (unsigned long long)about->n);
    c->n = 0;
    return RUNG_OK;
}

/* ---- claims ------------------------------------------------------------------------------------------------------ */

rung_status rung_claim_new(rung_claim **out, const rung_subject *subject, const rung_claim_spec *about, rung_error *err)
{
    *out = NULL;
    rung_claim *c = rung_calloc(1, sizeof *c, err);
    if (!c) return RUNG_SYSTEM;
    c->subject = subject, c->about = *about;
    rung_status status = take_task(c, about, err);
    if (status != RUNG_OK) {
        free(c);
        return status;
    }
    c->arithmetic = arithmetic_of(subject, about);
    facts_of_layers(c);
    facts_of_arithmetic(c);
    assert(c->arithmetic.accumulator_bits > 0 && c->arithmetic.state_bits > 0 && c->arithmetic.cache_bits > 0);
    facts_of_prompt(c, about);
    *out = c;
    return RUNG_OK;
}

void rung_claim_free(rung_claim *claim)
{
    free(claim);
}

const rung_subject *rung_claim_subject(const rung_claim *c)
{
    return c->subject;
}

rung_claim_spec rung_claim_get_spec(const rung_claim *c)
{
    rung_claim_spec about = c->about;
    about.task = rung_claim_task(c);
    return about;
}

const rung_ledger *rung_claim_ledger(const rung_claim *c)
{
    return c->subject->ledger;
}

const rung_task_conf *rung_claim_task(const rung_claim *c)
{
    return c->has_task ? &c->task : NULL;
}

uint64_t rung_claim_n(const rung_claim *c)
{
    return c->n;
}

const rung_arithmetic *rung_claim_arithmetic(const rung_claim *c)
{
    return &c->arithmetic;
}

rung_known rung_claim_premise(const rung_claim *c, rung_premise premise)
{
    assert((size_t)premise < RUNG_PREMISES);
    return c->premise[premise];
}

uint64_t rung_claim_thoughts(const rung_claim *c)
{
    bool some = c->premise[RUNG_PREMISE_AT_ONCE].is == RUNG_VIOLATED;
    if (!some || c->premise[RUNG_PREMISE_COUNTED].is != RUNG_ESTABLISHED) return 0;
    return c->subject->thoughts ? c->subject->thoughts : c->about.thoughts;
}
