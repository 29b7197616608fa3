/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num, private: operations on vectors of any type without instructions of one machine. See attend_lanes.h.
 */
#ifndef RUNG_NUM_ATTEND_PLAIN_H
#define RUNG_NUM_ATTEND_PLAIN_H

typedef real_bits plain_bits __attribute__((vector_size(VECTOR_BYTES)));

ALWAYS_INLINE lanes plain_choose(plain_bits mask, lanes yes, lanes no)
{
    return (lanes)((mask & (plain_bits)yes) | (~mask & (plain_bits)no));
}

ALWAYS_INLINE lanes max_lanes(lanes a, lanes b)
{
    return plain_choose(a > b, a, b);
}

ALWAYS_INLINE lanes min_lanes(lanes a, lanes b)
{
    return plain_choose(a < b, a, b);
}

ALWAYS_INLINE bool is_any(plain_bits x)
{
    real_bits bits = 0;
    for (size_t l = 0; l < VECTOR_BYTES / sizeof(real); l++) bits |= x[l];
    return bits != 0;
}

#endif
