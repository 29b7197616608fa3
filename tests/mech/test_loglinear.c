/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Log-linear attention against its mask form in double, O = (Q K^T . M) V with M_ts = lambda_t^(level(t,s)) and every
 * pair of tokens on its own; against the recurrence of the paper, level by level, bit for bit; against its base when
 * every weight is one; and the number of matrices, which is that of the ones in a binary number.
 */
#include "mech_test.h"

static const double TOLERANCE = 1e-5; /* largest difference over the largest magnitude */

enum { IN_Q, IN_K, IN_V, IN_LAMBDA, IN_G, IN_BETA };

static const mech_case own_cases[] = {
    {"loglinear", "base=linear"},          {"loglinear", "base=mamba2"},          {"loglinear", "base=gdelta"},
    {"loglinear", "base=linear levels=1"}, {"loglinear", "base=mamba2 levels=4"}, {"loglinear", "base=gdelta levels=6"},
};

/* ---- the mask form -------------------------------------------------------------------------------------------------- */

/* The walk of the paper, b <- b - lowbit(b) from b = t: the bucket whose interval [b - lowbit(b), b) holds s. Its
 * level, and how many buckets are newer. */
static size_t walk(size_t *newer, size_t t, size_t s)
{
    size_t b = t, low = b & -b, level = 1, steps = 0;
    for (; s < b - low; steps++) b -= low, low = b & -b;
    while (low >>= 1) level++;
    if (newer) *newer = steps;
    return level;
}

static double lambda_at(const mech_inputs *in, size_t t, size_t s, size_t h, const rung_mech_conf *conf)
{
    size_t levels = (size_t)rung_mech_param(conf, "levels"), level = s == t ? 0 : walk(NULL, t, s);
    return in->x[IN_LAMBDA][(t * conf->heads + h) * levels + (level < levels ? level : levels - 1)];
}

/* w <- e^g (w - beta k (k . w)): what token t does to the key of an older token. The decay commutes with the rest. */
static void age_key(double *w, const mech_inputs *in, size_t row, const rung_mech_conf *conf)
{
    const double *k = in->x[IN_K] + row * conf->dk;
    double decay = in->x[IN_G] ? exp(in->x[IN_G][row]) : 1, along = 0;
    for (size_t j = 0; in->x[IN_BETA] && j < conf->dk; j++) along += in->x[IN_BETA][row] * k[j] * w[j];
    for (size_t j = 0; j < conf->dk; j++) w[j] = decay * (w[j] - along * k[j]);
}

/* All that token s of head h leaves in later outputs and in the state. */
static void spread_token(double *o, double *state, const mech_inputs *in, size_t s, size_t h, double *w,
                         const rung_mech_conf *conf)
{
    size_t H = conf->heads, dk = conf->dk, dv = conf->dv, newer, row = s * H + h;
    const double *v = in->x[IN_V] + row * dv;
    for (size_t j = 0; j < dk; j++) w[j] = in->x[IN_K][row * dk + j] * (in->x[IN_BETA] ? in->x[IN_BETA][row] : 1);
    for (size_t t = s; t < in->tokens; t++) {
        double weight = 0;
        if (t > s) age_key(w, in, t * H + h, conf);
        for (size_t j = 0; j < dk; j++) weight += w[j] * in->x[IN_Q][(t * H + h) * dk + j];
        weight *= lambda_at(in, t, s, h, conf);
        for (size_t i = 0; i < dv; i++) o[(t * H + h) * dv + i] += weight * v[i];
    }
    walk(&newer, in->tokens, s);
    double *S = state + (((size_t)__builtin_popcountll(in->tokens) - 1 - newer) * H + h) * dk * dv;
    for (size_t e = 0; e < dk * dv; e++) S[e] += w[e / dv] * v[e % dv];
}

static void mask_form(double *o, double *state, const mech_inputs *in, const rung_mech_conf *conf)
{
    double *w = mech_alloc(conf->dk, sizeof *w);
    for (size_t s = 0; s < in->tokens; s++)
        for (size_t h = 0; h < conf->heads; h++) spread_token(o, state, in, s, h, w, conf);
    free(w);
}

/* ---- fast against the mask form --------------------------------------------------------------------------------------- */

static void assert_near(const float *got, const double *want, size_t count, const rung_mech_conf *conf, size_t tokens,
                        const char *what)
{
    double size = 0, worst = 0;
    for (size_t i = 0; i < count; i++) {
        double error = fabs(got[i] - want[i]);
        size = fmax(size, fabs(want[i]));
        if (!(error <= worst)) worst = error; /* a NaN is worse than anything */
    }
    if (!(worst <= TOLERANCE * size + 1e-30))
        fail_msg("%s of base=%s levels=%d H=%zu dk=%zu dv=%zu T=%zu: off by %g, the largest is %g", what,
                 mech_word(conf, "base"), (int)rung_mech_param(conf, "levels"), conf->heads, conf->dk, conf->dv, tokens,
                 worst, size);
}

/* Scan when step is 0, else steps, in parts of at most `part` tokens. */
static void run_f32(float *o, float *state, const mech_inputs *in, size_t part, bool step, const rung_mech_conf *conf)
{
    for (size_t done = 0; done < in->tokens;) {
        size_t count = part < in->tokens - done ? part : in->tokens - done;
        (step ? step_f32 : scan_f32)(o + done * conf->heads * conf->dv, state, in, done, count, conf);
        done += count;
    }
}

/* The state array is filled with rubbish before: nothing may be read that was not carried. */
static void compare_forms(const mech_inputs *in, const rung_mech_conf *conf)
{
    static const size_t parts[] = {SIZE_MAX, 1, 31, 64, 100, 129};
    size_t T = in->tokens, outputs = T * conf->heads * conf->dv, elements = rung_mech_state_elements(conf, T);
    double *want = mech_alloc(outputs, sizeof *want), *left = mech_alloc(elements, sizeof *left);
    float *o = mech_alloc(outputs, sizeof *o), *state = mech_alloc_state(conf, T, sizeof *state);
    mask_form(want, left, in, conf);
    for (size_t p = 0; p < RUNG_COUNT(parts) && (p == 0 || parts[p] < T); p++)
        for (int step = 0; step < (p == 0 ? 2 : 1); step++) {
            for (size_t i = 0; i < outputs; i++) o[i] = NAN;
            for (size_t i = 0; i < rung_mech_state_capacity(conf, T); i++) state[i] = NAN;
            run_f32(o, state, in, parts[p], step, conf);
            assert_near(o, want, outputs, conf, T, step ? "step" : "scan");
            assert_near(state, left, elements, conf, T, step ? "state after the steps" : "state after the scan");
        }
    free(want), free(left), free(o), free(state);
}

static void compare(const mech_case *c, size_t heads, size_t dk, size_t dv, size_t tokens)
{
    rung_mech_conf conf = mech_conf(c, heads, dk, dv, true);
    mech_inputs in = draw_inputs(&conf, tokens, false, 100 * tokens + dk);
    compare_forms(&in, &conf);
    free_inputs(&in);
}

static void fast_forms_agree_with_the_mask_form(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 3, 4, 7, 8, 63, 64, 65, 127, 128, 129, 200};
    static const size_t shapes[][3] = {{1, 1, 1}, {3, 1, 5}, {3, 8, 3}, {1, 17, 33}, {1, 64, 64}};
    for (size_t c = 0; c < RUNG_COUNT(own_cases); c++)
        for (size_t s = 0; s < RUNG_COUNT(shapes); s++)
            for (size_t t = 0; t < RUNG_COUNT(lengths); t++)
                if (shapes[s][1] < 64 || lengths[t] >= 127)
                    compare(&own_cases[c], shapes[s][0], shapes[s][1], shapes[s][2], lengths[t]);
}

/* Ten levels and sixteen chunks; the widest heads. */
static void long_prompts_and_wide_heads_agree_with_the_mask_form(void **state)
{
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        compare(&own_cases[c], 3, 4, 6, 1000);
        compare(&own_cases[c], 1, 128, 96, 300);
    }
}

/* A decay of -inf empties every matrix; it must not become inf - inf in a chunk, nor 0 times a sum that is too old. */
static void a_decay_of_minus_infinity_forgets_and_nothing_else(void **state)
{
    (void)state;
    for (size_t c = 1; c < 3; c++) {
        rung_mech_conf conf = mech_conf(&own_cases[c], 2, 4, 3, true);
        mech_inputs in = draw_inputs(&conf, 150, true, 5);
        for (size_t row = 21; row < 2 * in.tokens; row += 46)
            in.x[IN_G][row] = in.f[IN_G][row] = -INFINITY, in.x[IN_G][row - 1] = in.f[IN_G][row - 1] = -INFINITY;
        compare_forms(&in, &conf);
        free_inputs(&in);
    }
}

/* ---- exact against the recurrence of the paper -------------------------------------------------------------------------- */

enum { LEVELS = 12, MOST = 16 }; /* levels that occur below 2^11 tokens; numbers of a matrix in these tests */

/* The levels of one head. At token t, with l = lssb(t), level l+1 becomes the sum of levels 0, 1, ..., l in that order,
 * and those become empty; an empty level takes no part in anything. */
typedef struct paper {
    const rung_fmt *fmt;
    const rung_mech_conf *conf;
    bool full[LEVELS];
    double S[LEVELS][MOST];
} paper;

static void paper_merge(paper *p, size_t t)
{
    size_t to = 1, size = p->conf->dk * p->conf->dv;
    if (t == 0) return;
    while (t % ((size_t)1 << to) == 0) to++;
    memcpy(p->S[to], p->S[0], sizeof p->S[0]);
    for (size_t l = 1; l < to; l++)
        for (size_t e = 0; e < size; e++) p->S[to][e] = rung_num_add(p->fmt, p->S[to][e], p->S[l][e]);
    for (size_t l = 0; l < to; l++) assert_true(p->full[l]), p->full[l] = false;
    assert_false(p->full[to]);
    p->full[to] = true;
}

/* The base's transition of one matrix, column by column. */
static void paper_age(double *S, const paper *p, const mech_inputs *in, size_t row)
{
    const rung_fmt *fmt = p->fmt;
    size_t dk = p->conf->dk, dv = p->conf->dv;
    const double *k = in->x[IN_K] + row * dk;
    for (size_t i = 0; i < dv; i++) {
        double along = 0;
        for (size_t j = 0; in->x[IN_G] && j < dk; j++)
            S[j * dv + i] = rung_num_mul(fmt, S[j * dv + i], rung_num_fn(fmt, RUNG_FN_EXP, in->x[IN_G][row]));
        if (!in->x[IN_BETA]) continue;
        for (size_t j = 0; j < dk; j++) along = rung_num_add(fmt, along, rung_num_mul(fmt, S[j * dv + i], k[j]));
        double u = rung_num_mul(fmt, in->x[IN_BETA][row], rung_num_sub(fmt, 0, along));
        for (size_t j = 0; j < dk; j++) S[j * dv + i] = rung_num_add(fmt, S[j * dv + i], rung_num_mul(fmt, k[j], u));
    }
}

static void paper_enter(paper *p, const mech_inputs *in, size_t row)
{
    size_t dk = p->conf->dk, dv = p->conf->dv;
    for (size_t i = 0; i < dv; i++) {
        double v = in->x[IN_V][row * dv + i], u = in->x[IN_BETA] ? rung_num_mul(p->fmt, in->x[IN_BETA][row], v) : v;
        for (size_t j = 0; j < dk; j++)
            p->S[0][j * dv + i] = rung_num_add(p->fmt, 0, rung_num_mul(p->fmt, in->x[IN_K][row * dk + j], u));
    }
    p->full[0] = true;
}

static void paper_read(double *o, const paper *p, const mech_inputs *in, size_t row)
{
    size_t dk = p->conf->dk, dv = p->conf->dv, levels = (size_t)rung_mech_param(p->conf, "levels");
    for (size_t i = 0; i < dv; i++) {
        o[i] = 0;
        for (size_t l = LEVELS; l-- > 0;) {
            double y = 0, lambda = in->x[IN_LAMBDA][row * levels + (l < levels ? l : levels - 1)];
            if (!p->full[l]) continue;
            for (size_t j = 0; j < dk; j++)
                y = rung_num_add(p->fmt, y, rung_num_mul(p->fmt, p->S[l][j * dv + i], in->x[IN_Q][row * dk + j]));
            o[i] = rung_num_add(p->fmt, o[i], rung_num_mul(p->fmt, lambda, y));
        }
    }
}

/* One head, so that rows are tokens. */
static void paper_run(paper *p, double *o, const mech_inputs *in)
{
    for (size_t t = 0; t < in->tokens; t++) {
        paper_merge(p, t);
        for (size_t l = 1; l < LEVELS; l++)
            if (p->full[l]) paper_age(p->S[l], p, in, t);
        paper_enter(p, in, t);
        paper_read(o + t * p->conf->dv, p, in, t);
    }
    paper_merge(p, in->tokens);
}

static void compare_bits(const mech_case *c, const char *format, size_t tokens, uint64_t seed)
{
    rung_mech_conf conf = mech_conf(c, 1, 3, 4, true);
    rung_fmt fmt;
    assert_int_equal(rung_fmt_parse(&fmt, format, NULL), RUNG_OK);
    mech_inputs in = draw_inputs(&conf, tokens, false, seed);
    round_inputs(&in, &fmt);
    paper p = {.fmt = &fmt, .conf = &conf};
    double *want = mech_alloc(tokens * 4, sizeof *want), *o = mech_alloc(tokens * 4, sizeof *o);
    double *S = mech_alloc_state(&conf, tokens, sizeof *S);
    paper_run(&p, want, &in);
    for (int form = 0; form < 2; form++) {
        (form ? step_exact : scan_exact)(o, S, &in, 0, tokens, &conf, &fmt);
        assert_same_numbers(o, want, tokens * 4, &conf, format);
        for (size_t l = LEVELS, m = 0; l-- > 0;)
            if (p.full[l]) assert_same_numbers(S + 12 * m++, p.S[l], 12, &conf, "matrix");
    }
    free(want), free(o), free(S), free_inputs(&in);
}

static void exact_forms_follow_the_recurrence_of_the_paper_to_the_bit(void **state)
{
    (void)state;
    static const char *const formats[] = {"f64", "f32", "bf16", "e4m3", "e5m2", "e2m1", "q6.9", "q0.7", "e11m25"};
    for (size_t c = 0; c < RUNG_COUNT(own_cases); c++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
            compare_bits(&own_cases[c], formats[f], 1 + (7 * f + c) % 40, f);
            compare_bits(&own_cases[c], formats[f], f % 2 ? 127 : 150, f + 50);
        }
}

/* ---- against the base ---------------------------------------------------------------------------------------------------- */

/* The levels added up are the base's state, and with weights of one its output. f64 leaves only the order of sums. */
static void with_weights_of_one_it_is_its_base(void **state)
{
    (void)state;
    static const mech_case bases[] = {{"linear", "phi=identity norm=0"}, {"mamba2", ""}, {"gdelta", ""}};
    enum { T = 75, H = 2, DK = 5, DV = 4, STATE = H * DK * DV };
    rung_fmt fmt;
    assert_int_equal(rung_fmt_parse(&fmt, "f64", NULL), RUNG_OK);
    for (size_t c = 0; c < RUNG_COUNT(bases); c++) {
        rung_mech_conf conf = mech_conf(&own_cases[c], H, DK, DV, true), base = mech_conf(&bases[c], H, DK, DV, true);
        double want[T * H * DV], o[T * H * DV], S[STATE] = {0}, *stack = mech_alloc_state(&conf, T, sizeof *stack);
        mech_inputs in = draw_inputs(&conf, T, true, c), plain = in;
        for (size_t e = 0; e < T * in.row[IN_LAMBDA]; e++) in.x[IN_LAMBDA][e] = 1;
        plain.count = 3; /* q, k, v; then g, or beta and g */
        for (size_t i = 3; i < rung_mech_inputs(base.mech); i++) {
            size_t from = strcmp(base.mech->inputs[i].name, "g") == 0 ? IN_G : IN_BETA;
            plain.x[i] = in.x[from], plain.row[i] = in.row[from], plain.rows[i] = in.rows[from], plain.count = i + 1;
        }
        step_exact(o, stack, &in, 0, T, &conf, &fmt);
        step_exact(want, S, &plain, 0, T, &base, &fmt);
        for (size_t i = 0; i < T * H * DV; i++) assert_true(fabs(o[i] - want[i]) < 1e-13);
        for (size_t e = 0; e < STATE; e++) {
            double sum = 0;
            for (size_t m = 0; m < rung_mech_state_elements(&conf, T) / STATE; m++) sum += stack[m * STATE + e];
            assert_true(fabs(sum - S[e]) < 1e-13 && fabs(S[e]) > 0);
        }
        free(stack), free_inputs(&in);
    }
}

/* ---- how many matrices ------------------------------------------------------------------------------------------------------ */

static size_t ones(size_t x)
{
    size_t count = 0;
    for (; x; x /= 2) count += x % 2;
    return count;
}

static void carries_as_many_matrices_as_the_count_has_ones(void **state)
{
    (void)state;
    rung_mech_conf conf = mech_conf(&own_cases[0], 3, 4, 5, true);
    for (size_t t = 0, most = 0; t < 5000; t++) {
        rung_carry carry = conf.mech->carry(&conf, t);
        if (ones(t) > most) most = ones(t);
        assert_int_equal(carry.recurrent, ones(t) * 3 * 4 * 5);
        assert_int_equal(rung_mech_state_elements(&conf, t), carry.recurrent);
        assert_int_equal(rung_mech_state_capacity(&conf, t), most * 3 * 4 * 5);
    }
    assert_int_equal(rung_mech_state_capacity(&conf, SIZE_MAX - 1), 63 * 60);
    assert_int_equal(rung_mech_state_capacity(&conf, SIZE_MAX), 64 * 60);
    for (size_t bit = 0; bit < 64; bit++) /* the whole past is one matrix */
        assert_int_equal(rung_mech_state_elements(&conf, (size_t)1 << bit), 60);
}

/* Numbers of one dimension: k = q = 1, value 2s+1 at token s, so that a bucket [a, b) sums to b^2 - a^2, exactly. */
static mech_inputs odd_numbers(const rung_mech_conf *conf, size_t tokens)
{
    mech_inputs in = draw_inputs(conf, tokens, true, 1);
    for (size_t s = 0; s < tokens; s++) {
        in.x[IN_Q][s] = in.x[IN_K][s] = in.f[IN_Q][s] = in.f[IN_K][s] = 1;
        in.x[IN_V][s] = in.f[IN_V][s] = (float)(2 * s + 1);
    }
    return in;
}

static void assert_squares(double got, size_t from, size_t to, size_t tokens)
{
    if (got != (double)(to * to - from * from))
        fail_msg("after %zu tokens: the matrix of [%zu, %zu) is %g", tokens, from, to, got);
}

static void every_matrix_is_the_sum_of_its_bucket(void **state)
{
    (void)state;
    rung_mech_conf conf = mech_conf(&own_cases[0], 1, 1, 1, true);
    rung_fmt fmt;
    assert_int_equal(rung_fmt_parse(&fmt, "f64", NULL), RUNG_OK);
    for (size_t T = 0; T <= 300; T++) {
        mech_inputs in = odd_numbers(&conf, T);
        double *o = mech_alloc(T, sizeof *o), *S = mech_alloc_state(&conf, T, sizeof *S);
        float *of = mech_alloc(T, sizeof *of), *Sf = mech_alloc_state(&conf, T, sizeof *Sf);
        step_exact(o, S, &in, 0, T, &conf, &fmt);
        scan_f32(of, Sf, &in, 0, T, &conf);
        size_t from = 0, m = 0;
        for (size_t size = 512; size; size /= 2) {
            if (!(T & size)) continue;
            assert_squares(S[m], from, from + size, T), assert_squares(Sf[m], from, from + size, T);
            from += size, m++;
        }
        assert_int_equal(from, T);
        assert_int_equal(m, rung_mech_state_elements(&conf, T));
        free(o), free(S), free(of), free(Sf), free_inputs(&in);
    }
}

static void has_no_meaning_without_a_mask(void **state)
{
    (void)state;
    rung_mech_conf conf = mech_conf(&own_cases[0], 1, 1, 1, true);
    rung_error err = {""};
    conf.causal = false;
    assert_int_equal(rung_mech_check(&conf, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "loglinear has no meaning without a causal mask"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_forms_agree_with_the_mask_form),
        cmocka_unit_test(long_prompts_and_wide_heads_agree_with_the_mask_form),
        cmocka_unit_test(a_decay_of_minus_infinity_forgets_and_nothing_else),
        cmocka_unit_test(exact_forms_follow_the_recurrence_of_the_paper_to_the_bit),
        cmocka_unit_test(with_weights_of_one_it_is_its_base),
        cmocka_unit_test(carries_as_many_matrices_as_the_count_has_ones),
        cmocka_unit_test(every_matrix_is_the_sum_of_its_bucket),
        cmocka_unit_test(has_no_meaning_without_a_mask),
    };
    return cmocka_run_group_tests_name("mech: loglinear", tests, NULL, NULL);
}
