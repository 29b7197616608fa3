/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * is-tree: a graph on n vertices as a row of edges u v u v ..., n - 1 of them; is it a tree (Wen, Dang, Lyu
 * 2025)? With n - 1 edges, tree, connected and free of cycles are the same. A streaming algorithm needs
 * Omega(n) bits.
 *
 * Distributions. uniform: a uniform labelled tree, or a uniform graph of n - 1 edges that is none; most of
 * the latter have a vertex without edges, which counting finds. hard: a tree, or the same tree with one edge
 * moved, no vertex left alone. degrees: a tree, or the same tree with two edges switched so that every degree
 * stays: then no statistic of the vertices that occur tells them apart. In hard and degrees both graphs are
 * made first and a coin chooses.
 */
#include <stdlib.h>

#include "common.h"
#include "halves.h"
#include "task_rows.h"

enum { DIST_UNIFORM, DIST_HARD, DIST_DEGREES };
static const char *const dist_names[] = {"uniform", "hard", "degrees", NULL};

static const rung_param params[] = {
    {"n", RUNG_PARAM_INT, 12, 4, 1 << 15, NULL, "vertices; the prompt has 2(n - 1) tokens"},
    {"dist", RUNG_PARAM_CHOICE, DIST_UNIFORM, 0, 0, dist_names,
     "graphs that are no tree: any, one edge moved, same degrees"},
    {0},
};

typedef struct edge {
    uint32_t u, v;
} edge;

typedef struct graph {
    size_t n;
    edge *edges;      /* [n-1] */
    uint32_t *parent; /* [n] scratch: union-find, or degrees */
    uint32_t *code;   /* [n] scratch: Pruefer code, or edge numbers */
} graph;

static void graph_close(graph *g)
{
    free(g->edges);
    free(g->parent);
    free(g->code);
}

static rung_status graph_open(graph *g, size_t n, rung_error *err)
{
    *g = (graph){.n = n};
    g->edges = rung_calloc(n, sizeof *g->edges, err);
    g->parent = rung_calloc(n, sizeof *g->parent, err);
    g->code = rung_calloc(n, sizeof *g->code, err);
    if (g->edges && g->parent && g->code) return RUNG_OK;
    graph_close(g);
    return RUNG_SYSTEM;
}

/* ---- components by union-find ---- */

static uint32_t find_root(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

/* Joins along all edges except number `without` (n - 1: all edges). Returns whether an edge closed a cycle. */
static bool join_edges(graph *g, size_t without)
{
    bool cycle = false;
    for (size_t v = 0; v < g->n; v++) g->parent[v] = (uint32_t)v;
    for (size_t i = 0; i + 1 < g->n; i++) {
        if (i == without) continue;
        uint32_t a = find_root(g->parent, g->edges[i].u), b = find_root(g->parent, g->edges[i].v);
        cycle = cycle || a == b;
        g->parent[a] = b;
    }
    return cycle;
}

static bool is_tree(graph *g)
{
    return !join_edges(g, g->n - 1);
}

static bool adjacent(const graph *g, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i + 1 < g->n; i++)
        if ((g->edges[i].u == a && g->edges[i].v == b) || (g->edges[i].u == b && g->edges[i].v == a)) return true;
    return false;
}

/* ---- graphs ---- */

/* Draws a uniform labelled tree from a uniform code of n - 2 vertices (Pruefer), in linear time. `leaf` is the smallest
 * leaf, and `next` the vertex from which the search for the next leaf continues. */
static void draw_tree(graph *g, rung_rng *rng)
{
    uint32_t *degree = g->parent, *code = g->code, leaf, next = 0;
    for (size_t v = 0; v < g->n; v++) degree[v] = 1;
    for (size_t i = 0; i + 2 < g->n; i++) degree[code[i] = (uint32_t)rung_rng_below(rng, g->n)]++;
    while (degree[next] != 1) next++;
    leaf = next;
    for (size_t i = 0; i + 2 < g->n; i++) {
        uint32_t v = code[i];
        g->edges[i] = (edge){leaf, v};
        if (--degree[v] == 1 && v < next) {
            leaf = v;
        } else {
            do next++;
            while (degree[next] != 1);
            leaf = next;
        }
    }
    g->edges[g->n - 2] = (edge){leaf, (uint32_t)(g->n - 1)};
}

/* Pair number k of the pairs v > u in the order (1,0) (2,0) (2,1) (3,0) ... */
static edge nth_pair(uint32_t k)
{
    uint32_t low = 1, high = 1u << 15; /* v is the largest with v(v-1)/2 <= k */
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (middle * (middle - 1) / 2 <= k)
            low = middle;
        else
            high = middle - 1;
    }
    return (edge){k - low * (low - 1) / 2, low};
}

static rung_status draw_no_tree(graph *g, rung_rng *rng, rung_error *err)
{
    uint32_t pairs = (uint32_t)(g->n * (g->n - 1) / 2);
    do {
        RUNG_TRY(rung_rng_sample(rng, g->code, g->n - 1, pairs, err));
        for (size_t i = 0; i + 1 < g->n; i++) g->edges[i] = nth_pair(g->code[i]);
    } while (is_tree(g));
    return RUNG_OK;
}

/* How a tree is changed so that it is no longer one: edges `first` and `second` are replaced (equal numbers: one
 * edge). */
typedef struct change {
    size_t first, second;
    edge new_first, new_second;
} change;

/* Moves one edge of a tree so that it closes a cycle. Returns false when removing the drawn edge leaves a single
 * vertex. Otherwise one of the two parts has at least three vertices, and so a pair without an edge. */
static bool try_move(change *c, graph *g, rung_rng *rng)
{
    size_t moved = rung_rng_below(rng, g->n - 1), part = 0;
    join_edges(g, moved);
    uint32_t root = find_root(g->parent, g->edges[moved].u), a, b;
    for (size_t v = 0; v < g->n; v++) part += find_root(g->parent, (uint32_t)v) == root;
    if (part < 2 || g->n - part < 2) return false;
    do {
        a = (uint32_t)rung_rng_below(rng, g->n);
        b = (uint32_t)rung_rng_below(rng, g->n);
    } while (a == b || find_root(g->parent, a) != find_root(g->parent, b) || adjacent(g, a, b));
    *c = (change){moved, moved, {a, b}, {a, b}};
    return true;
}

/* Replaces edges ab and cd by ad and bc. Degrees do not change. Of the two ways to switch two edges of a tree one gives
 * a tree again and the other a cycle, unless a new edge exists already or is a loop. */
static bool try_switch(change *c, graph *g, rung_rng *rng)
{
    size_t first = rung_rng_below(rng, g->n - 1), second = rung_rng_below(rng, g->n - 1);
    edge ab = g->edges[first], cd = g->edges[second];
    if (rung_rng_below(rng, 2)) cd = (edge){cd.v, cd.u};
    edge ad = {ab.u, cd.v}, bc = {ab.v, cd.u};
    if (first == second || ad.u == ad.v || bc.u == bc.v || adjacent(g, ad.u, ad.v) || adjacent(g, bc.u, bc.v))
        return false;
    *c = (change){first, second, ad, bc};
    g->edges[first] = ad;
    g->edges[second] = bc;
    bool tree = is_tree(g);
    g->edges[first] = ab;
    g->edges[second] = cd;
    return !tree;
}

/* Draws a tree for which a change was found in a few tries. Then a coin decides whether the change is made. The coin
 * comes last, so trees without a change (stars) are missing from both sides. */
static void draw_tree_or_near_miss(graph *g, bool degrees, rung_rng *rng)
{
    change c;
    for (bool found = false; !found;) {
        draw_tree(g, rng);
        for (size_t tries = 0; tries < 64 && !found; tries++)
            found = degrees ? try_switch(&c, g, rng) : try_move(&c, g, rng);
    }
    if (rung_rng_below(rng, 2)) return;
    g->edges[c.first] = c.new_first;
    g->edges[c.second] = c.new_second;
}

/* ---- the row ---- */

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    size_t n = (size_t)rung_task_param(conf, "n");
    if (n < 5 && rung_task_param(conf, "dist") != DIST_UNIFORM)
        return rung_fail(err, RUNG_USAGE, "task is-tree: trees on %zu vertices have no near miss; use n >= 5", n);
    conf->tokens = 2 * (n - 1);
    conf->vocab = n;
    rung_task_yes_no(conf);
    return RUNG_OK;
}

/* Writes the edges in random order and direction. */
static void write_edges(rung_instance *instance, graph *g, rung_rng *rng)
{
    size_t edges = g->n - 1;
    for (size_t i = 0; i < edges; i++) g->code[i] = (uint32_t)i;
    rung_rng_shuffle(rng, g->code, edges);
    for (size_t i = 0; i < edges; i++) {
        edge e = g->edges[g->code[i]];
        bool flip = rung_rng_below(rng, 2);
        instance->token[2 * i] = flip ? e.v : e.u;
        instance->token[2 * i + 1] = flip ? e.u : e.v;
    }
    instance->tokens = 2 * edges;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    graph g;
    int64_t dist = rung_task_param(conf, "dist");
    rung_status status = graph_open(&g, conf->vocab, err);
    RUNG_TRY(status);
    if (dist != DIST_UNIFORM)
        draw_tree_or_near_miss(&g, dist == DIST_DEGREES, rng);
    else if (rung_rng_below(rng, 2))
        draw_tree(&g, rng);
    else
        status = draw_no_tree(&g, rng, err);
    if (status == RUNG_OK) write_edges(instance, &g, rng);
    graph_close(&g);
    return status;
}

/* Loops and double edges count as cycles. */
static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    graph g;
    RUNG_TRY(rung_task_expect_tokens(instance, conf, conf->tokens, err));
    rung_status status = graph_open(&g, conf->vocab, err);
    RUNG_TRY(status);
    for (size_t t = 0; t < conf->tokens && status == RUNG_OK; t++) {
        edge *e = &g.edges[t / 2];
        status = rung_task_expect_token(t % 2 ? &e->v : &e->u, instance, conf, t, 0, g.n, "a vertex", err);
    }
    if (status == RUNG_OK) rung_task_answer_last(instance, is_tree(&g));
    graph_close(&g);
    return status;
}

/* The first player holds the first half of the edges, the second the rest. */
static void players(rung_instance *instance, const rung_task_conf *conf)
{
    rung_task_players_two(instance, 2 * ((conf->vocab - 1) / 2), "first", "second");
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    (void)conf;
    rung_buf_printf(out, "%u", token);
}

const rung_task rung_task_is_tree = {
    .name = "is-tree",
    .summary = "a graph as a row of n - 1 edges: is it a tree?",
    .source = "Wen, Dang, Lyu 2025: IsTree",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = rung_task_yes_no_word,
    RUNG_TASK_IDS(rung_task_any_id),
};
