/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Pairwise distinguishable prefixes, task by task: sums, sets, graphs, brackets, vectors. Tables and sequences that are
 * searched for a key are in cut_tables.c. Lengths follow `tokens` if it is given; alphabets (M, V, K, D, types, k) stay
 * as the task says.
 */
#include "cut_tables.h"

#include <string.h>

const char cut_too_short[] = "the shortest prompt of the task is longer than that";

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* query: the answer to y is whether -y is among the numbers, so prefixes are equivalent to the sets of their numbers:
 * any residues, 1 to N of them (numbers may repeat). global: N-1 numbers without a partner among them, then one more: v
 * or -v out of each pair {v, -v}, v > 0; if only S contains v, then -v distinguishes S and S'. causal: as query, and the
 * last of the N numbers is the query. The task has N <= M. */
static const char *two_sum(cut_point *point, const cut_question *q)
{
    uint64_t lead = cut_param(q, "blank"), M = cut_param(q, "M"), form = cut_param(q, "form");
    if (form == 1) return "form=position asks about later numbers too, which no causal model sees";
    if (form != 2 && q->last) return "the last token is the whole query";
    if (q->tokens && q->tokens < lead + 2 + (form == 2)) return cut_too_short;
    uint64_t numbers = q->tokens ? q->tokens - lead - 1 : cut_param(q, "N") - (form == 3);
    if (form == 3) numbers = cut_least(numbers, M - 1);
    if (form != 2) {
        point->count = (cut_count){CUT_SUBSETS, M, cut_least(numbers, M)};
        point->prefix = lead + numbers;
        return NULL;
    }
    uint64_t pairs = (M - 1) / 2;
    point->count = (cut_count){CUT_SIGNED, pairs, cut_least(numbers - 1, pairs)};
    point->prefix = lead + numbers - 1;
    return NULL;
}

/* A set S of 1 to N-2 numbers in {2 .. U}, 2U + 1 < M, then -(s+1), then 1: the only triple with the last number that
 * can sum to 0 is 1, s, -(s+1). */
static const char *three_sum(cut_point *point, const cut_question *q)
{
    uint64_t M = cut_param(q, "M"), numbers = q->tokens ? q->tokens : cut_param(q, "N");
    if (numbers < 3) return cut_too_short;
    if (q->tokens) { /* the task requires (N+2)(N+3) <= M < 2^24 */
        numbers = cut_least(numbers, 4096);
        while ((numbers + 2) * (numbers + 3) > M) numbers--;
    }
    uint64_t values = (M - 2) / 2 - 1;
    point->count = (cut_count){CUT_SUBSETS, values, cut_least(numbers - 2, values)};
    point->prefix = numbers - 2;
    return NULL;
}

/* ---- halves ------------------------------------------------------------------------------------------------------ */

/* v = u distinguishes u from all others. With the last bit of v fixed to b the strings that end in b remain, and all
 * others are one class: 2^(N-1) + 1, for which N bits are needed as well. */
static const char *string_equality(cut_point *point, const cut_question *q)
{
    uint64_t bits = q->tokens ? q->tokens / 2 : cut_param(q, "N");
    if (bits < 1) return cut_too_short;
    point->count = (cut_count){CUT_POWER, 2, bits};
    point->prefix = bits;
    return NULL;
}

/* k-sets a, a', with x in a alone: b takes x and k-1 more outside a', which leaves at least N-k >= k. With the last bit
 * of b fixed to 0 the same holds within N-1 places as long as N > 2k. For N = 2k half of the sets remain, those with the
 * last place: b is then the complement of a'. */
static const char *disjointness(cut_point *point, const cut_question *q)
{
    uint64_t size = cut_param(q, "k"), bits = q->tokens ? q->tokens / 2 : cut_param(q, "N");
    if (q->tokens && !cut_fixed(q, "k")) size = (bits + 1) / 4 ? (bits + 1) / 4 : 1;
    if (bits < 2 || 2 * size > bits) return cut_too_short;
    point->count = (cut_count){CUT_CHOOSE, q->last && bits == 2 * size ? bits - 1 : bits, size};
    point->prefix = bits;
    return NULL;
}

/* ---- counting and graphs ----------------------------------------------------------------------------------------- */

/* A threshold between two different counts of a symbol distinguishes their sequences. With the threshold, the last
 * token, fixed to 0, only which symbols occur matters. */
static const char *count(cut_point *point, const cut_question *q)
{
    uint64_t V = cut_param(q, "V");
    if (q->tokens && q->tokens < 3) return cut_too_short;
    uint64_t symbols = q->tokens ? q->tokens - 2 : cut_param(q, "N");
    point->count =
        q->last ? (cut_count){CUT_SUBSETS, V, cut_least(symbols, V)} : (cut_count){CUT_CHOOSE, symbols + V - 1, V - 1};
    point->prefix = symbols;
    return NULL;
}

/* Forests of n-k edges, by their partition of the vertices into k trees. If x, y are together in one and not in the
 * other, a completion of the other with the edge xy is a tree there and has a cycle here. With k >= 3 this completion
 * can end with any vertex. There are at least k^(n-k) partitions: k vertices apart, each other one with any of them. */
static const char *is_tree(cut_point *point, const cut_question *q)
{
    uint64_t n = q->tokens ? q->tokens / 2 + 1 : cut_param(q, "n"), low = q->last ? 3 : 2, high = n - 1;
    if (n < 4) return cut_too_short;
    while (low < high) { /* (n-k) log2 k has one maximum */
        uint64_t k = low + (high - low) / 2;
        cut_count here = {CUT_POWER, k, n - k}, next = {CUT_POWER, k + 1, n - k - 1};
        if (cut_log2_estimate(&next) > cut_log2_estimate(&here))
            low = k + 1;
        else
            high = k;
    }
    point->count = (cut_count){CUT_POWER, low, n - low};
    point->prefix = 2 * (n - low);
    point->odd_lengths = true;
    return NULL;
}

/* ---- brackets and vectors ---------------------------------------------------------------------------------------- */

/* Prefixes of d brackets with d, d-2, ... left open. Closing those of one, and pairs () until N, is right for no other.
 * To end with ) of the first type, one pair must remain. */
static const char *dyck(cut_point *point, const cut_question *q)
{
    uint64_t brackets = q->tokens ? q->tokens - q->tokens % 2 : cut_param(q, "N"), spare = q->last ? 2 : 0;
    if (brackets < 4) return cut_too_short;
    uint64_t depth = cut_least(cut_param(q, "k"), (brackets - spare) / 2);
    point->count = (cut_count){CUT_STACKS, cut_param(q, "types"), depth};
    point->prefix = depth;
    return NULL;
}

/* Half of the operations push any values onto one stack, and then they come off. With a fixed last operation, a pop,
 * the value at any depth can be brought up to it: operations on another stack take the place of the pops that are not
 * needed. */
static const char *stacks(cut_point *point, const cut_question *q)
{
    uint64_t pushes = (q->tokens ? q->tokens : q->task->tokens) / 2;
    if (q->last && cut_param(q, "S") < 2) return "every operation on the only stack changes what the last pop finds";
    if (!pushes) return cut_too_short;
    point->count = (cut_count){CUT_POWER, cut_param(q, "V"), pushes};
    point->prefix = pushes;
    return NULL;
}

/* Vectors +-e_1 at all positions but the last. The indicator vectors of its subsets of q < N positions (its own may be
 * one of them) span everything: different signs give different sums somewhere, at a distance of 2/q. For q = N only the
 * sum of all counts. */
static const char *q_sparse_average(cut_point *point, const cut_question *q)
{
    if (q->last) return "the last token is the whole query; the row average covers it";
    uint64_t positions = q->tokens ? q->tokens : cut_param(q, "N"), size = cut_param(q, "q");
    if (positions < 2 || size > positions) return cut_too_short;
    point->count = size < positions ? (cut_count){CUT_POWER, 2, positions - 1} : (cut_count){CUT_POWER, positions, 1};
    point->prefix = positions - 1;
    return NULL;
}

const cut_task cut_tasks[] = {
    {"two-sum", two_sum},
    {"three-sum", three_sum},
    {"string-equality", string_equality},
    {"disjointness", disjointness},
    {"count", count},
    {"is-tree", is_tree},
    {"assoc-recall", cut_assoc_recall},
    {"retrieval", cut_retrieval},
    {"percom", cut_percom},
    {"mqar", cut_mqar},
    {"mkar", cut_mkar},
    {"c-gram", cut_c_gram},
    {"k-hop", cut_k_hop},
    {"selective-copy", cut_selective_copy},
    {"dyck", dyck},
    {"q-sparse-average", q_sparse_average},
    {"palindrome", cut_palindrome},
    {"stacks", stacks},
    {"state-recall", cut_state_recall},
    {"parity-recall", cut_parity_recall},
    {"variable-tracking", cut_variable_tracking},
    {NULL, NULL},
};
