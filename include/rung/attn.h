/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One mechanism on given tensors, for laying results beside other implementations. Inputs are used as they are: q is
 * not scaled unless the caller says so, k is not normalised. Layer 3: depends on mech, num, io, base.
 */
#ifndef RUNG_ATTN_H
#define RUNG_ATTN_H

#include "rung/io.h"
#include "rung/mech.h"

RUNG_API_BEGIN

/* Types of numbers in the output file, NULL at the end. */
extern const char *const rung_attn_dtypes[];

/* What is asked for. */
typedef struct rung_attn_options {
    const char *mech;
    const char *const *pair; /* parameters of the mechanism, key=value */
    size_t pairs;
    const char *in, *out;                          /* safetensors */
    const char *numbers;                           /* fp32: the fast evaluator; else an exact format */
    const char *scale;                             /* a number that multiplies the query first; NULL: none */
    size_t dtype;                                  /* of the output file: index into rung_attn_dtypes */
    bool step;                                     /* one token after the other rather than many at once */
    bool state;                                    /* also write what is carried past the last token */
    bool encoder;                                  /* no causal mask */
    bool grad;                                     /* also write the gradients of sum(do * o) */
    size_t threads;                                /* 0: all cores */
    void *context;                                 /* of note */
    void (*note)(void *context, const char *text); /* a tensor that is not used; NULL: nobody wants to know */
} rung_attn_options;

/* One run; exactly one of the two evaluators is used. */
typedef struct rung_attn {
    const rung_attn_options *ask;
    rung_safetensors *file;
    rung_mech_conf conf;
    size_t tokens;
    bool exact;
    rung_fmt fmt;
    rung_arena arena;
    double *in[RUNG_MECH_INPUT_MAX]; /* as read, rounded to the format when exact */
    double *o, *state;               /* [tokens][heads][dv]; state_elements that are carried past the last token */
    size_t state_elements;
    double scale; /* of the input number scaled, SIZE_MAX: none */
    size_t scaled;
    double *din[RUNG_MECH_INPUT_MAX]; /* gradients in the shapes of the file; NULL: not asked for */
} rung_attn;

/* Reads, runs, writes. `ask` must outlive `a`. Clear it also after a failure. */
rung_status rung_attn_run(rung_attn *a, const rung_attn_options *ask, rung_error *err);
void rung_attn_clear(rung_attn *a);

RUNG_API_END

#endif
