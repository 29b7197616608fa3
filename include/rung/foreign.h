/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * foreign: weights that other programs made, as model files of ours. Read are GGUF files, folders of Hugging Face
 * (config.json with safetensors, in one file or in shards) and state dicts of PyTorch beside a config.json. A model is
 * taken only if every number of it that matters has a place in our layers: an unknown key of a configuration, a tensor
 * without a place, a norm with another epsilon are refused by name. docs/import.md. Layer 4.
 */
#ifndef RUNG_FOREIGN_H
#define RUNG_FOREIGN_H

#include "rung/model.h"
#include "rung/task.h"

RUNG_API_BEGIN

/* What answers. */
typedef enum rung_readout {
    RUNG_READOUT_OWN,    /* the read-out of the file, or the embedding if the configuration says that they are one */
    RUNG_READOUT_TIED,   /* the embedding */
    RUNG_READOUT_HIDDEN, /* answer i is coordinate i behind the final norm: for models without a read-out */
} rung_readout;

extern const char *const rung_readout_names[]; /* [rung_readout], up to a NULL */

typedef struct rung_foreign_options {
    const char *config;           /* path of the configuration; NULL: config.json beside the weights */
    const rung_task_conf *task;   /* that the model is for, or NULL */
    const char *tokens, *answers; /* ids of the file that become 0, 1, ... here, such as "17-20,0-16"; NULL: all */
    rung_readout readout;
    size_t max_tokens; /* rows of the position tables; 0: as the file says, at most 4096 */
} rung_foreign_options;

typedef struct rung_foreign_report {
    char family[32];
    char types[160]; /* types of the tensors with their number, such as "Q4_K 30, F32 11" */
    size_t layers, d_model, heads, kv_heads, vocab, max_tokens;
} rung_foreign_report;

/* Reads the weights at `path` (a file, or a folder) and writes a model file. RUNG_INPUT names what is damaged or has no
 * place here. */
rung_status rung_foreign_import(rung_foreign_report *report, const char *path, const char *out,
                                const rung_foreign_options *options, rung_error *err);

/* ---- the other way: models of ours for the programs that people serve with ---------------------------------------- */

typedef enum rung_model_export_format { RUNG_EXPORT_GGUF, RUNG_EXPORT_ONNX, RUNG_EXPORT_HF } rung_model_export_format;
extern const char *const rung_model_export_format_names[]; /* [rung_model_export_format], up to a NULL */

/* The published layers that the weights are put into. */
typedef enum rung_export_family {
    RUNG_EXPORT_AUTO, /* gpt2 for tables of positions, LayerNorm and gelu, llama otherwise */
    RUNG_EXPORT_LLAMA,
    RUNG_EXPORT_GPT2,
} rung_export_family;
extern const char *const rung_export_family_names[]; /* [rung_export_family], up to a NULL */

typedef struct rung_export_options {
    rung_model_export_format format;
    rung_export_family family;
} rung_export_options;

typedef struct rung_export_report {
    const char *family; /* llama, gpt2, or onnx: then heads, head_dim are 0, and context is 0 where nothing limits it */
    size_t layers, d_model, d_mlp, heads, head_dim, vocab, context;
    bool contrib;        /* onnx: an operator of com.microsoft is used */
    size_t added_layers; /* that compute a table only */
    double constant;     /* of the channels that make norms constant; 0: the norms are those of the model */
    rung_buf answers;    /* ids of answer 0, 1, ... as rung_foreign_options.answers takes them; the caller clears it */
} rung_export_report;

/* Writes the model for another program: a file, or a folder of Hugging Face. RUNG_INPUT names what has no place there, and then nothing is written.
 * docs/export.md. */
rung_status rung_foreign_export(rung_export_report *report, const rung_model *model, const char *out,
                                const rung_export_options *options, rung_error *err);

RUNG_API_END

#endif
