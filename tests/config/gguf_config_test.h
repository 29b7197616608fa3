/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of GGUF ledgers share: keys of an architecture, a ledger from a built file, a refusal with its message.
 */
#ifndef RUNG_GGUF_CONFIG_TEST_H
#define RUNG_GGUF_CONFIG_TEST_H

#include "config_test.h"
#include "io/gguf_build.h"

typedef struct pair {
    const char *key; /* without the architecture */
    uint32_t value;
} pair;

/* Ends with a row of zeros. */
static inline void put_pairs(gguf_build *b, const char *arch, const pair *pairs)
{
    char key[128];
    for (; pairs->key; pairs++) {
        snprintf(key, sizeof key, "%s.%s", arch, pairs->key);
        gguf_u32(b, key, pairs->value);
    }
}

static inline void begin_arch(gguf_build *b, const char *arch)
{
    gguf_begin(b);
    gguf_string(b, "general.architecture", arch);
}

static inline rung_ledger read_build(gguf_build *b)
{
    size_t size;
    rung_ledger ledger;
    rung_error err = {{0}};
    uint8_t *bytes = gguf_end(&size, b);
    if (rung_ledger_open_bytes(&ledger, bytes, size, "m.gguf", &err)) fail_msg("%s", err.text);
    free_odd(bytes);
    return ledger;
}

static inline void refused_build(gguf_build *b, const char *fault)
{
    size_t size;
    rung_ledger ledger;
    rung_error err = {{0}};
    uint8_t *bytes = gguf_end(&size, b);
    assert_int_equal(rung_ledger_open_bytes(&ledger, bytes, size, "m.gguf", &err), RUNG_INPUT);
    assert_message(err, "m.gguf", fault);
    free_odd(bytes);
}

#endif
