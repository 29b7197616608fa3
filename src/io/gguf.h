/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the two halves of the GGUF reader share: a cursor that never passes the end of the file, and the constants of
 * the format.
 */
#ifndef RUNG_IO_GGUF_H
#define RUNG_IO_GGUF_H

#include "io_internal.h"

typedef enum gguf_type {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
} gguf_type;

#define GGUF_ALIGNMENT_DEFAULT 32
#define GGUF_ALIGNMENT_MAX     (1 << 20)

typedef struct gguf_entry {
    char *key;
    gguf_type type; /* of the values */
    bool is_array;
    uint64_t count;
    const uint8_t *byte; /* of numbers, in the file */
    char *text;          /* of one string */
} gguf_entry;

typedef struct gguf_cursor {
    const uint8_t *byte;
    size_t left;
} gguf_cursor;

/* Returns false, and does not move, when fewer bytes are left. */
bool gguf_take(gguf_cursor *at, void *out, size_t bytes);
bool gguf_skip(gguf_cursor *at, uint64_t bytes);
/* Takes a string: a u64 length, then that many bytes. The text is borrowed from the file. */
bool gguf_take_text(const uint8_t **text, uint64_t *len, gguf_cursor *at);
/* Returns NULL with a message when memory runs out. */
char *gguf_copy_text(rung_arena *arena, const uint8_t *text, size_t len, rung_error *err);

/* A whole file in memory. */
typedef struct gguf_extent {
    const char *name;
    const uint8_t *bytes;
    size_t size, alignment;
} gguf_extent;

/* Reads `count` tensor infos, checks them against each other and against the size of the file, and returns the tensors
 * sorted by name. Their bytes are borrowed from the file. */
rung_status gguf_read_tensors(rung_tensor **out, rung_arena *arena, gguf_cursor *at, uint64_t count,
                              const gguf_extent *file, rung_error *err);

#endif
