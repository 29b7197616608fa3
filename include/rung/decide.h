/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * decide: one claim, one verdict. Theorems, weights and attacks are means; each speaks for itself, and rung_decide is the only
 * function that makes a verdict of what they say. If means contradict each other, that is an error of this program: nothing is
 * then decided, and what each of them says is kept. Layer 7.
 */
#ifndef RUNG_DECIDE_H
#define RUNG_DECIDE_H

#include "rung/attack.h"
#include "rung/bound.h"
#include "rung/claim.h"
#include "rung/render.h"
#include "rung/witness.h"

/* What a verdict rests on. */
typedef enum rung_basis {
    RUNG_BASIS_NONE = 0,
    RUNG_BASIS_THEOREM,      /* CANNOT, whatever the weights: an inequality that certainly holds */
    RUNG_BASIS_CERTIFICATE,  /* CANNOT, of this model: prompts on which it fails */
    RUNG_BASIS_PROOF,        /* CAN: weights, and a proof that they are right on all prompts */
    RUNG_BASIS_EVERY_PROMPT, /* CAN: weights that were run on every prompt */
    RUNG_BASIS_SAMPLE,       /* SAMPLED: weights that were right on every prompt of a sample */
} rung_basis;
extern const char *const rung_basis_words[]; /* [basis] */

/* How hard each of the means is tried. Zeroed: none of them is asked. */
typedef struct rung_means {
    bool bounds;     /* theorems */
    bool thresholds; /* also from which n on each would hold, which costs time */
    bool weights;    /* constructions whose layers the subject contains, built and judged */
    bool both;       /* look for weights even where a theorem forbids them, to compare the two */
    uint64_t samples, seed;
    size_t threads;            /* 0: all */
    double work;               /* of judging weights, see rung_witness_ask; 0: its own */
#define RUNG_MEANS_QUICK 6e9   /* a second or two: for who waits */
    bool (*interrupted)(void); /* NULL: never */
    const rung_model
        *given; /* judge these weights, which are of the subject's layers, instead of looking for some; NULL: look */
    const char *given_by;      /* the words after `rung build` that make them */
    const rung_fmt *given_in;  /* the format to judge them in */
    const rung_victim *victim; /* attacks on this model, whose layers are the subject; NULL: none */
    const rung_budget *budget; /* of the attacks */
    const char *attack;        /* one of them; NULL: all that apply */
    const char *keep;          /* directory for what contradicts each other; NULL: the current one */
} rung_means;

/* The one record of a verdict. Text, JSON and pictures are renderings of it. */
typedef struct rung_decision {
    rung_verdict verdict;
    rung_basis basis;
    const char *by;      /* the theorem's id, or the words after `rung build`; "" where there is neither */
    const char *proof;   /* how far a theorem's proof has been checked; "" otherwise */
    char statement[512]; /* what was shown, with its numbers */
    char about
        [224]; /* the arithmetic: "in exact 26-bit arithmetic, softmax from left to right"; of weights the format in
                            which they were judged, which has no more bits than the claim allows */
    const char *trivial; /* CANNOT only trivially, and why; NULL: it is not */

    /* of the theorems */
    rung_bound_report *bounds;         /* NULL: not asked */
    const rung_bound_answer *decisive; /* the row that decides or comes closest; NULL: no row applies */
    double
        ceiling; /* lowest accuracy that cannot be exceeded on the prompts that the task draws, in the arithmetic of the
                                          claim; 0: none */

    /* of weights */
    rung_model *model;    /* that was found, of the subject's own layers; NULL: none, or they were given */
    bool has_weights;     /* found or given, and right */
    const char *weights;  /* the words after `rung build` that make them; NULL: none */
    rung_task_conf task;  /* the instance that the model solves */
    char numbers[16];     /* the format in which it does */
    char no_weights[512]; /* why there are none, or "" */
    uint64_t prompts;     /* of a sample, or of all */
    double error_high;    /* of a sample: upper end of the 95 % interval of the error rate */

    /* of attacks */
    rung_break *found; /* NULL: none was asked, or none succeeded */
    rung_break *tried; /* one entry for each row of the registry that was asked */
    size_t tried_count;
    rung_arena arena;
} rung_decision;

/* The verdict about a claim that has a task. Clear the decision also when this fails. */
rung_status rung_decide(rung_decision *decision, const rung_claim *claim, const rung_means *means, rung_error *err);
void rung_decision_clear(rung_decision *decision);
/* Members of an object: the layers, the theorems, the verdict. The decision is NULL for a claim without a task. */
void rung_decision_json(rung_jout *out, const rung_claim *claim, const char *name, const rung_decision *decision);

/* ---- turned around ---------------------------------------------------------------------------------------------------------- */

typedef enum rung_solve {
    RUNG_SOLVE_N = 0,
    RUNG_SOLVE_P,
    RUNG_SOLVE_D,
    RUNG_SOLVE_LAYERS,
    RUNG_SOLVE_DEPTH
} rung_solve;
extern const char *const rung_solve_words[];

typedef struct rung_solve_conf {
    rung_solve what;
    const rung_subject *subject;
    const rung_about *about;
    const rung_means *means; /* of the depth only; the others ask theorems alone */
} rung_solve_conf;

enum { RUNG_DEPTH_MAX = 16 };

/* For n the smallest value with CANNOT; for p, d and layers the largest. For the depth (L of seqcomp) a verdict for each L. */
typedef struct rung_solved {
    rung_solve what;
    bool found;
    double value;
    double log2_value;                      /* where n is astronomical, else 0 */
    bool checked;                           /* CANNOT at the value, and not at the next one beyond the edge */
    bool limit;                             /* CANNOT as far as was searched: the edge is further */
    char reason[200];                       /* why nothing was found */
    const rung_bound *by;                   /* the deciding row at the value; NULL: none */
    char statement[384];                    /* and what it says there */
    const char *trivial;                    /* see rung_decision */
    rung_verdict depth[RUNG_DEPTH_MAX + 1]; /* [L], from 1 on; 0: no such task at this length */
    size_t can_up_to;                       /* every L up to here is CAN; 0: none */
    size_t sampled_up_to;                   /* every L up to here is CAN or SAMPLED */
    size_t cannot_from;                     /* every L from here on that was asked is CANNOT; 0: none */
    size_t deepest;                         /* the largest L that was asked */
} rung_solved;

/* RUNG_USAGE for what cannot be varied: the head dimension of a file, layers that differ, the depth of a task without one. */
rung_status rung_solve_run(rung_solved *solved, const rung_solve_conf *conf, rung_error *err);
/* The member "solve" of an object. */
void rung_solved_json(rung_jout *out, const rung_solved *solved);

/* The largest instance of a task with at most n tokens, whatever its words leave open; RUNG_USAGE when there is none. */
rung_status rung_decide_instance(rung_task_conf *out, const rung_task_conf *task, uint64_t n, rung_error *err);

/* ---- the cheapest layers that can -------------------------------------------------------------------------------------- */

/* What rung_plan_search is to look for: task, n, bits, order of softmax, and costs as the ledger counts them. `about` must
 * outlive it; words, samples, seed, threads and interrupted are the caller's. */
rung_plan_conf rung_decide_plan(const rung_about *about);
/* Whether there is anything to look for: bits and sizes for which models can be built. */
rung_status rung_decide_plan_check(const rung_plan_conf *conf, rung_error *err);

#endif
