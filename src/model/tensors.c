/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The tensors that a model needs. Their names are written here, and read in program.c and table.c.
 */
#include "model_internal.h"

#include <string.h>

size_t rung_layer_width(const rung_layer *layer)
{
    size_t width = 0;
    for (size_t g = 0; g < layer->group_count; g++) width += layer->group[g].heads * layer->group[g].dv;
    return width;
}

bool rung_input_has_conv(const rung_mech_input *input, const rung_mech_conf *conf)
{
    bool projected = input->source == RUNG_FROM_LINEAR || input->source == RUNG_FROM_TIMED;
    return conf->conv > 0 && projected && rung_mech_row(input, conf) > 0 && !rung_mech_is_constant(input);
}

size_t rung_head_group_conv_elements(const rung_mech_conf *conf)
{
    size_t row = 0;
    for (const rung_mech_input *input = conf->mech->inputs; input->name; input++)
        if (rung_input_has_conv(input, conf)) row += rung_mech_row(input, conf);
    return conf->conv ? (conf->conv - 1) * row : 0;
}

typedef struct visitor {
    const rung_model_spec *spec;
    tensor_visit *visit;
    void *context;
    rung_error *err;
    rung_status status;
} visitor;

static void need(visitor *v, tensor_need what)
{
    if (v->status == RUNG_OK) v->status = v->visit(v->context, &what, v->err);
}

/* Needs name.weight [rows][cols], and name.bias [rows] where the file has one. */
static void need_linear(visitor *v, const char *name, size_t rows, size_t cols)
{
    tensor_need weight = {.rank = 2, .shape = {rows, cols}, .fan_in = cols};
    tensor_need bias = {.rank = 1, .shape = {rows}, .optional = true};
    snprintf(weight.name, sizeof weight.name, "%s.weight", name);
    snprintf(bias.name, sizeof bias.name, "%s.bias", name);
    need(v, weight);
    need(v, bias);
}

static void need_norm(visitor *v, const char *name)
{
    tensor_need weight = {.rank = 1, .shape = {v->spec->d_model}, .init = RUNG_INIT_FILL, .fill = 1};
    tensor_need bias = {.rank = 1, .shape = {v->spec->d_model}, .optional = true};
    if (v->spec->norm == RUNG_NORM_NONE) return;
    snprintf(weight.name, sizeof weight.name, "%s.weight", name);
    snprintf(bias.name, sizeof bias.name, "%s.bias", name);
    need(v, weight);
    if (v->spec->norm == RUNG_NORM_LAYER) need(v, bias);
}

/* The tensor names of a group are "layers.I.mix.G." followed by one of: INPUT.weight, INPUT.bias; INPUT.A of a decay;
 * INPUT.conv of a short convolution; INPUT itself where the layer has no projection for it; INPUT_norm of queries and
 * keys; gate.weight, gate_norm. */
static void need_constant(visitor *v, const char *name, const rung_mech_input *input, const rung_mech_conf *conf)
{
    rung_shape shape = rung_mech_shape(input, conf);
    tensor_need what = {.rank = shape.rank, .init = RUNG_INIT_RANDOM, .fan_in = shape.dim[shape.rank - 1]};
    memcpy(what.shape, shape.dim, sizeof what.shape);
    if (strcmp(input->name, "A") == 0) what.init = RUNG_INIT_RATES;
    if (strcmp(input->name, "D") == 0) what.init = RUNG_INIT_FILL, what.fill = 1;
    snprintf(what.name, sizeof what.name, "%s", name);
    need(v, what);
}

static void need_input(visitor *v, const char *name, const rung_mech_input *input, const rung_mech_conf *conf)
{
    tensor_need rate = {.rank = 1, .shape = {conf->heads}, .init = RUNG_INIT_FILL};
    tensor_need conv = {.rank = 2, .shape = {rung_mech_row(input, conf), conf->conv}, .fan_in = conf->conv};
    if (input->source == RUNG_FROM_PARAMETER) {
        need_constant(v, name, input, conf);
        return;
    }
    snprintf(rate.name, sizeof rate.name, "%s.A", name);
    if (input->source == RUNG_FROM_RATE) {
        rate.init = RUNG_INIT_RETENTION;
        need(v, rate);
        return;
    }
    need_linear(v, name, rung_mech_row(input, conf), v->spec->d_model);
    if (input->source == RUNG_FROM_DECAY) need(v, rate);
    snprintf(conv.name, sizeof conv.name, "%s.conv", name);
    if (rung_input_has_conv(input, conf)) need(v, conv);
    if (!conf->qk_norm || !rung_mech_is_query_or_key(input)) return;
    tensor_need norm = {.rank = 1, .shape = {conf->dk}, .init = RUNG_INIT_FILL, .fill = 1};
    snprintf(norm.name, sizeof norm.name, "%s_norm", name);
    need(v, norm);
}

static void need_group(visitor *v, const rung_mech_conf *conf, size_t layer, size_t group)
{
    char name[TENSOR_NAME_MAX];
    for (const rung_mech_input *input = conf->mech->inputs; input->name; input++) {
        if (rung_mech_row(input, conf) == 0) continue;
        snprintf(name, sizeof name, "layers.%zu.mix.%zu.%s", layer, group, input->name);
        need_input(v, name, input, conf);
    }
    if (!conf->gate && !conf->out_gate) return;
    snprintf(name, sizeof name, "layers.%zu.mix.%zu.gate", layer, group);
    need_linear(v, name, conf->heads * conf->dv, v->spec->d_model);
    if (conf->out_gate) return;
    tensor_need norm = {.rank = 1, .shape = {conf->dv}, .init = RUNG_INIT_FILL, .fill = 1};
    snprintf(norm.name, sizeof norm.name, "%s_norm", name);
    need(v, norm);
}

static void need_table(visitor *v, const char *prefix)
{
    static const char *const parts[] = {"keys", "key_coords", "values", "out_coords"};
    for (size_t i = 0; i < RUNG_COUNT(parts); i++) {
        tensor_need part = {.rank = i % 2 ? 1 : 2};
        snprintf(part.name, sizeof part.name, "%s.%s", prefix, parts[i]);
        need(v, part);
    }
}

static void need_mlp(visitor *v, rung_mlp kind, size_t layer)
{
    char norm[TENSOR_NAME_MAX], prefix[TENSOR_NAME_MAX - 16], name[TENSOR_NAME_MAX];
    if (kind == RUNG_MLP_NONE) return;
    snprintf(norm, sizeof norm, "layers.%zu.norm2", layer);
    snprintf(prefix, sizeof prefix, "layers.%zu.mlp", layer);
    if (kind == RUNG_MLP_TABLE) {
        need_table(v, prefix); /* reads the residual stream without a norm, which would change its integers */
        return;
    }
    need_norm(v, norm);
    snprintf(name, sizeof name, "%s.up", prefix);
    need_linear(v, name, v->spec->d_mlp, v->spec->d_model);
    snprintf(name, sizeof name, "%s.gate", prefix);
    if (rung_mlp_is_gated(kind)) need_linear(v, name, v->spec->d_mlp, v->spec->d_model);
    snprintf(name, sizeof name, "%s.down", prefix);
    need_linear(v, name, v->spec->d_model, v->spec->d_mlp);
}

static void need_positions(visitor *v)
{
    const rung_model_spec *spec = v->spec;
    if (spec->positions == RUNG_POS_LEARNED || spec->positions == RUNG_POS_SINUSOIDAL)
        need(v, (tensor_need){.name = "positions", .rank = 2, .shape = {spec->max_tokens, spec->d_model}, .fan_in = 4});
    if (spec->positions != RUNG_POS_ROTARY) return;
    need(v, (tensor_need){
                .name = "rotary.cos", .rank = 2, .shape = {spec->max_tokens, spec->dk / 2}, .init = RUNG_INIT_FILL});
    need(v, (tensor_need){
                .name = "rotary.sin", .rank = 2, .shape = {spec->max_tokens, spec->dk / 2}, .init = RUNG_INIT_FILL});
}

rung_status rung_model_visit_tensors(const rung_model_spec *spec, const rung_arch *arch, const rung_mlp *mlp,
                                     tensor_visit *visit, void *context, rung_error *err)
{
    visitor v = {spec, visit, context, err, RUNG_OK};
    if (spec->vocab)
        need(&v, (tensor_need){.name = "embed.weight", .rank = 2, .shape = {spec->vocab, spec->d_model}, .fan_in = 1});
    else
        need_linear(&v, "embed", spec->d_model, spec->d_in);
    need_positions(&v);
    for (size_t i = 0; v.status == RUNG_OK && i < arch->layer_count; i++) {
        char name[TENSOR_NAME_MAX];
        snprintf(name, sizeof name, "layers.%zu.norm1", i);
        need_norm(&v, name);
        for (size_t g = 0; g < arch->layer[i].group_count; g++) need_group(&v, &arch->layer[i].group[g], i, g);
        snprintf(name, sizeof name, "layers.%zu.out", i);
        need_linear(&v, name, spec->d_model, rung_layer_width(&arch->layer[i]));
        need_mlp(&v, mlp[i], i);
    }
    need_norm(&v, "final_norm");
    need_linear(&v, "readout", spec->answers, spec->d_model);
    return v.status;
}
