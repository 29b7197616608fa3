/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Chooses the decisive row among all that cover a task, and finds the lowest ceiling. Of the rows that hold, one that
 * Coq has comes first.
 */
#include "proof.h"

static bool in_coq(const rung_bound_answer *a)
{
    return proof_has(a->bound->id) && a->point.known;
}

static bool decides_more(const rung_bound_answer *a, const rung_bound_answer *b)
{
    bool can = a->verdict == RUNG_CANNOT, other = b->verdict == RUNG_CANNOT;
    if (can != other) return can;
    if (can && !a->trivial != !b->trivial) return !a->trivial;
    if (can && in_coq(a) != in_coq(b)) return in_coq(a);
    return a->margin > b->margin;
}

double rung_bound_ceiling(const rung_bound_report *report)
{
    double lowest = 0;
    for (size_t i = 0; i < report->count; i++) {
        const rung_bound_answer *a = &report->answer[i];
        if (!a->applies || !(a->ceiling > 0) || a->ceiling_over) continue;
        if (!(lowest > 0) || a->ceiling < lowest) lowest = a->ceiling;
    }
    return lowest;
}

const rung_bound_answer *rung_bound_decisive(const rung_bound_report *report)
{
    const rung_bound_answer *best = NULL;
    for (size_t i = 0; i < report->count; i++)
        if (report->answer[i].applies && (!best || decides_more(&report->answer[i], best))) best = &report->answer[i];
    return best;
}
