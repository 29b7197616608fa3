/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The mechanisms that take tokens in chunks: against their token loop on random shapes and lengths, in
 * one stretch and in two; the same bytes from every instruction set, forwards and backwards; a number that is not finite does
 * not reach tokens before it; decays that leave nothing over leave no NaN in a gradient; the gradients of rwkv7 are those of a
 * token loop in double.
 */
#include "mech_test.h"

static const double TOLERANCE = 2e-5; /* largest difference over the largest magnitude */

static const mech_case chunked[] = {
    {"linear", ""},
    {"linear", "phi=relu norm=0"},
    {"linear", "phi=taylor2"},
    {"retnet", ""},
    {"gla", ""},
    {"mamba2", ""},
    {"delta", ""},
    {"gdelta", ""},
    {"kda", ""},
    {"mamba", ""},
    {"rwkv7", ""},
    {"loglinear", "base=linear"},
    {"loglinear", "base=mamba2 levels=4"},
    {"loglinear", "base=gdelta"},
};

static size_t between(rung_rng *rng, size_t least, size_t most)
{
    return least + (size_t)rung_rng_below(rng, most - least + 1);
}

/* Sizes around those of registers and panels, and any others. */
static size_t draw_size(rung_rng *rng)
{
    static const size_t edges[] = {1, 15, 16, 17, 31, 32, 33, 64, 65};
    return rung_rng_below(rng, 2) ? edges[rung_rng_below(rng, RUNG_COUNT(edges))] : between(rng, 1, 70);
}

static rung_mech_conf draw_conf(const mech_case *c, bool causal, rung_rng *rng)
{
    size_t heads = between(rng, 1, 3), dk = draw_size(rng), dv = draw_size(rng);
    if (strstr(c->words, "taylor2")) dk = between(rng, 1, 6);
    return mech_conf(c, heads, dk, dv, causal);
}

static void assert_near(const float *got, const float *want, size_t count, const rung_mech_conf *conf, size_t tokens,
                        const char *what)
{
    double size = 0;
    for (size_t i = 0; i < count; i++) size = fmax(size, fabs(want[i]));
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - want[i]) <= TOLERANCE * size + 1e-30))
            fail_msg("%s of %s H=%zu dk=%zu dv=%zu causal=%d T=%zu: element %zu is %g, not %g (largest %g)", what,
                     conf->mech->name, conf->heads, conf->dk, conf->dv, conf->causal, tokens, i, (double)got[i],
                     (double)want[i], size);
}

/* ---- the token loop ---------------------------------------------------------------------------------------------------- */

static void compare(const rung_mech_conf *conf, size_t tokens, size_t cut, uint64_t seed)
{
    mech_inputs in = draw_inputs(conf, tokens, seed % 2, seed);
    size_t outputs = tokens * conf->heads * conf->dv, elements = rung_mech_state_elements(conf, tokens);
    float *want = mech_alloc(outputs, sizeof *want), *o = mech_alloc(outputs, sizeof *o);
    float *left = mech_alloc_state(conf, tokens, sizeof *left), *state = mech_alloc_state(conf, tokens, sizeof *state);
    step_f32(want, left, &in, 0, tokens, conf);
    memset(o, 0xff, outputs * sizeof *o);
    scan_f32(o, state, &in, 0, cut, conf);
    if (cut < tokens) scan_f32(o + cut * conf->heads * conf->dv, state, &in, cut, tokens - cut, conf);
    assert_near(o, want, outputs, conf, tokens, "scan");
    assert_near(state, left, elements, conf, tokens, "state");
    free(want), free(o), free(left), free(state), free_inputs(&in);
}

static void chunks_compute_what_the_token_loop_computes(void **state)
{
    rung_rng rng;
    (void)state;
    rung_rng_init(&rng, 11, 0, 0);
    for (size_t c = 0; c < RUNG_COUNT(chunked); c++)
        for (uint64_t seed = 0; seed < effort(20, 5); seed++) {
            bool causal = seed % 4 != 3 || !mech_allows(&chunked[c], false);
            rung_mech_conf conf = draw_conf(&chunked[c], causal, &rng);
            size_t tokens = between(&rng, 1, 150), cut = causal ? between(&rng, 1, tokens) : tokens;
            compare(&conf, tokens, cut, 100 * c + seed);
        }
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------- */

/* Outputs, the state and all gradients of a stretch. */
typedef struct result {
    size_t outputs, elements, inputs, size[RUNG_MECH_INPUT_MAX];
    float *o, *state, *din[RUNG_MECH_INPUT_MAX];
} result;

static result run_stretch(const mech_inputs *in, const float *g, const rung_mech_conf *conf)
{
    result r = {.outputs = in->tokens * conf->heads * conf->dv,
                .elements = rung_mech_state_elements(conf, in->tokens),
                .inputs = in->count};
    size_t scratch = conf->mech->backward_scratch(conf, in->tokens);
    r.o = mech_alloc(r.outputs, sizeof *r.o), r.state = mech_alloc_state(conf, in->tokens, sizeof *r.state);
    scan_f32(r.o, r.state, in, 0, in->tokens, conf);
    rung_backward b = {.conf = conf, .o = r.o, .g = g, .tokens = in->tokens};
    b.scratch = memset(mech_alloc(scratch, sizeof *b.scratch), 0xff, scratch * sizeof *b.scratch);
    inputs_at_f32(b.in, in, 0);
    for (size_t i = 0; i < in->count; i++) {
        r.size[i] = in->rows[i] * in->row[i];
        b.din[i] = r.din[i] = r.size[i] ? mech_alloc(r.size[i], sizeof *r.din[i]) : NULL;
    }
    for (size_t h = 0; h < conf->heads; h++) conf->mech->backward_f32(&b, h);
    free(b.scratch);
    return r;
}

static void free_result(result *r)
{
    for (size_t i = 0; i < r->inputs; i++) free(r->din[i]);
    free(r->o), free(r->state);
}

static float *draw_upstream(size_t n, uint64_t seed)
{
    rung_rng rng;
    rung_rng_init(&rng, seed, 3, 0);
    float *g = mech_alloc(n, sizeof *g);
    for (size_t i = 0; i < n; i++) g[i] = (float)rung_rng_normal(&rng);
    return g;
}

static void allow_isa(const char *name)
{
    if (name)
        setenv("RUNG_ISA", name, 1);
    else
        unsetenv("RUNG_ISA");
    rung_cpu_forget();
}

static void compare_sets(const rung_mech_conf *conf, size_t tokens, uint64_t seed)
{
    static const char *const sets[] = {"avx2", "avx512", "neon"};
    mech_inputs in = draw_inputs(conf, tokens, true, seed);
    float *g = draw_upstream(tokens * conf->heads * conf->dv, seed);
    allow_isa("ref");
    result want = run_stretch(&in, g, conf);
    for (size_t s = 0; s < RUNG_COUNT(sets); s++) {
        allow_isa(sets[s]);
        result got = run_stretch(&in, g, conf);
        assert_memory_equal(got.o, want.o, want.outputs * sizeof *got.o);
        assert_memory_equal(got.state, want.state, want.elements * sizeof *got.state);
        for (size_t i = 0; i < got.inputs; i++)
            if (got.size[i]) assert_memory_equal(got.din[i], want.din[i], got.size[i] * sizeof **got.din);
        free_result(&got);
    }
    allow_isa(NULL);
    free_result(&want), free(g), free_inputs(&in);
}

static void every_instruction_set_gives_the_same_bytes(void **state)
{
    rung_rng rng;
    (void)state;
    rung_rng_init(&rng, 12, 0, 0);
    for (size_t c = 0; c < RUNG_COUNT(chunked); c++)
        for (uint64_t seed = 0; seed < effort(5, 2); seed++) {
            rung_mech_conf conf = draw_conf(&chunked[c], seed % 3 != 2 || !mech_allows(&chunked[c], false), &rng);
            compare_sets(&conf, between(&rng, 1, 80), 10 * c + seed);
        }
}

/* ---- what is not finite ------------------------------------------------------------------------------------------------- */

static void a_nan_does_not_reach_tokens_before_it(void **state)
{
    enum { T = 75, H = 2, D = 18 };
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(chunked); c++)
        for (size_t bad = 3; bad < T; bad += 17)
            for (size_t input = 0; input < 3; input++) {
                rung_mech_conf conf = mech_conf(&chunked[c], H, strstr(chunked[c].words, "taylor2") ? 3 : D, D, true);
                size_t each = input == 2 ? conf.dv : conf.dk, row = H * conf.dv;
                mech_inputs in = draw_inputs(&conf, T, true, c);
                float *o = mech_alloc(T * row, sizeof *o), *left = mech_alloc_state(&conf, T, sizeof *left);
                in.f[input][(bad * H + 1) * each] = NAN;
                scan_f32(o, left, &in, 0, T, &conf);
                for (size_t i = 0; i < T * row; i++)
                    if (isnan(o[i]) && (i / row < bad || i / D % H == 0))
                        fail_msg("%s %s: a NaN in %s of token %zu is in output %zu", chunked[c].name, chunked[c].words,
                                 conf.mech->inputs[input].name, bad, i);
                assert_true(isnan(o[bad * row + D]));
                free(o), free(left), free_inputs(&in);
            }
}

static void decays_that_leave_nothing_leave_finite_gradients(void **state)
{
    static const float strong[] = {-0.0f, -1e-3f, -20, -87, -104, -1e5f, -INFINITY};
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(chunked); c++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            rung_mech_conf conf = mech_conf(&chunked[c], 1, strstr(chunked[c].words, "taylor2") ? 3 : 20, 7, true);
            mech_inputs in = draw_inputs(&conf, 70, true, seed);
            float *g = draw_upstream(70 * conf.dv, seed);
            rung_rng rng;
            rung_rng_init(&rng, seed, 4, 0);
            for (size_t i = 0; i < in.count; i++)
                for (size_t e = 0; is_log_decay(&conf.mech->inputs[i]) && e < in.rows[i] * in.row[i]; e++)
                    in.f[i][e] = strong[rung_rng_below(&rng, RUNG_COUNT(strong))];
            result r = run_stretch(&in, g, &conf);
            for (size_t i = 0; i < r.inputs; i++)
                for (size_t e = 0; e < r.size[i]; e++)
                    if (!isfinite(r.din[i][e]))
                        fail_msg("%s %s: gradient %zu of %s is %g", chunked[c].name, chunked[c].words, e,
                                 conf.mech->inputs[i].name, (double)r.din[i][e]);
            free_result(&r), free(g), free_inputs(&in);
        }
}

/* ---- gradients of rwkv7 ------------------------------------------------------------------------------------------------ */

/* One head of rwkv7 in double, token by token: S[t] after t tokens, the gradients by the chain rule of each update. */
enum { RW_R, RW_W, RW_K, RW_V, RW_A, RW_B, RW_INPUTS };

typedef struct slow_head {
    size_t tokens, dk, dv;
    const float *x[RW_INPUTS], *g; /* the head's rows, each `row` apart */
    size_t row[RW_INPUTS], g_row;
    double *S, *dx[RW_INPUTS], *D; /* D: of the last state, then of the first */
} slow_head;

static double slow_at(const slow_head *h, size_t which, size_t t, size_t i)
{
    return h->x[which][t * h->row[which] + i];
}

/* s = S^T a before token t, or ds = D^T b after it. */
static double slow_meet(const slow_head *h, const double *S, size_t which, size_t t, size_t c)
{
    double sum = 0;
    for (size_t j = 0; j < h->dk; j++) sum += S[j * h->dv + c] * slow_at(h, which, t, j);
    return sum;
}

static void slow_forwards(slow_head *h)
{
    for (size_t t = 0; t < h->tokens; t++)
        for (size_t c = 0; c < h->dv; c++) {
            const double *before = h->S + t * h->dk * h->dv;
            double s = slow_meet(h, before, RW_A, t, c);
            for (size_t j = 0; j < h->dk; j++)
                h->S[(t + 1) * h->dk * h->dv + j * h->dv + c] = slow_at(h, RW_W, t, j) * before[j * h->dv + c] +
                                                                slow_at(h, RW_B, t, j) * s +
                                                                slow_at(h, RW_K, t, j) * slow_at(h, RW_V, t, c);
        }
}

static void slow_read(slow_head *h, size_t t, const double *S)
{
    for (size_t j = 0; j < h->dk; j++)
        for (size_t c = 0; c < h->dv; c++) {
            double g = h->g[t * h->g_row + c];
            h->dx[RW_R][t * h->dk + j] += S[j * h->dv + c] * g;
            h->D[j * h->dv + c] += slow_at(h, RW_R, t, j) * g;
        }
}

static void slow_backwards(slow_head *h, bool causal)
{
    size_t dk = h->dk, dv = h->dv, size = dk * dv;
    for (size_t t = 0; !causal && t < h->tokens; t++) slow_read(h, t, h->S + h->tokens * size);
    for (size_t t = h->tokens; t-- > 0;) {
        const double *before = h->S + t * size;
        if (causal) slow_read(h, t, before + size);
        for (size_t c = 0; c < dv; c++) {
            double s = slow_meet(h, before, RW_A, t, c), ds = slow_meet(h, h->D, RW_B, t, c);
            for (size_t j = 0; j < dk; j++) {
                double *D = &h->D[j * dv + c], S = before[j * dv + c];
                h->dx[RW_W][t * dk + j] += S * *D;
                h->dx[RW_B][t * dk + j] += s * *D;
                h->dx[RW_K][t * dk + j] += slow_at(h, RW_V, t, c) * *D;
                h->dx[RW_V][t * dv + c] += slow_at(h, RW_K, t, j) * *D;
                h->dx[RW_A][t * dk + j] += S * ds;
                *D = slow_at(h, RW_W, t, j) * *D + slow_at(h, RW_A, t, j) * ds;
            }
        }
    }
}

static void assert_rows_near(const float *got, size_t row, const double *want, size_t tokens, size_t width,
                             const char *what)
{
    double size = 0;
    for (size_t i = 0; i < tokens * width; i++) size = fmax(size, fabs(want[i]));
    for (size_t t = 0; t < tokens; t++)
        for (size_t i = 0; i < width; i++)
            if (!(fabs(got[t * row + i] - want[t * width + i]) <= TOLERANCE * size + 1e-30))
                fail_msg("%s of rwkv7, T=%zu, %zu numbers: token %zu has %g, not %g (largest %g)", what, tokens, width,
                         t, (double)got[t * row + i], want[t * width + i], size);
}

static double *doubles(size_t count, const float *from)
{
    double *x = calloc(count ? count : 1, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; from && i < count; i++) x[i] = from[i];
    return x;
}

static void compare_head(const mech_inputs *in, const rung_backward *b, const float *dstate, size_t head)
{
    const rung_mech_conf *conf = b->conf;
    size_t dk = conf->dk, dv = conf->dv, size = dk * dv;
    slow_head h = {.tokens = b->tokens, .dk = dk, .dv = dv, .g = b->g + head * dv, .g_row = conf->heads * dv};
    h.S = doubles((b->tokens + 1) * size, NULL), h.D = doubles(size, dstate + head * size);
    for (size_t i = 0; i < size; i++) h.S[i] = b->state[head * size + i];
    for (size_t i = 0; i < RW_INPUTS; i++) {
        size_t width = i == RW_V ? dv : dk;
        h.x[i] = in->f[i] + head * width, h.row[i] = conf->heads * width;
        h.dx[i] = doubles(b->tokens * width, NULL);
    }
    slow_forwards(&h);
    slow_backwards(&h, conf->causal);
    for (size_t i = 0; i < RW_INPUTS; i++) {
        size_t width = i == RW_V ? dv : dk;
        assert_rows_near(b->din[i] + head * width, conf->heads * width, h.dx[i], b->tokens, width,
                         conf->mech->inputs[i].name);
        free(h.dx[i]);
    }
    assert_rows_near(b->dstate + head * size, dv, h.D, dk, dv, "the state before");
    free(h.S), free(h.D);
}

static void compare_rwkv7(const rung_mech_conf *conf, size_t tokens, uint64_t seed)
{
    mech_inputs in = draw_inputs(conf, tokens, true, seed);
    size_t outputs = tokens * conf->heads * conf->dv, elements = rung_mech_state_elements(conf, tokens),
           scratch = conf->mech->backward_scratch(conf, tokens);
    float *g = draw_upstream(outputs, seed), *state = draw_upstream(elements, seed + 1),
          *last = draw_upstream(elements, seed + 2), *dstate = mech_alloc(elements, sizeof *dstate);
    rung_backward b = {.conf = conf, .g = g, .state = state, .dstate = dstate, .tokens = tokens};
    for (size_t i = 0; i < tokens * conf->heads * conf->dk; i += 7) in.f[RW_W][i] = i % 2 ? 0 : 1;
    b.scratch = memset(mech_alloc(scratch, sizeof *b.scratch), 0xff, scratch * sizeof *b.scratch);
    memcpy(dstate, last, elements * sizeof *dstate);
    inputs_at_f32(b.in, &in, 0);
    for (size_t i = 0; i < in.count; i++) b.din[i] = mech_alloc(in.rows[i] * in.row[i], sizeof *b.din[i]);
    for (size_t h = 0; h < conf->heads; h++) conf->mech->backward_f32(&b, h);
    for (size_t h = 0; h < conf->heads; h++) compare_head(&in, &b, last, h);
    for (size_t i = 0; i < in.count; i++) free(b.din[i]);
    free(b.scratch), free(g), free(state), free(last), free(dstate), free_inputs(&in);
}

static void chunks_of_rwkv7_go_back_as_token_by_token(void **state)
{
    static const mech_case rwkv7 = {"rwkv7", ""};
    rung_rng rng;
    (void)state;
    rung_rng_init(&rng, 12, 0, 0);
    for (uint64_t seed = 0; seed < effort(60, 10); seed++) {
        rung_mech_conf conf = draw_conf(&rwkv7, seed % 4 != 3, &rng);
        compare_rwkv7(&conf, between(&rng, 1, 100), seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_compute_what_the_token_loop_computes),
        cmocka_unit_test(every_instruction_set_gives_the_same_bytes),
        cmocka_unit_test(a_nan_does_not_reach_tokens_before_it),
        cmocka_unit_test(decays_that_leave_nothing_leave_finite_gradients),
        cmocka_unit_test(chunks_of_rwkv7_go_back_as_token_by_token),
    };
    return cmocka_run_group_tests_name("mech: chunks", tests, NULL, NULL);
}
