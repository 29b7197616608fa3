/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Full and window attention in fp32, in blocks of queries: outputs and gradients against the definition in double, one query at
 * a time, over lengths around every block, group and ring; and the same bytes from every instruction set, for any number of
 * threads, for chosen queries, and with the queries of a stretch in any company.
 */
#include "mech_test.h"

typedef struct problem {
    rung_mech_conf conf;
    mech_inputs in; /* pos + tokens */
    size_t pos, tokens;
    float *state, *g;
} problem;

/* Results of one run. dstate holds the gradient of the state before. */
typedef struct outcome {
    float *o, *din[3], *dstate;
} outcome;

static const mech_case cases[] = {{"full", ""},       {"window", "W=1"},  {"window", "W=5"},
                                  {"window", "W=32"}, {"window", "W=70"}, {"window", "W=300"}};

static size_t out_row(const problem *p)
{
    return p->conf.heads * p->conf.dv;
}

static size_t in_row(const problem *p, size_t i)
{
    return p->conf.heads * (i == 2 ? p->conf.dv : p->conf.dk);
}

static problem problem_new(const mech_case *c, size_t heads, size_t dk, size_t dv, bool causal, size_t pos,
                           size_t tokens, uint64_t seed)
{
    problem p = {.conf = mech_conf(c, heads, dk, dv, causal), .pos = pos, .tokens = tokens};
    rung_rng rng;
    rung_rng_init(&rng, seed, 3, 0);
    p.in = draw_inputs(&p.conf, pos + tokens, true, seed);
    p.state = mech_alloc_state(&p.conf, pos + tokens, sizeof *p.state);
    p.g = mech_alloc(tokens * out_row(&p), sizeof *p.g);
    for (size_t i = 0; i < tokens * out_row(&p); i++) p.g[i] = (float)rung_rng_normal(&rng);
    for (size_t t = 0; t < pos; t++) {
        const float *in[RUNG_MECH_INPUT_MAX];
        inputs_at_f32(in, &p.in, t);
        p.conf.mech->update_f32(p.state, in, t, &p.conf, NULL);
    }
    return p;
}

static void problem_free(problem *p)
{
    free_inputs(&p->in), free(p->state), free(p->g);
}

static void outcome_free(outcome *r)
{
    free(r->o), free(r->dstate);
    for (size_t i = 0; i < 3; i++) free(r->din[i]);
}

/* ---- the fast code ------------------------------------------------------------------------------------------------- */

static float *ask(const problem *p, size_t threads, const size_t *at, size_t asked)
{
    size_t end = p->pos + p->tokens, capacity = rung_mech_state_capacity(&p->conf, end);
    rung_stretch_f32 s = {.conf = &p->conf, .pos = p->pos, .tokens = p->tokens, .at = at, .asked = asked};
    s.o = mech_alloc(p->tokens * out_row(p), sizeof *s.o);
    s.state = memcpy(mech_alloc(capacity, sizeof *s.state), p->state, capacity * sizeof *s.state);
    s.scratch_size = p->conf.mech->scratch(&p->conf, end);
    s.scratch = mech_alloc(threads * s.scratch_size, sizeof *s.scratch);
    memset(s.scratch, 0xff, threads * s.scratch_size * sizeof *s.scratch);
    inputs_at_f32(s.in, &p->in, p->pos);
    rung_stretch_scan_f32(&s, threads);
    free(s.state), free(s.scratch);
    return s.o;
}

static outcome run(const problem *p)
{
    size_t end = p->pos + p->tokens, room = p->conf.mech->backward_scratch(&p->conf, end);
    outcome r = {.o = ask(p, 1, NULL, 0), .dstate = mech_alloc_state(&p->conf, end, sizeof *r.dstate)};
    rung_backward b = {.conf = &p->conf, .o = r.o, .g = p->g, .pos = p->pos, .tokens = p->tokens};
    b.state = p->pos ? p->state : NULL, b.dstate = p->pos ? r.dstate : NULL;
    b.scratch = memset(mech_alloc(room, sizeof *b.scratch), 0xff, room * sizeof *b.scratch);
    inputs_at_f32(b.in, &p->in, p->pos);
    for (size_t i = 0; i < 3; i++) b.din[i] = r.din[i] = mech_alloc(p->tokens * in_row(p, i), sizeof *r.din[i]);
    for (size_t h = 0; h < p->conf.heads; h++) p->conf.mech->backward_f32(&b, h);
    free(b.scratch);
    return r;
}

/* ---- the definition -------------------------------------------------------------------------------------------------- */

static bool sees(const problem *p, size_t t, size_t j)
{
    size_t window = mech_is(&p->conf, "window") ? (size_t)rung_mech_param(&p->conf, "W") : SIZE_MAX;
    size_t distance = t > j ? t - j : j - t;
    return distance < window && (!p->conf.causal || j <= t);
}

static const double *input(const problem *p, size_t i, size_t t, size_t h)
{
    return p->in.x[i] + t * in_row(p, i) + h * in_row(p, i) / p->conf.heads;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Outputs, and gradients of the inputs of all tokens, those before the stretch too. */
typedef struct truth {
    double *o, *d[3];
} truth;

/* Query t of head h; p and dp have room for all keys. */
static void solve_query(truth *r, const problem *p, size_t t, size_t h, double *weight, double *dp)
{
    size_t end = p->pos + p->tokens, dk = p->conf.dk, dv = p->conf.dv, row = (t - p->pos) * p->conf.heads + h;
    double max = -INFINITY, sum = 0, mean = 0;
    for (size_t j = 0; j < end; j++) {
        weight[j] = sees(p, t, j) ? dot(input(p, 0, t, h), input(p, 1, j, h), dk) : -INFINITY;
        max = weight[j] > max ? weight[j] : max;
    }
    for (size_t j = 0; j < end; j++) sum += weight[j] = exp(weight[j] - max);
    for (size_t j = 0; j < end; j++) {
        weight[j] /= sum, dp[j] = 0;
        for (size_t i = 0; i < dv; i++) {
            r->o[row * dv + i] += weight[j] * input(p, 2, j, h)[i];
            dp[j] += p->g[row * dv + i] * input(p, 2, j, h)[i];
            r->d[2][(j * p->conf.heads + h) * dv + i] += weight[j] * p->g[row * dv + i];
        }
        mean += weight[j] * dp[j];
    }
    for (size_t j = 0; j < end; j++)
        for (size_t i = 0; i < dk; i++) {
            double ds = weight[j] * (dp[j] - mean);
            r->d[0][(t * p->conf.heads + h) * dk + i] += ds * input(p, 1, j, h)[i];
            r->d[1][(j * p->conf.heads + h) * dk + i] += ds * input(p, 0, t, h)[i];
        }
}

static truth solve(const problem *p)
{
    size_t end = p->pos + p->tokens;
    truth r = {.o = mech_alloc(p->tokens * out_row(p), sizeof *r.o)};
    double *weight = mech_alloc(end, sizeof *weight), *dp = mech_alloc(end, sizeof *dp);
    for (size_t i = 0; i < 3; i++) r.d[i] = mech_alloc(end * in_row(p, i), sizeof *r.d[i]);
    for (size_t t = p->pos; t < end; t++)
        for (size_t h = 0; h < p->conf.heads; h++) solve_query(&r, p, t, h, weight, dp);
    free(weight), free(dp);
    return r;
}

/* ---- both -------------------------------------------------------------------------------------------------------------- */

static void assert_close(const float *got, const double *want, size_t n, const problem *p, const char *what)
{
    double size = 0;
    for (size_t i = 0; i < n; i++) size = fabs(want[i]) > size ? fabs(want[i]) : size;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= 2e-6 * size + 5e-6))
            fail_msg("%s of %s W=%d H=%zu dk=%zu dv=%zu causal=%d pos=%zu tokens=%zu: number %zu is %g, not %g", what,
                     p->conf.mech->name, (int)p->conf.params[0].number, p->conf.heads, p->conf.dk, p->conf.dv,
                     p->conf.causal, p->pos, p->tokens, i, (double)got[i], want[i]);
}

/* Keys before the stretch have their gradients in the state, where a ring keeps the last ones. */
static void check_state(const outcome *r, const truth *want, const problem *p)
{
    size_t dk = p->conf.dk, dv = p->conf.dv, slot = p->conf.heads * (dk + dv);
    size_t slots = rung_mech_state_capacity(&p->conf, p->pos + p->tokens) / slot;
    for (size_t j = p->pos > slots ? p->pos - slots : 0; j < p->pos; j++)
        for (size_t h = 0; h < p->conf.heads; h++) {
            const float *at = r->dstate + j % slots * slot + h * (dk + dv);
            assert_close(at, want->d[1] + (j * p->conf.heads + h) * dk, dk, p, "the gradient of an old key");
            assert_close(at + dk, want->d[2] + (j * p->conf.heads + h) * dv, dv, p, "the gradient of an old value");
        }
}

static void check(const problem *p)
{
    static const char *const names[] = {"the gradient of q", "the gradient of k", "the gradient of v"};
    outcome r = run(p);
    truth want = solve(p);
    assert_close(r.o, want.o, p->tokens * out_row(p), p, "the output");
    for (size_t i = 0; i < 3; i++)
        assert_close(r.din[i], want.d[i] + p->pos * in_row(p, i), p->tokens * in_row(p, i), p, names[i]);
    if (p->pos) check_state(&r, &want, p);
    outcome_free(&r);
    free(want.o), free(want.d[0]), free(want.d[1]), free(want.d[2]);
}

static void every_length_around_blocks_and_panels(void **state)
{
    static const size_t tokens[] = {1, 2, 3, 15, 17, 31, 32, 33, 55, 56, 57, 64, 111, 113, 130};
    static const size_t dims[][3] = {{1, 1, 1}, {2, 3, 5}, {1, 32, 32}, {3, 16, 33}, {2, 40, 64}, {1, 65, 31}};
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(cases); c++)
        for (size_t i = 0; i < RUNG_COUNT(tokens); i++) {
            const size_t *d = dims[(i + c) % RUNG_COUNT(dims)];
            for (int causal = 0; causal < 2; causal++) {
                problem p = problem_new(&cases[c], d[0], d[1], d[2], causal, 0, tokens[i], 100 * c + i);
                check(&p);
                problem_free(&p);
            }
        }
}

/* Longer than the group of tokens whose queries share panels, so that a window begins anew. */
static void windows_in_several_groups(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(cases); c++)
        for (int causal = 0; causal < 2; causal++) {
            problem p = problem_new(&cases[c], 1, 4, 6, causal, 0, effort(700, 460), c);
            check(&p);
            problem_free(&p);
        }
}

static void stretches_that_continue_a_state(void **state)
{
    static const size_t tokens[] = {1, 2, 3, 31, 57, 120}, before[] = {1, 4, 31, 32, 33, 69, 71, 200, 310};
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(cases); c++)
        for (size_t i = 0; i < RUNG_COUNT(before); i++) {
            problem p = problem_new(&cases[c], 2, 5 + 30 * (i % 2), 7, true, before[i],
                                    tokens[(i + c) % RUNG_COUNT(tokens)], 10 * c + i);
            check(&p);
            problem_free(&p);
        }
}

static void force_isa(int isa)
{
    assert_int_equal(setenv("RUNG_ISA", rung_isa_name((rung_isa)isa), 1), 0);
    rung_cpu_forget();
}

static void every_instruction_set_gives_the_same_bytes(void **state)
{
    (void)state;
    unsetenv("RUNG_ISA"), rung_cpu_forget();
    int best = (int)rung_cpu_isa();
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        problem p = problem_new(&cases[c], 2, 24, 40, c % 2, c % 2 ? 45 : 0, 150, c);
        force_isa(RUNG_ISA_REF);
        outcome want = run(&p);
        for (int isa = RUNG_ISA_REF + 1; isa <= best; isa++) {
            force_isa(isa);
            outcome got = run(&p);
            assert_memory_equal(got.o, want.o, p.tokens * out_row(&p) * sizeof *got.o);
            for (size_t i = 0; i < 3; i++)
                for (size_t e = 0; e < p.tokens * in_row(&p, i); e++) assert_true(got.din[i][e] == want.din[i][e]);
            outcome_free(&got);
        }
        outcome_free(&want), problem_free(&p);
    }
    unsetenv("RUNG_ISA"), rung_cpu_forget();
}

static void company_changes_no_bit(void **state)
{
    enum { TOKENS = 400 };
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(cases); c++)
        for (int causal = 0; causal < 2; causal++) {
            problem p = problem_new(&cases[c], 3, 9, 34, causal, causal ? 40 : 0, TOKENS, c);
            float *all = ask(&p, 1, NULL, 0);
            size_t at[TOKENS], asked = 0;
            for (size_t t = 1; t < TOKENS; t += 1 + t % 23) at[asked++] = t;
            for (size_t threads = 1; threads <= 4; threads++) {
                float *again = ask(&p, threads, NULL, 0), *some = ask(&p, threads, at, asked);
                assert_memory_equal(again, all, TOKENS * out_row(&p) * sizeof *all);
                for (size_t i = 0; i < asked; i++)
                    assert_memory_equal(some + i * out_row(&p), all + at[i] * out_row(&p), out_row(&p) * sizeof *all);
                free(again), free(some);
            }
            free(all), problem_free(&p);
        }
}

/* A value that is no number belongs to the queries that see it; those beside them in a block must not notice. */
static void a_value_that_is_no_number_reaches_only_who_sees_it(void **state)
{
    enum { TOKENS = 80 };
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(cases); c++)
        for (size_t at = 0; at < TOKENS; at += 7) {
            problem p = problem_new(&cases[c], 1, 3, 5, true, 0, TOKENS, c);
            float *clean = ask(&p, 1, NULL, 0);
            p.in.f[2][at * in_row(&p, 2) + 2] = at % 2 ? NAN : INFINITY;
            float *dirty = ask(&p, 1, NULL, 0);
            for (size_t t = 0; t < TOKENS; t++)
                if (sees(&p, t, at))
                    assert_false(isfinite(dirty[t * out_row(&p) + 2]));
                else
                    assert_memory_equal(dirty + t * out_row(&p), clean + t * out_row(&p), out_row(&p) * sizeof *dirty);
            free(clean), free(dirty), problem_free(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_around_blocks_and_panels),
        cmocka_unit_test(windows_in_several_groups),
        cmocka_unit_test(stretches_that_continue_a_state),
        cmocka_unit_test(every_instruction_set_gives_the_same_bytes),
        cmocka_unit_test(company_changes_no_bit),
        cmocka_unit_test(a_value_that_is_no_number_reaches_only_who_sees_it),
    };
    return cmocka_run_group_tests_name("mech: attention in blocks", tests, NULL, NULL);
}
