/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Shrinking: first reduces the number of differing tokens, then simplifies the prompts, as long as the claim of the
 * certificate stays true and there is time. It changes halves, quarters, ... of the positions at a time, as in delta
 * debugging, so that the number of runs is of order d log n for d positions that matter.
 */
#include <stdlib.h>
#include <string.h>

#include "certify.h"

typedef struct shrinker {
    runner *h;
    rung_cert *cert;
    const rung_budget *budget;
    double began;
    uint32_t *a, *b; /* the next try */
    size_t *at;      /* positions that may still change */
    size_t count;
} shrinker;

static bool has_two(const shrinker *s)
{
    return s->cert->prompt[1] != NULL;
}

/* Keeps a and b if the claim is true of them. */
static rung_status try_prompts(bool *kept, shrinker *s, rung_error *err)
{
    rung_cert next = {0};
    rung_status status = rung_certify_again(s->h, &next, kept, s->cert, s->a, s->b, err);
    if (status == RUNG_OK && *kept) {
        rung_cert_clear(s->cert);
        *s->cert = next;
    } else {
        rung_cert_clear(&next);
        *kept = false;
    }
    return status;
}

/* Simplifies one position in a and in b. */
typedef void simplify(shrinker *s, size_t pos);

static void agree_with_first(shrinker *s, size_t pos)
{
    s->b[pos] = s->a[pos];
}

static void agree_with_second(shrinker *s, size_t pos)
{
    s->a[pos] = s->b[pos];
}

static void make_plain(shrinker *s, size_t pos)
{
    uint32_t plain = (uint32_t)s->h->attacked->task->task->ids(s->h->attacked->task, pos).first;
    s->a[pos] = plain;
    if (has_two(s)) s->b[pos] = plain;
}

static void load(shrinker *s)
{
    memcpy(s->a, s->cert->prompt[0], s->h->tokens * sizeof *s->a);
    if (has_two(s)) memcpy(s->b, s->cert->prompt[1], s->h->tokens * sizeof *s->b);
}

/* One pass with parts of `size` positions. Positions that have become simple leave the list. */
static rung_status shrink_parts(shrinker *s, size_t size, simplify *how, rung_error *err)
{
    rung_status status = RUNG_OK;
    size_t left = 0;
    for (size_t first = 0; first < s->count; first += size) {
        size_t end = first + size < s->count ? first + size : s->count;
        bool kept = false;
        if (status == RUNG_OK && rung_budget_left(s->budget, s->began) > 0) {
            load(s);
            for (size_t i = first; i < end; i++) how(s, s->at[i]);
            status = try_prompts(&kept, s, err);
        }
        for (size_t i = first; i < end && !kept; i++) s->at[left++] = s->at[i];
    }
    s->count = left;
    return status;
}

/* Stops if nothing became simpler with parts of a quarter, because smaller parts rarely help then. */
static rung_status shrink_by(shrinker *s, simplify *how, rung_error *err)
{
    rung_status status = RUNG_OK;
    size_t all = s->count;
    for (size_t size = all; size > 0 && s->count > 0 && status == RUNG_OK; size /= 2) {
        if (s->count == all && size < all / 4) break;
        status = shrink_parts(s, size, how, err);
    }
    return status;
}

static void find_differing(shrinker *s)
{
    s->count = 0;
    for (size_t t = 0; t < s->h->tokens; t++)
        if (s->cert->prompt[0][t] != s->cert->prompt[1][t]) s->at[s->count++] = t;
}

static void find_not_plain(shrinker *s)
{
    const rung_task_conf *task = s->h->attacked->task;
    s->count = 0;
    for (size_t t = 0; t < s->h->tokens; t++) {
        uint32_t token = s->cert->prompt[0][t];
        bool same = !has_two(s) || s->cert->prompt[1][t] == token;
        if (same && token != task->task->ids(task, t).first) s->at[s->count++] = t;
    }
}

rung_status rung_runner_shrink(runner *h, rung_cert *cert, const rung_budget *budget, double began, rung_error *err)
{
    shrinker s = {.h = h, .cert = cert, .budget = budget, .began = began};
    s.a = rung_calloc(h->tokens, sizeof *s.a, err);
    s.b = s.a ? rung_calloc(h->tokens, sizeof *s.b, err) : NULL;
    s.at = s.b ? rung_calloc(h->tokens, sizeof *s.at, err) : NULL;
    rung_status status = s.at ? RUNG_OK : RUNG_SYSTEM;
    if (status == RUNG_OK && has_two(&s)) {
        find_differing(&s);
        status = shrink_by(&s, agree_with_first, err);
        RUNG_NEXT(status, shrink_by(&s, agree_with_second, err));
    }
    if (status == RUNG_OK) {
        find_not_plain(&s);
        status = shrink_by(&s, make_plain, err);
    }
    free(s.a);
    free(s.b);
    free(s.at);
    return status;
}
