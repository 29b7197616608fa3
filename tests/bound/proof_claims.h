/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Random claims about which one theorem decides, for tests of the proofs that rung writes for Coq.
 */
#ifndef RUNG_TESTS_BOUND_PROOF_CLAIMS_H
#define RUNG_TESTS_BOUND_PROOF_CLAIMS_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rung/bound.h"

/* Layers and a task for one theorem. R is a random recurrent mechanism, %d a random small number. */
typedef struct claim_kind {
    const char *theorem, *layers, *task;
    uint64_t thoughts; /* K1: 0 is one */
} claim_kind;

static const claim_kind claim_kinds[] = {
    {"A", "%d*R", "eva", 0},
    {"A", "%d*R,loglinear", "eva V=%d", 0},
    {"A", "R,%d*R", "index V=%d", 0},
    {"A", "R,%d*R", "eva form=pair V=%d", 0},
    {"A-compose", "%d*R", "seqcomp L=2 form=pair", 0},
    {"B0", "full,%d*R", "seqcomp L=3 form=pair", 0},
    {"B", "R,full,%d*R", "seqcomp L=2 form=pair", 0},
    {"H2", "full@1|R@1,full", "seqcomp L=2 form=pair", 0},
    {"A-compose", "%d*R", "seqcomp L=2", 0},
    {"A-compose", "R,%d*R", "seqcomp L=%d flat=1", 0},
    {"A'", "R,full", "seqcomp L=1", 0},
    {"A'", "full,R", "seqcomp L=1", 0},
    {"B0", "full", "seqcomp L=2", 0},
    {"B0", "full,%d*R", "seqcomp L=2", 0},
    {"B0", "full,%d*R", "seqcomp L=3", 0},
    {"B", "R,full", "seqcomp L=2", 0},
    {"B", "%d*R,full,%d*R", "seqcomp L=2", 0},
    {"B", "R,full,%d*R", "seqcomp L=3", 0},
    {"C0", "full,full", "seqcomp L=2", 0},
    {"C0", "full,full", "seqcomp L=3", 0},
    {"Ce", "full,full,R", "seqcomp L=2", 0},
    {"cut", "%d*R", "assoc-recall V=%d", 0},
    {"cut", "R,%d*R", "string-equality", 0},
    {"cut", "R,%d*R", "two-sum M=509", 0},
    {"cut", "R,loglinear", "two-sum M=499 blank=1", 0},
    {"cut", "R,%d*R", "two-sum form=global M=509", 0},
    {"cut", "R,R", "three-sum M=4000", 0},
    {"cut", "R,%d*R", "disjointness", 0},
    {"cut", "R,%d*R", "count V=40", 0},
    {"cut", "R,%d*R", "is-tree", 0},
    {"cut", "R,R", "retrieval D=7", 0},
    {"cut", "R,%d*R", "percom", 0},
    {"cut", "R,loglinear", "percom", 0},
    {"cut", "R,%d*R", "two-sum form=causal M=509", 0},
    {"cut", "R,R", "mqar", 0},
    {"cut", "R,R", "mkar V=40 key=2", 0},
    {"cut", "R,R", "mkar V=40 key=2 layout=pairs", 0},
    {"cut", "R", "mkar V=60 key=1", 0},
    {"cut", "R", "c-gram V=60 c=2", 0},
    {"cut", "R,R", "c-gram V=40 c=3", 0},
    {"cut", "R", "k-hop alphabet=60 k=3", 0},
    {"cut", "R", "k-hop alphabet=60 k=3 hops=uniform", 0},
    {"cut", "R", "selective-copy first=9 numbers=9", 0},
    {"cut", "R", "selective-copy form=list numbers=40", 0},
    {"cut", "R,loglinear", "dyck k=250 types=%d", 0},
    {"cut", "R,R", "q-sparse-average", 0},
    {"cut", "R,R", "retrieval D=7 distinct=0", 0},
    {"cut", "R,%d*R", "palindrome V=%d", 0},
    {"cut", "R,loglinear", "stacks S=1 V=%d", 0},
    {"cut", "R,%d*R", "state-recall V=%d K=%d", 0},
    {"cut", "R,R", "parity-recall V=%d M=%d", 0},
    {"cut", "R,%d*R", "variable-tracking hops=%d V=%d", 0},
    {"cut-one", "full@1|R@1", "stacks S=%d", 0},
    {"cut-one", "full", "selective-copy first=%d numbers=40", 0},
    {"cut-one", "full", "state-recall V=%d M=%d", 0},
    {"cut-one", "full@1|R@1", "parity-recall V=%d", 0},
    {"cut-one", "full", "variable-tracking hops=%d", 0},
    {"cut-one", "full", "two-sum form=global M=509", 0},
    {"cut-one", "full", "three-sum M=4000", 0},
    {"cut-one", "full@1|R@1", "disjointness k=%d", 0},
    {"cut-one", "full", "count V=60", 0},
    {"cut-one", "full", "is-tree", 0},
    {"cut-one", "full@1|R@1", "mkar V=40 key=3", 0},
    {"cut-one", "full", "mkar V=1%d key=3 layout=pairs", 0},
    {"cut-one", "full", "c-gram V=40 c=4", 0},
    {"cut-one", "full", "k-hop alphabet=60 k=%d", 0},
    {"cut-one", "full@1|R@1", "k-hop alphabet=300 k=4 hops=uniform", 0},
    {"cut-one", "full@1|R@1", "dyck k=250 types=%d", 0},
    {"cut-one", "full", "string-equality", 0},
    {"cut-one", "full@1|R@1", "string-equality", 0},
    {"cut-one", "full@1|loglinear@1", "string-equality", 0},
    {"headwise", "full@1|R@1", "seqcomp L=2", 0},
    {"headwise", "full@1|loglinear@1", "seqcomp L=2", 0},
    {"H2", "full@1|R@1,full@1|R@1", "seqcomp L=2", 0},
    {"H2", "full,full@1|R@1", "seqcomp L=3", 0},
    {"H2", "full@1|R@1,full,%d*R", "seqcomp L=2", 0},
    {"H2", "full,full@1|R@1,R", "seqcomp L=3", 0},
    {"K1", "full", "seqcomp L=2", 0},
    {"K1", "full@1|R@1", "seqcomp L=2", 0},
    {"K1", "full@1|R@1", "seqcomp L=3 form=pair", 0},
    {"K1", "full", "seqcomp L=3", 2},
    {"K1", "full@1|R@1", "seqcomp L=4 form=pair", 2},
    {"K1", "full", "seqcomp L=4", 3},
    {"B0", "full@1|R@1,R", "seqcomp L=2", 0},
    {"B", "R,full@1|R@1", "seqcomp L=2", 0},
    {"B0", "dsa:k=%d,R", "seqcomp L=2", 0},
    {"B", "R,dsa:k=%d,R", "seqcomp L=2", 0},
    {"cut-one", "dsa:k=%d", "disjointness", 0},
    {"C1", "full,rnn:dv=1,full", "seqcomp L=2", 0},
    {"C1", "full,gla:dk=1:dv=1,full", "seqcomp L=3 form=pair", 0},
    {"eager", "full", "seqcomp L=%d", 0},
    {"eager", "full", "seqcomp L=2 form=pair", 0},
    {"two-pass", "full", "seqcomp L=2", 0},
    {"two-pass", "full", "seqcomp L=2 form=pair", 0},
    {"split", "full", "seqcomp L=1", 0},
    {"split", "full", "seqcomp L=%d", 0},
    {"split", "full", "seqcomp L=%d form=pair", 0},
    {"dsa-one", "dsa:k=%d", "seqcomp L=%d", 0},
    {"dsa-one", "dsa:k=%d", "seqcomp L=%d form=pair", 0},
    {"causal", "full,full@1|R@1,full", "two-sum form=position blank=1 M=67", 0},
    {"causal", "full,R,full", "three-sum self=0", 0},
    {"causal", "R,full,full", "q-sparse-average q=%d", 0},
    {"sparse", "sparse:B=16:k=%d", "two-sum M=509", 0},
    {"SP", "sparse:B=512:k=1,sparse:B=512:k=1", "two-sum M=8388607", 0},
    {"SP", "R,sparse:B=1024:k=1,R", "two-sum M=8388607 blank=1", 0},
};
enum { CLAIM_KINDS = sizeof claim_kinds / sizeof claim_kinds[0] };

typedef struct random_claim {
    rung_subject *subject;
    rung_claim *claim;
    rung_task_conf task;
    rung_claim_spec about;
    char layers[96], words[64];
} random_claim;

static void random_text(char *out, size_t size, const char *pattern, rung_rng *rng)
{
    static const char *const mechanisms[] = {"linear", "gla", "delta", "gdelta", "mamba2", "window:W=2", "retnet"};
    size_t used = 0;
    for (const char *c = pattern; *c; c++) {
        if (*c == 'R')
            used += (size_t)snprintf(out + used, size - used, "%s", mechanisms[rung_rng_below(rng, 7)]);
        else if (*c == '%' && c[1] == 'd')
            used += (size_t)snprintf(out + used, size - used, "%d", 2 + (int)rung_rng_below(rng, 4)), c++;
        else
            out[used++] = *c, out[used] = '\0';
        assert(used + 1 < size);
    }
}

/* The claim with at most n tokens. */
static void random_claim_at(random_claim *c, uint64_t n)
{
    rung_error err;
    rung_claim_free(c->claim);
    c->about.n = n;
    if (rung_claim_new(&c->claim, c->subject, &c->about, &err) != RUNG_OK) abort();
}

static void random_claim_make(random_claim *c, const claim_kind *kind, rung_rng *rng)
{
    rung_error err;
    size_t dim = 1 + (size_t)rung_rng_below(rng, 3);
    const rung_arch_defaults defaults = {.heads = 1, .dk = dim, .dv = dim, .causal = true};
    memset(c, 0, sizeof *c);
    random_text(c->layers, sizeof c->layers, kind->layers, rng);
    random_text(c->words, sizeof c->words, kind->task, rng);
    if (rung_subject_arch(&c->subject, c->layers, &defaults, &err) != RUNG_OK ||
        rung_task_conf_parse(&c->task, c->words, &err) != RUNG_OK) {
        fprintf(stderr, "%s %s: %s\n", c->layers, c->words, err.text);
        abort();
    }
    c->about = rung_claim_spec_of_prompt(&c->task, 1);
    rung_claim_spec_set_bits(&c->about, 2 + (int)rung_rng_below(rng, 9));
    c->about.message = (rung_message)rung_rng_below(rng, 3);
    if (strcmp(kind->theorem, "K1") == 0)
        c->about.at_once = RUNG_VIOLATED, c->about.thoughts = kind->thoughts ? kind->thoughts : 1;
    if (strcmp(kind->theorem, "two-pass") == 0) c->about.kernel = RUNG_KERNEL_TWO_PASS;
    if (strcmp(kind->theorem, "eager") == 0) c->about.kernel = RUNG_KERNEL_EAGER;
    if (strcmp(kind->theorem, "split") == 0)
        c->about.kernel = RUNG_KERNEL_SPLIT, c->about.tile = 64 + rung_rng_below(rng, 200);
    random_claim_at(c, UINT64_C(1) << 40);
}

static void random_claim_free(random_claim *c)
{
    rung_claim_free(c->claim);
    rung_subject_free(c->subject);
}

static rung_bound_report *random_claim_ask(const random_claim *c, bool thresholds)
{
    rung_error err;
    rung_bound_report *report = calloc(1, sizeof *report);
    if (!report || rung_bound_answers(report, c->claim, thresholds, &err) != RUNG_OK) abort();
    return report;
}

/* From which n on the theorem holds; 0: it does not. */
static uint64_t random_claim_threshold(const random_claim *c, const char *theorem)
{
    rung_bound_report *report = random_claim_ask(c, true);
    uint64_t n = 0;
    for (size_t i = 0; i < report->count; i++)
        if (strcmp(report->answer[i].bound->id, theorem) == 0 && report->answer[i].n_threshold < 0x1p40)
            n = (uint64_t)report->answer[i].n_threshold;
    free(report);
    return n;
}

#endif
