/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What rung drift shows: one screen for each kind of layer.
 */
#include "drift_print.h"

#include <math.h>
#include <string.h>

#include "output.h"

static void print_head(rung_buf *out, const rung_drift *d)
{
    const rung_mech_conf *c = d->conf;
    if (d->label[0]) rung_buf_printf(out, "%s: ", d->label);
    rung_buf_printf(out, "%s, %zu head%s of dk=%zu dv=%zu; %s inputs", c->mech->name, c->heads,
                    c->heads == 1 ? "" : "s", c->dk, c->dv, rung_drift_source_names[d->inputs]);
    if (d->inputs != RUNG_DRIFT_FILE && d->inputs != RUNG_DRIFT_PROMPT)
        rung_buf_printf(out, ", decay %g a token, seed %llu", d->decay, (unsigned long long)d->seed);
    rung_buf_printf(out, "\n%s\n", d->numbers);
}

static void print_error(rung_buf *out, double x)
{
    rung_buf_printf(out, "%11.2g", x);
}

static void print_bound(rung_buf *out, double x)
{
    if (isinf(x))
        rung_buf_printf(out, "%11s", "none");
    else
        rung_buf_printf(out, "%11.2g", x);
}

static void print_errors(rung_buf *out, const rung_drift *d)
{
    rung_buf_puts(out,
                  "\nThe state is off by, relative to its norm in f64. Columns from \"state\" on: only that is not "
                  "in f64.\n tokens");
    for (size_t p = 0; p < d->parts; p++) rung_buf_printf(out, "%11s", d->part[p].name);
    if (d->proof.applies) rung_buf_printf(out, "%11s%11s", "proved run", "theorem");
    for (size_t i = 0; i < d->points; i++) {
        rung_buf_printf(out, "\n%7zu", d->at[i]);
        for (size_t p = 0; p < d->parts; p++) print_error(out, d->part[p].state[i]);
        if (!d->proof.applies) continue;
        print_bound(out, d->proof.run[i]);
        print_bound(out, d->proof.theorem[i]);
    }
    rung_buf_puts(out, "\noutputs");
    for (size_t p = 0; p < d->parts; p++) print_error(out, d->part[p].output[d->points - 1]);
    rung_buf_puts(out, "\n");
    if (d->proof.applies && d->proof.reference[d->points - 1] < INFINITY)
        rung_buf_printf(out, "f64 itself is within %.2g of the reals after %zu tokens (proved).\n",
                        d->proof.reference[d->points - 1], d->at[d->points - 1]);
}

static void print_swallowed(rung_buf *out, const rung_drift *d)
{
    rung_buf_printf(out, "Changes of entries that rounding swallows: %.1f %%; ", 100 * d->lost.share[d->points - 1]);
    if (d->lost.first == SIZE_MAX)
        rung_buf_puts(out, "no token is swallowed whole.\n");
    else
        rung_buf_printf(out, "the first token that is swallowed whole is number %zu, from 0.\n", d->lost.first);
}

static void print_age(rung_buf *out, size_t age)
{
    if (age == SIZE_MAX)
        rung_buf_printf(out, "%9s", "never");
    else
        rung_buf_printf(out, "%9zu", age);
}

static void print_curves(rung_buf *out, const rung_drift *d)
{
    if (d->why_no_curve[0]) rung_buf_printf(out, "\nNo curve of recall: %s.\n", d->why_no_curve);
    if (!d->curves) return;
    rung_buf_printf(out,
                    "\n%zu pairs, then distractors; the nearest of %zu values is read. Tokens after the pairs up to "
                    "which all are read,\nand from which at most half are (never: not up to %zu).\n  decay",
                    d->pairs, d->values, d->age[d->ages - 1]);
    for (size_t i = 0; i < d->curves && d->curve[i].decay == d->curve[0].decay; i++)
        rung_buf_printf(out, "  %16s", d->curve[i].name);
    for (size_t i = 0; i < d->curves; i++) {
        const rung_drift_curve *c = &d->curve[i];
        if (i == 0 || c->decay != c[-1].decay) rung_buf_printf(out, "\n%7g", c->decay);
        print_age(out, c->whole);
        print_age(out, c->half);
    }
    rung_buf_putc(out, '\n');
}

void tool_drift_print(rung_buf *out, const rung_drift *d)
{
    print_head(out, d);
    print_errors(out, d);
    print_swallowed(out, d);
    print_curves(out, d);
    rung_buf_putc(out, '\n');
    rung_drift_verdict(out, d);
}
