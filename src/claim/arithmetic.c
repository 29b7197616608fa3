/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Prints the arithmetic that a verdict is about.
 */
#include "rung/claim.h"

const char *const rung_kernel_names[] = {"online", "two-pass", "reverse", "fast", NULL};
const char *const rung_message_names[] = {"online", "numerator", "paper", NULL};

static void print_bits(rung_buf *out, const rung_arithmetic *a)
{
    if (a->accumulator_bits == a->state_bits && a->accumulator_bits == a->cache_bits)
        rung_buf_printf(out, "in exact %d-bit arithmetic", a->accumulator_bits);
    else
        rung_buf_printf(out, "in exact arithmetic (accumulators of %d bits, states of %d, caches of %d)",
                        a->accumulator_bits, a->state_bits, a->cache_bits);
}

const char *rung_kernel_text(rung_kernel kernel)
{
    static const char *const orders[] = {"in an unstated order", "softmax from left to right",
                                         "softmax with the maximum of the row first", "softmax from right to left",
                                         "whole rows and chunks of 32 tokens at once"};
    return orders[kernel];
}

void rung_arithmetic_print(rung_buf *out, const rung_arithmetic *a)
{
    static const char *const messages[] = {"", ", an accumulator counted as dv+1 numbers",
                                           ", an accumulator counted as 2d numbers"};
    if (a->kernel == RUNG_KERNEL_FAST) {
        rung_buf_puts(out, "in the fast fp32 evaluator");
        return;
    }
    print_bits(out, a);
    rung_buf_printf(out, ", %s%s", rung_kernel_text(a->kernel), messages[a->message]);
}
