/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * seqcomp and k-hop. Compositions are computed a second time from the words and from the outside in, hops by the
 * quadratic definition.
 */
#include "reading.h"

/* ---- seqcomp --------------------------------------------------------------------------------------------------------- */

/* The instance that the theory works through: z_2 = [2,0,3,1], z_1 = [1,0], z_0 = 0, w_1 = 1; i_1 = 1, i_2 = z_2[3] = 1. */
static void the_worked_instance_of_the_theory(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "seqcomp L=2 N0=2 n=2");
    assert_int_equal(p.conf.tokens, 8);
    assert_int_equal(p.conf.derived[0], 2);
    assert_int_equal(p.conf.derived[1], 4);
    assert_int_equal(prompts_answer(&p, "z2:2 z2:0 z2:3 z2:1 z1:1 z1:0 z0:0 w:1"), 1);
    assert_int_equal(prompts_answer(&p, "z2:2 z2:0 z2:3 z2:1 z1:1 z1:0 z0:1 w:1"), 3);
    assert_int_equal(prompts_answer(&p, "z2:2 z2:0 z2:3 z2:1 z1:1 z1:0 z0:0 w:0"), 0);
    prompts_close(&p);
    check_by_hand("seqcomp N0=2 n=2 form=pair", "z2(3):1 z2(0):2 z2(2):3 z2(1):0 z1(1):0 z1(0):1 z0:0 w:1", "1");
    check_by_hand("seqcomp N0=2 n=2 order=first", "w:1 z2:2 z2:0 z2:3 z2:1 z1:1 z1:0 z0:0", "1");
    /* L = 3, n = 2,3: w = w_1 + 2 w_2 with w_1 = 1, w_2 = 2; i_1 = 1, i_2 = z_2[1*2+1] = 3, i_3 = z_3[2*4+3] = 5. */
    check_by_hand("seqcomp L=3 N0=2 n=2,3",
                  "z3:0 z3:0 z3:0 z3:0 z3:0 z3:0 z3:0 z3:0 z3:0 z3:0 z3:0 z3:5 z2:0 z2:0 z2:0 z2:3 z1:1 z1:0 z0:0 w:5",
                  "5");
}

typedef struct sizes {
    size_t levels, n[16]; /* n[l] = n_l, l >= 1 */
    size_t domain[17];    /* of i_l */
    size_t entries[17];   /* of z_l */
} sizes;

/* From the text of the definition: N_0 = m, N_l = n_l N_{l-1}; z_l has N_{l-1} entries, i_l has N_{l-1} values. */
static sizes sizes_of(const rung_task_conf *conf)
{
    sizes s = {.levels = (size_t)rung_task_param(conf, "L")};
    bool flat = rung_task_param(conf, "flat") == 1;
    size_t m = (size_t)rung_task_param(conf, "N0"), big = m;
    s.domain[0] = m;
    for (size_t l = 1; l <= s.levels; l++) {
        if (l > 1) s.n[l - 1] = (size_t)rung_task_value(conf, "n")->list[l - 2];
        if (l > 1) big *= s.n[l - 1];
        s.entries[l] = l == 1 ? m : flat ? s.n[l - 1] * m : big;
        s.domain[l] = l == s.levels ? conf->answers : flat ? m : big;
    }
    return s;
}

/* Reads the words into tables[l][u]. */
static void read_tables(long *tables[17], long *z0, long *w, const sizes *s, const char *words)
{
    size_t place[17] = {0};
    for (size_t l = 1; l <= s->levels; l++) {
        tables[l] = calloc(s->entries[l], sizeof(long));
        for (size_t u = 0; u < s->entries[l]; u++) tables[l][u] = -1;
    }
    for (const char *at = words; at; at = strchr(at, ' '), at = at ? at + 1 : NULL) {
        long l, u, v;
        if (sscanf(at, "w:%ld", w) == 1 || sscanf(at, "z0:%ld", z0) == 1) continue;
        if (sscanf(at, "z%ld(%ld):%ld", &l, &u, &v) != 3) {
            assert_int_equal(sscanf(at, "z%ld:%ld", &l, &v), 2);
            u = (long)place[l]++;
        }
        assert_true(l >= 1 && (size_t)l <= s->levels && u >= 0 && (size_t)u < s->entries[l]);
        assert_int_equal(tables[l][u], -1);
        tables[l][u] = v;
    }
}

/* From the outside in: g(i) = z_L(w_{L-1}, i), then g(i) := g(z_l(w_{l-1}, i)), the answer is g(z_0). The oracle goes from
 * the inside out. */
static long compose_from_outside(long *tables[17], long z0, long w, const sizes *s)
{
    size_t digit[17] = {0};
    for (size_t l = 1; l < s->levels; l++) {
        digit[l] = (size_t)w % s->n[l];
        w /= (long)s->n[l];
    }
    long *outer = calloc(s->domain[s->levels - 1], sizeof *outer);
    for (size_t l = s->levels; l >= 1; l--) {
        size_t width = s->domain[l - 1];
        long *inner = calloc(width, sizeof *inner);
        for (size_t i = 0; i < width; i++) {
            long value = tables[l][digit[l - 1] * width + i];
            inner[i] = l == s->levels ? value : outer[value];
        }
        free(outer);
        outer = inner;
    }
    long answer = outer[z0];
    free(outer);
    return answer;
}

static void compositions_equal_those_computed_from_outside(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(compositions); c++) {
        reading r;
        reading_open(&r, compositions[c]);
        sizes s = sizes_of(&r.p.conf);
        for (uint64_t i = 0; i < 100; i++) {
            long *tables[17] = {0}, z0 = -1, w = -1;
            read_tables(tables, &z0, &w, &s, write_words(&r, i));
            long want = compose_from_outside(tables, z0, w, &s);
            if (last_target(&r.p) != want)
                fail_msg("%s %d: %d instead of %ld", compositions[c], (int)i, (int)last_target(&r.p), want);
            for (size_t l = 1; l <= s.levels; l++) free(tables[l]);
        }
        reading_close(&r);
    }
}

static void prompt_length_and_players_are_those_of_the_definition(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(compositions); c++) {
        prompts p;
        prompts_open(&p, compositions[c]);
        sizes s = sizes_of(&p.conf);
        size_t total = 2, ids = s.domain[0], ws = 1;
        bool pairs = rung_task_param(&p.conf, "form") == 1, first = rung_task_param(&p.conf, "order") == 1;
        for (size_t l = 1; l <= s.levels; l++) {
            total += s.entries[l];
            ids += s.domain[l] * (pairs ? s.entries[l] : 1);
            if (l > 1) ws *= s.n[l - 1];
            assert_int_equal(p.conf.derived[l - 1], s.entries[l]);
        }
        assert_int_equal(p.conf.tokens, total);
        assert_int_equal(p.conf.vocab, ids + ws);
        prompts_make(&p, 0);
        assert_int_equal(p.in.player_count, s.levels + 2);
        assert_string_equal(p.in.player[first ? 0 : s.levels + 1].name, "w");
        for (size_t l = s.levels + 1; l-- > 0;) {
            char name[16];
            snprintf(name, sizeof name, "z_%d", (int)l);
            const rung_span *span = &p.in.player[s.levels - l + first];
            assert_string_equal(span->name, name);
            assert_int_equal(span->len, l ? s.entries[l] : 1);
        }
        prompts_close(&p);
    }
}

/* All tables of L=2, N_0=2, n_1=2, V=2: 2^2 of z_1, 2^4 of z_2, and for each the best answer over the four (z_0, w). */
static void majority_of_a_composition_is_the_mean_over_all_tables(void **state)
{
    (void)state;
    size_t total = 0;
    for (size_t z1 = 0; z1 < 4; z1++)
        for (size_t z2 = 0; z2 < 16; z2++) {
            size_t ones = 0;
            for (size_t query = 0; query < 4; query++) ones += z2 >> ((query & 2) + (z1 >> (query & 1) & 1)) & 1;
            total += ones > 2 ? ones : 4 - ones;
        }
    double want = (double)total / (4 * 16 * 4);
    assert_true(fabs(majority_of("seqcomp N0=2 n=2 V=2") - want) < 5e-3);
    assert_true(fabs(majority_of("seqcomp N0=2 n=2 flat=1 form=pair") - want) < 5e-3);
}

/* The same with z_1 = identity: the mean over the 2^4 tables z_2, and for V = 4 over the 4^4. Three functions: over all z_2 and z_3. */
static void majority_with_the_identity_is_the_mean_over_the_other_tables(void **state)
{
    (void)state;
    size_t total = 0, wide = 0, deep = 0;
    for (size_t z2 = 0; z2 < 256; z2++) {
        size_t count[4] = {0}, ones = 0, most = 0;
        for (size_t u = 0; u < 4; u++) count[z2 >> (2 * u) & 3]++, ones += z2 >> u & 1;
        for (size_t v = 0; v < 4; v++) most = count[v] > most ? count[v] : most;
        wide += most;
        if (z2 < 16) total += ones > 2 ? ones : 4 - ones;
    }
    for (size_t z2 = 0; z2 < 16; z2++)
        for (size_t z3 = 0; z3 < 16; z3++) {
            size_t ones = 0;
            for (size_t query = 0; query < 8; query++) ones += z3 >> ((query & 4) / 2 + (z2 >> (query & 3) & 1)) & 1;
            deep += ones > 4 ? ones : 8 - ones;
        }
    assert_true(fabs(majority_of("seqcomp N0=2 n=2 V=2 dist=identity") - (double)total / (16 * 4)) < 5e-3);
    assert_true(fabs(majority_of("seqcomp N0=2 n=2 dist=identity form=pair") - (double)wide / (256 * 4)) < 5e-3);
    assert_true(fabs(majority_of("seqcomp L=3 N0=2 n=2 flat=1 dist=identity") - (double)deep / (256 * 8)) < 5e-3);
    /* one after the other: what is remembered of the last task is not taken for that of this one */
    assert_true(majority_of("seqcomp N0=4 n=1") - majority_of("seqcomp N0=4 n=1 dist=identity") > 0.05);
}

/* z_1 in its place and shuffled; everything else as without dist. */
static void identity_is_z_1_and_the_rest_is_uniform(void **state)
{
    (void)state;
    enum { RUNS = 4000 };
    size_t entry[4] = {0}, z0[2] = {0}, w[2] = {0}, answers[4] = {0}, shuffled = 0;
    prompts p, q;
    prompts_open(&p, "seqcomp N0=2 n=2 dist=identity");
    prompts_open(&q, "seqcomp N0=2 n=2 dist=identity form=pair");
    for (uint64_t i = 0; i < RUNS; i++) {
        prompts_make(&p, i);
        size_t from_z0 = p.in.token[6] - 6, from_w = p.in.token[7] - 8;
        assert_true(p.in.token[4] == 0 && p.in.token[5] == 1);
        assert_int_equal(last_target(&p), p.in.token[2 * from_w + from_z0] - 2);
        answers[last_target(&p)]++, entry[p.in.token[3] - 2]++, z0[from_z0]++, w[from_w]++;
        prompts_make(&q, i); /* ids of z_1 are 2 u + value */
        assert_true((q.in.token[4] == 0 && q.in.token[5] == 3) || (q.in.token[4] == 3 && q.in.token[5] == 0));
        shuffled += q.in.token[4] == 3;
    }
    for (size_t v = 0; v < 4; v++) assert_near_binomial(answers[v], RUNS, 0.25);
    for (size_t v = 0; v < 4; v++) assert_near_binomial(entry[v], RUNS, 0.25);
    for (size_t v = 0; v < 2; v++) assert_near_binomial(z0[v], RUNS, 0.5);
    for (size_t v = 0; v < 2; v++) assert_near_binomial(w[v], RUNS, 0.5);
    assert_near_binomial(shuffled, RUNS, 0.5);
    prompts_close(&p);
    prompts_close(&q);
    rung_task_conf conf;
    rung_error err;
    assert_int_equal(rung_task_conf_parse(&conf, "seqcomp L=1 dist=identity", &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "L=2"));
}

static void composition_tables_and_queries_are_uniform(void **state)
{
    (void)state;
    enum { RUNS = 4000 };
    size_t answers[4] = {0}, z0[2] = {0}, w[2] = {0}, first_argument[4] = {0};
    prompts p, q;
    prompts_open(&p, "seqcomp N0=2 n=2");
    prompts_open(&q, "seqcomp N0=2 n=2 form=pair");
    for (uint64_t i = 0; i < RUNS; i++) {
        prompts_make(&p, i);
        answers[last_target(&p)]++;
        z0[p.in.token[6] - 6]++;
        w[p.in.token[7] - 8]++;
        prompts_make(&q, i);
        first_argument[(q.in.token[0] - 4) / 4]++; /* z_1 has 2 x 2 ids before those of z_2 */
    }
    for (size_t v = 0; v < 4; v++) assert_near_binomial(answers[v], RUNS, 0.25);
    for (size_t v = 0; v < 4; v++) assert_near_binomial(first_argument[v], RUNS, 0.25);
    for (size_t v = 0; v < 2; v++) assert_near_binomial(z0[v], RUNS, 0.5);
    for (size_t v = 0; v < 2; v++) assert_near_binomial(w[v], RUNS, 0.5);
    prompts_close(&p);
    prompts_close(&q);
}

/* ---- k-hop ------------------------------------------------------------------------------------------------------------ */

/* max{j <= i : x_{j-1} = x_i} by looking at all j; positions of symbols are 1..N, 0 is none. */
static size_t find_once(const uint32_t *x, size_t i)
{
    size_t found = 0;
    for (size_t j = 2; j <= i; j++)
        if (x[j - 1] == x[i]) found = j;
    return found;
}

static void brute_k_hop(int32_t *want, const rung_instance *p, const rung_task_conf *conf)
{
    uint32_t alphabet = (uint32_t)rung_task_param(conf, "alphabet");
    size_t n = p->tokens - 1;
    for (size_t i = rung_task_param(conf, "targets") == 1 ? n : 1; i <= n; i++) {
        size_t at = i;
        for (uint32_t hop = p->token[0] - alphabet; hop > 0 && at > 0; hop--) at = find_once(p->token, at);
        want[i] = (int32_t)(at ? p->token[at] : alphabet);
    }
}

static const sequence_case hops[] = {
    {"k-hop", brute_k_hop},
    {"k-hop N=2 k=1", brute_k_hop},
    {"k-hop N=40 alphabet=3 k=0", brute_k_hop},
    {"k-hop N=40 alphabet=3 k=1 targets=last", brute_k_hop},
    {"k-hop N=98 k=16 hops=uniform", brute_k_hop},
    {"k-hop N=60 alphabet=20 k=5 hops=uniform targets=last", brute_k_hop},
    {"k-hop N=30 k=1000", brute_k_hop},
};

static void hops_equal_the_quadratic_definition(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(hops); c++) check_against_brute_force(&hops[c], 150);
}

/* Immediate repeats too, which the generator never makes: find(i) = i there. */
static void hops_on_any_symbols_equal_the_quadratic_definition(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(hops); c++) {
        prompts p;
        rung_rng rng;
        prompts_open(&p, hops[c].text);
        rung_rng_init(&rng, 8, c, 0);
        int32_t *want = calloc(p.conf.tokens, sizeof *want);
        for (size_t run = 0; run < 150; run++) {
            uint64_t used = 1 + rung_rng_below(&rng, (uint64_t)rung_task_param(&p.conf, "alphabet"));
            prompts_make(&p, run);
            for (size_t t = 1; t < p.in.tokens; t++) p.in.token[t] = (uint32_t)rung_rng_below(&rng, used);
            assert_int_equal(prompts_solve(&p), RUNG_OK);
            check_instance(want, &p, &hops[c], run);
        }
        free(want);
        prompts_close(&p);
    }
}

static void hops_by_hand(void **state)
{
    (void)state;
    /* a b c a b: from the last b the earlier b is followed by c; from c there is no earlier c. */
    check_by_hand("k-hop N=5 k=1", "hop1 s0 s1 s2 s0 s1", "none none none s1 s2");
    check_by_hand("k-hop N=5 k=2", "hop2 s0 s1 s2 s0 s1", "none none none none none");
    check_by_hand("k-hop N=5 k=2", "hop0 s0 s1 s2 s0 s1", "s0 s1 s2 s0 s1");
    check_by_hand("k-hop N=7 k=2 targets=last", "hop2 s0 s2 s0 s1 s2 s3 s1", "s0");
}

static void symbols_never_repeat_at_once_and_hop_counts_are_as_asked(void **state)
{
    (void)state;
    enum { RUNS = 3000 };
    size_t count[5] = {0}, after_zero[4] = {0}, zeros = 0;
    prompts p, fixed;
    prompts_open(&p, "k-hop N=20 k=4 hops=uniform");
    prompts_open(&fixed, "k-hop N=20 k=4");
    for (uint64_t i = 0; i < RUNS; i++) {
        prompts_make(&p, i);
        prompts_make(&fixed, i);
        assert_int_equal(fixed.in.token[0], 4 + 4);
        count[p.in.token[0] - 4]++;
        for (size_t t = 2; t <= 20; t++) assert_int_not_equal(p.in.token[t], p.in.token[t - 1]);
        zeros += p.in.token[10] == 0;
        after_zero[p.in.token[11]] += p.in.token[10] == 0;
    }
    for (size_t h = 0; h < 5; h++) assert_near_binomial(count[h], RUNS, 0.2);
    for (size_t v = 1; v < 4; v++) assert_near_binomial(after_zero[v], zeros, 1.0 / 3);
    prompts_close(&p);
    prompts_close(&fixed);
}

/* The null rate of the published setting is a property of the definition, so the level can be checked against it: with one
 * hop at the last of N symbols, "none" has the chance that x_N is new, ((A-2)/(A-1))^(N-2) for its N-2 candidates. */
static void the_level_of_one_hop_is_the_chance_of_a_new_symbol(void **state)
{
    (void)state;
    double new_symbol = pow(998.0 / 999.0, 10 - 2);
    assert_true(fabs(majority_of("k-hop N=10 alphabet=1000 k=1 targets=last") - new_symbol) < 0.01);
    assert_true(majority_of("k-hop N=2000 alphabet=4 k=1 targets=last") < 0.4);
    assert_true(majority_of("k-hop N=2000 alphabet=4 k=1 targets=last") >= 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_instance_of_the_theory),
        cmocka_unit_test(compositions_equal_those_computed_from_outside),
        cmocka_unit_test(prompt_length_and_players_are_those_of_the_definition),
        cmocka_unit_test(majority_of_a_composition_is_the_mean_over_all_tables),
        cmocka_unit_test(majority_with_the_identity_is_the_mean_over_the_other_tables),
        cmocka_unit_test(identity_is_z_1_and_the_rest_is_uniform),
        cmocka_unit_test(composition_tables_and_queries_are_uniform),
        cmocka_unit_test(hops_equal_the_quadratic_definition),
        cmocka_unit_test(hops_on_any_symbols_equal_the_quadratic_definition),
        cmocka_unit_test(hops_by_hand),
        cmocka_unit_test(symbols_never_repeat_at_once_and_hop_counts_are_as_asked),
        cmocka_unit_test(the_level_of_one_hop_is_the_chance_of_a_new_symbol),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
