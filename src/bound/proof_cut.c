/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Cuts and sparse attention for Coq: the tasks whose counts proofs/Cut.v and proofs/TwoSum.v have.
 */
#include "cut.h"
#include "proof.h"

#include <stdio.h>
#include <string.h>

#define ULL(x) (unsigned long long)(x)

static bool is(const proof_job *job, const char *task)
{
    return strcmp(job->task->task->name, task) == 0;
}

/* Coq adds up a triangle of binomials with this many entries. */
#define TRIANGLE_MAX (UINT64_C(1) << 19)

/* Writes the task of Coq, and gives the name of the lemma that bounds the length of its prompts and of its theorem;
 * NULL: there is none. */
static const char *cut_task_of(proof_job *job)
{
    const rung_bound_point *p = job->point;
    if (is(job, "assoc-recall")) {
        rung_buf_printf(&job->task_text, "(assoc_recall %llu %llu)", ULL(p->b), ULL(p->a));
        return job->within = "assoc_recall_within", "cut_assoc_recall";
    }
    if (is(job, "string-equality")) {
        rung_buf_printf(&job->task_text, "(string_equality %llu)", ULL(p->b));
        return job->within = "string_equality_within", "cut_string_equality";
    }
    return NULL;
}

/* "forall T, ..." by this theorem. */
static rung_status write_cut(proof_job *job, const char *theorem)
{
    rung_buf_puts(&job->claim_text, "forall T, ImpossibleThinking (");
    proof_put_layers(&job->claim_text, job, 0, job->specs);
    rung_buf_printf(&job->claim_text, ") T %s", job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic, "apply %s; vm_compute; reflexivity", theorem);
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "%s", theorem);
    return RUNG_OK;
}

typedef struct sets {
    cut_count count;
    proof_wide bits;
} sets;

/* Coq takes the logarithm of the number itself, to 64 places. */
static bound_sides sets_sides(rung_certified *s, const void *context)
{
    const sets *x = context;
    rung_ival log = rung_ival_sub(s, cut_log2(s, &x->count), rung_ival_real(s, 0x1p-58));
    return (bound_sides){log, rung_ival_u64(s, (uint64_t)x->bits)};
}

/* cut_two_sum_check: the sets of 1 to N out of M are more than 2^bits. */
static rung_status cut_two_sum(proof_job *job, rung_error *err)
{
    const rung_bound_point *p = job->point;
    uint64_t lead = (uint64_t)rung_task_param(job->task, "blank"), numbers = p->prefix - lead;
    sets x = {{CUT_SUBSETS, p->a, p->b}, proof_bits(job, 0, job->specs, p->prefix)};
    bool surely;
    if (rung_task_param(job->task, "form") != 0) return proof_none(job, "of two-sum Coq has the form query");
    if ((proof_wide)numbers * p->a > TRIANGLE_MAX)
        return proof_none(job, "the number of sets is too large to be computed in Coq");
    RUNG_TRY(bound_surely(&surely, sets_sides, &x, err));
    if (!surely) return proof_none(job, "logarithms of 64 places do not decide it");
    rung_buf_printf(&job->task_text, "(two_sum %llu %llu %llu)", ULL(lead), ULL(numbers), ULL(p->a));
    job->within = "two_sum_within";
    return write_cut(job, "cut_two_sum");
}

/* Of the other tasks Coq has powers: a^b > 2^bits. */
rung_status proof_cut(proof_job *job, rung_error *err)
{
    const rung_bound_point *p = job->point;
    bool surely;
    if (is(job, "two-sum")) return cut_two_sum(job, err);
    const char *theorem = p->count == CUT_POWER ? cut_task_of(job) : NULL;
    if (!theorem) return proof_none(job, "the count of the prefixes of %s is proved on paper", job->task->task->name);
    RUNG_TRY(proof_exceeds(&surely, p->a, p->b, proof_bits(job, 0, job->specs, p->prefix), err));
    if (!surely) return proof_none(job, "logarithms of 64 places do not decide it");
    return write_cut(job, theorem);
}

/* cut_one_string_equality: N > c + s. */
rung_status proof_cut_one(proof_job *job, rung_error *err)
{
    const rung_spec *l = job->spec;
    const rung_bound_point *p = job->point;
    bool surely;
    if (!is(job, "string-equality"))
        return proof_none(job, "the count of the prefixes of %s is proved on paper", job->task->task->name);
    if (l->level) return proof_none(job, "log-linear attention beside full attention is not in the model of Coq");
    if (job->specs != 1 || !l->full) return proof_none(job, "Coq has one layer");
    RUNG_TRY(proof_exceeds(&surely, 2, p->b, (proof_wide)l->message + l->state, err));
    if (!surely) return proof_none(job, "logarithms of 64 places do not decide it");
    rung_buf_printf(&job->task_text, "(string_equality %llu)", ULL(p->b));
    job->within = "string_equality_within";
    rung_buf_puts(&job->claim_text, "Impossible ");
    proof_put_layers(&job->claim_text, job, 0, 1);
    rung_buf_printf(&job->claim_text, " %s", job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic,
                    "apply (cut_one_string_equality _ %llu %llu); [%s; reflexivity|vm_compute; reflexivity]",
                    ULL(l->message), ULL(l->state), l->recurrent ? "right" : "left; split");
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "cut_one_string_equality");
    return RUNG_OK;
}

/* sparse_check: the sets of 1 to B out of u' are more than 2^kappa, and k M < m (M - u' + 1). The first is what the
 * search for u' decided. */
rung_status proof_sparse(proof_job *job, rung_error *err)
{
    const rung_bound_point *p = job->point;
    (void)err;
    if (rung_task_param(job->task, "form") != 0) return proof_none(job, "of two-sum Coq has the form query");
    if ((proof_wide)p->block * p->least > TRIANGLE_MAX)
        return proof_none(job, "the number of sets in a block is too large to be computed in Coq");
    if ((proof_wide)p->opened * p->M >= (proof_wide)p->blocks * (p->M - p->least + 1))
        return proof_none(job, "the separable blocks are not enough");
    rung_buf_printf(&job->claim_text,
                    "forall l own, sparse_fits l %llu (N.to_nat %llu) ->\n"
                    "  ~ solves_two_sum l (N.to_nat %llu) (N.to_nat %llu) (N.to_nat %llu) own",
                    ULL(p->kappa), ULL(p->opened), ULL(p->blocks), ULL(p->block), ULL(p->M));
    rung_buf_printf(&job->tactic, "apply (sparse %llu %llu %llu %llu %llu %llu); vm_compute; reflexivity",
                    ULL(p->kappa), ULL(p->opened), ULL(p->blocks), ULL(p->block), ULL(p->M), ULL(p->least));
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "sparse");
    return RUNG_OK;
}
