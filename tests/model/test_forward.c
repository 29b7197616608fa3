/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Whole models a second way: a straightforward forward pass in plain double from the tensors of the file, written here
 * from the equations alone, against the fast evaluator and against the exact one in f64.
 */
#include "model_test.h"

/* ---- tensors of the file --------------------------------------------------------------------------------------------- */

typedef struct world {
    rung_safetensors *file;
    const rung_model_spec *spec;
    const rung_arch *arch;
    size_t T;
    rung_arena arena;
} world;

/* NULL when the file has no such tensor. */
static double *tensor(world *w, const char *name)
{
    const rung_tensor *t = rung_safetensors_get(w->file, name);
    if (!t) return NULL;
    double *x = zeros(&w->arena, t->elements);
    CHECK(rung_tensor_to_f64(x, t, &check_err));
    return x;
}

/* y [T][rows] = x [T][cols] W^T + b */
static double *affine(world *w, const char *prefix, const double *x, size_t rows, size_t cols)
{
    char name[128];
    snprintf(name, sizeof name, "%s.weight", prefix);
    double *W = tensor(w, name), *y = zeros(&w->arena, w->T * rows);
    snprintf(name, sizeof name, "%s.bias", prefix);
    double *b = tensor(w, name);
    assert_non_null(W);
    for (size_t t = 0; t < w->T; t++)
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < cols; j++) y[t * rows + i] += W[i * cols + j] * x[t * cols + j];
            if (b) y[t * rows + i] += b[i];
        }
    return y;
}

static double *normed(world *w, const char *prefix, const double *x)
{
    char name[128];
    size_t d = w->spec->d_model;
    double *y = zeros(&w->arena, w->T * d);
    memcpy(y, x, w->T * d * sizeof *y);
    if (w->spec->norm == RUNG_NORM_NONE) return y;
    snprintf(name, sizeof name, "%s.weight", prefix);
    double *weight = tensor(w, name);
    snprintf(name, sizeof name, "%s.bias", prefix);
    double *bias = tensor(w, name);
    for (size_t t = 0; t < w->T; t++) {
        double mean = 0, square = 0;
        for (size_t i = 0; w->spec->norm == RUNG_NORM_LAYER && i < d; i++) mean += x[t * d + i] / (double)d;
        for (size_t i = 0; i < d; i++) square += pow(x[t * d + i] - mean, 2) / (double)d;
        for (size_t i = 0; i < d; i++)
            y[t * d + i] = (x[t * d + i] - mean) / sqrt(square + 1e-5) * weight[i] + (bias ? bias[i] : 0);
    }
    return y;
}

/* ---- mechanisms ---------------------------------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* The weight of token j for query t before normalising. */
static double kernel(const double *q, const double *k, const rung_mech_conf *conf)
{
    double s = dot(q, k, conf->dk), sum = 0;
    if (strcmp(conf->mech->name, "linear") != 0) return exp(s);
    int64_t phi = rung_mech_param(conf, "phi");
    if (phi == 2) return s;
    if (phi == 3) return 1 + s + s * s / 2;
    for (size_t i = 0; i < conf->dk; i++) {
        double a = q[i], b = k[i];
        sum += phi == 1 ? fmax(a, 0) * fmax(b, 0) : (a > 0 ? a + 1 : exp(a)) * (b > 0 ? b + 1 : exp(b));
    }
    return sum;
}

static void attend(double *o, double *const *in, const rung_mech_conf *conf, size_t T, size_t h)
{
    size_t H = conf->heads, W = strcmp(conf->mech->name, "window") == 0 ? (size_t)rung_mech_param(conf, "W") : T;
    bool divide = strcmp(conf->mech->name, "linear") != 0 || rung_mech_param(conf, "norm");
    for (size_t t = 0; t < T; t++) {
        double sum = 0, *out = o + (t * H + h) * conf->dv;
        for (size_t j = 0; j < T; j++) {
            if ((conf->causal && j > t) || (t > j ? t - j : j - t) >= W) continue;
            double w = kernel(in[0] + (t * H + h) * conf->dk, in[1] + (j * H + h) * conf->dk, conf);
            for (size_t i = 0; i < conf->dv; i++) out[i] += w * in[2][(j * H + h) * conf->dv + i];
            sum += w;
        }
        for (size_t i = 0; divide && i < conf->dv; i++) out[i] /= sum;
    }
}

/* M [dv][dk]: M <- a M, then M <- M + beta (v - M k) k^T. */
static void delta(double *o, double *const *in, const rung_mech_conf *conf, size_t T, size_t h, double *M)
{
    size_t H = conf->heads, dk = conf->dk, dv = conf->dv;
    bool gated = strcmp(conf->mech->name, "gdelta") == 0;
    memset(M, 0, dk * dv * sizeof *M);
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t t = 0; t < T; t++) {
            const double *q = in[0] + (t * H + h) * dk, *k = in[1] + (t * H + h) * dk, *v = in[2] + (t * H + h) * dv;
            for (size_t i = 0; pass == 0 && i < dv; i++) {
                double decay = gated ? exp(in[4][t * H + h]) : 1;
                for (size_t j = 0; j < dk; j++) M[i * dk + j] *= decay;
                double miss = in[3][t * H + h] * (v[i] - dot(M + i * dk, k, dk));
                for (size_t j = 0; j < dk; j++) M[i * dk + j] += miss * k[j];
            }
            if ((pass == 0) == conf->causal)
                for (size_t i = 0; i < dv; i++) o[(t * H + h) * dv + i] = dot(M + i * dk, q, dk);
        }
}

static void rotate(world *w, double *x, const rung_mech_conf *conf)
{
    double *c = tensor(w, "rotary.cos"), *s = tensor(w, "rotary.sin");
    size_t half = conf->dk / 2;
    for (size_t t = 0; t < w->T; t++)
        for (size_t e = 0; e < conf->heads * half; e++) {
            size_t i = e % half;
            double *a = x + (t * conf->heads + e / half) * conf->dk + i, *b = a + half, old = *a;
            *a = old * c[t * half + i] - *b * s[t * half + i];
            *b = *b * c[t * half + i] + old * s[t * half + i];
        }
}

/* q, k, v, beta, g by their names in the file. */
static void make_inputs(world *w, double **in, const char *prefix, const double *h, const rung_mech_conf *conf)
{
    char name[256];
    static const char *const names[] = {"q", "k", "v", "beta", "g"};
    size_t rows[] = {conf->heads * conf->dk, conf->heads * conf->dk, conf->heads * conf->dv, conf->heads, conf->heads};
    size_t count = strcmp(conf->mech->name, "gdelta") == 0 ? 5 : strcmp(conf->mech->name, "delta") == 0 ? 4 : 3;
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s.%s", prefix, names[i]);
        in[i] = affine(w, name, h, rows[i], w->spec->d_model);
        if (i < 2 && w->spec->positions == RUNG_POS_ROTARY) rotate(w, in[i], conf);
        for (size_t e = 0; i == 3 && e < w->T * rows[i]; e++) in[i][e] = 1 / (1 + exp(-in[i][e]));
        if (i != 4) continue;
        snprintf(name, sizeof name, "%s.g.A", prefix);
        double *A = tensor(w, name);
        for (size_t e = 0; e < w->T * rows[i]; e++) in[i][e] = -exp(A[e % conf->heads]) * log(1 + exp(in[i][e]));
    }
}

static void mix(world *w, double *x, size_t layer)
{
    char name[128];
    size_t width = 0, offset = 0, d = w->spec->d_model;
    const rung_layer *groups = &w->arch->layer[layer];
    for (size_t g = 0; g < groups->group_count; g++) width += groups->group[g].heads * groups->group[g].dv;
    double *all = zeros(&w->arena, w->T * width);
    snprintf(name, sizeof name, "layers.%zu.norm1", layer);
    double *h = normed(w, name, x);
    for (size_t g = 0; g < groups->group_count; g++) {
        const rung_mech_conf *conf = &groups->group[g];
        double *in[8] = {0}, *o = zeros(&w->arena, w->T * conf->heads * conf->dv),
               *M = zeros(&w->arena, conf->dk * conf->dv);
        size_t row = conf->heads * conf->dv;
        snprintf(name, sizeof name, "layers.%zu.mix.%zu", layer, g);
        make_inputs(w, in, name, h, conf);
        for (size_t head = 0; head < conf->heads; head++) {
            if (strstr(conf->mech->name, "delta"))
                delta(o, in, conf, w->T, head, M);
            else
                attend(o, in, conf, w->T, head);
        }
        for (size_t e = 0; e < w->T * row; e++) all[e / row * width + offset + e % row] = o[e];
        offset += row;
    }
    snprintf(name, sizeof name, "layers.%zu.out", layer);
    double *y = affine(w, name, all, d, width);
    for (size_t e = 0; e < w->T * d; e++) x[e] += y[e];
}

static void mlp(world *w, double *x, size_t layer, rung_mlp kind)
{
    char name[128];
    size_t d = w->spec->d_model, hidden = w->spec->d_mlp;
    if (kind == RUNG_MLP_NONE) return;
    snprintf(name, sizeof name, "layers.%zu.norm2", layer);
    double *h = normed(w, name, x);
    snprintf(name, sizeof name, "layers.%zu.mlp.up", layer);
    double *up = affine(w, name, h, hidden, d);
    snprintf(name, sizeof name, "layers.%zu.mlp.gate", layer);
    double *gate = kind == RUNG_MLP_SWIGLU || kind == RUNG_MLP_GEGLU_TANH ? affine(w, name, h, hidden, d) : NULL;
    for (size_t e = 0; e < w->T * hidden; e++) {
        if (kind == RUNG_MLP_RELU) up[e] = fmax(up[e], 0);
        if (kind == RUNG_MLP_GELU) up[e] = up[e] / 2 * (1 + erf(up[e] / sqrt(2)));
        if (kind == RUNG_MLP_GELU_TANH)
            up[e] = up[e] / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (up[e] + 0.044715 * up[e] * up[e] * up[e])));
        if (kind == RUNG_MLP_GEGLU_TANH)
            up[e] *= gate[e] / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (gate[e] + 0.044715 * pow(gate[e], 3))));
        if (kind == RUNG_MLP_SWIGLU) up[e] *= gate[e] / (1 + exp(-gate[e]));
    }
    snprintf(name, sizeof name, "layers.%zu.mlp.down", layer);
    double *y = affine(w, name, up, d, hidden);
    for (size_t e = 0; e < w->T * d; e++) x[e] += y[e];
}

static void forward(double *out, const rung_model *model, const test_prompt *p)
{
    world w = {.spec = rung_model_get_spec(model), .arch = rung_model_get_arch(model), .T = p->tokens};
    size_t d = w.spec->d_model;
    rung_arena_init(&w.arena);
    CHECK(rung_safetensors_open(&w.file, test_path(), &check_err));
    double *raw = zeros(&w.arena, w.T * w.spec->d_in), *x = zeros(&w.arena, w.T * d);
    for (size_t i = 0; i < w.T * w.spec->d_in; i++) raw[i] = p->feature[i];
    if (w.spec->d_in) x = affine(&w, "embed", raw, d, w.spec->d_in);
    double *embed = w.spec->vocab ? tensor(&w, "embed.weight") : NULL, *positions = tensor(&w, "positions");
    for (size_t e = 0; e < w.T * d; e++) {
        if (embed) x[e] = embed[p->token[e / d] * d + e % d];
        if (positions) x[e] += positions[e];
    }
    for (size_t i = 0; i < w.arch->layer_count; i++) {
        mix(&w, x, i);
        mlp(&w, x, i, rung_model_mlp(model, i));
    }
    double *y = affine(&w, "readout", normed(&w, "final_norm", x), w.spec->answers, d);
    memcpy(out, y, w.T * w.spec->answers * sizeof *out);
    rung_safetensors_close(w.file);
    rung_arena_clear(&w.arena);
}

/* ---- comparison ------------------------------------------------------------------------------------------------------------ */

static void compare(const rung_model_spec *spec, size_t tokens, uint64_t seed)
{
    double want[PROMPT_MAX * 8], got[PROMPT_MAX * 8];
    char what[256];
    rung_model *model = edited_model(spec, seed, seed % 2);
    test_prompt p = draw_prompt(spec, tokens, seed);
    forward(want, model, &p);
    for (rung_form form = RUNG_FORM_SCAN; form <= RUNG_FORM_STEP; form++) {
        snprintf(what, sizeof what, "%s, mlp %s, positions %d, norm %d, causal %d, d_in %zu, form %d", spec->arch,
                 spec->mlp, spec->positions, spec->norm, spec->causal, spec->d_in, form);
        run_model(got, model, NULL, &p, form, 2);
        assert_close(got, want, tokens * spec->answers, 1e-4, what);
        run_model(got, model, "f64", &p, form, 2);
        assert_close(got, want, tokens * spec->answers, 1e-10, what);
    }
    rung_model_close(model);
}

/* phi=identity has a normaliser that may be near zero, so it appears without. */
static const char *const arches[] = {
    "full",
    "window:W=3",
    "linear",
    "linear:phi=identity:norm=0",
    "linear:phi=taylor2",
    "delta",
    "gdelta",
    "full,linear,gdelta",
    "2*(window:W=5,delta)",
    "full@1|linear@2",
    "full:dv=5@2|gdelta:dv=1@1|window:W=2@3,linear:phi=relu:norm=0",
};

static void every_kind_of_model_agrees_with_plain_double(void **state)
{
    (void)state;
    static const char *const mlps[] = {"none", "relu", "gelu", "swiglu", "gelu_tanh", "geglu_tanh"};
    uint64_t seed = 0;
    for (size_t a = 0; a < RUNG_COUNT(arches); a++)
        for (int positions = RUNG_POS_NONE; positions <= RUNG_POS_ROTARY; positions++)
            for (int norm = RUNG_NORM_NONE; norm <= RUNG_NORM_LAYER; norm++, seed++) {
                rung_model_spec spec = small_spec(arches[a]);
                spec.positions = (rung_positions)positions, spec.norm = (rung_norm)norm;
                spec.mlp = mlps[seed % 5], spec.causal = seed % 3 != 0;
                if (seed % 5 == 0) spec.vocab = 0, spec.d_in = 3;
                compare(&spec, 1 + seed % 30, seed);
            }
}

static void every_layer_may_have_its_own_mlp(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("full,linear,delta,window,linear");
    spec.mlp = "relu,none,swiglu,gelu,gelu_tanh", spec.norm = RUNG_NORM_RMS;
    compare(&spec, 20, 1001);
}

static void a_longer_prompt_than_a_chunk(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("full,gdelta,linear,delta,window:W=70");
    spec.mlp = "gelu", spec.norm = RUNG_NORM_LAYER;
    compare(&spec, 150, 1003);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_model_agrees_with_plain_double),
        cmocka_unit_test(every_layer_may_have_its_own_mlp),
        cmocka_unit_test(a_longer_prompt_than_a_chunk),
    };
    return cmocka_run_group_tests_name("model: forward", tests, NULL, remove_test_file);
}
