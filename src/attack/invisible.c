/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Tokens that softmax loses: at low precision the weight of a token is rounded away beside the sum so far. Another
 * token in its place then leaves the last token with the same numbers, while the right answer changes. The last places
 * before the query are the likeliest, because the sums are largest there; repeated tokens make the sums larger still.
 */
#include "attack_rows.h"
#include "certify.h"

#include <stdlib.h>
#include <string.h>

enum { OTHERS = 6 }; /* tokens that are tried at one place of one prompt */

typedef struct lantern {
    runner h;
    const rung_budget *budget;
    double began;
    rung_rng rng;
    uint32_t *a, *b; /* [tokens] */
    double *view;    /* [d_model] */
    size_t prompts;
    uint64_t tried; /* number of pairs */
} lantern;

static rung_ids ids_at(const lantern *l, size_t pos)
{
    return l->h.attacked->task->task->ids(l->h.attacked->task, pos);
}

/* Every second prompt repeats one token wherever it may stand. */
static bool draw_prompt(lantern *l)
{
    if (!rung_runner_draw(&l->h, l->a, l->budget->seed, l->prompts)) return false;
    if (l->prompts % 2 == 0) return true;
    memcpy(l->b, l->a, l->h.tokens * sizeof *l->a);
    uint64_t pick = rung_rng_u64(&l->rng);
    for (size_t pos = 0; pos + 1 < l->h.tokens; pos++) {
        rung_ids ids = ids_at(l, pos);
        l->a[pos] = (uint32_t)(ids.first + pick % ids.count);
    }
    if (rung_runner_oracle(&l->h, l->a) == RUNG_NO_TARGET) memcpy(l->a, l->b, l->h.tokens * sizeof *l->a);
    return true;
}

/* In half of the cases one of the last places before the query. */
static size_t draw_place(lantern *l)
{
    size_t places = l->h.tokens - 1;
    uint64_t back =
        rung_rng_u64(&l->rng) % 2 ? rung_rng_below(&l->rng, places) : rung_rng_below(&l->rng, places < 4 ? places : 4);
    return places - 1 - (size_t)back;
}

/* b is a with another token at the place; then it searches a query that needs different answers. */
static bool draw_other(lantern *l, size_t place)
{
    rung_ids ids = ids_at(l, place);
    if (ids.count < 2) return false;
    memcpy(l->b, l->a, l->h.tokens * sizeof *l->a);
    uint64_t now = l->a[place] - ids.first;
    l->b[place] = (uint32_t)(ids.first + (now + 1 + rung_rng_below(&l->rng, ids.count - 1)) % ids.count);
    return rung_runner_separate(&l->h, l->a, l->b, l->h.tokens - 1, &l->rng);
}

static rung_status look(bool *found, rung_cert *cert, lantern *l, rung_error *err)
{
    size_t width = rung_model_get_spec(l->h.attacked->model)->d_model, place = draw_place(l);
    rung_status status = RUNG_OK;
    for (size_t other = 0; other < OTHERS && status == RUNG_OK && !*found; other++) {
        if (!draw_other(l, place)) continue;
        l->tried++;
        status = rung_runner_view(&l->h, l->a, err);
        if (status == RUNG_OK) memcpy(l->view, l->h.view, width * sizeof *l->view);
        RUNG_NEXT(status, rung_runner_view(&l->h, l->b, err));
        if (status == RUNG_OK && memcmp(l->view, l->h.view, width * sizeof *l->view) == 0)
            status = rung_certify_view_collision(&l->h, cert, found, l->a, l->b, err);
    }
    return status == RUNG_INPUT ? RUNG_OK : status; /* a NaN: try another prompt */
}

static rung_status search(bool *found, rung_cert *cert, lantern *l, rung_error *err)
{
    enum { PROMPTS = 1 << 20 };
    rung_status status = RUNG_OK;
    rung_budget_progress(l->budget, "changing single tokens", 0);
    for (; l->prompts < PROMPTS && status == RUNG_OK && !*found; l->prompts++) {
        if (rung_budget_left(l->budget, l->began) <= 0) break;
        if (draw_prompt(l)) status = look(found, cert, l, err);
    }
    return status;
}

static rung_status run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    lantern l = {.budget = budget, .began = rung_wall_s()};
    rung_cert cert = {0};
    bool found = false;
    size_t tokens = attacked->task->tokens;
    rung_rng_init(&l.rng, budget->seed, 68, 0);
    l.a = rung_calloc(2 * tokens, sizeof *l.a, err);
    l.view = l.a ? rung_calloc(rung_model_get_spec(attacked->model)->d_model, sizeof *l.view, err) : NULL;
    rung_status status = l.view ? rung_runner_init(&l.h, attacked, err) : RUNG_SYSTEM;
    l.b = l.a ? l.a + tokens : NULL;
    RUNG_NEXT(status, search(&found, &cert, &l, err));
    if (found) rung_break_take(result, &cert);
    result->evaluations = l.h.evaluations;
    snprintf(result->report, sizeof result->report,
             found ? "a token whose weight is rounded away, after %llu changes of one token in %zu prompts"
                   : "%llu changes of one token in %zu prompts all changed the result",
             (unsigned long long)l.tried, l.prompts);
    rung_runner_clear(&l.h);
    free(l.view);
    free(l.a);
    return status;
}

static double expect(const rung_attacked *attacked, const rung_budget *budget, char *why, size_t size)
{
    const rung_fmt *fmt = &attacked->numbers;
    (void)budget;
    if (!rung_attacked_suits(attacked, why, size)) return -1;
    if (!rung_attacked_has(attacked, RUNG_TRAIT_SOFTMAX)) {
        snprintf(why, size, "no layer has a softmax");
        return -1;
    }
    /* A weight of 1/n of the sum is lost below half a unit: with n tokens, in formats of at most about log2 n bits. */
    int digits = fmt->kind == RUNG_FMT_FLOAT ? fmt->mantissa_bits : fmt->fraction_bits;
    double hard = digits > 10 ? 1e3 : 16 << digits;
    return hard * rung_attacked_seconds(attacked, attacked->task->tokens);
}

const rung_attack rung_attack_invisible = {
    .name = "invisible",
    .summary = "a token whose weight softmax rounds away, so that another one in its place changes nothing",
    .source = "rounding of sums; docs/numbers.md",
    .applies = "softmax attention in any layer; formats of few digits beside log2 of the tokens",
    .cost = "two runs for each token that is changed",
    .kinds = 1u << RUNG_CERT_VIEW_COLLISION,
    .breaks = "full:dk=4:dv=4 e8m2 eva N=64 V=8",
    .spares = "full:dk=4:dv=4 f64 eva N=8 V=4",
    .expect = expect,
    .run = run,
};
