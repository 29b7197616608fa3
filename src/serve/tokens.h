/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to serve: the tokenizer of a served model. It knows the words of the task, of its answers and of its texts,
 * and names. Everything else is spelled in bytes, so that every text has tokens and can be restored from them. Ids: the
 * 256 bytes, then each word twice, alone and with a space before it.
 */
#ifndef RUNG_SERVE_TOKENS_H
#define RUNG_SERVE_TOKENS_H

#include "rung/task.h"

typedef struct serve_tokens serve_tokens;

/* A growing list of ids. */
typedef struct serve_ids {
    uint32_t *id;
    size_t count, room;
    bool failed; /* out of memory */
} serve_ids;
void serve_ids_add(serve_ids *ids, uint32_t id);
void serve_ids_clear(serve_ids *ids);

rung_status serve_tokens_new(serve_tokens **out, const rung_task_conf *task, size_t thoughts, rung_error *err);
void serve_tokens_free(serve_tokens *tokens);
size_t serve_tokens_count(const serve_tokens *tokens); /* ids are [0, count) */
/* Appends the tokens of the text; stops after `most` + 1. */
void serve_tokens_encode(serve_ids *out, const serve_tokens *tokens, const char *text, size_t most);
/* Appends the text of an id < count. */
void serve_tokens_piece(rung_buf *out, const serve_tokens *tokens, uint32_t id);

/* Prints the e-th thought token. */
void serve_thought_text(rung_buf *out, size_t e);

#endif
