/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Networks: the tensors of a model in one array, the read-outs of auxiliary losses (which are not written to the file),
 * and the file.
 */
#include "net.h"

#include "rung/kern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), tail = strlen(end);
    return len >= tail && strcmp(text + len - tail, end) == 0;
}

/* Matrices of projections only; not norms, biases, embeddings, positions, convolutions, rates. */
static bool decays(const rung_net *net, const char *name, size_t rank)
{
    return rank == 2 && ends_with(name, ".weight") && !(net->spec.vocab && strcmp(name, "embed.weight") == 0);
}

static rung_net_tensor *add_tensor(rung_net *net, const char *name, const size_t *shape, size_t rank, rung_error *err)
{
    if (net->tensor_count == net->tensor_capacity) {
        size_t capacity = net->tensor_capacity ? 2 * net->tensor_capacity : 64;
        rung_net_tensor *grown = realloc(net->tensor, capacity * sizeof *grown);
        if (!grown) {
            rung_fail(err, RUNG_SYSTEM, "out of memory for %zu tensors", capacity);
            return NULL;
        }
        net->tensor = grown, net->tensor_capacity = capacity;
    }
    rung_net_tensor *tensor = &net->tensor[net->tensor_count];
    *tensor = (rung_net_tensor){.offset = net->parameters, .rank = rank, .elements = 1};
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    tensor->decays = decays(net, name, rank);
    for (size_t i = 0; i < rank; i++) {
        tensor->shape[i] = shape[i];
        if (!rung_size_mul(&tensor->elements, tensor->elements, shape[i])) tensor->elements = SIZE_MAX / 8;
    }
    if (tensor->elements > SIZE_MAX / 16 - net->parameters) {
        rung_fail(err, RUNG_SYSTEM, "tensor %s is too large", name);
        return NULL;
    }
    net->parameters += tensor->elements;
    net->tensor_count++;
    return tensor;
}

typedef struct listing {
    rung_net *net;
    const rung_model *model;
} listing;

static rung_status list_tensor(void *context, const char *name, const size_t *shape, size_t rank, bool optional,
                               rung_error *err)
{
    const listing *l = context;
    (void)optional;
    if (!rung_model_tensor(l->model, name)) return RUNG_OK;
    return add_tensor(l->net, name, shape, rank, err) ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status read_values(rung_net *net, const rung_model *model, rung_error *err)
{
    rung_status status = RUNG_OK;
    net->values = rung_calloc(net->parameters, sizeof *net->values, err);
    if (!net->values) return RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < net->tensor_count; i++)
        status =
            rung_tensor_to_f32(net->values + net->tensor[i].offset, rung_model_tensor(model, net->tensor[i].name), err);
    return status;
}

/* ---- offsets ----------------------------------------------------------------------------------------------------- */

static rung_net_tensor *find(const rung_net *net, const char *prefix, const char *suffix)
{
    char name[sizeof net->tensor->name];
    snprintf(name, sizeof name, "%s%s", prefix, suffix);
    for (size_t i = 0; i < net->tensor_count; i++)
        if (strcmp(net->tensor[i].name, name) == 0) return &net->tensor[i];
    return NULL;
}

static size_t offset_of(const rung_net *net, const char *prefix, const char *suffix)
{
    const rung_net_tensor *tensor = find(net, prefix, suffix);
    return tensor ? tensor->offset : ABSENT;
}

/* Assigns a place among the panels to a projection. The list has space for one per tensor. */
static net_linear place_linear(rung_net *net, rung_net_tensor *weight, size_t bias)
{
    size_t rows = weight->shape[0], cols = weight->shape[1];
    net_linear l = {rows, cols, weight->offset, bias, .panels = net->panels, .index = net->linear_count};
    net->panels += rung_panels_size(cols, rows);
    net->linear[net->linear_count++] = l;
    weight->projects = true;
    return l;
}

static net_linear no_linear(void)
{
    return (net_linear){.weight = ABSENT, .bias = ABSENT};
}

static net_linear linear_of(rung_net *net, const char *prefix)
{
    rung_net_tensor *weight = find(net, prefix, ".weight");
    if (!weight) return no_linear();
    return place_linear(net, weight, offset_of(net, prefix, ".bias"));
}

static net_norm norm_of(const rung_net *net, const char *prefix)
{
    return (net_norm){offset_of(net, prefix, ".weight"), offset_of(net, prefix, ".bias")};
}

/* Different kinds of inputs of a mechanism may share a name and its tensor; the tensor belongs to the one in use. */
static bool conf_uses(const rung_mech_conf *conf, size_t input)
{
    return rung_mech_row(&conf->mech->inputs[input], conf) > 0;
}

static void place_group(rung_net *net, net_group *group, const rung_mech_conf *conf, size_t layer, size_t index)
{
    char name[96];
    group->conf = conf;
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        snprintf(name, sizeof name, "layers.%zu.mix.%zu.%s", layer, index, conf->mech->inputs[i].name);
        group->input[i] =
            (net_input){conf_uses(conf, i) ? linear_of(net, name) : no_linear(), offset_of(net, name, ".A"),
                        offset_of(net, name, ".conv"), offset_of(net, name, ""), offset_of(net, name, "_norm")};
    }
    snprintf(name, sizeof name, "layers.%zu.mix.%zu.gate", layer, index);
    group->gate = linear_of(net, name);
    group->gate_norm = offset_of(net, name, "_norm");
}

static rung_status place_layer(rung_net *net, net_layer *layer, size_t index, rung_error *err)
{
    const rung_layer *shape = &net->arch.layer[index];
    char name[96];
    layer->group_count = shape->group_count;
    layer->group = rung_arena_alloc(&net->arena, shape->group_count, sizeof *layer->group, err);
    if (!layer->group) return RUNG_SYSTEM;
    for (size_t g = 0; g < shape->group_count; g++) place_group(net, &layer->group[g], &shape->group[g], index, g);
    const struct {
        const char *name;
        net_linear *linear;
    } parts[] = {{"out", &layer->out}, {"mlp.up", &layer->up}, {"mlp.gate", &layer->gate}, {"mlp.down", &layer->down}};
    for (size_t i = 0; i < RUNG_COUNT(parts); i++) {
        snprintf(name, sizeof name, "layers.%zu.%s", index, parts[i].name);
        *parts[i].linear = linear_of(net, name);
    }
    snprintf(name, sizeof name, "layers.%zu.norm1", index);
    layer->norm1 = norm_of(net, name);
    snprintf(name, sizeof name, "layers.%zu.norm2", index);
    layer->norm2 = norm_of(net, name);
    layer->layer_readout = (net_linear){.weight = ABSENT, .bias = ABSENT};
    return RUNG_OK;
}

static rung_status place_all(rung_net *net, const rung_model *model, rung_error *err)
{
    rung_status status = RUNG_OK;
    net->linear = rung_arena_alloc(&net->arena, net->tensor_count + net->arch.layer_count, sizeof *net->linear, err);
    if (!net->linear) return RUNG_SYSTEM;
    net->embed = net->spec.vocab ? offset_of(net, "embed", ".weight") : ABSENT;
    if (net->embed == ABSENT) net->feature = linear_of(net, "embed");
    net->positions = offset_of(net, "positions", "");
    net->cos = offset_of(net, "rotary", ".cos");
    net->sin = offset_of(net, "rotary", ".sin");
    net->final_norm = norm_of(net, "final_norm");
    net->readout = linear_of(net, "readout");
    net->layer = rung_arena_alloc(&net->arena, net->arch.layer_count, sizeof *net->layer, err);
    if (!net->layer) return RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < net->arch.layer_count; i++) {
        net->layer[i].mlp = rung_model_mlp(model, i);
        status = place_layer(net, &net->layer[i], i, err);
    }
    return status;
}

/* ---- what can be trained ----------------------------------------------------------------------------------------- */

static rung_status check_trainable(const rung_net *net, const rung_model *model, rung_error *err)
{
    for (size_t i = 0; i < net->arch.layer_count; i++) {
        if (rung_model_mlp(model, i) == RUNG_MLP_TABLE)
            return rung_fail(err, RUNG_USAGE,
                             "layer %zu: mlp=table has no gradient and cannot be trained; use relu, gelu or swiglu", i);
        for (size_t g = 0; g < net->arch.layer[i].group_count; g++)
            if (!net->arch.layer[i].group[g].mech->backward_f32)
                return rung_fail(err, RUNG_USAGE,
                                 "layer %zu: %s has no backward pass and cannot be trained; 'rung list mechanisms' "
                                 "shows which have one",
                                 i, net->arch.layer[i].group[g].mech->name);
    }
    return RUNG_OK;
}

bool rung_net_forks(const rung_net *net)
{
    bool forks = net->spec.causal;
    for (size_t i = 0; i < net->arch.layer_count; i++)
        for (size_t g = 0; g < net->arch.layer[i].group_count; g++)
            forks = forks && net->arch.layer[i].group[g].mech->forks;
    return forks;
}

/* ---- new and free ------------------------------------------------------------------------------------------------ */

static rung_status copy_spec(rung_net *net, const rung_model_spec *spec, rung_error *err)
{
    net->spec = *spec;
    net->spec.arch = rung_arena_strdup(&net->arena, spec->arch, err);
    net->spec.task = rung_arena_strdup(&net->arena, spec->task, err);
    net->spec.mlp = rung_arena_strdup(&net->arena, spec->mlp, err);
    return net->spec.arch && net->spec.task && net->spec.mlp ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status fill(rung_net *net, const rung_model *model, rung_error *err)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    RUNG_TRY(copy_spec(net, spec, err));
    rung_status status = rung_arch_parse(&net->arch, net->spec.arch,
                                         &(rung_arch_defaults){spec->heads, spec->dk, spec->dv, spec->causal}, err);
    net->has_arch = status == RUNG_OK;
    RUNG_NEXT(status, check_trainable(net, model, err));
    RUNG_NEXT(status, rung_model_each_tensor(&net->spec, list_tensor, &(listing){net, model}, err));
    net->model_tensors = net->tensor_count;
    RUNG_TRY(status);
    RUNG_TRY(read_values(net, model, err));
    return place_all(net, model, err);
}

rung_status rung_net_from_model(rung_net **out, const rung_model *model, rung_error *err)
{
    rung_net *net = rung_calloc(1, sizeof *net, err);
    if (!net) return RUNG_SYSTEM;
    rung_arena_init(&net->arena);
    rung_status status = fill(net, model, err);
    if (status != RUNG_OK) {
        rung_net_free(net);
        return status;
    }
    *out = net;
    return RUNG_OK;
}

rung_status rung_net_new(rung_net **out, const rung_model_spec *spec, uint64_t seed, rung_error *err)
{
    rung_model *model;
    RUNG_TRY(rung_model_random(&model, spec, seed, err));
    rung_status status = rung_net_from_model(out, model, err);
    rung_model_close(model);
    return status;
}

void rung_net_free(rung_net *net)
{
    if (!net) return;
    if (net->has_arch) rung_arch_clear(&net->arch);
    rung_arena_clear(&net->arena);
    free(net->tensor);
    free(net->values);
    free(net);
}

/* ---- auxiliary losses of inner layers ---------------------------------------------------------------------------- */

/* Small random numbers from a separate stream, so that the weights of the model do not change. */
static void draw_layer_readout(float *out, const rung_net_tensor *tensor, uint64_t seed)
{
    rung_rng rng;
    rung_rng_init(&rng, seed, rung_hash64(tensor->name, strlen(tensor->name)), 0);
    for (size_t i = 0; i < tensor->elements; i++) out[i] = (float)(0.02 * rung_rng_normal(&rng));
}

rung_status rung_net_add_layer_losses(rung_net *net, size_t classes, double weight, uint64_t seed, rung_error *err)
{
    size_t shape[2] = {classes, net->spec.d_model}, before = net->parameters, layers = net->arch.layer_count;
    for (size_t i = 0; i + 1 < layers; i++) {
        char name[96];
        snprintf(name, sizeof name, "told.%zu.weight", i); /* the name decides the random weights: never change it */
        if (!add_tensor(net, name, shape, 2, err)) return RUNG_SYSTEM;
    }
    float *grown = realloc(net->values, net->parameters * sizeof *grown);
    if (!grown) return rung_fail(err, RUNG_SYSTEM, "out of memory for %zu parameters", net->parameters);
    net->values = grown;
    memset(net->values + before, 0, (net->parameters - before) * sizeof *grown);
    for (size_t i = 0; i + 1 < layers; i++) {
        rung_net_tensor *tensor = &net->tensor[net->model_tensors + i];
        draw_layer_readout(net->values + tensor->offset, tensor, seed);
        net->layer[i].layer_readout = place_linear(net, tensor, ABSENT);
        rung_net_weigh_layer_loss(net, i, weight);
    }
    return RUNG_OK;
}

void rung_net_weigh_layer_loss(rung_net *net, size_t layer, double weight)
{
    net->layer[layer].layer_loss_weight = weight;
}

/* ---- first values ------------------------------------------------------------------------------------------------ */

static void scale_run(rung_net *net, size_t offset, size_t count, double factor)
{
    for (size_t i = 0; offset != ABSENT && i < count; i++)
        net->values[offset + i] = (float)((double)net->values[offset + i] * factor);
}

/* Scales both factors of a score equally, so that a step of the optimiser changes them equally. score 0: not at all. */
static void scale_softmax(rung_net *net, const net_group *group, double score, double value)
{
    const rung_mech *mech = group->conf->mech;
    double side = score > 0 ? sqrt(score / sqrt((double)group->conf->dk)) : 1;
    for (size_t i = 0; !mech->recurrent && mech->inputs[i].name; i++) {
        const net_linear *l = &group->input[i].linear;
        const char *name = mech->inputs[i].name;
        if (strcmp(name, "q") == 0 || strcmp(name, "k") == 0) scale_run(net, l->weight, l->rows * l->cols, side);
        if (strcmp(name, "v") == 0) scale_run(net, l->weight, l->rows * l->cols, value);
    }
}

void rung_net_scale(rung_net *net, double gain, double score, double value, double positions)
{
    for (size_t i = 0; i < net->model_tensors; i++)
        if (net->tensor[i].decays) scale_run(net, net->tensor[i].offset, net->tensor[i].elements, gain);
    for (size_t i = 0; i < net->arch.layer_count; i++)
        for (size_t g = 0; g < net->layer[i].group_count; g++)
            scale_softmax(net, &net->layer[i].group[g], score, value);
    if (net->spec.positions == RUNG_POS_LEARNED)
        scale_run(net, net->positions, net->spec.max_tokens * net->spec.d_model, positions);
}

rung_status rung_net_factor_positions(rung_net *net, size_t base, rung_error *err)
{
    size_t d = net->spec.d_model, count = net->spec.max_tokens, high = base ? (count + base - 1) / base : 0;
    if (net->spec.positions != RUNG_POS_LEARNED)
        return rung_fail(err, RUNG_USAGE, "digits of positions need learned positions");
    if (base < 2 || high + base > count)
        return rung_fail(err, RUNG_USAGE, "positions 0..%zu have no two digits in base %zu", count - 1, base);
    float *position = net->values + net->positions, *drawn = rung_calloc((base + high) * d, sizeof *drawn, err);
    if (!drawn) return RUNG_SYSTEM;
    memcpy(drawn, position, (base + high) * d * sizeof *drawn);
    for (size_t t = 0; t < count; t++)
        for (size_t j = 0; j < d; j++)
            position[t * d + j] =
                (float)(M_SQRT1_2 * (double)(drawn[t % base * d + j] + drawn[(base + t / base) * d + j]));
    free(drawn);
    return RUNG_OK;
}

/* ---- access ------------------------------------------------------------------------------------------------------ */

size_t rung_net_parameters(const rung_net *net)
{
    return net->parameters;
}

size_t rung_net_layers(const rung_net *net)
{
    return net->arch.layer_count;
}

float *rung_net_values(rung_net *net)
{
    return net->values;
}

size_t rung_net_tensor_count(const rung_net *net)
{
    return net->tensor_count;
}

const rung_net_tensor *rung_net_tensor_at(const rung_net *net, size_t index)
{
    return &net->tensor[index];
}

void rung_net_quantise(rung_net *net, const rung_fmt *numbers)
{
    net->rounded = numbers != NULL;
    if (numbers) net->numbers = *numbers;
}

void train_net_seen(float *out, const rung_net *net)
{
    if (!net->rounded)
        memcpy(out, net->values, net->parameters * sizeof *out);
    else
        for (size_t i = 0; i < net->parameters; i++)
            out[i] = (float)rung_num_round(&net->numbers, (double)net->values[i]);
}

/* Receives the tensors of the model as the forward pass sees them. */
typedef rung_status take_tensors(void *to, const rung_net *net, const rung_tensor *tensors, const char *made_by,
                                 rung_error *err);

static rung_status with_tensors(take_tensors *take, void *to, const rung_net *net, const char *made_by, rung_error *err)
{
    rung_tensor *tensors = rung_calloc(net->model_tensors, sizeof *tensors, err);
    float *seen = rung_calloc(net->parameters, sizeof *seen, err);
    rung_status status = tensors && seen ? RUNG_OK : RUNG_SYSTEM;
    if (status == RUNG_OK) train_net_seen(seen, net);
    for (size_t i = 0; status == RUNG_OK && i < net->model_tensors; i++) {
        const rung_net_tensor *from = &net->tensor[i];
        tensors[i] = (rung_tensor){.name = from->name,
                                   .dtype = RUNG_F32,
                                   .dtype_name = rung_dtype_name(RUNG_F32),
                                   .rank = from->rank,
                                   .shape = {from->shape[0], from->shape[1], from->shape[2]},
                                   .elements = from->elements,
                                   .bytes = (const uint8_t *)(seen + from->offset),
                                   .size_bytes = from->elements * sizeof *seen};
    }
    RUNG_NEXT(status, take(to, net, tensors, made_by, err));
    free(seen);
    free(tensors);
    return status;
}

static rung_status take_as_file(void *path, const rung_net *net, const rung_tensor *tensors, const char *made_by,
                                rung_error *err)
{
    return rung_model_write(*(const char *const *)path, &net->spec, tensors, net->model_tensors, made_by, err);
}

static rung_status take_as_model(void *model, const rung_net *net, const rung_tensor *tensors, const char *made_by,
                                 rung_error *err)
{
    return rung_model_from_tensors(model, &net->spec, tensors, net->model_tensors, made_by, err);
}

rung_status rung_net_write(const rung_net *net, const char *path, const char *made_by, rung_error *err)
{
    return with_tensors(take_as_file, &path, net, made_by, err);
}

rung_status rung_net_model(rung_model **out, const rung_net *net, const char *made_by, rung_error *err)
{
    return with_tensors(take_as_model, out, net, made_by, err);
}
