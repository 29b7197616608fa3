/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Models that are written by hand, each of which violates one premise of the theorems and solves what they forbid. They stand
 * here and not among the constructions because each of them is of use to nobody but the tests.
 */
#ifndef RUNG_TESTS_HAND_MADE_H
#define RUNG_TESTS_HAND_MADE_H

#include "../../src/build/sheet.h"
#include "rows_test.h"

/* ---- sheets without a construction ---------------------------------------------------------------------------------------- */

static inline rung_sheet sheet_for(const rung_task_conf *task, size_t coords)
{
    rung_sheet s = {.err = &check_err};
    rung_buf text;
    rung_arena_init(&s.arena);
    rung_buf_init(&text);
    rung_task_canonical(&text, task);
    s.spec = (rung_model_spec){.arch = "full",
                               .task = rung_arena_strdup(&s.arena, text.text, &check_err),
                               .mlp = "none",
                               .vocab = task->vocab,
                               .answers = task->answers,
                               .max_tokens = task->tokens,
                               .d_model = coords,
                               .heads = 1,
                               .dk = 1,
                               .dv = 1,
                               .positions = RUNG_POS_LEARNED,
                               .norm = RUNG_NORM_NONE,
                               .causal = true};
    rung_buf_clear(&text);
    return s;
}

/* Tests of the command want the models as files: in the directory RUNG_HAND_MADE, if there is one. */
static inline void keep_model(const rung_model *model, const char *name)
{
    const char *directory = getenv("RUNG_HAND_MADE");
    char path[512];
    if (!directory) return;
    snprintf(path, sizeof path, "%s/%s.safetensors", directory, name);
    CHECK(rung_model_save(model, path, &check_err));
}

static inline rung_model *sheet_model(rung_sheet *s, const char *name)
{
    rung_tensor tensor[64];
    size_t count = 0;
    rung_model *model = NULL;
    sheet_get(s, "readout.weight");
    for (size_t i = 0; i < s->count; i++) {
        if (s->tensor[i].optional && !s->tensor[i].value) continue;
        sheet_matrix m = sheet_get(s, "%s", s->tensor[i].name);
        const size_t *shape = s->tensor[i].shape;
        assert_true(count < RUNG_COUNT(tensor));
        tensor[count++] = (rung_tensor){.name = s->tensor[i].name,
                                        .dtype = RUNG_F64,
                                        .dtype_name = "F64",
                                        .rank = s->tensor[i].rank,
                                        .shape = {shape[0], shape[1], shape[2]},
                                        .elements = m.rows * m.cols,
                                        .bytes = (const uint8_t *)m.value,
                                        .size_bytes = m.rows * m.cols * sizeof(double)};
    }
    CHECK(s->status);
    CHECK(rung_model_from_tensors(&model, &s->spec, tensor, count, "by hand", &check_err));
    keep_model(model, name);
    rung_arena_clear(&s->arena);
    free(s->tensor);
    return model;
}

/* A point of the quarter circle for each of `count` things: the same point has the largest inner product. */
static inline void set_angle(const sheet_matrix *m, size_t row, size_t col, size_t which, size_t count, double length)
{
    double angle = (M_PI / 2) * ((double)which + 0.5) / (double)count;
    sheet_set(m, row, col, length * cos(angle));
    sheet_set(m, row, col + 1, length * sin(angle));
}

/* Answer a wins where coordinate `col` is closest to 1 + a: 2 (1+a) x - (1+a)^2. */
static inline void read_nearest(rung_sheet *s, size_t col, size_t answers)
{
    sheet_matrix weight = sheet_get(s, "readout.weight"), bias = sheet_get(s, "readout.bias");
    for (size_t a = 0; a < answers; a++) {
        double at = 1 + (double)a;
        sheet_set(&weight, a, col, 2 * at);
        sheet_set(&bias, 0, a, -at * at);
    }
}

/* ---- a convolution before attention ------------------------------------------------------------------------------------------ */

/* x with silu(x) = y >= 0: what goes into a convolution so that y comes out. */
static inline double before_silu(double y)
{
    double low = 0, high = y + 40;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (middle / (1 + exp(-middle)) < y)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static inline void set_angle_before_silu(const sheet_matrix *m, size_t row, size_t col, size_t which, size_t count,
                                         double length)
{
    double angle = (M_PI / 2) * ((double)which + 0.5) / (double)count;
    sheet_set(m, row, col, before_silu(length * cos(angle)));
    sheet_set(m, row, col + 1, before_silu(length * sin(angle)));
}

/* Every channel of an input takes what came `back` tokens before; the first column is the oldest. */
static inline void take_back(rung_sheet *s, const char *input, size_t first, size_t count, size_t back)
{
    sheet_matrix conv = sheet_get(s, "layers.0.mix.0.%s.conv", input);
    for (size_t i = first; i < first + count; i++) sheet_set(&conv, i, conv.cols - 1 - back, 1);
}

/* seqcomp L=1, form=position, in one layer full:conv=2: the query of w is what the convolution hands over from z_0. Coordinates:
 * key, query, value, answer. */
static inline rung_model *conv_composes(const rung_task_conf *task)
{
    enum { KEY = 0, QUERY = 2, VALUE = 4, ANSWER = 5, COORDS };
    size_t entries = (size_t)rung_task_param(task, "N0"), values = (size_t)rung_task_param(task, "V");
    rung_sheet s = sheet_for(task, COORDS);
    sheet_layers(&s, "full:conv=2:dk=2:dv=1");
    sheet_matrix embed = sheet_get(&s, "embed.weight"), place = sheet_get(&s, "positions");
    for (size_t i = 0; i < entries; i++) set_angle_before_silu(&place, i, KEY, i, entries, 1);
    for (size_t v = 0; v < values; v++) sheet_set(&embed, v, VALUE, before_silu(1 + (double)v));
    for (size_t z = 0; z < entries; z++) set_angle_before_silu(&embed, values + z, QUERY, z, entries, 1e6);
    sheet_matrix q = sheet_get(&s, "layers.0.mix.0.q.weight"), k = sheet_get(&s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(&s, "layers.0.mix.0.v.weight"), out = sheet_get(&s, "layers.0.out.weight");
    sheet_set_diagonal(&q, 0, QUERY, 2, 1);
    sheet_set_diagonal(&k, 0, KEY, 2, 1);
    sheet_set(&v, 0, VALUE, 1);
    sheet_set(&out, ANSWER, 0, 1);
    take_back(&s, "q", 0, 2, 1);
    take_back(&s, "k", 0, 2, 0);
    take_back(&s, "v", 0, 1, 0);
    read_nearest(&s, ANSWER, values);
    return sheet_model(&s, "conv-composes");
}

/* c-gram c=3 in one layer full:conv=3: a key is the two symbols before a token, a query is the last two symbols. */
static inline rung_model *conv_continues(const rung_task_conf *task)
{
    enum { KEY = 0, QUERY = 2, VALUE = 4, ANSWER = 5, COORDS };
    size_t values = (size_t)rung_task_param(task, "V");
    rung_sheet s = sheet_for(task, COORDS);
    sheet_layers(&s, "full:conv=3:dk=4:dv=1");
    sheet_matrix embed = sheet_get(&s, "embed.weight");
    for (size_t v = 0; v < values; v++) {
        set_angle_before_silu(&embed, v, KEY, v, values, 1);
        set_angle_before_silu(&embed, v, QUERY, v, values, 1e6);
        sheet_set(&embed, v, VALUE, before_silu(1 + (double)v));
    }
    sheet_matrix q = sheet_get(&s, "layers.0.mix.0.q.weight"), k = sheet_get(&s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(&s, "layers.0.mix.0.v.weight"), out = sheet_get(&s, "layers.0.out.weight");
    for (size_t half = 0; half < 2; half++) {
        sheet_set_diagonal(&q, 2 * half, QUERY, 2, 1);
        sheet_set_diagonal(&k, 2 * half, KEY, 2, 1);
        take_back(&s, "q", 2 * half, 2, half);
        take_back(&s, "k", 2 * half, 2, half + 1);
    }
    sheet_set(&v, 0, VALUE, 1);
    take_back(&s, "v", 0, 1, 0);
    sheet_set(&out, ANSWER, 0, 1);
    read_nearest(&s, ANSWER, values);
    return sheet_model(&s, "conv-continues");
}

/* ---- the question comes last -------------------------------------------------------------------------------------------------- */

/* seqcomp L=1 order=first, form=position: the prompt is w, table, z_0, so that the last token knows what to look for. */
static inline rung_model *last_token_asks(const rung_task_conf *task)
{
    enum { KEY = 0, QUERY = 2, VALUE = 4, ANSWER = 5, COORDS };
    size_t entries = (size_t)rung_task_param(task, "N0"), values = (size_t)rung_task_param(task, "V");
    rung_sheet s = sheet_for(task, COORDS);
    sheet_layers(&s, "full:dk=2:dv=1");
    sheet_matrix embed = sheet_get(&s, "embed.weight"), place = sheet_get(&s, "positions");
    for (size_t i = 0; i < entries; i++) set_angle(&place, 1 + i, KEY, i, entries, 1);
    for (size_t v = 0; v < values; v++) sheet_set(&embed, v, VALUE, 1 + (double)v);
    for (size_t z = 0; z < entries; z++) set_angle(&embed, values + z, QUERY, z, entries, 1e6);
    sheet_matrix q = sheet_get(&s, "layers.0.mix.0.q.weight"), k = sheet_get(&s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(&s, "layers.0.mix.0.v.weight"), out = sheet_get(&s, "layers.0.out.weight");
    sheet_set_diagonal(&q, 0, QUERY, 2, 1);
    sheet_set_diagonal(&k, 0, KEY, 2, 1);
    sheet_set(&v, 0, VALUE, 1);
    sheet_set(&out, ANSWER, 0, 1);
    read_nearest(&s, ANSWER, values);
    return sheet_model(&s, "last-token-asks");
}

/* ---- one layer that runs twice ------------------------------------------------------------------------------------------------ */

/* seqcomp L=1, form=position, in two layers with the same weights. Head 0 copies the code of z_0, which stands at position N_0, to
 * every later token; head 1 looks up the code that it finds at its own token, or at first, where there is none, reads the zero
 * that w holds. The second run of head 0 doubles the code, which then asks for the same entry. */
static inline rung_model *loop_composes(const rung_task_conf *task)
{
    enum { KEY = 0, CODE = 2, VALUE = 4, SINK = 5, IS_Z0 = 6, ONE = 7, ASKED = 8, ANSWER = 10, COORDS };
    size_t entries = (size_t)rung_task_param(task, "N0"), values = (size_t)rung_task_param(task, "V");
    rung_sheet s = sheet_for(task, COORDS);
    sheet_layers(&s, "2*full:dk=3:dv=2@2");
    s.spec.heads = 2, s.spec.dk = 3, s.spec.dv = 2;
    sheet_matrix embed = sheet_get(&s, "embed.weight"), place = sheet_get(&s, "positions");
    for (size_t i = 0; i < entries; i++) set_angle(&place, i, KEY, i, entries, 1);
    sheet_set(&place, entries, IS_Z0, 1);
    sheet_set(&place, entries + 1, SINK, 1);
    for (size_t i = 0; i < entries + 2; i++) sheet_set(&place, i, ONE, 1);
    for (size_t v = 0; v < values; v++) sheet_set(&embed, v, VALUE, 1 + (double)v);
    for (size_t z = 0; z < entries; z++) set_angle(&embed, values + z, CODE, z, entries, 1);
    for (size_t layer = 0; layer < 2; layer++) {
        sheet_matrix q = sheet_get(&s, "layers.%zu.mix.0.q.weight", layer);
        sheet_matrix k = sheet_get(&s, "layers.%zu.mix.0.k.weight", layer);
        sheet_matrix v = sheet_get(&s, "layers.%zu.mix.0.v.weight", layer);
        sheet_matrix out = sheet_get(&s, "layers.%zu.out.weight", layer);
        sheet_set(&q, 0, ONE, 1000);
        sheet_set(&k, 0, IS_Z0, 1);
        sheet_set_diagonal(&v, 0, CODE, 2, 1);
        sheet_set_diagonal(&out, ASKED, 0, 2, 1);
        sheet_set_diagonal(&q, 3, ASKED, 2, 1e6); /* head 1: rows 3, 4, 5 of queries and keys, 2 of values */
        sheet_set(&q, 5, ONE, 1000);
        sheet_set_diagonal(&k, 3, KEY, 2, 1);
        sheet_set(&k, 5, SINK, 1);
        sheet_set(&v, 2, VALUE, 1);
        sheet_set(&out, ANSWER, 2, 1);
    }
    read_nearest(&s, ANSWER, values);
    return sheet_model(&s, "loop-composes");
}

/* ---- a block for each thought ---------------------------------------------------------------------------------------------------- */

/* two-sum form=query over m blocks of B numbers, one of which a query opens. Thought (y, i) says: the query is y, and the first
 * i blocks do not hold its partner. */
typedef struct opener {
    size_t B, M, blocks, bits;
} opener;

enum {
    ADDRESS = 0,
    NUMBER = 2,
    BLANK = 4,
    ASK_ADDRESS = 5,
    ASK_NUMBER = 7,
    ASK_BLANK = 9,
    IS_NUMBER = 10,
    FOUND = 11,
    Y = 12
};

static inline size_t step_coord(const opener *o)
{
    return Y + 2 * o->bits;
}

static inline void set_block(const sheet_matrix *m, size_t row, size_t col, const opener *o, size_t block,
                             double length)
{
    sheet_set(m, row, col, length * cos(M_PI * (double)block / (double)o->blocks));
    sheet_set(m, row, col + 1, length * sin(M_PI * (double)block / (double)o->blocks));
}

/* A token that asks block `step` for the partner of y; its own key weighs a little less than a partner, and is worth 0. */
static inline void set_asker(const sheet_matrix *embed, size_t id, const opener *o, size_t y, size_t step)
{
    double angle = 2 * M_PI * (double)y / (double)o->M, gap = 1 - cos(2 * M_PI / (double)o->M), length = 1e7;
    sheet_set(embed, id, BLANK, 1);
    set_block(embed, id, ASK_ADDRESS, o, step, length);
    sheet_set(embed, id, ASK_NUMBER, length * cos(angle));
    sheet_set(embed, id, ASK_NUMBER + 1, -length * sin(angle));
    sheet_set(embed, id, ASK_BLANK, length * (1 - gap / 2));
    sheet_set_bits(embed, id, Y, o->bits, y, 0, 1);
    sheet_set_bits(embed, id, Y + o->bits, o->bits, y, 1, 0);
    sheet_set(embed, id, step_coord(o) + step, 1);
}

static inline void write_opener_tokens(rung_sheet *s, const opener *o)
{
    sheet_matrix embed = sheet_get(s, "embed.weight"), place = sheet_get(s, "positions");
    for (size_t b = 0; b < o->blocks; b++) set_block(&place, b * o->B + o->B - 1, ADDRESS, o, b, 1);
    for (size_t x = 0; x < o->M; x++) {
        sheet_set(&embed, x, NUMBER, cos(2 * M_PI * (double)x / (double)o->M));
        sheet_set(&embed, x, NUMBER + 1, sin(2 * M_PI * (double)x / (double)o->M));
        sheet_set(&embed, x, IS_NUMBER, 1);
    }
    for (size_t step = 0; step < o->blocks; step++)
        for (size_t y = 0; y < o->M; y++) set_asker(&embed, (1 + step) * o->M + y, o, y, step);
}

/* Found: yes. Not found: the next thought with the same y, and no after the last block. */
static inline void write_opener_readout(rung_sheet *s, const opener *o)
{
    sheet_matrix readout = sheet_get(s, "readout.weight");
    sheet_set(&readout, 1, FOUND, 1000);
    sheet_set(&readout, 0, step_coord(o) + o->blocks - 1, 500);
    for (size_t step = 1; step < o->blocks; step++)
        for (size_t y = 0; y < o->M; y++) {
            size_t row = 2 + (step - 1) * o->M + y;
            sheet_set_bits(&readout, row, Y, o->bits, y, 0, 1);
            sheet_set_bits(&readout, row, Y + o->bits, o->bits, y, 1, 0);
            sheet_set(&readout, row, step_coord(o) + step - 1, 100);
        }
}

static inline rung_model *opens_one_by_one(const rung_task_conf *task, size_t B)
{
    size_t M = (size_t)rung_task_param(task, "M"), numbers = (size_t)rung_task_param(task, "N");
    opener o = {B, M, numbers / B, sheet_bits_for(M)};
    rung_sheet s = sheet_for(task, step_coord(&o) + o.blocks);
    s.spec.thoughts = M * (o.blocks - 1);
    s.spec.vocab += s.spec.thoughts, s.spec.answers += s.spec.thoughts, s.spec.max_tokens += o.blocks;
    sheet_layers(&s, "sparse:B=%zu:k=1:comp=given:lambda=0:dk=5:dv=1", B);
    write_opener_tokens(&s, &o);
    sheet_matrix q = sheet_get(&s, "layers.0.mix.0.q.weight"), k = sheet_get(&s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(&s, "layers.0.mix.0.v.weight"), summary = sheet_get(&s, "layers.0.mix.0.ck.weight");
    sheet_matrix out = sheet_get(&s, "layers.0.out.weight");
    sheet_set_diagonal(&q, 0, ASK_ADDRESS, 5, 1);
    sheet_set_diagonal(&k, 2, NUMBER, 3, 1);
    sheet_set_diagonal(&summary, 0, ADDRESS, 2, 1);
    sheet_set(&v, 0, IS_NUMBER, 1);
    sheet_set(&out, FOUND, 0, 1);
    write_opener_readout(&s, &o);
    return sheet_model(&s, "opens-one-by-one");
}

/* ---- what the fast evaluator does otherwise ------------------------------------------------------------------------------------ */

/* seqcomp L=1, form=position, in one layer of three heads with dk = dv = 1. The fast evaluator takes the maximum of the row, which is
 * that of z_0, and does not let a weight fall below e^-87: entry j weighs max(e^((z_0-j) a), 1) e^-87 in head 1, and the same one
 * step earlier and later in heads 0 and 2. The second difference of the three is u z_1(z_0), u = (e^a - 1) e^-87. */
static inline rung_model *clamp_composes(const rung_task_conf *task)
{
    enum { SCORE = 0, VALUE = 3, ANSWER = 4, COORDS };
    size_t entries = (size_t)rung_task_param(task, "N0"), values = (size_t)rung_task_param(task, "V");
    double a = round(log(1.05) * 0x1p17) * 0x1p-17, rise = exp(a), large = 0x1p100; /* scores are exact in f32 */
    rung_sheet s = sheet_for(task, COORDS);
    sheet_layers(&s, "full:dk=1:dv=1@3");
    s.spec.heads = 3;
    sheet_matrix embed = sheet_get(&s, "embed.weight"), place = sheet_get(&s, "positions");
    for (size_t h = 0; h < 3; h++) {
        for (size_t i = 0; i < entries; i++) sheet_set(&place, i, SCORE + h, -(double)i * a);
        sheet_set(&place, entries + 1, SCORE + h, -127);
        for (size_t z = 0; z < entries; z++)
            sheet_set(&embed, values + z, SCORE + h, 87 - (double)z * a + ((double)h - 1) * a);
    }
    for (size_t v = 0; v < values; v++) sheet_set(&embed, v, VALUE, (double)v * large);
    sheet_matrix q = sheet_get(&s, "layers.0.mix.0.q.bias"), k = sheet_get(&s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(&s, "layers.0.mix.0.v.weight"), out = sheet_get(&s, "layers.0.out.weight");
    const double difference[] = {1, -(1 + rise), rise};
    for (size_t h = 0; h < 3; h++) {
        sheet_set(&q, 0, h, 1);
        sheet_set(&k, h, SCORE + h, 1);
        sheet_set(&v, h, VALUE, 1);
        sheet_set(&out, ANSWER, h, difference[h]);
    }
    sheet_matrix readout = sheet_get(&s, "readout.weight"), bias = sheet_get(&s, "readout.bias");
    double unit = (rise - 1) * exp(-87) * large;
    for (size_t answer = 0; answer < values; answer++) {
        sheet_set(&readout, answer, ANSWER, 2 * (double)answer);
        sheet_set(&bias, 0, answer, -(double)(answer * answer) * unit);
    }
    return sheet_model(&s, "clamp-composes");
}

/* eva form=pair K=N < 32 in two heads of linear attention with dk = dv = 1. Inside a chunk the fast evaluator multiplies queries
 * and keys first: 2^(z-149) 2^-j is a subnormal number for j <= z and 0 beyond. Head 0 so adds up 2^(z-149) v_j over j <= z, head
 * 1 over j < z, and the difference is 2^(z-149) v_z. */
static inline rung_model *chunk_looks_up(const rung_task_conf *task)
{
    enum { KEY = 0, VALUE = 1, QUERY = 3, DIFFERENCE = 5, UNIT = 6, COORDS };
    size_t entries = (size_t)rung_task_param(task, "N"), values = (size_t)rung_task_param(task, "V");
    rung_sheet s = sheet_for(task, COORDS);
    s.spec.heads = 2, s.spec.positions = RUNG_POS_NONE;
    sheet_layers(&s, "linear:phi=identity:norm=0:dk=1:dv=1@2");
    sheet_matrix embed = sheet_get(&s, "embed.weight"), readout = sheet_get(&s, "readout.weight");
    for (size_t j = 0; j < entries; j++)
        for (size_t f = 0; f < values; f++) {
            sheet_set(&embed, j * values + f, KEY, ldexp(1, -(int)j));
            sheet_set(&embed, j * values + f, VALUE, ldexp((double)f, (int)j));
            sheet_set(&embed, j * values + f, VALUE + 1, ldexp((double)f, (int)j + 1));
        }
    for (size_t z = 0; z < entries; z++) {
        sheet_set(&embed, entries * values + z, QUERY, ldexp(1, (int)z - 149));
        if (z) sheet_set(&embed, entries * values + z, QUERY + 1, ldexp(1, (int)z - 150));
        sheet_set(&embed, entries * values + z, UNIT, ldexp(1, (int)z - 149));
    }
    sheet_matrix q = sheet_get(&s, "layers.0.mix.0.q.weight"), k = sheet_get(&s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(&s, "layers.0.mix.0.v.weight"), out = sheet_get(&s, "layers.0.out.weight");
    sheet_set_diagonal(&q, 0, QUERY, 2, 1);
    sheet_set(&k, 0, KEY, 1);
    sheet_set(&k, 1, KEY, 1);
    sheet_set_diagonal(&v, 0, VALUE, 2, 1);
    sheet_set(&out, DIFFERENCE, 0, 1);
    sheet_set(&out, DIFFERENCE, 1, -1);
    for (size_t a = 0; a < values; a++) {
        sheet_set(&readout, a, DIFFERENCE, ldexp(2 * (double)a, 100));
        sheet_set(&readout, a, UNIT, ldexp(-(double)(a * a), 100));
    }
    return sheet_model(&s, "chunk-looks-up");
}

#endif
