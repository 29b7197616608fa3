/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * (B,k)-sparse attention; every block belongs to one player. The summaries of all complete blocks pass along the line.
 * An asking player computes from them which k blocks to open, and receives the keys and values of these blocks and of
 * its window. Then it reads as the mechanism does. All other slots are NaN, so that the outputs would show it if the
 * mechanism read them.
 */
#include "player.h"

#include <math.h>
#include <string.h>

enum { IN_Q };

blocks rung_blocks_of(const rung_mech_conf *conf)
{
    return (blocks){.B = (size_t)rung_mech_param(conf, "B"),
                    .k = (size_t)rung_mech_param(conf, "k"),
                    .W = (size_t)rung_mech_param(conf, "W"),
                    .slot = conf->heads * (conf->dk + conf->dv),
                    .brief = conf->mech->selects(conf).summary,
                    .own = rung_mech_param(conf, "own") != 0};
}

size_t rung_blocks_elements(size_t tokens, const blocks *b)
{
    return tokens * b->slot + tokens / b->B * b->brief;
}

static double *token_at(double *slots, size_t token, const blocks *b)
{
    return slots + rung_blocks_elements(token, b);
}

static double *summary_at(double *slots, size_t block, const blocks *b)
{
    return slots + rung_blocks_elements(block * b->B, b) + b->B * b->slot;
}

/* The inputs of one token. */
static void rows_of(const double *rows[RUNG_MECH_INPUT_MAX], const player *p, size_t t, const epoch *e)
{
    for (size_t i = 0; e->conf->mech->inputs[i].name; i++)
        rows[i] = p->in[i] ? p->in[i] + t * rung_mech_row(&e->conf->mech->inputs[i], e->conf) : p->seen[i];
}

/* ---- what the player knows by itself ----------------------------------------------------------------------------- */

static void absorb_own(player *p, desk *d, epoch *e)
{
    const double *rows[RUNG_MECH_INPUT_MAX] = {NULL};
    for (size_t t = 0; t < p->tokens; t++) {
        rows_of(rows, p, t, e);
        e->conf->mech->update_exact(d->slot, rows, p->start + t, e->conf, e->fmt, d->scratch);
    }
}

rung_status rung_sparse_desk(desk *d, epoch *e)
{
    blocks b = rung_blocks_of(e->conf);
    d->slot = rung_epoch_keep(e, rung_blocks_elements(e->tokens, &b), 1);
    d->scratch = rung_epoch_keep(e, e->conf->mech->scratch(e->conf, e->tokens), 1);
    d->choice = rung_arena_alloc(&e->keep, e->tokens / b.B * e->conf->heads, 1, e->err);
    return d->slot && d->scratch && d->choice ? RUNG_OK : RUNG_SYSTEM;
}

rung_status rung_sparse_lay_out(player *p, desk *d, const rung_letter *summaries, epoch *e)
{
    blocks b = rung_blocks_of(e->conf);
    size_t end = p->start + p->tokens, before = p->start / b.B;
    size_t all = rung_blocks_elements(end, &b), first = rung_blocks_elements(p->start, &b);
    double *received = rung_epoch_numbers(e, before, b.brief);
    p->own = rung_epoch_keep(e, all - first, 1);
    if (!received || !p->own) return RUNG_SYSTEM;
    memset(d->choice, 0, before * e->conf->heads);
    for (size_t i = 0; i < all; i++) d->slot[i] = NAN;
    if (summaries) rung_letter_unpack(received, summaries, e);
    for (size_t i = 0; i < before; i++)
        memcpy(summary_at(d->slot, i, &b), received + i * b.brief, b.brief * sizeof *received);
    absorb_own(p, d, e);
    memcpy(p->own, d->slot + first, (all - first) * sizeof *received);
    return RUNG_OK;
}

rung_status rung_sparse_summaries(player *p, rung_letter *out, const desk *d, epoch *e)
{
    blocks b = rung_blocks_of(e->conf);
    size_t count = (p->start + p->tokens) / b.B;
    double *all = rung_epoch_numbers(e, count, b.brief);
    if (!all) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) memcpy(all + i * b.brief, summary_at(d->slot, i, &b), b.brief * sizeof *all);
    out->first = 0, out->count = count;
    return rung_letter_pack(out, all, count * b.brief, e);
}

/* ---- who opens what ---------------------------------------------------------------------------------------------- */

/* Marks the k best of the candidates; among equals the lower index. Overwrites score. */
static void mark_best(desk *d, double *score, size_t candidates, size_t before, size_t head, const blocks *b,
                      size_t heads)
{
    for (size_t n = 0; n < b->k && n < candidates; n++) {
        size_t best = 0;
        for (size_t i = 1; i < candidates; i++)
            if (score[i] > score[best] || isnan(score[best])) best = i;
        if (isnan(score[best])) return; /* all are taken, or the scores are NaN and so are the outputs */
        if (best < before) d->choice[best * heads + head] = 1;
        score[best] = NAN;
    }
}

rung_status rung_sparse_choose(const player *p, desk *d, epoch *e)
{
    const rung_mech_conf *conf = e->conf;
    blocks b = rung_blocks_of(conf);
    size_t before = p->start / b.B;
    double *score = rung_epoch_numbers(e, (p->start + p->tokens) / b.B, 1);
    if (!score) return RUNG_SYSTEM;
    for (size_t i = 0; i < p->asks * conf->heads; i++) {
        size_t t = p->ask[i / conf->heads], h = i % conf->heads, pos = p->start + t;
        size_t candidates = (b.own ? pos : pos + 1) / b.B;
        const double *q = p->in[IN_Q] + (t * conf->heads + h) * conf->dk;
        for (size_t c = 0; c < candidates; c++)
            score[c] = rung_num_dot(e->fmt, q, summary_at(d->slot, c, &b) + h * (b.brief / conf->heads), conf->dk);
        mark_best(d, score, candidates, before, h, &b, conf->heads);
    }
    return RUNG_OK;
}

static bool bit_at(const uint8_t *bytes, size_t bit)
{
    return bytes[bit / 8] >> (7 - bit % 8) & 1;
}

rung_status rung_sparse_choice(rung_letter *out, const desk *d, epoch *e)
{
    size_t heads = e->conf->heads, bits = out->count * heads;
    out->bits = bits;
    out->bytes = rung_epoch_bytes(e, bits / 8 + 1);
    for (size_t i = 0; out->bytes && i < bits; i++)
        if (d->choice[out->first * heads + i]) out->bytes[i / 8] |= (uint8_t)(1 << (7 - i % 8));
    return out->bytes ? RUNG_OK : RUNG_SYSTEM;
}

/* ---- keys and values on their way -------------------------------------------------------------------------------- */

static size_t count_chosen(const rung_letter *choice)
{
    size_t chosen = 0;
    for (size_t i = 0; i < choice->bits; i++) chosen += bit_at(choice->bytes, i);
    return chosen;
}

rung_status rung_sparse_open(const player *p, rung_letter *out, const rung_letter *choice, epoch *e)
{
    blocks b = rung_blocks_of(e->conf);
    size_t heads = e->conf->heads, wide = e->conf->dk + e->conf->dv, own = p->start / b.B;
    double *rows = rung_epoch_numbers(e, count_chosen(choice) * b.B, wide), *next = rows;
    if (!rows) return RUNG_SYSTEM;
    for (size_t i = 0; i < choice->bits; i++)
        for (size_t t = 0; bit_at(choice->bytes, i) && t < b.B; t++, next += wide) {
            size_t block = choice->first - own + i / heads;
            memcpy(next, token_at(p->own, block * b.B + t, &b) + i % heads * wide, wide * sizeof *next);
        }
    out->first = choice->first, out->count = choice->count;
    return rung_letter_pack(out, rows, (size_t)(next - rows), e);
}

rung_status rung_sparse_take_opened(desk *d, const rung_letter *opened, epoch *e)
{
    blocks b = rung_blocks_of(e->conf);
    size_t heads = e->conf->heads, wide = e->conf->dk + e->conf->dv;
    size_t first = opened->first * heads, end = first + opened->count * heads, chosen = 0;
    for (size_t i = first; i < end; i++) chosen += d->choice[i];
    size_t came = (size_t)opened->bits / (size_t)e->fmt->bits, expected = chosen * b.B * wide;
    double *rows = rung_epoch_numbers(e, came > expected ? came : expected, 1),
           *next = rows; /* a falsified message may be shorter */
    if (!rows) return RUNG_SYSTEM;
    rung_letter_unpack(rows, opened, e);
    for (size_t i = first; i < end; i++)
        for (size_t t = 0; d->choice[i] && t < b.B; t++, next += wide)
            memcpy(token_at(d->slot, i / heads * b.B + t, &b) + i % heads * wide, next, wide * sizeof *next);
    return RUNG_OK;
}

rung_status rung_sparse_show(const player *p, rung_letter *out, size_t first, size_t end, epoch *e)
{
    blocks b = rung_blocks_of(e->conf);
    double *rows = rung_epoch_numbers(e, end - first, b.slot);
    if (!rows) return RUNG_SYSTEM;
    for (size_t t = first; t < end; t++)
        memcpy(rows + (t - first) * b.slot, token_at(p->own, t - p->start, &b), b.slot * sizeof *rows);
    out->first = first, out->count = end - first;
    return rung_letter_pack(out, rows, (end - first) * b.slot, e);
}

rung_status rung_sparse_take_shown(desk *d, const rung_letter *shown, epoch *e)
{
    blocks b = rung_blocks_of(e->conf);
    double *rows = rung_epoch_numbers(e, shown->count, b.slot);
    if (!rows) return RUNG_SYSTEM;
    rung_letter_unpack(rows, shown, e);
    for (size_t t = 0; t < shown->count; t++)
        memcpy(token_at(d->slot, shown->first + t, &b), rows + t * b.slot, b.slot * sizeof *rows);
    return RUNG_OK;
}

size_t rung_sparse_window_first(const player *p, const epoch *e)
{
    size_t W = rung_blocks_of(e->conf).W;
    if (!W || !p->asks) return SIZE_MAX;
    size_t pos = p->start + p->ask[0];
    return pos >= W ? pos - W + 1 : 0;
}

void rung_sparse_read(player *p, desk *d, epoch *e)
{
    const double *rows[RUNG_MECH_INPUT_MAX] = {NULL};
    for (size_t n = 0; n < p->asks; n++) {
        size_t t = p->ask[n];
        rows_of(rows, p, t, e);
        e->conf->mech->read_exact(p->o + t * e->conf->heads * e->conf->dv, d->slot, rows, p->start + t,
                                  p->start + t + 1, e->conf, e->fmt, d->scratch);
    }
}
