/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Declarations that the files of this directory share: the struct of a model, and the list of tensors that a spec
 * needs.
 */
#ifndef RUNG_MODEL_INTERNAL_H
#define RUNG_MODEL_INTERNAL_H

#include "rung/model.h"

struct rung_model {
    rung_safetensors *file;
    uint8_t *bytes; /* the bytes of a file that exists only in memory, else NULL */
    rung_model_spec spec;
    rung_arch arch;
    rung_mlp *mlp; /* [layer_count] */
    rung_arena arena;
    size_t parameters;
};

/* The value of the metadata key rung.format, which this version writes and reads. */
#define RUNG_MODEL_FORMAT "rung.model/1"

enum { TENSOR_NAME_MAX = 96 };

/* How rung_model_write_random fills a tensor. */
typedef enum tensor_init {
    RUNG_INIT_RANDOM = 0, /* mean 0, variance 1/fan_in */
    RUNG_INIT_FILL,       /* `fill` everywhere */
    RUNG_INIT_RETENTION,  /* ln(1 - 2^(-5-h)) for head h, as published for RetNet */
    RUNG_INIT_RATES,      /* -(n+1) along the last dimension, as published for Mamba */
} tensor_init;

/* One tensor that an architecture has. A dimension of 0 means that the file chooses the size (rows of a table). */
typedef struct tensor_need {
    char name[TENSOR_NAME_MAX + 8]; /* a prefix and ".weight" */
    size_t rank, shape[3];
    bool optional; /* a bias */
    tensor_init init;
    size_t fan_in;
    float fill;
} tensor_need;

typedef rung_status tensor_visit(void *context, const tensor_need *need, rung_error *err);

/* Calls visit for every tensor that the spec needs or may have, in file order. */
rung_status rung_model_visit_tensors(const rung_model_spec *spec, const rung_arch *arch, const rung_mlp *mlp,
                                     tensor_visit *visit, void *context, rung_error *err);
/* Parses the texts of a spec: arch and MLP kinds. mlp has arch->layer_count entries from the arena. */
rung_status rung_model_spec_parse(rung_arch *arch, rung_mlp **mlp, const rung_model_spec *spec, rung_arena *arena,
                                  rung_error *err);
/* Reads the spec from the metadata of a file, and writes it. Texts of the spec are in the arena. */
rung_status rung_model_spec_read(rung_model_spec *spec, const rung_safetensors *file, rung_arena *arena,
                                 rung_error *err);
void rung_model_spec_print(rung_buf *out, const rung_model_spec *spec);
/* Whether a short convolution runs over this input. */
bool rung_input_has_conv(const rung_mech_input *input, const rung_mech_conf *conf);
/* Columns of the output projection of a layer: sum over groups of H dv. */
size_t rung_layer_width(const rung_layer *layer);

#endif
