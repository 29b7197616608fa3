/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One run of rung attn: the tensors, and its gradients (attn_grad.c).
 */
#ifndef RUNG_TOOL_ATTN_H
#define RUNG_TOOL_ATTN_H

#include "rung/io.h"
#include "rung/mech.h"

/* Numbers of one run; exactly one of the two evaluators is used. */
typedef struct attn {
    rung_safetensors *file;
    rung_mech_conf conf;
    size_t tokens;
    bool exact;
    rung_fmt fmt;
    rung_arena arena;
    double *in[RUNG_MECH_INPUT_MAX]; /* as read, rounded to the format when exact */
    double *o, *state;
    size_t state_elements;
    double scale; /* of the input number scaled, SIZE_MAX: none */
    size_t scaled;
    double *din[RUNG_MECH_INPUT_MAX]; /* gradients in the shapes of the file; NULL: not asked for */
} attn;

/* The name of the gradient of o in the input file. Not g: that is a decay of several mechanisms. */
#define RUNG_ATTN_GRADIENT "do"

/* Rows of summaries may come one per block: the tokens of a block then, else 0. */
size_t rung_attn_rows_per_block(const attn *a, const rung_mech_input *input, const rung_tensor *tensor);
float *rung_attn_floats(rung_arena *arena, const double *from, size_t count, rung_error *err);
size_t rung_attn_input_count(const attn *a, size_t input);

/* Refuses what cannot be done, before anything is computed. */
rung_status rung_attn_can_grad(const attn *a, const char *numbers, rung_error *err);
/* After the outputs: din from the tensor "do", or from ones. */
rung_status rung_attn_grad(attn *a, rung_error *err);

#endif
