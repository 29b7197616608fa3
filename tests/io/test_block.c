/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Tensors of GGUF files: the blocks of every decoded type against what the package of llama.cpp makes of them
 * (tests/fixtures/io/make_blocks.py), bit for bit; plain types, names and shapes.
 */
#include "io/gguf_build.h"

static void every_block_type_is_decoded_as_elsewhere(void **state)
{
    (void)state;
    rung_gguf *file;
    rung_npz *expected;
    CHECK(rung_gguf_open(&file, fixture("blocks.gguf"), &check_err));
    CHECK(rung_npz_open(&expected, fixture("blocks.npz"), 0, &check_err));
    assert_int_equal(rung_gguf_tensor_count(file), 8);
    assert_int_equal(rung_npz_count(expected), 8);
    for (size_t i = 0; i < rung_npz_count(expected); i++) {
        const rung_tensor *want = rung_npz_at(expected, i), *have = rung_gguf_tensor(file, want->name);
        float a[768], b[768];
        double wide[768];
        assert_non_null(have);
        assert_int_equal(have->dtype, RUNG_OTHER);
        assert_int_equal(have->elements, want->elements);
        assert_true(have->elements <= RUNG_COUNT(a));
        CHECK(rung_tensor_to_f32(a, want, &check_err));
        CHECK(rung_tensor_to_f32(b, have, &check_err));
        CHECK(rung_tensor_to_f64(wide, have, &check_err));
        for (size_t e = 0; e < have->elements; e++) {
            assert_memory_equal(&a[e], &b[e], sizeof a[e]);
            assert_true(wide[e] == (double)b[e]);
        }
    }
    assert_null(rung_gguf_tensor(file, "absent"));
    assert_null(rung_gguf_tensor_at(file, 8));
    rung_npz_close(expected);
    rung_gguf_close(file);
}

static void a_block_type_that_is_not_decoded_is_refused(void **state)
{
    (void)state;
    float out[256];
    rung_error err = {{0}};
    const uint8_t bytes[84] = {0};
    rung_tensor tensor = {.name = "w",
                          .dtype = RUNG_OTHER,
                          .dtype_name = "Q2_K",
                          .rank = 1,
                          .shape = {256},
                          .elements = 256,
                          .bytes = bytes,
                          .size_bytes = sizeof bytes};
    assert_int_equal(rung_tensor_to_f32(out, &tensor, &err), RUNG_INPUT);
    assert_message(err, "tensor 'w'", "Q2_K");
    tensor.dtype_name = "Q8_0"; /* 84 bytes are no blocks of 34 */
    assert_int_equal(rung_tensor_to_f32(out, &tensor, &err), RUNG_USAGE);
}

static void shapes_begin_with_the_number_of_rows(void **state)
{
    (void)state;
    rung_gguf *file;
    CHECK(rung_gguf_open(&file, fixture("blocks.gguf"), &check_err));
    const rung_tensor *q6 = rung_gguf_tensor(file, "q6_k");
    assert_non_null(q6);
    assert_int_equal(q6->rank, 2);
    assert_int_equal(q6->shape[0], 1);
    assert_int_equal(q6->shape[1], 768);
    for (size_t i = 1; i < rung_gguf_tensor_count(file); i++)
        assert_true(strcmp(rung_gguf_tensor_at(file, i - 1)->name, rung_gguf_tensor_at(file, i)->name) < 0);
    rung_gguf_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_type_is_decoded_as_elsewhere),
        cmocka_unit_test(a_block_type_that_is_not_decoded_is_refused),
        cmocka_unit_test(shapes_begin_with_the_number_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
