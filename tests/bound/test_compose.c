/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The smallest prompts with a proof, at small and at real sizes: numbers that once were found stay found; where a search is
 * exhaustive they are exact. And what no row may claim: other orders, other tasks, shorter prompts, numbers near overflow.
 */
#include "compose_test.h"
#include "effort.h"

static const uint64_t ENDLESS = UINT64_C(1) << 62;

static rung_bound_answer ask_arch(const char *arch, int bits, rung_message message, const char *task, uint64_t n,
                                  const char *id, size_t d)
{
    rung_subject *subject;
    rung_arch_defaults defaults = {.heads = 1, .dk = d, .dv = d, .causal = true};
    rung_task_conf conf = task_of(task);
    CHECK(rung_subject_arch(&subject, arch, &defaults, &check_err));
    question q = question_of(NULL, &conf, n);
    q.subject = subject, q.bits = bits, q.message = message, q.thresholds = true;
    rung_bound_answer a = reported(&q, id);
    rung_subject_free(subject);
    return a;
}

static void assert_threshold(const rung_bound_answer *a, double want, bool exact, const char *what)
{
    if (!a->applies || !a->holds || !(exact ? a->n_threshold == want : a->n_threshold <= want))
        fail_msg("%s, %s: n = %.17g, not %s%.17g: %s %s", what, a->bound->id, a->n_threshold, exact ? "" : "at most ",
                 want, a->premise, a->statement);
    if (exact && !a->exact) fail_msg("%s: exhaustive, but not said so", what);
}

/* ---- tables ----------------------------------------------------------------------------------------------------------------- */

static const char *repeated(char *out, size_t count, const char *mech)
{
    sprintf(out, count == 0 ? "" : "%d*%s", (int)count, mech);
    return out;
}

/* R^a F R^b, rows a and columns b in {0, 1, 2, 4}; the same for F F, and then for F F R and F F R^4. */
typedef struct known {
    size_t d;
    int p;
    double eva[4], hybrid[4][4], full, full_then[2];
} known;

static const known table[] = {
    {2,
     4,
     {10, 14, 19, 23},
     {{14, 38, 47, 56}, {42, 121, 182, 282}, {68, 177, 255, 401}, {118, 275, 392, 597}},
     482,
     {6022, 6102}},
    {2,
     8,
     {14, 23, 31, 38},
     {{20, 79, 92, 114}, {74, 321, 495, 834}, {124, 470, 722, 1172}, {218, 722, 1106, 1757}},
     2210,
     {63065, 67070}},
    {4,
     4,
     {20, 34, 45, 57},
     {{18, 79, 98, 122}, {104, 548, 877, 1487}, {186, 828, 1354, 1946}, {340, 1346, 1822, 2522}},
     1458,
     {36922, 40770}},
    {2,
     16,
     {23, 38, 52, 66},
     {{28, 155, 194, 254}, {132, 898, 1486, 2599}, {230, 1314, 2162, 3726}, {414, 2032, 3252, 4702}},
     11377,
     {585091, 596582}},
    {4,
     8,
     {34, 57, 78, 98},
     {{26, 162, 206, 257}, {194, 1612, 2754, 4405}, {350, 2466, 3602, 5322}, {646, 3362, 4682, 6702}},
     7352,
     {324050, 342302}},
    {4,
     16,
     {57, 98, 137, 174},
     {{40, 350, 444, 590}, {364, 5033, 8129, 12638}, {662, 6662, 9794, 14821}, {1236, 8642, 12392, 18127}},
     39404,
     {3112286, 3204413}},
    {8,
     4,
     {52, 90, 126, 159},
     {{24, 182, 230, 314}, {316, 3137, 4592, 6890}, {586, 4027, 5697, 8282}, {1108, 5454, 7454, 10577}},
     5762,
     {236326, 259382}},
    {8,
     8,
     {90, 159, 223, 284},
     {{38, 392, 515, 669}, {598, 8402, 12762, 19658}, {1122, 10712, 15554, 23492}, {2126, 13970, 19722, 28622}},
     30386,
     {2219114, 2333582}},
};

static const size_t counts[4] = {0, 1, 2, 4};

static void check_hybrid(const known *k, size_t a, size_t b)
{
    char before[32], after[32], arch[96];
    snprintf(arch, sizeof arch, "%s%sfull%s%s", repeated(before, counts[a], "linear"), a ? "," : "", b ? "," : "",
             repeated(after, counts[b], "linear"));
    rung_bound_answer got = ask_arch(arch, k->p, RUNG_MESSAGE_NUMERATOR, "seqcomp L=2", ENDLESS, a ? "B" : "B0", k->d);
    assert_threshold(&got, k->hybrid[a][b], a == 0, arch);
}

/* All rows of the table are a minute; a soak does them all. */
static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < (getenv("RUNG_SOAK") ? RUNG_COUNT(table) : effort(2, 1)); i++) {
        const known *k = &table[i];
        for (size_t r = 0; r < 4; r++) {
            char arch[32];
            snprintf(arch, sizeof arch, "%zu*linear", r + 1);
            rung_bound_answer got = ask_arch(arch, k->p, RUNG_MESSAGE_NUMERATOR, "eva", 2, "A", k->d);
            assert_true(got.exact && got.n_threshold == k->eva[r]);
        }
        for (size_t a = 0; a < 4; a++)
            for (size_t b = 0; b < 4; b++) check_hybrid(k, a, b);
        rung_bound_answer got = ask_arch("2*full", k->p, RUNG_MESSAGE_NUMERATOR, "seqcomp L=2", ENDLESS, "C0", k->d);
        assert_threshold(&got, k->full, false, "2*full");
        for (int e = 0; e < 2; e++) {
            const char *arch = e ? "2*full,4*linear" : "2*full,linear";
            got = ask_arch(arch, k->p, RUNG_MESSAGE_NUMERATOR, "seqcomp L=2", ENDLESS, "Ce", k->d);
            assert_threshold(&got, k->full_then[e], false, arch);
        }
    }
}

static void test_message_with_and_without_maximum(void **state)
{
    (void)state;
    rung_bound_answer numerator =
        ask_arch("full,4*linear", 26, RUNG_MESSAGE_NUMERATOR, "seqcomp L=2", ENDLESS, "B0", 2);
    rung_bound_answer online = ask_arch("full,4*linear", 26, RUNG_MESSAGE_ONLINE, "seqcomp L=2", ENDLESS, "B0", 2);
    assert_threshold(&numerator, 434, false, "p=26, numerator");
    assert_threshold(&online, 542, false, "p=26, online");
    assert_true(numerator.n_threshold < online.n_threshold);
}

/* ---- real sizes --------------------------------------------------------------------------------------------------------------- */

/* 32 heads, d = 128, p = 32: c = 132096, and 2^24 bits of state a layer. */
static void test_real_sizes(void **state)
{
    static const struct {
        const char *layers, *id;
        double n;
        bool exact;
    } cases[] = {
        {"R603979776", "A-compose", 24599879, true},           {"R805306368", "A-compose", 32284158, true},
        {"F132096 R603979776", "B0", 121723022, false},        {"R603979776 F132096", "B", 385421378, false},
        {"R16777216 F132096 R587202560", "B", 5.46e11, false}, {"R301989888 F132096 R301989888", "B", 3.46e11, false},
        {"R587202560 F132096 R16777216", "B", 3.67e10, false}, {"F132096 F132096", "C0", 1.801e13, false},
        {"F132096 F132096 R16777216", "Ce", 1.051e18, false},
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i += effort(1, 2)) { /* of C0 the other cases ask */
        rung_bound_answer a = ask(cases[i].layers, "seqcomp L=2", ENDLESS, cases[i].id);
        assert_threshold(&a, cases[i].n, cases[i].exact, cases[i].layers);
        assert_false(a.trivial);
    }
    rung_bound_answer eva = ask("R603979776", "eva", 2, "A");
    assert_true(eva.exact && eva.n_threshold == 24599877);
    eva = ask("R805306368", "eva", 2, "A");
    assert_true(eva.exact && eva.n_threshold == 32284156);
}

/* ---- many full layers ------------------------------------------------------------------------------------------------------------ */

static void test_three_and_more_functions(void **state)
{
    static const struct {
        const char *layers, *task, *id;
        double log2_n;
        bool trivial;
    } cases[] = {
        {"R128 F64 R128 F64 R128", "seqcomp L=3", "D", 42.1, false},
        {"F64 R128 F64 R128", "seqcomp L=3", "D", 37.0, false},
        {"R256 F128 R256 F128 R256", "seqcomp L=3", "D", 49.5, false},
        {"R128 F64 R128 F64 R128", "seqcomp L=4", "D", 42.6, false},
        {"F64 F64 F64", "seqcomp L=3", "D-pure", 71.5, true},
        {"F128 F128 F128", "seqcomp L=3", "D-pure", 84.4, false},
        {"R128 F64 R128 F64 R128 F64 R128", "seqcomp L=4", "D", 100.5, true},
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i += effort(1, 4)) { /* a D and a D-pure */
        rung_bound_answer a = ask(cases[i].layers, cases[i].task, ENDLESS, cases[i].id);
        if (!a.applies || !(a.log2_n > 0 && a.log2_n <= cases[i].log2_n) || !a.trivial == cases[i].trivial)
            fail_msg("%s, %s: 2^%g, %s %s", cases[i].layers, cases[i].task, a.log2_n, a.premise, a.statement);
        assert_true(fabs(a.log2_n - log2(a.n_threshold)) < 1e-9);
        assert_true(a.holds == (a.n_threshold <= (double)ENDLESS));
    }
}

/* "name = number" in a statement. */
static double named(const char *statement, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, " %s = ", name);
    const char *at = strstr(statement, key);
    if (!at) fail_msg("no '%s' in: %s", name, statement);
    return strtod(at + strlen(key), NULL);
}

/* A task with more functions than the theorem needs: longer, because all of them are in the prompt, those that pass their
 * argument on with N_1 entries each. */
static void test_more_functions_are_longer(void **state)
{
    (void)state;
    double before = 0;
    for (int L = 3; L <= 5; L++) {
        char task[32];
        snprintf(task, sizeof task, "seqcomp L=%d", L);
        rung_bound_answer a = ask("R20 F12 R20 F12", task, ENDLESS, "D");
        assert_true(a.applies && a.n_threshold > before);
        before = a.n_threshold;
        double N0 = named(a.statement, "t") * named(a.statement, "q_1") * named(a.statement, "q_2");
        double N1 = N0 * named(a.statement, "n_1"), N2 = N1 * named(a.statement, "n_2");
        assert_true(before == 2 + N0 + N1 * (L - 2) + N2);
    }
}

/* ---- what is not claimed ---------------------------------------------------------------------------------------------------- */

static void assert_silent(const rung_bound_answer *a, const char *what)
{
    if (a->holds || a->verdict == RUNG_CANNOT) fail_msg("%s, %s: %s", what, a->bound->id, a->statement);
}

static void test_shorter_prompts_are_left_alone(void **state)
{
    static const char *const cases[][2] = {
        {"F24 R48", "B0"},     {"R48 F24", "B"},     {"R48 F24 R48", "B"},   {"F12 F12", "C0"},
        {"F12 F12 R24", "Ce"}, {"R96", "A-compose"}, {"R20 F8 R20 F8", "D"},
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        const char *task = strcmp(cases[i][1], "D") ? "seqcomp L=2" : "seqcomp L=3";
        rung_bound_answer a = ask(cases[i][0], task, ENDLESS, cases[i][1]);
        assert_true(a.holds && a.n_threshold > 2);
        uint64_t n = (uint64_t)a.n_threshold;
        for (int step = -1; step <= 1; step++) {
            rung_bound_answer at = ask(cases[i][0], task, n + (uint64_t)step, cases[i][1]);
            assert_true(at.n_threshold == a.n_threshold && at.holds == (step >= 0));
            if (step < 0) assert_true(at.margin < 1);
        }
    }
}

static void test_other_tasks_and_orders(void **state)
{
    static const char *const first[] = {"seqcomp L=1 order=first N0=50", "seqcomp L=2 order=first",
                                        "seqcomp L=3 order=first"};
    static const struct {
        const char *layers, *id;
        int task;
    } cases[] = {{"F4", "A'", 0},       {"F4 R4", "B0", 1},     {"R4 F4", "B", 1},    {"F4 F4", "C0", 1},
                 {"F4 F4 R4", "Ce", 1}, {"R4", "A-compose", 1}, {"F4 R4 F4", "D", 2}, {"F4 F4 F4", "D-pure", 2}};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        stack s;
        rung_task_conf conf = task_of(first[cases[i].task]);
        question q = question_of(layers_of(&s, cases[i].layers), &conf, conf.params[1].set ? 0 : ENDLESS);
        q.message = RUNG_MESSAGE_NUMERATOR;
        rung_bound_answer a = reported(&q, cases[i].id);
        assert_int_equal(a.missing, RUNG_PREMISE_LAYOUT);
        assert_silent(&a, "w first");
        assert_false(a.applies);
    }
    rung_bound_answer a = ask("F4 R4 F4", "seqcomp L=3 flat=1", ENDLESS, "D");
    assert_false(a.applies);
    a = ask("R4 F4 F4", "seqcomp L=2", ENDLESS, "C0"); /* the pointer is handed on: solvable */
    assert_false(a.applies);
    a = ask("F4 R4 F4", "seqcomp L=2", ENDLESS, "C0");
    assert_false(a.applies);
    a = ask("F4 R4 F4 R4", "seqcomp L=2", ENDLESS, "Ce");
    assert_false(a.applies);
    a = ask("F4 F4", "seqcomp L=2", ENDLESS, "D"); /* as many full layers as functions */
    assert_false(a.applies);
    a = ask("F4 R4 F4 F4", "seqcomp L=3", ENDLESS, "D-pure");
    assert_false(a.applies);
}

/* Log-linear layers among full ones: as states of all levels that a prompt of that length can have, and no threshold beyond
 * that length. */
static void test_levels_count_as_states(void **state)
{
    static const char *const ids[] = {"B0", "B", "Ce"};
    const rung_ledger_layer level = {.recurrent = true, .levels = true, .state_elements = 3}, full = full_bits(5, 1);
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(ids); i++) {
        rung_ledger_layer layers[3] = {full, level, level}, states[3];
        size_t count = i == 2 ? 3 : 2;
        if (i == 1) layers[0] = level, layers[1] = full;
        if (i == 2) layers[1] = full;
        stack s, t;
        rung_task_conf conf = task_of("seqcomp L=2");
        for (uint64_t n = 60; n < 20000; n *= 7) {
            uint64_t ones = (uint64_t)floor(log2((double)n)) + 1;
            for (size_t k = 0; k < count; k++) states[k] = layers[k].full ? full : recurrent_bits(3 * ones);
            question q = question_of(stack_of(&s, count, layers), &conf, n);
            question r = question_of(stack_of(&t, count, states), &conf, n);
            rung_bound_answer a = reported(&q, ids[i]), b = reported(&r, ids[i]);
            assert_true(a.applies && b.applies && a.holds == b.holds && a.lhs == b.lhs && a.rhs == b.rhs);
            assert_true(a.n_threshold <= (double)n); /* 0: none is known */
        }
        /* a longer prompt may have more levels, so the threshold with those of the longest is one */
        question far = question_of(stack_of(&s, count, layers), &conf, UINT64_C(1) << 40);
        double threshold = reported(&far, ids[i]).n_threshold;
        question at = question_of(&s.ledger, &conf, (uint64_t)threshold);
        assert_true(threshold > 0 && reported(&at, ids[i]).verdict == RUNG_CANNOT);
    }
}

static void test_premises_of_every_report(void **state)
{
    (void)state;
    stack s;
    rung_task_conf conf = task_of("seqcomp L=2 N0=20 n=20");
    question q = question_of(layers_of(&s, "F4 R4"), &conf, 0);
    q.message = RUNG_MESSAGE_NUMERATOR;
    assert_int_equal(reported(&q, "B0").verdict, RUNG_CANNOT);
    for (int way = 0; way < 4; way++) {
        question other = q;
        s.ledger.known[RUNG_LEDGER_CAUSAL].is = way == 0 ? RUNG_VIOLATED : RUNG_ESTABLISHED;
        if (way == 1) other.kernel = RUNG_KERNEL_TWO_PASS;
        if (way == 2) other.kernel = RUNG_KERNEL_REVERSE;
        if (way == 3) other.tokens_after = true;
        rung_bound_answer a = reported(&other, "B0");
        assert_silent(&a, "premise");
        assert_false(a.applies);
        s.ledger.known[RUNG_LEDGER_CAUSAL].is = RUNG_ESTABLISHED;
    }
}

/* flat=1 and a given V make the answers smaller; the tables must then be larger. */
static void test_fewer_values_need_larger_tables(void **state)
{
    static const char *const cases[][2] = {
        {"F24 R48", "B0"}, {"R48 F24 R48", "B"}, {"F12 F12", "C0"}, {"R96", "A-compose"}};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_bound_answer all = ask(cases[i][0], "seqcomp L=2", ENDLESS, cases[i][1]);
        rung_bound_answer flat = ask(cases[i][0], "seqcomp L=2 flat=1", ENDLESS, cases[i][1]);
        rung_bound_answer few = ask(cases[i][0], "seqcomp L=2 V=2", ENDLESS, cases[i][1]);
        assert_true(all.holds && flat.holds && few.holds);
        assert_true(all.n_threshold < flat.n_threshold && all.n_threshold < few.n_threshold);
    }
    rung_bound_answer all = ask("R20 F8 R20 F8", "seqcomp L=3", ENDLESS, "D");
    rung_bound_answer few = ask("R20 F8 R20 F8", "seqcomp L=3 V=4", ENDLESS, "D");
    assert_true(all.holds && few.log2_n > all.log2_n && !few.trivial);
}

/* An answer that does not fit a message at all is impossible in a way that says nothing. */
static void test_trivial(void **state)
{
    (void)state;
    rung_bound_answer a = ask("F4 R48", "seqcomp L=2 N0=8 n=8", 0, "B0");
    assert_true(a.trivial);
    a = ask("F6 R48", "seqcomp L=2 N0=8 n=8", 0, "B0");
    assert_false(a.trivial);
    a = ask("F8", "seqcomp L=1 N0=500", 0, "A'");
    assert_true(a.holds && a.trivial);
    a = ask("F9", "seqcomp L=1 N0=500", 0, "A'");
    assert_true(a.holds && !a.trivial);
    a = ask("F8 F8 R24", "seqcomp L=2", ENDLESS, "Ce");
    assert_true(a.holds && a.trivial);
}

/* What the search finds with free sizes it finds again when it is given these sizes. */
static void test_given_sizes_are_searched_as_well(void **state)
{
    static const struct {
        const char *layers, *id;
    } cases[] = {
        {"R7680 F192 R14720", "B"}, {"R48 F24 R48", "B"},    {"R300 F40", "B"}, {"R40 F100 R2000", "B"},
        {"R2000 F64 R100", "B"},    {"F24 F24", "C0"},       {"F60 F60", "C0"}, {"F12 F12 R24", "Ce"},
        {"F40 F40 R200", "Ce"},     {"F24 F24 R5000", "Ce"},
    };
    (void)state;
    for (size_t i = 0; i < effort(RUNG_COUNT(cases), 4); i++) {
        char task[96];
        rung_bound_answer found = ask(cases[i].layers, "seqcomp L=2", ENDLESS, cases[i].id);
        assert_true(found.holds && found.point.known);
        snprintf(task, sizeof task, "seqcomp L=2 N0=%llu n=%llu", (unsigned long long)found.point.N0,
                 (unsigned long long)found.point.n);
        rung_bound_answer given = ask(cases[i].layers, task, 0, cases[i].id);
        if (!given.holds) fail_msg("%s, %s: %s", cases[i].layers, task, given.statement);
        snprintf(task, sizeof task, "seqcomp L=2 N0=%llu n=%llu", (unsigned long long)found.point.N0 / 4,
                 (unsigned long long)found.point.n / 4 + 1);
        given = ask(cases[i].layers, task, 0, cases[i].id);
        assert_false(given.holds);
    }
}

/* State bits up to 2^62, tables that multiply to more than 64 bits: nothing wraps into a claim. */
static void test_numbers_near_overflow(void **state)
{
    static const char *const layers[] = {"R4611686018427387903 F1000",
                                         "F1000 R4611686018427387903",
                                         "F4611686018427387903 R5",
                                         "R5 F4611686018427387903 R4611686018427387903",
                                         "F4611686018427387903 F4611686018427387903",
                                         "F1000000000000 F1000000000000 R4611686018427387903",
                                         "R4611686018427387903"};
    static const char *const ids[] = {"B", "B0", "B0", "B", "C0", "Ce", "A-compose"};
    static const char *const tasks[] = {"seqcomp L=2 N0=500 n=500", "seqcomp L=3 N0=60 n=60,60", "seqcomp L=16"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(layers); i++)
        for (size_t t = 0; t < RUNG_COUNT(tasks); t++) {
            bool given = strstr(tasks[t], "N0") != NULL;
            rung_bound_answer a = ask(layers[i], tasks[t], given ? 0 : UINT64_MAX, ids[i]);
            if (given) assert_silent(&a, layers[i]);
            assert_true(!a.holds || a.n_threshold >= 5e16); /* at least the state bits, over log2 of what they can be */
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_message_with_and_without_maximum),
        cmocka_unit_test(test_real_sizes),
        cmocka_unit_test(test_three_and_more_functions),
        cmocka_unit_test(test_more_functions_are_longer),
        cmocka_unit_test(test_shorter_prompts_are_left_alone),
        cmocka_unit_test(test_other_tasks_and_orders),
        cmocka_unit_test(test_levels_count_as_states),
        cmocka_unit_test(test_premises_of_every_report),
        cmocka_unit_test(test_fewer_values_need_larger_tables),
        cmocka_unit_test(test_trivial),
        cmocka_unit_test(test_given_sizes_are_searched_as_well),
        cmocka_unit_test(test_numbers_near_overflow),
    };
    return cmocka_run_group_tests_name("compose", tests, NULL, NULL);
}
