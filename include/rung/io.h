/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * io: files that other people made, and files for other people. JSON (the only module that includes jansson),
 * safetensors, the header of GGUF, npy and npz (the only module that includes zlib). Every size that a file states is
 * checked against the file before anything is allocated; a message names the file and the tensor. Layer 1.
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
    /* legal in the container and its size is checked, but it cannot be converted (C64; floats of 8, 6 or 4 bits) */
    RUNG_OTHER,
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
/* Convert the values to double, float or int64; `out` has room for tensor->elements. Floats are rounded to nearest.
 * These are errors, and the message names the tensor and the element: an integer beyond 2^53 (double) or 2^24
 * (float), a finite number too large for float, anything but a whole number in range as int64, a BOOL byte above 1,
 * RUNG_OTHER. */
rung_status rung_tensor_to_f64(double *out, const rung_tensor *tensor, rung_error *err);
rung_status rung_tensor_to_f32(float *out, const rung_tensor *tensor, rung_error *err);
rung_status rung_tensor_to_i64(int64_t *out, const rung_tensor *tensor, rung_error *err);
/* Writes a text such as "F32 [3,4]" for messages. */
void rung_tensor_describe(char *out, size_t size, const rung_tensor *tensor);

/* ---- kinds of files ----------------------------------------------------------------------------------------- */

/* What a file is, from its first bytes (512 are enough): "a certificate (...)", "a GGUF file", "JSON", "text", ... NULL
 * if it is none that is known. For messages. */
const char *rung_file_kind(const void *bytes, size_t size);

/* ---- safetensors ------------------------------------------------------------------------------------------ */

typedef struct rung_safetensors rung_safetensors;

/* The file stays mapped; tensors borrow from it. */
rung_status rung_safetensors_open(rung_safetensors **out, const char *path, rung_error *err);
/* Opens bytes in memory, which the caller keeps alive. Messages use `name` as the name of the file. */
rung_status rung_safetensors_open_bytes(rung_safetensors **out, const void *bytes, size_t size, const char *name,
                                        rung_error *err);
void rung_safetensors_close(rung_safetensors *file);
size_t rung_safetensors_count(const rung_safetensors *file);
const rung_tensor *rung_safetensors_at(const rung_safetensors *file, size_t index);      /* sorted by data offset */
const rung_tensor *rung_safetensors_get(const rung_safetensors *file, const char *name); /* NULL if absent */
const char *rung_safetensors_meta(const rung_safetensors *file, const char *key);        /* NULL if absent */
size_t rung_safetensors_meta_count(const rung_safetensors *file);
const char *rung_safetensors_meta_key(const rung_safetensors *file, size_t index);
const char *rung_safetensors_name(const rung_safetensors *file); /* the path, for messages */
void rung_safetensors_digest(char hex[65], const rung_safetensors *file);
/* Writes the bytes of the whole file to `path`. */
rung_status rung_safetensors_copy(const char *path, const rung_safetensors *file, rung_error *err);

/* Writes tensors in the given order (data contiguous, header padded to 8 bytes) and metadata as pairs of key and value.
 * The bytes are a pure function of the arguments. The file is written under a temporary name and then renamed. */
typedef struct rung_meta {
    const char *key, *value;
} rung_meta;
rung_status rung_safetensors_write(const char *path, const rung_tensor *tensors, size_t count, const rung_meta *meta,
                                   size_t meta_count, rung_error *err);
/* Returns the same bytes in memory, which the caller frees. */
rung_status rung_safetensors_encode(uint8_t **bytes, size_t *size, const rung_tensor *tensors, size_t count,
                                    const rung_meta *meta, size_t meta_count, rung_error *err);

/* ---- gguf --------------------------------------------------------------------------------------------------- */

/* A GGUF file, versions 2 and 3, little endian: keys with typed values, and tensors. All are checked when the file is
 * opened (names, types, sizes, offsets, alignment, all inside the file). The file stays mapped. */
typedef struct rung_gguf rung_gguf;

rung_status rung_gguf_open(rung_gguf **out, const char *path, rung_error *err);
/* Opens bytes in memory, which the caller keeps alive. Messages use `name` as the name of the file. */
rung_status rung_gguf_open_bytes(rung_gguf **out, const void *bytes, size_t size, const char *name, rung_error *err);
void rung_gguf_close(rung_gguf *file);
bool rung_gguf_magic(const void *bytes, size_t size);              /* true if the first four bytes are "GGUF" */
size_t rung_gguf_count(const rung_gguf *file);                     /* number of keys */
const char *rung_gguf_key_at(const rung_gguf *file, size_t index); /* sorted by key; NULL beyond the end */
size_t rung_gguf_tensor_count(const rung_gguf *file);
/* Tensors, sorted by name. A shape begins with the number of rows, unlike the dimensions in the file. The values of
 * block types (RUNG_OTHER) are converted where dtype_name is one of Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q4_K Q5_K Q6_K. */
const rung_tensor *rung_gguf_tensor_at(const rung_gguf *file, size_t index);  /* NULL beyond the end */
const rung_tensor *rung_gguf_tensor(const rung_gguf *file, const char *name); /* NULL if absent */
/* The number of values of a key: 1 unless it is an array, 0 when it is absent. */
size_t rung_gguf_len(const rung_gguf *file, const char *key);
bool rung_gguf_is_array(const rung_gguf *file, const char *key);
/* Reads a value that is a whole number and at least 0, whatever its type; true is 1 and false is 0. A scalar has index
 * 0. */
bool rung_gguf_u64(uint64_t *out, const rung_gguf *file, const char *key, size_t index);
/* true if the type is an integer; not for bool, float and text */
bool rung_gguf_is_whole(const rung_gguf *file, const char *key);
/* Reads one number, a float or a whole one that is at least 0; not an array. */
bool rung_gguf_real(double *out, const rung_gguf *file, const char *key);
const char *rung_gguf_string(const rung_gguf *file, const char *key); /* NULL unless the value is one string */

/* ---- state dicts of PyTorch ------------------------------------------------------------------------------------ */

/* Reads a zip file of torch.save that holds a dict of tensors, or dicts in dicts (names are joined by dots). The pickle
 * in it is read, never executed: whatever else it asks for is refused. Tensors are in the order of the dict. */
typedef struct rung_torch rung_torch;
rung_status rung_torch_open(rung_torch **out, const char *path, rung_error *err);
rung_status rung_torch_open_bytes(rung_torch **out, const void *bytes, size_t size, const char *name, rung_error *err);
void rung_torch_close(rung_torch *file);
size_t rung_torch_count(const rung_torch *file);
const rung_tensor *rung_torch_at(const rung_torch *file, size_t index);
const rung_tensor *rung_torch_get(const rung_torch *file, const char *name);

/* ---- npy and npz -------------------------------------------------------------------------------------------- */

/* Reads one array in C order. dtype f4 f8 f2 i1..i8 u1..u8 b1, little endian. Fortran order, objects, structured and
 * big-endian arrays are refused, and the message names the array. The tensor borrows from `bytes`. */
rung_status rung_npy_read(rung_tensor *out, const void *bytes, size_t size, const char *name, rung_error *err);
/* Appends an npy file, version 1.0. */
rung_status rung_npy_append(rung_buf *out, const rung_tensor *tensor, rung_error *err);

/* Writes a zip archive of npy members, stored without compression. */
rung_status rung_npz_write(const char *path, const rung_tensor *tensors, size_t count, rung_error *err);
/* Reads stored and deflated members. Refuses archives that unpack to more than max_bytes in total (0: 1 GiB), which
 * includes zip bombs. */
typedef struct rung_npz rung_npz;
rung_status rung_npz_open(rung_npz **out, const char *path, size_t max_bytes, rung_error *err);
rung_status rung_npz_open_bytes(rung_npz **out, const void *bytes, size_t size, const char *name, size_t max_bytes,
                                rung_error *err);
void rung_npz_close(rung_npz *file);
size_t rung_npz_count(const rung_npz *file);
const rung_tensor *rung_npz_at(const rung_npz *file, size_t index);
const rung_tensor *rung_npz_get(const rung_npz *file, const char *name);

/* ---- json ---------------------------------------------------------------------------------------------------- */

/* A read-only view of a strict JSON document. Duplicate keys, bad UTF-8 and deep nesting are refused with line and
 * column. Values are borrowed from the document. All functions accept NULL as an absent value: it has kind 0, length 0
 * and no members. */
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
/* Also accepts bare Infinity, -Infinity and NaN as reals. Python's json module writes them, and published model
 * configurations contain them (time_step_limit of Nemotron-H and Codestral-Mamba). */
rung_status rung_json_parse_python(rung_json_doc **out, const char *text, size_t len, const char *name,
                                   rung_error *err);
rung_status rung_json_open_python(rung_json_doc **out, const char *path, rung_error *err);
void rung_json_free(rung_json_doc *doc);
const rung_json *rung_json_root(const rung_json_doc *doc);
rung_json_kind rung_json_kind_of(const rung_json *value);
const rung_json *rung_json_get(const rung_json *object, const char *key); /* NULL if absent or not an object */
size_t rung_json_len(const rung_json *value); /* length of an array or object, otherwise 0 */
const rung_json *rung_json_at(const rung_json *array, size_t index);
/* The members of an object in document order. */
const char *rung_json_key_at(const rung_json *object, size_t index);
const rung_json *rung_json_value_at(const rung_json *object, size_t index);
const char *rung_json_string(const rung_json *value); /* NULL unless it is a string */
/* Returns a string, number, true or false as the text that a user would type, and NULL for anything else. Numbers are
 * written into `room`. */
#define RUNG_JSON_SCALAR_TEXT RUNG_REAL_TEXT
const char *rung_json_scalar_text(char room[RUNG_JSON_SCALAR_TEXT], const rung_json *value);
bool rung_json_int(int64_t *out, const rung_json *value);
bool rung_json_real(double *out, const rung_json *value); /* accepts integers too */
bool rung_json_bool(bool *out, const rung_json *value);

/* ---- parts --------------------------------------------------------------------------------------------------------- */

rung_part rung_part_jansson(void);
rung_part rung_part_zlib(void);

RUNG_API_END

#endif
