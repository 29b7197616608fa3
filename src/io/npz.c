/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Reading npz: a zip archive whose members are all npy arrays called <name>.npy. The sum of the unpacked
 * sizes is checked against the caller's limit before the first byte is inflated.
 */
#include "zip.h"

#include <stdlib.h>

#define DEFAULT_MAX_BYTES ((size_t)1 << 30)

static const char SUFFIX[] = ".npy";
enum { SUFFIX_LEN = 4 };

struct rung_npz {
    rung_file_map map; /* of an opened path; empty if the caller keeps the bytes */
    rung_arena arena;  /* names and inflated members */
    rung_tensor *tensors;
    size_t count;
    io_index index;
};

static rung_status check_total(const io_zip *zip, size_t max_bytes, rung_error *err)
{
    size_t total = 0;
    for (size_t i = 0; i < zip->count; i++)
        if (!rung_size_add(&total, total, zip->members[i].unpacked) || total > max_bytes)
            return rung_fail(err, RUNG_INPUT,
                             "holds more than %zu bytes (reached at member '%s'); split it or raise the limit",
                             max_bytes, LABEL(zip->members[i].name));
    return RUNG_OK;
}

/* Returns the name of the member without ".npy". */
static rung_status array_name(char **out, rung_arena *arena, const char *member, rung_error *err)
{
    size_t len = strlen(member);
    if (len < SUFFIX_LEN || strcmp(member + len - SUFFIX_LEN, SUFFIX) != 0)
        return rung_fail(err, RUNG_INPUT, "member '%s' is not an .npy array; this is not an npz file", LABEL(member));
    *out = rung_arena_strdup(arena, member, err);
    if (!*out) return RUNG_SYSTEM;
    (*out)[len - SUFFIX_LEN] = '\0';
    return RUNG_OK;
}

static rung_status read_arrays(rung_npz *file, const io_zip *zip, rung_error *err)
{
    file->tensors = rung_arena_alloc(&file->arena, zip->count, sizeof *file->tensors, err);
    if (!file->tensors) return RUNG_SYSTEM;
    for (; file->count < zip->count; file->count++) {
        const io_zip_member *member = &zip->members[file->count];
        const uint8_t *content = NULL;
        char *name = NULL;
        RUNG_TRY(array_name(&name, &file->arena, member->name, err));
        RUNG_TRY(io_zip_read(&content, &file->arena, zip, member, err));
        RUNG_TRY(rung_npy_read(&file->tensors[file->count], content, member->unpacked, name, err));
    }
    return RUNG_OK;
}

static rung_status index_arrays(rung_npz *file, rung_error *err)
{
    rung_status status = io_index_init(&file->index, file->tensors, file->count, err);
    const char *twice = status ? NULL : io_index_duplicate(&file->index);
    if (twice) status = rung_fail(err, RUNG_INPUT, "two arrays are named '%s'", LABEL(twice));
    return status;
}

rung_status rung_npz_open_bytes(rung_npz **out, const void *bytes, size_t size, const char *name, size_t max_bytes,
                                rung_error *err)
{
    io_zip zip;
    *out = NULL;
    rung_npz *file = rung_calloc(1, sizeof *file, err);
    if (!file) return RUNG_SYSTEM;
    rung_arena_init(&file->arena);
    rung_status status = io_zip_open(&zip, &file->arena, bytes, size, err);
    RUNG_NEXT(status, check_total(&zip, max_bytes ? max_bytes : DEFAULT_MAX_BYTES, err));
    RUNG_NEXT(status, read_arrays(file, &zip, err));
    RUNG_NEXT(status, index_arrays(file, err));
    if (status) {
        rung_npz_close(file);
        return rung_fail_at(err, status, "%s", LABEL(name));
    }
    *out = file;
    return RUNG_OK;
}

rung_status rung_npz_open(rung_npz **out, const char *path, size_t max_bytes, rung_error *err)
{
    rung_file_map map;
    *out = NULL;
    RUNG_TRY(rung_file_open_map(&map, path, err));
    rung_status status = rung_npz_open_bytes(out, map.bytes, map.size, path, max_bytes, err);
    if (status)
        rung_file_close_map(&map);
    else
        (*out)->map = map;
    return status;
}

void rung_npz_close(rung_npz *file)
{
    if (!file) return;
    io_index_clear(&file->index);
    rung_arena_clear(&file->arena);
    rung_file_close_map(&file->map);
    free(file);
}

size_t rung_npz_count(const rung_npz *file)
{
    return file->count;
}

const rung_tensor *rung_npz_at(const rung_npz *file, size_t index)
{
    return index < file->count ? &file->tensors[index] : NULL;
}

const rung_tensor *rung_npz_get(const rung_npz *file, const char *name)
{
    return io_index_get(&file->index, name);
}
