/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A player between the messages: runs its tokens through the parts of a layer that mix no tokens; see player.h.
 */
#include "player.h"

#include <string.h>

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool is_asked(const rung_protocol *protocol, size_t position)
{
    for (size_t i = 0; i < protocol->at_count; i++)
        if (protocol->at[i] == position) return true;
    return false;
}

static rung_status add_segment(player *p, const rung_protocol *protocol, size_t first, size_t end, bool asked,
                               rung_error *err)
{
    segment *s = &p->segment[p->segments++];
    *s = (segment){.first = first, .tokens = end - first, .asked = asked};
    rung_prompt prompt = {.token = protocol->token + p->start + first, .tokens = s->tokens};
    return rung_rows_new(&s->rows, protocol->program, &prompt, p->start + first, err);
}

rung_status rung_player_init(player *p, const rung_protocol *protocol, const rung_span *span, size_t index,
                             rung_arena *arena, rung_error *err)
{
    rung_status status = RUNG_OK;
    *p = (player){.index = index, .start = span->start, .tokens = span->len};
    p->segment = rung_arena_alloc(arena, span->len, sizeof *p->segment, err);
    p->ask = rung_arena_alloc(arena, span->len, sizeof *p->ask, err);
    if (!p->segment || !p->ask) return RUNG_SYSTEM;
    for (size_t first = 0, end; status == RUNG_OK && first < span->len; first = end) {
        bool asked = is_asked(protocol, span->start + first);
        for (end = first + 1; end < span->len && is_asked(protocol, span->start + end) == asked;) end++;
        status = add_segment(p, protocol, first, end, asked, err);
    }
    return status;
}

void rung_player_clear(player *p)
{
    for (size_t s = 0; s < p->segments; s++) rung_rows_free(p->segment[s].rows);
    p->segments = 0;
}

/* ---- one group of heads ------------------------------------------------------------------------------------------ */

static double *numbers_in(rung_arena *arena, size_t a, size_t b, epoch *e)
{
    size_t count = SIZE_MAX; /* so that the allocation refuses it */
    rung_size_mul(&count, a, b);
    return rung_arena_alloc(arena, count, sizeof(double), e->err);
}

double *rung_epoch_numbers(epoch *e, size_t a, size_t b)
{
    return numbers_in(&e->work[e->turn % 2], a, b, e);
}

double *rung_epoch_keep(epoch *e, size_t a, size_t b)
{
    return numbers_in(&e->keep, a, b, e);
}

uint8_t *rung_epoch_bytes(epoch *e, size_t count)
{
    return rung_arena_alloc(&e->work[e->turn % 2], count, 1, e->err);
}

rung_status rung_player_begin(player *p, epoch *e)
{
    p->own = NULL;
    p->conv = rung_epoch_keep(e, rung_head_group_conv_elements(e->conf), 1);
    p->o = rung_epoch_keep(e, p->tokens, e->conf->heads * e->conf->dv);
    if (!p->conv || !p->o) return RUNG_SYSTEM;
    for (size_t i = 0; i < RUNG_MECH_INPUT_MAX; i++) p->in[i] = NULL, p->seen[i] = NULL;
    for (size_t i = 0; e->conf->mech->inputs[i].name; i++) {
        const rung_mech_input *input = &e->conf->mech->inputs[i];
        size_t row = rung_mech_row(input, e->conf);
        if (row && !rung_mech_is_constant(input) && !(p->in[i] = rung_epoch_keep(e, p->tokens, row)))
            return RUNG_SYSTEM;
        p->seen[i] = p->in[i];
    }
    p->asks = 0;
    for (size_t s = 0; s < p->segments; s++)
        for (size_t t = 0; (!e->last || p->segment[s].asked) && t < p->segment[s].tokens; t++)
            p->ask[p->asks++] = p->segment[s].first + t;
    return RUNG_OK;
}

void rung_player_inputs(player *p, epoch *e)
{
    const double *in[RUNG_MECH_INPUT_MAX];
    for (size_t s = 0; s < p->segments; s++) {
        rung_rows_inputs(p->segment[s].rows, in, p->conv, e->layer, e->group);
        for (size_t i = 0; e->conf->mech->inputs[i].name; i++) {
            const rung_mech_input *input = &e->conf->mech->inputs[i];
            size_t row = rung_mech_row(input, e->conf);
            if (rung_mech_is_constant(input))
                p->seen[i] = in[i];
            else if (row)
                memcpy(p->in[i] + p->segment[s].first * row, in[i], p->segment[s].tokens * row * sizeof(double));
        }
    }
}

void rung_player_answer(player *p, const epoch *e)
{
    for (size_t s = 0; s < p->segments; s++)
        if (!e->last || p->segment[s].asked)
            rung_rows_answer(p->segment[s].rows, p->o + p->segment[s].first * e->conf->heads * e->conf->dv, e->layer,
                             e->group);
}

rung_status rung_player_finish(player *p, size_t layer, bool last, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t s = 0; status == RUNG_OK && s < p->segments; s++)
        if (!last || p->segment[s].asked) status = rung_rows_finish(p->segment[s].rows, layer, err);
    return status;
}

rung_status rung_player_read_out(player *p, double *out, size_t token, rung_error *err)
{
    size_t s = 0;
    while (token >= p->segment[s].first + p->segment[s].tokens) s++;
    return rung_rows_read_out(p->segment[s].rows, out, token - p->segment[s].first, err);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

rung_status rung_numbers_have_codes(const double *x, size_t count, const rung_fmt *fmt, const char *where,
                                    rung_error *err)
{
    if (fmt->kind != RUNG_FMT_FIXED || rung_num_find_nan(x, count) == SIZE_MAX) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT, "%s has a NaN, and %s has no code for it; use a float format", where, fmt->name);
}

rung_status rung_letter_pack(rung_letter *letter, const double *x, size_t count, epoch *e)
{
    size_t bits = SIZE_MAX;
    char where[48];
    snprintf(where, sizeof where, "a message of layer %zu", e->layer);
    RUNG_TRY(rung_numbers_have_codes(x, count, e->fmt, where, e->err));
    if (!rung_size_mul(&bits, count, (size_t)e->fmt->bits))
        return rung_fail(e->err, RUNG_SYSTEM, "layer %zu: a message of %zu numbers does not fit into memory", e->layer,
                         count);
    letter->bits = bits;
    letter->bytes = rung_epoch_bytes(e, bits / 8 + 1);
    if (!letter->bytes) return RUNG_SYSTEM;
    rung_num_pack(letter->bytes, e->fmt, x, count);
    return RUNG_OK;
}

void rung_letter_unpack(double *x, const rung_letter *letter, const epoch *e)
{
    rung_num_unpack(x, e->fmt, letter->bytes, (size_t)letter->bits / (size_t)e->fmt->bits);
}
