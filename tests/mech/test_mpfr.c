/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * An independent evaluation of every mechanism with MPFR: precision Y+1, the exponent range of the format, and
 * mpfr_subnormalize after every operation, in the published order of operations. The exact evaluator must give the
 * same bits. Nothing below uses num but for the name of a format.
 */
#include "mech_test.h"

#include <mpfr.h>

/* ---- arithmetic of one format --------------------------------------------------------------------------------------- */

static mpfr_t A, B, R;

/* A value is m 2^e with m in [1/2, 1): the largest exponent is bias+1, and the least subnormal, 2^(1-bias-Y), has
 * e = 2-bias-Y. */
static void begin(const rung_fmt *fmt)
{
    int bias = (1 << (fmt->exponent_bits - 1)) - 1, precision = fmt->mantissa_bits + 1;
    mpfr_set_emin(2 - bias - fmt->mantissa_bits);
    mpfr_set_emax(bias + 1);
    mpfr_inits2(precision, A, B, R, (mpfr_ptr)0);
}

static void end(void)
{
    mpfr_clears(A, B, R, (mpfr_ptr)0);
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    mpfr_free_cache();
}

static double finish(int ternary)
{
    mpfr_subnormalize(R, ternary, MPFR_RNDN);
    return mpfr_get_d(R, MPFR_RNDN);
}

typedef int binary(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

static double two(binary *operation, double a, double b)
{
    mpfr_set_d(A, a, MPFR_RNDN), mpfr_set_d(B, b, MPFR_RNDN);
    return finish(operation(R, A, B, MPFR_RNDN));
}

static double plus(double a, double b)
{
    return two(mpfr_add, a, b);
}

static double times(double a, double b)
{
    return two(mpfr_mul, a, b);
}

static double minus(double a, double b)
{
    return two(mpfr_sub, a, b);
}

static double over(double a, double b)
{
    return two(mpfr_div, a, b);
}

static double e_to(double x)
{
    mpfr_set_d(A, x, MPFR_RNDN);
    return finish(mpfr_exp(R, A, MPFR_RNDN));
}

static double hyperbolic_tangent(double x)
{
    mpfr_set_d(A, x, MPFR_RNDN);
    return finish(mpfr_tanh(R, A, MPFR_RNDN));
}

/* 1/(1+e^-x) is no function of MPFR: 400 bits in the widest range, then one rounding into the format. */
static double logistic(double x)
{
    mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
    mpfr_t wide;
    mpfr_set_emin(mpfr_get_emin_min()), mpfr_set_emax(mpfr_get_emax_max());
    mpfr_init2(wide, 400);
    mpfr_set_d(wide, -x, MPFR_RNDN);
    mpfr_exp(wide, wide, MPFR_RNDN);
    mpfr_add_ui(wide, wide, 1, MPFR_RNDN);
    mpfr_ui_div(wide, 1, wide, MPFR_RNDN);
    int ternary = mpfr_set(R, wide, MPFR_RNDN);
    mpfr_clear(wide);
    mpfr_set_emin(least), mpfr_set_emax(most);
    return finish(mpfr_check_range(R, ternary, MPFR_RNDN));
}

static double root_half(void)
{
    mpfr_set_d(A, 0.5, MPFR_RNDN);
    return finish(mpfr_sqrt(R, A, MPFR_RNDN));
}

/* ---- the published order ------------------------------------------------------------------------------------------------ */

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum = plus(sum, times(a[i], b[i]));
    return sum;
}

/* Online, from the first visible key upwards, and from its score: there is no maximum before it. */
static void softmax_query(double *o, const mech_inputs *in, size_t t, size_t h, const rung_mech_conf *conf)
{
    size_t H = conf->heads, W = mech_is(conf, "window") ? (size_t)rung_mech_param(conf, "W") : SIZE_MAX;
    double m = 0, den = 0;
    bool first = true;
    for (size_t j = 0; j < in->tokens; j++) {
        if ((conf->causal && j > t) || (t > j ? t - j : j - t) >= W) continue;
        const double *v = in->x[2] + (j * H + h) * conf->dv;
        double s = dot(in->x[0] + (t * H + h) * conf->dk, in->x[1] + (j * H + h) * conf->dk, conf->dk);
        double higher = first || s > m ? s : m, a = first ? 0 : e_to(minus(m, higher)), e = e_to(minus(s, higher));
        den = plus(times(den, a), e);
        for (size_t i = 0; i < conf->dv; i++) o[i] = plus(times(o[i], a), times(e, v[i]));
        m = higher, first = false;
    }
    for (size_t i = 0; i < conf->dv; i++) o[i] = over(o[i], den);
}

static size_t features(double *out, const double *x, const rung_mech_conf *conf)
{
    const char *phi = mech_word(conf, "phi");
    size_t n = 0, d = conf->dk;
    if (strcmp(phi, "taylor2") == 0) {
        out[n++] = 1;
        for (size_t i = 0; i < d; i++) out[n++] = x[i];
        for (size_t i = 0; i < d * d; i++) out[n++] = times(times(x[i / d], x[i % d]), root_half());
    } else {
        for (size_t i = 0; i < d; i++)
            out[n++] = strcmp(phi, "identity") == 0 ? x[i]
                       : x[i] > 0                   ? (strcmp(phi, "relu") == 0 ? x[i] : plus(x[i], 1))
                                                    : (strcmp(phi, "relu") == 0 ? 0 : e_to(x[i]));
    }
    return n;
}

/* out_i = sum over j upwards of S_ji x_j */
static void matrix_query(double *out, const double *S, const double *x, size_t rows, size_t cols)
{
    for (size_t i = 0; i < cols; i++) {
        double sum = 0;
        for (size_t j = 0; j < rows; j++) sum = plus(sum, times(S[j * cols + i], x[j]));
        out[i] = sum;
    }
}

/* One head; the state begins at S. */
static void linear_update(double *S, const mech_inputs *in, size_t row, const rung_mech_conf *conf)
{
    double phi[64];
    size_t r = features(phi, in->x[1] + row * conf->dk, conf), dv = conf->dv;
    for (size_t e = 0; e < r * dv; e++) S[e] = plus(S[e], times(phi[e / dv], in->x[2][row * dv + e % dv]));
    for (size_t j = 0; rung_mech_param(conf, "norm") && j < r; j++) S[r * dv + j] = plus(S[r * dv + j], phi[j]);
}

static void linear_read(double *o, const double *S, const mech_inputs *in, size_t row, const rung_mech_conf *conf)
{
    double phi[64];
    size_t r = features(phi, in->x[0] + row * conf->dk, conf);
    matrix_query(o, S, phi, r, conf->dv);
    if (!rung_mech_param(conf, "norm")) return;
    double den = dot(S + r * conf->dv, phi, r);
    for (size_t i = 0; i < conf->dv; i++) o[i] = over(o[i], den);
}

/* With a decay per head or per key channel, additive or corrective. */
static void matrix_update(double *S, const mech_inputs *in, size_t row, const rung_mech_conf *conf)
{
    double u[16];
    size_t dk = conf->dk, dv = conf->dv;
    bool channels = mech_is(conf, "gla") || mech_is(conf, "kda");
    bool corrects = mech_is(conf, "delta") || mech_is(conf, "gdelta") || mech_is(conf, "kda");
    const double *k = in->x[1] + row * dk, *v = in->x[2] + row * dv, *g = in->x[corrects ? 4 : 3];
    for (size_t e = 0; !mech_is(conf, "delta") && e < dk * dv; e++)
        S[e] = times(S[e], e_to(g[channels ? row * dk + e / dv : row]));
    matrix_query(u, S, k, dk, dv);
    for (size_t i = 0; i < dv; i++) u[i] = corrects ? times(in->x[3][row], minus(v[i], u[i])) : v[i];
    for (size_t e = 0; e < dk * dv; e++) S[e] = plus(S[e], times(k[e / dv], u[e % dv]));
}

static void mamba_update(double *S, const mech_inputs *in, size_t row, const rung_mech_conf *conf)
{
    size_t dk = conf->dk, dv = conf->dv, h = row % conf->heads;
    for (size_t e = 0; e < dk * dv; e++) {
        size_t n = e / dv, c = e % dv;
        double dt = in->x[1][row * dv + c], decay = e_to(times(dt, in->x[4][(h * dv + c) * dk + n]));
        double push = times(times(dt, in->x[0][row * dv + c]), in->x[2][row * dk + n]);
        S[e] = plus(times(decay, S[e]), push);
    }
}

static void mamba_read(double *o, const double *S, const mech_inputs *in, size_t row, const rung_mech_conf *conf)
{
    size_t dv = conf->dv, h = row % conf->heads;
    matrix_query(o, S, in->x[3] + row * conf->dk, conf->dk, dv);
    for (size_t c = 0; c < dv; c++) o[c] = plus(o[c], times(in->x[5][h * dv + c], in->x[0][row * dv + c]));
}

static void rwkv7_update(double *S, const mech_inputs *in, size_t row, const rung_mech_conf *conf)
{
    double s[16];
    size_t dk = conf->dk, dv = conf->dv;
    matrix_query(s, S, in->x[4] + row * dk, dk, dv);
    for (size_t e = 0; e < dk * dv; e++) {
        size_t j = e / dv, i = e % dv;
        double kept = plus(times(in->x[1][row * dk + j], S[e]), times(in->x[5][row * dk + j], s[i]));
        S[e] = plus(kept, times(in->x[2][row * dk + j], in->x[3][row * dv + i]));
    }
}

/* state: h, then c of the LSTM. */
static void rnn_update(double *state, const mech_inputs *in, size_t row, const rung_mech_conf *conf)
{
    bool lstm = strcmp(mech_word(conf, "kind"), "lstm") == 0;
    size_t dv = conf->dv, gates = (lstm ? 4 : 1) * dv;
    const double *x = in->x[lstm ? 1 : 0] + row * gates, *U = in->x[lstm ? 3 : 2] + row % conf->heads * gates * dv;
    double sum[16], *h = state, *c = state + dv;
    for (size_t i = 0; i < gates; i++) sum[i] = plus(dot(U + i * dv, h, dv), x[i]);
    for (size_t i = 0; i < dv; i++) {
        if (lstm) {
            double forgotten = times(logistic(sum[dv + i]), c[i]);
            c[i] = plus(forgotten, times(logistic(sum[i]), hyperbolic_tangent(sum[2 * dv + i])));
        }
        h[i] = lstm ? times(logistic(sum[3 * dv + i]), hyperbolic_tangent(c[i])) : hyperbolic_tangent(sum[i]);
    }
}

static void read_state(double *o, const double *S, const mech_inputs *in, size_t row, const rung_mech_conf *conf)
{
    if (mech_is(conf, "linear"))
        linear_read(o, S, in, row, conf);
    else if (mech_is(conf, "mamba"))
        mamba_read(o, S, in, row, conf);
    else if (mech_is(conf, "rnn"))
        memcpy(o, S, conf->dv * sizeof *o);
    else
        matrix_query(o, S, in->x[0] + row * conf->dk, conf->dk, conf->dv);
}

static void update_state(double *S, const mech_inputs *in, size_t row, const rung_mech_conf *conf)
{
    if (mech_is(conf, "linear"))
        linear_update(S, in, row, conf);
    else if (mech_is(conf, "mamba"))
        mamba_update(S, in, row, conf);
    else if (mech_is(conf, "rwkv7"))
        rwkv7_update(S, in, row, conf);
    else if (mech_is(conf, "rnn"))
        rnn_update(S, in, row, conf);
    else
        matrix_update(S, in, row, conf);
}

static void recurrent(double *o, double *state, const mech_inputs *in, const rung_mech_conf *conf)
{
    size_t H = conf->heads, each = rung_mech_state_elements(conf, in->tokens) / H;
    for (size_t h = 0; h < H; h++) {
        double *S = state + h * each;
        for (size_t t = 0; t < in->tokens; t++) {
            size_t row = t * H + h;
            update_state(S, in, row, conf);
            if (conf->causal) read_state(o + row * conf->dv, S, in, row, conf);
        }
        for (size_t t = 0; !conf->causal && t < in->tokens; t++)
            read_state(o + (t * H + h) * conf->dv, S, in, t * H + h, conf);
    }
}

/* ---- comparison ------------------------------------------------------------------------------------------------------------ */

static void compare(const rung_mech_conf *conf, const rung_fmt *fmt, size_t tokens, double scale, uint64_t seed)
{
    mech_inputs in = draw_inputs(conf, tokens, false, seed);
    size_t outputs = tokens * conf->heads * conf->dv, elements = rung_mech_state_elements(conf, tokens);
    double *want = mech_alloc(outputs, sizeof *want), *want_state = mech_alloc(elements, sizeof *want_state);
    double *o = mech_alloc(outputs, sizeof *o), *state = mech_alloc(elements, sizeof *state);
    for (size_t i = 0; i < in.count; i++)
        for (size_t e = 0; e < in.rows[i] * in.row[i]; e++)
            if (conf->mech->inputs[i].source == RUNG_FROM_LINEAR) in.x[i][e] *= scale;
    round_inputs(&in, fmt);
    begin(fmt);
    if (mech_is(conf, "full") || mech_is(conf, "window"))
        for (size_t row = 0; row < tokens * conf->heads; row++)
            softmax_query(want + row * conf->dv, &in, row / conf->heads, row % conf->heads, conf);
    else
        recurrent(want, want_state, &in, conf);
    end();
    scan_exact(o, state, &in, 0, tokens, conf, fmt);
    assert_same_numbers(o, want, outputs, conf, fmt->name);
    if (conf->mech->recurrent) assert_same_numbers(state, want_state, elements, conf, fmt->name);
    memset(state, 0, elements * sizeof *state);
    step_exact(o, state, &in, 0, tokens, conf, fmt);
    assert_same_numbers(o, want, outputs, conf, fmt->name);
    free(want), free(want_state), free(o), free(state), free_inputs(&in);
}

/* Small numbers reach the subnormals, large ones infinity and NaN. */
static void compare_scales(const rung_mech_conf *conf, const rung_fmt *fmt, size_t tokens, rung_rng *rng)
{
    double least = sqrt(fmt->least_normal), most = sqrt(fmt->largest);
    compare(conf, fmt, tokens, 1, rung_rng_u64(rng));
    compare(conf, fmt, tokens, 4, rung_rng_u64(rng));
    compare(conf, fmt, tokens, least, rung_rng_u64(rng));
    compare(conf, fmt, tokens, most, rung_rng_u64(rng));
}

static void all_mechanisms_in(const char *name, rung_rng *rng)
{
    rung_fmt fmt;
    rung_error err = {""};
    if (rung_fmt_parse(&fmt, name, &err) != RUNG_OK) fail_msg("%s", err.text);
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        for (int causal = !mech_allows(&mech_cases[c], false); causal < 2; causal++) {
            if (mech_has_own_test(&mech_cases[c])) continue;
            size_t heads = 1 + (size_t)rung_rng_below(rng, 2), dk = 1 + (size_t)rung_rng_below(rng, 4);
            rung_mech_conf conf = mech_conf(&mech_cases[c], heads, dk, 1 + (size_t)rung_rng_below(rng, 4), causal);
            compare_scales(&conf, &fmt, 2 + (size_t)rung_rng_below(rng, 9), rng);
        }
}

static void named_formats_agree_with_mpfr(void **state)
{
    (void)state;
    static const char *const names[] = {"f64",  "f32",  "bf16", "f16",    "e4m3",
                                        "e5m2", "e2m1", "e3m1", "e11m25", "e10m25"};
    rung_rng rng;
    rung_rng_init(&rng, 21, 0, 0);
    for (size_t i = 0; i < RUNG_COUNT(names); i++) all_mechanisms_in(names[i], &rng);
}

static void random_formats_agree_with_mpfr(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 22, 0, 0);
    for (int i = 0; i < 25; i++) {
        char name[32];
        snprintf(name, sizeof name, "e%dm%d", 2 + (int)rung_rng_below(&rng, 10), 1 + (int)rung_rng_below(&rng, 25));
        all_mechanisms_in(name, &rng);
    }
}

/* A longer prompt, where den and num have grown and old terms fade. */
static void long_prompts_agree_with_mpfr(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 23, 0, 0);
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++) {
        if (mech_has_own_test(&mech_cases[c])) continue;
        rung_fmt fmt;
        rung_mech_conf conf = mech_conf(&mech_cases[c], 1, 3, 2, true);
        assert_int_equal(rung_fmt_parse(&fmt, c % 2 ? "bf16" : "e6m5", NULL), RUNG_OK);
        compare(&conf, &fmt, 130, 1, rung_rng_u64(&rng));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_formats_agree_with_mpfr),
        cmocka_unit_test(random_formats_agree_with_mpfr),
        cmocka_unit_test(long_prompts_agree_with_mpfr),
    };
    return cmocka_run_group_tests_name("mech: mpfr", tests, NULL, NULL);
}
