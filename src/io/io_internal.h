/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Declarations that only the readers and writers of io share: names that are safe in a message, the table of number
 * types, an index of tensors by name, and output to a file that appears complete or not at all.
 */
#ifndef RUNG_IO_INTERNAL_H
#define RUNG_IO_INTERNAL_H

#include <string.h>

#include "rung/io.h"

/* Tensor bytes are little endian in every format here, and are used without a copy. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "io copies little-endian numbers without swapping");

/* ---- text ---- */

/* A foreign name that is safe on one line of a terminal: control characters become '?', and the middle of a long name
 * becomes '...'. */
typedef struct io_label {
    char text[164];
} io_label;

const char *io_label_of(io_label *label, const char *name);
#define LABEL(name) io_label_of(&(io_label){{0}}, name)

bool io_utf8_valid(const char *text);

/* ---- tensors ---- */

typedef struct io_dtype_row {
    const char *name; /* safetensors spelling */
    rung_dtype dtype;
    size_t bits; /* of one element */
} io_dtype_row;

/* Returns NULL when no such type exists. */
const io_dtype_row *io_dtype_named(const char *name);
/* The type of a tensor that will be written: by its dtype, or by its spelling when the dtype is RUNG_OTHER. NULL if
 * there is no such type. */
const io_dtype_row *io_dtype_of(const rung_tensor *tensor);

/* Half precision, infinities and NaN included. */
double io_half_to_double(uint16_t half);

/* Fills tensor->elements from the shape; false when a product of dimensions does not fit into size_t. */
bool io_tensor_count_elements(rung_tensor *tensor);
/* Checks a tensor that a caller wants to write. Returns RUNG_USAGE if its shape, type and size disagree. */
rung_status io_tensor_check(const rung_tensor *tensor, size_t bits, rung_error *err);

typedef struct io_index {
    const rung_tensor **by_name; /* sorted; tensors are borrowed */
    size_t count;
} io_index;

rung_status io_index_init(io_index *index, const rung_tensor *tensors, size_t count, rung_error *err);
void io_index_clear(io_index *index);
const rung_tensor *io_index_get(const io_index *index, const char *name); /* NULL if absent */
const char *io_index_duplicate(const io_index *index);                    /* a name that occurs twice, or NULL */
/* Checks that every name to be written is UTF-8 and occurs once. Returns RUNG_USAGE otherwise. */
rung_status io_names_check(const rung_tensor *tensors, size_t count, const char *path, rung_error *err);

/* ---- output ---- */

rung_status io_put(rung_file_writer *writer, const void *bytes, size_t len, rung_error *err);
/* Commits when status is RUNG_OK, abandons otherwise; returns the first failure. */
rung_status io_finish(rung_file_writer *writer, rung_status status, rung_error *err);

/* ---- safetensors ---- */

#define IO_HEADER_MAX   100000000 /* the specification's limit on the length of the JSON header */
#define IO_METADATA_KEY "__metadata__"

/* ---- npy ---- */

/* Appends all of a version 1.0 file except the data. */
rung_status io_npy_header(rung_buf *out, const rung_tensor *tensor, rung_error *err);

/* ---- json: the numbers that Python writes and JSON does not have ---- */

/* Appends the text. Each bare Infinity, -Infinity and NaN becomes a marked string of the same number of characters, so
 * that columns in messages stay correct. Returns false when the text contains a mark already; the caller then parses
 * the text itself. */
bool io_json_mark_words(rung_buf *out, const char *text, size_t len);
/* Returns true if `string` is such a mark, and stores the number that it replaces. */
bool io_json_marked_word(double *out, const char *string);

/* ---- little-endian numbers in a header ---- */

static inline uint16_t io_le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t io_le32(const uint8_t *p)
{
    return io_le16(p) | (uint32_t)io_le16(p + 2) << 16;
}

static inline uint64_t io_le64(const uint8_t *p)
{
    return io_le32(p) | (uint64_t)io_le32(p + 4) << 32;
}

#endif
