/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The tensors of a GGUF file: name, dimensions, type, offset. A tensor begins where the padded one before it ends,
 * and the last one ends inside the file; sizes come from the dimensions and the type, never from the offsets. GGUF
 * writes the shortest stride first; a shape here begins with the longest, as everywhere else.
 */
#include "gguf.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    TENSOR_NAME_MAX = 63, /* llama.cpp stores 64 bytes with the NUL */
    TENSOR_RANK_MAX = 4,
    TENSOR_BYTES_MIN = 8 + 1 + 4 + 4 + 8,
};

/* Elements and bytes of one block of each type, and the name. Missing numbers belong to types that have been removed
 * from the format. */
static const struct {
    uint16_t elements, bytes;
    const char *name;
    rung_dtype dtype; /* 0: RUNG_OTHER */
} tensor_type[] = {
    [0] = {1, 4, "F32", RUNG_F32},  [1] = {1, 2, "F16", RUNG_F16},    [2] = {32, 18, "Q4_0", 0},
    [3] = {32, 20, "Q4_1", 0},      [6] = {32, 22, "Q5_0", 0},        [7] = {32, 24, "Q5_1", 0},
    [8] = {32, 34, "Q8_0", 0},      [9] = {32, 36, "Q8_1", 0},        [10] = {256, 84, "Q2_K", 0},
    [11] = {256, 110, "Q3_K", 0},   [12] = {256, 144, "Q4_K", 0},     [13] = {256, 176, "Q5_K", 0},
    [14] = {256, 210, "Q6_K", 0},   [15] = {256, 292, "Q8_K", 0},     [16] = {256, 66, "IQ2_XXS", 0},
    [17] = {256, 74, "IQ2_XS", 0},  [18] = {256, 98, "IQ3_XXS", 0},   [19] = {256, 50, "IQ1_S", 0},
    [20] = {32, 18, "IQ4_NL", 0},   [21] = {256, 110, "IQ3_S", 0},    [22] = {256, 82, "IQ2_S", 0},
    [23] = {256, 136, "IQ4_XS", 0}, [24] = {1, 1, "I8", RUNG_I8},     [25] = {1, 2, "I16", RUNG_I16},
    [26] = {1, 4, "I32", RUNG_I32}, [27] = {1, 8, "I64", RUNG_I64},   [28] = {1, 8, "F64", RUNG_F64},
    [29] = {256, 56, "IQ1_M", 0},   [30] = {1, 2, "BF16", RUNG_BF16}, [34] = {256, 54, "TQ1_0", 0},
    [35] = {256, 66, "TQ2_0", 0},   [39] = {32, 17, "MXFP4", 0},      [40] = {64, 36, "NVFP4", 0},
};

typedef struct tensor_info {
    rung_tensor tensor;
    uint64_t offset;
} tensor_info;

/* What the reader is reading, for messages. */
typedef struct place {
    const char *file;
    size_t index;
} place;

static rung_status refuse(const place *at, const char *tensor, rung_error *err, const char *what)
{
    return rung_fail(err, RUNG_INPUT, "%s: tensor '%s': %s", LABEL(at->file), LABEL(tensor), what);
}

static rung_status read_name(const char **out, rung_arena *arena, gguf_cursor *at, const place *where, rung_error *err)
{
    const uint8_t *text;
    uint64_t len;
    if (!gguf_take_text(&text, &len, at))
        return rung_fail(err, RUNG_INPUT, "%s: tensor number %zu ends beyond the file; it is cut short, fetch it again",
                         LABEL(where->file), where->index);
    if (len == 0 || len > TENSOR_NAME_MAX)
        return rung_fail(err, RUNG_INPUT, "%s: the name of tensor number %zu has %" PRIu64 " bytes, and it has 1 to %d",
                         LABEL(where->file), where->index, len, TENSOR_NAME_MAX);
    char *name = gguf_copy_text(arena, text, (size_t)len, err);
    if (!name) return RUNG_SYSTEM;
    if (strlen(name) != len || !io_utf8_valid(name)) return refuse(where, name, err, "its name is not UTF-8 text");
    *out = name;
    return RUNG_OK;
}

/* The size is (first dimension / elements of a block) * bytes of a block * the other dimensions. */
static rung_status measure(rung_tensor *tensor, const uint64_t *dim, uint32_t rank, uint32_t type, const place *where,
                           rung_error *err)
{
    if (type >= RUNG_COUNT(tensor_type) || tensor_type[type].elements == 0)
        return rung_fail(err, RUNG_INPUT, "%s: tensor '%s': unknown type %" PRIu32, LABEL(where->file),
                         LABEL(tensor->name), type);
    uint64_t first = rank > 0 ? dim[0] : 1;
    size_t block = tensor_type[type].elements, bytes;
    if (first % block != 0)
        return rung_fail(err, RUNG_INPUT, "%s: tensor '%s': a row of %" PRIu64 " is not a multiple of its block of %zu",
                         LABEL(where->file), LABEL(tensor->name), first, block);
    if (!rung_size_mul(&bytes, (size_t)(first / block), tensor_type[type].bytes))
        return refuse(where, tensor->name, err, "its size overflows");
    size_t elements = (size_t)first;
    for (uint32_t i = 1; i < rank; i++)
        if (!rung_size_mul(&bytes, bytes, (size_t)dim[i]) || !rung_size_mul(&elements, elements, (size_t)dim[i]))
            return refuse(where, tensor->name, err, "the product of its dimensions overflows");
    tensor->dtype = tensor_type[type].dtype ? tensor_type[type].dtype : RUNG_OTHER;
    tensor->dtype_name = tensor_type[type].name;
    tensor->rank = rank, tensor->elements = elements, tensor->size_bytes = bytes;
    for (uint32_t i = 0; i < rank; i++) tensor->shape[i] = (size_t)dim[rank - 1 - i];
    return RUNG_OK;
}

static rung_status read_info(tensor_info *info, rung_arena *arena, gguf_cursor *at, const place *where, rung_error *err)
{
    uint32_t rank = 0, type;
    uint64_t dim[TENSOR_RANK_MAX] = {0};
    RUNG_TRY(read_name(&info->tensor.name, arena, at, where, err));
    bool there = gguf_take(at, &rank, sizeof rank);
    if (rank > TENSOR_RANK_MAX)
        return rung_fail(err, RUNG_INPUT, "%s: tensor '%s': has %" PRIu32 " dimensions, and at most %d are legal",
                         LABEL(where->file), LABEL(info->tensor.name), rank, TENSOR_RANK_MAX);
    there = there && gguf_take(at, dim, rank * sizeof *dim) && gguf_take(at, &type, sizeof type) &&
            gguf_take(at, &info->offset, sizeof info->offset);
    if (!there) return refuse(where, info->tensor.name, err, "is cut short by the end of the file");
    for (uint32_t i = 0; i < rank; i++)
        if (dim[i] > INT64_MAX) return refuse(where, info->tensor.name, err, "has a negative dimension");
    return measure(&info->tensor, dim, rank, type, where, err);
}

static bool pad(size_t *value, size_t alignment)
{
    if (!rung_size_add(value, *value, alignment - 1)) return false;
    *value &= ~(alignment - 1);
    return true;
}

/* The data start after the padded header. Each offset must be the padded sum of the sizes before it. */
static rung_status check_places(const tensor_info *info, size_t count, size_t *start_out, size_t header_size,
                                size_t file_size, size_t alignment, const char *file, rung_error *err)
{
    size_t start = header_size, sum = 0;
    bool fits = pad(&start, alignment);
    *start_out = start;
    for (size_t i = 0; i < count; i++) {
        size_t end;
        const place where = {file, i};
        if (info[i].offset != sum)
            return rung_fail(err, RUNG_INPUT,
                             "%s: tensor '%s': begins at byte %" PRIu64
                             " of the data, and the tensors before it end at %zu",
                             LABEL(file), LABEL(info[i].tensor.name), info[i].offset, sum);
        fits = fits && rung_size_add(&sum, sum, info[i].tensor.size_bytes) && rung_size_add(&end, start, sum);
        if (!fits || end > file_size)
            return refuse(&where, info[i].tensor.name, err, "its data end beyond the file; it is cut short or damaged");
        fits = pad(&sum, alignment);
    }
    size_t end = file_size;
    if (fits && rung_size_add(&end, start, sum) && end < file_size)
        return rung_fail(err, RUNG_INPUT, "%s: has %zu bytes behind the last tensor; it is damaged or two files in one",
                         LABEL(file), file_size - end);
    return RUNG_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const rung_tensor *)a)->name, ((const rung_tensor *)b)->name);
}

rung_status gguf_read_tensors(rung_tensor **out, rung_arena *arena, gguf_cursor *at, uint64_t count,
                              const gguf_extent *file, rung_error *err)
{
    const char *name = file->name;
    if (count > at->left / TENSOR_BYTES_MIN)
        return rung_fail(err, RUNG_INPUT, "%s: states %" PRIu64 " tensors, more than its %zu bytes can hold",
                         LABEL(name), count, at->left);
    tensor_info *info = rung_arena_alloc(arena, (size_t)count, sizeof *info, err);
    rung_tensor *tensor = rung_arena_alloc(arena, (size_t)count, sizeof *tensor, err);
    if (!info || !tensor) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) RUNG_TRY(read_info(&info[i], arena, at, &(place){name, i}, err));
    size_t start = 0;
    RUNG_TRY(check_places(info, (size_t)count, &start, file->size - at->left, file->size, file->alignment, name, err));
    for (size_t i = 0; i < count; i++) {
        tensor[i] = info[i].tensor;
        tensor[i].bytes = tensor[i].size_bytes ? file->bytes + start + info[i].offset : NULL;
    }
    qsort(tensor, (size_t)count, sizeof *tensor, compare_names);
    for (size_t i = 1; i < count; i++)
        if (strcmp(tensor[i - 1].name, tensor[i].name) == 0)
            return refuse(&(place){name, i}, tensor[i].name, err, "occurs twice");
    *out = tensor;
    return RUNG_OK;
}
