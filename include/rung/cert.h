/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * cert: certificates of failure, as text. A certificate says that one model, evaluated exactly in one number format,
 * fails on one task, and holds everything that a second program needs to see it. docs/certificate.md is the whole
 * specification; this module reads and writes the text and knows no models: rung-check says whether it is true. Layer
 * 2.
 */
#ifndef RUNG_CERT_H
#define RUNG_CERT_H

#include "rung/base.h"

RUNG_API_BEGIN

typedef enum rung_cert_kind {
    RUNG_CERT_WRONG_ANSWER = 1, /* the model answers one prompt wrongly */
    /* all carried state is the same after two prefixes, but one continuation needs different answers: neither a
     * read-out nor a chain of thought can repair it */
    RUNG_CERT_STATE_COLLISION,
    RUNG_CERT_VIEW_COLLISION, /* the last token ends with the same numbers on two prompts: no read-out can repair it */
    /* two prompts differ in one block, whose summaries agree and which the last token does not open */
    RUNG_CERT_BLOCK_COLLISION,
} rung_cert_kind;
extern const char *const rung_cert_kind_names[]; /* [kind-1] */

/* Texts and arrays belong to the certificate. Fields that a kind does not have are zero. */
typedef struct rung_cert {
    rung_cert_kind kind;
    char model[65];              /* SHA-256 of the model file, hexadecimal */
    char *arch, *numbers, *task; /* as in the model file; canonical names */
    size_t tokens;
    uint32_t *prompt[2]; /* [tokens] each; wrong-answer uses only the first */
    size_t prefix;       /* state-collision: the prompts agree from this token on */
    size_t position;     /* of the token whose answer is checked */
    int32_t right[2];    /* the oracle's answers for the two prompts */
    int32_t given;       /* wrong-answer: the model's answer */
    size_t layer, block; /* block-collision: which block of B tokens, of the sparse layer */
    char *state;         /* state-collision: hexadecimal, all carried numbers after the prefix */
    char *summary;       /* block-collision: hexadecimal, compressed keys and values of the block, head by head */
    char *view; /* view- and block-collision: hexadecimal, the vector of the token at `position` after the last layer */
} rung_cert;

/* Copies everything that the kind has; other fields are ignored. The caller clears `to` even when this fails. */
rung_status rung_cert_copy(rung_cert *to, const rung_cert *from, rung_error *err);
void rung_cert_clear(rung_cert *cert);
/* Prints the canonical text of the certificate. */
void rung_cert_print(rung_buf *out, const rung_cert *cert);
/* Writes a temporary file and renames it, so that a reader never sees half a file. */
rung_status rung_cert_write(const char *path, const rung_cert *cert, rung_error *err);
/* Checks the grammar, not the truth. Messages contain the line number. */
rung_status rung_cert_parse(rung_cert *cert, const char *text, size_t size, const char *name, rung_error *err);
rung_status rung_cert_read(rung_cert *cert, const char *path, rung_error *err);
/* Prints what the certificate claims, in one English sentence. */
void rung_cert_statement(rung_buf *out, const rung_cert *cert);
/* Converts packed bits (rung_num_pack) to hexadecimal: ceil(bits/4) digits, the last one filled with zeros. */
char *rung_cert_hex(const uint8_t *packed, size_t bits, rung_error *err);

RUNG_API_END

#endif
