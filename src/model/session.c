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

/* How many scales the carried numbers of a group have, if these are its first `elements`. */
static size_t scales_of(const rung_session *s, const rung_mech_conf *conf, size_t elements)
{
    if (!s->program->exact || !s->program->numbers.mixed) return 0;
    const rung_kept kept = rung_mech_kept(conf);
    return elements / rung_kept_elements(&kept) *
           rung_kept_scales(&kept, &s->program->numbers.of[rung_mech_kept_quantity(conf->mech)]);
}

static rung_status allocate_scales(rung_session *s, group_state *state, const rung_mech_conf *conf, rung_error *err)
{
    size_t count = scales_of(s, conf, rung_mech_state_capacity(conf, s->max_tokens));
    if (count == 0) return RUNG_OK;
    state->scales = rung_arena_alloc(&s->arena, count, sizeof *state->scales, err);
    return state->scales ? RUNG_OK : RUNG_SYSTEM;
}

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
            RUNG_TRY(allocate_scales(s, state, conf, err));
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

static void reset_group(const rung_session *s, group_state *state, const rung_mech_conf *conf)
{
    size_t capacity = rung_mech_state_capacity(conf, s->max_tokens), scales = scales_of(s, conf, capacity);
    zero(state->mech, capacity);
    zero(state->conv, rung_head_group_conv_elements(conf));
    if (scales) memset(state->scales, 0, scales * sizeof *state->scales);
}

void rung_session_reset(rung_session *s)
{
    for (size_t i = 0; i < layer_count(s); i++)
        for (size_t g = 0; g < layer_of(s, i)->group_count; g++)
            reset_group(s, &s->state[i][g], &layer_of(s, i)->group[g]);
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
            size_t scales = scales_of(to, conf, rung_mech_state_elements(conf, from->tokens));
            if (scales) memcpy(to->state[i][g].scales, from->state[i][g].scales, scales * sizeof(double));
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

/* fp32 has 32 bits for everything. */
static uint64_t group_bits(const rung_session *s, const rung_mech_conf *conf, size_t tokens)
{
    if (!s->program->exact) return 32 * (uint64_t)rung_mech_state_elements(conf, tokens);
    return rung_mech_state_bits(conf, &s->program->numbers, tokens);
}

static uint64_t conv_bits(const rung_session *s, const rung_mech_conf *conf)
{
    int each = s->program->exact ? s->program->numbers.of[RUNG_QUANTITY_ACT].code.bits : 32;
    return (uint64_t)each * rung_head_group_conv_elements(conf);
}

/* With mixed formats a group carries numbers of one kind. */
static void add_kinds(rung_carry_bits *sum, const rung_session *s, const rung_mech_conf *conf)
{
    const rung_carry carry = conf->mech->carry(conf, s->tokens);
    const rung_program *p = s->program;
    uint64_t each = p->exact ? (uint64_t)p->fmt.bits : 32, bits = group_bits(s, conf, s->tokens);
    bool mixed = p->exact && p->numbers.mixed;
    sum->recurrent += !mixed ? each * carry.recurrent : carry.recurrent ? bits : 0;
    sum->window += !mixed ? each * carry.window : carry.window ? bits : 0;
    sum->cache += !mixed ? each * carry.cache : carry.cache ? bits : 0;
    sum->conv += conv_bits(s, conf);
}

rung_carry_bits rung_session_carry_bits(const rung_session *s, size_t layer)
{
    rung_carry_bits sum = {0};
    for (size_t g = 0; g < layer_of(s, layer)->group_count; g++) add_kinds(&sum, s, &layer_of(s, layer)->group[g]);
    return sum;
}

uint64_t rung_session_state_bits(const rung_session *s)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < layer_count(s); i++)
        for (size_t g = 0; g < layer_of(s, i)->group_count; g++) {
            const rung_mech_conf *conf = &layer_of(s, i)->group[g];
            bits += group_bits(s, conf, s->tokens) + conv_bits(s, conf);
        }
    return bits;
}

void rung_session_view(const rung_session *s, double *out)
{
    for (size_t i = 0; i < s->program->model->spec.d_model; i++) out[i] = rung_reals_get(s->view, i);
}

/* A layer may carry numbers that it never reads, so a NaN may be found only here. */
static rung_status refuse_nan(const rung_session *s, reals numbers, size_t count, size_t layer, rung_error *err)
{
    size_t at = rung_reals_find_nan(numbers, count);
    if (at == SIZE_MAX) return RUNG_OK;
    return rung_fail(
        err, RUNG_INPUT,
        "number %zu of the state of layer %zu is NaN after %zu tokens, and NaN has no code that could be compared; use "
        "a format with more exponent bits, or smaller weights",
        at, layer, s->tokens);
}

/* fp32: as numbers of f32. */
static uint64_t pack_fast(uint8_t *out, uint64_t bit, const rung_stored *f32, const float *x, size_t count)
{
    for (size_t e = 0; e < count; e++) bit = rung_stored_pack(out, bit, f32, &(double){(double)x[e]}, NULL, 1, 1);
    return bit;
}

/* Units of rows, each behind its scales. */
static uint64_t pack_kept(uint8_t *out, uint64_t bit, const rung_session *s, const group_state *state,
                          const rung_mech_conf *conf, size_t elements)
{
    const rung_kept kept = rung_mech_kept(conf);
    const rung_stored *stored = rung_mech_stored(conf->mech, &s->program->numbers, s->tokens);
    const double *x = state->mech.x, *scales = state->scales;
    for (const double *end = x + elements; x < end;)
        for (size_t p = 0; p < 2; p++) {
            size_t rows = kept.part[p].rows, row = kept.part[p].row;
            bit = rung_stored_pack(out, bit, stored, x, scales, rows, row);
            x += rows * row;
            if (scales) scales += rows * rung_stored_scales(stored, row);
        }
    return bit;
}

/* Codes of any width follow each other without gaps. */
static uint64_t pack_group(uint8_t *out, uint64_t bit, const rung_session *s, const group_state *state,
                           const rung_mech_conf *conf, const rung_stored *f32)
{
    size_t elements = rung_mech_state_elements(conf, s->tokens), before = rung_head_group_conv_elements(conf);
    const rung_numbers *n = &s->program->numbers;
    if (!s->program->exact) {
        bit = pack_fast(out, bit, f32, state->mech.f, elements);
        return pack_fast(out, bit, f32, state->conv.f, before);
    }
    if (n->mixed)
        bit = pack_kept(out, bit, s, state, conf, elements);
    else
        bit = rung_stored_pack(out, bit, &n->of[RUNG_QUANTITY_STATE], state->mech.x, NULL, 1, elements);
    return rung_stored_pack(out, bit, &n->of[RUNG_QUANTITY_ACT], state->conv.x, NULL, 1, before);
}

rung_status rung_session_pack(const rung_session *s, uint8_t *out, rung_error *err)
{
    rung_numbers f32;
    uint64_t bit = 0;
    if (s->broken)
        return rung_fail(err, RUNG_USAGE, "the session failed before, so its state is undefined; reset it first");
    RUNG_TRY(rung_numbers_parse(&f32, "f32", err));
    memset(out, 0, (size_t)((rung_session_state_bits(s) + 7) / 8));
    for (size_t i = 0; i < layer_count(s); i++)
        for (size_t g = 0; g < layer_of(s, i)->group_count; g++) {
            const rung_mech_conf *conf = &layer_of(s, i)->group[g];
            const group_state *state = &s->state[i][g];
            RUNG_TRY(refuse_nan(s, state->mech, rung_mech_state_elements(conf, s->tokens), i, err));
            RUNG_TRY(refuse_nan(s, state->conv, rung_head_group_conv_elements(conf), i, err));
            bit = pack_group(out, bit, s, state, conf, &f32.of[RUNG_QUANTITY_STATE]);
        }
    return RUNG_OK;
}

uint64_t rung_program_view_bits(const rung_program *p)
{
    return rung_stored_bits(&p->numbers.of[RUNG_QUANTITY_ACT], 1, p->model->spec.d_model);
}

void rung_program_pack_view(const rung_program *p, uint8_t *out, const double *view)
{
    memset(out, 0, (size_t)((rung_program_view_bits(p) + 7) / 8));
    rung_stored_pack(out, 0, &p->numbers.of[RUNG_QUANTITY_ACT], view, NULL, 1, p->model->spec.d_model);
}

size_t rung_argmax(const double *x, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (x[i] > x[best]) best = i;
    return best;
}
