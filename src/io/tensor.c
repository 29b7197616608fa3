/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Number types, and the conversion of stored values to double, float and int64. A value that would change its meaning
 * is an error: an integer beyond the exact range, a fraction read as an integer, a finite number that becomes infinite.
 * A float that is more precise than the target is rounded to nearest.
 */
#include "block.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- types ---- */

static const io_dtype_row DTYPES[] = {
    {"F64", RUNG_F64, 64},          {"F32", RUNG_F32, 32},      {"F16", RUNG_F16, 16},
    {"BF16", RUNG_BF16, 16},        {"I64", RUNG_I64, 64},      {"I32", RUNG_I32, 32},
    {"I16", RUNG_I16, 16},          {"I8", RUNG_I8, 8},         {"U64", RUNG_U64, 64},
    {"U32", RUNG_U32, 32},          {"U16", RUNG_U16, 16},      {"U8", RUNG_U8, 8},
    {"BOOL", RUNG_BOOL, 8},         {"C64", RUNG_OTHER, 64},    {"F8_E5M2", RUNG_OTHER, 8},
    {"F8_E4M3", RUNG_OTHER, 8},     {"F8_E8M0", RUNG_OTHER, 8}, {"F8_E4M3FNUZ", RUNG_OTHER, 8},
    {"F8_E5M2FNUZ", RUNG_OTHER, 8}, {"F6_E2M3", RUNG_OTHER, 6}, {"F6_E3M2", RUNG_OTHER, 6},
    {"F4", RUNG_OTHER, 4},
};

static const io_dtype_row *row_of(rung_dtype dtype)
{
    for (size_t i = 0; i < RUNG_COUNT(DTYPES); i++)
        if (DTYPES[i].dtype == dtype) return &DTYPES[i];
    return NULL;
}

const io_dtype_row *io_dtype_named(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(DTYPES); i++)
        if (strcmp(DTYPES[i].name, name) == 0) return &DTYPES[i];
    return NULL;
}

const io_dtype_row *io_dtype_of(const rung_tensor *tensor)
{
    if (tensor->dtype != RUNG_OTHER) return row_of(tensor->dtype);
    return tensor->dtype_name ? io_dtype_named(tensor->dtype_name) : NULL;
}

const char *rung_dtype_name(rung_dtype dtype)
{
    const io_dtype_row *row = dtype == RUNG_OTHER ? NULL : row_of(dtype);
    return row ? row->name : "OTHER";
}

size_t rung_dtype_bytes(rung_dtype dtype)
{
    const io_dtype_row *row = dtype == RUNG_OTHER ? NULL : row_of(dtype);
    return row ? row->bits / 8 : 0;
}

void rung_tensor_describe(char *out, size_t size, const rung_tensor *tensor)
{
    /* 8 numbers of at most 20 digits, their commas, and a type name */
    char text[RUNG_RANK_MAX * 21 + 32];
    const char *type = tensor->dtype_name ? tensor->dtype_name : rung_dtype_name(tensor->dtype);
    int used = snprintf(text, sizeof text, "%.20s [", type);
    for (size_t i = 0; i < tensor->rank; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, i ? ",%zu" : "%zu", tensor->shape[i]);
    snprintf(text + used, sizeof text - (size_t)used, "]");
    snprintf(out, size, "%s", text);
}

bool io_tensor_count_elements(rung_tensor *tensor)
{
    size_t elements = 1;
    for (size_t i = 0; i < tensor->rank; i++)
        if (!rung_size_mul(&elements, elements, tensor->shape[i])) return false;
    tensor->elements = elements;
    return true;
}

rung_status io_tensor_check(const rung_tensor *tensor, size_t bits, rung_error *err)
{
    rung_tensor copy = *tensor;
    size_t total_bits;
    const char *wrong = NULL;
    if (tensor->rank > RUNG_RANK_MAX)
        wrong = "its rank is above 8";
    else if (!io_tensor_count_elements(&copy) || copy.elements != tensor->elements)
        wrong = "its number of elements is not the product of its shape";
    else if (!rung_size_mul(&total_bits, copy.elements, bits) || total_bits % 8 != 0 ||
             total_bits / 8 != tensor->size_bytes)
        wrong = "its size in bytes is not that of its elements";
    else if (tensor->size_bytes && !tensor->bytes)
        wrong = "it has no bytes";
    if (!wrong) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "tensor '%s' cannot be written: %s", LABEL(tensor->name), wrong);
}

/* ---- one value ---- */

typedef enum scalar_kind { SCALAR_REAL, SCALAR_INT, SCALAR_HUGE, SCALAR_NOT_BOOL } scalar_kind;

/* The value of one element, before conversion to the type that the caller wants. */
typedef struct scalar {
    scalar_kind kind;
    double real;
    int64_t integer;
    uint64_t huge; /* above INT64_MAX */
} scalar;

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double io_half_to_double(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, magnitude = half & 0x7fff;
    if (magnitude >= 0x7c00) /* infinity or NaN: the float with all exponent bits and the same payload */
        return float_of_bits(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    if (magnitude >= 0x400) /* normal: biases are 15 and 127 */
        return float_of_bits(sign | ((magnitude << 13) + ((127 - 15) << 23)));
    double tiny = magnitude * 0x1p-24; /* subnormal: units of the last place, 2^(1 - 15 - 10) */
    return sign ? -tiny : tiny;
}

static scalar real_scalar(double value)
{
    return (scalar){.kind = SCALAR_REAL, .real = value};
}

static scalar int_scalar(int64_t value)
{
    return (scalar){.kind = SCALAR_INT, .integer = value};
}

static scalar unsigned_scalar(uint64_t value)
{
    if (value <= INT64_MAX) return int_scalar((int64_t)value);
    return (scalar){.kind = SCALAR_HUGE, .huge = value};
}

static scalar bool_scalar(uint8_t byte)
{
    scalar value = int_scalar(byte);
    if (byte > 1) value.kind = SCALAR_NOT_BOOL;
    return value;
}

static double double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Loads the element at p. It may be unaligned, so its bytes are put together and never cast in place. */
static scalar load_scalar(const uint8_t *p, rung_dtype dtype)
{
    switch (dtype) {
    case RUNG_F64:
        return real_scalar(double_of_bits(io_le64(p)));
    case RUNG_F32:
        return real_scalar(float_of_bits(io_le32(p)));
    case RUNG_F16:
        return real_scalar(io_half_to_double(io_le16(p)));
    case RUNG_BF16:
        return real_scalar(float_of_bits((uint32_t)io_le16(p) << 16));
    case RUNG_I64:
        return int_scalar((int64_t)io_le64(p));
    case RUNG_I32:
        return int_scalar((int32_t)io_le32(p));
    case RUNG_I16:
        return int_scalar((int16_t)io_le16(p));
    case RUNG_I8:
        return int_scalar((int8_t)*p);
    case RUNG_U64:
        return unsigned_scalar(io_le64(p));
    case RUNG_U32:
        return unsigned_scalar(io_le32(p));
    case RUNG_U16:
        return unsigned_scalar(io_le16(p));
    case RUNG_U8:
        return unsigned_scalar(*p);
    default:
        return bool_scalar(*p);
    }
}

/* ---- whole tensors ---- */

typedef bool store_fn(void *out, size_t index, const scalar *value);

static bool store_f64(void *out, size_t index, const scalar *value)
{
    /* Every integer up to 2^53 is a double. Beyond that neighbours have the same double. */
    bool exact = value->integer >= -(INT64_C(1) << 53) && value->integer <= INT64_C(1) << 53;
    if (value->kind == SCALAR_REAL)
        ((double *)out)[index] = value->real;
    else if (value->kind == SCALAR_INT && exact)
        ((double *)out)[index] = (double)value->integer;
    else
        return false;
    return true;
}

static bool store_f32(void *out, size_t index, const scalar *value)
{
    /* Half way between FLT_MAX and 2^128. From there on rounding to nearest even gives infinity. */
    bool overflows = isfinite(value->real) && fabs(value->real) >= 0x1.ffffffp127;
    bool exact = value->integer >= -(1 << 24) && value->integer <= 1 << 24;
    if (value->kind == SCALAR_REAL && !overflows)
        ((float *)out)[index] = (float)value->real;
    else if (value->kind == SCALAR_INT && exact)
        ((float *)out)[index] = (float)value->integer;
    else
        return false;
    return true;
}

static bool store_i64(void *out, size_t index, const scalar *value)
{
    bool whole = value->real >= -0x1p63 && value->real < 0x1p63 && value->real == trunc(value->real);
    if (value->kind == SCALAR_REAL && whole)
        ((int64_t *)out)[index] = (int64_t)value->real;
    else if (value->kind == SCALAR_INT)
        ((int64_t *)out)[index] = value->integer;
    else
        return false;
    return true;
}

static rung_status refuse_value(const rung_tensor *tensor, size_t index, const scalar *value, const char *target,
                                rung_error *err)
{
    char text[40];
    if (value->kind == SCALAR_NOT_BOOL)
        return rung_fail(err, RUNG_INPUT, "tensor '%s': element %zu is the byte %" PRId64 ", and a BOOL is 0 or 1",
                         LABEL(tensor->name), index, value->integer);
    if (value->kind == SCALAR_REAL)
        snprintf(text, sizeof text, "%.17g", value->real);
    else if (value->kind == SCALAR_INT)
        snprintf(text, sizeof text, "%" PRId64, value->integer);
    else
        snprintf(text, sizeof text, "%" PRIu64, value->huge);
    return rung_fail(err, RUNG_INPUT,
                     "tensor '%s': element %zu is %s, which is not %s; store the tensor in another type",
                     LABEL(tensor->name), index, text, target);
}

static rung_status convert_blocks(void *out, const rung_tensor *tensor, const io_block *block, store_fn *store,
                                  const char *target, rung_error *err)
{
    float value[IO_BLOCK_MAX];
    size_t blocks = tensor->size_bytes / block->bytes;
    if (blocks * block->bytes != tensor->size_bytes || tensor->elements != blocks * block->elements)
        return rung_fail(err, RUNG_USAGE, "tensor '%s': %zu bytes are not %zu elements of type %s", LABEL(tensor->name),
                         tensor->size_bytes, tensor->elements, block->name);
    for (size_t i = 0; i < tensor->elements; i++) {
        if (i % block->elements == 0) block->decode(value, tensor->bytes + i / block->elements * block->bytes);
        scalar one = real_scalar(value[i % block->elements]);
        if (!store(out, i, &one)) return refuse_value(tensor, i, &one, target, err);
    }
    return RUNG_OK;
}

static rung_status convert(void *out, const rung_tensor *tensor, store_fn *store, const char *target, rung_error *err)
{
    size_t width = rung_dtype_bytes(tensor->dtype);
    const io_block *block = width == 0 && tensor->dtype_name ? io_block_named(tensor->dtype_name) : NULL;
    if (block) return convert_blocks(out, tensor, block, store, target, err);
    if (width == 0)
        return rung_fail(err, RUNG_INPUT,
                         "tensor '%s': values of type %s are not converted here; store it as F32 or F16",
                         LABEL(tensor->name), tensor->dtype_name ? LABEL(tensor->dtype_name) : "OTHER");
    /* readers have checked this, but a tensor made by the caller may be wrong */
    if (tensor->size_bytes / width != tensor->elements)
        return rung_fail(err, RUNG_USAGE, "tensor '%s': %zu bytes are not %zu elements of %zu", LABEL(tensor->name),
                         tensor->size_bytes, tensor->elements, width);
    for (size_t i = 0; i < tensor->elements; i++) {
        scalar value = load_scalar(tensor->bytes + i * width, tensor->dtype);
        if (!store(out, i, &value)) return refuse_value(tensor, i, &value, target, err);
    }
    return RUNG_OK;
}

/* The stored type is the wanted one. This is the case for most weights. */
static rung_status copy_all(void *out, const rung_tensor *tensor)
{
    if (tensor->size_bytes) memcpy(out, tensor->bytes, tensor->size_bytes);
    return RUNG_OK;
}

rung_status rung_tensor_to_f64(double *out, const rung_tensor *tensor, rung_error *err)
{
    if (tensor->dtype == RUNG_F64) return copy_all(out, tensor);
    return convert(out, tensor, store_f64, "an integer that a double holds (at most 2^53)", err);
}

rung_status rung_tensor_to_f32(float *out, const rung_tensor *tensor, rung_error *err)
{
    if (tensor->dtype == RUNG_F32) return copy_all(out, tensor);
    return convert(out, tensor, store_f32, "a number that a float holds (integers: at most 2^24)", err);
}

rung_status rung_tensor_to_i64(int64_t *out, const rung_tensor *tensor, rung_error *err)
{
    if (tensor->dtype == RUNG_I64) return copy_all(out, tensor);
    return convert(out, tensor, store_i64, "a 64-bit integer", err);
}

/* ---- index by name ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(const rung_tensor *const *)a)->name, (*(const rung_tensor *const *)b)->name);
}

rung_status io_index_init(io_index *index, const rung_tensor *tensors, size_t count, rung_error *err)
{
    index->count = count;
    index->by_name = rung_calloc(count ? count : 1, sizeof *index->by_name, err);
    if (!index->by_name) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) index->by_name[i] = &tensors[i];
    qsort(index->by_name, count, sizeof *index->by_name, compare_names);
    return RUNG_OK;
}

void io_index_clear(io_index *index)
{
    free(index->by_name);
    *index = (io_index){0};
}

const rung_tensor *io_index_get(const io_index *index, const char *name)
{
    rung_tensor wanted = {.name = name};
    const rung_tensor *key = &wanted;
    const rung_tensor **found = bsearch(&key, index->by_name, index->count, sizeof *index->by_name, compare_names);
    return found ? *found : NULL;
}

const char *io_index_duplicate(const io_index *index)
{
    for (size_t i = 1; i < index->count; i++)
        if (strcmp(index->by_name[i - 1]->name, index->by_name[i]->name) == 0) return index->by_name[i]->name;
    return NULL;
}

rung_status io_names_check(const rung_tensor *tensors, size_t count, const char *path, rung_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!tensors[i].name || !io_utf8_valid(tensors[i].name))
            return rung_fail(err, RUNG_USAGE, "%s: the name of tensor %zu is not UTF-8", LABEL(path), i);
    io_index index;
    rung_status status = io_index_init(&index, tensors, count, err);
    RUNG_TRY(status);
    const char *twice = io_index_duplicate(&index);
    if (twice)
        status = rung_fail(err, RUNG_USAGE, "%s: two tensors are named '%s'; give each its own name", LABEL(path),
                           LABEL(twice));
    io_index_clear(&index);
    return status;
}

/* ---- output ---- */

rung_status io_put(rung_file_writer *writer, const void *bytes, size_t len, rung_error *err)
{
    if (len == 0 || fwrite(bytes, 1, len, writer->stream) == len) return RUNG_OK;
    return rung_fail(err, RUNG_SYSTEM, "cannot write %s: %s", LABEL(writer->path), strerror(errno));
}

rung_status io_finish(rung_file_writer *writer, rung_status status, rung_error *err)
{
    if (status == RUNG_OK) return rung_file_commit(writer, err);
    rung_file_abandon(writer);
    return status;
}
