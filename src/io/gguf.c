/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Reading the header of GGUF: magic, version, counts, typed keys, tensor infos. Every length is compared with the bytes
 * that are left before anything is allocated or skipped, every product and sum is checked, and no assert validates.
 * Refused are all defects that readers of the format have been known to let through: lengths that wrap, counts larger
 * than the file, arrays in arrays, keys or tensors twice, an alignment that is no power of two or overflows the
 * padding, tensors that overlap, leave holes or end beyond the file. The tensors are in gguf_tensor.c.
 */
#include "gguf.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    KEY_BYTES_MAX = 1 << 20,
    ARRAY_MAX = 1 << 24, /* far more than any vocabulary has; a larger count means damage */
    ENTRY_BYTES_MIN = 8 + 1 + 4 + 1,
};

struct rung_gguf {
    rung_file_map map; /* of an opened path; empty if the caller keeps the bytes */
    char *name;
    rung_arena arena;
    gguf_entry *entry; /* sorted by key */
    size_t count, tensor_count;
    rung_tensor *tensor; /* sorted by name */
};

static const struct {
    const char *name;
    size_t bytes; /* 0: the size varies */
} value_type[] = {
    [GGUF_U8] = {"u8", 1},         [GGUF_I8] = {"i8", 1},       [GGUF_U16] = {"u16", 2}, [GGUF_I16] = {"i16", 2},
    [GGUF_U32] = {"u32", 4},       [GGUF_I32] = {"i32", 4},     [GGUF_F32] = {"f32", 4}, [GGUF_BOOL] = {"bool", 1},
    [GGUF_STRING] = {"string", 0}, [GGUF_ARRAY] = {"array", 0}, [GGUF_U64] = {"u64", 8}, [GGUF_I64] = {"i64", 8},
    [GGUF_F64] = {"f64", 8},
};

/* ---- the cursor ---- */

bool gguf_take(gguf_cursor *at, void *out, size_t bytes)
{
    if (at->left < bytes) return false;
    memcpy(out, at->byte, bytes);
    at->byte += bytes, at->left -= bytes;
    return true;
}

bool gguf_skip(gguf_cursor *at, uint64_t bytes)
{
    if (bytes > at->left) return false;
    at->byte += bytes, at->left -= (size_t)bytes;
    return true;
}

bool gguf_take_text(const uint8_t **text, uint64_t *len, gguf_cursor *at)
{
    if (!gguf_take(at, len, sizeof *len)) return false;
    *text = at->byte;
    return gguf_skip(at, *len);
}

char *gguf_copy_text(rung_arena *arena, const uint8_t *text, size_t len, rung_error *err)
{
    char *copy = rung_arena_alloc(arena, len + 1, 1, err);
    if (copy && len) memcpy(copy, text, len);
    return copy;
}

/* ---- one key and its value ---- */

static rung_status refuse_key(const rung_gguf *file, const char *key, rung_error *err, const char *what)
{
    return rung_fail(err, RUNG_INPUT, "%s: key '%s': %s", LABEL(file->name), LABEL(key), what);
}

static rung_status read_key(char **key, rung_gguf *file, gguf_cursor *at, size_t index, rung_error *err)
{
    const uint8_t *text;
    uint64_t len;
    if (!gguf_take_text(&text, &len, at))
        return rung_fail(err, RUNG_INPUT, "%s: key number %zu ends beyond the file; it is cut short, fetch it again",
                         LABEL(file->name), index);
    if (len == 0 || len > KEY_BYTES_MAX)
        return rung_fail(err, RUNG_INPUT, "%s: key number %zu has %" PRIu64 " bytes, and a key has 1 to %d",
                         LABEL(file->name), index, len, KEY_BYTES_MAX);
    *key = gguf_copy_text(&file->arena, text, (size_t)len, err);
    if (!*key) return RUNG_SYSTEM;
    if (strlen(*key) != len || !io_utf8_valid(*key)) return refuse_key(file, *key, err, "is not UTF-8 text");
    return RUNG_OK;
}

static rung_status read_type(gguf_type *type, const rung_gguf *file, const char *key, gguf_cursor *at, rung_error *err)
{
    uint32_t number;
    if (!gguf_take(at, &number, sizeof number)) return refuse_key(file, key, err, "has no type; the file is cut short");
    if (number >= RUNG_COUNT(value_type))
        return rung_fail(err, RUNG_INPUT, "%s: key '%s': unknown type %" PRIu32 ", and types go to %zu",
                         LABEL(file->name), LABEL(key), number, RUNG_COUNT(value_type) - 1);
    *type = (gguf_type)number;
    return RUNG_OK;
}

static rung_status read_array_head(gguf_entry *entry, const rung_gguf *file, gguf_cursor *at, rung_error *err)
{
    RUNG_TRY(read_type(&entry->type, file, entry->key, at, err));
    entry->is_array = true;
    if (entry->type == GGUF_ARRAY) return refuse_key(file, entry->key, err, "is an array of arrays");
    if (!gguf_take(at, &entry->count, sizeof entry->count))
        return refuse_key(file, entry->key, err, "has no length; the file is cut short");
    if (entry->count > ARRAY_MAX)
        return rung_fail(err, RUNG_INPUT, "%s: key '%s': states %" PRIu64 " values, above the limit of %d",
                         LABEL(file->name), LABEL(entry->key), entry->count, ARRAY_MAX);
    return RUNG_OK;
}

/* Strings are read one by one, because only then their end is known. A single string is copied and gets a NUL. */
static rung_status read_strings(gguf_entry *entry, rung_gguf *file, gguf_cursor *at, rung_error *err)
{
    const uint8_t *text = NULL;
    uint64_t len = 0;
    for (uint64_t i = 0; i < entry->count; i++)
        if (!gguf_take_text(&text, &len, at))
            return refuse_key(file, entry->key, err, "its text ends beyond the file; it is cut short or damaged");
    if (entry->is_array) return RUNG_OK;
    entry->text = gguf_copy_text(&file->arena, text, (size_t)len, err);
    return entry->text ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status read_numbers(gguf_entry *entry, const rung_gguf *file, gguf_cursor *at, rung_error *err)
{
    size_t bytes;
    entry->byte = at->byte;
    if (!rung_size_mul(&bytes, (size_t)entry->count, value_type[entry->type].bytes) || !gguf_skip(at, bytes))
        return rung_fail(err, RUNG_INPUT,
                         "%s: key '%s': its %" PRIu64
                         " values of type %s end beyond the file; it is cut short or damaged",
                         LABEL(file->name), LABEL(entry->key), entry->count, value_type[entry->type].name);
    for (size_t i = 0; entry->type == GGUF_BOOL && i < bytes; i++)
        if (entry->byte[i] > 1) return refuse_key(file, entry->key, err, "holds a bool that is neither 0 nor 1");
    return RUNG_OK;
}

static rung_status read_entry(gguf_entry *entry, rung_gguf *file, gguf_cursor *at, size_t index, rung_error *err)
{
    *entry = (gguf_entry){.count = 1};
    rung_status status = read_key(&entry->key, file, at, index, err);
    RUNG_NEXT(status, read_type(&entry->type, file, entry->key, at, err));
    if (!status && entry->type == GGUF_ARRAY) status = read_array_head(entry, file, at, err);
    RUNG_TRY(status);
    return entry->type == GGUF_STRING ? read_strings(entry, file, at, err) : read_numbers(entry, file, at, err);
}

/* ---- the whole header ---- */

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const gguf_entry *)a)->key, ((const gguf_entry *)b)->key);
}

static rung_status read_entries(rung_gguf *file, gguf_cursor *at, uint64_t count, rung_error *err)
{
    if (count > at->left / ENTRY_BYTES_MIN)
        return rung_fail(err, RUNG_INPUT, "%s: states %" PRIu64 " keys, more than its %zu bytes can hold",
                         LABEL(file->name), count, at->left);
    file->entry = rung_arena_alloc(&file->arena, (size_t)count, sizeof *file->entry, err);
    if (!file->entry) return RUNG_SYSTEM;
    for (; file->count < count; file->count++) {
        RUNG_TRY(read_entry(&file->entry[file->count], file, at, file->count, err));
    }
    qsort(file->entry, file->count, sizeof *file->entry, compare_entries);
    for (size_t i = 1; i < file->count; i++)
        if (strcmp(file->entry[i - 1].key, file->entry[i].key) == 0)
            return refuse_key(file, file->entry[i].key, err, "occurs twice");
    return RUNG_OK;
}

static const gguf_entry *find_entry(const rung_gguf *file, const char *key)
{
    gguf_entry wanted = {.key = (char *)key};
    return bsearch(&wanted, file->entry, file->count, sizeof *file->entry, compare_entries);
}

static rung_status read_alignment(size_t *alignment, const rung_gguf *file, rung_error *err)
{
    const gguf_entry *entry = find_entry(file, "general.alignment");
    uint64_t value = GGUF_ALIGNMENT_DEFAULT;
    if (entry && (entry->is_array || entry->type != GGUF_U32))
        return refuse_key(file, entry->key, err, "must be one number of type u32");
    if (entry) (void)rung_gguf_u64(&value, file, entry->key, 0);
    if (value == 0 || (value & (value - 1)) != 0 || value > GGUF_ALIGNMENT_MAX)
        return rung_fail(err, RUNG_INPUT, "%s: key 'general.alignment': %" PRIu64 " is not a power of two up to %d",
                         LABEL(file->name), value, GGUF_ALIGNMENT_MAX);
    *alignment = (size_t)value;
    return RUNG_OK;
}

static rung_status check_version(const rung_gguf *file, uint32_t version, rung_error *err)
{
    if (version != 0 && (version & 0xffff) == 0)
        return rung_fail(err, RUNG_INPUT, "%s: is big endian, and only little-endian GGUF is read; convert it",
                         LABEL(file->name));
    if (version < 2 || version > 3)
        return rung_fail(err, RUNG_INPUT, "%s: is GGUF version %" PRIu32 ", and versions 2 and 3 are read; convert it",
                         LABEL(file->name), version);
    return RUNG_OK;
}

static rung_status read_header(rung_gguf *file, const void *bytes, size_t size, rung_error *err)
{
    gguf_cursor at = {bytes, size};
    uint32_t version = 0;
    uint64_t tensors = 0, keys = 0;
    size_t alignment = 0;
    if (!rung_gguf_magic(bytes, size))
        return rung_fail(err, RUNG_INPUT, "%s: does not start with GGUF; this is not such a file", LABEL(file->name));
    (void)gguf_skip(&at, 4);
    bool there = gguf_take(&at, &version, sizeof version);
    RUNG_TRY(there ? check_version(file, version, err) : RUNG_OK);
    if (!there || !gguf_take(&at, &tensors, sizeof tensors) || !gguf_take(&at, &keys, sizeof keys))
        return rung_fail(err, RUNG_INPUT, "%s: has %zu bytes, and a GGUF header has at least 24", LABEL(file->name),
                         size);
    rung_status status = read_entries(file, &at, keys, err);
    RUNG_NEXT(status, read_alignment(&alignment, file, err));
    const gguf_extent extent = {file->name, bytes, size, alignment};
    RUNG_NEXT(status, gguf_read_tensors(&file->tensor, &file->arena, &at, tensors, &extent, err));
    if (!status) file->tensor_count = (size_t)tensors;
    return status;
}

/* ---- opening ---- */

bool rung_gguf_magic(const void *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "GGUF", 4) == 0;
}

rung_status rung_gguf_open_bytes(rung_gguf **out, const void *bytes, size_t size, const char *name, rung_error *err)
{
    *out = NULL;
    rung_gguf *file = rung_calloc(1, sizeof *file, err);
    if (!file) return RUNG_SYSTEM;
    rung_arena_init(&file->arena);
    file->name = rung_arena_strdup(&file->arena, name, err);
    rung_status status = file->name ? read_header(file, bytes, size, err) : RUNG_SYSTEM;
    if (status)
        rung_gguf_close(file);
    else
        *out = file;
    return status;
}

rung_status rung_gguf_open(rung_gguf **out, const char *path, rung_error *err)
{
    rung_file_map map;
    *out = NULL;
    RUNG_TRY(rung_file_open_map(&map, path, err));
    rung_status status = rung_gguf_open_bytes(out, map.bytes, map.size, path, err);
    if (status)
        rung_file_close_map(&map);
    else
        (*out)->map = map;
    return status;
}

void rung_gguf_close(rung_gguf *file)
{
    if (!file) return;
    rung_arena_clear(&file->arena);
    rung_file_close_map(&file->map);
    free(file);
}

/* ---- looking ---- */

size_t rung_gguf_count(const rung_gguf *file)
{
    return file->count;
}

const char *rung_gguf_key_at(const rung_gguf *file, size_t index)
{
    return index < file->count ? file->entry[index].key : NULL;
}

size_t rung_gguf_tensor_count(const rung_gguf *file)
{
    return file->tensor_count;
}

const rung_tensor *rung_gguf_tensor_at(const rung_gguf *file, size_t index)
{
    return index < file->tensor_count ? &file->tensor[index] : NULL;
}

static int compare_tensor(const void *name, const void *tensor)
{
    return strcmp(name, ((const rung_tensor *)tensor)->name);
}

const rung_tensor *rung_gguf_tensor(const rung_gguf *file, const char *name)
{
    return file->tensor_count ? bsearch(name, file->tensor, file->tensor_count, sizeof *file->tensor, compare_tensor)
                              : NULL;
}

size_t rung_gguf_len(const rung_gguf *file, const char *key)
{
    const gguf_entry *entry = find_entry(file, key);
    return entry ? (size_t)entry->count : 0;
}

bool rung_gguf_is_array(const rung_gguf *file, const char *key)
{
    const gguf_entry *entry = find_entry(file, key);
    return entry && entry->is_array;
}

bool rung_gguf_is_whole(const rung_gguf *file, const char *key)
{
    const gguf_entry *entry = find_entry(file, key);
    if (!entry) return false;
    return entry->type <= GGUF_I32 || entry->type == GGUF_U64 || entry->type == GGUF_I64;
}

static bool whole(uint64_t *out, double value)
{
    if (!(value >= 0 && value <= 0x1p53) || floor(value) != value) return false;
    *out = (uint64_t)value;
    return true;
}

static bool from_signed(uint64_t *out, int64_t value)
{
    *out = (uint64_t)value;
    return value >= 0;
}

/* The bytes may be unaligned. */
static bool decode(uint64_t *out, gguf_type type, const uint8_t *byte)
{
    float f32;
    double f64;
    switch (type) {
    case GGUF_U8:
    case GGUF_BOOL:
        *out = byte[0];
        return true;
    case GGUF_I8:
        return from_signed(out, (int8_t)byte[0]);
    case GGUF_U16:
        *out = io_le16(byte);
        return true;
    case GGUF_I16:
        return from_signed(out, (int16_t)io_le16(byte));
    case GGUF_U32:
        *out = io_le32(byte);
        return true;
    case GGUF_I32:
        return from_signed(out, (int32_t)io_le32(byte));
    case GGUF_U64:
        *out = io_le64(byte);
        return true;
    case GGUF_I64:
        return from_signed(out, (int64_t)io_le64(byte));
    case GGUF_F32:
        memcpy(&f32, byte, sizeof f32);
        return whole(out, f32);
    case GGUF_F64:
        memcpy(&f64, byte, sizeof f64);
        return whole(out, f64);
    default:
        return false;
    }
}

bool rung_gguf_u64(uint64_t *out, const rung_gguf *file, const char *key, size_t index)
{
    const gguf_entry *entry = find_entry(file, key);
    uint64_t value;
    if (!entry || entry->type == GGUF_STRING || index >= entry->count) return false;
    if (!decode(&value, entry->type, entry->byte + index * value_type[entry->type].bytes)) return false;
    *out = value;
    return true;
}

bool rung_gguf_real(double *out, const rung_gguf *file, const char *key)
{
    const gguf_entry *entry = find_entry(file, key);
    uint64_t whole_value;
    float single;
    if (!entry || entry->is_array) return false;
    if (entry->type == GGUF_F32) {
        memcpy(&single, entry->byte, sizeof single);
        *out = single;
    } else if (entry->type == GGUF_F64) {
        memcpy(out, entry->byte, sizeof *out);
    } else if (rung_gguf_u64(&whole_value, file, key, 0)) {
        *out = (double)whole_value;
    } else {
        return false;
    }
    return true;
}

const char *rung_gguf_string(const rung_gguf *file, const char *key)
{
    const gguf_entry *entry = find_entry(file, key);
    return entry ? entry->text : NULL;
}
