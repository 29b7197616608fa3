/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * arena and sizes: overflow, overlap, alignment, dirty memory, exhaustion.
 */
#include "rung/base.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Exhaustion is part of these tests: the sanitizer must say no as the system does. */
__attribute__((visibility("default"))) const char *__asan_default_options(void); /* the sanitizer looks for it */
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static const size_t corners[] = {0,
                                 1,
                                 2,
                                 3,
                                 63,
                                 64,
                                 65,
                                 UINT32_MAX,
                                 (size_t)UINT32_MAX + 1,
                                 SIZE_MAX / 3,
                                 SIZE_MAX / 2,
                                 SIZE_MAX / 2 + 1,
                                 SIZE_MAX - 64,
                                 SIZE_MAX - 1,
                                 SIZE_MAX};

static void check_sizes(size_t a, size_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b, sum = (unsigned __int128)a + b;
    size_t out = 12345;
    assert_int_equal(rung_size_mul(&out, a, b), product <= SIZE_MAX);
    assert_true(out == (product <= SIZE_MAX ? (size_t)product : 12345));
    out = 12345;
    assert_int_equal(rung_size_add(&out, a, b), sum <= SIZE_MAX);
    assert_true(out == (sum <= SIZE_MAX ? (size_t)sum : 12345));
}

static void sizes_agree_with_128_bit_arithmetic(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(corners); i++)
        for (size_t j = 0; j < RUNG_COUNT(corners); j++) check_sizes(corners[i], corners[j]);
    rung_rng rng;
    rung_rng_init(&rng, 1, 0, 0);
    for (int i = 0; i < 100000; i++)
        check_sizes(rung_rng_u64(&rng) >> rung_rng_below(&rng, 64), rung_rng_u64(&rng) >> rung_rng_below(&rng, 64));
}

static void heap_refuses_overflow_and_exhaustion_with_a_message(void **state)
{
    (void)state;
    rung_error err = {""};
    assert_null(rung_calloc(SIZE_MAX / 2, 3, &err));
    assert_non_null(strstr(err.text, "3 bytes"));
    err.text[0] = '\0';
    assert_null(rung_calloc(SIZE_MAX / 4, 1, &err));
    assert_non_null(strstr(err.text, "out of memory"));
    assert_null(rung_calloc(SIZE_MAX, 2, NULL));
    char *nothing = rung_calloc(0, 8, &err), *some = rung_calloc(3, 5, &err);
    assert_non_null(nothing);
    for (int i = 0; i < 15; i++) assert_int_equal(some[i], 0);
    free(nothing);
    free(some);
}

enum { ITEMS = 3000 };

static size_t random_size(rung_rng *rng)
{
    switch (rung_rng_below(rng, 8)) {
    case 0:
        return 0;
    case 1:
        return rung_rng_below(rng, 100000);
    case 2:
        return 64 * rung_rng_below(rng, 20);
    case 3:
        return 16384 - 70 + rung_rng_below(rng, 140); /* around the limit of a block of its own */
    default:
        return rung_rng_below(rng, 300);
    }
}

/* Every item is filled with its own pattern and read back at the end: overlap would show. */
static void items_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    static unsigned char *items[ITEMS];
    static size_t sizes[ITEMS];
    rung_arena arena;
    rung_rng rng;
    size_t total = 0;
    rung_arena_init(&arena);
    rung_rng_init(&rng, 2, 0, 0);
    for (size_t i = 0; i < ITEMS; i++) {
        sizes[i] = random_size(&rng);
        items[i] = rung_arena_alloc(&arena, sizes[i], 1, NULL);
        assert_non_null(items[i]);
        assert_int_equal((uintptr_t)items[i] % 64, 0);
        for (size_t j = 0; j < sizes[i]; j++) assert_int_equal(items[i][j], 0);
        memset(items[i], (int)(i * 37 % 255) + 1, sizes[i]);
        total += sizes[i];
    }
    for (size_t i = 0; i < ITEMS; i++) {
        assert_true(i == 0 || items[i] != items[i - 1]);
        for (size_t j = 0; j < sizes[i]; j++) assert_int_equal(items[i][j], i * 37 % 255 + 1);
    }
    assert_int_equal(arena.bytes, total);
    rung_arena_clear(&arena);
    assert_int_equal(arena.bytes, 0);
    assert_null(arena.head);
}

static void arena_refuses_overflow_and_exhaustion_and_stays_usable(void **state)
{
    (void)state;
    rung_arena arena;
    rung_error err = {""};
    rung_arena_init(&arena);
    assert_null(rung_arena_alloc(&arena, SIZE_MAX / 8 + 1, 8, &err));
    assert_non_null(strstr(err.text, "8 bytes"));
    for (size_t less = 0; less < 300; less += 7) assert_null(rung_arena_alloc(&arena, SIZE_MAX - less, 1, &err));
    assert_null(rung_arena_alloc(&arena, SIZE_MAX / 4, 1, &err));
    assert_non_null(strstr(err.text, "out of memory"));
    assert_int_equal(arena.bytes, 0);
    assert_string_equal(rung_arena_strdup(&arena, "still here", &err), "still here");
    rung_arena_clear(&arena);
}

/* Sizes around one huge page and several, filled and read back, in an arena that holds small items too. */
static void large_items_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    enum { MIB = 1024 * 1024, LARGE = 40 };
    static const size_t base[] = {2 * MIB - 200, 2 * MIB - 64, 2 * MIB, 2 * MIB + 1, 4 * MIB + 4097};
    unsigned char *items[LARGE];
    rung_arena arena;
    rung_arena_init(&arena);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < LARGE; i++) {
            size_t size = base[i % RUNG_COUNT(base)];
            assert_string_equal(rung_arena_strdup(&arena, "between", NULL), "between");
            items[i] = rung_arena_alloc(&arena, size, 1, NULL);
            assert_non_null(items[i]);
            assert_int_equal((uintptr_t)items[i] % 64, 0);
            for (size_t j = 0; j < size; j++)
                if (items[i][j]) fail_msg("item %zu has %d at %zu", i, items[i][j], j);
            memset(items[i], (int)i + 1, size);
        }
        for (size_t i = 0; i < LARGE; i++)
            for (size_t j = 0; j < base[i % RUNG_COUNT(base)]; j++)
                if (items[i][j] != i + 1) fail_msg("item %zu was overwritten at %zu", i, j);
        rung_arena_clear(&arena);
        assert_int_equal(arena.mapped, 0);
    }
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
/* Pages of this process that are in memory, in bytes. */
static size_t resident(void)
{
    unsigned long total, pages;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu", &total, &pages), 2);
    fclose(f);
    return pages * 4096;
}

/* Whether the mapping that holds the address has been advised to have huge pages: the flag "hg". */
static bool is_advised(const void *address)
{
    char line[512];
    bool inside = false, advised = false;
    FILE *f = fopen("/proc/self/smaps", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        uintptr_t from, to;
        if (sscanf(line, "%zx-%zx ", &from, &to) == 2) inside = from <= (uintptr_t)address && (uintptr_t)address < to;
        if (inside && strncmp(line, "VmFlags:", 8) == 0) advised = strstr(line, " hg") != NULL;
    }
    fclose(f);
    return advised;
}

/* An untouched item takes no memory, a touched byte takes at most one huge page, and all of it is given back. */
static void large_items_take_memory_where_they_are_touched(void **state)
{
    (void)state;
    enum { MIB = 1024 * 1024, LARGE = 256 * MIB };
    rung_arena arena;
    rung_arena_init(&arena);
    size_t before = resident();
    char *item = rung_arena_alloc(&arena, LARGE, 1, NULL);
    assert_non_null(item);
    assert_true(resident() - before < MIB);
    item[LARGE / 2] = 1;
    assert_true(resident() - before < 4 * MIB);
    item[LARGE - 1] = 1; /* behind the last whole huge page */
    assert_true(resident() - before < 7 * MIB);
    memset(item, 1, LARGE);
    assert_true(resident() - before >= LARGE && resident() - before < LARGE + 4 * MIB);
    rung_arena_clear(&arena);
    assert_true(resident() < before + MIB);
}

static void large_items_ask_for_huge_pages(void **state)
{
    (void)state;
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (!f) skip(); /* a system without them, where the advice fails and the tests above pass all the same */
    fclose(f);
    rung_arena arena;
    rung_arena_init(&arena);
    const char *large = rung_arena_alloc(&arena, (size_t)4 * 1024 * 1024, 1, NULL);
    const char *small = rung_arena_alloc(&arena, 1000, 1, NULL);
    assert_true(is_advised(large));
    assert_false(is_advised(small));
    rung_arena_clear(&arena);
}
#endif

#ifdef __SANITIZE_ADDRESS__
int __asan_address_is_poisoned(const volatile void *);

static void sanitizer_sees_an_overrun_inside_an_arena(void **state)
{
    (void)state;
    rung_arena arena;
    rung_arena_init(&arena);
    for (size_t size = 0; size < 200; size++) {
        char *item = rung_arena_alloc(&arena, size, 1, NULL);
        if (size > 0) assert_false(__asan_address_is_poisoned(item + size - 1));
        assert_true(__asan_address_is_poisoned(item + size));
    }
    rung_arena_clear(&arena);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_agree_with_128_bit_arithmetic),
        cmocka_unit_test(heap_refuses_overflow_and_exhaustion_with_a_message),
        cmocka_unit_test(items_are_zeroed_aligned_and_apart),
        cmocka_unit_test(large_items_are_zeroed_aligned_and_apart),
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(large_items_take_memory_where_they_are_touched),
        cmocka_unit_test(large_items_ask_for_huge_pages),
#endif
        cmocka_unit_test(arena_refuses_overflow_and_exhaustion_and_stays_usable),
#ifdef __SANITIZE_ADDRESS__
        cmocka_unit_test(sanitizer_sees_an_overrun_inside_an_arena),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
