/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What is known of a run without training it: the bits of its layers, what the theorems say of them on this task at
 * this size, and of which measurements they speak. Numbers have the bits of the exact evaluator that tests the run, or
 * 32, as in training.
 */
#include "store.h"

#include <math.h>
#include <string.h>

#include "rung/decide.h"

enum { TRAINING_BITS = 32 };

static int bits_of(const rung_train_spec *conf)
{
    rung_fmt fmt;
    rung_error ignored;
    bool exact = rung_train_tests_exactly(conf) && rung_fmt_parse(&fmt, conf->test_numbers, &ignored) == RUNG_OK;
    return exact && fmt.bits < TRAINING_BITS ? fmt.bits : TRAINING_BITS;
}

static void take_pattern(rung_run_row *row, const rung_pattern *pattern, const rung_ledger *ledger)
{
    rung_ledger_sum sum = rung_ledger_total(ledger);
    row->layers = ledger->layer_count;
    row->full_layers = pattern->full;
    row->recurrent_layers = pattern->recurrent;
    row->state_bits = pattern->all_state;
    row->level_bits = pattern->levels_state;
    row->message_bits = pattern->message;
    row->kv_bits_per_token = sum.largest.kv_per_token * (uint64_t)row->theory.bits;
}

static double number_or_none(double value)
{
    return value > 0 ? value : NAN;
}

static void take_answer(lab_untrained *facts, const rung_bound_answer *answer)
{
    rung_run_theory *t = &facts->row.theory;
    if (!answer) return;
    snprintf(facts->bound, sizeof facts->bound, "%s", answer->bound->id);
    snprintf(facts->statement, sizeof facts->statement, "%s", answer->statement);
    t->margin = answer->margin;
    t->n_threshold = number_or_none(answer->n_threshold);
    t->log2_n = number_or_none(answer->log2_n);
}

static rung_status ask(lab_untrained *facts, const rung_claim *claim, rung_error *err)
{
    const rung_decide_options means = {.bounds = true, .thresholds = true};
    rung_decision d;
    rung_status status = rung_decide(&d, claim, &means, err);
    if (status == RUNG_OK) {
        take_pattern(&facts->row, &d.bounds->pattern, rung_claim_ledger(claim));
        facts->row.theory.verdict = d.verdict;
        facts->row.theory.trivial = d.trivial != NULL;
        take_answer(facts, d.decisive);
        facts->row.theory.ceiling = number_or_none(d.ceiling);
    }
    rung_decision_clear(&d);
    return status;
}

/* The claim about a run: its layers in the exact arithmetic of its test. Training uses the fast evaluator, of which the
 * claim says nothing. */
rung_status lab_untrained_of(lab_untrained *facts, const rung_train_spec *conf, rung_error *err)
{
    rung_claim_spec about = rung_claim_spec_of_prompt(&conf->task, 0);
    rung_subject *subject;
    rung_claim *claim = NULL;
    *facts = (lab_untrained){.bound = ""};
    facts->row.theory = (rung_run_theory){.bits = bits_of(conf),
                                          .verdict = RUNG_UNKNOWN,
                                          .margin = NAN,
                                          .ceiling = NAN,
                                          .n_threshold = NAN,
                                          .log2_n = NAN};
    rung_claim_spec_set_bits(&about, bits_of(conf));
    RUNG_TRY(rung_subject_run(&subject, conf, err));
    rung_status status = rung_claim_new(&claim, subject, &about, err);
    RUNG_NEXT(status, ask(facts, claim, err));
    rung_claim_free(claim);
    rung_subject_free(subject);
    return status;
}

rung_status rung_lab_theory(rung_run_theory *theory, const rung_train_spec *conf, rung_error *err)
{
    lab_untrained facts;
    rung_status status = lab_untrained_of(&facts, conf, err);
    const rung_bound *bound = status == RUNG_OK ? rung_bound_get(facts.bound) : NULL;
    *theory = facts.row.theory;
    theory->bound = bound ? bound->id : "";
    theory->statement = "";
    return status;
}

/* ---- what theorems speak of -------------------------------------------------------------------------------------- */

bool rung_theory_speaks(const rung_run_theory *theory, const char *test_numbers)
{
    rung_fmt fmt;
    rung_error ignored;
    if (!test_numbers[0] || strcmp(test_numbers, RUNG_TEST_FAST) == 0) return false;
    return rung_fmt_parse(&fmt, test_numbers, &ignored) == RUNG_OK && fmt.bits <= theory->bits;
}

rung_status rung_lab_choose_test(rung_train_spec *conf, rung_error *err)
{
    rung_run_theory theory;
    if (conf->test_numbers || !conf->test_prompts) return RUNG_OK;
    rung_status status = rung_lab_theory(&theory, conf, err);
    if (status == RUNG_OK && (theory.verdict == RUNG_CANNOT || theory.ceiling > 0))
        conf->test_numbers = LAB_EXACT_NUMBERS;
    return status;
}
