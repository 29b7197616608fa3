/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Reading npz: archives that numpy wrote, and archives put together here with one thing wrong at a time.
 */
#include "zip_build.h"

static void refused(archive *a, const char *fault)
{
    rung_npz *file = (rung_npz *)&file;
    rung_error err = {{0}};
    uint8_t *copy = odd_copy(a->buf.text, a->buf.len);
    assert_int_equal(rung_npz_open_bytes(&file, copy, a->buf.len, "t.npz", 0, &err), RUNG_INPUT);
    assert_null(file);
    assert_message(err, "t.npz: ", fault);
    assert_int_equal(rung_npz_open_bytes(&file, copy, a->buf.len, "t.npz", 0, NULL), RUNG_INPUT);
    free_odd(copy);
    rung_buf_clear(&a->buf);
}

static rung_npz *opened(const archive *a, size_t max_bytes)
{
    rung_npz *file = NULL;
    rung_error err = {{0}};
    if (rung_npz_open_bytes(&file, a->buf.text, a->buf.len, "t.npz", max_bytes, &err)) print_error("%s\n", err.text);
    assert_non_null(file);
    return file;
}

/* An npy file of n int64 counting up. */
static void make_array(rung_buf *out, size_t n)
{
    int64_t *values = malloc((n + 1) * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < n; i++) values[i] = (int64_t)i;
    rung_tensor tensor = {.name = "x",
                          .dtype = RUNG_I64,
                          .rank = 1,
                          .shape = {n},
                          .elements = n,
                          .bytes = (const uint8_t *)values,
                          .size_bytes = 8 * n};
    rung_buf_init(out);
    assert_int_equal(rung_npy_append(out, &tensor, NULL), RUNG_OK);
    free(values);
}

/* Two small arrays, the second deflated unless said otherwise. */
typedef struct sample {
    rung_buf arrays[2];
    entry entries[2];
} sample;

static void sample_init(sample *s)
{
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < 2; i++) {
        make_array(&s->arrays[i], 10 + 90 * i);
        s->entries[i] = (entry){.name = i ? "b.npy" : "a.npy", .content = s->arrays[i].text, .len = s->arrays[i].len};
    }
    s->entries[1].deflate = true;
}

static void sample_clear(sample *s)
{
    for (size_t i = 0; i < 2; i++) rung_buf_clear(&s->arrays[i]);
}

/* ---- reading ---- */

static void check_counting(const rung_tensor *tensor, size_t n)
{
    int64_t values[128];
    assert_non_null(tensor);
    assert_int_equal(tensor->elements, n);
    assert_int_equal(rung_tensor_to_i64(values, tensor, NULL), RUNG_OK);
    for (size_t i = 0; i < n; i++) assert_int_equal(values[i], i);
}

static void test_stored_deflated_zip64_and_streamed_members(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 32; bits++) {
        sample s;
        archive a;
        sample_init(&s);
        s.entries[0].zip64 = bits & 1;
        s.entries[1].zip64 = (bits >> 1 & 1) && !(bits & 4);
        s.entries[1].sizes_follow = bits >> 2 & 1;
        s.entries[1].deflate = bits >> 3 & 1;
        build(&a, s.entries, 2, bits >> 4 & 1);
        rung_npz *file = opened(&a, 0);
        assert_int_equal(rung_npz_count(file), 2);
        check_counting(rung_npz_get(file, "a"), 10);
        check_counting(rung_npz_get(file, "b"), 100);
        assert_ptr_equal(rung_npz_at(file, 1), rung_npz_get(file, "b"));
        assert_null(rung_npz_get(file, "b.npy"));
        assert_null(rung_npz_at(file, 2));
        rung_npz_close(file);
        rung_buf_clear(&a.buf);
        sample_clear(&s);
    }
    rung_npz_close(NULL);
}

static void test_comment_and_empty_archive_are_legal(void **state)
{
    (void)state;
    archive a;
    build(&a, NULL, 0, false);
    rung_npz *file = opened(&a, 0);
    assert_int_equal(rung_npz_count(file), 0);
    rung_npz_close(file);
    poke(&a, a.end + 20, 300, 2);
    for (int i = 0; i < 300; i++) rung_buf_putc(&a.buf, "PK\5\6"[i % 4]); /* end records inside the comment */
    file = opened(&a, 0);
    rung_npz_close(file);
    rung_buf_putc(&a.buf, 'x');
    refused(&a, "not a zip archive");
}

/* Every value of an array that make.py wrote: arange(24) % 5, modulo 2 for booleans. */
static void check_fixture_types(const rung_npz *file)
{
    static const struct {
        const char *name;
        rung_dtype dtype;
    } types[] = {
        {"type_f8", RUNG_F64}, {"type_f4", RUNG_F32}, {"type_f2", RUNG_F16}, {"type_i8", RUNG_I64},
        {"type_i4", RUNG_I32}, {"type_i2", RUNG_I16}, {"type_i1", RUNG_I8},  {"type_u8", RUNG_U64},
        {"type_u4", RUNG_U32}, {"type_u2", RUNG_U16}, {"type_u1", RUNG_U8},  {"type_b1", RUNG_BOOL},
    };
    for (size_t t = 0; t < RUNG_COUNT(types); t++) {
        const rung_tensor *tensor = rung_npz_get(file, types[t].name);
        double values[24];
        assert_non_null(tensor);
        assert_int_equal(tensor->dtype, types[t].dtype);
        assert_true(tensor->rank == 3 && tensor->shape[0] == 2 && tensor->shape[1] == 3 && tensor->shape[2] == 4);
        assert_int_equal(rung_tensor_to_f64(values, tensor, NULL), RUNG_OK);
        for (int i = 0; i < 24; i++) assert_true(values[i] == (types[t].dtype == RUNG_BOOL ? i % 5 % 2 : i % 5));
    }
}

static void check_fixture(const char *name)
{
    rung_npz *file = NULL;
    rung_error err = {{0}};
    double real;
    int64_t vector[7];
    if (rung_npz_open(&file, fixture(name), 0, &err)) print_error("%s\n", err.text);
    assert_non_null(file);
    assert_int_equal(rung_npz_count(file), 19);
    check_fixture_types(file);
    assert_int_equal(rung_tensor_to_f64(&real, rung_npz_get(file, "scalar"), NULL), RUNG_OK);
    assert_true(rung_npz_get(file, "scalar")->rank == 0 && real == 2.5);
    assert_int_equal(rung_tensor_to_i64(vector, rung_npz_get(file, "vector"), NULL), RUNG_OK);
    for (int i = 0; i < 7; i++) assert_int_equal(vector[i], i - 3);
    assert_true(rung_npz_get(file, "empty")->elements == 0 && rung_npz_get(file, "empty")->shape[1] == 5);
    assert_true(rung_npz_get(file, "rank8")->rank == 8 && rung_npz_get(file, "rank8")->shape[7] == 2);
    assert_int_equal(rung_npz_get(file, "fortran_vector")->elements, 3);
    assert_int_equal(rung_npz_get(file, "group/\xc3\xa9")->elements, 1000);
    rung_npz_close(file);
}

static void test_archives_that_numpy_wrote(void **state)
{
    (void)state;
    check_fixture("numpy_stored.npz");
    check_fixture("numpy_deflated.npz");
}

/* The npy bytes that rung_npy_append makes of each array are those from which it was read. */
static void test_append_makes_the_bytes_of_numpy(void **state)
{
    (void)state;
    rung_npz *file = NULL;
    assert_int_equal(rung_npz_open(&file, fixture("numpy_stored.npz"), 0, NULL), RUNG_OK);
    for (size_t i = 0; i < rung_npz_count(file); i++) {
        const rung_tensor *tensor = rung_npz_at(file, i);
        rung_buf buf;
        rung_buf_init(&buf);
        assert_int_equal(rung_npy_append(&buf, tensor, NULL), RUNG_OK);
        assert_memory_equal(buf.text, tensor->bytes - (buf.len - tensor->size_bytes), buf.len);
        rung_buf_clear(&buf);
    }
    rung_npz_close(file);
}

/* ---- one thing wrong at a time ---- */

/* Where to poke: `bytes` bytes of `value` at an offset from a record, and what must be said. */
typedef struct wrong {
    enum { LOCAL, ENTRY, END, END64, DATA } record;
    size_t offset;
    uint64_t value;
    size_t bytes;
    const char *fault;
} wrong;

static void check_wrong(const wrong *cases, size_t count, bool zip64, bool deflate)
{
    for (size_t i = 0; i < count; i++) {
        sample s;
        archive a;
        sample_init(&s);
        s.entries[1].zip64 = zip64;
        s.entries[1].deflate = deflate;
        build(&a, s.entries, 2, zip64);
        size_t at[] = {a.local[1], a.entry[1], a.end, a.end64, a.data[1]};
        poke(&a, at[cases[i].record] + cases[i].offset, cases[i].value, cases[i].bytes);
        refused(&a, cases[i].fault);
        sample_clear(&s);
    }
}

static void test_contradictions_and_unreadable_kinds_are_refused(void **state)
{
    (void)state;
    static const wrong cases[] = {
        {END, 4, 1, 2, "several disks"},
        {END, 6, 1, 2, "several disks"},
        {END, 8, 1, 2, "several disks"},
        {END, 8, 0x00010001, 4, "more entries than it states"},
        {END, 8, 0x00030003, 4, "fewer entries than it states"},
        {END, 8, 0xffffffff, 4, "fewer entries than it states"},
        {END, 12, 1, 4, "does not end where"},
        {END, 16, 0xffffffff, 4, "does not end where"},
        {END, 20, 1, 2, "not a zip archive"},
        {END, 0, 0, 1, "not a zip archive"},
        {ENTRY, 0, 0, 1, "fewer entries"},
        {ENTRY, 8, 1, 2, "encrypted"},
        {ENTRY, 8, 1 << 6, 2, "encrypted"},
        {ENTRY, 8, 1 << 13, 2, "encrypted"},
        {ENTRY, 8, 1 << 11, 2, "its own header"},
        {ENTRY, 10, 14, 2, "method 14"},
        {ENTRY, 10, 8, 2, "its own header"},
        {ENTRY, 16, 0, 4, "its own header"},
        {ENTRY, 20, 7, 4, "two sizes differ"},
        {ENTRY, 20, 0x7fffffff, 4, "cannot hold"},
        {ENTRY, 24, 0x7fffffff, 4, "cannot hold"},
        {ENTRY, 20, 0xffffffff, 4, "extra field"},
        {ENTRY, 24, 0xffffffff, 4, "extra field"},
        {ENTRY, 28, 0xffff, 2, "behind the directory"},
        {ENTRY, 30, 1, 2, "behind the directory"},
        {ENTRY, 32, 1, 2, "behind the directory"},
        {ENTRY, 42, 0xffffffff, 4, "extra field"},
        {ENTRY, 42, 0xfffffffe, 4, "cannot hold"},
        {ENTRY, 42, 1, 4, "not where the directory says"},
        {ENTRY, 42, 0, 4, "another name"},
        {ENTRY, 46, 0, 1, "UTF-8"},
        {ENTRY, 46, 0xff, 1, "UTF-8"},
        {LOCAL, 0, 0, 1, "not where the directory says"},
        {LOCAL, 6, 1, 2, "its own header"},
        {LOCAL, 8, 8, 2, "its own header"},
        {LOCAL, 14, 0, 4, "its own header"},
        {LOCAL, 18, 1, 4, "its own header"},
        {LOCAL, 22, 1, 4, "its own header"},
        {LOCAL, 26, 4, 2, "another name"},
        {LOCAL, 26, 0xffff, 2, "another name"},
        {LOCAL, 28, 0xffff, 2, "another name"},
        {LOCAL, 30, 'c', 1, "another name"},
        {DATA, 200, 0xff, 1, "checksum"},
    };
    check_wrong(cases, RUNG_COUNT(cases), false, false);
}

static void test_zip64_contradictions_are_refused(void **state)
{
    (void)state;
    static const wrong cases[] = {
        {END64, 4, 45, 8, "zip64 end record is not where"},
        {END64, 4, UINT64_MAX, 8, "zip64 end record is not where"},
        {END64, 16, 1, 4, "several disks"},
        {END64, 20, 1, 4, "several disks"},
        {END64, 24, 3, 8, "several disks"},
        {END64, 40, 1, 8, "does not end where"},
        {END64, 40, UINT64_MAX, 8, "does not end where"},
        {END64, 48, UINT64_MAX, 8, "does not end where"},
        {END64, 56 + 4, 1, 4, "several disks"},
        {END64, 56 + 8, 0, 8, "zip64 end record is not where"},
        {END64, 56 + 8, UINT64_MAX, 8, "zip64 end record is not where"},
        {END64, 56 + 8, UINT64_MAX - 55, 8, "zip64 end record is not where"},
        {END64, 56 + 16, 2, 4, "several disks"},
        {END64, 56, 0, 1, "does not end where"}, /* no locator: the saturated fields are taken at their word */
        {END, 8, 0x00030003, 4, "contradicts"},
        {END, 12, 7, 4, "contradicts"},
        {END, 16, 7, 4, "contradicts"},
        {ENTRY, 46 + 5, 2, 2, "extra field"},               /* the zip64 field has another id */
        {ENTRY, 46 + 5 + 2, 23, 2, "extra field"},          /* too short for three numbers */
        {ENTRY, 46 + 5 + 2, 25, 2, "extra field"},          /* longer than the extra area */
        {ENTRY, 46 + 5 + 4, UINT64_MAX, 8, "cannot hold"},  /* unpacked */
        {ENTRY, 46 + 5 + 12, UINT64_MAX, 8, "cannot hold"}, /* packed */
        {ENTRY, 46 + 5 + 20, UINT64_MAX, 8, "cannot hold"}, /* offset */
        {LOCAL, 30 + 5 + 4, 1, 8, "its own header"},
        {LOCAL, 30 + 5, 9, 2, "its own header"},
    };
    check_wrong(cases, RUNG_COUNT(cases), true, false);
}

static void test_damaged_streams_are_refused(void **state)
{
    (void)state;
    static const wrong cases[] = {
        {DATA, 0, 0xff, 1, "inflate"}, /* block type 3 does not exist */
        {DATA, 0, 0, 1, "inflate"},
    };
    check_wrong(cases, RUNG_COUNT(cases), false, true);
}

/* A foreign field is skipped; a second zip64 field, which another reader might prefer, and bytes that are no field are
 * refused. */
static void test_extra_fields_are_unambiguous(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        bool ok;
    } cases[] = {
        {"\x75\x70\2\0xy", 6, true}, {"\x75\x70\0\0", 4, true},    {"\1\0\0\0", 4, false}, {"\0", 1, false},
        {"\0\0\0", 3, false},        {"\x75\x70\3\0xy", 6, false},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        sample s;
        archive a;
        sample_init(&s);
        s.entries[1].zip64 = true;
        s.entries[1].extra = cases[i].bytes;
        s.entries[1].extra_len = cases[i].len;
        build(&a, s.entries, 2, false);
        if (cases[i].ok) {
            rung_npz *file = opened(&a, 0);
            check_counting(rung_npz_get(file, "b"), 100);
            rung_npz_close(file);
            rung_buf_clear(&a.buf);
        } else {
            refused(&a, "extra field");
        }
        sample_clear(&s);
    }
}

/* A count of 2^40 entries is refused for what the directory has, not for the memory that they would take. */
static void test_stated_count_is_checked_before_use(void **state)
{
    (void)state;
    sample s;
    archive a;
    sample_init(&s);
    build(&a, s.entries, 2, true);
    poke(&a, a.end64 + 24, UINT64_C(1) << 40, 8);
    poke(&a, a.end64 + 32, UINT64_C(1) << 40, 8);
    refused(&a, "fewer entries");
    sample_clear(&s);
}

static void test_bytes_after_a_stream_are_refused(void **state)
{
    (void)state;
    sample s;
    archive a;
    sample_init(&s);
    s.entries[1].junk = 3;
    build(&a, s.entries, 2, false);
    refused(&a, "inflate");
    sample_clear(&s);
}

/* The stated size is neither exceeded nor fallen short of, whatever the stream holds. */
static void test_streams_of_another_length_are_refused(void **state)
{
    (void)state;
    for (int step = -2; step <= 2; step++) {
        if (step == 0) continue;
        sample s;
        archive a;
        sample_init(&s);
        build(&a, s.entries, 2, false);
        poke(&a, a.local[1] + 22, s.entries[1].len + (size_t)(ptrdiff_t)step, 4);
        poke(&a, a.entry[1] + 24, s.entries[1].len + (size_t)(ptrdiff_t)step, 4);
        refused(&a, "inflate");
        build(&a, s.entries, 2, false);
        if (step < 0) { /* fewer packed bytes; more would reach into the directory */
            poke(&a, a.local[1] + 18, a.packed[1] + (size_t)(ptrdiff_t)step, 4);
            poke(&a, a.entry[1] + 20, a.packed[1] + (size_t)(ptrdiff_t)step, 4);
            refused(&a, "inflate");
        } else {
            poke(&a, a.local[1] + 18, a.packed[1] + (size_t)step, 4);
            poke(&a, a.entry[1] + 20, a.packed[1] + (size_t)step, 4);
            refused(&a, "behind the directory");
        }
        sample_clear(&s);
    }
}

static void test_bombs_are_refused(void **state)
{
    (void)state;
    archive a;
    rung_buf zeros;
    rung_npz *file = NULL;
    rung_error err = {{0}};
    make_array(&zeros, 1 << 17);
    memset(zeros.text + 128, 0, zeros.len - 128);
    entry bomb = {.name = "bomb.npy", .content = zeros.text, .len = zeros.len, .deflate = true};
    build(&a, &bomb, 1, false);
    assert_true(a.buf.len < 3000);
    assert_int_equal(rung_npz_open_bytes(&file, a.buf.text, a.buf.len, "t.npz", zeros.len - 1, &err), RUNG_INPUT);
    assert_message(err, "t.npz", "'bomb.npy'", "limit");
    file = opened(&a, zeros.len);
    rung_npz_close(file);
    /* 1 GiB stated by a member of 1 kB is more than deflate can pack; nothing may be allocated for it. */
    poke(&a, a.local[0] + 22, 1 << 30, 4);
    poke(&a, a.entry[0] + 24, 1 << 30, 4);
    refused(&a, "cannot hold");
    rung_buf_clear(&zeros);
}

/* A member whose content is another member's header and data: two readings of the same bytes. */
static void test_overlapping_members_are_refused(void **state)
{
    (void)state;
    sample s;
    archive inner, outer;
    sample_init(&s);
    build(&inner, s.entries, 1, false);
    entry entries[2] = {{.name = "x.npy", .content = inner.buf.text, .len = inner.data[0] + inner.packed[0]},
                        s.entries[0]};
    build(&outer, entries, 2, false);
    poke(&outer, outer.entry[1] + 42, outer.data[0], 4);
    refused(&outer, "overlaps");
    build(&outer, (entry[]){s.entries[0], s.entries[0]}, 2, false);
    poke(&outer, outer.entry[1] + 42, outer.local[0], 4);
    refused(&outer, "overlaps");
    rung_buf_clear(&inner.buf);
    sample_clear(&s);
}

static void test_members_must_be_arrays_of_different_names(void **state)
{
    (void)state;
    sample s;
    archive a;
    sample_init(&s);
    build(&a, (entry[]){s.entries[0], s.entries[0]}, 2, false);
    refused(&a, "two arrays are named 'a'");
    s.entries[0].name = "data.pkl";
    build(&a, s.entries, 1, false);
    refused(&a, "'data.pkl' is not an .npy array");
    s.entries[0].name = "py";
    build(&a, s.entries, 1, false);
    refused(&a, "not an .npy array");
    s.entries[0].name = "a.npy";
    s.entries[0].len -= 1;
    build(&a, s.entries, 1, false);
    refused(&a, "array 'a' needs 80 bytes of data and has 79");
    s.entries[0].content = "not an array";
    s.entries[0].len = 12;
    build(&a, s.entries, 1, false);
    refused(&a, "array 'a' is not an npy file");
    sample_clear(&s);
}

static void test_every_truncation_is_refused(void **state)
{
    (void)state;
    sample s;
    archive a;
    sample_init(&s);
    build(&a, s.entries, 2, true);
    for (size_t len = 0; len < a.buf.len; len++) {
        uint8_t *part = odd_copy(a.buf.text, len);
        rung_npz *file;
        rung_error err = {{0}};
        assert_int_equal(rung_npz_open_bytes(&file, part, len, "t.npz", 0, &err), RUNG_INPUT);
        assert_message(err, "t.npz: ");
        free_odd(part);
    }
    rung_buf_clear(&a.buf);
    sample_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stored_deflated_zip64_and_streamed_members),
        cmocka_unit_test(test_comment_and_empty_archive_are_legal),
        cmocka_unit_test(test_archives_that_numpy_wrote),
        cmocka_unit_test(test_append_makes_the_bytes_of_numpy),
        cmocka_unit_test(test_contradictions_and_unreadable_kinds_are_refused),
        cmocka_unit_test(test_zip64_contradictions_are_refused),
        cmocka_unit_test(test_damaged_streams_are_refused),
        cmocka_unit_test(test_extra_fields_are_unambiguous),
        cmocka_unit_test(test_stated_count_is_checked_before_use),
        cmocka_unit_test(test_bytes_after_a_stream_are_refused),
        cmocka_unit_test(test_streams_of_another_length_are_refused),
        cmocka_unit_test(test_bombs_are_refused),
        cmocka_unit_test(test_overlapping_members_are_refused),
        cmocka_unit_test(test_members_must_be_arrays_of_different_names),
        cmocka_unit_test(test_every_truncation_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
