/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table of the lines of a certificate, in their order. The writer and the reader both use it. Private to the
 * module.
 */
#ifndef RUNG_CERT_LINES_H
#define RUNG_CERT_LINES_H

#include "rung/cert.h"

#include <string.h>

#define RUNG_CERT_FIRST_LINE "rung-certificate VERSION"
#define RUNG_CERT_COUNT_MAX  INT32_MAX  /* of COUNT, INDEX and ANSWER */
#define RUNG_CERT_ID_MAX     UINT32_MAX /* of a token */

typedef enum cert_line_id {
    LINE_FIRST,
    LINE_KIND,
    LINE_MODEL,
    LINE_ARCH,
    LINE_NUMBERS,
    LINE_TASK,
    LINE_PROMPT,
    LINE_PROMPT_2,
    LINE_PREFIX,
    LINE_POSITION,
    LINE_RIGHT,
    LINE_GIVEN,
    LINE_LAYER,
    LINE_BLOCK,
    LINE_STATE,
    LINE_SUMMARY,
    LINE_VIEW,
    LINE_END,
    LINE_COUNT
} cert_line_id;

typedef struct cert_line {
    const char *keyword;
    const char *form;  /* the syntax of the line, for messages */
    unsigned in_kinds; /* bit kind-1 is set if the line belongs to that kind */
} cert_line;

extern const cert_line rung_cert_lines[LINE_COUNT];

static inline bool cert_has_line(rung_cert_kind kind, cert_line_id id)
{
    return rung_cert_lines[id].in_kinds >> (kind - 1) & 1;
}

/* Version 2 is for mixed formats. */
static inline int cert_version(const char *numbers, size_t len)
{
    return memchr(numbers, '=', len) ? 2 : 1;
}

static inline size_t cert_prompts(rung_cert_kind kind)
{
    return kind == RUNG_CERT_WRONG_ANSWER ? 1 : 2;
}

/* The address of the field that holds the text of a line with one text or one number. */
char **rung_cert_text_of(rung_cert *cert, cert_line_id id);
size_t *rung_cert_number_of(rung_cert *cert, cert_line_id id);

#endif
