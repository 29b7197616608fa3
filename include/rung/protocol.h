/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * protocol: runs the exact evaluator as players and messages, as the proofs of the lower bounds do. Each player holds
 * consecutive tokens of the prompt and nothing else. It learns about other tokens only from messages, which are packed
 * into bits. The read-outs equal those of rung_session_run bit for bit. docs/protocol.md says who sends what and what
 * is counted. Layer 4.
 */
#ifndef RUNG_PROTOCOL_H
#define RUNG_PROTOCOL_H

#include "rung/base.h"
#include "rung/model.h"
#include "rung/num.h"
#include "rung/task.h"

RUNG_API_BEGIN

/* What a message holds. The first kinds go from earlier tokens to later ones and are counted. The others go back; the
 * receiver forgets them after use, and they are not counted. */
typedef enum rung_sent {
    RUNG_SENT_STATE = 0,    /* the state of a recurrence, window or short convolution at the cut, to the next player */
    RUNG_SENT_ACCUMULATORS, /* (m, den, num) of full attention, per token of `whose` and per head, to the next player */
    RUNG_SENT_SUMMARIES,    /* sparse: compressed keys and values of all blocks so far, to the next player */
    RUNG_SENT_OPENED,       /* sparse: keys and values of the blocks that `to` has chosen */
    RUNG_SENT_WINDOW,       /* sparse: keys and values that the window of `to` reaches */
    RUNG_SENT_COUNTED,      /* not a kind: the number of those above */
    RUNG_SENT_QUERIES = RUNG_SENT_COUNTED, /* full attention: the queries of `whose`, sent to an earlier player */
    RUNG_SENT_CHOICE, /* sparse: which blocks of an earlier player to open, a bit per block and head */
} rung_sent;
extern const char *const rung_sent_names[];

typedef struct rung_letter {
    rung_sent what;
    size_t layer, group;
    size_t from, to; /* players */
    size_t whose;    /* the player whose tokens ask; for other kinds, `to` */
    size_t first,
        /* positions that the message is about: asking tokens, or shown tokens or blocks. For a state: the next token,
         * and 1 */
        count;
    uint64_t bits;
    uint8_t *bytes; /* from rung_num_pack, (bits+7)/8 bytes; the receiver reads only these */
} rung_letter;

/* Is called with every message between two players before it arrives, and may change its bytes. Tests use it to falsify
 * messages. */
typedef rung_status rung_protocol_tap(void *context, rung_letter *letter, rung_error *err);

typedef struct rung_protocol {
    const rung_model *model;
    const rung_program *program; /* of that model, in this format, with online softmax */
    const rung_fmt *numbers;
    const uint32_t *token; /* [tokens] */
    size_t tokens;
    const rung_span *player; /* in prompt order, covering the prompt */
    size_t player_count;
    const size_t *at; /* tokens whose read-outs are wanted, in rising order */
    size_t at_count;
    rung_protocol_tap *tap; /* NULL: none */
    void *context;
} rung_protocol;

/* What was sent, and the read-outs. */
typedef struct rung_transcript {
    size_t layers, cuts; /* cut c is between the players c and c+1 */
    /* [layers][cuts][RUNG_SENT_COUNTED]: bits over each cut. A message to a player farther away crosses several cuts */
    uint64_t *bits;
    uint64_t sent[RUNG_SENT_CHOICE + 1],
        letters[RUNG_SENT_CHOICE + 1]; /* bits and number of messages of each kind; each message counts once */
    double *out;                       /* [at_count][answers] */
    uint8_t *state;      /* the states of all players together at the end, as rung_session_pack gives them */
    uint64_t state_bits; /* no player has all of it; it serves to compare with a session */
} rung_transcript;

/* RUNG_USAGE, with the reason, for models that the protocol does not cover: encoders, feature inputs, and mechanisms
 * that are neither full nor sparse nor have a bounded state. */
rung_status rung_protocol_covers(const rung_model *model, rung_error *err);
/* The players of an instance, [count], which the caller frees: those of the task, or if a layer is sparse its blocks of
 * B tokens (the least common multiple if there are several B). */
rung_status rung_protocol_players(rung_span **out, size_t *count, const rung_model *model,
                                  const rung_instance *instance, rung_error *err);
/* Runs the protocol. Clear the transcript also when this fails. RUNG_INPUT for a NaN that has no code in the format. */
rung_status rung_protocol_play(rung_transcript *out, const rung_protocol *protocol, rung_error *err);
void rung_transcript_clear(rung_transcript *t);
/* Counted bits over one cut in one layer, all kinds together. */
uint64_t rung_transcript_bits(const rung_transcript *t, size_t layer, size_t cut);
uint64_t rung_transcript_total(const rung_transcript *t); /* counted bits, each message once */

RUNG_API_END

#endif
