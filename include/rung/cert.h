/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * cert: certificates of failure, as text. A certificate says that one model, evaluated exactly in one number format,
 * fails on one task, and holds everything that a second program needs to see it. docs/certificate.md is the whole
 * specification; this module reads and writes the text and knows no models: rung-check says whether it is true. Layer 2.
 */
#ifndef RUNG_CERT_H
#define RUNG_CERT_H

#include "rung/base.h"

RUNG_API_BEGIN

typedef enum rung_cert_kind {
    RUNG_CERT_WRONG_ANSWER = 1, /* the model answers one prompt wrongly */
    RUNG_CERT_STATE_COLLISION, /* all carried state is the same after two prefixes, and one continuation needs different
                                   answers: no read-out and no chain of thought can repair it */
    RUNG_CERT_VIEW_COLLISION,  /* the last token ends up with the same numbers: no read-out can repair it */
    RUNG_CERT_BLOCK_COLLISION, /* two prompts differ in one block whose summaries agree and which is not opened */
} rung_cert_kind;
extern const char *const rung_cert_kind_words[]; /* [kind-1] */

/* Texts and arrays belong to the certificate. Fields that a kind does not have are zero. */
typedef struct rung_cert {
    rung_cert_kind kind;
    char model[65];              /* SHA-256 of the model file, hexadecimal */
    char *arch, *numbers, *task; /* as in the model file; canonical names */
    size_t tokens;
    uint32_t *prompt[2]; /* [tokens] each; wrong-answer has the first only */
    size_t prefix;       /* state-collision: the prompts agree from this token on */
    size_t position;     /* of the token that is asked */
    int32_t right[2];    /* the answers of the oracle, of each prompt */
    int32_t given;       /* wrong-answer: what the model says */
    size_t layer, block; /* block-collision: which block of B tokens, of the sparse layer */
    char *state;         /* state-collision: hexadecimal, all carried numbers after the prefix */
    char *summary;       /* block-collision: hexadecimal, compressed keys and values of the block, head by head */
    char *view;          /* view- and block-collision: hexadecimal, the asked token after the last layer */
} rung_cert;

/* Copies everything; clear it also when this fails. Only `kind` and what the kind has is looked at. */
rung_status rung_cert_copy(rung_cert *to, const rung_cert *from, rung_error *err);
void rung_cert_clear(rung_cert *cert);
/* The one text of this certificate. */
void rung_cert_print(rung_buf *out, const rung_cert *cert);
/* Written beside its place and renamed: never half a file. */
rung_status rung_cert_write(const char *path, const rung_cert *cert, rung_error *err);
/* Checks the grammar, not the truth. Messages have the line. */
rung_status rung_cert_parse(rung_cert *cert, const char *text, size_t size, const char *name, rung_error *err);
rung_status rung_cert_read(rung_cert *cert, const char *path, rung_error *err);
/* What is claimed, in one English sentence. */
void rung_cert_statement(rung_buf *out, const rung_cert *cert);
/* Packed bits (rung_num_pack) as hexadecimal, and nothing else: ceil(bits/4) digits, the last one zero-filled. */
char *rung_cert_hex(const uint8_t *packed, size_t bits, rung_error *err);

RUNG_API_END

#endif
