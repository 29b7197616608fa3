/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The rows about tasks other than composition, and those that are published: every inequality a second time in integers, their
 * thresholds, that longer prompts are never easier, and that nothing is forbidden which a construction does.
 */
#include "build/build_test.h"
#include "effort.h"
#include "rows_test.h"

#include <gmp.h>

static rung_rng rng;

static uint64_t between(uint64_t low, uint64_t high)
{
    return low + rung_rng_below(&rng, high - low + 1);
}

/* ---- counts in integers --------------------------------------------------------------------------------------------------- */

/* sum over j = 1..most of C(a,j) w^j */
static void subsets(mpz_t out, unsigned long a, unsigned long most, unsigned long w)
{
    mpz_t term;
    mpz_init_set_ui(term, 1);
    mpz_set_ui(out, 0);
    for (unsigned long j = 1; j <= most && j <= a; j++) {
        mpz_mul_ui(term, term, (a - j + 1) * w);
        mpz_divexact_ui(term, term, j);
        mpz_add(out, out, term);
    }
    mpz_clear(term);
}

/* Whether 2^bits < count. */
static bool too_few(const mpz_t count, uint64_t bits)
{
    mpz_t power;
    mpz_init(power);
    mpz_setbit(power, bits);
    bool less = mpz_cmp(power, count) < 0;
    mpz_clear(power);
    return less;
}

static double log2_of(const mpz_t x)
{
    long exponent;
    double mantissa = mpz_get_d_2exp(&exponent, x);
    return log2(mantissa) + (double)exponent;
}

/* The row of the task in `text` must hold exactly for the bits that are too few for `count`. */
static void assert_count(const char *text, const mpz_t count, bool full)
{
    rung_task_conf conf = task_of(text);
    uint64_t near = mpz_sizeinbase(count, 2) - 1, from = near > 3 ? near - 2 : 2;
    for (uint64_t bits = from; bits <= near + 2; bits++) {
        rung_bound_answer a = full ? ask_full(&conf, bits, 1, 0, "cut-one") : ask_recurrent(&conf, bits, 0, "cut");
        if (!a.applies || a.holds != too_few(count, bits) || fabs(a.lhs - log2_of(count)) > 1e-9 * (1 + a.lhs))
            fail_msg("%s, %s layer of %llu bits: %s (%s)", text, full ? "full" : "recurrent", (unsigned long long)bits,
                     a.statement, a.premise);
    }
}

static void test_inequalities_in_integers(void **state)
{
    (void)state;
    mpz_t count, other;
    mpz_inits(count, other, NULL);
    char text[128];
    for (int i = 0; i < 25; i++) {
        unsigned long N = between(2, 60), M = between(3, 200), V = between(2, 30), k = between(1, N / 2);
        snprintf(text, sizeof text, "two-sum N=%lu M=%lu", N, M);
        subsets(count, M, N, 1), assert_count(text, count, false);
        snprintf(text, sizeof text, "two-sum form=global N=%lu M=%lu", N, M);
        subsets(count, (M - 1) / 2, N - 1, 2), assert_count(text, count, false), assert_count(text, count, true);
        snprintf(text, sizeof text, "string-equality N=%lu", N);
        mpz_ui_pow_ui(count, 2, N), assert_count(text, count, false), assert_count(text, count, true);
        snprintf(text, sizeof text, "disjointness N=%lu k=%lu", N, k);
        mpz_bin_uiui(count, N, k), assert_count(text, count, false);
        if (N == 2 * k) mpz_divexact_ui(count, count, 2);
        assert_count(text, count, true);
        snprintf(text, sizeof text, "count N=%lu V=%lu", N, V);
        mpz_bin_uiui(count, N + V - 1, V - 1), assert_count(text, count, false);
        subsets(count, V, N, 1), assert_count(text, count, true);
        snprintf(text, sizeof text, "assoc-recall N=%lu V=%lu", N, V);
        mpz_ui_pow_ui(count, V, N), assert_count(text, count, false);
        snprintf(text, sizeof text, "retrieval N=%lu D=6", N);
        mpz_ui_pow_ui(count, 64, N), assert_count(text, count, false);
        snprintf(text, sizeof text, "mqar T=%lu pairs=%lu vocab=400", 4 * N, N);
        mpz_fac_ui(count, 200), mpz_fac_ui(other, 200 - N), mpz_divexact(count, count, other);
        assert_count(text, count, false);
        snprintf(text, sizeof text, "three-sum N=%lu M=%lu form=last", N + 1, (N + 3) * (N + 4) + M);
        subsets(count, ((N + 3) * (N + 4) + M - 2) / 2 - 1, N - 1, 1);
        assert_count(text, count, false), assert_count(text, count, true);
        mpz_set_ui(count, 0);
        for (unsigned long d = N; d + 1 > 0 && d <= N; d -= 2) mpz_ui_pow_ui(other, V, d), mpz_add(count, count, other);
        snprintf(text, sizeof text, "dyck N=%lu types=%lu k=%lu", 4 * N, V, N);
        assert_count(text, count, false), assert_count(text, count, true);
    }
    mpz_clears(count, other, NULL);
}

/* Families of sequences, counted by hand from their definitions; 0: no statement about one full layer. */
static const struct {
    const char *task;
    double recurrent, one;
} by_hand[] = {
    {"c-gram c=2 N=4 V=6", 16, 0},               /* blocks 4^2, rows 3! */
    {"c-gram c=2 N=8 V=8", 5040, 0},             /* rows 7!, blocks 4^4 */
    {"c-gram c=2 N=12 V=6", 120, 0},             /* rows 5!; a tree would repeat its symbols */
    {"c-gram c=3 N=6 V=4", 4, 4},                /* blocks 2^2 */
    {"c-gram c=3 N=12 V=10", 4096, 1296},        /* 2^2 keys, 8 values; 4 keys with one last symbol, 6 values */
    {"mkar T=7 V=4 key=1", 16, 0},               /* trees 4^2 */
    {"mkar T=8 V=9 key=1", 720, 0},              /* rows 6! */
    {"mkar T=20 V=5 key=1", 125, 0},             /* trees 5^3 */
    {"mkar T=8 V=3 key=2", 2, 2},                /* one key, 2 values */
    {"mkar T=14 V=2 key=2 layout=pairs", 16, 4}, /* 4 pairs; 2 keys with one last symbol */
    {"mkar T=7 V=3 key=1 layout=pairs", 27, 0},  /* 3 pairs */
    {"k-hop N=7 alphabet=3 k=2", 3, 1},          /* trees 3^1 of 4 symbols; rows 1! of the 2 that are left */
    {"k-hop N=12 alphabet=7 k=3", 720, 24},      /* rows 6!; rows 4! of 5 symbols */
    {"k-hop N=12 alphabet=7 k=3 hops=uniform", 1296, 125}, /* trees 6^4 of 11; trees 5^3 of 9 */
    {"selective-copy", 26439622160671, 28629151},          /* 31^9, 31^5 */
    {"selective-copy T=6 V=2 numbers=1 first=3", 27, 3},
    {"selective-copy T=5 V=2 numbers=1 first=3", 9, 3},
    {"selective-copy T=5 V=2 numbers=2 first=1", 16, 4},
    {"selective-copy T=9 V=3 numbers=2 form=list", 9, 0},
    {"is-tree n=4", 4, 3},
    {"is-tree n=5", 9, 9},
    {"is-tree n=12", 78125, 78125},
    {"q-sparse-average N=3 q=3", 3, 0},
    {"q-sparse-average N=10 q=3", 512, 0},
    {"palindrome N=5 V=3", 243, 0},
    {"stacks T=9 S=2 V=3", 81, 81}, /* four pushes */
    {"stacks T=9 S=1 V=3", 81, 0},
    {"state-recall N=6 V=3 K=4 M=7", 729, 729},
    {"parity-recall N=3 V=3 M=2", 729, 729},           /* two tables */
    {"variable-tracking chains=2 hops=2 V=2", 64, 32}, /* the last assignment copies one of the other five */
    {"variable-tracking chains=3 hops=0 V=5 K=7", 125, 0},
};

static void test_families_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(by_hand); i++) {
        rung_task_conf conf = task_of(by_hand[i].task);
        rung_bound_answer r = ask_recurrent(&conf, 1, 0, "cut"), f = ask_full(&conf, 2, 1, 0, "cut-one");
        if (fabs(r.lhs - log2(by_hand[i].recurrent)) > 1e-9) fail_msg("%s: %s", by_hand[i].task, r.statement);
        assert_int_equal(f.applies, by_hand[i].one > 0);
        if (f.applies && fabs(f.lhs - log2(by_hand[i].one)) > 1e-9) fail_msg("%s: %s", by_hand[i].task, f.statement);
    }
}

/* Sums of more terms than are added: never above the truth, and close to it. */
static void test_long_sums_stay_below_the_truth(void **state)
{
    (void)state;
    static const struct {
        unsigned long N, M;
    } sizes[] = {{5000, 6000}, {5000, 20001}, {9999, 10000}, {30000, 20000}, {6000, 12000}};
    mpz_t count;
    mpz_init(count);
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++)
        for (int form = 0; form <= 2; form += 2) {
            char text[96];
            unsigned long M = sizes[i].M, N = sizes[i].N;
            snprintf(text, sizeof text, "two-sum N=%lu M=%lu form=%s", N, M, form ? "global" : "query");
            if (form)
                subsets(count, (M - 1) / 2, N - 1, 2);
            else
                subsets(count, M, N, 1);
            rung_task_conf conf = task_of(text);
            double truth = log2_of(count);
            rung_bound_answer a = ask_recurrent(&conf, 7, 0, "cut");
            assert_true(a.holds);
            assert_true(a.lhs <= truth + 1e-9 && a.lhs >= truth - 0.25);
        }
    mpz_clear(count);
}

/* ---- free sizes -------------------------------------------------------------------------------------------------------------- */

static const char *const free_tasks[] = {"two-sum M=40",
                                         "percom",
                                         "two-sum M=40 blank=1",
                                         "two-sum M=41 form=global",
                                         "three-sum M=900",
                                         "string-equality",
                                         "disjointness",
                                         "disjointness N=20 k=3",
                                         "count V=5",
                                         "is-tree",
                                         "assoc-recall V=3",
                                         "retrieval D=3 N=8",
                                         "mqar vocab=20 pairs=2 T=16",
                                         "mkar V=4 key=1",
                                         "mkar V=4 key=2",
                                         "mkar V=3 key=2 layout=pairs T=20",
                                         "c-gram c=2 V=12 N=8",
                                         "c-gram c=3 V=6 N=12",
                                         "k-hop alphabet=9 k=2",
                                         "selective-copy V=5 first=4 numbers=3",
                                         "dyck types=3 k=6",
                                         "q-sparse-average q=3 d=1",
                                         "palindrome V=3",
                                         "stacks V=3 S=2",
                                         "state-recall V=3",
                                         "state-recall V=3 M=5 K=2",
                                         "parity-recall V=3",
                                         "variable-tracking V=3 hops=1",
                                         "variable-tracking V=3 hops=2"};

static rung_ledger *layers_for(stack *s, bool full, uint64_t bits, uint64_t level)
{
    rung_ledger_layer layer[2] = {full ? full_bits(bits + 2, 3) : recurrent_bits(bits),
                                  {.recurrent = true, .levels = true, .state_elements = level}};
    return stack_of(s, level && !full ? 2 : 1, layer);
}

/* Once impossible, always impossible; and the threshold is where that begins. */
static void test_longer_prompts_are_never_easier(void **state)
{
    (void)state;
    const uint64_t longest = effort(100, 50);
    for (size_t i = 0; i < RUNG_COUNT(free_tasks); i++) {
        rung_task_conf conf = task_of(free_tasks[i]);
        for (int round = 0; round < 3; round++) {
            bool full = round % 3 == 2;
            stack s;
            uint64_t level = round % 3 == 1 ? between(1, 4) : 0, first = 0, n;
            rung_ledger *ledger = layers_for(&s, full, between(0, 40), level);
            const char *id = full ? "cut-one" : "cut";
            question q = question_of(ledger, &conf, longest);
            q.thresholds = true;
            double threshold = answer_of(&q, id).n_threshold;
            q.thresholds = false;
            for (n = 1; n <= longest; n++) {
                q.n = n;
                rung_bound_answer a = answer_of(&q, id);
                if (first && !a.holds)
                    fail_msg("%s: %llu tokens are impossible, %llu are not", free_tasks[i], (unsigned long long)first,
                             (unsigned long long)n);
                if (a.holds && !first) first = n;
            }
            if (first ? threshold != (double)first : threshold > 0 && threshold <= (double)longest)
                fail_msg("%s: threshold %g, first %llu", free_tasks[i], threshold, (unsigned long long)first);
        }
    }
}

/* A-compose: after the first table of e entries there is one matrix per one-bit of e. Every size is tried, with L = 2 and N_0 = 1,
 * where the prompt has e + 3 tokens; with flat=1 and a given size the inequality is that of the popcount as well. */
static void test_levels_of_a_first_table(void **state)
{
    (void)state;
    for (size_t round = 0; round < effort(16, 6); round++) {
        uint64_t level = between(1, 60), fixed = between(0, 50), least = 0;
        rung_ledger_layer layer[2] = {recurrent_bits(fixed),
                                      {.recurrent = true, .levels = true, .state_elements = level}};
        stack s;
        stack_of(&s, 2, layer);
        for (uint64_t e = 2; e <= 400 && !least; e++) {
            double held = (double)fixed + (double)level * __builtin_popcountll(e), needs = (double)e * log2((double)e);
            assert_true(fabs(needs - held) > 1e-9 || needs == held);
            if (needs > held + 1e-9) least = e;
        }
        rung_task_conf conf = task_of("seqcomp L=2");
        question q = question_of(&s.ledger, &conf, 1000);
        rung_bound_answer a = answer_of(&q, "A-compose");
        assert_true(a.holds && a.exact);
        assert_float_equal(a.n_threshold, (double)least + 3, 0);
        for (int given = 0; given < 10; given++) {
            char text[64];
            uint64_t N0 = between(2, 9), n = between(1, 12), V = between(2, 9), entries = N0 * n;
            snprintf(text, sizeof text, "seqcomp L=2 N0=%d n=%d V=%d flat=%d", (int)N0, (int)n, (int)V, given % 2);
            if (!try_task(&conf, text)) continue; /* V belongs to N_0 with flat=1 */
            double needs = (double)entries * log2((double)rung_task_param(&conf, "V"));
            q = question_of(&s.ledger, &conf, 0);
            double held = (double)fixed + (double)level * __builtin_popcountll(entries);
            if (fabs(needs - held) > 1e-6) assert_int_equal(answer_of(&q, "A-compose").holds, needs > held);
        }
        conf = task_of("seqcomp L=2 flat=1");
        q = question_of(&s.ledger, &conf, UINT64_C(1) << 40);
        a = answer_of(&q, "A-compose");
        assert_true(a.holds && !a.exact && a.point.known);
        double entries = (double)a.point.N0 * (double)a.point.n;
        assert_true(entries * log2((double)a.point.N0) >
                    (double)fixed + (double)level * __builtin_popcountll((uint64_t)entries));
    }
}

/* Log-linear attention pays for every one-bit of the tokens before the cut; where only some lengths occur, their popcounts jump. */
static void test_levels_are_the_one_bits_of_the_prefix(void **state)
{
    (void)state;
    stack s;
    for (uint64_t level = 1; level <= 8; level++) {
        rung_ledger_layer layer = {.recurrent = true, .levels = true, .state_elements = level};
        stack_of(&s, 1, &layer);
        for (int N = 1; N <= 40; N++) {
            char text[64];
            snprintf(text, sizeof text, "string-equality N=%d", N);
            rung_task_conf conf = task_of(text);
            question q = question_of(&s.ledger, &conf, 0);
            assert_int_equal(answer_of(&q, "cut").holds, N > (int)level * __builtin_popcount((unsigned)N));
        }
        rung_task_conf pairs = task_of("mkar V=3 key=2 layout=pairs T=20");
        bool before = false;
        for (uint64_t n = 1; n <= 100; n++) {
            question q = question_of(&s.ledger, &pairs, n);
            bool now = answer_of(&q, "cut").holds;
            assert_true(now || !before);
            before = now;
        }
    }
}

/* n tokens are impossible exactly if some size with at most n tokens is. */
static void test_free_sizes_are_the_best_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *task, *size;
        uint64_t least;
    } tasks[] = {{"two-sum M=40", "N", 1},
                 {"two-sum M=30 N=4 form=causal", "N", 2},
                 {"percom", "N", 1},
                 {"two-sum M=41 form=global", "N", 2},
                 {"string-equality", "N", 1},
                 {"disjointness", "N", 2},
                 {"count V=5", "N", 1},
                 {"assoc-recall V=3", "N", 1},
                 {"c-gram c=2 V=12", "N", 2},
                 {"mkar V=4 key=1", "T", 3},
                 {"k-hop alphabet=9 k=1", "N", 2},
                 {"q-sparse-average q=2 d=1", "N", 2},
                 {"palindrome V=3", "N", 1},
                 {"stacks V=3 S=2", "T", 2},
                 {"state-recall V=3 K=3 M=1", "N", 1},
                 {"parity-recall V=3 M=1", "N", 1},
                 {"variable-tracking V=3 hops=1", "chains", 1}};
    for (size_t i = 0; i < RUNG_COUNT(tasks); i++)
        for (size_t round = 0; round < effort(4, 2); round++) {
            stack s;
            rung_task_conf any = task_of(tasks[i].task);
            rung_ledger *ledger = layers_for(&s, false, between(0, 30), round % 2 ? between(1, 4) : 0);
            bool so_far = false;
            uint64_t n = 1;
            for (uint64_t size = tasks[i].least; size < effort(40, 24); size++) {
                char text[128];
                snprintf(text, sizeof text, "%s %s=%llu", tasks[i].task, tasks[i].size, (unsigned long long)size);
                rung_task_conf conf;
                if (!try_task(&conf, text)) continue;
                question q = question_of(ledger, &any, 0), own = question_of(ledger, &conf, 0);
                for (; n < conf.tokens; n++) {
                    q.n = n;
                    if (answer_of(&q, "cut").holds != so_far)
                        fail_msg("%s, at most %llu tokens: %s", tasks[i].task, (unsigned long long)n,
                                 so_far ? "a smaller size is impossible" : "no smaller size is impossible");
                }
                so_far = so_far || answer_of(&own, "cut").holds;
            }
        }
}

/* ---- sparse --------------------------------------------------------------------------------------------------------------------- */

static rung_ledger_layer sparse_layer(uint64_t B, uint64_t top, uint64_t heads, uint64_t summary, uint64_t window)
{
    return (rung_ledger_layer){.sparse = true,
                               .block = B,
                               .top = top,
                               .heads = heads,
                               .key_dim = 1,
                               .value_dim = 1,
                               .summary_elements = summary,
                               .window_size = window};
}

/* Blocks of which every token is a number that only the summary shows. */
static uint64_t hidden_blocks(uint64_t B, uint64_t window, uint64_t lead, uint64_t position)
{
    uint64_t count = 0;
    for (uint64_t block = 0; (block + 1) * B <= position + 1; block++) {
        bool hidden = true;
        for (uint64_t t = block * B; t < (block + 1) * B; t++)
            hidden = hidden && t >= lead && t / B != position / B && t + window <= position;
        count += hidden;
    }
    return count;
}

static bool sparse_by_hand(uint64_t B, uint64_t opened, uint64_t kappa, uint64_t M, uint64_t blocks)
{
    mpz_t sets;
    mpz_init(sets);
    uint64_t least = 0;
    for (uint64_t v = 1; v <= M && !least; v++) {
        subsets(sets, v, B, 1);
        if (too_few(sets, kappa)) least = v;
    }
    mpz_clear(sets);
    return least && blocks * (M - least + 1) > opened * M;
}

static void test_sparse_inequality_in_integers(void **state)
{
    (void)state;
    size_t held = 0, not_held = 0;
    for (size_t i = 0; i < effort(300, 100); i++) {
        uint64_t B = between(2, 9), top = between(0, 4), heads = between(1, 3), kappa = between(1, 24),
                 M = between(3, 40);
        uint64_t window = between(0, 2) ? 0 : between(1, 12), lead = between(0, 1), N = between(1, 150);
        char text[96];
        snprintf(text, sizeof text, "two-sum N=%llu M=%llu blank=%llu", (unsigned long long)N, (unsigned long long)M,
                 (unsigned long long)lead);
        rung_task_conf conf = task_of(text);
        stack s;
        rung_ledger_layer layer = sparse_layer(B, top, heads, kappa, window);
        question q = question_of(stack_of(&s, 1, &layer), &conf, 0);
        q.thresholds = true;
        rung_bound_answer a = answer_of(&q, "sparse");
        bool expected = sparse_by_hand(B, top * heads, kappa, M, hidden_blocks(B, window, lead, N + lead));
        assert_true(a.applies);
        assert_int_equal(a.holds, expected);
        assert_int_equal(reported(&q, "sparse").verdict, expected ? RUNG_CANNOT : RUNG_UNKNOWN);
        expected ? held++ : not_held++;
        q.thresholds = false, q.n = conf.tokens;
        assert_int_equal(answer_of(&q, "sparse").holds, expected);
        if (a.n_threshold == 0) continue;
        q.n = (uint64_t)a.n_threshold, assert_true(answer_of(&q, "sparse").holds);
        q.n--, assert_false(answer_of(&q, "sparse").holds);
    }
    assert_true(held > effort(20, 7) && not_held > effort(20, 7));
}

/* The heart of the proof: with any compression, position by position, some value can be hidden in so many blocks. Compressions are
 * random, or keep as many sets apart as they can. */
static void test_values_that_a_compression_hides(void **state)
{
    (void)state;
    enum { VALUES = 6, SETS = 1 << VALUES };
    for (int round = 0; round < 400; round++) {
        unsigned B = (unsigned)between(1, 4), kappa = (unsigned)between(1, 5), blocks = (unsigned)between(1, 6),
                 most = 0;
        unsigned separable[VALUES] = {0}, sets_of[VALUES + 1] = {0};
        for (unsigned v = 1; v <= VALUES; v++)
            for (unsigned set = 1; set < 1u << v; set++) sets_of[v] += (unsigned)__builtin_popcount(set) <= B;
        for (unsigned t = 0; t < blocks; t++) {
            unsigned code[SETS], hidden = 0, next = 0;
            bool thrifty = rung_rng_below(&rng, 2);
            for (unsigned set = 1; set < SETS; set++)
                code[set] = thrifty ? next++ % (1u << kappa) : (unsigned)rung_rng_below(&rng, UINT64_C(1) << kappa);
            for (unsigned a = 1; a < SETS; a++)
                for (unsigned b = 1; b < SETS; b++)
                    if ((unsigned)__builtin_popcount(a) <= B && (unsigned)__builtin_popcount(b) <= B &&
                        code[a] == code[b])
                        hidden |= a & ~b;
            for (unsigned v = 0; v < VALUES; v++) separable[v] += hidden >> v & 1;
        }
        unsigned least = 0;
        for (unsigned v = 1; v <= VALUES && !least; v++)
            if (sets_of[v] > 1u << kappa) least = v;
        for (unsigned v = 0; v < VALUES; v++) most = separable[v] > most ? separable[v] : most;
        if (least) assert_true(most * VALUES >= blocks * (VALUES - least + 1));
    }
}

static void test_sparse_layers_that_the_row_does_not_speak_of(void **state)
{
    (void)state;
    rung_task_conf conf = task_of("two-sum N=100 M=64");
    rung_ledger_layer plain = sparse_layer(4, 1, 1, 4, 0), layer[2];
    stack s;
    question q = question_of(stack_of(&s, 1, &plain), &conf, 0);
    assert_true(reported(&q, "sparse").holds);
#define REFUSED(count, change)                                                                                         \
    do {                                                                                                               \
        layer[0] = layer[1] = plain;                                                                                   \
        change;                                                                                                        \
        q.ledger = stack_of(&s, count, layer);                                                                         \
        rung_bound_answer a = reported(&q, "sparse");                                                                  \
        assert_false(a.applies || a.holds);                                                                            \
        assert_true(a.premise[0] != '\0');                                                                             \
    } while (0)
    REFUSED(2, (void)0);
    REFUSED(2, layer[1] = recurrent_bits(1));
    REFUSED(1, layer[0].summary_overlaps = true);
    REFUSED(1, layer[0].summary_elements = 0);
    REFUSED(1, layer[0].block = 1);
    REFUSED(1, layer[0].conv_elements = 1);
    REFUSED(1, layer[0].full = true);
    REFUSED(1, layer[0] = recurrent_bits(5));
    stack_of(&s, 1, &plain)->known[RUNG_LEDGER_CAUSAL].is = RUNG_VIOLATED, q.ledger = &s.ledger;
    assert_false(reported(&q, "sparse").applies);
    conf = task_of("two-sum N=100 M=64 form=global");
    REFUSED(1, (void)0);
    assert_false(reported(&q, "published-sparse").applies);
}

/* ---- averages ------------------------------------------------------------------------------------------------------------------- */

static void test_average_inequality_in_integers(void **state)
{
    (void)state;
    mpz_t sets;
    mpz_init(sets);
    for (int i = 0; i < 60; i++) {
        unsigned long q_ = between(1, 12), N = between(q_ + 1, 60);
        mpz_bin_uiui(sets, N - 1, q_);
        uint64_t near = mpz_sizeinbase(sets, 2) - 1, query = between(0, near / 2) + 1;
        char text[96];
        snprintf(text, sizeof text, "q-sparse-average N=%lu q=%lu d=1", N, q_);
        rung_task_conf conf = task_of(text);
        for (uint64_t bits = near > query + 4 ? near - 2 : query + 2; bits <= near + 2; bits++) {
            rung_bound_answer a = ask_full(&conf, bits - query, query, 0, "average");
            assert_int_equal(a.holds, too_few(sets, bits));
            assert_int_equal(ask_full(&conf, bits - query, query, N, "average").holds, a.holds);
        }
    }
    mpz_clear(sets);
}

/* The heart of the proof: any G sets of q positions tell at least G rows of signs apart. */
static void test_sets_tell_as_many_signs_apart(void **state)
{
    (void)state;
    enum { POSITIONS = 7, SIGNS = 1 << POSITIONS };
    for (int round = 0; round < 300; round++) {
        unsigned set[SIGNS], count = 0, size = (unsigned)between(1, POSITIONS - 1), percent = (unsigned)between(1, 99);
        for (unsigned s = 1; s < SIGNS; s++)
            if ((unsigned)__builtin_popcount(s) == size && rung_rng_below(&rng, 100) < percent) set[count++] = s;
        unsigned distinct = 0;
        for (unsigned a = 0; a < SIGNS; a++) {
            bool new = true;
            for (unsigned b = 0; b < a && new; b++) {
                bool same = true;
                for (unsigned g = 0; g < count && same; g++)
                    same = __builtin_popcount(a & set[g]) == __builtin_popcount(b & set[g]);
                new = !same;
            }
            distinct += new;
        }
        assert_true(distinct >= count);
    }
}

/* ---- head-wise ---------------------------------------------------------------------------------------------------------------- */

static rung_ledger_layer beside_bits(uint64_t message, uint64_t state)
{
    rung_ledger_layer held = full_bits(message, 1);
    held.recurrent = true, held.state_elements = state;
    return held;
}

static void test_headwise_inequality_in_integers(void **state)
{
    (void)state;
    mpz_t tables;
    mpz_init(tables);
    for (size_t i = 0; i < effort(80, 27); i++) {
        unsigned long L = between(1, 3), N0 = between(1, 12), n = between(1, 6), flat = between(0, 1), W = 1;
        for (unsigned long l = 1; l < L; l++) W = flat ? n : W * n;
        char text[96];
        size_t used = (size_t)snprintf(text, sizeof text, "seqcomp L=%lu N0=%lu flat=%lu", L, N0, flat);
        if (L > 1) snprintf(text + used, sizeof text - used, " n=%lu", n);
        rung_task_conf conf = task_of(text);
        unsigned long V = (unsigned long)rung_task_param(&conf, "V");
        mpz_ui_pow_ui(tables, V, N0 * W);
        uint64_t near = mpz_sizeinbase(tables, 2) - 1, c = between(2, 2 + near / W);
        for (uint64_t bits = near > 1 ? near - 1 : 0; bits <= near + 1; bits++) {
            if (bits < c * W) continue;
            stack s;
            rung_ledger_layer layer = beside_bits(c, bits - c * W);
            question q = question_of(stack_of(&s, 1, &layer), &conf, 0);
            assert_int_equal(answer_of(&q, "headwise").holds, too_few(tables, bits));
        }
    }
    mpz_clear(tables);
}

/* With free sizes: the sizes that are named satisfy the inequality, no smaller prompt is claimed, and an exhaustive search over small
 * sizes finds nothing much shorter. */
static void test_headwise_sizes(void **state)
{
    (void)state;
    rung_task_conf conf = task_of("seqcomp L=2");
    for (int i = 0; i < 12; i++) {
        uint64_t c = between(2, 40), s_bits = between(0, 300);
        stack s;
        rung_ledger_layer layer = beside_bits(c, s_bits);
        question q = question_of(stack_of(&s, 1, &layer), &conf, 1000000);
        rung_bound_answer a = answer_of(&q, "headwise");
        assert_true(a.holds);
        double least = INFINITY;
        for (double N0 = 1; N0 < 200; N0++)
            for (double n = 1; n < 400; n++)
                if (n * N0 * log2(n * N0) > (double)c * n + (double)s_bits) {
                    least = fmin(least, n * N0 + N0 + 2);
                    break;
                }
        assert_true(a.n_threshold <= 1.02 * least + 1 && a.n_threshold >= least);
        q.n = (uint64_t)a.n_threshold, assert_true(answer_of(&q, "headwise").holds);
        q.n--, assert_false(answer_of(&q, "headwise").holds);
    }
}

static void test_headwise_speaks_of_one_layer_only(void **state)
{
    (void)state;
    rung_task_conf conf = task_of("seqcomp L=2 N0=8 n=8"), first = task_of("seqcomp L=2 N0=8 n=8 order=first");
    rung_ledger_layer both = beside_bits(3, 1), apart[2] = {full_bits(3, 1), recurrent_bits(1)},
                      two[2] = {both, recurrent_bits(1)};
    stack s;
    question q = question_of(stack_of(&s, 1, &both), &conf, 0);
    assert_true(reported(&q, "headwise").holds);
    q.kernel = RUNG_KERNEL_REVERSE, assert_false(reported(&q, "headwise").applies);
    q.kernel = RUNG_KERNEL_ONLINE, q.tokens_after = true, assert_false(reported(&q, "headwise").applies);
    q.tokens_after = false, q.task = &first, assert_false(reported(&q, "headwise").applies);
    q.task = &conf, q.ledger = stack_of(&s, 2, apart), assert_false(reported(&q, "headwise").applies);
    q.ledger = stack_of(&s, 2, two), assert_false(reported(&q, "headwise").applies);
}

/* Full heads beside recurrent ones on a cut: the bits of both together. */
static void test_bits_of_both_kinds_of_heads_add_up(void **state)
{
    (void)state;
    rung_task_conf conf = task_of("string-equality N=20");
    for (uint64_t c = 2; c < 25; c++)
        for (uint64_t r = 0; r < 25; r++) {
            stack s;
            rung_ledger_layer layer = beside_bits(c, r);
            question q = question_of(stack_of(&s, 1, &layer), &conf, 0);
            assert_int_equal(answer_of(&q, "cut-one").holds, c + r < 20);
            assert_false(answer_of(&q, "cut").applies);
        }
    rung_ledger_layer apart[2] = {full_bits(2, 1), recurrent_bits(1)}, two[2] = {full_bits(2, 1), full_bits(2, 1)};
    stack s;
    question q = question_of(stack_of(&s, 2, apart), &conf, 0);
    assert_false(answer_of(&q, "cut-one").applies || answer_of(&q, "cut").applies);
    q.ledger = stack_of(&s, 2, two);
    assert_false(answer_of(&q, "cut-one").applies || answer_of(&q, "cut").applies);
}

/* ---- published ------------------------------------------------------------------------------------------------------------------- */

static void test_published_theorems_reach_no_size(void **state)
{
    (void)state;
    for (int L = 1; L <= 4; L++) {
        char text[64];
        snprintf(text, sizeof text, "seqcomp L=%d N0=2%s", L, L > 1 ? " n=1" : "");
        rung_task_conf conf = task_of(text);
        rung_ledger_layer layer[8];
        stack s;
        for (int full = 0; full <= L + 1; full++) {
            for (int i = 0; i < full; i++) layer[i] = full_bits(4, 2);
            layer[full] = recurrent_bits(4);
            bool before = full == 0 && L == 1;
            question q = question_of(stack_of(&s, (size_t)full, layer), &conf, UINT64_MAX);
            q.bits = 300;
            rung_bound_answer a = answer_of(&q, "published-full");
            assert_int_equal(a.applies, full <= L);
            q.ledger = stack_of(&s, (size_t)full + 1, layer);
            rung_bound_answer b = answer_of(&q, "published-hybrid");
            /* the recurrent layer is the last: after an idle full layer, or after L of them */
            assert_int_equal(b.applies, L >= 2 && full <= L && !before);
            assert_false(a.holds || b.holds || answer_of(&q, "published-full").applies);
            /* p = 300 is more than log n only where the exponent is small */
            if (a.applies && full && L == 1) assert_true(fabs(a.log2_n - 16 * log2(2 * 300)) < 1e-6);
            /* N_{L-1} = K^((12 8^(L-1) + 2)/7), K = (H d p L)^8 8^(2 L^2), H d p = 2 x 300, without full layers 2 */
            double log2_K = 8 * log2((full ? 600 : 2) * L) + 6 * L * L, power = (12 * pow(8, L - 1) + 2) / 7;
            if (b.applies) assert_true(fabs(b.log2_n - power * log2_K - 1) < 1e-6 * b.log2_n);
            q.n = 0, assert_false(answer_of(&q, "published-hybrid").applies);
        }
    }
}

/* The numbers of the paper at L = 2 and 3, and (12) with as many linear layers as it allows. */
static void test_published_numbers(void **state)
{
    static const struct {
        int L, width;
        double log2_n;
    } known[] = {{2, 16, 896}, {2, 64, 1120}, {2, 1024, 1568}, {3, 16, 10855}, {3, 64, 12615}, {4, 16, 126432}};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(known); i++) {
        char text[64];
        stack s;
        snprintf(text, sizeof text, "seqcomp L=%d", known[i].L);
        rung_task_conf conf = task_of(text);
        rung_ledger_layer layer[4];
        for (int k = 0; k < known[i].L; k++) layer[k] = full_bits((uint64_t)known[i].width + 2, 1);
        layer[known[i].L - 1] = recurrent_bits(UINT64_C(1) << 60); /* after the last of L-1 full layers */
        question q = question_of(stack_of(&s, (size_t)known[i].L, layer), &conf, 100);
        rung_claim_spec about = about_of(&q);
        rung_subject *subject;
        rung_claim *claim;
        rung_published p;
        CHECK(rung_subject_layers(&subject, q.ledger, &check_err));
        CHECK(rung_claim_new(&claim, subject, &about, &check_err));
        CHECK(rung_published_of(&p, claim, &check_err));
        assert_true(p.applies && p.holds && p.width == (uint64_t)known[i].width);
        assert_true(fabs(p.log2_tokens - 1 - known[i].log2_n) < 1);
        /* x_{l-1} = x_l^8, n_l = x_l^4, m = K x_0 ... x_{L-1} */
        double m = p.log2_K;
        for (size_t l = 0; l < p.L; l++) {
            m += p.log2_x[l];
            if (l > 0) assert_true(fabs(p.log2_x[l - 1] - 8 * p.log2_x[l]) < 1e-6 * p.log2_x[0]);
            if (l > 0) assert_true(fabs(p.log2_n[l] - 4 * p.log2_x[l]) < 1e-6 * p.log2_x[0]);
        }
        assert_true(fabs(m - p.log2_m) < 1e-6 * m && fabs(p.log2_x[p.L - 1] - p.log2_K) < 1e-9);
        /* (12) at l = L-1: 2^60 bits against sqrt(K) x_0 ... x_{L-2} n_1 ... n_{L-1}; at l < L-1 there is no state */
        double right = p.log2_K / 2;
        for (size_t l = 0; l + 1 < p.L; l++) right += p.log2_x[l] + p.log2_n[l + 1];
        assert_true(fabs(p.slack[p.L - 1] - (right - 60)) < 1e-6 * right);
        for (size_t l = 1; l + 1 < p.L; l++) assert_true(isinf(p.slack[l]));
        /* Theta_1 and Delta_2, from their definitions */
        assert_true(fabs(p.log2_theta[1] - (p.log2_x[0] + p.log2_x[1] - 3.0 * (double)p.L)) < 1e-6 * p.log2_x[0]);
        double W = 0;
        for (size_t l = 1; l < p.L; l++) W += p.log2_n[l];
        assert_true(fabs(p.log2_log2_delta[2] - (2 + p.log2_K / 2 + p.log2_x[0] + W)) < 1e-6 * p.log2_m);
        rung_claim_free(claim);
        rung_subject_free(subject);
    }
}

/* ---- constructions ---------------------------------------------------------------------------------------------------------------- */

/* With the number of bits of the smallest format in which it is right. */
static const struct {
    const char *text;
    int bits;
} constructions[] = {
    {"eva-recurrent mech=linear N=16 V=16", 4},
    {"eva-recurrent mech=loglinear N=16 V=16", 4},
    {"eva-recurrent mech=delta N=7 V=8", 3},
    {"dyck N=8 types=2 k=3", 12},
    {"dyck N=400 types=64 k=20", 12},
    {"lookup N=16", 10},
    {"two-sum N=32 M=32 blank=1", 16},
    {"two-sum N=16 M=16 by=dsa", 12},
    {"two-sum N=4 M=8 form=global blank=1", 11},
    {"two-sum N=4 M=8 form=position blank=1", 11},
    {"assoc-recall N=150 K=300 V=16", 10},
    {"assoc-recall N=20 V=16 by=window", 10},
    {"assoc-recall N=20 V=16 by=delta", 10},
    {"c-gram c=3 N=6 V=2", 10},
    {"c-gram c=4 N=200 V=6", 10},
    {"c-gram c=3 N=40 V=8 by=gdelta", 10},
    {"count N=9 V=2", 12},
    {"count N=30 V=8 by=window", 14},
    {"string-equality N=300", 10},
    {"disjointness N=300", 10},
    {"q-sparse-average N=16 q=3", 16},
    {"nearest-neighbour N=16 d=8", 13},
};

static void test_no_construction_is_forbidden(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(constructions); i++) {
        rung_build b = build_of(constructions[i].text);
        rung_model *model = model_of(&b);
        rung_subject *subject;
        CHECK(rung_subject_model(&subject, model, constructions[i].text, &check_err));
        question q = question_of(NULL, &b.task, 0);
        q.subject = subject;
        q.bits = constructions[i].bits;
        static rung_bound_report report;
        run_bounds(&report, &q);
        for (size_t r = 0; r < report.count; r++)
            if (report.answer[r].verdict == RUNG_CANNOT)
                fail_msg("%s is forbidden by %s: %s", constructions[i].text, report.answer[r].bound->id,
                         report.answer[r].statement);
        rung_subject_free(subject);
        rung_model_close(model);
    }
}

/* ---- the size of real models ------------------------------------------------------------------------------------------------ */

/* 36 recurrent layers of 2^24 bits with 12 full ones between them: no row has anything to say, and each says why. */
static void test_a_real_hybrid_is_unknown(void **state)
{
    (void)state;
    rung_ledger_layer layer[48];
    for (size_t i = 0; i < 48; i++)
        layer[i] = i % 4 == 3 ? (rung_ledger_layer){.full = true, .heads = 32, .key_dim = 128, .value_dim = 128}
                              : (rung_ledger_layer){.recurrent = true,
                                                    .state_elements = (UINT64_C(1) << 24) / 32,
                                                    .conv_elements = 4096};
    stack s;
    stack_of(&s, 48, layer);
    size_t asked = 0;
    for (size_t t = 0; t < rung_task_count(); t++) {
        rung_task_conf conf = task_of(rung_task_at(t)->name);
        for (uint64_t n = 0; n <= 1000000; n += 1000000) {
            question q = question_of(&s.ledger, &conf, n);
            q.bits = 32;
            static rung_bound_report report;
            run_bounds(&report, &q);
            bool causal = false;
            for (size_t r = 0; r < report.count; r++) {
                const rung_bound_answer *a = &report.answer[r];
                bool is_causal = strcmp(a->bound->id, "causal") == 0;
                causal = causal || (is_causal && a->holds);
                if (!is_causal) assert_false(a->holds);
                assert_true(a->premise[0] != '\0');
                asked++;
            }
            assert_int_equal(report.verdict, causal ? RUNG_CANNOT : RUNG_UNKNOWN);
            assert_int_equal(report.trivial != NULL, causal);
        }
    }
    assert_true(asked > 60);
}

static int begin(void **state)
{
    (void)state;
    rung_rng_init(&rng, 20, 26, 7);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inequalities_in_integers),
        cmocka_unit_test(test_families_by_hand),
        cmocka_unit_test(test_long_sums_stay_below_the_truth),
        cmocka_unit_test(test_longer_prompts_are_never_easier),
        cmocka_unit_test(test_levels_are_the_one_bits_of_the_prefix),
        cmocka_unit_test(test_levels_of_a_first_table),
        cmocka_unit_test(test_free_sizes_are_the_best_sizes),
        cmocka_unit_test(test_sparse_inequality_in_integers),
        cmocka_unit_test(test_values_that_a_compression_hides),
        cmocka_unit_test(test_sparse_layers_that_the_row_does_not_speak_of),
        cmocka_unit_test(test_average_inequality_in_integers),
        cmocka_unit_test(test_sets_tell_as_many_signs_apart),
        cmocka_unit_test(test_headwise_inequality_in_integers),
        cmocka_unit_test(test_headwise_sizes),
        cmocka_unit_test(test_headwise_speaks_of_one_layer_only),
        cmocka_unit_test(test_bits_of_both_kinds_of_heads_add_up),
        cmocka_unit_test(test_published_theorems_reach_no_size),
        cmocka_unit_test(test_published_numbers),
        cmocka_unit_test(test_no_construction_is_forbidden),
        cmocka_unit_test(test_a_real_hybrid_is_unknown),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
