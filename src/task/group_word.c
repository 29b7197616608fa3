/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * group-word: the word problem of a finite group. Letters x_1 .. x_N are elements; the answer after x_t is
 * the product x_1 x_2 ... x_t, read as "first x_1, then x_2": as permutations, point i goes to x_t(...
 * x_1(i)). S5 and A5 are not solvable, which makes the problem complete for NC1; S3 is solvable, Zn is
 * commutative.
 */
#include <assert.h>
#include <stdlib.h>

#include "common.h"
#include "halves.h"
#include "symbols.h"
#include "task_rows.h"

#define POINTS_MAX 5

enum { GROUP_S3, GROUP_S5, GROUP_A5, GROUP_ZN };
enum { LETTERS_ALL, LETTERS_GENERATORS, LETTERS_SWAPS };
enum { TARGETS_ALL, TARGETS_LAST };
static const char *const group_names[] = {"S3", "S5", "A5", "Zn", NULL};
static const char *const letter_names[] = {"all", "generators", "swaps", NULL};
static const char *const target_names[] = {"all", "last", NULL};

static const rung_param params[] = {
    {"group", RUNG_PARAM_CHOICE, GROUP_S5, 0, 0, group_names, "the group"},
    {"n", RUNG_PARAM_INT, 5, 2, 1024, NULL, "order of the cyclic group (group=Zn)"},
    {"N", RUNG_PARAM_INT, 16, 1, 1 << 13, NULL, "letters of the word"},
    {"letters", RUNG_PARAM_CHOICE, LETTERS_ALL, 0, 0, letter_names,
     "all elements; two generators (of Zn: 0 and 1); or transpositions (S3, S5)"},
    {"targets", RUNG_PARAM_CHOICE, TARGETS_ALL, 0, 0, target_names, "ask after every letter, or after the last"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

/* ---- elements ---- */

typedef struct group {
    int64_t kind;
    size_t points; /* 0 for Zn */
    size_t order;
} group;

static group group_of(const rung_task_conf *conf)
{
    int64_t kind = rung_task_param(conf, "group");
    switch (kind) {
    case GROUP_S3:
        return (group){kind, 3, 6};
    case GROUP_S5:
        return (group){kind, 5, 120};
    case GROUP_A5:
        return (group){kind, 5, 60};
    default:
        return (group){kind, 0, (size_t)rung_task_param(conf, "n")};
    }
}

typedef struct permutation {
    uint8_t image[POINTS_MAX];
} permutation;

/* Lexicographic order: digit i of the factorial number system is the number of later images that are smaller. */
static size_t rank_of(const permutation *p, size_t points)
{
    size_t rank = 0;
    for (size_t i = 0; i < points; i++) {
        size_t smaller = 0;
        for (size_t j = i + 1; j < points; j++) smaller += p->image[j] < p->image[i];
        rank = rank * (points - i) + smaller;
    }
    return rank;
}

static permutation nth_permutation(size_t rank, size_t points)
{
    permutation p;
    for (size_t i = points; i-- > 0;) {
        p.image[i] = (uint8_t)(rank % (points - i));
        rank /= points - i;
        for (size_t j = i + 1; j < points; j++) p.image[j] += p.image[j] >= p.image[i];
    }
    return p;
}

static bool is_odd(const permutation *p, size_t points)
{
    bool odd = false;
    for (size_t i = 0; i < points; i++)
        for (size_t j = i + 1; j < points; j++) odd ^= p->image[j] < p->image[i];
    return odd;
}

/* Elements of S_n are numbered by rank. Permutations 2r and 2r + 1 differ in their last two images, so exactly one of
 * them is even: that is element r of A5. */
static permutation element(const group *g, size_t index)
{
    if (g->kind != GROUP_A5) return nth_permutation(index, g->points);
    permutation p = nth_permutation(2 * index, g->points);
    return is_odd(&p, g->points) ? nth_permutation(2 * index + 1, g->points) : p;
}

static size_t index_of(const group *g, const permutation *p)
{
    size_t rank = rank_of(p, g->points);
    return g->kind == GROUP_A5 ? rank / 2 : rank;
}

/* First `a`, then `b`. */
static size_t product(const group *g, size_t a, size_t b)
{
    if (g->points == 0) return (a + b) % g->order;
    permutation pa = element(g, a), pb = element(g, b), pc = {{0}};
    for (size_t i = 0; i < g->points; i++) pc.image[i] = pb.image[pa.image[i]];
    return index_of(g, &pc);
}

/* ---- letters ---- */

/* (points choose 2) transpositions, two generators, or the whole group. */
static size_t letter_count(const group *g, int64_t letters)
{
    if (letters == LETTERS_ALL) return g->order;
    return letters == LETTERS_GENERATORS ? 2 : g->points * (g->points - 1) / 2;
}

/* Swap number k, in the order (1 0) (2 0) (2 1) (3 0) ... */
static permutation nth_swap(size_t k, size_t points)
{
    permutation p = nth_permutation(0, points);
    size_t high = 1;
    while (k >= high) k -= high++;
    p.image[high] = (uint8_t)k;
    p.image[k] = (uint8_t)high;
    return p;
}

/* The cycle 0 -> 1 -> ... -> len-1 -> 0. */
static permutation short_cycle(size_t len, size_t points)
{
    permutation p = nth_permutation(0, points);
    for (size_t i = 0; i < len; i++) p.image[i] = (uint8_t)((i + 1) % len);
    return p;
}

/* The element that a token represents. The generators are a swap (A5: a cycle of three) and the cycle of all points. */
static size_t letter(const group *g, int64_t letters, size_t token)
{
    assert(token < letter_count(g, letters));
    if (letters == LETTERS_ALL || g->points == 0) return token;
    permutation p;
    if (letters == LETTERS_SWAPS)
        p = nth_swap(token, g->points);
    else
        p = short_cycle(token == 1 ? g->points : g->kind == GROUP_A5 ? 3 : 2, g->points);
    return index_of(g, &p);
}

/* ---- levels ---- */

/* Multiplies by one more random letter: after[product(a, letter)] gets its share of before[a]. */
static void step(double *after, const double *before, const uint32_t *next, size_t order, size_t letters)
{
    for (size_t a = 0; a < order; a++) after[a] = 0;
    for (size_t l = 0; l < letters; l++)
        for (size_t a = 0; a < order; a++) after[next[l * order + a]] += before[a] / (double)letters;
}

static double largest(const double *p, size_t count)
{
    double most = 0;
    for (size_t a = 0; a < count; a++)
        if (p[a] > most) most = p[a];
    return most;
}

/* The probability of the most likely product of t random letters, at t = N or on average over t. Computed exactly by N
 * steps. */
static rung_status walk_level(double *level, const group *g, const rung_task_conf *conf, rung_error *err)
{
    size_t letters = conf->vocab, word = conf->tokens;
    uint32_t *next = rung_calloc(letters * g->order, sizeof *next, err);
    double *now = rung_calloc(g->order, sizeof *now, err), *later = rung_calloc(g->order, sizeof *later, err);
    rung_status status = next && now && later ? RUNG_OK : RUNG_SYSTEM;
    for (size_t i = 0; i < letters * g->order && status == RUNG_OK; i++)
        next[i] = (uint32_t)product(g, i % g->order, letter(g, rung_task_param(conf, "letters"), i / g->order));
    double sum = 0, last = 0;
    if (status == RUNG_OK) now[0] = 1; /* element 0 is the identity */
    for (size_t t = 0; t < word && status == RUNG_OK; t++) {
        step(later, now, next, g->order, letters);
        double *swap = now;
        now = later;
        later = swap;
        sum += last = largest(now, g->order);
    }
    *level = rung_task_param(conf, "targets") == TARGETS_ALL ? sum / (double)word : last;
    free(next);
    free(now);
    free(later);
    return status;
}

/* ---- the row ---- */

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    group g = group_of(conf);
    int64_t letters = rung_task_param(conf, "letters");
    if (letters == LETTERS_SWAPS && g.kind != GROUP_S3 && g.kind != GROUP_S5)
        return rung_fail(err, RUNG_USAGE,
                         "task group-word: group=%s has no transpositions; use letters=all or generators",
                         group_names[g.kind]);
    conf->tokens = (size_t)rung_task_param(conf, "N");
    conf->vocab = letter_count(&g, letters);
    conf->answers = g.order;
    conf->chance = conf->majority = 1 / (double)g.order;
    return letters == LETTERS_ALL ? RUNG_OK : walk_level(&conf->majority, &g, conf, err);
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    group g = group_of(conf);
    int64_t letters = rung_task_param(conf, "letters");
    size_t so_far = 0;
    rung_status status = rung_task_expect_tokens(instance, conf, conf->tokens, err);
    for (size_t t = 0; t < conf->tokens && status == RUNG_OK; t++) {
        uint32_t token;
        status = rung_task_expect_token(&token, instance, conf, t, 0, conf->vocab, "a letter", err);
        if (status != RUNG_OK) break;
        so_far = product(&g, so_far, letter(&g, letters, token));
        instance->target[t] = (int32_t)so_far;
    }
    if (status == RUNG_OK && rung_task_param(conf, "targets") == TARGETS_LAST)
        rung_task_answer_last(instance, (int32_t)so_far);
    return status;
}

/* Writes the images of 1, 2, ... as one word; an element of Zn as a number. */
static void answer_word(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    group g = group_of(conf);
    if (g.points == 0) {
        rung_buf_printf(out, "%d", (int)answer);
        return;
    }
    permutation p = element(&g, (size_t)answer);
    for (size_t i = 0; i < g.points; i++) rung_buf_putc(out, (char)('1' + p.image[i]));
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    group g = group_of(conf);
    answer_word(out, conf, (int32_t)letter(&g, rung_task_param(conf, "letters"), token));
}

const rung_task rung_task_group_word = {
    .name = "group-word",
    .summary = "the product of the letters of a word in a finite group",
    .source = "Barrington 1989; Merrill, Petty, Sabharwal 2024 (state tracking)",
    .params = params,
    .resolve = resolve,
    .generate = rung_symbols_generate,
    .solve = solve,
    .token_word = token_word,
    .answer_word = answer_word,
    RUNG_TASK_IDS(rung_task_any_id),
};
