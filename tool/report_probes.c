/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Probed models in the output of rung report: for the terminal and as JSON.
 */
#include <inttypes.h>
#include <math.h>

#include "output.h"
#include "report_json.h"

static void print_depth(rung_buf *out, const rung_probed_depth *d)
{
    rung_buf_puts(out, "  depth     ");
    rung_report_print_text(out, d->model);
    rung_buf_puts(out, ", ");
    rung_report_print_text(out, d->place);
    rung_buf_printf(out, ": %" PRIu64, d->depth.low);
    if (!d->depth.settled) rung_buf_printf(out, " to %" PRIu64, d->depth.high);
    rung_buf_puts(out, d->depth.high == d->depth.deepest ? " (the grid goes no deeper)\n" : "\n");
}

void rung_report_print_probed(rung_buf *out, const rung_probed *t)
{
    rung_buf_printf(out, "%sprobed models: ", rung_style_bold());
    rung_report_print_text(out, t->task);
    rung_buf_printf(out, "%s: %zu model%s, %zu cell%s, %" PRIu64 " answers, %zu figure%s\n", rung_style_off(),
                    t->models, t->models == 1 ? "" : "s", t->cells, t->cells == 1 ? "" : "s", t->answers, t->figures,
                    t->figures == 1 ? "" : "s");
    for (size_t i = 0; i < t->depths; i++) print_depth(out, &t->depth[i]);
    if (t->unread) rung_buf_printf(out, "  controls  %zu of one look are below the threshold\n", t->unread);
    if (t->above)
        rung_buf_printf(out, "  theory    %zu cell%s ABOVE a ceiling: a fault or news\n", t->above,
                        t->above == 1 ? "" : "s");
    if (t->left_out[0]) rung_buf_printf(out, "  left out  %s\n", t->left_out);
}

static void json_cell(rung_jout *out, const rung_probed_cell *p)
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
    rung_report_json_interval(out, "accuracy", &p->accuracy);
    rung_jout_real(out, "mass", c->mass);
    rung_jout_real(out, "chance", c->chance);
    rung_jout_real(out, "majority", c->majority);
    rung_jout_string(out, "verdict", c->verdict[0] ? c->verdict : NULL);
    rung_jout_string(out, "bound", c->bound[0] ? c->bound : NULL);
    rung_jout_real(out, "ceiling", c->ceiling > 0 ? c->ceiling : (double)NAN);
    rung_jout_bool(out, "above_ceiling", p->above);
    rung_jout_end(out);
}

static void json_depth(rung_jout *out, const rung_probed_depth *d)
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

void rung_report_json_probed(rung_jout *out, const rung_probed *t)
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
    for (size_t i = 0; i < t->depths; i++) json_depth(out, &t->depth[i]);
    rung_jout_end(out);
    rung_jout_array(out, "cells");
    for (size_t i = 0; i < t->cells; i++) json_cell(out, &t->cell[i]);
    rung_jout_end(out);
    rung_jout_end(out);
}
