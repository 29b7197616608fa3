/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The counts of the rows about cuts, against all prompts of small tasks: how many prefixes of the length that a row names are
 * pairwise told apart by continuations, and by continuations with one and the same last token.
 */
#include "rows_test.h"

/* What follows each prefix: for every continuation the answers after the cut, as one number, or NONE for no prompt. */
#define NONE UINT64_MAX

typedef struct outcomes {
    size_t prefixes, continuations, last; /* last: choices of the last position */
    uint64_t *answer;                     /* [prefixes][continuations] */
} outcomes;

static size_t product(const rung_task_conf *conf, size_t from, size_t to)
{
    size_t n = 1;
    for (size_t pos = from; pos < to; pos++) n *= (size_t)conf->task->choices(conf, pos);
    return n;
}

static uint64_t mixed(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t answers_after(const rung_instance *instance, const rung_task_conf *conf, size_t cut)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t t = cut; t < instance->tokens; t++) {
        hash = mixed(hash, &instance->target[t], sizeof instance->target[t]);
        if (conf->d_out)
            hash = mixed(hash, instance->target_value + t * conf->d_out, conf->d_out * sizeof *instance->target_value);
    }
    return hash == NONE ? 0 : hash;
}

/* A promise that the oracle does not check: sets of k elements in both halves. */
static bool kept(const rung_instance *instance, const rung_task_conf *conf)
{
    if (strcmp(conf->task->name, "disjointness") != 0) return true;
    int64_t ones[2] = {0, 0};
    for (size_t t = 0; t < instance->tokens; t++) ones[t >= instance->tokens / 2] += instance->token[t] % 2;
    return ones[0] == rung_task_param(conf, "k") && ones[1] == ones[0];
}

/* `asked`: the first position whose answer counts. */
static outcomes outcomes_from(const rung_task_conf *conf, size_t cut, size_t asked)
{
    outcomes o = {product(conf, 0, cut), product(conf, cut, conf->tokens),
                  product(conf, conf->tokens - 1, conf->tokens), NULL};
    rung_instance instance;
    assert_true(o.prefixes * o.continuations <= 4000000);
    o.answer = malloc(o.prefixes * o.continuations * sizeof *o.answer);
    CHECK(rung_instance_init(&instance, conf, &check_err));
    for (size_t i = 0; i < o.prefixes * o.continuations; i++) {
        bool is_prompt;
        CHECK(rung_task_unrank(&instance, &is_prompt, conf, i, &check_err));
        o.answer[i] = is_prompt && kept(&instance, conf) ? answers_after(&instance, conf, asked) : NONE;
    }
    rung_instance_clear(&instance);
    return o;
}

static outcomes outcomes_of(const rung_task_conf *conf, size_t cut)
{
    return outcomes_from(conf, cut, cut);
}

/* Continuations with number `last` at the end, or all of them for SIZE_MAX. */
static bool told_apart(const outcomes *o, size_t a, size_t b, size_t last)
{
    const uint64_t *x = o->answer + a * o->continuations, *y = o->answer + b * o->continuations;
    size_t from = last == SIZE_MAX ? 0 : last, step = last == SIZE_MAX ? 1 : o->last;
    for (size_t c = from; c < o->continuations; c += step)
        if (x[c] != NONE && y[c] != NONE && x[c] != y[c]) return true;
    return false;
}

/* Whether the prefix begins a prompt at all. */
static bool begins_prompt(const outcomes *o, size_t a, size_t last)
{
    size_t from = last == SIZE_MAX ? 0 : last, step = last == SIZE_MAX ? 1 : o->last;
    for (size_t c = from; c < o->continuations; c += step)
        if (o->answer[a * o->continuations + c] != NONE) return true;
    return false;
}

/* Prefixes, in order from `start` on, that are told apart from all that were taken before. Without continuations that fit one prefix
 * and not another this is the number of classes; otherwise a set that will do. */
static size_t apart_from(const outcomes *o, size_t start, size_t last)
{
    size_t *taken = malloc(o->prefixes * sizeof *taken), count = 0;
    for (size_t i = 0; i < o->prefixes; i++) {
        size_t p = (start + i) % o->prefixes;
        bool all = begins_prompt(o, p, last);
        for (size_t k = 0; k < count && all; k++) all = told_apart(o, taken[k], p, last);
        if (all) taken[count++] = p;
    }
    free(taken);
    return count;
}

/* The most that is found from any start, or the first that is more than `enough`. */
static size_t apart(const outcomes *o, size_t last, double enough)
{
    size_t most = 0;
    for (size_t start = 0; start < o->prefixes && (double)most <= enough; start++) {
        size_t here = apart_from(o, start, last);
        if (here > most) most = here;
    }
    return most;
}

static size_t most_apart(const outcomes *o, double enough)
{
    size_t most = 0;
    for (size_t last = 0; last < o->last && (double)most <= enough; last++) {
        size_t here = apart(o, last, enough);
        if (here > most) most = here;
    }
    return most;
}

/* The cut that the statement names. */
static size_t cut_of(const rung_bound_answer *answer)
{
    const char *at = strstr(answer->statement, "after ");
    assert_non_null(at);
    return (size_t)strtoull(at + 6, NULL, 10);
}

/* So many prefixes as 2^lhs must really be there. string-equality with one last bit claims N bits for 2^(N-1) + 1 prefixes, since
 * bits are whole: there, more than fit into one bit less. */
static void assert_needed(const char *task, const char *row, const outcomes *o, bool one_last, double lhs)
{
    bool whole = one_last && strncmp(task, "string-equality", 15) == 0;
    double fewer = whole ? exp2(lhs - 1) : exp2(lhs) * (1 - 1e-9) - 1e-6;
    size_t count = one_last ? most_apart(o, fewer) : apart(o, SIZE_MAX, fewer);
    if (!((double)count > fewer)) fail_msg("%s, %s: 2^%.3f prefixes claimed, %zu found", task, row, lhs, count);
}

static const char *const cases[] = {
    "two-sum N=1 M=2",
    "two-sum N=2 M=5",
    "two-sum N=3 M=5",
    "two-sum N=2 M=6 blank=1",
    "two-sum N=5 M=3",
    "two-sum N=4 M=4",
    "two-sum form=causal N=2 M=5",
    "two-sum form=causal N=4 M=5 blank=1",
    "two-sum form=causal N=5 M=5",
    "two-sum form=global N=2 M=5",
    "two-sum form=global N=3 M=7",
    "two-sum form=global N=4 M=6",
    "two-sum form=global N=4 M=5 blank=1",
    "two-sum form=global N=5 M=3",
    "three-sum N=3 M=30 form=last",
    "three-sum N=3 M=31 form=last self=0",
    "three-sum N=3 M=30",
    "string-equality N=1",
    "string-equality N=2",
    "string-equality N=4",
    "string-equality N=5 dist=hard",
    "disjointness N=2 k=1",
    "disjointness N=3 k=1",
    "disjointness N=4 k=1",
    "disjointness N=4 k=2",
    "disjointness N=5 k=2",
    "disjointness N=6 k=3",
    "disjointness N=7 k=2",
    "count N=1 V=4",
    "count N=3 V=3",
    "count N=5 V=2",
    "count N=4 V=4",
    "is-tree n=4",
    "is-tree n=5",
    "assoc-recall N=1 K=2 V=3",
    "assoc-recall N=2 K=3 V=2",
    "assoc-recall N=2 K=4 V=3",
    "assoc-recall N=3 K=3 V=2",
    "retrieval N=2 D=1",
    "retrieval N=2 D=2",
    "retrieval N=3 D=2",
    "retrieval N=2 D=1 distinct=0",
    "retrieval N=3 D=1 distinct=0",
    "retrieval N=5 D=1 distinct=0",
    "retrieval N=3 D=2 distinct=0",
    "percom N=1",
    "percom N=2",
    "percom N=3",
    "percom N=4",
    "mqar T=8 pairs=2 vocab=6",
    "mqar T=8 pairs=1 vocab=8",
    "mkar T=5 V=2 key=1",
    "mkar T=6 V=3 key=1",
    "mkar T=7 V=4 key=1",
    "mkar T=7 V=3 key=2",
    "mkar T=8 V=3 key=2",
    "mkar T=8 V=2 key=2 layout=pairs",
    "mkar T=7 V=3 key=1 layout=pairs",
    "c-gram c=2 N=3 V=3",
    "c-gram c=2 N=4 V=4",
    "c-gram c=2 N=5 V=4",
    "c-gram c=2 N=4 V=6",
    "c-gram c=3 N=6 V=3",
    "c-gram c=3 N=7 V=3",
    "c-gram c=3 N=6 V=4",
    "k-hop N=3 alphabet=3 k=1",
    "k-hop N=5 alphabet=4 k=1",
    "k-hop N=7 alphabet=3 k=2 targets=last",
    "k-hop N=7 alphabet=4 k=2 hops=uniform",
    "k-hop N=5 alphabet=5 k=2",
    "k-hop N=9 alphabet=3 k=3",
    "k-hop N=8 alphabet=4 k=2",
    "selective-copy T=5 V=2 numbers=2 first=1",
    "selective-copy T=6 V=2 numbers=1 first=3",
    "selective-copy T=6 V=1 numbers=2 first=3",
    "selective-copy T=7 V=1 numbers=2 first=2",
    "selective-copy T=5 V=3 numbers=2 form=list",
    "selective-copy T=7 V=2 numbers=3 form=list",
    "dyck N=4 types=2 k=2",
    "dyck N=6 types=2 k=2",
    "dyck N=6 types=2 k=3",
    "dyck N=8 types=1 k=2",
    "dyck N=10 types=1 k=4",
    "q-sparse-average N=2 q=1 d=1",
    "q-sparse-average N=3 q=1 d=1",
    "q-sparse-average N=3 q=2 d=1",
    "q-sparse-average N=3 q=3 d=1",
    "q-sparse-average N=4 q=4 d=1",
    "palindrome N=1 V=3",
    "palindrome N=4 V=3",
    "palindrome N=3 V=5",
    "stacks T=2 S=1 V=3",
    "stacks T=4 S=1 V=3",
    "stacks T=4 S=2 V=3",
    "stacks T=5 S=2 V=2",
    "stacks T=6 S=2 V=2",
    "stacks T=6 S=1 V=2",
    "state-recall N=3 V=2 K=2 M=1",
    "state-recall N=4 V=2 K=2 M=2",
    "state-recall N=2 V=3 K=3 M=2",
    "parity-recall N=1 V=3 M=2",
    "parity-recall N=2 V=2 M=3",
    "parity-recall N=3 V=2 M=1",
    "variable-tracking chains=2 hops=0 V=3",
    "variable-tracking chains=2 hops=0 V=2 K=3",
    "variable-tracking chains=3 hops=0 V=2",
    "variable-tracking chains=1 hops=1 V=3",
    "variable-tracking chains=1 hops=1 V=2 K=3",
    "variable-tracking chains=1 hops=2 V=2",
    "variable-tracking chains=1 hops=2 V=3",
};

static void test_every_claimed_prefix_exists(void **state)
{
    (void)state;
    size_t recurrent = 0, one = 0;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_task_conf conf = task_of(cases[i]);
        rung_bound_answer r = ask_recurrent(&conf, 1, 0, "cut"), f = ask_full(&conf, 3, 1, 0, "cut-one");
        assert_true(r.applies);
        outcomes o = outcomes_of(&conf, cut_of(&r));
        assert_needed(cases[i], "cut", &o, false, r.lhs);
        recurrent++;
        if (f.applies) {
            free(o.answer);
            o = outcomes_from(&conf, cut_of(&f), conf.tokens - 1); /* the answer at the last token alone */
            assert_needed(cases[i], "cut-one", &o, true, f.lhs);
            one++;
        }
        free(o.answer);
    }
    assert_int_equal(recurrent, RUNG_COUNT(cases));
    assert_true(one > 30);
}

/* Where the count is exact, and not only a lower bound, one prefix more would be found here. */
static void test_counts_are_exact_where_they_claim_to_be(void **state)
{
    (void)state;
    static const char *const exact[] = {"percom N=3",
                                        "percom N=4",
                                        "two-sum form=causal N=4 M=5",
                                        "two-sum N=3 M=5",
                                        "two-sum N=4 M=4",
                                        "two-sum N=2 M=6 blank=1",
                                        "two-sum N=5 M=3",
                                        "string-equality N=4",
                                        "disjointness N=5 k=2",
                                        "disjointness N=4 k=2",
                                        "count N=3 V=3",
                                        "count N=4 V=4",
                                        "retrieval N=2 D=1",
                                        "assoc-recall N=3 K=3 V=2",
                                        "palindrome N=3 V=4",
                                        "state-recall N=3 V=2 K=2 M=2",
                                        "parity-recall N=2 V=2 M=2",
                                        "variable-tracking chains=1 hops=2 V=2"};
    for (size_t i = 0; i < RUNG_COUNT(exact); i++) {
        rung_task_conf conf = task_of(exact[i]);
        rung_bound_answer r = ask_recurrent(&conf, 1, 0, "cut");
        outcomes o = outcomes_of(&conf, cut_of(&r));
        size_t count = apart_from(&o, 0, SIZE_MAX);
        free(o.answer);
        assert_true(fabs(exp2(r.lhs) - (double)count) < 1e-6);
    }
}

/* For tasks where every continuation fits every prefix. */
static size_t most_apart_exactly(const outcomes *o)
{
    size_t most = 0;
    for (size_t last = 0; last < o->last; last++) {
        size_t here = apart_from(o, 0, last);
        if (here > most) most = here;
    }
    return most;
}

/* One bit less at every last token: 2^(N-1) + 1 classes need N bits, and with N - 1 < c they fit. */
static void test_equality_with_one_last_bit(void **state)
{
    (void)state;
    for (int N = 1; N <= 5; N++) {
        char text[64];
        snprintf(text, sizeof text, "string-equality N=%d", N);
        rung_task_conf conf = task_of(text);
        outcomes o = outcomes_of(&conf, (size_t)N);
        assert_int_equal(most_apart_exactly(&o), (1 << (N - 1)) + 1);
        free(o.answer);
    }
}

/* The count with a threshold of 0 is the best of all thresholds. */
static void test_counting_with_one_threshold(void **state)
{
    (void)state;
    static const char *const texts[] = {"count N=3 V=3", "count N=4 V=4", "count N=5 V=2", "count N=6 V=3",
                                        "count N=1 V=5"};
    for (size_t i = 0; i < RUNG_COUNT(texts); i++) {
        rung_task_conf conf = task_of(texts[i]);
        rung_bound_answer f = ask_full(&conf, 3, 1, 0, "cut-one");
        outcomes o = outcomes_of(&conf, (size_t)rung_task_param(&conf, "N"));
        assert_true(fabs(exp2(f.lhs) - (double)most_apart_exactly(&o)) < 1e-6);
        free(o.answer);
    }
}

/* For a causal model: two prompts that differ in the last token only, and the answer at the first number with them. */
static void test_answers_that_depend_on_later_tokens(void **state)
{
    (void)state;
    static const char *const texts[] = {"two-sum form=position N=2 M=5",
                                        "two-sum form=position N=3 M=5 self=0 blank=1",
                                        "three-sum N=3 M=30",
                                        "three-sum N=3 M=30 self=0",
                                        "q-sparse-average N=2 q=1 d=1",
                                        "q-sparse-average N=3 q=3 d=1"};
    for (size_t i = 0; i < RUNG_COUNT(texts); i++) {
        rung_task_conf conf = task_of(texts[i]);
        size_t last = product(&conf, conf.tokens - 1, conf.tokens), at = strstr(texts[i], "blank=1") ? 1 : 0;
        uint64_t space = rung_task_space(&conf);
        bool depends = false;
        rung_instance instance;
        CHECK(rung_instance_init(&instance, &conf, &check_err));
        for (uint64_t group = 0; group < space / last && !depends; group++) {
            float value = 0;
            int32_t target = 0;
            for (size_t c = 0; c < last; c++) {
                bool is_prompt;
                CHECK(rung_task_unrank(&instance, &is_prompt, &conf, group * last + c, &check_err));
                float v = conf.d_out ? instance.target_value[at * conf.d_out] : 0;
                depends = depends || (c > 0 && (instance.target[at] != target || v != value));
                target = instance.target[at], value = v;
            }
        }
        rung_instance_clear(&instance);
        assert_true(depends);
        assert_true(ask_full(&conf, 1000, 1000, 0, "causal").holds);
    }
    rung_task_conf query = task_of("two-sum"), last = task_of("three-sum form=last");
    assert_false(ask_full(&query, 3, 1, 0, "causal").applies);
    assert_false(ask_full(&last, 3, 1, 0, "causal").applies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_claimed_prefix_exists),
        cmocka_unit_test(test_counts_are_exact_where_they_claim_to_be),
        cmocka_unit_test(test_equality_with_one_last_bit),
        cmocka_unit_test(test_counting_with_one_threshold),
        cmocka_unit_test(test_answers_that_depend_on_later_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
