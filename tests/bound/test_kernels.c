/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Theorems for softmax that is not one scan from left to right, against all models of a kind at tiny sizes. Scores are
 * random; what w may learn of z_2 is any function of what the kernel has seen by then. Two tables z_2 must have different
 * letters if some question tells them apart in the same circumstances (the same maximum; the same sum). The largest set of
 * tables that pairwise must is counted exactly: a layer that solves the task has at least as many letters, and the theorem
 * says that there are no fewer than V^(N_0-H), and so on. Then the rows with their numbers a second time.
 */
#include "compose_test.h"
#include "effort.h"

enum { TABLES_MAX = 81, FIRST_MAX = 256, HEADS_MAX = 2 };

typedef struct small {
    int N0, V, heads, letters; /* letters of the sum that eager divides by; 0: two-pass */
    bool tells;                /* the maximum says what z_0 is, and the sum is z_1(z_0) as far as its letters reach */
    int seconds, firsts;       /* how many z_2 (n_1 = 1) and z_1 */
    int score2[HEADS_MAX][8][8], score1[HEADS_MAX][8][8], score0[HEADS_MAX][8];
    int circumstance[TABLES_MAX][FIRST_MAX]; /* of one z_0 */
} small;

static rung_rng rng;

static int below(int n)
{
    return (int)rung_rng_below(&rng, (uint64_t)n);
}

static int whole_power(int base, int exponent)
{
    int p = 1;
    while (exponent-- > 0) p *= base;
    return p;
}

static int entry(int table, int at, int values)
{
    while (at-- > 0) table /= values;
    return table % values;
}

/* Ties are as likely as not: few different scores. */
static void draw(small *s, int range)
{
    s->seconds = whole_power(s->V, s->N0), s->firsts = whole_power(s->N0, s->N0);
    assert_true(s->seconds <= TABLES_MAX && s->firsts <= FIRST_MAX);
    for (int h = 0; h < s->heads; h++)
        for (int i = 0; i < s->N0; i++) {
            s->score0[h][i] = s->tells ? 50 + i : below(range);
            for (int v = 0; v < s->V; v++) s->score2[h][i][v] = below(range);
            for (int v = 0; v < s->N0; v++) s->score1[h][i][v] = below(range);
        }
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int maximum(const small *s, int h, int second, int first, int u)
{
    int most = s->score0[h][u];
    for (int i = 0; i < s->N0; i++) {
        most = larger(most, s->score2[h][i][entry(second, i, s->V)]);
        most = larger(most, s->score1[h][i][entry(first, i, s->N0)]);
    }
    return most;
}

/* A sum from left to right in so many letters: any function of the sum so far, the token and the maximum. */
static int sum(const small *s, int second, int first, int u, int circumstance, uint64_t seed)
{
    uint64_t acc = 0;
    if (s->tells) return entry(first, u, s->N0) % s->letters;
    for (int i = 0; i < 2 * s->N0 + 1; i++) {
        int token = i < s->N0 ? entry(second, i, s->V) : i < 2 * s->N0 ? entry(first, i - s->N0, s->N0) : u;
        rung_rng step;
        rung_rng_init(&step, seed + (uint64_t)circumstance, (uint64_t)(i * 64 + token), acc);
        acc = rung_rng_below(&step, (uint64_t)s->letters);
    }
    return (int)acc;
}

static void circumstances(small *s, int u, uint64_t seed)
{
    for (int z2 = 0; z2 < s->seconds; z2++)
        for (int z1 = 0; z1 < s->firsts; z1++) {
            int c = 0;
            for (int h = 0; h < s->heads; h++) c = c * 64 + maximum(s, h, z2, z1, u);
            if (s->letters) c = c * s->letters + sum(s, z2, z1, u, c, seed);
            s->circumstance[z2][z1] = c;
        }
}

/* Some z_1 asks for an entry in which they differ, and nothing else tells w which of the two it is. */
static bool apart(const small *s, int a, int b, int u, int circumstance)
{
    for (int z1 = 0; z1 < s->firsts; z1++) {
        int v = entry(z1, u, s->N0);
        if (s->circumstance[a][z1] == circumstance && s->circumstance[b][z1] == circumstance &&
            entry(a, v, s->V) != entry(b, v, s->V))
            return true;
    }
    return false;
}

/* The largest set of pairwise apart tables: branch and bound over those that remain. */
static int largest(bool edge[TABLES_MAX][TABLES_MAX], const int *left, int count, int size, int best)
{
    if (size > best) best = size;
    for (int i = 0; i < count && size + count - i > best; i++) {
        int next[TABLES_MAX], more = 0;
        for (int k = i + 1; k < count; k++)
            if (edge[left[i]][left[k]]) next[more++] = left[k];
        best = largest(edge, next, more, size + 1, best);
    }
    return best;
}

static int letters_needed(const small *s, int u, int circumstance, int enough)
{
    static bool edge[TABLES_MAX][TABLES_MAX];
    int all[TABLES_MAX];
    for (int a = 0; a < s->seconds; a++) {
        all[a] = a;
        for (int b = 0; b < s->seconds; b++) edge[a][b] = a != b && apart(s, a, b, u, circumstance);
    }
    return largest(edge, all, s->seconds, 0, enough - 1);
}

/* Whether for some z_0 and in some circumstances so many letters are needed. */
static bool needs_letters(small *s, int letters, uint64_t seed)
{
    for (int u = 0; u < s->N0; u++) {
        circumstances(s, u, seed);
        bool tried[64 * 64 * 4] = {false};
        for (int z2 = 0; z2 < s->seconds; z2++)
            for (int z1 = 0; z1 < s->firsts; z1++) {
                int c = s->circumstance[z2][z1];
                if (tried[c]) continue;
                tried[c] = true;
                if (letters_needed(s, u, c, letters) >= letters) return true;
            }
    }
    return false;
}

static void check_models(const small *kind, int letters, size_t models)
{
    for (size_t m = 0; m < models; m++) {
        small s = *kind;
        draw(&s, m % 3 == 0 ? 4 : 40);
        if (!needs_letters(&s, letters, m))
            fail_msg("N0=%d V=%d H=%d, model %zu: fewer than %d letters", s.N0, s.V, s.heads, m, letters);
    }
}

static void test_two_passes(void **state)
{
    (void)state;
    rung_rng_init(&rng, 5, 1, 0);
    check_models(&(small){.N0 = 2, .V = 2, .heads = 1}, 2, effort(400, 60));
    check_models(&(small){.N0 = 2, .V = 4, .heads = 1}, 4, effort(400, 60));
    check_models(&(small){.N0 = 3, .V = 2, .heads = 1}, 4, effort(300, 30));
    check_models(&(small){.N0 = 3, .V = 3, .heads = 1}, 9, effort(100, 10));
    check_models(&(small){.N0 = 3, .V = 3, .heads = 2}, 3, effort(60, 8));
    check_models(&(small){.N0 = 4, .V = 2, .heads = 2}, 4, effort(30, 4));
}

/* V^(N_0-H) is not too small: with scores that all differ, a model with so many letters may exist, and one letter more is
 * not needed in every model. */
static void test_two_passes_are_tight_for_some_model(void **state)
{
    bool some = false;
    (void)state;
    rung_rng_init(&rng, 5, 2, 0);
    for (int m = 0; m < 400 && !some; m++) {
        small s = {.N0 = 2, .V = 2, .heads = 1};
        draw(&s, 40);
        some = !needs_letters(&s, 3, 0);
    }
    assert_true(some);
}

/* One bit of sum: the class of z_2 has half the tables, and z_1(z_0) half the values that are left. */
static void test_rounded_probabilities(void **state)
{
    (void)state;
    rung_rng_init(&rng, 5, 3, 0);
    for (int tells = 0; tells < 2; tells++) {
        /* ceil((3 - 1) / 2) = 1 entry, half of 3 tables */
        check_models(&(small){.N0 = 3, .V = 3, .heads = 1, .letters = 2, .tells = tells}, 2, effort(100, 10));
        /* ceil((4 - 1) / 2) = 2 entries, half of 4 tables */
        check_models(&(small){.N0 = 4, .V = 2, .heads = 1, .letters = 2, .tells = tells}, 2, effort(20, 4));
    }
}

/* The sum may be about z_1(z_0) alone, although it runs over all of z_1. With one bit of it w needs to know two entries of
 * four in any circumstances: 9 letters for V = 3, and not half of the 27 of ceil(4 / 2^(1/3)) - 1 = 3 entries. */
static void test_the_maximum_tells_what_z_0_is(void **state)
{
    (void)state;
    rung_rng_init(&rng, 5, 6, 0);
    small s = {.N0 = 4, .V = 3, .heads = 1, .letters = 2, .tells = true};
    size_t told = 0;
    draw(&s, 4);
    for (int u = 0; u < s.N0; u++) {
        circumstances(&s, u, 0);
        for (int a = 0; a < s.seconds; a++)
            for (int b = 0; b < s.seconds; b++)
                for (int bit = 0; bit < 2; bit++) {
                    if (!apart(&s, a, b, u, (50 + u) * s.letters + bit)) continue;
                    assert_true(entry(a, bit, s.V) != entry(b, bit, s.V) ||
                                entry(a, bit + 2, s.V) != entry(b, bit + 2, s.V));
                    told++;
                }
    }
    assert_true(told > 0);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static rung_bound_answer ask_kernel(uint64_t c, uint64_t heads, int bits, const char *task, uint64_t n,
                                    rung_kernel kernel, uint64_t tile, const char *id)
{
    stack s;
    rung_task_conf conf = task_of(task);
    rung_ledger_layer layer = {.full = true, .heads = heads, .value_dim = c, .key_dim = 1};
    question q = question_of(stack_of(&s, 1, &layer), &conf, n);
    q.kernel = kernel, q.tile = tile, q.bits = bits;
    return answer_of(&q, id);
}

static uint64_t draw_between(uint64_t low, uint64_t high)
{
    return low + rung_rng_below(&rng, high - low + 1);
}

/* Given sizes: V^entries > 2^c in whole numbers. */
static void test_sides_of_given_sizes(void **state)
{
    int held = 0, drawn = 0;
    (void)state;
    rung_rng_init(&rng, 5, 4, 0);
    for (size_t i = 0; i < effort(300, 100); i++, drawn++) {
        uint64_t N0 = draw_between(2, 40), n1 = draw_between(1, 4), V = draw_between(2, 300);
        uint64_t H = draw_between(1, 3), dv = draw_between(1, 12), T = draw_between(1, 48), L = draw_between(1, 2);
        int bits = (int)draw_between(1, 6);
        char task[96];
        uint64_t entries = 0, which = draw_between(0, 2), c = H * (dv + (which == 2 ? 2 : 1)) * (uint64_t)bits;
        if (which < 2) L = 2;
        if (L == 1) n1 = 1;
        snprintf(task, sizeof task, "seqcomp L=2 N0=%d n=%d V=%d", (int)N0, (int)n1, (int)V);
        if (L == 1) snprintf(task, sizeof task, "seqcomp L=1 N0=%d V=%d", (int)N0, (int)V);
        static const char *const ids[] = {"two-pass", "eager", "split"};
        static const rung_kernel kernels[] = {RUNG_KERNEL_TWO_PASS, RUNG_KERNEL_EAGER, RUNG_KERNEL_SPLIT};
        if (which == 0) entries = N0 > H ? N0 - H : 0;
        if (which == 1) {
            uint64_t values = UINT64_C(1) << (H * (uint64_t)bits);
            entries = N0 > H ? (N0 - H + values - 1) / values : 0;
        }
        if (which == 2) {
            uint64_t whole = L == 1 ? (N0 + 1 > T ? N0 + 1 - T : 0) : N0 * n1 >= T ? (N0 + 1) / 2 : 0;
            entries = whole < T ? whole : T;
        }
        bool truth = entries > 0 && power_beats(V, entries, c);
        rung_bound_answer a = ask_kernel(dv, H, bits, task, 0, kernels[which], T, ids[which]);
        bool got = a.applies && a.holds;
        if (got != truth)
            fail_msg("%s, %s, H=%d dv=%d p=%d T=%d: %s", ids[which], task, (int)H, (int)dv, bits, (int)T, a.statement);
        held += truth;
    }
    assert_true(held > drawn / 10 && held < drawn - drawn / 10);
}

/* The thresholds that docs/theory.md prints. */
static void test_thresholds(void **state)
{
    (void)state;
    uint64_t endless = UINT64_C(1) << 40;
    assert_true(ask_kernel(8, 1, 32, "seqcomp L=2", endless, RUNG_KERNEL_TWO_PASS, 0, "two-pass").n_threshold == 106);
    assert_true(ask_kernel(32, 1, 32, "seqcomp L=2", endless, RUNG_KERNEL_TWO_PASS, 0, "two-pass").n_threshold == 298);
    assert_true(ask_kernel(8, 1, 16, "seqcomp L=2", endless, RUNG_KERNEL_EAGER, 0, "eager").n_threshold == 917570);
    assert_true(ask_kernel(8, 1, 8, "seqcomp L=2", endless, RUNG_KERNEL_EAGER, 0, "eager").n_threshold == 3078);
    /* the running maximum is free */
    assert_true(ask_kernel(8, 1, 32, "seqcomp L=2", endless, RUNG_KERNEL_ONLINE, 0, "two-pass").n_threshold == 106);
    assert_true(ask_kernel(8, 1, 32, "seqcomp L=2", endless, RUNG_KERNEL_ONLINE, 0, "B0").n_threshold == 114);
}

/* Tiles of one key are one scan; larger ones only make a theorem weaker, and never by more than the entries lost. */
static void test_tiles(void **state)
{
    static const char *const layers[] = {"F12", "F12 R9", "R6 F12", "R6 F12 R9", "F12 F12", "F12 R1 F12"};
    static const char *const ids[] = {"B0", "B0", "B", "B", "C0", "C1"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(layers); i++) {
        stack s;
        rung_task_conf conf = task_of("seqcomp L=2");
        question q = question_of(layers_of(&s, layers[i]), &conf, UINT64_C(1) << 62);
        q.message = RUNG_MESSAGE_NUMERATOR;
        double before = answer_of(&q, ids[i]).n_threshold;
        assert_true(before > 0);
        q.kernel = RUNG_KERNEL_TILES, q.tile = 1;
        assert_true(answer_of(&q, ids[i]).n_threshold == before);
        q.tile = 16;
        double tiled = answer_of(&q, ids[i]).n_threshold;
        if (!(tiled > before && tiled < 40 * before)) fail_msg("%s: %g, then %g", layers[i], before, tiled);
    }
    rung_task_conf one = task_of("seqcomp L=1 N0=12 V=16");
    stack s;
    question q = question_of(layers_of(&s, "F35"), &one, 0);
    q.message = RUNG_MESSAGE_NUMERATOR, q.kernel = RUNG_KERNEL_TILES;
    q.tile = 4, assert_true(answer_of(&q, "A'").holds);  /* 9 entries of 4 bits */
    q.tile = 5, assert_false(answer_of(&q, "A'").holds); /* 8 entries */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_passes),
        cmocka_unit_test(test_two_passes_are_tight_for_some_model),
        cmocka_unit_test(test_rounded_probabilities),
        cmocka_unit_test(test_the_maximum_tells_what_z_0_is),
        cmocka_unit_test(test_sides_of_given_sizes),
        cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_tiles),
    };
    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
