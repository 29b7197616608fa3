/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * par: work over independent outputs. Results never depend on the number of threads, because no two items
 * write the same memory and every item does the same operations in the same order wherever it runs. Also what
 * several processes need to work together; who carries their messages is a matter of the tool. Layer 1.
 */
#ifndef RUNG_PAR_H
#define RUNG_PAR_H

#include "rung/base.h"

RUNG_API_BEGIN

typedef void rung_par_body(void *context, size_t item, size_t worker);

/* Calls body for every item in [0, count) on up to `threads` threads (0: rung_cpu_threads()). `worker` is in [0,
 * threads). Returns when all items are done. If no threads can be started, the calling thread does all the work. */
void rung_par_for(size_t count, size_t threads, rung_par_body *body, void *context);

/* One thread at a time between lock and unlock; the others sleep. A struct that holds one is not copied. */
typedef struct rung_mutex {
    union {
        long long alignment;
        char bytes[64]; /* of the system's mutex, whose header need not be included here */
    } inner;
} rung_mutex;

void rung_mutex_init(rung_mutex *mutex);
void rung_mutex_clear(rung_mutex *mutex);
void rung_mutex_lock(rung_mutex *mutex);
void rung_mutex_unlock(rung_mutex *mutex);

/* ---- several processes -------------------------------------------------------------------------------------- */

/* Bytes that rank `from` sends to rank `to`. Rank `from` reads them at its address, rank `to` writes them at its
 * own. */
typedef struct rung_parcel {
    void *bytes;
    size_t size, from, to;
} rung_parcel;

/* Processes that run the same program, numbered from 0. Only one thread at a time may call these functions. If a rank
 * is lost the team cannot continue, and these functions end the process. */
typedef struct rung_team {
    size_t rank, size;
    void *context;
    /* All ranks call it with the same list; only the addresses differ. */
    void (*exchange)(void *context, const rung_parcel *parcel, size_t parcels);
    /* Sends a message. Messages between the same two ranks arrive in order. */
    void (*send)(void *context, size_t to, const void *bytes, size_t size);
    /* Takes a message of `size` bytes that has arrived, and returns true. Returns false if there is none. Never
     * waits. */
    bool (*receive)(void *context, size_t *from, void *bytes, size_t size);
} rung_team;

/* The number of items before the part of `rank`, if `count` items are divided among the ranks in order, as evenly as
 * possible. */
size_t rung_team_first(const rung_team *team, size_t rank, size_t count);

RUNG_API_END

#endif
