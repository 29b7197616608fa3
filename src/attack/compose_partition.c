/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Sorts the tables z_2 by transcript. The model is run as a protocol, once for every z_0 and w, and all bits that pass
 * from the players of the tables to the tokens z_0 and w (states of recurrent layers, accumulators of the full one) are
 * hashed. After equal messages the last token is the same for every read-out. So a class with two tables is a failure,
 * and the size of the largest class is what the counting arguments bound from below.
 */
#include "compose_attack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rung/par.h"
#include "rung/protocol.h"

enum { PLAYER_Z1 = 1 };

bool rung_composition_init(composition *c, const rung_attacked *attacked, char *why, size_t size)
{
    const rung_task_conf *task = attacked->task;
    memset(c, 0, sizeof *c);
    if (strcmp(task->task->name, "seqcomp") != 0 || rung_task_param(task, "L") != 2 ||
        rung_task_param(task, "order") != 0) {
        snprintf(why, size, "the task is not seqcomp with L=2 and w at the end");
        return false;
    }
    c->attacked = attacked;
    c->tokens = task->tokens;
    c->entries = task->derived[1];
    c->n0 = task->derived[0];
    c->w_count = c->entries / c->n0;
    c->values = task->answers;
    const size_t length[] = {c->entries, c->n0, 1, 1};
    for (size_t i = 0, at = 0; i < RUNG_COUNT(length); at += length[i++])
        c->player[i] = (rung_span){.start = at, .len = length[i]};
    return true;
}

static uint32_t id_at(const composition *c, size_t pos, uint64_t number)
{
    rung_ids ids = c->attacked->task->task->ids(c->attacked->task, pos);
    return (uint32_t)(ids.first + number % ids.count);
}

void rung_composition_prompt(uint32_t *token, const composition *c, uint64_t number, bool counted, size_t z0, size_t w)
{
    rung_rng rng;
    rung_rng_init(&rng, c->budget ? c->budget->seed : 0, 66, number);
    assert(z0 < c->n0 && w < c->w_count && c->tokens == c->entries + c->n0 + 2);
    for (size_t u = 0; u < c->entries; u++) {
        token[u] = id_at(c, u, counted ? number % c->values : rung_rng_below(&rng, c->values));
        number /= c->values;
    }
    for (size_t i = 0; i < c->n0; i++) token[c->entries + i] = id_at(c, c->entries + i, i);
    token[c->tokens - 2] = id_at(c, c->tokens - 2, z0);
    token[c->tokens - 1] = id_at(c, c->tokens - 1, w);
}

uint64_t rung_composition_tables(const composition *c)
{
    uint64_t tables = 1;
    for (size_t u = 0; u < c->entries; u++) {
        if (tables > UINT64_MAX / c->values) return UINT64_MAX;
        tables *= c->values;
    }
    return tables;
}

/* ---- one table --------------------------------------------------------------------------------------------------- */

typedef struct listener {
    uint64_t hash;
    uint64_t state_bits, z0_bits, w_bits; /* over the cut */
} listener;

static rung_status listen(void *context, rung_letter *letter, rung_error *err)
{
    enum { PLAYER_Z0 = 2 };
    listener *l = context;
    (void)err;
    if (letter->what >= RUNG_SENT_COUNTED || letter->from != PLAYER_Z1) return RUNG_OK;
    l->hash = (l->hash ^ rung_hash64(letter->bytes, (size_t)(letter->bits + 7) / 8)) * 0xff51afd7ed558ccdu;
    l->hash ^= l->hash >> 31;
    if (letter->what == RUNG_SENT_STATE)
        l->state_bits += letter->bits;
    else
        *(letter->whose == PLAYER_Z0 ? &l->z0_bits : &l->w_bits) += letter->bits;
    return RUNG_OK;
}

static rung_status play(listener *l, const composition *c, const uint32_t *token, rung_error *err)
{
    const rung_attacked *v = c->attacked;
    size_t last = c->tokens - 1;
    rung_transcript transcript = {0};
    rung_protocol protocol = {.model = v->model,
                              .program = v->program,
                              .numbers = &v->numbers,
                              .token = token,
                              .tokens = c->tokens,
                              .player = c->player,
                              .player_count = RUNG_COUNT(c->player),
                              .at = &last,
                              .at_count = 1,
                              .tap = listen,
                              .context = l};
    rung_status status = rung_protocol_play(&transcript, &protocol, err);
    rung_transcript_clear(&transcript);
    return status;
}

/* Counts the accumulators of w once per w, those of z_0 once per z_0, and the states once. So does the theorem if no
 * layer stands before the full one. */
rung_status rung_composition_digest_bits(composition *c, rung_error *err)
{
    listener l = {0};
    uint32_t *token = rung_calloc(c->tokens, sizeof *token, err);
    if (!token) return RUNG_SYSTEM;
    rung_composition_prompt(token, c, 0, true, 0, 0);
    rung_status status = play(&l, c, token, err);
    c->digest_bits = status == RUNG_OK ? l.state_bits + l.z0_bits * c->n0 + l.w_bits * c->w_count : 0;
    free(token);
    return status;
}

/* Share of the time that is kept for what follows the sorting. */
#define TIME_FOR_OTHERS 0.4

/* ---- all tables -------------------------------------------------------------------------------------------------- */

typedef struct digest {
    uint64_t hash, number;
} digest;

typedef struct sorting {
    const composition *c;
    bool counted;
    digest *digest;     /* [tables] */
    uint32_t *token;    /* [workers][tokens] */
    rung_status *worst; /* [workers] */
    rung_error *err;    /* [workers] */
    bool *skipped;      /* [workers]: there was no time */
    uint64_t *stopped;  /* [workers]: tables with a NaN, whose messages have no bits */
} sorting;

static void digest_table(void *context, size_t number, size_t worker)
{
    sorting *s = context;
    const composition *c = s->c;
    uint32_t *token = s->token + worker * c->tokens;
    listener l = {.hash = 1};
    rung_status status = s->worst[worker];
    if (rung_budget_left(c->budget, c->began) <= c->budget->seconds * TIME_FOR_OTHERS) s->skipped[worker] = true;
    for (size_t z0 = 0; z0 < c->n0 && !s->skipped[worker]; z0++)
        for (size_t w = 0; w < c->w_count && status == RUNG_OK; w++) {
            rung_composition_prompt(token, c, number, s->counted, z0, w);
            status = play(&l, c, token, &s->err[worker]);
        }
    if (status == RUNG_OK && !s->skipped[worker]) s->digest[number] = (digest){l.hash | 1, number}; /* 0: left out */
    if (status == RUNG_INPUT) s->stopped[worker]++;
    if (status == RUNG_SYSTEM) s->worst[worker] = status;
}

static int by_hash(const void *a, const void *b)
{
    const digest *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void count_classes(partition *out, digest *d, uint64_t tables)
{
    uint64_t run = 0;
    qsort(d, tables, sizeof *d, by_hash);
    for (uint64_t i = 0; i < tables; i++) {
        if (d[i].hash == 0) continue;
        out->tables++;
        bool fresh = i == 0 || d[i].hash != d[i - 1].hash;
        run = fresh ? 1 : run + 1;
        out->classes += fresh;
        if (run > out->largest) {
            out->largest = run;
            out->twin[0] = d[i + 1 - run].number, out->twin[1] = d[i].number;
        }
    }
}

static rung_status outcome(sorting *s, size_t threads, rung_error *err)
{
    for (size_t i = 0; i < threads; i++)
        if (s->worst[i] != RUNG_OK) {
            *err = s->err[i];
            return s->worst[i];
        }
    return RUNG_OK;
}

rung_status rung_composition_partition(partition *out, const composition *c, uint64_t tables, bool counted,
                                       rung_error *err)
{
    size_t threads = c->budget->threads ? c->budget->threads : rung_cpu_threads();
    rung_arena arena;
    rung_arena_init(&arena);
    memset(out, 0, sizeof *out);
    sorting s = {.c = c,
                 .counted = counted,
                 .digest = rung_arena_alloc(&arena, tables, sizeof *s.digest, err),
                 .token = rung_arena_alloc(&arena, threads, c->tokens * sizeof *s.token, err),
                 .worst = rung_arena_alloc(&arena, threads, sizeof *s.worst, err),
                 .err = rung_arena_alloc(&arena, threads, sizeof *s.err, err),
                 .skipped = rung_arena_alloc(&arena, threads, sizeof *s.skipped, err),
                 .stopped = rung_arena_alloc(&arena, threads, sizeof *s.stopped, err)};
    rung_status status = RUNG_SYSTEM;
    if (s.digest && s.token && s.worst && s.err && s.skipped && s.stopped) {
        rung_par_for(tables, threads, digest_table, &s);
        status = outcome(&s, threads, err);
        count_classes(out, s.digest, tables);
        for (size_t i = 0; i < threads; i++) out->stopped += s.stopped[i];
        out->complete = counted && out->tables + out->stopped == rung_composition_tables(c);
    }
    rung_arena_clear(&arena);
    return status;
}
