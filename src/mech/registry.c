/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The registry of mechanisms: the only place that lists them.
 */
#include "rows.h"

#include <assert.h>
#include <string.h>

static const rung_mech *const rows[] = {
    &rung_mech_full, &rung_mech_window, &rung_mech_linear, &rung_mech_delta, &rung_mech_gdelta,
};

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
    return rung_word_nearest(name, names, RUNG_COUNT(rows));
}

static rung_status check_size(const char *name, size_t value, size_t high, rung_error *err)
{
    if (value >= 1 && value <= high) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "%s = %zu is outside 1..%zu", name, value, high);
}

rung_status rung_mech_check(const rung_mech_conf *conf, rung_error *err)
{
    rung_status status = check_size("heads", conf->heads, RUNG_HEADS_MAX, err);
    if (status == RUNG_OK) status = check_size("dk", conf->dk, RUNG_DIM_MAX, err);
    if (status == RUNG_OK) status = check_size("dv", conf->dv, RUNG_DIM_MAX, err);
    if (status == RUNG_OK && conf->mech->check) status = conf->mech->check(conf, err);
    return status;
}

size_t rung_mech_inputs(const rung_mech *mech)
{
    size_t count = 0;
    while (mech->inputs[count].name) count++;
    return count;
}

size_t rung_mech_row(const rung_mech_input *input, const rung_mech_conf *conf)
{
    switch (input->dim) {
    case RUNG_DIM_KEY:
        return conf->heads * conf->dk;
    case RUNG_DIM_VALUE:
        return conf->heads * conf->dv;
    case RUNG_DIM_HEAD:
        return conf->heads;
    }
    return 0;
}

size_t rung_carry_total(rung_carry carry)
{
    size_t total = carry.recurrent;
    if (!rung_size_add(&total, total, carry.window) || !rung_size_add(&total, total, carry.cache)) return SIZE_MAX;
    return total;
}

size_t rung_mech_state_elements(const rung_mech_conf *conf, size_t tokens)
{
    return rung_carry_total(conf->mech->carry(conf, tokens));
}

int64_t rung_mech_param(const rung_mech_conf *conf, const char *name)
{
    size_t index = rung_param_find(conf->mech->params, name);
    assert(index != SIZE_MAX);
    return conf->params[index].number;
}
