/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What a layer does before its mechanism, and its gradient. Order for one input, as in the evaluators: projection;
 * convolution and silu; the function of its source; length 1, or the norm with weights; rotation; the factor of queries;
 * and at the end the decays. The backward pass goes through the same steps in reverse order and computes what a step needs again from raw and conv.
 */
#include "tape.h"

#include <math.h>
#include <string.h>

static bool is_projected(const rung_mech_input *input, size_t row)
{
    return row > 0 && input->source != RUNG_FROM_PARAMETER;
}

/* The indexer of dsa learns from a loss of its own, here its mean over all tokens. No gradient flows from it into the
 * stream. */
static bool is_index(const rung_mech_input *input)
{
    return input->dim == RUNG_DIM_INDEX_QUERY || input->dim == RUNG_DIM_INDEX_KEY || input->dim == RUNG_DIM_INDEX_HEAD;
}

/* ---- convolution ------------------------------------------------------------------------------------------------- */

/* One row of one sequence: visits the taps that fall into the prompt. dy = NULL: forward, y += taps x; else
 * backward. */
typedef struct conv {
    const shape *shape;
    const float *taps; /* [row][width] */
    size_t row, width;
} conv;

static void convolve(float *y, const float *x, const conv *c, size_t sequences)
{
    size_t tokens = shape_tokens(c->shape);
    memset(y, 0, sequences * tokens * c->row * sizeof *y);
    for (size_t r = 0; r < sequences * tokens; r++) {
        size_t t = r % tokens, pos = shape_position(c->shape, t);
        for (size_t i = 0; i < c->width; i++) {
            if (pos + i + 1 < c->width) continue;
            const float *from = x + (r - t + shape_row(c->shape, t, pos + i + 1 - c->width)) * c->row;
            for (size_t k = 0; k < c->row; k++) y[r * c->row + k] += c->taps[k * c->width + i] * from[k];
        }
    }
}

static void convolve_back(float *dx, float *dtaps, const float *dy, const float *x, const conv *c, size_t sequences)
{
    size_t tokens = shape_tokens(c->shape);
    for (size_t r = 0; r < sequences * tokens; r++) {
        size_t t = r % tokens, pos = shape_position(c->shape, t);
        for (size_t i = 0; i < c->width; i++) {
            if (pos + i + 1 < c->width) continue;
            size_t source = (r - t + shape_row(c->shape, t, pos + i + 1 - c->width)) * c->row;
            for (size_t k = 0; k < c->row; k++) {
                dx[source + k] += c->taps[k * c->width + i] * dy[r * c->row + k];
                dtaps[k * c->width + i] += x[source + k] * dy[r * c->row + k];
            }
        }
    }
}

/* ---- rotation ---------------------------------------------------------------------------------------------------- */

/* Rotates by the angle of the token's position, or back (sign = -1), which is also the gradient. */
static void rotate(const slice *s, float *y, size_t heads, float sign)
{
    const rung_net *net = s->net;
    size_t half = net->spec.dk / 2, tokens = shape_tokens(&s->shape);
    for (size_t r = 0; r < s->rows; r++) {
        size_t pos = shape_position(&s->shape, r % tokens);
        const float *cosine = s->seen.w + net->cos + pos * half, *sine = s->seen.w + net->sin + pos * half;
        for (size_t h = 0; h < heads; h++) {
            float *low = y + (r * heads + h) * 2 * half, *high = low + half;
            for (size_t i = 0; i < half; i++) {
                float a = low[i], b = high[i], turn = sign * sine[i];
                low[i] = a * cosine[i] - b * turn;
                high[i] = b * cosine[i] + a * turn;
            }
        }
    }
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static bool act_of_source(rung_act *act, rung_mech_source source)
{
    switch (source) {
    case RUNG_FROM_GATE:
    case RUNG_FROM_REPLACEMENT:
        *act = RUNG_ACT_SIGMOID;
        return true;
    case RUNG_FROM_DECAY:
    case RUNG_FROM_SOFTPLUS:
        *act = RUNG_ACT_SOFTPLUS;
        return true;
    case RUNG_FROM_LOG_GATE:
        *act = RUNG_ACT_LOG_GATE;
        return true;
    case RUNG_FROM_KEEP:
        *act = RUNG_ACT_KEEP;
        return true;
    case RUNG_FROM_LINEAR:
    case RUNG_FROM_TIMED:
    case RUNG_FROM_REMOVAL:
    case RUNG_FROM_RATE:
    case RUNG_FROM_PARAMETER:
        break;
    }
    return false;
}

static conv conv_of(const slice *s, const net_input *weights, size_t row, const rung_mech_conf *conf)
{
    return (conv){&s->shape, s->seen.w + weights->conv, row, conf->conv};
}

static bool is_scaled(const rung_mech_conf *conf, const rung_mech_input *input)
{
    return conf->scale > 0 && rung_mech_is_query(input);
}

static float epsilon_of(const slice *s)
{
    return (float)rung_model_norm_epsilon(&s->net->spec);
}

bool train_input_is_plain(const rung_net *net, const net_group *group, size_t index)
{
    const rung_mech_input *input = &group->conf->mech->inputs[index];
    return input->source == RUNG_FROM_LINEAR && group->input[index].conv == ABSENT &&
           !(group->conf->unit && rung_mech_is_query_or_key(input)) && group->input[index].norm == ABSENT &&
           !is_scaled(group->conf, input) && !(input->rotary && net->cos != ABSENT);
}

/* z is the projection, or silu of its convolution. The function of the source is applied to it. */
static void make_z(const slice *s, float *z, const kept_group *kept, size_t index, size_t row, bool convolved)
{
    if (convolved)
        rung_kernels_get()->activate(z, kept->conv[index], RUNG_ACT_SILU, s->rows * row);
    else
        memcpy(z, kept->raw[index], s->rows * row * sizeof *z);
}

static void project(slice *s, kept_group *kept, const net_group *group, size_t index, size_t row, const float *h)
{
    const net_input *weights = &group->input[index];
    train_linear(kept->raw[index], h, NULL, &s->seen, &weights->linear, s->rows);
    if (weights->conv == ABSENT) return;
    conv c = conv_of(s, weights, row, group->conf);
    convolve(kept->conv[index], kept->raw[index], &c, s->sequences);
}

static void negate(float *y, size_t count)
{
    for (size_t i = 0; i < count; i++) y[i] = -y[i];
}

static void apply_source(slice *s, kept_group *kept, const net_group *group, size_t index, size_t row)
{
    const rung_mech_conf *conf = group->conf;
    const rung_mech_input *input = &conf->mech->inputs[index];
    float *y = kept->in[index];
    size_t count = s->rows * row;
    rung_act act;
    if (train_input_is_plain(s->net, group, index)) return;
    make_z(s, y, kept, index, row, group->input[index].conv != ABSENT);
    if (act_of_source(&act, input->source)) rung_kernels_get()->activate(y, y, act, count);
    if (input->source == RUNG_FROM_GATE && conf->neg) train_add(y, y, count);
    if (input->source == RUNG_FROM_REMOVAL) {
        train_unit(y, s->rows * conf->heads, conf->dk);
        negate(y, count);
    }
    if (input->source == RUNG_FROM_REPLACEMENT) {
        train_multiply(y, kept->in[index - 1], count);
        negate(y, count);
    }
    size_t heads = rung_mech_input_heads(input, conf);
    if (conf->unit && rung_mech_is_query_or_key(input)) train_unit(y, s->rows * heads, conf->dk);
    if (group->input[index].norm != ABSENT)
        train_row_norm(y, s->seen.w + group->input[index].norm, epsilon_of(s), s->rows * heads, conf->dk);
    if (input->rotary && s->net->cos != ABSENT) rotate(s, y, heads, 1);
    if (is_scaled(conf, input)) rung_kernels_get()->scale(y, (float)conf->scale, count);
}

static void repeat_rate(const slice *s, float *y, const float *rate, size_t heads)
{
    for (size_t r = 0; r < s->rows; r++) memcpy(y + r * heads, rate, heads * sizeof *y);
}

/* values = [rows][heads][dv], times = [rows][heads]. */
static void multiply_heads(float *values, const float *times, size_t rows, size_t dv)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < dv; i++) values[r * dv + i] *= times[r];
}

/* Values of Mamba-2 times the step, then the step becomes the logarithm of a decay. */
static void apply_decays(slice *s, kept_group *kept, const net_group *group)
{
    const rung_mech_conf *conf = group->conf;
    size_t step = rung_mech_decay_input(conf->mech), heads = conf->heads;
    if (!conf->mech->inputs[step].name || !kept->in[step]) return;
    size_t each = rung_mech_row(&conf->mech->inputs[step], conf) / heads;
    for (size_t i = 0; conf->mech->inputs[i].name; i++)
        if (conf->mech->inputs[i].source == RUNG_FROM_TIMED)
            multiply_heads(kept->in[i], kept->in[step], s->rows * heads, conf->dv);
    for (size_t r = 0; r < s->rows * heads; r++) {
        float rate = -expf(s->seen.w[group->input[step].rate + r % heads]);
        for (size_t i = 0; i < each; i++) kept->in[step][r * each + i] *= rate;
    }
}

void train_inputs(slice *s, kept_group *kept, const net_group *group, const float *h)
{
    const rung_mech_conf *conf = group->conf;
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        const rung_mech_input *input = &conf->mech->inputs[i];
        size_t row = rung_mech_row(input, conf);
        if (!is_projected(input, row)) continue;
        if (input->source == RUNG_FROM_RATE) {
            repeat_rate(s, kept->in[i], s->seen.w + group->input[i].rate, conf->heads);
            continue;
        }
        project(s, kept, group, i, row, h);
        apply_source(s, kept, group, i, row);
    }
    apply_decays(s, kept, group);
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

/* in = -e^A p with p = softplus(z); a timed value is z_v p. din of the decay becomes the gradient of p, din of the
 * values that of z_v. */
static void decays_back(slice *s, const kept_group *kept, const net_group *group)
{
    const rung_mech_conf *conf = group->conf;
    size_t step = rung_mech_decay_input(conf->mech), heads = conf->heads;
    if (!conf->mech->inputs[step].name || !kept->in[step]) return;
    size_t each = rung_mech_row(&conf->mech->inputs[step], conf) / heads;
    const float *rates = s->seen.w + group->input[step].rate;
    float *drates = s->grad + group->input[step].rate, *dp = s->din[step];
    for (size_t r = 0; r < s->rows * heads; r++)
        for (size_t i = 0; i < each; i++) {
            drates[r % heads] += dp[r * each + i] * kept->in[step][r * each + i]; /* d(-e^A p)/dA is itself */
            dp[r * each + i] *= -expf(rates[r % heads]);
        }
    for (size_t v = 0; conf->mech->inputs[v].name; v++) {
        if (conf->mech->inputs[v].source != RUNG_FROM_TIMED) continue;
        make_z(s, s->dz, kept, v, heads * conf->dv, group->input[v].conv != ABSENT);
        for (size_t r = 0; r < s->rows * heads; r++) {
            float p, *dv = s->din[v] + r * conf->dv;
            rung_kernels_get()->activate(&p, &kept->raw[step][r], RUNG_ACT_SOFTPLUS, 1);
            for (size_t i = 0; i < conf->dv; i++) {
                dp[r] += dv[i] * s->dz[r * conf->dv + i];
                dv[i] *= p;
            }
        }
    }
}

/* Turns g, the gradient of what the mechanism saw, into that of z. Queries and keys are linear, so z itself has length
 * 1. */
static void source_back(slice *s, float *g, const kept_group *kept, const net_group *group, size_t index, size_t row)
{
    const rung_mech_conf *conf = group->conf;
    const rung_mech_input *input = &conf->mech->inputs[index];
    size_t count = s->rows * row, heads = rung_mech_input_heads(input, conf);
    bool convolved = group->input[index].conv != ABSENT, unit = conf->unit && rung_mech_is_query_or_key(input);
    rung_act act;
    if (train_input_is_plain(s->net, group, index)) return;
    if (is_scaled(conf, input)) rung_kernels_get()->scale(g, (float)conf->scale, count);
    if (input->rotary && s->net->cos != ABSENT) rotate(s, g, heads, -1);
    make_z(s, s->dz, kept, index, row, convolved);
    size_t norm = group->input[index].norm;
    if (norm != ABSENT)
        train_row_norm_back(g, s->grad + norm, s->dz, s->seen.w + norm, epsilon_of(s), s->rows * heads, conf->dk);
    if (unit || input->source == RUNG_FROM_REMOVAL) train_unit_back(g, s->dz, s->rows * heads, conf->dk);
    if (input->source == RUNG_FROM_REMOVAL) negate(g, count);
    if (input->source == RUNG_FROM_REPLACEMENT) { /* y = -b sigmoid(z), where b is the previous input */
        const float *before = kept->in[index - 1];
        float *dbefore = s->din[index - 1];
        rung_kernels_get()->activate(s->dz, s->dz, RUNG_ACT_SIGMOID, count);
        for (size_t i = 0; i < count; i++) {
            dbefore[i] -= g[i] * s->dz[i];
            g[i] *= -before[i];
        }
    }
    if (input->source == RUNG_FROM_GATE && conf->neg) train_add(g, g, count);
    if (act_of_source(&act, input->source)) rung_kernels_get()->activate_back(g, kept->raw[index], act, count);
}

/* h: the normed stream. */
static void input_back(slice *s, float *dh, const kept_group *kept, const net_group *group, const float *h,
                       size_t index)
{
    const rung_mech_conf *conf = group->conf;
    const net_input *weights = &group->input[index];
    size_t row = rung_mech_row(&conf->mech->inputs[index], conf);
    float *g = s->din[index];
    if (conf->mech->inputs[index].source == RUNG_FROM_RATE) {
        for (size_t r = 0; r < s->rows; r++) train_add(s->grad + weights->rate, g + r * row, row);
        return;
    }
    source_back(s, g, kept, group, index, row);
    if (weights->conv != ABSENT) {
        conv c = conv_of(s, weights, row, conf);
        rung_kernels_get()->activate_back(g, kept->conv[index], RUNG_ACT_SILU, s->rows * row);
        memset(s->dz, 0, s->rows * row * sizeof *s->dz);
        convolve_back(s->dz, s->grad + weights->conv, g, kept->raw[index], &c, s->sequences);
        g = s->dz;
    }
    if (is_index(&conf->mech->inputs[index])) {
        for (size_t i = 0; i < s->rows * row; i++) g[i] *= s->token_share;
        dh = NULL;
    }
    if (dh) train_linear_input_back(dh, dh, g, NULL, &s->seen, &weights->linear, s->rows);
    train_weights_back(s, g, h, &weights->linear, s->rows);
}

/* From the last input to the first, because a replacement adds to the gradient of the input before it. */
void train_inputs_back(slice *s, float *dh, const kept_group *kept, const net_group *group, const float *h)
{
    const rung_mech_conf *conf = group->conf;
    decays_back(s, kept, group);
    for (size_t i = rung_mech_inputs(conf->mech); i-- > 0;)
        if (is_projected(&conf->mech->inputs[i], rung_mech_row(&conf->mech->inputs[i], conf)))
            input_back(s, dh, kept, group, h, i);
}
