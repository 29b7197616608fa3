/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Writing safetensors. The bytes are a pure function of the arguments: metadata and tensors in the order
 * given, data without gaps, the header padded with spaces so that the data start at a multiple of 8. Nothing
 * is sorted by type; a tensor of odd size leaves the next one unaligned, which the format allows.
 */
#include "io_internal.h"

#include <stdlib.h>

/* ---- refusals ---- */

static rung_status check_tensors(const char *path, const rung_tensor *tensors, size_t count, rung_error *err)
{
    rung_status status = io_names_check(tensors, count, path, err);
    for (size_t i = 0; i < count && !status; i++) {
        const rung_tensor *tensor = &tensors[i];
        const io_dtype_row *row = io_dtype_of(tensor);
        if (strcmp(tensor->name, IO_METADATA_KEY) == 0)
            status = rung_fail(err, RUNG_USAGE, "%s: no tensor may be named '" IO_METADATA_KEY "'", LABEL(path));
        else if (!row)
            status = rung_fail(err, RUNG_USAGE, "%s: tensor '%s' has no type that safetensors knows", LABEL(path),
                               LABEL(tensor->name));
        else
            status = io_tensor_check(tensor, row->bits, err);
    }
    return status;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static rung_status check_meta(const char *path, const rung_meta *meta, size_t count, rung_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!io_utf8_valid(meta[i].key) || !io_utf8_valid(meta[i].value))
            return rung_fail(err, RUNG_USAGE, "%s: metadata '%s' is not UTF-8", LABEL(path), LABEL(meta[i].key));
    const char **keys = rung_calloc(count, sizeof *keys, err);
    if (!keys) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) keys[i] = meta[i].key;
    qsort(keys, count, sizeof *keys, compare_keys);
    rung_status status = RUNG_OK;
    for (size_t i = 1; i < count && !status; i++)
        if (strcmp(keys[i - 1], keys[i]) == 0)
            status = rung_fail(err, RUNG_USAGE, "%s: metadata '%s' is given twice", LABEL(path), LABEL(keys[i]));
    free(keys);
    return status;
}

/* ---- header ---- */

static void add_meta(rung_buf *out, const rung_meta *meta, size_t count)
{
    rung_buf_puts(out, "\"" IO_METADATA_KEY "\":{");
    for (size_t i = 0; i < count; i++) {
        if (i) rung_buf_putc(out, ',');
        rung_buf_json_string(out, meta[i].key);
        rung_buf_putc(out, ':');
        rung_buf_json_string(out, meta[i].value);
    }
    rung_buf_putc(out, '}');
}

static void add_entry(rung_buf *out, const rung_tensor *tensor, size_t begin)
{
    rung_buf_json_string(out, tensor->name);
    rung_buf_printf(out, ":{\"dtype\":\"%s\",\"shape\":[", io_dtype_of(tensor)->name);
    for (size_t i = 0; i < tensor->rank; i++) rung_buf_printf(out, i ? ",%zu" : "%zu", tensor->shape[i]);
    rung_buf_printf(out, "],\"data_offsets\":[%zu,%zu]}", begin, begin + tensor->size_bytes);
}

static rung_status make_header(rung_buf *out, const char *path, const rung_tensor *tensors, size_t count,
                               const rung_meta *meta, size_t meta_count, rung_error *err)
{
    size_t begin = 0;
    rung_buf_putc(out, '{');
    if (meta_count) add_meta(out, meta, meta_count);
    for (size_t i = 0; i < count; i++) {
        if (i || meta_count) rung_buf_putc(out, ',');
        add_entry(out, &tensors[i], begin);
        if (!rung_size_add(&begin, begin, tensors[i].size_bytes))
            return rung_fail(err, RUNG_USAGE, "%s: the tensors together exceed the address space", LABEL(path));
    }
    rung_buf_putc(out, '}');
    /* the length field before the header has 8 bytes itself */
    while (out->len % 8 != 0 && !out->failed) rung_buf_putc(out, ' ');
    if (out->len > IO_HEADER_MAX)
        return rung_fail(err, RUNG_USAGE, "%s: names, shapes and metadata take %zu bytes, and the format allows %d",
                         LABEL(path), out->len, IO_HEADER_MAX);
    return rung_buf_ok(out, err);
}

/* ---- file ---- */

static rung_status put_all(rung_file_writer *writer, const rung_buf *header, const rung_tensor *tensors, size_t count,
                           rung_error *err)
{
    uint64_t length = header->len;
    rung_status status = io_put(writer, &length, sizeof length, err);
    RUNG_NEXT(status, io_put(writer, header->text, header->len, err));
    for (size_t i = 0; i < count && !status; i++) status = io_put(writer, tensors[i].bytes, tensors[i].size_bytes, err);
    return status;
}

/* Checks all arguments and makes the header. `path` is only used in messages. */
static rung_status prepare(rung_buf *header, const char *path, const rung_tensor *tensors, size_t count,
                           const rung_meta *meta, size_t meta_count, rung_error *err)
{
    RUNG_TRY(check_tensors(path, tensors, count, err));
    RUNG_TRY(check_meta(path, meta, meta_count, err));
    return make_header(header, path, tensors, count, meta, meta_count, err);
}

rung_status rung_safetensors_write(const char *path, const rung_tensor *tensors, size_t count, const rung_meta *meta,
                                   size_t meta_count, rung_error *err)
{
    rung_buf header;
    rung_file_writer writer;
    rung_buf_init(&header);
    rung_status status = prepare(&header, path, tensors, count, meta, meta_count, err);
    RUNG_NEXT(status, rung_file_begin(&writer, path, err));
    RUNG_NEXT(status, io_finish(&writer, put_all(&writer, &header, tensors, count, err), err));
    rung_buf_clear(&header);
    return status;
}

static uint8_t *append(uint8_t *to, const void *from, size_t bytes)
{
    if (bytes) memcpy(to, from, bytes); /* an empty tensor may have no address */
    return to + bytes;
}

static rung_status join(uint8_t **bytes, size_t *size, const rung_buf *header, const rung_tensor *tensors, size_t count,
                        rung_error *err)
{
    uint64_t length = header->len;
    size_t total = sizeof length + header->len;
    for (size_t i = 0; i < count; i++) total += tensors[i].size_bytes; /* make_header has checked the sum */
    *bytes = rung_calloc(total, 1, err);
    if (!*bytes) return RUNG_SYSTEM;
    uint8_t *at = append(*bytes, &length, sizeof length);
    at = append(at, header->text, header->len);
    for (size_t i = 0; i < count; i++) at = append(at, tensors[i].bytes, tensors[i].size_bytes);
    *size = total;
    return RUNG_OK;
}

rung_status rung_safetensors_encode(uint8_t **bytes, size_t *size, const rung_tensor *tensors, size_t count,
                                    const rung_meta *meta, size_t meta_count, rung_error *err)
{
    rung_buf header;
    rung_buf_init(&header);
    rung_status status = prepare(&header, "(in memory)", tensors, count, meta, meta_count, err);
    RUNG_NEXT(status, join(bytes, size, &header, tensors, count, err));
    rung_buf_clear(&header);
    return status;
}
