/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * State dicts of PyTorch: a zip archive with a pickle NAME/data.pkl and a member NAME/data/KEY for each storage. The
 * pickle is read by pickle.c, which calls nothing. Of the calls that it notes two are understood: a tensor is a view
 * of a storage (torch._utils _rebuild_tensor_v2), a parameter is a tensor (_rebuild_parameter). Everything else is
 * refused, with the name of what was asked for.
 */
#include "pickle.h"
#include "zip.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    NESTING_MAX = 16, /* of dicts */
    NAME_MAX_BYTES = 1024,
    VISITS_MAX = 1 << 17, /* entries of dicts: they may be shared, so there may be more of them than bytes */
};

struct rung_torch {
    rung_file_map map; /* of an opened path; empty if the caller keeps the bytes */
    rung_arena arena;
    rung_tensor *tensor;
    size_t count, room;
    io_index index;
};

typedef struct reader {
    rung_torch *file;
    io_zip zip;
    const uint8_t **content; /* of each member of the archive, once it was read */
    char *prefix;            /* "NAME/" */
    size_t visits, copied;   /* entries of dicts; bytes of views that were put in order */
    rung_error *err;
} reader;

static rung_status refuse(const reader *r, const char *tensor, const char *what)
{
    return rung_fail(r->err, RUNG_INPUT, "tensor '%s': %s", LABEL(tensor), what);
}

/* ---- storages ---- */

static const struct {
    const char *global;
    rung_dtype dtype;
} STORAGES[] = {
    {"torch DoubleStorage", RUNG_F64},    {"torch FloatStorage", RUNG_F32}, {"torch HalfStorage", RUNG_F16},
    {"torch BFloat16Storage", RUNG_BF16}, {"torch LongStorage", RUNG_I64},  {"torch IntStorage", RUNG_I32},
    {"torch ShortStorage", RUNG_I16},     {"torch CharStorage", RUNG_I8},   {"torch ByteStorage", RUNG_U8},
    {"torch BoolStorage", RUNG_BOOL},
};

static const io_zip_member *find_member(const reader *r, const char *directory, const char *key)
{
    size_t prefix = strlen(r->prefix), middle = strlen(directory);
    for (size_t i = 0; i < r->zip.count; i++) {
        const char *name = r->zip.members[i].name;
        if (strncmp(name, r->prefix, prefix) == 0 && strncmp(name + prefix, directory, middle) == 0 &&
            strcmp(name + prefix + middle, key) == 0)
            return &r->zip.members[i];
    }
    return NULL;
}

static rung_status read_member(const reader *r, const uint8_t **bytes, const io_zip_member *member)
{
    size_t index = (size_t)(member - r->zip.members);
    if (!r->content[index]) RUNG_TRY(io_zip_read(&r->content[index], &r->file->arena, &r->zip, member, r->err));
    *bytes = r->content[index];
    return RUNG_OK;
}

/* A storage is named by ('storage', type, key, device, elements). */
static rung_status find_storage(const reader *r, rung_dtype *dtype, const io_zip_member **member,
                                const pickle_value *value, const char *tensor)
{
    const pickle_value *name = value->kind == PICKLE_PERSISTENT ? value->item[0] : NULL;
    bool plain = name && name->count == 5 && name->item[0]->kind == PICKLE_TEXT &&
                 strcmp(name->item[0]->text, "storage") == 0 && name->item[1]->kind == PICKLE_GLOBAL &&
                 name->item[2]->kind == PICKLE_TEXT;
    if (!plain) return refuse(r, tensor, "its storage is not one that torch.save writes");
    *dtype = 0;
    for (size_t i = 0; i < RUNG_COUNT(STORAGES); i++)
        if (io_pickle_is_global(name->item[1], STORAGES[i].global)) *dtype = STORAGES[i].dtype;
    if (!*dtype)
        return rung_fail(r->err, RUNG_INPUT, "tensor '%s': storage type '%s' is not read; save it as float32",
                         LABEL(tensor), LABEL(name->item[1]->text));
    *member = find_member(r, "data/", name->item[2]->text);
    if (!*member) return refuse(r, tensor, "the archive has no data for its storage; it is damaged");
    return RUNG_OK;
}

/* ---- tensors ---- */

static bool read_sizes(size_t *size, size_t *rank, const pickle_value *tuple)
{
    if (tuple->kind != PICKLE_TUPLE || tuple->count > RUNG_RANK_MAX) return false;
    *rank = tuple->count;
    for (size_t i = 0; i < *rank; i++) {
        if (tuple->item[i]->kind != PICKLE_INT || tuple->item[i]->integer < 0) return false;
        size[i] = (size_t)tuple->item[i]->integer;
    }
    return true;
}

/* The index behind the last element that a view reads: 1 + sum of (size-1) * stride. False on overflow. */
static bool view_extent(size_t *extent, const rung_tensor *tensor, const size_t *stride)
{
    size_t reach = tensor->elements ? 1 : 0;
    for (size_t i = 0; tensor->elements && i < tensor->rank; i++) {
        size_t step;
        if (!rung_size_mul(&step, tensor->shape[i] - 1, stride[i]) || !rung_size_add(&reach, reach, step)) return false;
    }
    *extent = reach;
    return true;
}

static bool is_contiguous(const rung_tensor *tensor, const size_t *stride)
{
    size_t expected = 1;
    for (size_t i = tensor->rank; i-- > 0;) {
        if (tensor->shape[i] != 1 && stride[i] != expected) return false;
        expected *= tensor->shape[i];
    }
    return true;
}

/* Copies the elements of a view into their order. */
static void copy_view(uint8_t *to, const uint8_t *from, const rung_tensor *tensor, const size_t *stride, size_t width)
{
    size_t index[RUNG_RANK_MAX] = {0};
    for (size_t i = 0; i < tensor->elements; i++) {
        size_t place = 0;
        for (size_t d = 0; d < tensor->rank; d++) place += index[d] * stride[d];
        memcpy(to + i * width, from + place * width, width);
        for (size_t d = tensor->rank; d-- > 0 && ++index[d] == tensor->shape[d];) index[d] = 0;
    }
}

/* Arguments of _rebuild_tensor_v2: storage, offset, size, stride, requires_grad, hooks, and perhaps metadata. */
static rung_status read_view(reader *r, rung_tensor *tensor, const pickle_value *arguments)
{
    const io_zip_member *member;
    const uint8_t *bytes;
    size_t stride[RUNG_RANK_MAX] = {0}, strides = 0, extent = 0, end;
    if (arguments->count < 6 || arguments->item[1]->kind != PICKLE_INT || arguments->item[1]->integer < 0 ||
        !read_sizes(tensor->shape, &tensor->rank, arguments->item[2]) ||
        !read_sizes(stride, &strides, arguments->item[3]) || strides != tensor->rank)
        return refuse(r, tensor->name, "its shape is not one that torch.save writes");
    RUNG_TRY(find_storage(r, &tensor->dtype, &member, arguments->item[0], tensor->name));
    size_t width = rung_dtype_bytes(tensor->dtype), offset = (size_t)arguments->item[1]->integer;
    if (!io_tensor_count_elements(tensor) || !view_extent(&extent, tensor, stride) ||
        !rung_size_add(&end, offset, extent) || end > member->unpacked / width)
        return refuse(r, tensor->name, "it reads beyond its storage; the file is damaged");
    if (tensor->elements > member->unpacked / width)
        return refuse(r, tensor->name, "it has more elements than its storage; save it with .contiguous()");
    RUNG_TRY(read_member(r, &bytes, member));
    tensor->size_bytes = tensor->elements * width;
    tensor->bytes = tensor->elements ? bytes + offset * width : NULL;
    tensor->dtype_name = rung_dtype_name(tensor->dtype);
    if (tensor->elements == 0 || is_contiguous(tensor, stride)) return RUNG_OK;
    r->copied += tensor->size_bytes; /* each at most the size of the file */
    if (r->copied > r->zip.size)
        return refuse(r, tensor->name, "the views of the file are larger than the file; save it with .contiguous()");
    uint8_t *copy = rung_arena_alloc(&r->file->arena, tensor->elements, width, r->err);
    if (!copy) return RUNG_SYSTEM;
    copy_view(copy, tensor->bytes, tensor, stride, width);
    tensor->bytes = copy;
    return RUNG_OK;
}

static rung_status read_tensor(reader *r, rung_tensor *tensor, const pickle_value *value)
{
    const pickle_value *callee = value->item[0], *arguments = value->item[1];
    if (io_pickle_is_global(callee, "torch._utils _rebuild_parameter") && arguments->count >= 1 &&
        arguments->item[0]->kind == PICKLE_CALL)
        callee = arguments->item[0]->item[0], arguments = arguments->item[0]->item[1];
    if (io_pickle_is_global(callee, "torch._utils _rebuild_tensor_v2")) return read_view(r, tensor, arguments);
    return rung_fail(r->err, RUNG_INPUT, "entry '%s' asks to call '%s', and nothing is called; save a plain state dict",
                     LABEL(tensor->name), LABEL(callee->text));
}

static rung_status add_tensor(reader *r, const char *name, const pickle_value *value)
{
    rung_torch *file = r->file;
    if (file->count == file->room) {
        size_t room = file->room ? 2 * file->room : 64;
        rung_tensor *grown = rung_arena_alloc(&file->arena, room, sizeof *grown, r->err);
        if (!grown) return RUNG_SYSTEM;
        if (file->count) memcpy(grown, file->tensor, file->count * sizeof *grown);
        file->tensor = grown, file->room = room;
    }
    file->tensor[file->count] = (rung_tensor){.name = name};
    return read_tensor(r, &file->tensor[file->count++], value);
}

/* ---- the dict ---- */

static char *join(const reader *r, const char *prefix, const char *key)
{
    size_t size = strlen(prefix) + strlen(key) + 2;
    char *name = rung_arena_alloc(&r->file->arena, size, 1, r->err);
    if (name) snprintf(name, size, "%s%s%s", prefix, *prefix ? "." : "", key);
    return name;
}

/* Names of dicts in dicts are joined by dots. */
static rung_status read_dict(reader *r, const pickle_value *dict, const char *prefix, size_t nesting)
{
    if (nesting > NESTING_MAX) return refuse(r, prefix, "is a dict in too many dicts");
    for (size_t i = 0; i < dict->count; i += 2) {
        const pickle_value *key = dict->item[i], *value = dict->item[i + 1];
        if (++r->visits > VISITS_MAX) return refuse(r, prefix, "the file repeats its dicts too often");
        if (key->kind != PICKLE_TEXT || strlen(prefix) + strlen(key->text) > NAME_MAX_BYTES)
            return refuse(r, prefix, "has a key that is not a text of at most 1024 bytes");
        char *name = join(r, prefix, key->text);
        if (!name) return RUNG_SYSTEM;
        if (value->kind == PICKLE_DICT)
            RUNG_TRY(read_dict(r, value, name, nesting + 1));
        else if (value->kind == PICKLE_CALL)
            RUNG_TRY(add_tensor(r, name, value));
        else
            return refuse(r, name, "is not a tensor; save the state dict of the model alone");
    }
    return RUNG_OK;
}

/* ---- opening ---- */

static rung_status find_pickle(reader *r, const io_zip_member **pickle)
{
    static const char tail[] = "/data.pkl";
    for (size_t i = 0; i < r->zip.count; i++) {
        const char *name = r->zip.members[i].name;
        size_t len = strlen(name), cut = sizeof tail - 1;
        if (len <= cut || strcmp(name + len - cut, tail) != 0) continue;
        *pickle = &r->zip.members[i];
        r->prefix = rung_arena_strdup(&r->file->arena, name, r->err);
        if (!r->prefix) return RUNG_SYSTEM;
        r->prefix[len - cut + 1] = '\0';
        return RUNG_OK;
    }
    return rung_fail(r->err, RUNG_INPUT, "has no data.pkl; it is not a file of torch.save");
}

static rung_status check_byte_order(const reader *r)
{
    const io_zip_member *member = find_member(r, "byteorder", "");
    const uint8_t *text;
    if (!member) return RUNG_OK; /* older files have none and are little endian */
    RUNG_TRY(read_member(r, &text, member));
    if (member->unpacked == 6 && memcmp(text, "little", 6) == 0) return RUNG_OK;
    return rung_fail(r->err, RUNG_INPUT, "is not little endian; save it again on another machine");
}

static rung_status read_all(reader *r, const void *bytes, size_t size)
{
    const io_zip_member *member = NULL;
    const uint8_t *program = NULL;
    const pickle_value *root = NULL;
    RUNG_TRY(io_zip_open(&r->zip, &r->file->arena, bytes, size, r->err));
    for (size_t i = 0; i < r->zip.count; i++)
        if (r->zip.members[i].deflated)
            return rung_fail(r->err, RUNG_INPUT, "member '%s' is compressed, which torch.save never does",
                             LABEL(r->zip.members[i].name));
    r->content = rung_arena_alloc(&r->file->arena, r->zip.count, sizeof *r->content, r->err);
    if (!r->content) return RUNG_SYSTEM;
    RUNG_TRY(find_pickle(r, &member));
    RUNG_TRY(check_byte_order(r));
    RUNG_TRY(read_member(r, &program, member));
    RUNG_TRY(io_pickle_read(&root, &r->file->arena, program, member->unpacked, r->err));
    if (root->kind != PICKLE_DICT)
        return rung_fail(r->err, RUNG_INPUT, "holds an object, not a state dict; save model.state_dict()");
    RUNG_TRY(read_dict(r, root, "", 0));
    RUNG_TRY(io_index_init(&r->file->index, r->file->tensor, r->file->count, r->err));
    const char *twice = io_index_duplicate(&r->file->index);
    return twice ? rung_fail(r->err, RUNG_INPUT, "two tensors are named '%s'", LABEL(twice)) : RUNG_OK;
}

rung_status rung_torch_open_bytes(rung_torch **out, const void *bytes, size_t size, const char *name, rung_error *err)
{
    *out = NULL;
    rung_torch *file = rung_calloc(1, sizeof *file, err);
    if (!file) return RUNG_SYSTEM;
    rung_arena_init(&file->arena);
    reader r = {.file = file, .err = err};
    rung_status status = read_all(&r, bytes, size);
    if (status) {
        rung_torch_close(file);
        return rung_fail_at(err, status, "%s", LABEL(name));
    }
    *out = file;
    return RUNG_OK;
}

rung_status rung_torch_open(rung_torch **out, const char *path, rung_error *err)
{
    rung_file_map map;
    *out = NULL;
    RUNG_TRY(rung_file_open_map(&map, path, err));
    rung_status status = rung_torch_open_bytes(out, map.bytes, map.size, path, err);
    if (status)
        rung_file_close_map(&map);
    else
        (*out)->map = map;
    return status;
}

void rung_torch_close(rung_torch *file)
{
    if (!file) return;
    io_index_clear(&file->index);
    rung_arena_clear(&file->arena);
    rung_file_close_map(&file->map);
    free(file);
}

size_t rung_torch_count(const rung_torch *file)
{
    return file->count;
}

const rung_tensor *rung_torch_at(const rung_torch *file, size_t index)
{
    return index < file->count ? &file->tensor[index] : NULL;
}

const rung_tensor *rung_torch_get(const rung_torch *file, const char *name)
{
    return io_index_get(&file->index, name);
}
