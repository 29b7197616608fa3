/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The law of recall as text.
 */
#include "recall_print.h"

#include <math.h>
#include <stdio.h>

#include "output.h"

/* ---- the law ----------------------------------------------------------------------------------------------------- */

static void print_forms(rung_buf *out, const rung_recall_law *law)
{
    rung_buf_puts(out,
                  "form     held out  states predicted by fits to the others: root mean square error of accuracy\n");
    for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++)
        rung_buf_printf(out, "%-8s    %.3f  %s%s\n", rung_recall_form_names[form], rung_recall_held_error(law, form),
                        rung_recall_form_statements[form], form == rung_recall_chosen(law) ? "  (chosen)" : "");
}

static void print_fit(rung_buf *out, rung_recall_form form, const rung_recall_mechanism *m)
{
    const rung_recall_fit *fit = &m->fit[form];
    rung_buf_printf(out, "%-9s  %5zu  %-8s  %.3f     %.3f  ", m->name, m->cells, rung_recall_form_names[form],
                    fit->error, fit->held_error);
    for (size_t i = 0; i < rung_recall_form_parameters(form); i++)
        rung_buf_printf(out, "%s%s %.3f", i ? ", " : "", rung_recall_parameter_name(form, i), fit->parameter[i]);
    rung_buf_putc(out, '\n');
}

static void print_fits(rung_buf *out, const rung_recall_law *law)
{
    rung_buf_puts(out, "\nmechanism  cells  form      error  held out  parameters\n");
    for (size_t i = 0; i < rung_recall_mechanisms(law); i++)
        for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++)
            print_fit(out, form, rung_recall_mechanism_at(law, i));
}

/* ---- published numbers ------------------------------------------------------------------------------------------- */

#define READ_TO 0.01 /* published accuracies were read off figures to a hundredth */

typedef struct score_sums {
    double square[RUNG_RECALL_FORMS];
    size_t rows, inside;
} score_sums;

static void print_row(rung_buf *out, const rung_recall_published *row, const rung_recall_score *score, score_sums *sums)
{
    char name[96], state[48];
    snprintf(name, sizeof name, "%s: %s", row->source, row->model);
    snprintf(state, sizeof state, "%zux%zux%zu", row->state.heads, row->state.dk, row->state.dv);
    rung_buf_printf(out, "%-42s  %-9s  %9.2f", name, state, row->accuracy);
    if (!score->law) {
        rung_buf_puts(out, "  no law: this mechanism was not measured\n");
        return;
    }
    for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++) {
        double error = score->predicted[form] - row->accuracy;
        sums->square[form] += error * error;
        rung_buf_printf(out, "  %7.2f", score->predicted[form]);
    }
    bool inside = row->accuracy >= score->low - READ_TO && row->accuracy <= score->high + READ_TO;
    rung_buf_printf(out, "  %.2f to %.2f%s\n", score->low, score->high, inside ? "" : "  outside");
    sums->rows++;
    sums->inside += inside;
}

static rung_status print_published(rung_buf *out, const rung_recall_law *law, rung_error *err)
{
    size_t count;
    const rung_recall_published *row = rung_recall_published_rows(&count);
    score_sums sums = {0};
    rung_buf_printf(out, "\n%-42s  %-11s%9s", "accuracies that others published", "H x dk x dv", "says");
    for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++)
        rung_buf_printf(out, "  %7s", rung_recall_form_names[form]);
    rung_buf_printf(out, "  95 %% of %s\n", rung_recall_form_names[rung_recall_chosen(law)]);
    for (size_t i = 0; i < count; i++) {
        rung_recall_score score;
        RUNG_TRY(rung_recall_compare(&score, law, &row[i], err));
        print_row(out, &row[i], &score, &sums);
    }
    if (!sums.rows) return RUNG_OK;
    rung_buf_printf(out, "%-42s  %-9s  %9s", "root mean square error", "", "");
    for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++)
        rung_buf_printf(out, "  %7.2f", sqrt(sums.square[form] / (double)sums.rows));
    rung_buf_printf(out, "  %zu of %zu inside\n", sums.inside, sums.rows);
    return RUNG_OK;
}

rung_status tool_recall_print_law(rung_buf *out, const rung_recall_law *law, rung_error *err)
{
    rung_buf_puts(out, "How many entries a trained recurrent layer looks up: " RUNG_RECALL_STATUS ".\n\n");
    print_forms(out, law);
    print_fits(out, law);
    return print_published(out, law, err);
}

/* ---- an answer --------------------------------------------------------------------------------------------------- */

static void print_question(rung_buf *out, const rung_recall_question *q)
{
    rung_buf_printf(out, "%s, %zu head%s of dk=%zu dv=%zu, %zu values, accuracy %g\n", q->mechanism, q->state.heads,
                    q->state.heads == 1 ? "" : "s", q->state.dk, q->state.dv, q->values, q->accuracy);
}

static void print_measured(rung_buf *out, const rung_recall_mechanism *m)
{
    rung_buf_printf(out,
                    "measured    %zu cells: heads %zu to %zu, dk %zu to %zu, dv %zu to %zu, %zu to %zu values, %zu to "
                    "%zu entries\n",
                    m->cells, m->low.heads, m->high.heads, m->low.dk, m->high.dk, m->low.dv, m->high.dv, m->values_low,
                    m->values_high, m->entries_low, m->entries_high);
}

void tool_recall_print_answer(rung_buf *out, const rung_recall_law *law, const rung_recall_question *question,
                              const rung_recall_answer *answer)
{
    print_question(out, question);
    if (answer->no_law) {
        rung_buf_printf(out, "no law      %s\n", answer->no_law);
        return;
    }
    rung_buf_printf(out, "entries     %.0f (95 %%: %.0f to %.0f), " RUNG_RECALL_STATUS "\n", answer->entries,
                    answer->low, answer->high);
    rung_buf_printf(out, "form        %s: %s\n", rung_recall_form_names[answer->form],
                    rung_recall_form_statements[answer->form]);
    rung_buf_puts(out, "by others   ");
    for (rung_recall_form form = 0, shown = 0; form < RUNG_RECALL_FORMS; form++)
        if (form != answer->form)
            rung_buf_printf(out, "%s%s %.0f", shown++ ? ", " : "", rung_recall_form_names[form],
                            rung_recall_entries(law, form, question));
    rung_buf_putc(out, '\n');
    print_measured(out, rung_recall_mechanism_get(law, question->mechanism));
    if (answer->beyond) rung_buf_puts(out, "            the question is outside of it: an extrapolation\n");
}
