/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The fast forms of every mechanism against a token-by-token reference in double, written from the published
 * equations and in another way than the library: softmax in two passes, linear attention as the quadratic form
 * sum_j kappa(q_t, k_j) v_j, the same with decays as sums over all pairs of tokens with the product of all decays
 * between them, the delta rules and RWKV-7 as M <- M P + R with dense matrices in the other orientation. Also the state
 * that is left behind, and continuation from it.
 */
#include "mech_test.h"

/* Largest difference over the largest magnitude. fp32 sums of up to 64 products, 200 tokens deep. */
static const double TOLERANCE = 1e-5;

static const size_t token_counts[] = {1, 2, 33, 63, 64, 65, 200};
static const struct {
    size_t heads, dk, dv;
} shapes[] = {{1, 1, 1},   {3, 1, 5},   {3, 5, 1},   {1, 4, 4},  {3, 8, 3},
              {1, 17, 33}, {1, 64, 64}, {1, 128, 2}, {3, 2, 128}};

/* ---- the published equations ---------------------------------------------------------------------------------------- */

static bool visible(size_t t, size_t j, const rung_mech_conf *conf)
{
    size_t window = mech_is(conf, "window") ? (size_t)rung_mech_param(conf, "W") : SIZE_MAX;
    if (conf->causal && j > t) return false;
    return (t > j ? t - j : j - t) < window;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Rows of one head. */
static const double *row_of(const mech_inputs *in, size_t input, size_t t, size_t head, size_t heads, size_t d)
{
    return in->x[input] + (t * heads + head) * d;
}

static void ref_softmax(double *o, const mech_inputs *in, size_t t, size_t h, const rung_mech_conf *conf)
{
    const double *q = row_of(in, 0, t, h, conf->heads, conf->dk);
    double max = -INFINITY, sum = 0;
    for (size_t j = 0; j < in->tokens; j++)
        if (visible(t, j, conf)) max = fmax(max, dot(q, row_of(in, 1, j, h, conf->heads, conf->dk), conf->dk));
    for (size_t j = 0; j < in->tokens; j++) {
        if (!visible(t, j, conf)) continue;
        double e = exp(dot(q, row_of(in, 1, j, h, conf->heads, conf->dk), conf->dk) - max);
        for (size_t i = 0; i < conf->dv; i++) o[i] += e * row_of(in, 2, j, h, conf->heads, conf->dv)[i];
        sum += e;
    }
    for (size_t i = 0; i < conf->dv; i++) o[i] /= sum;
}

/* kappa(q, k) = phi(q) . phi(k), in closed form. */
static double kappa(const double *q, const double *k, const rung_mech_conf *conf)
{
    const char *phi = mech_word(conf, "phi");
    double s = dot(q, k, conf->dk), sum = 0;
    if (strcmp(phi, "identity") == 0) return s;
    if (strcmp(phi, "taylor2") == 0) return 1 + s + s * s / 2;
    for (size_t i = 0; i < conf->dk; i++) {
        if (strcmp(phi, "relu") == 0) sum += fmax(q[i], 0) * fmax(k[i], 0);
        if (strcmp(phi, "elu1") == 0) sum += (q[i] > 0 ? q[i] + 1 : exp(q[i])) * (k[i] > 0 ? k[i] + 1 : exp(k[i]));
    }
    return sum;
}

static void ref_linear(double *o, const mech_inputs *in, size_t t, size_t h, const rung_mech_conf *conf)
{
    double sum = 0;
    for (size_t j = 0; j < in->tokens; j++) {
        if (!visible(t, j, conf)) continue;
        double w = kappa(row_of(in, 0, t, h, conf->heads, conf->dk), row_of(in, 1, j, h, conf->heads, conf->dk), conf);
        for (size_t i = 0; i < conf->dv; i++) o[i] += w * row_of(in, 2, j, h, conf->heads, conf->dv)[i];
        sum += w;
    }
    for (size_t i = 0; rung_mech_param(conf, "norm") && i < conf->dv; i++) o[i] /= sum;
}

/* With a decay: q_t, faded by every decay between s and the end, meets k_s. In an encoder the end is the last token. */
static void ref_decayed(double *o, const double *q, const mech_inputs *in, size_t end, size_t h,
                        const rung_mech_conf *conf)
{
    size_t H = conf->heads, dk = conf->dk, per = mech_is(conf, "gla") ? dk : 1;
    double *faded = mech_alloc(dk, sizeof *faded);
    memcpy(faded, q, dk * sizeof *faded);
    for (size_t s = end; s-- > 0;) {
        double w = dot(faded, row_of(in, 1, s, h, H, dk), dk);
        for (size_t i = 0; i < conf->dv; i++) o[i] += w * row_of(in, 2, s, h, H, conf->dv)[i];
        for (size_t j = 0; j < dk; j++) faded[j] *= exp(row_of(in, 3, s, h, H, per)[j % per]);
    }
    free(faded);
}

/* The same for Mamba, whose channel c has rates of its own: the decays between s and the end multiply to
 * e^{A_cn (dt_{s+1} + ... + dt_end)}. D is not in it. */
static void ref_mamba(double *o, const double *C, const mech_inputs *in, size_t end, size_t h,
                      const rung_mech_conf *conf)
{
    size_t H = conf->heads, dk = conf->dk, dv = conf->dv;
    for (size_t c = 0; c < dv; c++) {
        const double *A = in->x[4] + (h * dv + c) * dk;
        double elapsed = 0;
        for (size_t s = end; s-- > 0;) {
            const double *B = row_of(in, 2, s, h, H, dk);
            double x = row_of(in, 0, s, h, H, dv)[c], dt = row_of(in, 1, s, h, H, dv)[c];
            for (size_t n = 0; n < dk; n++)
                if (C[n] != 0) o[c] += C[n] * exp(A[n] * elapsed) * B[n] * dt * x;
            elapsed += dt;
        }
    }
}

/* M [dv][dk] <- M P + R. Delta rules: P = diag(e^g) (I - beta k k^T), R = beta v k^T. RWKV-7: P = diag(w) + a b^T,
 * R = v k^T. */
static double dense_P(const mech_inputs *in, size_t row, size_t j, size_t c, const rung_mech_conf *conf)
{
    size_t dk = conf->dk;
    bool diagonal = j == c;
    if (mech_is(conf, "rwkv7"))
        return (diagonal ? in->x[1][row * dk + j] : 0) + in->x[4][row * dk + j] * in->x[5][row * dk + c];
    const double *k = in->x[1] + row * dk;
    double g = mech_is(conf, "kda") ? in->x[4][row * dk + j] : mech_is(conf, "gdelta") ? in->x[4][row] : 0;
    return exp(g) * ((diagonal ? 1 : 0) - in->x[3][row] * k[j] * k[c]);
}

static double dense_R(const mech_inputs *in, size_t row, size_t i, size_t c, const rung_mech_conf *conf)
{
    if (mech_is(conf, "rwkv7")) return in->x[3][row * conf->dv + i] * in->x[2][row * conf->dk + c];
    return in->x[3][row] * in->x[2][row * conf->dv + i] * in->x[1][row * conf->dk + c];
}

static void dense_token(double *M, const mech_inputs *in, size_t row, const rung_mech_conf *conf)
{
    size_t dk = conf->dk, dv = conf->dv;
    double *next = mech_alloc(dv * dk, sizeof *next);
    for (size_t c = 0; c < dk; c++) {
        for (size_t j = 0; j < dk; j++) {
            double P = dense_P(in, row, j, c, conf);
            for (size_t i = 0; i < dv; i++) next[i * dk + c] += M[i * dk + j] * P;
        }
        for (size_t i = 0; i < dv; i++) next[i * dk + c] += dense_R(in, row, i, c, conf);
    }
    memcpy(M, next, dv * dk * sizeof *M);
    free(next);
}

static void ref_dense(double *o, double *M, const mech_inputs *in, size_t h, const rung_mech_conf *conf)
{
    size_t H = conf->heads, dk = conf->dk, dv = conf->dv;
    for (size_t t = 0; t < in->tokens; t++) {
        dense_token(M, in, t * H + h, conf);
        for (size_t i = 0; conf->causal && i < dv; i++)
            o[(t * H + h) * dv + i] = dot(M + i * dk, row_of(in, 0, t, h, H, dk), dk);
    }
    for (size_t t = 0; !conf->causal && t < in->tokens; t++)
        for (size_t i = 0; i < dv; i++) o[(t * H + h) * dv + i] = dot(M + i * dk, row_of(in, 0, t, h, H, dk), dk);
}

/* One neuron's input of gate `gate`, from the state before the token. */
static double neuron(const mech_inputs *in, const double *h_before, size_t row, size_t gate, size_t i,
                     const rung_mech_conf *conf)
{
    bool lstm = strcmp(mech_word(conf, "kind"), "lstm") == 0;
    size_t dv = conf->dv, head = row % conf->heads, at = gate * dv + i, wide = (lstm ? 4 : 1) * dv;
    return in->x[lstm ? 1 : 0][row * wide + at] + dot(in->x[lstm ? 3 : 2] + (head * wide + at) * dv, h_before, dv);
}

static double half_tanh(double x) /* the logistic function */
{
    return 0.5 + 0.5 * tanh(x / 2);
}

/* state: h, and c of the LSTM. */
static void ref_rnn(double *o, double *state, const mech_inputs *in, size_t h, const rung_mech_conf *conf)
{
    bool lstm = strcmp(mech_word(conf, "kind"), "lstm") == 0;
    size_t H = conf->heads, dv = conf->dv;
    double *before = mech_alloc(dv, sizeof *before), *c = state + dv;
    for (size_t t = 0; t < in->tokens; t++) {
        size_t row = t * H + h;
        memcpy(before, state, dv * sizeof *before);
        for (size_t i = 0; i < dv; i++) {
            double first = neuron(in, before, row, 0, i, conf);
            state[i] = tanh(first);
            if (lstm) {
                double forget = half_tanh(neuron(in, before, row, 1, i, conf));
                c[i] = forget * c[i] + half_tanh(first) * tanh(neuron(in, before, row, 2, i, conf));
                state[i] = half_tanh(neuron(in, before, row, 3, i, conf)) * tanh(c[i]);
            }
            o[row * dv + i] = state[i];
        }
    }
    for (size_t t = 0; !conf->causal && t < in->tokens; t++) memcpy(o + (t * H + h) * dv, state, dv * sizeof *state);
    free(before);
}

/* ---- the state that must be left behind ------------------------------------------------------------------------------ */

static void ref_cache(double *state, const mech_inputs *in, const rung_mech_conf *conf)
{
    size_t window = mech_is(conf, "window") && conf->causal ? (size_t)rung_mech_param(conf, "W") : SIZE_MAX;
    size_t each = conf->dk + conf->dv;
    for (size_t t = 0; t < in->tokens; t++)
        for (size_t h = 0; h < conf->heads; h++) {
            double *slot = state + ((t % window) * conf->heads + h) * each;
            memcpy(slot, row_of(in, 1, t, h, conf->heads, conf->dk), conf->dk * sizeof *slot);
            memcpy(slot + conf->dk, row_of(in, 2, t, h, conf->heads, conf->dv), conf->dv * sizeof *slot);
        }
}

static size_t ref_features(double *phi, const double *x, const rung_mech_conf *conf)
{
    const char *word = mech_word(conf, "phi");
    size_t n = 0, d = conf->dk;
    if (strcmp(word, "taylor2") == 0) {
        phi[n++] = 1;
        for (size_t i = 0; i < d; i++) phi[n++] = x[i];
        for (size_t i = 0; i < d * d; i++) phi[n++] = x[i / d] * x[i % d] / sqrt(2);
        return n;
    }
    for (size_t i = 0; i < d; i++)
        phi[n++] = strcmp(word, "identity") == 0 ? x[i]
                   : strcmp(word, "relu") == 0   ? fmax(x[i], 0)
                                                 : (x[i] > 0 ? x[i] + 1 : exp(x[i]));
    return n;
}

static void ref_linear_state(double *state, const mech_inputs *in, const rung_mech_conf *conf)
{
    double *phi = mech_alloc(1 + conf->dk + conf->dk * conf->dk, sizeof *phi);
    size_t norm = (size_t)rung_mech_param(conf, "norm"), dv = conf->dv;
    for (size_t t = 0; t < in->tokens; t++)
        for (size_t h = 0; h < conf->heads; h++) {
            size_t r = ref_features(phi, row_of(in, 1, t, h, conf->heads, conf->dk), conf);
            double *S = state + h * r * (dv + norm);
            const double *v = row_of(in, 2, t, h, conf->heads, dv);
            for (size_t e = 0; e < r * dv; e++) S[e] += phi[e / dv] * v[e % dv];
            for (size_t e = 0; norm && e < r; e++) S[r * dv + e] += phi[e];
        }
    free(phi);
}

/* Row j of the state is what the unit vector j would read at the end. */
static void ref_rows(double *o, double *state, const mech_inputs *in, size_t h, const rung_mech_conf *conf)
{
    size_t H = conf->heads, dk = conf->dk, dv = conf->dv, T = in->tokens;
    bool mamba = mech_is(conf, "mamba");
    double *unit = mech_alloc(dk, sizeof *unit);
    for (size_t t = 0; t < T; t++) {
        double *y = o + (t * H + h) * dv;
        (mamba ? ref_mamba : ref_decayed)(y, row_of(in, mamba ? 3 : 0, t, h, H, dk), in, conf->causal ? t + 1 : T, h,
                                          conf);
        for (size_t c = 0; mamba && c < dv; c++) y[c] += in->x[5][h * dv + c] * row_of(in, 0, t, h, H, dv)[c];
    }
    for (size_t j = 0; j < dk; j++) {
        unit[j] = 1;
        (mamba ? ref_mamba : ref_decayed)(state + (h * dk + j) * dv, unit, in, T, h, conf);
        unit[j] = 0;
    }
    free(unit);
}

static bool is_dense(const rung_mech_conf *conf)
{
    return mech_is(conf, "delta") || mech_is(conf, "gdelta") || mech_is(conf, "kda") || mech_is(conf, "rwkv7");
}

static bool is_paired(const rung_mech_conf *conf)
{
    return mech_is(conf, "retnet") || mech_is(conf, "gla") || mech_is(conf, "mamba2") || mech_is(conf, "mamba");
}

static void ref_recurrent(double *o, double *state, const mech_inputs *in, const rung_mech_conf *conf)
{
    size_t dk = conf->dk, dv = conf->dv, each = rung_mech_state_elements(conf, in->tokens) / conf->heads;
    double *M = mech_alloc(dv * dk, sizeof *M);
    for (size_t h = 0; h < conf->heads; h++) {
        if (is_paired(conf)) ref_rows(o, state, in, h, conf);
        if (mech_is(conf, "rnn")) ref_rnn(o, state + h * each, in, h, conf);
        if (!is_dense(conf)) continue;
        memset(M, 0, dv * dk * sizeof *M);
        ref_dense(o, M, in, h, conf);
        for (size_t e = 0; e < dk * dv; e++) state[h * dk * dv + e] = M[(e % dv) * dk + e / dv]; /* S = M^T */
    }
    free(M);
}

/* Outputs [T][H][dv] and the final state of the reference. */
static void reference(double *o, double *state, const mech_inputs *in, const rung_mech_conf *conf)
{
    size_t H = conf->heads, dv = conf->dv;
    bool softmax = mech_is(conf, "full") || mech_is(conf, "window"), linear = mech_is(conf, "linear");
    assert_true(softmax || linear || is_dense(conf) || is_paired(conf) || mech_is(conf, "rnn"));
    for (size_t t = 0; t < in->tokens; t++)
        for (size_t h = 0; h < H; h++) {
            if (softmax) ref_softmax(o + (t * H + h) * dv, in, t, h, conf);
            if (linear) ref_linear(o + (t * H + h) * dv, in, t, h, conf);
        }
    if (softmax) ref_cache(state, in, conf);
    if (linear) ref_linear_state(state, in, conf);
    if (!softmax && !linear) ref_recurrent(o, state, in, conf);
}

/* ---- comparison -------------------------------------------------------------------------------------------------------- */

static void assert_within(double tolerance, const double *got, const double *want, size_t count,
                          const rung_mech_conf *conf, size_t tokens, const char *what)
{
    double size = 0, worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        double error = fabs(got[i] - want[i]);
        size = fmax(size, fabs(want[i]));
        if (!(error <= worst)) worst = error, at = i; /* a NaN is worse than anything */
    }
    if (!(worst <= tolerance * size + 1e-30))
        fail_msg("%s of %s H=%zu dk=%zu dv=%zu causal=%d T=%zu: element %zu is %.17g, not %.17g (largest %g)", what,
                 conf->mech->name, conf->heads, conf->dk, conf->dv, conf->causal, tokens, at, got[at], want[at], size);
}

static void assert_near(const float *got, const double *want, size_t count, const rung_mech_conf *conf, size_t tokens,
                        const char *what)
{
    double *wide = mech_alloc(count, sizeof *wide);
    for (size_t i = 0; i < count; i++) wide[i] = got[i];
    assert_within(TOLERANCE, wide, want, count, conf, tokens, what);
    free(wide);
}

typedef struct run {
    size_t outputs, elements;
    double *want, *want_state;
    float *o, *state;
} run;

static run new_run(const rung_mech_conf *conf, size_t tokens)
{
    run r = {.outputs = tokens * conf->heads * conf->dv, .elements = rung_mech_state_elements(conf, tokens)};
    r.want = mech_alloc(r.outputs, sizeof *r.want), r.want_state = mech_alloc(r.elements, sizeof *r.want_state);
    r.o = mech_alloc(r.outputs, sizeof *r.o), r.state = mech_alloc(r.elements, sizeof *r.state);
    return r;
}

/* Outputs that nobody writes must be noticed. */
static void clear_run(run *r)
{
    for (size_t i = 0; i < r->outputs; i++) r->o[i] = NAN;
    memset(r->state, 0, r->elements * sizeof *r->state);
}

static void free_run(run *r)
{
    free(r->want), free(r->want_state), free(r->o), free(r->state);
}

/* The exact evaluator in f64 must compute the same function; only the order of the sums differs. */
static void compare_exact(const run *r, const mech_inputs *in, const rung_mech_conf *conf)
{
    rung_fmt f64;
    double *o = mech_alloc(r->outputs, sizeof *o), *state = mech_alloc(r->elements, sizeof *state);
    assert_int_equal(rung_fmt_parse(&f64, "f64", NULL), RUNG_OK);
    scan_exact(o, state, in, 0, in->tokens, conf, &f64);
    assert_within(1e-12, o, r->want, r->outputs, conf, in->tokens, "exact scan in f64");
    assert_within(1e-12, state, r->want_state, r->elements, conf, in->tokens, "state after it");
    free(o), free(state);
}

static void compare(const rung_mech_conf *conf, size_t tokens, uint64_t seed)
{
    mech_inputs in = draw_inputs(conf, tokens, false, seed);
    run r = new_run(conf, tokens);
    reference(r.want, r.want_state, &in, conf);
    clear_run(&r), scan_f32(r.o, r.state, &in, 0, tokens, conf);
    assert_near(r.o, r.want, r.outputs, conf, tokens, "scan");
    assert_near(r.state, r.want_state, r.elements, conf, tokens, "state after the scan");
    clear_run(&r), step_f32(r.o, r.state, &in, 0, tokens, conf);
    assert_near(r.o, r.want, r.outputs, conf, tokens, "step");
    assert_near(r.state, r.want_state, r.elements, conf, tokens, "state after the steps");
    for (size_t cut = 1; conf->causal && cut < tokens; cut += cut < 70 ? 31 : 64) {
        clear_run(&r);
        scan_f32(r.o, r.state, &in, 0, cut, conf);
        scan_f32(r.o + cut * conf->heads * conf->dv, r.state, &in, cut, tokens - cut, conf);
        assert_near(r.o, r.want, r.outputs, conf, tokens, "scan in two parts");
        assert_near(r.state, r.want_state, r.elements, conf, tokens, "state after two parts");
    }
    if (conf->dk * conf->dv <= 32) compare_exact(&r, &in, conf);
    free_run(&r), free_inputs(&in);
}

/* taylor2 of 64 coordinates has 4161 features, a dense transition of 64 x 64 costs 64^3 per token, Mamba one
 * exponential for each of its dk dv states and each pair of tokens: one length suffices. Elsewhere the edges of a chunk are seen at small sizes. */
static bool too_large(const rung_mech_conf *conf, size_t tokens)
{
    if (SANITIZED && conf->dk * conf->dv >= 64 && tokens == 200) return true;
    bool taylor = mech_is(conf, "linear") && strcmp(mech_word(conf, "phi"), "taylor2") == 0;
    bool costly = is_dense(conf) || mech_is(conf, "mamba");
    if (conf->dk * conf->dv >= 256 && (tokens == 63 || tokens == 64)) return true;
    return conf->dk >= 64 && ((taylor && tokens != 2) || (costly && tokens != 65));
}

static void compare_all(bool causal)
{
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
        for (size_t s = 0; s < RUNG_COUNT(shapes); s++)
            for (size_t t = 0; t < RUNG_COUNT(token_counts); t++) {
                if ((c + s + t) % effort(1, 3) != 0) continue; /* each length with a third of the shapes */
                if (!mech_allows(&mech_cases[c], causal) || mech_has_own_test(&mech_cases[c])) continue;
                rung_mech_conf conf = mech_conf(&mech_cases[c], shapes[s].heads, shapes[s].dk, shapes[s].dv, causal);
                if (!too_large(&conf, token_counts[t])) compare(&conf, token_counts[t], 1000 * c + 10 * s + t);
            }
}

static void causal_forms_agree_with_the_equations(void **state)
{
    (void)state;
    compare_all(true);
}

static void encoder_forms_agree_with_the_equations(void **state)
{
    (void)state;
    compare_all(false);
}

/* Rounding errors may not pile up: a decay of 0.999 remembers all of it. */
static void a_thousand_tokens_agree_with_the_equations(void **state)
{
    (void)state;
    const size_t tokens = effort(1000, 200);
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++) {
        if (mech_has_own_test(&mech_cases[c])) continue;
        rung_mech_conf conf = mech_conf(&mech_cases[c], 1, 4, 3, true);
        mech_inputs in = draw_inputs(&conf, tokens, true, c);
        for (size_t i = 0; i < in.count; i++)
            for (size_t e = 0; is_log_decay(&conf.mech->inputs[i]) && e < in.rows[i] * in.row[i]; e++)
                in.x[i][e] = in.f[i][e] = -0.001f;
        run r = new_run(&conf, tokens);
        reference(r.want, r.want_state, &in, &conf);
        clear_run(&r), scan_f32(r.o, r.state, &in, 0, tokens, &conf);
        assert_near(r.o, r.want, r.outputs, &conf, tokens, "scan");
        clear_run(&r), step_f32(r.o, r.state, &in, 0, tokens, &conf);
        assert_near(r.o, r.want, r.outputs, &conf, tokens, "step");
        free_run(&r), free_inputs(&in);
    }
}

/* An infinite decay empties the state; it must not become inf - inf in a chunk. */
static void a_decay_of_minus_infinity_forgets_and_nothing_else(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++) {
        rung_mech_conf conf = mech_conf(&mech_cases[c], 2, 4, 3, true);
        size_t g = rung_mech_inputs(conf.mech) - 1;
        if (mech_has_own_test(&mech_cases[c]) || !is_log_decay(&conf.mech->inputs[g])) continue;
        mech_inputs in = draw_inputs(&conf, 90, true, 5);
        run r = new_run(&conf, 90);
        for (size_t e = 20; e < 90 * in.row[g]; e += 45 * in.row[g] / 2 + 1) in.x[g][e] = in.f[g][e] = -INFINITY;
        reference(r.want, r.want_state, &in, &conf);
        clear_run(&r), scan_f32(r.o, r.state, &in, 0, 90, &conf);
        assert_near(r.o, r.want, r.outputs, &conf, 90, "scan");
        clear_run(&r), step_f32(r.o, r.state, &in, 0, 90, &conf);
        assert_near(r.o, r.want, r.outputs, &conf, 90, "step");
        free_run(&r), free_inputs(&in);
    }
}

static void every_registered_mechanism_is_tested(void **state)
{
    (void)state;
    for (size_t i = 0; i < rung_mech_count(); i++) {
        const rung_mech *mech = rung_mech_at(i);
        bool found = false;
        for (size_t c = 0; c < RUNG_COUNT(mech_cases); c++)
            found = found || strcmp(mech_cases[c].name, mech->name) == 0;
        if (!found) fail_msg("mechanism %s has no case in mech_test.h", mech->name);
        assert_ptr_equal(rung_mech_get(mech->name), mech);
        assert_true(rung_mech_inputs(mech) <= RUNG_MECH_INPUT_MAX);
        assert_true(rung_param_count(mech->params) <= RUNG_PARAM_MAX);
    }
    assert_null(rung_mech_at(rung_mech_count()));
    assert_null(rung_mech_get("ful"));
    assert_string_equal(rung_mech_nearest("gdleta"), "gdelta");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_registered_mechanism_is_tested),
        cmocka_unit_test(causal_forms_agree_with_the_equations),
        cmocka_unit_test(encoder_forms_agree_with_the_equations),
        cmocka_unit_test(a_thousand_tokens_agree_with_the_equations),
        cmocka_unit_test(a_decay_of_minus_infinity_forgets_and_nothing_else),
    };
    return cmocka_run_group_tests_name("mech: reference", tests, NULL, NULL);
}
