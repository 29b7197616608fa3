/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Inside: one play of the game. What players hold and what they have received.
 */
#ifndef RUNG_GAME_TABLE_OF_PLAY_H
#define RUNG_GAME_TABLE_OF_PLAY_H

#include "rung/game.h"

struct rung_game_message {
    rung_buf bytes; /* the last one may be partly filled */
    uint64_t bits;
};

/* A message with its content; `letter.round` 0 is a soft one. */
typedef struct game_sent {
    rung_game_letter letter;
    size_t offset; /* of its bytes in game_play.content */
} game_sent;

typedef struct game_play {
    const rung_game *game;
    const rung_game_protocol *protocol;
    const uint64_t *input[RUNG_GAME_PLAYERS_MAX];
    game_sent *sent; /* in the order of sending */
    size_t count, cap;
    rung_buf content;
    rung_game_message message; /* the one that is being written */
    char broken[200];
} game_play;

struct rung_game_view {
    const game_play *play;
    size_t player;
    size_t known; /* messages that had been sent when the view was made; those to others are not shown */
};

void game_play_init(game_play *play, const rung_game *game, const rung_game_protocol *protocol);
void game_play_clear(game_play *play);
/* Plays one prompt. A message that is too long ends the play; `broken` then says which. */
rung_status game_play_prompt(game_play *play, uint64_t *answer, rung_error *err);
/* Writes message number `index` once more, into `scratch`, for a sender (and in a soft round a receiver) that holds and
 * has received the same, while all others hold `other`. True if it is the same message. */
bool game_play_repeats(const game_play *play, size_t index, const uint64_t *const other[], rung_game_message *scratch);

#endif
