/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: number formats, one for everything or one for each quantity. What is read has a canonical name that
 * reads back to itself, and acc holds what is stored; what is refused has a message.
 */
#include "rung/num.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

/* Some numbers, stored and read back, are numbers of acc, and storing them has the bits that it says. */
static void check_stored(const rung_numbers *n, const rung_stored *stored)
{
    enum { ROW = 5 };
    double x[ROW] = {0, 1, -0.3125, 7, 1e-3}, scales[ROW];
    uint8_t packed[ROW * 16] = {0};
    require(rung_stored_scales(stored, ROW) <= ROW && rung_stored_bits(stored, 1, ROW) <= 8 * sizeof packed);
    for (size_t i = 0; i < ROW; i++) x[i] = rung_num_round(&n->acc, x[i]);
    rung_stored_keep(stored, &n->acc, x, 1, ROW, scales, NULL);
    for (size_t i = 0; i < ROW; i++) require(rung_num_is_value(&n->acc, x[i]) || n->acc.is_f64);
    require(rung_stored_pack(packed, 0, stored, x, scales, 1, ROW) == rung_stored_bits(stored, 1, ROW));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rung_numbers n, again;
    rung_error err = {{0}};
    char *text = calloc(size + 1, 1);
    require(text != NULL);
    if (size) memcpy(text, data, size);
    if (rung_numbers_parse(&n, text, &err) == RUNG_OK) {
        require(rung_numbers_parse(&again, n.name, NULL) == RUNG_OK && strcmp(again.name, n.name) == 0);
        require(again.mixed == n.mixed && again.stochastic == n.stochastic && again.chunk == n.chunk);
        require(n.chunk >= 1 && (n.mixed || n.chunk == 1));
        require(!n.stochastic || again.seed == n.seed);
        for (size_t q = 0; q < RUNG_QUANTITY_COUNT; q++) check_stored(&n, &n.of[q]);
    } else {
        require(err.text[0] != '\0');
    }
    free(text);
    return 0;
}
