/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Zip archives put together field by field, so that a test can then make one field wrong. Written from the format's
 * description, apart from the reader and the writer that it tests.
 */
#ifndef RUNG_ZIP_BUILD_H
#define RUNG_ZIP_BUILD_H

#include "io_test.h"

#include <zlib.h>

typedef struct entry {
    const char *name;
    const void *content;
    size_t len;
    bool deflate, zip64, sizes_follow;
    size_t junk;       /* zero bytes after the packed ones, counted as packed */
    const char *extra; /* more bytes in the extra field of the directory */
    size_t extra_len;
} entry;

enum { ENTRIES = 4 };

typedef struct archive {
    rung_buf buf;
    size_t local[ENTRIES], data[ENTRIES], packed[ENTRIES], entry[ENTRIES], end64, end;
} archive;

static inline void put(rung_buf *out, uint64_t value, size_t bytes)
{
    rung_buf_add(out, &value, bytes);
}

static inline void poke(archive *a, size_t at, uint64_t value, size_t bytes)
{
    memcpy(a->buf.text + at, &value, bytes);
}

static inline void add_packed(archive *a, const entry *e)
{
    if (!e->deflate) {
        rung_buf_add(&a->buf, e->content, e->len);
        return;
    }
    z_stream stream = {0};
    size_t bound = e->len + e->len / 100 + 64;
    uint8_t *out = malloc(bound);
    assert_non_null(out);
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)e->content;
    stream.avail_in = (uInt)e->len;
    stream.next_out = out;
    stream.avail_out = (uInt)bound;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    rung_buf_add(&a->buf, out, stream.total_out);
    deflateEnd(&stream);
    free(out);
}

/* version, flags, method, time, date, CRC, packed, unpacked, name length, extra length */
static inline void add_fields(rung_buf *out, const entry *e, uint32_t crc, size_t packed, size_t unpacked, size_t extra)
{
    put(out, 20, 2);
    put(out, e->sizes_follow ? 8 : 0, 2);
    put(out, e->deflate ? 8 : 0, 2);
    put(out, 0, 2);
    put(out, 33, 2);
    put(out, crc, 4);
    put(out, e->zip64 ? UINT32_MAX : packed, 4);
    put(out, e->zip64 ? UINT32_MAX : unpacked, 4);
    put(out, strlen(e->name), 2);
    put(out, extra, 2);
}

static inline uint32_t crc_of(const entry *e)
{
    return (uint32_t)crc32(0, e->content, (uInt)e->len);
}

static inline void add_local(archive *a, size_t i, const entry *e)
{
    rung_buf *out = &a->buf;
    a->local[i] = out->len;
    rung_buf_add(out, "PK\3\4", 4);
    add_fields(out, e, e->sizes_follow ? 0 : crc_of(e), 0, e->sizes_follow ? 0 : e->len, e->zip64 ? 20 : 0);
    rung_buf_puts(out, e->name);
    if (e->zip64) {
        put(out, 1, 2);
        put(out, 16, 2);
        put(out, e->len, 8);
        put(out, 0, 8);
    }
    a->data[i] = out->len;
    add_packed(a, e);
    for (size_t k = 0; k < e->junk; k++) rung_buf_putc(out, '\0');
    a->packed[i] = out->len - a->data[i];
    if (e->zip64)
        poke(a, a->data[i] - 8, a->packed[i], 8);
    else if (!e->sizes_follow)
        poke(a, a->local[i] + 18, a->packed[i], 4);
}

static inline void add_entry(archive *a, size_t i, const entry *e)
{
    rung_buf *out = &a->buf;
    a->entry[i] = out->len;
    rung_buf_add(out, "PK\1\2", 4);
    put(out, 20, 2);
    add_fields(out, e, crc_of(e), a->packed[i], e->len, (e->zip64 ? 28 : 0) + e->extra_len);
    put(out, 0, 2 + 2 + 2);
    put(out, 0, 4);
    put(out, e->zip64 ? UINT32_MAX : a->local[i], 4);
    rung_buf_puts(out, e->name);
    if (e->zip64) {
        put(out, 1, 2);
        put(out, 24, 2);
        put(out, e->len, 8);
        put(out, a->packed[i], 8);
        put(out, a->local[i], 8);
    }
    rung_buf_add(out, e->extra, e->extra_len);
}

static inline void add_end64(archive *a, size_t count, size_t directory)
{
    rung_buf *out = &a->buf;
    a->end64 = out->len;
    rung_buf_add(out, "PK\6\6", 4);
    put(out, 44, 8);
    put(out, 45, 2);
    put(out, 45, 2);
    put(out, 0, 8);
    put(out, count, 8);
    put(out, count, 8);
    put(out, a->end64 - directory, 8);
    put(out, directory, 8);
    rung_buf_add(out, "PK\6\7", 4);
    put(out, 0, 4);
    put(out, a->end64, 8);
    put(out, 1, 4);
}

static inline void build(archive *a, const entry *entries, size_t count, bool zip64)
{
    memset(a, 0, sizeof *a);
    for (size_t i = 0; i < count; i++) add_local(a, i, &entries[i]);
    size_t directory = a->buf.len;
    for (size_t i = 0; i < count; i++) add_entry(a, i, &entries[i]);
    size_t size = a->buf.len - directory;
    if (zip64) add_end64(a, count, directory);
    a->end = a->buf.len;
    rung_buf_add(&a->buf, "PK\5\6\0\0\0\0", 8);
    put(&a->buf, zip64 ? UINT16_MAX : count, 2);
    put(&a->buf, zip64 ? UINT16_MAX : count, 2);
    put(&a->buf, zip64 ? UINT32_MAX : size, 4);
    put(&a->buf, zip64 ? UINT32_MAX : directory, 4);
    put(&a->buf, 0, 2);
    assert_false(a->buf.failed);
}

#endif
