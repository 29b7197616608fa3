/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The communication of a step. The sum over slices always runs in the order of the slices, so that any number of
 * processes gets the bits of one. Ranks own slices in order, so the sum walks along the ranks: a rank gets the sum of
 * all slices before its own, adds its own, and passes it on; the last rank has the whole sum, which walks back. The
 * gradient goes in chunks, and all ranks are at work on different chunks at a time. With P parameters a rank sends at
 * most 2 P numbers. There is no arithmetic here.
 */
#include "share.h"

#include <string.h>

/* Largest number of parcels of one exchange: for every slice and every rank at most two. */
enum { PARCELS = RUNG_SLICES * RUNG_SLICES * 2 };

/* Parameters of a gradient that are passed on at a time: few enough that the others need not wait long for the first
 * ones, so many that a message costs little beside its bytes. */
enum { CHUNK = 1 << 16 };

typedef struct post {
    const rung_team *team;
    rung_parcel parcel[PARCELS];
    size_t count;
} post;

static void put(post *p, void *bytes, size_t size, size_t from, size_t to)
{
    if (from != to && size) p->parcel[p->count++] = (rung_parcel){bytes, size, from, to};
}

static void put_to_all(post *p, void *bytes, size_t size, size_t from)
{
    for (size_t to = 0; to < p->team->size; to++) put(p, bytes, size, from, to);
}

static void deliver(const post *p)
{
    p->team->exchange(p->team->context, p->parcel, p->count);
}

static train_range range_of(const rung_team *team, size_t rank, size_t count)
{
    return (train_range){rung_team_first(team, rank, count), rung_team_first(team, rank + 1, count)};
}

train_range train_share(const rung_team *team, size_t count)
{
    return team ? range_of(team, team->rank, count) : (train_range){0, count};
}

void train_share_parts(const rung_team *team, train_part *part)
{
    post p = {.team = team};
    if (!team) return;
    for (size_t from = 0; from < team->size; from++) {
        train_range slices = range_of(team, from, RUNG_SLICES);
        for (size_t i = slices.first; i < slices.end; i++) {
            put_to_all(&p, &part[i].sum, sizeof part[i].sum, from);
            if (part[i].layers) put_to_all(&p, part[i].layer, part[i].layers * sizeof *part[i].layer, from);
        }
    }
    deliver(&p);
}

static train_range chunk_of(size_t index, size_t parameters)
{
    size_t first = index * CHUNK;
    return (train_range){first, parameters - first < CHUNK ? parameters : first + CHUNK};
}

static void put_chunk(post *p, float *grad, size_t parameters, size_t index, size_t from, size_t to)
{
    train_range chunk = chunk_of(index, parameters);
    put(p, grad + chunk.first, (chunk.end - chunk.first) * sizeof *grad, from, to);
}

/* In round t rank r adds to chunk t - r, and passes it up. The last rank finishes a chunk in the round in which it adds
 * to it; every rank passes a finished chunk down one round after it has received it. */
void train_share_gradient(const rung_team *team, float *grad, size_t parameters, train_add_slices *add, void *context)
{
    if (!team) {
        add(context, (train_range){0, parameters});
        return;
    }
    size_t chunks = (parameters + CHUNK - 1) / CHUNK, last = team->size - 1;
    for (size_t round = 0; round < chunks + 2 * last - 1; round++) {
        post p = {.team = team};
        if (round >= team->rank && round - team->rank < chunks) add(context, chunk_of(round - team->rank, parameters));
        for (size_t r = 0; r < last; r++)
            if (round >= r && round - r < chunks) put_chunk(&p, grad, parameters, round - r, r, r + 1);
        for (size_t r = last; r > 0; r--) {
            size_t late = 2 * last - r;
            if (round >= late && round - late < chunks) put_chunk(&p, grad, parameters, round - late, r, r - 1);
        }
        deliver(&p);
    }
}

/* Item r of an array belongs to rank r; afterwards all ranks have all items. */
static void gather(const rung_team *team, void *items, size_t size)
{
    post p = {.team = team};
    for (size_t from = 0; from < team->size; from++) put_to_all(&p, (char *)items + from * size, size, from);
    deliver(&p);
}

bool train_share_agrees(const rung_team *team, bool yes)
{
    bool said[RUNG_SLICES] = {false};
    if (!team) return yes;
    said[team->rank] = yes;
    gather(team, said, sizeof *said);
    for (size_t i = 0; i < team->size; i++) yes = yes && said[i];
    return yes;
}

rung_status train_share_status(const rung_team *team, rung_status status, rung_error *err)
{
    rung_status all[RUNG_SLICES] = {RUNG_OK};
    if (!team) return status;
    all[team->rank] = status;
    gather(team, all, sizeof *all);
    for (size_t i = 0; status == RUNG_OK && i < team->size; i++)
        if (all[i] != RUNG_OK) status = rung_fail(err, all[i], "rank %zu has failed", i);
    return status;
}

void train_share_first(const rung_team *team, void *bytes, size_t size)
{
    post p = {.team = team};
    if (!team) return;
    put_to_all(&p, bytes, size, 0);
    deliver(&p);
}

rung_status train_share_same(const rung_team *team, const char *what, const void *bytes, size_t size, rung_error *err)
{
    char hash[RUNG_SLICES][65];
    if (!team) return RUNG_OK;
    rung_sha256_hex(hash[team->rank], bytes, size);
    gather(team, hash, sizeof *hash);
    for (size_t i = 1; i < team->size; i++)
        if (strcmp(hash[0], hash[i]) != 0)
            return rung_fail(
                err, RUNG_USAGE,
                "ranks 0 and %zu do not have the same %s; all must run the same program on machines of one kind", i,
                what);
    return RUNG_OK;
}
