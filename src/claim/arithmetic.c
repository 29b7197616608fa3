/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Kernels by their words, and the arithmetic that a verdict is about in words.
 */
#include "rung/claim.h"

#include <stdlib.h>
#include <string.h>

const char *const rung_kernel_names[] = {"online", "two-pass", "eager", "split", "tiles", "reverse", "fast", NULL};
const char *const rung_message_names[] = {"online", "numerator", "paper", NULL};

rung_arithmetic rung_arithmetic_plain(rung_kernel kernel, int bits, rung_message message)
{
    return (rung_arithmetic){
        .kernel = kernel, .accumulator_bits = bits, .state_bits = bits, .cache_bits = bits, .message = message};
}

static void print_bits(rung_buf *out, const rung_arithmetic *a)
{
    if (a->accumulator_bits == a->state_bits && a->accumulator_bits == a->cache_bits)
        rung_buf_printf(out, "in exact %d-bit arithmetic", a->accumulator_bits);
    else if (a->state_as.scaling != RUNG_SCALE_NONE)
        rung_buf_printf(out, "in exact arithmetic (accumulators of %d bits, states in %s, caches of %d)",
                        a->accumulator_bits, a->state_as.name, a->cache_bits);
    else
        rung_buf_printf(out, "in exact arithmetic (accumulators of %d bits, states of %d, caches of %d)",
                        a->accumulator_bits, a->state_bits, a->cache_bits);
}

const char *rung_kernel_text(rung_kernel kernel)
{
    static const char *const orders[] = {"in an unstated order",
                                         "softmax from left to right",
                                         "softmax with the maximum of the row first",
                                         "softmax as rounded probabilities",
                                         "softmax in splits of keys, each on its own",
                                         "softmax in tiles of keys from left to right",
                                         "softmax from right to left",
                                         "whole rows and chunks of 32 tokens at once"};
    return orders[kernel];
}

static bool in_tiles(rung_kernel kernel)
{
    return kernel == RUNG_KERNEL_SPLIT || kernel == RUNG_KERNEL_TILES;
}

/* The number after the colon. */
static rung_status parse_tile(uint64_t *tile, const char *text, const char *number, rung_error *err)
{
    enum { LONGEST = 9 };
    size_t digits = strspn(number, "0123456789");
    if (digits == 0 || digits > LONGEST || number[digits])
        return rung_fail(err, RUNG_USAGE, "kernel '%s': a number of keys follows the colon, such as split:256", text);
    *tile = strtoull(number, NULL, 10);
    if (*tile == 0) return rung_fail(err, RUNG_USAGE, "kernel '%s': a split or tile has at least one key", text);
    return RUNG_OK;
}

rung_status rung_kernel_parse(rung_kernel *kernel, uint64_t *tile, const char *text, rung_error *err)
{
    const char *colon = strchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : strlen(text);
    *tile = 0;
    for (int i = 0; rung_kernel_names[i]; i++) {
        if (strlen(rung_kernel_names[i]) != len || strncmp(rung_kernel_names[i], text, len) != 0) continue;
        *kernel = (rung_kernel)(i + 1);
        if (in_tiles(*kernel) && !colon)
            return rung_fail(err, RUNG_USAGE, "kernel '%s' needs a number of keys: %s:256", text, text);
        if (!in_tiles(*kernel) && colon)
            return rung_fail(err, RUNG_USAGE, "kernel '%s': only split and tiles have a number of keys", text);
        return colon ? parse_tile(tile, text, colon + 1, err) : RUNG_OK;
    }
    return rung_fail(err, RUNG_USAGE, "kernel '%s' is none of online, two-pass, eager, split:T, tiles:T, reverse, fast",
                     text);
}

static void print_kernel(rung_buf *out, const rung_arithmetic *a)
{
    if (!in_tiles(a->kernel))
        rung_buf_puts(out, rung_kernel_text(a->kernel));
    else
        rung_buf_printf(out,
                        a->kernel == RUNG_KERNEL_SPLIT ? "softmax in splits of %llu keys, each on its own"
                                                       : "softmax in tiles of %llu keys from left to right",
                        (unsigned long long)a->tile);
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
    rung_buf_puts(out, ", ");
    print_kernel(out, a);
    rung_buf_puts(out, messages[a->message]);
}
