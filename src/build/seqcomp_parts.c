/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Shared parts of the constructions for L-SeqComp.
 */
#include "seqcomp_parts.h"

#include "code_match.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- the task ---------------------------------------------------------------------------------------------------- */

/* The ids of a table entry are (argument, value) or only the value. */
static void read_level(seqcomp *t, const rung_task_conf *task, size_t level)
{
    rung_ids ids = task->task->ids(task, t->start[level]);
    t->first_id[level] = ids.first;
    t->range[level] = t->pairs && level > 0 ? ids.count / t->args[level] : ids.count;
    if (t->range[level] > t->widest) t->widest = t->range[level];
}

rung_status seqcomp_init(seqcomp *t, const rung_build *b, rung_error *err)
{
    const rung_task_conf *task = &b->task;
    size_t at = 0;
    *t = (seqcomp){.levels = (size_t)rung_task_param(task, "L"),
                   .tokens = task->tokens,
                   .pairs = rung_task_param(task, "form") == 1};
    if (rung_task_param(task, "order") == 1)
        return rung_fail(err, RUNG_USAGE,
                         "with order=first the last token is z_0, but this construction answers at w; take order=last");
    for (size_t l = t->levels; l >= 1; l--) {
        t->args[l] = task->derived[l - 1];
        t->start[l] = at;
        at += t->args[l];
    }
    t->start[0] = at;
    for (size_t l = 0; l <= t->levels; l++) read_level(t, task, l);
    for (size_t l = 1; l <= t->levels; l++) t->digits[l] = t->args[l] / t->range[l - 1];
    rung_ids w = task->task->ids(task, at + 1);
    t->w_id = w.first, t->w_count = w.count;
    return RUNG_OK;
}

size_t seqcomp_digit(const seqcomp *t, size_t w, size_t level)
{
    assert(level <= t->levels);
    for (size_t l = 1; l < level; l++) w /= t->digits[l];
    return level == 0 ? 0 : w % t->digits[level];
}

size_t seqcomp_place(const seqcomp *t, size_t level, size_t u)
{
    assert(level <= t->levels && (level == 0 ? u == 0 : u < t->args[level]));
    return t->start[level] + u;
}

static void write_entry(const seqcomp *t, const seqcomp_writer *writer, const sheet_matrix *embed,
                        const sheet_matrix *positions, size_t level, size_t u)
{
    if (!t->pairs) {
        writer->key(writer->layout, positions, t->start[level] + u, level, u);
        return;
    }
    for (size_t v = 0; v < t->range[level]; v++) {
        size_t id = t->first_id[level] + u * t->range[level] + v;
        writer->key(writer->layout, embed, id, level, u);
        writer->value(writer->layout, embed, id, level, v);
    }
}

void seqcomp_write_entries(rung_sheet *s, const seqcomp *t, const seqcomp_writer *writer)
{
    sheet_matrix embed = sheet_get(s, "embed.weight");
    sheet_matrix positions = t->pairs ? embed : sheet_get(s, "positions");
    for (size_t l = 1; l <= t->levels; l++) {
        for (size_t u = 0; u < t->args[l]; u++) write_entry(t, writer, &embed, &positions, l, u);
        for (size_t v = 0; !t->pairs && v < t->range[l]; v++)
            writer->value(writer->layout, &embed, t->first_id[l] + v, l, v);
    }
}

/* ---- gap --------------------------------------------------------------------------------------------------------- */

typedef struct halves {
    seqcomp_error *error;
    const void *context;
} halves;

static double in_halves(const void *context, double gap)
{
    const halves *h = context;
    return 2 * h->error(h->context, gap);
}

rung_status seqcomp_choose_gap(double *gap, const rung_build *b, seqcomp_error *error, const void *context,
                               double usual, rung_error *err)
{
    halves h = {error, context};
    match_limit limit = {.excess = in_halves,
                         .context = &h,
                         .usual = usual,
                         .meaning = "a fetched number may be off by 1/2 or more",
                         .instead = "take smaller sizes"};
    return match_gap(gap, b, &limit, err);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

void seqcomp_fetch(rung_sheet *s, size_t layer, size_t from, size_t to, size_t count)
{
    sheet_matrix v = sheet_get(s, "layers.%zu.mix.0.v.weight", layer),
                 out = sheet_get(s, "layers.%zu.out.weight", layer);
    sheet_set_diagonal(&v, 0, from, count, 1);
    sheet_set_diagonal(&out, to, 0, count, 1);
}

/* Writes all of the linear layer but its readers. */
static void hand(rung_sheet *s, size_t layer, size_t mark, size_t from, size_t to, size_t count)
{
    sheet_matrix k = sheet_get(s, "layers.%zu.mix.0.k.weight", layer);
    sheet_set(&k, 0, mark, 1);
    seqcomp_fetch(s, layer, from, to, count);
}

void seqcomp_hand_over(rung_sheet *s, size_t layer, size_t mark, size_t from, size_t to, size_t count)
{
    sheet_matrix q = sheet_get(s, "layers.%zu.mix.0.q.bias", layer);
    sheet_set(&q, 0, 0, 1);
    hand(s, layer, mark, from, to, count);
}

void seqcomp_hand_to(rung_sheet *s, size_t layer, size_t mark, size_t reader, size_t from, size_t to, size_t count)
{
    sheet_matrix q = sheet_get(s, "layers.%zu.mix.0.q.weight", layer);
    sheet_set(&q, 0, reader, 1);
    hand(s, layer, mark, from, to, count);
}

seqcomp_plan seqcomp_plan_of(const seqcomp *t, int64_t linear)
{
    seqcomp_plan plan = {.linear = linear};
    for (size_t l = linear == SEQCOMP_LINEAR_NONE ? 0 : 1; l <= t->levels; l++) {
        if (linear == SEQCOMP_LINEAR_FIRST && l == 1) plan.step[plan.count++] = (seqcomp_step){.hand = true};
        plan.step[plan.count++] = (seqcomp_step){.level = l};
        if (linear == SEQCOMP_LINEAR_AFTER && l == 1) plan.step[plan.count++] = (seqcomp_step){.hand = true};
    }
    return plan;
}

bool seqcomp_plan_has_table(const seqcomp_plan *plan, size_t layer, bool tables)
{
    return layer + 1 == plan->count || (tables && !plan->step[layer + 1].hand);
}

/* The last `count` layers, which are full; nothing for none. */
static void write_rest(char *to, size_t size, size_t count, const char *full)
{
    if (count > 1)
        snprintf(to, size, "%zu*%s", count, full);
    else
        snprintf(to, size, "%s", count ? full : "");
}

void seqcomp_plan_layers(rung_sheet *s, const seqcomp_plan *plan, size_t dk, size_t dv, bool tables)
{
    char full[64], hand[64], rest[96], mlp[8 * RUNG_COUNT(plan->step)] = "";
    bool first = plan->linear == SEQCOMP_LINEAR_FIRST, after = plan->linear == SEQCOMP_LINEAR_AFTER;
    snprintf(full, sizeof full, "full:dk=%zu:dv=%zu", dk, dv);
    snprintf(hand, sizeof hand, SEQCOMP_HAND_OVER, dv);
    write_rest(rest, sizeof rest, plan->count - (first ? 1 : after ? 2 : 0), full);
    if (after)
        sheet_layers(s, "%s,%s%s%s", full, hand, *rest ? "," : "", rest);
    else
        sheet_layers(s, "%s%s%s", first ? hand : "", first ? "," : "", rest);
    for (size_t i = 0; i < plan->count; i++) {
        strcat(mlp, i ? "," : "");
        strcat(mlp, seqcomp_plan_has_table(plan, i, tables) ? "table" : "none");
    }
    sheet_mlp(s, mlp);
}
