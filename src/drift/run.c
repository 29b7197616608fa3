/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The same stream in f64 and in several sets of formats, side by side, a few hundred tokens at a time; and for the
 * first set what is proved about its distance from the reals.
 *
 * Two bounds go along (docs/drift.md). The bound of the run: E <- c E + |state - step in f64 from the state before| +
 * the theorem's bound for a step in f64. It is a proof about the very numbers that were computed. The bound of the
 * theorem: E <- c E + the theorem's bound for a step in the formats, which knows only norms.
 */
#include "drift_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rung/par.h"

enum { CHUNK = 256 };

/* Bounds for every head, and what they need. */
typedef struct proof {
    bool applies;
    char why_not[160];
    const char *why_no_run, *why_no_theorem;
    double *reference, *run, *theorem; /* [heads] */
    double *before;                    /* the state before a token, then the step in f64 from there */
    drift_walk exact_step;             /* in f64; its state is `before` */
    size_t changes, swallowed, first;  /* entries; the first token of which nothing is kept */
} proof;

typedef struct race {
    const rung_mech_conf *conf;
    const drift_stream *stream;
    size_t points, *at;
    double *in[RUNG_MECH_INPUT_MAX];
    drift_walk reference, *walk; /* in f64; the parts */
    size_t walks;
    proof proof;
    size_t pos, count;
    double off[RUNG_DRIFT_PARTS][RUNG_DRIFT_WINDOW], size[RUNG_DRIFT_WINDOW]; /* squares of outputs, by token */
} race;

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

static double grow(double bound, double contraction, double added)
{
    double next = (contraction * bound + added) * (1 + 0x1p-50);
    return isnan(next) ? INFINITY : next;
}

/* Row of token t of the chunk. */
static void rows_at(const double *rows[RUNG_MECH_INPUT_MAX], const race *r, size_t t)
{
    const rung_mech_input *input = r->conf->mech->inputs;
    for (size_t i = 0; input[i].name; i++)
        rows[i] =
            rung_mech_is_constant(&input[i]) || !r->in[i] ? r->in[i] : r->in[i] + t * rung_mech_row(&input[i], r->conf);
}

static void count_swallowed(proof *p, const double *stored, const double *step, size_t n, size_t token)
{
    size_t changes = 0, lost = 0;
    for (size_t e = 0; e < n; e++) {
        bool changed = step[e] != p->before[e];
        changes += changed, lost += changed && stored[e] == p->before[e];
    }
    p->changes += changes, p->swallowed += lost;
    if (changes && lost == changes && p->first == SIZE_MAX) p->first = token;
}

/* What a token adds: more where the state is stored after it. */
static double added_by(const rung_drift_step *step, const rung_numbers *numbers, size_t token)
{
    return (token + 1) % numbers->chunk ? step->error : step->stored;
}

static const char *why_no_bound(const char *known, double bound, double added, const char *if_added)
{
    if (known || bound < INFINITY) return known;
    return added < INFINITY ? "a step may stretch what is off, and the bound grows without limit" : if_added;
}

/* The bounds of a head after a token; `step` is where f64 goes from the state before, and is overwritten. */
static void prove_head(race *r, const rung_drift_token *token, size_t h, double *step, size_t position)
{
    proof *p = &r->proof;
    const drift_walk *w = &r->walk[0];
    const size_t part = w->elements / r->conf->heads;
    const double norm = rung_drift_norm(p->before + h * part, part), c = token->contraction;
    const rung_drift_step wide = rung_drift_step_bound(token, r->conf, &p->exact_step.numbers, norm, false);
    const rung_drift_step narrow = rung_drift_step_bound(token, r->conf, &w->numbers, norm, true);
    for (size_t e = 0; e < part; e++) step[e] -= w->state[h * part + e];
    const double defect = rung_drift_norm(step, part) * (1 + 0x1p-40) + wide.stored;
    const double added = added_by(&narrow, &w->numbers, position);
    p->run[h] = grow(p->run[h], c, defect);
    p->theorem[h] = grow(p->theorem[h], c, added);
    p->why_no_run = why_no_bound(p->why_no_run, p->run[h], defect, "the state has left the range of the numbers");
    p->why_no_theorem =
        why_no_bound(p->why_no_theorem, p->theorem[h], added, "numbers may leave the range of their formats");
}

/* One token of walk 0, with its bounds. */
static void prove_token(race *r, size_t t)
{
    proof *p = &r->proof;
    drift_walk *w = &r->walk[0];
    const size_t heads = r->conf->heads, part = w->elements / heads;
    const double *rows[RUNG_MECH_INPUT_MAX];
    rows_at(rows, r, t);
    memcpy(p->before, w->state, w->elements * sizeof *p->before);
    memcpy(p->exact_step.state, w->state, w->elements * sizeof *w->state);
    drift_walk_take(w, (double *const *)rows, r->pos + t, 1);
    drift_walk_take(&p->exact_step, (double *const *)rows, r->pos + t, 1);
    count_swallowed(p, w->state, p->exact_step.state, w->elements, r->pos + t);
    for (size_t h = 0; h < heads && p->applies; h++) {
        rung_drift_token token;
        p->applies = rung_drift_token_of(&token, r->conf, rows, h, p->why_not, sizeof p->why_not);
        if (!p->applies) return;
        prove_head(r, &token, h, p->exact_step.state + h * part, r->pos + t);
    }
}

/* The bound of f64 after one more token. */
static double reference_bound(const race *r, const double *const *rows, size_t h)
{
    const size_t part = r->reference.elements / r->conf->heads;
    const double norm = rung_drift_norm(r->reference.state + h * part, part);
    rung_drift_token token;
    char why[160];
    if (!rung_drift_token_of(&token, r->conf, rows, h, why, sizeof why)) return INFINITY;
    const double added = rung_drift_step_bound(&token, r->conf, &r->reference.numbers, norm, false).stored;
    return grow(r->proof.reference[h], token.contraction, added);
}

/* The state in f64 goes on whether anything is proved about it or not. */
static void take_reference(race *r, size_t t)
{
    const double *rows[RUNG_MECH_INPUT_MAX];
    rows_at(rows, r, t);
    for (size_t h = 0; h < r->conf->heads; h++) r->proof.reference[h] = reference_bound(r, rows, h);
    drift_walk_take(&r->reference, (double *const *)rows, r->pos + t, 1);
}

/* ---- a chunk ----------------------------------------------------------------------------------------------------- */

/* Outputs of walks that go token by token are gathered here. */
static void take_singly(race *r, drift_walk *w, void (*token)(race *, size_t), double *o)
{
    const size_t row = r->conf->heads * r->conf->dv;
    for (size_t t = 0; t < r->count; t++) {
        token(r, t);
        memcpy(o + t * row, w->o, row * sizeof *o);
    }
    memcpy(w->o, o, r->count * row * sizeof *o);
}

typedef struct chunk {
    race *race;
    double *gathered[2];
} chunk;

/* Item 0: the formats asked for; item 1: f64; then the other parts. */
static void take_item(void *context, size_t item, size_t worker)
{
    chunk *c = context;
    race *r = c->race;
    (void)worker;
    if (item == 0)
        take_singly(r, &r->walk[0], prove_token, c->gathered[0]);
    else if (item == 1)
        take_singly(r, &r->reference, take_reference, c->gathered[1]);
    else
        drift_walk_take(&r->walk[item - 1], r->in, r->pos, r->count);
}

static void compare_outputs(race *r)
{
    const size_t row = r->conf->heads * r->conf->dv;
    for (size_t t = 0; t < r->count; t++) {
        const size_t slot = (r->pos + t) % RUNG_DRIFT_WINDOW;
        const double *exact = r->reference.o + t * row;
        r->size[slot] = 0;
        for (size_t i = 0; i < row; i++) r->size[slot] += exact[i] * exact[i];
        for (size_t p = 0; p < r->walks; p++) {
            r->off[p][slot] = 0;
            for (size_t i = 0; i < row; i++) {
                double d = r->walk[p].o[t * row + i] - exact[i];
                r->off[p][slot] += d * d;
            }
        }
    }
}

/* ---- what is reported ---------------------------------------------------------------------------------------------- */

/* INFINITY: a number is infinite or none, or there is nothing to compare with. */
static double ratio(double off, double size)
{
    if (!(off < INFINITY && size < INFINITY)) return INFINITY;
    return size > 0 ? sqrt(off / size) : off > 0 ? INFINITY : 0;
}

static double heads_together(const double *bound, size_t heads)
{
    return rung_drift_norm(bound, heads);
}

static void report_part(rung_drift *d, const race *r, size_t p, size_t point)
{
    double off = 0, size = 0, o_off = 0, o_size = 0;
    for (size_t e = 0; e < r->reference.elements; e++) {
        double x = r->reference.state[e], delta = r->walk[p].state[e] - x;
        off += delta * delta, size += x * x;
    }
    for (size_t i = 0; i < RUNG_DRIFT_WINDOW; i++) o_off += r->off[p][i], o_size += r->size[i];
    d->part[p].state[point] = ratio(off, size);
    d->part[p].output[point] = ratio(o_off, o_size);
}

static void report(rung_drift *d, const race *r, size_t point)
{
    const proof *p = &r->proof;
    const size_t heads = r->conf->heads;
    double size = 0;
    for (size_t e = 0; e < r->reference.elements; e++) size += r->reference.state[e] * r->reference.state[e];
    d->norm[point] = sqrt(size);
    const double least = d->norm[point] * (1 - 0x1p-30); /* below the norm, whatever its roundings */
    for (size_t i = 0; i < r->walks; i++) report_part(d, r, i, point);
    d->lost.share[point] = p->changes ? (double)p->swallowed / (double)p->changes : 0;
    d->lost.first = p->first;
    d->proof.applies = p->applies;
    snprintf(d->proof.why_not, sizeof d->proof.why_not, "%s", p->why_not);
    d->proof.why_no_run = p->why_no_run, d->proof.why_no_theorem = p->why_no_theorem;
    d->proof.reference[point] = p->applies ? heads_together(p->reference, heads) / least : INFINITY;
    d->proof.run[point] = p->applies ? heads_together(p->run, heads) / least : INFINITY;
    d->proof.theorem[point] = p->applies ? heads_together(p->theorem, heads) / least : INFINITY;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static bool has_quantity(const rung_mech_conf *conf, rung_quantity quantity)
{
    for (const rung_mech_input *input = conf->mech->inputs; input->name; input++)
        if (rung_mech_row(input, conf) && input->quantity == quantity) return true;
    return false;
}

static rung_status add_part(rung_drift *d, rung_numbers *numbers, const char *name, const char *text, rung_error *err)
{
    RUNG_TRY(rung_numbers_parse(&numbers[d->parts], text, err));
    rung_drift_part *part = &d->part[d->parts];
    part->name = name;
    snprintf(part->numbers, sizeof part->numbers, "%s", numbers[d->parts].name);
    d->parts++;
    return RUNG_OK;
}

/* After the format of a state: after how many tokens it is stored, and how it is rounded then. */
static void put_when_and_how(char *text, size_t size, const rung_numbers *n)
{
    size_t used = 0;
    *text = '\0';
    if (n->chunk > 1) used = (size_t)snprintf(text, size, ",chunk=%zu", n->chunk);
    if (n->stochastic) snprintf(text + used, size - used, ",round=stochastic,seed=%llu", (unsigned long long)n->seed);
}

/* All formats asked for; one quantity at a time, the rest in f64; acc, which holds the others, for all; and what might
 * be better: a state in acc, and one that is rounded stochastically. */
static rung_status list_parts(rung_drift *d, rung_numbers *numbers, const rung_drift_options *ask, rung_error *err)
{
    static const rung_quantity alone[] = {RUNG_QUANTITY_STATE, RUNG_QUANTITY_GATE, RUNG_QUANTITY_BETA,
                                          RUNG_QUANTITY_ACT};
    const rung_numbers *n = &ask->numbers;
    char text[400];
    RUNG_TRY(add_part(d, numbers, "all", n->name, err));
    for (size_t i = 0; i < RUNG_COUNT(alone); i++) {
        const char *format = n->of[alone[i]].name;
        if (strcmp(format, "f64") == 0) continue;
        if (alone[i] != RUNG_QUANTITY_STATE && alone[i] != RUNG_QUANTITY_ACT && !has_quantity(d->conf, alone[i]))
            continue;
        size_t used = (size_t)snprintf(text, sizeof text, "f64,%s=%s", rung_quantity_names[alone[i]], format);
        if (alone[i] == RUNG_QUANTITY_STATE) put_when_and_how(text + used, sizeof text - used, n);
        RUNG_TRY(add_part(d, numbers, rung_quantity_names[alone[i]], text, err));
    }
    if (!n->acc.is_f64) RUNG_TRY(add_part(d, numbers, "acc", n->acc.name, err));
    if (!n->mixed) return RUNG_OK;
    const char *state = n->of[RUNG_QUANTITY_STATE].name;
    if (strcmp(state, n->acc.name) == 0) return RUNG_OK;
    rung_numbers other = *n;
    other.of[RUNG_QUANTITY_STATE] = n->of[RUNG_QUANTITY_ACC], other.stochastic = false;
    size_t used = 0;
    for (size_t q = 0; q < RUNG_QUANTITY_COUNT; q++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", q ? "," : "", rung_quantity_names[q],
                                 other.of[q].name);
    RUNG_TRY(add_part(d, numbers, "state=acc", text, err));
    if (n->stochastic) return RUNG_OK;
    snprintf(text, sizeof text, "%s,round=stochastic,seed=%llu", n->name, (unsigned long long)ask->seed);
    return add_part(d, numbers, "stochastic", text, err);
}

static rung_status new_race(race *r, rung_drift *d, const rung_numbers *numbers, const drift_stream *s, chunk *c,
                            rung_error *err)
{
    const rung_mech_input *input = d->conf->mech->inputs;
    rung_arena *arena = &d->arena;
    rung_numbers wide;
    *r = (race){.conf = d->conf, .stream = s, .points = d->points, .at = d->at, .walks = d->parts};
    RUNG_TRY(rung_numbers_parse(&wide, "f64", err));
    RUNG_TRY(drift_walk_new(&r->reference, d->conf, &wide, s, CHUNK, arena, err));
    RUNG_TRY(drift_walk_new(&r->proof.exact_step, d->conf, &wide, s, 1, arena, err));
    r->walk = rung_arena_alloc(arena, d->parts, sizeof *r->walk, err);
    for (size_t p = 0; r->walk && p < d->parts; p++)
        RUNG_TRY(drift_walk_new(&r->walk[p], d->conf, &numbers[p], s, CHUNK, arena, err));
    for (size_t i = 0; input[i].name; i++) {
        size_t row = rung_mech_row(&input[i], d->conf);
        if (row == 0) continue;
        r->in[i] = rung_mech_is_constant(&input[i]) ? s->constant[i]
                                                    : rung_arena_alloc(arena, CHUNK * row, sizeof **r->in, err);
        if (!r->in[i]) return RUNG_SYSTEM;
    }
    proof *p = &r->proof;
    p->applies = true, p->first = SIZE_MAX;
    p->reference = rung_arena_alloc(arena, d->conf->heads, sizeof *p->reference, err);
    p->run = rung_arena_alloc(arena, d->conf->heads, sizeof *p->run, err);
    p->theorem = rung_arena_alloc(arena, d->conf->heads, sizeof *p->theorem, err);
    p->before = rung_arena_alloc(arena, r->reference.elements, sizeof *p->before, err);
    for (size_t i = 0; i < 2; i++)
        c->gathered[i] = rung_arena_alloc(arena, CHUNK * d->conf->heads * d->conf->dv, sizeof **c->gathered, err);
    c->race = r;
    bool all = r->walk && p->reference && p->run && p->theorem && p->before && c->gathered[0] && c->gathered[1];
    return all ? RUNG_OK : RUNG_SYSTEM;
}

static void run_race(rung_drift *d, race *r, chunk *c, const rung_drift_options *ask)
{
    size_t point = 0;
    if (ask->progress) rung_progress_start(ask->progress, "tokens", d->at[d->points - 1]);
    while (point < d->points) {
        r->count = d->at[point] - r->pos < CHUNK ? d->at[point] - r->pos : CHUNK;
        drift_stream_fill(r->stream, r->in, r->pos, r->count);
        rung_par_for(1 + r->walks, ask->threads, take_item, c);
        compare_outputs(r);
        r->pos += r->count;
        if (r->pos == d->at[point]) report(d, r, point++);
        if (ask->progress) rung_progress_tick(ask->progress, r->pos);
    }
    if (ask->progress) rung_progress_finish(ask->progress);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

enum { FIRST_POINT = 64 };

static void list_points(rung_drift *d, size_t tokens)
{
    for (size_t n = FIRST_POINT; n < tokens; n *= 2) d->at[d->points++] = n;
    d->at[d->points++] = tokens;
}

static rung_status check(const rung_mech_conf *conf, const rung_drift_options *ask, rung_error *err)
{
    RUNG_TRY(rung_mech_check(conf, err));
    if (conf->mech->keeps != RUNG_KEEPS_HEADS)
        return rung_fail(err, RUNG_USAGE,
                         "%s carries no state that is rounded at every token; drift is for recurrent "
                         "mechanisms such as gdelta, kda, mamba2, delta, rwkv7",
                         conf->mech->name);
    if (!(ask->decay > 0 && ask->decay <= 1))
        return rung_fail(err, RUNG_USAGE, "the decay of a token is above 0 and at most 1, not %g", ask->decay);
    if (ask->tokens < 1 || ask->tokens > (size_t)1 << 24)
        return rung_fail(err, RUNG_USAGE, "tokens: %zu is outside 1 to %d", ask->tokens, 1 << 24);
    return RUNG_OK;
}

static rung_status run_measures(rung_drift *d, const rung_drift_options *ask, rung_error *err)
{
    drift_stream stream;
    race r;
    chunk c;
    RUNG_TRY(drift_stream_new(&stream, d->conf, ask, &d->arena, err));
    list_points(d, stream.tokens < ask->tokens ? stream.tokens : ask->tokens);
    rung_numbers *numbers = rung_arena_alloc(&d->arena, RUNG_DRIFT_PARTS, sizeof *numbers, err);
    if (!numbers) return RUNG_SYSTEM;
    RUNG_TRY(list_parts(d, numbers, ask, err));
    RUNG_TRY(new_race(&r, d, numbers, &stream, &c, err));
    run_race(d, &r, &c, ask);
    return drift_curves(d, numbers, ask, err);
}

rung_status rung_drift_run(rung_drift *d, const rung_mech_conf *conf, const rung_drift_options *ask, rung_error *err)
{
    *d = (rung_drift){.conf = conf, .inputs = ask->inputs, .decay = ask->decay, .seed = ask->seed};
    rung_arena_init(&d->arena);
    snprintf(d->numbers, sizeof d->numbers, "%s", ask->numbers.name);
    RUNG_TRY(check(conf, ask, err));
    return run_measures(d, ask, err);
}

void rung_drift_clear(rung_drift *d)
{
    rung_arena_clear(&d->arena);
}
