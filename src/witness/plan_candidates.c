/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The constructions for a task, and their costs.
 */
#include "plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANTISSA_MAX = 25 };

size_t plan_formats(plan_format out[2], int bits)
{
    size_t count = 0;
    if (bits >= 10) out[count++] = (plan_format){8, bits - 9 < MANTISSA_MAX ? bits - 9 : MANTISSA_MAX};
    if (bits >= 7) out[count++] = (plan_format){5, bits - 6 < MANTISSA_MAX ? bits - 6 : MANTISSA_MAX};
    return count;
}

rung_status plan_format_parse(rung_fmt *fmt, plan_format f, rung_error *err)
{
    char name[24];
    snprintf(name, sizeof name, "e%dm%d", f.exponent, f.mantissa);
    return rung_fmt_parse(fmt, name, err);
}

static bool has_pair(const rung_param *param, const char *pair)
{
    for (size_t i = 0; param->choices[i]; i++)
        if (strcmp(param->choices[i], pair) == 0) return true;
    return false;
}

static bool solves(const rung_construction *how, const char *task)
{
    size_t at = rung_param_find(how->params, "task");
    return at == SIZE_MAX ? strcmp(how->task, task) == 0 : has_pair(&how->params[at], task);
}

static bool fills_numbers(const rung_param *param)
{
    return param->kind == RUNG_PARAM_INT && (strcmp(param->name, "bits") == 0 || strcmp(param->name, "pack") == 0);
}

/* Number of values to try for one parameter: every choice; for parameters that pack values into numbers, also the value
 * that fills a mantissa. */
static size_t choices_of(const rung_param *param)
{
    size_t count = 0;
    if (fills_numbers(param)) return 2;
    if (param->kind != RUNG_PARAM_CHOICE || strcmp(param->name, "task") == 0) return 1;
    while (param->choices[count]) count++;
    return count;
}

/* A mantissa of m bits holds whole numbers of m + 1 bits: returns this number of bits, or of values of the task. */
static int64_t fill_of(const rung_param *param, const rung_plan_options *conf)
{
    plan_format formats[2] = {{0}};
    const rung_task_conf *task = conf->task;
    plan_formats(formats, conf->bits);
    int64_t room = formats[0].mantissa + 1;
    if (strcmp(param->name, "bits") == 0 || rung_param_find(task->task->params, "V") == SIZE_MAX) return room;
    double each = ceil(log2(fmax(2, (double)rung_task_param(task, "V"))));
    return (int64_t)fmax(1, floor((double)room / each));
}

static void put_choice(rung_buf *out, const rung_param *param, size_t choice, const rung_plan_options *conf)
{
    const char *space = out->len ? " " : "";
    if (strcmp(param->name, "task") == 0)
        rung_buf_printf(out, "%stask=%s", space, conf->task->task->name);
    else if (fills_numbers(param) && choice)
        rung_buf_printf(out, "%s%s=%lld", space, param->name, (long long)fill_of(param, conf));
    else if (param->kind == RUNG_PARAM_CHOICE)
        rung_buf_printf(out, "%s%s=%s", space, param->name, param->choices[choice]);
}

rung_plan_cost plan_cost(const rung_model *model, const rung_plan_options *conf)
{
    rung_plan_cost cost = {.parameters = rung_model_parameters(model)};
    if (conf->cost) conf->cost(&cost, model, conf);
    return cost;
}

/* True if the construction requires parameters that the user has not stated, so that the task differs in more than its
 * size. */
static bool is_variant(const rung_task_conf *built, const rung_task_conf *asked, const char *presupposed)
{
    for (const char *at = presupposed; at && *at; at += strspn(at, " ")) {
        char name[32];
        size_t len = strcspn(at, "=");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        if (rung_task_param(built, name) != rung_task_param(asked, name)) return true;
        at += strcspn(at, " ");
    }
    return false;
}

/* Builds it at a small size. Leaves out models with a chain of thought or without a causal mask. */
static void add_option(rung_plan *plan, const rung_plan_options *conf, const rung_construction *how, const char *own)
{
    rung_plan_candidate *o = &plan->option[plan->count];
    rung_build b;
    rung_model *model = NULL;
    rung_error err = {{0}};
    *o = (rung_plan_candidate){.how = how};
    if (plan->count && o[-1].how == how && o[-1].sized) o->likely_size = o[-1].size[0].size;
    snprintf(o->own, sizeof o->own, "%s", own);
    size_t wanted = rung_plan_wanted(conf), small = wanted < RUNG_PLAN_SMALL ? wanted : RUNG_PLAN_SMALL;
    if (plan_build_at(&b, &model, conf, o, small, &err) != RUNG_OK) {
        plan->refused++;
        return;
    }
    const rung_model_spec *spec = rung_model_get_spec(model);
    if (spec->thoughts || !spec->causal) {
        plan->refused++;
    } else {
        o->likely_size = 0; /* the numbers of tokens that follow are different ones */
        o->cost = plan_cost(model, conf), o->variant = is_variant(&b.task, conf->task, how->task_pairs);
        plan->count++;
    }
    rung_model_close(model);
}

static void each_choice(const rung_plan_options *conf, const rung_construction *how, plan_visit *visit, void *context)
{
    size_t variants = 1;
    for (const rung_param *param = how->params; param->name; param++) variants *= choices_of(param);
    for (size_t v = 0; v < variants; v++) {
        rung_buf own;
        size_t rest = v;
        rung_buf_init(&own);
        for (const rung_param *param = how->params; param->name; param++) {
            put_choice(&own, param, rest % choices_of(param), conf);
            rest /= choices_of(param);
        }
        if (!own.failed) visit(context, how, own.text ? own.text : "");
        rung_buf_clear(&own);
    }
}

void plan_each_option(const rung_plan_options *conf, plan_visit *visit, void *context)
{
    for (size_t i = 0; i < rung_construction_count(); i++)
        if (solves(rung_construction_at(i), conf->task->task->name))
            each_choice(conf, rung_construction_at(i), visit, context);
}

static int compare_counts(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Variants come last; then by layers that keep all tokens, bits of state, bits over a cut, and size. */
static int by_cost(const void *left, const void *right)
{
    const rung_plan_candidate *a = left, *b = right;
    const rung_plan_cost *x = &a->cost, *y = &b->cost;
    if (a->variant != b->variant) return a->variant ? 1 : -1;
    int order = compare_counts(x->full + x->sparse, y->full + y->sparse);
    if (!order) order = compare_counts(x->state_bits, y->state_bits);
    if (!order) order = compare_counts(x->message_bits, y->message_bits);
    if (!order) order = compare_counts(x->parameters, y->parameters);
    if (!order) order = strcmp(a->how->name, b->how->name);
    return order ? order : strcmp(a->own, b->own);
}

typedef struct collection {
    rung_plan *plan;
    const rung_plan_options *conf;
} collection;

static void collect_option(void *context, const rung_construction *how, const char *own)
{
    const collection *c = context;
    if (c->plan->count < RUNG_PLAN_MAX) add_option(c->plan, c->conf, how, own);
}

void plan_collect(rung_plan *plan, const rung_plan_options *conf)
{
    collection c = {plan, conf};
    plan_each_option(conf, collect_option, &c);
    qsort(plan->option, plan->count, sizeof plan->option[0], by_cost);
}
