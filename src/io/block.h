/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Types of tensors whose values are stored in blocks with common scales (GGUF).
 */
#ifndef RUNG_IO_BLOCK_H
#define RUNG_IO_BLOCK_H

#include "io_internal.h"

enum { IO_BLOCK_MAX = 256 };

typedef struct io_block {
    const char *name; /* as GGUF's documentation spells it */
    size_t elements, bytes;
    void (*decode)(float *out, const uint8_t *block);
} io_block;

/* Returns NULL for a type that is not decoded. */
const io_block *io_block_named(const char *name);

#endif
