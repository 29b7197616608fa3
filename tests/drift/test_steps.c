/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Tokens of every mechanism in mixed formats, bit for bit, against MPFR: every operation exactly in 400 bits, then rounded
 * once; inputs, state and output stored where docs/numbers.md says, codes, scales, chunks and rounding by chance
 * included. Nothing here reads a format from the library: the table below says what a name means. For each acc every
 * pair of formats of two quantities comes up, and with every mechanism each format of a quantity.
 */
#include <mpfr.h>

#include "drift/trials.h"

#include "effort.h"

/* What a name means. Floats: a exponent bits, b mantissa bits; fixed point: a integer bits, b fraction bits. */
typedef struct format {
    const char *name;
    bool fixed;
    int a, b;
    double largest; /* not 0: no infinities, what is larger becomes this */
    size_t block;   /* not 0: so many numbers of a row share a scale */
    const char *scale;
} format;

enum { ROW = 1 << 20 };
static const format plain[] = {
    {.name = "f32", .a = 8, .b = 23},   {.name = "bf16", .a = 8, .b = 7}, {.name = "f16", .a = 5, .b = 10},
    {.name = "e8m3", .a = 8, .b = 3},   {.name = "e5m2", .a = 5, .b = 2}, {.name = "e4m3", .a = 4, .b = 3},
    {.name = "e6m12", .a = 6, .b = 12}, {.name = "e2m1", .a = 2, .b = 1}, {.name = "e11m25", .a = 11, .b = 25},
    {.name = "f64", .a = 11, .b = 52},  {.name = "q7.8", true, 7, 8},     {.name = "q3.4", true, 3, 4},
    {.name = "q15.16", true, 15, 16},   {.name = "q0.2", true, 0, 2},
};
/* Of a state alone. */
static const format coded[] = {
    {.name = "e4m3fn", .a = 4, .b = 3, .largest = 448},
    {.name = "int8/row", true, 7, 0, 127, ROW, "f32"},
    {.name = "int4/2*f16", true, 3, 0, 7, 2, "f16"},
    {.name = "int8/3*bf16", true, 7, 0, 127, 3, "bf16"},
    {.name = "e2m1fn/row", .a = 2, .b = 1, .largest = 6, .block = ROW, .scale = "f32"},
    {.name = "e4m3fn/2*f16", .a = 4, .b = 3, .largest = 448, .block = 2, .scale = "f16"},
    {.name = "mxfp8", .a = 4, .b = 3, .largest = 448, .block = 32, .scale = "e8m0"},
    {.name = "mxfp4", .a = 2, .b = 1, .largest = 6, .block = 32, .scale = "e8m0"},
    {.name = "int4/3*e8m0", true, 3, 0, 7, 3, "e8m0"},
};

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

static const format *named(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(plain); i++)
        if (strcmp(plain[i].name, name) == 0) return &plain[i];
    fail_msg("no format %s", name);
    return NULL;
}

static int bias_of(const format *f)
{
    return f->fixed ? 0 : (1 << (f->a - 1)) - 1;
}

/* X rounded to a float format: precision, range, subnormals. */
static double rounded_float(const format *f)
{
    const int bias = bias_of(f);
    mpfr_set_prec(R, f->b + 1);
    int ternary = mpfr_set(R, X, MPFR_RNDN);
    mpfr_set_emin(2 - bias - f->b);
    mpfr_set_emax(f->largest != 0 ? wide_max : bias + 1);
    ternary = mpfr_check_range(R, ternary, MPFR_RNDN);
    mpfr_subnormalize(R, ternary, MPFR_RNDN);
    mpfr_set_emin(wide_min);
    mpfr_set_emax(wide_max);
    const double x = mpfr_get_d(R, MPFR_RNDN);
    return f->largest != 0 && fabs(x) > f->largest ? copysign(f->largest, x) : x;
}

/* X rounded to fixed point: saturating, with one zero. */
static double rounded_fixed(const format *f)
{
    const double most = f->largest != 0 ? f->largest : ldexp(1, f->a) - ldexp(1, -f->b);
    const double least = f->largest != 0 ? -f->largest : -ldexp(1, f->a);
    if (mpfr_nan_p(X)) return NAN;
    mpfr_set_prec(R, 400);
    mpfr_mul_2si(R, X, f->b, MPFR_RNDN);
    mpfr_rint(R, R, MPFR_RNDN);
    mpfr_div_2si(R, R, f->b, MPFR_RNDN);
    const double x = mpfr_cmp_d(R, most) > 0 ? most : mpfr_cmp_d(R, least) < 0 ? least : mpfr_get_d(R, MPFR_RNDN);
    return x == 0 ? 0 : x;
}

static double rounded(const format *f)
{
    return f->fixed ? rounded_fixed(f) : rounded_float(f);
}

static double store(const format *f, double x)
{
    mpfr_set_d(X, x, MPFR_RNDN);
    return rounded(f);
}

typedef int operation(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
static double two(operation *op, const format *f, double a, double b)
{
    mpfr_set_d(X, a, MPFR_RNDN);
    mpfr_set_d(Y, b, MPFR_RNDN);
    op(X, X, Y, MPFR_RNDN);
    return rounded(f);
}
#define ADD(a, b) two(mpfr_add, f, a, b)
#define SUB(a, b) two(mpfr_sub, f, a, b)
#define MUL(a, b) two(mpfr_mul, f, a, b)

static double e_to(const format *f, double x)
{
    mpfr_set_d(X, x, MPFR_RNDN);
    mpfr_exp(X, X, MPFR_RNDN);
    return rounded(f);
}

/* ---- one token ----------------------------------------------------------------------------------------------------- */

typedef double matrix[TRIAL_DIM][TRIAL_DIM];

static void product(const format *f, double *out, matrix S, const double *x, const rung_mech_conf *c)
{
    for (size_t i = 0; i < c->dv; i++) {
        out[i] = 0;
        for (size_t j = 0; j < c->dk; j++) out[i] = ADD(out[i], MUL(S[j][i], x[j]));
    }
}

static void add_outer(const format *f, matrix S, const double *x, const double *y, const rung_mech_conf *c)
{
    for (size_t j = 0; j < c->dk; j++)
        for (size_t i = 0; i < c->dv; i++) S[j][i] = ADD(S[j][i], MUL(x[j], y[i]));
}

static void token_of_matrix(const format *f, matrix S, double in[TRIAL_INPUTS][TRIAL_DIM], const rung_mech_conf *c)
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

static void token_of_rank_one(const format *f, matrix S, double in[TRIAL_INPUTS][TRIAL_DIM], const rung_mech_conf *c)
{
    double s[TRIAL_DIM];
    product(f, s, S, in[4], c);
    for (size_t j = 0; j < c->dk; j++)
        for (size_t i = 0; i < c->dv; i++) S[j][i] = MUL(in[1][j], S[j][i]);
    add_outer(f, S, in[5], s, c);
    add_outer(f, S, in[2], in[3], c);
}

/* ---- storing a state ----------------------------------------------------------------------------------------------- */

typedef struct mixture {
    const format *acc, *state, *act, *gate, *beta;
    bool chance;
    uint64_t seed;
    size_t chunk;
} mixture;

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* |x| = (k + part) u; away from zero if the chance, in 2^53 parts, is below part. Doubles are enough: u is a power of
 * two. */
static double by_chance(const format *f, double x, uint64_t chance)
{
    const int bias = bias_of(f);
    const double most = f->largest != 0 ? f->largest
                        : f->fixed      ? ldexp(1, f->a) - ldexp(1, -f->b)
                                        : (2 - ldexp(1, -f->b)) * ldexp(1, bias);
    if (x == 0 || !(fabs(x) < most) || strcmp(f->name, "f64") == 0) return store(f, x);
    int e = ilogb(x);
    if (e < 1 - bias) e = 1 - bias;
    const double u = ldexp(1, f->fixed ? -f->b : e - f->b), k = floor(fabs(x) / u), part = fabs(x) / u - k;
    const double stored = copysign((k + ((double)(chance >> 11) < ldexp(part, 53))) * u, x);
    return f->fixed && stored == 0 ? 0 : stored;
}

static double code_of(const mixture *m, double x, uint64_t key, size_t i)
{
    return m->chance ? by_chance(m->state, x, mix(key ^ i)) : store(m->state, x);
}

/* A block of numbers i0, i0 + 1, ... of the state that share a scale. */
static void store_block(const mixture *m, double *x, size_t n, uint64_t key, size_t i0)
{
    const format *f = m->state;
    double most = 0, scale;
    bool none = false;
    for (size_t i = 0; i < n; i++) none |= !isfinite(x[i]), most = fmax(most, fabs(x[i]));
    if (strcmp(f->scale, "e8m0") == 0) {
        scale = most > 0 ? ldexp(1, (int)fmax(-127, fmin(127, ilogb(most) - ilogb(f->largest)))) : ldexp(1, -127);
    } else {
        mpfr_set_d(X, most, MPFR_RNDN);
        mpfr_div_d(X, X, f->largest, MPFR_RNDN);
        scale = rounded(named(f->scale));
        if (scale < 0x1p-100) scale = 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (none || isinf(scale) || scale == 0) {
            x[i] = none || isinf(scale) ? NAN : 0;
            continue;
        }
        mpfr_set_d(X, x[i], MPFR_RNDN);
        mpfr_div_d(X, X, scale, MPFR_RNDN);
        const double code = m->chance ? code_of(m, mpfr_get_d(X, MPFR_RNDN), key, i0 + i) : rounded(f);
        mpfr_set_d(X, code, MPFR_RNDN);
        mpfr_mul_d(X, X, scale, MPFR_RNDN);
        x[i] = rounded(m->acc);
    }
}

/* The state after a token, if a chunk ends there. */
static void store_state(const mixture *m, matrix S, const rung_mech_conf *c, size_t token)
{
    const uint64_t key = mix(mix(mix(mix(m->seed) ^ 0) ^ 0) ^ token);
    if ((token + 1) % m->chunk || (m->state == m->acc && !m->chance)) return;
    for (size_t j = 0; j < c->dk; j++) {
        const size_t step = m->state->block ? m->state->block : c->dv;
        for (size_t i = 0; m->state->block && i < c->dv; i += step)
            store_block(m, &S[j][i], c->dv - i < step ? c->dv - i : step, key, j * c->dv + i);
        for (size_t i = 0; !m->state->block && i < c->dv; i++) S[j][i] = code_of(m, S[j][i], key, j * c->dv + i);
    }
}

/* ---- comparison ---------------------------------------------------------------------------------------------------- */

static bool same(double x, double y)
{
    return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
}

static const format *of_input(const mixture *m, const rung_mech_input *input)
{
    if (strcmp(input->name, "g") == 0 || strcmp(input->name, "w") == 0) return m->gate;
    if (strcmp(input->name, "beta") == 0) return m->beta;
    /* the values of Mamba-2 are products that nobody stores */
    return strcmp(input->meaning, "x dt") == 0 ? m->acc : m->act;
}

/* Counts tokens whose numbers are all finite. */
static size_t compare(const trial *t, const mixture *m)
{
    static double scratch[4096];
    const rung_mech_conf *c = &t->conf;
    const format *f = m->acc;
    double S[TRIAL_DIM * TRIAL_DIM] = {0}, o[TRIAL_DIM], in[TRIAL_INPUTS][TRIAL_DIM], expected[TRIAL_DIM];
    matrix mine = {{0}};
    size_t finite = 0;
    for (size_t token = 0; token < t->tokens; token++) {
        bool all = true;
        trial_served(t, token, S, o, scratch);
        for (size_t i = 0; c->mech->inputs[i].name; i++)
            for (size_t e = 0; e < rung_mech_row(&c->mech->inputs[i], c); e++)
                in[i][e] = store(of_input(m, &c->mech->inputs[i]), t->in[i][token][e]);
        if (c->mech->transition == RUNG_TRANSITION_MATRIX)
            token_of_matrix(f, mine, in, c);
        else
            token_of_rank_one(f, mine, in, c);
        product(f, expected, mine, in[0], c);
        store_state(m, mine, c, token);
        for (size_t i = 0; i < c->dv; i++) {
            expected[i] = store(m->act, expected[i]);
            if (!same(expected[i], o[i]))
                fail_msg("%s in %s, token %zu: output %a, expected %a", c->mech->name, t->numbers->name, token, o[i],
                         expected[i]);
            for (size_t j = 0; j < c->dk; j++) {
                if (!same(mine[j][i], S[j * c->dv + i]))
                    fail_msg("%s in %s, token %zu: state %a, expected %a", c->mech->name, t->numbers->name, token,
                             S[j * c->dv + i], mine[j][i]);
                all &= isfinite(mine[j][i]) != 0;
            }
        }
        finite += all;
    }
    return finite;
}

/* Whether acc holds every value of a format: the library must say the same. */
static bool held(const format *acc, const format *f)
{
    rung_numbers numbers;
    char text[64];
    snprintf(text, sizeof text, "%s,state=%s", acc->name, f->name);
    const bool taken = rung_numbers_parse(&numbers, text, &check_err) == RUNG_OK;
    const int digits = f->fixed ? f->a + f->b : f->b + 1;
    bool holds;
    if (f->block)
        holds = !acc->fixed && acc->a >= 8 && acc->b >= 23;
    else if (acc->fixed)
        holds = f->fixed && f->a <= acc->a && f->b <= acc->b;
    else {
        const int acc_bias = bias_of(acc), bias = bias_of(f);
        const int least = f->fixed ? -f->b : 1 - bias - f->b, top = f->fixed ? f->a : f->largest != 0 ? 8 : bias;
        holds = digits <= acc->b + 1 && least >= 1 - acc_bias - acc->b && top <= acc_bias;
    }
    if (holds != taken) fail_msg("acc=%s, state=%s: %s", acc->name, f->name, taken ? "taken" : "refused");
    return holds;
}

/* The formats that acc holds, those of a state after those of any quantity. */
static size_t held_by(const format **out, const format *acc, bool state)
{
    size_t count = 0;
    for (size_t i = 0; i < RUNG_COUNT(plain); i++)
        if (held(acc, &plain[i])) out[count++] = &plain[i];
    for (size_t i = 0; state && i < RUNG_COUNT(coded); i++)
        if (held(acc, &coded[i])) out[count++] = &coded[i];
    return count;
}

/* Values that leave the range of narrow formats, and some that are lost at its other end. */
static void stretch_values(trial *t, rung_rng *rng)
{
    const int by = (int)rung_rng_below(rng, 24) - 12;
    for (size_t i = 0; t->conf.mech->inputs[i].name; i++)
        for (size_t token = 0; t->conf.mech->inputs[i].dim == RUNG_DIM_VALUE && token < t->tokens; token++)
            for (size_t e = 0; e < TRIAL_DIM; e++) t->in[i][token][e] = ldexp(t->in[i][token][e], by);
}

enum { PRIME = 23 };

/* Row (i, j) of a table in which every two columns have every pair of residues: column c is i + c j. */
static size_t cell(size_t i, size_t j, size_t column, size_t count)
{
    return (i + column * j) % PRIME % count;
}

static size_t one_mixture(const mixture *m, size_t mech, uint64_t draw)
{
    char text[200];
    rung_numbers numbers;
    trial t;
    rung_rng rng;
    int used = snprintf(text, sizeof text, "%s,state=%s,act=%s,gate=%s,beta=%s", m->acc->name, m->state->name,
                        m->act->name, m->gate->name, m->beta->name);
    if (m->chunk > 1) used += snprintf(text + used, sizeof text - (size_t)used, ",chunk=%zu", m->chunk);
    if (m->chance)
        snprintf(text + used, sizeof text - (size_t)used, ",round=stochastic,seed=%llu", (unsigned long long)m->seed);
    CHECK(rung_numbers_parse(&numbers, text, &check_err));
    rung_rng_init(&rng, draw, mech, 1);
    trial_shape(&t, rung_mech_get(trial_mechs[mech]), &rng);
    t.numbers = &numbers;
    trial_fill(&t, &rng);
    if (rung_rng_below(&rng, 3) == 0) stretch_values(&t, &rng);
    return compare(&t, m);
}

static void every_pair(void **state)
{
    (void)state;
    size_t pairs = 0, finite = 0, compared = 0;
    for (size_t a = 0; a < RUNG_COUNT(plain); a++) {
        const format *of_state[RUNG_COUNT(plain) + RUNG_COUNT(coded)], *of_input[RUNG_COUNT(plain)];
        const size_t states = held_by(of_state, &plain[a], true), inputs = held_by(of_input, &plain[a], false);
        assert_true(states <= PRIME);
        pairs += states;
        for (size_t i = 0; i < effort(PRIME, 2); i++)
            for (size_t j = 0; j < PRIME; j++) {
                mixture m = {.acc = &plain[a],
                             .state = of_state[cell(i, j, 0, states)],
                             .act = of_input[cell(i, j, 1, inputs)],
                             .gate = of_input[cell(i, j, 2, inputs)],
                             .beta = of_input[cell(i, j, 3, inputs)],
                             .chance = cell(i, j, 4, 3) == 2,
                             .chunk = cell(i, j, 5, 4) == 3 ? 3 : 1};
                if (m.chance) m.seed = i * PRIME + j;
                if (m.state == m.acc && !m.chance) m.chunk = 1; /* refused: nothing is stored */
                for (size_t mech = 0; mech < RUNG_COUNT(trial_mechs); mech++)
                    finite += one_mixture(&m, mech, (a * PRIME + i) * PRIME + j), compared++;
            }
    }
    assert_true(pairs > 100 && compared == RUNG_COUNT(plain) * effort(PRIME, 2) * PRIME * RUNG_COUNT(trial_mechs));
    assert_true(finite > 5 * compared); /* of twelve tokens or so */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(every_pair, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
