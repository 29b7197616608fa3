/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A probe as a table for people and as JSON for programs.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "output.h"
#include "probe.h"
#include "rung/verify.h"

/* ---- text ------------------------------------------------------------------------------------------------------ */

static void put_rate(rung_buf *out, const rung_probe *probe, size_t index)
{
    const rung_probe_cell *cell = index == SIZE_MAX ? NULL : rung_probe_cell_at(probe, index);
    if (cell && cell->asked)
        rung_buf_printf(out, "  %7.3f", (double)cell->right / (double)cell->asked);
    else
        rung_buf_printf(out, "  %7s", "-");
}

static bool has_mode(const rung_probe *probe, const char *mode)
{
    for (size_t i = 0; i < rung_probe_cell_count(probe); i++)
        if (strcmp(rung_probe_cell_at(probe, i)->mode, mode) == 0) return true;
    return false;
}

static const char *const controls[] = {"one-hop", "shuffled", "thinking"};

static void put_head(rung_buf *out, const rung_probe *probe, bool verdicts)
{
    rung_buf_printf(out, "%s%6s %5s  %6s  %8s  %-15s  %6s  %6s", tool_style_bold(), "facts", "depth", "asked",
                    "accuracy", "95 % interval", "chance", "mass");
    for (size_t m = 0; m < RUNG_COUNT(controls); m++)
        if (has_mode(probe, controls[m])) rung_buf_printf(out, "  %8s", controls[m]);
    if (verdicts) rung_buf_printf(out, "  %-8s", "bound");
    rung_buf_printf(out, "  finding%s\n", tool_style_off());
}

static void put_number(rung_buf *out, uint64_t number, int width)
{
    if (number)
        rung_buf_printf(out, "%*" PRIu64, width, number);
    else
        rung_buf_printf(out, "%*s", width, "-");
}

static void put_row(rung_buf *out, const rung_probe *probe, size_t index, bool verdicts)
{
    const rung_probe_cell *cell = rung_probe_cell_at(probe, index);
    rung_interval interval = rung_wilson(cell->right, cell->asked);
    put_number(out, cell->facts, 6);
    rung_buf_putc(out, ' ');
    put_number(out, cell->depth, 5);
    rung_buf_printf(out, "  %6" PRIu64 "  ", cell->asked);
    if (cell->asked)
        rung_buf_printf(out, "%8.3f  %.3f to %.3f ", (double)cell->right / (double)cell->asked, interval.low,
                        interval.high);
    else
        rung_buf_printf(out, "%8s  %-15s", "-", "-");
    rung_buf_printf(out, "  %6.3f", cell->chance);
    if (isnan(cell->mass))
        rung_buf_printf(out, "  %6s", "-");
    else
        rung_buf_printf(out, "  %6.3f", cell->mass);
    for (size_t m = 0; m < RUNG_COUNT(controls); m++) {
        if (!has_mode(probe, controls[m])) continue;
        rung_buf_putc(out, ' ');
        put_rate(out, probe, rung_probe_control_of(probe, index, controls[m]));
    }
    if (verdicts) rung_buf_printf(out, "  %-8s", cell->verdict);
    rung_probe_finding finding = rung_probe_finding_of(probe, index);
    rung_buf_printf(out, "  %s", rung_probe_finding_names[finding]);
    if (finding == RUNG_FINDING_REFUSED) rung_buf_printf(out, ": %.100s", rung_probe_refusal(probe, index));
    rung_buf_putc(out, '\n');
}

static void put_depths(rung_buf *out, const rung_probe *probe)
{
    for (size_t i = 0; i < rung_probe_depth_count(probe); i++) {
        const rung_probe_depth *d = rung_probe_depth_at(probe, i);
        if (i == 0)
            rung_buf_printf(out, "\ndepth up to which accuracy stays at %g or above, with probability %g:\n",
                            d->threshold, d->confidence);
        rung_buf_printf(out, "  %-16s ", strcmp(d->keys, "{}") == 0 ? "all sizes" : d->keys);
        if (d->low == d->high)
            rung_buf_printf(out, "%s%" PRIu64 "%s", tool_style_bold(), d->low, tool_style_off());
        else
            rung_buf_printf(out, "%" PRIu64 " to %" PRIu64, d->low, d->high);
        rung_buf_puts(out, d->high == d->deepest ? " (the grid goes no deeper)\n" : "\n");
    }
}

static void put_notes(rung_buf *out, const rung_probe *probe)
{
    uint64_t off = 0, asked = 0;
    for (size_t i = 0; i < rung_probe_cell_count(probe); i++)
        off += rung_probe_cell_at(probe, i)->off, asked += rung_probe_cell_at(probe, i)->asked;
    rung_buf_puts(out, "\n");
    tool_wrap(
        out,
        "accuracy: the likeliest of the possible answers by the first generated token, one forward pass. fails: below "
        "the threshold although one look into the same facts is above it. unread: that one is below too, and nothing "
        "follows. bound: what 'rung bound' proves of the configuration and the task as symbols.",
        0, 0);
    rung_buf_putc(out, '\n');
    if (off * 5 > asked)
        rung_buf_printf(out,
                        "%" PRIu64 " of %" PRIu64
                        " replies had no possible answer among the likeliest tokens: try --shots 3 or --api chat.\n",
                        off, asked);
}

static bool has_verdicts(const rung_probe *probe)
{
    return rung_probe_cell_count(probe) && *rung_probe_cell_at(probe, 0)->verdict;
}

/* The smallest number of facts above `last`, or UINT64_MAX. */
static uint64_t next_facts(const rung_probe *probe, uint64_t last, bool first)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < rung_probe_cell_count(probe); i++) {
        uint64_t facts = rung_probe_cell_at(probe, i)->facts;
        if ((first || facts > last) && facts < next) next = facts;
    }
    return next;
}

/* Rows of the same number of facts stand together, whatever the order of the grid. */
static void put_rows(rung_buf *out, const rung_probe *probe, bool verdicts)
{
    for (uint64_t facts = next_facts(probe, 0, true); facts != UINT64_MAX; facts = next_facts(probe, facts, false))
        for (size_t i = 0; i < rung_probe_cell_count(probe); i++) {
            const rung_probe_cell *cell = rung_probe_cell_at(probe, i);
            if (cell->facts == facts && strcmp(cell->mode, "direct") == 0) put_row(out, probe, i, verdicts);
        }
}

void tool_probe_print(rung_buf *out, const rung_probe *probe)
{
    bool verdicts = has_verdicts(probe);
    put_head(out, probe, verdicts);
    put_rows(out, probe, verdicts);
    put_depths(out, probe);
    put_notes(out, probe);
}

void tool_probe_cost_print(rung_buf *out, const rung_probe_cost *cost)
{
    rung_buf_printf(out,
                    "%zu cells, controls included; prompts of up to about %" PRIu64 " tokens, over %zu names\n"
                    "%" PRIu64 " requests and about %" PRIu64 " tokens",
                    cost->cells, cost->longest, cost->names, cost->requests, cost->tokens);
    if (cost->requests_most > cost->requests)
        rung_buf_printf(out, "; where depth needs more, up to %" PRIu64 " and %" PRIu64, cost->requests_most,
                        cost->tokens_most);
    rung_buf_puts(out, "\nand some to find out which words are one token of the served tokenizer\n");
}
