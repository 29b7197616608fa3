/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Theorem SP for Coq: several layers of block-sparse attention, proofs/TheoremSP.v.
 */
#include "proof.h"
#include "sparse_deep.h"

#include <stdio.h>

#define ULL(x) (unsigned long long)(x)

/* deep_check rounds logarithms to 64 places, and the smallest share of values up. */
static bound_sides stretch_sides(rung_certified *s, const void *context)
{
    const several_sparse *x = context;
    rung_ival slack = rung_ival_real(s, 0x1p-58);
    uint64_t u = x->M - 1, each = u / (x->K + 1) + (u % (x->K + 1) > 0);
    uint64_t left = u - each + (x->g[x->K + 1] - x->g[0]) * x->r, g = x->g[x->at];
    rung_ival lambda = rung_ival_sub(s, proof_log2(s, u), rung_ival_add(s, proof_log2(s, left), slack));
    rung_ival gain = rung_ival_sub(s, rung_ival_mul(s, rung_ival_u64(s, x->r), lambda), rung_ival_u64(s, x->kappa));
    proof_wide told = (proof_wide)x->heard * x->B * g + x->state;
    rung_ival sets = rung_ival_add(s, proof_log2(s, x->K + 1), slack);
    return (bound_sides){rung_ival_mul(s, rung_ival_u64(s, x->g[x->at + 1] - g), gain),
                         rung_ival_add(s, proof_wide_ival(s, told), sets)};
}

static rung_status every_stretch(bool *surely, several_sparse *x, rung_error *err)
{
    *surely = true;
    for (x->at = 0; x->at <= x->K && *surely; x->at++) RUNG_TRY(bound_surely(surely, stretch_sides, x, err));
    return RUNG_OK;
}

rung_status proof_sparse_deep(proof_job *job, rung_error *err)
{
    const rung_bound_point *p = job->point;
    bool surely;
    several_sparse x = {.B = p->block,
                        .M = p->M,
                        .K = p->opened,
                        .kappa = p->kappa,
                        .heard = p->heard,
                        .state = p->state,
                        .near = p->near};
    if (!sparse_deep_choose(&x)) return proof_none(job, "no distances satisfy the inequality");
    RUNG_TRY(every_stretch(&surely, &x, err));
    if (!surely) return proof_none(job, "logarithms of 64 places do not decide it");
    rung_buf_printf(&job->claim_text,
                    "forall D l own, deep_fits D l %llu %llu %llu %llu %llu ->\n"
                    "  ~ solves_deep D l (N.to_nat %llu) (N.to_nat %llu) (N.to_nat %llu) (N.to_nat %llu) own",
                    ULL(x.B), ULL(x.kappa), ULL(x.heard), ULL(x.state), ULL(x.K), ULL(p->blocks), ULL(x.near), ULL(x.B),
                    ULL(x.M));
    rung_buf_printf(&job->tactic, "apply (deep_sparse _ _ _ _ _ %llu %llu %llu %llu [", ULL(p->blocks), ULL(x.near),
                    ULL(x.M), ULL(x.r));
    for (uint64_t j = 0; j <= x.K + 1; j++) rung_buf_printf(&job->tactic, j ? "; %llu" : "%llu", ULL(x.g[j]));
    rung_buf_puts(&job->tactic, "]); vm_compute; reflexivity");
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "deep_sparse");
    return RUNG_OK;
}
