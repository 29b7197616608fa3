/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * bound: what an architecture provably cannot do. A claim (claim.h) has layers with their elements; they become a pattern of full
 * and recurrent layers with their bits, and each bound is one registry row: a theorem that lists the premises it needs, and whose
 * inequality is evaluated with the numbers filled in, certified (num.h), never by a rounded double. A row whose premises are not
 * all established is refused before it is asked. docs/theory.md states and proves every row. A bound that is not violated says
 * nothing: the verdict is then UNKNOWN, never CAN. Layer 6.
 */
#ifndef RUNG_BOUND_H
#define RUNG_BOUND_H

#include "rung/base.h"
#include "rung/claim.h"
#include "rung/render.h"

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
    bool headwise;                            /* a layer that is full and recurrent at once, side by side */
    bool sparse;                              /* a layer that selects */
    bool chunk;                               /* a chunked layer: counts as recurrent with its cache */
    bool overflow;                            /* a number does not fit 63 bits: nothing may be concluded */
    bool too_many;                            /* more full layers than the array: only statements about F hold */
} rung_pattern;

rung_pattern rung_pattern_of(const rung_ledger *ledger, const rung_arithmetic *arithmetic);

/* What one layer hands over a cut, in bits. */
typedef struct rung_layer_bits {
    uint64_t carried; /* state, convolution, window; of log-linear attention one level */
    uint64_t message; /* accumulator of a full layer, else 0 */
} rung_layer_bits;
rung_layer_bits rung_layer_bits_of(const rung_held *held, const rung_arithmetic *arithmetic);

/* All layers of a claim together. */
typedef struct rung_ledger_view {
    rung_ledger_sum sum;
    uint64_t state_bits, message_bits; /* of all layers; UINT64_MAX: more than fits */
    bool levels;                       /* some layer has log-linear attention */
    uint64_t caches, growth;           /* caches that grow, and by how many elements per token together */
} rung_ledger_view;
rung_ledger_view rung_ledger_view_of(const rung_claim *claim);

/* Layers that hold the same. */
typedef struct rung_ledger_kind {
    size_t first, count; /* the first of them, and how many there are */
} rung_ledger_kind;
/* Fills `out` in the order of the first layers. More kinds than `most`: returns most + 1. */
size_t rung_ledger_kinds(rung_ledger_kind *out, size_t most, const rung_ledger *ledger);

/* Elements of its recurrent state; UINT64_MAX: more than fits. */
uint64_t rung_held_state(const rung_held *held);
/* The mechanism of a layer, "mlp" where it has none. */
const char *rung_held_mechanism(const rung_held *held);
/* "12*(3*gdelta,full)": mechanisms in order, repetitions counted. */
void rung_ledger_order(rung_buf *out, const rung_ledger *ledger);
/* "48 layers: 12 full, 36 recurrent" */
void rung_ledger_counts(rung_buf *out, const rung_ledger_sum *sum);
/* Members of an object: input, arithmetic, premises, layers, ledger, per_layer, notes. */
void rung_ledger_json(rung_jout *out, const rung_claim *claim, const char *name);

typedef struct rung_ledger_shown {
    const rung_claim *claim;
    const char *name;
    bool order; /* say in which order the layers are: the name does not */
} rung_ledger_shown;
/* One panel per claim, a bar for each layer. Above the line what it holds: a solid bar for what stays the same size, an open
 * one for a cache that grows, on a solid foot for one token. Below the line what crosses a position: states and windows,
 * and of a full layer what it hands to a token. All panels have the same logarithmic scale. */
void rung_ledger_svg(rung_buf *out, const rung_ledger_shown *claims, size_t count);

/* "R^2 F R" with the bits, for people. */
void rung_pattern_print(rung_buf *out, const rung_pattern *pattern);

/* ---- answers --------------------------------------------------------------------------------------------------------- */

typedef struct rung_bound_answer {
    const struct rung_bound *bound;
    bool applies; /* all premises are established, and the theorem speaks of such layers; else `premise` says why not */
    int missing;  /* the first premise (rung_premise) that is not established; -1: all are */
    char premise[256];    /* what is assumed, or what is missing */
    char statement[384];  /* the inequality with the numbers filled in, free parameters included */
    double lhs, rhs;      /* CANNOT needs lhs > rhs; lhs rounded down, rhs rounded up */
    bool holds;           /* lhs > rhs, certainly */
    const char *trivial;  /* why it separates no mechanism from another, in words; NULL: it is not trivial */
    rung_verdict verdict; /* CANNOT or UNKNOWN */
    double margin;        /* lhs / rhs */
    double
        n_threshold; /* smallest n with a proof found; 0: none, or not asked for; may exceed 2^53: then log2_n says it */
    double log2_n;   /* log2 of the threshold where it is astronomical, else 0 */
    bool exact;      /* the threshold is the true minimum of this inequality, by exhaustive search */
    double ceiling;  /* accuracy that cannot be exceeded on average over prompts; 0: none */
    const char *ceiling_over; /* which prompts these are; NULL: those that the task draws */
} rung_bound_answer;

struct bound_question; /* src/bound/rows.h */

typedef struct rung_bound {
    const char *id;      /* "A", "B0", "published-hybrid" */
    const char *summary; /* one line */
    const char *task;    /* tasks that it speaks of, separated by spaces */
    const char *source;  /* published where, or "ours" */
    const char *checked; /* "proof checked by search at small sizes", "proof on paper only", "published" */
    const char *section; /* of docs/theory.md */
    unsigned
        needs; /* premises that the proof uses, as RUNG_NEEDS bits; the row is asked only when all are established */
    /* Fills everything but bound, verdict and margin. */
    rung_status (*evaluate)(rung_bound_answer *answer, const struct bound_question *q, const rung_pattern *p,
                            rung_error *err);
} rung_bound;

size_t rung_bound_count(void);
const rung_bound *rung_bound_at(size_t index);
const rung_bound *rung_bound_get(const char *id);

#define RUNG_BOUND_MAX 32

/* Every row that speaks of the task. The whole verdict is CANNOT if one holds; `trivial` is set if only trivial ones do. */
typedef struct rung_bound_report {
    rung_pattern pattern;
    rung_bound_answer answer[RUNG_BOUND_MAX];
    size_t count;
    rung_verdict verdict;
    const char *trivial; /* CANNOT only trivially, and why */
} rung_bound_report;

/* What the theorems say of the claim, which must have a task. With `thresholds` also from which n on each would hold, which costs
 * time. Callers outside of this library ask rung_decide. */
rung_status rung_bound_answers(rung_bound_report *report, const rung_claim *claim, bool thresholds, rung_error *err);

/* The row that decides: CANNOT, and if possible not trivial; else the applicable one with the largest margin. NULL: no
 * row applies. */
const rung_bound_answer *rung_bound_decisive(const rung_bound_report *report);
/* The lowest ceiling over the prompts that the task draws; 0: none. The row that decides need not be the one about averages. */
double rung_bound_ceiling(const rung_bound_report *report);

#endif
