/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * par: every item once, workers apart, and the work done even when threads cannot be had.
 */
#define _GNU_SOURCE
#include "rung/par.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* Stands before the one of libc: lets `allowed_threads` more threads start and refuses the rest. */
static int allowed_threads = 1000000;
static atomic_int started_threads, joined_threads;

typedef int join_function(pthread_t, void **);

int pthread_join(pthread_t thread, void **result)
{
    join_function *real;
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_join");
    atomic_fetch_add(&joined_threads, 1);
    return real(thread, result);
}

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr, void *(*start)(void *),
                   void *restrict arg)
{
    if (started_threads >= allowed_threads) return EAGAIN;
    started_threads++;
    create_function *real;
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attr, start, arg);
}

enum { ITEMS_MAX = 20000, WORKERS_MAX = 256 };

typedef struct tally {
    atomic_int items[ITEMS_MAX], busy[WORKERS_MAX];
    atomic_size_t highest_worker, wrong;
    uint64_t results[ITEMS_MAX];
} tally;

static void count_item(void *context, size_t item, size_t worker)
{
    tally *all = context;
    if (worker >= WORKERS_MAX || atomic_fetch_add(&all->busy[worker], 1) != 0) atomic_fetch_add(&all->wrong, 1);
    atomic_fetch_add(&all->items[item], 1);
    size_t highest = atomic_load(&all->highest_worker);
    while (highest < worker && !atomic_compare_exchange_weak(&all->highest_worker, &highest, worker)) continue;
    rung_rng rng;
    rung_rng_init(&rng, 1, 0, item);
    for (size_t i = 0; i <= item % 50; i++) all->results[item] ^= rung_rng_u64(&rng);
    atomic_fetch_sub(&all->busy[worker], 1);
}

static tally *run(size_t count, size_t threads)
{
    tally *all = calloc(1, sizeof *all);
    started_threads = joined_threads = 0;
    rung_par_for(count, threads, count_item, all);
    assert_int_equal(joined_threads, started_threads);
    for (size_t i = 0; i < ITEMS_MAX; i++) assert_int_equal(atomic_load(&all->items[i]), i < count ? 1 : 0);
    assert_int_equal(atomic_load(&all->wrong), 0);
    return all;
}

static const size_t thread_counts[] = {0, 1, 2, 3, 8, 256, 1000};

static void every_item_runs_once_and_results_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 7, 1000, ITEMS_MAX};
    for (size_t c = 0; c < RUNG_COUNT(counts); c++) {
        tally *alone = run(counts[c], 1);
        assert_int_equal(started_threads, 0);
        for (size_t t = 0; t < RUNG_COUNT(thread_counts); t++) {
            tally *together = run(counts[c], thread_counts[t]);
            assert_memory_equal(together->results, alone->results, sizeof alone->results);
            size_t limit = thread_counts[t] ? thread_counts[t] : rung_cpu_threads();
            assert_true(atomic_load(&together->highest_worker) < limit);
            free(together);
        }
        free(alone);
    }
}

static void no_more_threads_than_items_or_asked_for(void **state)
{
    (void)state;
    static const struct {
        size_t items, threads;
        int started; /* beside the caller */
    } cases[] = {{5, 8, 4}, {8, 5, 4}, {1, 8, 0}, {0, 8, 0}, {5000, 1000, 255}};
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        free(run(cases[i].items, cases[i].threads));
        assert_int_equal(started_threads, cases[i].started);
    }
    setenv("RUNG_THREADS", "3", 1);
    free(run(100, 0));
    assert_int_equal(started_threads, 2);
    unsetenv("RUNG_THREADS");
}

static void missing_threads_leave_no_item_undone(void **state)
{
    (void)state;
    for (allowed_threads = 0; allowed_threads < 4; allowed_threads++) {
        tally *all = run(1000, 8);
        assert_int_equal(started_threads, allowed_threads);
        free(all);
    }
    allowed_threads = 1000000;
}

static void wait_for_the_other(void *context, size_t item, size_t worker)
{
    (void)item;
    (void)worker;
    atomic_int *arrived = context;
    atomic_fetch_add(arrived, 1);
    for (int i = 0; i < 5000 && atomic_load(arrived) < 2; i++) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Each of two items waits until the other has begun: one after the other they would run into the time limit.
 */
static void items_really_run_at_the_same_time(void **state)
{
    (void)state;
    atomic_int arrived = 0;
    double start_s = rung_wall_s();
    rung_par_for(2, 2, wait_for_the_other, &arrived);
    assert_int_equal(atomic_load(&arrived), 2);
    assert_true(rung_wall_s() - start_s < 4);
}

static void run_inner(void *context, size_t item, size_t worker)
{
    (void)item;
    (void)worker;
    tally *all = calloc(1, sizeof *all);
    rung_par_for(20, 2, count_item, all);
    for (size_t i = 0; i < 20; i++)
        if (atomic_load(&all->items[i]) == 1) atomic_fetch_add((atomic_int *)context, 1);
    free(all);
}

static void loops_may_be_nested(void **state)
{
    (void)state;
    atomic_int done = 0;
    rung_par_for(6, 3, run_inner, &done);
    assert_int_equal(atomic_load(&done), 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_runs_once_and_results_do_not_depend_on_threads),
        cmocka_unit_test(no_more_threads_than_items_or_asked_for),
        cmocka_unit_test(missing_threads_leave_no_item_undone),
        cmocka_unit_test(items_really_run_at_the_same_time),
        cmocka_unit_test(loops_may_be_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
