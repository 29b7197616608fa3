/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The indistinguishable decomposition of the lower bound for hybrids (Ye et al. 2026, Definition 4.1 and Lemma 4.3), carried
 * out on a concrete model by the greedy steps of the proof. For l = 2, ..., L it keeps sets Z_0, ..., Z_(l-1) of inputs of the
 * lower players and a set R of inputs (z_L, ..., z_l) of the upper ones, such that all messages of the first l epochs from the
 * upper to the lower players are the same for all of R, whatever the lower players hold in their sets.
 *   l = 2    the first epoch to w; then Z_1 from the most popular class of z_1; then the second epoch to w, both to z_0, both to
 *            z_1, and the states
 *   l + 1    Z_l greedily: functions of which many z_>l are all in R and that reach new values; then the new epoch to all
 *            players below z_l, and all epochs to z_l
 * At l = L two tables z_L of R that differ where a prompt of these sets asks leave w with the same numbers: a view-collision.
 * Every key has the messages for all inputs in the sets. So no step rests on what the proof says of a message's arguments, and a
 * model that composes ends with R of one table.
 */
#include "decompose.h"
#include "attack_rows.h"
#include "certify.h"

#include <stdlib.h>
#include <string.h>

/* A list of numbers. */
typedef struct members {
    uint64_t *at;
    size_t count;
} members;

/* A member by its place in the set, with its key. */
typedef struct keyed {
    uint64_t key;
    size_t at;
} keyed;

typedef struct decomposition {
    runner h;
    recording r;
    members upper;                        /* R: numbers of (z_L, ..., z_l), as multiples of weight[l + 1] */
    members lower[DECOMPOSE_PLAYERS_MAX]; /* Z of each lower player */
    keyed *keys;                          /* scratch, one for each upper */
    rung_buf story;                       /* the sizes */
} decomposition;

static rung_status all_of(members *m, uint64_t count, uint64_t step, rung_error *err)
{
    m->at = rung_calloc((size_t)count, sizeof *m->at, err);
    if (!m->at) return RUNG_SYSTEM;
    for (m->count = 0; m->count < count; m->count++) m->at[m->count] = m->count * step;
    return RUNG_OK;
}

static void clear(decomposition *d)
{
    free(d->upper.at);
    for (size_t i = 0; i < DECOMPOSE_PLAYERS_MAX; i++) free(d->lower[i].at);
    free(d->keys);
    rung_buf_clear(&d->story);
    rung_recording_clear(&d->r);
    rung_runner_clear(&d->h);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0xff51afd7ed558ccdu;
    return hash ^ hash >> 29;
}

/* Which messages a key has: those of `sender` to the next player, of some epochs, for some receivers. */
typedef struct wanted {
    size_t sender;
    size_t first, last; /* epochs */
    unsigned receivers; /* bit i: tokens of player i; bit `players`: states */
} wanted;

static uint64_t messages(const recording *r, uint64_t prompt, const wanted *w, uint64_t hash)
{
    for (size_t layer = 0; layer < r->layers; layer++) {
        if (r->epoch[layer] < w->first || r->epoch[layer] > w->last) continue;
        for (size_t to = 0; to <= r->players; to++)
            if (w->receivers >> to & 1) hash = mix(hash, rung_recording_digest(r, prompt, layer, w->sender, to));
    }
    return hash;
}

/* The messages for all inputs in the sets of the players below `player`; `prompt` has the inputs of the others. */
static uint64_t key_below(const decomposition *d, uint64_t prompt, size_t player, const wanted *w, uint64_t hash)
{
    if (player == 0) return messages(&d->r, prompt, w, hash);
    const members *set = &d->lower[player - 1];
    for (size_t i = 0; i < set->count; i++)
        hash = key_below(d, prompt + set->at[i] * d->r.weight[player - 1], player - 1, w, hash);
    return hash;
}

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Keeps the largest class of equal keys; `k` has one place for each member. */
static void keep_most_popular(members *m, keyed *k)
{
    size_t best = 0, best_at = 0;
    qsort(k, m->count, sizeof *k, by_key);
    for (size_t i = 0, begin = 0; i < m->count; i++) {
        if (k[i].key != k[begin].key) begin = i;
        if (i + 1 - begin > best) best = i + 1 - begin, best_at = begin;
    }
    /* places within a class rise, so that nothing is overwritten before it is read */
    for (size_t i = 0; i < best; i++) m->at[i] = m->at[k[best_at + i].at];
    m->count = best;
}

/* One step of the proof: the most popular messages. */
static void freeze(decomposition *d, const wanted *w, const char *name)
{
    for (size_t i = 0; i < d->upper.count; i++) d->keys[i] = (keyed){key_below(d, d->upper.at[i], w->sender, w, 0), i};
    keep_most_popular(&d->upper, d->keys);
    rung_buf_printf(&d->story, " %zu (%s)", d->upper.count, name);
}

/* ---- lower sets -------------------------------------------------------------------------------------------------- */

/* The entry of z_l that is asked for by an argument and the digit of w. */
static size_t entry_of(const recording *r, size_t l, uint64_t w, uint64_t argument)
{
    const rung_value *n = rung_task_value(r->attacked->task, "n");
    for (size_t k = 2; k < l; k++) w /= (uint64_t)n->list[k - 2];
    uint64_t digit = l > 1 ? w % (uint64_t)n->list[l - 2] : 0;
    size_t range = r->span[l + 1].len / (l > 1 ? (size_t)n->list[l - 2] : 1);
    return (size_t)digit * range + (size_t)argument;
}

/* Marks in `seen` what i_l can be for the inputs in the lower sets, with z_l = input; i_0 = z_0. */
static void mark_reached(bool *seen, const decomposition *d, size_t l, uint64_t input, uint64_t w, const bool *before)
{
    size_t arguments = l > 1 ? d->r.span[l + 1].len / (size_t)rung_task_value(d->r.attacked->task, "n")->list[l - 2]
                             : d->r.span[2].len;
    for (size_t i = 0; i < arguments; i++)
        if (before[i]) seen[rung_recording_value(&d->r, l + 1, input, entry_of(&d->r, l, w, i))] = true;
}

enum { VALUES_MAX = 4096 };

/* What i_l may be for one w, over all Z_0, ..., Z_l. */
static void reached(bool seen[VALUES_MAX], const decomposition *d, size_t l, uint64_t w)
{
    bool before[VALUES_MAX] = {false};
    memset(seen, 0, VALUES_MAX * sizeof *seen);
    if (l == 0) {
        for (size_t i = 0; i < d->lower[1].count; i++) seen[d->lower[1].at[i]] = true;
        return;
    }
    reached(before, d, l - 1, w);
    for (size_t i = 0; i < d->lower[l + 1].count; i++) mark_reached(seen, d, l, d->lower[l + 1].at[i], w, before);
}

/* (w, i_l) that are reached. */
static size_t cover(const decomposition *d, size_t l)
{
    bool seen[VALUES_MAX];
    size_t count = 0;
    for (uint64_t w = 0; w < d->r.inputs[0]; w++) {
        reached(seen, d, l, w);
        for (size_t i = 0; i < VALUES_MAX; i++) count += seen[i];
    }
    return count;
}

/* Adds functions of `from` to Z_l as long as they reach new values and `allowed` agrees. */
typedef bool allows(decomposition *d, size_t l, uint64_t input);
static rung_status choose(decomposition *d, size_t l, const members *from, allows *allowed, rung_error *err)
{
    members *set = &d->lower[l + 1];
    set->at = rung_calloc(from->count + 1, sizeof *set->at, err);
    if (!set->at) return RUNG_SYSTEM;
    for (;;) {
        size_t now = set->count ? cover(d, l) : 0, best = now, best_at = SIZE_MAX;
        for (size_t i = 0; i < from->count; i++) {
            set->at[set->count] = from->at[i];
            if (allowed && !allowed(d, l, from->at[i])) continue;
            set->count++;
            size_t with = cover(d, l);
            set->count--;
            if (with > best) best = with, best_at = i;
        }
        if (best_at == SIZE_MAX) break;
        set->at[set->count++] = from->at[best_at];
    }
    rung_buf_printf(&d->story, "; Z_%zu %zu of %llu", l, set->count, (unsigned long long)d->r.inputs[l + 1]);
    return RUNG_OK;
}

/* ---- l = 2 ------------------------------------------------------------------------------------------------------- */

/* The most popular class of z_1 by what z_1 hands to w in the first epoch, for all w and all of R. z_0 has no part in it. */
static rung_status first_functions(decomposition *d, rung_error *err)
{
    const recording *r = &d->r;
    const wanted to_w = {.sender = 2, .first = 1, .last = 1, .receivers = 1u};
    members all = {0};
    RUNG_TRY(all_of(&all, r->inputs[2], 1, err));
    keyed *keys = rung_calloc(all.count, sizeof *keys, err);
    for (size_t i = 0; keys && i < all.count; i++) {
        keys[i].at = i;
        for (size_t k = 0; k < d->upper.count; k++)
            keys[i].key = key_below(d, d->upper.at[k] + all.at[i] * r->weight[2], 2, &to_w, keys[i].key);
    }
    if (keys) keep_most_popular(&all, keys);
    rung_buf_printf(&d->story, "; %zu of %llu z_1 alike to w", all.count, (unsigned long long)r->inputs[2]);
    rung_status status = keys ? choose(d, 1, &all, NULL, err) : RUNG_SYSTEM;
    free(keys);
    free(all.at);
    return status;
}

static rung_status base(decomposition *d, rung_error *err)
{
    const recording *r = &d->r;
    const unsigned states = 1u << r->players;
    RUNG_TRY(all_of(&d->lower[0], r->inputs[0], 1, err));
    RUNG_TRY(all_of(&d->lower[1], r->inputs[1], 1, err));
    RUNG_TRY(all_of(&d->upper, r->prompts / r->weight[3], r->weight[3], err));
    d->keys = rung_calloc(d->upper.count, sizeof *d->keys, err);
    if (!d->keys) return RUNG_SYSTEM;
    rung_buf_printf(&d->story, "R %zu:", d->upper.count);
    /* For now every z_1 is possible. */
    RUNG_TRY(all_of(&d->lower[2], r->inputs[2], 1, err));
    freeze(d, &(wanted){3, 1, 1, 1u}, "w, epoch 1");
    free(d->lower[2].at);
    d->lower[2] = (members){0};
    RUNG_TRY(first_functions(d, err));
    rung_buf_puts(&d->story, "; R");
    freeze(d, &(wanted){3, 2, 2, 1u}, "w, epoch 2");
    freeze(d, &(wanted){3, 1, 2, 2u}, "z_0");
    freeze(d, &(wanted){3, 1, 2, 4u | states}, "z_1 and states");
    return RUNG_OK;
}

/* ---- l to l + 1 -------------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool in_upper(const decomposition *d, uint64_t number)
{
    return bsearch(&number, d->upper.at, d->upper.count, sizeof number, by_number) != NULL;
}

/* The z_>l that are in R with every function of Z_l and with `input`. */
static size_t common(const decomposition *d, size_t l, uint64_t input, uint64_t *out)
{
    const recording *r = &d->r;
    const members *set = &d->lower[l + 1];
    size_t count = 0;
    for (uint64_t high = 0; high < r->prompts / r->weight[l + 2]; high++) {
        uint64_t number = high * r->weight[l + 2];
        bool all = in_upper(d, number + input * r->weight[l + 1]);
        for (size_t i = 0; i < set->count && all; i++) all = in_upper(d, number + set->at[i] * r->weight[l + 1]);
        if (all && out) out[count] = number;
        count += all;
    }
    return count;
}

/* Two tables must remain, or nothing is left to collide. */
static bool two_remain(decomposition *d, size_t l, uint64_t input)
{
    return common(d, l, input, NULL) >= 2;
}

static rung_status step(decomposition *d, size_t l, rung_error *err)
{
    const recording *r = &d->r;
    members all = {0}, high = {0};
    RUNG_TRY(all_of(&all, r->inputs[l + 1], 1, err));
    rung_status status = choose(d, l, &all, two_remain, err);
    free(all.at);
    RUNG_TRY(status);
    if (!d->lower[l + 1].count) {
        d->upper.count = 0;
        return RUNG_OK;
    }
    high.at = rung_calloc((size_t)(r->prompts / r->weight[l + 2]), sizeof *high.at, err);
    if (!high.at) return RUNG_SYSTEM;
    high.count = common(d, l, d->lower[l + 1].at[0], high.at);
    free(d->upper.at);
    d->upper = high;
    rung_buf_printf(&d->story, "; R %zu:", d->upper.count);
    freeze(d, &(wanted){l + 2, l + 1, l + 1, (1u << (l + 1)) - 1}, "lower players");
    freeze(d, &(wanted){l + 2, 1, l + 1, 1u << (l + 1) | 1u << r->players}, "the table behind, states");
    return RUNG_OK;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* A prompt of the lower sets that asks for an entry in which two tables of R differ. */
static rung_status collide(decomposition *d, rung_cert *cert, bool *found, uint64_t prompt, size_t player,
                           rung_error *err)
{
    const recording *r = &d->r;
    if (player > 0) {
        const members *set = &d->lower[player - 1];
        for (size_t i = 0; i < set->count && !*found; i++)
            RUNG_TRY(collide(d, cert, found, prompt + set->at[i] * r->weight[player - 1], player - 1, err));
        return RUNG_OK;
    }
    uint32_t *token = rung_calloc(2 * r->tokens, sizeof *token, err);
    if (!token) return RUNG_SYSTEM;
    rung_status status = RUNG_OK;
    rung_recording_prompt(token, r, prompt + d->upper.at[0]);
    for (size_t k = 1; k < d->upper.count && !*found && status == RUNG_OK; k++) {
        rung_recording_prompt(token + r->tokens, r, prompt + d->upper.at[k]);
        if (rung_runner_oracle(&d->h, token) != rung_runner_oracle(&d->h, token + r->tokens))
            status = rung_certify_view_collision(&d->h, cert, found, token, token + r->tokens, err);
    }
    free(token);
    return status;
}

static rung_status carry_out(decomposition *d, rung_cert *cert, bool *found, rung_error *err)
{
    RUNG_TRY(base(d, err));
    for (size_t l = 2; l < d->r.functions && d->upper.count > 1; l++) RUNG_TRY(step(d, l, err));
    return d->upper.count > 1 ? collide(d, cert, found, 0, d->r.functions + 1, err) : RUNG_OK;
}

static rung_status attack(decomposition *d, rung_cert *cert, bool *found, rung_error *err)
{
    bool complete;
    RUNG_TRY(rung_recording_play(&d->r, &complete, err));
    if (d->r.stopped)
        rung_buf_printf(&d->story, "%llu of %llu prompts end in a NaN; ", (unsigned long long)d->r.stopped,
                        (unsigned long long)d->r.prompts);
    if (complete) return carry_out(d, cert, found, err);
    rung_buf_printf(&d->story, "time or memory did not suffice to play %llu prompts", (unsigned long long)d->r.prompts);
    return RUNG_OK;
}

static rung_status run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    decomposition d = {0};
    rung_cert cert = {0};
    char why[128];
    bool found = false;
    if (!rung_recording_init(&d.r, attacked, why, sizeof why))
        return rung_fail(err, RUNG_USAGE, "attack decompose: %s", why);
    d.r.budget = budget;
    d.r.began = rung_wall_s();
    rung_buf_init(&d.story);
    rung_status status = rung_runner_init(&d.h, attacked, err);
    RUNG_NEXT(status, attack(&d, &cert, &found, err));
    RUNG_NEXT(status, rung_buf_ok(&d.story, err));
    if (status == RUNG_OK && found) rung_break_take(result, &cert);
    rung_cert_clear(&cert);
    result->evaluations = d.r.prompts;
    if (status == RUNG_OK) snprintf(result->report, sizeof result->report, "%s", d.story.text ? d.story.text : "");
    clear(&d);
    return status;
}

static double expect(const rung_attacked *attacked, const rung_budget *budget, char *why, size_t size)
{
    recording r;
    (void)budget;
    if (!rung_recording_init(&r, attacked, why, size)) return -1;
    return (double)r.prompts * rung_attacked_seconds(attacked, r.tokens) * 4;
}

const rung_attack rung_attack_decompose = {
    .name = "decompose",
    .summary = "the indistinguishable decomposition of the proof for hybrids, on all prompts of a small composition",
    .source = "Ye et al. 2026, Definition 4.1 and Lemma 4.3, carried out greedily (docs/attacks.md)",
    .applies = "1 to L full layers and any recurrent ones; seqcomp with at most 2^16 prompts",
    .cost = "every prompt as a protocol, then sorting",
    .kinds = 1u << RUNG_CERT_VIEW_COLLISION,
    .breaks = "2*full:dk=1:dv=1 e4m1 seqcomp L=2 N0=2 n=2 V=2",
    .spares = "build:seqcomp f32 seqcomp L=2 N0=2 n=2 linear=after",
    .expect = expect,
    .run = run,
};
