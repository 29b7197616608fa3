/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A report for programs: rung.report/1, every cell with its intervals.
 */
#include <math.h>

#include "report_internal.h"

/* ---- cells of sweeps ------------------------------------------------------------------------------------------- */

static void json_interval(rung_jout *out, const char *key, const rung_estimate *i)
{
    rung_jout_flat_object(out, key);
    rung_jout_real(out, "mean", i->mean);
    rung_jout_real(out, "low", i->low);
    rung_jout_real(out, "high", i->high);
    rung_jout_int(out, "count", (int64_t)i->count);
    rung_jout_end(out);
}

/* 0 stands for "none". */
static void json_some(rung_jout *out, const char *key, double value)
{
    rung_jout_real(out, key, value > 0 ? value : NAN);
}

static void json_task(rung_jout *out, const rung_run_group *g, size_t c)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_run_group_task(&text, g, c);
    rung_jout_string(out, "task", text.failed ? NULL : text.text);
    rung_buf_clear(&text);
}

static void json_cell(rung_jout *out, const rung_run_group *g, size_t c)
{
    static const char *const sizes[] = {"d-model", "heads", "dk", "dv"}; /* as in the keys */
    const rung_cell *cell = &g->cell[c];
    const rung_run_row *row = cell->row;
    rung_jout_object(out, NULL);
    rung_jout_flat_object(out, "words");
    for (size_t k = 0; k < g->key_count; k++) rung_jout_string(out, g->key[k].name, rung_run_group_value(g, c, k));
    rung_jout_end(out);
    rung_jout_string(out, "arch", row->arch);
    json_task(out, g, c);
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) {
        int64_t size;
        if (rung_parse_int(&size, rung_run_group_value_of(g, c, sizes[i]), 0, INT32_MAX))
            rung_jout_int(out, sizes[i], size);
    }
    rung_jout_bool(out, "random_labels", row->random_labels);
    rung_jout_int(out, "runs", (int64_t)cell->runs);
    rung_jout_int(out, "succeeded", (int64_t)cell->succeeded);
    rung_jout_int(out, "diverged", (int64_t)cell->diverged);
    rung_jout_int(out, "settings", (int64_t)cell->settings);
    rung_jout_flat_array(out, "seeds");
    for (size_t i = 0; i < cell->runs; i++) rung_jout_int(out, NULL, (int64_t)rung_run_group_seed(g, c, i));
    rung_jout_end(out);
    rung_jout_real(out, "rate", row->rate);
    rung_jout_int(out, "steps", (int64_t)row->steps);
    rung_jout_string(out, "version", row->version);
    json_interval(out, "accuracy", &cell->accuracy);
    json_interval(out, "success", &cell->success);
    json_interval(out, "evaluated", &cell->evaluated);
    rung_jout_real(out, "chance", row->chance);
    rung_jout_real(out, "majority", row->majority);
    rung_jout_int(out, "state_bits", (int64_t)row->state_bits);
    rung_jout_int(out, "full_layers", (int64_t)row->full_layers);
    rung_jout_int(out, "recurrent_layers", (int64_t)row->recurrent_layers);
    rung_jout_int(out, "tokens", (int64_t)row->tokens);
    rung_jout_string(out, "verdict", rung_verdict_names[row->theory.verdict - 1]);
    rung_jout_string(out, "bound", row->theory.bound);
    rung_jout_string(out, "test_numbers", row->test_numbers[0] ? row->test_numbers : NULL);
    json_some(out, "ceiling", cell->ceiling);
    json_some(out, "n_threshold", row->theory.n_threshold);
    rung_jout_bool(out, "above_ceiling", cell->above);
    rung_jout_string(out, "certificate_sha256", cell->certificate ? cell->certificate_sha256 : NULL);
    if (cell->certificate) {
        rung_jout_string(out, "certificate", cell->certificate);
        rung_jout_int(out, "certificate_seed", (int64_t)cell->certificate_seed);
    }
    rung_jout_end(out);
}

static void json_ids(rung_jout *out, const rung_run_group *g)
{
    rung_jout_array(out, "figures");
    for (size_t i = 0; i < g->figures; i++) rung_jout_string(out, NULL, g->figure[i].id);
    for (size_t i = 0; i < g->heats; i++) rung_jout_string(out, NULL, g->heat[i].id);
    for (size_t i = 0; i < g->curves; i++) rung_jout_string(out, NULL, g->curve[i].id);
    rung_jout_end(out);
}

static void json_group(rung_jout *out, const rung_run_group *g)
{
    rung_jout_object(out, NULL);
    rung_jout_string(out, "sweep", g->name);
    rung_jout_string(out, "spec", g->spec);
    rung_jout_string(out, "question", g->question);
    rung_jout_real(out, "success", g->success);
    rung_jout_int(out, "planned", (int64_t)g->planned);
    rung_jout_int(out, "runs", (int64_t)g->runs);
    rung_jout_int(out, "diverged", (int64_t)g->diverged);
    rung_jout_int(out, "controls", (int64_t)g->controls);
    rung_jout_int(out, "controls_above_chance", (int64_t)g->controls_off);
    rung_jout_int(out, "above_ceiling", (int64_t)g->above);
    rung_jout_array(out, "chosen");
    for (size_t k = 0; k < g->key_count; k++)
        if (g->key[k].chosen) rung_jout_string(out, NULL, g->key[k].name);
    rung_jout_end(out);
    json_ids(out, g);
    rung_jout_array(out, "cells");
    for (size_t c = 0; c < g->cells; c++) json_cell(out, g, c);
    rung_jout_end(out);
    rung_jout_end(out);
}

/* ---- cells of probes ------------------------------------------------------------------------------------------- */

static void json_probed_cell(rung_jout *out, const rung_probed_cell *p)
{
    const rung_probe_cell *c = &p->cell;
    rung_jout_object(out, NULL);
    rung_jout_string(out, "model", p->model);
    rung_jout_string(out, "source", p->source);
    rung_jout_string(out, "server", p->server);
    rung_jout_string(out, "mode", c->mode);
    rung_jout_string(out, "task", c->canonical);
    rung_jout_int(out, "facts", (int64_t)c->facts);
    rung_jout_int(out, "depth", (int64_t)c->depth);
    rung_jout_int(out, "asked", (int64_t)c->asked);
    rung_jout_int(out, "right", (int64_t)c->right);
    rung_jout_int(out, "text_right", (int64_t)c->text_right);
    rung_jout_int(out, "off", (int64_t)c->off);
    rung_jout_int(out, "cut", (int64_t)c->cut);
    json_interval(out, "accuracy", &p->accuracy);
    rung_jout_real(out, "mass", c->mass);
    rung_jout_real(out, "chance", c->chance);
    rung_jout_real(out, "majority", c->majority);
    rung_jout_string(out, "verdict", c->verdict[0] ? c->verdict : NULL);
    rung_jout_string(out, "bound", c->bound[0] ? c->bound : NULL);
    rung_jout_real(out, "ceiling", c->ceiling > 0 ? c->ceiling : (double)NAN);
    rung_jout_bool(out, "above_ceiling", p->above);
    rung_jout_end(out);
}

static void json_probed_depth(rung_jout *out, const rung_probed_depth *d)
{
    rung_jout_object(out, NULL);
    rung_jout_string(out, "model", d->model);
    rung_jout_string(out, "words", d->place);
    rung_jout_int(out, "facts", (int64_t)d->depth.facts);
    rung_jout_int(out, "low", (int64_t)d->depth.low);
    rung_jout_int(out, "high", (int64_t)d->depth.high);
    rung_jout_int(out, "deepest", (int64_t)d->depth.deepest);
    rung_jout_real(out, "threshold", d->depth.threshold);
    rung_jout_real(out, "confidence", d->depth.confidence);
    rung_jout_end(out);
}

static void json_probed(rung_jout *out, const rung_probed *t)
{
    rung_jout_object(out, NULL);
    rung_jout_string(out, "task", t->task);
    rung_jout_int(out, "models", (int64_t)t->models);
    rung_jout_int(out, "answers", (int64_t)t->answers);
    rung_jout_int(out, "above_ceiling", (int64_t)t->above);
    rung_jout_int(out, "unread", (int64_t)t->unread);
    rung_jout_array(out, "figures");
    for (size_t i = 0; i < t->figures; i++) rung_jout_string(out, NULL, t->figure[i].id);
    rung_jout_end(out);
    rung_jout_array(out, "depths");
    for (size_t i = 0; i < t->depths; i++) json_probed_depth(out, &t->depth[i]);
    rung_jout_end(out);
    rung_jout_array(out, "cells");
    for (size_t i = 0; i < t->cells; i++) json_probed_cell(out, &t->cell[i]);
    rung_jout_end(out);
    rung_jout_end(out);
}

/* ---- the report ------------------------------------------------------------------------------------------------ */

void rung_report_json(rung_buf *text, const rung_report *report)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.report/1", true);
    rung_jout_int(&out, "runs", (int64_t)rung_report_runs(report));
    rung_jout_string(&out, "interval_of_means", "Student's t over seeds, 95 %");
    rung_jout_string(&out, "interval_of_rates", "Wilson, 95 %");
    rung_jout_bool(&out, "interactive", rung_report_interactive());
    rung_jout_array(&out, "sweeps");
    for (size_t i = 0; i < rung_report_groups(report); i++) json_group(&out, rung_report_group(report, i));
    rung_jout_end(&out);
    rung_jout_array(&out, "probes");
    for (size_t i = 0; i < rung_report_probed_count(report); i++) json_probed(&out, rung_report_probed(report, i));
    rung_jout_end(&out);
    rung_jout_finish(&out);
}
