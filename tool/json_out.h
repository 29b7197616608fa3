/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Writes JSON into a buffer: nesting, commas, indentation. The caller closes what it opens; an unbalanced
 * document is a broken program and asserts. Values inside an array have the key NULL.
 */
#ifndef RUNG_TOOL_JSON_OUT_H
#define RUNG_TOOL_JSON_OUT_H

#include "rung/base.h"

#define RUNG_JOUT_DEPTH 16

typedef struct rung_jout {
    rung_buf *buf;
    bool pretty; /* one value per line, or one line in all */
    size_t depth;
    char close[RUNG_JOUT_DEPTH]; /* '}' or ']' of the open levels */
    bool filled[RUNG_JOUT_DEPTH];
    size_t flat; /* level from which everything stays on one line; 0: none */
} rung_jout;

/* Opens the top object. With a schema ("rung.list/1") that is its first member. */
void rung_jout_begin(rung_jout *out, rung_buf *buf, const char *schema, bool pretty);
/* Closes the top object and the line. */
void rung_jout_finish(rung_jout *out);

void rung_jout_object(rung_jout *out, const char *key);
void rung_jout_array(rung_jout *out, const char *key);
/* An object or array that stays on one line even in a pretty document. */
void rung_jout_flat_object(rung_jout *out, const char *key);
void rung_jout_flat_array(rung_jout *out, const char *key);
void rung_jout_end(rung_jout *out); /* the innermost open object or array */

void rung_jout_string(rung_jout *out, const char *key, const char *value); /* NULL gives null */
void rung_jout_int(rung_jout *out, const char *key, int64_t value);
void rung_jout_real(rung_jout *out, const char *key, double value); /* shortest that reads back; null if not finite */
void rung_jout_float(rung_jout *out, const char *key, float value); /* shortest that reads back as a float */
void rung_jout_bool(rung_jout *out, const char *key, bool value);
void rung_jout_null(rung_jout *out, const char *key);

#endif
