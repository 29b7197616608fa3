/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * decide: one claim, one verdict. Theorems, weights and attacks are means. Each reports what it found, and rung_decide
 * is the only function that makes a verdict of their reports. If two means contradict each other, this program has a
 * bug: nothing is then decided, and the reports of both are kept. Layer 7.
 */
#ifndef RUNG_DECIDE_H
#define RUNG_DECIDE_H

#include "rung/attack.h"
#include "rung/bound.h"
#include "rung/claim.h"
#include "rung/render.h"
#include "rung/witness.h"

RUNG_API_BEGIN

/* What a verdict rests on. */
typedef enum rung_basis {
    RUNG_BASIS_NONE = 0,
    RUNG_BASIS_THEOREM,      /* CANNOT, for all weights: a certified inequality */
    RUNG_BASIS_CERTIFICATE,  /* CANNOT, for this model: prompts on which it fails */
    RUNG_BASIS_PROOF,        /* CAN: weights, and a proof that they are right on all prompts */
    RUNG_BASIS_EVERY_PROMPT, /* CAN: weights that were run on every prompt */
    RUNG_BASIS_SAMPLE,       /* SAMPLED: weights that were right on every prompt of a sample */
} rung_basis;
extern const char *const rung_basis_names[]; /* [basis] */

/* Which means are asked, and how much work they may do. Zeroed: none is asked. */
typedef struct rung_decide_options {
    bool bounds;     /* theorems */
    bool thresholds; /* also search the smallest n for which each theorem would hold, which costs time */
    bool weights;    /* constructions whose layers the subject contains are built and judged */
    bool both;       /* look for weights even if a theorem forbids them, to compare both */
    uint64_t samples, seed;
    size_t threads;             /* 0: all */
    double work;                /* for judging weights, see rung_witness_options; 0: its default */
#define RUNG_DECIDE_QUICK 6e9   /* one or two seconds of work, for interactive use */
    bool (*interrupted)(void);  /* NULL: never */
    rung_lookup_proofs *proofs; /* proofs about published layers that several claims share; NULL: none are kept */
    const rung_model
        *given; /* judge these weights, which must have the subject's layers, instead of searching; NULL: search */
    const char *given_by;          /* the arguments of `rung build` that make them */
    const rung_fmt *given_in;      /* the format in which they are judged */
    const rung_attacked *attacked; /* attack this model, whose layers are the subject; NULL: no attacks */
    const rung_budget *budget;     /* of the attacks */
    const char *attack;            /* name of one attack; NULL: all that apply */
    const char *keep;              /* directory in which contradicting evidence is written; NULL: the current one */
} rung_decide_options;

/* The record of a verdict. Text, JSON and figures are renderings of it. */
typedef struct rung_decision {
    rung_verdict verdict;
    rung_basis basis;
    const char *by;      /* the theorem's id, or the arguments of `rung build`; "" if there is neither */
    const char *proof;   /* how far a theorem's proof has been checked; "" otherwise */
    char statement[512]; /* what was shown, with numbers */
    /* the arithmetic: "in exact 26-bit arithmetic, softmax from left to right". For weights, the format in which they
     * were judged, which has at most the bits of the claim */
    char about[224];
    const char *trivial; /* CANNOT only by trivial theorems, and why; NULL: not trivial */

    /* what the theorems found */
    rung_bound_report *bounds;         /* NULL: not asked */
    const rung_bound_answer *decisive; /* the row that decides or comes closest; NULL: no row applies */
    rung_proof coq; /* CANNOT by a theorem: the proof for Coq, or why the theorem is proved on paper */
    /* lowest accuracy that no weights exceed, over the prompts that the task draws, in the arithmetic of the claim; 0:
     * none */
    double ceiling;

    /* what the search for weights found */
    rung_model *model;    /* the model, with the subject's own layers; NULL: none found, given, or a shared proof */
    bool has_weights;     /* weights were found or given, and are right */
    const char *weights;  /* the arguments of `rung build` that make them; NULL: none */
    rung_task_conf task;  /* the instance that the model solves */
    char numbers[16];     /* the format in which it does */
    char no_weights[512]; /* why no weights were found, or "" */
    uint64_t prompts;     /* number of prompts that were run */
    double error_high;    /* of a sample: upper end of the 95 % interval of the error rate */

    /* what the attacks found */
    rung_break *found; /* NULL: no attack was asked, or none succeeded */
    rung_break *tried; /* one entry for each row of the registry that was asked */
    size_t tried_count;
    rung_arena arena;
} rung_decision;

/* Decides a claim, which must have a task. Clear the decision also when this fails. */
rung_status rung_decide(rung_decision *decision, const rung_claim *claim, const rung_decide_options *means,
                        rung_error *err);
void rung_decision_clear(rung_decision *decision);
/* Members of an object: the layers, the theorems, the verdict. The decision is NULL for a claim without a task. */
void rung_decision_json(rung_jout *out, const rung_claim *claim, const char *name, const rung_decision *decision);

/* ---- the inverse question ---------------------------------------------------------------------------------------- */

typedef enum rung_solve {
    RUNG_SOLVE_N = 0,
    RUNG_SOLVE_P,
    RUNG_SOLVE_D,
    RUNG_SOLVE_LAYERS,
    RUNG_SOLVE_DEPTH
} rung_solve;
extern const char *const rung_solve_names[];

typedef struct rung_solve_options {
    rung_solve what;
    const rung_subject *subject;
    const rung_claim_spec *about;
    const rung_decide_options *means; /* used for the depth only; the others ask theorems alone */
} rung_solve_options;

enum { RUNG_DEPTH_MAX = 16 };

/* For n the smallest value with CANNOT; for p, d and layers the largest. For the depth (L of seqcomp) a verdict for
 * each L. */
typedef struct rung_solved {
    rung_solve what;
    bool found;
    double value;
    double log2_value;                      /* log2 of n if it is too large for `value`, else 0 */
    bool checked;                           /* verified: CANNOT at the value, and not at the next value beyond it */
    bool limit;                             /* CANNOT at the end of the searched range: the true value lies further */
    char reason[200];                       /* why no value was found */
    const rung_bound *by;                   /* the deciding row at that value; NULL: none */
    char statement[384];                    /* what it states there */
    const char *trivial;                    /* see rung_decision */
    rung_verdict depth[RUNG_DEPTH_MAX + 1]; /* [L], from 1 on; 0: the task has no such instance at this length */
    size_t can_up_to;                       /* every L up to here is CAN; 0: none */
    size_t sampled_up_to;                   /* every L up to here is CAN or SAMPLED */
    size_t cannot_from;                     /* every L from here on that was asked is CANNOT; 0: none */
    size_t deepest;                         /* the largest L that was asked */
} rung_solved;

/* RUNG_USAGE for a quantity that cannot be varied: the head dimension of a file, layers that differ, the depth of a
 * task that has none. */
rung_status rung_solve_run(rung_solved *solved, const rung_solve_options *conf, rung_error *err);
/* The member "solve" of an object. */
void rung_solved_json(rung_jout *out, const rung_solved *solved);

/* ---- other formats ----------------------------------------------------------------------------------------------- */

/* What a set of number formats does to a claim, by theorems alone. */
typedef struct rung_formats_row {
    rung_numbers numbers;
    rung_arithmetic arithmetic;
    uint64_t carried_bits, message_bits; /* as in rung_ledger_view */
    rung_solved solved;                  /* the least n with CANNOT */
} rung_formats_row;

enum { RUNG_FORMATS_MOST = 16 };
typedef struct rung_formats {
    rung_formats_row row[RUNG_FORMATS_MOST];
    size_t count;
} rung_formats;

/* Adds sets of formats, which spaces separate; "served" stands for all named sets. */
rung_status rung_formats_parse(rung_formats *formats, const char *text, rung_error *err);
/* Fills the rows. The formats take the place of those in `about`, which must have a task. */
rung_status rung_formats_ask(rung_formats *formats, const rung_subject *subject, const rung_claim_spec *about,
                             rung_error *err);
/* The member "formats" of an object. */
void rung_formats_json(rung_jout *out, const rung_formats *formats);

/* The largest instance of a task with at most n tokens; parameters that the words of the task leave open are chosen.
 * RUNG_USAGE if there is none. */
rung_status rung_decide_instance(rung_task_conf *out, const rung_task_conf *task, uint64_t n, rung_error *err);

/* ---- the cheapest layers that can ------------------------------------------------------------------------------ */

/* What rung_plan_search is to look for: task, n, bits, order of softmax, and costs as the ledger counts them.
 * `about` must outlive it; words, samples, seed, threads and interrupted are the caller's. */
rung_plan_options rung_decide_plan(const rung_claim_spec *about);
/* Whether there is anything to look for: bits and sizes for which models can be built. */
rung_status rung_decide_plan_check(const rung_plan_options *conf, rung_error *err);

RUNG_API_END

#endif
