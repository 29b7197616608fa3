/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of the rows about tasks share: layers with a number of bits, and one row's answer.
 */
#ifndef RUNG_TESTS_ROWS_TEST_H
#define RUNG_TESTS_ROWS_TEST_H

#include <math.h>

#include "../../src/bound/bound_rows.h"
#include "rung/bound.h"
#include "rung/build.h"
#include "testing.h"

#define LAYERS_MAX 64

/* Layers with numbers of one bit each, so that elements are bits. */
typedef struct stack {
    rung_ledger_layer layer[LAYERS_MAX];
    rung_ledger ledger;
} stack;

static inline rung_ledger_layer recurrent_bits(uint64_t bits)
{
    return (rung_ledger_layer){.recurrent = true, .state_elements = bits};
}

/* c = dv + 2 >= 2, and dk bits of queries. */
static inline rung_ledger_layer full_bits(uint64_t message, uint64_t query)
{
    return (rung_ledger_layer){.full = true, .heads = 1, .value_dim = message - 2, .key_dim = query};
}

static inline rung_ledger *stack_of(stack *s, size_t count, const rung_ledger_layer *layers)
{
    memcpy(s->layer, layers, count * sizeof *layers);
    s->ledger = (rung_ledger){.name = "test", .family = "", .spelling = "", .layer_count = count, .layer = s->layer};
    for (size_t f = 0; f < RUNG_LEDGER_FACTS; f++)
        s->ledger.known[f] = (rung_known){RUNG_ESTABLISHED, "the test says so"};
    return &s->ledger;
}

/* "two-sum N=3 M=5" */
static inline bool try_task(rung_task_conf *conf, const char *text)
{
    char copy[256];
    const char *words[32];
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    return rung_task_conf_init(conf, words[0], words + 1, count - 1, &check_err) == RUNG_OK;
}

static inline rung_task_conf task_of(const char *text)
{
    rung_task_conf conf;
    if (!try_task(&conf, text)) fail_msg("%s: %s", text, check_err.text);
    return conf;
}

/* Layers (or a subject), a task, and what a claim says of both. */
typedef struct question {
    const rung_ledger *ledger;
    const rung_subject *subject; /* instead of the ledger */
    const rung_task_conf *task;
    uint64_t n;
    int bits;
    int more[3]; /* bits of accumulators, states and caches beyond these */
    rung_message message;
    rung_kernel kernel;
    uint64_t tile;
    bool tokens_after, thoughts, thresholds;
    uint64_t most_thoughts; /* 0: any number */
} question;

static inline question question_of(const rung_ledger *ledger, const rung_task_conf *task, uint64_t n)
{
    return (question){.ledger = ledger, .task = task, .n = n, .bits = 1, .kernel = RUNG_KERNEL_ONLINE};
}

static inline rung_claim_spec about_of(const question *q)
{
    rung_claim_spec about = rung_claim_spec_of_prompt(q->task, q->n);
    rung_claim_spec_set_bits(&about, q->bits);
    about.accumulator_bits += q->more[0], about.state_bits += q->more[1], about.cache_bits += q->more[2];
    about.kernel = q->kernel, about.tile = q->tile, about.message = q->message;
    if (q->tokens_after) about.ends = RUNG_VIOLATED;
    if (q->thoughts) about.at_once = RUNG_VIOLATED;
    about.thoughts = q->most_thoughts;
    return about;
}

static inline void run_bounds(rung_bound_report *report, const question *q)
{
    rung_subject *made = NULL;
    rung_claim *claim;
    rung_claim_spec about = about_of(q);
    if (!q->subject) CHECK(rung_subject_layers(&made, q->ledger, &check_err));
    CHECK(rung_claim_new(&claim, q->subject ? q->subject : made, &about, &check_err));
    CHECK(rung_bound_answers(report, claim, q->thresholds, &check_err));
    rung_claim_free(claim);
    rung_subject_free(made);
}

/* The answer of the row `id`, which must speak of the task, as the whole report has it. */
static inline rung_bound_answer reported(const question *q, const char *id)
{
    static rung_bound_report report;
    run_bounds(&report, q);
    for (size_t i = 0; i < report.count; i++)
        if (strcmp(report.answer[i].bound->id, id) == 0) return report.answer[i];
    fail_msg("no row %s for %s", id, q->task->task->name);
    return report.answer[0];
}

/* The same from this row alone, without its premises: other rows may take long. */
static inline rung_bound_answer answer_of(const question *q, const char *id)
{
    const rung_bound *bound = rung_bound_get(id);
    rung_bound_answer answer = {.bound = bound, .applies = true, .verdict = RUNG_UNKNOWN};
    rung_arithmetic arithmetic = rung_arithmetic_plain(q->kernel, q->bits, q->message);
    arithmetic.tile = q->tile;
    rung_pattern pattern = rung_pattern_of(q->ledger, &arithmetic);
    bound_question inner = {q->ledger, q->task, q->n, &arithmetic, q->thresholds, q->most_thoughts, false};
    assert_non_null(bound);
    CHECK(bound->evaluate(&answer, &inner, &pattern, &check_err));
    return answer;
}

static inline rung_bound_answer ask_recurrent(const rung_task_conf *task, uint64_t bits, uint64_t n, const char *id)
{
    stack s;
    rung_ledger_layer layer = recurrent_bits(bits);
    question q = question_of(stack_of(&s, 1, &layer), task, n);
    return answer_of(&q, id);
}

static inline rung_bound_answer ask_full(const rung_task_conf *task, uint64_t message, uint64_t query, uint64_t n,
                                         const char *id)
{
    stack s;
    rung_ledger_layer layer = full_bits(message, query);
    question q = question_of(stack_of(&s, 1, &layer), task, n);
    return answer_of(&q, id);
}

#endif
