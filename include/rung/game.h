/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * game: the communication game in which lower bounds for hybrids are proved (Ye, He, Liao, Wu, Lu 2026, box on page 5),
 * and protocols for it. A protocol need not be a model: messages are any functions of what their senders may know. The
 * game gives a sender nothing else, and checks the length of every message. docs/game.md has the rules. Layer 3.
 *
 * Players are numbered from the end of the prompt: 0 holds w, 1 holds z_0, l + 1 holds the table z_l. So a player may
 * send to players with smaller numbers only.
 */
#ifndef RUNG_GAME_H
#define RUNG_GAME_H

#include "rung/base.h"
#include "rung/render.h"
#include "rung/task.h"

RUNG_API_BEGIN

#define RUNG_GAME_EPOCHS_MAX  RUNG_LIST_MAX
#define RUNG_GAME_PLAYERS_MAX (RUNG_LIST_MAX + 2)

/* The rules of one game. Epochs, functions and rounds count from 1. */
typedef struct rung_game {
    rung_task_conf task;                        /* seqcomp: position, w last */
    size_t functions;                           /* L */
    size_t players;                             /* L + 2 */
    size_t tokens[RUNG_GAME_PLAYERS_MAX];       /* of each player */
    size_t n[RUNG_GAME_PLAYERS_MAX];            /* [l]: w_l is one of n_l, l = 1..L-1 */
    size_t range[RUNG_GAME_PLAYERS_MAX];        /* [l]: i_l is one of so many, l = 0..L */
    size_t epochs;                              /* full layers; each is one soft round */
    size_t linear_rounds[RUNG_GAME_EPOCHS_MAX]; /* [epoch - 1]: a_l, linear layers after it */
    uint64_t soft_bits;                         /* allowed to a player from one other player, for each of its tokens */
    uint64_t linear_bits;                       /* allowed from a player to the next in a linear round */
} rung_game;

typedef struct rung_game_options {
    const rung_task_conf *task;
    rung_sizes linear_rounds; /* a_1, ..., a_F: its length is the number of epochs */
    int64_t heads, head_dim, bits;
} rung_game_options;

/* 2Hdp bits for each token in a soft round and Hd(d+1)p bits in a linear round, as the paper counts. RUNG_USAGE for
 * other tasks than seqcomp in its plain form, and for more epochs than RUNG_GAME_EPOCHS_MAX. */
rung_status rung_game_init(rung_game *game, const rung_game_options *options, rung_error *err);

/* ---- what a player knows ----------------------------------------------------------------------------------------- */

/* Its own input and the messages that it has received. */
typedef struct rung_game_view rung_game_view;

size_t rung_game_inputs(const rung_game_view *view);
/* z_l(index) of a table, z_0, or the digit w_(index+1). */
uint64_t rung_game_input(const rung_game_view *view, size_t index);
/* Bits [at, at + width) of the message that `from` sent in the soft round of an epoch, or in a linear round of it
 * (1, 2, ...), as a number; width <= 64. Bits that were not sent are 0. */
uint64_t rung_game_soft(const rung_game_view *view, size_t epoch, size_t from, uint64_t at, unsigned width);
uint64_t rung_game_linear(const rung_game_view *view, size_t epoch, size_t round, uint64_t at, unsigned width);

/* A message that is being written. */
typedef struct rung_game_message rung_game_message;
void rung_game_send(rung_game_message *out, uint64_t value, unsigned width);
/* Bits that name one of `count` things. */
unsigned rung_game_width(uint64_t count);

/* ---- protocols --------------------------------------------------------------------------------------------------- */

typedef struct rung_game_protocol {
    const char *name;
    const char *summary;
    /* a_1, ... that it needs on a task with so many functions. */
    void (*rounds)(rung_sizes *linear_rounds, size_t functions);
    /* RUNG_USAGE if the rounds of the game are too few. */
    rung_status (*fits)(const rung_game *game, rung_error *err);
    /* Player `from` answers what player `to` has shown it. Both views are those before the epoch. */
    void (*soft)(rung_game_message *out, const rung_game *game, size_t epoch, size_t from, size_t to,
                 const rung_game_view *of_from, const rung_game_view *of_to);
    /* Player `from` sends to from - 1, after it has received from from + 1. NULL: nothing is sent. */
    void (*linear)(rung_game_message *out, const rung_game *game, size_t epoch, size_t round, size_t from,
                   const rung_game_view *of_from);
    uint64_t (*answer)(const rung_game *game, const rung_game_view *of_last);
} rung_game_protocol;

size_t rung_game_protocol_count(void);
const rung_game_protocol *rung_game_protocol_at(size_t index);
/* RUNG_USAGE with the nearest name. */
rung_status rung_game_protocol_get(const rung_game_protocol **out, const char *name, rung_error *err);
const char *rung_game_protocol_name_at(size_t index); /* a rung_names */

/* ---- playing ----------------------------------------------------------------------------------------------------- */

/* A message that was sent. Empty messages are not listed. */
typedef struct rung_game_letter {
    size_t epoch, round; /* round 0: soft */
    size_t from, to;
    uint64_t bits, allowed;
} rung_game_letter;

typedef struct rung_game_run_options {
    uint64_t samples; /* prompts to play; 0: every prompt of the task */
    uint64_t seed;
} rung_game_run_options;

typedef struct rung_game_result {
    uint64_t prompts, right;
    bool every; /* all prompts of the task */
    rung_game_letter *letter;
    size_t letters;      /* of the first prompt */
    uint64_t longest[2]; /* soft: bits per token of the receiver, rounded up; linear: bits */
    /* The rule that was broken first, or "". Playing stops there. */
    char broken[200];
    /* Messages that were sent again by players who hold and have received the same, while all others hold another
     * prompt. `leaked` of them changed: the protocol used what it must not know. */
    uint64_t repeated, leaked;
} rung_game_result;

/* Clear the result also when this fails. RUNG_USAGE if the protocol does not fit, or the prompts are too many to play
 * all. */
rung_status rung_game_run(rung_game_result *result, const rung_game *game, const rung_game_protocol *protocol,
                          const rung_game_run_options *options, rung_error *err);
void rung_game_result_clear(rung_game_result *result);
/* Every prompt was right, no rule was broken, and nothing leaked. */
bool rung_game_won(const rung_game_result *result);

/* "w", "z0", "z1", ... */
void rung_game_player_name(char name[24], size_t player);
/* "(2;1,0)": epochs, and linear rounds after each. */
void rung_game_vector(rung_buf *out, const rung_game *game);
/* As one JSON object, rung.game/1. */
void rung_game_json(rung_buf *out, const rung_game *game, const rung_game_protocol *protocol,
                    const rung_game_result *result);
/* The messages of the first prompt as a picture that stands alone. */
void rung_game_svg(rung_buf *out, const rung_game *game, const rung_game_protocol *protocol,
                   const rung_game_result *result);

/* ---- block-sparse attention on two-sum ----------------------------------------------------------------------------- */

/* m blocks of B numbers, then the query: does one of the numbers sum to 0 with it, modulo M? In a layer every token may
 * open blocks that end before its own block, the query every block, and is told any function of its own state and of the
 * states in these blocks. A state is the number and all that was told in earlier layers. What a token opens and how many
 * bits it is told are counted. docs/game.md, Blocks. */
typedef struct rung_blocks_game {
    size_t block, blocks; /* B, m */
    uint64_t M;
} rung_blocks_game;

/* The task is two-sum with form=query and a number of entries that `block` divides; else RUNG_USAGE. */
rung_status rung_blocks_game_init(rung_blocks_game *game, const rung_task_conf *task, size_t block, rung_error *err);

/* A token that reads in one layer. Tokens count from 0; the query is token m B. */
typedef struct rung_blocks_reader rung_blocks_reader;

size_t rung_blocks_token(const rung_blocks_reader *reader);
/* Its own number, or that of a token in a block that it has opened in this layer. Other tokens break the rules, and
 * are 0. */
uint64_t rung_blocks_number(rung_blocks_reader *reader, size_t token);
/* What the token was told in an earlier layer, from 1, as item `slot`; 0 if nothing. */
uint64_t rung_blocks_told(rung_blocks_reader *reader, size_t token, size_t layer, size_t slot);
void rung_blocks_open(rung_blocks_reader *reader, size_t block);
/* The reader is told a number of so many bits. */
void rung_blocks_tell(rung_blocks_reader *reader, size_t slot, uint64_t value, unsigned bits);

#define RUNG_BLOCKS_SLOTS      24
#define RUNG_BLOCKS_LAYERS_MAX 8

typedef struct rung_blocks_protocol {
    const char *name, *summary;
    size_t layers;
    rung_status (*fits)(const rung_blocks_game *game, rung_error *err);
    /* What the reader opens and is told in this layer, from 1. */
    void (*read)(rung_blocks_reader *reader, const rung_blocks_game *game, size_t layer);
    /* From what the query was told. */
    bool (*answer)(rung_blocks_reader *query, const rung_blocks_game *game);
} rung_blocks_protocol;

size_t rung_blocks_protocol_count(void);
const rung_blocks_protocol *rung_blocks_protocol_at(size_t index);
const rung_blocks_protocol *rung_blocks_protocol_get(const char *name); /* NULL: no such name */

typedef struct rung_blocks_result {
    uint64_t prompts, right;
    size_t query_opens[RUNG_BLOCKS_LAYERS_MAX], token_opens[RUNG_BLOCKS_LAYERS_MAX]; /* blocks, the most; [layer - 1] */
    uint64_t bits[RUNG_BLOCKS_LAYERS_MAX];                                           /* told to one token, the most */
    char broken[200]; /* the rule that was broken first, or "" */
} rung_blocks_result;

/* Plays one prompt of m B numbers below M and a query, and adds to the result. */
rung_status rung_blocks_play(rung_blocks_result *result, const rung_blocks_game *game,
                             const rung_blocks_protocol *protocol, const uint64_t *numbers, uint64_t query,
                             rung_error *err);
/* Prompts of several kinds in turn: random, sorted, all equal, blocks alike, few values, one planted. */
rung_status rung_blocks_run(rung_blocks_result *result, const rung_blocks_game *game,
                            const rung_blocks_protocol *protocol, uint64_t prompts, uint64_t seed, rung_error *err);
bool rung_blocks_won(const rung_blocks_result *result);
/* As one JSON object, rung.blocks/1. */
void rung_blocks_json(rung_buf *out, const rung_blocks_game *game, const rung_blocks_protocol *protocol,
                      const rung_blocks_result *result);

RUNG_API_END

#endif
