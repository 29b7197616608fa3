/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: one npy file. What is read is written again and read once more, and must be the same array.
 */
#include "fuzz_tensor.h"

#include <string.h>

static void check_round_trip(const rung_tensor *tensor)
{
    rung_buf buf;
    rung_tensor again;
    rung_buf_init(&buf);
    require(rung_npy_append(&buf, tensor, NULL) == RUNG_OK);
    require(rung_npy_read(&again, buf.text, buf.len, "again", NULL) == RUNG_OK);
    require(again.dtype == tensor->dtype && again.rank == tensor->rank && again.size_bytes == tensor->size_bytes);
    require(memcmp(again.shape, tensor->shape, sizeof again.shape) == 0);
    require(memcmp(again.bytes, tensor->bytes, again.size_bytes) == 0);
    rung_buf_clear(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rung_tensor tensor;
    rung_error err = {{0}};
    rung_status status = rung_npy_read(&tensor, data, size, "fuzz", &err);
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    if (status) return 0;
    touch_tensor(&tensor);
    check_round_trip(&tensor);
    return 0;
}
