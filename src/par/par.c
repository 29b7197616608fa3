/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * par: fork and join with POSIX threads. Workers take items one by one from a counter, so that uneven items are
 * balanced. Which worker gets an item is a race; the result of the item does not depend on it.
 */
#include "rung/par.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS_MAX 256

typedef struct shared_work {
    rung_par_body *body;
    void *context;
    size_t count;
    atomic_size_t next;
} shared_work;

typedef struct worker {
    pthread_t thread;
    shared_work *work;
    size_t index;
} worker;

/* Items carry no data from one thread to another; the joins order everything else. The counter passes `count` at most
 * once per worker, so it cannot wrap around unless `count` is within 256 of SIZE_MAX. */
static void work_until_done(const worker *self)
{
    shared_work *work = self->work;
    for (;;) {
        size_t item = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);
        if (item >= work->count) return;
        work->body(work->context, item, self->index);
    }
}

/* As the first thread has on Linux. Elsewhere other threads get less: 128 KB with musl, 512 KB on macOS. */
#define STACK_BYTES ((size_t)8 << 20)

static void *thread_main(void *self)
{
    work_until_done(self);
    return NULL;
}

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

void rung_par_for(size_t count, size_t threads, rung_par_body *body, void *context)
{
    assert(body || count == 0);
    worker workers[THREADS_MAX];
    shared_work work = {.body = body, .context = context, .count = count};
    threads = min(min(threads ? threads : rung_cpu_threads(), count), THREADS_MAX);
    pthread_attr_t attributes;
    const bool room = threads > 1 && pthread_attr_init(&attributes) == 0;
    if (room) (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* The caller is worker 0. If a thread cannot be started, the others do its items. */
    size_t started = 1;
    for (; started < threads; started++) {
        workers[started] = (worker){.work = &work, .index = started};
        if (pthread_create(&workers[started].thread, room ? &attributes : NULL, thread_main, &workers[started]) != 0)
            break;
    }
    if (room) pthread_attr_destroy(&attributes);
    work_until_done(&(worker){.work = &work, .index = 0});
    for (size_t i = 1; i < started; i++) pthread_join(workers[i].thread, NULL);
}
