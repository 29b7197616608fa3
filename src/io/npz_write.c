/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Writing npz: stored members, one after the other, then the directory. Every member carries the same date
 * (1980-01-01, the first that zip can express), so that equal arrays give equal bytes. Archives of 4 GiB and
 * more would need zip64 and are refused; safetensors has no such limit.
 */
#include "io_internal.h"

#include <zlib.h>

enum { VERSION = 20, FLAG_UTF8 = 1 << 11, LOCAL_SIZE = 30, ENTRY_SIZE = 46, END_SIZE = 22, MEMBERS_MAX = 65534 };
enum { FIRST_DATE = 1 << 5 | 1 }; /* bits 15-9: years since 1980, 8-5: month, 4-0: day */

/* ---- refusals ---- */

/* Refuses names that would be unsafe file names when the archive is unpacked. */
static bool is_safe(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > 1000 || name[0] == '/' || strpbrk(name, "\\:")) return false;
    for (const char *part = name; part; part = strchr(part, '/')) {
        if (*part == '/') part++;
        size_t part_len = strcspn(part, "/");
        if (part_len == 0 || (part_len <= 2 && strspn(part, ".") >= part_len)) return false;
    }
    return true;
}

static rung_status check_names(const char *path, const rung_tensor *tensors, size_t count, rung_error *err)
{
    rung_status status = io_names_check(tensors, count, path, err);
    for (size_t i = 0; i < count && !status; i++)
        if (!is_safe(tensors[i].name))
            status = rung_fail(err, RUNG_USAGE, "%s: '%s' cannot name an array in an npz file", LABEL(path),
                               LABEL(tensors[i].name));
    return status;
}

/* ---- records ---- */

typedef struct member {
    const rung_tensor *tensor;
    rung_buf npy; /* header of the npy file */
    uint32_t crc, size, at;
} member;

static void add16(rung_buf *out, uint16_t value)
{
    rung_buf_add(out, &value, sizeof value);
}

static void add32(rung_buf *out, uint32_t value)
{
    rung_buf_add(out, &value, sizeof value);
}

static size_t name_len(const member *m)
{
    return strlen(m->tensor->name) + 4;
}

/* Appends the 26 bytes that both headers share: from the version needed to the length of the extra field. */
static void add_common(rung_buf *out, const member *m)
{
    bool ascii = true;
    for (const char *c = m->tensor->name; *c; c++) ascii &= (unsigned char)*c < 0x80;
    add16(out, VERSION);
    add16(out, ascii ? 0 : FLAG_UTF8);
    add16(out, 0); /* stored */
    add16(out, 0); /* midnight */
    add16(out, FIRST_DATE);
    add32(out, m->crc);
    add32(out, m->size);
    add32(out, m->size);
    add16(out, (uint16_t)name_len(m));
    add16(out, 0);
}

static void add_name(rung_buf *out, const member *m)
{
    rung_buf_puts(out, m->tensor->name);
    rung_buf_puts(out, ".npy");
}

static void add_local(rung_buf *out, const member *m)
{
    rung_buf_add(out, "PK\3\4", 4);
    add_common(out, m);
    add_name(out, m);
}

static void add_entry(rung_buf *out, const member *m)
{
    rung_buf_add(out, "PK\1\2", 4);
    add16(out, VERSION | 3 << 8); /* made on Unix, so that readers apply the mode below */
    add_common(out, m);
    add16(out, 0);                       /* comment */
    add16(out, 0);                       /* disk */
    add16(out, 0);                       /* internal attributes */
    add32(out, (uint32_t)0100644 << 16); /* a regular file, rw-r--r-- */
    add32(out, m->at);
    add_name(out, m);
}

static void add_end(rung_buf *out, size_t count, uint32_t directory_at, uint32_t directory_size)
{
    rung_buf_add(out, "PK\5\6\0\0\0\0", 8);
    add16(out, (uint16_t)count);
    add16(out, (uint16_t)count);
    add32(out, directory_size);
    add32(out, directory_at);
    add16(out, 0);
}

/* ---- the archive ---- */

/* Computes the headers and positions of all members, before any byte is written or any checksum computed. */
static rung_status plan(member *members, const char *path, const rung_tensor *tensors, size_t count, rung_error *err)
{
    uint64_t at = 0, directory = END_SIZE;
    for (size_t i = 0; i < count; i++) {
        member *m = &members[i];
        m->tensor = &tensors[i];
        rung_status status = io_npy_header(&m->npy, m->tensor, err);
        if (status) return rung_fail_at(err, status, "%s", LABEL(path));
        directory += ENTRY_SIZE + name_len(m);
        if (m->tensor->size_bytes < UINT32_MAX) {
            m->at = (uint32_t)at;
            m->size = (uint32_t)(m->npy.len + m->tensor->size_bytes);
        }
        at += LOCAL_SIZE + name_len(m) + m->npy.len;
        if (m->tensor->size_bytes >= UINT32_MAX || at + m->tensor->size_bytes + directory >= UINT32_MAX)
            return rung_fail(err, RUNG_USAGE,
                             "%s: tensor '%s' would make the archive larger than 4 GiB; write several, or safetensors",
                             LABEL(path), LABEL(m->tensor->name));
        at += m->tensor->size_bytes;
    }
    return RUNG_OK;
}

static rung_status put_member(rung_file_writer *writer, member *m, rung_error *err)
{
    rung_buf local;
    const rung_tensor *tensor = m->tensor;
    m->crc = (uint32_t)crc32_z(0, (const Bytef *)m->npy.text, m->npy.len);
    if (tensor->size_bytes) /* an empty tensor may have the address NULL, which zlib takes for "start again" */
        m->crc = (uint32_t)crc32_z(m->crc, tensor->bytes, tensor->size_bytes);
    rung_buf_init(&local);
    add_local(&local, m);
    rung_status status = rung_buf_ok(&local, err);
    RUNG_NEXT(status, io_put(writer, local.text, local.len, err));
    RUNG_NEXT(status, io_put(writer, m->npy.text, m->npy.len, err));
    RUNG_NEXT(status, io_put(writer, tensor->bytes, tensor->size_bytes, err));
    rung_buf_clear(&local);
    return status;
}

static rung_status put_directory(rung_file_writer *writer, const member *members, size_t count, rung_error *err)
{
    rung_buf directory;
    uint32_t at = 0;
    rung_buf_init(&directory);
    for (size_t i = 0; i < count; i++) {
        add_entry(&directory, &members[i]);
        at = members[i].at + LOCAL_SIZE + (uint32_t)name_len(&members[i]) + members[i].size;
    }
    add_end(&directory, count, at, (uint32_t)directory.len);
    rung_status status = rung_buf_ok(&directory, err);
    RUNG_NEXT(status, io_put(writer, directory.text, directory.len, err));
    rung_buf_clear(&directory);
    return status;
}

static rung_status put_archive(const char *path, member *members, size_t count, rung_error *err)
{
    rung_file_writer writer;
    rung_status status = rung_file_begin(&writer, path, err);
    RUNG_TRY(status);
    for (size_t i = 0; i < count && !status; i++) status = put_member(&writer, &members[i], err);
    RUNG_NEXT(status, put_directory(&writer, members, count, err));
    return io_finish(&writer, status, err);
}

rung_status rung_npz_write(const char *path, const rung_tensor *tensors, size_t count, rung_error *err)
{
    if (count > MEMBERS_MAX)
        return rung_fail(err, RUNG_USAGE, "%s: %zu arrays are more than the %d of one npz file", LABEL(path), count,
                         MEMBERS_MAX);
    RUNG_TRY(check_names(path, tensors, count, err));
    rung_arena arena;
    rung_arena_init(&arena);
    member *members = rung_arena_alloc(&arena, count, sizeof *members, err);
    rung_status status = members ? plan(members, path, tensors, count, err) : RUNG_SYSTEM;
    RUNG_NEXT(status, put_archive(path, members, count, err));
    for (size_t i = 0; members && i < count; i++) rung_buf_clear(&members[i].npy);
    rung_arena_clear(&arena);
    return status;
}
