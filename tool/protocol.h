/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A protocol that has been played, as the parts of `rung protocol` see it: the command, its ledger and its picture.
 */
#ifndef RUNG_TOOL_PROTOCOL_H
#define RUNG_TOOL_PROTOCOL_H

#include "rung/protocol.h"
#include "worker.h"

/* How the bits that were sent compare to what `rung bound` counts for the same layers. */
typedef enum rung_agreement {
    RUNG_LEDGER_EQUAL = 1,
    RUNG_LEDGER_LESS, /* the ledger counts more: a bound from it still holds */
    RUNG_LEDGER_MORE, /* a bug */
} rung_agreement;

typedef struct rung_played {
    const rung_worker *subject;
    const rung_judge *judge; /* the evaluator that has seen the whole prompt */
    uint64_t index;
    uint32_t *token; /* the prompt, and the thoughts that the last player said */
    size_t tokens;
    rung_span *player;
    size_t players;
    size_t *at; /* asked tokens */
    size_t asked;
    rung_transcript transcript;
    rung_letter *opened; /* messages of RUNG_SENT_OPENED without their bytes, for the picture */
    size_t opened_count, opened_room;
    uint64_t *ledger; /* [layers][cuts]: what rung bound counts of states, accumulators and summaries */
    rung_agreement agreement;
} rung_played;

/* Fills ledger and agreement. */
rung_status rung_protocol_ledger(rung_played *p, rung_error *err);
/* Tokens from a position on that receive something in a layer. */
size_t rung_protocol_receivers(const rung_played *p, size_t layer, size_t from);
/* "full+linear" */
void rung_protocol_mechanisms(rung_buf *out, const rung_played *p, size_t layer);
/* The first tokens of a player as words, at most `most` characters. */
void rung_protocol_words(rung_buf *out, const rung_played *p, size_t player, size_t most);
uint64_t rung_protocol_bits(const rung_played *p, size_t layer, size_t cut, rung_sent what);

void rung_protocol_print(rung_buf *out, const rung_played *p);
void rung_protocol_json(rung_buf *text, const rung_played *p, const rung_call *call);
void rung_protocol_svg(rung_buf *out, const rung_played *p);

#endif
