/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Models that the tests of the worst case build by hand, and brute force over every prompt with the real evaluator.
 */
#ifndef RUNG_TESTS_WORST_CASE_MODELS_H
#define RUNG_TESTS_WORST_CASE_MODELS_H

#include "../../src/verify/worst_case.h"
#include "testing.h"

#include "effort.h"

static inline rung_fmt format_of(const char *name)
{
    rung_fmt fmt;
    CHECK(rung_fmt_parse(&fmt, name, &check_err));
    return fmt;
}

/* ---- a sheet of tensors -------------------------------------------------------------------------------------------- */

typedef struct sheet {
    rung_tensor all[16];
    float *data[16];
    size_t count;
} sheet;

/* Zeros, [rows][cols]; cols = 0 for a vector. */
static inline float *sheet_add(sheet *s, const char *name, size_t rows, size_t cols)
{
    size_t elements = cols ? rows * cols : rows;
    float *data = calloc(elements ? elements : 1, sizeof *data);
    assert_non_null(data);
    assert_true(s->count < RUNG_COUNT(s->all));
    s->data[s->count] = data;
    s->all[s->count++] = (rung_tensor){.name = name,
                                       .dtype = RUNG_F32,
                                       .dtype_name = "F32",
                                       .rank = cols ? 2 : 1,
                                       .shape = {rows, cols},
                                       .elements = elements,
                                       .bytes = (const uint8_t *)data,
                                       .size_bytes = elements * sizeof *data};
    return data;
}

static inline rung_model *sheet_model(sheet *s, const rung_model_spec *spec)
{
    rung_model *model = NULL;
    CHECK(rung_model_from_tensors(&model, spec, s->all, s->count, "a test", &check_err));
    for (size_t i = 0; i < s->count; i++) free(s->data[i]);
    s->count = 0;
    return model;
}

/* ---- look-up by position ----------------------------------------------------------------------------------------------- */

/* What to build, and what to spoil. */
typedef struct recipe {
    size_t n, v;
    double scale;        /* of the query's bits */
    bool pairs;          /* keys (A, 1-A) instead of 2A-1 */
    bool scalar;         /* one value coordinate instead of bits */
    bool no_table;       /* the read-out sees the heads' outputs: rows of the identity */
    bool token_in_key;   /* token 1 moves its own key */
    bool position_value; /* position 1 moves its value */
    bool asking_entries; /* table tokens have queries of their own */
    size_t drop_row;     /* this row of the table is missing, counted from 1; 0: none */
    double own_value;    /* of the query tokens */
    double own_key;      /* every key coordinate of the query tokens */
    bool twin_answers;   /* rows 0 and 1 of the read-out are the same */
    double spread;       /* a second head coordinate leaks into the first key coordinate of the table */
    bool bent;           /* odd positions have keys half as long */
    bool lift;           /* V = 2: keys of the query are 2 and 3, those of table tokens 0 and 1 */
    bool two_heads;      /* the second asks for the opposite address and reads halves; see spread */
    bool twin_tokens;    /* token 1 has the value of token 0, and its answer */
    bool many;           /* percom: v = n, and n tokens ask */
    bool place_asks;     /* the second of them asks for a little more because of its place */
    bool asked_in_key;   /* query token 1 moves its own key */
    bool asked_in_value; /* query token 1 moves its own value */
} recipe;

static inline size_t bits_for(size_t count)
{
    size_t bits = 1;
    while ((size_t)1 << bits < count) bits++;
    return bits;
}

typedef struct layout {
    size_t dk, dv, bits, key, query, value, ones, zeros, d;
} layout;

static inline layout layout_of(const recipe *r)
{
    layout l = {.bits = bits_for(r->v)};
    l.dk = bits_for(r->n) * (r->pairs ? 2 : 1), l.dv = r->scalar ? 1 : l.bits;
    l.query = l.dk, l.value = 2 * l.dk, l.ones = l.value + l.dv, l.zeros = l.ones + l.bits, l.d = l.zeros + l.bits;
    return l;
}

static inline float key_bit(const recipe *r, size_t address, size_t i)
{
    size_t bits = bits_for(r->n);
    bool one = address >> i % bits & 1;
    return r->pairs ? (float)(one == (i < bits)) : one ? 1 : -1;
}

static inline size_t code_of(const recipe *r, size_t token)
{
    return r->twin_tokens && token == 1 ? 0 : token;
}

static inline void add_tokens(sheet *s, const recipe *r, const layout *l)
{
    float *embed = sheet_add(s, "embed.weight", r->v + r->n, l->d);
    for (size_t v = 0; v < r->v; v++)
        for (size_t i = 0; i < l->dv; i++)
            embed[v * l->d + l->value + i] = r->scalar ? (float)v : (float)(code_of(r, v) >> i & 1);
    for (size_t x = 0; x < r->n; x++) {
        float *row = embed + (r->v + x) * l->d;
        for (size_t i = 0; i < l->dk; i++) row[l->query + i] = (float)r->scale * key_bit(r, x, i);
        for (size_t i = 0; i < l->dk; i++) row[i] = (float)r->own_key;
        for (size_t i = 0; i < l->dv; i++) row[l->value + i] = (float)r->own_value;
    }
    for (size_t x = 0; r->lift && x < r->n; x++) embed[(r->v + x) * l->d + l->ones] = 2;
    if (r->token_in_key) embed[1 * l->d] = 0.25f;
    if (r->asking_entries)
        for (size_t v = 0; v < r->v; v++) embed[v * l->d + l->query] = 0.5f + (float)v;
    if (r->asked_in_key) embed[(r->v + 1) * l->d] += 1;
    if (r->asked_in_value) embed[(r->v + 1) * l->d + l->value] += 1;
    float *positions = sheet_add(s, "positions", r->n + (r->many ? r->n : 1), l->d);
    if (r->place_asks) positions[(r->n + 1) * l->d + l->query] = 0.25f;
    for (size_t j = 0; j < r->n; j++)
        for (size_t i = 0; i < l->dk; i++) positions[j * l->d + i] = key_bit(r, j, i) * (r->bent && j % 2 ? 0.5f : 1);
    if (r->position_value) positions[1 * l->d + l->value] = 0.25f;
}

/* The second head is seen through `spread`, and by the read-out at `zeros` when there is no table. */
static inline void add_layer(sheet *s, const recipe *r, const layout *l)
{
    size_t heads = r->two_heads ? 2 : 1, mixed = heads * l->dv;
    float *q = sheet_add(s, "layers.0.mix.0.q.weight", heads * l->dk, l->d);
    float *k = sheet_add(s, "layers.0.mix.0.k.weight", heads * l->dk, l->d);
    float *v = sheet_add(s, "layers.0.mix.0.v.weight", mixed, l->d);
    float *out = sheet_add(s, "layers.0.out.weight", l->d, mixed);
    for (size_t i = 0; i < heads * l->dk; i++) {
        q[i * l->d + l->query + i % l->dk] = i < l->dk ? 1 : -1;
        k[i * l->d + i % l->dk] = 1;
    }
    for (size_t i = 0; i < mixed; i++) v[i * l->d + l->value + i % l->dv] = i < l->dv ? 1 : 0.5f;
    for (size_t i = 0; i < l->dv; i++) out[(l->ones + i) * mixed + i] = 1;
    for (size_t i = l->dv; r->no_table && i < mixed; i++) out[(l->zeros + i - l->dv) * mixed + i] = 1;
    if (r->spread != 0 && mixed > 1) out[l->ones * mixed + (r->two_heads ? l->dv : 1)] = (float)r->spread;
}

static inline void add_table(sheet *s, const recipe *r, const layout *l)
{
    size_t all = r->lift ? 4 : r->scalar ? r->v : (size_t)1 << l->bits, entries = all - (r->drop_row != 0), n = 0;
    float *keys = sheet_add(s, "layers.0.mlp.keys", entries, l->dv);
    float *key_coords = sheet_add(s, "layers.0.mlp.key_coords", l->dv, 0);
    float *values = sheet_add(s, "layers.0.mlp.values", entries, 2 * l->bits);
    float *out_coords = sheet_add(s, "layers.0.mlp.out_coords", 2 * l->bits, 0);
    for (size_t i = 0; i < l->dv; i++) key_coords[i] = (float)(l->ones + i);
    for (size_t i = 0; i < 2 * l->bits; i++) out_coords[i] = (float)(l->ones + i);
    for (size_t a = 0; a < all; a++) {
        if (a + 1 == r->drop_row) continue;
        for (size_t i = 0; i < l->dv; i++) keys[n * l->dv + i] = r->scalar || r->lift ? (float)a : (float)(a >> i & 1);
        for (size_t i = 0; i < l->bits; i++) {
            values[n * 2 * l->bits + i] = (float)(a >> i & 1);
            values[n * 2 * l->bits + l->bits + i] = (float)!(a >> i & 1);
        }
        n++;
    }
}

static inline void add_readout(sheet *s, const recipe *r, const layout *l)
{
    float *w = sheet_add(s, "readout.weight", r->v, l->d);
    for (size_t a = 0; a < r->v; a++)
        for (size_t i = 0; i < l->bits; i++) {
            size_t code = r->twin_answers && a == 1 ? 0 : code_of(r, a);
            if (!r->no_table)
                w[a * l->d + (code >> i & 1 ? l->zeros : l->ones) + i] = -1;
            else if (a < l->dv)
                w[a * l->d + l->ones + a] = 1;
            else if (a < 2 * l->dv)
                w[a * l->d + l->zeros + a - l->dv] = 1;
        }
}

static inline rung_model *make_lookup(const recipe *r)
{
    sheet s = {.count = 0};
    layout l = layout_of(r);
    add_tokens(&s, r, &l), add_layer(&s, r, &l);
    if (!r->no_table) add_table(&s, r, &l);
    add_readout(&s, r, &l);
    return sheet_model(&s, &(rung_model_spec){.arch = "full",
                                              .task = "",
                                              .mlp = r->no_table ? "none" : "table",
                                              .vocab = r->v + r->n,
                                              .answers = r->v,
                                              .max_tokens = r->n + (r->many ? r->n : 1),
                                              .d_model = l.d,
                                              .d_mlp = 1,
                                              .heads = r->two_heads ? 2 : 1,
                                              .dk = l.dk,
                                              .dv = l.dv,
                                              .positions = RUNG_POS_LEARNED,
                                              .norm = RUNG_NORM_NONE,
                                              .causal = true});
}

static inline rung_task_conf eva_task(size_t n, size_t v)
{
    char a[32], b[32];
    rung_task_conf task;
    snprintf(a, sizeof a, "N=%zu", n), snprintf(b, sizeof b, "V=%zu", v);
    CHECK(rung_task_conf_init(&task, "eva", (const char *const[]){a, b}, 2, &check_err));
    return task;
}

static inline rung_task_conf percom_task(size_t n)
{
    char a[32];
    rung_task_conf task;
    snprintf(a, sizeof a, "N=%zu", n);
    CHECK(rung_task_conf_init(&task, "percom", (const char *const[]){a}, 1, &check_err));
    return task;
}

/* ---- membership ---------------------------------------------------------------------------------------------------------- */

typedef struct sum_recipe {
    size_t n, m;
    double gap; /* of the scores, between the match and the closest miss */
    bool blank, position_key, no_table, drop_zero;
    bool mixed; /* values -1, 0, 1 */
} sum_recipe;

/* Coordinates: key cos, sin, blank; query cos, sin, blank; value; answer yes, no. */
enum { SUM_KEY = 0, SUM_QUERY = 3, SUM_VALUE = 6, SUM_YES = 7, SUM_NO = 8, SUM_D = 9 };

static inline void add_sum_tokens(sheet *s, const sum_recipe *r)
{
    const double turn = 6.283185307179586477 / (double)r->m;
    const double c = r->gap / (1 - cos(turn));
    float *embed = sheet_add(s, "embed.weight", 2 * r->m + r->blank, SUM_D);
    for (size_t x = 0; x < r->m; x++) {
        float *number = embed + x * SUM_D, *query = embed + (r->m + x) * SUM_D;
        number[SUM_KEY] = (float)cos(turn * (double)x), number[SUM_KEY + 1] = (float)-sin(turn * (double)x);
        number[SUM_VALUE] = r->mixed ? (float)(x % 3) - 1 : 1;
        query[SUM_QUERY] = (float)(c * cos(turn * (double)x)),
        query[SUM_QUERY + 1] = (float)(c * sin(turn * (double)x));
        query[SUM_QUERY + 2] = (float)(c - r->gap / 2);
    }
    if (r->blank) embed[2 * r->m * SUM_D + SUM_KEY + 2] = 1;
    if (r->mixed && r->blank) embed[2 * r->m * SUM_D + SUM_VALUE] = 0.5f;
    float *positions = sheet_add(s, "positions", r->n + 1 + r->blank, SUM_D);
    if (r->position_key) positions[(r->blank + 1) * SUM_D + SUM_KEY] = 0.5f;
}

static inline rung_model *make_sum(const sum_recipe *r)
{
    sheet s = {.count = 0};
    add_sum_tokens(&s, r);
    float *q = sheet_add(&s, "layers.0.mix.0.q.weight", 3, SUM_D);
    float *k = sheet_add(&s, "layers.0.mix.0.k.weight", 3, SUM_D);
    sheet_add(&s, "layers.0.mix.0.v.weight", 1, SUM_D)[SUM_VALUE] = 1;
    sheet_add(&s, "layers.0.out.weight", SUM_D, 1)[SUM_YES] = 1;
    for (size_t i = 0; i < 3; i++) q[i * SUM_D + SUM_QUERY + i] = k[i * SUM_D + SUM_KEY + i] = 1;
    if (!r->no_table) {
        size_t entries = r->drop_zero ? 1 : 2, first = r->drop_zero;
        float *keys = sheet_add(&s, "layers.0.mlp.keys", entries, 1);
        sheet_add(&s, "layers.0.mlp.key_coords", 1, 0)[0] = SUM_YES;
        float *values = sheet_add(&s, "layers.0.mlp.values", entries, 2);
        float *out_coords = sheet_add(&s, "layers.0.mlp.out_coords", 2, 0);
        for (size_t e = 0; e < entries; e++)
            keys[e] = (float)(e + first), values[2 * e] = (float)(e + first), values[2 * e + 1] = (float)!(e + first);
        out_coords[0] = SUM_YES, out_coords[1] = SUM_NO;
    }
    float *readout = sheet_add(&s, "readout.weight", 2, SUM_D);
    if (r->no_table) {
        float *bias = sheet_add(&s, "readout.bias", 2, 0);
        readout[SUM_D + SUM_YES] = 1, bias[0] = 0.5f;
    } else {
        readout[SUM_YES] = readout[SUM_D + SUM_NO] = -1;
    }
    return sheet_model(&s, &(rung_model_spec){.arch = "full",
                                              .task = "",
                                              .mlp = r->no_table ? "none" : "table",
                                              .vocab = 2 * r->m + r->blank,
                                              .answers = 2,
                                              .max_tokens = r->n + 1 + r->blank,
                                              .d_model = SUM_D,
                                              .d_mlp = 1,
                                              .heads = 1,
                                              .dk = 3,
                                              .dv = 1,
                                              .positions = RUNG_POS_LEARNED,
                                              .norm = RUNG_NORM_NONE,
                                              .causal = true});
}

static inline rung_task_conf sum_task(const sum_recipe *r)
{
    char a[32], b[32];
    rung_task_conf task;
    snprintf(a, sizeof a, "N=%zu", r->n), snprintf(b, sizeof b, "M=%zu", r->m);
    CHECK(rung_task_conf_init(&task, "two-sum", (const char *const[]){a, b, r->blank ? "blank=1" : "blank=0"}, 3,
                              &check_err));
    return task;
}

/* ---- verdicts ---------------------------------------------------------------------------------------------------------- */

static inline rung_verify_result worst_case(const rung_model *model, const rung_task_conf *task, const char *format)
{
    rung_verify_result result;
    rung_fmt fmt = format_of(format);
    memset(&result, 0, sizeof result);
    CHECK(rung_worst_case(&result, model, task,
                          &(rung_verify_options){.method = RUNG_WORST_CASE, .how = {.numbers = &fmt}}, &check_err));
    return result;
}

/* The model on one solved prompt: right or not (a prompt that stops it is not). out has room for all targets, or is
 * NULL. */
static inline bool answers_right(rung_session *session, const rung_instance *in, size_t answers, double *out)
{
    double own[256];
    rung_error err;
    size_t at[64], targets = 0;
    double *logits = out ? out : own;
    for (size_t t = 0; t < in->tokens; t++)
        if (in->target[t] != RUNG_NO_TARGET) at[targets++] = t;
    assert_true(out || targets * answers <= RUNG_COUNT(own));
    rung_session_reset(session);
    rung_status status = rung_session_run(session, logits, &(rung_prompt){.token = in->token, .tokens = in->tokens},
                                          RUNG_FORM_SCAN, at, targets, &err);
    bool right = status == RUNG_OK;
    for (size_t i = 0; i < targets && right; i++)
        right = (int32_t)rung_argmax(logits + i * answers, answers) == in->target[at[i]];
    return right;
}

/* Every prompt of the task, with the real evaluator; `each` sees every read-out. Returns the number of wrong ones. */
typedef void each_prompt(void *context, const rung_instance *in, const double *out);
static inline uint64_t brute_force(const rung_model *model, const rung_task_conf *task, const char *format,
                                   each_prompt *each, void *context)
{
    rung_program *program = NULL;
    rung_session *session = NULL;
    rung_instance in;
    rung_fmt fmt = format_of(format);
    double out[256];
    uint64_t wrong = 0;
    bool is_prompt;
    CHECK(rung_program_new(&program, model, &(rung_evaluator){.numbers = &fmt, .threads = 1}, &check_err));
    CHECK(rung_session_new(&session, program, task->tokens, &check_err));
    CHECK(rung_instance_init(&in, task, &check_err));
    for (uint64_t i = 0; i < rung_task_space(task); i++) {
        CHECK(rung_task_unrank(&in, &is_prompt, task, i, &check_err));
        if (!is_prompt) continue;
        wrong += !answers_right(session, &in, task->answers, out);
        if (each) each(context, &in, out);
    }
    rung_instance_clear(&in);
    rung_session_free(session), rung_program_free(program);
    return wrong;
}

/* The witness is a prompt of the task, and the model is wrong on it. */
static inline void assert_witness(const rung_verify_result *result, const rung_model *model, const rung_task_conf *task,
                                  const char *format)
{
    rung_program *program = NULL;
    rung_session *session = NULL;
    rung_instance in;
    rung_fmt fmt = format_of(format);
    double *out = calloc(task->tokens * task->answers, sizeof *out);
    assert_non_null(result->witness);
    CHECK(rung_program_new(&program, model, &(rung_evaluator){.numbers = &fmt, .threads = 1}, &check_err));
    CHECK(rung_session_new(&session, program, task->tokens, &check_err));
    CHECK(rung_instance_init(&in, task, &check_err));
    assert_int_equal(result->witness_tokens, task->tokens);
    memcpy(in.token, result->witness, task->tokens * sizeof *in.token), in.tokens = task->tokens;
    CHECK(task->task->solve(&in, task, &check_err));
    assert_false(answers_right(session, &in, task->answers, out));
    rung_instance_clear(&in);
    rung_session_free(session), rung_program_free(program);
    free(out);
}

#endif
