/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The search behind `rung precision`: the smallest number format in which a construction is still right, and the smallest
 * gap of scores in that format.
 */
#ifndef RUNG_TOOL_PRECISION_H
#define RUNG_TOOL_PRECISION_H

#include "rung/build.h"
#include "rung/verify.h"

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

#endif
