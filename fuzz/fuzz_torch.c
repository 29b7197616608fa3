/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: a state dict of PyTorch. An input that begins with P is a whole archive. Every other one is the
 * pickle of an archive that is put together around it, with one storage of 16 floats, so that no checksum stands in the
 * way. What opens has tensors inside the file, each with a name of its own.
 */
#include <string.h>
#include <zlib.h>

#include "fuzz_tensor.h"

enum { STORAGE = 64 };

static void put(rung_buf *out, uint32_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) rung_buf_putc(out, (char)(value >> 8 * i));
}

/* What the header of a member and its entry in the directory have in common. */
static void put_fields(rung_buf *out, const char *name, const uint8_t *content, size_t size)
{
    put(out, 20, 2), put(out, 0, 2), put(out, 0, 2), put(out, 0, 2), put(out, 33, 2);
    put(out, (uint32_t)crc32(0, content, (uInt)size), 4), put(out, (uint32_t)size, 4), put(out, (uint32_t)size, 4);
    put(out, (uint32_t)strlen(name), 2), put(out, 0, 2);
}

/* Appends the member to the archive, and its entry to the directory. */
static void put_member(rung_buf *out, rung_buf *directory, const char *name, const uint8_t *content, size_t size)
{
    uint32_t at = (uint32_t)out->len;
    rung_buf_add(out, "PK\3\4", 4);
    put_fields(out, name, content, size);
    rung_buf_puts(out, name);
    rung_buf_add(out, content, size);
    rung_buf_add(directory, "PK\1\2", 4);
    put(directory, 20, 2);
    put_fields(directory, name, content, size);
    put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 4), put(directory, at, 4);
    rung_buf_puts(directory, name);
}

static void archive_around(rung_buf *out, const uint8_t *pickle, size_t size)
{
    static const uint8_t storage[STORAGE];
    rung_buf directory;
    rung_buf_init(&directory);
    put_member(out, &directory, "m/data.pkl", pickle, size);
    put_member(out, &directory, "m/data/0", storage, sizeof storage);
    uint32_t at = (uint32_t)out->len;
    rung_buf_add(out, directory.text, directory.len);
    rung_buf_add(out, "PK\5\6", 4);
    put(out, 0, 2), put(out, 0, 2), put(out, 2, 2), put(out, 2, 2), put(out, (uint32_t)directory.len, 4);
    put(out, at, 4), put(out, 0, 2);
    require(!out->failed && !directory.failed);
    rung_buf_clear(&directory);
}

static void read_state(const void *bytes, size_t size)
{
    rung_torch *file;
    rung_error err = {{0}};
    rung_status status = rung_torch_open_bytes(&file, bytes, size, "fuzz", &err);
    require((status == RUNG_OK) == (file != NULL));
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    require(status == RUNG_OK || status == RUNG_INPUT);
    for (size_t i = 0; file && i < rung_torch_count(file); i++) {
        const rung_tensor *tensor = rung_torch_at(file, i);
        touch_tensor(tensor);
        require(tensor->size_bytes <= size);
        require(rung_torch_get(file, tensor->name) == tensor);
    }
    rung_torch_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rung_buf archive;
    if (size > 0 && data[0] == 'P') {
        read_state(data, size);
        return 0;
    }
    rung_buf_init(&archive);
    archive_around(&archive, data, size);
    read_state(archive.text, archive.len);
    rung_buf_clear(&archive);
    return 0;
}
