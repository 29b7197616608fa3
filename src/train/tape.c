/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A step: weights as the forward pass sees them, the slices of the batch on the workers, and their gradients added in the
 * order of the slices. A batch always has RUNG_SLICES slices, whoever does them, so the bytes do not depend on the threads.
 */
#include "tape.h"

#include "rung/par.h"

#include <stdlib.h>
#include <string.h>

struct rung_tape {
    const rung_net *net;
    size_t threads, sequences; /* sequences: of the largest slice */
    shape shape;
    float *seen, *flipped;
    seen_weights weights;
    rung_arena arena;
    slice slice[RUNG_SLICES];
};

/* ---- memory --------------------------------------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The widest row that any layer needs of each buffer, and the sizes for one sequence. */
typedef struct widths {
    size_t in[RUNG_MECH_INPUT_MAX], input, mixed, hidden, state, scratch, classes;
} widths;

static void widen_by_group(widths *w, const rung_mech_conf *conf, const shape *sh)
{
    size_t tokens = sh->prefix + sh->each;
    w->scratch = larger(w->scratch, conf->mech->scratch(conf, tokens));
    if (conf->mech->backward_scratch) w->scratch = larger(w->scratch, conf->mech->backward_scratch(conf, tokens));
    w->state = larger(w->state, rung_mech_state_capacity(conf, tokens));
    w->hidden = larger(w->hidden, conf->heads * conf->dv);
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        if (rung_mech_is_constant(&conf->mech->inputs[i])) continue;
        w->in[i] = larger(w->in[i], rung_mech_row(&conf->mech->inputs[i], conf));
        w->input = larger(w->input, w->in[i]);
    }
}

static widths widths_of(const rung_net *net, const shape *sh)
{
    widths w = {.classes = net->spec.answers};
    for (size_t i = 0; i < net->arch.layer_count; i++) {
        const net_layer *layer = &net->layer[i];
        if (layer->mlp != RUNG_MLP_NONE) w.hidden = larger(w.hidden, net->spec.d_mlp);
        if (layer->told.weight != ABSENT) w.classes = larger(w.classes, layer->told.rows);
        w.mixed = larger(w.mixed, layer->out.cols);
        for (size_t g = 0; g < layer->group_count; g++) widen_by_group(&w, layer->group[g].conf, sh);
    }
    return w;
}

/* Takes rows * width floats from the arena; remembers a failure. */
typedef struct taker {
    rung_tape *tape;
    size_t rows;
    rung_error *err;
    bool failed;
} taker;

static float *take(taker *t, size_t rows, size_t width)
{
    size_t count = 0;
    if (t->failed) return NULL;
    float *out =
        rung_size_mul(&count, rows, width)
            ? rung_arena_alloc(&t->tape->arena, count, sizeof *out, t->err)
            : (rung_fail(t->err, RUNG_SYSTEM, "%zu rows of %zu numbers do not fit into memory", rows, width), NULL);
    t->failed = !out;
    return out;
}

static void take_group(taker *t, kept_group *kept, const net_group *group)
{
    const rung_mech_conf *conf = group->conf;
    size_t width = conf->heads * conf->dv;
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        size_t row = rung_mech_row(&conf->mech->inputs[i], conf);
        if (row == 0 || conf->mech->inputs[i].source == RUNG_FROM_PARAMETER) continue;
        kept->in[i] = take(t, t->rows, row);
        if (conf->mech->inputs[i].source != RUNG_FROM_RATE) kept->raw[i] = take(t, t->rows, row);
        if (group->input[i].conv != ABSENT) kept->conv[i] = take(t, t->rows, row);
    }
    kept->o = take(t, t->rows, width);
    if (conf->gate) kept->gate = take(t, t->rows, width);
    kept->state_size = rung_mech_state_capacity(conf, t->tape->shape.prefix);
    kept->state = take(t, t->tape->shape.queries ? t->tape->sequences : 0, kept->state_size);
}

static void take_layer(taker *t, kept_layer *kept, const net_layer *layer)
{
    size_t d = t->tape->net->spec.d_model, d_mlp = t->tape->net->spec.d_mlp;
    kept->x = take(t, t->rows, d);
    if (layer->norm1.weight != ABSENT) kept->h1 = take(t, t->rows, d);
    kept->mixed = take(t, t->rows, layer->out.cols);
    kept->x1 = take(t, t->rows, d);
    kept->group = rung_arena_alloc(&t->tape->arena, layer->group_count, sizeof *kept->group, t->err);
    if (!kept->group) t->failed = true;
    for (size_t g = 0; !t->failed && g < layer->group_count; g++) take_group(t, &kept->group[g], &layer->group[g]);
    if (layer->mlp == RUNG_MLP_NONE) return;
    if (layer->norm2.weight != ABSENT) kept->h2 = take(t, t->rows, d);
    kept->up = take(t, t->rows, d_mlp);
    kept->hidden = take(t, t->rows, d_mlp);
    if (layer->mlp == RUNG_MLP_SWIGLU) kept->gate = take(t, t->rows, d_mlp);
}

static void take_slice(taker *t, slice *s, const widths *w)
{
    const rung_net *net = t->tape->net;
    size_t layers = net->arch.layer_count, d = net->spec.d_model, rows = t->rows;
    s->net = net;
    s->seen = &t->tape->weights;
    s->layer = rung_arena_alloc(&t->tape->arena, layers, sizeof *s->layer, t->err);
    if (!s->layer) t->failed = true;
    for (size_t i = 0; !t->failed && i < layers; i++) take_layer(t, &s->layer[i], &net->layer[i]);
    s->final = take(t, rows, d);
    s->grad = take(t, 1, net->parameters);
    s->dx = take(t, rows, d), s->dh = take(t, rows, d);
    s->dmixed = take(t, rows, w->mixed), s->dpart = take(t, rows, w->mixed);
    s->dhidden = take(t, rows, w->hidden), s->dgate = take(t, rows, w->hidden);
    for (size_t i = 0; i < RUNG_MECH_INPUT_MAX; i++) s->din[i] = take(t, rows, w->in[i]);
    s->dz = take(t, rows, w->input);
    s->state = take(t, 1, w->state), s->dstate = take(t, 1, w->state), s->dprefix = take(t, 1, w->state);
    s->scratch = take(t, 1, w->scratch);
    s->scratch_size = w->scratch;
    s->asked = rung_arena_alloc(&t->tape->arena, rows, sizeof *s->asked, t->err);
    if (!s->asked) t->failed = true;
    s->chosen = take(t, rows, d), s->normed = take(t, rows, d), s->dchosen = take(t, rows, d);
    s->logits = take(t, rows, w->classes);
}

/* First sequence of a slice: the batch in equal parts. */
static size_t first_of(size_t sequences, size_t index)
{
    return sequences / RUNG_SLICES * index + sequences % RUNG_SLICES * index / RUNG_SLICES;
}

static size_t largest_slice(size_t sequences)
{
    return sequences / RUNG_SLICES + (sequences % RUNG_SLICES != 0);
}

static shape shape_of(const rung_batch *batch)
{
    return (shape){batch->prefix, batch->queries, batch->queries ? batch->each : 0};
}

static rung_status check_shape(const rung_net *net, const rung_batch *batch, rung_error *err)
{
    size_t tokens, all;
    shape sh = shape_of(batch);
    if (!rung_size_mul(&tokens, sh.queries, sh.each) || !rung_size_add(&tokens, tokens, sh.prefix) ||
        !rung_size_mul(&all, tokens, batch->sequences) || all > SIZE_MAX / 64 || all == 0)
        return rung_fail(err, RUNG_USAGE, "a batch of %zu sequences with %zu + %zu x %zu tokens cannot be used",
                         batch->sequences, sh.prefix, sh.queries, sh.each);
    if (net->spec.positions != RUNG_POS_NONE && sh.prefix + sh.each > net->spec.max_tokens)
        return rung_fail(err, RUNG_USAGE, "%zu tokens are more than the %zu positions of the model",
                         sh.prefix + sh.each, net->spec.max_tokens);
    if (sh.queries && sh.prefix && !rung_net_forks(net))
        return rung_fail(err, RUNG_USAGE,
                         "a mechanism of %s cannot share a prefix between questions; repeat the prefix for each",
                         net->spec.arch);
    return RUNG_OK;
}

rung_status rung_tape_new(rung_tape **out, const rung_net *net, const rung_batch *largest, size_t threads,
                          rung_error *err)
{
    rung_status status = check_shape(net, largest, err);
    if (status != RUNG_OK) return status;
    rung_tape *tape = rung_calloc(1, sizeof *tape, err);
    if (!tape) return RUNG_SYSTEM;
    rung_arena_init(&tape->arena);
    tape->net = net;
    tape->threads = threads ? threads : rung_cpu_threads();
    tape->shape = shape_of(largest);
    tape->sequences = largest_slice(largest->sequences);
    taker t = {.tape = tape, .rows = tape->sequences * shape_tokens(&tape->shape), .err = err};
    widths w = widths_of(net, &tape->shape);
    tape->seen = take(&t, 1, net->parameters);
    tape->flipped = take(&t, 1, net->parameters);
    tape->weights = (seen_weights){tape->seen, tape->flipped};
    for (size_t i = 0; i < RUNG_SLICES && !t.failed; i++) take_slice(&t, &tape->slice[i], &w);
    if (t.failed) {
        rung_tape_free(tape);
        return RUNG_SYSTEM;
    }
    *out = tape;
    return RUNG_OK;
}

void rung_tape_free(rung_tape *tape)
{
    if (!tape) return;
    rung_arena_clear(&tape->arena);
    free(tape);
}

/* ---- a step ----------------------------------------------------------------------------------------------------------- */

static void flip(float *to, const float *from, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) to[j * rows + i] = from[i * cols + j];
}

static void prepare_weights(rung_tape *tape)
{
    const rung_net *net = tape->net;
    train_net_seen(tape->seen, net);
    for (size_t i = 0; i < net->tensor_count; i++)
        if (net->tensor[i].rank == 2)
            flip(tape->flipped + net->tensor[i].offset, tape->seen + net->tensor[i].offset, net->tensor[i].shape[0],
                 net->tensor[i].shape[1]);
}

/* One call at work on all slices. */
typedef struct pass {
    rung_tape *tape;
    const rung_batch *batch;
    bool backward;
    double share, *told_share; /* of one target; [layers] */
    float *grad;
} pass;

static void backward(slice *s, const pass *p)
{
    size_t layers = s->net->arch.layer_count;
    for (size_t i = layers; i-- > 0;) {
        if (p->told_share[i] > 0) train_told_loss(s, p->batch, i, p->told_share[i], true);
        train_layer_back(s, i);
    }
    train_embed_back(s, p->batch);
}

static void do_slice(void *context, size_t item, size_t worker)
{
    const pass *p = context;
    slice *s = &p->tape->slice[item];
    (void)worker;
    s->shape = shape_of(p->batch);
    s->first = first_of(p->batch->sequences, item);
    s->sequences = first_of(p->batch->sequences, item + 1) - s->first;
    s->rows = s->sequences * shape_tokens(&s->shape);
    s->token_share = 1 / (float)(p->batch->sequences * shape_tokens(&s->shape));
    s->loss = 0, s->targets = 0, s->right = 0;
    if (s->rows == 0) return;
    train_forward(s, p->batch);
    if (p->backward) {
        memset(s->grad, 0, s->net->parameters * sizeof *s->grad);
        memset(s->dx, 0, s->rows * s->net->spec.d_model * sizeof *s->dx);
    }
    train_loss(s, p->batch, p->share, p->backward);
    if (p->backward)
        backward(s, p);
    else
        for (size_t i = 0; i < s->net->arch.layer_count; i++)
            if (p->told_share[i] > 0) train_told_loss(s, p->batch, i, p->told_share[i], false);
}

/* Parameters that one item of the sum over slices takes. */
enum { SUM_PART = 4096 };

static void sum_part(void *context, size_t item, size_t worker)
{
    const pass *p = context;
    size_t start = item * SUM_PART, all = p->tape->net->parameters,
           count = all - start < SUM_PART ? all - start : SUM_PART;
    (void)worker;
    memset(p->grad + start, 0, count * sizeof *p->grad);
    for (size_t i = 0; i < RUNG_SLICES; i++)
        if (p->tape->slice[i].rows) train_add(p->grad + start, p->tape->slice[i].grad + start, count);
}

static size_t count_targets(const int32_t *target, size_t tokens)
{
    size_t count = 0;
    for (size_t t = 0; t < tokens; t++) count += target[t] != RUNG_NO_TARGET;
    return count;
}

static rung_status check_batch(const rung_tape *tape, const rung_batch *batch, size_t tokens, rung_error *err)
{
    const rung_model_spec *spec = &tape->net->spec;
    shape sh = shape_of(batch);
    rung_status status = check_shape(tape->net, batch, err);
    if (status != RUNG_OK) return status;
    if (sh.prefix + sh.each > tape->shape.prefix + tape->shape.each || sh.prefix > tape->shape.prefix ||
        sh.queries > tape->shape.queries || largest_slice(batch->sequences) > tape->sequences)
        return rung_fail(err, RUNG_USAGE, "the batch is larger than the one that the workspace was made for");
    if (spec->vocab ? !batch->token : !batch->feature)
        return rung_fail(err, RUNG_USAGE, "the model reads %s, the batch has none",
                         spec->vocab ? "tokens" : "features");
    for (size_t t = 0; spec->vocab && t < tokens; t++)
        if (batch->token[t] >= spec->vocab)
            return rung_fail(err, RUNG_INPUT, "token %zu of the batch is id %u, the vocabulary ends at %zu", t,
                             batch->token[t], spec->vocab - 1);
    for (size_t t = 0; !batch->target_value && t < tokens; t++)
        if (batch->target[t] != RUNG_NO_TARGET && (size_t)batch->target[t] >= spec->answers)
            return rung_fail(err, RUNG_INPUT, "target %zu of the batch is %d, the answers end at %zu", t,
                             batch->target[t], spec->answers - 1);
    return RUNG_OK;
}

static rung_status fill_told(double *share, const rung_net *net, const rung_batch *batch, size_t tokens,
                             rung_error *err)
{
    for (size_t i = 0; i < net->arch.layer_count; i++) {
        const net_linear *told = &net->layer[i].told;
        const int32_t *target = batch->layer_target ? batch->layer_target + i * tokens : NULL;
        if (told->weight == ABSENT || !target) continue;
        size_t targets = count_targets(target, tokens);
        share[i] = targets ? net->told_weight / (double)targets : 0;
        for (size_t t = 0; t < tokens; t++)
            if (target[t] != RUNG_NO_TARGET && (size_t)target[t] >= told->rows)
                return rung_fail(err, RUNG_INPUT, "layer %zu is told %d, and there are %zu classes", i, target[t],
                                 told->rows);
    }
    return RUNG_OK;
}

static void collect(rung_loss *loss, const rung_tape *tape)
{
    *loss = (rung_loss){0};
    for (size_t i = 0; i < RUNG_SLICES; i++) {
        loss->loss += tape->slice[i].loss;
        loss->targets += tape->slice[i].targets;
        loss->right += tape->slice[i].right;
    }
}

static rung_status run(rung_loss *loss, float *grad, const rung_net *net, rung_tape *tape, const rung_batch *batch,
                       rung_error *err)
{
    size_t tokens = batch->sequences * (batch->prefix + batch->queries * batch->each);
    rung_status status = check_batch(tape, batch, tokens, err);
    if (status != RUNG_OK) return status;
    size_t targets = count_targets(batch->target, tokens);
    if (targets == 0) return rung_fail(err, RUNG_USAGE, "the batch has no targets");
    double *told = rung_calloc(net->arch.layer_count, sizeof *told, err);
    if (!told) return RUNG_SYSTEM;
    pass p = {tape, batch, grad != NULL, 1 / (double)targets, told, grad};
    tape->net = net;
    status = fill_told(told, net, batch, tokens, err);
    if (status == RUNG_OK) {
        prepare_weights(tape);
        rung_par_for(RUNG_SLICES, tape->threads, do_slice, &p);
        if (grad) rung_par_for((net->parameters + SUM_PART - 1) / SUM_PART, tape->threads, sum_part, &p);
        collect(loss, tape);
    }
    free(told);
    return status;
}

rung_status rung_net_loss(rung_loss *loss, const rung_net *net, rung_tape *tape, const rung_batch *batch,
                          rung_error *err)
{
    return run(loss, NULL, net, tape, batch, err);
}

rung_status rung_net_gradient(rung_loss *loss, float *grad, const rung_net *net, rung_tape *tape,
                              const rung_batch *batch, rung_error *err)
{
    return run(loss, grad, net, tape, batch, err);
}
