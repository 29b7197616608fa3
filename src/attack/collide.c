/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Parallel collision search with distinguished points (van Oorschot and Wiener 1999) on the carried state after a
 * prefix, or on the view of the last token, if that has at most 64 bits. The function x -> hash(state(prefix(x))) is
 * iterated from random starts until a value ends in zeros. Two trails with the same end have met, and where they meet
 * there are two prefixes with one state. It takes about 2^(bits/2) evaluations, fewer if the model does not use all its
 * bits, and hardly any memory.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attack_rows.h"
#include "attempts.h"
#include "certify.h"
#include "rung/par.h"

enum { BITS_MAX = 64, BATCH = 64, TABLE_LOG_MAX = 20, SAME_PREFIX_BITS = 4, SHORT_TRAILS = 4096 };

/* What is compared. */
typedef struct target {
    bool view;     /* the view of a whole prompt; otherwise the state after `prefix` tokens */
    size_t prefix; /* number of tokens that are chosen freely */
    uint64_t bits;
} target;

/* ---- where it is cheapest ---------------------------------------------------------------------------------------- */

/* True if there are so many prefixes that two different ones must agree, and few are drawn twice. */
static bool enough_prefixes(const rung_attacked *attacked, size_t prefix, uint64_t bits)
{
    return rung_attacked_prefix_bits(attacked, prefix) >= (double)(bits + SAME_PREFIX_BITS);
}

static bool state_target(target *t, const rung_attacked *attacked)
{
    double best = HUGE_VAL, prefix_bits = 0;
    for (size_t prefix = 1; prefix < attacked->task->tokens; prefix++) {
        uint64_t bits = rung_attacked_state_bits(attacked, prefix);
        prefix_bits += log2((double)attacked->task->task->ids(attacked->task, prefix - 1).count);
        double cost = (double)bits / 2 + log2((double)prefix);
        if (bits > BITS_MAX || prefix_bits < (double)(bits + SAME_PREFIX_BITS) || cost >= best) continue;
        best = cost;
        *t = (target){.prefix = prefix, .bits = bits};
    }
    return best < HUGE_VAL;
}

static bool view_target(target *t, const rung_attacked *attacked)
{
    uint64_t bits = rung_program_view_bits(attacked->program);
    *t = (target){.view = true, .prefix = attacked->task->tokens - 1, .bits = bits};
    return bits <= BITS_MAX && enough_prefixes(attacked, t->prefix, bits);
}

static bool wanted(const rung_budget *budget, rung_cert_kind kind)
{
    return budget->kinds == 0 || budget->kinds & 1u << kind;
}

/* A collision of states implies one of views, so states come first unless a view is much smaller. */
static bool choose_target(target *t, const rung_attacked *attacked, const rung_budget *budget)
{
    target view;
    bool has_state = wanted(budget, RUNG_CERT_STATE_COLLISION) && state_target(t, attacked);
    bool has_view = wanted(budget, RUNG_CERT_VIEW_COLLISION) && view_target(&view, attacked);
    if (has_view && (!has_state || view.bits + 8 < t->bits)) *t = view;
    return has_state || has_view;
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

/* One worker. */
typedef struct walker {
    runner h;
    uint32_t *token; /* a prompt; all views have the same last token */
    uint8_t *packed; /* of a view */
} walker;

typedef struct search {
    const rung_attacked *attacked;
    const rung_budget *budget;
    double began;
    target t;
    uint64_t mask;    /* a trail ends at a value in which these bits are 0 */
    uint64_t later;   /* the mask after the first trails */
    uint64_t longest; /* largest number of steps of a trail */
    uint32_t *tail;   /* a prompt; all prompts share its tokens from the prefix on */
    bool generated;   /* prefixes come from the generator, because hardly any product of choices is a prompt */
} search;

/* prefix(x): draws every token separately, so that all prefixes occur. */
static void spell(uint32_t *token, runner *h, const search *s, uint64_t x)
{
    const rung_task_conf *task = s->attacked->task;
    rung_error refusal;
    rung_rng rng;
    if (s->generated && rung_task_make(&h->instance, task, x, s->budget->seed, &refusal) == RUNG_OK) {
        memcpy(token, h->instance.token, s->t.prefix * sizeof *token);
        return;
    }
    rung_rng_init(&rng, x, 0xc0111de, s->budget->seed);
    for (size_t pos = 0; pos < s->t.prefix; pos++) {
        rung_ids ids = task->task->ids(task, pos);
        token[pos] = (uint32_t)(ids.first + rung_rng_below(&rng, ids.count));
    }
}

/* A model that stops on a prefix has no state there: the trail is dropped. */
static rung_status step(uint64_t *image, walker *w, const search *s, uint64_t x, rung_error *err)
{
    spell(w->token, &w->h, s, x);
    if (!s->t.view) {
        rung_status status = rung_runner_prefix(&w->h, w->token, s->t.prefix, err);
        if (status == RUNG_OK) *image = rung_hash64(w->h.state, (w->h.state_bits + 7) / 8);
        return status;
    }
    RUNG_TRY(rung_runner_view(&w->h, w->token, err));
    rung_program_pack_view(s->attacked->program, w->packed, w->h.view);
    *image = rung_hash64(w->packed, (s->t.bits + 7) / 8);
    return RUNG_OK;
}

/* ---- trails ------------------------------------------------------------------------------------------------------ */

typedef struct trail {
    uint64_t start, end, steps; /* steps 0: none */
} trail;

typedef struct batch {
    const search *s;
    walker *walker;
    trail trail[BATCH];
    uint64_t first;
    rung_status status[BATCH];
    rung_error err[BATCH];
} batch;

static void walk_trail(void *context, size_t item, size_t worker)
{
    batch *b = context;
    const search *s = b->s;
    trail *t = &b->trail[item];
    uint64_t x = rung_hash64(&(uint64_t[2]){b->first + item, s->budget->seed}, 16);
    rung_status status = RUNG_OK;
    *t = (trail){.start = x};
    b->status[item] = RUNG_OK;
    for (uint64_t n = 1; n <= s->longest && status == RUNG_OK; n++) {
        if (n % 256 == 0 && rung_budget_left(s->budget, s->began) <= 0) return;
        status = step(&x, &b->walker[worker], s, x, &b->err[item]);
        if (status != RUNG_OK || x & s->mask) continue;
        t->end = x, t->steps = n;
        return;
    }
    if (status != RUNG_INPUT) b->status[item] = status;
}

/* Two trails with the same end: finds the values before they meet. False if one begins on the other. */
static rung_status meeting(bool *met, uint64_t value[2], walker *w, const search *s, trail x, trail y, rung_error *err)
{
    rung_status status = RUNG_OK;
    trail longer = x.steps >= y.steps ? x : y, shorter = x.steps >= y.steps ? y : x;
    uint64_t a = longer.start, b = shorter.start;
    *met = false;
    for (uint64_t n = longer.steps; n > shorter.steps && status == RUNG_OK; n--) status = step(&a, w, s, a, err);
    if (a == b) return status;
    for (uint64_t n = 0; n < shorter.steps && status == RUNG_OK; n++) {
        uint64_t next_a, next_b;
        status = step(&next_a, w, s, a, err);
        RUNG_TRY(status);
        status = step(&next_b, w, s, b, err);
        RUNG_TRY(status);
        if (next_a == next_b) {
            value[0] = a, value[1] = b;
            *met = true;
            return RUNG_OK;
        }
        a = next_a, b = next_b;
    }
    return status;
}

static rung_status certify(rung_cert *cert, bool *found, walker *w, const search *s, const uint64_t value[2],
                           rung_error *err)
{
    size_t tokens = s->attacked->task->tokens, bytes = tokens * sizeof(uint32_t);
    uint32_t *a = rung_calloc(tokens, sizeof *a, err), *b = rung_calloc(tokens, sizeof *b, err);
    rung_status status = a && b ? RUNG_OK : RUNG_SYSTEM;
    rung_rng rng;
    rung_rng_init(&rng, s->budget->seed, value[0], value[1]);
    if (status == RUNG_OK) {
        memcpy(a, s->tail, bytes);
        memcpy(b, s->tail, bytes);
        spell(a, &w->h, s, value[0]);
        spell(b, &w->h, s, value[1]);
        if (s->t.view)
            status = rung_certify_view_collision(&w->h, cert, found, a, b, err);
        else if (memcmp(a, b, bytes) != 0 && rung_runner_separate(&w->h, a, b, s->t.prefix, &rng))
            status = rung_certify_state_collision(&w->h, cert, found, a, b, s->t.prefix, err);
    }
    free(a);
    free(b);
    return status;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Ends of trails, one per slot. A new one replaces an old one; in a full table this loses some collisions. */
typedef struct ends {
    trail *slot;
    uint64_t mask;
} ends;

/* Chooses the length of trails so that 2^(bits/2) steps fill the table once, within the memory. The first trails have
 * one step: that is a plain birthday search, for models that use so few of their bits that a walk would run in a
 * circle. */
static rung_status plan_trails(search *s, ends *e, size_t memory, rung_error *err)
{
    int room = TABLE_LOG_MAX, half = (int)(s->t.bits + 1) / 2;
    while (room > 4 && ((size_t)1 << room) * sizeof(trail) > memory / 2) room--;
    int zeros = half - 8 > 0
                    ? (half - 8) / 2
                    : 0; /* trails of 2^zeros steps: short compared with the search, long compared with the table */
    if (half - zeros > room) zeros = half - room;
    s->mask = 0;
    s->later = ((uint64_t)1 << zeros) - 1;
    s->longest = (uint64_t)20 << zeros; /* a trail is longer with probability e^-20, unless it runs in a circle */
    e->mask = ((uint64_t)1 << room) - 1;
    e->slot = rung_calloc((size_t)e->mask + 1, sizeof *e->slot, err);
    return e->slot ? RUNG_OK : RUNG_SYSTEM;
}

static trail insert(ends *e, trail t)
{
    trail *slot = &e->slot[rung_hash64(&t.end, sizeof t.end) & e->mask], old = *slot;
    *slot = t;
    return old.steps && old.end == t.end && old.start != t.start ? old : (trail){0};
}

static rung_status use_batch(rung_cert *cert, bool *found, batch *b, ends *e, uint64_t *meetings, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < BATCH && status == RUNG_OK && !*found; i++) {
        uint64_t value[2];
        bool met = false;
        if (b->status[i] != RUNG_OK) return rung_fail(err, b->status[i], "%s", b->err[i].text);
        if (b->trail[i].steps == 0) continue;
        trail old = insert(e, b->trail[i]);
        if (old.steps) status = meeting(&met, value, b->walker, b->s, old, b->trail[i], err);
        if (status == RUNG_OK && met) status = certify(cert, found, b->walker, b->s, value, err);
        if (status == RUNG_INPUT) status = RUNG_OK;
        *meetings += met;
    }
    return status;
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

static void count_up(rung_break *result, const walker *each, size_t workers)
{
    result->evaluations = 0;
    for (size_t i = 0; i < workers; i++) result->evaluations += each[i].h.evaluations;
}

static rung_status search_in_parallel(rung_break *result, search *s, walker *each, size_t workers, rung_error *err)
{
    batch *b = rung_calloc(1, sizeof *b, err);
    ends e = {0};
    rung_cert cert = {0};
    uint64_t meetings = 0;
    bool found = false;
    rung_status status = b ? plan_trails(s, &e, s->budget->memory, err) : RUNG_SYSTEM;
    rung_budget_progress(s->budget, "evaluations of a collision search", 0);
    while (status == RUNG_OK && !found && rung_budget_left(s->budget, s->began) > 0) {
        b->s = s, b->walker = each;
        if (b->first == SHORT_TRAILS) {
            s->mask = s->later;
            memset(e.slot, 0, ((size_t)e.mask + 1) * sizeof *e.slot);
        }
        rung_par_for(BATCH, workers, walk_trail, b);
        status = use_batch(&cert, &found, b, &e, &meetings, err);
        b->first += BATCH;
        count_up(result, each, workers);
        if (s->budget->progress) rung_progress_tick(s->budget->progress, result->evaluations);
    }
    if (s->budget->progress) rung_progress_finish(s->budget->progress);
    const char *what = s->t.view ? "view" : "state";
    if (found) rung_break_take(result, &cert);
    snprintf(result->report, sizeof result->report,
             found ? "two %ss of %llu bits agree, found after 2^%.1f evaluations"
                   : "%s of %llu bits, 2^%.1f evaluations (2^(bits/2) are expected), %llu pairs of trails met",
             what, (unsigned long long)s->t.bits, log2((double)result->evaluations + 1), (unsigned long long)meetings);
    free(e.slot);
    free(b);
    return status;
}

static rung_status walker_init(walker *w, const search *s, rung_error *err)
{
    RUNG_TRY(rung_runner_init(&w->h, s->attacked, err));
    w->token = rung_calloc(w->h.tokens, sizeof *w->token, err);
    w->packed = w->token ? rung_calloc(BITS_MAX / 8 + 8, 1, err) : NULL;
    if (!w->packed) return RUNG_SYSTEM;
    memcpy(w->token, s->tail, w->h.tokens * sizeof *w->token);
    return RUNG_OK;
}

/* A prompt of the generator supplies the tokens after the prefix. Tests whether tokens drawn one by one before them
 * make prompts as well. */
static void draw_tail(search *s, runner *h)
{
    enum { TRIES = 64 };
    uint64_t prompts = 0;
    for (uint64_t i = 0; i < TRIES; i++)
        if (rung_runner_draw(h, s->tail, s->budget->seed, i)) break;
    for (uint64_t i = 0; i < TRIES; i++) {
        spell(s->tail, h, s, i);
        prompts += rung_runner_oracle(h, s->tail) != RUNG_NO_TARGET;
    }
    s->generated = prompts < TRIES / 8;
}

static rung_status make_tail(search *s, rung_error *err)
{
    runner h;
    s->tail = rung_calloc(s->attacked->task->tokens, sizeof *s->tail, err);
    if (!s->tail) return RUNG_SYSTEM;
    rung_status status = rung_runner_init(&h, s->attacked, err);
    if (status == RUNG_OK) draw_tail(s, &h);
    rung_runner_clear(&h);
    return status;
}

static rung_status run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err)
{
    search s = {.attacked = attacked, .budget = budget, .began = rung_wall_s()};
    rung_budget half = *budget;
    half.memory /= 2; /* the other half is for the table */
    size_t workers = rung_attempts_workers(attacked, &half), ready = 0;
    if (!choose_target(&s.t, attacked, budget) || workers == 0) {
        snprintf(result->report, sizeof result->report, "not tried: one run needs about %zu MiB",
                 rung_runner_bytes(attacked) >> 20);
        return RUNG_OK;
    }
    walker *each = rung_calloc(workers, sizeof *each, err);
    rung_status status = each ? make_tail(&s, err) : RUNG_SYSTEM;
    while (status == RUNG_OK && ready < workers) status = walker_init(&each[ready++], &s, err);
    RUNG_NEXT(status, search_in_parallel(result, &s, each, workers, err));
    for (size_t i = 0; i < ready; i++) {
        rung_runner_clear(&each[i].h);
        free(each[i].token);
        free(each[i].packed);
    }
    free(each);
    free(s.tail);
    return status;
}

static double expect(const rung_attacked *attacked, const rung_budget *budget, char *why, size_t size)
{
    target t;
    if (!rung_attacked_suits(attacked, why, size)) return -1;
    if (!choose_target(&t, attacked, budget)) {
        snprintf(why, size, "neither the state nor the view has at most %d bits and more prefixes than that", BITS_MAX);
        return -1;
    }
    return exp2((double)t.bits / 2) * rung_attacked_seconds(attacked, t.prefix);
}

const rung_attack rung_attack_collide = {
    .name = "collide",
    .summary = "two prefixes with one state, or two prompts with one view, by parallel collision search",
    .source = "van Oorschot, Wiener 1999, parallel collision search",
    .applies = "states after some prefix, or views, of at most 64 bits; tasks over token ids",
    .cost = "2^(bits/2) runs of the prefix, in little memory",
    .kinds = 1u << RUNG_CERT_STATE_COLLISION | 1u << RUNG_CERT_VIEW_COLLISION,
    .breaks = "linear:dk=1:dv=1 e5m4 eva N=16 V=4",
    .spares = "linear:dk=2:dv=2 e8m20 eva N=16 V=4",
    .any_numbers = true,
    .expect = expect,
    .run = run,
};
