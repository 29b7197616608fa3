/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * libFuzzer target: certificates. Whatever the bytes are, they are refused with a line, or printing what was read gives
 * them back; a copy prints the same, and the statement ends with a period.
 */
#include "rung/cert.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

static void check_prints(const rung_cert *cert, const uint8_t *data, size_t size)
{
    rung_buf out;
    rung_buf_init(&out);
    rung_cert_print(&out, cert);
    require(rung_buf_ok(&out, NULL) == RUNG_OK && out.len == size && memcmp(out.text, data, size) == 0);
    rung_buf_reset(&out);
    rung_cert_statement(&out, cert);
    require(out.len > 0 && out.text[out.len - 1] == '.');
    rung_buf_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rung_cert cert, copy;
    rung_error err = {{0}};
    rung_status status = rung_cert_parse(&cert, (const char *)data, size, "c", &err);
    require(status == RUNG_OK || (status == RUNG_INPUT && strncmp(err.text, "c:", 2) == 0));
    if (status == RUNG_OK) {
        check_prints(&cert, data, size);
        require(rung_cert_copy(&copy, &cert, NULL) == RUNG_OK);
        rung_cert_clear(&cert);
        check_prints(&copy, data, size);
        rung_cert_clear(&copy);
    }
    return 0;
}
