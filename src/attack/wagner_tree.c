/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Grows the tree of wagner.h depth first, so that two lists per depth exist at a time. A join keeps the pairs whose sum
 * vanishes in the next coordinates. The first join of each depth measures how many coordinates: as many as leave a full
 * list. One more coordinate vanishes only up to a width, which every join measures. The lists are a pure function of
 * table, seed and sizes for any number of threads, so lists that were dropped can be computed again when the choices
 * behind the vanishing sum are needed.
 */
#include "wagner_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rung/par.h"

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

rung_status rung_wagner_init(wagner_tree *t, const additive *sums, size_t levels, size_t room, size_t per_leaf,
                             uint64_t seed, rung_error *err)
{
    rung_rng rng;
    *t = (wagner_tree){.sums = sums, .levels = levels, .room = room, .per_leaf = per_leaf, .seed = seed};
    t->place = rung_calloc(sums->places, sizeof *t->place, err);
    t->row = t->place ? rung_calloc(sums->first[sums->places], sums->dims * sizeof *t->row, err) : NULL;
    t->pairs = t->row ? rung_calloc((size_t)2 << levels, sizeof *t->pairs, err) : NULL;
    if (!t->pairs) return RUNG_SYSTEM;
    rung_wagner_reorder(t, NULL);
    for (size_t j = 0; j < sums->places; j++) t->place[j] = (uint32_t)j;
    rung_rng_init(&rng, seed, 62, 0);
    rung_rng_shuffle(&rng, t->place, sums->places);
    return RUNG_OK;
}

void rung_wagner_clear(wagner_tree *t)
{
    for (size_t i = 0; t->pairs && i < (size_t)2 << t->levels; i++) free(t->pairs[i]);
    free(t->pairs);
    free(t->row);
    free(t->place);
    memset(t, 0, sizeof *t);
}

/* Numbers of 32 bits may wrap; every finding is checked at the end. */
void rung_wagner_reorder(wagner_tree *t, const uint32_t *order)
{
    size_t dims = t->sums->dims;
    for (size_t r = 0; r < t->sums->first[t->sums->places]; r++)
        for (size_t i = 0; i < dims; i++)
            t->row[r * dims + i] = (int32_t)(uint32_t)(uint64_t)t->sums->row[r * dims + (order ? order[i] : i)];
}

static int32_t minus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b);
}

static const uint32_t *leaf_places(const wagner_tree *t, size_t leaf)
{
    return t->place + leaf * t->per_leaf;
}

wagner_leaf rung_wagner_leaf(const wagner_tree *t, size_t number)
{
    wagner_leaf leaf = {.number = number, .space = 1, .places = t->per_leaf};
    for (size_t i = 0; i < t->per_leaf; i++) {
        size_t place = leaf_places(t, number)[i];
        leaf.choices[i] = (uint32_t)additive_choices(t->sums, place);
        leaf.row[i] = t->row + t->sums->first[place] * t->sums->dims;
        uint64_t pairs = (uint64_t)leaf.choices[i] * leaf.choices[i];
        leaf.space = pairs > UINT64_MAX / 2 / leaf.space ? UINT64_MAX / 2 : leaf.space * pairs;
    }
    return leaf;
}

/* All elements of a small space, otherwise random ones. */
static uint64_t leaf_code(const wagner_tree *t, const wagner_leaf *leaf, uint64_t e)
{
    uint64_t x = t->seed ^ ((uint64_t)leaf->number << 40) ^ e;
    if (leaf->space <= 2 * (uint64_t)t->room) return e % leaf->space;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u; /* splitmix64 */
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (x ^ (x >> 31)) % leaf->space;
}

/* The two choices of a leaf always differ, so that no sum vanishes trivially. */
static void leaf_choices(uint32_t *f, uint32_t *g, const wagner_tree *t, const wagner_leaf *leaf, uint64_t e)
{
    uint64_t code = leaf_code(t, leaf, e);
    bool differ = false;
    for (size_t i = 0; i < leaf->places; i++) {
        uint64_t choices = leaf->choices[i], pair = code % (choices * choices);
        code /= choices * choices;
        f[i] = (uint32_t)(pair / choices);
        g[i] = (uint32_t)(pair % choices);
        differ |= f[i] != g[i];
    }
    for (size_t i = 0; i < leaf->places && !differ; i++) {
        differ = leaf->choices[i] > 1;
        if (differ) g[i] = (g[i] + 1) % leaf->choices[i];
    }
}

void rung_wagner_leaf_row(int32_t *x, const wagner_tree *t, const wagner_leaf *leaf, uint64_t e)
{
    uint32_t f[WAGNER_PER_LEAF_MAX], g[WAGNER_PER_LEAF_MAX];
    size_t dims = t->sums->dims;
    leaf_choices(f, g, t, leaf, e);
    memset(x, 0, dims * sizeof *x);
    for (size_t i = 0; i < leaf->places; i++) {
        const int32_t *a = leaf->row[i] + f[i] * dims, *b = leaf->row[i] + g[i] * dims;
        if (f[i] == g[i]) continue;
        for (size_t c = 0; c < dims; c++) x[c] = wagner_plus(x[c], minus(a[c], b[c]));
    }
}

typedef struct leaf_job {
    wagner_list *out;
    const wagner_tree *t;
    wagner_leaf leaf;
} leaf_job;

static void leaf_run(void *context, size_t item, size_t worker)
{
    leaf_job *job = context;
    size_t end = (item + 1) * WAGNER_RUN < job->out->count ? (item + 1) * WAGNER_RUN : job->out->count;
    (void)worker;
    for (size_t e = item * WAGNER_RUN; e < end; e++)
        rung_wagner_leaf_row(job->out->x + e * job->out->width, job->t, &job->leaf, e);
}

static bool make_leaf(wagner_list *out, wagner_tree *t, size_t leaf)
{
    leaf_job job = {out, t, rung_wagner_leaf(t, leaf)};
    size_t count = job.leaf.space < t->room ? (size_t)job.leaf.space : t->room;
    if (!rung_wagner_list_init(out, count, t->sums->dims)) return false;
    rung_par_for((count + WAGNER_RUN - 1) / WAGNER_RUN, t->budget->threads, leaf_run, &job);
    if (t->budget->progress) rung_progress_tick(t->budget->progress, ++t->leaves_done);
    return true;
}

/* ---- how much may vanish ----------------------------------------------------------------------------------------- */

/* The differences of choices vary with the place, so lists of the same depth differ. All of them lose the same
 * coordinates, so that they can be joined again; each join has its own width for the next one. */

enum { WIDTHS = 4 * 32 }; /* four per factor of two */

/* Candidate number q of the width, from none to 1. */
static wagner_cut candidate(size_t exact, size_t q, double span)
{
    wagner_cut cut = {.exact = exact};
    if (q > 0) cut.width = fmax(1, span * exp2(-(double)q / 4));
    if (q > 0) cut.inverse = 1 / cut.width;
    return cut;
}

/* Elements of both lists by which pairs are counted: about 2000 pairs if the lists are full. */
typedef struct sample {
    const wagner_list *side[2];
    size_t count[2];
    int bits;       /* of the table */
    uint64_t *key;  /* open addressing; 0: free */
    uint32_t *many; /* elements with this key */
} sample;

static bool sample_init(sample *s, const wagner_list *l, const wagner_list *r, size_t room, rung_arena *arena)
{
    size_t most = (size_t)sqrt(2048 * (double)room);
    *s = (sample){.side = {l, r}, .bits = 4};
    for (size_t i = 0; i < 2; i++) s->count[i] = s->side[i]->count < most ? s->side[i]->count : most;
    while ((size_t)1 << s->bits < 2 * s->count[0]) s->bits++;
    s->key = rung_arena_alloc(arena, (size_t)1 << s->bits, sizeof *s->key, NULL);
    s->many = rung_arena_alloc(arena, (size_t)1 << s->bits, sizeof *s->many, NULL);
    return s->key && s->many;
}

static const int32_t *sample_row(const sample *s, size_t side, size_t i)
{
    size_t all = s->side[side]->count, e = s->count[side] == all ? i : (size_t)(i * (uint64_t)0x9e3779b1u % all);
    return s->side[side]->x + e * s->side[side]->width;
}

static size_t sample_slot(const sample *s, uint64_t key)
{
    size_t mask = ((size_t)1 << s->bits) - 1, at = key >> (64 - s->bits);
    while (s->key[at] && s->key[at] != key) at = (at + 1) & mask;
    return at;
}

/* Estimated number of pairs that the cut allows in the whole lists. */
static double count_pairs(sample *s, const wagner_cut *cut)
{
    double pairs = 0, share = 1;
    memset(s->key, 0, sizeof *s->key << s->bits);
    memset(s->many, 0, sizeof *s->many << s->bits);
    for (size_t i = 0; i < s->count[0]; i++) {
        uint64_t key = rung_wagner_key_hash(sample_row(s, 0, i), false, cut) | 1;
        size_t at = sample_slot(s, key);
        s->key[at] = key;
        s->many[at]++;
    }
    for (size_t i = 0; i < s->count[1]; i++)
        pairs += s->many[sample_slot(s, rung_wagner_key_hash(sample_row(s, 1, i), true, cut) | 1)];
    for (size_t i = 0; i < 2; i++) share *= (double)s->side[i]->count / (double)s->count[i];
    return pairs * share;
}

/* How many coordinates can vanish so that three times a full list is left; lists with fewer pairs then still fill
 * up. */
static size_t measure_exact(sample *s, size_t room)
{
    for (size_t exact = 1; exact <= s->side[0]->width; exact++) {
        wagner_cut cut = {.exact = exact};
        if (count_pairs(s, &cut) < 3 * (double)room) return exact - 1;
    }
    return s->side[0]->width;
}

/* The smallest width that leaves a full list. */
static wagner_cut measure_width(sample *s, size_t exact, size_t room)
{
    double span = 1;
    if (exact == s->side[0]->width) return (wagner_cut){.exact = exact};
    for (size_t i = 0; i < s->count[0]; i++) span = fmax(span, fabs((double)sample_row(s, 0, i)[exact]));
    size_t low = 0, high = WIDTHS;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        wagner_cut cut = candidate(exact, middle, 4 * span);
        if (count_pairs(s, &cut) >= (double)room)
            low = middle;
        else
            high = middle;
    }
    return candidate(exact, low, 4 * span);
}

static bool measure_cut(wagner_cut *cut, wagner_tree *t, size_t depth, const wagner_list *l, const wagner_list *r)
{
    sample s;
    rung_arena arena;
    rung_arena_init(&arena);
    bool well = l->count == 0 || r->count == 0 || sample_init(&s, l, r, t->room, &arena);
    if (well && l->count && r->count) {
        if (!t->known[depth]) t->exact[depth] = measure_exact(&s, t->room);
        t->known[depth] = true;
        *cut = measure_width(&s, t->exact[depth], t->room);
    } else {
        *cut = (wagner_cut){.exact = t->exact[depth]};
    }
    rung_arena_clear(&arena);
    return well;
}

/* ---- growing ----------------------------------------------------------------------------------------------------- */

static size_t threads_of(const wagner_tree *t)
{
    return t->budget->threads ? t->budget->threads : rung_cpu_threads();
}

static wagner_pair **pairs_of(wagner_tree *t, size_t depth, size_t node)
{
    return &t->pairs[((size_t)1 << (t->levels - depth)) + node];
}

/* The last join makes everything vanish. */
static bool find_cut(wagner_cut *cut, wagner_tree *t, size_t depth, const wagner_list *l, const wagner_list *r)
{
    if (depth < t->levels) return measure_cut(cut, t, depth, l, r);
    *cut = (wagner_cut){.exact = l->width};
    return true;
}

static bool grow(wagner_list *out, wagner_tree *t, size_t depth, size_t node, size_t keep, size_t reached[2])
{
    wagner_list side[2] = {{0}, {0}};
    wagner_pair *pairs = NULL;
    wagner_cut cut = {0};
    if (rung_budget_left(t->budget, t->began) <= 0) return false;
    if (depth == 0) return make_leaf(out, t, node);
    bool well = grow(&side[0], t, depth - 1, 2 * node, keep, NULL) &&
                grow(&side[1], t, depth - 1, 2 * node + 1, keep, NULL) &&
                find_cut(&cut, t, depth, &side[0], &side[1]) &&
                rung_wagner_join(out, &pairs, &side[0], &side[1], &cut, t->room, threads_of(t));
    if (reached) reached[0] = side[0].count, reached[1] = side[1].count;
    rung_wagner_list_clear(&side[0]);
    rung_wagner_list_clear(&side[1]);
    if (well && depth >= keep && !*pairs_of(t, depth, node))
        *pairs_of(t, depth, node) = pairs;
    else
        free(pairs);
    return well;
}

/* Finds the choices behind element e of a node. */
static bool unwind(uint32_t *f, uint32_t *g, wagner_tree *t, size_t depth, size_t node, size_t e)
{
    if (depth == 0) {
        uint32_t a[WAGNER_PER_LEAF_MAX], b[WAGNER_PER_LEAF_MAX];
        wagner_leaf leaf = rung_wagner_leaf(t, node);
        leaf_choices(a, b, t, &leaf, e);
        for (size_t i = 0; i < t->per_leaf; i++) {
            f[leaf_places(t, node)[i]] = a[i];
            g[leaf_places(t, node)[i]] = b[i];
        }
        return true;
    }
    if (!*pairs_of(t, depth, node)) {
        wagner_list again = {0};
        bool well = grow(&again, t, depth, node, 1, NULL);
        rung_wagner_list_clear(&again);
        if (!well) return false;
    }
    wagner_pair pair = (*pairs_of(t, depth, node))[e];
    bool well = unwind(f, g, t, depth - 1, 2 * node, pair.left) && unwind(f, g, t, depth - 1, 2 * node + 1, pair.right);
    if (depth < t->keep) { /* no longer needed */
        free(*pairs_of(t, depth, node));
        *pairs_of(t, depth, node) = NULL;
    }
    return well;
}

bool rung_wagner_grow(uint32_t *f, uint32_t *g, size_t reached[2], wagner_tree *t)
{
    wagner_list out = {0};
    reached[0] = reached[1] = 0;
    bool well = grow(&out, t, t->levels, 0, t->keep, reached);
    size_t found = out.count;
    rung_wagner_list_clear(&out);
    t->stopped = !well;
    if (!well || found == 0) return false;
    for (size_t j = 0; j < t->sums->places; j++) f[j] = g[j] = 0;
    if (unwind(f, g, t, t->levels, 0, 0)) return rung_additive_holds(t->sums, f, g);
    t->stopped = true;
    return false;
}

double rung_wagner_bytes(size_t dims, size_t levels, double room, size_t keep)
{
    double lists = ((double)levels / 2 + 3) * (double)dims * sizeof(int32_t);
    double joining = rung_wagner_join_bytes();
    double kept = ldexp(1, (int)levels - (int)keep + 1) * sizeof(wagner_pair) + 2 * sizeof(wagner_pair) * (double)keep;
    return room * (lists + joining + kept);
}
