/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to protocol: a player, with its tokens between layers and the messages it received. The functions below see
 * one player and its messages. Only protocol.c sees several players, and it only carries messages between them.
 */
#ifndef RUNG_PROTOCOL_PLAYER_H
#define RUNG_PROTOCOL_PLAYER_H

#include "rung/protocol.h"

/* Adjacent tokens that all are asked for a read-out, or all are not. The last layer is not finished for the latter. */
typedef struct segment {
    rung_rows *rows;
    size_t first, tokens; /* first: index within the player */
    bool asked;
} segment;

/* What all players share while one group of heads is computed. */
typedef struct epoch {
    const rung_mech_conf *conf;
    const rung_fmt *fmt;
    size_t layer, group, tokens; /* tokens: of the whole prompt */
    bool last;                   /* this is the last layer */
    rung_arena keep;             /* data of the players until the end of the epoch */
    rung_arena work[2];          /* messages and scratch of this turn and of the previous one */
    size_t turn;
    rung_error *err;
} epoch;

typedef struct player {
    size_t index, start, tokens;
    segment *segment;
    size_t segments;
    /* valid during an epoch */
    double *in[RUNG_MECH_INPUT_MAX];         /* [tokens][row], of inputs that are rows */
    const double *seen[RUNG_MECH_INPUT_MAX]; /* the same, and the constants */
    double *conv; /* what short convolutions carry: first before the inputs are made, then after */
    double *o;    /* [tokens][H][dv] */
    double *own;  /* sparse: its slots of the state */
    size_t *ask;  /* tokens (within the player) that need an output in this layer */
    size_t asks;
} player;

rung_status rung_player_init(player *p, const rung_protocol *protocol, const rung_span *span, size_t index,
                             rung_arena *arena, rung_error *err);
void rung_player_clear(player *p);
/* Allocates memory for one epoch. conv is zero, as at the start of a prompt. */
rung_status rung_player_begin(player *p, epoch *e);
/* Makes the inputs of the group from conv, and updates conv to what the next player needs. */
void rung_player_inputs(player *p, epoch *e);
/* Passes o to the tokens that need it. */
void rung_player_answer(player *p, const epoch *e);
/* Computes the layer after all its groups. */
rung_status rung_player_finish(player *p, size_t layer, bool last, rung_error *err);
/* The read-out of an asked token (index within the player). */
rung_status rung_player_read_out(player *p, double *out, size_t token, rung_error *err);

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* RUNG_INPUT for a NaN if the format has no code for it. */
rung_status rung_numbers_have_codes(const double *x, size_t count, const rung_fmt *fmt, const char *where,
                                    rung_error *err);
/* Packs numbers into a message, which lives until the end of the next turn. */
rung_status rung_letter_pack(rung_letter *letter, const double *x, size_t count, epoch *e);
void rung_letter_unpack(double *x, const rung_letter *letter, const epoch *e);
/* Allocates a*b zeros until the end of the next turn, or of the epoch. NULL, with an error, if there is no memory. */
double *rung_epoch_numbers(epoch *e, size_t a, size_t b);
double *rung_epoch_keep(epoch *e, size_t a, size_t b);
uint8_t *rung_epoch_bytes(epoch *e, size_t count);

/* ---- states: state_player.c --------------------------------------------------------------------------------------------- */

/* True if the state in the message includes the mechanism's own numbers, not only those of its convolutions. */
bool rung_state_of_mech(const rung_mech_conf *conf);
size_t rung_state_elements(const rung_mech_conf *conf, size_t tokens);
/* in: the message of the previous player, NULL for the first player. Makes the inputs, and the outputs if the
 * mechanism's numbers are in the state. *numbers is what the next player receives, rung_state_elements of them. */
rung_status rung_state_turn(player *p, double **numbers, const rung_letter *in, epoch *e);

/* ---- full attention: full_player.c -------------------------------------------------------------------------------------- */

size_t rung_full_elements(const rung_mech_conf *conf); /* accumulators of one token: H (dv+2) numbers */
/* The queries of the asking tokens, [asks][H][dk]. */
rung_status rung_full_queries(player *p, rung_letter *out, epoch *e);
/* An earlier player adds its keys to the accumulators it receives. NULL: it is the first player, and starts them. */
rung_status rung_full_add(player *p, rung_letter *out, const rung_letter *in, const rung_letter *queries, epoch *e);
/* The owner adds its own keys and divides. in = NULL: there is no earlier player. */
rung_status rung_full_end(player *p, const rung_letter *in, epoch *e);
/* The player's keys and values, [tokens][H][dk+dv], as in a cache. */
void rung_full_cache(double *out, const player *p, const epoch *e);

/* ---- sparse attention: sparse_player.c ---------------------------------------------------------------------------------- */

/* Sizes in the state of the mechanism: one slot [H][dk+dv] per token, and after every B of them one for the summary. */
typedef struct blocks {
    size_t B, k, W, slot;
    size_t brief; /* numbers in the slot of a summary */
    bool own;
} blocks;

blocks rung_blocks_of(const rung_mech_conf *conf);
size_t rung_blocks_elements(size_t tokens, const blocks *b); /* numbers in the slots of the first `tokens` tokens */

/* The slots of all tokens up to the player's last one. Slots that the player has not received are NaN. */
typedef struct desk {
    double *slot, *scratch;
    uint8_t *choice; /* [blocks before the player][H]: chosen by some asking token */
} desk;

/* Allocates a desk for any player of the epoch. */
rung_status rung_sparse_desk(desk *d, epoch *e);
/* Fills in the received summaries, and the player's own tokens and summaries. */
rung_status rung_sparse_lay_out(player *p, desk *d, const rung_letter *summaries, epoch *e);
rung_status rung_sparse_summaries(player *p, rung_letter *out, const desk *d, epoch *e);
/* Chooses blocks among those of all earlier players. */
rung_status rung_sparse_choose(const player *p, desk *d, epoch *e);
/* Packs which of the blocks [first, first+count) are chosen, as bits. */
rung_status rung_sparse_choice(rung_letter *out, const desk *d, epoch *e);
/* An earlier player sends the tokens of its chosen blocks, and its tokens [first, end). */
rung_status rung_sparse_open(const player *p, rung_letter *out, const rung_letter *choice, epoch *e);
rung_status rung_sparse_show(const player *p, rung_letter *out, size_t first, size_t end, epoch *e);
rung_status rung_sparse_take_opened(desk *d, const rung_letter *opened, epoch *e);
rung_status rung_sparse_take_shown(desk *d, const rung_letter *shown, epoch *e);
/* First token that the windows of the asking tokens reach; SIZE_MAX: none. */
size_t rung_sparse_window_first(const player *p, const epoch *e);
void rung_sparse_read(player *p, desk *d, epoch *e);

#endif
