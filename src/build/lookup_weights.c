/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Look a value up: one full layer, one head. The key of an entry is its address, which comes from its position or from
 * the token itself; the query is the wanted address; the value is what is asked for. Solves eva, index, retrieval and
 * percom, which a recurrent layer of small state cannot do.
 *
 * The head's output is the wanted value plus at most leak/(1+leak) of its range. Bits are rounded at 1/2, so leak < 1
 * is enough; one number among V needs leak (V-1) < 1/2. The query token itself has no address (a zero key, or for the
 * quadratic form the position after the last): it is one more wrong key, at least one gap below.
 *
 * retrieval distinct=0: a wrong address may occur up to N-1 times, so the N wrong keys weigh at most N e^-gap together.
 *
 * percom: every token of tau is a query and sees sigma, the tokens of tau before it and itself. These have no address
 * and the value 0. There are up to N of them, each `far` below the right key (address_far), so they add N e^-far.
 */
#include "address.h"
#include "build_rows.h"

#include <math.h>
#include <string.h>

enum { VALUES_BITS, VALUES_SCALAR };

static const char *const lookup_tasks[] = {"eva", "index", "retrieval", NULL};
static const char *const value_names[] = {"bits", "scalar", NULL};

static const rung_param params[] = {
    {"task", RUNG_PARAM_CHOICE, 0, 0, 0, lookup_tasks, "the task"},
    {"keys", RUNG_PARAM_CHOICE, ADDRESS_BITS, 0, 0, address_names, "how an address is written"},
    {"values", RUNG_PARAM_CHOICE, VALUES_BITS, 0, 0, value_names, "bits, or one number"},
    {"gap", RUNG_PARAM_REAL, 0, 0, 100000, NULL, "score of the wanted key above the next, 0: enough"},
    {0},
};

/* What the tokens of the task mean. */
typedef struct table_task {
    size_t entries;   /* N */
    size_t addresses; /* positions, or keys that a token can carry */
    size_t values;    /* V */
    bool by_token;    /* the token carries its address */
    bool repeats;     /* an address that is not wanted may occur more than once */
    size_t queries;   /* tokens that ask, after the table */
} table_task;

static table_task describe(const rung_build *b)
{
    const rung_task_conf *t = &b->task;
    const char *name = t->task->name;
    size_t entries = (size_t)rung_task_param(t, "N");
    if (strcmp(name, "percom") == 0) return (table_task){entries, entries, entries, false, false, entries};
    if (strcmp(name, "retrieval") == 0) {
        size_t words = (size_t)1 << rung_task_param(t, "D");
        return (table_task){entries, words, words, true, rung_task_param(t, "distinct") == 0, 1};
    }
    size_t values = (size_t)rung_task_param(t, "V");
    if (strcmp(name, "eva") == 0 && rung_task_value(t, "form")->number == 1)
        return (table_task){entries, (size_t)rung_task_param(t, "K"), values, true, false, 1};
    return (table_task){entries, entries, values, false, false, 1};
}

/* Mass of the wrong keys relative to the right one, at most. One query token is in the 2 % that allowed_leak keeps. */
static double leak_of(const table_task *t, const address *a)
{
    double table = t->repeats ? (double)t->entries * exp(-a->gap) : address_leak(a);
    return t->queries > 1 ? table + (double)t->queries * exp(-address_far(a)) : table;
}

/* The least gap, to a hundredth, with a leak below `bound`. */
static double least_gap(const table_task *t, address_kind kind, double bound)
{
    double gap = 0.01;
    for (; gap < 700; gap += 0.01) { /* e^-700 is near the smallest double */
        address a = address_init(kind, t->addresses, gap);
        if (leak_of(t, &a) < bound) break;
    }
    return gap;
}

/* The largest leak for which it is right, minus a little for the query token's own key. */
static double allowed_leak(const table_task *t, int64_t values)
{
    return values == VALUES_BITS || t->values < 2 ? 0.98 : 0.49 / (double)(t->values - 1);
}

static rung_status choose_gap(double *gap, const rung_build *b, const table_task *t, rung_error *err)
{
    address_kind kind = (address_kind)rung_build_param(b, "keys");
    double bound = allowed_leak(t, rung_build_param(b, "values")), least = least_gap(t, kind, bound);
    *gap = rung_build_value(b, "gap")->real;
    if (*gap == 0) *gap = least + 2; /* a seventh of the allowed leak, which leaves room for rounding */
    address a = address_init(kind, t->addresses, *gap);
    if (leak_of(t, &a) < bound) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE,
                     "gap=%g is too small: the wrong keys together weigh up to %.3g of the right one, but only %.3g is "
                     "allowed; take gap=%.2f or more",
                     *gap, leak_of(t, &a), bound, least);
}

typedef struct coords {
    size_t key, query, value, ones, zeros;
} coords;

static void write_tokens(rung_sheet *s, const table_task *t, const address *a, const coords *c, size_t value_bits)
{
    sheet_matrix embed = sheet_get(s, "embed.weight");
    size_t keys = t->by_token ? t->addresses : 1;
    for (size_t key = 0; key < keys; key++)
        for (size_t v = 0; v < t->values; v++) {
            size_t id = key * t->values + v;
            if (t->by_token) address_key(a, &embed, id, c->key, key);
            if (value_bits)
                sheet_set_bits(&embed, id, c->value, value_bits, v, 0, 1);
            else
                sheet_set(&embed, id, c->value, (double)v);
        }
    for (size_t x = 0; x < t->addresses; x++) address_query(a, &embed, keys * t->values + x, c->query, x);
}

static void write_positions(rung_sheet *s, const table_task *t, const address *a, const coords *c)
{
    sheet_matrix positions = sheet_get(s, "positions");
    for (size_t i = 0; i < t->entries; i++) address_key(a, &positions, i, c->key, i);
    if (a->kind != ADDRESS_QUADRATIC) return;
    size_t beyond = t->queries > 1 ? 2 * t->entries : t->entries; /* many query tokens must be further away than one */
    for (size_t i = 0; i < t->queries; i++) address_key(a, &positions, t->entries + i, c->key, beyond);
}

/* The query tokens get keys of their own, because a zero key would have the quadratic score of address 0. */
static void write_far_query_keys(rung_sheet *s, const table_task *t, const address *a, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight");
    for (size_t x = 0; x < t->addresses; x++)
        address_key(a, &embed, t->addresses * t->values + x, c->key, 2 * t->addresses);
}

static void write_layer(rung_sheet *s, const coords *c, size_t dk, size_t dv)
{
    sheet_matrix q = sheet_get(s, "layers.0.mix.0.q.weight"), k = sheet_get(s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.0.mix.0.v.weight"), out = sheet_get(s, "layers.0.out.weight");
    sheet_set_diagonal(&q, 0, c->query, dk, 1);
    sheet_set_diagonal(&k, 0, c->key, dk, 1);
    sheet_set_diagonal(&v, 0, c->value, dv, 1);
    sheet_set_diagonal(&out, c->ones, 0, dv, 1);
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    table_task t = describe(b);
    double gap;
    RUNG_TRY(choose_gap(&gap, b, &t, err));
    address a = address_init((address_kind)rung_build_param(b, "keys"), t.addresses, gap);
    size_t bits = sheet_bits_for(t.values);
    bool scalar = rung_build_param(b, "values") == VALUES_SCALAR;
    size_t dv = scalar ? 1 : bits;
    coords c;
    c.key = sheet_coords(s, a.dim), c.query = sheet_coords(s, a.dim), c.value = sheet_coords(s, dv);
    c.ones = sheet_coords(s, bits), c.zeros = sheet_coords(s, bits);
    sheet_layers(s, "full:dk=%zu:dv=%zu", a.dim, dv);
    sheet_mlp(s, "table");
    s->spec.positions = t.by_token ? RUNG_POS_NONE : RUNG_POS_LEARNED;
    write_tokens(s, &t, &a, &c, scalar ? 0 : bits);
    if (!t.by_token)
        write_positions(s, &t, &a, &c);
    else if (a.kind == ADDRESS_QUADRATIC)
        write_far_query_keys(s, &t, &a, &c);
    write_layer(s, &c, a.dim, dv);
    if (scalar)
        sheet_snap_number(s, 0, c.ones, t.values, bits, c.ones, c.zeros);
    else
        sheet_snap_bits(s, 0, c.ones, bits, c.ones, c.zeros);
    sheet_readout_numbers(s, c.ones, c.zeros, bits, t.values);
    return RUNG_OK;
}

const rung_construction rung_construction_lookup = {
    .name = "lookup",
    .summary = "one full layer that finds an address and returns its value",
    .source = "Sanford, Hsu, Telgarsky 2023; Bhattamishra et al. 2024; precision: ours",
    .task = "eva",
    .params = params,
    .build = build,
};

const rung_construction rung_construction_percom = {
    .name = "percom",
    .summary = "one full layer, one head: every token of tau looks up sigma",
    .source = "Ye et al. 2026, appendix C; the tokens without address and precision: ours",
    .task = "percom",
    .params = params + 1, /* all but the task */
    .build = build,
};
