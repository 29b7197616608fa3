/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A game from a task, and many prompts of it: is every answer right, is no message too long, and does nobody use what
 * it cannot know.
 */
#include <stdlib.h>
#include <string.h>

#include "table_of_play.h"

enum { REPEATS = 32 }; /* prompts on which messages are sent again with other inputs */
static const uint64_t every_max = (uint64_t)1 << 24;

/* ---- rules ------------------------------------------------------------------------------------------------------- */

static bool plain_form(const rung_task_conf *task)
{
    return strcmp(task->task->name, "seqcomp") == 0 && rung_task_param(task, "form") == 0 &&
           rung_task_param(task, "order") == 0;
}

static void fill_sizes(rung_game *game)
{
    const rung_task_conf *task = &game->task;
    bool flat = rung_task_param(task, "flat") == 1;
    size_t m = (size_t)rung_task_param(task, "N0");
    game->functions = (size_t)rung_task_param(task, "L");
    game->players = game->functions + 2;
    game->tokens[0] = game->tokens[1] = 1;
    game->range[0] = m;
    for (size_t l = 1; l <= game->functions; l++) {
        game->tokens[l + 1] = task->derived[l - 1];
        game->range[l] = l == game->functions ? (size_t)rung_task_param(task, "V") : flat ? m : task->derived[l - 1];
        if (l < game->functions) game->n[l] = (size_t)rung_task_value(task, "n")->list[l - 1];
    }
}

rung_status rung_game_init(rung_game *game, const rung_game_options *options, rung_error *err)
{
    memset(game, 0, sizeof *game);
    if (!plain_form(options->task))
        return rung_fail(err, RUNG_USAGE, "the game is about seqcomp with form=position and order=last");
    uint64_t token = (uint64_t)options->heads * (uint64_t)options->head_dim * (uint64_t)options->bits;
    game->task = *options->task;
    fill_sizes(game);
    game->epochs = options->linear_rounds.len;
    if (!game->epochs) return rung_fail(err, RUNG_USAGE, "the game has no epoch; say --a 0 for one full layer");
    for (size_t i = 0; i < game->epochs; i++) game->linear_rounds[i] = (size_t)options->linear_rounds.at[i];
    game->soft_bits = 2 * token;
    game->linear_bits = token * ((uint64_t)options->head_dim + 1);
    return RUNG_OK;
}

void rung_game_player_name(char name[24], size_t player)
{
    if (player)
        snprintf(name, 24, "z%zu", player - 1);
    else
        snprintf(name, 24, "w");
}

void rung_game_vector(rung_buf *out, const rung_game *game)
{
    rung_buf_printf(out, "(%zu;", game->epochs);
    for (size_t i = 0; i < game->epochs; i++) rung_buf_printf(out, "%s%zu", i ? "," : "", game->linear_rounds[i]);
    rung_buf_putc(out, ')');
}

/* ---- what players hold ------------------------------------------------------------------------------------------- */

/* Inputs of all players, one array each. */
typedef struct hands {
    uint64_t *of[RUNG_GAME_PLAYERS_MAX];
} hands;

static void clear_hands(hands *h)
{
    for (size_t i = 0; i < RUNG_GAME_PLAYERS_MAX; i++) free(h->of[i]);
    memset(h, 0, sizeof *h);
}

static rung_status make_hands(hands *h, const rung_game *game, rung_error *err)
{
    memset(h, 0, sizeof *h);
    for (size_t i = 0; i < game->players; i++) {
        size_t count = i ? game->tokens[i] : game->functions;
        h->of[i] = rung_calloc(count, sizeof *h->of[i], err);
        if (!h->of[i]) return RUNG_SYSTEM;
    }
    return RUNG_OK;
}

/* The values of the tokens, and w as its digits. */
static void deal(hands *h, const rung_game *game, const rung_instance *prompt)
{
    const rung_task_conf *task = &game->task;
    for (size_t i = 0; i < game->players; i++) {
        const rung_span *span = &prompt->player[game->players - 1 - i];
        for (size_t k = 0; k < span->len; k++)
            h->of[i][k] = prompt->token[span->start + k] - task->task->ids(task, span->start + k).first;
    }
    uint64_t w = h->of[0][0];
    for (size_t l = 1; l < game->functions; l++) {
        h->of[0][l - 1] = w % game->n[l];
        w /= game->n[l];
    }
}

/* ---- many prompts ------------------------------------------------------------------------------------------------ */

/* Takes the prompts in turn. */
typedef struct referee {
    const rung_game *game;
    const rung_game_run_options *options;
    rung_game_result *result;
    game_play play, again;
    rung_instance prompt, other;
    hands hand, other_hand;
} referee;

static rung_status start(referee *r, const rung_game_protocol *protocol, rung_error *err)
{
    game_play_init(&r->play, r->game, protocol);
    game_play_init(&r->again, r->game, protocol);
    RUNG_TRY(rung_instance_init(&r->prompt, &r->game->task, err));
    RUNG_TRY(rung_instance_init(&r->other, &r->game->task, err));
    RUNG_TRY(make_hands(&r->hand, r->game, err));
    return make_hands(&r->other_hand, r->game, err);
}

static void stop(referee *r)
{
    game_play_clear(&r->play);
    game_play_clear(&r->again);
    rung_instance_clear(&r->prompt);
    rung_instance_clear(&r->other);
    clear_hands(&r->hand);
    clear_hands(&r->other_hand);
}

static void note_longest(referee *r)
{
    for (size_t i = 0; i < r->play.count; i++) {
        const rung_game_letter *l = &r->play.sent[i].letter;
        uint64_t tokens = l->round ? 1 : r->game->tokens[l->to];
        uint64_t bits = (l->bits + tokens - 1) / tokens, *longest = &r->result->longest[l->round ? 1 : 0];
        if (bits > *longest) *longest = bits;
    }
}

static rung_status keep_letters(referee *r, rung_error *err)
{
    if (r->result->letter) return RUNG_OK;
    r->result->letter = rung_calloc(r->play.count + 1, sizeof *r->result->letter, err);
    if (!r->result->letter) return RUNG_SYSTEM;
    for (size_t i = 0; i < r->play.count; i++) r->result->letter[i] = r->play.sent[i].letter;
    r->result->letters = r->play.count;
    return RUNG_OK;
}

/* Plays another prompt, so that a protocol that remembers sees that one last, and then sends every message of this
 * prompt once more. */
static rung_status repeat(referee *r, uint64_t index, rung_error *err)
{
    uint64_t answer;
    RUNG_TRY(rung_task_make(&r->other, &r->game->task, r->options->seed ^ 0x6f74686572, index, err));
    deal(&r->other_hand, r->game, &r->other);
    for (size_t i = 0; i < r->game->players; i++) r->again.input[i] = r->other_hand.of[i];
    for (size_t i = 0; i < r->play.count; i++) {
        RUNG_TRY(game_play_prompt(&r->again, &answer, err));
        r->result->repeated++;
        r->result->leaked += !game_play_repeats(&r->play, i, r->again.input, &r->again.message);
    }
    return RUNG_OK;
}

static rung_status play_one(referee *r, uint64_t index, rung_error *err)
{
    uint64_t answer;
    deal(&r->hand, r->game, &r->prompt);
    for (size_t i = 0; i < r->game->players; i++) r->play.input[i] = r->hand.of[i];
    RUNG_TRY(game_play_prompt(&r->play, &answer, err));
    RUNG_TRY(keep_letters(r, err));
    note_longest(r);
    memcpy(r->result->broken, r->play.broken, sizeof r->result->broken);
    if (r->play.broken[0]) return RUNG_OK;
    r->result->prompts++;
    r->result->right += answer == (uint64_t)r->prompt.target[rung_instance_last_target(&r->prompt)];
    return index < REPEATS ? repeat(r, index, err) : RUNG_OK;
}

static rung_status next_prompt(referee *r, uint64_t index, bool *is_prompt, rung_error *err)
{
    *is_prompt = true;
    if (r->result->every) return rung_task_unrank(&r->prompt, is_prompt, &r->game->task, index, err);
    return rung_task_make(&r->prompt, &r->game->task, r->options->seed, index, err);
}

static rung_status play_all(referee *r, uint64_t count, rung_error *err)
{
    for (uint64_t index = 0; index < count && !r->result->broken[0]; index++) {
        bool is_prompt;
        RUNG_TRY(next_prompt(r, index, &is_prompt, err));
        if (is_prompt) RUNG_TRY(play_one(r, index, err));
    }
    return RUNG_OK;
}

rung_status rung_game_run(rung_game_result *result, const rung_game *game, const rung_game_protocol *protocol,
                          const rung_game_run_options *options, rung_error *err)
{
    memset(result, 0, sizeof *result);
    RUNG_TRY(protocol->fits(game, err));
    uint64_t count = options->samples ? options->samples : rung_task_space(&game->task);
    result->every = !options->samples;
    if (result->every && count > every_max)
        return rung_fail(err, RUNG_USAGE, "the task has more than %llu prompts; say --samples N for a sample of N",
                         (unsigned long long)every_max);
    referee r = {.game = game, .options = options, .result = result};
    rung_status status = start(&r, protocol, err);
    RUNG_NEXT(status, play_all(&r, count, err));
    stop(&r);
    return status;
}

void rung_game_result_clear(rung_game_result *result)
{
    free(result->letter);
    memset(result, 0, sizeof *result);
}

bool rung_game_won(const rung_game_result *result)
{
    return result->prompts > 0 && result->right == result->prompts && !result->broken[0] && !result->leaked;
}
