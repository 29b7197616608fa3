/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * attack: searches for a failure of a concrete model on a task, and writes it as a certificate if rung-check can
 * confirm it. Each attack is one registry row that states to which models it applies. If no attack succeeds, nothing is
 * proved: the answer is then UNKNOWN, with a list of what was tried. Layer 5; the only module that includes FLINT.
 */
#ifndef RUNG_ATTACK_H
#define RUNG_ATTACK_H

#include "rung/base.h"
#include "rung/cert.h"
#include "rung/model.h"
#include "rung/task.h"

RUNG_API_BEGIN

/* The attacked model. The program must be made from the model, in an exact format or mixed ones, with online
 * softmax. */
typedef struct rung_attacked {
    const rung_model *model;
    const rung_program *program;
    const rung_task_conf *task;
    rung_fmt numbers;          /* of the operations */
    const rung_numbers *mixed; /* NULL: everything is in `numbers` */
} rung_attacked;

typedef struct rung_budget {
    double seconds; /* wall time of one attack */
    size_t memory;  /* bytes that an attack may allocate at once */
    size_t threads; /* 0: all */
    uint64_t seed;
    unsigned kinds;            /* kinds of certificates that are wanted, as bits 1 << kind; 0: all */
    rung_progress *progress;   /* NULL: none. An attack restarts it when it begins a new phase */
    bool (*interrupted)(void); /* NULL: never. Called from any thread */
} rung_budget;

/* What an attack found, or how far it came. */
typedef struct rung_break {
    bool found;
    const char *attack;   /* name of its registry row */
    rung_cert cert;       /* set if found; complete even if rung-check does not support the model */
    bool certifiable;     /* rung-check supports the mechanisms, the task and the format */
    char report[400];     /* one line. Found: how. Not found: what was tried, and how far */
    uint64_t evaluations; /* prompts or prefixes that were run */
    double seconds;
} rung_break;

typedef struct rung_attack {
    const char *name;
    const char *summary;
    const char *source;  /* the paper, or the section of docs/attacks.md */
    const char *applies; /* models and tasks it applies to, in words */
    const char *cost;    /* in words, as a function of the sizes */
    unsigned kinds;      /* the kinds of certificates it can give, as bits 1 << kind */
    bool any_numbers;    /* works with mixed formats too: it only runs the model and compares what it carries */
    /* A model that it breaks and one that it does not break; a test runs both. "ARCH FORMAT TASK key=value ...
     * [--option value ...]": random weights of that arch (rung build random, seed 0) on that task, in that format.
     * build:NAME stands for that construction. */
    const char *breaks, *spares;
    /* Expected seconds. Negative: the attack does not apply, and `why` (size bytes) gives the reason. */
    double (*expect)(const rung_attacked *attacked, const rung_budget *budget, char *why, size_t size);
    /* Searches until it finds something, has tried everything, or has used up the budget. Returns RUNG_OK also if it
     * finds nothing. */
    rung_status (*run)(rung_break *result, const rung_attacked *attacked, const rung_budget *budget, rung_error *err);
} rung_attack;

size_t rung_attack_count(void);
const rung_attack *rung_attack_at(size_t index);
const rung_attack *rung_attack_get(const char *name);

void rung_break_clear(rung_break *result);

/* Runs one attack by name. With NULL, runs all that apply in the order of their expected cost until one succeeds, and
 * budget->seconds is the time for all together. Shrinks what it finds, for at most a minute: as few tokens as possible
 * should differ. `tried` receives one entry for each registry row (at most `room`); attacks that do not apply have
 * found = false and the reason in `report`. */
rung_status rung_attack_run(rung_break *result, rung_break *tried, size_t room, size_t *tried_count,
                            const rung_attacked *attacked, const char *attack, const rung_budget *budget,
                            rung_error *err);

/* True if rung-check supports all parts of such a certificate. If not, `why` names the first that it does not
 * support. */
bool rung_attack_certifiable(const rung_attacked *attacked, rung_cert_kind kind, char *why, size_t size);

rung_part rung_part_flint(void);

RUNG_API_END

#endif
