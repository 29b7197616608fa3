/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Looks a value up by rotary positions alone. The key of every token is the same vector u = (1, 0) in each pair of
 * coordinates, so at position j it is (cos j t_i, sin j t_i) for the angles t_i. The query for place x, asked at
 * position N, is made as if it stood at x - N: rotated to N it is s (cos x t_i, sin x t_i), and
 *     score(j) = s sum_i cos((j - x) t_i),
 * which is largest at j = x. Values are signs, one coordinate per bit; the read-out row of an answer is its signs. The
 * wrong keys together may have up to half of the total weight.
 *
 * Every embedding has the same coordinate 0 and, for values, the same length, so that RMSNorm divides all of them by
 * the same number. Embeddings are long, so that the epsilon that is added to the mean square before the root is rounded
 * away. docs/contains.md has the proof, and what it assumes of a published block.
 */
#include "rotary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONSTANT = 0, LEAK_STEPS = 200 };
#define LEAK_ALLOWED 0.02

static const double turn = 6.283185307179586477; /* 2 pi */

static double angle(const rotary_lookup *l, size_t pair)
{
    return pow(l->theta, -2.0 * (double)pair / (double)l->rotated);
}

/* ---- choices ----------------------------------------------------------------------------------------------------- */

/* drop[k - 1]: by how much the score is lower k places away, before scaling. */
static void measure_drops(double *drop, const rotary_lookup *l)
{
    memset(drop, 0, l->entries * sizeof *drop);
    for (size_t i = 0; i < l->pairs; i++) {
        double turned = angle(l, i);
        for (size_t k = 1; k <= l->entries; k++) drop[k - 1] += 1 - cos((double)k * turned);
    }
}

/* Largest weight of the wrong keys relative to the right one. */
static double leak(const double *drop, size_t entries, double sharp)
{
    double sum = 0;
    for (size_t k = 0; k < entries; k++) sum += 2 * exp(-sharp * drop[k]);
    return sum;
}

/* Number of angles that turn noticeably within the prompt; slower ones cannot distinguish places. */
static size_t useful_pairs(const rotary_lookup *l)
{
    size_t pairs = 0;
    double longest = fmin(l->wave, 4 * (double)(l->entries + 2));
    while (2 * pairs < l->rotated && turn / angle(l, pairs) < longest) pairs++;
    return pairs;
}

static size_t coordinates(const rotary_lookup *l)
{
    return 1 + 2 * l->bits + 2 * l->pairs;
}

rung_status rotary_choose(rotary_lookup *l, rung_error *err)
{
    l->bits = 1;
    while (((size_t)1 << l->bits) < l->values && l->bits < 32) l->bits++;
    l->pairs = useful_pairs(l);
    if (l->bits > l->head)
        return rung_fail(err, RUNG_USAGE, "%zu bits of a value do not fit into a head of %zu coordinates", l->bits,
                         l->head);
    if (!l->pairs) return rung_fail(err, RUNG_USAGE, "no rotary angle turns within %zu tokens", l->entries);
    if (coordinates(l) > l->hidden)
        return rung_fail(err, RUNG_USAGE, "%zu coordinates are needed, but the stream has %zu", coordinates(l),
                         l->hidden);
    double *drop = rung_calloc(l->entries, sizeof *drop, err);
    if (!drop) return RUNG_SYSTEM;
    measure_drops(drop, l);
    l->sharp = 0.25;
    bool enough = false;
    for (int i = 0; i < LEAK_STEPS && !enough; i++) {
        enough = leak(drop, l->entries, l->sharp) <= LEAK_ALLOWED;
        if (!enough) l->sharp *= 1.05;
    }
    free(drop);
    if (enough) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "the rotary angles do not distinguish %zu places", l->entries);
}

/* ---- places in the stream ---------------------------------------------------------------------------------------- */

static size_t code_place(void)
{
    return CONSTANT + 1;
}

size_t rotary_answer_place(const rotary_lookup *l)
{
    return code_place() + l->bits;
}

static size_t query_place(const rotary_lookup *l)
{
    return rotary_answer_place(l) + l->bits;
}

/* A power of two, large enough that mean squares are at least 2^12: then 1e-5 is less than half a unit in up to 25
 * bits. */
static double length(const rotary_lookup *l)
{
    return exp2(ceil(6 + log2((double)l->hidden) / 2));
}

/* The value of such a coordinate in a value token after RMSNorm. */
static double after_norm(const rotary_lookup *l)
{
    return sqrt((double)l->hidden / (double)(1 + l->bits));
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

typedef struct sheet {
    const rotary_lookup *l;
    rung_tensor tensor[16];
    size_t count;
    rung_arena arena;
    rung_status status;
    rung_error *err;
} sheet;

/* Adds a tensor of zeros. NULL after an error. */
static double *add(sheet *s, const char *name, size_t rows, size_t cols)
{
    size_t elements = 0;
    double *x = NULL;
    if (s->status == RUNG_OK && rung_size_mul(&elements, rows, cols))
        x = rung_arena_alloc(&s->arena, elements, sizeof *x, s->err);
    if (!x) return s->status = RUNG_SYSTEM, NULL;
    rung_tensor *t = &s->tensor[s->count++];
    *t = (rung_tensor){.name = name,
                       .dtype = RUNG_F64,
                       .dtype_name = rung_dtype_name(RUNG_F64),
                       .rank = rows == 1 ? 1 : 2,
                       .shape = {rows == 1 ? cols : rows, cols},
                       .elements = elements,
                       .bytes = (const uint8_t *)x,
                       .size_bytes = elements * sizeof *x};
    return x;
}

static double sign_of(size_t value, size_t bit)
{
    return value >> bit & 1 ? 1 : -1;
}

/* Values are signs. Queries are the vectors of their places, and as long as the signs together. */
static void write_embedding(sheet *s)
{
    const rotary_lookup *l = s->l;
    double *e = add(s, "embed.weight", l->values + l->entries, l->hidden);
    if (!e) return;
    double A = length(l), radius = A * sqrt((double)l->bits / (double)l->pairs);
    for (size_t v = 0; v < l->values; v++) {
        e[v * l->hidden + CONSTANT] = A;
        for (size_t i = 0; i < l->bits; i++) e[v * l->hidden + code_place() + i] = A * sign_of(v, i);
    }
    for (size_t x = 0; x < l->entries; x++) {
        double *row = e + (l->values + x) * l->hidden, back = (double)x - (double)l->entries;
        row[CONSTANT] = A;
        for (size_t i = 0; i < l->pairs; i++) {
            row[query_place(l) + i] = radius * cos(back * angle(l, i));
            row[query_place(l) + l->pairs + i] = radius * sin(back * angle(l, i));
        }
    }
}

/* What is not rotated has the angle 0. */
static void write_rotations(sheet *s)
{
    const rotary_lookup *l = s->l;
    size_t half = l->head / 2, tokens = l->entries + 1;
    double *cosine = add(s, "rotary.cos", tokens, half), *sine = add(s, "rotary.sin", tokens, half);
    for (size_t j = 0; cosine && sine && j < tokens; j++)
        for (size_t i = 0; i < half; i++) {
            double turned = 2 * i < l->rotated ? (double)j * angle(l, i) : 0;
            cosine[j * half + i] = cos(turned), sine[j * half + i] = sin(turned);
        }
}

static void write_layer(sheet *s)
{
    const rotary_lookup *l = s->l;
    size_t d = l->hidden, half = l->head / 2;
    double *norm = add(s, "layers.0.norm1.weight", 1, d), *q = add(s, "layers.0.mix.0.q.weight", l->head, d);
    double *k = add(s, "layers.0.mix.0.k.weight", l->head, d), *v = add(s, "layers.0.mix.0.v.weight", l->head, d);
    double *out = add(s, "layers.0.out.weight", d, l->head), *last = add(s, "final_norm.weight", 1, d);
    if (s->status != RUNG_OK) return;
    for (size_t i = 0; i < d; i++) norm[i] = last[i] = 1;
    double unit = 1 / after_norm(l), queries = l->sharp * unit * sqrt((double)l->pairs / (double)l->bits);
    for (size_t i = 0; i < l->pairs; i++) {
        k[i * d + CONSTANT] = unit;
        q[i * d + query_place(l) + i] = queries;
        q[(half + i) * d + query_place(l) + l->pairs + i] = queries;
    }
    for (size_t i = 0; i < l->bits; i++) {
        v[i * d + code_place() + i] = unit;
        out[(rotary_answer_place(l) + i) * l->head + i] = 1;
    }
}

static void write_readout(sheet *s)
{
    const rotary_lookup *l = s->l;
    double *r = add(s, "readout.weight", l->values, l->hidden);
    for (size_t a = 0; r && a < l->values; a++)
        for (size_t i = 0; i < l->bits; i++) r[a * l->hidden + rotary_answer_place(l) + i] = sign_of(a, i);
}

rung_status rotary_build(rung_model **out, const rotary_lookup *l, const rung_task_conf *task, rung_error *err)
{
    sheet s = {.l = l, .err = err};
    rung_buf text;
    rung_arena_init(&s.arena);
    rung_buf_init(&text);
    if (task) rung_task_canonical(&text, task);
    write_embedding(&s);
    write_rotations(&s);
    write_layer(&s);
    write_readout(&s);
    rung_model_spec spec = {.arch = "full",
                            .task = text.text ? text.text : "",
                            .mlp = "none",
                            .vocab = l->values + l->entries,
                            .answers = l->values,
                            .max_tokens = l->entries + 1,
                            .d_model = l->hidden,
                            .heads = 1,
                            .dk = l->head,
                            .dv = l->head,
                            .positions = RUNG_POS_ROTARY,
                            .norm = RUNG_NORM_RMS,
                            .causal = true};
    if (s.status == RUNG_OK) s.status = rung_buf_ok(&text, err);
    if (s.status == RUNG_OK)
        s.status = rung_model_from_tensors(out, &spec, s.tensor, s.count, "a lookup by rotary positions", err);
    rung_buf_clear(&text);
    rung_arena_clear(&s.arena);
    return s.status;
}
