/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The law, its scores and an answer as JSON, rung.recall/1.
 */
#include "rung/recall.h"

#include "rung/render.h"

static void put_forms(rung_jout *out, const rung_recall_law *law)
{
    rung_jout_array(out, "forms");
    for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++) {
        rung_jout_flat_object(out, NULL);
        rung_jout_string(out, "form", rung_recall_form_names[form]);
        rung_jout_string(out, "statement", rung_recall_form_statements[form]);
        rung_jout_real(out, "held_out_error", rung_recall_held_error(law, form));
        rung_jout_bool(out, "chosen", form == rung_recall_chosen(law));
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

static void put_fit(rung_jout *out, rung_recall_form form, const rung_recall_fit *fit)
{
    rung_jout_flat_object(out, NULL);
    rung_jout_string(out, "form", rung_recall_form_names[form]);
    for (size_t i = 0; i < rung_recall_form_parameters(form); i++)
        rung_jout_real(out, rung_recall_parameter_name(form, i), fit->parameter[i]);
    rung_jout_real(out, "error", fit->error);
    rung_jout_real(out, "held_out_error", fit->held_error);
    rung_jout_end(out);
}

static void put_range(rung_jout *out, const char *key, size_t low, size_t high)
{
    rung_jout_flat_array(out, key);
    rung_jout_int(out, NULL, (int64_t)low);
    rung_jout_int(out, NULL, (int64_t)high);
    rung_jout_end(out);
}

static void put_mechanisms(rung_jout *out, const rung_recall_law *law)
{
    rung_jout_array(out, "mechanisms");
    for (size_t i = 0; i < rung_recall_mechanisms(law); i++) {
        const rung_recall_mechanism *m = rung_recall_mechanism_at(law, i);
        rung_jout_object(out, NULL);
        rung_jout_string(out, "mechanism", m->name);
        rung_jout_int(out, "cells", (int64_t)m->cells);
        rung_jout_int(out, "states", (int64_t)m->states);
        put_range(out, "heads", m->low.heads, m->high.heads);
        put_range(out, "dk", m->low.dk, m->high.dk);
        put_range(out, "dv", m->low.dv, m->high.dv);
        put_range(out, "values", m->values_low, m->values_high);
        put_range(out, "entries", m->entries_low, m->entries_high);
        rung_jout_array(out, "fits");
        for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++) put_fit(out, form, &m->fit[form]);
        rung_jout_end(out);
        rung_jout_end(out);
    }
    rung_jout_end(out);
}

static void put_state(rung_jout *out, const rung_recall_state *state)
{
    rung_jout_int(out, "heads", (int64_t)state->heads);
    rung_jout_int(out, "dk", (int64_t)state->dk);
    rung_jout_int(out, "dv", (int64_t)state->dv);
}

static void put_row(rung_jout *out, const rung_recall_published *row, const rung_recall_score *score)
{
    rung_jout_flat_object(out, NULL);
    rung_jout_string(out, "source", row->source);
    rung_jout_string(out, "model", row->model);
    rung_jout_string(out, "mechanism", row->mechanism);
    put_state(out, &row->state);
    rung_jout_int(out, "values", (int64_t)row->values);
    rung_jout_array(out, "entries");
    for (size_t i = 0; i < row->tests; i++) rung_jout_int(out, NULL, (int64_t)row->entries[i]);
    rung_jout_end(out);
    rung_jout_real(out, "published", row->accuracy);
    for (rung_recall_form form = 0; score->law && form < RUNG_RECALL_FORMS; form++)
        rung_jout_real(out, rung_recall_form_names[form], score->predicted[form]);
    if (score->law) {
        rung_jout_real(out, "low", score->low);
        rung_jout_real(out, "high", score->high);
    }
    rung_jout_end(out);
}

static rung_status put_published(rung_jout *out, const rung_recall_law *law, rung_error *err)
{
    size_t count;
    const rung_recall_published *row = rung_recall_published_rows(&count);
    rung_status status = RUNG_OK;
    rung_jout_array(out, "published");
    for (size_t i = 0; status == RUNG_OK && i < count; i++) {
        rung_recall_score score;
        status = rung_recall_compare(&score, law, &row[i], err);
        if (status == RUNG_OK) put_row(out, &row[i], &score);
    }
    rung_jout_end(out);
    return status;
}

static void put_answer(rung_jout *out, const rung_recall_question *q, const rung_recall_answer *a)
{
    rung_jout_object(out, "prediction");
    rung_jout_string(out, "mechanism", q->mechanism);
    put_state(out, &q->state);
    rung_jout_int(out, "values", (int64_t)q->values);
    rung_jout_real(out, "accuracy", q->accuracy);
    rung_jout_string(out, "no_law", a->no_law);
    if (!a->no_law) {
        rung_jout_string(out, "form", rung_recall_form_names[a->form]);
        rung_jout_real(out, "entries", a->entries);
        rung_jout_real(out, "low", a->low);
        rung_jout_real(out, "high", a->high);
        rung_jout_bool(out, "beyond_measured", a->beyond);
    }
    rung_jout_end(out);
}

rung_status rung_recall_json(rung_buf *out, const rung_recall_law *law, const rung_recall_question *question,
                             const rung_recall_answer *answer, rung_error *err)
{
    rung_jout jout;
    rung_status status = RUNG_OK;
    rung_jout_begin(&jout, out, "rung.recall/1", true);
    rung_jout_string(&jout, "status", RUNG_RECALL_STATUS);
    if (question) put_answer(&jout, question, answer);
    put_forms(&jout, law);
    put_mechanisms(&jout, law);
    if (!question) status = put_published(&jout, law, err);
    rung_jout_finish(&jout);
    return status;
}
