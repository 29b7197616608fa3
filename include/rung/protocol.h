/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * protocol: the exact evaluator run as players and messages, as the lower bounds imagine it. Each player holds consecutive
 * tokens of the prompt and nothing else; what it learns of the others are messages, packed into bits, and the read-outs are those
 * of rung_session_run bit for bit. docs/protocol.md says who sends what, and what is counted. Layer 4.
 */
#ifndef RUNG_PROTOCOL_H
#define RUNG_PROTOCOL_H

#include "rung/base.h"
#include "rung/model.h"
#include "rung/num.h"
#include "rung/task.h"

RUNG_API_BEGIN

/* What a message holds. The first kinds go from earlier tokens to later ones and are counted; the others go back, are forgotten
 * after use, and are not counted. */
typedef enum rung_sent {
    RUNG_SENT_STATE = 0, /* what a recurrence, a window or short convolutions carry over the cut, to the next player */
    RUNG_SENT_ACCUMULATORS, /* (m, den, num) of full attention, per token of `whose` and head, to the next player */
    RUNG_SENT_SUMMARIES,    /* sparse: compressed keys and values of all blocks so far, to the next player */
    RUNG_SENT_OPENED,       /* sparse: keys and values of the blocks that `to` has chosen */
    RUNG_SENT_WINDOW,       /* sparse: keys and values that the window of `to` reaches */
    RUNG_SENT_COUNTED,      /* not a kind: the number of those above */
    RUNG_SENT_QUERIES = RUNG_SENT_COUNTED, /* full attention: the queries of `whose`, shown to an earlier player */
    RUNG_SENT_CHOICE, /* sparse: which blocks of an earlier player to open, a bit per block and head */
} rung_sent;
extern const char *const rung_sent_words[];

typedef struct rung_letter {
    rung_sent what;
    size_t layer, group;
    size_t from, to; /* players */
    size_t whose;    /* player whose tokens ask; otherwise `to` */
    size_t first,
        count; /* positions that it speaks of: tokens that ask, tokens or blocks that are shown; of a state: the next
                            token and 1 */
    uint64_t bits;
    uint8_t *bytes; /* rung_num_pack, (bits+7)/8 of them; what the receiver reads */
} rung_letter;

/* Sees every message between two players before it arrives, and may change its bytes: so a test lies to a player. */
typedef rung_status rung_protocol_tap(void *context, rung_letter *letter, rung_error *err);

typedef struct rung_protocol {
    const rung_model *model;
    const rung_program *program; /* of that model, in this format, online */
    const rung_fmt *numbers;
    const uint32_t *token; /* [tokens] */
    size_t tokens;
    const rung_span *player; /* in prompt order, covering the prompt */
    size_t player_count;
    const size_t *at; /* tokens whose read-outs are wanted, rising */
    size_t at_count;
    rung_protocol_tap *tap; /* NULL: none */
    void *context;
} rung_protocol;

/* What was sent, and what came out. */
typedef struct rung_transcript {
    size_t layers, cuts; /* cut c is between the players c and c+1 */
    uint64_t
        *bits; /* [layers][cuts][RUNG_SENT_COUNTED], over the cut: a message to a player farther away crosses several */
    uint64_t sent[RUNG_SENT_CHOICE + 1], letters[RUNG_SENT_CHOICE + 1]; /* bits and messages of each kind, each once */
    double *out;                                                        /* [at_count][answers] */
    uint8_t *state;      /* what all players together hold in the end, as rung_session_pack would give it */
    uint64_t state_bits; /* nobody in the protocol has all of it: it is for comparing */
} rung_transcript;

/* RUNG_USAGE, with the reason, for what the protocol does not cover: encoders, features, mechanisms that are neither a bounded state
 * nor full nor sparse. */
rung_status rung_protocol_covers(const rung_model *model, rung_error *err);
/* The players of an instance, [count] to be freed: those of the task, or where a layer is sparse the blocks of B tokens (the least
 * common multiple if there are several B). */
rung_status rung_protocol_players(rung_span **out, size_t *count, const rung_model *model,
                                  const rung_instance *instance, rung_error *err);
/* Clear it also when this fails. A NaN that has no code in the format is RUNG_INPUT. */
rung_status rung_protocol_play(rung_transcript *out, const rung_protocol *protocol, rung_error *err);
void rung_transcript_clear(rung_transcript *t);
/* Bits that cross, all kinds together. */
uint64_t rung_transcript_bits(const rung_transcript *t, size_t layer, size_t cut);
uint64_t rung_transcript_total(const rung_transcript *t); /* counted bits, each message once */

RUNG_API_END

#endif
