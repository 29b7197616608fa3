/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Models of the theorems' kind with nothing in them but the flow of data: every update is a hash. R: a state of a few letters
 * that passes from token to token; F: for every token an accumulator of a few letters that is summed from left to right. What a
 * token computes is a hash of all that it has seen, 64 bits, as good as unbounded. If a proof says that a value does not
 * depend on something, it must not in any such model; and where it does, a hash shows it.
 */
#ifndef RUNG_TESTS_DATAFLOW_H
#define RUNG_TESTS_DATAFLOW_H

#include <stdio.h>

#include "testing.h"

enum { FLOW_LAYERS = 6, FLOW_TOKENS = 16, FLOW_LETTERS = 2 };

typedef struct flow_model {
    const char *layers; /* "RFR" */
    uint64_t seed;
    bool backwards; /* F adds from right to left: the theorems do not hold */
} flow_model;

/* All that happens on one prompt. Cuts are numbered by the tokens before them. */
typedef struct flow {
    uint64_t value[FLOW_LAYERS + 1][FLOW_TOKENS];           /* after so many layers */
    uint8_t state[FLOW_LAYERS][FLOW_TOKENS + 1];            /* R: at a cut */
    uint8_t acc[FLOW_LAYERS][FLOW_TOKENS][FLOW_TOKENS + 1]; /* F: of a token, at a cut before it */
} flow;

static inline uint64_t stir(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static inline void flow_recurrent(flow *f, int layer, uint64_t seed, int n)
{
    f->state[layer][0] = 0;
    for (int t = 0; t < n; t++) {
        uint64_t seen = stir(stir(stir(seed, (uint64_t)t), f->state[layer][t]), f->value[layer][t]);
        f->state[layer][t + 1] = (uint8_t)(seen >> 40) % FLOW_LETTERS;
        f->value[layer + 1][t] = stir(stir(seen, 1), f->state[layer][t + 1]);
    }
}

/* Backwards, the accumulator at a cut is what has been added on the way to it. */
static inline void flow_full(flow *f, int layer, uint64_t seed, int n, bool backwards)
{
    for (int t = 0; t < n; t++) {
        uint64_t own = stir(stir(seed, (uint64_t)t), f->value[layer][t]);
        uint8_t *acc = f->acc[layer][t], sum = 0;
        for (int i = 0; i <= t; i++) {
            int j = backwards ? t - i : i;
            acc[backwards ? j + 1 : j] = sum;
            sum = (uint8_t)(stir(stir(stir(own, (uint64_t)j), f->value[layer][j]), sum) >> 40) % FLOW_LETTERS;
        }
        if (!backwards) acc[t + 1] = sum;
        f->value[layer + 1][t] = stir(stir(own, 2), sum);
    }
}

/* H: both, side by side on the same input. */
static inline void flow_both(flow *f, int layer, uint64_t seed, int n, bool backwards)
{
    uint64_t recurrent[FLOW_TOKENS];
    flow_recurrent(f, layer, stir(seed, 7), n);
    memcpy(recurrent, f->value[layer + 1], sizeof recurrent);
    flow_full(f, layer, seed, n, backwards);
    for (int t = 0; t < n; t++) f->value[layer + 1][t] = stir(f->value[layer + 1][t], recurrent[t]);
}

static inline void flow_layers(flow *f, const flow_model *m, int n)
{
    assert_true(n <= FLOW_TOKENS && strlen(m->layers) <= FLOW_LAYERS);
    for (int layer = 0; m->layers[layer]; layer++) {
        uint64_t seed = stir(m->seed, UINT64_C(1000) + (uint64_t)layer);
        if (m->layers[layer] == 'R')
            flow_recurrent(f, layer, seed, n);
        else if (m->layers[layer] == 'H')
            flow_both(f, layer, seed, n, m->backwards);
        else
            flow_full(f, layer, seed, n, m->backwards);
    }
}

static inline void flow_run(flow *f, const flow_model *m, const int *token, int n)
{
    for (int t = 0; t < n; t++) f->value[0][t] = stir(stir(m->seed, (uint64_t)t), (uint64_t)token[t]);
    flow_layers(f, m, n);
}

/* Then so many thoughts: each is a token whose input is all that the last token has computed. Layers are causal, so running them
 * again over more tokens leaves the others as they were. */
static inline void flow_think(flow *f, const flow_model *m, int n, int thoughts)
{
    for (; thoughts > 0; thoughts--, n++) {
        f->value[0][n] = stir(stir(m->seed, UINT64_C(777) + (uint64_t)n), f->value[strlen(m->layers)][n - 1]);
        flow_layers(f, m, n + 1);
    }
}

/* The states of layers from .. to-1 at a cut, as one number. */
static inline int states_at(const flow *f, const flow_model *m, int from, int to, int cut)
{
    int all = 0;
    for (int layer = from; layer < to; layer++)
        if (m->layers[layer] != 'F') all = all * FLOW_LETTERS + f->state[layer][cut];
    return all;
}

static inline int power(int base, int exponent)
{
    int p = 1;
    while (exponent-- > 0) p *= base;
    return p;
}

/* A table of `entries` entries with so many values each, as tokens; returns the number of the token after it. */
static inline int put_table(int *token, int at, int table, int entries, int values)
{
    for (int i = 0; i < entries; i++, table /= values) token[at++] = table % values;
    return at;
}

/* ---- claims ------------------------------------------------------------------------------------------------------------ */

/* A check goes on after a claim has failed, so that a wrong proof can be seen to fail. */
typedef struct claims {
    unsigned without; /* bits: what the proof under test leaves out */
    long compared, failed;
    const char *first; /* what failed first */
} claims;

static inline void claim(claims *c, bool holds, const char *what)
{
    c->compared++;
    if (holds) return;
    if (!c->failed++) c->first = what;
}

static inline bool keeps(const claims *c, int part)
{
    return !(c->without >> part & 1);
}

/* The letter that most of `count` items have. */
static inline int most_frequent(const int *letter, int count)
{
    int best = letter[0], best_times = 0;
    for (int i = 0; i < count; i++) {
        int times = 0;
        for (int k = 0; k < count; k++) times += letter[k] == letter[i];
        if (times > best_times) best = letter[i], best_times = times;
    }
    return best;
}

enum { KEYS = 1 << 21 };

/* A number made of letters; those of a part that the proof leaves out are not in it. */
typedef struct listing {
    const claims *c;
    int key, room;
} listing;

static inline void list(listing *l, int part, int letter, int letters)
{
    if (!keeps(l->c, part)) return;
    l->key = l->key * letters + letter, l->room *= letters;
    assert_true(l->room <= KEYS);
}

/* Answers of equal listings agree: remembers the first answer of each. */
typedef struct answers {
    uint64_t value[KEYS];
    unsigned known[KEYS], now; /* an answer is known if it was given in this round */
} answers;

static inline void claim_answer(claims *c, answers *a, int key, uint64_t value, const char *what)
{
    if (a->known[key] == a->now)
        claim(c, a->value[key] == value, what);
    else
        a->known[key] = a->now, a->value[key] = value;
}

#endif
