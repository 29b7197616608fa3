/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Internals of a program: the weights in the numbers of one evaluator, and the operations in which the walk over the
 * layers (walk.c) is written. There is one walk; arith_fast.c and arith_exact.c are its two arithmetics.
 */
#ifndef RUNG_MODEL_EVAL_H
#define RUNG_MODEL_EVAL_H

#include "model_internal.h"

/* Numbers of one evaluator: exactly one of the pointers is set. */
typedef struct reals {
    float *f;  /* fast */
    double *x; /* exact: values of the program's format */
} reals;

static inline reals reals_at(reals r, size_t offset)
{
    return (reals){r.f ? r.f + offset : NULL, r.x ? r.x + offset : NULL};
}

static inline bool reals_set(reals r)
{
    return r.f || r.x;
}

/* y = W x + b. Fast: [rows][cols] as in the file. Exact: transposed, so that the outputs are lanes. */
typedef struct linear_weights {
    size_t rows, cols;
    reals weight, bias; /* bias unset: none */
    bool finite;        /* exact: no weight is infinite in the format */
    size_t *read;       /* exact: [read_count] indices of inputs with a weight that is not 0, ascending */
    size_t read_count;
} linear_weights;

typedef struct norm_weights {
    reals weight, bias;
} norm_weights;

/* An arbitrary function: rows of integer keys, sorted, and the values that they select. */
typedef struct table_weights {
    size_t entries, key_count, out_count;
    int64_t *key; /* [entries][key_count], sorted lexicographically */
    reals value;  /* [entries][out_count], in the same order */
    size_t *key_coord, *out_coord;
} table_weights;

/* All weights of a group of heads for one of its inputs. */
typedef struct input_weights {
    linear_weights linear;
    reals rate;     /* A of a decay, one per head */
    reals conv;     /* [width][row]: the taps of a short convolution, oldest token first; unset: none */
    reals constant; /* an input that is constant over tokens */
    reals norm;     /* [dk], of queries and keys, if the group has qk_norm */
} input_weights;

typedef struct group_weights {
    const rung_mech_conf *conf;
    input_weights input[RUNG_MECH_INPUT_MAX];
    linear_weights gate; /* of the output, if the group has a gate */
    reals gate_norm;     /* [dv] */
} group_weights;

typedef struct layer_weights {
    norm_weights norm1, norm2;
    size_t group_count;
    group_weights *group;
    linear_weights out;
    rung_mlp mlp;
    linear_weights up, gate, down;
    table_weights table;
} layer_weights;

#define GELU_TANH_CUBIC 0.044715
#define GELU_TANH_SLOPE 1.5957691216057307117 /* 2 sqrt(2 / pi) */

typedef enum activation {
    ACT_RELU,
    ACT_GELU,
    ACT_GELU_TANH, /* x sigmoid(GELU_TANH_SLOPE x (1 + GELU_TANH_CUBIC x^2)) */
    ACT_SILU,
    ACT_SIGMOID,
    ACT_SOFTPLUS,
    ACT_LOG_GATE, /* -softplus(-x) / 16 */
    ACT_KEEP,     /* e^{-e^{-1/2} sigmoid(x)} */
    ACT_MINUS,    /* 0 - x */
} activation;

struct rung_program;

/* The arguments of one call of a mechanism. */
typedef struct mixing {
    const rung_mech_conf *conf;
    reals out, state, in[RUNG_MECH_INPUT_MAX];
    size_t pos, tokens;
    const size_t *at; /* tokens whose output is wanted, ascending; out then has `asked` rows. NULL: all */
    size_t asked;
    reals scratch; /* scratch_size for each worker */
    size_t scratch_size;
    const rung_keeper *keeper; /* mixed formats; else NULL */
} mixing;

typedef struct arith {
    void (*linear)(const struct rung_program *p, reals y, reals x, const linear_weights *w, size_t tokens);
    void (*add)(const struct rung_program *p, reals y, reals x, size_t count);      /* y += x */
    void (*multiply)(const struct rung_program *p, reals y, reals x, size_t count); /* y *= x */
    void (*norm)(const struct rung_program *p, reals y, reals x, const norm_weights *w, size_t tokens);
    void (*activate)(const struct rung_program *p, reals y, activation kind, size_t count);
    /* y = -e^{rate} y: y = [tokens][heads][each], one rate per head. */
    void (*decay)(const struct rung_program *p, reals y, reals rate, size_t tokens, size_t heads, size_t each);
    /* Scales rows of `each` numbers to length 1; and normalises rows (rms) and multiplies them by a weight. */
    void (*unit)(const struct rung_program *p, reals y, size_t rows, size_t each);
    void (*row_norm)(const struct rung_program *p, reals y, reals weight, size_t rows, size_t each);
    void (*scale)(const struct rung_program *p, reals y, double factor, size_t count); /* y *= factor */
    /* Causal convolution per channel. x = [width-1 + tokens][row], whose first width-1 rows come from earlier tokens; y
     * = [tokens][row]. */
    void (*convolve)(const struct rung_program *p, reals y, reals x, reals taps, size_t tokens, size_t row,
                     size_t width);
    /* Rotates the two halves of each head's dk coordinates by the angle of the token's position. */
    void (*rotate)(const struct rung_program *p, reals y, size_t pos, size_t tokens, size_t heads);
    /* Stores rows of numbers in the format of a quantity, and reads them back. Nothing to do where every quantity has
     * the format of the operations. scales: see rung_stored_keep. */
    void (*store)(const struct rung_program *p, reals y, rung_quantity quantity, size_t rows, size_t row,
                  double *scales);
    void (*scan)(const struct rung_program *p, const mixing *m);
    void (*step)(const struct rung_program *p, const mixing *m);
} arith;

extern const arith rung_arith_fast, rung_arith_exact;

struct rung_program {
    const rung_model *model;
    bool exact;
    rung_fmt fmt;         /* when exact: the format of every operation */
    rung_numbers numbers; /* when exact */
    rung_softmax softmax;
    const arith *ops;
    double norm_epsilon; /* added to a mean square before its root; when exact: rounded to the format */
    size_t threads;
    reals embed;            /* [vocab][d_model] */
    linear_weights feature; /* when the input is features */
    reals positions, cos, sin;
    layer_weights *layer;
    norm_weights final_norm;
    linear_weights readout;
    rung_arena arena;
};

/* Added to a sum of squares before a vector is scaled to length 1. The exact evaluator rounds it to the format. */
#define UNIT_EPSILON 1e-6

/* Allocates `count` zeroed numbers of the program's kind. Unset, with a message, when memory runs out. */
reals rung_reals_alloc(const rung_program *p, rung_arena *arena, size_t count, rung_error *err);
void rung_reals_copy(reals to, reals from, size_t count);
double rung_reals_get(reals r, size_t index);
/* Index of the first NaN, or SIZE_MAX. */
size_t rung_reals_find_nan(reals r, size_t count);

/* table.c */
rung_status rung_table_load(table_weights *table, const rung_program *p, rung_arena *arena, size_t layer,
                            rung_error *err);
/* `at` lists the tokens of the rows of x, for messages. NULL: 0, 1, ... */
rung_status rung_table_apply(reals x, const table_weights *table, size_t tokens, const size_t *at, size_t d_model,
                             size_t layer, rung_error *err);
/* program.c: one tensor of the model, as numbers of the program. */
rung_status rung_program_numbers(reals *out, const rung_program *p, rung_arena *arena, const rung_tensor *tensor,
                                 rung_error *err);

#endif
