/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Full and window attention: which keys a query sees, and where they are in the state (see full.c).
 */
#ifndef RUNG_MECH_FULL_H
#define RUNG_MECH_FULL_H

#include "softmax.h"

static inline size_t window_of(const rung_mech_conf *conf)
{
    return conf->mech == &rung_mech_window ? (size_t)rung_mech_param(conf, "W") : SIZE_MAX;
}

static inline size_t slot_size(const rung_mech_conf *conf)
{
    return conf->heads * (conf->dk + conf->dv);
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

void rung_full_backward_f32(const rung_backward *b, size_t head);
size_t rung_full_backward_scratch(const rung_mech_conf *conf, size_t tokens);

#endif
