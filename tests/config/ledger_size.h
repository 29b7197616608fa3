/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Whether a ledger holds less than another one, for the tests that damage files.
 */
#ifndef RUNG_LEDGER_SIZE_H
#define RUNG_LEDGER_SIZE_H

#include "config_test.h"

static inline uint64_t carried(const rung_ledger *ledger)
{
    rung_ledger_elements all = rung_ledger_total(ledger).all;
    return all.state_elements + all.conv_elements + all.extra_elements + all.window_elements;
}

static inline uint64_t grows(const rung_ledger *ledger)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < ledger->layer_count; i++) sum += ledger->layer[i].kv_per_token;
    return sum;
}

static inline uint64_t handed(const rung_ledger *ledger)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < ledger->layer_count; i++) sum += ledger->layer[i].heads * ledger->layer[i].value_dim;
    return sum;
}

/* Less in any respect. A window that turns into full attention holds no window and more. */
static inline bool is_smaller(const rung_ledger *a, const rung_ledger *b)
{
    rung_ledger_sum of_a = rung_ledger_total(a), of_b = rung_ledger_total(b);
    bool carries_less = carried(a) < carried(b) && grows(a) <= grows(b);
    return carries_less || of_a.all.state_elements < of_b.all.state_elements ||
           of_a.all.conv_elements < of_b.all.conv_elements || grows(a) < grows(b) || handed(a) < handed(b) ||
           of_a.full + of_a.sparse < of_b.full + of_b.sparse || of_a.total < of_b.total;
}

#endif
