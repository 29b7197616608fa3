/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of io share: files live in a directory of their own.
 */
#ifndef RUNG_IO_TEST_H
#define RUNG_IO_TEST_H

#include <unistd.h>

#include "rung/io.h"
#include "testing.h"

/* A directory that is removed by leave_directory, with the files that the test says it wrote. */
typedef struct test_directory {
    char path[64];
} test_directory;

static inline void enter_directory(test_directory *dir)
{
    snprintf(dir->path, sizeof dir->path, "/tmp/rung-io-XXXXXX");
    assert_non_null(mkdtemp(dir->path));
}

/* The path of a file in it; valid until the next call. */
static inline const char *path_in(const test_directory *dir, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir->path, name);
    return path;
}

/* Fails unless exactly the named files are there: no temporary file may be left behind. */
static inline void leave_directory(const test_directory *dir, const char *const *files)
{
    for (; *files; files++) assert_int_equal(unlink(path_in(dir, *files)), 0);
    assert_int_equal(rmdir(dir->path), 0);
}

/* A copy at an odd address of exactly `size` bytes, so that AddressSanitizer sees a read beyond the end and UBSan an
 * unaligned one. Free with free_odd. */
static inline uint8_t *odd_copy(const void *bytes, size_t size)
{
    uint8_t *block = malloc(size + 1);
    assert_non_null(block);
    if (size) memcpy(block + 1, bytes, size);
    return block + 1;
}

static inline void free_odd(uint8_t *copy)
{
    free(copy - 1);
}

/* The fixtures lie beside this file; tests run from the root of the tree. */
static inline const char *fixture(const char *name)
{
    static char path[256];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s/fixtures/%s", (int)(slash - __FILE__), __FILE__, name);
    return path;
}

#endif
