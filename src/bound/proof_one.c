/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One layer that is no scan, for Coq: keys in splits. The layer has a form of its own in proofs/.
 */
#include "proof.h"

#include <stdio.h>

#define ULL(x) (unsigned long long)(x)

static const char weaker[] = "the form of this theorem in Coq is a little weaker, and does not hold at these numbers";
static const char named[] = "in Coq the entries of this theorem do not name their arguments";

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
    if (job->pair) return proof_none(job, "%s", named);
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
