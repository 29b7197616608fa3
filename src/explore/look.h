/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to explore: what a page asks to see, and the document that shows it.
 */
#ifndef RUNG_EXPLORE_LOOK_H
#define RUNG_EXPLORE_LOOK_H

#include "rung/card.h"
#include "rung/explore.h"
#include "rung/io.h"

/* An input of the command line. */
typedef struct explore_input {
    const char *name;
    rung_subject *subject;
} explore_input;

struct rung_explorer {
    explore_input *input;
    size_t inputs;
    size_t heads, head_dim;
    rung_card_law *law; /* what all cards share */
    rung_lookup_proofs *proofs;
    char nonce[33]; /* of the scripts and styles of the page, in hexadecimal digits */
    rung_buf page, security;
    rung_arena arena;
};

/* One request. Texts belong to the document of the request. */
typedef struct explore_look {
    /* what: one of three */
    const explore_input *input;
    const char *arch;
    const char *file_name, *file_base64;
    /* sizes of layers that name none */
    int64_t heads, head_dim;
    /* the card */
    int64_t context, batch, budget; /* budget in bytes; 0: none */
    const char *kv, *state;         /* formats; NULL: as the file says */
    const char *change;             /* of rung_card_variant; NULL: none */
    /* the claim */
    const char *task; /* canonical text, or its beginning; NULL: none */
    int64_t n, bits;
} explore_look;

/* Reads the body of a request. RUNG_USAGE names the field. */
rung_status explore_look_read(explore_look *look, const rung_json *body, const rung_explorer *explorer,
                              rung_error *err);
/* Appends the document rung.explore/1. */
rung_status explore_look_show(rung_buf *out, const explore_look *look, const rung_explorer *explorer, rung_error *err);

/* Decodes base64 with or without padding. RUNG_INPUT for any other character. */
rung_status explore_base64(rung_buf *out, const char *text, rung_error *err);
/* A word of a shell command, in quotes where it needs them. */
void explore_put_word(rung_buf *out, const char *word);

extern const char explore_html[], explore_css[], explore_js[];

#endif
