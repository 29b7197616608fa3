/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Layers that select single tokens. That such a layer is a scan: a list of the k best so far, kept without their positions,
 * is the choice that looks at all tokens. What the last token of one layer sees of a table: no more than the theorem counts,
 * on every table. And its inequality in whole numbers.
 */
#include "compose_test.h"

static rung_rng rng;

static uint64_t below(uint64_t n)
{
    return rung_rng_below(&rng, n);
}

/* ---- a scan ------------------------------------------------------------------------------------------------------ */

enum { TOKENS = 24 };

typedef struct item {
    uint64_t score, content;
} item;

/* The k with the largest scores, among equal ones the earlier, in the order of their positions: from all tokens. */
static size_t choose(item *out, const item *token, size_t n, size_t k)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t better = 0;
        for (size_t j = 0; j < n; j++)
            better += token[j].score > token[i].score || (token[j].score == token[i].score && j < i);
        if (better < k) out[count++] = token[i];
    }
    return count;
}

/* The next token joins the list, and the worst of k+1 leaves it: the latest of those with the least score. */
static size_t take(item *list, size_t count, size_t k, item next)
{
    size_t worst = count;
    list[count++] = next;
    if (count <= k) return count;
    for (size_t i = count; i-- > 0;)
        if (list[i].score < list[worst].score) worst = i;
    memmove(&list[worst], &list[worst + 1], (count - worst - 1) * sizeof *list);
    return count - 1;
}

static void test_a_choice_is_a_scan(void **state)
{
    (void)state;
    rung_rng_init(&rng, 3, 1, 0);
    for (int turn = 0; turn < 20000; turn++) {
        item token[TOKENS], list[TOKENS + 1], all[TOKENS];
        size_t n = 1 + (size_t)below(TOKENS), k = 1 + (size_t)below(6), count = 0;
        uint64_t range = 1 + below(9);
        for (size_t i = 0; i < n; i++) {
            token[i] = (item){below(range), below(1000)};
            count = take(list, count, k, token[i]);
        }
        assert_int_equal(count, choose(all, token, n, k));
        for (size_t i = 0; i < count; i++)
            assert_true(list[i].score == all[i].score && list[i].content == all[i].content);
    }
}

/* ---- what the last token sees ------------------------------------------------------------------------------------ */

static uint64_t whole_power(uint64_t base, uint64_t exponent)
{
    uint64_t p = 1;
    while (exponent-- > 0) p *= base;
    return p;
}

static uint64_t ways(uint64_t n, uint64_t k)
{
    uint64_t c = 1;
    for (uint64_t i = 0; i < k; i++) c = c * (n - i) / (i + 1);
    return c;
}

/* All that w sees for every z_0, as one number: selected entries with their values. Tokens are the table, some constants, and
 * z_0 with a score of its own. */
static uint64_t view(uint64_t table, uint64_t N0, uint64_t V, uint64_t k, uint64_t score[8][8], uint64_t own[8])
{
    uint64_t seen = 1469598103934665603u;
    for (uint64_t u = 0; u < N0; u++) {
        item token[16], out[16];
        uint64_t rest = table, n = 0;
        for (uint64_t i = 0; i < N0; i++, rest /= V) token[n++] = (item){score[i][rest % V], 100 * i + rest % V};
        token[n++] = (item){own[6], 5001}, token[n++] = (item){own[7], 5002}; /* entries that are constant */
        token[n++] = (item){own[u], 6000 + u};
        size_t count = choose(out, token, n, k);
        for (size_t i = 0; i < count; i++) seen = (seen ^ out[i].content) * 1099511628211u + i;
    }
    return seen;
}

static void test_views_are_few(void **state)
{
    static const uint64_t sizes[][3] = {{3, 2, 1}, {4, 3, 1}, {4, 3, 2}, {5, 2, 2}, {5, 3, 3}};
    (void)state;
    rung_rng_init(&rng, 3, 2, 0);
    for (int turn = 0; turn < 60; turn++)
        for (size_t s = 0; s < RUNG_COUNT(sizes); s++) {
            uint64_t N0 = sizes[s][0], V = sizes[s][1], k = sizes[s][2], tables = whole_power(V, N0);
            uint64_t score[8][8], own[8], seen[256], different = 0, range = 2 + below(12);
            for (int i = 0; i < 8; i++) {
                own[i] = below(range);
                for (int v = 0; v < 8; v++) score[i][v] = below(range);
            }
            for (uint64_t t = 0; t < tables; t++) {
                uint64_t x = view(t, N0, V, k, score, own), at = 0;
                while (at < different && seen[at] != x) at++;
                if (at == different) seen[different++] = x;
            }
            assert_true(different <= ways(N0, k) * whole_power(V, k));
        }
}

/* ---- the row ----------------------------------------------------------------------------------------------------- */

static rung_bound_answer ask_top(uint64_t k, const char *task, uint64_t n, const char *id)
{
    stack s;
    rung_task_conf conf = task_of(task);
    rung_ledger_layer layer = {.sparse = true, .heads = 2, .block = 1, .top = k, .index_elements = 3, .value_dim = 4};
    question q = question_of(stack_of(&s, 1, &layer), &conf, n);
    q.bits = 5;
    return answer_of(&q, id);
}

static void test_sides(void **state)
{
    (void)state;
    rung_rng_init(&rng, 3, 3, 0);
    int held = 0;
    for (int turn = 0; turn < 120; turn++) {
        uint64_t N0 = 2 + below(9), V = 1 + below(5), k = 1 + below(N0 - 1);
        char task[64];
        snprintf(task, sizeof task, "seqcomp L=2 N0=%d n=1 V=%d", (int)N0, (int)V);
        rung_bound_answer a = ask_top(k, task, 0, "dsa-one");
        bool truth = whole_power(V, N0 - k) > ways(N0, k);
        assert_int_equal(a.applies && a.holds, truth);
        held += truth;
    }
    assert_true(held > 10 && held < 110);
    assert_false(ask_top(8, "seqcomp L=2 N0=8 n=2", 0, "dsa-one").applies); /* a whole row can be seen */
    assert_true(ask_top(1, "seqcomp L=2", 1000, "dsa-one").n_threshold == 8);
    /* as a scan: two tokens, each an index score and two heads with a score and four numbers, of five bits */
    rung_bound_answer scan = ask_top(2, "seqcomp L=2", 1000, "B0");
    assert_true(scan.applies && scan.rhs == 2 * (1 + 2 * 5) * 5);
}

/* Membership: index keys of 3 x 5 bits for numbers up to M. */
static void test_membership(void **state)
{
    (void)state;
    assert_true(ask_top(1, "two-sum N=64 M=65536", 0, "sparse").holds); /* 64 (2^16 - 2^15)/2^16 = 32 > 1 */
    assert_false(ask_top(32, "two-sum N=64 M=65536", 0, "sparse").holds);
    assert_false(ask_top(1, "two-sum N=64 M=32768", 0, "sparse").holds); /* every number has a key of its own */
}

/* Selections that are no such scan. */
static void test_other_selections(void **state)
{
    rung_ledger_layer top = {.sparse = true, .heads = 2, .block = 1, .top = 2, .index_elements = 3, .value_dim = 4};
    rung_ledger_layer other[6];
    const rung_arithmetic numbers = rung_arithmetic_plain(RUNG_KERNEL_ONLINE, 5, RUNG_MESSAGE_ONLINE);
    stack s;
    (void)state;
    rung_pattern p = rung_pattern_of(stack_of(&s, 1, &top), &numbers);
    assert_true(p.full == 1 && p.top == 1 && !p.sparse && p.message == 2 * (1 + 2 * 5) * 5);
    for (size_t i = 0; i < RUNG_COUNT(other); i++) other[i] = top;
    other[0].block = 4, other[1].window_size = 8, other[2].summary_elements = 3, other[3].top = 0, other[4].heads = 0;
    other[5].value_dim = 0;
    for (size_t i = 0; i < RUNG_COUNT(other); i++) {
        p = rung_pattern_of(stack_of(&s, 1, &other[i]), &numbers);
        assert_true(p.full == 0 && p.top == 0 && p.sparse);
    }
}

/* The order of softmax plays no role where every layer with a scan selects single tokens, and one where another is full. */
static void test_any_order(void **state)
{
    rung_ledger_layer top = {.sparse = true, .heads = 1, .block = 1, .top = 1, .index_elements = 1, .value_dim = 1};
    rung_ledger_layer layers[2] = {top, full_bits(6, 1)};
    rung_task_conf task = task_of("seqcomp L=2");
    stack s;
    (void)state;
    question q = question_of(stack_of(&s, 1, layers), &task, 100000);
    q.kernel = RUNG_KERNEL_REVERSE, assert_int_equal(reported(&q, "B0").verdict, RUNG_CANNOT);
    q.kernel = RUNG_KERNEL_FAST, assert_false(reported(&q, "B0").applies);
    q.kernel = 0, assert_false(reported(&q, "B0").applies);
    q.ledger = stack_of(&s, 2, layers), q.kernel = RUNG_KERNEL_REVERSE;
    assert_false(reported(&q, "C0").applies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_choice_is_a_scan),
        cmocka_unit_test(test_views_are_few),
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_membership),
        cmocka_unit_test(test_other_selections),
        cmocka_unit_test(test_any_order),
    };
    return cmocka_run_group_tests_name("top", tests, NULL, NULL);
}
