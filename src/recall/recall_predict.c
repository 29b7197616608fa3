/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Predictions with intervals. Each replicate of the bootstrap has parameters of its own and a residual of a state that
 * the fit had not seen. If measured accuracy is predicted accuracy plus the residual, then a layer reaches the asked
 * accuracy where the prediction is that accuracy less the residual.
 */
#include <math.h>

#include "recall_inside.h"

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static rung_status check_sizes(const rung_recall_state *state, size_t values, rung_error *err)
{
    if (state->heads == 0 || state->dk == 0 || state->dv == 0)
        return rung_fail(err, RUNG_USAGE, "recall: a state has at least one head, dk and dv; one of them is 0");
    if (values < 2) return rung_fail(err, RUNG_USAGE, "recall: %zu value is known without a look; take 2", values);
    return RUNG_OK;
}

static rung_status check_question(const rung_recall_question *q, rung_error *err)
{
    RUNG_TRY(check_sizes(&q->state, q->values, err));
    if (!(q->accuracy > 1 / (double)q->values && q->accuracy <= 1))
        return rung_fail(err, RUNG_USAGE, "recall: an accuracy of %g; take one above chance, %g, and up to 1",
                         q->accuracy, 1 / (double)q->values);
    return RUNG_OK;
}

static bool is_beyond(const rung_recall_question *q, const rung_recall_mechanism *m, double entries)
{
    return q->state.heads < m->low.heads || q->state.heads > m->high.heads || q->state.dk < m->low.dk ||
           q->state.dk > m->high.dk || q->state.dv < m->low.dv || q->state.dv > m->high.dv ||
           q->values < m->values_low || q->values > m->values_high || entries < (double)m->entries_low ||
           entries > (double)m->entries_high;
}

/* The accuracy that a replicate must predict: within (chance, 1], or nothing is looked up or everything. */
static double asked_of(double accuracy, double residual, size_t values)
{
    double chance = 1 / (double)values, least = chance + 0.01 * (1 - chance);
    return fmin(fmax(accuracy - residual, least), 1);
}

static void bracket_entries(rung_recall_answer *answer, const recall_fitted *fitted, const rung_recall_question *q,
                            const recall_detector *detector)
{
    double entries[RECALL_REPLICATES];
    for (size_t b = 0; b < RECALL_REPLICATES; b++) {
        const recall_replicate *r = &fitted->replicate[b];
        entries[b] = recall_form_entries(answer->form, r->logs, &q->state,
                                         asked_of(q->accuracy, r->residual, q->values), detector);
    }
    recall_interval(&answer->low, &answer->high, entries, RECALL_REPLICATES);
}

rung_status rung_recall_predict(rung_recall_answer *answer, const rung_recall_law *law,
                                const rung_recall_question *question, rung_error *err)
{
    *answer = (rung_recall_answer){.no_law = "this mechanism was not measured", .form = law->chosen};
    RUNG_TRY(check_question(question, err));
    const recall_fitted *fitted = recall_fitted_get(law, question->mechanism);
    if (!fitted) return RUNG_OK;
    recall_detector detector;
    recall_detector_init(&detector, question->values);
    answer->no_law = NULL;
    answer->entries =
        recall_form_entries(law->chosen, fitted->logs[law->chosen], &question->state, question->accuracy, &detector);
    answer->beyond = is_beyond(question, &fitted->shown, answer->entries);
    bracket_entries(answer, fitted, question, &detector);
    return RUNG_OK;
}

double rung_recall_entries(const rung_recall_law *law, rung_recall_form form, const rung_recall_question *question)
{
    const recall_fitted *fitted = recall_fitted_get(law, question->mechanism);
    recall_detector detector;
    if (!fitted || check_question(question, NULL) != RUNG_OK) return NAN;
    recall_detector_init(&detector, question->values);
    return recall_form_entries(form, fitted->logs[form], &question->state, question->accuracy, &detector);
}

/* ---- accuracies -------------------------------------------------------------------------------------------------- */

double rung_recall_accuracy(const rung_recall_law *law, rung_recall_form form, const char *mechanism,
                            const rung_recall_state *state, double entries, size_t values)
{
    const recall_fitted *fitted = recall_fitted_get(law, mechanism);
    recall_detector detector;
    if (!fitted || check_sizes(state, values, NULL) != RUNG_OK) return NAN;
    recall_detector_init(&detector, values);
    return recall_form_accuracy(form, fitted->logs[form], state, entries, &detector);
}

/* The mean over the tests of a row. A residual belongs to accuracies that say where recall ends, so it is added to
 * those alone. */
static double mean_accuracy(rung_recall_form form, const double *logs, double residual,
                            const rung_recall_published *row, const recall_detector *detector)
{
    double sum = 0;
    for (size_t t = 0; t < row->tests; t++) {
        double accuracy = recall_form_accuracy(form, logs, &row->state, (double)row->entries[t], detector);
        if (accuracy < RECALL_FULL) accuracy += residual;
        sum += fmin(fmax(accuracy, 1 / (double)row->values), 1);
    }
    return sum / (double)row->tests;
}

rung_status rung_recall_compare(rung_recall_score *score, const rung_recall_law *law, const rung_recall_published *row,
                                rung_error *err)
{
    *score = (rung_recall_score){0};
    RUNG_TRY(check_sizes(&row->state, row->values, err));
    const recall_fitted *fitted = recall_fitted_get(law, row->mechanism);
    if (!fitted || row->tests == 0) return RUNG_OK;
    recall_detector detector;
    double means[RECALL_REPLICATES];
    recall_detector_init(&detector, row->values);
    score->law = true;
    for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++)
        score->predicted[form] = mean_accuracy(form, fitted->logs[form], 0, row, &detector);
    for (size_t b = 0; b < RECALL_REPLICATES; b++) {
        const recall_replicate *r = &fitted->replicate[b];
        means[b] = mean_accuracy(law->chosen, r->logs, r->residual, row, &detector);
    }
    recall_interval(&score->low, &score->high, means, RECALL_REPLICATES);
    return RUNG_OK;
}
