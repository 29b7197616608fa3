/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: an npz archive, with a limit of 4 MiB so that bombs are cheap to find and to refuse.
 */
#include "fuzz_tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t limit = (size_t)1 << 22;
    size_t total = 0;
    rung_npz *file;
    rung_error err = {{0}};
    rung_status status = rung_npz_open_bytes(&file, data, size, "fuzz", limit, &err);
    require((status == RUNG_OK) == (file != NULL));
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    for (size_t i = 0; file && i < rung_npz_count(file); i++) {
        const rung_tensor *tensor = rung_npz_at(file, i);
        touch_tensor(tensor);
        require(rung_npz_get(file, tensor->name) == tensor);
        total += tensor->size_bytes;
    }
    require(total <= limit);
    rung_npz_close(file);
    return 0;
}
