/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Attacks: the registry, the choice and order of attacks, and what rung-check supports.
 */
#include <stdlib.h>
#include <string.h>

#include "attack_rows.h"
#include "certify.h"

static const rung_attack *const rows[] = {
#define X(name) &rung_attack_##name,
    RUNG_ATTACKS(X)
#undef X
};

size_t rung_attack_count(void)
{
    return RUNG_COUNT(rows);
}

const rung_attack *rung_attack_at(size_t index)
{
    return rows[index];
}

const rung_attack *rung_attack_get(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(rows); i++)
        if (strcmp(rows[i]->name, name) == 0) return rows[i];
    return NULL;
}

void rung_break_clear(rung_break *result)
{
    rung_cert_clear(&result->cert);
    memset(result, 0, sizeof *result);
}

/* ---- what rung-check knows --------------------------------------------------------------------------------------- */

static const char *const known_tasks[] = {"eva", "index", "two-sum", "assoc-recall", "seqcomp", NULL};

static bool is_among(const char *name, const char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

/* Describes the first mechanism that rung-check does not support, with its layer and group. False: it supports all. */
static bool unknown_mechanism(const rung_model *model, char *why, size_t size)
{
    const rung_arch *arch = rung_model_get_arch(model);
    for (size_t i = 0; i < arch->layer_count; i++)
        for (size_t g = 0; g < arch->layer[i].group_count; g++) {
            const rung_mech_conf *conf = &arch->layer[i].group[g];
            bool known = conf->mech->traits & RUNG_TRAIT_CERTIFIED;
            bool mean = conf->mech->class_of != RUNG_CLASS_BLOCKS || conf->mech->selects(conf).summary_is_mean;
            bool plain = !conf->neg;
            if (known && mean && plain) continue;
            snprintf(why, size, "rung-check does not support %s%s (layer %zu)", conf->mech->name,
                     !known  ? ""
                     : !mean ? " with another compression than the mean"
                             : " with neg=1",
                     i);
            return true;
        }
    return false;
}

static bool unknown_task(const rung_task_conf *task, char *why, size_t size)
{
    bool query = strcmp(task->task->name, "two-sum") != 0 || rung_task_param(task, "form") == 0;
    if (is_among(task->task->name, known_tasks) && query) return false;
    snprintf(why, size, "rung-check does not support the task %s%s", task->task->name,
             query ? "" : " in another form than query");
    return true;
}

bool rung_attack_certifiable(const rung_attacked *attacked, rung_cert_kind kind, char *why, size_t size)
{
    const rung_model_spec *spec = rung_model_get_spec(attacked->model);
    const rung_fmt *fmt = &attacked->numbers;
    (void)kind; /* what a kind needs beyond this is checked in the claim */
    if (unknown_mechanism(attacked->model, why, size) || unknown_task(attacked->task, why, size)) return false;
    const char *lacks = NULL;
    if (!spec->causal)
        lacks = "rung-check reads causal models only";
    else if (spec->thoughts)
        lacks = "rung-check does not support chains of thought";
    else if (fmt->kind == RUNG_FMT_FLOAT && fmt->mantissa_bits > 25)
        lacks = "rung-check computes with at most 25 mantissa bits";
    if (lacks) snprintf(why, size, "%s", lacks);
    return !lacks;
}

/* ---- trying ------------------------------------------------------------------------------------------------------ */

/* One row and its expected time. */
typedef struct candidate {
    const rung_attack *attack;
    double expected_s; /* negative: does not apply */
    rung_break *tried; /* NULL: no room */
} candidate;

static int by_cost(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->expected_s != y->expected_s) return x->expected_s < y->expected_s ? -1 : 1;
    return x->attack < y->attack ? -1 : x->attack > y->attack;
}

static bool gives_wanted_kind(const rung_attack *attack, unsigned kinds, char *why, size_t size)
{
    if (kinds == 0 || attack->kinds == 0 || attack->kinds & kinds) return true;
    snprintf(why, size, "gives only other kinds of certificates");
    return false;
}

/* Fills `list` with the rows to try, cheapest first, and `tried` with a report of every row. */
static size_t choose(candidate *list, rung_break *tried, size_t room, const rung_attacked *attacked, const char *attack,
                     const rung_budget *budget)
{
    size_t count = 0;
    for (size_t i = 0; i < RUNG_COUNT(rows); i++) {
        char why[200] = "";
        candidate c = {.attack = rows[i], .tried = i < room ? &tried[i] : NULL};
        bool asked = !attack || strcmp(attack, rows[i]->name) == 0;
        if (!asked)
            snprintf(why, sizeof why, "not asked for");
        else if (attacked->mixed && !rows[i]->any_numbers)
            c.expected_s = -1, snprintf(why, sizeof why, "is for one number format for everything");
        else if (gives_wanted_kind(rows[i], budget->kinds, why, sizeof why))
            c.expected_s = rows[i]->expect(attacked, budget, why, sizeof why);
        else
            c.expected_s = -1;
        if (c.tried) {
            *c.tried = (rung_break){.attack = rows[i]->name};
            snprintf(c.tried->report, sizeof c.tried->report,
                     asked && c.expected_s >= 0 ? "not reached: the budget was used up before%s"
                     : asked                    ? "does not apply: %s"
                                                : "%s",
                     why);
        }
        if (asked && c.expected_s >= 0) list[count++] = c;
    }
    qsort(list, count, sizeof *list, by_cost);
    return count;
}

/* Seconds for the next attack: an equal part of what is left, or four times what it expects to need. */
static double share(double left, size_t waiting, double expected)
{
    double equal = left / (double)waiting, generous = 4 * expected;
    double part = generous > equal ? generous : equal;
    return part < left ? part : left;
}

static rung_status try_one(rung_break *result, const candidate *c, const rung_attacked *attacked,
                           const rung_budget *budget, double seconds, rung_error *err)
{
    rung_budget part = *budget;
    double began = rung_wall_s();
    part.seconds = seconds;
    rung_break_clear(result);
    rung_status status = c->attack->run(result, attacked, &part, err);
    result->attack = c->attack->name;
    result->seconds = rung_wall_s() - began;
    if (status != RUNG_OK) return rung_fail_at(err, status, "attack %s", c->attack->name);
    if (c->tried) {
        *c->tried = *result;
        memset(&c->tried->cert, 0, sizeof c->tried->cert); /* only the result owns a certificate */
    }
    return RUNG_OK;
}

/* ---- afterwards -------------------------------------------------------------------------------------------------- */

/* Takes at most a minute, and at most a quarter of the time that the search was given. */
static rung_status shrink(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    runner h;
    rung_budget part = *budget;
    part.seconds = budget->seconds / 4 < 60 ? budget->seconds / 4 : 60;
    rung_budget_progress(budget, "shrinking what was found", 0);
    rung_status status = rung_runner_init(&h, attacked, err);
    RUNG_NEXT(status, rung_runner_shrink(&h, &result->cert, &part, rung_wall_s(), err));
    result->evaluations += h.evaluations;
    rung_runner_clear(&h);
    if (budget->progress) rung_progress_finish(budget->progress);
    return status;
}

static rung_status finish(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    char why[200];
    double began = rung_wall_s();
    rung_status status = shrink(result, attacked, budget, err);
    result->certifiable = rung_attack_certifiable(attacked, result->cert.kind, why, sizeof why);
    result->seconds += rung_wall_s() - began;
    return status;
}

rung_status rung_attack_run(rung_break *result, rung_break *tried, size_t room, size_t *tried_count,
                            const rung_attacked *attacked, const char *attack, const rung_budget *budget,
                            rung_error *err)
{
    candidate list[RUNG_COUNT(rows)];
    double began = rung_wall_s();
    *result = (rung_break){0};
    *tried_count = room < RUNG_COUNT(rows) ? room : RUNG_COUNT(rows);
    if (attack && !rung_attack_get(attack)) {
        const char *names[RUNG_COUNT(rows)];
        for (size_t i = 0; i < RUNG_COUNT(rows); i++) names[i] = rows[i]->name;
        return rung_fail_unknown(err, "attack", attack, names, RUNG_COUNT(rows));
    }
    size_t count = choose(list, tried, room, attacked, attack, budget);
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < count && status == RUNG_OK && !result->found; i++) {
        double left = rung_budget_left(budget, began);
        if (left <= 0) break;
        status = try_one(result, &list[i], attacked, budget, share(left, count - i, list[i].expected_s), err);
    }
    return status == RUNG_OK && result->found ? finish(result, attacked, budget, err) : status;
}
