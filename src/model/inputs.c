/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What a layer computes before its mechanism (projections, short convolutions, gates, decays, rotary positions, vectors
 * of length 1) and after it (the output gate). The order for one input is: projection; convolution and silu; the
 * function of its source; length 1, or the norm with weights; rotation; the factor of queries.
 */
#include "walk.h"

#include <string.h>

/* x = the history followed by the projections; y = silu of their convolution. Keeps the last width-1 rows as the new
 * history. */
static void convolve(walk *w, reals y, reals history, reals taps, size_t row, size_t width)
{
    size_t before = (width - 1) * row;
    rung_reals_copy(w->padded, history, before);
    rung_reals_copy(reals_at(w->padded, before), y, w->tokens * row);
    w->ops->convolve(w->p, y, w->padded, taps, w->tokens, row, width);
    w->ops->activate(w->p, y, ACT_SILU, w->tokens * row);
    walk_store(w, y, RUNG_QUANTITY_ACT, w->tokens * row);
    rung_reals_copy(history, reals_at(w->padded, w->tokens * row), before);
}

/* Fills every token with the same number per head. */
static void repeat_rate(walk *w, reals y, reals rate, size_t heads)
{
    for (size_t t = 0; t < w->tokens; t++) rung_reals_copy(reals_at(y, t * heads), rate, heads);
}

/* values [tokens][heads][dv] *= times [tokens][heads]. */
static void multiply_heads(walk *w, reals values, reals times, const rung_mech_conf *conf)
{
    for (size_t t = 0; t < w->tokens; t++)
        for (size_t h = 0; h < conf->heads; h++)
            for (size_t i = 0; i < conf->dv; i++)
                w->ops->multiply(w->p, reals_at(values, (t * conf->heads + h) * conf->dv + i),
                                 reals_at(times, t * conf->heads + h), 1);
}

static void project(walk *w, reals y, const input_weights *weights, const rung_mech_input *input,
                    const rung_mech_conf *conf, reals history, reals h)
{
    size_t row = rung_mech_row(input, conf);
    if (input->source == RUNG_FROM_RATE) {
        repeat_rate(w, y, weights->rate, conf->heads);
        return;
    }
    walk_linear(w, y, h, &weights->linear);
    if (reals_set(weights->conv)) convolve(w, y, history, weights->conv, row, conf->conv);
}

/* Scales each head's part of a row to length 1. */
static void make_unit(walk *w, reals y, size_t heads, size_t dk)
{
    w->ops->unit(w->p, y, w->tokens * heads, dk);
    walk_store(w, y, RUNG_QUANTITY_ACT, w->tokens * heads * dk);
}

/* Normalises each head's part of a row, and multiplies it by weights. */
static void normalise(walk *w, reals y, reals weights, size_t heads, size_t dk)
{
    w->ops->row_norm(w->p, y, weights, w->tokens * heads, dk);
    walk_store(w, y, RUNG_QUANTITY_ACT, w->tokens * heads * dk);
}

static void multiply_queries(walk *w, reals y, const rung_mech_conf *conf)
{
    w->ops->scale(w->p, y, conf->scale, w->tokens * conf->heads * conf->dk);
    walk_store(w, y, RUNG_QUANTITY_ACT, w->tokens * conf->heads * conf->dk);
}

static void rotate(walk *w, reals y, size_t heads, size_t dk)
{
    w->ops->rotate(w->p, y, w->pos, w->tokens, heads);
    walk_store(w, y, RUNG_QUANTITY_ACT, w->tokens * heads * dk);
}

/* Applies the function of the source. Decays come last (see rung_walk_inputs), because Mamba-2's values need
 * softplus(z). */
static void apply_source(walk *w, reals *in, size_t index, const rung_mech_conf *conf)
{
    const rung_mech_input *input = &conf->mech->inputs[index];
    reals y = in[index];
    size_t count = w->tokens * rung_mech_row(input, conf);
    switch (input->source) {
    case RUNG_FROM_GATE:
        w->ops->activate(w->p, y, ACT_SIGMOID, count);
        if (conf->neg) w->ops->add(w->p, y, y, count);
        break;
    case RUNG_FROM_DECAY:
    case RUNG_FROM_SOFTPLUS:
        w->ops->activate(w->p, y, ACT_SOFTPLUS, count);
        break;
    case RUNG_FROM_LOG_GATE:
        w->ops->activate(w->p, y, ACT_LOG_GATE, count);
        break;
    case RUNG_FROM_KEEP:
        w->ops->activate(w->p, y, ACT_KEEP, count);
        break;
    case RUNG_FROM_REMOVAL:
        make_unit(w, y, conf->heads, conf->dk);
        w->ops->activate(w->p, y, ACT_MINUS, count);
        break;
    case RUNG_FROM_REPLACEMENT:
        w->ops->activate(w->p, y, ACT_SIGMOID, count);
        w->ops->multiply(w->p, y, in[index - 1], count);
        w->ops->activate(w->p, y, ACT_MINUS, count);
        break;
    case RUNG_FROM_LINEAR:
    case RUNG_FROM_TIMED:
    case RUNG_FROM_RATE:
    case RUNG_FROM_PARAMETER:
        return;
    }
    if (input->source != RUNG_FROM_DECAY) walk_store(w, y, input->quantity, count);
}

/* Multiplies Mamba-2's values by the step, then replaces the step by the logarithm of a decay. */
static void apply_decays(walk *w, reals *in, const group_weights *group)
{
    const rung_mech_conf *conf = group->conf;
    size_t step = rung_mech_decay_input(conf->mech);
    const rung_mech_input *decay = &conf->mech->inputs[step];
    if (!decay->name || rung_mech_row(decay, conf) == 0) return;
    for (size_t i = 0; conf->mech->inputs[i].name; i++)
        if (conf->mech->inputs[i].source == RUNG_FROM_TIMED) multiply_heads(w, in[i], in[step], conf);
    w->ops->decay(w->p, in[step], group->input[step].rate, w->tokens, conf->heads,
                  rung_mech_row(decay, conf) / conf->heads);
    walk_store(w, in[step], decay->quantity, w->tokens * rung_mech_row(decay, conf));
}

/* Places in rung_mech.inputs of every mechanism that keeps tokens. */
enum { KEY_INPUT = 1, VALUE_INPUT = 2 };

/* Stores the keys and values of a cache as soon as they are made: every query, that of their own token too, reads what
 * is stored. */
static void store_cache(walk *w, reals *in, const rung_mech_conf *conf, double *scales)
{
    if (conf->mech->keeps != RUNG_KEEPS_TOKENS || !w->p->exact || !w->p->numbers.mixed) return;
    const rung_kept kept = rung_mech_kept(conf);
    const rung_stored *stored = &w->p->numbers.of[RUNG_QUANTITY_CACHE];
    size_t each = rung_kept_scales(&kept, stored), heads = rung_mech_kv_heads(conf);
    for (size_t t = 0; t < w->tokens; t++)
        for (size_t h = 0; h < heads; h++) {
            double *at = scales ? scales + (conf->mech->slot(conf, w->pos + t) * heads + h) * each : NULL;
            reals key = reals_at(in[KEY_INPUT], (t * heads + h) * conf->dk);
            reals value = reals_at(in[VALUE_INPUT], (t * heads + h) * conf->dv);
            w->ops->store(w->p, key, RUNG_QUANTITY_CACHE, 1, conf->dk, at);
            if (at) at += rung_stored_scales(stored, conf->dk);
            w->ops->store(w->p, value, RUNG_QUANTITY_CACHE, 1, conf->dv, at);
        }
}

void rung_walk_inputs(walk *w, reals in[RUNG_MECH_INPUT_MAX], const group_weights *group, group_state *state, reals h)
{
    const rung_mech_conf *conf = group->conf;
    size_t behind = 0;
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        const rung_mech_input *input = &conf->mech->inputs[i];
        size_t row = rung_mech_row(input, conf);
        in[i] = row == 0 ? (reals){0} : input->source == RUNG_FROM_PARAMETER ? group->input[i].constant : w->in[i];
        if (row == 0 || input->source == RUNG_FROM_PARAMETER) continue;
        project(w, in[i], &group->input[i], input, conf, reals_at(state->conv, behind), h);
        if (rung_input_has_conv(input, conf)) behind += (conf->conv - 1) * row;
        apply_source(w, in, i, conf);
        size_t heads = rung_mech_input_heads(input, conf);
        if (conf->unit && rung_mech_is_query_or_key(input)) make_unit(w, in[i], heads, conf->dk);
        if (reals_set(group->input[i].norm)) normalise(w, in[i], group->input[i].norm, heads, conf->dk);
        if (input->rotary && reals_set(w->p->cos)) rotate(w, in[i], heads, conf->dk);
        if (conf->scale > 0 && rung_mech_is_query(input)) multiply_queries(w, in[i], conf);
    }
    apply_decays(w, in, group);
    store_cache(w, in, conf, state->scales);
}

/* out = rms(out of a head) * silu(W h), or out * sigmoid(W h). */
void rung_walk_gate(walk *w, reals out, const group_weights *group, reals h)
{
    const rung_mech_conf *conf = group->conf;
    size_t width = conf->heads * conf->dv;
    if (!conf->gate && !conf->out_gate) return;
    walk_linear(w, w->gate, h, &group->gate);
    w->ops->activate(w->p, w->gate, conf->gate ? ACT_SILU : ACT_SIGMOID, w->tokens * width);
    if (conf->gate) w->ops->row_norm(w->p, out, group->gate_norm, w->tokens * conf->heads, conf->dv);
    w->ops->multiply(w->p, out, w->gate, w->tokens * width);
    walk_store(w, out, RUNG_QUANTITY_ACT, w->tokens * width);
}
