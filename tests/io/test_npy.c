/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * npy: the header literal in every spelling that numpy has used, and refusals that say what the array is.
 */
#include "io_test.h"

/* A file of the given version with this literal and `data` bytes, at an odd address. */
static uint8_t *file_of(size_t *size, int major, const char *literal, size_t data)
{
    rung_buf buf;
    uint32_t length = (uint32_t)strlen(literal);
    const char version[] = {(char)major, 0};
    rung_buf_init(&buf);
    rung_buf_add(&buf, "\x93NUMPY", 6);
    rung_buf_add(&buf, version, 2);
    rung_buf_add(&buf, &length, major == 1 ? 2 : 4);
    rung_buf_puts(&buf, literal);
    for (size_t i = 0; i < data; i++) rung_buf_putc(&buf, (char)i);
    uint8_t *copy = odd_copy(buf.text, buf.len);
    *size = buf.len;
    rung_buf_clear(&buf);
    return copy;
}

static void refused_bytes(const void *bytes, size_t size, const char *fault)
{
    rung_tensor tensor;
    rung_error err = {{0}};
    assert_int_equal(rung_npy_read(&tensor, bytes, size, "arr", &err), RUNG_INPUT);
    assert_message(err, "'arr'", fault);
    assert_int_equal(rung_npy_read(&tensor, bytes, size, "arr", NULL), RUNG_INPUT);
}

static void refused(const char *literal, size_t data, const char *fault)
{
    size_t size;
    uint8_t *bytes = file_of(&size, 1, literal, data);
    refused_bytes(bytes, size, fault);
    free_odd(bytes);
}

static void accepted(const char *literal, size_t data, rung_dtype dtype, size_t rank, size_t elements)
{
    for (int major = 1; major <= 3; major++) {
        size_t size;
        rung_tensor tensor;
        rung_error err = {{0}};
        uint8_t *bytes = file_of(&size, major, literal, data);
        if (rung_npy_read(&tensor, bytes, size, "arr", &err)) print_error("%s\n", err.text);
        assert_string_equal(err.text, "");
        assert_true(tensor.dtype == dtype && tensor.rank == rank && tensor.elements == elements);
        assert_true(tensor.bytes == bytes + size - data && tensor.size_bytes == data);
        assert_string_equal(tensor.name, "arr");
        free_odd(bytes);
    }
}

static void test_spellings_that_numpy_has_used(void **state)
{
    (void)state;
    accepted("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }        \n", 48, RUNG_F32, 2, 12);
    accepted("{'descr': '<f8', 'fortran_order': False, 'shape': (), }\n", 8, RUNG_F64, 0, 1);
    accepted("{'shape': (3,), 'fortran_order': True, 'descr': '<i2'}", 6, RUNG_I16, 1, 3); /* rank 1: no order */
    accepted("{\"descr\":\"<u8\",\"fortran_order\":False,\"shape\":(2L,1L)}\n", 16, RUNG_U64, 2, 2);
    accepted("{'descr': '|b1', 'fortran_order': False, 'shape': (0, 9), }\n", 0, RUNG_BOOL, 2, 0);
    accepted("{'descr': '<u1', 'fortran_order': False, 'shape': (5,), }\n", 5, RUNG_U8, 1, 5);
    accepted("{'descr': '>i1', 'fortran_order': False, 'shape': (5,), }\n", 5, RUNG_I8, 1,
             5); /* one byte has no order */
    accepted("{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1)}\n", 2, RUNG_F16, 8, 1);
}

static void test_arrays_that_are_not_read_are_named(void **state)
{
    (void)state;
    refused("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", 8, "Python objects");
    refused("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", 4, "structured");
    refused("{'descr': '|V4', 'fortran_order': False, 'shape': (1,), }\n", 4, "'|V4'");
    refused("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n", 4, "not little endian");
    refused("{'descr': '|f4', 'fortran_order': False, 'shape': (1,), }\n", 4, "not little endian");
    refused("{'descr': '=f4', 'fortran_order': False, 'shape': (1,), }\n", 4, "'=f4'");
    refused("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }\n", 8, "'<c8'");
    refused("{'descr': '<U3', 'fortran_order': False, 'shape': (1,), }\n", 12, "'<U3'");
    refused("{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }\n", 8, "'<M8[ns]'");
    refused("{'descr': '', 'fortran_order': False, 'shape': (1,), }\n", 8, "dtype ''");
    refused("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n", 16, "Fortran");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }\n", 4, "more than 8");
}

static void test_sizes_are_checked_against_the_file(void **state)
{
    (void)state;
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", 11, "needs 12 bytes of data and has 11");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", 13, "needs 12 bytes of data and has 13");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }\n", 4, "needs 4000000000000 bytes");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }\n", 0, "overflows");
    refused("{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n", 0, "overflows");
    refused("{'descr': '|u1', 'fortran_order': False, 'shape': (18446744073709551616,), }\n", 0, "whole numbers");
}

static void test_damaged_headers_are_refused(void **state)
{
    (void)state;
    static const char *const literals[] = {
        "",
        "{",
        "{}",
        "{'descr'",
        "{'descr': ",
        "{'descr': '<f4",
        "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (01,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False 'shape': (1,)}",
        "{,'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
        "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (1,)}",
        "{descr: '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': __import__('os'), 'fortran_order': False, 'shape': (1,)}",
    };
    for (size_t i = 0; i < RUNG_COUNT(literals); i++) refused(literals[i], 4, "damaged header");
}

static void test_every_truncation_and_foreign_magic_is_refused(void **state)
{
    (void)state;
    for (int major = 1; major <= 2; major++) {
        size_t size;
        uint8_t *whole = file_of(&size, major, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", 12);
        for (size_t len = 0; len < size; len++) {
            uint8_t *part = odd_copy(whole, len);
            bool in_data = len >= size - 12;
            refused_bytes(part, len, len < 8 ? "magic" : in_data ? "needs 12 bytes" : "ends inside its header");
            free_odd(part);
        }
        whole[6] = 4;
        refused_bytes(whole, size, "version 4.0");
        whole[6] = 1;
        whole[7] = 1;
        refused_bytes(whole, size, "version 1.1");
        whole[0] = 'x';
        refused_bytes(whole, size, "magic");
        free_odd(whole);
    }
    refused_bytes("\x93NUMPY\2\0\xff\xff\xff\xff", 12, "cut short");
}

/* Written, then read: the same tensor, and data that start at a multiple of 64 as numpy promises to mmap. */
static void test_append_reads_back(void **state)
{
    (void)state;
    rung_rng rng;
    uint8_t data[1024];
    rung_rng_init(&rng, 5, 5, 5);
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)rung_rng_u64(&rng);
    for (int round = 0; round < 2000; round++) {
        rung_tensor in = {.name = "x", .bytes = data, .elements = 1}, out;
        in.dtype = (rung_dtype)(RUNG_F64 + rung_rng_below(&rng, RUNG_OTHER - RUNG_F64));
        if (in.dtype == RUNG_BF16) continue;
        in.rank = rung_rng_below(&rng, RUNG_RANK_MAX + 1);
        for (size_t k = 0; k < in.rank; k++) in.elements *= in.shape[k] = rung_rng_below(&rng, in.rank < 3 ? 8 : 3);
        if (in.elements > 128) continue;
        if (in.elements == 0 && in.rank > 1) in.shape[0] = in.shape[0] ? in.shape[0] << 40 : 0; /* long literals */
        in.size_bytes = in.elements * rung_dtype_bytes(in.dtype);
        rung_buf buf;
        rung_buf_init(&buf);
        assert_int_equal(rung_npy_append(&buf, &in, NULL), RUNG_OK);
        assert_int_equal((buf.len - in.size_bytes) % 64, 0);
        assert_int_equal(buf.text[buf.len - in.size_bytes - 1], '\n');
        assert_int_equal(rung_npy_read(&out, buf.text, buf.len, "x", NULL), RUNG_OK);
        assert_true(out.dtype == in.dtype && out.rank == in.rank && out.elements == in.elements);
        assert_memory_equal(out.shape, in.shape, sizeof in.shape);
        assert_memory_equal(out.bytes, in.bytes, in.size_bytes);
        rung_buf_clear(&buf);
    }
}

static void test_append_refuses_types_without_a_numpy_name(void **state)
{
    (void)state;
    rung_buf buf;
    rung_error err = {{0}};
    rung_tensor tensor = {
        .name = "x", .dtype = RUNG_BF16, .elements = 1, .bytes = (const uint8_t *)"xy", .size_bytes = 2};
    rung_buf_init(&buf);
    assert_int_equal(rung_npy_append(&buf, &tensor, &err), RUNG_USAGE);
    assert_message(err, "'x'", "BF16");
    tensor.dtype = RUNG_F32;
    assert_int_equal(rung_npy_append(&buf, &tensor, &err), RUNG_USAGE);
    assert_message(err, "'x'", "size in bytes");
    assert_int_equal(buf.len, 0);
    rung_buf_clear(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings_that_numpy_has_used),
        cmocka_unit_test(test_arrays_that_are_not_read_are_named),
        cmocka_unit_test(test_sizes_are_checked_against_the_file),
        cmocka_unit_test(test_damaged_headers_are_refused),
        cmocka_unit_test(test_every_truncation_and_foreign_magic_is_refused),
        cmocka_unit_test(test_append_reads_back),
        cmocka_unit_test(test_append_refuses_types_without_a_numpy_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
