/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Writing safetensors: golden bytes, the way back through the reader, and what the writer refuses.
 */
#include "io_test.h"

static const float WEIGHTS[] = {1.5f, -2, 0x1p-149f};
static const uint8_t ODD_BYTES[] = {1, 0, 1};

static const rung_tensor SAMPLE[] = {
    {.name = "b.\xc3\xa9",
     .dtype = RUNG_BOOL,
     .rank = 1,
     .shape = {3},
     .elements = 3,
     .bytes = ODD_BYTES,
     .size_bytes = 3},
    {.name = "a\"",
     .dtype = RUNG_F32,
     .rank = 2,
     .shape = {3, 1},
     .elements = 3,
     .bytes = (const uint8_t *)WEIGHTS,
     .size_bytes = 12},
    {.name = "none", .dtype = RUNG_I64, .rank = 2, .shape = {0, 7}, .elements = 0},
    {.name = "scalar",
     .dtype = RUNG_OTHER,
     .dtype_name = "F8_E8M0",
     .elements = 1,
     .bytes = ODD_BYTES,
     .size_bytes = 1},
};
static const rung_meta SAMPLE_META[] = {{"z", "1\n"}, {"a", ""}};

/* The golden bytes were checked against the specification by hand: length, JSON, padding, offsets, order. */
static const char GOLDEN_HEADER[] = "{\"__metadata__\":{\"z\":\"1\\n\",\"a\":\"\"},"
                                    "\"b.\xc3\xa9\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[0,3]},"
                                    "\"a\\\"\":{\"dtype\":\"F32\",\"shape\":[3,1],\"data_offsets\":[3,15]},"
                                    "\"none\":{\"dtype\":\"I64\",\"shape\":[0,7],\"data_offsets\":[15,15]},"
                                    "\"scalar\":{\"dtype\":\"F8_E8M0\",\"shape\":[],\"data_offsets\":[15,16]}}";

static void test_written_bytes_are_the_golden_ones(void **state)
{
    (void)state;
    test_directory dir;
    rung_file_map map;
    rung_error err = {{0}};
    enter_directory(&dir);
    for (int again = 0; again < 2; again++) /* the second time over the first */
        assert_int_equal(rung_safetensors_write(path_in(&dir, "m"), SAMPLE, 4, SAMPLE_META, 2, &err), RUNG_OK);
    size_t text = strlen(GOLDEN_HEADER), padded = (text + 7) / 8 * 8;
    assert_int_not_equal(text, padded);
    assert_int_equal(rung_file_open_map(&map, path_in(&dir, "m"), &err), RUNG_OK);
    assert_int_equal(map.size, 8 + padded + 16);
    uint64_t length;
    memcpy(&length, map.bytes, 8);
    assert_int_equal(length, padded);
    assert_memory_equal(map.bytes + 8, GOLDEN_HEADER, text);
    for (size_t i = text; i < padded; i++) assert_int_equal(map.bytes[8 + i], ' ');
    assert_memory_equal(map.bytes + 8 + padded, ODD_BYTES, 3);
    assert_memory_equal(map.bytes + 8 + padded + 3, WEIGHTS, 12);
    assert_int_equal(map.bytes[8 + padded + 15], 1);
    rung_file_close_map(&map);
    leave_directory(&dir, (const char *[]){"m", NULL});
}

static void test_written_files_read_back(void **state)
{
    (void)state;
    test_directory dir;
    rung_safetensors *file = NULL;
    rung_error err = {{0}};
    enter_directory(&dir);
    assert_int_equal(rung_safetensors_write(path_in(&dir, "m"), SAMPLE, 4, SAMPLE_META, 2, &err), RUNG_OK);
    assert_int_equal(rung_safetensors_open(&file, path_in(&dir, "m"), &err), RUNG_OK);
    assert_int_equal(rung_safetensors_count(file), 4);
    for (size_t i = 0; i < 4; i++) {
        const rung_tensor *tensor = rung_safetensors_at(file, i);
        assert_string_equal(tensor->name, SAMPLE[i].name);
        assert_true(tensor->dtype == SAMPLE[i].dtype && tensor->rank == SAMPLE[i].rank);
        assert_memory_equal(tensor->shape, SAMPLE[i].shape, sizeof tensor->shape);
        assert_int_equal(tensor->size_bytes, SAMPLE[i].size_bytes);
        if (tensor->size_bytes) assert_memory_equal(tensor->bytes, SAMPLE[i].bytes, tensor->size_bytes);
    }
    assert_string_equal(rung_safetensors_meta(file, "z"), "1\n");
    assert_string_equal(rung_safetensors_meta_key(file, 0), "z");
    rung_file_map map;
    char digest[65], expected[65];
    assert_int_equal(rung_file_open_map(&map, path_in(&dir, "m"), &err), RUNG_OK);
    rung_sha256_hex(expected, map.bytes, map.size);
    rung_safetensors_digest(digest, file);
    assert_string_equal(digest, expected);
    rung_file_close_map(&map);
    rung_safetensors_close(file);
    assert_int_equal(rung_safetensors_write(path_in(&dir, "m"), NULL, 0, NULL, 0, &err), RUNG_OK);
    assert_int_equal(rung_safetensors_open(&file, path_in(&dir, "m"), &err), RUNG_OK);
    assert_int_equal(rung_safetensors_count(file), 0);
    rung_safetensors_close(file);
    leave_directory(&dir, (const char *[]){"m", NULL});
}

/* Random sets of tensors, written and read; what comes back is what went in. */
static void test_random_files_survive_the_round_trip(void **state)
{
    (void)state;
    enum { MOST = 12 };
    test_directory dir;
    rung_rng rng;
    uint8_t data[4096];
    enter_directory(&dir);
    rung_rng_init(&rng, 3, 1, 4);
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)rung_rng_u64(&rng);
    for (int round = 0; round < 200; round++) {
        rung_tensor tensors[MOST] = {0};
        char names[MOST][24];
        size_t count = rung_rng_below(&rng, MOST + 1);
        for (size_t i = 0; i < count; i++) {
            rung_tensor *t = &tensors[i];
            snprintf(names[i], sizeof names[i], "%c%zu", (int)('a' + rung_rng_below(&rng, 26)), i);
            t->name = names[i];
            t->dtype = (rung_dtype)(RUNG_F64 + rung_rng_below(&rng, RUNG_OTHER - RUNG_F64));
            t->rank = rung_rng_below(&rng, 5);
            t->elements = 1;
            for (size_t k = 0; k < t->rank; k++) t->elements *= t->shape[k] = rung_rng_below(&rng, 5);
            t->size_bytes = t->elements * rung_dtype_bytes(t->dtype);
            t->bytes = data + rung_rng_below(&rng, sizeof data - 256 * 8);
        }
        rung_error err = {{0}};
        rung_safetensors *file = NULL;
        assert_int_equal(rung_safetensors_write(path_in(&dir, "m"), tensors, count, NULL, 0, &err), RUNG_OK);
        if (rung_safetensors_open(&file, path_in(&dir, "m"), &err)) print_error("%s\n", err.text);
        assert_non_null(file);
        assert_int_equal(rung_safetensors_count(file), count);
        for (size_t i = 0; i < count; i++) {
            const rung_tensor *t = rung_safetensors_get(file, names[i]);
            assert_non_null(t);
            assert_true(t->dtype == tensors[i].dtype && t->rank == tensors[i].rank &&
                        t->elements == tensors[i].elements);
            assert_memory_equal(t->shape, tensors[i].shape, sizeof t->shape);
            assert_memory_equal(t->bytes, tensors[i].bytes, t->size_bytes);
        }
        rung_safetensors_close(file);
    }
    leave_directory(&dir, (const char *[]){"m", NULL});
}

static void not_written(const rung_tensor *tensors, size_t count, const rung_meta *meta, size_t meta_count,
                        const char *fault)
{
    test_directory dir;
    rung_error err = {{0}};
    enter_directory(&dir);
    assert_int_equal(rung_safetensors_write(path_in(&dir, "m"), tensors, count, meta, meta_count, &err), RUNG_USAGE);
    assert_message(err, fault);
    leave_directory(&dir, (const char *[]){NULL}); /* nothing, not even a temporary file */
}

static void test_writer_refuses_what_a_reader_would(void **state)
{
    (void)state;
    rung_tensor pair[2] = {SAMPLE[0], SAMPLE[1]};
    pair[1].name = pair[0].name;
    not_written(pair, 2, NULL, 0, "two tensors are named");
    pair[1].name = "__metadata__";
    not_written(pair, 2, NULL, 0, "__metadata__");
    pair[1].name = "\xc3(";
    not_written(pair, 2, NULL, 0, "UTF-8");
    pair[1].name = NULL;
    not_written(pair, 2, NULL, 0, "UTF-8");
    const rung_meta twice[] = {{"k", "1"}, {"j", "1"}, {"k", "2"}}, latin[] = {{"k", "\xe9"}};
    not_written(SAMPLE, 1, twice, 3, "'k' is given twice");
    not_written(SAMPLE, 1, latin, 1, "UTF-8");
    rung_tensor odd = SAMPLE[1];
    odd.size_bytes = 11;
    not_written(&odd, 1, NULL, 0, "size in bytes");
    odd = SAMPLE[1];
    odd.elements = 2;
    not_written(&odd, 1, NULL, 0, "product of its shape");
    odd = SAMPLE[1];
    odd.bytes = NULL;
    not_written(&odd, 1, NULL, 0, "no bytes");
    odd = SAMPLE[1];
    odd.rank = 9;
    not_written(&odd, 1, NULL, 0, "rank");
    odd = SAMPLE[3];
    odd.dtype_name = "F4";
    odd.rank = 1;
    odd.shape[0] = odd.elements = 3;
    not_written(&odd, 1, NULL, 0, "size in bytes"); /* 12 bits are not one byte */
    odd = SAMPLE[3];
    odd.dtype_name = "F5";
    not_written(&odd, 1, NULL, 0, "type");
    odd.dtype_name = NULL;
    not_written(&odd, 1, NULL, 0, "type");
    odd.dtype = (rung_dtype)0;
    not_written(&odd, 1, NULL, 0, "type");
}

static void test_failed_write_leaves_nothing(void **state)
{
    (void)state;
    rung_error err = {{0}};
    assert_int_equal(rung_safetensors_write("/nonexistent-directory/m", SAMPLE, 4, NULL, 0, &err), RUNG_SYSTEM);
    assert_message(err, "/nonexistent-directory/m");
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(rung_safetensors_write("/dev/full", SAMPLE, 4, NULL, 0, &err), RUNG_SYSTEM);
        assert_message(err, "/dev/full", "space");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_bytes_are_the_golden_ones),
        cmocka_unit_test(test_written_files_read_back),
        cmocka_unit_test(test_random_files_survive_the_round_trip),
        cmocka_unit_test(test_writer_refuses_what_a_reader_would),
        cmocka_unit_test(test_failed_write_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
