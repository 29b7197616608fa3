/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Tensors by name, whatever file they are in. What a file is, its first bytes tell.
 */
#include "foreign_inside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SHARDS_MAX = 4096 };

static char *beside(rung_arena *arena, const char *directory, const char *name, rung_error *err)
{
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = rung_arena_alloc(arena, size, 1, err);
    if (path) snprintf(path, size, "%s/%s", directory, name);
    return path;
}

static bool exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* ---- a folder ---- */

static rung_status open_shard(foreign_weights *w, const char *path, rung_error *err)
{
    RUNG_TRY(rung_safetensors_open(&w->shard[w->shards], path, err));
    w->shards++;
    return RUNG_OK;
}

static bool is_plain_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/');
}

static bool has_shard(const foreign_weights *w, const char *path)
{
    for (size_t i = 0; i < w->shards; i++)
        if (strcmp(rung_safetensors_name(w->shard[i]), path) == 0) return true;
    return false;
}

/* "weight_map": which file has which tensor. Every file is opened once, and must have what the index says. */
static rung_status open_index(foreign_weights *w, const char *directory, const rung_json *map, const char *index,
                              rung_error *err)
{
    size_t entries = rung_json_len(map);
    if (rung_json_kind_of(map) != RUNG_JSON_OBJECT || entries == 0)
        return rung_fail(err, RUNG_INPUT, "%s: has no \"weight_map\"", index);
    for (size_t i = 0; i < entries; i++) {
        const char *name = rung_json_string(rung_json_value_at(map, i));
        if (!name || !is_plain_name(name))
            return rung_fail(err, RUNG_INPUT, "%s: tensor '%.100s' is in no file of this folder", index,
                             rung_json_key_at(map, i));
        char *path = beside(&w->arena, directory, name, err);
        if (!path) return RUNG_SYSTEM;
        if (has_shard(w, path)) continue;
        if (w->shards == SHARDS_MAX) return rung_fail(err, RUNG_INPUT, "%s: names too many files", index);
        RUNG_TRY(open_shard(w, path, err));
    }
    return RUNG_OK;
}

static rung_status open_folder(foreign_weights *w, const char *directory, rung_error *err)
{
    char *single = beside(&w->arena, directory, "model.safetensors", err);
    char *index = beside(&w->arena, directory, "model.safetensors.index.json", err);
    if (!single || !index) return RUNG_SYSTEM;
    if (exists(single)) return open_shard(w, single, err);
    if (!exists(index))
        return rung_fail(err, RUNG_INPUT,
                         "%s: has neither model.safetensors nor model.safetensors.index.json; name the file",
                         directory);
    rung_json_doc *doc;
    RUNG_TRY(rung_json_open(&doc, index, err));
    rung_status status = open_index(w, directory, rung_json_get(rung_json_root(doc), "weight_map"), index, err);
    rung_json_free(doc);
    return status;
}

/* ---- one file ---- */

static rung_status open_file(foreign_weights *w, const char *path, rung_error *err)
{
    rung_file_map map;
    RUNG_TRY(rung_file_open_map(&map, path, err));
    bool gguf = rung_gguf_magic(map.bytes, map.size);
    bool zip = map.size >= 4 && memcmp(map.bytes, "PK\3\4", 4) == 0;
    rung_file_close_map(&map);
    if (gguf) return rung_gguf_open(&w->gguf, path, err);
    if (zip) return rung_torch_open(&w->torch, path, err);
    return open_shard(w, path, err);
}

static size_t count_all(const foreign_weights *w)
{
    size_t count = w->gguf ? rung_gguf_tensor_count(w->gguf) : w->torch ? rung_torch_count(w->torch) : 0;
    for (size_t i = 0; i < w->shards; i++) count += rung_safetensors_count(w->shard[i]);
    return count;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(const rung_tensor *const *)a)->name, (*(const rung_tensor *const *)b)->name);
}

static rung_status list_all(foreign_weights *w, rung_error *err)
{
    size_t count = count_all(w);
    w->tensor = rung_arena_alloc(&w->arena, count + 1, sizeof *w->tensor, err);
    w->used = rung_arena_alloc(&w->arena, count + 1, sizeof *w->used, err);
    if (!w->tensor || !w->used) return RUNG_SYSTEM;
    for (size_t i = 0; w->gguf && i < count; i++) w->tensor[w->count++] = rung_gguf_tensor_at(w->gguf, i);
    for (size_t i = 0; w->torch && i < count; i++) w->tensor[w->count++] = rung_torch_at(w->torch, i);
    for (size_t s = 0; s < w->shards; s++)
        for (size_t i = 0; i < rung_safetensors_count(w->shard[s]); i++)
            w->tensor[w->count++] = rung_safetensors_at(w->shard[s], i);
    qsort(w->tensor, w->count, sizeof *w->tensor, compare_names);
    for (size_t i = 1; i < w->count; i++)
        if (strcmp(w->tensor[i - 1]->name, w->tensor[i]->name) == 0)
            return rung_fail(err, RUNG_INPUT, "%s: tensor '%.100s' is in two files", w->path, w->tensor[i]->name);
    return RUNG_OK;
}

rung_status foreign_weights_open(foreign_weights *w, const char *path, rung_error *err)
{
    struct stat info;
    *w = (foreign_weights){.path = path};
    rung_arena_init(&w->arena);
    w->shard = rung_arena_alloc(&w->arena, SHARDS_MAX, sizeof *w->shard, err);
    rung_status status = w->shard ? RUNG_OK : RUNG_SYSTEM;
    bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    RUNG_NEXT(status, folder ? open_folder(w, path, err) : open_file(w, path, err));
    RUNG_NEXT(status, list_all(w, err));
    return status;
}

void foreign_weights_close(foreign_weights *w)
{
    rung_gguf_close(w->gguf);
    rung_torch_close(w->torch);
    for (size_t i = 0; i < w->shards; i++) rung_safetensors_close(w->shard[i]);
    rung_arena_clear(&w->arena);
}

/* ---- looking ---- */

static size_t find(const foreign_weights *w, const char *name)
{
    const rung_tensor wanted = {.name = name}, *key = &wanted;
    const rung_tensor **found = w->count ? bsearch(&key, w->tensor, w->count, sizeof *w->tensor, compare_names) : NULL;
    return found ? (size_t)(found - w->tensor) : SIZE_MAX;
}

const rung_tensor *foreign_weights_use(foreign_weights *w, const char *name)
{
    size_t index = find(w, name);
    if (index == SIZE_MAX) return NULL;
    w->used[index] = true;
    return w->tensor[index];
}

bool foreign_weights_has(const foreign_weights *w, const char *name)
{
    return find(w, name) != SIZE_MAX;
}

rung_status foreign_weights_check_all_used(const foreign_weights *w, rung_error *err)
{
    for (size_t i = 0; i < w->count; i++)
        if (!w->used[i])
            return rung_fail(err, RUNG_INPUT,
                             "%s: tensor '%.100s' has no place in these layers, so the model would compute something "
                             "else without it",
                             w->path, w->tensor[i]->name);
    return RUNG_OK;
}
