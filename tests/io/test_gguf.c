/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * GGUF headers: typed values come back as they were written, and every defect that a reader has been known to let through
 * is refused with a message that names the file and the key or tensor. Each file is exactly as long as it is and lies at
 * an odd address, so that a step beyond its end is seen.
 */
#include "io/gguf_build.h"

static rung_gguf *opened(uint8_t **bytes, gguf_build *b)
{
    size_t size;
    rung_gguf *file = NULL;
    rung_error err = {{0}};
    *bytes = gguf_end(&size, b);
    if (rung_gguf_open_bytes(&file, *bytes, size, "m.gguf", &err)) print_error("%s\n", err.text);
    assert_non_null(file);
    return file;
}

static void refused_bytes(const void *bytes, size_t size, const char *where, const char *fault)
{
    rung_gguf *file = (rung_gguf *)&file;
    rung_error err = {{0}};
    assert_int_equal(rung_gguf_open_bytes(&file, bytes, size, "m.gguf", &err), RUNG_INPUT);
    assert_null(file);
    assert_message(err, "m.gguf", where, fault);
    assert_int_equal(rung_gguf_open_bytes(&file, bytes, size, "m.gguf", NULL), RUNG_INPUT);
}

static void refused(gguf_build *b, const char *where, const char *fault)
{
    size_t size;
    uint8_t *bytes = gguf_end(&size, b);
    refused_bytes(bytes, size, where, fault);
    free_odd(bytes);
}

/* ---- what is legal ---- */

static void put_scalar(gguf_build *b, const char *key, uint32_t type, const void *value, size_t bytes)
{
    gguf_key(b, key, type);
    rung_buf_add(&b->keys, value, bytes);
}

static void test_every_type_of_value_comes_back(void **state)
{
    (void)state;
    gguf_build b;
    uint8_t *bytes;
    uint64_t value;
    gguf_begin(&b);
    put_scalar(&b, "u8", G_U8, &(uint8_t){200}, 1), put_scalar(&b, "i8", G_I8, &(int8_t){100}, 1);
    put_scalar(&b, "u16", G_U16, &(uint16_t){60000}, 2), put_scalar(&b, "i16", G_I16, &(int16_t){30000}, 2);
    put_scalar(&b, "u32", G_U32, &(uint32_t){4000000000}, 4), put_scalar(&b, "i32", G_I32, &(int32_t){2000000000}, 4);
    put_scalar(&b, "u64", G_U64, &(uint64_t){UINT64_MAX}, 8), put_scalar(&b, "i64", G_I64, &(int64_t){INT64_MAX}, 8);
    put_scalar(&b, "f32", G_F32, &(float){24}, 4), put_scalar(&b, "f64", G_F64, &(double){25}, 8);
    put_scalar(&b, "bool", G_BOOL, &(uint8_t){1}, 1), gguf_string(&b, "text", "hello"), gguf_string(&b, "empty", "");
    put_scalar(&b, "minus", G_I32, &(int32_t){-1}, 4), put_scalar(&b, "half", G_F32, &(float){0.5f}, 4);
    gguf_u32_list(&b, "list", (uint32_t[]){7, 8, 9}, 3), gguf_u32_list(&b, "none", NULL, 0);
    rung_gguf *file = opened(&bytes, &b);
    static const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{"u8", 200},         {"i8", 100},         {"u16", 60000},      {"i16", 30000},
                   {"u32", 4000000000}, {"i32", 2000000000}, {"u64", UINT64_MAX}, {"i64", INT64_MAX},
                   {"f32", 24},         {"f64", 25},         {"bool", 1}};
    for (size_t i = 0; i < RUNG_COUNT(numbers); i++) {
        assert_true(rung_gguf_u64(&value, file, numbers[i].key, 0));
        assert_true(value == numbers[i].value);
        assert_int_equal(rung_gguf_len(file, numbers[i].key), 1);
        assert_false(rung_gguf_is_array(file, numbers[i].key));
        assert_false(rung_gguf_u64(&value, file, numbers[i].key, 1));
    }
    assert_false(rung_gguf_u64(&value, file, "minus", 0) || rung_gguf_u64(&value, file, "half", 0));
    assert_false(rung_gguf_u64(&value, file, "text", 0) || rung_gguf_u64(&value, file, "absent", 0));
    assert_string_equal(rung_gguf_string(file, "text"), "hello");
    assert_string_equal(rung_gguf_string(file, "empty"), "");
    assert_null(rung_gguf_string(file, "u8"));
    assert_null(rung_gguf_string(file, "absent"));
    assert_true(rung_gguf_is_array(file, "list") && rung_gguf_is_array(file, "none"));
    assert_int_equal(rung_gguf_len(file, "list"), 3);
    assert_int_equal(rung_gguf_len(file, "none"), 0);
    assert_true(rung_gguf_u64(&value, file, "list", 2) && value == 9);
    assert_false(rung_gguf_u64(&value, file, "list", 3));
    assert_int_equal(rung_gguf_count(file), 17);
    assert_null(rung_gguf_key_at(file, 17));
    for (size_t i = 1; i < 17; i++) assert_true(strcmp(rung_gguf_key_at(file, i - 1), rung_gguf_key_at(file, i)) < 0);
    rung_gguf_close(file);
    free_odd(bytes);
    rung_gguf_close(NULL);
}

static void test_strings_in_arrays_are_walked(void **state)
{
    (void)state;
    gguf_build b;
    uint8_t *bytes;
    uint64_t value;
    gguf_begin(&b);
    gguf_key(&b, "tokens", G_ARRAY);
    gguf_put_u32(&b.keys, G_STRING), gguf_put_u64(&b.keys, 3);
    gguf_put_text(&b.keys, "a"), gguf_put_text(&b.keys, ""), gguf_put_text(&b.keys, "ccc");
    gguf_u32(&b, "after", 5);
    rung_gguf *file = opened(&bytes, &b);
    assert_int_equal(rung_gguf_len(file, "tokens"), 3);
    assert_null(rung_gguf_string(file, "tokens"));
    assert_true(rung_gguf_u64(&value, file, "after", 0) && value == 5);
    rung_gguf_close(file);
    free_odd(bytes);
}

static void test_versions_alignment_and_tensors(void **state)
{
    (void)state;
    for (uint32_t version = 2; version <= 3; version++)
        for (size_t alignment = 1; alignment <= 4096; alignment *= 8) {
            gguf_build b;
            uint8_t *bytes;
            gguf_begin(&b);
            b.version = version, b.alignment = alignment;
            gguf_u32(&b, "general.alignment", (uint32_t)alignment);
            gguf_tensor(&b, "f32", 3, 5, 0, 60);
            gguf_tensor(&b, "q4_0", 2, 64, 2, 2 * 2 * 18);
            gguf_tensor(&b, "empty", 0, 5, 0, 0);
            gguf_tensor(&b, "q6_k", 1, 256, 14, 210);
            rung_gguf *file = opened(&bytes, &b);
            assert_int_equal(rung_gguf_tensor_count(file), 4);
            rung_gguf_close(file);
            free_odd(bytes);
        }
}

static void test_an_opened_path_stays_mapped(void **state)
{
    (void)state;
    static const char *const files[] = {"a.gguf", NULL};
    test_directory dir;
    gguf_build b;
    size_t size;
    rung_gguf *file = NULL;
    rung_error err = {{0}};
    uint64_t value;
    enter_directory(&dir);
    gguf_begin(&b);
    gguf_u32_list(&b, "list", (uint32_t[]){1, 2}, 2);
    uint8_t *bytes = gguf_end(&size, &b);
    assert_int_equal(rung_file_write(path_in(&dir, "a.gguf"), bytes, size, &err), RUNG_OK);
    free_odd(bytes);
    assert_int_equal(rung_gguf_open(&file, path_in(&dir, "a.gguf"), &err), RUNG_OK);
    assert_true(rung_gguf_u64(&value, file, "list", 1) && value == 2);
    rung_gguf_close(file);
    leave_directory(&dir, files);
    assert_int_equal(rung_gguf_open(&file, path_in(&dir, "a.gguf"), &err), RUNG_INPUT);
    assert_null(file);
}

/* ---- heads of files ---- */

static void test_other_files_and_versions_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t version;
        const char *fault;
    } versions[] = {{0, "version 0"}, {1, "version 1"}, {4, "version 4"}, {0x03000000, "big endian"}};
    refused_bytes("GGUX\3\0\0\0", 8, "m.gguf", "does not start with GGUF");
    refused_bytes("", 0, "m.gguf", "does not start with GGUF");
    for (size_t i = 0; i < RUNG_COUNT(versions); i++) {
        gguf_build b;
        gguf_begin(&b);
        b.version = versions[i].version;
        refused(&b, "m.gguf", versions[i].fault);
    }
}

/* Every prefix of a legal file is refused, and none is read beyond its end. */
static void test_a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    gguf_build b;
    size_t size;
    gguf_begin(&b);
    gguf_string(&b, "general.architecture", "llama");
    gguf_u32_list(&b, "list", (uint32_t[]){1, 2}, 2);
    gguf_tensor(&b, "w", 2, 4, 0, 32);
    uint8_t *bytes = gguf_end(&size, &b);
    for (size_t len = 0; len < size; len++) {
        uint8_t *part = odd_copy(bytes, len);
        refused_bytes(part, len, "m.gguf", "");
        free_odd(part);
    }
    free_odd(bytes);
}

static void test_counts_beyond_the_file_are_refused_before_memory_is_taken(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 100, 1ULL << 32, 1ULL << 60, INT64_MAX, UINT64_MAX};
    for (size_t i = 0; i < RUNG_COUNT(counts); i++) {
        gguf_build b;
        gguf_begin(&b);
        b.key_count = counts[i];
        refused(&b, "keys", "more than its 0 bytes can hold");
        gguf_begin(&b);
        b.tensor_count = counts[i];
        refused(&b, "tensors", "more than its 0 bytes can hold");
    }
}

/* ---- keys ---- */

static void test_keys_that_are_no_keys_are_refused(void **state)
{
    (void)state;
    gguf_build b;
    gguf_begin(&b);
    gguf_u32(&b, "", 1);
    refused(&b, "key number 0", "0 bytes");
    gguf_begin(&b);
    gguf_u32(&b, "a", 1), gguf_u32(&b, "b", 1), gguf_u32(&b, "a", 2);
    refused(&b, "key 'a'", "twice");
    gguf_begin(&b);
    gguf_u32(&b, "\xff\xfe", 1);
    refused(&b, "key '?", "not UTF-8");
    gguf_begin(&b);
    gguf_put_u64(&b.keys, 3), rung_buf_add(&b.keys, "a\0b", 3), gguf_put_u32(&b.keys, G_U8), rung_buf_putc(&b.keys, 1);
    b.key_count = 1;
    refused(&b, "key 'a'", "not UTF-8");
    gguf_begin(&b);
    gguf_put_u64(&b.keys, UINT64_MAX), rung_buf_puts(&b.keys, "abcdefgh");
    b.key_count = 1;
    refused(&b, "key number 0", "beyond the file");
    gguf_begin(&b);
    gguf_put_u64(&b.keys, (1 << 20) + 1);
    for (int i = 0; i <= (1 << 20) + 8; i++) rung_buf_putc(&b.keys, 'k');
    b.key_count = 1;
    refused(&b, "key number 0", "1048577 bytes");
}

static void test_types_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    static const uint32_t types[] = {13, 255, 0x80000000, UINT32_MAX};
    for (size_t i = 0; i < RUNG_COUNT(types); i++) {
        gguf_build b;
        gguf_begin(&b);
        gguf_key(&b, "k", types[i]);
        gguf_put_u64(&b.keys, 0);
        refused(&b, "key 'k'", "unknown type");
        gguf_begin(&b);
        gguf_key(&b, "k", G_ARRAY);
        gguf_put_u32(&b.keys, types[i]), gguf_put_u64(&b.keys, 0);
        refused(&b, "key 'k'", "unknown type");
    }
}

static void test_arrays_that_lie_are_refused(void **state)
{
    (void)state;
    /* With 8-byte values the second one wraps to 0 bytes, the third to 8. */
    static const uint64_t counts[] = {3, 1ULL << 61, (1ULL << 61) + 1, UINT64_MAX, (1 << 24) + 1};
    gguf_build b;
    for (size_t i = 0; i < RUNG_COUNT(counts); i++)
        for (uint32_t type = G_U8; type <= G_F64; type++) {
            if (type == G_ARRAY) continue;
            gguf_begin(&b);
            gguf_key(&b, "k", G_ARRAY);
            gguf_put_u32(&b.keys, type), gguf_put_u64(&b.keys, counts[i]), rung_buf_add(&b.keys, "\0\0", 2);
            refused(&b, "key 'k'", "");
        }
    gguf_begin(&b);
    gguf_key(&b, "k", G_ARRAY);
    gguf_put_u32(&b.keys, G_ARRAY), gguf_put_u64(&b.keys, 1);
    gguf_put_u32(&b.keys, G_U8), gguf_put_u64(&b.keys, 0);
    refused(&b, "key 'k'", "array of arrays");
    gguf_begin(&b);
    gguf_key(&b, "k", G_STRING);
    gguf_put_u64(&b.keys, UINT64_MAX - 3), rung_buf_puts(&b.keys, "abc");
    refused(&b, "key 'k'", "beyond the file");
    gguf_begin(&b);
    put_scalar(&b, "k", G_BOOL, "\2", 1);
    refused(&b, "key 'k'", "neither 0 nor 1");
}

static void test_alignments_that_are_none_are_refused(void **state)
{
    (void)state;
    static const uint32_t alignments[] = {0, 3, 48, 1 << 21, 0x80000000, UINT32_MAX};
    gguf_build b;
    for (size_t i = 0; i < RUNG_COUNT(alignments); i++) {
        gguf_begin(&b);
        gguf_u32(&b, "general.alignment", alignments[i]);
        refused(&b, "key 'general.alignment'", "power of two");
    }
    gguf_begin(&b);
    put_scalar(&b, "general.alignment", G_U64, &(uint64_t){32}, 8);
    refused(&b, "key 'general.alignment'", "type u32");
    gguf_begin(&b);
    gguf_u32_list(&b, "general.alignment", (uint32_t[]){32}, 1);
    refused(&b, "key 'general.alignment'", "type u32");
}

/* ---- tensors ---- */

static void test_tensors_whose_sizes_lie_are_refused(void **state)
{
    (void)state;
    gguf_build b;
    gguf_begin(&b);
    gguf_tensor(&b, "w", 1ULL << 32, 1ULL << 32, 0, 4); /* the product wraps to 0 */
    refused(&b, "tensor 'w'", "overflows");
    gguf_begin(&b);
    gguf_tensor(&b, "w", 1ULL << 32, 1ULL << 32, 2, 4); /* in blocks the bytes fit, the elements do not */
    refused(&b, "tensor 'w'", "overflows");
    gguf_begin(&b);
    gguf_tensor(&b, "w", 1, INT64_MAX, 0, 4);
    refused(&b, "tensor 'w'", "overflows");
    gguf_begin(&b);
    gguf_tensor(&b, "w", UINT64_MAX, 4, 0, 4);
    refused(&b, "tensor 'w'", "negative dimension");
    gguf_begin(&b);
    gguf_tensor(&b, "w", 3, 4, 0, 32);
    refused(&b, "tensor 'w'", "beyond the file");
    gguf_begin(&b);
    gguf_tensor(&b, "w", 1, 33, 2, 18);
    refused(&b, "tensor 'w'", "multiple of its block of 32");
    gguf_begin(&b);
    gguf_tensor(&b, "w", 1, 4, 4, 16);
    refused(&b, "tensor 'w'", "unknown type 4");
    gguf_begin(&b);
    gguf_tensor(&b, "w", 1, 4, 1000, 16);
    refused(&b, "tensor 'w'", "unknown type 1000");
    gguf_begin(&b);
    gguf_tensor(&b, "w", 1ULL << 60, 1, 24, 4), gguf_tensor(&b, "v", 1ULL << 63, 0, 24, 4);
    refused(&b, "tensor", "");
}

static void test_tensors_that_overlap_or_leave_holes_are_refused(void **state)
{
    (void)state;
    gguf_build b;
    gguf_begin(&b);
    gguf_tensor(&b, "a", 1, 8, 0, 32), gguf_tensor(&b, "b", 1, 16, 0, 32); /* b would reach into nothing */
    refused(&b, "tensor 'b'", "beyond the file");
    gguf_begin(&b);
    gguf_tensor(&b, "a", 1, 16, 0, 32), gguf_tensor(&b, "b", 1, 8, 0, 64);
    refused(&b, "tensor 'b'", "end at 64");
    gguf_begin(&b);
    gguf_tensor(&b, "a", 1, 8, 0, 64), gguf_tensor(&b, "b", 1, 8, 0, 32);
    refused(&b, "tensor 'b'", "end at 32");
    gguf_begin(&b);
    gguf_tensor(&b, "a", 1, 8, 0, 32), gguf_tensor(&b, "a", 1, 8, 0, 32);
    refused(&b, "tensor 'a'", "twice");
}

static void test_tensor_infos_that_are_none_are_refused(void **state)
{
    (void)state;
    char name[80] = {0};
    gguf_build b;
    memset(name, 'n', 64);
    gguf_begin(&b);
    gguf_tensor(&b, name, 1, 8, 0, 32);
    refused(&b, "tensor number 0", "64 bytes");
    gguf_begin(&b);
    gguf_tensor(&b, "", 1, 8, 0, 32);
    refused(&b, "tensor number 0", "0 bytes");
    gguf_begin(&b);
    gguf_put_text(&b.tensors, "w"), gguf_put_u32(&b.tensors, 5);
    for (int i = 0; i < 8; i++) gguf_put_u64(&b.tensors, 1);
    b.tensor_count = 1;
    refused(&b, "tensor 'w'", "5 dimensions");
    gguf_begin(&b);
    gguf_put_text(&b.tensors, "w"), gguf_put_u32(&b.tensors, UINT32_MAX), gguf_put_u64(&b.tensors, 1);
    gguf_put_u64(&b.tensors, 1);
    b.tensor_count = 1;
    refused(&b, "tensor 'w'", "4294967295 dimensions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_of_value_comes_back),
        cmocka_unit_test(test_strings_in_arrays_are_walked),
        cmocka_unit_test(test_versions_alignment_and_tensors),
        cmocka_unit_test(test_an_opened_path_stays_mapped),
        cmocka_unit_test(test_other_files_and_versions_are_refused),
        cmocka_unit_test(test_a_file_cut_anywhere_is_refused),
        cmocka_unit_test(test_counts_beyond_the_file_are_refused_before_memory_is_taken),
        cmocka_unit_test(test_keys_that_are_no_keys_are_refused),
        cmocka_unit_test(test_types_that_do_not_exist_are_refused),
        cmocka_unit_test(test_arrays_that_lie_are_refused),
        cmocka_unit_test(test_alignments_that_are_none_are_refused),
        cmocka_unit_test(test_tensors_whose_sizes_lie_are_refused),
        cmocka_unit_test(test_tensors_that_overlap_or_leave_holes_are_refused),
        cmocka_unit_test(test_tensor_infos_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
