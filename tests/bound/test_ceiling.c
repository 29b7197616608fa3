/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Ceilings on average accuracy, against protocols. The sender sees a table and picks one of 2^bits code words, which are guesses
 * for all entries at once; the receiver is asked for one entry. Lloyd's iteration makes good code books: no ceiling may be below
 * what they score. For one bit about two entries all code books are tried. Tables by Zipf's law weigh differently.
 */
#include "compose_test.h"

enum { ENTRIES_MOST = 4, TABLES_MOST = 4096, WORDS_MOST = 64 };

typedef struct game {
    size_t entries, values, words, tables;
    bool zipf; /* the value v has the weight 1/(v+1) */
    uint8_t word[WORDS_MOST][ENTRIES_MOST];
} game;

static game game_of(size_t entries, size_t values, size_t bits)
{
    game g = {.entries = entries, .values = values, .words = (size_t)1 << bits, .tables = 1};
    for (size_t i = 0; i < entries; i++) g.tables *= values;
    assert_true(g.tables <= TABLES_MOST && g.words <= WORDS_MOST && entries <= ENTRIES_MOST);
    return g;
}

static size_t entry_of(const game *g, size_t table, size_t i)
{
    while (i--) table /= g->values;
    return table % g->values;
}

static size_t agreement(const game *g, size_t table, size_t word)
{
    size_t right = 0;
    for (size_t i = 0; i < g->entries; i++) right += entry_of(g, table, i) == g->word[word][i];
    return right;
}

static double weight_of(const game *g, size_t table)
{
    double weight = 1;
    for (size_t i = 0; i < g->entries && g->zipf; i++) weight /= (double)(entry_of(g, table, i) + 1);
    return weight;
}

/* The mean share of right answers over all tables and questions; *chosen has the word of each table. */
static double send_all(const game *g, uint8_t *chosen)
{
    double total = 0, all = 0;
    for (size_t table = 0; table < g->tables; table++) {
        size_t best = 0, most = agreement(g, table, 0);
        for (size_t w = 1; w < g->words; w++) {
            size_t right = agreement(g, table, w);
            if (right > most) most = right, best = w;
        }
        chosen[table] = (uint8_t)best;
        total += weight_of(g, table) * (double)most, all += weight_of(g, table);
    }
    return total / all / (double)g->entries;
}

/* Each guess becomes the value that most of the word's tables have there. */
static void improve(game *g, const uint8_t *chosen)
{
    for (size_t w = 0; w < g->words; w++)
        for (size_t i = 0; i < g->entries; i++) {
            double count[256] = {0};
            size_t best = g->word[w][i];
            for (size_t table = 0; table < g->tables; table++)
                if (chosen[table] == w) count[entry_of(g, table, i)] += weight_of(g, table);
            for (size_t v = 0; v < g->values; v++)
                if (count[v] > count[best]) best = v;
            g->word[w][i] = (uint8_t)best;
        }
}

/* The best of several code books that start at random. */
static double protocol_score(size_t entries, size_t values, size_t bits, bool zipf)
{
    static uint8_t chosen[TABLES_MOST];
    rung_rng rng;
    rung_rng_init(&rng, 7, bits, 0);
    double most = 0;
    game g = game_of(entries, values, bits);
    g.zipf = zipf;
    for (int start = 0; start < 4; start++) {
        for (size_t w = 0; w < g.words; w++)
            for (size_t i = 0; i < entries; i++) g.word[w][i] = (uint8_t)rung_rng_below(&rng, values);
        double right = send_all(&g, chosen), before;
        do {
            before = right;
            improve(&g, chosen);
            right = send_all(&g, chosen);
            assert_true(right >= before - 1e-12);
        } while (right > before + 1e-12);
        if (right > most) most = right;
    }
    return most;
}

/* By steps of 1e-6: the least error rate at which a value of so many bits, of which bits / entries are told, may be guessed. */
static double fano_of(double bits, double entries, double values, double entropy)
{
    double missing = entropy - bits / entries, e = 0;
    if (missing <= 0) return 0;
    while (-e * log2(e > 0 ? e : 1) - (1 - e) * log2(1 - e) + e * log2(values - 1) < missing) e += 1e-6;
    return 1 - e;
}

static double fano(double bits, double entries, double values)
{
    return fano_of(bits, entries, values, log2(values));
}

/* The entropy by its definition, - sum p log2 p. */
static double zipf_entropy(size_t values)
{
    double all = 0, entropy = 0;
    for (size_t k = 1; k <= values; k++) all += 1.0 / (double)k;
    for (size_t k = 1; k <= values; k++) entropy -= 1 / (all * (double)k) * log2(1 / (all * (double)k));
    return entropy;
}

/* A table of `blocks` times `entries` entries is played block by block, each with its own code book and bits. */
typedef struct row_case {
    const char *task;
    size_t blocks, entries, values;
    const char *id;
    bool full;
} row_case;

static const row_case cases[] = {
    {"eva N=2 V=64", 1, 2, 64, "A", false},
    {"eva N=3 V=16", 1, 3, 16, "A", false},
    {"eva N=4 V=8", 1, 4, 8, "A", false},
    {"assoc-recall N=4 V=8", 1, 4, 8, "cut", false},
    {"seqcomp L=1 N0=8 V=8", 2, 4, 8, "A-compose", false},
    {"seqcomp L=1 N0=64", 32, 2, 64, "A-compose", false},
    {"seqcomp L=2 N0=8 n=4", 16, 2, 32, "A-compose", false},
    {"seqcomp L=1 N0=8 V=8", 2, 4, 8, "A'", true},
    {"seqcomp L=1 N0=18 V=16", 6, 3, 16, "A'", true},
    {"seqcomp L=1 N0=64", 32, 2, 64, "A'", true},
};

static void test_no_protocol_beats_a_ceiling(void **state)
{
    (void)state;
    size_t ceilings = 0;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        const row_case *c = &cases[i];
        rung_task_conf conf = task_of(c->task);
        for (size_t each = 1; each <= 6; each++) {
            size_t bits = each * c->blocks;
            rung_bound_answer a = c->full ? ask_full(&conf, bits, 1, 0, c->id) : ask_recurrent(&conf, bits, 0, c->id);
            assert_true(a.applies);
            assert_null(a.ceiling_over);
            assert_float_equal(a.ceiling, fano((double)each, (double)c->entries, (double)c->values), 2e-6);
            ceilings += a.ceiling > 0;
            double score = protocol_score(c->entries, c->values, each, false);
            if (a.ceiling > 0 && score > a.ceiling) fail_msg("%s, %zu bits: %g > %g", c->task, bits, score, a.ceiling);
        }
    }
    assert_true(ceilings > 40);
}

/* ---- permutations ---------------------------------------------------------------------------------------------------- */

enum { PERMUTED_MAX = 4, PERMUTATIONS_MAX = 24 };

static size_t permutations_of(size_t out[PERMUTATIONS_MAX][PERMUTED_MAX], size_t n)
{
    size_t count = 0, codes = 1;
    for (size_t i = 0; i < n; i++) codes *= n;
    for (size_t code = 0; code < codes; code++) {
        size_t met = 0, rest = code;
        for (size_t i = 0; i < n; i++, rest /= n) out[count][i] = rest % n, met |= (size_t)1 << rest % n;
        if (met == ((size_t)1 << n) - 1 && ++count == PERMUTATIONS_MAX) break;
    }
    return count;
}

/* The share of right answers if permutation p is known to be in class[p] only: the most frequent value of each entry. */
static double share_right(const size_t (*sigma)[PERMUTED_MAX], const size_t *class, size_t count, size_t n,
                          size_t classes)
{
    size_t right = 0;
    for (size_t c = 0; c < classes; c++)
        for (size_t x = 0; x < n; x++) {
            size_t met[PERMUTED_MAX] = {0}, most = 0;
            for (size_t p = 0; p < count; p++)
                if (class[p] == c && ++met[sigma[p][x]] > most) most = met[sigma[p][x]];
            right += most;
        }
    return (double)right / (double)(count * n);
}

/* All ways to spend the bits on 3 numbers, and the best of many improved ones on 4. */
static double best_share(size_t n, size_t classes, rung_rng *rng)
{
    size_t sigma[PERMUTATIONS_MAX][PERMUTED_MAX], class[PERMUTATIONS_MAX] = {0}, count = permutations_of(sigma, n),
                                                  ways = 1;
    double best = 0;
    for (size_t p = 0; p < count && n == 3; p++) ways *= classes;
    for (size_t way = 0; n == 3 && way < ways; way++) {
        for (size_t p = 0, rest = way; p < count; p++, rest /= classes) class[p] = rest % classes;
        best = fmax(best, share_right((const size_t(*)[PERMUTED_MAX])sigma, class, count, n, classes));
    }
    for (size_t start = 0; n > 3 && start < 30; start++) {
        for (size_t p = 0; p < count; p++) class[p] = (size_t)rung_rng_below(rng, classes);
        double now = share_right((const size_t(*)[PERMUTED_MAX])sigma, class, count, n, classes);
        for (size_t step = 0; step < 400; step++) {
            size_t p = (size_t)rung_rng_below(rng, count), before = class[p];
            class[p] = (size_t)rung_rng_below(rng, classes);
            double next = share_right((const size_t(*)[PERMUTED_MAX])sigma, class, count, n, classes);
            if (next < now) class[p] = before;
            now = fmax(now, next);
        }
        best = fmax(best, now);
    }
    return best;
}

static void test_no_code_of_permutations_beats_the_ceiling(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 5, 0, 0);
    size_t ceilings = 0;
    for (size_t n = 3; n <= 4; n++)
        for (size_t bits = 1; bits <= (n == 3 ? 2 : 4); bits++) {
            char text[32];
            snprintf(text, sizeof text, "percom N=%zu", n);
            rung_task_conf conf = task_of(text);
            rung_bound_answer a = ask_recurrent(&conf, bits, 0, "cut");
            double all = log2(n == 3 ? 6 : 24);
            assert_float_equal(a.lhs, all, 1e-9);
            assert_int_equal(a.holds, (double)bits < all);
            assert_float_equal(a.ceiling, fano_of((double)bits, (double)n, (double)n, all / (double)n), 2e-6);
            double score = best_share(n, (size_t)1 << bits, &rng);
            assert_true(score > 1.0 / (double)n + 0.1);
            if (a.ceiling > 0 && score > a.ceiling) fail_msg("%s, %zu bits: %g > %g", text, bits, score, a.ceiling);
            ceilings += a.ceiling > 0;
        }
    assert_true(ceilings >= 5);
    rung_task_conf large = task_of("percom N=64");
    assert_float_equal(ask_recurrent(&large, 8, 0, "cut").lhs, lgamma(65) / log(2), 1e-6);
    rung_task_conf repeats = task_of("retrieval D=3 N=8 distinct=0"); /* who knows which keys are unique uses that */
    assert_true(ask_recurrent(&repeats, 8, 0, "cut").holds && ask_recurrent(&repeats, 8, 0, "cut").ceiling == 0);
}

/* Bits that cross after a full layer may depend on what is asked: who gets `after` bits of the entry itself plays for the rest. */
static void test_bits_of_the_asked_entry_raise_the_ceiling(void **state)
{
    (void)state;
    size_t ceilings = 0;
    for (size_t after = 1; after <= 3; after++) {
        char layers[32];
        snprintf(layers, sizeof layers, "F96 R%zu", after); /* three bits for every two entries */
        rung_bound_answer a = ask(layers, "seqcomp L=1 N0=64", 0, "A'");
        assert_float_equal(a.ceiling, fano(3 + 2.0 * (double)after, 2, 64), 2e-6);
        ceilings += a.ceiling > 0;
        if (a.ceiling > 0) assert_true(protocol_score(2, 64 >> after, 3, false) <= a.ceiling);
    }
    assert_true(ceilings >= 2);
}

/* All pairs of code words for two entries of four values: the best accuracy with one bit, to see that Lloyd finds it. */
static void test_one_bit_about_two_entries(void **state)
{
    (void)state;
    uint8_t chosen[16];
    for (int zipf = 0; zipf < 2; zipf++) {
        double most = 0;
        game g = game_of(2, 4, 1);
        g.zipf = zipf;
        for (size_t book = 0; book < 256; book++) {
            for (size_t k = 0; k < 4; k++) g.word[k / 2][k % 2] = (uint8_t)(book >> (2 * k) & 3);
            double right = send_all(&g, chosen);
            if (right > most) most = right;
        }
        assert_float_equal(most, protocol_score(2, 4, 1, zipf), 1e-12);
        assert_true(most <= fano_of(1, 2, 4, zipf ? zipf_entropy(4) : 2));
    }
}

/* Values by Zipf's law have fewer bits: their ceiling is higher, no code book for them beats it, and some beat that of uniform values,
 * which must not be used. The verdict is about all tables and stays. */
static void test_zipf_has_its_own_ceiling(void **state)
{
    (void)state;
    static const struct {
        size_t entries, values;
    } sizes[] = {{1, 64}, {2, 64}, {3, 16}, {4, 8}, {4, 3}};
    size_t ceilings = 0, above_uniform = 0;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++)
        for (size_t bits = 1; bits <= 6; bits++)
            for (int pairs = 0; pairs < 2; pairs++) {
                size_t N = sizes[i].entries, V = sizes[i].values;
                char text[64], natural[80];
                snprintf(text, sizeof text, "eva N=%zu V=%zu form=%s", N, V, pairs ? "pair" : "position");
                snprintf(natural, sizeof natural, "%s dist=zipf", text);
                rung_task_conf uniform = task_of(text), conf = task_of(natural);
                rung_bound_answer a = ask_recurrent(&conf, bits, 0, "A"), b = ask_recurrent(&uniform, bits, 0, "A");
                assert_true(a.holds == b.holds && a.verdict == b.verdict && a.lhs == b.lhs && a.rhs == b.rhs);
                double want = fano_of((double)bits, (double)N, (double)V, zipf_entropy(V));
                assert_float_equal(a.ceiling, want, 2e-6);
                if (b.ceiling > 0) assert_true(a.ceiling == 0 || a.ceiling > b.ceiling);
                if (pairs || !(a.ceiling > 0)) continue;
                ceilings++;
                double score = protocol_score(N, V, bits, true);
                if (score > a.ceiling) fail_msg("%s, %zu bits: %g > %g", natural, bits, score, a.ceiling);
                above_uniform += score > b.ceiling;
            }
    assert_true(ceilings > 10 && above_uniform > 0);
}

/* The least error rate solves h(e) + e log2(V-1) = H - s/N. With H in long double, whose errors are 2000 times smaller, the left side may not be beyond it:
 * what is printed is on the safe side at every size, the largest included; above that nothing is printed. */
static void test_the_entropy_of_zipf_is_rounded_to_the_safe_side(void **state)
{
    (void)state;
    static const size_t sizes[] = {2, 3, 8, 100, 4096, 1 << 20};
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) {
        size_t V = sizes[i];
        char text[64];
        snprintf(text, sizeof text, "eva N=64 V=%zu dist=zipf", V);
        rung_task_conf conf = task_of(text);
        double ceiling = ask_recurrent(&conf, 8, 0, "A").ceiling, e = 1 - ceiling;
        long double all = 0, logs = 0, left = -e * log2l(e) - (1 - e) * log2l(1 - e) + e * log2l((long double)(V - 1));
        for (size_t k = V; k > 0; k--) all += 1.0L / (long double)k, logs += log2l((long double)k) / (long double)k;
        long double H = log2l(all) + logs / all - 8.0L / 64;
        assert_true(ceiling > 0 && left < H && left > H - 1e-7L);
    }
    rung_task_conf conf = task_of("eva N=64 V=1048577 dist=zipf");
    assert_true(ask_recurrent(&conf, 8, 0, "A").ceiling == 0);
    assert_true(ask_recurrent(&conf, 8, 0, "A").holds);
    conf = task_of("eva dist=zipf");
    assert_true(ask_recurrent(&conf, 8, UINT64_C(1) << 40, "A").ceiling == 0); /* V = N there */
}

/* With sizes left free the least table that does not fit is taken: N_0 = 1 and n_1 = 5, since 5 log2 5 > 8 and 4 log2 4 is not. */
static void test_sizes_that_the_theorem_chooses(void **state)
{
    (void)state;
    assert_float_equal(ask("R8", "seqcomp L=2", 200, "A-compose").ceiling, fano(8, 5, 5), 2e-6);
}

/* A recurrent layer in front knows z_0: nothing is said about averages. B0 speaks of hard prompts, which the task does not draw. */
static void test_where_there_is_none(void **state)
{
    (void)state;
    static rung_bound_report report;
    assert_true(ask("R1 F2", "seqcomp L=1 N0=64 V=64", 0, "A'").ceiling == 0);
    assert_true(ask("F2", "seqcomp L=1 N0=64 V=64", 0, "A'").ceiling > 0);
    stack s;
    rung_task_conf conf = task_of("seqcomp L=2 N0=30 n=40");
    question q = question_of(layers_of(&s, "F112 R8"), &conf, 0); /* too many bits for uniform prompts */
    run_bounds(&report, &q);
    assert_true(reported(&q, "B0").ceiling > 0);
    assert_non_null(reported(&q, "B0").ceiling_over);
    assert_true(rung_bound_ceiling(&report) == 0);
    conf = task_of("eva N=64 V=64");
    q = question_of(layers_of(&s, "R8"), &conf, 0);
    run_bounds(&report, &q);
    assert_float_equal(rung_bound_ceiling(&report), fano(8, 64, 64), 2e-6);
    conf = task_of("assoc-recall N=4 V=8 dist=distinct");
    assert_true(ask_recurrent(&conf, 2, 0, "cut").ceiling == 0);
}

/* Two functions with z_1 = identity are the prompts that B0 speaks of, and so its ceiling counts; of three functions they are not. What
 * the theorem decides is about all prompts, so it does not depend on dist: at N0=22 it needs three functions z_1, and has no ceiling. */
static void test_identity_is_what_b0_speaks_of(void **state)
{
    (void)state;
    static const struct {
        const char *task;
        double ceiling; /* of F96 R256 */
        bool counts, refuted;
    } rows[] = {
        {"seqcomp L=2 N0=28 n=28", 0.818249, false, true},
        {"seqcomp L=2 N0=28 n=28 dist=identity", 0.818249, true, true},
        {"seqcomp L=2 N0=28 n=28 form=pair dist=identity", 0.818249, true, true},
        {"seqcomp L=3 N0=28 n=1,28 dist=identity", 0.818249, false, true},
        {"seqcomp L=2 N0=22 n=22", 0, false, true},
        {"seqcomp L=2 N0=22 n=22 dist=identity", 0, false, true},
        {"seqcomp L=2 N0=12 n=12 dist=identity", 0, false, false},
    };
    static rung_bound_report report;
    for (size_t i = 0; i < RUNG_COUNT(rows); i++) {
        stack s;
        rung_task_conf conf = task_of(rows[i].task);
        question q = question_of(layers_of(&s, "F96 R256"), &conf, 0);
        q.message = RUNG_MESSAGE_NUMERATOR;
        run_bounds(&report, &q);
        rung_bound_answer a = reported(&q, "B0");
        double n1 = i < 4 ? 28 : i < 6 ? 22 : 12, told = 96 * 2 * n1 + 256;
        assert_float_equal(a.ceiling, fano(told, n1 * n1, n1 * n1), 2e-6);
        assert_float_equal(a.ceiling, rows[i].ceiling, 2e-6);
        assert_int_equal(a.verdict == RUNG_CANNOT, rows[i].refuted);
        assert_true(rung_bound_ceiling(&report) == (rows[i].counts ? a.ceiling : 0));
    }
    /* no full layer: the entry that is asked is uniform as well when z_1 is the identity */
    rung_task_conf conf = task_of("seqcomp L=2 N0=8 n=4 dist=identity");
    rung_bound_answer a = ask_recurrent(&conf, 16, 0, "A-compose");
    assert_null(a.ceiling_over);
    assert_float_equal(a.ceiling, fano(16, 32, 32), 2e-6);
}

/* ---- uniform prompts of two functions -------------------------------------------------------------------------------------------- */

/* One full layer: its accumulator holds whole entries of the row, and the rest is guessed. */
static void test_a_row_that_is_known_in_part(void **state)
{
    (void)state;
    int ceilings = 0;
    for (int bits = 1; bits <= 8; bits++) /* log2 V */
        for (int known = 0; known < 24; known += 3) {
            char task[64], layers[16];
            double V = ldexp(1, bits);
            snprintf(task, sizeof task, "seqcomp L=2 N0=24 n=3 V=%d", 1 << bits);
            snprintf(layers, sizeof layers, "F%d", bits * known > 1 ? bits * known : 1);
            rung_bound_answer a = ask(layers, task, 0, "B0");
            double score = known / 24.0 + (1 - known / 24.0) / V;
            assert_null(a.ceiling_over);
            if (!(a.ceiling > 0)) continue;
            ceilings++;
            if (score > a.ceiling) fail_msg("%s, %s: %g > %g", layers, task, score, a.ceiling);
        }
    assert_true(ceilings > 30);
    assert_float_equal(ask("F160", "seqcomp L=2 N0=64 n=4", 0, "B0").ceiling, fano(160, 64, 256), 2e-6);
    /* three functions: the row has N_1 entries */
    assert_float_equal(ask("F96", "seqcomp L=3 N0=6 n=4,2", 0, "B0").ceiling, fano(96, 24, 48), 2e-6);
}

/* Mean share of the z_0 that ask for the J values which z_1 takes most often. */
static double asked_most(int N0, int J)
{
    rung_rng rng;
    double sum = 0;
    enum { DRAWS = 4000 };
    rung_rng_init(&rng, 9, 9, (uint64_t)(N0 * 1000 + J));
    for (int d = 0; d < DRAWS; d++) {
        int times[64] = {0};
        for (int u = 0; u < N0; u++) times[rung_rng_below(&rng, (uint64_t)N0)]++;
        for (int j = 0; j < J; j++) {
            int best = 0;
            for (int i = 1; i < N0; i++)
                if (times[i] > times[best]) best = i;
            sum += times[best], times[best] = 0;
        }
    }
    return sum / DRAWS / N0;
}

/* The state that leaves z_1 knows z_1: it hands on the columns of z_2 that are asked for most. */
static void test_columns_that_are_asked_for_most(void **state)
{
    (void)state;
    int ceilings = 0, tight = 0;
    for (int J = 1; J < 12; J++) {
        char layers[32];
        enum { N0 = 32, ROWS = 64, BITS = 16 };
        snprintf(layers, sizeof layers, "F1 R%d", J * ROWS * BITS);
        rung_bound_answer a = ask(layers, "seqcomp L=2 N0=32 n=64 V=65536", 0, "B0");
        double share = asked_most(N0, J), score = share + (1 - share) / 65536;
        if (!(a.ceiling > 0) || a.ceiling_over) continue;
        ceilings++;
        if (score > a.ceiling) fail_msg("%d columns: %g > %g", J, score, a.ceiling);
        /* more than the share J/N_0 that a state without z_1 would reach: the ceiling must be above that too */
        tight += score > (double)J / N0 * 1.3;
    }
    assert_true(ceilings >= 5 && tight >= 5);
}

/* The state in front knows some entries of z_1 and hands them to w, which then asks for one entry of z_2. */
static void test_a_state_that_knows_where_to_look(void **state)
{
    (void)state;
    int ceilings = 0;
    for (int known = 0; known <= 40; known += 4) {
        char layers[32];
        snprintf(layers, sizeof layers, "R%d F16", known * 6 + 1); /* 64 values of z_1: six bits each */
        rung_bound_answer a = ask(layers, "seqcomp L=2 N0=64 n=64 V=65536", 0, "B");
        double score = known / 64.0;
        if (!(a.ceiling > 0)) continue;
        ceilings++;
        assert_null(a.ceiling_over);
        if (score > a.ceiling) fail_msg("%d entries of z_1: %g > %g", known, score, a.ceiling);
    }
    assert_true(ceilings >= 4);
    assert_true(ask("R8 F16 R1", "seqcomp L=2 N0=64 n=64 V=65536", 0, "B").ceiling == 0);
    assert_true(ask("R8 F16", "seqcomp L=2 N0=64 n=64 V=65536 dist=identity", 0, "B").ceiling == 0);
    assert_true(ask("R8 F16", "seqcomp L=3 N0=64 n=1,64", 0, "B").ceiling == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_protocol_beats_a_ceiling),
        cmocka_unit_test(test_no_code_of_permutations_beats_the_ceiling),
        cmocka_unit_test(test_bits_of_the_asked_entry_raise_the_ceiling),
        cmocka_unit_test(test_one_bit_about_two_entries),
        cmocka_unit_test(test_zipf_has_its_own_ceiling),
        cmocka_unit_test(test_the_entropy_of_zipf_is_rounded_to_the_safe_side),
        cmocka_unit_test(test_sizes_that_the_theorem_chooses),
        cmocka_unit_test(test_where_there_is_none),
        cmocka_unit_test(test_identity_is_what_b0_speaks_of),
        cmocka_unit_test(test_a_row_that_is_known_in_part),
        cmocka_unit_test(test_columns_that_are_asked_for_most),
        cmocka_unit_test(test_a_state_that_knows_where_to_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
