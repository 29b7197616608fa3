/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Two players with a set each; see halves.h. The pairs that meet never or once are the distribution under
 * which Razborov (1992) proves that disjointness needs Omega(N) bits.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "halves.h"

void rung_halves_resolve(rung_task_conf *conf, size_t bits)
{
    conf->derived[0] = bits;
    conf->tokens = 2 * bits;
    conf->vocab = 4;
    rung_task_yes_no(conf);
}

void rung_halves_split(rung_instance *instance, size_t cut, size_t askers)
{
    rung_task_players_two(instance, cut, "alice", "bob");
    if (!askers) return;
    instance->player[1].len -= askers;
    rung_task_player_add(instance, "query", askers);
}

void rung_halves_players(rung_instance *instance, const rung_task_conf *conf)
{
    rung_halves_split(instance, conf->derived[0], 0);
}

rung_ids rung_halves_ids(const rung_task_conf *conf, size_t pos)
{
    return (rung_ids){pos < conf->derived[0] ? 0 : 2, 2};
}

void rung_halves_write(rung_instance *instance, const uint8_t *first, const uint8_t *second, size_t bits)
{
    instance->tokens = 2 * bits;
    for (size_t i = 0; i < bits; i++) {
        instance->token[i] = first[i];
        instance->token[bits + i] = 2u + second[i];
    }
}

static rung_status read_bits(uint8_t *bits, const rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    size_t half = conf->derived[0];
    rung_status status = rung_task_expect_tokens(instance, conf, 2 * half, err);
    for (size_t i = 0; i < 2 * half && status == RUNG_OK; i++) {
        uint32_t bit = 0;
        if (i < half)
            status = rung_task_expect_token(&bit, instance, conf, i, 0, 2, "a bit of the first half", err);
        else
            status = rung_task_expect_token(&bit, instance, conf, i, 2, 2, "a bit of the second half", err);
        bits[i] = (uint8_t)bit;
    }
    return status;
}

rung_status rung_halves_solve(rung_instance *instance, const rung_task_conf *conf,
                              int32_t (*decide)(const uint8_t *first, const uint8_t *second, size_t bits),
                              rung_error *err)
{
    size_t half = conf->derived[0];
    uint8_t *bits = rung_calloc(half, 2, err);
    if (!bits) return RUNG_SYSTEM;
    rung_status status = read_bits(bits, instance, conf, err);
    if (status == RUNG_OK) rung_task_answer_last(instance, decide(bits, bits + half, half));
    free(bits);
    return status;
}

void rung_halves_word(rung_buf *out, uint32_t token, char first, char second)
{
    rung_buf_printf(out, "%c%u", token < 2 ? first : second, token % 2);
}

size_t rung_meeting_size(size_t universe)
{
    size_t size = (universe + 1) / 4;
    return size ? size : 1;
}

static void set_bits(uint8_t *bits, size_t universe, const uint32_t *element, size_t count)
{
    memset(bits, 0, universe);
    for (size_t i = 0; i < count; i++) bits[element[i]] = 1;
}

static bool sets_meet(const uint8_t *a, const uint32_t *element, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[element[i]]) return true;
    return false;
}

/* Draws a second set, conditioned on meeting the first, by rejection. If the sets are small this takes universe/size^2
 * draws of `size` steps on average. */
static rung_status draw_until_met(uint32_t *element, const uint8_t *a, size_t universe, size_t size, rung_rng *rng,
                                  rung_error *err)
{
    rung_status status;
    do status = rung_rng_sample(rng, element, size, (uint32_t)universe, err);
    while (status == RUNG_OK && !sets_meet(a, element, size));
    return status;
}

rung_status rung_meeting_draw(uint8_t *a, uint8_t *b, size_t universe, size_t size, rung_meeting meeting, rung_rng *rng,
                              rung_error *err)
{
    assert(size >= 1 && 2 * size <= universe);
    uint32_t *element = rung_calloc(2 * size, sizeof *element, err);
    if (!element) return RUNG_SYSTEM;
    size_t shared = meeting == RUNG_MEET_ONCE ? 1 : 0;
    uint32_t *second = element + size - shared;
    rung_status status = rung_rng_sample(rng, element, 2 * size - shared, (uint32_t)universe, err);
    if (status == RUNG_OK) {
        set_bits(a, universe, element, size);
        if (meeting == RUNG_MEET_SOME) status = draw_until_met(second, a, universe, size, rng, err);
    }
    if (status == RUNG_OK) set_bits(b, universe, second, size);
    free(element);
    return status;
}
