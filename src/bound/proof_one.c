/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One layer that is no scan, for Coq: keys in splits, and a choice of tokens. Each has a form of its own in
 * proofs/.
 */
#include "proof.h"

#include <stdio.h>

#define ULL(x) (unsigned long long)(x)

static const char weaker[] = "the form of this theorem in Coq is a little weaker, and does not hold at these numbers";

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- split ------------------------------------------------------------------------------------------------------- */

/* Entries of a row that one split has, wherever the borders are; 0: perhaps none. */
static uint64_t split_entries(const proof_sizes *z, uint64_t T)
{
    if (z->L == 1) return z->N0 < T ? 0 : least_of(T, z->N0 - T + 1);
    return (proof_wide)z->first + z->middle < T ? 0 : least_of(T, z->N0 / 2 + z->N0 % 2);
}

/* split_check: l log2 V > c. */
rung_status proof_split(proof_job *job, rung_error *err)
{
    proof_sizes z;
    bool surely;
    uint64_t T = rung_claim_arithmetic(job->claim)->tile;
    if (!proof_seqcomp(&z, job)) return RUNG_OK;
    uint64_t entries = split_entries(&z, T), c = job->spec[0].message;
    if (job->specs != 1 || !entries) return proof_none(job, "%s", weaker);
    RUNG_TRY(proof_exceeds(&surely, z.V, entries, c, err));
    if (!surely) return proof_none(job, "%s", weaker);
    rung_buf_printf(&job->claim_text, "ImpossibleSplit (N.to_nat %llu) %llu %s", ULL(T), ULL(c),
                    job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic, "apply (splits _ _ _ _ %llu %llu %llu); vm_compute; reflexivity", ULL(T), ULL(c),
                    ULL(entries));
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "splits");
    return RUNG_OK;
}

/* ---- dsa-one ----------------------------------------------------------------------------------------------------- */

typedef struct choice {
    uint64_t N0, V, k;
} choice;

/* top_check: (N_0 - k) log2 V > log2 C(N_0, k), with logarithms of 64 places on both sides. */
static bound_sides choice_sides(rung_certified *s, const void *context)
{
    const choice *c = context;
    rung_ival slack = rung_ival_real(s, 0x1p-58);
    rung_ival each = rung_ival_sub(s, rung_ival_log2(s, rung_ival_u64(s, c->V)), slack);
    rung_ival sets = rung_ival_log2_choose(s, c->N0, c->k);
    return (bound_sides){rung_ival_mul(s, rung_ival_u64(s, c->N0 - c->k), each), rung_ival_add(s, sets, slack)};
}

/* Coq multiplies and divides min(k, N_0 - k) times numbers of at most N_0 bits: this many bits take about two
 * seconds. */
#define DIVIDED_MAX (UINT64_C(1) << 21)

static uint64_t tokens_chosen(const proof_job *job)
{
    const rung_ledger *ledger = rung_claim_ledger(job->claim);
    for (size_t i = 0; i < ledger->layer_count; i++)
        if (ledger->layer[i].sparse) return ledger->layer[i].top;
    return 0;
}

rung_status proof_choice(proof_job *job, rung_error *err)
{
    proof_sizes z;
    bool surely;
    if (!proof_seqcomp(&z, job)) return RUNG_OK;
    choice c = {z.N0, z.V, tokens_chosen(job)};
    if (job->specs != 1 || c.k >= c.N0) return proof_none(job, "%s", weaker);
    if ((proof_wide)least_of(c.k, c.N0 - c.k) * c.N0 > DIVIDED_MAX)
        return proof_none(job, "the number of choices is too large to be computed in Coq");
    RUNG_TRY(bound_surely(&surely, choice_sides, &c, err));
    if (!surely) return proof_none(job, "%s", weaker);
    rung_buf_printf(&job->claim_text, "ImpossibleTop (N.to_nat %llu) %s", ULL(c.k),
                    job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic, "apply (dsa_one _ _ _ _ %llu); vm_compute; reflexivity", ULL(c.k));
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "dsa_one");
    return RUNG_OK;
}
