/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Full and window attention: which keys a query sees, and where they are in the state (see full.c). The fast forms take
 * queries in blocks and all keys that a block sees at once, prepared as panels of matrix products.
 */
#ifndef RUNG_MECH_FULL_H
#define RUNG_MECH_FULL_H

#include "softmax.h"

#include "rung/kern.h"

static inline size_t window_of(const rung_mech_conf *conf)
{
    return conf->mech == &rung_mech_window ? (size_t)rung_mech_param(conf, "W") : SIZE_MAX;
}

static inline size_t slot_size(const rung_mech_conf *conf)
{
    return rung_mech_kv_heads(conf) * (conf->dk + conf->dv);
}

/* Where the key and value that a head of queries reads begin in a slot. */
static inline size_t place_in_slot(size_t head, const rung_mech_conf *conf)
{
    return rung_mech_kv_head(conf, head) * (conf->dk + conf->dv);
}

/* Of the heads that share a key, the one that comes last stores it, and the first takes back its gradient. */
static inline bool stores_key(size_t head, const rung_mech_conf *conf)
{
    size_t share = conf->heads / rung_mech_kv_heads(conf);
    return head % share == share - 1;
}

static inline bool is_first_of_key(size_t head, const rung_mech_conf *conf)
{
    return head % (conf->heads / rung_mech_kv_heads(conf)) == 0;
}

static inline size_t slot_count(const rung_mech_conf *conf)
{
    return conf->causal ? window_of(conf) : SIZE_MAX;
}

static inline size_t slot_of(size_t token, const rung_mech_conf *conf)
{
    size_t slots = slot_count(conf);
    return slots == SIZE_MAX ? token : token % slots;
}

/* Keys that a query may see: [first, end). */
typedef struct range {
    size_t first, end;
} range;

static inline range keys_of_query(size_t pos, size_t seen, const rung_mech_conf *conf)
{
    size_t window = window_of(conf);
    size_t first = pos >= window ? pos - window + 1 : 0;
    size_t end = conf->causal ? pos + 1 : window < SIZE_MAX - pos ? size_min(seen, pos + window) : seen;
    return (range){first, end};
}

/* The number of keys from j on, before `end`, that are adjacent in memory. New keys are in the inputs of this call,
 * older ones in the state, where a ring wraps once. */
static inline size_t keys_together(size_t j, size_t end, size_t pos, const rung_mech_conf *conf)
{
    if (j >= pos) return end - j;
    return size_min(size_min(end, pos) - j, slot_count(conf) - slot_of(j, conf));
}

/* The token of query number i. */
static inline size_t asked_token(const size_t *at, size_t i)
{
    return at ? at[i] : i;
}

/* ---- fast: the keys of one head as panels (full_panels.c) -------------------------------------------------------- */

/* Largest number of queries in a block: four tiles of products with 14 rows. With fewer, the products with a block's
 * transpose are short. With more, the panels do not fit into the second-level cache. */
enum { QUERIES = 56 };

/* Half of them if there are few keys; otherwise no query would see much of what a block multiplies. */
static inline size_t block_queries(size_t keys)
{
    return keys <= 128 ? QUERIES / 2 : QUERIES;
}

/* Keys [first, end) of a head. Those before pos are in the state. Panels begin at `base`, the multiple of RUNG_PANEL at
 * or before `first`. So a column of scores has the same lane in every sum, independent of the block. */
typedef struct key_panels {
    const rung_mech_conf *conf;
    const float *state, *k, *v;
    size_t pos, head;
    size_t first, end, base;
    float *room; /* [RUNG_PANEL][dk or dv] */
} key_panels;

/* Tokens whose queries share panels: all of them, or few enough that the memory of a window does not grow with the
 * text. */
size_t rung_full_group(const rung_mech_conf *conf);
/* The largest number of keys from `base` on that such queries have when the text has `tokens` tokens; a multiple of
 * RUNG_PANEL. */
size_t rung_full_group_keys(const rung_mech_conf *conf, size_t tokens);

static inline size_t whole_panels(size_t keys)
{
    return size_plus(keys, RUNG_PANEL - 1) / RUNG_PANEL * RUNG_PANEL;
}

enum { LINE = 16 }; /* floats of a cache line, and of the widest vector */

/* Aligns the start of panels: a vector that crosses two cache lines is read twice. */
static inline float *whole_line(float *room)
{
    size_t over = (uintptr_t)room / sizeof *room % LINE;
    return over ? room + (LINE - over) : room;
}

/* Columns of scores for `keys` keys: whole vectors. No query sees the last columns. */
static inline size_t score_cols(size_t keys)
{
    return (keys + LINE - 1) / LINE * LINE;
}

/* Distance of two rows of scores: an odd number of cache lines. Otherwise a column of a block would be in one set of
 * the cache. */
static inline size_t score_row(size_t keys)
{
    return size_plus(whole_panels(keys), LINE);
}

static inline size_t panel_keys(const key_panels *p)
{
    return p->end - p->base;
}

/* Key j and its value, where they are stored. */
const float *rung_full_key(const key_panels *p, size_t j);
const float *rung_full_value(const key_panels *p, size_t j);
/* Packs keys or values as columns, [dk or dv][keys], and as rows. */
void rung_full_pack_keys(float *panels, const key_panels *p);
void rung_full_pack_values(float *panels, const key_panels *p);
void rung_full_pack_key_rows(float *panels, const key_panels *p);
void rung_full_pack_value_rows(float *panels, const key_panels *p);

/* ---- fast: forwards (full_fast.c) and backwards (full_backward.c) ------------------------------------------------ */

/* One query of one head without panels. Keys from position pos on are not in the state yet. */
void rung_full_attend_f32(float *o, const float *state, const float *const *in, const float *q, range keys, size_t pos,
                          size_t head, const rung_mech_conf *conf);
void rung_full_ask_f32(float *o, const float *state, const float *const *in, size_t pos, size_t tokens,
                       const size_t *at, size_t first, size_t count, size_t head, const rung_mech_conf *conf,
                       float *scratch);
size_t rung_full_ask_scratch(const rung_mech_conf *conf, size_t tokens);

void rung_full_backward_f32(const rung_backward *b, size_t head);
size_t rung_full_backward_scratch(const rung_mech_conf *conf, size_t tokens);

#endif
