/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * witness: weights that show that given layers can. A construction is small; an architecture that contains its layers computes
 * the same function with the others idle. docs/contains.md says what "contains" means and proves it. What comes out is a
 * model like any other, which anybody can write to a file and verify again. Layer 5.
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

/* ---- the same function in a larger architecture -------------------------------------------------------------------------- */

/* A model of the architecture `arch` whose read-outs are those of `small`, bit for bit in the exact evaluator: as long as no
 * number is infinite or NaN, at any token (of the last layer only the tokens that are asked are computed, and it may be the
 * last one no longer), and where 1e-5 and 1e-6 do not round to 0 if the layers normalise (gate, unit). A refusal is
 * RUNG_USAGE with the reason. */
rung_status rung_embed(rung_model **out, const rung_model *small, const char *arch, const rung_arch_defaults *defaults,
                       rung_error *err);
/* Whether the layers fit, without weights. */
rung_status rung_embed_check(const rung_model *small, const rung_arch *large, rung_error *err);

/* Two models on the same prompts, in scan and in step form. */
typedef struct rung_agreement {
    bool agree;       /* the same bits, or both stop */
    bool all;         /* on every prompt of the task, not only on a sample */
    uint64_t prompts; /* up to and including the first where they differ */
} rung_agreement;

/* All prompts when there are at most `prompts`, else a sample of so many. */
rung_status rung_models_agree(rung_agreement *out, const rung_model *a, const rung_model *b, const rung_task_conf *task,
                              const rung_evaluator *how, uint64_t prompts, uint64_t seed, rung_error *err);

/* ---- right or not -------------------------------------------------------------------------------------------------------- */

/* How far "right" was established. */
typedef enum rung_evidence { RUNG_PROVED = 1, RUNG_ALL_PROMPTS, RUNG_A_SAMPLE } rung_evidence;
extern const char *const rung_evidence_words[]; /* [evidence-1] */

/* Whether a model is right: by the worst case where there is a proof, else by all prompts where they are few, else by a
 * sample. */
typedef struct rung_finding {
    bool right;
    rung_evidence evidence;
    char reason[256];        /* of the proof, or why there is none */
    uint64_t prompts, wrong; /* that were run; a proof needs none */
    double error_high;       /* upper end of the 95 % interval of the error rate of a sample */
} rung_finding;

/* Of `conf` the method is chosen here. */
rung_status rung_finding_of(rung_finding *out, const rung_model *model, const rung_task_conf *task,
                            const rung_verify_conf *conf, uint64_t exhaustive_limit, rung_error *err);

/* CAN for what was proved or run on every prompt, SAMPLED for a sample, UNKNOWN for what is not right. */
rung_verdict rung_finding_verdict(const rung_finding *finding);

/* ---- the smallest format --------------------------------------------------------------------------------------------------- */

/* The smallest number format in which a construction is still right, and the smallest gap of scores in that format. */
typedef struct rung_precision_conf {
    const char *construction;
    const char *const *word; /* its parameters, without the size */
    size_t words;
    int exponent_bits; /* of eXmY; 0: fixed point qI.F instead */
    int most;          /* largest mantissa, or largest number of bits of a fixed-point format */
    uint64_t samples, seed, exhaustive_limit;
    rung_softmax softmax;
    size_t threads;
    bool (*interrupted)(void);
} rung_precision_conf;

/* One size. */
typedef struct rung_precision {
    size_t tokens;
    bool found;
    rung_fmt format;  /* the smallest that is right */
    bool steady;      /* the next two larger ones are right too */
    double gap;       /* with which it was right; 0: the construction has no such parameter, or its own choice */
    double least_gap; /* the smallest that is right in that format, to a hundredth; 0: not searched */
    rung_evidence evidence;
    char reason[256]; /* of the proof, or why there is none */
} rung_precision;

/* size is one more word, "N=64". */
rung_status rung_precision_search(rung_precision *out, const rung_precision_conf *conf, const char *size,
                                  rung_error *err);

/* ---- which layers would do --------------------------------------------------------------------------------------------------- */

/* Among the constructions, the cheapest layers (fewest that keep all tokens, then fewest bits of state) that solve a task in
 * numbers of p bits. What is proposed has been run; where the wanted size is too long to run here, it was run at a smaller
 * one, and the verdict says so. */
#define RUNG_PLAN_MAX 128

typedef struct rung_plan_cost {
    uint64_t full, sparse; /* layers that keep all tokens */
    uint64_t state_bits, message_bits;
    size_t parameters;
} rung_plan_cost;

typedef struct rung_plan_conf {
    const rung_task_conf *task;
    uint64_t n;              /* at most so many tokens; 0: the size that the words say */
    const char *const *word; /* what the user said of the task */
    size_t words;
    int bits; /* p */
    rung_softmax softmax;
    uint64_t samples, seed;
    size_t threads;
    bool (*interrupted)(void); /* NULL: never */
    /* Fills layers and bits of a model; what a message is, the caller knows. */
    void (*cost)(struct rung_plan_cost *cost, const rung_model *model, const struct rung_plan_conf *conf);
    const void *context; /* for cost */
} rung_plan_conf;

/* The largest size with at most so many tokens. */
typedef struct rung_plan_size {
    size_t tokens;
    int64_t size;
} rung_plan_size;

/* A construction with its own words. */
typedef struct rung_plan_option {
    const rung_construction *how;
    char own[96];           /* "keys=trig linear=first" */
    rung_plan_cost cost;    /* at a small size */
    bool variant;           /* it presupposes words of the task that the user has not said */
    rung_plan_size size[4]; /* the first ones that were looked for */
    size_t sized;
    int64_t likely_size; /* where to begin looking; 0: anywhere */
    bool tried, good;
    char why[256]; /* why not */
} rung_plan_option;

typedef struct rung_plan_run {
    char task[128]; /* canonical */
    size_t tokens;
    char numbers[16];
    rung_finding found;
} rung_plan_run;

typedef struct rung_plan {
    rung_plan_option option[RUNG_PLAN_MAX]; /* those that build, cheapest first */
    size_t count;
    size_t refused; /* variants that do not build, answer after thoughts, or have no mask */
    size_t chosen;  /* SIZE_MAX: none */
    /* of the chosen one */
    char *arch, *build; /* at the wanted size; the words after `rung build` */
    size_t tokens;      /* of the wanted size */
    rung_plan_cost cost;
    rung_plan_run run;
    bool extrapolated;         /* run.tokens < tokens: */
    int mantissa[2];           /* the smallest that is right, at two small sizes, */
    size_t mantissa_tokens[2]; /* these, */
    double mantissa_n;         /* and what the line through both says at the wanted one */
    rung_verdict verdict;      /* of what was run at the wanted size; UNKNOWN when it was not */
    rung_arena arena;
} rung_plan;

/* The tokens that are asked for, 0: the size that the words say. */
size_t rung_plan_wanted(const rung_plan_conf *conf);
/* Clear it also when this fails. */
rung_status rung_plan_search(rung_plan *plan, const rung_plan_conf *conf, rung_error *err);
void rung_plan_clear(rung_plan *plan);
/* One JSON object, rung.bound/2. */
void rung_plan_json(rung_buf *out, const rung_plan *plan, const rung_plan_conf *conf);

/* ---- weights for given layers ------------------------------------------------------------------------------------------------ */

/* What is asked: can layers of this architecture solve exactly this instance of a task, in these numbers? */
typedef struct rung_witness_ask {
    const char *arch;
    const rung_arch_defaults *defaults;
    const rung_task_conf *task;
    const rung_fmt *numbers; /* of the exact evaluator */
    rung_softmax softmax;
    const rung_model *given; /* judge these weights of a construction instead of looking; NULL: look */
    const char *given_by;    /* the words after `rung build` that make them */
    bool thoughts;           /* the model may say words of its own before it answers */
    uint64_t samples;        /* prompts of a sample; 0: 1000 */
    uint64_t seed;
    size_t threads;            /* 0: all */
    double work;               /* products that may be run in all; 0: 3e10, some ten seconds of one core */
    bool (*interrupted)(void); /* NULL: never */
} rung_witness_ask;

/* Weights, if there are any. */
typedef struct rung_witness {
    bool found;
    rung_finding finding; /* how far the weights were judged right; of what was found only */
    const char *build;    /* the words after `rung build` of the construction */
    const char *layers;   /* its layers */
    rung_model *model;    /* of the architecture that was asked about */
    size_t options;       /* constructions with their words that are about this task */
    size_t fitting;       /* of these, whose layers the architecture contains */
    char why[512];        /* why nothing was found, or "" */
    rung_arena arena;
} rung_witness;

/* Floats of at most p bits in which constructions are tried: a wide exponent first, a long mantissa second. */
size_t rung_witness_formats(rung_fmt out[2], int bits);
/* Looks among the constructions of `rung build`. Nothing found is RUNG_OK and says nothing about the architecture. Clear the
 * witness also when this fails. */
rung_status rung_witness_find(rung_witness *w, const rung_witness_ask *ask, rung_error *err);
/* The same for the layers of a published model: of the ask, task, numbers, softmax, samples, seed, threads and work count. The
 * model is one of ours with the width, head and angles of the file; `build` is NULL. docs/contains.md says what is presupposed
 * of the file, and that a name of a family stands for its published code. */
rung_status rung_witness_published(rung_witness *w, const rung_ledger *ledger, const rung_witness_ask *ask,
                                   rung_error *err);
/* The model as a file, for `rung verify` and everybody else. */
rung_status rung_witness_write(const rung_witness *w, const char *path, rung_error *err);
void rung_witness_clear(rung_witness *w);

#endif
