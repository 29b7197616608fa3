/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Worst case of a look-up by position (eva, index, percom): for every query, the extremes of every coordinate of the heads over
 * all tables, then the table of the MLP and the read-out. If the table of the MLP makes everything exact again, it
 * decides coordinate by coordinate, so that V tokens need not be multiplied by N queries; otherwise token by token.
 */
#include "worst_case_lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest number of steps of one lane in extremal runs, and of interval operations token by token: about a minute. */
#define RUN_STEPS_MAX    4e10
#define TOKEN_CHECKS_MAX 1e9

enum { BATCH = 8 }; /* blocks per worker between two checks for progress and interruption */

typedef struct lookup_job {
    const lookup *l;
    lookup_worker *worker;
    lookup_fault *fault; /* [blocks] of this batch */
    size_t first, end;   /* queries of this batch */
} lookup_job;

/* ---- what the weights must satisfy ------------------------------------------------------------------------------- */

static bool structure_known(wc_run *run, const wc_group *g)
{
    const wc_weights *w = run->w;
    for (size_t h = 0; h < w->heads; h++) {
        if (!wc_ignores_token(w, &w->k, h * w->dk, w->dk, g)) {
            wc_unknown(run, "head %zu: the keys of table positions depend on the token", h);
            return false;
        }
        if (!wc_ignores_position(w, &w->v, h * w->dv, w->dv, g)) {
            wc_unknown(run, "head %zu: the values of table positions depend on the position", h);
            return false;
        }
    }
    return true;
}

/* Several tokens that ask: the place among them makes no difference to what one asks and to what the others read of
 * it. */
static bool queries_alike(wc_run *run, size_t entries, size_t queries, size_t values)
{
    const wc_weights *w = run->w;
    wc_group g = {values, entries, entries, queries};
    const double *first = w->positions ? w->positions + entries * w->d : NULL;
    for (size_t n = 1; first && n < queries; n++)
        for (size_t c = 0; c < w->d; c++)
            if (first[n * w->d + c] != first[c]) {
                wc_unknown(run, "the positions of the tokens that ask are not all the same vector");
                return false;
            }
    if (wc_ignores_token(w, &w->k, 0, w->heads * w->dk, &g) && wc_ignores_token(w, &w->v, 0, w->mixed, &g)) return true;
    wc_unknown(run, "keys or values of the tokens that ask depend on the token");
    return false;
}

/* A step of the tokens that ask is scalar code, and costs about as much as 16 steps of the lanes. */
static bool affordable(wc_run *run, const lookup *l)
{
    double steps = 0, asking = l->queries > 1 ? 16 * (double)l->queries : 0;
    for (size_t h = 0; h < l->w->heads; h++)
        steps += (double)l->entries * ((double)l->entries + asking) * (double)l->run_count[h];
    if (steps <= RUN_STEPS_MAX) return true;
    wc_unknown(run,
               "%.2g steps of extremal runs are too many (the limit is %.0e): N^2 times two per value of a coordinate",
               steps, RUN_STEPS_MAX);
    return false;
}

static double token_checks(const lookup *l)
{
    double each = (double)(l->w->readout.start[l->w->readout.rows] + l->w->readout.rows + l->w->d);
    return (double)l->entries * (double)l->values * each;
}

/* ---- one query --------------------------------------------------------------------------------------------------- */

/* The outputs of all heads if the wanted token is v. */
static void outputs_of(wc_span *y, const lookup *l, const wc_span *spans, size_t v)
{
    for (size_t i = 0; i < l->w->mixed; i++) y[i] = spans[l->offset[i] + l->place[i * l->values + v]];
}

/* The outputs over all wanted tokens; finite if all of them are. */
static bool outputs_range(wc_span *y, const lookup *l, const wc_span *spans)
{
    for (size_t i = 0; i < l->w->mixed; i++) {
        y[i] = spans[l->offset[i]];
        for (size_t n = l->offset[i]; n < l->offset[i + 1]; n++) {
            if (!wc_finite(spans[n])) return false;
            y[i] = wc_hull(y[i], spans[n]);
        }
    }
    return true;
}

static bool coordinates_finite(const wc_weights *w, const double *x, const wc_span *y)
{
    for (size_t c = 0; c < w->d; c++)
        if (!wc_finite(wc_coordinate(w, c, wc_point(x[c]), y))) return false;
    return true;
}

/* Every class of every key coordinate rounds to one integer, the same as for the first query. */
static wc_outcome decide_classes(const lookup *l, lookup_worker *wk, const double *x, const wc_span *spans,
                                 lookup_fault *fault)
{
    for (size_t k = 0; k < l->w->table.key_count; k++) {
        const key_class *c = &l->keys[k];
        size_t row = l->w->table.key_coord[k];
        for (size_t n = 0; n < c->count; n++) {
            int64_t integer;
            fault->key = k, fault->token = c->example[n];
            outputs_of(wk->all, l, spans, c->example[n]);
            if (!wc_one_integer(&integer, &fault->margin, wc_coordinate(l->w, row, wc_point(x[row]), wk->all)))
                return WC_SPLIT;
            if (!l->settled)
                c->integer[n] = integer;
            else if (c->integer[n] != integer)
                return WC_VARIES;
        }
    }
    return WC_RIGHT;
}

static wc_outcome decide_tokens(const lookup *l, lookup_worker *wk, const double *x, const wc_span *spans,
                                lookup_fault *fault)
{
    for (size_t v = 0; v < l->values; v++) {
        outputs_of(wk->all, l, spans, v);
        wc_outcome outcome = wc_decide(l->w, x, wk->all, v, &fault->margin, wk->scratch);
        fault->token = v;
        if (outcome != WC_RIGHT) return outcome;
    }
    return WC_RIGHT;
}

static wc_outcome decide_query(const lookup *l, lookup_worker *wk, size_t lane, lookup_fault *fault)
{
    const double *x = wk->x + lane * l->w->d;
    const wc_span *spans = wk->y + lane * l->offset[l->w->mixed];
    fault->key = SIZE_MAX, fault->token = 0;
    if (!outputs_range(wk->all, l, spans)) return WC_NOT_FINITE;
    if (!coordinates_finite(l->w, x, wk->all)) return WC_NOT_FINITE;
    return (l->by_class ? decide_classes : decide_tokens)(l, wk, x, spans, fault);
}

static void decide_block(void *context, size_t block, size_t worker)
{
    lookup_job *job = context;
    lookup_worker *wk = &job->worker[worker];
    lookup_fault *fault = &job->fault[block];
    size_t first = job->first + block * WC_LANES;
    size_t count = job->end - first < WC_LANES ? job->end - first : WC_LANES;
    *fault = (lookup_fault){.outcome = WC_NOT_FINITE, .query = first, .key = SIZE_MAX, .margin = INFINITY};
    if (!wc_lookup_extremes(job->l, wk, first, count)) return;
    for (size_t n = 0; n < count; n++) {
        fault->query = first + n;
        fault->outcome = decide_query(job->l, wk, n, fault);
        if (fault->outcome != WC_RIGHT) return;
    }
}

/* ---- all queries ------------------------------------------------------------------------------------------------- */

bool wc_lookup_worker(lookup_worker *wk, lookup *l, rung_error *err)
{
    const wc_weights *w = l->w;
    size_t runs = 1, spans = SIZE_MAX;
    for (size_t h = 0; h < w->heads; h++) runs = l->run_count[h] > runs ? l->run_count[h] : runs;
    rung_size_mul(&spans, l->offset[w->mixed], WC_LANES);
    wk->x = rung_arena_alloc(&l->arena, WC_LANES * w->d, sizeof *wk->x, err);
    wk->q = rung_arena_alloc(&l->arena, WC_LANES * w->dk, sizeof *wk->q, err);
    wk->s = rung_arena_alloc(&l->arena, 5 * WC_LANES, sizeof *wk->s, err);
    wk->num = rung_arena_alloc(&l->arena, runs * WC_LANES, sizeof *wk->num, err);
    wk->sums_each = runs;
    wk->sums = rung_arena_alloc(&l->arena, w->dv * runs, sizeof *wk->sums, err);
    wk->prefix = rung_arena_alloc(&l->arena, WC_PREFIXES_MAX * WC_LANES, sizeof *wk->prefix, err);
    wk->y = rung_arena_alloc(&l->arena, spans, sizeof *wk->y, err);
    wk->all = rung_arena_alloc(&l->arena, w->mixed, sizeof *wk->all, err);
    wk->scratch = rung_arena_alloc(&l->arena, w->mixed + 2 * w->d, sizeof *wk->scratch, err);
    if (!wk->x || !wk->q || !wk->s || !wk->num || !wk->sums) return false;
    if (!wk->prefix || !wk->y || !wk->all || !wk->scratch) return false;
    wk->m = wk->s + WC_LANES, wk->den = wk->m + WC_LANES, wk->a = wk->den + WC_LANES, wk->e = wk->a + WC_LANES;
    return true;
}

/* Decides queries in batches, so that one thread can report progress and stop between them. The first block runs alone:
 * the others are compared with its integers. */
static rung_status decide_all(lookup *l, lookup_job *job, size_t threads, lookup_fault *fault)
{
    l->settled = false;
    *fault = (lookup_fault){.outcome = WC_RIGHT, .margin = INFINITY};
    for (size_t first = 0; first < l->entries && fault->outcome == WC_RIGHT;) {
        size_t blocks = first ? threads * BATCH : 1;
        if ((l->entries - first + WC_LANES - 1) / WC_LANES < blocks)
            blocks = (l->entries - first + WC_LANES - 1) / WC_LANES;
        job->first = first, job->end = first + blocks * WC_LANES;
        if (job->end > l->entries) job->end = l->entries;
        if (first == 0) job->end = 1, blocks = 1;
        rung_par_for(blocks, threads, decide_block, job);
        for (size_t b = 0; b < blocks && fault->outcome == WC_RIGHT; b++) {
            double margin = fmin(fault->margin, job->fault[b].margin);
            *fault = job->fault[b], fault->margin = margin;
        }
        l->settled = true;
        first = job->end;
        wc_progress(l->run, first);
        if (wc_interrupted(l->run) && first < l->entries) {
            l->run->result->complete = false;
            return wc_unknown(l->run, "interrupted after %zu of %zu queries", first, l->entries);
        }
    }
    return RUNG_OK;
}

/* ---- a prompt that goes wrong ------------------------------------------------------------------------------------ */

/* sigma is the identity but for two entries that are swapped, so that query asks for token; tau goes up, then down. The
 * extremal tables of the proof are no permutations, so these prompts need not be the worst ones. */
static rung_status try_permutations(wc_run *run, const lookup *l, bool *wrong, size_t query, size_t token)
{
    uint32_t *prompt = run->instance.token;
    rung_status status = RUNG_OK;
    *wrong = false;
    for (size_t down = 0; down < 2 && status == RUNG_OK && !*wrong && wc_may_try(run); down++) {
        for (size_t j = 0; j < l->entries; j++) {
            prompt[j] = (uint32_t)j;
            prompt[l->entries + j] = (uint32_t)(l->entries + (down ? l->entries - 1 - j : j));
        }
        prompt[query] = (uint32_t)token, prompt[token] = (uint32_t)query;
        status = wc_try_prompt(run, wrong);
    }
    return status;
}

static rung_status try_table(wc_run *run, const lookup *l, bool *wrong, size_t query, size_t token, size_t other)
{
    *wrong = false;
    if (!wc_may_try(run)) return RUNG_OK;
    uint32_t *prompt = run->instance.token;
    for (size_t j = 0; j < l->entries; j++) prompt[j] = (uint32_t)other;
    prompt[query] = (uint32_t)token;
    prompt[l->entries] = (uint32_t)(l->values + query);
    return wc_try_prompt(run, wrong);
}

/* The token that, at all other positions, moves coordinate c furthest down (up). */
static size_t furthest(const lookup *l, size_t c, bool up)
{
    const wc_linear *out = &l->w->out;
    size_t best = 0;
    double most = -INFINITY;
    for (size_t v = 0; v < l->values; v++) {
        double sum = 0;
        for (size_t n = out->start[c]; n < out->start[c + 1]; n++)
            sum += out->w[n] * l->value[v * l->w->mixed + out->col[n]];
        if ((up ? sum : -sum) > most) most = up ? sum : -sum, best = v;
    }
    return best;
}

/* Tries both extremes of the undecided coordinate, then of every coordinate that matters, then every other token
 * everywhere. */
static rung_status refute(wc_run *run, const lookup *l, const lookup_fault *f, bool *wrong)
{
    const wc_weights *w = l->w;
    rung_status status = RUNG_OK;
    *wrong = false;
    if (l->queries > 1) return try_permutations(run, l, wrong, f->query, f->token);
    for (size_t side = 0; f->key != SIZE_MAX && side < 2 && status == RUNG_OK && !*wrong; side++)
        status = try_table(run, l, wrong, f->query, f->token, furthest(l, w->table.key_coord[f->key], side));
    for (size_t c = 0; c < w->d && status == RUNG_OK && !*wrong && wc_may_try(run); c++) {
        if (w->out.start[c] == w->out.start[c + 1]) continue;
        for (size_t side = 0; side < 2 && status == RUNG_OK && !*wrong; side++)
            status = try_table(run, l, wrong, f->query, f->token, furthest(l, c, side));
    }
    for (size_t v = 0; v < l->values && status == RUNG_OK && !*wrong && wc_may_try(run); v++)
        status = try_table(run, l, wrong, f->query, f->token, v);
    return status;
}

/* Tries the same token everywhere: what the tokens before the last one read is then extremal. */
static rung_status refute_others(wc_run *run, const lookup *l, bool *wrong)
{
    const wc_weights *w = l->w;
    rung_status status = RUNG_OK;
    *wrong = false;
    if (l->queries > 1) return try_permutations(run, l, wrong, 0, 0);
    for (size_t c = 0; c < w->d && status == RUNG_OK && !*wrong && wc_may_try(run); c++) {
        if (w->out.start[c] == w->out.start[c + 1]) continue;
        for (size_t side = 0; side < 2 && status == RUNG_OK && !*wrong; side++) {
            size_t token = furthest(l, c, side);
            status = try_table(run, l, wrong, 0, token, token);
        }
    }
    return status;
}

/* ---- behind the table -------------------------------------------------------------------------------------------- */

/* All queries agree on the key of a token: looks it up, and reads the answer. */
static rung_status read_answers(lookup *l, lookup_fault *fault, bool *too_many)
{
    const wc_table *t = &l->w->table;
    size_t *row = rung_calloc(l->values, sizeof *row, l->run->err), state = 0;
    rung_status status = row ? RUNG_OK : RUNG_SYSTEM;
    wc_reading reading = WC_READ_RIGHT;
    for (size_t v = 0; status == RUNG_OK && v < l->values && fault->outcome == WC_RIGHT; v++) {
        int64_t key[16];
        for (size_t k = 0; k < t->key_count; k++) key[k] = l->keys[k].integer[l->keys[k].of[v]];
        row[v] = wc_table_find(t, key);
        if (row[v] == SIZE_MAX) *fault = (lookup_fault){WC_NO_KEY, 0, SIZE_MAX, v, fault->margin};
    }
    if (status == RUNG_OK && fault->outcome == WC_RIGHT)
        status = wc_read_all(&reading, &state, l->w, row, l->values, l->run->err);
    if (reading == WC_READ_WRONG) *fault = (lookup_fault){WC_CLOSE, 0, SIZE_MAX, state, fault->margin};
    *too_many = reading == WC_READ_TOO_MANY;
    free(row);
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool others_safe(char *reason, size_t size, lookup *l, lookup_worker *wk, const wc_group *g)
{
    const wc_weights *w = l->w;
    bool one_query =
        wc_ignores_token(w, &w->q, 0, w->heads * w->dk, g) && wc_ignores_position(w, &w->q, 0, w->heads * w->dk, g);
    if (one_query) wc_lookup_prefixes(wk->all, l, wk);
    for (size_t i = 0; one_query && i < w->mixed; i++) one_query = wc_finite(wk->all[i]);
    return wc_others_safe(reason, size, w, g, 1, l->range, one_query ? wk->all : NULL, wk->scratch, l->entries);
}

static rung_status conclude(lookup *l, const lookup_fault *fault, const char *others)
{
    rung_verify_result *result = l->run->result;
    size_t runs = 0;
    for (size_t s = 0; s < l->set_count; s++) runs += 2 * l->set[s].count;
    result->cases = (uint64_t)l->entries * runs;
    if (others[0]) return wc_unknown(l->run, "%s", others);
    result->verdict = RUNG_CAN;
    result->margin = fault->margin;
    if (l->queries > 1) {
        snprintf(result->reason, sizeof result->reason,
                 "all permutations of %zu numbers in %s, as tables of any values: keys depend on the position alone, "
                 "values on the token alone, and the tokens that ask are alike, so %zu extremal runs per query decide; "
                 "least margin %.4g",
                 l->entries, l->w->fmt.name, runs, fault->margin);
        return RUNG_OK;
    }
    snprintf(
        result->reason, sizeof result->reason,
        "all %zu^%zu tables and %zu queries in %s: keys depend on the position alone and values on the token alone, so "
        "%zu extremal runs per query decide; least margin %.4g",
        l->values, l->entries, l->entries, l->w->fmt.name, runs, fault->margin);
    return RUNG_OK;
}

static rung_status judge_all(lookup *l, lookup_job *job, size_t threads, const char *others)
{
    wc_run *run = l->run;
    lookup_fault fault;
    bool too_many = false, wrong = false;
    rung_status status = decide_all(l, job, threads, &fault);
    if (status != RUNG_OK || !run->result->complete) return status;
    if (l->by_class && fault.outcome == WC_RIGHT) status = read_answers(l, &fault, &too_many);
    if (status == RUNG_OK && fault.outcome != WC_RIGHT) status = refute(run, l, &fault, &wrong);
    if (status != RUNG_OK || wrong) return status;
    if (too_many)
        return wc_unknown(run,
                          "%zu answers are too many to compare pair by pair, and the rows of the read-out are not "
                          "complements of the states behind the table",
                          l->values);
    if (fault.outcome == WC_RIGHT) return conclude(l, &fault, others);
    if (l->by_class && token_checks(l) <= TOKEN_CHECKS_MAX) {
        l->by_class = false;
        return judge_all(l, job, threads, others);
    }
    return wc_unknown(run, "query %zu: %s, but no prompt that was tried is wrong", fault.query,
                      wc_outcome_text(fault.outcome));
}

static rung_status judge(wc_run *run, lookup *l, const wc_group *g)
{
    size_t threads = run->conf->how.threads ? run->conf->how.threads : rung_cpu_threads();
    lookup_worker *worker = rung_arena_alloc(&l->arena, threads, sizeof *worker, run->err);
    lookup_job job = {.l = l, .worker = worker};
    job.fault = rung_arena_alloc(&l->arena, threads * BATCH, sizeof *job.fault, run->err);
    if (!worker || !job.fault) return RUNG_SYSTEM;
    for (size_t t = 0; t < threads; t++)
        if (!wc_lookup_worker(&worker[t], l, run->err)) return RUNG_SYSTEM;
    char others[160] = "";
    bool wrong = false;
    if (!others_safe(others, sizeof others, l, &worker[0], g)) {
        rung_status status = refute_others(run, l, &wrong);
        if (status != RUNG_OK || wrong) return status;
    }
    return judge_all(l, &job, threads, others);
}

rung_status wc_lookup(wc_run *run, bool many)
{
    size_t entries = (size_t)rung_task_param(run->task, "N"), values = run->task->answers;
    lookup l = {.run = run, .queries = many ? entries : 1};
    wc_group table = {0, values, 0, entries};
    if (!structure_known(run, &table)) return RUNG_OK;
    if (many && !queries_alike(run, entries, l.queries, values)) return RUNG_OK;
    rung_arena_init(&l.arena);
    rung_status status = wc_lookup_prepare(&l, run, run->err);
    bool goes_on = status == RUNG_OK && l.set_count;
    if (status == RUNG_OK && !goes_on) wc_unknown(run, "a key or value overflows in %s", run->w->fmt.name);
    goes_on = goes_on && affordable(run, &l);
    if (goes_on && !l.by_class && token_checks(&l) > TOKEN_CHECKS_MAX) {
        status = wc_unknown(run,
                            "the read-out reads coordinates that the table does not assign, and %.2g checks token by "
                            "token are too many",
                            token_checks(&l));
        goes_on = false;
    }
    if (goes_on) status = judge(run, &l, &table);
    rung_arena_clear(&l.arena);
    return status;
}
