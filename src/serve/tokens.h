/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The tokenizer of a served model: the words of its task, of its answers and of the texts that it reads, and names; what is
 * none of these is spelled in bytes, so that every text has tokens and comes back from them. Ids: the 256 bytes, then each word
 * twice, alone and with a space before it. Private to the module.
 */
#ifndef RUNG_SERVE_TOKENS_H
#define RUNG_SERVE_TOKENS_H

#include "rung/task.h"

typedef struct serve_tokens serve_tokens;

/* A growing list of ids. */
typedef struct serve_ids {
    uint32_t *id;
    size_t count, room;
    bool failed; /* memory ran out */
} serve_ids;
void serve_ids_add(serve_ids *ids, uint32_t id);
void serve_ids_clear(serve_ids *ids);

rung_status serve_tokens_new(serve_tokens **out, const rung_task_conf *task, size_t thoughts, rung_error *err);
void serve_tokens_free(serve_tokens *tokens);
size_t serve_tokens_count(const serve_tokens *tokens); /* ids are [0, count) */
/* Appends the tokens of the text, but stops after `most` + 1. */
void serve_tokens_encode(serve_ids *out, const serve_tokens *tokens, const char *text, size_t most);
/* Appends what the id stands for; id < count. */
void serve_tokens_piece(rung_buf *out, const serve_tokens *tokens, uint32_t id);

/* What a model writes as its e-th thought. */
void serve_thought_word(rung_buf *out, size_t e);

#endif
