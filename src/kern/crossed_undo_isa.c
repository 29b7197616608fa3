/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The way back through the decays of a chunk of RWKV-7, compiled once per instruction set. Channels are lanes, which
 * never meet. With y one of the keys b, k of token j and E_ts the product of w_r over s < r <= t, a pair of tokens is
 * the sum over channels of x_t E y_j; what S_0, the state before the chunk, and D, the gradient of the state after it,
 * give to a row is passed in. No quotient of decays occurs: with
 *   c_j^t = E_(t-1)j y_j,   h_j^t = what later reads say about y_j, faded down to token t,
 * the gradient of y_j is h_j^j, that of w_t is the sum over j < t of c_j^t h_j^t, and queries get their weighted c.
 */
#include "chunk_table.h"
#include "kern_lanes.h"

#include <assert.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

enum { SUB = RUNG_SUBCHUNK, C = RUNG_CHUNK, KEYS = 2 };

/* The channels from `at` on. left[t][y][j] is c_j^t of key y. */
typedef struct channels {
    size_t at;
    lanes left[SUB + 1][KEYS][SUB], dw[SUB];
} channels;

INLINE lanes row_at(const float *x, size_t t, size_t row, const channels *c, const rung_crossed_back *p)
{
    return load_part(x + t * row, c->at, p->d);
}

INLINE void add_to_row(float *dx, size_t t, lanes more, const channels *c, const rung_crossed_back *p)
{
    if (dx) store_part(dx + t * p->row, plus(row_at(dx, t, p->row, c, p), more), c->at, p->d);
}

/* E_t0 and E_(t-1)0. */
INLINE lanes since(size_t tokens, const channels *c, const rung_crossed_back *p)
{
    return tokens ? row_at(p->since, tokens - 1, p->d, c, p) : everywhere(1);
}

/* sum + the sum over both keys of the first n tokens of pairs_tj c_j^at. */
INLINE lanes add_weighted(lanes sum, const float *pairs, size_t at, size_t n, const channels *c)
{
    for (size_t y = 0; y < KEYS; y++)
        for (size_t j = 0; j < n; j++) sum = multiply_add(everywhere(pairs[y * SUB + j]), c->left[at][y][j], sum);
    return sum;
}

/* From the first token to the last: the queries, and of w what goes to D. */
INLINE void go_forwards(channels *c, const rung_crossed_back *p)
{
    const float *key[KEYS] = {p->b, p->k}, *to[KEYS] = {p->to_b, p->to_k};
    lanes ended = everywhere(0), through = load_part(p->through, c->at, p->d);
    for (size_t t = 0; t < p->n; t++) {
        const lanes w = row_at(p->w, t, p->row, c, p), before = since(t, c, p), until = row_at(p->until, t, p->d, c, p);
        lanes da = times(before, row_at(p->from_a, t, p->d, c, p));
        add_to_row(p->da, t, add_weighted(da, p->asks + t * C, t, t, c), c, p);
        c->dw[t] = times(until, multiply_add(before, through, ended));
        ended = times(w, ended);
        for (size_t y = 0; y < KEYS; y++) {
            for (size_t j = 0; j < t; j++) c->left[t + 1][y][j] = times(w, c->left[t][y][j]);
            c->left[t + 1][y][t] = row_at(key[y], t, p->row, c, p);
            ended = multiply_add(c->left[t + 1][y][t], row_at(to[y], t, p->d, c, p), ended);
        }
        lanes dr = times(since(t + 1, c, p), row_at(p->from_r, t, p->d, c, p));
        add_to_row(p->dr, t, add_weighted(dr, p->reads + t * C, t + 1, t + 1, c), c, p);
    }
}

/* From the last token to the first: the keys, and of w what comes from S_0 and from the keys. */
INLINE void go_backwards(channels *c, const rung_crossed_back *p)
{
    float *dkey[KEYS] = {p->db, p->dk};
    const float *to[KEYS] = {p->to_b, p->to_k};
    lanes h[KEYS][SUB], w = everywhere(0), a = everywhere(0), started = everywhere(0);
    for (size_t y = 0; y < KEYS; y++)
        for (size_t j = 0; j < p->n; j++) h[y][j] = everywhere(0);
    for (size_t t = p->n; t-- > 0;) {
        const lanes r = row_at(p->r, t, p->row, c, p);
        const float *asks = p->asks + (t + 1 < p->n ? t + 1 : t) * C; /* a is 0 behind the last token */
        started = multiply_add(r, row_at(p->from_r, t, p->d, c, p), times(w, started));
        if (t + 1 < p->n) started = multiply_add(a, row_at(p->from_a, t + 1, p->d, c, p), started);
        lanes dw = multiply_add(since(t, c, p), started, c->dw[t]);
        for (size_t y = 0; y < KEYS; y++) {
            for (size_t j = 0; j <= t; j++) {
                lanes sum = multiply_add(everywhere(asks[y * SUB + j]), a, times(w, h[y][j]));
                h[y][j] = multiply_add(everywhere(p->reads[t * C + y * SUB + j]), r, sum);
            }
            for (size_t j = 0; j < t; j++) dw = multiply_add(c->left[t][y][j], h[y][j], dw);
            lanes until = row_at(p->until, t, p->d, c, p);
            add_to_row(dkey[y], t, multiply_add(until, row_at(to[y], t, p->d, c, p), h[y][t]), c, p);
        }
        add_to_row(p->dw, t, dw, c, p);
        w = row_at(p->w, t, p->row, c, p), a = row_at(p->a, t, p->row, c, p);
    }
}

void ISA(rung_undo_crossed)(const rung_crossed_back *whole)
{
    const rung_crossed_back p = *whole;
    channels c;
    assert(p.n > 0 && p.n <= SUB);
    for (c.at = 0; c.at < p.d; c.at += LANES) {
        go_forwards(&c, &p);
        go_backwards(&c, &p);
    }
}
