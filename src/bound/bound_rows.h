/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to bound: the rows of the registry in their order, and what the files of this directory share.
 */
#ifndef RUNG_BOUND_ROWS_H
#define RUNG_BOUND_ROWS_H

#include "rung/bound.h"
#include "rung/num.h"
#include "rung/task.h"

#define RUNG_BOUNDS(X)                                                                                                 \
    X(lookup_recurrent)                                                                                                \
    X(compose_none)                                                                                                    \
    X(compose_single)                                                                                                  \
    X(compose_first)                                                                                                   \
    X(compose_between)                                                                                                 \
    X(compose_full)                                                                                                    \
    X(compose_full_then)                                                                                               \
    X(compose_full_relay)                                                                                              \
    X(compose_two_pass)                                                                                                \
    X(compose_eager)                                                                                                   \
    X(compose_split)                                                                                                   \
    X(compose_top)                                                                                                     \
    X(compose_deep)                                                                                                    \
    X(compose_deep_full)                                                                                               \
    X(compose_deep_between)                                                                                            \
    X(cut_recurrent)                                                                                                   \
    X(cut_one)                                                                                                         \
    X(causal)                                                                                                          \
    X(sparse_membership)                                                                                               \
    X(sparse_several)                                                                                                  \
    X(average_one)                                                                                                     \
    X(headwise_one)                                                                                                    \
    X(compose_thought)                                                                                                 \
    X(headwise_two)                                                                                                    \
    X(headwise_deep)                                                                                                   \
    X(compose_unrolled)                                                                                                \
    X(published_full)                                                                                                  \
    X(published_hybrid)                                                                                                \
    X(published_sparse)

#define X(name) extern const rung_bound rung_bound_##name;
RUNG_BOUNDS(X)
#undef X

/* What the rows see of a claim. Only bound.c makes one. */
typedef struct bound_question {
    const rung_ledger *ledger;
    const rung_task_conf *task;
    uint64_t n; /* about some size of the task with at most this many tokens; 0: the task's own size */
    const rung_arithmetic *arithmetic;
    bool thresholds;   /* also find the smallest n */
    uint64_t thoughts; /* at most so many before the answer; rows that need RUNG_PREMISE_AT_ONCE see 0 */
    bool levels;       /* the states are those of prompts up to n: no smallest n beyond that follows */
} bound_question;

/* Log-linear layers as states of all levels that they can have after up to `tokens` tokens: one for each one-bit of a
 * position. Not for levels beside full heads. */
rung_pattern bound_levels_as_states(const rung_pattern *p, uint64_t tokens);

/* NEEDS_LAYERS: premises that nearly every proof uses. The others add those of a scan by the last token, and the order
 * of the prompt. */
#define NEEDS_LAYERS                                                                                                   \
    (RUNG_NEEDS(RUNG_PREMISE_CAUSAL) | RUNG_NEEDS(RUNG_PREMISE_KINDS) | RUNG_NEEDS(RUNG_PREMISE_ONCE) |                \
     RUNG_NEEDS(RUNG_PREMISE_OWN_CACHE))
#define NEEDS_STATES (NEEDS_LAYERS | RUNG_NEEDS(RUNG_PREMISE_STATE) | RUNG_NEEDS(RUNG_PREMISE_LAYOUT))
#define NEEDS_LAST   (NEEDS_STATES | RUNG_NEEDS(RUNG_PREMISE_ORDER) | RUNG_NEEDS(RUNG_PREMISE_ENDS))
#define NEEDS_SCANS  (NEEDS_LAST | RUNG_NEEDS(RUNG_PREMISE_AT_ONCE))
/* The last token of the prompt, and then thoughts. */
#define NEEDS_THOUGHTS (NEEDS_LAST | RUNG_NEEDS(RUNG_PREMISE_COUNTED))

/* The same layers with the recurrent heads of each F in a layer of their own after it. This can only do more: that layer
 * may read what the full heads read, because a token keeps everything. So a theorem about the result holds for *p. */
rung_pattern bound_heads_after(const rung_pattern *p);

/* A parameter of the task that the user fixed; 0 if it has its default. */
static inline uint64_t bound_fixed(const bound_question *q, const char *name)
{
    size_t at = rung_param_find(q->task->task->params, name);
    return at != SIZE_MAX && q->task->params[at].set ? (uint64_t)q->task->params[at].number : 0;
}

/* Bits of a number that is neither accumulated nor carried nor cached by itself (a query, a summary): the widest of
 * all. */
static inline int bound_widest(const bound_question *q)
{
    const rung_arithmetic *a = q->arithmetic;
    int wide = a->accumulator_bits > a->cache_bits ? a->accumulator_bits : a->cache_bits;
    return wide > a->state_bits ? wide : a->state_bits;
}

/* Why a CANNOT is trivial if the answer alone is larger than what a token receives; else NULL. */
static inline const char *bound_does_not_fit(bool so)
{
    return so ? "the answer does not fit into one message" : NULL;
}

/* Writes into `premise` what is missing. Always returns RUNG_OK, so that a row can end with it. */
rung_status bound_missing(rung_bound_answer *answer, const char *format, ...) RUNG_PRINTF(2, 3);

/* Fano's inequality. A model receives `bits` bits about `entries` independent uniform values of V kinds, and is then
 * asked for one of them at random. Its mean error rate e satisfies h(e) + e log2(V-1) >= log2 V - bits / entries, h the
 * binary entropy. The ceiling is 1 - e for the least such e; there is none if the bits suffice. */
void bound_ceiling(rung_bound_answer *answer, double bits, double entries, double V);
/* The same for independent values of one law with this entropy, in bits, instead of log2 V: entry x keeps H - I(x), and
 * the I(x) sum to at most `bits` because the entries are independent. An entropy that is too small is safe; one that is
 * too large is not. */
void bound_ceiling_of(rung_bound_answer *answer, double bits, double entries, double V, double entropy);

/* Decides lhs > rhs with rising precision: `side` computes both sides on a fresh sheet. Fills in lhs, rhs, holds. An
 * inequality that 1024 bits do not decide does not hold. */
typedef struct bound_sides {
    rung_ival lhs, rhs;
} bound_sides;
typedef bound_sides bound_side(rung_certified *sheet, const void *context);
rung_status bound_decide(rung_bound_answer *answer, bound_side *side, const void *context, rung_error *err);
/* The same for many small questions in a search: is lhs > rhs certain? */
rung_status bound_surely(bool *surely, bound_side *side, const void *context, rung_error *err);

#endif
