/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Plays every prompt of a small composition as a protocol, and keeps a digest of what each player hands to the next one, by
 * layer and by the player whose tokens ask.
 */
#include "decompose.h"

#include <stdlib.h>
#include <string.h>

#include "rung/par.h"
#include "rung/protocol.h"

static const uint64_t prompts_max = (uint64_t)1 << 16;

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static bool fits_task(const rung_task_conf *task, char *why, size_t size)
{
    if (strcmp(task->task->name, "seqcomp") == 0 && rung_task_param(task, "order") == 0 &&
        rung_task_param(task, "form") == 0 && rung_task_param(task, "L") >= 2 &&
        rung_task_param(task, "L") + 2 <= DECOMPOSE_PLAYERS_MAX)
        return true;
    snprintf(why, size, "the task is not seqcomp with L from 2 to %d, form=position and w at the end",
             DECOMPOSE_PLAYERS_MAX - 2);
    return false;
}

/* Tokens of the players, from the end of the prompt. */
static void fill_spans(recording *r)
{
    const rung_task_conf *task = r->attacked->task;
    size_t end = r->tokens;
    for (size_t i = 0; i < r->players; i++) {
        size_t len = i < 2 ? 1 : task->derived[i - 2];
        end -= len;
        r->span[i] = (rung_span){.start = end, .len = len};
    }
}

/* Number of inputs of each player; false if there are too many prompts. */
static bool fill_inputs(recording *r)
{
    const rung_task_conf *task = r->attacked->task;
    r->prompts = 1;
    for (size_t i = 0; i < r->players; i++) {
        uint64_t choices = task->task->ids(task, r->span[i].start).count;
        r->inputs[i] = 1;
        for (size_t k = 0; k < r->span[i].len && r->inputs[i] <= prompts_max; k++) r->inputs[i] *= choices;
        r->weight[i] = r->prompts;
        if (r->inputs[i] > prompts_max) return false;
        r->prompts *= r->inputs[i];
        if (r->prompts > prompts_max) return false;
    }
    return true;
}

static bool group_is(const rung_layer *layer, bool full)
{
    for (size_t g = 0; g < layer->group_count; g++) {
        const rung_mech *mech = layer->group[g].mech;
        if (full && mech->class_of == RUNG_CLASS_SCAN) return true;
        if (!full && mech->class_of != RUNG_CLASS_SCAN && !mech->recurrent) return false;
    }
    return !full;
}

static bool fits_layers(const rung_attacked *attacked, char *why, size_t size)
{
    const rung_arch *arch = rung_model_get_arch(attacked->model);
    size_t full = 0, functions = (size_t)rung_task_param(attacked->task, "L");
    for (size_t i = 0; i < arch->layer_count; i++) {
        full += group_is(&arch->layer[i], true);
        if (group_is(&arch->layer[i], false)) continue;
        snprintf(why, size, "layer %zu is neither full nor recurrent", i);
        return false;
    }
    if (full >= 1 && full <= functions) return true;
    snprintf(why, size, "the model has %zu full layers, and the decomposition is about 1 to L=%zu", full, functions);
    return false;
}

bool rung_recording_init(recording *r, const rung_attacked *attacked, char *why, size_t size)
{
    memset(r, 0, sizeof *r);
    if (!rung_attacked_suits(attacked, why, size) || !fits_task(attacked->task, why, size) ||
        !fits_layers(attacked, why, size))
        return false;
    r->attacked = attacked;
    r->functions = (size_t)rung_task_param(attacked->task, "L");
    r->players = r->functions + 2;
    r->tokens = attacked->task->tokens;
    r->layers = rung_model_get_arch(attacked->model)->layer_count;
    fill_spans(r);
    if (fill_inputs(r)) return true;
    snprintf(why, size, "the task has more than %llu prompts", (unsigned long long)prompts_max);
    return false;
}

void rung_recording_clear(recording *r)
{
    free(r->epoch);
    free(r->digest);
    r->epoch = NULL;
    r->digest = NULL;
}

/* ---- prompts ----------------------------------------------------------------------------------------------------- */

uint64_t rung_recording_value(const recording *r, size_t player, uint64_t input, size_t index)
{
    const rung_task_conf *task = r->attacked->task;
    uint64_t choices = task->task->ids(task, r->span[player].start).count;
    for (size_t i = 0; i < index; i++) input /= choices;
    return input % choices;
}

void rung_recording_prompt(uint32_t *token, const recording *r, uint64_t number)
{
    const rung_task_conf *task = r->attacked->task;
    for (size_t i = 0; i < r->players; i++) {
        uint64_t input = number / r->weight[i] % r->inputs[i];
        for (size_t k = 0; k < r->span[i].len; k++) {
            size_t at = r->span[i].start + k;
            token[at] = (uint32_t)(task->task->ids(task, at).first + rung_recording_value(r, i, input, k));
        }
    }
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static size_t slot_of(const recording *r, size_t layer, size_t sender, size_t receiver)
{
    return (layer * r->players + sender) * (r->players + 1) + receiver;
}

static size_t slots(const recording *r)
{
    return r->layers * r->players * (r->players + 1);
}

uint64_t rung_recording_digest(const recording *r, uint64_t prompt, size_t layer, size_t sender, size_t receiver)
{
    return r->digest[prompt * slots(r) + slot_of(r, layer, sender, receiver)];
}

typedef struct listener {
    const recording *r;
    uint64_t *slot;
} listener;

/* The protocol numbers players from the front of the prompt. */
static rung_status listen(void *context, rung_letter *letter, rung_error *err)
{
    const listener *l = context;
    const recording *r = l->r;
    (void)err;
    if (letter->what >= RUNG_SENT_COUNTED) return RUNG_OK;
    size_t sender = r->players - 1 - letter->from;
    size_t receiver = letter->what == RUNG_SENT_STATE ? r->players : r->players - 1 - letter->whose;
    uint64_t *slot = &l->slot[slot_of(r, letter->layer, sender, receiver)];
    *slot = (*slot ^ rung_hash64(letter->bytes, (size_t)(letter->bits + 7) / 8)) * 0xff51afd7ed558ccdu;
    *slot ^= *slot >> 31;
    return RUNG_OK;
}

static rung_status play(const recording *r, uint64_t number, uint32_t *token, rung_error *err)
{
    const rung_attacked *v = r->attacked;
    size_t last = r->tokens - 1;
    rung_span player[DECOMPOSE_PLAYERS_MAX];
    listener l = {r, r->digest + number * slots(r)};
    rung_transcript transcript = {0};
    for (size_t i = 0; i < r->players; i++) player[i] = r->span[r->players - 1 - i];
    rung_recording_prompt(token, r, number);
    rung_protocol protocol = {.model = v->model,
                              .program = v->program,
                              .numbers = &v->numbers,
                              .token = token,
                              .tokens = r->tokens,
                              .player = player,
                              .player_count = r->players,
                              .at = &last,
                              .at_count = 1,
                              .tap = listen,
                              .context = &l};
    rung_status status = rung_protocol_play(&transcript, &protocol, err);
    rung_transcript_clear(&transcript);
    return status;
}

static rung_status make_room(recording *r, rung_error *err)
{
    const rung_arch *arch = rung_model_get_arch(r->attacked->model);
    r->epoch = rung_calloc(r->layers, sizeof *r->epoch, err);
    if (!r->epoch) return RUNG_SYSTEM;
    for (size_t i = 0, full = 0; i < r->layers; i++) {
        full += group_is(&arch->layer[i], true);
        r->epoch[i] = full ? full : 1;
    }
    r->digest = rung_calloc((size_t)r->prompts * slots(r), sizeof *r->digest, err);
    return r->digest ? RUNG_OK : RUNG_SYSTEM;
}

/* A prompt on which the model stops is like no other. */
static void mark_stopped(recording *r, uint64_t number)
{
    for (size_t i = 0; i < slots(r); i++) r->digest[number * slots(r) + i] = ~number;
    r->stopped++;
}

rung_status rung_recording_play(recording *r, bool *complete, rung_error *err)
{
    *complete = false;
    if (r->prompts * slots(r) * sizeof *r->digest > r->budget->memory) return RUNG_OK;
    uint32_t *token = rung_calloc(r->tokens, sizeof *token, err);
    rung_status status = token ? make_room(r, err) : RUNG_SYSTEM;
    rung_budget_progress(r->budget, "playing every prompt as a protocol", r->prompts);
    for (uint64_t i = 0; i < r->prompts && status == RUNG_OK; i++) {
        rung_error nan = {""};
        if (i % 64 == 0 && rung_budget_left(r->budget, r->began) <= 0) break;
        if (play(r, i, token, &nan) != RUNG_OK) mark_stopped(r, i);
        *complete = i + 1 == r->prompts;
        if (r->budget->progress) rung_progress_tick(r->budget->progress, i);
    }
    free(token);
    return status;
}
