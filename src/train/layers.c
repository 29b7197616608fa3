/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One slice of a batch through the layers and back:
 *   x = embedding + position;  per layer: x += Out(mix(norm1 x)), x += MLP(norm2 x).
 * A mechanism runs over the prefix of a sequence, then from the state that the prefix left over each continuation.
 */
#include "tape.h"

#include <string.h>

static const float *weights_at(const slice *s, size_t offset)
{
    return offset == ABSENT ? NULL : s->seen.w + offset;
}

static float *grads_at(const slice *s, size_t offset)
{
    return offset == ABSENT ? NULL : s->grad + offset;
}

static float epsilon_of(const slice *s)
{
    return (float)rung_model_norm_epsilon(&s->net->spec);
}

void train_norm(const slice *s, float *y, const float *x, net_norm at, size_t rows, size_t d, bool centre)
{
    rung_kernels_get()->norm(y, x, weights_at(s, at.weight), weights_at(s, at.bias), rows, d, centre, epsilon_of(s));
}

void train_norm_back(const slice *s, float *dx, const float *dy, const float *x, net_norm at, size_t rows, size_t d,
                     bool centre)
{
    rung_kernels_get()->norm_back(dx, grads_at(s, at.weight), grads_at(s, at.bias), dy, x, weights_at(s, at.weight),
                                  rows, d, centre, epsilon_of(s), s->room);
}

void train_weights_back(slice *s, const float *dy, const float *x, const net_linear *l, size_t rows)
{
    train_linear_weight_back(s->grad, dy, x, &s->seen, l, rows, !s->touched[l->index]);
    s->touched[l->index] = true;
}

void train_linear_back(slice *s, float *dx, const float *start, const float *dy, const float *x, const net_linear *l,
                       size_t rows)
{
    if (dx) train_linear_input_back(dx, start, dy, NULL, &s->seen, l, rows);
    train_weights_back(s, dy, x, l, rows);
}

/* ---- mechanisms -------------------------------------------------------------------------------------------------- */

/* Distance from one row to the next; 0 for a constant. */
static size_t stride_of(const rung_mech_input *input, const rung_mech_conf *conf)
{
    return rung_mech_is_constant(input) ? 0 : rung_mech_row(input, conf);
}

static void inputs_at(const float *in[RUNG_MECH_INPUT_MAX], const slice *s, const kept_group *kept,
                      const net_group *group, size_t row)
{
    for (size_t i = 0; group->conf->mech->inputs[i].name; i++)
        in[i] = group->input[i].constant != ABSENT ? s->seen.w + group->input[i].constant
                : kept->in[i] ? kept->in[i] + row * stride_of(&group->conf->mech->inputs[i], group->conf)
                              : NULL;
}

static void scan(slice *s, kept_group *kept, const net_group *group, size_t row, size_t pos, size_t tokens)
{
    rung_stretch_f32 stretch = {.conf = group->conf,
                                .o = kept->o + row * group->conf->heads * group->conf->dv,
                                .state = s->state,
                                .pos = pos,
                                .tokens = tokens,
                                .scratch = s->scratch,
                                .scratch_size = s->scratch_size};
    inputs_at(stretch.in, s, kept, group, row);
    rung_stretch_scan_f32(&stretch, 1);
}

void train_mix(slice *s, kept_group *kept, const net_group *group)
{
    size_t tokens = shape_tokens(&s->shape), before = rung_mech_state_elements(group->conf, s->shape.prefix);
    for (size_t n = 0; n < s->sequences; n++) {
        float *state = kept->state + n * kept->state_size;
        memset(s->state, 0, rung_mech_state_capacity(group->conf, s->shape.prefix + s->shape.each) * sizeof *s->state);
        if (s->shape.prefix) scan(s, kept, group, n * tokens, 0, s->shape.prefix);
        if (s->shape.queries) memcpy(state, s->state, before * sizeof *state);
        for (size_t q = 0; q < s->shape.queries; q++) {
            if (q) memcpy(s->state, state, before * sizeof *state);
            scan(s, kept, group, n * tokens + s->shape.prefix + q * s->shape.each, s->shape.prefix, s->shape.each);
        }
    }
}

static void scan_back(slice *s, const kept_group *kept, const net_group *group, const float *g, const float *state,
                      float *dstate, size_t row, size_t pos, size_t tokens)
{
    size_t width = group->conf->heads * group->conf->dv;
    rung_backward b = {.conf = group->conf,
                       .o = kept->o + row * width,
                       .g = g + row * width,
                       .state = state,
                       .dstate = dstate,
                       .pos = pos,
                       .tokens = tokens,
                       .scratch = s->scratch};
    inputs_at(b.in, s, kept, group, row);
    for (size_t i = 0; group->conf->mech->inputs[i].name; i++)
        b.din[i] = group->input[i].constant != ABSENT ? s->grad + group->input[i].constant
                   : kept->in[i] ? s->din[i] + row * stride_of(&group->conf->mech->inputs[i], group->conf)
                                 : NULL;
    for (size_t h = 0; h < group->conf->heads; h++) group->conf->mech->backward_f32(&b, h);
}

/* Continuations first: each gives a gradient of the state after the prefix, and the prefix receives their sum. */
static void sequence_back(slice *s, const kept_group *kept, const net_group *group, const float *g, size_t n)
{
    const shape *sh = &s->shape;
    const float *state = kept->state + n * kept->state_size;
    size_t start = n * shape_tokens(sh), before = rung_mech_state_elements(group->conf, sh->prefix);
    size_t after = rung_mech_state_capacity(group->conf, sh->prefix + sh->each);
    memset(s->dprefix, 0, before * sizeof *s->dprefix);
    for (size_t q = 0; q < sh->queries; q++) {
        memset(s->dstate, 0, after * sizeof *s->dstate);
        scan_back(s, kept, group, g, sh->prefix ? state : NULL, sh->prefix ? s->dstate : NULL,
                  start + sh->prefix + q * sh->each, sh->prefix, sh->each);
        train_add(s->dprefix, s->dstate, before);
    }
    if (sh->prefix) scan_back(s, kept, group, g, NULL, sh->queries ? s->dprefix : NULL, start, 0, sh->prefix);
}

void train_mix_back(slice *s, const kept_group *kept, const net_group *group, const float *g)
{
    for (size_t i = 0; group->conf->mech->inputs[i].name; i++)
        if (kept->in[i])
            memset(s->din[i], 0, s->rows * rung_mech_row(&group->conf->mech->inputs[i], group->conf) * sizeof(float));
    for (size_t n = 0; n < s->sequences; n++) sequence_back(s, kept, group, g, n);
}

/* ---- embedding --------------------------------------------------------------------------------------------------- */

void train_embed(slice *s, const rung_batch *batch)
{
    const rung_net *net = s->net;
    float *x = net->arch.layer_count ? s->layer[0].x : s->final;
    size_t d = net->spec.d_model, tokens = shape_tokens(&s->shape), first = s->first * tokens;
    if (net->embed == ABSENT)
        train_linear(x, batch->feature + first * net->spec.d_in, NULL, &s->seen, &net->feature, s->rows);
    for (size_t r = 0; r < s->rows; r++) {
        if (net->embed != ABSENT)
            memcpy(x + r * d, s->seen.w + net->embed + batch->token[first + r] * d, d * sizeof *x);
        if (net->positions != ABSENT)
            train_add(x + r * d, s->seen.w + net->positions + shape_position(&s->shape, r % tokens) * d, d);
    }
}

void train_embed_back(slice *s, const rung_batch *batch)
{
    const rung_net *net = s->net;
    size_t d = net->spec.d_model, tokens = shape_tokens(&s->shape), first = s->first * tokens;
    bool learned = net->spec.positions == RUNG_POS_LEARNED;
    if (net->embed == ABSENT)
        train_linear_back(s, NULL, NULL, s->dx, batch->feature + first * net->spec.d_in, &net->feature, s->rows);
    for (size_t r = 0; r < s->rows; r++) {
        if (net->embed != ABSENT) train_add(s->grad + net->embed + batch->token[first + r] * d, s->dx + r * d, d);
        if (learned) train_add(s->grad + net->positions + shape_position(&s->shape, r % tokens) * d, s->dx + r * d, d);
    }
}

/* ---- norms ------------------------------------------------------------------------------------------------------- */

static bool is_centred(const slice *s)
{
    return s->net->spec.norm == RUNG_NORM_LAYER;
}

/* h = norm(x), or x itself if there is no norm. */
static const float *normed(slice *s, float *h, const float *x, const net_norm *norm)
{
    if (norm->weight == ABSENT) return x;
    train_norm(s, h, x, *norm, s->rows, s->net->spec.d_model, is_centred(s));
    return h;
}

/* dx += the gradient through the norm of dh. */
static void normed_back(slice *s, const float *x, const net_norm *norm)
{
    size_t d = s->net->spec.d_model;
    if (norm->weight == ABSENT)
        train_add(s->dx, s->dh, s->rows * d);
    else
        train_norm_back(s, s->dx, s->dh, x, *norm, s->rows, d, is_centred(s));
}

/* ---- mixing ------------------------------------------------------------------------------------------------------ */

/* Columns [offset, offset + width) of wide rows of `total`. */
static void put_columns(float *wide, const float *narrow, size_t rows, size_t total, size_t offset, size_t width)
{
    for (size_t r = 0; r < rows; r++) memcpy(wide + r * total + offset, narrow + r * width, width * sizeof *wide);
}

static void take_columns(float *narrow, const float *wide, size_t rows, size_t total, size_t offset, size_t width)
{
    for (size_t r = 0; r < rows; r++) memcpy(narrow + r * width, wide + r * total + offset, width * sizeof *wide);
}

/* o sigmoid(W h) */
static const float *gated_output(slice *s, kept_group *kept, const net_group *group, const float *h)
{
    size_t count = s->rows * group->conf->heads * group->conf->dv;
    train_linear(kept->gate, h, NULL, &s->seen, &group->gate, s->rows);
    rung_kernels_get()->activate(s->dpart, kept->gate, RUNG_ACT_SIGMOID, count);
    train_multiply(s->dpart, kept->o, count);
    return s->dpart;
}

/* Turns g, the gradient of o sigmoid(W h), into that of o, and adds to dh. */
static void output_gate_back(slice *s, float *g, const kept_group *kept, const net_group *group, const float *h)
{
    size_t count = s->rows * group->conf->heads * group->conf->dv;
    float *through = s->dhidden;
    memcpy(through, kept->o, count * sizeof *through);
    train_multiply(through, g, count); /* the gradient of the sigmoid */
    rung_kernels_get()->activate_back(through, kept->gate, RUNG_ACT_SIGMOID, count);
    train_linear_back(s, s->dh, s->dh, through, h, &group->gate, s->rows);
    rung_kernels_get()->activate(s->dgate, kept->gate, RUNG_ACT_SIGMOID, count);
    train_multiply(g, s->dgate, count);
}

/* rms(o of a head) silu(W h); o itself if there is no gate. Uses dpart and dgate as scratch. */
static const float *gated(slice *s, kept_group *kept, const net_group *group, const float *h)
{
    const rung_mech_conf *conf = group->conf;
    size_t count = s->rows * conf->heads * conf->dv;
    if (conf->out_gate) return gated_output(s, kept, group, h);
    if (!conf->gate) return kept->o;
    train_linear(kept->gate, h, NULL, &s->seen, &group->gate, s->rows);
    train_norm(s, s->dpart, kept->o, (net_norm){group->gate_norm, ABSENT}, s->rows * conf->heads, conf->dv, false);
    rung_kernels_get()->activate(s->dgate, kept->gate, RUNG_ACT_SILU, count);
    train_multiply(s->dpart, s->dgate, count);
    return s->dpart;
}

/* Turns g, the gradient of out, into that of o; dh += the gradient through the gate. Uses dhidden as scratch. */
static void gate_back(slice *s, float *g, const kept_group *kept, const net_group *group, const float *h)
{
    const rung_mech_conf *conf = group->conf;
    size_t rows = s->rows * conf->heads, count = rows * conf->dv;
    float *normal = s->dhidden, *silu = s->dgate;
    if (conf->out_gate) output_gate_back(s, g, kept, group, h);
    if (!conf->gate) return;
    const net_norm norm = {group->gate_norm, ABSENT};
    train_norm(s, normal, kept->o, norm, rows, conf->dv, false);
    rung_kernels_get()->activate(silu, kept->gate, RUNG_ACT_SILU, count);
    train_multiply(normal, g, count); /* the gradient of silu(gate) */
    train_multiply(silu, g, count);   /* and that of the norm */
    rung_kernels_get()->activate_back(normal, kept->gate, RUNG_ACT_SILU, count);
    train_linear_back(s, s->dh, s->dh, normal, h, &group->gate, s->rows);
    memset(g, 0, count * sizeof *g);
    train_norm_back(s, g, silu, kept->o, norm, rows, conf->dv, false);
}

static void mix_forward(slice *s, kept_layer *kept, const net_layer *layer)
{
    size_t offset = 0, total = layer->out.cols;
    const float *h = normed(s, kept->h1, kept->x, &layer->norm1);
    for (size_t g = 0; g < layer->group_count; g++) {
        size_t width = layer->group[g].conf->heads * layer->group[g].conf->dv;
        train_inputs(s, &kept->group[g], &layer->group[g], h);
        train_mix(s, &kept->group[g], &layer->group[g]);
        const float *answer = gated(s, &kept->group[g], &layer->group[g], h);
        if (answer != kept->mixed) put_columns(kept->mixed, answer, s->rows, total, offset, width);
        offset += width;
    }
    train_linear(kept->x1, kept->mixed, kept->x, &s->seen, &layer->out, s->rows);
}

static void mix_backward(slice *s, const kept_layer *kept, const net_layer *layer)
{
    size_t offset = 0, total = layer->out.cols, d = s->net->spec.d_model;
    const float *h = layer->norm1.weight == ABSENT ? kept->x : kept->h1;
    memset(s->dh, 0, s->rows * d * sizeof *s->dh);
    train_linear_back(s, s->dmixed, NULL, s->dx, kept->mixed, &layer->out, s->rows);
    for (size_t g = 0; g < layer->group_count; g++) {
        size_t width = layer->group[g].conf->heads * layer->group[g].conf->dv;
        float *part = width == total ? s->dmixed : s->dpart;
        if (part != s->dmixed) take_columns(part, s->dmixed, s->rows, total, offset, width);
        gate_back(s, part, &kept->group[g], &layer->group[g], h);
        train_mix_back(s, &kept->group[g], &layer->group[g], part);
        train_inputs_back(s, s->dh, &kept->group[g], &layer->group[g], h);
        offset += width;
    }
    normed_back(s, kept->x, &layer->norm1);
}

/* ---- MLP --------------------------------------------------------------------------------------------------------- */

/* Rows of the MLP at a time. Its weights stay in the second-level cache while the rows pass through all of it. */
enum { BLOCK = 128 };

/* Rows [first, first + rows) in the MLP of a layer. */
typedef struct mlp_rows {
    const float *h; /* the input: the normed stream */
    float *up, *gate, *hidden;
    size_t first, rows, elements; /* elements: of the hidden layer */
} mlp_rows;

static mlp_rows mlp_rows_at(const slice *s, const kept_layer *kept, const net_layer *layer, size_t first)
{
    size_t rows = s->rows - first < BLOCK ? s->rows - first : BLOCK, d_mlp = s->net->spec.d_mlp;
    const float *h = layer->norm2.weight == ABSENT ? kept->x1 : kept->h2;
    return (mlp_rows){.h = h + first * s->net->spec.d_model,
                      .up = kept->up + first * d_mlp,
                      .gate = rung_mlp_is_gated(layer->mlp) ? kept->gate + first * d_mlp : NULL,
                      .hidden = kept->hidden + first * d_mlp,
                      .first = first,
                      .rows = rows,
                      .elements = rows * d_mlp};
}

static rung_act act_of_gate(const net_layer *layer)
{
    return layer->mlp == RUNG_MLP_SWIGLU ? RUNG_ACT_SILU : RUNG_ACT_GELU_TANH;
}

/* hidden = act(up), and up becomes its slope; or up act(gate). */
static void mlp_rows_forward(slice *s, float *y, const kept_layer *kept, const net_layer *layer, const mlp_rows *m)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t d = s->net->spec.d_model;
    train_linear(m->up, m->h, NULL, &s->seen, &layer->up, m->rows);
    if (rung_mlp_is_gated(layer->mlp)) {
        train_linear(m->gate, m->h, NULL, &s->seen, &layer->gate, m->rows);
        kern->activate(m->hidden, m->gate, act_of_gate(layer), m->elements);
        train_multiply(m->hidden, m->up, m->elements);
    } else if (layer->mlp == RUNG_MLP_GELU) {
        kern->gelu(m->hidden, m->up, m->elements);
    } else if (layer->mlp == RUNG_MLP_GELU_TANH) {
        kern->activate(m->hidden, m->up, RUNG_ACT_GELU_TANH, m->elements);
        for (size_t i = 0; i < m->elements; i++) s->dgate[i] = 1;
        kern->activate_back(s->dgate, m->up, RUNG_ACT_GELU_TANH, m->elements);
        memcpy(m->up, s->dgate, m->elements * sizeof *m->up);
    } else {
        kern->relu(m->hidden, m->up, m->elements);
    }
    train_linear(y + m->first * d, m->hidden, kept->x1 + m->first * d, &s->seen, &layer->down, m->rows);
}

static void mlp_forward(slice *s, float *y, kept_layer *kept, const net_layer *layer)
{
    if (layer->mlp == RUNG_MLP_NONE) {
        memcpy(y, kept->x1, s->rows * s->net->spec.d_model * sizeof *y);
        return;
    }
    normed(s, kept->h2, kept->x1, &layer->norm2);
    for (size_t first = 0; first < s->rows; first += BLOCK) {
        mlp_rows m = mlp_rows_at(s, kept, layer, first);
        mlp_rows_forward(s, y, kept, layer, &m);
    }
}

/* dh = gradient of the input, from dx, the gradient of the output. */
static void mlp_rows_backward(slice *s, const net_layer *layer, const mlp_rows *m)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t at = m->first * s->net->spec.d_model;
    const float *through_gate = NULL, *slope = rung_mlp_is_gated(layer->mlp) ? NULL : m->up;
    train_linear_input_back(s->dhidden, NULL, s->dx + at, slope, &s->seen, &layer->down, m->rows);
    train_weights_back(s, s->dx + at, m->hidden, &layer->down, m->rows);
    if (rung_mlp_is_gated(layer->mlp)) {
        memcpy(s->dgate, s->dhidden, m->elements * sizeof *s->dgate); /* of act(gate): dhidden up */
        train_multiply(s->dgate, m->up, m->elements);
        kern->activate_back(s->dgate, m->gate, act_of_gate(layer), m->elements);
        train_linear_back(s, s->dh + at, NULL, s->dgate, m->h, &layer->gate, m->rows);
        through_gate = s->dh + at;
        kern->activate(s->dgate, m->gate, act_of_gate(layer), m->elements); /* of up: dhidden act(gate) */
        train_multiply(s->dhidden, s->dgate, m->elements);
    }
    train_linear_back(s, s->dh + at, through_gate, s->dhidden, m->h, &layer->up, m->rows);
}

static void mlp_backward(slice *s, const kept_layer *kept, const net_layer *layer)
{
    if (layer->mlp == RUNG_MLP_NONE) return;
    for (size_t first = 0; first < s->rows; first += BLOCK) {
        mlp_rows m = mlp_rows_at(s, kept, layer, first);
        mlp_rows_backward(s, layer, &m);
    }
    normed_back(s, kept->x1, &layer->norm2);
}

/* ---- one layer --------------------------------------------------------------------------------------------------- */

void train_layer(slice *s, size_t layer)
{
    bool last = layer + 1 == s->net->arch.layer_count;
    mix_forward(s, &s->layer[layer], &s->net->layer[layer]);
    mlp_forward(s, last ? s->final : s->layer[layer + 1].x, &s->layer[layer], &s->net->layer[layer]);
}

void train_layer_back(slice *s, size_t layer)
{
    mlp_backward(s, &s->layer[layer], &s->net->layer[layer]);
    mix_backward(s, &s->layer[layer], &s->net->layer[layer]);
}
