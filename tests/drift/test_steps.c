/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Tokens of every mechanism in mixed formats, bit for bit, against MPFR: every operation exactly in 400 bits, then rounded
 * once; inputs, state and output stored where docs/numbers.md says. All pairs of formats of acc and state, with the
 * formats of the inputs going around.
 */
#include <mpfr.h>

#include "drift/trials.h"

static const char *const formats[] = {"f32", "bf16", "f16", "e8m3", "e5m2", "e4m3", "e6m12"};
enum { FORMATS = sizeof formats / sizeof *formats };

static mpfr_t X, Y, R;
static mpfr_exp_t wide_min, wide_max;

static int setup(void **state)
{
    (void)state;
    mpfr_inits2(400, X, Y, (mpfr_ptr)0);
    mpfr_init2(R, 24);
    wide_min = mpfr_get_emin(), wide_max = mpfr_get_emax();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mpfr_clears(X, Y, R, (mpfr_ptr)0);
    mpfr_free_cache();
    return 0;
}

/* X rounded to a float format: precision, range, subnormals. */
static double rounded(const rung_fmt *f)
{
    const int bias = (1 << (f->exponent_bits - 1)) - 1;
    mpfr_set_prec(R, f->mantissa_bits + 1);
    int ternary = mpfr_set(R, X, MPFR_RNDN);
    mpfr_set_emin(2 - bias - f->mantissa_bits);
    mpfr_set_emax(bias + 1);
    ternary = mpfr_check_range(R, ternary, MPFR_RNDN);
    mpfr_subnormalize(R, ternary, MPFR_RNDN);
    mpfr_set_emin(wide_min);
    mpfr_set_emax(wide_max);
    return mpfr_get_d(R, MPFR_RNDN);
}

static double store(const rung_fmt *f, double x)
{
    mpfr_set_d(X, x, MPFR_RNDN);
    return rounded(f);
}

typedef int operation(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
static double two(operation *op, const rung_fmt *f, double a, double b)
{
    mpfr_set_d(X, a, MPFR_RNDN);
    mpfr_set_d(Y, b, MPFR_RNDN);
    op(X, X, Y, MPFR_RNDN);
    return rounded(f);
}
#define ADD(a, b) two(mpfr_add, f, a, b)
#define SUB(a, b) two(mpfr_sub, f, a, b)
#define MUL(a, b) two(mpfr_mul, f, a, b)

static double e_to(const rung_fmt *f, double x)
{
    mpfr_set_d(X, x, MPFR_RNDN);
    mpfr_exp(X, X, MPFR_RNDN);
    return rounded(f);
}

/* ---- one token ----------------------------------------------------------------------------------------------------- */

typedef double matrix[TRIAL_DIM][TRIAL_DIM];

static void product(const rung_fmt *f, double *out, matrix S, const double *x, const rung_mech_conf *c)
{
    for (size_t i = 0; i < c->dv; i++) {
        out[i] = 0;
        for (size_t j = 0; j < c->dk; j++) out[i] = ADD(out[i], MUL(S[j][i], x[j]));
    }
}

static void add_outer(const rung_fmt *f, matrix S, const double *x, const double *y, const rung_mech_conf *c)
{
    for (size_t j = 0; j < c->dk; j++)
        for (size_t i = 0; i < c->dv; i++) S[j][i] = ADD(S[j][i], MUL(x[j], y[i]));
}

static void token_of_matrix(const rung_fmt *f, matrix S, double in[TRIAL_INPUTS][TRIAL_DIM], const rung_mech_conf *c)
{
    const rung_mech_input *input = c->mech->inputs;
    double *beta = NULL, *g = NULL, u[TRIAL_DIM];
    bool channels = false;
    for (size_t i = 3; input[i].name; i++) {
        if (strcmp(input[i].name, "beta") == 0) beta = in[i];
        if (strcmp(input[i].name, "g") == 0) g = in[i], channels = input[i].dim == RUNG_DIM_KEY;
    }
    for (size_t j = 0; g && j < c->dk; j++)
        for (size_t i = 0; i < c->dv; i++) S[j][i] = MUL(S[j][i], e_to(f, g[channels ? j : 0]));
    if (beta) product(f, u, S, in[1], c);
    for (size_t i = 0; i < c->dv; i++) u[i] = beta ? MUL(beta[0], SUB(in[2][i], u[i])) : in[2][i];
    add_outer(f, S, in[1], u, c);
}

static void token_of_rank_one(const rung_fmt *f, matrix S, double in[TRIAL_INPUTS][TRIAL_DIM], const rung_mech_conf *c)
{
    double s[TRIAL_DIM];
    product(f, s, S, in[4], c);
    for (size_t j = 0; j < c->dk; j++)
        for (size_t i = 0; i < c->dv; i++) S[j][i] = MUL(in[1][j], S[j][i]);
    add_outer(f, S, in[5], s, c);
    add_outer(f, S, in[2], in[3], c);
}

static void compare(const trial *t)
{
    static double scratch[4096];
    const rung_mech_conf *c = &t->conf;
    const rung_fmt *f = &t->numbers->acc;
    double S[TRIAL_DIM * TRIAL_DIM] = {0}, o[TRIAL_DIM], in[TRIAL_INPUTS][TRIAL_DIM], expected[TRIAL_DIM];
    matrix mine = {{0}};
    for (size_t token = 0; token < t->tokens; token++) {
        trial_served(t, token, S, o, scratch);
        for (size_t i = 0; c->mech->inputs[i].name; i++)
            for (size_t e = 0; e < rung_mech_row(&c->mech->inputs[i], c); e++)
                in[i][e] = store(&t->numbers->of[c->mech->inputs[i].quantity].code, t->in[i][token][e]);
        if (c->mech->transition == RUNG_TRANSITION_MATRIX)
            token_of_matrix(f, mine, in, c);
        else
            token_of_rank_one(f, mine, in, c);
        product(f, expected, mine, in[0], c);
        for (size_t i = 0; i < c->dv; i++) {
            expected[i] = store(&t->numbers->of[RUNG_QUANTITY_ACT].code, expected[i]);
            if (memcmp(&expected[i], &o[i], sizeof o[i]) != 0)
                fail_msg("%s in %s, token %zu: output %a, expected %a", c->mech->name, t->numbers->name, token, o[i],
                         expected[i]);
            for (size_t j = 0; j < c->dk; j++) {
                mine[j][i] = store(&t->numbers->of[RUNG_QUANTITY_STATE].code, mine[j][i]);
                if (memcmp(&mine[j][i], &S[j * c->dv + i], sizeof S[0]) != 0)
                    fail_msg("%s in %s, token %zu: state %a, expected %a", c->mech->name, t->numbers->name, token,
                             S[j * c->dv + i], mine[j][i]);
            }
        }
    }
}

static void every_pair(void **state)
{
    (void)state;
    size_t pairs = 0, compared = 0;
    for (size_t acc = 0; acc < FORMATS; acc++)
        for (size_t kept = 0; kept < FORMATS; kept++) {
            bool held = false;
            for (size_t around = 0; around < FORMATS; around++) {
                char text[128];
                rung_numbers numbers[1];
                snprintf(text, sizeof text, "%s,state=%s,act=%s,gate=%s,beta=%s", formats[acc], formats[kept],
                         formats[around], formats[(around + 1) % FORMATS], formats[(around + 2) % FORMATS]);
                if (rung_numbers_parse(numbers, text, &check_err) != RUNG_OK) /* acc does not hold all of them */
                    snprintf(text, sizeof text, "%s,state=%s", formats[acc], formats[kept]);
                if (rung_numbers_parse(numbers, text, &check_err) != RUNG_OK) break;
                held = true;
                for (size_t m = 0; m < RUNG_COUNT(trial_mechs); m++) {
                    trial t;
                    rung_rng rng;
                    rung_rng_init(&rng, (acc * FORMATS + kept) * FORMATS + around, m, 1);
                    trial_shape(&t, rung_mech_get(trial_mechs[m]), &rng);
                    t.numbers = numbers;
                    trial_fill(&t, &rng);
                    compare(&t), compared++;
                }
            }
            pairs += held;
        }
    assert_true(pairs >= 18 && compared == pairs * FORMATS * RUNG_COUNT(trial_mechs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(every_pair, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
