/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * claim: what a verdict is about. A claim is a subject (layers) x a task with its sizes x an arithmetic x what follows
 * the prompt. Its premises are facts with a name and three values. A fact is zero, "not established", unless a
 * constructor establishes it; a theorem applies only if every premise that it lists is established (rung/bound.h).
 * There is one constructor for each kind of subject and one for claims, and no other way to make them. Layer 5.
 */
#ifndef RUNG_CLAIM_H
#define RUNG_CLAIM_H

#include "rung/base.h"
#include "rung/config.h"
#include "rung/model.h"
#include "rung/num.h"
#include "rung/task.h"
#include "rung/train.h"

RUNG_API_BEGIN

/* ---- subjects ---------------------------------------------------------------------------------------------------- */

typedef enum rung_subject_kind {
    RUNG_SUBJECT_ARCH = 1, /* layers in the arch language */
    RUNG_SUBJECT_MODEL,    /* the layers of a rung model file */
    RUNG_SUBJECT_LAYERS,   /* a ledger, read from a configuration or a GGUF header */
} rung_subject_kind;

/* Layers, and what is known of them. Immutable. */
typedef struct rung_subject rung_subject;

rung_status rung_subject_arch(rung_subject **out, const char *text, const rung_arch_defaults *defaults,
                              rung_error *err);
/* The layers of the model. A model with a chain of thought does not answer at once. The subject keeps no pointer to the
 * model. */
rung_status rung_subject_model(rung_subject **out, const rung_model *model, const char *name, rung_error *err);
/* The ledger and what it points to must outlive the subject. */
rung_status rung_subject_layers(rung_subject **out, const rung_ledger *ledger, rung_error *err);
/* Reads a config.json (or its directory), a GGUF file or a rung model file; the content decides which. */
rung_status rung_subject_file(rung_subject **out, const char *path, rung_error *err);
/* The layers that a training run makes, and whether it has a chain of thought. */
rung_status rung_subject_run(rung_subject **out, const rung_train_spec *conf, rung_error *err);
/* The same layers, but the `count` layers from `first` on are replaced by `times` copies of layer `first`. */
rung_status rung_subject_repeat(rung_subject **out, const rung_subject *from, size_t first, size_t count, size_t times,
                                rung_error *err);
/* The same model with other layers, which are copied; `from` must outlive it. What is known of the layers is taken to
 * hold of these, but nothing is known of the blocks around a mechanism that `from` does not have. */
rung_status rung_subject_replace(rung_subject **out, const rung_subject *from, const rung_ledger_layer *layers,
                                 size_t count, rung_error *err);
void rung_subject_free(rung_subject *subject);

rung_subject_kind rung_subject_kind_of(const rung_subject *subject);
const rung_ledger *rung_subject_ledger(const rung_subject *subject);
/* The layers in the arch language, and what that text leaves open; NULL for RUNG_SUBJECT_LAYERS. */
const char *rung_subject_arch_text(const rung_subject *subject);
const rung_arch_defaults *rung_subject_arch_defaults(const rung_subject *subject);

/* ---- arithmetic -------------------------------------------------------------------------------------------------- */

/* The order in which numbers are added. Zero: not stated. docs/kernels.md names public kernels of each kind. */
typedef enum rung_kernel {
    RUNG_KERNEL_ONLINE = 1, /* exact: every token updates a state; softmax from left to right with a running maximum */
    RUNG_KERNEL_TWO_PASS,   /* the same, but softmax takes the maximum of the row first */
    RUNG_KERNEL_EAGER,      /* the same, and weights are divided by their sum and rounded before values are added */
    RUNG_KERNEL_SPLIT,      /* each split of `tile` keys is added up on its own, in any order, then the splits */
    RUNG_KERNEL_TILES,      /* tiles of `tile` keys from left to right; in a tile any order */
    RUNG_KERNEL_REVERSE,    /* softmax runs from the last key to the first */
    RUNG_KERNEL_FAST,       /* the fast fp32 evaluator: whole rows, clamped exponentials, chunks of 32 tokens */
} rung_kernel;
extern const char *const rung_kernel_names[];     /* [kernel-1] */
const char *rung_kernel_text(rung_kernel kernel); /* "softmax from left to right" */
/* "online", "split:256". *tile is the number after the colon; 0: the word has none. */
rung_status rung_kernel_parse(rung_kernel *kernel, uint64_t *tile, const char *text, rung_error *err);

/* What a token receives from a prefix in a full layer, in numbers per head. */
typedef enum rung_message {
    RUNG_MESSAGE_ONLINE = 0, /* dv+2: numerator, denominator and running maximum, as in the exact evaluator */
    RUNG_MESSAGE_NUMERATOR,  /* dv+1: without the maximum */
    RUNG_MESSAGE_PAPER,      /* 2 d, as the papers count */
} rung_message;
extern const char *const rung_message_names[];

typedef struct rung_arithmetic {
    rung_kernel kernel;
    int accumulator_bits; /* bits of one number of an accumulator */
    int state_bits;       /* bits of one number of a recurrent state, with a scale of its own if it may have one */
    rung_stored state_as; /* how states are stored, if their numbers share scales; else without scales */
    int cache_bits; /* bits of one number in keys, values and inputs that a window, a convolution or a cache keeps */
    rung_message message;
    uint64_t tile; /* keys of one split or tile; 0: the kernel has none */
    bool mixed;    /* of rung_claim_spec_set_numbers: no weights are judged, as those are in one format */
} rung_arithmetic;

/* Every number has this many bits, none shares a scale, and there are no tiles. */
rung_arithmetic rung_arithmetic_plain(rung_kernel kernel, int bits, rung_message message);

/* Prints the arithmetic that a verdict is about: "in exact 26-bit arithmetic, softmax from left to right". */
void rung_arithmetic_print(rung_buf *out, const rung_arithmetic *arithmetic);

/* ---- claims ------------------------------------------------------------------------------------------------------ */

typedef enum rung_premise {
    RUNG_PREMISE_CAUSAL = 0, /* no token sees a later one */
    RUNG_PREMISE_KINDS,      /* every layer is of a class that theorems know, with these sizes, at every length */
    RUNG_PREMISE_ONCE,       /* every layer runs once for each token */
    RUNG_PREMISE_OWN_CACHE,  /* no layer reads what another one keeps */
    RUNG_PREMISE_STATE, /* between two tokens a recurrent layer carries its state, in so many bits, and nothing else */
    RUNG_PREMISE_ORDER, /* a full layer adds its keys up from left to right, in one accumulator of so many bits */
    RUNG_PREMISE_SUMMARY, /* of a block that a query does not open it learns a summary of so many bits */
    RUNG_PREMISE_LAYOUT,  /* the prompt has the order of the task, and what is asked stands at its end */
    RUNG_PREMISE_ENDS,    /* nothing follows the last token of the task */
    RUNG_PREMISE_AT_ONCE, /* the model answers at once, without a chain of thought */
    RUNG_PREMISE_COUNTED, /* the thoughts before the answer are at most so many; none if the model answers at once */
    RUNG_PREMISES,
} rung_premise;
#define RUNG_NEEDS(premise) (1u << (premise))

extern const char *const rung_premise_names[];       /* [premise]: "causal", ... */
const char *rung_premise_text(rung_premise premise); /* the sentence above */
extern const char *const rung_fact_names[];          /* [fact]: "not established", "established", "violated" */

/* What is claimed of a subject. In a zeroed struct nothing about arithmetic or prompt is established. */
typedef struct rung_claim_spec {
    const rung_task_conf *task; /* copied; NULL: the claim is about the layers alone */
    uint64_t
        n; /* the claim is about some size of the task with at most this many tokens; 0: about the task's own size */
    /* 0: what the subject states, else 32. By default accumulators have at least 32 bits, even if the file has a
     * narrower dtype. */
    int accumulator_bits, state_bits, cache_bits;
    bool mixed;           /* set by rung_claim_spec_set_numbers */
    rung_stored state_as; /* the same; see rung_arithmetic */
    rung_kernel kernel;
    uint64_t tile; /* of RUNG_KERNEL_SPLIT and RUNG_KERNEL_TILES */
    rung_message message;
    rung_fact layout, ends, at_once; /* see rung_premise */
    uint64_t thoughts; /* if at_once is violated: at most so many thoughts before the answer; 0: any number */
} rung_claim_spec;

/* The prompt is what the task writes, nothing follows it, and the model answers at once, in the order of the exact
 * evaluator. */
rung_claim_spec rung_claim_spec_of_prompt(const rung_task_conf *task, uint64_t n);
/* Sets the bits of accumulators, states and caches. */
void rung_claim_spec_set_bits(rung_claim_spec *about, int bits);
/* The same for mixed formats: accumulators have the bits of acc, states those of state, and what a window, a cache or a
 * convolution keeps the larger ones of cache and act. States that are stored once in a chunk have at least the bits of
 * acc. Scales of states count once where the shape of a layer is known; other scales count with every number of their
 * block. So these are never fewer bits than the evaluator carries. */
void rung_claim_spec_set_numbers(rung_claim_spec *about, const rung_numbers *numbers);

typedef struct rung_claim rung_claim;

/* The subject must outlive the claim. If the parameters of the task fix its length, that length is never changed: n then
 * counts as 0, and RUNG_USAGE if the prompt is longer than n. */
rung_status rung_claim_new(rung_claim **out, const rung_subject *subject, const rung_claim_spec *about,
                           rung_error *err);
void rung_claim_free(rung_claim *claim);

const rung_subject *rung_claim_subject(const rung_claim *claim);
rung_claim_spec
rung_claim_get_spec(const rung_claim *claim); /* what the claim was made of; its task is the claim's copy */
const rung_ledger *rung_claim_ledger(const rung_claim *claim);
const rung_task_conf *rung_claim_task(const rung_claim *claim); /* NULL: the claim is about the layers alone */
uint64_t rung_claim_n(const rung_claim *claim);                 /* 0: the task has exactly its own size */
const rung_arithmetic *rung_claim_arithmetic(const rung_claim *claim);
rung_known rung_claim_premise(const rung_claim *claim, rung_premise premise);
/* The most thoughts before the answer, where RUNG_PREMISE_COUNTED is established; else 0. */
uint64_t rung_claim_thoughts(const rung_claim *claim);

RUNG_API_END

#endif
