/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The k largest of a row by radix selection: the k-th largest number is found digit by digit, 8 bits at a time, by
 * counting; who is above it is chosen, and of those that equal it the first ones. At most 8 passes (4 for float),
 * mostly fewer, no copies, and no pivots that an unlucky row could spoil.
 */
#include "top.h"

#include <math.h>
#include <string.h>

/* Unsigned integers in the order of the numbers. Adding +0 makes -0 and +0 one number, as they compare equal. */
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

/* 1 <= need <= count. Of the keys with the digits found so far, `need` are still to be chosen. */
static void find_least(rung_top *top, size_t need)
{
    uint64_t digits = 0;
    int lowest = top->f ? 32 : 0; /* a float has nothing below */
    for (int shift = 56;; shift -= 8) {
        size_t histogram[256] = {0}, digit = 255;
        for (size_t i = 0; i < top->count; i++) {
            uint64_t key = key_of(top, i) >> shift;
            if (shift == 56 || key >> 8 == digits) histogram[key & 255]++;
        }
        while (histogram[digit] < need) need -= histogram[digit--];
        digits = digits << 8 | digit;
        top->least = digits << shift, top->ties = need;
        if (histogram[digit] == need) top->ties = SIZE_MAX; /* all that begin with these digits */
        if (histogram[digit] == need || shift == lowest) return;
    }
}

static rung_top top_of(rung_top top, size_t k)
{
    for (size_t i = 0; i < top.count; i++) top.nan = top.nan || (top.f ? isnan(top.f[i]) : isnan(top.x[i]));
    top.ties = SIZE_MAX; /* with a least key of 0: all */
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
