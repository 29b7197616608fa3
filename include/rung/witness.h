/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * witness: weights that show that given layers can solve a task. A construction is small. An architecture that contains
 * its layers computes the same function if its other layers stay idle. docs/contains.md defines "contains" and proves
 * this. The result is an ordinary model, which anybody can write to a file and verify again. Layer 5.
 */
#ifndef RUNG_WITNESS_H
#define RUNG_WITNESS_H

#include "rung/base.h"
#include "rung/build.h"
#include "rung/config.h"
#include "rung/model.h"
#include "rung/num.h"
#include "rung/task.h"
#include "rung/verify.h"

RUNG_API_BEGIN

/* ---- the same function in a larger architecture ------------------------------------------------------------------ */

/* Makes a model of the architecture `arch` whose read-outs equal those of `small` bit for bit in the exact evaluator,
 * on two conditions. First, no number is infinite or NaN at any token. This includes tokens that `small` skips in its
 * last layer, where only the tokens that are asked are computed: in the larger model that layer may not be the last
 * one. Second, if layers normalise (gate, unit, qknorm, norms), their epsilons do not round to 0 in the format. RUNG_USAGE, with the
 * reason, if the layers do not fit. */
rung_status rung_embed(rung_model **out, const rung_model *small, const char *arch, const rung_arch_defaults *defaults,
                       rung_error *err);
/* Checks whether the layers fit, without making weights. */
rung_status rung_embed_check(const rung_model *small, const rung_arch *large, rung_error *err);

/* Comparison of two models on the same prompts, in scan and in step form. */
typedef struct rung_agreement {
    bool agree;       /* all read-outs have the same bits, or both models stop with an error */
    bool stopped;     /* at the first difference one of them stops with an error, and the other answers */
    bool all;         /* on every prompt of the task, not only on a sample */
    uint64_t prompts; /* prompts that were run, up to and including the first difference */
} rung_agreement;

/* Runs all prompts if there are at most `prompts`, else a sample of that size. */
rung_status rung_models_agree(rung_agreement *out, const rung_model *a, const rung_model *b, const rung_task_conf *task,
                              const rung_evaluator *how, uint64_t prompts, uint64_t seed, rung_error *err);

/* ---- right or not ------------------------------------------------------------------------------------------------ */

/* How it was established that a model is right. */
typedef enum rung_evidence { RUNG_PROVED = 1, RUNG_ALL_PROMPTS, RUNG_A_SAMPLE } rung_evidence;
extern const char *const rung_evidence_names[]; /* [evidence-1] */

/* Whether a model is right. By the worst case if there is a proof; else on all prompts if they are few; else on a
 * sample. */
typedef struct rung_finding {
    bool right;
    rung_evidence evidence;
    char reason[256];        /* the argument of the proof, or why there is no proof */
    uint64_t prompts, wrong; /* prompts that were run; 0 for a proof */
    double error_high;       /* upper end of the 95 % interval of the error rate of a sample */
} rung_finding;

/* Ignores conf->method: it chooses the method itself. */
rung_status rung_finding_of(rung_finding *out, const rung_model *model, const rung_task_conf *task,
                            const rung_verify_options *conf, uint64_t exhaustive_limit, rung_error *err);

/* CAN if proved or run on every prompt, SAMPLED for a sample, UNKNOWN if the model is not right. */
rung_verdict rung_finding_verdict(const rung_finding *finding);

/* ---- the smallest format ----------------------------------------------------------------------------------------- */

/* Search for the smallest number format in which a construction is still right, and for the smallest gap of scores in
 * that format. */
typedef struct rung_precision_options {
    const char *construction;
    const char *const *pair; /* its parameters, without the size */
    size_t pairs;
    int exponent_bits; /* of eXmY; 0: fixed point qI.F instead */
    int most;          /* largest mantissa, or largest number of bits of a fixed-point format */
    uint64_t samples, seed, exhaustive_limit;
    rung_softmax softmax;
    size_t threads;
    bool (*interrupted)(void);
} rung_precision_options;

/* The result for one size. */
typedef struct rung_precision {
    size_t tokens;
    bool found;
    rung_fmt format; /* the smallest format in which it is right */
    bool steady;     /* it is right in the next two larger formats too */
    double gap; /* the gap with which it was right; 0: the construction has no such parameter, or chose it itself */
    double least_gap; /* the smallest gap that is right in that format, to a hundredth; 0: not searched */
    rung_evidence evidence;
    char reason[256]; /* the argument of the proof, or why there is no proof */
} rung_precision;

/* `size` is a further key=value parameter, "N=64". */
rung_status rung_precision_search(rung_precision *out, const rung_precision_options *conf, const char *size,
                                  rung_error *err);

/* ---- which layers would do --------------------------------------------------------------------------------------- */

/* Searches the constructions for the cheapest layers (fewest that keep all tokens, then fewest bits of state) that
 * solve a task in numbers of p bits. Every proposal has been run. If the wanted size is too long to run here, it was
 * run at a smaller size, and the verdict says so. */
#define RUNG_PLAN_MAX 128

typedef struct rung_plan_cost {
    uint64_t full, sparse; /* layers that keep all tokens */
    uint64_t state_bits, message_bits;
    size_t parameters;
} rung_plan_cost;

typedef struct rung_plan_options {
    const rung_task_conf *task;
    uint64_t n;              /* at most this many tokens; 0: the size that the words of the task state */
    const char *const *pair; /* the parameters of the task that the user stated */
    size_t pairs;
    int bits; /* p, bits per number */
    rung_softmax softmax;
    uint64_t samples, seed;
    size_t threads;
    bool (*interrupted)(void); /* NULL: never */
    /* Fills in the layers and bits of a model. The caller supplies it, because the caller knows what a message is. */
    void (*cost)(struct rung_plan_cost *cost, const rung_model *model, const struct rung_plan_options *conf);
    const void *context; /* passed on to cost through conf */
} rung_plan_options;

/* The largest size with at most `tokens` tokens. */
typedef struct rung_plan_size {
    size_t tokens;
    int64_t size;
} rung_plan_size;

/* A construction with values of its own parameters. */
typedef struct rung_plan_candidate {
    const rung_construction *how;
    char own[96];           /* "keys=trig linear=first" */
    rung_plan_cost cost;    /* at a small size */
    bool variant;           /* it requires task parameters that the user has not stated */
    rung_plan_size size[4]; /* the first few sizes that were searched, for reuse */
    size_t sized;
    int64_t likely_size; /* where the search for a size begins; 0: no hint */
    bool tried, good;
    char why[256]; /* why it is not good */
} rung_plan_candidate;

typedef struct rung_plan_run {
    char task[128]; /* canonical */
    size_t tokens;
    char numbers[16];
    rung_finding found;
} rung_plan_run;

typedef struct rung_plan {
    rung_plan_candidate option[RUNG_PLAN_MAX]; /* those that build, cheapest first */
    size_t count;
    size_t refused; /* variants that do not build, that have a chain of thought, or that have no causal mask */
    size_t chosen;  /* SIZE_MAX: none */
    /* properties of the chosen one */
    char *arch, *build; /* at the wanted size; build: the arguments of `rung build` */
    size_t tokens;      /* of the wanted size */
    rung_plan_cost cost;
    rung_plan_run run;
    bool extrapolated;         /* run.tokens < tokens; then: */
    int mantissa[2];           /* the smallest mantissa that is right at two small sizes, */
    size_t mantissa_tokens[2]; /* the lengths of these two, */
    double mantissa_n;         /* and the mantissa at the wanted length on the line through both */
    rung_verdict verdict;      /* verdict for the wanted size; UNKNOWN if it was not run at that size */
    rung_arena arena;
} rung_plan;

/* The wanted number of tokens; 0: the size that the words of the task state. */
size_t rung_plan_wanted(const rung_plan_options *conf);
/* Clear it also when this fails. */
rung_status rung_plan_search(rung_plan *plan, const rung_plan_options *conf, rung_error *err);
void rung_plan_clear(rung_plan *plan);
/* One JSON object, rung.bound/3. */
void rung_plan_json(rung_buf *out, const rung_plan *plan, const rung_plan_options *conf);

/* ---- weights for given layers ------------------------------------------------------------------------------------ */

/* Proofs about look-ups by rotary positions, kept by sizes and numbers, so that many files with the same sizes share
 * them. Several threads may use one. */
typedef struct rung_lookup_proofs rung_lookup_proofs;
rung_status rung_lookup_proofs_new(rung_lookup_proofs **out, rung_error *err);
void rung_lookup_proofs_free(rung_lookup_proofs *proofs);
size_t rung_lookup_proofs_count(const rung_lookup_proofs *proofs);

/* The question: can layers of this architecture solve exactly this instance of a task, in these numbers? */
typedef struct rung_witness_options {
    const char *arch;
    const rung_arch_defaults *defaults;
    const rung_task_conf *task;
    const rung_fmt *numbers; /* of the exact evaluator */
    rung_softmax softmax;
    const rung_model *given; /* judge these weights of a construction instead of searching; NULL: search */
    const char *given_by;    /* the arguments of `rung build` that make them */
    bool thoughts;           /* the model may use a chain of thought before it answers */
    uint64_t most_thoughts;  /* of at most so many tokens; 0: of any length */
    uint64_t samples;        /* prompts of a sample; 0: 1000 */
    uint64_t seed;
    size_t threads;            /* 0: all */
    double work;               /* multiplications that may be run in total; 0: 3e10, about ten seconds on one core */
    bool (*interrupted)(void); /* NULL: never */
    /* published layers: only a proof counts, it is looked for here first and kept here, and no model is returned; NULL:
     * as usual */
    rung_lookup_proofs *proofs;
} rung_witness_options;

/* The weights that were found, if any. */
typedef struct rung_witness {
    bool found;
    rung_finding finding; /* how it was established that they are right; only if found */
    const char *build;    /* the arguments of `rung build` of the construction */
    const char *layers;   /* layers of the construction */
    rung_model *model;    /* a model of the architecture in question; NULL with `proofs` */
    size_t options;       /* number of constructions, with their parameters, for this task */
    size_t fitting;       /* those of them whose layers the architecture contains */
    char why[512];        /* why nothing was found, or "" */
    rung_arena arena;
} rung_witness;

/* The floating-point formats of at most `bits` bits in which constructions are tried: first a wide exponent, then a
 * long mantissa. */
size_t rung_witness_formats(rung_fmt out[2], int bits);
/* Searches the constructions of `rung build`. If it finds nothing it returns RUNG_OK; that says nothing about the
 * architecture. Clear the witness also when this fails. */
rung_status rung_witness_find(rung_witness *w, const rung_witness_options *ask, rung_error *err);
/* The same for the layers of a published model. Of the ask it uses task, numbers, softmax, samples, seed, threads and
 * work. The model is a rung model with the width, the head size and the rotary angles of the file; `build` is NULL.
 * docs/contains.md lists what is assumed of the file, among it that the name of a family stands for its published
 * code. */
rung_status rung_witness_published(rung_witness *w, const rung_ledger *ledger, const rung_witness_options *ask,
                                   rung_error *err);
/* Writes the model to a file, for `rung verify` and other programs. */
rung_status rung_witness_write(const rung_witness *w, const char *path, rung_error *err);
void rung_witness_clear(rung_witness *w);

RUNG_API_END

#endif
