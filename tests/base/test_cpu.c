/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * cpu: against what the kernel says in /proc/cpuinfo, and every value of the two environment variables.
 */
#include "rung/base.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The flags of the first processor, with a blank before and after each. */
static void read_flags(char *flags, size_t size)
{
    FILE *info = fopen("/proc/cpuinfo", "r");
    char line[8192];
    flags[0] = '\0';
    while (info && fgets(line, sizeof line, info))
        if (strncmp(line, "flags", 5) == 0) {
            line[strcspn(line, "\n")] = ' ';
            snprintf(flags, size, "%s", strchr(line, ':') + 1);
            break;
        }
    if (info) fclose(info);
}

static bool has_all(const char *flags, const char *const *names)
{
    for (; *names; names++) {
        char padded[32];
        snprintf(padded, sizeof padded, " %s ", *names);
        if (!strstr(flags, padded)) return false;
    }
    return true;
}

static rung_isa isa_by_kernel(void)
{
#if defined(__aarch64__)
    return RUNG_ISA_NEON; /* part of the architecture */
#elif !defined(__x86_64__)
    return RUNG_ISA_REF; /* also in an emulator, which shows the flags of the machine below it */
#endif
    static const char *const avx2[] = {"avx2", "fma", NULL};
    static const char *const avx512[] = {"avx2", "fma", "avx512f", "avx512dq", "avx512vl", "avx512bw", NULL};
    char flags[8192];
    read_flags(flags, sizeof flags);
    return has_all(flags, avx512) ? RUNG_ISA_AVX512 : has_all(flags, avx2) ? RUNG_ISA_AVX2 : RUNG_ISA_REF;
}

static void detection_agrees_with_the_kernel(void **state)
{
    (void)state;
    unsetenv("RUNG_ISA");
    rung_cpu_forget();
    assert_int_equal(rung_cpu_isa(), isa_by_kernel());
}

static bool bf16_by_kernel(void)
{
    static const char *const bf16[] = {"avx512_bf16", NULL};
    char flags[8192];
    read_flags(flags, sizeof flags);
    return isa_by_kernel() == RUNG_ISA_AVX512 && has_all(flags, bf16);
}

static void bf16_is_there_as_the_kernel_says_unless_it_is_masked(void **state)
{
    (void)state;
    static const struct {
        const char *allowed;
        bool masked;
    } cases[] = {{NULL, false},    {"avx512_bf16", false}, {"nonsense", false},
                 {"avx512", true}, {"avx2", true},         {"ref", true}};
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        unsetenv("RUNG_ISA");
        if (cases[i].allowed) setenv("RUNG_ISA", cases[i].allowed, 1);
        rung_cpu_forget();
        assert_int_equal(rung_cpu_bf16(), bf16_by_kernel() && !cases[i].masked);
    }
}

static void environment_lowers_and_never_raises(void **state)
{
    (void)state;
#if defined(__aarch64__)
    static const char *const names[] = {"ref", "neon"};
    const int sets = 2;
#else
    static const char *const names[] = {"ref", "avx2", "avx512", "avx512_bf16"};
    const int sets = 3;
#endif
    rung_isa best = isa_by_kernel();
    assert_null(rung_isa_name((rung_isa)sets));
    for (int i = 0; i < (int)RUNG_COUNT(names); i++) {
        if (i < sets) assert_string_equal(rung_isa_name((rung_isa)i), names[i]);
        setenv("RUNG_ISA", names[i], 1);
        rung_cpu_forget();
        assert_int_equal(rung_cpu_isa(), (int)best < i ? (int)best : i);
    }
}

static void nonsense_in_the_environment_changes_nothing(void **state)
{
    (void)state;
    static const char *const nonsense[] = {"", "sse", "AVX2", "avx2 ", "avx5120", "re"};
    for (size_t i = 0; i < RUNG_COUNT(nonsense); i++) {
        setenv("RUNG_ISA", nonsense[i], 1);
        rung_cpu_forget();
        assert_int_equal(rung_cpu_isa(), isa_by_kernel());
    }
    unsetenv("RUNG_ISA");
    rung_cpu_forget();
}

static void thread_count_is_the_machine_or_the_environment(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t threads; /* 0: the machine */
    } cases[] = {{"1", 1}, {"7", 7},  {"256", 256}, {"257", 0}, {"0", 0},
                 {"", 0},  {"-3", 0}, {"2x", 0},    {" 2", 0},  {"99999999999999999999", 0}};
    size_t machine = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    unsetenv("RUNG_THREADS");
    assert_int_equal(rung_cpu_threads(), machine < 256 ? machine : 256);
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        setenv("RUNG_THREADS", cases[i].text, 1);
        assert_int_equal(rung_cpu_threads(), cases[i].threads ? cases[i].threads : machine < 256 ? machine : 256);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detection_agrees_with_the_kernel),
        cmocka_unit_test(bf16_is_there_as_the_kernel_says_unless_it_is_masked),
        cmocka_unit_test(environment_lowers_and_never_raises),
        cmocka_unit_test(nonsense_in_the_environment_changes_nothing),
        cmocka_unit_test(thread_count_is_the_machine_or_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
