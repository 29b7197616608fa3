/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Full attention with the keys spread over players. For each asking token and each head an accumulator (m, den, num)
 * passes along the earlier players. Each adds its own keys from its first token to its last, exactly as the online
 * softmax does:
 *   m' = max(m, s);  a = e^(m - m');  e = e^(s - m');  den = den a + e;  num = num a + e v,   every operation rounded,
 * and the owner adds its own keys up to the asking token, and divides. Adding partial sums would give other bits:
 * rounded addition is not associative. The owner receives dv+2 numbers per head, whatever the number of keys.
 */
#include "player.h"

#include <math.h>
#include <string.h>

enum { IN_Q, IN_K, IN_V, LANES = 64 };

/* Up to LANES queries of one head. */
typedef struct lanes {
    double *q, *num; /* [dk][LANES], [dv][LANES] */
    double m[LANES], den[LANES], a[LANES], e[LANES], s[LANES];
} lanes;

size_t rung_full_elements(const rung_mech_conf *conf)
{
    return conf->heads * (conf->dv + 2);
}

/* Queries of the asking tokens, [asks][H][dk]. */
static double *own_queries(const player *p, epoch *e)
{
    size_t row = e->conf->heads * e->conf->dk;
    double *q = rung_epoch_numbers(e, p->asks, row);
    for (size_t i = 0; q && i < p->asks; i++) memcpy(q + i * row, p->in[IN_Q] + p->ask[i] * row, row * sizeof *q);
    return q;
}

rung_status rung_full_queries(player *p, rung_letter *out, epoch *e)
{
    const double *q = own_queries(p, e);
    if (!q) return RUNG_SYSTEM;
    out->first = p->asks ? p->start + p->ask[0] : p->start, out->count = p->asks;
    return rung_letter_pack(out, q, p->asks * e->conf->heads * e->conf->dk, e);
}

/* Before the first key the largest score is the least number of the format, and the sums are 0. */
static void start(double *acc, size_t count, const epoch *e)
{
    size_t each = e->conf->dv + 2;
    for (size_t i = 0; i < count * e->conf->heads; i++)
        acc[i * each] = e->fmt->kind == RUNG_FMT_FIXED ? e->fmt->smallest : -INFINITY;
}

/* acc and q belong to the first lane, in this head. */
static void load(lanes *l, const double *acc, const double *q, size_t count, const rung_mech_conf *conf)
{
    for (size_t n = 0; n < count; n++, acc += rung_full_elements(conf), q += conf->heads * conf->dk) {
        l->m[n] = acc[0], l->den[n] = acc[1];
        for (size_t i = 0; i < conf->dv; i++) l->num[i * LANES + n] = acc[2 + i];
        for (size_t i = 0; i < conf->dk; i++) l->q[i * LANES + n] = q[i];
    }
}

static void store(double *acc, const lanes *l, size_t count, const rung_mech_conf *conf)
{
    for (size_t n = 0; n < count; n++, acc += rung_full_elements(conf)) {
        acc[0] = l->m[n], acc[1] = l->den[n];
        for (size_t i = 0; i < conf->dv; i++) acc[2 + i] = l->num[i * LANES + n];
    }
}

/* Lanes [from, count) add one key. */
static void absorb(lanes *l, const double *k, const double *v, size_t from, size_t count, const epoch *e)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    size_t n = count - from;
    memset(l->s + from, 0, n * sizeof *l->s);
    for (size_t i = 0; i < e->conf->dk; i++) num->scale_add(e->fmt, l->s + from, l->q + i * LANES + from, k[i], n);
    num->softmax_step(e->fmt, l->m + from, l->den + from, l->a + from, l->e + from, l->s + from, n);
    for (size_t i = 0; i < e->conf->dv; i++)
        num->fade_add(e->fmt, l->num + i * LANES + from, l->a + from, l->e + from, v[i], n);
}

/* Adds all keys of the player for `count` queries of all heads: acc = [count][H][dv+2], q = [count][H][dk]. `at` lists
 * the tokens of the player that ask, rising; each sees the keys up to itself. NULL: the queries belong to a later
 * player, and see all keys. */
static rung_status absorb_all(const player *p, double *acc, const double *q, const size_t *at, size_t count, epoch *e)
{
    const rung_mech_conf *conf = e->conf;
    lanes *l = rung_arena_alloc(&e->work[e->turn % 2], 1, sizeof *l, e->err);
    if (!l || !(l->q = rung_epoch_numbers(e, conf->dk, LANES)) || !(l->num = rung_epoch_numbers(e, conf->dv, LANES)))
        return RUNG_SYSTEM;
    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < LANES ? count - done : LANES;
        for (size_t h = 0; h < conf->heads; h++) {
            double *accs = acc + (done * conf->heads + h) * (conf->dv + 2);
            load(l, accs, q + (done * conf->heads + h) * conf->dk, n, conf);
            for (size_t t = 0, from = 0; t < p->tokens; t++) {
                while (at && from < n && at[done + from] < t) from++;
                if (from == n) break;
                size_t key = t * rung_mech_kv_heads(conf) + rung_mech_kv_head(conf, h);
                absorb(l, p->in[IN_K] + key * conf->dk, p->in[IN_V] + key * conf->dv, from, n, e);
            }
            store(accs, l, n, conf);
        }
    }
    return RUNG_OK;
}

/* The accumulators of the message, or fresh ones if there is none. */
static double *accumulators(const rung_letter *in, size_t count, epoch *e)
{
    double *acc = rung_epoch_numbers(e, count, rung_full_elements(e->conf));
    if (!acc) return NULL;
    if (in)
        rung_letter_unpack(acc, in, e);
    else
        start(acc, count, e);
    return acc;
}

rung_status rung_full_add(player *p, rung_letter *out, const rung_letter *in, const rung_letter *queries, epoch *e)
{
    size_t count = queries->count;
    double *acc = accumulators(in, count, e), *q = rung_epoch_numbers(e, count, e->conf->heads * e->conf->dk);
    if (!acc || !q) return RUNG_SYSTEM;
    rung_letter_unpack(q, queries, e);
    rung_status status = absorb_all(p, acc, q, NULL, count, e);
    out->first = queries->first, out->count = count;
    RUNG_TRY(status);
    return rung_letter_pack(out, acc, count * rung_full_elements(e->conf), e);
}

rung_status rung_full_end(player *p, const rung_letter *in, epoch *e)
{
    const rung_mech_conf *conf = e->conf;
    double *acc = accumulators(in, p->asks, e), *q = own_queries(p, e);
    if (!acc || !q) return RUNG_SYSTEM;
    rung_status status = absorb_all(p, acc, q, p->ask, p->asks, e);
    for (size_t i = 0; i < p->asks * conf->heads; i++) {
        const double *a = acc + i * (conf->dv + 2);
        double *o = p->o + (p->ask[i / conf->heads] * conf->heads + i % conf->heads) * conf->dv;
        for (size_t j = 0; j < conf->dv; j++) o[j] = rung_num_div(e->fmt, a[2 + j], a[1]);
    }
    return status;
}

void rung_full_cache(double *out, const player *p, const epoch *e)
{
    const rung_mech_conf *conf = e->conf;
    for (size_t i = 0; i < p->tokens * rung_mech_kv_heads(conf); i++, out += conf->dk + conf->dv) {
        memcpy(out, p->in[IN_K] + i * conf->dk, conf->dk * sizeof *out);
        memcpy(out + conf->dk, p->in[IN_V] + i * conf->dv, conf->dv * sizeof *out);
    }
}
