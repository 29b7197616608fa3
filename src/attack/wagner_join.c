/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Joins two lists of the tree: finds all pairs whose sum vanishes as the cut says, through hashes of the vanishing
 * part. Tickets (hash and index) are divided into parts by their leading bits, so that a part fits into the cache and
 * parts are independent. The result does not depend on the number of threads.
 */
#include "wagner_list.h"

#include <stdlib.h>
#include <string.h>

#include "rung/par.h"

/* ---- lists ------------------------------------------------------------------------------------------------------- */

bool rung_wagner_list_init(wagner_list *l, size_t count, size_t width)
{
    *l = (wagner_list){.count = count, .width = width};
    l->x = rung_calloc(count ? count : 1, (width ? width : 1) * sizeof *l->x, NULL);
    return l->x != NULL;
}

void rung_wagner_list_clear(wagner_list *l)
{
    free(l->x);
    *l = (wagner_list){0};
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static int32_t key_at(const int32_t *x, bool right, size_t i)
{
    return right ? (int32_t)(0 - (uint32_t)x[i]) : x[i];
}

static int64_t key_last(const int32_t *x, bool right, const wagner_cut *cut)
{
    double y = (double)key_at(x, right, cut->exact) * cut->inverse + 0.5;
    int64_t down = (int64_t)y;
    return down - (y < (double)down);
}

uint64_t rung_wagner_key_hash(const int32_t *x, bool right, const wagner_cut *cut)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < cut->exact; i++) {
        h = (h ^ (uint32_t)key_at(x, right, i)) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    if (cut->width > 0) {
        h = (h ^ (uint64_t)key_last(x, right, cut)) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h * 0xc4ceb9fe1a85ec53u;
}

static bool keys_agree(const int32_t *u, const int32_t *v, const wagner_cut *cut)
{
    for (size_t i = 0; i < cut->exact; i++)
        if (wagner_plus(u[i], v[i]) != 0) return false;
    return !(cut->width > 0) || key_last(u, false, cut) == key_last(v, true, cut);
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

/* 40 bits of hash and 24 of index. Two different keys share a ticket once in 2^40 pairs. Then the sum is wrong, which
 * does no harm because it must vanish in the end. */
typedef uint64_t ticket;
enum { INDEX_BITS = 24 };
#define INDEX_MASK (((uint64_t)1 << INDEX_BITS) - 1)

enum { CHUNKS = 64 };

typedef struct joint {
    const wagner_list *side[2];
    const wagner_cut *cut;
    int part_bits; /* 2^part_bits parts of equal leading hash bits */
    ticket *ticket[2];
    size_t *start[2]; /* [parts+1] */
    wagner_pair *pair;
    size_t chunk_room, chunk_count[CHUNKS]; /* pairs of chunk c are at pair + c * chunk_room */
    size_t longest;                         /* tickets of one side in one part */
    uint32_t *table;                        /* [workers][table_size]: heads, then next, of chains */
    size_t table_size;
    bool last; /* nothing has to be checked later */
    wagner_list *out;
} joint;

static size_t part_of(ticket k, int part_bits)
{
    return part_bits ? k >> (64 - part_bits) : 0;
}

/* Tickets of one side, by part. */
static void sort_side(void *context, size_t side, size_t worker)
{
    joint *j = context;
    const wagner_list *l = j->side[side];
    size_t parts = (size_t)1 << j->part_bits, *start = j->start[side];
    ticket *unsorted = j->ticket[side] + l->count;
    (void)worker;
    for (size_t e = 0; e < l->count; e++) {
        unsorted[e] = (rung_wagner_key_hash(l->x + e * l->width, side == 1, j->cut) & ~INDEX_MASK) | e;
        start[part_of(unsorted[e], j->part_bits) + 1]++;
    }
    for (size_t p = 0; p < parts; p++) start[p + 1] += start[p];
    for (size_t e = 0; e < l->count; e++) j->ticket[side][start[part_of(unsorted[e], j->part_bits)]++] = unsorted[e];
    for (size_t p = parts; p > 0; p--) start[p] = start[p - 1];
    start[0] = 0;
}

/* A chained hash table of tickets. */
typedef struct chains {
    size_t heads; /* a power of two */
    uint32_t *head, *next;
} chains;

static chains chains_of(uint32_t *memory, size_t count)
{
    chains c = {.heads = 1, .head = memory};
    while (c.heads < count) c.heads *= 2;
    c.next = memory + c.heads;
    memset(c.head, 0xff, c.heads * sizeof *c.head);
    return c;
}

static uint32_t *chain_at(const chains *c, ticket k)
{
    return &c->head[(k >> INDEX_BITS) & (c->heads - 1)];
}

static const int32_t *row_of(const wagner_list *l, ticket k)
{
    return l->x + (k & INDEX_MASK) * l->width;
}

/* Moves the tickets of different rows to the front and chains them; returns their number. Equal rows would have equal
 * sums: they would multiply at every depth, and in the end a list would be a few rows many times over. */
static size_t chain_different(chains *c, ticket *k, size_t count, const wagner_list *l, uint32_t *memory)
{
    size_t kept = 0;
    *c = chains_of(memory, count);
    for (size_t e = 0; e < count; e++) {
        uint32_t *at = chain_at(c, k[e]), other = *at;
        while (other != UINT32_MAX && ((k[other] ^ k[e]) >> INDEX_BITS ||
                                       memcmp(row_of(l, k[other]), row_of(l, k[e]), l->width * sizeof *l->x) != 0))
            other = c->next[other];
        if (other != UINT32_MAX) continue;
        k[kept] = k[e];
        c->next[kept] = *at;
        *at = (uint32_t)kept++;
    }
    return kept;
}

/* Finds the pairs of one part: the left tickets are in chains, and the right ones are looked up. */
static void join_part(joint *j, size_t chunk, size_t part, uint32_t *memory)
{
    chains c;
    ticket *l = j->ticket[0] + j->start[0][part], *r = j->ticket[1] + j->start[1][part];
    size_t right = chain_different(&c, r, j->start[1][part + 1] - j->start[1][part], j->side[1], memory);
    chain_different(&c, l, j->start[0][part + 1] - j->start[0][part], j->side[0], memory);
    for (size_t e = 0; e < right; e++)
        for (uint32_t at = *chain_at(&c, r[e]); at != UINT32_MAX; at = c.next[at]) {
            if ((l[at] ^ r[e]) >> INDEX_BITS) continue;
            if (j->last && !keys_agree(row_of(j->side[0], l[at]), row_of(j->side[1], r[e]), j->cut)) continue;
            if (j->chunk_count[chunk] == j->chunk_room) return;
            j->pair[chunk * j->chunk_room + j->chunk_count[chunk]++] =
                (wagner_pair){(uint32_t)(l[at] & INDEX_MASK), (uint32_t)(r[e] & INDEX_MASK)};
        }
}

static void join_chunk(void *context, size_t chunk, size_t worker)
{
    joint *j = context;
    size_t parts = (size_t)1 << j->part_bits;
    for (size_t p = chunk * parts / CHUNKS; p < (chunk + 1) * parts / CHUNKS; p++)
        join_part(j, chunk, p, j->table + worker * j->table_size);
}

static void add_run(void *context, size_t item, size_t worker)
{
    joint *j = context;
    size_t end = (item + 1) * WAGNER_RUN < j->out->count ? (item + 1) * WAGNER_RUN : j->out->count,
           drop = j->cut->exact;
    (void)worker;
    for (size_t e = item * WAGNER_RUN; e < end; e++) {
        const int32_t *u = j->side[0]->x + j->pair[e].left * j->side[0]->width + drop;
        const int32_t *v = j->side[1]->x + j->pair[e].right * j->side[1]->width + drop;
        int32_t *x = j->out->x + e * j->out->width;
        for (size_t i = 0; i < j->out->width; i++) x[i] = wagner_plus(u[i], v[i]);
    }
}

static void find_longest(joint *j)
{
    j->longest = 1;
    for (size_t s = 0; s < 2; s++)
        for (size_t p = 0; p < (size_t)1 << j->part_bits; p++)
            if (j->start[s][p + 1] - j->start[s][p] > j->longest) j->longest = j->start[s][p + 1] - j->start[s][p];
    j->table_size = 3 * j->longest + 1;
}

/* Moves the pairs of all chunks together. */
static size_t close_ranks(joint *j, size_t room)
{
    size_t count = 0;
    for (size_t c = 0; c < CHUNKS; c++) {
        memmove(j->pair + count, j->pair + c * j->chunk_room, j->chunk_count[c] * sizeof *j->pair);
        count += j->chunk_count[c];
    }
    return count < room ? count : room;
}

static bool joint_init(joint *j, const wagner_list *l, const wagner_list *r, const wagner_cut *cut, size_t room,
                       rung_arena *arena)
{
    *j = (joint){.side = {l, r}, .cut = cut, .last = cut->exact == l->width};
    while (j->part_bits < 16 && (size_t)512 << j->part_bits < l->count + r->count) j->part_bits++;
    size_t parts = (size_t)1 << j->part_bits;
    j->chunk_room = parts < CHUNKS ? room : room / CHUNKS + room / (2 * CHUNKS) + 16;
    for (size_t s = 0; s < 2; s++) {
        j->ticket[s] = rung_arena_alloc(arena, 2 * j->side[s]->count + 1, sizeof(ticket), NULL);
        j->start[s] = rung_arena_alloc(arena, parts + 1, sizeof(size_t), NULL);
        if (!j->ticket[s] || !j->start[s]) return false;
    }
    j->pair = rung_arena_alloc(arena, j->chunk_room * (parts < CHUNKS ? parts : CHUNKS), sizeof *j->pair, NULL);
    return j->pair != NULL;
}

static bool joint_work(joint *j, wagner_list *out, size_t room, size_t threads, rung_arena *arena)
{
    size_t parts = (size_t)1 << j->part_bits;
    rung_par_for(2, threads, sort_side, j);
    find_longest(j);
    j->table = rung_arena_alloc(arena, threads, j->table_size * sizeof *j->table, NULL);
    if (!j->table) return false;
    if (parts < CHUNKS) { /* then a chunk is a part */
        for (size_t p = 0; p < parts; p++) join_part(j, p, p, j->table);
    } else {
        rung_par_for(CHUNKS, threads, join_chunk, j);
    }
    size_t count = close_ranks(j, room);
    if (!rung_wagner_list_init(out, count, j->side[0]->width - j->cut->exact)) return false;
    j->out = out;
    rung_par_for((count + WAGNER_RUN - 1) / WAGNER_RUN, threads, add_run, j);
    return true;
}

bool rung_wagner_join(wagner_list *out, wagner_pair **pairs, const wagner_list *l, const wagner_list *r,
                      const wagner_cut *cut, size_t room, size_t threads)
{
    joint j;
    rung_arena arena;
    rung_arena_init(&arena);
    bool well = joint_init(&j, l, r, cut, room, &arena) && joint_work(&j, out, room, threads, &arena);
    if (well) {
        *pairs = rung_calloc(out->count + 1, sizeof **pairs, NULL);
        well = *pairs != NULL;
        if (well) memcpy(*pairs, j.pair, out->count * sizeof **pairs);
    }
    rung_arena_clear(&arena);
    return well;
}

double rung_wagner_join_bytes(void)
{
    return 4 * sizeof(ticket) + 2.5 * sizeof(wagner_pair) + 12;
}
