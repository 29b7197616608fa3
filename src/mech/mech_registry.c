/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The registry of mechanisms: the only place that lists them.
 */
#include "mech_rows.h"

#include <assert.h>
#include <string.h>

static const rung_mech *const rows[] = {
    &rung_mech_full,   &rung_mech_window, &rung_mech_linear,    &rung_mech_retnet, &rung_mech_gla,
    &rung_mech_mamba2, &rung_mech_delta,  &rung_mech_gdelta,    &rung_mech_kda,    &rung_mech_mamba,
    &rung_mech_rwkv7,  &rung_mech_rnn,    &rung_mech_loglinear, &rung_mech_sparse, &rung_mech_dsa,
};

const char *const rung_class_names[] = {"not stated", "scan",   "state", "window",
                                        "levels",     "blocks", "top",   "token-wise"};
const char *const rung_softmax_names[] = {"online", "two-pass", "reverse", NULL};

unsigned rung_pads_all(const rung_mech_conf *conf)
{
    (void)conf;
    return RUNG_PADS_ALL;
}

size_t rung_mech_count(void)
{
    return RUNG_COUNT(rows);
}

const rung_mech *rung_mech_at(size_t index)
{
    return index < RUNG_COUNT(rows) ? rows[index] : NULL;
}

const rung_mech *rung_mech_get(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(rows); i++)
        if (strcmp(rows[i]->name, name) == 0) return rows[i];
    return NULL;
}

const char *rung_mech_nearest(const char *name)
{
    const char *names[RUNG_COUNT(rows)];
    for (size_t i = 0; i < RUNG_COUNT(rows); i++) names[i] = rows[i]->name;
    return rung_nearest_name(name, names, RUNG_COUNT(rows));
}

static rung_status check_size(const char *name, size_t value, size_t high, rung_error *err)
{
    if (value >= 1 && value <= high) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "%s = %zu is outside 1..%zu", name, value, high);
}

static rung_status check_kv_heads(const rung_mech_conf *conf, rung_error *err)
{
    if (!conf->kv_heads) return RUNG_OK;
    if (!conf->mech->shares_keys)
        return rung_fail(err, RUNG_USAGE, "%s has no heads that share keys and values (kv)", conf->mech->name);
    if (conf->kv_heads > conf->heads || conf->heads % conf->kv_heads)
        return rung_fail(err, RUNG_USAGE, "%zu heads cannot share kv=%zu heads of keys and values", conf->heads,
                         conf->kv_heads);
    return RUNG_OK;
}

rung_status rung_mech_check(const rung_mech_conf *conf, rung_error *err)
{
    rung_status status = check_size("heads", conf->heads, RUNG_HEADS_MAX, err);
    RUNG_NEXT(status, check_size("dk", conf->dk, RUNG_DIM_MAX, err));
    RUNG_NEXT(status, check_size("dv", conf->dv, RUNG_DIM_MAX, err));
    RUNG_NEXT(status, check_kv_heads(conf, err));
    if (status == RUNG_OK && conf->mech->causal_only && !conf->causal)
        return rung_fail(err, RUNG_USAGE, "%s has no meaning without a causal mask", conf->mech->name);
    if (status == RUNG_OK && conf->mech->check) status = conf->mech->check(conf, err);
    return status;
}

size_t rung_mech_inputs(const rung_mech *mech)
{
    size_t count = 0;
    while (mech->inputs[count].name) count++;
    return count;
}

bool rung_mech_is_constant(const rung_mech_input *input)
{
    return input->dim >= RUNG_DIM_CONSTANT;
}

const char *rung_mech_dim_text(rung_mech_dim dim)
{
    switch (dim) {
    case RUNG_DIM_KEY:
        return "[H,dk]";
    case RUNG_DIM_VALUE:
        return "[H,dv]";
    case RUNG_DIM_HEAD:
        return "[H]";
    case RUNG_DIM_LEVELS:
        return "[H,levels]";
    case RUNG_DIM_BRANCHES:
        return "[H,3]";
    case RUNG_DIM_FOUR_VALUES:
        return "[H,4dv]";
    case RUNG_DIM_INDEX_QUERY:
        return "[HI,DI]";
    case RUNG_DIM_INDEX_KEY:
        return "[DI]";
    case RUNG_DIM_INDEX_HEAD:
        return "[HI]";
    case RUNG_DIM_OF_VALUE:
        return "[H,dv]";
    case RUNG_DIM_OF_STATE:
        return "[H,dv,dk]";
    case RUNG_DIM_OF_SQUARE:
        return "[H,dv,dv]";
    case RUNG_DIM_OF_FOUR:
        return "[H,4dv,dv]";
    case RUNG_DIM_OF_BLOCK_KEY:
        return "[B,dk]";
    case RUNG_DIM_OF_BLOCK_VALUE:
        return "[B,dv]";
    case RUNG_DIM_OF_COMPRESS_KEY:
        return "[dk,B*dk]";
    case RUNG_DIM_OF_COMPRESS_VALUE:
        return "[dv,B*dv]";
    case RUNG_DIM_OF_KEY_SQUARE:
        return "[dk,dk]";
    case RUNG_DIM_OF_VALUE_SQUARE:
        return "[dv,dv]";
    }
    return "";
}

rung_shape rung_mech_shape(const rung_mech_input *input, const rung_mech_conf *conf)
{
    size_t H = rung_mech_input_heads(input, conf), dk = conf->dk, dv = conf->dv;
    if (input->used && !input->used(conf)) return (rung_shape){0};
    switch (input->dim) {
    case RUNG_DIM_KEY:
        return (rung_shape){2, {H, dk}};
    case RUNG_DIM_VALUE:
        return (rung_shape){2, {H, dv}};
    case RUNG_DIM_HEAD:
        return (rung_shape){1, {H}};
    case RUNG_DIM_LEVELS:
        return (rung_shape){2, {H, (size_t)rung_mech_param(conf, "levels")}};
    case RUNG_DIM_BRANCHES:
        return (rung_shape){2, {H, 3}};
    case RUNG_DIM_FOUR_VALUES:
        return (rung_shape){2, {H, 4 * dv}};
    case RUNG_DIM_INDEX_QUERY:
        return (rung_shape){2, {(size_t)rung_mech_param(conf, "HI"), (size_t)rung_mech_param(conf, "DI")}};
    case RUNG_DIM_INDEX_KEY:
        return (rung_shape){1, {(size_t)rung_mech_param(conf, "DI")}};
    case RUNG_DIM_INDEX_HEAD:
        return (rung_shape){1, {(size_t)rung_mech_param(conf, "HI")}};
    case RUNG_DIM_OF_VALUE:
        return (rung_shape){2, {H, dv}};
    case RUNG_DIM_OF_STATE:
        return (rung_shape){3, {H, dv, dk}};
    case RUNG_DIM_OF_SQUARE:
        return (rung_shape){3, {H, dv, dv}};
    case RUNG_DIM_OF_FOUR:
        return (rung_shape){3, {H, 4 * dv, dv}};
    case RUNG_DIM_OF_BLOCK_KEY:
        return (rung_shape){2, {(size_t)rung_mech_param(conf, "B"), dk}};
    case RUNG_DIM_OF_BLOCK_VALUE:
        return (rung_shape){2, {(size_t)rung_mech_param(conf, "B"), dv}};
    case RUNG_DIM_OF_COMPRESS_KEY:
        return (rung_shape){2, {dk, (size_t)rung_mech_param(conf, "B") * dk}};
    case RUNG_DIM_OF_COMPRESS_VALUE:
        return (rung_shape){2, {dv, (size_t)rung_mech_param(conf, "B") * dv}};
    case RUNG_DIM_OF_KEY_SQUARE:
        return (rung_shape){2, {dk, dk}};
    case RUNG_DIM_OF_VALUE_SQUARE:
        return (rung_shape){2, {dv, dv}};
    }
    return (rung_shape){0};
}

size_t rung_mech_kv_heads(const rung_mech_conf *conf)
{
    return conf->kv_heads ? conf->kv_heads : conf->heads;
}

size_t rung_mech_kv_head(const rung_mech_conf *conf, size_t head)
{
    return conf->kv_heads ? head / (conf->heads / conf->kv_heads) : head;
}

/* Rows that share keys have the inputs q, k and v, and constants of one number for every head of queries. */
size_t rung_mech_input_heads(const rung_mech_input *input, const rung_mech_conf *conf)
{
    bool shared = strcmp(input->name, "k") == 0 || strcmp(input->name, "v") == 0;
    return shared ? rung_mech_kv_heads(conf) : conf->heads;
}

bool rung_mech_is_query_or_key(const rung_mech_input *input)
{
    return strcmp(input->name, "q") == 0 || strcmp(input->name, "k") == 0;
}

bool rung_mech_is_query(const rung_mech_input *input)
{
    return strcmp(input->name, "q") == 0;
}

size_t rung_mech_decay_input(const rung_mech *mech)
{
    size_t i = 0;
    while (mech->inputs[i].name && mech->inputs[i].source != RUNG_FROM_DECAY) i++;
    return i;
}

size_t rung_mech_row(const rung_mech_input *input, const rung_mech_conf *conf)
{
    rung_shape shape = rung_mech_shape(input, conf);
    size_t elements = shape.rank > 0;
    for (size_t i = 0; i < shape.rank; i++) elements = size_times(elements, shape.dim[i]);
    return elements;
}

size_t rung_carry_total(rung_carry carry)
{
    size_t total = carry.recurrent;
    if (!rung_size_add(&total, total, carry.window) || !rung_size_add(&total, total, carry.cache) ||
        !rung_size_add(&total, total, carry.conv))
        return SIZE_MAX;
    return total;
}

size_t rung_mech_state_elements(const rung_mech_conf *conf, size_t tokens)
{
    return rung_carry_total(conf->mech->carry(conf, tokens));
}

size_t rung_mech_state_capacity(const rung_mech_conf *conf, size_t tokens)
{
    return conf->mech->capacity ? conf->mech->capacity(conf, tokens) : rung_mech_state_elements(conf, tokens);
}

void rung_mech_step_f32(float *o, float *state, const float *const *in, size_t pos, const rung_mech_conf *conf,
                        float *scratch)
{
    const rung_mech *mech = conf->mech;
    if (mech->step_f32) {
        mech->step_f32(o, state, in, pos, conf, scratch);
        return;
    }
    mech->update_f32(state, in, pos, conf, scratch);
    mech->read_f32(o, state, in, pos, pos + 1, conf, scratch);
}

void rung_mech_step_exact(double *o, double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                          const rung_fmt *fmt, double *scratch)
{
    const rung_mech *mech = conf->mech;
    if (mech->step_exact) {
        mech->step_exact(o, state, in, pos, conf, fmt, scratch);
        return;
    }
    mech->update_exact(state, in, pos, conf, fmt, scratch);
    mech->read_exact(o, state, in, pos, pos + 1, conf, fmt, scratch);
}

int64_t rung_mech_param(const rung_mech_conf *conf, const char *name)
{
    size_t index = rung_param_find(conf->mech->params, name);
    assert(index != SIZE_MAX);
    return conf->params[index].number;
}
