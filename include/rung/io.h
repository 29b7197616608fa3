/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * io: files that other people made, and files for other people. JSON (the only module that includes jansson),
 * safetensors, the header of GGUF, npy and npz (the only module that includes zlib). Every size that a file states is checked against
 * the file before anything is allocated; a message names the file and the tensor. Layer 1.
 */
#ifndef RUNG_IO_H
#define RUNG_IO_H

#include "rung/base.h"

RUNG_API_BEGIN

/* ---- tensors --------------------------------------------------------------------------------------------- */

typedef enum rung_dtype {
    RUNG_F64 = 1,
    RUNG_F32,
    RUNG_F16,
    RUNG_BF16,
    RUNG_I64,
    RUNG_I32,
    RUNG_I16,
    RUNG_I8,
    RUNG_U64,
    RUNG_U32,
    RUNG_U16,
    RUNG_U8,
    RUNG_BOOL,
    RUNG_OTHER, /* legal in the container, sizes checked, but not convertible here (C64, the 8-, 6- and 4-bit floats) */
} rung_dtype;

#define RUNG_RANK_MAX 8

typedef struct rung_tensor {
    const char *name;
    rung_dtype dtype;
    const char *dtype_name; /* as the file spells it */
    size_t rank, shape[RUNG_RANK_MAX];
    size_t elements; /* product of the shape */
    const uint8_t *bytes;
    size_t size_bytes;
} rung_tensor;

const char *rung_dtype_name(rung_dtype dtype); /* safetensors spelling */
size_t rung_dtype_bytes(rung_dtype dtype);     /* 0 for RUNG_OTHER */
/* Values as double, float or int64; out has room for tensor->elements. Floats are rounded to nearest. An error, with
 * the tensor and the element in the message: an integer beyond 2^53 (double) or 2^24 (float), a finite number too large
 * for float, anything but a whole number in range as int64, a BOOL byte above 1, RUNG_OTHER. */
rung_status rung_tensor_to_f64(double *out, const rung_tensor *tensor, rung_error *err);
rung_status rung_tensor_to_f32(float *out, const rung_tensor *tensor, rung_error *err);
rung_status rung_tensor_to_i64(int64_t *out, const rung_tensor *tensor, rung_error *err);
/* "F32 [3,4]" for messages. */
void rung_tensor_describe(char *out, size_t size, const rung_tensor *tensor);

/* ---- safetensors ------------------------------------------------------------------------------------------ */

typedef struct rung_safetensors rung_safetensors;

/* The file stays mapped; tensors borrow from it. */
rung_status rung_safetensors_open(rung_safetensors **out, const char *path, rung_error *err);
/* The same from memory that the caller keeps alive; `name` stands for the file in messages. */
rung_status rung_safetensors_open_bytes(rung_safetensors **out, const void *bytes, size_t size, const char *name,
                                        rung_error *err);
void rung_safetensors_close(rung_safetensors *file);
size_t rung_safetensors_count(const rung_safetensors *file);
const rung_tensor *rung_safetensors_at(const rung_safetensors *file, size_t index);      /* by data offset */
const rung_tensor *rung_safetensors_get(const rung_safetensors *file, const char *name); /* NULL if absent */
const char *rung_safetensors_meta(const rung_safetensors *file, const char *key);        /* NULL if absent */
size_t rung_safetensors_meta_count(const rung_safetensors *file);
const char *rung_safetensors_meta_key(const rung_safetensors *file, size_t index);
const char *rung_safetensors_name(const rung_safetensors *file); /* path, for messages */
void rung_safetensors_digest(char hex[65], const rung_safetensors *file);
/* The whole file, byte for byte. */
rung_status rung_safetensors_copy(const char *path, const rung_safetensors *file, rung_error *err);

/* Writing: tensors in the given order (data contiguous, header padded to 8), metadata as key, value pairs.
 * The bytes are a pure function of the arguments. Written to a temporary file and renamed. */
typedef struct rung_meta {
    const char *key, *value;
} rung_meta;
rung_status rung_safetensors_write(const char *path, const rung_tensor *tensors, size_t count, const rung_meta *meta,
                                   size_t meta_count, rung_error *err);
/* The same bytes in memory, which the caller frees. */
rung_status rung_safetensors_encode(uint8_t **bytes, size_t *size, const rung_tensor *tensors, size_t count,
                                    const rung_meta *meta, size_t meta_count, rung_error *err);

/* ---- gguf --------------------------------------------------------------------------------------------------- */

/* The header of a GGUF file, versions 2 and 3, little endian: keys with typed values, and the table of tensors, which is
 * checked (names, types, sizes, offsets, alignment, all inside the file) and not handed out. The file stays mapped. */
typedef struct rung_gguf rung_gguf;

rung_status rung_gguf_open(rung_gguf **out, const char *path, rung_error *err);
/* The same from memory that the caller keeps alive; `name` stands for the file in messages. */
rung_status rung_gguf_open_bytes(rung_gguf **out, const void *bytes, size_t size, const char *name, rung_error *err);
void rung_gguf_close(rung_gguf *file);
bool rung_gguf_magic(const void *bytes, size_t size); /* whether the first four bytes are those of such a file */
size_t rung_gguf_count(const rung_gguf *file);        /* keys */
const char *rung_gguf_key_at(const rung_gguf *file, size_t index); /* sorted; NULL beyond the end */
size_t rung_gguf_tensor_count(const rung_gguf *file);
/* How many values a key has: 1 unless it is an array; 0 when it is absent. */
size_t rung_gguf_len(const rung_gguf *file, const char *key);
bool rung_gguf_is_array(const rung_gguf *file, const char *key);
/* A value that is a whole number from 0 on, whatever its type; true and false are 1 and 0. Index 0 of a scalar. */
bool rung_gguf_u64(uint64_t *out, const rung_gguf *file, const char *key, size_t index);
bool rung_gguf_is_whole(const rung_gguf *file, const char *key); /* its type is an integer: no bool, float or text */
const char *rung_gguf_string(const rung_gguf *file, const char *key); /* NULL unless one string */

/* ---- npy and npz -------------------------------------------------------------------------------------------- */

/* One array in C order. dtype f4 f8 f2 i1..i8 u1..u8 b1, little endian; Fortran order, objects, structured and
 * big-endian arrays are refused with their name. The array borrows from bytes. */
rung_status rung_npy_read(rung_tensor *out, const void *bytes, size_t size, const char *name, rung_error *err);
/* Appends a version 1.0 file. */
rung_status rung_npy_append(rung_buf *out, const rung_tensor *tensor, rung_error *err);

/* A zip archive of npy members, stored (not compressed), written in one go. */
rung_status rung_npz_write(const char *path, const rung_tensor *tensors, size_t count, rung_error *err);
/* Reading: stored and deflated members. Refuses more than max_bytes in all (0: 1 GiB), zip bombs included. */
typedef struct rung_npz rung_npz;
rung_status rung_npz_open(rung_npz **out, const char *path, size_t max_bytes, rung_error *err);
rung_status rung_npz_open_bytes(rung_npz **out, const void *bytes, size_t size, const char *name, size_t max_bytes,
                                rung_error *err);
void rung_npz_close(rung_npz *file);
size_t rung_npz_count(const rung_npz *file);
const rung_tensor *rung_npz_at(const rung_npz *file, size_t index);
const rung_tensor *rung_npz_get(const rung_npz *file, const char *name);

/* ---- json ---------------------------------------------------------------------------------------------------- */

/* A read-only view of a strict JSON document: duplicate keys, bad UTF-8 and deep nesting are refused with line and
 * column. Values are borrowed from the document. NULL stands for an absent value wherever one is asked something: it
 * has kind 0, length 0 and no members. */
typedef struct rung_json_doc rung_json_doc;
typedef struct rung_json rung_json; /* one value */

typedef enum rung_json_kind {
    RUNG_JSON_NULL = 1,
    RUNG_JSON_BOOL,
    RUNG_JSON_INT,
    RUNG_JSON_REAL,
    RUNG_JSON_STRING,
    RUNG_JSON_ARRAY,
    RUNG_JSON_OBJECT,
} rung_json_kind;

rung_status rung_json_parse(rung_json_doc **out, const char *text, size_t len, const char *name, rung_error *err);
rung_status rung_json_open(rung_json_doc **out, const char *path, rung_error *err);
/* The same, but bare Infinity, -Infinity and NaN are reals: Python's json module writes them, and published model
 * configurations contain them (time_step_limit of Nemotron-H and Codestral-Mamba). */
rung_status rung_json_parse_python(rung_json_doc **out, const char *text, size_t len, const char *name,
                                   rung_error *err);
rung_status rung_json_open_python(rung_json_doc **out, const char *path, rung_error *err);
void rung_json_free(rung_json_doc *doc);
const rung_json *rung_json_root(const rung_json_doc *doc);
rung_json_kind rung_json_kind_of(const rung_json *value);
const rung_json *rung_json_get(const rung_json *object, const char *key); /* NULL if absent or not an object */
size_t rung_json_len(const rung_json *value);                             /* of an array or object, else 0 */
const rung_json *rung_json_at(const rung_json *array, size_t index);
/* The members of an object in document order. */
const char *rung_json_key_at(const rung_json *object, size_t index);
const rung_json *rung_json_value_at(const rung_json *object, size_t index);
const char *rung_json_string(const rung_json *value); /* NULL unless a string */
/* A text, a number, true or false as the word that one would type; NULL for anything else. Numbers are written into `room`. */
#define RUNG_JSON_WORD RUNG_REAL_TEXT
const char *rung_json_word(char room[RUNG_JSON_WORD], const rung_json *value);
bool rung_json_int(int64_t *out, const rung_json *value);
bool rung_json_real(double *out, const rung_json *value); /* integers too */
bool rung_json_bool(bool *out, const rung_json *value);

RUNG_API_END

#endif
