/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A certificate with everything that `rung explain` says about it: the words of its tokens, where its prompts differ, what the
 * oracle says of them, and, with the model, what that answers. rung-check decides whether a certificate is true; this shows it.
 */
#ifndef RUNG_TOOL_EXPLAIN_H
#define RUNG_TOOL_EXPLAIN_H

#include "rung/cert.h"
#include "rung/num.h"
#include "rung/task.h"

typedef struct rung_explained {
    rung_cert cert;
    rung_task_conf task;
    rung_fmt fmt;
    size_t prompts;  /* 1 or 2 */
    size_t differ;   /* tokens in which the two prompts differ */
    char fault[320]; /* what was seen to be untrue, or "" */
    bool has_model;
    int32_t given[2]; /* what the model answers to each prompt; RUNG_NO_TARGET: a NaN or a missing key stopped it */
} rung_explained;

/* Token that both runs have in common from here on: what the certificate says is the same lies before it. */
size_t rung_explained_merge(const rung_explained *x);
bool rung_explained_differs(const rung_explained *x, size_t token);
/* Words of tokens and answers; "#7" for an id that the task does not have. */
void rung_explained_token(rung_buf *out, const rung_explained *x, size_t prompt, size_t token);
void rung_explained_answer(rung_buf *out, const rung_explained *x, int32_t answer);
/* The kind in a few words, what is equal, and what follows. */
const char *rung_explained_title(const rung_explained *x);
void rung_explained_equal(rung_buf *out, const rung_explained *x);
const char *rung_explained_so(const rung_explained *x);
/* The colliding numbers, as digits: state or view; NULL for a wrong answer. Numbers that they are, 0 if that is not certain. */
const char *rung_explained_hex(const rung_explained *x);
size_t rung_explained_numbers(const rung_explained *x, const char *hex);

/* explain_text.c: the explanation with at most `rows` lines of tokens. */
void rung_explain_print(rung_buf *out, const rung_explained *x, size_t rows);
/* explain_svg.c: the picture. */
void rung_explain_svg(rung_buf *out, const rung_explained *x);

#endif
