/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A step: prepares the weights for the forward pass, runs the slices of the batch on the workers, and adds their
 * gradients in the order of the slices. A batch always has RUNG_SLICES slices, and a slice is always done a few
 * sequences at a time. So the bytes depend neither on the threads nor on the processes that share the slices.
 */
#include "tape.h"
#include "share.h"
#include "tiny.h"

#include <stdlib.h>
#include <string.h>

struct rung_tape {
    const rung_net *net;
    size_t threads, sequences; /* sequences: per block */
    shape shape;
    float *seen, *panels;
    uint32_t *words, *word_panels; /* NULL: every product in fp32 */
    double *layer_loss_share;      /* [layers]: weight of one target; below 0: the layer has no targets */
    rung_arena arena;
    slice *work;           /* [threads] */
    const rung_team *team; /* NULL: alone */
    train_part part[RUNG_SLICES];
};

/* Rows of a block, unless one sequence has more. With fewer rows the weights are reused less, and their gradients are
 * read and written more often. With more rows a block no longer fits into a cache of two megabytes. */
enum { BLOCK_ROWS = 128 };

static size_t sequences_of_block(const shape *sh)
{
    size_t tokens = shape_tokens(sh);
    return tokens < BLOCK_ROWS ? BLOCK_ROWS / tokens : 1;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* For each buffer the widest row that any layer needs, and the sizes for one sequence. */
typedef struct widths {
    size_t in[RUNG_MECH_INPUT_MAX], input, mixed, hidden, state, scratch, classes, norm;
} widths;

static void widen_by_group(widths *w, const rung_mech_conf *conf, const shape *sh)
{
    size_t tokens = sh->prefix + sh->each;
    w->scratch = larger(w->scratch, conf->mech->scratch(conf, tokens));
    if (conf->mech->backward_scratch) w->scratch = larger(w->scratch, conf->mech->backward_scratch(conf, tokens));
    w->state = larger(w->state, rung_mech_state_capacity(conf, tokens));
    w->hidden = larger(w->hidden, conf->heads * conf->dv);
    w->norm = larger(w->norm, conf->dv);
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        if (rung_mech_is_constant(&conf->mech->inputs[i])) continue;
        w->in[i] = larger(w->in[i], rung_mech_row(&conf->mech->inputs[i], conf));
        w->input = larger(w->input, w->in[i]);
    }
}

static widths widths_of(const rung_net *net, const shape *sh)
{
    widths w = {.classes = net->spec.answers, .norm = net->spec.d_model};
    for (size_t i = 0; i < net->arch.layer_count; i++) {
        const net_layer *layer = &net->layer[i];
        if (layer->mlp != RUNG_MLP_NONE) w.hidden = larger(w.hidden, net->spec.d_mlp);
        if (layer->layer_readout.weight != ABSENT) w.classes = larger(w.classes, layer->layer_readout.rows);
        w.mixed = larger(w.mixed, layer->out.cols);
        for (size_t g = 0; g < layer->group_count; g++) widen_by_group(&w, layer->group[g].conf, sh);
    }
    return w;
}

/* Takes rows * width floats from the arena, and remembers a failure. */
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
        if (train_input_is_plain(t->tape->net, group, i))
            kept->raw[i] = kept->in[i];
        else if (conf->mech->inputs[i].source != RUNG_FROM_RATE)
            kept->raw[i] = take(t, t->rows, row);
        if (group->input[i].conv != ABSENT) kept->conv[i] = take(t, t->rows, row);
    }
    kept->o = take(t, t->rows, width);
    if (conf->gate || conf->out_gate) kept->gate = take(t, t->rows, width);
    kept->state_size = rung_mech_state_capacity(conf, t->tape->shape.prefix);
    kept->state = take(t, t->tape->shape.queries ? t->tape->sequences : 0, kept->state_size);
}

static void take_layer(taker *t, kept_layer *kept, const net_layer *layer)
{
    size_t d = t->tape->net->spec.d_model, d_mlp = t->tape->net->spec.d_mlp;
    kept->x = take(t, t->rows, d);
    if (layer->norm1.weight != ABSENT) kept->h1 = take(t, t->rows, d);
    kept->x1 = take(t, t->rows, d);
    kept->group = rung_arena_alloc(&t->tape->arena, layer->group_count, sizeof *kept->group, t->err);
    if (!kept->group) t->failed = true;
    for (size_t g = 0; !t->failed && g < layer->group_count; g++) take_group(t, &kept->group[g], &layer->group[g]);
    if (t->failed) return;
    bool gated = layer->group[0].conf->gate || layer->group[0].conf->out_gate;
    bool alone = layer->group_count == 1 && !gated;
    kept->mixed = alone ? kept->group[0].o : take(t, t->rows, layer->out.cols);
    if (layer->mlp == RUNG_MLP_NONE) return;
    if (layer->norm2.weight != ABSENT) kept->h2 = take(t, t->rows, d);
    kept->up = take(t, t->rows, d_mlp);
    kept->hidden = take(t, t->rows, d_mlp);
    if (rung_mlp_is_gated(layer->mlp)) kept->gate = take(t, t->rows, d_mlp);
}

static void take_slice(taker *t, slice *s, const widths *w)
{
    const rung_net *net = t->tape->net;
    size_t d = net->spec.d_model, rows = t->rows, layers = net->arch.layer_count;
    s->net = net;
    s->seen = (seen_weights){.w = t->tape->seen, .panels = t->tape->panels};
    s->layer = rung_arena_alloc(&t->tape->arena, layers, sizeof *s->layer, t->err);
    if (!s->layer) t->failed = true;
    for (size_t i = 0; !t->failed && i < layers; i++) take_layer(t, &s->layer[i], &net->layer[i]);
    s->final = take(t, rows, d), s->dx = take(t, rows, d);
    s->room = take(t, 2, w->norm);
    s->dh = take(t, rows, d);
    s->dmixed = take(t, rows, w->mixed), s->dpart = take(t, rows, w->mixed);
    s->dhidden = take(t, rows, w->hidden), s->dgate = take(t, rows, w->hidden);
    for (size_t i = 0; i < RUNG_MECH_INPUT_MAX; i++) s->din[i] = take(t, rows, w->in[i]);
    s->dz = take(t, rows, w->input);
    s->state = take(t, 1, w->state), s->dstate = take(t, 1, w->state), s->dprefix = take(t, 1, w->state);
    s->scratch = take(t, 1, w->scratch);
    s->scratch_size = w->scratch;
    s->asked = rung_arena_alloc(&t->tape->arena, rows, sizeof *s->asked, t->err);
    s->touched = rung_arena_alloc(&t->tape->arena, net->linear_count, sizeof *s->touched, t->err);
    if (!s->asked || !s->touched) t->failed = true;
    s->chosen = take(t, rows, d), s->normed = take(t, rows, d), s->dchosen = take(t, rows, d);
    s->logits = take(t, rows, w->classes);
}

static void take_part(taker *t, train_part *part)
{
    part->grad = take(t, 1, t->tape->net->parameters);
    part->layers = t->tape->net->arch.layer_count;
    part->layer = rung_arena_alloc(&t->tape->arena, part->layers, sizeof *part->layer, t->err);
    if (!part->layer) t->failed = true;
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
    RUNG_TRY(check_shape(net, largest, err));
    rung_tape *tape = rung_calloc(1, sizeof *tape, err);
    if (!tape) return RUNG_SYSTEM;
    rung_arena_init(&tape->arena);
    tape->net = net;
    tape->threads = smaller(threads ? threads : rung_cpu_threads(), RUNG_SLICES);
    tape->shape = shape_of(largest);
    tape->sequences = smaller(largest_slice(largest->sequences), sequences_of_block(&tape->shape));
    taker t = {.tape = tape, .rows = tape->sequences * shape_tokens(&tape->shape), .err = err};
    widths w = widths_of(net, &tape->shape);
    tape->seen = take(&t, 1, net->parameters);
    tape->panels = take(&t, 1, net->panels);
    for (size_t i = 0; i < RUNG_SLICES; i++) take_part(&t, &tape->part[i]);
    tape->layer_loss_share = rung_arena_alloc(&tape->arena, net->arch.layer_count, sizeof *tape->layer_loss_share, err);
    tape->work = rung_arena_alloc(&tape->arena, tape->threads, sizeof *tape->work, err);
    t.failed = t.failed || !tape->layer_loss_share || !tape->work;
    for (size_t i = 0; i < tape->threads && !t.failed; i++) take_slice(&t, &tape->work[i], &w);
    if (t.failed) {
        rung_tape_free(tape);
        return RUNG_SYSTEM;
    }
    *out = tape;
    return RUNG_OK;
}

static uint32_t *take_words(rung_tape *tape, size_t count, rung_error *err)
{
    return rung_arena_alloc(&tape->arena, count, sizeof(uint32_t), err);
}

const char *const rung_compute_names[] = {"fp32", "bf16", NULL};

const char *rung_compute_set(rung_compute compute)
{
    return compute == RUNG_COMPUTE_BF16 ? rung_bf16_kernels_get()->name : rung_kernels_get()->name;
}

rung_status rung_tape_compute(rung_tape *tape, rung_compute compute, rung_error *err)
{
    if (compute != RUNG_COMPUTE_BF16 || tape->words) return RUNG_OK;
    uint32_t *words = take_words(tape, tape->net->parameters, err);
    tape->word_panels = words ? take_words(tape, tape->net->panels, err) : NULL;
    if (!tape->word_panels) return RUNG_SYSTEM;
    for (size_t i = 0; i < tape->threads; i++)
        if (!(tape->work[i].seen.room = take_words(tape, train_words_room(tape->net), err))) return RUNG_SYSTEM;
    tape->words = words;
    return RUNG_OK;
}

void rung_tape_join(rung_tape *tape, const rung_team *team)
{
    tape->team = team && team->size > 1 ? team : NULL;
}

void rung_tape_free(rung_tape *tape)
{
    if (!tape) return;
    rung_arena_clear(&tape->arena);
    free(tape);
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* One call that works on all slices. */
typedef struct pass {
    rung_tape *tape;
    const rung_batch *batch;
    double share;       /* weight of one target */
    float *grad;        /* NULL: forward only */
    train_range slices; /* that this process does */
    train_range adding; /* parameters whose slices are being added */
} pass;

/* Gradients are computed as rung_tape_compute says, losses alone in fp32, as the fast evaluator would. */
static bool in_bf16(const pass *p)
{
    return p->grad && p->tape->words;
}

static void pack_weights(void *context, size_t item, size_t worker)
{
    const pass *p = context;
    rung_tape *tape = p->tape;
    const net_linear *l = &tape->net->linear[item];
    (void)worker;
    if (in_bf16(p))
        train_bf16_pack(tape->words + l->weight, tape->word_panels + l->panels, tape->seen + l->weight, l);
    else
        rung_kernels_get()->pack(tape->panels + l->panels, tape->seen + l->weight, l->cols, l->rows, 1, l->cols);
}

/* One layer and its auxiliary loss, whose gradient is added to the one from above. */
static void layer_back(slice *s, const pass *p, size_t layer)
{
    double share = p->tape->layer_loss_share[layer];
    if (share >= 0) train_layer_loss(s, p->batch, layer, share, true);
    train_layer_back(s, layer);
}

static void backward(slice *s, const pass *p)
{
    memset(s->dx, 0, s->rows * s->net->spec.d_model * sizeof *s->dx);
    train_loss(s, p->batch, p->share, true);
    for (size_t i = s->net->arch.layer_count; i-- > 0;) layer_back(s, p, i);
    train_embed_back(s, p->batch);
}

static void measure_only(slice *s, const pass *p)
{
    const double *layer_loss_share = p->tape->layer_loss_share;
    train_loss(s, p->batch, p->share, false);
    for (size_t i = 0; i < s->net->arch.layer_count; i++)
        if (layer_loss_share[i] >= 0) train_layer_loss(s, p->batch, i, layer_loss_share[i], false);
}

static void do_block(slice *s, const pass *p)
{
    train_embed(s, p->batch);
    for (size_t i = 0; i < s->net->arch.layer_count; i++) train_layer(s, i);
    if (p->grad)
        backward(s, p);
    else
        measure_only(s, p);
}

/* The first block of a slice overwrites the gradient of a projection, and later blocks add to it: so most parameters
 * need not be zeroed. Zeroed are tensors that every block adds to, and projections that no block used. */
static void begin_gradient(slice *s)
{
    const rung_net *net = s->net;
    memset(s->touched, 0, net->linear_count * sizeof *s->touched);
    for (size_t i = 0; i < net->tensor_count; i++)
        if (!net->tensor[i].projects)
            memset(s->grad + net->tensor[i].offset, 0, net->tensor[i].elements * sizeof *s->grad);
}

static void end_gradient(slice *s)
{
    for (size_t i = 0; i < s->net->linear_count; i++) {
        const net_linear *l = &s->net->linear[i];
        if (!s->touched[i]) memset(s->grad + l->weight, 0, l->rows * l->cols * sizeof *s->grad);
    }
}

static void do_slice(void *context, size_t item, size_t worker)
{
    const pass *p = context;
    slice *s = &p->tape->work[worker];
    size_t index = p->slices.first + item;
    train_part *out = &p->tape->part[index];
    size_t all = p->batch->sequences, first = first_of(all, index), end = first_of(all, index + 1);
    s->seen.words = in_bf16(p) ? p->tape->words : NULL;
    s->seen.word_panels = p->tape->word_panels;
    s->shape = shape_of(p->batch);
    size_t each = smaller(p->tape->sequences, sequences_of_block(&s->shape));
    s->token_share = 1 / (float)(all * shape_tokens(&s->shape));
    s->loss = 0, s->targets = 0, s->right = 0;
    s->grad = out->grad;
    s->layer_sum = out->layer;
    memset(out->layer, 0, out->layers * sizeof *out->layer);
    tiny_mode before = tiny_to_zero();
    if (p->grad) begin_gradient(s);
    for (s->first = first; s->first < end; s->first += s->sequences) {
        s->sequences = smaller(each, end - s->first);
        s->rows = s->sequences * shape_tokens(&s->shape);
        do_block(s, p);
    }
    if (p->grad) end_gradient(s);
    tiny_back(before);
    out->sum = (train_sum){s->loss, end - first, s->targets, s->right};
}

/* Parameters per item of the sum over slices. */
enum { SUM_PART = 4096 };

static void sum_part(void *context, size_t item, size_t worker)
{
    const pass *p = context;
    size_t start = p->adding.first + item * SUM_PART, count = smaller(SUM_PART, p->adding.end - start);
    (void)worker;
    tiny_mode before = tiny_to_zero();
    if (p->slices.first == 0) memset(p->grad + start, 0, count * sizeof *p->grad);
    for (size_t i = p->slices.first; i < p->slices.end; i++)
        if (p->tape->part[i].sum.sequences) train_add(p->grad + start, p->tape->part[i].grad + start, count);
    tiny_back(before);
}

static void add_slices(void *context, train_range parameters)
{
    pass *p = context;
    p->adding = parameters;
    rung_par_for((parameters.end - parameters.first + SUM_PART - 1) / SUM_PART, p->tape->threads, sum_part, p);
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
    RUNG_TRY(check_shape(tape->net, batch, err));
    if (sh.prefix + sh.each > tape->shape.prefix + tape->shape.each || sh.prefix > tape->shape.prefix ||
        sh.queries > tape->shape.queries)
        return rung_fail(err, RUNG_USAGE, "the batch is larger than the one that the workspace was made for");
    if (spec->vocab ? !batch->token : !batch->feature)
        return rung_fail(err, RUNG_USAGE, "the model reads %s, but the batch has none",
                         spec->vocab ? "tokens" : "features");
    for (size_t t = 0; spec->vocab && t < tokens; t++)
        if (batch->token[t] >= spec->vocab)
            return rung_fail(err, RUNG_INPUT, "token %zu of the batch is id %u, but ids end at %zu", t, batch->token[t],
                             spec->vocab - 1);
    for (size_t t = 0; !batch->target_value && t < tokens; t++)
        if (batch->target[t] != RUNG_NO_TARGET && (size_t)batch->target[t] >= spec->answers)
            return rung_fail(err, RUNG_INPUT, "target %zu of the batch is %d, but answers end at %zu", t,
                             batch->target[t], spec->answers - 1);
    return RUNG_OK;
}

static rung_status fill_layer_targets(double *share, const rung_net *net, const rung_batch *batch, size_t tokens,
                                      rung_error *err)
{
    for (size_t i = 0; i < net->arch.layer_count; i++) {
        const net_linear *layer_readout = &net->layer[i].layer_readout;
        const int32_t *target = batch->layer_target ? batch->layer_target + i * tokens : NULL;
        share[i] = -1;
        if (layer_readout->weight == ABSENT || !target) continue;
        size_t targets = count_targets(target, tokens);
        share[i] = targets ? net->layer[i].layer_loss_weight / (double)targets : -1;
        for (size_t t = 0; t < tokens; t++)
            if (target[t] != RUNG_NO_TARGET && (size_t)target[t] >= layer_readout->rows)
                return rung_fail(err, RUNG_INPUT, "layer %zu has the target %d, but there are %zu classes", i,
                                 target[t], layer_readout->rows);
    }
    return RUNG_OK;
}

static void collect(rung_loss *loss, const rung_tape *tape)
{
    *loss = (rung_loss){0};
    for (size_t i = 0; i < RUNG_SLICES; i++) {
        const train_sum *sum = &tape->part[i].sum;
        loss->loss += sum->loss;
        loss->targets += sum->targets;
        loss->right += sum->right;
    }
}

static rung_status run(rung_loss *loss, float *grad, const rung_net *net, rung_tape *tape, const rung_batch *batch,
                       rung_error *err)
{
    size_t tokens = batch->sequences * (batch->prefix + batch->queries * batch->each);
    RUNG_TRY(check_batch(tape, batch, tokens, err));
    size_t targets = count_targets(batch->target, tokens);
    if (targets == 0) return rung_fail(err, RUNG_USAGE, "the batch has no targets");
    pass p = {.tape = tape, .batch = batch, .share = 1 / (double)targets, .grad = grad};
    p.slices = train_share(tape->team, RUNG_SLICES);
    tape->net = net;
    RUNG_TRY(fill_layer_targets(tape->layer_loss_share, net, batch, tokens, err));
    train_net_seen(tape->seen, net);
    rung_par_for(net->linear_count, tape->threads, pack_weights, &p);
    rung_par_for(p.slices.end - p.slices.first, tape->threads, do_slice, &p);
    train_share_parts(tape->team, tape->part);
    if (grad) train_share_gradient(tape->team, grad, net->parameters, add_slices, &p);
    collect(loss, tape);
    return RUNG_OK;
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

rung_loss rung_tape_layer_loss(const rung_tape *tape, size_t layer)
{
    rung_loss sum = {0};
    for (size_t i = 0; i < RUNG_SLICES; i++) {
        const train_layer_sum *part = &tape->part[i].layer[layer];
        sum.loss += part->loss;
        sum.targets += part->targets;
        sum.right += part->right;
    }
    if (sum.targets) sum.loss /= (double)sum.targets;
    return sum;
}
