/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Projections and their gradients as products of bf16 numbers: rows are rounded just before the product that reads
 * them, some at a time, and sums are in fp32.
 */
#include "ops.h"

/* Rows at a time, an even number. Their words stay in the second-level cache. */
enum { WORD_ROWS = 128 };

static size_t half(size_t n)
{
    return (n + 1) / 2;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t train_words_room(const rung_net *net)
{
    size_t most = 0;
    for (size_t i = 0; i < net->linear_count; i++) {
        size_t both = WORD_ROWS / 2 * (net->linear[i].rows + net->linear[i].cols + 2);
        if (both > most) most = both;
    }
    return most;
}

void train_bf16_pack(uint32_t *words, uint32_t *panels, const float *w, const net_linear *l)
{
    const rung_bf16_kernels *kern = rung_bf16_kernels_get();
    size_t pairs = half(l->cols);
    kern->pair_rows(words, w, l->rows, l->cols);
    /* A copy, so it does not matter that these are no floats. */
    rung_kernels_get()->pack((float *)panels, (const float *)words, pairs, l->rows, 1, pairs);
    kern->pair_cols(words, w, l->rows, l->cols);
}

void train_bf16_linear(float *y, const float *x, const float *start, const seen_weights *seen, const net_linear *l,
                       size_t rows)
{
    const rung_bf16_kernels *kern = rung_bf16_kernels_get();
    for (size_t first = 0; first < rows; first += WORD_ROWS) {
        size_t some = smaller(WORD_ROWS, rows - first);
        kern->pair_rows(seen->room, x + first * l->cols, some, l->cols);
        kern->multiply(&(rung_bf16_product){.y = y + first * l->rows,
                                            .x = seen->room,
                                            .w = seen->word_panels + l->panels,
                                            .start = start ? start + first * l->rows : NULL,
                                            .bias = l->bias == ABSENT ? NULL : seen->w + l->bias,
                                            .rows = some,
                                            .cols = l->rows,
                                            .pairs = half(l->cols),
                                            .y_row = l->rows,
                                            .x_row = half(l->cols),
                                            .x_pair = 1,
                                            .start_row = l->rows});
    }
}

void train_bf16_input_back(float *dx, const float *start, const float *dy, const float *factor,
                           const seen_weights *seen, const net_linear *l, size_t rows)
{
    const rung_bf16_kernels *kern = rung_bf16_kernels_get();
    for (size_t first = 0; first < rows; first += WORD_ROWS) {
        size_t some = smaller(WORD_ROWS, rows - first);
        kern->pair_rows(seen->room, dy + first * l->rows, some, l->rows);
        kern->multiply(&(rung_bf16_product){.y = dx + first * l->cols,
                                            .x = seen->room,
                                            .w = seen->words + l->weight,
                                            .w_row = l->cols,
                                            .start = start ? start + first * l->cols : NULL,
                                            .factor = factor ? factor + first * l->cols : NULL,
                                            .rows = some,
                                            .cols = l->cols,
                                            .pairs = half(l->rows),
                                            .y_row = l->cols,
                                            .x_row = half(l->rows),
                                            .x_pair = 1,
                                            .start_row = l->cols});
    }
}

void train_bf16_weight_back(float *dw, const float *dy, const float *x, const seen_weights *seen, const net_linear *l,
                            size_t rows, bool fresh)
{
    const rung_bf16_kernels *kern = rung_bf16_kernels_get();
    uint32_t *dy_words = seen->room, *x_words = seen->room + WORD_ROWS / 2 * l->rows;
    for (size_t first = 0; first < rows; first += WORD_ROWS) {
        size_t some = smaller(WORD_ROWS, rows - first);
        kern->pair_cols(dy_words, dy + first * l->rows, some, l->rows);
        kern->pair_cols(x_words, x + first * l->cols, some, l->cols);
        kern->multiply(&(rung_bf16_product){.y = dw,
                                            .x = dy_words,
                                            .w = x_words,
                                            .w_row = l->cols,
                                            .start = fresh && first == 0 ? NULL : dw,
                                            .rows = l->rows,
                                            .cols = l->cols,
                                            .pairs = half(some),
                                            .y_row = l->cols,
                                            .x_row = 1,
                                            .x_pair = l->rows,
                                            .start_row = l->cols});
    }
}
