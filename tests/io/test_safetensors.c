/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * safetensors: every defect that a reader has been known to let through is refused here with a message that names file
 * and tensor; every legal corner is read.
 */
#include "io_test.h"

/* ---- files by hand ---- */

/* u64 length, header, `data` zero bytes, at an odd address and exactly as long as it is. */
static uint8_t *file_of(size_t *size, const char *header, size_t data)
{
    uint64_t length = strlen(header);
    rung_buf buf;
    rung_buf_init(&buf);
    rung_buf_add(&buf, &length, 8);
    rung_buf_puts(&buf, header);
    for (size_t i = 0; i < data; i++) rung_buf_putc(&buf, (char)i);
    *size = buf.len;
    uint8_t *copy = odd_copy(buf.text, buf.len);
    rung_buf_clear(&buf);
    return copy;
}

static void refused_bytes(const void *bytes, size_t size, const char *where, const char *fault)
{
    rung_safetensors *file = (rung_safetensors *)&file;
    rung_error err = {{0}};
    assert_int_equal(rung_safetensors_open_bytes(&file, bytes, size, "m.st", &err), RUNG_INPUT);
    assert_null(file);
    assert_message(err, "m.st", where, fault);
    assert_int_equal(rung_safetensors_open_bytes(&file, bytes, size, "m.st", NULL), RUNG_INPUT);
}

static void refused(const char *header, size_t data, const char *where, const char *fault)
{
    size_t size;
    uint8_t *bytes = file_of(&size, header, data);
    refused_bytes(bytes, size, where, fault);
    free_odd(bytes);
}

static rung_safetensors *opened(uint8_t **bytes, const char *header, size_t data)
{
    size_t size;
    rung_safetensors *file = NULL;
    rung_error err = {{0}};
    *bytes = file_of(&size, header, data);
    if (rung_safetensors_open_bytes(&file, *bytes, size, "m.st", &err)) print_error("%s\n", err.text);
    assert_non_null(file);
    return file;
}

#define ENTRY(name, dtype, shape, offsets)                                                                             \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" offsets "]}"

/* ---- what is legal ---- */

static void test_reads_tensors_by_offset_and_by_name(void **state)
{
    (void)state;
    uint8_t *bytes;
    rung_safetensors *file = opened(&bytes,
                                    "{" ENTRY("z", "F32", "2,3", "8,32") "," ENTRY(
                                        "a", "I16", "4", "0,8") ","
                                                                "\"__metadata__\":{\"format\":\"pt\",\"x\":\"\"}}   ",
                                    32);
    assert_int_equal(rung_safetensors_count(file), 2);
    const rung_tensor *first = rung_safetensors_at(file, 0), *second = rung_safetensors_at(file, 1);
    assert_string_equal(first->name, "a");
    assert_string_equal(second->name, "z");
    assert_null(rung_safetensors_at(file, 2));
    assert_ptr_equal(rung_safetensors_get(file, "z"), second);
    assert_ptr_equal(rung_safetensors_get(file, "a"), first);
    assert_null(rung_safetensors_get(file, "b"));
    assert_null(rung_safetensors_get(file, "__metadata__"));
    assert_true(second->rank == 2 && second->shape[0] == 2 && second->shape[1] == 3 && second->elements == 6);
    assert_true(second->size_bytes == 24 && second->bytes == first->bytes + 8 && second->bytes[0] == 8);
    assert_int_equal(rung_safetensors_meta_count(file), 2);
    assert_string_equal(rung_safetensors_meta_key(file, 1), "x");
    assert_string_equal(rung_safetensors_meta(file, "format"), "pt");
    assert_string_equal(rung_safetensors_meta(file, "x"), "");
    assert_null(rung_safetensors_meta(file, "y"));
    assert_null(rung_safetensors_meta_key(file, 2));
    assert_string_equal(rung_safetensors_name(file), "m.st");
    rung_safetensors_close(file);
    free_odd(bytes);
    rung_safetensors_close(NULL);
}

static void test_rank_0_and_zero_size_tensors_are_legal(void **state)
{
    (void)state;
    uint8_t *bytes;
    rung_safetensors *file = opened(&bytes,
                                    "{" ENTRY("scalar", "F32", "", "0,4") "," ENTRY(
                                        "empty", "F64", "3,0,2", "0,0") "," ENTRY("end", "U8", "0", "4,4") "}",
                                    4);
    const rung_tensor *scalar = rung_safetensors_get(file, "scalar"), *empty = rung_safetensors_get(file, "empty");
    double value;
    assert_true(scalar->rank == 0 && scalar->elements == 1 && scalar->size_bytes == 4);
    assert_int_equal(rung_tensor_to_f64(&value, scalar, NULL), RUNG_OK);
    assert_true(empty->rank == 3 && empty->elements == 0 && empty->size_bytes == 0);
    assert_int_equal(rung_tensor_to_f64(&value, empty, NULL), RUNG_OK);
    assert_int_equal(rung_safetensors_count(file), 3);
    rung_safetensors_close(file);
    free_odd(bytes);
    file = opened(&bytes, "{}", 0);
    assert_int_equal(rung_safetensors_count(file), 0);
    assert_int_equal(rung_safetensors_meta_count(file), 0);
    assert_null(rung_safetensors_meta(file, "x"));
    assert_null(rung_safetensors_get(file, "x"));
    rung_safetensors_close(file);
    free_odd(bytes);
}

/* Every type of the specification, with a number of elements that fills whole bytes. */
static void test_all_types_of_the_specification(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t bits;
        rung_dtype dtype;
    } types[] = {
        {"BOOL", 8, RUNG_BOOL},
        {"F4", 4, RUNG_OTHER},
        {"F6_E2M3", 6, RUNG_OTHER},
        {"F6_E3M2", 6, RUNG_OTHER},
        {"U8", 8, RUNG_U8},
        {"I8", 8, RUNG_I8},
        {"F8_E5M2", 8, RUNG_OTHER},
        {"F8_E4M3", 8, RUNG_OTHER},
        {"F8_E8M0", 8, RUNG_OTHER},
        {"F8_E4M3FNUZ", 8, RUNG_OTHER},
        {"F8_E5M2FNUZ", 8, RUNG_OTHER},
        {"I16", 16, RUNG_I16},
        {"U16", 16, RUNG_U16},
        {"F16", 16, RUNG_F16},
        {"BF16", 16, RUNG_BF16},
        {"I32", 32, RUNG_I32},
        {"U32", 32, RUNG_U32},
        {"F32", 32, RUNG_F32},
        {"C64", 64, RUNG_OTHER},
        {"F64", 64, RUNG_F64},
        {"I64", 64, RUNG_I64},
        {"U64", 64, RUNG_U64},
    };
    for (size_t i = 0; i < RUNG_COUNT(types); i++) {
        char header[128];
        uint8_t *bytes;
        size_t size = 4 * types[i].bits / 8;
        snprintf(header, sizeof header, "{\"t\":{\"dtype\":\"%s\",\"shape\":[4],\"data_offsets\":[0,%zu]}}",
                 types[i].name, size);
        rung_safetensors *file = opened(&bytes, header, size);
        const rung_tensor *tensor = rung_safetensors_get(file, "t");
        assert_int_equal(tensor->dtype, types[i].dtype);
        assert_string_equal(tensor->dtype_name, types[i].name);
        assert_true(tensor->size_bytes == size && tensor->elements == 4);
        rung_safetensors_close(file);
        free_odd(bytes);
    }
}

static void test_names_may_be_any_utf8(void **state)
{
    (void)state;
    uint8_t *bytes;
    rung_safetensors *file =
        opened(&bytes, "{" ENTRY("", "U8", "1", "0,1") "," ENTRY("\\u00e9\\n\\\"", "U8", "1", "1,2") "}", 2);
    assert_non_null(rung_safetensors_get(file, ""));
    assert_non_null(rung_safetensors_get(file, "\xc3\xa9\n\""));
    rung_safetensors_close(file);
    free_odd(bytes);
}

/* ---- what is refused ---- */

static void test_shape_product_that_wraps_is_refused(void **state)
{
    (void)state;
    refused("{" ENTRY("w", "U8", "4294967296,4294967296", "0,0") "}", 0, "'w'", "overflow"); /* 2^64 wraps to 0 */
    refused("{" ENTRY("w", "F32", "4611686018427387904", "0,0") "}", 0, "'w'", "overflow");  /* bits wrap to 0 */
    refused("{" ENTRY("w", "F64", "2305843009213693952", "0,0") "}", 0, "'w'", "overflow");
    refused("{" ENTRY("w", "U8", "9223372036854775807,9223372036854775807,2", "0,2") "}", 2, "'w'", "overflow");
    refused("{" ENTRY("w", "F4", "6148914691236517206,3", "0,1") "}", 1, "'w'", "overflow");
}

static void test_overlaps_and_holes_are_refused(void **state)
{
    (void)state;
    refused("{" ENTRY("a", "U8", "4", "0,4") "," ENTRY("b", "U8", "4", "2,6") "}", 6, "'b'", "overlap");
    refused("{" ENTRY("a", "U8", "4", "0,4") "," ENTRY("b", "U8", "4", "0,4") "}", 4, "'b'", "overlap");
    refused("{" ENTRY("a", "U8", "4", "0,4") "," ENTRY("b", "U8", "0", "2,2") "}", 4, "'b'", "overlap");
    refused("{" ENTRY("a", "U8", "4", "0,4") "," ENTRY("b", "U8", "4", "5,9") "}", 9, "'b'", "holes");
    refused("{" ENTRY("a", "U8", "4", "1,5") "}", 5, "'a'", "holes");
    refused("{" ENTRY("a", "U8", "4", "0,4") "," ENTRY("b", "U8", "0", "5,5") "}", 5, "'b'", "holes");
}

static void test_offsets_beyond_the_file_are_refused(void **state)
{
    (void)state;
    refused("{" ENTRY("w", "F32", "2", "0,8") "}", 7, "'w'", "cut short");
    refused("{" ENTRY("w", "U8", "8", "9223372036854775799,9223372036854775807") "}", 8, "'w'", "cut short");
    refused("{" ENTRY("w", "F32", "1000000000", "0,4000000000") "}", 8, "'w'", "cut short");
}

static void test_offsets_that_are_not_shape_times_type_are_refused(void **state)
{
    (void)state;
    refused("{" ENTRY("w", "F32", "2,3", "0,20") "}", 20, "'w'", "F32 [2,3] needs 24");
    refused("{" ENTRY("w", "F32", "2,3", "0,28") "}", 28, "'w'", "needs 24");
    refused("{" ENTRY("w", "F8_E4M3", "4", "0,8") "}", 8, "'w'", "needs 4"); /* also where nothing is converted */
    refused("{" ENTRY("w", "F32", "0", "0,4") "}", 4, "'w'", "needs 0");
    refused("{" ENTRY("w", "F32", "", "0,0") "}", 0, "'w'", "needs 4");
}

static void test_unknown_or_missing_type_is_refused(void **state)
{
    (void)state;
    refused("{" ENTRY("w", "F128", "1", "0,16") "}", 16, "'w'", "unknown dtype 'F128'");
    refused("{" ENTRY("w", "f32", "1", "0,4") "}", 4, "'w'", "unknown dtype 'f32'");
    refused("{" ENTRY("w", "", "1", "0,999") "}", 4, "'w'", "unknown dtype");
    refused("{\"w\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "'w'", "dtype");
    refused("{\"w\":{\"dtype\":7,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "'w'", "dtype");
}

static void test_header_length_is_checked_before_use(void **state)
{
    (void)state;
    uint8_t bytes[64] = {0};
    memcpy(bytes + 8, "{}", 2);
    static const struct {
        uint64_t length;
        const char *fault;
    } cases[] = {
        {57, "cut short"},
        {100000000, "cut short"},
        {100000001, "above the limit"},
        {UINT64_MAX, "above the limit"},
        {UINT64_MAX - 7, "above the limit"},
        {0, "does not start with '{'"},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        memcpy(bytes, &cases[i].length, 8);
        refused_bytes(bytes, sizeof bytes, "m.st", cases[i].fault);
    }
}

static void test_header_that_is_no_object_is_refused(void **state)
{
    (void)state;
    refused(" {}", 0, "m.st", "does not start with '{'");
    refused("[]", 0, "m.st", "does not start with '{'");
    refused("\xef\xbb\xbf{}", 0, "m.st", "does not start with '{'");
    refused("{", 0, "m.st:1:", "header");
    refused("{}x", 0, "m.st:1:", "header");
    refused("{\"w\":[]}", 0, "'w'", "not an object");
    refused("{\"w\":null}", 0, "'w'", "not an object");
}

static void test_duplicate_names_are_refused(void **state)
{
    (void)state;
    refused("{" ENTRY("w", "U8", "1", "0,1") "," ENTRY("w", "U8", "1", "1,2") "}", 2, "m.st:1:", "duplicate");
    refused("{" ENTRY("w", "U8", "1", "0,1") "," ENTRY("\\u0077", "U8", "1", "1,2") "}", 2, "m.st:1:", "duplicate");
    refused("{\"__metadata__\":{},\"__metadat\\u0061__\":{}}", 0, "m.st:1:", "duplicate");
    refused("{\"w\":{\"dtype\":\"U8\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
            "m.st:1:", "duplicate");
    refused("{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"shap\\u0065\":[9]}}", 1,
            "m.st:1:", "duplicate");
    refused("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0, "m.st:1:", "duplicate");
}

static void test_sub_byte_types_must_fill_bytes(void **state)
{
    (void)state;
    refused("{" ENTRY("w", "F4", "3", "0,2") "}", 2, "'w'", "whole bytes");
    refused("{" ENTRY("w", "F4", "", "0,1") "}", 1, "'w'", "whole bytes");
    refused("{" ENTRY("w", "F6_E2M3", "2", "0,2") "}", 2, "'w'", "whole bytes");
    refused("{" ENTRY("w", "F6_E3M2", "4", "0,4") "}", 4, "'w'", "needs 3");
}

static void test_metadata_must_be_strings(void **state)
{
    (void)state;
    refused("{\"__metadata__\":{\"a\":1}}", 0, "__metadata__", "'a' is not a string");
    refused("{\"__metadata__\":{\"a\":{\"b\":\"c\"}}}", 0, "__metadata__", "'a' is not a string");
    refused("{\"__metadata__\":{\"a\":null}}", 0, "__metadata__", "'a' is not a string");
    refused("{\"__metadata__\":[\"a\"]}", 0, "__metadata__", "not an object");
    refused("{" ENTRY("__metadata__", "U8", "1", "0,1") "}", 1, "__metadata__", "not a string");
}

static void test_trailing_bytes_are_refused(void **state)
{
    (void)state;
    refused("{" ENTRY("w", "U8", "4", "0,4") "}", 5, "m.st", "1 bytes follow the last tensor");
    refused("{}", 3, "m.st", "3 bytes follow the last tensor");
}

static void test_offsets_backwards_are_refused(void **state)
{
    (void)state;
    refused("{" ENTRY("w", "U8", "4", "4,0") "}", 4, "'w'", "end before they begin");
    refused("{" ENTRY("w", "U8", "0", "1,0") "}", 0, "'w'", "end before they begin");
}

static void test_numbers_that_are_no_sizes_are_refused(void **state)
{
    (void)state;
    static const char *const numbers[] = {"-1", "1.0", "1e0", "\"1\"", "null", "true", "[1]", "-9223372036854775808"};
    for (size_t i = 0; i < RUNG_COUNT(numbers); i++) {
        char header[160];
        snprintf(header, sizeof header, "{\"w\":{\"dtype\":\"U8\",\"shape\":[%s],\"data_offsets\":[0,1]}}", numbers[i]);
        refused(header, 1, "'w'", "shape");
        snprintf(header, sizeof header, "{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,%s]}}", numbers[i]);
        refused(header, 1, "'w'", "data_offsets");
        snprintf(header, sizeof header, "{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%s,1]}}", numbers[i]);
        refused(header, 1, "'w'", "data_offsets");
    }
    refused("{" ENTRY("w", "U8", "18446744073709551616", "0,1") "}", 1, "m.st:1:", "64 bits");
    refused("{" ENTRY("w", "U8", "1", "0,18446744073709551617") "}", 1, "m.st:1:", "64 bits");
    refused("{" ENTRY("w", "U8", "1", "0") "}", 1, "'w'", "data_offsets");
    refused("{" ENTRY("w", "U8", "1", "0,1,1") "}", 1, "'w'", "data_offsets");
    refused("{\"w\":{\"dtype\":\"U8\",\"shape\":1,\"data_offsets\":[0,1]}}", 1, "'w'", "shape");
    refused("{\"w\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, "'w'", "shape");
    refused("{\"w\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, "'w'", "data_offsets");
    refused("{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"stride\":1}}", 1, "'w'",
            "unknown key 'stride'");
}

static void test_rank_above_the_limit_is_refused(void **state)
{
    (void)state;
    uint8_t *bytes;
    rung_safetensors *file = opened(&bytes, "{" ENTRY("w", "U8", "1,1,1,1,1,1,1,1", "0,1") "}", 1);
    assert_int_equal(rung_safetensors_at(file, 0)->rank, RUNG_RANK_MAX);
    rung_safetensors_close(file);
    free_odd(bytes);
    refused("{" ENTRY("w", "U8", "1,1,1,1,1,1,1,1,1", "0,1") "}", 1, "'w'", "9 dimensions");
}

static void test_invalid_utf8_and_deep_nesting_are_refused(void **state)
{
    (void)state;
    refused("{" ENTRY("w\xff", "U8", "1", "0,1") "}", 1, "m.st:1:", "UTF-8");
    char header[10000] = "{\"w\":";
    memset(header + 5, '[', sizeof header - 6);
    refused(header, 0, "m.st:1:", "depth");
}

/* Each proper prefix of a good file is refused, and so is the file with one more byte. */
static void test_every_truncation_is_refused(void **state)
{
    (void)state;
    size_t size;
    uint8_t *whole = file_of(&size, "{" ENTRY("a", "F32", "2", "0,8") "," ENTRY("b", "U8", "3", "8,11") "}", 12);
    rung_safetensors *file;
    assert_int_equal(rung_safetensors_open_bytes(&file, whole, size - 1, "m.st", NULL), RUNG_OK);
    rung_safetensors_close(file);
    refused_bytes(whole, size, "m.st", "follow the last tensor");
    for (size_t len = 0; len < size - 1; len++) {
        uint8_t *part = odd_copy(whole, len);
        refused_bytes(part, len, "m.st", "");
        free_odd(part);
    }
    free_odd(whole);
}

static void test_paths_that_are_no_files(void **state)
{
    (void)state;
    test_directory dir;
    rung_safetensors *file;
    rung_error err = {{0}};
    enter_directory(&dir);
    assert_int_equal(rung_safetensors_open(&file, dir.path, &err), RUNG_INPUT);
    assert_message(err, dir.path, "directory");
    assert_int_equal(rung_safetensors_open(&file, path_in(&dir, "absent"), &err), RUNG_INPUT);
    assert_message(err, "absent");
    assert_int_equal(rung_file_write(path_in(&dir, "empty"), "", 0, &err), RUNG_OK);
    assert_int_equal(rung_safetensors_open(&file, path_in(&dir, "empty"), &err), RUNG_INPUT);
    assert_message(err, "empty", "has 0 bytes");
    assert_null(file);
    leave_directory(&dir, (const char *[]){"empty", NULL});
}

static void kinds_are_told_by_their_beginnings(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *kind;
    } cases[] = {
        {"rung-certificate 2\n", 19, "a certificate"},
        {"GGUF\3\0\0\0", 8, "a GGUF file"},
        {"SQLite format 3\0", 16, "an SQLite file"},
        {"PK\3\4", 4, "a zip file"},
        {"\x93NUMPY\1\0", 8, "an npy file"},
        {"\2\0\0\0\0\0\0\0{}", 10, "a safetensors file"},
        {" \n{\"a\": 1}", 10, "JSON"},
        {"[1]", 3, "JSON"},
        {"root:x:0:0", 10, "text"},
        {"", 0, "empty"},
        {"rung-cert", 9, "text"},
        {"\1\2\3", 3, NULL},
        {"\xff\xff\xff\xff\xff\xff\xff\xff{", 9, "text"}, /* a length that no file has; bytes above 127 may be text */
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        const char *kind = rung_file_kind(cases[i].bytes, cases[i].size);
        if (!cases[i].kind) {
            assert_null(kind);
            continue;
        }
        if (!kind || strncmp(kind, cases[i].kind, strlen(cases[i].kind)) != 0)
            fail_msg("case %zu: %s", i, kind ? kind : "unknown");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_told_by_their_beginnings),
        cmocka_unit_test(test_reads_tensors_by_offset_and_by_name),
        cmocka_unit_test(test_rank_0_and_zero_size_tensors_are_legal),
        cmocka_unit_test(test_all_types_of_the_specification),
        cmocka_unit_test(test_names_may_be_any_utf8),
        cmocka_unit_test(test_shape_product_that_wraps_is_refused),
        cmocka_unit_test(test_overlaps_and_holes_are_refused),
        cmocka_unit_test(test_offsets_beyond_the_file_are_refused),
        cmocka_unit_test(test_offsets_that_are_not_shape_times_type_are_refused),
        cmocka_unit_test(test_unknown_or_missing_type_is_refused),
        cmocka_unit_test(test_header_length_is_checked_before_use),
        cmocka_unit_test(test_header_that_is_no_object_is_refused),
        cmocka_unit_test(test_duplicate_names_are_refused),
        cmocka_unit_test(test_sub_byte_types_must_fill_bytes),
        cmocka_unit_test(test_metadata_must_be_strings),
        cmocka_unit_test(test_trailing_bytes_are_refused),
        cmocka_unit_test(test_offsets_backwards_are_refused),
        cmocka_unit_test(test_numbers_that_are_no_sizes_are_refused),
        cmocka_unit_test(test_rank_above_the_limit_is_refused),
        cmocka_unit_test(test_invalid_utf8_and_deep_nesting_are_refused),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_paths_that_are_no_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
