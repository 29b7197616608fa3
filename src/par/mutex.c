/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * par: a mutex of POSIX threads. The calls fail only if the mutex is no mutex or a thread locks it twice: then the program
 * is broken.
 */
#include "rung/par.h"

#include <assert.h>
#include <pthread.h>

static_assert(sizeof(pthread_mutex_t) <= sizeof(rung_mutex), "rung_mutex holds the mutex of this system");
static_assert(_Alignof(pthread_mutex_t) <= _Alignof(rung_mutex), "rung_mutex is aligned for it");

static pthread_mutex_t *inner(rung_mutex *mutex)
{
    return (pthread_mutex_t *)(void *)mutex->inner.bytes;
}

static void must(int failure)
{
    assert(failure == 0);
    (void)failure;
}

void rung_mutex_init(rung_mutex *mutex)
{
    must(pthread_mutex_init(inner(mutex), NULL));
}

void rung_mutex_clear(rung_mutex *mutex)
{
    must(pthread_mutex_destroy(inner(mutex)));
}

void rung_mutex_lock(rung_mutex *mutex)
{
    must(pthread_mutex_lock(inner(mutex)));
}

void rung_mutex_unlock(rung_mutex *mutex)
{
    must(pthread_mutex_unlock(inner(mutex)));
}
