/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Reading safetensors: u64 header length N, N bytes of JSON, then the data. Implements the rules of the
 * format's specification in full: offsets equal shape times type for every tensor (also for types that cannot
 * be converted here), no overlap, no hole, no byte left over, no key twice. Shards and their index file are
 * not read here.
 */
#include "io_internal.h"

#include <inttypes.h>
#include <stdlib.h>

struct rung_safetensors {
    rung_file_map map; /* of an opened path; empty if the caller keeps the bytes */
    const uint8_t *bytes;
    size_t size;
    char *name;
    rung_json_doc *header; /* keeps the names and the metadata alive */
    const rung_json *meta; /* NULL if there is none */
    rung_arena arena;
    rung_tensor *tensors; /* sorted by data offset */
    size_t count;
    io_index index;
};

/* What the reader is reading, for messages. */
typedef struct place {
    const char *file, *tensor;
} place;

static rung_status refuse(const place *at, rung_error *err, const char *what)
{
    return rung_fail(err, RUNG_INPUT, "%s: tensor '%s': %s", LABEL(at->file), LABEL(at->tensor), what);
}

/* ---- one entry of the header ---- */

/* Reads a JSON integer that is a valid size. */
static bool size_of(size_t *out, const rung_json *value)
{
    int64_t number;
    if (!rung_json_int(&number, value) || number < 0 || (uint64_t)number > SIZE_MAX) return false;
    *out = (size_t)number;
    return true;
}

static bool is_array(const rung_json *value)
{
    return rung_json_kind_of(value) == RUNG_JSON_ARRAY;
}

static rung_status read_shape(rung_tensor *out, const rung_json *entry, const place *at, rung_error *err)
{
    const rung_json *shape = rung_json_get(entry, "shape");
    if (!is_array(shape)) return refuse(at, err, "has no 'shape' array");
    out->rank = rung_json_len(shape);
    if (out->rank > RUNG_RANK_MAX)
        return rung_fail(err, RUNG_INPUT, "%s: tensor '%s': has %zu dimensions, and at most %d are read; reshape it",
                         LABEL(at->file), LABEL(at->tensor), out->rank, RUNG_RANK_MAX);
    for (size_t i = 0; i < out->rank; i++)
        if (!size_of(&out->shape[i], rung_json_at(shape, i)))
            return refuse(at, err, "'shape' must hold whole numbers from 0 on");
    if (!io_tensor_count_elements(out)) return refuse(at, err, "the product of its shape overflows");
    return RUNG_OK;
}

static rung_status read_dtype(size_t *bits, rung_tensor *out, const rung_json *entry, const place *at, rung_error *err)
{
    const char *name = rung_json_string(rung_json_get(entry, "dtype"));
    if (!name) return refuse(at, err, "has no 'dtype' string");
    const io_dtype_row *row = io_dtype_named(name);
    if (!row)
        return rung_fail(err, RUNG_INPUT, "%s: tensor '%s': unknown dtype '%s'; save it as F32, F16 or BF16",
                         LABEL(at->file), LABEL(at->tensor), LABEL(name));
    out->dtype = row->dtype;
    out->dtype_name = row->name;
    *bits = row->bits;
    return RUNG_OK;
}

/* Computes size_bytes from the shape and the type, never from the offsets. */
static rung_status measure(rung_tensor *out, size_t bits, const place *at, rung_error *err)
{
    size_t total_bits;
    if (!rung_size_mul(&total_bits, out->elements, bits)) return refuse(at, err, "its size in bits overflows");
    if (total_bits % 8 != 0) return refuse(at, err, "its elements do not fill whole bytes");
    out->size_bytes = total_bits / 8;
    return RUNG_OK;
}

static rung_status read_offsets(rung_tensor *out, const rung_json *entry, const uint8_t *data, size_t data_size,
                                const place *at, rung_error *err)
{
    size_t begin, end;
    char description[256];
    const rung_json *offsets = rung_json_get(entry, "data_offsets");
    if (!is_array(offsets) || rung_json_len(offsets) != 2 || !size_of(&begin, rung_json_at(offsets, 0)) ||
        !size_of(&end, rung_json_at(offsets, 1)))
        return refuse(at, err, "'data_offsets' must be two whole numbers from 0 on");
    if (begin > end) return refuse(at, err, "'data_offsets' end before they begin");
    if (end > data_size)
        return rung_fail(err, RUNG_INPUT,
                         "%s: tensor '%s': its data end at byte %zu of %zu that the file has; the file is cut short or "
                         "damaged, fetch it again",
                         LABEL(at->file), LABEL(at->tensor), end, data_size);
    rung_tensor_describe(description, sizeof description, out);
    if (end - begin != out->size_bytes)
        return rung_fail(err, RUNG_INPUT, "%s: tensor '%s': 'data_offsets' hold %zu bytes, but %s needs %zu",
                         LABEL(at->file), LABEL(at->tensor), end - begin, description, out->size_bytes);
    out->bytes = data + begin;
    return RUNG_OK;
}

static rung_status check_keys(const rung_json *entry, const place *at, rung_error *err)
{
    if (rung_json_kind_of(entry) != RUNG_JSON_OBJECT) return refuse(at, err, "its entry is not an object");
    for (size_t i = 0; i < rung_json_len(entry); i++) {
        const char *key = rung_json_key_at(entry, i);
        if (strcmp(key, "dtype") != 0 && strcmp(key, "shape") != 0 && strcmp(key, "data_offsets") != 0)
            return rung_fail(err, RUNG_INPUT, "%s: tensor '%s': unknown key '%s' in its entry", LABEL(at->file),
                             LABEL(at->tensor), LABEL(key));
    }
    return RUNG_OK;
}

static rung_status read_entry(rung_tensor *out, const rung_json *entry, const uint8_t *data, size_t data_size,
                              const place *at, rung_error *err)
{
    size_t bits = 0;
    *out = (rung_tensor){.name = at->tensor};
    RUNG_TRY(check_keys(entry, at, err));
    RUNG_TRY(read_dtype(&bits, out, entry, at, err));
    RUNG_TRY(read_shape(out, entry, at, err));
    RUNG_TRY(measure(out, bits, at, err));
    return read_offsets(out, entry, data, data_size, at, err);
}

/* ---- the whole header ---- */

static rung_status read_meta(rung_safetensors *file, const rung_json *meta, rung_error *err)
{
    if (rung_json_kind_of(meta) != RUNG_JSON_OBJECT)
        return rung_fail(err, RUNG_INPUT, "%s: '" IO_METADATA_KEY "' is not an object", LABEL(file->name));
    for (size_t i = 0; i < rung_json_len(meta); i++)
        if (!rung_json_string(rung_json_value_at(meta, i)))
            return rung_fail(err, RUNG_INPUT, "%s: '" IO_METADATA_KEY "': the value of '%s' is not a string",
                             LABEL(file->name), LABEL(rung_json_key_at(meta, i)));
    file->meta = meta;
    return RUNG_OK;
}

static rung_status read_entries(rung_safetensors *file, const uint8_t *data, size_t data_size, rung_error *err)
{
    const rung_json *root = rung_json_root(file->header);
    file->tensors = rung_arena_alloc(&file->arena, rung_json_len(root), sizeof *file->tensors, err);
    if (!file->tensors) return RUNG_SYSTEM;
    for (size_t i = 0; i < rung_json_len(root); i++) {
        const place at = {file->name, rung_json_key_at(root, i)};
        const rung_json *entry = rung_json_value_at(root, i);
        bool is_meta = strcmp(at.tensor, IO_METADATA_KEY) == 0;
        RUNG_TRY(is_meta ? read_meta(file, entry, err)
                         : read_entry(&file->tensors[file->count], entry, data, data_size, &at, err));
        if (!is_meta) file->count++;
    }
    return RUNG_OK;
}

/* Sorts by offset. At the same offset an empty tensor comes first. Then the name decides, so that the order is
 * total. */
static int compare_places(const void *a, const void *b)
{
    const rung_tensor *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    if (x->size_bytes != y->size_bytes) return x->size_bytes < y->size_bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Checks that the tensors, sorted by offset, fill the data: the first begins at 0, each begins where the one before it
 * ends, and the last one ends the file. */
static rung_status check_tiling(rung_safetensors *file, const uint8_t *data, size_t data_size, rung_error *err)
{
    size_t expected = 0;
    qsort(file->tensors, file->count, sizeof *file->tensors, compare_places);
    for (size_t i = 0; i < file->count; i++) {
        const rung_tensor *tensor = &file->tensors[i];
        size_t begin = (size_t)(tensor->bytes - data);
        if (begin != expected)
            return rung_fail(err, RUNG_INPUT,
                             "%s: tensor '%s': begins at byte %zu of the data, and the %s ends at %zu; %s",
                             LABEL(file->name), LABEL(tensor->name), begin, i ? "tensor before it" : "header", expected,
                             begin < expected ? "tensors must not overlap" : "holes are not allowed");
        expected += tensor->size_bytes;
    }
    if (expected != data_size)
        return rung_fail(err, RUNG_INPUT,
                         "%s: %zu bytes follow the last tensor; the header does not belong to this data",
                         LABEL(file->name), data_size - expected);
    return RUNG_OK;
}

/* Finds the length of the header, which starts at byte 8. Nothing is allocated before the header is known to be in the
 * file. */
static rung_status find_header(size_t *length, const rung_safetensors *file, rung_error *err)
{
    if (file->size < 8)
        return rung_fail(err, RUNG_INPUT, "%s: has %zu bytes, and a safetensors file has at least 10",
                         LABEL(file->name), file->size);
    uint64_t stated = io_le64(file->bytes);
    const char *kind = rung_file_kind(file->bytes, file->size);
    if (stated > IO_HEADER_MAX && kind)
        return rung_fail(err, RUNG_INPUT, "%s: is %s, and a safetensors file, such as a model, was expected",
                         LABEL(file->name), kind);
    if (stated > IO_HEADER_MAX)
        return rung_fail(err, RUNG_INPUT,
                         "%s: states a header of %" PRIu64
                         " bytes, above the limit of %d; this is not a safetensors file",
                         LABEL(file->name), stated, IO_HEADER_MAX);
    if (stated > file->size - 8)
        return rung_fail(err, RUNG_INPUT,
                         "%s: states a header of %" PRIu64
                         " bytes, but the file has %zu; it is cut short, fetch it again",
                         LABEL(file->name), stated, file->size);
    if (stated == 0 || file->bytes[8] != '{')
        return rung_fail(err, RUNG_INPUT, "%s: its header does not start with '{'; this is not a safetensors file",
                         LABEL(file->name));
    *length = (size_t)stated;
    return RUNG_OK;
}

static rung_status read_header(rung_safetensors *file, rung_error *err)
{
    size_t length = 0;
    RUNG_TRY(find_header(&length, file, err));
    rung_status status = rung_json_parse(&file->header, (const char *)file->bytes + 8, length, file->name, err);
    if (status) return rung_fail_at(err, status, "safetensors header");
    const uint8_t *data = file->bytes + 8 + length;
    size_t data_size = file->size - 8 - length;
    status = read_entries(file, data, data_size, err);
    RUNG_TRY(status);
    RUNG_TRY(check_tiling(file, data, data_size, err));
    return io_index_init(&file->index, file->tensors, file->count, err);
}

/* ---- opening ---- */

rung_status rung_safetensors_open_bytes(rung_safetensors **out, const void *bytes, size_t size, const char *name,
                                        rung_error *err)
{
    *out = NULL;
    rung_safetensors *file = rung_calloc(1, sizeof *file, err);
    if (!file) return RUNG_SYSTEM;
    rung_arena_init(&file->arena);
    file->bytes = bytes;
    file->size = size;
    file->name = rung_arena_strdup(&file->arena, name, err);
    rung_status status = file->name ? read_header(file, err) : RUNG_SYSTEM;
    if (status)
        rung_safetensors_close(file);
    else
        *out = file;
    return status;
}

rung_status rung_safetensors_open(rung_safetensors **out, const char *path, rung_error *err)
{
    rung_file_map map;
    *out = NULL;
    RUNG_TRY(rung_file_open_map(&map, path, err));
    rung_status status = rung_safetensors_open_bytes(out, map.bytes, map.size, path, err);
    if (status)
        rung_file_close_map(&map);
    else
        (*out)->map = map;
    return status;
}

void rung_safetensors_close(rung_safetensors *file)
{
    if (!file) return;
    io_index_clear(&file->index);
    rung_json_free(file->header);
    rung_arena_clear(&file->arena);
    rung_file_close_map(&file->map);
    free(file);
}

/* ---- looking ---- */

size_t rung_safetensors_count(const rung_safetensors *file)
{
    return file->count;
}

const rung_tensor *rung_safetensors_at(const rung_safetensors *file, size_t index)
{
    return index < file->count ? &file->tensors[index] : NULL;
}

const rung_tensor *rung_safetensors_get(const rung_safetensors *file, const char *name)
{
    return io_index_get(&file->index, name);
}

const char *rung_safetensors_meta(const rung_safetensors *file, const char *key)
{
    return rung_json_string(rung_json_get(file->meta, key));
}

size_t rung_safetensors_meta_count(const rung_safetensors *file)
{
    return rung_json_len(file->meta);
}

const char *rung_safetensors_meta_key(const rung_safetensors *file, size_t index)
{
    return rung_json_key_at(file->meta, index);
}

const char *rung_safetensors_name(const rung_safetensors *file)
{
    return file->name;
}

void rung_safetensors_digest(char hex[65], const rung_safetensors *file)
{
    rung_sha256_hex(hex, file->bytes, file->size);
}

rung_status rung_safetensors_copy(const char *path, const rung_safetensors *file, rung_error *err)
{
    return rung_file_write(path, file->bytes, file->size, err);
}
