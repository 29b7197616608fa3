/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: a GGUF file. Whatever opens is asked for every value of every key, and one beyond, and for every
 * value of every tensor.
 */
#include <string.h>

#include "fuzz_tensor.h"

static void touch_key(const rung_gguf *file, const char *key)
{
    enum { VALUES_MAX = 1 << 12 }; /* enough entries of a long list */
    uint64_t value, sum = 0;
    size_t len = rung_gguf_len(file, key);
    const char *text = rung_gguf_string(file, key);
    for (size_t i = 0; i < len && i < VALUES_MAX; i++)
        if (rung_gguf_u64(&value, file, key, i)) sum += value;
    if (len && rung_gguf_u64(&value, file, key, len - 1)) sum += value;
    require(!rung_gguf_u64(&value, file, key, len));
    require(!text || (len == 1 && !rung_gguf_is_array(file, key)));
    if (text) sum += strlen(text);
    *(volatile uint64_t *)&sum = sum; /* the reads must happen */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rung_gguf *file;
    rung_error err = {{0}};
    rung_status status = rung_gguf_open_bytes(&file, data, size, "fuzz", &err);
    require((status == RUNG_OK) == (file != NULL));
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    require(status == RUNG_OK || status == RUNG_INPUT);
    for (size_t i = 0; file && i < rung_gguf_count(file); i++) {
        if (i) require(strcmp(rung_gguf_key_at(file, i - 1), rung_gguf_key_at(file, i)) < 0);
        touch_key(file, rung_gguf_key_at(file, i));
    }
    for (size_t i = 0; file && i < rung_gguf_tensor_count(file); i++) {
        const rung_tensor *tensor = rung_gguf_tensor_at(file, i);
        touch_tensor(tensor);
        require(rung_gguf_tensor(file, tensor->name) == tensor);
    }
    rung_gguf_close(file);
    return 0;
}
