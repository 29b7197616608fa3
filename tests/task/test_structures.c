/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Yes-or-no tasks about structure: count, is-tree, dyck. The answers against a second way to decide them (a search from
 * vertex 0 instead of union-find, cancelling neighbours instead of a stack), and the promises of the generators: fair
 * answers, uniform trees and words, and near misses that no count gives away.
 */
#include "sequences.h"

#define VERTICES_MAX 40

/* ---- second oracles ---------------------------------------------------------------------------------------------- */

static void brute_count(int32_t *want, const rung_instance *p, const rung_task_conf *conf)
{
    uint32_t alphabet = (uint32_t)rung_task_param(conf, "V");
    size_t n = p->tokens - 2;
    int64_t left = (int64_t)p->token[n + 1] - 2 * (int64_t)alphabet; /* occurrences that are still allowed */
    for (size_t i = 0; i < n; i++) left -= p->token[i] + alphabet == p->token[n];
    want[n + 1] = left < 0;
}

static void visit(bool *seen, const rung_instance *p, uint32_t from)
{
    seen[from] = true;
    for (size_t t = 0; t < p->tokens; t++) {
        uint32_t to = p->token[t ^ 1];
        if (p->token[t] == from && !seen[to]) visit(seen, p, to);
    }
}

/* n - 1 edges connect n vertices iff they are a tree. */
static void brute_is_tree(int32_t *want, const rung_instance *p, const rung_task_conf *conf)
{
    bool seen[VERTICES_MAX] = {false};
    size_t reached = 0;
    assert_true(conf->vocab <= VERTICES_MAX);
    visit(seen, p, 0);
    for (size_t v = 0; v < conf->vocab; v++) reached += seen[v];
    want[p->tokens - 1] = reached == conf->vocab;
}

/* Cancels a bracket and its partner next to it until nothing cancels. */
static bool cancels(const uint32_t *bracket, size_t n)
{
    uint32_t *rest = calloc(n, sizeof *rest);
    size_t left = n;
    assert_non_null(rest);
    memcpy(rest, bracket, n * sizeof *rest);
    for (size_t i = 0; i + 1 < left;) {
        if (rest[i] % 2 == 0 && rest[i + 1] == rest[i] + 1) {
            memmove(rest + i, rest + i + 2, (left - i - 2) * sizeof *rest);
            left -= 2;
            i = 0;
        } else {
            i++;
        }
    }
    free(rest);
    return left == 0;
}

static int64_t greatest_depth(const uint32_t *bracket, size_t n)
{
    int64_t depth = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        depth += bracket[i] % 2 ? -1 : 1;
        if (depth > most) most = depth;
    }
    return most;
}

static void brute_dyck(int32_t *want, const rung_instance *p, const rung_task_conf *conf)
{
    want[p->tokens - 1] =
        cancels(p->token, p->tokens) && greatest_depth(p->token, p->tokens) <= rung_task_param(conf, "k");
}

static const sequence_case cases[] = {
    {"count", brute_count},
    {"count N=1 V=2", brute_count},
    {"count N=2 V=2", brute_count},
    {"count N=60 V=3 dist=hard", brute_count},
    {"count N=5 V=40 dist=hard", brute_count},
    {"is-tree", brute_is_tree},
    {"is-tree n=4", brute_is_tree},
    {"is-tree n=40", brute_is_tree},
    {"is-tree n=5 dist=hard", brute_is_tree},
    {"is-tree n=13 dist=hard", brute_is_tree},
    {"is-tree n=5 dist=degrees", brute_is_tree},
    {"is-tree n=14 dist=degrees", brute_is_tree},
    {"dyck", brute_dyck},
    {"dyck dist=hard", brute_dyck},
    {"dyck N=4 types=1 k=1", brute_dyck},
    {"dyck N=4 types=1 k=1 dist=hard", brute_dyck},
    {"dyck N=4 types=2 k=1 dist=hard", brute_dyck},
    {"dyck N=4 types=2 k=9", brute_dyck},
    {"dyck N=6 types=1 k=2", brute_dyck},
    {"dyck N=6 types=1 k=3 dist=hard", brute_dyck},
    {"dyck N=40 types=6 k=3", brute_dyck},
    {"dyck N=64 types=1 k=256", brute_dyck},
    {"dyck N=2048 types=2 k=3", brute_dyck}, /* path counts far beyond a double */
};

static void answers_follow_the_definition(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++)
        check_against_brute_force(&cases[i], strstr(cases[i].text, "2048") ? 5 : 300);
}

static void foreign_tokens_and_lengths_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++)
        if (!strstr(cases[i].text, "2048")) check_refusals(&cases[i]);
}

static void random_ids_are_refused_or_solved(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) check_random_ids(&cases[i], strstr(cases[i].text, "2048") ? 5 : 300);
}

static void answers_are_fair_and_nothing_leaks(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        if (strstr(cases[i].text, "2048")) continue;
        prompts_balanced(cases[i].text, 2000);
        prompts_no_leak(cases[i].text, 1000);
        prompts_text_round_trip(cases[i].text);
    }
}

static void prompts_by_hand_have_the_answers_by_hand(void **state)
{
    (void)state;
    check_by_hand("count N=4 V=2", "s0 s1 s1 s1 #s1 >2", "yes");
    check_by_hand("count N=4 V=2", "s0 s1 s1 s1 #s1 >3", "no");
    check_by_hand("count N=4 V=3", "s0 s1 s1 s1 #s2 >0", "no");
    check_by_hand("is-tree n=4", "0 1 1 2 2 3", "yes");
    check_by_hand("is-tree n=4", "3 0 1 3 3 2", "yes");
    check_by_hand("is-tree n=4", "0 1 1 2 2 0", "no"); /* a triangle */
    check_by_hand("is-tree n=4", "0 1 1 0 2 3", "no"); /* a double edge */
    check_by_hand("is-tree n=4", "0 1 1 2 3 3", "no"); /* a loop */
    check_by_hand("dyck N=4 types=2 k=2", "( [ ] )", "yes");
    check_by_hand("dyck N=4 types=2 k=1", "( [ ] )", "no"); /* too deep */
    check_by_hand("dyck N=4 types=2 k=2", "( [ ) ]", "no");
    check_by_hand("dyck N=4 types=2 k=2", "( ) ) (", "no");
    check_by_hand("dyck N=4 types=2 k=2", "( ) ( (", "no"); /* left open */
    check_by_hand("dyck N=4 types=5 k=2", "(4 < > )4", "yes");
}

static void parameters_without_near_misses_are_refused(void **state)
{
    (void)state;
    prompts_not_a_task("is-tree n=3");
    prompts_not_a_task("is-tree n=4 dist=hard");
    prompts_not_a_task("is-tree n=4 dist=degrees");
    prompts_not_a_task("dyck N=5");
    prompts_not_a_task("dyck N=2");
    prompts_not_a_task("dyck N=4 types=1 k=2");
}

/* ---- count --------------------------------------------------------------------------------------------------------- */

/* Neither the threshold nor the symbol that is asked says anything, and in the hard case the counts are close. */
static void count_needs_the_sequence(void **state)
{
    (void)state;
    enum { N = 12, V = 4, RUNS = 8000 };
    static const char *const texts[] = {"count N=12 V=4", "count N=12 V=4 dist=hard"};
    for (size_t i = 0; i < RUNG_COUNT(texts); i++) {
        prompts p;
        size_t by_threshold[N + 1][2] = {{0}}, by_symbol[V][2] = {{0}};
        prompts_open(&p, texts[i]);
        for (size_t run = 0; run < RUNS; run++) {
            prompts_make(&p, run);
            by_threshold[p.in.token[N + 1] - 2 * V][p.in.target[N + 1]]++;
            by_symbol[p.in.token[N] - V][p.in.target[N + 1]]++;
        }
        for (size_t t = 0; t <= N; t++)
            prompts_fair(by_threshold[t][1], by_threshold[t][0] + by_threshold[t][1], texts[i], t);
        for (size_t v = 0; v < V; v++) {
            prompts_fair(by_symbol[v][1], by_symbol[v][0] + by_symbol[v][1], texts[i], v);
            assert_near_binomial(by_symbol[v][0] + by_symbol[v][1], RUNS, 1.0 / V);
        }
        prompts_close(&p);
    }
}

/* How far the count of the asked symbol is from the nearest one on the other side of the threshold: as little as two
 * counts of this sequence can differ. */
static void hard_counts_are_as_close_as_the_sequence_has_them(void **state)
{
    (void)state;
    enum { N = 30, V = 5 };
    prompts p;
    prompts_open(&p, "count N=30 V=5 dist=hard");
    for (size_t run = 0; run < 500; run++) {
        size_t count[V] = {0}, smallest = N, nearest = N;
        prompts_make(&p, run);
        for (size_t i = 0; i < N; i++) count[p.in.token[i]]++;
        size_t threshold = p.in.token[N + 1] - 2 * V, asked = count[p.in.token[N] - V];
        for (size_t a = 0; a < V; a++)
            for (size_t b = 0; b < V; b++) {
                size_t gap = count[a] > count[b] ? count[a] - count[b] : N;
                if (gap < smallest) smallest = gap;
            }
        for (size_t a = 0; a < V; a++) {
            bool across = (count[a] > threshold) != (asked > threshold);
            size_t gap = count[a] > asked ? count[a] - asked : asked - count[a];
            if (across && gap < nearest) nearest = gap;
        }
        assert_int_equal(nearest, smallest);
    }
    prompts_close(&p);
}

/* ---- is-tree ------------------------------------------------------------------------------------------------------- */

/* Edges of a graph on at most 8 vertices as bits; fails on loops and double edges. */
static uint32_t edge_bits(const prompts *p)
{
    uint32_t bits = 0;
    for (size_t t = 0; t < p->in.tokens; t += 2) {
        uint32_t u = p->in.token[t], v = p->in.token[t + 1], high = u > v ? u : v, low = u > v ? v : u;
        assert_true(high != low);
        uint32_t bit = 1u << (high * (high - 1) / 2 + low);
        assert_true((bits & bit) == 0);
        bits |= bit;
    }
    return bits;
}

/* All 16 trees on 4 vertices, and all 4 other graphs of 3 edges, equally often. */
static void trees_and_other_graphs_are_uniform(void **state)
{
    (void)state;
    enum { RUNS = 8000 };
    prompts p;
    size_t seen[2][64] = {{0}}, different[2] = {0};
    prompts_open(&p, "is-tree n=4");
    for (size_t run = 0; run < RUNS; run++) {
        prompts_make(&p, run);
        if (seen[p.in.target[5]][edge_bits(&p)]++ == 0) different[p.in.target[5]]++;
    }
    assert_int_equal(different[1], 16);
    assert_int_equal(different[0], 4);
    for (size_t bits = 0; bits < 64; bits++) {
        assert_true(!seen[0][bits] || !seen[1][bits]);
        if (seen[1][bits]) assert_near_binomial(seen[1][bits], RUNS, 1.0 / 32);
        if (seen[0][bits]) assert_near_binomial(seen[0][bits], RUNS, 1.0 / 8);
    }
    prompts_close(&p);
}

/* Near misses are simple graphs in which every vertex has an edge. With dist=degrees the number of leaves has the same
 * distribution whatever the answer, as has the degree of vertex 0. */
static void near_misses_of_trees_are_near(void **state)
{
    (void)state;
    enum { N = 8, RUNS = 6000 };
    static const char *const texts[] = {"is-tree n=8 dist=hard", "is-tree n=8 dist=degrees"};
    for (size_t i = 0; i < RUNG_COUNT(texts); i++) {
        prompts p;
        size_t leaves[N + 1][2] = {{0}}, degree_of_0[N][2] = {{0}};
        prompts_open(&p, texts[i]);
        for (size_t run = 0; run < RUNS; run++) {
            size_t degree[N] = {0}, ones = 0;
            prompts_make(&p, run);
            edge_bits(&p);
            for (size_t t = 0; t < p.in.tokens; t++) degree[p.in.token[t]]++;
            for (size_t v = 0; v < N; v++) {
                assert_true(degree[v] > 0);
                ones += degree[v] == 1;
            }
            leaves[ones][p.in.target[p.in.tokens - 1]]++;
            degree_of_0[degree[0]][p.in.target[p.in.tokens - 1]]++;
        }
        for (size_t k = 0; k < N && i == 1; k++) {
            prompts_fair(leaves[k][1], leaves[k][0] + leaves[k][1], texts[i], k);
            prompts_fair(degree_of_0[k][1], degree_of_0[k][0] + degree_of_0[k][1], texts[i], k);
        }
        prompts_close(&p);
    }
}

/* Number of parts of a graph, or 0 when a vertex has no edge. */
static size_t parts_without_loners(const rung_instance *graph, size_t n)
{
    bool seen[VERTICES_MAX] = {false};
    size_t parts = 0, degree[VERTICES_MAX] = {0};
    for (size_t t = 0; t < graph->tokens; t++) degree[graph->token[t]]++;
    for (uint32_t v = 0; v < n; v++) {
        if (degree[v] == 0) return 0;
        if (seen[v]) continue;
        parts++;
        visit(seen, graph, v);
    }
    return parts;
}

/* The graph whose edges are the bits, as edge_bits has them. */
static void write_edges(rung_instance *graph, uint32_t bits)
{
    graph->tokens = 0;
    for (uint32_t high = 1, bit = 0; high < 6; high++)
        for (uint32_t low = 0; low < high; low++, bit++) {
            if (!(bits >> bit & 1)) continue;
            graph->token[graph->tokens++] = low;
            graph->token[graph->tokens++] = high;
        }
}

/* Moving an edge, as well as switching two, leads to every graph of two parts with one cycle and no vertex left alone:
 * on 6 vertices all of them turn up. */
static void all_near_misses_of_trees_occur(void **state)
{
    (void)state;
    static const char *const texts[] = {"is-tree n=6 dist=hard", "is-tree n=6 dist=degrees"};
    for (size_t i = 0; i < RUNG_COUNT(texts); i++) {
        prompts p;
        bool *seen = calloc(1 << 15, sizeof *seen);
        assert_non_null(seen);
        prompts_open(&p, texts[i]);
        for (size_t run = 0; run < 12000; run++) {
            prompts_make(&p, run);
            if (!p.in.target[9]) seen[edge_bits(&p)] = true;
        }
        for (uint32_t bits = 0; bits < 1u << 15; bits++) {
            if (__builtin_popcount(bits) != 5) continue;
            write_edges(&p.in, bits);
            if (seen[bits] != (parts_without_loners(&p.in, 6) == 2)) fail_msg("%s: graph %x", texts[i], bits);
        }
        free(seen);
        prompts_close(&p);
    }
}

/* ---- dyck ---------------------------------------------------------------------------------------------------------- */

/* Every prompt, accepted or not, opens first, closes last, and has as many closing as opening brackets of each type;
 * the type of the last bracket is no hint either. */
static void dyck_counts_and_ends_say_nothing(void **state)
{
    (void)state;
    enum { N = 16, TYPES = 3 };
    static const char *const texts[] = {"dyck N=16 types=3 k=3", "dyck N=16 types=3 k=3 dist=hard"};
    for (size_t i = 0; i < RUNG_COUNT(texts); i++) {
        prompts p;
        size_t last_type[TYPES][2] = {{0}}, opening[N + 1][2] = {{0}};
        prompts_open(&p, texts[i]);
        for (size_t run = 0; run < 4000; run++) {
            size_t count[2 * TYPES] = {0};
            prompts_make(&p, run);
            for (size_t t = 0; t < N; t++) count[p.in.token[t]]++;
            for (size_t type = 0; type < TYPES; type++) assert_int_equal(count[2 * type], count[2 * type + 1]);
            assert_true(p.in.token[0] % 2 == 0 && p.in.token[N - 1] % 2 == 1);
            last_type[p.in.token[N - 1] / 2][p.in.target[N - 1]]++;
            opening[count[0]][p.in.target[N - 1]]++;
        }
        for (size_t k = 0; k < TYPES; k++)
            prompts_fair(last_type[k][1], last_type[k][0] + last_type[k][1], texts[i], k);
        for (size_t k = 0; k <= N; k++) prompts_fair(opening[k][1], opening[k][0] + opening[k][1], texts[i], k);
        prompts_close(&p);
    }
}

typedef struct language {
    const char *text;
    uint32_t n, ids;
    int64_t k;
    bool neighbours;
} language;

static bool in_language(const uint32_t *bracket, const language *l)
{
    return cancels(bracket, l->n) && greatest_depth(bracket, l->n) <= l->k;
}

static size_t row_of(const uint32_t *bracket, const language *l)
{
    size_t row = 0;
    for (size_t t = l->n; t-- > 0;) row = row * l->ids + bracket[t];
    return row;
}

/* Marks the rows outside the language that the exchange of two interior symbols leads to; false when there are none. */
static bool mark_near_misses(bool *near_miss, uint32_t *bracket, const language *l)
{
    bool found = false;
    for (size_t i = 1; i + 1 < l->n; i++)
        for (size_t j = i + 1; j + 1 < l->n && (j == i + 1 || !l->neighbours); j++) {
            uint32_t a = bracket[i], b = bracket[j];
            bracket[i] = b;
            bracket[j] = a;
            if (!in_language(bracket, l)) found = near_miss[row_of(bracket, l)] = true;
            bracket[i] = a;
            bracket[j] = b;
        }
    return found;
}

/* Of all rows of brackets, the words of the language that have a near miss are equally frequent, every near miss occurs,
 * and nothing else does. */
static void check_uniform_words(const language *l, size_t rows, size_t runs)
{
    prompts p;
    uint32_t bracket[16] = {0};
    size_t words = 0, *seen = calloc(rows, sizeof *seen);
    bool *word = calloc(rows, sizeof *word), *near_miss = calloc(rows, sizeof *near_miss);
    assert_true(seen && word && near_miss && l->n <= 16);
    for (size_t row = 0; row < rows; row++) {
        size_t rest = row;
        for (size_t i = 0; i < l->n; i++, rest /= l->ids) bracket[i] = (uint32_t)(rest % l->ids);
        word[row] = in_language(bracket, l) && mark_near_misses(near_miss, bracket, l);
        words += word[row];
    }
    prompts_open(&p, l->text);
    for (size_t run = 0; run < runs; run++) {
        prompts_make(&p, run);
        seen[row_of(p.in.token, l)]++;
    }
    for (size_t row = 0; row < rows; row++) {
        if (word[row])
            assert_near_binomial(seen[row], runs, 0.5 / (double)words);
        else if (near_miss[row] != (seen[row] > 0))
            fail_msg("%s: row %zu occurs %zu times", l->text, row, seen[row]);
    }
    free(seen);
    free(word);
    free(near_miss);
    prompts_close(&p);
}

static void dyck_words_are_uniform(void **state)
{
    (void)state;
    static const language languages[] = {
        {"dyck N=10 types=1 k=2", 10, 2, 2, false},          {"dyck N=10 types=1 k=3", 10, 2, 3, false},
        {"dyck N=10 types=1 k=5", 10, 2, 5, false},          {"dyck N=10 types=1 k=3 dist=hard", 10, 2, 3, true},
        {"dyck N=10 types=1 k=5 dist=hard", 10, 2, 5, true}, {"dyck N=6 types=2 k=2", 6, 4, 2, false},
        {"dyck N=6 types=2 k=2 dist=hard", 6, 4, 2, true},   {"dyck N=6 types=2 k=3 dist=hard", 6, 4, 3, true},
    };
    for (size_t i = 0; i < RUNG_COUNT(languages); i++)
        check_uniform_words(&languages[i], languages[i].ids == 2 ? 1024 : 4096, 12000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_follow_the_definition),
        cmocka_unit_test(foreign_tokens_and_lengths_are_refused),
        cmocka_unit_test(random_ids_are_refused_or_solved),
        cmocka_unit_test(answers_are_fair_and_nothing_leaks),
        cmocka_unit_test(prompts_by_hand_have_the_answers_by_hand),
        cmocka_unit_test(parameters_without_near_misses_are_refused),
        cmocka_unit_test(count_needs_the_sequence),
        cmocka_unit_test(hard_counts_are_as_close_as_the_sequence_has_them),
        cmocka_unit_test(trees_and_other_graphs_are_uniform),
        cmocka_unit_test(near_misses_of_trees_are_near),
        cmocka_unit_test(all_near_misses_of_trees_occur),
        cmocka_unit_test(dyck_counts_and_ends_say_nothing),
        cmocka_unit_test(dyck_words_are_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
