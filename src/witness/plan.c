/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Chooses the construction to propose.
 *
 * It builds every construction that solves the task, with every choice of its own parameters, at a small size, and
 * sorts them by cost. From the cheapest on, it looks for a format of at most p bits in which the construction is right
 * at the wanted size. If that size takes too long to run, smaller ones decide: it finds the smallest right mantissa at
 * two sizes, the line through them (in log2 of the tokens) must stay within the format, and it runs the largest size
 * for which there is time.
 */
#include "plan.h"
#include "finding.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { MEDIUM_TOKENS = 256, FEW_PROMPTS = 4 };

/* Larger models are not built just to show their layers. */
#define PARAMETERS_MAX 3e8

/* ---- right or not ------------------------------------------------------------------------------------------------ */

static bool interrupted(const rung_plan_options *conf)
{
    return conf->interrupted && conf->interrupted();
}

/* One size in one format. */
typedef struct trial {
    rung_finding found;
    size_t tokens;
    bool too_long; /* there is not even time for one prompt */
} trial;

/* Runs fewer prompts if they take too much work, and none if even FEW_PROMPTS do. */
static rung_status try_model(trial *t, const rung_plan_options *conf, const rung_model *model,
                             const rung_task_conf *task, const rung_fmt *fmt, rung_error *err)
{
    double afford = floor(WORK_MAX / rung_prompt_work(model, task->tokens));
    uint64_t most = afford < (double)conf->samples ? (uint64_t)afford : conf->samples;
    bool once = most < 2 * FEW_PROMPTS; /* a first look would not save time */
    rung_verify_options how = {.samples = once ? most : FEW_PROMPTS,
                               .seed = conf->seed,
                               .how = {.numbers = fmt, .softmax = conf->softmax, .threads = conf->threads},
                               .tolerance = TOLERANCE,
                               .interrupted = conf->interrupted};
    rung_status status = RUNG_OK;
    *t = (trial){.tokens = task->tokens, .too_long = afford < FEW_PROMPTS};
    if (!t->too_long) status = rung_finding_of(&t->found, model, task, &how, 0, err);
    if (status == RUNG_OK && !once && t->found.right && t->found.evidence == RUNG_A_SAMPLE) {
        how.samples = most; /* a wrong model is mostly wrong at once */
        status = rung_finding_of(&t->found, model, task, &how, how.samples, err);
    }
    return status;
}

/* With at most `tokens` tokens (0: as the words state). */
static rung_status try_at(trial *t, const rung_plan_options *conf, rung_plan_candidate *o, size_t tokens,
                          const rung_fmt *fmt, rung_error *err)
{
    rung_build b;
    rung_model *model;
    *t = (trial){0};
    RUNG_TRY(plan_build_at(&b, &model, conf, o, tokens, err));
    rung_status status = try_model(t, conf, model, &b.task, fmt, err);
    rung_model_close(model);
    return status;
}

/* The smallest mantissa that is right; 0: none up to that of f. */
static rung_status least_mantissa(int *least, size_t *tokens, const rung_plan_options *conf, rung_plan_candidate *o,
                                  size_t at, plan_format f, rung_error *err)
{
    rung_build b;
    rung_model *model;
    *least = 0;
    rung_status status = plan_build_at(&b, &model, conf, o, at, err);
    RUNG_TRY(status);
    *tokens = b.task.tokens;
    for (int m = 1; status == RUNG_OK && !*least && m <= f.mantissa && !interrupted(conf); m++) {
        rung_fmt fmt;
        trial t = {0};
        status = plan_format_parse(&fmt, (plan_format){f.exponent, m}, err);
        RUNG_NEXT(status, try_model(&t, conf, model, &b.task, &fmt, err));
        if (status == RUNG_OK && t.found.right) *least = m;
    }
    rung_model_close(model);
    return status;
}

/* ---- one option -------------------------------------------------------------------------------------------------- */

typedef struct attempt {
    rung_plan *plan;
    const rung_plan_options *conf;
    rung_plan_candidate *o;
    plan_format f;
    rung_fmt fmt;
} attempt;

/* One reason per format. */
static void give_up(const attempt *a, const char *format, ...) RUNG_PRINTF(2, 3);
static void give_up(const attempt *a, const char *format, ...)
{
    size_t used = strlen(a->o->why);
    va_list args;
    if (used) used += (size_t)snprintf(a->o->why + used, sizeof a->o->why - used, "; ");
    if (used >= sizeof a->o->why) return;
    va_start(args, format);
    vsnprintf(a->o->why + used, sizeof a->o->why - used, format, args);
    va_end(args);
}

/* True if the line through the mantissas at two sizes stays within the format. */
static rung_status within_line(bool *within, const attempt *a, rung_error *err)
{
    rung_plan *plan = a->plan;
    int *need = plan->mantissa;
    size_t *at = plan->mantissa_tokens;
    *within = false;
    rung_status status = least_mantissa(&need[0], &at[0], a->conf, a->o, RUNG_PLAN_SMALL, a->f, err);
    if (status == RUNG_OK && need[0])
        status = least_mantissa(&need[1], &at[1], a->conf, a->o, MEDIUM_TOKENS, a->f, err);
    RUNG_TRY(status);
    if (!need[0] || !need[1]) {
        give_up(a, "wrong at %zu tokens in %s", at[need[0] ? 1 : 0], a->fmt.name);
        return RUNG_OK;
    }
    double slope = (need[1] - need[0]) / log2((double)at[1] / (double)at[0]);
    plan->mantissa_n = need[1] + fmax(slope, 0) * log2((double)plan->tokens / (double)at[1]);
    *within = plan->mantissa_n <= a->f.mantissa;
    if (!*within)
        give_up(a, "needs %d mantissa bits at %zu tokens and %d at %zu, so about %.0f at %zu, and %s has %d", need[0],
                at[0], need[1], at[1], plan->mantissa_n, plan->tokens, a->fmt.name, a->f.mantissa);
    return RUNG_OK;
}

/* The most tokens that FEW_PROMPTS prompts can be run at, from the work of a small model. */
static rung_status affordable(size_t *tokens, const attempt *a, rung_error *err)
{
    rung_build b;
    rung_model *model;
    RUNG_TRY(plan_build_at(&b, &model, a->conf, a->o, MEDIUM_TOKENS, err));
    double ratio = WORK_MAX / FEW_PROMPTS / rung_prompt_work(model, b.task.tokens) / 2; /* keys get longer, too */
    *tokens = (size_t)((double)b.task.tokens * sqrt(fmax(ratio, 1)));
    rung_model_close(model);
    return RUNG_OK;
}

static rung_status keep_run(const attempt *a, const trial *t, size_t tokens, rung_error *err)
{
    rung_plan_run *run = &a->plan->run;
    rung_build b;
    plan_pairs pairs;
    rung_buf text;
    RUNG_TRY(plan_init_at(&b, &pairs, a->conf, a->o, tokens, err));
    rung_buf_init(&text);
    rung_task_canonical(&text, &b.task);
    rung_status status = rung_buf_ok(&text, err);
    *run = (rung_plan_run){.tokens = t->tokens, .found = t->found};
    if (status == RUNG_OK) snprintf(run->task, sizeof run->task, "%s", text.text);
    snprintf(run->numbers, sizeof run->numbers, "%s", a->fmt.name);
    rung_buf_clear(&text);
    a->o->good = status == RUNG_OK;
    return status;
}

/* Right at the wanted size, or at a smaller size if the line allows it. */
static rung_status attempt_format(const attempt *a, size_t wanted, rung_error *err)
{
    trial t;
    bool within;
    size_t most;
    rung_build b;
    plan_pairs pairs;
    rung_status status = plan_init_at(&b, &pairs, a->conf, a->o, wanted, err);
    RUNG_TRY(status);
    a->plan->tokens = b.task.tokens;
    if (wanted) status = affordable(&most, a, err);
    RUNG_TRY(status);
    a->plan->extrapolated = wanted && most < a->plan->tokens;
    if (a->plan->extrapolated) {
        status = within_line(&within, a, err);
        if (status != RUNG_OK || !within) return status;
    } else {
        most = wanted;
    }
    RUNG_TRY(try_at(&t, a->conf, a->o, most, &a->fmt, err));
    if (t.found.right) return keep_run(a, &t, most, err);
    if (t.too_long)
        give_up(a, "%zu tokens take too long to run here", t.tokens);
    else if (t.found.evidence == RUNG_PROVED)
        give_up(a, "some prompt is wrong at %zu tokens in %s", t.tokens, a->fmt.name);
    else
        give_up(a, "%llu of %llu prompts wrong at %zu tokens in %s", (unsigned long long)t.found.wrong,
                (unsigned long long)t.found.prompts, t.tokens, a->fmt.name);
    return RUNG_OK;
}

/* A refusal (RUNG_USAGE) is noted as a reason and is no failure. */
static rung_status attempt_option(rung_plan *plan, const rung_plan_options *conf, rung_plan_candidate *o,
                                  rung_error *err)
{
    plan_format formats[2];
    size_t count = plan_formats(formats, conf->bits);
    o->tried = true;
    for (size_t i = 0; i < count && !o->good; i++) {
        attempt a = {.plan = plan, .conf = conf, .o = o, .f = formats[i]};
        rung_error why = {{0}};
        rung_status status = plan_format_parse(&a.fmt, formats[i], &why);
        RUNG_NEXT(status, attempt_format(&a, rung_plan_wanted(conf), &why));
        if (status == RUNG_OK) continue;
        if (status == RUNG_SYSTEM) return *err = why, status;
        give_up(&a, "%.200s", why.text);
        break;
    }
    return RUNG_OK;
}

/* ---- the proposal ------------------------------------------------------------------------------------------------ */

static rung_status describe_build(rung_plan *plan, const rung_plan_options *conf, rung_plan_candidate *o, size_t wanted,
                                  rung_error *err)
{
    plan_pairs pairs;
    rung_build b;
    rung_buf text;
    RUNG_TRY(plan_init_at(&b, &pairs, conf, o, wanted, err));
    rung_buf_init(&text);
    rung_buf_puts(&text, o->how->name);
    for (size_t i = 0; i < pairs.count; i++) rung_buf_printf(&text, " %s", pairs.at[i]);
    rung_status status = rung_buf_ok(&text, err);
    if (status == RUNG_OK && !(plan->build = rung_arena_strdup(&plan->arena, text.text, err))) status = RUNG_SYSTEM;
    rung_buf_clear(&text);
    return status;
}

/* Describes the chosen construction at the wanted size. */
static rung_status describe(rung_plan *plan, const rung_plan_options *conf, rung_error *err)
{
    rung_plan_candidate *o = &plan->option[plan->chosen];
    size_t wanted = rung_plan_wanted(conf);
    rung_build b;
    rung_model *model;
    double grown = plan->extrapolated ? (double)plan->tokens / RUNG_PLAN_SMALL * 2 : 1;
    plan->cost = o->cost;
    rung_status status = describe_build(plan, conf, o, wanted, err);
    if (status != RUNG_OK || (double)o->cost.parameters * grown > PARAMETERS_MAX) return status;
    RUNG_TRY(plan_build_at(&b, &model, conf, o, wanted, err));
    plan->cost = plan_cost(model, conf);
    plan->arch = rung_arena_strdup(&plan->arena, rung_model_get_spec(model)->arch, err);
    rung_model_close(model);
    return plan->arch ? RUNG_OK : RUNG_SYSTEM;
}

rung_status rung_plan_search(rung_plan *plan, const rung_plan_options *conf, rung_error *err)
{
    *plan = (rung_plan){.chosen = SIZE_MAX, .verdict = RUNG_UNKNOWN};
    rung_arena_init(&plan->arena);
    rung_status status = RUNG_OK;
    plan_collect(plan, conf);
    for (size_t i = 0; status == RUNG_OK && i < plan->count && !interrupted(conf); i++) {
        status = attempt_option(plan, conf, &plan->option[i], err);
        if (status == RUNG_OK && plan->option[i].good) {
            plan->chosen = i;
            break;
        }
    }
    if (status != RUNG_OK || plan->chosen == SIZE_MAX) return status;
    bool other = plan->extrapolated || plan->option[plan->chosen].variant;
    plan->verdict = other ? RUNG_UNKNOWN : rung_finding_verdict(&plan->run.found);
    return describe(plan, conf, err);
}

void rung_plan_clear(rung_plan *plan)
{
    rung_arena_clear(&plan->arena);
}
