/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Inside: one question to an engine that is a program of its own.
 */
#ifndef RUNG_AUDIT_ENGINE_ASK_H
#define RUNG_AUDIT_ENGINE_ASK_H

#include "rung/audit.h"

typedef struct engine_question {
    const rung_replay_options *options;
    const rung_model *model;
    const uint32_t *const *prompt; /* [prompts][tokens] */
    size_t prompts, tokens, answers;
} engine_question;

/* Writes the model for the engine and asks it: scores [prompts][answers], and what the engine calls itself. */
rung_status engine_ask(double *scores, char *name, size_t size, const engine_question *q, rung_error *err);

#endif
