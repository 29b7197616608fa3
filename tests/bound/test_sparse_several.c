/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Theorem SP, several layers of block-sparse attention: the inequality a second time, the distances that it chooses, protocols that it may
 * not exclude, and its proof on random models in which every choice and every message is a hash. The proof with one thing left out must fail.
 */
#include "dataflow.h"
#include "effort.h"
#include "rows_test.h"

#include "../../src/bound/sparse_deep.h"

static rung_rng rng;

static int setup(void **state)
{
    (void)state;
    rung_rng_init(&rng, 41, 6, 0);
    return 0;
}

static uint64_t between(uint64_t low, uint64_t high)
{
    return low + rung_rng_below(&rng, high - low + 1);
}

/* ---- the inequality ------------------------------------------------------------------------------------------------------------ */

/* For distance j, with `shorter` blocks less in its set; positive: it holds. */
static long double slack(const several_sparse *x, uint64_t j, uint64_t shorter)
{
    long double m = (long double)(x->g[x->K + 1] - x->g[0]), sets = (long double)x->K + 1;
    long double delta = 1 / sets - m * (long double)x->r / (long double)(x->M - 1);
    if (delta <= 0) return -1;
    long double each = -(long double)x->r * log2l(1 - delta) - (long double)x->kappa;
    long double needs =
        (long double)x->heard * (long double)x->B * (long double)x->g[j] + (long double)x->state + log2l(sets);
    return (long double)(x->g[j + 1] - x->g[j] - shorter) * each - needs;
}

static several_sparse draw(void)
{
    several_sparse x = {.B = between(2, 400), .K = between(1, 4), .kappa = between(0, 20), .heard = between(0, 30)};
    x.state = between(0, 1) * between(0, 5000), x.near = between(0, 3), x.M = UINT64_C(1) << between(8, 40);
    return x;
}

static void test_distances(void **state)
{
    rung_certified *sheet;
    int found = 0;
    (void)state;
    CHECK(rung_certified_new(&sheet, 128, &check_err));
    for (size_t i = 0; i < effort(4000, 600); i++) {
        several_sparse x = draw();
        uint64_t blocks = sparse_deep_choose(&x);
        if (!blocks) continue;
        assert_true(x.g[0] == x.near && x.g[x.K + 1] - x.near == blocks && x.r >= 1 && x.r <= x.B);
        for (x.at = 0; x.at <= x.K; x.at++) {
            rung_certified_reset(sheet);
            bound_sides sides = sparse_deep_sides(sheet, &x);
            if (!(slack(&x, x.at, 0) > 0) || rung_ival_less(sheet, sides.rhs, sides.lhs) != RUNG_SURELY)
                fail_msg("draw %zu: distance %d does not hold", i, (int)x.at);
            long double mine = slack(&x, x.at, 0);
            double theirs = rung_ival_low(sheet, sides.lhs) - rung_ival_high(sheet, sides.rhs);
            assert_true(fabsl(mine - theirs) <= 1e-6L * (1 + fabsl(mine) + rung_ival_high(sheet, sides.rhs)));
        }
        found++;
    }
    rung_certified_free(sheet);
    assert_true(found > (int)effort(400, 60));
}

/* Where a simple protocol exists: the query opens every block; summaries hold all; the last block has collected everything. */
static bool can_be_done(const several_sparse *x, uint64_t blocks, uint64_t layers)
{
    double each = (double)x->r * log2((double)(x->M - 1));
    bool collected = layers > 1 && x->B >= blocks && (double)(x->B / blocks * x->heard) >= each;
    return x->K >= blocks || (double)x->kappa >= each || collected || (double)x->state >= each * (double)blocks;
}

static void test_protocols(void **state)
{
    int found = 0;
    (void)state;
    for (size_t i = 0; i < effort(20000, 2000); i++) {
        several_sparse x = draw();
        x.near = 0, x.heard = between(0, 1) * between(1, 4000);
        uint64_t blocks = sparse_deep_choose(&x);
        if (!blocks) continue;
        found++;
        if (can_be_done(&x, blocks, 2)) fail_msg("draw %zu: %d blocks of %d", i, (int)blocks, (int)x.B);
    }
    assert_true(found > 100);
}

/* ---- the proof on random models -------------------------------------------------------------------------------------------------- */

enum { NUMBERS_MAX = 10, LAYERS_OF_MODEL = 4 };

/* 'S': blocks, 'R': a state of two letters. The query comes after m blocks of B tokens. */
typedef struct blocks_model {
    const char *layers;
    int m, B, k;
    uint64_t seed;
} blocks_model;

typedef struct blocks_run {
    int summary[LAYERS_OF_MODEL][NUMBERS_MAX], heard[LAYERS_OF_MODEL][NUMBERS_MAX + 1];
    int after[LAYERS_OF_MODEL][NUMBERS_MAX + 2]; /* states at a cut */
    unsigned opened;                             /* blocks that the query has opened */
    uint64_t answer;
} blocks_run;

static uint64_t fold(uint64_t hash, const uint64_t *value, int from, int to)
{
    for (int i = from; i < to; i++) hash = stir(hash, value[i]);
    return hash;
}

/* The k earlier blocks that a hash likes best, as bits. */
static unsigned choose_blocks(uint64_t base, int earlier, int k)
{
    unsigned open = 0;
    for (; k > 0 && earlier > 0; k--) {
        int best = -1;
        uint64_t most = 0;
        for (int b = 0; b < earlier; b++)
            if (!(open >> b & 1) && (best < 0 || stir(base, (uint64_t)b) > most))
                best = b, most = stir(base, (uint64_t)b);
        if (best >= 0) open |= 1u << best;
    }
    return open;
}

static void sparse_layer(blocks_run *r, const blocks_model *m, int layer, uint64_t *x)
{
    int n = m->m * m->B;
    uint64_t next[NUMBERS_MAX + 1], seed = stir(m->seed, UINT64_C(500) + (uint64_t)layer);
    for (int b = 0; b < m->m; b++)
        r->summary[layer][b] = (int)(fold(stir(seed, (uint64_t)b), x, b * m->B, (b + 1) * m->B) >> 40 & 1);
    for (int t = 0; t <= n; t++) {
        int own = t / m->B;
        uint64_t base = stir(stir(seed, UINT64_C(7777) + (uint64_t)t), x[t]);
        for (int b = 0; b < own; b++) base = stir(base, (uint64_t)r->summary[layer][b]);
        unsigned open = choose_blocks(base, own, m->k);
        if (t == n) r->opened |= open;
        uint64_t seen = base;
        for (int b = 0; b < own; b++)
            if (open >> b & 1) seen = fold(seen, x, b * m->B, (b + 1) * m->B);
        seen = fold(seen, x, own * m->B, t);
        r->heard[layer][t] = (int)(seen >> 40 & 1);
        next[t] = stir(base, (uint64_t)r->heard[layer][t]);
    }
    memcpy(x, next, sizeof next);
}

static void recurrent_layer(blocks_run *r, const blocks_model *m, int layer, uint64_t *x)
{
    uint64_t seed = stir(m->seed, UINT64_C(900) + (uint64_t)layer);
    r->after[layer][0] = 0;
    for (int t = 0; t <= m->m * m->B; t++) {
        uint64_t seen = stir(stir(stir(seed, (uint64_t)t), x[t]), (uint64_t)r->after[layer][t]);
        r->after[layer][t + 1] = (int)(seen >> 40 & 1);
        x[t] = stir(seen, (uint64_t)r->after[layer][t + 1]);
    }
}

static void run_blocks(blocks_run *r, const blocks_model *m, unsigned numbers, int query)
{
    uint64_t x[NUMBERS_MAX + 1];
    int n = m->m * m->B;
    *r = (blocks_run){0};
    for (int t = 0; t < n; t++) x[t] = stir(stir(m->seed, (uint64_t)t), numbers >> t & 1);
    x[n] = stir(stir(m->seed, (uint64_t)n), UINT64_C(1000) + (uint64_t)query);
    for (int layer = 0; m->layers[layer]; layer++)
        (m->layers[layer] == 'S' ? sparse_layer : recurrent_layer)(r, m, layer, x);
    r->answer = x[n];
}

/* What may be left out of the view, and the last: messages of the last sparse layer, which a recurrent layer after it hands on. */
enum { SUMMARIES, HEARD, UNOPENED, STATES, HEARD_LAST };

static int last_sparse(const blocks_model *m)
{
    return (int)(strrchr(m->layers, 'S') - m->layers);
}

/* Contents outside of the blocks [from, to), their summaries, what later tokens hear, and the states that leave them. */
static uint64_t view_of(const claims *c, const blocks_model *m, const blocks_run *r, unsigned numbers, int query,
                        int from, int to)
{
    int n = m->m * m->B, last = last_sparse(m);
    bool handed_on = m->layers[last + 1] != 0;
    uint64_t view = stir(1, (uint64_t)query);
    for (int t = 0; t < n; t++)
        if (t < from * m->B || t >= to * m->B) view = stir(view, numbers >> t & 1);
    for (int layer = 0; m->layers[layer]; layer++) {
        if (m->layers[layer] == 'R') {
            if (keeps(c, STATES)) view = stir(view, (uint64_t)r->after[layer][to * m->B]);
            continue;
        }
        for (int b = from; keeps(c, SUMMARIES) && b < to; b++) view = stir(view, (uint64_t)r->summary[layer][b]);
        bool counts = layer < last || (handed_on && keeps(c, HEARD_LAST));
        for (int t = to * m->B; counts && keeps(c, HEARD) && t < n; t++)
            view = stir(view, (uint64_t)r->heard[layer][t]);
    }
    return view;
}

/* Equal views give equal answers where the query opens none of the blocks in question. */
static void check_blocks(claims *c, const blocks_model *m)
{
    enum { ROOM = 1 << 13 };
    static struct {
        uint64_t view, answer;
        bool there;
    } known[ROOM];
    unsigned all = 1u << (m->m * m->B);
    blocks_run *run = malloc(2 * all * sizeof *run);
    assert_non_null(run);
    for (unsigned i = 0; i < 2 * all; i++) run_blocks(&run[i], m, i / 2, (int)(i % 2));
    for (int from = 0; from < m->m; from++)
        for (int to = from + 1; to <= m->m; to++) {
            unsigned inside = (1u << to) - (1u << from);
            memset(known, 0, sizeof known);
            for (unsigned i = 0; i < 2 * all; i++) {
                if (keeps(c, UNOPENED) && (run[i].opened & inside)) continue;
                uint64_t view = view_of(c, m, &run[i], i / 2, (int)(i % 2), from, to);
                size_t at = view % ROOM;
                while (known[at].there && known[at].view != view) at = (at + 1) % ROOM;
                if (known[at].there) claim(c, known[at].answer == run[i].answer, "the view determines the answer");
                known[at].view = view, known[at].there = true;
                if (!known[at].answer) known[at].answer = run[i].answer;
            }
        }
    free(run);
}

static void test_view_determines_the_answer(void **state)
{
    static const struct {
        const char *layers;
        int m, B, k;
        unsigned parts;
    } cases[] = {
        {"SS", 4, 2, 1, 1u << SUMMARIES | 1u << HEARD | 1u << UNOPENED},
        {"SSS", 4, 2, 1, 1u << SUMMARIES | 1u << HEARD | 1u << UNOPENED},
        {"SS", 5, 1, 2, 0},
        {"SSS", 3, 3, 1, 0},
        {"RSS", 4, 2, 1, 1u << STATES},
        {"SRS", 4, 2, 1, 1u << STATES | 1u << HEARD},
        {"SSR", 4, 2, 1, 1u << STATES | 1u << HEARD_LAST},
        {"SR", 4, 2, 1, 1u << STATES | 1u << HEARD_LAST},
    };
    claims all = {0};
    int caught = 0;
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        blocks_model m = {cases[i].layers, cases[i].m, cases[i].B, cases[i].k, 0};
        for (uint64_t k = 0; k < (getenv("RUNG_SOAK") ? 200 : 3); k++) m.seed = stir(51, k), check_blocks(&all, &m);
        if (all.failed) fail_msg("%s: %ld of %ld comparisons fail", m.layers, all.failed, all.compared);
        for (int part = 0; part <= HEARD_LAST; part++) {
            if (!(cases[i].parts >> part & 1)) continue;
            claims c = {.without = 1u << part};
            for (uint64_t k = 0; !c.failed && k < 40; k++) m.seed = stir(52, k), check_blocks(&c, &m);
            if (!c.failed) fail_msg("%s: the proof without part %d was not caught", m.layers, part);
            caught++;
        }
    }
    print_message("%ld comparisons, %d wrong proofs caught\n", all.compared, caught);
}

/* ---- the row ----------------------------------------------------------------------------------------------------------------------- */

static rung_ledger_layer sparse_bits(uint64_t B, uint64_t top, uint64_t summary, uint64_t values)
{
    return (rung_ledger_layer){.sparse = true,
                               .heads = 1,
                               .block = B,
                               .top = top,
                               .summary_elements = summary,
                               .value_dim = values,
                               .key_dim = 1};
}

static rung_bound_answer ask_blocks(const rung_ledger_layer *layer, size_t count, const char *task, uint64_t n)
{
    stack s;
    rung_task_conf conf = task_of(task);
    question q = question_of(stack_of(&s, count, layer), &conf, n);
    q.thresholds = true;
    return answer_of(&q, "SP");
}

/* From one block less on it no longer holds, with and without a blank in front, a window, and numbers in the query's own block. */
static void test_row(void **state)
{
    rung_ledger_layer two[3] = {sparse_bits(64, 1, 8, 4), sparse_bits(64, 1, 8, 4), recurrent_bits(100)};
    (void)state;
    rung_bound_answer a = ask_blocks(two, 2, "two-sum M=8388607", UINT64_C(1) << 40);
    assert_true(a.holds && a.n_threshold == 183 * 64 + 1);
    assert_false(ask_blocks(two, 2, "two-sum M=8388607", 183 * 64).holds);
    assert_true(ask_blocks(two, 2, "two-sum M=8388607", 183 * 64 + 1).holds);
    assert_true(ask_blocks(two, 2, "two-sum M=8388607 N=11712", 0).holds);
    assert_false(ask_blocks(two, 2, "two-sum M=8388607 N=11711", 0).holds);
    assert_false(ask_blocks(two, 2, "two-sum M=8388607 N=11713", 0).holds); /* the own block counts as near */
    assert_true(ask_blocks(two, 2, "two-sum M=8388607 blank=1", UINT64_C(1) << 40).n_threshold == 184 * 64 + 1);
    rung_bound_answer more = ask_blocks(two, 3, "two-sum M=8388607", UINT64_C(1) << 40);
    assert_true(more.n_threshold > a.n_threshold || !more.holds);
    two[0].window_size = 65;
    more = ask_blocks(two, 2, "two-sum M=8388607", UINT64_C(1) << 40);
    assert_true(!more.holds || more.n_threshold > a.n_threshold);
}

/* What tokens hear in the last sparse layer counts if something recurrent follows, and only then. */
static void test_layers_after(void **state)
{
    rung_ledger_layer sparse = sparse_bits(256, 1, 4, 3), others[] = {recurrent_bits(2),
                                                                      {.window = true, .window_elements = 2},
                                                                      {.chunk = true, .window_elements = 2},
                                                                      {.conv_elements = 2}};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(others); i++) {
        rung_ledger_layer after[] = {sparse, sparse, others[i]}, before[] = {others[i], sparse, sparse};
        rung_bound_answer a = ask_blocks(after, 3, "two-sum M=8388607", UINT64_C(1) << 40);
        assert_true(a.holds && strstr(a.statement, ", 6 bits heard") && strstr(a.statement, ", 2 bits of state"));
        a = ask_blocks(before, 3, "two-sum M=8388607", UINT64_C(1) << 40);
        assert_true(a.holds && strstr(a.statement, ", 3 bits heard") && strstr(a.statement, ", 2 bits of state"));
    }
}

static void test_other_layers(void **state)
{
    rung_ledger_layer plain = sparse_bits(64, 1, 8, 4), other[8];
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(other); i++) other[i] = plain;
    other[0].full = true, other[1].block = 32, other[2].block = 1, other[3].summary_overlaps = true;
    other[4].summary_elements = 0, other[5].value_dim = 0, other[6].levels = true, other[7].top = 300;
    for (size_t i = 0; i < RUNG_COUNT(other); i++) {
        rung_ledger_layer layers[] = {plain, other[i]};
        if (ask_blocks(layers, 2, "two-sum M=8388607", UINT64_C(1) << 40).applies)
            fail_msg("SP speaks of case %d", (int)i);
    }
    assert_false(ask_blocks(&plain, 1, "two-sum M=8388607", UINT64_C(1) << 40).applies);
    assert_false(ask_blocks((rung_ledger_layer[]){plain, plain}, 2, "two-sum M=8388607 form=global", 1000).applies);
    assert_false(ask_blocks((rung_ledger_layer[]){plain, plain}, 2, "two-sum M=509", UINT64_C(1) << 40).applies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_protocols),
        cmocka_unit_test(test_view_determines_the_answer),
        cmocka_unit_test(test_row),
        cmocka_unit_test(test_layers_after),
        cmocka_unit_test(test_other_layers),
    };
    return cmocka_run_group_tests_name("several sparse layers", tests, setup, NULL);
}
