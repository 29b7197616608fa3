/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The k largest of a row by radix selection. The k-th largest number is found digit by digit, 8 bits at a time, by
 * counting. Everything above it is chosen, and the first ones of those that equal it. This takes at most 8 passes (4
 * for float), usually fewer, without copies, and has no bad inputs.
 */
#include "top.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Maps numbers to unsigned integers in the same order. Adding +0 makes -0 and +0 the same number, as they compare
 * equal. */
static uint64_t key_of(const rung_top *top, size_t i)
{
    if (top->f) {
        float x = top->f[i] + 0.0f;
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        return (uint64_t)(bits >> 31 ? ~bits : bits | (uint32_t)1 << 31) << 32;
    }
    double x = top->x[i] + 0.0;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* 1 <= need <= count. `need` keys are still to be chosen among those with the digits found so far. */
static void find_least(rung_top *top, size_t need)
{
    uint64_t digits = 0;
    int lowest = top->f ? 32 : 0; /* the low half is zero for a float */
    for (int shift = 56;; shift -= 8) {
        size_t histogram[256] = {0}, digit = 255;
        for (size_t i = 0; i < top->count; i++) {
            uint64_t key = key_of(top, i) >> shift;
            if (shift == 56 || key >> 8 == digits) histogram[key & 255]++;
        }
        while (histogram[digit] < need) need -= histogram[digit--];
        digits = digits << 8 | digit;
        top->least = digits << shift, top->ties = need;
        if (histogram[digit] == need) top->ties = SIZE_MAX; /* choose all keys that begin with these digits */
        if (histogram[digit] == need || shift == lowest) return;
    }
}

static rung_top top_of(rung_top top, size_t k)
{
    assert(k >= 1);
    for (size_t i = 0; i < top.count; i++) top.nan = top.nan || (top.f ? isnan(top.f[i]) : isnan(top.x[i]));
    top.ties = SIZE_MAX; /* with least = 0 this chooses all */
    if (k < top.count) find_least(&top, k);
    return top;
}

rung_top rung_top_f32(const float *score, size_t count, size_t k)
{
    return top_of((rung_top){.f = score, .count = count}, k);
}

rung_top rung_top_exact(const double *score, size_t count, size_t k)
{
    return top_of((rung_top){.x = score, .count = count}, k);
}

size_t rung_top_next(rung_top *top)
{
    while (top->at < top->count) {
        uint64_t key = key_of(top, top->at++);
        if (key > top->least) return top->at - 1;
        if (key == top->least && top->ties > 0) return top->ties--, top->at - 1;
    }
    return SIZE_MAX;
}
