/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A certificate in memory: its lines, its copies, its end, and bits as hexadecimal digits. The grammar is section 1 of
 * docs/certificate.md; print.c and parse.c are its two directions.
 */
#include "lines.h"

#include <stdlib.h>
#include <string.h>

const char *const rung_cert_kind_names[] = {"wrong-answer", "state-collision", "view-collision", "block-collision",
                                            NULL};

enum {
    WRONG = 1u << (RUNG_CERT_WRONG_ANSWER - 1),
    STATE = 1u << (RUNG_CERT_STATE_COLLISION - 1),
    VIEW = 1u << (RUNG_CERT_VIEW_COLLISION - 1),
    BLOCK = 1u << (RUNG_CERT_BLOCK_COLLISION - 1),
    PAIRS = STATE | VIEW | BLOCK,
    ALL = WRONG | PAIRS
};

const cert_line rung_cert_lines[LINE_COUNT] = {
    [LINE_FIRST] = {"rung-certificate", RUNG_CERT_FIRST_LINE, ALL},
    [LINE_KIND] = {"kind", "kind KIND", ALL},
    [LINE_MODEL] = {"model", "model SHA256", ALL},
    [LINE_ARCH] = {"arch", "arch TEXT", ALL},
    [LINE_NUMBERS] = {"numbers", "numbers FORMAT", ALL},
    [LINE_TASK] = {"task", "task NAME KEY=VALUE ...", ALL},
    [LINE_PROMPT] = {"prompt", "prompt ID ID ...", ALL},
    [LINE_PROMPT_2] = {"prompt", "prompt ID ID ... (the second one)", PAIRS},
    [LINE_PREFIX] = {"prefix", "prefix COUNT", STATE},
    [LINE_POSITION] = {"position", "position INDEX", ALL},
    [LINE_RIGHT] = {"right", "right ANSWER", ALL},
    [LINE_GIVEN] = {"given", "given ANSWER", WRONG},
    [LINE_LAYER] = {"layer", "layer INDEX", BLOCK},
    [LINE_BLOCK] = {"block", "block INDEX", BLOCK},
    [LINE_STATE] = {"state", "state HEX", STATE},
    [LINE_SUMMARY] = {"summary", "summary HEX", BLOCK},
    [LINE_VIEW] = {"view", "view HEX", VIEW | BLOCK},
    [LINE_END] = {"end", "end", ALL},
};

char **rung_cert_text_of(rung_cert *cert, cert_line_id id)
{
    switch (id) {
    case LINE_ARCH:
        return &cert->arch;
    case LINE_NUMBERS:
        return &cert->numbers;
    case LINE_TASK:
        return &cert->task;
    case LINE_STATE:
        return &cert->state;
    case LINE_SUMMARY:
        return &cert->summary;
    case LINE_VIEW:
        return &cert->view;
    default:
        return NULL;
    }
}

size_t *rung_cert_number_of(rung_cert *cert, cert_line_id id)
{
    switch (id) {
    case LINE_PREFIX:
        return &cert->prefix;
    case LINE_POSITION:
        return &cert->position;
    case LINE_LAYER:
        return &cert->layer;
    case LINE_BLOCK:
        return &cert->block;
    default:
        return NULL;
    }
}

static rung_status copy_text(char **to, const char *from, rung_error *err)
{
    size_t size = strlen(from) + 1;
    *to = rung_calloc(size, 1, err);
    if (!*to) return RUNG_SYSTEM;
    memcpy(*to, from, size);
    return RUNG_OK;
}

static rung_status copy_prompt(uint32_t **to, const uint32_t *from, size_t tokens, rung_error *err)
{
    *to = rung_calloc(tokens, sizeof **to, err);
    if (!*to) return RUNG_SYSTEM;
    if (tokens) memcpy(*to, from, tokens * sizeof **to);
    return RUNG_OK;
}

rung_status rung_cert_copy(rung_cert *to, const rung_cert *from, rung_error *err)
{
    rung_cert *source = (rung_cert *)from; /* the source is only read */
    rung_status status = RUNG_OK;
    *to = (rung_cert){.kind = from->kind, .tokens = from->tokens};
    memcpy(to->model, from->model, sizeof to->model);
    for (cert_line_id id = 0; id < LINE_COUNT; id++) {
        if (!cert_has_line(from->kind, id)) continue;
        char **text = rung_cert_text_of(to, id);
        size_t *number = rung_cert_number_of(to, id);
        if (text && status == RUNG_OK) status = copy_text(text, *rung_cert_text_of(source, id), err);
        if (number) *number = *rung_cert_number_of(source, id);
    }
    for (size_t p = 0; p < cert_prompts(from->kind); p++) {
        RUNG_NEXT(status, copy_prompt(&to->prompt[p], from->prompt[p], from->tokens, err));
        to->right[p] = from->right[p];
    }
    if (cert_has_line(from->kind, LINE_GIVEN)) to->given = from->given;
    return status;
}

void rung_cert_clear(rung_cert *cert)
{
    for (cert_line_id id = 0; id < LINE_COUNT; id++) {
        char **text = rung_cert_text_of(cert, id);
        if (text) free(*text);
    }
    free(cert->prompt[0]);
    free(cert->prompt[1]);
    *cert = (rung_cert){0};
}

char *rung_cert_hex(const uint8_t *packed, size_t bits, rung_error *err)
{
    size_t digits = bits / 4 + (bits % 4 != 0);
    char *text = rung_calloc(digits + 1, 1, err);
    if (!text) return NULL;
    for (size_t i = 0; i < digits; i++) {
        unsigned nibble = i % 2 ? packed[i / 2] & 15u : packed[i / 2] >> 4;
        if (i + 1 == digits && bits % 4) nibble &= 15u << (4 - bits % 4); /* bits beyond the last one */
        text[i] = "0123456789abcdef"[nibble & 15u];
    }
    return text;
}
