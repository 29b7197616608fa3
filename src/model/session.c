/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Sessions: creating, copying and freeing the state of every layer, and its bits.
 */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

static const rung_layer *layer_of(const rung_session *s, size_t layer)
{
    return &s->program->model->arch.layer[layer];
}

static size_t layer_count(const rung_session *s)
{
    return s->program->model->arch.layer_count;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static rung_status allocate_state(rung_session *s, rung_error *err)
{
    s->state = rung_arena_alloc(&s->arena, layer_count(s), sizeof *s->state, err);
    s->view = rung_reals_alloc(s->program, &s->arena, s->program->model->spec.d_model, err);
    if (!s->state || !reals_set(s->view)) return RUNG_SYSTEM;
    for (size_t i = 0; i < layer_count(s); i++) {
        const rung_layer *layer = layer_of(s, i);
        s->state[i] = rung_arena_alloc(&s->arena, layer->group_count, sizeof **s->state, err);
        for (size_t g = 0; s->state[i] && g < layer->group_count; g++) {
            group_state *state = &s->state[i][g];
            const rung_mech_conf *conf = &layer->group[g];
            size_t elements = rung_mech_state_capacity(conf, s->max_tokens);
            state->mech = rung_reals_alloc(s->program, &s->arena, elements, err);
            state->conv = rung_reals_alloc(s->program, &s->arena, rung_head_group_conv_elements(conf), err);
            if (!reals_set(state->mech) || !reals_set(state->conv)) return RUNG_SYSTEM;
        }
        if (!s->state[i]) return RUNG_SYSTEM;
    }
    return RUNG_OK;
}

rung_status rung_session_new(rung_session **out, const rung_program *program, size_t max_tokens, rung_error *err)
{
    rung_session *s = rung_calloc(1, sizeof *s, err);
    if (!s) return RUNG_SYSTEM;
    s->program = program, s->max_tokens = max_tokens;
    rung_arena_init(&s->arena);
    rung_status status = allocate_state(s, err);
    if (status != RUNG_OK) {
        rung_session_free(s);
        return status;
    }
    *out = s;
    return RUNG_OK;
}

void rung_session_free(rung_session *s)
{
    if (!s) return;
    rung_arena_clear(&s->arena);
    free(s);
}

static void zero(reals r, size_t count)
{
    if (r.x) memset(r.x, 0, count * sizeof *r.x);
    if (r.f) memset(r.f, 0, count * sizeof *r.f);
}

static void reset_group(group_state *state, const rung_mech_conf *conf, size_t max_tokens)
{
    zero(state->mech, rung_mech_state_capacity(conf, max_tokens));
    zero(state->conv, rung_head_group_conv_elements(conf));
}

void rung_session_reset(rung_session *s)
{
    for (size_t i = 0; i < layer_count(s); i++)
        for (size_t g = 0; g < layer_of(s, i)->group_count; g++)
            reset_group(&s->state[i][g], &layer_of(s, i)->group[g], s->max_tokens);
    s->tokens = 0;
    s->broken = false;
}

rung_status rung_session_copy(rung_session *to, const rung_session *from, rung_error *err)
{
    if (to->program != from->program)
        return rung_fail(err, RUNG_USAGE, "a session can only be copied to one of the same program");
    if (to->max_tokens < from->tokens)
        return rung_fail(err, RUNG_USAGE, "the session has room for %zu tokens, the copied one holds %zu",
                         to->max_tokens, from->tokens);
    if (to == from) return RUNG_OK;
    for (size_t i = 0; i < layer_count(to); i++) /* numbers beyond the carried ones are never read */
        for (size_t g = 0; g < layer_of(to, i)->group_count; g++) {
            const rung_mech_conf *conf = &layer_of(to, i)->group[g];
            rung_reals_copy(to->state[i][g].mech, from->state[i][g].mech, rung_mech_state_elements(conf, from->tokens));
            rung_reals_copy(to->state[i][g].conv, from->state[i][g].conv, rung_head_group_conv_elements(conf));
        }
    rung_reals_copy(to->view, from->view, to->program->model->spec.d_model);
    to->tokens = from->tokens;
    to->broken = from->broken;
    return RUNG_OK;
}

/* ---- what is carried --------------------------------------------------------------------------------------------- */

size_t rung_session_tokens(const rung_session *s)
{
    return s->tokens;
}

rung_carry rung_session_carry(const rung_session *s, size_t layer)
{
    rung_carry sum = {0};
    for (size_t g = 0; g < layer_of(s, layer)->group_count; g++) {
        const rung_mech_conf *conf = &layer_of(s, layer)->group[g];
        rung_carry one = conf->mech->carry(conf, s->tokens);
        sum.recurrent += one.recurrent, sum.window += one.window, sum.cache += one.cache;
        sum.conv += rung_head_group_conv_elements(conf);
    }
    return sum;
}

int rung_session_number_bits(const rung_session *s)
{
    return s->program->exact ? s->program->fmt.bits : 32;
}

uint64_t rung_session_state_bits(const rung_session *s)
{
    uint64_t elements = 0;
    for (size_t i = 0; i < layer_count(s); i++) elements += rung_carry_total(rung_session_carry(s, i));
    return elements * (uint64_t)rung_session_number_bits(s);
}

void rung_session_view(const rung_session *s, double *out)
{
    for (size_t i = 0; i < s->program->model->spec.d_model; i++) out[i] = rung_reals_get(s->view, i);
}

/* Gathers all carried numbers contiguously, so that codes of any width follow each other without gaps. */
static size_t gather(double *to, const rung_session *s)
{
    size_t count = 0;
    for (size_t i = 0; i < layer_count(s); i++)
        for (size_t g = 0; g < layer_of(s, i)->group_count; g++) {
            const rung_mech_conf *conf = &layer_of(s, i)->group[g];
            size_t elements = rung_mech_state_elements(conf, s->tokens), before = rung_head_group_conv_elements(conf);
            for (size_t e = 0; e < elements; e++) to[count++] = rung_reals_get(s->state[i][g].mech, e);
            for (size_t e = 0; e < before; e++) to[count++] = rung_reals_get(s->state[i][g].conv, e);
        }
    return count;
}

/* A layer may carry numbers that it never reads, so a NaN may be found only here. */
static rung_status gather_numbers(double *to, const rung_session *s, rung_error *err)
{
    size_t at = rung_num_find_nan(to, gather(to, s)), first = 0, layer = 0;
    if (at == SIZE_MAX) return RUNG_OK;
    while (layer + 1 < layer_count(s) && at >= first + rung_carry_total(rung_session_carry(s, layer)))
        first += rung_carry_total(rung_session_carry(s, layer++));
    return rung_fail(
        err, RUNG_INPUT,
        "number %zu of the state of layer %zu is NaN after %zu tokens, and NaN has no code that could be compared; use "
        "a format with more exponent bits, or smaller weights",
        at - first, layer, s->tokens);
}

rung_status rung_session_pack(const rung_session *s, uint8_t *out, rung_error *err)
{
    rung_fmt f32;
    if (s->broken)
        return rung_fail(err, RUNG_USAGE, "the session failed before, so its state is undefined; reset it first");
    size_t elements = (size_t)(rung_session_state_bits(s) / (uint64_t)rung_session_number_bits(s));
    double *all = rung_calloc(elements, sizeof *all, err);
    if (!all) return RUNG_SYSTEM;
    rung_status status = rung_fmt_parse(&f32, "f32", err);
    RUNG_NEXT(status, gather_numbers(all, s, err));
    if (status == RUNG_OK) rung_num_pack(out, s->program->exact ? &s->program->fmt : &f32, all, elements);
    free(all);
    return status;
}

size_t rung_argmax(const double *x, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (x[i] > x[best]) best = i;
    return best;
}
