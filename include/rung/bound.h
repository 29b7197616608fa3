/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * bound: what an architecture provably cannot do. The layers become a ledger of elements (config.h), the ledger becomes a
 * pattern of full and recurrent layers with their bits, and each bound is one registry row: a theorem whose inequality is
 * evaluated with the numbers filled in, certified (num.h), never by a rounded double. docs/theory.md states and proves
 * every row. A bound that is not violated says nothing: the verdict is then UNKNOWN, never CAN. Layer 5.
 */
#ifndef RUNG_BOUND_H
#define RUNG_BOUND_H

#include "rung/base.h"
#include "rung/config.h"
#include "rung/model.h"
#include "rung/task.h"

/* ---- ledgers of our own architectures ------------------------------------------------------------------------------- */

rung_status rung_ledger_of_arch(rung_ledger *ledger, const char *text, const rung_arch_defaults *defaults,
                                rung_error *err);
rung_status rung_ledger_of_model(rung_ledger *ledger, const rung_model *model, const char *name, rung_error *err);

/* ---- the question ---------------------------------------------------------------------------------------------------- */

/* What a token receives from a prefix in a full layer, in numbers per head. */
typedef enum rung_message {
    RUNG_MESSAGE_ONLINE = 0, /* dv+2: numerator, denominator, running maximum: what the evaluator does */
    RUNG_MESSAGE_NUMERATOR,  /* dv+1: without the maximum */
    RUNG_MESSAGE_PAPER,      /* 2 d, as the papers count */
} rung_message;
extern const char *const rung_message_words[];

typedef struct rung_question {
    const rung_ledger *ledger;
    const rung_task_conf *task; /* exactly this instance size, unless n is given */
    uint64_t n;                 /* prompt tokens: some size of the task with at most so many; 0: the task's own size */
    int bits;                   /* p: of accumulators and states */
    rung_message message;
    rung_softmax softmax; /* other orders than online: no theorem about full layers */
    bool tokens_after;    /* the prompt goes on after its last token of the task (a template) */
    bool thresholds;      /* also find the smallest n, which costs time */
} rung_question;

/* ---- the layers as the theorems see them --------------------------------------------------------------------------- */

#define RUNG_PATTERN_FULL_MAX 64

/* R^{r_0} F R^{r_1} F ... F R^{r_F}: bits, not layers. Layers without token mixing are left out. */
typedef struct rung_pattern {
    size_t full;      /* F, layers that are full and nothing else */
    size_t recurrent; /* R layers */
    uint64_t
        state[RUNG_PATTERN_FULL_MAX + 1]; /* sum of the bits of the R layers before the first F, ..., after the last */
    size_t layers[RUNG_PATTERN_FULL_MAX + 1]; /* their number */
    uint64_t message;                         /* c: bits of the largest full layer's accumulator */
    uint64_t all_state;                       /* sum of state[] */
    uint64_t levels_state;                    /* bits of one level, all log-linear layers together (not in state[]) */
    bool headwise;                            /* a layer that is full and recurrent at once */
    bool sparse;                              /* a layer that selects */
    bool chunk;                               /* a chunked layer: counts as recurrent with its cache */
    bool overflow;                            /* a number does not fit 63 bits: nothing may be concluded */
    bool too_many;                            /* more full layers than the array: only statements about F hold */
} rung_pattern;

rung_pattern rung_pattern_of(const rung_question *q);
/* "R^2 F R" with the bits, for people. */
void rung_pattern_print(rung_buf *out, const rung_pattern *pattern);

/* ---- answers --------------------------------------------------------------------------------------------------------- */

typedef struct rung_bound_answer {
    const struct rung_bound *bound;
    bool applies;         /* the premises about layers, task and order hold; else `premise` says which does not */
    char premise[256];    /* what is assumed, or what is missing */
    char statement[384];  /* the inequality with the numbers filled in, free parameters included */
    double lhs, rhs;      /* CANNOT needs lhs > rhs; ends rounded so that the truth is not flattered */
    bool holds;           /* lhs > rhs, certainly */
    bool trivial;         /* the answer does not even fit into one message */
    rung_verdict verdict; /* CANNOT or UNKNOWN */
    double margin;        /* lhs / rhs */
    double
        n_threshold; /* smallest n with a proof found; 0: none, or not asked for; may exceed 2^53: then log2_n says it */
    double log2_n;   /* log2 of the threshold where it is astronomical, else 0 */
    bool exact;      /* the threshold is the true minimum of this inequality, by exhaustive search */
    double ceiling;  /* accuracy that cannot be exceeded on average over prompts; 0: none */
    const char *ceiling_over; /* which prompts these are; NULL: those that the task draws */
} rung_bound_answer;

typedef struct rung_bound {
    const char *id;      /* "A", "B0", "published-hybrid" */
    const char *summary; /* one line */
    const char *task;    /* tasks that it speaks of, separated by spaces */
    const char *source;  /* published where, or "ours" */
    const char *checked; /* "proof checked by search at small sizes", "proof on paper only", "published" */
    const char *section; /* of docs/theory.md */
    bool needs_order;    /* rests on the left-to-right accumulator of a full layer */
    /* Fills everything but bound, verdict and margin. Premises about order and tokens_after are checked by the caller. */
    rung_status (*evaluate)(rung_bound_answer *answer, const rung_question *q, const rung_pattern *p, rung_error *err);
} rung_bound;

size_t rung_bound_count(void);
const rung_bound *rung_bound_at(size_t index);
const rung_bound *rung_bound_get(const char *id);

#define RUNG_BOUND_MAX 32

/* Every row that speaks of the task; the whole verdict is CANNOT if one holds and is not trivial, or only trivial ones
 * (then `trivial` is set). */
typedef struct rung_bound_report {
    rung_pattern pattern;
    rung_bound_answer answer[RUNG_BOUND_MAX];
    size_t count;
    rung_verdict verdict;
    bool trivial;
} rung_bound_report;

rung_status rung_bound_run(rung_bound_report *report, const rung_question *question, rung_error *err);

/* rung_bound_run; where a row finds thresholds only among free sizes, it is asked a second time for them. */
rung_status rung_bound_answers(rung_bound_report *report, const rung_question *q, rung_error *err);

/* The row that decides: CANNOT, and if possible not trivial; else the applicable one with the largest margin. NULL: no
 * row applies. */
const rung_bound_answer *rung_bound_decisive(const rung_bound_report *report);
/* The lowest ceiling over the prompts that the task draws; 0: none. The row that decides need not be the one about averages. */
double rung_bound_ceiling(const rung_bound_report *report);

#endif
