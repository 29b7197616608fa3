/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Membership with one layer of (B,k)-sparse attention: two-sum, form=query, or form=causal at the last number. Of a block that it does not open, the query
 * learns only the block's summary, kappa bits over all heads. k blocks are opened over all heads; m blocks hold numbers
 * only and lie outside the query's own block and window. N(v) = sum over j = 1..B of C(v,j), the number of sets that a
 * block can hold of v values; u' is the least v with N(v) > 2^kappa. Impossible if u' <= M and
 *
 *     ceil(m (M-u'+1)/M) > k.
 *
 * A layer that selects single tokens by an indexer is the case B = 1: kappa are the bits of an index key, u' = 2^kappa + 1.
 *
 * All M residues are usable: only pairs with the query count, so nothing has to be zero-sum-free. If the summary of a
 * block did not depend on its place, N(M) > 2^kappa and k < m would suffice; but positions may enter with the inputs,
 * and no ledger says that they do not. Proof: docs/theory.md, Sparse.
 */
#include "cut.h"
#include "least.h"

#include <math.h>
#include <stdio.h>

enum { FORM_QUERY = 0, FORM_CAUSAL = 3 }; /* choices of the task */

typedef struct membership {
    uint64_t B, opened, kappa, M, lead, window;
    uint64_t blocks; /* m */
    uint64_t least;  /* u'; 0: none up to M */
} membership;

static bound_sides summary_sides(rung_certified *s, const void *context)
{
    const membership *x = context; /* with M for v */
    cut_count sets = {CUT_SUBSETS, x->M, x->B < x->M ? x->B : x->M};
    return (bound_sides){cut_log2(s, &sets), rung_ival_u64(s, x->kappa)};
}

static rung_status collides(bool *surely, uint64_t v, const void *context, rung_error *err)
{
    membership of_v = *(const membership *)context;
    of_v.M = v;
    return bound_surely(surely, summary_sides, &of_v, err);
}

/* Number of blocks before the query's `position` that are not its own, do not touch the window and do not hold the
 * blank. */
static uint64_t closed_blocks(const membership *x, uint64_t position)
{
    uint64_t end = position / x->B * x->B, local = position + 1 > x->window ? position + 1 - x->window : 0;
    uint64_t blocks = (local < end ? local : end) / x->B;
    return blocks > x->lead ? blocks - x->lead : 0;
}

/* ceil(m (M-u'+1)/M) > k, that is m (M-u'+1) > k M. */
static bound_sides block_sides(rung_certified *s, const void *context)
{
    const membership *x = context;
    rung_ival pairs = rung_ival_mul(s, rung_ival_u64(s, x->blocks), rung_ival_u64(s, x->M - x->least + 1));
    rung_ival separable = rung_ival_ceil(s, rung_ival_div(s, pairs, rung_ival_u64(s, x->M)));
    return (bound_sides){separable, rung_ival_u64(s, x->opened)};
}

/* The one layer that mixes tokens, if it is sparse and nothing else. Otherwise NULL, and `answer` says why. */
static const rung_ledger_layer *only_sparse(rung_bound_answer *answer, const bound_question *q)
{
    const rung_ledger_layer *found = NULL;
    size_t mixing = 0;
    for (size_t i = 0; i < q->ledger->layer_count; i++) {
        const rung_ledger_layer *held = &q->ledger->layer[i];
        if (held->full || held->recurrent || held->window || held->chunk || held->sparse) mixing++, found = held;
    }
    const char *why = NULL;
    if (mixing != 1 || !found->sparse)
        why = "the theorem is about one layer of block-sparse attention and no other that mixes tokens; several are an "
              "open case";
    else if (found->full || found->recurrent || found->window || found->chunk || found->conv_elements)
        why = "the layer also has another mechanism";
    else if (found->block <= 1 && (!found->index_elements || found->summary_elements))
        why = "single tokens are selected, and the size of their index keys is not known";
    else if (found->summary_overlaps)
        why = "blocks of the compression overlap: a token is in several summaries";
    else if (found->block > 1 && !found->summary_elements)
        why = "the size of a summary is not known";
    if (why) bound_missing(answer, "%s", why);
    return why ? NULL : found;
}

static rung_status read_question(rung_bound_answer *answer, membership *x, const bound_question *q)
{
    const rung_ledger_layer *held = only_sparse(answer, q);
    if (!held) return RUNG_OK;
    *x = (membership){.B = held->block,
                      .M = (uint64_t)rung_task_param(q->task, "M"),
                      .lead = (uint64_t)rung_task_param(q->task, "blank"),
                      .window = held->window_size};
    /* single tokens: a block of one, whose summary is its index key; all heads look at the same ones */
    bool single = held->block <= 1;
    if (single) x->B = 1;
    uint64_t heads = held->heads && !single ? held->heads : 1;
    uint64_t summary = single ? held->index_elements : held->summary_elements;
    if (__builtin_mul_overflow(held->top, heads, &x->opened) ||
        __builtin_mul_overflow(summary, (uint64_t)bound_widest(q), &x->kappa) || x->kappa >> 62 || x->opened >> 31 ||
        x->B >> 31 || x->window >> 62)
        return bound_missing(answer, "the numbers of the layer are too large");
    int64_t form = rung_task_param(q->task, "form");
    if (form != FORM_QUERY && form != FORM_CAUSAL)
        return bound_missing(answer, "the theorem is about form=query and causal; the others have rows of their own");
    return RUNG_OK;
}

static void describe(rung_bound_answer *answer, const membership *x, double all)
{
    snprintf(answer->premise, sizeof answer->premise,
             "one layer, any compression of blocks of %llu tokens, summary of %llu bits; each head opens blocks for "
             "itself; M as "
             "given",
             (unsigned long long)x->B, (unsigned long long)x->kappa);
    if (!x->least)
        snprintf(answer->statement, sizeof answer->statement, "log2 N(M) = %.1f > %.0f bits of a summary", answer->lhs,
                 answer->rhs);
    else
        snprintf(answer->statement, sizeof answer->statement,
                 "ceil(%llu blocks x (M - u' + 1)/M) = %.0f > %.0f opened, u' = %llu, M = %llu; log2 N(M) = %.1f (if a "
                 "summary did not depend on the place of its block, %llu blocks > %.0f would suffice)",
                 (unsigned long long)x->blocks, answer->lhs, answer->rhs, (unsigned long long)x->least,
                 (unsigned long long)x->M, all, (unsigned long long)x->blocks, answer->rhs);
}

/* m (M-u'+1) > k M first holds at m = floor(k M / (M-u'+1)) + 1. */
static double least_tokens(const membership *x)
{
    uint64_t blocks = x->opened * x->M / (x->M - x->least + 1) + 1;
    return (double)(blocks + x->lead) * (double)x->B + (x->window > 1 ? (double)(x->window - 1) : 0) + 1;
}

/* Where the query is: the last token. form=causal has at most M numbers. */
static uint64_t asked_at(const bound_question *q, const membership *x)
{
    bool causal = rung_task_param(q->task, "form") == FORM_CAUSAL;
    if (!q->n) return x->lead + (uint64_t)rung_task_param(q->task, "N") - causal;
    return causal && q->n - 1 > x->lead + x->M - 1 ? x->lead + x->M - 1 : q->n - 1;
}

static rung_status evaluate(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p, rung_error *err)
{
    (void)p;
    membership x;
    rung_status status = read_question(answer, &x, q);
    if (status != RUNG_OK || !answer->applies) return status;
    uint64_t position = asked_at(q, &x);
    x.blocks = closed_blocks(&x, position);
    /* N(v) rises. The search finds u' or, if the logarithms do not decide, one more, which is on the safe side. */
    status = bound_least(&x.least, x.M, collides, &x, err);
    RUNG_NEXT(status, bound_decide(answer, summary_sides, &x, err));
    double all = answer->lhs;
    if (status == RUNG_OK && x.least) status = bound_decide(answer, block_sides, &x, err);
    RUNG_TRY(status);
    answer->holds = answer->holds && x.least;
    describe(answer, &x, all);
    answer->point = (rung_bound_point){.known = x.least != 0,
                                       .free = q->n != 0,
                                       .kappa = x.kappa,
                                       .opened = x.opened,
                                       .blocks = x.blocks,
                                       .block = x.B,
                                       .M = x.M,
                                       .least = x.least};
    if (!q->thresholds || !x.least) return RUNG_OK;
    double tokens = least_tokens(&x);
    bool exists = rung_task_param(q->task, "form") != FORM_CAUSAL || tokens <= (double)(x.lead + x.M);
    answer->n_threshold = exists ? tokens : 0, answer->exact = exists;
    return RUNG_OK;
}

const rung_bound rung_bound_sparse_membership = {
    .id = "sparse",
    .summary = "one layer of block-sparse attention finds no member of a block whose summary is too small",
    .task = "two-sum",
    .source = "after Ye et al. 2026, Theorem 1.2; constants and any compression: ours",
    .checked = "count of separable blocks checked against random compressions",
    .section = "sparse",
    .needs = NEEDS_LAYERS | RUNG_NEEDS(RUNG_PREMISE_SUMMARY) | RUNG_NEEDS(RUNG_PREMISE_LAYOUT) |
             RUNG_NEEDS(RUNG_PREMISE_ENDS) | RUNG_NEEDS(RUNG_PREMISE_AT_ONCE),
    .evaluate = evaluate,
};
