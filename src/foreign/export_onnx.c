/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A model of ours as an ONNX graph. Nothing is changed: every operation of the walk over the layers (model/walk.c) is a
 * node. The input is [batch][tokens], the output [batch][tokens][answers]. All operators are standard ones, except that
 * states of the transition RUNG_TRANSITION_MATRIX and sums of features use com.microsoft.LinearAttention.
 */
#include "export_inside.h"
#include "onnx_graph.h"

#include <math.h>
#include <string.h>

#define UNIT_EPSILON 1e-6
#define EXACT_WHOLE  16777216.0 /* whole numbers up to this are exact in F32 */
enum { NAME_LEN = 96 };

typedef struct exporter {
    onnx_graph g;
    export_reader read;
    rung_arena arena;
    const rung_model_spec *spec;
    const rung_arch *arch;
    const rung_model *model;
    onnx_value x, tokens;    /* the stream, and the number of tokens as a vector of one number */
    onnx_value cosine, sine; /* of the positions of the prompt; NULL before they are made */
    onnx_value channels;     /* the last axis; NULL before it is made */
    rung_status status;      /* the first failure; everything after it is void */
    rung_error *err;
} exporter;

/* ---- weights ----------------------------------------------------------------------------------------------------- */

static void fail(exporter *e, rung_status status)
{
    if (e->status == RUNG_OK) e->status = status;
}

static void refuse(exporter *e, const char *what)
{
    if (e->status == RUNG_OK) e->status = rung_fail(e->err, RUNG_INPUT, "%s has no place in ONNX", what);
}

static export_weights get(exporter *e, const char *name)
{
    export_weights w = {0};
    if (e->status == RUNG_OK) fail(e, export_get(&w, &e->read, "%s", name));
    return w;
}

/* NULL where the file has no such tensor. */
static onnx_value constant(exporter *e, const char *name, const size_t *shape, size_t rank)
{
    export_weights w = get(e, name);
    return w.value ? onnx_floats(&e->g, name, w.value, shape, rank) : NULL;
}

static onnx_value vector(exporter *e, const char *name, size_t len)
{
    return constant(e, name, &len, 1);
}

static onnx_value add(exporter *e, onnx_value a, onnx_value b)
{
    return ONNX(&e->g, "Add", a, b);
}

static onnx_value mul(exporter *e, onnx_value a, onnx_value b)
{
    return ONNX(&e->g, "Mul", a, b);
}

/* name.weight is [rows][cols]; the graph multiplies from the right. */
static onnx_value linear(exporter *e, onnx_value x, const char *name)
{
    char part[NAME_LEN + 8];
    snprintf(part, sizeof part, "%s.weight", name);
    export_weights w = get(e, part);
    if (!w.value) return "";
    float *turned = rung_arena_alloc(&e->arena, w.rows * w.cols, sizeof *turned, e->err);
    if (!turned) {
        fail(e, RUNG_SYSTEM);
        return "";
    }
    for (size_t r = 0; r < w.rows; r++)
        for (size_t c = 0; c < w.cols; c++) turned[c * w.rows + r] = w.value[r * w.cols + c];
    onnx_value y = ONNX(&e->g, "MatMul", x, onnx_floats(&e->g, part, turned, (size_t[]){w.cols, w.rows}, 2));
    snprintf(part, sizeof part, "%s.bias", name);
    onnx_value bias = vector(e, part, w.rows);
    return bias ? add(e, y, bias) : y;
}

static onnx_value channels(exporter *e)
{
    if (!e->channels) e->channels = onnx_int(&e->g, -1);
    return e->channels;
}

/* ---- small functions --------------------------------------------------------------------------------------------- */

static onnx_value silu(exporter *e, onnx_value x)
{
    return mul(e, x, ONNX(&e->g, "Sigmoid", x));
}

/* x / sqrt(mean or sum of x^2 over the last axis + epsilon) */
static onnx_value scaled(exporter *e, onnx_value x, const char *reduce, double epsilon)
{
    onnx_value square = ONNX(&e->g, reduce, mul(e, x, x), channels(e));
    return ONNX(&e->g, "Div", x, ONNX(&e->g, "Sqrt", add(e, square, onnx_real(&e->g, epsilon))));
}

static onnx_value norm(exporter *e, onnx_value x, const char *name)
{
    char part[NAME_LEN + 8];
    const double epsilon = rung_model_norm_epsilon(e->spec);
    const onnx_attribute layer[] = {{.name = "axis", .kind = ONNX_ATTRIBUTE_INT, .number = -1},
                                    {.name = "epsilon", .kind = ONNX_ATTRIBUTE_REAL, .real = epsilon},
                                    {0}};
    if (e->spec->norm == RUNG_NORM_NONE) return x;
    snprintf(part, sizeof part, "%s.weight", name);
    onnx_value weight = vector(e, part, e->spec->d_model);
    if (!weight) return x;
    if (e->spec->norm == RUNG_NORM_RMS) return mul(e, scaled(e, x, "ReduceMean", epsilon), weight);
    snprintf(part, sizeof part, "%s.bias", name);
    onnx_value bias = vector(e, part, e->spec->d_model);
    if (bias) return ONNX_WITH(&e->g, "LayerNormalization", layer, x, weight, bias);
    return ONNX_WITH(&e->g, "LayerNormalization", layer, x, weight);
}

/* Sizes of 0 are those of x; -1 is what is left. */
static onnx_value reshape(exporter *e, onnx_value x, const int64_t *shape, size_t rank)
{
    return ONNX(&e->g, "Reshape", x, onnx_ints(&e->g, shape, rank));
}

/* [batch][tokens][heads * each] as [batch][tokens][heads][each], and back. */
static onnx_value split(exporter *e, onnx_value x, size_t heads, size_t each)
{
    return reshape(e, x, (int64_t[]){0, 0, (int64_t)heads, (int64_t)each}, 4);
}

static onnx_value join(exporter *e, onnx_value x, size_t width)
{
    return reshape(e, x, (int64_t[]){0, 0, (int64_t)width}, 3);
}

static onnx_value slice(exporter *e, onnx_value x, size_t first, size_t end)
{
    return ONNX(&e->g, "Slice", x, onnx_int(&e->g, (int64_t)first), onnx_int(&e->g, (int64_t)end), channels(e));
}

static onnx_value transpose(exporter *e, onnx_value x, const int64_t *order, size_t rank)
{
    const onnx_attribute perm[] = {{.name = "perm", .kind = ONNX_ATTRIBUTE_INTS, .numbers = order, .count = rank}, {0}};
    return ONNX_WITH(&e->g, "Transpose", perm, x);
}

/* The rows of a table that belong to the prompt. */
static onnx_value rows_of_prompt(exporter *e, onnx_value table)
{
    onnx_value first = onnx_int(&e->g, 0);
    return ONNX(&e->g, "Slice", table, first, e->tokens, first);
}

/* ---- inputs of a mechanism --------------------------------------------------------------------------------------- */

/* y = silu of a convolution of every channel with its own taps [row][width] over the last tokens. */
static onnx_value convolve(exporter *e, onnx_value x, const char *name, const rung_mech_conf *conf, size_t row)
{
    const int64_t pads[] = {(int64_t)conf->conv - 1, 0}, order[] = {0, 2, 1};
    const onnx_attribute attributes[] = {{.name = "group", .kind = ONNX_ATTRIBUTE_INT, .number = (int64_t)row},
                                         {.name = "pads", .kind = ONNX_ATTRIBUTE_INTS, .numbers = pads, .count = 2},
                                         {0}};
    onnx_value taps = constant(e, name, (size_t[]){row, 1, conf->conv}, 3);
    if (!taps) return x;
    onnx_value y = ONNX_WITH(&e->g, "Conv", attributes, transpose(e, x, order, 3), taps);
    return silu(e, transpose(e, y, order, 3));
}

/* Turns coordinates i and i + dk/2 of every head. */
static onnx_value rotate(exporter *e, onnx_value x, const rung_mech_conf *conf, size_t count)
{
    size_t half = conf->dk / 2, shape[] = {e->spec->max_tokens, 1, half};
    static const onnx_attribute last[] = {{.name = "axis", .kind = ONNX_ATTRIBUTE_INT, .number = -1}, {0}};
    if (!e->cosine) {
        onnx_value cosine = constant(e, "rotary.cos", shape, 3), sine = constant(e, "rotary.sin", shape, 3);
        if (!cosine || !sine) return x;
        e->cosine = rows_of_prompt(e, cosine), e->sine = rows_of_prompt(e, sine);
    }
    onnx_value heads = split(e, x, count, conf->dk);
    onnx_value low = slice(e, heads, 0, half), high = slice(e, heads, half, conf->dk);
    onnx_value turned = ONNX(&e->g, "Sub", mul(e, low, e->cosine), mul(e, high, e->sine));
    onnx_value other = add(e, mul(e, high, e->cosine), mul(e, low, e->sine));
    return join(e, ONNX_WITH(&e->g, "Concat", last, turned, other), count * conf->dk);
}

/* A stored number per head, the same at every token, as [batch][tokens][heads]. */
static onnx_value repeat_rate(exporter *e, const char *name, size_t heads)
{
    static const onnx_attribute first[] = {{.name = "axis", .kind = ONNX_ATTRIBUTE_INT, .number = 0}, {0}};
    onnx_value rate = vector(e, name, heads);
    if (!rate) return "";
    static const onnx_attribute two[] = {{.name = "end", .kind = ONNX_ATTRIBUTE_INT, .number = 2}, {0}};
    onnx_value sizes = ONNX_WITH(&e->g, "Shape", two, e->x);
    return ONNX(&e->g, "Expand", rate, ONNX_WITH(&e->g, "Concat", first, sizes, onnx_int(&e->g, (int64_t)heads)));
}

/* -e^A times the steps; A is one number per head. */
static onnx_value decay(exporter *e, onnx_value steps, const char *name, size_t heads, size_t each)
{
    size_t width = heads * each;
    export_weights rate = get(e, name);
    float *factor = rung_arena_alloc(&e->arena, width, sizeof *factor, e->err);
    if (!factor) fail(e, RUNG_SYSTEM);
    if (!rate.value || !factor) return "";
    for (size_t i = 0; i < width; i++) factor[i] = -expf(rate.value[i / each]);
    return mul(e, steps, onnx_floats(&e->g, name, factor, &width, 1));
}

static onnx_value apply_source(exporter *e, onnx_value y, const rung_mech_input *input, const rung_mech_conf *conf)
{
    switch (input->source) {
    case RUNG_FROM_GATE:
        y = ONNX(&e->g, "Sigmoid", y);
        return conf->neg ? add(e, y, y) : y;
    case RUNG_FROM_DECAY:
    case RUNG_FROM_SOFTPLUS:
        return ONNX(&e->g, "Softplus", y);
    case RUNG_FROM_LOG_GATE:
        y = ONNX(&e->g, "Softplus", ONNX(&e->g, "Neg", y));
        return ONNX(&e->g, "Div", ONNX(&e->g, "Neg", y), onnx_real(&e->g, 16));
    default:
        return y;
    }
}

static onnx_value one_input(exporter *e, onnx_value h, const rung_mech_input *input, const rung_mech_conf *conf,
                            const char *name)
{
    char part[NAME_LEN + 8];
    size_t row = rung_mech_row(input, conf), heads = rung_mech_input_heads(input, conf);
    if (input->source == RUNG_FROM_RATE) {
        snprintf(part, sizeof part, "%s.A", name);
        return repeat_rate(e, part, conf->heads);
    }
    onnx_value y = linear(e, h, name);
    snprintf(part, sizeof part, "%s.conv", name);
    if (conf->conv) y = convolve(e, y, part, conf, row);
    y = apply_source(e, y, input, conf);
    snprintf(part, sizeof part, "%s_norm", name);
    if (conf->qk_norm && rung_mech_is_query_or_key(input)) {
        onnx_value weight = vector(e, part, conf->dk);
        y = scaled(e, split(e, y, heads, conf->dk), "ReduceMean", rung_model_norm_epsilon(e->spec));
        if (weight) y = join(e, mul(e, y, weight), row);
    }
    if (conf->unit && rung_mech_is_query_or_key(input))
        y = join(e, scaled(e, split(e, y, heads, conf->dk), "ReduceSum", UNIT_EPSILON), row);
    if (input->rotary && e->spec->positions == RUNG_POS_ROTARY) y = rotate(e, y, conf, heads);
    bool scales = conf->scale > 0 && rung_mech_is_query(input);
    return scales ? mul(e, y, onnx_real(&e->g, conf->scale)) : y;
}

/* Multiplies the values of Mamba-2 by the steps, and makes decays of these. */
static void finish_decays(exporter *e, onnx_value in[RUNG_MECH_INPUT_MAX], const rung_mech_conf *conf,
                          const char *prefix)
{
    char part[NAME_LEN + 32];
    size_t step = rung_mech_decay_input(conf->mech);
    const rung_mech_input *inputs = conf->mech->inputs;
    if (!inputs[step].name || inputs[step].source != RUNG_FROM_DECAY) return;
    for (size_t i = 0; inputs[i].name; i++)
        if (inputs[i].source == RUNG_FROM_TIMED) {
            onnx_value values = split(e, in[i], conf->heads, conf->dv), times = split(e, in[step], conf->heads, 1);
            in[i] = join(e, mul(e, values, times), conf->heads * conf->dv);
        }
    snprintf(part, sizeof part, "%s.%s.A", prefix, inputs[step].name);
    in[step] = decay(e, in[step], part, conf->heads, rung_mech_row(&inputs[step], conf) / conf->heads);
}

/* ---- mechanisms -------------------------------------------------------------------------------------------------- */

enum { IN_Q, IN_K, IN_V };

/* A matrix [tokens][tokens] of ones up to a diagonal, or from one on. */
static onnx_value triangle(exporter *e, onnx_value ones, bool upper, int64_t diagonal)
{
    const onnx_attribute side[] = {{.name = "upper", .kind = ONNX_ATTRIBUTE_INT, .number = upper}, {0}};
    return ONNX_WITH(&e->g, "Trilu", side, ones, onnx_scalar_int(&e->g, diagonal));
}

/* 0 where a query sees a key, else -infinity. NULL: it sees all. */
static onnx_value mask(exporter *e, const rung_mech_conf *conf)
{
    static const onnx_attribute first[] = {{.name = "axis", .kind = ONNX_ATTRIBUTE_INT, .number = 0}, {0}};
    static const onnx_attribute to_bool[] = {{.name = "to", .kind = ONNX_ATTRIBUTE_INT, .number = ONNX_BOOL}, {0}};
    int64_t window = conf->mech->class_of == RUNG_CLASS_WINDOW ? rung_mech_param(conf, "W") : 0;
    if (conf->causal == false && window == 0) return NULL;
    onnx_value square = ONNX_WITH(&e->g, "Concat", first, e->tokens, e->tokens);
    onnx_value seen =
        triangle(e, ONNX(&e->g, "Expand", onnx_real(&e->g, 1), square), false, conf->causal ? 0 : window - 1);
    if (window) seen = triangle(e, seen, true, 1 - window);
    return ONNX(&e->g, "Where", ONNX_WITH(&e->g, "Cast", to_bool, seen), onnx_real(&e->g, 0),
                onnx_real(&e->g, -INFINITY));
}

/* [batch][tokens][H][each]: every head of queries with the head of keys, or of values, that it reads. */
static onnx_value shared_heads(exporter *e, onnx_value x, const rung_mech_conf *conf, size_t each)
{
    static const onnx_attribute of_heads[] = {{.name = "axis", .kind = ONNX_ATTRIBUTE_INT, .number = 2}, {0}};
    onnx_value heads = split(e, x, rung_mech_kv_heads(conf), each);
    if (!conf->kv_heads) return heads;
    int64_t *which = rung_arena_alloc(&e->arena, conf->heads, sizeof *which, e->err);
    if (!which) {
        fail(e, RUNG_SYSTEM);
        return heads;
    }
    for (size_t h = 0; h < conf->heads; h++) which[h] = (int64_t)rung_mech_kv_head(conf, h);
    return ONNX_WITH(&e->g, "Gather", of_heads, heads, onnx_ints(&e->g, which, conf->heads));
}

static onnx_value softmax_attention(exporter *e, const onnx_value *in, const rung_mech_conf *conf)
{
    static const int64_t heads_first[] = {0, 2, 1, 3}, keys_last[] = {0, 2, 3, 1};
    static const onnx_attribute last[] = {{.name = "axis", .kind = ONNX_ATTRIBUTE_INT, .number = -1}, {0}};
    onnx_value q = transpose(e, split(e, in[IN_Q], conf->heads, conf->dk), heads_first, 4);
    onnx_value k = transpose(e, shared_heads(e, in[IN_K], conf, conf->dk), keys_last, 4);
    onnx_value v = transpose(e, shared_heads(e, in[IN_V], conf, conf->dv), heads_first, 4);
    onnx_value scores = ONNX(&e->g, "MatMul", q, k), seen = mask(e, conf);
    if (seen) scores = add(e, scores, seen);
    onnx_value read = ONNX(&e->g, "MatMul", ONNX_WITH(&e->g, "Softmax", last, scores), v);
    return join(e, transpose(e, read, heads_first, 4), conf->heads * conf->dv);
}

static onnx_value linear_attention(exporter *e, const char *rule, onnx_value q, onnx_value k, onnx_value v,
                                   onnx_value g, onnx_value beta, size_t heads)
{
    const onnx_attribute attributes[] = {{.name = "kv_num_heads", .kind = ONNX_ATTRIBUTE_INT, .number = (int64_t)heads},
                                         {.name = "q_num_heads", .kind = ONNX_ATTRIBUTE_INT, .number = (int64_t)heads},
                                         {.name = "scale", .kind = ONNX_ATTRIBUTE_REAL, .real = 1},
                                         {.name = "update_rule", .kind = ONNX_ATTRIBUTE_TEXT, .text = rule},
                                         {0}};
    return onnx_contrib_node(&e->g, "LinearAttention", (const onnx_value[]){q, k, v, "", g, beta, NULL}, attributes);
}

static onnx_value matrix_state(exporter *e, const onnx_value *in, const rung_mech_conf *conf)
{
    static const char *const rules[2][2] = {{"linear", "delta"}, {"gated", "gated_delta"}}; /* [decay][beta] */
    onnx_value g = "", beta = "";
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        if (conf->mech->inputs[i].quantity == RUNG_QUANTITY_GATE) g = in[i];
        if (conf->mech->inputs[i].quantity == RUNG_QUANTITY_BETA) beta = in[i];
    }
    return linear_attention(e, rules[*g != 0][*beta != 0], in[IN_Q], in[IN_K], in[IN_V], g, beta, conf->heads);
}

static const char *feature_map(const rung_mech_conf *conf)
{
    for (size_t i = 0; i < rung_param_count(conf->mech->params); i++)
        if (strcmp(conf->mech->params[i].name, "phi") == 0)
            return conf->mech->params[i].choices[conf->params[i].number];
    return "";
}

/* Of queries and keys, one by one; every map that check_group lets through. */
static onnx_value features(exporter *e, onnx_value x, const char *map)
{
    if (strcmp(map, "relu") == 0) return ONNX(&e->g, "Relu", x);
    if (strcmp(map, "elu1") != 0) return x;
    onnx_value zero = onnx_real(&e->g, 0);
    onnx_value below = ONNX(&e->g, "Exp", ONNX(&e->g, "Min", x, zero));
    return ONNX(&e->g, "Where", ONNX(&e->g, "Greater", x, zero), add(e, x, onnx_real(&e->g, 1)), below);
}

/* With a normaliser every value gets one more coordinate, 1: what is read there is z.phi(q). */
static onnx_value feature_sum(exporter *e, const onnx_value *in, const rung_mech_conf *conf)
{
    static const int64_t one_behind[] = {0, 0, 0, 0, 0, 0, 0, 1};
    size_t heads = conf->heads, dv = conf->dv;
    const char *map = feature_map(conf);
    bool divides = rung_mech_param(conf, "norm") != 0;
    onnx_value q = features(e, in[IN_Q], map), k = features(e, in[IN_K], map), v = in[IN_V];
    if (!divides) return linear_attention(e, "linear", q, k, v, "", "", heads);
    v = ONNX(&e->g, "Pad", split(e, v, heads, dv), onnx_ints(&e->g, one_behind, RUNG_COUNT(one_behind)),
             onnx_real(&e->g, 1));
    onnx_value o = linear_attention(e, "linear", q, k, join(e, v, heads * (dv + 1)), "", "", heads);
    o = split(e, o, heads, dv + 1);
    return join(e, ONNX(&e->g, "Div", slice(e, o, 0, dv), slice(e, o, dv, dv + 1)), heads * dv);
}

static bool is_softmax(const rung_mech_conf *conf)
{
    bool scans = conf->mech->class_of == RUNG_CLASS_SCAN || conf->mech->class_of == RUNG_CLASS_WINDOW;
    return scans && (conf->mech->traits & RUNG_TRAIT_SOFTMAX);
}

static bool is_feature_sum(const rung_mech_conf *conf)
{
    const char *map = feature_map(conf);
    return conf->mech->class_of == RUNG_CLASS_STATE && (conf->mech->traits & RUNG_TRAIT_SUM) && *map &&
           strcmp(map, "taylor2") != 0;
}

static onnx_value mechanism(exporter *e, const onnx_value *in, const rung_mech_conf *conf)
{
    if (is_softmax(conf)) return softmax_attention(e, in, conf);
    if (conf->mech->transition == RUNG_TRANSITION_MATRIX) return matrix_state(e, in, conf);
    return feature_sum(e, in, conf);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* The norm of each head, with weights, times silu of a projection. */
static onnx_value gate(exporter *e, onnx_value out, onnx_value h, const rung_mech_conf *conf, const char *prefix)
{
    char name[NAME_LEN + 16];
    size_t width = conf->heads * conf->dv;
    snprintf(name, sizeof name, "%s.gate_norm", prefix);
    onnx_value weight = vector(e, name, conf->dv);
    if (!weight) return out;
    const double epsilon = rung_model_norm_epsilon(e->spec);
    onnx_value normed = mul(e, scaled(e, split(e, out, conf->heads, conf->dv), "ReduceMean", epsilon), weight);
    snprintf(name, sizeof name, "%s.gate", prefix);
    return mul(e, join(e, normed, width), silu(e, linear(e, h, name)));
}

static onnx_value one_group(exporter *e, onnx_value h, const rung_mech_conf *conf, const char *prefix)
{
    onnx_value in[RUNG_MECH_INPUT_MAX];
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        char name[NAME_LEN];
        snprintf(name, sizeof name, "%s.%s", prefix, conf->mech->inputs[i].name);
        in[i] = one_input(e, h, &conf->mech->inputs[i], conf, name);
    }
    finish_decays(e, in, conf, prefix);
    onnx_value out = mechanism(e, in, conf);
    char name[NAME_LEN + 16];
    snprintf(name, sizeof name, "%s.gate", prefix);
    if (conf->out_gate) return mul(e, out, ONNX(&e->g, "Sigmoid", linear(e, h, name)));
    return conf->gate ? gate(e, out, h, conf, prefix) : out;
}

static void mix(exporter *e, size_t layer)
{
    static const onnx_attribute last[] = {{.name = "axis", .kind = ONNX_ATTRIBUTE_INT, .number = -1}, {0}};
    char name[NAME_LEN - 16];
    onnx_value part[RUNG_GROUPS_MAX + 1] = {0};
    size_t groups = e->arch->layer[layer].group_count;
    snprintf(name, sizeof name, "layers.%zu.norm1", layer);
    onnx_value h = norm(e, e->x, name);
    for (size_t g = 0; g < groups; g++) {
        snprintf(name, sizeof name, "layers.%zu.mix.%zu", layer, g);
        part[g] = one_group(e, h, &e->arch->layer[layer].group[g], name);
    }
    onnx_value all = groups > 1 ? onnx_node(&e->g, "Concat", part, last) : part[0];
    snprintf(name, sizeof name, "layers.%zu.out", layer);
    e->x = add(e, e->x, linear(e, all, name));
}

static onnx_value activate(exporter *e, onnx_value x, rung_mlp kind)
{
    if (kind == RUNG_MLP_RELU) return ONNX(&e->g, "Relu", x);
    if (kind == RUNG_MLP_GELU) {
        onnx_value erf = ONNX(&e->g, "Erf", mul(e, x, onnx_real(&e->g, sqrt(0.5))));
        return mul(e, mul(e, x, onnx_real(&e->g, 0.5)), add(e, erf, onnx_real(&e->g, 1)));
    }
    if (kind == RUNG_MLP_GELU_TANH) { /* x sigmoid(2 sqrt(2/pi) x (1 + 0.044715 x^2)) */
        onnx_value cubic = add(e, mul(e, mul(e, x, x), onnx_real(&e->g, 0.044715)), onnx_real(&e->g, 1));
        onnx_value slope = onnx_real(&e->g, sqrt(8 / acos(-1)));
        return mul(e, x, ONNX(&e->g, "Sigmoid", mul(e, slope, mul(e, x, cubic))));
    }
    return x; /* the gate is activated */
}

static void mlp(exporter *e, size_t layer, rung_mlp kind)
{
    char name[NAME_LEN];
    snprintf(name, sizeof name, "layers.%zu.norm2", layer);
    onnx_value h = norm(e, e->x, name);
    snprintf(name, sizeof name, "layers.%zu.mlp.up", layer);
    onnx_value hidden = activate(e, linear(e, h, name), kind);
    snprintf(name, sizeof name, "layers.%zu.mlp.gate", layer);
    if (kind == RUNG_MLP_SWIGLU) hidden = mul(e, hidden, silu(e, linear(e, h, name)));
    if (kind == RUNG_MLP_GEGLU_TANH) hidden = mul(e, hidden, activate(e, linear(e, h, name), RUNG_MLP_GELU_TANH));
    snprintf(name, sizeof name, "layers.%zu.mlp.down", layer);
    e->x = add(e, e->x, linear(e, hidden, name));
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

typedef struct table_parts {
    int64_t *key_coord, *out_coord;
    float *key, *value; /* [rows][keys], [rows][d_model] */
    bool *assigned;     /* [d_model] */
    size_t rows, keys;
} table_parts;

static rung_status copy_rows(table_parts *p, const step_table *t, size_t d_model, rung_error *err)
{
    for (size_t r = 0; r < t->rows; r++) {
        for (size_t k = 0; k < t->keys; k++) {
            double key = (double)t->key[r * t->keys + k];
            if (!(fabs(key) <= EXACT_WHOLE))
                return rung_fail(err, RUNG_INPUT, "the key %.0f of a table is not exact in F32, so it", key);
            p->key[r * t->keys + k] = (float)key;
        }
        for (size_t o = 0; o < t->outs; o++) p->value[r * d_model + t->out_coord[o]] = t->value[r * t->outs + o];
    }
    return RUNG_OK;
}

static rung_status read_table(table_parts *p, exporter *e, size_t layer)
{
    step_table t;
    size_t d = e->spec->d_model;
    RUNG_TRY(step_table_read(&t, &e->read, layer, e->err));
    *p = (table_parts){.rows = t.rows, .keys = t.keys};
    p->key_coord = rung_arena_alloc(&e->arena, t.keys, sizeof *p->key_coord, e->err);
    p->key = rung_arena_alloc(&e->arena, t.rows * t.keys, sizeof *p->key, e->err);
    p->value = rung_arena_alloc(&e->arena, t.rows, d * sizeof *p->value, e->err);
    p->assigned = rung_arena_alloc(&e->arena, d, sizeof *p->assigned, e->err);
    if (!p->key_coord || !p->key || !p->value || !p->assigned) return RUNG_SYSTEM;
    for (size_t k = 0; k < t.keys; k++) p->key_coord[k] = (int64_t)t.key_coord[k];
    for (size_t o = 0; o < t.outs; o++) p->assigned[t.out_coord[o]] = true;
    return copy_rows(p, &t, d, e->err);
}

/* The row whose keys are all equal is a 1 among zeros, which a product with all values selects. Without such a row the
 * stream becomes a NaN: rung stops there. */
static void table(exporter *e, size_t layer)
{
    static const onnx_attribute last[] = {{.name = "axis", .kind = ONNX_ATTRIBUTE_INT, .number = -1}, {0}};
    static const onnx_attribute to_real[] = {{.name = "to", .kind = ONNX_ATTRIBUTE_INT, .number = ONNX_FLOAT}, {0}};
    static const onnx_attribute drop[] = {{.name = "keepdims", .kind = ONNX_ATTRIBUTE_INT, .number = 0}, {0}};
    table_parts t = {0};
    if (e->status != RUNG_OK) return;
    fail(e, read_table(&t, e, layer));
    if (e->status != RUNG_OK) return;
    onnx_value key =
        ONNX(&e->g, "Round", ONNX_WITH(&e->g, "Gather", last, e->x, onnx_ints(&e->g, t.key_coord, t.keys)));
    onnx_value rows = onnx_floats(&e->g, NULL, t.key, (size_t[]){t.rows, t.keys}, 2);
    onnx_value equal = ONNX(&e->g, "Equal", ONNX(&e->g, "Unsqueeze", key, onnx_int(&e->g, 2)), rows);
    onnx_value found = ONNX_WITH(&e->g, "ReduceMin", drop, ONNX_WITH(&e->g, "Cast", to_real, equal), channels(e));
    onnx_value value = onnx_floats(&e->g, NULL, t.value, (size_t[]){t.rows, e->spec->d_model}, 2);
    onnx_value any = ONNX(&e->g, "Greater", ONNX(&e->g, "ReduceMax", found, channels(e)), onnx_real(&e->g, 0.5));
    onnx_value out = ONNX(&e->g, "Where", any, ONNX(&e->g, "MatMul", found, value), onnx_real(&e->g, NAN));
    e->x = ONNX(&e->g, "Where", onnx_bools(&e->g, t.assigned, e->spec->d_model), out, e->x);
}

/* ---- what has no place ------------------------------------------------------------------------------------------- */

static void check_group(exporter *e, const rung_mech_conf *conf, size_t layer)
{
    char what[128];
    const char *map = feature_map(conf);
    bool stateful = conf->mech->transition == RUNG_TRANSITION_MATRIX || is_feature_sum(conf);
    if (is_softmax(conf) || (stateful && conf->causal)) return;
    snprintf(what, sizeof what, "layer %zu: mechanism %s%s%s%s", layer, conf->mech->name, *map ? ":phi=" : "", map,
             stateful ? " of an encoder (causal=false)" : "");
    refuse(e, what);
}

static void check_model(exporter *e)
{
    static const char *const known[] = {"W",    "phi", "norm",   "dk",    "dv", "conv",    "gate",
                                        "unit", "neg", "qknorm", "scale", "kv", "outgate", NULL};
    for (size_t i = 0; i < e->arch->layer_count; i++)
        for (size_t g = 0; g < e->arch->layer[i].group_count; g++) check_group(e, &e->arch->layer[i].group[g], i);
    if (e->status == RUNG_OK) fail(e, export_check_keys(e->arch, known, "ONNX", e->err));
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void embed(exporter *e)
{
    const rung_model_spec *s = e->spec;
    const onnx_dim dims[] = {{"batch", 0}, {"tokens", 0}, {NULL, s->d_in}};
    static const onnx_attribute of_tokens[] = {{.name = "end", .kind = ONNX_ATTRIBUTE_INT, .number = 2},
                                               {.name = "start", .kind = ONNX_ATTRIBUTE_INT, .number = 1},
                                               {0}};
    onnx_value in =
        s->vocab ? onnx_input(&e->g, "ids", ONNX_INT64, dims, 2) : onnx_input(&e->g, "features", ONNX_FLOAT, dims, 3);
    e->tokens = ONNX_WITH(&e->g, "Shape", of_tokens, in);
    if (s->vocab) {
        onnx_value rows = constant(e, "embed.weight", (size_t[]){s->vocab, s->d_model}, 2);
        e->x = rows ? ONNX(&e->g, "Gather", rows, in) : "";
    } else
        e->x = linear(e, in, "embed");
    if (s->positions != RUNG_POS_LEARNED && s->positions != RUNG_POS_SINUSOIDAL) return;
    onnx_value positions = constant(e, "positions", (size_t[]){s->max_tokens, s->d_model}, 2);
    if (positions) e->x = add(e, e->x, rows_of_prompt(e, positions));
}

static void layers(exporter *e)
{
    for (size_t i = 0; i < e->arch->layer_count && e->status == RUNG_OK; i++) {
        rung_mlp kind = rung_model_mlp(e->model, i);
        mix(e, i);
        if (kind == RUNG_MLP_TABLE) table(e, i);
        if (kind != RUNG_MLP_TABLE && kind != RUNG_MLP_NONE) mlp(e, i, kind);
    }
}

static void say_what_it_is(exporter *e)
{
    const char *made_by = rung_model_made_by(e->model);
    onnx_metadata(&e->g, "rung.arch", e->spec->arch);
    if (e->spec->task && *e->spec->task) onnx_metadata(&e->g, "rung.task", e->spec->task);
    if (made_by) onnx_metadata(&e->g, "rung.made_by", made_by);
}

static rung_status make(exporter *e, const char *path)
{
    const onnx_dim dims[] = {{"batch", 0}, {"tokens", 0}, {NULL, e->spec->answers}};
    check_model(e);
    RUNG_TRY(e->status);
    say_what_it_is(e);
    embed(e);
    layers(e);
    onnx_value logits = linear(e, norm(e, e->x, "final_norm"), "readout");
    RUNG_TRY(e->status);
    RUNG_TRY(export_check_all_used(&e->read));
    onnx_output(&e->g, "logits", logits, dims, 3);
    return onnx_graph_write(&e->g, path, e->err);
}

static void fill(rung_export_report *r, const exporter *e)
{
    *r = (rung_export_report){.family = "onnx",
                              .layers = e->arch->layer_count,
                              .d_model = e->spec->d_model,
                              .d_mlp = e->spec->d_mlp,
                              .vocab = e->spec->vocab,
                              .context = e->spec->positions == RUNG_POS_NONE ? 0 : e->spec->max_tokens,
                              .contrib = e->g.contrib};
}

rung_status export_write_onnx(rung_export_report *report, const rung_model *model, const char *path, rung_error *err)
{
    exporter e = {.model = model, .spec = rung_model_get_spec(model), .arch = rung_model_get_arch(model), .err = err};
    onnx_graph_init(&e.g, err);
    rung_arena_init(&e.arena);
    export_reader_init(&e.read, model, &e.arena, err);
    rung_status status = make(&e, path);
    if (status == RUNG_OK) fill(report, &e);
    rung_arena_clear(&e.arena);
    onnx_graph_clear(&e.g);
    return status;
}
