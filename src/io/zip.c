/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Reading zip archives (APPNOTE 6.3: end record, zip64 end record, central directory, local headers). The central
 * directory is the authority. Everything that the file states twice must agree, and members must not overlap. So two
 * readers cannot see different archives in one file, and zip bombs of overlapping members are refused. Not read:
 * encryption, several disks, bytes before the first member's offset base, methods other than stored and deflate.
 */
#include "zip.h"

#include <stdlib.h>
#include <zlib.h>

enum {
    END_SIZE = 22,
    END64_LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    ENTRY_SIZE = 46, /* of the directory, without name, extra field and comment */
    LOCAL_SIZE = 30, /* header of a member, without name and extra field */
    COMMENT_MAX = 65535,
};
enum { METHOD_STORED = 0, METHOD_DEFLATE = 8 };
enum { FLAG_ENCRYPTED = 1 << 0, FLAG_SIZES_FOLLOW = 1 << 3, FLAG_STRONG = 1 << 6, FLAG_MASKED = 1 << 13 };

#define SATURATED UINT32_MAX /* "look into the zip64 field" */

static rung_status refuse(rung_error *err, const char *what)
{
    return rung_fail(err, RUNG_INPUT, "%s; the archive is damaged, write it again", what);
}

static rung_status refuse_disks(rung_error *err)
{
    return rung_fail(err, RUNG_INPUT, "the archive is spread over several disks, which is not read");
}

static rung_status refuse_member(const char *name, rung_error *err, const char *what)
{
    return rung_fail(err, RUNG_INPUT, "member '%s' %s", LABEL(name), what);
}

static bool has_signature(const uint8_t *p, uint8_t third, uint8_t fourth)
{
    return p[0] == 'P' && p[1] == 'K' && p[2] == third && p[3] == fourth;
}

/* True if [at, at + len) lies in [0, limit). */
static bool inside(uint64_t at, uint64_t len, uint64_t limit)
{
    return at <= limit && len <= limit - at;
}

/* ---- the end of the archive ---- */

typedef struct directory {
    uint64_t at, size, count;
} directory;

/* The end record is at the end of the file. Only a comment may follow it, whose length it states. */
static bool find_end(size_t *at, const io_zip *zip)
{
    for (size_t back = END_SIZE; back <= zip->size && back <= END_SIZE + COMMENT_MAX; back++) {
        const uint8_t *p = zip->bytes + zip->size - back;
        if (!has_signature(p, 5, 6) || io_le16(p + 20) != back - END_SIZE) continue;
        *at = zip->size - back;
        return true;
    }
    return false;
}

/* Compares a 16- or 32-bit field of the end record with the 64-bit field. */
static bool agrees(uint64_t narrow, uint64_t saturated, uint64_t wide)
{
    return narrow == saturated || narrow == wide;
}

static rung_status read_end64(directory *dir, const io_zip *zip, size_t locator_at, rung_error *err)
{
    const uint8_t *locator = zip->bytes + locator_at;
    uint64_t at = io_le64(locator + 8);
    if (io_le32(locator + 4) != 0 || io_le32(locator + 16) > 1) return refuse_disks(err);
    if (!inside(at, END64_SIZE, locator_at) || !has_signature(zip->bytes + at, 6, 6) ||
        io_le64(zip->bytes + at + 4) != locator_at - at - 12)
        return refuse(err, "the zip64 end record is not where it should be");
    const uint8_t *p = zip->bytes + at;
    if (io_le32(p + 16) != 0 || io_le32(p + 20) != 0 || io_le64(p + 24) != io_le64(p + 32)) return refuse_disks(err);
    directory wide = {.count = io_le64(p + 32), .size = io_le64(p + 40), .at = io_le64(p + 48)};
    if (!agrees(dir->count, UINT16_MAX, wide.count) || !agrees(dir->size, SATURATED, wide.size) ||
        !agrees(dir->at, SATURATED, wide.at))
        return refuse(err, "the zip64 end record contradicts the end record");
    *dir = wide;
    return inside(dir->at, dir->size, at) && dir->at + dir->size == at
               ? RUNG_OK
               : refuse(err, "the directory does not end where the zip64 end record begins");
}

static rung_status find_directory(directory *dir, const io_zip *zip, rung_error *err)
{
    size_t end = 0;
    if (!find_end(&end, zip))
        return rung_fail(err, RUNG_INPUT, "is not a zip archive, or is cut short (it has no end record)");
    const uint8_t *p = zip->bytes + end;
    if (io_le16(p + 4) != 0 || io_le16(p + 6) != 0 || io_le16(p + 8) != io_le16(p + 10)) return refuse_disks(err);
    *dir = (directory){.count = io_le16(p + 10), .size = io_le32(p + 12), .at = io_le32(p + 16)};
    if (end >= END64_LOCATOR_SIZE && has_signature(p - END64_LOCATOR_SIZE, 6, 7))
        return read_end64(dir, zip, end - END64_LOCATOR_SIZE, err);
    if (!inside(dir->at, dir->size, end) || dir->at + dir->size != end)
        return refuse(err, "the directory does not end where the end record begins");
    return RUNG_OK;
}

/* ---- one entry ---- */

/* The numbers that may need more than 32 bits, in the order of the zip64 field. */
typedef struct sizes {
    uint64_t unpacked, packed, at;
} sizes;

static bool take_wide(uint64_t *value, const uint8_t **p, const uint8_t *end)
{
    if (*value != SATURATED) return true;
    if (end - *p < 8) return false;
    *value = io_le64(*p);
    *p += 8;
    return true;
}

/* Replaces saturated numbers by those of the zip64 field (id 1). A number that is saturated without such a field is
 * refused. */
static bool widen(sizes *s, const uint8_t *extra, size_t len)
{
    const uint8_t *end = extra + len;
    bool found = false;
    while (end - extra >= 4) {
        uint16_t id = io_le16(extra), field = io_le16(extra + 2);
        const uint8_t *p = extra + 4;
        if (field > end - p) return false;
        extra = p + field;
        if (id != 1) continue;
        if (found || !take_wide(&s->unpacked, &p, extra) || !take_wide(&s->packed, &p, extra) ||
            !take_wide(&s->at, &p, extra))
            return false;
        found = true;
    }
    return extra == end && (found || (s->unpacked != SATURATED && s->packed != SATURATED && s->at != SATURATED));
}

static rung_status check_method(io_zip_member *out, uint16_t flags, uint16_t method, rung_error *err)
{
    if (flags & (FLAG_ENCRYPTED | FLAG_STRONG | FLAG_MASKED))
        return refuse_member(out->name, err, "is encrypted, which is not read");
    if (method != METHOD_STORED && method != METHOD_DEFLATE)
        return rung_fail(err, RUNG_INPUT, "member '%s' is packed with method %d; use numpy.savez or savez_compressed",
                         LABEL(out->name), method);
    out->deflated = method == METHOD_DEFLATE;
    return RUNG_OK;
}

/* Checks that the local header repeats what the directory says. */
static rung_status check_local(io_zip_member *out, const io_zip *zip, const uint8_t *entry, size_t limit,
                               rung_error *err)
{
    const uint8_t *local = zip->bytes + out->header_at;
    if (!inside(out->header_at, LOCAL_SIZE, limit) || !has_signature(local, 3, 4))
        return refuse_member(out->name, err, "is not where the directory says; the archive is damaged");
    size_t name_len = io_le16(local + 26), extra_len = io_le16(local + 28);
    if (!inside(out->header_at + LOCAL_SIZE, name_len + extra_len, limit) || name_len != strlen(out->name) ||
        memcmp(local + LOCAL_SIZE, out->name, name_len) != 0)
        return refuse_member(out->name, err, "has another name in its own header; the archive is damaged");
    sizes s = {io_le32(local + 22), io_le32(local + 18), 0};
    bool later = io_le16(local + 6) & FLAG_SIZES_FOLLOW;
    bool same = widen(&s, local + LOCAL_SIZE + name_len, extra_len) && s.unpacked == out->unpacked &&
                s.packed == out->packed && io_le32(local + 14) == out->crc;
    if (memcmp(local + 6, entry + 8, 4) != 0 || (!later && !same)) /* flags and method, sizes and CRC */
        return refuse_member(out->name, err, "has other sizes in its own header; the archive is damaged");
    out->data_at = out->header_at + LOCAL_SIZE + name_len + extra_len;
    if (!inside(out->data_at, out->packed, limit))
        return refuse_member(out->name, err, "ends behind the directory; the archive is damaged");
    return RUNG_OK;
}

static rung_status check_sizes(io_zip_member *out, const sizes *s, size_t limit, rung_error *err)
{
    /* Deflate needs at least 2 bits for a match of at most 258 bytes, so one byte unpacks to at most 1032 bytes. */
    if (s->packed > limit || s->at > limit || s->unpacked / 1032 > s->packed)
        return refuse_member(out->name, err, "states a size that the archive cannot hold");
    if (!out->deflated && s->packed != s->unpacked)
        return refuse_member(out->name, err, "is stored, but its two sizes differ; the archive is damaged");
    out->packed = (size_t)s->packed;
    out->unpacked = (size_t)s->unpacked;
    out->header_at = (size_t)s->at;
    return RUNG_OK;
}

static char *copy_name(rung_arena *arena, const uint8_t *text, size_t len, rung_error *err)
{
    char *name = rung_arena_alloc(arena, len + 1, 1, err);
    if (name) memcpy(name, text, len);
    return name;
}

/* Reads the entry at *at of the directory, which ends at `end`, and moves *at to the next one. */
static rung_status read_entry(io_zip_member *out, size_t *at, rung_arena *arena, const io_zip *zip,
                              const directory *dir, rung_error *err)
{
    const uint8_t *entry = zip->bytes + *at;
    uint64_t end = dir->at + dir->size;
    if (!inside(*at, ENTRY_SIZE, end) || !has_signature(entry, 1, 2))
        return refuse(err, "the directory has fewer entries than it states");
    size_t name_len = io_le16(entry + 28), extra_len = io_le16(entry + 30), comment_len = io_le16(entry + 32);
    if (!inside(*at + ENTRY_SIZE, name_len + extra_len + comment_len, end))
        return refuse(err, "an entry reaches behind the directory");
    *at += ENTRY_SIZE + name_len + extra_len + comment_len;
    char *name = copy_name(arena, entry + ENTRY_SIZE, name_len, err);
    if (!name) return RUNG_SYSTEM;
    out->name = name;
    out->crc = io_le32(entry + 16);
    if (strlen(name) != name_len || !io_utf8_valid(name)) return refuse(err, "the name of a member is not UTF-8");
    sizes s = {io_le32(entry + 24), io_le32(entry + 20), io_le32(entry + 42)};
    if (!widen(&s, entry + ENTRY_SIZE + name_len, extra_len))
        return refuse_member(name, err, "has a damaged extra field");
    RUNG_TRY(check_method(out, io_le16(entry + 8), io_le16(entry + 10), err));
    RUNG_TRY(check_sizes(out, &s, (size_t)dir->at, err));
    return check_local(out, zip, entry, (size_t)dir->at, err);
}

/* ---- the whole directory ---- */

static int compare_offsets(const void *a, const void *b)
{
    const io_zip_member *x = *(const io_zip_member *const *)a, *y = *(const io_zip_member *const *)b;
    return (x->header_at > y->header_at) - (x->header_at < y->header_at);
}

static rung_status check_overlap(const io_zip *zip, rung_error *err)
{
    const io_zip_member **order = rung_calloc(zip->count, sizeof *order, err);
    if (!order) return RUNG_SYSTEM;
    for (size_t i = 0; i < zip->count; i++) order[i] = &zip->members[i];
    qsort(order, zip->count, sizeof *order, compare_offsets);
    rung_status status = RUNG_OK;
    for (size_t i = 1; i < zip->count && !status; i++)
        if (order[i]->header_at < order[i - 1]->data_at + order[i - 1]->packed)
            status =
                refuse_member(order[i]->name, err, "overlaps another member; this is a zip bomb or a damaged archive");
    free(order);
    return status;
}

rung_status io_zip_open(io_zip *zip, rung_arena *arena, const void *bytes, size_t size, rung_error *err)
{
    directory dir = {0};
    *zip = (io_zip){.bytes = bytes, .size = size};
    rung_status status = find_directory(&dir, zip, err);
    RUNG_TRY(status);
    if (dir.count > dir.size / ENTRY_SIZE) return refuse(err, "the directory has fewer entries than it states");
    zip->count = (size_t)dir.count;
    zip->members = rung_arena_alloc(arena, zip->count, sizeof *zip->members, err);
    if (!zip->members) return RUNG_SYSTEM;
    size_t at = (size_t)dir.at;
    for (size_t i = 0; i < zip->count; i++) {
        RUNG_TRY(read_entry(&zip->members[i], &at, arena, zip, &dir, err));
    }
    if (at != dir.at + dir.size) return refuse(err, "the directory has more entries than it states");
    return check_overlap(zip, err);
}

/* ---- content ---- */

/* zlib counts in unsigned int, so larger members are passed in pieces. */
static uInt piece(size_t left)
{
    const size_t most = (size_t)1 << 30;
    return (uInt)(left < most ? left : most);
}

/* Inflates exactly `packed` bytes to exactly `unpacked` bytes, or returns false. Never writes more, whatever the stream
 * says. */
static bool inflate_exactly(uint8_t *out, size_t unpacked, const uint8_t *in, size_t packed)
{
    z_stream stream = {0};
    uint8_t excess; /* zlib needs an output address even when no output is expected */
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
    size_t in_left = packed, out_left = unpacked;
    int code = Z_OK;
    while (code == Z_OK) {
        uInt take = piece(in_left), room = piece(out_left);
        stream.next_in = (Bytef *)in + (packed - in_left);
        stream.avail_in = take;
        stream.next_out = room ? out + (unpacked - out_left) : &excess;
        stream.avail_out = room ? room : 1;
        code = inflate(&stream, Z_NO_FLUSH);
        in_left -= take - stream.avail_in;
        /* the stream gives more bytes than the directory states */
        if (!room && stream.avail_out == 0) code = Z_DATA_ERROR;
        if (room) out_left -= room - stream.avail_out;
    }
    inflateEnd(&stream);
    return code == Z_STREAM_END && in_left == 0 && out_left == 0;
}

static uint32_t crc_of(const uint8_t *bytes, size_t len)
{
    return (uint32_t)crc32_z(0, bytes, len);
}

rung_status io_zip_read(const uint8_t **out, rung_arena *arena, const io_zip *zip, const io_zip_member *member,
                        rung_error *err)
{
    const uint8_t *content = zip->bytes + member->data_at;
    if (member->deflated) {
        uint8_t *unpacked = rung_arena_alloc(arena, member->unpacked, 1, err);
        if (!unpacked) return RUNG_SYSTEM;
        if (!inflate_exactly(unpacked, member->unpacked, content, member->packed))
            return refuse_member(member->name, err,
                                 "does not inflate to the size that it states; the archive is damaged");
        content = unpacked;
    }
    if (crc_of(content, member->unpacked) != member->crc)
        return refuse_member(member->name, err, "has a wrong checksum; the archive is damaged");
    *out = content;
    return RUNG_OK;
}
