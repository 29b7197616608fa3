/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The row of theorem SP.
 */
#include "sparse_deep.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* ---- the inequality ---------------------------------------------------------------------------------------------- */

bound_sides sparse_deep_sides(rung_certified *s, const void *context)
{
    const several_sparse *x = context;
    rung_ival one = rung_ival_u64(s, 1), sets = rung_ival_u64(s, x->K + 1);
    rung_ival numbers = rung_ival_mul(s, rung_ival_u64(s, x->g[x->K + 1] - x->g[0]), rung_ival_u64(s, x->r));
    rung_ival present = rung_ival_div(s, numbers, rung_ival_u64(s, x->M - 1));
    rung_ival delta = rung_ival_sub(s, rung_ival_div(s, one, sets), present);
    rung_ival lambda = rung_ival_sub(s, rung_ival_u64(s, 0), rung_ival_log2(s, rung_ival_sub(s, one, delta)));
    rung_ival each = rung_ival_sub(s, rung_ival_mul(s, rung_ival_u64(s, x->r), lambda), rung_ival_u64(s, x->kappa));
    rung_ival served = rung_ival_mul(s, rung_ival_u64(s, x->heard), rung_ival_u64(s, x->B));
    rung_ival told = rung_ival_mul(s, served, rung_ival_u64(s, x->g[x->at]));
    rung_ival rest = rung_ival_add(s, rung_ival_u64(s, x->state), rung_ival_log2(s, sets));
    return (bound_sides){rung_ival_mul(s, rung_ival_u64(s, x->g[x->at + 1] - x->g[x->at]), each),
                         rung_ival_add(s, told, rest)};
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

static double share_of(const several_sparse *x, double blocks)
{
    return 1 / ((double)x->K + 1) - blocks * (double)x->r / (double)(x->M - 1);
}

/* The least distances for this r if m blocks hold numbers; INFINITY if there are none below 2^52. */
static double chain(several_sparse *x, double blocks)
{
    double delta = share_of(x, blocks), each, g = (double)x->near;
    if (!(delta > 0)) return INFINITY;
    each = (double)x->r * -log2(1 - fmin(delta, 1 - 0x1p-50)) - (double)x->kappa;
    if (!(each > 0)) return INFINITY;
    x->g[0] = x->near;
    for (uint64_t j = 0; j <= x->K; j++) {
        double needs = (double)x->heard * (double)x->B * g + (double)x->state + log2((double)x->K + 1);
        g += floor(needs / each * (1 + 1e-9)) + 1;
        if (!(g < 0x1p52)) return INFINITY;
        x->g[j + 1] = (uint64_t)g;
    }
    return g - (double)x->near;
}

/* More blocks leave fewer values outside, so that longer distances are needed: the least fixed point from below. */
static double blocks_for(several_sparse *x)
{
    double blocks = (double)x->K + 1;
    for (int i = 0; i < 400; i++) {
        double needed = chain(x, blocks);
        if (!(needed < INFINITY)) return INFINITY;
        if (needed <= blocks) return needed;
        blocks = needed;
    }
    return INFINITY;
}

uint64_t sparse_deep_choose(several_sparse *x)
{
    several_sparse best = *x;
    double least = INFINITY;
    for (uint64_t r = x->B; r >= 1; r -= 1 + r / 64) {
        x->r = r;
        double blocks = blocks_for(x);
        if (blocks < least) least = blocks, best = *x;
    }
    *x = best;
    return least < INFINITY ? (uint64_t)least : 0;
}

/* ---- the layers -------------------------------------------------------------------------------------------------- */

static const char *misfit(const rung_ledger_layer *held, uint64_t block)
{
    if (held->full) return "a full layer gives the query bits of every block: nothing is proved";
    if (held->levels) return "a layer with levels: nothing is proved";
    if (!held->sparse) return NULL;
    if (held->block <= 1) return "single tokens are selected, not blocks; such a layer solves the task";
    if (block && held->block != block) return "layers have blocks of different sizes: nothing is proved";
    if (held->summary_overlaps) return "blocks of the compression overlap: a token is in several summaries";
    if (!held->summary_elements || !held->value_dim) return "the size of a summary or of a value is not known";
    return NULL;
}

static bool add_layer(several_sparse *x, const rung_ledger_layer *held, uint64_t bits)
{
    uint64_t heads = held->heads ? held->heads : 1, opened, kappa, heard;
    if (__builtin_mul_overflow(heads, held->top, &opened) ||
        __builtin_mul_overflow(held->summary_elements, bits, &kappa) ||
        __builtin_mul_overflow(heads, held->value_dim, &heard) || __builtin_mul_overflow(heard, bits, &heard))
        return false;
    x->B = held->block, x->K += opened, x->kappa += kappa, x->heard += heard;
    return x->K < UINT64_C(1) << 31 && x->kappa < UINT64_C(1) << 50 && x->heard < UINT64_C(1) << 50 &&
           x->B < UINT64_C(1) << 31;
}

/* What a token hears in the last sparse layer matters only if a recurrent layer follows. */
static void drop_last(several_sparse *x, const bound_question *q, size_t last)
{
    const rung_ledger_layer *layer = q->ledger->layer;
    for (size_t i = last + 1; i < q->ledger->layer_count; i++)
        if (layer[i].recurrent || layer[i].window || layer[i].chunk || layer[i].conv_elements) return;
    x->heard -= (layer[last].heads ? layer[last].heads : 1) * layer[last].value_dim * (uint64_t)bound_widest(q);
}

/* False, with the reason in the answer, if the layers are others. */
static bool read_layers(rung_bound_answer *answer, several_sparse *x, uint64_t *window, const bound_question *q,
                        const rung_pattern *p)
{
    size_t count = 0, last = 0;
    const char *why = NULL;
    *window = 0;
    for (size_t i = 0; i < q->ledger->layer_count && !why; i++) {
        const rung_ledger_layer *held = &q->ledger->layer[i];
        why = misfit(held, x->B);
        if (why || !held->sparse) continue;
        if (!add_layer(x, held, (uint64_t)bound_widest(q))) why = "the numbers of the layers are too large";
        if (held->window_size > *window) *window = held->window_size;
        count++, last = i;
    }
    if (!why && count == 0) why = "the theorem is about layers of block-sparse attention";
    if (!why && count == 1 && p->recurrent == 0) why = "one layer alone: the row sparse is stronger";
    if (!why && (x->K > SPARSE_OPENED_MAX || *window >> 31)) why = "the query opens too many blocks for a proof";
    if (why) bound_missing(answer, "%s", why);
    if (why) return false;
    drop_last(x, q, last);
    x->state = p->all_state;
    return true;
}

/* ---- the row ----------------------------------------------------------------------------------------------------- */

static uint64_t blocks_reached(uint64_t tokens, uint64_t B)
{
    return tokens / B + (tokens % B > 0);
}

/* Blocks before the query at `position` that hold numbers only, and do not touch its own block or a window. */
static uint64_t free_blocks(const several_sparse *x, uint64_t position, uint64_t window, uint64_t lead)
{
    uint64_t end = position / x->B * x->B, local = position + 1 > window ? position + 1 - window : 0;
    uint64_t blocks = (local < end ? local : end) / x->B;
    return blocks > lead ? blocks - lead : 0;
}

static rung_status decide_all(rung_bound_answer *answer, several_sparse *x, rung_error *err)
{
    double tightest = INFINITY;
    uint64_t worst = 0;
    bool all = true;
    for (x->at = 0; x->at <= x->K; x->at++) {
        RUNG_TRY(bound_decide(answer, sparse_deep_sides, x, err));
        all = all && answer->holds;
        if (answer->lhs / answer->rhs < tightest) tightest = answer->lhs / answer->rhs, worst = x->at;
    }
    x->at = worst;
    RUNG_TRY(bound_decide(answer, sparse_deep_sides, x, err));
    answer->holds = all;
    return RUNG_OK;
}

static void describe(rung_bound_answer *answer, const several_sparse *x)
{
    snprintf(
        answer->premise, sizeof answer->premise,
        "any compression of blocks of %llu tokens; the query opens at most %llu blocks in all layers, other tokens "
        "any number; M as given",
        (unsigned long long)x->B, (unsigned long long)x->K);
    snprintf(answer->statement, sizeof answer->statement,
             "(g_%llu - g_%llu) (r lambda - %llu) = %.6g > %.6g, the tightest of %llu, with %llu blocks, r = %llu, B = "
             "%llu, M = %llu, %llu bits heard by a token, %llu bits of state",
             (unsigned long long)x->at + 1, (unsigned long long)x->at, (unsigned long long)x->kappa, answer->lhs,
             answer->rhs, (unsigned long long)x->K + 1, (unsigned long long)(x->g[x->K + 1] - x->g[0]),
             (unsigned long long)x->r, (unsigned long long)x->B, (unsigned long long)x->M, (unsigned long long)x->heard,
             (unsigned long long)x->state);
}

static rung_bound_point point_of(const several_sparse *x, uint64_t blocks, bool free)
{
    return (rung_bound_point){.known = true,
                              .free = free,
                              .kappa = x->kappa,
                              .opened = x->K,
                              .blocks = blocks,
                              .block = x->B,
                              .M = x->M,
                              .heard = x->heard,
                              .state = x->state,
                              .near = x->near};
}

static rung_status evaluate(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p, rung_error *err)
{
    several_sparse x = {.M = (uint64_t)rung_task_param(q->task, "M")};
    uint64_t window, lead = (uint64_t)rung_task_param(q->task, "blank");
    if (rung_task_param(q->task, "form") != 0) return bound_missing(answer, "the theorem is about form=query");
    if (!read_layers(answer, &x, &window, q, p)) return RUNG_OK;
    if (x.M < 3) return bound_missing(answer, "the theorem needs values other than 0 that do not occur");
    /* the query right after a block, or as far into one as its window reaches */
    x.near = blocks_reached(window ? window - 1 : 0, x.B);
    if (!q->n) {
        uint64_t position = lead + (uint64_t)rung_task_param(q->task, "N");
        x.near = blocks_reached(position, x.B) - lead - free_blocks(&x, position, window, lead);
    }
    uint64_t blocks = sparse_deep_choose(&x);
    if (!blocks) return bound_missing(answer, "no number of blocks below 2^52 satisfies the inequality with this M");
    RUNG_TRY(decide_all(answer, &x, err));
    describe(answer, &x);
    double tokens = ((double)blocks + (double)lead) * (double)x.B + (double)(window ? window - 1 : 0) + 1;
    if (q->n || q->thresholds) answer->n_threshold = answer->holds ? tokens : 0;
    uint64_t there = q->n ? q->n - 1 : lead + (uint64_t)rung_task_param(q->task, "N");
    uint64_t closed = free_blocks(&x, there, window, lead);
    answer->point = point_of(&x, q->n ? blocks : closed, q->n != 0);
    if (blocks > closed) answer->holds = false, answer->margin = ((double)there + 1) / tokens;
    return RUNG_OK;
}

const rung_bound rung_bound_sparse_several = {
    .id = "SP",
    .summary = "layers of block-sparse attention whose query opens few blocks find no member of many blocks",
    .task = "two-sum",
    .source = "ours",
    .checked = "proof checked by dataflow on small models and by Coq",
    .section = "several-sparse-layers",
    .needs = NEEDS_LAYERS | RUNG_NEEDS(RUNG_PREMISE_STATE) | RUNG_NEEDS(RUNG_PREMISE_SUMMARY) |
             RUNG_NEEDS(RUNG_PREMISE_LAYOUT) | RUNG_NEEDS(RUNG_PREMISE_ENDS) | RUNG_NEEDS(RUNG_PREMISE_AT_ONCE),
    .evaluate = evaluate,
};
