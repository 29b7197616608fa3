/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The loss: the read-out at the target positions only, cross-entropy or squared error, and their gradients. The
 * auxiliary losses of inner layers work the same way, with read-outs of their own.
 */
#include "tape.h"

#include "rung/kern.h"

#include <math.h>
#include <string.h>

/* Distance from a vector target that counts as right during training. */
#define NEAR 0.1

/* Rows that have a target; target = [..] of the batch. */
static size_t find_asked(slice *s, const int32_t *target)
{
    size_t asked = 0;
    for (size_t r = 0; r < s->rows; r++)
        if (target[slice_token(s, r)] != RUNG_NO_TARGET) s->asked[asked++] = r;
    return asked;
}

static size_t largest(const float *x, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

/* One row of logits becomes share * (softmax - one-hot of the answer), its gradient; returns the cross-entropy. */
static double cross_entropy(float *logits, size_t classes, int32_t answer, float share)
{
    const rung_kernels *kern = rung_kernels_get();
    float top = logits[largest(logits, classes)], own = logits[answer];
    for (size_t c = 0; c < classes; c++) logits[c] -= top;
    kern->exp(logits, logits, classes);
    float sum = kern->sum(logits, classes);
    kern->scale(logits, share / sum, classes);
    logits[answer] -= share;
    return log((double)sum) - (double)(own - top);
}

/* The mean over the coordinates; y becomes its gradient. */
static double squared_error(float *y, const float *want, size_t count, float share, bool *near)
{
    double sum = 0;
    for (size_t c = 0; c < count; c++) {
        float off = y[c] - want[c];
        sum += (double)off * (double)off;
        y[c] = share * 2 * off / (float)count;
    }
    *near = sum <= NEAR * NEAR;
    return sum / (double)count;
}

static void choose_rows(slice *s, const float *x, size_t asked)
{
    size_t d = s->net->spec.d_model;
    for (size_t i = 0; i < asked; i++) memcpy(s->chosen + i * d, x + s->asked[i] * d, d * sizeof *x);
}

static void spread_rows(slice *s, size_t asked)
{
    size_t d = s->net->spec.d_model;
    for (size_t i = 0; i < asked; i++) train_add(s->dx + s->asked[i] * d, s->dchosen + i * d, d);
}

/* A read-out with its norm. Weight and bias may be absent; an auxiliary loss has only the scaling norm. */
typedef struct reading {
    const net_linear *linear;
    net_norm at;
    bool norm, centre;
} reading;

static void read_forward(slice *s, const reading *r, const float *x, size_t asked)
{
    size_t d = s->net->spec.d_model;
    choose_rows(s, x, asked);
    if (r->norm)
        train_norm(s, s->normed, s->chosen, r->at, asked, d, r->centre);
    else
        memcpy(s->normed, s->chosen, asked * d * sizeof *x);
    train_linear(s->logits, s->normed, NULL, &s->seen, r->linear, asked);
}

/* logits hold their gradient; dx and grad get theirs. */
static void read_backward(slice *s, const reading *r, size_t asked)
{
    size_t d = s->net->spec.d_model;
    float *through = s->dh; /* [asked][d] */
    memset(s->dchosen, 0, asked * d * sizeof(float));
    train_linear_back(s, through, NULL, s->logits, s->normed, r->linear, asked);
    if (r->norm)
        train_norm_back(s, s->dchosen, through, s->chosen, r->at, asked, d, r->centre);
    else
        memcpy(s->dchosen, through, asked * d * sizeof(float));
    spread_rows(s, asked);
}

void train_loss(slice *s, const rung_batch *batch, double share, bool backward)
{
    const rung_net *net = s->net;
    const reading r = {&net->readout, net->final_norm, net->final_norm.weight != ABSENT,
                       net->spec.norm == RUNG_NORM_LAYER};
    size_t asked = find_asked(s, batch->target), answers = net->spec.answers, each = batch->thoughts + 1;
    bool all_right = true;
    read_forward(s, &r, s->final, asked);
    for (size_t i = 0; i < asked; i++) {
        float *row = s->logits + i * answers;
        size_t token = slice_token(s, s->asked[i]);
        bool right = false;
        double loss;
        if (batch->target_value) {
            loss = squared_error(row, batch->target_value + token * answers, answers, (float)share, &right);
        } else {
            right = largest(row, answers) == (size_t)batch->target[token];
            loss = cross_entropy(row, answers, batch->target[token], (float)share);
        }
        s->loss += share * loss;
        all_right = right && (all_right || i % each == 0);
        s->right += all_right && (i + 1) % each == 0;
    }
    s->targets += asked / each;
    if (backward) read_backward(s, &r, asked);
}

void train_layer_loss(slice *s, const rung_batch *batch, size_t layer, double share, bool backward)
{
    const rung_net *net = s->net;
    const net_linear *layer_readout = &net->layer[layer].layer_readout;
    const reading r = {layer_readout, {ABSENT, ABSENT}, true, false};
    const int32_t *target = batch->layer_target + layer * batch->sequences * shape_tokens(&s->shape);
    const float *x = layer + 1 < net->arch.layer_count ? s->layer[layer + 1].x : s->final;
    size_t asked = find_asked(s, target);
    read_forward(s, &r, x, asked);
    train_layer_sum *sum = &s->layer_sum[layer];
    for (size_t i = 0; i < asked; i++) {
        float *row = s->logits + i * layer_readout->rows;
        int32_t answer = target[slice_token(s, s->asked[i])];
        sum->right += largest(row, layer_readout->rows) == (size_t)answer;
        double loss = cross_entropy(row, layer_readout->rows, answer, (float)share);
        s->loss += share * loss;
        sum->loss += loss;
    }
    sum->targets += asked;
    if (backward) read_backward(s, &r, asked);
}
