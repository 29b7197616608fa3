/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * cpu: which instruction set this machine has, and which one the environment allows. The answer is computed once,
 * because kernels are chosen in inner loops.
 */
#include "rung/base.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 256

/* What RUNG_ISA may be, in ascending order: the sets of rung_isa, and the last one with what rung_cpu_bf16 asks for. */
enum { WITH_BF16 = RUNG_ISA_AVX512 + 1 };
#if defined(__aarch64__)
static const char *const isa_names[] = {"ref", "neon"};
#define ISA_WORDS "ref or neon"
#else
static const char *const isa_names[] = {"ref", "avx2", "avx512", [WITH_BF16] = "avx512_bf16"};
#define ISA_WORDS "ref, avx2, avx512 or avx512_bf16"
#endif

const char *rung_isa_name(rung_isa isa)
{
    return (size_t)isa < RUNG_COUNT(isa_names) && isa != (rung_isa)WITH_BF16 ? isa_names[isa] : NULL;
}

/* Tests exactly the flags with which the Makefile compiles the kernels. libgcc also tests whether the system saves the
 * registers. */
static int detect(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return RUNG_ISA_REF;
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    if (avx512 && __builtin_cpu_supports("avx512bf16")) return WITH_BF16;
    return avx512 ? RUNG_ISA_AVX512 : RUNG_ISA_AVX2;
#elif defined(__aarch64__)
    return RUNG_ISA_NEON; /* every one has it */
#else
    return RUNG_ISA_REF;
#endif
}

rung_status rung_cpu_check(rung_error *err)
{
    const char *allowed = getenv("RUNG_ISA");
    for (size_t i = 0; allowed && i < RUNG_COUNT(isa_names); i++)
        if (strcmp(allowed, isa_names[i]) == 0) return RUNG_OK;
    if (!allowed || !*allowed) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "the environment variable RUNG_ISA is '%.40s'; it may be " ISA_WORDS, allowed);
}

static int choose(void)
{
    int best = detect();
    const char *allowed = getenv("RUNG_ISA");
    for (size_t i = 0; allowed && i < RUNG_COUNT(isa_names); i++)
        if (strcmp(allowed, isa_names[i]) == 0 && (int)i < best) best = (int)i;
    return best;
}

#define NOT_CHOSEN (-1)
static atomic_int chosen = NOT_CHOSEN; /* two threads that race store the same answer */

static int allowed_set(void)
{
    int isa = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (isa == NOT_CHOSEN) {
        isa = choose();
        atomic_store_explicit(&chosen, isa, memory_order_relaxed);
    }
    return isa;
}

rung_isa rung_cpu_isa(void)
{
    int isa = allowed_set();
    return isa == WITH_BF16 ? RUNG_ISA_AVX512 : (rung_isa)isa;
}

bool rung_cpu_bf16(void)
{
    return allowed_set() == WITH_BF16;
}

void rung_cpu_forget(void)
{
    atomic_store_explicit(&chosen, NOT_CHOSEN, memory_order_relaxed);
}

size_t rung_cpu_threads(void)
{
    const char *wanted = getenv("RUNG_THREADS");
    int64_t threads;
    if (wanted && rung_parse_int(&threads, wanted, 1, THREADS_MAX)) return (size_t)threads;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > THREADS_MAX ? THREADS_MAX : (size_t)online;
}
