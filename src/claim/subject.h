/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to claim: the contents of a subject.
 */
#ifndef RUNG_CLAIM_SUBJECT_H
#define RUNG_CLAIM_SUBJECT_H

#include "rung/claim.h"

struct rung_subject {
    rung_subject_kind kind;
    const rung_ledger *ledger; /* own, or the caller's */
    rung_ledger own;           /* its arena is initialised in every subject */
    const char *arch;          /* in the arena of own; NULL: none */
    rung_arch_defaults defaults;
    rung_known at_once; /* of the subject itself; a chain of thought violates it */
    uint64_t thoughts;  /* of a chain of thought of its own; 0: none, or any number */
    bool ours;          /* rung's evaluators run it, so the claim's arithmetic is theirs */
};

/* The ledger of an architecture in the arch language, from the registry rows of its mechanisms: arch_ledger.c. */
rung_status claim_ledger_of_arch(rung_ledger *ledger, const rung_arch *arch, const char *name, rung_error *err);

#endif
