/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Writes GGUF files for tests, legal ones and others: every length and number can be a lie.
 */
#ifndef RUNG_GGUF_BUILD_H
#define RUNG_GGUF_BUILD_H

#include "io/io_test.h"

enum gguf_value { G_U8, G_I8, G_U16, G_I16, G_U32, G_I32, G_F32, G_BOOL, G_STRING, G_ARRAY, G_U64, G_I64, G_F64 };

typedef struct gguf_build {
    rung_buf keys, tensors, data;
    uint64_t key_count, tensor_count;
    size_t alignment;
    uint32_t version;
} gguf_build;

static inline void gguf_begin(gguf_build *b)
{
    *b = (gguf_build){.alignment = 32, .version = 3};
    rung_buf_init(&b->keys), rung_buf_init(&b->tensors), rung_buf_init(&b->data);
}

static inline void gguf_put_u32(rung_buf *out, uint32_t value)
{
    rung_buf_add(out, &value, 4);
}

static inline void gguf_put_u64(rung_buf *out, uint64_t value)
{
    rung_buf_add(out, &value, 8);
}

static inline void gguf_put_text(rung_buf *out, const char *text)
{
    gguf_put_u64(out, strlen(text));
    rung_buf_puts(out, text);
}

/* Key and type; the caller appends the value to b->keys. */
static inline void gguf_key(gguf_build *b, const char *key, uint32_t type)
{
    gguf_put_text(&b->keys, key);
    gguf_put_u32(&b->keys, type);
    b->key_count++;
}

static inline void gguf_u32(gguf_build *b, const char *key, uint32_t value)
{
    gguf_key(b, key, G_U32);
    gguf_put_u32(&b->keys, value);
}

static inline void gguf_string(gguf_build *b, const char *key, const char *value)
{
    gguf_key(b, key, G_STRING);
    gguf_put_text(&b->keys, value);
}

static inline void gguf_u32_list(gguf_build *b, const char *key, const uint32_t *values, size_t count)
{
    gguf_key(b, key, G_ARRAY);
    gguf_put_u32(&b->keys, G_U32);
    gguf_put_u64(&b->keys, count);
    rung_buf_add(&b->keys, values, 4 * count);
}

/* A tensor of two dimensions whose data take `bytes`; its offset is where the data end now. */
static inline void gguf_tensor(gguf_build *b, const char *name, uint64_t rows, uint64_t columns, uint32_t type,
                               size_t bytes)
{
    gguf_put_text(&b->tensors, name);
    gguf_put_u32(&b->tensors, 2);
    gguf_put_u64(&b->tensors, columns), gguf_put_u64(&b->tensors, rows);
    gguf_put_u32(&b->tensors, type);
    gguf_put_u64(&b->tensors, b->data.len);
    b->tensor_count++;
    for (size_t i = 0; i < bytes; i++) rung_buf_putc(&b->data, 'd');
    while (b->data.len % b->alignment) rung_buf_putc(&b->data, 0);
}

/* The file at an odd address, exactly as long as it is; frees the builder. */
static inline uint8_t *gguf_end(size_t *size, gguf_build *b)
{
    rung_buf all;
    rung_buf_init(&all);
    rung_buf_puts(&all, "GGUF");
    gguf_put_u32(&all, b->version);
    gguf_put_u64(&all, b->tensor_count), gguf_put_u64(&all, b->key_count);
    rung_buf_add(&all, b->keys.text, b->keys.len);
    rung_buf_add(&all, b->tensors.text, b->tensors.len);
    while (b->data.len && all.len % b->alignment) rung_buf_putc(&all, 0);
    rung_buf_add(&all, b->data.text, b->data.len);
    *size = all.len;
    uint8_t *copy = odd_copy(all.text, all.len);
    rung_buf_clear(&all), rung_buf_clear(&b->keys), rung_buf_clear(&b->tensors), rung_buf_clear(&b->data);
    return copy;
}

#endif
