/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * State dicts of PyTorch: a file that PyTorch wrote (tests/fixtures/io/make_state.py) against the values that it holds,
 * and pickles put together here that ask for something else, or are damaged.
 */
#include "zip_build.h"

static void what_torch_wrote_comes_back(void **state)
{
    (void)state;
    rung_torch *file;
    rung_npz *expected;
    CHECK(rung_torch_open(&file, fixture("state.pt"), &check_err));
    CHECK(rung_npz_open(&expected, fixture("state.npz"), 0, &check_err));
    assert_int_equal(rung_torch_count(file), rung_npz_count(expected));
    for (size_t i = 0; i < rung_torch_count(file); i++) {
        const rung_tensor *have = rung_torch_at(file, i), *want = rung_npz_at(expected, i);
        double a[64], b[64];
        assert_string_equal(have->name, want->name);
        assert_int_equal(have->rank, want->rank);
        for (size_t d = 0; d < have->rank; d++) assert_int_equal(have->shape[d], want->shape[d]);
        assert_true(have->elements <= RUNG_COUNT(a));
        CHECK(rung_tensor_to_f64(a, have, &check_err));
        CHECK(rung_tensor_to_f64(b, want, &check_err));
        for (size_t e = 0; e < have->elements; e++) assert_true(a[e] == b[e]);
    }
    assert_ptr_equal(rung_torch_get(file, "inner.deep.weight"), rung_torch_at(file, rung_torch_count(file) - 1));
    assert_null(rung_torch_get(file, "inner"));
    assert_null(rung_torch_at(file, rung_torch_count(file)));
    rung_npz_close(expected);
    rung_torch_close(file);
}

/* The archive of a pickle and, if `data` is not NULL, of storage 0. */
static void make_archive(archive *a, const char *pickle, size_t len, const void *data, size_t bytes)
{
    const entry entries[] = {{.name = "m/data.pkl", .content = pickle, .len = len},
                             {.name = "m/data/0", .content = data, .len = bytes}};
    build(a, entries, data ? 2 : 1, false);
}

static void refused(const char *pickle, size_t len, const char *fault)
{
    const float four[4] = {1, 2, 3, 4};
    archive a;
    rung_torch *file = (rung_torch *)&file;
    rung_error err = {{0}};
    make_archive(&a, pickle, len, four, sizeof four);
    uint8_t *copy = odd_copy(a.buf.text, a.buf.len);
    assert_int_equal(rung_torch_open_bytes(&file, copy, a.buf.len, "t.pt", &err), RUNG_INPUT);
    assert_null(file);
    assert_message(err, "t.pt: ", fault);
    free_odd(copy);
    rung_buf_clear(&a.buf);
}

#define REFUSED(pickle, fault) refused(pickle, sizeof(pickle) - 1, fault)

/* ('storage', torch FloatStorage, '0', 'cpu', 4) */
#define STORAGE                                                                                                        \
    "(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"                                                                 \
    "0X\3\0\0\0cpuK\4tQ"
#define REBUILD "ctorch._utils\n_rebuild_tensor_v2\n"
/* A tensor of `size` elements from `offset` on with `stride`; each one byte. */
#define TENSOR(offset, size, stride)                                                                                   \
    REBUILD "(" STORAGE "K" offset "K" size "\x85K" stride "\x85\x89"                                                  \
            ")tR" /* no hooks: an empty tuple */

static void a_tensor_reads_what_its_storage_has(void **state)
{
    (void)state;
    static const char pickle[] = "\x80\2}X\1\0\0\0w" TENSOR("\1", "\2", "\2") "s.";
    const float four[4] = {1, 2, 3, 4};
    float out[2];
    archive a;
    rung_torch *file;
    make_archive(&a, pickle, sizeof pickle - 1, four, sizeof four);
    CHECK(rung_torch_open_bytes(&file, a.buf.text, a.buf.len, "t.pt", &check_err));
    CHECK(rung_tensor_to_f32(out, rung_torch_get(file, "w"), &check_err));
    assert_true(out[0] == 2 && out[1] == 4);
    rung_torch_close(file);
    rung_buf_clear(&a.buf);
    REFUSED("\x80\2}X\1\0\0\0w" TENSOR("\1", "\4", "\1") "s.", "beyond its storage");
    REFUSED("\x80\2}X\1\0\0\0w" TENSOR("\0", "\3", "\2") "s.", "beyond its storage");
    REFUSED("\x80\2}X\1\0\0\0w" TENSOR("\0", "\5", "\0") "s.", "more elements than its storage");
}

static void nothing_is_called(void **state)
{
    (void)state;
    REFUSED("\x80\2}X\1\0\0\0wcos\nsystem\n(X\2\0\0\0lstRs.", "asks to call 'os system', and nothing is called");
    REFUSED("\x80\2cos\nsystem\n(X\2\0\0\0lstR.", "holds an object, not a state dict");
    REFUSED("\x80\2cbuiltins\neval\n.", "holds an object, not a state dict");
    REFUSED("(S'ls'\nios\nsystem\n.", "opcode 83");       /* INST, protocol 0 */
    REFUSED("\x80\2}\x81.", "opcode 129");                /* NEWOBJ */
    REFUSED("\x80\2\x82\1.", "opcode 130");               /* EXT1 */
    REFUSED("\x80\2}X\1\0\0\0aK\1s.", "is not a tensor"); /* a number */
    REFUSED("\x80\2}K\1" TENSOR("\0", "\1", "\1") "s.", "a key that is not a text");
}

static void damage_is_refused(void **state)
{
    (void)state;
    static const char whole[] = "\x80\2}q\1X\1\0\0\0w" TENSOR("\0", "\4", "\1") "s.";
    for (size_t len = 0; len + 1 < sizeof whole - 1; len++) refused(whole, len, "");
    REFUSED("\x80\2.", "empty stack");
    REFUSED("\x80\2t.", "mark");
    REFUSED("\x80\2K\1K\1s.", "not a list or dict");
    REFUSED("\x80\2}(K\1u.", "key without a value");
    REFUSED("\x80\2h\1.", "never remembered");
    REFUSED("\x80\2}r\xff\xff\xff\xff.", "more places in its memory");
    REFUSED("\x80\2}}.", "leaves values");
    REFUSED("\x80\1}.", "protocol");
    REFUSED("\x80\2}X\1\0\0\0\xffNs.", "not UTF-8");
    REFUSED("\x80\2}\x8a\x09\0\0\0\0\0\0\0\0\1.", "64 bits");
    REFUSED("\x80\2(K\1K\1\x87.", "across a mark");
}

static void a_dict_in_itself_ends(void **state)
{
    (void)state;
    REFUSED("\x80\2}q\1X\1\0\0\0ah\1s.", "too many dicts");
}

static void other_archives_are_refused(void **state)
{
    (void)state;
    const entry plain = {.name = "a.npy", .content = "x", .len = 1};
    const entry packed = {.name = "m/data.pkl", .content = "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", .len = 28, .deflate = true};
    const entry *const each[] = {&plain, &packed};
    static const char *const fault[] = {"no data.pkl", "compressed"};
    for (size_t i = 0; i < 2; i++) {
        archive a;
        rung_torch *file;
        rung_error err = {{0}};
        build(&a, each[i], 1, false);
        assert_int_equal(rung_torch_open_bytes(&file, a.buf.text, a.buf.len, "t.pt", &err), RUNG_INPUT);
        assert_message(err, "t.pt: ", fault[i]);
        rung_buf_clear(&a.buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_torch_wrote_comes_back), cmocka_unit_test(a_tensor_reads_what_its_storage_has),
        cmocka_unit_test(nothing_is_called),           cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(a_dict_in_itself_ends),       cmocka_unit_test(other_archives_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
