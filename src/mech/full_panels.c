/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The keys and values of one head as panels of matrix products, read from where they lie: the inputs of a call, or the
 * slots of the state before it.
 */
#include "full.h"

/* The keys of a window are packed again for every group; with as many queries as keys that costs little. */
enum { GROUP_MIN = 4 * QUERIES };

size_t rung_full_group(const rung_mech_conf *conf)
{
    size_t window = window_of(conf);
    return window < GROUP_MIN ? GROUP_MIN : window;
}

size_t rung_full_group_keys(const rung_mech_conf *conf, size_t tokens)
{
    size_t window = window_of(conf), both = conf->causal ? window : size_times(2, window);
    return whole_panels(size_min(tokens, size_plus(rung_full_group(conf), size_plus(both, RUNG_PANEL))));
}

/* Rows of keys or of values, and how far the next one is. */
typedef struct rows {
    const float *at;
    size_t stride, width;
} rows;

static rows rows_from(const key_panels *p, size_t j, bool values)
{
    const rung_mech_conf *conf = p->conf;
    size_t width = values ? conf->dv : conf->dk, offset = values ? conf->dk : 0;
    size_t heads = rung_mech_kv_heads(conf), slot = slot_of(j, conf) * slot_size(conf) + place_in_slot(p->head, conf);
    if (j < p->pos) return (rows){p->state + slot + offset, slot_size(conf), width};
    const float *from = values ? p->v : p->k;
    return (rows){from + ((j - p->pos) * heads + rung_mech_kv_head(conf, p->head)) * width, heads * width, width};
}

/* The strip's keys side by side, zeros for those before the first. */
static rows gathered(const key_panels *p, size_t j, size_t end, bool values)
{
    size_t width = values ? p->conf->dv : p->conf->dk;
    for (size_t n = 0; n < end - j; n++)
        if (j + n < p->first)
            memset(p->room + n * width, 0, width * sizeof *p->room);
        else
            memcpy(p->room + n * width, rows_from(p, j + n, values).at, width * sizeof *p->room);
    return (rows){p->room, width, width};
}

static void pack_columns(float *panels, const key_panels *p, bool values)
{
    for (size_t j = p->base, end; j < p->end; j = end) {
        end = size_min(j + RUNG_PANEL, p->end);
        bool together = j >= p->first && keys_together(j, end, p->pos, p->conf) == end - j;
        rows from = together ? rows_from(p, j, values) : gathered(p, j, end, values);
        rung_kernels_get()->pack(panels + (j - p->base) * from.width, from.at, from.width, end - j, 1, from.stride);
    }
}

/* The rows before the first key are neither written nor read. */
static void pack_rows(float *panels, const key_panels *p, bool values)
{
    for (size_t j = p->first, count; j < p->end; j += count) {
        count = keys_together(j, p->end, p->pos, p->conf);
        rows from = rows_from(p, j, values);
        for (size_t col = 0; col < from.width; col += RUNG_PANEL)
            rung_kernels_get()->pack(panels + col * panel_keys(p) + (j - p->base) * RUNG_PANEL, from.at + col, count,
                                     size_min(RUNG_PANEL, from.width - col), from.stride, 1);
    }
}

const float *rung_full_key(const key_panels *p, size_t j)
{
    return rows_from(p, j, false).at;
}

const float *rung_full_value(const key_panels *p, size_t j)
{
    return rows_from(p, j, true).at;
}

void rung_full_pack_keys(float *panels, const key_panels *p)
{
    pack_columns(panels, p, false);
}

void rung_full_pack_values(float *panels, const key_panels *p)
{
    pack_columns(panels, p, true);
}

void rung_full_pack_key_rows(float *panels, const key_panels *p)
{
    pack_rows(panels, p, false);
}

void rung_full_pack_value_rows(float *panels, const key_panels *p)
{
    pack_rows(panels, p, true);
}
