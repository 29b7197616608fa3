/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the fuzz targets share: a check that stays in an optimised build, and a tensor read to its last byte.
 */
#ifndef RUNG_FUZZ_TENSOR_H
#define RUNG_FUZZ_TENSOR_H

#include <stdlib.h>

#include "rung/io.h"

#define require(condition) ((condition) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads every byte, recomputes the sizes, and converts what is small enough to be quick. */
static inline void touch_tensor(const rung_tensor *tensor)
{
    enum { ELEMENTS_MAX = 1 << 16 };
    char text[64];
    size_t product = 1;
    unsigned sum = 0;
    rung_error err = {{0}};
    rung_tensor_describe(text, sizeof text, tensor);
    require(tensor->rank <= RUNG_RANK_MAX);
    for (size_t i = 0; i < tensor->rank; i++) require(rung_size_mul(&product, product, tensor->shape[i]));
    require(product == tensor->elements);
    if (tensor->dtype != RUNG_OTHER) require(tensor->size_bytes == product * rung_dtype_bytes(tensor->dtype));
    for (size_t i = 0; i < tensor->size_bytes; i++) sum += tensor->bytes[i];
    *(volatile unsigned *)&sum = sum; /* the reads must happen */
    if (tensor->elements > ELEMENTS_MAX) return;
    /* One allocation of exactly the needed size for all three, so that AddressSanitizer sees a write beyond it. */
    void *out = malloc(tensor->elements ? tensor->elements * 8 : 1);
    require(out != NULL);
    (void)rung_tensor_to_f64(out, tensor, &err);
    (void)rung_tensor_to_i64(out, tensor, &err);
    (void)rung_tensor_to_f32(out, tensor, &err);
    free(out);
}

#endif
