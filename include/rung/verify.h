/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * verify: is this model right on this task? It runs every prompt (exhaustive), or a random sample with an interval, or
 * proves it for all prompts from the extremal ones (worst case). The model may come from anywhere. Layer 4.
 */
#ifndef RUNG_VERIFY_H
#define RUNG_VERIFY_H

#include "rung/base.h"
#include "rung/model.h"
#include "rung/task.h"

RUNG_API_BEGIN

/* ---- a model at work on a task --------------------------------------------------------------------------------- */

/* Checks that tokens, features and answers of the model are those of the task (thought tokens come on top), and that it
 * has enough positions. */
rung_status rung_judge_fits(const rung_model *model, const rung_task_conf *task, rung_error *err);

typedef struct rung_prefixes rung_prefixes;

/* One worker: a session, an instance, and buffers for the read-outs. */
typedef struct rung_judge {
    const rung_task_conf *task;
    const rung_program *program;
    const rung_model_spec *spec;
    rung_session *session;
    rung_instance instance;
    size_t wide; /* rows of the read-out, thought tokens included */
    size_t *at;  /* positions of the instance that have a target */
    size_t targets;
    double *out;             /* [targets][wide]; always has space for at least one row */
    size_t room;             /* number of targets that fit into `out` */
    size_t thoughts;         /* number of thought tokens of the last prompt */
    rung_prefixes *prefixes; /* of rung_judge_share */
} rung_judge;

/* The program must be that of the model, and the model must fit the task. All three must outlive the judge. Clear it
 * also when this fails; a zeroed struct may be cleared. */
rung_status rung_judge_init(rung_judge *j, const rung_model *model, const rung_program *program,
                            const rung_task_conf *task, rung_error *err);
void rung_judge_clear(rung_judge *j);
/* Tokens first .. first+tokens-1 of the instance. */
rung_prompt rung_judge_prompt(const rung_judge *j, size_t first, size_t tokens);
/* Runs the instance (its prompt and targets must be filled in) and leaves the read-outs in `out`: at every target, or
 * after the chain of thought if the model has one. A model with a chain of thought answers once, so its prompt must ask
 * once, at the end. */
rung_status rung_judge_run(rung_judge *j, rung_form form, rung_error *err);
/* From now on a run continues from the longest prefix that its prompt shares with the prompt before, which pays where
 * prompts come in the order of rung_task_unrank. Only for exact programs with softmax online, where the read-outs have
 * the same bits; the caller knows. */
rung_status rung_judge_share(rung_judge *j, rung_error *err);
/* The answer to target i of the last run; RUNG_NO_TARGET if the chain of thought did not end. */
int32_t rung_judge_answer(const rung_judge *j, size_t i);
/* Euclidean distance to a vector target. */
double rung_judge_distance(const rung_judge *j, size_t i);

/* ---- verdicts over many prompts -------------------------------------------------------------------------------- */

typedef enum rung_method { RUNG_EXHAUSTIVE = 1, RUNG_SAMPLED, RUNG_WORST_CASE } rung_method;
extern const char *const rung_method_names[]; /* [method-1] */

typedef struct rung_verify_options {
    rung_method method;
    uint64_t samples, seed; /* of the method `sampled` */
    rung_evaluator how;
    double tolerance;          /* vector targets: the largest distance that still counts as right */
    size_t show;               /* number of wrong answers to keep, at most RUNG_WRONG_MAX */
    rung_progress *progress;   /* NULL: none. The caller starts it with rung_verify_total */
    bool (*interrupted)(void); /* NULL: never. Called from any thread; the result then covers the part that was done */
} rung_verify_options;

#define RUNG_WRONG_MAX 64

/* One wrong answer. Its tokens or features can be made again from the index by rung_task_unrank (exhaustive) or
 * rung_task_make (sampled). A counterexample of the worst case has no index; its tokens are kept. */
typedef struct rung_wrong {
    uint64_t index;
    size_t position;
    int32_t target, answer; /* answer is RUNG_NO_TARGET if none was given */
    double distance;        /* vector targets */
    char why[160];          /* what stopped the model (a NaN, a missing table key), or "" */
} rung_wrong;

typedef struct rung_verify_result {
    rung_method method;
    bool complete;       /* false: interrupted */
    uint64_t candidates; /* rows that were looked at, from the first on; rows that are no prompts are skipped */
    uint64_t prompts, targets;
    uint64_t wrong; /* prompts with at least one wrong answer */
    double error_low,
        /* share of wrong prompts. Of a sample: Clopper-Pearson at 95 %. Exhaustive and complete: exact. Otherwise 0 and
         * 1 */
        error_high;
    double max_distance; /* vector targets */
    size_t shown;
    rung_wrong first_wrong[RUNG_WRONG_MAX]; /* the first wrong answer of each prompt, by rising index */

    /* only for the worst case */
    rung_verdict verdict; /* CAN: proved for all prompts; CANNOT: refuted by `witness`; UNKNOWN: see `reason` */
    char reason[256];     /* the argument in one line, or why there is none */
    double margin;     /* smallest distance from a decision boundary, in the units of the read value; >= 0 if proved */
    uint64_t cases;    /* extremal cases computed */
    uint32_t *witness; /* a prompt with a wrong answer, confirmed by running the model on it; NULL unless refuted */
    size_t witness_tokens;
} rung_verify_result;

/* The number of prompts (or candidates, or queries of a worst case) that a run will look at, for progress. UINT64_MAX:
 * too many for 64 bits. 0: the task does not support the method. */
uint64_t rung_verify_total(const rung_task_conf *task, const rung_verify_options *conf);
rung_status rung_verify_run(rung_verify_result *result, const rung_model *model, const rung_task_conf *task,
                            const rung_verify_options *conf, rung_error *err);
void rung_verify_clear(rung_verify_result *result);

/* ---- intervals for a rate that was measured as `hits` of `tried` ----------------------------------------------- */

typedef struct rung_interval {
    double low, high;
} rung_interval;
/* Clopper-Pearson: covers the rate with probability >= level, for every rate. */
rung_interval rung_clopper_pearson(uint64_t hits, uint64_t tried, double level);
/* Wilson's score interval at 95 %: stays inside [0, 1]; its coverage is about 95 %, not at least. */
rung_interval rung_wilson(uint64_t hits, uint64_t tried);

/* ---- predictions on drawn prompts ------------------------------------------------------------------------------ */

/* One answered target. */
typedef struct rung_prediction {
    uint64_t index; /* of the prompt */
    size_t position;
    int32_t target, answer; /* RUNG_NO_TARGET: the chain of thought did not end */
} rung_prediction;

typedef struct rung_tally_options {
    uint64_t seed, first, count; /* prompts [first, first + count) of the seed */
    rung_form form;
    size_t keep;               /* predictions that are kept */
    rung_progress *progress;   /* NULL: none; started by the caller with `count` */
    bool (*interrupted)(void); /* NULL: never; the tally then covers what was done */
} rung_tally_options;

typedef struct rung_tally {
    size_t prompts, targets, right;
    size_t thoughts;        /* of all prompts */
    double accuracy;        /* of the targets; 0 where there are none */
    rung_interval interval; /* of the accuracy, 95 % */
    double rms_distance;    /* of vector targets: root mean square; 0 where there are none */
    rung_prediction *kept;
    size_t kept_count;
} rung_tally;

/* Clear the tally also when this fails; it then covers the prompts before the failure. */
rung_status rung_judge_tally(rung_tally *tally, rung_judge *judge, const rung_tally_options *conf, rung_error *err);
void rung_tally_clear(rung_tally *tally);

/* What crosses a position, in bits; all layers together. */
typedef struct rung_position_bits {
    uint64_t recurrent, conv, window, cache;
    uint64_t total; /* the length of the string that rung_session_pack writes */
} rung_position_bits;
rung_position_bits rung_judge_bits(const rung_judge *judge, const rung_model *model);

/* Runs the prompt of the judge token by token, and calls `each` after every one; `each` returns false to stop.
 * Causal models only. */
rung_status rung_judge_walk(rung_judge *judge, bool (*each)(void *context, const rung_judge *judge, size_t position),
                            void *context, rung_error *err);

RUNG_API_END

#endif
