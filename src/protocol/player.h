/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A player: its tokens on their way through the layers, and what it has been told. The functions below see one player and the
 * messages that it gets; protocol.c alone sees several players, and only carries messages between them.
 */
#ifndef RUNG_PROTOCOL_PLAYER_H
#define RUNG_PROTOCOL_PLAYER_H

#include "rung/protocol.h"

/* A run of tokens that are all asked for a read-out, or all not: the last layer is not finished for the latter. */
typedef struct segment {
    rung_rows *rows;
    size_t first, tokens; /* first: in the player */
    bool asked;
} segment;

/* What is the same for everybody while one group of heads is worked on. */
typedef struct epoch {
    const rung_mech_conf *conf;
    const rung_fmt *fmt;
    size_t layer, group, tokens; /* tokens: of the whole prompt */
    bool last;                   /* layer */
    rung_arena keep;             /* what players hold until its end */
    rung_arena work[2];          /* messages and scratch of this turn and of the one before */
    size_t turn;
    rung_error *err;
} epoch;

typedef struct player {
    size_t index, start, tokens;
    segment *segment;
    size_t segments;
    /* of the epoch */
    double *in[RUNG_MECH_INPUT_MAX];         /* [tokens][row], of inputs that are rows */
    const double *seen[RUNG_MECH_INPUT_MAX]; /* the same, and the constants */
    double *conv;                            /* what short convolutions carry: before the inputs are made, then after */
    double *o;                               /* [tokens][H][dv] */
    double *own;                             /* sparse: its slots of the state */
    size_t *ask;                             /* tokens (in the player) that need an output in this layer */
    size_t asks;
} player;

rung_status rung_player_init(player *p, const rung_protocol *protocol, const rung_span *span, size_t index,
                             rung_arena *arena, rung_error *err);
void rung_player_clear(player *p);
/* Memory for one epoch; conv is zero, as at the start of a prompt. */
rung_status rung_player_begin(player *p, epoch *e);
/* Makes the inputs of the group, from conv, which becomes what the next player needs. */
void rung_player_inputs(player *p, epoch *e);
/* Hands o to the tokens that need it. */
void rung_player_answer(player *p, const epoch *e);
/* The layer after all its groups. */
rung_status rung_player_finish(player *p, size_t layer, bool last, rung_error *err);
/* The read-out of a token (of the player) that is asked. */
rung_status rung_player_read_out(player *p, double *out, size_t token, rung_error *err);

/* ---- messages ------------------------------------------------------------------------------------------------------------------ */

/* RUNG_INPUT for a NaN in fixed point. */
rung_status rung_numbers_have_codes(const double *x, size_t count, const rung_fmt *fmt, const char *where,
                                    rung_error *err);
/* Numbers as a message, which lives until the end of the next turn. */
rung_status rung_letter_pack(rung_letter *letter, const double *x, size_t count, epoch *e);
void rung_letter_unpack(double *x, const rung_letter *letter, const epoch *e);
/* a*b zeros until the end of the next turn, or of the epoch; NULL with a message. */
double *rung_epoch_numbers(epoch *e, size_t a, size_t b);
double *rung_epoch_keep(epoch *e, size_t a, size_t b);
uint8_t *rung_epoch_bytes(epoch *e, size_t count);

/* ---- states: state.c ------------------------------------------------------------------------------------------------------------ */

/* Whether the mechanism's own numbers go with the state, or only those of its convolutions. */
bool rung_state_of_mech(const rung_mech_conf *conf);
size_t rung_state_elements(const rung_mech_conf *conf, size_t tokens);
/* in: from the player before, NULL for the first. Makes the inputs, and the outputs where the mechanism is in the state; *numbers becomes
 * what the next player is told, rung_state_elements of them. */
rung_status rung_state_turn(player *p, double **numbers, const rung_letter *in, epoch *e);

/* ---- full attention: full.c ------------------------------------------------------------------------------------------------------ */

size_t rung_full_elements(const rung_mech_conf *conf); /* of one token's accumulators: H (dv+2) */
/* The queries of the tokens that ask, [asks][H][dk]. */
rung_status rung_full_queries(player *p, rung_letter *out, epoch *e);
/* An earlier player adds its keys to the accumulators that it gets (NULL: it is the first, and starts them). */
rung_status rung_full_add(player *p, rung_letter *out, const rung_letter *in, const rung_letter *queries, epoch *e);
/* The owner adds its own keys and divides (in = NULL: nobody is before it). */
rung_status rung_full_end(player *p, const rung_letter *in, epoch *e);
/* Its keys and values, [tokens][H][dk+dv], as a cache has them. */
void rung_full_cache(double *out, const player *p, const epoch *e);

/* ---- sparse attention: sparse.c -------------------------------------------------------------------------------------------------- */

/* Sizes of the state of the mechanism: a slot [H][dk+dv] per token, and behind every B of them one for the summary. */
typedef struct blocks {
    size_t B, k, W, slot;
    bool own;
} blocks;

blocks rung_blocks_of(const rung_mech_conf *conf);
size_t rung_blocks_slots(size_t tokens, const blocks *b); /* slots of so many first tokens */

/* A player at work has all slots before the end of its tokens in front of it; what it has not been told is NaN. */
typedef struct desk {
    double *slot, *scratch;
    uint8_t *choice; /* [blocks before the player][H]: chosen by some token that asks */
} desk;

/* Room for any player of the epoch. */
rung_status rung_sparse_desk(desk *d, epoch *e);
/* Lays out the summaries that came, and its own tokens and summaries. */
rung_status rung_sparse_lay_out(player *p, desk *d, const rung_letter *summaries, epoch *e);
rung_status rung_sparse_summaries(player *p, rung_letter *out, const desk *d, epoch *e);
/* Chooses blocks of all players before it. */
rung_status rung_sparse_choose(const player *p, desk *d, epoch *e);
/* Which of the blocks [first, first+count) are chosen, as bits. */
rung_status rung_sparse_choice(rung_letter *out, const desk *d, epoch *e);
/* An earlier player opens what is chosen of its blocks (those of the choice), and shows its tokens [first, end). */
rung_status rung_sparse_open(const player *p, rung_letter *out, const rung_letter *choice, epoch *e);
rung_status rung_sparse_show(const player *p, rung_letter *out, size_t first, size_t end, epoch *e);
rung_status rung_sparse_take_opened(desk *d, const rung_letter *opened, epoch *e);
rung_status rung_sparse_take_shown(desk *d, const rung_letter *shown, epoch *e);
/* First token that the windows of the asking tokens reach; SIZE_MAX: none. */
size_t rung_sparse_window_first(const player *p, const epoch *e);
void rung_sparse_read(player *p, desk *d, epoch *e);

#endif
