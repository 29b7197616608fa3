/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * two-sum and three-sum against loops over all pairs and triples, and the promises of their generators.
 */
#include "prompts.h"

/* ---- the definitions, once more ------------------------------------------------------------------------ */

typedef struct sums {
    size_t n, m, lead;
    bool self;
    const uint32_t *x;
} sums;

static sums sums_of(const prompts *p, size_t lead)
{
    return (sums){
        .n = (size_t)rung_task_param(&p->conf, "N"),
        .m = (size_t)rung_task_param(&p->conf, "M"),
        .lead = lead,
        .self = rung_task_param(&p->conf, "self") != 0,
        .x = p->in.token + lead,
    };
}

static bool pair_at(const sums *s, size_t i, bool self)
{
    for (size_t j = 0; j < s->n; j++)
        if ((self || j != i) && (s->x[i] + s->x[j]) % s->m == 0) return true;
    return false;
}

static bool triple_at(const sums *s, size_t i)
{
    for (size_t j = 0; j < s->n; j++)
        for (size_t k = 0; k < s->n; k++) {
            bool distinct = i != j && j != k && i != k;
            if ((s->self || distinct) && (s->x[i] + s->x[j] + s->x[k]) % s->m == 0) return true;
        }
    return false;
}

static bool earlier_pair_at(const sums *s, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if ((s->x[i] + s->x[j]) % s->m == 0) return true;
    return false;
}

static size_t pairs_in_all(const sums *s)
{
    size_t pairs = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = i + 1; j < s->n; j++) pairs += (s->x[i] + s->x[j]) % s->m == 0;
    return pairs;
}

static bool query_matches(const sums *s)
{
    uint32_t y = s->x[s->n] - (uint32_t)s->m;
    for (size_t j = 0; j < s->n; j++)
        if ((s->x[j] + y) % s->m == 0) return true;
    return false;
}

static int32_t two_sum_target(const prompts *p, const sums *s, size_t t)
{
    bool last = t + 1 == p->in.tokens;
    switch (rung_task_param(&p->conf, "form")) {
    case 0:
        return last ? query_matches(s) : RUNG_NO_TARGET;
    case 1:
        return t < s->lead ? RUNG_NO_TARGET : pair_at(s, t - s->lead, s->self);
    case 3:
        return t < s->lead ? RUNG_NO_TARGET : earlier_pair_at(s, t - s->lead);
    default:
        return last ? pairs_in_all(s) > 0 : RUNG_NO_TARGET;
    }
}

static int32_t three_sum_target(const prompts *p, const sums *s, size_t t)
{
    bool asked = rung_task_param(&p->conf, "form") == 0 || t + 1 == p->in.tokens;
    return asked ? triple_at(s, t) : RUNG_NO_TARGET;
}

static void check_targets(const prompts *p, const char *text)
{
    bool two = strcmp(p->conf.task->name, "two-sum") == 0;
    sums s = sums_of(p, two ? (size_t)rung_task_param(&p->conf, "blank") : 0);
    for (size_t t = 0; t < p->in.tokens; t++) {
        int32_t want = two ? two_sum_target(p, &s, t) : three_sum_target(p, &s, t);
        if (p->in.target[t] != want) fail_msg("%s: position %zu is %d, not %d", text, t, p->in.target[t], want);
    }
}

/* Numbers at random, few different ones so that matches and repetitions are frequent. */
static void fill_at_random(prompts *p, rung_rng *rng)
{
    size_t m = (size_t)rung_task_param(&p->conf, "M"), n = (size_t)rung_task_param(&p->conf, "N");
    uint32_t few[6], *at = p->in.token;
    for (size_t i = 0; i < 6; i++) few[i] = (uint32_t)rung_rng_below(rng, m);
    few[1] = (uint32_t)(m - few[0]) % (uint32_t)m;
    few[2] = m % 2 ? 0 : (uint32_t)(m / 2);
    few[3] = m % 3 ? 0 : (uint32_t)(m / 3);
    p->in.tokens = p->conf.tokens;
    bool two = strcmp(p->conf.task->name, "two-sum") == 0;
    if (two && rung_task_param(&p->conf, "blank")) *at++ = (uint32_t)p->conf.vocab - 1;
    for (size_t i = 0; i < n; i++)
        *at++ = rung_rng_below(rng, 2) ? few[rung_rng_below(rng, 6)] : (uint32_t)rung_rng_below(rng, m);
    if (two && rung_task_param(&p->conf, "form") == 0) *at = (uint32_t)(m + rung_rng_below(rng, m));
    if (two && rung_task_param(&p->conf, "form") == 2) *at = (uint32_t)m;
}

static const char *const two_sums[] = {
    "two-sum",
    "two-sum N=1 M=2",
    "two-sum N=7 M=3 blank=1",
    "two-sum N=9 M=10",
    "two-sum N=5 M=13 dist=hard",
    "two-sum form=position",
    "two-sum N=2 M=5 form=position",
    "two-sum N=3 M=6 form=position self=0",
    "two-sum N=13 M=8 form=position self=0 blank=1",
    "two-sum N=30 M=7 form=position",
    "two-sum N=10 M=41 form=position dist=hard",
    "two-sum N=2 M=5 form=position dist=hard self=0",
    "two-sum form=causal",
    "two-sum N=2 M=2 form=causal",
    "two-sum N=9 M=9 form=causal blank=1",
    "two-sum N=30 M=100 form=causal",
    "two-sum N=9 M=19 form=causal dist=hard",
    "two-sum N=2 M=3 form=global",
    "two-sum N=9 M=16 form=global blank=1",
    "two-sum N=12 M=15 form=global dist=hard",
    "two-sum N=13 M=15 form=global dist=hard",
};

static const char *const three_sums[] = {
    "three-sum",
    "three-sum N=3 M=30",
    "three-sum N=4 M=42 self=0",
    "three-sum N=5 M=57",
    "three-sum N=12 M=210 self=0",
    "three-sum N=3 M=31 form=last",
    "three-sum N=3 M=33 form=last self=0",
    "three-sum N=14 M=272 form=last",
    "three-sum N=14 M=272 form=last self=0",
    "three-sum N=5 M=56 form=last dist=hard",
    "three-sum N=20 M=506 form=last dist=hard self=0",
};

static void compare_with_loops(const char *text)
{
    prompts p;
    rung_rng rng;
    prompts_open(&p, text);
    rung_rng_init(&rng, 11, 0, 0);
    for (uint64_t i = 0; i < 300; i++) {
        prompts_make(&p, i);
        check_targets(&p, text);
        fill_at_random(&p, &rng);
        assert_int_equal(prompts_solve(&p), RUNG_OK);
        check_targets(&p, text);
    }
    prompts_close(&p);
}

static void two_sum_oracle_agrees_with_all_pairs(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(two_sums); i++) compare_with_loops(two_sums[i]);
}

static void three_sum_oracle_agrees_with_all_triples(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(three_sums); i++) compare_with_loops(three_sums[i]);
}

/* ---- generators ------------------------------------------------------------------------------------------
 */

static void every_position_has_as_many_yes_as_no(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(two_sums); i++) /* the first number of form=causal is always a no */
        if (!strstr(two_sums[i], "form=causal")) prompts_balanced(two_sums[i], 3000);
    for (size_t i = 0; i < RUNG_COUNT(three_sums); i++) prompts_balanced(three_sums[i], 3000);
}

static void no_predictor_without_attention_beats_a_coin(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(two_sums); i++) prompts_no_leak(two_sums[i], 2000);
    for (size_t i = 0; i < RUNG_COUNT(three_sums); i++) prompts_no_leak(three_sums[i], 2000);
}

/* Avoiding is exact: beside the planted matches there are none, in no prompt. */
static void matches_are_the_planted_ones_only(const char *text, size_t fewest, size_t most)
{
    prompts p;
    prompts_open(&p, text);
    for (uint64_t i = 0; i < 3000; i++) {
        size_t yes = 0;
        prompts_make(&p, i);
        for (size_t t = 0; t < p.in.tokens; t++) yes += p.in.target[t] == 1;
        if (yes != fewest && yes != most) fail_msg("%s: %zu matches", text, yes);
    }
    prompts_close(&p);
}

static void unplanted_matches_never_happen(void **state)
{
    (void)state;
    matches_are_the_planted_ones_only("two-sum N=16 M=5 form=position", 8, 8);
    matches_are_the_planted_ones_only("two-sum N=18 M=8 form=position self=0 blank=1", 8, 10);
    matches_are_the_planted_ones_only("three-sum N=12 M=210", 6, 6);
    matches_are_the_planted_ones_only("three-sum N=12 M=210 self=0", 6, 6);
    matches_are_the_planted_ones_only("three-sum N=15 M=306", 6, 9);
}

/* Every prefix that occurs is followed by yes as often as by no: whoever does not read the last token knows
 * nothing. `prefix` tokens over [m] are few enough to count all of them. */
static void prefix_is_independent_of_answer(const char *text, size_t prefix, size_t m)
{
    prompts p;
    prompts_open(&p, text);
    size_t cells = 1;
    for (size_t t = 0; t < prefix; t++) cells *= m;
    size_t *seen = calloc(cells, sizeof *seen), *yes = calloc(cells, sizeof *yes);
    for (uint64_t i = 0; i < 40000; i++) {
        prompts_make(&p, i);
        size_t cell = 0;
        for (size_t t = 0; t < prefix; t++) cell = cell * m + p.in.token[t];
        seen[cell]++;
        yes[cell] += p.in.target[p.in.tokens - 1] == 1;
    }
    for (size_t c = 0; c < cells; c++) prompts_fair(yes[c], seen[c], text, c);
    free(seen);
    free(yes);
    prompts_close(&p);
}

static void numbers_alone_say_nothing_about_the_query(void **state)
{
    (void)state;
    prefix_is_independent_of_answer("two-sum N=2 M=5", 2, 5);
    prefix_is_independent_of_answer("two-sum N=4 M=3", 4, 3); /* crowded: a residue is left out */
    prefix_is_independent_of_answer("two-sum N=2 M=9 dist=hard", 2, 9);
    prefix_is_independent_of_answer("three-sum N=3 M=30 form=last", 2, 30);
}

/* form=causal: given all earlier numbers, each number but the first is a yes as often as a no, so nobody who does not
 * read it scores more than the declared level. */
static void earlier_numbers_say_nothing_about_the_next(void **state)
{
    (void)state;
    prefix_is_independent_of_answer("two-sum N=3 M=5 form=causal", 2, 5);
    prefix_is_independent_of_answer("two-sum N=3 M=3 form=causal", 2, 3);
    prefix_is_independent_of_answer("two-sum N=3 M=9 form=causal dist=hard", 2, 9);
    const struct {
        const char *text;
        double level;
    } cases[] = {{"two-sum N=8 M=40 form=causal", 9.0 / 16}, {"two-sum N=8 M=40 form=causal dist=hard", 15.0 / 16}};
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        prompts p;
        prompts_open(&p, cases[c].text);
        size_t yes[8] = {0};
        assert_true(p.conf.majority == cases[c].level && p.conf.chance == 0.5);
        for (uint64_t i = 0; i < 8000; i++) {
            prompts_make(&p, i);
            for (size_t t = 0; t < 8; t++) yes[t] += p.in.target[t] == 1;
        }
        assert_int_equal(yes[0], 0);
        for (size_t t = 1; t < 8; t++)
            if (c == 0 || t == 7)
                prompts_fair(yes[t], 8000, cases[c].text, t);
            else
                assert_int_equal(yes[t], 0);
        prompts_close(&p);
    }
}

/* A query of the uniform distribution is uniform given the answer, too. */
static void the_query_alone_says_nothing(void **state)
{
    (void)state;
    prompts p;
    size_t seen[5] = {0}, yes[5] = {0};
    prompts_open(&p, "two-sum N=3 M=5");
    for (uint64_t i = 0; i < 20000; i++) {
        prompts_make(&p, i);
        size_t y = p.in.token[3] - 5;
        seen[y]++;
        yes[y] += p.in.target[3] == 1;
    }
    for (size_t y = 0; y < 5; y++) {
        assert_in_range(seen[y], 3700, 4300);
        prompts_fair(yes[y], seen[y], "query", y);
    }
    prompts_close(&p);
}

/* Residues that are their own negative must occur on both sides when j = i does not count, or no test would
 * see a construction that counts it. */
static void lone_zero_is_generated_as_a_no(void **state)
{
    (void)state;
    prompts p;
    size_t lone[2] = {0}, twice[2] = {0};
    prompts_open(&p, "two-sum N=8 M=8 form=position self=0");
    for (uint64_t i = 0; i < 500; i++) {
        prompts_make(&p, i);
        for (size_t t = 0; t < 8; t++)
            if (p.in.token[t] % 4 == 0) (p.in.target[t] ? twice : lone)[p.in.token[t] / 4]++;
    }
    for (size_t i = 0; i < 2; i++) assert_true(lone[i] > 20 && twice[i] > 20);
    prompts_close(&p);
}

static void hard_query_asks_for_membership_in_a_zero_sum_free_set(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "two-sum N=6 M=20 dist=hard"); /* floor(19/2) = 9 */
    for (uint64_t i = 0; i < 500; i++) {
        prompts_make(&p, i);
        sums s = sums_of(&p, 0);
        uint32_t seen = 0, v = 20 - (s.x[6] - 20);
        for (size_t t = 0; t < 6; t++) {
            assert_in_range(s.x[t], 1, 9);
            seen |= 1u << s.x[t];
        }
        assert_int_equal(__builtin_popcount(seen), 6);
        assert_int_equal(pairs_in_all(&s), 0);
        assert_in_range(v, 1, 9);
        assert_int_equal(p.in.target[6], seen >> v & 1);
    }
    prompts_close(&p);
}

static void hard_positions_pair_across_the_middle_only(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "two-sum N=10 M=41 form=position dist=hard");
    for (uint64_t i = 0; i < 500; i++) {
        prompts_make(&p, i);
        size_t yes_first = 0, yes_second = 0;
        for (size_t t = 0; t < 5; t++) {
            assert_in_range(p.in.token[t], 1, 20);
            assert_in_range(p.in.token[5 + t], 21, 40);
            yes_first += (size_t)p.in.target[t];
            yes_second += (size_t)p.in.target[5 + t];
        }
        assert_int_equal(yes_first, yes_second); /* so no number is there twice */
        assert_in_range(yes_first, 2, 3);
    }
    prompts_close(&p);
}

static void hard_global_has_one_pair_or_none(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "two-sum N=13 M=15 form=global dist=hard");
    for (uint64_t i = 0; i < 500; i++) {
        prompts_make(&p, i);
        sums s = sums_of(&p, 0);
        assert_int_equal(pairs_in_all(&s), p.in.target[13]);
        for (size_t t = 0; t < 6; t++) {
            assert_in_range(s.x[t], 1, 7);
            assert_in_range(s.x[6 + t], 7, 14);
        }
    }
    prompts_close(&p);
}

/* The last number of the hard three-sum is in exactly one triple, {1, e, -(e+1)}, or in none, and all numbers
 * other than dummies are as many in both cases. */
static void hard_three_sum_hides_one_common_element(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "three-sum N=20 M=506 form=last dist=hard");
    for (uint64_t i = 0; i < 500; i++) {
        prompts_make(&p, i);
        const uint32_t *x = p.in.token;
        size_t triples = 0, alice = 0, bob = 0;
        for (size_t j = 0; j < 9; j++) {
            alice += x[j] != 1;
            bob += x[9 + j] != 1;
            for (size_t k = 9; k < 18; k++) triples += 1 + x[j] + x[k] == 506;
        }
        assert_int_equal(x[19], 1);
        assert_int_equal(alice, 2); /* (9+1)/4 */
        assert_int_equal(bob, 2);
        assert_int_equal(triples, p.in.target[19]);
    }
    prompts_close(&p);
}

/* ---- examples, refusals, text ----------------------------------------------------------------------------
 */

static void two_sum_examples(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "two-sum N=3 M=10");
    assert_int_equal(prompts_answer(&p, "3 4 9 7?"), 1);
    assert_int_equal(prompts_answer(&p, "3 4 9 5?"), 0);
    assert_int_equal(prompts_answer(&p, "3 4 9 0?"), 0);
    assert_int_equal(prompts_answer(&p, "3 0 9 0?"), 1);
    assert_int_equal(prompts_answer(&p, "5 1 1 5?"), 1);
    prompts_close(&p);
    prompts_open(&p, "two-sum N=3 M=10 form=global blank=1");
    assert_int_equal(prompts_answer(&p, "_ 5 0 1 ?"), 0);
    assert_int_equal(prompts_answer(&p, "_ 5 0 5 ?"), 1);
    assert_int_equal(prompts_answer(&p, "_ 0 0 1 ?"), 1);
    prompts_close(&p);
    prompts_open(&p, "two-sum N=5 M=10 form=position");
    prompts_answer(&p, "5 0 3 7 1");
    const int32_t with_self[] = {1, 1, 1, 1, 0};
    assert_memory_equal(p.in.target, with_self, sizeof with_self);
    prompts_close(&p);
    prompts_open(&p, "two-sum N=5 M=10 form=position self=0");
    prompts_answer(&p, "5 0 3 7 1");
    const int32_t without_self[] = {0, 0, 1, 1, 0};
    assert_memory_equal(p.in.target, without_self, sizeof without_self);
    prompts_close(&p);
    prompts_open(&p, "two-sum N=7 M=10 form=causal");
    prompts_answer(&p, "5 0 3 7 5 0 3");
    const int32_t earlier[] = {0, 0, 0, 1, 1, 1, 1}; /* 7+3, 5+5, 0+0, 3+7 */
    assert_memory_equal(p.in.target, earlier, sizeof earlier);
    prompts_close(&p);
}

static void three_sum_examples(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "three-sum N=4 M=60");
    prompts_answer(&p, "20 58 1 7"); /* 3 * 20, 58 + 1 + 1 */
    const int32_t repeated[] = {1, 1, 1, 0};
    assert_memory_equal(p.in.target, repeated, sizeof repeated);
    prompts_close(&p);
    prompts_open(&p, "three-sum N=4 M=60 self=0");
    prompts_answer(&p, "20 58 1 7");
    const int32_t none[] = {0, 0, 0, 0};
    assert_memory_equal(p.in.target, none, sizeof none);
    prompts_answer(&p, "1 58 1 7");
    const int32_t three[] = {1, 1, 1, 0};
    assert_memory_equal(p.in.target, three, sizeof three);
    prompts_close(&p);
}

/* A correct prompt, spoilt at one place. */
static void spoil(const char *text, size_t position, uint32_t token, const char *place)
{
    prompts p;
    prompts_open(&p, text);
    prompts_make(&p, 1);
    p.in.token[position] = token;
    prompts_refused(&p, place);
    prompts_make(&p, 1);
    p.in.tokens--;
    prompts_refused(&p, "tokens");
    prompts_close(&p);
}

static void wrong_tokens_are_refused_with_their_position(void **state)
{
    (void)state;
    spoil("two-sum N=3 M=10", 3, 4, "position 3");
    spoil("two-sum N=3 M=10", 3, 20, "position 3");
    spoil("two-sum N=3 M=10", 1, 10, "position 1");
    spoil("two-sum N=3 M=10", 0, UINT32_MAX, "position 0");
    spoil("two-sum N=3 M=10 blank=1", 0, 3, "position 0");
    spoil("two-sum N=3 M=10 blank=1", 2, 20, "position 2");
    spoil("two-sum N=3 M=10 form=global", 3, 9, "position 3");
    spoil("two-sum N=3 M=10 form=global", 2, 10, "position 2");
    spoil("two-sum N=3 M=10 form=position", 2, 10, "position 2");
    spoil("two-sum N=3 M=10 form=causal", 2, 10, "position 2");
    spoil("three-sum N=3 M=30", 2, 30, "position 2");
}

static void impossible_parameters_are_refused(void **state)
{
    (void)state;
    const char *const bad[] = {
        "two-sum self=0",
        "two-sum N=5 M=12 dist=hard",
        "two-sum N=1 form=position",
        "two-sum M=4 form=position",
        "two-sum N=7 form=position dist=hard",
        "two-sum N=10 M=16 form=position dist=hard",
        "two-sum N=1 form=causal",
        "two-sum N=8 M=7 form=causal",
        "two-sum N=8 M=16 form=causal dist=hard",
        "two-sum N=8 form=causal self=0",
        "two-sum N=1 form=global",
        "two-sum M=2 form=global",
        "two-sum N=12 M=14 form=global dist=hard",
        "two-sum N=3 form=global dist=hard",
        "three-sum N=4 M=41",
        "three-sum dist=hard",
        "three-sum N=4 M=99 form=last dist=hard",
    };
    for (size_t i = 0; i < RUNG_COUNT(bad); i++) prompts_not_a_task(bad[i]);
}

static void players_split_the_prompt(void **state)
{
    (void)state;
    prompts_players("two-sum N=5 blank=1", "numbers query", (size_t[]){0, 6});
    prompts_players("two-sum N=6 form=position blank=1", "alice bob", (size_t[]){0, 4});
    prompts_players("two-sum N=6 form=causal blank=1", "numbers last", (size_t[]){0, 6});
    prompts_players("two-sum N=6 form=global", "alice bob query", (size_t[]){0, 3, 6});
    prompts_players("three-sum N=6", "alice bob", (size_t[]){0, 3});
    prompts_players("three-sum N=6 form=last", "alice bob query", (size_t[]){0, 2, 5});
}

static void every_id_has_a_word_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(two_sums); i++) prompts_text_round_trip(two_sums[i]);
    prompts_text_round_trip(three_sums[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_sum_oracle_agrees_with_all_pairs),
        cmocka_unit_test(three_sum_oracle_agrees_with_all_triples),
        cmocka_unit_test(every_position_has_as_many_yes_as_no),
        cmocka_unit_test(unplanted_matches_never_happen),
        cmocka_unit_test(no_predictor_without_attention_beats_a_coin),
        cmocka_unit_test(numbers_alone_say_nothing_about_the_query),
        cmocka_unit_test(earlier_numbers_say_nothing_about_the_next),
        cmocka_unit_test(the_query_alone_says_nothing),
        cmocka_unit_test(lone_zero_is_generated_as_a_no),
        cmocka_unit_test(hard_query_asks_for_membership_in_a_zero_sum_free_set),
        cmocka_unit_test(hard_positions_pair_across_the_middle_only),
        cmocka_unit_test(hard_global_has_one_pair_or_none),
        cmocka_unit_test(hard_three_sum_hides_one_common_element),
        cmocka_unit_test(two_sum_examples),
        cmocka_unit_test(three_sum_examples),
        cmocka_unit_test(wrong_tokens_are_refused_with_their_position),
        cmocka_unit_test(impossible_parameters_are_refused),
        cmocka_unit_test(players_split_the_prompt),
        cmocka_unit_test(every_id_has_a_word_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
