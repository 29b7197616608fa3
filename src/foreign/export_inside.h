/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the writers of foreign files share: a model of ours in the layers of llama or gpt2. docs/export.md has the
 * argument why it computes the same.
 */
#ifndef RUNG_FOREIGN_EXPORT_INSIDE_H
#define RUNG_FOREIGN_EXPORT_INSIDE_H

#include "rung/foreign.h"

/* [rows][cols]; y = weight x + bias, or without a bias (NULL). */
typedef struct target_linear {
    float *weight, *bias;
    size_t rows, cols;
} target_linear;

typedef struct target_norm {
    float *weight, *bias; /* bias: LayerNorm only */
} target_norm;

/* x += out(attention(norm1 x)); x += down(mlp(norm2 x)). */
typedef struct target_layer {
    target_norm norm1, norm2;
    target_linear q, k, v, out;
    target_linear up, gate, down; /* gate: llama only */
} target_layer;

/* A model in the layers of one of the two families. Scores are divided by sqrt(dim), as there. Rotary pairs are (i, i +
 * dim/2). */
typedef struct target {
    rung_export_family family; /* LLAMA or GPT2 */
    size_t layers, d_model, d_mlp, heads, dim, vocab, context;
    bool erf;                     /* gpt2: gelu itself instead of its approximation */
    double epsilon;               /* that the norms add */
    double rotary_base, constant; /* constant: C, 0 if the norms are those of the model */
    float *embed, *positions;     /* [vocab][d_model], [context][d_model] */
    target_layer *layer;
    target_norm final;
    target_linear readout;
    const char **word; /* [vocab] texts of the ids, all different; the last one is empty: other text */
    size_t *answer;    /* the id of each answer */
    rung_arena arena;
} target;

/* ---- export_weights.c ---- */

/* A weight of the model as floats [rows][cols]; value NULL where it is absent. */
typedef struct export_weights {
    float *value;
    size_t rows, cols;
} export_weights;

typedef struct export_reader {
    const rung_model *model;
    rung_arena *arena;
    char **used; /* names of the tensors that have been asked for */
    size_t count, room;
    rung_error *err;
} export_reader;

void export_reader_init(export_reader *r, const rung_model *model, rung_arena *arena, rung_error *err);
/* NULL where the model has no such tensor. It then counts as asked for. */
rung_status export_use(const rung_tensor **out, export_reader *r, const char *format, ...) RUNG_PRINTF(3, 4);
rung_status export_get(export_weights *out, export_reader *r, const char *format, ...) RUNG_PRINTF(3, 4);
/* RUNG_INPUT names a tensor of the model that nobody has asked for. */
rung_status export_check_all_used(export_reader *r);
/* RUNG_INPUT names a key of the layers that is not among the known ones, such as a form that came after the writer. */
rung_status export_check_keys(const rung_arch *arch, const char *const *known, const char *where, rung_error *err);

/* ---- export_target.c ---- */

/* Makes the target, and refuses what has no place there by name. Clear it in any case. */
rung_status target_make(target *t, const rung_model *model, rung_export_family family, rung_error *err);
void target_clear(target *t);
/* Queries, keys and values in one matrix. */
rung_status target_joint(target_linear *to, const target_layer *l, rung_arena *arena, rung_error *err);

/* ---- export_table.c ---- */

/* An MLP table as functions of single numbers. Its rows have `keys` whole numbers and `outs` values. */
typedef struct step_table {
    size_t rows, keys, outs;
    int64_t *key; /* [rows][keys] */
    float *value; /* [rows][outs] */
    size_t *key_coord, *out_coord;
    bool separable; /* every value depends on one key: depends[out] */
    size_t *depends;
    size_t *levels;  /* [keys] number of different values of a key */
    int64_t **level; /* [keys][levels], ascending */
} step_table;

/* A jump of the function of one number: at `at` the values rise by rise[outs]. */
typedef struct step_jump {
    double at;
    const float *rise;
} step_jump;

/* A function of the number u that is piecewise constant, with its values left of all jumps. */
typedef struct step_function {
    const float *start; /* [outs] */
    step_jump *jump;
    size_t jumps;
} step_function;

rung_status step_table_read(step_table *table, export_reader *read, size_t layer, rung_error *err);
/* The part of a separable table that depends on one key; values of the other outs are 0. */
rung_status step_of_key(step_function *f, const step_table *table, size_t key, rung_arena *arena, rung_error *err);
/* The rank of a key among its values, as one value. */
rung_status step_of_rank(step_function *f, const step_table *table, size_t key, rung_arena *arena, rung_error *err);
/* The whole table over u = sum of ranks times weights (the last key has weight 1). Refuses u above STEP_RANKS_MAX. */
rung_status step_of_ranks(step_function *f, double *weight, const step_table *table, rung_arena *arena,
                          rung_error *err);
enum { STEP_RANKS_MAX = 1 << 16 };

/* ---- export_words.c ---- */

/* Gives every token id of the model a word, and every answer the id of its word. Answers whose words are no tokens get
 * ids of their own behind the tokens. */
rung_status target_words(target *t, const rung_model *model, rung_error *err);

/* ---- the writers ---- */

rung_status export_write_gguf(const target *t, const rung_model *model, const char *path, rung_error *err);
/* Into a folder. */
rung_status export_write_hf(const target *t, const char *path, rung_error *err);
/* From the model itself: a graph has a place for every layer form that it has a node for. */
rung_status export_write_onnx(rung_export_report *report, const rung_model *model, const char *path, rung_error *err);

#endif
