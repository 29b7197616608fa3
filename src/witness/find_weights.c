/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Finds weights for given layers. It tries every construction of the task, with every choice of its own parameters:
 * does the architecture contain its layers, and is it right in these numbers? It checks the layers of a small instance
 * first, because layers only grow with the size, and builds a large model only if they fit.
 *
 * A model is right by a proof over all prompts of the construction itself, which carries over to the larger model
 * (docs/contains.md) if its stream stays finite; else on every prompt of the larger model, if there is time; else on a
 * sample.
 */
#include "find_weights.h"
#include "finding.h"
#include "plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_LOOK = 4, SAMPLES = 1000, SMALL_SIZE = 3 };
#define WORK_DEFAULT (3 * WORK_MAX)
/* Larger models are refused. */
#define PARAMETERS_MAX 3e8

typedef struct option {
    const rung_construction *how;
    char own[96];
    double order; /* rough cost of judging it; cheap ones come first */
} option;

typedef struct search {
    rung_witness *w;
    const rung_witness_options *ask;
    rung_plan_options conf; /* the task's parameters, for the functions of the planner */
    rung_arch arch;
    char task[512]; /* canonical */
    char *pairs;    /* the same, split into words */
    option option[RUNG_PLAN_MAX];
    size_t count;
    double work;      /* work that is left */
    bool fits;        /* the layers of the present option fit */
    char misfit[512]; /* reasons of options whose layers do not fit; as long as why */
    rung_status status;
    rung_error *err;
} search;

/* ---- reasons ----------------------------------------------------------------------------------------------------- */

/* Collects the first reasons that fit into the text, each once. Options that fit but are wrong come before those that
 * do not fit. */
static void give_reason(search *s, const option *o, const char *reason)
{
    char *why = s->fits ? s->w->why : s->misfit;
    size_t used = strlen(why), size = sizeof s->misfit;
    if (strstr(why, reason) || used + strlen(reason) + strlen(o->how->name) + sizeof o->own >= size) return;
    snprintf(why + used, size - used, "%s%s%s%s: %s", used ? "; " : "", o->how->name, o->own[0] ? " " : "", o->own,
             reason);
}

/* Notes a refusal (RUNG_USAGE, RUNG_INPUT) as a reason. Any other failure ends the search. True if there was
 * neither. */
static bool passed(search *s, const option *o, rung_status status, const rung_error *why)
{
    if (status == RUNG_OK) return true;
    if (status == RUNG_SYSTEM)
        s->status = status, *s->err = *why;
    else
        give_reason(s, o, why->text);
    return false;
}

/* ---- building ---------------------------------------------------------------------------------------------------- */

/* True if the construction requires a parameter that the task does not have: then it is not tried. */
static bool presupposes_other(const rung_construction *how, const char *task)
{
    char text[256], *rest = text;
    snprintf(text, sizeof text, "%s", how->task_pairs ? how->task_pairs : "");
    for (char *pair; (pair = strtok_r(rest, " ", &rest));) {
        char padded[64], all[520];
        snprintf(padded, sizeof padded, " %s ", pair);
        snprintf(all, sizeof all, "%s ", task);
        if (!strstr(all, padded)) return true;
    }
    return false;
}

/* Applies the pairs of the candidate, and then `more` words, which override some of them. */
static rung_status init_build(rung_build *b, const search *s, const option *o, const char *const *more,
                              size_t count_more, rung_error *err)
{
    const char *pairs[2 * RUNG_PLAN_PAIRS];
    char own[sizeof o->own], *rest = own;
    size_t count = 0;
    memcpy(own, o->own, sizeof own);
    for (char *pair; (pair = strtok_r(rest, " ", &rest));) pairs[count++] = pair;
    for (size_t i = 0; i < s->conf.pairs; i++) pairs[count++] = s->conf.pair[i];
    for (size_t i = 0; i < count_more; i++) pairs[count++] = more[i];
    return rung_build_init(b, o->how->name, pairs, count, err);
}

static bool task_has(const search *s, const char *param)
{
    return rung_param_find(s->ask->task->task->params, param) != SIZE_MAX;
}

/* Applies its own parameters at a small size with few values and keys. This is fast; drawing the levels of a large task is
 * not. */
static rung_status init_small(rung_build *b, const search *s, const option *o, rung_error *err)
{
    char size[32], keys[32];
    const char *pairs[3] = {size}, *name = plan_size_name(s->ask->task->task);
    size_t count = 1;
    if (!name || rung_task_param(s->ask->task, name) <= SMALL_SIZE) return init_build(b, s, o, NULL, 0, err);
    snprintf(size, sizeof size, "%s=%d", name, SMALL_SIZE);
    snprintf(keys, sizeof keys, "K=%d", SMALL_SIZE);
    if (task_has(s, "V")) pairs[count++] = "V=2";
    if (task_has(s, "K")) pairs[count++] = keys;
    return init_build(b, s, o, pairs, count, err);
}

/* Builds the model for the very instance in question. */
static rung_status build_exactly(rung_build *b, rung_model **model, const search *s, const option *o, rung_error *err)
{
    rung_status status = init_small(b, s, o, err);
    if (status == RUNG_USAGE) status = init_build(b, s, o, NULL, 0, err);
    RUNG_TRY(status);
    b->task = *s->ask->task;
    return rung_build_model(model, b, err);
}

/* A chain of thought goes on until the model answers or max_tokens is reached, on a task of so many tokens. */
static rung_status check_shape(const search *s, const rung_model *model, size_t tokens, rung_error *err)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    if (spec->thoughts && !s->ask->thoughts) return rung_fail(err, RUNG_USAGE, "it answers after a chain of thought");
    uint64_t most = spec->thoughts && spec->max_tokens > tokens ? spec->max_tokens - tokens : 0;
    if (s->ask->most_thoughts && most > s->ask->most_thoughts)
        return rung_fail(err, RUNG_USAGE, "it says %llu thoughts before it answers", (unsigned long long)most);
    return rung_embed_check(model, &s->arch, err);
}

/* Checks the layers of a small instance. True if there is none with these parameters. */
static bool small_one_fits(search *s, const option *o)
{
    rung_build b;
    rung_model *model = NULL;
    rung_error why = {{0}};
    if (init_small(&b, s, o, &why) != RUNG_OK || rung_build_model(&model, &b, &why) != RUNG_OK) return true;
    bool fits = passed(s, o, check_shape(s, model, b.task.tokens, &why), &why);
    double grown = (double)s->ask->task->tokens / (double)b.task.tokens;
    if (fits && (double)rung_model_parameters(model) * grown > PARAMETERS_MAX) {
        give_reason(s, o, "the model is too large to build here");
        fits = false;
    }
    rung_model_close(model);
    return fits;
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

typedef struct candidate {
    const option *o;
    rung_build build;
    rung_model *small, *large;
    rung_finding found;
} candidate;

static rung_verify_options how_to_verify(const search *s, uint64_t samples)
{
    const rung_witness_options *ask = s->ask;
    return (rung_verify_options){
        .samples = samples,
        .seed = ask->seed,
        .how = {.numbers = ask->numbers, .softmax = ask->softmax, .threads = ask->threads},
        .tolerance = TOLERANCE,
        .interrupted = ask->interrupted,
    };
}

/* Estimated multiplications of a proof: a few passes over the keys for every query, and if a value is one number a few
 * passes for every value. */
static double proof_work(const rung_model *model, const rung_task_conf *task)
{
    rung_verify_options how = {.method = RUNG_WORST_CASE};
    double queries = (double)rung_verify_total(task, &how);
    double values = rung_model_get_arch(model)->layer[0].group[0].dv > 1 ? 2 : (double)task->answers;
    return queries * (double)task->tokens * 8 * (values + 16);
}

/* Number of prompts of the large model that the remaining work allows. */
static uint64_t affordable(const search *s, const candidate *c)
{
    double prompts = floor(s->work / (rung_prompt_work(c->large, c->build.task.tokens) + 1));
    return prompts > 0x1p62 ? (uint64_t)1 << 62 : prompts > 0 ? (uint64_t)prompts : 0;
}

/* Tries to prove that the small model is right. The large one then computes the same by lemma 1 of docs/contains.md; a
 * few prompts check this if there is time. *refuted: some prompt is wrong. */
static rung_status by_proof(bool *refuted, search *s, candidate *c, rung_error *err)
{
    rung_verify_options how = how_to_verify(s, 0);
    rung_verdict verdict;
    rung_agreement same = {0};
    double work = proof_work(c->small, &c->build.task);
    if (work == 0 || work > s->work || !witness_stays_finite(c->small, s->ask->numbers)) return RUNG_OK;
    s->work -= work;
    rung_status status = rung_finding_by(&c->found, &verdict, c->small, &c->build.task, &how, RUNG_WORST_CASE, err);
    *refuted = status == RUNG_OK && verdict == RUNG_CANNOT;
    if (status != RUNG_OK || verdict != RUNG_CAN) return status;
    uint64_t look = affordable(s, c) / 4; /* two models, two forms */
    if (look > FIRST_LOOK) look = FIRST_LOOK;
    if (look) status = rung_models_agree(&same, c->small, c->large, &c->build.task, &how.how, look, s->ask->seed, err);
    if (status == RUNG_OK && look && !same.agree)
        return rung_fail(err, RUNG_USAGE, "the larger model computes another function in %s", s->ask->numbers->name);
    c->found.evidence = RUNG_PROVED, c->found.right = status == RUNG_OK;
    return status;
}

static rung_status run_prompts(search *s, candidate *c, rung_method method, uint64_t prompts, rung_error *err)
{
    rung_verify_options how = how_to_verify(s, prompts);
    rung_verdict verdict;
    rung_status status = rung_finding_by(&c->found, &verdict, c->large, &c->build.task, &how, method, err);
    s->work -= (double)c->found.prompts * rung_prompt_work(c->large, c->build.task.tokens);
    c->found.evidence = method == RUNG_EXHAUSTIVE ? RUNG_ALL_PROMPTS : RUNG_A_SAMPLE;
    bool complete = !s->ask->interrupted || !s->ask->interrupted();
    c->found.right = status == RUNG_OK && complete && c->found.wrong == 0 && c->found.prompts > 0;
    return status;
}

/* Runs a few prompts first, because a wrong model is mostly wrong at once. */
static rung_status by_prompts(search *s, candidate *c, rung_error *err)
{
    uint64_t most = affordable(s, c), space = rung_task_space(&c->build.task);
    uint64_t samples = s->ask->samples ? s->ask->samples : SAMPLES;
    if (most < FIRST_LOOK) return rung_fail(err, RUNG_USAGE, "a few prompts take too long to run here");
    rung_status status = run_prompts(s, c, RUNG_SAMPLED, FIRST_LOOK, err);
    if (status != RUNG_OK || !c->found.right) return status;
    most = affordable(s, c);
    if (space > 0 && space <= most / 2) return run_prompts(s, c, RUNG_EXHAUSTIVE, 0, err);
    if (samples > most) samples = most;
    return samples > FIRST_LOOK ? run_prompts(s, c, RUNG_SAMPLED, samples, err) : RUNG_OK;
}

static rung_status judge(search *s, candidate *c, rung_error *err)
{
    bool refuted = false;
    rung_status status = by_proof(&refuted, s, c, err);
    if (status == RUNG_OK && refuted)
        return rung_fail(err, RUNG_USAGE, "some prompt is wrong in %s", s->ask->numbers->name);
    if (status == RUNG_OK && !c->found.right) status = by_prompts(s, c, err);
    if (status == RUNG_OK && !c->found.right)
        return rung_fail(err, RUNG_USAGE, "%llu of %llu prompts are wrong in %s", (unsigned long long)c->found.wrong,
                         (unsigned long long)c->found.prompts, s->ask->numbers->name);
    return status;
}

/* ---- one option -------------------------------------------------------------------------------------------------- */

/* Proofs rank before all prompts, and all prompts before samples. */
static bool is_better(const rung_witness *w, const candidate *c)
{
    return !w->found || c->found.evidence < w->finding.evidence;
}

static rung_status keep(search *s, candidate *c, rung_error *err)
{
    rung_witness *w = s->w;
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_printf(&text, "%s %s%s%s", c->o->how->name, c->o->own, c->o->own[0] ? " " : "",
                    s->task + strlen(s->ask->task->task->name) + 1);
    rung_status status = rung_buf_ok(&text, err);
    if (status == RUNG_OK) {
        w->build = rung_arena_strdup(&w->arena, text.text, err);
        w->layers = rung_arena_strdup(&w->arena, rung_model_get_spec(c->small)->arch, err);
        if (!w->build || !w->layers) status = RUNG_SYSTEM;
    }
    rung_buf_clear(&text);
    RUNG_TRY(status);
    rung_model_close(w->model);
    w->found = true, w->finding = c->found, w->model = c->large;
    c->large = NULL;
    return RUNG_OK;
}

static void try_option(search *s, const option *o)
{
    candidate c = {.o = o};
    rung_error why = {{0}};
    s->fits = false;
    if (!small_one_fits(s, o) || s->status != RUNG_OK) return;
    rung_status status = build_exactly(&c.build, &c.small, s, o, &why);
    if (status == RUNG_USAGE && s->misfit[0])
        return; /* parameters that do not go together are the least interesting reason */
    RUNG_NEXT(status, check_shape(s, c.small, c.build.task.tokens, &why));
    if (status == RUNG_OK) {
        s->w->fitting++, s->fits = true;
        status = rung_embed(&c.large, c.small, s->ask->arch, s->ask->defaults, &why);
    }
    RUNG_NEXT(status, judge(s, &c, &why));
    if (passed(s, o, status, &why) && is_better(s->w, &c)) {
        s->status = keep(s, &c, &why);
        if (s->status != RUNG_OK) *s->err = why;
    }
    rung_model_close(c.small);
    rung_model_close(c.large);
}

/* Judges weights of the caller, in the layers in question. Only a failure of the system is an error. */
static rung_status try_given(search *s)
{
    candidate c = {.build = {.task = *s->ask->task}};
    rung_error why = {{0}};
    rung_status status = check_shape(s, s->ask->given, s->ask->task->tokens, &why);
    RUNG_NEXT(status, rung_embed(&c.large, s->ask->given, s->ask->arch, s->ask->defaults, &why));
    c.small = (rung_model *)s->ask->given; /* it is not changed */
    RUNG_NEXT(status, judge(s, &c, &why));
    rung_witness *w = s->w;
    w->options = w->fitting = 1;
    if (status == RUNG_OK) {
        w->build = rung_arena_strdup(&w->arena, s->ask->given_by, s->err);
        w->layers = rung_arena_strdup(&w->arena, rung_model_get_spec(c.small)->arch, s->err);
        w->found = w->build && w->layers, w->finding = c.found, w->model = c.large;
        return w->found ? RUNG_OK : RUNG_SYSTEM;
    }
    rung_model_close(c.large);
    snprintf(w->why, sizeof w->why, "%.120s: %.380s", s->ask->given_by, why.text);
    if (status == RUNG_SYSTEM) *s->err = why;
    return status == RUNG_USAGE || status == RUNG_INPUT ? RUNG_OK : status;
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

static void add_option(void *context, const rung_construction *how, const char *own)
{
    search *s = context;
    if (s->count == RUNG_PLAN_MAX || presupposes_other(how, s->task)) return;
    option *o = &s->option[s->count];
    *o = (option){.how = how, .order = (double)s->count};
    if (strlen(own) >= sizeof o->own) return;
    snprintf(o->own, sizeof o->own, "%s", own);
    if (strstr(own, "=scalar")) o->order += RUNG_PLAN_MAX; /* these have the longest proofs */
    s->count++;
}

static int by_order(const void *left, const void *right)
{
    const option *a = left, *b = right;
    return (a->order > b->order) - (a->order < b->order);
}

/* Splits the task into words. */
static rung_status spell_task(search *s, rung_error *err)
{
    const char **list = rung_arena_alloc(&s->w->arena, RUNG_PLAN_PAIRS, sizeof *list, err);
    rung_buf text;
    if (!list) return RUNG_SYSTEM;
    rung_buf_init(&text);
    rung_task_canonical(&text, s->ask->task);
    rung_status status = rung_buf_ok(&text, err);
    if (status == RUNG_OK && text.len >= sizeof s->task)
        status = rung_fail(err, RUNG_USAGE, "the task has too many parameters: %.80s", text.text);
    if (status == RUNG_OK) snprintf(s->task, sizeof s->task, "%s", text.text);
    if (status == RUNG_OK && !(s->pairs = rung_arena_strdup(&s->w->arena, text.text, err))) status = RUNG_SYSTEM;
    rung_buf_clear(&text);
    RUNG_TRY(status);
    char *rest = s->pairs;
    strtok_r(rest, " ", &rest); /* its name */
    for (char *pair; s->conf.pairs < RUNG_PLAN_PAIRS && (pair = strtok_r(rest, " ", &rest));)
        list[s->conf.pairs++] = pair;
    s->conf.pair = list;
    return RUNG_OK;
}

static bool is_over(const search *s)
{
    bool sure = s->w->found && s->w->finding.evidence != RUNG_A_SAMPLE;
    return s->status != RUNG_OK || sure || s->work <= 0 || (s->ask->interrupted && s->ask->interrupted());
}

static rung_status look(search *s)
{
    plan_each_option(&s->conf, add_option, s);
    qsort(s->option, s->count, sizeof s->option[0], by_order);
    s->w->options = s->count;
    for (size_t i = 0; i < s->count && !is_over(s); i++) try_option(s, &s->option[i]);
    if (s->w->found)
        s->w->why[0] = '\0';
    else if (s->count && !s->w->why[0])
        memcpy(s->w->why, s->misfit, sizeof s->misfit);
    else if (!s->count)
        snprintf(s->w->why, sizeof s->w->why, "no construction solves %.400s", s->task);
    return s->status;
}

rung_status rung_witness_find(rung_witness *w, const rung_witness_options *ask, rung_error *err)
{
    *w = (rung_witness){0};
    rung_arena_init(&w->arena);
    if (!ask->numbers)
        return rung_fail(err, RUNG_USAGE, "fp32 has no fixed order of summation; choose a number format");
    search *s = rung_calloc(1, sizeof *s, err);
    if (!s) return RUNG_SYSTEM;
    s->w = w, s->ask = ask, s->err = err;
    s->work = ask->work > 0 ? ask->work : WORK_DEFAULT;
    s->conf = (rung_plan_options){.task = ask->task, .bits = ask->numbers->bits, .softmax = ask->softmax};
    rung_status status = rung_arch_parse(&s->arch, ask->arch, ask->defaults, err);
    if (status == RUNG_OK) {
        status = spell_task(s, err);
        RUNG_NEXT(status, ask->given ? try_given(s) : look(s));
        rung_arch_clear(&s->arch);
    }
    free(s);
    return status;
}

size_t rung_witness_formats(rung_fmt out[2], int bits)
{
    plan_format formats[2];
    size_t count = plan_formats(formats, bits);
    for (size_t i = 0; i < count; i++)
        if (plan_format_parse(&out[i], formats[i], NULL) != RUNG_OK) return i;
    return count;
}

void rung_witness_clear(rung_witness *w)
{
    rung_model_close(w->model);
    rung_arena_clear(&w->arena);
    *w = (rung_witness){0};
}
