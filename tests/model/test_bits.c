/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The exact evaluator on whole models, bit for bit against a second walk that is written here from docs/numbers.md and
 * the comments of the headers: scalar operations, one rounding each, dot products from index 0 upwards, the bias last,
 * weights and features rounded to the format first. Only the step form of the mechanism itself is taken from the
 * library, which has tests of its own. With mixed formats numbers are stored where docs/numbers.md says so; how one
 * number is stored has tests of its own as well (tests/num/test_stored.c). Every mechanism of the registry with every word of its parameters, and what a
 * layer puts around it: convolutions, gates, decays, unit vectors, rotary positions, norms, MLPs.
 */
#include "model_test.h"

/* ---- the second walk ------------------------------------------------------------------------------------------------------ */

typedef struct world {
    rung_safetensors *file;
    const rung_model_spec *spec;
    rung_fmt fmt;
    rung_numbers n;
    size_t T, chunk; /* chunk: read from the text, not by the library */
    rung_arena arena;
} world;

static double plus(const world *w, double a, double b)
{
    return rung_num_add(&w->fmt, a, b);
}

static double minus(const world *w, double a, double b)
{
    return rung_num_sub(&w->fmt, a, b);
}

static double times(const world *w, double a, double b)
{
    return rung_num_mul(&w->fmt, a, b);
}

static double over(const world *w, double a, double b)
{
    return rung_num_div(&w->fmt, a, b);
}

static double fn(const world *w, rung_fn function, double x)
{
    return rung_num_fn(&w->fmt, function, x);
}

static double constant(const world *w, double x)
{
    return rung_num_round(&w->fmt, x);
}

static void keep_rows(const world *w, rung_quantity q, double *x, size_t rows, size_t row)
{
    rung_stored_keep(&w->n.of[q], &w->fmt, x, rows, row, NULL, NULL);
}

static void keep(const world *w, rung_quantity q, double *x, size_t count)
{
    keep_rows(w, q, x, 1, count);
}

/* Rates of decays are gates; scales are for the matrices of layers only. */
static rung_quantity quantity_of(const world *w, const char *name)
{
    size_t len = strlen(name);
    if (strcmp(name + len - 2, ".A") == 0) return RUNG_QUANTITY_GATE;
    bool matrix = strstr(name, ".weight") && strncmp(name, "layers", 6) == 0 && !strstr(name, "norm");
    return matrix || w->n.of[RUNG_QUANTITY_WEIGHTS].scaling == RUNG_SCALE_NONE ? RUNG_QUANTITY_WEIGHTS
                                                                               : RUNG_QUANTITY_ACT;
}

/* prefix + suffix, rounded to the format; NULL when the file has no such tensor. */
static double *tensor(world *w, const char *prefix, const char *suffix)
{
    char name[256];
    snprintf(name, sizeof name, "%s%s", prefix, suffix);
    const rung_tensor *t = rung_safetensors_get(w->file, name);
    if (!t) return NULL;
    double *x = zeros(&w->arena, t->elements);
    CHECK(rung_tensor_to_f64(x, t, &check_err));
    size_t row = t->rank == 2 ? t->shape[1] : t->elements;
    keep_rows(w, quantity_of(w, name), x, t->elements / row, row);
    return x;
}

/* y [T][rows] = x [T][cols] W^T + b */
static double *affine(world *w, const char *prefix, const double *x, size_t rows, size_t cols)
{
    double *W = tensor(w, prefix, ".weight"), *b = tensor(w, prefix, ".bias"), *y = zeros(&w->arena, w->T * rows);
    assert_non_null(W);
    for (size_t t = 0; t < w->T; t++)
        for (size_t i = 0; i < rows; i++) {
            double sum = 0;
            for (size_t j = 0; j < cols; j++) sum = plus(w, sum, times(w, W[i * cols + j], x[t * cols + j]));
            y[t * rows + i] = b ? plus(w, sum, b[i]) : sum;
        }
    keep(w, RUNG_QUANTITY_ACT, y, w->T * rows);
    return y;
}

static double sum_of_squares(const world *w, const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum = plus(w, sum, times(w, x[i], x[i]));
    return sum;
}

/* In place: (x / sqrt(mean of x^2 + epsilon)) weight (+ bias) */
static void rms(const world *w, double *x, size_t n, const double *weight, const double *bias)
{
    double square = over(w, sum_of_squares(w, x, n), constant(w, (double)n));
    double root =
        fn(w, RUNG_FN_SQRT, plus(w, square, constant(w, w->spec->norm_epsilon > 0 ? w->spec->norm_epsilon : 1e-5)));
    for (size_t i = 0; i < n; i++) {
        x[i] = times(w, over(w, x[i], root), weight[i]);
        if (bias) x[i] = plus(w, x[i], bias[i]);
    }
}

static double *normed(world *w, const char *prefix, const double *x)
{
    size_t d = w->spec->d_model;
    double *y = zeros(&w->arena, w->T * d), *weight = tensor(w, prefix, ".weight"), *bias = tensor(w, prefix, ".bias");
    memcpy(y, x, w->T * d * sizeof *y);
    if (w->spec->norm == RUNG_NORM_NONE) return y;
    for (size_t t = 0; t < w->T; t++) {
        double sum = 0;
        for (size_t i = 0; i < d; i++) sum = plus(w, sum, x[t * d + i]);
        double mean = over(w, sum, constant(w, (double)d));
        for (size_t i = 0; w->spec->norm == RUNG_NORM_LAYER && i < d; i++) y[t * d + i] = minus(w, x[t * d + i], mean);
        rms(w, y + t * d, d, weight, bias);
    }
    keep(w, RUNG_QUANTITY_ACT, y, w->T * d);
    return y;
}

static double gelu_tanh(const world *w, double x)
{
    double square = times(w, times(w, x, x), rung_num_round(&w->fmt, 0.044715));
    double cubic = times(w, rung_num_add(&w->fmt, square, rung_num_round(&w->fmt, 1)), x);
    return times(w, x, fn(w, RUNG_FN_SIGMOID, times(w, cubic, rung_num_round(&w->fmt, 1.5957691216057308))));
}

static double silu(const world *w, double x)
{
    return times(w, x, fn(w, RUNG_FN_SIGMOID, x));
}

/* ---- inputs of a mechanism ----------------------------------------------------------------------------------------------- */

/* Taps [row][width] in the file, the oldest first; before the first token there are zeros. */
static void convolve(world *w, double *y, const double *taps, size_t row, size_t width)
{
    double *x = zeros(&w->arena, w->T * row);
    memcpy(x, y, w->T * row * sizeof *x);
    for (size_t t = 0; t < w->T; t++)
        for (size_t c = 0; c < row; c++) {
            double sum = 0;
            for (size_t i = 0; i < width; i++) {
                double old = t + i + 1 >= width ? x[(t + i + 1 - width) * row + c] : 0;
                sum = plus(w, sum, times(w, taps[c * width + i], old));
            }
            y[t * row + c] = silu(w, sum);
        }
    keep(w, RUNG_QUANTITY_ACT, y, w->T * row);
}

static void unit_vectors(const world *w, double *x, size_t rows, size_t n)
{
    for (size_t r = 0; r < rows; r++) {
        double root = fn(w, RUNG_FN_SQRT, plus(w, sum_of_squares(w, x + r * n, n), constant(w, 1e-6)));
        for (size_t i = 0; i < n; i++) x[r * n + i] = over(w, x[r * n + i], root);
    }
    keep(w, RUNG_QUANTITY_ACT, x, rows * n);
}

static void rotate(world *w, double *x, size_t heads, size_t dk)
{
    double *c = tensor(w, "rotary.cos", ""), *s = tensor(w, "rotary.sin", "");
    size_t half = dk / 2;
    for (size_t t = 0; c && t < w->T; t++)
        for (size_t e = 0; e < heads * half; e++) {
            size_t at = t * half + e % half;
            double *a = x + (t * heads + e / half) * dk + e % half, *b = a + half, old = *a;
            *a = minus(w, times(w, old, c[at]), times(w, *b, s[at]));
            *b = plus(w, times(w, *b, c[at]), times(w, old, s[at]));
        }
    keep(w, RUNG_QUANTITY_ACT, x, w->T * heads * dk);
}

/* Element by element; `before` is the element of the input before this one. */
static double source(const world *w, rung_mech_source from, double x, double before)
{
    switch (from) {
    case RUNG_FROM_GATE:
        return fn(w, RUNG_FN_SIGMOID, x);
    case RUNG_FROM_DECAY:
    case RUNG_FROM_SOFTPLUS:
        return fn(w, RUNG_FN_SOFTPLUS, x);
    case RUNG_FROM_LOG_GATE:
        return over(w, minus(w, 0, fn(w, RUNG_FN_SOFTPLUS, minus(w, 0, x))), constant(w, 16));
    case RUNG_FROM_KEEP:
        return fn(w, RUNG_FN_EXP, minus(w, 0, times(w, constant(w, exp(-0.5)), fn(w, RUNG_FN_SIGMOID, x))));
    case RUNG_FROM_REMOVAL:
        return minus(w, 0, x);
    case RUNG_FROM_REPLACEMENT:
        return minus(w, 0, times(w, fn(w, RUNG_FN_SIGMOID, x), before));
    default:
        return x;
    }
}

static double *make_input(world *w, const char *name, const rung_mech_input *input, const rung_mech_conf *conf,
                          const double *h, const double *before)
{
    size_t row = rung_mech_row(input, conf);
    bool query_or_key = strcmp(input->name, "q") == 0 || strcmp(input->name, "k") == 0;
    bool projected = input->source == RUNG_FROM_LINEAR || input->source == RUNG_FROM_TIMED;
    size_t H = strcmp(input->name, "q") != 0 && conf->kv_heads ? conf->kv_heads : conf->heads;
    if (row == 0) return NULL;
    if (input->source == RUNG_FROM_PARAMETER) return tensor(w, name, "");
    if (input->source == RUNG_FROM_RATE) {
        double *y = zeros(&w->arena, w->T * H), *rate = tensor(w, name, ".A");
        for (size_t e = 0; e < w->T * H; e++) y[e] = rate[e % H];
        return y;
    }
    double *y = affine(w, name, h, row, w->spec->d_model);
    if (conf->conv && projected) convolve(w, y, tensor(w, name, ".conv"), row, conf->conv);
    if (input->source == RUNG_FROM_REMOVAL) unit_vectors(w, y, w->T * H, conf->dk);
    for (size_t e = 0; e < w->T * row; e++) y[e] = source(w, input->source, y[e], before ? before[e] : 0);
    bool gate =
        input->source == RUNG_FROM_LOG_GATE || input->source == RUNG_FROM_KEEP || input->source == RUNG_FROM_SOFTPLUS;
    if (input->source == RUNG_FROM_GATE) keep(w, RUNG_QUANTITY_BETA, y, w->T * row);
    if (gate) keep(w, RUNG_QUANTITY_GATE, y, w->T * row);
    if (input->source == RUNG_FROM_REPLACEMENT) keep(w, RUNG_QUANTITY_ACT, y, w->T * row);
    if (conf->unit && query_or_key) unit_vectors(w, y, w->T * H, conf->dk);
    double *weights = tensor(w, name, "_norm");
    for (size_t r = 0; weights && r < w->T * H; r++) rms(w, y + r * conf->dk, conf->dk, weights, NULL);
    if (weights) keep(w, RUNG_QUANTITY_ACT, y, w->T * row);
    if (input->rotary) rotate(w, y, H, conf->dk);
    bool scaled = conf->scale > 0 && strcmp(input->name, "q") == 0;
    for (size_t e = 0; scaled && e < w->T * row; e++) y[e] = times(w, y[e], constant(w, conf->scale));
    if (scaled) keep(w, RUNG_QUANTITY_ACT, y, w->T * row);
    return y;
}

/* Values times their step, and steps into logarithms of decays. */
static void finish_inputs(world *w, double **in, const char *prefix, const rung_mech_conf *conf)
{
    const rung_mech_input *inputs = conf->mech->inputs;
    size_t decay = 0, H = conf->heads;
    while (inputs[decay].name && inputs[decay].source != RUNG_FROM_DECAY) decay++;
    if (!inputs[decay].name) return;
    for (size_t i = 0; inputs[i].name; i++)
        for (size_t e = 0; inputs[i].source == RUNG_FROM_TIMED && e < w->T * H * conf->dv; e++)
            in[i][e] = times(w, in[i][e], in[decay][e / conf->dv]);
    char name[160];
    snprintf(name, sizeof name, "%s.%s", prefix, inputs[decay].name);
    double *A = tensor(w, name, ".A");
    size_t each = rung_mech_row(&inputs[decay], conf) / H;
    for (size_t e = 0; e < w->T * H * each; e++)
        in[decay][e] = minus(w, 0, times(w, fn(w, RUNG_FN_EXP, A[e / each % H]), in[decay][e]));
    keep(w, RUNG_QUANTITY_GATE, in[decay], w->T * H * each);
}

/* ---- layers ------------------------------------------------------------------------------------------------------------------ */

/* A state of head_size numbers per head, in rows of dv and a shorter one, after token t. */
static void keep_state(const world *w, double *state, const rung_mech_conf *conf, size_t layer, size_t group, size_t t)
{
    size_t head = rung_mech_state_elements(conf, 1) / conf->heads, dv = conf->dv;
    rung_dither d = {.key = rung_dither_key(w->n.seed, layer, group, t)};
    for (size_t e = 0; e < head * conf->heads;) {
        size_t left = head - e % head, row = left < dv ? left : dv;
        d.first = e;
        rung_stored_keep(&w->n.of[RUNG_QUANTITY_STATE], &w->fmt, state + e, 1, row, NULL, w->n.stochastic ? &d : NULL);
        e += row;
    }
}

/* Token by token: it is read before the state is stored, after the last token of a chunk. */
static double *mixed_mechanism(world *w, double *const *in, const rung_mech_conf *conf, size_t layer, size_t group)
{
    size_t row = conf->heads * conf->dv;
    bool attends = strcmp(conf->mech->name, "full") == 0 || strcmp(conf->mech->name, "window") == 0;
    double *o = zeros(&w->arena, w->T * row), *state = zeros(&w->arena, rung_mech_state_capacity(conf, w->T));
    double *scratch = zeros(&w->arena, conf->mech->scratch(conf, w->T));
    size_t keys = conf->kv_heads ? conf->kv_heads : conf->heads;
    if (attends) keep_rows(w, RUNG_QUANTITY_CACHE, in[1], w->T * keys, conf->dk);
    if (attends) keep_rows(w, RUNG_QUANTITY_CACHE, in[2], w->T * keys, conf->dv);
    for (size_t t = 0; t < w->T; t++) {
        const double *rows[RUNG_MECH_INPUT_MAX];
        for (size_t i = 0; conf->mech->inputs[i].name; i++) {
            const rung_mech_input *input = &conf->mech->inputs[i];
            rows[i] = in[i] + (rung_mech_is_constant(input) ? 0 : t * rung_mech_row(input, conf));
            if (rung_mech_row(input, conf) == 0) rows[i] = NULL;
        }
        rung_mech_step_exact(o + t * row, state, rows, t, conf, &w->fmt, scratch);
        if (!attends && (t + 1) % w->chunk == 0) keep_state(w, state, conf, layer, group, t);
    }
    keep(w, RUNG_QUANTITY_ACT, o, w->T * row);
    return o;
}

static double *mechanism(world *w, double *const *in, const rung_mech_conf *conf)
{
    size_t row = conf->heads * conf->dv;
    double *o = zeros(&w->arena, w->T * row), *state = zeros(&w->arena, rung_mech_state_capacity(conf, w->T));
    rung_stretch_exact s = {.conf = conf, .fmt = &w->fmt, .o = o, .state = state, .tokens = w->T};
    s.scratch_size = conf->mech->scratch(conf, w->T);
    s.scratch = zeros(&w->arena, s.scratch_size);
    for (size_t i = 0; conf->mech->inputs[i].name; i++) s.in[i] = in[i];
    rung_stretch_step_exact(&s);
    return o;
}

static double *group_output(world *w, const char *prefix, const rung_mech_conf *conf, const double *h, size_t layer,
                            size_t group)
{
    double *in[RUNG_MECH_INPUT_MAX] = {0};
    char name[200];
    size_t row = conf->heads * conf->dv;
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        snprintf(name, sizeof name, "%s.%s", prefix, conf->mech->inputs[i].name);
        bool needs_before = conf->mech->inputs[i].source == RUNG_FROM_REPLACEMENT;
        in[i] = make_input(w, name, &conf->mech->inputs[i], conf, h, needs_before ? in[i - 1] : NULL);
    }
    finish_inputs(w, in, prefix, conf);
    double *o = w->n.mixed ? mixed_mechanism(w, in, conf, layer, group) : mechanism(w, in, conf);
    if (!conf->gate && !conf->out_gate) return o;
    snprintf(name, sizeof name, "%s.gate", prefix);
    double *gate = affine(w, name, h, row, w->spec->d_model), *weight = tensor(w, prefix, ".gate_norm");
    for (size_t r = 0; conf->gate && r < w->T * conf->heads; r++) rms(w, o + r * conf->dv, conf->dv, weight, NULL);
    for (size_t e = 0; e < w->T * row; e++)
        o[e] = times(w, o[e], conf->gate ? silu(w, gate[e]) : fn(w, RUNG_FN_SIGMOID, gate[e]));
    keep(w, RUNG_QUANTITY_ACT, o, w->T * row);
    return o;
}

static void add_rows(const world *w, double *x, const double *y, size_t count)
{
    for (size_t e = 0; e < count; e++) x[e] = plus(w, x[e], y[e]);
    keep(w, RUNG_QUANTITY_ACT, x, count);
}

static void mix(world *w, double *x, const rung_layer *layer, size_t index)
{
    char name[96];
    size_t width = 0, offset = 0, d = w->spec->d_model;
    for (size_t g = 0; g < layer->group_count; g++) width += layer->group[g].heads * layer->group[g].dv;
    double *all = zeros(&w->arena, w->T * width);
    snprintf(name, sizeof name, "layers.%zu.norm1", index);
    double *h = normed(w, name, x);
    for (size_t g = 0; g < layer->group_count; g++) {
        size_t row = layer->group[g].heads * layer->group[g].dv;
        snprintf(name, sizeof name, "layers.%zu.mix.%zu", index, g);
        double *o = group_output(w, name, &layer->group[g], h, index, g);
        for (size_t e = 0; e < w->T * row; e++) all[e / row * width + offset + e % row] = o[e];
        offset += row;
    }
    snprintf(name, sizeof name, "layers.%zu.out", index);
    add_rows(w, x, affine(w, name, all, d, width), w->T * d);
}

static void mlp(world *w, double *x, rung_mlp kind, size_t index)
{
    char name[96];
    size_t d = w->spec->d_model, hidden = w->spec->d_mlp;
    if (kind == RUNG_MLP_NONE) return;
    snprintf(name, sizeof name, "layers.%zu.norm2", index);
    double *h = normed(w, name, x), *gate = NULL;
    snprintf(name, sizeof name, "layers.%zu.mlp.up", index);
    double *up = affine(w, name, h, hidden, d);
    snprintf(name, sizeof name, "layers.%zu.mlp.gate", index);
    bool silent = kind == RUNG_MLP_SWIGLU;
    if (silent || kind == RUNG_MLP_GEGLU_TANH) gate = affine(w, name, h, hidden, d);
    for (size_t e = 0; gate && e < w->T * hidden; e++) gate[e] = silent ? silu(w, gate[e]) : gelu_tanh(w, gate[e]);
    if (gate) keep(w, RUNG_QUANTITY_ACT, gate, w->T * hidden);
    for (size_t e = 0; e < w->T * hidden; e++)
        up[e] = kind == RUNG_MLP_RELU        ? (up[e] > 0 ? up[e] : 0)
                : kind == RUNG_MLP_GELU      ? fn(w, RUNG_FN_GELU, up[e])
                : kind == RUNG_MLP_GELU_TANH ? gelu_tanh(w, up[e])
                                             : times(w, up[e], gate[e]);
    keep(w, RUNG_QUANTITY_ACT, up, w->T * hidden);
    snprintf(name, sizeof name, "layers.%zu.mlp.down", index);
    add_rows(w, x, affine(w, name, up, d, hidden), w->T * d);
}

static double *embed(world *w, const test_prompt *p)
{
    size_t d = w->spec->d_model;
    double *x = zeros(&w->arena, w->T * d), *positions = tensor(w, "positions", "");
    if (w->spec->vocab) {
        double *table = tensor(w, "embed.weight", "");
        for (size_t e = 0; e < w->T * d; e++) x[e] = table[p->token[e / d] * d + e % d];
    } else {
        double *raw = zeros(&w->arena, w->T * w->spec->d_in);
        for (size_t i = 0; i < w->T * w->spec->d_in; i++) raw[i] = p->feature[i];
        keep(w, RUNG_QUANTITY_ACT, raw, w->T * w->spec->d_in);
        x = affine(w, "embed", raw, d, w->spec->d_in);
    }
    keep(w, RUNG_QUANTITY_ACT, x, w->T * d);
    if (positions) add_rows(w, x, positions, w->T * d);
    return x;
}

static void second_walk(double *out, const rung_model *model, const char *format, const test_prompt *p)
{
    world w = {.spec = rung_model_get_spec(model), .n = numbers_of(format), .T = p->tokens};
    const char *chunk = strstr(format, "chunk=");
    w.fmt = w.n.acc, w.chunk = chunk ? (size_t)atoi(chunk + 6) : 1;
    const rung_arch *arch = rung_model_get_arch(model);
    rung_arena_init(&w.arena);
    CHECK(rung_safetensors_open(&w.file, test_path(), &check_err));
    double *x = embed(&w, p);
    for (size_t i = 0; i < arch->layer_count; i++) {
        mix(&w, x, &arch->layer[i], i);
        mlp(&w, x, rung_model_mlp(model, i), i);
    }
    double *y = affine(&w, "readout", normed(&w, "final_norm", x), w.spec->answers, w.spec->d_model);
    memcpy(out, y, w.T * w.spec->answers * sizeof *out);
    rung_safetensors_close(w.file);
    rung_arena_clear(&w.arena);
}

/* ---- comparison ---------------------------------------------------------------------------------------------------------------- */

static const char *const formats[] = {"bf16", "f32", "e8m3", "f64", "q14.18", "e6m9", "e11m25"};
enum { TOKENS = 11 };

/* The fast evaluator against the second walk in f64, where the numbers are well conditioned: a normaliser of signed
 * features may come near zero, and a sparse choice near a tie falls one way or the other. */
static void compare_fast(const rung_model *model, const double *want, const test_prompt *p)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    double got[PROMPT_MAX * 5];
    if (strstr(spec->arch, "identity")) return;
    for (rung_form form = RUNG_FORM_SCAN; form <= RUNG_FORM_STEP; form++) {
        run_model(got, model, NULL, p, form, 2);
        assert_close(got, want, p->tokens * spec->answers, 1e-3, spec->arch);
    }
}

/* The step form, and a scan in two calls. Both leave the same bits of the state. */
static void compare_parts(const rung_program *program, const double *want, const rung_model_spec *spec,
                          const test_prompt *p, const char *what)
{
    double got[TOKENS * 5];
    rung_session *steps = session_of(program, TOKENS), *parts = session_of(program, TOKENS);
    CHECK(run_part(steps, got, p, spec, 0, TOKENS, RUNG_FORM_STEP, &check_err));
    assert_same_doubles(got, want, RUNG_COUNT(got), what);
    CHECK(run_part(parts, got, p, spec, 0, 4, RUNG_FORM_SCAN, &check_err));
    CHECK(run_part(parts, got + 4 * 5, p, spec, 4, TOKENS - 4, RUNG_FORM_SCAN, &check_err));
    assert_same_doubles(got, want, RUNG_COUNT(got), what);
    size_t bytes = (size_t)((rung_session_state_bits(steps) + 7) / 8);
    uint8_t *a = calloc(bytes + 1, 1), *b = calloc(bytes + 1, 1);
    assert_true(a && b);
    CHECK(rung_session_pack(steps, a, &check_err));
    CHECK(rung_session_pack(parts, b, &check_err));
    if (memcmp(a, b, bytes) != 0) fail_msg("%s: the state differs", what);
    free(a), free(b), rung_session_free(steps), rung_session_free(parts);
}

/* A run that ends in a NaN, by overflow in a small format, must have one in the second walk as well. */
static void compare(const rung_model_spec *spec, const char *format, uint64_t seed)
{
    rung_model *model = edited_model(spec, seed, seed % 3 != 0);
    rung_program *program = program_of(model, format, 1);
    rung_session *session = session_of(program, TOKENS);
    test_prompt p = draw_prompt(spec, TOKENS, seed);
    double got[TOKENS * 5], want[TOKENS * 5];
    rung_error err = {""};
    second_walk(want, model, format, &p);
    rung_status status = run_part(session, got, &p, spec, 0, TOKENS, RUNG_FORM_SCAN, &err);
    size_t nan = rung_num_find_nan(want, RUNG_COUNT(want));
    if ((status == RUNG_OK) != (nan == SIZE_MAX))
        fail_msg("%s in %s: status %d (%s), first NaN at %zu", spec->arch, format, status, err.text, nan);
    if (status == RUNG_OK) {
        char what[512];
        snprintf(what, sizeof what, "%s in %s, mlp %s, norm %d, positions %d, seed %d", spec->arch, format, spec->mlp,
                 spec->norm, spec->positions, (int)seed);
        assert_same_doubles(got, want, RUNG_COUNT(got), what);
        if (strcmp(format, "f64") == 0) compare_fast(model, want, &p);
        if (spec->causal) compare_parts(program, want, spec, &p, what);
    }
    rung_session_free(session), rung_program_free(program), rung_model_close(model);
}

/* One arch under changing surroundings. */
static void compare_around(const char *mech, const char *words, uint64_t seed)
{
    static const char *const around[] = {"",
                                         ":gate=1",
                                         ":conv=4",
                                         ":unit=1",
                                         ":conv=2:gate=1:unit=1",
                                         ":conv=1",
                                         ":outgate=1:conv=2",
                                         ":qknorm=1",
                                         ":unit=1:scale=0.17",
                                         ":conv=3:qknorm=1:scale=1.25"};
    static const char *const mlps[] = {"none", "relu", "gelu", "swiglu", "gelu_tanh", "geglu_tanh"};
    bool has_query = strcmp(rung_mech_get(mech)->inputs[0].name, "q") == 0;
    for (size_t a = 0; a < RUNG_COUNT(around); a++, seed++) {
        char arch[256];
        bool of_keys = strstr(around[a], "unit") || strstr(around[a], "qknorm");
        if (!has_query && of_keys) continue; /* refused: nothing to scale */
        snprintf(arch, sizeof arch, "%s%s%s,full@1|%s%s%s@2", mech, words, around[a], mech, words, around[a]);
        rung_model_spec spec = small_spec(arch);
        spec.dk = spec.dv = 4, spec.mlp = mlps[seed % 6];
        spec.norm = (rung_norm)(1 + seed % 3), spec.positions = (rung_positions)(1 + seed / 2 % 4);
        if (seed % 5 == 1) spec.vocab = 0, spec.d_in = 3;
        if (seed % 3 == 1) spec.norm_epsilon = seed % 2 ? 1e-6 : 0.125;
        compare(&spec, formats[seed % RUNG_COUNT(formats)], seed);
        compare(&spec, "f64", seed);
    }
}

static void every_mechanism_and_all_around_it_bit_for_bit(void **state)
{
    (void)state;
    uint64_t seed = 0;
    for (size_t m = 0; m < rung_mech_count(); m++) {
        const rung_mech *mech = rung_mech_at(m);
        compare_around(mech->name, "", seed += 7);
        if (mech->shares_keys) compare_around(mech->name, ":kv=1", seed += 7);
        for (size_t i = 0; mech->params[i].name; i++)
            for (size_t v = 0; mech->params[i].kind == RUNG_PARAM_CHOICE && mech->params[i].choices[v]; v++) {
                char words[64];
                snprintf(words, sizeof words, ":%s=%s", mech->params[i].name, mech->params[i].choices[v]);
                compare_around(mech->name, words, seed += 7);
            }
    }
}

static const char *const mixed[] = {
    "served:bf16",
    "served:state32",
    "served:fp8",
    "served:int8",
    "f32,state=int8/row",
    "f32,state=e4m3fn/2*bf16,cache=mxfp4,weights=int4/4*f16",
    "f32,state=bf16,round=stochastic,seed=9",
    "f32,state=int4/3,act=e5m10,gate=bf16,beta=e4m3,round=stochastic",
    "weights=bf16,act=bf16,acc=f64,state=f32,cache=mxfp8,gate=f32,beta=bf16",
    "e8m12,state=q3.4,act=e8m7,beta=q1.7,gate=e6m5,cache=q7.4,weights=e5m4",
    "q20.20,state=q9.3,act=q15.12,cache=q9.9,gate=q12.20,beta=q0.9,weights=q5.17",
    "f32,weights=mxfp8,act=bf16,state=e4m3fn",
    "bf16,beta=e4m3",
    "served:bf16,chunk=4",
    "f32,state=int8/row,chunk=3",
    "f32,state=e4m3,chunk=5,round=stochastic,seed=2",
    "served:bf16,state=mxfp4,chunk=64",
};

/* Surroundings as above, and in both forms, cut into two calls. */
static void compare_mixed(const char *mech, const char *words, uint64_t seed)
{
    static const char *const around[] = {"", ":gate=1", ":conv=3", ":unit=1:outgate=1:conv=2", ":qknorm=1:scale=0.3"};
    static const char *const mlps[] = {"none", "geglu_tanh", "gelu", "swiglu"};
    bool has_query = strcmp(rung_mech_get(mech)->inputs[0].name, "q") == 0;
    for (size_t f = 0; f < RUNG_COUNT(mixed); f++, seed++) {
        char arch[256];
        const char *a = around[seed % (has_query ? 5 : 3)];
        snprintf(arch, sizeof arch, "%s%s%s,window:W=4@1|%s%s%s@2", mech, words, a, mech, words, a);
        rung_model_spec spec = small_spec(arch);
        spec.dk = 4, spec.dv = 3 + seed % 3, spec.mlp = mlps[seed % 4];
        spec.norm = (rung_norm)(1 + seed % 3), spec.positions = (rung_positions)(1 + seed / 2 % 4);
        if (seed % 5 == 1) spec.vocab = 0, spec.d_in = 3;
        compare(&spec, mixed[f], seed);
    }
}

static void mixed_formats_bit_for_bit(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (size_t m = 0; m < rung_mech_count(); m++) {
        const rung_mech *mech = rung_mech_at(m);
        if (mech->keeps == RUNG_KEEPS_NOT_STATED) continue;
        compare_mixed(mech->name, "", seed += 11);
        if (mech->shares_keys) compare_mixed(mech->name, ":kv=1", seed += 11);
        for (size_t i = 0; mech->params[i].name; i++)
            for (size_t v = 0; mech->params[i].kind == RUNG_PARAM_CHOICE && mech->params[i].choices[v]; v++) {
                char words[64];
                snprintf(words, sizeof words, ":%s=%s", mech->params[i].name, mech->params[i].choices[v]);
                compare_mixed(mech->name, words, seed += 11);
            }
    }
}

/* What the exact evaluator leaves out of a sum must not show: -0, products that vanish, and 0 times infinity. */
static void zeros_and_infinities_bit_for_bit(void **state)
{
    static const char *const small[] = {"e5m2", "bf16", "f16", "q3.12", "e11m25"};
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        rung_model_spec spec = small_spec("full,linear,gdelta:gate=1");
        spec.dk = spec.dv = 4;
        edit_thin = THIN;
        spec.mlp = seed % 2 ? "relu" : "none";
        compare(&spec, small[seed % RUNG_COUNT(small)], seed);
        edit_thin = seed / 5 % 2 ? HUGE_WEIGHTS : HUGE_INPUT;
        spec.arch = "full", spec.mlp = "none";
        compare(&spec, small[seed % RUNG_COUNT(small)], seed);
        spec.heads = 1, spec.dk = spec.dv = 1; /* so few outputs that tokens are the lanes of a projection */
        compare(&spec, small[seed % RUNG_COUNT(small)], seed);
    }
    edit_thin = THIN_NOT;
}

static void encoders_bit_for_bit(void **state)
{
    (void)state;
    for (size_t m = 0; m < rung_mech_count(); m++) {
        if (rung_mech_at(m)->causal_only) continue;
        rung_model_spec spec = small_spec(rung_mech_at(m)->name);
        spec.dk = spec.dv = 4, spec.causal = false, spec.norm = RUNG_NORM_RMS;
        compare(&spec, formats[m % RUNG_COUNT(formats)], m);
    }
}

/* Convolutions reach back over the cut of a prompt, and their inputs are part of what is carried. */
static void convolutions_cross_a_cut_and_are_counted(void **state)
{
    (void)state;
    rung_model_spec spec = small_spec("gdelta:conv=4:gate=1:unit=1,linear:conv=2,full");
    rung_model *model = edited_model(&spec, 5, true);
    rung_program *program = program_of(model, "bf16", 1);
    rung_session *whole = session_of(program, TOKENS), *parts = session_of(program, TOKENS);
    rung_session *fork = session_of(program, TOKENS);
    test_prompt p = draw_prompt(&spec, TOKENS, 5);
    double want[TOKENS * 5], got[TOKENS * 5];
    CHECK(run_part(whole, want, &p, &spec, 0, TOKENS, RUNG_FORM_SCAN, &check_err));
    for (size_t t = 0; t < TOKENS; t++) {
        CHECK(run_part(parts, got + t * 5, &p, &spec, t, 1, t % 2 ? RUNG_FORM_STEP : RUNG_FORM_SCAN, &check_err));
        CHECK(rung_session_copy(fork, parts, &check_err));
        rung_session *old = parts;
        parts = fork, fork = old;
    }
    assert_same_doubles(got, want, RUNG_COUNT(got), "token by token, every token a fork");
    rung_carry first = rung_session_carry(whole, 0), second = rung_session_carry(whole, 1);
    assert_int_equal(first.conv, 3 * 2 * (4 + 4 + 3)); /* (width-1) H (2 dk + dv) */
    assert_int_equal(first.recurrent, 2 * 4 * 3);
    assert_int_equal(second.conv, 1 * 2 * (4 + 4 + 3));
    assert_true(rung_session_state_bits(whole) == 16 * (66 + 24 + 22 + 2 * 4 * (3 + 1) + TOKENS * 2 * (4 + 3)));
    rung_session_free(whole), rung_session_free(parts), rung_session_free(fork);
    rung_program_free(program), rung_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mechanism_and_all_around_it_bit_for_bit),
        cmocka_unit_test(mixed_formats_bit_for_bit),
        cmocka_unit_test(zeros_and_infinities_bit_for_bit),
        cmocka_unit_test(encoders_bit_for_bit),
        cmocka_unit_test(convolutions_cross_a_cut_and_are_counted),
    };
    return cmocka_run_group_tests_name("model: bits", tests, NULL, remove_test_file);
}
