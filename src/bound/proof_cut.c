/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Cuts and sparse attention for Coq: the tasks whose counts proofs/Cut*.v and proofs/TwoSum.v have.
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

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

typedef struct cut_sizes {
    uint64_t size[4];
    char arguments[96];                             /* "" : apply finds them all; otherwise they begin with a space */
    const char *describe, *within, *theorem, *file; /* where they depend on the form of the task */
} cut_sizes;

/* A cut of a task as Coq has it. The numbers of the count are those of the point; sizes that follow n are taken from
 * the place of the cut. */
typedef struct cut_form {
    const char *task, *file, *within;
    const char *theorem;  /* cut_<...>; in one layer cut_one_<...> with the same arguments, then c and s */
    const char *describe; /* format of the task in Coq: `size` in order */
    bool one;             /* Coq has it for one layer too */
    /* Fills in sizes and arguments of the theorem that do not follow from the claim. Returns NULL, or why not. */
    const char *(*fill)(cut_sizes *sizes, const proof_job *job, bool one);
} cut_form;

static uint64_t param(const proof_job *job, const char *name)
{
    return (uint64_t)rung_task_param(job->task, name);
}

static const char other_count[] = "Coq has another number of prefixes for this task";

static const char *assoc_recall(cut_sizes *s, const proof_job *job, bool one)
{
    (void)one;
    s->size[0] = job->point->b, s->size[1] = job->point->a;
    return NULL;
}

/* string-equality, percom */
static const char *only_size(cut_sizes *s, const proof_job *job, bool one)
{
    s->size[0] = job->point->b;
    if (one) snprintf(s->arguments, sizeof s->arguments, " _");
    return NULL;
}

static const char *retrieval(cut_sizes *s, const proof_job *job, bool one)
{
    (void)one;
    s->size[0] = job->point->prefix, s->size[1] = s->size[2] = job->point->a;
    if (param(job, "distinct")) return NULL;
    s->describe = "(once_table %llu %llu %llu)", s->within = "once_table_within", s->theorem = "once_table";
    s->file = "CutRecall.v";
    return NULL;
}

/* Free lengths: four tokens for each pair. */
static const char *mqar(cut_sizes *s, const proof_job *job, bool one)
{
    (void)one;
    uint64_t pairs = job->point->b;
    s->size[0] = pairs, s->size[1] = (uint64_t)job->task->derived[0] - 1, s->size[2] = job->point->a;
    s->size[3] = job->point->free ? pairs : (job->task->tokens - 2 * pairs) / 2;
    return NULL;
}

/* At its last number the form causal is the form query with one number fewer. */
static const char *two_sum(cut_sizes *s, const proof_job *job, bool one)
{
    uint64_t lead = param(job, "blank");
    bool global = job->point->count == CUT_SIGNED;
    if (one && !global) return other_count;
    s->size[0] = lead, s->size[1] = job->point->prefix - lead + global, s->size[2] = param(job, "M");
    if (!global) return NULL;
    s->describe = "(two_sum_global %llu %llu %llu)", s->within = "two_sum_global_within";
    s->theorem = "two_sum_global", s->file = "CutSums.v";
    if (one) snprintf(s->arguments, sizeof s->arguments, " _ _ _");
    return NULL;
}

static const char *three_sum(cut_sizes *s, const proof_job *job, bool one)
{
    s->size[0] = job->point->prefix + 2, s->size[1] = param(job, "M");
    s->describe = param(job, "self") ? "(three_sum true %llu %llu)" : "(three_sum false %llu %llu)";
    if (one) snprintf(s->arguments, sizeof s->arguments, " _ _ _");
    return NULL;
}

static const char *disjointness(cut_sizes *s, const proof_job *job, bool one)
{
    s->size[0] = job->point->prefix, s->size[1] = job->point->b;
    if (one && s->size[0] == 2 * s->size[1]) s->theorem = "disjointness_half";
    if (one) snprintf(s->arguments, sizeof s->arguments, " _ _");
    return NULL;
}

static const char *count(cut_sizes *s, const proof_job *job, bool one)
{
    s->size[0] = job->point->prefix, s->size[1] = param(job, "V");
    if (one) snprintf(s->arguments, sizeof s->arguments, " _ _");
    return NULL;
}

static const char *is_tree(cut_sizes *s, const proof_job *job, bool one)
{
    (void)one;
    s->size[0] = job->point->a + job->point->b;
    snprintf(s->arguments, sizeof s->arguments, " _ %llu", ULL(job->point->a));
    return NULL;
}

/* Free lengths: the shortest that can close what is open. */
static const char *dyck(cut_sizes *s, const proof_job *job, bool one)
{
    uint64_t depth = job->point->prefix;
    s->size[0] = job->point->free ? 2 * depth + (one ? 2 : 0) : param(job, "N");
    s->size[1] = job->point->a, s->size[2] = param(job, "k");
    snprintf(s->arguments, sizeof s->arguments, " _ _ _ %llu", ULL(depth));
    return NULL;
}

static const char *selective_copy(cut_sizes *s, const proof_job *job, bool one)
{
    uint64_t numbers = param(job, "numbers"), V = param(job, "V"), after = one ? 1 : job->point->b - numbers;
    if (param(job, "form") == 1) {
        s->describe = "(selective_list %llu %llu %llu)", s->within = "selective_list_within";
        s->theorem = "selective_list";
        s->size[0] = job->point->prefix + numbers, s->size[1] = V, s->size[2] = numbers;
        return NULL;
    }
    s->size[0] = job->point->prefix + 1 + after, s->size[1] = V, s->size[2] = numbers, s->size[3] = param(job, "first");
    if (one)
        snprintf(s->arguments, sizeof s->arguments, " _ _ _ _");
    else
        snprintf(s->arguments, sizeof s->arguments, " _ _ _ _ %llu", ULL(after));
    return NULL;
}

static const char *average(cut_sizes *s, const proof_job *job, bool one)
{
    (void)one;
    s->size[0] = job->point->prefix + 1, s->size[1] = param(job, "q");
    if (s->size[1] == s->size[0]) s->theorem = "averages_all";
    return NULL;
}

/* ---- what a state selects ----------------------------------------------------------------------------------------- */

/* What the user fixed; 0: nothing. */
static uint64_t fixed(const proof_job *job, const char *name)
{
    size_t at = rung_param_find(job->task->task->params, name);
    return at != SIZE_MAX && job->task->params[at].set ? (uint64_t)job->task->params[at].number : 0;
}

/* Free lengths: as few steps as the task may have. */
static uint64_t steps(const proof_job *job)
{
    uint64_t given = job->point->free ? fixed(job, "M") : param(job, "M");
    return given ? given : 1;
}

static const char *palindrome(cut_sizes *s, const proof_job *job, bool one)
{
    (void)one;
    s->size[0] = job->point->b, s->size[1] = job->point->a;
    return NULL;
}

static const char *stacks(cut_sizes *s, const proof_job *job, bool one)
{
    s->size[0] = job->point->free ? 2 * job->point->prefix : job->task->tokens;
    s->size[1] = param(job, "S"), s->size[2] = job->point->a;
    if (one) snprintf(s->arguments, sizeof s->arguments, " _ _ _");
    return NULL;
}

static const char *state_recall(cut_sizes *s, const proof_job *job, bool one)
{
    s->size[0] = job->point->b, s->size[1] = job->point->a;
    s->size[2] = param(job, "K"), s->size[3] = steps(job);
    if (one) snprintf(s->arguments, sizeof s->arguments, " _ _ _ _");
    return NULL;
}

static const char *parity_recall(cut_sizes *s, const proof_job *job, bool one)
{
    s->size[0] = job->point->b / 2, s->size[1] = job->point->a, s->size[2] = steps(job);
    if (one) snprintf(s->arguments, sizeof s->arguments, " _ _ _");
    return NULL;
}

/* In one layer the last assignment follows the cut. Names that the user did not fix are as many as assignments. */
static const char *variable_tracking(cut_sizes *s, const proof_job *job, bool one)
{
    uint64_t assignments = job->point->prefix + one, names = fixed(job, "K");
    s->size[0] = assignments, s->size[1] = param(job, "hops"), s->size[2] = job->point->a;
    s->size[3] = names ? names : assignments;
    if (one) snprintf(s->arguments, sizeof s->arguments, " _ _ _ _");
    return NULL;
}

/* ---- what follows a key ------------------------------------------------------------------------------------------- */

/* The family of proofs/CutFollow.v that has the count of the point, in its words; NULL: none. */
static const char *shape(char *text, size_t size, const rung_bound_point *p, uint64_t V, bool trees)
{
    if (p->count == CUT_FALLING)
        snprintf(text, size, "(Rows %llu)", ULL(p->a + 1));
    else if (p->count != CUT_POWER || p->a > V)
        return NULL;
    else if (trees && p->a > 2 && p->b == p->a - 2)
        snprintf(text, size, "(Trees %llu)", ULL(p->a));
    else if (p->a < V)
        snprintf(text, size, "(Blocks %llu %llu)", ULL(V - p->a), ULL(p->b));
    else
        return NULL;
    return text;
}

/* In one layer all keys end with the same symbol: blocks alone, (V-a)^r. */
static const char *keys_of(cut_sizes *s, const rung_bound_point *p, uint64_t V, bool trees, bool one)
{
    char family[64];
    if (one && p->count == CUT_POWER && p->a < V)
        snprintf(s->arguments, sizeof s->arguments, " _ _ _ %llu %llu", ULL(V - p->a), ULL(p->b));
    else if (!one && shape(family, sizeof family, p, V, trees))
        snprintf(s->arguments, sizeof s->arguments, " _ _ _ %s", family);
    else
        return other_count;
    return NULL;
}

static const char *mkar(cut_sizes *s, const proof_job *job, bool one)
{
    uint64_t key = param(job, "key"), V = param(job, "V");
    if (param(job, "layout")) {
        s->describe = "(mkar_pairs %llu %llu %llu)", s->within = "mkar_pairs_within", s->theorem = "mkar_pairs";
        s->size[0] = job->point->prefix / (key + 1), s->size[1] = key, s->size[2] = V, s->file = "CutTables.v";
        if (one) snprintf(s->arguments, sizeof s->arguments, " _ _ _ %llu", ULL(job->point->b));
        return NULL;
    }
    s->size[0] = job->point->prefix + key, s->size[1] = V, s->size[2] = key;
    return keys_of(s, job->point, V, key == 1, one);
}

static const char *c_gram(cut_sizes *s, const proof_job *job, bool one)
{
    s->size[0] = job->point->prefix, s->size[1] = param(job, "V"), s->size[2] = param(job, "c") - 1;
    return keys_of(s, job->point, s->size[1], false, one);
}

/* In one layer some symbols are set aside for the end. */
static const char *k_hop(cut_sizes *s, const proof_job *job, bool one)
{
    bool uniform = param(job, "hops") != 0;
    uint64_t k = param(job, "k"), hops = !uniform ? k : one ? 2 : 1, A = param(job, "alphabet");
    uint64_t aside = !one ? 0 : hops - 1 < 3 ? hops - 1 : 3;
    char family[64];
    s->size[0] = job->point->prefix - 1 + 2 * hops - 1, s->size[1] = A, s->size[2] = k;
    if (!shape(family, sizeof family, job->point, A - aside, true)) return other_count;
    s->describe = uniform ? "(k_hop true %llu %llu %llu)" : "(k_hop false %llu %llu %llu)";
    snprintf(s->arguments, sizeof s->arguments, " _ _ _ _ %llu %s", ULL(hops), family);
    return NULL;
}

static const cut_form forms[] = {
    {"assoc-recall", "Cut.v", "assoc_recall_within", "assoc_recall", "(assoc_recall %llu %llu)", false, assoc_recall},
    {"string-equality", "Cut.v", "string_equality_within", "string_equality", "(string_equality %llu)", true,
     only_size},
    {"two-sum", "TwoSum.v", "two_sum_within", "two_sum", "(two_sum %llu %llu %llu)", true, two_sum},
    {"three-sum", "CutSums.v", "three_sum_within", "three_sum", NULL, true, three_sum},
    {"disjointness", "CutSets.v", "disjointness_within", "disjointness", "(disjointness %llu %llu)", true,
     disjointness},
    {"count", "CutSets.v", "count_within", "count", "(count_task %llu %llu)", true, count},
    {"is-tree", "CutTree.v", "is_tree_within", "is_tree", "(is_tree %llu)", true, is_tree},
    {"retrieval", "CutTables.v", "pair_table_within", "pair_table", "(pair_table %llu %llu %llu)", false, retrieval},
    {"percom", "CutTables.v", "percom_within", "percom", "(percom %llu)", false, only_size},
    {"mqar", "CutTables.v", "mqar_within", "mqar", "(mqar %llu %llu %llu %llu)", false, mqar},
    {"mkar", "CutFollow.v", "mkar_stream_within", "mkar_stream", "(mkar_stream %llu %llu %llu)", true, mkar},
    {"c-gram", "CutFollow.v", "c_gram_within", "c_gram", "(c_gram %llu %llu %llu)", true, c_gram},
    {"k-hop", "CutFollow.v", "k_hop_within", "k_hop", NULL, true, k_hop},
    {"selective-copy", "CutTables.v", "selective_copy_within", "selective_copy", "(selective_copy %llu %llu %llu %llu)",
     true, selective_copy},
    {"dyck", "CutDyck.v", "dyck_within", "dyck", "(dyck %llu %llu %llu)", true, dyck},
    {"palindrome", "CutRecall.v", "palindrome_within", "palindrome", "(palindrome %llu %llu)", false, palindrome},
    {"stacks", "CutRecall.v", "stacks_within", "stacks", "(stacks %llu %llu %llu)", true, stacks},
    {"state-recall", "CutRecall.v", "state_recall_within", "state_recall", "(state_recall %llu %llu %llu %llu)", true,
     state_recall},
    {"parity-recall", "CutRecall.v", "parity_recall_within", "parity_recall", "(parity_recall %llu %llu %llu)", true,
     parity_recall},
    {"variable-tracking", "CutRecall.v", "variable_tracking_within", "variable_tracking",
     "(variable_tracking %llu %llu %llu %llu)", true, variable_tracking},
    {"q-sparse-average", "CutAverage.v", "averages_within", "averages", "(averages %llu %llu)", false, average},
};

/* The form of the task, with its sizes; NULL, with the reason, where Coq has none. */
static const cut_form *form_of(cut_sizes *sizes, proof_job *job, bool one)
{
    *sizes = (cut_sizes){0};
    for (size_t i = 0; i < RUNG_COUNT(forms); i++) {
        const cut_form *f = &forms[i];
        if (!is(job, f->task) || (one && !f->one)) continue;
        const char *why = f->fill(sizes, job, one);
        if (why) return proof_none(job, "%s", why), NULL;
        if (!sizes->describe) sizes->describe = f->describe;
        if (!sizes->within) sizes->within = f->within;
        if (!sizes->theorem) sizes->theorem = f->theorem;
        if (!sizes->file) sizes->file = f->file;
        return f;
    }
    proof_none(job, "the count of the prefixes of %s%s is proved on paper", job->task->task->name,
               one ? " in one layer" : "");
    return NULL;
}

/* ---- numbers of prefixes ------------------------------------------------------------------------------------------ */

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

/* Coq makes the number by so many multiplications of numbers of so many bits: the product that takes about two seconds.
 * Divisions cost more. */
#define PRODUCTS_MAX  0x1p24
#define DIVISIONS_MAX 0x1p22

/* A power is compared by its base. */
static rung_status decide(bool *surely, proof_job *job, proof_wide bits, rung_error *err)
{
    const rung_bound_point *p = job->point;
    sets x = {{(cut_kind)p->count, p->a, p->b}, bits};
    *surely = false;
    if (p->count == CUT_POWER) return proof_exceeds(surely, p->a, p->b, bits, err);
    bool products = p->count == CUT_FALLING || p->count == CUT_STACKS;
    if ((double)p->b * cut_log2_estimate(&x.count) > (products ? PRODUCTS_MAX : DIVISIONS_MAX) || bits >> 62)
        return proof_none(job, "the number of prefixes is too large to be computed in Coq");
    return bound_surely(surely, sets_sides, &x, err);
}

static void put_task(proof_job *job, const cut_sizes *z)
{
    rung_buf_printf(&job->task_text, z->describe, ULL(z->size[0]), ULL(z->size[1]), ULL(z->size[2]), ULL(z->size[3]));
    job->within = z->within;
}

rung_status proof_cut(proof_job *job, rung_error *err)
{
    bool surely;
    cut_sizes z;
    const cut_form *form = form_of(&z, job, false);
    if (!form) return RUNG_OK;
    job->proof->file = z.file;
    RUNG_TRY(decide(&surely, job, proof_bits(job, 0, job->specs, job->point->prefix), err));
    if (job->proof->why[0]) return RUNG_OK;
    if (!surely) return proof_none(job, "logarithms of 64 places do not decide it");
    put_task(job, &z);
    rung_buf_puts(&job->claim_text, "forall T, ImpossibleThinking (");
    proof_put_layers(&job->claim_text, job, 0, job->specs);
    rung_buf_printf(&job->claim_text, ") T %s", job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic, "apply (cut_%s%s); vm_compute; reflexivity", z.theorem, z.arguments);
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "cut_%s", z.theorem);
    return RUNG_OK;
}

rung_status proof_cut_one(proof_job *job, rung_error *err)
{
    const rung_spec *l = job->spec;
    bool surely;
    cut_sizes z;
    const cut_form *form = form_of(&z, job, true);
    if (!form) return RUNG_OK;
    job->proof->file = z.file;
    if (job->specs != 1 || !l->full) return proof_none(job, "Coq has one layer");
    proof_wide s = proof_bits(job, 0, 1, job->point->prefix);
    RUNG_TRY(decide(&surely, job, l->message + s, err));
    if (job->proof->why[0]) return RUNG_OK;
    if (!surely) return proof_none(job, "logarithms of 64 places do not decide it");
    put_task(job, &z);
    rung_buf_puts(&job->claim_text, "Impossible ");
    proof_put_layers(&job->claim_text, job, 0, 1);
    rung_buf_printf(&job->claim_text, " %s", job->task_text.text ? job->task_text.text : "");
    rung_buf_printf(&job->tactic, "apply (cut_one_%s%s %llu %llu); vm_compute; reflexivity", z.theorem, z.arguments,
                    ULL(l->message), ULL(s));
    snprintf(job->proof->theorem, sizeof job->proof->theorem, "cut_one_%s", z.theorem);
    return RUNG_OK;
}

/* ---- sparse ------------------------------------------------------------------------------------------------------- */

/* Coq adds up a triangle of binomials with this many entries. */
#define TRIANGLE_MAX (UINT64_C(1) << 19)

/* sparse_check: the sets of 1 to B out of u' are more than 2^kappa, and k M < m (M - u' + 1). The first is what the
 * search for u' decided. */
rung_status proof_sparse(proof_job *job, rung_error *err)
{
    const rung_bound_point *p = job->point;
    (void)err;
    if (param(job, "form") != 0) return proof_none(job, "of two-sum Coq has the form query");
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
