/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One recurrent layer whose state is just large enough for eva, index and palindrome: the other side of the lower bound
 * of N log2 V bits. Keys are one-hot, so every product is one with 0 or with a key's own number, every sum is a sum of integers,
 * and nothing is ever rounded. The state is N numbers, each a value of the table.
 *
 *   bits=b   a value is cut into parts of b bits, one number each (dv = ceil(bits of V / b)); b=0 leaves it whole
 *   pack=g   g entries share one number as digits base V: entry i has the key V^(i mod g) in direction i/g, and the
 *            additive state adds the digits up. A table reads the digit off the number and the query's own i mod g.
 *
 * Numbers are centred, so that two's complement qI.0 holds V^g of them in ceil(g log2 V) bits: digit j enters as v -
 * a_j with sum a_j V^j = floor(V^g / 2), which is a_j = (V-1)/2 for odd V, and V/2 in the highest digit only for even
 * V. Any subset of the digits then has a sum in the range of all of them, so no order of additions saturates, and a
 * digit that never enters counts as v = a_j. Keys and values are both negative for g > 1, because 2^(g-1) needs one bit
 * more than its negative. So ceil(N/g) ceil(g log2 V) bits are enough (2 bits per number at least: 1 must be a number),
 * which is N log2 V exactly when V^g is a power of two and g divides N. Log-linear attention carries popcount(N) such
 * states.
 *
 * The mechanisms must not forget. Decays: the logarithm -e^A softplus(z) is exactly 0 once e^A is, and e^-1000 is below
 * half of the least number of every format. Mamba-2 multiplies its values by softplus(z), log-linear attention its
 * matrices: z = ln(e-1) makes it 1, and remains exact when rounded, because the slope there is 0.63 and the spacing of
 * numbers below 1 is the same at z and at softplus(z). The gates of the delta rule are sigmoid(64), which rounds to 1.
 */
#include "build_rows.h"
#include "sheet.h"

enum { TASK_EVA, TASK_INDEX, TASK_PALINDROME };
static const char *const task_pairs[] = {"eva", "index", "palindrome", NULL};

/* One row for each mechanism: the parameters that keep its state unchanged. */
typedef struct memory {
    const char *name, *arch;
    const char *one_bias; /* softplus of this bias must be 1 */
    const char *gate;     /* sigmoid of this bias must be 1 */
    const char *open;     /* -softplus(-bias) must be 0 */
    const char *rate;     /* e^A must be 0 */
} memory;

#define MIX "layers.0.mix.0."
static const memory memories[] = {
    {"linear", "linear:phi=identity:norm=0", NULL, NULL, NULL, NULL},
    {"retnet", "retnet", NULL, NULL, NULL, NULL}, /* its rate g = 0 is a weight */
    {"gla", "gla", NULL, NULL, MIX "g.bias", NULL},
    {"mamba2", "mamba2", MIX "g.bias", NULL, NULL, MIX "g.A"},
    {"loglinear", "loglinear:base=linear", MIX "lambda.bias", NULL, NULL, NULL},
    {"delta", "delta", NULL, MIX "beta.bias", NULL, NULL},
    {"gdelta", "gdelta", NULL, MIX "beta.bias", NULL, MIX "g.A"},
    {"kda", "kda", NULL, MIX "beta.bias", NULL, MIX "g.A"},
};
enum { MECH_LOGLINEAR = 4 };
static const char *const mech_names[] = {"linear",    "retnet", "gla",    "mamba2", /* as above */
                                         "loglinear", "delta",  "gdelta", "kda",    NULL};

#define SOFTPLUS_IS_ONE 0.54132485461291806 /* ln(e - 1) */
#define FAR_AWAY        1000                /* e^-1000 < 2^-1442, below the subnormals of an 11-bit exponent */
#define GATE_IS_ONE     64                  /* 1 - sigmoid(64) < 2^-92 */

enum { PARTS_MAX = 16, ROWS_MAX = 1 << 20, KEYS_MAX = 2048 };

static const rung_param params[] = {
    {"task", RUNG_PARAM_CHOICE, TASK_EVA, 0, 0, task_pairs, "the task"},
    {"mech", RUNG_PARAM_CHOICE, 0, 0, 0, mech_names, "the recurrent mechanism"},
    {"bits", RUNG_PARAM_INT, 0, 0, 24, NULL, "bits of a value in one number, 0: all"},
    {"pack", RUNG_PARAM_INT, 1, 1, 24, NULL, "entries in one number"},
    {0},
};

/* How the table of the task is stored in the state. */
typedef struct plan {
    const memory *memory;
    size_t entries, keys, values; /* N, addresses (N or K), V */
    bool by_token;                /* the token carries its key */
    bool backwards;               /* the position of a question says what it asks for, the last entry first */
    size_t tokens;                /* of the prompt */
    size_t pack, dk;              /* entries per number, rows of the state */
    size_t part_bits, parts;      /* bits of a part when a value is cut, else 0; dv */
    size_t base;                  /* values of one part */
    size_t numbers;               /* base^pack, what one number can hold */
    double sign;
} plan;

static size_t power_up_to(size_t base, size_t exponent, size_t limit)
{
    size_t power = 1;
    for (size_t i = 0; i < exponent && power <= limit; i++) power *= base;
    return power;
}

static plan make_plan(const rung_build *b)
{
    const rung_task_conf *t = &b->task;
    plan p = {.memory = &memories[rung_build_param(b, "mech")],
              .entries = (size_t)rung_task_param(t, "N"),
              .values = (size_t)rung_task_param(t, "V"),
              .pack = (size_t)rung_build_param(b, "pack"),
              .part_bits = (size_t)rung_build_param(b, "bits")};
    p.by_token = rung_build_param(b, "task") == TASK_EVA && rung_task_param(t, "form") == 1;
    p.backwards = rung_build_param(b, "task") == TASK_PALINDROME;
    p.tokens = t->tokens;
    p.keys = p.by_token ? (size_t)rung_task_param(t, "K") : p.entries;
    p.dk = (p.keys + p.pack - 1) / p.pack;
    p.parts = p.part_bits ? (sheet_bits_for(p.values) + p.part_bits - 1) / p.part_bits : 1;
    p.base = p.part_bits ? (size_t)1 << p.part_bits : p.values;
    p.numbers = power_up_to(p.base, p.pack, ROWS_MAX);
    p.sign = p.pack > 1 ? -1 : 1;
    return p;
}

static rung_status check_plan(const plan *p, rung_error *err)
{
    size_t bits = sheet_bits_for(p->values);
    if (p->pack > 1 && p->memory->gate)
        return rung_fail(err, RUNG_USAGE,
                         "mech=%s replaces what a key held, so a number cannot collect pack=%zu entries; take pack=1, "
                         "or a mechanism that adds (linear, mamba2)",
                         p->memory->name, p->pack);
    if (p->pack > 1 && p->part_bits)
        return rung_fail(err, RUNG_USAGE,
                         "a number holds pack=%zu values or a part of one, not both; leave out bits=%zu", p->pack,
                         p->part_bits);
    if (p->part_bits > bits)
        return rung_fail(err, RUNG_USAGE, "bits=%zu is more than the %zu that V=%zu values have; take bits=%zu or 0",
                         p->part_bits, bits, p->values, bits);
    if (p->parts > PARTS_MAX)
        return rung_fail(err, RUNG_USAGE, "a value in %zu parts is more than the %d that a table can read; raise bits",
                         p->parts, PARTS_MAX);
    size_t rows = p->parts > 1 ? p->values + 1 : p->numbers * p->pack;
    if (rows > ROWS_MAX)
        return rung_fail(
            err, RUNG_USAGE,
            "reading one of V=%zu values out of pack=%zu needs a table of more than %d rows; lower pack or V",
            p->values, p->pack, ROWS_MAX);
    if (p->dk > KEYS_MAX)
        return rung_fail(err, RUNG_USAGE, "%zu one-hot keys are more than the %d that are built; lower N or raise pack",
                         p->dk, KEYS_MAX);
    return RUNG_OK;
}

typedef struct coords {
    size_t key, query, value, digit, read, ones, zeros;
} coords;

static coords layout(rung_sheet *s, const plan *p)
{
    size_t bits = sheet_bits_for(p->values);
    coords c;
    c.key = sheet_coords(s, p->dk), c.query = sheet_coords(s, p->dk), c.value = sheet_coords(s, p->parts);
    c.digit = sheet_coords(s, 1), c.read = sheet_coords(s, p->parts);
    c.ones = sheet_coords(s, bits), c.zeros = sheet_coords(s, bits);
    return c;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* a_j: what a digit is centred by. */
static double centre(const plan *p, size_t digit)
{
    if (p->base % 2) return (double)(p->base / 2);
    return digit + 1 == p->pack ? (double)(p->base / 2) : 0;
}

static size_t part_of(const plan *p, size_t value, size_t part)
{
    return p->part_bits ? value >> part * p->part_bits & (p->base - 1) : value;
}

/* The key of address x is sign V^(x mod g) in direction x/g. */
static void write_key(const sheet_matrix *m, size_t row, const plan *p, const coords *c, size_t address)
{
    double weight = p->sign * (double)power_up_to(p->base, address % p->pack, ROWS_MAX);
    sheet_set(m, row, c->key + address / p->pack, weight);
}

static void write_value(const sheet_matrix *m, size_t row, const plan *p, const coords *c, size_t value, size_t digit)
{
    for (size_t i = 0; i < p->parts; i++)
        sheet_set(m, row, c->value + i, p->sign * ((double)part_of(p, value, i) - centre(p, digit)));
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

static void write_query(const sheet_matrix *m, size_t row, const plan *p, const coords *c, size_t address)
{
    sheet_set(m, row, c->query + address / p->pack, 1);
    sheet_set(m, row, c->digit, (double)(address % p->pack));
}

static void write_queries(const sheet_matrix *embed, size_t first, const plan *p, const coords *c)
{
    for (size_t x = 0; x < p->keys; x++) write_query(embed, first + x, p, c, x);
}

static void write_pairs(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight");
    for (size_t key = 0; key < p->keys; key++)
        for (size_t v = 0; v < p->values; v++) {
            write_key(&embed, key * p->values + v, p, c, key);
            write_value(&embed, key * p->values + v, p, c, v, key % p->pack);
        }
    write_queries(&embed, p->keys * p->values, p, c);
}

/* The token gives the value as the highest digit has it, the position its key and what other digits are centred by. */
static void write_table_by_position(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight"), positions = sheet_get(s, "positions");
    size_t top = p->pack - 1;
    for (size_t v = 0; v < p->values; v++) write_value(&embed, v, p, c, v, top);
    if (!p->backwards) write_queries(&embed, p->values, p, c);
    for (size_t j = 0; j < p->entries && p->backwards; j++)
        write_query(&positions, p->entries + j, p, c, p->entries - 1 - j);
    for (size_t i = 0; i < p->entries; i++) {
        write_key(&positions, i, p, c, i);
        for (size_t j = 0; j < p->parts; j++)
            sheet_set(&positions, i, c->value + j, p->sign * (centre(p, top) - centre(p, i % p->pack)));
    }
}

static void fill(rung_sheet *s, const char *name, double value)
{
    if (!name) return;
    sheet_matrix m = sheet_get(s, "%s", name);
    for (size_t i = 0; i < m.cols; i++) sheet_set(&m, 0, i, value);
}

static void write_layer(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix q = sheet_get(s, MIX "q.weight"), k = sheet_get(s, MIX "k.weight");
    sheet_matrix v = sheet_get(s, MIX "v.weight"), out = sheet_get(s, "layers.0.out.weight");
    sheet_set_diagonal(&q, 0, c->query, p->dk, 1);
    sheet_set_diagonal(&k, 0, c->key, p->dk, 1);
    sheet_set_diagonal(&v, 0, c->value, p->parts, 1);
    sheet_set_diagonal(&out, c->read, 0, p->parts, 1);
    fill(s, p->memory->one_bias, SOFTPLUS_IS_ONE);
    fill(s, p->memory->gate, GATE_IS_ONE);
    fill(s, p->memory->open, FAR_AWAY);
    fill(s, p->memory->rate, -FAR_AWAY);
}

/* ---- reading the number ------------------------------------------------------------------------------------------ */

static void write_answer(const sheet_table *table, size_t row, size_t bits, size_t value)
{
    sheet_set_bits(&table->values, row, 0, bits, value, 0, 1);
    sheet_set_bits(&table->values, row, bits, bits, value, 1, 0);
}

/* Number n - sum a_j V^j and digit j give the j-th digit of n. Tokens that do not ask have read 0, which is a number
 * too. */
static void fill_digits(const sheet_table *table, const plan *p, size_t bits)
{
    double offset = 0;
    for (size_t j = 0; j < p->pack; j++) offset += centre(p, j) * (double)power_up_to(p->base, j, ROWS_MAX);
    for (size_t n = 0; n < p->numbers; n++)
        for (size_t j = 0; j < p->pack; j++) {
            size_t row = n * p->pack + j;
            sheet_set(&table->keys, row, 0, (double)n - offset);
            sheet_set(&table->keys, row, 1, (double)j);
            write_answer(table, row, bits, n / power_up_to(p->base, j, ROWS_MAX) % p->base);
        }
}

/* The value whose parts are all centred, so that all numbers are 0: tokens that do not ask read it. */
static size_t value_read_as_zero(const plan *p)
{
    size_t value = 0;
    for (size_t i = 0; i < p->parts; i++) value |= p->base / 2 << i * p->part_bits;
    return value;
}

static void fill_parts(const sheet_table *table, const plan *p, size_t bits)
{
    for (size_t row = 0; row < table->keys.rows; row++) {
        size_t value = row < p->values ? row : value_read_as_zero(p);
        for (size_t i = 0; i < p->parts; i++)
            sheet_set(&table->keys, row, i, (double)part_of(p, value, i) - centre(p, 0));
        write_answer(table, row, bits, row < p->values ? value : 0);
    }
}

static void write_reading(rung_sheet *s, const plan *p, const coords *c)
{
    size_t bits = sheet_bits_for(p->values), in[PARTS_MAX] = {c->read, c->digit}, out[2 * 64];
    for (size_t i = 0; i < bits; i++) out[i] = c->ones + i, out[bits + i] = c->zeros + i;
    if (p->parts == 1 && !p->part_bits) {
        sheet_table table = sheet_add_table(s, 0, p->numbers * p->pack, in, 2, out, 2 * bits);
        fill_digits(&table, p, bits);
    } else {
        for (size_t i = 0; i < p->parts; i++) in[i] = c->read + i;
        size_t rows = p->values + (value_read_as_zero(p) >= p->values);
        sheet_table table = sheet_add_table(s, 0, rows, in, p->parts, out, 2 * bits);
        fill_parts(&table, p, bits);
    }
    sheet_readout_numbers(s, c->ones, c->zeros, bits, p->values);
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    plan p = make_plan(b);
    RUNG_TRY(check_plan(&p, err));
    coords c = layout(s, &p);
    if (p.memory == &memories[MECH_LOGLINEAR]) /* at a query t, entry i has level bits of (t xor i) */
        sheet_layers(s, "%s:levels=%zu:dk=%zu:dv=%zu", p.memory->arch, sheet_bits_for(p.tokens) + 1, p.dk, p.parts);
    else
        sheet_layers(s, "%s:dk=%zu:dv=%zu", p.memory->arch, p.dk, p.parts);
    sheet_mlp(s, "table");
    s->spec.positions = p.by_token ? RUNG_POS_NONE : RUNG_POS_LEARNED;
    if (p.by_token)
        write_pairs(s, &p, &c);
    else
        write_table_by_position(s, &p, &c);
    write_layer(s, &p, &c);
    write_reading(s, &p, &c);
    return RUNG_OK;
}

const rung_construction rung_construction_eva_recurrent = {
    .name = "eva-recurrent",
    .summary = "one recurrent layer with as many state bits as the table has",
    .source = "ours; the lower bound is that of Bhattamishra et al. 2024 and Wen et al. 2024",
    .task = "eva",
    .params = params,
    .build = build,
};
