/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * sparse and dsa against references that know no state, no lanes and no selection algorithm (sparse_reference.h): in
 * double for the fast evaluator, rounded for the exact one, where every bit must agree. Then ties, empty branches,
 * causality, NaN, and the special cases that are other mechanisms.
 */
#include "sparse_reference.h"

static const double TOLERANCE = 1e-5; /* largest difference over the largest magnitude */

static const mech_case own_cases[] = {
    {"sparse", ""},
    {"sparse", "B=1 k=1 own=0"},
    {"sparse", "B=1 k=3"},
    {"sparse", "B=7 k=1 lambda=250"},
    {"sparse", "B=8 k=3 own=0"},
    {"sparse", "B=64 k=1 lambda=0 own=0"},
    {"sparse", "B=3 k=100 lambda=1000"},
    {"sparse", "B=16 k=2 comp=given branches=nsa W=20"},
    {"sparse", "B=4 k=3 comp=given lambda=900 own=0"},
    {"sparse", "B=5 k=2 comp=mlp branches=nsa W=1"},
    {"sparse", "B=2 k=4 comp=mlp branches=nsa W=300 own=0"},
    {"sparse", "B=6 k=2 branches=nsa"},
    {"sparse", "B=4 k=2 shared=1"},
    {"sparse", "B=1 k=2 shared=1 own=0"},
    {"sparse", "B=5 k=1 comp=mlp branches=nsa W=7 shared=1"},
    {"sparse", "B=3 k=2 comp=given shared=1 lambda=800 own=0"},
    {"dsa", "k=1 HI=1 DI=1"},
    {"dsa", "k=7 HI=2 DI=3"},
    {"dsa", "k=64 HI=4 DI=16"},
    {"dsa", "k=1000 HI=3 DI=2"},
};

/* ---- a run and its reference ------------------------------------------------------------------------------------------------------ */

typedef struct run {
    rung_mech_conf conf;
    mech_inputs in;
    size_t outputs, elements, doubtful;
    double *want, *want_state, *x, *state;
    float *f, *state_f;
    bool *sure; /* [T][H] */
} run;

/* The state as a tape: a token's row, and after the last token of a block the summaries. */
static void ref_state(run *r, const double *c, size_t blocks)
{
    size_t each = r->conf.dk + r->conf.dv, B = blocks ? (size_t)rung_mech_param(&r->conf, "B") : SIZE_MAX;
    double *at = r->want_state;
    for (size_t t = 0; t < r->in.tokens; t++) {
        for (size_t h = 0; h < r->conf.heads; h++, at += each) {
            memcpy(at, row_of(&r->in, IN_K, t, h, &r->conf), r->conf.dk * sizeof *at);
            memcpy(at + r->conf.dk, row_of(&r->in, IN_V, t, h, &r->conf), r->conf.dv * sizeof *at);
        }
        if (mech_is(&r->conf, "dsa"))
            for (size_t i = 0; i < r->in.row[IN_IK]; i++) *at++ = r->in.x[IN_IK][t * r->in.row[IN_IK] + i];
        size_t brief = blocks && rung_mech_param(&r->conf, "shared") ? r->conf.dk : each; /* one vector is both */
        for (size_t h = 0; (t + 1) % B == 0 && h < r->conf.heads; h++, at += brief)
            memcpy(at, c + (h * blocks + t / B) * each, brief * sizeof *at);
    }
    assert_int_equal(at - r->want_state, r->elements);
}

static void reference(run *r)
{
    size_t H = r->conf.heads, each = r->conf.dk + r->conf.dv, blocks = 0, T = r->in.tokens;
    bool sparse = mech_is(&r->conf, "sparse");
    if (sparse) blocks = T / (size_t)rung_mech_param(&r->conf, "B");
    double *c = mech_alloc(H * blocks * each, sizeof *c);
    for (size_t h = 0; h < H; h++) {
        for (size_t b = 0; b < blocks; b++)
            ref_summary(c + (h * blocks + b) * each, &r->in, (b + 1) * (size_t)rung_mech_param(&r->conf, "B") - 1, h,
                        &r->conf);
        for (size_t t = 0; t < T; t++) {
            double *o = r->want + (t * H + h) * r->conf.dv;
            r->sure[t * H + h] = sparse ? ref_sparse(o, c + h * blocks * each, &r->in, t, h, &r->conf)
                                        : ref_dsa(o, &r->in, t, h, &r->conf);
            r->doubtful += !r->sure[t * H + h];
        }
    }
    ref_state(r, c, blocks);
    free(c);
}

static run new_run(const mech_case *c, size_t heads, size_t dk, size_t dv, bool causal, size_t tokens, uint64_t seed)
{
    run r = {.conf = mech_conf(c, heads, dk, dv, causal)};
    r.in = draw_inputs(&r.conf, tokens, true, seed);
    r.outputs = tokens * heads * r.conf.dv, r.elements = rung_mech_state_elements(&r.conf, tokens);
    r.want = mech_alloc(r.outputs, sizeof *r.want), r.want_state = mech_alloc(r.elements, sizeof *r.want_state);
    r.x = mech_alloc(r.outputs, sizeof *r.x), r.state = mech_alloc(r.elements, sizeof *r.state);
    r.f = mech_alloc(r.outputs, sizeof *r.f), r.state_f = mech_alloc(r.elements, sizeof *r.state_f);
    r.sure = mech_alloc(tokens * heads, sizeof *r.sure);
    return r;
}

static void free_run(run *r)
{
    free(r->want), free(r->want_state), free(r->x), free(r->state), free(r->f), free(r->state_f), free(r->sure);
    free_inputs(&r->in);
}

/* Numbers of a few bits: every fp32 score is exact, and many are equal. */
static void make_coarse(run *r, rung_rng *rng)
{
    for (size_t i = 0; i < r->in.count; i++)
        for (size_t e = 0; e < r->in.rows[i] * r->in.row[i]; e++)
            r->in.x[i][e] = r->in.f[i][e] = (float)rung_rng_below(rng, 5) / 2 - 1;
}

static void assert_near(const run *r, const char *what)
{
    double size = 0, state_size = 0;
    for (size_t i = 0; i < r->outputs; i++) size = fmax(size, fabs(r->want[i]));
    for (size_t i = 0; i < r->elements; i++) state_size = fmax(state_size, fabs(r->want_state[i]));
    for (size_t i = 0; i < r->outputs; i++)
        if (r->sure[i / r->conf.dv] && !(fabs(r->f[i] - r->want[i]) <= TOLERANCE * size + 1e-30))
            fail_msg("%s of %s H=%zu dk=%zu dv=%zu causal=%d T=%zu: output %zu is %.9g, not %.9g (largest %g)", what,
                     r->conf.mech->name, r->conf.heads, r->conf.dk, r->conf.dv, r->conf.causal, r->in.tokens, i,
                     (double)r->f[i], r->want[i], size);
    for (size_t i = 0; i < r->elements; i++)
        if (!(fabs(r->state_f[i] - r->want_state[i]) <= TOLERANCE * state_size))
            fail_msg("state after the %s of %s T=%zu: element %zu of %zu is %.9g, not %.9g", what, r->conf.mech->name,
                     r->in.tokens, i, r->elements, (double)r->state_f[i], r->want_state[i]);
}

/* Outputs that nobody writes must be noticed. */
static void clear_fast(run *r)
{
    for (size_t i = 0; i < r->outputs; i++) r->f[i] = NAN;
    memset(r->state_f, 0, r->elements * sizeof *r->state_f);
}

static void assert_fast(run *r)
{
    size_t row = r->conf.heads * r->conf.dv, T = r->in.tokens;
    float *steps = mech_alloc(r->outputs, sizeof *steps);
    clear_fast(r), step_f32(r->f, r->state_f, &r->in, 0, T, &r->conf);
    assert_near(r, "steps"), memcpy(steps, r->f, r->outputs * sizeof *steps);
    clear_fast(r), scan_f32(r->f, r->state_f, &r->in, 0, T, &r->conf);
    assert_near(r, "scan");
    assert_memory_equal(r->f, steps, r->outputs * sizeof *steps); /* one set, whatever the form */
    for (size_t cut = 1; r->conf.causal && cut < T; cut += 37) {
        clear_fast(r);
        scan_f32(r->f, r->state_f, &r->in, 0, cut, &r->conf);
        scan_f32(r->f + cut * row, r->state_f, &r->in, cut, T - cut, &r->conf);
        assert_near(r, "scan in two parts");
    }
    free(steps);
}

static void assert_exact(run *r, const rung_fmt *fmt, const char *what)
{
    for (int form = 0; form < 2; form++) {
        memset(r->state, 0, r->elements * sizeof *r->state);
        (form ? scan_exact : step_exact)(r->x, r->state, &r->in, 0, r->in.tokens, &r->conf, fmt);
        assert_same_numbers(r->x, r->want, r->outputs, &r->conf, what);
        assert_same_numbers(r->state, r->want_state, r->elements, &r->conf, what);
    }
}

static rung_fmt format_of(const char *name)
{
    rung_fmt fmt;
    assert_int_equal(rung_fmt_parse(&fmt, name, NULL), RUNG_OK);
    return fmt;
}

/* ---- tests -------------------------------------------------------------------------------------------------------------------------- */

static const struct {
    size_t heads, dk, dv;
} shapes[] = {{1, 1, 1}, {3, 1, 5}, {3, 5, 1}, {1, 4, 4}, {3, 8, 3}, {1, 33, 17}, {1, 128, 2}, {2, 3, 128}};

static void fast_forms_agree_with_the_equations(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 63, 64, 65, 200};
    size_t queries = 0, doubtful = 0;
    for (size_t c = 0; c < RUNG_COUNT(own_cases); c++)
        for (size_t s = 0; s < RUNG_COUNT(shapes); s++)
            for (int causal = !mech_allows(&own_cases[c], false); causal < 2; causal++) {
                size_t T = lengths[(c + s) % RUNG_COUNT(lengths)];
                run r = new_run(&own_cases[c], shapes[s].heads, shapes[s].dk, shapes[s].dv, causal, T, 100 * c + s);
                reference(&r);
                assert_fast(&r);
                queries += T * r.conf.heads, doubtful += r.doubtful;
                free_run(&r);
            }
    assert_true(doubtful * 50 < queries);
}

static void a_thousand_tokens_agree_with_the_equations(void **state)
{
    (void)state;
    const mech_case cases[] = {{"sparse", "B=16 k=4 branches=nsa W=100"}, {"dsa", "k=70 HI=2 DI=4"}};
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        run r = new_run(&cases[c], 1, 6, 4, true, effort(1000, 300), c);
        reference(&r);
        assert_fast(&r);
        assert_true(r.doubtful < 20);
        free_run(&r);
    }
}

/* The lower index wins, in both evaluators and both forms; with numbers of so few bits nothing is doubtful. Blocks of 3,
 * 5, 6 and 7 have means that are no binary fractions, but equal blocks still have equal ones. */
static void ties_go_to_the_lower_index(void **state)
{
    (void)state;
    static const size_t powers_of_two[] = {1, 2, 4, 8, 16, 64};
    rung_fmt f64 = format_of("f64");
    rung_rng rng;
    rung_rng_init(&rng, 7, 0, 0);
    for (size_t c = 0; c < RUNG_COUNT(own_cases); c++)
        for (size_t dk = 1; dk <= 4; dk += effort(1, 3)) {
            run r = new_run(&own_cases[c], 2, dk, 3, true, 90 + 13 * dk, c);
            bool fits = mech_is(&r.conf, "dsa");
            for (size_t i = 0; !fits && i < RUNG_COUNT(powers_of_two); i++)
                fits = rung_mech_param(&r.conf, "B") == (int64_t)powers_of_two[i];
            make_coarse(&r, &rng);
            F = NULL;
            reference(&r);
            if (fits) assert_int_equal(r.doubtful, 0);
            if (fits) assert_fast(&r);
            memset(r.want, 0, r.outputs * sizeof *r.want);
            F = &f64, reference(&r), F = NULL;
            assert_exact(&r, &f64, "ties");
            free_run(&r);
        }
}

static void exact_forms_agree_bit_for_bit(void **state)
{
    (void)state;
    static const char *const formats[] = {"f64",  "f32",    "bf16", "f16",  "e4m3",
                                          "e2m1", "e11m25", "q6.9", "q0.7", "q20.30"};
    for (size_t c = 0; c < RUNG_COUNT(own_cases); c++)
        for (size_t n = 0; n < RUNG_COUNT(formats); n++)
            for (int causal = !mech_allows(&own_cases[c], false); causal < 2; causal++) {
                rung_fmt fmt = format_of(formats[n]);
                run r = new_run(&own_cases[c], 1 + n % 2, 1 + n % 4, 1 + c % 3, causal, 40 + 9 * n, 10 * c + n);
                round_inputs(&r.in, &fmt);
                F = &fmt, reference(&r), F = NULL;
                assert_exact(&r, &fmt, formats[n]);
                free_run(&r);
            }
}

/* Exact, so that equality is equality: q, k, v as in `r`, and another mechanism. */
static void assert_is_like(run *r, const mech_case *other)
{
    rung_fmt f64 = format_of("f64");
    rung_mech_conf conf = mech_conf(other, r->conf.heads, r->conf.dk, r->conf.dv, r->conf.causal);
    double *cache = mech_alloc(rung_mech_state_capacity(&conf, r->in.tokens), sizeof *cache);
    mech_inputs in = r->in;
    in.count = 3;
    scan_exact(r->want, cache, &in, 0, in.tokens, &conf, &f64);
    scan_exact(r->x, r->state, &r->in, 0, in.tokens, &r->conf, &f64);
    assert_same_numbers(r->x, r->want, r->outputs, &r->conf, other->name);
    free(cache), free_run(r);
}

static void special_cases_are_other_mechanisms(void **state)
{
    (void)state;
    const mech_case full = {"full", ""}, w9 = {"window", "W=9"}, all = {"dsa", "k=200"};
    const mech_case every_block = {"sparse", "B=8 k=50 lambda=0"}, blocks_of_one = {"sparse", "B=1 lambda=1000"};
    const mech_case third_branch = {"sparse", "B=8 branches=nsa W=9"};
    for (int causal = 0; causal < 2; causal++) {
        run r = new_run(&all, 3, 4, 5, causal, 150, 1);
        assert_is_like(&r, &full);
    }
    run r = new_run(&every_block, 3, 4, 5, true, 150, 2);
    assert_is_like(&r, &full);
    r = new_run(&blocks_of_one, 3, 4, 5, true, 150, 3);
    assert_is_like(&r, &full);
    r = new_run(&third_branch, 3, 4, 5, true, 150, 4);
    for (size_t i = 0; i < r.in.rows[IN_GATES] * r.in.row[IN_GATES]; i++) r.in.x[IN_GATES][i] = i % 3 == 2;
    assert_is_like(&r, &w9);
}

static void a_branch_without_keys_gives_zeros(void **state)
{
    (void)state;
    enum { B = 6, T = 20 };
    const mech_case bare = {"sparse", "B=6 k=1 own=0"};
    rung_fmt bf16 = format_of("bf16");
    run r = new_run(&bare, 2, 3, 2, true, T, 5);
    round_inputs(&r.in, &bf16);
    clear_fast(&r), scan_f32(r.f, r.state_f, &r.in, 0, T, &r.conf);
    scan_exact(r.x, r.state, &r.in, 0, T, &r.conf, &bf16);
    for (size_t i = 0; i < r.outputs; i++) {
        bool empty = i / 4 < B - 1;
        assert_int_equal(r.f[i] == 0, empty);
        assert_int_equal(r.x[i] == 0, empty);
    }
    free_run(&r);
}

/* Other numbers from token `cut` on change nothing before it. */
static void the_future_does_not_matter(void **state)
{
    (void)state;
    enum { T = 50 };
    for (size_t c = 0; c < RUNG_COUNT(own_cases); c++)
        for (size_t cut = 1; cut < T; cut += 7) {
            run r = new_run(&own_cases[c], 2, 3, 2, true, T, c);
            float *before = mech_alloc(r.outputs, sizeof *before);
            scan_f32(before, r.state_f, &r.in, 0, T, &r.conf);
            for (size_t i = 0; i < r.in.count; i++)
                for (size_t e = cut * r.in.row[i]; e < r.in.rows[i] * r.in.row[i]; e++) r.in.f[i][e] += 3;
            scan_f32(r.f, r.state_f, &r.in, 0, T, &r.conf);
            assert_memory_equal(r.f, before, cut * r.conf.heads * r.conf.dv * sizeof *before);
            free(before), free_run(&r);
        }
}

/* ---- NaN ------------------------------------------------------------------------------------------------------------------------------ */

/* A NaN in row `bad` of an input: from which query on all outputs must be NaN, in this head (all heads: HI, DI). */
static void assert_nan(const mech_case *c, size_t input, size_t bad, size_t from, bool all_heads, bool one_query)
{
    enum { T = 30, H = 2 };
    rung_fmt f32 = format_of("f32");
    run r = new_run(c, H, 3, 2, true, T, input);
    size_t at = bad * r.in.row[input] + (all_heads ? 0 : r.in.row[input] / H);
    r.in.x[input][at] = NAN, r.in.f[input][at] = NAN;
    scan_f32(r.f, r.state_f, &r.in, 0, T, &r.conf);
    step_exact(r.x, r.state, &r.in, 0, T, &r.conf, &f32);
    for (size_t i = 0; i < r.outputs; i++) {
        size_t t = i / (2 * H), h = i / 2 % H;
        bool must = (all_heads || h == 1) && (one_query ? t == from : t >= from),
             may = (all_heads || h == 1) && t >= bad;
        if ((isnan(r.x[i]) && !may) || (!isnan(r.x[i]) && must) || isnan(r.f[i]) != isnan(r.x[i]))
            fail_msg("%s %s, NaN in %s: output %zu is %g exact and %g fast", c->name, c->words,
                     r.conf.mech->inputs[input].name, i, r.x[i], (double)r.f[i]);
    }
    free_run(&r);
}

static void a_nan_does_not_vanish(void **state)
{
    (void)state;
    const mech_case mean = {"sparse", "B=4 k=1"}, nsa = {"sparse", "B=4 k=1 branches=nsa comp=given own=0"};
    const mech_case dsa = {"dsa", "k=2 HI=2 DI=2"};
    assert_nan(&mean, IN_Q, 9, 9, false, true);
    assert_nan(&mean, IN_K, 9, 9, false, false); /* own block, then its summary, which everyone sees */
    assert_nan(&nsa, IN_CK, 11, 11, false, false);
    assert_nan(&nsa, IN_GATES, 9, 9, false, true);
    assert_nan(&dsa, IN_Q, 9, 9, false, true);
    assert_nan(&dsa, IN_IQ, 9, 9, true, true);
    assert_nan(&dsa, IN_IW, 9, 9, true, true);
    assert_nan(&dsa, IN_IK, 9, 9, true, false); /* no order is left for any later query */
}

/* ---- refusals ---------------------------------------------------------------------------------------------------------------------------- */

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    const mech_case good = {"sparse", "W=4 branches=nsa"};
    rung_mech_conf conf = mech_conf(&good, 1, 2, 2, true);
    rung_error err = {""};
    conf.causal = false;
    assert_int_equal(rung_mech_check(&conf, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "without a causal mask"));
    conf.causal = true;
    assert_int_equal(rung_param_set(conf.params, conf.mech->params, "branches=lambda", "sparse", &err), RUNG_OK);
    assert_int_equal(rung_mech_check(&conf, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "W=4 needs a gate"));
    assert_int_equal(rung_param_set(conf.params, conf.mech->params, "stride=8", "sparse", &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "stride"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_forms_agree_with_the_equations),
        cmocka_unit_test(a_thousand_tokens_agree_with_the_equations),
        cmocka_unit_test(ties_go_to_the_lower_index),
        cmocka_unit_test(exact_forms_agree_bit_for_bit),
        cmocka_unit_test(special_cases_are_other_mechanisms),
        cmocka_unit_test(a_branch_without_keys_gives_zeros),
        cmocka_unit_test(the_future_does_not_matter),
        cmocka_unit_test(a_nan_does_not_vanish),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests_name("mech: sparse, dsa", tests, NULL, NULL);
}
