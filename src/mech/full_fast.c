/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Softmax attention of full and window in fp32, a block of queries at a time. The scores of a block with all keys that
 * one of its queries sees are a product of matrices; rows of scores become weights; weights times values are a second
 * product. Only the scores of one block are in memory. The result of a query does not depend on the others in its
 * block, to the last bit. A stretch of one token goes key by key, because panels would cost more than they save.
 */
#include "full.h"

#include <assert.h>
#include <math.h>

/* One head of a call, its panels, and room for a block. */
typedef struct asking {
    key_panels keys;
    float *o;
    const float *q;
    const size_t *at;
    size_t seen;      /* tokens absorbed after the call */
    float *k_columns; /* panels of [dk][keys] */
    float *v_rows;    /* panels of [keys][dv] */
    float *query;     /* [QUERIES][dk] */
    float *s;         /* [QUERIES][s_row] */
    size_t s_row;
} asking;

size_t rung_full_ask_scratch(const rung_mech_conf *conf, size_t tokens)
{
    size_t keys = rung_full_group_keys(conf, tokens),
           room = LINE + RUNG_PANEL * (conf->dk > conf->dv ? conf->dk : conf->dv);
    size_t panels = size_times(keys, conf->dk + whole_panels(conf->dv));
    size_t block = size_times(size_min(QUERIES, tokens), size_plus(conf->dk, score_row(keys)));
    return size_plus(size_plus(panels, block), room);
}

static range seen_by(const asking *a, size_t number)
{
    return keys_of_query(a->keys.pos + asked_token(a->at, number), a->seen, a->keys.conf);
}

/* Computes the scores with the keys from `base` on, a multiple of RUNG_PANEL. */
static void score(const asking *a, size_t base, size_t cols, size_t number, size_t count)
{
    const rung_mech_conf *conf = a->keys.conf;
    size_t dk = conf->dk;
    for (size_t n = 0; n < count; n++)
        memcpy(a->query + n * dk, a->q + (asked_token(a->at, number + n) * conf->heads + a->keys.head) * dk,
               dk * sizeof *a->query);
    const rung_product product = {.y = a->s,
                                  .x = a->query,
                                  .panels = a->k_columns + (base - a->keys.base) * dk,
                                  .rows = count,
                                  .cols = cols,
                                  .inner = dk,
                                  .y_row = a->s_row,
                                  .x_row = dk,
                                  .x_inner = 1};
    rung_kernels_get()->multiply(&product);
}

static void weigh(float *o, const asking *a, size_t base, range keys, size_t count)
{
    const rung_mech_conf *conf = a->keys.conf;
    const rung_product product = {.y = o,
                                  .x = a->s + (keys.first - base),
                                  .panels = a->v_rows + (keys.first - a->keys.base) * RUNG_PANEL,
                                  .rows = count,
                                  .cols = conf->dv,
                                  .inner = keys.end - keys.first,
                                  .y_row = conf->heads * conf->dv,
                                  .x_row = a->s_row,
                                  .x_inner = 1,
                                  .panel_rows = panel_keys(&a->keys)};
    rung_kernels_get()->multiply(&product);
}

/* Computes queries number .. number+count-1, at most QUERIES. A value that only some of them see has weight 0 for the
 * others, but 0 times infinity is not 0. So a query that got a NaN is computed again alone. */
static void ask_block(const asking *a, size_t number, size_t count)
{
    assert(count > 0 && count <= QUERIES);
    const rung_kernels *kern = rung_kernels_get();
    size_t dv = a->keys.conf->dv, row = a->keys.conf->heads * dv;
    range keys = {seen_by(a, number).first, seen_by(a, number + count - 1).end};
    size_t base = keys.first - keys.first % RUNG_PANEL, cols = score_cols(keys.end - base);
    float *o = a->o + number * row + a->keys.head * dv, sum[QUERIES];
    bool again[QUERIES];
    score(a, base, cols, number, count);
    for (size_t n = 0; n < count; n++) {
        range own = seen_by(a, number + n);
        sum[n] = kern->soften(a->s + n * a->s_row, own.first - base, own.end - base, whole_panels(cols));
    }
    weigh(o, a, base, keys, count);
    for (size_t n = 0; n < count; n++) {
        again[n] = count > 1 && isnan(kern->dot(o + n * row, o + n * row, dv));
        kern->scale(o + n * row, 1 / sum[n], dv);
    }
    for (size_t n = 0; n < count; n++)
        if (again[n]) ask_block(a, number + n, 1);
}

/* Queries number .. number+count-1, whose tokens are of one group. */
static void ask_group(asking *a, size_t number, size_t count, float *scratch)
{
    const rung_mech_conf *conf = a->keys.conf;
    key_panels *keys = &a->keys;
    keys->first = seen_by(a, number).first, keys->end = seen_by(a, number + count - 1).end;
    keys->base = keys->first - keys->first % RUNG_PANEL;
    size_t columns = whole_panels(panel_keys(keys)), block = size_min(block_queries(columns), count);
    a->k_columns = whole_line(scratch), a->v_rows = a->k_columns + columns * conf->dk;
    a->query = a->v_rows + panel_keys(keys) * whole_panels(conf->dv);
    a->s = a->query + block * conf->dk, a->s_row = score_row(panel_keys(keys));
    keys->room = a->s + block * a->s_row;
    rung_full_pack_keys(a->k_columns, keys);
    rung_full_pack_value_rows(a->v_rows, keys);
    for (size_t done = 0; done < count; done += block) ask_block(a, number + done, size_min(block, count - done));
}

void rung_full_attend_f32(float *o, const float *state, const float *const *in, const float *q, range keys, size_t pos,
                          size_t head, const rung_mech_conf *conf)
{
    size_t slot = slot_size(conf), H = rung_mech_kv_heads(conf), own = rung_mech_kv_head(conf, head);
    softmax_f32 s;
    rung_softmax_begin_f32(&s, o, q, conf);
    for (size_t j = keys.first, count; j < keys.end; j += count) {
        count = keys_together(j, keys.end, pos, conf);
        if (j < pos)
            rung_softmax_add_f32(&s, state + slot_of(j, conf) * slot + place_in_slot(head, conf), count, slot);
        else
            rung_softmax_add_pairs_f32(&s, in[IN_K] + ((j - pos) * H + own) * conf->dk,
                                       in[IN_V] + ((j - pos) * H + own) * conf->dv, count, H * conf->dk, H * conf->dv);
    }
    rung_softmax_end_f32(&s);
}

void rung_full_ask_f32(float *o, const float *state, const float *const *in, size_t pos, size_t tokens,
                       const size_t *at, size_t first, size_t count, size_t head, const rung_mech_conf *conf,
                       float *scratch)
{
    asking a = {.keys = {.conf = conf, .state = state, .k = in[IN_K], .v = in[IN_V], .pos = pos, .head = head},
                .o = o,
                .q = in[IN_Q],
                .at = at,
                .seen = pos + tokens};
    if (tokens == 1 && count == 1) {
        rung_full_attend_f32(o + (first * conf->heads + head) * conf->dv, state, in, in[IN_Q] + head * conf->dk,
                             seen_by(&a, first), pos, head, conf);
        return;
    }
    for (size_t i = first, next; i < first + count; i = next) {
        size_t start = asked_token(at, i);
        for (next = i + 1; next < first + count && asked_token(at, next) - start < rung_full_group(conf);) next++;
        ask_group(&a, i, next - i, scratch);
    }
}
