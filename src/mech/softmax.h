/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Softmax attention of one head in progress, used by full, window, sparse and dsa. The caller passes the keys in order.
 * Only an accumulator (m, den, num) of dv+2 numbers is kept of them. There are three forms: fast, exact (the
 * specification, one key at a time), and exact for up to BLOCK queries at once, with the same bits. A slot holds a key
 * [dk] followed by a value [dv].
 */
#ifndef RUNG_MECH_SOFTMAX_H
#define RUNG_MECH_SOFTMAX_H

#include "mech_rows.h"

#include <string.h>

/* ---- fast -------------------------------------------------------------------------------------------------------- */

enum { SOFTMAX_TILE = 64 }; /* keys that share one rescaling; their scores are on the stack */

typedef struct softmax_f32 {
    const float *q; /* [dk] */
    float *o;       /* [dv]: the numerator, in the end the result */
    float max, sum;
    size_t dk, dv;
} softmax_f32;

static inline void slot_put_f32(float *slot, const float *k, const float *v, const rung_mech_conf *conf)
{
    memcpy(slot, k, conf->dk * sizeof *slot);
    memcpy(slot + conf->dk, v, conf->dv * sizeof *slot);
}

void rung_softmax_begin_f32(softmax_f32 *s, float *o, const float *q, const rung_mech_conf *conf);
/* Adds `count` slots, `stride` elements apart. */
void rung_softmax_add_f32(softmax_f32 *s, const float *slot, size_t count, size_t stride);
/* The same with separate keys and values, each with its own stride. */
void rung_softmax_add_pairs_f32(softmax_f32 *s, const float *k, const float *v, size_t count, size_t k_stride,
                                size_t v_stride);
/* Adds at most SOFTMAX_TILE slots at any addresses. */
void rung_softmax_add_tile_f32(softmax_f32 *s, const float *const *slot, size_t count);
/* The same with known scores. `value` is the first of the values; q is not used. */
void rung_softmax_add_scored_f32(softmax_f32 *s, const float *score, const float *value, size_t count, size_t stride);
/* The result is zero if there was no key. */
void rung_softmax_end_f32(softmax_f32 *s);

/* ---- gradients (softmax_backward.c) ------------------------------------------------------------------------------ */

/* What the backward pass needs to know of a query and all its keys. Initially zeros. */
typedef struct softmax_row {
    float max, sum;     /* m, den */
    float centre, mean; /* c, den D */
} softmax_row;

/* Takes in at most SOFTMAX_TILE more slots. g is the gradient of the query's output. */
void rung_softmax_measure_f32(softmax_row *r, const float *q, const float *g, const float *const *slot, size_t count,
                              const rung_mech_conf *conf);
/* After all slots have been measured the caller passes the same slots again. Adds to their gradients and to the
 * query's. */
void rung_softmax_undo_f32(float *dq, float *const *dslot, const softmax_row *r, const float *q, const float *g,
                           const float *const *slot, size_t count, const rung_mech_conf *conf);

/* ---- exact ------------------------------------------------------------------------------------------------------- */

typedef struct softmax_exact {
    double *o; /* [dv]: num */
    double m, den;
    size_t dv, keys;
} softmax_exact;

static inline void slot_put_exact(double *slot, const double *k, const double *v, const rung_mech_conf *conf)
{
    memcpy(slot, k, conf->dk * sizeof *slot);
    memcpy(slot + conf->dk, v, conf->dv * sizeof *slot);
}

void rung_softmax_begin_exact(softmax_exact *s, double *o, const rung_mech_conf *conf, const rung_fmt *fmt);
void rung_softmax_add_exact(softmax_exact *s, double score, const double *value, const rung_fmt *fmt);
/* Two passes: call raise for every score, then weigh for every score and value. */
void rung_softmax_raise_exact(softmax_exact *s, double score);
void rung_softmax_weigh_exact(softmax_exact *s, double score, const double *value, const rung_fmt *fmt);
void rung_softmax_end_exact(softmax_exact *s, const rung_fmt *fmt);

/* ---- exact, one lane per query ----------------------------------------------------------------------------------- */

/* Rows of BLOCK lanes. */
typedef struct softmax_lanes {
    double *q;   /* [dk][BLOCK] */
    double *num; /* [dv][BLOCK] */
    double *s, *m, *den, *a, *e, *x;
    double *attend; /* scratch of the kernel that computes all keys at once */
} softmax_lanes;

size_t rung_lanes_size(const rung_mech_conf *conf); /* scratch elements */
softmax_lanes rung_lanes_init(double *scratch, const rung_mech_conf *conf);
/* Sets the query of one lane from a contiguous row. The caller then calls rung_lanes_clear. */
void rung_lanes_set_query(softmax_lanes *l, const double *q, size_t lane, const rung_mech_conf *conf);
/* Sets the queries of all lanes, `stride` elements apart, and clears the accumulators. */
void rung_lanes_load(softmax_lanes *l, const double *q, size_t stride, size_t count, const rung_mech_conf *conf,
                     const rung_fmt *fmt);
/* Clears the accumulators; the queries stay. */
void rung_lanes_clear(softmax_lanes *l, const rung_mech_conf *conf, const rung_fmt *fmt);
/* Adds one key and value to lanes [from, to). Their scores stay in l->s. */
void rung_lanes_add(softmax_lanes *l, const double *k, const double *v, size_t from, size_t to,
                    const rung_mech_conf *conf, const rung_fmt *fmt);
/* Two passes, as above, for lanes [from, to). */
void rung_lanes_raise(softmax_lanes *l, const double *k, size_t from, size_t to, const rung_mech_conf *conf,
                      const rung_fmt *fmt);
void rung_lanes_weigh(softmax_lanes *l, const double *k, const double *v, size_t from, size_t to,
                      const rung_mech_conf *conf, const rung_fmt *fmt);
/* Adds one slot per lane to lanes [from, to). */
void rung_lanes_add_each(softmax_lanes *l, const double *const *slot, size_t from, size_t to,
                         const rung_mech_conf *conf, const rung_fmt *fmt);
/* Turns num into the result. Lanes [0, from) had no key and get zeros. */
void rung_lanes_end(softmax_lanes *l, size_t from, size_t count, const rung_mech_conf *conf, const rung_fmt *fmt);
/* Does everything for `count` lanes whose queries are set: from the first key to the results in num, by the softmax of
 * conf, with the fast kernel where possible. Every lane must see a key. */
void rung_lanes_attend(softmax_lanes *l, const rung_attend_run *run, size_t runs, size_t count,
                       const rung_mech_conf *conf, const rung_fmt *fmt);
/* Stores rows [dv][BLOCK] as outputs, `stride` elements apart. */
void rung_lanes_store(double *o, const double *rows, size_t stride, size_t count, const rung_mech_conf *conf);

#endif
