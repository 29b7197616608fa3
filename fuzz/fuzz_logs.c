/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: logs of other harnesses. The first byte chooses the kind, or lets the reader detect it.
 */
#include "fuzz_tensor.h"

#include <string.h>

#include "rung/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rung_log log;
    rung_error err = {{0}};
    if (!size) return 0;
    rung_status status = rung_log_read(&log, data + 1, size - 1, "fuzz", (rung_log_kind)(data[0] % 4), &err);
    require((status == RUNG_OK) == (err.text[0] == '\0'));
    require(status != RUNG_OK || log.count > 0);
    for (size_t i = 0; status == RUNG_OK && i < log.count; i++)
        require(strlen(log.record[i].wanted) + strlen(log.record[i].said) < SIZE_MAX);
    rung_log_clear(&log);
    return 0;
}
