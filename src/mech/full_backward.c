/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of full and window attention: the equations of softmax_backward.c for a block of queries at a time. All
 * scores of a block are in memory at once, so a row of scores becomes weights and gradients without being computed
 * again. Everything else is a product of matrices. Nothing of size tokens x tokens is in memory. Weights stay e^(s -
 * m); the gradient of the output is divided by their sum instead, before it goes to the values. A stretch of one token
 * goes key by key, because panels would cost more than they save.
 */
#include "full.h"

/* One head of a stretch. Row 0 of `keys` is key keys.base. */
typedef struct undoing {
    key_panels keys;
    const rung_backward *b;
    float *k_columns, *v_columns, *k_rows; /* panels of [dk][keys], [dv][keys], [keys][dk] */
    float *dk, *dv;                        /* [keys][dk], [keys][dv] */
    float *s, *ds;                         /* [QUERIES][s_row] */
    float *q, *g;                          /* [QUERIES][dk], [QUERIES][dv]: the rows of the block, contiguous */
    size_t s_row, queries;
} undoing;

/* A block, and the keys that at least one of its queries sees. Columns of scores begin at `base`. */
typedef struct block {
    size_t query, count;
    range keys;
    size_t base, cols;
} block;

static size_t end_of(const rung_backward *b)
{
    return b->pos + b->tokens;
}

static range seen_by(const rung_backward *b, size_t query)
{
    return keys_of_query(b->pos + query, end_of(b), b->conf);
}

static size_t widest(const rung_mech_conf *conf)
{
    return conf->dk > conf->dv ? conf->dk : conf->dv;
}

size_t rung_full_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    size_t keys = rung_full_group_keys(conf, tokens), dk = conf->dk, dv = conf->dv;
    size_t of_keys = size_times(keys, dk + dv + whole_panels(dk) + dk + dv);
    size_t of_queries = size_plus(2 * score_row(keys), dk + dv);
    return size_plus(size_plus(of_keys, size_times(size_min(QUERIES, tokens), of_queries)),
                     LINE + RUNG_PANEL * widest(conf));
}

/* Makes the panels of the keys that queries first .. first+count-1 see, and sets their gradients to zero. */
static undoing undoing_init(const rung_backward *b, size_t head, size_t first, size_t count)
{
    size_t dk = b->conf->dk, dv = b->conf->dv;
    undoing u = {.keys = {.conf = b->conf, .state = b->state, .k = b->in[IN_K], .v = b->in[IN_V]}, .b = b};
    u.keys.pos = b->pos, u.keys.head = head;
    u.keys.first = seen_by(b, first).first, u.keys.end = seen_by(b, first + count - 1).end;
    u.keys.base = u.keys.first - u.keys.first % RUNG_PANEL;
    size_t keys = whole_panels(panel_keys(&u.keys)), queries = u.queries = size_min(block_queries(keys), count);
    u.k_columns = whole_line(b->scratch), u.v_columns = u.k_columns + keys * dk, u.k_rows = u.v_columns + keys * dv;
    u.dk = u.k_rows + keys * whole_panels(dk), u.dv = u.dk + keys * dk;
    u.s_row = score_row(keys), u.s = u.dv + keys * dv, u.ds = u.s + queries * u.s_row;
    u.q = u.ds + queries * u.s_row, u.g = u.q + queries * dk;
    u.keys.room = u.g + queries * dv;
    rung_full_pack_keys(u.k_columns, &u.keys);
    rung_full_pack_values(u.v_columns, &u.keys);
    rung_full_pack_key_rows(u.k_rows, &u.keys);
    memset(u.dk, 0, keys * (dk + dv) * sizeof *u.dk);
    return u;
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

/* Gathers the block's rows of queries, or of output gradients, in `x`, and multiplies them with all keys: y = x
 * panels. */
static void score(float *y, float *x, const undoing *u, const block *at, const float *from, const float *columns,
                  size_t width)
{
    for (size_t n = 0; n < at->count; n++)
        memcpy(x + n * width, from + ((at->query + n) * u->b->conf->heads + u->keys.head) * width, width * sizeof *x);
    const rung_product product = {.y = y,
                                  .x = x,
                                  .panels = columns + (at->base - u->keys.base) * width,
                                  .rows = at->count,
                                  .cols = at->cols,
                                  .inner = width,
                                  .y_row = u->s_row,
                                  .x_row = width,
                                  .x_inner = 1};
    rung_kernels_get()->multiply(&product);
}

/* Turns scores into weights and gradients of weights into gradients of scores, and divides g, the output gradient, by
 * the sum. */
static void undo_rows(const undoing *u, const block *at)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t dv = u->b->conf->dv;
    for (size_t n = 0; n < at->count; n++) {
        range own = seen_by(u->b, at->query + n);
        float sum = kern->soften_back(u->s + n * u->s_row, u->ds + n * u->s_row, own.first - at->base,
                                      own.end - at->base, whole_panels(at->cols));
        kern->scale(u->g + n * dv, 1 / sum, dv);
    }
}

static void add_to_queries(const undoing *u, const block *at)
{
    size_t dk = u->b->conf->dk, row = u->b->conf->heads * dk;
    float *dq = u->b->din[IN_Q] ? u->b->din[IN_Q] + at->query * row + u->keys.head * dk : NULL;
    const rung_product product = {.y = dq,
                                  .x = u->ds + (at->keys.first - at->base),
                                  .panels = u->k_rows + (at->keys.first - u->keys.base) * RUNG_PANEL,
                                  .start = dq,
                                  .rows = at->count,
                                  .cols = dk,
                                  .inner = at->keys.end - at->keys.first,
                                  .y_row = row,
                                  .x_row = u->s_row,
                                  .x_inner = 1,
                                  .start_row = row,
                                  .panel_rows = panel_keys(&u->keys)};
    if (dq) rung_kernels_get()->multiply(&product);
}

/* y[keys][width] += weights^T rows, rows = [queries][width]. */
static void add_to_keys(float *y, const undoing *u, const block *at, const float *weights, const float *rows,
                        size_t width)
{
    float *to = y + (at->keys.first - u->keys.base) * width;
    const rung_product product = {.y = to,
                                  .x = weights + (at->keys.first - at->base),
                                  .panels = rows,
                                  .w_row = width,
                                  .start = to,
                                  .rows = at->keys.end - at->keys.first,
                                  .cols = width,
                                  .inner = at->count,
                                  .y_row = width,
                                  .x_row = 1,
                                  .x_inner = u->s_row,
                                  .start_row = width};
    rung_kernels_get()->multiply(&product);
}

static void undo_block(const undoing *u, size_t query, size_t count)
{
    const rung_backward *b = u->b;
    size_t dk = b->conf->dk, dv = b->conf->dv;
    block at = {.query = query, .count = count};
    at.keys = (range){seen_by(b, query).first, seen_by(b, query + count - 1).end};
    at.base = at.keys.first - at.keys.first % RUNG_PANEL, at.cols = score_cols(at.keys.end - at.base);
    score(u->s, u->q, u, &at, b->in[IN_Q], u->k_columns, dk);
    score(u->ds, u->g, u, &at, b->g, u->v_columns, dv);
    undo_rows(u, &at);
    add_to_queries(u, &at);
    add_to_keys(u->dv, u, &at, u->s, u->g, dv);
    add_to_keys(u->dk, u, &at, u->ds, u->q, dk);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void add_times(float *to, float factor, const float *from, size_t n)
{
    if (to) rung_kernels_get()->axpy(to, factor, from, n);
}

/* Offset of the head's part of a slot in the state. */
static size_t slot_at(size_t token, const rung_backward *b, size_t head)
{
    return slot_of(token, b->conf) * slot_size(b->conf) + place_in_slot(head, b->conf);
}

/* Where the gradients of a key and its value are added; NULL where they are not wanted. */
typedef struct key_slopes {
    float *dk, *dv;
} key_slopes;

static key_slopes slopes_at(const rung_backward *b, size_t head, size_t j)
{
    size_t dk = b->conf->dk, dv = b->conf->dv;
    size_t row = (j - b->pos) * rung_mech_kv_heads(b->conf) + rung_mech_kv_head(b->conf, head);
    float *slot = j < b->pos && b->dstate ? b->dstate + slot_at(j, b, head) : NULL;
    if (j < b->pos) return (key_slopes){slot, slot ? slot + dk : NULL};
    return (key_slopes){b->din[IN_K] ? b->din[IN_K] + row * dk : NULL, b->din[IN_V] ? b->din[IN_V] + row * dv : NULL};
}

static void add_to_key(const rung_backward *b, size_t head, size_t j, const float *dk, const float *dv)
{
    key_slopes to = slopes_at(b, head, j);
    add_times(to.dk, 1, dk, b->conf->dk);
    add_times(to.dv, 1, dv, b->conf->dv);
}

/* Adds the gradients of the keys in the panels to those of the inputs, or of the state before them. */
static void store_keys(const undoing *u)
{
    size_t dk = u->b->conf->dk, dv = u->b->conf->dv;
    for (size_t j = u->keys.first, n = j - u->keys.base; j < u->keys.end; j++, n++)
        add_to_key(u->b, u->keys.head, j, u->dk + n * dk, u->dv + n * dv);
}

/* Moves the gradient of the state after the stretch to the tokens of the stretch that were stored there, and replaces
 * it. */
static void undo_store(const rung_backward *b, size_t head)
{
    size_t dk = b->conf->dk, dv = b->conf->dv, kept = size_min(b->tokens, slot_count(b->conf));
    for (size_t j = end_of(b) - kept; j < end_of(b); j++) {
        float *slot = b->dstate + slot_at(j, b, head);
        add_to_key(b, head, j, slot, slot + dk);
        memset(slot, 0, (dk + dv) * sizeof *slot);
    }
}

/* ---- a query alone ----------------------------------------------------------------------------------------------- */

/* For a stretch of one token. */
static void undo_query(const rung_backward *b, size_t head)
{
    const rung_kernels *kern = rung_kernels_get();
    const key_panels keys = {
        .conf = b->conf, .state = b->state, .k = b->in[IN_K], .v = b->in[IN_V], .pos = b->pos, .head = head};
    size_t dk = b->conf->dk, dv = b->conf->dv;
    range own = seen_by(b, 0);
    size_t base = own.first - own.first % RUNG_PANEL, cols = whole_panels(own.end - base);
    const float *q = b->in[IN_Q] + head * dk, *g = b->g + head * dv;
    float *s = b->scratch, *ds = s + cols, *dq = b->din[IN_Q] ? b->din[IN_Q] + head * dk : NULL;
    for (size_t j = own.first; j < own.end; j++) {
        s[j - base] = kern->dot(q, rung_full_key(&keys, j), dk);
        ds[j - base] = kern->dot(g, rung_full_value(&keys, j), dv);
    }
    float scale = 1 / kern->soften_back(s, ds, own.first - base, own.end - base, cols);
    for (size_t j = own.first; j < own.end; j++) {
        key_slopes to = slopes_at(b, head, j);
        add_times(dq, ds[j - base], rung_full_key(&keys, j), dk);
        add_times(to.dk, ds[j - base], q, dk);
        add_times(to.dv, s[j - base] * scale, g, dv);
    }
}

void rung_full_backward_f32(const rung_backward *b, size_t head)
{
    size_t group = rung_full_group(b->conf);
    if (b->dstate && is_first_of_key(head, b->conf)) undo_store(b, head);
    if (b->tokens == 1) {
        undo_query(b, head);
        return;
    }
    for (size_t i = 0, count; i < b->tokens; i += count) {
        count = size_min(group, b->tokens - i);
        undoing u = undoing_init(b, head, i, count);
        for (size_t done = 0; done < count; done += u.queries)
            undo_block(&u, i + done, size_min(u.queries, count - done));
        store_keys(&u);
    }
}
