/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * attack: finds a failure of a concrete model on a task, and writes it as a certificate where rung-check can confirm it. Each
 * attack is one registry row that says which models it applies to. That none succeeds proves nothing: the answer is then
 * UNKNOWN, with what was tried. Layer 5; the only module that includes FLINT.
 */
#ifndef RUNG_ATTACK_H
#define RUNG_ATTACK_H

#include "rung/base.h"
#include "rung/cert.h"
#include "rung/model.h"
#include "rung/task.h"

RUNG_API_BEGIN

/* What is attacked. The program is the model's, with an exact format, online. */
typedef struct rung_victim {
    const rung_model *model;
    const rung_program *program;
    const rung_task_conf *task;
    rung_fmt numbers;
} rung_victim;

typedef struct rung_budget {
    double seconds; /* of wall time, for one attack */
    size_t memory;  /* bytes that an attack may allocate at once */
    size_t threads; /* 0: all */
    uint64_t seed;
    unsigned kinds;            /* of certificates that are wanted, as bits 1 << kind; 0: all */
    rung_progress *progress;   /* NULL: none; attacks restart it with what they are doing */
    bool (*interrupted)(void); /* NULL: never; polled from any thread */
} rung_budget;

/* What an attack found, or how far it went. */
typedef struct rung_break {
    bool found;
    const char *attack;   /* name of the row */
    rung_cert cert;       /* when found; complete, also when rung-check does not know the parts */
    bool certifiable;     /* rung-check knows the mechanisms, the task and the format */
    char report[400];     /* found: how. Not found: what was tried and how far, one line */
    uint64_t evaluations; /* prompts or prefixes that were run */
    double seconds;
} rung_break;

typedef struct rung_attack {
    const char *name;
    const char *summary;
    const char *source;  /* section of THEORY or paper, as docs/attacks.md tells it */
    const char *applies; /* to which models and tasks, in words */
    const char *cost;    /* in words, as a function of the sizes */
    unsigned kinds;      /* which kinds of certificates it can give: the bits 1 << kind */
    /* A model that it breaks and one that it does not; a test runs both. "ARCH FORMAT TASK key=value ... [--option value ...]":
     * random weights of that arch (rung build random, seed 0) on that task, in that format; build:NAME is the construction. */
    const char *breaks, *spares;
    /* Expected seconds; a negative number: it does not apply, and `why` (size bytes) says why not. */
    double (*expect)(const rung_victim *victim, const rung_budget *budget, char *why, size_t size);
    /* Looks until it finds something, has nothing more to try, or the budget is gone. Not finding is RUNG_OK. */
    rung_status (*run)(rung_break *result, const rung_victim *victim, const rung_budget *budget, rung_error *err);
} rung_attack;

size_t rung_attack_count(void);
const rung_attack *rung_attack_at(size_t index);
const rung_attack *rung_attack_get(const char *name);

void rung_break_clear(rung_break *result);

/* Runs one attack (by name), or with NULL all that apply in the order of their expected cost, until one succeeds; budget->seconds
 * is then for all together. What is found is shrunk: as few differing tokens as a minute of trying gives. `tried` receives one entry
 * for each row of the registry (at most `room`): those that do not apply have found = false and the reason in `report`. */
rung_status rung_attack_run(rung_break *result, rung_break *tried, size_t room, size_t *tried_count,
                            const rung_victim *victim, const char *attack, const rung_budget *budget, rung_error *err);

/* Whether rung-check knows all parts of such a certificate; if not, `why` names the first that it does not. */
bool rung_attack_certifiable(const rung_victim *victim, rung_cert_kind kind, char *why, size_t size);

RUNG_API_END

#endif
