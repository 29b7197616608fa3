/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * L-SeqComp over names: "The mentor of apple at river is stone." All i_l share their names, and so do all w_l: the
 * relation says which table an entry is of, so that L levels need no more names than the widest one.
 */
#include "seqcomp.h"
#include "text_form.h"

/* Roles: i_0, ..., i_L, then w_1, ..., w_{L-1}. */
static size_t place_role(const rung_seqcomp *shape, size_t level)
{
    return shape->levels + level;
}

static size_t roles(rung_role *roles, const rung_task_conf *conf)
{
    rung_seqcomp shape;
    rung_seqcomp_shape(&shape, conf);
    size_t widest = 0;
    for (size_t l = 0; l <= shape.levels; l++) {
        roles[l] = (rung_role){0, shape.range[l]};
        if (shape.range[l] > widest) widest = shape.range[l];
    }
    for (size_t l = 1; l < shape.levels; l++) roles[place_role(&shape, l)] = (rung_role){widest, shape.n[l]};
    return 2 * shape.levels;
}

static size_t hops(const rung_task_conf *conf)
{
    return (size_t)rung_task_param(conf, "L");
}

static size_t answer_role(const rung_task_conf *conf, size_t asked)
{
    return asked ? asked : hops(conf);
}

static size_t entries(const rung_task_conf *conf)
{
    return conf->tokens - 2;
}

/* The first place of the block of z_level without a token. In the form of pairs a block is filled from its start. */
static size_t next_free(const rung_instance *instance, const rung_seqcomp *shape, size_t level)
{
    size_t low = shape->start[level], high = low + shape->args[level];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (instance->token[middle] == UINT32_MAX)
            high = middle;
        else
            low = middle + 1;
    }
    return low == shape->start[level] + shape->args[level] ? SIZE_MAX : low;
}

static void entry(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t i)
{
    rung_seqcomp shape;
    rung_seqcomp_shape(&shape, conf);
    size_t level = shape.levels, u = 0, value = 0, position = shape.start[shape.levels] + i;
    while (level > 1 && position >= shape.start[level - 1]) level--;
    if (!scribe->reading) rung_seqcomp_decode(&u, &value, &shape, level, position, instance->token[position]);

    size_t relation = level - 1;
    rung_scribe_put(scribe, " The", "|");
    rung_scribe_word(scribe, rung_seqcomp_relations + 1, shape.levels, &relation);
    level = relation + 1;
    size_t below = shape.range[level - 1], person = u % below, place = u / below;
    rung_scribe_put(scribe, " of", " |");
    rung_scribe_name(scribe, level - 1, &person);
    if (level > 1) {
        rung_scribe_put(scribe, " at", " |");
        rung_scribe_name(scribe, place_role(&shape, level - 1), &place);
    }
    rung_scribe_put(scribe, " is", " |");
    rung_scribe_name(scribe, level, &value);
    rung_scribe_put(scribe, ".", " |");
    if (!scribe->reading) return;
    u = place * below + person;
    position = shape.pairs ? next_free(instance, &shape, level) : shape.start[level] + u;
    rung_scribe_token(scribe, instance, conf, position, rung_seqcomp_entry(&shape, level, u, value));
}

/* "Start at apple. Take its guide, then the mentor at river. Which name do you reach?" */
static void question(rung_scribe *scribe, rung_instance *instance, const rung_task_conf *conf, size_t asked)
{
    rung_seqcomp shape;
    rung_seqcomp_shape(&shape, conf);
    size_t levels = asked ? asked : shape.levels, w = 0, read = 0, weight = 1, z0 = 0;
    if (!scribe->reading) {
        z0 = instance->token[shape.z0_at] - shape.z0_id;
        w = instance->token[shape.w_at] - shape.w_id;
    }
    rung_scribe_say(scribe, " Start at");
    rung_scribe_name(scribe, 0, &z0);
    rung_scribe_say(scribe, ". Take its ");
    rung_scribe_say(scribe, rung_seqcomp_relations[1]);
    for (size_t l = 1; l < levels; l++) {
        size_t place = w % shape.n[l];
        w /= shape.n[l];
        rung_scribe_say(scribe, ", then the ");
        rung_scribe_say(scribe, rung_seqcomp_relations[l + 1]);
        rung_scribe_say(scribe, " at");
        rung_scribe_name(scribe, place_role(&shape, l), &place);
        read += weight * place;
        weight *= shape.n[l];
    }
    rung_scribe_say(scribe, ". Which name do you reach?");
    rung_scribe_token(scribe, instance, conf, shape.z0_at, shape.z0_id + z0);
    rung_scribe_token(scribe, instance, conf, shape.w_at, shape.w_id + read);
}

/* Finds z_level(u) among the entries of the level. */
static size_t look_up(const rung_instance *instance, const rung_seqcomp *shape, size_t level, size_t wanted)
{
    size_t u = 0, value = 0;
    for (size_t i = 0; i < shape->args[level]; i++) {
        size_t position = shape->start[level] + i;
        rung_seqcomp_decode(&u, &value, shape, level, position, instance->token[position]);
        if (u == wanted) break;
    }
    return value;
}

static size_t answer(const rung_instance *instance, const rung_task_conf *conf, size_t asked)
{
    rung_seqcomp shape;
    rung_seqcomp_shape(&shape, conf);
    size_t i = instance->token[shape.z0_at] - shape.z0_id, w = instance->token[shape.w_at] - shape.w_id;
    for (size_t l = 1; l <= asked; l++) {
        size_t digit = w % shape.n[l - 1]; /* w_{l-1}; n[0] = 1 makes w_0 = 0 */
        w /= shape.n[l - 1];
        i = look_up(instance, &shape, l, digit * shape.range[l - 1] + i);
    }
    return i;
}

const rung_text_form rung_text_seqcomp = {
    .reply = "one name",
    .roles = roles,
    .answer_role = answer_role,
    .entries = entries,
    .entry = entry,
    .question = question,
    .hops = hops,
    .answer = answer,
};
