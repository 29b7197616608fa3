/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The selective scan of Mamba on RUNG_SELECTIVE channels of one head, compiled once per instruction set. Channels are
 * lanes. Some tokens at a time go through all states of the channels: a state is loaded once for all of them, it stays
 * in a register from one to the next, and the exponentials of different states do not wait for each other. Lanes never
 * meet except in dB and dC, whose 16 lanes are added in one tree for every instruction set.
 */
#include "chunk_table.h"
#include "kern_lanes.h"

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

enum { WIDE = SUM_LANES, VECTORS = WIDE / LANES, TOGETHER = LANES == RUNG_SELECTIVE ? 4 : 1 };
_Static_assert(SUM_LANES == RUNG_SELECTIVE, "a row has one number per channel");

/* 2^y = 2^n 2^r with n the nearest integer and |r| <= 1/2: a polynomial of degree 6 that is 1 at 0 and has a relative
 * error of 2^-27.8. n comes from the low bits of y + 1.5 2^23. From 128 on the result is infinite; below -126 it is
 * 2^-126 at most, and 0 from -127 on. NaN stays NaN. */
INLINE lanes power_of_two(lanes y)
{
    const lanes magic = everywhere(12582912.0f);
    y = larger_of(everywhere(-127), smaller_of(everywhere(128), y));
    lanes shifted = plus(y, magic), r = minus(y, minus(shifted, magic));
    lanes p = multiply_add(everywhere(0x1.414ebcp-13f), r, everywhere(0x1.5f03ecp-10f));
    p = multiply_add(p, r, everywhere(0x1.3b2e0cp-7f));
    p = multiply_add(p, r, everywhere(0x1.c6af8ap-5f));
    p = multiply_add(p, r, everywhere(0x1.ebfbdcp-3f));
    p = multiply_add(p, r, everywhere(0x1.62e43p-1f));
    p = multiply_add(p, r, everywhere(1));
    return raise_by(p, shifted);
}

INLINE void add_part(float *row, lanes v, size_t at, size_t count)
{
    store_part(row, plus(load_part(row, at, count), v), at, count);
}

/* ---- forwards ---------------------------------------------------------------------------------------------------- */

/* `tokens` tokens from t on, in the lanes from `lane` on. What is constant for the compiler decides what is kept. */
INLINE void advance(const rung_selective *p, size_t t, size_t tokens, size_t lane, bool reads, bool keeps)
{
    lanes dt[TOGETHER], push[TOGETHER], y[TOGETHER];
    const size_t size = p->states * WIDE;
    for (size_t i = 0; i < tokens; i++) {
        lanes x = load_part(p->x + (t + i) * p->value_row, lane, p->channels);
        dt[i] = load_part(p->dt + (t + i) * p->value_row, lane, p->channels);
        push[i] = times(dt[i], x);
        if (reads) y[i] = times(load_part(p->D, lane, p->channels), x);
    }
    for (size_t n = 0; n < p->states; n++) {
        const size_t at = n * WIDE + lane;
        lanes h = load(p->h + at), rate = load(p->rates + at);
        for (size_t i = 0; i < tokens; i++) {
            lanes decay = power_of_two(times(dt[i], rate));
            h = multiply_add(decay, h, times(push[i], everywhere(p->B[(t + i) * p->key_row + n])));
            if (reads) y[i] = multiply_add(everywhere(p->C[(t + i) * p->key_row + n]), h, y[i]);
            if (keeps) store(p->decays + (t + i) * size + at, decay);
            if (keeps) store(p->kept + (t + i) * size + at, h);
        }
        store(p->h + at, h);
    }
    for (size_t i = 0; reads && i < tokens; i++) store_part(p->y + (t + i) * p->value_row, y[i], lane, p->channels);
}

INLINE void advance_all(const rung_selective *p, bool reads, bool keeps)
{
    for (size_t lane = 0; lane < WIDE; lane += LANES) {
        size_t t = 0;
        for (; t + TOGETHER <= p->tokens; t += TOGETHER) advance(p, t, TOGETHER, lane, reads, keeps);
        for (; t < p->tokens; t++) advance(p, t, 1, lane, reads, keeps);
    }
}

/* A copy, so that the compiler knows that no store changes it. */
void ISA(rung_selective_scan)(const rung_selective *p)
{
    const rung_selective s = *p;
    if (s.y)
        advance_all(&s, true, false);
    else if (s.kept)
        advance_all(&s, false, true);
    else
        advance_all(&s, false, false);
}

/* ---- backwards --------------------------------------------------------------------------------------------------- */

static void add_sums(float *to, const float *rows, size_t count)
{
    for (size_t n = 0; to && n < count; n++) to[n] += sum_sixteen(rows + n * WIDE);
}

/* Token t in the lanes from `lane` on. The products that dB and dC sum over the lanes go to p->met. */
INLINE void retreat(const rung_selective_back *p, size_t t, size_t lane, bool reads)
{
    const rung_selective *s = &p->scan;
    const size_t size = s->states * WIDE, row = t * s->value_row, key = t * s->key_row;
    const float *after = s->kept + t * size, *before = t ? after - size : p->first, *decays = s->decays + t * size;
    lanes x = load_part(s->x + row, lane, s->channels), dt = load_part(s->dt + row, lane, s->channels);
    lanes g = reads ? load_part(p->g + row, lane, s->channels) : everywhere(0), push = times(dt, x);
    lanes dpush = everywhere(0), ddt = everywhere(0);
    for (size_t n = 0; n < s->states; n++) {
        const size_t at = n * WIDE + lane;
        lanes dh = load(p->dh + at);
        if (reads) store(p->met + size + at, times(load(after + at), g));
        if (reads) dh = multiply_add(everywhere(s->C[key + n]), g, dh);
        store(p->met + at, times(dh, push));
        dpush = multiply_add(everywhere(s->B[key + n]), dh, dpush);
        dh = times(dh, load(decays + at));
        store(p->dh + at, dh);
        lanes f = times(dh, load(before + at));
        ddt = multiply_add(f, load(s->rates + at), ddt);
        store(p->drates + at, multiply_add(f, dt, load(p->drates + at)));
    }
    ddt = multiply_add(x, dpush, times(ddt, everywhere(0x1.62e43p-1f)));
    if (p->ddt) add_part(p->ddt + row, ddt, lane, s->channels);
    lanes dx = times(dt, dpush);
    if (reads) dx = multiply_add(load_part(s->D, lane, s->channels), g, dx);
    if (p->dx) add_part(p->dx + row, dx, lane, s->channels);
    if (reads && p->dD) add_part(p->dD, times(x, g), lane, s->channels);
}

void ISA(rung_selective_undo)(const rung_selective_back *p)
{
    const rung_selective_back b = *p;
    const rung_selective *s = &b.scan;
    for (size_t t = s->tokens; t-- > 0;) {
        for (size_t lane = 0; lane < WIDE; lane += LANES)
            if (b.g)
                retreat(&b, t, lane, true);
            else
                retreat(&b, t, lane, false);
        add_sums(b.dB ? b.dB + t * s->key_row : NULL, b.met, s->states);
        if (b.g) add_sums(b.dC ? b.dC + t * s->key_row : NULL, b.met + s->states * WIDE, s->states);
    }
}
