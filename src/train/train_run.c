/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A training run from its specification to a model file. Step s uses the prompts s * batch * accumulate, ...;
 * evaluations use those of another stream. So the state after s steps is a function of the specification alone.
 */
#include "checkpoint.h"
#include "data.h"
#include "exact.h"
#include "share.h"

#include "rung/kern.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weight of the past in the running mean of loss and accuracy. */
#define MEAN_KEEP 0.95

void rung_train_defaults(rung_train_spec *conf)
{
    *conf = (rung_train_spec){
        .adamw = {.rate = 3e-3,
                  .beta1 = 0.9,
                  .beta2 = 0.98,
                  .epsilon = 1e-8,
                  .decay = 0.01,
                  .clip = 1,
                  .schedule = RUNG_SCHEDULE_COSINE,
                  .warmup = 50},
        .seed = 1,
        .steps = 1000,
        .batch = 32,
        .compute = RUNG_COMPUTE_FP32,
        .accumulate = 1,
        .gain = 0.57735026918962576, /* 1/sqrt(3): the variance 1/(3 fan_in) that PyTorch gives a projection */
        .score_gain = 1,
        .value_gain = 1,
        .position_gain = 2, /* makes them as large as token embeddings */
        .mix_until = 0.7,
        .eval_every = 100,
        .eval_prompts = 256,
        .stop_times = 2,
    };
}

bool rung_train_tests_exactly(const rung_train_spec *conf)
{
    return conf->test_prompts && conf->test_numbers && strcmp(conf->test_numbers, RUNG_TEST_FAST) != 0;
}

/* ---- canonical text ---------------------------------------------------------------------------------------------- */

/* Options that came later are written only where they differ from their defaults: a run keeps its text, and its id. */
static void put_unusual(rung_buf *out, const rung_train_spec *conf)
{
    const struct {
        const char *name;
        double value, usual;
    } rows[] = {
        {"value_gain", conf->value_gain, 1}, {"position_base", (double)conf->position_base, 0},
        {"layer_goal", conf->layer_goal, 0}, {"layer_rest", conf->layer_goal > 0 ? conf->layer_rest : 0, 0},
        {"few_values", conf->few_values, 0}, {"grow", conf->grow, 0},
    };
    for (size_t i = 0; i < RUNG_COUNT(rows); i++)
        if (rows[i].value != rows[i].usual) rung_buf_printf(out, " %s=%.17g", rows[i].name, rows[i].value);
}

void rung_train_canonical(rung_buf *out, const rung_train_spec *conf)
{
    const rung_model_spec *m = &conf->model;
    const rung_adamw *a = &conf->adamw;
    rung_buf_printf(out,
                    "arch=%s mlp=%s d_model=%zu d_mlp=%zu heads=%zu dk=%zu dv=%zu positions=%s norm=%s causal=%d "
                    "max_tokens=%zu ",
                    m->arch, m->mlp, m->d_model, m->d_mlp, m->heads, m->dk, m->dv,
                    rung_positions_names[m->positions - 1], rung_norm_names[m->norm - 1], (int)m->causal,
                    m->max_tokens);
    rung_buf_puts(out, "task=");
    rung_task_canonical(out, &conf->task);
    rung_buf_printf(out,
                    " seed=%" PRIu64 " steps=%" PRIu64 " batch=%zu accumulate=%zu rate=%.17g beta1=%.17g beta2=%.17g "
                    "epsilon=%.17g decay=%.17g clip=%.17g schedule=%s warmup=%" PRIu64,
                    conf->seed, conf->steps, conf->batch, conf->accumulate, a->rate, a->beta1, a->beta2, a->epsilon,
                    a->decay, a->clip, rung_schedule_names[a->schedule - 1], a->warmup);
    rung_buf_printf(out,
                    " gain=%.17g score_gain=%.17g position_gain=%.17g queries=%zu layer_targets=%.17g mix_first=%.17g "
                    "mix_second=%.17g mix_until=%.17g",
                    conf->gain, conf->score_gain, conf->position_gain, conf->queries, conf->layer_targets,
                    conf->mix_first, conf->mix_second, conf->mix_until);
    rung_buf_printf(out,
                    " random_labels=%d numbers=%s eval_every=%" PRIu64 " eval_prompts=%" PRIu64
                    " stop_at=%.17g stop_times=%zu",
                    (int)conf->random_labels, conf->numbers ? conf->numbers : "fp32", conf->eval_every,
                    conf->eval_prompts, conf->stop_at, conf->stop_times);
    if (conf->test_prompts) rung_buf_printf(out, " test_prompts=%" PRIu64, conf->test_prompts);
    if (rung_train_tests_exactly(conf)) rung_buf_printf(out, " test_numbers=%s", conf->test_numbers);
    if (conf->thoughts) rung_buf_printf(out, " thoughts=%zu", conf->thoughts);
    if (conf->compute == RUNG_COMPUTE_BF16) rung_buf_puts(out, " compute=bf16");
    put_unusual(out, conf);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static rung_status check_range(const char *name, double value, double low, double high, rung_error *err)
{
    if (value >= low && value <= high) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "training: %s = %g is outside %g..%g", name, value, low, high);
}

static rung_status check_test(const rung_train_spec *conf, rung_error *err)
{
    rung_fmt fmt;
    if (!rung_train_tests_exactly(conf)) return RUNG_OK;
    rung_status status = rung_fmt_parse(&fmt, conf->test_numbers, err);
    if (status != RUNG_OK) status = rung_fail_at(err, status, "training: test numbers");
    return status;
}

rung_status rung_train_check(const rung_train_spec *conf, rung_error *err)
{
    const struct {
        const char *name;
        double value, low, high;
    } ranges[] = {
        {"steps", (double)conf->steps, 1, 0x1p40},
        {"batch", (double)conf->batch, 1, 0x1p24},
        {"accumulate", (double)conf->accumulate, 1, 0x1p20},
        {"queries", (double)conf->queries, 0, 0x1p20},
        {"thoughts", (double)conf->thoughts, 0, RUNG_THOUGHTS_MOST},
        {"eval_prompts", (double)conf->eval_prompts, 0, 0x1p24},
        {"test_prompts", (double)conf->test_prompts, 0, 0x1p24},
        {"rate", conf->adamw.rate, 0, 1e3},
        {"beta1", conf->adamw.beta1, 0, 0x1.fffffep-1},
        {"beta2", conf->adamw.beta2, 0, 0x1.fffffep-1},
        {"epsilon", conf->adamw.epsilon, 1e-30, 1},
        {"decay", conf->adamw.decay, 0, 1e3},
        {"clip", conf->adamw.clip, 0, 1e30},
        {"gain", conf->gain, 0, 1e3},
        {"score_gain", conf->score_gain, 0, 1e3},
        {"position_gain", conf->position_gain, 0, 1e3},
        {"value_gain", conf->value_gain, 0, 1e3},
        {"position_base", (double)conf->position_base, 0, 0x1p30},
        {"layer_targets", conf->layer_targets, 0, 1e6},
        {"layer_goal", conf->layer_goal, 0, 1},
        {"layer_rest", conf->layer_rest, 0, 1},
        {"few_values", conf->few_values, 0, 1},
        {"grow", conf->grow, 0, 1},
        {"mix_first", conf->mix_first, 0, 1},
        {"mix_second", conf->mix_second, 0, 1},
        {"mix_first + mix_second", conf->mix_first + conf->mix_second, 0, 1},
        {"mix_until", conf->mix_until, 0, 1},
        {"stop_at", conf->stop_at, 0, 1},
    };
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < RUNG_COUNT(ranges); i++)
        status = check_range(ranges[i].name, ranges[i].value, ranges[i].low, ranges[i].high, err);
    if (status == RUNG_OK && conf->stop_at > 0 && (conf->eval_prompts == 0 || conf->eval_every == 0))
        return rung_fail(err, RUNG_USAGE, "training: an early stop needs evaluations; set eval_every and eval_prompts");
    RUNG_TRY(status);
    return check_test(conf, err);
}

/* ---- trainer ----------------------------------------------------------------------------------------------------- */

typedef struct trainer {
    const rung_train_spec *conf;
    const rung_team *team; /* NULL: alone */
    rung_net *net;
    rung_tape *tape;
    train_data *data;
    float *m, *v, *grad, *part;
    rung_buf canonical;
    train_progress at;
    size_t layers;
    rung_train_layer *layer; /* [layers] */
    size_t *layer_of;        /* [tensors]: the layer of a tensor, or `layers` */
    double outer_gradient;
    rung_loss tested;
    double rate, gradient, began;
    uint64_t began_step;
    bool resumed, diverged;
} trainer;

static rung_status open_net(trainer *t, rung_error *err)
{
    const rung_train_spec *conf = t->conf;
    size_t classes = 0;
    rung_status status = rung_net_new(&t->net, &conf->model, conf->seed, err);
    if (status == RUNG_OK) rung_net_scale(t->net, conf->gain, conf->score_gain, conf->value_gain, conf->position_gain);
    if (status == RUNG_OK && conf->position_base) status = rung_net_factor_positions(t->net, conf->position_base, err);
    RUNG_NEXT(status, train_data_new(&t->data, conf, t->net, conf->batch, err));
    if (status == RUNG_OK && (classes = train_data_classes(conf)))
        status = rung_net_add_layer_losses(t->net, classes, conf->layer_targets, conf->seed, err);
    if (status == RUNG_OK && conf->numbers) {
        rung_fmt fmt;
        status = rung_fmt_parse(&fmt, conf->numbers, err);
        if (status == RUNG_OK) rung_net_quantise(t->net, &fmt);
    }
    RUNG_NEXT(status, rung_tape_new(&t->tape, t->net, train_data_batch(t->data), conf->threads, err));
    RUNG_NEXT(status, rung_tape_compute(t->tape, conf->compute, err));
    if (status == RUNG_OK) rung_tape_join(t->tape, t->team);
    return status;
}

static bool is_first(const trainer *t)
{
    return !t->team || t->team->rank == 0;
}

static size_t layer_of_tensor(const char *name, size_t layers)
{
    size_t layer;
    return sscanf(name, "layers.%zu.", &layer) == 1 && layer < layers ? layer : layers;
}

static rung_status open_layers(trainer *t, rung_error *err)
{
    size_t tensors = rung_net_tensor_count(t->net);
    t->layers = rung_net_layers(t->net);
    t->layer = rung_calloc(t->layers, sizeof *t->layer, err);
    t->layer_of = rung_calloc(tensors, sizeof *t->layer_of, err);
    t->at.layer_means = t->conf->layer_targets > 0 ? 2 * (t->layers - 1) : 0;
    t->at.layer_mean = rung_calloc(t->at.layer_means + 1, sizeof *t->at.layer_mean, err);
    if (!t->layer || !t->layer_of || !t->at.layer_mean) return RUNG_SYSTEM;
    for (size_t i = 0; i < tensors; i++)
        t->layer_of[i] = layer_of_tensor(rung_net_tensor_at(t->net, i)->name, t->layers);
    for (size_t i = 0; i < t->layers; i++) t->layer[i] = (rung_train_layer){0, NAN, NAN, 0};
    return RUNG_OK;
}

static rung_status allocate(trainer *t, rung_error *err)
{
    size_t parameters = rung_net_parameters(t->net);
    t->m = rung_calloc(parameters, sizeof *t->m, err);
    t->v = rung_calloc(parameters, sizeof *t->v, err);
    t->grad = rung_calloc(parameters, sizeof *t->grad, err);
    t->part = rung_calloc(t->conf->accumulate > 1 ? parameters : 1, sizeof *t->part, err);
    if (!t->m || !t->v || !t->grad || !t->part) return RUNG_SYSTEM;
    rung_train_canonical(&t->canonical, t->conf);
    t->at.eval_loss = t->at.eval_accuracy = NAN;
    RUNG_TRY(rung_buf_ok(&t->canonical, err));
    return open_layers(t, err);
}

/* Rank 0 reads the checkpoint, and all ranks continue from it. */
static rung_status resume(trainer *t, const char *checkpoint, rung_error *err)
{
    size_t parameters = rung_net_parameters(t->net);
    float *values = rung_net_values(t->net);
    rung_status status = RUNG_OK;
    if (checkpoint && is_first(t))
        status = train_checkpoint_read(&t->resumed, &t->at, values, t->m, t->v, checkpoint, t->canonical.text,
                                       t->conf->steps, parameters, err);
    status = train_share_status(t->team, status, err);
    train_share_first(t->team, &t->resumed, sizeof t->resumed);
    if (status != RUNG_OK || !t->resumed) return status;
    double *mean = t->at.layer_mean;
    train_share_first(t->team, &t->at, sizeof t->at);
    t->at.layer_mean = mean;
    train_share_first(t->team, mean, t->at.layer_means * sizeof *mean);
    train_share_first(t->team, values, parameters * sizeof *values);
    train_share_first(t->team, t->m, parameters * sizeof *t->m);
    train_share_first(t->team, t->v, parameters * sizeof *t->v);
    return RUNG_OK;
}

static rung_status open_trainer(trainer *t, const char *checkpoint, rung_error *err)
{
    if (t->conf->team && t->conf->team->size > RUNG_SLICES)
        return rung_fail(err, RUNG_USAGE, "%zu processes are too many for one model: a batch has only %d slices",
                         t->conf->team->size, RUNG_SLICES);
    rung_status status = rung_train_check(t->conf, err);
    RUNG_NEXT(status, open_net(t, err));
    RUNG_NEXT(status, allocate(t, err));
    status = train_share_status(t->team, status, err);
    RUNG_NEXT(status, train_share_same(t->team, "words", t->canonical.text, t->canonical.len, err));
    RUNG_NEXT(status, resume(t, checkpoint, err));
    t->began = rung_wall_s();
    t->began_step = t->at.step;
    return status;
}

static void close_trainer(trainer *t)
{
    rung_tape_free(t->tape);
    train_data_free(t->data);
    rung_net_free(t->net);
    free(t->m);
    free(t->v);
    free(t->grad);
    free(t->part);
    free(t->layer);
    free(t->layer_of);
    free(t->at.layer_mean);
    rung_buf_clear(&t->canonical);
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

static bool is_mixed(const trainer *t)
{
    return (double)t->at.step < t->conf->mix_until * (double)t->conf->steps;
}

/* The share of the tables that questions ask about in this step. */
static double grown(const trainer *t)
{
    double until = t->conf->grow * (double)t->conf->steps, step = (double)t->at.step + 1;
    return step < until ? step / until : 1;
}

static double mean_with(double mean, double now, bool first)
{
    return first ? now : MEAN_KEEP * mean + (1 - MEAN_KEEP) * now;
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* Mean loss and mean accuracy of the auxiliary read-out of a layer; they go into the checkpoint, because the weights of
 * the next step depend on them. */
static double *layer_mean(trainer *t, size_t layer)
{
    return t->at.layer_mean + 2 * layer;
}

static size_t told_layers(const trainer *t)
{
    return t->at.layer_means / 2;
}

/* A loss fades while its read-out reaches the goal, and comes back if it no longer does. */
static void weigh_layer_losses(trainer *t)
{
    const rung_train_spec *conf = t->conf;
    for (size_t i = 0; i < told_layers(t); i++) {
        bool faded = conf->layer_goal > 0 && t->at.step > 0 && layer_mean(t, i)[1] >= conf->layer_goal;
        t->layer[i].target_weight = conf->layer_targets * (faded ? conf->layer_rest : 1);
        rung_net_weigh_layer_loss(t->net, i, t->layer[i].target_weight);
        t->layer[i].target_loss = t->layer[i].target_accuracy = 0;
    }
}

/* Adds the last batch to the sums of this step. */
static void add_layer_losses(trainer *t)
{
    for (size_t i = 0; i < told_layers(t); i++) {
        rung_loss loss = rung_tape_layer_loss(t->tape, i);
        t->layer[i].target_loss += loss.loss / (double)t->conf->accumulate;
        t->layer[i].target_accuracy += (double)loss.right / (double)loss.targets / (double)t->conf->accumulate;
    }
}

static void mean_layer_losses(trainer *t)
{
    for (size_t i = 0; i < told_layers(t); i++) {
        double *mean = layer_mean(t, i);
        mean[0] = mean_with(mean[0], t->layer[i].target_loss, t->at.step == 0);
        mean[1] = mean_with(mean[1], t->layer[i].target_accuracy, t->at.step == 0);
        t->layer[i].target_loss = mean[0], t->layer[i].target_accuracy = mean[1];
    }
}

static void measure_gradients(trainer *t)
{
    double outer = 0;
    for (size_t i = 0; i < t->layers; i++) t->layer[i].gradient = 0;
    for (size_t i = 0; i < rung_net_tensor_count(t->net); i++) {
        const rung_net_tensor *tensor = rung_net_tensor_at(t->net, i);
        double sum = rung_kernels_get()->square_sum(t->grad + tensor->offset, tensor->elements);
        *(t->layer_of[i] < t->layers ? &t->layer[t->layer_of[i]].gradient : &outer) += sum;
    }
    for (size_t i = 0; i < t->layers; i++) t->layer[i].gradient = sqrt(t->layer[i].gradient);
    t->outer_gradient = sqrt(outer);
}

/* ---- one step, of one batch or several --------------------------------------------------------------------------- */

/* The mean gradient over the batches of a step. */
static rung_status accumulate(trainer *t, rung_loss *sum, rung_error *err)
{
    const rung_train_spec *conf = t->conf;
    size_t parameters = rung_net_parameters(t->net);
    float share = 1 / (float)conf->accumulate;
    rung_status status = RUNG_OK;
    *sum = (rung_loss){0};
    if (conf->accumulate > 1) memset(t->grad, 0, parameters * sizeof *t->grad);
    for (size_t a = 0; status == RUNG_OK && a < conf->accumulate; a++) {
        uint64_t first = (t->at.step * conf->accumulate + a) * conf->batch;
        float *to = conf->accumulate > 1 ? t->part : t->grad;
        rung_loss loss = {0};
        train_data_grow(t->data, grown(t));
        status = train_data_fill(t->data, TRAIN_STREAM_LEARN, first, is_mixed(t), err);
        RUNG_NEXT(status, rung_net_gradient(&loss, to, t->net, t->tape, train_data_batch(t->data), err));
        for (size_t i = 0; status == RUNG_OK && conf->accumulate > 1 && i < parameters; i++)
            t->grad[i] += share * to[i];
        sum->loss += loss.loss / (double)conf->accumulate;
        sum->targets += loss.targets;
        sum->right += loss.right;
        if (status == RUNG_OK) add_layer_losses(t);
    }
    return status;
}

static rung_status diverge(const trainer *t, const char *what, rung_error *err)
{
    return rung_fail(err, RUNG_INPUT, "step %" PRIu64 ": the %s is no number any more; try a smaller rate or clip",
                     t->at.step, what);
}

static rung_status step(trainer *t, rung_error *err)
{
    rung_adamw adamw = t->conf->adamw;
    rung_loss loss;
    adamw.steps = t->conf->steps;
    weigh_layer_losses(t);
    RUNG_TRY(accumulate(t, &loss, err));
    mean_layer_losses(t);
    measure_gradients(t);
    t->diverged = !isfinite(loss.loss);
    if (t->diverged) return diverge(t, "loss", err);
    t->rate = rung_adamw_rate(&adamw, t->at.step);
    t->gradient = rung_adamw_step(t->net, t->m, t->v, t->grad, &adamw, t->at.step);
    t->diverged = !isfinite(t->gradient);
    if (t->diverged) return diverge(t, "gradient", err);
    t->at.loss = mean_with(t->at.loss, loss.loss, t->at.step == 0);
    t->at.accuracy = mean_with(t->at.accuracy, (double)loss.right / (double)loss.targets, t->at.step == 0);
    t->at.step++;
    return RUNG_OK;
}

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

/* Measures `batches` batches of fresh prompts, never simplified. exact NULL: by the fast evaluator. */
static rung_status measure(rung_loss *mean, trainer *t, train_exact *exact, train_stream stream, uint64_t first,
                           uint64_t batches, rung_error *err)
{
    rung_status status = RUNG_OK;
    *mean = (rung_loss){0};
    for (uint64_t b = 0; status == RUNG_OK && b < batches; b++) {
        rung_loss loss = {0};
        status = train_data_fill(t->data, stream, first + b * t->conf->batch, false, err);
        rung_batch batch = *train_data_batch(t->data);
        batch.layer_target = NULL;
        RUNG_NEXT(status, exact ? train_exact_loss(&loss, exact, &batch, err)
                                : rung_net_loss(&loss, t->net, t->tape, &batch, err));
        mean->loss += loss.loss * (double)loss.targets;
        mean->targets += loss.targets;
        mean->right += loss.right;
    }
    mean->loss /= (double)mean->targets;
    return status;
}

static uint64_t batches_of(const trainer *t, uint64_t prompts)
{
    return (prompts + t->conf->batch - 1) / t->conf->batch;
}

/* The prompts of an evaluation are numbered from its step on, so that no prompt repeats. */
static rung_status evaluate(trainer *t, rung_error *err)
{
    const rung_train_spec *conf = t->conf;
    uint64_t batches = batches_of(t, conf->eval_prompts);
    uint64_t number = conf->eval_every ? t->at.step / conf->eval_every : 0, first = number * batches * conf->batch;
    rung_loss mean;
    if (t->at.step == conf->steps && conf->eval_every && t->at.step % conf->eval_every) first += batches * conf->batch;
    RUNG_TRY(measure(&mean, t, NULL, TRAIN_STREAM_EVAL, first, batches, err));
    t->at.eval_loss = mean.loss;
    t->at.eval_accuracy = (double)mean.right / (double)mean.targets;
    t->at.streak = t->at.eval_accuracy >= conf->stop_at ? t->at.streak + 1 : 0;
    t->at.stopped_early = conf->stop_at > 0 && t->at.streak >= conf->stop_times && t->at.step < conf->steps;
    return RUNG_OK;
}

/* The exact evaluator is slow. If all prompts would take too long, it gets the first ones only. */
static rung_status test_exactly(trainer *t, rung_error *err)
{
    const rung_batch *batch = train_data_batch(t->data);
    uint64_t batches = batches_of(t, t->conf->test_prompts), most = train_exact_batches(t->net, batch);
    train_exact *exact = NULL;
    rung_fmt fmt;
    rung_status status = rung_fmt_parse(&fmt, t->conf->test_numbers, err);
    RUNG_NEXT(status, train_exact_new(&exact, t->net, &fmt, batch, t->conf->threads, t->team, err));
    status = train_share_status(t->team, status, err);
    RUNG_NEXT(status, measure(&t->tested, t, exact, TRAIN_STREAM_TEST, 0, batches < most ? batches : most, err));
    train_exact_free(exact);
    return status;
}

/* The last test. Its prompts affect neither the early stop nor the choice between runs. */
static rung_status test(trainer *t, rung_error *err)
{
    if (!t->conf->test_prompts) return RUNG_OK;
    if (rung_train_tests_exactly(t->conf)) return test_exactly(t, err);
    return measure(&t->tested, t, NULL, TRAIN_STREAM_TEST, 0, batches_of(t, t->conf->test_prompts), err);
}

static bool is_evaluated(const trainer *t)
{
    const rung_train_spec *conf = t->conf;
    bool due = conf->eval_every && t->at.step % conf->eval_every == 0;
    return conf->eval_prompts && (due || t->at.step == conf->steps);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

static bool is_over(const trainer *t)
{
    return t->at.step >= t->conf->steps || t->at.stopped_early;
}

static void show(rung_train_state *state, const trainer *t)
{
    double seconds = rung_wall_s() - t->began;
    double tokens =
        (double)(t->at.step - t->began_step) * (double)t->conf->accumulate * (double)train_data_tokens(t->data);
    *state = (rung_train_state){.step = t->at.step,
                                .loss = t->at.loss,
                                .accuracy = t->at.accuracy,
                                .rate = t->rate,
                                .gradient = t->gradient,
                                .eval_loss = t->at.eval_loss,
                                .eval_accuracy = t->at.eval_accuracy,
                                .test_loss = t->tested.targets ? t->tested.loss : NAN,
                                .test_accuracy = (double)t->tested.right / (double)t->tested.targets,
                                .test_targets = t->tested.targets,
                                .test_right = t->tested.right,
                                .tokens_per_second = seconds > 0 ? tokens / seconds : 0,
                                .seconds = seconds,
                                .parameters = rung_net_parameters(t->net),
                                .layer = t->layer,
                                .layers = t->layers,
                                .outer_gradient = t->outer_gradient,
                                .set = rung_compute_set(t->conf->compute),
                                .resumed = t->resumed,
                                .stopped_early = t->at.stopped_early,
                                .finished = is_over(t),
                                .diverged = t->diverged};
    if (t->tested.targets)
        snprintf(state->test_numbers, sizeof state->test_numbers, "%s",
                 rung_train_tests_exactly(t->conf) ? t->conf->test_numbers : RUNG_TEST_FAST);
}

/* In a team, saves only if all ranks have the same weights. On different processors they might differ, and then the
 * result is invalid. */
static rung_status save(const trainer *t, const char *checkpoint, rung_error *err)
{
    size_t parameters = rung_net_parameters(t->net);
    const float *values = rung_net_values(t->net);
    rung_status status = train_share_same(t->team, "weights", values, parameters * sizeof *values, err);
    if (status != RUNG_OK || !checkpoint) return status;
    if (is_first(t))
        status = train_checkpoint_write(checkpoint, t->canonical.text, &t->at, values, t->m, t->v, parameters, err);
    return train_share_status(t->team, status, err);
}

static rung_status loop(rung_train_state *state, trainer *t, const char *checkpoint, rung_train_watch *watch,
                        void *context, rung_error *err)
{
    uint64_t every = t->conf->checkpoint_every;
    rung_status status = RUNG_OK;
    bool go = true;
    while (status == RUNG_OK && go && !is_over(t)) {
        status = step(t, err);
        bool evaluated = status == RUNG_OK && is_evaluated(t);
        if (evaluated) status = evaluate(t, err);
        if (status != RUNG_OK) break;
        show(state, t);
        go = train_share_agrees(t->team, !watch || watch(context, state, evaluated));
        if (!go || is_over(t) || (every && t->at.step % every == 0)) status = save(t, checkpoint, err);
    }
    return status;
}

static rung_status write_model(const trainer *t, const char *out, rung_error *err)
{
    rung_buf made_by;
    if (!is_first(t)) return train_share_status(t->team, RUNG_OK, err);
    rung_buf_init(&made_by);
    rung_buf_printf(&made_by, "rung train, step %" PRIu64 ": %s", t->at.step, t->canonical.text);
    rung_status status = rung_buf_ok(&made_by, err);
    const float *values = rung_net_values(t->net);
    for (size_t i = 0; status == RUNG_OK && i < rung_net_parameters(t->net); i++)
        if (!isfinite(values[i]))
            status = rung_fail(err, RUNG_INPUT,
                               "parameter %zu of the model is not a finite number at step %" PRIu64
                               "; no model was written. "
                               "A smaller --rate or --clip may help",
                               i, t->at.step);
    RUNG_NEXT(status, rung_net_write(t->net, out, made_by.text, err));
    rung_buf_clear(&made_by);
    return train_share_status(t->team, status, err);
}

rung_status rung_train_run(rung_train_state *state, const rung_train_spec *conf, const char *out,
                           const char *checkpoint, rung_train_watch *watch, void *context, rung_error *err)
{
    trainer t = {.conf = conf, .team = conf->team && conf->team->size > 1 ? conf->team : NULL};
    rung_buf_init(&t.canonical);
    rung_status status = open_trainer(&t, checkpoint, err);
    RUNG_NEXT(status, loop(state, &t, checkpoint, watch, context, err));
    if (status == RUNG_OK && is_over(&t)) status = test(&t, err);
    if (status == RUNG_OK || t.diverged) show(state, &t);
    if (status == RUNG_OK && is_over(&t) && out) status = write_model(&t, out, err);
    state->layer = NULL, state->layers = 0;
    close_trainer(&t);
    return status;
}
