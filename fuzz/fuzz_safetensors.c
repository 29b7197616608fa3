/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: a safetensors file. Whatever opens is walked completely: every byte of every tensor is read, and
 * the promises of the reader (sizes, order, no gap) are checked again from outside.
 */
#include "fuzz_tensor.h"

static void check_file(const rung_safetensors *file)
{
    const rung_tensor *previous = NULL;
    for (size_t i = 0; i < rung_safetensors_count(file); i++) {
        const rung_tensor *tensor = rung_safetensors_at(file, i);
        touch_tensor(tensor);
        require(rung_safetensors_get(file, tensor->name) == tensor);
        if (previous) require(tensor->bytes == previous->bytes + previous->size_bytes);
        previous = tensor;
    }
    for (size_t i = 0; i < rung_safetensors_meta_count(file); i++)
        require(rung_safetensors_meta(file, rung_safetensors_meta_key(file, i)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rung_safetensors *file;
    rung_error err = {{0}};
    rung_status status = rung_safetensors_open_bytes(&file, data, size, "fuzz", &err);
    require((status == RUNG_OK) == (file != NULL));
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    if (file) check_file(file);
    rung_safetensors_close(file);
    return 0;
}
