/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Look a value up: one full layer, one head. The key of an entry is its address, which comes from its position or from
 * the token itself; the query is the wanted address; the value is what is asked for. Solves eva, index, retrieval,
 * palindrome and percom, which a recurrent layer of small state cannot do. In palindrome the position of a question says
 * which address it wants.
 *
 * The head's output is the wanted value plus at most leak/(1+leak) of its range. Bits are rounded at 1/2, so leak < 1
 * is enough; one number among V needs leak (V-1) < 1/2. The query token itself has no address (a zero key, or for the
 * quadratic form the position after the last): it is one more wrong key, at least one gap below.
 *
 * retrieval distinct=0: a wrong address may occur up to N-1 times, so the N wrong keys weigh at most N e^-gap together.
 *
 * percom: every token of tau is a query, and sees sigma, the tokens of tau before it and itself. These have the value 0
 * and no address. The leak counts N of them.
 */
#include "address.h"
#include "build_rows.h"

#include <math.h>
#include <string.h>

enum { VALUES_BITS, VALUES_SCALAR };

static const char *const lookup_tasks[] = {"eva", "index", "retrieval", "palindrome", NULL};
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
    size_t queries;   /* tokens that ask, after the table */
    bool backwards;   /* every entry is asked for, the last one first, by tokens that are all the same */
    bool repeats;     /* an address that is not wanted may occur more than once */
} table_task;

static table_task describe(const rung_build *b)
{
    const rung_task_conf *t = &b->task;
    const char *name = t->task->name;
    size_t entries = (size_t)rung_task_param(t, "N"), values = t->answers;
    table_task by_position = {.entries = entries, .addresses = entries, .values = values, .queries = 1};
    table_task by_token = {.entries = entries, .addresses = values, .values = values, .by_token = true, .queries = 1};
    bool palindrome = strcmp(name, "palindrome") == 0;
    if (strcmp(name, "retrieval") == 0) {
        by_token.repeats = rung_task_param(t, "distinct") == 0;
        return by_token;
    }
    if (strcmp(name, "eva") == 0 && rung_task_value(t, "form")->number == 1) {
        by_token.addresses = (size_t)rung_task_param(t, "K");
        return by_token;
    }
    by_position.backwards = palindrome;
    if (palindrome || strcmp(name, "percom") == 0) by_position.queries = entries;
    return by_position;
}

/* percom with quadratic keys: the tokens that ask stand at one number, twice as far as the last address. */
static bool asks_from_afar(const table_task *t, address_kind kind)
{
    return kind == ADDRESS_QUADRATIC && t->queries > 1 && !t->backwards;
}

static address address_of(const table_task *t, address_kind kind, double gap)
{
    address a = address_init(kind, t->addresses, gap);
    a.idle = t->queries > 1 ? t->queries : 0; /* a single one is in the slack of the allowed leak */
    return a;
}

/* Mass of the wrong keys relative to the right one, at most. */
static double leak_of(const table_task *t, address_kind kind, double gap)
{
    address a = address_of(t, kind, gap);
    double beyond = (double)t->entries + 1, leak = t->repeats ? (double)t->entries * exp(-gap) : address_leak(&a);
    return asks_from_afar(t, kind) ? leak + (double)t->queries * exp(-gap * beyond * beyond) : leak;
}

/* The least gap, to a hundredth, with a leak below `bound`. */
static double least_gap(const table_task *t, address_kind kind, double bound)
{
    double gap = 0.01;
    while (gap < 700 && !(leak_of(t, kind, gap) < bound)) gap += 0.01; /* e^-700 is near the smallest double */
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
    if (leak_of(t, kind, *gap) < bound) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE,
                     "gap=%g is too small: the wrong keys together weigh up to %.3g of the right one, but only %.3g is "
                     "allowed; take gap=%.2f or more",
                     *gap, leak_of(t, kind, *gap), bound, least);
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
    for (size_t x = 0; x < t->addresses && !t->backwards; x++)
        address_query(a, &embed, keys * t->values + x, c->query, x);
}

static void write_positions(rung_sheet *s, const table_task *t, const address *a, const coords *c)
{
    sheet_matrix positions = sheet_get(s, "positions");
    for (size_t i = 0; i < t->entries; i++) address_key(a, &positions, i, c->key, i);
    for (size_t j = 0; j < t->queries; j++) {
        size_t at = t->entries + j, number = asks_from_afar(t, a->kind) ? 2 * t->entries : at;
        if (a->kind == ADDRESS_QUADRATIC) address_key(a, &positions, at, c->key, number);
        if (t->backwards) address_query(a, &positions, at, c->query, t->entries - 1 - j);
    }
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
