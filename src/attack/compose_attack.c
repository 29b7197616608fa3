/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Composition against one full layer with recurrent layers around it. For a wrong answer it tries random prompts, then
 * prompts on which the margin of the right answer shrinks. At toy sizes it sorts all tables z_2 by transcript, and
 * finds two prompts that no read-out can distinguish. Above the threshold of the theorem on F R^b (docs/theory.md) a
 * model is right on at most (Q/N_1 + 1)/log2 V of random prompts; the report has Q and N_1 log2 V.
 */
#include "compose_attack.h"
#include "attack_rows.h"
#include "certify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPTS = 256, DIGEST_BITS_MAX = 64 };

/* ---- does it fit? ------------------------------------------------------------------------------------------------ */

static bool has_full(const rung_layer *layer)
{
    for (size_t g = 0; g < layer->group_count; g++)
        if (layer->group[g].mech->class_of == RUNG_CLASS_SCAN) return true;
    return false;
}

static bool all_recurrent(const rung_layer *layer)
{
    for (size_t g = 0; g < layer->group_count; g++)
        if (!layer->group[g].mech->recurrent) return false;
    return true;
}

static bool suits(composition *c, const rung_attacked *attacked, char *why, size_t size)
{
    const rung_arch *arch = rung_model_get_arch(attacked->model);
    size_t full = 0, others = 0;
    if (!rung_attacked_suits(attacked, why, size) || !rung_composition_init(c, attacked, why, size)) return false;
    for (size_t i = 0; i < arch->layer_count; i++) {
        full += has_full(&arch->layer[i]);
        others += !has_full(&arch->layer[i]) && !all_recurrent(&arch->layer[i]);
    }
    if (full == 1 && others == 0) return true;
    snprintf(why, size, "the layers are not one full layer with recurrent ones around it");
    return false;
}

static bool wanted(const rung_budget *budget, rung_cert_kind kind)
{
    return budget->kinds == 0 || budget->kinds & 1u << kind;
}

/* ---- wrong answers ----------------------------------------------------------------------------------------------- */

typedef struct test {
    runner h;
    composition c;
    uint32_t *token, *other; /* [tokens] */
    size_t asked, wrong, guided;
    partition classes;
    bool sorted; /* classes is filled in */
} test;

/* The read-out of the right answer minus that of the best other one. */
static double margin(const test *t, int32_t right)
{
    size_t answers = rung_model_get_spec(t->h.attacked->model)->answers;
    double best = -INFINITY;
    for (size_t i = 0; i < answers; i++)
        if ((int32_t)i != right && t->h.out[i] > best) best = t->h.out[i];
    return t->h.out[right] - best;
}

static rung_status is_wrong(bool *wrong, double *left, test *t, const uint32_t *token, rung_error *err)
{
    int32_t given, right;
    RUNG_TRY(rung_runner_answer(&t->h, &given, &right, token, err));
    *wrong = given != right && given != RUNG_NO_TARGET;
    *left = margin(t, right);
    return RUNG_OK;
}

static rung_status random_prompts(bool *found, rung_cert *cert, test *t, rung_error *err)
{
    const rung_budget *budget = t->c.budget;
    double left;
    rung_status status = RUNG_OK;
    rung_budget_progress(budget, "answering random prompts", PROMPTS);
    for (uint64_t i = 0; i < PROMPTS && status == RUNG_OK; i++) {
        bool wrong = false;
        if (rung_budget_left(budget, t->c.began) < budget->seconds * 0.75) break;
        if (!rung_runner_draw(&t->h, t->token, budget->seed, i)) continue;
        status = is_wrong(&wrong, &left, t, t->token, err);
        t->asked++;
        t->wrong += wrong;
        if (status == RUNG_OK && wrong && !*found && wanted(budget, RUNG_CERT_WRONG_ANSWER))
            status = rung_certify_wrong_answer(&t->h, cert, found, t->token, err);
        if (budget->progress) rung_progress_tick(budget->progress, i);
    }
    return status;
}

/* Replaces one token at a time, and keeps what shrinks the margin. */
static rung_status climb(bool *found, rung_cert *cert, test *t, rung_rng *rng, rung_error *err)
{
    enum { STEPS = 512 };
    double least, left = 0;
    bool wrong = false;
    if (!rung_runner_draw(&t->h, t->token, t->c.budget->seed, PROMPTS + t->guided)) return RUNG_OK;
    rung_status status = is_wrong(&wrong, &least, t, t->token, err);
    for (size_t step = 0; step < STEPS && status == RUNG_OK && !*found; step++) {
        if (rung_budget_left(t->c.budget, t->c.began) <= 0) break;
        memcpy(t->other, t->token, t->c.tokens * sizeof *t->token);
        size_t pos = (size_t)rung_rng_below(rng, t->c.tokens);
        rung_ids ids = t->h.attacked->task->task->ids(t->h.attacked->task, pos);
        t->other[pos] = (uint32_t)(ids.first + rung_rng_below(rng, ids.count));
        if (rung_runner_oracle(&t->h, t->other) == RUNG_NO_TARGET) continue;
        status = is_wrong(&wrong, &left, t, t->other, err);
        t->guided++;
        if (status == RUNG_OK && wrong) status = rung_certify_wrong_answer(&t->h, cert, found, t->other, err);
        if (!(left <= least)) continue;
        least = left;
        memcpy(t->token, t->other, t->c.tokens * sizeof *t->token);
    }
    return status;
}

static rung_status guided_prompts(bool *found, rung_cert *cert, test *t, rung_error *err)
{
    rung_rng rng;
    rung_status status = RUNG_OK;
    rung_rng_init(&rng, t->c.budget->seed, 67, 0);
    rung_budget_progress(t->c.budget, "shrinking the margin of right answers", 0);
    for (size_t starts = 0; starts < 4096 && status == RUNG_OK && !*found; starts++) {
        if (rung_budget_left(t->c.budget, t->c.began) <= 0) break;
        t->guided++;
        status = climb(found, cert, t, &rng, err);
    }
    return status;
}

/* ---- equal transcripts ------------------------------------------------------------------------------------------- */

/* Two tables of one class, asked for an entry in which they differ. */
static rung_status twin_prompts(bool *found, rung_cert *cert, test *t, bool counted, rung_error *err)
{
    const composition *c = &t->c;
    rung_status status = RUNG_OK;
    for (size_t u = 0; u < c->entries && status == RUNG_OK && !*found; u++) {
        rung_composition_prompt(t->token, c, t->classes.twin[0], counted, u % c->n0, u / c->n0);
        rung_composition_prompt(t->other, c, t->classes.twin[1], counted, u % c->n0, u / c->n0);
        if (t->token[u] == t->other[u]) continue;
        rung_cert fresh = {0};
        status = rung_certify_view_collision(&t->h, &fresh, found, t->token, t->other, err);
        if (*found) {
            rung_cert_clear(cert);
            *cert = fresh;
        }
    }
    return status;
}

/* Number of tables to sort: all if they are few, else about as many as make a digest of this many bits collide. */
static uint64_t tables_to_sort(bool *counted, const composition *c)
{
    const uint64_t most = (uint64_t)1 << 20;
    uint64_t all = rung_composition_tables(c);
    *counted = all <= most;
    if (*counted) return all;
    if (c->digest_bits > DIGEST_BITS_MAX) return 0;
    double birthday = 4 * exp2((double)c->digest_bits / 2);
    return birthday < (double)most ? (uint64_t)birthday : most;
}

static rung_status equal_transcripts(bool *found, rung_cert *cert, test *t, rung_error *err)
{
    bool counted;
    rung_error refusal = {""};
    composition *c = &t->c;
    if (rung_task_param(t->h.attacked->task, "form") != 0) return RUNG_OK; /* entries would have to be shuffled */
    /* A NaN ends a protocol; then the attack goes on without it. */
    if (rung_composition_digest_bits(c, &refusal) != RUNG_OK) return RUNG_OK;
    uint64_t tables = tables_to_sort(&counted, c);
    if (tables < 2 || tables * 16 > c->budget->memory) return RUNG_OK;
    rung_budget_progress(c->budget, "sorting tables by transcript", tables);
    if (rung_composition_partition(&t->classes, c, tables, counted, &refusal) != RUNG_OK) return RUNG_OK;
    t->sorted = t->classes.tables > 0;
    return t->classes.largest > 1 ? twin_prompts(found, cert, t, counted, err) : RUNG_OK;
}

/* ---- the attack -------------------------------------------------------------------------------------------------- */

static void report(rung_break *result, const test *t)
{
    const composition *c = &t->c;
    double need = (double)c->entries * log2((double)c->values);
    int used = snprintf(result->report, sizeof result->report,
                        "%zu of %zu random prompts wrong, %zu guided ones; %llu bits reach z_0 and w, a table has %.1f",
                        t->wrong, t->asked, t->guided, (unsigned long long)c->digest_bits, need);
    if (!t->sorted || used < 0 || (size_t)used >= sizeof result->report) return;
    snprintf(result->report + used, sizeof result->report - (size_t)used,
             "; %s %llu tables z_2 (z_1 the identity) have %llu transcripts, the largest set with equal transcripts "
             "has %llu",
             t->classes.complete ? "all" : "a sample of", (unsigned long long)t->classes.tables,
             (unsigned long long)t->classes.classes, (unsigned long long)t->classes.largest);
}

static rung_status attack(rung_cert *cert, bool *found, test *t, rung_error *err)
{
    bool equal = false;
    rung_status status = random_prompts(found, cert, t, err);
    if (status == RUNG_OK && wanted(t->c.budget, RUNG_CERT_VIEW_COLLISION))
        status = equal_transcripts(&equal, cert, t, err); /* it shows more than a wrong answer, and replaces it */
    *found = *found || equal;
    if (status == RUNG_OK && !*found && wanted(t->c.budget, RUNG_CERT_WRONG_ANSWER))
        status = guided_prompts(found, cert, t, err);
    return status;
}

static rung_status run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    test t = {0};
    rung_cert cert = {0};
    char why[128];
    bool found = false;
    if (!suits(&t.c, attacked, why, sizeof why)) return rung_fail(err, RUNG_USAGE, "attack compose: %s", why);
    t.c.budget = budget;
    t.c.began = rung_wall_s();
    t.token = rung_calloc(2 * t.c.tokens, sizeof *t.token, err);
    rung_status status = t.token ? rung_runner_init(&t.h, attacked, err) : RUNG_SYSTEM;
    t.other = t.token ? t.token + t.c.tokens : NULL;
    RUNG_NEXT(status, attack(&cert, &found, &t, err));
    if (status == RUNG_OK && found) rung_break_take(result, &cert);
    rung_cert_clear(&cert);
    result->evaluations = t.h.evaluations;
    if (status == RUNG_OK) report(result, &t);
    rung_runner_clear(&t.h);
    free(t.token);
    return status;
}

static double expect(const rung_attacked *attacked, const rung_budget *budget, char *why, size_t size)
{
    composition c;
    (void)budget;
    if (!suits(&c, attacked, why, size)) return -1;
    double plays = (double)rung_composition_tables(&c) * (double)c.entries;
    double run_s = rung_attacked_seconds(attacked, c.tokens);
    return PROMPTS * run_s + (plays < 1e6 ? plays * run_s * 4 : 0);
}

const rung_attack rung_attack_compose = {
    .name = "compose",
    .summary =
        "composition of two functions against one full layer: wrong answers, and tables with the same transcript",
    .source = "the counting argument for L = 2 and one full layer (docs/theory.md), as a search",
    .applies = "one full layer with recurrent layers around it; seqcomp L=2",
    .cost = "256 prompts; all V^N_1 tables when they are at most 2^20, or 2^(Q/2) of them for a digest of Q <= 64 bits",
    .kinds = 1u << RUNG_CERT_WRONG_ANSWER | 1u << RUNG_CERT_VIEW_COLLISION,
    .breaks = "full:dk=1:dv=1 e4m2 seqcomp L=2 N0=2 n=2",
    .spares = "build:seqcomp f32 seqcomp L=2 N0=2 n=2",
    .expect = expect,
    .run = run,
};
