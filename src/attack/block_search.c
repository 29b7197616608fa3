/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A birthday search among the contents of a block. Contents come in families that share all places but the last, so
 * that one family takes a few vector operations. Only hashes of the sums are kept, sorted into buckets; for equal
 * hashes the sums are computed again. Number n is choice n % C of the last place in family n / C.
 */
#include "block_attack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rung/par.h"

/* ---- contents ---------------------------------------------------------------------------------------------------- */

static const double *column(const block_table *table, size_t place, size_t dim)
{
    return table->x + (place * table->dims + dim) * table->most;
}

void rung_block_sums(double *out, const block_table *table, const uint32_t *choice, size_t depth)
{
    double places = rung_num_round(table->fmt, (double)table->places);
    assert(depth <= table->places);
    for (size_t d = 0; d < table->dims; d++) {
        double sum = 0;
        for (size_t i = 0; i < depth; i++) sum = rung_num_add(table->fmt, sum, column(table, i, d)[choice[i]]);
        out[d] = depth == table->places ? rung_num_div(table->fmt, sum, places) : sum;
    }
}

static bool holds_token(const block_table *table, const uint32_t *choice, size_t depth, uint32_t token)
{
    for (size_t i = 0; i < depth; i++)
        if (table->token[i * table->most + choice[i]] == token) return true;
    return false;
}

/* True if a has a token that b lacks, or the reverse. */
bool rung_block_differ_as_sets(const block_table *table, const uint32_t *a, const uint32_t *b, size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        if (!holds_token(table, b, depth, table->token[i * table->most + a[i]]) ||
            !holds_token(table, a, depth, table->token[i * table->most + b[i]]))
            return true;
    return false;
}

/* Chooses all places but the last. If depth is 2, the families are all choices of the first place, in order; otherwise
 * they are random. */
static void family_choices(uint32_t *choice, const block_table *table, const block_find *find, uint64_t family)
{
    rung_rng rng;
    rung_rng_init(&rng, find->seed, 64, family);
    for (size_t i = 0; i + 1 < find->depth; i++)
        choice[i] = (uint32_t)(find->depth == 2 ? family % table->count[i] : rung_rng_below(&rng, table->count[i]));
}

static void content(uint32_t *choice, const block_table *table, const block_find *find, uint64_t number)
{
    size_t last = table->count[find->depth - 1];
    family_choices(choice, table, find, number / last);
    choice[find->depth - 1] = (uint32_t)(number % last);
}

/* ---- hashes ------------------------------------------------------------------------------------------------------ */

typedef struct attempts_job {
    const block_table *table;
    const block_find *find;
    uint64_t *hash;    /* [elements] by number */
    double *scratch;   /* [workers][3 most] */
    uint32_t *choices; /* [workers][places] */
} attempts_job;

static uint64_t mix(uint64_t h, double x)
{
    uint64_t bits;
    x += 0; /* turns -0 into +0; sums that differ in this sign are told apart later */
    memcpy(&bits, &x, sizeof bits);
    h = (h ^ bits) * 0xff51afd7ed558ccdu;
    return h ^ (h >> 29);
}

static void hash_family(void *context, size_t family, size_t worker)
{
    attempts_job *job = context;
    const block_table *table = job->table;
    const rung_num_kernels *num = rung_num_kernels_get();
    size_t depth = job->find->depth, last = table->count[depth - 1];
    double *sum = job->scratch + worker * 3 * table->most, *same = sum + table->most, *places = same + table->most;
    uint32_t *choice = job->choices + worker * table->places;
    uint64_t *hash = job->hash + family * last;
    family_choices(choice, table, job->find, family);
    for (size_t c = 0; c < last; c++)
        hash[c] = 0x9e3779b97f4a7c15u, places[c] = rung_num_round(table->fmt, (double)table->places);
    for (size_t d = 0; d < table->dims; d++) {
        double before = 0;
        for (size_t i = 0; i + 1 < depth; i++)
            before = rung_num_add(table->fmt, before, column(table, i, d)[choice[i]]);
        for (size_t c = 0; c < last; c++) same[c] = before;
        num->add(table->fmt, sum, same, column(table, depth - 1, d), last);
        if (depth == table->places) num->div(table->fmt, sum, sum, places, last);
        for (size_t c = 0; c < last; c++) hash[c] = mix(hash[c], sum[c]);
    }
    for (size_t c = 0; c < last; c++) hash[c] *= 0xc4ceb9fe1a85ec53u;
}

/* ---- equal ones -------------------------------------------------------------------------------------------------- */

/* 64 bits: the 34 hash bits after those of the bucket, and the number. */
enum { NUMBER_BITS = 30, BUCKET_BITS = 11, BUCKETS = 1 << BUCKET_BITS };
#define NUMBER_MASK (((uint64_t)1 << NUMBER_BITS) - 1)

typedef struct sorter {
    const uint64_t *hash;
    size_t elements;
    uint64_t *entry;           /* [elements] by bucket */
    size_t start[BUCKETS + 1]; /* of each bucket */
    const block_table *table;
    block_find *find;
    uint64_t *memory; /* [workers][memory_size] */
    size_t memory_size;
    uint32_t *choices;   /* [workers][2 places] */
    double *sums;        /* [workers][2 dims] */
    uint64_t (*twin)[2]; /* [BUCKETS]: the first useful pair of each bucket */
    bool *has;           /* [BUCKETS] */
} sorter;

static void sort_into_buckets(sorter *s)
{
    memset(s->start, 0, sizeof s->start);
    for (size_t n = 0; n < s->elements; n++) s->start[(s->hash[n] >> (64 - BUCKET_BITS)) + 1]++;
    for (size_t b = 0; b < BUCKETS; b++) s->start[b + 1] += s->start[b];
    for (size_t n = 0; n < s->elements; n++)
        s->entry[s->start[s->hash[n] >> (64 - BUCKET_BITS)]++] = ((s->hash[n] << BUCKET_BITS) & ~NUMBER_MASK) | n;
    for (size_t b = BUCKETS; b > 0; b--) s->start[b] = s->start[b - 1];
    s->start[0] = 0;
}

/* True if the sets differ and the bits are the same. */
static bool is_of_use(const sorter *s, uint64_t m, uint64_t n, size_t worker)
{
    uint32_t *a = s->choices + worker * 2 * s->table->places, *b = a + s->table->places;
    double *x = s->sums + worker * 2 * s->table->dims, *y = x + s->table->dims;
    content(a, s->table, s->find, m);
    content(b, s->table, s->find, n);
    if (!rung_block_differ_as_sets(s->table, a, b, s->find->depth)) return false;
    rung_block_sums(x, s->table, a, s->find->depth);
    rung_block_sums(y, s->table, b, s->find->depth);
    return memcmp(x, y, s->table->dims * sizeof *x) == 0;
}

/* Puts the entries of a bucket into an open hash table, and checks equal hashes. */
static void search_bucket(void *context, size_t bucket, size_t worker)
{
    sorter *s = context;
    const uint64_t *entry = s->entry + s->start[bucket];
    size_t count = s->start[bucket + 1] - s->start[bucket], size = 1;
    uint64_t *table = s->memory + worker * s->memory_size;
    while (size < 2 * count) size *= 2;
    memset(table, 0xff, size * sizeof *table);
    for (size_t e = 0; e < count && !s->has[bucket]; e++) {
        size_t at = (entry[e] >> NUMBER_BITS) & (size - 1);
        for (; table[at] != UINT64_MAX; at = (at + 1) & (size - 1)) {
            if ((table[at] ^ entry[e]) >> NUMBER_BITS) continue;
            uint64_t m = table[at] & NUMBER_MASK, n = entry[e] & NUMBER_MASK;
            s->has[bucket] = is_of_use(s, m, n, worker);
            s->twin[bucket][0] = m, s->twin[bucket][1] = n;
            break; /* one of a class suffices */
        }
        if (table[at] == UINT64_MAX) table[at] = entry[e];
    }
}

static bool search_buckets(sorter *s, size_t threads)
{
    size_t longest = 1;
    sort_into_buckets(s);
    for (size_t b = 0; b < BUCKETS; b++)
        if (s->start[b + 1] - s->start[b] > longest) longest = s->start[b + 1] - s->start[b];
    s->memory_size = 4 * longest;
    s->memory = rung_calloc(threads, s->memory_size * sizeof *s->memory, NULL);
    if (s->memory) rung_par_for(BUCKETS, threads, search_bucket, s);
    for (size_t b = 0; s->memory && b < BUCKETS; b++)
        if (s->has[b]) {
            content(s->find->a, s->table, s->find, s->twin[b][0]);
            content(s->find->b, s->table, s->find, s->twin[b][1]);
            free(s->memory);
            return true;
        }
    free(s->memory);
    return false;
}

double rung_block_search_bytes(double elements)
{
    return elements * 2 * sizeof(uint64_t) + 64e6;
}

bool rung_block_search(block_find *find, const block_table *table, const rung_budget *budget, double began)
{
    size_t last = table->count[find->depth - 1], threads = budget->threads ? budget->threads : rung_cpu_threads();
    size_t families = find->elements / last, elements = families * last;
    bool found = false;
    rung_arena arena;
    if (elements < 2 || elements >> NUMBER_BITS || rung_budget_left(budget, began) <= 0) return false;
    rung_arena_init(&arena);
    attempts_job job = {.table = table,
                        .find = find,
                        .hash = rung_arena_alloc(&arena, elements, sizeof(uint64_t), NULL),
                        .scratch = rung_arena_alloc(&arena, threads, 3 * table->most * sizeof(double), NULL),
                        .choices = rung_arena_alloc(&arena, threads, table->places * sizeof(uint32_t), NULL)};
    sorter s = {.hash = job.hash,
                .elements = elements,
                .entry = rung_arena_alloc(&arena, elements, sizeof(uint64_t), NULL),
                .table = table,
                .find = find,
                .choices = rung_arena_alloc(&arena, threads, 2 * table->places * sizeof(uint32_t), NULL),
                .sums = rung_arena_alloc(&arena, threads, 2 * table->dims * sizeof(double), NULL),
                .twin = rung_arena_alloc(&arena, BUCKETS, sizeof *s.twin, NULL),
                .has = rung_arena_alloc(&arena, BUCKETS, sizeof *s.has, NULL)};
    if (job.hash && job.scratch && job.choices && s.entry && s.choices && s.sums && s.twin && s.has) {
        rung_par_for(families, threads, hash_family, &job);
        find->evaluations += elements;
        found = search_buckets(&s, threads);
    }
    rung_arena_clear(&arena);
    return found;
}
