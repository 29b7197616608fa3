/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Batches. Prompt number i of a stream is instance i of the task for the seed of that stream. The configuration then
 * changes it: simpler tables, more questions about the same prefix, the correct thought tokens after each question,
 * random answers. Workers fill prompts in parallel; each has an instance of its own.
 */
#include "data.h"

#include "rung/par.h"

#include <stdlib.h>
#include <string.h>

enum { THOUGHTS_MAX = 1 << 20 }; /* largest number of different thought tokens */

struct train_data {
    const rung_train_spec *conf;
    size_t prompts, layers;
    size_t start;  /* first token of the question, if there are several questions per prompt */
    bool repeated; /* each question is a sequence of its own, with a copy of the prefix */
    size_t tokens; /* of one sequence */
    rung_batch batch;
    uint32_t *token;
    float *feature, *value;
    int32_t *target, *layer_target;
    rung_instance instance[RUNG_SLICES];
    rung_error error[RUNG_SLICES];
    rung_status status[RUNG_SLICES];
    size_t *entry[RUNG_SLICES]; /* [tokens] scratch for few values */
    rung_ids values;            /* ids of values, where few values need them */
    uint64_t seed, first;
    bool mixed;
    double grown, part; /* as the caller said; in the stream being filled */
};

/* ---- shape ------------------------------------------------------------------------------------------------------- */

/* The question is what the last player of the task's own split holds: one token, or (z_0, w) for seqcomp. Longer
 * questions are uniform in no task: a random string would match nothing. */
static size_t question_start(const rung_instance *instance, const rung_task_conf *task)
{
    size_t last = instance->player_count - 1;
    if (train_is_seqcomp(task) && last > 0) last--;
    return instance->player[last].start;
}

/* If `dist` is about the tables only, questions are uniform in any case. */
static bool questions_are_uniform(const rung_task_conf *task)
{
    if (rung_param_find(task->task->params, "dist") == SIZE_MAX || rung_task_param(task, "dist") == 0) return true;
    return train_is_seqcomp(task) || strcmp(task->task->name, "eva") == 0;
}

static rung_status check_questions(train_data *data, rung_error *err)
{
    const rung_task_conf *task = &data->conf->task;
    rung_instance *sample = &data->instance[0];
    if (train_is_seqcomp(task)) {
        rung_status status = train_seqcomp_check(task, "several questions per prompt", err);
        RUNG_TRY(status);
    }
    if (!task->vocab || !task->task->ids || !task->task->players)
        return rung_fail(err, RUNG_USAGE, "task %s has no questions that can be drawn at random; leave out --queries",
                         task->task->name);
    if (!questions_are_uniform(task))
        return rung_fail(err, RUNG_USAGE, "several questions per prompt are drawn uniformly; leave out dist=");
    RUNG_TRY(rung_task_make(sample, task, data->conf->seed, 0, err));
    data->start = question_start(sample, task);
    if (!train_is_seqcomp(task) && data->start + 1 != task->tokens)
        return rung_fail(err, RUNG_USAGE, "the question of task %s is longer than one token; leave out --queries",
                         task->task->name);
    bool only = data->start > 0 && sample->tokens == task->tokens;
    for (size_t t = 0; t < data->start; t++) only = only && sample->target[t] == RUNG_NO_TARGET;
    if (!only)
        return rung_fail(err, RUNG_USAGE, "task %s asks inside its prompts; leave out --queries", task->task->name);
    return RUNG_OK;
}

static rung_status shape_batch(train_data *data, const rung_net *net, rung_error *err)
{
    const rung_train_spec *conf = data->conf;
    size_t tokens = conf->task.tokens + conf->thoughts;
    data->batch = (rung_batch){.sequences = data->prompts, .prefix = tokens, .thoughts = conf->thoughts};
    data->tokens = tokens;
    if (!conf->queries) return RUNG_OK;
    RUNG_TRY(check_questions(data, err));
    data->repeated = !rung_net_forks(net);
    if (data->repeated) {
        if (!rung_size_mul(&data->batch.sequences, data->prompts, conf->queries))
            return rung_fail(err, RUNG_USAGE, "%zu prompts with %zu questions are too many", data->prompts,
                             conf->queries);
        return RUNG_OK;
    }
    data->batch.prefix = data->start;
    data->batch.queries = conf->queries;
    data->batch.each = tokens - data->start;
    if (!rung_size_mul(&data->tokens, conf->queries, data->batch.each) ||
        !rung_size_add(&data->tokens, data->tokens, data->start))
        return rung_fail(err, RUNG_USAGE, "%zu questions are too many", conf->queries);
    return RUNG_OK;
}

static rung_status make_room(train_data *data, rung_error *err)
{
    const rung_task_conf *task = &data->conf->task;
    size_t all, layer_targets;
    if (!rung_size_mul(&all, data->tokens, data->batch.sequences) || all > SIZE_MAX / 64 / (task->d_in + 1) ||
        !rung_size_mul(&layer_targets, all, data->layers) || all > SIZE_MAX / 64 / (task->d_out + 1))
        return rung_fail(err, RUNG_USAGE, "a batch of %zu sequences of %zu tokens is too large", data->batch.sequences,
                         data->tokens);
    data->target = rung_calloc(all, sizeof *data->target, err);
    if (task->vocab) data->token = rung_calloc(all, sizeof *data->token, err);
    if (task->d_in) data->feature = rung_calloc(all * task->d_in, sizeof *data->feature, err);
    if (task->d_out) data->value = rung_calloc(all * task->d_out, sizeof *data->value, err);
    if (data->conf->layer_targets > 0) data->layer_target = rung_calloc(layer_targets, sizeof *data->layer_target, err);
    data->batch.token = data->token, data->batch.feature = data->feature;
    data->batch.target = data->target, data->batch.target_value = data->value;
    data->batch.layer_target = data->layer_target;
    bool ok = data->target && (!task->vocab || data->token) && (!task->d_in || data->feature) &&
              (!task->d_out || data->value) && (data->conf->layer_targets <= 0 || data->layer_target);
    return ok ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status check_extras(const rung_train_spec *conf, rung_error *err)
{
    rung_status status = RUNG_OK;
    if (conf->thoughts && !conf->model.thoughts)
        return rung_fail(err, RUNG_USAGE,
                         "thoughts need a model with thought tokens: rung_train_add_thoughts was not called");
    if (conf->mix_first + conf->mix_second > 0) status = train_seqcomp_check(&conf->task, "mixes of prompts", err);
    if (status == RUNG_OK && conf->layer_targets > 0)
        status = train_seqcomp_check(&conf->task, "targets of layers", err);
    if (status == RUNG_OK && conf->grow > 0 && !conf->queries)
        return rung_fail(err, RUNG_USAGE, "growth draws the questions itself; say how many with --queries");
    if (status == RUNG_OK && conf->grow > 0 && conf->task.task->promise)
        return rung_fail(err, RUNG_USAGE, "the questions of task %s keep a promise; leave out --grow",
                         conf->task.task->name);
    if (status == RUNG_OK && conf->random_labels && !conf->task.answers)
        return rung_fail(err, RUNG_USAGE,
                         "random labels need classes to choose from, but the answers of %s are vectors",
                         conf->task.task->name);
    return status;
}

rung_status rung_train_add_thoughts(rung_train_spec *conf, rung_error *err)
{
    rung_model_spec *model = &conf->model;
    if (!conf->thoughts) return RUNG_OK;
    RUNG_TRY(train_seqcomp_check(&conf->task, "thoughts", err));
    size_t all = train_seqcomp_thoughts(&conf->task, conf->thoughts);
    if (all > THOUGHTS_MAX)
        return rung_fail(
            err, RUNG_USAGE,
            "%zu thoughts per question: there are more than %d different ones (step, w, i); lower N0, n or L",
            conf->thoughts, THOUGHTS_MAX);
    if (model->max_tokens == conf->task.tokens) model->max_tokens += conf->thoughts;
    model->thoughts = all;
    model->vocab += all;
    model->answers += all;
    return RUNG_OK;
}

size_t train_data_classes(const rung_train_spec *conf)
{
    return conf->layer_targets > 0 ? train_seqcomp_widest(&conf->task) : 0;
}

static rung_status open_data(train_data *data, const rung_net *net, rung_error *err)
{
    rung_status status = check_extras(data->conf, err);
    if (status == RUNG_OK && data->conf->few_values > 0)
        status = train_few_check(&data->values, &data->conf->task, err);
    for (size_t i = 0; status == RUNG_OK && i < RUNG_SLICES; i++)
        if (!(data->entry[i] = rung_calloc(data->conf->task.tokens, sizeof *data->entry[i], err))) status = RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < RUNG_SLICES; i++)
        status = rung_instance_init(&data->instance[i], &data->conf->task, err);
    RUNG_TRY(status);
    status = shape_batch(data, net, err);
    RUNG_TRY(status);
    return make_room(data, err);
}

static rung_status count_layers(size_t *layers, const rung_model_spec *spec, rung_error *err)
{
    rung_arch arch;
    rung_status status =
        rung_arch_parse(&arch, spec->arch, &(rung_arch_defaults){spec->heads, spec->dk, spec->dv, spec->causal}, err);
    RUNG_TRY(status);
    *layers = arch.layer_count;
    rung_arch_clear(&arch);
    return RUNG_OK;
}

rung_status train_data_new(train_data **out, const rung_train_spec *conf, const rung_net *net, size_t prompts,
                           rung_error *err)
{
    train_data *data = rung_calloc(1, sizeof *data, err);
    if (!data) return RUNG_SYSTEM;
    data->conf = conf;
    data->prompts = prompts;
    data->grown = 1;
    rung_status status = count_layers(&data->layers, &conf->model, err);
    RUNG_NEXT(status, open_data(data, net, err));
    if (status != RUNG_OK) {
        train_data_free(data);
        return status;
    }
    *out = data;
    return RUNG_OK;
}

void train_data_free(train_data *data)
{
    if (!data) return;
    for (size_t i = 0; i < RUNG_SLICES; i++) rung_instance_clear(&data->instance[i]), free(data->entry[i]);
    free(data->token);
    free(data->feature);
    free(data->value);
    free(data->target);
    free(data->layer_target);
    free(data);
}

/* ---- prompts ----------------------------------------------------------------------------------------------------- */

/* True if the question of the instance may be used; `wanted` is its answer in a task that balances answers. */
static bool is_asked(const rung_instance *instance, const rung_task_conf *task, int32_t wanted)
{
    if (task->task->promise && !task->task->promise(instance, task)) return false;
    return !task->task->balanced || instance->target[task->tokens - 1] == wanted;
}

/* Draws another question about the prefix of the instance, and solves it. The oracle or the promise may refuse a
 * question: of 16 N keys it refuses 15 of 16, so many are tried. Not every prompt of a task that balances its answers
 * has every answer; then the last question is kept. */
static rung_status draw_question(rung_instance *instance, const train_data *data, bool few, rung_rng *rng,
                                 rung_error *err)
{
    const rung_task_conf *task = &data->conf->task;
    rung_status status = RUNG_OK;
    int32_t wanted = task->task->balanced ? (int32_t)rung_rng_below(rng, task->answers) : 0;
    const int attempts = task->task->balanced ? 64 : 8192;
    if (few && wanted && train_draw_partner(instance, task, rng)) return task->task->solve(instance, task, err);
    for (int attempt = 0; attempt < attempts; attempt++) {
        for (size_t t = data->start; t < task->tokens; t++) {
            rung_ids ids = task->task->ids(task, t);
            instance->token[t] = (uint32_t)(ids.first + rung_rng_below(rng, train_grown(ids.count, data->part)));
        }
        status = task->task->solve(instance, task, err);
        if (status == RUNG_OK && is_asked(instance, task, wanted)) return RUNG_OK;
        if (status == RUNG_SYSTEM) return status;
    }
    if (status != RUNG_OK || task->task->balanced) return status;
    return rung_fail(err, RUNG_USAGE, "task %s: no question satisfies its promise", task->task->name);
}

/* Copies tokens [from, to) of the instance into the batch, from `row` on. */
static void put_tokens(train_data *data, const rung_instance *instance, size_t row, size_t from, size_t to)
{
    size_t d_in = data->conf->task.d_in, d_out = data->conf->task.d_out, count = to - from;
    if (data->token) memcpy(data->token + row, instance->token + from, count * sizeof *data->token);
    if (data->feature)
        memcpy(data->feature + row * d_in, instance->feature + from * d_in, count * d_in * sizeof(float));
    if (data->value)
        memcpy(data->value + row * d_out, instance->target_value + from * d_out, count * d_out * sizeof(float));
    memcpy(data->target + row, instance->target + from, count * sizeof *data->target);
}

/* The l of the target i_l of a layer's auxiliary loss in a pass. In the first pass it is i_l for layer l (from 0), up
 * to the layer that finds what the pass states; all later layers have that value. In later passes the token knows the
 * previous thought; the targets come as late as possible, because linear layers in front find nothing. */
static size_t layer_target_in(const train_data *data, size_t pass, size_t layer)
{
    const rung_train_spec *conf = data->conf;
    size_t says = train_seqcomp_said(&conf->task, conf->thoughts, pass), behind = data->layers - 1 - layer;
    if (pass == 0) return layer < says ? layer : says;
    size_t known = train_seqcomp_said(&conf->task, conf->thoughts, pass - 1);
    return says > known + behind ? says - behind : known;
}

/* `row` is that of the asking token, w; the thought tokens follow it. */
static void put_layer_targets(train_data *data, const rung_instance *instance, size_t row)
{
    int32_t chain[RUNG_LIST_MAX + 1];
    size_t all = data->tokens * data->batch.sequences;
    if (!data->layer_target) return;
    train_seqcomp_chain(chain, instance->token, &data->conf->task);
    for (size_t pass = 0; pass <= data->conf->thoughts; pass++)
        for (size_t l = 0; l + 1 < data->layers; l++)
            data->layer_target[l * all + row + pass] = chain[layer_target_in(data, pass, l)];
}

/* Puts thought tokens after the asking token at `row`. Each token is the target of the one before it, and the answer is
 * the target of the last. */
static void put_thoughts(train_data *data, const rung_instance *instance, size_t row)
{
    const rung_train_spec *conf = data->conf;
    size_t number[RUNG_THOUGHTS_MOST], thoughts = conf->thoughts;
    if (!thoughts) return;
    train_seqcomp_add_thoughts(number, instance->token, &conf->task, thoughts);
    data->target[row + thoughts] = data->target[row];
    for (size_t p = 0; p < thoughts; p++) {
        data->target[row + p] = (int32_t)(conf->task.answers + number[p]);
        data->token[row + 1 + p] = (uint32_t)(conf->task.vocab + number[p]);
    }
}

/* Copies tokens [from, ..) of an instance that asks at its end, from `row` on, with targets and thought tokens. */
static void put_question(train_data *data, const rung_instance *instance, size_t row, size_t from)
{
    size_t asking = row + instance->tokens - 1 - from;
    put_tokens(data, instance, row, from, instance->tokens);
    put_thoughts(data, instance, asking);
    put_layer_targets(data, instance, asking);
}

/* Draws random answers. Thought tokens keep their targets. */
static void relabel(train_data *data, size_t row, size_t tokens, rung_rng *rng)
{
    size_t answers = data->conf->task.answers;
    for (size_t t = row; data->conf->random_labels && t < row + tokens; t++)
        if (data->target[t] != RUNG_NO_TARGET && (size_t)data->target[t] < answers)
            data->target[t] = (int32_t)rung_rng_below(rng, answers);
}

/* *few: the prompt has few values. Tables that do not depend on w or on their argument are made from these. */
static rung_status simplify(bool *few, rung_instance *instance, const train_data *data, size_t *entry, rung_rng *rng,
                            rung_error *err)
{
    const rung_train_spec *conf = data->conf;
    double u = rung_rng_unit(rng);
    bool mixed = data->mixed && u < conf->mix_first + conf->mix_second, shrunk = data->part < 1;
    *few = data->mixed && conf->few_values > 0 && rung_rng_unit(rng) < conf->few_values;
    if (!*few && !mixed && !shrunk) return RUNG_OK;
    if (*few) train_few_values(instance, entry, data->values, &conf->task, rng);
    if (mixed) train_seqcomp_simplify(instance->token, &conf->task, u < conf->mix_first);
    if (shrunk && train_is_seqcomp(&conf->task)) train_seqcomp_shrink(instance->token, &conf->task, data->part);
    if (*few && train_few_answers(instance, &conf->task)) return RUNG_OK;
    return conf->task.task->solve(instance, &conf->task, err);
}

/* The first question is that of the prompt itself, unless it is the question of another prompt by now. */
static rung_status put_questions(train_data *data, rung_instance *instance, size_t prompt, bool few, rung_rng *rng,
                                 rung_error *err)
{
    size_t queries = data->conf->queries, each = data->batch.each, start = data->start;
    rung_status status = RUNG_OK;
    for (size_t q = 0; status == RUNG_OK && q < queries; q++) {
        size_t row = data->repeated ? (prompt * queries + q) * data->tokens : prompt * data->tokens;
        if (q || few || data->part < 1) status = draw_question(instance, data, few, rng, err);
        if (q == 0 || data->repeated) put_tokens(data, instance, row, 0, start);
        put_question(data, instance, row + start + q * each, start);
    }
    return status;
}

static rung_status put_prompt(train_data *data, size_t worker, size_t prompt, rung_error *err)
{
    rung_instance *instance = &data->instance[worker];
    bool few;
    const rung_train_spec *conf = data->conf;
    uint64_t index = data->first + prompt;
    rung_rng rng;
    rung_rng_init(&rng, data->seed, rung_hash64("prompts of training", 19), index);
    RUNG_TRY(rung_task_make(instance, &conf->task, data->seed, index, err));
    rung_status status = simplify(&few, instance, data, data->entry[worker], &rng, err);
    RUNG_TRY(status);
    if (!conf->model.causal && instance->tokens != conf->task.tokens)
        return rung_fail(err, RUNG_USAGE, "prompts of %s differ in length, so an encoder would see the padding",
                         conf->task.task->name);
    if (conf->queries) {
        status = put_questions(data, instance, prompt, few, &rng, err);
    } else {
        put_question(data, instance, prompt * data->tokens, 0);
    }
    size_t rows = data->batch.sequences / data->prompts * data->tokens;
    relabel(data, prompt * rows, rows, &rng);
    return status;
}

static void fill_part(void *context, size_t item, size_t worker)
{
    train_data *data = context;
    (void)worker;
    data->status[item] = RUNG_OK;
    for (size_t p = item; p < data->prompts && data->status[item] == RUNG_OK; p += RUNG_SLICES)
        data->status[item] = put_prompt(data, item, p, &data->error[item]);
}

rung_status train_data_fill(train_data *data, train_stream stream, uint64_t first, bool mixed, rung_error *err)
{
    size_t all = data->tokens * data->batch.sequences;
    uint64_t words[2] = {data->conf->seed, (uint64_t)stream};
    data->seed = rung_hash64(words, sizeof words);
    data->first = first;
    data->mixed = mixed;
    data->part = stream == TRAIN_STREAM_LEARN ? data->grown : 1;
    for (size_t t = 0; t < all; t++) data->target[t] = RUNG_NO_TARGET;
    if (data->token) memset(data->token, 0, all * sizeof *data->token);
    for (size_t t = 0; data->layer_target && t < all * data->layers; t++) data->layer_target[t] = RUNG_NO_TARGET;
    rung_par_for(RUNG_SLICES, data->conf->threads, fill_part, data);
    for (size_t i = 0; i < RUNG_SLICES; i++)
        if (data->status[i] != RUNG_OK) return rung_fail(err, data->status[i], "%s", data->error[i].text);
    return RUNG_OK;
}

void train_data_grow(train_data *data, double grown)
{
    data->grown = grown;
}

const rung_batch *train_data_batch(const train_data *data)
{
    return &data->batch;
}

size_t train_data_tokens(const train_data *data)
{
    return data->tokens * data->batch.sequences;
}
