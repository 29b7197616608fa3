/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to build: a sheet, that is a model under construction. A construction names the coordinates of the residual
 * stream, describes the layers, and writes weights into tensors that are zero to begin with, in this order:
 *
 *     size_t address = sheet_coords(s, 4), value = sheet_coords(s, 4);       the residual stream
 *     sheet_layers(s, "full:dk=%zu:dv=%zu", b, b);  s->spec.positions = ...  the shape
 *     sheet_matrix k = sheet_get(s, "layers.%zu.mix.0.k.weight", 0);         then weights
 *     sheet_set(&k, i, address + i, 1);
 *
 * docs/files.md has the names of the weights. The sheet remembers the first error; a construction need not check for
 * it.
 */
#ifndef RUNG_BUILD_SHEET_H
#define RUNG_BUILD_SHEET_H

#include "rung/build.h"

typedef struct sheet_tensor {
    char *name;
    size_t rank, shape[3];
    bool optional;
    double *value; /* allocated at the first sheet_get */
} sheet_tensor;

typedef struct rung_sheet {
    rung_model_spec spec; /* vocab, d_in, answers, max_tokens, causal are those of the task unless changed */
    sheet_tensor *tensor;
    size_t count, capacity;
    bool listed; /* the tensors were derived from the spec, which must not change any more */
    rung_arena arena;
    rung_error *err;
    rung_status status;
} rung_sheet;

/* A tensor seen as rows: [rows][cols], the last two dimensions of a larger one, one row of a vector. */
typedef struct sheet_matrix {
    double *value; /* NULL after an error: writing then does nothing */
    size_t rows, cols;
} sheet_matrix;

/* Allocates the next `count` coordinates of the residual stream. */
size_t sheet_coords(rung_sheet *s, size_t count);
/* Sets the architecture, and the MLP kinds (one word, or one per layer). */
void sheet_layers(rung_sheet *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_mlp(rung_sheet *s, const char *kinds);

/* A tensor by name, zero at first. Asking for a bias creates it. */
sheet_matrix sheet_get(rung_sheet *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_set(const sheet_matrix *m, size_t row, size_t col, double value);
/* Row r of the identity at column c, for `count` rows: copies coordinates c.. to r.., times `value`. */
void sheet_set_diagonal(const sheet_matrix *m, size_t row, size_t col, size_t count, double value);
/* Writes bit i of `code` (lowest first) into row, col+i: as `one` or `zero`. */
void sheet_set_bits(const sheet_matrix *m, size_t row, size_t col, size_t bits, uint64_t code, double zero, double one);

/* The table of a layer's MLP: entries rows; key and output coordinates. Fill every key and value. */
typedef struct sheet_table {
    sheet_matrix keys, values;
} sheet_table;
sheet_table sheet_add_table(rung_sheet *s, size_t layer, size_t entries, const size_t *key_coords, size_t key_count,
                            const size_t *out_coords, size_t out_count);

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* The read-out that every construction shares. Coordinates ones .. ones+bits-1 hold the bits of the answer, and zeros
 * .. zeros+bits-1 their complements, all exactly 0 or 1. Row `row` scores minus the number of places where its code
 * differs: the right one has exactly 0 and no sum ever rises, so it wins in every number format. */
void sheet_readout_bits(rung_sheet *s, size_t ones, size_t zeros, size_t bits, size_t row, uint64_t code);
/* Rows 0..answers-1 with their own numbers as codes. */
void sheet_readout_numbers(rung_sheet *s, size_t ones, size_t zeros, size_t bits, size_t answers);
/* A table after `layer` that rounds coordinates from..from+bits-1, each to 0 or 1, and writes bits and complements. */
void sheet_snap_bits(rung_sheet *s, size_t layer, size_t from, size_t bits, size_t ones, size_t zeros);
/* The same from one coordinate that holds a number 0..values-1. */
void sheet_snap_number(rung_sheet *s, size_t layer, size_t from, size_t values, size_t bits, size_t ones, size_t zeros);

/* Bits of the numbers below `count`; at least 1. */
size_t sheet_bits_for(size_t count);

#endif
