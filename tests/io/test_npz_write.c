/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Writing npz: a golden file that numpy loads, the way back through the reader, and what the writer refuses.
 */
#include "io_test.h"

static const int64_t INPUTS[] = {1, -100, INT64_MAX, INT64_MIN, 0, 7};
static const float LABELS[] = {0.5f, -0.0f};

static const rung_tensor SAMPLE[] = {
    {.name = "inputs",
     .dtype = RUNG_I64,
     .rank = 2,
     .shape = {2, 3},
     .elements = 6,
     .bytes = (const uint8_t *)INPUTS,
     .size_bytes = 48},
    {.name = "group/\xc3\xa9",
     .dtype = RUNG_F32,
     .rank = 1,
     .shape = {2},
     .elements = 2,
     .bytes = (const uint8_t *)LABELS,
     .size_bytes = 8},
    {.name = "empty", .dtype = RUNG_U8, .rank = 2, .shape = {0, 3}, .elements = 0},
};

/* rung.npz was loaded with numpy 1.24 and tested with Python's zipfile and unzip -t when it was added. */
static void test_written_bytes_are_the_golden_ones(void **state)
{
    (void)state;
    test_directory dir;
    rung_file_map written, golden;
    rung_error err = {{0}};
    enter_directory(&dir);
    assert_int_equal(rung_npz_write(path_in(&dir, "w.npz"), SAMPLE, 3, &err), RUNG_OK);
    assert_int_equal(rung_file_open_map(&written, path_in(&dir, "w.npz"), &err), RUNG_OK);
    assert_int_equal(rung_file_open_map(&golden, fixture("rung.npz"), &err), RUNG_OK);
    assert_int_equal(written.size, golden.size);
    assert_memory_equal(written.bytes, golden.bytes, golden.size);
    rung_file_close_map(&written);
    rung_file_close_map(&golden);
    leave_directory(&dir, (const char *[]){"w.npz", NULL});
}

static void test_written_archives_read_back(void **state)
{
    (void)state;
    test_directory dir;
    rung_npz *file = NULL;
    enter_directory(&dir);
    assert_int_equal(rung_npz_write(path_in(&dir, "w.npz"), SAMPLE, 3, NULL), RUNG_OK);
    assert_int_equal(rung_npz_open(&file, path_in(&dir, "w.npz"), 0, NULL), RUNG_OK);
    assert_int_equal(rung_npz_count(file), 3);
    for (size_t i = 0; i < 3; i++) {
        const rung_tensor *tensor = rung_npz_get(file, SAMPLE[i].name);
        assert_ptr_equal(tensor, rung_npz_at(file, i));
        assert_true(tensor->dtype == SAMPLE[i].dtype && tensor->rank == SAMPLE[i].rank);
        assert_memory_equal(tensor->shape, SAMPLE[i].shape, sizeof tensor->shape);
        if (tensor->size_bytes) assert_memory_equal(tensor->bytes, SAMPLE[i].bytes, SAMPLE[i].size_bytes);
    }
    rung_npz_close(file);
    assert_int_equal(rung_npz_write(path_in(&dir, "w.npz"), NULL, 0, NULL), RUNG_OK);
    assert_int_equal(rung_npz_open(&file, path_in(&dir, "w.npz"), 0, NULL), RUNG_OK);
    assert_int_equal(rung_npz_count(file), 0);
    rung_npz_close(file);
    leave_directory(&dir, (const char *[]){"w.npz", NULL});
}

static void not_written(const rung_tensor *tensors, size_t count, const char *fault)
{
    test_directory dir;
    rung_error err = {{0}};
    enter_directory(&dir);
    assert_int_equal(rung_npz_write(path_in(&dir, "w.npz"), tensors, count, &err), RUNG_USAGE);
    assert_message(err, fault);
    leave_directory(&dir, (const char *[]){NULL});
}

static void test_writer_refuses_bad_names_and_sizes(void **state)
{
    (void)state;
    static const char *const names[] = {"", "/a", "a\\b", "..", "../a", "a/../b", "a/..", "a//b", "a/", ".", "c:a"};
    rung_tensor pair[2] = {SAMPLE[0], SAMPLE[1]};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        pair[1].name = names[i];
        not_written(pair, 2, "cannot name an array");
    }
    pair[1].name = "inputs";
    not_written(pair, 2, "two tensors are named 'inputs'");
    pair[1].name = "\xff";
    not_written(pair, 2, "UTF-8");
    pair[1] = SAMPLE[1];
    pair[1].dtype = RUNG_BF16;
    not_written(pair, 2, "BF16");
    pair[1] = SAMPLE[1];
    pair[1].size_bytes = 4;
    not_written(pair, 2, "size in bytes");
    not_written(NULL, 65535, "65535 arrays");
    /* Claimed sizes only: the refusal comes before a byte is read. */
    pair[1] = (rung_tensor){.name = "big", .dtype = RUNG_U8, .rank = 1, .bytes = (const uint8_t *)LABELS};
    pair[1].shape[0] = pair[1].elements = pair[1].size_bytes = (size_t)5 << 30;
    not_written(pair, 2, "'big' would make the archive larger than 4 GiB");
    pair[1].shape[0] = pair[1].elements = pair[1].size_bytes = UINT32_MAX - 400; /* fits alone, not with the rest */
    not_written(pair, 2, "larger than 4 GiB");
    pair[0] = pair[1];
    pair[0].name = "half";
    for (size_t i = 0; i < 2; i++) pair[i].shape[0] = pair[i].elements = pair[i].size_bytes = (size_t)1 << 31;
    not_written(pair, 2, "'big' would make");
}

/* Dots that are part of a name harm nobody. */
static void test_writer_accepts_dotted_names(void **state)
{
    (void)state;
    test_directory dir;
    rung_tensor tensor = SAMPLE[0];
    enter_directory(&dir);
    static const char *const names[] = {"layers.0.weight", ".hidden", "a..b", "...", "a/b.c"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        tensor.name = names[i];
        assert_int_equal(rung_npz_write(path_in(&dir, "w.npz"), &tensor, 1, NULL), RUNG_OK);
    }
    leave_directory(&dir, (const char *[]){"w.npz", NULL});
}

static void test_failed_write_is_reported(void **state)
{
    (void)state;
    rung_error err = {{0}};
    assert_int_equal(rung_npz_write("/nonexistent-directory/w", SAMPLE, 3, &err), RUNG_SYSTEM);
    assert_message(err, "/nonexistent-directory/w");
    rung_npz *file;
    assert_int_equal(rung_npz_open(&file, "/nonexistent-directory/w", 0, &err), RUNG_INPUT);
    assert_message(err, "/nonexistent-directory/w");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_bytes_are_the_golden_ones),  cmocka_unit_test(test_written_archives_read_back),
        cmocka_unit_test(test_writer_refuses_bad_names_and_sizes), cmocka_unit_test(test_writer_accepts_dotted_names),
        cmocka_unit_test(test_failed_write_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
